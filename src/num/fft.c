/* fft.c -- real FFTs of power-of-two length
 *
 * REAL. The frequencies 4k + 1 of a real sequence x of length L are a complex transform of length
 * L/4, of (x[j] - x[j + L/2] - i (x[j + L/4] - x[j + 3L/4])) e^{-2 pi i j / L}; the frequencies
 * 4k + 3 are their conjugates; the even ones are the real transform of x[j] + x[j + L/2], and
 * so on down to L = 2. No pass that untangles frequencies k and -k, and half the work of a complex
 * transform. The complex ones are radix 4, decimated in frequency, left in digit-reversed order:
 * who only multiplies spectra needs no other.
 *
 * LANES. For n >= 128 the sequence is taken as eight interleaved ones (j mod 8), a vector of eight
 * floats each step, so every pass above works on whole vectors at every length. What remains,
 * with k = k1 + (n/8) k0,
 *     X[k] = sum_l w_n^(l k1) w_8^(l k0) X_l[k1],
 * is eight points across the lanes: eight k1 at a time by a transposition in registers. The
 * vectors of the real frequencies k1 = 0 and n/16 are multiplied by 8 x 8 matrices instead.
 *
 * LAYOUT of a spectrum, in units of n/m floats (m = n/8, or n for short ones): one unit for k1 = 0,
 * one for k1 = m/2, then for L = 4, 8, ..., m the real parts of L/4 frequencies and their
 * imaginary parts. Within the first two units of the long ones: X0, X4, Re X1..X3, Im X1..X3 and
 * Re X0..X3, Im X0..X3 of the eight points.
 *
 * TIME of a forward and an inverse transform (Zen 4, AVX2, gcc 12, one core; bench_num fft):
 *     n               64     256    1024    4096   16384   65536
 *     this, us      0.31    0.35    1.46    6.38    29.8     129
 *     KISS FFT 131  0.50    2.33    10.6    48.3     223    1087      (kiss_fftr, Debian's)
 * Sketches of many rows at once are faster side by side: convolve.c. */
#include "num/fft.h"

#include "num/simd.h"

#include <math.h>
#include <string.h>

struct krein_fft {
    int64_t n, m;   /* m: length of the real transform, n/8 with lanes */
    float *real;    /* per L: e^{-2 pi i j / L}, j < L/4 */
    float *complex; /* per M: e^{-2 pi i j k / M}, k = 1, 2, 3, j < M/4 */
    float *lanes;   /* per group of eight frequencies: re (8 x 8), im (8 x 8); NULL without lanes */
    float *head;    /* 8 x 8 matrices: k1 = 0, n/16, and their inverses times 8 */
};

/* Where the twiddles of one length begin. */
INLINE int64_t real_at(int64_t L) { return 2 * (L / 4 - 1); }
INLINE int64_t complex_at(int64_t M) { return 6 * (M / 4 - 1); }

/* The units of L = 4, 8, 16, which make one group of eight with one to spare. */
static const int8_t short_re[8] = {2, 4, 5, 8, 9, 10, 11, 2};
static const int8_t short_im[8] = {3, 6, 7, 12, 13, 14, 15, 3};

#define V float
#define NAME(x) x##_one
#define TARGET
#include "num/fft_path.inc"
#undef V
#undef NAME

#define V v8
#define NAME(x) x##_baseline
#include "num/fft_path.inc"
#include "num/fft_lanes.inc"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "num/fft_path.inc"
#include "num/fft_lanes.inc"
#undef NAME
#undef TARGET
#endif

typedef struct path {
    void (*forward)(const krein_fft *, v8 *);
    void (*inverse)(const krein_fft *, v8 *);
    void (*multiply)(int64_t, const v8 *, const v8 *, v8 *);
} path;

static path choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (path){forward_avx2, inverse_avx2, multiply_avx2};
#endif
    return (path){forward_baseline, inverse_baseline, multiply_baseline};
}

/* ---- plans -------------------------------------------------------------- */

/* to[0], to[1] = e^{-2 pi i k / n} */
static void root(int64_t k, int64_t n, float *to) {
    double angle = 2 * M_PI * (double)(k % n) / (double)n;
    to[0] = (float)cos(angle);
    to[1] = (float)-sin(angle);
}

/* The frequency that a complex transform of length M leaves at place p. */
static int64_t frequency(int64_t M, int64_t p) {
    if (M < 4) return p;
    return 4 * frequency(M / 4, p % (M / 4)) + p / (M / 4);
}

static void fill_twiddles(krein_fft *f) {
    for (int64_t L = 4; L <= f->m; L *= 2)
        for (int64_t j = 0; j < L / 4; j++) root(j, L, f->real + real_at(L) + 2 * j);
    for (int64_t M = 4; M <= f->m / 4; M *= 2)
        for (int64_t j = 0; j < M / 4; j++)
            for (int64_t k = 1; k < 4; k++)
                root(j * k, M, f->complex + complex_at(M) + 6 * j + 2 * (k - 1));
}

