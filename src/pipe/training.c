/* training.c -- options and specs of a training: parsed and checked before any row is read; then
 * the first pass over the data. */
#include "pipe/training.h"

#include "combine/mkl.h"

#include <stdio.h>
#include <string.h>

void krein_train_options_init_sized(krein_train_options *given, size_t size) {
    krein_train_options own = KREIN_SIZED(krein_train_options), *o = &own;
    o->lambda = -1;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

static krein_status copy_options(krein_ctx *ctx, const krein_train_options *given,
                                 krein_train_options *o) {
    krein_status st = KREIN_OK;
    krein_train_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_train_options"));
    TRY(krein__limit_check(ctx, "holdout", o->holdout));
    if (!(o->lambda < 0)) TRY(krein__limit_check(ctx, "lambda", o->lambda));
    if (o->holdout > 0 && o->test)
        return krein__fail(ctx, KREIN_EARG, "give `test` or `holdout`, not both");
done:
    return st;
}

void krein__training_end(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    if (!ctx) return;
    krein__unlabelled_close(&t->pipe.job.unlabelled);
    krein__tuning_end(t);
    krein__reserve_clear(t);
    krein__pipe_end(&t->pipe);
    krein__kernels_clear(ctx, &t->list);
    krein__combination_end(&t->combination);
    krein__weighing_clear(ctx, &t->weighing);
    krein__values_clear(ctx, &t->values);
    krein__free(ctx, t->own_map);
    krein__criterion_clear(ctx, &t->criterion);
}

/* ---- the learner -------------------------------------------------------- */

/* Names of the learners that have a trait. */
typedef bool trait(const krein_learner_class *l);
static bool has_checkpoint(const krein_learner_class *l) { return l->checkpoint; }
static bool has_labels(const krein_learner_class *l) { return l->tasks & KREIN_FOR_LABELS; }
static bool has_unlabelled(const krein_learner_class *l) { return l->unlabelled; }
static bool has_graph(const krein_learner_class *l) { return l->graph; }
static bool has_path(const krein_learner_class *l) { return l->path; }

typedef struct names {
    char text[256];
} names;
static names those_that(trait *has) {
    names out = {""};
    for (int64_t i = 0; i < krein__learner_count; i++) {
        const krein_learner_class *l = (const krein_learner_class *)krein__learners[i];
        size_t used = strlen(out.text);
        if (has(l))
            snprintf(out.text + used, sizeof out.text - used, "%s%s", used ? ", " : "",
                     l->cls.name);
    }
    return out;
}

/* The spec may stand for another learner and a weighing of kernels (mkl). */
krein_status krein__learner_parse(krein_ctx *ctx, const char *spec, const krein_learner_class **out,
                                  krein_values *values, krein_weighing *weighing) {
    krein_status st = KREIN_OK;
    char name[64], *learner = NULL, *of_kernels = NULL;
    krein_cursor c = {spec, spec, "learner"}, start = c;
    int64_t which;
    TRY(krein__spec_name(ctx, &c, name, sizeof name));
    TRY(krein__find_class(ctx, &start, name, krein__learners, krein__learner_count, &which));
    const krein_learner_class *l = (const krein_learner_class *)krein__learners[which];
    if (l->expand) {
        TRY(l->expand(ctx, spec, &learner, &of_kernels));
        TRY(krein__weighing_parse(ctx, of_kernels, weighing));
        spec = learner;
    }
    TRY(krein__parse_spec(ctx, spec, "learner", krein__learners, krein__learner_count, &which,
                          values));
    *out = (const krein_learner_class *)krein__learners[which];
done:
    krein__free(ctx, learner);
    krein__free(ctx, of_kernels);
    return st;
}

/* Subspaces of parameters. */
static krein_status check_path(const krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    const krein_train_options *o = &t->o;
    if (!o->subspace && !o->record) return KREIN_OK;
    if (t->weighing.cls || !t->learner->path)
        return krein__fail(
            ctx, KREIN_EARG, "%s trains no network; leave `%s` out; learners that do: %s",
            t->learner->cls.name, o->subspace ? "subspace" : "record", those_that(has_path).text);
    if (o->record && o->checkpoint)
        return krein__fail(
            ctx, KREIN_EARG,
            "the path of a training is not in its `checkpoint`; leave one of the two "
            "out");
    if (o->record_dimensions != 0)
        TRY(krein__limit_check(ctx, "dimensions", (double)o->record_dimensions));
    if (o->record_every != 0) TRY(krein__limit_check(ctx, "every", (double)o->record_every));
    if (o->record_epochs != 0) TRY(krein__limit_check(ctx, "epochs", (double)o->record_epochs));
done:
    return st;
}

static krein_status check_learner(const krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    const krein_learner_class *l = t->learner;
    if (t->o.unlabeled && !l->unlabelled)
        return krein__fail(ctx, KREIN_EARG,
                           "%s has no use for rows without labels; leave `unlabeled` out; learners "
                           "that learn from them: %s",
                           l->cls.name, those_that(has_unlabelled).text);
    if (t->o.graph_file && !l->graph)
        return krein__fail(ctx, KREIN_EARG,
                           "%s makes no graph of the rows; leave `graph_file` out; learners that "
                           "do: %s",
                           l->cls.name, those_that(has_graph).text);
    if (t->o.checkpoint && (t->weighing.cls || !l->checkpoint))
        return krein__fail(ctx, KREIN_EARG,
                           "`checkpoint`: %s keeps no state to go on from; learners that do: %s",
                           t->weighing.cls ? krein__learner_mkl.cls.name : l->cls.name,
                           those_that(has_checkpoint).text);
    return check_path(t);
}

/* ---- kernels ------------------------------------------------------------ */

/* The most free parameters that a search will have. */
static krein_status count_free(krein_training *t, krein_kernel *kernel) {
    int64_t free = krein__kernel_free(kernel, -1, NULL, NULL);
    t->free = krein__max(t->free, free);
    if (free <= 2) return KREIN_OK;
    return krein__fail(t->pipe.ctx, KREIN_ESPEC,
                       "the kernel has %lld free parameters; at most two can be selected: give "
                       "values to the others",
                       (long long)free);
}

/* Kernels of which one is taken: the first stands for them until the best is known. */
static krein_status parse_list(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    if (t->o.kernel) return krein__fail(ctx, KREIN_EARG, "give `kernel` or `kernels`, not both");
    TRY(krein__kernels_parse(ctx, t->o.kernels, &t->list));
    for (int64_t i = 0; i < t->list.n; i++) TRY(count_free(t, t->list.kernel[i]));
    TRY(krein__kernel_copy(ctx, t->list.kernel[0], &t->pipe.kernel));
done:
    return st;
}

/* Several kernels: their sum takes the place of the kernel. */
static krein_status parse_sum(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_combination *c = &t->combination;
    if (t->o.kernel)
        return krein__fail(ctx, KREIN_EARG,
                           "mkl takes its kernels from `kernels` \"k1; k2; ...\", not from "
                           "`kernel`");
    TRY(krein__combination_begin(ctx, &t->weighing, t->o.kernels, t->o.map, t->o.seed, c));
    for (int64_t i = 0; i < c->list.n; i++) TRY(count_free(t, c->list.kernel[i]));
    TRY(krein__combination_kernel(c, &t->pipe.kernel));
done:
    return st;
}

static krein_status parse_kernels(krein_training *t) {
    krein_status st = KREIN_OK;
    if (t->weighing.cls) return parse_sum(t);
    if (t->o.kernels) return parse_list(t);
    const char *kernel = t->o.kernel ? t->o.kernel : t->tuning.first;
    TRY(krein__kernel_parse(t->pipe.ctx, kernel ? kernel : KREIN_KERNEL_DEFAULT, &t->pipe.kernel));
    TRY(count_free(t, t->pipe.kernel));
done:
    return st;
}

/* Rows of one group know too much of each other for leave-one-out. */
static krein_status parse_criterion(krein_training *t, bool grouped) {
    krein_ctx *ctx = t->pipe.ctx;
    const char *spec = t->o.select ? t->o.select : grouped ? "cv" : KREIN_CRITERION_DEFAULT;
    krein_status st = krein__criterion_parse_or_none(ctx, spec, &t->criterion);
    if (st != KREIN_OK || t->criterion.cls) return st;
    if (t->list.n > 0)
        return krein__fail(ctx, KREIN_EARG,
                           "`select=none` leaves nothing to choose among `kernels` by; give one "
                           "kernel with `kernel`, or a criterion");
    if (t->free > 0)
        krein__log(ctx, KREIN_LOG_INFO, "`select=none`: free parameters get the median distance");
    return KREIN_OK;
}

/* ---- maps --------------------------------------------------------------- */

/* The map of several kernels, each with its own: it stands for all of them. */
static const char joint[] = "auto";

static const char *joint_map(const krein_pipe *p, int64_t D) {
    (void)p, (void)D;
    return joint;
}

static krein_status create_joint(const krein_pipe *p, const char *spec, int64_t D,
                                 krein_map **out) {
    const krein_training *t = p->purpose.user;
    const krein_encoding *e = &p->job.model->encoding;
    if (spec != joint) return krein__map_create(p->ctx, spec, p->kernel, D, p->o.seed, out);
    return krein__combination_map(&t->combination, D > 0 ? D : krein__training_features(p), e->d,
                                  e->sparse, p->o.seed, out);
}

/* A learner that has a map of its own gets it as if it had been asked for; the number of features
 * is that of other features. */
static krein_status take_own_map(krein_training *t) {
    if (!t->learner->map || t->o.map) return KREIN_OK;
    if (!(t->own_map = t->learner->map(t->pipe.ctx, &t->values))) return t->pipe.ctx->status;
    t->o.map = t->pipe.o.map = t->own_map;
    return KREIN_OK;
}

/* features: that the user wants of this map alone; 0: none are named. */
static krein_status check_map(const krein_training *t, const char *spec, const krein_kernel *kernel,
                              int64_t features, bool *dual) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    TRY(krein__map_create(ctx, spec, kernel, features, t->o.seed, &map));
    if (t->learner->check) TRY(t->learner->check(ctx, &t->values, map));
    TRY(krein__map_check(map, features, NULL));
    *dual = map->cls->traits & KREIN_MAP_DUAL;
done:
    krein__map_destroy(map);
    return st;
}

