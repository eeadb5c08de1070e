/* bench_quant.c -- products of codes of 8, 4, 2 and 1 bits beside float32, on one thread.
 *
 *   bench_quant [products] [layers]        both when none is named
 *
 * products: 1,024 inputs, 512 outputs, 256 rows and one. GOP/s counts a product and its addition as
 * two. The limit is the rate of the kernel's own instructions on registers alone, without loads.
 * layers: a deep kernel of six layers of 512 frequencies, float32 (sgemm, cosines and sines) beside
 * codes from the codes of a row to the codes of its features.
 * Every path that this CPU has; that of float32 is OpenBLAS's, with the core that is printed:
 * OPENBLAS_CORETYPE=Haswell holds it to AVX2. */
#include "base/base.h"
#include "num/blas.h"
#include "num/codes.h"
#include "num/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { K = 1024, M = 512, ROWS = 256, LAYERS = 6 };
static const char *const PATHS[] = {"avx512", "avxvnni", "avx2", "portable"};
static const int BITS[] = {8, 4, 2, 1};

static krein_ctx *ctx;

/* Seconds of this thread on a core: other programs disturb them less. */
static double cpu_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The third shortest time of `code` in 25 runs, each of as many calls as take two milliseconds. */
enum { RUNS = 25 };
#define TIME(seconds, code)                                                                        \
    do {                                                                                           \
        double runs_[RUNS], first_ = cpu_clock();                                                  \
        int64_t calls_ = 0;                                                                        \
        for (; calls_ == 0 || cpu_clock() - first_ < 2e-3; calls_++) code;                         \
        for (int r_ = 0; r_ < RUNS; r_++) {                                                        \
            double t_ = cpu_clock();                                                               \
            for (int64_t c_ = 0; c_ < calls_; c_++) code;                                          \
            runs_[r_] = (cpu_clock() - t_) / (double)calls_;                                       \
        }                                                                                          \
        qsort(runs_, RUNS, sizeof *runs_, ascending);                                              \
        seconds = runs_[2];                                                                        \
    } while (0)

static void *need(int64_t count, size_t size) {
    void *p = krein__zalloc(ctx, count, size);
    if (!p) exit(1);
    return p;
}

static uint32_t state = 12345;
static uint32_t draw(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}
static float *floats(int64_t n) {
    float *x = need(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)draw() * 0x1p-24f - 0.5f;
    return x;
}
static uint8_t *codes_of(int64_t n, int bits) {
    uint8_t *x = need(n, 1);
    for (int64_t i = 0; i < n; i++) x[i] = (uint8_t)(draw() & ((1u << bits) - 1));
    return x;
}

/* ---- the limit: the kernels' instructions on registers ----------------------- */

#if defined(__x86_64__)
/* Seven independent sums s, each with a register t for what is added to it. */
#define SEVEN(f)                                                                                   \
    f("0", "7") f("1", "8") f("2", "9") f("3", "10") f("4", "11") f("5", "12") f("6", "13")
#define VNNI(s, t) "vpdpbusd %%zmm16, %%zmm17, %%zmm" s "\n\t"
#define POPCNT(s, t)                                                                               \
    "vpandd %%zmm16, %%zmm17, %%zmm" t "\n\tvpopcntd %%zmm" t ", %%zmm" t "\n\tvpaddd %%zmm" t     \
    ", %%zmm" s ", %%zmm" s "\n\t"
#define ADDING(first, add, s, t)                                                                   \
    first " %%ymm14, %%ymm15, %%ymm" t "\n\t" add " %%ymm" t ", %%ymm" s ", %%ymm" s "\n\t"
