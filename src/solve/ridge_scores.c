/* ridge_scores.c -- predictions of ridge regression on features for every lambda of a path
 *
 * Of held-out rows, or of the rows that were accumulated, each by the model without it. Exact
 * leave-one-out (the shortcut of any linear smoother, intercept included; symbols as in ridge.c):
 *     y_i - f_{-i}(x_i) = (y_i - f_i) / (1 - w_i h_i),
 *     h_i = 1/W + (z_i - m)'(Gc + W lambda I)^-1 (z_i - m)
 * With Gc = V'diag(s)V and q = V(z_i - m): h_i = 1/W + sum_j q_j^2/(s_j + W lambda), for all
 * lambdas of the path from one eigendecomposition.
 */
#include "solve/ridge.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { TILE_ROWS = 256 };

struct krein_scores {
    krein_ctx *ctx;
    bool loo;
    int64_t R, D, k, L;
    double weight, *ymean;
    float *project; /* R x D: q = (r - mean) project; NULL: q = r - mean */
    float *mean;    /* R */
    float *fit;     /* D x (L k): beta_jc / (s_j + W lambda_l) */
    float *lever;   /* D x L: 1 / (s_j + W lambda_l) */
    float *scratch; /* per thread: r, q, q^2, fits, levers */
    double *score;  /* per thread: TILE_ROWS x L k */
    int64_t each;
};

void krein__scores_end(krein_scores *l) {
    if (!l) return;
    krein_ctx *ctx = l->ctx;
    krein__free(ctx, l->ymean);
    krein__free(ctx, l->project);
    krein__free(ctx, l->mean);
    krein__free(ctx, l->fit);
    krein__free(ctx, l->lever);
    krein__free(ctx, l->scratch);
    krein__free(ctx, l->score);
    krein__free(ctx, l);
}

/* project = mix V (or V) as float32, v being V or its transpose. */
static krein_status make_projection(krein_ctx *ctx, const krein_system *s, const double *v,
                                    bool transposed, float *project) {
    int64_t D = s->D, R = s->R;
    if (!s->mix) {
        for (int64_t i = 0; i < D; i++)
            for (int64_t j = 0; j < D; j++)
                project[i * D + j] = (float)(transposed ? v[j * D + i] : v[i * D + j]);
        return KREIN_OK;
    }
    double *wide = krein__alloc(ctx, R * D, sizeof *wide);
    if (!wide) return ctx->status;
    krein__pgemm(ctx, false, transposed, R, D, D, 1, s->mix, s->ldmix, v, D, 0, wide, D);
    for (int64_t i = 0; i < R * D; i++) project[i] = (float)wide[i];
    krein__free(ctx, wide);
    return KREIN_OK;
}

/* Everything but the projection, the weights and the levers. */
static krein_status scores_alloc(krein_ctx *ctx, const krein_system *s, bool loo, int64_t L,
                                 krein_scores **out) {
    krein_status st = KREIN_OK;
    krein_scores *l = NULL;
    int64_t D = s->D, R = s->R, k = s->k;
    ZNEW(l, 1);
    l->ctx = ctx;
    l->loo = loo;
    l->R = R;
    l->D = D;
    l->k = k;
    l->L = L;
    l->weight = s->weight;
    l->each = TILE_ROWS * (R + 2 * D + L * k + L);
    NEW(l->ymean, k);
    NEW(l->mean, R);
    NEW(l->fit, D * L * k);
    NEW(l->lever, D * L);
    NEW(l->scratch, ctx->threads * l->each);
    NEW(l->score, ctx->threads * TILE_ROWS * L * k);
    memcpy(l->ymean, s->ymean, (size_t)k * sizeof *l->ymean);
    for (int64_t i = 0; i < R; i++) l->mean[i] = (float)s->mean[i];
    *out = l;
    l = NULL;
done:
    krein__scores_end(l);
    return st;
}

krein_status krein__scores_of(krein_ctx *ctx, const krein_system *s, int64_t L, const double *w,
                              krein_scores **out) {
    krein_status st = scores_alloc(ctx, s, false, L, out);
    for (int64_t i = 0; st == KREIN_OK && i < s->D * L * s->k; i++) (*out)->fit[i] = (float)w[i];
    return st;
}

