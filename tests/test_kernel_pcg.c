/* test_kernel_pcg.c -- ridge regression on large kernel matrices by conjugate gradients: products
 * with half of the matrix, solutions against the Cholesky factorisation, rows held out, and
 * krr(solver=pcg) with map=exact beside solver=direct. */
#include "common.h"

#include "num/blas.h"
#include "solve/kernel_pcg.h"

/* ---- inputs ------------------------------------------------------------- */

enum { D = 3 };

typedef struct problem {
    int64_t n, k;
    float *x;
    double *y, *weight, *K; /* K: n x n, the numbers of the half */
    krein_kernel *kernel;
    krein_half half;
} problem;

static problem make(krein_ctx *ctx, int64_t n, int64_t k, bool weights, const char *kernel) {
    problem p = {.n = n, .k = k};
    test_random_state = 88172645463325252u;
    p.x = test_new(n * D, sizeof *p.x);
    p.y = test_new(n * k, sizeof *p.y);
    p.K = test_new(n * n, sizeof *p.K);
    if (weights) p.weight = test_new(n, sizeof *p.weight);
    for (int64_t e = 0; e < n * D; e++) p.x[e] = (float)(2 * test_random());
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k; c++)
            p.y[i * k + c] = 5 + sin((2 + (double)c) * (double)p.x[i * D]) +
                             (double)p.x[i * D + 1] + .3 * test_random();
        if (weights) p.weight[i] = (double)(i % 4) / 2; /* zero as well */
    }
    CHECK(krein__kernel_parse(ctx, kernel, &p.kernel) == KREIN_OK);
    krein_rows rows = krein__rows_dense(n, D, p.x, D);
    CHECK(krein__half_make(ctx, p.kernel, &rows, true, 0, &p.half) == KREIN_OK);
    for (int64_t e = 0; p.half.value && e < n * n; e++)
        p.K[e] = krein__half_at(&p.half, e / n, e % n);
    return p;
}

static void drop(krein_ctx *ctx, problem *p) {
    krein__half_clear(&p->half);
    krein__kernel_destroy(ctx, p->kernel);
    free(p->x);
    free(p->y);
    free(p->weight);
    free(p->K);
}

static krein_targets targets(const problem *p) {
    return (krein_targets){p->n, p->k, p->y, p->weight, NULL};
}

static double deviation(int64_t n, const double *y) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += y[i];
        square += y[i] * y[i];
    }
    return sqrt(square / (double)n - sum * sum / (double)(n * n));
}

/* ---- half of the matrix -------------------------------------------------- */

/* Products of the half with c columns on one and two threads, beside those of its values. A tile's
 * products are float32: the errors of n terms of the diagonal's size, each about 2^-24 of it, add
 * up as their root. */
static void check_products(krein_ctx *one, krein_ctx *two, problem *p, int64_t c) {
    int64_t n = p->n;
    double *v = test_new(n * c, sizeof *v), *want = test_new(n * c, sizeof *want);
    double *got = test_new(n * c, sizeof *got), *again = test_new(n * c, sizeof *again);
    double *room = test_new(krein__half_room(n, c, 2), sizeof *room);
    for (int64_t e = 0; e < n * c; e++) v[e] = test_random();
    krein__pgemm(one, false, false, n, c, n, 1, p->K, n, v, c, 0, want, c);
    krein__half_multiply(&p->half, c, v, got, room);
    for (int64_t e = 0; e < n * c; e++)
        CHECK_ABS(got[e], want[e], 1e-6 * p->K[0] * sqrt((double)n));
    p->half.ctx = two;
    krein__half_multiply(&p->half, c, v, again, room);
    p->half.ctx = one;
    CHECK(memcmp(got, again, (size_t)(n * c) * sizeof *got) == 0);
    free(v);
    free(want);
    free(got);
    free(again);
    free(room);
}

/* One row; a band and one row, less one, a whole one; several. */
static void products(void) {
    static const int64_t sizes[] = {1, KREIN_BAND + 1, KREIN_BAND - 1, KREIN_BAND,
                                    2 * KREIN_BAND + 9};
    for (int s = 0; s < (test_sanitized() ? 2 : 5); s++) {
        krein_ctx *one = test_ctx(1), *two = test_ctx(2);
        int64_t n = sizes[s];
        problem p = make(one, n, 1, false, "laplacian(sigma=2)");
        double *full = test_new(n * n, sizeof *full);
        krein_rows rows = krein__rows_dense(n, D, p.x, D);
        CHECK(krein__gram_full(one, p.kernel, &rows, &rows, full) == KREIN_OK);
        double worst = 0;
        for (int64_t e = 0; e < n * n; e++) worst = fmax(worst, fabs(full[e] - p.K[e]));
        CHECK(worst < 1e-7);
        static const int64_t columns[] = {1, 3, 8, 20}; /* one group of columns, several */
        for (int l = 0; l < 4; l++) check_products(one, two, &p, columns[l]);
        free(full);
        drop(one, &p);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
    }
}

