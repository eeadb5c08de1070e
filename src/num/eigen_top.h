/* eigen_top.h -- a few of the largest eigenvalues of a symmetric matrix. */
#ifndef KREIN_EIGEN_TOP_H
#define KREIN_EIGEN_TOP_H

#include "base/base.h"

/* The m <= n largest eigenvalues of the symmetric a (n x n, both triangles), descending in w, and
 * their vectors, orthonormal rows of v (m x n). a may be overwritten. The same bits for any number
 * of threads. */
krein_status krein__eigen_top(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                              double *v);
/* The two ways to them: by iteration (*found is false where it does not converge in the time of a
 * full decomposition; a is left alone) and by the full decomposition. */
krein_status krein__eigen_top_iterate(krein_ctx *ctx, int64_t n, const double *a, int64_t m,
                                      double *w, double *v, bool *found);
krein_status krein__eigen_top_full(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                                   double *v);
/* Iterating is no slower than a full decomposition, on kernel matrices. */
bool krein__eigen_top_pays(int64_t n, int64_t m);
/* Bytes that it holds beside a, w and v, where the iteration converges; full: the other way. */
double krein__eigen_top_bytes(int64_t n, int64_t m, int threads, bool full);

#endif
