/* bench_num.c -- speed of the numerical floor: best of several short runs.
 *
 *   bench_num [vec] [fft] [hadamard] [gemm] [gram] [cholesky] [eigen]
 *                                                        all but eigen when none is named
 *
 * The vector functions are compared with libmvec and SLEEF, the FFT with KISS FFT
 * (libkissfft-float) where these can be loaded, gram_add with one call of OpenBLAS's threaded
 * ssyrk. */
#include "base/base.h"
#include "base/threads.h"
#include "num/blas.h"
#include "num/fft.h"
#include "num/hadamard.h"
#include "num/vec.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krein_ctx *contexts[2]; /* one thread, all threads */

/* Best time of `code` over about half a second, at least three runs. */
#define BEST(seconds, code)                                                                        \
    do {                                                                                           \
        double start_ = krein__clock(), best_ = 1e30;                                              \
        for (int r_ = 0; r_ < 3 || krein__clock() - start_ < 0.5; r_++) {                          \
            double t_ = krein__clock();                                                            \
            code;                                                                                  \
            t_ = krein__clock() - t_;                                                              \
            if (t_ < best_) best_ = t_;                                                            \
        }                                                                                          \
        seconds = best_;                                                                           \
    } while (0)

static void *need(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) exit(1);
    return p;
}

static float *floats(int64_t n, float scale) {
    float *x = need((size_t)n * sizeof *x);
    uint32_t s = 12345;
    for (int64_t i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = scale * ((float)(s >> 8) * 0x1p-24f - 0.5f);
    }
    return x;
}

static double *doubles(int64_t n, double scale) {
    double *x = need((size_t)n * sizeof *x);
    float *f = floats(n, 1);
    for (int64_t i = 0; i < n; i++) x[i] = scale * (double)f[i];
    free(f);
    return x;
}

enum { ELEMENTS = 16384 }; /* in and out stay within the second-level cache */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
typedef __m256 (*float8_fn)(__m256);
typedef __m256d (*double4_fn)(__m256d);

AVX2 static void map8(float8_fn f, float factor, const float *x, float *y) {
    for (int i = 0; i < ELEMENTS; i += 8)
        _mm256_store_ps(y + i, f(_mm256_mul_ps(_mm256_set1_ps(factor), _mm256_load_ps(x + i))));
}
AVX2 static void map4(double4_fn f, const double *x, double *y) {
    for (int i = 0; i < ELEMENTS; i += 4) _mm256_store_pd(y + i, f(_mm256_load_pd(x + i)));
}

static void others(const float *x, float *y, const double *dx, double *dy) {
    static const struct {
        const char *library, *symbol;
        bool wide;
        float factor;
    } list[] = {{"libmvec.so.1", "_ZGVdN8v_cosf", false, 6.2831853f},
                {"libsleef.so.3", "Sleef_cosf8_u35avx2", false, 6.2831853f},
                {"libsleef.so.3", "Sleef_cosf8_u10avx2", false, 6.2831853f},
                {"libmvec.so.1", "_ZGVdN8v_sinf", false, 6.2831853f},
                {"libmvec.so.1", "_ZGVdN8v_expf", false, 1},
                {"libsleef.so.3", "Sleef_expf8_u10avx2", false, 1},
                {"libmvec.so.1", "_ZGVdN4v_exp", true, 1},
                {"libsleef.so.3", "Sleef_expd4_u10avx2", true, 1}};
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
    for (int64_t i = 0; i < KREIN__COUNT(list); i++) {
        void *library = dlopen(list[i].library, RTLD_NOW);
        void *symbol = library ? dlsym(library, list[i].symbol) : NULL;
        double s;
        if (!symbol) continue;
        if (list[i].wide) {
            double4_fn f;
            memcpy(&f, &symbol, sizeof f);
            BEST(s, map4(f, dx, dy));
        } else {
            float8_fn f;
            memcpy(&f, &symbol, sizeof f);
            BEST(s, map8(f, list[i].factor, x, y));
        }
        printf("  %-22s %.3f ns\n", list[i].symbol, s / ELEMENTS * 1e9);
    }
}
#else
static void others(const float *x, float *y, const double *dx, double *dy) {
    (void)x, (void)y, (void)dx, (void)dy;
}
#endif

