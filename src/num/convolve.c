/* convolve.c -- products of polynomials modulo z^n - 1 over the real numbers
 *
 * A row v is the polynomial sum_k v_k z^k; circular convolution is the product modulo z^n - 1.
 * The transform takes remainders down a tree of factors until they are numbers:
 *
 *     z^n - 1    = (z^(n/2) - 1) (z^(n/2) + 1)      a + b and a - b of the two halves: real
 *     z^M + 1    real coefficients: with u_k + i u_(k+M/2) as complex ones, modulo z^(M/2) - i
 *     z^2h - s^2 = (z^h - s) (z^h + s)              a + s b and a - s b: complex
 *
 * which is the fast Fourier transform with one root s for a whole block instead of one for every
 * element, and without any reordering: what comes out at place [M, 2M) is modulo z^M + 1, its real
 * parts first, in bit-reversed order. A product does not care. Block j of level l (2^l blocks)
 * has s = exp(2 pi i t), t(0, 0) = 1/8, t(l+1, 2j) = t/2, t(l+1, 2j+1) = t/2 + 1/4: the same roots
 * for every M, kept at 2^l + j.
 *
 * Cost: n log2 n multiply-adds and additions of KREIN_LANES numbers, half of a complex transform.
 *
 * Why not fft.c: that one transforms a single row. Sixteen rows side by side take a forward and an
 * inverse transform and a product, each row (Zen 4, one core), in
 *     n               64     256    1024    4096   16384
 *     this, us      0.04    0.20    1.09    5.35    25.0
 *     fft.c, us     0.37    0.39    1.59    6.90    32.7
 * and tensorsketch has rows in plenty. Circulant frequencies multiply one row by many spectra, and
 * the layers of a network sketch what they have just made of one row: they want fft.c.
 */
#include "num/convolve.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

enum { B = KREIN_LANES };

int64_t krein__roots_count(int64_t n) { return krein__max(2, n / 2); }

void krein__roots_fill(int64_t n, float *roots) {
    int64_t count = n / 4;
    roots[0] = roots[1] = 0;
    for (int64_t first = 1; first < count; first *= 2)
        for (int64_t j = 0; j < first; j++) {
            double t = 0.125; /* in turns, down the tree to block j */
            for (int64_t bit = first / 2; bit >= 1; bit /= 2) t = t / 2 + (j & bit ? 0.25 : 0);
            roots[2 * (first + j)] = (float)cos(2 * M_PI * t);
            roots[2 * (first + j) + 1] = (float)sin(2 * M_PI * t);
        }
}

/* a, b = a + b, a - b */
INLINE void add_sub(int64_t n, float *restrict a, float *restrict b) {
    for (int64_t k = 0; k < n; k++) {
        float x = a[k], y = b[k];
        a[k] = x + y;
        b[k] = x - y;
    }
}

/* a, b = (a + f b)/2, (a - f b)/2 */
INLINE void half_sum(int64_t n, float f, float *restrict a, float *restrict b) {
    for (int64_t k = 0; k < n; k++) {
        float x = 0.5f * a[k], y = f * b[k];
        a[k] = x + y;
        b[k] = x - y;
    }
}

/* a, b = a + s b, a - s b */
INLINE void split(int64_t n, const float *s, float *restrict ar, float *restrict ai,
                  float *restrict br, float *restrict bi) {
    float sr = s[0], si = s[1];
    for (int64_t k = 0; k < n; k++) {
        float r = sr * br[k] - si * bi[k], i = sr * bi[k] + si * br[k];
        br[k] = ar[k] - r;
        bi[k] = ai[k] - i;
        ar[k] += r;
        ai[k] += i;
    }
}

