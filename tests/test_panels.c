/* test_panels.c -- products with panels, by the code of every instruction set that this CPU has. */
#define krein__panel_product copy_panel_product
#define krein__panels_from copy_panels_from
#define krein__panels_to copy_panels_to
#include "../src/num/panels.c"

#include "common.h"

typedef void product_fn(bool add, int64_t m, int64_t k, const float *a, int64_t lda, const float *b,
                        float *c, int64_t ldc, const krein_ahead *ahead);

static const struct {
    product_fn *product;
    krein_simd needs;
} paths[] = {{product_baseline, KREIN_SIMD_BASELINE},
#if defined(__x86_64__)
             {product_avx2, KREIN_SIMD_AVX2},
             {product_avx512, KREIN_SIMD_AVX512},
#endif
             {copy_panel_product, KREIN_SIMD_BASELINE}};
enum { PATHS = sizeof paths / sizeof paths[0] };

/* Sums of k products, each of size at most 1: against double, within k rounding errors of their
 * size. */
static void check(product_fn *product, bool add, int64_t m, int64_t k) {
    int64_t lda = m + 3, ldc = KREIN_PANEL + 5;
    float *a = test_dense(k + 1, lda, 0.4), *b = test_dense(k + 1, KREIN_PANEL, 2.1);
    float *c = test_dense(m + 1, ldc, 5.3), *was = test_dense(m + 1, ldc, 5.3);
    float *far = test_new(4096, sizeof *far);
    krein_ahead ahead = {.at = {far, far + 1000, far + 2000}, .floats = 1000};
    product(add, m, k, a, lda, b, c, ldc, add ? &ahead : NULL);
    double worst = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < KREIN_PANEL; j++) {
            int64_t at = i * ldc + j;
            double want = add ? (double)was[at] : 0, size = fabs(want);
            for (int64_t l = 0; l < k; l++) {
                double part = (double)a[l * lda + i] * (double)b[l * KREIN_PANEL + j];
                want += part;
                size += fabs(part);
            }
            worst = fmax(worst, fabs((double)c[at] - want) - 6e-8 * (double)(k + 2) * size);
        }
    CHECK_ELSE(worst <= 0, "m %lld, k %lld, add %d: off by %g more than allowed\n", (long long)m,
               (long long)k, add, worst);
    for (int64_t i = 0; i <= m; i++) /* what is beside and below is as it was */
        for (int64_t j = i < m ? KREIN_PANEL : 0; j < ldc; j++)
            CHECK(c[i * ldc + j] == was[i * ldc + j]);
    free(a), free(b), free(c), free(was), free(far);
}

static void products(void) {
    static const int64_t rows[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25, 32, 196};
    static const int64_t depth[] = {0, 1, 3, 4, 5, 32, 61};
    for (int p = 0; p < PATHS; p++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows && paths[p].needs <= krein__simd(); i++)
            for (size_t j = 0; j < sizeof depth / sizeof *depth; j++) {
                check(paths[p].product, false, rows[i], depth[j]);
                check(paths[p].product, true, rows[i], depth[j]);
            }
}

/* The bits of a row depend neither on the rows beside it nor on where a long sum is cut. */
static void bits(void) {
    enum { M = 29, K = 40 };
    float *a = test_dense(K, M, 0.4), *b = test_dense(K, KREIN_PANEL, 2.1);
    float c[M * KREIN_PANEL], one[KREIN_PANEL];
    for (int p = 0; p < PATHS; p++) {
        if (paths[p].needs > krein__simd()) continue;
        paths[p].product(false, M, K, a, M, b, c, KREIN_PANEL, NULL);
        for (int64_t i = 0; i < M; i++) {
            paths[p].product(false, 1, 7, a + i, M, b, one, KREIN_PANEL, NULL);
            paths[p].product(true, 1, K - 7, a + 7 * M + i, M, b + 7 * KREIN_PANEL, one,
                             KREIN_PANEL, NULL);
            CHECK(memcmp(one, c + i * KREIN_PANEL, sizeof one) == 0);
        }
    }
    free(a), free(b);
}

static void layout(void) {
    enum { ROWS = 5, COLUMNS = 70 };
    float *a = test_dense(ROWS, COLUMNS, 0.4), back[ROWS * COLUMNS];
    float panels[ROWS * 3 * KREIN_PANEL];
    CHECK(krein__panels(COLUMNS) == 3 && krein__panels(64) == 2 && krein__panels(1) == 1);
    memset(panels, 7, sizeof panels);
    krein__panels_from(ROWS, COLUMNS, a, panels);
    krein__panels_to(ROWS, COLUMNS, panels, back);
    CHECK(memcmp(a, back, sizeof back) == 0);
    /* panel 1, row 2, its third column */
    CHECK(panels[ROWS * KREIN_PANEL + 2 * KREIN_PANEL + 3] == a[2 * COLUMNS + KREIN_PANEL + 3]);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = COLUMNS; j < 3 * KREIN_PANEL; j++)
            CHECK(panels[krein__panel_index(ROWS, i, j)] == 0);
    free(a);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(products);
    RUN(bits);
    RUN(layout);
    return DONE();
}
