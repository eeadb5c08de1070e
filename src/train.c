/* train.c -- the public entry points that put the pipe together: train and plan.
 *
 *     data -> encoding -> kernel (selected) -> map (fitted) -> learner -> model -> test
 */
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "num/blas.h"
#include "select/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_train_options_init(krein_train_options *o) {
    memset(o, 0, sizeof *o);
    o->size = sizeof *o;
    o->lambda = -1;
    o->seed = 1;
    o->max_exact = 10000;
}

static krein_status copy_options(krein_ctx *ctx, const krein_train_options *given,
                                 krein_train_options *o) {
    krein_train_options_init(o);
    if (given) memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->holdout < 0 || o->holdout >= 1 || isnan(o->holdout))
        return krein__fail(ctx, KREIN_EARG, "--holdout takes a fraction between 0 and 1");
    if (isnan(o->lambda) || isinf(o->lambda))
        return krein__fail(ctx, KREIN_EARG, "--lambda takes a number >= 0, or auto");
    if (o->features < 0 || o->features > 10000000)
        return krein__fail(ctx, KREIN_EARG, "--features takes a number from 1 to 10,000,000");
    if (o->max_exact < 0 || o->max_exact > 32000)
        return krein__fail(ctx, KREIN_EARG, "--max-exact takes a number from 0 to 32,000");
    if (o->holdout > 0 && o->test)
        return krein__fail(ctx, KREIN_EARG, "give --test or --holdout, not both");
    return KREIN_OK;
}

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

/* Everything that train and plan set up the same way. */
typedef struct setup {
    krein_ctx *ctx;
    krein_train_options o;
    krein_kernel *kernel;   /* of a list the first, until the best is known */
    krein_kernel_list list; /* --kernels; n = 0: none */
    const krein_learner_class *learner;
    krein_values learner_values;
    krein_criterion criterion; /* cls NULL: none */
    int64_t free;
    bool wide; /* a linear kernel of more columns than the memory budget allows */
} setup;

static void setup_clear(setup *s) {
    krein__kernel_destroy(s->ctx, s->kernel);
    krein__kernels_clear(s->ctx, &s->list);
    krein__values_clear(s->ctx, &s->learner_values);
    krein__criterion_clear(s->ctx, &s->criterion);
}

static krein_status no_probabilities(const setup *s) {
    char others[256] = "";
    for (int64_t i = 0; i < krein__learner_count; i++) {
        const krein_learner_class *l = (const krein_learner_class *)krein__learners[i];
        size_t used = strlen(others);
        if (l->probabilities)
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", l->cls.name);
    }
    return krein__fail(s->ctx, KREIN_EARG,
                       "%s has no probabilities%s%s; without them predict --scores gives decision "
                       "values",
                       s->learner->cls.name, *others ? "; learners that have: " : "", others);
}

/* The most free parameters that a search will have. */
static krein_status count_free(setup *s, krein_kernel *kernel) {
    int64_t free = krein__kernel_free(kernel, -1, NULL, NULL);
    s->free = krein__max(s->free, free);
    if (free <= 2) return KREIN_OK;
    return krein__fail(s->ctx, KREIN_ESPEC,
                       "the kernel has %lld free parameters; at most two can be selected: give "
                       "values to the others",
                       (long long)free);
}

static krein_status parse_list(setup *s) {
    krein_status st = KREIN_OK;
    if (s->o.kernel) return krein__fail(s->ctx, KREIN_EARG, "give -k or --kernels, not both");
    TRY(krein__kernels_parse(s->ctx, s->o.kernels, &s->list));
    for (int64_t i = 0; i < s->list.n; i++) TRY(count_free(s, s->list.kernel[i]));
    TRY(krein__kernel_copy(s->ctx, s->list.kernel[0], &s->kernel));
done:
    return st;
}

static krein_status check_map(const setup *s, const krein_kernel *kernel) {
    krein_map *map = NULL;
    krein_status st = krein__map_create(s->ctx, s->o.map, kernel, s->o.features, s->o.seed, &map);
    if (st == KREIN_OK && s->learner->check)
        st = s->learner->check(s->ctx, &s->learner_values, map);
    if (st == KREIN_OK) st = krein__map_check(map, s->o.features, NULL);
    krein__map_destroy(map);
    return st;
}

