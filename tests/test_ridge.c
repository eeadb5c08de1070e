/* test_ridge.c -- ridge regression on features against the obvious way: solutions, weights,
 * leave-one- out, held-out rows, threads, failing memory. */
#include "ridge.h"

/* ---- references --------------------------------------------------------- */

/* FORMULAS 12 and 8: they know no intercept, so they check the obvious solvers of this file. */
static void reference_values(void) {
    problem p = {8, 5, 1, test_new(40, sizeof(double)), test_new(8, sizeof(double)), NULL};
    double x[5];
    static const double want[] = {.48717033724, -.445361446236, -.088528293098, -.119802609102,
                                  -.026190000056};
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 5; j++) p.z[i * 5 + j] = det(i, j, 1.1);
        p.y[i] = det(i, 0, .4);
    }
    fit_primal(&p, 8 * .1, -1, false, x);
    for (int j = 0; j < 5; j++) CHECK_ABS(x[j], want[j], 1e-11);
    drop(&p);

    enum { n = 12 };
    double *K = gaussian(n, 3, 0, 1), y[n], a[n + 1];
    static const double krr[] = {-.470329857652, .630407815579, .040656797849,
                                 -.156549558576, .926433718075, -1.304978689245};
    static const double lssvm[] = {-.438682157255, .861474858498,  -.067593599087,
                                   -.111658986564, 1.056810748585, -1.195568703147};
    for (int64_t i = 0; i < n; i++) y[i] = det(i, 0, 0) + .4 * det(i, 1, 0) > .5 ? 1 : -1;
    for (int64_t i = 0; i < 6; i++) {
        fit_dual(n, K, 1, y, NULL, .3, i, false, a);
        CHECK_ABS(y[i] - value_dual(n, K + i * n, 1, a, 0), krr[i], 1e-11);
        fit_dual(n, K, 1, y, NULL, .5, i, true, a);
        CHECK_ABS(y[i] - value_dual(n, K + i * n, 1, a, 0), lssvm[i], 1e-11);
    }
    free(K);
}

/* ---- primal ------------------------------------------------------------- */

static void primal_solve(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int64_t k = 1; k <= 3; k += 2)
        for (int weights = 0; weights < 2; weights++) {
            problem p = make(90, 7, k, weights);
            double *x = test_new(8 * k, sizeof *x), w[21], b[3];
            static const double lambdas[] = {0, 1e-6, 1e-2, 1, 1e4};
            for (int l = 0; l < 5; l++) {
                krein_system s;
                CHECK(make_system(ctx, &p, NULL, 7, 32, &s) == KREIN_OK);
                CHECK(s.R == 7 && s.D == 7 && s.k == k);
                CHECK_REL(s.weight, total(&p), 1e-15);
                CHECK(krein__system_solve(ctx, &s, lambdas[l], w, b) == KREIN_OK);
                fit_primal(&p, total(&p) * lambdas[l], -1, true, x);
                for (int64_t e = 0; e < 7 * k; e++) CHECK_ABS(w[e], x[e], 1e-11);
                for (int64_t o = 0; o < k; o++) CHECK_ABS(b[o], x[7 * k + o], 1e-10);
                krein__system_clear(ctx, &s);
            }
            free(x);
            drop(&p);
        }
    krein_ctx_destroy(ctx);
}

