/* given.h -- a job on encoded rows that are in memory, with labels that a learner gives them: to
 * train another learner inside one. */
#ifndef KREIN_GIVEN_H
#define KREIN_GIVEN_H

#include "learn/learn.h"

typedef struct krein_given {
    krein_job job;   /* like the one it comes from, on these rows */
    krein_job *from; /* whose model gets what comes out */
    krein_model model;
    krein_data *data;
} krein_given;

/* outputs > 0: label are so many numbers a row; 0: one class each, by its number in the model.
 * label NULL: there are none. weight may be NULL. The arrays must outlive it, and krein__given_end
 * follows in any case. */
krein_status krein__given_begin(krein_job *from, const krein_rows *x, int64_t outputs,
                                const double *label, const double *weight, krein_given *out);
/* Before the map is fitted: raw features may be all that the learner will need. */
void krein__given_raw(krein_given *g, const krein_learner_class *learner,
                      const krein_values *values);
/* Fits the map of the model to these rows (one that looks at labels, to those with labels), where
 * it is not fitted, or `again`: one of the same spec takes its place. */
krein_status krein__given_map(krein_given *g, bool again);
/* Weights by that learner. */
krein_status krein__given_learn(krein_given *g, const krein_learner_class *learner,
                                krein_values *values);
/* Gives weights, calibration and lambda to the model that it comes from. */
void krein__given_take(krein_given *g);
void krein__given_end(krein_given *g);

#endif
