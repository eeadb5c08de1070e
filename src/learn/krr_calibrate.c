/* krr_calibrate.c -- probabilities of kernel ridge regression
 *
 * Slopes and shifts (model/calibrate.c) are fitted to scores of rows by the model without them, at
 * the lambda of the model. Of ridge regression these are exact and come from the model on all rows
 * (ridge.c, krein_ridge.c, dual_at.c):
 *
 *     f_{-i}(x_i) = y_i - (y_i - f(x_i)) / (1 - w_i h_i),    h_i the leverage of row i.
 *
 * On features for a seeded sample of the rows where they are many: a few numbers are fitted, and
 * the error that a sample of thousands leaves in them is small beside that of the model. A row of
 * leverage one (no other row says anything of it) is left out.
 *
 * Rows of one group know too much of each other for that. With groups, and where cross-validation
 * was asked for, the scores are those of folds, each by a fit to the other rows. So are they on
 * features where lambda is so small that float32 leaves nothing of leave-one-out.
 *
 * Cost on features: D^3 flops and D^2 for each row of the sample; with folds, as many fits as
 * folds. On the kernel matrix 2 n^3 / 3 flops. */
#include "stream/together.h"
#include "learn/krr.h"
#include "learn/conformal.h"
#include "solve/krein_ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One minus the leverage comes from float32 products. */
static const double LEAST_REST = 1e-4;

int64_t krein__krr_calibration_folds(int64_t folds, bool grouped, int64_t n) {
    return folds > 0 || grouped ? krein__fold_count(folds, n) : 0;
}

static int64_t folds_of(const krein_job *job) {
    return krein__krr_calibration_folds(job->folds, job->data->options.group != NULL, job->n);
}

bool krein__krr_leaves_one_out(const krein_job *job) { return folds_of(job) == 0; }

double krein__krr_calibration_bytes(int64_t n, int64_t k) {
    double N = (double)n, K = (double)krein__max(2, k);
    return N * (24 * K + 64) + 16 * K * K + 256 * 8 * K + 4096;
}

krein_status krein__krr_calibrate(krein_job *job, int64_t folds, int64_t n, const double *score,
                                  const int32_t *class, const double *y, const double *weight) {
    char held[64] = "leave-one-out scores";
    if (folds > 0) snprintf(held, sizeof held, "scores of %lld folds", (long long)folds);
    krein__log(job->ctx, KREIN_LOG_INFO, "%s %s of %lld rows%s",
               krein__job_labels(job) ? "thresholds and probabilities of the labels: by"
                                      : "probabilities: calibrated on",
               held, (long long)n, n < job->n ? ", a sample" : "");
    return krein__job_calibrate(job, n, score, class, y, weight);
}

/* ---- on features -------------------------------------------------------- */

/* Fits (z_i - m)'w (n x k) and levers (n) of the sample. */
static krein_status measure(krein_job *job, krein_krr *b, const krein_system *system,
                            const krein_krr_sample *s, double *fit, double *lever) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_scores *scores = NULL;
    int64_t n = s->targets.n, k = s->targets.k, m;
    float *f = NULL, *h = NULL;
    TRY(krein__scores_at(ctx, system, job->lambda, &scores));
    NEW(f, b->z.rows * k);
    NEW(h, b->z.rows);
    /* All processes have the sample; each takes some of it, and the others' numbers are zeros. */
    int64_t turn = krein__stream_turn(job->rows), turns = krein__stream_turns(job->rows);
    for (int64_t i = turn * b->z.rows; i < n; i += turns * b->z.rows) {
        const float *z = krein__krr_sample_block(s, b, i, &m);
        krein__scores_rows(scores, m, z, f, h);
        for (int64_t e = 0; e < m * k; e++) fit[i * k + e] = (double)f[e];
        for (int64_t r = 0; r < m; r++) lever[i + r] = (double)h[r];
        krein__progress(ctx, "probabilities", (double)(i + m), (double)n);
        TRY(krein__poll(ctx));
    }
    TRY(krein__stream_sum(job->rows, n * k, fit));
    TRY(krein__stream_sum(job->rows, n, lever));
done:
    krein__scores_end(scores);
    krein__free(ctx, f);
    krein__free(ctx, h);
    return st;
}

static krein_status measure_signed(krein_job *job, krein_krr *b, const krein_system *system,
                                   const krein_krr_sample *s, double *fit, double *lever) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    float *z = NULL;
    TRY(krein__krr_sample_centred(ctx, s, b, system, &z));
    TRY(krein__krein_levers(ctx, system, b->sign, job->lambda, s->targets.n, z, fit, lever));
