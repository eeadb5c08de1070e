/* spectrum.h -- symmetric matrices that are not positive, and their repair. */
#ifndef KREIN_SPECTRUM_H
#define KREIN_SPECTRUM_H

#include "base/base.h"

/* Largest |K_ij - K_ji|; K becomes its symmetric part. */
double krein__symmetrise(int64_t n, double *K);
/* Eigenvalues (ascending) of a positive matrix come out as small negative numbers too: those above
 * minus this one count as zero. */
double krein__spectrum_noise(int64_t n, const double *w);
/* K = V' diag(f(w)) V with the repaired eigenvalues; a row of V is an eigenvector, as krein__eigen
 * leaves them. */
krein_status krein__spectrum_rebuild(krein_ctx *ctx, krein_repair repair, int64_t n,
                                     const double *V, const double *w, double *K);
/* a (n x m) becomes P a, P = V' diag(f(w) / w) V, for clip and flip: P K is the repaired matrix, so
 * that coefficients a of repaired values are coefficients P a of values as they are. After a shift,
 * which changes K on its diagonal only, a itself. */
krein_status krein__spectrum_project(krein_ctx *ctx, krein_repair repair, int64_t n, int64_t m,
                                     const double *V, const double *w, double *a);

#endif
