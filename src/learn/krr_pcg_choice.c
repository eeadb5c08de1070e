/* krr_pcg_choice.c -- lambda and probabilities of krr_pcg.c
 *
 * lambda: on few rows by exact leave-one-out on the kernel matrix of their features (solve/dual.c).
 * Above, leave-one-out has no cheap form. A seeded tenth of the rows, at most HELD_ROWS, is held
 * out (with --select cv each fold in turn), and lambdas of half decades, from the largest
 * eigenvalue of the covariance down, are solved on the others to two or three digits, several at a
 * time in the same passes, until the held-out loss rises. Where lambda was found on a sample
 * before, the path is three lambdas around it in the same passes, and goes on at an end while the
 * loss falls there; the factors of the landmarks at the start serve all of them.
 *
 * Probabilities: leave-one-out has no cheap form here, so that they are calibrated on the scores of
 * folds (those of --select cv, else five), each solved on the other rows to the digits of a choice.
 */
#include "learn/krr_pcg.h"
#include "solve/sketch.h"

#include <math.h>
#include <string.h>

enum {
    HELD_ROWS = 4096,
    PER_DECADE = 2,
    PATIENCE = 2, /* lambdas without a better loss that end the path */
    CHOICE_STEPS = 300,
    NEAR_STEPS = 40 /* around a start: unfinished, a small lambda is near a larger one */
};
static const double CHOICE_TOL = 3e-3; /* as TOL of krr_pcg.c */

/* ---- leave-one-out ------------------------------------------------------ */

krein_status krein__krr_pcg_loo(krein_job *job, krein_features *features,
                                const krein_targets *targets) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = features->n, D = features->D, m;
    const float *block;
    float *z = NULL;
    double *K = NULL, *alpha = NULL, *intercept = NULL;
    krein_path path = {0};
    if (!features->kept) {
        NEW(z, n * D);
        for (int64_t b = 0; b < features->blocks; b++) {
            TRY(krein__features_block(features, b, &block, &m));
            memcpy(z + b * features->rows * D, block, (size_t)(m * D) * sizeof *z);
        }
    }
    NEW(K, n * n);
    krein__progress(ctx, "leave-one-out", 0, 0);
    TRY(krein__rows_gram(ctx, n, D, features->kept ? features->kept : z, K));
    if (n <= KREIN_EIGEN_MAX) {
        TRY(krein__dual_path(ctx, K, targets, &path));
    } else {
        NEW(alpha, n * targets->k);
        NEW(intercept, targets->k);
        TRY(krein__dual_walk(ctx, K, targets, krein__min(n / 2, KREIN_EIGEN_MAX), job->seed, &path,
                             alpha, intercept));
    }
    krein__krr_report(job, &path);
done:
    krein__free(ctx, alpha);
    krein__free(ctx, intercept);
    krein__free(ctx, z);
    krein__free(ctx, K);
    return st;
}

/* ---- rows held out ------------------------------------------------------ */

typedef struct chooser {
    krein_job *job;
    krein_pcg *pcg;
    int64_t lambdas, columns; /* at a time */
    krein_pcg_rows rows;
    const int32_t *class;
    int64_t folds;        /* 0: one part of the rows is held out */
    int32_t *fold, *held; /* n: fold of a row, -1: in none; its number among those held out */
    int64_t most;         /* rows held out at a time */
    int64_t steps;
    double deadline;
    double *w, *intercept, *score; /* of some lambdas */
    double *y, *weight;            /* of the rows held out */
    int32_t *label;
    krein_targets now; /* what is held out */
} chooser;

double krein__krr_pcg_held_bytes(int64_t n, int64_t D, int64_t k, int64_t columns, bool every) {
    double held = (double)(every ? n : krein__min(n, HELD_ROWS));
    return 8 * (double)columns * ((double)D + 1 + held) + 8 * held * ((double)k + 2);
}

/* The rows of fold f are held out, the others fitted. */
static krein_status hold(chooser *c, int64_t f, krein_targets *out) {
    const krein_job *job = c->job;
    int64_t k = c->rows.k, m = 0;
    for (int64_t i = 0; i < job->n; i++) {
        c->held[i] = c->fold[i] == f ? (int32_t)m : -1;
        if (c->fold[i] != f) continue;
        memcpy(c->y + m * k, c->rows.y + i * k, (size_t)k * sizeof *c->y);
        c->weight[m] = c->rows.weight ? c->rows.weight[i] : 1;
        if (c->class) c->label[m] = c->class[i];
        m++;
    }
    c->rows.held = c->held;
    *out =
        (krein_targets){m, k, c->y, c->rows.weight ? c->weight : NULL, c->class ? c->label : NULL};
    return krein__pcg_set_rows(c->pcg, &c->rows);
}

