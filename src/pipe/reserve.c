/* reserve.c -- a small ridge regression beside the model of a training with a time limit
 * (hurry.h), and which of the two is kept. */
#include "pipe/hurry.h"

#include "pipe/training.h"

#include <math.h>
#include <string.h>

/* Features. Beside ridge regression itself few are enough: how long that takes is well predicted.
 */
enum { MOST = 1024, FEW = 256, LEAST = 64 };
enum { ROWS = 2000 };            /* that the two are compared on */
static const double SHARE = 0.2; /* of the time that is left */

/* ---- making it ---------------------------------------------------------- */

/* The default map of the kernel with as many features as there is time for. */
static krein_status make_map(const krein_training *t, const krein_learner_class *learner,
                             const krein_values *values, krein_map **out) {
    const krein_pipe *p = &t->pipe;
    const krein_encoding *e = &p->job.model->encoding;
    krein_status st = KREIN_OK;
    double left = krein__hurry_left(t), seconds = INFINITY;
    int64_t most = t->learner == learner ? FEW : MOST;
    if (!krein__pipe_is_exact(p))
        most = krein__min(most, p->job.model->map->D); /* fits in memory */
    for (int64_t D = krein__min(most, p->job.n); seconds > SHARE * left; D /= 2) {
        krein__map_destroy(*out);
        *out = NULL;
        TRY(krein__map_create(p->ctx, krein__map_default(p->kernel, e->d, D), p->kernel, D,
                              p->o.seed, out));
        (*out)->d = e->d;
        (*out)->sparse = e->sparse;
        seconds = krein__hurry_seconds(t, *out, learner, values);
        if (D / 2 < LEAST) break;
    }
    if (seconds > left)
        st =
            krein__fail(p->ctx, KREIN_ETIME,
                        "`time_limit`: %s on %lld rows with %lld features would take about %.2g s, "
                        "and %.2g s are left of %g; give more time, or fewer rows",
                        learner->cls.name, (long long)p->job.n, (long long)(*out)->D, seconds, left,
                        t->o.time_limit);
done:
    return st;
}

krein_status krein__reserve_fit(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_learner_class *learner = NULL;
    krein_weighing none = {0};
    krein_values values = {0};
    krein_model *m = NULL;
    krein_job job = p->job;
    const krein_encoding *e = &p->job.model->encoding;
    TRY(krein__learner_parse(ctx, KREIN_LEARNER_DEFAULT, &learner, &values, &none));
    ZNEW(m, 1);
    t->hurry.reserve = m;
    m->ctx = ctx;
    m->encoding = *e;
    m->lambda = NAN;
    m->n = job.n;
    m->head = krein__task_head(e->task);
    m->k = krein__head_scores(m->head, e);
    TRY(make_map(t, learner, &values, &m->map));
    job.model = m;
    job.checkpoint = NULL;
    job.asked = false;
    job.lambda_start = 0;
    if (t->learner != learner) job.lambda = -1;
    TRY(krein__map_fit(m->map, e->d, e->sparse, job.rows, job.n));
    TRY(krein__model_finish(m));
    ZNEW(m->w, m->map->R * m->k);
    ZNEW(m->intercept, m->k);
    TRY(learner->fit(&job, &values));
    if (!(m->learner = krein__spec_text(ctx, &learner->cls, &values))) {
        st = ctx->status;
        goto done;
    }
    t->hurry.loo = job.loo;
    t->hurry.cv_folds = job.cv_folds;
done:
    krein__values_clear(ctx, &values);
    krein__weighing_clear(ctx, &none);
    return st;
}

void krein__reserve_clear(krein_training *t) {
    krein_model *m = t->hurry.reserve;
    if (!m) return;
    m->encoding = (krein_encoding){0};
    krein_model_destroy(m);
    t->hurry.reserve = NULL;
}

/* Streams know the encoding by its address, which stays. */
void krein__reserve_take(krein_training *t) {
    krein_job *job = &t->pipe.job;
    krein_model *m = job->model, *reserve = t->hurry.reserve, old = *m;
    *m = *reserve;
    *reserve = old;
    job->loo = t->hurry.loo;
    job->cv_folds = t->hurry.cv_folds;
    job->refit = NAN;
    krein__reserve_clear(t);
}

/* ---- which is kept ------------------------------------------------------ */

