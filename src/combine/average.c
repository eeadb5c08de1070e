/* average -- the plain mean of the kernels:  mu_m = 1 / M
 * What every other method must beat: with kernels of one scale it often is as good. */
#include "combine/combine.h"

static krein_status find(krein_bank *b, const krein_mkl *o, double *mu) {
    (void)o;
    for (int64_t m = 0; m < b->M; m++) mu[m] = 1;
    return KREIN_OK;
}

const krein_combiner krein__combine_average = {.tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
                                               .indefinite = true,
                                               .row_weights = true,
                                               .alone = true,
                                               .find = find};
