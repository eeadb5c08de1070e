/* waves.c -- frequencies, phases and factors of a map's features, one wave behind the other. */
#include "map/waves.h"

#include "map/fourier.h"

#include <string.h>

void krein__waves_clear(krein_ctx *ctx, krein_waves *w) {
    krein__free(ctx, w->turns);
    krein__free(ctx, w->phase);
    krein__free(ctx, w->factor);
    krein__free(ctx, w->cosine);
    krein__free(ctx, w->sine);
    *w = (krein_waves){0};
}

krein_status krein__waves_begin(krein_ctx *ctx, int64_t d, int64_t F, krein_waves *out) {
    krein_status st = KREIN_OK;
    *out = (krein_waves){.d = d, .F = F};
    NEW(out->turns, F * d);
    ZNEW(out->phase, F);
    NEW(out->factor, F);
    NEW(out->cosine, F);
    NEW(out->sine, F);
done:
    if (st != KREIN_OK) krein__waves_clear(ctx, out);
    return st;
}

krein_status krein__fourier_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out) {
    krein_status st = KREIN_OK;
    const krein_fourier *s = map->state;
    int64_t d = map->d, F = s->F;
    TRY(krein__waves_begin(ctx, d, F, out));
    out->unit = s->unit;
    for (int64_t t = 0; t < s->nterm; t++)
        for (int64_t f = s->first[t]; f < s->first[t + 1]; f++) {
            for (int64_t j = 0; j < d; j++) out->turns[f * d + j] = s->W[j * F + f];
            if (s->phase) out->phase[f] = s->W[d * F + f];
            out->factor[f] = s->scale[t] * (s->amp ? s->amp[f] : 1);
            out->cosine[f] = s->phase ? f : 2 * f;
            out->sine[f] = s->phase ? -1 : 2 * f + 1;
        }
done:
    return st;
}

bool krein__map_has_waves(const krein_map *map) { return map->cls->waves != NULL; }

krein_status krein__map_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out) {
    *out = (krein_waves){0};
    if (map->cls->waves) return map->cls->waves(ctx, map, out);
    return krein__fail(ctx, KREIN_ESPEC, "the features of %s are not cosines of the row",
                       map->cls->cls.name);
}
