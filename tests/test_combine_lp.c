/* test_combine_lp.c -- p-norm weights of kernels under ridge regression, and the same of kernels
 * divided by their tails: against the textbook's alternation, the conditions of the minimum, and on
 * matrices against exact features. */
#include "banks.h"

#include "combine/lp.h"
#include "combine/tails.h"

static const char *const FOUR[] = {"gaussian(sigma=0.5)", "linear", "poly(degree=2, c=0)",
                                   "laplacian(sigma=0.5)", NULL};
static const double LAMBDA = .01;

/* ---- the obvious way ---------------------------------------------------- */

/* On centred matrices: alpha of every output by elimination; g_m = sum alpha'K_m alpha; returns
 * F = sum y'alpha. */
static double plain_ridge(const plain *p, const double *beta, double *g) {
    int64_t n = p->n;
    double *A = test_new(n * n, sizeof *A), *a = test_new(n * p->k, sizeof *a), F = 0;
    double *v = test_new(n, sizeof *v);
    for (int64_t m = 0; m < p->M; m++)
        for (int64_t e = 0; e < n * n; e++) A[e] += beta[m] * p->K[m][e];
    for (int64_t i = 0; i < n; i++) A[i * n + i] += (double)n * LAMBDA;
    for (int64_t i = 0; i < n; i++)
        for (int64_t q = 0; q < p->k; q++) a[i * p->k + q] = p->y[q * n + i];
    test_solve(n, p->k, A, a);
    memset(g, 0, (size_t)p->M * sizeof *g);
    for (int64_t q = 0; q < p->k; q++) {
        for (int64_t i = 0; i < n; i++) v[i] = a[i * p->k + q];
        F += dot(n, v, p->y + q * n);
        for (int64_t m = 0; m < p->M; m++) g[m] += form(n, p->K[m], v);
    }
    free(A);
    free(a);
    free(v);
    return F;
}

static double norm_of(int64_t M, const double *v, double p) {
    double sum = 0, most = 0;
    for (int64_t m = 0; m < M; m++) {
        sum += pow(v[m], p);
        most = fmax(most, v[m]);
    }
    return isinf(p) ? most : pow(sum, 1 / p);
}

static double radius(int64_t M, double p) { return pow((double)M, 1 / p - 1); }

/* Turns of ridge regression and theta_m ~ |f_m|^(2/(p+1)). Kernels are centred here. Below 1e-4 of
 * the largest is nothing. */
static void alternate(const plain *p, double power, int turns, double *theta) {
    double g[KERNELS_MAX];
    for (int64_t m = 0; m < p->M; m++) theta[m] = 1 / (double)p->M;
    for (int t = 0; t < turns; t++) {
        plain_ridge(p, theta, g);
        for (int64_t m = 0; m < p->M; m++)
            theta[m] = pow(theta[m] * theta[m] * g[m], 1 / (power + 1));
        double size = norm_of(p->M, theta, power);
        for (int64_t m = 0; m < p->M; m++) theta[m] *= radius(p->M, power) / size;
    }
    for (int64_t m = 0; m < p->M; m++)
        if (theta[m] < 1e-4 * norm_of(p->M, theta, INFINITY)) theta[m] = 0;
}

/* How far from the minimum F can be at most, as a part of g'theta; theta of any length. */
static double gap_of(const plain *p, double power, const double *weights) {
    double g[KERNELS_MAX], theta[KERNELS_MAX], size = norm_of(p->M, weights, power);
    for (int64_t m = 0; m < p->M; m++) theta[m] = weights[m] * radius(p->M, power) / size;
    plain_ridge(p, theta, g);
    double dual = norm_of(p->M, g, power > 1 ? power / (power - 1) : INFINITY);
    return radius(p->M, power) * dual / dot(p->M, g, theta) - 1;
}

static void same_weights(const char *what, int64_t M, const double *got, const double *want,
                         double tolerance) {
    for (int64_t m = 0; m < M; m++)
        if (!(fabs(got[m] - want[m]) <= tolerance)) {
            printf("%s: weight %d is %.12g, want %.12g\n", what, (int)m, got[m], want[m]);
            test_bad++;
        }
}

/* ---- lp ----------------------------------------------------------------- */

