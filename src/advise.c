/* advise.c -- the public entry point that says what theory asks for:
 *
 *     data -> encoding -> kernel -> kernel matrix of a sample -> advice (select/advise.c)
 */
#include "advise.h"

#include "kernel/inputs.h"
#include "kernel/median.h"
#include "select/capacity.h"

#include <math.h>
#include <string.h>

enum { DECADES = 8 };

void krein_advise_options_init(krein_advise_options *o) {
    memset(o, 0, sizeof *o);
    o->size = sizeof *o;
    o->seed = 1;
    o->max_exact = 10000;
}

void krein_advise_report_clear(krein_ctx *ctx, krein_advise_report *r) {
    krein__free(ctx, r->kernel);
    krein__free(ctx, r->spectrum);
    memset(r, 0, sizeof *r);
}

static krein_status copy_options(krein_ctx *ctx, const krein_advise_options *given,
                                 krein_advise_options *o) {
    krein_advise_options_init(o);
    if (given) memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->max_exact < 2 || o->max_exact > 32000)
        return krein__fail(ctx, KREIN_EARG, "advise needs `max_exact` from 2 to 32,000");
    if (o->rows == 0) o->rows = krein__min(KREIN_ADVISE_ROWS, o->max_exact);
    if (o->rows < 2) return krein__fail(ctx, KREIN_EARG, "advise needs `rows` of at least 2");
    if (o->rows > o->max_exact)
        return krein__fail(ctx, KREIN_EARG,
                           "the kernel matrix of %lld rows is above `max_exact` (%lld)",
                           (long long)o->rows, (long long)o->max_exact);
    return KREIN_OK;
}

/* ---- the sample --------------------------------------------------------- */

/* Rows, kernel matrix and labels, and what is computed from them. */
double krein__advise_sample_bytes(const krein_sample *s) {
    const krein_encoding *e = &s->model->encoding;
    double m = (double)s->m, wide = e->sparse ? 0 : 4 * m * (double)e->d;
    return wide + 8 * m * (m + (double)s->k) + krein__advise_bytes(s->m, s->k) +
           krein__gram_full_bytes(s->kernel, s->m, e->d, s->ctx->threads);
}

static krein_status learn(krein_sample *s, krein_data *data, const krein_advise_options *o) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_encoding *e = &s->model->encoding;
    bool labels = krein__data_may_have_labels(data);
    data->one_class = true; /* equal labels tell nothing, but the kernel does */
    TRY(krein__data_scan(data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED, 0, o->seed, e));
    s->n = data->count[KREIN_PART_TRAIN];
    s->m = krein__min(o->rows, s->n);
    if (s->n < 2) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: advise needs at least two rows", data->name);
        goto done;
    }
    s->model->head = krein__task_head(e->task);
    if (labels && data->has_label) s->model->k = s->k = krein__head_scores(s->model->head, e);
    TRY(krein__kernel_meet(ctx, s->kernel, e));
    TRY(krein__reserve_check(ctx, krein__advise_sample_bytes(s),
                             "the kernel matrix and its eigenvectors",
                             "use fewer `rows`, or raise `max_memory`"));
    TRY(krein__stream_open(data, e, KREIN_PART_TRAIN, &s->stream));
    TRY(krein__kernel_meet_rows(ctx, s->kernel, s->stream, true));
    TRY(krein__kernel_set_median(ctx, s->kernel, s->stream, s->n, o->seed));
done:
    data->one_class = false;
    return st;
}

/* Several targets in different units count alike. */
static void same_units(int64_t m, int64_t k, double *y) {
    for (int64_t c = 0; c < k; c++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < m; i++) mean += y[i * k + c] / (double)m;
        for (int64_t i = 0; i < m; i++) square += pow(y[i * k + c] - mean, 2) / (double)m;
        for (int64_t i = 0; square > 0 && i < m; i++) y[i * k + c] /= sqrt(square);
    }
}

