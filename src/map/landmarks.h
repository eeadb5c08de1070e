/* landmarks.h -- maps whose raw features are kernel values at some of the training rows. */
#ifndef KREIN_LANDMARKS_H
#define KREIN_LANDMARKS_H

#include "map/map.h"

typedef struct krein_landmarks {
    krein_matrix rows;
    krein_gram_rows gram;
    struct krein_coded *coded; /* the same in a few bits (coded.h); NULL: in float */
} krein_landmarks;

/* Copies the rows with the given numbers (ascending) and prepares kernel values against them. */
krein_status krein__landmarks_fit(krein_map *map, krein_stream *rows, const int64_t *index,
                                  int64_t m, bool wide);
/* The same with rows that are already there: they are taken over, and rows becomes empty. */
krein_status krein__landmarks_hold(krein_map *map, krein_matrix *rows, bool wide);
void krein__landmarks_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                           float *scratch);
void krein__landmarks_tile64(const krein_map *map, const krein_rows *x, double *out, int64_t ld,
                             double *scratch);
krein_status krein__landmarks_io(krein_map *map, krein_archive *a, bool wide);
bool krein__landmarks_array(const krein_map *map, int64_t i, krein_named_array *out);
/* Kernel values of the landmarks (m x m), and the mean of their squares; says where these are too
 * large for learners. */
krein_status krein__landmarks_values(const krein_map *map, double *k, double *square);
void krein__landmarks_clear(krein_map *map);
void krein__landmarks_cost(const krein_map *map, int64_t m, krein_cost *out);

#endif
