/* both_wide.c -- a matrix times many columns and its transpose times others, in one pass
 *
 *     u = T v (rows x c),   w += T'x (n x c),     v: n x c, x: rows x c
 *
 * c is a multiple of KREIN_WIDE. As in both.c, T is read once and copied nowhere: a general product
 * packs it first, which is half of the time of some ten columns. A block of T stays in the caches
 * for both products. In either, a few numbers of T are spread over vectors of columns and their
 * sums stay in registers. Sums are float32. */
#include "num/blas.h"
#include "num/simd.h"

#include <string.h>

/* A block of T: two hundred kilobytes, in the cache of a core. */
enum { ROWS = 48, DEPTH = 1024 };

#if defined(__x86_64__)

typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));

/* out[r] += the sum over `depth` of t[r * across + k * along] v[k], for R rows of C vectors. */
#define SUMS(NAME, TARGET, V, R, C)                                                                \
    TARGET static void NAME(int64_t depth, const float *t, int64_t across, int64_t along,          \
                            const float *v, int64_t c, float *out) {                               \
        const int64_t lanes = sizeof(V) / sizeof(float);                                           \
        V sum[R][C];                                                                               \
        for (int r = 0; r < R; r++)                                                                \
            for (int l = 0; l < C; l++) sum[r][l] = *(const V *)(out + r * c + l * lanes);         \
        for (int64_t k = 0; k < depth; k++) {                                                      \
            V with[C];                                                                             \
            for (int l = 0; l < C; l++) with[l] = *(const V *)(v + k * c + l * lanes);             \
            for (int r = 0; r < R; r++)                                                            \
                for (int l = 0; l < C; l++) sum[r][l] += t[r * across + k * along] * with[l];      \
        }                                                                                          \
        for (int r = 0; r < R; r++)                                                                \
            for (int l = 0; l < C; l++) *(V *)(out + r * c + l * lanes) = sum[r][l];               \
    }

/* All rows of C vectors, R at a time. */
#define STRIP(NAME, TARGET, V, R, C)                                                               \
    SUMS(NAME##_some, TARGET, V, R, C)                                                             \
    SUMS(NAME##_one, TARGET, V, 1, C)                                                              \
    static void NAME(int64_t rows, int64_t depth, const float *t, int64_t across, int64_t along,   \
                     const float *v, int64_t c, float *out) {                                      \
        int64_t i = 0;                                                                             \
        for (; i + R <= rows; i += R)                                                              \
            NAME##_some(depth, t + i * across, across, along, v, c, out + i * c);                  \
        for (; i < rows; i++) NAME##_one(depth, t + i * across, across, along, v, c, out + i * c); \
    }

STRIP(avx512_pair, __attribute__((target(KREIN_AVX512))), v16, 12, 2)
STRIP(avx512_triple, __attribute__((target(KREIN_AVX512))), v16, 8, 3)
STRIP(avx512_single, __attribute__((target(KREIN_AVX512))), v16, 12, 1)
STRIP(avx2_pair, __attribute__((target("avx2,fma"))), v8, 6, 2)

typedef void strip(int64_t rows, int64_t depth, const float *t, int64_t across, int64_t along,
                   const float *v, int64_t c, float *out);

/* Every column. Of an odd number of vectors three go together: one alone is slow. */
static void block(bool avx512, int64_t rows, int64_t depth, const float *t, int64_t across,
                  int64_t along, const float *v, int64_t c, float *out) {
    for (int64_t l = 0, wide; l < c; l += wide) {
        int64_t left = (c - l) / KREIN_WIDE;
        strip *some = avx2_pair;
        wide = KREIN_WIDE;
        if (avx512) {
            int64_t vectors = left == 1 ? 1 : left % 2 == 1 ? 3 : 2;
            some = vectors == 1 ? avx512_single : vectors == 2 ? avx512_pair : avx512_triple;
            wide *= vectors;
        }
        some(rows, depth, t, across, along, v + l, c, out + l);
    }
}

static void in_blocks(bool avx512, int64_t rows, int64_t n, int64_t c, const float *T, int64_t ld,
                      const float *v, const float *x, float *u, float *w) {
    if (u) memset(u, 0, (size_t)(rows * c) * sizeof *u);
    for (int64_t i = 0; i < rows; i += ROWS)
        for (int64_t j = 0; j < n; j += DEPTH) {
            const float *t = T + i * ld + j;
            int64_t r = rows - i < ROWS ? rows - i : ROWS, k = n - j < DEPTH ? n - j : DEPTH;
            if (u) block(avx512, r, k, t, ld, 1, v + j * c, c, u + i * c);
            if (w) block(avx512, k, r, t, 1, ld, x + i * c, c, w + j * c);
        }
}

#endif

void krein__both_wide(int64_t rows, int64_t n, int64_t c, const float *T, int64_t ld,
                      const float *v, const float *x, float *u, float *w) {
#if defined(__x86_64__)
    krein_simd simd = krein__simd();
    if (simd > KREIN_SIMD_BASELINE) {
        in_blocks(simd == KREIN_SIMD_AVX512, rows, n, c, T, ld, v, x, u, w);
        return;
    }
#endif
    if (u) krein__sgemm(false, false, rows, c, n, 1, T, ld, v, c, 0, u, c);
    if (w) krein__sgemm(true, false, n, c, rows, 1, T, ld, x, c, 1, w, c);
}