/* Specs are parsed before any row is read: a wrong one must not cost a pass over the data. */
static krein_status setup_begin(krein_ctx *ctx, const krein_train_options *given, bool grouped,
                                setup *s) {
    krein_status st = KREIN_OK;
    int64_t which;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    TRY(copy_options(ctx, given, &s->o));
    TRY(krein__parse_spec(ctx, s->o.learner ? s->o.learner : "krr", "learner", krein__learners,
                          krein__learner_count, &which, &s->learner_values));
    s->learner = (const krein_learner_class *)krein__learners[which];
    if (s->o.probabilities && !s->learner->probabilities) {
        st = no_probabilities(s);
        goto done;
    }
    if (s->o.kernels) {
        TRY(parse_list(s));
    } else {
        TRY(krein__kernel_parse(ctx, s->o.kernel ? s->o.kernel : "gaussian", &s->kernel));
        TRY(count_free(s, s->kernel));
    }
    /* Rows of one group know too much of each other for leave-one-out. */
    const char *select = s->o.select ? s->o.select : grouped ? "cv" : "loo";
    if (strcmp(select, "none") != 0) {
        TRY(krein__criterion_parse(ctx, select, &s->criterion));
    } else if (s->free > 0) {
        krein__log(ctx, KREIN_LOG_INFO, "--select none: free parameters get the median distance");
    }
    if (s->list.n > 0 && !s->criterion.cls) {
        st = krein__fail(ctx, KREIN_EARG,
                         "--select none leaves nothing to choose among --kernels by; give one "
                         "kernel with -k, or a criterion");
        goto done;
    }
    if (s->o.map) {
        TRY(check_map(s, s->kernel));
        for (int64_t i = 1; i < s->list.n; i++) TRY(check_map(s, s->list.kernel[i]));
    } else if (s->learner->check) {
        TRY(s->learner->check(ctx, &s->learner_values, NULL));
    }
done:
    return st;
}

/* What the learner does not do with the labels that there are. */
static krein_status check_task(const setup *s, const krein_encoding *e) {
    const char *name = s->learner->cls.name;
    bool classes = e->task == KREIN_TASK_CLASSIFICATION;
    if (!(s->learner->tasks & (classes ? KREIN_FOR_CLASSES : KREIN_FOR_NUMBERS)))
        return krein__fail(s->ctx, KREIN_EDATA,
                           classes ? "%s is for regression and the labels are classes; use another "
                                     "learner (krein list learners), or --task regression"
                                   : "%s is for classification and the labels are numbers; use "
                                     "another learner (krein list learners), or --task "
                                     "classification",
                           name);
    if (s->criterion.cls && (s->free > 0 || s->list.n > 0)) {
        krein_status st = krein__criterion_check(s->ctx, &s->criterion, e->task, true);
        if (st != KREIN_OK) return st;
    }
    if (s->o.probabilities && !classes)
        return krein__fail(s->ctx, KREIN_EARG,
                           "--probabilities are for classes and the labels are numbers");
    return KREIN_OK;
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

static krein_head head_of(const setup *s, const krein_encoding *e) {
    return s->learner->head ? s->learner->head(&s->learner_values, e) : krein__task_head(e->task);
}

/* Features by default: 4,096, fewer where they would cost more than 2e12 flops or are not fewer
 * than the rows; at least 1,024. */
static int64_t default_features(const krein_kernel *kernel, int64_t n, int64_t d) {
    int64_t D = 4096;
    if (krein__is_linear(kernel) && d <= D) return d; /* the rows themselves */
    while (D > 1024 && (double)n * (double)D * (double)D > 2e12) D /= 2;
    return krein__min(D, n);
}

/* The default map; landmarks where there is no room for all columns of a linear kernel. */
static const char *default_map(const setup *s, int64_t d, int64_t D) {
    return s->wide ? "nystrom" : krein__map_default(s->kernel, d, D);
}

static void set_features(krein_map *map, int64_t D) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    if (slot >= 0) map->values.number[slot] = (double)D;
    map->D = D;
}

/* Chooses the map once n is known, and creates it. exact: that may be the default. */
static krein_status make_map(setup *s, int64_t n, int64_t d, bool sparse, bool exact,
                             krein_map **out) {
    krein_ctx *ctx = s->ctx;
    const char *spec = s->o.map;
    int64_t D = s->o.features;
    if (!spec)
        spec = exact && n <= krein__min(s->learner->exact_rows, s->o.max_exact) && D == 0
                   ? "exact"
                   : default_map(s, d, D > 0 ? D : default_features(s->kernel, n, d));
    krein_status st = krein__map_create(ctx, spec, s->kernel, D, s->o.seed, out);
    if (st != KREIN_OK) return st;
    krein_map *map = *out;
    map->d = d;
    map->sparse = sparse;
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    D = default_features(s->kernel, n, d);
    st = krein__map_check_rows(map, n, s->o.max_exact, krein__map_default(s->kernel, d, D));
    if (st != KREIN_OK) {
        krein__map_destroy(map);
        *out = NULL;
    } else if (!dual && map->D == 0) {
        set_features(map, D);
    }
    return st;
}

