/* tile.h -- a tile of rows times a matrix of weights, dense or CSR, for maps whose features begin
 * with one. */
#ifndef KREIN_MAP_TILE_H
#define KREIN_MAP_TILE_H

#include "map/map.h"

/* Dense rows as a product takes them: a whole tile, contiguous with stride `in`, zeros behind the
 * last row, so that the bits of a row do not depend on how many came with it. in = d + 1 puts a 1
 * behind each row. `to` has room for KREIN_TILE x in; NULL for CSR rows. */
const float *krein__tile_pad(const krein_rows *rows, int64_t in, float *to);
/* out = x W for m columns of W (in rows of stride ldw), x from krein__tile_pad. All KREIN_TILE rows
 * of out are written, of CSR ones rows->n. */
void krein__tile_times(const krein_rows *rows, const float *x, int64_t in, const float *W,
                       int64_t ldw, int64_t m, float *out, int64_t ld);

#endif
