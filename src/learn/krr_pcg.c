/* krr_pcg.c -- kernel ridge regression on features by conjugate gradients (solve/pcg.c)
 *
 * For D x D numbers that do not fit into memory, and for fewer rows than features. The features are
 * kept where they fit into the budget, else made again from the stream for every pass: rows that
 * are read from a file are read as often. Many features are rounded to 16 bits, 2 n D bytes, and
 * where the errors of that matter made once more for the last round, or for every step
 * (solve/pcg.c).
 *
 * Kernel values at landmarks (nystrom of a positive definite kernel with many landmarks, whose mix
 * is then not made) are solved as such: the penalty lambda a'Ka of their weights is the one of the
 * whitened features, of which none are lost to single precision (solve/precondition.c). Two
 * Cholesky factors of the landmarks' kernel matrix make a preconditioner that leaves ten to twenty
 * passes (rudi2017b). They are made a few rows at a time inside of a pass, and kept at the first
 * visit, or made again where that is faster (solve/features.c). They are not rounded: their weights
 * are large and cancel, so that several rounds would start from float32 values, each of which costs
 * as much as reading 16 bits saves (docs/results/solver.md).
 *
 * Other features are preconditioned by a Cholesky factor of the covariance of TIMES D rows, where D
 * x D numbers fit, which leaves about ten passes; else by eigenvectors of fewer (solve/sketch.c).
 *
 * lambda is chosen in krr_pcg_choice.c, up to LOO_ROWS rows, where memory allows, by leave-one-out.
 * The chosen lambda is solved on all rows from nothing, so that --lambda gives the same model
 * again.
 */
#include "learn/krr_pcg.h"
#include "map/landmarks.h"
#include "num/blas.h"
#include "solve/sketch.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    MANY = 1024,     /* features, from which on a Cholesky factor preconditions */
    TIMES = 2,       /* rows that it is made from, a feature */
    SAMPLE = 2048,   /* rows of the preconditioner of eigenvectors; fewer where memory is short */
    LEAST = 64,      /* but so many */
    LOO_ROWS = 8192, /* leave-one-out is exact up to so many rows */
    CACHE = 1 << 22, /* bytes of landmarks that a few rows can be compared with at a time */
    COLUMNS = 16,    /* right sides at a time along the path */
    TOGETHER = 3,    /* lambdas that a Cholesky factor serves */
    STEPS = 2000
};
/* The predictions' error is about so much of the predictions, times the root of the condition
 * number that the preconditioner leaves. */
static const double TOL = 3e-6;
/* Cholesky factors leave a small one: at 3e-5 predictions are off by about 1e-5 of their deviation
 * (docs/results/solver.md). On kernel values the residual of single precision ends at about 5e-5
 * where lambda is small. */
static const double FACTOR_TOL = 3e-5, VALUES_TOL = 5e-5;
/* Bytes of features, above which these are rounded to 16 bits. Below, they cost little to keep. */
static const double LARGE = 67108864;

/* ---- sizes -------------------------------------------------------------- */

typedef struct sizes {
    int64_t D, rows, lambdas; /* of a block; at a time */
    krein_pcg_options pcg;
    bool kept;    /* the features are */
    bool rounded; /* to 16 bits */
    bool values;  /* they are kernel values at landmarks, with the penalty of those */
    bool loo;     /* lambda by exact leave-one-out */
    double bytes;
} sizes;

/* Of the preconditioner's rows: as many as a third of the room allows. Not a matter of lambda, nor
 * of how it is chosen, so that a model can be made again from what was chosen. */
static int64_t sample_of(int64_t n, int64_t D, double room) {
    int64_t s = n <= SAMPLE && n <= D ? n : krein__max(1, krein__min(SAMPLE, D / 2));
    while (s >= 2 * LEAST && krein__sketch_bytes(s, D, s == n) + krein__sketch_work_bytes(s) +
                                     4 * (double)s * (double)D >
                                 room / 3)
        s /= 2;
    return s;
}

/* Targets, weights, blocks: what is there all the time. */
static double rows_bytes(const krein_map *map, int64_t n, int64_t k) {
    return krein__blocks_bytes(map, n) + 8 * (double)n * (double)k + 24 * (double)n + 4096;
}

