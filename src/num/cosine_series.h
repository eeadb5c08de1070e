/* cosine_series.h -- periodic splines, L(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q, or with the sum
 * to k = terms. */
#ifndef KREIN_SPLINE_H
#define KREIN_SPLINE_H

#include <stdbool.h>
#include <stdint.h>

enum { KREIN_SPLINE_TERMS = 64, KREIN_SPLINE_TAIL = 16 };

/* sum_k cos(k t) / k^q: a polynomial in t^2 with n coefficients, and a part that is not smooth at
 * 0, weight t^power or, near odd q (joint), weight t^power expm1(e (log t + l)) / e. */
typedef struct krein_spline {
    int n;
    double c[KREIN_SPLINE_TERMS], weight, power, e, l, at_zero;
    bool even, joint;
    int order; /* q where that is whole, else 0; then in float32, in powers of s^2, s = t / pi: */
    int n32;
    float c32[KREIN_SPLINE_TERMS], weight32, l32;
    int64_t terms; /* of a finite sum, else 0 */
    double q, tail[KREIN_SPLINE_TAIL];
    const double *table; /* k^-q, k = 1, 2, ..., terms, or NULL: computed where they are needed */
} krein_spline;

/* 1/2 < q <= 64. at_zero is L(0), which is infinite for q <= 1. */
krein_spline krein__spline_expand(double q);
/* The sum to k = terms, q > 0. Below 256 terms, and where |u| < 64 / (2 pi terms), a value takes
 * some 6 terms operations; elsewhere some 200. */
krein_spline krein__spline_finite(double q, int64_t terms);
/* out[i] = L(u[i]) of a finite sum. */
void krein__spline_finite_values(const krein_spline *s, int64_t n, const double *u, double *out);
/* Operations of a value on average, u uniform. */
double krein__spline_finite_flops(double terms);
double krein__spline_value(const krein_spline *s, double u);
/* out[i] *= L(x - w[i]). Whole orders in float32, vectorised; the others and sums in double. A
 * distance below 1e-9 counts as that, so that the result is finite where L(0) is not. */
void krein__spline_multiply(const krein_spline *s, int64_t n, float x, const float *w, float *out);

#endif
