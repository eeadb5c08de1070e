/* probability.h -- from scores to probabilities of the classes, and how that is learned. */
#ifndef KREIN_PROBABILITY_H
#define KREIN_PROBABILITY_H

#include "model/model.h"

/* Doubles of scratch for one row. */
int64_t krein__probability_scratch(krein_head head, int64_t classes);
/* From the k scores of a row to a probability for each class, in [0, 1] and adding up to one, or
 * for each label; NaN where a score is. */
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
/* Labels: column by column on targets y (n x k, positive where the row has the label). */
krein_status krein__calibrate_labels(krein_ctx *ctx, int64_t n, int64_t k, const double *score,
                                     const double *y, const double *weight, krein_calibration *out);
/* The thresholds of k labels (thresholds.c). */
krein_status krein__thresholds(krein_ctx *ctx, int64_t n, int64_t k, const double *score,
                               const double *y, const double *weight, double *out);
/* All that a model learns from held-out scores: probabilities, and thresholds where it has labels.
 * class: of classes; y: targets, of labels. */
krein_status krein__model_calibrate(krein_ctx *ctx, krein_model *m, int64_t n, const double *score,
                                    const int32_t *class, const double *y, const double *weight);

#endif
