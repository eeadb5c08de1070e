/* train.c -- the public entry points that put the pipe together: train and plan.
 *
 *     data -> encoding -> kernel (selected) -> map (fitted) -> learner -> model -> test
 *
 * Several kernels (mkl) are weighed once the map is known; their sum goes on as one kernel, and the
 * base learner as the learner.
 */
#include "train.h"

#include "dist/dist.h"
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

void krein_report_clear(krein_ctx *ctx, krein_report *r) {
    krein__free(ctx, r->learner);
    krein__free(ctx, r->kernel);
    krein__free(ctx, r->map);
    krein__free(ctx, r->advice);
    krein__weights_free(ctx, r->kernels, r->weights);
    krein_metrics_clear(ctx, &r->test);
    memset(r, 0, sizeof *r);
}

static void report_init(krein_report *r) {
    memset(r, 0, sizeof *r);
    r->lambda = r->loo = NAN;
    r->fits = 1;
}

/* Labels whose squares are numbers; with features, whose products with them are so in float32. */
static krein_status check_range(const krein_data *data, const krein_encoding *e,
                                const krein_map *map) {
    double most = data->label_most, limit = map->cls->traits & KREIN_MAP_DUAL ? 1e140 : 1e30;
    if (e->task == KREIN_TASK_CLASSIFICATION || most == 0) return KREIN_OK;
    if (most < limit && most > 1 / limit) return KREIN_OK;
    return krein__fail(data->ctx, KREIN_EDATA,
                       "%s: the largest label is %.3g in size, and %s computes with %g to %g; "
                       "change the unit of the labels",
                       data->name, most, map->cls->cls.name, 1 / limit, limit);
}

static krein_head head_of(const krein_setup *s, const krein_encoding *e) {
    return s->learner->head ? s->learner->head(&s->learner_values, e) : krein__task_head(e->task);
}

static krein_status model_begin(krein_ctx *ctx, krein_model **out) {
    *out = krein__zalloc(ctx, 1, sizeof **out);
    if (!*out) return ctx->status;
    (*out)->ctx = ctx;
    return KREIN_OK;
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

static krein_status fill_report(krein_setup *s, krein_job *job, krein_report *r) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = s->ctx;
    const krein_model *m = job->model;
    r->n = job->n;
    r->d = m->encoding.d;
    r->D = m->map->D;
    r->task = m->encoding.task;
    r->lambda = m->lambda;
    r->loo = job->loo;
    r->folds = isfinite(job->loo) ? job->cv_folds : 0;
    DUP(r->learner, m->learner);
    DUP(r->kernel, m->kernel_text);
    DUP(r->map, m->map_text);
    TRY(krein__weights_copy(ctx, m->kernels, m->weights, &r->weights));
    r->kernels = m->kernels;
done:
    return st;
}

/* Kernels of a combination get their free parameters and scales, before there is a map. */
static krein_status settle_combination(krein_setup *s, krein_job *job) {
    krein_status st = KREIN_OK;
    krein_combination *c = &s->combination;
    TRY(krein__combination_meet(c, &job->model->encoding));
    TRY(krein__combination_settle(c, job, &s->criterion, s->o.time_limit));
    krein__kernel_destroy(s->ctx, s->kernel);
    s->kernel = NULL;
    TRY(krein__combination_kernel(c, &s->kernel));
    s->free = 0;
done:
    return st;
}

/* Weighs them with the map that was chosen, and makes kernel and map of the sum. */
static krein_status weigh(krein_setup *s, krein_job *job) {
    krein_status st = KREIN_OK;
    krein_combination *c = &s->combination;
    krein_model *m = job->model;
    const krein_encoding *e = &m->encoding;
    bool dual = m->map->cls->traits & KREIN_MAP_DUAL;
    int64_t D = m->map->D;
    if (!dual && !krein__combine_alone(&c->o))
        TRY(krein__map_fit(m->map, e->d, e->sparse, job->rows, job->n));
    TRY(krein__combination_weigh(c, job, m->map));
    TRY(krein__combination_tell(c, m));
    krein__kernel_destroy(s->ctx, s->kernel);
    s->kernel = NULL;
    TRY(krein__combination_kernel(c, &s->kernel));
    if (dual) goto done;
    krein__map_destroy(m->map);
    m->map = NULL;
    TRY(krein__combination_map(c, D, e->d, e->sparse, s->o.seed, &m->map));
done:
    return st;
}

/* The kernels meet the data, and the best of a list is chosen: its map and what that takes follow
 * from it. */
static krein_status meet_kernels(krein_setup *s, krein_job *job) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &job->model->encoding;
    int64_t best;
    if (s->several) return settle_combination(s, job);
    TRY(krein__kernel_meet(ctx, s->kernel, e));
    if (s->list.n == 0) return KREIN_OK;
    for (int64_t i = 0; i < s->list.n; i++) {
        TRY(krein__kernel_meet(ctx, s->list.kernel[i], e));
        TRY(krein__kernel_meet_rows(ctx, s->list.kernel[i], job->rows, true));
    }
    TRY(krein__select_from(job, &s->criterion, &s->list, s->o.time_limit, &best));
    krein__kernel_destroy(ctx, s->kernel);
    s->kernel = s->list.kernel[best];
    s->list.kernel[best] = NULL;
    s->free = krein__kernel_free(s->kernel, -1, NULL, NULL);
