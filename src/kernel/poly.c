/* poly -- k(x, y) = (gamma <x, y> + c)^degree; positive definite for c >= 0, gamma > 0 */
#include "kernel/kernel.h"
#include "kernel/series.h"

#include <math.h>

enum { DEGREE = 0, C = 1, GAMMA = 2 };

#define VALUES(T, name)                                                                            \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        (void)xx, (void)yy;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T base = (T)p[GAMMA] * v[i] + (T)p[C], value = 1;                                      \
            for (int power = (int)p[DEGREE]; power; power >>= 1, base *= base)                     \
                if (power & 1) value *= base;                                                      \
            v[i] = value;                                                                          \
        }                                                                                          \
    }
VALUES(float, values32)
VALUES(double, values64)

static krein_definite definite(const double *p) {
    return p[C] >= 0 && p[GAMMA] > 0 ? KREIN_DEFINITE_POSITIVE : KREIN_DEFINITE_NO;
}

static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    (void)unit, (void)reach;
    return krein__series_power(p[DEGREE], p[C], p[GAMMA], count, a);
}

static bool source(const double *p, krein_kernel_source *out) {
    return krein__kernel_source(out, "a * b", "power(R(%.17g) * s + R(%.17g), %d)", p[GAMMA], p[C],
                                (int)p[DEGREE]);
}

static const krein_option options[] = {
    {.name = "degree",
     .type = KREIN_OPTION_INTEGER,
     .value = 3,
     .low = 1,
     .high = 64,
     .help = "power"},
    {.name = "c", .value = 1, .low = -1e30, .high = 1e30, .help = "constant"},
    {.name = "gamma", .value = 1, .low = -1e30, .high = 1e30, .help = "factor of <x, y>"},
    {0}};

const krein_kernel_class krein__kernel_poly = {
    .cls = {"poly", "(gamma <x,y> + c)^degree", "", options,
            "Positive definite for c >= 0 and gamma > 0, indefinite otherwise."},
    .family = KREIN_FAMILY_DOT,
    .map = "explicit",
    .definite = definite,
    .source = source,
    .values32 = values32,
    .values64 = values64,
    .series = series};
