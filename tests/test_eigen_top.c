/* test_eigen_top.c -- the largest eigenvalues of a matrix, of spectra that are known. */
#include "common.h"

#include "num/eigen_top.h"

static krein_ctx *ctx;

/* ---- the largest eigenvalues -------------------------------------------- */

/* Q diag(w) Q' with Q = I - 2 hh'. */
static double *with_spectrum(int64_t n, const double *w) {
    double *a = test_new(n * n, 8), *h = test_new(n, 8), *q = test_new(n * n, 8), size = 0;
    for (int64_t i = 0; i < n; i++) h[i] = det(i, 3, 0.2), size += h[i] * h[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) q[i * n + j] = (i == j) - 2 * h[i] * h[j] / size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) a[i * n + j] += q[i * n + k] * w[k] * q[j * n + k];
    free(h), free(q);
    return a;
}

static void check_pairs(int64_t n, const double *a, int64_t m, const double *want, const double *w,
                        const double *v, double norm) {
    for (int64_t k = 0; k < m; k++) {
        double worst = 0;
        CHECK_ABS(w[k], want[k], 1e-10 * norm);
        for (int64_t i = 0; i < n; i++) {
            double r = -w[k] * v[k * n + i];
            for (int64_t j = 0; j < n; j++) r += a[i * n + j] * v[k * n + j];
            worst = fmax(worst, fabs(r));
        }
        CHECK_ABS(worst, 0, 1e-10 * norm);
        for (int64_t l = 0; l <= k; l++) {
            double product = 0;
            for (int64_t j = 0; j < n; j++) product += v[k * n + j] * v[l * n + j];
            CHECK_ABS(product, l == k, 1e-10);
        }
    }
}

static void largest_eigenvalues(void) {
    enum { M = 5, KINDS = 5 };
    const int64_t n = 160;
    double *spectrum = test_new(n, 8), w[M], *v = test_new(M * n, 8);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t i = 0; i < n; i++) {
            double t = (double)i;
            double kinds[KINDS] = {pow(0.8, t), 1 / (1 + t), /* falling fast, slowly */
                                   i < n / 2 ? 2 * pow(0.6, t)
                                             : -9 * pow(0.6, (double)(n - 1 - i)), /* below 0 */
                                   i < 9 ? 3 : 1 / (1 + t), /* nine times the same */
                                   0};                      /* nothing at all */
            spectrum[i] = kinds[kind];
        }
        double norm = kind == 2 ? 9 : 3, *a = with_spectrum(n, spectrum);
        bool found = false;
        CHECK(krein__eigen_top_iterate(ctx, n, a, M, w, v, &found) == KREIN_OK);
        CHECK(found);
        check_pairs(n, a, M, spectrum, w, v, norm);
        double *copy = test_new(n * n, 8);
        memcpy(copy, a, (size_t)(n * n) * sizeof *a);
        CHECK(krein__eigen_top_full(ctx, n, copy, M, w, v) == KREIN_OK);
        check_pairs(n, a, M, spectrum, w, v, norm);
        free(a);
        free(copy);
    }
    free(spectrum);
    free(v);
}

/* Values close together: the iteration gives up, the full decomposition takes over. */
static void flat_spectrum(void) {
    const int64_t n = test_sanitized() ? 520 : 600;
    double *a = test_new(n * n, 8), *copy = test_new(n * n, 8), w[3], *v = test_new(3 * n, 8);
    for (int64_t i = 0; i < n; i++) a[i * n + i] = 1 + (double)i / (double)n;
    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    bool found = true;
    CHECK(krein__eigen_top_iterate(ctx, n, a, 3, w, v, &found) == KREIN_OK && !found);
    CHECK(memcmp(a, copy, (size_t)(n * n) * sizeof *a) == 0);
    CHECK(krein__eigen_top(ctx, n, a, 3, w, v) == KREIN_OK);
    for (int k = 0; k < 3; k++) CHECK_ABS(w[k], copy[(n - 1 - k) * (n + 1)], 1e-13);
    free(a), free(copy), free(v);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(largest_eigenvalues);
    RUN(flat_spectrum);
    krein_ctx_destroy(ctx);
    return DONE();
}
