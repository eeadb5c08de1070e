/* train_specs.c -- options and specs of a training: parsed and checked before any row is read. */
#include "train.h"

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
        return krein__fail(ctx, KREIN_EARG, "`holdout` takes a fraction between 0 and 1");
    if (isnan(o->lambda) || isinf(o->lambda))
        return krein__fail(ctx, KREIN_EARG, "`lambda` takes a number >= 0, or auto");
    if (o->features < 0 || o->features > 10000000)
        return krein__fail(ctx, KREIN_EARG, "`features` takes a number from 1 to 10,000,000");
    if (o->max_exact < 0 || o->max_exact > 32000)
        return krein__fail(ctx, KREIN_EARG, "`max_exact` takes a number from 0 to 32,000");
    if (o->holdout > 0 && o->test)
        return krein__fail(ctx, KREIN_EARG, "give `test` or `holdout`, not both");
    return KREIN_OK;
}

void krein__setup_clear(krein_setup *s) {
    krein__kernel_destroy(s->ctx, s->kernel);
    krein__kernels_clear(s->ctx, &s->list);
    krein__combination_end(&s->combination);
    krein__values_clear(s->ctx, &s->learner_values);
    krein__values_clear(s->ctx, &s->several_values);
    krein__criterion_clear(s->ctx, &s->criterion);
}

static krein_status no_probabilities(const krein_setup *s) {
    char others[256] = "";
    for (int64_t i = 0; i < krein__learner_count; i++) {
        const krein_learner_class *l = (const krein_learner_class *)krein__learners[i];
        size_t used = strlen(others);
        if (l->probabilities)
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", l->cls.name);
    }
    return krein__fail(
        s->ctx, KREIN_EARG,
        "%s has no probabilities%s%s; without them a prediction has decision values",
        s->learner->cls.name, *others ? "; learners that have: " : "", others);
}

/* The most free parameters that a search will have. */
static krein_status count_free(krein_setup *s, krein_kernel *kernel) {
    int64_t free = krein__kernel_free(kernel, -1, NULL, NULL);
    s->free = krein__max(s->free, free);
    if (free <= 2) return KREIN_OK;
    return krein__fail(s->ctx, KREIN_ESPEC,
                       "the kernel has %lld free parameters; at most two can be selected: give "
                       "values to the others",
                       (long long)free);
}

static krein_status parse_list(krein_setup *s) {
    krein_status st = KREIN_OK;
    if (s->o.kernel) return krein__fail(s->ctx, KREIN_EARG, "give `kernel` or `kernels`, not both");
    TRY(krein__kernels_parse(s->ctx, s->o.kernels, &s->list));
    for (int64_t i = 0; i < s->list.n; i++) TRY(count_free(s, s->list.kernel[i]));
    TRY(krein__kernel_copy(s->ctx, s->list.kernel[0], &s->kernel));
done:
    return st;
}

static krein_status parse_kernel(krein_setup *s) {
    const char *spec = s->o.kernel ? s->o.kernel : "gaussian";
    krein_status st = krein__kernel_parse(s->ctx, spec, &s->kernel);
    return st == KREIN_OK ? count_free(s, s->kernel) : st;
}

/* features: that the user wants of this map alone; 0: none are named. */
static krein_status check_map(const krein_setup *s, const char *spec, const krein_kernel *kernel,
                              int64_t features, bool *dual) {
    krein_map *map = NULL;
    krein_status st = krein__map_create(s->ctx, spec, kernel, features, s->o.seed, &map);
    if (st == KREIN_OK && s->learner->check)
        st = s->learner->check(s->ctx, &s->learner_values, map);
    if (st == KREIN_OK) st = krein__map_check(map, features, NULL);
    if (st == KREIN_OK) *dual = map->cls->traits & KREIN_MAP_DUAL;
    krein__map_destroy(map);
    return st;
}

/* A learner on several kernels: its base takes its place, and their sum that of the kernel. */
static krein_status begin_combination(krein_setup *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    char spec[64];
    int64_t which;
    krein_mkl o = krein__mkl_options(&s->learner_values);
    s->several = s->learner;
    s->several_values = s->learner_values;
    memset(&s->learner_values, 0, sizeof s->learner_values);
    s->several->base(&s->several_values, spec, sizeof spec);
    TRY(krein__parse_spec(ctx, spec, "learner", krein__learners, krein__learner_count, &which,
                          &s->learner_values));
    s->learner = (const krein_learner_class *)krein__learners[which];
    if (s->o.kernel) {
        st = krein__fail(ctx, KREIN_EARG,
                         "%s takes its kernels from `kernels` \"k1; k2; ...\", not from `kernel`",
                         s->several->cls.name);
        goto done;
    }
    TRY(krein__combination_begin(ctx, &o, s->o.kernels, s->o.map, s->o.seed, &s->combination));
    for (int64_t i = 0; i < s->combination.list.n; i++)
        TRY(count_free(s, s->combination.list.kernel[i]));
    TRY(krein__combination_kernel(&s->combination, &s->kernel));
done:
    return st;
}

/* The maps that were asked for, one a kernel. From then on the name stands for all of them. */
static krein_status check_maps(krein_setup *s) {
    krein_status st = KREIN_OK;
    const krein_kernel_list *list = s->several ? &s->combination.list : &s->list;
    bool dual = false;
    if (list->n == 0) return check_map(s, s->o.map, s->kernel, s->o.features, &dual);
    for (int64_t i = 0; i < list->n && st == KREIN_OK; i++)
        st = check_map(s, s->several ? krein__combination_spec(&s->combination, i) : s->o.map,
                       list->kernel[i], s->several ? 0 : s->o.features, &dual);
    if (s->several && !(dual && s->combination.specs == 1)) s->o.map = KREIN_MAP_JOINT;
    return st;
}

