/* near.h -- the nearest rows of each row, found in one of several ways. Inside the room.
 *
 * All of them compare rows by krein__near_square, and keep the k smallest by (square, number): what
 * comes out does not depend on the order in which pairs are met, nor on threads. */
#ifndef KREIN_NEAR_H
#define KREIN_NEAR_H

#include "graph/graph.h"

/* n x k each: who, ascending by distance and then by number, and the squares of the distances.
 * Empty places are -1 and infinite. */
typedef struct krein_nearest {
    int64_t n, k;
    int32_t *near;
    double *square;
} krein_nearest;

krein_status krein__nearest_begin(krein_ctx *ctx, int64_t n, int64_t k, krein_nearest *out);
void krein__nearest_end(krein_ctx *ctx, krein_nearest *nn);

/* Puts j into the list of row i where it belongs; false where it does not, or is there already. */
bool krein__near_offer(krein_nearest *nn, int64_t i, int64_t j, double square);

/* |x - y|^2 of dense rows: four sums, so that it is monotone in every |x_j - y_j|. */
static inline double krein__near_square(int64_t d, const float *x, const float *y) {
    double s[4] = {0};
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int64_t t = 0; t < 4; t++) {
            double v = (double)x[j + t] - (double)y[j + t];
            s[t] += v * v;
        }
    for (int64_t t = 0; j < d; j++, t++) {
        double v = (double)x[j] - (double)y[j];
        s[t] += v * v;
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}
/* Of rows i and j, dense or CSR. */
double krein__near_distance(const krein_rows *x, int64_t i, int64_t j);

/* Of the rows in places from .. until - 1, those with the smaller values (then numbers) come before
 * the place `middle`, the others from there on. Values are finite. */
void krein__near_halve(int32_t *order, const double *value, int64_t from, int64_t until,
                       int64_t middle);

/* In the space of a kernel, all pairs (near_kernel.c). weight may be NULL. */
krein_status krein__near_kernel(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                const double *weight, krein_nearest *out);
double krein__near_kernel_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                                int threads);

/* By distances of the rows, all pairs (near_exact.c). */
krein_status krein__near_exact(krein_ctx *ctx, const krein_rows *x, const double *weight,
                               krein_nearest *out);
double krein__near_exact_bytes(int64_t n, int64_t d, bool sparse, int threads);
/* Operations of a product, by which its time can be told. */
double krein__near_exact_flops(int64_t n, int64_t d);

/* By a k-d tree, dense rows (near_tree.c). */
krein_status krein__near_tree(krein_ctx *ctx, const krein_rows *x, const double *weight,
                              krein_nearest *out);
double krein__near_tree_bytes(int64_t n, int64_t d);
/* It takes less time than all pairs, as a rule. */
bool krein__near_tree_pays(int64_t n, int64_t d, bool sparse);

/* Nearest-neighbour descent (near_descent.c). */
krein_status krein__near_descent(krein_ctx *ctx, const krein_rows *x, const double *weight,
                                 uint64_t seed, krein_nearest *out);
double krein__near_descent_bytes(int64_t n, int64_t k);
/* Share of the nearest of some rows, by brute force, that are in their lists (near_recall.c). */
krein_status krein__near_recall(krein_ctx *ctx, const krein_rows *x, const double *weight,
                                uint64_t seed, const krein_nearest *nn, double *out);

#endif
