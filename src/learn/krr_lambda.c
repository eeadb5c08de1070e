/* krr_lambda.c -- the choice of lambda for kernel ridge regression on features: leave-one-out, or
 * folds with a fit of their own. */
#include "learn/krr.h"
#include "stream/together.h"
#include "solve/krein_ridge.h"

#include <math.h>
#include <string.h>

static const int64_t LOO_SAMPLE = 16384;

/* Wide rows: no more than take a gigabyte. */
int64_t krein__krr_loo_rows(int64_t n, int64_t d) {
    return krein__min(n, krein__min(LOO_SAMPLE, krein__max(1024, ((int64_t)1 << 28) / d)));
}

/* Levers of signed features cost 2 D^2 flops a row and lambda. */
int64_t krein__krr_walk_rows(int64_t n, int64_t D, bool krein) {
    int64_t most = 4096;
    if (krein) most = krein__max(1024, krein__min(most, ((int64_t)1 << 23) / D));
    return krein__min(n, most);
}

/* ---- some of the rows --------------------------------------------------- */

krein_status krein__krr_sample(krein_job *job, int64_t n, const int64_t *index,
                               krein_krr_sample *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    double *label = NULL;
    memset(s, 0, sizeof *s);
    NEW(label, n * job->data->nlabel);
    NEW(s->index, n);
    NEW(s->weight, n);
    NEW(s->y, n * job->model->k);
    NEW(s->class, n);
    if (index)
        memcpy(s->index, index, (size_t)n * sizeof *index);
    else
        krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA),
                          job->n, n, s->index);
    TRY(krein__stream_gather(job->rows, s->index, n, &s->x, label, s->weight, NULL));
    krein__targets_fill(job->model, job->data, n, label, s->y, s->class);
    s->targets = (krein_targets){n, job->model->k, s->y, job->data->has_weight ? s->weight : NULL,
                                 krein__job_classes(job) ? s->class : NULL};
done:
    krein__free(ctx, label);
    return st;
}

void krein__krr_sample_clear(krein_ctx *ctx, krein_krr_sample *s) {
    krein__matrix_clear(ctx, &s->x);
    krein__free(ctx, s->index);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->y);
    krein__free(ctx, s->class);
}

float *krein__krr_sample_block(const krein_krr_sample *s, krein_krr *b, int64_t from, int64_t *n) {
    krein_rows rows = krein__matrix_rows(&s->x);
    *n = krein__min(b->z.rows, s->targets.n - from);
    krein_rows part = krein__rows_slice(&rows, from, *n);
    return krein__blocks_features(&b->z, &part);
}

krein_status krein__krr_sample_centred(krein_ctx *ctx, const krein_krr_sample *s, krein_krr *b,
                                       const krein_system *system, float **out) {
    krein_status st = KREIN_OK;
    int64_t D = system->D, m;
    float *z = NULL;
    NEW(z, s->targets.n * D);
    for (int64_t i = 0; i < s->targets.n; i += m) {
        const float *block = krein__krr_sample_block(s, b, i, &m);
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < D; j++)
                z[(i + r) * D + j] = block[r * D + j] - (float)system->mean[j];
    }
done:
    *out = z;
    return st;
}

/* ---- leave-one-out ------------------------------------------------------ */

static krein_status score_all(krein_job *job, krein_krr *b, krein_scores *scores,
                              krein_tally *tally) {
    krein_status st = KREIN_OK;
    krein_block block;
    const krein_model *m = job->model;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        const float *z = krein__blocks_features(&b->z, &block.x);
        krein__targets_fill(m, job->data, block.x.n, block.label, b->y, b->class);
        krein_targets rows = {block.x.n, m->k, b->y, block.weight,
                              krein__job_classes(job) ? b->class : NULL};
        TRY(krein__scores_add(scores, z, &rows, tally));
        krein__progress(job->ctx, "leave-one-out", (double)(block.first + block.x.n),
                        (double)job->n);
    }
    TRY(krein__tally_together(tally, job->rows));
