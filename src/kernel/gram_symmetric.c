/* gram_symmetric.c -- the kernel matrix of rows with themselves, in float32
 *
 * Values are computed in float64 (|x|^2 + |y|^2 - 2 <x, y> of near rows is a small difference) and
 * rounded. Columns come in panels; of each panel the tiles on and above the diagonal are computed,
 * by one thread each, and written twice. Exactly symmetric. n^2 / 2 values.
 */
#include "kernel/gram.h"

#include "num/blas.h"

#include <omp.h>

enum { PANEL = 512, EDGE = 16 };

/* Rows first .. first + m - 1 against the panel of `wide` columns from `column` on. */
static void copy_out(int64_t n, int64_t first, int64_t m, int64_t column, int64_t wide,
                     const double *tile, float *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = krein__max(0, first + i - column); j < wide; j++)
            out[(first + i) * n + column + j] = (float)tile[i * wide + j];
    for (int64_t e = 0; e < m; e += EDGE)
        for (int64_t j = krein__max(0, first + e - column); j < wide; j++)
            for (int64_t i = e; i < krein__min(m, e + EDGE) && first + i < column + j; i++)
                out[(column + j) * n + first + i] = (float)tile[i * wide + j];
}

krein_status krein__gram_symmetric32(krein_ctx *ctx, const krein_kernel *kernel,
                                     const krein_rows *x, float *out) {
    krein_status st = KREIN_OK;
    krein_gram_rows g = {0};
    double *scratch = NULL;
    int64_t n = x->n, room = 0;
    krein_compute c = krein__compute_begin();
    for (int64_t column = 0; column < n; column += PANEL) {
        int64_t wide = krein__min(PANEL, n - column);
        int64_t tiles = (column + wide + KREIN_TILE - 1) / KREIN_TILE;
        krein__gram_end(ctx, &g);
        TRY(krein__gram_begin(ctx, kernel, krein__rows_slice(x, column, wide), true, &g));
        if (!scratch) { /* the first panel is the widest */
            room = g.scratch + KREIN_TILE * wide;
            NEW(scratch, ctx->threads * room);
        }
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            krein__worker_begin();
            double *mine = scratch + omp_get_thread_num() * room, *tile = mine + g.scratch;
            int64_t first = t * KREIN_TILE, m = krein__min(KREIN_TILE, column + wide - first);
            krein_rows rows = krein__rows_slice(x, first, m);
            krein__gram_tile64(&g, &rows, tile, wide, mine);
            copy_out(n, first, m, column, wide, tile, out);
            krein__worker_end(c);
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__compute_end(c);
    krein__free(ctx, scratch);
    krein__gram_end(ctx, &g);
    return st;
}

double krein__gram_symmetric_bytes(const krein_kernel *k, int64_t n, int64_t d, int threads) {
    return krein__gram_full_bytes(k, krein__min(n, PANEL), d, threads);
}