krein_status krein__scores_begin(krein_ctx *ctx, const krein_system *s, bool loo, krein_path *p,
                                 krein_scores **out) {
    krein_status st = KREIN_OK;
    krein_scores *l = NULL;
    double *v = NULL, *w = NULL, *beta = NULL;
    int64_t D = s->D, R = s->R, k = s->k;
    *out = NULL;
    NEW(v, D * D);
    NEW(w, D);
    memcpy(v, s->G, (size_t)(D * D) * sizeof *v);
    TRY(krein__eigen(ctx, D, v, D, w));
    double top = fmax(w[D - 1], 1e-30) / s->weight;
    if (p->n == 0) krein__path_grid(p, fmax(top * 1e-10, krein__system_floor(s)), top * 10, 4);
    TRY(scores_alloc(ctx, s, loo, p->n, &l));
    NEW(l->project, R * D);
    NEW(beta, D * k);
    krein__pgemm(ctx, false, false, D, k, D, 1, v, D, s->B, k, 0, beta, k);
    for (int64_t j = 0; j < D; j++)
        for (int64_t i = 0; i < l->L; i++) {
            double c = 1 / (fmax(w[j], 0) + s->weight * p->lambda[i]);
            l->lever[j * l->L + i] = (float)c;
            for (int64_t o = 0; o < k; o++)
                l->fit[(j * l->L + i) * k + o] = (float)(beta[j * k + o] * c);
        }
    TRY(make_projection(ctx, s, v, true, l->project));
    *out = l;
    l = NULL;
done:
    krein__scores_end(l);
    krein__free(ctx, v);
    krein__free(ctx, w);
    krein__free(ctx, beta);
    return st;
}

/* With U'U = G + W lambda I and q = U'^-1 (z - m): fits q'U'^-1 B, levers |q|^2. */
krein_status krein__scores_at(krein_ctx *ctx, const krein_system *s, double lambda,
                              krein_scores **out) {
    krein_status st = KREIN_OK;
    krein_scores *l = NULL;
    double *u = NULL, *x = NULL, *diagonal = NULL;
    int64_t D = s->D, k = s->k;
    *out = NULL;
    NEW(u, D * D);
    NEW(x, D * k);
    NEW(diagonal, D);
    TRY(krein__system_factor(ctx, s, lambda, u));
    TRY(scores_alloc(ctx, s, true, 1, &l));
    memcpy(x, s->B, (size_t)(D * k) * sizeof *x);
    krein__dtrsm(true, D, k, u, D, x, k);
    for (int64_t i = 0; i < D * k; i++) l->fit[i] = (float)x[i];
    for (int64_t i = 0; i < D; i++) l->lever[i] = 1;
    TRY(krein__cholesky_inverse_diagonal(ctx, D, u, D, diagonal));
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < i; j++) u[i * D + j] = 0;
    NEW(l->project, s->R * D);
    TRY(make_projection(ctx, s, u, false, l->project));
    *out = l;
    l = NULL;
done:
    krein__scores_end(l);
    krein__free(ctx, u);
    krein__free(ctx, x);
    krein__free(ctx, diagonal);
    return st;
}

double krein__scores_bytes(int64_t D, int64_t k, int threads) {
    double d = (double)D, K = (double)k, L = KREIN_PATH_MAX;
    return 4 * d * d + 4 * d * (L * (K + 1) + 1) + 8 * K +
           (double)threads * TILE_ROWS * (4 * (3 * d + L * (K + 1)) + 8 * L * K) + 512;
}

/* What score_tile and krein__scores_rows start from: fits and levers of at most TILE_ROWS rows. */
typedef struct tile {
    float *fit, *lever; /* n x (L k), n x L */
} tile;

static tile project(const krein_scores *l, const float *r, int64_t n, float *scratch) {
    int64_t R = l->R, D = l->D, L = l->L, k = l->k;
    float *centred = scratch, *q = centred + TILE_ROWS * R, *square = q + TILE_ROWS * D;
    tile t = {square + TILE_ROWS * D, square + TILE_ROWS * (D + L * k)};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < R; j++) centred[i * R + j] = r[i * R + j] - l->mean[j];
    if (l->project)
        krein__sgemm(false, false, n, D, R, 1, centred, R, l->project, D, 0, q, D);
    else
        q = centred;
    for (int64_t i = 0; l->loo && i < n * D; i++) square[i] = q[i] * q[i];
    krein__sgemm(false, false, n, L * k, D, 1, q, D, l->fit, L * k, 0, t.fit, L * k);
    if (l->loo) krein__sgemm(false, false, n, L, D, 1, square, D, l->lever, L, 0, t.lever, L);
    return t;
}

