/* test_ridge.c -- ridge regression on features and on the kernel matrix, against systems written
 * out and solved by elimination, and against refits without a row for leave-one-out. */
#include "common.h"

#include "num/blas.h"
#include "solve/ridge.h"

/* ---- the obvious way ---------------------------------------------------- */

/* A data set: z n x D, y n x k, weights or NULL. */
typedef struct problem {
    int64_t n, D, k;
    double *z, *y, *weight;
} problem;

static double weight_of(const problem *p, int64_t i) { return p->weight ? p->weight[i] : 1; }
static double total(const problem *p) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) sum += weight_of(p, i);
    return sum;
}

/* Normal equations with penalty c on the weights, row `skip` left out (-1: none). The last row
 * and column are the intercept, which is not penalised. x: (D + 1) x k, or D x k without it. */
static void fit_primal(const problem *p, double c, int64_t skip, bool intercept, double *x) {
    int64_t m = p->D + intercept;
    double *a = test_new(m * m, sizeof *a);
    memset(x, 0, (size_t)(m * p->k) * sizeof *x);
    for (int64_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i);
        if (i == skip) continue;
        for (int64_t r = 0; r < m; r++) {
            double zr = r < p->D ? p->z[i * p->D + r] : 1;
            for (int64_t s = 0; s < m; s++)
                a[r * m + s] += w * zr * (s < p->D ? p->z[i * p->D + s] : 1);
            for (int64_t o = 0; o < p->k; o++) x[r * p->k + o] += w * zr * p->y[i * p->k + o];
        }
    }
    for (int64_t r = 0; r < p->D; r++) a[r * m + r] += c;
    test_solve(m, p->k, a, x);
    free(a);
}

static double value_primal(const problem *p, const double *x, const double *z, int64_t o) {
    double f = x[p->D * p->k + o];
    for (int64_t j = 0; j < p->D; j++) f += z[j] * x[j * p->k + o];
    return f;
}

/* [K + c diag(1/w), 1; 1', 0] [alpha; b] = [y; 0] without row `skip` and rows of weight 0.
 * x: (n + 1) x k, zeros for rows left out. */
static void fit_dual(int64_t n, const double *K, int64_t k, const double *y, const double *weight,
                     double c, int64_t skip, bool intercept, double *x) {
    int64_t *row = test_new(n, sizeof *row), m = 0;
    for (int64_t i = 0; i < n; i++)
        if (i != skip && !(weight && weight[i] == 0)) row[m++] = i;
    int64_t size = m + intercept;
    double *a = test_new(size * size, sizeof *a), *b = test_new(size * k, sizeof *b);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) a[i * size + j] = K[row[i] * n + row[j]];
        a[i * size + i] += c / (weight ? weight[row[i]] : 1);
        if (intercept) a[i * size + m] = a[m * size + i] = 1;
        for (int64_t o = 0; o < k; o++) b[i * k + o] = y[row[i] * k + o];
    }
    test_solve(size, k, a, b);
    memset(x, 0, (size_t)((n + 1) * k) * sizeof *x);
    for (int64_t i = 0; i < m; i++)
        for (int64_t o = 0; o < k; o++) x[row[i] * k + o] = b[i * k + o];
    for (int64_t o = 0; intercept && o < k; o++) x[n * k + o] = b[m * k + o];
    free(row);
    free(a);
    free(b);
}

static double value_dual(int64_t n, const double *Ki, int64_t k, const double *x, int64_t o) {
    double f = x[n * k + o];
    for (int64_t j = 0; j < n; j++) f += Ki[j] * x[j * k + o];
    return f;
}

/* exp(-|x - y|^2 / (2 s^2)) of rows of det(n, d, shift). */
static double *gaussian(int64_t n, int64_t d, double shift, double s) {
    double *K = test_new(n * n, sizeof *K);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sd = 0;
            for (int64_t c = 0; c < d; c++) {
                double t = det(i, c, shift) - det(j, c, shift);
                sd += t * t;
            }
            K[i * n + j] = exp(-sd / (2 * s * s));
        }
    return K;
}

/* ---- inputs ------------------------------------------------------------- */

/* Numbers of few bits: the library's float32 products of them are exact. */
static double few_bits(double x) { return rint(8 * x) / 8; }

static problem make(int64_t n, int64_t D, int64_t k, bool weights) {
    problem p = {n, D, k, test_new(n * D, sizeof(double)), test_new(n * k, sizeof(double)), NULL};
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++) p.z[i * D + j] = few_bits(2 * det(i, j, .3) + 1);
        for (int64_t o = 0; o < k; o++) p.y[i * k + o] = few_bits(3 * det(i, o, 2.2) + (double)o);
    }
    if (!weights) return p;
    p.weight = test_new(n, sizeof(double));
    static const double choice[] = {1, 4, .25, 1, 9, 0}; /* exact square roots */
    for (int64_t i = 0; i < n; i++) p.weight[i] = choice[i % 6];
    return p;
}
static void drop(problem *p) {
    free(p->z);
    free(p->y);
    free(p->weight);
}