static void vec(void) {
    float *x = floats(ELEMENTS, 20), *y = need(2 * ELEMENTS * sizeof *y);
    double *dx = doubles(ELEMENTS, 20), *dy = need(ELEMENTS * sizeof *dy), s;
    printf("vec (%s), an element or a pair\n", krein__vec_path());
    BEST(s, krein__vcos_turns(ELEMENTS, x, 0.5f, y));
    printf("  vcos_turns             %.3f ns\n", s / ELEMENTS * 1e9);
    BEST(s, krein__vsincos_turns(ELEMENTS, x, 0.5f, y));
    printf("  vsincos_turns          %.3f ns\n", s / ELEMENTS * 1e9);
    BEST(s, krein__vexpf(ELEMENTS, x, y));
    printf("  vexpf                  %.3f ns\n", s / ELEMENTS * 1e9);
    BEST(s, krein__vexp(ELEMENTS, dx, dy));
    printf("  vexp                   %.3f ns\n", s / ELEMENTS * 1e9);
    others(x, y, dx, dy);
    free(x), free(y), free(dx), free(dy);
}

/* The same for short code: a run is as many calls as take tens of microseconds. */
#define BEST_SHORT(seconds, n, code)                                                               \
    do {                                                                                           \
        int64_t calls_ = 1 + 32768 / (n);                                                          \
        BEST(seconds, for (int64_t c_ = 0; c_ < calls_; c_++) code);                               \
        seconds /= (double)calls_;                                                                 \
    } while (0)

/* KISS FFT, where it can be loaded. */
typedef struct kiss {
    void *(*plan)(int, int, void *, size_t *);
    void (*forward)(void *, const float *, float *);
    void (*inverse)(void *, const float *, float *);
} kiss;

static bool kiss_load(kiss *k) {
    void *library = dlopen("libkissfft-float.so.131", RTLD_NOW);
    void *plan = library ? dlsym(library, "kiss_fftr_alloc") : NULL;
    void *forward = library ? dlsym(library, "kiss_fftr") : NULL;
    void *inverse = library ? dlsym(library, "kiss_fftri") : NULL;
    if (!plan || !forward || !inverse) return false;
    memcpy(&k->plan, &plan, sizeof plan);
    memcpy(&k->forward, &forward, sizeof forward);
    memcpy(&k->inverse, &inverse, sizeof inverse);
    return true;
}

static void fft(void) {
    kiss k = {0};
    bool other = kiss_load(&k);
    printf("fft of reals, ns (GFLOP/s by 2.5 n log2 n)%s\n", other ? "" : "; no KISS FFT");
    for (int64_t n = 64; n <= 1 << 18; n *= 4) {
        krein_fft *f;
        double forward, inverse, product, flops = 2.5 * (double)n * log2((double)n);
        float *x = floats(n, 1), *y = floats(n, 1), *z = floats(n + 2, 1);
        if (krein__fft_create(contexts[0], n, &f) != KREIN_OK) exit(1);
        BEST_SHORT(forward, n, krein__fft_forward(f, x, y));
        BEST_SHORT(inverse, n, krein__fft_inverse(f, y, x));
        BEST_SHORT(product, n, krein__fft_multiply(f, y, y, z));
        printf("  n = %-6d forward %.0f (%.1f), inverse %.0f, product %.0f", (int)n, forward * 1e9,
               flops / forward * 1e-9, inverse * 1e9, product * 1e9);
        if (other) {
            void *there = k.plan((int)n, 0, NULL, NULL), *back = k.plan((int)n, 1, NULL, NULL);
            BEST_SHORT(product, n, k.forward(there, x, z));
            printf("; KISS FFT forward %.0f,", product * 1e9);
            forward += inverse;
            BEST_SHORT(inverse, n, k.inverse(back, z, x));
            printf(" inverse %.0f: %.1f times", inverse * 1e9, (product + inverse) / forward);
            free(there), free(back);
        }
        printf("\n");
        krein__fft_destroy(contexts[0], f);
        free(x), free(y), free(z);
    }
}

static void hadamard(void) {
    printf("hadamard, ns (GFLOP/s by n log2 n)\n");
    for (int64_t n = 64; n <= 1 << 18; n *= 4) {
        double s;
        float *x = floats(n, 1), *y = floats(n, 1);
        BEST_SHORT(s, n, krein__fwht_scaled(n, x, NULL, y));
        printf("  n = %-6d %.0f (%.1f)\n", (int)n, s * 1e9, (double)n * log2((double)n) / s * 1e-9);
        free(x), free(y);
    }
}

