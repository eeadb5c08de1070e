/* generate.h -- synthetic data sets. Row i is a pure function of (seed, i), so any part can be
 * made on any thread and streams of any length fit in constant memory. */
#ifndef KREIN_GENERATE_H
#define KREIN_GENERATE_H

#include "base/spec.h"

typedef struct krein_generator_class {
    krein_class cls;
    bool classification;
    bool labels;          /* *y is a set: the sum of 2^c over its labels c, of at most 52 */
    int64_t d;            /* default number of inputs */
    int64_t d_min, d_max; /* allowed */
    double noise;         /* default */
    /* Row i: d inputs to x, target (number or class code) to *y. */
    void (*row)(uint64_t seed, int64_t i, int64_t d, double noise, const krein_values *options,
                float *x, double *y);
} krein_generator_class;

extern const krein_class *const krein__generators[];
extern const int64_t krein__generator_count;

#endif