done:
    return st;
}

/* What is free in the kernel, or the weights of several, with the map that will be used. */
static krein_status choose_kernel(krein_setup *s, krein_job *job) {
    krein_ctx *ctx = s->ctx;
    const krein_map *m = job->model->map;
    char *map = NULL;
    if (s->several) return weigh(s, job);
    if (!s->criterion.cls || s->free == 0)
        return krein__kernel_set_median(ctx, s->kernel, job->rows, job->n, s->o.seed);
    if (krein__setup_random(s, m, job->n) && !(map = krein__map_text(m))) return ctx->status;
    krein_status st = krein__select_kernel(job, &s->criterion, map, s->o.time_limit, s->kernel);
    krein__free(ctx, map);
    return st;
}

/* The map of the model is one of the kernel as it is now. */
static void take_kernel(krein_setup *s, krein_map *map) {
    krein__kernel_destroy(s->ctx, map->kernel);
    map->kernel = s->kernel;
    s->kernel = NULL;
}

/* The learner as it would have to be asked for to get the same model. */
static char *learner_text(krein_setup *s) {
    const krein_class *base = &s->learner->cls;
    if (!s->several) return krein__spec_text(s->ctx, base, &s->learner_values);
    krein__mkl_settle(&s->several_values);
    int64_t from = krein__option_index(base, "C");
    int64_t to = krein__option_index(&s->several->cls, "C");
    if (from >= 0 && to >= 0) s->several_values.number[to] = s->learner_values.number[from];
    return krein__spec_text(s->ctx, &s->several->cls, &s->several_values);
}

/* The first pass over the data, or what a checkpoint knows of it. */
static krein_status learn(krein_setup *s, krein_checkpoint *c, krein_data *data,
                          krein_encoding *e) {
    krein_status st = KREIN_OK;
    data->unlabelled = s->learner->unlabelled;
    data->share_rows = true;
    if (krein__checkpoint_has_encoding(c)) return krein__checkpoint_recall(c, data, e);
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, s->o.holdout, s->o.seed, e));
    if (c) TRY(krein__checkpoint_scanned(c, data, e, s->o.holdout == 0));
done:
    return st;
}

/* Kernel and map are known, and need not be chosen again. */
static krein_status keep_choice(krein_checkpoint *c, const krein_map *map) {
    if (!c) return KREIN_OK;
    if (map->cls->traits & KREIN_MAP_DUAL)
        krein__log(map->ctx, KREIN_LOG_WARNING,
                   "`checkpoint` keeps no state of training on the kernel matrix; features (`map`, "
                   "`features`) can be interrupted");
    return krein__checkpoint_chosen(c, map);
}

static krein_status train(krein_setup *s, krein_checkpoint *c, krein_data *data, krein_report *r,
                          krein_model **out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = NULL;
    krein_job job = {
        .ctx = ctx, .data = data, .lambda = s->o.lambda, .seed = s->o.seed, .loo = NAN};
    double start = krein__clock(), mark;
    job.probabilities = s->o.probabilities;
    job.deadline = s->o.time_limit > 0 ? start + s->o.time_limit : 0;
    if (krein__blas_better_core())
        krein__log(ctx, KREIN_LOG_WARNING,
                   "OpenBLAS runs its %s code on this CPU, several times slower than it could: set "
                   "OPENBLAS_CORETYPE=%s before the program starts",
                   krein__blas_core(), krein__blas_better_core());
    job.folds = krein__setup_folds(s);
    job.checkpoint = c;
    TRY(model_begin(ctx, &m));
    job.model = m;
    TRY(learn(s, c, data, &m->encoding));
    TRY(krein__setup_task(s, &m->encoding));
    m->head = head_of(s, &m->encoding);
    m->k = krein__head_scores(m->head, &m->encoding);
    m->n = job.n = data->count[KREIN_PART_TRAIN];
    TRY(krein__stream_open(data, &m->encoding, KREIN_PART_TRAIN, &job.rows));
    TRY(krein__setup_unlabelled(s, data, &m->encoding, &job.unlabelled));
    double waited = data->seconds_waited;
    mark = krein__clock();
    TRY(meet_kernels(s, &job));
    int64_t all = job.n + job.unlabelled.n; /* rows that features are made of */
    TRY(krein__setup_rows(s, data, &m->encoding, all));
    TRY(krein__setup_map(s, data, &m->encoding, all, m->k, r, &m->map));
    TRY(krein__setup_agree_map(s, &m->map));
    TRY(check_range(data, &m->encoding, m->map));
    /* Reading ahead takes what the training surely leaves. */
    data->ahead_room = fmax(0, (double)ctx->budget - (double)r->bytes_peak);
    if (!r->fits) TRY(krein__setup_refuse(s, m->map, all, m->k, r, true));
    TRY(krein__kernel_meet_rows(ctx, s->kernel, job.rows, true));
    TRY(choose_kernel(s, &job));
    TRY(krein__setup_agree(s));
    TRY(krein__setup_parts(s, &job, m->map));
    r->seconds_select = krein__clock() - mark - (data->seconds_waited - waited);

    waited = data->seconds_waited;
    mark = krein__clock();
    take_kernel(s, m->map);
    TRY(keep_choice(c, m->map));
    TRY(krein__map_fit(m->map, m->encoding.d, m->encoding.sparse, job.rows, job.n));
    ZNEW(m->w, m->map->R * m->k);
    ZNEW(m->intercept, m->k);
    job.asked = krein__setup_asked(s, m->map);
    TRY(s->learner->fit(&job, &s->learner_values));
    TRY(check_finite(m));
    r->seconds_fit = krein__clock() - mark - (data->seconds_waited - waited);

    if (!(m->learner = learner_text(s))) {
        st = ctx->status;
        goto done;
    }
    TRY(krein__model_texts(m));
    TRY(fill_report(s, &job, r));
    krein__stream_close(job.rows);
    job.rows = NULL;
    krein__unlabelled_close(&job.unlabelled);
    if (s->o.holdout > 0) TRY(krein__model_measure(m, data, KREIN_PART_HELD, &r->test));
    if (s->o.test) TRY(krein_evaluate(ctx, m, s->o.test, &r->test));
    TRY(krein__comm_agree(ctx, KREIN_OK)); /* a model is whole where all came to its end */
    r->passes = krein__max(1, data->passes);
    r->seconds_read = data->seconds_read;
    r->seconds_total = krein__clock() - start;
    *out = m;
    m = NULL;
done:
    krein__stream_close(job.rows);
    krein__unlabelled_close(&job.unlabelled);
    data->unlabelled = false;
    krein_model_destroy(m);
    return st;
}