/* The way back, times two: a, b = a + b, (a - b) / s */
INLINE void join(int64_t n, const float *s, float *restrict ar, float *restrict ai,
                 float *restrict br, float *restrict bi) {
    float sr = s[0], si = s[1];
    for (int64_t k = 0; k < n; k++) {
        float r = ar[k] - br[k], i = ai[k] - bi[k];
        ar[k] += br[k];
        ai[k] += bi[k];
        br[k] = sr * r + si * i;
        bi[k] = sr * i - si * r;
    }
}

/* m complex numbers, real parts first, modulo z^m - i */
INLINE void complex_forward(int64_t m, const float *roots, float *re) {
    float *im = re + m * B;
    for (int64_t h = m / 2, blocks = 1; h >= 1; h /= 2, blocks *= 2)
        for (int64_t j = 0; j < blocks; j++) {
            int64_t a = 2 * j * h * B, b = a + h * B;
            split(h * B, roots + 2 * (blocks + j), re + a, im + a, re + b, im + b);
        }
}

INLINE void complex_inverse(int64_t m, const float *roots, float *re) { /* times m */
    float *im = re + m * B;
    for (int64_t h = 1, blocks = m / 2; h < m; h *= 2, blocks /= 2)
        for (int64_t j = 0; j < blocks; j++) {
            int64_t a = 2 * j * h * B, b = a + h * B;
            join(h * B, roots + 2 * (blocks + j), re + a, im + a, re + b, im + b);
        }
}

INLINE void forward(int64_t n, const float *roots, float *v) {
    for (int64_t M = n / 2; M >= 1; M /= 2) {
        add_sub(M * B, v, v + M * B);
        complex_forward(M / 2, roots, v + M * B);
    }
}

INLINE void inverse(int64_t n, const float *roots, float *v) {
    for (int64_t M = 1; M < n; M *= 2) {
        complex_inverse(M / 2, roots, v + M * B);
        half_sum(M * B, 0.5f / (float)krein__max(1, M / 2), v, v + M * B);
    }
}

INLINE void complex_multiply(int64_t m, const float *restrict w, float *restrict v) {
    const float *wr = w, *wi = w + m;
    float *re = v, *im = v + m;
    for (int64_t k = 0; k < m; k++) {
        float r = re[k] * wr[k] - im[k] * wi[k];
        im[k] = re[k] * wi[k] + im[k] * wr[k];
        re[k] = r;
    }
}

INLINE void multiply(int64_t n, const float *restrict w, float *restrict v) {
    for (int64_t k = 0; k < krein__min(n, 2) * B; k++) v[k] *= w[k];
    for (int64_t M = 2; M < n; M *= 2) complex_multiply(M / 2 * B, w + M * B, v + M * B);
}

/* One source for all instruction sets, as in vec.c. */
typedef struct path {
    void (*forward)(int64_t n, const float *roots, float *v);
    void (*multiply)(int64_t n, const float *w, float *v);
    void (*inverse)(int64_t n, const float *roots, float *v);
} path;

#define PATH(NAME, TARGET)                                                                         \
    TARGET static void forward_##NAME(int64_t n, const float *roots, float *v) {                   \
        forward(n, roots, v);                                                                      \
    }                                                                                              \
    TARGET static void multiply_##NAME(int64_t n, const float *w, float *v) { multiply(n, w, v); } \
    TARGET static void inverse_##NAME(int64_t n, const float *roots, float *v) {                   \
        inverse(n, roots, v);                                                                      \
    }                                                                                              \
    static const path path_##NAME = {forward_##NAME, multiply_##NAME, inverse_##NAME};

PATH(baseline, )
#if defined(__x86_64__)
PATH(avx2, __attribute__((target("avx2,fma"))))
#endif

static const path *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &path_avx2;
#endif
    return &path_baseline;
}

void krein__lanes_forward(int64_t n, const float *roots, float *v) {
    choose()->forward(n, roots, v);
}

void krein__lanes_multiply(int64_t n, const float *w, float *v) { choose()->multiply(n, w, v); }

void krein__lanes_inverse(int64_t n, const float *roots, float *v) {
    choose()->inverse(n, roots, v);
}
