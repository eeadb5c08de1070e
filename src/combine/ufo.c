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

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS,
    {.name = "alpha",
     .value = NAN,
     .low = 0,
     .low_open = true,
     .high = 1e9,
     .derived = true,
     .help = "weight of the squared norm; 1/2 over the root of the rows when not given"},
    {.name = "beta",
     .value = NAN,
     .low = 0,
     .high = 1e9,
     .derived = true,
     .help = "weight of the penalty that leaves kernels out; 1 over the root of the rows when not "
             "given"},
    {.name = "epochs",
     .type = KREIN_OPTION_INTEGER,
     .value = 20,
     .low = 1,
     .high = 1e6,
     .help = "most passes over the rows; fewer where little is left to gain"},
    {0}};

const krein_weighing_class krein__weigh_ufo = {
    .cls = {"ufo", "mirror descent of the hinge loss with one penalty for all kernels",
            "orabona2011", options, NULL},
    .tasks = KREIN_FOR_CLASSES,
    .row_weights = true,
    .way_out = "lower beta",
    .find = find,
    .cost = krein__mirrored_cost};