/* Some of the training rows. */
typedef struct sample {
    int64_t n, outputs; /* of numbers; 0: classes */
    krein_matrix x;
    double *label;
    double *mean, *square; /* of the outputs: mean, and mean squared distance from it */
    double constant;       /* the share that is wrong where the most frequent class is predicted; of
                              numbers 1 for each output */
} sample;

static void sample_end(krein_ctx *ctx, sample *s) {
    krein__matrix_clear(ctx, &s->x);
    krein__free(ctx, s->label);
    krein__free(ctx, s->mean);
    krein__free(ctx, s->square);
}

static krein_status count_classes(krein_ctx *ctx, int64_t classes, sample *s) {
    krein_status st = KREIN_OK;
    int64_t *count = NULL, most = 0;
    ZNEW(count, classes);
    for (int64_t i = 0; i < s->n; i++) most = krein__max(most, ++count[(int64_t)s->label[i]]);
    s->constant = 1 - (double)most / (double)s->n;
done:
    krein__free(ctx, count);
    return st;
}

static void describe_numbers(sample *s) {
    int64_t k = s->outputs;
    for (int64_t e = 0; e < s->n * k; e++) s->mean[e % k] += s->label[e] / (double)s->n;
    for (int64_t e = 0; e < s->n * k; e++)
        s->square[e % k] += pow(s->label[e] - s->mean[e % k], 2) / (double)s->n;
    s->constant = (double)k;
}

/* Label sets become their codes -1 and +1. */
static krein_status label_codes(const krein_job *job, sample *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    double *y = NULL;
    NEW(y, s->n * s->outputs);
    krein__targets_fill(job->model, job->data, s->n, s->label, y, NULL);
    krein__free(ctx, s->label);
    s->label = y;
done:
    return st;
}

static krein_status sample_begin(const krein_job *job, sample *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &job->model->encoding;
    int64_t *index = NULL;
    bool classes = krein__job_classes(job);
    s->n = krein__min(job->n, ROWS);
    const bool labels = krein__job_labels(job);
    s->outputs = classes ? 0 : labels ? e->nclass : e->outputs;
    NEW(index, s->n);
    NEW(s->label, s->n * job->data->nlabel);
    ZNEW(s->mean, s->outputs);
    ZNEW(s->square, s->outputs);
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_ROWS), job->n,
                      s->n, index);
    TRY(krein__stream_gather(job->rows, index, s->n, &s->x, s->label, NULL, NULL));
    if (labels) TRY(label_codes(job, s));
    if (classes)
        TRY(count_classes(ctx, e->nclass, s));
    else
        describe_numbers(s);
done:
    krein__free(ctx, index);
    return st;
}

/* Share of wrong classes; of numbers the sum over outputs of mean squares over the spread. */
static krein_status loss_of(krein_ctx *ctx, const krein_model *m, const sample *s, double *loss) {
    krein_status st = KREIN_OK;
    krein_predictor p = {0};
    double *score = NULL;
    krein_rows x = krein__matrix_rows(&s->x);
    *loss = 0;
    NEW(score, s->n * m->k);
    TRY(krein__predictor_begin(ctx, m, &p));
    krein__predictor_run(&p, &x, score);
    for (int64_t i = 0; s->outputs == 0 && i < s->n; i++)
        *loss += (krein__model_decide(m, score + i * m->k) != (int64_t)s->label[i]) / (double)s->n;
    for (int64_t e = 0; e < s->n * s->outputs; e++)
        *loss +=
            pow(score[e] - s->label[e], 2) / (double)s->n / fmax(s->square[e % s->outputs], 1e-300);
done:
    krein__predictor_end(&p);
    krein__free(ctx, score);
    return st;
}

krein_status krein__reserve_better(krein_training *t, double times, bool *better) {
    krein_job *job = &t->pipe.job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    sample s = {0};
    double own, other;
    TRY(sample_begin(job, &s));
    TRY(loss_of(ctx, job->model, &s, &own));
    other = s.constant;
    if (t->hurry.reserve) TRY(loss_of(ctx, t->hurry.reserve, &s, &other));
    *better = !(own <= times * other);
    krein__log(ctx, KREIN_LOG_DEBUG, "time limit: loss on %lld training rows %.4g; %s %.4g",
               (long long)s.n, own, t->hurry.reserve ? "few features" : "a constant", other);
done:
    sample_end(ctx, &s);
    return st;
}
