/* kernel_half.h -- one half of a large kernel matrix in float32, and products with it. */
#ifndef KREIN_KERNEL_HALF_H
#define KREIN_KERNEL_HALF_H

#include "kernel/gram.h"

/* Bands of rows, each from its diagonal on: band b has the rows b KREIN_BAND .. and the columns b
 * KREIN_BAND .. n - 1, row-major. */
enum { KREIN_BAND = 1024 };
typedef struct krein_half {
    krein_ctx *ctx;
    int64_t n, bands;
    float *value;
} krein_half;

/* The kernel matrix of the rows, which must have no entry that is not finite (KREIN_ENUMERIC). */
krein_status krein__half_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              krein_half *out);
void krein__half_clear(krein_half *h);
double krein__half_at(const krein_half *h, int64_t i, int64_t j);
/* out (n x c) = K v, in float64, one pass over the half. room: krein__half_room numbers. */
void krein__half_multiply(const krein_half *h, int64_t c, const double *v, double *out,
                          double *room);
int64_t krein__half_room(int64_t n, int64_t c, int threads);
/* Bytes of the half, and of making it beside that. */
double krein__half_bytes(int64_t n);
double krein__half_make_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads);

#endif
