/* distance.c -- sums of |x_j - y_j| over the columns of one row with each of several
 *
 * Eight partial sums, as in kernel/row_sum.h: the same additions in the same order on every CPU,
 * and so the same bits. A choice between x - y and y - x would keep compilers from using SIMD. */
#include "num/distance.h"

#include <math.h>

#define PATH(T, NAME, TARGET, ABS)                                                                 \
    TARGET static void NAME(int64_t d, const T *x, int64_t n, const T *y, int64_t ldy, T *out) {   \
        for (int64_t i = 0; i < n; i++, y += ldy) {                                                \
            T part[8] = {0}, sum = 0;                                                              \
            int64_t j = 0;                                                                         \
            for (; j + 8 <= d; j += 8)                                                             \
                for (int64_t k = 0; k < 8; k++) part[k] += ABS(x[j + k] - y[j + k]);               \
            for (; j < d; j++) sum += ABS(x[j] - y[j]);                                            \
            for (int64_t k = 0; k < 8; k++) sum += part[k];                                        \
            out[i] = sum;                                                                          \
        }                                                                                          \
    }

PATH(float, float_baseline, , fabsf)
PATH(double, double_baseline, , fabs)
#if defined(__x86_64__)
PATH(float, float_avx2, __attribute__((target("avx2"))), fabsf)
PATH(double, double_avx2, __attribute__((target("avx2"))), fabs)
#define CHOOSE(T, ...)                                                                             \
    (__builtin_cpu_supports("avx2") ? T##_avx2(__VA_ARGS__) : T##_baseline(__VA_ARGS__))
#else
#define CHOOSE(T, ...) T##_baseline(__VA_ARGS__)
#endif

void krein__distances32(int64_t d, const float *x, int64_t n, const float *y, int64_t ldy,
                        float *out) {
    CHOOSE(float, d, x, n, y, ldy, out);
}

void krein__distances64(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy,
                        double *out) {
    CHOOSE(double, d, x, n, y, ldy, out);
}
