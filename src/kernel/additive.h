/* additive.h -- kernels sum_j h(x_j, y_j) with h(x, 0) = 0, from h in float32 and float64. */
#ifndef KREIN_KERNEL_ADDITIVE_H
#define KREIN_KERNEL_ADDITIVE_H

#include "kernel/row_sum.h"

#define KREIN__ADD32(T, x, y) pair32(x, y)
#define KREIN__ADD64(T, x, y) pair64(x, y)
#define KREIN__ADD_ROWS(T, name, sum)                                                              \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        (void)p;                                                                                   \
        for (int64_t i = 0; i < n; i++) out[i] = sum(0, d, x, y + i * ldy);                        \
    }

/* rows32, rows64, coordinate and finish from pair32 and pair64 */
#define KREIN_ADDITIVE                                                                             \
    KREIN_ROW_SUM(float, sum32, KREIN__ADD32)                                                      \
    KREIN_ROW_SUM(double, sum64, KREIN__ADD64)                                                     \
    KREIN__ADD_ROWS(float, rows32, sum32)                                                          \
    KREIN__ADD_ROWS(double, rows64, sum64)                                                         \
    static double coordinate(const double *p, int64_t at, double x, double y) {                    \
        (void)p, (void)at;                                                                         \
        return pair64(x, y);                                                                       \
    }                                                                                              \
    static double finish(const double *p, const double *sum) {                                     \
        (void)p;                                                                                   \
        return *sum;                                                                               \
    }

/* Their description. */
#define KREIN_ADDITIVE_CLASS(name, formula)                                                        \
    {                                                                                              \
        .cls = {name, formula, "vedaldi2012", NULL,                                                \
                "For histograms and other inputs that are not negative (`scale=minmax` makes "     \
                "them so); new values below 0 count as 0."},                                       \
        .family = KREIN_FAMILY_ADDITIVE, .rows32 = rows32, .rows64 = rows64,                       \
        .coordinate = coordinate, .finish = finish, .source = source, .low = 0, .high = INFINITY,                    \
        .advice = "use `scale=minmax`"                                                             \
    }

#endif
