/* choose_kernel.c -- the kernel of a training: candidates are proposed here and scored on a seeded
 * sample (select/), by the exact kernel or by the features that the model will use.
 *
 *     a list          the best of it, before there is a map: its map follows from it
 *     free parameters values around the median distance, once the map is known
 *     a sum           weights of several kernels (combine/), once the map is known; then the sum,
 *                     the average and single kernels, for the report (proposals.c)
 *
 * And what all of that takes, for the choice of the map. */
#include "learn/conformal.h"
#include "learn/posterior.h"
#include "pipe/training.h"

#include "kernel/inputs.h"

#include <stdio.h>
#include <string.h>

int64_t krein__training_folds(const krein_training *t) {
    const krein_criterion_class *c = t->criterion.cls;
    return c && c->folds ? c->folds(&t->criterion.values) : 0;
}

/* Trials on a sample are cheap by the map itself: one that does not look at the data, or few
 * landmarks (their eigenvectors cost less than those of the sample's kernel matrix). */
static bool has_trials(const krein_map *map) {
    enum { LANDMARKS = 1024 };
    if (!(krein__map_traits(map) & KREIN_MAP_DATA)) return true;
    return map->cls->fit_sample && map->D <= LANDMARKS && krein__kernel_positive(map->kernel);
}

/* Candidates are scored by the map where that is so, and it has far fewer features than there are
 * rows; under cross-validation, and where ridge regression is to have no intercept, by the kernel
 * itself throughout. */
static bool by_features(const krein_training *t, const krein_map *map, int64_t n) {
    const krein_criterion_class *c = t->criterion.cls;
    krein_trial trial = {0};
    if (c && c->trial) c->trial(&t->criterion.values, &trial);
    return has_trials(map) && trial.intercept && !c->folds &&
           n >= 2 * krein__min(map->D, KREIN_FEATURES_MAX);
}

static bool searches(const krein_training *t) {
    return t->criterion.cls && !t->tuning.kernel && (t->free > 0 || t->list.n > 0);
}

/* ---- what it takes ------------------------------------------------------ */

/* The number of features was asked for, by the user's own options. */
static bool asked(const krein_training *t, const krein_map *map) {
    return t->recalled ? t->asked : krein__pipe_asked(&t->pipe, map);
}

bool krein__training_raw(const krein_training *t, const krein_map *map) {
    return t->learner->raw && !t->weighing.cls && t->learner->raw(&t->pipe.job, map, &t->values);
}

double krein__training_fit_cost(const krein_training *t, const krein_map *map,
                                const krein_learner_class *learner, const krein_values *values,
                                krein_cost *of_map, krein_cost *fit, int64_t *passes) {
    int64_t n = t->pipe.rows;
    bool path = t->o.lambda < 0;
    *of_map = (krein_cost){0};
    *fit = (krein_cost){.folds = krein__training_folds(t),
                        .asked = asked(t, map),
                        .probabilities = t->pipe.job.probabilities,
                        .grouped = t->grouped,
                        .max_exact = t->o.max_exact};
    *passes = 0;
    krein_map view = *map;
    view.unmixed = learner == t->learner && krein__training_raw(t, map);
    map->cls->cost(&view, n, of_map);
    learner->cost(&view, values, n, t->pipe.job.model->k, path, fit, passes);
    if (t->pipe.job.uncertainty && learner->posterior)
        krein__posterior_cost(&view, n, t->pipe.job.model->k, fit, passes);
    if (t->apart > 0) krein__conformal_cost(&view, n, t->apart, t->pipe.job.model->k, fit, passes);
    return (double)n * of_map->flops * (path ? 2 : 1) + of_map->fit_flops + fit->flops;
}

