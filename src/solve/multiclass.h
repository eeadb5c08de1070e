/* multiclass.h -- machines of all classes at once, on a kernel matrix. */
#ifndef KREIN_MULTICLASS_H
#define KREIN_MULTICLASS_H

#include "base/base.h"

/* What a row of class y loses; xi_m = max(0, 1 - (f_y - f_m)). */
typedef enum krein_multiclass_loss {
    KREIN_MULTICLASS_LARGEST = 0, /* C_i times the largest xi_m, m != y: Crammer and Singer */
    KREIN_MULTICLASS_PAIRS = 1    /* C_i times the sum of xi_m^2, m != y: Franc and Hlavac */
} krein_multiclass_loss;

typedef enum krein_multiclass_intercept {
    KREIN_INTERCEPT_NONE = 0,
    KREIN_INTERCEPT_FREE = 1,
    KREIN_INTERCEPT_PENALISED = 2 /* 1/2 sum_m b_m^2 beside the norms: the kernel k + 1 */
} krein_multiclass_intercept;

/* min 1/2 sum_m |f_m|^2 + sum_i losses of f_m(x_i) + b_m, m = 0 .. classes - 1. */
typedef struct krein_multiclass {
    int64_t n, classes;
    const double *K;      /* n x n, symmetric, positive semidefinite */
    const int32_t *class; /* n: y */
    const double *cost;   /* n: C_i >= 0; rows of 0 take no part */
    krein_multiclass_loss loss;
    krein_multiclass_intercept intercept;
    double tol;       /* stop where primal - dual <= tol * primal */
    int64_t most;     /* rounds, 0: as many as it takes, up to 1,000 */
    double deadline;  /* krein__clock(), 0: none */
    const char *what; /* for the progress bar, or NULL */
    double *alpha;    /* n x classes: start, and solution, feasible */
    double *w;        /* n x classes, out: f_m = sum_i w_im k(., x_i) with b has `primal` */
    double *b;        /* classes: start, and out; their mean is 0 */
    double primal, dual_value;
    double last_dual;                         /* that of alpha */
    int64_t rounds, steps, products, support; /* support: rows with alpha != 0 */
    bool converged;
} krein_multiclass;

krein_status krein__multiclass(krein_ctx *ctx, krein_multiclass *m);
/* Bytes beside what the struct points to. */
double krein__multiclass_bytes(int64_t n, int64_t classes);

#endif
