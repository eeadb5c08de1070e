/* both.h -- a matrix times some vectors and its transpose times others, in one pass (both.c). */
#ifndef KREIN_BOTH_H
#define KREIN_BOTH_H

#include <stdint.h>

/* An n x c matrix in lanes, as krein__both reads and adds it: its rows from `from` on, a multiple
 * of KREIN_LANES. */
enum { KREIN_LANES = 16 };
typedef struct krein_lanes {
    float *x;
    int64_t n, from;
} krein_lanes;
int64_t krein__lanes_size(int64_t n, int64_t c); /* numbers */
/* Some rows (rows x c). */
void krein__to_lanes(int64_t rows, int64_t c, const float *v, krein_lanes to);
/* out (n x c) += what is in lanes, of float64. */
void krein__lanes_add(int64_t n, int64_t c, const double *lanes, double *out);

/* u (rows x c) += T v and w (n x c) += T'x in one pass over T (rows x n); v is n x c, x rows x c.
 * Without u or w.x one product alone. */
void krein__both(int64_t rows, int64_t n, int64_t c, const float *T, int64_t ld, krein_lanes v,
                 const float *x, float *u, krein_lanes w);
/* The same of a matrix of whole numbers, both products. */
void krein__both16(int64_t rows, int64_t n, int64_t c, const int16_t *T, int64_t ld, krein_lanes v,
                   const float *x, float *u, krein_lanes w);

#endif
