/* student.c -- distributions of test statistics: normal, Student's t, F, chi squared, range
 *
 * BETA. The continued fraction DLMF 8.17.22 by the modified Lentz method, on the side of x where it
 * converges fast, x < (a + 1) / (a + b + 2); else I_x(a, b) = 1 - I_(1-x)(b, a).
 *   P(|T| > t) = I_(v/(v + t^2))(v/2, 1/2)        P(F > x) = I_(w/(w + v x))(w/2, v/2)
 *
 * RANGE of k standard normal variables:
 *   P(range <= q) = k int phi(z) [Phi(z) - Phi(z - q)]^(k-1) dz
 * by the trapezoidal rule, whose error falls faster than any power of the step for such an
 * integrand: step 1/16 on [-9, 9 + q], what is beyond is below 1e-18.
 *
 * Quantiles of t and of the range are found by bisection: 200 evaluations are nothing here. */
#include "num/quantile.h"

#include <math.h>

double krein__normal_upper(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

/* The fraction behind the front factor; x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    if (fabs(d) < tiny) d = tiny;
    f = d = 1 / d;
    for (int m = 1; m < 10000; m++) {
        for (int odd = 0; odd < 2; odd++) {
            const double n = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                 : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + n * d;
            c = 1 + n / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return f;
}

double krein__beta_cdf(double a, double b, double x) {
    if (isnan(x)) return x;
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    int sign;
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double krein__t_outside(double dof, double t) {
    if (isinf(t)) return 0;
    return krein__beta_cdf(0.5 * dof, 0.5, dof / (dof + t * t));
}

double krein__f_upper(double dof1, double dof2, double x) {
    if (!(x > 0)) return isnan(x) ? x : 1;
    if (isinf(x)) return 0;
    return krein__beta_cdf(0.5 * dof2, 0.5 * dof1, dof2 / (dof2 + dof1 * x));
}

double krein__chi2_upper(double dof, double x) { return 1 - krein__gamma_cdf(0.5 * dof, 0.5 * x); }

double krein__t_quantile(double dof, double u) {
    if (!(u > 0 && u < 1)) return u == 0 ? -INFINITY : u == 1 ? INFINITY : NAN;
    if (u < 0.5) return -krein__t_quantile(dof, 1 - u);
    double low = 0, high = 1;
    while (krein__t_outside(dof, high) > 2 * (1 - u)) low = high, high *= 2;
    for (int k = 0; k < 100 && low < high; k++) {
        const double middle = 0.5 * (low + high);
        if (krein__t_outside(dof, middle) > 2 * (1 - u))
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double krein__range_cdf(int64_t k, double q) {
    const double step = 1.0 / 16, end = 9;
    double sum = 0;
    if (!(q > 0)) return isnan(q) ? q : 0;
    if (isinf(q)) return 1;
    const int64_t steps = (int64_t)ceil((2 * end + q) / step);
    for (int64_t i = 0; i <= steps; i++) {
        const double z = (double)i * step - end;
        const double part = krein__normal_upper(z - q) - krein__normal_upper(z);
        sum += exp(-0.5 * z * z) * pow(part, (double)(k - 1));
    }
    return fmin(1, (double)k * step * sum / sqrt(2 * M_PI));
}

double krein__range_quantile(int64_t k, double u) {
    double low = 0, high = 1;
    if (!(u > 0 && u < 1)) return u == 0 ? 0 : u == 1 ? INFINITY : NAN;
    while (krein__range_cdf(k, high) < u && high < 64) low = high, high *= 2;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (krein__range_cdf(k, middle) < u)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}
