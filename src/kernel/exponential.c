/* exponential -- k(x, y) = exp(-|x - y| / sigma): the Matern kernel with nu = 1/2, which does the
 * work frequencies  w = N(0, I) / |N(0, 1)| / sigma: a multivariate Cauchy law   (rasmussen2006)
 */
#include "kernel/kernel.h"

#include <math.h>

extern const krein_kernel_class krein__kernel_matern;

/* The parameters of the Matern kernel. */
#define HALF(p) ((const double[]){0.5, (p)[0]})

static void values32(const double *p, int64_t n, float *v, float xx, const float *yy) {
    krein__kernel_matern.values32(HALF(p), n, v, xx, yy);
}
static void values64(const double *p, int64_t n, double *v, double xx, const double *yy) {
    krein__kernel_matern.values64(HALF(p), n, v, xx, yy);
}
static void slope(const double *p, int64_t n, double *r) {
    krein__kernel_matern.slope(HALF(p), n, r);
}
static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    krein__kernel_matern.frequency(HALF(p), g, row, d, w);
}
static double radius(const double *p, krein_rng g, uint64_t row, int64_t d) {
    return krein__kernel_matern.radius(HALF(p), g, row, d);
}
static double density(const double *p, int64_t d, double r) {
    return krein__kernel_matern.density(HALF(p), d, r);
}
static double mixture(const double *p, double u) {
    return krein__kernel_matern.mixture(HALF(p), u);
}

static bool second_moment(const double *p) {
    (void)p;
    return false;
}

static krein_kernel_law law(const double *p) { return krein__kernel_matern.law(HALF(p)); }

static bool source(const double *p, krein_kernel_source *out) {
    return krein__kernel_matern.source(HALF(p), out);
}

static const krein_option options[] = {KREIN_OPTION_SIGMA("length"), {0}};

const krein_kernel_class krein__kernel_exponential = {
    .cls = {"exponential", "exp(-|x-y| / sigma)", "rasmussen2006", options,
            "The roughest of the Matern kernels (nu = 1/2)."},
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
    .second_moment = second_moment,
    .metric = 2,
    .spread = 1};
