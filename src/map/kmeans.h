/* kmeans.h -- cluster centres of rows. */
#ifndef KREIN_KMEANS_H
#define KREIN_KMEANS_H

#include "base/rng.h"
#include "num/matrix.h"

/* Up to m rows by D^2 sampling (k-means++), in the order drawn; *got of them, fewer where fewer
 * rows are different. */
krein_status krein__kmeans_seeds(krein_ctx *ctx, krein_rng g, const krein_rows *x, int64_t m,
                                 int64_t *seed, int64_t *got);
/* Lloyd's iterations on dense rows, in place, from the given centres (m x d), `steps` at most. A
 * centre that no row is nearest to stays where it is. */
krein_status krein__kmeans_lloyd(krein_ctx *ctx, const krein_rows *x, int64_t m, int64_t steps,
                                 float *centre);
/* Bytes that the two hold beside their arguments, at most. */
double krein__kmeans_bytes(int64_t n, int64_t d, int64_t m, int threads);

#endif
