/* kgd -- kernel regression by gradient descent on the dual coefficients, on the kernel matrix
 *
 *     beta <- beta + a (y - K beta)                                       (solve/descent.c)
 *
 * on targets less their mean, which is the intercept; classes through -1/+1 targets. Nothing is
 * penalised: the number of steps regularises. It is chosen by cross-validation over 1, 2, 3, 4, 6,
 * 8, 11, 16, ..., on at most SAMPLE rows with all folds in one pass over their matrix. t steps of
 * rate a are about a ridge regression with lambda = 1 / (n a t), so that the number of steps
 * carries over from some of the rows to all when a is in proportion to 1 / (largest eigenvalue),
 * which grows like n. The default a is one over it; row by row, four over it where that is
 * below 1 / K_ii: larger steps converge too, but fit the noise first.
 *
 * Negative eigenvalues of an indefinite kernel grow without bound, by (1 + a |s|)^t: refused.
 */
#include "learn/kernel_matrix.h"

#include "num/blas.h"
#include "num/spectrum.h"
#include "solve/descent.h"

#include <math.h>
#include <string.h>

enum { STEPS = 0, RATE = 1, MODE = 2 };
enum { SAMPLE = 2000, MOST = 2048 };
enum { PATIENCE = 6, LEAST = 64 }; /* values tried after the best; steps made at least */

static const krein_option options[] = {
    {.name = "steps",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e7,
     .help =
         "number of steps, in sample mode passes over the rows; chosen by cross-validation when "
         "not given"},
    {.name = "rate",
     .type = KREIN_OPTION_NUMBER,
     .value = NAN,
     .low = 0,
     .low_open = true,
     .high = INFINITY,
     .help = "step size; one over the largest eigenvalue of the kernel matrix when not given, in "
             "sample mode four over it"},
    {.name = "mode",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "batch|sample",
     .help = "all coefficients at once, or row by row"},
    {0}};

/* What bounds the rate. */
typedef struct limits {
    double eigenvalue; /* the largest, of W^(1/2) K W^(1/2) */
    double top;        /* the rate must stay below 2 / top */
} limits;

static krein_status find_limits(const krein_exact *r, bool sample, limits *out) {
    double most = 0;
    for (int64_t i = 0; i < r->n; i++) most = fmax(most, r->weight[i] * r->K[i * r->n + i]);
    krein_status st = krein__largest_eigenvalue(r->ctx, r->n, r->K, r->weight, &out->eigenvalue);
    out->top = sample ? most : out->eigenvalue;
    return st;
}

/* ---- a run -------------------------------------------------------------- */

/* A descent for each fold without its rows (fold NULL: one, of all rows) and each output. */
typedef struct run {
    krein_descent d;
    double *y, *step, *mean; /* mean: of the targets of each column */
} run;

static void run_end(krein_ctx *ctx, run *r) {
    krein__free(ctx, r->y);
    krein__free(ctx, r->step);
    krein__free(ctx, r->mean);
    krein__free(ctx, r->d.beta);
    krein__free(ctx, r->d.fit);
    krein__free(ctx, r->d.order);
}

static void fill_column(const krein_exact *rows, int64_t k, int64_t c, const int32_t *fold,
                        int64_t f, double rate, run *r, int64_t column) {
    int64_t n = rows->n;
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < n; i++) {
        if (fold && fold[i] == f) continue;
        sum += rows->weight[i] * rows->y[i * k + c];
        weight += rows->weight[i];
    }
    r->mean[column] = weight > 0 ? sum / weight : 0;
    for (int64_t i = 0; i < n; i++) {
        bool held = fold && fold[i] == f;
        r->y[column * n + i] = rows->y[i * k + c] - r->mean[column];
        r->step[column * n + i] = held ? 0 : rate * rows->weight[i];
    }
}

static krein_status run_begin(krein_job *job, const krein_exact *rows, bool sample, double rate,
                              const int32_t *fold, int64_t folds, run *r) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = job->model->k, columns = folds * k;
    memset(r, 0, sizeof *r);
    NEW(r->y, columns * n);
    NEW(r->step, columns * n);
    NEW(r->mean, columns);
    r->d = (krein_descent){.ctx = ctx,
                           .n = n,
                           .columns = columns,
                           .K = rows->K,
                           .y = r->y,
                           .step = r->step,
                           .sample = sample,
                           .seed = job->seed};
    ZNEW(r->d.beta, columns * n);
    ZNEW(r->d.fit, columns * n);
    NEW(r->d.order, n);
    for (int64_t f = 0; f < folds; f++)
        for (int64_t c = 0; c < k; c++) fill_column(rows, k, c, fold, f, rate, r, f * k + c);
done:
    return st;
}

/* ---- the choice of the number of steps ---------------------------------- */