/* Ordinary numbers: float32 products, so about six digits. */
static void primal_ordinary_numbers(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = make(300, 20, 1, false);
    for (int64_t e = 0; e < 300 * 20; e++) p.z[e] = (double)(float)test_random();
    for (int64_t i = 0; i < 300; i++) p.y[i] = test_random() + p.z[i * 20];
    double x[21], w[20], b;
    krein_system s;
    CHECK(make_system(ctx, &p, NULL, 20, 128, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, .01, w, &b) == KREIN_OK);
    fit_primal(&p, 300 * .01, -1, true, x);
    for (int j = 0; j < 20; j++) CHECK_ABS(w[j], x[j], 1e-6);
    CHECK_ABS(b, x[20], 1e-6);
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void intercept_is_free(void) {
    /* Targets moved by a constant move the intercept by it and nothing else, whatever lambda. */
    krein_ctx *ctx = test_ctx(1);
    problem p = make(60, 5, 1, false);
    double w[5], w2[5], b, b2;
    krein_system s;
    CHECK(make_system(ctx, &p, NULL, 5, 60, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 3, w, &b) == KREIN_OK);
    krein__system_clear(ctx, &s);
    for (int64_t i = 0; i < 60; i++) p.y[i] += 16;
    CHECK(make_system(ctx, &p, NULL, 5, 60, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 3, w2, &b2) == KREIN_OK);
    for (int j = 0; j < 5; j++) CHECK_ABS(w[j], w2[j], 1e-10);
    CHECK_ABS(b2 - b, 16, 1e-9);
    /* A huge lambda leaves the mean. */
    CHECK(krein__system_solve(ctx, &s, 1e14, w2, &b2) == KREIN_OK);
    double mean = 0;
    for (int64_t i = 0; i < 60; i++) mean += p.y[i] / 60;
    CHECK_REL(b2, mean, 1e-10);
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void weights_are_repeated_rows(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(40, 4, 2, false), q = make(100, 4, 2, false);
    p.weight = test_new(40, sizeof(double));
    q.n = 0;
    for (int64_t i = 0; i < 40; i++) {
        p.weight[i] = i % 5 == 0 ? 0 : i % 5 == 2 ? 4 : 1;
        for (int r = 0; r < (int)p.weight[i]; r++, q.n++) {
            memcpy(q.z + q.n * 4, p.z + i * 4, 4 * sizeof(double));
            memcpy(q.y + q.n * 2, p.y + i * 2, 2 * sizeof(double));
        }
    }
    CHECK(q.n <= 100 && (double)q.n == total(&p));
    double w[8], w2[8], b[2], b2[2];
    krein_system s;
    CHECK(make_system(ctx, &p, NULL, 4, 16, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, .05, w, b) == KREIN_OK);
    krein__system_clear(ctx, &s);
    CHECK(make_system(ctx, &q, NULL, 4, 16, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, .05, w2, b2) == KREIN_OK);
    krein__system_clear(ctx, &s);
    for (int e = 0; e < 8; e++) CHECK_ABS(w[e], w2[e], 1e-12);
    for (int o = 0; o < 2; o++) CHECK_ABS(b[o], b2[o], 1e-12);
    drop(&p);
    drop(&q);
    krein_ctx_destroy(ctx);
}

/* z = mix' r: weights of r are mix times those of z. */
static void mixed_features(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { R = 6, D = 4, n = 70, k = 2 };
    problem p = make(n, R, k, true), q = make(n, D, k, true);
    double mix[R * D], x[(D + 1) * k], w[R * k], b[k];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < D; j++) mix[i * D + j] = det(i, j, .9);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < D; j++) {
            q.z[i * D + j] = 0;
            for (int r = 0; r < R; r++) q.z[i * D + j] += mix[r * D + j] * p.z[i * R + r];
        }
    krein_system s;
    CHECK(make_system(ctx, &p, mix, D, 32, &s) == KREIN_OK);
    CHECK(s.D == D && s.R == R);
    CHECK(krein__system_solve(ctx, &s, .02, w, b) == KREIN_OK);
    fit_primal(&q, total(&q) * .02, -1, true, x);
    for (int r = 0; r < R; r++)
        for (int o = 0; o < k; o++) {
            double want = 0;
            for (int j = 0; j < D; j++) want += mix[r * D + j] * x[j * k + o];
            CHECK_ABS(w[r * k + o], want, 1e-10);
        }
    for (int o = 0; o < k; o++) CHECK_ABS(b[o], x[D * k + o], 1e-10);
    krein__system_clear(ctx, &s);
    drop(&p);
    drop(&q);
    krein_ctx_destroy(ctx);
}

