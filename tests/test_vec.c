/* test_vec.c -- vector functions against libm, and what is asked of the machine: its kind of core,
 * denormal numbers, contexts side by side. */
#include "num.h"

/* ---- vector functions --------------------------------------------------- */

/* cos and sin of 2 pi t in double, reduced exactly first. */
static double cos_turns(float t) { return cos(2 * M_PI * ((double)t - rint((double)t))); }
static double sin_turns(float t) { return sin(2 * M_PI * ((double)t - rint((double)t))); }

static void vec_cos(void) {
    enum { N = 4096 };
    static const double ranges[] = {1e-30, 1e-3, 0.5, 1, 100, 0x1p20, 0x1p24, 1e30};
    float *t = need(N, 4), *c = need(N, 4), *p = need(2 * N, 4);
    double worst = 0;
    for (int64_t r = 0; r < KREIN__COUNT(ranges); r++)
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < N; i++) t[i] = (float)(ranges[r] * uniform());
            for (int i = 0; i < 64; i++) t[i] = (float)(i - 32) / 8; /* the corners */
            krein__vcos_turns(N, t, 1, c);
            krein__vsincos_turns(N, t, 1, p);
            for (int i = 0; i < N; i++) {
                worst = fmax(worst, fabs((double)c[i] - cos_turns(t[i])));
                worst = fmax(worst, fabs((double)p[2 * i] - cos_turns(t[i])));
                worst = fmax(worst, fabs((double)p[2 * i + 1] - sin_turns(t[i])));
                if (memcmp(&c[i], &p[2 * i], 4) != 0) test_bad++;
            }
        }
    double bound = strcmp(krein__vec_path(), "baseline") == 0 ? 2e-7 : 1.5e-7; /* FMA or not */
    CHECK_ABS(worst, 0, bound);
    krein__vcos_turns(N, t, 0.25f, c);
    for (int i = 0; i < N; i++) CHECK_ABS((double)c[i], 0.25 * cos_turns(t[i]), 0.25 * bound);
    float odd[3] = {NAN, INFINITY, -INFINITY};
    krein__vcos_turns(3, odd, 1, c);
    krein__vsincos_turns(3, odd, 1, p);
    for (int i = 0; i < 3; i++) CHECK(isnan(c[i]) && isnan(p[2 * i]) && isnan(p[2 * i + 1]));
    free(t), free(c), free(p);
}

static void vec_exp(void) {
    enum { N = 4096 };
    float *x = need(N, 4), *y = need(N, 4);
    double *dx = need(N, 8), *dy = need(N, 8), worst = 0, dworst = 0;
    for (int round = 0; round < 40; round++) {
        double range = round < 20 ? 1 : 86.9;
        for (int i = 0; i < N; i++) x[i] = (float)(dx[i] = range * uniform());
        krein__vexpf(N, x, y);
        krein__vexp(N, dx, dy);
        for (int i = 0; i < N; i++) {
            worst = fmax(worst, fabs((double)y[i] / exp((double)x[i]) - 1));
            dworst = fmax(dworst, fabs(dy[i] / exp(dx[i]) - 1));
        }
        for (int i = 0; i < N; i++) dx[i] = 707.9 * uniform();
        krein__vexp(N, dx, dx); /* in place */
    }
    CHECK_ABS(worst, 0, 1.5 * (double)FLT_EPSILON);
    CHECK_ABS(dworst, 0, 1.5 * DBL_EPSILON);
    float a[] = {0, -87, -87.01f, -200, -INFINITY, 88, 88.7f, 89, INFINITY, NAN, -1e30f, 1e30f};
    krein__vexpf(12, a, y);
    CHECK(y[0] == 1 && y[1] >= FLT_MIN && y[2] == 0 && y[3] == 0 && y[4] == 0 && y[10] == 0);
    CHECK(!signbit(y[3]) && !signbit(y[4]));
    CHECK_REL((double)y[5], exp(88), 3e-7);
    CHECK_REL((double)y[6], exp((double)88.7f), 3e-7);
    CHECK(isinf(y[7]) && isinf(y[8]) && isnan(y[9]) && isinf(y[11]));
    double b[] = {0, -708, -708.1, -INFINITY, 709.7, 710, INFINITY, NAN, -1e300, 1e300};
    krein__vexp(10, b, dy);
    CHECK(dy[0] == 1 && dy[1] >= DBL_MIN && dy[2] == 0 && dy[3] == 0 && dy[8] == 0);
    CHECK_REL(dy[4], exp(709.7), 4 * DBL_EPSILON);
    CHECK(isinf(dy[5]) && isinf(dy[6]) && isnan(dy[7]) && isinf(dy[9]));
    free(x), free(y), free(dx), free(dy);
}

