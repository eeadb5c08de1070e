/* quant.c -- the quantiser, and codes packed for files and memory: see quant.h
 *
 * The zero is real: rounded to a whole number the ends of the range would move, and
 * round(x / c) - z with z = lo / c would be no whole number. */
#include "num/quant.h"

#include <math.h>
#include <string.h>

static bool bits_exist(int bits) { return bits == 8 || bits == 4 || bits == 2 || bits == 1; }

krein_quant krein__quant(int bits, double lo, double hi) {
    double c = (hi - lo) / (double)((1 << bits) - 1);
    if (!(c > 0)) return (krein_quant){bits, 1, lo};
    return (krein_quant){bits, c, lo / c};
}

krein_status krein__quant_check(krein_ctx *ctx, const krein_quant *q) {
    if (!bits_exist(q->bits))
        return krein__fail(ctx, KREIN_EARG, "codes of %d bits: they have 8, 4, 2 or 1", q->bits);
    if (!(q->scale > 0 && isfinite(q->scale) && isfinite(q->zero)))
        return krein__fail(ctx, KREIN_EARG,
                           "codes of scale %g and zero %g: the scale is positive, both are finite",
                           q->scale, q->zero);
    return KREIN_OK;
}

/* Cut before it is rounded, which comes to the same; adding 1.5 2^52 rounds half to even. */
void krein__quant_codes(const krein_quant *q, int64_t n, const float *x, uint8_t *codes) {
    const double c = q->scale, z = q->zero, top = (double)((1 << q->bits) - 1);
    for (int64_t i = 0; i < n; i++) {
        double v = (double)x[i] / c - z;
        v = v > 0 ? v : 0;
        v = v < top ? v : top;
        codes[i] = (uint8_t)(int)((v + 0x1.8p52) - 0x1.8p52);
    }
}

void krein__quant_reals(const krein_quant *q, int64_t n, const uint8_t *codes, float *x) {
    for (int64_t i = 0; i < n; i++) x[i] = (float)(q->scale * ((double)codes[i] + q->zero));
}

/* ---- packed vectors ------------------------------------------------------ */

int64_t krein__packed_bytes(int bits, int64_t n) {
    return bits >= 4 ? (n * bits + 7) / 8 : bits * ((n + 7) / 8);
}

void krein__pack(int bits, int64_t n, const uint8_t *codes, uint8_t *packed) {
    memset(packed, 0, (size_t)krein__packed_bytes(bits, n));
    if (bits == 8) memcpy(packed, codes, (size_t)n);
    if (bits == 4)
        for (int64_t i = 0; i < n; i++) packed[i / 2] |= (uint8_t)(codes[i] << (i % 2 * 4));
    if (bits < 4)
        for (int m = 0; m < bits; m++, packed += (n + 7) / 8)
            for (int64_t i = 0; i < n; i++)
                packed[i / 8] |= (uint8_t)((codes[i] >> m & 1) << i % 8);
}

void krein__unpack(int bits, int64_t n, const uint8_t *packed, uint8_t *codes) {
    if (bits == 8) memcpy(codes, packed, (size_t)n);
    if (bits == 4)
        for (int64_t i = 0; i < n; i++) codes[i] = packed[i / 2] >> (i % 2 * 4) & 15;
    if (bits < 4) {
        memset(codes, 0, (size_t)n);
        for (int m = 0; m < bits; m++, packed += (n + 7) / 8)
            for (int64_t i = 0; i < n; i++)
                codes[i] |= (uint8_t)((packed[i / 8] >> i % 8 & 1) << m);
    }
}

/* ---- matrices ------------------------------------------------------------ */

int64_t krein__codes_bytes(const krein_codes *w) {
    return w->outputs * krein__packed_bytes(w->quant.bits, w->inputs);
}

krein_status krein__codes_check(krein_ctx *ctx, const krein_codes *w) {
    const int64_t most = (int64_t)1 << 31; /* their product is below 2^62 */
    if (w->inputs < 1 || w->outputs < 1 || w->inputs > most || w->outputs > most)
        return krein__fail(ctx, KREIN_EARG, "codes of %lld inputs and %lld outputs",
                           (long long)w->inputs, (long long)w->outputs);
    return krein__quant_check(ctx, &w->quant);
}

krein_status krein__codes_create(krein_ctx *ctx, int bits, int64_t inputs, int64_t outputs,
                                 const float *w, int64_t ld, krein_codes *out) {
    krein_status st = KREIN_OK;
    float *column = NULL;
    uint8_t *codes = NULL;
    float lo = INFINITY, hi = -INFINITY;
    bool finite = true;
    *out = (krein_codes){.quant = {bits, 1, 0}, .inputs = inputs, .outputs = outputs};
    TRY(krein__codes_check(ctx, out));
    for (int64_t i = 0; i < inputs; i++)
        for (int64_t j = 0; j < outputs; j++) {
            float v = w[i * ld + j];
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
            finite &= isfinite(v);
        }
    if (!finite) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "a weight is not finite: it has no code");
        goto done;
    }
    out->quant = krein__quant(bits, (double)lo, (double)hi);
    NEW(out->packed, krein__codes_bytes(out));
    NEW(column, inputs);
    NEW(codes, inputs);
    for (int64_t j = 0; j < outputs; j++) {
        for (int64_t i = 0; i < inputs; i++) column[i] = w[i * ld + j];
        krein__quant_codes(&out->quant, inputs, column, codes);
        krein__pack(bits, inputs, codes, out->packed + j * krein__packed_bytes(bits, inputs));
    }
done:
    krein__free(ctx, column);
    krein__free(ctx, codes);
    if (st != KREIN_OK) krein__codes_clear(ctx, out);
    return st;
}

krein_status krein__codes_pack(krein_ctx *ctx, const krein_quant *q, int64_t inputs,
                               int64_t outputs, const uint8_t *codes, krein_codes *out) {
    krein_status st = KREIN_OK;
    uint8_t *one = NULL;
    *out = (krein_codes){.quant = *q, .inputs = inputs, .outputs = outputs};
    int64_t bytes = krein__packed_bytes(q->bits, inputs);
    NEW(one, inputs);
    NEW(out->packed, krein__codes_bytes(out));
    for (int64_t j = 0; j < outputs; j++) {
        for (int64_t i = 0; i < inputs; i++) one[i] = codes[i * outputs + j];
        krein__pack(q->bits, inputs, one, out->packed + j * bytes);
    }
done:
    krein__free(ctx, one);
    return st;
}

krein_status krein__codes_reals(krein_ctx *ctx, const krein_codes *w, float *out) {
    krein_status st = KREIN_OK;
    uint8_t *one = NULL;
    float *back = NULL;
    int64_t bytes = krein__packed_bytes(w->quant.bits, w->inputs);
    NEW(one, w->inputs);
    NEW(back, w->inputs);
    for (int64_t j = 0; j < w->outputs; j++) {
        krein__unpack(w->quant.bits, w->inputs, w->packed + j * bytes, one);
        krein__quant_reals(&w->quant, w->inputs, one, back);
        for (int64_t i = 0; i < w->inputs; i++) out[i * w->outputs + j] = back[i];
    }
done:
    krein__free(ctx, one);
    krein__free(ctx, back);
    return st;
}

void krein__codes_clear(krein_ctx *ctx, krein_codes *w) {
    krein__free(ctx, w->packed);
    *w = (krein_codes){0};
}
