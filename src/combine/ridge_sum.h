/* ridge_sum.h -- ridge regression with a weighted sum of kernels, as a function of the weights. */
#ifndef KREIN_RIDGE_SUM_H
#define KREIN_RIDGE_SUM_H

#include "combine/bank.h"

/* K = sum_m beta_m K_m, beta > 0. With C = PSKSP + W lambda I (solve/dual.c) and the targets y:
 *     value     F = sum_outputs y'PS C^-1 PSy
 *     slope     g_m = -dF/dbeta_m = sum_outputs alpha'K_m alpha,   alpha = SPC^-1 PSy
 *     curvature H_mr = d2F/dbeta_m dbeta_r = 2 sum_outputs (PSK_m alpha)' C^-1 (PSK_r alpha) */
typedef struct krein_ridge_sum krein_ridge_sum;
krein_status krein__ridge_sum_begin(krein_bank *bank, double lambda, krein_ridge_sum **out);
krein_status krein__ridge_sum_at(krein_ridge_sum *s, const double *beta, double *value,
                                 double *slope, double *curvature);
/* F of the kernel 0: |PSy|^2 / (W lambda). */
double krein__ridge_sum_zero(const krein_ridge_sum *s);
void krein__ridge_sum_end(krein_ridge_sum *s); /* NULL is fine */

#endif