/* Adds the held-out loss and error after the steps so far to the path. */
static void score_held_out(krein_job *job, const krein_exact *rows, const run *r,
                           const int32_t *fold, double *score, krein_path *p) {
    int64_t n = rows->n, k = job->model->k;
    krein_tally tally = {0};
    krein_path one = {.n = 1};
    krein_targets targets = {n, k, rows->y, rows->weight, rows->class};
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            int64_t column = fold[i] * k + c;
            score[i * k + c] = r->d.fit[column * n + i] + r->mean[column];
        }
    krein__tally_add(&tally, &targets, 1, score);
    krein__tally_end(&tally, rows->class != NULL, &one);
    p->lambda[p->n] = (double)r->d.steps;
    p->loss[p->n] = one.loss[0];
    p->error[p->n++] = one.error[0];
    krein__path_choose(p);
    char error[40];
    krein__log(job->ctx, KREIN_LOG_DEBUG, "%lld steps: loss %g%s", (long long)r->d.steps,
               one.loss[0], krein__error_text(one.error[0], error));
}

static krein_status walk(krein_job *job, const krein_exact *rows, bool sample, double rate,
                         krein_path *p) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t folds = krein__fold_count(job->folds, rows->n), next = 1;
    int32_t *fold = NULL;
    double *score = NULL;
    run r = {0};
    NEW(fold, rows->n);
    NEW(score, rows->n * job->model->k);
    TRY(krein__folds(ctx, job->seed, rows->n, folds, rows->group, rows->class, fold));
    TRY(run_begin(job, rows, sample, rate, fold, folds, &r));
    while (r.d.steps < MOST) {
        krein__descent_step(&r.d);
        TRY(krein__poll(ctx));
        krein__progress(ctx, "cross-validation", (double)r.d.steps, MOST);
        bool out = krein__late(job->deadline);
        if (r.d.steps < next && !out) continue;
        score_held_out(job, rows, &r, fold, score, p);
        next = krein__max(next + 1, (int64_t)rint((double)next * M_SQRT2));
        int64_t best = krein__max(p->best, krein__path_least(p));
        if (p->n - 1 - best >= PATIENCE && r.d.steps >= LEAST) break;
        if (krein__descent_residual(&r.d) < 1e-10) break;
        if (out) {
            krein__log(ctx, KREIN_LOG_INFO, "time limit: the best number of steps up to %lld",
                       (long long)r.d.steps);
            break;
        }
    }
    krein__progress(ctx, "cross-validation", MOST, MOST);
    if (r.d.steps >= MOST && p->best == p->n - 1)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "kgd: the held-out error still falls after %d steps; give steps=N, a narrower "
                   "kernel, or use krr",
                   MOST);
done:
    run_end(ctx, &r);
    krein__free(ctx, fold);
    krein__free(ctx, score);
    return st;
}

