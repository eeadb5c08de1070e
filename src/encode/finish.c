/* finish.c -- see finish.h. */
#include "encode/finish.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

krein_encoding krein__encoding_unfinished(const krein_encoding *e) {
    krein_encoding out = *e;
    out.metric = out.matrix = NULL;
    out.clip = 0;
    if (e->scale == KREIN_SCALE_UNIT) out.scale = KREIN_SCALE_NONE;
    return out;
}

static void unit_length(float *x, int64_t d) {
    double square = 0;
    for (int64_t j = 0; j < d; j++) square += (double)x[j] * (double)x[j];
    float factor = square > 0 ? (float)(1 / sqrt(square)) : 0;
    for (int64_t j = 0; j < d; j++) x[j] *= factor;
}

static void clip_row(float *x, int64_t d, float clip) {
    for (int64_t j = 0; j < d; j++) {
        x[j] = x[j] > clip ? clip : x[j];
        x[j] = x[j] < -clip ? -clip : x[j];
    }
}

void krein__finish_row(const krein_encoding *e, bool clips, float *x) {
    if (e->scale == KREIN_SCALE_UNIT) unit_length(x, e->d);
    if (clips) clip_row(x, e->d, e->clip);
    for (int64_t j = 0; e->metric && j < e->d; j++) x[j] *= e->metric[j];
}

void krein__finish_matrix(krein_ctx *ctx, const krein_encoding *e, int64_t n, float *rows,
                          float *tile) {
    int64_t d = e->d, tiles = (n + KREIN_TILE - 1) / KREIN_TILE;
    krein_compute mode = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        float *copy = tile + omp_get_thread_num() * KREIN_TILE * d;
        int64_t have = krein__min(KREIN_TILE, n - t * KREIN_TILE);
        float *x = rows + t * KREIN_TILE * d;
        memcpy(copy, x, (size_t)(have * d) * sizeof *x);
        memset(copy + have * d, 0, (size_t)((KREIN_TILE - have) * d) * sizeof *x);
        krein__sgemm(false, true, KREIN_TILE, d, d, 1, copy, d, e->matrix, d, 0, x, d);
        krein__worker_end(mode);
    }
    krein__compute_end(mode);
}