/* Folds that the criterion chooses lambda by as well; 0: leave-one-out. */
static int64_t folds_of(const setup *s) {
    const krein_criterion_class *c = s->criterion.cls;
    return c && c->folds ? c->folds(&s->criterion.values) : 0;
}

/* The search judges kernels by the map where that is random, does not look at the data and has far
 * fewer features than there are rows; under cross-validation, and where ridge regression is to have
 * no intercept, by the kernel itself throughout. */
static bool random_features(const setup *s, const krein_map *map, int64_t n) {
    const krein_criterion_class *c = s->criterion.cls;
    krein_trial trial = {0};
    if (c && c->trial) c->trial(&s->criterion.values, &trial);
    return !(krein__map_traits(map) & KREIN_MAP_DATA) && trial.intercept && !c->folds &&
           n >= 2 * krein__min(map->D, KREIN_FEATURES_MAX);
}

/* Bytes, flops and passes of the whole training. */
static void estimate(const setup *s, const krein_map *map, const krein_data *data, int64_t n,
                     int64_t k, krein_report *r) {
    krein_ctx *ctx = s->ctx;
    krein_cost total = {0}, fit = {0};
    int64_t passes = 0;
    bool path = s->o.lambda < 0;
    double d = (double)map->d, rows = (double)krein__block_rows(map->d);
    fit.folds = folds_of(s);
    map->cls->cost(map, n, &total);
    s->learner->cost(map, &s->learner_values, n, k, path, &fit, &passes);
    double stream = 4 * rows * d + rows * 64, kept = data->in_memory ? 4.0 * (double)n * d : 0;
    bool features = random_features(s, map, n);
    bool search = s->criterion.cls && (s->free > 0 || s->list.n > 0);
    double select = search ? krein__select_bytes(ctx, n, map->d, k, features) : 0;
    r->bytes_peak =
        (uint64_t)(stream + kept + fmax(total.bytes + fit.bytes, select)) + atomic_load(&ctx->held);
    r->flops = (double)n * total.flops * (path ? 2 : 1) + total.fit_flops + fit.flops +
               (search ? krein__select_flops(n, s->free, s->list.n, features) : 0);
    r->passes = 1 + passes + (s->free > 0) + ((krein__map_traits(map) & KREIN_MAP_DATA) != 0);
    r->fits = r->bytes_peak <= ctx->budget;
}

/* Says what would fit where the training does not. */
static krein_status refuse(const setup *s, krein_map *map, const krein_data *data, int64_t n,
                           int64_t k, krein_report *r, bool fail) {
    krein_ctx *ctx = s->ctx;
    char need[32], have[32], advice[200] = "raise --max-memory";
    krein__bytes_text((double)r->bytes_peak, need);
    krein__bytes_text((double)ctx->budget, have);
    if (map->cls->traits & KREIN_MAP_DUAL) {
        snprintf(advice, sizeof advice, "raise --max-memory, or use --map %s",
                 krein__map_default(s->kernel, map->d, default_features(s->kernel, n, map->d)));
    } else {
        int64_t D = map->D, asked = map->D;
        krein_report smaller = *r;
        while (D > 16 && !smaller.fits) {
            D /= 2;
            map->D = D;
            estimate(s, map, data, n, k, &smaller);
        }
        map->D = asked;
        if (krein__option_index(&map->cls->cls, "D") < 0)
            snprintf(advice, sizeof advice, "raise --max-memory, or use --map nystrom");
        else if (smaller.fits)
            snprintf(advice, sizeof advice, "raise --max-memory, or use --features %lld",
                     (long long)D);
    }
    r->advice = krein__strdup(ctx, advice);
    if (!r->advice) return ctx->status;
    if (!fail) return KREIN_OK;
    return krein__fail(ctx, KREIN_EMEMORY, "training needs %s, the memory budget is %s; %s", need,
                       have, advice);
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
                       "their unit, scale the inputs (--scale standard), or regularise more");
}

static krein_status fill_report(setup *s, krein_job *job, krein_report *r) {
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
done:
    return st;
}

