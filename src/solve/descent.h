/* descent.h -- kernel regression by gradient descent on the dual coefficients. */
#ifndef KREIN_DESCENT_H
#define KREIN_DESCENT_H

#include "base/base.h"

/* Several problems on one kernel matrix, a column each; all arrays are columns x n. */
typedef struct krein_descent {
    krein_ctx *ctx;
    int64_t n, columns;
    const double *K; /* n x n, symmetric */
    const double *y;
    const double *step; /* of each row; 0: the row is not learned from */
    double *beta;       /* starts as the caller left it */
    double *fit;        /* K beta */
    bool sample;        /* row by row, each with the coefficients that the rows before it left */
    uint64_t seed;      /* sample: the order of the rows */
    int64_t *order;     /* sample: scratch, n */
    int64_t steps;      /* so far */
} krein_descent;

/* One step; fit then belongs to beta again. */
void krein__descent_step(krein_descent *d);
/* fit = K beta, before the first step. */
void krein__descent_fit(krein_descent *d);
/* Root mean square of y - fit over the rows that are learned from, over that of y. */
double krein__descent_residual(const krein_descent *d);
/* Largest eigenvalue of diag(weight)^(1/2) K diag(weight)^(1/2), K positive, by power iteration:
 * not above it, and near. weight may be NULL. */
krein_status krein__largest_eigenvalue(krein_ctx *ctx, int64_t n, const double *K,
                                       const double *weight, double *out);

#endif
