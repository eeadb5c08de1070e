/* chi2 -- k(x, y) = sum_j 2 x_j y_j / (x_j + y_j), 0/0 = 0, for x, y >= 0       (vedaldi2012)
 * What is below 0 counts as 0.
 */
#include "kernel/additive.h"
#include "kernel/kernel.h"

#include <math.h>

/* 2 a (b / (a + b)): neither over- nor underflows before the result does. */
#define PAIR(T, name)                                                                              \
    static inline T name(T x, T y) {                                                               \
        T a = x > 0 ? x : 0, b = y > 0 ? y : 0, s = a + b;                                         \
        return 2 * a * (b / (s > 0 ? s : 1));                                                      \
    }
PAIR(float, pair32)
PAIR(double, pair64)
KREIN_ADDITIVE

static bool source(const double *p, krein_kernel_source *out) {
    (void)p;
    return krein__kernel_source(out, "(a > 0 && b > 0 ? 2 * a * b / (a + b) : 0)", "s");
}

const krein_kernel_class krein__kernel_chi2 =
    KREIN_ADDITIVE_CLASS("chi2", "sum_j 2 x_j y_j / (x_j + y_j)");