/* An element's bits depend neither on n nor on its place, and nothing beyond n is written. */
static void vec_tails(void) {
    enum { N = 200 };
    float *x = random_float(N), c[N], p[2 * N], e[N], one[2], out[2 * N + 1], two[N + 1];
    double *d = random_double(N), de[N], dout[N + 1];
    for (int i = 0; i < N; i++) x[i] *= 9, d[i] *= 9;
    krein__vcos_turns(N, x, 0.3f, c);
    krein__vsincos_turns(N, x, 0.3f, p);
    krein__vexpf(N, x, e);
    krein__vexp(N, d, de);
    for (int i = 0; i < N; i++) {
        krein__vcos_turns(1, x + i, 0.3f, one);
        CHECK(same(one, c + i, 1, 4));
        krein__vsincos_turns(1, x + i, 0.3f, one);
        CHECK(same(one, p + 2 * i, 2, 4));
    }
    for (int n = 0; n <= 70; n++)
        for (int from = 0; from < 5; from++) {
            out[n] = -7;
            krein__vcos_turns(n, x + from, 0.3f, out);
            CHECK(same(out, c + from, n, 4) && out[n] == -7);
            krein__vexpf(n, x + from, out);
            CHECK(same(out, e + from, n, 4) && out[n] == -7);
            out[2 * n] = -7;
            krein__vsincos_turns(n, x + from, 0.3f, out);
            CHECK(same(out, p + 2 * from, 2 * n, 4) && out[2 * n] == -7);
            out[n] = two[n] = -7;
            krein__vsincos_apart(n, x + from, 0.3f, out, two);
            for (int i = 0; i < n; i++)
                CHECK(same(out + i, p + 2 * (from + i), 1, 4) &&
                      same(two + i, p + 2 * (from + i) + 1, 1, 4));
            CHECK(out[n] == -7 && two[n] == -7);
            dout[n] = -7;
            krein__vexp(n, d + from, dout);
            CHECK(same(dout, de + from, n, 8) && dout[n] == -7);
        }
    memcpy(out, x, N * 4);
    krein__vcos_turns(N, out, 0.3f, out);
    CHECK(same(out, c, N, 4));
    CHECK(strlen(krein__vec_path()) > 0);
    free(x), free(d);
}

/* ---- the machine -------------------------------------------------------- */

static void core_for(void) {
    static const struct {
        const char *chosen;
        int avx, avx2, avx512, amd;
        const char *want;
    } table[] = {{"Prescott", 1, 1, 1, 0, "SkylakeX"},
                 {"Prescott", 1, 1, 0, 0, "Haswell"},
                 {"Prescott", 1, 1, 0, 1, "Zen"},
                 {"Prescott", 1, 0, 0, 0, "Sandybridge"},
                 {"Prescott", 0, 0, 0, 0, NULL},
                 {"Core2", 1, 1, 1, 0, "SkylakeX"},
                 {"Nehalem", 1, 1, 0, 0, "Haswell"},
                 {"Generic", 1, 1, 1, 1, "SkylakeX"},
                 {"Barcelona", 1, 1, 0, 1, "Zen"},
                 {"Sandybridge", 1, 1, 1, 0, "SkylakeX"},
                 {"Sandybridge", 1, 1, 0, 0, "Haswell"},
                 {"Sandybridge", 1, 0, 0, 0, NULL},
                 {"Piledriver", 1, 0, 0, 1, NULL},
                 {"Haswell", 1, 1, 1, 0, NULL},
                 {"Zen", 1, 1, 1, 1, NULL},
                 {"SkylakeX", 1, 1, 1, 0, NULL},
                 {"Cooperlake", 1, 1, 1, 0, NULL},
                 {"Sapphirerapids", 1, 1, 1, 0, NULL},
                 {"Excavator", 1, 1, 0, 1, NULL},
                 {"haswell", 1, 1, 0, 0, NULL},
                 {"", 1, 1, 0, 0, "Haswell"},
                 {NULL, 1, 1, 1, 0, "SkylakeX"},
                 {"armv8", 0, 0, 0, 0, NULL}};
    for (int64_t i = 0; i < KREIN__COUNT(table); i++) {
        const char *got = krein__core_for(table[i].chosen, table[i].avx, table[i].avx2,
                                          table[i].avx512, table[i].amd);
        CHECK(table[i].want ? got && strcmp(got, table[i].want) == 0 : !got);
    }
    CHECK(krein__blas_core() != NULL);
    const char *better = krein__blas_better_core();
    CHECK(!better || strcmp(better, krein__blas_core()) != 0);
    CHECK(krein__cpu_count() >= 1);
}