static krein_status choose_steps(krein_job *job, const krein_exact *all, bool sample, double rate,
                                 const limits *limit, double *steps) {
    krein_status st = KREIN_OK;
    krein_exact some = {0};
    krein_path path = {0};
    limits part;
    if (all->n > SAMPLE) {
        TRY(krein__exact_sample(all, job->seed, SAMPLE, &some));
        TRY(find_limits(&some, sample, &part));
        if (part.top > 0) rate = fmin(rate * limit->eigenvalue / part.eigenvalue, 1.9 / part.top);
        TRY(walk(job, &some, sample, rate, &path));
    } else {
        TRY(walk(job, all, sample, rate, &path));
    }
    *steps = path.lambda[path.best];
    job->loo = krein__job_classes(job) ? path.error[path.best] : sqrt(path.loss[path.best]);
    job->cv_folds = krein__fold_count(job->folds, krein__min(all->n, SAMPLE));
done:
    krein__exact_close(&some);
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

static krein_status check_spectrum(krein_ctx *ctx, const krein_kernel *kernel,
                                   const krein_exact *r) {
    krein_status st = KREIN_OK;
    int64_t n = r->n;
    double *copy = NULL, *w = NULL;
    if (krein__kernel_positive(kernel)) return KREIN_OK;
    NEW(copy, n * n);
    NEW(w, n);
    memcpy(copy, r->K, (size_t)(n * n) * sizeof *copy);
    TRY(krein__eigenvalues(ctx, n, copy, n, w));
    if (w[0] < -krein__spectrum_noise(n, w))
        st = krein__fail(
            ctx, KREIN_ESPEC,
            "kgd: the kernel matrix has negative eigenvalues (down to %.3g), along which gradient "
            "descent diverges; use `learner=krr`, or svm with spectrum=clip",
            w[0]);
done:
    krein__free(ctx, copy);
    krein__free(ctx, w);
    return st;
}

/* The rate given, if it converges, or ours. */
static krein_status settle_rate(krein_ctx *ctx, const limits *limit, bool sample, double *rate) {
    double top = limit->top;
    if (!(top > 0)) return krein__fail(ctx, KREIN_ENUMERIC, "kgd: the kernel matrix is zero");
    if (*rate >= 2 / top)
        return krein__fail(ctx, KREIN_EARG,
                           "kgd: with rate=%g the steps diverge on these rows; it must be below "
                           "%.3g (2 / %s), or left out",
                           *rate, 2 / top,
                           sample ? "largest weighted k(x, x)"
                                  : "largest eigenvalue of the kernel matrix");
    if (isnan(*rate))
        *rate = krein__round_digits(sample ? fmin(4 / limit->eigenvalue, 1 / top) : 1 / top, 3);
    return KREIN_OK;
}

static krein_status descend(krein_job *job, const krein_exact *rows, bool sample, double rate,
                            double *steps) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    int64_t n = rows->n, k = m->k;
    run r = {0};
    TRY(run_begin(job, rows, sample, rate, NULL, 1, &r));
    while (r.d.steps < (int64_t)*steps) {
        krein__descent_step(&r.d);
        TRY(krein__poll(ctx));
        krein__progress(ctx, "gradient descent", (double)r.d.steps, *steps);
        if (!krein__late(job->deadline) || r.d.steps >= (int64_t)*steps) continue;
        krein__log(ctx, KREIN_LOG_INFO, "time limit: stopped after %lld of %.0f steps",
                   (long long)r.d.steps, *steps);
        *steps = (double)r.d.steps;
    }
    krein__log(ctx, KREIN_LOG_INFO, "kgd: %lld steps leave %.3g of the targets' spread",
               (long long)r.d.steps, krein__descent_residual(&r.d));
    for (int64_t c = 0; c < k; c++) {
        m->intercept[c] = r.mean[c] + krein__job_mean(job, c);
        for (int64_t i = 0; i < n; i++) m->w[i * k + c] = r.d.beta[c * n + i];
    }
done:
    run_end(ctx, &r);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_exact all = {0};
    limits limit = {0};
    bool sample = values->number[MODE] != 0;
    double rate = values->number[RATE], steps = values->number[STEPS];
    if (job->lambda >= 0) {
        st = krein__fail(ctx, KREIN_EARG,
                         "kgd has no `lambda`: the number of steps regularises; give steps=N "
                         "instead, or use `learner=krr`");
        goto done;
    }
    TRY(krein__exact_open(job, &all));
    TRY(check_spectrum(ctx, job->model->map->kernel, &all));
    TRY(find_limits(&all, sample, &limit));
    TRY(settle_rate(ctx, &limit, sample, &rate));
    if (isnan(steps)) TRY(choose_steps(job, &all, sample, rate, &limit, &steps));
    TRY(descend(job, &all, sample, rate, &steps));
    values->number[RATE] = rate;
    values->number[STEPS] = steps;
    job->model->lambda = NAN;
done:
    krein__exact_close(&all);
    return st;
}

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    (void)values;
    if (!map || map->cls->traits & KREIN_MAP_DUAL) return KREIN_OK;
    return krein__fail(
        ctx, KREIN_ESPEC,
        "kgd works on the kernel matrix and takes no features: use `map=exact` (is it too large? "
        "raise `max_exact` and `max_memory`), or `learner=krr` with `map=%s`",
        map->cls->cls.name);
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    (void)path;
    int64_t folds = krein__fold_count(out->folds, krein__min(n, SAMPLE));
    double N = (double)n, K = (double)k, m = fmin(N, SAMPLE), columns = (double)folds * K;
    bool choose = isnan(values->number[STEPS]), known = krein__kernel_positive(map->kernel);
    double some =
        (n > SAMPLE ? krein__exact_bytes(SAMPLE, k) : 0) + 8 * m * (4.0 * columns + K + 6);
    out->bytes += krein__exact_bytes(n, k) + 8 * N * (4 * K + 8) +
                  fmax(known ? 0 : 8 * N * N + 8 * 70 * N, choose ? some : 0);
    out->flops = N * N * krein__gram_flops(map->kernel, map->d) + (known ? 0 : 4 * N * N * N / 3) +
                 2 * N * N * K * (choose ? 200 : values->number[STEPS]) +
                 (choose ? 2 * m * m * columns * 400 : 0);
    *passes = 2;
}

const krein_learner_class krein__learner_kgd = {
    .cls =
        {"kgd", "kernel regression by gradient descent; classes through -1/+1 targets", "yao2007",
         options,
         "On the kernel matrix (map=exact), of a positive definite kernel. Stopping early "
         "regularises: the number of steps is chosen by cross-validation. A rate at or above 2 / "
         "largest eigenvalue diverges and is refused."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .matrix = KREIN_MATRIX_ALWAYS,
    .check = check,
    .fit = fit,
    .cost = cost};
