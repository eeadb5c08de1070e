/* krr -- kernel ridge regression, for numbers and (through -1/+1 targets) for classes
 *
 * On features: one pass accumulates Z'Z and Z'y in float64 (solve/ridge.c); lambda is chosen by
 * exact leave-one-out over a path from one eigendecomposition (above 2,048 features by steps of a
 * Cholesky factorisation each, solve/walk.c), then one Cholesky factorisation solves for all
 * outputs. Memory O(block D + D^2) whatever n is. The leave-one-out residuals are those of the
 * model on all rows; they are averaged over all rows, or above LOO_SAMPLE rows over a seeded sample
 * of so many (the mean of a sample that large has no say in the choice). With --select cv(k),
 * lambda is chosen by k folds instead, each with a fit of its own. On the kernel matrix
 * (map=exact): krr_kernel.c.
 *
 * solver=pcg solves the same equations on features by conjugate gradients instead (krr_pcg.c), in
 * O(block D + D sample) memory, and those on the kernel matrix with one half of it
 * (krr_kernel_pcg.c). With many landmarks of nystrom it needs neither the normal equations nor the
 * eigenvectors that would make features of kernel values.
 *
 * An indefinite kernel has features of both signs S. norm=hilbert penalises |w|^2, the machine of
 * the kernel with all signs positive. norm=krein stabilises the risk with the kernel's own lambda
 * w'Sw (solve/krein_ridge.c), which on the kernel matrix is K + n lambda I: what map=exact solves
 * whatever the norm. Without negative features both are the same.
 *
 * Probabilities of classes come from a calibration on leave-one-out scores (krr_calibrate.c).
 */
#include "stream/together.h"
#include "learn/group.h"
#include "learn/krr.h"
#include "num/blas.h"
#include "solve/krein_ridge.h"

#include <math.h>
#include <string.h>

enum { NORM, SOLVER };
enum { HILBERT = 0, KREIN = 1 };
enum { AUTO = 0, DIRECT = 1, PCG = 2 };
enum { MANY = 1024 }; /* features: below, normal equations take no time */
/* Rows of the kernel matrix up to which lambda is chosen by exact leave-one-out, unless conjugate
 * gradients are asked for; where the job has a start. */
enum { LOO_ROWS = 8192, NEAR_ROWS = 4500 };
enum { FEW_ROWS = 8192 }; /* up to which leave-one-out is the better choice on landmarks */

static const krein_option options[] = {
    {.name = "norm",
     .type = KREIN_OPTION_WORD,
     .value = HILBERT,
     .words = "hilbert|krein",
     .help = "features with signs (indefinite kernels): penalise |w|^2, or stabilise with the "
             "kernel's own w'Sw; with map=exact it is the latter either way"},
    {.name = "solver",
     .type = KREIN_OPTION_WORD,
     .value = AUTO,
     .words = "auto|direct|pcg",
     .help = "normal equations (map=exact: a factorisation of the kernel matrix), or conjugate "
             "gradients, which need no D x D numbers; auto: the latter on features where the "
             "former do not fit into memory, or rows are few, for many landmarks of nystrom, and "
             "with map=exact above 8,192 rows where it is shorter"},
    {0}};

/* ---- on features -------------------------------------------------------- */

krein_status krein__krr_begin(krein_job *job, bool fused, const int8_t *sign, krein_krr *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    b->sign = sign;
    TRY(krein__blocks_begin(job->model->map, job->rows, fused, &b->z));
    NEW(b->y, b->z.rows * job->model->k);
    NEW(b->class, b->z.rows);
done:
    return st;
}

void krein__krr_end(krein_ctx *ctx, krein_krr *b) {
    krein__blocks_end(&b->z);
    krein__free(ctx, b->y);
    krein__free(ctx, b->class);
}

krein_status krein__krr_system(const krein_krr *b, krein_ridge *ridge, double lambda,
                               krein_system *out) {
    const krein_map *map = b->z.map;
    if (!map->mix || !b->z.fused) return krein__ridge_system(ridge, NULL, 0, b->z.width, out);
    return krein__ridge_system(ridge, map->mix, map->D, krein__map_fused(map, lambda), out);
}

