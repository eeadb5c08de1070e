/* multiclass_dual.h -- dual variables of a machine of all classes at once, as the solvers on
 * features (crammer.c) and on a kernel matrix (multiclass.c) share them.
 *
 * alpha is n x classes. Of row i, whose class is y: alpha_im <= 0 for m != y, alpha_iy = -sum of
 * the others <= cap_i. */
#ifndef KREIN_MULTICLASS_DUAL_H
#define KREIN_MULTICLASS_DUAL_H

#include "base/base.h"

/* Makes that true of any alpha: what is positive becomes 0, what is too much is made smaller in
 * proportion. A cap may be infinite. */
void krein__multiclass_restore(int64_t n, int64_t classes, const int32_t *class, const double *cap,
                               double *alpha);
/* Also sum_i alpha_im = 0 for every m, as free intercepts want it. -alpha_im of the rows of class y
 * is a flow from y to m, and the sum says that it balances at m. It is made to (circulation.c) by
 * taking flow away. *taken: how much. */
krein_status krein__multiclass_balance(krein_ctx *ctx, int64_t n, int64_t classes,
                                       const int32_t *class, const double *cap, double *alpha,
                                       double *taken);
/* v with sum max(0, V - v) = mass + slope v, which is the projection onto a simplex: found exactly
 * by averaging over the V above it, again until none drops out (Michelot's way; 2 or 3 rounds).
 * mass > 0 or slope > 0. */
double krein__water_level(int64_t n, const double *V, double mass, double slope);

#endif
