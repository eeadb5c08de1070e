/* test_dual_at.c -- leave-one-out and cross-validation on a kernel matrix, at one lambda and over a
 * path, against refitting; GCV and evidence from its eigenvalues, against dense formulas. */
#include "dual.h"

#include "solve/smoother.h"

/* ---- inputs ------------------------------------------------------------- */

/* Classes: as many as outputs, or two; targets that are not around zero. */
static problem make_at(int64_t n, int64_t k, bool classes, bool weights, double s) {
    problem p = make(n, k, classes ? (int)krein__max(2, k) : 0, weights, s, .5);
    for (int64_t e = 0; e < n * k && !classes; e++) p.y[e] += 1;
    return p;
}
static double weight_of(const problem *p, int64_t i) { return p->weight ? p->weight[i] : 1; }
static double total(const problem *p) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) sum += weight_of(p, i);
    return sum;
}
/* Rows that have a weight. */
static int64_t heavy(const problem *p) {
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++) count += weight_of(p, i) > 0;
    return count;
}

/* ---- the obvious way ---------------------------------------------------- */

/* The predictions (n x k) of the model of the rows that `in` has (NULL: all). */
static void refit(const problem *p, const bool *in, double shift, bool intercept, double *f) {
    test_ridge(p->n, p->k, p->K, p->y, p->weight, in, shift, intercept, f);
}

/* Held-out scores, each fold by itself; the penalty is W_{-F} lambda, or W lambda where kept. */
static void refit_folds(const problem *p, const int32_t *fold, int64_t folds, double lambda,
                        bool keep, bool intercept, double *score) {
    int64_t n = p->n, k = p->k;
    bool *in = test_new(n, sizeof *in);
    double *f = test_new(n * k, sizeof *f);
    for (int64_t g = 0; g < folds; g++) {
        double W = 0;
        for (int64_t i = 0; i < n; i++) {
            in[i] = fold[i] != g;
            W += in[i] || keep ? weight_of(p, i) : 0;
        }
        refit(p, in, W * lambda, intercept, f);
        for (int64_t i = 0; i < n; i++)
            if (fold[i] == g) memcpy(score + i * k, f + i * k, (size_t)k * sizeof *f);
    }
    free(in);
    free(f);
}

static krein_path errors_of(const problem *p, double lambda, const double *score) {
    krein_targets rows = targets(p);
    krein_path out = {.n = 1, .lambda = {lambda}};
    krein_tally t = {0};
    krein__tally_add(&t, &rows, 1, score);
    krein__tally_end(&t, p->class != NULL, &out);
    return out;
}

/* Residuals over the degrees of freedom that are left, from the smoother H: f = Hy. */
static double dense_gcv(const problem *p, double lambda, bool intercept) {
    int64_t n = p->n, k = p->k;
    double *unit = test_new(n * n, sizeof *unit);
    double *H = test_new(n * n, sizeof *H), *f = test_new(n * k, sizeof *f), W = total(p);
    double left = (double)heavy(p), residual = 0;
    for (int64_t i = 0; i < n; i++) unit[i * n + i] = 1;
    test_ridge(n, n, p->K, unit, p->weight, NULL, W * lambda, intercept, H);
    krein__dgemm(false, false, n, k, n, 1, H, n, p->y, k, 0, f, k);
    for (int64_t i = 0; i < n; i++) left -= H[i * n + i]; /* zero without a weight */
    for (int64_t e = 0; e < n * k; e++) residual += weight_of(p, e / k) * pow(p->y[e] - f[e], 2);
    free(unit);
    free(H);
    free(f);
    return residual / (W * (double)k) / pow(left / (double)heavy(p), 2);
}

/* MKM' and My with M = PS, S = diag(sqrt w); P takes out the part along u = S1 / |S1| where there
 * is an intercept. */
