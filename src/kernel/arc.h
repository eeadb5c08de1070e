/* arc.h -- the arc-cosine functions of cho2009 on arrays:
 *     J_0 = pi - theta,  J_1 = sin theta + (pi - theta) c,
 *     J_2 = 3 sin theta c + (pi - theta) (1 + 2 c^2),     c = cos theta */
#ifndef KREIN_KERNEL_ARC_H
#define KREIN_KERNEL_ARC_H

#include <stdint.h>

enum { KREIN_ARC_CHUNK = 256 };

/* j = J_order / pi for n <= KREIN_ARC_CHUNK cosines; c is clipped to [-1, 1] in place. */
void krein__arc32(int order, int64_t n, float *c, float *j);
void krein__arc64(int order, int64_t n, double *c, double *j);
/* J_0 / pi and J_1 / pi together. */
void krein__arc_pair32(int64_t n, float *c, float *zero, float *one);
void krein__arc_pair64(int64_t n, double *c, double *zero, double *one);

#endif
