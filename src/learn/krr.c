/* krr -- kernel ridge regression, for numbers and (through -1/+1 targets) for classes
 *
 * On features: one pass accumulates Z'Z and Z'y in float64 (solve/ridge.c); lambda is chosen by
 * exact leave-one-out over a path from one eigendecomposition (above 2,048 features by steps of a
 * Cholesky factorisation each, solve/walk.c), then one Cholesky factorisation solves for all
 * outputs. Memory O(block D + D^2) whatever n is. The leave-one-out residuals are those of the
 * model on all rows; they are averaged over all rows, or above LOO_SAMPLE rows over a seeded sample
 * of so many (the mean of a sample that large has no say in the choice). With --select cv(k),
 * lambda is chosen by k folds instead, each with a fit of its own. On the kernel matrix
 * (map=exact): the dual problem (solve/dual.c), lambda likewise from one eigendecomposition, or
 * above 2,048 rows by steps.
 */
#include "learn/learn.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

static const int64_t LOO_SAMPLE = 16384;

/* Rows that leave-one-out is averaged over; wide rows: no more than take a gigabyte. */
static int64_t loo_rows(int64_t n, int64_t d) {
    return krein__min(n, krein__min(LOO_SAMPLE, krein__max(1024, ((int64_t)1 << 28) / d)));
}

/* The same for the walk, which keeps their features. */
static int64_t walk_rows(int64_t n) { return krein__min(n, 4096); }

static bool has_classes(const krein_job *job) {
    return job->model->encoding.task == KREIN_TASK_CLASSIFICATION;
}

/* ---- on features -------------------------------------------------------- */

/* Blocks of features on their way to the solver. Where the map has a mix, products are accumulated
 * on the raw features ("fused") or the blocks are multiplied by it first; see map.h. */
typedef struct buffers {
    bool fused;
    int64_t rows, width; /* of a block handed to the solver */
    float *raw, *scratch, *mixed, *mix32;
    float *offset; /* R: the mean of the first block, taken off every raw block */
    double *y;
    int32_t *class;
} buffers;

static krein_status find_offset(krein_job *job, buffers *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    krein_block block;
    double *sum = NULL;
    NEW(b->offset, map->R);
    ZNEW(sum, map->R);
    TRY(krein__stream_rewind(job->rows));
    TRY(krein__stream_next(job->rows, &block));
    krein__map_raw(map, &block.x, NULL, b->raw, b->scratch);
    for (int64_t i = 0; i < block.x.n; i++)
        for (int64_t j = 0; j < map->R; j++) sum[j] += (double)b->raw[i * map->R + j];
    for (int64_t j = 0; j < map->R; j++) b->offset[j] = (float)(sum[j] / (double)block.x.n);
done:
    krein__free(ctx, sum);
    return st;
}

static krein_status buffers_begin(krein_job *job, bool fused, buffers *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    memset(b, 0, sizeof *b);
    b->fused = fused || !map->mix;
    b->rows = krein__block_rows(map->d);
    b->width = b->fused ? map->R : map->D;
    NEW(b->raw, b->rows * map->R);
    NEW(b->scratch, krein__map_scratch(map));
    NEW(b->y, b->rows * job->model->k);
    NEW(b->class, b->rows);
    if (!b->fused) {
        NEW(b->mixed, b->rows * map->D);
        if (!(b->mix32 = krein__map_mix32(map))) {
            st = ctx->status;
            goto done;
        }
    }
    TRY(find_offset(job, b));
done:
    return st;
}

static void buffers_end(krein_ctx *ctx, buffers *b) {
    krein__free(ctx, b->raw);
    krein__free(ctx, b->scratch);
    krein__free(ctx, b->mixed);
    krein__free(ctx, b->mix32);
    krein__free(ctx, b->offset);
    krein__free(ctx, b->y);
    krein__free(ctx, b->class);
}

static float *features(krein_job *job, buffers *b, const krein_rows *x) {
    const krein_map *map = job->model->map;
    krein__map_raw(map, x, b->offset, b->raw, b->scratch);
    if (b->fused) return b->raw;
    krein__map_mix(map, x->n, b->raw, b->mix32, b->mixed);
    return b->mixed;
}

