/* vec.c -- cos, sin and exp of arrays
 *
 * TURNS. With t = x / (2 pi) the period is 1, so the reduction r = t - rint(t), |r| <= 1/2,
 * is exact in float32 for every t: no Payne-Hanek, no loss at large arguments. Then
 *
 *   cos(2 pi r) = S(1/4 - |r|),
 *   sin(2 pi r) = sign(r) S(min(|r|, 1/2 - |r|)),     S(s) = sin(2 pi s), |s| <= 1/4,
 *
 * where S is an odd polynomial of degree 9: the minimax one (Remez, error 3.3e-9), its
 * coefficients then moved by a few ulps to where float32 evaluation is best. The absolute error
 * of the result is below 1.5e-7 |scale|, all of it rounding (2e-7 without fused multiply-add).
 *
 * EXP. n = rint(x / ln 2), r = x - n ln 2 (ln 2 in two parts), exp(x) = 2^n exp(r) with
 * exp(r) = 1 + r + r^2 Q(r), Q minimax of degree 4 (float) or 9 (double) for the relative
 * error; adding 1.5 * 2^23 (2^52) both rounds and leaves n in the low bits, whence it is
 * added to the exponent. Results that would be denormal are 0; NaN stays NaN.
 *
 * ACOS. With s = |x| up to 1/2 and s = sqrt((1 - |x|)/2) above, asin s = s + s^3 R(s^2), R of
 * degree 4 through the Chebyshev points of [0, 1/4] (error 1e-8); then acos |x| = pi/2 - asin s or
 * 2 asin s, and acos(-x) = pi - acos x. TANH. a + a^3 R(a^2) for a = |x| < 0.625 (relative error
 * 2e-8), else (1 - e)/(1 + e), e = exp(-2a).
 *
 * The rule is SLEEF or libmvec, whichever is faster, unless our own is clearly better still:
 *
 *   ns an element (Zen 4, AVX2, one core, 16384 elements in L2)
 *             this, gcc 12   clang 14   libmvec 2.36   SLEEF 3.5
 *   cos            0.19        0.22         0.48       0.68 (u35), 1.28 (u10)
 *   cos + sin      0.56        0.71         0.98       1.07 (u35)
 *   expf           0.32        0.39         0.44       0.70 (u10)
 *   exp            1.07        1.49         1.13       1.68 (u10)
 *
 * Best of several runs on a shared machine (bench/bench_num.c; the pair includes the interleaved
 * stores). The double exp is level with libmvec under gcc and behind it under clang: it is here
 * because libmvec is not everywhere, and then one code is simpler than two.
 * SLEEF and libmvec take radians: they must multiply by 2 pi, which loses the low bits of
 * large t, and then reduce by pi again; in turns both steps vanish.
 *
 * One source for all instruction sets: the kernels are plain loops over BLOCK elements,
 * inlined into functions compiled for each. Every product that meets a sum is an explicit
 * fma() so no compiler may choose; the tail goes through a padded block, so an element's bits
 * depend neither on its place nor on n. */
#if defined(__GNUC__) && !defined(__clang__)
/* No one looks at the floating-point exception flags; minding them keeps gcc from turning the
 * selections below into masks, that is, from vectorising. It changes no result. */
#pragma GCC optimize("no-trapping-math")
#elif defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* with sanitizers the loops stay scalar */
#endif
#include "num/vec.h"

#include "num/simd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BLOCK = 64 }; /* a multiple of every vector length; small enough that a tail is cheap */

/* `fast`: the instruction set has fused multiply-add and rounding to integer. */
INLINE float fma_f(bool fast, float a, float b, float c) {
    return fast ? __builtin_fmaf(a, b, c) : a * b + c;
}
INLINE double fma_d(bool fast, double a, double b, double c) {
    return fast ? __builtin_fma(a, b, c) : a * b + c;
}
INLINE float round_f(bool fast, float x) {
    if (fast) return __builtin_rintf(x);
    float a = fabsf(x), y = (a + 0x1p23f) - 0x1p23f;
    return copysignf(a < 0x1p23f ? y : a, x); /* a NaN is not below, and stays */
}

/* 2^n p where the low bits of z hold n, or 0; in bits, unsigned so that a negative n wraps, and
 * without a branch so that gcc vectorises it. */
INLINE float scale_f(float p, float z, bool keep) {
    uint32_t a, b;
    memcpy(&a, &p, sizeof a);
    memcpy(&b, &z, sizeof b);
    a = (a + (b << 23)) & -(uint32_t)keep;
    memcpy(&p, &a, sizeof p);
    return p;
}
INLINE double scale_d(double p, double z, bool keep) {
    uint64_t a, b;
    memcpy(&a, &p, sizeof a);
    memcpy(&b, &z, sizeof b);
    a = (a + (b << 52)) & -(uint64_t)keep;
    memcpy(&p, &a, sizeof p);
    return p;
}

