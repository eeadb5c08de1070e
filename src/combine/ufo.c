/* ufo -- ultra-fast online multiple kernels (orabona2011): smsd with the same penalty for all
 *
 *     min  mean multi-class hinge loss + alpha/2 |W|_{2,p}^2 + beta sum_m |W_m|
 *
 * Two classes are two weight vectors here, one in the paper. */
#include "combine/mirrored.h"

static krein_status find(krein_bank *bank, const krein_mkl *o, double *mu) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    double *r = NULL;
    NEW(r, bank->M);
    for (int64_t m = 0; m < bank->M; m++) r[m] = 1;
    TRY(krein__mirrored(bank, o, r, mu));
done:
    krein__free(ctx, r);
    return st;
}

const krein_combiner krein__combine_ufo = {.tasks = KREIN_FOR_CLASSES,
                                           .row_weights = true,
                                           .way_out = "lower beta",
                                           .find = find,
                                           .cost = krein__mirrored_cost};
