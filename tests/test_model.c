/* test_model.c -- model files: saved and loaded to the bit, damaged and forged ones refused, old
 * ones still read.
 *
 * tests/models/VERSION/NAME.krein are files of released versions; NAME.txt beside each holds rows
 * (CSV with a header), a line "---", and the prediction of every row. They are written by
 *     KREIN_MAKE_MODELS=tests/models/v0.1 build/tests/test_model
 * once per format version and never again.
 */
#include "common.h"

#include "data/archive.h"
#include "model/model.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- helpers ------------------------------------------------------------ */

static void spit(const char *path, const void *data, int64_t n) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, (size_t)n, f) != (size_t)n || fclose(f) != 0) exit(1);
}
static bool same_file(const char *a, const char *b) {
    test_bytes x = test_slurp(a), y = test_slurp(b);
    bool same = test_same(x, y);
    free(x.at);
    free(y.at);
    return same;
}

/* Scores of every row, and labels. */
typedef struct scores {
    int64_t n, k, label[400];
    double value[400 * 8];
} scores;

static krein_status collect(void *user, const krein_prediction *p) {
    scores *s = user;
    if (s->n >= 400 || p->nscores > 8) return KREIN_EARG;
    CHECK(p->row == s->n);
    s->k = p->nscores;
    s->label[s->n] = p->label;
    for (int64_t c = 0; c < p->nscores; c++)
        s->value[s->n * s->k + c] = p->scores ? p->scores[c] : NAN;
    s->n++;
    return KREIN_OK;
}

static krein_status predict_file(krein_ctx *ctx, const krein_model *m, const char *path,
                                 scores *s) {
    krein_data *data = NULL;
    memset(s, 0, sizeof *s);
    krein_status st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_predict(ctx, m, data, collect, s);
    krein_data_close(data);
    return st;
}

/* ---- data --------------------------------------------------------------- */

enum { NUMBERS = 0, OUTPUTS = 1, TWO = 2, SEVERAL = 3, SPARSE = 4, SPARSE_CLASSES = 5, KINDS = 6 };

/* A small file of the kind; n rows. */
static const char *make_file(int kind, int n) {
    static char text[200000];
    int at = 0;
    static const char *const colour[] = {"red", "green", "blue"}, *const name[] = {"b", "a", "c d"};
    if (kind < SPARSE) at += sprintf(text, kind == OUTPUTS ? "y1,y2,a,b,c\n" : "y,a,b,colour,c\n");
    for (int i = 0; i < n; i++) {
        double a = det(i, 0, 0), b = det(i, 1, 0), c = det(i, 2, 0);
        if (kind == NUMBERS)
            at += sprintf(text + at, "%.6g,%.6g,%.6g,%s,%.6g\n", a * b + c, a, b, colour[i % 3], c);
        if (kind == OUTPUTS)
            at += sprintf(text + at, "%.6g,%.6g,%.6g,%.6g,%.6g\n", a * b, a - c, a, b, c);
        if (kind == TWO)
            at += sprintf(text + at, "%s,%.6g,%.6g,%s,%.6g\n", a + b > 0 ? "yes" : "no", a, b,
                          colour[i % 3], c);
        if (kind == SEVERAL)
            at += sprintf(text + at, "%s,%.6g,%.6g,%s,%.6g\n", name[(a > 0) + (b > .3)], a, b,
                          colour[i % 3], c);
        if (kind == SPARSE)
            at += sprintf(text + at, "%.6g %d:%.6g %d:%.6g\n", a * b, 1 + i % 3, a, 4 + i % 5, b);
        if (kind == SPARSE_CLASSES)
            at += sprintf(text + at, "%d %d:%.6g %d:%.6g\n",
                          a > 0   ? 1
                          : b > 0 ? -1
                                  : 3,
                          1 + i % 3, a, 4 + i % 5, b);
    }
    return test_write(kind < SPARSE ? "rows.csv" : "rows.libsvm", text);
}

static krein_status train_file(krein_ctx *ctx, const char *path, int kind, const char *kernel,
                               const char *map, krein_model **out) {
    krein_data_options o;
    krein_train_options t;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    krein_train_options_init(&t);
    if (kind == OUTPUTS) o.targets = 2;
    t.kernel = kernel;
    t.map = map;
    t.lambda = .01;
    *out = NULL;
    krein_status st = krein_data_open(ctx, path, &o, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &t, NULL, out);
    krein_data_close(data);
    return st;
}

