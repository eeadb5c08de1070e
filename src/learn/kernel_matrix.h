/* kernel_matrix.h -- training rows as a kernel matrix with their targets, for learners with
 * map=exact. */
#ifndef KREIN_EXACT_H
#define KREIN_EXACT_H

#include "learn/learn.h"

typedef struct krein_exact {
    krein_ctx *ctx;
    int64_t n, k;
    double *K;      /* n x n, symmetric, finite */
    double *y;      /* n x k: targets as krein__targets_fill makes them */
    double *weight; /* n, of mean one */
    int32_t *class; /* n, or NULL: numbers */
    int32_t *group; /* n, or NULL: no groups */
} krein_exact;

krein_status krein__exact_open(krein_job *job, krein_exact *out);
/* A seeded sample of m of the rows with a weight (of all of these, where they are fewer), with a
 * matrix of its own. *out must be zero or closed. */
krein_status krein__exact_sample(const krein_exact *all, uint64_t seed, int64_t m,
                                 krein_exact *out);
void krein__exact_close(krein_exact *r);
double krein__exact_bytes(int64_t n, int64_t k);

#endif