/* 16 bits: even errors of half a step at most, but for the rounding of float32; products with few
 * columns and with many. Where the ridge is too small for that, values in float32. */
static void rounded(void) {
    enum { N = KREIN_BAND + 77 };
    static const char *const kernels[] = {"laplacian(sigma=2)", "exponential(sigma=2)",
                                          "3 * gaussian(sigma=1)"};
    krein_ctx *one = test_ctx(1), *two = test_ctx(2);
    for (int t = 0; t < (test_sanitized() ? 1 : 3); t++) {
        problem p = make(one, N, 1, false, kernels[t]);
        krein_rows rows = krein__rows_dense(N, D, p.x, D);
        krein_half coarse = {0}, fine = {0};
        double top = t == 2 ? 3 : 1, step = top / 32767, square = 0, worst = 0, float32 = 0;
        double least = 4 * sqrt(N / 12.) * step;
        CHECK(krein__half_make(one, p.kernel, &rows, false, .99 * least, &fine) == KREIN_OK);
        CHECK(fine.value && !fine.code && krein__half_ridge(&fine) == 0);
        CHECK(krein__half_make(one, p.kernel, &rows, false, 1.01 * least, &coarse) == KREIN_OK);
        CHECK(coarse.code && !coarse.value);
        CHECK_REL(krein__half_ridge(&coarse), least, 1e-6);
        for (int64_t e = 0; e < (int64_t)N * N; e++) {
            int64_t i = e / N, j = e % N;
            double error = krein__half_at(&coarse, i, j) - p.K[e];
            if (i == j) CHECK(fabs(error) <= 1e-6 * top);
            float32 = fmax(float32, fabs(krein__half_at(&fine, i, j) - p.K[e]));
            worst = fmax(worst, fabs(error));
            square += error * error;
            p.K[e] = krein__half_at(&coarse, i, j);
        }
        CHECK(float32 < 1e-5 * top && worst < .5 * step + float32 + 1e-6 * top);
        CHECK_REL(square / ((double)N * N) / (step * step / 12), 1, .05);
        krein__half_clear(&fine);
        krein__half_clear(&p.half);
        p.half = coarse;
        check_products(one, two, &p, 1);
        check_products(one, two, &p, 2 + t);
        check_products(one, two, &p, 20);
        drop(one, &p);
    }
    krein_ctx_destroy(one);
    krein_ctx_destroy(two);
}

/* Some rows far larger than the others: 16 bits would lose these. Rows far from the origin: float32
 * would lose their distances. */
static void uneven(void) {
    enum { N = 100 };
    krein_ctx *ctx = test_ctx(1);
    float x[N];
    krein_rows rows = krein__rows_dense(N, 1, x, 1);
    for (int t = 0; t < 2; t++) {
        krein_kernel *kernel = NULL;
        krein_half half = {0};
        double K[N * N], worst = 0;
        for (int64_t i = 0; i < N; i++) x[i] = (float)(t ? 1e4 + det(i, 1, 0) : i ? 1 : 100);
        CHECK(krein__kernel_parse(ctx, t ? "gaussian(sigma=1)" : "linear", &kernel) == KREIN_OK);
        CHECK(krein__half_make(ctx, kernel, &rows, false, (double)INFINITY, &half) == KREIN_OK);
        CHECK(t ? half.code != NULL : half.value != NULL);
        CHECK(krein__gram_full(ctx, kernel, &rows, &rows, K) == KREIN_OK);
        for (int64_t e = 0; e < N * N; e++)
            worst = fmax(worst, fabs(krein__half_at(&half, e / N, e % N) - K[e]));
        CHECK(worst < (t ? .51 / 32767 : 1e-3));
        krein__half_clear(&half);
        krein__kernel_destroy(ctx, kernel);
    }
    krein_ctx_destroy(ctx);
}

