/* krr_kernel_pcg.c -- kernel ridge regression on the kernel matrix of many rows by conjugate
 * gradients (solve/kernel_pcg.c)
 *
 * lambda: leave-one-out has no cheap form here. A tenth of the rows, at most HELD_ROWS, is held out
 * (with --select cv each fold in turn; rows of one group stay together), and three lambdas, half
 * decades around a start, are solved on the others at once; while the best is at an end, two more
 * follow on that side. The start is that of the job, or the best of SAMPLE rows, moved to all of
 * them as in dual.c. More than MANY outputs (classes) are too many columns for that: the lambdas
 * are compared by COMBINED random combinations of them,
 *     y_j' = sum_c r_jc y_c / sqrt(k),    r_jc = +-1,    E mean_j |e_j'|^2 = mean_c |e_c|^2,
 * and only the one of the least loss is solved for all outputs; the share of wrong rows has no say
 * then. The chosen lambda is then solved on all rows from nothing, so that --lambda gives the same
 * model again.
 *
 * Above LARGE rows a step takes a tenth of a second and more: values are computed in float32, and
 * solutions end earlier. Above VERY_LARGE rows values are kept in 16 bits (solve/kernel_half.c),
 * which lambda must be large enough for: a smaller one is not looked for, and where it is given
 * values have 32 bits. Landmarks in place of the matrix take half of the time there and are far
 * worse (4,096 of them: protein 0.442 for 0.394, kin40k 0.124 for 0.104, ijcnn1 1.3 % for 0.8).
 *
 * Probabilities are calibrated on the scores of folds (those of --select cv, else five), each
 * solved on the other rows to the digits of a choice.
 */
#include "learn/krr.h"
#include "num/both.h"
#include "solve/dual.h"
#include "solve/kernel_pcg.h"

#include <math.h>
#include <string.h>

enum {
    LANDMARKS =
        1000, /* rows of the preconditioner, at least (half of the rows where they are few), */
    LANDMARKS_MOST = 1500,
    SHARE = 15,         /* and this part of the rows */
    LARGE = 20000,      /* more rows are solved to fewer digits, and from values in float32 */
    VERY_LARGE = 32000, /* values of more rows are kept in 16 bits, where lambda allows that */
    HELD_ROWS = 2000,
    SAMPLE = 1024,
    TRIO = 3, /* lambdas at a time */
    MANY = 4, /* outputs that lambdas are compared by; of more so many combinations: */
    COMBINED = 3,
    MORE = 4,          /* times that the search goes on beyond them */
    CHOICE_STEPS = 12, /* unfinished solutions of a small lambda are near those of a larger one */
    COMBINED_STEPS = 8,
    STEPS = 40,
    STEPS_MEAN = 60 /* that a solution takes, for what it costs */
};
/* The best of several scores needs fewer digits than a number, and many columns take long. Letter,
 * 15,000 rows: the errors of the test change no more below 0.05; at 0.1 the squared error of the
 * rows held out is 3 % above that of the end, which is enough for a report.
 */
static const double TOL = 3e-5, CHOICE_TOL = 1e-2, CLASS_TOL = 5e-2, HELD_TOL = 0.1;
/* Numbers, many rows: protein's test rmse is 0.3960 with this and with TOL, which takes twice the
 * steps. */
static const double LARGE_TOL = 3e-3;

static int64_t landmarks_of(int64_t n) {
    int64_t m = krein__max(LANDMARKS, krein__min(LANDMARKS_MOST, n / SHARE));
    m = krein__min(m, n / 2);
    return m < KREIN_LANES ? krein__max(1, m) : m / KREIN_LANES * KREIN_LANES; /* for num/both.c */
}

/* Columns at a time, with and without a choice. */
static int64_t columns_of(int64_t k, bool path) {
    return path ? krein__max(k, TRIO * (k > MANY ? COMBINED : k)) : k;
}

/* ---- what it takes ------------------------------------------------------ */

