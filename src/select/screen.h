/* screen.h -- how much the columns tell of the targets, alone and two at a time. */
#ifndef KREIN_SCREEN_H
#define KREIN_SCREEN_H

#include "num/matrix.h"

/* h[j] >= 0: about the part of the targets' variance that column j explains beyond chance, alone
 * or in a product with one other column. x: dense; y: n x k, centred; weight: n, of mean 1, or
 * NULL.
 */
krein_status krein__screen(krein_ctx *ctx, const krein_rows *x, int64_t k, const double *y,
                           const double *weight, double *h);
double krein__screen_bytes(int64_t n, int64_t d, int64_t k, int threads);
double krein__screen_flops(int64_t n, int64_t d, int64_t k);

#endif
