/* features.c -- leave-one-out of ridge regression on random features of a sample
 *
 * Random features of few dimensions prefer a wider kernel than the kernel itself does, so where the
 * model will use them, candidates are judged by them: the map with the model's seed and at most
 * FEATURES_MAX features, accumulated over the sample, and exact leave-one-out over a path of
 * lambdas (solve/ridge.c). For maps that do not look at the data. */
#include "select/select.h"

#include "num/blas.h"

typedef struct work {
    float *raw, *scratch;
    krein_ridge ridge;
    krein_system system;
    krein_scores *scores;
} work;

static krein_targets part(const krein_sample *s, int64_t from, int64_t n) {
    return (krein_targets){n, s->k, s->y + from * s->k, s->weight ? s->weight + from : NULL,
                           s->class ? s->class + from : NULL};
}

static krein_status score(krein_ctx *ctx, krein_map *map, const krein_sample *s, work *w,
                          krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t rows = krein__block_rows(s->x.d);
    krein_rows x = krein__matrix_rows(&s->x);
    krein_tally tally = {0};
    NEW(w->raw, rows * map->R);
    NEW(w->scratch, krein__map_scratch(map));
    TRY(krein__ridge_begin(ctx, map->R, s->k, rows, &w->ridge));
    for (int64_t i = 0; i < s->n; i += rows) {
        krein_rows block = krein__rows_slice(&x, i, krein__min(rows, s->n - i));
        krein_targets t = part(s, i, block.n);
        krein__map_raw(map, &block, NULL, w->raw, w->scratch);
        krein__ridge_add(&w->ridge, block.n, w->raw, t.y, t.weight);
    }
    TRY(krein__ridge_system(&w->ridge, NULL, map->R, map->R, &w->system));
    TRY(krein__scores_begin(ctx, &w->system, true, p, &w->scores));
    for (int64_t i = 0; i < s->n; i += rows) {
        krein_rows block = krein__rows_slice(&x, i, krein__min(rows, s->n - i));
        krein_targets t = part(s, i, block.n);
        krein__map_raw(map, &block, NULL, w->raw, w->scratch);
        TRY(krein__scores_add(w->scores, w->raw, &t, &tally));
    }
    krein__tally_end(&tally, s->class != NULL, p);
done:
    return st;
}

krein_status krein__score_features(krein_ctx *ctx, const krein_kernel *kernel, const char *map_spec,
                                   const krein_sample *s, krein_path *p) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    work w = {0};
    TRY(krein__map_create(ctx, map_spec, kernel, 0, s->seed, &map));
    map->D = krein__min(map->D, KREIN_FEATURES_MAX);
    TRY(krein__map_fit(map, s->x.d, s->x.ptr != NULL, NULL, 0));
    TRY(score(ctx, map, s, &w, p));
done:
    krein__scores_end(w.scores);
    krein__ridge_clear(&w.ridge);
    krein__system_clear(ctx, &w.system);
    krein__free(ctx, w.raw);
    krein__free(ctx, w.scratch);
    krein__map_destroy(map);
    return st;
}

double krein__score_features_bytes(int64_t d, int64_t k) {
    double D = KREIN_FEATURES_MAX, rows = (double)krein__block_rows(d), K = (double)k;
    return 8 * D * D * 6 + 4 * D * D + rows * D * 4 + 4 * D * (double)d * 3 + 400 * D * (K + 1) +
           4 * 256 * (3 * D + 150 * K) + 4.0 * KREIN_TILE * (D + (double)d + 1024) + (1 << 22);
}
