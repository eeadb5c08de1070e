/* tune_fit.c -- one fit of a candidate on the sample: ridge regression without an intercept on
 * centred targets, lambda by the exact leave-one-out error,
 *
 *     C = (K + lambda W^-1)^-1,   alpha = C y,   e_i = alpha_i / C_ii,   loss = mean w_i |e_i|^2
 *
 * with the weights W of the rows (mean 1). lambda climbs in steps of sqrt(10) from where a similar
 * candidate had its best. A Cholesky factorisation and the inverse of the factor a step; where rows
 * have no weights, steps are estimated from the last factor (nearby.h), and the best one is made.
 *
 * Where there are more than MANY classes, k random signs stand for each in place of a target of its
 * own, y = code / sqrt(k): |y - y'|^2 is 2 for two classes as before, up to sqrt(8 / k), and so are
 * sums of squares over the targets. A row has the class whose code its scores agree with most. */
#include "select/tune_fit.h"

#include "encode/trim.h"
#include "kernel/gram.h"
#include "kernel/median.h"
#include "num/blas.h"
#include "solve/nearby.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MANY = 128 };

/* ---- the sample --------------------------------------------------------- */

void krein__tune_sample_end(krein_tune_sample *s) {
    krein_ctx *ctx = s->ctx;
    if (!ctx) return;
    krein__matrix_clear(ctx, &s->fit);
    krein__matrix_clear(ctx, &s->held);
    krein__logs_clear(ctx, &s->logs);
    krein__free(ctx, s->order);
    krein__free(ctx, s->y);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->held_y);
    krein__free(ctx, s->held_weight);
    krein__free(ctx, s->held_class);
    krein__free(ctx, s->fit_class);
    krein__free(ctx, s->unit);
    krein__free(ctx, s->mean);
    krein__free(ctx, s->code);
    *s = (krein_tune_sample){0};
}

/* Rows at, of which some are sparse and are to be dense. */
static krein_status take_rows(krein_ctx *ctx, const krein_rows *x, const int64_t *index, int64_t n,
                              bool dense, krein_matrix *out) {
    krein_status st = KREIN_OK;
    if (!dense || !x->ptr) return krein__matrix_gather(ctx, x, index, n, out);
    *out = (krein_matrix){.n = n, .d = x->d};
    NEW(out->x, n * x->d);
    for (int64_t i = 0; i < n; i++) krein__row_copy(x, index[i], out->x + i * x->d);
done:
    return st;
}

/* Targets of both parts: of unit variance where there are several of a regression, so that they
 * count alike; then less the means of S. */
static void prepare_targets(krein_tune_sample *s) {
    int64_t k = s->k;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) sum += s->weight ? s->weight[i] : 1;
    for (int64_t i = 0; s->weight && i < s->n; i++) s->weight[i] *= (double)s->n / sum;
    for (int64_t c = 0; c < k; c++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < s->n; i++)
            mean += (s->weight ? s->weight[i] : 1) * s->y[i * k + c] / (double)s->n;
        for (int64_t i = 0; i < s->n; i++)
            square +=
                (s->weight ? s->weight[i] : 1) * pow(s->y[i * k + c] - mean, 2) / (double)s->n;
        s->mean[c] = mean;
        s->unit[c] = square > 0 && s->numbers ? sqrt(square) : 1;
        s->total += square / (s->unit[c] * s->unit[c]);
        for (int64_t i = 0; i < s->n; i++) s->y[i * k + c] = (s->y[i * k + c] - mean) / s->unit[c];
        for (int64_t i = 0; i < s->m; i++)
            s->held_y[i * k + c] = (s->held_y[i * k + c] - mean) / s->unit[c];
    }
}

static krein_status make_codes(krein_job *job, int64_t count, krein_tune_sample *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_rng g = krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_CODE);
    NEW(s->code, count * s->k);
    for (int64_t c = 0; c < count; c++)
        for (int64_t j = 0; j < s->k; j++)
            s->code[c * s->k + j] =
                (krein__rng_bits(g, (uint64_t)c, (uint64_t)j) & 1 ? 1 : -1) / sqrt((double)s->k);
done:
    return st;
}

