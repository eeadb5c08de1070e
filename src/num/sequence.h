/* sequence.h -- low-discrepancy points in the unit cube. */
#ifndef KREIN_SEQUENCE_H
#define KREIN_SEQUENCE_H

#include "base/rng.h"
#include "base/base.h"

typedef enum krein_sequence_kind { KREIN_HALTON = 0, KREIN_SOBOL = 1 } krein_sequence_kind;

enum { KREIN_SOBOL_DIMS = 16384 };

typedef struct krein_sequence {
    krein_sequence_kind kind;
    bool random;
    int64_t dims;
    uint32_t *prime;     /* Halton: dims */
    double *shift;       /* Halton: dims, added modulo 1 */
    uint32_t *direction; /* Sobol: dims x 32 */
    uint32_t *digits;    /* Sobol: dims, added digit by digit */
} krein_sequence;

/* random: drawn from g so that every point is uniform in the cube: Halton by a shift, Sobol by a
 * random linear scramble and a digital shift. Sobol has at most KREIN_SOBOL_DIMS dimensions. */
krein_status krein__sequence_begin(krein_ctx *ctx, krein_sequence_kind kind, int64_t dims,
                                   bool random, krein_rng g, krein_sequence *s);
void krein__sequence_end(krein_ctx *ctx, krein_sequence *s);
/* Coordinate j of point i, in (0, 1); i < 2^32 - 1. Without randomisation the first point of the
 * sequence, the origin, is left out. */
double krein__sequence_point(const krein_sequence *s, int64_t i, int64_t j);

#endif
