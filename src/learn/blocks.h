/* blocks.h -- the features z of a stream's rows, a compute block at a time, for learners that
 * pass over them. */
#ifndef KREIN_BLOCKS_H
#define KREIN_BLOCKS_H

#include "map/map.h"

/* Where the map has a mix, it is multiplied into every block, or left out ("fused": what is
 * accumulated from raw blocks is multiplied at the end; see map.h).
 *
 * offset is the mean raw feature of the first block: it is taken off every row, so that float32
 * products keep the digits that a large mean would cost. With w the weights of raw features,
 * w'(r - offset) = w'r - w'offset: the second term belongs into the intercept. */
typedef struct krein_blocks {
    const krein_map *map;
    bool fused;
    int64_t rows, width; /* of a block */
    float *offset;       /* R */
    float *raw, *scratch, *mixed, *mix32;
} krein_blocks;

/* Reads the first block of the stream. */
krein_status krein__blocks_begin(const krein_map *map, krein_stream *rows, bool fused,
                                 krein_blocks *out);
/* The same with the offset from some rows (at most a block of them). */
krein_status krein__blocks_begin_at(const krein_map *map, const krein_rows *first, bool fused,
                                    krein_blocks *out);
/* What is missing in every row of features: A' offset, or offset (width). */
void krein__blocks_offset(const krein_blocks *b, double *out);
/* z of at most `rows` rows, x->n x width, until the next call: A'(r - offset), or r - offset where
 * there is no mix or it is left out. */
float *krein__blocks_features(krein_blocks *b, const krein_rows *x);
void krein__blocks_end(krein_blocks *b);
double krein__blocks_bytes(const krein_map *map, int64_t n);

#endif
