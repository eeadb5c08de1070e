/* finish.h -- the last steps of encoding, after logarithms and scaling: unit length, clip, metric,
 * matrix. They are apart from the others for those who change single columns of a row. */
#ifndef KREIN_FINISH_H
#define KREIN_FINISH_H

#include "encode/encoding.h"

/* The encoding without these steps. It borrows everything: it is not cleared. */
krein_encoding krein__encoding_unfinished(const krein_encoding *e);
/* All of them but the matrix, on a dense row; clips: krein__encoding_clips(e). */
void krein__finish_row(const krein_encoding *e, bool clips, float *x);
/* n dense rows (stride d), with room for whole tiles, times the matrix. tile: threads x KREIN_TILE
 * x d floats. Tiles are filled up with zeros: a row's sums do not depend on how many rows came with
 * it. */
void krein__finish_matrix(krein_ctx *ctx, const krein_encoding *e, int64_t n, float *x,
                          float *tile);

#endif
