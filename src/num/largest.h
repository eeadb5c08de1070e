/* largest.h -- the largest number of square windows, channel by channel. */
#ifndef KREIN_LARGEST_H
#define KREIN_LARGEST_H

#include "base/base.h"

/* Windows of size x size pixels beside each other, with c channels; a line of pixels below is
 * `line` floats further. */
typedef struct krein_squares {
    int64_t count, size, c, line;
} krein_squares;

/* out: count x c. */
void krein__largest(const krein_squares *w, const float *x, float *out);
/* With the output that they have: to, which is like x: `from` (count x c) at the first of the
 * largest numbers, 0 elsewhere. */
void krein__largest_spread(const krein_squares *w, const float *x, float *out, const float *from,
                           float *to);
/* to (count x c): what `from`, which is like x, has there. */
void krein__largest_collect(const krein_squares *w, const float *x, float *out, const float *from,
                            float *to);

#endif