/* Whether the matrix surely has 16 bits: lambda will allow it, and the diagonal is constant. */
static bool surely_rounded(const krein_map *map, int64_t n, bool path) {
    return path && n > VERY_LARGE && krein__kernel_all(map->kernel, krein__is_stationary);
}

void krein__krr_kernel_pcg_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                                krein_cost *out, int64_t *passes) {
    int64_t m = landmarks_of(n), L = path ? TRIO : 1;
    int threads = map->ctx->threads;
    double N = (double)n, K = (double)k, M = (double)m, S = SAMPLE;
    double columns = (double)columns_of(k, path), value = krein__gram_flops(map->kernel, map->d);
    double half = krein__half_bytes(n, surely_rounded(map, n, path));
    double chosen = path ? 8 * (4 * S * S + N * columns) : 0;
    double fits = path ? (double)krein__max(1, out->folds) : 0, steps = STEPS_MEAN;
    double choice = fits * STEPS_MEAN * 5 / TRIO; /* of five lambdas */
    bool calibrate = out->probabilities;
    if (calibrate) steps += steps * (double)krein__fold_count(out->folds, n);
    out->bytes +=
        half +
        fmax(krein__half_make_bytes(map->kernel, n, map->sparse ? 1024 : map->d, threads),
             krein__kernel_pcg_bytes(n, m, L, columns_of(k, path), threads) + 16 * N * columns) +
        chosen + 8 * N * (2 * K + 6) +
        (calibrate ? krein__krr_calibration_bytes(n, k) + 48 * N : 0);
    out->flops = N * N / 2 * value + 3 * N * M * M + M * M * M +
                 (steps * K + choice * columns) * (2 * N * N + 4 * N * M) +
                 (path ? 9 * S * S * S : 0);
    *passes = 2;
}

/* With few outputs a step takes as long as reading its bytes: TRAFFIC flops of float32 a byte
 * (measured: AVX-512, one thread). */
bool krein__krr_kernel_pcg_shorter(const krein_map *map, int64_t n, int64_t k, bool path,
                                   double direct) {
    static const double TRAFFIC = 25;
    krein_cost own = {0};
    int64_t passes;
    krein__krr_kernel_pcg_cost(map, n, k, path, &own, &passes);
    double N = (double)n, M = (double)landmarks_of(n), steps = STEPS_MEAN * (path ? 3 : 1);
    /* float64 is half as fast */
    return 2 * own.flops + TRAFFIC * steps * (2 * N * N + 8 * N * M) < direct;
}

/* ---- the fit ------------------------------------------------------------ */

typedef struct fitting {
    krein_job *job;
    krein_half K;
    krein_kernel_pcg *pcg;
    krein_targets all, rows; /* of all rows, owned; those solved for: the same, or combinations */
    int32_t *fold;
    double *alpha, *intercept, *fit; /* of some lambdas */
    int64_t compared;                /* lambdas */
    double deadline;
} fitting;

/* The losses of the rows of fold f, whose predictions at L lambdas are there, to the tally. */
static void tally_fold(const fitting *f, int64_t held, int64_t L, krein_tally *tally) {
    const krein_targets *rows = &f->rows;
    int64_t k = rows->k;
    for (int64_t i = 0; i < rows->n; i++) {
        if (f->fold[i] != held) continue;
        krein_targets row = {1, k, rows->y + i * k, rows->weight ? rows->weight + i : NULL,
                             rows->class ? rows->class + i : NULL};
        krein__tally_add(tally, &row, L, f->fit + i * L * k);
    }
}

