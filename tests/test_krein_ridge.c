/* test_krein_ridge.c -- ridge regression with signed features: stationary points against
 * elimination and against the kernel matrix, leave-one-out against refits, existence, and
 * krr(norm=krein). */
#include "common.h"

#include "num/blas.h"
#include "solve/krein_ridge.h"

/* ---- the obvious way ------------------------------------------------------ */

enum { N = 60, D = 7, OUT = 2, M = D + 1 };

/* Numbers of few bits: the library's float32 products of them are exact. */
static double few_bits(double x) { return rint(8 * x) / 8; }

static double z[N][D], y[N][OUT], weight[N];
static const int8_t sign[D] = {1, -1, 1, 1, -1, -1, 1};

static void fill(bool weighted) {
    static const double choice[] = {1, 4, .25, 1, 9}; /* exact square roots */
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++) z[i][j] = few_bits(2 * det(i, j, .3) + 1);
        for (int64_t o = 0; o < OUT; o++)
            y[i][o] = few_bits(z[i][0] - z[i][1] * z[i][2] / 4 + det(i, o, 2.2));
        weight[i] = weighted ? choice[i % 5] : 1;
    }
}
static double total(void) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++) sum += weight[i];
    return sum;
}
/* x (M x OUT), the intercept last; row `skip` left out, penalty c S. */
static void fit_slowly(double c, const int8_t *s, int64_t skip, double *x) {
    double a[M * M] = {0};
    memset(x, 0, M * OUT * sizeof *x);
    for (int64_t i = 0; i < N; i++) {
        if (i == skip) continue;
        for (int64_t r = 0; r < M; r++) {
            double zr = r < D ? z[i][r] : 1;
            for (int64_t q = 0; q < M; q++) a[r * M + q] += weight[i] * zr * (q < D ? z[i][q] : 1);
            for (int64_t o = 0; o < OUT; o++) x[r * OUT + o] += weight[i] * zr * y[i][o];
        }
    }
    for (int64_t r = 0; r < D; r++) a[r * M + r] += c * s[r];
    test_solve(M, OUT, a, x);
}
static double value(const double *x, int64_t i, int64_t o) {
    double f = x[D * OUT + o];
    for (int64_t j = 0; j < D; j++) f += z[i][j] * x[j * OUT + o];
    return f;
}

static krein_status make_system(krein_ctx *ctx, bool weighted, krein_system *s) {
    krein_ridge ridge;
    float r[N * D];
    memset(s, 0, sizeof *s);
    krein_status st = krein__ridge_begin(ctx, D, OUT, N, &ridge);
    if (st != KREIN_OK) return st;
    for (int64_t e = 0; e < N * D; e++) r[e] = (float)z[e / D][e % D];
    krein__ridge_add(&ridge, N, r, &y[0][0], weighted ? weight : NULL);
    st = krein__ridge_system(&ridge, NULL, 0, D, s);
    krein__ridge_clear(&ridge);
    return st;
}

/* ---- the factorisation ---------------------------------------------------- */

static void indefinite_matrices(void) {
    krein_ctx *ctx = test_ctx(1);
    static const int64_t orders[] = {1, 2, 9, 70, 130};
    for (int t = 0; t < 5; t++) {
        int64_t n = orders[t];
        double *a = test_new(n * n, 8), *full = test_new(n * n, 8), *inverse = test_new(n * n, 8);
        double *e = test_new(n, 8), *b = test_new(3 * n, 8), margin, norm = 0;
        int *pivot = test_new(n, sizeof *pivot);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++)
                a[i * n + j] = full[i * n + j] = full[j * n + i] = det(i, j, .1);
        for (int64_t i = 0; i < 3 * n; i++) b[i] = det(i, 2, .7);
        CHECK(krein__indefinite(ctx, n, a, n, e, pivot, &margin) == KREIN_OK);
        double *x = test_new(3 * n, 8);
        memcpy(x, b, (size_t)(3 * n) * 8);
        krein__indefinite_solve(n, a, n, e, pivot, 3, x, n);
        for (int64_t c = 0; c < 3; c++)
            for (int64_t i = 0; i < n; i++) {
                double sum = -b[c * n + i], size = 0;
                for (int64_t j = 0; j < n; j++) {
                    sum += full[i * n + j] * x[c * n + j];
                    size += fabs(full[i * n + j] * x[c * n + j]);
                }
                CHECK_ABS(sum, 0, 1e-13 * (size + 1) * (double)n);
            }
        for (int64_t i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
        test_solve(n, n, full, inverse);
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++) sum += fabs(inverse[i * n + j]);
            norm = fmax(norm, sum);
        }
        CHECK(margin * norm > .999 && margin * norm < 3); /* an estimate, from above */
        free(a);
        free(full);
        free(inverse);
        free(e);
        free(b);
        free(x);
        free(pivot);
    }
    double zero[4] = {1, 1, 0, 1}, e[2], margin;
    int pivot[2];
    CHECK(krein__indefinite(ctx, 2, zero, 2, e, pivot, &margin) == KREIN_OK && margin == 0);
    krein_ctx_destroy(ctx);
}