/* The next blocks of the stream; *rows: how many rows they have, 0 at the end. */
static krein_status add_blocks(krein_job *job, krein_krr *b, krein_group *group, int64_t *rows) {
    krein_status st = KREIN_OK;
    krein_block block = {.x = {.n = 1}};
    *rows = 0;
    while (block.x.n > 0 && (*rows == 0 || !krein__group_full(group))) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        krein__targets_fill(job->model, job->data, block.x.n, block.label, b->y, NULL);
        krein__group_take(group, &block.x, b->y, block.weight);
        *rows += block.x.n;
    }
    krein__group_add(group);
done:
    return st;
}

/* From the first row, or from where a checkpoint of this pass stands. */
static krein_status accumulate(krein_job *job, krein_krr *b, int64_t pass, krein_ridge *ridge) {
    krein_status st = KREIN_OK;
    krein_checkpoint *c = job->checkpoint;
    krein_sums now = job->sums;
    krein_group *group = NULL;
    int64_t rows = 0;
    TRY(krein__group_begin(&b->z, job->n, ridge, &group));
    if (now.pass == pass) {
        TRY(krein__sums_take(c, &now, ridge));
        TRY(krein__stream_seek(job->rows, &now.place));
    } else {
        TRY(krein__stream_rewind(job->rows));
    }
    int64_t before = ridge->n;
    now = (krein_sums){pass, job->lambda, job->loo, job->cv_folds, now.place, job->model->path};
    do {
        krein__stream_tell(job->rows, &now.place);
        if (ridge->n > before && krein__checkpoint_due(c))
            TRY(krein__sums_keep(c, &now, ridge, false));
        st = add_blocks(job, b, group, &rows);
        if (st == KREIN_ECANCEL && c) {
            TRY(krein__sums_keep(c, &now, ridge, true));
            st = KREIN_ECANCEL;
        }
        if (st != KREIN_OK) goto done;
        krein__progress(job->ctx, "fitting", (double)now.place.streamed + (double)rows,
                        (double)job->n);
    } while (rows > 0);
    TRY(krein__sums_keep(c, &now, ridge, false));
    TRY(krein__ridge_together(ridge, job->rows));
done:
    krein__group_end(group);
    return st;
}

krein_status krein__krr_solve(krein_ctx *ctx, const krein_system *system, const int8_t *sign,
                              double lambda, double *w, double *intercept) {
    return sign ? krein__krein_solve(ctx, system, sign, lambda, w, intercept)
                : krein__system_solve(ctx, system, lambda, w, intercept);
}

/* What was chosen before the pass that a checkpoint stands in. */
static void recall(krein_job *job) {
    const krein_sums *s = &job->sums;
    job->lambda = s->lambda;
    job->loo = s->loo;
    job->cv_folds = s->folds;
    job->model->path = s->path;
}

void krein__krr_weights(krein_job *job, const krein_krr *b, const double *w) {
    krein_model *m = job->model;
    const krein_map *map = m->map;
    int64_t R = map->R, k = m->k;
    if (b->z.fused)
        memcpy(m->w, w, (size_t)(R * k) * sizeof *w);
    else
        krein__pgemm(job->ctx, false, false, R, k, map->D, 1, map->mix, map->D, w, k, 0, m->w, k);
    for (int64_t j = 0; j < R; j++) /* the offset goes into the intercept */
        for (int64_t c = 0; c < k; c++) m->intercept[c] -= (double)b->z.offset[j] * m->w[j * k + c];
}

/* With a margin: a choice near the least lambda that fused blocks resolve was made by their
 * rounding. */
static double fused_least(const krein_map *map) { return 2 * map->fused_lambda; }
/* The kind of the last fit follows from lambda alone, so that a model can be made again from what
 * was chosen. */
static bool fused_at(const krein_map *map, double lambda) { return lambda >= fused_least(map); }

