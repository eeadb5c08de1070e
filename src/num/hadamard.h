/* hadamard.h -- fast Walsh-Hadamard transforms, not normalised: H H x = n x. */
#ifndef KREIN_HADAMARD_H
#define KREIN_HADAMARD_H

#include <stdint.h>

/* x = H x in place; n a power of two, natural (Sylvester) order. */
void krein__fwht(int64_t n, float *x);
/* out = H (diagonal . x); out may be x, diagonal may be NULL (ones). */
void krein__fwht_scaled(int64_t n, const float *x, const float *diagonal, float *out);

#endif
