/* spline.h -- periodic splines, L(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q. */
#ifndef KREIN_SPLINE_H
#define KREIN_SPLINE_H

#include <stdbool.h>
#include <stdint.h>

enum { KREIN_SPLINE_TERMS = 64 };

/* sum_k cos(k t) / k^q: a polynomial in t^2 with n coefficients, and a part that is not smooth at
 * 0, weight t^power or, near odd q (joint), weight t^power expm1(e (log t + l)) / e. */
typedef struct krein_spline {
    int n;
    double c[KREIN_SPLINE_TERMS], weight, power, e, l, at_zero;
    bool even, joint;
    int order; /* q where that is whole, else 0; then in float32, in powers of s^2, s = t / pi: */
    int n32;
    float c32[KREIN_SPLINE_TERMS], weight32, l32;
} krein_spline;

/* 1/2 < q <= 64. at_zero is L(0), which is infinite for q <= 1. */
krein_spline krein__spline_expand(double q);
double krein__spline_value(const krein_spline *s, double u);
/* out[i] *= L(x - w[i]). Whole orders in float32, vectorised; the others in double. A distance
 * below 1e-9 counts as that, so that the result is finite where L(0) is not. */
void krein__spline_multiply(const krein_spline *s, int64_t n, float x, const float *w, float *out);

#endif
