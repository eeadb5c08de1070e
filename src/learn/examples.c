/* examples.c -- rows in memory, and their features kept or made again block by block.
 *
 * Features of n rows take 4 n D bytes; where that is more than two thirds of the memory budget, the
 * rows themselves are kept (4 n d) and a block's features are made anew for each visit. Blocks
 * begin at multiples of the compute block, so the features have the same bits either way. */
#include "learn/examples.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

bool krein__examples_kept(const krein_map *map, int64_t n) {
    double D = (double)map->cls->features(map, n);
    return 4 * (double)n * D <= (double)map->ctx->budget / 3 * 2;
}

double krein__examples_bytes(const krein_map *map, int64_t n) {
    double D = (double)map->cls->features(map, n), rows = (double)krein__block_rows(map->d);
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    double x = 4 * (double)n * (double)map->d * (map->sparse ? 2 : 1);
    double blocks = 4 * rows * D * (mixed ? 2 : 1) + 4 * D * D * mixed +
                    4.0 * KREIN_TILE * D * map->ctx->threads;
    double features = krein__examples_kept(map, n) ? 4 * (double)n * D : 0;
    return x + blocks + 64 * (double)n + fmax(x, features); /* rows twice while they are mixed */
}

/* Features of the rows of a block, less the offset. */
static krein_status make(void *state, int64_t block, float *out) {
    krein_examples *ex = state;
    const krein_map *map = ex->map;
    int64_t first = block * ex->features.rows, n = krein__min(ex->features.rows, ex->n - first);
    krein_rows all = krein__matrix_rows(&ex->x), x = krein__rows_slice(&all, first, n);
    if (!map->mix) {
        krein__map_raw(map, &x, ex->offset, out, ex->scratch);
    } else {
        krein__map_raw(map, &x, NULL, ex->raw, ex->scratch);
        krein__map_mix(map, n, ex->raw, ex->mix32, out);
        for (int64_t i = 0; ex->offset && i < n; i++)
            for (int64_t j = 0; j < map->D; j++) out[i * map->D + j] -= ex->offset[j];
    }
    return krein__poll(ex->ctx);
}

static krein_status find_offset(krein_examples *ex, float *block) {
    krein_ctx *ctx = ex->ctx;
    krein_status st = KREIN_OK;
    int64_t n = krein__min(ex->features.rows, ex->n), D = ex->map->D;
    double *sum = NULL;
    float *offset = NULL;
    ZNEW(sum, D);
    NEW(offset, D);
    TRY(make(ex, 0, block));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < D; j++) sum[j] += (double)block[i * D + j];
    for (int64_t j = 0; j < D; j++) offset[j] = (float)(sum[j] / (double)n);
    ex->offset = offset;
    offset = NULL;
done:
    krein__free(ctx, sum);
    krein__free(ctx, offset);
    return st;
}

/* Data often come sorted, by class or by time, and a solver that visits them block by block would
 * be drawn this way and that: every block is a random sample of the rows. */
void krein__examples_order(const krein_job *job, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    if (!job->ordered)
        krein__rng_permute(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LEARN), n,
                           order);
}

static krein_status mix(krein_job *job, krein_examples *ex) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t *order = NULL, n = ex->n, labels = job->data->nlabel;
    double *label = NULL, *weight = NULL;
    int32_t *group = NULL;
    krein_matrix x = {0};
    NEW(order, n);
    krein__examples_order(job, n, order);
    krein_rows rows = krein__matrix_rows(&ex->x);
    TRY(krein__matrix_gather(ctx, &rows, order, n, &x));
    krein__matrix_clear(ctx, &ex->x);
    ex->x = x;
    memset(&x, 0, sizeof x);
    NEW(label, n * labels);
    if (ex->weight) NEW(weight, n);
    if (ex->group) NEW(group, n);
    for (int64_t i = 0; i < n; i++) {
        memcpy(label + i * labels, ex->label + order[i] * labels, (size_t)labels * sizeof *label);
        if (weight) weight[i] = ex->weight[order[i]];
        if (group) group[i] = ex->group[order[i]];
    }
    krein__free(ctx, ex->label);
    krein__free(ctx, ex->weight);
    krein__free(ctx, ex->group);
    ex->label = label;
    ex->weight = weight;
    ex->group = group;
    label = weight = NULL;
    group = NULL;
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, label);
    krein__free(ctx, weight);
    krein__free(ctx, group);
    krein__free(ctx, order);
    return st;
}