static problem framed(const problem *p, bool intercept) {
    int64_t n = p->n, k = p->k;
    problem r = {
        .n = n, .k = k, .K = test_new(n * n, sizeof *r.K), .y = test_new(n * k, sizeof *r.y)};
    double *M = test_new(n * n, sizeof *M), *half = test_new(n * n, sizeof *half), W = total(p);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            M[i * n + j] = sqrt(weight_of(p, i)) *
                           ((i == j ? 1. : 0.) - (intercept ? weight_of(p, j) / W : 0));
    krein__dgemm(false, false, n, n, n, 1, M, n, p->K, n, 0, half, n);
    krein__dgemm(false, true, n, n, n, 1, half, n, M, n, 0, r.K, n);
    krein__dgemm(false, false, n, k, n, 1, M, n, p->y, k, 0, r.y, k);
    free(M);
    free(half);
    return r;
}

/* The eigenvalues s (n) of the framed matrix, and the targets' squared projections q (n). */
static krein_smoother spectrum(krein_ctx *ctx, const problem *p, bool intercept, double *s,
                               double *q) {
    int64_t n = p->n, k = p->k;
    problem r = framed(p, intercept);
    double *beta = test_new(n * k, sizeof *beta), square = krein__ddot(n * k, r.y, r.y);
    CHECK(krein__eigen(ctx, n, r.K, n, s) == KREIN_OK);
    krein__dgemm(false, false, n, k, n, 1, r.K, n, r.y, k, 0, beta, k);
    for (int64_t j = 0; j < n; j++) q[j] = krein__ddot(k, beta + j * k, beta + j * k);
    free(beta);
    drop(&r);
    return (krein_smoother){heavy(p), k, n, intercept, total(p), s, q, square};
}

/* log p of the framed y ~ N(0, s2 C), C = K + shift I, by a Cholesky factor; the best s2 where
 * profiled. In directions without data (u, rows without a weight) C is shift: not of the N. */
static double dense_evidence(krein_ctx *ctx, const problem *p, double shift, bool intercept,
                             bool profile) {
    problem r = framed(p, intercept);
    int64_t n = p->n, k = p->k, data = heavy(p) - intercept;
    double *x = test_new(n * k, sizeof *x), log_det = -(double)(n - data) * log(shift), form;
    for (int64_t i = 0; i < n; i++) r.K[i * n + i] += shift;
    memcpy(x, r.y, (size_t)(n * k) * sizeof *x);
    CHECK(krein__cholesky(ctx, n, r.K, n, NULL) == KREIN_OK);
    CHECK(krein__cholesky_solve(ctx, n, r.K, n, k, x, k) == KREIN_OK);
    for (int64_t i = 0; i < n; i++) log_det += 2 * log(r.K[i * n + i]);
    form = krein__ddot(n * k, x, r.y);
    free(x);
    drop(&r);
    double N = (double)(data * k), s2 = profile ? form / N : 1;
    return -.5 * (N * log(2 * acos(-1) * s2) + (double)k * log_det + form / s2);
}

/* ---- leave-one-out ------------------------------------------------------ */

/* FORMULAS, group 8: det(12, 3), exp(-d^2 / 2), lam = n lambda. */
static void reference(void) {
    enum { n = 12 };
    static const double want[2][6] = {{-.470329857652, .630407815579, .040656797849, -.156549558576,
                                       .926433718075, -1.304978689245},
                                      {-.438682157255, .861474858498, -.067593599087,
                                       -.111658986564, 1.056810748585, -1.195568703147}};
    krein_ctx *ctx = test_ctx(1);
    for (int intercept = 0; intercept < 2; intercept++) {
        double K[n * n], y[n], score[n], lambda = (intercept ? .5 : .3) / n;
        for (int i = 0; i < n; i++) {
            y[i] = det(i, 0, 0) + .4 * det(i, 1, 0) > .5 ? 1 : -1;
            for (int j = 0; j < n; j++) {
                double square = 0;
                for (int c = 0; c < 3; c++) square += pow(det(i, c, 0) - det(j, c, 0), 2);
                K[i * n + j] = exp(-square / 2);
            }
        }
        krein_targets rows = {n, 1, y, NULL, NULL};
        krein_path p;
        CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, intercept, &p, score) == KREIN_OK);
        for (int i = 0; i < 6; i++) CHECK_ABS(y[i] - score[i], want[intercept][i], 2e-12);
        CHECK(p.n == 1 && p.best == 0 && p.lambda[0] == lambda && isnan(p.error[0]));
    }
    krein_ctx_destroy(ctx);
}

