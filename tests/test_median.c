/* test_median.c -- the median distance of rows, and the widths of kernels that come from it. */
#include "kernels.h"

#include "kernel/median.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* All distances between different rows, sorted; returns how many are not zero. */
static int64_t distances(int64_t n, int64_t d, const float *x, int metric, double *out) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < d; k++) {
                double delta = (double)x[i * d + k] - (double)x[j * d + k];
                sum += metric == 1 ? fabs(delta) : delta * delta;
            }
            if (sum > 0) out[count++] = metric == 1 ? sum : sqrt(sum);
        }
    qsort(out, (size_t)count, sizeof *out, ascending);
    return count;
}

static void median(void) {
    enum { N = 700, D = 4 };
    float *x = test_dense(N, D, 0.2);
    double *all = test_new(N * N / 2, sizeof *all), got;
    for (int metric = 1; metric <= 2; metric++) {
        static const int64_t sizes[] = {2, 3, 4, 50, 101, 512};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int64_t n = sizes[s], count = distances(n, D, x, metric, all);
            krein_rows rows = krein__rows_dense(n, D, x, D);
            CHECK(krein__median_distance(ctx, &rows, metric, &got) == KREIN_OK);
            /* of an even number either of the two in the middle, or between them */
            CHECK(got >= all[(count - 1) / 2] * (1 - 1e-12) && got <= all[count / 2] * (1 + 1e-12));
        }
        /* More rows than are looked at: close to the median of all. */
        int64_t count = distances(N, D, x, metric, all);
        krein_rows rows = krein__rows_dense(N, D, x, D);
        CHECK(krein__median_distance(ctx, &rows, metric, &got) == KREIN_OK);
        CHECK(got > all[count * 45 / 100] && got < all[count * 55 / 100]);
        /* The same rows as CSR. */
        csr c;
        float *y = test_dense(90, D, 0.6);
        krein_rows sy = sparse(90, D, y, &c), dy = krein__rows_dense(90, D, y, D);
        double other;
        CHECK(krein__median_distance(ctx, &sy, metric, &got) == KREIN_OK);
        CHECK(krein__median_distance(ctx, &dy, metric, &other) == KREIN_OK);
        CHECK_REL(got, other, 1e-12);
        csr_free(&c);
        free(y);
    }
    /* No two rows differ, or there is one: some positive number. */
    float same[6] = {2, 3, 2, 3, 2, 3};
    for (int64_t n = 1; n <= 3; n++) {
        krein_rows rows = krein__rows_dense(n, 2, same, 2);
        CHECK(krein__median_distance(ctx, &rows, 2, &got) == KREIN_OK);
        CHECK(got > 0 && isfinite(got));
    }
    free(x);
    free(all);
}

static void set_median(void) {
    enum { N = 80, D = 4 };
    float *x = test_dense(N, D, 0.2);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    test_log log;
    krein_ctx *mine = test_ctx_full(1, NULL, &log);
    krein_kernel *k = NULL, *leaf;
    int64_t slot;
    double one, two;
    CHECK(krein__median_distance(mine, &rows, 1, &one) == KREIN_OK);
    CHECK(krein__median_distance(mine, &rows, 2, &two) == KREIN_OK);
    CHECK(krein__kernel_parse(mine, "gaussian + 2*laplacian*matern(sigma=7) - cauchy", &k) ==
          KREIN_OK);
    CHECK(krein__kernel_set_median_rows(mine, k, &rows, KREIN_LOG_INFO) == KREIN_OK);
    CHECK(krein__kernel_free(k, 0, &leaf, &slot) == 0);
    krein_term t[KREIN_TERMS_MAX];
    int64_t n;
    CHECK(krein__kernel_terms(mine, k, t, &n) == KREIN_OK && n == 3);
    CHECK_REL(t[0].leaf[0]->values.number[0], two, 1e-3);
    CHECK_REL(t[1].leaf[0]->values.number[0], one, 1e-3);
    CHECK(t[1].leaf[1]->values.number[1] == 7);
    CHECK_REL(t[2].leaf[0]->values.number[0], two * t[2].leaf[0]->kernel->spread, 1e-3);
    CHECK(log.infos == 3);
    CHECK_HAS(log.text, "gaussian: sigma set to ");
    krein__kernel_destroy(mine, k);
    CHECK(atomic_load(&mine->held) == 0);
    krein_ctx_destroy(mine);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(median);
    RUN(set_median);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