/* Scores of at most TILE_ROWS rows. */
static void score_tile(const krein_scores *l, const float *r, const krein_targets *rows,
                       float *scratch, double *score) {
    int64_t n = rows->n, L = l->L, k = l->k;
    tile t = project(l, r, n, scratch);
    for (int64_t i = 0; i < n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        for (int64_t a = 0; a < L; a++) {
            double rest = l->loo ? 1 - w * (1 / l->weight + (double)t.lever[i * L + a]) : 1;
            for (int64_t c = 0; c < k; c++) {
                int64_t at = (i * L + a) * k + c;
                double y = rows->y[i * k + c];
                double residual = y - l->ymean[c] - (double)t.fit[at];
                score[at] = rest > 1e-6 ? y - residual / rest : krein__score_of_nothing(y);
            }
        }
    }
}

void krein__scores_rows(krein_scores *l, int64_t n, const float *r, float *fit, float *lever) {
    krein_ctx *ctx = l->ctx;
    int64_t tiles = (n + TILE_ROWS - 1) / TILE_ROWS, L = l->L, wide = L * l->k;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(static, 1)
    for (int64_t i = 0; i < tiles; i++) {
        krein__worker_begin();
        int64_t from = i * TILE_ROWS, m = krein__min(TILE_ROWS, n - from);
        tile t = project(l, r + from * l->R, m, l->scratch + omp_get_thread_num() * l->each);
        memcpy(fit + from * wide, t.fit, (size_t)(m * wide) * sizeof *fit);
        if (l->loo) memcpy(lever + from * L, t.lever, (size_t)(m * L) * sizeof *lever);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* Strips of rows: their bits do not depend on the threads. */
void krein__scores_weights(const krein_scores *l, float *w) {
    int64_t wide = l->L * l->k, tiles = (l->R + TILE_ROWS - 1) / TILE_ROWS;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(l->ctx->threads) schedule(static, 1)
    for (int64_t i = 0; i < tiles; i++) {
        krein__worker_begin();
        int64_t from = i * TILE_ROWS, m = krein__min(TILE_ROWS, l->R - from);
        krein__sgemm(false, false, m, wide, l->D, 1, l->project + from * l->D, l->D, l->fit, wide,
                     0, w + from * wide, wide);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

krein_status krein__scores_add(krein_scores *l, const float *r, const krein_targets *rows,
                               krein_tally *tally) {
    krein_ctx *ctx = l->ctx;
    int64_t tiles = (rows->n + TILE_ROWS - 1) / TILE_ROWS, size = TILE_ROWS * l->L * l->k;
    krein_compute compute = krein__compute_begin();
    /* Tiles are computed `threads` at a time and tallied in order, so that the sums do not depend
     * on the number of threads. */
    for (int64_t first = 0; first < tiles; first += ctx->threads) {
        int64_t group = krein__min(ctx->threads, tiles - first);
#pragma omp parallel for num_threads(ctx->threads) schedule(static, 1)
        for (int64_t t = 0; t < group; t++) {
            krein__worker_begin();
            int64_t from = (first + t) * TILE_ROWS, m = krein__min(TILE_ROWS, rows->n - from);
            krein_targets part = {m, rows->k, rows->y + from * rows->k,
                                  rows->weight ? rows->weight + from : NULL, NULL};
            score_tile(l, r + from * l->R, &part, l->scratch + t * l->each, l->score + t * size);
            krein__worker_end(compute);
        }
        for (int64_t t = 0; t < group; t++) {
            int64_t from = (first + t) * TILE_ROWS, m = krein__min(TILE_ROWS, rows->n - from);
            krein_targets part = {m, rows->k, rows->y + from * rows->k,
                                  rows->weight ? rows->weight + from : NULL,
                                  rows->class ? rows->class + from : NULL};
            krein__tally_add(tally, &part, l->L, l->score + t * size);
        }
    }
    krein__compute_end(compute);
    return krein__poll(ctx);
}

const krein_class krein__solver_ridge = {
    .name = "ridge",
    .summary = "ridge regression on features: one pass, then Cholesky",
    .cite = "hoerl1970",
    .details = "Normal equations in float64 from float32 blocks; leave-one-out from one "
               "eigendecomposition. "
               "Used "
               "by krr with every map but exact."};
