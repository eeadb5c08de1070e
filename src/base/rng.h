/* rng.h -- random numbers as a pure function of (seed, stream, row, column).
 *
 * Philox4x64-10 (Salmon et al. 2011) from Random123: counter = {column, row,
 * stream, attempt}, key = {seed, 0}. Nothing is stateful, so a draw depends on its
 * address only, never on thread, block or the draws before it. Distributions that
 * reject use the `attempt` word of the counter.
 */
#ifndef KREIN_RNG_H
#define KREIN_RNG_H

#include <stdint.h>

typedef struct krein_rng {
    uint64_t seed, stream;
} krein_rng;

/* Streams: one name per use, so that no two uses ever share numbers. */
enum {
    KREIN_STREAM_SPLIT = 1, /* holdout */
    KREIN_STREAM_FOLDS = 2,
    KREIN_STREAM_SAMPLE = 3, /* row subsamples */
    KREIN_STREAM_LANDMARKS = 4,
    KREIN_STREAM_CLUSTER = 6,
    KREIN_STREAM_KERNELS = 7,   /* random kernels */
    KREIN_STREAM_PARTS = 8,     /* rows of divided learning */
    KREIN_STREAM_GENERATE = 16, /* + column role, see generate.c */
    KREIN_STREAM_MAP = 256      /* + 16 * term + role; see map.h */
};

/* Four 64-bit words of Philox4x64-10 at an address. */
void krein__philox(uint64_t seed, uint64_t stream, uint64_t row, uint64_t column, uint64_t attempt,
                   uint64_t out[4]);

uint64_t krein__rng_bits(krein_rng g, uint64_t row, uint64_t column);
double krein__rng_uniform(krein_rng g, uint64_t row, uint64_t column); /* in (0, 1) */
/* Uniform integer in [0, bound), bound >= 1, unbiased by rejection. */
uint64_t krein__rng_below(krein_rng g, uint64_t row, uint64_t column, uint64_t bound);
double krein__rng_normal(krein_rng g, uint64_t row, uint64_t column);
double krein__rng_exponential(krein_rng g, uint64_t row, uint64_t column);
double krein__rng_laplace(krein_rng g, uint64_t row, uint64_t column); /* density exp(-|x|)/2 */
double krein__rng_cauchy(krein_rng g, uint64_t row, uint64_t column);
double krein__rng_gamma(krein_rng g, uint64_t row, uint64_t column, double shape); /* scale 1 */
double krein__rng_chi2(krein_rng g, uint64_t row, uint64_t column, double dof);
double krein__rng_chi(krein_rng g, uint64_t row, uint64_t column, double dof);
double krein__rng_t(krein_rng g, uint64_t row, uint64_t column, double dof);
/* k distinct indices below n, ascending, each subset equally likely. out has k. */
void krein__rng_choose(krein_rng g, int64_t n, int64_t k, int64_t *out);
/* A permutation of 0..n-1 (Fisher-Yates). out has n. */
void krein__rng_permute(krein_rng g, int64_t n, int64_t *out);

#endif