/* ---- there and back ----------------------------------------------------- */

static const char *const maps[] = {"exact", "nystrom(D=12)", "rff(D=16)", "orf(D=16)",
                                   "rff(D=9, phase=yes)"};
static const char *const kernels[] = {"gaussian(sigma=1.5)",
                                      "gaussian(sigma=1) - 0.3*gaussian(sigma=4)"};

static void there_and_back(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(2, &memory);
    scores *a = test_new(1, sizeof *a), *b = test_new(1, sizeof *b);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t map = 0; map < sizeof maps / sizeof *maps; map++)
            for (int kernel = 0; kernel < 2; kernel++) {
                char rows[256], one[256], two[256];
                krein_model *m = NULL, *again = NULL;
                snprintf(rows, sizeof rows, "%s", make_file(kind, 60));
                snprintf(one, sizeof one, "%s", test_path("one.krein"));
                snprintf(two, sizeof two, "%s", test_path("two.krein"));
                krein_status st = train_file(ctx, rows, kind, kernels[kernel], maps[map], &m);
                if (st != KREIN_OK) printf("%d %s: %s\n", kind, maps[map], krein_message(ctx));
                CHECK(st == KREIN_OK);
                if (st != KREIN_OK) continue;
                CHECK(krein_model_save(ctx, m, one) == KREIN_OK);
                CHECK(krein_model_load(ctx, one, &again) == KREIN_OK);
                if (!again) printf("%d %s: %s\n", kind, maps[map], krein_message(ctx));
                if (!again) {
                    krein_model_destroy(m);
                    continue;
                }
                CHECK(krein_model_save(ctx, again, two) == KREIN_OK);
                CHECK(same_file(one, two));
                CHECK(predict_file(ctx, m, rows, a) == KREIN_OK && a->n == 60);
                CHECK(predict_file(ctx, again, rows, b) == KREIN_OK);
                CHECK(memcmp(a, b, sizeof *a) == 0);
                for (int64_t i = 0; i < a->n * a->k; i++) CHECK(isfinite(a->value[i]));
                krein_model_info x, y;
                krein_model_describe(m, &x);
                krein_model_describe(again, &y);
                CHECK(x.task == y.task && x.n == y.n && x.d == y.d && x.D == y.D &&
                      x.inputs == y.inputs && x.outputs == y.outputs && x.classes == y.classes &&
                      x.bytes == y.bytes && x.lambda == y.lambda && x.seed == y.seed &&
                      x.negative == y.negative);
                CHECK(strcmp(x.kernel, y.kernel) == 0 && strcmp(x.map, y.map) == 0 &&
                      strcmp(x.learner, y.learner) == 0 && strcmp(x.scale, y.scale) == 0);
                CHECK(x.n == 60 && x.lambda == .01);
                test_bytes file = test_slurp(one);
                CHECK(x.bytes == file.n);
                free(file.at);
                for (int64_t c = 0; c < x.classes; c++)
                    CHECK(strcmp(krein_model_class(m, c), krein_model_class(again, c)) == 0);
                CHECK(krein_model_class(again, x.classes) == NULL && !krein_model_class(again, -1));
                if (kind == SEVERAL) {
                    CHECK(x.classes == 3 && strcmp(krein_model_class(again, 2), "c d") == 0);
                    CHECK(strcmp(krein_model_column(again, 2), "colour") == 0);
                    CHECK(krein_model_column(again, 4) == NULL);
                }
                krein_model_destroy(m);
                krein_model_destroy(again);
            }
    free(a);
    free(b);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* A model takes raw rows: of arrays, of a file with other columns in between. */
