/* tensorsketch.h -- the state of the map tensorsketch, for tests that give h and s. */
#ifndef KREIN_TENSORSKETCH_H
#define KREIN_TENSORSKETCH_H

#include "map/dot_series.h"

/* Features first .. first + length - 1: sketches row .. row + degree - 1 convolved, times scale. */
typedef struct krein_sketch_part {
    int64_t degree, length, first, row;
    bool exact; /* the constant, or the row itself */
    float scale;
} krein_sketch_part;

typedef struct krein_sketch {
    krein_dot kernel; /* first, for dot_series.c */
    float extra;      /* one more entry of every row, or 0: none */
    int64_t width;    /* entries of a row with it */
    int64_t parts;
    krein_sketch_part *part;
    int32_t *hash; /* sketches x width */
    float *sign;
    float *roots;
    int64_t length; /* of the longest part */
} krein_sketch;

#endif