/* Rows of `from` by number: targets, weights and classes. */
static void take_targets(const krein_tune_sample *s, const krein_probe *from, const int64_t *index,
                         int64_t n, double *y, double *weight, int32_t *class) {
    int64_t k = s->k;
    for (int64_t i = 0; i < n; i++) {
        const double *own = from->y + index[i] * from->k;
        const double *target = s->code && class ? s->code + from->class[index[i]] * k : own;
        if (s->code && !class) { /* the sum of the codes of the row's labels */
            memset(y + i * k, 0, (size_t)k * sizeof *y);
            for (int64_t c = 0; c < from->k; c++)
                for (int64_t j = 0; own[c] > 0 && j < k; j++) y[i * k + j] += s->code[c * k + j];
        } else {
            memcpy(y + i * k, target, (size_t)k * sizeof *y);
        }
        if (weight) weight[i] = from->weight[index[i]];
        if (class) class[i] = from->class[index[i]];
    }
}

krein_status krein__tune_sample(krein_job *job, int64_t n, int64_t m, double clip, bool logs,
                                krein_tune_sample *s) {
    enum { DENSE_COLUMNS = 2000, CODE = 64 };
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_probe all = {0};
    krein_encoding *e = &job->model->encoding;
    krein_unscaled *was = NULL;
    int64_t *index, rows = n + m;
    *s = (krein_tune_sample){.ctx = ctx, .n = n, .m = m};
    TRY(krein__probe_gather(job, rows, &all));
    if (isfinite(clip)) TRY(krein__encoding_unscale(ctx, e, (float)clip, &all.x, &was));
    if (was) {
        krein__probe_end(ctx, &all);
        TRY(krein__probe_gather(job, rows, &all));
    }
    if (logs) TRY(krein__logs_find(ctx, e, clip, &all.x, &s->logs));
    if (isfinite(clip)) TRY(krein__encoding_trim(ctx, e, (float)clip, was, &all.x));
    s->d = all.x.d;
    s->classes = all.classes > 0;
    s->nclass = all.classes;
    s->numbers = !s->classes && !krein__job_labels(job);
    bool many = !s->numbers && all.k > MANY;
    s->k = many ? CODE : all.k;
    if (many) TRY(make_codes(job, all.k, s));
    s->dense = !all.x.ptr || s->d <= DENSE_COLUMNS;
    NEW(s->order, rows);
    index = s->order;
    NEW(s->y, n * s->k);
    NEW(s->held_y, m * s->k);
    NEW(s->unit, s->k);
    NEW(s->mean, s->k);
    if (all.weight) NEW(s->weight, n);
    if (all.weight) NEW(s->held_weight, m);
    if (s->classes) NEW(s->held_class, m);
    if (s->classes) NEW(s->fit_class, n);
    krein__rng_permute(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_TUNE), rows,
                       index);
    krein_rows x = krein__matrix_rows(&all.x);
    TRY(take_rows(ctx, &x, index, n, s->dense, &s->fit));
    TRY(take_rows(ctx, &x, index + n, m, s->dense, &s->held));
    take_targets(s, &all, index, n, s->y, s->weight, s->fit_class);
    take_targets(s, &all, index + n, m, s->held_y, s->held_weight, s->held_class);
    prepare_targets(s);
done:
    krein__free(ctx, was);
    krein__probe_end(ctx, &all);
    return st;
}

void krein__tune_swap_log(krein_tune_sample *s, int64_t k) {
    int64_t rows = s->n + s->m, column = s->logs.column[k];
    for (int64_t i = 0; i < rows; i++) {
        float *x = i < s->n ? s->fit.x + i * s->d : s->held.x + (i - s->n) * s->d;
        float *other = &s->logs.x[k * rows + s->order[i]], kept = *other;
        *other = x[column];
        x[column] = kept;
    }
}

/* ---- under a metric ----------------------------------------------------- */

void krein__tune_view_end(krein_ctx *ctx, krein_tune_view *v) {
    krein__free(ctx, v->factor);
    krein__matrix_clear(ctx, &v->fit);
    krein__matrix_clear(ctx, &v->held);
    *v = (krein_tune_view){0};
}

/* A copy of the rows; each times the factors. */
static krein_status scaled_rows(krein_ctx *ctx, const krein_matrix *from, krein_metric_kind metric,
                                const double *factor, krein_matrix *out) {
    krein_status st = KREIN_OK;
    krein_rows x = krein__matrix_rows(from);
    int64_t *index = NULL, n = from->n, d = from->d;
    NEW(index, n);
    for (int64_t i = 0; i < n; i++) index[i] = i;
    TRY(krein__matrix_gather(ctx, &x, index, n, out));
    if (metric == KREIN_METRIC_DIAGONAL) {
        for (int64_t i = 0; i < n * d; i++) out->x[i] = (float)((double)out->x[i] * factor[i % d]);
    } else if (metric == KREIN_METRIC_FULL) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < d; j++) {
                double sum = 0;
                for (int64_t l = 0; l < d; l++)
                    sum += factor[j * d + l] * (double)from->x[i * d + l];
                out->x[i * d + j] = (float)sum;
            }
    }
