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

/* b -= U x, or U'x where transposed; U is rows x t. */
static void take_out(bool transposed, int64_t rows, int64_t t, const double *u, int64_t lda,
                     int64_t m, const double *x, double *b, int64_t ldb) {
    if (m > FEW) {
        krein__dgemm(false, !transposed, m, transposed ? t : rows, transposed ? rows : t, -1, x,
                     ldb, u, lda, 1, b, ldb);
        return;
    }
    for (int64_t c = 0; c < m; c++)
        krein__dgemv(transposed, rows, t, -1, u, lda, x + c * ldb, 1, 1, b + c * ldb);
}

void krein__triangle_solve(krein_ctx *ctx, bool transposed, int64_t n, const double *u, int64_t lda,
                           int64_t m, double *b, int64_t ldb) {
    const int64_t T = tile(n), tiles = (n + T - 1) / T;
    if (n <= 0 || m <= 0) return;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads) if (tiles > 2)
    {
        krein__worker_begin();
        for (int64_t step = 0; step < tiles; step++) {
            int64_t k = transposed ? step : tiles - 1 - step, at = k * T;
            int64_t t = krein__min(T, n - at), rest = n - at - t;
            const double *row = u + at * lda;
            if (!transposed) {
#pragma omp for schedule(static)
                for (int64_t i = 0; i < t; i += STRIP)
                    take_out(false, krein__min(STRIP, t - i), rest, row + i * lda + at + t, lda, m,
                             b + at + t, b + at + i, ldb);
            }
#pragma omp for schedule(static)
            for (int64_t c = 0; c < m; c++)
                krein__dtrsv(transposed, t, row + at, lda, b + c * ldb + at);
            if (transposed) {
#pragma omp for schedule(static)
                for (int64_t j = 0; j < rest; j += T)
                    take_out(true, t, krein__min(T, rest - j), row + at + t + j, lda, m, b + at,
                             b + at + t + j, ldb);
            }
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}