/* Fits with blocks of one kind; lambda stays as chosen. */
static krein_status fit_blocks(krein_job *job, int64_t pass, bool fused, const void *state) {
    const int8_t *sign = state;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    const krein_map *map = m->map;
    krein_ridge ridge = {0};
    krein_system system = {0};
    krein_krr b = {0};
    double *wz = NULL;
    if (job->sums.pass == pass) recall(job);
    TRY(krein__krr_begin(job, fused, sign, &b));
    if (job->lambda < 0 && job->folds > 0) TRY(krein__krr_choose_folds(job, &b));
    TRY(krein__ridge_begin(ctx, b.z.width, m->k, b.z.rows, &ridge));
    TRY(accumulate(job, &b, pass, &ridge));
    bool choose = job->lambda < 0, mix = map->mix && b.z.fused;
    TRY(krein__krr_system(&b, &ridge, choose ? map->fused_lambda : job->lambda, &system));
    if (choose) TRY(krein__krr_choose_loo(job, &b, &system));
    if (choose && mix) { /* with the columns that the chosen lambda allows */
        krein__system_clear(ctx, &system);
        TRY(krein__krr_system(&b, &ridge, job->lambda, &system));
    }
    krein__ridge_clear(&ridge);
    NEW(wz, b.z.width * m->k);
    TRY(krein__krr_solve(ctx, &system, sign, job->lambda, wz, m->intercept));
    krein__krr_weights(job, &b, wz);
    bool last = sign || !map->mix || fused == fused_at(map, job->lambda);
    if (job->apart && last) TRY(krein__krr_apart(job, &b, &system));
    if (job->probabilities && last) TRY(krein__krr_calibrate_features(job, &b, &system));
    krein__system_clear(ctx, &system);
    if (job->apart && last && isnan(job->apart->error)) TRY(krein__krr_apart_fit(job, &b));
done:
    krein__free(ctx, wz);
    krein__ridge_clear(&ridge);
    krein__system_clear(ctx, &system);
    krein__krr_end(ctx, &b);
    return st;
}

krein_status krein__krr_fit(krein_job *job, krein_krr_fit *fit, const void *state) {
    const krein_map *map = job->model->map;
    if (!map->mix) return fit(job, 1, false, state);
    double least = fused_least(map);
    if (job->lambda >= 0) return fit(job, 1, fused_at(map, job->lambda), state);
    krein_status st = KREIN_OK;
    if (isfinite(least) && job->sums.pass <= 1) st = fit(job, 1, true, state);
    if (st != KREIN_OK || fused_at(map, job->lambda)) return st;
    krein__log(job->ctx, KREIN_LOG_DEBUG,
               "lambda below what raw blocks resolve (%g): choosing on features", least);
    job->lambda = -1;
    if (job->sums.pass <= 2)
        st = fit(job, 2, false, state);
    else
        recall(job);
    return st == KREIN_OK && fused_at(map, job->lambda) ? fit(job, 3, true, state) : st;
}

static krein_status fit_features(krein_job *job, const int8_t *sign) {
    return sign ? fit_blocks(job, 1, false, sign) : krein__krr_fit(job, fit_blocks, NULL);
}

/* ---- what it takes ------------------------------------------------------ */

/* What the calibration holds beside the system: the factor with its inverse, the sample and its
 * scores. With folds: beside nothing, a system and its factor. */
static double calibration_bytes(const krein_map *map, bool krein, int64_t n, int64_t k) {
    double N = (double)n, K = (double)k, D = (double)map->cls->features(map, n);
    int64_t rows = krein__krr_loo_rows(n, map->d);
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    double centred = krein ? 4 * D * (double)krein__krr_walk_rows(n, (int64_t)D, true) : 0;
    return 12 * D * D + 8 * D * D * mixed + 8 * D * (3 * K + 4) + centred +
           map->ctx->threads * 256.0 * (krein ? 16 * D : 4 * (3 * D + K + 1)) +
           (double)rows * (4 * (double)map->d + 16 * K + 48) +
           krein__krr_calibration_bytes(rows, k) + 48 * N;
}

