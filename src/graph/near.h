/* near.h -- the nearest rows of each row, found in one of several ways. Inside the room. */
#ifndef KREIN_NEAR_H
#define KREIN_NEAR_H

#include "graph/graph.h"

/* n x k each: who, ascending by distance and then by number, and the squares of the distances. */
typedef struct krein_nearest {
    int64_t n, k;
    int32_t *near;
    double *square;
} krein_nearest;

/* In the space of a kernel, all pairs (near_kernel.c). weight may be NULL. */
krein_status krein__near_kernel(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                const double *weight, krein_nearest *out);
double krein__near_kernel_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                                int threads);

/* Puts (square, j) into a row's ascending list of k, where it is smaller than the last. */
static inline void krein__near_insert(int64_t k, double *square, int32_t *near, double v,
                                      int32_t j) {
    int64_t at = k - 1;
    for (; at > 0 && v < square[at - 1]; at--) {
        square[at] = square[at - 1];
        near[at] = near[at - 1];
    }
    square[at] = v;
    near[at] = j;
}

#endif
