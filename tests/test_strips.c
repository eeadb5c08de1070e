/* test_strips.c -- products of strips and the largest of windows, by the code of every instruction
 * set that this CPU has, against plain loops. */
#define krein__strips copy_strips
#include "../src/num/strips.c"
#define krein__largest copy_largest
#define krein__largest_spread copy_largest_spread
#define krein__largest_collect copy_largest_collect
#include "../src/num/largest.c"

#include "common.h"

typedef void product_fn(bool beside, bool add, int64_t m, int64_t columns, const krein_strips *s,
                        float *c, int64_t ldc);
typedef void windows_fn(job what, const krein_squares *w, int64_t first, const float *x, float *out,
                        const float *from, float *to);

static const struct {
    product_fn *product;
    windows_fn *windows;
    int64_t lanes;
    krein_simd needs;
} paths[] = {{product_baseline, windows_baseline, 4, KREIN_SIMD_BASELINE},
#if defined(__x86_64__)
             {product_avx2, windows_avx2, 8, KREIN_SIMD_AVX2},
             {product_avx512, windows_avx512, 16, KREIN_SIMD_AVX512},
#endif
             {NULL, NULL, 1, KREIN_SIMD_BASELINE}};
enum { PATHS = sizeof paths / sizeof paths[0] };

/* by NULL: the function itself, which also takes columns that fill no vector. */
static void check(product_fn *by, bool beside, bool add, int64_t m, int64_t columns,
                  int64_t pieces, int64_t k) {
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

int main(void) {
    RUN(products);
    RUN(same_bits);
    RUN(windows);
    return DONE();
}
