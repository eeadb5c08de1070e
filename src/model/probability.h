/* probability.h -- from scores to probabilities of the classes, and how that is learned. */
#ifndef KREIN_PROBABILITY_H
#define KREIN_PROBABILITY_H

#include "model/model.h"

/* Doubles of scratch for one row. */
int64_t krein__probability_scratch(krein_head head, int64_t classes);
/* From the k scores of a row to a probability for each class, in [0, 1] and adding up to one; NaN
 * where a score is. */
void krein__probabilities(krein_head head, int64_t classes, const krein_calibration *c,
                          const double *score, double *p, double *scratch);
/* The same for a model that has probabilities. */
void krein__model_probabilities(const krein_model *m, const double *score, double *p,
                                double *scratch);

/* Fits slopes and shifts to the scores (n x k) of rows that the model did not see; class[i] in
 * 0 .. classes-1, weight may be NULL. out's arrays belong to the caller; NULL on failure. */
krein_status krein__calibrate(krein_ctx *ctx, krein_head head, int64_t classes, int64_t n,
                              int64_t k, const double *score, const int32_t *class,
                              const double *weight, krein_calibration *out);

#endif
