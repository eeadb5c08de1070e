/* cholesky.c -- tiled Cholesky factorisation and triangular solves
 *
 *   A = U'U, upper triangle, float64 or float32. With tiles A_ij of order T, for k = 0, 1, ...
 *
 *     U_kk = chol(A_kk)                             one thread
 *     U_kj = U_kk'^-1 A_kj,        j > k            in parallel over j
 *     A_ij -= U_ki' U_kj,     k < i <= j            in parallel over (i, j)
 *
 * Threaded LAPACK splits its sums by the number of threads and so gives other bits on another
 * machine; here the tiles are fixed, every tile sees the same operations in the same order, and
 * BLAS runs on one thread inside: the bits do not depend on the thread count. The serial part
 * is (T/n)^2 of the work.
 *
 * Solve U'U X = B likewise: forward, X_k = U_kk'^-1 B_k, then B_i -= U_ki' X_k for i > k;
 * backward, X_k = U_kk^-1 B_k, then B_i -= U_ik X_k for i < k; in parallel over the row tiles i
 * and over tiles of B's columns.
 *
 * The diagonal of A^-1 = V V', V = U^-1 upper triangular: the row sums of V_ij^2. V takes the place
 * of U, column tile by column tile, the tiles on the diagonal last, n^3 / 3 flops as for the factor
 * itself:
 *     Q_i = -U_ij V_jj,    V_ij = V_ii Q_i + sum_{i < k < j} V_ik Q_k,    in parallel over i < j
 *
 * Measured (Zen 4, dgemm on one thread 40 GFLOP/s), one / two threads:
 *   n           1024        2048        4096
 *   tile 128    33 / 56     34 / 61     34 / 61
 *   tile 256    36 / 52     36 / 67     36 / 71     GFLOP/s, counting n^3 / 3 */
#include "num/blas.h"

/* The order of the tiles, a function of n alone, and of the i-th, which may be the short last. */
static int64_t tile(int64_t n) { return n < 1536 ? 128 : 256; }
static int64_t rows(int64_t n, int64_t i) { return krein__min(tile(n), n - i * tile(n)); }

#define REAL double
#define PUBLIC(x) krein__##x
#define LOCAL(x) x##64
#define GEMM krein__dgemm
#define SYRK krein__dsyrk
#define TRSM krein__dtrsm
#define POTRF krein__dpotrf
#define DOT krein__ddot
#include "num/cholesky_tile.inc"
#undef REAL
#undef PUBLIC
#undef LOCAL
#undef GEMM
#undef SYRK
#undef TRSM
#undef POTRF
#undef DOT

#define REAL float
#define PUBLIC(x) krein__##x##32
#define LOCAL(x) x##32
#define GEMM krein__sgemm
#define SYRK krein__ssyrk
#define TRSM krein__strsm_left
#define POTRF krein__spotrf
#define DOT krein__sdot
#include "num/cholesky_tile.inc"
