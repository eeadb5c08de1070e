/* tuning.c -- the default of a training: kernel and metric by held-out error (select/tune.h), clip,
 * and what the options say about them.
 *
 *     no kernel given    the kernels of KERNELS compete, with a learned metric
 *     a kernel given     no metric, no clip, unless asked for; a metric is learned before the
 *                        kernel's own parameters are chosen
 *     metric=file=MODEL  logarithms, scaling, clip and factors of another model: with its kernel,
 *                        map and lambda the same model again
 */
#include "pipe/training.h"

#include "kernel/inputs.h"
#include "stream/together.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char KERNELS[] = "exponential; laplacian; gaussian";
static const double CLIP = 8;

/* A criterion of the user's own, and rows in groups, score the same kernels in another way: by the
 * list. */
static bool own_criterion(const krein_training *t) { return t->o.select || t->grouped; }

bool krein__training_tunes(const krein_training *t) { return t->tuning.kernel; }

const char *krein__training_candidates(const krein_training *t) {
    return t->tuning.kernel ? t->tuning.kernels : t->list.n > 0 ? t->o.kernels : NULL;
}

static krein_status open_metric(krein_training *t, const char *path) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = krein_model_load(ctx, path, &t->tuning.from);
    return st == KREIN_OK ? st : krein__prefix(ctx, st, "`metric=file`: ");
}

/* A copy, which lives as long as the training. */
static krein_status copy_metric(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    char *bytes = NULL;
    int64_t size;
    TRY(krein_model_save_memory(ctx, t->o.metric_from, NULL, 0, &size));
    NEW(bytes, size);
    TRY(krein_model_save_memory(ctx, t->o.metric_from, bytes, size, &size));
    TRY(krein_model_load_memory(ctx, bytes, size, &t->tuning.from));
done:
    krein__free(ctx, bytes);
    return st;
}

static krein_status parse_metric(krein_training *t, bool given) {
    static const char file[] = "file=";
    static const struct {
        const char *word;
        krein_metric_kind kind;
        bool automatic; /* only where no kernel is given; the kind is what `effort` pays for */
    } words[] = {{"none", KREIN_METRIC_NONE, false},
                 {"diagonal", KREIN_METRIC_DIAGONAL, false},
                 {"full", KREIN_METRIC_FULL, false},
                 {"auto", KREIN_METRIC_NONE, true}};
    const char *text = t->o.metric ? t->o.metric : "auto";
    if (t->o.metric_from && t->o.metric)
        return krein__fail(t->pipe.ctx, KREIN_EARG, "give `metric` or `metric_from`, not both");
    if (t->o.metric_from) return copy_metric(t);
    if (!strncmp(text, file, sizeof file - 1)) return open_metric(t, text + sizeof file - 1);
    for (int64_t i = 0; i < KREIN__COUNT(words); i++) {
        if (strcmp(text, words[i].word) != 0) continue;
        t->tuning.metric = words[i].kind;
        t->tuning.asked = words[i].kind != KREIN_METRIC_NONE;
        if (words[i].automatic && !given)
            t->tuning.metric = t->o.effort >= 2 ? KREIN_METRIC_FULL : KREIN_METRIC_DIAGONAL;
        return KREIN_OK;
    }
    return krein__fail(t->pipe.ctx, KREIN_EARG,
                       "`metric` takes none, diagonal, full, auto or file=MODEL, not \"%.40s\"",
                       text);
}

static const char *tuned_map(const krein_pipe *p, int64_t D) {
    const krein_training *t = p->purpose.user;
    (void)D;
    return t->tuning.map ? t->tuning.map : "nystrom";
}

/* Landmarks: fewer where the error hardly falls with the rows, more with the effort; never more
 * than half of the rows. */
static int64_t tuned_features(const krein_pipe *p) {
    static const double FLAT = 0.05, MOST = 16384;
    const krein_training *t = p->purpose.user;
    double D = t->tuning.tuned.decay < FLAT ? KREIN_FEATURES_TRAIN / 2 : KREIN_FEATURES_TRAIN;
    D = fmin(MOST, rint(D * sqrt(t->o.effort)));
    return krein__max(1, krein__min((int64_t)D, p->rows / 2));
}

