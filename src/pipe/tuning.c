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
#include <string.h>

static const char KERNELS[] = "exponential; laplacian; gaussian";
static const double CLIP = 8;

/* A criterion of the user's own, and rows in groups, score the same kernels in another way: by the
 * list. */
static bool own_criterion(const krein_training *t) { return t->o.select || t->grouped; }

bool krein__training_tunes(const krein_training *t) { return t->tuning.kernel; }

static krein_status open_metric(krein_training *t, const char *path) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = krein_model_load(ctx, path, &t->tuning.from);
    return st == KREIN_OK ? st : krein__prefix(ctx, st, "`metric=file`: ");
}

static krein_status parse_metric(krein_training *t, bool given) {
    static const char file[] = "file=";
    static const struct {
        const char *word;
        krein_metric_kind kind;
    } words[] = {{"none", KREIN_METRIC_NONE},
                 {"diagonal", KREIN_METRIC_DIAGONAL},
                 {"full", KREIN_METRIC_FULL}};
    const char *text = t->o.metric ? t->o.metric : "auto";
    if (!strncmp(text, file, sizeof file - 1)) return open_metric(t, text + sizeof file - 1);
    for (int64_t i = 0; i < KREIN__COUNT(words); i++) {
        if (strcmp(text, words[i].word) != 0) continue;
        t->tuning.metric = words[i].kind;
        t->tuning.asked = words[i].kind != KREIN_METRIC_NONE;
        return KREIN_OK;
    }
    if (strcmp(text, "auto") != 0)
        return krein__fail(t->pipe.ctx, KREIN_EARG,
                           "`metric` takes none, diagonal, full, auto or file=MODEL, not \"%.40s\"",
                           text);
    bool full = t->o.effort >= 2; /* what `effort` adds */
    if (!given) t->tuning.metric = full ? KREIN_METRIC_FULL : KREIN_METRIC_DIAGONAL;
    return KREIN_OK;
}

/* Landmarks keep what the kernels that compete have over the Gaussian, random features do not:
 * METRIC 8b. */
static const char *tuned_map(const krein_pipe *p, int64_t D) {
    (void)p, (void)D;
    return "nystrom";
}

/* The map that suits a kernel and a lambda that are known: the kernel matrix for more rows than
 * otherwise, by conjugate gradients, unless the user has set a limit. */
static void set_map(krein_training *t) {
    krein_pipe *p = &t->pipe;
    p->purpose.map = tuned_map;
    p->purpose.few = t->learner->few;
    if (p->o.max_exact == KREIN_MAX_EXACT && t->learner->few > 0)
        p->o.max_exact = krein__max(p->o.max_exact, t->learner->few);
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
    if (t->tuning.kernel) set_map(t);
    if (!given && own_criterion(t)) t->o.kernels = KERNELS;
    t->tuning.clip = t->o.clip > 0 ? t->o.clip : given || !t->tuning.kernel ? INFINITY : CLIP;
done:
    return st;
}

void krein__tuning_end(krein_training *t) {
    krein__tuned_clear(t->pipe.ctx, &t->tuning.tuned);
    krein_model_destroy(t->tuning.from);
    t->tuning.from = NULL;
}

/* Where the kernel is chosen the clip comes with that. */
void krein__tuning_clip(const krein_training *t) {
    krein_encoding *e = &t->pipe.job.model->encoding;
    if (!t->tuning.kernel && !e->sparse && isfinite(t->tuning.clip))
        e->clip = (float)t->tuning.clip;
}

/* ---- with data ---------------------------------------------------------- */

static krein_status set_metric(krein_training *t, krein_metric_kind kind, const double *factor) {
    krein_encoding *e = &t->pipe.job.model->encoding;
    return kind == KREIN_METRIC_FULL ? krein__encoding_set_matrix(t->pipe.ctx, e, factor)
                                     : krein__encoding_set_metric(t->pipe.ctx, e, factor);
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
    memcpy(to->centre, from->centre, (size_t)d * sizeof *to->centre);
    memcpy(to->factor, from->factor, (size_t)d * sizeof *to->factor);
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

/* What the first process found, for all. */
static krein_status agree(krein_training *t) {
    krein_tuned *tuned = &t->tuning.tuned;
    krein_stream *rows = t->pipe.job.rows;
    int64_t d = t->pipe.job.model->encoding.d;
    int64_t size = tuned->metric == KREIN_METRIC_FULL ? d * d : d;
    krein_status st = krein__stream_from_root(rows, &tuned->lambda, sizeof tuned->lambda);
    if (st == KREIN_OK && tuned->factor)
        st = krein__stream_from_root(rows, tuned->factor, size * (int64_t)sizeof *tuned->factor);
    return st;
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
    krein_tune_options o = {.kernels = t->tuning.kernel ? KERNELS : "exponential",
                            .metric = t->tuning.metric,
                            .effort = t->o.effort,
                            .clip = t->tuning.clip,
                            .logs = t->tuning.kernel && !plain_types(t),
                            .deadline = seconds > 0 ? krein__clock() + seconds : 0};
    TRY(krein__tune(&p->job, &o, tuned));
    TRY(agree(t));
    if (tuned->factor) TRY(set_metric(t, tuned->metric, tuned->factor));
    if (!t->tuning.kernel) goto done;
    p->job.lambda_start = tuned->lambda / (double)p->job.n;
    krein__kernel_destroy(ctx, p->kernel);
    p->kernel = tuned->kernel;
    tuned->kernel = NULL;
    TRY(krein__kernel_meet(ctx, p->kernel, &p->job.model->encoding));
    t->free = 0;
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
