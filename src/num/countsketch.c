/* countsketch.c -- hashes and signs are independent draws; the bound of a product of sketches
 * needs pairs of the one and fours of the other only. */
#include "num/countsketch.h"

#include <string.h>

krein_status krein__countsketch_create(krein_ctx *ctx, krein_rng g, int64_t in, int64_t length,
                                       krein_countsketch *out) {
    krein_status st = KREIN_OK;
    out->in = in;
    NEW(out->hash, in);
    NEW(out->sign, in);
    for (int64_t j = 0; j < in; j++) {
        uint64_t bits = krein__rng_bits(g, 0, (uint64_t)j);
        out->hash[j] = (int32_t)(bits & (uint64_t)(length - 1));
        out->sign[j] = bits >> 63 ? -1.0f : 1.0f;
    }
done:
    return st;
}

void krein__countsketch_clear(krein_ctx *ctx, krein_countsketch *s) {
    krein__free(ctx, s->hash);
    krein__free(ctx, s->sign);
}

void krein__countsketch(const krein_countsketch *s, const float *x, int64_t length, float *c) {
    memset(c, 0, (size_t)length * sizeof *c);
    for (int64_t j = 0; j < s->in; j++) c[s->hash[j]] += s->sign[j] * x[j];
}
