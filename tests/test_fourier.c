/* test_fourier.c -- rff and orf: reference features, variances, orthogonal blocks. */
#include "maps.h"

#include "map/fourier.h"

#include <float.h>

/* FORMULAS group 1, REF features: x0, x1 = det(2,3), W = det(4,3,.7), b = (.1, 1.2, 2.3, 3.4). */
static void reference_features(void) {
    static const double cosine[] = {.087991399278, .126126145787, .489968650153, .374887615825};
    static const double sine[] = {.492196620928, -.483830750727, .099653007318, .33084630193};
    static const double phased[] = {.054325795598, .702371934272, -.56676889602, -.393004066992};
    static const double b[] = {.1, 1.2, 2.3, 3.4};
    double w[12];
    float x[6];
    for (int f = 0; f < 4; f++)
        for (int j = 0; j < 3; j++) w[f * 3 + j] = det(f, j, .7);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) x[i * 3 + j] = (float)det(i, j, 0);
    krein_rows rows = krein__rows_dense(2, 3, x, 3);
    krein_kernel *e = kernel_on(ctx, "gaussian(sigma=1)");
    for (int phase = 0; phase < 2; phase++) {
        krein_map *map = NULL;
        CHECK(krein__map_create(ctx, phase ? "rff(phase=yes)" : "rff", e, 8, 1, &map) == KREIN_OK);
        map->d = 3;
        CHECK(krein__fourier_given(map, 4, w, phase ? b : NULL) == KREIN_OK);
        CHECK(map->D == (phase ? 4 : 8) && map->R == map->D);
        double *r = need_raw(map, &rows);
        for (int f = 0; f < 4; f++) {
            if (phase) {
                CHECK_ABS(r[f], phased[f], 4e-7);
            } else { /* the reference lists all cosines first; ours are pairs */
                CHECK_ABS(r[2 * f], cosine[f], 4e-7);
                CHECK_ABS(r[2 * f + 1], sine[f], 4e-7);
            }
        }
        CHECK_ABS(product(map, r, r + map->R), phase ? -.416918989632 : .007716956283, 1e-6);
        free(r);
        krein__map_destroy(map);
    }
    krein__kernel_destroy(ctx, e);
}

/* Rows of any stride, also of one more than the columns, which is where the phases' 1 goes. */
static void strides(void) {
    enum { D3 = 3, MOST = D3 + 2 };
    float x[KREIN_TILE * MOST];
    for (int phase = 0; phase < 2; phase++) {
        krein_map *map =
            need(ctx, phase ? "rff(phase=yes)" : "rff", "gaussian(sigma=1)", 20, 1, D3, NULL);
        double *first = NULL;
        for (int ld = D3; map && ld <= MOST; ld++) {
            for (int i = 0; i < KREIN_TILE * ld; i++)
                x[i] = i % ld < D3 ? (float)det(i / ld, i % ld, 0.4) : 7;
            krein_rows rows = krein__rows_dense(KREIN_TILE, D3, x, ld);
            double *r = need_raw(map, &rows);
            if (!first) first = r;
            CHECK(memcmp(first, r, (size_t)(KREIN_TILE * map->R) * sizeof *r) == 0);
            if (first != r) free(r);
        }
        free(first);
        krein__map_destroy(map);
    }
}

