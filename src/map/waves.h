/* waves.h -- maps whose raw features are cosines and sines of linear functions of the row, written
 * out: for programs that are made of a model (export, integers). */
#ifndef KREIN_WAVES_H
#define KREIN_WAVES_H

#include "map/map.h"

/* Wave f is a_f cos(2 pi t) and a_f sin(2 pi t) with t = turns_f'x + phase_f. Raw feature i is the
 * sum of the cosines with cosine[f] = i and the sines with sine[f] = i. */
struct krein_waves {
    int64_t d, F;
    float *turns;           /* F x d */
    float *phase;           /* F */
    float *factor;          /* F: a */
    int64_t *cosine, *sine; /* F; -1: it belongs to none */
    double unit;            /* > 0: features are then brought to this squared length */
};

/* Of a fitted map; KREIN_ESPEC where it is not of the kind. */
krein_status krein__map_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out);
bool krein__map_has_waves(const krein_map *map);
void krein__waves_clear(krein_ctx *ctx, krein_waves *w);
/* Room for F waves of d columns, no phases, for the classes' own functions. */
krein_status krein__waves_begin(krein_ctx *ctx, int64_t d, int64_t F, krein_waves *out);

#endif
