/* krein_ridge.h -- ridge regression in a Krein space: features with signs, stabilised rather than
 * minimised. */
#ifndef KREIN_RIDGE_KREIN_H
#define KREIN_RIDGE_KREIN_H

#include "solve/ridge.h"

/* All for systems without a mix; sign is D signs. */

/* Weights (D x k) and intercepts of the stationary point. KREIN_ENUMERIC, with a lambda to try,
 * where there is none that rounding leaves alone. */
krein_status krein__krein_solve(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                double lambda, double *w, double *intercept);
/* Exact leave-one-out of the rows with the centred features z (n x D) along a path: half decades,
 * then quarters around the best. Fills p; lambdas without a stationary point have infinite losses.
 */
krein_status krein__krein_loo(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                              const float *z, const krein_targets *rows, krein_path *p);
/* What leave-one-out at one lambda is made of, as krein__scores_rows: fit (n x k) and lever (n) of
 * the centred rows z. KREIN_ENUMERIC where there is no stationary point. */
krein_status krein__krein_levers(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                 double lambda, int64_t n, const float *z, double *fit,
                                 double *lever);
/* Scores of held-out rows for every lambda of the path; fills p's lambdas where p->n is 0. */
krein_status krein__krein_scores(krein_ctx *ctx, const krein_system *s, const int8_t *sign,
                                 krein_path *p, krein_scores **out);

#endif
