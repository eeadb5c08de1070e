/* test_nystrom.c -- nystrom and exact: features made of kernel values at landmarks. */
#include "maps.h"

#include "num/blas.h"

/* z'Sz = r' K_mm^-1 r for kernels whose K_mm is well conditioned, and exact on the landmarks. The
 * last one is negative definite. */
static void nystrom_values(void) {
    enum { ROWS = 120, M = 25, D2 = 2 };
    float *x = test_new(ROWS * D2, sizeof *x);
    for (int i = 0; i < ROWS; i++) { /* a jittered grid: rows are apart */
        x[2 * i] = (float)(i % 11 * 1.1 - 5.5 + 0.2 * det(i, 0, 0));
        x[2 * i + 1] = (float)(i / 11 * 1.1 - 5.5 + 0.2 * det(i, 1, 0));
    }
    static const char *const some[] = {"laplacian(sigma=1)", "gaussian(sigma=0.6)",
                                       "matern(nu=0.5, sigma=1)",
                                       "-1*gaussian(sigma=0.6) - laplacian(sigma=1)"};
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    for (int k = 0; k < 4; k++) {
        source s;
        CHECK(source_dense(ctx, ROWS, D2, x, &s) == KREIN_OK);
        krein_map *map = need(ctx, "nystrom", some[k], M, 4, D2, &s);
        if (!map) return;
        CHECK(map->R == M && map->D <= M);
        krein_kernel *e = kernel_on(ctx, some[k]);
        krein_rows marks = krein__map_landmarks(map);
        double kmm[M * M], work[M * M], kxm[ROWS * M], w[M];
        CHECK(marks.n == M && marks.d == D2);
        for (int64_t i = 0; i < M; i++) { /* landmarks are rows of the data, each one once */
            int found = 0;
            for (int j = 0; j < ROWS; j++)
                found += memcmp(marks.x + i * marks.ld, x + j * D2, D2 * sizeof *x) == 0;
            CHECK(found == 1);
        }
        CHECK(krein__gram_full(ctx, e, &marks, &marks, kmm) == KREIN_OK);
        CHECK(krein__gram_full(ctx, e, &rows, &marks, kxm) == KREIN_OK);
        memcpy(work, kmm, sizeof work);
        CHECK(krein__eigen(ctx, M, work, M, w) == KREIN_OK);
        double least = INFINITY, top = 0;
        int64_t negative = 0;
        for (int i = 0; i < M; i++) {
            least = fmin(least, fabs(w[i])), top = fmax(top, fabs(w[i]));
            negative += w[i] < 0;
        }
        CHECK(least > 1e-4 * top); /* of this test: nothing is cut, rounding is harmless */
        CHECK(map->D == M && map->negative == negative);

        /* Raw features are kernel values, but for rounding: of |x|^2 eps in a squared distance,
         * which the roughest kernel turns into its root where the distance is 0. */
        double *r = need_raw(map, &rows), *rm = need_raw(map, &marks);
        double off = 0, exact = 0, noise = 1e-7, weight = 1;
        for (int64_t i = 0; i < ROWS * M; i++) noise = fmax(noise, fabs(r[i] - kxm[i]));
        CHECK(noise < (strstr(some[k], "nu=0.5") ? 1e-2 : 1e-4));
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < M; j++)
                exact = fmax(exact, fabs(product(map, rm + i * M, rm + j * M) - kmm[i * M + j]));
        for (int64_t i = 0; i < ROWS; i += 3) {
            double alpha[M];
            memcpy(work, kmm, sizeof work);
            memcpy(alpha, kxm + i * M, sizeof alpha);
            test_solve(M, 1, work, alpha);
            double absolute = 0;
            for (int64_t l = 0; l < M; l++) absolute += fabs(alpha[l]);
            weight = fmax(weight, absolute);
            for (int64_t j = 0; j < ROWS; j += 7) {
                double want = 0;
                for (int64_t l = 0; l < M; l++) want += alpha[l] * kxm[j * M + l];
                off = fmax(off, fabs(product(map, r + i * M, r + j * M) - want));
            }
        }
        /* r + e for r and K^-1 r = alpha: (r+e)'K^-1(r+e) is off by 2 e'alpha + e'K^-1 e. */
        double allowed = 2 * noise * weight + M * noise * noise / least + 1e-6 * top;
        if (!(off <= allowed && exact <= allowed))
            printf("%s: %g and %g, allowed %g\n", some[k], off, exact, allowed);
        CHECK(off <= allowed);
        CHECK(exact <= allowed);

        /* apply: the same product from the float32 features */
        float *z = test_new(ROWS * map->D, sizeof *z);
        CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
        off = 0;
        for (int64_t i = 0; i < ROWS; i += 5)
            for (int64_t j = 0; j < ROWS; j += 5) {
                double sum = 0;
                for (int64_t f = 0; f < map->D; f++)
                    sum += (map->sign ? map->sign[f] : 1) * (double)z[i * map->D + f] *
                           (double)z[j * map->D + f];
                off = fmax(off, fabs(sum - product(map, r + i * M, r + j * M)));
            }
        CHECK(off <= allowed);
        free(z);
        free(r);
        free(rm);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
    free(x);
}