/* The maps that were asked for, one a kernel. */
static krein_status check_maps(krein_training *t) {
    krein_status st = KREIN_OK;
    bool sum = t->weighing.cls != NULL, dual = false;
    const krein_kernel_list *list = sum ? &t->combination.list : &t->list;
    if (!t->o.map) return t->learner->check ? t->learner->check(t->pipe.ctx, &t->values, NULL) : st;
    if (list->n == 0) return check_map(t, t->o.map, t->pipe.kernel, t->o.features, &dual);
    for (int64_t i = 0; i < list->n && st == KREIN_OK; i++)
        st = check_map(t, sum ? krein__combination_spec(&t->combination, i) : t->o.map,
                       list->kernel[i], sum ? 0 : t->o.features, &dual);
    if (sum && !(dual && t->combination.specs == 1)) t->pipe.o.map = joint;
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

krein_status krein__training_begin(krein_ctx *ctx, const krein_train_options *given, bool grouped,
                                   krein_training *t) {
    krein_status st = KREIN_OK;
    memset(t, 0, sizeof *t);
    t->pipe.ctx = ctx;
    t->grouped = grouped;
    TRY(copy_options(ctx, given, &t->o));
    krein_pipe_options o = {
        .map = t->o.map, .features = t->o.features, .seed = t->o.seed, .max_exact = t->o.max_exact};
    krein_purpose purpose = krein__training_purpose(t);
    TRY(krein__pipe_begin_with(ctx, &o, &purpose, NULL, &t->pipe));
    TRY(krein__learner_parse(ctx, t->o.learner ? t->o.learner : KREIN_LEARNER_DEFAULT, &t->learner,
                             &t->values, &t->weighing));
    TRY(take_own_map(t));
    if (!t->o.kernels && !t->weighing.cls) TRY(krein__map_kernel(ctx, t->o.map, &t->o.kernel));
    TRY(krein__tuning_begin(t));
    t->pipe.purpose.matrix = t->learner->matrix;
    if (t->learner->map) t->pipe.purpose.features = NULL;
    if (t->weighing.cls) {
        t->pipe.purpose.map = joint_map;
        t->pipe.purpose.create = create_joint;
    }
    TRY(parse_kernels(t));
    TRY(check_learner(t));
    TRY(parse_criterion(t, grouped));
    TRY(check_maps(t));
    t->pipe.job.lambda = t->o.lambda;
    t->pipe.job.probabilities = t->o.probabilities;
    t->pipe.job.uncertainty = t->o.uncertainty;
    t->pipe.job.folds = krein__training_folds(t);
    t->pipe.job.graph_file = t->o.graph_file;
    t->pipe.job.path = (krein_job_path){.subspace = t->o.subspace,
                                        .start = t->o.subspace_start != 0,
                                        .record = t->o.record,
                                        .dimensions = t->o.record_dimensions,
                                        .every = t->o.record_every,
                                        .epochs = t->o.record_epochs};
done:
    return st;
}

char *krein__training_learner(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    if (t->weighing.cls) return krein__mkl_text(ctx, &t->learner->cls, &t->values, &t->weighing);
    return krein__spec_text(ctx, &t->learner->cls, &t->values);
}

/* ---- data --------------------------------------------------------------- */

/* What the learner does not do with the labels that there are. */
static krein_status check_task(const krein_training *t, const krein_encoding *e) {
    krein_ctx *ctx = t->pipe.ctx;
    const char *name = t->learner->cls.name;
    bool classes = e->task == KREIN_TASK_CLASSIFICATION, labels = e->task == KREIN_TASK_MULTILABEL;
    bool fits = t->learner->tasks & (labels    ? KREIN_FOR_LABELS
                                     : classes ? KREIN_FOR_CLASSES
                                               : KREIN_FOR_NUMBERS);
    if (!fits && labels)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s cannot learn several labels a row; learners that can: %s", name,
                           those_that(has_labels).text);
    if (!fits && t->weighing.cls)
        return krein__fail(ctx, KREIN_EDATA,
                           "mkl(base=%s) is for classification and the labels are numbers; use "
                           "base=krr, or `task=classification`",
                           name);
    if (!fits)
        return krein__fail(ctx, KREIN_EDATA,
                           classes ? "%s is for regression and the labels are classes; use another "
                                     "learner, or `task=regression`"
                                   : "%s is for classification and the labels are numbers; use "
                                     "another learner, or `task=classification`",
                           name);
    if (t->criterion.cls && (t->free > 0 || t->list.n > 0)) {
        krein_status st = krein__criterion_check(ctx, &t->criterion, e->task, true);
        if (st != KREIN_OK) return st;
    }
    if (t->o.probabilities && !classes && !labels)
        return krein__fail(ctx, KREIN_EARG,
                           "`probabilities` are for classes and the labels are numbers");
    if (t->o.uncertainty && labels)
        return krein__fail(ctx, KREIN_EARG,
                           "`uncertainty` is for numbers and classes, and the rows have sets of "
                           "labels; they have `probabilities`");
    return KREIN_OK;
}

