/* blas.h -- the few BLAS and LAPACK routines used, row-major, always on one thread:
 * parallelism is ours (tiles), so results do not depend on the number of threads.
 * OpenBLAS and LAPACK are named in blas.c only. */
#ifndef KREIN_BLAS_H
#define KREIN_BLAS_H

#include "base/base.h"

/* OpenBLAS's thread count is process-wide: begin sets it to one and flushes
 * denormals on this thread; end restores both. Nested pairs are fine, and so are two threads
 * with a context each: the last one out restores. */
typedef struct krein_compute {
    int blas_threads;
    unsigned mode;
} krein_compute;
krein_compute krein__compute_begin(void);
void krein__compute_end(krein_compute c);
/* First and last in a parallel region between the two: every worker flushes denormals, and is
 * left as the caller had it before the outermost begin. (Not as the worker was found: one born
 * inside inherits the flushing. The thread that encountered the region goes on flushing.) */
void krein__worker_begin(void);
void krein__worker_end(krein_compute c);

/* C = alpha op(A) op(B) + beta C; row-major, op(A) is m x k, op(B) is k x n. */
void krein__sgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                  int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void krein__dgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                  int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
/* y = alpha A x + beta y, or with A' when transposed; A is m x n, x and y have strides. */
void krein__sgemv(bool transposed, int64_t m, int64_t n, float alpha, const float *a, int64_t lda,
                  const float *x, int64_t incx, float beta, float *y, int64_t incy);
/* The same in float64; y has no stride. */
void krein__dgemv(bool transposed, int64_t m, int64_t n, double alpha, const double *a, int64_t lda,
                  const double *x, int64_t incx, double beta, double *y);
/* Upper triangle of C = alpha A' A + beta C; A is k x n. */
void krein__ssyrk(int64_t n, int64_t k, float alpha, const float *a, int64_t lda, float beta,
                  float *c, int64_t ldc);
void krein__dsyrk(int64_t n, int64_t k, double alpha, const double *a, int64_t lda, double beta,
                  double *c, int64_t ldc);
/* X U = B in place, U upper triangular n x n; B is m x n. */
void krein__strsm(int64_t m, int64_t n, const float *u, int64_t ldu, float *b, int64_t ldb);
float krein__sdot(int64_t n, const float *x, const float *y);
/* x'y, while the row `ahead` (n floats that are there, else x) is brought near. Not BLAS: dot.c. */
float krein__sdot_ahead(int64_t n, const float *x, const float *y, const float *ahead);
/* out[r] = a_r'x of a few rows of A (rows x n). Not BLAS: dot.c. */
void krein__sdot_rows(int64_t rows, int64_t n, const float *a, int64_t lda, const float *x,
                      float *out);
void krein__saxpy(int64_t n, float alpha, const float *x, float *y); /* y += alpha x */
double krein__ddot(int64_t n, const double *x, const double *y);
/* One tile of the Cholesky factorisation: A = U'U in the upper triangle; returns 0, or the
 * 1-based row whose pivot is not positive (or not a number). */
int64_t krein__dpotrf(int64_t n, double *a, int64_t lda);
int64_t krein__spotrf(int64_t n, float *a, int64_t lda);
/* Solves U X = B, or U' X = B when transposed, in place; U upper n x n, B is n x m. */
void krein__dtrsm(bool transposed, int64_t n, int64_t m, const double *u, int64_t lda, double *b,
                  int64_t ldb);
void krein__strsm_left(bool transposed, int64_t n, int64_t m, const float *u, int64_t lda, float *b,
                       int64_t ldb);
/* The same for one vector. */
void krein__dtrsv(bool transposed, int64_t n, const double *u, int64_t lda, double *b);
void krein__strsv(bool transposed, int64_t n, const float *u, int64_t lda, float *b);

/* The core type that OpenBLAS chose ("Haswell"), and the best one for this CPU, or
 * NULL where its choice is right. See cpu.c. */
const char *krein__blas_core(void);
const char *krein__blas_better_core(void);
/* The rule behind it: chosen is OpenBLAS's core, the rest what the CPU has. */
const char *krein__core_for(const char *chosen, bool avx, bool avx2fma, bool avx512, bool amd);

/* Parallel over fixed output tiles on ctx->threads threads; the same bits for any
 * number of threads. All row-major. */

