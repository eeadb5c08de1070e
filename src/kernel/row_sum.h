/* row_sum.h -- sums over the columns of two dense rows, for kernels that are computed row by row.
 *
 *     #define TERM(T, x, y) ...
 *     KREIN_ROW_SUM(float, sum32, TERM)      static float sum32(p, d, x, y)
 *
 * Eight partial sums: room for SIMD, and an order of additions that is always the same. `p` is
 * visible in TERM, already of type T (one number). */
#ifndef KREIN_KERNEL_ROWS_H
#define KREIN_KERNEL_ROWS_H

#include <stdint.h>

#define KREIN_ROW_SUM(T, name, TERM)                                                               \
    static T name(T p, int64_t d, const T *x, const T *y) {                                        \
        T part[8] = {0}, sum = 0;                                                                  \
        int64_t j = 0;                                                                             \
        (void)p;                                                                                   \
        for (; j + 8 <= d; j += 8)                                                                 \
            for (int64_t k = 0; k < 8; k++) part[k] += TERM(T, x[j + k], y[j + k]);                \
        for (; j < d; j++) sum += TERM(T, x[j], y[j]);                                             \
        for (int64_t k = 0; k < 8; k++) sum += part[k];                                            \
        return sum;                                                                                \
    }

#endif
