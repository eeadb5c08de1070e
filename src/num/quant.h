/* quant.h -- numbers in a few bits: the quantiser, and codes packed for files and memory.
 *
 * A real x becomes a whole number, its code, and the code stands for a real again:
 *     code = clip(rint(x / c - z), 0, 2^b - 1),   xq = c (code + z),   b = 8, 4, 2 or 1,
 * half to even; c = (hi - lo) / (2^b - 1) is the scale, z = lo / c the zero, which is no whole
 * number. Both ends are kept, and |x - xq| <= c/2 between them. */
#ifndef KREIN_QUANT_H
#define KREIN_QUANT_H

#include "base/base.h"

typedef struct krein_quant {
    int bits; /* 8, 4, 2, 1 */
    double scale, zero;
} krein_quant;

/* The quantiser of [lo, hi]; where they are equal that number is code 0. */
krein_quant krein__quant(int bits, double lo, double hi);
/* KREIN_EARG unless bits, scale and zero are possible ones. */
krein_status krein__quant_check(krein_ctx *ctx, const krein_quant *q);
/* Codes of n numbers, one a byte; a NaN has code 0. */
void krein__quant_codes(const krein_quant *q, int64_t n, const float *x, uint8_t *codes);
/* What n codes stand for. */
void krein__quant_reals(const krein_quant *q, int64_t n, const uint8_t *codes, float *x);

/* A vector of n codes, packed; the same bytes on every machine:
 *     8 bits   a byte each
 *     4 bits   two a byte, the first in the low half
 *     2, 1     bit planes, the lowest first, of (n + 7) / 8 bytes each; code 8i + j is bit j of
 *              byte i
 * What is left over in the last byte is zero. */
int64_t krein__packed_bytes(int bits, int64_t n);
void krein__pack(int bits, int64_t n, const uint8_t *codes, uint8_t *packed);
void krein__unpack(int bits, int64_t n, const uint8_t *packed, uint8_t *codes);

/* The weights of a layer: a packed vector of `inputs` codes for each output, one behind the
 * other. */
typedef struct krein_codes {
    krein_quant quant;
    int64_t inputs, outputs;
    uint8_t *packed; /* krein__codes_bytes */
} krein_codes;

int64_t krein__codes_bytes(const krein_codes *w);
/* KREIN_EARG where sizes or quantiser cannot be; for what came from a file. */
krein_status krein__codes_check(krein_ctx *ctx, const krein_codes *w);
/* The codes of w (inputs x outputs, row-major with stride ld), on the range that w has. */
krein_status krein__codes_create(krein_ctx *ctx, int bits, int64_t inputs, int64_t outputs,
                                 const float *w, int64_t ld, krein_codes *out);
/* Codes that are there: inputs x outputs, one a byte. */
krein_status krein__codes_pack(krein_ctx *ctx, const krein_quant *q, int64_t inputs,
                               int64_t outputs, const uint8_t *codes, krein_codes *out);
/* What they stand for, inputs x outputs. */
krein_status krein__codes_reals(krein_ctx *ctx, const krein_codes *w, float *out);
void krein__codes_clear(krein_ctx *ctx, krein_codes *w);

#endif