/* ---- stationary points ---------------------------------------------------- */

static void stationary_points(void) {
    krein_ctx *ctx = test_ctx(2);
    static const double lambdas[] = {0, .01, .7, 30};
    static const int8_t plus[D] = {1, 1, 1, 1, 1, 1, 1};
    for (int weighted = 0; weighted < 2; weighted++) {
        fill(weighted);
        krein_system s;
        CHECK(make_system(ctx, weighted, &s) == KREIN_OK);
        for (int l = 0; l < 4; l++) {
            double w[D * OUT], b[OUT], x[M * OUT], v[D * OUT], c[OUT];
            CHECK(krein__krein_solve(ctx, &s, sign, lambdas[l], w, b) == KREIN_OK);
            fit_slowly(total() * lambdas[l], sign, -1, x);
            for (int64_t e = 0; e < D * OUT; e++) CHECK_ABS(w[e], x[e], 1e-10);
            for (int64_t o = 0; o < OUT; o++) CHECK_ABS(b[o], x[D * OUT + o], 1e-10);
            /* Without negative signs it is ridge regression. */
            CHECK(krein__krein_solve(ctx, &s, plus, lambdas[l], w, b) == KREIN_OK);
            CHECK(krein__system_solve(ctx, &s, lambdas[l], v, c) == KREIN_OK);
            for (int64_t e = 0; e < D * OUT; e++) CHECK_ABS(w[e], v[e], 1e-10);
        }
        krein__system_clear(ctx, &s);
    }
    krein_ctx_destroy(ctx);
}

/* The same function as K + n lambda I finds on the kernel matrix K = Z S Z'. */
static void as_on_the_kernel_matrix(void) {
    krein_ctx *ctx = test_ctx(1);
    fill(true);
    krein_system s;
    double *K = test_new(N * N, 8), *keep = test_new(N * N, 8), a[N * OUT], b[OUT];
    double w[D * OUT], c[OUT];
    krein_targets rows = {N, OUT, &y[0][0], weight, NULL};
    for (int64_t i = 0; i < N * N; i++)
        for (int64_t j = 0; j < D; j++) keep[i] += sign[j] * z[i / N][j] * z[i % N][j];
    CHECK(make_system(ctx, true, &s) == KREIN_OK);
    for (int l = 0; l < 3; l++) {
        double lambda = .02 * pow(10, l);
        memcpy(K, keep, N * N * 8);
        CHECK(krein__krein_solve(ctx, &s, sign, lambda, w, c) == KREIN_OK);
        CHECK(krein__dual_solve(ctx, K, &rows, lambda, a, b) == KREIN_OK);
        for (int64_t i = 0; i < N; i++)
            for (int64_t o = 0; o < OUT; o++) {
                double primal = c[o], dual = b[o];
                for (int64_t j = 0; j < D; j++) primal += z[i][j] * w[j * OUT + o];
                for (int64_t j = 0; j < N; j++) dual += keep[i * N + j] * a[j * OUT + o];
                CHECK_ABS(primal, dual, 1e-8);
            }
    }
    krein__system_clear(ctx, &s);
    free(K);
    free(keep);
    krein_ctx_destroy(ctx);
}

/* ---- leave-one-out, folds ------------------------------------------------- */

static void leave_one_out(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int weighted = 0; weighted < 2; weighted++) {
        fill(weighted);
        krein_system s;
        krein_path p = {0};
        float centred[N * D];
        CHECK(make_system(ctx, weighted, &s) == KREIN_OK);
        for (int64_t e = 0; e < N * D; e++) centred[e] = (float)(z[e / D][e % D] - s.mean[e % D]);
        krein_targets rows = {N, OUT, &y[0][0], weighted ? weight : NULL, NULL};
        CHECK(krein__krein_loo(ctx, &s, sign, centred, &rows, &p) == KREIN_OK);
        CHECK(p.n > 12);
        for (int64_t l = 0; l < p.n; l++) {
            double loss = 0, x[M * OUT];
            if (isinf(p.loss[l])) continue;
            CHECK(p.loss[l] >= p.loss[p.best]);
            for (int64_t i = 0; i < N; i++) {
                fit_slowly(total() * p.lambda[l], sign, i, x);
                for (int64_t o = 0; o < OUT; o++)
                    loss += weight[i] * pow(y[i][o] - value(x, i, o), 2) / OUT;
            }
            CHECK_REL(p.loss[l], loss / total(), 1e-3); /* centred is float32; poles enlarge that */
        }
        double x[M * OUT], loss = 0;
        for (int64_t i = 0; i < N; i++) {
            fit_slowly(total() * p.lambda[p.best], sign, i, x);
            for (int64_t o = 0; o < OUT; o++)
                loss += weight[i] * pow(y[i][o] - value(x, i, o), 2) / OUT;
        }
        CHECK_REL(p.loss[p.best], loss / total(), 1e-5);
        krein__system_clear(ctx, &s);
    }
    krein_ctx_destroy(ctx);
}

