/* train.c -- the public entry points that train a pipe, and say what that would take. */
#include "stream/together.h"
#include "num/blas.h"
#include "learn/conformal.h"
#include "learn/posterior.h"
#include "pipe/training.h"

#include <math.h>
#include <string.h>

void krein_report_clear(krein_ctx *ctx, krein_report *report) {
    krein_report r = KREIN_SIZED(krein_report);
    if (!report) return;
    krein__report_take(&r, report);
    krein__free(ctx, r.learner);
    krein__free(ctx, r.kernel);
    krein__free(ctx, r.map);
    krein__free(ctx, r.advice);
    krein__weights_free(ctx, r.kernels, r.weights);
    krein__tried_clear(ctx, r.tried, r.tried_count);
    krein__free(ctx, r.factor);
    krein_metrics_clear(ctx, r.test);
    krein__free(ctx, r.test);
}

static krein_report report_init(void) {
    krein_report r = KREIN_SIZED(krein_report);
    r.lambda = r.loo = r.refit = r.residual = r.condition = NAN;
    r.fits = 1;
    return r;
}

/* Labels whose squares are numbers; with features, whose products with them are so in float32. */
static krein_status check_range(const krein_data *data, const krein_encoding *e,
                                const krein_map *map) {
    double most = data->label_most, limit = map->cls->traits & KREIN_MAP_DUAL ? 1e140 : 1e30;
    if (e->task != KREIN_TASK_REGRESSION || most == 0) return KREIN_OK;
    if (most < limit && most > 1 / limit) return KREIN_OK;
    return krein__fail(data->ctx, KREIN_EDATA,
                       "%s: the largest label is %.3g in size, and %s computes with %g to %g; "
                       "change the unit of the labels",
                       data->name, most, map->cls->cls.name, 1 / limit, limit);
}

/* A file with such a model could be written and not be read again. */
static krein_status check_finite(const krein_model *m) {
    bool finite = true;
    for (int64_t i = 0; i < m->map->R * m->k; i++) finite = finite && isfinite(m->w[i]);
    for (int64_t c = 0; c < m->k; c++) finite = finite && isfinite(m->intercept[c]);
    if (finite) return KREIN_OK;
    return krein__fail(m->ctx, KREIN_ENUMERIC,
                       "the weights of the model are not finite; are targets very large? change "
                       "their unit, scale the inputs (`scale=standard`), or regularise more");
}

static void tell_need(const krein_need *need, krein_report *r) {
    r->bytes_peak = (uint64_t)need->bytes;
    r->flops = need->flops;
    r->passes = need->passes;
    r->fits = need->fits;
}

/* What was tried becomes the model's; copies of the candidates and of the metric. */
static krein_status tell_tuned(krein_training *t, krein_report *r) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = t->pipe.ctx;
    krein_model *m = t->pipe.job.model;
    const krein_encoding *e = &m->encoding;
    krein__tries_clear(ctx, &m->tries);
    m->tries = t->tuning.tuned.tries;
    t->tuning.tuned.tries = (krein_tries){0};
    TRY(krein__tried_copy(ctx, m->tries.n, m->tries.tried, &r->tried));
    r->tried_count = m->tries.n;
    const float *factor = e->matrix ? e->matrix : e->metric;
    if (!factor) goto done;
    r->metric = krein__encoding_metric(e);
    r->factors = e->matrix ? e->d * e->d : e->d;
    NEW(r->factor, r->factors);
    for (int64_t j = 0; j < r->factors; j++) r->factor[j] = (double)factor[j];
done:
    return st;
}

static krein_status fill_report(const krein_training *t, krein_report *r) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = t->pipe.ctx;
    const krein_job *job = &t->pipe.job;
    const krein_model *m = job->model;
    r->n = job->n;
    r->unlabelled = job->unlabelled.n;
    r->d = m->encoding.d;
    r->D = m->map->D;
    r->task = m->encoding.task;
    r->lambda = m->lambda;
    r->loo = job->loo;
    r->folds = isfinite(job->loo) ? job->cv_folds : 0;
    r->refit = job->refit;
    r->iterations = job->iterations;
    r->residual = job->residual;
    r->condition = job->condition;
    DUP(r->learner, m->learner);
    DUP(r->kernel, m->kernel_text);
    DUP(r->map, m->map_text);
    TRY(krein__weights_copy(ctx, m->kernels, m->weights, &r->weights));
    r->kernels = m->kernels;