static void direct_cost(const krein_map *map, bool krein, int64_t n, int64_t k, bool path,
                        krein_cost *out, int64_t *passes) {
    double N = (double)n, K = (double)k, L = 45;
    double D = (double)map->cls->features(map, n), rows = (double)krein__block_rows(map->d);
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    double sample = (double)krein__krr_loo_rows(n, map->d);
    bool large = D > KREIN_EIGEN_MAX, walk = large && !mixed; /* with a mix: one or the other */
    double kept = (double)krein__krr_walk_rows(n, (int64_t)D, krein), threads = map->ctx->threads;
    double eigen = 8 * D * D * 4 + 4 * D * D + 4 * D * L * (K + 1) +
                   threads * 4.0 * 256 * (3 * D + 3 * L * K + L) +
                   (sample < N ? 4 * sample * (double)map->d : 0);
    double steps = 12 * D * D + kept * (8 * D + 4 * (double)map->d + 16 * K + 64) +
                   threads * 4.0 * 256 * (D + K) + 12 * D * K + 3e7 + 4e4 * (K + 1);
    /* One factor; rows kept, their doubles in tiles; under folds the weights of a path. */
    double indefinite = 8 * D * D + 8 * D * (66 + 2 * K + 30 * K) +
                        kept * (4 * D + 4 * (double)map->d + 16 * K + 64) +
                        threads * 16.0 * 256 * D;
    if (krein) steps = eigen = fmax(eigen, fmax(steps, indefinite));
    double choice = !path ? 0 : walk ? steps : large ? fmax(steps, eigen) : eigen;
    int64_t folds = krein__krr_calibration_folds(out->folds, out->grouped, n);
    out->bytes += krein__ridge_bytes((int64_t)D, k, (int64_t)rows, map->ctx->threads) +
                  krein__group_bytes(map, n, k) + 8 * rows * D + 8 * rows * (K + 1) +
                  4 * D * D * mixed + threads * 4.0 * KREIN_TILE * D + /* padded tiles */
                  8 * D * D * (mixed ? 3 : 1) + /* factor; products with mix */
                  fmax(choice, out->probabilities ? calibration_bytes(map, krein, n, k) : 0);
    out->flops = N * D * (D + 1 + 2 * K) + D * D * D / 3 + (mixed ? 4 * D * D * D : 0) +
                 (!path   ? 0
                  : krein ? 20 * (D * D * D / 3 + 2 * kept * D * D)
                  : walk  ? 8 * (D * D * D / 3 + kept * D * D)
                          : 9 * D * D * D + 2 * sample * D * D);
    *passes = path ? 2 : 1;
    if (!out->probabilities) return;
    out->flops += folds > 0 ? (double)folds * (N * D * (D + 1 + 2 * K) + D * D * D / 3)
                            : D * D * D + 2 * sample * D * D;
    *passes += folds > 0 ? 2 + folds : 1;
}

/* On the kernel matrix: where the counted work is less, above the rows of exact leave-one-out. */
static bool takes_kernel_pcg(const krein_map *map, int64_t n, int64_t k, bool path, int64_t folds) {
    krein_cost direct = {.folds = folds};
    int64_t passes;
    if (n <= LOO_ROWS || !krein__kernel_positive(map->kernel)) return false;
    krein__krr_kernel_cost(map, n, k, path, &direct, &passes);
    return krein__krr_kernel_pcg_shorter(map, n, k, path, direct.flops);
}

/* Normal equations, unless conjugate gradients were asked for; or they do not fit beside the map
 * into two thirds of the budget (the rest is for rows), for a number of features that was asked
 * for; or the rows are so few that it is the shorter way. */
static bool takes_pcg(const krein_map *map, const krein_values *values, int64_t n, int64_t k,
                      bool path, int64_t folds, bool asked) {
    krein_cost own = {0}, direct = {0}, pcg = {.folds = folds};
    int64_t passes, D = map->cls->features(map, n);
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    if (map->unmixed) return true; /* decided before the map was fitted */
    if (!dual && values->number[NORM] == KREIN) return false;
    if (values->number[SOLVER] != AUTO) return values->number[SOLVER] == PCG;
    if (krein__processes(map->ctx) > 1) return false; /* it passes over the rows of one process */
    if (dual) return takes_kernel_pcg(map, n, k, path, folds);
    map->cls->cost(map, n, &own);
    direct_cost(map, false, n, k, path, &direct, &passes);
    krein__krr_pcg_cost(map, n, k, path, &pcg, &passes);
    bool fits = own.bytes + direct.bytes <= (double)map->ctx->budget / 3 * 2;
    if (!fits && pcg.bytes < direct.bytes) return asked;
    return n < D && D >= MANY && 4 * pcg.flops < direct.flops && pcg.bytes < direct.bytes;
}