#define MADDWD(s, t) ADDING("vpmaddwd", "vpaddd", s, t)
#define MADDUBS(s, t) ADDING("vpmaddubsw", "vpaddw", s, t)
#define SHUFFLE(s, t) ADDING("vpshufb", "vpaddb", s, t)
#define LIMIT(name, f)                                                                             \
    static void name(int64_t rounds) {                                                             \
        for (int64_t k = 0; k < rounds; k++)                                                       \
            __asm__ volatile(SEVEN(f)::                                                            \
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",    \
                                   "xmm15");                                                       \
        __asm__ volatile("vzeroupper" ::: "xmm0");                                                 \
    }
LIMIT(limit_vnni, VNNI)
LIMIT(limit_popcnt, POPCNT)
LIMIT(limit_maddwd, MADDWD)
LIMIT(limit_maddubs, MADDUBS)
LIMIT(limit_shuffle, SHUFFLE)
#endif

/* GOP/s, or 0 where it is not known. */
static double limit(const char *path, int bits) {
#if defined(__x86_64__)
    static const struct {
        const char *path;
        int bits;
        void (*run)(int64_t);
        double products; /* of one expression */
    } list[] = {{"avx512", 8, limit_vnni, 64},    {"avx512", 4, limit_vnni, 64},
                {"avx512", 2, limit_popcnt, 128}, {"avx512", 1, limit_popcnt, 512},
                {"avx2", 8, limit_maddwd, 16},    {"avx2", 4, limit_maddubs, 32},
                {"avx2", 2, limit_shuffle, 64},   {"avx2", 1, limit_shuffle, 128}};
    enum { ROUNDS = 20000 };
    for (int64_t i = 0; i < KREIN__COUNT(list); i++)
        if (strcmp(list[i].path, path) == 0 && list[i].bits == bits) {
            double seconds;
            TIME(seconds, list[i].run(ROUNDS));
            return 2 * 7.0 * ROUNDS * list[i].products / seconds * 1e-9;
        }
#else
    (void)path, (void)bits;
#endif
    return 0;
}

/* ---- products ----------------------------------------------------------------- */

/* NULL where the CPU lacks the path, or it has no code of its own for these bits. */
static krein_product *product(const char *path, const krein_codes *w, int bits) {
    krein_product *p = NULL;
    krein_product_plan plan = {
        .rows = krein__quant(bits, -1, 1), .turns = 0.5 / M_PI, .path = path};
    if (krein__product_create(ctx, w, &plan, &p) != KREIN_OK) return NULL;
    if (strcmp(krein__product_path(p), path) == 0) return p;
    krein__product_destroy(ctx, p);
    return NULL;
}

static void products(void) {
    float *w = floats(K * M), *x = floats(ROWS * K), *y = floats(ROWS * M);
    uint32_t *sums = need(ROWS * M, sizeof *sums);
    double batch, one;
    TIME(batch, krein__sgemm(false, false, ROWS, M, K, 1, x, K, w, M, 0, y, M));
    TIME(one, krein__sgemm(false, false, 1, M, K, 1, x, K, w, M, 0, y, M));
    printf("products, %d inputs, %d outputs: GOP/s on %d rows and on one, times float32\n", K, M,
           ROWS);
    printf("  float32 (%s)%*s %7.1f          %7.1f\n", krein__blas_core(),
           11 - (int)strlen(krein__blas_core()), "", 2.0 * ROWS * K * M / batch * 1e-9,
           2.0 * K * M / one * 1e-9);
    for (int b = 0; b < 4; b++) {
        krein_codes c;
        uint8_t *s = codes_of(ROWS * K, BITS[b]);
        if (krein__codes_create(ctx, BITS[b], K, M, w, M, &c) != KREIN_OK) exit(1);
        for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
            krein_product *p = product(PATHS[i], &c, BITS[b]);
            if (!p) continue;
            void *scratch = need(krein__product_scratch(p), 1);
            double t256, t1, most = limit(PATHS[i], BITS[b]);
            TIME(t256, krein__product_sums(p, ROWS, s, K, scratch, sums));
            TIME(t1, krein__product_sums(p, 1, s, K, scratch, sums));
            printf("  %d bit%s  %-10s %7.1f (%5.2f)  %7.1f (%5.2f)", BITS[b],
                   BITS[b] == 1 ? " " : "s", PATHS[i], 2.0 * ROWS * K * M / t256 * 1e-9,
                   batch / t256, 2.0 * K * M / t1 * 1e-9, one / t1);
            if (most > 0)
                printf("  %.0f %% of the limit, %.0f", 2.0 * ROWS * K * M / t256 * 1e-7 / most,
                       most);
            printf("\n");
            krein__free(ctx, scratch);
            krein__product_destroy(ctx, p);
        }
        krein__codes_clear(ctx, &c);
        krein__free(ctx, s);
    }
    krein__free(ctx, w), krein__free(ctx, x), krein__free(ctx, y), krein__free(ctx, sums);
}

/* ---- layers --------------------------------------------------------------------- */

/* Rows of 1,024 features (pairs of 512 cosines and sines) through all layers. */
static void float_layers(int64_t n, float *const *w, float *x, float *turns) {
    for (int l = 0; l < LAYERS; l++) {
        krein__sgemm(false, false, n, M, K, (float)(0.5 / M_PI), x, K, w[l], M, 0, turns, M);
        krein__vsincos_turns(n * M, turns, 1, x);
    }
}

static void code_layers(int64_t n, krein_product *const *p, const krein_wave_codes *waves,
                        uint8_t *const *rows, void *scratch) {
    for (int l = 0; l < LAYERS; l++)
        krein__product_waves(p[l], waves, n, rows[l % 2], K, scratch, rows[(l + 1) % 2]);
}

static void layers(void) {
    float *w[LAYERS], *x = floats(ROWS * K), *turns = floats(ROWS * M);
    double batch, one;
    for (int l = 0; l < LAYERS; l++) w[l] = floats(K * M);
    TIME(batch, float_layers(ROWS, w, x, turns));
    TIME(one, float_layers(1, w, x, turns));
    printf("six layers of %d frequencies: microseconds a row in %d rows and alone, times float32\n",
           M, ROWS);
    printf("  float32 (%s, %s)%*s %7.2f          %7.2f\n", krein__blas_core(), krein__vec_path(),
           9 - (int)strlen(krein__blas_core()), "", batch / ROWS * 1e6, one * 1e6);
    for (int b = 0; b < 4; b++) {
        krein_wave_codes *waves = NULL;
        if (krein__wave_codes_create(ctx, BITS[b], &waves) != KREIN_OK) exit(1);
        uint8_t *rows[2] = {codes_of(ROWS * K, BITS[b]), codes_of(ROWS * K, BITS[b])};
        for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
            krein_product *p[LAYERS] = {NULL};
            void *scratch = NULL;
            double t256, t1;
            for (int l = 0; l < LAYERS; l++) {
                krein_codes c;
                if (krein__codes_create(ctx, BITS[b], K, M, w[l], M, &c) != KREIN_OK) exit(1);
                p[l] = product(PATHS[i], &c, BITS[b]);
                krein__codes_clear(ctx, &c);
            }
            if (!p[0]) continue;
            scratch = need(krein__product_scratch(p[0]), 1);
            TIME(t256, code_layers(ROWS, p, waves, rows, scratch));
            TIME(t1, code_layers(1, p, waves, rows, scratch));
            printf("  %d bit%s  %-14s %7.2f (%5.2f)  %7.2f (%5.2f)\n", BITS[b],
                   BITS[b] == 1 ? " " : "s", PATHS[i], t256 / ROWS * 1e6, batch / t256, t1 * 1e6,
                   one / t1);
            krein__free(ctx, scratch);
            for (int l = 0; l < LAYERS; l++) krein__product_destroy(ctx, p[l]);
        }
        for (int i = 0; i < 2; i++) krein__free(ctx, rows[i]);
        krein__wave_codes_destroy(ctx, waves);
    }
    for (int l = 0; l < LAYERS; l++) krein__free(ctx, w[l]);
    krein__free(ctx, x), krein__free(ctx, turns);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } list[] = {{"products", products}, {"layers", layers}};
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    options.threads = 1;
    if (krein_ctx_create(&options, &ctx) != KREIN_OK) return 1;
    krein_compute compute = krein__compute_begin();
    for (int64_t i = 0; i < KREIN__COUNT(list); i++) {
        bool named = argc == 1;
        for (int k = 1; k < argc; k++) named |= strcmp(argv[k], list[i].name) == 0;
        if (named) list[i].run();
    }
    krein__compute_end(compute);
    krein_ctx_destroy(ctx);
    return 0;
}
