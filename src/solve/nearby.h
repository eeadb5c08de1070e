/* nearby.h -- leave-one-out at shifts near one that was factored, without another factorisation. */
#ifndef KREIN_NEARBY_H
#define KREIN_NEARBY_H

#include "base/base.h"

typedef struct krein_nearby krein_nearby;

enum { KREIN_NEARBY_TILE = 256 };

/* A shifted matrix M + shift I = (V V')^-1, V upper triangular in float32 (its lower triangle is
 * not read, but that of the tiles on the diagonal is set to zero); diagonal: of V V'; u: NULL, or a
 * unit vector that is an eigenvector of M with the eigenvalue lift, and is not part of the problem.
 * y: n x k. */
krein_status krein__nearby_begin(krein_ctx *ctx, int64_t n, int64_t k, float *V,
                                 const double *diagonal, const double *u, double lift,
                                 const double *y, double shift, krein_nearby **out);
/* a (n x k) = (M + shift I)^-1 y, and an estimate of the diagonal of that inverse. */
void krein__nearby_at(const krein_nearby *b, double shift, double *a, double *diagonal);
void krein__nearby_end(krein_nearby *b);
double krein__nearby_bytes(int64_t n, int64_t k);
/* It takes much less time than another factorisation. */
bool krein__nearby_pays(int64_t n, int64_t k);

#endif
