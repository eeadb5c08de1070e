/* krein_ridge -- ridge regression in a Krein space
 *
 * Features with signs S = diag(s_i) stand for a kernel sum_i s_i z_i(x) z_i(y) that is not
 * positive. Its space has the inner product w'Sw, which has no minimum over w; instead the
 * regularised risk is stabilised (ong2004, oglic2018): the solution is the stationary point
 *
 *     of   (1/W) sum_i w_i (y_i - z_i'w - b)^2 + lambda w'Sw,   that is   (Gc + W lambda S) w = Bc,
 *
 * a symmetric indefinite system, solved as such (Bunch and Kaufman). With w = S Zc'a it is (Kc + W
 * lambda I) a = y, Kc = Zc S Zc': what kernel ridge regression on the kernel matrix solves.
 *
 * A stationary point exists where Gc + W lambda S is regular. Gc is a sum of float32 products, with
 * an error as a matrix of about NOISE trace / sqrt(D) (krein__system_floor): a matrix nearer to a
 * singular one than that has no stationary point that could be computed. Along the negative
 * features that happens at lambda near an eigenvalue; another lambda, above or below, has one.
 *
 * Stationarity is linear in y, and leaving out row i is a rank-one change, so that the
 * leave-one-out residual is (y_i - f_i) / (1 - w_i h_i) as for any ridge regression (ridge.c), with
 * h_i = 1/W + (z_i - m)'(Gc + W lambda S)^-1 (z_i - m), which may be of any sign.
 *
 * D^3 / 3 flops a lambda on one thread, and 2 n D^2 for the levers of n rows on all.
 */
#include "solve/krein_ridge.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS = 256 };
static const double NOISE = 2e-8;

/* Gc + W lambda S, factored. */
typedef struct factor {
    double *a, *e;
    int *pivot;
    double margin, least; /* distance from a singular matrix; what rounding may be */
} factor;

static void factor_clear(krein_ctx *ctx, factor *f) {
    krein__free(ctx, f->a);
    krein__free(ctx, f->e);
    krein__free(ctx, f->pivot);
    memset(f, 0, sizeof *f);
}

static krein_status factor_begin(krein_ctx *ctx, const krein_system *s, factor *f) {
    krein_status st = KREIN_OK;
    memset(f, 0, sizeof *f);
    NEW(f->a, s->D * s->D);
    NEW(f->e, s->D);
    NEW(f->pivot, s->D);
    for (int64_t i = 0; i < s->D; i++) f->least += s->G[i * s->D + i];
    f->least *= NOISE / sqrt((double)s->D);
done:
    return st;
}

static krein_status factorise(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                              double lambda, factor *f) {
    int64_t D = s->D;
    memcpy(f->a, s->G, (size_t)(D * D) * sizeof *f->a);
    for (int64_t i = 0; i < D; i++) f->a[i * D + i] += s->weight * lambda * sign[i];
    krein_status st = krein__indefinite(ctx, D, f->a, D, f->e, f->pivot, &f->margin);
    return st == KREIN_OK ? krein__poll(ctx) : st;
}

static bool exists(const factor *f) { return f->margin > f->least; }

/* x (k x D) = the weights, a row for each output. */
static void solve(const krein_system *s, const factor *f, double *x) {
    int64_t D = s->D, k = s->k;
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < D; j++) x[c * D + j] = s->B[j * k + c];
    krein_compute compute = krein__compute_begin();
    krein__indefinite_solve(D, f->a, D, f->e, f->pivot, k, x, D);
    krein__compute_end(compute);
}

/* A grid from where float32 resolves to above the largest eigenvalue (at most the trace). */
static void grid(const krein_system *s, krein_path *p) {
    double trace = 0;
    for (int64_t i = 0; i < s->D; i++) trace += s->G[i * s->D + i];
    double top = fmax(trace, 1e-30) / s->weight;
    krein__path_grid(p, fmax(krein__system_floor(s), 1e-10 * top), top, 2);
}

/* ---- one lambda --------------------------------------------------------- */