/* Some lambdas on the rows that are fitted now; the others' losses are added to tally. */
static krein_status try_lambdas(chooser *c, int64_t L, const double *lambda,
                                const krein_targets *held, krein_tally *tally, bool *converged) {
    krein_pcg_limits limits = {CHOICE_TOL, c->steps, c->deadline, "choosing lambda"};
    krein_pcg_result result;
    krein_status st =
        krein__pcg_solve(c->pcg, L, lambda, &limits, c->w, c->intercept, c->score, &result);
    if (st != KREIN_OK) return st;
    krein__tally_add(tally, held, L, c->score);
    *converged = *converged && result.converged;
    krein__log(c->job->ctx, KREIN_LOG_DEBUG, "lambda %g to %g: %lld iterations", lambda[0],
               lambda[L - 1], (long long)result.iterations);
    return KREIN_OK;
}

/* The next L lambdas of the path, which stand behind its p->n. */
static krein_status extend(chooser *c, int64_t L, krein_path *p, bool *converged) {
    krein_status st = KREIN_OK;
    krein_targets held = c->now;
    krein_tally tally = {0};
    krein_path part = {.n = L};
    int64_t folds = krein__max(1, c->folds);
    for (int64_t f = 0; f < folds; f++) {
        if (folds > 1 || p->n == 0) TRY(hold(c, f, &held));
        c->now = held;
        TRY(try_lambdas(c, L, p->lambda + p->n, &held, &tally, converged));
    }
    if (!(tally.weight > 0)) {
        st = krein__fail(
            c->job->ctx, KREIN_EDATA,
            "lambda cannot be chosen: no row with a weight can be held out; give `lambda`");
        goto done;
    }
    krein__tally_end(&tally, c->class != NULL, &part);
    memcpy(p->loss + p->n, part.loss, (size_t)L * sizeof *p->loss);
    memcpy(p->error + p->n, part.error, (size_t)L * sizeof *p->error);
    for (int64_t l = 0; l < L; l++) {
        char error[40];
        krein__log(c->job->ctx, KREIN_LOG_DEBUG, "lambda %g: loss %g%s", p->lambda[p->n + l],
                   part.loss[l], krein__error_text(part.error[l], error));
    }
    p->n += L;
    krein__path_choose(p);
done:
    return st;
}

/* The same, as many at a time as there is room for. */
static krein_status extend_each(chooser *c, int64_t L, krein_path *p, bool *converged) {
    krein_status st = KREIN_OK;
    for (int64_t end = p->n + L; st == KREIN_OK && p->n < end;)
        st = extend(c, krein__min(c->lambdas, end - p->n), p, converged);
    return st;
}

/* So many half decades from the start. */
static double at_step(const chooser *c, int i) {
    return krein__round_digits(c->job->lambda_start * pow(10, (double)i / PER_DECADE), 3);
}

/* Down the grid from high to low. */
static krein_status descend(chooser *c, double low, double high, krein_path *p) {
    krein_status st = KREIN_OK;
    krein_path up = {0};
    bool converged = true;
    krein__path_grid(&up, low, high, PER_DECADE);
    for (int64_t i = 0; i < up.n; i++) p->lambda[i] = up.lambda[up.n - 1 - i];
    while (p->n < up.n && converged) {
        TRY(extend(c, krein__min(c->lambdas, up.n - p->n), p, &converged));
        if (krein__path_least(p) + PATIENCE < p->n) break;
    }
done:
    return st;
}

/* How many half decades the path goes on at one of its ends: some while the loss falls there by
 * more than FLAT, one more where it falls by more than STEEP. (Not while there are fewer wrong
 * rows: one more or less is noise.) */
static int further(const krein_path *p, double end, double before) {
    static const double FLAT = 0.01, STEEP = 0.05;
    double last = INFINITY, then = INFINITY;
    for (int64_t l = 0; l < p->n; l++) {
        if (p->lambda[l] == end) last = p->loss[l];
        if (p->lambda[l] == before) then = p->loss[l];
    }
    if (last > p->loss[krein__path_least(p)]) return 0;
    return last < (1 - STEEP) * then ? 3 : last < (1 - FLAT) * then ? 2 : 0;
}

/* Some lambdas around the one that a sample had, and on from the least loss while that is the last
 * one on its side. */
static krein_status around(chooser *c, double low, krein_path *p) {
    krein_status st = KREIN_OK;
    bool converged = true;
    int from = -1, to = 1; /* half decades from the start that are done */
    c->steps = NEAR_STEPS;
    krein__pcg_near(c->pcg, true);
    for (int i = from; i <= to; i++) p->lambda[i - from] = at_step(c, i);
    TRY(extend_each(c, to - from + 1, p, &converged));
    while (converged) {
        int more = further(p, at_step(c, from), at_step(c, from + 1));
        bool down = more > 0 && at_step(c, from) > low;
        if (!down) more = further(p, at_step(c, to), at_step(c, to - 1));
        if (more == 0 || p->n + more > KREIN_PATH_MAX) break;
        for (int i = 0; i < more; i++) p->lambda[p->n + i] = at_step(c, down ? --from : ++to);
        TRY(extend_each(c, more, p, &converged));
    }
done:
    krein__pcg_near(c->pcg, false);
    return st;
}

