/* near_kernel.c -- nearest rows in the space of a kernel, by comparing all pairs
 *
 *     |phi(x) - phi(y)|^2 = k(x, x) - 2 k(x, y) + k(y, y),
 *
 * kernel values in float64, tile by tile; a tile's rows keep the k best they have seen. n^2 kernel
 * values in time, O(n k) memory. */
#include "graph/near.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>

enum { CHUNK = 1024 };

double krein__near_kernel_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                                int threads) {
    double N = (double)n, chunks = ceil(N / CHUNK);
    double tile =
        krein__gram_tile_bytes(kernel, CHUNK, d, 8) + 8.0 * KREIN_TILE * (CHUNK + 1.0 * (double)k);
    return N * (8 * (double)d + 16 + 40 * (double)k + 32) + chunks * 512 + threads * tile +
           krein__gram_full_bytes(kernel, 32, d, threads) + 65536;
}

/* ---- the nearest -------------------------------------------------------- */

typedef struct search {
    krein_ctx *ctx;
    krein_rows x;
    int64_t k, chunks;
    const double *weight; /* n, or NULL */
    krein_gram_rows *chunk;
    double *diagonal;
    krein_nearest *out;
    int64_t each; /* doubles of scratch for a thread */
} search;

static void search_tile(const search *s, int64_t first, double *scratch) {
    int64_t k = s->k;
    krein_rows rows = krein__rows_slice(&s->x, first, krein__min(KREIN_TILE, s->x.n - first));
    double *K = scratch, *rest = K + KREIN_TILE * CHUNK, *value = s->out->square + first * k;
    for (int64_t c = 0; c < s->chunks; c++) {
        krein__gram_tile64(&s->chunk[c], &rows, K, CHUNK, rest);
        for (int64_t i = 0; i < rows.n; i++) {
            double *mine = value + i * k;
            for (int64_t j = 0; j < s->chunk[c].y.n; j++) {
                int64_t y = c * CHUNK + j;
                double v = s->diagonal[y] - 2 * K[i * CHUNK + j];
                if (s->weight && s->weight[y] == 0) continue;
                if (v < mine[k - 1] && y != first + i) krein__near_offer(s->out, first + i, y, v);
            }
        }
    }
    for (int64_t i = 0; i < rows.n * k; i++)
        value[i] = fmax(0, value[i] + s->diagonal[first + i / k]);
}

static krein_status search_all(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *scratch = NULL;
    int64_t tiles = (s->x.n + KREIN_TILE - 1) / KREIN_TILE, wave = 4 * ctx->threads;
    NEW(scratch, ctx->threads * s->each);
    for (int64_t from = 0; from < tiles; from += wave) {
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = from; t < krein__min(tiles, from + wave); t++) {
            krein__worker_begin();
            search_tile(s, t * KREIN_TILE, scratch + omp_get_thread_num() * s->each);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        krein__progress(ctx, "neighbours", (double)krein__min(tiles, from + wave), (double)tiles);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, scratch);
    return st;
}

static krein_status search_begin(search *s, const krein_kernel *kernel) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t chunks = (s->x.n + CHUNK - 1) / CHUNK;
    NEW(s->diagonal, s->x.n);
    ZNEW(s->chunk, chunks);
    TRY(krein__gram_diagonal(ctx, kernel, &s->x, s->diagonal));
    for (; s->chunks < chunks; s->chunks++) {
        int64_t from = s->chunks * CHUNK;
        krein_rows y = krein__rows_slice(&s->x, from, krein__min(CHUNK, s->x.n - from));
        TRY(krein__gram_begin(ctx, kernel, y, true, &s->chunk[s->chunks]));
        s->each = krein__max(s->each, s->chunk[s->chunks].scratch);
    }
    s->each += KREIN_TILE * CHUNK;
done:
    return st;
}

static void search_end(search *s) {
    krein_ctx *ctx = s->ctx;
    for (int64_t c = 0; c < s->chunks; c++) krein__gram_end(ctx, &s->chunk[c]);
    krein__free(ctx, s->chunk);
    krein__free(ctx, s->diagonal);
}

krein_status krein__near_kernel(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                const double *weight, krein_nearest *out) {
    krein_status st = KREIN_OK;
    search s = {.ctx = ctx, .x = *x, .k = out->k, .weight = weight, .out = out};
    TRY(search_begin(&s, kernel));
    TRY(search_all(&s));
done:
    search_end(&s);
    return st;
}
