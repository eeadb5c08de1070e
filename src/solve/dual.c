/* dual -- kernel ridge regression on the kernel matrix, with an intercept that is not penalised
 *
 *     f(x) = sum_i alpha_i k(x, x_i) + b.   With S = diag(sqrt w), u = S1/|S1|, P = I - uu',
 *     (P S K S P + W lambda I) a = P S y,   alpha = S a  (then sum alpha = 0),
 *     b = weighted mean of (y - K alpha).
 * Leave-one-out with the eigenpairs (s, v) of PSKSP other than (0, u), and t_j = W lambda/(s_j + W
 * lambda): e_i = sum_j v_ij (v_j'PSy) t_j / sum_j v_ij^2 t_j / sqrt(w_i) (residual over one minus
 * leverage, each as a sum of small terms: no cancellation at small lambda).
 *
 * That takes 9 n^3 flops, most of them on one thread. Where rows are many, lambda is sought by
 * steps (path.c) of a Cholesky factorisation each: with A = PSKSP + c uu' + W lambda I and a = A^-1
 * PSy, e_i = a_i / ((A^-1)_ii - u_i^2 / (c + W lambda)) / sqrt(w_i) which is the same number:
 * residual and one minus leverage, both divided by W lambda. u is an eigenvector and PSy has no
 * part of it, so c > 0 changes nothing but the digits that the difference keeps. 2 n^3 / 3 flops a
 * step on all threads, in the memory of K: its lower triangle stays, the upper one becomes the
 * factor and then the factor's inverse. The same in float32: dual_walk.c.
 */
#include "solve/dual.h"

#include "base/rng.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

krein_status krein__frame_loo_path(krein_ctx *ctx, double *K, const krein_targets *rows,
                                   const krein_frame *f, krein_path *p, double *score) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, count = n - f->intercept, L;
    double *s = NULL, *beta = NULL, *c = NULL, *fit = NULL, *lever = NULL;
    NEW(s, n);
    TRY(krein__frame_eigen(ctx, K, n, f, s));
    TRY(krein__poll(ctx));
    double top = count > 0 ? fmax(fmax(s[count - 1], -s[0]), 1e-30) / f->weight : 1e-30;
    if (p->n == 0) krein__path_grid(p, fmax(top * 1e-11, f->floor), top * 10, 4);
    L = p->n;
    NEW(beta, n * k);
    NEW(c, n * L * krein__max(1, k));
    NEW(fit, n * L * k);
    NEW(lever, n * L);
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f->y, k, 0, beta, k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++) {
            double shift = f->weight * p->lambda[l],
                   t = j < count ? shift * krein__pole_inverse(s[j], shift) : 0;
            for (int64_t o = 0; o < k; o++) c[(j * L + l) * k + o] = beta[j * k + o] * t;
        }
    krein__pgemm(ctx, true, false, n, L * k, n, 1, K, n, c, L * k, 0, fit, L * k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++) {
            double shift = f->weight * p->lambda[l];
            c[j * L + l] = j < count ? shift * krein__pole_inverse(s[j], shift) : 0;
        }
    for (int64_t i = 0; i < n * n; i++) K[i] *= K[i];
    krein__pgemm(ctx, true, false, n, L, n, 1, K, n, c, L, 0, lever, L);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < L; l++) {
            double rest = lever[i * L + l]; /* one minus the leverage */
            for (int64_t o = 0; o < k; o++) {
                int64_t at = (i * L + l) * k + o;
                double y = rows->y[i * k + o];
                fit[at] =
                    rest != 0 && f->root[i] > 0 ? y - fit[at] / rest / f->root[i] : f->ymean[o];
            }
        }
    krein_tally tally = {0};
    krein__tally_add(&tally, rows, L, fit);
    krein__tally_end(&tally, rows->class != NULL, p);
    if (score) memcpy(score, fit, (size_t)(n * L * k) * sizeof *score);
done:
    krein__free(ctx, s);
    krein__free(ctx, beta);
    krein__free(ctx, c);
    krein__free(ctx, fit);
    krein__free(ctx, lever);
    return st;
}

krein_status krein__dual_loo_path(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  bool intercept, krein_path *p) {
    krein_status st = KREIN_OK;
    krein_frame f = {0};
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    TRY(krein__frame_loo_path(ctx, K, rows, &f, p, NULL));
done:
    krein__frame_clear(ctx, &f);
    return st;
}

krein_status krein__dual_path(krein_ctx *ctx, double *K, const krein_targets *rows, krein_path *p) {
    return krein__dual_loo_path(ctx, K, rows, true, p);
}

/* b = weighted mean of y - K alpha = ymean - (sum_i w_i K_i. alpha) / W; K is as given. */
static void weighted_row(int64_t n, const double *K, const krein_targets *rows, double weight,
                         double *out) {
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        double w = (rows->weight ? rows->weight[i] : 1) / weight;
        for (int64_t j = 0; j < n; j++) out[j] += w * K[i * n + j];
    }
}