krein_status krein__advise_gather(krein_sample *s, krein_data *data, uint64_t seed) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL;
    double *label = NULL;
    krein_matrix x = {0};
    NEW(index, s->m);
    if (s->k > 0) {
        NEW(label, s->m * data->nlabel);
        NEW(s->y, s->m * s->k);
    }
    krein__rng_choose((krein_rng){seed, KREIN_STREAM_SAMPLE}, s->n, s->m, index);
    TRY(krein__stream_gather(s->stream, index, s->m, &x, label, NULL, NULL));
    if (label) krein__targets_fill(s->model, data, s->m, label, s->y, NULL);
    if (label && s->model->encoding.task == KREIN_TASK_REGRESSION) same_units(s->m, s->k, s->y);
    krein_rows rows = krein__matrix_rows(&x);
    krein__progress(ctx, "kernel matrix", 0, 0);
    NEW(s->K, s->m * s->m);
    TRY(krein__gram_full(ctx, s->kernel, &rows, &rows, s->K));
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, index);
    krein__free(ctx, label);
    return st;
}

/* ---- the report --------------------------------------------------------- */

/* Powers of ten from the largest eigenvalue down to where the sample ends. */
static krein_status fill_spectrum(krein_ctx *ctx, const krein_capacity *c, krein_advise_report *r) {
    krein_status st = KREIN_OK;
    double top = floor(log10(c->s[0]));
    NEW(r->spectrum, DECADES);
    for (int i = 0; i < DECADES; i++) {
        double lambda = pow(10, top - i);
        if (i == 0) lambda = fmax(lambda, c->low);
        if (lambda < c->low) break;
        r->spectrum[r->count++] =
            (krein_advise_point){lambda, krein__effective_dimension(c, lambda)};
    }
done:
    return st;
}

static krein_status fill_report(const krein_sample *s, const krein_advice *a,
                                krein_advise_report *r) {
    const krein_capacity *c = &a->capacity;
    r->n = s->n;
    r->d = s->model->encoding.d;
    r->rows = s->m;
    r->task = a->source.fitted ? s->model->encoding.task : KREIN_TASK_AUTO;
    r->rank = c->rank;
    r->kappa = c->kappa;
    r->gamma = c->gamma;
    r->decay = c->decay;
    r->gamma_fitted = c->fitted;
    r->gamma_fast = c->fast;
    r->r = a->source.r;
    r->r_measured = a->source.measured;
    r->r_low = a->source.low;
    r->r_high = a->source.high;
    r->lambda = a->theory.lambda;
    r->dimension = fmin((double)s->n, krein__effective_dimension(c, a->theory.lambda));
    r->rate = a->theory.rate;
    r->features = a->theory.features;
    r->landmarks = a->theory.landmarks;
    r->parts = a->theory.parts;
    r->sample_lambda = a->found;
    r->practical_lambda = a->practice.lambda;
    r->practical_dimension = a->practice.dimension;
    r->practical_features = a->practice.features;
    r->practical_parts = a->practice.parts;
    r->rademacher = a->rademacher;
    r->resolved = c->low;
    if (!(r->kernel = krein__kernel_text(s->ctx, s->kernel))) return s->ctx->status;
    return fill_spectrum(s->ctx, c, r);
}

krein_status krein_advise(krein_ctx *ctx, krein_data *data, const krein_advise_options *options,
                          krein_advise_report *r) {
    krein_status st = KREIN_OK;
    krein_advise_options o;
    krein_advice advice = {0};
    krein_sample s = {.ctx = ctx};
    double start = krein__clock();
    memset(r, 0, sizeof *r);
    TRY(copy_options(ctx, options, &o));
    TRY(krein__kernel_parse(ctx, o.kernel ? o.kernel : "gaussian", &s.kernel));
    ZNEW(s.model, 1);
    s.model->ctx = ctx;
    TRY(learn(&s, data, &o));
    TRY(krein__advise_gather(&s, data, o.seed));
    TRY(krein__advise(ctx, s.m, s.K, s.k, s.y, s.n, &advice));
    TRY(fill_report(&s, &advice, r));
    r->seconds = krein__clock() - start;
done:
    krein__advice_clear(ctx, &advice);
    krein__stream_close(s.stream);
    krein__kernel_destroy(ctx, s.kernel);
    krein_model_destroy(s.model);
    krein__free(ctx, s.K);
    krein__free(ctx, s.y);
    if (st != KREIN_OK) krein_advise_report_clear(ctx, r);
    return st;
}