/* On a sample in memory: landmarks are some of its rows, and features exact on them. */
static void nystrom_on_a_sample(void) {
    enum { ROWS = 60, M = 20 };
    float x[ROWS * 2], z[M * M];
    krein_map *map = NULL;
    krein_kernel *kernel = kernel_on(ctx, "laplacian(sigma=1)");
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = (float)(i % 8 * 1.1 + 0.2 * det(i, 0, 0));
        x[2 * i + 1] = (float)(i / 8 * 1.1 + 0.2 * det(i, 1, 0));
    }
    krein_rows rows = krein__rows_dense(ROWS, 2, x, 2);
    CHECK(krein__map_create(ctx, "nystrom", kernel, M, 1, &map) == KREIN_OK);
    CHECK(krein__map_fit_sample(map, &rows) == KREIN_OK);
    CHECK(map->R == M && map->D == M && map->d == 2);
    krein_rows marks = krein__map_landmarks(map);
    double K[M * M];
    CHECK(krein__gram_full(ctx, kernel, &marks, &marks, K) == KREIN_OK);
    CHECK(krein__map_apply(map, &marks, z) == KREIN_OK);
    for (int i = 0; i < M; i++) {
        int found = 0;
        for (int j = 0; j < ROWS; j++) found += memcmp(marks.x + i * marks.ld, x + 2 * j, 8) == 0;
        CHECK(found == 1);
        for (int j = 0; j < M; j++) {
            double sum = 0;
            for (int l = 0; l < M; l++) sum += (double)z[i * M + l] * (double)z[j * M + l];
            CHECK_ABS(sum, K[i * M + j], 2e-3);
        }
    }
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, kernel);
}

/* Many landmarks are whitened by a Cholesky factor: all features are kept, and their products are
 * the kernel on the landmarks as far as single precision resolves it. */
static void nystrom_many(void) {
    enum { ROWS = 1100 };
    float *x = test_new(ROWS * 3, sizeof *x), *z = test_new(ROWS * ROWS, sizeof *z);
    double *K = test_new(ROWS * ROWS, sizeof *K), worst = 0;
    krein_kernel *kernel = kernel_on(ctx, "gaussian(sigma=0.5)");
    krein_map *map = NULL;
    for (int i = 0; i < ROWS * 3; i++) x[i] = (float)det(i / 3, i % 3, 0);
    krein_rows rows = krein__rows_dense(ROWS, 3, x, 3);
    CHECK(krein__map_create(ctx, "nystrom", kernel, ROWS, 1, &map) == KREIN_OK);
    CHECK(krein__map_fit_sample(map, &rows) == KREIN_OK);
    CHECK(map->R == ROWS && map->D == ROWS && map->mix && !map->spectrum && !map->negative);
    krein_rows marks = krein__map_landmarks(map);
    CHECK(krein__gram_full(ctx, kernel, &marks, &marks, K) == KREIN_OK);
    CHECK(krein__map_apply(map, &marks, z) == KREIN_OK);
    for (int64_t i = 0; i < ROWS; i += 37)
        for (int64_t j = 0; j < ROWS; j += 11) {
            double sum = 0;
            for (int64_t l = 0; l < ROWS; l++)
                sum += (double)z[i * ROWS + l] * (double)z[j * ROWS + l];
            worst = fmax(worst, fabs(sum - K[i * ROWS + j]));
        }
    CHECK_ELSE(worst < 1e-3, "%.2e", worst);
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, kernel);
    free(x);
    free(z);
    free(K);
}