static krein_status accumulate(krein_job *job, buffers *b, krein_ridge *ridge) {
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    krein_block block;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        float *z = features(job, b, &block.x);
        krein__targets_fill(m, job->data, block.x.n, block.label, b->y, NULL);
        krein__ridge_add(ridge, block.x.n, z, b->y, block.weight);
        krein__progress(job->ctx, "fitting", (double)(block.first + block.x.n), (double)job->n);
    }
done:
    return st;
}

static krein_status score_rows(krein_job *job, buffers *b, krein_scores *scores, krein_tally *tally,
                               const krein_rows *x, const double *label, const double *weight) {
    const krein_model *m = job->model;
    float *z = features(job, b, x);
    krein__targets_fill(m, job->data, x->n, label, b->y, b->class);
    krein_targets rows = {x->n, m->k, b->y, weight, has_classes(job) ? b->class : NULL};
    return krein__scores_add(scores, z, &rows, tally);
}

static krein_status score_all(krein_job *job, buffers *b, krein_scores *scores,
                              krein_tally *tally) {
    krein_status st = KREIN_OK;
    krein_block block;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        TRY(score_rows(job, b, scores, tally, &block.x, block.label, block.weight));
        krein__progress(job->ctx, "leave-one-out", (double)(block.first + block.x.n),
                        (double)job->n);
    }
done:
    return st;
}

static krein_status score_sample(krein_job *job, buffers *b, krein_scores *scores,
                                 krein_tally *tally) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    int64_t *index = NULL, labels = job->data->nlabel;
    double *label = NULL, *weight = NULL;
    krein_matrix x = {0};
    int64_t n = loo_rows(job->n, m->encoding.d);
    NEW(index, n);
    NEW(label, n * labels);
    NEW(weight, n);
    krein__rng_choose((krein_rng){job->seed, KREIN_STREAM_SAMPLE | (uint64_t)1 << 32}, job->n, n,
                      index);
    TRY(krein__stream_gather(job->rows, index, n, &x, label, weight, NULL));
    krein_rows rows = krein__matrix_rows(&x);
    for (int64_t i = 0; i < n; i += b->rows) {
        krein_rows part = krein__rows_slice(&rows, i, krein__min(b->rows, n - i));
        TRY(score_rows(job, b, scores, tally, &part, label + i * labels,
                       job->data->has_weight ? weight + i : NULL));
        krein__progress(ctx, "leave-one-out", (double)(i + part.n), (double)n);
    }
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, index);
    krein__free(ctx, label);
    krein__free(ctx, weight);
    return st;
}

static void report_choice(krein_job *job, const krein_path *p) {
    job->lambda = p->lambda[p->best];
    job->loo = has_classes(job) ? p->error[p->best] : sqrt(p->loss[p->best]);
}

/* Many features: the rows' features are kept, centred, and lambda is sought by steps. */
static krein_status choose_by_walk(krein_job *job, buffers *b, const krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    int64_t n = walk_rows(job->n), D = system->D, labels = job->data->nlabel, *index = NULL;
    double *label = NULL, *weight = NULL, *y = NULL;
    int32_t *class = NULL;
    float *z = NULL;
    krein_matrix x = {0};
    krein_path path = {0};
    NEW(index, n);
    NEW(label, n * labels);
    NEW(weight, n);
    NEW(y, n * m->k);
    NEW(class, n);
    NEW(z, n * D);
    krein__rng_choose((krein_rng){job->seed, KREIN_STREAM_SAMPLE | (uint64_t)1 << 32}, job->n, n,
                      index);
    TRY(krein__stream_gather(job->rows, index, n, &x, label, weight, NULL));
    krein_rows rows = krein__matrix_rows(&x);
    for (int64_t i = 0; i < n; i += b->rows) {
        krein_rows part = krein__rows_slice(&rows, i, krein__min(b->rows, n - i));
        const float *block = features(job, b, &part);
        for (int64_t r = 0; r < part.n; r++)
            for (int64_t j = 0; j < D; j++)
                z[(i + r) * D + j] = block[r * D + j] - (float)system->mean[j];
    }
    krein__targets_fill(m, job->data, n, label, y, class);
    krein_targets targets = {n, m->k, y, job->data->has_weight ? weight : NULL,
                             has_classes(job) ? class : NULL};
    TRY(krein__loo_walk(ctx, system, z, &targets, &path));
    report_choice(job, &path);
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, index);
    krein__free(ctx, label);
    krein__free(ctx, weight);
    krein__free(ctx, y);
    krein__free(ctx, class);
    krein__free(ctx, z);
    return st;
}

