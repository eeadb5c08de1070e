/* test_table.c -- precomputed: kernel matrices in files. */
#include "common.h"

#include "stream/data.h"
#include "kernel/gram.h"
#include "kernel/inputs.h"

enum { N = 70 };

static krein_ctx *ctx;

static double entry(int64_t i, int64_t j) { return exp(-0.01 * (double)((i - j) * (i - j))); }

/* An N x M array in a file of its own; asymmetric: one value off; bad: one NaN. */
static const char *matrix(const char *name, const char *type, bool fortran, int64_t m,
                          double asymmetry) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "wb");
    char header[128], padded[129];
    int size = type[2] - '0';
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %lld), }",
             type, fortran ? "True" : "False", (int)N, (long long)m);
    snprintf(padded, sizeof padded, "%-117s\n", header);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(padded, 1, 118, f);
    for (int64_t a = 0; a < (fortran ? m : N); a++)
        for (int64_t b = 0; b < (fortran ? N : m); b++) {
            int64_t i = fortran ? b : a, j = fortran ? a : b;
            double v = entry(i, j) + (i == 3 && j == 5 ? asymmetry : 0);
            float v32 = (float)v;
            int32_t whole = 7;
            fwrite(type[1] == 'i' ? (void *)&whole
                   : size == 8    ? (void *)&v
                                  : (void *)&v32,
                   (size_t)size, 1, f);
        }
    fclose(f);
    return path;
}

static krein_kernel *precomputed(krein_ctx *on, const char *before, const char *path) {
    char text[400];
    krein_kernel *k = NULL;
    snprintf(text, sizeof text, "%sprecomputed(file=\"%s\")", before, path);
    CHECK(krein__kernel_parse(on, text, &k) == KREIN_OK);
    return k;
}

static void values(void) {
    static const char *const types[] = {"<f4", "<f8"};
    float x[N], y[4] = {3, 0, 69, 12};
    double out[4 * N];
    float *narrow = test_new(KREIN_TILE * 4, sizeof *narrow), scratch[KREIN_TILE * 8];
    for (int i = 0; i < N; i++) x[i] = (float)(N - 1 - i);
    for (int type = 0; type < 2; type++)
        for (int fortran = 0; fortran < 2; fortran++) {
            /* asymmetric: rows are rows */
            const char *path = matrix("k.npy", types[type], fortran, N, 0.25);
            krein_kernel *k = precomputed(ctx, "", path);
            krein_rows rows = krein__rows_dense(N, 1, x, 1), few = krein__rows_dense(4, 1, y, 1);
            CHECK(krein__gram_full(ctx, k, &rows, &few, out) == KREIN_OK);
            krein_gram_rows g;
            CHECK(krein__gram_begin(ctx, k, few, false, &g) == KREIN_OK);
            CHECK(g.scratch <= KREIN_TILE * 8);
            krein__gram_tile32(&g, &rows, narrow, 4, scratch);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < 4; j++) {
                    int64_t a = (int64_t)x[i], b = (int64_t)y[j];
                    double want = entry(a, b) + (a == 3 && b == 5 ? 0.25 : 0);
                    CHECK_ABS(out[4 * i + j], want, type ? 0 : 1e-7);
                    CHECK_ABS((double)narrow[4 * i + j], want, 1e-7);
                }
            krein__gram_end(ctx, &g);
            krein__kernel_destroy(ctx, k);
            /* a part of an expression, and what is not a row number */
            y[1] = 0.5f, y[2] = 70;
            k = precomputed(ctx, "0.5*linear + 2*", path);
            CHECK(krein__gram_full(ctx, k, &rows, &few, out) == KREIN_OK);
            CHECK_ABS(out[4 * 66], 0.5 * 9 + 2 * entry(3, 3), 1e-6); /* x = 3, y = 3 */
            CHECK(isnan(out[1]) && isnan(out[2]) && !isnan(out[3]));
            y[1] = 0, y[2] = 69;
            krein__kernel_destroy(ctx, k);
        }
    free(narrow);
    CHECK(atomic_load(&ctx->held) == 0);
}

/* Sparse rows: no entry is row 0. */
static void sparse(void) {
    int64_t ptr[] = {0, 0, 1};
    int32_t col[] = {0};
    float val[] = {5};
    double out[4];
    krein_kernel *k = precomputed(ctx, "", matrix("s.npy", "<f8", false, N, 0));
    krein_rows rows = {.n = 2, .d = 1, .ptr = ptr, .col = col, .val = val};
    CHECK(krein__gram_full(ctx, k, &rows, &rows, out) == KREIN_OK);
    CHECK(out[0] == entry(0, 0) && out[1] == entry(0, 5) && out[3] == entry(5, 5));
    krein__kernel_destroy(ctx, k);
}

static void refuse(const char *path, krein_status want, const char *part) {
    krein_kernel *k = precomputed(ctx, "", path);
    float x[2] = {0, 1};
    double out[4];
    krein_rows rows = krein__rows_dense(2, 1, x, 1);
    CHECK(krein__gram_full(ctx, k, &rows, &rows, out) == want);
    CHECK_HAS(krein_message(ctx), part);
    krein__kernel_destroy(ctx, k);
    CHECK(atomic_load(&ctx->held) == 0);
}

