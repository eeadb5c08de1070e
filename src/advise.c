/* advise.c -- the public entry point that says what theory asks for:
 *
 *     data -> encoding -> kernel -> kernel matrix of a sample -> advice (select/advice.c)
 */
#include "pipe/sample.h"
#include "select/capacity.h"

#include <math.h>
#include <string.h>

enum { DECADES = 8 };

void krein_advise_options_init_sized(krein_advise_options *given, size_t size) {
    krein_advise_options own = KREIN_SIZED(krein_advise_options), *o = &own;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

void krein_advise_report_clear(krein_ctx *ctx, krein_advise_report *report) {
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    if (!report) return;
    krein__report_take(&r, report);
    krein__free(ctx, r.kernel);
    krein__free(ctx, r.spectrum);
}

static krein_status begin(krein_ctx *ctx, const krein_advise_options *given,
                          krein_advise_options *o, krein_pipe *p) {
    krein_status st = KREIN_OK;
    krein_advise_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_advise_options"));
    if (o->max_exact < 2)
        return krein__fail(ctx, KREIN_EARG, "advise needs `max_exact` of at least 2");
    krein_pipe_options asked = {.kernel = o->kernel, .seed = o->seed, .max_exact = o->max_exact};
    krein_purpose purpose = {.what = "advice"};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, p));
    if (o->rows == 0) o->rows = krein__min(KREIN_ADVISE_ROWS, o->max_exact);
    TRY(krein__sample_check(p, o->rows));
done:
    return st;
}

/* Kernel matrix and labels of a sample. */
static krein_status gather(krein_pipe *p, krein_data *data, const krein_advise_options *o,
                           krein_sample *s) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_model *model = p->job.model;
    bool labels = krein__data_may_have_labels(data);
    data->one_class = true; /* equal labels tell nothing, but the kernel does */
    TRY(krein__pipe_meet(p, data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED));
    if (p->job.n < 2) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: advise needs at least two rows", data->name);
        goto done;
    }
    int64_t m = krein__min(o->rows, p->job.n);
    labels = labels && data->has_label;
    model->head = krein__task_head(model->encoding.task);
    if (labels) model->k = krein__head_scores(model->head, &model->encoding);
    TRY(krein__reserve_check(
        ctx, krein__sample_bytes(p, m, model->k) + krein__advise_bytes(m, model->k),
        "the kernel matrix and its eigenvectors", "use fewer `rows`, or raise `max_memory`"));
    TRY(krein__pipe_median(p));
    TRY(krein__sample_gather(p, m, labels, s));
done:
    data->one_class = false;
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

static krein_status fill_report(const krein_pipe *p, const krein_sample *s, const krein_advice *a,
                                krein_advise_report *r) {
    const krein_capacity *c = &a->capacity;
    const krein_encoding *e = &p->job.model->encoding;
    r->n = p->job.n;
    r->d = e->d;
    r->rows = s->m;
    r->task = a->source.fitted ? e->task : KREIN_TASK_AUTO;
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
    r->dimension = fmin((double)p->job.n, krein__effective_dimension(c, a->theory.lambda));
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
    if (!(r->kernel = krein__kernel_text(p->ctx, p->kernel))) return p->ctx->status;
    return fill_spectrum(p->ctx, c, r);
}

krein_status krein_advise(krein_ctx *ctx, krein_data *data, const krein_advise_options *options,
                          krein_advise_report *report) {
    krein_status st = KREIN_OK;
    krein_advise_options o;
    krein_advise_report own = KREIN_SIZED(krein_advise_report), *r = &own;
    krein_advice advice = {0};
    krein_sample s = {0};
    krein_pipe p = {0};
    double start = krein__clock();
    TRY(krein__report_check(ctx, report, "krein_advise_report"));
    TRY(begin(ctx, options, &o, &p));
    TRY(gather(&p, data, &o, &s));
    TRY(krein__advise(ctx, s.m, s.K, s.k, s.y, p.job.n, &advice));
    TRY(fill_report(&p, &s, &advice, r));
    r->seconds = krein__clock() - start;
done:
    krein__advice_clear(ctx, &advice);
    krein__sample_end(ctx, &s);
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_advise_report_clear(ctx, r);
    return st;
}
