/* special.c -- Bessel K and the Matern function by the trapezoid rule.
 *
 *   K_nu(x) = 1/2 int_R exp(-x cosh t + nu t) dt                         DLMF 10.32.9
 * The exponent is largest at t* = asinh(nu/x). With s = t - t*, C = sqrt(x^2 + nu^2),
 * a = (C + nu)/2 and b = (C - nu)/2 = x^2/(4a):
 *   K_nu(x) = 1/2 exp(nu t* - C) S,   S = int_R exp(nu s - a (e^s - 1) - b (e^-s - 1)) ds
 * and the Matern function, E exp(-u^2/(4g)) over g ~ Gamma(nu), is with x = u
 *   M_nu(u) = exp(nu log1p(b/nu) - 2b) S(u)/S(0),   S(0) = Gamma(nu) e^nu nu^-nu.
 * Nothing overflows or cancels in either, for u -> 0 or u large.
 *
 * The integrand is entire and falls double exponentially, so the trapezoid rule with
 * step h is off by its Fourier transform at 2 pi/h: below 1e-16 S for h <= 1/6 and
 * h <= C^(-1/2)/2, two points per standard deviation of the peak. Some 40 to 150 points.
 *
 * zeta(s) by the formula of Euler and Maclaurin behind 15 terms, reflected for s < 0; DLMF 25.2.9,
 * 25.4.1. Its partial sums likewise, with the formula at both ends.
 */
#include "num/special.h"

#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

/* S above. Both sides are summed outwards until the terms stop counting. */
static double peak_integral(double nu, double a, double b) {
    const double h = fmin(1.0 / 6, 0.5 / sqrt(a + b));
    double sum = 1;
    for (int side = -1; side <= 1; side += 2) {
        for (double k = 1;; k++) {
            const double s = side * k * h;
            const double term = exp(nu * s - a * expm1(s) - b * expm1(-s));
            sum += term;
            if (!(term > 1e-18 * sum)) break;
        }
    }
    return h * sum;
}

/* log S(0). Stirling's series for large nu, where the difference below would cancel. */
static double log_peak_at_zero(double nu) {
    const double r = 1 / nu, r2 = r * r;
    if (nu >= 20)
        return 0.5 * log(two_pi * r) +
               r * (1. / 12 - r2 * (1. / 360 - r2 * (1. / 1260 - r2 / 1680)));
    int sign; /* lgamma would write the global signgam, from every thread */
    return lgamma_r(nu, &sign) + nu - nu * log(nu);
}

double krein__bessel_k(double nu, double x) {
    if (!(x > 0)) return x == 0 ? INFINITY : NAN;
    const double C = hypot(x, nu), a = (C + nu) / 2, b = x / a * x / 4;
    const double scale = 0.5 * exp(nu * asinh(nu / x) - C);
    return scale > 0 ? scale * peak_integral(nu, a, b) : 0;
}

double krein__log_bessel_k(double nu, double x) {
    if (!(x > 0)) return x == 0 ? INFINITY : NAN;
    const double C = hypot(x, nu), a = (C + nu) / 2, b = x / a * x / 4;
    return nu * asinh(nu / x) - C + log(0.5 * peak_integral(nu, a, b));
}

/* start + sum_j B_2j / (2j)! s (s+1) ... (s+2j-2) N^(-s-2j+1) */
static double euler_maclaurin(double s, double N, double start) {
    static const double c[] = {1. / 12,           -1. / 720,
                               1. / 30240,        -1. / 1209600,
                               1. / 47900160,     -691. / 1307674368000,
                               1. / 74724249600., -3617. / 10670622842880000.};
    double sum = start, term = s * pow(N, -s - 1);
    for (int j = 0; j < (int)(sizeof c / sizeof *c); j++) {
        sum += c[j] * term;
        term *= (s + 2 * j + 1) * (s + 2 * j + 2) / (N * N);
    }
    return sum;
}

enum { FIRST = 16 }; /* from there on by the formula */

double krein__zeta(double s) {
    const double N = FIRST;
    if (s == 1) return INFINITY;
    if (s < 0) /* 2 (2 pi)^(s-1) sin(pi s / 2) Gamma(1-s) zeta(1-s), exactly 0 at -2, -4, ... */
        return fmod(s, 2) == 0 ? 0
                               : 2 * pow(two_pi, s - 1) * sin(two_pi / 4 * fmod(s, 4)) *
                                     tgamma(1 - s) * krein__zeta(1 - s);
    double sum = euler_maclaurin(s, N, pow(N, 1 - s) / (s - 1) + 0.5 * pow(N, -s));
    for (int k = FIRST - 1; k >= 1; k--) sum += pow(k, -s);
    return sum;
}

/* a^(1-s) (e^y - 1) / (1 - s), y = (1 - s) log(b/a) */
double krein__power_integral(double s, double a, double b) {
    const double length = log(b / a), y = (1 - s) * length;
    return pow(a, 1 - s) * length * (y == 0 ? 1 : expm1(y) / y);
}

double krein__harmonic(double s, double n) {
    double sum = 0;
    if (n > FIRST) {
        double ends = 0.5 * (pow(FIRST, -s) + pow(n, -s));
        sum = euler_maclaurin(s, FIRST, krein__power_integral(s, FIRST, n) + ends) -
              euler_maclaurin(s, n, 0);
    }
    for (double k = n > FIRST ? FIRST - 1 : n; k >= 1; k--) sum += pow(k, -s);
    return sum;
}

double krein__matern_function(double nu, double u) {
    u = fabs(u);
    if (u == 0) return 1;
    if (nu == 0.5) return exp(-u);
    if (nu == 1.5) return u < 800 ? (1 + u) * exp(-u) : 0;
    if (nu == 2.5) return u < 800 ? (1 + u + u * u / 3) * exp(-u) : 0;
    if (isinf(u)) return 0;
    const double C = hypot(u, nu), a = (C + nu) / 2, b = u / a * u / 4;
    const double scale = exp(nu * log1p(b / nu) - 2 * b - log_peak_at_zero(nu));
    return scale > 0 ? fmin(1, scale * peak_integral(nu, a, b)) : 0;
}
