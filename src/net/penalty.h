/* penalty.h -- penalties of a matrix of weights, by their gradient or by a proximal step. */
#ifndef KREIN_PENALTY_H
#define KREIN_PENALTY_H

#include "base/base.h"

typedef enum krein_penalty {
    KREIN_PENALTY_NONE = 0,
    KREIN_PENALTY_FROBENIUS = 1, /* lambda |W|_F^2, by its gradient */
    KREIN_PENALTY_TRACE = 2,     /* lambda |W|_*, the sum of its singular values; theta > 0: of all
                                    but the theta largest */
    KREIN_PENALTY_L1 = 3,        /* lambda sum |W_ij| */
    KREIN_PENALTY_GROUP = 4      /* lambda sum of the lengths of the rows of W */
} krein_penalty;

/* Its value; W is rows x columns. theta is read by the trace norm alone. */
krein_status krein__penalty_value(krein_ctx *ctx, krein_penalty kind, int64_t theta, double lambda,
                                  int64_t rows, int64_t columns, const float *W, double *out);
/* What is added to the gradient is this times W; 0 for those with a proximal step. */
double krein__penalty_decay(krein_penalty kind, double lambda);
/* W <- argmin_V 1/2 |V - W|^2 + tau penalty(V): nothing for those with a gradient. */
krein_status krein__penalty_prox(krein_ctx *ctx, krein_penalty kind, int64_t theta, double tau,
                                 int64_t rows, int64_t columns, float *W);

#endif
