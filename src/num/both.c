/* both.c -- a matrix times some vectors and its transpose times others, in one pass
 *
 *     u += T v (rows x c),   w += T'x (n x c),     v: n x c, x: rows x c
 *
 * T is read once, where two products would read it twice; a general product also copies it before
 * it begins, which takes longer than multiplying by so few columns. v and w are in lanes: LANES
 * numbers of a column, which a row of T meets, stand side by side, and after them those of the next
 * column. (Columns of 1,024 numbers one after the other would be 4 KB apart, where loads wait for
 * stores whose addresses end in the same twelve bits: three columns took three times as long.)
 *
 * Some rows of T at a time, so that w is loaded and stored once for them, and as many columns as
 * leave their sums in registers. More columns are groups, one after the other on some rows of T,
 * which stay in the caches. The rows that come next are fetched meanwhile: one row is too short for
 * the processor to read ahead by itself (40,000 rows in 16 bits: a quarter less time). Sums are
 * float32, those of u in eight or sixteen parts. T is float32 or of 16 bits. */
#include "num/both.h"

#include "num/simd.h"

#include <stddef.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LANES = KREIN_LANES, STRIP = 32 }; /* rows of T that all groups meet */
enum { MOST = 6, FEWER = 4 };             /* columns at a time, with 32 registers and with 16 */

typedef int16_t v8_short __attribute__((vector_size(16), aligned(2), may_alias));
#if defined(__x86_64__)
typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));
#endif

#define LOAD_v8_float(p) (*(const v8 *)(p))
#define LOAD_v16_float(p) (*(const v16 *)(p))
#define LOAD_v8_int16_t(p)                                                                         \
    __builtin_convertvector(__builtin_convertvector(*(const v8_short *)(p), v8_index), v8)
/* not by __builtin_convertvector: gcc 12 makes two halves of it */
#define LOAD_v16_int16_t(p)                                                                        \
    (v16) _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i_u *)(p))))

/* The sum of some numbers. By elements: gcc 12 may put them on the stack, and takes halves of them
 * that are read as vectors for better aligned than they are. */
#define ADD_4(s, i) (((s)[i] + (s)[(i) + 1]) + ((s)[(i) + 2] + (s)[(i) + 3]))
#define ADD_v8(s) (ADD_4(s, 0) + ADD_4(s, 4))
#define ADD_v16(s) _mm512_reduce_add_ps((__m512)(s))

