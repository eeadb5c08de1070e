/* lbfgs.h -- the minimum of a smooth function of several numbers. */
#ifndef KREIN_LBFGS_H
#define KREIN_LBFGS_H

#include "base/base.h"

/* Value and gradient (n) at x; a value that is not finite makes the step shorter. */
typedef krein_status krein_smooth_fn(void *user, const double *x, double *value, double *gradient);

typedef struct krein_lbfgs_options {
    int64_t steps;
    double reach;    /* no number changes by more than that in a step */
    double least;    /* ends where two steps gain less than that, relative to 1 + |value| */
    double deadline; /* krein__clock() at which it ends with its best; 0: never */
} krein_lbfgs_options;

typedef struct krein_lbfgs_report {
    double start, value; /* at the start, at x; the start may be infinite: then x stays */
    int64_t steps, evaluations;
    bool converged; /* by `least`, not by the number of steps or the time */
} krein_lbfgs_report;

/* x is the start, then the best that was found. Polls before every value. */
krein_status krein__lbfgs(krein_ctx *ctx, int64_t n, krein_smooth_fn *fn, void *user,
                          const krein_lbfgs_options *o, double *x, krein_lbfgs_report *out);

#endif