/* Many frequencies in one map: each is a draw of cos w'tau, or of 2 cos(w'x+b) cos(w'y+b). */
static void rff_variance(void) {
    int64_t F = test_sanitized() ? 4000 : 40000;
    static const char *const some[] = {"gaussian(sigma=1.3)", "laplacian(sigma=2)",
                                       "matern(nu=1.5, sigma=1.4)", "cauchy(sigma=1.5)"};
    float x[12] = {0};
    for (int j = 0; j < 3; j++) {
        x[j] = (float)det(0, j, 0.5);
        x[3 + j] = (float)det(1, j, 0.5) * 0.7f;
        x[9 + j] = 2 * (x[j] - x[3 + j]); /* 2 tau, against the zero of row 2 */
    }
    krein_rows rows = krein__rows_dense(4, 3, x, 3);
    for (int k = 0; k < 4; k++)
        for (int phase = 0; phase < 2; phase++) {
            double K[16], mean = 0, second = 0, fourth = 0;
            krein_kernel *e = kernel_on(ctx, some[k]);
            CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
            krein__kernel_destroy(ctx, e);
            double value = K[1], twice = K[2 * 4 + 3]; /* k(tau), k(2 tau) */
            krein_map *map = need(ctx, phase ? "rff(phase=yes)" : "rff", some[k], phase ? F : 2 * F,
                                  11, 3, NULL);
            if (!map) return;
            double *r = need_raw(map, &rows), n = (double)F;
            const double *a = r, *b = r + map->R;
            for (int64_t f = 0; f < F; f++) {
                double draw =
                    phase ? a[f] * b[f] : a[2 * f] * b[2 * f] + a[2 * f + 1] * b[2 * f + 1];
                double off = n * draw - value;
                mean += off / n;
                second += off * off / n;
                fourth += off * off * off * off / n;
            }
            double variance = (phase ? 1 + twice / 2 : (1 + twice) / 2) - value * value;
            CHECK_Z(mean, 0, variance, F);
            CHECK_Z(second, variance, fourth - second * second, F);
            free(r);
            krein__map_destroy(map);
        }
}

/* 1F1(a; b; x) by its series; enough for |x| of a few. */
static double hypergeometric(double a, double b, double x) {
    double term = 1, sum = 1;
    for (int k = 0; k < 200; k++) {
        term *= (a + k) / (b + k) * x / (k + 1);
        sum += term;
    }
    return sum;
}
static double orf_ratio(int64_t d, int64_t s, double z) {
    double h = hypergeometric((double)d, (double)d / 2, -z * z / 2), e = exp(-z * z);
    return 1 + (double)(s - 1) * (h - e) / ((1 - e) * (1 - e) / 2);
}

/* FORMULAS group 4: the exact variance of s <= d orthogonal frequencies, relative to rff. */
static void orf_variance(void) {
    CHECK_ABS(orf_ratio(16, 16, .5), .150339668201, 1e-9);
    CHECK_ABS(orf_ratio(16, 16, 1), .157713973025, 1e-9);
    CHECK_ABS(orf_ratio(16, 16, 2), .671174019758, 1e-9);
    CHECK_ABS(orf_ratio(64, 32, 1), .55605220585, 1e-9);
    static const struct {
        int64_t d, s;
        double z;
    } cases[] = {{16, 16, .5}, {16, 16, 1}, {16, 16, 2}, {16, 7, 1}, {6, 6, 1.5}, {32, 16, 1}};
    int64_t R = test_sanitized() ? 300 : 2000;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t d = cases[c].d, s = cases[c].s;
        double z = cases[c].z, sigma = 1.7, value = exp(-z * z / 2);
        float *x = test_new(2 * d, sizeof *x);
        double length = 0;
        for (int64_t j = 0; j < d; j++) length += det(4, j, 0) * det(4, j, 0);
        for (int64_t j = 0; j < d; j++)
            x[j] = (float)(det(4, j, 0) * z * sigma / sqrt(length)); /* |x - 0| = z sigma */
        krein_rows rows = krein__rows_dense(2, d, x, d);
        double mean = 0, second = 0, fourth = 0, n = (double)R;
        for (int64_t seed = 0; seed < R; seed++) {
            krein_map *map =
                need(ctx, "orf", "gaussian(sigma=1.7)", 2 * s, (uint64_t)seed, d, NULL);
            if (!map) return;
            double *r = need_raw(map, &rows);
            double off = product(map, r, r + map->R) - value;
            mean += off / n;
            second += off * off / n;
            fourth += off * off * off * off / n;
            free(r);
            krein__map_destroy(map);
        }
        double rff = (1 - value * value) * (1 - value * value) / 2 / (double)s;
        CHECK_Z(mean, 0, second, R);
        CHECK_Z(second / rff, orf_ratio(d, s, z), (fourth - second * second) / rff / rff, R);
        free(x);
    }
}

