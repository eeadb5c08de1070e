/* dual_at.c -- leave-one-out on a kernel matrix at one lambda
 *
 * In the frame of dual.c, with A = PSKSP + c uu' + shift I, shift = W lambda, R = A^-1 - uu' / (c +
 * shift) and a = A^-1 PSy = R S y (without an intercept u = 0):
 *     y_i - f_{-i}(x_i) = a_i / R_ii / sqrt(w_i)                                     (cawley2006)
 * R is the upper left block of the inverse of the bordered matrix [[SKS + shift I, S1], [(S1)',
 * 0]]. W lambda is kept without the row, as it is over a path.
 *
 * Cost: n^3 / 3 flops for the factor, as many for the diagonal of A^-1, on all threads, in the
 * memory of K. Where A is not positive definite, from eigenvalues: 9 n^3.
 */
#include "solve/dual.h"

#include "num/blas.h"

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
