/* krr_kernel -- kernel ridge regression on the kernel matrix (map=exact): the dual problem
 * (solve/dual.c), lambda from one eigendecomposition, or above 2,048 rows (256 where the job has a
 * start) by steps in float32 (solve/dual_walk.c).
 */
#include "learn/krr.h"
#include "num/blas.h"

#include <math.h>

/* Rows: of a sample that steps over lambda start from where nothing better is known; up to which
 * all is float64, and a path takes no time. */
enum { SAMPLE = 1024, FEW = 256 };

/* Few rows are solved in float64. An indefinite matrix has no Cholesky factor. */
static bool in_float32(const krein_map *map, int64_t n) {
    return n > FEW && krein__kernel_positive(map->kernel);
}

/* lambda by steps: of few rows a whole path takes no time. */
static bool by_steps(const krein_map *map, int64_t n, bool started) {
    return in_float32(map, n) && (started || n > KREIN_EIGEN_MAX);
}

/* What is known of a fit on the kernel matrix. */
typedef struct fitting {
    krein_job *job;
    krein_targets rows;
    krein_path path; /* of lambdas, where they were compared */
    bool solved;     /* the model is there */
    double *score;   /* n x k, where probabilities are wanted: leave-one-out scores, */
    bool scored;     /* once they are there */
} fitting;

/* lambda by steps in float32, and the model with it; below what float32 resolves, in float64. */
static krein_status walk_kernel(fitting *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    int64_t n = job->n;
    double *wide = NULL, start = job->lambda_start;
    float *K = NULL;
    bool below = false;
    krein_rows x = krein__map_landmarks(m->map);
    NEW(K, n * n);
    TRY(krein__gram_symmetric32(ctx, m->map->kernel, &x, K));
    if (!(start > 0))
        TRY(krein__dual_start(ctx, NULL, K, &f->rows, krein__min(n / 2, SAMPLE), job->seed,
                              &start));
    TRY(krein__dual_walk_from(ctx, K, &f->rows, start, &f->path, m->w, m->intercept, f->score,
                              &below));
    f->solved = !below;
    f->scored = f->solved && f->score;
    if (f->solved) goto done;
    krein__free(ctx, K);
    K = NULL;
    NEW(wide, n * n);
    TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, wide));
    start = fmin(start, f->path.lambda[krein__path_least(&f->path)]);
    TRY(krein__dual_walk_from64(ctx, wide, &f->rows, start, &f->path, m->w, m->intercept));
done:
    krein__free(ctx, K);
    krein__free(ctx, wide);
    return st;
}

/* lambda from all of a path, or by folds. */
static krein_status choose_kernel(fitting *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    double *K = NULL;
    int32_t *fold = NULL;
    krein_rows x = krein__map_landmarks(job->model->map);
    NEW(K, job->n * job->n);
    TRY(krein__gram_full(ctx, job->model->map->kernel, &x, &x, K));
    if (job->folds > 0) {
        NEW(fold, job->n);
        TRY(krein__krr_folds(job, job->folds, fold));
        TRY(krein__dual_cv(ctx, K, &f->rows, fold, job->folds, &f->path));
    } else {
        TRY(krein__dual_path(ctx, K, &f->rows, &f->path));
    }
done:
    krein__free(ctx, K);
    krein__free(ctx, fold);
    return st;
}

/* At job->lambda in float32, to the bit what walk_kernel leaves; where that resolves it. */
static krein_status solve_float32(fitting *f) {
    krein_ctx *ctx = f->job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = f->job->model;
    krein_rows x = krein__map_landmarks(m->map);
    float *K = NULL;
    NEW(K, x.n * x.n);
    TRY(krein__gram_symmetric32(ctx, m->map->kernel, &x, K));
    TRY(krein__dual_fit32(ctx, K, &f->rows, f->job->lambda, m->w, m->intercept, f->score,
                          &f->solved));
    f->scored = f->solved && f->score;
done:
    krein__free(ctx, K);
    return st;
}

