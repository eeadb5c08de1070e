/* coded.h -- landmarks in a few bits. */
#ifndef KREIN_CODED_H
#define KREIN_CODED_H

#include "map/landmarks.h"
#include "num/codes.h"

typedef struct krein_coded {
    float *unit;       /* d: encoded columns are multiplied by it, landmarks divided; 0: left out */
    krein_quant input; /* of these columns, 8 bits on [-1, 1] */
    krein_codes codes; /* of the landmarks, d inputs and R outputs */
    krein_product *product;
    krein_quant value; /* of kernel values, 8 bits */
} krein_coded;

/* What the landmarks are made of. */
typedef struct krein_coded_given {
    int bits;
    int64_t m;
    const float *unit;        /* d */
    const float *rows;        /* d x m, divided by unit: rounded to the nearest; or */
    const uint8_t *codes;     /* d x m, one a byte, */
    const krein_quant *quant; /* of these */
    const krein_rows *sample; /* kernel values at these rows give their range; NULL: at the
                                 landmarks */
} krein_coded_given;
/* Landmarks of a map that has none yet: its state is a krein_landmarks with the rows that the codes
 * stand for. KREIN_EDATA where the kernel is not computed from inner products. */
krein_status krein__coded_give(krein_map *map, const krein_coded_given *given);
const krein_coded *krein__coded(const krein_map *map);
krein_status krein__coded_check(krein_ctx *ctx, const krein_kernel *kernel);
krein_status krein__coded_io(krein_map *map, krein_archive *a, int bits);
void krein__coded_clear(krein_ctx *ctx, krein_coded *c);
/* As the class has them. */
krein_map_codes krein__coded_codes(const krein_map *map);
const uint8_t *krein__coded_tile(const krein_map *map, const krein_rows *x, float *scratch);
/* The raw features that the codes stand for. */
void krein__coded_reals(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                        float *scratch);
/* Bytes beside those of landmarks in float. */
double krein__coded_bytes(const krein_map *map, int64_t m);

#endif
