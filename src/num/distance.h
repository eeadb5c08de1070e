/* distance.h -- sums of |x_j - y_j|, or of its squares: row x with n rows y (stride ldy), d columns
 * each. */
#ifndef KREIN_DISTANCE_H
#define KREIN_DISTANCE_H

#include <stdint.h>

void krein__distances32(int64_t d, const float *x, int64_t n, const float *y, int64_t ldy,
                        float *out);
void krein__distances64(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy,
                        double *out);

/* out[i] = sum_j (x_j - y_ij)^2, in the same eight parts. */
void krein__squares64(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy,
                      double *out);

#endif
