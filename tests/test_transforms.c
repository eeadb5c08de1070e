/* test_transforms.c -- Fourier and Walsh-Hadamard transforms against their definitions.
 *
 * The order of a spectrum is the library's own, so the test finds the places of frequency k from
 * the transforms of cos and sin at k. Rounding: log2(n) stages of relative error eps each. */
#include "test.h"
#include "common.h"

#include "num/fft.h"
#include "num/hadamard.h"

#include <float.h>

static krein_ctx *ctx;

static krein_fft *plan(int64_t n) {
    krein_fft *f = NULL;
    if (krein__fft_create(ctx, n, &f) != KREIN_OK) {
        printf("fft of %lld: %s\n", (long long)n, krein_message(ctx));
        exit(1);
    }
    return f;
}
static float *random_floats(int64_t n) {
    float *x = test_new(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)test_random();
    return x;
}
static double norm(int64_t n, const float *x) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}
static int64_t largest(int64_t n, const float *x) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabsf(x[i]) > fabsf(x[at])) at = i;
    return at;
}

/* Every coefficient of a random sequence against the sum that defines it. */
static void spectrum(void) {
    for (int64_t n = 2; n <= 1024; n *= 2) {
        krein_fft *f = plan(n);
        float *x = random_floats(n), *X = test_new(n, sizeof *X), *wave = test_new(n, sizeof *wave);
        double bound = 4 * FLT_EPSILON * log2((double)n) * norm(n, x) * sqrt((double)n);
        krein__fft_forward(f, x, X);
        for (int64_t k = 0; k <= n / 2; k++)
            for (int part = 0; part < (k % (n / 2) ? 2 : 1); part++) {
                double turn = 2 * M_PI * (double)k / (double)n, sum = 0;
                for (int64_t j = 0; j < n; j++) {
                    double w = part ? -sin(turn * (double)j) : cos(turn * (double)j);
                    wave[j] = (float)w;
                    sum += w * (double)x[j];
                }
                krein__fft_forward(f, wave, wave);
                int64_t at = largest(n, wave);
                double height = (double)(k % (n / 2) ? n / 2 : n);
                if (part && wave[at] < 0) sum = -sum, wave[at] = -wave[at]; /* n - k is kept */
                CHECK_ABS((double)wave[at], height, 1e-5 * height);
                wave[at] = 0;
                CHECK((double)fabsf(wave[largest(n, wave)]) < 1e-5 * height);
                CHECK_ABS((double)X[at], sum, bound);
            }
        free(x), free(X), free(wave);
        krein__fft_destroy(ctx, f);
    }
}

/* Circular convolution by its definition, at some places; inverse of forward. */
static void convolution(void) {
    for (int64_t n = 2; n <= 1 << 17; n *= 2) {
        krein_fft *f = plan(n);
        float *a = random_floats(n), *b = random_floats(n), *c = test_new(n, sizeof *c);
        float *A = test_new(n, sizeof *A), *B = test_new(n, sizeof *B), *C = test_new(n, sizeof *C);
        double bound = 6 * FLT_EPSILON * log2((double)n) * norm(n, a) * norm(n, b);
        krein__fft_forward(f, a, A);
        krein__fft_forward(f, b, B);
        krein__fft_multiply(f, A, B, C);
        krein__fft_inverse(f, C, c);
        for (int64_t i = 0; i < n; i += 1 + n / 64) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += (double)a[j] * (double)b[(i - j) & (n - 1)];
            CHECK_ABS((double)c[i], sum, bound);
        }
        krein__fft_multiply(f, A, B, B); /* in place: the same bits */
        CHECK(memcmp(B, C, (size_t)n * sizeof *B) == 0);
        krein__fft_inverse(f, A, A);
        double error = 0;
        for (int64_t i = 0; i < n; i++) error += pow((double)A[i] - (double)a[i], 2);
        CHECK(sqrt(error) < FLT_EPSILON * log2((double)n) * norm(n, a));
        free(a), free(b), free(c), free(A), free(B), free(C);
        krein__fft_destroy(ctx, f);
    }
}

static void plans(void) {
    krein_fft *f = NULL;
    static const int64_t bad[] = {-4, 0, 1, 3, 96, (int64_t)1 << 25};
    for (int i = 0; i < 6; i++) {
        CHECK(krein__fft_create(ctx, bad[i], &f) == KREIN_EARG && !f);
        CHECK_HAS(krein_message(ctx), "power of two");
    }
    for (int64_t n = 2; n <= 1 << 20; n *= 4) {
        int64_t before = (int64_t)atomic_load(&ctx->held);
        f = plan(n);
        CHECK((double)((int64_t)atomic_load(&ctx->held) - before) <= krein__fft_bytes(n));
        krein__fft_destroy(ctx, f);
    }
    krein__fft_destroy(ctx, NULL);
    CHECK(atomic_load(&ctx->held) == 0);
    test_memory m;
    krein_ctx *on = test_ctx_with(1, &m);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = krein__fft_create(on, 256, &f);
        CHECK(test_has_failed(&m) ? st == KREIN_EMEMORY && !f : st == KREIN_OK);
        krein__fft_destroy(on, f);
    }
    krein_ctx_destroy(on);
}

static void hadamard(void) {
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float want[8] = {36, -4, -8, 0, -16, 0, 0, 0};
    krein__fwht(8, x);
    for (int i = 0; i < 8; i++) CHECK(x[i] == want[i]);
    for (int64_t n = 1; n <= 1 << 16; n *= 2) {
        float *a = random_floats(n), *s = random_floats(n), *b = test_new(n, sizeof *b);
        double bound = 2 * FLT_EPSILON * log2((double)n + 1) * norm(n, a);
        krein__fwht_scaled(n, a, s, b);
        for (int64_t i = 0; i < n; i += 1 + n / 64) { /* H[i][j] = (-1)^popcount(i & j) */
            double sum = 0;
            for (int64_t j = 0; j < n; j++)
                sum += (__builtin_popcountll((uint64_t)(i & j)) & 1 ? -1 : 1) *
                       ((double)a[j] * (double)s[j]);
            CHECK_ABS((double)b[i], sum, bound);
        }
        for (int64_t j = 0; j < n; j++) s[j] *= a[j];
        krein__fwht(n, s);
        CHECK(memcmp(s, b, (size_t)n * sizeof *s) == 0);
        free(a), free(s), free(b);
    }
}

int main(void) {
    ctx = test_ctx(1);
    RUN(spectrum);
    RUN(convolution);
    RUN(plans);
    RUN(hadamard);
    krein_ctx_destroy(ctx);
    return DONE();
}