/* The product with mix, of more columns and rows than one tile has: triangular, and full. */
static void mixed(void) {
    enum { ROWS = 800, M = 1100 };
    krein_map map = {.ctx = ctx, .R = M, .D = M};
    float *raw = test_new(ROWS * M, sizeof *raw), *mix = test_new(M * M, sizeof *mix);
    float *out = test_new(ROWS * M, sizeof *out);
    for (int64_t e = 0; e < ROWS * M; e++) raw[e] = (float)det(e / M, e % M, 0);
    for (int triangle = 0; triangle < 2; triangle++) {
        for (int64_t e = 0; e < M * M; e++)
            mix[e] = triangle && e / M > e % M ? 0 : (float)det(e / M, e % M, 1);
        krein__map_mix(&map, ROWS, raw, mix, out);
        for (int64_t i = 0; i < ROWS; i += 61)
            for (int64_t j = 0; j < M; j += 7) {
                double sum = 0;
                for (int64_t l = 0; l < M; l++)
                    sum += (double)raw[i * M + l] * (double)mix[l * M + j];
                CHECK_ABS((double)out[i * M + j], sum, 1e-3);
            }
    }
    free(raw);
    free(mix);
    free(out);
}

/* A kernel matrix of low rank (smooth, or with equal rows): still exact on the landmarks to what
 * is cut, and finite. */
static void nystrom_low_rank(void) {
    enum { ROWS = 60, D2 = 2 };
    float x[ROWS * D2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < D2; j++) x[i * D2 + j] = (float)det(i / 2, j, 0.2); /* twins */
    static const char *const some[] = {"gaussian(sigma=3)", "linear", "poly(degree=2)",
                                       "gaussian(sigma=1) - gaussian(sigma=3)"};
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    for (int k = 0; k < 4; k++) {
        source s;
        double K[ROWS * ROWS], off = 0, top = 0;
        CHECK(source_dense(ctx, ROWS, D2, x, &s) == KREIN_OK);
        krein_map *map = need(ctx, "nystrom", some[k], ROWS, 4, D2, &s);
        if (!map) return;
        krein_kernel *e = kernel_on(ctx, some[k]);
        CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
        CHECK(map->D < ROWS); /* twins: half of the eigenvalues are zero */
        if (k == 1) CHECK(map->D == 2);
        if (k == 2) CHECK(map->D == 6);
        double *r = need_raw(map, &rows);
        for (int i = 0; i < ROWS * ROWS; i++) top = fmax(top, fabs(K[i]));
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < ROWS; j++)
                off =
                    fmax(off, fabs(product(map, r + i * map->R, r + j * map->R) - K[i * ROWS + j]));
        if (!(off <= 1e-4 * top * ROWS)) printf("%s: %g\n", some[k], off);
        CHECK(off <= 1e-4 * top * ROWS);
        free(r);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
}

/* |K - Khat|_F / |K|_F on the first n rows of x, and the number of features. */
static double relative_error(const char *kernel, int64_t D, int64_t n, krein_rows rows, source *s,
                             int64_t *features) {
    CHECK(krein__stream_rewind(s->stream) == KREIN_OK);
    krein_map *map = need(ctx, "nystrom", kernel, D, 7, rows.d, s);
    if (!map) return NAN;
    rows.n = n;
    krein_kernel *e = kernel_on(ctx, kernel);
    double *K = test_new(n * n, sizeof *K), off = 0, size = 0;
    CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
    float *z = test_new(n * map->D, sizeof *z);
    CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double d = -K[i * n + j];
            for (int64_t f = 0; f < map->D; f++)
                d += (map->sign ? map->sign[f] : 1) * (double)z[i * map->D + f] *
                     (double)z[j * map->D + f];
            off += d * d, size += K[i * n + j] * K[i * n + j];
        }
    *features = map->D;
    free(K);
    free(z);
    krein__kernel_destroy(ctx, e);
    krein__map_destroy(map);
    return sqrt(off / size);
}

/* Indefinite kernels: near-zero eigenvalues of both signs must not spoil the features. The error
 * falls with the number of landmarks, to `last` at most. */