static void lp(void) {
    static const double powers[] = {2, 1.3, 8, 1};
    static const int kinds[] = {2, 3, 0};
    for (int c = 0; c < 6; c++) {
        bench b;
        open_bench(&b, 31, kinds[c / 2], c % 2, FOUR, NULL);
        from_table(&b);
        plain p = expand(&b);
        centre_all(&p);
        for (int i = 0; i < 4; i++) {
            double got[KERNELS_MAX], want[KERNELS_MAX], from_features[KERNELS_MAX];
            char what[64];
            weighing_options o = plain_options();
            o.p = powers[i];
            snprintf(what, sizeof what, "p = %g, %d classes%s", o.p, b.classes,
                     c % 2 ? ", weights" : "");
            CHECK(weigh(&b.matrices, &krein__weigh_lp, o, got) == KREIN_OK);
            CHECK(weigh(&b.features, &krein__weigh_lp, o, from_features) == KREIN_OK);
            bool cut = false; /* of p > 1 no weight is zero */
            for (int64_t m = 0; m < b.M; m++) cut = cut || (got[m] == 0 && o.p > 1);
            CHECK_ABS(gap_of(&p, o.p, got), 0, cut ? 1e-3 : 1e-11);
            same_weights(what, b.M, from_features, got, 1e-6);
            if (o.p == 1) continue; /* turns would not end */
            alternate(&p, o.p, 300, want);
            sum_to_one(b.M, want);
            same_weights(what, b.M, got, want, 1e-7);
        }
        drop_plain(&p);
        close_bench(&b);
    }
}

