/* view_trials.h -- held-out trials of ridge regression on features, beside the view of a kernel. */
#ifndef KREIN_VIEW_TRIALS_H
#define KREIN_VIEW_TRIALS_H

#include "select/view.h"

/* Two passes over the blocks of features:
 *     begin;  for all blocks: add;  leave_one_out;  end_pass;  for all blocks: add;  end_pass;
 *     finish
 * Passes after those change nothing. */
typedef struct krein_feature_trials {
    krein_ctx *ctx;
    const krein_labels *labels;
    krein_trial *trial; /* n of them, the caller's */
    int64_t n, D, k, pass;
    struct krein_trial_state *state; /* of each */
    float *kept;                     /* rows x D: some rows of a block */
    double *kept_y, *kept_weight;
    int32_t *kept_class;
} krein_feature_trials;

/* D features, at most so many rows a block. Trials that features cannot make are refused. To be
 * cleared after a failure, too. */
krein_status krein__feature_trials_begin(krein_ctx *ctx, const krein_labels *labels, int64_t D,
                                         int64_t rows, krein_trial *trial, int64_t trials,
                                         krein_feature_trials *out);
/* z: features of the rows, less any fixed row; at: number of the first. */
krein_status krein__feature_trials_add(krein_feature_trials *f, const float *z, int64_t at,
                                       const krein_targets *rows);
/* After the first pass, where a trial leaves one out: the system of all rows, which stays the
 * caller's. */
krein_status krein__feature_trials_leave_one_out(krein_feature_trials *f, const krein_system *all);
/* Puts the sums of all processes together, before a pass ends. */
krein_status krein__feature_trials_together(krein_feature_trials *f, krein_stream *rows);
krein_status krein__feature_trials_end_pass(krein_feature_trials *f);
/* Losses and errors into the paths of the trials. */
void krein__feature_trials_finish(krein_feature_trials *f);
void krein__feature_trials_clear(krein_feature_trials *f);
/* Bytes without the workspace of a decomposition. */
double krein__feature_trials_bytes(const krein_map *map, int64_t D, int64_t k,
                                   const krein_trial *trial, int64_t trials);

#endif
