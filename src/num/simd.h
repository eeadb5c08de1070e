/* simd.h -- vectors of eight floats by compiler extensions, for files that compile one source for
 * several instruction sets. Functions take them by address: by value their calling convention
 * depends on the set. Code for a set goes into a .inc file included once for each, with TARGET
 * and NAME set: an inline function without the target would be split into scalars before it is
 * inlined. */
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

#endif