/* Numbers have intervals from rows left out one by one where the learner is ridge regression on a
 * positive definite kernel, and rows do not know each other as those of a group do. */
static bool leaves_out(const krein_training *t) {
    bool positive = krein__kernel_positive(t->pipe.kernel);
    for (int64_t i = 0; i < t->list.n; i++)
        positive = positive && krein__kernel_positive(t->list.kernel[i]);
    return t->learner->posterior && positive && !t->grouped;
}

/* Labels of which rows are kept from the training (conformal.h), as krein_data.calibrate: what the
 * learner does not make itself is made of these. */
static int kept_apart(const krein_training *t) {
    const krein_learner_class *l = t->learner;
    bool unlikely = t->o.probabilities && !l->probabilities, unsure = t->o.uncertainty;
    int out = unlikely ? 1 << KREIN_TASK_MULTILABEL : 0;
    if (unlikely || (unsure && !l->held_out)) out |= 1 << KREIN_TASK_CLASSIFICATION;
    if (unsure && !leaves_out(t)) out |= 1 << KREIN_TASK_REGRESSION;
    return out;
}

static krein_status scan(krein_training *t, krein_data *data, krein_checkpoint *c, bool plan) {
    krein_status st = KREIN_OK;
    krein_encoding *e = &t->pipe.job.model->encoding;
    data->unlabelled = t->learner->unlabelled;
    data->calibrate = plan ? 0 : kept_apart(t);
    data->once = plan; /* held-out rows are counted, not drawn: one pass is enough */
    if (plan) return krein__data_scan(data, KREIN_LABELS_WANTED, 0, t->o.seed, e);
    if (krein__checkpoint_has_encoding(c)) return krein__checkpoint_recall(c, data, e);
    data->share_rows = true;
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, t->o.holdout, t->o.seed, e));
    /* Folds of the target's means are not in a checkpoint. */
    bool repeatable = t->o.holdout == 0 && !data->calibrate && !krein__encoding_folds(e);
    if (c) TRY(krein__checkpoint_scanned(c, data, e, repeatable));