done:
    krein__free(ctx, index);
    return st;
}

krein_status krein__tune_view(const krein_tune_sample *s, krein_metric_kind metric,
                              const double *factor, krein_tune_view *v) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t size = metric == KREIN_METRIC_FULL ? s->d * s->d : s->d;
    *v = (krein_tune_view){.metric = metric};
    if (metric != KREIN_METRIC_NONE) {
        NEW(v->factor, size);
        memcpy(v->factor, factor, (size_t)size * sizeof *factor);
    }
    TRY(scaled_rows(ctx, &s->fit, metric, factor, &v->fit));
    TRY(scaled_rows(ctx, &s->held, metric, factor, &v->held));
    krein_rows x = krein__matrix_rows(&v->fit);
    TRY(krein__median_distance(ctx, &x, 1, &v->median[1]));
    TRY(krein__median_distance(ctx, &x, 2, &v->median[2]));
done:
    if (st != KREIN_OK) krein__tune_view_end(ctx, v);
    return st;
}

/* ---- one fit ------------------------------------------------------------ */

/* A factorisation that fails says that the matrix is not positive to rounding: no error here. */
static krein_status was_positive(krein_ctx *ctx, krein_status st, bool *positive) {
    *positive = st == KREIN_OK;
    if (st != KREIN_ENUMERIC) return st;
    ctx->status = KREIN_OK;
    ctx->message[0] = 0;
    return KREIN_OK;
}

static double ridge_of(const krein_tune_sample *s, int64_t i, double lambda) {
    static const double LIGHT = 1e-6; /* rows of no weight have no say */
    return lambda / (s->weight ? fmax(s->weight[i], LIGHT) : 1);
}

/* alpha, and the diagonal of the inverse where wanted. */
static krein_status factor_and_solve(krein_ctx *ctx, const krein_tune_sample *s, int64_t n,
                                     const float *K, double lambda, float *work, double *alpha,
                                     double *diag, bool *positive) {
    krein_status st = KREIN_OK;
    int64_t k = s->k, pivot;
    float *a = NULL, *d = NULL;
    NEW(a, n * k);
    NEW(d, n);
    for (int64_t i = 0; i < n; i++) {
        if (work != K) memcpy(work + i * n + i, K + i * n + i, (size_t)(n - i) * sizeof *work);
        work[i * n + i] += (float)ridge_of(s, i, lambda);
    }
    TRY(was_positive(ctx, krein__cholesky32(ctx, n, work, n, &pivot), positive));
    if (!*positive) goto done;
    for (int64_t i = 0; i < n * k; i++) a[i] = (float)s->y[i];
    TRY(krein__cholesky_solve32(ctx, n, work, n, k, a, k));
    for (int64_t i = 0; i < n * k; i++) alpha[i] = (double)a[i];
    if (!diag) goto done;
    TRY(krein__cholesky_inverse_diagonal32(ctx, n, work, n, d));
    for (int64_t i = 0; i < n; i++) diag[i] = (double)d[i];
done:
    krein__free(ctx, a);
    krein__free(ctx, d);
    return st;
}

/* The leave-one-out loss. */
static double left_out(const krein_tune_sample *s, int64_t n, const double *alpha,
                       const double *diag) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < s->k; c++)
            sum += (s->weight ? s->weight[i] : 1) * pow(alpha[i * s->k + c] / diag[i], 2);
    return isfinite(sum) ? sum / (double)n : INFINITY;
}

/* alpha at one lambda, and the leave-one-out loss where wanted. */
static krein_status solve_at(krein_ctx *ctx, const krein_tune_sample *s, const float *K,
                             float *work, int64_t n, double lambda, double *alpha, double *diag,
                             double *loss) {
    krein_status st = KREIN_OK;
    bool positive;
    if (loss) *loss = INFINITY;
    TRY(factor_and_solve(ctx, s, n, K, lambda, work, alpha, diag, &positive));
    if (positive && loss) *loss = left_out(s, n, alpha, diag);
done:
    return st;
}

krein_status krein__tune_at(krein_ctx *ctx, const krein_tune_sample *s, const float *K, float *work,
                            double lambda, krein_tune_fit *f) {
    f->lambda = lambda;
    return solve_at(ctx, s, K, work, f->n, lambda, f->alpha, NULL, NULL);
}