static void arrays_and_files_agree(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[9000] = "y,a,b\n", moved[9000] = "b,a\n";
    static float x[80 * 2];
    for (int i = 0; i < 80; i++) {
        double a = 1000 + det(i, 0, 0), b = det(i, 1, 0);
        a = (double)(x[2 * i] = (float)a);
        b = (double)(x[2 * i + 1] = (float)b);
        snprintf(text + strlen(text), 80, "%.9g,%.9g,%.9g\n", det(i, 0, 0) * b, a, b);
        snprintf(moved + strlen(moved), 80, "%.9g,%.9g\n", b, a);
    }
    for (size_t map = 0; map < 4; map++) {
        krein_model *m = NULL;
        scores *s = test_new(1, sizeof *s), *t = test_new(1, sizeof *t);
        double value[80];
        char one[256], two[256];
        snprintf(one, sizeof one, "%s", test_write("one.csv", text));
        snprintf(two, sizeof two, "%s", test_write("two.csv", moved));
        CHECK(train_file(ctx, one, NUMBERS, kernels[0], maps[map], &m) == KREIN_OK);
        CHECK(predict_file(ctx, m, one, s) == KREIN_OK && s->n == 80);
        CHECK(predict_file(ctx, m, two, t) == KREIN_OK && t->n == 80);
        CHECK(memcmp(s->value, t->value, 80 * sizeof(double)) == 0);
        CHECK(krein_predict_dense(ctx, m, 80, 2, x, 2, value) == KREIN_OK);
        for (int i = 0; i < 80; i++) CHECK_ABS(value[i], s->value[i], 1e-3);
        CHECK(krein_predict_dense(ctx, m, 80, 1, x, 2, value) == KREIN_EDATA);
        krein_model_destroy(m);
        free(s);
        free(t);
    }
    krein_ctx_destroy(ctx);
}

/* Text in columns that are no inputs (classes, ids, groups) is no reason to refuse arrays. */
static void arrays_for_text_classes(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[9000] = "y,a,b\n", path[256];
    static float x[60 * 2];
    for (int i = 0; i < 60; i++) {
        x[2 * i] = (float)det(i, 0, 0);
        x[2 * i + 1] = (float)det(i, 1, 0);
        snprintf(text + strlen(text), 80, "%s,%.9g,%.9g\n", x[2 * i] > 0 ? "yes" : "no",
                 (double)x[2 * i], (double)x[2 * i + 1]);
    }
    krein_model *m = NULL;
    scores *s = test_new(1, sizeof *s);
    double value[60];
    snprintf(path, sizeof path, "%s", test_write("text.csv", text));
    CHECK(train_file(ctx, path, TWO, kernels[0], "exact", &m) == KREIN_OK);
    CHECK(predict_file(ctx, m, path, s) == KREIN_OK && s->n == 60);
    krein_status st = krein_predict_dense(ctx, m, 60, 2, x, 2, value);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    for (int i = 0; i < 60 && st == KREIN_OK; i++) CHECK_ABS(value[i], s->value[i], 1e-5);
    krein_model_destroy(m);
    free(s);
    krein_ctx_destroy(ctx);
}

/* A row's prediction does not depend on the rows around it. */
static void rows_stand_alone(void) {
    krein_ctx *ctx = test_ctx(2);
    for (size_t map = 0; map < sizeof maps / sizeof *maps; map++)
        for (int kind = NUMBERS; kind <= OUTPUTS; kind++) {
            krein_model *m = NULL;
            scores *s = test_new(1, sizeof *s), *one = test_new(1, sizeof *one);
            char rows[256];
            snprintf(rows, sizeof rows, "%s", make_file(kind, 300));
            CHECK(train_file(ctx, rows, kind, kernels[0], maps[map], &m) == KREIN_OK);
            CHECK(predict_file(ctx, m, rows, s) == KREIN_OK && s->n == 300);
            test_bytes file = test_slurp(rows);
            char *head_end = strchr(file.at, '\n') + 1, *line = head_end, name[32];
            for (int i = 0; i < 300; i++) {
                char *end = strchr(line, '\n') + 1;
                if (i % 50 == 7) {
                    snprintf(name, sizeof name, "row.csv");
                    char *text = test_new(file.n, 1);
                    memcpy(text, file.at, (size_t)(head_end - file.at));
                    memcpy(text + (head_end - file.at), line, (size_t)(end - line));
                    CHECK(predict_file(ctx, m, test_write(name, text), one) == KREIN_OK);
                    CHECK(one->n == 1 && memcmp(one->value, s->value + i * s->k,
                                                (size_t)s->k * sizeof(double)) == 0);
                    free(text);
                }
                line = end;
            }
            free(file.at);
            free(s);
            free(one);
            krein_model_destroy(m);
        }
    krein_ctx_destroy(ctx);
}

