/* series.h -- power series: what the dot-product kernels share.
 * A series of `count` coefficients stands for a[0] + a[1] t + ... + a[count-1] t^(count-1). */
#ifndef KREIN_KERNEL_SERIES_H
#define KREIN_KERNEL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

/* (gamma t + c)^degree; false where count does not hold all of it. */
bool krein__series_power(double degree, double c, double gamma, int64_t count, double *a);
/* The arc-cosine functions J_0 / pi, J_1 / pi and J_2 / pi of cos theta = r(t), |r(0)| < 1, for
 * order 0 .. order; out[n] may be NULL where it is not wanted, but not out[order]. False: the
 * count is too large for what this has room for. */
enum { KREIN_SERIES_MAX = 512 };
bool krein__series_arc(int order, int64_t count, const double *r, double *const out[3]);

#endif
