/* eigen_top.c -- a few of the largest eigenvalues of a symmetric matrix, and their vectors
 *
 * By block Lanczos (lanczos.c) where that pays, until every residual is below ENOUGH |A|: the pairs
 * are then those of a matrix that differs from A by no more than that. A step costs 2 n^2 flops a
 * column of its block, on all threads; a full decomposition takes 9 n^3, half of them on one
 * thread. That is the way out for small matrices, for many pairs, and where the iteration has taken
 * n products without an end (a flat spectrum). */
#include "num/eigen_top.h"

#include "num/blas.h"
#include "num/lanczos.h"

#include <string.h>

static const double ENOUGH = 1e-11;
/* Measured on one thread with kernel matrices: from order LEAST on, and with at most a SHARE-th of
 * it as pairs, iterating is no slower than the full decomposition also where the spectrum falls
 * slowly; 6 to 25 times faster for two pairs at order 2,048. */
enum { EXTRA = 8, LEAST = 512, SHARE = 32 };

krein_status krein__eigen_top_iterate(krein_ctx *ctx, int64_t n, const double *a, int64_t m,
                                      double *w, double *v, bool *found) {
    krein_status st = KREIN_OK;
    const krein_rng g = {1, KREIN_STREAM_START};
    krein_dense_operator matrix = {ctx, n, a};
    double *columns = NULL, residual;
    int64_t steps = n / (m + EXTRA); /* of about as many columns */
    NEW(columns, n * m);
    TRY(krein__top_eigen(ctx, n, m, krein__apply_dense, &matrix, g, ENOUGH, steps, w, columns,
                         &residual));
    *found = residual <= ENOUGH;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) v[j * n + i] = columns[i * m + j];
done:
    krein__free(ctx, columns);
    return st;
}

krein_status krein__eigen_top_full(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                                   double *v) {
    krein_status st = KREIN_OK;
    double *all = NULL;
    NEW(all, n);
    TRY(krein__eigen(ctx, n, a, n, all));
    for (int64_t j = 0; j < m; j++) {
        w[j] = all[n - 1 - j];
        memcpy(v + j * n, a + (n - 1 - j) * n, (size_t)n * sizeof *v);
    }
done:
    krein__free(ctx, all);
    return st;
}

bool krein__eigen_top_pays(int64_t n, int64_t m) { return n >= LEAST && SHARE * (m + EXTRA) <= n; }

double krein__eigen_top_bytes(int64_t n, int64_t m, int threads, bool full) {
    double N = (double)n;
    if (full || !krein__eigen_top_pays(n, m)) return 16 * N * N + 8 * 64 * N + (1 << 20);
    return krein__top_eigen_bytes(n, m, threads) + 8 * N * (double)m;
}

krein_status krein__eigen_top(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                              double *v) {
    bool found = false;
    if (krein__eigen_top_pays(n, m)) {
        krein_status st = krein__eigen_top_iterate(ctx, n, a, m, w, v, &found);
        if (st != KREIN_OK) return st;
    }
    return found ? KREIN_OK : krein__eigen_top_full(ctx, n, a, m, w, v);
}
