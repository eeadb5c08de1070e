/* gaussian -- k(x, y) = exp(-|x - y|^2 / (2 sigma^2))
 *   frequencies  w = N(0, I) / sigma,   |w| = chi_d / sigma          (rahimi2007)
 */
#include "kernel/kernel.h"
#include "num/vec.h"

#include <math.h>

#define VALUES(T, name, vexp)                                                                      \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        T g = (T)fmax(-0.5 / (p[0] * p[0]), -1e30); /* finite in float: 0 * g stays 0 */           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T square = xx + yy[i] - 2 * v[i];                                                      \
            v[i] = g * (square > 0 ? square : 0);                                                  \
        }                                                                                          \
        vexp(n, v, v);                                                                             \
    }
VALUES(float, values32, krein__vexpf)
VALUES(double, values64, krein__vexp)

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_normal(g, row, (uint64_t)j) / p[0];
}

static double radius(const double *p, krein_rng g, uint64_t row, int64_t d) {
    return krein__rng_chi(g, row, 0, (double)d) / p[0];
}

static const krein_option options[] = {
    {.name = "sigma", .value = NAN, .low = 0, .low_open = true, .high = 1e30, .help = "bandwidth"},
    {0}};

const krein_kernel_class krein__kernel_gaussian = {
    .cls = {"gaussian", "exp(-|x-y|^2 / (2 sigma^2))", "rahimi2007", options, NULL},
    .family = KREIN_FAMILY_RADIAL,
    .values32 = values32,
    .values64 = values64,
    .frequency = frequency,
    .radius = radius,
    .metric = 2,
    .spread = 1};