/* The same map for another D, or the one that is the default then. */
static krein_status resize_map(const setup *s, int64_t D, krein_map **map) {
    krein_map *old = *map, *new = NULL;
    const char *spec = s->o.map ? s->o.map : default_map(s, old->d, D);
    krein_status st = krein__map_create(s->ctx, spec, s->kernel, D, s->o.seed, &new);
    if (st != KREIN_OK) return st;
    new->d = old->d;
    new->sparse = old->sparse;
    set_features(new, D);
    krein__map_destroy(old);
    *map = new;
    return KREIN_OK;
}

/* A smaller default number of features where the asked-for one was ours and does not fit. */
static krein_status shrink_default(setup *s, krein_map **map, const krein_data *data, int64_t n,
                                   int64_t k, krein_report *r) {
    krein_status st = KREIN_OK;
    int64_t slot = krein__option_index(&(*map)->cls->cls, "D"), first = (*map)->D, D = first;
    bool ours = s->o.map ? slot >= 0 && !(*map)->values.given[slot]
                         : !((*map)->cls->traits & KREIN_MAP_DUAL);
    if (r->fits || s->o.features > 0 || !ours) return KREIN_OK;
    while (!r->fits && D > 64) {
        D /= 2;
        TRY(resize_map(s, D, map));
        estimate(s, *map, data, n, k, r);
    }
    if (r->fits) return KREIN_OK;
    TRY(resize_map(s, first, map));
    estimate(s, *map, data, n, k, r);
done:
    return st;
}

/* Features instead of what was the default and does not fit. */
static krein_status replace_map(setup *s, const krein_data *data, int64_t n, int64_t k,
                                krein_report *r, krein_map **map) {
    krein_map *old = *map;
    krein_status st = make_map(s, n, old->d, old->sparse, false, map);
    krein__map_destroy(old);
    if (st == KREIN_OK) estimate(s, *map, data, n, k, r);
    return st;
}

/* Its features are the columns, however many. */
static bool is_linear(const krein_kernel *kernel, int64_t d) {
    return strcmp(krein__map_default(kernel, d, 1), "explicit") == 0;
}

/* Row weights or the learner's options rule out the kernel matrix: a default that gives way. */
static bool refused(const setup *s, const krein_data *data, const krein_map *map) {
    if (data->has_weight && !s->learner->exact_weights) return true;
    if (!s->learner->check || s->learner->check(s->ctx, &s->learner_values, map) == KREIN_OK)
        return false;
    s->ctx->status = KREIN_OK;
    s->ctx->message[0] = 0;
    return true;
}

/* The map and what training with it takes. Features are the default as well where the kernel matrix
 * would be but does not fit, in memory or to the learner. */
static krein_status choose_map(setup *s, const krein_data *data, const krein_encoding *e, int64_t n,
                               int64_t k, krein_report *r, krein_map **map) {
    krein_status st = make_map(s, n, e->d, e->sparse, true, map);
    if (st != KREIN_OK) return st;
    estimate(s, *map, data, n, k, r);
    if (!s->o.map && (*map)->cls->traits & KREIN_MAP_DUAL && (!r->fits || refused(s, data, *map)))
        st = replace_map(s, data, n, k, r, map);
    if (st == KREIN_OK && !r->fits && !s->o.map && is_linear(s->kernel, e->d)) {
        s->wide = true;
        st = replace_map(s, data, n, k, r, map);
    }
    if (st == KREIN_OK) st = shrink_default(s, map, data, n, k, r);
    if (st == KREIN_OK && !s->o.map && s->learner->check)
        st = s->learner->check(s->ctx, &s->learner_values, *map);
    if (st == KREIN_OK && !s->o.map) krein__map_say_more(*map, n, s->o.features);
    return st;
}

/* The kernels meet the data, and the best of a list is chosen: its map and what that takes follow
 * from it. */
static krein_status meet_kernels(setup *s, krein_job *job) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &job->model->encoding;
    int64_t best;
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