static void loo_is_refitting(void) {
    enum { n = 33 };
    krein_ctx *ctx = test_ctx(2);
    int32_t own[n];
    for (int i = 0; i < n; i++) own[i] = i;
    for (int which = 0; which < 16; which++) {
        bool intercept = which & 1, weights = which & 2, classes = which & 4;
        problem p = make_at(n, which & 8 ? 3 : 1, classes, weights, .8);
        krein_targets rows = targets(&p);
        double *K = copy_of(&p), score[n * 3], want[n * 3];
        for (double lambda = 1e-5; lambda < 5; lambda *= 30) {
            krein_path path, one = {.n = 1, .lambda = {lambda}};
            memcpy(K, p.K, sizeof *K * n * n);
            CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, intercept, &path, score) == KREIN_OK);
            refit_folds(&p, own, n, lambda, true, intercept, want);
            for (int64_t i = 0; i < n; i++)
                for (int64_t c = 0; c < p.k && weight_of(&p, i) > 0; c++)
                    CHECK_ABS(score[i * p.k + c], want[i * p.k + c], 1e-9);
            krein_path wanted = errors_of(&p, lambda, want);
            CHECK_REL(path.loss[0], wanted.loss[0], 1e-9);
            if (classes) CHECK_ABS(path.error[0], wanted.error[0], 1e-12);
            /* Without scores, and by the path. */
            krein_path again;
            memcpy(K, p.K, sizeof *K * n * n);
            CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, intercept, &again, NULL) == KREIN_OK);
            CHECK(again.loss[0] == path.loss[0]);
            memcpy(K, p.K, sizeof *K * n * n);
            CHECK(krein__dual_loo_path(ctx, K, &rows, intercept, &one) == KREIN_OK);
            CHECK_REL(one.loss[0], path.loss[0], 1e-9);
        }
        free(K);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* A whole path and every lambda of it. */
static void path_is_one_by_one(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int which = 0; which < 4; which++) {
        problem p = make_at(200, 2, false, which & 2, .5);
        krein_targets rows = targets(&p);
        double *K = copy_of(&p);
        bool intercept = which & 1;
        krein_path path = {0};
        CHECK(krein__dual_loo_path(ctx, K, &rows, intercept, &path) == KREIN_OK && path.n > 30);
        for (int64_t l = 0; l < path.n; l++) {
            krein_path one;
            double lambda = path.lambda[l];
            if (total(&p) * lambda < 1e-6) continue; /* the condition number, times rounding */
            memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
            CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, intercept, &one, NULL) == KREIN_OK);
            CHECK_REL(one.loss[0], path.loss[l], 1e-8);
        }
        free(K);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* ---- cross-validation --------------------------------------------------- */

static void check_folds(krein_ctx *ctx, const problem *p, const int32_t *fold, int64_t folds,
                        double lambda, bool intercept, double tolerance) {
    krein_targets rows = targets(p);
    krein_path one = {.n = 1, .lambda = {lambda}}, two = {.n = 2, .lambda = {lambda, 2 * lambda}};
    double *K = copy_of(p), *want = test_new(p->n * p->k, sizeof *want);
    CHECK(krein__dual_folds(ctx, K, &rows, intercept, fold, folds, &one) == KREIN_OK);
    CHECK(same_bits(p->n * p->n, K, p->K));
    refit_folds(p, fold, folds, lambda, false, intercept, want);
    krein_path wanted = errors_of(p, lambda, want);
    CHECK_REL(one.loss[0], wanted.loss[0], tolerance);
    if (p->class) CHECK_ABS(one.error[0], wanted.error[0], 1e-12);
    CHECK(krein__dual_folds(ctx, K, &rows, intercept, fold, folds, &two) == KREIN_OK);
    CHECK_REL(two.loss[0], wanted.loss[0], tolerance);
    free(K);
    free(want);
}