/* L lambdas, in so many steps, appended to the path. */
static krein_status compare(fitting *f, int64_t steps, int64_t L, const double *lambda,
                            krein_path *path) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = f->job->ctx;
    krein_pcg_limits limits = {f->rows.class && L == 1 ? HELD_TOL : CHOICE_TOL, steps, f->deadline,
                               "choosing lambda"};
    krein_pcg_result result;
    krein_tally tally = {0};
    krein_path part = {.n = L};
    int64_t folds = krein__max(1, f->job->folds);
    for (int64_t h = 0; h < folds; h++) {
        if (folds > 1 || path->n == 0) TRY(krein__kernel_pcg_hold(f->pcg, f->fold, h));
        TRY(krein__kernel_pcg_solve(f->pcg, L, lambda, &limits, f->alpha, f->intercept, f->fit,
                                    &result));
        tally_fold(f, h, L, &tally);
        krein__log(ctx, KREIN_LOG_DEBUG, "lambda %g to %g: %lld iterations", lambda[0],
                   lambda[L - 1], (long long)result.iterations);
    }
    if (!(tally.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "lambda cannot be chosen: no row with a weight can be held out; give "
                         "`lambda`");
        goto done;
    }
    krein__tally_end(&tally, f->rows.class != NULL, &part);
    for (int64_t l = 0; l < L; l++, path->n++) {
        path->lambda[path->n] = lambda[l];
        path->loss[path->n] = part.loss[l];
        path->error[path->n] = part.error[l];
        char error[40];
        krein__log(ctx, KREIN_LOG_DEBUG, "lambda %g: loss %g%s", lambda[l], part.loss[l],
                   krein__error_text(part.error[l], error));
    }
    f->compared += L;
    krein__path_choose(path);
done:
    return st;
}

/* The best lambda of a sample, for all rows. */
static krein_status sample_start(fitting *f, double *lambda) {
    krein_ctx *ctx = f->job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = krein__min(SAMPLE, f->all.n), *index = NULL;
    krein_subset some = {0};
    float *K = NULL;
    NEW(index, m);
    NEW(K, m * m);
    krein__rng_choose(krein__substream(f->job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA),
                      f->all.n, m, index);
    for (int64_t e = 0; e < m * m; e++)
        K[e] = (float)krein__half_at(&f->K, index[e / m], index[e % m]);
    TRY(krein__subset_begin(ctx, &f->all, &some));
    krein_targets few = krein__subset_pick(&f->all, index, m, &some);
    TRY(krein__dual_start(ctx, NULL, K, &few, m, f->job->seed, lambda));
    *lambda *= krein__total_weight(&few) / krein__total_weight(&f->all);
done:
    krein__free(ctx, index);
    krein__free(ctx, K);
    krein__subset_end(ctx, &some);
    return st;
}

/* Half decades on the grid of quarters that every path has (solve/path.c). */
static double step_of(double middle, int64_t steps) {
    return krein__round_digits(pow(10, rint(4 * log10(middle)) / 4 + (double)steps / 2), 3);
}

static double most_weight(const fitting *f) {
    double most = 0;
    for (int64_t i = 0; f->all.weight && i < f->all.n; i++) most = fmax(most, f->all.weight[i]);
    return most > 0 ? most : 1;
}

/* The lambdas around `middle`. */
static krein_status search(fitting *f, double middle, krein_path *path) {
    krein_status st = KREIN_OK;
    int64_t low = -1, high = 1;
    double lambda[TRIO];
    double least = krein__half_ridge(&f->K) * most_weight(f) / krein__total_weight(&f->all);
    while (step_of(middle, low) < least) middle = step_of(middle, 1);
    for (int64_t l = 0; l < TRIO; l++) lambda[l] = step_of(middle, low + l);
    int64_t steps = f->all.k > MANY ? COMBINED_STEPS : CHOICE_STEPS;
    TRY(compare(f, steps, TRIO, lambda, path));
    /* known nearly: the first three are enough */
    int64_t most = f->job->lambda_start > 0 ? 0 : MORE;
    for (int64_t more = 0; more < most && !krein__late(f->deadline); more++) {
        double best = path->lambda[krein__path_least(path)];
        bool down = best == step_of(middle, low), up = best == step_of(middle, high);
        if ((!down && !up) || (down && step_of(middle, low - 2) < least)) break;
        for (int64_t l = 0; l < 2; l++)
            lambda[l] = step_of(middle, down ? low - 2 + l : high + 1 + l);
        low -= down ? 2 : 0;
        high += up ? 2 : 0;
        TRY(compare(f, steps, 2, lambda, path));
    }
done:
    return st;
}