/* ---- damage ------------------------------------------------------------- */

/* A small file with everything in it: categories, text classes, landmarks. */
static test_bytes small_model(const char *map) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    char rows[256];
    snprintf(rows, sizeof rows, "%s", make_file(SEVERAL, 12));
    if (train_file(ctx, rows, SEVERAL, kernels[0], map, &m) != KREIN_OK ||
        krein_model_save(ctx, m, test_path("small.krein")) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return test_slurp(test_path("small.krein"));
}

static bool refused(krein_ctx *ctx, test_memory *memory, const char *path, const char *what,
                    int64_t where) {
    krein_model *m = NULL;
    krein_status st = krein_model_load(ctx, path, &m);
    bool good = (st == KREIN_EMODEL || st == KREIN_EIO) && !m;
    if (!good)
        printf("%s %lld: status %d %s\n", what, (long long)where, (int)st, krein_message(ctx));
    if (good && !strstr(krein_message(ctx), path)) {
        printf("%s %lld: no file name in \"%s\"\n", what, (long long)where, krein_message(ctx));
        good = false;
    }
    krein_model_destroy(m);
    if (test_live(memory) != 0) {
        printf("%s %lld: leaks\n", what, (long long)where);
        good = false;
        atomic_store(&memory->live, 0);
    }
    return good;
}

static void every_truncation(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    test_bytes file = small_model("nystrom(D=4)");
    const char *path = test_path("cut.krein");
    spit(path, file.at, file.n);
    int bad = 0;
    for (int64_t n = file.n - 1; n >= 0; n -= test_sanitized() && n % 64 ? 3 : 1) {
        if (truncate(path, n) != 0) exit(1);
        bad += !refused(ctx, &memory, path, "cut to", n);
        if (bad > 5) break;
    }
    CHECK(bad == 0);
    /* and bytes too many */
    char *more = test_new(file.n + 64, 1);
    memcpy(more, file.at, (size_t)file.n);
    for (int64_t n = 1; n <= 64; n++) {
        spit(path, more, file.n + n);
        CHECK(refused(ctx, &memory, path, "more by", n));
    }
    free(more);
    free(file.at);
    krein_ctx_destroy(ctx);
}

static void every_bit(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    test_bytes file = small_model("nystrom(D=4)");
    const char *path = test_path("flip.krein");
    spit(path, file.at, file.n);
    int fd = open(path, O_WRONLY), bad = 0;
    if (fd < 0) exit(1);
    for (int64_t bit = 0; bit < 8 * file.n && bad < 6;
         bit += test_sanitized() && bit > 512 ? 13 : 1) {
        char c = (char)(file.at[bit / 8] ^ (1 << bit % 8));
        if (pwrite(fd, &c, 1, bit / 8) != 1) exit(1);
        bad += !refused(ctx, &memory, path, "bit", bit);
        if (pwrite(fd, file.at + bit / 8, 1, bit / 8) != 1) exit(1);
    }
    CHECK(bad == 0);
    close(fd);
    krein_model *m = NULL; /* it is whole again */
    CHECK(krein_model_load(ctx, path, &m) == KREIN_OK);
    krein_model_destroy(m);
    free(file.at);
    krein_ctx_destroy(ctx);
}

static void other_files(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    CHECK(refused(ctx, &memory, test_path("nosuch.krein"), "no file", 0));
    CHECK(refused(ctx, &memory, test_write("empty.krein", ""), "empty", 0));
    CHECK(refused(ctx, &memory, test_write("text.krein", "y,x\n1,2\n"), "text", 0));
    CHECK_HAS(krein_message(ctx), "not a krein model");
    CHECK(refused(ctx, &memory, test_dir(), "a directory", 0));
    krein_ctx_destroy(ctx);
}

/* ---- forgery: a right checksum over wrong contents ---------------------- */

/* The entries of a file, by the layout in docs/model-format.md. */
typedef struct part {
    char name[40];
    krein_type type;
    int64_t n;
    void *data; /* 8 bytes longer than needed, so that a count may be one too many */
} part;
typedef struct parts {
    part all[80];
    int n;
} parts;