static krein_status train(setup *s, krein_data *data, krein_report *r, krein_model **out) {
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
    job.folds = folds_of(s);
    TRY(model_begin(ctx, &m));
    job.model = m;
    TRY(krein__data_learn(data, KREIN_LABELS_LEARNED, s->o.holdout, s->o.seed,
                          (krein_keep)s->o.memory_rows, &m->encoding));
    TRY(check_task(s, &m->encoding));
    m->head = head_of(s, &m->encoding);
    m->k = krein__head_scores(m->head, &m->encoding);
    m->n = job.n = data->count[KREIN_PART_TRAIN];
    TRY(krein__stream_open(data, &m->encoding, KREIN_PART_TRAIN, &job.rows));
    double read_before = data->seconds_read;
    mark = krein__clock();
    TRY(meet_kernels(s, &job));
    TRY(choose_map(s, data, &m->encoding, job.n, m->k, r, &m->map));
    TRY(check_range(data, &m->encoding, m->map));
    if (!r->fits) TRY(refuse(s, m->map, data, job.n, m->k, r, true));
    TRY(krein__kernel_meet_rows(ctx, s->kernel, job.rows, true));
    if (s->criterion.cls && s->free > 0) {
        char *map = NULL;
        if (random_features(s, m->map, job.n) && !(map = krein__map_text(m->map))) {
            st = ctx->status;
            goto done;
        }
        st = krein__select_kernel(&job, &s->criterion, map, s->o.time_limit, s->kernel);
        krein__free(ctx, map);
        TRY(st);
    } else {
        TRY(krein__kernel_set_median(ctx, s->kernel, job.rows, job.n, s->o.seed));
    }
    r->seconds_select = krein__clock() - mark - (data->seconds_read - read_before);

    read_before = data->seconds_read;
    mark = krein__clock();
    krein__kernel_destroy(ctx, m->map->kernel);
    m->map->kernel = s->kernel;
    s->kernel = NULL;
    TRY(krein__map_fit(m->map, m->encoding.d, m->encoding.sparse, job.rows, job.n));
    ZNEW(m->w, m->map->R * m->k);
    ZNEW(m->intercept, m->k);
    TRY(s->learner->fit(&job, &s->learner_values));
    TRY(check_finite(m));
    r->seconds_fit = krein__clock() - mark - (data->seconds_read - read_before);

    if (!(m->learner = krein__spec_text(ctx, &s->learner->cls, &s->learner_values)) ||
        !(m->kernel_text = krein__kernel_text(ctx, m->map->kernel)) ||
        !(m->map_text = krein__map_text(m->map))) {
        st = ctx->status;
        goto done;
    }
    TRY(fill_report(s, &job, r));
    krein__stream_close(job.rows);
    job.rows = NULL;
    if (s->o.holdout > 0) TRY(krein__model_measure(m, data, KREIN_PART_HELD, &r->test));
    if (s->o.test) TRY(krein_evaluate(ctx, m, s->o.test, &r->test));
    r->passes = krein__max(1, data->passes);
    r->seconds_read = data->seconds_read;
    r->seconds_total = krein__clock() - start;
    *out = m;
    m = NULL;
done:
    krein__stream_close(job.rows);
    krein_model_destroy(m);
    return st;
}

krein_status krein_train(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                         krein_report *report, krein_model **out) {
    krein_report own = {0};
    krein_report *r = report ? report : &own;
    setup s;
    *out = NULL;
    report_init(r);
    krein_status st = setup_begin(ctx, options, data->options.group != NULL, &s);
    if (st == KREIN_OK) st = train(&s, data, r, out);
    setup_clear(&s);
    if (st != KREIN_OK || !report) krein_report_clear(ctx, r);
    return st;
}

krein_status krein_plan(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                        krein_report *r) {
    krein_status st = KREIN_OK;
    setup s;
    krein_encoding e = {0};
    krein_map *map = NULL;
    report_init(r);
    TRY(setup_begin(ctx, options, data->options.group != NULL, &s));
    /* Held-out rows are counted, not drawn: one pass is enough. */
    TRY(krein__data_learn(data, KREIN_LABELS_LEARNED, 0, s.o.seed, KREIN_KEEP_STREAM, &e));
    TRY(krein__kernel_meet(ctx, s.kernel, &e));
    TRY(check_task(&s, &e));
    int64_t n = data->count[KREIN_PART_TRAIN], k = krein__head_scores(head_of(&s, &e), &e);
    n -= (int64_t)rint(s.o.holdout * (double)n);
    /* train would keep the rows in memory where they are few */
    data->in_memory = data->in_memory || 4.0 * (double)n * (double)e.d < (double)ctx->budget / 3;
    TRY(choose_map(&s, data, &e, n, k, r, &map));
    r->n = n;
    r->d = e.d;
    r->task = e.task;
    r->D = map->cls->features(map, n);
    if (!(r->learner = krein__spec_text(ctx, &s.learner->cls, &s.learner_values)) ||
        !(r->kernel = krein__kernel_text(ctx, s.kernel)) || !(r->map = krein__map_text(map))) {
        st = ctx->status;
        goto done;
    }
    if (!r->fits) TRY(refuse(&s, map, data, n, k, r, false));
done:
    krein__map_destroy(map);
    krein__encoding_clear(ctx, &e);
    setup_clear(&s);
    if (st != KREIN_OK) krein_report_clear(ctx, r);
    return st;
}
