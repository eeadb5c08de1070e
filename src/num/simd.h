/* simd.h -- which instruction set this CPU has, and vectors of eight floats by compiler extensions,
 * for files that compile one source for several sets. Functions take them by address: by value
 * their calling convention depends on the set. Code for a set goes into a .inc file included once
 * for each, with TARGET and NAME set: an inline function without the target would be split into
 * scalars before it is inlined. */
#ifndef KREIN_SIMD_H
#define KREIN_SIMD_H

#include <stdint.h>

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t v8_index __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))
/* Lanes 0-7 are a's, 8-15 b's. */
#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (v8_index){__VA_ARGS__})
#endif

/* The best set of this CPU that there is code for. It reads words that the C run-time filled at
 * start: cheap enough for every call. */
typedef enum krein_simd {
    KREIN_SIMD_BASELINE = 0,
    KREIN_SIMD_AVX2 = 1, /* with fused multiply-add */
    KREIN_SIMD_AVX512 = 2
} krein_simd;
#if defined(__clang__)
#define KREIN_AVX512 "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"
#else /* the default is 256 bits even with AVX-512 */
#define KREIN_AVX512 "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,prefer-vector-width=512"
#endif
static inline krein_simd krein__simd(void) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return KREIN_SIMD_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return KREIN_SIMD_AVX512;
    return KREIN_SIMD_AVX2;
#else
    return KREIN_SIMD_BASELINE;
#endif
}

#endif
