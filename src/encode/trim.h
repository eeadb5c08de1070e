/* trim.h -- the scale of columns with outliers. */
#ifndef KREIN_TRIM_H
#define KREIN_TRIM_H

#include "encode/encoding.h"

/* Sets the clip of a dense encoding with scale=standard. Columns whose deviation comes from a few
 * outliers get the centre and the factor of the rest. x: rows of a sample, encoded without a clip;
 * they become what the encoding makes of them now. */
krein_status krein__encoding_trim(krein_ctx *ctx, krein_encoding *e, float clip, krein_matrix *x);

#endif
