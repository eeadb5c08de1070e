/* trim.h -- the scale of columns with outliers. */
#ifndef KREIN_TRIM_H
#define KREIN_TRIM_H

#include "encode/encoding.h"

/* Scaling of a column before it was taken away; factor 0: it was not. */
typedef struct krein_unscaled {
    float centre, factor;
} krein_unscaled;
/* Takes the scaling of columns away whose outliers are so far that single precision does not tell
 * the other values apart. *out: what it was, for each of the d columns; NULL: all keep theirs. x:
 * rows of a sample, which must then be encoded again. */
krein_status krein__encoding_unscale(krein_ctx *ctx, krein_encoding *e, float clip,
                                     const krein_matrix *x, krein_unscaled **out);
/* Sets the clip of a dense encoding with scale=standard. Columns whose deviation comes from a few
 * outliers get the centre and the factor of the rest. x: rows of a sample, encoded without a clip;
 * they become what the encoding makes of them now. was: from krein__encoding_unscale, or NULL. */
krein_status krein__encoding_trim(krein_ctx *ctx, krein_encoding *e, float clip,
                                  const krein_unscaled *was, krein_matrix *x);
void krein__sort_column(int64_t n, float *v);
/* Centre and scale of a column of deviation `own` without its outliers; false: it has none to
 * speak of. v is sorted. */
bool krein__outliers(int64_t n, const float *v, double clip, double own, double *mean, double *s);

#endif