static size_t width(krein_type type) {
    return type == KREIN_TYPE_BYTES ? 1 : type == KREIN_TYPE_I32 || type == KREIN_TYPE_F32 ? 4 : 8;
}

static parts take_apart(const test_bytes *file) {
    parts p = {.n = 0};
    uint64_t entries;
    memcpy(&entries, file->at + 24, 8);
    if (entries > 80) exit(1);
    for (uint64_t i = 0; i < entries; i++) {
        const char *e = file->at + 64 + 64 * i;
        uint32_t type;
        uint64_t count, offset;
        memcpy(p.all[p.n].name, e, 40);
        memcpy(&type, e + 40, 4);
        memcpy(&count, e + 48, 8);
        memcpy(&offset, e + 56, 8);
        p.all[p.n].type = (krein_type)type;
        p.all[p.n].n = (int64_t)count;
        size_t size = (size_t)count * width((krein_type)type);
        p.all[p.n].data = test_new((int64_t)size + 8, 1);
        memcpy(p.all[p.n].data, file->at + offset, size);
        p.n++;
    }
    return p;
}
static void drop(parts *p) {
    for (int i = 0; i < p->n; i++) free(p->all[i].data);
    p->n = 0;
}

static void put_together(krein_ctx *ctx, const parts *p, int without, const char *path) {
    krein_archive *a = NULL;
    CHECK(krein__archive_create(ctx, &a) == KREIN_OK);
    for (int i = 0; i < p->n; i++) {
        void *data = p->all[i].data;
        if (i != without)
            CHECK(krein__archive_array(a, p->all[i].name, p->all[i].type, &data, p->all[i].n) ==
                  KREIN_OK);
    }
    CHECK(krein__archive_save(a, path) == KREIN_OK);
    krein__archive_destroy(a);
}

static part *find(parts *p, const char *name) {
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->all[i].name, name) == 0) return &p->all[i];
    printf("no entry %s\n", name);
    exit(1);
}

static void every_entry(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    for (size_t map = 1; map < 3; map++) {
        test_bytes file = small_model(maps[map][0] == 'n' ? "nystrom(D=4)" : maps[map]);
        parts p = take_apart(&file);
        const char *path = test_path("forged.krein");
        krein_model *m = NULL;
        put_together(ctx, &p, -1, path); /* the forger's tools are right */
        CHECK(krein_model_load(ctx, path, &m) == KREIN_OK);
        krein_model_destroy(m);
        for (int i = 0; i < p.n; i++) {
            part *e = &p.all[i], old = *e;
            char what[120];
            snprintf(what, sizeof what, "%s without %s", maps[map], e->name);
            put_together(ctx, &p, i, path);
            CHECK(refused(ctx, &memory, path, what, i));
            snprintf(what, sizeof what, "%s, other type of %s", maps[map], e->name);
            e->type = old.type == KREIN_TYPE_I64   ? KREIN_TYPE_F64
                      : old.type == KREIN_TYPE_F64 ? KREIN_TYPE_I64
                      : old.type == KREIN_TYPE_I32 ? KREIN_TYPE_F32
                      : old.type == KREIN_TYPE_F32 ? KREIN_TYPE_I32
                                                   : KREIN_TYPE_F64;
            if (old.type == KREIN_TYPE_BYTES) e->n = old.n / 8;
            put_together(ctx, &p, -1, path);
            CHECK(refused(ctx, &memory, path, what, i));
            *e = old;
            for (int step = -1; step <= 1; step += 2) {
                snprintf(what, sizeof what, "%s, %d more of %s", maps[map], step, e->name);
                e->n = old.n + step;
                if (e->n < 0) continue;
                put_together(ctx, &p, -1, path);
                CHECK(refused(ctx, &memory, path, what, i));
                *e = old;
            }
            char keep[8];
            memcpy(keep, e->data, 8);
            if (e->type == KREIN_TYPE_I64 && e->n == 1 && strcmp(e->name, "map.seed") != 0)
                for (int low = 0; low < 2; low++) {
                    int64_t v = low ? -1 : INT64_MAX;
                    snprintf(what, sizeof what, "%s, %s out of range", maps[map], e->name);
                    memcpy(e->data, &v, 8);
                    put_together(ctx, &p, -1, path);
                    CHECK(refused(ctx, &memory, path, what, i));
                }
            bool real = e->type == KREIN_TYPE_F64 || e->type == KREIN_TYPE_F32;
            bool none = strcmp(e->name, "lambda") == 0; /* NaN: a learner may have none */
            if (real)
                for (int infinite = none; infinite < 2; infinite++) {
                    double v = infinite ? INFINITY : NAN;
                    float f = infinite ? INFINITY : NAN;
                    snprintf(what, sizeof what, "%s, %s not finite", maps[map], e->name);
                    if (e->type == KREIN_TYPE_F64)
                        memcpy(e->data, &v, 8);
                    else
                        memcpy(e->data, &f, 4);
                    put_together(ctx, &p, -1, path);
                    CHECK(refused(ctx, &memory, path, what, i));
                }
            if (e->type == KREIN_TYPE_I32) {
                int32_t v = 99;
                snprintf(what, sizeof what, "%s, %s out of range", maps[map], e->name);
                memcpy(e->data, &v, 4);
                put_together(ctx, &p, -1, path);
                CHECK(refused(ctx, &memory, path, what, i));
            }
            memcpy(e->data, keep, 8);
        }
        drop(&p);
        free(file.at);
    }
    krein_ctx_destroy(ctx);
}

