/* checkpoint.h -- the state of a training that can be interrupted, in a file.
 *
 * The file is an archive (file/archive.h) with
 *     job.names, job.values   what the training was asked for, and on which rows
 *     encoding ...            what the first pass over the data found (only where the rows are read
 *                             again for every pass, and none are held out)
 *     kernel, map ...         what was chosen, with the scaling of the encoding where that is not
 *                             there
 *     parts                   what learners keep: sums over rows (sums.h), a net on its way
 *                             (windows.h), each part by a function of its own
 * as far as they are there. Every write replaces it whole. Whoever continues finds the same state,
 * and so the same model, to the bit. Another job's file is refused and never overwritten.
 */
#ifndef KREIN_CHECKPOINT_H
#define KREIN_CHECKPOINT_H

#include "model/model.h"

typedef struct krein_checkpoint krein_checkpoint;

/* Looks at the file, if there is one, and compares it with this job. seconds: between two writes;
 * 0: 30. */
krein_status krein__checkpoint_open(krein_ctx *ctx, const krein_train_options *o, krein_data *data,
                                    krein_checkpoint **out);
void krein__checkpoint_close(krein_checkpoint *c); /* NULL is fine; the file stays */

/* ---- before the learner ------------------------------------------------- */

/* The encoding is there: takes it over, and tells the data. */
bool krein__checkpoint_has_encoding(const krein_checkpoint *c);
krein_status krein__checkpoint_recall(krein_checkpoint *c, krein_data *data, krein_encoding *e);
/* Writes the encoding of the data. */
krein_status krein__checkpoint_scanned(krein_checkpoint *c, krein_data *data,
                                       const krein_encoding *e, bool repeatable);

/* Kernel and map as they were chosen, or NULL. */
const char *krein__checkpoint_kernel(const krein_checkpoint *c);
const char *krein__checkpoint_map(const krein_checkpoint *c);
/* What was chosen with them. */
typedef struct krein_choice {
    krein_encoding *e;   /* whose scaling it is */
    double lambda_start; /* see krein_job */
    krein_tries tries;   /* for the report and the model */
} krein_choice;
/* Reads it, once kernel and map are known to be there: the scaling into *out->e, which has that of
 * the data; what was tried is the caller's. */
krein_status krein__checkpoint_chose(krein_checkpoint *c, krein_choice *out);
/* Writes it, if it is new. What it points to lives until the last write. */
krein_status krein__checkpoint_chosen(krein_checkpoint *c, const krein_map *map,
                                      const krein_choice *choice);

/* ---- learners; c may be NULL in these ----------------------------------- */

/* A part of the state: named entries, written and read by one function. What does not fit together
 * is KREIN_EMODEL. */
typedef struct krein_part_kept {
    const char *name;
    krein_status (*io)(krein_archive *a, krein_ctx *ctx, void *state);
    void *state;
} krein_part_kept;
/* The file has a part of that name. */
bool krein__checkpoint_has(const krein_checkpoint *c, const char *name);
/* Reads it. */
krein_status krein__checkpoint_take(krein_checkpoint *c, const krein_part_kept *part);
/* Every write has it from now on, until it is dropped. Replaces one of the same name. */
void krein__checkpoint_add(krein_checkpoint *c, const krein_part_kept *part);
void krein__checkpoint_drop(krein_checkpoint *c, const char *name);
/* Time to write. */
bool krein__checkpoint_due(const krein_checkpoint *c);
/* Writes all parts. done: what has been done by now, as "1200 rows". must: failing to write is an
 * error; else it is said, and the work goes on. */
krein_status krein__checkpoint_keep(krein_checkpoint *c, const char *done, bool must);
/* The file says something that cannot be: KREIN_EMODEL, for the functions of parts. */
krein_status krein__checkpoint_damaged(krein_ctx *ctx, const char *what);

/* The message of a cancelled training: how to go on. */
krein_status krein__checkpoint_cancelled(const krein_checkpoint *c, krein_ctx *ctx);

#endif
