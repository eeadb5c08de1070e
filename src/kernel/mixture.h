/* mixture.h -- mixtures of Gaussians fitted to a kernel's profile, for srf and digmm. */
#ifndef KREIN_MIXTURE_H
#define KREIN_MIXTURE_H

#include "kernel/measure.h"

/* k(z) ~= sum_i c_i exp(-z^2 / (2 s_i^2)) on [0, R]: as it stands, or with the negative part of
 * its spectral measure cut off. */
enum { KREIN_MIXTURE = 4 };
typedef struct krein_mixture {
    int64_t n;
    double c[KREIN_MIXTURE], s[KREIN_MIXTURE];
    krein_law law; /* the caller clears it; clipped: no negative part */
    double error;  /* max |sum - k| on [0, R] */
} krein_mixture;

krein_status krein__mixture_fit(krein_ctx *ctx, const krein_kernel *kernel, bool unit, int64_t d,
                                double R, bool clip, krein_mixture *out);

#endif
