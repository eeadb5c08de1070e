/* sums.h -- sums over rows on their way, as a part of a checkpoint: of ridge regression on
 * features. */
#ifndef KREIN_SUMS_H
#define KREIN_SUMS_H

#include "learn/checkpoint.h"
#include "solve/ridge.h"

#define KREIN_SUMS "sums" /* the part's name */

/* A learner that passes several times numbers the passes. */
typedef struct krein_sums {
    int64_t pass;       /* from 1; 0: there is nothing */
    double lambda, loo; /* what was chosen before the pass */
    int64_t folds;
    krein_place place; /* of the row that comes next */
    krein_held_out path;
} krein_sums;

/* What there is of them, of data with so many rows; pass 0: nothing. c may be NULL. */
krein_status krein__sums_recall(krein_checkpoint *c, int64_t rows, krein_sums *out);
/* The sums themselves, into a ridge of the right size. */
krein_status krein__sums_take(krein_checkpoint *c, krein_sums *sums, krein_ridge *ridge);
/* See krein__checkpoint_keep. */
krein_status krein__sums_keep(krein_checkpoint *c, krein_sums *now, krein_ridge *ridge, bool must);

#endif
