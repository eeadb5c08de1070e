/* arc.c -- arc-cosine functions; sin theta = sqrt((1 - c)(1 + c)). */
#include "kernel/arc.h"

#include "num/vec.h"

#include <math.h>

static void acos64(int64_t n, const double *c, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = acos(c[i]);
}

#define ARC(T, bits, ACOS, SQRT)                                                                   \
    static void zero##bits(int64_t n, T *c, T *j) {                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T low = c[i] > -1 ? c[i] : -1;                                                         \
            c[i] = low < 1 ? low : 1;                                                              \
        }                                                                                          \
        ACOS(n, c, j);                                                                             \
        for (int64_t i = 0; i < n; i++) j[i] = 1 - (T)M_1_PI * j[i];                               \
    }                                                                                              \
    void krein__arc_pair##bits(int64_t n, T *c, T *zero, T *one) {                                 \
        zero##bits(n, c, zero);                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            one[i] = (T)M_1_PI * SQRT((1 - c[i]) * (1 + c[i])) + zero[i] * c[i];                   \
    }                                                                                              \
    void krein__arc##bits(int order, int64_t n, T *c, T *j) {                                      \
        zero##bits(n, c, j);                                                                       \
        if (order == 1)                                                                            \
            for (int64_t i = 0; i < n; i++)                                                        \
                j[i] = (T)M_1_PI * SQRT((1 - c[i]) * (1 + c[i])) + j[i] * c[i];                    \
        if (order == 2)                                                                            \
            for (int64_t i = 0; i < n; i++)                                                        \
                j[i] = (T)(3 * M_1_PI) * SQRT((1 - c[i]) * (1 + c[i])) * c[i] +                    \
                       j[i] * (1 + 2 * c[i] * c[i]);                                               \
    }
ARC(float, 32, krein__vacosf, sqrtf)
ARC(double, 64, acos64, sqrt)
