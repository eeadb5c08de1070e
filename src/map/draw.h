/* draw.h -- random matrices in pieces, so that a fit that takes long can be cancelled. */
#ifndef KREIN_MAP_DRAW_H
#define KREIN_MAP_DRAW_H

#include "map/map.h"

enum { KREIN_DRAW_CELLS = 4194304 }; /* numbers between two polls: some tenths of a second */

/* Rows of d numbers between two polls. */
int64_t krein__draw_rows(int64_t d);
/* u (n x d): normals at rows first .. first + n - 1 of the stream. */
krein_status krein__normal_rows(krein_ctx *ctx, krein_rng g, int64_t first, int64_t n, int64_t d,
                                double *u);

#endif
