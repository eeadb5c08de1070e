/* pwmk.h -- weights from accuracies. */
#ifndef KREIN_PWMK_H
#define KREIN_PWMK_H

#include <stdint.h>

/* mu_m = (acc_m - delta min acc) / sum of these; all 0 where nothing is left. */
void krein__pwmk_weights(int64_t M, const double *accuracy, double delta, double *mu);

#endif