/* A seeded tenth of the rows, at most HELD_ROWS, in fold 0. */
static krein_status hold_some(krein_job *job, int32_t *fold) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = krein__max(1, krein__min(HELD_ROWS, job->n / 10)), *index = NULL;
    NEW(index, m);
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_HELD), job->n,
                      m, index);
    for (int64_t i = 0; i < job->n; i++) fold[i] = -1;
    for (int64_t i = 0; i < m; i++) fold[index[i]] = 0;
done:
    krein__free(ctx, index);
    return st;
}

static krein_status chooser_begin(chooser *c) {
    krein_job *job = c->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t D = job->model->map->D, k = c->rows.k, columns = c->columns, n = job->n;
    NEW(c->fold, n);
    NEW(c->held, n);
    TRY(c->folds > 0 ? krein__krr_folds(job, c->folds, c->fold) : hold_some(job, c->fold));
    for (int64_t f = 0; f < krein__max(1, c->folds); f++) {
        int64_t m = 0;
        for (int64_t i = 0; i < n; i++) m += c->fold[i] == f;
        c->most = krein__max(c->most, m);
    }
    NEW(c->w, columns * D);
    NEW(c->intercept, columns);
    NEW(c->score, c->most * columns);
    NEW(c->y, c->most * k);
    NEW(c->weight, c->most);
    NEW(c->label, c->most);
done:
    return st;
}

static void chooser_end(chooser *c) {
    krein_ctx *ctx = c->job->ctx;
    krein__free(ctx, c->fold);
    krein__free(ctx, c->held);
    krein__free(ctx, c->w);
    krein__free(ctx, c->intercept);
    krein__free(ctx, c->score);
    krein__free(ctx, c->y);
    krein__free(ctx, c->weight);
    krein__free(ctx, c->label);
}

static chooser chooser_of(const krein_pcg_fits *f, int64_t folds, double deadline) {
    return (chooser){.job = f->job,
                     .pcg = f->pcg,
                     .lambdas = f->lambdas,
                     .columns = f->columns,
                     .rows = f->rows,
                     .class = f->class,
                     .folds = folds,
                     .steps = CHOICE_STEPS,
                     .deadline = deadline};
}

krein_status krein__krr_pcg_choose(const krein_pcg_fits *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    double top, now = krein__clock();
    /* half of the time at most: a lambda without a model is nothing */
    chooser c = chooser_of(f, job->folds, job->deadline > 0 ? now + (job->deadline - now) / 2 : 0);
    TRY(chooser_begin(&c));
    TRY(krein__pcg_top(c.pcg, &top));
    top = fmax(top, 1e-30);
    /* Not below what float32 products resolve (krein__system_floor). */
    double least = 1e-7 * krein__pcg_mean_square(c.pcg) / sqrt((double)job->model->map->D);
    double low = fmax(1e-10 * top, least);
    TRY(job->lambda_start > 0 ? around(&c, low, &path) : descend(&c, low, top * 10, &path));
    krein__krr_report(job, &path);
    job->cv_folds = krein__max(1, krein__min(job->folds, job->n));
    if (job->folds == 0)
        krein__log(ctx, KREIN_LOG_INFO, "pcg: lambda by %lld rows held out, %lld lambdas",
                   (long long)c.most, (long long)path.n);
    c.rows.held = NULL;
    TRY(krein__pcg_set_rows(c.pcg, &c.rows));
done:
    chooser_end(&c);
    return st;
}

/* Scores of the rows of each fold by a fit to the others. */
krein_status krein__krr_pcg_calibrate(const krein_pcg_fits *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    chooser c = chooser_of(f, krein__fold_count(job->folds, job->n), job->deadline);
    int64_t n = job->n, k = c.rows.k;
    krein_pcg_limits limits = {CHOICE_TOL, CHOICE_STEPS, c.deadline, "probabilities"};
    krein_pcg_result result;
    krein_targets held = {0};
    double *score = NULL;
    NEW(score, n * k);
    TRY(chooser_begin(&c));
    for (int64_t h = 0; h < c.folds; h++) {
        TRY(hold(&c, h, &held));
        if (held.n == 0) continue;
        TRY(krein__pcg_solve(c.pcg, 1, &job->lambda, &limits, c.w, c.intercept, c.score, &result));
        for (int64_t i = 0; i < n; i++)
            if (c.fold[i] == h)
                memcpy(score + i * k, c.score + c.held[i] * k, (size_t)k * sizeof *score);
    }
    TRY(krein__krr_calibrate(job, c.folds, n, score, c.class, c.rows.y, c.rows.weight));
done:
    chooser_end(&c);
    krein__free(ctx, score);
    return st;
}
