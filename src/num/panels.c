/* panels.c -- C = A'B for a panel of 32 columns
 *
 * Rows of C are taken in blocks that stay in registers while k rows of A and B pass by: 12 x 32
 * with AVX-512, 6 x 16 with AVX2. Neither operand is packed: B stands as it is read, and of A the
 * numbers beside each other are multiplied with the same row of B. OpenBLAS packs both for every
 * call, which costs most where one of the sizes is small. GFLOP/s on one core (Zen 4, AVX-512; best
 * of many), n rows times 784 x 4,000 numbers, and the products x'g that the gradient of these is; C
 * is here a panel that stays in the cache, and of OpenBLAS the whole of it:
 *
 *               this             OpenBLAS 0.3.21
 *               x W     x'g      x W     x'g
 *     n = 32    104     110       72      82
 *     n = 256   113     114      101     103 */
#include "num/panels.h"

#include "num/simd.h"

#include <string.h>

enum { SHIFT = 16 }; /* fractions of a float that is brought near */
enum { GROUP = 4 };  /* rows of A and B */
enum { LINE = 16 };  /* floats of a cache line */

#define NAME(x) x##_baseline
#define TARGET
#define LANES 4
#define HIGH 4
#define LINES 1
#include "num/panels_path.inc"

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define HIGH 6
#define LINES 1
#include "num/panels_path.inc"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target(KREIN_AVX512)))
#define LANES 16
#define HIGH 12
#define LINES 3
#include "num/panels_path.inc"
#endif

void krein__panel_product(bool add, int64_t m, int64_t k, const float *a, int64_t lda,
                          const float *b, float *c, int64_t ldc, const krein_ahead *ahead) {
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512) {
        product_avx512(add, m, k, a, lda, b, c, ldc, ahead);
        return;
    }
    if (level == KREIN_SIMD_AVX2) {
        product_avx2(add, m, k, a, lda, b, c, ldc, ahead);
        return;
    }
#endif
    product_baseline(add, m, k, a, lda, b, c, ldc, ahead);
}

void krein__panels_from(int64_t rows, int64_t columns, const float *a, float *panels) {
    memset(panels, 0, (size_t)(krein__panels(columns) * rows * KREIN_PANEL) * sizeof *panels);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            panels[krein__panel_index(rows, i, j)] = a[i * columns + j];
}

void krein__panels_to(int64_t rows, int64_t columns, const float *panels, float *a) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            a[i * columns + j] = panels[krein__panel_index(rows, i, j)];
}