/* A number that is not finite is found in any form. */
static void not_finite(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_kernel *kernel = NULL;
    float x[4] = {1, 2, INFINITY, 4};
    krein_rows rows = krein__rows_dense(4, 1, x, 1);
    CHECK(krein__kernel_parse(ctx, "poly(degree=2)", &kernel) == KREIN_OK);
    for (int t = 0; t < 3; t++) {
        krein_half half = {0};
        CHECK(krein__half_make(ctx, kernel, &rows, t == 0, t == 2 ? (double)INFINITY : 0, &half) ==
              KREIN_ENUMERIC);
        CHECK(!half.code && !half.value);
    }
    krein__kernel_destroy(ctx, kernel);
    krein_ctx_destroy(ctx);
}

/* ---- the solver ---------------------------------------------------------- */

/* Two lambdas at once against the direct solver: the predictions; and those of float32 products
 * beside their sums in float64, below what the residual leaves. */
static void solutions(void) {
    static const struct {
        int64_t n, k, m;
        bool weights;
        const char *kernel;
        double lambda[2];
    } all[] = {{500, 1, 60, false, "laplacian(sigma=2)", {1e-4, 1e-2}},
               {400, 2, 50, true, "gaussian(sigma=1)", {1e-5, 1e-3}},
               /* values of 80: float32 products have no digits of a much smaller lambda */
               {300, 1, 20, false, "poly(degree=2)", {1e-2, 1}},
               {1100, 1, 100, true, "laplacian(sigma=2)", {1e-5, 1e-4}},
               {2, 1, 1, false, "gaussian(sigma=1)", {1e-2, 1}}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        int64_t n = all[t].n, k = all[t].k, c = 2 * k;
        if (n > 1000 && test_sanitized()) continue;
        problem p = make(ctx, n, k, all[t].weights, all[t].kernel);
        krein_targets rows = targets(&p);
        krein_kernel_pcg *s = NULL;
        krein_pcg_limits limits = {3e-6, 500, 0, "test"};
        krein_pcg_result r;
        double *alpha = test_new(n * c, sizeof *alpha), *fit = test_new(n * c, sizeof *fit), b[4];
        double *direct = test_new(n * k, sizeof *direct), *K = test_new(n * n, sizeof *K), e[2];
        uint64_t held = krein_ctx_peak_bytes(ctx);
        CHECK(krein__kernel_pcg_create(&p.half, &rows, all[t].m, c, 1, &s) == KREIN_OK);
        CHECK(krein__kernel_pcg_solve(s, 2, all[t].lambda, &limits, alpha, b, fit, &r) == KREIN_OK);
        CHECK((double)krein_ctx_peak_bytes(ctx) - (double)held <=
              krein__kernel_pcg_bytes(n, all[t].m, 2, 2 * k, 2));
        CHECK(r.converged && r.residual <= 3e-6 && r.iterations > 0 && r.iterations < 300);
        double scale = deviation(n * k, p.y);
        for (int l = 0; l < 2; l++) {
            memcpy(K, p.K, (size_t)(n * n) * sizeof *K);
            CHECK(krein__dual_solve(ctx, K, &rows, all[t].lambda[l], direct, e) == KREIN_OK);
            for (int64_t i = 0; i < n; i++)
                for (int64_t o = 0; o < k; o++) {
                    double want = e[o], sum = b[l * k + o];
                    for (int64_t j = 0; j < n; j++) {
                        want += p.K[i * n + j] * direct[j * k + o];
                        sum += p.K[i * n + j] * alpha[j * c + l * k + o];
                    }
                    CHECK_ABS(fit[i * c + l * k + o], want, 1e-4 * scale);
                    CHECK_ABS(fit[i * c + l * k + o], sum, 1e-4 * scale);
                    if (p.weight && p.weight[i] == 0) CHECK(alpha[i * c + l * k + o] == 0);
                }
        }
        krein__kernel_pcg_destroy(s);
        free(alpha);
        free(fit);
        free(direct);
        free(K);
        drop(ctx, &p);
    }
    krein_ctx_destroy(ctx);
}