/* Whether the learner iterates on a large matrix by itself, which is soon made: a factorisation is
 * too slow for as many rows, and so are kernel values of sparse ones. With less effort than usual
 * it is not to take as long, either. */
static bool iterates(const krein_training *t) {
    int64_t slot = krein__option_index(&t->learner->cls, "solver");
    bool given = slot >= 0 && t->values.given[slot];
    return !given && t->o.lambda != 0 && t->o.effort >= 1 && !t->pipe.job.model->encoding.sparse &&
           krein__processes(t->pipe.ctx) == 1;
}

static double most_exact(const krein_training *t) {
    double few = t->learner->few > 0 ? (double)t->learner->few : KREIN_EXACT_ROWS;
    double least, most;
    if (!iterates(t)) few = fmin(few, KREIN_EXACT_FACTORED);
    krein_limit("max_exact", &least, &most);
    return fmin(most, few * sqrt(t->o.effort));
}

/* Rows of a kernel matrix: a step of conjugate gradients takes their square times the targets. Few
 * targets take little longer than reading the matrix (AVX-512); many of them fewer rows, but not
 * much fewer than a matrix that stays in reach of a factorisation. */
static int64_t tuned_few(const krein_pipe *p) {
    static const double FEW = 8, MANY = 32;
    const krein_training *t = p->purpose.user;
    double k = (double)krein__scored_targets(&p->job), most = most_exact(t);
    double less = fmin(most, KREIN_EXACT_FACTORED * sqrt(t->o.effort));
    return (int64_t)fmax(most * fmin(1, sqrt(FEW / k)), less * fmin(1, sqrt(MANY / k)));
}

/* The map that suits a kernel and a lambda that are known: the kernel matrix for more rows than
 * otherwise, by conjugate gradients, unless the user has set a limit. */
static void set_map(krein_training *t) {
    krein_pipe *p = &t->pipe;
    int64_t few = (int64_t)most_exact(t);
    p->purpose.map = tuned_map;
    p->purpose.features = tuned_features;
    p->purpose.few = tuned_few;
    if (p->o.max_exact == KREIN_MAX_EXACT) p->o.max_exact = krein__max(p->o.max_exact, few);
}

/* A map that was asked for cannot take every kernel: those that it can. Where there is none the
 * map is refused with the default kernel. */
static krein_status set_kernels(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_kernel_list list = {0};
    krein_kernel *leaf;
    char *text = t->tuning.kernels;
    int64_t slot;
    size_t used = 0, size = sizeof t->tuning.kernels;
    TRY(krein__kernels_parse(ctx, KERNELS, &list));
    for (int64_t i = 0; i < list.n && t->o.map; i++) {
        krein_map *map = NULL;
        st = krein__map_create(ctx, t->o.map, list.kernel[i], t->o.features, t->o.seed, &map);
        krein__map_destroy(map);
        if (st == KREIN_ESPEC) {
            ctx->status = st = KREIN_OK;
            ctx->message[0] = 0;
            continue;
        }
        TRY(st);
        krein__kernel_free(list.kernel[i], 0, &leaf, &slot);
        if (used == 0) t->tuning.first = leaf->kernel->cls.name;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "",
                                 leaf->kernel->cls.name);
    }
    if (used == 0) snprintf(text, size, "%s", KERNELS);
done:
    krein__kernels_clear(ctx, &list);
    return st;
}

krein_status krein__tuning_begin(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    bool given = t->o.kernel || t->o.kernels || t->weighing.cls || t->recalled;
    if (t->o.effort == 0) t->o.effort = 1;
    if (!(t->o.effort >= 0.01 && t->o.effort <= 100))
        return krein__fail(ctx, KREIN_EARG, "`effort` takes a number from 0.01 to 100");
    if (t->o.clip < 0 || isnan(t->o.clip))
        return krein__fail(ctx, KREIN_EARG, "`clip` takes a number above 0, or none");
    TRY(parse_metric(t, given));
    t->tuning.kernel = !given && !own_criterion(t);
    t->tuning.tuned.decay = NAN;
    if (!given) TRY(set_kernels(t));
    if (t->tuning.kernel) set_map(t);
    if (!given && own_criterion(t)) t->o.kernels = t->tuning.kernels;
    t->tuning.clip = t->o.clip > 0 ? t->o.clip : given || !t->tuning.kernel ? INFINITY : CLIP;
done:
    return st;
}

