/* quantile.c -- normal, gamma and chi quantiles
 *
 * NORMAL. Two steps of Halley's method on Phi(x) = u from the rational guess of Abramowitz and
 * Stegun 26.2.23 (error 4.5e-4, cubed twice). u > 1/2 goes by symmetry: Phi is erfc there, exact
 * to the last digits in the tail.
 *
 * GAMMA. P(a, x) by its series for x < a + 1, Q = 1 - P by Legendre's continued fraction above
 * (DLMF 8.11.4, 8.9.2), both as logarithms, so that no tail underflows:
 *   log P = log D + log(1 + x/(a+1) + x^2/((a+1)(a+2)) + ...),   D = x^a e^-x / Gamma(a+1)
 * The number of terms is about sqrt(a) near x = a.
 *
 * The inverse is Newton's method in y = log x on log P (u <= 1/2) or log Q. The density of log X is
 * log-concave, so both are concave in y: the tangent lies above the curve, and every step but the
 * first stays on one side of the root and approaches it. Only the length of a step needs a bound.
 */
#include "num/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static double lower_normal(double u) { /* u <= 1/2 */
    const double t = sqrt(-2 * log(u));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;
    for (int i = 0; i < 2; i++) {
        double phi = exp(-0.5 * x * x) / sqrt(2 * M_PI);
        double r = (0.5 * erfc(-x * M_SQRT1_2) - u) / phi;
        x -= r / (1 + 0.5 * x * r);
    }
    return x;
}

double krein__normal_quantile(double u) {
    if (!(u > 0 && u < 1)) return u == 0 ? -INFINITY : u == 1 ? INFINITY : NAN;
    return u <= 0.5 ? lower_normal(u) : -lower_normal(1 - u);
}

/* log(x^a e^-x / Gamma(a + 1)); for large a without the cancellation of its parts. */
static double log_term(double a, double x, double log_x) {
    if (a < 20) {
        int sign; /* lgamma would write the global signgam, from every thread */
        return a * log_x - x - lgamma_r(a + 1, &sign);
    }
    const double m = (x - a) / a, r = 1 / a, r2 = r * r;
    const double power = m < -0.5 ? log_x - log(a) - m : log1p(m) - m;
    return a * power - 0.5 * log(2 * M_PI * a) -
           r * (1. / 12 - r2 * (1. / 360 - r2 * (1. / 1260 - r2 / 1680)));
}

/* log P where x < a + 1 */
static double log_lower(double a, double x, double log_x) {
    double term = 1, sum = 1;
    for (int64_t k = 1; term > 1e-17 * sum; k++) {
        term *= x / (a + (double)k);
        sum += term;
    }
    return log_term(a, x, log_x) + log(sum);
}

/* log Q where x >= a + 1; the fraction by the modified Lentz method. */
static double log_upper(double a, double x, double log_x) {
    double b = x + 1 - a, c = INFINITY, d = 1 / b, f = d;
    for (int k = 1; k < 100000; k++) {
        const double n = k * (a - k);
        b += 2;
        d = 1 / (b + n * d);
        c = b + n / c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return log_term(a, x, log_x) + log(a * f);
}

/* log(1 - e^l), l <= 0 */
static double log_rest(double l) { return l > -0.7 ? log(-expm1(l)) : log1p(-exp(l)); }

double krein__gamma_cdf(double a, double x) {
    if (!(x > 0)) return isnan(x) ? x : 0;
    if (isinf(x)) return 1;
    return x < a + 1 ? exp(log_lower(a, x, log(x))) : -expm1(log_upper(a, x, log(x)));
}

double krein__gamma_quantile(double a, double u) {
    if (!(u > 0 && u < 1)) return u == 0 ? 0 : u == 1 ? INFINITY : NAN;
    int sign;
    const bool lower = u <= 0.5;
    const double target = lower ? log(u) : log1p(-u);
    double y = (log(u) + lgamma_r(a + 1, &sign)) / a; /* where x^a / Gamma(a+1) = u: too small */
    if (a >= 1) { /* Wilson and Hilferty: the cube root of X is nearly normal */
        const double root = 1 - 1 / (9 * a) + krein__normal_quantile(u) / (3 * sqrt(a));
        if (root > 0) y = fmax(y, log(a) + 3 * log(root));
    }
    for (int i = 0; i < 200; i++) {
        const double x = exp(y);
        const bool below = x < a + 1;
        const double known = below ? log_lower(a, x, y) : log_upper(a, x, y);
        const double at = below == lower ? known : log_rest(known);
        /* d log P / dy = a D / P, and -a D / Q */
        const double slope = (lower ? a : -a) * exp(log_term(a, x, y) - at);
        const double step = fmin(fmax((target - at) / slope, -1), 1);
        if (isnan(step)) break;
        y += step;
        if (fabs(step) < 1e-9) break;
    }
    return exp(y);
}

double krein__chi_quantile(double dof, double u) {
    return sqrt(2 * krein__gamma_quantile(0.5 * dof, u));
}
