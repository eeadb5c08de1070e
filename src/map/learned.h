/* learned.h -- the map whose frequencies are trained: what a learner reads from it and gives back
 * (maps of the trait KREIN_MAP_TRAINED). */
#ifndef KREIN_LEARNED_H
#define KREIN_LEARNED_H

#include "map/map.h"

typedef struct krein_learned {
    int64_t F;       /* frequencies of a set */
    bool sines;      /* cosines and sines, D = 2 F; else cosines with phases, D = F */
    double mass;     /* the features have it as a factor sqrt(mass): k(0) of the kernel */
    float *W;        /* d x F in turns; with phases (d + 1) x F, the last row has them */
    float *V;        /* the other term's, with the same phases; NULL: W again, stationary */
    double *mixture; /* numbers of the spectral mixture that W was drawn from, where a learner found
                        one (kernel/spectral_mixture.h); else NULL */
} krein_learned;

/* Of a fitted map. */
const krein_learned *krein__learned(const krein_map *map);
/* The frequencies in radians: d x F each, second may be NULL; phases in turns (F), may be NULL. */
void krein__learned_get(const krein_map *map, float *first, float *second, float *phase);
/* Other frequencies for the fitted map; second is not looked at where the spectrum is stationary.
 * They are no draws from a mixture. */
void krein__learned_set(krein_map *map, const float *first, const float *second);
/* Draws from the spectral mixture of these numbers, which are copied; the spectrum is stationary.
 */
krein_status krein__learned_mix(krein_map *map, const double *mixture);

#endif