/* Or the features are so many, at a lambda that is known or nearly. */
static bool prefers_pcg(const krein_map *map, const krein_values *values, int64_t n, int64_t k) {
    if (map->cls->traits & KREIN_MAP_DUAL || values->number[NORM] == KREIN) return false;
    return values->number[SOLVER] == AUTO && krein__processes(map->ctx) == 1 &&
           krein__krr_pcg_faster(map, n, k);
}

/* Conjugate gradients on the kernel values at many landmarks, which need no mix. */
static bool raw(const krein_job *job, const krein_map *map, const krein_values *values) {
    krein_map view = *map, mixed = *map;
    krein_cost own = {0}, with = {0}, direct = {0}, pcg = {.folds = job->folds};
    int64_t passes, n = job->n, k = job->model->k, D = map->cls->features(map, n);
    bool path = job->lambda < 0;
    if (job->uncertainty) return false; /* it is of features, not of kernel values */
    if (!(krein__map_traits(map) & KREIN_MAP_VALUES) || !krein__kernel_positive(map->kernel))
        return false;
    if (D < MANY || job->lambda == 0 || values->number[NORM] == KREIN) return false;
    if (krein__checkpoint_has(job->checkpoint, KREIN_SUMS)) return false; /* of normal equations */
    if (values->number[SOLVER] != AUTO) return values->number[SOLVER] == PCG;
    if (krein__processes(map->ctx) > 1 || job->checkpoint) return false;
    view.unmixed = true;
    mixed.unmixed = false;
    view.cls->cost(&view, n, &own);
    mixed.cls->cost(&mixed, n, &with);
    direct_cost(&mixed, false, n, k, path, &direct, &passes);
    krein__krr_pcg_cost(&view, n, k, path, &pcg, &passes);
    bool fits = own.bytes + pcg.bytes <= (double)map->ctx->budget / 3 * 2;
    /* Leave-one-out is the better choice of lambda on few rows, while it costs little. */
    if (path && job->lambda_start == 0 && n <= FEW_ROWS && D <= KREIN_EIGEN_MAX) return false;
    return fits && 4 * pcg.flops + own.fit_flops < direct.flops + 2 * with.fit_flops;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    bool pcg = takes_pcg(map, values, n, k, path, out->folds, out->asked);
    if (dual && pcg)
        krein__krr_kernel_pcg_cost(map, n, k, path, out, passes);
    else if (dual)
        krein__krr_kernel_cost(map, n, k, path, out, passes);
    else if (pcg || (!path && prefers_pcg(map, values, n, k)))
        krein__krr_pcg_cost(map, n, k, path, out, passes);
    else
        direct_cost(map, values->number[NORM] == KREIN, n, k, path, out, passes);
}

/* ---- the learner -------------------------------------------------------- */

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    if (values->number[SOLVER] != PCG) return KREIN_OK;
    if (krein__processes(ctx) > 1)
        return krein__fail(ctx, KREIN_EARG,
                           "krr(solver=pcg) runs in one process, and there are %d; use "
                           "solver=direct, or start it without a launcher",
                           krein__processes(ctx));
    bool dual = map && map->cls->traits & KREIN_MAP_DUAL;
    if (values->number[NORM] == KREIN && !dual)
        return krein__fail(ctx, KREIN_EARG,
                           "krr(solver=pcg) minimises with |w|^2: take norm=hilbert, or "
                           "solver=direct for norm=krein");
    if (!dual || !map->kernel || krein__kernel_positive(map->kernel)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "krr(solver=pcg) on the kernel matrix needs a positive definite kernel: use "
                       "solver=direct");
}

