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
 * factor and then the factor's inverse.
 */
#include "base/rng.h"
#include "num/blas.h"
#include "solve/ridge.h"

#include <math.h>
#include <string.h>

typedef struct frame {
    double weight;        /* W */
    double *root, *u, *y; /* sqrt(w); u; P S y (n x k) */
    double *ymean;
    double *diagonal, lift; /* of PSKSP; the c above, as large as the diagonal */
} frame;

static void frame_clear(krein_ctx *ctx, frame *f) {
    krein__free(ctx, f->root);
    krein__free(ctx, f->u);
    krein__free(ctx, f->y);
    krein__free(ctx, f->ymean);
    krein__free(ctx, f->diagonal);
    memset(f, 0, sizeof *f);
}

/* a (n x m) becomes P a. */
static void project(int64_t n, int64_t m, const double *u, double *a) {
    for (int64_t j = 0; j < m; j++) {
        double dot = 0;
        for (int64_t i = 0; i < n; i++) dot += u[i] * a[i * m + j];
        for (int64_t i = 0; i < n; i++) a[i * m + j] -= u[i] * dot;
    }
}

/* K becomes P S K S P: K_ij r_i r_j, minus the row and column means in the metric of u. */
static krein_status enter(krein_ctx *ctx, double *K, const krein_targets *rows, frame *f) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    double *mean = NULL, total = 0;
    memset(f, 0, sizeof *f);
    NEW(f->root, n);
    NEW(f->u, n);
    NEW(f->y, n * k);
    ZNEW(f->ymean, k);
    NEW(f->diagonal, n);
    NEW(mean, n);
    for (int64_t i = 0; i < n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        f->root[i] = sqrt(w);
        f->weight += w;
        for (int64_t c = 0; c < k; c++) f->ymean[c] += w * rows->y[i * k + c];
    }
    if (!(f->weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t c = 0; c < k; c++) f->ymean[c] /= f->weight;
    for (int64_t i = 0; i < n; i++) {
        f->u[i] = f->root[i] / sqrt(f->weight);
        for (int64_t c = 0; c < k; c++)
            f->y[i * k + c] = f->root[i] * (rows->y[i * k + c] - f->ymean[c]);
    }
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            K[i * n + j] *= f->root[i] * f->root[j];
            sum += K[i * n + j] * f->u[j];
        }
        mean[i] = sum; /* K u */
    }
    for (int64_t i = 0; i < n; i++) total += f->u[i] * mean[i];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] -= f->u[i] * mean[j] + mean[i] * f->u[j] - total * f->u[i] * f->u[j];
    for (int64_t i = 0; i < n; i++) {
        f->diagonal[i] = K[i * n + i];
        f->lift = fmax(f->lift, fabs(f->diagonal[i]));
    }
done:
    krein__free(ctx, mean);
    if (st != KREIN_OK) frame_clear(ctx, f);
    return st;
}

/* Eigenvalues of an indefinite kernel are kept as they are, away from a pole. */
static double inverse(double s, double shift) {
    double sum = s + shift;
    return fabs(sum) > 1e-3 * shift ? 1 / sum : 1 / (1e-3 * shift);
}

/* Eigenpairs of A with the eigenvector u of value 0 moved to the end, out of the way of all others.
 */
static krein_status spectrum(krein_ctx *ctx, double *A, int64_t n, const double *u, double *s) {
    double bound = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(A[i * n + j]);
        bound = fmax(bound, sum);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) A[i * n + j] += 2 * bound * u[i] * u[j];
    return krein__eigen(ctx, n, A, n, s);
}

krein_status krein__dual_path(krein_ctx *ctx, double *K, const krein_targets *rows, krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, L;
    frame f = {0};
    double *s = NULL, *beta = NULL, *c = NULL, *fit = NULL, *lever = NULL;
    TRY(enter(ctx, K, rows, &f));
    NEW(s, n);
    TRY(spectrum(ctx, K, n, f.u, s));
    double top = fmax(fmax(s[n - 2], -s[0]), 1e-30) / f.weight;
    if (p->n == 0) krein__path_grid(p, top * 1e-11, top * 10, 4);
    L = p->n;
    NEW(beta, n * k);
    NEW(c, n * L * krein__max(1, k));
    NEW(fit, n * L * k);
    NEW(lever, n * L);
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f.y, k, 0, beta, k);
    /* The last eigenvector is u: left out. */
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++) {
            double shift = f.weight * p->lambda[l],
                   t = j < n - 1 ? shift * inverse(s[j], shift) : 0;
            for (int64_t o = 0; o < k; o++) c[(j * L + l) * k + o] = beta[j * k + o] * t;
        }
    krein__pgemm(ctx, true, false, n, L * k, n, 1, K, n, c, L * k, 0, fit, L * k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++) {
            double shift = f.weight * p->lambda[l];
            c[j * L + l] = j < n - 1 ? shift * inverse(s[j], shift) : 0;
        }
    for (int64_t i = 0; i < n * n; i++) K[i] *= K[i];
    krein__pgemm(ctx, true, false, n, L, n, 1, K, n, c, L, 0, lever, L);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < L; l++) {
            double rest = lever[i * L + l]; /* one minus the leverage */
            for (int64_t o = 0; o < k; o++) {
                int64_t at = (i * L + l) * k + o;
                double y = rows->y[i * k + o];
                fit[at] = rest != 0 && f.root[i] > 0 ? y - fit[at] / rest / f.root[i] : f.ymean[o];
            }
        }
    krein_tally tally = {0};
    krein__tally_add(&tally, rows, L, fit);
    krein__tally_end(&tally, rows->class != NULL, p);
