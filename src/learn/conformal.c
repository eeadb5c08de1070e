/* conformal.c -- what a model is sure of, from rows that it did not learn from
 *
 * Split conformal prediction (papadopoulos2002, lei2018): n rows were kept apart before anything
 * was learned, scaling and kernel included. With scores s_i of these rows by the model, and Q their
 * ceil(P (n + 1))-th smallest, a new row from the same source has a score of at most Q with
 * probability P to P + 1 / (n + 1), whatever the model and the distribution:
 *
 *     numbers   s_i = |y_i - f(x_i)|:    f(x) +- Q holds the label
 *     classes   s_i = 1 - p_yi(x_i):     the classes with 1 - p_c(x) <= Q have the right one
 *
 * The model is not fitted again with these rows: that would void the guarantee. The width of an
 * interval is the same everywhere. A learner without probabilities gets them by krein__calibrate on
 * these rows; with sets of classes on a seeded half of them, and the scores are those of the other
 * half. A row of weight 0 does not count, any other counts once.
 *
 * A learner with .held_out keeps scores of its own held-out rows in the same way
 * (krein__job_calibrate). Cost: a prediction of the rows. */
#include "learn/conformal.h"

#include "model/posterior.h"
#include "model/probability.h"
#include "num/order.h"
#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 100000 };

/* ---- sets of classes ---------------------------------------------------- */

static krein_status keep_doubt(krein_job *job, int64_t n, const double *score, const int32_t *class,
                               const double *weight) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    krein_calibration *c = &job->model->calibration;
    int64_t classes = m->encoding.nclass, most = krein__min(n, SAMPLE);
    double *p = NULL, *scratch = NULL;
    int64_t *index = NULL;
    NEW(index, most);
    NEW(p, classes);
    NEW(scratch, krein__probability_scratch(m->head, classes));
    NEW(c->doubt, most);
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA), n,
                      most, index);
    c->held = 0;
    for (int64_t i = 0; i < most; i++) {
        int64_t row = index[i];
        if (weight && !(weight[row] > 0)) continue;
        krein__model_probabilities(m, score + row * m->k, p, scratch);
        c->doubt[c->held++] = fmin(1, fmax(0, 1 - p[class[row]]));
    }
    qsort(c->doubt, (size_t)c->held, sizeof *c->doubt, krein__ascending);
done:
    krein__free(ctx, index);
    krein__free(ctx, p);
    krein__free(ctx, scratch);
    return st;
}

krein_status krein__job_calibrate(krein_job *job, int64_t n, const double *score,
                                  const int32_t *class, const double *y, const double *weight) {
    krein_status st = KREIN_OK;
    TRY(krein__model_calibrate(job->ctx, job->model, n, score, class, y, weight));
    if (job->uncertainty && krein__job_classes(job)) TRY(keep_doubt(job, n, score, class, weight));
done:
    return st;
}

/* ---- the rows kept apart ------------------------------------------------ */

/* Those with a weight, of all processes, in the order of the data. */
typedef struct unseen {
    int64_t n;
    double *score, *y, *weight; /* n x k, n x k (as krein__targets_fill), n */
    int32_t *class;
} unseen;

static void unseen_clear(krein_ctx *ctx, unseen *u) {
    krein__free(ctx, u->score);
    krein__free(ctx, u->y);
    krein__free(ctx, u->weight);
    krein__free(ctx, u->class);
}

static krein_status unseen_begin(krein_ctx *ctx, int64_t n, int64_t k, unseen *u) {
    krein_status st = KREIN_OK;
    n = krein__max(1, n);
    NEW(u->score, n * k);
    NEW(u->y, n * k);
    NEW(u->weight, n);
    NEW(u->class, n);
done:
    return st;
}

/* Row i of `from` becomes the next one. */
static void unseen_put(const unseen *from, int64_t i, int64_t k, unseen *to) {
    int64_t at = to->n++;
    memcpy(to->score + at * k, from->score + i * k, (size_t)k * sizeof *to->score);
    memcpy(to->y + at * k, from->y + i * k, (size_t)k * sizeof *to->y);
    to->weight[at] = from->weight[i];
    to->class[at] = from->class[i];
}

/* An array of the rows of this process becomes that of all rows. */
static krein_status join(krein_stream *rows, int64_t n, size_t size, void *array) {
    char *mine, *all = NULL;
    int64_t count;
    memcpy(&mine, array, sizeof mine);
    krein_status st = krein__stream_join(rows, mine, n, size, &all, &count);
    if (st != KREIN_OK) return st;
    krein__free(krein__stream_data(rows)->ctx, mine);
    memcpy(array, &all, sizeof all);
    return KREIN_OK;
}

static krein_status join_all(krein_stream *rows, int64_t k, unseen *u) {
    krein_status st = KREIN_OK;
    int64_t n = u->n;
    if (!krein__stream_shared(rows)) return KREIN_OK;
    TRY(join(rows, n, (size_t)k * sizeof *u->score, &u->score));
    TRY(join(rows, n, (size_t)k * sizeof *u->y, &u->y));
    TRY(join(rows, n, sizeof *u->weight, &u->weight));
    TRY(join(rows, n, sizeof *u->class, &u->class));
    TRY(krein__stream_count(rows, 1, &u->n));
done:
    return st;
}