/* What is left to do in float64. */
static krein_status solve_float64(const fitting *f) {
    krein_job *job = f->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    bool calibrate = job->probabilities && !(f->scored && krein__krr_leaves_one_out(job));
    krein_rows x = krein__map_landmarks(m->map);
    double *K = NULL;
    if (f->solved && !calibrate) return KREIN_OK;
    NEW(K, x.n * x.n);
    if (!f->solved) {
        TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, K));
        TRY(krein__dual_solve(ctx, K, &f->rows, job->lambda, m->w, m->intercept));
    }
    if (calibrate) {
        TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, K));
        TRY(krein__krr_calibrate_kernel(job, K, &f->rows));
    }
done:
    krein__free(ctx, K);
    return st;
}

krein_status krein__krr_kernel(krein_job *job) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    int64_t n = job->n;
    double *y = NULL, *weight = NULL;
    int32_t *class = NULL;
    fitting f = {.job = job};
    NEW(y, n * m->k);
    NEW(class, n);
    NEW(weight, n);
    if (job->probabilities) NEW(f.score, n * m->k);
    TRY(krein__job_targets(job, y, class, weight, NULL));
    f.rows = (krein_targets){n, m->k, y, job->data->has_weight ? weight : NULL,
                             krein__job_classes(job) ? class : NULL};
    if (job->lambda < 0) {
        krein__progress(ctx, "leave-one-out", 0, 0);
        bool steps = job->folds == 0 && by_steps(m->map, n, job->lambda_start > 0);
        TRY(steps ? walk_kernel(&f) : choose_kernel(&f));
        krein__krr_report(job, &f.path);
        TRY(krein__poll(ctx));
    }
    if (!f.solved && job->lambda > 0 && in_float32(m->map, n)) TRY(solve_float32(&f));
    TRY(solve_float64(&f));
    if (f.scored && krein__krr_leaves_one_out(job))
        TRY(krein__krr_calibrate(job, 0, n, f.score, class, y, f.rows.weight));
done:
    krein__free(ctx, f.score);
    krein__free(ctx, y);
    krein__free(ctx, class);
    krein__free(ctx, weight);
    return st;
}

void krein__krr_kernel_cost(const krein_map *map, int64_t n, int64_t k, bool path, krein_cost *out,
                            int64_t *passes) {
    double N = (double)n, K = (double)k, L = 45;
    /* A matrix in float64; three in an eigendecomposition of all rows (cross-validation, an
     * indefinite kernel, few rows). Else the kernel and its factor in float32; with steps the
     * eigendecomposition of a sample comes first. */
    bool steps = path && out->folds == 0 && by_steps(map, n, false);
    bool eigen = (path && !steps) || !krein__kernel_positive(map->kernel);
    double M = SAMPLE, narrow = krein__dual_walk_bytes(n, k, map->ctx->threads) + 4 * N * N;
    if (steps) narrow = fmax(narrow, 4 * N * N + 24 * M * M);
    if (!in_float32(map, n)) narrow = 0;
    int64_t folds = krein__krr_calibration_folds(out->folds, out->grouped, n);
    bool calibrate = out->probabilities, beside = calibrate && folds > 0; /* a fold's matrices */
    double matrix = 8 * (eigen || beside ? 3 * N * N : 1.1 * N * N);
    out->bytes += fmax(matrix, narrow) + 8 * N * L * (2 * K + 1) + 16 * 256 * (N + 256) + 64 * N +
                  (calibrate ? krein__krr_calibration_bytes(n, k) + 8 * N * K + 48 * N : 0);
    out->flops = N * N * krein__gram_flops(map->kernel, map->d) + N * N * N / 3 +
                 (!path   ? 0
                  : steps ? 2 * N * N * N + 9 * M * M * M
                          : 9.0 * N * N * N) +
                 (!calibrate ? 0 : (folds > 0 ? (double)folds : 2.0) * N * N * N / 3);
    *passes = 2;
}
