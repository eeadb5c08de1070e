/* test_easymkl.c -- weights of kernels by the margin of their sum: against a slow implementation,
 * and matrices against features. */
#include "hulls.h"
#include "train.h"

enum { M = 4 };
static const char KERNELS[] =
    "gaussian(sigma=0.4); 3*gaussian(sigma=2); linear; poly(degree=2, c=1, gamma=1)";

static double kernel(int m, int64_t d, const float *a, const float *b) {
    double dot = 0, square = 0;
    for (int64_t j = 0; j < d; j++) {
        dot += (double)a[j] * (double)b[j];
        square += pow((double)a[j] - (double)b[j], 2);
    }
    switch (m) {
    case 0:
        return exp(-square / (2 * .16));
    case 1:
        return 3 * exp(-square / 8);
    case 2:
        return dot;
    default:
        return pow(1 + dot, 2);
    }
}

/* Rows as far apart as the kernels are wide, so that float32 features are all of them. */
static rows spread(int64_t n, int classes, uint64_t seed) {
    rows r = rings(n, classes, seed);
    for (int64_t i = 0; i < n * r.d; i++) r.x[i] = 4 * r.x[i] - 2;
    return r;
}

/* K (M x n x n), of unit mean diagonal. */
static double *matrices(const rows *r) {
    int64_t n = r->n;
    double *K = test_new(M * n * n, sizeof *K);
    for (int m = 0; m < M; m++) {
        double *of = K + m * n * n, trace = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                of[i * n + j] = kernel(m, r->d, r->x + i * r->d, r->x + j * r->d);
        for (int64_t i = 0; i < n; i++) trace += of[i * n + i];
        for (int64_t i = 0; i < n * n; i++) of[i] *= (double)n / trace;
    }
    return K;
}

/* Adds the weights of one problem: rows of label `positive` against the others. */
static void add_slowly(const rows *r, const double *K, double positive, double lambda, double *mu) {
    int64_t n = r->n;
    problem p = problem_of(n);
    double u[M] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) p.y[i] = r->y[i] == positive ? 1 : -1;
    for (int m = 0; m < M; m++)
        for (int64_t i = 0; i < n * n; i++) p.K[i] += K[m * n * n + i];
    by_projection(&p, lambda, 8000, p.g);
    for (int m = 0; m < M; m++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                u[m] += p.y[i] * p.g[i] * K[m * n * n + i * n + j] * p.y[j] * p.g[j];
        sum += u[m];
    }
    for (int m = 0; m < M; m++) mu[m] += u[m] / sum;
    problem_end(&p);
}

static void fit_weighted(krein_ctx *ctx, const rows *r, const double *weight, double lambda,
                         const char *map, double *mu) {
    krein_train_options o = defaults();
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *model = NULL;
    krein_data_options as_they_are;
    krein_data *data = NULL;
    krein_data_options_init(&as_they_are);
    as_they_are.task = KREIN_TASK_CLASSIFICATION;
    as_they_are.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, weight, &as_they_are, &data) ==
          KREIN_OK);
    char learner[64];
    snprintf(learner, sizeof learner, "mkl(method=easymkl, lambda=%.17g)", lambda);
    o.learner = learner;
    o.kernels = KERNELS;
    o.map = map;
    o.features = M * r->n;
    o.lambda = 1e-3;
    krein_status st = krein_train(ctx, data, &o, &report, &model);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK && report.kernels == M);
    for (int64_t m = 0; m < M; m++) mu[m] = report.kernels == M ? report.weights[m].weight : NAN;
    krein_report_clear(ctx, &report);
    krein_model_destroy(model);
    krein_data_close(data);
}

static void fit(krein_ctx *ctx, const rows *r, double lambda, const char *map, double *mu) {
    fit_weighted(ctx, r, NULL, lambda, map, mu);
}

static void compare(const rows *r, const double *label, int problems, double lambda) {
    krein_ctx *ctx = test_ctx(2);
    double slow[M] = {0}, exact[M], features[M], *K = matrices(r);
    for (int p = 0; p < problems; p++) add_slowly(r, K, label[p], lambda, slow);
    fit(ctx, r, lambda, "exact", exact);
    fit(ctx, r, lambda, "nystrom", features);
    for (int m = 0; m < M; m++) {
        CHECK_ABS(exact[m], slow[m] / problems, 1e-6);
        CHECK_ABS(features[m], exact[m], 1e-6);
    }
    free(K);
    krein_ctx_destroy(ctx);
}

static void two_classes(void) {
    static const double lambdas[] = {.02, .1, .6, 1}, label[] = {1};
    for (int k = 0; k < 4; k++) {
        if (test_sanitized() && k != 2) continue;
        rows r = spread(28, 2, 3 + (uint64_t)k);
        compare(&r, label, 1, lambdas[k]);
        drop(&r);
    }
}

static void three_classes(void) {
    static const double lambdas[] = {.2, 1}, label[] = {1, 3, 7};
    for (int k = 0; k < 2; k++) {
        if (test_sanitized() && k == 0) continue;
        rows r = spread(27, 3, 7);
        compare(&r, label, 3, lambdas[k]);
        drop(&r);
    }
}

/* Row weights: rows as often as they say. Labels of rows that weigh nothing are not looked at. */
static void row_weights(void) {
    static const double lambdas[] = {.05, .4, 1};
    krein_ctx *ctx = test_ctx(2);
    for (int k = 0; k < 6; k++) {
        rows r = spread(40, k < 3 ? 2 : 3, 11), s = spread(120, 2, 1);
        double weight[40], one[M], two[M];
        s.n = 0;
        for (int64_t i = 0; i < r.n; i++) {
            weight[i] = (double)(i * 7 % 4);
            for (int t = 0; t < (int)weight[i]; t++, s.n++) {
                memcpy(s.x + s.n * r.d, r.x + i * r.d, (size_t)r.d * sizeof *r.x);
                s.y[s.n] = r.y[i];
            }
        }
        for (int f = 0; f < 2; f++) {
            fit_weighted(ctx, &r, weight, lambdas[k % 3], f ? "nystrom" : "exact", one);
            fit(ctx, &s, lambdas[k % 3], "exact", two);
            for (int m = 0; m < M; m++) CHECK_ABS(one[m], two[m], 1e-5);
        }
        drop(&r);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

/* Weights do not depend on threads, and are the same for more rows than a tile of the sum has. */
static void threads(void) {
    rows r = rings(300, 3, 9);
    for (int f = 0; f < 2; f++) {
        double mu[2][M];
        for (int t = 0; t < 2; t++) {
            krein_ctx *ctx = test_ctx(t + 1);
            fit(ctx, &r, .1, f ? "nystrom" : "exact", mu[t]);
            krein_ctx_destroy(ctx);
        }
        CHECK(memcmp(mu[0], mu[1], sizeof mu[0]) == 0);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(two_classes);
    RUN(three_classes);
    RUN(row_weights);
    RUN(threads);
    return DONE();
}
