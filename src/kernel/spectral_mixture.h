/* spectral_mixture.h -- the numbers of a spectral mixture kernel, where a learner finds them.
 *
 * One vector p: q, d, the weights w (q), the variances V (q x d), the means mu (q x d). Means are
 * in turns, over 2 pi, as all frequencies of maps are. */
#ifndef KREIN_SPECTRAL_MIXTURE_H
#define KREIN_SPECTRAL_MIXTURE_H

#include "kernel/kernel.h"

enum { KREIN_COMPONENTS_MAX = KREIN_SUMS_MAX / 2 };

typedef struct krein_spectral_mixture {
    int64_t q, d;
    double *w, *V, *mu; /* in p: they may be written to where p may */
} krein_spectral_mixture;

static inline int64_t krein__spectral_mixture_count(int64_t q, int64_t d) {
    return 2 + q * (1 + 2 * d);
}
/* The parts of p; q and d stand in it. */
krein_spectral_mixture krein__spectral_mixture(const double *p);
/* The same of a vector that is to be filled, of as many numbers. */
krein_spectral_mixture krein__spectral_mixture_begin(double *p, int64_t q, int64_t d);

/* A mixture in a file: entries mixture.q, .w, .V, .mu. Reading allocates *p, for rows of width d;
 * there is one in the file (krein__spectral_mixture_there). */
krein_status krein__spectral_mixture_io(krein_ctx *ctx, krein_archive *a, int64_t d, double **p);
bool krein__spectral_mixture_there(const krein_archive *a);

#endif
