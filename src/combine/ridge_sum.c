/* ridge_sum.c -- ridge regression with a weighted sum of kernels: value, slope and curvature
 *
 * By matrices: the sum is made and factored (n^3 / 3 flops), then K_m alpha for every kernel (one
 * reading of the matrices) and solutions with all of these (2 n^2 M k flops).
 *
 * By features K_m = Z_m Z_m', with G = Z'Z and B = Z'y of centred features and targets and T =
 * diag(beta): A = T^1/2 G T^1/2 + W lambda I, w = A^-1 T^1/2 B, and since Z'C^-1 = T^-1/2 A^-1
 * T^1/2 Z',
 *     q = Z'alpha = T^-1/2 w,   F = (|y|^2 - w'T^1/2 B) / (W lambda),   g_m = |q_m|^2,
 *     H_mr = 2 q_m' [T^-1/2 A^-1 T^1/2 G_.r q_r]_m
 * of D^3 / 3 + 2 D^2 (M + 1) k flops, none of them a small difference of large numbers but F.
 */
#include "combine/ridge_sum.h"

#include "num/blas.h"
#include "solve/dual.h"

#include <math.h>
#include <string.h>

struct krein_ridge_sum {
    krein_bank *bank;
    krein_ctx *ctx;
    double lambda, zero;
    int64_t M, k, n; /* n: rows, or features */
    krein_moments g; /* of features, centred */
    double *A;       /* n x n */
    double *a;       /* n x k: solution */
    double *column;  /* k x n: alpha, transposed */
    double *root;    /* n: T^1/2 */
    double *right;   /* n x M k: PSK_m alpha, or T^1/2 G_.m q_m */
    double *solved;  /* n x M k */
};

void krein__ridge_sum_end(krein_ridge_sum *s) {
    if (!s) return;
    krein_ctx *ctx = s->ctx;
    krein__moments_clear(ctx, &s->g);
    void *all[] = {s->A, s->a, s->column, s->root, s->right, s->solved};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__free(ctx, s);
}

static krein_targets targets_of(const krein_ridge_sum *s) {
    const krein_probe *r = &s->bank->rows;
    return (krein_targets){r->n, r->k, r->y, r->weight, r->class};
}

static krein_status not_positive(krein_ctx *ctx) {
    return krein__fail(
        ctx, KREIN_ENUMERIC,
        "the sum of the kernels is not positive definite at this lambda; give a larger `lambda`");
}

/* As much as the rounding of features leaves a meaning. krein__system_floor is for errors of the
 * entries of G that are independent; those of features that depend on each other (wide kernels, D
 * beyond the rows) are not, and add up to some 1e-8 of the trace as a matrix: a lambda near that
 * leaves no factor of A, or weights that are noise. */
static void raise_lambda(krein_ridge_sum *s) {
    const double NOISE = 1e-7;
    double trace = 0;
    for (int64_t i = 0; i < s->n; i++) trace += s->g.G[i * s->n + i];
    s->lambda = fmax(s->lambda, NOISE * trace / s->g.weight);
}

krein_status krein__ridge_sum_begin(krein_bank *bank, double lambda, krein_ridge_sum **out) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    krein_ridge_sum *s = NULL;
    ZNEW(s, 1);
    s->bank = bank;
    s->ctx = ctx;
    s->lambda = lambda;
    s->M = bank->M;
    s->n = bank->rows.n;
    s->k = bank->rows.k;
    if (!bank->K) {
        TRY(krein__moments_of(bank, true, &s->g));
        krein__moments_centre(&s->g);
        s->n = s->g.D;
        s->k = s->g.k;
        raise_lambda(s);
        for (int64_t q = 0; q < s->k; q++) s->zero += s->g.ysquare[q];
        s->zero /= s->g.weight * s->lambda;
    }
    NEW(s->A, s->n * s->n);
    NEW(s->a, s->n * s->k);
    NEW(s->column, s->n * s->k);
    NEW(s->root, s->n);
    NEW(s->right, s->n * s->M * s->k);
    NEW(s->solved, s->n * s->M * s->k);
    *out = s;
    s = NULL;
