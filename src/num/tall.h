/* tall.h -- matrices of many rows and few columns in blocks: sums over the rows, combinations of
 * the columns. */
#ifndef KREIN_TALL_H
#define KREIN_TALL_H

#include "base/base.h"

/* n x c, row-major. The columns are in groups of k (one for each lambda, say), and a group in
 * blocks of `wide` columns, the last of a group with what is left. The small matrices of the blocks
 * stand below each other, c x wide in all. */
typedef struct krein_tall {
    krein_ctx *ctx;
    int64_t n, c, k, wide;
    double *room; /* krein__tall_room */
} krein_tall;

/* At most so many columns to a block; blocks of a group of k are of about the same size. */
enum { KREIN_TALL_WIDE = 32 };
int64_t krein__tall_wide(int64_t k);
int64_t krein__tall_room(int64_t n, int64_t c, int64_t wide);

/* out[j] = a_j'b_j; `own`: a has one column, for all. */
void krein__tall_dots(const krein_tall *t, bool own, const double *a, const double *b, double *out);
/* out = A'B of each block. */
void krein__tall_cross(const krein_tall *t, const double *a, const double *b, double *out);
/* B = factor A C + keep B, C of each block. */
void krein__tall_combine(const krein_tall *t, double factor, const double *a, const double *C,
                         double keep, double *b);
/* Orthonormal columns that span what those of A do, block by block; where they depend on each
 * other some are zero. small: 2 c wide numbers. */
krein_status krein__tall_orthonormal(const krein_tall *t, const double *a, double *small,
                                     double *out);
/* out = S^-1 B of each block, S symmetric; directions in which it is not positive are left out, as
 * are blocks that are not finite. small: 2 c wide numbers. */
krein_status krein__tall_solve(const krein_tall *t, const double *S, const double *B, double *small,
                               double *out);

#endif