static krein_status score_block(krein_job *job, const krein_predictor *p, const krein_block *b,
                                unseen *to) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t k = job->model->k;
    unseen all = {0};
    TRY(unseen_begin(ctx, b->x.n, k, &all));
    krein__predictor_run(p, &b->x, all.score);
    krein__targets_fill(job->model, job->data, b->x.n, b->label, all.y,
                        krein__job_classes(job) ? all.class : NULL);
    for (int64_t i = 0; i < b->x.n; i++) {
        all.weight[i] = b->weight ? b->weight[i] : 1;
        if (!krein__job_classes(job)) all.class[i] = 0;
        if (all.weight[i] > 0) unseen_put(&all, i, k, to);
    }
done:
    unseen_clear(ctx, &all);
    return st;
}

static krein_status score_rows(krein_job *job, unseen *u) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    krein_stream *rows = NULL;
    krein_predictor predictor = {0};
    krein_block block;
    TRY(krein__stream_open(job->data, &m->encoding, KREIN_PART_CALIBRATE, &rows));
    TRY(unseen_begin(ctx, job->data->here[KREIN_PART_CALIBRATE], m->k, u));
    TRY(krein__predictor_begin(ctx, m, &predictor));
    for (;;) {
        TRY(krein__stream_next(rows, &block));
        if (block.x.n == 0) break;
        TRY(score_block(job, &predictor, &block, u));
    }
    TRY(join_all(rows, m->k, u));
    bool finite = true;
    for (int64_t e = 0; e < u->n * m->k; e++) finite = finite && isfinite(u->score[e]);
    if (u->n == 0)
        st = krein__fail(ctx, KREIN_EDATA,
                         "the %lld rows that were kept from the training have no weight; give more "
                         "rows with one",
                         (long long)job->data->count[KREIN_PART_CALIBRATE]);
    else if (!finite)
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "a prediction of a row that was kept from the training is not finite; "
                         "scale the data (`scale=standard`), or regularise more");
done:
    krein__predictor_end(&predictor);
    krein__stream_close(rows);
    return st;
}

/* ---- what is made of them ----------------------------------------------- */

static krein_status keep_residuals(krein_job *job, const unseen *u) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_conformal *r = &job->model->conformal;
    int64_t k = job->model->k;
    NEW(r->residual, k * u->n);
    r->rows = u->n;
    for (int64_t c = 0; c < k; c++) {
        double *to = r->residual + c * u->n, mean = krein__job_mean(job, c);
        for (int64_t i = 0; i < u->n; i++)
            to[i] = fabs(u->y[i * k + c] + mean - u->score[i * k + c]);
        qsort(to, (size_t)u->n, sizeof *to, krein__ascending);
    }
done:
    return st;
}

/* A seeded half of the rows, and the others. */
static krein_status halve(krein_job *job, const unseen *u, unseen *half, unseen *rest) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, k = job->model->k, n = u->n / 2, next = 0;
    NEW(index, krein__max(1, n));
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_CALIBRATE),
                      u->n, n, index);
    TRY(unseen_begin(ctx, n, k, half));
    TRY(unseen_begin(ctx, u->n - n, k, rest));
    for (int64_t i = 0; i < u->n; i++) {
        bool chosen = next < n && index[next] == i;
        unseen_put(u, i, k, chosen ? half : rest);
        next += chosen;
    }
done:
    krein__free(ctx, index);
    return st;
}

static krein_status calibrate(krein_job *job, const unseen *u) {
    krein__log(job->ctx, KREIN_LOG_INFO, "probabilities: calibrated on %lld rows kept apart",
               (long long)u->n);
    return krein__model_calibrate(job->ctx, job->model, u->n, u->score, u->class, u->y, u->weight);
}

krein_status krein__conformal_fit(krein_job *job, bool sure) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    unseen all = {0}, half = {0}, rest = {0};
    bool numbers = m->encoding.task == KREIN_TASK_REGRESSION;
    bool probabilities = !numbers && !m->calibration.slope;
    TRY(score_rows(job, &all));
    if (probabilities && sure) TRY(halve(job, &all, &half, &rest));
    if (probabilities) TRY(calibrate(job, sure ? &half : &all));
    const unseen *u = probabilities ? &rest : &all;
    if (sure && numbers) TRY(keep_residuals(job, u));
    if (sure && !numbers) TRY(keep_doubt(job, u->n, u->score, u->class, NULL));
done:
    unseen_clear(ctx, &all);
    unseen_clear(ctx, &half);
    unseen_clear(ctx, &rest);
    return st;
}

void krein__conformal_cost(const krein_map *map, int64_t n, int64_t rows, int64_t k,
                           krein_cost *out, int64_t *passes) {
    double N = (double)rows, K = (double)krein__max(2, k), threads = map->ctx->threads;
    double R = (double)map->cls->features(map, n);
    /* three copies of scores and targets; those that Newton's method works on; tiles of features */
    out->bytes += N * (3 * (16 * K + 12) + 24 * K + 64) + 16 * K * K + 256 * 8 * K + 4096 +
                  threads * 12.0 * KREIN_TILE * R;
    out->flops += 2 * N * R * K;
    *passes += 1;
}
