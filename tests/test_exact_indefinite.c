/* test_exact_indefinite.c -- support vector machines with indefinite kernels: repaired spectra
 * written out, stationary points; memory. */
#include "libsvm.h"
#include "machines.h"

/* ---- indefinite kernels --------------------------------------------------- */

/* Eigenpairs by rotations: a becomes diagonal, a row of v is an eigenvector. */
static void jacobi(int64_t n, double *a, double *v) {
    for (int64_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) < 1e-300) continue;
                double t = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                t = (t >= 0 ? 1 : -1) / (fabs(t) + sqrt(t * t + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int64_t j = 0; j < n; j++) {
                    double x = a[j * n + p], y = a[j * n + q];
                    a[j * n + p] = c * x - s * y, a[j * n + q] = s * x + c * y;
                }
                for (int64_t j = 0; j < n; j++) {
                    double x = a[p * n + j], y = a[q * n + j];
                    a[p * n + j] = c * x - s * y, a[q * n + j] = s * x + c * y;
                    x = v[p * n + j], y = v[q * n + j];
                    v[p * n + j] = c * x - s * y, v[q * n + j] = s * x + c * y;
                }
            }
}

typedef struct repaired {
    int64_t n;
    double *K, *P; /* repaired matrix; its values are P k(x) */
    double low;
} repaired;

static repaired repair_slowly(krein_repair how, int64_t n, kernel_fn *k, const double *x) {
    repaired r = {n, test_new(n * n, 8), test_new(n * n, 8), INFINITY};
    double *a = test_new(n * n, 8), *v = test_new(n * n, 8);
    for (int64_t i = 0; i < n * n; i++) a[i] = r.K[i] = k(x + i / n * D, x + i % n * D);
    jacobi(n, a, v);
    for (int64_t j = 0; j < n; j++) r.low = fmin(r.low, a[j * (n + 1)]);
    for (int64_t i = 0; i < n * n; i++) {
        if (how == KREIN_REPAIR_SHIFT) {
            r.P[i] = i % (n + 1) == 0;
            r.K[i] -= r.P[i] * fmin(r.low, 0);
            continue;
        }
        r.K[i] = r.P[i] = 0;
        for (int64_t j = 0; j < n; j++) {
            double w = a[j * (n + 1)], f = how == KREIN_REPAIR_CLIP ? fmax(w, 0) : fabs(w);
            r.K[i] += f * v[j * n + i / n] * v[j * n + i % n];
            r.P[i] += f / w * v[j * n + i / n] * v[j * n + i % n];
        }
    }
    free(a);
    free(v);
    return r;
}

static void spectra_are_repaired(void) {
    enum { N = 45, M = 20 };
    static const char *const text[] = {"gaussian(sigma=0.7) - 0.8*gaussian(sigma=1.9)",
                                       "tanh(gamma=0.8, c=-0.4)"};
    kernel_fn *const kernel[] = {indefinite, hyperbolic};
    if (!test_svm_there) SKIP("LIBSVM is not there");
    double *x = points(N, .4), *new = points(M, 2.2), alpha[N];
    for (int k = 0; k < 2; k++)
        for (int how = KREIN_REPAIR_CLIP; how <= KREIN_REPAIR_SHIFT; how++)
            for (int classes = 0; classes <= 2; classes += 2) {
                fixture f;
                open_fixture(&f, N, classes, text[k],
                             classes ? KREIN_HEAD_BEST : KREIN_HEAD_VALUES);
                repaired r = repair_slowly((krein_repair)how, N, kernel[k], x);
                CHECK(r.low < -.1);
                if (classes) {
                    krein_exact_svm o = {.C = 2, .spectrum = (krein_repair)how, .tol = 1e-9};
                    CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
                } else {
                    krein_exact_svm o = {
                        .C = 2, .epsilon = .2, .spectrum = (krein_repair)how, .tol = 1e-9};
                    CHECK(krein__exact_svr(job_of(&f), &o) == KREIN_OK);
                }
                for (int64_t i = 0; classes && i < N; i++) f.y[i] = f.y[i] > 0 ? 1 : -1;
                test_svm t = {.regression = classes == 0,
                              .n = N,
                              .K = r.K,
                              .y = f.y,
                              .C = 2,
                              .epsilon = .2,
                              .tol = 1e-9,
                              .alpha = alpha};
                CHECK(test_svm_train(&t));
                for (int64_t i = 0; i < M; i++) {
                    double want = t.b;
                    for (int64_t p = 0; p < N; p++)
                        for (int64_t q = 0; q < N; q++)
                            want += alpha[p] * r.P[p * N + q] * kernel[k](new + i *D, x + q * D);
                    CHECK_ABS(value(&f, kernel[k], x, new + i *D, 0), want, 1e-5);
                }
                free(r.K);
                free(r.P);
                close_fixture(&f);
            }
    free(x);
    free(new);
}