done:
    krein__ridge_sum_end(s);
    return st;
}

double krein__ridge_sum_zero(const krein_ridge_sum *s) { return s->zero; }

/* ---- matrices ----------------------------------------------------------- */

/* A = sum_m beta_m K_m, a strip that stays in the cache at a time. */
static void add_up(krein_ridge_sum *s, const double *beta) {
    enum { STRIP = 4096 };
    int64_t size = s->n * s->n, strips = (size + STRIP - 1) / STRIP;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t t = 0; t < strips; t++) {
        int64_t from = t * STRIP, count = krein__min(STRIP, size - from);
        double *A = s->A + from;
        memset(A, 0, (size_t)count * sizeof *A);
        for (int64_t m = 0; m < s->M; m++) {
            const double *K = s->bank->K[m] + from;
            for (int64_t e = 0; e < count; e++) A[e] += beta[m] * K[e];
        }
    }
}

/* Column m k + q of `right`: root_i (K_m alpha_q)_i. Few outputs: row by row, at the speed of
 * memory. */
static void times_kernel(krein_ridge_sum *s, int64_t m, const double *root) {
    enum { FEW = 12 };
    int64_t n = s->n, k = s->k, all = s->M * k;
    const double *K = s->bank->K[m];
    double *out = s->right + m * k;
    if (k > FEW) krein__pgemm(s->ctx, false, true, n, k, n, 1, K, n, s->column, n, 0, out, all);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(s->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t q = 0; q < k; q++) {
                if (k <= FEW) out[i * all + q] = krein__ddot(n, K + i * n, s->column + q * n);
                out[i * all + q] *= root[i];
            }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* a becomes P a; alpha = S a goes to `column`. */
static void take_alpha(krein_ridge_sum *s, const krein_frame *f) {
    krein__frame_project(s->n, s->k, f->u, s->a); /* rounding */
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t q = 0; q < s->k; q++)
            s->column[q * s->n + i] = f->root[i] * s->a[i * s->k + q];
}

/* out[i] = sum over outputs q and rows of left[., i k + q] right[., j k + q]. */
static double paired(const krein_ridge_sum *s, int64_t i, int64_t j) {
    double sum = 0;
    int64_t all = s->M * s->k;
    for (int64_t r = 0; r < s->n; r++)
        for (int64_t q = 0; q < s->k; q++)
            sum += s->right[r * all + i * s->k + q] * s->solved[r * all + j * s->k + q];
    return sum;
}

static void matrix_curvature(krein_ridge_sum *s, double *H) {
    int64_t M = s->M;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
    for (int64_t e = 0; e < M * M; e++)
        if (e / M <= e % M) H[e] = 2 * paired(s, e / M, e % M);
    for (int64_t e = 0; e < M * M; e++)
        if (e / M > e % M) H[e] = H[e % M * M + e / M];
}

static krein_status by_matrices(krein_ridge_sum *s, const double *beta, double *value,
                                double *slope, double *H) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_targets rows = targets_of(s);
    krein_frame f = {0};
    int64_t n = s->n, k = s->k, all = s->M * k;
    add_up(s, beta);
    TRY(krein__frame_begin(ctx, s->A, &rows, true, &f));
    double shift = f.weight * fmax(s->lambda, f.floor);
    st = krein__frame_solve(ctx, s->A, &rows, &f, shift, s->a);
    if (st == KREIN_ENUMERIC) st = not_positive(ctx);
    TRY(st);
    take_alpha(s, &f);
    *value = s->zero = 0;
    for (int64_t e = 0; e < n * k; e++) {
        *value += f.y[e] * s->a[e];
        s->zero += f.y[e] * f.y[e] / shift;
    }
    for (int64_t m = 0; m < s->M; m++) times_kernel(s, m, f.root);
    krein__frame_project(n, all, f.u, s->right);
    for (int64_t m = 0; m < s->M; m++) {
        slope[m] = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t q = 0; q < k; q++)
                slope[m] += s->a[i * k + q] * s->right[i * all + m * k + q];
    }
    memcpy(s->solved, s->right, (size_t)(n * all) * sizeof *s->solved);
    TRY(krein__cholesky_solve(ctx, n, s->A, n, all, s->solved, all));
    matrix_curvature(s, H);
