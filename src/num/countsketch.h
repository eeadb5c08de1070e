/* countsketch.h -- CountSketch: C(x)[b] = sum over j with h(j) = b of s(j) x_j, E <C(x), C(y)> =
 * <x, y> over the hash h and the signs s.                                       (charikar2002) */
#ifndef KREIN_COUNTSKETCH_H
#define KREIN_COUNTSKETCH_H

#include "base/base.h"
#include "base/rng.h"

typedef struct krein_countsketch {
    int64_t in;
    int32_t *hash;
    float *sign; /* times a factor of the entry where the caller wants one */
} krein_countsketch;

/* h and s at row 0 of the stream; length is a power of two. */
krein_status krein__countsketch_create(krein_ctx *ctx, krein_rng g, int64_t in, int64_t length,
                                       krein_countsketch *out);
void krein__countsketch_clear(krein_ctx *ctx, krein_countsketch *s);
/* c = C(x). */
void krein__countsketch(const krein_countsketch *s, const float *x, int64_t length, float *c);

#endif