/* Few folds go one by one, many by blocks; uneven ones have two values of the penalty. */
static void folds_are_refitting(void) {
    enum { n = 41 };
    static const int64_t counts[] = {2, 3, 5, 8, 20, n};
    krein_ctx *ctx = test_ctx(2);
    for (int which = 0; which < 8; which++) {
        problem p = make_at(n, which & 4 ? 3 : 1, which & 4, which & 2, .8);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            int32_t fold[n];
            if (test_sanitized() && counts[c] == 20) continue;
            for (int i = 0; i < n; i++) fold[i] = (int32_t)((i * 7) % counts[c]);
            for (double lambda = 1e-4; lambda < 1; lambda *= 50)
                check_folds(ctx, &p, fold, counts[c], lambda, which & 1, 1e-8);
        }
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* Equal weights in every fold (blocks with weights), an empty fold, one of a single row, and rows
 * without a fold, which are always trained on. */
static void uneven_folds(void) {
    enum { n = 60 };
    krein_ctx *ctx = test_ctx(1);
    problem p = make_at(n, 2, false, true, .8);
    int32_t fold[n];
    for (int intercept = 0; intercept < 2; intercept++) {
        for (int i = 0; i < n; i++) fold[i] = i / 5;
        check_folds(ctx, &p, fold, n / 5, .01, intercept, 1e-9);
        check_folds(ctx, &p, fold, n / 5 + 3, .01, intercept, 1e-9);
    }
    /* W_{-F} differs from fold to fold. */
    for (int i = 0; i < n; i++) fold[i] = i < 20 ? 0 : i == 20 ? 1 : i % 3 == 0 ? 3 : 4;
    check_folds(ctx, &p, fold, 5, .01, true, 1e-9);
    free(p.weight);
    p.weight = NULL;
    check_folds(ctx, &p, fold, 5, .01, true, 1e-9);
    krein_targets rows = targets(&p);
    double want[n * 2], loss = 0;
    krein_path one = {.n = 1, .lambda = {.01}};
    for (int i = 0; i < n; i++) fold[i] = i < 48 ? i / 4 : -1;
    CHECK(krein__dual_cv(ctx, p.K, &rows, fold, 12, &one) == KREIN_OK);
    refit_folds(&p, fold, 12, .01, false, true, want);
    for (int e = 0; e < 48 * 2; e++) loss += pow(want[e] - p.y[e], 2) / (48 * 2);
    CHECK_REL(one.loss[0], loss, 1e-9);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* ---- indefinite and singular -------------------------------------------- */

static void indefinite(void) {
    enum { n = 30, folds = 10 };
    krein_ctx *ctx = test_ctx(2);
    problem p = make_at(n, 2, false, false, .7), wide = make_at(n, 1, false, false, 3);
    krein_targets rows = targets(&p);
    int32_t own[n], fold[n];
    double score[n * 2], want[n * 2], K[n * n], s[n], q[n];
    for (int i = 0; i < n; i++) own[i] = i, fold[i] = i % folds;
    for (int e = 0; e < n * n; e++) p.K[e] -= .8 * wide.K[e];
    for (int intercept = 0; intercept < 2; intercept++) {
        double lambda = 3.1e-4;
        krein_path path;
        memcpy(K, p.K, sizeof K);
        CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, intercept, &path, score) == KREIN_OK);
        refit_folds(&p, own, n, lambda, true, intercept, want);
        for (int e = 0; e < n * 2; e++) CHECK_ABS(score[e], want[e], 1e-8);
        check_folds(ctx, &p, fold, folds, lambda, intercept, 1e-8);
        krein_smoother a = spectrum(ctx, &p, intercept, s, q);
        CHECK(a.s[0] < -.03); /* it is */
        CHECK_REL(krein__gcv(&a, lambda), dense_gcv(&p, lambda, intercept), 1e-8);
        CHECK(krein__evidence(&a, lambda, true) == -INFINITY);
        /* A larger lambda makes it a process. */
        CHECK(isfinite(krein__evidence(&a, 2 * -s[0] / n, false)));
    }
    drop(&p);
    drop(&wide);
    krein_ctx_destroy(ctx);
}

