/* test_prefetch.c -- reading ahead beside computing: the same rows, errors in their place, early
 * ends, seeking. Batches are made small, so that small files have many. */
#include "stream/data.h"
#include "train.h"

#include <stdatomic.h>

enum { N = 9000 };

typedef struct file {
    const char *path;
    int text; /* the label is a word */
} file;

static file *files(int *n) {
    static file all[5];
    static int made;
    *n = 5;
    if (made) return all;
    made = 1;
    rows r = friedman(N, 1, 3);
    all[0].path = strdup(write_rows("a.csv", &r));
    const char *names[] = {"b.csv", "c.libsvm", "d.npy", "e.npy"};
    for (int k = 1; k < 5; k++) all[k].path = strdup(test_path(names[k - 1]));
    all[1].text = 1;
    FILE *f = fopen(all[1].path, "w"), *g = fopen(all[2].path, "w");
    for (int i = 0; i < N; i++) {
        const float *x = r.x + i * 6;
        /* classes in words, categories, a quoted cell, blank lines in between */
        fprintf(f, "%s,%g,%s,\"%g\"\n", r.y[i] > 14 ? "high" : "low", (double)x[0],
                x[1] > 0.5f ? "red" : "blue", (double)x[2]);
        fprintf(g, "%g 1:%g %s3:%g\n%s", r.y[i], (double)x[0], i % 3 ? "" : "2:1 ", (double)x[2],
                i % 100 ? "" : "# nothing\n");
    }
    fclose(f);
    fclose(g);
    for (int k = 3; k < 5; k++) {
        f = fopen(all[k].path, "wb");
        char head[128];
        memset(head, ' ', sizeof head);
        int used = snprintf(head + 10, sizeof head - 10,
                            "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, 7), }",
                            k == 4 ? "True" : "False", N);
        memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
        head[10 + used] = ' ';
        head[127] = '\n';
        fwrite(head, 1, sizeof head, f);
        for (int i = 0; i < N * 7; i++) {
            int row = k == 4 ? i % N : i / 7, col = k == 4 ? i / N : i % 7;
            float v = col ? r.x[row * 6 + col - 1] : (float)r.y[row];
            fwrite(&v, sizeof v, 1, f);
        }
        fclose(f);
    }
    drop(&r);
    return all;
}

/* Learned, in batches of a few hundred rows. room: for reading ahead. */
static krein_data *open_kept(krein_ctx *ctx, const char *path, double room, krein_keep keep,
                             krein_encoding *e) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    CHECK(krein_data_open(ctx, path, &o, &data) == KREIN_OK);
    krein__reader_buffer(data->reader, 50000);
    data->ahead_room = room;
    ctx->keep_rows = keep;
    krein_status st = krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, e);
    if (st != KREIN_OK) printf("%s: %s\n", path, krein_message(ctx));
    CHECK(st == KREIN_OK);
    return data;
}

/* Its rows in the file. */
static krein_data *open_file(krein_ctx *ctx, const char *path, double room, krein_encoding *e) {
    return open_kept(ctx, path, room, KREIN_KEEP_STREAM, e);
}

/* A sum that depends on the order of rows, labels and entries. */
static double digest(double sum, const krein_block *b) {
    for (int64_t i = 0; i < b->x.n; i++) {
        sum = sum * 0.99 + b->label[i];
        if (b->x.ptr)
            for (int64_t k = b->x.ptr[i]; k < b->x.ptr[i + 1]; k++)
                sum = sum * 0.99 + (double)b->x.val[k] * (b->x.col[k] + 1);
        else
            for (int64_t j = 0; j < b->x.d; j++) sum = sum * 0.99 + (double)b->x.x[i * b->x.ld + j];
    }
    return sum;
}

static double rest(krein_stream *s, double sum, int64_t *n) {
    krein_block b;
    for (;;) {
        if (krein__stream_next(s, &b) != KREIN_OK) return NAN;
        if (b.x.n == 0) return sum;
        sum = digest(sum, &b);
        *n += b.x.n;
    }
}

static double whole(krein_ctx *ctx, const char *path, double room) {
    krein_encoding e;
    krein_stream *s = NULL;
    int64_t n = 0;
    krein_data *data = open_file(ctx, path, room, &e);
    CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
    double sum = rest(s, 0, &n), factor = (double)e.factor[0];
    CHECK(n == N);
    krein__stream_close(s);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    return sum + factor;
}