/* The same for an indefinite matrix, from its eigenvalues. */
static krein_status solve_indefinite(krein_ctx *ctx, double *K, const krein_targets *rows,
                                     const krein_frame *f, double lambda, double *a) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    double *s = NULL, *q = NULL;
    NEW(s, n);
    NEW(q, n * k);
    krein__frame_refill(ctx, n, f, 0, 0, K);
    TRY(krein__eigen(ctx, n, K, n, s));
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f->y, k, 0, q, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            q[i * k + c] *= krein__pole_inverse(s[i], f->weight * lambda);
    krein__pgemm(ctx, true, false, n, k, n, 1, K, n, q, k, 0, a, k);
done:
    krein__free(ctx, s);
    krein__free(ctx, q);
    return st;
}

krein_status krein__dual_fit(krein_ctx *ctx, double *K, const krein_targets *rows, bool intercept,
                             double lambda, double *alpha, double *b) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n;
    krein_frame f = {0};
    double *row = NULL;
    NEW(row, n);
    weighted_row(n, K, rows, krein__total_weight(rows), row);
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    st = krein__frame_solve(ctx, K, rows, &f, f.weight * lambda, alpha);
    if (st == KREIN_ENUMERIC && lambda == 0) st = krein__dual_singular(ctx);
    if (st == KREIN_ENUMERIC && lambda != 0) st = solve_indefinite(ctx, K, rows, &f, lambda, alpha);
    TRY(st);
    krein__frame_leave(rows, &f, row, alpha, b);
done:
    krein__free(ctx, row);
    krein__frame_clear(ctx, &f);
    return st;
}

krein_status krein__dual_solve(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                               double *alpha, double *intercept) {
    return krein__dual_fit(ctx, K, rows, true, lambda, alpha, intercept);
}

/* Coefficients (n x (L k)) and intercepts (L k) of the whole path. */
static krein_status fit_path(krein_ctx *ctx, double *K, const krein_targets *rows, bool intercept,
                             const krein_path *p, double *alpha, double *b) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, L = p->n;
    krein_frame f = {0};
    double *row = NULL, *s = NULL, *beta = NULL, *c = NULL;
    NEW(row, n);
    weighted_row(n, K, rows, krein__total_weight(rows), row);
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    NEW(s, n);
    TRY(krein__frame_eigen(ctx, K, n, &f, s));
    NEW(beta, n * k);
    NEW(c, n * L * k);
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f.y, k, 0, beta, k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++)
            for (int64_t o = 0; o < k; o++)
                c[(j * L + l) * k + o] =
                    beta[j * k + o] * krein__pole_inverse(s[j], f.weight * p->lambda[l]);
    krein__pgemm(ctx, true, false, n, L * k, n, 1, K, n, c, L * k, 0, alpha, L * k);
    krein__frame_project(n, L * k, f.u, alpha);
    for (int64_t o = 0; o < L * k; o++) b[o] = f.ymean[o % k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < L * k; o++) {
            alpha[i * L * k + o] *= f.root[i];
            if (intercept) b[o] -= row[i] * alpha[i * L * k + o];
        }
done:
    krein__free(ctx, row);
    krein__free(ctx, s);
    krein__free(ctx, beta);
    krein__free(ctx, c);
    krein__frame_clear(ctx, &f);
    return st;
}

krein_status krein__dual_others(krein_ctx *ctx, double *K, const krein_targets *rows,
                                bool intercept, const double *Kt, int64_t m, const krein_path *p,
                                double *score) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, wide = rows->k * p->n;
    double *alpha = NULL, *b = NULL;
    NEW(alpha, n * wide);
    NEW(b, wide);
    if (p->n == 1)
        TRY(krein__dual_fit(ctx, K, rows, intercept, p->lambda[0], alpha, b));
    else
        TRY(fit_path(ctx, K, rows, intercept, p, alpha, b));
    krein__pgemm(ctx, false, false, m, wide, n, 1, Kt, n, alpha, wide, 0, score, wide);
    for (int64_t i = 0; i < m; i++)
        for (int64_t o = 0; o < wide; o++) score[i * wide + o] += b[o];
done:
    krein__free(ctx, alpha);
    krein__free(ctx, b);
    return st;
}

/* ---- the walk ----------------------------------------------------------- */

typedef struct walk {
    krein_ctx *ctx;
    double *K;
    const krein_targets *rows;
    krein_frame f;
    double *a, *best; /* n x k: solutions at the last and at the best lambda so far */
    double *diagonal; /* n: of the inverse */
    const krein_path *p;
} walk;

static void keep_best(const walk *w) {
    if (w->p->n > 0 && w->p->best == w->p->n - 1)
        memcpy(w->best, w->a, (size_t)(w->rows->n * w->rows->k) * sizeof *w->a);
}