static void set_text(part *p, const char *text, int64_t n) {
    free(p->data);
    p->data = test_new(n + 8, 1);
    memcpy(p->data, text, (size_t)n);
    p->n = n;
}
static void set_int(part *p, int64_t v) { memcpy(p->data, &v, 8); }

static void forgeries(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    const char *path = test_path("forged.krein");
    for (int which = 0; which < 15; which++) {
        test_bytes file = small_model(which == 13 ? "rff(D=16)" : "nystrom(D=4)");
        parts p = take_apart(&file);
        switch (which) {
        case 0:
            set_text(find(&p, "input.3.words"), "red\0red\0blue", 13);
            break; /* repeat */
        case 1:
            set_int(find(&p, "classes"), 1);
            set_text(find(&p, "class.names"), "a", 2);
            break;
        case 2:
            set_text(find(&p, "class.names"), "a\0b", 4);
            break;
        case 3:
            set_text(find(&p, "kernel"), "gaussian", 9);
            break; /* sigma is free */
        case 4:
            set_text(find(&p, "kernel"), "nosuch(sigma=1)", 16);
            break;
        case 5:
            set_text(find(&p, "kernel"), "gaussian(sigma=-1)", 19);
            break;
        case 6:
            set_text(find(&p, "map"), "nosuch", 7);
            break;
        case 7:
            set_text(find(&p, "map"), "nystrom(D=4", 12);
            break;
        case 8:
            set_int(find(&p, "map.R"), 3);
            break;
        case 9:
            set_int(find(&p, "map.R"), INT32_MAX);
            break;
        case 10:
            set_int(find(&p, "encoding.sparse"), 1);
            break;
        case 11:
            set_int(find(&p, "map.d"), 5);
            break;
        case 12:
            set_int(find(&p, "encoding.d"), 5);
            break;
        case 13:
            set_int(find(&p, "map.D"), 14);
            break;
        case 14:
            set_int(find(&p, "encoding.task"), KREIN_TASK_AUTO);
            break;
        }
        put_together(ctx, &p, -1, path);
        CHECK(refused(ctx, &memory, path, "forgery", which));
        drop(&p);
        free(file.at);
    }
    krein_ctx_destroy(ctx);
}

/* Sparse landmarks point into rows and columns: each number is checked. */
static void forged_landmarks(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = NULL;
    char rows[256];
    const char *path = test_path("sparse.krein");
    snprintf(rows, sizeof rows, "%s", make_file(SPARSE, 20));
    CHECK(train_file(ctx, rows, SPARSE, kernels[0], "nystrom(D=5)", &m) == KREIN_OK);
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    krein_model_destroy(m);
    test_bytes file = test_slurp(path);
    for (int which = 0; which < 6; which++) {
        parts p = take_apart(&file);
        int64_t *ptr = find(&p, "landmarks.ptr")->data;
        int32_t *col = find(&p, "landmarks.col")->data;
        switch (which) {
        case 0:
            ptr[0] = 1;
            break;
        case 1:
            ptr[2] = ptr[3] + 1;
            break;
        case 2:
            ptr[1] = -1;
            break;
        case 3:
            ptr[2] = INT64_MAX;
            break;
        case 4:
            col[0] = 1000;
            break;
        case 5:
            col[1] = col[0];
            break;
        }
        put_together(ctx, &p, -1, path);
        CHECK(refused(ctx, &memory, path, "landmarks", which));
        drop(&p);
    }
    free(file.at);
    krein_ctx_destroy(ctx);
}

