/* checkpoint.h -- the state of a training that can be interrupted, in a file.
 *
 * The file is an archive (file/archive.h) with
 *     job.names, job.values   what the training was asked for, and on which file
 *     encoding ...            what the first pass over the data found (only where the rows are read
 *                             again for every pass, and none are held out)
 *     kernel, map             what was chosen
 *     sums ...                what was accumulated, and which row comes next
 * as far as they are there. Every write replaces it whole. Whoever continues finds the same sums at
 * the same row, and so the same model, to the bit. Another job's file is refused and never
 * overwritten.
 */
#ifndef KREIN_CHECKPOINT_H
#define KREIN_CHECKPOINT_H

#include "model/model.h"
#include "solve/ridge.h"

typedef struct krein_checkpoint krein_checkpoint;

/* Sums over rows on their way. A learner that passes several times numbers the passes. */
typedef struct krein_sums {
    int64_t pass;       /* from 1; 0: there is nothing */
    double lambda, loo; /* what was chosen before the pass */
    int64_t folds;
    krein_place place; /* of the row that comes next */
    krein_held_out path;
} krein_sums;

/* Looks at the file, if there is one, and compares it with this job. seconds: between two writes;
 * 0: 30. */
krein_status krein__checkpoint_open(krein_ctx *ctx, const krein_train_options *o, krein_data *data,
                                    krein_checkpoint **out);
void krein__checkpoint_close(krein_checkpoint *c); /* NULL is fine; the file stays */

/* The encoding is there: takes it over, and tells the data. */
bool krein__checkpoint_has_encoding(const krein_checkpoint *c);
krein_status krein__checkpoint_recall(krein_checkpoint *c, krein_data *data, krein_encoding *e);
/* Kernel and map as they were chosen, or NULL. */
const char *krein__checkpoint_kernel(const krein_checkpoint *c);
const char *krein__checkpoint_map(const krein_checkpoint *c);

/* Writes what is known by now: the encoding of the data; the chosen kernel and map. */
krein_status krein__checkpoint_scanned(krein_checkpoint *c, krein_data *data,
                                       const krein_encoding *e, bool repeatable);
krein_status krein__checkpoint_chosen(krein_checkpoint *c, const krein_map *map);

/* c may be NULL in these. What there is of sums; pass 0: nothing. */
krein_sums krein__checkpoint_sums(const krein_checkpoint *c);
/* The sums themselves, into a ridge of the right size. */
krein_status krein__checkpoint_take(krein_checkpoint *c, krein_ridge *ridge);
/* Time to write. */
bool krein__checkpoint_due(const krein_checkpoint *c);
/* must: failing to write is an error; else it is said, and the work goes on. */
krein_status krein__checkpoint_keep(krein_checkpoint *c, const krein_sums *now, krein_ridge *ridge,
                                    bool must);
/* The message of a cancelled training: how to go on. */
krein_status krein__checkpoint_cancelled(const krein_checkpoint *c, krein_ctx *ctx);

#endif