static void refusals(void) {
    refuse("", KREIN_ESPEC, "precomputed(file=");
    refuse("/nowhere/k.npy", KREIN_EIO, "/nowhere/k.npy");
    refuse(matrix("a.npy", "<f8", false, N + 1, 0), KREIN_EFORMAT, "square");
    refuse(matrix("b.npy", "<i4", false, N, 0), KREIN_EFORMAT, "float32 or float64");
    refuse(test_write("c.npy", "no array"), KREIN_EFORMAT, "c.npy");
    const char *path = matrix("d.npy", "<f8", false, N, 0);
    CHECK(truncate(path, 4000) == 0);
    refuse(path, KREIN_EFORMAT, "shorter");
    /* two columns */
    krein_kernel *k = precomputed(ctx, "", matrix("e.npy", "<f8", false, N, 0));
    float x[2] = {0, 1};
    double out;
    krein_rows rows = krein__rows_dense(1, 2, x, 2);
    CHECK(krein__gram_full(ctx, k, &rows, &rows, &out) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "one input");
    krein__kernel_destroy(ctx, k);
}

static krein_status meet(const char *path, float odd, bool symmetric, krein_scale scale,
                         test_log *log) {
    krein_ctx *on = test_ctx_full(1, NULL, log);
    krein_data_options o;
    krein_data *data = NULL;
    krein_encoding e = {0};
    krein_stream *rows = NULL;
    krein_status st = KREIN_OK;
    krein_kernel *k = precomputed(on, "", path);
    float x[20];
    for (int i = 0; i < 20; i++) x[i] = (float)i;
    x[7] = odd;
    krein_data_options_init(&o);
    o.scale = scale;
    TRY(krein_data_from_dense(on, 20, 1, x, 1, NULL, NULL, &o, &data));
    TRY(krein__data_scan(data, false, 0, 1, &e));
    TRY(krein__kernel_meet(on, k, &e));
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    TRY(krein__kernel_meet_rows(on, k, rows, symmetric));
done:
    if (st != KREIN_OK) test_log_line(log, KREIN_LOG_DEBUG, krein_message(on));
    krein__stream_close(rows);
    krein_data_close(data);
    krein__encoding_clear(on, &e);
    krein__kernel_destroy(on, k);
    krein_ctx_destroy(on);
    return st;
}

static void rows_are_checked(void) {
    test_log log;
    const char *good = matrix("g.npy", "<f4", false, N, 0);
    CHECK(meet(good, 7, true, KREIN_SCALE_NONE, &log) == KREIN_OK && log.warnings == 0);
    CHECK(meet(good, 7, true, KREIN_SCALE_MINMAX, &log) == KREIN_EARG);
    CHECK_HAS(log.text, "`scale=none`");
    CHECK(meet(good, 7.5f, true, KREIN_SCALE_NONE, &log) == KREIN_EDATA);
    CHECK_HAS(log.text, "row 8: 7.5 is not a row number");
    CHECK(meet(good, 70, true, KREIN_SCALE_NONE, &log) == KREIN_EDATA);
    CHECK_HAS(log.text, "0 to 69");
    CHECK(meet(good, -1, false, KREIN_SCALE_NONE, &log) == KREIN_EDATA);
    const char *skew = matrix("h.npy", "<f8", true, N, 0.1);
    CHECK(meet(skew, 7, true, KREIN_SCALE_NONE, &log) == KREIN_EDATA);
    CHECK_HAS(log.text, "K[3][5]");
    CHECK(meet(skew, 7, false, KREIN_SCALE_NONE, &log) == KREIN_OK && log.warnings == 1);
    CHECK_HAS(log.text, "not symmetric");
    CHECK(meet(matrix("i.npy", "<f8", false, N, NAN), 7, true, KREIN_SCALE_NONE, &log) ==
          KREIN_EDATA);
}

static void every_allocation_fails(void) {
    float x[3] = {0, 1, 2};
    double out[9];
    krein_rows rows = krein__rows_dense(3, 1, x, 1);
    const char *path = matrix("m.npy", "<f8", false, N, 0);
    test_memory m;
    krein_ctx *mine = test_ctx_with(1, &m);
    TEST_EVERY_ALLOCATION(&m, i) {
        char text[300];
        krein_kernel *k = NULL;
        snprintf(text, sizeof text, "precomputed(file=\"%s\") + tl1(rho=2)", path);
        krein_status st = krein__kernel_parse(mine, text, &k);
        if (st == KREIN_OK) st = krein__gram_full(mine, k, &rows, &rows, out);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        krein__kernel_destroy(mine, k);
    }
    krein_ctx_destroy(mine);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(values);
    RUN(sparse);
    RUN(refusals);
    RUN(rows_are_checked);
    RUN(every_allocation_fails);
    krein_ctx_destroy(ctx);
    return DONE();
}