/* One row of a group: the turns w_n^(l k1) of the eight sequences. */
static void fill_turns(const krein_fft *f, int64_t k1, float *to) {
    for (int64_t l = 0; l < 8; l++) {
        float w[2];
        root(l * k1, f->n, w);
        to[l] = w[0];
        to[l + 64] = w[1];
    }
}

static void fill_lanes(krein_fft *f) {
    float *to = f->lanes;
    int64_t row = 0;
    memset(to, 0, 128 * sizeof *to);
    for (int64_t q = 1; q <= f->m / 4; q *= 2) {
        for (int64_t j = 0; j < q; j++) {
            fill_turns(f, (4 * frequency(q, j) + 1) * (f->m / (4 * q)), to + 8 * row);
            if (++row == 8) to += 128, row = 0;
        }
        if (q == 4) to += 128, row = 0;
    }
}

/* Column j of the four matrices; see the layout above. */
static void fill_head(float *head) {
    for (int64_t j = 0; j < 8; j++) {
        float *first = head + 8 * j, *second = first + 64;
        float *first_back = head + 128 + j, *second_back = first_back + 64;
        for (int64_t k = 0; k < 4; k++) {
            float w[2], v[2];
            root(j * k, 8, w);
            root(j * (2 * k + 1), 16, v);
            int64_t re = k ? k + 1 : 0, im = k ? k + 4 : 1;
            first[re] = w[0];
            first[im] = k ? w[1] : j % 2 ? -1.0f : 1.0f;
            first_back[8 * re] = (k ? 2 : 1) * first[re];
            first_back[8 * im] = (k ? 2 : 1) * first[im];
            second[k] = v[0];
            second[k + 4] = v[1];
            second_back[8 * k] = 2 * v[0];
            second_back[8 * (k + 4)] = 2 * v[1];
        }
    }
}

double krein__fft_bytes(int64_t n) { return 6 * (double)n + 4096; }

krein_status krein__fft_create(krein_ctx *ctx, int64_t n, krein_fft **out) {
    krein_status st = KREIN_OK;
    krein_fft *f = NULL;
    *out = NULL;
    if (n < 2 || n > (int64_t)1 << 24 || (n & (n - 1)) != 0)
        return krein__fail(ctx, KREIN_EARG, "fft: the length %lld is no power of two up to 2^24",
                           (long long)n);
    ZNEW(f, 1);
    f->n = n;
    f->m = n < 128 ? n : n / 8;
    NEW(f->real, real_at(2 * f->m) + 8);
    NEW(f->complex, complex_at(f->m) + 8);
    fill_twiddles(f);
    if (f->m < n) {
        NEW(f->lanes, n);
        NEW(f->head, 256);
        fill_lanes(f);
        fill_head(f->head);
    }
    *out = f;
    return KREIN_OK;
done:
    krein__fft_destroy(ctx, f);
    return st;
}

void krein__fft_destroy(krein_ctx *ctx, krein_fft *f) {
    if (!f) return;
    krein__free(ctx, f->real);
    krein__free(ctx, f->complex);
    krein__free(ctx, f->lanes);
    krein__free(ctx, f->head);
    krein__free(ctx, f);
}

/* ---- transforms --------------------------------------------------------- */

void krein__fft_forward(const krein_fft *f, const float *x, float *spectrum) {
    if (x != spectrum) memcpy(spectrum, x, (size_t)f->n * sizeof *x);
    if (f->lanes)
        choose().forward(f, (v8 *)spectrum);
    else
        real_forward_one(f, f->m, spectrum);
}

void krein__fft_inverse(const krein_fft *f, const float *spectrum, float *x) {
    if (x != spectrum) memcpy(x, spectrum, (size_t)f->n * sizeof *x);
    if (f->lanes)
        choose().inverse(f, (v8 *)x);
    else
        real_inverse_one(f, f->m, 1 / (float)f->n, x);
}

/* Complex numbers a = (a[re], a[im]). */
static void multiply_pair(const float *a, const float *b, int64_t re, int64_t im, float *out) {
    float r = a[re] * b[re] - a[im] * b[im], i = a[re] * b[im] + a[im] * b[re];
    out[re] = r;
    out[im] = i;
}

void krein__fft_multiply(const krein_fft *f, const float *a, const float *b, float *out) {
    out[0] = a[0] * b[0];
    out[1] = a[1] * b[1];
    if (!f->lanes) {
        for (int64_t q = 1; q <= f->m / 4; q *= 2)
            for (int64_t j = 2 * q; j < 3 * q; j++) multiply_pair(a, b, j, j + q, out);
        return;
    }
    for (int64_t k = 2; k < 5; k++) multiply_pair(a, b, k, k + 3, out);
    for (int64_t k = 8; k < 12; k++) multiply_pair(a, b, k, k + 4, out);
    path p = choose();
    for (int64_t q = 1; q <= f->m / 4; q *= 2)
        p.multiply(q, (const v8 *)a + 2 * q, (const v8 *)b + 2 * q, (v8 *)out + 2 * q);
}