/* sin(2 pi s), |s| <= 1/4 */
INLINE float sin_quarter(bool fast, float s) {
    float q = s * s, p = 0x1.3c4eeap+5f;
    p = fma_f(fast, p, q, -0x1.322e0ep+6f);
    p = fma_f(fast, p, q, 0x1.4666fcp+6f);
    p = fma_f(fast, p, q, -0x1.4abbb4p+5f);
    p = fma_f(fast, p, q, 0x1.921fb6p+2f);
    return s * p;
}

INLINE void cos_block(bool fast, const float *t, float scale, float *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        float r = fabsf(t[i] - round_f(fast, t[i]));
        out[i] = scale * sin_quarter(fast, 0.25f - r);
    }
}

INLINE void sincos_one(bool fast, float t, float scale, float *c, float *s) {
    float r = t - round_f(fast, t), a = fabsf(r), b = 0.5f - a;
    *c = scale * sin_quarter(fast, 0.25f - a);
    *s = scale * sin_quarter(fast, copysignf(a < b ? a : b, r));
}

INLINE void sincos_block(bool fast, const float *t, float scale, float *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) sincos_one(fast, t[i], scale, out + 2 * i, out + 2 * i + 1);
}

INLINE void apart_block(bool fast, const float *t, float scale, float *c, float *s) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) sincos_one(fast, t[i], scale, c + i, s + i);
}

INLINE float exp_one(bool fast, float v) {
    float z = fma_f(fast, v, 0x1.715476p+0f, 0x1.8p23f);
    float n = z - 0x1.8p23f;
    float r = fma_f(fast, n, -0x1.62ep-1f, v);
    r = fma_f(fast, n, -0x1.0bfbe8p-15f, r);
    float q = 0x1.6a242ep-10f;
    q = fma_f(fast, q, r, 0x1.1239e2p-7f);
    q = fma_f(fast, q, r, 0x1.5558f2p-5f);
    q = fma_f(fast, q, r, 0x1.555492p-3f);
    q = fma_f(fast, q, r, 0x1.fffffcp-2f);
    float y = scale_f(1.0f + fma_f(fast, r * r, q, r), z, !(v < -87.0f));
    float over = v * INFINITY; /* or NaN */
    return v <= 0x1.62e42ep+6f ? y : over;
}

INLINE void expf_block(bool fast, const float *x, float *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) out[i] = exp_one(fast, x[i]);
}

/* 2^t for t <= 0, with Q's coefficients times powers of ln 2: no product for the reduction. */
INLINE float exp2_one(bool fast, float t) { /* t is compared, too: no compiler hides it in an fma */
    float z = t + 0x1.8p23f;
    float r = t - (z - 0x1.8p23f);
    float q = 0x1.414eb8p-13f;
    q = fma_f(fast, q, r, 0x1.5f03ecp-10f);
    q = fma_f(fast, q, r, 0x1.3b2e0cp-7f);
    q = fma_f(fast, q, r, 0x1.c6af8ap-5f);
    q = fma_f(fast, q, r, 0x1.ebfbdcp-3f);
    q = fma_f(fast, q, r, 0x1.62e43p-1f);
    return scale_f(fma_f(fast, q, r, 1.0f), z, t >= -126.0f);
}

/* 2^(by |x - y|^2), by < 0, from inner products v. */
INLINE void gaussian_block(bool fast, float xx, const float *yy, float by, float *v) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        float square = fma_f(fast, -2.0f, v[i], xx + yy[i]);
        v[i] = exp2_one(fast, by * (square > 0 ? square : 0));
    }
}

INLINE void acosf_block(bool fast, const float *x, float *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        float a = fabsf(x[i]), far = 0.5f * (1.0f - a);
        bool near = a <= 0.5f;
        float q = near ? a * a : far, s = near ? a : __builtin_sqrtf(far), p = 0x1.37fe16p-5f;
        p = fma_f(fast, p, q, 0x1.b311d2p-6f);
        p = fma_f(fast, p, q, 0x1.70a6bcp-5f);
        p = fma_f(fast, p, q, 0x1.332732p-4f);
        p = fma_f(fast, p, q, 0x1.55555ep-3f);
        s = fma_f(fast, s * q, p, s); /* asin s */
        float y = near ? 0x1.921fb6p+0f - s : 2.0f * s, z = 0x1.921fb6p+1f - y;
        out[i] = x[i] < 0 ? z : y;
    }
}