/* Rows held out are as rows that are not there; and all again leads to the same bits. */
static void held_rows(void) {
    enum { n = 260, m = 40 };
    krein_ctx *ctx = test_ctx(1);
    problem p = make(ctx, n, 1, false, "laplacian(sigma=2)");
    krein_targets rows = targets(&p), few = {.k = 1};
    krein_kernel_pcg *s = NULL;
    krein_pcg_limits limits = {1e-8, 500, 0, "test"};
    krein_pcg_result r;
    int32_t fold[n];
    int64_t index[n], left = 0;
    double first[n], alpha[n], fit[n], b0, b, lambda = 1e-3, y[n], *K = test_new(n * n, sizeof *K);
    double direct[n], e, other;
    for (int i = 0; i < n; i++) {
        fold[i] = i % 7;
        if (fold[i] == 3) continue;
        y[left] = p.y[i];
        index[left++] = i;
    }
    for (int64_t i = 0; i < left; i++)
        for (int64_t j = 0; j < left; j++) K[i * left + j] = p.K[index[i] * n + index[j]];
    few.n = left;
    few.y = y;
    CHECK(krein__dual_solve(ctx, K, &few, lambda, direct, &e) == KREIN_OK);
    CHECK(krein__kernel_pcg_create(&p.half, &rows, m, 1, 1, &s) == KREIN_OK);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &limits, first, &b0, NULL, &r) == KREIN_OK);
    CHECK(krein__kernel_pcg_hold(s, fold, 3) == KREIN_OK);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &limits, alpha, &b, fit, &r) == KREIN_OK);
    for (int i = 0; i < n; i++) {
        double want = e;
        for (int64_t j = 0; j < left; j++) want += p.K[i * n + index[j]] * direct[j];
        CHECK_ABS(fit[i], want, 4e-6); /* products are float32: 2^-24 of sums of 260 terms */
        if (fold[i] == 3) CHECK(alpha[i] == 0);
    }
    CHECK(krein__kernel_pcg_hold(s, NULL, -1) == KREIN_OK);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &limits, alpha, &other, NULL, &r) == KREIN_OK);
    CHECK(memcmp(alpha, first, sizeof first) == 0 && other == b0);
    krein__kernel_pcg_destroy(s);
    free(K);
    drop(ctx, &p);
    krein_ctx_destroy(ctx);
}

static void same_bits_on_any_threads(void) {
    int64_t n = test_sanitized() ? 300 : 2200;
    double *alpha[3], b[3][4], lambda[2] = {1e-4, 1e-3};
    for (int t = 0; t < 3; t++) {
        krein_ctx *ctx = test_ctx(t + 1);
        problem p = make(ctx, n, 2, true, "laplacian(sigma=2)");
        krein_targets rows = targets(&p);
        krein_kernel_pcg *s = NULL;
        krein_pcg_limits limits = {1e-5, 500, 0, "test"};
        krein_pcg_result r;
        alpha[t] = test_new(n * 4, sizeof **alpha);
        CHECK(krein__kernel_pcg_create(&p.half, &rows, 150, 4, 1, &s) == KREIN_OK);
        CHECK(krein__kernel_pcg_solve(s, 2, lambda, &limits, alpha[t], b[t], NULL, &r) == KREIN_OK);
        CHECK(memcmp(alpha[t], alpha[0], (size_t)(n * 4) * sizeof **alpha) == 0);
        CHECK(memcmp(b[t], b[0], sizeof b[t]) == 0);
        krein__kernel_pcg_destroy(s);
        drop(ctx, &p);
        krein_ctx_destroy(ctx);
    }
    for (int t = 0; t < 3; t++) free(alpha[t]);
}

/* What the preconditioner is worth: a rough kernel, of which few rows know little, at a small
 * lambda. It takes 12 steps, and 57 with the damping of lambda alone. Outputs that share their
 * directions take fewer than the longest of them by itself, 17. */
static void few_steps(void) {
    enum { N = 600, K = 8, M = 60, MOST = 20 };
    krein_ctx *ctx = test_ctx(2);
    problem p = make(ctx, N, K, false, "laplacian(sigma=1)");
    krein_pcg_limits limits = {1e-2, 500, 0, "test"};
    krein_pcg_result r, one;
    krein_kernel_pcg *s = NULL;
    double lambda = 1e-7, *alpha = test_new(N * K, sizeof *alpha), b[K];
    double *y = test_new(N, sizeof *y);
    int64_t longest = 0;
    krein_targets rows = targets(&p);
    CHECK(krein__kernel_pcg_create(&p.half, &rows, M, K, 1, &s) == KREIN_OK);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &limits, alpha, b, NULL, &r) == KREIN_OK);
    for (int64_t c = 0; c < K; c++) {
        for (int64_t i = 0; i < N; i++) y[i] = p.y[i * K + c];
        krein_targets own = {N, 1, y, NULL, NULL};
        krein__kernel_pcg_targets(s, &own);
        CHECK(krein__kernel_pcg_hold(s, NULL, -1) == KREIN_OK);
        CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &limits, alpha, b, NULL, &one) == KREIN_OK);
        longest = one.iterations > longest ? one.iterations : longest;
    }
    CHECK(r.converged && r.iterations < longest && r.iterations <= MOST);
    krein__kernel_pcg_destroy(s);
    free(alpha);
    free(y);
    drop(ctx, &p);
    krein_ctx_destroy(ctx);
}

