/* test_ridge_dual.c -- ridge regression on the kernel matrix against features and the obvious way;
 * the path of lambdas; bits for any threads, failing memory. */
#include "ridge.h"

/* ---- threads ------------------------------------------------------------ */

typedef struct outcome {
    double w[300 * 2], b[2], alpha[150 * 2], c[2];
    krein_path loo, dual;
} outcome;

static void run_all(int threads, outcome *o) {
    krein_ctx *ctx = test_ctx(threads);
    problem p = make(700, 300, 2, true);
    krein_system s;
    memset(o, 0, sizeof *o);
    for (int64_t e = 0; e < 700 * 300; e++) p.z[e] = (double)(float)p.z[e] * 1.1 + det(e, 1, 0);
    CHECK(make_system(ctx, &p, NULL, 300, 512, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, .01, o->w, o->b) == KREIN_OK);
    CHECK(score_path(ctx, &s, true, &p, NULL, &o->loo) == KREIN_OK);
    krein__system_clear(ctx, &s);
    double *K = gaussian(150, 3, 0, 1), *again = test_new(150 * 150, sizeof *again);
    memcpy(again, K, 150 * 150 * sizeof *K);
    krein_targets few = {150, 2, p.y, p.weight, NULL};
    CHECK(krein__dual_path(ctx, K, &few, &o->dual) == KREIN_OK);
    CHECK(krein__dual_solve(ctx, again, &few, .001, o->alpha, o->c) == KREIN_OK);
    free(K);
    free(again);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void same_bits_on_any_threads(void) {
    outcome *a = test_new(1, sizeof *a), *b = test_new(1, sizeof *b);
    run_all(1, a);
    for (int threads = 2; threads <= 5; threads++) {
        run_all(threads, b);
        CHECK(memcmp(a, b, sizeof *a) == 0);
    }
    free(a);
    free(b);
}

/* ---- dual --------------------------------------------------------------- */

static void dual_is_primal(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { n = 40, D = 5, k = 2 };
    for (int weights = 0; weights < 2; weights++) {
        problem p = make(n, D, k, weights); /* with weights, some are zero */
        double *K = test_new(n * n, sizeof *K), x[(D + 1) * k], alpha[n * k], b[k], lambda = .03;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int c = 0; c < D; c++) K[i * n + j] += p.z[i * D + c] * p.z[j * D + c];
        double *copy = test_new(n * n, sizeof *copy);
        memcpy(copy, K, n * n * sizeof *K);
        krein_targets rows = {n, k, p.y, p.weight, NULL};
        CHECK(krein__dual_solve(ctx, copy, &rows, lambda, alpha, b) == KREIN_OK);
        fit_primal(&p, total(&p) * lambda, -1, true, x);
        for (int o = 0; o < k; o++) {
            double sum = 0;
            CHECK_ABS(b[o], x[D * k + o], 1e-9);
            for (int i = 0; i < n; i++) {
                double f = b[o];
                for (int j = 0; j < n; j++) f += K[i * n + j] * alpha[j * k + o];
                CHECK_ABS(f, value_primal(&p, x, p.z + i * D, o), 1e-9);
                sum += alpha[i * k + o];
                if (weights && p.weight[i] == 0) CHECK(alpha[i * k + o] == 0);
            }
            CHECK_ABS(sum, 0, 1e-9);
        }
        free(K);
        free(copy);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

static void dual_solve(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { n = 35, k = 2 };
    problem p = make(n, 1, k, true);
    double *K = gaussian(n, 3, 0, 1), *copy = test_new(n * n, sizeof *copy);
    double x[(n + 1) * k], alpha[n * k], b[k];
    for (int weights = 0; weights < 2; weights++)
        for (double lambda = 1e-5; lambda < 10; lambda *= 10) {
            const double *w = weights ? p.weight : NULL;
            double W = weights ? total(&p) : n;
            krein_targets rows = {n, k, p.y, w, NULL};
            memcpy(copy, K, n * n * sizeof *K);
            CHECK(krein__dual_solve(ctx, copy, &rows, lambda, alpha, b) == KREIN_OK);
            fit_dual(n, K, k, p.y, w, W * lambda, -1, true, x);
            for (int o = 0; o < k; o++) {
                CHECK_ABS(b[o], x[n * k + o], 1e-7);
                for (int i = 0; i < n; i++)
                    CHECK_ABS(alpha[i * k + o], x[i * k + o], 1e-7 / lambda);
            }
        }
    free(K);
    free(copy);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void dual_without_weight(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    enum { n = 6 };
    double *K = gaussian(n, 2, 0, 1), none[n] = {0}, y[n] = {1, 2, 3}, alpha[n], b;
    krein_targets rows = {n, 1, y, none, NULL};
    krein_path path = {.n = 1, .lambda = {.1}};
    CHECK(krein__dual_solve(ctx, K, &rows, .1, alpha, &b) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "weights are zero");
    CHECK(krein__dual_path(ctx, K, &rows, &path) == KREIN_EDATA);
    CHECK(krein__dual_others(ctx, K, &rows, true, K, 1, &path, alpha) == KREIN_EDATA);
    CHECK(test_live(&memory) == 0);
    free(K);
    krein_ctx_destroy(ctx);
}

static void dual_without_penalty(void) {
    krein_ctx *ctx = test_ctx(1);
    enum { n = 25 };
    double *K = gaussian(n, 4, 0, .35), *copy = test_new(n * n, sizeof *copy), y[n], alpha[n], b;
    for (int i = 0; i < n; i++) y[i] = det(i, 2, 1);
    krein_targets rows = {n, 1, y, NULL, NULL};
    memcpy(copy, K, n * n * sizeof *K);
    CHECK(krein__dual_solve(ctx, copy, &rows, 0, alpha, &b) == KREIN_OK);
    for (int i = 0; i < n; i++) { /* goes through the points */
        double f = b;
        for (int j = 0; j < n; j++) f += K[i * n + j] * alpha[j];
        CHECK_ABS(f, y[i], 1e-8);
    }
    /* Two equal rows. */
    memcpy(copy, K, n * n * sizeof *K);
    for (int j = 0; j < n; j++) copy[3 * n + j] = copy[7 * n + j];
    for (int j = 0; j < n; j++) copy[j * n + 3] = copy[j * n + 7];
    copy[3 * n + 3] = 1;
    CHECK(krein__dual_solve(ctx, copy, &rows, 0, alpha, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "`lambda`");
    /* A kernel of low rank. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) copy[i * n + j] = det(i, 0, 0) * det(j, 0, 0);
    CHECK(krein__dual_solve(ctx, copy, &rows, 0, alpha, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "`lambda`");
    free(K);
    free(copy);
    krein_ctx_destroy(ctx);
}

static void dual_indefinite(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { n = 30 };
    double *K = gaussian(n, 3, 0, 1), *wide = gaussian(n, 3, 0, 3), *copy = test_new(n * n, 8);
    double y[n], x[n + 1], alpha[n], b, lambda = .013;
    for (int i = 0; i < n; i++) y[i] = det(i, 1, 1);
    for (int e = 0; e < n * n; e++) K[e] -= .8 * wide[e];
    /* It is: some vector has a negative form, orthogonal to the ones. */
    double *v = test_new(n * n, 8), w[n];
    memcpy(v, K, n * n * sizeof *K);
    CHECK(krein__eigen(ctx, n, v, n, w) == KREIN_OK);
    CHECK(w[0] < -.1);
    krein_targets rows = {n, 1, y, NULL, NULL};
    memcpy(copy, K, n * n * sizeof *K);
    CHECK(krein__dual_solve(ctx, copy, &rows, lambda, alpha, &b) == KREIN_OK);
    fit_dual(n, K, 1, y, NULL, n * lambda, -1, true, x);
    for (int i = 0; i < n; i++) CHECK_ABS(alpha[i], x[i], 1e-8);
    CHECK_ABS(b, x[n], 1e-8);
    krein_path path = {.n = 1, .lambda = {lambda}};
    memcpy(copy, K, n * n * sizeof *K);
    CHECK(krein__dual_path(ctx, copy, &rows, &path) == KREIN_OK);
    double loss = 0;
    for (int i = 0; i < n; i++) {
        fit_dual(n, K, 1, y, NULL, n * lambda, i, true, x);
        double e = y[i] - value_dual(n, K + i * n, 1, x, 0);
        loss += e * e / n;
    }
    CHECK_REL(path.loss[0], loss, 1e-7);
    free(K);
    free(wide);
    free(copy);
    free(v);
    krein_ctx_destroy(ctx);
}

static void leave_one_out_dual(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { n = 30 };
    double *K = gaussian(n, 2, 0, .8), *copy = test_new(n * n, sizeof *copy);
    for (int which = 0; which < 6; which++) {
        int64_t k = which % 3 == 0 ? 2 : which % 3 == 1 ? 1 : 3;
        problem p = make(n, 2, k, which >= 3);
        int32_t *class = which % 3 ? classify(&p, k == 1 ? 2 : 3) : NULL;
        double *x = test_new((n + 1) * k, sizeof *x), W = total(&p);
        krein_targets rows = {n, k, p.y, p.weight, class};
        krein_path path = {0};
        memcpy(copy, K, n * n * sizeof *K);
        CHECK(krein__dual_path(ctx, copy, &rows, &path) == KREIN_OK);
        CHECK(path.n > 10 && path.best >= 0 && path.best < path.n);
        for (int64_t l = 0; l < path.n; l++) {
            if (W * path.lambda[l] < 1e-7) continue; /* beyond what elimination can say */
            double loss = 0, error = 0;
            for (int64_t i = 0; i < n; i++) {
                double w = weight_of(&p, i), f[3];
                if (w == 0) continue;
                fit_dual(n, K, k, p.y, p.weight, W * path.lambda[l], i, true, x);
                int64_t best = 0;
                for (int64_t o = 0; o < k; o++) {
                    f[o] = value_dual(n, K + i * n, k, x, o);
                    double e = p.y[i * k + o] - f[o];
                    loss += w * e * e / (double)k / W;
                    if (f[o] > f[best]) best = o;
                }
                if (class)
                    error += w / W * (k == 1 ? (f[0] > 0) != (class[i] == 1) : best != class[i]);
            }
            CHECK_REL(path.loss[l], loss, 1e-6);
            if (class) CHECK_ABS(path.error[l], error, 1e-12);
        }
        free(x);
        free(class);
        drop(&p);
    }
    free(K);
    free(copy);
    krein_ctx_destroy(ctx);
}

/* Primal and dual leave-one-out agree on a linear kernel. */
static void both_leave_one_out(void) {
    krein_ctx *ctx = test_ctx(1);
    enum { n = 50, D = 4 };
    problem p = make(n, D, 1, true);
    double *K = test_new(n * n, sizeof *K);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int c = 0; c < D; c++) K[i * n + j] += p.z[i * D + c] * p.z[j * D + c];
    krein_path path = {.n = 3, .lambda = {1e-3, .05, 2}};
    krein_targets rows = {n, 1, p.y, p.weight, NULL};
    CHECK(krein__dual_path(ctx, K, &rows, &path) == KREIN_OK);
    for (int64_t l = 0; l < 3; l++) {
        double loss, error;
        brute_primal(&p, NULL, total(&p) * path.lambda[l], &loss, &error);
        CHECK_REL(path.loss[l], loss, 1e-8);
    }
    free(K);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void held_out_is_direct(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { all = 45, n = 30, m = 15, k = 2 };
    problem p = make(all, 1, k, true);
    double *K = gaussian(all, 3, 0, 1), *A = test_new(n * n, sizeof *A), Kt[m * n];
    double x[(n + 1) * k], score[m * 4 * k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = K[i * all + j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) Kt[i * n + j] = K[(n + i) * all + j];
    for (int weights = 0; weights < 2; weights++) {
        const double *w = weights ? p.weight : NULL;
        double W = 0;
        for (int i = 0; i < n; i++) W += w ? w[i] : 1;
        krein_path path = {.n = 4, .lambda = {1e-4, 1e-3, .02, 1}};
        krein_targets rows = {n, k, p.y, w, NULL};
        double *copy = test_new(n * n, sizeof *copy);
        memcpy(copy, A, n * n * sizeof *A);
        CHECK(krein__dual_others(ctx, copy, &rows, true, Kt, m, &path, score) == KREIN_OK);
        for (int l = 0; l < 4; l++) {
            fit_dual(n, A, k, p.y, w, W * path.lambda[l], -1, true, x);
            for (int i = 0; i < m; i++)
                for (int o = 0; o < k; o++)
                    CHECK_ABS(score[(i * 4 + l) * k + o], value_dual(n, Kt + i * n, k, x, o), 1e-8);
        }
        free(copy);
    }
    free(K);
    free(A);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void folds_are_direct(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { n = 36, folds = 4 };
    double *K = gaussian(n, 3, 0, 1), *copy = test_new(n * n, sizeof *copy);
    int32_t fold[n];
    for (int i = 0; i < n; i++) fold[i] = (int32_t)((i * 7 + i / 5) % folds);
    for (int which = 0; which < 2; which++) {
        problem p = make(n, 2, which ? 3 : 2, which);
        int64_t k = p.k;
        int32_t *class = which ? classify(&p, 3) : NULL;
        krein_path path = {.n = 3, .lambda = {1e-4, .01, .5}};
        krein_targets rows = {n, k, p.y, p.weight, class};
        memcpy(copy, K, n * n * sizeof *K);
        CHECK(krein__dual_cv(ctx, copy, &rows, fold, folds, &path) == KREIN_OK);
        CHECK(memcmp(copy, K, n * n * sizeof *K) == 0);
        double *x = test_new((n + 1) * k, sizeof *x), *w = test_new(n, sizeof *w);
        for (int l = 0; l < 3; l++) {
            double loss = 0, error = 0;
            for (int f = 0; f < folds; f++) {
                double W = 0;
                for (int i = 0; i < n; i++) W += w[i] = fold[i] == f ? 0 : weight_of(&p, i);
                fit_dual(n, K, k, p.y, w, W * path.lambda[l], -1, true, x);
                for (int i = 0; i < n; i++) {
                    int64_t best = 0;
                    double score[3];
                    if (fold[i] != f) continue;
                    for (int64_t o = 0; o < k; o++) {
                        score[o] = value_dual(n, K + i * n, k, x, o);
                        double e = p.y[i * k + o] - score[o];
                        loss += weight_of(&p, i) * e * e / (double)k / total(&p);
                        if (score[o] > score[best]) best = o;
                    }
                    if (class) error += weight_of(&p, i) / total(&p) * (best != class[i]);
                }
            }
            CHECK_REL(path.loss[l], loss, 1e-7);
            if (class) CHECK_ABS(path.error[l], error, 1e-12);
        }
        free(x);
        free(w);
        free(class);
        drop(&p);
    }
    free(K);
    free(copy);
    krein_ctx_destroy(ctx);
}

/* ---- the path ----------------------------------------------------------- */

static void path_grid(void) {
    krein_path p = {0};
    krein__path_grid(&p, 1e-3, 10, 4);
    static const double want[] = {.001, .00178, .00316, .00562, .01};
    CHECK(p.n == 17);
    for (int l = 0; l < 5; l++) CHECK_REL(p.lambda[l], want[l], 1e-12);
    CHECK_REL(p.lambda[16], 10, 1e-12);
    for (int64_t l = 1; l < p.n; l++) CHECK_REL(p.lambda[l] / p.lambda[l - 1], 1.778, 3e-3);
    krein__path_grid(&p, 1.1e-3, 9.9, 4); /* within, never beyond */
    CHECK(p.n == 15 && p.lambda[0] > 1.1e-3 && p.lambda[14] < 9.9);
    krein__path_grid(&p, 1e-30, 1e30, 4);
    CHECK(p.n == KREIN_PATH_MAX);
}

static void path_choice(void) {
    krein_path p = {.n = 5, .loss = {5, 3, 4, 3, 6}, .error = {NAN, NAN, NAN, NAN, NAN}};
    krein__path_choose(&p);
    CHECK(p.best == 1); /* the first of equals */
    krein_path q = {.n = 5, .loss = {5, 3, 4, 3.5, 1}, .error = {.2, .1, .1, .1, .3}};
    krein__path_choose(&q);
    CHECK(q.best == 1); /* smallest error, then smallest loss */
    q.loss[2] = 2;
    krein__path_choose(&q);
    CHECK(q.best == 2);
    q.error[0] = 0;
    krein__path_choose(&q);
    CHECK(q.best == 0);
}

static void path_tally(void) {
    /* Two lambdas, three rows, three classes; the middle row has no weight. */
    static const double y[] = {1, -1, -1, -1, 1, -1, -1, -1, 1}, weight[] = {1, 0, 3};
    static const int32_t class[] = {0, 1, 2};
    static const double score[] = {.5, -1, -1, /* right */ -1,
                                   1,  -1, /* wrong */
                                   9,  9,  9,  9,
                                   9,  9, /* not counted */
                                   1,  1,  0,  /* wrong */ -1,
                                   -1, 1}; /* right */
    krein_targets rows = {3, 3, y, weight, class};
    krein_tally t = {0};
    krein_path p = {.n = 2};
    krein__tally_add(&t, &rows, 2, score);
    krein__tally_end(&t, true, &p);
    CHECK_REL(p.loss[0], (.25 / 3 + 3 * (4 + 4 + 1) / 3.) / 4, 1e-14);
    CHECK_REL(p.loss[1], ((4 + 4) / 3.) / 4, 1e-14);
    CHECK_REL(p.error[0], .75, 1e-15);
    CHECK_REL(p.error[1], .25, 1e-15);
    CHECK(p.best == 1);
    /* Two classes: one score, positive for the second. */
    static const double two[] = {-1, 1, 1}, one[] = {-.1, -.1, .1};
    static const int32_t codes[] = {0, 1, 1};
    krein_targets binary = {3, 1, two, NULL, codes};
    krein_tally u = {0};
    krein_path q = {.n = 1};
    krein__tally_add(&u, &binary, 1, one);
    krein__tally_end(&u, true, &q);
    CHECK_REL(q.error[0], 1 / 3., 1e-15);
    CHECK_REL(q.loss[0], (.81 + 1.21 + .81) / 3, 1e-14);
    /* A score that is not a number is the worst, not the best. */
    static const double broken[] = {NAN, 0, 0, 0, 0, 0};
    krein_tally v = {0};
    krein_path r = {.n = 2};
    krein__tally_add(&v, &(krein_targets){3, 1, two, NULL, NULL}, 2, broken);
    krein__tally_end(&v, false, &r);
    CHECK(isinf(r.loss[0]) && r.best == 1);
}

/* ---- memory ------------------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make(20, 4, 2, true);
    double mix[4 * 3], w[8], b[2], alpha[40], Kt[60], score[20];
    for (int e = 0; e < 12; e++) mix[e] = det(e, 0, 0);
    for (int e = 0; e < 60; e++) Kt[e] = .5;
    krein_targets rows = {20, 2, p.y, p.weight, NULL};
    double *K = gaussian(20, 2, 0, 1), *copy = test_new(400, sizeof *copy);
    for (int mixed = 0; mixed < 2; mixed++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_system s;
            krein_path path = {0};
            krein_status st = make_system(ctx, &p, mixed ? mix : NULL, mixed ? 3 : 4, 20, &s);
            if (st == KREIN_OK) st = score_path(ctx, &s, true, &p, NULL, &path);
            if (st == KREIN_OK) st = krein__system_solve(ctx, &s, .1, w, b);
            krein__system_clear(ctx, &s);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    for (int indefinite = 0; indefinite < 2; indefinite++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_path path = {.n = 1, .lambda = {.1}};
            for (int e = 0; e < 400; e++) copy[e] = indefinite ? -K[e] : K[e];
            krein_status st = krein__dual_path(ctx, copy, &rows, &path);
            for (int e = 0; e < 400; e++) copy[e] = indefinite ? -K[e] : K[e];
            if (st == KREIN_OK) st = krein__dual_solve(ctx, copy, &rows, .0113, alpha, b);
            memcpy(copy, K, 400 * sizeof *K);
            if (st == KREIN_OK)
                st = krein__dual_others(ctx, copy, &rows, true, Kt, 3, &path, score);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    free(K);
    free(copy);
    drop(&p);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(same_bits_on_any_threads);
    RUN(dual_is_primal);
    RUN(dual_solve);
    RUN(dual_without_penalty);
    RUN(dual_indefinite);
    RUN(leave_one_out_dual);
    RUN(both_leave_one_out);
    RUN(held_out_is_direct);
    RUN(folds_are_direct);
    RUN(path_grid);
    RUN(path_choice);
    RUN(path_tally);
    RUN(dual_without_weight);
    RUN(every_allocation_fails);
    return DONE();
}
