/* tanh -- k(x, y) = tanh(gamma <x, y> + c), the sigmoid kernel; indefinite
 * Its power series in t = <x, y> follows from y' = gamma (1 - y^2) and converges up to the poles of
 * tanh: |t| < sqrt(c^2 + (pi/2)^2) / gamma.
 */
#include "kernel/kernel.h"
#include "num/vec.h"

#include <math.h>

enum { GAMMA = 0, C = 1 };

static void values32(const double *p, int64_t n, float *v, float xx, const float *yy) {
    const float gamma = (float)p[GAMMA], c = (float)p[C];
    (void)xx, (void)yy;
    for (int64_t i = 0; i < n; i++) v[i] = gamma * v[i] + c;
    krein__vtanhf(n, v, v);
}

static void values64(const double *p, int64_t n, double *v, double xx, const double *yy) {
    (void)xx, (void)yy;
    for (int64_t i = 0; i < n; i++) v[i] = tanh(p[GAMMA] * v[i] + p[C]);
}

static krein_definite definite(const double *p) {
    (void)p;
    return KREIN_DEFINITE_NO;
}

static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    (void)unit;
    a[0] = tanh(p[C]);
    for (int64_t n = 1; n < count; n++) {
        double sum = n == 1;
        for (int64_t k = 0; k < n; k++) sum -= a[k] * a[n - 1 - k];
        a[n] = p[GAMMA] * sum / (double)n;
    }
    *reach = hypot(p[C], M_PI / 2) / fabs(p[GAMMA]);
    return true;
}

static bool source(const double *p, krein_kernel_source *out) {
    return krein__kernel_source(out, "a * b", "TANH(R(%.17g) * s + R(%.17g))", p[GAMMA], p[C]);
}

static const krein_option options[] = {
    {.name = "gamma", .value = 1, .low = -1e30, .high = 1e30, .help = "factor of <x, y>"},
    {.name = "c", .value = 0, .low = -1e30, .high = 1e30, .help = "constant"},
    {0}};

const krein_kernel_class krein__kernel_tanh = {
    .cls = {"tanh", "tanh(gamma <x,y> + c)", "", options, "Also called sigmoid."},
    .alias = "sigmoid",
    .family = KREIN_FAMILY_DOT,
    .definite = definite,
    .source = source,
    .values32 = values32,
    .values64 = values64,
    .series = series};