done:
    return st;
}

static void say_slow_blas(krein_ctx *ctx) {
    if (!krein__blas_better_core()) return;
    krein__log(ctx, KREIN_LOG_WARNING,
               "OpenBLAS runs its %s code on this CPU, several times slower than it could: set "
               "OPENBLAS_CORETYPE=%s before the program starts",
               krein__blas_core(), krein__blas_better_core());
}

/* Kernel and map are known, and need not be chosen again. */
static krein_status keep_choice(krein_checkpoint *c, const krein_training *t) {
    const krein_pipe *p = &t->pipe;
    krein_choice choice = {.e = &p->job.model->encoding,
                           .lambda_start = p->job.lambda_start,
                           .tries = t->tuning.tuned.tries};
    if (!c) return KREIN_OK;
    if (krein__pipe_is_exact(p))
        krein__log(p->ctx, KREIN_LOG_WARNING,
                   "`checkpoint` keeps no state of training on the kernel matrix; features (`map`, "
                   "`features`) can be interrupted");
    return krein__checkpoint_chosen(c, p->job.model->map, &choice);
}

/* Map and learner. */
static krein_status fit_model(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_job *job = &t->pipe.job;
    krein_model *m = job->model;
    m->map->unmixed = krein__training_raw(t, m->map);
    krein__pipe_settle(&t->pipe);
    if (!t->learner->fits_map) {
        TRY(krein__pipe_fit(&t->pipe));
        ZNEW(m->w, m->map->R * m->k);
        ZNEW(m->intercept, m->k);
    }
    TRY(t->learner->fit(job, &t->values));
    TRY(check_finite(m));
    if (!(m->learner = krein__training_learner(t))) st = ctx->status;
done:
    return st;
}

/* The model may be the one in reserve, which is ridge regression whatever was asked for. */
static krein_status fit_posterior(krein_training *t) {
    krein_job *job = &t->pipe.job;
    const krein_model *m = job->model;
    if (!job->uncertainty || !t->learner->posterior) return KREIN_OK;
    if (krein__kernel_positive(m->map->kernel)) return krein__posterior_fit(job);
    if (krein__job_classes(job)) return KREIN_OK; /* it has sets of classes */
    return krein__fail(t->pipe.ctx, KREIN_EARG,
                       "`uncertainty` of numbers needs a positive definite kernel, and %s is not "
                       "known to be one; use another kernel",
                       m->kernel_text);
}

static krein_status fit(krein_training *t, krein_report *r) {
    const krein_data *data = t->pipe.job.data;
    double waited = data->seconds_waited, mark = krein__clock();
    krein_status st = t->hurry.only_reserve ? KREIN_ETIME : fit_model(t);
    st = krein__hurry_keep(t, st);
    if (st == KREIN_OK) st = fit_posterior(t);
    if (st == KREIN_OK && t->apart > 0) st = krein__conformal_fit(&t->pipe.job, t->o.uncertainty);
    r->seconds_fit = krein__clock() - mark - (data->seconds_waited - waited);
    return st;
}

/* Kernel, map and sizes. */
static krein_status choose(krein_training *t, krein_report *r) {
    krein_status st = KREIN_OK;
    krein_pipe *p = &t->pipe;
    krein_data *data = p->job.data;
    krein_need need;
    double waited = data->seconds_waited, mark = krein__clock();
    TRY(krein__training_meet(t));
    TRY(krein__training_map(t, &need));
    tell_need(&need, r);
    TRY(krein__training_agree_map(t));
    TRY(check_range(data, &p->job.model->encoding, p->job.model->map));
    /* Reading ahead takes what the training surely leaves. */
    data->ahead_room = fmax(0, (double)p->ctx->budget - need.bytes);
    if (!need.fits) TRY(krein__pipe_refuse(p, &need));
    TRY(krein__training_choose(t));
    TRY(krein__training_agree(t));
    TRY(krein__training_parts(t));
    TRY(krein__hurry_size(t, &need));
    tell_need(&need, r);
    TRY(check_range(data, &p->job.model->encoding, p->job.model->map));
    r->seconds_select = krein__clock() - mark - (data->seconds_waited - waited);
done:
    return st;
}