krein_status krein__setup_begin(krein_ctx *ctx, const krein_train_options *given, bool grouped,
                                krein_setup *s) {
    krein_status st = KREIN_OK;
    int64_t which;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->grouped = grouped;
    TRY(copy_options(ctx, given, &s->o));
    TRY(krein__parse_spec(ctx, s->o.learner ? s->o.learner : "krr", "learner", krein__learners,
                          krein__learner_count, &which, &s->learner_values));
    s->learner = (const krein_learner_class *)krein__learners[which];
    if (s->learner->base)
        TRY(begin_combination(s));
    else if (s->o.kernels)
        TRY(parse_list(s));
    else
        TRY(parse_kernel(s));
    if (s->o.probabilities && !s->learner->probabilities) {
        st = no_probabilities(s);
        goto done;
    }
    if (s->o.unlabeled && !s->learner->unlabelled) {
        st = krein__fail(
            ctx, KREIN_EARG,
            "%s has no use for rows without labels; leave `unlabeled` out, or use `learner=sskrr`",
            s->learner->cls.name);
        goto done;
    }
    /* Rows of one group know too much of each other for leave-one-out. */
    const char *select = s->o.select ? s->o.select : grouped ? "cv" : "loo";
    if (strcmp(select, "none") != 0) {
        TRY(krein__criterion_parse(ctx, select, &s->criterion));
    } else if (s->free > 0) {
        krein__log(ctx, KREIN_LOG_INFO, "`select=none`: free parameters get the median distance");
    }
    if (s->list.n > 0 && !s->criterion.cls) {
        st = krein__fail(ctx, KREIN_EARG,
                         "`select=none` leaves nothing to choose among `kernels` by; give one "
                         "kernel with `kernel`, or a criterion");
        goto done;
    }
    if (s->o.map) {
        TRY(check_maps(s));
    } else if (s->learner->check) {
        TRY(s->learner->check(ctx, &s->learner_values, NULL));
    }
done:
    return st;
}

krein_status krein__setup_task(const krein_setup *s, const krein_encoding *e) {
    const char *name = s->learner->cls.name;
    bool classes = e->task == KREIN_TASK_CLASSIFICATION;
    bool fits = s->learner->tasks & (classes ? KREIN_FOR_CLASSES : KREIN_FOR_NUMBERS);
    if (!fits && s->several)
        return krein__fail(s->ctx, KREIN_EDATA,
                           "%s(base=%s) is for classification and the labels are numbers; use "
                           "base=krr, or `task=classification`",
                           s->several->cls.name, name);
    if (!fits)
        return krein__fail(s->ctx, KREIN_EDATA,
                           classes
                               ? "%s is for regression and the labels are classes; use another "
                                 "learner, or `task=regression`"
                               : "%s is for classification and the labels are numbers; use another "
                                 "learner, or `task=classification`",
                           name);
    if (s->criterion.cls && (s->free > 0 || s->list.n > 0)) {
        krein_status st = krein__criterion_check(s->ctx, &s->criterion, e->task, true);
        if (st != KREIN_OK) return st;
    }
    if (s->o.probabilities && !classes)
        return krein__fail(s->ctx, KREIN_EARG,
                           "`probabilities` are for classes and the labels are numbers");
    return KREIN_OK;
}

static krein_status no_checkpoint(const krein_setup *s) {
    char others[256] = "";
    for (int64_t i = 0; i < krein__learner_count; i++) {
        const krein_learner_class *l = (const krein_learner_class *)krein__learners[i];
        size_t used = strlen(others);
        if (l->checkpoint)
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", l->cls.name);
    }
    return krein__fail(s->ctx, KREIN_EARG,
                       "`checkpoint`: %s keeps no state to go on from; learners that do: %s",
                       s->several ? s->several->cls.name : s->learner->cls.name, others);
}

/* By the user's own map: that of a checkpoint always says how many features it has. */
static krein_status was_asked(const krein_setup *s, bool *out) {
    krein_map *map = NULL;
    *out = s->o.features > 0;
    if (*out || !s->o.map) return KREIN_OK;
    krein_status st = krein__map_create(s->ctx, s->o.map, s->kernel, 0, s->o.seed, &map);
    if (st == KREIN_OK) *out = krein__setup_asked(s, map);
    krein__map_destroy(map);
    return st;
}

krein_status krein__setup_checkpoint(krein_setup *s, krein_data *data, krein_checkpoint **out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_train_options o = s->o;
    bool asked;
    *out = NULL;
    if (s->several || !s->learner->checkpoint) return no_checkpoint(s);
    TRY(krein__checkpoint_open(ctx, &o, data, out));
    o.kernel = krein__checkpoint_kernel(*out);
    o.map = krein__checkpoint_map(*out);
    if (!o.kernel || !o.map) goto done;
    o.kernels = NULL;
    o.features = 0;
    TRY(was_asked(s, &asked));
    krein__setup_clear(s);
    st = krein__setup_begin(ctx, &o, data->options.group != NULL, s);
    s->recalled = true;
    s->asked = asked;
done:
    return st;
}