void krein__tuning_end(krein_training *t) {
    krein__tuned_clear(t->pipe.ctx, &t->tuning.tuned);
    krein_model_destroy(t->tuning.from);
    t->tuning.from = NULL;
}

void krein__tuning_recalled(krein_training *t) {
    krein_model_destroy(t->tuning.from);
    t->tuning.from = NULL;
    t->tuning.asked = t->tuning.kernel = false;
    /* The kernel matrix may be larger where no kernel was given, as it was then. */
    t->pipe.o.max_exact = krein__max(t->pipe.o.max_exact, (int64_t)most_exact(t));
}

/* Where the kernel is chosen the clip comes with that. */
void krein__tuning_clip(const krein_training *t) {
    krein_encoding *e = &t->pipe.job.model->encoding;
    if (!t->tuning.kernel && !e->sparse && isfinite(t->tuning.clip))
        e->clip = (float)t->tuning.clip;
}

/* ---- what it takes ------------------------------------------------------ */

/* The choice must not depend on the number of threads: effort gives way to what one thread needs,
 * then threads to what is left. */
krein_tuning_cost krein__tuning_cost(const krein_training *t, double room) {
    static const double LEAST = 0.01;
    const krein_model *m = t->pipe.job.model;
    krein_tuning_cost c = {.effort = t->o.effort, .threads = 1};
    int64_t n = t->pipe.job.n, d = m->encoding.d, k = krein__scored_targets(&t->pipe.job);
    if (!t->tuning.kernel && (t->tuning.from || !t->tuning.asked)) return (krein_tuning_cost){0};
    while (c.effort > LEAST && krein__tune_bytes(n, d, k, c.effort, 1) > room)
        c.effort = fmax(c.effort / 2, LEAST);
    while (c.threads < t->pipe.ctx->threads &&
           krein__tune_bytes(n, d, k, c.effort, c.threads + 1) <= room)
        c.threads++;
    c.bytes = krein__tune_bytes(n, d, k, c.effort, c.threads);
    c.flops = krein__tune_flops(n, d, k, c.effort);
    return c;
}

/* ---- with data ---------------------------------------------------------- */

static krein_status set_metric(krein_training *t, krein_metric_kind kind, const double *factor) {
    krein_encoding *e = &t->pipe.job.model->encoding;
    return kind == KREIN_METRIC_FULL ? krein__encoding_set_matrix(t->pipe.ctx, e, factor)
                                     : krein__encoding_set_metric(t->pipe.ctx, e, factor);
}

/* Centres, and the numbers for missing cells, lie behind a shift, the first number of a column,
 * which is another one in other data. */
static void take_centres(const krein_model *from, krein_encoding *to) {
    memcpy(to->centre, from->encoding.centre, (size_t)to->d * sizeof *to->centre);
    memcpy(to->fill, from->encoding.fill, (size_t)to->d * sizeof *to->fill);
    for (int64_t i = 0; i < to->ninput; i++) {
        const krein_input *in = &to->input[i];
        if (in->at < 0 || in->text) continue;
        int64_t j = in->at + krein__input_values(in) - 1;
        double more = (from->shift ? from->shift[j] : 0) - in->shift;
        to->fill[j] = (float)((double)to->fill[j] + more);
        if (to->log && to->log[j] > 0) continue; /* no shift */
        to->centre[j] = (float)((double)to->centre[j] + more);
    }
}

/* Logarithms, scaling, clip and factors of another model, whose encoded columns must be the same.
 */
