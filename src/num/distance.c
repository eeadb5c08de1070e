/* distance.c -- sums of |x_j - y_j|, or of its squares, over the columns of one row with each of
 * several
 *
 * Eight partial sums, as in kernel/row_sum.h: the same additions in the same order on every CPU,
 * and so the same bits. A choice between x - y and y - x would keep compilers from using SIMD. */
#include "num/distance.h"

#include "num/simd.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PATH(T, NAME, TARGET, ABS)                                                                 \
    TARGET static void NAME(int64_t d, const T *x, int64_t n, const T *y, int64_t ldy, T *out) {   \
        for (int64_t i = 0; i < n; i++, y += ldy) {                                                \
            T part[8] = {0}, sum = 0;                                                              \
            int64_t j = 0;                                                                         \
            for (; j + 8 <= d; j += 8)                                                             \
                for (int64_t k = 0; k < 8; k++) part[k] += ABS(x[j + k] - y[j + k]);               \
            for (; j < d; j++) sum += ABS(x[j] - y[j]);                                            \
            for (int64_t k = 0; k < 8; k++) sum += part[k];                                        \
            out[i] = sum;                                                                          \
        }                                                                                          \
    }

#define SQUARE(v) ((v) * (v))

PATH(float, float_baseline, , fabsf)
PATH(double, double_baseline, , fabs)
PATH(double, square_baseline, , SQUARE)
#if defined(__x86_64__)
PATH(float, float_rest, __attribute__((target("avx2"))), fabsf)
PATH(double, double_avx2, __attribute__((target("avx2"))), fabs)
PATH(double, square_avx2, __attribute__((target("avx2"))), SQUARE) /* no fused ones: other bits */

/* to[k] has the k-th numbers of the eight. */
__attribute__((target("avx2"))) INLINE void transpose32(const __m256 from[8], __m256 to[8]) {
    for (int half = 0; half < 2; half++) { /* numbers 0 to 3 and 4 to 7 of each */
        __m256 both[4], pair[4];
        for (int r = 0; r < 4; r++)
            both[r] = half ? _mm256_permute2f128_ps(from[r], from[r + 4], 0x31)
                           : _mm256_permute2f128_ps(from[r], from[r + 4], 0x20);
        for (int r = 0; r < 4; r += 2) {
            pair[r] = _mm256_unpacklo_ps(both[r], both[r + 1]);
            pair[r + 1] = _mm256_unpackhi_ps(both[r], both[r + 1]);
        }
        for (int odd = 0; odd < 2; odd++) {
            to[4 * half + 2 * odd] = _mm256_shuffle_ps(pair[odd], pair[2 + odd], 0x44);
            to[4 * half + 2 * odd + 1] = _mm256_shuffle_ps(pair[odd], pair[2 + odd], 0xee);
        }
    }
}

/* Eight rows at a time, so that their partial sums are added up together; those of the columns
 * that are left over come first. */
__attribute__((target("avx2"))) static void float_avx2(int64_t d, const float *x, int64_t n,
                                                       const float *y, int64_t ldy, float *out) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    int64_t i = 0, whole = d / 8 * 8;
    const __m256i left = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(d - whole)),
                                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256 last = _mm256_maskload_ps(x + whole, left);
    for (; i + 8 <= n; i += 8, y += 8 * ldy) {
        __m256 part[8], column[8], sum = _mm256_setzero_ps();
        if (whole < d) {
            for (int r = 0; r < 8; r++)
                part[r] = _mm256_andnot_ps(
                    sign, _mm256_sub_ps(last, _mm256_maskload_ps(y + r * ldy + whole, left)));
            transpose32(part, column);
            for (int64_t k = 0; k < d - whole; k++) sum = _mm256_add_ps(sum, column[k]);
        }
        for (int r = 0; r < 8; r++) part[r] = _mm256_setzero_ps();
        for (int64_t j = 0; j < whole; j += 8) {
            __m256 own = _mm256_loadu_ps(x + j);
            for (int r = 0; r < 8; r++) {
                __m256 by = _mm256_sub_ps(own, _mm256_loadu_ps(y + r * ldy + j));
                part[r] = _mm256_add_ps(part[r], _mm256_andnot_ps(sign, by));
            }
        }
        transpose32(part, column);
        for (int k = 0; k < 8; k++) sum = _mm256_add_ps(sum, column[k]);
        _mm256_storeu_ps(out + i, sum);
    }
    float_rest(d, x, n - i, y, ldy, out + i);
}

