/* frequencies.c -- the frequencies of a model's features, and those that they were trained from:
 * these follow from the kernel, the map's spec and the seed, and are drawn again. */
#include "model/model.h"

#include "base/sized.h"
#include "map/waves.h"

#include <math.h>
#include <string.h>

static krein_status radians(krein_ctx *ctx, const krein_map *map, int64_t *n, float **out) {
    krein_status st = KREIN_OK;
    krein_waves waves = {0};
    TRY(krein__map_waves(ctx, map, &waves));
    *n = waves.F;
    NEW(*out, waves.F * waves.d);
    for (int64_t i = 0; i < waves.F * waves.d; i++)
        (*out)[i] = (float)(2 * M_PI * (double)waves.turns[i]);
done:
    krein__waves_clear(ctx, &waves);
    return st;
}

/* What the map was before a learner trained it; NULL: it cannot be known. */
static krein_status drawn(krein_ctx *ctx, const krein_map *map, int64_t *n, float **out) {
    krein_status st = KREIN_OK;
    krein_map *start = NULL, view = krein__map_on(ctx, map);
    int traits = krein__map_traits(map);
    char *spec = NULL;
    if (!(traits & KREIN_MAP_TRAINED) || traits & KREIN_MAP_SEEDLESS) return KREIN_OK;
    if (!(spec = krein__map_text(&view))) return ctx->status;
    TRY(krein__map_create(ctx, spec, map->kernel, 0, map->seed, &start));
    TRY(krein__map_fit_silently(start, map->d, map->sparse, NULL, 0));
    TRY(radians(ctx, start, n, out));
done:
    krein__free(ctx, spec);
    krein__map_destroy(start);
    return st;
}

krein_status krein_model_frequencies(krein_ctx *ctx, const krein_model *model,
                                     krein_frequencies *report) {
    krein_status st = KREIN_OK;
    krein_frequencies own = KREIN_SIZED(krein_frequencies);
    const krein_map *map = model->map;
    int64_t n = 0;
    TRY(krein__report_check(ctx, report, "krein_frequencies"));
    if (!krein__map_has_waves(map)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "the model has no frequencies: the features of the map %s are not cosines "
                         "of the row; models of the learner askl, and of maps such as rff and orf, "
                         "have some",
                         map->cls->cls.name);
        goto done;
    }
    own.d = map->d;
    TRY(radians(ctx, map, &own.n, &own.w));
    TRY(drawn(ctx, map, &n, &own.start));
    size_t bytes = (size_t)(own.n * own.d) * sizeof *own.w;
    if (own.start && (n != own.n || memcmp(own.start, own.w, bytes) == 0)) {
        krein__free(ctx, own.start);
        own.start = NULL;
    }
done:
    krein__report_finish(st, report, &own);
    krein_frequencies_clear(ctx, &own);
    return st;
}

void krein_frequencies_clear(krein_ctx *ctx, krein_frequencies *frequencies) {
    krein_frequencies own = KREIN_SIZED(krein_frequencies);
    if (!frequencies) return;
    krein__report_take(&own, frequencies);
    krein__free(ctx, own.w);
    krein__free(ctx, own.start);
}
