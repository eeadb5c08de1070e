/* laplacian -- k(x, y) = exp(-|x - y|_1 / sigma)
 *   frequencies  w_j = standard Cauchy / sigma, independent           (rahimi2007)
 *   grids        pitch sigma Gamma(2), from delta k''(delta) = delta e^(-delta/sigma) / sigma^2
 */
#if defined(__GNUC__) && !defined(__clang__)
/* As in num/vec.c: selections become masks, not branches. It changes no result. */
#pragma GCC optimize("no-trapping-math")
#endif
#include "kernel/kernel.h"
#include "num/distance.h"
#include "num/simd.h"
#include "num/vec.h"

#include <math.h>

/* finite in float: 0 times it stays 0 */
static double rate(const double *p) { return fmax(-1 / p[0], -1e30); }

#define ROWS(T, name, distances, vexp)                                                             \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        T g = (T)rate(p);                                                                          \
        distances(d, x, n, y, ldy, out);                                                           \
        for (int64_t i = 0; i < n; i++) out[i] *= g;                                               \
        vexp(n, out, out);                                                                         \
    }
ROWS(float, rows32, krein__distances32, krein__vexpf)
ROWS(double, rows64, krein__distances64, krein__vexp)

static void from_l1(const double *p, int64_t n, double *v) {
    double g = rate(p);
    for (int64_t i = 0; i < n; i++) v[i] *= g;
    krein__vexp(n, v, v);
}

static double coordinate(const double *p, int64_t at, double x, double y) {
    (void)at;
    return fabs(x - y) / p[0];
}
static double finish(const double *p, const double *sum) {
    (void)p;
    return exp(-*sum);
}

/* -sign(x - y) / sigma */
#define PARTIAL(TARGET, name)                                                                      \
    TARGET static void name(double g, int64_t n, double x, const double *y, double *out) {         \
        for (int64_t i = 0; i < n; i++) out[i] = (x > y[i] ? g : 0) - (x < y[i] ? g : 0);          \
    }
PARTIAL(, partial_baseline)
#if defined(__x86_64__)
PARTIAL(__attribute__((target("avx2,fma"))), partial_avx2)
PARTIAL(__attribute__((target(KREIN_AVX512))), partial_avx512)
#endif

static void partial(const double *p, int64_t n, double x, const double *y, double *out) {
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level != KREIN_SIMD_BASELINE) {
        (level == KREIN_SIMD_AVX512 ? partial_avx512 : partial_avx2)(rate(p), n, x, y, out);
        return;
    }
#endif
    partial_baseline(rate(p), n, x, y, out);
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_cauchy(g, row, (uint64_t)j) / p[0];
}

static double quantile(const double *p, double u) { return tan(M_PI * (u - 0.5)) / p[0]; }

static double pitch(const double *p, krein_rng g, uint64_t row, uint64_t column) {
    return p[0] * krein__rng_gamma(g, row, column, 2);
}

static bool second_moment(const double *p) {
    (void)p;
    return false;
}

static krein_kernel_law law(const double *p) {
    return (krein_kernel_law){.name = "cauchy", .width = p[0]};
}

static bool source(const double *p, krein_kernel_source *out) {
    return krein__kernel_source(out, "FABS(a - b)", "EXP(R(%.17g) * s)", rate(p));
}

static const krein_option options[] = {KREIN_OPTION_SIGMA("bandwidth"), {0}};

const krein_kernel_class krein__kernel_laplacian = {
    .cls = {"laplacian", "exp(-|x-y|_1 / sigma)", "rahimi2007", options, NULL},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "rff",
    .source = source,
    .rows32 = rows32,
    .rows64 = rows64,
    .coordinate = coordinate,
    .finish = finish,
    .partial = partial,
    .from_l1 = from_l1,
    .quantile = quantile,
    .second_moment = second_moment,
    .frequency = frequency,
    .law = law,
    .pitch = pitch,
    .metric = 1,
    .spread = 1};