static void denormals(void) {
#if defined(__x86_64__) || defined(__aarch64__)
    volatile float tiny = FLT_MIN, half = 0.5f, denormal = FLT_MIN / 2;
    CHECK(tiny * half != 0);
    unsigned mode = krein__flush_denormals_on();
    CHECK(tiny * half == 0);
    CHECK(denormal * 2 == 0);
    unsigned inner = krein__flush_denormals_on();
    krein__flush_denormals_restore(inner);
    CHECK(tiny * half == 0);
    krein__flush_denormals_restore(mode);
    CHECK(tiny * half != 0);

    krein_compute outer = krein__compute_begin(), nested = krein__compute_begin();
    CHECK(tiny * half == 0);
    krein__compute_end(nested);
    CHECK(tiny * half == 0);
    krein__compute_end(outer);
    CHECK(tiny * half != 0);
    krein_compute again = krein__compute_begin(); /* what was found is what was restored */
    CHECK(again.blas_threads == outer.blas_threads);
    krein__compute_end(again);

    /* The workers of a parallel loop go back to the caller as they were. */
    enum { N = 600 };
    krein_ctx *ctx = context(3, NULL);
    double *a = spd(N, N), b[N] = {0};
    float x[N] = {0}, *scratch = need(3 * krein__syrk_tile(N) * krein__syrk_tile(N), 4);
    outer = krein__compute_begin();
    CHECK(krein__cholesky(ctx, N, a, N, NULL) == KREIN_OK);
    CHECK(tiny * half == 0); /* and this thread goes on flushing until the end */
    CHECK(krein__cholesky_solve(ctx, N, a, N, 1, b, 1) == KREIN_OK);
    krein__syrk_add(ctx, N, 1, x, N, a, N, scratch);
    CHECK(tiny * half == 0);
    krein__compute_end(outer);
    CHECK(tiny * half != 0);
    free(scratch);
    int flushed = 0;
#pragma omp parallel num_threads(3) reduction(+ : flushed)
    flushed += tiny * half == 0;
    CHECK(flushed == 0);
    free(a);
    krein_ctx_destroy(ctx);
#else
    SKIP("no flush mode on this machine");
#endif
}

/* Two threads of the caller, a context each, at the same time: BLAS's thread count is shared. */
static void two_contexts(void) {
    enum { N = 400, ROUNDS = 10 };
    krein_compute before = krein__compute_begin();
    krein__compute_end(before);
    double *a = spd(N, N), *want = need(N * N, 8);
    krein_ctx *ctx = context(2, NULL);
    memcpy(want, a, N * N * 8);
    CHECK(krein__cholesky(ctx, N, want, N, NULL) == KREIN_OK);
    krein_ctx_destroy(ctx);
    int bad = 0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
    {
        krein_ctx *mine = context(1, NULL);
        double *u = need(N * N, 8);
        for (int r = 0; r < ROUNDS; r++) {
            memcpy(u, a, N * N * 8);
            bad += krein__cholesky(mine, N, u, N, NULL) != KREIN_OK || !same(u, want, N * N, 8);
        }
        free(u);
        krein_ctx_destroy(mine);
    }
    CHECK(bad == 0);
    krein_compute after = krein__compute_begin();
    krein__compute_end(after);
    CHECK(after.blas_threads == before.blas_threads);
    free(a), free(want);
}

/* Squared distances from inner products, exp of them, differences: any length, nothing behind. */
static void vec_squares(void) {
    enum { N = 200 };
    float v[N + 1], e[N + 1], yy[N], less[N + 1];
    double wide[N + 1], yy64[N], worst = 0, eworst = 0;
    for (int n = 0; n <= N; n += n < 70 ? 1 : 13)
        for (int far = 0; far < 3; far++) {
            float xx = far == 2 ? 60 : 3, by = far ? -1 : -0.01f;
            for (int i = 0; i < n; i++) {
                yy[i] = (float)(yy64[i] = (double)(float)(2 + uniform()));
                v[i] = e[i] = (float)(wide[i] = (double)(float)(far ? 3 * uniform() : 2.4));
            }
            v[n] = e[n] = less[n] = -7;
            wide[n] = -7;
            krein__vsquares32(n, v, xx, yy, by);
            krein__vgaussian32(n, e, xx, yy, (double)by);
            krein__vless32(n, v, yy, less);
            for (int i = 0; i < n; i++) {
                double square = fmax((double)xx + yy64[i] - 2 * wide[i], 0) * (double)by;
                worst = fmax(worst, fabs((double)v[i] - square));
                eworst = fmax(eworst, fabs((double)e[i] - exp(square)));
                CHECK(less[i] == v[i] - yy[i]);
            }
            krein__vsquares64(n, wide, (double)xx, yy64, (double)by);
            for (int i = 0; i < n; i++) worst = fmax(worst, fabs((double)v[i] - wide[i]));
            CHECK(v[n] == -7 && e[n] == -7 && less[n] == -7 && wide[n] == -7);
        }
    CHECK_ABS(worst, 0, 8e-6);  /* a few roundings of numbers up to 64 */
    CHECK_ABS(eworst, 0, 1e-6); /* times exp, which is largest where they are small */
    float a[] = {1, 0, -1e30f, -1e38f, 3}, ones[] = {2, 0, 1, 1, 2};
    krein__vgaussian32(5, a, 0, ones, -1e30);
    CHECK(a[0] == 1 && a[1] == 1 && a[2] == 0 && a[3] == 0 && a[4] == 1);
}

int main(void) {
    RUN(vec_cos);
    RUN(vec_exp);
    RUN(vec_squares);
    RUN(vec_tails);
    RUN(core_for);
    RUN(denormals);
    RUN(two_contexts);
    return DONE();
}