static void gemm(void) {
    enum { N = 1024 };
    float *a = floats(N * N, 1), *b = floats(N * N, 1), *c = floats(N * N, 1);
    double *da = doubles(N * N, 1), *db = doubles(N * N, 1), *dc = doubles(N * N, 1), s;
    const double flops = 2.0 * N * N * N;
    printf("gemm, order %d, OpenBLAS core %s\n", N, krein__blas_core());
    BEST(s, krein__sgemm(false, false, N, N, N, 1, a, N, b, N, 0, c, N));
    printf("  sgemm as found         %.1f GFLOP/s\n", flops / s / 1e9);
    BEST(s, krein__ssyrk(N, N, 1, a, N, 0, c, N));
    printf("  ssyrk as found         %.1f GFLOP/s\n", flops / 2 / s / 1e9);
    krein_compute compute = krein__compute_begin();
    BEST(s, krein__sgemm(false, false, N, N, N, 1, a, N, b, N, 0, c, N));
    printf("  sgemm one thread       %.1f GFLOP/s\n", flops / s / 1e9);
    BEST(s, krein__ssyrk(N, N, 1, a, N, 0, c, N));
    printf("  ssyrk one thread       %.1f GFLOP/s\n", flops / 2 / s / 1e9);
    BEST(s, krein__dgemm(false, false, N, N, N, 1, da, N, db, N, 0, dc, N));
    printf("  dgemm one thread       %.1f GFLOP/s\n", flops / s / 1e9);
    krein__compute_end(compute);
    for (int t = 0; t < 2; t++) {
        BEST(s, krein__pgemm(contexts[t], false, false, N, N, N, 1, da, N, db, N, 0, dc, N));
        printf("  pgemm %d thread(s)      %.1f GFLOP/s\n", contexts[t]->threads, flops / s / 1e9);
    }
    free(a), free(b), free(c), free(da), free(db), free(dc);
}

static void gram(void) {
    enum { N = 2048 };
    const int64_t T = krein__syrk_tile(N);
    double *c = doubles((int64_t)N * N, 0), plain, s;
    float *scratch = floats(contexts[1]->threads * T * T, 0), *sc = floats((int64_t)N * N, 0);
    printf("gram_add, n = %d, tile %d\n", N, (int)T);
    for (int64_t k = 512; k <= 4096; k *= 2) {
        float *a = floats(k * N, 1);
        double flops = (double)N * N * (double)k;
        BEST(plain, krein__ssyrk(N, k, 1, a, N, 0, sc, N));
        printf("  k = %-4d ssyrk as found %.1f GFLOP/s", (int)k, flops / plain / 1e9);
        for (int t = 0; t < 2; t++) {
            BEST(s, krein__syrk_add(contexts[t], N, k, a, N, c, N, scratch));
            printf(", gram_add on %d: %.1f", contexts[t]->threads, flops / s / 1e9);
        }
        printf("  time ratio %.3f\n", s / plain);
        free(a);
    }
    free(c), free(sc);
}

static void cholesky(void) {
    for (int64_t n = 1024; n <= 4096; n *= 2) {
        double *a = doubles(n * n, 1), *b = doubles(n * 8, 1), flops, s;
        flops = (double)n * (double)n * (double)n / 3;
        printf("cholesky, n = %d:", (int)n);
        for (int t = 0; t < 2; t++) {
            double best = 1e30;
            for (int r = 0; r < 5; r++) {
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = i; j < n; j++) a[i * n + j] = i == j ? (double)n : 0.5;
                double start = krein__clock();
                if (krein__cholesky(contexts[t], n, a, n, NULL) != KREIN_OK) exit(1);
                start = krein__clock() - start;
                if (start < best) best = start;
            }
            printf("  %d thread(s) %.1f GFLOP/s", contexts[t]->threads, flops / best / 1e9);
        }
        for (int64_t m = 1; m <= 8; m += 7) {
            BEST(s, (void)krein__cholesky_solve(contexts[1], n, a, n, m, b, m));
            printf("  solve m = %d: %.2f ms", (int)m, s * 1e3);
        }
        printf("\n");
        free(a), free(b);
    }
}

static void eigen(void) {
    static const int64_t sizes[] = {1000, 2000, 4000};
    for (int64_t k = 0; k < KREIN__COUNT(sizes); k++) {
        int64_t n = sizes[k];
        double *a = doubles(n * n, 1), *w = doubles(n, 1), start = krein__clock();
        if (krein__eigen(contexts[1], n, a, n, w) != KREIN_OK) exit(1);
        printf("eigen, n = %d: %.2f s\n", (int)n, krein__clock() - start);
        free(a), free(w);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
        bool usual;
    } list[] = {{"vec", vec, true},     {"fft", fft, true},   {"hadamard", hadamard, true},
                {"gemm", gemm, true},   {"gram", gram, true}, {"cholesky", cholesky, true},
                {"eigen", eigen, false}};
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    for (int t = 0; t < 2; t++) {
        options.threads = t == 0 ? 1 : krein__cpu_count();
        if (krein_ctx_create(&options, &contexts[t]) != KREIN_OK) return 1;
    }
    for (int64_t i = 0; i < KREIN__COUNT(list); i++) {
        bool named = false;
        for (int k = 1; k < argc; k++) named |= strcmp(argv[k], list[i].name) == 0;
        if (named || (argc == 1 && list[i].usual)) list[i].run();
    }
    for (int t = 0; t < 2; t++) krein_ctx_destroy(contexts[t]);
    return 0;
}
