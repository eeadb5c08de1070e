/* test_mcmkl.c -- weights by the multi-class machine: against machines on a grid of weights, by the
 * dual of the whole problem in slow sums, with row weights, C by lambda, and kernels that are of no
 * use. */
#include "banks.h"

#include "solve/multiclass.h"

static const char *const TWO[] = {"gaussian(sigma=0.4)", "gaussian(sigma=3)", NULL};
static const char *const FOUR[] = {"gaussian(sigma=0.3)", "gaussian(sigma=1)", "linear",
                                   "poly(degree=2)", NULL};

static weighing_options options(double p, double cost) {
    weighing_options o = plain_options();
    o.p = p;
    o.cost = cost;
    return o;
}

/* ---- the machine of given weights ---------------------------------------- */

typedef struct fit {
    double primal, dual;
    double *alpha; /* n x k */
} fit;

/* Of theta on the matrices of the bench, C as the weighing takes it: halved for two classes. */
static fit machine(const bench *b, const double *theta, double C, double tol) {
    int64_t n = b->n, k = b->classes;
    const krein_probe *rows = &b->matrices.rows;
    double *K = test_new(n * n, sizeof *K), *cost = test_new(n, sizeof *cost);
    for (int64_t m = 0; m < b->M; m++)
        for (int64_t e = 0; e < n * n; e++) K[e] += theta[m] * b->matrices.K[m][e];
    for (int64_t i = 0; i < n; i++)
        cost[i] = C * (rows->weight ? rows->weight[i] : 1) / (k == 2 ? 2 : 1);
    krein_multiclass s = {.n = n,
                          .classes = k,
                          .K = K,
                          .class = rows->class,
                          .cost = cost,
                          .intercept = KREIN_INTERCEPT_FREE,
                          .tol = tol,
                          .alpha = test_new(n * k, sizeof(double)),
                          .w = test_new(n * k, sizeof(double)),
                          .b = test_new(k, sizeof(double))};
    CHECK(krein__multiclass(ctx, &s) == KREIN_OK && s.converged);
    free(K);
    free(cost);
    free(s.w);
    free(s.b);
    return (fit){s.primal, s.dual_value, s.alpha};
}

static double norm_of(int64_t M, const double *v, double p) {
    double sum = 0;
    for (int64_t m = 0; m < M; m++) sum += pow(v[m], p);
    return pow(sum, 1 / p);
}

/* Weights of sum one onto |theta|_p = M^(1/p - 1). */
static void to_ball(int64_t M, double p, double *theta) {
    double size = norm_of(M, theta, p);
    for (int64_t m = 0; m < M; m++) theta[m] *= pow((double)M, 1 / p - 1) / size;
}

/* s - r/2 |g|_q in slow sums: no weights have a lower objective. */
static double whole_dual(const bench *b, const double *alpha, double p) {
    int64_t n = b->n, k = b->classes;
    double s = 0, g[KERNELS_MAX] = {0}, size = 0, *v = test_new(n, sizeof *v);
    for (int64_t i = 0; i < n; i++) s += alpha[i * k + b->matrices.rows.class[i]];
    for (int64_t m = 0; m < b->M; m++)
        for (int64_t c = 0; c < k; c++) {
            for (int64_t i = 0; i < n; i++) v[i] = alpha[i * k + c];
            g[m] += form(n, b->matrices.K[m], v);
        }
    for (int64_t m = 0; m < b->M; m++) size = fmax(size, g[m]);
    if (p > 1) size = norm_of(b->M, g, p / (p - 1));
    free(v);
    return s - pow((double)b->M, 1 / p - 1) / 2 * size;
}

/* ---- tests --------------------------------------------------------------- */

/* Two kernels: no weights of a grid do better. */
static void against_a_grid(void) {
    enum { POINTS = 24 };
    static const double p[] = {1, 4. / 3, 2, 5};
    for (int t = 0; t < 8; t++) {
        bench b;
        double mu[2], theta[2], least = INFINITY, C = t & 1 ? 20 : .5;
        open_bench(&b, 40, t < 4 ? 3 : 2, false, TWO, NULL);
        CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(p[t % 4], C), mu) == KREIN_OK);
        to_ball(2, p[t % 4], mu);
        fit own = machine(&b, mu, C, 1e-6);
        for (int i = 0; i <= POINTS; i++) {
            theta[0] = fmax(1e-9, (double)i / POINTS);
            theta[1] = fmax(1e-9, 1 - theta[0]);
            to_ball(2, p[t % 4], theta);
            fit f = machine(&b, theta, C, 1e-5);
            least = fmin(least, f.primal);
            free(f.alpha);
        }
        CHECK(own.primal <= least * (1 + 1.5e-3));
        CHECK(own.primal >= whole_dual(&b, own.alpha, p[t % 4]) * (1 - 1e-9));
        free(own.alpha);
        close_bench(&b);
    }
}

/* Four kernels: near the dual of the whole problem. The machine's alpha for these weights gives a
 * bound only where the weights are those that go with it, p > 1. */
