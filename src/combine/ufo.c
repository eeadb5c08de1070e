/* ufo -- ultra-fast online multiple kernels (orabona2011): smsd with the same penalty for all
 *
 *     min  mean multi-class hinge loss + alpha/2 |W|_{2,p}^2 + beta sum_m |W_m|
 *
 * Two classes are two weight vectors here, one in the paper. */
#include "combine/mirrored.h"

#include <math.h>

enum { ALPHA = KREIN_WEIGHING_OWN };

static krein_status find(krein_bank *bank, const krein_values *v, double *mu) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    double *r = NULL;
    NEW(r, bank->M);
    for (int64_t m = 0; m < bank->M; m++) r[m] = 1;
    TRY(krein__mirrored(bank, v->number + ALPHA, r, mu));
done:
    krein__free(ctx, r);
    return st;
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS, KREIN_MIRRORED_OPTIONS, {0}};

const krein_weighing_class krein__weigh_ufo = {
    .cls = {"ufo", "mirror descent of the hinge loss with one penalty for all kernels",
            "orabona2011", options, NULL},
    .tasks = KREIN_FOR_CLASSES,
    .row_weights = true,
    .way_out = "lower beta",
    .find = find,
    .cost = krein__mirrored_cost};
