/* fft.h -- real FFTs of power-of-two length, for products of sequences: sketches, circulants.
 *
 * A spectrum is n floats in an order that suits the transform (fft.c), good for these functions
 * and for nothing else. Plans are read-only once made: any number of threads may share one. */
#ifndef KREIN_FFT_H
#define KREIN_FFT_H

#include "base/base.h"

typedef struct krein_fft krein_fft; /* twiddles for one length n = 2^k, 2 <= n <= 2^24 */

krein_status krein__fft_create(krein_ctx *ctx, int64_t n, krein_fft **out);
void krein__fft_destroy(krein_ctx *ctx, krein_fft *f);
/* An upper bound of the bytes of a plan. */
double krein__fft_bytes(int64_t n);
/* n reals to their spectrum; spectrum may be x. */
void krein__fft_forward(const krein_fft *f, const float *x, float *spectrum);
/* The inverse, with its factor 1/n; x may be spectrum. */
void krein__fft_inverse(const krein_fft *f, const float *spectrum, float *x);
/* The product of two spectra, that is, the spectrum of the circular convolution
 * sum_j a[j] b[(i - j) mod n]; out may be a or b. */
void krein__fft_multiply(const krein_fft *f, const float *a, const float *b, float *out);

#endif
