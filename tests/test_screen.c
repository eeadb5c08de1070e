/* test_screen.c -- what columns tell of the targets: a slow obvious sum, chance, pairs among many
 * columns, tied and constant columns, threads, allocations that fail. */
#include "common.h"

#include "base/rng.h"
#include "num/quantile.h"
#include "select/screen.h"

#include <string.h>

static double normal(uint64_t seed, int64_t i, int64_t j) {
    return krein__rng_normal((krein_rng){seed, 3}, (uint64_t)i, (uint64_t)j);
}

static void centre(int64_t n, int64_t k, double *y) {
    for (int64_t c = 0; c < k; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += y[i * k + c] / (double)n;
        for (int64_t i = 0; i < n; i++) y[i * k + c] -= mean;
    }
}

/* ---- the slow way -------------------------------------------------------- */

enum { SLOW_N = 60, SLOW_D = 4, SLOW_K = 2, POWERS = 4 };

/* phi_p: the ranks (-1 .. 1) times phi_(p-1), orthogonal to those before, in long double; zero
 * where what is left is less than 20 rows' worth, of 60 rows a twentieth of the variance. */
static void slow_basis(const float *x, int64_t j, double out[POWERS][SLOW_N]) {
    long double z[POWERS][SLOW_N];
    for (int p = 0; p < POWERS; p++) {
        long double square = 0;
        for (int64_t i = 0; i < SLOW_N; i++) {
            double below = 0, same = 0;
            for (int64_t l = 0; l < SLOW_N; l++) {
                below += x[l * SLOW_D + j] < x[i * SLOW_D + j];
                same += x[l * SLOW_D + j] == x[i * SLOW_D + j];
            }
            z[p][i] = p == 0 ? 1 : z[p - 1][i] * (long double)((2 * below + same) / SLOW_N - 1);
        }
        for (int twice = 0; twice < 2; twice++)
            for (int q = 0; q < p; q++) {
                long double along = 0;
                for (int64_t i = 0; i < SLOW_N; i++) along += z[p][i] * z[q][i] / SLOW_N;
                for (int64_t i = 0; i < SLOW_N; i++) z[p][i] -= along * z[q][i];
            }
        for (int64_t i = 0; i < SLOW_N; i++) square += z[p][i] * z[p][i] / SLOW_N;
        for (int64_t i = 0; i < SLOW_N; i++) {
            z[p][i] = square > .05L ? z[p][i] / sqrtl(square) : 0;
            out[p][i] = (double)z[p][i];
        }
    }
}

static void slow_sum(void) {
    krein_ctx *ctx = test_ctx(2);
    float x[SLOW_N * SLOW_D];
    double y[SLOW_N * SLOW_K], weight[SLOW_N], h[SLOW_D];
    static double phi[SLOW_D][POWERS][SLOW_N];
    for (int64_t i = 0; i < SLOW_N; i++) {
        for (int64_t j = 0; j < SLOW_D; j++) x[i * SLOW_D + j] = (float)normal(1, i, j);
        x[i * SLOW_D + 2] = rintf(2 * x[i * SLOW_D + 2]); /* ties */
        x[i * SLOW_D + 3] = x[i * SLOW_D + 3] > 0;        /* two values */
        y[i * SLOW_K] = (double)x[i * SLOW_D] + 2 * (double)x[i * SLOW_D + 3];
        y[i * SLOW_K + 1] = 3 * (double)(x[i * SLOW_D] * x[i * SLOW_D + 1]) + normal(2, i, 0);
        weight[i] = i % 2 ? 0.5 : 1.5;
    }
    centre(SLOW_N, SLOW_K, y);
    krein_rows rows = krein__rows_dense(SLOW_N, SLOW_D, x, SLOW_D);
    for (int weighted = 0; weighted < 2; weighted++) {
        double variance = 0, square = 0, found = 0;
        for (int64_t c = 0; c < SLOW_K; c++) {
            double v = 0;
            for (int64_t i = 0; i < SLOW_N; i++)
                v += pow(y[i * SLOW_K + c] * (weighted ? weight[i] : 1), 2) / SLOW_N;
            variance += v;
            square += v * v;
        }
        double count = variance * variance / square;
        double one = variance * 2 * krein__gamma_quantile(3 * count / 2, pow(.5, 1. / SLOW_D)) /
                     (count * SLOW_N);
        double two =
            variance * 2 * krein__gamma_quantile(9 * count / 2, pow(.5, 1. / 6)) / (count * SLOW_N);
        CHECK(krein__screen(ctx, &rows, SLOW_K, y, weighted ? weight : NULL, h) == KREIN_OK);
        for (int64_t j = 0; j < SLOW_D; j++) slow_basis(x, j, phi[j]);
        for (int64_t j = 0; j < SLOW_D; j++) {
            double m = 0, best = 0;
            for (int64_t l = 0; l < SLOW_D; l++) {
                double pair = 0;
                for (int64_t c = 0; c < SLOW_K; c++)
                    for (int p = 1; p < POWERS; p++)
                        for (int q = l == j ? 0 : 1; q < (l == j ? 1 : POWERS); q++) {
                            double sum = 0; /* of l == j: phi of power 0 is one */
                            for (int64_t i = 0; i < SLOW_N; i++)
                                sum += y[i * SLOW_K + c] * (weighted ? weight[i] : 1) *
                                       phi[j][p][i] * phi[l][q][i] / SLOW_N;
                            pair += sum * sum;
                        }
                if (l == j) m = pair;
                if (l != j) best = fmax(best, pair);
            }
            double want = fmax(m - one, 0) + fmax(best - two, 0);
            CHECK_ABS(h[j], want, 1e-5 * variance);
            found += want > 0;
        }
        CHECK(found >= 2);
    }
    krein_ctx_destroy(ctx);
}