done:
    return st;
}

/* What was chosen with kernel and map, and is not chosen again. */
static krein_status take_choice(krein_training *t, krein_checkpoint *c) {
    krein_choice choice = {.e = &t->pipe.job.model->encoding};
    krein_status st = krein__checkpoint_chose(c, &choice);
    t->pipe.job.lambda_start = choice.lambda_start;
    t->tuning.tuned.tries = choice.tries;
    return st;
}

/* Rows kept from the training take the place of what the learner would keep. */
static void keep_apart(krein_training *t, bool plan) {
    krein_job *job = &t->pipe.job;
    int64_t n = job->n;
    t->apart = job->data->count[KREIN_PART_CALIBRATE];
    if (plan && kept_apart(t) >> job->model->encoding.task & 1) {
        t->apart = krein__calibration_rows(n);
        job->n -= t->apart;
    }
    if (t->apart == 0) return;
    job->uncertainty = false;
    if (!plan)
        krein__log(t->pipe.ctx, KREIN_LOG_INFO,
                   "%lld of %lld rows are kept from the training, to know how sure the model is",
                   (long long)t->apart, (long long)(n + t->apart));
}

krein_status krein__training_scan(krein_training *t, krein_data *data, krein_checkpoint *c,
                                  bool plan) {
    krein_status st = KREIN_OK;
    krein_job *job = &t->pipe.job;
    krein_model *m = job->model;
    job->data = data;
    job->checkpoint = c;
    TRY(scan(t, data, c, plan));
    TRY(check_task(t, &m->encoding));
    if (t->o.uncertainty && m->encoding.task == KREIN_TASK_CLASSIFICATION)
        job->probabilities = true;
    job->probabilities = job->probabilities && t->learner->probabilities;
    m->head = t->learner->head ? t->learner->head(&t->values, &m->encoding)
                               : krein__task_head(m->encoding.task);
    m->k = krein__head_scores(m->head, &m->encoding);
    if (m->head == KREIN_HEAD_LABELS) job->probabilities = t->learner->probabilities;
    job->n = data->count[KREIN_PART_TRAIN];
    if (plan) job->n -= (int64_t)rint(t->o.holdout * (double)job->n);
    keep_apart(t, plan);
    m->n = job->n;
    krein__tuning_clip(t);
    if (t->recalled) TRY(take_choice(t, c));
    if (!plan) TRY(krein__stream_open(data, &m->encoding, KREIN_PART_TRAIN, &job->rows));
    TRY(krein__training_unlabelled(t));
    t->pipe.rows = job->n + job->unlabelled.n;
    if (plan) /* train would keep the rows in memory where they are few */
        data->in_memory = data->in_memory || (data->reader->in_bytes ? 1.0 : 4.0) * (double)job->n *
                                                     (double)m->encoding.d <
                                                 (double)t->pipe.ctx->budget / 3;
done:
    return st;
}

/* ---- checkpoints -------------------------------------------------------- */

/* By the user's own map: that of a checkpoint always says how many features it has. */
static krein_status was_asked(const krein_training *t, bool *out) {
    krein_map *map = NULL;
    krein_status st = krein__pipe_asked_map(&t->pipe, &map);
    *out = t->o.features > 0;
    if (st == KREIN_OK && map) *out = krein__pipe_asked(&t->pipe, map);
    krein__map_destroy(map);
    return st;
}

krein_status krein__training_checkpoint(krein_training *t, krein_data *data,
                                        krein_checkpoint **out) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_train_options o = t->o;
    bool asked;
    *out = NULL;
    TRY(krein__checkpoint_open(ctx, &o, data, out));
    o.kernel = krein__checkpoint_kernel(*out);
    o.map = krein__checkpoint_map(*out);
    if (!o.kernel || !o.map) goto done;
    o.kernels = NULL;
    o.features = 0;
    TRY(was_asked(t, &asked));
    krein__training_end(t);
    TRY(krein__training_begin(ctx, &o, data->options.group != NULL, t));
    t->recalled = true;
    t->asked = asked;
    krein__tuning_recalled(t);
done:
    return st;
}