static krein_status refuse(krein_ctx *ctx, const krein_system *s, const int8_t *sign, double lambda,
                           factor *f) {
    krein_path p = {0};
    grid(s, &p);
    for (int64_t l = 0; l < p.n; l++) {
        if (p.lambda[l] <= lambda) continue;
        krein_status st = factorise(ctx, s, sign, p.lambda[l], f);
        if (st != KREIN_OK) return st;
        if (exists(f))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "norm=krein has no stationary point at lambda = %g that rounding "
                               "leaves alone; try `lambda=%g` or auto, or norm=hilbert",
                               lambda, p.lambda[l]);
    }
    return krein__fail(ctx, KREIN_ENUMERIC,
                       "norm=krein has no stationary point at lambda = %g that rounding leaves "
                       "alone, nor above; use norm=hilbert",
                       lambda);
}

krein_status krein__krein_solve(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                double lambda, double *w, double *intercept) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k;
    factor f = {0};
    double *x = NULL;
    TRY(factor_begin(ctx, s, &f));
    NEW(x, k * D);
    TRY(factorise(ctx, s, sign, lambda, &f));
    if (!exists(&f)) {
        st = refuse(ctx, s, sign, lambda, &f);
        goto done;
    }
    solve(s, &f, x);
    for (int64_t c = 0; c < k; c++) {
        intercept[c] = s->ymean[c];
        for (int64_t j = 0; j < D; j++) {
            w[j * k + c] = x[c * D + j];
            intercept[c] -= s->mean[j] * x[c * D + j];
        }
    }
done:
    factor_clear(ctx, &f);
    krein__free(ctx, x);
    return st;
}

/* ---- leave-one-out ------------------------------------------------------ */

typedef struct walk {
    krein_ctx *ctx;
    const krein_system *s;
    const int8_t *sign;
    const float *z;
    const krein_targets *rows;
    factor f;
    double *x, *score, *tile; /* k x D; n x k; per thread 2 ROWS x D */
} walk;

/* (z_i - m)'w (m x k) and (z_i - m)'(Gc + W lambda S)^-1 (z_i - m) (m) of m <= ROWS rows. */
static void measure(const walk *w, int64_t from, int64_t m, double *tile, double *fit,
                    double *lever) {
    int64_t D = w->s->D, k = w->s->k;
    double *z = tile, *q = tile + ROWS * D;
    for (int64_t i = 0; i < m * D; i++) z[i] = q[i] = (double)w->z[from * D + i];
    krein__indefinite_solve(D, w->f.a, D, w->f.e, w->f.pivot, m, q, D);
    for (int64_t i = 0; i < m; i++) {
        lever[i] = krein__ddot(D, z + i * D, q + i * D);
        for (int64_t c = 0; c < k; c++) fit[i * k + c] = krein__ddot(D, z + i * D, w->x + c * D);
    }
}

/* Held-out scores of m <= ROWS rows. */
static void score_rows(const walk *w, int64_t from, int64_t m, double *tile) {
    const krein_system *s = w->s;
    const krein_targets *rows = w->rows;
    int64_t k = s->k;
    double lever[ROWS], *score = w->score + from * k;
    measure(w, from, m, tile, score, lever);
    for (int64_t i = 0; i < m; i++) {
        double rest = 1 - (rows->weight ? rows->weight[from + i] : 1) * (1 / s->weight + lever[i]);
        for (int64_t c = 0; c < k; c++) {
            double y = rows->y[(from + i) * k + c];
            double residual = y - s->ymean[c] - score[i * k + c];
            score[i * k + c] = fabs(rest) > 1e-6 ? y - residual / rest : krein__score_of_nothing(y);
        }
    }
}

/* Appends a lambda to the path. */
static krein_status visit(walk *w, double lambda, krein_path *p) {
    krein_ctx *ctx = w->ctx;
    int64_t n = w->rows->n, tiles = (n + ROWS - 1) / ROWS;
    bool classes = w->rows->class != NULL;
    krein_path one = {.n = 1, .loss = {INFINITY}, .error = {classes ? INFINITY : NAN}};
    krein_status st = factorise(ctx, w->s, w->sign, lambda, &w->f);
    if (st != KREIN_OK) return st;
    if (exists(&w->f)) {
        krein_tally tally = {0};
        solve(w->s, &w->f, w->x);
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            krein__worker_begin();
            score_rows(w, t * ROWS, krein__min(ROWS, n - t * ROWS),
                       w->tile + omp_get_thread_num() * 2 * ROWS * w->s->D);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        krein__tally_add(&tally, w->rows, 1, w->score);
        krein__tally_end(&tally, classes, &one);
    }
    p->lambda[p->n] = lambda;
    p->loss[p->n] = one.loss[0];
    p->error[p->n++] = one.error[0];
    krein__path_choose(p);
    krein__progress(ctx, "leave-one-out", (double)p->n, 0);
    char error[40];
    krein__log(ctx, KREIN_LOG_DEBUG, "lambda %g: loss %g%s (margin %.2g, rounding %.2g)", lambda,
               one.loss[0], krein__error_text(one.error[0], error), w->f.margin, w->f.least);
    return KREIN_OK;
}