INLINE void tanhf_block(bool fast, const float *x, float *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        float a = fabsf(x[i]), q = a * a, e = exp_one(fast, -2.0f * a), p = -0x1.8f9036p-8f;
        p = fma_f(fast, p, q, 0x1.5804f4p-6f);
        p = fma_f(fast, p, q, -0x1.b92596p-5f);
        p = fma_f(fast, p, q, 0x1.110e1cp-3f);
        p = fma_f(fast, p, q, -0x1.555552p-2f);
        p = fma_f(fast, a * q, p, a);
        float y = (1.0f - e) / (1.0f + e);
        out[i] = copysignf(a < 0.625f ? p : y, x[i]);
    }
}

INLINE void exp_block(bool fast, const double *x, double *out) {
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        double v = x[i];
        double z = fma_d(fast, v, 0x1.71547652b82fep+0, 0x1.8p52);
        double n = z - 0x1.8p52;
        double r = fma_d(fast, n, -0x1.62e42fefa38p-1, v);
        r = fma_d(fast, n, -0x1.ef35793c7673p-45, r);
        double q = 0x1.ad7f6b5dc2ef6p-26;
        q = fma_d(fast, q, r, 0x1.28ad72bf7e407p-22);
        q = fma_d(fast, q, r, 0x1.71df255430ed3p-19);
        q = fma_d(fast, q, r, 0x1.a0199a0c78972p-16);
        q = fma_d(fast, q, r, 0x1.a01a012a57064p-13);
        q = fma_d(fast, q, r, 0x1.6c16c1842a09fp-10);
        q = fma_d(fast, q, r, 0x1.1111111127be6p-7);
        q = fma_d(fast, q, r, 0x1.555555555087dp-5);
        q = fma_d(fast, q, r, 0x1.55555555554fap-3);
        q = fma_d(fast, q, r, 0x1.000000000000ap-1);
        double y = scale_d(1.0 + fma_d(fast, r * r, q, r), z, !(v < -708.0));
        double over = v * (double)INFINITY; /* or NaN */
        out[i] = v <= 0x1.62e42fefa39efp+9 ? y : over;
    }
}

typedef struct path {
    const char *name;
    void (*vcos)(int64_t, const float *, float, float *);
    void (*vsincos)(int64_t, const float *, float, float *);
    void (*vapart)(int64_t, const float *, float, float *, float *);
    void (*vexpf)(int64_t, const float *, float *);
    void (*vexp)(int64_t, const double *, double *);
    void (*vacosf)(int64_t, const float *, float *);
    void (*vtanhf)(int64_t, const float *, float *);
    void (*squares32)(int64_t, float *, float, const float *, float);
    void (*gaussian32)(int64_t, float *, float, const float *, float);
    void (*less32)(int64_t, const float *, const float *, float *);
    void (*squares64)(int64_t, double *, double, const double *, double);
} path;

/* Whole blocks, then the tail padded with zeros; WIDTH results an element. */
#define OVER_BLOCKS(TYPE, WIDTH, IN, KERNEL)                                                       \
    int64_t i = 0;                                                                                 \
    for (; i + BLOCK <= n; i += BLOCK) KERNEL(IN + i, out + WIDTH * i);                            \
    if (i < n) {                                                                                   \
        TYPE pad[BLOCK] = {0}, res[WIDTH * BLOCK];                                                 \
        memcpy(pad, IN + i, (size_t)(n - i) * sizeof(TYPE));                                       \
        KERNEL(pad, res);                                                                          \
        memcpy(out + WIDTH * i, res, (size_t)(n - i) * WIDTH * sizeof(TYPE));                      \
    }

#define COS(x, y) cos_block(fast, x, scale, y)
#define SINCOS(x, y) sincos_block(fast, x, scale, y)
#define EXPF(x, y) expf_block(fast, x, y)
#define EXP(x, y) exp_block(fast, x, y)
#define ACOSF(x, y) acosf_block(fast, x, y)
#define TANHF(x, y) tanhf_block(fast, x, y)

#define SQUARES(NAME, TARGET, T)                                                                   \
    TARGET static void NAME(int64_t n, T *v, T xx, const T *yy, T by) {                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T square = xx + yy[i] - 2 * v[i];                                                      \
            v[i] = by * (square > 0 ? square : 0);                                                 \
        }                                                                                          \
    }