done:
    krein__free(ctx, s);
    krein__free(ctx, beta);
    krein__free(ctx, c);
    krein__free(ctx, fit);
    krein__free(ctx, lever);
    frame_clear(ctx, &f);
    return st;
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

static double total_weight(const krein_targets *rows) {
    double sum = 0;
    for (int64_t i = 0; i < rows->n; i++) sum += rows->weight ? rows->weight[i] : 1;
    return sum;
}

/* a becomes alpha, with the intercepts b. */
static void leave(const krein_targets *rows, const frame *f, const double *mean_row, double *a,
                  double *b) {
    int64_t n = rows->n, k = rows->k;
    project(n, k, f->u, a); /* rounding */
    for (int64_t c = 0; c < k; c++) {
        b[c] = f->ymean[c];
        for (int64_t i = 0; i < n; i++) {
            a[i * k + c] *= f->root[i];
            b[c] -= mean_row[i] * a[i * k + c];
        }
    }
}

/* The upper triangle and the diagonal become those of PSKSP + lift uu' + shift I again, from the
 * lower one. In tiles: one side of the copy runs down columns. */
static void refill(krein_ctx *ctx, int64_t n, const frame *f, double lift, double shift,
                   double *K) {
    enum { SIDE = 64 };
    int64_t tiles = (n + SIDE - 1) / SIDE;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t c = t * SIDE; c < n; c += SIDE)
            for (int64_t i = t * SIDE; i < krein__min(n, (t + 1) * SIDE); i++)
                for (int64_t j = krein__max(c, i); j < krein__min(n, c + SIDE); j++)
                    K[i * n + j] =
                        (i == j ? f->diagonal[i] + shift : K[j * n + i]) + lift * f->u[i] * f->u[j];
}

/* The factor of PSKSP + lift uu' + W lambda I in the upper triangle, and a = its solution for the
 * right side PSy (n x k). KREIN_ENUMERIC where it is not positive definite. */
static krein_status solve(krein_ctx *ctx, double *K, const krein_targets *rows, const frame *f,
                          double lambda, double *a) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, pivot;
    refill(ctx, n, f, f->lift, f->weight * lambda, K);
    TRY(krein__cholesky(ctx, n, K, n, &pivot));
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < n; i++) {
        low = fmin(low, K[i * n + i]);
        high = fmax(high, K[i * n + i]);
    }
    if (lambda == 0 && low * low <= (double)n * 1e-15 * high * high) {
        st = KREIN_ENUMERIC;
        goto done;
    }
    memcpy(a, f->y, (size_t)(n * k) * sizeof *a);
    TRY(krein__cholesky_solve(ctx, n, K, n, k, a, k));
done:
    return st;
}

/* The same for an indefinite matrix, from its eigenvalues. */
static krein_status solve_indefinite(krein_ctx *ctx, double *K, const krein_targets *rows,
                                     const frame *f, double lambda, double *a) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    double *s = NULL, *q = NULL;
    NEW(s, n);
    NEW(q, n * k);
    refill(ctx, n, f, 0, 0, K);
    TRY(krein__eigen(ctx, n, K, n, s));
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f->y, k, 0, q, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) q[i * k + c] *= inverse(s[i], f->weight * lambda);
    krein__pgemm(ctx, true, false, n, k, n, 1, K, n, q, k, 0, a, k);
done:
    krein__free(ctx, s);
    krein__free(ctx, q);
    return st;
}

krein_status krein__dual_solve(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                               double *alpha, double *intercept) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n;
    frame f = {0};
    double *row = NULL;
    NEW(row, n);
    weighted_row(n, K, rows, total_weight(rows), row);
    TRY(enter(ctx, K, rows, &f));
    st = solve(ctx, K, rows, &f, lambda, alpha);
    if (st == KREIN_ENUMERIC && lambda == 0) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the kernel matrix is singular (equal rows, or a kernel of low rank), so "
                         "lambda = 0 has no unique solution; give a positive --lambda, or auto");
        goto done;
    }
    if (st == KREIN_ENUMERIC) st = solve_indefinite(ctx, K, rows, &f, lambda, alpha);
    TRY(st);
    leave(rows, &f, row, alpha, intercept);
