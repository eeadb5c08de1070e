/* channels.h -- passes over pixels with c channels each, channels beside each other. */
#ifndef KREIN_CHANNELS_H
#define KREIN_CHANNELS_H

#include "base/base.h"

enum { KREIN_CHANNELS_INPUTS = 4 };

/* one[j] += sum of y and two[j] += sum of y (x - m[j]) over the pixels of channel j; y NULL: x -
 * m[j] itself. In float32 over a few pixels, in float64 above. */
void krein__channels_sums(int64_t pixels, int64_t c, const float *y, const float *x, const float *m,
                          double *one, double *two);
/* out = a_1 x_1 + ... + b in every channel: a has `inputs` rows of c numbers, b c. out is none of
 * the x. */
void krein__channels_mix(int64_t pixels, int64_t c, int inputs, const float *const *x,
                         const float *a, const float *b, float *out);
/* What is above 0, and 0 in place of the rest; a NaN stays. */
void krein__above(int64_t n, const float *x, float *out);
/* x where `at` is above 0, else 0. */
void krein__where_above(int64_t n, const float *at, const float *x, float *out);

#endif