static void singular(void) {
    enum { n = 24 };
    krein_ctx *ctx = test_ctx(1);
    problem p = make_at(n, 1, false, false, .6);
    krein_targets rows = targets(&p);
    double K[n * n], score[n];
    krein_path path;
    /* Every row twice: without itself a row is predicted by its twin, as lambda goes to zero. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) K[i * n + j] = p.K[i / 2 * n + j / 2];
    memcpy(p.K, K, sizeof K);
    for (int intercept = 0; intercept < 2; intercept++) {
        memcpy(K, p.K, sizeof K);
        CHECK(krein__dual_loo_at(ctx, K, &rows, 1e-11, intercept, &path, score) == KREIN_OK);
        for (int i = 0; i < n; i++) CHECK_ABS(score[i], p.y[i ^ 1], 1e-3);
        /* No lambda at all is refused, whatever is asked. */
        krein_path zero = {.n = 1, .lambda = {0}};
        int32_t fold[n];
        for (int i = 0; i < n; i++) fold[i] = i / 3;
        memcpy(K, p.K, sizeof K);
        CHECK(krein__dual_loo_at(ctx, K, &rows, 0, intercept, &path, score) == KREIN_ENUMERIC);
        CHECK(strstr(krein_message(ctx), "singular"));
        CHECK(krein__dual_folds(ctx, p.K, &rows, intercept, fold, 8, &zero) == KREIN_ENUMERIC);
    }
    drop(&p);
    /* Two rows: each is predicted by the other alone. */
    double two[] = {1, .5, .5, 1}, y[] = {1, 3};
    krein_targets pair = {2, 1, y, NULL, NULL};
    int32_t fold[] = {0, 1};
    krein_path cv = {.n = 1, .lambda = {.25}};
    memcpy(K, two, sizeof two);
    CHECK(krein__dual_loo_at(ctx, K, &pair, .25, true, &path, score) == KREIN_OK);
    CHECK_REL(score[0], 3, 1e-13);
    CHECK_REL(score[1], 1, 1e-13);
    memcpy(K, two, sizeof two);
    CHECK(krein__dual_loo_at(ctx, K, &pair, .25, false, &path, score) == KREIN_OK);
    CHECK_REL(score[0], 3 * .5 / 1.5, 1e-13);
    CHECK(krein__dual_cv(ctx, two, &pair, fold, 2, &cv) == KREIN_EDATA); /* nothing to learn from */
    /* One row, and one with a weight. */
    for (int many = 0; many < 2; many++) {
        double weight[] = {0, 2};
        krein_targets one = {1 + many, 1, y, many ? weight : NULL, NULL};
        memcpy(K, two, sizeof two);
        CHECK(krein__dual_loo_at(ctx, K, &one, .25, true, &path, score) == KREIN_OK);
        CHECK_ABS(score[many], y[many], 1e-15);
        memcpy(K, two, sizeof two);
        CHECK(krein__dual_loo_at(ctx, K, &one, .25, false, &path, score) == KREIN_OK);
        CHECK_ABS(score[many], 0, 1e-15);
        krein_path grid = {0};
        memcpy(K, two, sizeof two);
        CHECK(krein__dual_loo_path(ctx, K, &one, false, &grid) == KREIN_OK && grid.n > 0);
    }
    double none[] = {0, 0};
    pair.weight = none;
    CHECK(krein__dual_loo_at(ctx, K, &pair, .25, false, &path, score) == KREIN_EDATA);
    CHECK(krein__dual_cv(ctx, two, &pair, fold, 2, &cv) == KREIN_EDATA);
    krein_ctx_destroy(ctx);
}

