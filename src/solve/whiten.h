/* whiten.h -- kernel values at landmarks become features. */
#ifndef KREIN_WHITEN_H
#define KREIN_WHITEN_H

#include "base/base.h"

/* B (n x m) becomes B T^-1, T'T = K + jitter I. K: kernel values of the landmarks, m x m, lost. The
 * jitter is the least of a few with which there is a factor. 4 m^2 + 8 m bytes. */
krein_status krein__whiten(krein_ctx *ctx, int64_t n, int64_t m, double *K, float *B);

#endif