done:
    krein__frame_clear(ctx, &f);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* The factor of A, and w. */
static krein_status solve_features(krein_ridge_sum *s) {
    krein_status st = KREIN_OK;
    int64_t D = s->n, k = s->k, pivot;
    double shift = s->g.weight * s->lambda;
    const double *root = s->root;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < D; i++) {
        for (int64_t j = i; j < D; j++) s->A[i * D + j] = root[i] * root[j] * s->g.G[i * D + j];
        s->A[i * D + i] += shift;
        for (int64_t q = 0; q < k; q++) s->a[i * k + q] = root[i] * s->g.B[i * k + q];
    }
    st = krein__cholesky(s->ctx, D, s->A, D, &pivot);
    if (st == KREIN_ENUMERIC) st = not_positive(s->ctx);
    TRY(st);
    TRY(krein__cholesky_solve(s->ctx, D, s->A, D, k, s->a, k));
done:
    return st;
}

/* w'T^1/2 B; then a becomes q = T^-1/2 w. */
static double explained(krein_ridge_sum *s) {
    double sum = 0;
    int64_t k = s->k;
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t q = 0; q < k; q++) {
            sum += s->a[j * k + q] * s->root[j] * s->g.B[j * k + q];
            s->a[j * k + q] /= s->root[j];
        }
    return sum;
}

/* H_mr from column block r of the solutions, rows of block m. */
static double feature_curvature(const krein_ridge_sum *s, int64_t m, int64_t r) {
    double sum = 0;
    int64_t k = s->k, all = s->M * k;
    for (int64_t j = s->bank->first[m]; j < s->bank->first[m + 1]; j++)
        for (int64_t q = 0; q < k; q++)
            sum += s->a[j * k + q] * s->solved[j * all + r * k + q] / s->root[j];
    return 2 * sum;
}

static krein_status by_features(krein_ridge_sum *s, const double *beta, double *value,
                                double *slope, double *H) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const int64_t *first = s->bank->first;
    int64_t D = s->n, k = s->k, M = s->M, all = M * k;
    for (int64_t m = 0; m < M; m++)
        for (int64_t j = first[m]; j < first[m + 1]; j++) s->root[j] = sqrt(beta[m]);
    TRY(solve_features(s));
    *value = s->zero - explained(s) / (s->g.weight * s->lambda);
    for (int64_t m = 0; m < M; m++) {
        int64_t from = first[m], width = first[m + 1] - from;
        slope[m] = krein__ddot(width * k, s->a + from * k, s->a + from * k);
        krein__pgemm(ctx, false, false, D, k, width, 1, s->g.G + from, D, s->a + from * k, k, 0,
                     s->solved + m * k, all);
    }
    for (int64_t j = 0; j < D; j++)
        for (int64_t e = 0; e < all; e++) s->solved[j * all + e] *= s->root[j];
    TRY(krein__cholesky_solve(ctx, D, s->A, D, all, s->solved, all));
    for (int64_t m = 0; m < M; m++)
        for (int64_t r = m; r < M; r++)
            H[m * M + r] = H[r * M + m] =
                (feature_curvature(s, m, r) + feature_curvature(s, r, m)) / 2;
done:
    return st;
}

krein_status krein__ridge_sum_at(krein_ridge_sum *s, const double *beta, double *value,
                                 double *slope, double *curvature) {
    return s->bank->K ? by_matrices(s, beta, value, slope, curvature)
                      : by_features(s, beta, value, slope, curvature);
}