/* Of lambda: less is no better on all rows, and slower. Float32 resolves what is well above its
 * rounding of K, 2^-24 sqrt(n) as a matrix (solve/dual_walk.c): 6e-6 of 10,000 rows. */
static const double LEAST = 2e-3, MOST = 1e4;

/* The class whose code the scores agree with most. */
static int64_t decode(const krein_tune_sample *s, const double *f) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t c = 0; c < s->nclass; c++) {
        double sum = 0;
        for (int64_t j = 0; j < s->k; j++) sum += (f[j] + s->mean[j]) * s->code[c * s->k + j];
        if (sum > most) most = sum, best = c;
    }
    return best;
}

/* The class of the highest score is that of the row; two classes by the sign. */
static bool wrong(const krein_tune_sample *s, const double *f, int64_t class) {
    int64_t k = s->k, best = 0;
    if (s->code) return class != decode(s, f);
    if (k == 1) return (class == 1) != (f[0] + s->mean[0] > 0);
    for (int64_t c = 1; c < k; c++)
        if (f[c] + s->mean[c] > f[best] + s->mean[best]) best = c;
    return class != best;
}

/* The leave-one-out error as the report shows it. Codes of very many classes take long to read. */
static double shown_left_out(const krein_tune_sample *s, int64_t n, const double *alpha,
                             const double *diag) {
    double sum = 0, f[MANY];
    const int64_t k = s->k;
    if (s->code) return NAN;
    for (int64_t i = 0; i < n; i++) {
        const double w = s->weight ? s->weight[i] : 1;
        for (int64_t c = 0; c < k; c++) {
            const double e = alpha[i * k + c] / diag[i];
            if (s->classes)
                f[c] = s->y[i * k + c] - e;
            else
                sum += w * e * e * s->unit[c] * s->unit[c] / (double)k;
        }
        if (s->classes) sum += w * wrong(s, f, s->fit_class[i]);
    }
    return s->classes ? sum / (double)n : sqrt(sum / (double)n);
}

/* What a fit is made of. */
typedef struct solving {
    krein_ctx *ctx;
    const krein_tune_sample *s;
    const float *K;
    float *work;
    double *alpha, *diag;
    krein_tune_fit *f;
} solving;

/* Solves at a lambda; *better: than all before, and then it is f's. */
static krein_status visit(const solving *v, double lambda, bool *better) {
    krein_tune_fit *f = v->f;
    double loss;
    krein_status st = solve_at(v->ctx, v->s, v->K, v->work, f->n, lambda, v->alpha, v->diag, &loss);
    *better = loss < f->loo;
    if (st != KREIN_OK || !*better) return st;
    f->loo = loss;
    f->lambda = lambda;
    f->error = shown_left_out(v->s, f->n, v->alpha, v->diag);
    if (f->alpha) memcpy(f->alpha, v->alpha, (size_t)(f->n * v->s->k) * sizeof *f->alpha);
    return st;
}

/* By steps of sqrt(10) from the start while it gets better. */
static krein_status climb(const solving *v, double start) {
    krein_status st = KREIN_OK;
    bool down = false, better;
    for (int turn = 0; turn < 2; turn++) {
        double lambda = start, step = turn == 0 ? 1 / sqrt(10) : sqrt(10);
        if (turn == 1 && down) break; /* it got better downwards: the best is not above */
        for (;;) {
            lambda *= step;
            if (lambda < LEAST || lambda > MOST) break;
            TRY(visit(v, lambda, &better));
            if (!better) break;
            down = turn == 0;
        }
    }
done:
    return st;
}

/* The same, but estimated from the start, whose inverse factor is in `work`. */
static krein_status follow(const solving *v, double start) {
    enum { STEPS = 6 };
    static const double WORTH = 0.002;
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    krein_nearby *near = NULL;
    int64_t n = v->f->n, k = v->s->k;
    double *a = NULL, *diag = NULL;
    bool better = true;
    NEW(a, n * k);
    NEW(diag, n);
    for (int i = 0; i < STEPS && better; i++) {
        double best = start, least = INFINITY, here = INFINITY;
        TRY(krein__nearby_begin(ctx, n, k, v->work, v->diag, NULL, 0, v->s->y, start, &near));
        for (int q = -2; q <= 2; q++) {
            double lambda = start * pow(10, q / 4.0);
            if (lambda < LEAST || lambda > MOST) continue;
            krein__nearby_at(near, lambda, a, diag);
            double loss = left_out(v->s, n, a, diag);
            if (q == 0) here = loss;
            if (loss < least) least = loss, best = lambda;
        }
        krein__nearby_end(near);
        near = NULL;
        if (!(least < (1 - WORTH) * here)) break;
        TRY(visit(v, best, &better));
        if (fabs(log10(best / start)) < 0.4) break; /* it is not at the end of what was looked at */
        start = best;
    }
done:
    krein__nearby_end(near);
    krein__free(ctx, a);
    krein__free(ctx, diag);
    return st;
}

