/* omega.c -- Omega_d(t) = Gamma(d/2) (2/t)^(d/2-1) J_{d/2-1}(t) = 0F1(; d/2; -t^2/4)
 *
 * The product of the textbook overflows (Gamma) or underflows (J) for d of some hundreds. Instead
 *   t^2 <= 4d       the series sum_k (-t^2/4)^k / (k! (d/2)_k), which hardly cancels there;
 *   t >= d/2        Omega_1 = cos t, Omega_3 = sin t / t, or Omega_2 = J_0(t),
 *                   Omega_4 = 2 J_1(t)/t, and up by
 *                   Omega_{e+2} = e (e-2) / t^2 (Omega_e - Omega_{e-2}),
 *                   stable while the order of J is below t;
 *   between         the series for a dimension D >= t^2/4 and for D + 2, and down by the same
 *                   relation, which loses no digits in that direction.
 * Where Gamma(d/2) (2/t)^(d/2-1), a bound
 * since |J| <= 1, is below 1e-18 the value is 0. Absolute error about 1e-15.
 */
#include "num/omega.h"

#include <math.h>

static double series(double d, double t) {
    double x = -t * t / 4, half = d / 2, term = 1, sum = 1;
    for (int k = 0; k < 500; k++) {
        term *= x / ((k + 1) * (half + k));
        sum += term;
        if (fabs(term) < 1e-18) break;
    }
    return sum;
}

static double upwards(int64_t d, double t) {
    bool odd = d % 2;
    double before = odd ? cos(t) : j0(t), now = odd ? sin(t) / t : 2 * j1(t) / t;
    if (d <= 2) return before;
    for (int64_t k = odd ? 3 : 4; k < d; k += 2) {
        double e = (double)k, next = e * (e - 2) / (t * t) * (now - before);
        before = now;
        now = next;
    }
    return now;
}

static double downwards(int64_t d, double t) {
    int64_t start = d + 2 * (int64_t)ceil(fmax(0, (t * t / 4 - (double)d) / 2));
    double above = series((double)start + 2, t), now = series((double)start, t);
    for (int64_t k = start; k > d; k -= 2) {
        double e = (double)k, below = now - t * t / (e * (e - 2)) * above;
        above = now;
        now = below;
    }
    return now;
}

double krein__omega(int64_t d, double t) {
    double n = (double)d;
    int sign; /* lgamma would write the global signgam, from every thread */
    t = fabs(t);
    if (t * t <= 4 * n) return series(n, t);
    if (lgamma_r(n / 2, &sign) + (n / 2 - 1) * log(2 / t) < -41) return 0;
    return t >= n / 2 ? upwards(d, t) : downwards(d, t);
}

/* The fourth derivative is at most E u_1^4 < 3 / d^2 and a cubic through four points is off by
 * 3/128 of it times step^4. */
krein_status krein__omega_table(krein_ctx *ctx, int64_t d, double reach, krein_omega_table *out) {
    krein_status st = KREIN_OK;
    out->d = d;
    out->step = sqrt((double)d) / 40;
    out->n = (int64_t)fmin(ceil(reach / out->step), 16384) + 3;
    NEW(out->value, out->n);
    for (int64_t i = 0; i < out->n; i++) out->value[i] = krein__omega(d, (double)i * out->step);
done:
    return st;
}

double krein__omega_at(const krein_omega_table *table, double t) {
    double at = fabs(t) / table->step;
    if (!(at < (double)(table->n - 2))) return krein__omega(table->d, t);
    int64_t i = (int64_t)at;
    double x = at - (double)i;
    const double *v = table->value + i;
    double before = v[i > 0 ? -1 : 1]; /* the function is even */
    return -x * (x - 1) * (x - 2) / 6 * before + (x * x - 1) * (x - 2) / 2 * v[0] -
           x * (x + 1) * (x - 2) / 2 * v[1] + x * (x * x - 1) / 6 * v[2];
}

void krein__omega_clear(krein_ctx *ctx, krein_omega_table *table) {
    krein__free(ctx, table->value);
    table->value = NULL;
}
