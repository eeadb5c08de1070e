/* rounded.c -- rows of float32 in 16 bits
 *
 *     s_i = max_j |z_ij| / 32767,   q_ij = z_ij / s_i to the nearest whole number,   z_ij ~ s_i
 * q_ij
 *
 * Features of a row are of one size, so that whole numbers are finer than float16, which spends
 * five bits on exponents: errors of 9e-6 of the row's largest, where float16 has 1e-4. Products
 * with vectors read them as they are, so that few vectors are bound by reading half of the bytes.
 */
#include "num/rounded.h"

#include "num/simd.h"

#include <math.h>
#include <string.h>

static const float TOP = 32767, TINY = 1e-30F; /* a row below it is zero */

/* As bits, numbers without their sign are in order, and infinities and NaNs above them. Adding
 * 1.5 * 2^23 rounds to the nearest whole number, which is then in the lower bits. */
#define WHOLE 12582912.0F
#define WHOLE_BITS 0x4b400000
#define INFINITE 0x7f800000

enum { ROWS = 4, SOME = 32 }; /* rows of a product that share a vector's loads; at a time */

typedef struct path {
    void (*round)(int64_t D, const float *z, int16_t *code, float *scale);
    bool (*by)(int64_t D, const float *z, float by, int16_t *code);
    void (*widen)(int64_t D, const int16_t *code, float scale, float *z);
    void (*dot)(int64_t n, int64_t D, const int16_t *code, const float *v, float *out);
    void (*add)(int64_t n, int64_t D, const int16_t *code, const float *by, float *out);
    float (*square)(int64_t D, const int16_t *code);
} path;

/* What the numbers of a row are multiplied by; 0: all are zero, or one is not finite. */
static float factor(uint32_t most, float *scale) {
    float largest;
    memcpy(&largest, &most, sizeof largest);
    float by = largest >= TINY && isfinite(largest) ? TOP / largest : 0;
    *scale = by > 0 ? largest / TOP : isfinite(largest) ? 0 : NAN;
    return by;
}

#define NAME(x) x##_baseline
#define TARGET
#define LANES 4
#include "num/rounded_path.inc"

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#include "num/rounded_path.inc"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target(KREIN_AVX512)))
#define LANES 16
#include "num/rounded_path.inc"
#endif

static const path *best(void) {
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512) return &path_avx512;
    if (level == KREIN_SIMD_AVX2) return &path_avx2;
#endif
    return &path_baseline;
}

void krein__round_rows(int64_t n, int64_t D, const float *z, int16_t *code, float *scale) {
    for (int64_t i = 0; i < n; i++) best()->round(D, z + i * D, code + i * D, scale + i);
}

bool krein__round_by(int64_t D, const float *z, float scale, int16_t *code) {
    return best()->by(D, z, scale > 0 ? 1 / scale : 0, code);
}

void krein__rounded_rows(int64_t n, int64_t D, const int16_t *code, const float *scale, float *z) {
    for (int64_t i = 0; i < n; i++) best()->widen(D, code + i * D, scale[i], z + i * D);
}

void krein__rounded_times(int64_t n, int64_t D, const int16_t *code, const float *scale,
                          const float *v, float *out, int64_t step) {
    float sum[SOME];
    for (int64_t i = 0; i < n; i += SOME) {
        int64_t m = n - i < SOME ? n - i : SOME;
        best()->dot(m, D, code + i * D, v, sum);
        for (int64_t r = 0; r < m; r++) out[(i + r) * step] = scale[i + r] * sum[r];
    }
}

void krein__rounded_add(int64_t n, int64_t D, const int16_t *code, const float *scale,
                        const float *x, int64_t step, float *out) {
    float by[SOME];
    for (int64_t i = 0; i < n; i += SOME) {
        int64_t m = n - i < SOME ? n - i : SOME;
        for (int64_t r = 0; r < m; r++) by[r] = scale[i + r] * x[(i + r) * step];
        best()->add(m, D, code + i * D, by, out);
    }
}

void krein__rounded_squares(int64_t n, int64_t D, const int16_t *code, const float *scale,
                            double *out) {
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)scale[i] * (double)scale[i] * (double)best()->square(D, code + i * D);
}