static krein_status choose_by_loo(krein_job *job, buffers *b, const krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    krein_tally tally = {0};
    krein_scores *scores = NULL;
    if (system->D > KREIN_EIGEN_MAX && !system->mix) return choose_by_walk(job, b, system);
    krein__progress(ctx, "eigendecomposition", 0, 0);
    TRY(krein__scores_begin(ctx, system, true, &path, &scores));
    TRY(job->n <= loo_rows(job->n, job->model->encoding.d) ? score_all(job, b, scores, &tally)
                                                           : score_sample(job, b, scores, &tally));
    krein__tally_end(&tally, has_classes(job), &path);
    report_choice(job, &path);
done:
    krein__scores_end(scores);
    return st;
}

/* The centred system of what was accumulated, as far as fused blocks resolve it at lambda. */
static krein_status make_system(const krein_map *map, const buffers *b, krein_ridge *ridge,
                                double lambda, krein_system *out) {
    if (!map->mix || !b->fused) return krein__ridge_system(ridge, NULL, 0, b->width, out);
    return krein__ridge_system(ridge, map->mix, map->D, krein__map_fused(map, lambda), out);
}

/* ---- cross-validation --------------------------------------------------- */

/* The fold of every row, from one pass over classes and groups. */
static krein_status assign_folds(krein_job *job, int32_t *fold) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int32_t *class = NULL, *group = NULL;
    if (has_classes(job)) NEW(class, job->n);
    if (job->data->options.group) NEW(group, job->n);
    TRY(krein__job_targets(job, NULL, class, NULL, group));
    TRY(krein__folds(ctx, job->seed, job->n, job->folds, group, class, fold));
done:
    krein__free(ctx, class);
    krein__free(ctx, group);
    return st;
}

/* Pushes the rows inside (or outside) fold f to the front of the block, features and targets. */
static int64_t compact(buffers *b, float *z, int64_t n, int64_t k, const int32_t *fold, int64_t f,
                       bool inside, const double *weight, double *kept_weight) {
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if ((fold[i] == f) != inside) continue;
        if (m < i) {
            memcpy(z + m * b->width, z + i * b->width, (size_t)b->width * sizeof *z);
            memcpy(b->y + m * k, b->y + i * k, (size_t)k * sizeof *b->y);
            b->class[m] = b->class[i];
        }
        kept_weight[m++] = weight ? weight[i] : 1;
    }
    return m;
}

static krein_status pass_of_fold(krein_job *job, buffers *b, const int32_t *fold, int64_t f,
                                 krein_ridge *ridge, krein_scores *scores, krein_tally *tally,
                                 double *weight) {
    krein_status st = KREIN_OK;
    krein_block block;
    int64_t k = job->model->k;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        float *z = features(job, b, &block.x);
        krein__targets_fill(job->model, job->data, block.x.n, block.label, b->y, b->class);
        int64_t m = compact(b, z, block.x.n, k, fold + block.first, f, scores != NULL, block.weight,
                            weight);
        const double *w = block.weight ? weight : NULL;
        krein_targets rows = {m, k, b->y, w, has_classes(job) ? b->class : NULL};
        if (ridge)
            krein__ridge_add(ridge, m, z, b->y, w);
        else
            TRY(krein__scores_add(scores, z, &rows, tally));
    }
    krein__progress(job->ctx, "cross-validation", (double)(f + (scores != NULL)),
                    (double)job->folds);
done:
    return st;
}

