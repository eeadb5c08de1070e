/* rounded.h -- rows of float32 in 16 bits: whole numbers with a scale for each row (rounded.c). */
#ifndef KREIN_ROUNDED_H
#define KREIN_ROUNDED_H

#include <stdbool.h>
#include <stdint.h>

/* code (n x D), scale (n) of z (n x D). A row with an infinity or no number has neither after. */
void krein__round_rows(int64_t n, int64_t D, const float *z, int16_t *code, float *scale);
/* The same of one row with a scale that is given: numbers beyond 32767 scale become that. False
 * where one is not finite. */
bool krein__round_by(int64_t D, const float *z, float scale, int16_t *code);
/* z = scale code */
void krein__rounded_rows(int64_t n, int64_t D, const int16_t *code, const float *scale, float *z);
/* out[i * step] = scale_i sum_j code_ij v_j */
void krein__rounded_times(int64_t n, int64_t D, const int16_t *code, const float *scale,
                          const float *v, float *out, int64_t step);
/* out_j += sum_i scale_i code_ij x[i * step] */
void krein__rounded_add(int64_t n, int64_t D, const int16_t *code, const float *scale,
                        const float *x, int64_t step, float *out);
/* out_i = sum_j (scale_i code_ij)^2 */
void krein__rounded_squares(int64_t n, int64_t D, const int16_t *code, const float *scale,
                            double *out);

#endif