/* Bytes, flops and passes of the whole training; `choose`: with the choice of the kernel. */
static void cost_with(const krein_training *t, bool choose, krein_need *out) {
    const krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    const krein_map *map = p->job.model->map;
    krein_cost of_map, fit, combine = {0};
    int64_t n = p->rows, k = p->job.model->k, passes;
    bool features = by_features(t, map, n);
    double d = (double)map->d, rows = (double)krein__block_rows(map->d);
    double flops = krein__training_fit_cost(t, map, t->learner, &t->values, &of_map, &fit, &passes);
    bool search = choose && searches(t);
    double select = search ? krein__select_bytes(ctx, n, map->d, k, features) : 0;
    double blocks = 4 * rows * d + rows * 64;
    krein_tuning_cost tune = {0};
    if (choose) tune = krein__tuning_cost(t, (double)ctx->budget - p->rows_bytes - blocks);
    select = fmax(select, tune.bytes);
    if (t->weighing.cls) {
        combine = krein__combine_cost(&t->weighing, map, n, t->combination.list.n, k);
        krein_cost propose =
            krein__proposals_cost(t, map, (double)ctx->budget - p->rows_bytes - blocks);
        select = fmax(select, fmax(combine.bytes, propose.bytes));
        combine.flops += propose.flops;
        passes += propose.flops > 0;
    }
    out->bytes = blocks + fmax(of_map.bytes + fit.bytes, select);
    out->flops = flops + combine.flops + tune.flops +
                 (search ? krein__select_flops(n, t->free, t->list.n, features) : 0);
    out->passes = 1 + passes + (t->free > 0) + 2 * (combine.flops > 0) +
                  ((krein__map_traits(map) & KREIN_MAP_DATA) != 0);
}

static void cost(const krein_pipe *p, krein_need *out) {
    const krein_training *t = p->purpose.user;
    cost_with(t, true, out);
}

static bool advice(const krein_pipe *p, char *text, size_t size) {
    const krein_training *t = p->purpose.user;
    krein_need without = {0};
    if (t->learner->map && p->job.model->map->cls->kernel) { /* no other map will do */
        snprintf(text, size, "raise `max_memory`, or give the learner a smaller batch");
        return true;
    }
    if (t->weighing.cls) {
        snprintf(text, size, "raise `max_memory`, or use fewer `features`");
        return true;
    }
    if (krein__tuning_cost(t, 0).bytes + p->rows_bytes > (double)p->ctx->budget) {
        snprintf(text, size,
                 "choosing the kernel takes most of it: give one, as in `kernel` "
                 "\"gaussian(sigma=...)\", or raise `max_memory`");
        return true;
    }
    if (!t->criterion.cls || t->free == 0) return false;
    cost_with(t, false, &without);
    if (without.bytes + p->rows_bytes > (double)p->ctx->budget) return false;
    snprintf(text, size,
             "choosing the kernel's parameters takes most of it: give them, as in `kernel` "
             "\"gaussian(sigma=...)\", or raise `max_memory`");
    return true;
}

/* The learner's options may rule out the kernel matrix: a default that gives way. */
static bool suits(const krein_pipe *p, const krein_map *map) {
    const krein_training *t = p->purpose.user;
    krein_ctx *ctx = p->ctx;
    if (!t->learner->check || t->learner->check(ctx, &t->values, map) == KREIN_OK) return true;
    ctx->status = KREIN_OK;
    ctx->message[0] = 0;
    return false;
}

/* A learner that divides the rows makes several matrices, and has its own way out. */
static krein_status matrix_rows(const krein_pipe *p, int64_t *rows) {
    const krein_training *t = p->purpose.user;
    const krein_learner_class *l = t->learner;
    int64_t most = t->o.max_exact;
    if (l->matrix_rows) *rows = l->matrix_rows(p->ctx, &t->values, p->rows, most);
    if (!l->advised || *rows <= most) return KREIN_OK;
    return krein__fail(p->ctx, KREIN_EARG,
                       "%s with map=exact makes kernel matrices of %lld rows, above `max_exact` "
                       "(%lld); raise it, or use %s=%lld or more",
                       l->cls.name, (long long)*rows, (long long)most, l->advised,
                       (long long)((p->rows + most - 1) / krein__max(1, most)));
}

krein_purpose krein__training_purpose(const krein_training *t) {
    return (krein_purpose){.what = "training",
                           .user = t,
                           .features = krein__training_features,
                           .matrix_rows = matrix_rows,
                           .suits = suits,
                           .cost = cost,
                           .advice = advice};
}