/* ---- GCV and evidence --------------------------------------------------- */

/* With and without weights (some are zero) and an intercept. */
static void criteria_are_dense(void) {
    enum { n = 40 };
    krein_ctx *ctx = test_ctx(1);
    for (int which = 0; which < 8; which++) {
        bool intercept = which & 1;
        problem p = make_at(n, which & 4 ? 2 : 1, false, which & 2, .6);
        double s[n], q[n], W = total(&p);
        krein_smoother a = spectrum(ctx, &p, intercept, s, q);
        krein_path path = {.n = 4, .lambda = {1e-5, 1e-3, .02, 3}}, grid = {0};
        krein__gcv_path(&a, &path);
        for (int64_t l = 0; l < path.n; l++) {
            CHECK_REL(path.loss[l], dense_gcv(&p, path.lambda[l], intercept), 1e-8);
            CHECK(path.loss[path.best] <= path.loss[l] && isnan(path.error[l]));
        }
        krein__gcv_path(&a, &grid);
        CHECK(grid.n > 30 && grid.best > 0 && grid.best < grid.n - 1);
        for (int e = 0; e < 8; e++) {
            bool profile = e & 1;
            double want = dense_evidence(ctx, &p, W * path.lambda[e / 2], intercept, profile);
            krein__evidence_path(&a, profile, &path);
            CHECK_REL(-path.loss[e / 2], want, 1e-9);
            CHECK(path.loss[path.best] <= path.loss[e / 2] && isnan(path.error[e / 2]));
        }
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* D < n features: the eigenvalues of Z'Z, in either order, are enough. */
static void features_are_enough(void) {
    enum { n = 30, D = 4 };
    krein_ctx *ctx = test_ctx(1);
    double Z[n * D], G[D * D], K[n * n], y[n], all_s[n], all_q[n], s[D], q[D], square = 0;
    for (int e = 0; e < n * D; e++) Z[e] = det(e / D, e % D, .4);
    for (int i = 0; i < n; i++) y[i] = Z[i * D] + det(i, 9, .2), square += y[i] * y[i];
    krein__dgemm(true, false, D, D, n, 1, Z, D, Z, D, 0, G, D);
    krein__dgemm(false, true, n, n, D, 1, Z, D, Z, D, 0, K, n);
    problem p = {.n = n, .k = 1, .K = K, .y = y};
    krein_smoother full = spectrum(ctx, &p, false, all_s, all_q);
    CHECK(krein__eigen(ctx, D, G, D, s) == KREIN_OK);
    for (int down = 0; down < 2; down++) {
        double values[D];
        for (int j = 0; j < D; j++) { /* the eigenvector of ZZ' is Zv / sqrt(s) */
            int from = down ? D - 1 - j : j;
            double dot = 0;
            for (int i = 0; i < n; i++)
                for (int c = 0; c < D; c++) dot += y[i] * Z[i * D + c] * G[from * D + c];
            q[j] = dot * dot / s[from];
            values[j] = s[from];
        }
        krein_smoother few = {n, 1, D, 0, n, values, q, square};
        for (double lambda = 1e-6; lambda < 10; lambda *= 20) {
            CHECK_REL(krein__gcv(&few, lambda), krein__gcv(&full, lambda), 1e-8);
            for (int profile = 0; profile < 2; profile++)
                CHECK_REL(krein__evidence(&few, lambda, profile),
                          krein__evidence(&full, lambda, profile), 1e-8);
        }
        CHECK(krein__evidence(&few, 0, false) == -INFINITY);
        CHECK(isfinite(krein__gcv(&few, 1e-300)));
    }
    krein_smoother none = {n, 1, 0, 1, n, NULL, NULL, square}; /* the mean alone */
    CHECK_REL(krein__gcv(&none, 1), square / n / pow(1 - 1. / n, 2), 1e-14);
    krein_smoother constant = {n, 1, 0, n, n, NULL, NULL, square};
    CHECK(isinf(krein__gcv(&constant, 1)));
    krein_ctx_destroy(ctx);
}

/* ---- threads, memory ---------------------------------------------------- */

typedef struct answers {
    krein_path loo, path, cv, few;
    double score[2 * 600];
} answers;

static krein_status ask(krein_ctx *ctx, const problem *p, double *K, answers *a) {
    krein_targets rows = targets(p);
    size_t bytes = (size_t)(p->n * p->n) * sizeof *K;
    int32_t *fold = test_new(p->n, sizeof *fold);
    for (int64_t i = 0; i < p->n; i++) fold[i] = (int32_t)(i % 10);
    memset(a, 0, sizeof *a);
    a->path = (krein_path){.n = 3, .lambda = {.001, .01, .1}};
    a->cv = a->few = (krein_path){.n = 1, .lambda = {.01}};
    memcpy(K, p->K, bytes);
    krein_status st = krein__dual_loo_at(ctx, K, &rows, .01, true, &a->loo, a->score);
    memcpy(K, p->K, bytes);
    if (st == KREIN_OK) st = krein__dual_loo_at(ctx, K, &rows, .01, false, &a->loo, NULL);
    memcpy(K, p->K, bytes);
    if (st == KREIN_OK) st = krein__dual_loo_path(ctx, K, &rows, false, &a->path);
    if (st == KREIN_OK) st = krein__dual_folds(ctx, p->K, &rows, true, fold, 10, &a->cv);
    for (int64_t i = 0; i < p->n; i++) fold[i] = (int32_t)(i % 3);
    if (st == KREIN_OK) st = krein__dual_folds(ctx, p->K, &rows, false, fold, 3, &a->few);
    free(fold);
    return st;
}

static void same_bits_on_any_threads(void) {
    static answers a[3];
    problem p = make_at(test_sanitized() ? 300 : 600, 2, false, false, .3);
    double *K = copy_of(&p);
    for (int t = 0; t < 3; t++) {
        krein_ctx *ctx = test_ctx(t + 1);
        CHECK(ask(ctx, &p, K, &a[t]) == KREIN_OK);
        CHECK(same_bits(p.n * p.k, a[t].score, a[0].score));
        CHECK(a[t].loo.loss[0] == a[0].loo.loss[0] && same_bits(3, a[t].path.loss, a[0].path.loss));
        CHECK(a[t].cv.loss[0] == a[0].cv.loss[0] && a[t].few.loss[0] == a[0].few.loss[0]);
        krein_ctx_destroy(ctx);
    }
    free(K);
    drop(&p);
}

static void every_allocation_fails(void) {
    static answers a;
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make_at(20, 2, true, false, .8);
    double *K = copy_of(&p);
    for (int sign = 0; sign < 2; sign++) {
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_status st = ask(ctx, &p, K, &a);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
        for (int64_t e = 0; e < p.n * p.n; e++) p.K[e] = -p.K[e]; /* by eigenvalues */
    }
    free(K);
    drop(&p);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(reference);
    RUN(loo_is_refitting);
    RUN(path_is_one_by_one);
    RUN(folds_are_refitting);
    RUN(uneven_folds);
    RUN(indefinite);
    RUN(singular);
    RUN(criteria_are_dense);
    RUN(features_are_enough);
    RUN(same_bits_on_any_threads);
    RUN(every_allocation_fails);
    return DONE();
}