#define PATH(NAME, FAST, TARGET)                                                                   \
    TARGET static void cos_##NAME(int64_t n, const float *t, float scale, float *out) {            \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(float, 1, t, COS)                                                              \
    }                                                                                              \
    TARGET static void sincos_##NAME(int64_t n, const float *t, float scale, float *out) {         \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(float, 2, t, SINCOS)                                                           \
    }                                                                                              \
    TARGET static void apart_##NAME(int64_t n, const float *t, float scale, float *c, float *s) {  \
        const bool fast = FAST;                                                                    \
        int64_t i = 0;                                                                             \
        for (; i + BLOCK <= n; i += BLOCK) apart_block(fast, t + i, scale, c + i, s + i);          \
        if (i < n) {                                                                               \
            float pad[BLOCK] = {0}, one[BLOCK], two[BLOCK];                                        \
            size_t bytes = (size_t)(n - i) * sizeof *t;                                            \
            memcpy(pad, t + i, bytes);                                                             \
            apart_block(fast, pad, scale, one, two);                                               \
            memcpy(c + i, one, bytes);                                                             \
            memcpy(s + i, two, bytes);                                                             \
        }                                                                                          \
    }                                                                                              \
    TARGET static void expf_##NAME(int64_t n, const float *x, float *out) {                        \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(float, 1, x, EXPF)                                                             \
    }                                                                                              \
    TARGET static void exp_##NAME(int64_t n, const double *x, double *out) {                       \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(double, 1, x, EXP)                                                             \
    }                                                                                              \
    TARGET static void acosf_##NAME(int64_t n, const float *x, float *out) {                       \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(float, 1, x, ACOSF)                                                            \
    }                                                                                              \
    TARGET static void tanhf_##NAME(int64_t n, const float *x, float *out) {                       \
        const bool fast = FAST;                                                                    \
        OVER_BLOCKS(float, 1, x, TANHF)                                                            \
    }                                                                                              \
    TARGET static void gaussian32_##NAME(int64_t n, float *v, float xx, const float *yy,           \
                                         float by) {                                               \
        const bool fast = FAST;                                                                    \
        int64_t i = 0;                                                                             \
        for (; i + BLOCK <= n; i += BLOCK) gaussian_block(fast, xx, yy + i, by, v + i);            \
        if (i < n) {                                                                               \
            float pad[BLOCK] = {0}, own[BLOCK] = {0};                                              \
            size_t bytes = (size_t)(n - i) * sizeof *v;                                            \
            memcpy(pad, yy + i, bytes);                                                            \
            memcpy(own, v + i, bytes);                                                             \
            gaussian_block(fast, xx, pad, by, own);                                                \
            memcpy(v + i, own, bytes);                                                             \
        }                                                                                          \
    }                                                                                              \
    TARGET static void less32_##NAME(int64_t n, const float *a, const float *b, float *out) {      \
        for (int64_t i = 0; i < n; i++) out[i] = a[i] - b[i];                                      \
    }                                                                                              \
    SQUARES(squares32_##NAME, TARGET, float)                                                       \
    SQUARES(squares64_##NAME, TARGET, double)                                                      \
    static const path path_##NAME = {                                                              \
        #NAME,         cos_##NAME,      sincos_##NAME, apart_##NAME,     expf_##NAME,              \
        exp_##NAME,    acosf_##NAME,    tanhf_##NAME,  squares32_##NAME, gaussian32_##NAME,        \
        less32_##NAME, squares64_##NAME};

#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF) /* aarch64 and its like */
PATH(baseline, true, )
#else
PATH(baseline, false, )
#endif

#if defined(__x86_64__)
PATH(avx2, true, __attribute__((target("avx2,fma"))))
PATH(avx512, true, __attribute__((target(KREIN_AVX512))))
#endif

static const path *choose(void) {
#if defined(__x86_64__)
    krein_simd level = krein__simd();
    if (level == KREIN_SIMD_AVX512) return &path_avx512;
    if (level == KREIN_SIMD_AVX2) return &path_avx2;
#endif
    return &path_baseline;
}

void krein__vcos_turns(int64_t n, const float *t, float scale, float *out) {
    choose()->vcos(n, t, scale, out);
}

void krein__vsincos_turns(int64_t n, const float *t, float scale, float *out) {
    choose()->vsincos(n, t, scale, out);
}

void krein__vsincos_apart(int64_t n, const float *t, float scale, float *c, float *s) {
    choose()->vapart(n, t, scale, c, s);
}

void krein__vsquares32(int64_t n, float *v, float xx, const float *yy, float by) {
    choose()->squares32(n, v, xx, yy, by);
}
void krein__vsquares64(int64_t n, double *v, double xx, const double *yy, double by) {
    choose()->squares64(n, v, xx, yy, by);
}

void krein__vgaussian32(int64_t n, float *v, float xx, const float *yy, double by) {
    choose()->gaussian32(n, v, xx, yy, (float)fmax(by * M_LOG2E, -1e30));
}

void krein__vless32(int64_t n, const float *a, const float *b, float *out) {
    choose()->less32(n, a, b, out);
}

void krein__vexpf(int64_t n, const float *x, float *out) { choose()->vexpf(n, x, out); }

void krein__vexp(int64_t n, const double *x, double *out) { choose()->vexp(n, x, out); }

void krein__vacosf(int64_t n, const float *x, float *out) { choose()->vacosf(n, x, out); }

void krein__vtanhf(int64_t n, const float *x, float *out) { choose()->vtanhf(n, x, out); }

const char *krein__vec_path(void) { return choose()->name; }
