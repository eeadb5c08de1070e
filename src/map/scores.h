/* scores.h -- how much a feature or a row matters, and drawing by it. */
#ifndef KREIN_SCORES_H
#define KREIN_SCORES_H

#include "base/base.h"
#include "base/rng.h"

/* Ridge leverage of columns z_j: z_j'(sum_i z_i z_i' + ridge I)^-1 z_j. In three steps, so that the
 * columns may come in pieces (n x m each, row stride m): add every piece to K (n x n), factor
 * once, then score every piece (it is overwritten). */
void krein__leverage_add(krein_ctx *ctx, int64_t n, int64_t m, const double *z, double *K);
krein_status krein__leverage_factor(krein_ctx *ctx, int64_t n, double ridge, double *K);
void krein__leverage_score(krein_ctx *ctx, int64_t n, int64_t m, double *z, const double *K,
                           double *out);

/* ((y'z)^2 + n |z|^2) / (n^2 lambda); both sums over the columns and targets that belong together.
 */
double krein__surrogate_score(int64_t n, double product2, double square, double lambda);

/* The point of the simplex nearest to v. */
krein_status krein__simplex_project(krein_ctx *ctx, int64_t n, const double *v, double *q);
/* max v'q over the simplex and the chi-square ball n |q|^2 - 1 <= rho. At most `most` of the q are
 * positive: where rho would leave more it is raised as far as that takes. *reached (or NULL):
 * n |q|^2 - 1. */
krein_status krein__aligned_weights(krein_ctx *ctx, int64_t n, const double *v, double rho,
                                    int64_t most, double *q, double *reached);

/* Probabilities p_i = min(1, t s_i) that add up to m <= n, in proportion to the scores. Scores
 * below a thousandth of their mean count as that much, so that everything has a chance. */
void krein__inclusion(int64_t n, const double *score, int64_t m, double *p);
/* m distinct indices, ascending; i is among them with probability p_i (which add up to m). */
krein_status krein__draw_fixed(krein_ctx *ctx, krein_rng g, int64_t n, const double *p, int64_t m,
                               int64_t *index);

#endif