static void nystrom_indefinite(void) {
    enum { ROWS = 1000, D4 = 4, TESTED = 60 };
    static const int64_t marks[] = {40, 160, 640};
    static const struct {
        const char *kernel;
        double last;
    } some[] = {{"tl1(rho=3)", 0.3},
                {"tanh(gamma=0.25, c=-1)", 0.05},
                {"tanh(gamma=0.25, c=1)", 0.05},
                {"epanechnikov(a=3)", 0.15},
                {"gaussian(sigma=2) - 0.5*gaussian(sigma=0.7)", 0.05},
                {"laplacian(sigma=4) - 0.0001*gaussian(sigma=1)", 0.05}};
    float *x = test_new(ROWS * D4, sizeof *x);
    krein_rng g = {5, 0};
    for (int64_t i = 0; i < ROWS * D4; i++) x[i] = (float)krein__rng_normal(g, (uint64_t)i, 0);
    krein_rows rows = krein__rows_dense(ROWS, D4, x, D4);
    source s;
    CHECK(source_dense(ctx, ROWS, D4, x, &s) == KREIN_OK);
    for (int k = 0; k < 6; k++) {
        double before = INFINITY;
        for (int m = 0; m < 3; m++) {
            int64_t D = 0;
            double error = relative_error(some[k].kernel, marks[m], TESTED, rows, &s, &D);
            if (!(error < before)) printf("%s: %g after %g\n", some[k].kernel, error, before);
            CHECK(error < before);
            CHECK(D <= marks[m] - marks[m] / 2 && D >= marks[m] / 5);
            before = error;
        }
        if (!(before < some[k].last)) printf("%s: %g\n", some[k].kernel, before);
        CHECK(before < some[k].last);
    }
    source_close(&s);
    free(x);
}

static void nystrom_clips(void) {
    enum { ROWS = 50 };
    test_log log;
    krein_ctx *on = test_ctx_full(1, NULL, &log);
    source s;
    CHECK(source_dense(on, ROWS, DIM, points, &s) == KREIN_OK);
    memset(&log, 0, sizeof log);
    krein_map *map = need(on, "nystrom", "laplacian(sigma=2)", 500, 1, DIM, &s);
    if (map) {
        CHECK(map->R == ROWS && map->D <= ROWS);
        CHECK(log.warnings == 1);
        CHECK_HAS(log.text, "500");
        CHECK_HAS(log.text, "50 rows");
    }
    krein__map_destroy(map);
    memset(&log, 0, sizeof log);
    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
    map = need(on, "nystrom", "laplacian(sigma=2)", ROWS, 1, DIM, &s);
    CHECK(map && log.warnings == 0);
    krein__map_destroy(map);
    source_close(&s);
    krein_ctx_destroy(on);
}

/* Landmarks whose directions are lost in single precision: it says how many features are left. */
static void nystrom_tells(void) {
    enum { ROWS = 50 };
    test_log log;
    krein_ctx *on = test_ctx_full(1, NULL, &log);
    source s;
    CHECK(source_dense(on, ROWS, DIM, points, &s) == KREIN_OK);
    memset(&log, 0, sizeof log);
    krein_map *map = need(on, "nystrom", "gaussian(sigma=50)", ROWS, 1, DIM, &s);
    if (map) {
        char text[64];
        krein_fact fact;
        CHECK(map->D < ROWS && map->R == ROWS && log.warnings == 0);
        snprintf(text, sizeof text, "50 landmarks give %d features", (int)map->D);
        CHECK_HAS(log.text, text);
        CHECK(map->cls->fact(map, 0, &fact) && fact.value == ROWS);
    }
    krein__map_destroy(map);
    source_close(&s);
    krein_ctx_destroy(on);
}

/* exact: raw features are the kernel values at all rows, in double, in the order of the rows. */
static void exact_values(void) {
    enum { ROWS = 210 };
    krein_rows rows = krein__rows_dense(ROWS, DIM, points, DIM);
    double *K = test_new(ROWS * ROWS, sizeof *K);
    for (int k = 0; k < KERNELS; k++) {
        source s;
        CHECK(source_dense(ctx, ROWS, DIM, points, &s) == KREIN_OK);
        krein_map *map = need(ctx, "exact", kernels[k], 0, 4, DIM, &s);
        if (!map) return;
        krein_kernel *e = kernel_on(ctx, kernels[k]);
        CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
        CHECK(map->R == ROWS && map->D == ROWS && !map->mix);
        double *r = need_raw(map, &rows);
        CHECK(memcmp(r, K, ROWS * ROWS * sizeof *r) == 0);
        free(r);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
    free(K);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(nystrom_values);
    RUN(nystrom_on_a_sample);
    RUN(nystrom_many);
    RUN(mixed);
    RUN(nystrom_low_rank);
    RUN(nystrom_indefinite);
    RUN(nystrom_clips);
    RUN(nystrom_tells);
    RUN(exact_values);
    return maps_done();
}