/* p = 1 leaves kernels out, a large p is the average. */
static void powers(void) {
    double mu[KERNELS_MAX];
    int zeros = 0;
    weighing_options o = plain_options();
    bench b;
    open_bench(&b, 60, 0, false, FOUR, NULL);
    o.p = 1;
    CHECK(weigh(&b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK);
    for (int64_t m = 0; m < b.M; m++) zeros += mu[m] == 0;
    CHECK(zeros > 0 && zeros < b.M);
    o.p = 64;
    CHECK(weigh(&b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK);
    for (int64_t m = 0; m < b.M; m++) CHECK_ABS(mu[m], .25, .02);
    close_bench(&b);
}

/* Kernels that are almost the same, and p near one. */
static void collinear(void) {
    static const char *const widths[] = {
        "gaussian(sigma=0.10)", "gaussian(sigma=0.14)", "gaussian(sigma=0.2)",
        "gaussian(sigma=0.28)", "gaussian(sigma=0.4)",  "gaussian(sigma=0.57)",
        "gaussian(sigma=0.8)",  "gaussian(sigma=3)",    NULL};
    static const double powers[] = {1, 1.01, 1.05};
    bench b;
    open_bench(&b, 61, 3, false, widths, NULL);
    from_table(&b);
    plain p = expand(&b);
    centre_all(&p);
    for (int i = 0; i < 6; i++) {
        double mu[KERNELS_MAX];
        weighing_options o = plain_options();
        o.p = powers[i / 2];
        CHECK(weigh(i % 2 ? &b.features : &b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK);
        CHECK_ABS(gap_of(&p, o.p, mu), 0, i % 2 ? 1e-6 : i == 0 ? 1e-10 : 1e-5);
    }
    drop_plain(&p);
    close_bench(&b);
}

/* Kernels that are the same share; one that is constant has no use. */
static void special(void) {
    static const char *const kernels[] = {"gaussian(sigma=0.6)", "linear", "gaussian(sigma=0.6)",
                                          "gaussian(sigma=1e12)", NULL};
    static const double powers[] = {1, 2};
    bench b;
    open_bench(&b, 41, 2, true, kernels, NULL);
    for (int i = 0; i < 4; i++) {
        double mu[KERNELS_MAX];
        weighing_options o = plain_options();
        o.p = powers[i / 2];
        CHECK(weigh(i % 2 ? &b.features : &b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK);
        CHECK(mu[0] > 0 && mu[3] == 0);
        CHECK_ABS(mu[0], mu[2], o.p == 1 ? 1e-4 : 1e-6);
        b.matrices.M = 1;
        CHECK(weigh(&b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK && mu[0] == 1);
        b.matrices.M = 4;
    }
    close_bench(&b);
}

/* Very small and very large lambda, and none: rounding sets the least. */
static void lambdas(void) {
    static const double lambda[] = {0, 1e-12, 1e-6, 1e3, 1e9};
    bench b;
    open_bench(&b, 41, 3, true, FOUR, NULL);
    for (int i = 0; i < 20; i++) {
        double mu[KERNELS_MAX];
        weighing_options o = plain_options();
        o.p = i / 5 % 2 ? 1 : 2;
        b.job.lambda = lambda[i % 5];
        CHECK(weigh(i / 10 ? &b.features : &b.matrices, &krein__weigh_lp, o, mu) == KREIN_OK);
        for (int64_t m = 0; m < b.M; m++) CHECK(isfinite(mu[m]));
        CHECK_ABS(mu[0] + mu[1] + mu[2] + mu[3], 1, 1e-12);
    }
    close_bench(&b);
}

/* Slope and curvature are the derivatives. */
static void derivatives(void) {
    static const double beta[] = {.3, .1, .4, .2};
    bench b;
    open_bench(&b, 31, 3, true, FOUR, NULL);
    for (int features = 0; features < 2; features++) {
        krein_ridge_sum *s = NULL;
        double F[2], g[3][KERNELS_MAX], H[16], other[16], at[4];
        CHECK(krein__ridge_sum_begin(features ? &b.features : &b.matrices, LAMBDA, &s) == KREIN_OK);
        CHECK(krein__ridge_sum_at(s, beta, &F[0], g[0], H) == KREIN_OK);
        for (int m = 0; m < 4; m++) {
            for (int sign = 0; sign < 2; sign++) {
                memcpy(at, beta, sizeof at);
                at[m] += sign ? 1e-5 : -1e-5;
                CHECK(krein__ridge_sum_at(s, at, &F[sign], g[1 + sign], other) == KREIN_OK);
            }
            CHECK_REL((F[0] - F[1]) / 2e-5, g[0][m], 1e-5);
            for (int r = 0; r < 4; r++) CHECK_REL((g[1][r] - g[2][r]) / 2e-5, H[m * 4 + r], 1e-5);
        }
        krein__ridge_sum_end(s);
    }
    close_bench(&b);
}

/* ---- conv --------------------------------------------------------------- */

/* Tails at theta by all eigenvalues, at least 1e-3 of the trace. */
static void divide_by_tails(plain *p, int64_t theta, double *factor) {
    double mean = 0;
    for (int64_t m = 0; m < p->M; m++) {
        double *A = test_new(p->n * p->n, sizeof *A), *w = test_new(p->n, sizeof *w);
        double tail = 0, trace = 0;
        memcpy(A, p->K[m], (size_t)(p->n * p->n) * sizeof *A);
        CHECK(krein__eigenvalues(ctx, p->n, A, p->n, w) == KREIN_OK);
        for (int64_t j = 0; j < p->n; j++) {
            trace += w[j];
            if (j < p->n - theta) tail += w[j];
        }
        factor[m] = 1 / fmax(tail, 1e-3 * trace);
        mean += factor[m] / (double)p->M;
        free(A);
        free(w);
    }
    for (int64_t m = 0; m < p->M; m++) {
        factor[m] /= mean;
        for (int64_t e = 0; e < p->n * p->n; e++) p->K[m][e] *= factor[m];
    }
}

static void conv(void) {
    static const double powers[] = {2, 1.3};
    for (int c = 0; c < 4; c++) {
        double got[KERNELS_MAX], want[KERNELS_MAX], factor[KERNELS_MAX];
        weighing_options o = plain_options();
        bench b;
        open_bench(&b, 31, c < 2 ? 3 : 0, c % 2, FOUR, NULL);
        from_table(&b);
        plain p = expand(&b);
        o.theta = 5; /* linear on three columns: no tail */
        o.p = powers[c % 2];
        divide_by_tails(&p, 5, factor);
        centre_all(&p);
        alternate(&p, o.p, 300, want);
        for (int64_t m = 0; m < b.M; m++) want[m] *= factor[m];
        sum_to_one(b.M, want);
        CHECK(weigh(&b.matrices, &krein__weigh_conv, o, got) == KREIN_OK);
        same_weights("matrices", b.M, got, want, 1e-7);
        CHECK(weigh(&b.features, &krein__weigh_conv, o, got) == KREIN_OK);
        same_weights("features", b.M, got, want, 1e-6);
        o.normalize = false; /* the traces are then asked for */
        CHECK(weigh(&b.features, &krein__weigh_conv, o, got) == KREIN_OK);
        same_weights("features as they are", b.M, got, want, 1e-6);
        drop_plain(&p);
        close_bench(&b);
    }
}

/* Few features for many rows: there is a tail nonetheless. */
static void conv_of_many_rows(void) {
    double tail[2][KERNELS_MAX];
    bench b;
    open_bench(&b, 31, 2, false, FOUR, NULL);
    double quarter = (double)(b.map.D / (4 * b.M)); /* of the features of a kernel */
    b.job.n = 1000000;
    CHECK(krein__bank_tails(&b.features, NAN, tail[0]) == KREIN_OK);
    CHECK(krein__bank_tails(&b.features, quarter, tail[1]) == KREIN_OK);
    CHECK(memcmp(tail[0], tail[1], (size_t)b.M * sizeof(double)) == 0 && tail[0][0] > .1);
    close_bench(&b);
}

/* ---- threads and memory ------------------------------------------------- */

static const krein_weighing_class *const ALL[] = {&krein__weigh_lp, &krein__weigh_conv};

static void threads(void) {
    same_for_threads(ALL, KREIN__COUNT(ALL), FOUR, test_sanitized() ? 60 : 150,
                     -1); /* lambda by leave-one-out */
}
static void memory(void) { memory_may_fail(ALL, KREIN__COUNT(ALL), FOUR); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(lp);
    RUN(powers);
    RUN(collinear);
    RUN(special);
    RUN(lambdas);
    RUN(derivatives);
    RUN(conv);
    RUN(conv_of_many_rows);
    RUN(threads);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