static void same_rows(void) {
    int n;
    file *all = files(&n);
    for (int k = 0; k < n; k++)
        for (int threads = 1; threads <= 2; threads++) {
            test_memory memory;
            krein_ctx *ctx = test_ctx_with(threads, &memory);
            double without = whole(ctx, all[k].path, 0), with = whole(ctx, all[k].path, 1e9);
            CHECK(isfinite(with) && with == without);
            CHECK(test_live(&memory) == 0);
            krein_ctx_destroy(ctx);
        }
}

/* Batches that were read ahead and are kept belong to the caller at once. */
static void kept(void) {
    int n;
    file *all = files(&n);
    krein_ctx *ctx = test_ctx(2);
    for (int k = 0; k < n; k++)
        for (int turn = 0; turn < (test_sanitized() ? 2 : 20); turn++) {
            krein_encoding e;
            krein_data *data = open_kept(ctx, all[k].path, 1e9, KREIN_KEEP_MEMORY, &e);
            CHECK(data->in_memory && data->nrows == N && data->nsegment > 4);
            krein__encoding_clear(ctx, &e);
            krein_data_close(data);
        }
    krein_ctx_destroy(ctx);
}

/* Ends in the middle, rewinds, a second stream on the same data while the thread of the first one
 * reads, the data closed under it. */
static void early_ends(void) {
    int n;
    file *all = files(&n);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(2, &memory);
    for (int k = 0; k < n; k++) {
        krein_encoding e;
        krein_stream *s = NULL, *t = NULL;
        krein_block b;
        int64_t count = 0;
        krein_data *data = open_file(ctx, all[k].path, 1e9, &e);
        double want = whole(ctx, all[k].path, 0) - (double)e.factor[0];
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
        for (int turn = 0; turn < 5; turn++) {
            for (int blocks = 0; blocks < turn; blocks++)
                CHECK(krein__stream_next(s, &b) == KREIN_OK);
            CHECK(krein__stream_rewind(s) == KREIN_OK);
        }
        CHECK(krein__stream_next(s, &b) == KREIN_OK && krein__stream_next(s, &b) == KREIN_OK);
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK);
        CHECK(krein__stream_next(t, &b) == KREIN_OK && krein__stream_next(t, &b) == KREIN_OK);
        krein__stream_close(t);
        CHECK(krein__stream_rewind(s) == KREIN_OK);
        double got = rest(s, 0, &count);
        CHECK(fabs(got - want) <= 1e-12 * fabs(want)); /* less the factor that was added */
        CHECK(krein__stream_rewind(s) == KREIN_OK);
        CHECK(krein__stream_next(s, &b) == KREIN_OK && krein__stream_next(s, &b) == KREIN_OK);
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        CHECK(test_live(&memory) == 0);
    }
    krein_ctx_destroy(ctx);
}

