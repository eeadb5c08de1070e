/* test_strips.c -- what layers of images are made of (strips, the largest of windows, passes over
 * channels), by the code of every instruction set that this CPU has, against plain loops. */
#define krein__strips copy_strips
#include "../src/num/strips.c"
#define krein__largest copy_largest
#define krein__largest_spread copy_largest_spread
#define krein__largest_collect copy_largest_collect
#include "../src/num/largest.c"
#define krein__channels_sums copy_channels_sums
#define krein__channels_mix copy_channels_mix
#define krein__above copy_above
#define krein__where_above copy_where_above
#include "../src/num/channels.c"

#include "common.h"

typedef void product_fn(bool beside, bool add, int64_t m, int64_t columns, const krein_strips *s,
                        float *c, int64_t ldc);
typedef void sums_fn(int64_t first, int64_t pixels, int64_t c, const float *y, const float *x,
                     const float *m, double *one, double *two);
typedef void mix_fn(int64_t first, int64_t pixels, int64_t c, int inputs, const float *const *x,
                    const float *a, const float *b, float *out);
typedef int64_t where_fn(int64_t first, int64_t n, const float *at, const float *x, float *out);
typedef void windows_fn(job what, const krein_squares *w, int64_t first, const float *x, float *out,
                        const float *from, float *to);

static const struct {
    product_fn *product;
    windows_fn *windows;
    sums_fn *sums;
    mix_fn *mix;
    where_fn *where;
    int64_t lanes;
    krein_simd needs;
} paths[] = {
    {product_baseline, windows_baseline, sums_baseline, mix_baseline, where_baseline, 4,
     KREIN_SIMD_BASELINE},
#if defined(__x86_64__)
    {product_avx2, windows_avx2, sums_avx2, mix_avx2, where_avx2, 8, KREIN_SIMD_AVX2},
    {product_avx512, windows_avx512, sums_avx512, mix_avx512, where_avx512, 16, KREIN_SIMD_AVX512},
#endif
    {NULL, NULL, NULL, NULL, NULL, 1, KREIN_SIMD_BASELINE}};
enum { PATHS = sizeof paths / sizeof paths[0] };

/* by NULL: the function itself, which also takes columns that fill no vector. */
static void check(product_fn *by, bool beside, bool add, int64_t m, int64_t columns, int64_t pieces,
                  int64_t k) {
    int64_t ldc = columns + 2, size = 4000;
    float *a = test_dense(1, size, 0.4), *b = test_dense(pieces * (k + 1) + 1, 37, 2.1);
    float *c = test_dense(m + 1, ldc, 5.3), *was = test_dense(m + 1, ldc, 5.3);
    krein_strips s = {
        .pieces = pieces, .k = k, .a = a, .b = b, .a_next = 5, .b_next = 37 * (k + 1)};
    s.a_row = beside ? 1 : 3, s.a_term = beside ? 2 : 1, s.b_row = 37;
    if (by)
        by(beside, add, m, columns, &s, c, ldc);
    else
        copy_strips(add, m, columns, &s, c, ldc);
    double worst = 0;
    for (int64_t i = 0; i < m * ldc; i++) {
        double want = (double)was[i], terms = fabs(want);
        if (i % ldc < columns) {
            if (!add) want = terms = 0;
            for (int64_t t = 0; t < pieces; t++)
                for (int64_t j = 0; j < k; j++) {
                    double part = (double)a[t * s.a_next + i / ldc * s.a_row + j * s.a_term] *
                                  (double)b[t * s.b_next + j * s.b_row + i % ldc];
                    want += part;
                    terms += fabs(part);
                }
        }
        worst = fmax(worst, fabs((double)c[i] - want) - 6e-8 * (double)(pieces * k + 2) * terms);
    }
    CHECK_ELSE(worst <= 0, "m %lld, columns %lld, k %lld x %lld: off by %g more than allowed\n",
               (long long)m, (long long)columns, (long long)pieces, (long long)k, worst);
    CHECK(memcmp(c + m * ldc, was + m * ldc, sizeof(float) * (size_t)ldc) == 0);
    free(a), free(b), free(c), free(was);
}

