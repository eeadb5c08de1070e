/* strips.c -- C = A B with an A that is read where it stands
 *
 * Rows of C are taken in blocks that stay in registers while all terms of all pieces pass by: up to
 * 14 x 32 with AVX-512, 6 x 16 with AVX2. Numbers of A are multiplied with whole rows of B; neither
 * is packed. The rows of A in a block have one stride, or stand beside each other. */
#include "num/strips.h"

#include "num/simd.h"

#include <string.h>

#define NAME(x) x##_baseline
#define TARGET
#define LANES 4
#define HIGH 4
#include "num/strips_path.inc"

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define HIGH 6
#include "num/strips_path.inc"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target(KREIN_AVX512)))
#define LANES 16
#define HIGH 14
#include "num/strips_path.inc"
#endif

static void product(bool add, int64_t m, int64_t columns, const krein_strips *s, float *c,
                    int64_t ldc) {
    bool beside = s->a_row == 1;
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512) {
        product_avx512(beside, add, m, columns, s, c, ldc);
        return;
    }
    if (level == KREIN_SIMD_AVX2) {
        product_avx2(beside, add, m, columns, s, c, ldc);
        return;
    }
#endif
    product_baseline(beside, add, m, columns, s, c, ldc);
}

void krein__strips(bool add, int64_t m, int64_t columns, const krein_strips *s, float *c,
                   int64_t ldc) {
    enum { ROWS = 64 };
    if (columns % KREIN_STRIP == 0) {
        product(add, m, columns, s, c, ldc);
        return;
    }
    /* by way of whole vectors */
    float whole[ROWS * KREIN_PANEL];
    for (int64_t from = 0; from < m; from += ROWS, c += ROWS * ldc) {
        int64_t rows = krein__min(ROWS, m - from), ld = (columns + KREIN_STRIP - 1) / KREIN_STRIP;
        krein_strips part = *s;
        part.a += from * s->a_row;
        ld *= KREIN_STRIP;
        for (int64_t i = 0; add && i < rows; i++) {
            memcpy(whole + i * ld, c + i * ldc, (size_t)columns * sizeof *c);
            memset(whole + i * ld + columns, 0, (size_t)(ld - columns) * sizeof *c);
        }
        product(add, rows, ld, &part, whole, ld);
        for (int64_t i = 0; i < rows; i++)
            memcpy(c + i * ldc, whole + i * ld, (size_t)columns * sizeof *c);
    }
}