static void near_the_dual(void) {
    static const double p[] = {1.2, 2, 4};
    for (int t = 0; t < 3; t++) {
        bench b;
        double mu[4];
        open_bench(&b, 60, 3, t == 1, FOUR, NULL);
        CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(p[t], 4), mu) == KREIN_OK);
        to_ball(4, p[t], mu);
        fit f = machine(&b, mu, 4, 1e-7);
        double dual = whole_dual(&b, f.alpha, p[t]);
        CHECK(dual <= f.primal && f.primal - dual <= 5e-3 * f.primal);
        free(f.alpha);
        close_bench(&b);
    }
}

/* p = 1 leaves a kernel of noise out, large p is the average. */
static void sparse_and_not(void) {
    static const char *const kernels[] = {"gaussian(sigma=1)", "gaussian(sigma=0.001)", NULL};
    bench b;
    double mu[2];
    open_bench(&b, 60, 3, false, kernels, NULL);
    for (int64_t e = 0; e < b.n * b.n; e++) /* the second: next to nothing of a narrow kernel */
        b.matrices.K[1][e] *= 1e-3;
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(1, 1), mu) == KREIN_OK);
    CHECK(mu[0] == 1 && mu[1] == 0);
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(64, 1), mu) == KREIN_OK);
    CHECK_ABS(mu[0], .5, .05);
    close_bench(&b);
}

/* A kernel that is there twice has equal weights, p > 1. */
static void twins(void) {
    static const char *const kernels[] = {"gaussian(sigma=1)", "linear", "gaussian(sigma=1)", NULL};
    bench b;
    double mu[3];
    open_bench(&b, 50, 3, false, kernels, NULL);
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(2, 3), mu) == KREIN_OK);
    CHECK(mu[0] == mu[2] && mu[0] > 0 && mu[1] > 0);
    close_bench(&b);
}

/* Rows of weight w are w rows: the objective of the weights is as low there. */
static void row_weights(void) {
    for (int two = 0; two < 2; two++) {
        bench b;
        double mu[4];
        open_bench(&b, 50, two ? 2 : 3, true, FOUR, NULL);
        CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(2, 2), mu) == KREIN_OK);
        /* the same on repeated rows, by a bank of their own */
        plain p = expand(&b);
        krein_bank many = b.matrices;
        double *keep = many.rows.weight, other[4];
        int32_t *class = test_new(p.n, sizeof *class);
        int64_t at = 0, n = many.rows.n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t t = 0; t < (int64_t)keep[i]; t++) class[at++] = many.rows.class[i];
        CHECK(at == p.n);
        many.rows.n = p.n;
        many.rows.weight = NULL;
        many.rows.class = class;
        many.K = p.K;
        CHECK(weigh(&many, &krein__weigh_mcmkl, options(2, 2), other) == KREIN_OK);
        for (int m = 0; m < 4; m++) CHECK_ABS(mu[m], other[m], 3e-3);
        free(class);
        drop_plain(&p);
        close_bench(&b);
    }
}

/* C = 1 / (2 n lambda), n the sum of the weights; and chosen where neither is given. */
static void cost_of_lambda(void) {
    bench b;
    double mu[4], other[4], sum = 0;
    open_bench(&b, 60, 3, true, FOUR, NULL);
    for (int64_t i = 0; i < b.n; i++) sum += b.weight[i];
    b.job.lambda = .004;
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(2, NAN), mu) == KREIN_OK);
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(2, 1 / (2 * .004 * sum)), other) ==
          KREIN_OK);
    for (int m = 0; m < 4; m++) CHECK_ABS(mu[m], other[m], 1e-9);
    b.job.lambda = -1;
    b.job.loo = -7;
    CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(2, NAN), mu) == KREIN_OK);
    CHECK(b.job.loo == -7); /* the model's own error is none of this */
    close_bench(&b);
}

/* Where a model has features, matrices of the kernels are made all the same. */
static void on_features(void) {
    bench b;
    double mu[4], other[4];
    open_bench(&b, 50, 3, true, FOUR, NULL);
    for (int p = 1; p < 3; p++) {
        CHECK(weigh(&b.matrices, &krein__weigh_mcmkl, options(p, 2), mu) == KREIN_OK);
        CHECK(weigh(&b.features, &krein__weigh_mcmkl, options(p, 2), other) == KREIN_OK);
        CHECK(memcmp(mu, other, sizeof mu) == 0);
    }
    close_bench(&b);
}

static const krein_weighing_class *const method[] = {&krein__weigh_mcmkl};
static void threads(void) { same_for_threads(method, 1, FOUR, 80, .01); }
static void memory(void) { memory_may_fail(method, 1, TWO); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(against_a_grid);
    RUN(near_the_dual);
    RUN(sparse_and_not);
    RUN(twins);
    RUN(row_weights);
    RUN(cost_of_lambda);
    RUN(on_features);
    RUN(threads);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