/* Whether combination j tells nothing: its signs are equal, and the outputs of classes have the
 * same sum in every row; or they are those of an earlier one, or the opposites. */
static bool tells_nothing(int64_t k, const int8_t *sign, int64_t j) {
    for (int64_t i = 0; i <= j; i++) {
        int64_t same = 0;
        for (int64_t c = 0; c < k; c++)
            same += i < j ? sign[i * k + c] == sign[j * k + c] : sign[j * k + c] > 0;
        if (same == 0 || same == k) return true;
    }
    return false;
}

/* sign (COMBINED x k): drawn again where a combination tells nothing; of five outputs and more
 * there are enough others. */
static void draw_signs(const fitting *f, int8_t *sign) {
    krein_rng g = krein__substream(f->job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_COMBINE);
    int64_t j = 0, k = f->all.k;
    for (uint64_t draw = 0; j < COMBINED; draw++) {
        for (int64_t c = 0; c < k; c++)
            sign[j * k + c] = krein__rng_bits(g, draw, (uint64_t)c) & 1 ? -1 : 1;
        j += !tells_nothing(k, sign, j);
    }
}

/* y: n x COMBINED. */
static void combine(const fitting *f, const int8_t *sign, double *y) {
    int64_t n = f->all.n, k = f->all.k;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < COMBINED; j++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++) sum += sign[j * k + c] * f->all.y[i * k + c];
            y[i * COMBINED + j] = sum / sqrt((double)k);
        }
}

/* By combinations of the outputs; the best lambda alone is solved for all. The search has half of
 * the time. */
static krein_status search_combined(fitting *f, double middle, krein_path *path) {
    krein_ctx *ctx = f->job->ctx;
    krein_status st = KREIN_OK;
    krein_path tried = {0};
    double *y = NULL, deadline = f->deadline;
    int8_t *sign = NULL;
    NEW(sign, COMBINED * f->all.k);
    NEW(y, f->all.n * COMBINED);
    draw_signs(f, sign);
    combine(f, sign, y);
    f->rows = (krein_targets){f->all.n, COMBINED, y, f->all.weight, NULL};
    krein__kernel_pcg_targets(f->pcg, &f->rows);
    if (deadline > 0) f->deadline = krein__clock() + (deadline - krein__clock()) / 2;
    st = search(f, middle, &tried);
    f->deadline = deadline;
    f->rows = f->all;
    krein__kernel_pcg_targets(f->pcg, &f->rows);
    TRY(st);
    /* nearly to the end: its error is about that of the model */
    TRY(compare(f, STEPS, 1, &tried.lambda[tried.best], path));
    f->compared = tried.n;
done:
    krein__free(ctx, sign);
    krein__free(ctx, y);
    return st;
}

static krein_status choose(fitting *f) {
    krein_job *job = f->job;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    int64_t parts =
        krein__fold_count(krein__max(10, (f->all.n + HELD_ROWS - 1) / HELD_ROWS), f->all.n);
    double middle = job->lambda_start;
    if (!(middle > 0)) TRY(sample_start(f, &middle));
    TRY(krein__krr_folds(job, job->folds > 0 ? job->folds : parts, f->fold));
    TRY((f->all.k > MANY ? search_combined : search)(f, middle, &path));
    krein__krr_report(job, &path);
    job->cv_folds = krein__max(1, krein__min(job->folds, job->n));
    krein__log(job->ctx, KREIN_LOG_INFO, "pcg: lambda by rows held out, %lld lambdas",
               (long long)f->compared);
done:
    return st;
}