/* For each fold: products of the other rows, one eigendecomposition, scores of the fold's rows. */
static krein_status choose_by_folds(krein_job *job, buffers *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    krein_path path = {0};
    krein_tally tally = {0};
    krein_ridge ridge = {0};
    krein_system system = {0};
    krein_scores *scores = NULL;
    int32_t *fold = NULL;
    double *weight = NULL;
    NEW(fold, job->n);
    NEW(weight, b->rows);
    TRY(assign_folds(job, fold));
    for (int64_t f = 0; f < job->folds; f++) {
        TRY(krein__ridge_begin(ctx, b->width, job->model->k, b->rows, &ridge));
        TRY(pass_of_fold(job, b, fold, f, &ridge, NULL, NULL, weight));
        TRY(make_system(map, b, &ridge, map->fused_lambda, &system));
        krein__ridge_clear(&ridge);
        TRY(krein__scores_begin(ctx, &system, false, &path, &scores));
        TRY(pass_of_fold(job, b, fold, f, NULL, scores, &tally, weight));
        krein__scores_end(scores);
        scores = NULL;
        krein__system_clear(ctx, &system);
    }
    krein__tally_end(&tally, has_classes(job), &path);
    report_choice(job, &path);
done:
    krein__scores_end(scores);
    krein__ridge_clear(&ridge);
    krein__system_clear(ctx, &system);
    krein__free(ctx, fold);
    krein__free(ctx, weight);
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

/* Fits with blocks of one kind; lambda stays as chosen. */
static krein_status fit_blocks(krein_job *job, bool fused) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    const krein_map *map = m->map;
    krein_ridge ridge = {0};
    krein_system system = {0};
    buffers b = {0};
    double *wz = NULL;
    TRY(buffers_begin(job, fused, &b));
    if (job->lambda < 0 && job->folds > 0) TRY(choose_by_folds(job, &b));
    TRY(krein__ridge_begin(ctx, b.width, m->k, b.rows, &ridge));
    TRY(accumulate(job, &b, &ridge));
    bool choose = job->lambda < 0, mix = map->mix && b.fused;
    TRY(make_system(map, &b, &ridge, choose ? map->fused_lambda : job->lambda, &system));
    if (choose) TRY(choose_by_loo(job, &b, &system));
    if (choose && mix) { /* with the columns that the chosen lambda allows */
        krein__system_clear(ctx, &system);
        TRY(make_system(map, &b, &ridge, job->lambda, &system));
    }
    krein__ridge_clear(&ridge);
    if (b.fused) {
        TRY(krein__system_solve(ctx, &system, job->lambda, m->w, m->intercept));
    } else {
        NEW(wz, map->D * m->k);
        TRY(krein__system_solve(ctx, &system, job->lambda, wz, m->intercept));
        krein__pgemm(ctx, false, false, map->R, m->k, map->D, 1, map->mix, map->D, wz, m->k, 0,
                     m->w, m->k);
    }
    for (int64_t j = 0; j < map->R; j++) /* the offset goes into the intercept */
        for (int64_t c = 0; c < m->k; c++)
            m->intercept[c] -= (double)b.offset[j] * m->w[j * m->k + c];
done:
    krein__free(ctx, wz);
    krein__ridge_clear(&ridge);
    krein__system_clear(ctx, &system);
    buffers_end(ctx, &b);
    return st;
}

static krein_status fit_features(krein_job *job) {
    const krein_map *map = job->model->map;
    if (!map->mix) return fit_blocks(job, true);
    /* With a margin: a choice near the least lambda that fused blocks resolve was made by their
     * rounding. The kind of the last fit follows from lambda alone, so that a model can be made
     * again from what was chosen. */
    double least = 2 * map->fused_lambda;
    if (job->lambda >= 0) return fit_blocks(job, job->lambda >= least);
    krein_status st = KREIN_OK;
    if (isfinite(least)) st = fit_blocks(job, true);
    if (st != KREIN_OK || job->lambda >= least) return st;
    krein__log(job->ctx, KREIN_LOG_DEBUG,
               "lambda below what raw blocks resolve (%g): choosing on features", least);
    job->lambda = -1;
    st = fit_blocks(job, false);
    return st == KREIN_OK && job->lambda >= least ? fit_blocks(job, true) : st;
}

/* ---- on the kernel matrix ----------------------------------------------- */

/* An indefinite matrix has no Cholesky factor. */
static bool dual_walk(const krein_map *map, int64_t n) {
    return n > KREIN_EIGEN_MAX && krein__kernel_positive(map->kernel);
}