static void ends(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(ctx, 200, 1, true, "gaussian(sigma=1)");
    krein_targets rows = targets(&p);
    krein_kernel_pcg *s = NULL;
    krein_pcg_limits few = {1e-12, 3, 0, "test"}, late = {1e-12, 300, 1e-9, "test"};
    krein_pcg_result r;
    double alpha[200], b, lambda = 1e-6;
    CHECK(krein__kernel_pcg_create(&p.half, &rows, 20, 1, 1, &s) == KREIN_OK);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &few, alpha, &b, NULL, &r) == KREIN_OK);
    CHECK(!r.converged && r.iterations == 3);
    CHECK(krein__kernel_pcg_solve(s, 1, &lambda, &late, alpha, &b, NULL, &r) == KREIN_OK);
    CHECK(!r.converged && r.iterations == 0 && alpha[7] == 0);
    krein__kernel_pcg_destroy(s);
    for (int i = 0; i < 200; i++) p.weight[i] = 0;
    CHECK(krein__kernel_pcg_create(&p.half, &rows, 20, 1, 1, &s) == KREIN_EDATA && !s);
    drop(ctx, &p);
    krein_ctx_destroy(ctx);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make(ctx, 30, 1, true, "gaussian(sigma=1)");
    krein_targets rows = targets(&p);
    krein_rows x = krein__rows_dense(30, D, p.x, D);
    double alpha[60], b[2], lambda[2] = {.01, .1};
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_half half = {0};
        krein_kernel_pcg *s = NULL;
        krein_pcg_limits limits = {1e-6, 100, 0, "test"};
        krein_pcg_result r;
        krein_status st = krein__half_make(ctx, p.kernel, &x, false, 1, &half);
        if (st == KREIN_OK) st = krein__kernel_pcg_create(&half, &rows, 6, 2, 1, &s);
        if (st == KREIN_OK) st = krein__kernel_pcg_solve(s, 2, lambda, &limits, alpha, b, NULL, &r);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein__kernel_pcg_destroy(s);
        krein__half_clear(&half);
    }
    drop(ctx, &p);
    krein_ctx_destroy(ctx);
}

/* ---- the learner --------------------------------------------------------- */

static krein_data *open_rows(krein_ctx *ctx, const problem *p, const double *label, bool classes) {
    krein_data_options d;
    krein_data *data = NULL;
    krein_data_options_init(&d);
    d.task = classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    if (krein_data_from_dense(ctx, p->n, D, p->x, D, label, p->weight, &d, &data) != KREIN_OK)
        exit(1);
    return data;
}

/* Trains, checks the plan, and predicts the rows; the report is the caller's. */
static krein_status train(krein_ctx *ctx, const problem *p, const double *label, bool classes,
                          const char *learner, double lambda, double *score, krein_report *report) {
    krein_train_options o;
    krein_report plan = KREIN_SIZED(krein_report);
    krein_data *data = open_rows(ctx, p, label, classes);
    krein_model *m = NULL;
    krein_train_options_init(&o);
    o.kernel = "laplacian(sigma=2)";
    o.map = "exact";
    o.learner = learner;
    o.lambda = lambda;
    o.probabilities = classes;
    CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
    krein_data_close(data);
    data = open_rows(ctx, p, label, classes);
    krein_status st = krein_train(ctx, data, &o, report, &m);
    if (st == KREIN_OK) CHECK(krein_ctx_peak_bytes(ctx) <= plan.bytes_peak);
    if (m) CHECK(krein_predict_dense(ctx, m, p->n, D, p->x, D, score) == KREIN_OK);
    krein_report_clear(ctx, &plan);
    krein_model_destroy(m);
    krein_data_close(data);
    return st;
}