static krein_status evaluate(krein_training *t, krein_report *r) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_job *job = &t->pipe.job;
    const krein_model *m = job->model;
    krein__stream_close(job->rows);
    job->rows = NULL;
    krein__unlabelled_close(&job->unlabelled);
    if (!t->o.test && t->o.holdout == 0) return KREIN_OK;
    ZNEW(r->test, 1);
    r->test->size = sizeof *r->test;
    TRY(t->o.test
            ? krein_evaluate(ctx, m, t->o.test, r->test)
            : krein__model_measure(ctx, m, job->data, KREIN_PART_HELD, KREIN_COVERAGE, r->test));
done:
    return st;
}

static krein_status train(krein_training *t, krein_checkpoint *c, krein_data *data, double start,
                          krein_report *r) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein__hurry_begin(t, start);
    say_slow_blas(ctx);
    TRY(krein__training_scan(t, data, c, false));
    TRY(choose(t, r));
    krein__pipe_settle(&t->pipe);
    TRY(keep_choice(c, t));
    TRY(fit(t, r));
    TRY(fill_report(t, r));
    TRY(tell_tuned(t, r));
    TRY(evaluate(t, r));
    r->passes = krein__max(1, data->passes);
    r->seconds_read = data->seconds_read;
    r->seconds_total = krein__clock() - start;
done:
    krein__hurry_end(ctx);
    data->unlabelled = false;
    data->calibrate = 0;
    return st;
}

krein_status krein_train(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                         krein_report *report, krein_model **out) {
    krein_report own = report_init(), *r = &own;
    krein_training t = {0};
    krein_checkpoint *c = NULL;
    double start = krein__clock();
    *out = NULL;
    krein__call_begin(ctx);
    krein_status st = krein__report_check(ctx, report, "krein_report");
    if (st == KREIN_OK) st = krein__data_agree(data);
    if (st == KREIN_OK) st = krein__training_begin(ctx, options, data->options.group != NULL, &t);
    if (st == KREIN_OK) st = krein__training_together(&t);
    if (st == KREIN_OK && t.o.checkpoint) st = krein__training_checkpoint(&t, data, &c);
    if (st == KREIN_OK) st = train(&t, c, data, start, r);
    st = krein__call_end(ctx, st); /* a model is whole where all came to its end */
    if (st == KREIN_OK) *out = krein__pipe_take_model(&t.pipe);
    if (st == KREIN_ECANCEL) krein__checkpoint_cancelled(c, ctx);
    krein__checkpoint_close(c);
    krein__training_end(&t);
    krein__report_finish(st, report, r);
    krein_report_clear(ctx, r);
    return st;
}

krein_status krein_plan(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                        krein_report *report) {
    krein_status st = KREIN_OK;
    krein_report own = report_init(), *r = &own;
    krein_training t = {0};
    krein_need need;
    char advice[200];
    TRY(krein__report_check(ctx, report, "krein_report"));
    TRY(krein__training_begin(ctx, options, data->options.group != NULL, &t));
    TRY(krein__training_scan(&t, data, NULL, true));
    TRY(krein__training_meet(&t));
    TRY(krein__training_map(&t, &need));
    tell_need(&need, r);
    const krein_model *m = t.pipe.job.model;
    r->n = m->n;
    r->unlabelled = t.pipe.job.unlabelled.n;
    r->d = m->encoding.d;
    r->task = m->encoding.task;
    r->D = m->map->cls->features(m->map, m->n);
    r->kernels = t.combination.list.n;
    if (t.tuning.from)
        r->metric = krein__encoding_metric(&t.tuning.from->encoding);
    else if (t.tuning.kernel || t.tuning.asked)
        r->metric = t.tuning.metric;
    const char *candidates = krein__training_candidates(&t);
    if (!(r->learner = krein__training_learner(&t)) ||
        !(r->kernel = candidates ? krein__strdup(ctx, candidates)
                                 : krein__kernel_text(ctx, t.pipe.kernel)) ||
        !(r->map = krein__map_text(m->map))) {
        st = ctx->status;
        goto done;
    }
    krein__pipe_advice(&t.pipe, advice, sizeof advice);
    if (!r->fits) DUP(r->advice, advice);
done:
    data->unlabelled = data->once = false;
    krein__training_end(&t);
    krein__report_finish(st, report, r);
    krein_report_clear(ctx, r);
    return st;
}

krein_status krein_train_check(krein_ctx *ctx, const krein_train_options *options) {
    krein_training t;
    krein_status st = krein__training_begin(ctx, options, false, &t);
    krein__training_end(&t);
    return st;
}
