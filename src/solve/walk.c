/* walk -- leave-one-out at a few lambdas, for many features
 *
 * An eigendecomposition of D features costs 9 D^3 flops, most of them on one thread; a Cholesky
 * factorisation D^3 / 3 on all of them. So above KREIN_EIGEN_MAX features lambda is sought by
 * steps: with U'U = Gc + W lambda I and q = U'^-1 (z_i - m),
 *     h_i = 1/W + |q|^2,   residual / (1 - w_i h_i)   as in ridge.c,
 * exact for each of the rows scored. A start that is not known comes from an
 * eigendecomposition of the first KREIN_EIGEN_MAX / 2 features, scaled to the whole; fewer features
 * want a larger lambda, so the steps (path.c) go down first.
 */
#include "num/blas.h"
#include "solve/ridge.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS = 256 };

typedef struct walk {
    krein_ctx *ctx;
    const krein_system *s;
    const float *z; /* n x D, centred */
    const krein_targets *rows;
    double *u, *x;           /* factor, weights */
    float *u32, *x32, *tile; /* the same in float32; per thread ROWS x (D + k) */
} walk;

/* Held-out scores of at most ROWS rows. */
static void score_rows(const walk *w, int64_t from, int64_t m, float *q, double *score) {
    const krein_system *s = w->s;
    const krein_targets *rows = w->rows;
    int64_t D = s->D, k = s->k;
    float *fit = q + ROWS * D;
    const float *z = w->z + from * D;
    memcpy(q, z, (size_t)(m * D) * sizeof *q);
    krein__sgemm(false, false, m, k, D, 1, z, D, w->x32, k, 0, fit, k);
    krein__strsm(m, D, w->u32, D, q, D);
    for (int64_t i = 0; i < m; i++) {
        double lever = 1 / s->weight;
        for (int64_t j = 0; j < D; j++) lever += (double)q[i * D + j] * (double)q[i * D + j];
        double rest = 1 - (rows->weight ? rows->weight[from + i] : 1) * lever;
        for (int64_t c = 0; c < k; c++) {
            double y = rows->y[(from + i) * k + c];
            double residual = y - s->ymean[c] - (double)fit[i * k + c];
            score[(from + i) * k + c] =
                rest > 1e-6 ? y - residual / rest : krein__score_of_nothing(y);
        }
    }
}

/* Held-out scores of all rows at one lambda. */
static krein_status score(void *state, double lambda, double *out) {
    const walk *w = state;
    krein_ctx *ctx = w->ctx;
    const krein_system *s = w->s;
    int64_t D = s->D, k = s->k, n = w->rows->n, tiles = (n + ROWS - 1) / ROWS;
    krein_status st = krein__system_factor(ctx, s, lambda, w->u);
    if (st != KREIN_OK) return st;
    memcpy(w->x, s->B, (size_t)(D * k) * sizeof *w->x);
    st = krein__cholesky_solve(ctx, D, w->u, D, k, w->x, k);
    if (st != KREIN_OK) return st;
    for (int64_t i = 0; i < D * k; i++) w->x32[i] = (float)w->x[i];
    for (int64_t i = 0; i < D * D; i++) w->u32[i] = (float)w->u[i];
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        score_rows(w, t * ROWS, krein__min(ROWS, n - t * ROWS),
                   w->tile + omp_get_thread_num() * ROWS * (D + k), out);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    return KREIN_OK;
}

/* The best lambda of the leading features, whose kernel is scaled to the whole one. */
static krein_status start(const walk *w, double *lambda) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    const krein_system *s = w->s;
    int64_t D = s->D, d = KREIN_EIGEN_MAX / 2, k = s->k, n = w->rows->n;
    double scale = (double)D / (double)d;
    krein_system part = {.D = d, .R = d, .k = k, .weight = s->weight, .ymean = s->ymean};
    krein_scores *scores = NULL;
    krein_path path = {0};
    krein_tally tally = {0};
    float *z = NULL;
    NEW(part.G, d * d);
    NEW(part.B, d * k);
    ZNEW(part.mean, d);
    NEW(z, n * d);
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < d; j++) part.G[i * d + j] = scale * s->G[i * D + j];
        for (int64_t c = 0; c < k; c++) part.B[i * k + c] = sqrt(scale) * s->B[i * k + c];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) z[i * d + j] = (float)sqrt(scale) * w->z[i * D + j];
    TRY(krein__scores_begin(ctx, &part, true, &path, &scores));
    TRY(krein__scores_add(scores, z, w->rows, &tally));
    krein__tally_end(&tally, w->rows->class != NULL, &path);
    *lambda = path.lambda[krein__path_least(&path)];
done:
    krein__scores_end(scores);
    krein__free(ctx, part.G);
    krein__free(ctx, part.B);
    krein__free(ctx, part.mean);
    krein__free(ctx, z);
    return st;
}

krein_status krein__loo_walk(krein_ctx *ctx, const krein_system *s, const float *z,
                             const krein_targets *rows, double near, krein_path *p) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .s = s, .z = z, .rows = rows};
    int64_t D = s->D, k = s->k;
    double lambda = near;
    if (!(near > 0)) TRY(start(&w, &lambda));
    NEW(w.u, D * D);
    NEW(w.x, D * k);
    NEW(w.u32, D * D);
    NEW(w.x32, D * k);
    NEW(w.tile, ctx->threads * ROWS * (D + k));
    TRY((near > 0 ? krein__path_climb : krein__path_walk)(ctx, rows, lambda, krein__system_floor(s),
                                                          score, &w, p));
done:
    krein__free(ctx, w.u);
    krein__free(ctx, w.x);
    krein__free(ctx, w.u32);
    krein__free(ctx, w.x32);
    krein__free(ctx, w.tile);
    return st;
}