krein_status krein__tune_solve(krein_ctx *ctx, const krein_tune_sample *s, const float *K,
                               float *work, krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    double start = fmin(fmax(f->lambda, LEAST), MOST);
    solving v = {.ctx = ctx, .s = s, .K = K, .work = work, .f = f};
    bool better;
    NEW(v.alpha, f->n * s->k);
    NEW(v.diag, f->n);
    f->loo = INFINITY;
    f->error = NAN;
    f->lambda = start;
    TRY(visit(&v, start, &better));
    if (f->fixed) goto done;
    bool near = better && !s->weight && krein__nearby_pays(f->n, s->k);
    TRY(near ? follow(&v, start) : climb(&v, start));
done:
    krein__free(ctx, v.alpha);
    krein__free(ctx, v.diag);
    return st;
}

/* ---- errors on V -------------------------------------------------------- */

/* score = K_vn alpha in float32, which is enough to compare. Kernel values of a tile of rows at a
 * time: all of them are more than the caches hold. */
krein_status krein__tune_scores(krein_ctx *ctx, const krein_tune_view *v,
                                const krein_kernel *kernel, int64_t n, int64_t k,
                                const double *alpha, double *score) {
    krein_status st = KREIN_OK;
    krein_gram_rows g = {0};
    float *scratch = NULL, *a = NULL;
    krein_rows held = krein__matrix_rows(&v->held), all = krein__matrix_rows(&v->fit);
    int64_t tiles = (held.n + KREIN_TILE - 1) / KREIN_TILE;
    TRY(krein__gram_begin(ctx, kernel, krein__rows_slice(&all, 0, n), false, &g));
    int64_t each = g.scratch + KREIN_TILE * (n + k);
    NEW(scratch, ctx->threads * each);
    NEW(a, n * k);
    for (int64_t e = 0; e < n * k; e++) a[e] = (float)alpha[e];
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        float *mine = scratch + omp_get_thread_num() * each, *values = mine + g.scratch;
        float *product = values + KREIN_TILE * n;
        int64_t first = t * KREIN_TILE, rows = krein__min(KREIN_TILE, held.n - first);
        krein_rows some = krein__rows_slice(&held, first, rows);
        krein__gram_tile32(&g, &some, values, n, mine);
        memset(values + rows * n, 0, (size_t)((KREIN_TILE - rows) * n) * sizeof *values);
        krein__sgemm(false, false, KREIN_TILE, k, n, 1, values, n, a, k, 0, product, k);
        for (int64_t e = 0; e < rows * k; e++) score[first * k + e] = (double)product[e];
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, scratch);
    krein__free(ctx, a);
    krein__gram_end(ctx, &g);
    return st;
}

krein_status krein__tune_score(krein_ctx *ctx, const krein_tune_sample *s, const krein_tune_view *v,
                               const krein_kernel *kernel, const krein_tune_fit *f, double *loss,
                               double *error) {
    krein_status st = KREIN_OK;
    int64_t m = s->m, k = s->k;
    double *score = NULL, square = 0, shown = 0, weight = 0;
    NEW(score, m * k);
    TRY(krein__tune_scores(ctx, v, kernel, f->n, k, f->alpha, score));
    for (int64_t i = 0; i < m; i++) {
        double w = s->held_weight ? s->held_weight[i] : 1;
        double before = square;
        weight += w;
        for (int64_t c = 0; c < k; c++) {
            double e = s->held_y[i * k + c] - score[i * k + c];
            square += w * e * e;
            if (!s->classes) shown += w * e * e * s->unit[c] * s->unit[c] / (double)k;
        }
        if (f->square) f->square[i] = square - before;
        if (s->classes) shown += w * wrong(s, score + i * k, s->held_class[i]);
    }
    *loss = weight > 0 ? square / weight : INFINITY;
    *error = weight > 0 ? shown / weight : NAN;
    if (!s->classes) *error = sqrt(*error);
done:
    krein__free(ctx, score);
    return st;
}