done:
    return st;
}

static krein_status score_sample(krein_job *job, krein_krr *b, krein_scores *scores,
                                 krein_tally *tally) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_krr_sample s = {0};
    int64_t n = krein__krr_loo_rows(job->n, job->model->encoding.d), k = job->model->k, m;
    TRY(krein__krr_sample(job, n, NULL, &s));
    /* All processes have the sample; each scores some of it. */
    int64_t turn = krein__stream_turn(job->rows), turns = krein__stream_turns(job->rows);
    for (int64_t i = turn * b->z.rows; i < n; i += turns * b->z.rows) {
        const float *z = krein__krr_sample_block(&s, b, i, &m);
        const krein_targets *t = &s.targets;
        krein_targets part = {m, k, t->y + i * k, t->weight ? t->weight + i : NULL,
                              t->class ? t->class + i : NULL};
        TRY(krein__scores_add(scores, z, &part, tally));
        krein__progress(ctx, "leave-one-out", (double)(i + m), (double)n);
    }
    TRY(krein__tally_together(tally, job->rows));
done:
    krein__krr_sample_clear(ctx, &s);
    return st;
}

void krein__krr_report(krein_job *job, const krein_path *p) {
    job->lambda = p->lambda[p->best];
    job->cv_folds = krein__min(job->folds, job->n);
    job->loo = krein__job_classes(job) ? p->error[p->best] : sqrt(p->loss[p->best]);
    char error[40];
    krein__log(job->ctx, KREIN_LOG_DEBUG, "lambda %g, the best of %lld: loss %g%s", job->lambda,
               (long long)p->n, p->loss[p->best], krein__error_text(p->error[p->best], error));
    krein__job_path(job, p);
}

/* Many features, or norm=krein: the rows' features are kept, centred, and lambda is sought by
 * steps. */
static krein_status choose_by_walk(krein_job *job, krein_krr *b, const krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_krr_sample s = {0};
    krein_path path = {0};
    float *z = NULL;
    TRY(krein__krr_sample(job, krein__krr_walk_rows(job->n, system->D, b->sign != NULL), NULL, &s));
    TRY(krein__krr_sample_centred(ctx, &s, b, system, &z));
    TRY(b->sign ? krein__krein_loo(ctx, system, b->sign, z, &s.targets, &path)
                : krein__loo_walk(ctx, system, z, &s.targets, job->lambda_start, &path));
    krein__krr_report(job, &path);
done:
    krein__krr_sample_clear(ctx, &s);
    krein__free(ctx, z);
    return st;
}

krein_status krein__krr_choose_loo(krein_job *job, krein_krr *b, const krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    krein_tally tally = {0};
    krein_scores *scores = NULL;
    if (b->sign || (system->D > KREIN_EIGEN_MAX && !system->mix))
        return choose_by_walk(job, b, system);
    krein__progress(ctx, "eigendecomposition", 0, 0);
    TRY(krein__scores_begin(ctx, system, true, &path, &scores));
    TRY(job->n <= krein__krr_loo_rows(job->n, job->model->encoding.d)
            ? score_all(job, b, scores, &tally)
            : score_sample(job, b, scores, &tally));
    krein__tally_end(&tally, krein__job_classes(job), &path);
    krein__krr_report(job, &path);
done:
    krein__scores_end(scores);
    return st;
}

/* ---- cross-validation --------------------------------------------------- */

krein_status krein__krr_folds(krein_job *job, int64_t folds, int32_t *fold) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int32_t *class = NULL, *group = NULL;
    if (krein__job_classes(job)) NEW(class, job->n);
    if (job->data->options.group) NEW(group, job->n);
    TRY(krein__job_targets(job, NULL, class, NULL, group));
    TRY(krein__folds(ctx, job->seed, job->n, folds, group, class, fold));