/* sum w e = 0 and sum w (z - m) e = W lambda w at the solution. */
static void normal_equations_hold(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(80, 9, 1, true);
    double w[9], b, sum = 0, side[9] = {0}, lambda = .07;
    krein_system s;
    CHECK(make_system(ctx, &p, NULL, 9, 80, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, lambda, w, &b) == KREIN_OK);
    for (int64_t i = 0; i < 80; i++) {
        double e = p.y[i] - b;
        for (int j = 0; j < 9; j++) e -= p.z[i * 9 + j] * w[j];
        sum += p.weight[i] * e;
        for (int j = 0; j < 9; j++) side[j] += p.weight[i] * p.z[i * 9 + j] * e;
    }
    CHECK_ABS(sum, 0, 1e-9);
    for (int j = 0; j < 9; j++) CHECK_ABS(side[j], s.weight * lambda * w[j], 1e-9);
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void primal_singular(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(50, 6, 1, false);
    double w[6], b, x[7];
    krein_system s;
    for (int64_t i = 0; i < 50; i++) p.z[i * 6 + 5] = p.z[i * 6 + 2]; /* equal columns */
    CHECK(make_system(ctx, &p, NULL, 6, 50, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 0, w, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "`lambda`");
    CHECK(krein__system_solve(ctx, &s, 1e-3, w, &b) == KREIN_OK);
    fit_primal(&p, 50 * 1e-3, -1, true, x);
    for (int j = 0; j < 6; j++) CHECK_ABS(w[j], x[j], 1e-9);
    krein__system_clear(ctx, &s);
    /* A constant column is dependent on the intercept. */
    for (int64_t i = 0; i < 50; i++) p.z[i * 6 + 5] = 2;
    CHECK(make_system(ctx, &p, NULL, 6, 50, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 0, w, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "`lambda`");
    krein__system_clear(ctx, &s);
    /* More features than rows. */
    p.n = 4;
    CHECK(make_system(ctx, &p, NULL, 6, 50, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 0, w, &b) == KREIN_ENUMERIC);
    CHECK(krein__system_solve(ctx, &s, .1, w, &b) == KREIN_OK);
    krein__system_clear(ctx, &s);
    drop(&p);
    /* No weight at all. */
    p = make(6, 2, 1, true);
    for (int i = 0; i < 6; i++) p.weight[i] = 0;
    CHECK(make_system(ctx, &p, NULL, 2, 6, &s) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "weights are zero");
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* ---- leave-one-out on features ------------------------------------------ */

static void check_loo(krein_ctx *ctx, problem *p, const int32_t *class, const double *mix,
                      const problem *mixed) {
    int64_t D = mixed ? mixed->D : p->D;
    krein_system s;
    krein_path path = {0};
    CHECK(make_system(ctx, p, mix, D, 64, &s) == KREIN_OK);
    CHECK(score_path(ctx, &s, true, p, class, &path) == KREIN_OK);
    CHECK(path.n > 10);
    int64_t best = 0;
    for (int64_t l = 0; l < path.n; l++) {
        double loss, error;
        brute_primal(mixed ? mixed : p, class, s.weight * path.lambda[l], &loss, &error);
        CHECK_REL(path.loss[l], loss, 1e-4);
        if (class)
            CHECK_ABS(path.error[l], error, 1e-12);
        else
            CHECK(isnan(path.error[l]));
        double a = class ? path.error[l] : path.loss[l];
        double b = class ? path.error[best] : path.loss[best];
        if (a < b || (a == b && path.loss[l] < path.loss[best])) best = l;
    }
    CHECK(path.best == best);
    krein__system_clear(ctx, &s);
}

static void leave_one_out_primal(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int weights = 0; weights < 2; weights++) {
        problem p = make(40, 6, 2, weights);
        check_loo(ctx, &p, NULL, NULL, NULL);
        drop(&p);
        for (int64_t k = 1; k <= 3; k += 2) {
            p = make(40, 5, k, weights);
            int32_t *class = classify(&p, k == 1 ? 2 : 3);
            check_loo(ctx, &p, class, NULL, NULL);
            free(class);
            drop(&p);
        }
    }
    enum { R = 6, D = 4, n = 30 };
    problem p = make(n, R, 1, true), q = make(n, D, 1, true);
    double mix[R * D];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < D; j++) mix[i * D + j] = det(i, j, .9);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < D; j++) {
            q.z[i * D + j] = 0;
            for (int r = 0; r < R; r++) q.z[i * D + j] += mix[r * D + j] * p.z[i * R + r];
        }
    check_loo(ctx, &p, NULL, mix, &q);
    drop(&p);
    drop(&q);
    krein_ctx_destroy(ctx);
}

/* As many rows as features or fewer: the residuals vanish, their ratio must not mislead. */
static void leave_one_out_wide(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(12, 30, 1, false);
    for (int64_t i = 0; i < 12; i++) p.y[i] = few_bits(3 * det(7 * i, 5, .2)); /* noise */
    krein_system s;
    krein_path path = {0};
    CHECK(make_system(ctx, &p, NULL, 30, 12, &s) == KREIN_OK);
    CHECK(score_path(ctx, &s, true, &p, NULL, &path) == KREIN_OK);
    double loss, error;
    brute_primal(&p, NULL, s.weight * path.lambda[path.best], &loss, &error);
    CHECK_REL(path.loss[path.best], loss, .15);
    for (int64_t l = 0; l < path.n; l++) { /* never much better than the truth */
        brute_primal(&p, NULL, s.weight * path.lambda[l], &loss, &error);
        CHECK(path.loss[l] > .9 * loss);
    }
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* Rows that were not accumulated: plain predictions for every lambda given. */
/* The walk must find, at each lambda it visits, the loss of the eigendecomposition. */
static void walk_is_path(void) {
    enum { N = 1700, D = KREIN_EIGEN_MAX / 2 + 376, K = 2 }; /* it starts from half of the most */
    krein_ctx *ctx = test_ctx(2);
    problem p = make(N, D, K, true);
    krein_system s = {0};
    CHECK(make_system(ctx, &p, NULL, D, 1000, &s) == KREIN_OK);
    float *z = test_new(N * D, sizeof *z);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) z[i * D + j] = (float)(p.z[i * D + j] - s.mean[j]);
    krein_targets rows = {N, K, p.y, p.weight, NULL};
    krein_path walk = {0}, path = {0}, near = {0};
    CHECK(krein__loo_walk(ctx, &s, z, &rows, 0, &walk) == KREIN_OK);
    CHECK(walk.n >= 4 && walk.best >= 0 && walk.best < walk.n);
    /* from a start that is known: the same, in fewer visits */
    CHECK(krein__loo_walk(ctx, &s, z, &rows, walk.lambda[walk.best], &near) == KREIN_OK);
    CHECK(near.n <= 3 && near.loss[near.best] <= 1.002 * walk.loss[walk.best]);
    path = walk;
    CHECK(score_path(ctx, &s, true, &p, NULL, &path) == KREIN_OK);
    for (int64_t l = 0; l < walk.n; l++) {
        CHECK_REL(walk.loss[l], path.loss[l], 2e-3);
        CHECK(walk.loss[l] >= walk.loss[walk.best]);
    }
    free(z);
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void held_out_primal(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = make(60, 5, 2, true), train = p, test = p;
    double x[12];
    krein_system s;
    krein_path path = {.n = 4, .lambda = {1e-4, 1e-2, .3, 5}};
    train.n = 40;
    test.n = 20;
    test.z += 40 * 5;
    test.y += 40 * 2;
    test.weight += 40;
    CHECK(make_system(ctx, &train, NULL, 5, 16, &s) == KREIN_OK);
    CHECK(score_path(ctx, &s, false, &test, NULL, &path) == KREIN_OK);
    CHECK(path.n == 4 && path.lambda[2] == .3);
    for (int l = 0; l < 4; l++) {
        double loss = 0;
        fit_primal(&train, total(&train) * path.lambda[l], -1, true, x);
        for (int64_t i = 0; i < test.n; i++)
            for (int64_t o = 0; o < 2; o++) {
                double e = test.y[i * 2 + o] - value_primal(&test, x, test.z + i * 5, o);
                loss += test.weight[i] * e * e / 2;
            }
        CHECK_REL(path.loss[l], loss / total(&test), 1e-4);
    }
    krein__system_clear(ctx, &s);
    drop(&p);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(reference_values);
    RUN(primal_solve);
    RUN(primal_ordinary_numbers);
    RUN(intercept_is_free);
    RUN(weights_are_repeated_rows);
    RUN(mixed_features);
    RUN(normal_equations_hold);
    RUN(primal_singular);
    RUN(leave_one_out_primal);
    RUN(leave_one_out_wide);
    RUN(walk_is_path);
    RUN(held_out_primal);
    return DONE();
}
