/* nnls.h -- least squares with non-negative unknowns. */
#ifndef KREIN_NNLS_H
#define KREIN_NNLS_H

#include "base/base.h"

/* min |A x - b| over x >= 0. A is m x n, column j at a + j * m; x has n. */
krein_status krein__nnls(krein_ctx *ctx, int64_t m, int64_t n, const double *a, const double *b,
                         double *x);

/* min x'Sx - 2x'b over x >= 0; S (n x n, of which the upper triangle is read) is positive definite,
 * else KREIN_ENUMERIC. S and b are overwritten. */
krein_status krein__nnls_form(krein_ctx *ctx, int64_t n, double *S, double *b, double *x);

#endif
