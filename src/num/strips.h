/* strips.h -- small products whose left operand is read where it stands, in pieces: convolutions.
 */
#ifndef KREIN_STRIPS_H
#define KREIN_STRIPS_H

#include "num/panels.h"

enum { KREIN_STRIP = 16 }; /* rows of B are readable up to a multiple of so many columns */

/* A = (A_1 ... A_s), each m x k, and B = (B_1; ...; B_s), each k x columns. Number i, j of A_t is
 * a[t * a_next + i * a_row + j * a_term], row j of B_t is b + t * b_next + j * b_row. */
typedef struct krein_strips {
    int64_t pieces, k;
    const float *a, *b;
    int64_t a_next, a_row, a_term, b_next, b_row;
} krein_strips;

/* C (m x columns, stride ldc) = A B, or C + A B; columns at most KREIN_PANEL. One of a_row and
 * a_term is 1. Each number is summed in the order of the pieces and of the k, whatever m is. */
void krein__strips(bool add, int64_t m, int64_t columns, const krein_strips *s, float *c,
                   int64_t ldc);

#endif
