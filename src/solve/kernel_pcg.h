/* kernel_pcg.h -- ridge regression on a large kernel matrix by preconditioned conjugate gradients.
 */
#ifndef KREIN_KERNEL_PCG_H
#define KREIN_KERNEL_PCG_H

#include "solve/kernel_half.h"
#include "solve/pcg.h"
#include "solve/ridge.h"

typedef struct krein_kernel_pcg krein_kernel_pcg;

/* For the rows, whose kernel matrix K must outlive it and be positive definite, as must the
 * targets; with a preconditioner of m sampled rows, for at most `columns` right sides (lambdas
 * times outputs) at once. All rows are fitted. */
krein_status krein__kernel_pcg_create(const krein_half *K, const krein_targets *rows, int64_t m,
                                      int64_t columns, uint64_t seed, krein_kernel_pcg **out);
void krein__kernel_pcg_destroy(krein_kernel_pcg *s); /* NULL is fine */
/* Other targets from now on, which must outlive it, with the weights of before and no more columns
 * than there is room for; krein__kernel_pcg_hold must follow. */
void krein__kernel_pcg_targets(krein_kernel_pcg *s, const krein_targets *rows);
/* From now on the rows i with fold[i] = f are not fitted; f = -1: all are. */
krein_status krein__kernel_pcg_hold(krein_kernel_pcg *s, const int32_t *fold, int64_t f);
/* For every lambda > 0: alpha (n x (lambdas k), lambda-major) and intercepts; fit (NULL, or n x
 * (lambdas k)): the predictions of all rows. */
krein_status krein__kernel_pcg_solve(krein_kernel_pcg *s, int64_t lambdas, const double *lambda,
                                     const krein_pcg_limits *limits, double *alpha,
                                     double *intercept, double *fit, krein_pcg_result *out);
/* Bytes beside K, for at most so many lambdas and right sides. */
double krein__kernel_pcg_bytes(int64_t n, int64_t m, int64_t lambdas, int64_t columns, int threads);

#endif