static void held_out_scores(void) {
    krein_ctx *ctx = test_ctx(2);
    fill(true);
    krein_system s;
    krein_path p = {.n = 2, .lambda = {.05, 2}};
    krein_scores *scores = NULL;
    krein_tally tally = {0};
    float r[N * D];
    for (int64_t e = 0; e < N * D; e++) r[e] = (float)z[e / D][e % D];
    CHECK(make_system(ctx, true, &s) == KREIN_OK);
    CHECK(krein__krein_scores(ctx, &s, sign, &p, &scores) == KREIN_OK);
    krein_targets rows = {N, OUT, &y[0][0], weight, NULL};
    CHECK(krein__scores_add(scores, r, &rows, &tally) == KREIN_OK);
    krein__tally_end(&tally, false, &p);
    for (int64_t l = 0; l < 2; l++) {
        double loss = 0, x[M * OUT];
        fit_slowly(total() * p.lambda[l], sign, -1, x);
        for (int64_t i = 0; i < N; i++)
            for (int64_t o = 0; o < OUT; o++)
                loss += weight[i] * pow(y[i][o] - value(x, i, o), 2) / OUT;
        CHECK_REL(p.loss[l], loss / total(), 1e-5);
    }
    krein__scores_end(scores);
    krein__system_clear(ctx, &s);
    krein_ctx_destroy(ctx);
}