/* Two thirds of the budget are for all this and the map; the rest is for rows. */
static sizes shape_of(const krein_map *map, int64_t n, int64_t k, bool path, int64_t folds,
                      bool probabilities) {
    sizes s = {.D = map->cls->features(map, n),
               .rows = krein__min(krein__block_rows(map->d), n),
               .values = map->unmixed};
    s.rounded = !s.values && n > LOO_ROWS && 4 * (double)n * (double)s.D > LARGE;
    krein_cost own = {0};
    map->cls->cost(map, n, &own);
    double room = (double)map->ctx->budget / 3 * 2 - own.bytes;
    double N = (double)n, D = (double)s.D, K = (double)k, M = KREIN_EIGEN_MAX;
    double features = (s.rounded ? 2 : 4) * N * D;
    double base = rows_bytes(map, n, k) + s.rounded * (4 * N + 2 * (double)s.rows * D);
    double loo = base + features + 24 * (N * N + M * M) + 8 * N * KREIN_PATH_MAX * (2 * K + 1) +
                 8 * 512 * N + 65536;
    s.loo = path && folds == 0 && n <= LOO_ROWS && loo <= room && !s.values;
    s.lambdas = path && !s.loo ? krein__max(1, COLUMNS / k) : 1;
    s.pcg.cholesky = !s.values && s.D >= MANY && n >= 2 * TIMES * s.D &&
                     krein__factor_bytes(s.D, map->ctx->threads) + 4 * TIMES * D * D <= room / 3;
    s.pcg.sample = s.values ? 0 : s.pcg.cholesky ? TIMES * s.D : sample_of(n, s.D, room);
    if (s.values || s.pcg.cholesky) s.lambdas = krein__min(s.lambdas, TOGETHER);
    s.pcg.columns = s.lambdas * k;
    s.bytes = base +
              krein__pcg_bytes(n, s.D, k, s.rows, map->ctx->threads, s.values, s.rounded, &s.pcg) +
              16 * D * K;
    if (s.values)
        s.bytes += krein__basis_bytes(s.D) + krein__gram_full_bytes(map->kernel, s.D,
                                                                    map->sparse ? 1024 : map->d,
                                                                    map->ctx->threads);
    if (probabilities || (path && !s.loo))
        s.bytes += krein__krr_pcg_held_bytes(n, s.D, k, s.pcg.columns, probabilities || folds > 0);
    if (probabilities) s.bytes += krein__krr_calibration_bytes(n, k) + 48 * N;
    s.kept = s.bytes + features <= room;
    if (s.kept) s.bytes += features;
    if (s.loo) s.bytes = fmax(s.bytes, loo);
    return s;
}

bool krein__krr_pcg_faster(const krein_map *map, int64_t n, int64_t k) {
    static const double READ = 12, DOUBLE = 2; /* the time of a flop in them, over one of ssyrk */
    sizes s = shape_of(map, n, k, false, 0, false);
    double N = (double)n, D = (double)s.D, K = (double)k;
    double pcg =
        TIMES * D * D * D + DOUBLE * D * D * D / 3 + 20 * READ * K * (4 * N * D + 2 * D * D);
    return s.pcg.cholesky && s.kept && 1.5 * pcg < N * D * D + DOUBLE * D * D * D / 3;
}

void krein__krr_pcg_cost(const krein_map *map, int64_t n, int64_t k, bool path, krein_cost *out,
                         int64_t *passes) {
    sizes s = shape_of(map, n, k, path, out->folds, out->probabilities);
    krein_cost own = {0};
    map->cls->cost(map, n, &own);
    double N = (double)n, D = (double)s.D, K = (double)k, S = (double)s.pcg.sample;
    double pass = 4 * N * D, sketch = 3 * S * S * D + 9 * S * S * S, apply = 2 * S * D;
    double fits = path && !s.loo ? (double)krein__max(1, out->folds) : 0;
    bool factor = s.values || s.pcg.cholesky;
    double solve = S == N ? 4 : factor ? 25 : 60, choice = fits * (factor ? 30 : 60);
    double columns = factor ? (double)s.pcg.columns : COLUMNS;
    if (s.values) { /* factors of K, S and P, the latter for every group of lambdas */
        sketch = D * D * krein__gram_flops(map->kernel, map->d) + D * D * D * (1 + fits * 5 / 3);
        apply = 4 * D * D;
    } else if (factor) {
        sketch = S * D * D + D * D * D / 3 * (1 + fits * 5);
        apply = 2 * D * D;
    }
    if (out->probabilities) solve += solve * (double)krein__fold_count(out->folds, n);
    out->bytes += s.bytes;
    out->flops = sketch + solve * K * (pass + apply) + choice * columns * (pass + apply) +
                 (s.loo ? N * N * D + 9 * N * N * N : 0);
    double again = s.kept ? s.rounded : solve + choice; /* that features are made */
    out->flops += again * N * own.flops;
    *passes = 3 + (int64_t)again;
}

