/* features.h -- a table of float32 features for solvers that visit rows many times. It comes in
 * blocks of rows, which are kept in memory or made again for every visit: the same bits either way.
 */
#ifndef KREIN_FEATURES_H
#define KREIN_FEATURES_H

#include "base/base.h"

typedef struct krein_features {
    krein_ctx *ctx;
    int64_t n, D;
    int64_t rows, blocks; /* rows of a block (the last may have fewer) */
    float *kept;          /* n x D, or NULL */
    float *made;          /* rows x D, where nothing is kept */
    int64_t at;           /* the block in `made`, -1: none */
    krein_status (*make)(void *state, int64_t block, float *out);
    void *state;
} krein_features;

/* Rows block * rows to block * rows + *n - 1, *n x D, until the next call. Not for parallel
 * regions: making a block uses all threads. */
krein_status krein__features_block(krein_features *t, int64_t block, const float **z, int64_t *n);

#endif
