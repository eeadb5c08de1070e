/* epanechnikov -- k(x, y) = (1 - |x - y|^2 / a^2)^m where |x - y| < a, else 0
 * Indefinite in general. Its spectral measure on R^d has finite mass where m > (d - 1)/2
 * (measure.c). On rows of length one with a >= 2 nothing is cut off and k = (2/a^2)^m (a^2/2 - 1 +
 * <x, y>)^m, for whole m a polynomial kernel with coefficients that are not negative: positive
 * definite there.
 */
#include "kernel/kernel.h"
#include "kernel/series.h"

#include <math.h>

enum { A = 0, M = 1 };

static bool whole(double m) { return m == rint(m) && m <= 64; }

#define VALUES(T, name, POW)                                                                       \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        T c = (T)fmin(1 / (p[A] * p[A]), 1e30), m = (T)p[M]; /* finite in float: 0 * c stays 0 */  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T square = xx + yy[i] - 2 * v[i], base = 1 - c * (square > 0 ? square : 0);            \
            v[i] = base > 0 ? base : 0;                                                            \
        }                                                                                          \
        if (!whole(p[M]) || p[M] == 0) {                                                           \
            for (int64_t i = 0; i < n; i++) v[i] = v[i] > 0 ? POW(v[i], m) : 0;                    \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T base = v[i], value = 1;                                                              \
            for (int power = (int)p[M]; power; power >>= 1, base *= base)                          \
                if (power & 1) value *= base;                                                      \
            v[i] = value;                                                                          \
        }                                                                                          \
    }
VALUES(float, values32, powf)
VALUES(double, values64, pow)

/* On the sphere as a polynomial; at a = 2, m = 0 the opposite point alone would be cut off. */
static bool polynomial(const double *p) {
    return whole(p[M]) && p[A] >= 2 && (p[A] > 2 || p[M] > 0);
}

static krein_definite definite(const double *p) {
    return polynomial(p) ? KREIN_DEFINITE_UNIT : KREIN_DEFINITE_NO;
}

static double edge(const double *p, double *power) {
    *power = p[M];
    return p[A];
}

static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    double gamma = 2 / (p[A] * p[A]);
    (void)reach;
    return unit && polynomial(p) && krein__series_power(p[M], 1 - gamma, gamma, count, a);
}

static bool source(const double *p, krein_kernel_source *out) {
    if (!whole(p[M])) return false;
    return krein__kernel_source(out, KREIN_SOURCE_SQUARE,
                                "power(s * R(%.17g) < 1 ? 1 - s * R(%.17g) : 0, %d)",
                                1 / (p[A] * p[A]), 1 / (p[A] * p[A]), (int)p[M]);
}

static const krein_option options[] = {
    {.name = "a", .value = 3, .low = 0, .low_open = true, .high = 1e30, .help = "where it is 0"},
    {.name = "m", .value = 1, .low = 0, .high = 1000, .help = "power"},
    {0}};

const krein_kernel_class krein__kernel_epanechnikov = {
    .cls = {"epanechnikov", "(1 - |x-y|^2/a^2)^m where |x-y| < a, else 0", "", options,
            "Indefinite in general; positive definite on rows of length one (`scale=unit`) with a "
            ">= 2 "
            "and a whole m. On d columns a difference of two positive definite kernels for m > "
            "(d - 1)/2: elsewhere gorf and grff serve distances up to a only."},
    .family = KREIN_FAMILY_RADIAL,
    .definite = definite,
    .source = source,
    .values32 = values32,
    .values64 = values64,
    .edge = edge,
    .series = series};
