/* sample.h -- a seeded sample of a pipe's rows with its kernel matrix, for those who look at the
 * kernel itself: advise, approx, the number of parts of a training. */
#ifndef KREIN_SAMPLE_H
#define KREIN_SAMPLE_H

#include "pipe/pipe.h"

typedef struct krein_sample {
    int64_t m, k;   /* rows; targets, 0: no labels */
    krein_matrix x; /* the rows */
    double *K;      /* m x m */
    double *y;      /* m x k; several targets in different units count alike */
} krein_sample;

/* So many rows may be asked for: within the bounds of the option and `max_exact`. */
krein_status krein__sample_check(const krein_pipe *p, int64_t rows);
/* m rows of the pipe, which has met its data and whose kernel has no free parameter; the targets of
 * the model where labels are wanted. */
krein_status krein__sample_gather(krein_pipe *p, int64_t m, bool labels, krein_sample *out);
void krein__sample_end(krein_ctx *ctx, krein_sample *s);
/* How well features z (m x D, with signs or NULL) approximate K (m x m, not zero):
 * |K - Khat|_F / |K|_F, Khat = z diag(s) z', and the largest |K_ij - Khat_ij|. */
krein_status krein__sample_error(krein_ctx *ctx, int64_t m, const double *K, int64_t D,
                                 const int8_t *sign, const float *z, double *error, double *worst);
double krein__sample_bytes(const krein_pipe *p, int64_t m, int64_t k);

#endif
