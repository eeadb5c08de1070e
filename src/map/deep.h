/* deep.h -- layers of waves in float or in a few bits: what a learner or a quantiser gives the map,
 * and what it reads. */
#ifndef KREIN_DEEP_H
#define KREIN_DEEP_H

#include "map/map.h"
#include "num/codes.h"

enum { KREIN_DEEP_LAYERS = 12, KREIN_DEEP_INPUT_BITS = 8, KREIN_DEEP_FLOAT = 32 };

typedef struct krein_deep_layer {
    int64_t in, F;          /* numbers that come in; frequencies: 2 F go out */
    float *W;               /* in x F, in turns; NULL where there are codes */
    krein_codes codes;      /* of the same */
    krein_product *product; /* of the codes, for this CPU */
} krein_deep_layer;

typedef struct krein_deep {
    int64_t layers;
    int bits; /* 8, 4, 2, 1; KREIN_DEEP_FLOAT */
    double mass;
    krein_deep_layer layer[KREIN_DEEP_LAYERS];
    float *unit;             /* d: encoded columns are multiplied by it first; NULL: by 1 */
    krein_quant input;       /* of these, KREIN_DEEP_INPUT_BITS */
    krein_wave_codes *table; /* of cosines and sines in codes */
} krein_deep;

bool krein__map_is_deep(const krein_map *map);
const krein_deep *krein__deep(const krein_map *map);
/* As its spec says. */
int64_t krein__deep_layers(const krein_map *map);
/* bits that are offered: 32, 8, 4, 2, 1. */
bool krein__deep_offers(int bits);
/* Frequencies, in place of those that the map has; its bits become these. Layer l has F[l] and the
 * matrix W[l] (in x F[l], in turns), in = d or 2 F[l - 1]. With bits below 32 they become codes:
 * rounded to the nearest, or those that are given (one a byte, in x F row-major; NULL: none) with
 * their quantiser. reach: inputs beyond +- reach are cut. */
typedef struct krein_deep_given {
    int64_t layers;
    const int64_t *F;
    const float *const *W;
    const uint8_t *const *codes; /* or NULL */
    const krein_quant *quant;    /* of the codes */
    int bits;
    double reach, mass;
    const float *unit; /* d, or NULL: see krein_deep; only with bits below 32 */
} krein_deep_given;
krein_status krein__deep_give(krein_map *map, const krein_deep_given *given);
/* The factor of cosines and sines. */
double krein__deep_factor(const krein_map *map);

#endif
