/* draw.c -- pieces between which krein__poll is called. Every random number has an address of
 * its own, so the numbers do not depend on the pieces. */
#include "map/draw.h"

int64_t krein__draw_rows(int64_t d) { return krein__max(1, KREIN_DRAW_CELLS / d); }

krein_status krein__normal_rows(krein_ctx *ctx, krein_rng g, int64_t first, int64_t n, int64_t d,
                                double *u) {
    krein_status st = KREIN_OK;
    int64_t piece = krein__draw_rows(d);
    for (int64_t from = 0; from < n && st == KREIN_OK; from += piece) {
        int64_t end = krein__min(n, from + piece);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t i = from; i < end; i++)
            for (int64_t j = 0; j < d; j++)
                u[i * d + j] = krein__rng_normal(g, (uint64_t)(first + i), (uint64_t)j);
        st = krein__poll(ctx);
    }
    return st;
}
