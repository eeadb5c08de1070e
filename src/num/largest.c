/* largest.c -- the largest number of square windows: see largest.h. By comparisons and masks, a
 * vector of channels at a time: a compiler makes jumps of them otherwise. */
#include "num/largest.h"

#include "num/simd.h"

typedef enum job { FIND, SPREAD, COLLECT } job;

#define NAME(x) x##_one
#define TARGET
#define LANES 1
#include "num/largest_path.inc"

#define NAME(x) x##_baseline
#define TARGET
#define LANES 4
#include "num/largest_path.inc"

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#include "num/largest_path.inc"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target(KREIN_AVX512)))
#define LANES 16
#include "num/largest_path.inc"
#endif

static void work(job what, const krein_squares *w, const float *x, float *out, const float *from,
                 float *to) {
    int64_t lanes = 4;
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512 && w->c >= 16) {
        windows_avx512(what, w, 0, x, out, from, to);
        lanes = 16;
    } else if (level >= KREIN_SIMD_AVX2 && w->c >= 8) {
        windows_avx2(what, w, 0, x, out, from, to);
        lanes = 8;
    } else
#endif
        windows_baseline(what, w, 0, x, out, from, to);
    if (w->c % lanes > 0) windows_one(what, w, w->c / lanes * lanes, x, out, from, to);
}

void krein__largest(const krein_squares *w, const float *x, float *out) {
    work(FIND, w, x, out, NULL, NULL);
}

void krein__largest_spread(const krein_squares *w, const float *x, float *out, const float *from,
                           float *to) {
    work(SPREAD, w, x, out, from, to);
}

void krein__largest_collect(const krein_squares *w, const float *x, float *out, const float *from,
                            float *to) {
    work(COLLECT, w, x, out, from, to);
}
