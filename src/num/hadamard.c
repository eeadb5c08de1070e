/* hadamard.c -- fast Walsh-Hadamard transform
 *
 * The stages commute, so they go from the short distances to the long ones: 1, 2, 4 within a
 * vector of eight (a shuffle and a multiply-add each), 8, 16, 32 across eight vectors in the same
 * registers, then three stages a pass. Transforms beyond the first-level cache are split into
 * parts that fit, each finished before the next, and joined by passes of their own.
 * n log2(n) additions; every pass reads and writes the array once. */
#include "num/hadamard.h"

#include "num/simd.h"

#include <stddef.h>

enum { CACHED = 4096 }; /* floats: half of a first-level cache */

#define NAME(x) x##_baseline
#define TARGET
#include "num/hadamard_path.inc"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "num/hadamard_path.inc"
#undef NAME
#undef TARGET
#endif

/* n = 1, 2, 4 */
static void tiny(int64_t n, const float *x, const float *diagonal, float *out) {
    for (int64_t j = 0; j < n; j++) out[j] = diagonal ? diagonal[j] * x[j] : x[j];
    for (int64_t h = 1; h < n; h *= 2)
        for (int64_t j = 0; j < n; j++)
            if (!(j & h)) {
                float a = out[j], b = out[j + h];
                out[j] = a + b;
                out[j + h] = a - b;
            }
}

void krein__fwht_scaled(int64_t n, const float *x, const float *diagonal, float *out) {
    if (n < 8) {
        tiny(n, x, diagonal, out);
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        fwht_avx2(n, x, diagonal, out);
        return;
    }
#endif
    fwht_baseline(n, x, diagonal, out);
}

void krein__fwht(int64_t n, float *x) { krein__fwht_scaled(n, x, NULL, x); }