done:
    krein__free(ctx, z);
    return st;
}

/* One minus the leverage; 0: float32 leaves too few digits of it. */
static double rest_of(const krein_krr *b, const krein_system *system, double weight, double lever) {
    double rest = 1 - weight * (1 / system->weight + lever);
    return (b->sign ? fabs(rest) : rest) > LEAST_REST ? rest : 0;
}

/* *enough: float32 resolves lambda, and most of the rows are not alone; else score is of no use. */
static krein_status leave_one_out(krein_job *job, krein_krr *b, const krein_system *system,
                                  krein_krr_sample *s, double *score, bool *enough) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->targets.n, k = s->targets.k, alone = 0;
    double *rest = NULL;
    *enough = job->lambda >= krein__system_floor(system) / 2;
    if (!*enough) return KREIN_OK;
    ZNEW(rest, n);
    TRY(b->sign ? measure_signed(job, b, system, s, score, rest)
                : measure(job, b, system, s, score, rest));
    for (int64_t i = 0; i < n; i++) {
        rest[i] = rest_of(b, system, s->weight[i], rest[i]);
        alone += rest[i] == 0;
    }
    *enough = 2 * alone <= n;
    for (int64_t i = 0; *enough && i < n; i++) {
        for (int64_t c = 0; c < k; c++) {
            double y = s->y[i * k + c], *f = score + i * k + c;
            *f = rest[i] == 0 ? 0 : y - (y - system->ymean[c] - *f) / rest[i];
        }
        if (rest[i] == 0) s->weight[i] = 0;
    }
done:
    krein__free(ctx, rest);
    return st;
}

/* Scores of the sample's rows in fold f, by the fit to the other rows. In float64: weights of raw
 * features may be large. */
static krein_status score_fold(krein_job *job, krein_krr *b, const krein_system *system,
                               const krein_krr_sample *s, const int32_t *fold, int64_t f,
                               double *score) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t k = s->targets.k, width = b->z.width, m;
    double *w = NULL, *intercept = NULL;
    NEW(w, width * k);
    NEW(intercept, k);
    TRY(krein__krr_solve(ctx, system, b->sign, job->lambda, w, intercept));
    for (int64_t i = 0; i < s->targets.n; i += m) {
        const float *z = krein__krr_sample_block(s, b, i, &m);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
        for (int64_t r = 0; r < m; r++) {
            double *out = score + (i + r) * k;
            if (fold[s->index[i + r]] != f) continue;
            memcpy(out, intercept, (size_t)k * sizeof *out);
            for (int64_t j = 0; j < width; j++)
                for (int64_t c = 0; c < k; c++) out[c] += (double)z[r * width + j] * w[j * k + c];
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, w);
    krein__free(ctx, intercept);
    return st;
}

static bool some_in(const krein_krr_sample *s, const int32_t *fold, int64_t f) {
    for (int64_t i = 0; i < s->targets.n; i++)
        if (fold[s->index[i]] == f) return true;
    return false;
}

static krein_status by_folds(krein_job *job, krein_krr *b, int64_t folds, const krein_krr_sample *s,
                             double *score) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_system system = {0};
    int32_t *fold = NULL;
    NEW(fold, job->n);
    TRY(krein__krr_folds(job, folds, fold));
    for (int64_t f = 0; f < folds; f++) {
        if (!some_in(s, fold, f)) continue;
        krein__progress(ctx, "probabilities", (double)f, (double)folds);
        TRY(krein__krr_fold_system(job, b, fold, f, job->lambda, &system));
        TRY(score_fold(job, b, &system, s, fold, f, score));
        krein__system_clear(ctx, &system);
    }
done:
    krein__system_clear(ctx, &system);
    krein__free(ctx, fold);
    return st;
}

krein_status krein__krr_calibrate_features(krein_job *job, krein_krr *b, krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_krr_sample s = {0};
    double *score = NULL;
    int64_t folds = folds_of(job), n = krein__krr_loo_rows(job->n, job->model->encoding.d);
    if (b->sign && folds == 0) n = krein__krr_walk_rows(job->n, system->D, true);
    bool enough = false;
    TRY(krein__krr_sample(job, n, NULL, &s));
    ZNEW(score, n * s.targets.k);
    if (folds == 0) TRY(leave_one_out(job, b, system, &s, score, &enough));
    krein__system_clear(ctx, system);
    if (!enough) {
        folds = krein__fold_count(folds, job->n);
        TRY(by_folds(job, b, folds, &s, score));
    }
    TRY(krein__krr_calibrate(job, folds, n, score, s.class, s.y, s.weight));
done:
    krein__krr_sample_clear(ctx, &s);
    krein__free(ctx, score);
    return st;
}

