/* crammer.h -- the machine of many classes at once, on features. */
#ifndef KREIN_CRAMMER_H
#define KREIN_CRAMMER_H

#include "solve/machine.h"

/* min 1/2 sum_m |w_m|^2 + sum_i C_i max_m (1 - [m = y_i] + f_m(z_i) - f_{y_i}(z_i)),
 * f_m(z) = w_m'z + b_m, m = 0 .. classes - 1. */
typedef struct krein_crammer {
    int64_t n, classes;
    const int32_t *row;   /* n: rows of the features, ascending; NULL: the first n */
    const int32_t *class; /* n: y */
    double *cost;         /* n: C_i >= 0 */
    double *alpha;        /* n x classes: start, and solution, feasible */
    double *w; /* D x classes, row-major, out: what has `primal`, near sum alpha_im z_i */
    double *b; /* classes: start, and out; their mean is 0 */
    double primal, dual_value;
    int64_t passes, support; /* rows with alpha != 0 */
    bool converged;
} krein_crammer;

/* loss and epsilon of the options are not looked at. */
krein_status krein__crammer(krein_features *z, krein_crammer *m,
                            const krein_machine_options *options);
/* The same with sum_jm |w_jm| in place of 1/2 sum_m |w_m|^2. alpha, w and b given are not looked
 * at.
 */
krein_status krein__crammer_l1(krein_features *z, krein_crammer *m,
                               const krein_machine_options *options);
double krein__crammer_l1_bytes(const krein_ctx *ctx, int64_t rows, int64_t block, int64_t D,
                               int64_t classes);
/* Bytes beside the features and what the struct points to. */
double krein__crammer_bytes(int64_t rows, int64_t D, int64_t classes);

#endif