done:
    krein__free(ctx, class);
    krein__free(ctx, group);
    return st;
}

/* Pushes the rows inside (or outside) fold f to the front of the block, features and targets. */
static int64_t compact(krein_krr *b, float *z, int64_t n, int64_t k, const int32_t *fold, int64_t f,
                       bool inside, const double *weight, double *kept_weight) {
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if ((fold[i] == f) != inside) continue;
        if (m < i) {
            memcpy(z + m * b->z.width, z + i * b->z.width, (size_t)b->z.width * sizeof *z);
            memcpy(b->y + m * k, b->y + i * k, (size_t)k * sizeof *b->y);
            b->class[m] = b->class[i];
        }
        kept_weight[m++] = weight ? weight[i] : 1;
    }
    return m;
}

/* The rows outside the fold to the ridge, or those inside to the scores. */
static krein_status pass_of_fold(krein_job *job, krein_krr *b, const int32_t *fold, int64_t f,
                                 krein_ridge *ridge, krein_scores *scores, krein_tally *tally) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_block block;
    int64_t k = job->model->k;
    double *weight = NULL;
    NEW(weight, b->z.rows);
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        float *z = krein__blocks_features(&b->z, &block.x);
        krein__targets_fill(job->model, job->data, block.x.n, block.label, b->y, b->class);
        int64_t m = compact(b, z, block.x.n, k, fold + block.first, f, scores != NULL, block.weight,
                            weight);
        const double *w = block.weight ? weight : NULL;
        krein_targets rows = {m, k, b->y, w, krein__job_classes(job) ? b->class : NULL};
        if (ridge)
            krein__ridge_add(ridge, m, z, b->y, w);
        else
            TRY(krein__scores_add(scores, z, &rows, tally));
    }
    if (ridge) TRY(krein__ridge_together(ridge, job->rows));
done:
    krein__free(ctx, weight);
    return st;
}

krein_status krein__krr_fold_system(krein_job *job, krein_krr *b, const int32_t *fold, int64_t f,
                                    double lambda, krein_system *out) {
    krein_status st = KREIN_OK;
    krein_ridge ridge = {0};
    TRY(krein__ridge_begin(job->ctx, b->z.width, job->model->k, b->z.rows, &ridge));
    TRY(pass_of_fold(job, b, fold, f, &ridge, NULL, NULL));
    TRY(krein__krr_system(b, &ridge, lambda, out));
done:
    krein__ridge_clear(&ridge);
    return st;
}

/* For each fold: products of the other rows, one eigendecomposition, scores of the fold's rows. */
krein_status krein__krr_choose_folds(krein_job *job, krein_krr *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    krein_tally tally = {0};
    krein_system system = {0};
    krein_scores *scores = NULL;
    int32_t *fold = NULL;
    NEW(fold, job->n);
    TRY(krein__krr_folds(job, job->folds, fold));
    for (int64_t f = 0; f < job->folds; f++) {
        krein__progress(ctx, "cross-validation", (double)f, (double)job->folds);
        TRY(krein__krr_fold_system(job, b, fold, f, b->z.map->fused_lambda, &system));
        TRY(b->sign ? krein__krein_scores(ctx, &system, b->sign, &path, &scores)
                    : krein__scores_begin(ctx, &system, false, &path, &scores));
        TRY(pass_of_fold(job, b, fold, f, NULL, scores, &tally));
        krein__scores_end(scores);
        scores = NULL;
        krein__system_clear(ctx, &system);
    }
    krein__progress(ctx, "cross-validation", (double)job->folds, (double)job->folds);
    TRY(krein__tally_together(&tally, job->rows));
    krein__tally_end(&tally, krein__job_classes(job), &path);
    krein__krr_report(job, &path);
done:
    krein__scores_end(scores);
    krein__system_clear(ctx, &system);
    krein__free(ctx, fold);
    return st;
}
