/* lp.h -- weights of kernels with a bounded p-norm, for ridge regression on their sum. */
#ifndef KREIN_LP_H
#define KREIN_LP_H

#include "combine/ridge_sum.h"

/* The option p of the weighings that bound a norm. */
#define KREIN_OPTION_P                                                                             \
    {                                                                                              \
        .name = "p", .value = 2, .low = 1, .high = 64,                                             \
        .help = "norm of the weights; 1 is sparse, large is the average"                           \
    }

/* theta (M) for the kernels scale_m K_m (NULL: K_m). */
krein_status krein__lp_weights(krein_bank *bank, double p, const double *scale, double *theta);
void krein__lp_cost(const krein_bank_size *size, krein_cost *out);

#endif
