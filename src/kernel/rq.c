/* rq -- k(x, y) = (1 + |x - y|^2 / (2 alpha sigma^2))^(-alpha), the rational quadratic kernel
 *   a mixture of Gaussian kernels: E exp(-g |x - y|^2 / (2 sigma^2)), alpha g ~ Gamma(alpha)
 *   frequencies  w = sqrt(g) N(0, I) / sigma                                  (rasmussen2006)
 * Powers that are multiples of 1/2 are products and a root; others go through log1p in double.
 */
#include "kernel/kernel.h"
#include "num/quantile.h"
#include "num/special.h"
#include "num/vec.h"

#include <math.h>

enum { ALPHA = 0, SIGMA = 1, CHUNK = 256 };

/* v = |x - y|^2 / (2 alpha sigma^2) becomes (1 + v)^(-half / 2). */
#define POWER(T, name, SQRT)                                                                       \
    static void name(int half, int64_t n, T *v) {                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T base = 1 / (1 + v[i]), value = half & 1 ? SQRT(base) : 1;                            \
            for (int power = half >> 1; power; power >>= 1, base *= base)                          \
                if (power & 1) value *= base;                                                      \
            v[i] = value;                                                                          \
        }                                                                                          \
    }
POWER(float, power32, sqrtf)
POWER(double, power64, sqrt)

#define VALUES(T, name, squares, power)                                                            \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        double alpha = p[ALPHA], e[CHUNK];                                                         \
        /* finite: 0 times it stays 0 */                                                           \
        squares(n, v, xx, yy, (T)fmin(0.5 / alpha / (p[SIGMA] * p[SIGMA]), 1e30));                 \
        if (2 * alpha == rint(2 * alpha) && alpha <= 8) {                                          \
            power((int)(2 * alpha), n, v);                                                         \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i += CHUNK) {                                                   \
            int64_t m = n - i < CHUNK ? n - i : CHUNK;                                             \
            for (int64_t k = 0; k < m; k++) e[k] = -alpha * log1p((double)v[i + k]);               \
            krein__vexp(m, e, e);                                                                  \
            for (int64_t k = 0; k < m; k++) v[i + k] = (T)e[k];                                    \
        }                                                                                          \
    }
VALUES(float, values32, krein__vsquares32, power32)
VALUES(double, values64, krein__vsquares64, power64)

/* -(1 + r^2 / (2 alpha sigma^2))^(-alpha - 1) / sigma^2 */
static void slope(const double *p, int64_t n, double *r) {
    double alpha = p[ALPHA], s = 1 / (p[SIGMA] * p[SIGMA]), c = 0.5 * s / alpha;
    for (int64_t i = 0; i < n; i++) r[i] = -(alpha + 1) * log1p(c * r[i] * r[i]);
    krein__vexp(n, r, r);
    for (int64_t i = 0; i < n; i++) r[i] *= -s;
}

/* One gamma per vector; it stands behind the normals of the row. */
static double scale(const double *p, krein_rng g, uint64_t row) {
    g = krein__role(g, KREIN_ROLE_SCALE);
    return sqrt(krein__rng_gamma(g, row, 0, p[ALPHA]) / p[ALPHA]) / p[SIGMA];
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    double s = scale(p, g, row);
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_normal(g, row, (uint64_t)j) * s;
}

static double radius(const double *p, krein_rng g, uint64_t row, int64_t d) {
    return krein__rng_chi(g, row, 0, (double)d) * scale(p, g, row);
}

static double mixture(const double *p, double u) {
    return sqrt(krein__gamma_quantile(p[ALPHA], u) / p[ALPHA]) / p[SIGMA];
}

/* The integral over g is a Bessel function: with x = sigma r, b = alpha x^2 / 2, v = alpha - d/2,
 * 4 / (Gamma(alpha) Gamma(d/2)) b^(d/2 + v/2) K_|v|(2 sqrt b) / x */
static double density(const double *p, int64_t d, double r) {
    double x = p[SIGMA] * r, alpha = p[ALPHA], half = 0.5 * (double)d, v = alpha - half;
    double b = fmax(0.5 * alpha * x * x, 1e-300); /* d = 1 has a density at 0, infinite or not */
    int sign;
    if (x < 0 || (x == 0 && d > 1)) return 0;
    x = sqrt(2 * b / alpha);
    return p[SIGMA] *
           exp(log(4.0) - lgamma_r(alpha, &sign) - lgamma_r(half, &sign) + (half + v / 2) * log(b) +
               krein__log_bessel_k(fabs(v), 2 * sqrt(b)) - log(x));
}

static krein_kernel_law law(const double *p) {
    return (krein_kernel_law){.name = "normal", .width = p[SIGMA], .shape = p[ALPHA]};
}

static bool source(const double *p, krein_kernel_source *out) {
    double c = fmin(0.5 / p[ALPHA] / (p[SIGMA] * p[SIGMA]), 1e30);
    return krein__kernel_source(out, KREIN_SOURCE_SQUARE, "EXP(R(%.17g) * LOG(1 + R(%.17g) * s))",
                                -p[ALPHA], c);
}

static const krein_option options[] = {
    {.name = "alpha", .value = 1, .low = 0.01, .high = 1e6, .help = "power; large: gaussian"},
    KREIN_OPTION_SIGMA("length"),
    {0}};

const krein_kernel_class krein__kernel_rq = {
    .cls = {"rq", "(1 + |x-y|^2 / (2 alpha sigma^2))^(-alpha)", "rasmussen2006", options,
            "Rational quadratic: Gaussian kernels of many widths at once."},
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
    .metric = 2,
    .spread = 1};
