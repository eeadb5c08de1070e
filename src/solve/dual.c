/* dual -- kernel ridge regression on the kernel matrix, with an intercept that is not penalised
 *
 *     f(x) = sum_i alpha_i k(x, x_i) + b.   With S = diag(sqrt w), u = S1/|S1|, P = I - uu',
 *     (P S K S P + W lambda I) a = P S y,   alpha = S a  (then sum alpha = 0),
 *     b = weighted mean of (y - K alpha).
 * Leave-one-out with the eigenpairs (s, v) of PSKSP other than (0, u), and t_j = W lambda/(s_j + W
 * lambda): e_i = sum_j v_ij (v_j'PSy) t_j / sum_j v_ij^2 t_j / sqrt(w_i) (residual over one minus
 * leverage, each as a sum of small terms: no cancellation at small lambda).
 */
#include "num/blas.h"
#include "solve/ridge.h"

#include <math.h>
#include <string.h>

typedef struct frame {
    double weight;        /* W */
    double *root, *u, *y; /* sqrt(w); u; P S y (n x k) */
    double *ymean;
} frame;

static void frame_clear(krein_ctx *ctx, frame *f) {
    krein__free(ctx, f->root);
    krein__free(ctx, f->u);
    krein__free(ctx, f->y);
    krein__free(ctx, f->ymean);
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

static void intercepts(const krein_targets *rows, const frame *f, const double *mean_row,
                       const double *alpha, double *b) {
    for (int64_t c = 0; c < rows->k; c++) {
        b[c] = f->ymean[c];
        for (int64_t i = 0; i < rows->n; i++) b[c] -= mean_row[i] * alpha[i * rows->k + c];
    }
}

krein_status krein__dual_solve(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                               double *alpha, double *intercept) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, pivot;
    frame f = {0};
    double *row = NULL, *keep = NULL;
    NEW(row, n);
    weighted_row(n, K, rows, total_weight(rows), row);
    TRY(enter(ctx, K, rows, &f));
    double shift = f.weight * lambda;
    /* PSKSP has u as an eigenvector of value 0 and the right side is orthogonal to it: with
     * lambda = 0 the matrix must be lifted there, which changes nothing else. */
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; lambda == 0 && j < n; j++) K[i * n + j] += f.u[i] * f.u[j];
    for (int64_t i = 0; i < n; i++) K[i * n + i] += shift;
    memcpy(alpha, f.y, (size_t)(n * k) * sizeof *alpha);
    /* The diagonal and the upper triangle are overwritten; the lower one and `keep` remain for
     * the case that the matrix is indefinite. */
    NEW(keep, n);
    for (int64_t i = 0; i < n; i++) keep[i] = K[i * n + i];
    st = krein__cholesky(ctx, n, K, n, &pivot);
    double low = INFINITY, high = 0;
    for (int64_t i = 0; st == KREIN_OK && i < n; i++) {
        low = fmin(low, K[i * n + i]);
        high = fmax(high, K[i * n + i]);
    }
    if (lambda == 0 && (st == KREIN_ENUMERIC || low * low <= (double)n * 1e-15 * high * high)) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the kernel matrix is singular (equal rows, or a kernel of low rank), so "
                         "lambda = 0 has no unique solution; give a positive --lambda, or auto");
        goto done;
    }
    if (st == KREIN_ENUMERIC) {
        for (int64_t i = 0; i < n; i++) {
            K[i * n + i] = keep[i] - shift;
            for (int64_t j = 0; j < i; j++) K[j * n + i] = K[i * n + j];
        }
        double *s = krein__alloc(ctx, n, sizeof *s);
        double *q = krein__alloc(ctx, n * k, sizeof *q);
        st = s && q ? krein__eigen(ctx, n, K, n, s) : ctx->status;
        if (st == KREIN_OK) {
            krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f.y, k, 0, q, k);
            for (int64_t i = 0; i < n; i++)
                for (int64_t c = 0; c < k; c++) q[i * k + c] *= inverse(s[i], shift);
            krein__pgemm(ctx, true, false, n, k, n, 1, K, n, q, k, 0, alpha, k);
        }
        krein__free(ctx, s);
        krein__free(ctx, q);
        TRY(st);
    } else {
        TRY(st);
        TRY(krein__cholesky_solve(ctx, n, K, n, k, alpha, k));
    }
    project(n, k, f.u, alpha); /* rounding */
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) alpha[i * k + c] *= f.root[i];
    intercepts(rows, &f, row, alpha, intercept);
done:
    krein__free(ctx, row);
    krein__free(ctx, keep);
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

/* ---- cross-validation --------------------------------------------------- */

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
        "In float64; leave-one-out from one eigendecomposition. Used by krr with map=exact."};