/* Held-out scores at one lambda. */
static krein_status score(void *state, double lambda, double *out) {
    const walk *w = state;
    const krein_targets *rows = w->rows;
    const krein_frame *f = &w->f;
    int64_t n = rows->n, k = rows->k;
    double shift = f->weight * lambda;
    keep_best(w);
    krein_status st = krein__frame_solve(w->ctx, w->K, rows, f, shift, w->a);
    if (st == KREIN_ENUMERIC) { /* rounding left no factor: lambda is too small */
        for (int64_t e = 0; e < n * k; e++) out[e] = NAN;
        return KREIN_OK;
    }
    if (st == KREIN_OK) st = krein__cholesky_inverse_diagonal(w->ctx, n, w->K, n, w->diagonal);
    if (st == KREIN_OK) krein__frame_loo(rows, f, shift, w->a, w->diagonal, out);
    return st;
}

/* A sample of the rows that have a weight, or of all where no two have; its size. `index` has room
 * for all rows. */
static int64_t draw(const krein_targets *rows, int64_t sample, uint64_t seed, int64_t *index) {
    krein_rng g = krein__substream(seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA);
    int64_t n = rows->n, heavy = 0, all = 0, at = 0, m;
    for (int64_t i = 0; i < n; i++) heavy += !rows->weight || rows->weight[i] > 0;
    all = heavy < 2 ? n : heavy;
    m = krein__min(sample, all);
    krein__rng_choose(g, all, m, index);
    if (all == n) return m;
    /* Positions among the rows with a weight, ascending, become rows. */
    for (int64_t i = 0, seen = 0; i < n && at < m; i++)
        if (rows->weight[i] > 0 && seen++ == index[at]) index[at++] = i;
    return m;
}

/* The best lambda of some rows, for all of them: the W lambda that noise in the targets asks for
 * does not depend on the number of rows (it is the variance of a Gaussian process). */
krein_status krein__dual_start(krein_ctx *ctx, const double *K, const float *K32,
                               const krein_targets *rows, int64_t sample, uint64_t seed,
                               double *lambda) {
    krein_status st = KREIN_OK;
    int64_t m, *index = NULL;
    krein_path path = {0};
    krein_subset some = {0};
    double *A = NULL;
    NEW(index, rows->n);
    m = draw(rows, sample, seed, index);
    NEW(A, m * m);
    TRY(krein__subset_begin(ctx, rows, &some));
    for (int64_t i = 0; K32 && i < m; i++)
        for (int64_t j = 0; j < m; j++) A[i * m + j] = (double)K32[index[i] * rows->n + index[j]];
    if (K) krein__part(K, rows->n, index, m, index, m, A);
    krein_targets few = krein__subset_pick(rows, index, m, &some);
    TRY(krein__dual_path(ctx, A, &few, &path));
    *lambda = path.lambda[krein__path_least(&path)] * krein__total_weight(&few) /
              krein__total_weight(rows);
done:
    krein__free(ctx, index);
    krein__free(ctx, A);
    krein__subset_end(ctx, &some);
    return st;
}

typedef krein_status stepper(krein_ctx *ctx, const krein_targets *rows, double start, double least,
                             krein_visitor *visitor, void *state, krein_path *p);

static krein_status walk_from(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                              stepper *steps, krein_path *p, double *alpha, double *intercept) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    walk w = {.ctx = ctx, .K = K, .rows = rows, .best = alpha, .p = p};
    double *row = NULL;
    NEW(row, n);
    NEW(w.a, n * k);
    NEW(w.diagonal, n);
    weighted_row(n, K, rows, krein__total_weight(rows), row);
    TRY(krein__frame_begin(ctx, K, rows, true, &w.f));
    TRY(steps(ctx, rows, lambda, 0, score, &w, p));
    if (isinf(p->loss[p->best])) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the kernel matrix is not positive definite with any lambda up to %g; "
                         "give a larger `lambda`",
                         p->lambda[p->n - 1]);
        goto done;
    }
    keep_best(&w);
    krein__frame_leave(rows, &w.f, row, alpha, intercept);
done:
    krein__free(ctx, row);
    krein__free(ctx, w.a);
    krein__free(ctx, w.diagonal);
    krein__frame_clear(ctx, &w.f);
    return st;
}

krein_status krein__dual_walk(krein_ctx *ctx, double *K, const krein_targets *rows, int64_t sample,
                              uint64_t seed, krein_path *p, double *alpha, double *intercept) {
    double lambda;
    krein_status st = krein__dual_start(ctx, K, NULL, rows, sample, seed, &lambda);
    if (st != KREIN_OK) return st;
    return walk_from(ctx, K, rows, lambda, krein__path_walk, p, alpha, intercept);
}

krein_status krein__dual_walk_from64(krein_ctx *ctx, double *K, const krein_targets *rows,
                                     double start, krein_path *p, double *alpha,
                                     double *intercept) {
    return walk_from(ctx, K, rows, start, krein__path_climb, p, alpha, intercept);
}

const krein_class krein__solver_dual = {
    .name = "dual",
    .summary = "ridge regression on the kernel matrix: Cholesky",
    .cite = "saunders1998",
    .details =
        "In float64; leave-one-out from one eigendecomposition, or above 2,048 rows from a few "
        "Cholesky factorisations, in float32 where lambda allows it, with the solution refined. "
        "Used by krr with map=exact."};
