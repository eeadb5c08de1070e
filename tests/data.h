/* data.h -- encoded rows of a small file, for tests of the data room. */
#ifndef KREIN_TEST_DATA_H
#define KREIN_TEST_DATA_H

#include "common.h"

#include "stream/data.h"
#include "file/writer.h"

/* ---- helpers ------------------------------------------------------------ */

/* Everything a stream gives, gathered. */
typedef struct taken {
    int64_t n, d, k, blocks;
    float *x;
    double *label, *weight;
    int32_t *group;
    bool *dropped;
    char **id;
} taken;

static inline void give_back(taken *t) {
    for (int64_t i = 0; t->id && i < t->n; i++) free(t->id[i]);
    free(t->x);
    free(t->label);
    free(t->weight);
    free(t->group);
    free(t->dropped);
    free(t->id);
    memset(t, 0, sizeof *t);
}

static inline krein_status take(krein_data *data, const krein_encoding *e, int part, taken *t) {
    krein_stream *s = NULL;
    krein_block b;
    enum { ROOM = 20000 };
    memset(t, 0, sizeof *t);
    krein_status st = krein__stream_open(data, e, part, &s);
    if (st != KREIN_OK) return st;
    t->d = e->d;
    t->k = data->nlabel;
    t->x = test_new(ROOM * t->d, sizeof *t->x);
    t->label = test_new(ROOM * (t->k + 1), sizeof *t->label);
    t->weight = test_new(ROOM, sizeof *t->weight);
    t->group = test_new(ROOM, sizeof *t->group);
    t->dropped = test_new(ROOM, sizeof *t->dropped);
    t->id = test_new(ROOM, sizeof *t->id);
    int64_t before = 0;
    for (;;) {
        st = krein__stream_next(s, &b);
        if (st != KREIN_OK || b.x.n == 0) break;
        if (t->blocks > 0) CHECK(before == krein__block_rows(t->d)); /* full but the last */
        before = b.x.n;
        t->blocks++;
        CHECK(b.first == t->n);
        CHECK(t->n + b.x.n <= ROOM);
        for (int64_t i = 0; i < b.x.n; i++) {
            krein__row_copy(&b.x, i, t->x + (t->n + i) * t->d);
            for (int64_t c = 0; c < t->k; c++)
                t->label[(t->n + i) * t->k + c] = b.label[i * t->k + c];
            t->weight[t->n + i] = b.weight ? b.weight[i] : 1;
            t->group[t->n + i] = b.group ? b.group[i] : -1;
            t->dropped[t->n + i] = b.dropped && b.dropped[i];
            if (b.id && b.id[i]) t->id[t->n + i] = strdup(b.id[i]);
        }
        t->n += b.x.n;
    }
    krein__stream_close(s);
    return st;
}

static inline krein_data_options plain(void) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    return o;
}

/* Opens, learns and takes all training rows; o may be NULL (no scaling). */
typedef struct learned {
    krein_ctx *ctx;
    krein_data *data;
    krein_encoding e;
    taken t;
    krein_status st;
} learned;

static inline learned learn_file(krein_ctx *ctx, const char *path, const krein_data_options *o,
                                 krein_keep keep, double holdout, uint64_t seed) {
    learned l = {.ctx = ctx};
    krein_data_options own = plain();
    ctx->keep_rows = keep;
    l.st = krein_data_open(ctx, path, o ? o : &own, &l.data);
    if (l.st == KREIN_OK) l.st = krein__data_scan(l.data, true, holdout, seed, &l.e);
    if (l.st == KREIN_OK) l.st = take(l.data, &l.e, KREIN_PART_TRAIN, &l.t);
    return l;
}
static inline learned learn_text(krein_ctx *ctx, const char *text, const krein_data_options *o) {
    return learn_file(ctx, test_write("data.csv", text), o, KREIN_KEEP_AUTO, 0, 1);
}
static inline void forget(learned *l) {
    give_back(&l->t);
    krein__encoding_clear(l->ctx, &l->e);
    krein_data_close(l->data);
    memset(l, 0, sizeof *l);
}

/* Learning from the file with allocation k failing: out of memory or well, and nothing is left. */
static inline krein_status learn_failing(const char *path, const krein_data_options *o, int64_t k) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    test_fail_at(&memory, k);
    learned l = learn_file(ctx, path, o, KREIN_KEEP_AUTO, 0, 1);
    krein_status st = l.st;
    CHECK_ELSE(st == KREIN_OK || st == KREIN_EMEMORY, "%s at %d", krein_message(ctx), (int)k);
    forget(&l);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
    return st;
}

#define CHECK_ROW(t, i, ...)                                                                       \
    do {                                                                                           \
        static const double want_[] = {__VA_ARGS__};                                               \
        CHECK((t).d == (int64_t)(sizeof want_ / sizeof *want_) && (i) < (t).n);                    \
        for (int64_t j_ = 0; (i) < (t).n && j_ < (t).d; j_++)                                      \
            CHECK_ABS((double)(t).x[(i) * (t).d + j_], want_[j_], 1e-6);                           \
    } while (0)

/* The text is refused with the status, and the message holds the parts. */
static inline void refused(const char *text, const krein_data_options *o, krein_status want,
                           const char *part, const char *other) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    learned l = learn_text(ctx, text, o);
    if (l.st != want) printf("%s -> %d %s\n", text, (int)l.st, krein_message(ctx));
    CHECK(l.st == want);
    if (l.st != KREIN_OK) CHECK_HAS(krein_message(ctx), part);
    if (l.st != KREIN_OK) CHECK_HAS(krein_message(ctx), other);
    forget(&l);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- scaling ------------------------------------------------------------ */

enum { SN = 700, SD = 4 };
static inline double cell(int64_t i, int64_t j) {
    if (j == 2) return 5; /* constant */
    return j == 1 ? 1000 * det(i, j, .5) + 1e4 : det(i, j, 0) * (double)(j + 1);
}

/* d1,..,d4 with the label in front. */
static inline const char *scale_file(void) {
    static char text[SN * 100];
    int at = sprintf(text, "y,d1,d2,d3,d4\n");
    for (int64_t i = 0; i < SN; i++) {
        at += sprintf(text + at, "%.9g", det(i, 9, 0));
        for (int64_t j = 0; j < SD; j++) at += sprintf(text + at, ",%.9g", cell(i, j));
        at += sprintf(text + at, "\n");
    }
    return test_write("scale.csv", text);
}

/* ---- NPY with labels beside it ------------------------------------------ */

static inline const char *npy(krein_ctx *ctx, const char *name, int64_t n, int64_t d,
                              double shift) {
    const char *path = test_path(name);
    krein_writer *w = NULL;
    CHECK(krein__writer_open(ctx, path, &w) == KREIN_OK);
    CHECK(krein__npy_header(w, "<f8", n, d) == KREIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (d < 0 ? 1 : d); j++) {
            double v = d < 0 ? (double)(i % 3) : det(i, j, shift);
            CHECK(krein__writer_put(w, &v, sizeof v) == KREIN_OK);
        }
    CHECK(krein__writer_commit(w) == KREIN_OK);
    return path;
}

#endif