/* ---- some rows ---------------------------------------------------------- */

/* The error of held-out scores. */
static double error_of(const krein_job *job, const krein_krr_sample *s, const double *score) {
    krein_targets rows = s->targets;
    krein_tally tally = {0};
    krein_path path = {.n = 1};
    bool classes = krein__job_classes(job);
    rows.weight = s->weight;
    krein__tally_add(&tally, &rows, 1, score);
    krein__tally_end(&tally, classes, &path);
    return classes ? path.error[0] : sqrt(path.loss[0]);
}

krein_status krein__krr_apart(krein_job *job, krein_krr *b, const krein_system *system) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_apart *p = job->apart;
    krein_krr_sample s = {0};
    double *score = NULL;
    bool enough = false;
    p->error = NAN;
    if (p->n == 0 || !krein__krr_leaves_one_out(job)) return KREIN_OK;
    TRY(krein__krr_sample(job, p->n, p->index, &s));
    ZNEW(score, p->n * s.targets.k);
    TRY(leave_one_out(job, b, system, &s, score, &enough));
    if (enough) p->error = error_of(job, &s, score);
done:
    krein__krr_sample_clear(ctx, &s);
    krein__free(ctx, score);
    return st;
}

krein_status krein__krr_apart_fit(krein_job *job, krein_krr *b) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_apart *p = job->apart;
    krein_krr_sample s = {0};
    krein_system system = {0};
    double *score = NULL;
    int32_t *fold = NULL;
    if (p->n == 0 || p->n == job->n) return KREIN_OK;
    ZNEW(fold, job->n);
    for (int64_t i = 0; i < p->n; i++) fold[p->index[i]] = 1;
    TRY(krein__krr_sample(job, p->n, p->index, &s));
    ZNEW(score, p->n * s.targets.k);
    TRY(krein__krr_fold_system(job, b, fold, 1, job->lambda, &system));
    TRY(score_fold(job, b, &system, &s, fold, 1, score));
    p->error = error_of(job, &s, score);
done:
    krein__system_clear(ctx, &system);
    krein__krr_sample_clear(ctx, &s);
    krein__free(ctx, score);
    krein__free(ctx, fold);
    return st;
}

/* ---- on the kernel matrix ----------------------------------------------- */

/* Rows of a fold that leaves too few to learn from have no score, and no weight. */
static krein_status kernel_by_folds(krein_job *job, const double *K, const krein_targets *rows,
                                    int64_t folds, double *score, double *weight) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t *count = NULL, n = rows->n, k = rows->k;
    int32_t *fold = NULL;
    NEW(fold, n);
    ZNEW(count, folds);
    TRY(krein__krr_folds(job, folds, fold));
    TRY(krein__dual_folds_at(ctx, K, rows, fold, folds, job->lambda, score));
    for (int64_t i = 0; i < n; i++) count[fold[i]]++;
    for (int64_t i = 0; i < n; i++) {
        if (n - count[fold[i]] >= 2) continue;
        weight[i] = 0;
        memset(score + i * k, 0, (size_t)k * sizeof *score);
    }
done:
    krein__free(ctx, fold);
    krein__free(ctx, count);
    return st;
}

krein_status krein__krr_calibrate_kernel(krein_job *job, double *K, const krein_targets *rows) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t folds = folds_of(job), n = rows->n;
    double *score = NULL, *weight = NULL;
    krein_path path;
    krein__progress(ctx, "probabilities", 0, 0);
    NEW(score, n * rows->k);
    NEW(weight, n);
    for (int64_t i = 0; i < n; i++) weight[i] = rows->weight ? rows->weight[i] : 1;
    TRY(folds > 0 ? kernel_by_folds(job, K, rows, folds, score, weight)
                  : krein__dual_loo_at(ctx, K, rows, job->lambda, true, &path, score));
    TRY(krein__krr_calibrate(job, folds, n, score, rows->class, rows->y, weight));
done:
    krein__free(ctx, score);
    krein__free(ctx, weight);
    return st;
}
