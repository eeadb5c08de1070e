/* kernel_product.c -- products with the kernel matrix of many rows, and its Nystrom approximation:
 * the matrix is kept as far as memory allows that (manifold.h). */
#include "solve/kernel_half.h"
#include "solve/manifold.h"
#include "solve/whiten.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { WHOLE = 4096, STRIP = 256 };

struct krein_kernel_product {
    krein_ctx *ctx;
    krein_rows x;
    int64_t k;
    double *whole; /* n x n; or */
    krein_half half;
    double *room;
    krein_gram_rows gram; /* tiles are made again */
    bool again;
};

static double again_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads) {
    return threads * (krein__gram_tile_bytes(kernel, n, d, 4) + 4.0 * KREIN_TILE * (double)n +
                      8.0 * KREIN_TILE * STRIP) +
           krein__gram_rows_bytes(n, d);
}

static double half_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k, int threads) {
    return krein__half_bytes(n, false) + fmax(krein__half_make_bytes(kernel, n, d, threads),
                                              8 * (double)krein__half_room(n, k, threads));
}

double krein__kernel_product_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                                   int threads, double room) {
    double N = (double)n, whole = 8 * N * N + krein__gram_full_bytes(kernel, n, d, threads);
    double half = half_bytes(kernel, n, d, k, threads);
    if (n <= WHOLE && whole <= room) return whole;
    return half <= room ? half : again_bytes(kernel, n, d, threads);
}

krein_status krein__kernel_product_create(krein_ctx *ctx, const krein_kernel *kernel,
                                          const krein_rows *x, int64_t k, double room,
                                          krein_kernel_product **out) {
    krein_status st = KREIN_OK;
    krein_kernel_product *p = NULL;
    int64_t n = x->n, d = krein__rows_sparse(x) ? krein__min(x->d, 1024) : x->d;
    double N = (double)n;
    *out = NULL;
    ZNEW(p, 1);
    *p = (krein_kernel_product){.ctx = ctx, .x = *x, .k = k};
    if (n <= WHOLE && 8 * N * N + krein__gram_full_bytes(kernel, n, d, ctx->threads) <= room) {
        NEW(p->whole, n * n);
        TRY(krein__gram_full(ctx, kernel, x, x, p->whole));
    } else if (half_bytes(kernel, n, d, k, ctx->threads) <= room) {
        TRY(krein__half_make(ctx, kernel, x, true, 0, &p->half));
        NEW(p->room, krein__half_room(n, k, ctx->threads));
    } else {
        krein__log(ctx, KREIN_LOG_INFO,
                   "the kernel matrix of %lld rows is made again for every product: half of it in "
                   "float32 would take more than there is memory for",
                   (long long)n);
        p->again = true;
        TRY(krein__gram_begin(ctx, kernel, *x, false, &p->gram));
    }
    *out = p;
    p = NULL;
done:
    krein__kernel_product_destroy(p);
    return st;
}

void krein__kernel_product_destroy(krein_kernel_product *p) {
    if (!p) return;
    krein_ctx *ctx = p->ctx;
    krein__free(ctx, p->whole);
    if (p->half.ctx) krein__half_clear(&p->half);
    krein__free(ctx, p->room);
    if (p->again) krein__gram_end(ctx, &p->gram);
    krein__free(ctx, p);
}

static krein_status product_again(krein_kernel_product *p, const double *v, double *out) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = p->x.n, k = p->k, tiles = (n + KREIN_TILE - 1) / KREIN_TILE;
    int64_t each = KREIN_TILE * n + p->gram.scratch;
    float *room = NULL;
    double *wide = NULL;
    NEW(room, ctx->threads * each);
    NEW(wide, ctx->threads * KREIN_TILE * STRIP);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t first = t * KREIN_TILE, rows = krein__min(KREIN_TILE, n - first);
        krein_rows some = krein__rows_slice(&p->x, first, rows);
        float *value = room + omp_get_thread_num() * each;
        double *tile = wide + omp_get_thread_num() * KREIN_TILE * STRIP;
        krein__gram_tile32(&p->gram, &some, value, n, value + KREIN_TILE * n);
        for (int64_t j = 0; j < n; j += STRIP) {
            int64_t some_columns = krein__min(STRIP, n - j);
            for (int64_t i = 0; i < rows; i++)
                for (int64_t e = 0; e < some_columns; e++)
                    tile[i * some_columns + e] = (double)value[i * n + j + e];
            krein__dgemm(false, false, rows, k, some_columns, 1, tile, some_columns, v + j * k, k,
                         j > 0, out + first * k, k);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, room);
    krein__free(ctx, wide);
    return st;
}

krein_status krein__kernel_product(krein_kernel_product *p, const double *v, double *out) {
    int64_t n = p->x.n;
    if (p->again) return product_again(p, v, out);
    if (p->whole)
        krein__pgemm(p->ctx, false, false, n, p->k, n, 1, p->whole, n, v, p->k, 0, out, p->k);
    else
        krein__half_multiply(&p->half, p->k, v, out, p->room);
    return KREIN_OK;
}

/* ---- Nystrom ------------------------------------------------------------ */

void krein__nystrom_clear(krein_nystrom *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->B);
    memset(s, 0, sizeof *s);
}

/* Kernel values of all rows at the landmarks. */
static krein_status values_at(krein_nystrom *s, const krein_kernel *kernel, const krein_rows *x,
                              const krein_rows *marks) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_gram_rows gram = {0};
    int64_t n = s->n, m = s->m, tiles = (n + KREIN_TILE - 1) / KREIN_TILE;
    float *room = NULL;
    TRY(krein__gram_begin(ctx, kernel, *marks, false, &gram));
    int64_t each = KREIN_TILE * m + gram.scratch;
    NEW(room, ctx->threads * each);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t first = t * KREIN_TILE, rows = krein__min(KREIN_TILE, n - first);
        krein_rows some = krein__rows_slice(x, first, rows);
        float *value = room + omp_get_thread_num() * each;
        krein__gram_tile32(&gram, &some, value, m, value + KREIN_TILE * m);
        memcpy(s->B + first * m, value, (size_t)(rows * m) * sizeof *value);
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__gram_end(ctx, &gram);
    krein__free(ctx, room);
    return st;
}

krein_status krein__nystrom_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                 const int64_t *index, int64_t m, krein_nystrom *s) {
    krein_status st = KREIN_OK;
    krein_matrix marks = {0};
    double *K = NULL;
    *s = (krein_nystrom){.ctx = ctx, .n = x->n, .m = m};
    NEW(s->B, x->n * m);
    TRY(krein__matrix_gather(ctx, x, index, m, &marks));
    krein_rows at = krein__matrix_rows(&marks);
    TRY(values_at(s, kernel, x, &at));
    NEW(K, m * m);
    TRY(krein__gram_full(ctx, kernel, &at, &at, K));
    TRY(krein__whiten(ctx, x->n, m, K, s->B));
    s->z = (krein_features){
        .ctx = ctx, .n = x->n, .D = m, .rows = x->n, .blocks = 1, .kept = s->B, .at = -1};
done:
    krein__matrix_clear(ctx, &marks);
    krein__free(ctx, K);
    return st;
}