/* Scores of the rows of each fold by a fit to the others. */
static krein_status calibrate(fitting *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->all.n, k = f->all.k, folds = krein__fold_count(job->folds, n);
    krein_pcg_limits limits = {CHOICE_TOL, CHOICE_STEPS, f->deadline, "probabilities"};
    krein_pcg_result result;
    double *score = NULL;
    NEW(score, n * k);
    TRY(krein__krr_folds(job, folds, f->fold));
    for (int64_t h = 0; h < folds; h++) {
        TRY(krein__kernel_pcg_hold(f->pcg, f->fold, h));
        TRY(krein__kernel_pcg_solve(f->pcg, 1, &job->lambda, &limits, f->alpha, f->intercept,
                                    f->fit, &result));
        for (int64_t i = 0; i < n; i++)
            if (f->fold[i] == h) memcpy(score + i * k, f->fit + i * k, (size_t)k * sizeof *score);
    }
    TRY(krein__krr_calibrate(job, folds, n, score, f->all.class, f->all.y, f->all.weight));
done:
    krein__free(ctx, score);
    return st;
}

/* What is added to the diagonal of a row of weight 1, at least: for the matrix of very many rows,
 * which would take too long to read in float32. 0: it is to have 32 bits. */
static double added_ridge(const fitting *f) {
    const krein_job *job = f->job;
    if (job->n <= VERY_LARGE) return 0;
    if (job->lambda < 0) return (double)INFINITY; /* as much as 16 bits need */
    return krein__total_weight(&f->all) * job->lambda / most_weight(f);
}

static krein_status begin(fitting *f, bool path) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = job->n, columns = columns_of(f->all.k, path);
    krein_rows x = krein__map_landmarks(job->model->map);
    NEW(f->fold, n);
    TRY(krein__half_make(ctx, job->model->map->kernel, &x, n <= LARGE, added_ridge(f), &f->K));
    NEW(f->alpha, n * columns);
    NEW(f->fit, n * columns);
    NEW(f->intercept, columns);
    TRY(krein__kernel_pcg_create(&f->K, &f->all, landmarks_of(n), columns, job->seed, &f->pcg));
done:
    return st;
}

static void end(fitting *f) {
    krein_ctx *ctx = f->job->ctx;
    void *all[] = {f->fold, f->alpha, f->fit, f->intercept};
    krein__kernel_pcg_destroy(f->pcg);
    krein__half_clear(&f->K);
    krein__krr_pcg_targets_clear(ctx, &f->all);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status fit_all(fitting *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    bool large = job->n > LARGE, classes = krein__job_classes(job) && (m->k > 1 || large);
    double tol = classes ? CLASS_TOL : large ? LARGE_TOL : TOL;
    krein_pcg_limits limits = {tol, STEPS, job->deadline, "fitting"};
    krein_pcg_result r;
    TRY(krein__kernel_pcg_hold(f->pcg, NULL, -1));
    TRY(krein__kernel_pcg_solve(f->pcg, 1, &job->lambda, &limits, f->alpha, m->intercept, NULL,
                                &r));
    memcpy(m->w, f->alpha, (size_t)(job->n * m->k) * sizeof *m->w);
    if (!r.converged && r.residual > fmax(100 * TOL, 3 * limits.tol))
        krein__log(ctx, KREIN_LOG_WARNING,
                   "pcg: residual %.1e after %lld iterations; raise `lambda` or `time_limit`",
                   r.residual, (long long)r.iterations);
    krein__log(ctx, KREIN_LOG_INFO, "pcg: %lld iterations, residual %.1e", (long long)r.iterations,
               r.residual);
done:
    return st;
}

krein_status krein__krr_kernel_pcg(krein_job *job) {
    krein_status st = KREIN_OK;
    fitting f = {.job = job};
    TRY(krein__krr_pcg_targets(job, &f.all));
    f.rows = f.all;
    TRY(begin(&f, job->lambda < 0));
    if (job->deadline > 0) /* half of the time at most: a lambda without a model is nothing */
        f.deadline = krein__clock() + (job->deadline - krein__clock()) / 2;
    if (job->lambda < 0) TRY(choose(&f));
    TRY(fit_all(&f));
    f.deadline = job->deadline;
    if (job->probabilities) TRY(calibrate(&f));
done:
    end(&f);
    return st;
}