static void products(void) {
    static const int64_t rows[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 29, 70};
    static const int64_t depth[] = {1, 3, 4, 9, 50};
    for (int p = 0; p < PATHS; p++)
        for (size_t i = 0; i < KREIN__COUNT(rows) && paths[p].needs <= krein__simd(); i++)
            for (size_t j = 0; j < KREIN__COUNT(depth); j++)
                for (int q = 0; q < 8; q++) {
                    int64_t columns = q & 4 ? 32 : 16;
                    if (!paths[p].product) columns -= (int64_t)(i + j) % 16;
                    check(paths[p].product, q & 1, q & 2, rows[i], columns, 1 + (int64_t)j % 3,
                          depth[j]);
                }
}

/* Every number is summed in the same order, whatever the rows beside it. */
static void same_bits(void) {
    float *a = test_dense(1, 4000, 0.4), *b = test_dense(200, 32, 2.1), c[40 * 32], one[32];
    krein_strips s = {3, 60, a, b, 100, 3, 1, 60 * 32, 32};
    copy_strips(false, 40, 32, &s, c, 32);
    for (int64_t i = 0; i < 40; i++) {
        krein_strips row = s;
        row.a += i * s.a_row;
        copy_strips(false, 1, 32, &row, one, 32);
        CHECK(memcmp(one, c + i * 32, sizeof one) == 0);
    }
    free(a), free(b);
}

static void windows(void) {
    for (int p = 0; p < PATHS; p++)
        for (int64_t size = 1; size <= 3 && paths[p].needs <= krein__simd(); size++)
            for (int64_t c = 1; c < 40; c += c < 20 ? 1 : 6) {
                int64_t count = 3, line = count * size * c + 5, n = size * line;
                krein_squares w = {count, size, c, line};
                float *x = test_dense(1, n, 0.8), *out = test_new(count * c, sizeof *out);
                float *from = test_dense(1, n, 1.9), *to = test_new(n, sizeof *to);
                float *got = test_new(count * c, sizeof *got);
                int64_t whole = paths[p].windows ? c / paths[p].lanes * paths[p].lanes : c;
                for (int64_t i = 0; i < n; i++) x[i] = rintf(4 * x[i]); /* equal ones */
                for (int64_t i = 0; i < n; i++) to[i] = 7;
                if (paths[p].windows) {
                    paths[p].windows(FIND, &w, 0, x, out, NULL, NULL);
                    paths[p].windows(SPREAD, &w, 0, x, out, from, to);
                    paths[p].windows(COLLECT, &w, 0, x, out, from, got);
                } else {
                    copy_largest(&w, x, out);
                    copy_largest_spread(&w, x, out, from, to);
                    copy_largest_collect(&w, x, out, from, got);
                }
                bool right = true;
                for (int64_t i = 0; i < count; i++)
                    for (int64_t j = 0; j < whole; j++) {
                        int64_t best = -1, corner = i * size * c + j;
                        for (int64_t q = 0; q < size * size; q++) {
                            int64_t at = corner + q / size * line + q % size * c;
                            if (best < 0 || x[at] > x[best]) best = at;
                        }
                        right = right && out[i * c + j] == x[best] && got[i * c + j] == from[best];
                        for (int64_t q = 0; q < size * size; q++) {
                            int64_t at = corner + q / size * line + q % size * c;
                            right = right && to[at] == (at == best ? from[i * c + j] : 0);
                        }
                    }
                for (int64_t i = 0; i < n; i++)
                    right = right && (i % line < count * size * c || to[i] == 7);
                CHECK_ELSE(right, "windows of %lld, %lld channels\n", (long long)size,
                           (long long)c);
                free(x), free(out), free(from), free(to), free(got);
            }
}