done:
    krein__free(ctx, row);
    frame_clear(ctx, &f);
    return st;
}

krein_status krein__dual_held_out(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  const double *Kt, int64_t m, const krein_path *p, double *score) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, L = p->n;
    frame f = {0};
    double *row = NULL, *s = NULL, *beta = NULL, *c = NULL, *alpha = NULL, *b = NULL;
    NEW(row, n);
    weighted_row(n, K, rows, total_weight(rows), row);
    TRY(enter(ctx, K, rows, &f));
    NEW(s, n);
    TRY(spectrum(ctx, K, n, f.u, s));
    NEW(beta, n * k);
    NEW(c, n * L * k);
    NEW(alpha, n * L * k);
    NEW(b, L * k);
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f.y, k, 0, beta, k);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < L; l++)
            for (int64_t o = 0; o < k; o++)
                c[(j * L + l) * k + o] = beta[j * k + o] * inverse(s[j], f.weight * p->lambda[l]);
    krein__pgemm(ctx, true, false, n, L * k, n, 1, K, n, c, L * k, 0, alpha, L * k);
    project(n, L * k, f.u, alpha);
    for (int64_t o = 0; o < L * k; o++) b[o] = f.ymean[o % k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < L * k; o++) {
            alpha[i * L * k + o] *= f.root[i];
            b[o] -= row[i] * alpha[i * L * k + o];
        }
    krein__pgemm(ctx, false, false, m, L * k, n, 1, Kt, n, alpha, L * k, 0, score, L * k);
    for (int64_t i = 0; i < m; i++)
        for (int64_t o = 0; o < L * k; o++) score[i * L * k + o] += b[o];
done:
    krein__free(ctx, row);
    krein__free(ctx, s);
    krein__free(ctx, beta);
    krein__free(ctx, c);
    krein__free(ctx, alpha);
    krein__free(ctx, b);
    frame_clear(ctx, &f);
    return st;
}

/* ---- some of the rows --------------------------------------------------- */

/* K[rows][columns] copied out. */
static void part(const double *K, int64_t n, const int64_t *rows, int64_t m, const int64_t *columns,
                 int64_t c, double *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < c; j++) out[i * c + j] = K[rows[i] * n + columns[j]];
}

typedef struct subset {
    double *y, *weight;
    int32_t *class;
} subset;

static krein_status subset_begin(krein_ctx *ctx, const krein_targets *of, subset *s) {
    krein_status st = KREIN_OK;
    NEW(s->y, of->n * of->k);
    NEW(s->weight, of->n);
    NEW(s->class, of->n);
done:
    return st;
}

static void subset_end(krein_ctx *ctx, subset *s) {
    krein__free(ctx, s->y);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->class);
}

static krein_targets pick(const krein_targets *of, const int64_t *rows, int64_t m, subset *to) {
    for (int64_t i = 0; i < m; i++) {
        memcpy(to->y + i * of->k, of->y + rows[i] * of->k, (size_t)of->k * sizeof *to->y);
        to->weight[i] = of->weight ? of->weight[rows[i]] : 1;
        to->class[i] = of->class ? of->class[rows[i]] : 0;
    }
    return (krein_targets){m, of->k, to->y, of->weight ? to->weight : NULL,
                           of->class ? to->class : NULL};
}

/* ---- the walk ----------------------------------------------------------- */

typedef struct walk {
    krein_ctx *ctx;
    double *K;
    const krein_targets *rows;
    frame f;
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
    const frame *f = &w->f;
    int64_t n = rows->n, k = rows->k;
    keep_best(w);
    krein_status st = solve(w->ctx, w->K, rows, f, lambda, w->a);
    if (st == KREIN_ENUMERIC) { /* rounding left no factor: lambda is too small */
        for (int64_t e = 0; e < n * k; e++) out[e] = NAN;
        return KREIN_OK;
    }
    if (st == KREIN_OK) st = krein__cholesky_inverse_diagonal(w->ctx, n, w->K, n, w->diagonal);
    if (st != KREIN_OK) return st;
    for (int64_t i = 0; i < n; i++) {
        double rest = w->diagonal[i] - f->u[i] * f->u[i] / (f->lift + f->weight * lambda);
        for (int64_t c = 0; c < k; c++)
            out[i * k + c] = rest > 0 && f->root[i] > 0
                                 ? rows->y[i * k + c] - w->a[i * k + c] / rest / f->root[i]
                                 : f->ymean[c];
    }
    return KREIN_OK;
}

