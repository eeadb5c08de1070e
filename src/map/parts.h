/* parts.h -- a map made of other maps side by side:
 *     k = sum_p c_p k_p,   z = (sqrt|c_p| z_p)_p,   with the sign of c_p on the signature of part p
 * If each part is unbiased for its k_p, so is the whole. The raw features stand side by side too;
 * where a part has a mix, that of the whole is block-diagonal. */
#ifndef KREIN_PARTS_H
#define KREIN_PARTS_H

#include "map/map.h"

enum { KREIN_PARTS_MAX = 512 };

typedef struct krein_part {
    krein_map *map;
    double coefficient;
    int64_t first;   /* its first raw feature, once fitted */
    int64_t feature; /* its first feature */
} krein_part;

typedef struct krein_parts {
    int64_t n;
    krein_part part[KREIN_PARTS_MAX];
} krein_parts;

/* Adds the parts of a map that has kernel, d, D and seed, none of them fitted. A map that has a
 * krein_parts as its state before it is fitted has these, and is not asked. */
typedef krein_status (*krein_parts_fn)(const krein_map *map, krein_parts *out);

/* One part more: spec with D features (at least 1) and a seed of its own. open: with the D of the
 * spec, or none yet. */
krein_status krein__parts_add(const krein_map *map, const char *spec, const krein_kernel *kernel,
                              double coefficient, int64_t D, krein_parts *out);
krein_status krein__parts_add_open(const krein_map *map, const char *spec,
                                   const krein_kernel *kernel, double coefficient,
                                   krein_parts *out);
int krein__parts_traits(const krein_parts *s); /* DATA, MIX, LABELS: those that some part has */
int64_t krein__parts_features(const krein_map *map, int64_t n, krein_parts_fn plan);
void krein__parts_cost(const krein_map *map, int64_t n, krein_parts_fn plan, krein_cost *out);
krein_status krein__parts_fit(krein_map *map, krein_stream *rows, int64_t n, krein_parts_fn plan);
void krein__parts_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                       float *scratch);
krein_status krein__parts_io(krein_map *map, krein_archive *a);
void krein__parts_clear(krein_map *map);
krein_status krein__parts_remix(krein_map *map);
bool krein__parts_array(const krein_map *map, int64_t i, krein_named_array *out);
bool krein__parts_fact(const krein_map *map, int64_t i, krein_fact *out);

#endif
