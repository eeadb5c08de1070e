/* kernel_half.h -- one half of a large kernel matrix in float32 or 16 bits, and products with it.
 */
#ifndef KREIN_KERNEL_HALF_H
#define KREIN_KERNEL_HALF_H

#include "kernel/gram.h"

/* Tiles of KREIN_BAND rows and columns, row-major each, those on the diagonal and right of it, band
 * of rows by band: a product reads one after the other. */
enum { KREIN_BAND = 1024 };
typedef struct krein_half {
    krein_ctx *ctx;
    int64_t n, bands;
    float *value;  /* or NULL, and then */
    int16_t *code; /* these times scale are the values */
    float scale;   /* 0 with value */
} krein_half;

/* The kernel matrix of the rows, which must have no entry that is not finite (KREIN_ENUMERIC).
 * fine: values are computed in float64. Else in float32, where that is seen to do, and they are
 * kept in 16 bits where that takes off little beside `ridge`, which will be added to the diagonal;
 * 0: not. The kernel is positive definite then. */
krein_status krein__half_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              bool fine, double ridge, krein_half *out);
/* The least ridge that 16 bits do little harm beside; 0 where there are more. */
double krein__half_ridge(const krein_half *h);
void krein__half_clear(krein_half *h);
double krein__half_at(const krein_half *h, int64_t i, int64_t j);
/* Some columns: n x m. */
krein_status krein__half_columns(const krein_half *h, int64_t m, const int64_t *index, float *out);
/* out (n x c) = K v, in float64, one pass over the half. room: krein__half_room numbers. */
void krein__half_multiply(const krein_half *h, int64_t c, const double *v, double *out,
                          double *room);
int64_t krein__half_room(int64_t n, int64_t c, int threads);
/* Bytes of the half, in float32 or rounded to 16 bits, and of making it beside that. */
double krein__half_bytes(int64_t n, bool rounded);
double krein__half_make_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads);

#endif
