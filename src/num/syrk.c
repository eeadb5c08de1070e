/* syrk.c -- large products by fixed tiles of the result
 *
 *   C += A' A   (float32 products over at most 4096 rows, float64 sum)
 *   C  = alpha op(A) op(B) + beta C
 *
 * The tiles are a function of the sizes alone and each is computed by one thread with BLAS on
 * one thread, so the bits do not depend on how many threads there are, nor on who computed
 * which tile. Of A'A only the upper tiles are computed, n^2 k multiplications instead of
 * 2 n^2 k; those on the diagonal cost half as much and come last, to fill the gaps.
 *
 * Measured (Zen 4, 2 threads, n = 2048, GFLOP/s counting n^2 k; plain threaded ssyrk: 160):
 *   rows k       512   1024   2048   4096
 *   tile 256     124    136    149    147
 *   tile 512     147    154    156    157
 *   tile 1024    148    154    158    156
 * (each the better of two runs on a shared machine). Larger tiles leave cores idle: 2048 columns
 * have 10 tiles of 512. Blocks of 2048 rows are within 1.05 of ssyrk although they also convert and
 * add to float64. */
#include "num/blas.h"

#include <omp.h>

int64_t krein__syrk_tile(int64_t n) { return n >= 2048 ? 512 : krein__max(1, krein__min(n, 256)); }

/* C (m x n) += S (m x n), from column i on in row i when `upper`. */
static void add(int64_t m, int64_t n, const float *s, int64_t lds, double *c, int64_t ldc,
                bool upper) {
    for (int64_t i = 0; i < m; i++) {
        const float *from = s + i * lds;
        double *to = c + i * ldc;
        for (int64_t j = upper ? i : 0; j < n; j++) to[j] += (double)from[j];
    }
}

/* The q-th pair i < j in order of i, of `tiles` tiles; then the diagonal ones. */
static void tile_at(int64_t q, int64_t tiles, int64_t *i, int64_t *j) {
    int64_t off = tiles * (tiles - 1) / 2;
    if (q >= off) {
        *i = *j = q - off;
        return;
    }
    *i = 0;
    while (q >= tiles - 1 - *i) q -= tiles - 1 - (*i)++;
    *j = *i + 1 + q;
}

/* The q-th tile: where it stands, and its product in rows of T. */
typedef struct tile {
    int64_t i, j, m, n;
} tile;

static int64_t tile_count(int64_t n) {
    int64_t tiles = (n + krein__syrk_tile(n) - 1) / krein__syrk_tile(n);
    return tiles * (tiles + 1) / 2;
}

static tile tile_of(int64_t q, int64_t n) {
    int64_t T = krein__syrk_tile(n), i, j;
    tile_at(q, (n + T - 1) / T, &i, &j);
    return (tile){i * T, j * T, krein__min(T, n - i * T), krein__min(T, n - j * T)};
}

static void tile_product(const tile *t, int64_t n, int64_t k, const float *a, int64_t lda,
                         float *s) {
    int64_t T = krein__syrk_tile(n);
    if (t->i == t->j)
        krein__ssyrk(t->m, k, 1, a + t->i, lda, 0, s, T);
    else
        krein__sgemm(true, false, t->m, t->n, k, 1, a + t->i, lda, a + t->j, lda, 0, s, T);
}

static void tile_add(const tile *t, int64_t n, const float *s, double *c, int64_t ldc) {
    add(t->m, t->n, s, krein__syrk_tile(n), c + t->i * ldc + t->j, ldc, t->i == t->j);
}

void krein__syrk_add(krein_ctx *ctx, int64_t n, int64_t k, const float *a, int64_t lda, double *c,
                     int64_t ldc, float *tile_scratch) {
    const int64_t T = krein__syrk_tile(n), count = tile_count(n);
    if (n <= 0 || k <= 0) return;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads) if (count > 1)
    {
        krein__worker_begin();
        float *s = tile_scratch + omp_get_thread_num() * T * T;
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < count; q++) {
            tile t = tile_of(q, n);
            tile_product(&t, n, k, a, lda, s);
            tile_add(&t, n, s, c, ldc);
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

int64_t krein__syrk_room(int64_t n) {
    return tile_count(n) * krein__syrk_tile(n) * krein__syrk_tile(n);
}

void krein__syrk_products(int64_t n, int64_t k, const float *a, int64_t lda, float *tiles) {
    int64_t T = krein__syrk_tile(n), count = n > 0 && k > 0 ? tile_count(n) : 0;
    for (int64_t q = 0; q < count; q++) {
        tile t = tile_of(q, n);
        tile_product(&t, n, k, a, lda, tiles + q * T * T);
    }
}

void krein__syrk_sum(int64_t n, const float *tiles, double *c, int64_t ldc) {
    int64_t T = krein__syrk_tile(n), count = n > 0 ? tile_count(n) : 0;
    for (int64_t q = 0; q < count; q++) {
        tile t = tile_of(q, n);
        tile_add(&t, n, tiles + q * T * T, c, ldc);
    }
}

void krein__pgemm(krein_ctx *ctx, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                  double *c, int64_t ldc) {
    const int64_t T = krein__min(m, n) >= 2048 ? 512 : 256;
    const int64_t down = (m + T - 1) / T, across = (n + T - 1) / T;
    if (m <= 0 || n <= 0) return;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads) if (down * across > 1)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < down * across; q++) {
            int64_t i = q / across * T, j = q % across * T;
            krein__dgemm(ta, tb, krein__min(T, m - i), krein__min(T, n - j), k, alpha,
                         ta ? a + i : a + i * lda, lda, tb ? b + j * ldb : b + j, ldb, beta,
                         c + i * ldc + j, ldc);
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}