static krein_status take_metric(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    double *factor = NULL;
    const krein_encoding *from = &t->tuning.from->encoding;
    krein_encoding *to = &t->pipe.job.model->encoding;
    int64_t d = to->d;
    if (from->d != d || from->scale != to->scale || from->sparse != to->sparse)
        return krein__fail(ctx, KREIN_EDATA,
                           "`metric=file`: the model has %lld encoded inputs, scale=%s, and the "
                           "data %lld, scale=%s; train on the columns of that model",
                           (long long)from->d, krein__scale_name(from->scale), (long long)d,
                           krein__scale_name(to->scale));
    if (from->log && !to->log) NEW(to->log, d);
    if (from->log) memcpy(to->log, from->log, (size_t)d * sizeof *to->log);
    memcpy(to->factor, from->factor, (size_t)d * sizeof *to->factor);
    take_centres(t->tuning.from, to);
    if (t->o.clip == 0) to->clip = from->clip;
    const float *values = from->matrix ? from->matrix : from->metric;
    if (!values) goto done;
    int64_t size = from->matrix ? d * d : d;
    NEW(factor, size);
    for (int64_t j = 0; j < size; j++) factor[j] = (double)values[j];
    TRY(set_metric(t, from->matrix ? KREIN_METRIC_FULL : KREIN_METRIC_DIAGONAL, factor));
done:
    krein__free(ctx, factor);
    return st;
}

/* An array of the first process for all; the others make room for it. bytes 0: there is none. */
static krein_status share_array(krein_training *t, void **array, int64_t bytes) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    TRY(krein__stream_from_root(t->pipe.job.rows, &bytes, sizeof bytes));
    char *copy = NULL;
    if (bytes > 0) NEW(copy, bytes);
    if (*array && copy) memcpy(copy, *array, (size_t)bytes);
    krein__free(ctx, *array);
    *array = copy;
    if (bytes > 0) TRY(krein__stream_from_root(t->pipe.job.rows, copy, bytes));
done:
    return st;
}

/* What the first process found, for all: processors differ, and with them rounding. */
static krein_status agree(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_tuned *tuned = &t->tuning.tuned;
    krein_encoding *e = &t->pipe.job.model->encoding;
    double number[] = {tuned->lambda, tuned->decay, (double)tuned->metric, (double)e->clip};
    int64_t d = e->d, size = !tuned->factor ? 0 : tuned->metric == KREIN_METRIC_FULL ? d * d : d;
    char *text = NULL;
    void *factor = tuned->factor, *log = e->log, *kernel = NULL;
    if (krein__processes(ctx) == 1) return KREIN_OK;
    if (!(text = krein__kernel_text(ctx, tuned->kernel))) return ctx->status;
    kernel = text;
    tuned->factor = NULL;
    e->log = NULL;
    TRY(krein__stream_from_root(t->pipe.job.rows, number, sizeof number));
    TRY(krein__stream_from_root(t->pipe.job.rows, e->centre, d * (int64_t)sizeof *e->centre));
    TRY(krein__stream_from_root(t->pipe.job.rows, e->factor, d * (int64_t)sizeof *e->factor));
    TRY(krein__stream_from_root(t->pipe.job.rows, e->fill, d * (int64_t)sizeof *e->fill));
    TRY(share_array(t, &factor, size * (int64_t)sizeof *tuned->factor));
    TRY(share_array(t, &log, log ? d * (int64_t)sizeof *e->log : 0));
    TRY(share_array(t, &kernel, (int64_t)strlen(text) + 1));
    tuned->lambda = number[0];
    tuned->decay = number[1];
    tuned->metric = (krein_metric_kind)number[2];
    e->clip = (float)number[3];
    krein__kernel_destroy(ctx, tuned->kernel);
    tuned->kernel = NULL;
    TRY(krein__kernel_parse(ctx, kernel, &tuned->kernel));
done:
    tuned->factor = factor;
    e->log = log;
    krein__free(ctx, kernel);
    return st;
}

/* All processes choose alike, on the least room. */
static krein_status fit_in_memory(krein_training *t, krein_tuning_cost *cost) {
    krein_ctx *ctx = t->pipe.ctx;
    double held = (double)atomic_load(&ctx->held);
    krein_status st = krein__stream_most(t->pipe.job.rows, 1, &held);
    if (st != KREIN_OK) return st;
    *cost = krein__tuning_cost(t, (double)ctx->budget - held);
    st = krein__reserve_check(ctx, cost->bytes, "choosing the kernel",
                              "give it, as in `kernel` \"gaussian(sigma=...)\", or raise "
                              "`max_memory`");
    if (st != KREIN_OK) return st;
    if (cost->effort < t->o.effort)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "memory is short: the choice is made on fewer rows, `effort=%.2g`",
                   cost->effort);
    return KREIN_OK;
}

