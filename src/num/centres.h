/* centres.h -- cluster centres of rows, and the steps they are found by. */
#ifndef KREIN_KMEANS_H
#define KREIN_KMEANS_H

#include "base/rng.h"
#include "num/matrix.h"

/* Up to m rows by D^2 sampling (k-means++), in the order drawn; *got of them, fewer where fewer
 * rows are different. */
krein_status krein__centres_seeds(krein_ctx *ctx, krein_rng g, const krein_rows *x, int64_t m,
                                  int64_t *seed, int64_t *got);
/* Lloyd's iterations on dense rows, in place, from the given centres (m x d), `steps` at most. A
 * centre that no row is nearest to stays where it is. */
krein_status krein__centres_lloyd(krein_ctx *ctx, const krein_rows *x, int64_t m, int64_t steps,
                                  float *centre);
/* Bytes that the two hold beside their arguments, at most. */
double krein__centres_bytes(int64_t n, int64_t d, int64_t m, int threads);

/* Shortens near[i] to |row i - s|^2; what is not above `least` is 0. */
void krein__centres_approach(krein_ctx *ctx, const krein_rows *x, const float *s, double least,
                             double *near);
/* A row in proportion to near times weight (n, or NULL: 1), by u in (0, 1); -1 where all are 0. */
int64_t krein__centres_draw(int64_t n, const double *near, const double *weight, double u);
/* How far from their nearest seeds the rows would be with one more: for each of `runs` sets of
 * seeds (near + r * stride: distances of the rows of x to them) and each of `tries` further ones s
 * (runs x tries x d), adds sum_i w_i min(near_i, |row i - s|^2) to sum[r * tries + t]. square: |row
 * i|^2; weight: w, or NULL: 1; the distances are float32. scratch, part: krein__centres_scratch
 * floats for m = tries, and as many doubles as krein__centres_parts. */
void krein__centres_try(krein_ctx *ctx, const krein_rows *x, int64_t tries, int64_t runs,
                        const float *s, const double *square, const double *weight,
                        const double *near, int64_t stride, float *scratch, double *part,
                        double *sum);
int64_t krein__centres_parts(int64_t n, int64_t tries, int64_t runs);
/* Candidates for each seed that greedy k-means++ chooses among. */
int64_t krein__centres_tries(int64_t m);
/* The nearest of m centres for each row of x, in each of `runs` sets of centres (runs x m x d,
 * square: their squared lengths): nearest[i * runs + r], the first of equal ones. gain, or NULL:
 * its |c|^2 - 2 <x, c>. scratch: krein__centres_scratch floats. */
void krein__centres_assign(krein_ctx *ctx, const krein_rows *x, int64_t m, int64_t runs,
                           const float *centre, const float *square, float *scratch,
                           int32_t *nearest, float *gain);
int64_t krein__centres_scratch(const krein_ctx *ctx, int64_t m, int64_t runs);
void krein__centres_squares(int64_t m, int64_t d, const float *centre, float *square);

#endif
