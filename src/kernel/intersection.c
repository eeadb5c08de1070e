/* intersection -- k(x, y) = sum_j min(x_j, y_j) for x, y >= 0: what two histograms share
 *                                                                           (vedaldi2012)
 * What is below 0 counts as 0.
 */
#include "kernel/additive.h"
#include "kernel/kernel.h"

#include <math.h>

#define PAIR(T, name)                                                                              \
    static inline T name(T x, T y) {                                                               \
        T least = x < y ? x : y;                                                                   \
        return least > 0 ? least : 0;                                                              \
    }
PAIR(float, pair32)
PAIR(double, pair64)
KREIN_ADDITIVE

static bool source(const double *p, krein_kernel_source *out) {
    (void)p;
    return krein__kernel_source(out, "(a > 0 && b > 0 ? (a < b ? a : b) : 0)", "s");
}

const krein_kernel_class krein__kernel_intersection =
    KREIN_ADDITIVE_CLASS("intersection", "sum_j min(x_j, y_j)");
