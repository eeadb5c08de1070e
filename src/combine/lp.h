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

/* The set theta >= 0, |theta|_p <= r with r = M^(1/p - 1), on whose boundary equal weights 1/M are.
 */
double krein__lp_exponent(double p);          /* p as it is taken: below 1.01 it counts as 1 */
double krein__lp_dual(double p);              /* q with 1/p + 1/q = 1 */
double krein__lp_radius(int64_t M, double p); /* r */
/* |v|_q, of numbers that are not negative. */
double krein__lp_norm(int64_t M, const double *v, double q);
/* theta onto the boundary, none quite zero; and in the end without what is below 1e-4 of the
 * largest. */
void krein__lp_onto(int64_t M, double p, double *theta);
void krein__lp_cut(int64_t M, const double *theta, double *mu);

/* theta (M) for the kernels scale_m K_m (NULL: K_m). */
krein_status krein__lp_weights(krein_bank *bank, double p, const double *scale, double *theta);
void krein__lp_cost(const krein_bank_size *size, krein_cost *out);

#endif