/* Another learner than the one that was begun with: its head and its scores. */
static krein_status set_learner(krein_training *t, const char *spec) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_model *m = t->pipe.job.model;
    krein_weighing none = {0};
    krein__values_clear(ctx, &t->values);
    krein_status st = krein__learner_parse(ctx, spec, &t->learner, &t->values, &none);
    if (st != KREIN_OK) return st;
    t->pipe.purpose.matrix = t->learner->matrix;
    m->head = t->learner->head ? t->learner->head(&t->values, &m->encoding)
                               : krein__task_head(m->encoding.task);
    m->k = krein__head_scores(m->head, &m->encoding);
    return KREIN_OK;
}

/* Support vector machines on the kernel matrix, where they were far better. Weights had the mean
 * one in the choice; a learner's C is that of a row of weight one. */
static krein_status take_machines(krein_training *t) {
    char spec[KREIN_SVM_TEXT];
    double weight;
    if (!(t->tuning.tuned.C > 0)) return KREIN_OK;
    krein_status st = krein__job_weight(&t->pipe.job, &weight);
    if (st != KREIN_OK) return st;
    krein__tune_svm_text(t->tuning.tuned.C * (double)t->pipe.job.n / weight, spec);
    t->pipe.job.loo = t->tuning.tuned.error; /* they have no other estimate, and need none */
    t->pipe.job.cv_folds = 1;
    return set_learner(t, spec);
}

/* They may compete where no learner was asked for and the matrix of all rows is small; they do not
 * know how sure they are. */
static bool machines_fit(const krein_training *t) {
    enum { ROWS = 5000 };
    return t->tuning.kernel && !t->o.learner && !t->o.map && t->o.features == 0 &&
           t->o.lambda < 0 && t->pipe.job.n <= ROWS && !t->o.checkpoint &&
           krein__processes(t->pipe.ctx) == 1 && !t->o.uncertainty;
}

/* The user wants columns as they are. */
static bool plain_types(const krein_training *t) {
    return t->pipe.job.data->options.types == KREIN_TYPES_PLAIN;
}

static krein_status tune(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_tuned *tuned = &t->tuning.tuned;
    double seconds = krein__hurry_choice(t);
    int threads = ctx->threads;
    krein_tuning_cost cost;
    TRY(fit_in_memory(t, &cost));
    krein_tune_options o = {.kernels = t->tuning.kernel ? t->tuning.kernels : "exponential",
                            .metric = t->tuning.metric,
                            .asked = t->tuning.asked,
                            .effort = cost.effort,
                            .clip = t->tuning.clip,
                            .machines = machines_fit(t),
                            .logs = t->tuning.kernel && !plain_types(t),
                            .deadline = seconds > 0 ? krein__clock() + seconds : 0};
    ctx->threads = cost.threads;
    st = krein__tune(&p->job, &o, tuned);
    ctx->threads = threads;
    TRY(st);
    TRY(agree(t));
    if (tuned->factor) TRY(set_metric(t, tuned->metric, tuned->factor));
    if (!t->tuning.kernel) goto done;
    p->job.lambda_start = tuned->lambda / (double)p->job.n;
    TRY(take_machines(t));
    krein__kernel_destroy(ctx, p->kernel);
    p->kernel = tuned->kernel;
    tuned->kernel = NULL;
    TRY(krein__kernel_meet(ctx, p->kernel, &p->job.model->encoding));
    t->free = 0;
    /* It takes less memory than the choice of the kernel with that effort. */
    if (cost.effort >= 0.5 && !krein__late(o.deadline)) TRY(krein__tuning_map(t));
done:
    return st;
}

krein_status krein__training_tune(krein_training *t) {
    if (t->tuning.from) {
        krein_status st = take_metric(t);
        if (st != KREIN_OK) return st;
    }
    if (!t->tuning.kernel && (t->tuning.from || !t->tuning.asked)) return KREIN_OK;
    return tune(t);
}
