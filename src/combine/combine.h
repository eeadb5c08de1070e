/* combine.h -- weights of several kernels: which sum of them to train on.
 *
 *     k = sum_m mu_m c_m k_m,   mu >= 0, sum mu = 1,   c_m = n / sum_i k_m(x_i, x_i)
 *
 * One file a method; each works on matrices (few rows: can be checked) and on features (many rows:
 * nothing is as large as n x n), see bank.h. */
#ifndef KREIN_COMBINE_H
#define KREIN_COMBINE_H

#include "combine/bank.h"
#include "learn/mkl.h"

/* A way to find weights. `find` fills mu (M, >= 0, any scale; all zero where the method left no
 * kernel over). */
typedef struct krein_combiner {
    int tasks;       /* KREIN_FOR_... */
    bool indefinite; /* such kernels may take part, with their signature */
    bool row_weights;
    krein_status (*find)(krein_bank *bank, const krein_mkl *o, double *mu);
} krein_combiner;

extern const krein_combiner krein__combine_average, krein__combine_alignment,
    krein__combine_centered, krein__combine_easymkl, krein__combine_pwmk, krein__combine_lp,
    krein__combine_conv, krein__combine_smsd, krein__combine_ufo;

#endif
