/* both.c -- a matrix times a few vectors and its transpose times a few others, in one pass
 *
 *     u = T v (rows x c),   w += T'x (c x n),     v: c x n, x: rows x c, c <= KREIN_BOTH
 *
 * T is read once, where two products would read it twice; a general product also copies it before
 * it begins, which takes longer than multiplying by so few columns. Some rows at a time, so that w
 * is loaded and stored once for them. Sums are float32, those of u in eight parts. */
#include "num/blas.h"
#include "num/simd.h"

/* R rows and C columns. */
#define BLOCK(NAME, TARGET, R, C)                                                                  \
    TARGET static void NAME(int64_t n, const float *T, int64_t ld, const float *v, int64_t ldv,    \
                            const float *x, float *u, float *w, int64_t ldw) {                     \
        v8 sum[R][C] = {{{0}}};                                                                    \
        int64_t j = 0;                                                                             \
        for (; j + 8 <= n; j += 8) {                                                               \
            v8 t[R];                                                                               \
            for (int r = 0; r < R; r++) t[r] = *(const v8 *)(T + r * ld + j);                      \
            for (int c = 0; c < C; c++) {                                                          \
                v8 with = *(const v8 *)(v + c * ldv + j), to = *(const v8 *)(w + c * ldw + j);     \
                for (int r = 0; r < R; r++) {                                                      \
                    sum[r][c] += t[r] * with;                                                      \
                    to += t[r] * x[r * C + c];                                                     \
                }                                                                                  \
                *(v8 *)(w + c * ldw + j) = to;                                                     \
            }                                                                                      \
        }                                                                                          \
        for (int r = 0; r < R; r++)                                                                \
            for (int c = 0; c < C; c++) {                                                          \
                v8 s = sum[r][c];                                                                  \
                float all = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));     \
                for (int64_t l = j; l < n; l++) {                                                  \
                    all += T[r * ld + l] * v[c * ldv + l];                                         \
                    w[c * ldw + l] += T[r * ld + l] * x[r * C + c];                                \
                }                                                                                  \
                u[r * C + c] = all;                                                                \
            }                                                                                      \
    }

/* All rows, R at a time. */
#define COLUMNS(NAME, TARGET, R, C)                                                                \
    BLOCK(NAME##_some, TARGET, R, C)                                                               \
    BLOCK(NAME##_one, TARGET, 1, C)                                                                \
    TARGET static void NAME(int64_t rows, int64_t n, const float *T, int64_t ld, const float *v,   \
                            int64_t ldv, const float *x, float *u, float *w, int64_t ldw) {        \
        int64_t i = 0;                                                                             \
        for (; i + R <= rows; i += R)                                                              \
            NAME##_some(n, T + i * ld, ld, v, ldv, x + i * C, u + i * C, w, ldw);                  \
        for (; i < rows; i++) NAME##_one(n, T + i * ld, ld, v, ldv, x + i * C, u + i * C, w, ldw); \
    }

typedef void product(int64_t rows, int64_t n, const float *T, int64_t ld, const float *v,
                     int64_t ldv, const float *x, float *u, float *w, int64_t ldw);

/* Rows at a time: as many as leave sums and factors in registers. */
#define ALL_COLUMNS(NAME, TARGET)                                                                  \
    COLUMNS(NAME##_1, TARGET, 4, 1)                                                                \
    COLUMNS(NAME##_2, TARGET, 3, 2)                                                                \
    COLUMNS(NAME##_3, TARGET, 2, 3)                                                                \
    COLUMNS(NAME##_4, TARGET, 2, 4)                                                                \
    static product *const NAME[KREIN_BOTH] = {NAME##_1, NAME##_2, NAME##_3, NAME##_4};

ALL_COLUMNS(baseline, )
#if defined(__x86_64__)
ALL_COLUMNS(avx2, __attribute__((target("avx2,fma"))))
#endif

void krein__both(int64_t rows, int64_t n, int64_t c, const float *T, int64_t ld, const float *v,
                 int64_t ldv, const float *x, float *u, float *w, int64_t ldw) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        avx2[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
        return;
    }
#endif
    baseline[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
}