/* A sample of the rows that have a weight, or of all where no two have; its size. `index` has room
 * for all rows. */
static int64_t draw(const krein_targets *rows, int64_t sample, uint64_t seed, int64_t *index) {
    krein_rng g = {seed, KREIN_STREAM_SAMPLE | (uint64_t)1 << 32};
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
static krein_status start(krein_ctx *ctx, const double *K, const krein_targets *rows,
                          int64_t sample, uint64_t seed, double *lambda) {
    krein_status st = KREIN_OK;
    int64_t m, *index = NULL;
    krein_path path = {0};
    subset some = {0};
    double *A = NULL;
    NEW(index, rows->n);
    m = draw(rows, sample, seed, index);
    NEW(A, m * m);
    TRY(subset_begin(ctx, rows, &some));
    part(K, rows->n, index, m, index, m, A);
    krein_targets few = pick(rows, index, m, &some);
    TRY(krein__dual_path(ctx, A, &few, &path));
    *lambda = path.lambda[krein__path_least(&path)] * total_weight(&few) / total_weight(rows);
done:
    krein__free(ctx, index);
    krein__free(ctx, A);
    subset_end(ctx, &some);
    return st;
}

krein_status krein__dual_walk(krein_ctx *ctx, double *K, const krein_targets *rows, int64_t sample,
                              uint64_t seed, krein_path *p, double *alpha, double *intercept) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    walk w = {.ctx = ctx, .K = K, .rows = rows, .best = alpha, .p = p};
    double lambda, *row = NULL;
    TRY(start(ctx, K, rows, sample, seed, &lambda));
    NEW(row, n);
    NEW(w.a, n * k);
    NEW(w.diagonal, n);
    weighted_row(n, K, rows, total_weight(rows), row);
    TRY(enter(ctx, K, rows, &w.f));
    TRY(krein__path_walk(ctx, rows, lambda, 0, score, &w, p));
    if (isinf(p->loss[p->best])) {
        st =
            krein__fail(ctx, KREIN_ENUMERIC,
                        "the kernel matrix is not positive definite with any lambda up to %g; give "
                        "a larger --lambda",
                        p->lambda[p->n - 1]);
        goto done;
    }
    keep_best(&w);
    leave(rows, &w.f, row, alpha, intercept);
done:
    krein__free(ctx, row);
    krein__free(ctx, w.a);
    krein__free(ctx, w.diagonal);
    frame_clear(ctx, &w.f);
    return st;
}

/* ---- cross-validation --------------------------------------------------- */

krein_status krein__dual_cv(krein_ctx *ctx, const double *K, const krein_targets *rows,
                            const int32_t *fold, int64_t folds, krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, *in = NULL, *out = NULL;
    double *A = NULL, *B = NULL, *held = NULL, diagonal = 0;
    subset train = {0}, test = {0};
    krein_tally tally = {0};
    for (int64_t i = 0; i < n; i++) diagonal += fabs(K[i * n + i]) / (double)n;
    if (p->n == 0) krein__path_grid(p, diagonal * 1e-11, diagonal * 10, 4);
    NEW(in, n);
    NEW(out, n);
    NEW(A, n * n);
    NEW(B, n * n);
    NEW(held, n * p->n * rows->k);
    TRY(subset_begin(ctx, rows, &train));
    TRY(subset_begin(ctx, rows, &test));
    for (int64_t f = 0; f < folds; f++) {
        int64_t m = 0, t = 0;
        for (int64_t i = 0; i < n; i++) {
            if (fold[i] == f)
                out[t++] = i;
            else
                in[m++] = i;
        }
        if (t == 0 || m < 2) continue;
        part(K, n, in, m, in, m, A);
        part(K, n, out, t, in, m, B);
        krein_targets others = pick(rows, in, m, &train), left = pick(rows, out, t, &test);
        TRY(krein__dual_held_out(ctx, A, &others, B, t, p, held));
        krein__tally_add(&tally, &left, p->n, held);
        TRY(krein__poll(ctx));
    }
    if (!(tally.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "cross-validation: every fold is empty; use fewer folds, or more groups");
        goto done;
    }
    krein__tally_end(&tally, rows->class != NULL, p);
done:
    krein__free(ctx, in);
    krein__free(ctx, out);
    krein__free(ctx, A);
    krein__free(ctx, B);
    krein__free(ctx, held);
    subset_end(ctx, &train);
    subset_end(ctx, &test);
    return st;
}

const krein_class krein__solver_dual = {
    .name = "dual",
    .summary = "ridge regression on the kernel matrix: Cholesky",
    .cite = "saunders1998",
    .details =
        "In float64; leave-one-out from one eigendecomposition, or above 2,048 rows from a few "
        "Cholesky factorisations. Used by krr with map=exact."};
