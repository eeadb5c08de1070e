/* agop.h -- the average gradient outer product of a kernel predictor, and the metric made of it. */
#ifndef KREIN_AGOP_H
#define KREIN_AGOP_H

#include "kernel/kernel.h"

/* f_c(x) = b_c + sum_i alpha_ic k(u, u_i), u = A x, of rows u_i under the metric A that is in use
 * (dense, n of them; d columns). Its gradients by x are taken at the first m of them, without the
 * terms of a row with itself and its duplicates:
 *
 *     H = 1/m sum_i sum_c g_ic g_ic',    g_ic = A' grad_u f_c(u_i)
 *
 * The kernel is a number times one base kernel that has a derivative and no free parameter;
 * anything else is KREIN_ESPEC. alpha is n x q.
 */

/* h[j] = H_jj. a: the d factors of a diagonal metric; NULL: ones. */
krein_status krein__agop_diagonal(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *u,
                                  int64_t m, int64_t q, const double *alpha, const double *a,
                                  double *h);
/* H (d x d). A: the metric, d x d; NULL: the identity. */
krein_status krein__agop_full(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *u,
                              int64_t m, int64_t q, const double *alpha, const double *A,
                              double *H);
/* Bytes that either needs beside its result. */
double krein__agop_bytes(int64_t n, int64_t d, int64_t q, int threads);

/* The next factors: h with mean 1, to a power, with mean 1 again, and its root. False where h is
 * zero (no gradient, no signal) or not finite: a is left as it was. */
bool krein__metric_factors(int64_t d, const double *h, double power, double *a);
/* The same with the eigenvalues of H (d x d, upper triangle), negative ones set to 0: A is
 * symmetric. *found is false where the trace is not positive, and A then left as it was. */
krein_status krein__metric_matrix(krein_ctx *ctx, int64_t d, const double *H, double power,
                                  double *A, bool *found);

#endif
