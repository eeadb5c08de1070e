/* probe.c -- rows in memory that kernels are scored on. */
#include "select/select.h"

#include <string.h>

void krein__probe_end(krein_ctx *ctx, krein_probe *s) {
    krein__matrix_clear(ctx, &s->x);
    krein__free(ctx, s->y);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->class);
    krein__free(ctx, s->group);
    memset(s, 0, sizeof *s);
}

static krein_status make_room(krein_ctx *ctx, krein_probe *s) {
    krein_status st = KREIN_OK;
    NEW(s->y, s->n * s->k);
    NEW(s->weight, s->n);
    NEW(s->class, s->n);
    NEW(s->group, s->n);
done:
    return st;
}

/* What does not apply is NULL for the criteria. */
static void hide_unused(krein_ctx *ctx, bool weights, bool groups, krein_probe *s) {
    if (!s->classes) {
        krein__free(ctx, s->class);
        s->class = NULL;
    }
    if (!weights) {
        krein__free(ctx, s->weight);
        s->weight = NULL;
    }
    if (!groups) {
        krein__free(ctx, s->group);
        s->group = NULL;
    }
}

int64_t krein__scored_targets(const krein_job *job) {
    const krein_encoding *e = &job->model->encoding;
    return job->model->k > 0 ? krein__head_scores(krein__task_head(e->task), e) : 0;
}

void krein__scored_fill(const krein_job *job, int64_t n, const double *label, double *y,
                        int32_t *class) {
    krein_model own = *job->model;
    own.k = krein__scored_targets(job);
    krein__targets_fill(&own, job->data, n, label, y, class);
}

krein_status krein__probe_gather(krein_job *job, int64_t n, krein_probe *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    int64_t *index = NULL, labels = job->data->nlabel;
    double *label = NULL;
    memset(out, 0, sizeof *out);
    out->n = n;
    out->k = krein__scored_targets(job);
    out->classes = out->k > 0 && krein__job_classes(job) ? m->encoding.nclass : 0;
    out->seed = job->seed;
    NEW(index, n);
    if (out->k > 0) NEW(label, n * labels);
    TRY(make_room(ctx, out));
    krein__rng_choose((krein_rng){job->seed, KREIN_STREAM_SAMPLE}, job->n, n, index);
    TRY(krein__stream_gather(job->rows, index, n, &out->x, label, out->weight, out->group));
    if (out->k > 0) krein__scored_fill(job, n, label, out->y, out->class);
    hide_unused(ctx, job->data->has_weight, job->data->options.group != NULL, out);
done:
    krein__free(ctx, index);
    krein__free(ctx, label);
    return st;
}

krein_status krein__probe_thin(krein_ctx *ctx, const krein_probe *from, int64_t n,
                               krein_probe *out) {
    krein_status st = KREIN_OK;
    int64_t *index = NULL, k = from->k;
    memset(out, 0, sizeof *out);
    out->n = n;
    out->k = k;
    out->classes = from->classes;
    out->seed = from->seed;
    NEW(index, n);
    TRY(make_room(ctx, out));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = index[i] = i * from->n / n;
        memcpy(out->y + i * k, from->y + row * k, (size_t)k * sizeof(double));
        if (from->weight) out->weight[i] = from->weight[row];
        if (from->class) out->class[i] = from->class[row];
        if (from->group) out->group[i] = from->group[row];
    }
    krein_rows x = krein__matrix_rows(&from->x);
    TRY(krein__matrix_gather(ctx, &x, index, n, &out->x));
    hide_unused(ctx, from->weight != NULL, from->group != NULL, out);
done:
    krein__free(ctx, index);
    return st;
}