/* ---- memory and disk ---------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    char rows[256], path[256], old[256];
    snprintf(path, sizeof path, "%s", test_path("memory.krein"));
    snprintf(old, sizeof old, "%s", test_path("old.krein"));
    for (int kind = 0; kind < KINDS; kind++) {
        krein_model *m = NULL;
        snprintf(rows, sizeof rows, "%s", make_file(kind, 15));
        CHECK(train_file(ctx, rows, kind, kernels[1], kind % 2 ? "rff(D=8)" : "nystrom(D=6)", &m) ==
              KREIN_OK);
        CHECK(krein_model_save(ctx, m, old) == KREIN_OK);
        TEST_EVERY_ALLOCATION(&memory, k) {
            spit(path, "old", 3);
            krein_status st = krein_model_save(ctx, m, path);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            test_bytes now = test_slurp(path);
            if (st != KREIN_OK) CHECK(now.n == 3 && memcmp(now.at, "old", 3) == 0);
            free(now.at);
        }
        CHECK(same_file(path, old));
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_model *again = NULL;
            krein_status st = krein_model_load(ctx, old, &again);
            if (test_has_failed(&memory) && st != KREIN_EMEMORY)
                printf("kind %d, allocation %lld: status %d %s\n", kind, (long long)k, (int)st,
                       krein_message(ctx));
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            CHECK((again != NULL) == (st == KREIN_OK));
            krein_model_destroy(again);
        }
        krein_model_destroy(m);
    }
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

static int files_in(const char *dir) {
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    if (d) closedir(d);
    return n;
}

static void nowhere_to_write(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    char rows[256], folder[256], path[300];
    snprintf(rows, sizeof rows, "%s", make_file(NUMBERS, 20));
    CHECK(train_file(ctx, rows, NUMBERS, kernels[0], "exact", &m) == KREIN_OK);
    snprintf(folder, sizeof folder, "%s", test_path("none"));
    snprintf(path, sizeof path, "%s/m.krein", folder);
    CHECK(krein_model_save(ctx, m, path) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), path);
    /* The name is a folder. */
    CHECK(mkdir(folder, 0755) == 0);
    int before = files_in(test_dir());
    CHECK(krein_model_save(ctx, m, folder) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), folder);
    CHECK(files_in(test_dir()) == before); /* nothing is left lying around */
    /* A folder that may not be written to keeps what it has. */
    spit(path, "old", 3);
    CHECK(chmod(folder, 0555) == 0);
    if (geteuid() != 0) {
        CHECK(krein_model_save(ctx, m, path) == KREIN_EIO);
        test_bytes now = test_slurp(path);
        CHECK(now.n == 3 && memcmp(now.at, "old", 3) == 0);
        free(now.at);
    }
    chmod(folder, 0755);
    unlink(path);
    rmdir(folder);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* ---- files of older versions -------------------------------------------- */

/* Rows before "---", one prediction a line after it. */
static void check_frozen(krein_ctx *ctx, const char *path) {
    char text[600];
    krein_model *m = NULL;
    scores *s = test_new(1, sizeof *s);
    snprintf(text, sizeof text, "%.*s.txt", (int)(strlen(path) - 6), path);
    test_bytes expect = test_slurp(text);
    char *line = expect.at ? strstr(expect.at, "---\n") : NULL;
    if (!line) {
        printf("%s is not there or has no line ---\n", text);
        CHECK(line);
    } else if (krein_model_load(ctx, path, &m) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        CHECK(m);
    } else {
        *line = 0;
        line += 4;
        CHECK(predict_file(ctx, m, test_write("frozen.csv", expect.at), s) == KREIN_OK);
        krein_model_info info;
        krein_model_describe(m, &info);
        int64_t lines = 0;
        for (; *line; lines++) {
            char *end = strchr(line, '\n');
            if (!end) break;
            *end = 0;
            if (lines < s->n && info.task == KREIN_TASK_CLASSIFICATION) {
                const char *class = krein_model_class(m, s->label[lines]);
                CHECK(class && strcmp(class, line) == 0);
            } else if (lines < s->n) {
                CHECK_ABS(s->value[lines], strtod(line, NULL), 1e-4);
            }
            line = end + 1;
        }
        CHECK(lines == s->n && lines > 0);
    }
    free(s);
    free(expect.at);
    krein_model_destroy(m);
}