static krein_status gather(krein_job *job, krein_examples *ex) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    bool classes = job->model->encoding.task == KREIN_TASK_CLASSIFICATION;
    int64_t *index = NULL;
    NEW(index, ex->n);
    NEW(ex->label, ex->n * job->data->nlabel);
    if (job->data->has_weight) NEW(ex->weight, ex->n);
    if (job->data->options.group) NEW(ex->group, ex->n);
    if (ex->n < job->n)
        krein__rng_choose((krein_rng){job->seed, KREIN_STREAM_SAMPLE}, job->n, ex->n, index);
    else
        for (int64_t i = 0; i < ex->n; i++) index[i] = i;
    TRY(krein__stream_gather(job->rows, index, ex->n, &ex->x, ex->label, ex->weight, ex->group));
    if (!job->ordered) TRY(mix(job, ex));
    if (classes) {
        NEW(ex->class, ex->n);
        for (int64_t i = 0; i < ex->n; i++) ex->class[i] = (int32_t)ex->label[i];
    }
done:
    krein__free(ctx, index);
    return st;
}

static krein_status make_features(krein_examples *ex, bool keep, bool centre) {
    krein_ctx *ctx = ex->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = ex->map;
    krein_features *t = &ex->features;
    NEW(ex->scratch, krein__map_scratch(map));
    if (map->mix) {
        NEW(ex->raw, t->rows * map->R);
        if (!(ex->mix32 = krein__map_mix32(map))) return ctx->status;
    }
    if (keep)
        NEW(t->kept, t->n * t->D);
    else
        NEW(t->made, t->rows * t->D);
    if (centre) TRY(find_offset(ex, keep ? t->kept : t->made));
    if (!keep) goto done;
    TRY(krein__features_keep(t));
    krein__matrix_clear(ctx, &ex->x);
    krein__free(ctx, ex->raw);
    krein__free(ctx, ex->scratch);
    krein__free(ctx, ex->mix32);
    ex->raw = ex->scratch = ex->mix32 = NULL;
done:
    return st;
}

krein_status krein__examples_open(krein_job *job, int64_t n, bool centre, krein_examples *ex) {
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    memset(ex, 0, sizeof *ex);
    ex->ctx = job->ctx;
    ex->map = map;
    ex->n = krein__min(n, job->n);
    TRY(gather(job, ex));
    int64_t rows = krein__min(krein__block_rows(map->d), ex->n);
    ex->features = (krein_features){.ctx = job->ctx,
                                    .n = ex->n,
                                    .D = map->D,
                                    .rows = rows,
                                    .blocks = (ex->n + rows - 1) / rows,
                                    .at = -1,
                                    .make = make,
                                    .state = ex};
    TRY(make_features(ex, krein__examples_kept(map, ex->n), centre));
done:
    if (st != KREIN_OK) krein__examples_close(ex);
    return st;
}

void krein__examples_close(krein_examples *ex) {
    krein_ctx *ctx = ex->ctx;
    if (!ctx) return;
    krein__matrix_clear(ctx, &ex->x);
    krein__free(ctx, ex->features.kept);
    krein__free(ctx, ex->features.made);
    krein__free(ctx, ex->label);
    krein__free(ctx, ex->weight);
    krein__free(ctx, ex->class);
    krein__free(ctx, ex->group);
    krein__free(ctx, ex->offset);
    krein__free(ctx, ex->raw);
    krein__free(ctx, ex->scratch);
    krein__free(ctx, ex->mix32);
    memset(ex, 0, sizeof *ex);
}

krein_status krein__examples_finish(const krein_examples *ex, const double *w,
                                    const double *intercept, krein_model *m) {
    const krein_map *map = ex->map;
    int64_t k = m->k;
    if (map->mix)
        krein__pgemm(ex->ctx, false, false, map->R, k, map->D, 1, map->mix, map->D, w, k, 0, m->w,
                     k);
    else
        memcpy(m->w, w, (size_t)(map->R * k) * sizeof *w);
    for (int64_t c = 0; c < k; c++) {
        m->intercept[c] = intercept[c];
        for (int64_t j = 0; ex->offset && j < map->D; j++)
            m->intercept[c] -= (double)ex->offset[j] * w[j * k + c];
    }
    for (int64_t i = 0; i < map->R * k; i++)
        if (!isfinite(m->w[i]))
            return krein__fail(
                ex->ctx, KREIN_ENUMERIC,
                "the weights are not finite; scale the data (`scale=standard`) or regularise more");
    return KREIN_OK;
}
