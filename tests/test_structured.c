/* test_structured.c -- sorf, fastfood, scrf, pmodel: reference values, the matrices they multiply
 * by, their laws, bias and variance. The contract that all maps share is in test_maps.c; it runs
 * on few columns, where these maps multiply by W, so what it says of bits, memory and sparse
 * rows is said again here of the fast products. */
#include "mapped.h"

#include "map/structured.h"
#include "num/hadamard.h"

#include <float.h>

static const char *const specs[] = {"sorf", "fastfood", "scrf", "pmodel",
                                    "pmodel(matrix=hadamard)"};
enum { SPECS = sizeof specs / sizeof *specs, SORF = 0, SCRF = 2 };

static krein_status make(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
                         uint64_t seed, int64_t d, bool sparse, krein_map **out) {
    krein_kernel *k = NULL;
    *out = NULL;
    krein_status st = krein__kernel_parse(on, kernel, &k);
    if (st == KREIN_OK) st = krein__map_create(on, spec, k, D, seed, out);
    if (st == KREIN_OK) st = krein__map_fit(*out, d, sparse, NULL, 0);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(on, k);
    return st;
}
static krein_map *need(const char *spec, const char *kernel, int64_t D, uint64_t seed, int64_t d,
                       bool sparse) {
    krein_map *map;
    if (make(ctx, spec, kernel, D, seed, d, sparse, &map) != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
        exit(1);
    }
    return map;
}
static bool accepts(const char *spec, const char *kernel) {
    krein_map *map = NULL;
    krein_kernel *k = NULL;
    CHECK(krein__kernel_parse(ctx, kernel, &k) == KREIN_OK);
    bool yes = krein__map_create(ctx, spec, k, 8, 1, &map) == KREIN_OK;
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, k);
    return yes;
}
/* ---- reference values --------------------------------------------------- */

static void close_to(const float *got, const double *want, int n) {
    for (int i = 0; i < n; i++) CHECK_ABS((double)got[i], want[i], 3e-6);
}

static void reference(void) {
    float x[8], G[8], scale[8], ones[8], scratch[24];
    double length = 0;
    for (int j = 0; j < 8; j++) {
        x[j] = (float)det(0, j, 0);
        G[j] = (float)det(0, j, .2);
        ones[j] = 1.0f / 8;
        length += det(0, j, .2) * det(0, j, .2);
    }
    static const float B[8] = {1, -1, 1, 1, -1, -1, 1, 1};
    static const int32_t Pi[8] = {3, 0, 6, 1, 7, 5, 2, 4};
    for (int j = 0; j < 8; j++) scale[j] = (float)((3 + det(0, j, 1.5)) / sqrt(8 * length));
    static const double fastfood[8] = {-3.684984200288, -1.247628367549, 1.26734071741,
                                       2.02684467791,   .405345751083,   -4.049882288414,
                                       5.287753710367,  -.251312821424};
    close_to(krein__fastfood_turns(8, B, Pi, G, scale, 8, x, scratch), fastfood, 8);
    /* fewer frequencies are the first ones */
    close_to(krein__fastfood_turns(8, B, Pi, G, scale, 3, x, scratch), fastfood, 3);
    static const float signs[24] = {1, 1,  -1, 1,  -1, 1,  -1, -1, /* D3 */
                                    1, 1,  -1, -1, 1,  1,  -1, 1,  /* D2 = reverse(B) */
                                    1, -1, 1,  1,  -1, -1, 1,  1}; /* D1 = B */
    static const double sorf[8] = {-1.473723292053, -.732405363791, -2.428622369512,
                                   -2.296184516553, .631968674837,  -1.811706703155,
                                   -2.178349853523, 2.395048833373};
    close_to(krein__sorf_turns(8, signs, ones, 8, x, scratch), sorf, 8);
    static const double circulant[8] = {3.457039202044,  2.698236400623,  .570604410251,
                                        -1.700344865101, -2.998974505613, -2.707497002033,
                                        -.897286739697,  1.612215576474};
    krein_fft *fft = NULL;
    CHECK(krein__fft_create(ctx, 8, &fft) == KREIN_OK);
    krein__circulant_spectrum(fft, 8, G, scratch);
    krein__fft_forward(fft, x, x);
    krein__fft_multiply(fft, scratch, x, x);
    krein__fft_inverse(fft, x, x);
    close_to(x, circulant, 8);
    krein__fft_destroy(ctx, fft);
}

