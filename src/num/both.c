/* both.c -- a matrix times a few vectors and its transpose times a few others, in one pass
 *
 *     u = T v (rows x c),   w += T'x (c x n),     v: c x n, x: rows x c, c <= KREIN_BOTH
 *
 * T is read once, where two products would read it twice; a general product also copies it before
 * it begins, which takes longer than multiplying by so few columns. Some rows at a time, so that w
 * is loaded and stored once for them. The rows that come next are fetched meanwhile: one row is too
 * short for the processor to read ahead by itself (40,000 rows in 16 bits: a quarter less time). Sums
 * are float32, those of u in eight parts. T is float32 or of 16 bits. */
#include "num/blas.h"
#include "num/simd.h"

typedef int16_t v8_short __attribute__((vector_size(16), aligned(2), may_alias));

#define LOAD_float(p) (*(const v8 *)(p))
#define LOAD_int16_t(p)                                                                            \
    __builtin_convertvector(__builtin_convertvector(*(const v8_short *)(p), v8_index), v8)

/* R rows and C columns. */
#define BLOCK(NAME, TARGET, TYPE, R, C)                                                            \
    TARGET static void NAME(int64_t n, const TYPE *T, int64_t ld, const float *v, int64_t ldv,     \
                            const float *x, float *u, float *w, int64_t ldw) {                     \
        v8 sum[R][C] = {{{0}}};                                                                    \
        int64_t j = 0;                                                                             \
        for (; j + 8 <= n; j += 8) {                                                               \
            if (j % (64 / (int64_t)sizeof *T) == 0)                                                \
                for (int r = 0; r < R; r++) __builtin_prefetch(T + (R + r) * ld + j);              \
            v8 t[R];                                                                               \
            for (int r = 0; r < R; r++) t[r] = LOAD_##TYPE(T + r * ld + j);                        \
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
                    all += (float)T[r * ld + l] * v[c * ldv + l];                                  \
                    w[c * ldw + l] += (float)T[r * ld + l] * x[r * C + c];                         \
                }                                                                                  \
                u[r * C + c] = all;                                                                \
            }                                                                                      \
    }

/* All rows, R at a time. */
#define COLUMNS(NAME, TARGET, TYPE, R, C)                                                          \
    BLOCK(NAME##_some, TARGET, TYPE, R, C)                                                         \
    BLOCK(NAME##_one, TARGET, TYPE, 1, C)                                                          \
    TARGET static void NAME(int64_t rows, int64_t n, const TYPE *T, int64_t ld, const float *v,    \
                            int64_t ldv, const float *x, float *u, float *w, int64_t ldw) {        \
        int64_t i = 0;                                                                             \
        for (; i + R <= rows; i += R)                                                              \
            NAME##_some(n, T + i * ld, ld, v, ldv, x + i * C, u + i * C, w, ldw);                  \
        for (; i < rows; i++) NAME##_one(n, T + i * ld, ld, v, ldv, x + i * C, u + i * C, w, ldw); \
    }

/* Rows at a time: as many as leave sums and factors in registers. */
#define ALL_COLUMNS(NAME, TARGET, TYPE)                                                            \
    COLUMNS(NAME##_1, TARGET, TYPE, 4, 1)                                                          \
    COLUMNS(NAME##_2, TARGET, TYPE, 3, 2)                                                          \
    COLUMNS(NAME##_3, TARGET, TYPE, 2, 3)                                                          \
    COLUMNS(NAME##_4, TARGET, TYPE, 2, 4)                                                          \
    static void (*const NAME[KREIN_BOTH])(int64_t rows, int64_t n, const TYPE *T, int64_t ld,      \
                                          const float *v, int64_t ldv, const float *x, float *u,   \
                                          float *w,                                                \
                                          int64_t ldw) = {NAME##_1, NAME##_2, NAME##_3, NAME##_4};

ALL_COLUMNS(baseline, , float)
ALL_COLUMNS(baseline16, , int16_t)
#if defined(__x86_64__)
ALL_COLUMNS(avx2, __attribute__((target("avx2,fma"))), float)
ALL_COLUMNS(avx2_16, __attribute__((target("avx2,fma"))), int16_t)
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void krein__both(int64_t rows, int64_t n, int64_t c, const float *T, int64_t ld, const float *v,
                 int64_t ldv, const float *x, float *u, float *w, int64_t ldw) {
#if defined(__x86_64__)
    if (has_avx2()) {
        avx2[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
        return;
    }
#endif
    baseline[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
}

void krein__both16(int64_t rows, int64_t n, int64_t c, const int16_t *T, int64_t ld, const float *v,
                   int64_t ldv, const float *x, float *u, float *w, int64_t ldw) {
#if defined(__x86_64__)
    if (has_avx2()) {
        avx2_16[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
        return;
    }
#endif
    baseline16[c - 1](rows, n, T, ld, v, ldv, x, u, w, ldw);
}
