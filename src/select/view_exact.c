/* view_exact.c -- the view of a kernel from its matrix on the rows
 *
 * Powers are chains of products with the columns of V: U_0 = V, U_j = K U_(j-1), and
 * P_r = U_a'U_b with a + b = r, so that P_0 .. P_r take ceil(r/2) products of 2 n^2 m flops. Norms
 * are sums over the entries; |HKH|_F is summed over the centred entries themselves, since as a
 * difference of norms it loses all digits for wide kernels. Eigenvalues: the largest by iteration,
 * all of them by a decomposition (9 n^3 flops).
 */
#include "num/blas.h"
#include "num/eigen_top.h"
#include "num/spectrum.h"
#include "select/view.h"

#include <math.h>
#include <string.h>

typedef struct work {
    krein_ctx *ctx;
    const krein_probe *s;
    const krein_labels *labels;
    const krein_needs *needs;
    int64_t n, m;
    double *K;
    double *V;               /* n x m */
    double *u, *mean, total; /* S1/|S1|, K u, u'Ku */
} work;

static krein_targets targets_of(const krein_probe *s) {
    return (krein_targets){s->n, s->k, s->y, s->weight, s->class};
}

static krein_status copy_of(const work *w, double **out) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    NEW(*out, w->n * w->n);
    memcpy(*out, w->K, (size_t)(w->n * w->n) * sizeof **out);
done:
    return st;
}

/* ---- ridge regression --------------------------------------------------- */

/* At one lambda by a factorisation; over a path by one eigendecomposition, and for many rows by a
 * walk of factorisations. */
static krein_status leave_one_out(const work *w, const krein_kernel *kernel, krein_trial *t) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    krein_targets rows = targets_of(w->s);
    krein_path *p = &t->path;
    double *K = NULL, *alpha = NULL, *b = NULL;
    bool many = w->n > KREIN_EIGEN_MAX && t->intercept && krein__kernel_positive(kernel);
    TRY(copy_of(w, &K));
    if (!isnan(t->lambda)) {
        TRY(krein__dual_loo_at(ctx, K, &rows, t->lambda, t->intercept, p, NULL));
    } else if (many) {
        NEW(alpha, w->n * w->s->k);
        NEW(b, w->s->k);
        TRY(krein__dual_walk(ctx, K, &rows, KREIN_EIGEN_MAX / 2, w->s->seed, p, alpha, b));
    } else {
        TRY(krein__dual_loo_path(ctx, K, &rows, t->intercept, p));
    }
done:
    krein__free(ctx, K);
    krein__free(ctx, alpha);
    krein__free(ctx, b);
    return st;
}

static krein_status cross_validate(const work *w, krein_trial *t) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    const krein_probe *s = w->s;
    krein_targets rows = targets_of(s);
    int64_t folds = krein__min(t->folds, w->n);
    int32_t *fold = NULL;
    NEW(fold, s->n);
    TRY(krein__folds(ctx, s->seed, s->n, folds, s->group, s->class, fold));
    TRY(krein__dual_folds(ctx, w->K, &rows, t->intercept, fold, folds, &t->path));
done:
    krein__free(ctx, fold);
    return st;
}

static krein_status try_ridge(const work *w, const krein_kernel *kernel, krein_trial *t) {
    t->path.n = 0;
    if (!isnan(t->lambda)) t->path.lambda[t->path.n++] = t->lambda;
    krein_status st = t->folds == 0 ? leave_one_out(w, kernel, t) : cross_validate(w, t);
    return krein__trial_refused(w->ctx, st, t);
}

/* ---- moments ------------------------------------------------------------ */

static double pow2(double x) { return x * x; }

/* HKH = K - u (Ku)' - (Ku) u' + u u' (u'Ku), u = S1/|S1|: what is taken off an entry. */
static double shift(const work *w, int64_t i, int64_t j) {
    return w->u[i] * w->mean[j] + w->mean[i] * w->u[j] - w->total * w->u[i] * w->u[j];
}

