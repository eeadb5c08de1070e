/* dual_at.c -- what a kernel matrix says at one lambda: leave-one-out, GCV, evidence
 *
 * In the frame of dual.c, with A = PSKSP + c uu' + shift I, shift = W lambda, R = A^-1 - uu' / (c +
 * shift) and a = A^-1 PSy = R S y (without an intercept u = 0):
 *     leave-one-out   y_i - f_{-i}(x_i) = a_i / R_ii / sqrt(w_i)                     (cawley2006)
 *     GCV             sum w (y - f)^2 = shift^2 |a|^2,   n - tr H = shift tr R
 *     evidence        y'C^-1 y = (PSy)'a,   log det C = 2 sum log U_ii - log(c + shift)
 * where A = U'U. R is the upper left block of the inverse of the bordered matrix [[SKS + shift I,
 * S1], [(S1)', 0]]. Leave-one-out keeps W lambda, as it is over a path.
 *
 * Cost: n^3 / 3 flops for the factor, as many for the diagonal of A^-1, on all threads, in the
 * memory of K. Where A is not positive definite, from eigenvalues: 9 n^3.
 */
#include "solve/dual.h"

#include "num/blas.h"

#include <math.h>

/* ---- leave-one-out ------------------------------------------------------ */

static krein_status loo_by_factor(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  const krein_frame *f, double shift, double *score) {
    krein_status st = KREIN_OK;
    double *a = NULL, *diagonal = NULL;
    NEW(a, rows->n * rows->k);
    NEW(diagonal, rows->n);
    TRY(krein__frame_solve(ctx, K, rows, f, shift, a));
    TRY(krein__cholesky_inverse_diagonal(ctx, rows->n, K, rows->n, diagonal));
    krein__frame_loo(rows, f, shift, a, diagonal, score);
done:
    krein__free(ctx, a);
    krein__free(ctx, diagonal);
    return st;
}

krein_status krein__dual_loo_at(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                                bool intercept, krein_path *p, double *score) {
    krein_status st = KREIN_OK;
    krein_frame f = {0};
    krein_tally tally = {0};
    double *own = NULL, *out = score;
    *p = (krein_path){.n = 1, .lambda = {lambda}};
    if (!score) {
        NEW(own, rows->n * rows->k);
        out = own;
    }
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    st = loo_by_factor(ctx, K, rows, &f, f.weight * lambda, out);
    if (st == KREIN_ENUMERIC && lambda > 0) {
        krein__frame_refill(ctx, rows->n, &f, 0, 0, K);
        st = krein__frame_loo_path(ctx, K, rows, &f, p, out);
        goto done;
    }
    if (st == KREIN_ENUMERIC) st = krein__dual_singular(ctx);
    TRY(st);
    krein__tally_add(&tally, rows, 1, out);
    krein__tally_end(&tally, rows->class != NULL, p);
done:
    krein__free(ctx, own);
    krein__frame_clear(ctx, &f);
    return st;
}

/* ---- generalised cross-validation and evidence -------------------------- */

/* Rows that have a weight. */
static int64_t heavy(const krein_targets *rows, const krein_frame *f) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows->n; i++) count += f->root[i] > 0;
    return count;
}

/* The eigenvalues of K = PSKSP and the targets' squared projections. */
static krein_status smoother(krein_ctx *ctx, double *K, const krein_targets *rows,
                             const krein_frame *f, double *s, double *q, krein_smoother *out) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    double *beta = NULL, square = 0;
    NEW(beta, n * k);
    TRY(krein__frame_eigen(ctx, K, n, f, s));
    TRY(krein__poll(ctx));
    krein__pgemm(ctx, false, false, n, k, n, 1, K, n, f->y, k, 0, beta, k);
    for (int64_t j = 0; j < n; j++) q[j] = krein__ddot(k, beta + j * k, beta + j * k);
    square = krein__ddot(n * k, f->y, f->y);
    *out = (krein_smoother){heavy(rows, f), k, n - f->intercept, f->intercept, f->weight, s, q,
                            square};
