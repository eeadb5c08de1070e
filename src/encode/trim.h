/* trim.h -- the scale of columns with outliers. */
#ifndef KREIN_TRIM_H
#define KREIN_TRIM_H

#include "encode/encoding.h"

/* Sets the clip of a dense encoding with scale=standard. Columns whose deviation comes from a few
 * outliers get the centre and the factor of the rest. x: rows of a sample, encoded without a clip;
 * they become what the encoding makes of them now. */
krein_status krein__encoding_trim(krein_ctx *ctx, krein_encoding *e, float clip, krein_matrix *x);
void krein__sort_column(int64_t n, float *v);
/* Centre and scale of a column of mean 0 and deviation 1 without its outliers; false: it has none
 * to speak of. v is sorted. */
bool krein__outliers(int64_t n, const float *v, double clip, double *mean, double *s);

#endif
