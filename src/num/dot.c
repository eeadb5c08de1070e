/* dot.c -- inner products of rows: two that are visited in random order, one with several
 *
 * The processor fetches ahead within a row, and has to begin anew with the next. While one row is
 * multiplied, another is asked for, line by line beside it: GB/s of rows of 4,000 bytes on one core
 * (Zen 4, 20 MB of them in the last cache) 9.5 without, 14.6 with the next row and 17.7 with the
 * one after that. From memory it makes no difference (10), where rows in order reach 27. */
#include "num/blas.h"
#include "num/simd.h"

#define PATH(NAME, TARGET)                                                                         \
    TARGET static float NAME(int64_t n, const float *x, const float *y, const float *ahead) {      \
        v8 a = {0}, b = {0}, c = {0}, d = {0};                                                     \
        int64_t j = 0;                                                                             \
        for (; j + 32 <= n; j += 32) {                                                             \
            __builtin_prefetch(ahead + j);                                                         \
            __builtin_prefetch(ahead + j + 16);                                                    \
            a += *(const v8 *)(x + j) * *(const v8 *)(y + j);                                      \
            b += *(const v8 *)(x + j + 8) * *(const v8 *)(y + j + 8);                              \
            c += *(const v8 *)(x + j + 16) * *(const v8 *)(y + j + 16);                            \
            d += *(const v8 *)(x + j + 24) * *(const v8 *)(y + j + 24);                            \
        }                                                                                          \
        a = (a + b) + (c + d);                                                                     \
        float sum = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));             \
        for (; j < n; j++) sum += x[j] * y[j];                                                     \
        return sum;                                                                                \
    }

PATH(dot_baseline, )
#if defined(__x86_64__)
PATH(dot_avx2, __attribute__((target("avx2,fma"))))
#endif

float krein__sdot_ahead(int64_t n, const float *x, const float *y, const float *ahead) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return dot_avx2(n, x, y, ahead);
#endif
    return dot_baseline(n, x, y, ahead);
}

/* So many rows at a time: x is read once for them. */
#define ROWS(NAME, TARGET, ROWS)                                                                   \
    TARGET static void NAME(int64_t n, const float *a, int64_t lda, const float *x, float *out) {  \
        v8 s[ROWS] = {{0}}, t[ROWS] = {{0}};                                                       \
        int64_t j = 0;                                                                             \
        for (; j + 16 <= n; j += 16)                                                               \
            for (int64_t i = 0; i < ROWS; i++) {                                                   \
                s[i] += *(const v8 *)(a + i * lda + j) * *(const v8 *)(x + j);                     \
                t[i] += *(const v8 *)(a + i * lda + j + 8) * *(const v8 *)(x + j + 8);             \
            }                                                                                      \
        for (int64_t i = 0; i < ROWS; i++) {                                                       \
            v8 u = s[i] + t[i];                                                                    \
            float sum = ((u[0] + u[1]) + (u[2] + u[3])) + ((u[4] + u[5]) + (u[6] + u[7]));         \
            for (int64_t l = j; l < n; l++) sum += a[i * lda + l] * x[l];                          \
            out[i] = sum;                                                                          \
        }                                                                                          \
    }
#define ALL_ROWS(NAME, TARGET)                                                                     \
    ROWS(NAME##_1, TARGET, 1)                                                                      \
    ROWS(NAME##_2, TARGET, 2)                                                                      \
    ROWS(NAME##_4, TARGET, 4)                                                                      \
    TARGET static void NAME(int64_t rows, int64_t n, const float *a, int64_t lda, const float *x,  \
                            float *out) {                                                          \
        int64_t r = 0;                                                                             \
        for (; r + 4 <= rows; r += 4) NAME##_4(n, a + r * lda, lda, x, out + r);                   \
        for (; r + 2 <= rows; r += 2) NAME##_2(n, a + r * lda, lda, x, out + r);                   \
        if (r < rows) NAME##_1(n, a + r * lda, lda, x, out + r);                                   \
    }

ALL_ROWS(rows_baseline, )
#if defined(__x86_64__)
ALL_ROWS(rows_avx2, __attribute__((target("avx2,fma"))))
#endif

void krein__sdot_rows(int64_t rows, int64_t n, const float *a, int64_t lda, const float *x,
                      float *out) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        rows_avx2(rows, n, a, lda, x, out);
        return;
    }
#endif
    rows_baseline(rows, n, a, lda, x, out);
}
