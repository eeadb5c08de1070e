/* average -- the plain mean of the kernels:  mu_m = 1 / M
 * What every other method must beat: with kernels of one scale it often is as good. */
#include "combine/combine.h"

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    (void)v;
    for (int64_t m = 0; m < b->M; m++) mu[m] = 1;
    return KREIN_OK;
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS, {0}};

const krein_weighing_class krein__weigh_average = {
    .cls = {"average", "all kernels the same weight", "gonen2011", options, NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .indefinite = true,
    .row_weights = true,
    .alone = true,
    .find = find};
