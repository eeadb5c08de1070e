/* conformal.h -- what a model keeps of rows that were held out: probabilities, sets of classes,
 * residuals of numbers. */
#ifndef KREIN_CONFORMAL_H
#define KREIN_CONFORMAL_H

#include "learn/learn.h"

/* The calibration of a job that wants probabilities: krein__model_calibrate for its model, and
 * with `uncertainty` what sets of classes need. */
krein_status krein__job_calibrate(krein_job *job, int64_t n, const double *score,
                                  const int32_t *class, const double *y, const double *weight);
/* The stage behind a fit of any learner that does so from the rows that were kept apart for it
 * (KREIN_PART_CALIBRATE): probabilities of classes and labels where the model has none, and with
 * `sure` intervals or sets of classes. */
krein_status krein__conformal_fit(krein_job *job, bool sure);
/* Added to what the fit to n rows takes, with so many more kept apart. */
void krein__conformal_cost(const krein_map *map, int64_t n, int64_t rows, int64_t k,
                           krein_cost *out, int64_t *passes);

#endif