/* Sums of a few hundred numbers of size 1: within rounding errors of the float32 pieces. */
static void channel_sums(void) {
    for (int p = 0; p < PATHS; p++)
        for (int64_t c = 1; c < 40 && paths[p].needs <= krein__simd(); c += c < 20 ? 1 : 6)
            for (int64_t n = 1; n < 300; n = 2 * n + 3) {
                float *x = test_dense(n, c, 0.3), *y = test_dense(n, c, 1.4),
                      *m = test_dense(1, c, 2);
                int64_t whole = paths[p].sums ? c / paths[p].lanes * paths[p].lanes : c;
                for (int own = 0; own < 2; own++) {
                    double one[40] = {0}, two[40] = {0};
                    if (paths[p].sums)
                        paths[p].sums(0, n, c, own ? NULL : y, x, m, one, two);
                    else
                        copy_channels_sums(n, c, own ? NULL : y, x, m, one, two);
                    for (int64_t j = 0; j < c; j++) {
                        double s = 0, t = 0;
                        for (int64_t k = 0; k < n && j < whole; k++) {
                            double d = (double)x[k * c + j] - (double)m[j];
                            s += own ? d : (double)y[k * c + j];
                            t += d * (own ? d : (double)y[k * c + j]);
                        }
                        CHECK_ABS(one[j], s, 64 * 6e-8 * 2 * (double)n);
                        CHECK_ABS(two[j], t, 64 * 6e-8 * 4 * (double)n);
                    }
                }
                free(x), free(y), free(m);
            }
}

static void channel_mixes(void) {
    for (int p = 0; p < PATHS; p++)
        for (int64_t c = 1; c < 40 && paths[p].needs <= krein__simd(); c += c < 20 ? 1 : 6)
            for (int inputs = 1; inputs <= KREIN_CHANNELS_INPUTS; inputs++) {
                enum { N = 70 };
                const float *x[KREIN_CHANNELS_INPUTS];
                float *all = test_dense(inputs * N, c, 0.3), *a = test_dense(inputs, c, 1.4);
                float *b = test_dense(1, c, 2), *out = test_new(N * c, sizeof *out);
                int64_t whole = paths[p].mix ? c / paths[p].lanes * paths[p].lanes : c;
                for (int i = 0; i < inputs; i++) x[i] = all + i * N * c;
                if (paths[p].mix)
                    paths[p].mix(0, N, c, inputs, x, a, b, out);
                else
                    copy_channels_mix(N, c, inputs, x, a, b, out);
                double worst = 0;
                for (int64_t k = 0; k < N * c; k++) {
                    double want = k % c < whole ? (double)b[k % c] : 0;
                    for (int i = 0; i < inputs && k % c < whole; i++)
                        want += (double)a[i * c + k % c] * (double)x[i][k];
                    worst = fmax(worst, fabs(want - (double)out[k]));
                }
                CHECK(worst < 1e-6);
                free(all), free(a), free(b), free(out);
            }
}

static void above(void) {
    for (int p = 0; p < PATHS; p++)
        for (int64_t n = 0; n < 70 && paths[p].needs <= krein__simd(); n++) {
            float *x = test_dense(1, n + 1, 0.3), *at = test_dense(1, n + 1, 1.4), out[71],
                  plain[71];
            int64_t whole = paths[p].where ? n / paths[p].lanes * paths[p].lanes : n;
            if (n > 1) at[0] = NAN, at[1] = 0;
            out[n] = plain[n] = 5;
            if (paths[p].where) {
                CHECK(paths[p].where(0, n, at, x, out) == whole);
                CHECK(paths[p].where(0, n, at, NULL, plain) == whole);
            } else {
                copy_where_above(n, at, x, out);
                copy_above(n, at, plain);
            }
            bool right = out[n] == 5 && plain[n] == 5;
            for (int64_t i = 0; i < whole; i++) {
                right = right && out[i] == (at[i] > 0 ? x[i] : 0);
                right = right && (isnan(at[i]) ? isnan(plain[i]) : plain[i] == fmaxf(0, at[i]));
            }
            CHECK(right);
            free(x), free(at);
        }
}

int main(void) {
    RUN(products);
    RUN(same_bits);
    RUN(windows);
    RUN(channel_sums);
    RUN(channel_mixes);
    RUN(above);
    return DONE();
}