krein_status krein__training_map(krein_training *t, krein_need *need) {
    krein_status st = KREIN_OK;
    krein_pipe *p = &t->pipe;
    TRY(krein__pipe_map(p, need));
    if (!p->o.map && t->learner->check)
        TRY(t->learner->check(p->ctx, &t->values, p->job.model->map));
    p->job.asked = asked(t, p->job.model->map);
done:
    return st;
}

/* ---- a list and a sum, before there is a map ---------------------------- */

/* Kernels of a sum get their free parameters and scales. */
static krein_status settle_sum(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_status st = KREIN_OK;
    krein_combination *c = &t->combination;
    TRY(krein__combination_meet(c, &p->job.model->encoding));
    if (!p->job.rows) goto done; /* plan */
    TRY(krein__combination_settle(c, &p->job, &t->criterion, krein__hurry_choice(t)));
    krein__kernel_destroy(p->ctx, p->kernel);
    p->kernel = NULL;
    TRY(krein__combination_kernel(c, &p->kernel));
    t->free = 0;
done:
    return st;
}

static krein_status take_best(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t best;
    for (int64_t i = 0; i < t->list.n; i++) {
        TRY(krein__kernel_meet(ctx, t->list.kernel[i], &p->job.model->encoding));
        TRY(krein__kernel_meet_rows(ctx, t->list.kernel[i], p->job.rows, true));
    }
    TRY(krein__select_from(&p->job, &t->criterion, &t->list, krein__hurry_choice(t),
                           &t->tuning.tuned.tries, &best));
    krein__kernel_destroy(ctx, p->kernel);
    p->kernel = t->list.kernel[best];
    t->list.kernel[best] = NULL;
    t->free = krein__kernel_free(p->kernel, -1, NULL, NULL);
done:
    return st;
}

krein_status krein__training_meet(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_status st = KREIN_OK;
    bool plan = p->job.rows == NULL;
    if (!plan) TRY(krein__hurry_choose(t, krein__training_tune));
    if (t->weighing.cls && !plan) return settle_sum(t);
    TRY(krein__kernel_meet(p->ctx, p->kernel, &p->job.model->encoding));
    if (t->weighing.cls) TRY(settle_sum(t));
    if (t->list.n > 0 && !plan) TRY(krein__hurry_choose(t, take_best));
done:
    return st;
}

/* ---- parameters and weights, with the map that will be used ------------- */

/* Kernel and map of the sum, once the weights are known. */
static krein_status weigh(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_status st = KREIN_OK;
    krein_combination *c = &t->combination;
    krein_job *job = &p->job;
    krein_model *m = job->model;
    const krein_encoding *e = &m->encoding;
    bool exact = krein__pipe_is_exact(p);
    int64_t D = m->map->D;
    if (!exact && !t->weighing.cls->alone)
        TRY(krein__map_fit(m->map, e->d, e->sparse, job->rows, job->n));
    TRY(krein__combination_weigh(c, job, m->map));
    TRY(krein__combination_tell(c, m));
    krein__kernel_destroy(p->ctx, p->kernel);
    p->kernel = NULL;
    TRY(krein__combination_kernel(c, &p->kernel));
    if (!exact) {
        krein__map_destroy(m->map);
        m->map = NULL;
        TRY(krein__combination_map(c, D, e->d, e->sparse, t->o.seed, &m->map));
    }
    TRY(krein__training_propose(t));
done:
    return st;
}

static krein_status search_free(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_map *m = p->job.model->map;
    char *map = NULL;
    if (by_features(t, m, p->job.n) && !(map = krein__map_text(m))) return ctx->status;
    st = krein__select_kernel(&p->job, &t->criterion, map, krein__hurry_choice(t),
                              &t->tuning.tuned.tries, p->kernel);
    krein__free(ctx, map);
    return st;
}

krein_status krein__training_choose(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_status st = KREIN_OK;
    bool none = !t->criterion.cls || t->free == 0;
    TRY(krein__kernel_meet_rows(p->ctx, p->kernel, p->job.rows, true));
    if (t->weighing.cls) return weigh(t);
    if (!none && !t->hurry.unchosen) TRY(krein__hurry_choose(t, search_free));
    if (none || t->hurry.unchosen) TRY(krein__pipe_median(p));
done:
    return st;
}