/* One negative feature: at lambda = G / W there is none, and the lambda of the message has one. */
static void existence(void) {
    krein_ctx *ctx = test_ctx(1);
    double G = 3, B = 1, mean = 0, ymean = 0, w, b, lambda = 0;
    krein_system s = {.D = 1, .R = 1, .k = 1, .weight = 10, .G = &G, .B = &B, .mean = &mean};
    s.ymean = &ymean;
    int8_t minus = -1;
    CHECK(krein__krein_solve(ctx, &s, &minus, .3, &w, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "norm=hilbert");
    s.G[0] = 1.5; /* and a lambda above it */
    CHECK(krein__krein_solve(ctx, &s, &minus, .15, &w, &b) == KREIN_ENUMERIC);
    fill(false);
    krein_system real;
    CHECK(make_system(ctx, false, &real) == KREIN_OK);
    /* The largest lambda at which det(G - n lambda) = 0 when all features are negative. */
    int8_t all[D] = {-1, -1, -1, -1, -1, -1, -1};
    double V[D * D], eigen[D], weights[D * OUT], c[OUT];
    memcpy(V, real.G, sizeof V);
    CHECK(krein__eigen(ctx, D, V, D, eigen) == KREIN_OK);
    CHECK(krein__krein_solve(ctx, &real, all, eigen[3] / N, weights, c) == KREIN_ENUMERIC);
    const char *at = strstr(krein_message(ctx), "`lambda=");
    CHECK(at != NULL);
    if (at) lambda = strtod(at + 8, NULL);
    CHECK(lambda > eigen[3] / N);
    CHECK(krein__krein_solve(ctx, &real, all, lambda, weights, c) == KREIN_OK);
    krein__system_clear(ctx, &real);
    krein_ctx_destroy(ctx);
}

/* ---- the learner ---------------------------------------------------------- */

enum { ROWS = 500, WIDTH = 3 };
static const char *const SIGNED = "gaussian(sigma=0.8) - 0.6*gaussian(sigma=2.5)";

static krein_data *rows_of(krein_ctx *ctx, int64_t n, double s, bool classes) {
    static float x[ROWS][WIDTH];
    static double label[ROWS];
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < WIDTH; j++) x[i][j] = (float)(1.5 * det(i, j, s));
        double f = sin(2 * (double)x[i][0]) * (double)x[i][1] + (double)x[i][2];
        f += .1 * det(i, 13, s);
        label[i] = classes ? floor(fmin(2, fmax(0, f + 1.5))) : 4 * f;
    }
    o.task = classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    CHECK(krein_data_from_dense(ctx, n, WIDTH, &x[0][0], WIDTH, label, NULL, &o, &data) ==
          KREIN_OK);
    return data;
}
typedef struct outcome {
    double held, loo, lambda;
    char learner[80];
    test_bytes file;
} outcome;
static outcome train(int threads, const char *kernel, const char *map, const char *learner,
                     double lambda, const char *select, bool classes) {
    krein_ctx *ctx = test_ctx(threads);
    krein_data *data = rows_of(ctx, ROWS, .2, classes);
    krein_train_options o;
    krein_report r = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    outcome out = {.held = NAN};
    krein_train_options_init(&o);
    o.kernel = kernel;
    o.map = map;
    o.learner = learner;
    o.lambda = lambda;
    o.select = select;
    krein_status st = krein_train(ctx, data, &o, &r, &m);
    if (st != KREIN_OK) printf("%s: %s\n", learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(data);
    if (st == KREIN_OK) {
        CHECK(atomic_load(&ctx->peak) <= r.bytes_peak);
        data = rows_of(ctx, 300, 3.3, classes);
        CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
        out.held = classes ? metrics.error : metrics.rmse;
        out.loo = r.loo;
        out.lambda = r.lambda;
        snprintf(out.learner, sizeof out.learner, "%s", r.learner);
        CHECK(krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
        out.file = test_slurp(test_path("m.krein"));
        krein_metrics_clear(ctx, &metrics);
        krein_data_close(data);
    }
    krein_report_clear(ctx, &r);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return out;
}

static void learner(void) {
    for (int classes = 0; classes < 2; classes++) {
        const char *map = "gorf(D=200)";
        outcome a = train(1, SIGNED, map, "krr(norm=krein)", -1, NULL, classes);
        CHECK(strcmp(a.learner, "krr(norm=krein)") == 0);
        CHECK(a.held < (classes ? .25 : 1.2) && a.loo < 1.5 * a.held && a.loo > .6 * a.held);
        /* Any number of threads; and again with the lambda that was chosen. */
        outcome b = train(2, SIGNED, map, "krr(norm=krein)", -1, NULL, classes);
        outcome c = train(2, SIGNED, map, "krr(norm=krein)", a.lambda, NULL, classes);
        CHECK(test_same(a.file, b.file) && test_same_model(a.file, c.file));
        outcome d = train(2, SIGNED, map, "krr(norm=krein)", -1, "cv(k=4)", classes);
        CHECK(d.held < 1.3 * a.held + .02 && d.loo > .6 * d.held && d.loo < 1.6 * d.held);
        outcome e = train(2, SIGNED, map, "krr", -1, NULL, classes);
        CHECK(strcmp(e.learner, "krr") == 0 && !test_same(a.file, e.file));
        free(a.file.at);
        free(b.file.at);
        free(c.file.at);
        free(d.file.at);
        free(e.file.at);
    }
}

/* Without negative features, and on the kernel matrix, the norm makes no difference. */
static void norms_that_agree(void) {
    static const char *const kernel[] = {"gaussian(sigma=0.8)", SIGNED, "gaussian(sigma=0.8)"};
    static const char *const map[] = {"orf(D=100)", "exact", "nystrom(D=60)"};
    for (int k = 0; k < 3; k++) {
        outcome a = train(1, kernel[k], map[k], "krr(norm=hilbert)", -1, NULL, false);
        outcome b = train(1, kernel[k], map[k], "krr(norm=krein)", -1, NULL, false);
        CHECK(test_same(a.file, b.file) && strcmp(b.learner, "krr") == 0);
        free(a.file.at);
        free(b.file.at);
    }
}

static void memory(void) {
    static test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=0.8) - 0.6*gaussian(sigma=2.5)";
    o.map = "rff(D=16)";
    o.learner = "krr(norm=krein)";
    krein_data *data = rows_of(ctx, 80, .2, false);
    for (int folds = 0; folds < 2; folds++) {
        o.select = folds ? "cv(k=2)" : NULL;
        TEST_EVERY_ALLOCATION(&m, k) {
            krein_model *model = NULL;
            krein_status st = krein_train(ctx, data, &o, NULL, &model);
            CHECK(st == KREIN_EMEMORY || st == KREIN_OK);
            if (!test_has_failed(&m)) CHECK(st == KREIN_OK);
            krein_model_destroy(model);
        }
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(indefinite_matrices);
    RUN(stationary_points);
    RUN(as_on_the_kernel_matrix);
    RUN(leave_one_out);
    RUN(held_out_scores);
    RUN(existence);
    RUN(learner);
    RUN(norms_that_agree);
    RUN(memory);
    return DONE();
}