/* ---- chance --------------------------------------------------------------- */

/* Columns that tell nothing: one of them alone exceeds chance in half of the samples, a pair in
 * half of them, so that nothing at all is found in a quarter. */
static void chance(void) {
    enum { N = 300, D = 20, SAMPLES = 200 };
    krein_ctx *ctx = test_ctx(1);
    static float x[N * D];
    static double y[N], h[D];
    int nothing = 0;
    krein_rows rows = krein__rows_dense(N, D, x, D);
    for (int s = 0; s < SAMPLES; s++) {
        for (int64_t e = 0; e < N * D; e++) x[e] = (float)normal((uint64_t)s + 10, e, 0);
        for (int64_t i = 0; i < N; i++) y[i] = normal((uint64_t)s + 10, i, 1);
        centre(N, 1, y);
        double most = 0;
        CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK);
        for (int64_t j = 0; j < D; j++) most = fmax(most, h[j]);
        nothing += most == 0;
    }
    double deviation = sqrt(SAMPLES * .25 * .75);
    CHECK_ELSE(fabs(nothing - SAMPLES * .25) < 4 * deviation, "nothing in %d of %d\n", nothing,
               SAMPLES);
    krein_ctx_destroy(ctx);
}

/* The sign of a product of two columns among 100, over two tiles: neither tells anything alone. */
static void pair_among_many(void) {
    enum { N = 500, D = 100, A = 7, B = 90 };
    krein_ctx *ctx = test_ctx(2), *single = test_ctx(1);
    float *x = test_new(N * D, sizeof *x);
    static double y[N], h[D], again[D];
    for (int64_t e = 0; e < N * D; e++) x[e] = (float)normal(5, e, 0);
    for (int64_t i = 0; i < N; i++) y[i] = x[i * D + A] * x[i * D + B] > 0 ? 1 : -1;
    centre(N, 1, y);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK);
    for (int64_t j = 0; j < D; j++)
        CHECK(j == A || j == B ? h[j] > 0.3 : h[j] < 0.1); /* 9/16 of the variance, less chance */
    CHECK(krein__screen(single, &rows, 1, y, NULL, again) == KREIN_OK);
    CHECK(memcmp(h, again, sizeof h) == 0);
    free(x);
    krein_ctx_destroy(ctx);
    krein_ctx_destroy(single);
}

/* An indicator of 19 rows of 1,000 is left out, one of 21 is not, though both tell the same. */
static void rare_values(void) {
    enum { N = 1000, D = 3 };
    krein_ctx *ctx = test_ctx(1);
    static float x[N * D];
    static double y[N], h[D];
    for (int64_t i = 0; i < N; i++) {
        x[i * D] = i < 19;
        x[i * D + 1] = i < 21;
        x[i * D + 2] = (float)normal(9, i, 0);
        y[i] = i < 20 ? 5 : 0;
    }
    centre(N, 1, y);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK);
    CHECK(h[0] == 0 && h[1] > 0.3);
    krein_ctx_destroy(ctx);
}

/* Constant columns and targets, one column, one row. */
static void edges(void) {
    krein_ctx *ctx = test_ctx(1);
    float x[6] = {1, 2, 1, 3, 1, 5};
    double y[3] = {0, 0, 0}, h[2] = {7, 7};
    krein_rows rows = krein__rows_dense(3, 2, x, 2), one = krein__rows_dense(3, 1, x, 2);
    krein_rows row = krein__rows_dense(1, 2, x, 2);
    CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK && h[0] == 0 && h[1] == 0);
    y[0] = -1, y[2] = 1;
    CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK && h[0] == 0 && h[1] >= 0);
    CHECK(krein__screen(ctx, &one, 1, y, NULL, h) == KREIN_OK && h[0] == 0);
    CHECK(krein__screen(ctx, &row, 1, y, NULL, h) == KREIN_OK && h[0] == 0 && h[1] == 0);
    krein_ctx_destroy(ctx);
}

static void memory(void) {
    enum { N = 500, D = 150 };
    test_memory m;
    krein_ctx *ctx = test_ctx_with(2, &m);
    float *x = test_new(N * D, sizeof *x);
    static double y[N], h[D];
    for (int64_t e = 0; e < N * D; e++) x[e] = (float)normal(6, e, 0);
    for (int64_t i = 0; i < N; i++) y[i] = x[i * D] > 0 ? 1 : -1;
    krein_rows rows = krein__rows_dense(N, D, x, D), few = krein__rows_dense(12, 3, x, D);
    CHECK(krein__screen(ctx, &rows, 1, y, NULL, h) == KREIN_OK);
    CHECK((double)krein_ctx_peak_bytes(ctx) <= krein__screen_bytes(N, D, 1, 2));
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = krein__screen(ctx, &few, 1, y, NULL, h);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
    }
    free(x);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(slow_sum);
    RUN(chance);
    RUN(pair_among_many);
    RUN(rare_values);
    RUN(edges);
    RUN(memory);
    return DONE();
}