/* The same of float64. */
__attribute__((target("avx512f"))) INLINE void transpose64(const __m512d from[8], __m512d to[8]) {
    __m512d pair[8];
    for (int r = 0; r < 8; r += 2) {
        pair[r] = _mm512_unpacklo_pd(from[r], from[r + 1]);
        pair[r + 1] = _mm512_unpackhi_pd(from[r], from[r + 1]);
    }
    for (int odd = 0; odd < 2; odd++) {
        __m512d a = _mm512_shuffle_f64x2(pair[odd], pair[2 + odd], 0x88),
                b = _mm512_shuffle_f64x2(pair[odd], pair[2 + odd], 0xdd),
                c = _mm512_shuffle_f64x2(pair[4 + odd], pair[6 + odd], 0x88),
                e = _mm512_shuffle_f64x2(pair[4 + odd], pair[6 + odd], 0xdd);
        to[odd] = _mm512_shuffle_f64x2(a, c, 0x88);
        to[4 + odd] = _mm512_shuffle_f64x2(a, c, 0xdd);
        to[2 + odd] = _mm512_shuffle_f64x2(b, e, 0x88);
        to[6 + odd] = _mm512_shuffle_f64x2(b, e, 0xdd);
    }
}

__attribute__((target("avx512f"))) static void
double_avx512(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy, double *out) {
    int64_t i = 0, whole = d / 8 * 8;
    const __mmask8 left = (__mmask8)((1 << (d - whole)) - 1);
    const __m512d last = _mm512_maskz_loadu_pd(left, x + whole);
    for (; i + 8 <= n; i += 8, y += 8 * ldy) {
        __m512d part[8], column[8], sum = _mm512_setzero_pd();
        if (whole < d) {
            for (int r = 0; r < 8; r++)
                part[r] = _mm512_abs_pd(
                    _mm512_sub_pd(last, _mm512_maskz_loadu_pd(left, y + r * ldy + whole)));
            transpose64(part, column);
            for (int64_t k = 0; k < d - whole; k++) sum = _mm512_add_pd(sum, column[k]);
        }
        for (int r = 0; r < 8; r++) part[r] = _mm512_setzero_pd();
        for (int64_t j = 0; j < whole; j += 8) {
            __m512d own = _mm512_loadu_pd(x + j);
            for (int r = 0; r < 8; r++)
                part[r] = _mm512_add_pd(
                    part[r], _mm512_abs_pd(_mm512_sub_pd(own, _mm512_loadu_pd(y + r * ldy + j))));
        }
        transpose64(part, column);
        for (int k = 0; k < 8; k++) sum = _mm512_add_pd(sum, column[k]);
        _mm512_storeu_pd(out + i, sum);
    }
    double_avx2(d, x, n - i, y, ldy, out + i);
}
#endif

void krein__distances32(int64_t d, const float *x, int64_t n, const float *y, int64_t ldy,
                        float *out) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        float_avx2(d, x, n, y, ldy, out);
        return;
    }
#endif
    float_baseline(d, x, n, y, ldy, out);
}

void krein__squares64(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy,
                      double *out) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        square_avx2(d, x, n, y, ldy, out);
        return;
    }
#endif
    square_baseline(d, x, n, y, ldy, out);
}

void krein__distances64(int64_t d, const double *x, int64_t n, const double *y, int64_t ldy,
                        double *out) {
#if defined(__x86_64__)
    if (krein__simd() == KREIN_SIMD_AVX512) {
        double_avx512(d, x, n, y, ldy, out);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        double_avx2(d, x, n, y, ldy, out);
        return;
    }
#endif
    double_baseline(d, x, n, y, ldy, out);
}