/* Adds the rows in blocks; mix (R x D) or NULL. */
static krein_status make_system(krein_ctx *ctx, const problem *p, const double *mix, int64_t D,
                                int64_t block, krein_system *out) {
    krein_ridge ridge;
    krein_status st = krein__ridge_begin(ctx, p->D, p->k, block, &ridge);
    memset(out, 0, sizeof *out);
    if (st != KREIN_OK) return st;
    float *r = test_new(block * p->D, sizeof *r);
    for (int64_t i = 0; i < p->n; i += block) {
        int64_t m = krein__min(block, p->n - i);
        for (int64_t e = 0; e < m * p->D; e++) r[e] = (float)p->z[i * p->D + e];
        krein__ridge_add(&ridge, m, r, p->y + i * p->k, p->weight ? p->weight + i : NULL);
    }
    free(r);
    st = krein__ridge_system(&ridge, mix, D, D, out);
    krein__ridge_clear(&ridge);
    return st;
}

/* The path of leave-one-out (or plain) losses of the rows, added in two pieces. */
static krein_status score_path(krein_ctx *ctx, const krein_system *s, bool loo, const problem *p,
                               const int32_t *class, krein_path *path) {
    krein_scores *scores = NULL;
    krein_tally tally = {0};
    bool own = path->n == 0;
    krein_status st = krein__scores_begin(ctx, s, loo, path, &scores);
    if (own && st == KREIN_OK) CHECK(path->lambda[0] >= .99 * krein__system_floor(s));
    float *r = test_new(p->n * p->D, sizeof *r);
    for (int64_t e = 0; e < p->n * p->D; e++) r[e] = (float)p->z[e];
    int64_t half = p->n / 2 + 1;
    for (int64_t from = 0; from < p->n && st == KREIN_OK; from += half) {
        krein_targets rows = {krein__min(half, p->n - from), p->k, p->y + from * p->k,
                              p->weight ? p->weight + from : NULL, class ? class + from : NULL};
        st = krein__scores_add(scores, r + from * p->D, &rows, &tally);
    }
    if (st == KREIN_OK) krein__tally_end(&tally, class != NULL, path);
    krein__scores_end(scores);
    free(r);
    return st;
}

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
    CHECK_HAS(krein_message(ctx), "--lambda");
    CHECK(krein__system_solve(ctx, &s, 1e-3, w, &b) == KREIN_OK);
    fit_primal(&p, 50 * 1e-3, -1, true, x);
    for (int j = 0; j < 6; j++) CHECK_ABS(w[j], x[j], 1e-9);
    krein__system_clear(ctx, &s);
    /* A constant column is dependent on the intercept. */
    for (int64_t i = 0; i < 50; i++) p.z[i * 6 + 5] = 2;
    CHECK(make_system(ctx, &p, NULL, 6, 50, &s) == KREIN_OK);
    CHECK(krein__system_solve(ctx, &s, 0, w, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "--lambda");
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

/* Loss and error of refits without each row, the penalty c held fixed. */
static void brute_primal(const problem *p, const int32_t *class, double c, double *loss,
                         double *error) {
    double *x = test_new((p->D + 1) * p->k, sizeof *x), *f = test_new(p->k, sizeof *f);
    *loss = *error = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i);
        if (w == 0) continue;
        fit_primal(p, c, i, true, x);
        int64_t best = 0;
        for (int64_t o = 0; o < p->k; o++) {
            f[o] = value_primal(p, x, p->z + i * p->D, o);
            double e = p->y[i * p->k + o] - f[o];
            *loss += w * e * e / (double)p->k;
            if (f[o] > f[best]) best = o;
        }
        if (class) *error += w * (p->k == 1 ? (f[0] > 0) != (class[i] == 1) : best != class[i]);
    }
    *loss /= total(p);
    *error = class ? *error / total(p) : NAN;
    free(x);
    free(f);
}

/* Targets -1 and +1 that follow the first features, with a few rows against it. */
static int32_t *classify(problem *p, int64_t classes) {
    int32_t *class = test_new(p->n, sizeof *class);
    for (int64_t i = 0; i < p->n; i++) {
        double a = p->z[i * p->D] + .7 * det(i, 0, 4);
        class[i] = classes == 2 ? a > 1 : a < .4 ? 0 : a < 1.8 ? 1 : 2;
        for (int64_t o = 0; o < p->k; o++)
            p->y[i * p->k + o] = (p->k == 1 ? class[i] == 1 : class[i] == o) ? 1 : -1;
    }
    return class;
}

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
    enum { N = 2600, D = KREIN_EIGEN_MAX + 60, K = 2 };
    krein_ctx *ctx = test_ctx(2);
    problem p = make(N, D, K, true);
    krein_system s = {0};
    CHECK(make_system(ctx, &p, NULL, D, 1000, &s) == KREIN_OK);
    float *z = test_new(N * D, sizeof *z);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) z[i * D + j] = (float)(p.z[i * D + j] - s.mean[j]);
    krein_targets rows = {N, K, p.y, p.weight, NULL};
    krein_path walk = {0}, path = {0};
    CHECK(krein__loo_walk(ctx, &s, z, &rows, &walk) == KREIN_OK);
    CHECK(walk.n >= 4 && walk.best >= 0 && walk.best < walk.n);
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
    CHECK(krein__dual_held_out(ctx, K, &rows, K, 1, &path, alpha) == KREIN_EDATA);
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
    CHECK_HAS(krein_message(ctx), "--lambda");
    /* A kernel of low rank. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) copy[i * n + j] = det(i, 0, 0) * det(j, 0, 0);
    CHECK(krein__dual_solve(ctx, copy, &rows, 0, alpha, &b) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "--lambda");
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
        CHECK(krein__dual_held_out(ctx, copy, &rows, Kt, m, &path, score) == KREIN_OK);
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
            if (st == KREIN_OK) st = krein__dual_held_out(ctx, copy, &rows, Kt, 3, &path, score);
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
