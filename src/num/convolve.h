/* convolve.h -- circular convolution of KREIN_LANES rows at once.
 *
 * Element k of lane i is v[k * KREIN_LANES + i]: every step is the same for all lanes, so that it
 * vectorises whatever the length. */
#ifndef KREIN_CONVOLVE_H
#define KREIN_CONVOLVE_H

#include "base/base.h"

enum { KREIN_LANES = 16 };

/* Roots of unity for lengths up to n (a power of two): krein__roots_count(n) pairs of floats. */
int64_t krein__roots_count(int64_t n);
void krein__roots_fill(int64_t n, float *roots);

/* In place, n a power of two: inverse(forward(a) * forward(b)) = a convolved with b. The order of
 * the transform is its own: only multiply and inverse know it. */
void krein__lanes_forward(int64_t n, const float *roots, float *v);
void krein__lanes_multiply(int64_t n, const float *w, float *v); /* v *= w */
void krein__lanes_inverse(int64_t n, const float *roots, float *v);

#endif