/* Blocks of d frequencies are orthogonal, the lengths are the kernel's, directions have no sign. */
static void orf_blocks(void) {
    enum { D9 = 9, F = 2 * D9 + 4 };
    krein_map *map = need(ctx, "orf", "gaussian(sigma=0.7)", 2 * F, 3, D9, NULL);
    if (!map) return;
    const krein_fourier *s = map->state;
    CHECK(s->F == F);
    double worst = 0, across = 0;
    for (int64_t f = 0; f < F; f++)
        for (int64_t g = 0; g < f; g++) {
            double inner = 0, a = 0, b = 0;
            for (int64_t j = 0; j < D9; j++) {
                double u = (double)s->W[j * F + f], v = (double)s->W[j * F + g];
                inner += u * v;
                a += u * u;
                b += v * v;
            }
            double cosine = fabs(inner) / sqrt(a * b);
            if (f / D9 == g / D9)
                worst = fmax(worst, cosine);
            else
                across = fmax(across, cosine);
        }
    CHECK(worst < 8 * FLT_EPSILON);
    CHECK(across > 0.1); /* different blocks are independent */
    krein__map_destroy(map);

    /* |w|^2 sigma^2 is chi-square with d degrees: mean d, variance 2 d. One direction's first
     * coordinate has mean 0, variance 1/d and fourth moment 3/(d (d+2)). */
    int64_t R = test_sanitized() ? 100 : 1000;
    double length = 0, first = 0, square = 0;
    for (int64_t seed = 0; seed < R; seed++) {
        map = need(ctx, "orf", "gaussian(sigma=0.7)", 2 * D9, (uint64_t)seed, D9, NULL);
        if (!map) return;
        s = map->state;
        double a = 0;
        for (int64_t j = 0; j < D9; j++) a += pow(2 * M_PI * (double)s->W[j * s->F], 2);
        double u = 2 * M_PI * (double)s->W[0] / sqrt(a);
        length += a * 0.7 * 0.7 / (double)R;
        first += u / (double)R;
        square += u * u / (double)R;
        krein__map_destroy(map);
    }
    double d = D9;
    CHECK_Z(length, d, 2 * d, R);
    CHECK_Z(first, 0, 1 / d, R);
    CHECK_Z(square, 1 / d, 3 / (d * (d + 2)) - 1 / (d * d), R);
}

/* Many columns: independent frequencies are drawn in pieces of 32 MiB, not d at a time, and the
 * estimate knows. Pieces do not show. */
static void wide_rows(void) {
    enum { WIDE = 40000, F = 250 };
    double *w = test_new(WIDE, sizeof *w);
    for (int phase = 0; phase < 2; phase++) {
        krein_kernel *e = kernel_on(ctx, "gaussian(sigma=100)");
        krein_map *map = NULL;
        krein_cost cost = {0};
        CHECK(krein__map_create(ctx, phase ? "nrff" : "rff", e, phase ? F : 2 * F, 1, &map) ==
              KREIN_OK);
        map->d = WIDE;
        map->cls->cost(map, 0, &cost);
        uint64_t before = atomic_load(&ctx->held);
        atomic_store(&ctx->peak, before);
        CHECK(krein__map_fit(map, WIDE, false, NULL, 0) == KREIN_OK);
        double fit = (double)(atomic_load(&ctx->peak) - before);
        CHECK(fit < 4.0 * (WIDE + 1) * F + 0x1p25 + 8.0 * WIDE + 65536);
        CHECK(fit + 4.0 * (double)krein__map_scratch(map) < cost.bytes);
        const krein_fourier *s = map->state;
        for (uint64_t f = 0; f < F; f += F - 1) {
            int64_t wrong = 0;
            krein_rng g = {1, KREIN_STREAM_MAP};
            e->kernel->frequency(e->values.number, g, f, WIDE, w);
            for (int64_t j = 0; j < WIDE; j++)
                wrong += s->W[j * F + (int64_t)f] != (float)(w[j] * (0.5 / M_PI));
            CHECK(wrong == 0);
        }
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
    }
    free(w);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(reference_features);
    RUN(strides);
    RUN(rff_variance);
    RUN(orf_variance);
    RUN(orf_blocks);
    RUN(wide_rows);
    return maps_done();
}
