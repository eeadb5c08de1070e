/* sketch.h -- a preconditioner for ridge regression on features, from a sample of its rows. */
#ifndef KREIN_SKETCH_H
#define KREIN_SKETCH_H

#include "base/base.h"

/* P = U diag(value) U' + tail (I - U U') + lambda I, near Gc / W + lambda I. */
typedef struct krein_sketch {
    krein_ctx *ctx;
    int64_t D, rank;
    double *u;     /* rank x D, orthonormal rows */
    double *value; /* rank, descending */
    double tail;
} krein_sketch;

/* z: `rows` sampled rows (x D), centred and times the roots of their weights, whose sum is
 * `weight`; all: they are not a sample but all there are. mean_square: the trace of Gc / W. */
krein_status krein__sketch_make(krein_ctx *ctx, int64_t rows, int64_t D, const float *z,
                                double weight, bool all, double mean_square, krein_sketch *out);
void krein__sketch_clear(krein_sketch *s);
/* out = P^-1 r for columns of D numbers each, one after the other; lambda of each. work: columns x
 * rank. */
void krein__sketch_apply(const krein_sketch *s, int64_t columns, const double *lambda,
                         const double *r, double *out, double *work);
/* K (rows x rows) = Z Z' in float64. */
krein_status krein__rows_gram(krein_ctx *ctx, int64_t rows, int64_t D, const float *z, double *K);
/* Bytes that remain, and those that making it takes beside them and the rows. */
double krein__sketch_bytes(int64_t rows, int64_t D, bool all);
double krein__sketch_work_bytes(int64_t rows);

#endif