/* ---- features ----------------------------------------------------------- */

typedef struct source {
    krein_job *job;
    krein_krr b;
    krein_features features;
    krein_block block;
    int64_t next; /* the block that the stream gives next, -1: not known */
} source;

/* Blocks of the stream, in order. */
static krein_status open_block(void *state, int64_t block) {
    source *s = state;
    krein_status st = KREIN_OK;
    if (block != s->next || block == 0) {
        TRY(krein__stream_rewind(s->job->rows));
        s->next = 0;
    }
    for (; s->next <= block; s->next++) TRY(krein__stream_next(s->job->rows, &s->block));
done:
    if (st != KREIN_OK) s->next = -1;
    return st;
}

static krein_status make(void *state, int64_t block, float *out) {
    source *s = state;
    krein_status st = KREIN_OK;
    krein_blocks *z = &s->b.z;
    TRY(open_block(s, block));
    const krein_rows *x = &s->block.x;
    if (z->fused) {
        krein__map_raw(z->map, x, z->offset, out, z->scratch);
    } else {
        const float *mixed = krein__blocks_features(z, x);
        if (mixed != out) memcpy(out, mixed, (size_t)(x->n * s->features.D) * sizeof *out);
    }
done:
    return st;
}

static void make_strip(void *state, int64_t first, int64_t n, float *out) {
    const source *s = state;
    const krein_blocks *z = &s->b.z;
    int64_t each = krein__map_scratch(z->map) / z->map->ctx->threads;
    krein_rows some = krein__rows_slice(&s->block.x, first, n);
    krein__map_values(z->map, &some, z->offset, out, z->scratch + omp_get_thread_num() * each);
}

static krein_status source_begin(krein_job *job, const sizes *shape, source *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    memset(s, 0, sizeof *s);
    s->job = job;
    s->next = -1;
    TRY(krein__blocks_begin(job->model->map, job->rows, shape->values, &s->b.z));
    int64_t D = s->b.z.width, rows = krein__min(s->b.z.rows, job->n);
    s->features = (krein_features){.ctx = ctx,
                                   .n = job->n,
                                   .D = D,
                                   .rows = rows,
                                   .blocks = (job->n + rows - 1) / rows,
                                   .made = s->b.z.fused ? s->b.z.raw : s->b.z.mixed,
                                   .at = -1,
                                   .rounded = shape->rounded,
                                   .codes = shape->rounded && shape->kept,
                                   .code_at = -1,
                                   .make = make,
                                   .state = s};
    if (shape->rounded) {
        NEW(s->features.scale, job->n);
        NEW(s->features.code, (shape->kept ? job->n : rows) * D);
    } else if (shape->kept) {
        NEW(s->features.kept, job->n * D);
    }
    if (shape->values) { /* kept when they are visited first */
        s->features.open = open_block;
        s->features.strip = make_strip;
        s->features.slices = !job->model->map->sparse && 4 * D * job->model->map->d > CACHE;
        s->features.missing = s->features.blocks;
    } else if (shape->kept) {
        TRY(krein__features_keep(&s->features));
    }
done:
    return st;
}

/* The root mean square error of raw features, which are kernel values in single precision: seen
 * where K has them in double, at some landmarks. Products in single precision add a unit roundoff
 * or two. */
static double measure_noise(const krein_blocks *z, const double *K) {
    int64_t R = z->map->R, n = krein__min(R, krein__min(z->rows, KREIN_TILE));
    krein_rows all = krein__map_landmarks(z->map), some = krein__rows_slice(&all, 0, n);
    double sum = 0, square = 0;
    krein__map_raw(z->map, &some, NULL, z->raw, z->scratch);
    for (int64_t i = 0; i < n * R; i++) {
        double error = (double)z->raw[i] - K[i];
        sum += error * error;
        square += K[i] * K[i];
    }
    return sqrt((sum + 1e-14 * square) / (double)(n * R));
}

krein_status krein__krr_basis(krein_job *job, const krein_blocks *z, krein_basis *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    double *K = NULL, square;
    NEW(K, map->R * map->R);
    krein__progress(ctx, "landmarks", 0, 0);
    st = krein__landmarks_values(map, K, &square);
    if (st != KREIN_OK) {
        krein__free(ctx, K);
        return st;
    }
    TRY(krein__basis_make(ctx, map->R, K, measure_noise(z, K), out));
    krein__log(ctx, KREIN_LOG_DEBUG, "nystrom: kernel values have an error of %.1e", out->noise);
done:
    return st;
}