static void head(void) {
    for (int64_t P = 2; P <= 512; P *= 2) {
        float *x = test_new(3 * P, sizeof *x), *whole = x + P, *part = x + 2 * P;
        float *s = test_new(P, sizeof *s);
        for (int64_t i = 0; i < P; i++) x[i] = (float)test_random(), s[i] = (float)test_random();
        krein__fwht_scaled(P, x, s, whole);
        for (int64_t m = 1; m <= P; m += 1 + m / 3) {
            krein__hadamard_head(P, m, x, s, part);
            for (int64_t i = 0; i < m; i++)
                CHECK_ABS((double)part[i], (double)whole[i], 1e-6 * sqrt((double)P) * 3);
        }
        free(x);
        free(s);
    }
}

/* ---- the matrix a map multiplies by ------------------------------------- */

/* Frequencies (F x d, radians) of a map with cos and sin pairs, from the features of h e_j. */
static double *frequencies(const krein_map *map, double h) {
    int64_t d = map->d, F = map->D / 2;
    float *x = test_new(d * d, sizeof *x);
    for (int64_t j = 0; j < d; j++) x[j * d + j] = (float)h;
    krein_rows rows = krein__rows_dense(d, d, x, d);
    float *z = features(map, &rows);
    double *w = test_new(F * d, sizeof *w);
    for (int64_t j = 0; j < d; j++)
        for (int64_t f = 0; f < F; f++)
            w[f * d + j] =
                atan2((double)z[j * map->D + 2 * f + 1], (double)z[j * map->D + 2 * f]) / h;
    free(x);
    free(z);
    return w;
}

static const char *const linear_kernels[] = {
    "gaussian(sigma=1)", "0.5*gaussian(sigma=2)*gaussian(sigma=3) - gaussian(sigma=1.5)"};

/* The features of a row are cos and sin of W x with one W for all rows, however many blocks, terms
 * and padded columns there are; sparse rows give the same bits. */
static void one_matrix(void) {
    static const struct {
        int64_t d, D;
    } sizes[] = {{9, 50}, {64, 300}, {65, 60}, {100, 600}, {128, 130}, {128, 512}, {200, 1400}};
    for (int m = 0; m < SPECS; m++)
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
            for (int k = 0; k < 2; k++) {
                int64_t d = sizes[c].d, n = 5;
                krein_map *map = need(specs[m], linear_kernels[k], sizes[c].D, 11, d, false);
                krein_map *again = need(specs[m], linear_kernels[k], sizes[c].D, 11, d, true);
                int64_t D = map->D, F = D / 2;
                double *w = frequencies(map, 0.3), worst = 0;
                float *x = test_new(n * d, sizeof *x), *value = test_new(n * d, sizeof *value);
                int64_t ptr[6] = {0}, used = 0;
                int32_t *col = test_new(n * d, sizeof *col);
                for (int64_t i = 0; i < n; i++, ptr[i] = used)
                    for (int64_t j = 0; j < d; j++) {
                        if (i && (i * 7 + j * 5) % 3) continue;
                        x[i * d + j] = (float)test_random();
                        col[used] = (int32_t)j;
                        value[used++] = x[i * d + j];
                    }
                krein_rows dense = krein__rows_dense(n, d, x, d), csr = {0};
                csr.n = n, csr.d = d, csr.ptr = ptr, csr.col = col, csr.val = value;
                float *z = features(map, &dense), *sparse = features(again, &csr);
                for (int64_t i = 0; i < n; i++)
                    for (int64_t f = 0; f < F; f++) {
                        double t = 0, a = (double)z[i * D + 2 * f],
                               b = (double)z[i * D + 2 * f + 1], r = hypot(a, b);
                        for (int64_t j = 0; j < d; j++) t += w[f * d + j] * (double)x[i * d + j];
                        worst = fmax(worst, hypot(a / r - cos(t), b / r - sin(t)));
                    }
                /* |w_j| errors of 1e-6 / 0.3 add up like a random walk */
                if (!(worst < 1e-5 * sqrt((double)d)))
                    printf("%s, d %d, D %d: %g\n", specs[m], (int)d, (int)D, worst);
                CHECK(worst < 1e-5 * sqrt((double)d));
                double off = 0;
                for (int64_t i = 0; i < n * D; i++)
                    off = fmax(off, fabs((double)z[i] - (double)sparse[i]));
                CHECK(d > 64 ? off == 0 : off < 2e-5); /* few columns: matrix products */
                free(w), free(x), free(value), free(col), free(z), free(sparse);
                krein__map_destroy(map);
                krein__map_destroy(again);
            }
    CHECK(atomic_load(&ctx->held) == 0);
}