/* Sums stay in registers only where all loops over rows and columns are written out. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define EACH(i, n) UNROLL for (int i = 0; i < (n); i++)

/* R rows and C columns; x and u have ldx numbers a row. U, W: which products. */
#define BLOCK(NAME, TARGET, V, TYPE, R, C, U, W)                                                   \
    TARGET static void NAME(int64_t n, const TYPE *T, int64_t ld, const float *v, const float *x,  \
                            int64_t ldx, float *u, float *w) {                                     \
        enum { WIDE = sizeof(V) / sizeof(float) };                                                 \
        V sum[R][C] = {{{0}}};                                                                     \
        float by[R][C] = {{0}};                                                                    \
        int64_t j = 0;                                                                             \
        EACH(r, R) EACH(c, C) if (W) by[r][c] = x[r * ldx + c];                                    \
        for (; j + LANES <= n; j += LANES) {                                                       \
            if (j % (64 / (int64_t)sizeof *T) == 0)                                                \
                EACH(r, R) __builtin_prefetch(T + (R + r) * ld + j);                               \
            EACH(h, LANES / WIDE) {                                                                \
                V t[R];                                                                            \
                EACH(r, R) t[r] = LOAD_##V##_##TYPE(T + r * ld + j + h * WIDE);                    \
                EACH(c, C) {                                                                       \
                    int64_t at = j * C + c * LANES + h * WIDE;                                     \
                    V with = {0}, to = {0};                                                        \
                    if (U) with = *(const V *)(v + at);                                            \
                    if (W) to = *(const V *)(w + at);                                              \
                    EACH(r, R) {                                                                   \
                        if (U) sum[r][c] += t[r] * with;                                           \
                        if (W) to += t[r] * by[r][c];                                              \
                    }                                                                              \
                    if (W) *(V *)(w + at) = to;                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        EACH(r, R) EACH(c, C) if (U) u[r * ldx + c] += ADD_##V(sum[r][c]);                         \
        for (int r = 0; j < n && r < R; r++) /* fewer than LANES are left */                       \
            for (int c = 0; c < C; c++)                                                            \
                for (int64_t l = j; l < n; l++) {                                                  \
                    float t = (float)T[r * ld + l];                                                \
                    int64_t at = j * C + c * LANES + l - j;                                        \
                    if (U) u[r * ldx + c] += t * v[at];                                            \
                    if (W) w[at] += t * x[r * ldx + c];                                            \
                }                                                                                  \
    }

/* All rows, R at a time. */
#define ROWS(NAME, TARGET, V, TYPE, R, C, U, W)                                                    \
    BLOCK(NAME##_some, TARGET, V, TYPE, R, C, U, W)                                                \
    BLOCK(NAME##_one, TARGET, V, TYPE, 1, C, U, W)                                                 \
    TARGET static void NAME(int64_t rows, int64_t n, const TYPE *T, int64_t ld, const float *v,    \
                            const float *x, int64_t ldx, float *u, float *w) {                     \
        int64_t i = 0;                                                                             \
        for (; i + R <= rows; i += R)                                                              \
            NAME##_some(n, T + i * ld, ld, v, W ? x + i * ldx : NULL, ldx, U ? u + i * ldx : NULL, \
                        w);                                                                        \
        for (; i < rows; i++)                                                                      \
            NAME##_one(n, T + i * ld, ld, v, W ? x + i * ldx : NULL, ldx, U ? u + i * ldx : NULL,  \
                       w);                                                                         \
    }

/* By the number of columns. */
#define TABLE(NAME, TYPE)                                                                          \
    static void (*const NAME[])(int64_t rows, int64_t n, const TYPE *T, int64_t ld,                \
                                const float *v, const float *x, int64_t ldx, float *u, float *w)

/* Rows at a time: as many as leave sums and factors in registers. */
#define TABLE_FEWER(NAME, TARGET, TYPE, U, W)                                                      \
    ROWS(NAME##_1, TARGET, v8, TYPE, 4, 1, U, W)                                                   \
    ROWS(NAME##_2, TARGET, v8, TYPE, 3, 2, U, W)                                                   \
    ROWS(NAME##_3, TARGET, v8, TYPE, 2, 3, U, W)                                                   \
    ROWS(NAME##_4, TARGET, v8, TYPE, 2, 4, U, W)                                                   \
    TABLE(NAME, TYPE) = {NULL, NAME##_1, NAME##_2, NAME##_3, NAME##_4};
#define TABLE_MOST(NAME, TARGET, TYPE, U, W)                                                       \
    ROWS(NAME##_1, TARGET, v16, TYPE, 4, 1, U, W)                                                  \
    ROWS(NAME##_2, TARGET, v16, TYPE, 4, 2, U, W)                                                  \
    ROWS(NAME##_3, TARGET, v16, TYPE, 4, 3, U, W)                                                  \
    ROWS(NAME##_4, TARGET, v16, TYPE, 4, 4, U, W)                                                  \
    ROWS(NAME##_5, TARGET, v16, TYPE, 4, 5, U, W)                                                  \
    ROWS(NAME##_6, TARGET, v16, TYPE, 4, 6, U, W)                                                  \
    TABLE(NAME, TYPE) = {NULL, NAME##_1, NAME##_2, NAME##_3, NAME##_4, NAME##_5, NAME##_6};
#define ALL(SOME, NAME, TARGET)                                                                    \
    SOME(NAME, TARGET, float, 1, 1)                                                                \
    SOME(NAME##_times, TARGET, float, 1, 0)                                                        \
    SOME(NAME##_back, TARGET, float, 0, 1)                                                         \
    SOME(NAME##_16, TARGET, int16_t, 1, 1)

ALL(TABLE_FEWER, baseline, )
#if defined(__x86_64__)
ALL(TABLE_FEWER, avx2, __attribute__((target("avx2,fma"))))
ALL(TABLE_MOST, avx512, __attribute__((target(KREIN_AVX512))))
_Static_assert(sizeof avx512 / sizeof *avx512 == MOST + 1, "");
#define PICK(SUFFIX, c)                                                                            \
    (krein__simd() == KREIN_SIMD_AVX512 ? avx512##SUFFIX                                           \
     : krein__simd() == KREIN_SIMD_AVX2 ? avx2##SUFFIX                                             \
                                        : baseline##SUFFIX)[c]
#else
#define PICK(SUFFIX, c) baseline##SUFFIX[c]
#endif
_Static_assert(sizeof baseline / sizeof *baseline == FEWER + 1, "");

/* ---- groups of columns -------------------------------------------------- */

static int64_t groups_of(int64_t c) {
    int64_t most = krein__simd() == KREIN_SIMD_AVX512 ? MOST : FEWER;
    return (c + most - 1) / most;
}

/* Columns `first` to `end` of c: group g. */
typedef struct group {
    int64_t first, end;
} group;

static group group_of(int64_t c, int64_t g) {
    int64_t groups = groups_of(c);
    return (group){g * c / groups, (g + 1) * c / groups};
}

static int64_t padded(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

int64_t krein__lanes_size(int64_t n, int64_t c) { return padded(n) * c; }

/* Where row i of column l is, of n rows. */
static int64_t place_of(group g, int64_t n, int64_t i, int64_t l) {
    return padded(n) * g.first + i / LANES * LANES * (g.end - g.first) + (l - g.first) * LANES +
           i % LANES;
}

void krein__to_lanes(int64_t rows, int64_t c, const float *v, krein_lanes to) {
    for (int64_t k = 0; k < groups_of(c); k++) {
        group g = group_of(c, k);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t l = g.first; l < g.end; l++)
                to.x[place_of(g, to.n, to.from + i, l)] = v[i * c + l];
    }
}

void krein__lanes_add(int64_t n, int64_t c, const double *lanes, double *out) {
    for (int64_t k = 0; k < groups_of(c); k++) {
        group g = group_of(c, k);
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = g.first; l < g.end; l++) out[i * c + l] += lanes[place_of(g, n, i, l)];
    }
}

/* A group's part of it. */
static float *part_of(krein_lanes m, group g) {
    return m.x ? m.x + place_of(g, m.n, m.from, g.first) : NULL;
}

/* The groups one after the other on some rows of T; on all rows where there is one. FUNCTION: for
 * c columns. */
#define GROUPS(NAME, TYPE, FUNCTION)                                                               \
    void NAME(int64_t rows, int64_t n, int64_t c, const TYPE *T, int64_t ld, krein_lanes v,        \
              const float *x, float *u, krein_lanes w) {                                           \
        int64_t groups = groups_of(c), strip = groups == 1 ? rows : STRIP;                         \
        for (int64_t i = 0; i < rows; i += strip)                                                  \
            for (int64_t k = 0; k < groups; k++) {                                                 \
                group g = group_of(c, k);                                                          \
                int64_t some = rows - i < strip ? rows - i : strip, at = i * c + g.first;          \
                FUNCTION(g.end - g.first, u, w.x)                                                  \
                (some, n, T + i * ld, ld, part_of(v, g), x ? x + at : NULL, c, u ? u + at : NULL,  \
                 part_of(w, g));                                                                   \
            }                                                                                      \
    }
#define OF_FLOAT(c, u, w) (!(u) ? PICK(_back, c) : !(w) ? PICK(_times, c) : PICK(, c))
#define OF_WHOLE(c, u, w) PICK(_16, c)

GROUPS(krein__both, float, OF_FLOAT)
GROUPS(krein__both16, int16_t, OF_WHOLE)
