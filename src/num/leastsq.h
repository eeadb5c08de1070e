/* leastsq.h -- small non-linear least squares. */
#ifndef KREIN_LEASTSQ_H
#define KREIN_LEASTSQ_H

#include "base/base.h"

/* r (m) = residuals at x (n). */
typedef void (*krein_residual_fn)(void *user, const double *x, double *r);

/* Lowers |r(x)|^2 from the x given, by Levenberg-Marquardt with differences for derivatives, in at
 * most `steps` steps. *square: its value at the end. */
krein_status krein__leastsq(krein_ctx *ctx, int64_t n, int64_t m, krein_residual_fn f, void *user,
                            int64_t steps, double *x, double *square);

#endif