/* What makes each matrix what it is called. */
static void structures(void) {
    for (int64_t d = 32; d <= 128; d *= 4) { /* by W, and by fast products */
        const char *kernel = "gaussian(sigma=1)";
        double error = 0;
        krein_map *map = need("sorf", kernel, 2 * d, 3, d, false); /* W W' = d I */
        double *w = frequencies(map, 0.3);
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++) {
                double sum = a == b ? (double)-d : 0;
                for (int64_t j = 0; j < d; j++) sum += w[a * d + j] * w[b * d + j];
                error = fmax(error, fabs(sum));
            }
        CHECK(error < 1e-4 * (double)d);
        free(w);
        krein__map_destroy(map);
        map = need("pmodel", kernel, 6 * d, 3, d, false); /* W[i][j] = W[i+1][j+1], all 3d rows */
        w = frequencies(map, 0.3);
        error = 0;
        for (int64_t i = 0; i + 1 < 3 * d; i++)
            for (int64_t j = 0; j + 1 < d; j++)
                error = fmax(error, fabs(w[i * d + j] - w[(i + 1) * d + j + 1]));
        CHECK(error < 3e-5);
        free(w);
        krein__map_destroy(map);
        /* |W[i][j]| = |W[i+1][(j+1) mod d]| within a block, with one sign a column */
        map = need("scrf", kernel, 2 * d, 3, d, false);
        w = frequencies(map, 0.3);
        error = 0;
        int64_t flips = 0;
        for (int64_t j = 0; j < d; j++) {
            int64_t next = (j + 1) % d;
            double sign = w[j] * w[d + next] > 0 ? 1 : -1;
            flips += sign < 0;
            for (int64_t i = 0; i + 1 < d; i++)
                error = fmax(error, fabs(w[i * d + j] - sign * w[(i + 1) * d + next]));
        }
        CHECK(error < 3e-5);
        CHECK_Z((double)flips / (double)d, 0.5, 0.25, d);
        free(w);
        krein__map_destroy(map);
    }
}

/* Squared lengths of frequencies on d of P columns: chi-square with d degrees of freedom; entries
 * have mean 0 and variance 1. (sorf: length P on P columns, by structures.) */
static void lengths(void) {
    static const int64_t ds[] = {13, 100, 128};
    int64_t R = 30;
    for (int m = 0; m < SPECS; m++)
        for (int c = 0; c < 3; c++) {
            int64_t d = ds[c], F = 2 * d + 7;
            double square = 0, fourth = 0, sum = 0;
            for (int64_t seed = 0; seed < R; seed++) {
                krein_map *map =
                    need(specs[m], "gaussian(sigma=1)", 2 * F, (uint64_t)seed, d, false);
                double *w = frequencies(map, 0.3), mean = 0;
                for (int64_t i = 0; i < F * d; i++) mean += w[i] * w[i] / (double)(F * d);
                for (int64_t i = 0; i < F * d; i++) sum += w[i];
                square += mean / (double)R; /* of seeds: rows of one are not independent */
                fourth += mean * mean / (double)R;
                free(w);
                krein__map_destroy(map);
            }
            CHECK_Z(square, 1, fmax(fourth - square * square, 1e-12), R - 1);
            /* each entry has variance 1, however it goes with others; rows may all move together */
            CHECK(fabs(sum / (double)(R * F * d)) < 5 / sqrt((double)R));
        }
}