/* C (m x n) = alpha op(A) op(B) + beta C */
void krein__pgemm(krein_ctx *ctx, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                  double *c, int64_t ldc);
/* Upper triangle of C (n x n) += A' A, A is k x n float32 with k <= 4096: each tile is a
 * float32 product, added to the float64 accumulator. tile_scratch: threads x tile^2 floats. */
int64_t krein__syrk_tile(int64_t n);
void krein__syrk_add(krein_ctx *ctx, int64_t n, int64_t k, const float *a, int64_t lda, double *c,
                     int64_t ldc, float *tile_scratch);
/* The same in two steps on the calling thread alone: the products of all tiles, krein__syrk_room(n)
 * floats; their addition. To the bit what krein__syrk_add does. */
int64_t krein__syrk_room(int64_t n);
void krein__syrk_products(int64_t n, int64_t k, const float *a, int64_t lda, float *tiles);
void krein__syrk_sum(int64_t n, const float *tiles, double *c, int64_t ldc);

/* A = U'U in place (upper triangle; the lower is not touched), tiled. KREIN_ENUMERIC when A is
 * not positive definite: *pivot is the 0-based row. */
krein_status krein__cholesky(krein_ctx *ctx, int64_t n, double *a, int64_t lda, int64_t *pivot);
/* Solves U'U X = B in place; B is n x m row-major. */
krein_status krein__cholesky_solve(krein_ctx *ctx, int64_t n, const double *u, int64_t lda,
                                   int64_t m, double *b, int64_t ldb);
/* Solves U x = b, or U'x = b when transposed, in place for m vectors, each a row of b (m x n). */
void krein__triangle_solve(krein_ctx *ctx, bool transposed, int64_t n, const double *u, int64_t lda,
                           int64_t m, double *b, int64_t ldb);
void krein__triangle_solve32(krein_ctx *ctx, bool transposed, int64_t n, const float *u,
                             int64_t lda, int64_t m, float *b, int64_t ldb);
/* diagonal (n) of (U'U)^-1; U becomes V = U^-1, so (U'U)^-1 = VV'; the lower triangle is not
 * touched. */
krein_status krein__cholesky_inverse_diagonal(krein_ctx *ctx, int64_t n, double *u, int64_t lda,
                                              double *diagonal);
/* The same in float32. */
krein_status krein__cholesky32(krein_ctx *ctx, int64_t n, float *a, int64_t lda, int64_t *pivot);
krein_status krein__cholesky_solve32(krein_ctx *ctx, int64_t n, const float *u, int64_t lda,
                                     int64_t m, float *b, int64_t ldb);
krein_status krein__cholesky_inverse_diagonal32(krein_ctx *ctx, int64_t n, float *u, int64_t lda,
                                                float *diagonal);

/* A symmetric, not positive: A = P U D U' P' (Bunch and Kaufman, rook pivoting; D of blocks of
 * order one and two) in place of the upper triangle, with n more numbers e and n pivots; one
 * thread. *margin: about 1 / |A^-1| in the 1-norm, not above the distance to a singular matrix by
 * more than the estimate is off; 0 where A is singular. */
krein_status krein__indefinite(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *e,
                               int *pivot, double *margin);
/* Solves A x = b for m right sides, each a row of b (m x n), in place. May be called in parallel.
 */
void krein__indefinite_solve(int64_t n, const double *a, int64_t lda, const double *e,
                             const int *pivot, int64_t m, double *b, int64_t ldb);

/* Symmetric eigendecomposition (upper triangle of A read, A overwritten): values ascending in w,
 * row j of A is the eigenvector of w[j], so A_in = V' diag(w) V with V = A_out. One thread. */
krein_status krein__eigen(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w);
krein_status krein__eigenvalues(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w);
/* Makes the m rows of A (m x d, m <= d, row-major) orthonormal in place: the Q of a QR
 * decomposition with the diagonal of R positive, so Haar distributed when A is Gaussian. */
krein_status krein__haar_rows(krein_ctx *ctx, int64_t m, int64_t d, double *a);
/* For A (m x n, n <= m, row-major) A = L Q with L lower trapezoidal, A[i][j] = 0 for j > i, and the
 * rows of Q orthonormal: L in the place of A, what is above it is rest. */
krein_status krein__trapezoid(krein_ctx *ctx, int64_t m, int64_t n, double *a);

#endif