done:
    krein__free(ctx, beta);
    return st;
}

krein_status krein__dual_spectrum(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  bool intercept, double *s, double *q, krein_smoother *out) {
    krein_status st = KREIN_OK;
    krein_frame f = {0};
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    TRY(smoother(ctx, K, rows, &f, s, q, out));
done:
    krein__frame_clear(ctx, &f);
    return st;
}

/* A number of the factor in K's upper triangle and of the solution a. */
typedef krein_status factor_value(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  const krein_frame *f, double shift, const double *a, bool profile,
                                  double *out);
typedef double spectrum_value(const krein_smoother *s, double lambda, bool profile);

static krein_status gcv_by_factor(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  const krein_frame *f, double shift, const double *a, bool profile,
                                  double *out) {
    (void)profile;
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    double *diagonal = NULL, left = 0;
    NEW(diagonal, n);
    TRY(krein__cholesky_inverse_diagonal(ctx, n, K, n, diagonal));
    for (int64_t i = 0; i < n; i++) {
        double lifted = f->intercept ? f->u[i] * f->u[i] / (f->lift + shift) : 0;
        if (f->root[i] > 0) left += shift * (diagonal[i] - lifted);
    }
    *out =
        krein__gcv_of(heavy(rows, f), k, f->weight, shift * shift * krein__ddot(n * k, a, a), left);
done:
    krein__free(ctx, diagonal);
    return st;
}

static krein_status evidence_by_factor(krein_ctx *ctx, double *K, const krein_targets *rows,
                                       const krein_frame *f, double shift, const double *a,
                                       bool profile, double *out) {
    (void)ctx;
    int64_t n = rows->n, k = rows->k, count = heavy(rows, f);
    double log_det = f->intercept ? -log(f->lift + shift) : 0;
    for (int64_t i = 0; i < n; i++) /* a row without a weight has the pivot sqrt(shift) */
        if (f->root[i] > 0) log_det += 2 * log(K[i * n + i]);
    *out =
        krein__evidence_of(count - f->intercept, k, krein__ddot(n * k, f->y, a), log_det, profile);
    return KREIN_OK;
}

static double gcv_by_spectrum(const krein_smoother *s, double lambda, bool profile) {
    (void)profile;
    return krein__gcv(s, lambda);
}

static krein_status value_at(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                             bool intercept, bool profile, factor_value *by_factor,
                             spectrum_value *by_spectrum, double *out) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n;
    krein_frame f = {0};
    krein_smoother all;
    double *a = NULL, *s = NULL, *q = NULL, shift;
    TRY(krein__frame_begin(ctx, K, rows, intercept, &f));
    shift = f.weight * lambda;
    NEW(a, n * rows->k);
    st = krein__frame_solve(ctx, K, rows, &f, shift, a);
    if (st == KREIN_OK) st = by_factor(ctx, K, rows, &f, shift, a, profile, out);
    if (st == KREIN_ENUMERIC && lambda > 0) {
        NEW(s, n);
        NEW(q, n);
        krein__frame_refill(ctx, n, &f, 0, 0, K);
        TRY(smoother(ctx, K, rows, &f, s, q, &all));
        *out = by_spectrum(&all, lambda, profile);
    } else if (st == KREIN_ENUMERIC) {
        st = krein__dual_singular(ctx);
    }
done:
    krein__free(ctx, a);
    krein__free(ctx, s);
    krein__free(ctx, q);
    krein__frame_clear(ctx, &f);
    return st;
}

krein_status krein__dual_gcv_at(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                                bool intercept, double *gcv) {
    return value_at(ctx, K, rows, lambda, intercept, false, gcv_by_factor, gcv_by_spectrum, gcv);
}

krein_status krein__dual_evidence_at(krein_ctx *ctx, double *K, const krein_targets *rows,
                                     double lambda, bool intercept, bool profile,
                                     double *evidence) {
    return value_at(ctx, K, rows, lambda, intercept, profile, evidence_by_factor, krein__evidence,
                    evidence);
}