/* Normal equations chose a lambda that, were it given, would be solved for by conjugate gradients.
 */
static bool otherwise_given(const krein_job *job, const krein_values *values) {
    krein_job given = *job;
    given.lambda = 1;
    return prefers_pcg(job->model->map, values, job->n, job->model->k) ||
           raw(&given, job->model->map, values);
}

/* The kernel matrix at a lambda that is known nearly: a few steps find it and the model, long
 * before three factorisations would. */
static bool near_kernel(const krein_job *job, const krein_map *map) {
    return job->lambda_start > 0 && job->n > NEAR_ROWS && job->folds == 0 &&
           krein__processes(job->ctx) == 1 && krein__kernel_positive(map->kernel);
}

/* Options that need not be said to get the same model are left out of it. */
static krein_status fit(krein_job *job, krein_values *values) {
    krein_model *m = job->model;
    const krein_map *map = m->map;
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    /* What a checkpoint has is of normal equations: memory may be short now, and was not then. */
    bool begun = krein__checkpoint_has(job->checkpoint, KREIN_SUMS);
    bool path = job->lambda < 0, near = !path || job->lambda_start > 0;
    bool pcg = !begun && takes_pcg(map, values, job->n, m->k, path, job->folds, job->asked);
    if (near && !job->checkpoint) pcg = pcg || prefers_pcg(map, values, job->n, m->k);
    if (dual && values->number[SOLVER] == AUTO) pcg = pcg || near_kernel(job, map);
    if (dual && job->lambda == 0 && values->number[SOLVER] == AUTO) pcg = false;
    const int8_t *sign = values->number[NORM] == KREIN && map->negative > 0 ? map->sign : NULL;
    if (pcg && !dual && job->checkpoint)
        krein__log(job->ctx, KREIN_LOG_WARNING,
                   "`checkpoint` keeps no state of conjugate gradients; krr(solver=direct) can be "
                   "interrupted");
    krein_status st = krein__sums_recall(job->checkpoint, job->data->nrows, &job->sums);
    if (st == KREIN_OK)
        st = dual  ? pcg ? krein__krr_kernel_pcg(job) : krein__krr_kernel(job)
              : pcg ? krein__krr_pcg(job)
                   : fit_features(job, sign);
    if (!sign) values->number[NORM] = NAN;
    bool direct =
        values->number[SOLVER] == DIRECT || (path && !pcg && otherwise_given(job, values));
    values->number[SOLVER] = pcg ? PCG : direct ? DIRECT : NAN;
    for (int64_t c = 0; st == KREIN_OK && c < m->k; c++) m->intercept[c] += krein__job_mean(job, c);
    if (st == KREIN_OK) m->lambda = job->lambda;
    return st;
}

const krein_learner_class krein__learner_krr = {
    .cls =
        {"krr", "kernel ridge regression; classes through -1/+1 targets", "saunders1998", options,
         "On features in one pass (plus one for leave-one-out), or on the kernel matrix with "
         "map=exact. lambda by exact leave-one-out unless `lambda` is given. norm=krein is for "
         "maps whose features have signs (gorf): the stationary point that "
         "map=exact finds on the kernel matrix. solver=pcg, the default where D x D numbers do "
         "not fit into memory, passes over the features many times; above 8,192 rows it chooses "
         "lambda by a tenth of the rows, at most 4,096, held out. With map=exact it keeps half of "
         "the kernel matrix, in float32 or, above 32,000 rows, 16 bits, and chooses lambda by a "
         "tenth, at most 2,000. On nystrom "
         "with 1,024 landmarks or more and a positive definite kernel it is the default where it "
         "is "
         "faster, keeps all landmarks (no feature is dropped), and chooses lambda that way. "
         "Probabilities are calibrated on "
         "leave-one-out scores, or on those of folds (`select=cv`, groups, solver=pcg)."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .together = true,
    .matrix = KREIN_MATRIX_FEW,
    .few = 40000,
    .probabilities = true,
    .held_out = true,
    .posterior = true,
    .check = check,
    .checkpoint = true,
    .fit = fit,
    .raw = raw,
    .cost = cost};
