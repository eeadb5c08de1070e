/* codes.h -- products of rows of codes with the codes of a layer, for inference in a few bits.
 *
 * With w = c_w (codes + z_w) and s = c_s (codes + z_s) an inner product over K codes is
 *     w's = c_w c_s (Q + z_w sum s + z_s sum w + K z_w z_s),   Q = sum_j w_j s_j of the codes.
 * Q is a whole number and exact, on every CPU; so is what follows from it in whole numbers, the
 * codes of cosines and sines. Products and tables are read-only once made: any number of threads
 * may share one, each with scratch of its own. */
#ifndef KREIN_NUM_CODES_H
#define KREIN_NUM_CODES_H

#include "num/quant.h"

typedef struct krein_product krein_product;       /* weights, laid out for this CPU */
typedef struct krein_wave_codes krein_wave_codes; /* codes of cosines and sines */

typedef struct krein_product_plan {
    krein_quant rows; /* of the rows of codes that come in; the bits may differ from the weights' */
    double turns;     /* a result of 1 is so many turns: 1 / (2 pi) for radians; 0: no waves */
    const double *phase; /* turns that are added, one an output; NULL: none */
    /* NULL: the best code for this CPU. "avx512", "avxvnni", "avx2", "portable": that or, where it
     * has nothing for these bits, what comes behind it; for tests and benchmarks. The environment
     * variable KREIN_TEST_CODES stands in for NULL. */
    const char *path;
} krein_product_plan;

/* The most inputs of a layer for which Q fits into 32 bits; bits: the larger of the two. */
int64_t krein__product_inputs(int bits);
/* KREIN_EARG beyond that, or where the CPU does not have the path. */
krein_status krein__product_create(krein_ctx *ctx, const krein_codes *w,
                                   const krein_product_plan *plan, krein_product **out);
void krein__product_destroy(krein_ctx *ctx, krein_product *p);
/* An upper bound of its bytes on this CPU, those for making it included; and of the scratch. */
double krein__product_bytes(int bits, int64_t inputs, int64_t outputs, double *scratch);
/* Bytes that one thread needs, whatever the number of rows. */
int64_t krein__product_scratch(const krein_product *p);
/* What makes phases of sums: sum and the row's sum of codes times these, in 2^-64 turns, and what
 * is added to each output, in 2^-32 turns. Of a product with turns; column is its own. */
typedef struct krein_phases {
    uint64_t turn, row;
    const uint32_t *column;
} krein_phases;
krein_phases krein__product_phases(const krein_product *p);
/* The path in use, as in the plan. */
const char *krein__product_path(const krein_product *p);

/* n rows of codes, one a byte, with stride ld; results without gaps, n x outputs. */
void krein__product_sums(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                         void *scratch, uint32_t *sums);
void krein__product_reals(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                          void *scratch, float *out);
/* n x 2 outputs: the codes of cosine and sine of each output, a pair behind the other. */
void krein__product_waves(const krein_product *p, const krein_wave_codes *waves, int64_t n,
                          const uint8_t *codes, int64_t ld, void *scratch, uint8_t *pairs);

/* The codes of cosines and sines, krein__quant(bits, -1, 1). A phase is rounded to u / 65536 of a
 * turn, and u has the codes of cos and sin at u, exactly rounded. The u of a product is within
 * 2^-17 + 2^-30 turns of the phase in real numbers, while none of the terms of its sum is beyond
 * 2^20 turns. So a code is that of the exact cosine wherever this is 4.8e-5 or more away from the
 * middle between two codes, and else one of these two. */
krein_status krein__wave_codes_create(krein_ctx *ctx, int bits, krein_wave_codes **out);
void krein__wave_codes_destroy(krein_ctx *ctx, krein_wave_codes *w);
krein_quant krein__wave_codes_quant(const krein_wave_codes *w);
/* Pairs of codes of n phases in turns, from the same table: what a float path uses to agree with
 * krein__product_waves. One that is not finite counts as 0. */
void krein__wave_codes_of(const krein_wave_codes *w, int64_t n, const float *turns, uint8_t *pairs);

#endif
