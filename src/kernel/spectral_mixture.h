/* spectral_mixture.h -- the numbers of a spectral mixture kernel, where a learner finds them.
 *
 * One vector p: q, d, the weights w (q), the variances V (q x d), the means mu (q x d). Means are
 * in turns, over 2 pi, as all frequencies of maps are. */
#ifndef KREIN_SPECTRAL_MIXTURE_H
#define KREIN_SPECTRAL_MIXTURE_H

#include "kernel/kernel.h"

enum { KREIN_COMPONENTS_MAX = KREIN_SUMS_MAX / 2 };

static inline int64_t krein__spectral_count(int64_t q, int64_t d) { return 2 + q * (1 + 2 * d); }
static inline int64_t krein__spectral_q(const double *p) { return (int64_t)p[0]; }
static inline int64_t krein__spectral_d(const double *p) { return (int64_t)p[1]; }
static inline const double *krein__spectral_w(const double *p) { return p + 2; }
static inline const double *krein__spectral_V(const double *p) {
    return p + 2 + krein__spectral_q(p);
}
static inline const double *krein__spectral_mu(const double *p) {
    return p + 2 + krein__spectral_q(p) * (1 + krein__spectral_d(p));
}

/* A mixture in a file: entries mixture.q, .w, .V, .mu. Reading allocates *p, for rows of width d;
 * there is one in the file (krein__spectral_there). */
krein_status krein__spectral_io(krein_ctx *ctx, krein_archive *a, int64_t d, double **p);
bool krein__spectral_there(const krein_archive *a);

#endif