/* ---- bias and variance -------------------------------------------------- */

/* Mean and variance over seeds of k(x, y) estimated, with y = 0. */
typedef struct moments {
    double mean, variance, fourth; /* fourth: of the centred value */
} moments;

static moments moments_of(int64_t n, const double *v) {
    moments m = {0};
    for (int64_t i = 0; i < n; i++) m.mean += v[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double off = (v[i] - m.mean) * (v[i] - m.mean);
        m.variance += off / (double)(n - 1);
        m.fourth += off * off / (double)n;
    }
    return m;
}

/* Gaussian kernel, sigma = 1, d = 16, s = 64 frequencies: estimates of k at distance r for x - y
 * constant, random, along an axis. */
enum { WAYS = 3, DIM = 16 };
static void estimates(const char *spec, double r, int64_t R, double *out[WAYS]) {
    for (int64_t seed = 0; seed < R; seed++) {
        float x[(WAYS + 1) * DIM] = {0};
        double length = 0;
        krein_rng g = {(uint64_t)seed, 99};
        for (int j = 0; j < DIM; j++) {
            x[DIM + j] = (float)(r / sqrt(DIM));
            x[2 * DIM + j] = (float)krein__rng_normal(g, 0, (uint64_t)j);
            length += (double)x[2 * DIM + j] * (double)x[2 * DIM + j];
        }
        for (int j = 0; j < DIM; j++) x[2 * DIM + j] *= (float)(r / sqrt(length));
        x[3 * DIM + 5] = (float)r;
        krein_rows rows = krein__rows_dense(WAYS + 1, DIM, x, DIM);
        krein_map *map = need(spec, "gaussian(sigma=1)", 128, (uint64_t)seed, DIM, false);
        float *z = features(map, &rows);
        for (int w = 0; w < WAYS; w++) out[w][seed] = inner(map, z, z + (w + 1) * map->D);
        free(z);
        krein__map_destroy(map);
    }
}

/* Ratios of the variance to rff's, (1 - k^2)^2 / (2 s), and bias, as measured by another program
 * (to a tenth). For Toeplitz matrices the random direction matters: see toeplitz_variance. */
static void variance_ratios(void) {
    static const struct {
        const char *spec;
        double r, ratio[WAYS], bias;
    } table[] = {
        {"orf", 1, {.16, .16, .16}, 0},      {"sorf", 1, {.05, .05, .05}, -.009},
        {"sorf", 2, {.95, .67, 1.2}, -.038}, {"fastfood", 1, {1.9, 1.8, .16}, 0},
        {"fastfood", 2, {1.3, 1.3, .70}, 0}, {"scrf", 1, {1.9, 1.8, 1}, 0},
        {"pmodel", 1, {9.4, NAN, 1}, 0},     {"pmodel(matrix=hadamard)", 1, {2.9, 2.6, 1}, 0}};
    int64_t R = test_sanitized() ? 200 : 2500;
    double *v[WAYS];
    for (int w = 0; w < WAYS; w++) v[w] = test_new(R, sizeof **v);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double r = table[i].r, k = exp(-r * r / 2), rff = pow(1 - k * k, 2) / 128;
        estimates(table[i].spec, r, R, v);
        for (int w = 0; w < WAYS; w++) {
            moments m = moments_of(R, v[w]);
            double error = sqrt((m.fourth - m.variance * m.variance) / (double)R) / rff;
            double want = table[i].ratio[w];
            if (getenv("KREIN_SHOW"))
                printf("%s r=%g way %d: ratio %.4f +- %.4f, want %.3f; bias %.5f +- %.5f\n",
                       table[i].spec, r, w, m.variance / rff, error, want, m.mean - k,
                       sqrt(m.variance / (double)R));
            if (!isnan(want)) CHECK_ABS(m.variance / rff, want, 5 * error + 0.1 * want);
            double bias_error = sqrt(m.variance / (double)R);
            CHECK_ABS(m.mean - k, table[i].bias, 5 * bias_error + 0.06 * fabs(table[i].bias));
        }
    }
    for (int w = 0; w < WAYS; w++) free(v[w]);
}

