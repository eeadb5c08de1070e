/* lanczos.h -- the largest eigenvalues of a symmetric operator, and their vectors. */
#ifndef KREIN_LANCZOS_H
#define KREIN_LANCZOS_H

#include "base/rng.h"
#include "base/base.h"

/* y = A x for a block of columns: x and y are n x k, row-major with stride k. */
typedef krein_status (*krein_operator)(void *state, int64_t k, const double *x, double *y);

/* A full matrix, n x n, as one. */
typedef struct krein_dense_operator {
    krein_ctx *ctx;
    int64_t n;
    const double *a;
} krein_dense_operator;
krein_status krein__apply_dense(void *state, int64_t k, const double *x, double *y);

/* The k algebraically largest eigenvalues of A (n x n), descending in `value`, and orthonormal
 * eigenvectors as the columns of `vector` (n x k, row-major). The start is drawn from g. *residual:
 * the largest |A v - value v| / |A|, at most `tolerance` unless `steps` (blocks of columns
 * times A) did not suffice. The same bits for any number of threads. */
krein_status krein__top_eigen(krein_ctx *ctx, int64_t n, int64_t k, krein_operator apply,
                              void *state, krein_rng g, double tolerance, int64_t steps,
                              double *value, double *vector, double *residual);
double krein__top_eigen_bytes(int64_t n, int64_t k, int threads);

#endif
