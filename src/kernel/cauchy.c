/* cauchy -- k(x, y) = prod_j 1 / (1 + ((x_j - y_j) / sigma)^2)
 *   frequencies  w_j = Laplace(0, 1) / sigma, density (sigma/2) exp(-sigma |w_j|)   (rahimi2007)
 */
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>

#define ROWS(T, name)                                                                              \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        T g = (T)fmin(1 / (p[0] * p[0]), 1e30); /* finite in float: 0 * g stays 0 */               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *row = y + i * ldy;                                                            \
            T part[8] = {1, 1, 1, 1, 1, 1, 1, 1}, product = 1;                                     \
            int64_t j = 0;                                                                         \
            for (; j + 8 <= d; j += 8)                                                             \
                for (int64_t k = 0; k < 8; k++) {                                                  \
                    T delta = x[j + k] - row[j + k];                                               \
                    part[k] *= 1 + g * delta * delta;                                              \
                }                                                                                  \
            for (; j < d; j++) product *= 1 + g * (x[j] - row[j]) * (x[j] - row[j]);               \
            for (int64_t k = 0; k < 8; k++) product *= part[k];                                    \
            out[i] = 1 / product; /* an overflowing product is a value of 0 */                     \
        }                                                                                          \
    }
ROWS(float, rows32)
ROWS(double, rows64)

static double coordinate(const double *p, int64_t at, double x, double y) {
    (void)at;
    return log1p((x - y) * (x - y) / (p[0] * p[0]));
}
static double finish(const double *p, const double *sum) {
    (void)p;
    return exp(-*sum);
}

static void partial(const double *p, int64_t n, double x, const double *y, double *out) {
    double s = p[0] * p[0];
    for (int64_t i = 0; i < n; i++) out[i] = -2 * (x - y[i]) / (s + (x - y[i]) * (x - y[i]));
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_laplace(g, row, (uint64_t)j) / p[0];
}

static double quantile(const double *p, double u) {
    return (u < 0.5 ? log(2 * u) : -log(2 * (1 - u))) / p[0];
}

static krein_kernel_law law(const double *p) {
    return (krein_kernel_law){.name = "laplace", .width = p[0]};
}

static bool source(const double *p, krein_kernel_source *out) {
    char add[80];
    snprintf(add, sizeof add, "LOG(1 + (a - b) * (a - b) * R(%.17g))", 1 / (p[0] * p[0]));
    return krein__kernel_source(out, add, "EXP(-s)");
}

static const krein_option options[] = {KREIN_OPTION_SIGMA("scale"), {0}};

const krein_kernel_class krein__kernel_cauchy = {
    .cls = {"cauchy", "prod_j 1 / (1 + ((x_j-y_j)/sigma)^2)", "rahimi2007", options, NULL},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "rff",
    .source = source,
    .rows32 = rows32,
    .rows64 = rows64,
    .coordinate = coordinate,
    .finish = finish,
    .partial = partial,
    .quantile = quantile,
    .frequency = frequency,
    .law = law,
    .metric = 2,
    .spread = 1.4142135623730951}; /* exp(-r^2/sigma^2) near 0 */