/* Rows i and i + l of a Toeplitz matrix meet x - y in normal numbers with the correlation rho_l of
 * x - y with itself moved by l, and Cov(cos a, cos b) = e^{-r^2} (cosh(rho r^2) - 1). */
static void toeplitz_variance(void) {
    enum { S = 64 };
    int64_t R = test_sanitized() ? 200 : 2500;
    double *v = test_new(R, sizeof *v), r = 1.2, k = exp(-r * r / 2);
    for (int way = 0; way < 2; way++) {
        float x[2 * DIM] = {0};
        double length = 0, ratio = 1;
        for (int j = 0; j < DIM; j++) length += pow(way ? det(1, j, 0) : 1, 2);
        for (int j = 0; j < DIM; j++) x[j] = (float)((way ? det(1, j, 0) : 1) * r / sqrt(length));
        for (int l = 1; l < DIM; l++) {
            double rho = 0;
            for (int j = 0; j + l < DIM; j++) rho += (double)x[j] * (double)x[j + l];
            ratio += 2.0 * (S - l) / S * (cosh(rho) - 1) / (cosh(r * r) - 1);
        }
        krein_rows rows = krein__rows_dense(2, DIM, x, DIM);
        for (int64_t seed = 0; seed < R; seed++) {
            krein_map *map = need("pmodel", "gaussian(sigma=1)", 2 * S, (uint64_t)seed, DIM, false);
            float *z = features(map, &rows);
            v[seed] = inner(map, z, z + map->D);
            free(z);
            krein__map_destroy(map);
        }
        moments m = moments_of(R, v);
        CHECK_Z(m.mean, k, m.variance, R);
        CHECK_Z(m.variance, ratio * pow(1 - k * k, 2) / (2 * S), m.fourth - m.variance * m.variance,
                R);
    }
    free(v);
}

/* E = k for d = 3, 16, 100, every kernel that the map takes (sorf promises it for none). */
static void unbiased(void) {
    static const char *const kernels[] = {
        "gaussian(sigma=1)",
        "matern(nu=1.5, sigma=1.2)",
        "rq(alpha=1.5, sigma=1.2)",
        "exponential(sigma=2)",
        "laplacian(sigma=4)",
        "cauchy(sigma=1.5)",
        "2*gaussian(sigma=1.5)*gaussian(sigma=2) - 0.5*gaussian(sigma=0.7)",
        "gaussian(sigma=1.5)*laplacian(sigma=6)*cauchy(sigma=3) + cauchy(sigma=2)"};
    static const int64_t ds[] = {3, 16, 100};
    int64_t R = test_sanitized() ? 60 : 400;
    double *v = test_new(R, sizeof *v);
    for (int m = SORF + 1; m < SPECS; m++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            krein_kernel *e = NULL;
            /* not every kernel is known everywhere */
            if (krein__kernel_parse(ctx, kernels[k], &e) != KREIN_OK) continue;
            for (int c = 0; c < 3 && accepts(specs[m], kernels[k]); c++) {
                int64_t d = ds[c];
                float *x = test_dense(2, d, 0.3);
                for (int64_t j = 0; j < 2 * d; j++) x[j] *= (float)(1.2 / sqrt((double)d));
                krein_rows rows = krein__rows_dense(2, d, x, d);
                double K[4];
                CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
                for (int64_t seed = 0; seed < R; seed++) {
                    krein_map *map = need(specs[m], kernels[k], 40, (uint64_t)seed, d, false);
                    float *z = features(map, &rows);
                    v[seed] = inner(map, z, z + map->D);
                    free(z);
                    krein__map_destroy(map);
                }
                moments now = moments_of(R, v);
                if (getenv("KREIN_SHOW"))
                    printf("%s %s d=%d: %.4f, want %.4f\n", specs[m], kernels[k], (int)d, now.mean,
                           K[1]);
                CHECK_Z(now.mean, K[1], now.variance, R);
                free(x);
            }
            krein__kernel_destroy(ctx, e);
        }
    free(v);
}

