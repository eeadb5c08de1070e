/* mapped.h -- features of a map, and the map through a file. */
#ifndef KREIN_TEST_MAPPED_H
#define KREIN_TEST_MAPPED_H

#include "parsed.h"

#include "map/map.h"

static inline float *features(const krein_map *map, const krein_rows *x) {
    float *z = test_new(x->n * map->D, sizeof *z);
    CHECK(krein__map_apply(map, x, z) == KREIN_OK);
    return z;
}

/* sum_i s_i z_i z_i' of the features of two rows. */
static inline double inner(const krein_map *map, const float *a, const float *b) {
    double sum = 0;
    for (int64_t f = 0; f < map->D; f++)
        sum += (map->sign ? map->sign[f] : 1) * (double)a[f] * (double)b[f];
    return sum;
}

/* Saves and loads a map; *out is NULL on failure. */
static inline krein_status through_file(krein_ctx *on, krein_map *map, const char *path,
                                        krein_map **out) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL, *b = NULL;
    *out = NULL;
    TRY(krein__archive_create(on, &a));
    TRY(krein__map_io(on, a, map->d, map->sparse, &map));
    TRY(krein__archive_save(a, path));
    TRY(krein__archive_load(on, path, &b));
    TRY(krein__map_io(on, b, map->d, map->sparse, out));
done:
    krein__archive_destroy(a);
    krein__archive_destroy(b);
    return st;
}

#endif
