/* hulls.h -- nearest points of the convex hulls of two classes, softened by a ridge. */
#ifndef KREIN_HULLS_H
#define KREIN_HULLS_H

#include "base/base.h"

/* min  value = (1 - lambda) g'YKYg + lambda sum g_i^2 / w_i   over g >= 0, sum of g over each class
 * = 1: a row of weight w counts as w of them, whose g add up. */
typedef struct krein_hulls {
    int64_t n;
    const double *K;      /* n x n, symmetric, positive semidefinite; not read at lambda = 1 */
    const double *y;      /* n: +1 and -1, both there with some weight */
    const double *weight; /* n, >= 0; NULL: all 1 */
    double lambda;        /* in (0, 1] */
    double tol;           /* stop where the value is within tol of the least, relatively */
    double *g;            /* n, out */
    double value;         /* out */
    double gap;           /* out: value less the least one is at most that */
    int64_t rounds, steps, products;
    bool converged;
} krein_hulls;

krein_status krein__hulls(krein_ctx *ctx, krein_hulls *h);
/* Bytes beside K, y and g. */
double krein__hulls_bytes(int64_t n);

#endif