static void apply_weights(work *w) {
    const double *weight = w->s->weight;
    for (int64_t i = 0; weight && i < w->n; i++)
        for (int64_t j = 0; j < w->n; j++) w->K[i * w->n + j] *= sqrt(weight[i] * weight[j]);
}

/* One sum a row, added up in order: they do not depend on threads. */
static krein_status norms(work *w, krein_view *v) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n;
    double *row = NULL;
    NEW(row, n);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        row[i] = krein__ddot(n, w->K + i * n, w->K + i * n);
        w->mean[i] = krein__ddot(n, w->K + i * n, w->u);
    }
    for (int64_t i = 0; i < n; i++) v->square += row[i];
    w->total = krein__ddot(n, w->mean, w->u);
    if (!w->needs->centred_square) goto done;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t j = 0; j < n; j++) square += pow2(w->K[i * n + j] - shift(w, i, j));
        row[i] = square;
    }
    for (int64_t i = 0; i < n; i++) v->centred_square += row[i];
done:
    krein__free(ctx, row);
    return st;
}

/* Sums of squares of the c-th column of U = KV over the rows of class c. */
static void sum_inside(const work *w, const double *U, krein_view *v) {
    for (int64_t i = 0; i < w->n; i++) {
        int64_t c = w->s->class[i];
        v->inside[c] += U[i * w->m + c] * U[i * w->m + c];
    }
}

/* out = K in (n x m). Few columns: row by row, so that K is read once, at the speed of memory. */
static krein_status times(const work *w, const double *in, double *out) {
    enum { FEW = 12 };
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n, m = w->m;
    double *column = NULL;
    if (m > FEW) {
        krein__pgemm(ctx, false, false, n, m, n, 1, w->K, n, in, m, 0, out, m);
        return KREIN_OK;
    }
    NEW(column, n * m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) column[c * n + i] = in[i * m + c];
    /* the centred indicators of two classes are the negative of each other */
    bool two = w->labels->classes == 2;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = two; c < m; c++)
            out[i * m + c] = krein__ddot(n, w->K + i * n, column + c * n);
        if (two) out[i * m] = -out[i * m + 1];
    }
done:
    krein__free(ctx, column);
    return st;
}

static krein_status powers(work *w, krein_view *v) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n, m = w->m;
    double *even = NULL, *odd = NULL;
    ZNEW(v->power, (v->order + 1) * m * m);
    if (w->needs->inside) ZNEW(v->inside, m);
    NEW(even, n * m);
    NEW(odd, n * m);
    memcpy(even, w->V, (size_t)(n * m) * sizeof *even);
    krein__pgemm(ctx, true, false, m, m, n, 1, even, m, even, m, 0, v->power, m);
    for (int64_t r = 1; r <= v->order; r += 2) {
        double *P = v->power + r * m * m;
        TRY(times(w, even, odd));
        krein__pgemm(ctx, true, false, m, m, n, 1, even, m, odd, m, 0, P, m);
        if (r < v->order)
            krein__pgemm(ctx, true, false, m, m, n, 1, odd, m, odd, m, 0, P + m * m, m);
        if (r == 1 && v->inside) sum_inside(w, odd, v);
        double *swap = even;
        even = odd;
        odd = swap;
    }
done:
    krein__free(ctx, even);
    krein__free(ctx, odd);
    return st;
}

/* ---- eigenvalues -------------------------------------------------------- */

static void centre(const work *w, double *A) {
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < w->n; j++) A[i * w->n + j] -= shift(w, i, j);
}

/* The largest eigenvalues by iteration; where that does not end, or the kernel may have negative
 * ones, which are then the last, all of them. */
static krein_status largest(const work *w, const krein_kernel *kernel, double *A, krein_view *v) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n, m = krein__min(w->needs->top, n);
    double *vector = NULL, *value = NULL;
    bool found = false;
    NEW(v->top, n);
    if (krein__kernel_positive(kernel) && krein__eigen_top_pays(n, m)) {
        NEW(vector, m * n);
        TRY(krein__eigen_top_iterate(ctx, n, A, m, v->top, vector, &found));
    }
    v->ntop = found ? m : n;
    if (found) goto done;
    NEW(value, n);
    TRY(krein__eigenvalues(ctx, n, A, n, value));
    for (int64_t j = 0; j < n; j++) v->top[j] = value[n - 1 - j];