krein_status krein_train(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                         krein_report *report, krein_model **out) {
    krein_report own = {0};
    krein_report *r = report ? report : &own;
    krein_setup s;
    krein_checkpoint *c = NULL;
    *out = NULL;
    report_init(r);
    krein_status st = krein__setup_begin(ctx, options, data->options.group != NULL, &s);
    if (st == KREIN_OK) st = krein__setup_together(&s);
    if (st == KREIN_OK && s.o.checkpoint) st = krein__setup_checkpoint(&s, data, &c);
    if (st == KREIN_OK) st = train(&s, c, data, r, out);
    if (st == KREIN_ECANCEL) krein__checkpoint_cancelled(c, ctx);
    krein__checkpoint_close(c);
    krein__setup_clear(&s);
    if (st != KREIN_OK || !report) krein_report_clear(ctx, r);
    return st;
}

krein_status krein_plan(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                        krein_report *r) {
    krein_status st = KREIN_OK;
    krein_setup s;
    krein_encoding e = {0};
    krein_map *map = NULL;
    krein_unlabelled more = {0};
    report_init(r);
    TRY(krein__setup_begin(ctx, options, data->options.group != NULL, &s));
    data->unlabelled = s.learner->unlabelled;
    /* Held-out rows are counted, not drawn: one pass is enough. */
    data->once = true;
    st = krein__data_scan(data, KREIN_LABELS_WANTED, 0, s.o.seed, &e);
    data->once = false;
    if (st != KREIN_OK) goto done;
    TRY(krein__setup_unlabelled(&s, data, &e, &more));
    TRY(krein__kernel_meet(ctx, s.kernel, &e));
    if (s.several) TRY(krein__combination_meet(&s.combination, &e));
    TRY(krein__setup_task(&s, &e));
    int64_t n = data->count[KREIN_PART_TRAIN], k = krein__head_scores(head_of(&s, &e), &e);
    n -= (int64_t)rint(s.o.holdout * (double)n);
    /* train would keep the rows in memory where they are few */
    data->in_memory = data->in_memory || 4.0 * (double)n * (double)e.d < (double)ctx->budget / 3;
    TRY(krein__setup_rows(&s, data, &e, n + more.n));
    TRY(krein__setup_map(&s, data, &e, n + more.n, k, r, &map));
    r->n = n;
    r->d = e.d;
    r->task = e.task;
    r->D = map->cls->features(map, n);
    r->kernels = s.combination.list.n;
    if (!(r->learner = learner_text(&s)) || !(r->kernel = krein__kernel_text(ctx, s.kernel)) ||
        !(r->map = krein__map_text(map))) {
        st = ctx->status;
        goto done;
    }
    if (!r->fits) TRY(krein__setup_refuse(&s, map, n + more.n, k, r, false));
done:
    krein__unlabelled_close(&more);
    data->unlabelled = false;
    krein__map_destroy(map);
    krein__encoding_clear(ctx, &e);
    krein__setup_clear(&s);
    if (st != KREIN_OK) krein_report_clear(ctx, r);
    return st;
}
