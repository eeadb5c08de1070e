/* loo -- exact leave-one-out of kernel ridge regression with an intercept
 *     y_i - f_{-i}(x_i) = (y_i - f_i) / (1 - H_ii)   for every lambda of a path from one
 * eigendecomposition (solve/dual.c). Mean square for regression; share of wrong classes, ties by
 * mean square, for classification. Cost: 9 n^3 flops a kernel. */
#include "select/select.h"

static krein_status score(krein_ctx *ctx, const krein_kernel *kernel, const krein_sample *s,
                          const krein_values *values, krein_path *p) {
    (void)values;
    krein_status st = KREIN_OK;
    double *K = NULL;
    krein_rows x = krein__matrix_rows(&s->x);
    krein_targets rows = {s->n, s->k, s->y, s->weight, s->class};
    NEW(K, s->n * s->n);
    TRY(krein__gram_full(ctx, kernel, &x, &x, K));
    TRY(krein__dual_path(ctx, K, &rows, p));
done:
    krein__free(ctx, K);
    return st;
}

const krein_criterion_class krein__criterion_loo = {
    .cls = {"loo", "exact leave-one-out, in closed form", "", NULL,
            "Leave-one-out error of kernel ridge regression over a path of lambdas."},
    .score = score};
