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

/* Streams: one name per use, so that no two uses ever share numbers. The table is streams.def. */
enum {
#define STREAM(name, first, count) KREIN_STREAM_##name = (first),
#define SUBSTREAM(of, name, first, count) KREIN_##of##_##name = (first),
#include "base/streams.def"
#undef STREAM
#undef SUBSTREAM
    KREIN_ROLE_SCALE = 256 /* scales of frequencies that are a mixture; a map's own are below */
};

static inline krein_rng krein__substream(uint64_t seed, uint64_t stream, int64_t number) {
    return (krein_rng){seed, stream | (uint64_t)number << 32};
}

/* The draws of role r that a map makes beside those of g: bits 40 to 63. Each map numbers
 * its own; maps inside a map have seeds of their own. */
static inline krein_rng krein__role(krein_rng g, uint64_t r) {
    return (krein_rng){g.seed, g.stream | r << 40};
}

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