/* The model of solver=direct; with lambda chosen, the one of the lambda reported, to the bit. */
static void learner(void) {
    krein_ctx *make_ctx = test_ctx(1);
    problem p = make(make_ctx, test_sanitized() ? 150 : 900, 1, true, "laplacian(sigma=2)");
    double *score[4], lambda = 1e-3, chosen = 0, scale = deviation(p.n, p.y);
    static const char *const learners[] = {"krr(solver=direct)", "krr(solver=pcg)",
                                           "krr(solver=pcg)", "krr(solver=pcg)"};
    for (int t = 0; t < 4; t++) {
        krein_ctx *ctx = test_ctx(t == 3 ? 2 : 1);
        krein_report report = KREIN_SIZED(krein_report);
        score[t] = test_new(p.n, sizeof **score);
        double given = t == 2 ? -1 : t == 3 ? chosen : lambda;
        CHECK(train(ctx, &p, p.y, false, learners[t], given, score[t], &report) == KREIN_OK);
        if (t > 0) CHECK_HAS(report.learner, "solver=pcg");
        if (t == 2) {
            chosen = report.lambda;
            /* under a sanitizer 15 rows are held out: their error is rough */
            double least = test_sanitized() ? 0 : .1, most = test_sanitized() ? 2 : .3;
            CHECK(chosen > 0 && report.loo > least && report.loo < most);
            CHECK(report.folds == 1);
        }
        krein_report_clear(ctx, &report);
        krein_ctx_destroy(ctx);
    }
    for (int64_t i = 0; i < p.n; i++) CHECK_ABS(score[1][i], score[0][i], 1e-4 * scale);
    CHECK(memcmp(score[2], score[3], (size_t)p.n * sizeof **score) == 0);
    for (int t = 0; t < 4; t++) free(score[t]);
    drop(make_ctx, &p);
    krein_ctx_destroy(make_ctx);
}

/* Classes, by folds too, with probabilities. */
static void classes(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(ctx, 200, 1, false, "laplacian(sigma=2)");
    double *label = test_new(p.n, sizeof *label), *score = test_new(3 * p.n, sizeof *score);
    for (int64_t i = 0; i < p.n; i++) label[i] = p.x[i * D] > .5f ? 2 : p.x[i * D + 1] > 0 ? 1 : 0;
    krein_report report = KREIN_SIZED(krein_report);
    CHECK(train(ctx, &p, label, true, "krr(solver=pcg)", -1, score, &report) == KREIN_OK);
    CHECK(report.loo >= 0 && report.loo < .3);
    int64_t wrong = 0;
    for (int64_t i = 0; i < p.n; i++) {
        int best = 0;
        for (int c = 1; c < 3; c++)
            if (score[3 * i + c] > score[3 * i + best]) best = c;
        wrong += best != (int)label[i];
    }
    CHECK(wrong < p.n / 10);
    krein_report_clear(ctx, &report);
    free(label);
    free(score);
    drop(ctx, &p);
    krein_ctx_destroy(ctx);
}

/* More classes than lambdas are compared by: combinations choose, and the lambda reported gives the
 * same model again, on any number of threads. */
static void many_classes(void) {
    enum { CLASSES = 12 };
    krein_ctx *make_ctx = test_ctx(1);
    problem p = make(make_ctx, 360, 1, false, "laplacian(sigma=2)");
    double *label = test_new(p.n, sizeof *label), *score[2], chosen = -1;
    for (int64_t i = 0; i < p.n; i++) {
        int64_t a = (int64_t)floor(4 * fmin(fmax(.5 + .25 * (double)p.x[i * D], 0), .99));
        int64_t b = (int64_t)floor(3 * fmin(fmax(.5 + .25 * (double)p.x[i * D + 1], 0), .99));
        label[i] = (double)(i < CLASSES ? i : 3 * a + b);
    }
    for (int t = 0; t < 2; t++) {
        krein_ctx *ctx = test_ctx(1 + t);
        krein_report report = KREIN_SIZED(krein_report);
        score[t] = test_new(p.n * CLASSES, sizeof **score);
        CHECK(train(ctx, &p, label, true, "krr(solver=pcg)", chosen, score[t], &report) ==
              KREIN_OK);
        if (t == 0) CHECK(report.loo > 0 && report.loo < .6);
        chosen = report.lambda;
        krein_report_clear(ctx, &report);
        krein_ctx_destroy(ctx);
    }
    CHECK(memcmp(score[0], score[1], (size_t)(p.n * CLASSES) * sizeof **score) == 0);
    free(label);
    free(score[0]);
    free(score[1]);
    drop(make_ctx, &p);
    krein_ctx_destroy(make_ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(products);
    RUN(rounded);
    RUN(uneven);
    RUN(not_finite);
    RUN(solutions);
    RUN(held_rows);
    RUN(same_bits_on_any_threads);
    RUN(few_steps);
    RUN(ends);
    RUN(every_allocation_fails);
    RUN(learner);
    RUN(classes);
    RUN(many_classes);
    return DONE();
}