done:
    krein__free(ctx, vector);
    krein__free(ctx, value);
    return st;
}

static krein_status spectra(work *w, const krein_kernel *kernel, krein_view *v) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    const krein_needs *needs = w->needs;
    double *A = NULL;
    if (!needs->top && !needs->spectrum && !needs->centred) return KREIN_OK;
    TRY(copy_of(w, &A));
    if (needs->centred) {
        centre(w, A);
        TRY(krein__view_decompose(ctx, w->n, w->m, A, w->V, &v->centred));
        memcpy(A, w->K, (size_t)(w->n * w->n) * sizeof *A);
    }
    if (needs->spectrum) {
        TRY(krein__view_decompose(ctx, w->n, w->m, A, w->V, &v->spectrum));
        v->ntop = w->n;
        NEW(v->top, w->n);
        memcpy(v->top, v->spectrum.value, (size_t)w->n * sizeof *v->top);
    } else if (needs->top) {
        TRY(largest(w, kernel, A, v));
    }
done:
    krein__free(ctx, A);
    return st;
}

krein_status krein__view_exact(krein_ctx *ctx, const krein_kernel *kernel, const krein_probe *s,
                               const krein_labels *labels, const krein_needs *needs,
                               krein_trial *trial, int64_t trials, double *K, krein_view *v) {
    krein_status st = KREIN_OK;
    int64_t n = s->n, m = labels->m;
    work w = {.ctx = ctx, .s = s, .labels = labels, .needs = needs, .n = n, .m = m, .K = K};
    krein_targets rows = targets_of(s);
    memset(v, 0, sizeof *v);
    v->ctx = ctx;
    v->kernel = kernel;
    v->labels = labels;
    v->order = needs->order;
    for (int64_t t = 0; t < trials; t++) TRY(try_ridge(&w, kernel, &trial[t]));
    NEW(w.V, n * m);
    NEW(w.u, n);
    NEW(w.mean, n);
    krein__labels_rows(labels, &rows, w.V);
    for (int64_t i = 0; i < n; i++) w.u[i] = w.V[i * m + m - 1] / sqrt(labels->weight);
    apply_weights(&w);
    for (int64_t i = 0; i < n; i++) {
        v->trace += K[i * n + i];
        v->floor = fmax(v->floor, 1e-15 * fabs(K[i * n + i]) * (double)n / labels->weight);
    }
    if (needs->square || needs->centred_square || needs->centred) TRY(norms(&w, v));
    TRY(powers(&w, v));
    TRY(spectra(&w, kernel, v));
done:
    krein__free(ctx, w.V);
    krein__free(ctx, w.u);
    krein__free(ctx, w.mean);
    if (st != KREIN_OK) krein__view_clear(v);
    return st;
}

double krein__view_exact_bytes(int64_t n, int64_t k, int64_t m, const krein_needs *needs,
                               const krein_trial *trial, int64_t trials) {
    double N = (double)n, matrix = 8 * N * N, eigen = 0, path = 0;
    for (int64_t t = 0; t < trials; t++)
        path = fmax(path, matrix * (trial[t].folds ? 3 : 4) + 8 * N * 100 * ((double)k + 1));
    if (needs->top) /* every way to them may end in a full decomposition */
        eigen = matrix + fmax(krein__eigen_top_bytes(n, krein__min(n, needs->top), 1, false),
                              krein__eigen_top_bytes(n, krein__min(n, needs->top), 1, true));
    if (needs->spectrum || needs->centred) eigen = fmax(eigen, 4 * matrix);
    double small = 8 * N * (8 * (double)m + 8) + 8 * (double)((needs->order + 2) * m * m);
    return small + fmax(path, eigen) + (1 << 20);
}