static krein_status fit_kernel(krein_job *job) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    int64_t n = job->n;
    double *K = NULL, *y = NULL, *weight = NULL;
    int32_t *class = NULL, *fold = NULL;
    NEW(K, n * n);
    NEW(y, n * m->k);
    NEW(class, n);
    NEW(weight, n);
    TRY(krein__job_targets(job, y, class, weight, NULL));
    krein_targets rows = {n, m->k, y, job->data->has_weight ? weight : NULL,
                          has_classes(job) ? class : NULL};
    krein_rows x = krein__map_landmarks(m->map);
    if (job->lambda < 0) {
        krein_path path = {0};
        krein__progress(ctx, "leave-one-out", 0, 0);
        TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, K));
        if (job->folds > 0) {
            NEW(fold, n);
            TRY(assign_folds(job, fold));
            TRY(krein__dual_cv(ctx, K, &rows, fold, job->folds, &path));
        } else if (dual_walk(m->map, n)) {
            TRY(krein__dual_walk(ctx, K, &rows, krein__min(n / 2, KREIN_EIGEN_MAX), job->seed,
                                 &path, m->w, m->intercept));
            report_choice(job, &path);
            goto done; /* it has solved already */
        } else {
            TRY(krein__dual_path(ctx, K, &rows, &path));
        }
        report_choice(job, &path);
        TRY(krein__poll(ctx));
    }
    TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, K));
    TRY(krein__dual_solve(ctx, K, &rows, job->lambda, m->w, m->intercept));
done:
    krein__free(ctx, K);
    krein__free(ctx, y);
    krein__free(ctx, class);
    krein__free(ctx, fold);
    krein__free(ctx, weight);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    (void)values;
    krein_model *m = job->model;
    krein_status st = m->map->cls->traits & KREIN_MAP_DUAL ? fit_kernel(job) : fit_features(job);
    if (st == KREIN_OK && m->encoding.task == KREIN_TASK_REGRESSION)
        for (int64_t c = 0; c < m->k; c++) m->intercept[c] += job->data->label_mean[c];
    if (st == KREIN_OK) m->lambda = job->lambda;
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    (void)values;
    double N = (double)n, K = (double)k, L = 45;
    if (map->cls->traits & KREIN_MAP_DUAL) {
        /* Three matrices in an eigendecomposition: of all rows (cross-validation, an indefinite
         * kernel), or of those that a walk starts from, beside the one of all rows. */
        bool walk = dual_walk(map, n), eigen = path || !krein__kernel_positive(map->kernel);
        double M = KREIN_EIGEN_MAX, some = N * N + (walk ? 3 * M * M : 0);
        out->bytes += 8 * (eigen ? fmax(3 * N * N, some) : 1.1 * N * N) + 8 * N * L * (2 * K + 1) +
                      16 * 256 * (N + 256) + 64 * N;
        out->flops = N * N * krein__gram_flops(map->kernel, map->d) + N * N * N / 3 +
                     (!path ? 0 : (walk ? 3.0 : 9.0) * N * N * N);
        *passes = 2;
        return;
    }
    double D = (double)map->cls->features(map, n), rows = (double)krein__block_rows(map->d);
    bool mixed = map->cls->traits & KREIN_MAP_DATA;
    double sample = (double)loo_rows(n, map->d);
    bool walk = D > KREIN_EIGEN_MAX && !mixed;
    double kept = (double)walk_rows(n), threads = map->ctx->threads;
    double eigen = 8 * D * D * 4 + 4 * D * D + 4 * D * L * (K + 1) +
                   threads * 4.0 * 256 * (3 * D + 3 * L * K + L) +
                   (sample < N ? 4 * sample * (double)map->d : 0);
    double steps = 12 * D * D + kept * (8 * D + 4 * (double)map->d + 16 * K + 64) +
                   threads * 4.0 * 256 * (D + K) + 12 * D * K + 3e7 + 4e4 * (K + 1);
    out->bytes += krein__ridge_bytes((int64_t)D, k, (int64_t)rows, map->ctx->threads) +
                  8 * rows * D + 8 * rows * (K + 1) + 4 * D * D * mixed +
                  threads * 4.0 * KREIN_TILE * D + /* padded tiles */
                  8 * D * D * (mixed ? 3 : 1) +    /* factor; products with mix */
                  (!path  ? 0
                   : walk ? steps
                          : eigen);
    out->flops = N * D * (D + 1 + 2 * K) + D * D * D / 3 + (mixed ? 4 * D * D * D : 0) +
                 (!path  ? 0
                  : walk ? 8 * (D * D * D / 3 + kept * D * D)
                         : 9 * D * D * D + 2 * sample * D * D);
    *passes = path ? 2 : 1;
}

const krein_learner_class krein__learner_krr = {
    .cls = {"krr", "kernel ridge regression; classes through -1/+1 targets", "saunders1998", NULL,
            "On features in one pass (plus one for leave-one-out), or on the kernel matrix with "
            "map=exact. lambda by exact leave-one-out unless --lambda is given."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .exact_rows = 7500,
    .fit = fit,
    .cost = cost};
