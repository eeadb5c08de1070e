/* gaussian -- k(x, y) = exp(-|x - y|^2 / (2 sigma^2))
 *   frequencies  w = N(0, I) / sigma,   |w| = chi_d / sigma          (rahimi2007)
 */
#include "kernel/kernel.h"
#include "num/vec.h"

#include <math.h>

/* What squared distances are multiplied by: finite in float, so that 0 times it stays 0. */
static double factor(const double *p) { return fmax(-0.5 / (p[0] * p[0]), -1e30); }

static void values32(const double *p, int64_t n, float *v, float xx, const float *yy) {
    krein__vgaussian32(n, v, xx, yy, factor(p));
}
static void values64(const double *p, int64_t n, double *v, double xx, const double *yy) {
    krein__vsquares64(n, v, xx, yy, factor(p));
    krein__vexp(n, v, v);
}

/* -exp(-r^2 / (2 sigma^2)) / sigma^2 */
static void slope(const double *p, int64_t n, double *r) {
    double s = 1 / (p[0] * p[0]);
    for (int64_t i = 0; i < n; i++) r[i] *= -0.5 * s * r[i];
    krein__vexp(n, r, r);
    for (int64_t i = 0; i < n; i++) r[i] *= -s;
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_normal(g, row, (uint64_t)j) / p[0];
}

static double radius(const double *p, krein_rng g, uint64_t row, int64_t d) {
    return krein__rng_chi(g, row, 0, (double)d) / p[0];
}

static double mixture(const double *p, double u) {
    (void)u;
    return 1 / p[0];
}

/* chi_d(sigma r) sigma */
static double density(const double *p, int64_t d, double r) {
    double x = p[0] * r, half = 0.5 * (double)d;
    int sign; /* lgamma would write the global signgam, from every thread */
    if (x <= 0) return d == 1 ? p[0] * sqrt(2 / M_PI) : 0;
    return p[0] *
           exp((2 * half - 1) * log(x) - x * x / 2 - (half - 1) * log(2.0) - lgamma_r(half, &sign));
}

/* On rows of length one exp(-(1 - t) / sigma^2). */
static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    double s = 1 / (p[0] * p[0]), term = exp(-s);
    (void)reach;
    if (!unit) return false;
    for (int64_t n = 0; n < count; n++, term *= s / (double)n) a[n] = term;
    return true;
}

static krein_kernel_law law(const double *p) {
    return (krein_kernel_law){.name = "normal", .width = p[0]};
}

static bool source(const double *p, krein_kernel_source *out) {
    double g = fmax(-0.5 / (p[0] * p[0]), -1e30);
    return krein__kernel_source(out, KREIN_SOURCE_SQUARE, "EXP(R(%.17g) * s)", g);
}

static const krein_option options[] = {KREIN_OPTION_SIGMA("bandwidth"), {0}};

const krein_kernel_class krein__kernel_gaussian = {
    .cls = {"gaussian", "exp(-|x-y|^2 / (2 sigma^2))", "rahimi2007", options, "Also called rbf."},
    .alias = "rbf",
    .family = KREIN_FAMILY_RADIAL,
    .map = "orf",
    .source = source,
    .values32 = values32,
    .values64 = values64,
    .slope = slope,
    .frequency = frequency,
    .law = law,
    .radius = radius,
    .density = density,
    .mixture = mixture,
    .series = series,
    .metric = 2,
    .spread = 1};
