/* ranks.h -- scores of the rows with and without a class or label, and how well they keep the two
 * apart. */
#ifndef KREIN_RANKS_H
#define KREIN_RANKS_H

#include "model/model.h"

/* Scores of one side, as many as come. */
typedef struct krein_ranks {
    krein_row_score *at;
    int64_t n, room;
} krein_ranks;

krein_status krein__ranks_add(krein_ctx *ctx, krein_ranks *r, double score, double weight);
/* Those of all processes that share the rows. */
krein_status krein__ranks_join(krein_stream *rows, krein_ranks *r);
/* The probability that a row of the second side has a larger score than one of the first, equal
 * scores counting a half, over all pairs; NaN: a side has no row. Sorts both. */
double krein__ranks_area(krein_ranks *first, krein_ranks *second);
void krein__ranks_clear(krein_ctx *ctx, krein_ranks *r);

#endif
