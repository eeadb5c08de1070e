/* blocks.c -- features of a stream, block by block, less the mean of the first block. */
#include "learn/blocks.h"

#include "stream/together.h"

#include <string.h>

static krein_status find_offset(krein_blocks *b, const krein_rows *first) {
    krein_ctx *ctx = b->map->ctx;
    krein_status st = KREIN_OK;
    int64_t R = b->map->R;
    double *sum = NULL;
    NEW(b->offset, R);
    ZNEW(sum, R);
    krein__map_raw(b->map, first, NULL, b->raw, b->scratch);
    for (int64_t i = 0; i < first->n; i++)
        for (int64_t j = 0; j < R; j++) sum[j] += (double)b->raw[i * R + j];
    for (int64_t j = 0; j < R; j++)
        b->offset[j] = (float)(sum[j] / (double)krein__max(1, first->n));
done:
    krein__free(ctx, sum);
    return st;
}

krein_status krein__blocks_begin_at(const krein_map *map, const krein_rows *first, bool fused,
                                    krein_blocks *b) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    memset(b, 0, sizeof *b);
    b->map = map;
    b->fused = fused || !map->mix;
    b->rows = krein__block_rows(map->d);
    b->width = b->fused ? map->R : map->D;
    NEW(b->raw, b->rows * map->R);
    NEW(b->scratch, krein__map_scratch(map));
    if (!b->fused) {
        NEW(b->mixed, b->rows * map->D);
        if (!(b->mix32 = krein__map_mix32(map))) {
            st = ctx->status;
            goto done;
        }
    }
    TRY(find_offset(b, first));
done:
    return st;
}

krein_status krein__blocks_begin(const krein_map *map, krein_stream *rows, bool fused,
                                 krein_blocks *b) {
    krein_status st = KREIN_OK;
    krein_block block;
    memset(b, 0, sizeof *b);
    TRY(krein__stream_rewind(rows));
    TRY(krein__stream_next(rows, &block));
    TRY(krein__blocks_begin_at(map, &block.x, fused, b));
    /* The same for all: of the first rows of all. */
    TRY(krein__stream_from_root(rows, b->offset, map->R * (int64_t)sizeof *b->offset));
done:
    return st;
}

void krein__blocks_offset(const krein_blocks *b, double *out) {
    int64_t R = b->map->R, width = b->width;
    for (int64_t j = 0; j < width; j++) out[j] = b->fused ? (double)b->offset[j] : 0;
    for (int64_t i = 0; !b->fused && i < R; i++)
        for (int64_t j = 0; j < width; j++)
            out[j] += (double)b->offset[i] * (double)b->mix32[i * width + j];
}

float *krein__blocks_features(krein_blocks *b, const krein_rows *x) {
    krein__map_raw(b->map, x, b->offset, b->raw, b->scratch);
    if (b->fused) return b->raw;
    krein__map_mix(b->map, x->n, b->raw, b->mix32, b->mixed);
    return b->mixed;
}

void krein__blocks_end(krein_blocks *b) {
    if (!b->map) return;
    void *all[] = {b->offset, b->raw, b->scratch, b->mixed, b->mix32};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(b->map->ctx, all[i]);
    memset(b, 0, sizeof *b);
}

double krein__blocks_bytes(const krein_map *map, int64_t n) {
    double D = (double)map->cls->features(map, n), rows = (double)krein__block_rows(map->d);
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    return 4 * rows * D * (mixed ? 2 : 1) + 4 * D * D * mixed +
           4.0 * KREIN_TILE * D * map->ctx->threads + 12 * D;
}