/* As it is: a stationary point, and a line that says so. */
static void indefinite_as_it_is(void) {
    enum { N = 60 };
    static test_log log;
    krein_ctx *quiet = ctx;
    ctx = test_ctx_full(2, NULL, &log);
    fixture f;
    open_fixture(&f, N, 2, "gaussian(sigma=0.7) - 0.8*gaussian(sigma=1.9)", KREIN_HEAD_BEST);
    double *x = points(N, .4), y[N], C[N];
    krein_exact_svm o = {.C = .5, .tol = 1e-7};
    CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
    CHECK_HAS(log.text, "need not be the optimum");
    for (int64_t i = 0; i < N; i++) y[i] = f.y[i] > 0 ? 1 : -1, C[i] = .5;
    check_conditions(&f, indefinite, x, 0, y, C, false, 1e-5);
    free(x);
    close_fixture(&f);
    krein_ctx_destroy(ctx);
    ctx = quiet;
}

static void memory_may_fail(void) {
    krein_ctx *quiet = ctx;
    static test_memory memory;
    ctx = test_ctx_with(1, &memory);
    ctx->keep_rows = KREIN_KEEP_MEMORY; /* a stream then holds nothing between passes */
    fixture f;
    open_fixture(&f, 30, 2, "gaussian(sigma=0.7) - 0.8*gaussian(sigma=1.9)", KREIN_HEAD_BEST);
    krein_exact_svm o = {.C = -1, .spectrum = KREIN_REPAIR_CLIP, .tol = 1e-3};
    krein_status st = KREIN_OK;
    job_of(&f)->probabilities = true;
    TEST_EVERY_ALLOCATION(&memory, k) {
        st = krein__exact_svm(&f.job, &o);
        CHECK((st == KREIN_OK) == !test_has_failed(&memory));
        if (st != KREIN_OK) CHECK(st == KREIN_EMEMORY);
        krein__free(ctx, f.model.calibration.slope);
        krein__free(ctx, f.model.calibration.shift);
        f.model.calibration = (krein_calibration){0};
    }
    close_fixture(&f);
    krein_ctx_destroy(ctx);
    ctx = quiet;
}

static void cost_is_a_bound(void) {
    enum { N = 300 };
    for (int how = KREIN_REPAIR_NONE; how <= KREIN_REPAIR_CLIP; how++) {
        krein_ctx *quiet = ctx;
        ctx = test_ctx(2);
        fixture f;
        open_fixture(&f, N, 3, "tanh(gamma=0.8, c=-0.4)", KREIN_HEAD_VOTES);
        krein_cost cost = {0};
        krein_exact_svm o = {.C = 1, .multi = 1, .spectrum = (krein_repair)how, .tol = 1e-3};
        uint64_t before = atomic_load(&ctx->held);
        atomic_store(&ctx->peak, before);
        job_of(&f)->probabilities = true;
        CHECK(krein__exact_svm(&f.job, &o) == KREIN_OK);
        f.model.map->cls->cost(f.model.map, N, &cost);
        krein__exact_machine_cost(f.model.map, N, 3, false, (krein_repair)how, &cost);
        CHECK((double)(atomic_load(&ctx->peak) - before) <= cost.bytes);
        krein__free(ctx, f.model.calibration.slope);
        krein__free(ctx, f.model.calibration.shift);
        close_fixture(&f);
        krein_ctx_destroy(ctx);
        ctx = quiet;
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(spectra_are_repaired);
    RUN(indefinite_as_it_is);
    RUN(memory_may_fail);
    RUN(cost_is_a_bound);
    krein_ctx_destroy(ctx);
    return DONE();
}