static void source_end(source *s) {
    void *all[] = {s->features.kept, s->features.code, s->features.scale};
    for (int64_t i = 0; s->job && i < KREIN__COUNT(all); i++) krein__free(s->job->ctx, all[i]);
    krein__blocks_end(&s->b.z);
}

/* ---- the fit ------------------------------------------------------------ */

static void report(krein_ctx *ctx, const krein_pcg_result *r) {
    if (!r->converged && r->residual > 100 * TOL)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "pcg: residual %.1e after %lld iterations; raise `lambda` or `time_limit`",
                   r->residual, (long long)r->iterations);
    krein__log(ctx, KREIN_LOG_INFO, "pcg: %lld iterations, %lld passes, residual %.1e",
               (long long)r->iterations, (long long)r->passes, r->residual);
}

/* w (k x D) as the model wants it. */
static krein_status hand_over(krein_job *job, const source *s, const double *w) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t D = s->features.D, k = job->model->k;
    double *wz = NULL;
    NEW(wz, D * k);
    for (int64_t j = 0; j < D; j++)
        for (int64_t c = 0; c < k; c++) wz[j * k + c] = w[c * D + j];
    krein__krr_weights(job, &s->b, wz);
done:
    krein__free(ctx, wz);
    return st;
}

krein_status krein__krr_pcg_targets(krein_job *job, krein_targets *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    double *y = NULL, *weight = NULL;
    int32_t *class = NULL;
    if (job->lambda == 0)
        return krein__fail(ctx, KREIN_EARG,
                           "krr(solver=pcg) needs lambda > 0; give a small `lambda`, or auto");
    NEW(y, job->n * job->model->k);
    if (job->data->has_weight) NEW(weight, job->n);
    if (krein__job_classes(job)) NEW(class, job->n);
    TRY(krein__job_targets(job, y, class, weight, NULL));
done:
    *out = (krein_targets){job->n, job->model->k, y, weight, class};
    return st;
}

void krein__krr_pcg_targets_clear(krein_ctx *ctx, krein_targets *t) {
    krein__free(ctx, (void *)(uintptr_t)t->y);
    krein__free(ctx, (void *)(uintptr_t)t->weight);
    krein__free(ctx, (void *)(uintptr_t)t->class);
    *t = (krein_targets){0};
}

krein_status krein__krr_pcg(krein_job *job) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    sizes shape = shape_of(m->map, job->n, m->k, job->lambda < 0, job->folds, job->probabilities);
    source s = {0};
    krein_basis basis = {0};
    krein_pcg *pcg = NULL;
    krein_pcg_result result;
    krein_targets targets = {0};
    double *w = NULL;
    TRY(krein__krr_pcg_targets(job, &targets));
    TRY(source_begin(job, &shape, &s));
    krein_pcg_rows rows = {
        .features = &s.features, .k = m->k, .y = targets.y, .weight = targets.weight};
    if (shape.loo) TRY(krein__krr_pcg_loo(job, &s.features, &targets));
    shape.pcg.seed = job->seed;
    if (shape.values) {
        TRY(krein__krr_basis(job, &s.b.z, &basis));
        shape.pcg.basis = &basis;
        shape.pcg.lambda = job->lambda > 0         ? job->lambda
                           : job->lambda_start > 0 ? job->lambda_start / 3
                                                   : 1e-6 * basis.size;
    }
    TRY(krein__pcg_create(&rows, &shape.pcg, &pcg));
    krein_pcg_fits fits = {job, pcg, rows, targets.class, shape.lambdas, shape.pcg.columns};
    if (job->lambda < 0) TRY(krein__krr_pcg_choose(&fits));
    NEW(w, m->k * s.features.D);
    krein_pcg_limits limits = {shape.values         ? VALUES_TOL
                               : shape.pcg.cholesky ? FACTOR_TOL
                                                    : TOL,
                               STEPS, job->deadline, "fitting"};
    TRY(krein__pcg_solve(pcg, 1, &job->lambda, &limits, w, m->intercept, NULL, &result));
    report(ctx, &result);
    TRY(hand_over(job, &s, w));
    if (job->probabilities) TRY(krein__krr_pcg_calibrate(&fits));
done:
    krein__pcg_destroy(pcg);
    krein__basis_clear(&basis);
    source_end(&s);
    krein__free(ctx, w);
    krein__krr_pcg_targets_clear(ctx, &targets);
    return st;
}
