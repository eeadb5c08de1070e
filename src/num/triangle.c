/* triangle.c -- triangular systems for a few vectors
 *
 *     U'x = b:  x_k = U_kk'^-1 b_k,  then b_j -= U_kj'x_k for j > k, in parallel over j
 *     U x = b:  x_k = U_kk^-1 (b_k - sum_{j > k} U_kj x_j), in parallel over rows of the sum
 *
 * with tiles U_kj that depend on the order alone. A few vectors are bound by reading U once;
 * krein__cholesky_solve (cholesky.c) is for many. Either way every sum has a fixed order, so that
 * the bits do not depend on the number of threads. */
#include "num/blas.h"

/* Up to so many vectors one by one: a tile stays in a core's cache, and a GEMM of so few rows
 * would spend its time on packing. */
enum { FEW = 7, STRIP = 64 };

static int64_t tile(int64_t n) { return n < 4096 ? 256 : 512; }

#define REAL double
#define PUBLIC(x) krein__##x
#define LOCAL(x) x##64
#define GEMM krein__dgemm
#define GEMV krein__dgemv
#define TRSV krein__dtrsv
#include "num/triangle_tile.inc"

#define REAL float
#define PUBLIC(x) krein__##x##32
#define LOCAL(x) x##32
#define GEMM krein__sgemm
#define GEMV(t, m, n, alpha, a, lda, x, incx, beta, y)                                             \
    krein__sgemv(t, m, n, alpha, a, lda, x, incx, beta, y, 1)
#define TRSV krein__strsv
#include "num/triangle_tile.inc"
