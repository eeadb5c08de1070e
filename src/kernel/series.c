/* series.c -- power series of compositions, by the differential equations they satisfy.
 *
 * With c = r(t) and J_n the arc-cosine functions of theta = acos c,
 *   d/dc J_0 = 1 / sqrt(1 - c^2),   d/dc J_1 = J_0,   d/dc J_2 = 4 J_1,
 * so J_n(r(t)) is the integral of r'(t) times a series that is known; h = (1 - r^2)^(-1/2)
 * satisfies g h' = -g' h / 2 with g = 1 - r^2 (Miller's recurrence). All of it costs count^2.
 */
#include "kernel/series.h"

#include <math.h>

bool krein__series_power(double degree, double c, double gamma, int64_t count, double *a) {
    double binomial = 1;
    if (degree >= (double)count) return false;
    for (int64_t n = 0; n < count; n++) {
        double m = degree - (double)n;
        a[n] = m < 0 ? 0 : binomial * pow(gamma, (double)n) * pow(c, m);
        binomial *= m / (double)(n + 1);
    }
    return true;
}

/* coefficient n of a b */
static double product(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t k = 0; k <= n; k++) sum += a[k] * b[n - k];
    return sum;
}

/* out = start + factor int r' b dt; in the order of n, so that b may be known only up to n - 1. */
static void integrate(int64_t count, double start, double factor, const double *r, const double *b,
                      double *out) {
    out[0] = start;
    for (int64_t n = 1; n < count; n++) {
        double sum = 0;
        for (int64_t k = 1; k <= n; k++) sum += (double)k * r[k] * b[n - k];
        out[n] = factor * sum / (double)n;
    }
}

bool krein__series_arc(int order, int64_t count, const double *r, double *const out[3]) {
    double g[KREIN_SERIES_MAX], h[KREIN_SERIES_MAX], own[2][KREIN_SERIES_MAX];
    double c = r[0], theta = acos(c), s = sin(theta);
    if (count > KREIN_SERIES_MAX || !(fabs(c) < 1)) return false;
    for (int64_t n = 0; n < count; n++) g[n] = (n == 0) - product(n, r, r);
    h[0] = 1 / s;
    for (int64_t n = 1; n < count; n++) {
        double sum = 0;
        for (int64_t k = 1; k <= n; k++) sum += (0.5 * (double)k - (double)n) * g[k] * h[n - k];
        h[n] = sum / ((double)n * g[0]);
    }
    double *zero = out[0] ? out[0] : own[0], *one = out[1] ? out[1] : own[1];
    integrate(count, 1 - theta / M_PI, 1 / M_PI, r, h, zero);
    if (order > 0) integrate(count, (s + (M_PI - theta) * c) / M_PI, 1, r, zero, one);
    if (order > 1)
        integrate(count, (3 * s * c + (M_PI - theta) * (1 + 2 * c * c)) / M_PI, 4, r, one, out[2]);
    return true;
}