/* From any block on, with batches of another size, from the file and from memory. */
static void seeking(void) {
    int n;
    file *all = files(&n);
    krein_ctx *ctx = test_ctx(2);
    for (int k = 0; k < n; k++) {
        krein_encoding e, f;
        krein_place place[8];
        double sum[8] = {0}, all_rows;
        krein_stream *s = NULL, *t = NULL;
        krein_block b;
        int blocks = 0;
        krein_data *data = open_file(ctx, all[k].path, 1e9, &e);
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
        for (;; blocks++) {
            krein__stream_tell(s, &place[blocks]);
            CHECK(krein__stream_next(s, &b) == KREIN_OK);
            if (b.x.n == 0) break;
            sum[blocks + 1] = digest(sum[blocks], &b);
        }
        CHECK(blocks == 5);
        all_rows = sum[blocks];
        krein_data *other = open_file(ctx, all[k].path, 1e9, &f);
        krein__reader_buffer(other->reader, 30000);
        CHECK(krein__stream_open(other, &f, KREIN_PART_TRAIN, &t) == KREIN_OK);
        for (int i = blocks; i >= 0; i--) {
            int64_t count = 0;
            CHECK(place[i].row == krein__min(i * krein__block_rows(e.d), N));
            CHECK(i == 0 || place[i].from.row > 0);
            CHECK(krein__stream_seek(t, &place[i]) == KREIN_OK);
            CHECK(rest(t, sum[i], &count) == all_rows);
            CHECK(count == N - place[i].row);
        }
        krein__stream_close(t);
        krein__encoding_clear(ctx, &f);
        krein_data_close(other);
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

/* Errors come behind the rows before them, with their line. */
static void errors_in_order(void) {
    const char *path = test_path("bad.csv");
    rows r = friedman(6000, 1, 4);
    write_rows("bad.csv", &r);
    krein_ctx *ctx = test_ctx(2);
    krein_encoding e;
    krein_stream *s = NULL;
    krein_block b;
    int64_t n = 0;
    krein_data *data = open_file(ctx, path, 1e9, &e);
    FILE *f = fopen(path, "r+");
    /* a cell in the last tenth of the file becomes a word, with the length that it had */
    fseek(f, 0, SEEK_END);
    long at = ftell(f) / 10 * 9;
    fseek(f, at, SEEK_SET);
    for (int c = 0; (c = fgetc(f)) != ',' && c != EOF;) at++;
    fseek(f, at + 1, SEEK_SET);
    fputs("wrong", f);
    fclose(f);
    CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
    krein_status st;
    while ((st = krein__stream_next(s, &b)) == KREIN_OK && b.x.n > 0) n += b.x.n;
    CHECK(st == KREIN_EFORMAT && n >= 3840);
    CHECK_HAS(krein_message(ctx), "bad.csv:5");
    CHECK_HAS(krein_message(ctx), "wrong");
    krein__stream_close(s);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Cancelling while the thread reads. */
static atomic_int polls;
static int cancel(void *user) {
    (void)user;
    return atomic_fetch_sub(&polls, 1) <= 0;
}

static void cancelled(void) {
    int n;
    file *all = files(&n);
    for (int after = 0; after < 12; after += 2) {
        krein_ctx_options o;
        krein_ctx *ctx = NULL;
        krein_ctx_options_init(&o);
        o.threads = 2;
        o.cancel = cancel;
        atomic_store(&polls, 1 << 20);
        CHECK(krein_ctx_create(&o, &ctx) == KREIN_OK);
        krein_encoding e;
        krein_stream *s = NULL;
        krein_block b;
        krein_status st;
        krein_data *data = open_file(ctx, all[0].path, 1e9, &e);
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
        atomic_store(&polls, after);
        while ((st = krein__stream_next(s, &b)) == KREIN_OK && b.x.n > 0) {
        }
        CHECK(st == KREIN_ECANCEL);
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

static void failing_memory(void) {
    int good = 0;
    const char *path = test_path("few.csv");
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 150; i++) fprintf(f, "%s,%d,%s\n", i % 2 ? "a" : "b", i, i % 3 ? "r" : "s");
    fclose(f);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_encoding e = {0};
        krein_stream *s = NULL;
        krein_data *data = NULL;
        int64_t count = 0;
        double sum = NAN;
        krein_status st = krein_data_open(ctx, path, NULL, &data);
        if (st == KREIN_OK) {
            krein__reader_buffer(data->reader, 1500);
            data->ahead_room = 1e9;
            ctx->keep_rows = KREIN_KEEP_STREAM;
            st = krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, &e);
        }
        if (st == KREIN_OK) st = krein__stream_open(data, &e, KREIN_PART_TRAIN, &s);
        if (st == KREIN_OK) sum = rest(s, 0, &count);
        if (isfinite(sum)) good++;
        CHECK(isfinite(sum) || test_has_failed(&memory));
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    CHECK(good >= 1);
    krein_ctx_destroy(ctx);
}

/* A file of several times the memory budget: what plan says is enough. */
static void small_budget(void) {
    const char *path = test_path("large.npy");
    krein_ctx *ctx = test_ctx(2);
    krein_generate_options g;
    krein_generate_options_init(&g);
    g.n = 150000;
    g.d = 20;
    CHECK(krein_generate(ctx, "friedman", &g, path) == KREIN_OK); /* 12.6 MB */
    krein_ctx_destroy(ctx);
    for (int threads = 1; threads <= 2; threads++) {
        krein_ctx_options o;
        krein_train_options t = defaults();
        krein_model *m = NULL;
        krein_data *data = NULL;
        krein_report r = KREIN_SIZED(krein_report);
        krein_ctx_options_init(&o);
        o.threads = threads;
        o.max_memory = 4 << 20;
        CHECK(krein_ctx_create(&o, &ctx) == KREIN_OK);
        t.kernel = "gaussian(sigma=4)";
        t.map = "rff(D=32)";
        t.lambda = 1e-3;
        ctx->keep_rows = KREIN_KEEP_STREAM;
        CHECK(krein_data_open(ctx, path, NULL, &data) == KREIN_OK);
        CHECK(krein_plan(ctx, data, &t, &r) == KREIN_OK && r.fits);
        krein_report_clear(ctx, &r);
        krein_status st = krein_train(ctx, data, &t, NULL, &m);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK && krein_ctx_peak_bytes(ctx) <= o.max_memory);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

int main(void) {
    RUN(same_rows);
    RUN(kept);
    RUN(early_ends);
    RUN(seeking);
    RUN(errors_in_order);
    RUN(cancelled);
    RUN(failing_memory);
    RUN(small_budget);
    return DONE();
}