krein_status krein__krein_loo(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                              const float *z, const krein_targets *rows, krein_path *p) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .s = s, .sign = sign, .z = z, .rows = rows};
    krein_path half = {0};
    TRY(factor_begin(ctx, s, &w.f));
    NEW(w.x, s->k * s->D);
    NEW(w.score, rows->n * s->k);
    NEW(w.tile, ctx->threads * 2 * ROWS * s->D);
    grid(s, &half);
    p->n = 0;
    for (int64_t l = 0; l < half.n; l++) TRY(visit(&w, half.lambda[l], p));
    double best = p->lambda[p->best];
    TRY(visit(&w, krein__round_digits(best * pow(10, -.25), 3), p));
    TRY(visit(&w, krein__round_digits(best * pow(10, .25), 3), p));
    if (isinf(p->loss[p->best]))
        st =
            krein__fail(ctx, KREIN_ENUMERIC,
                        "norm=krein: at no lambda is there a stationary point that rounding leaves "
                        "alone; use norm=hilbert");
done:
    factor_clear(ctx, &w.f);
    krein__free(ctx, w.x);
    krein__free(ctx, w.score);
    krein__free(ctx, w.tile);
    return st;
}

krein_status krein__krein_levers(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                 double lambda, int64_t n, const float *z, double *fit,
                                 double *lever) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .s = s, .sign = sign, .z = z};
    int64_t tiles = (n + ROWS - 1) / ROWS;
    TRY(factor_begin(ctx, s, &w.f));
    NEW(w.x, s->k * s->D);
    NEW(w.tile, ctx->threads * 2 * ROWS * s->D);
    TRY(factorise(ctx, s, sign, lambda, &w.f));
    if (!exists(&w.f)) {
        st = refuse(ctx, s, sign, lambda, &w.f);
        goto done;
    }
    solve(s, &w.f, w.x);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t from = t * ROWS;
        measure(&w, from, krein__min(ROWS, n - from),
                w.tile + omp_get_thread_num() * 2 * ROWS * s->D, fit + from * s->k, lever + from);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    TRY(krein__poll(ctx));
done:
    factor_clear(ctx, &w.f);
    krein__free(ctx, w.x);
    krein__free(ctx, w.tile);
    return st;
}

/* ---- held out ----------------------------------------------------------- */

krein_status krein__krein_scores(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                 krein_path *p, krein_scores **out) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k;
    factor f = {0};
    double *x = NULL, *all = NULL;
    *out = NULL;
    if (p->n == 0) grid(s, p);
    TRY(factor_begin(ctx, s, &f));
    NEW(x, k * D);
    NEW(all, D * p->n * k);
    for (int64_t l = 0; l < p->n; l++) {
        TRY(factorise(ctx, s, sign, p->lambda[l], &f));
        solve(s, &f, x);
        for (int64_t j = 0; j < D; j++)
            for (int64_t c = 0; c < k; c++)
                all[(j * p->n + l) * k + c] = exists(&f) ? x[c * D + j] : NAN;
        krein__progress(ctx, "cross-validation", (double)l, (double)p->n);
    }
    TRY(krein__scores_of(ctx, s, p->n, all, out));
done:
    factor_clear(ctx, &f);
    krein__free(ctx, x);
    krein__free(ctx, all);
    return st;
}

const krein_class krein__solver_krein = {
    .name = "krein",
    .summary = "ridge regression in a Krein space: the stationary point",
    .cite = "ong2004",
    .details = "Signed features; one Bunch-Kaufman factorisation a lambda, exact leave-one-out. "
               "Used by krr with norm=krein."};