/* ---- the contract, on fast products ------------------------------------- */

static void bits(void) {
    enum { ROWS = 2 * KREIN_TILE + 30 };
    static const int64_t ds[] = {80, 128};
    for (int m = 0; m < SPECS; m++)
        for (int c = 0; c < 2; c++) {
            const char *kernel =
                m == SCRF ? "gaussian(sigma=4)*cauchy(sigma=5)" : "gaussian(sigma=4)";
            int64_t d = ds[c];
            float *x = test_dense(ROWS, d, 0.7), *first = NULL;
            krein_rows rows = krein__rows_dense(ROWS, d, x, d);
            for (int threads = 1; threads <= 3; threads++) {
                krein_ctx *on = test_ctx(threads);
                krein_map *map = NULL;
                CHECK(make(on, specs[m], kernel, 300, 5, d, false, &map) == KREIN_OK);
                float *z = features(map, &rows);
                size_t row = (size_t)map->D * sizeof *z;
                if (!first) {
                    first = z;
                    for (int64_t n = 1; n < KREIN_TILE; n = 3 * n + 1) { /* a few rows alone */
                        krein_rows few = krein__rows_slice(&rows, 17, n);
                        float *part = features(map, &few);
                        CHECK(memcmp(part, z + 17 * map->D, (size_t)n * row) == 0);
                        free(part);
                    }
                } else {
                    CHECK(memcmp(first, z, ROWS * row) == 0);
                    free(z);
                }
                krein__map_destroy(map);
                CHECK(atomic_load(&on->held) == 0);
                krein_ctx_destroy(on);
            }
            free(x);
            free(first);
        }
}

static void allocations(void) {
    test_memory memory;
    krein_ctx *on = test_ctx_with(1, &memory);
    for (int m = 0; m < SPECS; m++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_map *map = NULL;
            krein_status st = make(on, specs[m], "gaussian(sigma=1) - gaussian(sigma=2)", 300, 5,
                                   100, false, &map);
            CHECK(test_has_failed(&memory) ? st == KREIN_EMEMORY : st == KREIN_OK);
            krein__map_destroy(map);
        }
    krein_ctx_destroy(on);
}

static void refusals(void) {
    krein_map *map = NULL;
    CHECK(make(ctx, "scrf", "gaussian(sigma=1)", 8, 1, (1 << 24) + 1, true, &map) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "try rff");
    CHECK(make(ctx, "pmodel", "gaussian(sigma=1)", 8, 1, (1 << 23) + 1, true, &map) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "hadamard");
    CHECK(make(ctx, "fastfood", "laplacian(sigma=1)", 8, 1, 5, false, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "mixtures of Gaussians");
    CHECK(make(ctx, "sorf", "gaussian(sigma=1) + gaussian(sigma=2)", 3, 1, 5, false, &map) ==
          KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "too few");
    CHECK(atomic_load(&ctx->held) == 0);
}

int main(void) {
    ctx = test_ctx(1);
    RUN(reference);
    RUN(head);
    RUN(one_matrix);
    RUN(structures);
    RUN(lengths);
    RUN(variance_ratios);
    RUN(toeplitz_variance);
    RUN(unbiased);
    RUN(bits);
    RUN(allocations);
    RUN(refusals);
    krein_ctx_destroy(ctx);
    return DONE();
}