static int frozen_in(krein_ctx *ctx, const char *folder) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[600];
        size_t length = strlen(e->d_name);
        if (length < 7 || strcmp(e->d_name + length - 6, ".krein") != 0) continue;
        snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
        check_frozen(ctx, path);
        n++;
    }
    if (d) closedir(d);
    return n;
}

static void frozen_models(void) {
    DIR *d = opendir("tests/models");
    int n = 0;
    if (!d) SKIP("there is no folder tests/models");
    krein_ctx *ctx = test_ctx(1);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "tests/models/%.200s", e->d_name);
        n += frozen_in(ctx, path);
    }
    closedir(d);
    CHECK(n > 0);
    krein_ctx_destroy(ctx);
}

static void make_frozen(const char *folder) {
    static const struct {
        const char *name;
        int kind;
        const char *kernel, *map;
    } all[] = {
        {"exact", NUMBERS, "gaussian(sigma=1.5)", "exact"},
        {"rff", NUMBERS, "gaussian(sigma=1.5)", "rff(D=32)"},
        {"orf-sum", TWO, "0.5*gaussian(sigma=1) + 0.5*gaussian(sigma=3)", "orf(D=32)"},
        {"nystrom", NUMBERS, "laplacian(sigma=4)", "nystrom(D=16)"},
        {"indefinite", NUMBERS, "gaussian(sigma=1) - 0.3*gaussian(sigma=4)", "nystrom(D=16)"},
        {"classes", SEVERAL, "gaussian(sigma=1.5)", "exact"},
        {"two-classes", TWO, "linear", "nystrom(D=8)"}};
    krein_ctx *ctx = test_ctx(1);
    mkdir(folder, 0755);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_model *m = NULL;
        scores *s = test_new(1, sizeof *s);
        char path[600], rows[256], few[256];
        snprintf(rows, sizeof rows, "%s", make_file(all[i].kind, 60));
        if (train_file(ctx, rows, all[i].kind, all[i].kernel, all[i].map, &m) != KREIN_OK) {
            printf("%s: %s\n", all[i].name, krein_message(ctx));
            exit(1);
        }
        snprintf(path, sizeof path, "%s/%s.krein", folder, all[i].name);
        if (krein_model_save(ctx, m, path) != KREIN_OK) exit(1);
        snprintf(few, sizeof few, "%s", make_file(all[i].kind, 25));
        if (predict_file(ctx, m, few, s) != KREIN_OK) exit(1);
        test_bytes text = test_slurp(few);
        snprintf(path, sizeof path, "%s/%s.txt", folder, all[i].name);
        FILE *f = fopen(path, "w");
        if (!f) exit(1);
        fprintf(f, "%s---\n", text.at);
        for (int64_t r = 0; r < s->n; r++)
            if (s->label[r] >= 0)
                fprintf(f, "%s\n", krein_model_class(m, s->label[r]));
            else
                fprintf(f, "%.9g\n", s->value[r]);
        fclose(f);
        free(text.at);
        free(s);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getenv("KREIN_MAKE_MODELS")) {
        make_frozen(getenv("KREIN_MAKE_MODELS"));
        return 0;
    }
    RUN(there_and_back);
    RUN(arrays_and_files_agree);
    RUN(arrays_for_text_classes);
    RUN(rows_stand_alone);
    RUN(every_truncation);
    RUN(every_bit);
    RUN(other_files);
    RUN(every_entry);
    RUN(forgeries);
    RUN(forged_landmarks);
    RUN(every_allocation_fails);
    RUN(nowhere_to_write);
    RUN(frozen_models);
    return DONE();
}
