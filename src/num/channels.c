/* channels.c -- passes over pixels with c channels: see channels.h. A vector of channels at a time,
 * a few pixels of all channels before the next ones: these are then still in the cache. */
#include "num/channels.h"

#include "num/simd.h"

enum { FEW = 64 }; /* pixels */

#define NAME(x) x##_one
#define TARGET
#define LANES 1
#include "num/channels_path.inc"

#define NAME(x) x##_baseline
#define TARGET
#define LANES 4
#include "num/channels_path.inc"

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#include "num/channels_path.inc"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target(KREIN_AVX512)))
#define LANES 16
#include "num/channels_path.inc"
#endif

/* Floats of the vectors that are best for rows of n. */
static int64_t lanes_for(int64_t n) {
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512 && n >= 16) return 16;
    if (level >= KREIN_SIMD_AVX2 && n >= 8) return 8;
#endif
    return n >= 4 ? 4 : 1;
}

void krein__channels_sums(int64_t pixels, int64_t c, const float *y, const float *x, const float *m,
                          double *one, double *two) {
    int64_t lanes = lanes_for(c), done = c / lanes * lanes;
#if defined(__x86_64__)
    if (lanes == 16) sums_avx512(0, pixels, c, y, x, m, one, two);
    if (lanes == 8) sums_avx2(0, pixels, c, y, x, m, one, two);
#endif
    if (lanes == 4) sums_baseline(0, pixels, c, y, x, m, one, two);
    sums_one(lanes > 1 ? done : 0, pixels, c, y, x, m, one, two);
}

void krein__channels_mix(int64_t pixels, int64_t c, int inputs, const float *const *x,
                         const float *a, const float *b, float *out) {
    int64_t lanes = lanes_for(c), done = c / lanes * lanes;
#if defined(__x86_64__)
    if (lanes == 16) mix_avx512(0, pixels, c, inputs, x, a, b, out);
    if (lanes == 8) mix_avx2(0, pixels, c, inputs, x, a, b, out);
#endif
    if (lanes == 4) mix_baseline(0, pixels, c, inputs, x, a, b, out);
    mix_one(lanes > 1 ? done : 0, pixels, c, inputs, x, a, b, out);
}

void krein__where_above(int64_t n, const float *at, const float *x, float *out) {
    int64_t lanes = lanes_for(n), done = 0;
#if defined(__x86_64__)
    if (lanes == 16) done = where_avx512(0, n, at, x, out);
    if (lanes == 8) done = where_avx2(0, n, at, x, out);
#endif
    if (lanes == 4) done = where_baseline(0, n, at, x, out);
    where_one(done, n, at, x, out);
}

void krein__above(int64_t n, const float *x, float *out) { krein__where_above(n, x, NULL, out); }
