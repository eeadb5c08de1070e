/* cholesky.c -- tiled Cholesky factorisation and triangular solves
 *
 *   A = U'U, upper triangle, float64. With tiles A_ij of order T, for k = 0, 1, ...
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

/* U_kj for all j > k, then the update of what remains. The tiles of row k are done first, all
 * of them, since row tile i of the update reads U_ki. */
static void eliminate(krein_ctx *ctx, krein_compute compute, int64_t n, double *a, int64_t lda,
                      int64_t k) {
    const int64_t T = tile(n), tiles = (n + T - 1) / T, left = tiles - k - 1, tk = rows(n, k);
    const double *ukk = a + k * T * lda + k * T;
    double *row = a + k * T * lda;
#pragma omp parallel num_threads(ctx->threads) if (left > 1)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t j = k + 1; j < tiles; j++)
            krein__dtrsm(true, tk, rows(n, j), ukk, lda, row + j * T, lda);
            /* The square of left x left tiles, of which the upper ones are worked on. */
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < left * left; q++) {
            int64_t i = k + 1 + q / left, j = k + 1 + q % left;
            if (i > j) continue;
            double *aij = a + i * T * lda + j * T;
            if (i == j)
                krein__dsyrk(rows(n, i), tk, -1, row + i * T, lda, 1, aij, lda);
            else
                krein__dgemm(true, false, rows(n, i), rows(n, j), tk, -1, row + i * T, lda,
                             row + j * T, lda, 1, aij, lda);
        }
        krein__worker_end(compute);
    }
}

krein_status krein__cholesky(krein_ctx *ctx, int64_t n, double *a, int64_t lda, int64_t *pivot) {
    krein_status st = KREIN_OK;
    const int64_t T = tile(n);
    krein_compute compute = krein__compute_begin();
    for (int64_t k = 0; k * T < n; k++) {
        TRY(krein__poll(ctx));
        int64_t bad = krein__dpotrf(rows(n, k), a + k * T * lda + k * T, lda);
        if (bad != 0) {
            int64_t at = k * T + bad - 1;
            if (pivot) *pivot = at;
            st = krein__fail(ctx, KREIN_ENUMERIC,
                             "Cholesky: not positive definite at row %lld of %lld", (long long)at,
                             (long long)n);
            goto done;
        }
        eliminate(ctx, compute, n, a, lda, k);
    }
done:
    krein__compute_end(compute);
    return st;
}

/* One step of the substitution: row tile k of B is solved for, then taken out of row tiles
 * first .. last - 1. */
static void substitute(krein_ctx *ctx, krein_compute compute, bool forward, int64_t n,
                       const double *u, int64_t lda, int64_t m, double *b, int64_t ldb, int64_t k) {
    enum { COLUMNS = 128 };
    const int64_t T = tile(n), tiles = (n + T - 1) / T, tk = rows(n, k),
                  across = (m + COLUMNS - 1) / COLUMNS;
    const int64_t first = forward ? k + 1 : 0, last = forward ? tiles : k;
    const int64_t work = (last - first) * across;
    /* Two barriers a step: for a millisecond of work they cost more than they save, above all
     * when another process has one of the CPUs. */
    const bool large = (double)work * (double)(T * T) * (double)krein__min(m, COLUMNS) > 4e6;
#pragma omp parallel num_threads(ctx->threads) if (large)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t c = 0; c < across; c++)
            krein__dtrsm(forward, tk, krein__min(COLUMNS, m - c * COLUMNS), u + k * T * lda + k * T,
                         lda, b + k * T * ldb + c * COLUMNS, ldb);
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < work; q++) {
            int64_t i = first + q / across, c = q % across * COLUMNS;
            const double *ut = forward ? u + k * T * lda + i * T : u + i * T * lda + k * T;
            krein__dgemm(forward, false, rows(n, i), krein__min(COLUMNS, m - c), tk, -1, ut, lda,
                         b + k * T * ldb + c, ldb, 1, b + i * T * ldb + c, ldb);
        }
        krein__worker_end(compute);
    }
}

krein_status krein__cholesky_solve(krein_ctx *ctx, int64_t n, const double *u, int64_t lda,
                                   int64_t m, double *b, int64_t ldb) {
    krein_status st = KREIN_OK;
    const int64_t T = tile(n), tiles = (n + T - 1) / T;
    if (n <= 0 || m <= 0) return KREIN_OK;
    krein_compute compute = krein__compute_begin();
    for (int64_t k = 0; k < tiles; k++) {
        TRY(krein__poll(ctx));
        substitute(ctx, compute, true, n, u, lda, m, b, ldb, k);
    }
    for (int64_t k = tiles - 1; k >= 0; k--) {
        TRY(krein__poll(ctx));
        substitute(ctx, compute, false, n, u, lda, m, b, ldb, k);
    }
done:
    krein__compute_end(compute);
    return st;
}

/* Column tile j of the inverse, its squares added to `sum`. inverse: the inverses of the diagonal
 * tiles, T x T each with zeros below; q: room for a column of tiles. */
static void invert_column(krein_ctx *ctx, krein_compute compute, int64_t n, double *u, int64_t lda,
                          const double *inverse, double *q, int64_t j, double *sum) {
    const int64_t T = tile(n), tj = rows(n, j);
#pragma omp parallel num_threads(ctx->threads) if (j > 1)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < j; i++)
            krein__dgemm(false, false, T, tj, tj, -1, u + i * T * lda + j * T, lda,
                         inverse + j * T * T, T, 0, q + i * T * T, T);
            /* The longest sums are the first. */
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < j; i++) {
            double *v = u + i * T * lda + j * T;
            krein__dgemm(false, false, T, tj, T, 1, inverse + i * T * T, T, q + i * T * T, T, 0, v,
                         lda);
            krein__dgemm(false, false, T, tj, (j - i - 1) * T, 1, u + i * T * lda + (i + 1) * T,
                         lda, q + (i + 1) * T * T, T, 1, v, lda);
            for (int64_t r = 0; r < T; r++)
                sum[i * T + r] += krein__ddot(tj, v + r * lda, v + r * lda);
        }
        krein__worker_end(compute);
    }
}

krein_status krein__cholesky_inverse_diagonal(krein_ctx *ctx, int64_t n, double *u, int64_t lda,
                                              double *diagonal) {
    krein_status st = KREIN_OK;
    const int64_t T = tile(n), tiles = (n + T - 1) / T;
    double *inverse = NULL, *q = NULL;
    krein_compute compute = krein__compute_begin();
    ZNEW(inverse, tiles * T * T);
    NEW(q, tiles * T * T);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t k = 0; k < tiles; k++) {
        krein__worker_begin();
        double *v = inverse + k * T * T;
        for (int64_t i = 0; i < rows(n, k); i++) v[i * T + i] = 1;
        krein__dtrsm(false, rows(n, k), rows(n, k), u + k * T * lda + k * T, lda, v, T);
        for (int64_t i = 0; i < rows(n, k); i++)
            diagonal[k * T + i] = krein__ddot(T - i, v + i * T + i, v + i * T + i);
        krein__worker_end(compute);
    }
    for (int64_t j = 1; j < tiles; j++) {
        TRY(krein__poll(ctx));
        invert_column(ctx, compute, n, u, lda, inverse, q, j, diagonal);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / T * T, end = first + rows(n, i / T);
        for (int64_t j = i; j < end; j++) u[i * lda + j] = inverse[i * T + j - first];
    }
done:
    krein__compute_end(compute);
    krein__free(ctx, inverse);
    krein__free(ctx, q);
    return st;
}
