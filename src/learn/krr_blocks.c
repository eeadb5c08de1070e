/* krr_blocks.c -- blocks of features for kernel ridge regression. */
#include "learn/krr.h"

#include <string.h>

static krein_status find_offset(krein_job *job, krein_krr *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    krein_block block;
    double *sum = NULL;
    NEW(b->offset, map->R);
    ZNEW(sum, map->R);
    TRY(krein__stream_rewind(job->rows));
    TRY(krein__stream_next(job->rows, &block));
    krein__map_raw(map, &block.x, NULL, b->raw, b->scratch);
    for (int64_t i = 0; i < block.x.n; i++)
        for (int64_t j = 0; j < map->R; j++) sum[j] += (double)b->raw[i * map->R + j];
    for (int64_t j = 0; j < map->R; j++) b->offset[j] = (float)(sum[j] / (double)block.x.n);
done:
    krein__free(ctx, sum);
    return st;
}

krein_status krein__krr_begin(krein_job *job, bool fused, const int8_t *sign, krein_krr *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    memset(b, 0, sizeof *b);
    b->fused = fused || !map->mix;
    b->sign = sign;
    b->rows = krein__block_rows(map->d);
    b->width = b->fused ? map->R : map->D;
    NEW(b->raw, b->rows * map->R);
    NEW(b->scratch, krein__map_scratch(map));
    NEW(b->y, b->rows * job->model->k);
    NEW(b->class, b->rows);
    if (!b->fused) {
        NEW(b->mixed, b->rows * map->D);
        if (!(b->mix32 = krein__map_mix32(map))) {
            st = ctx->status;
            goto done;
        }
    }
    TRY(find_offset(job, b));
done:
    return st;
}

void krein__krr_end(krein_ctx *ctx, krein_krr *b) {
    krein__free(ctx, b->raw);
    krein__free(ctx, b->scratch);
    krein__free(ctx, b->mixed);
    krein__free(ctx, b->mix32);
    krein__free(ctx, b->offset);
    krein__free(ctx, b->y);
    krein__free(ctx, b->class);
}

float *krein__krr_features(krein_job *job, krein_krr *b, const krein_rows *x) {
    const krein_map *map = job->model->map;
    krein__map_raw(map, x, b->offset, b->raw, b->scratch);
    if (b->fused) return b->raw;
    krein__map_mix(map, x->n, b->raw, b->mix32, b->mixed);
    return b->mixed;
}

krein_status krein__krr_system(const krein_map *map, const krein_krr *b, krein_ridge *ridge,
                               double lambda, krein_system *out) {
    if (!map->mix || !b->fused) return krein__ridge_system(ridge, NULL, 0, b->width, out);
    return krein__ridge_system(ridge, map->mix, map->D, krein__map_fused(map, lambda), out);
}
