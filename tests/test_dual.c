/* test_dual.c -- lambda in the dual by steps (a Cholesky factorisation each) against the path of
 * one eigendecomposition, and the parts that the steps are made of. */
#include "dual.h"

/* ---- the diagonal of the inverse ---------------------------------------- */

static void inverse_diagonal(void) {
    static const int64_t sizes[] = {1, 2, 127, 128, 300, 513, 1600};
    krein_ctx *ctx = test_ctx(2);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], lda = n + 3;
        if (n > 1000 && test_sanitized()) continue;
        double *u = test_new(n * lda, sizeof *u), *inverse = test_new(n * n, sizeof *inverse);
        double *diagonal = test_new(n, sizeof *diagonal);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++)
                u[i * lda + j] = exp(-.1 * fabs((double)(i - j))) + .1 * (double)(i == j);
            inverse[i * n + i] = 1;
        }
        CHECK(krein__cholesky(ctx, n, u, lda, NULL) == KREIN_OK);
        CHECK(krein__cholesky_solve(ctx, n, u, lda, n, inverse, n) == KREIN_OK);
        CHECK(krein__cholesky_inverse_diagonal(ctx, n, u, lda, diagonal) == KREIN_OK);
        for (int64_t i = 0; i < n; i++) CHECK_REL(diagonal[i], inverse[i * n + i], 1e-12);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                CHECK(u[i * lda + j] == exp(-.1 * fabs((double)(i - j))));
        /* U has become V, A^-1 = VV': its last column has one term a row. */
        for (int64_t i = 0; i < n; i++)
            CHECK_ABS(u[i * lda + n - 1] * u[(n - 1) * lda + n - 1], inverse[i * n + n - 1], 1e-11);
        for (int64_t i = 0; i < n; i++)
            CHECK_REL(krein__ddot(n - i, u + i * lda + i, u + i * lda + i), diagonal[i], 1e-12);
        free(u);
        free(inverse);
        free(diagonal);
    }
    CHECK(krein__cholesky_inverse_diagonal(ctx, 0, NULL, 0, NULL) == KREIN_OK);
    krein_ctx_destroy(ctx);
}

/* ---- the steps ---------------------------------------------------------- */

/* Two rows whose loss is least at 10^at, without a score below 10^none. */
typedef struct valley {
    double at, none;
    int visits;
} valley;

static krein_status visit_valley(void *state, double lambda, double *score) {
    valley *v = state;
    double x = log10(lambda);
    v->visits++;
    score[0] = x < v->none ? NAN : 1 + fabs(x - v->at);
    score[1] = 0;
    return KREIN_OK;
}

static void steps_find_the_valley(void) {
    static const double y[] = {0, 0};
    static const int32_t class[] = {0, 0};
    krein_ctx *ctx = test_ctx(1);
    for (int classes = 0; classes < 2; classes++)
        for (int q = -12; q <= 12; q++) {
            valley v = {.at = -3 + .25 * q + .05, .none = -100};
            krein_targets rows = {2, 1, y, NULL, classes ? class : NULL};
            krein_path p = {0}, grid = {0};
            CHECK(krein__path_walk(ctx, &rows, 1e-3, 0, visit_valley, &v, &p) == KREIN_OK);
            CHECK(v.visits == p.n && p.n <= 5 + abs(q) / 2);
            krein__path_grid(&grid, pow(10, -3 + .25 * q) * .99, pow(10, -3 + .25 * q) * 1.01, 4);
            CHECK(grid.n == 1 && p.lambda[p.best] == grid.lambda[0]);
        }
    /* The valley is at 10^-4, the walk must stay above 10^-2.6. */
    for (int from = -4; from <= -1; from++) {
        valley v = {.at = -4, .none = -9};
        krein_targets rows = {2, 1, y, NULL, NULL};
        krein_path p = {0};
        CHECK(krein__path_walk(ctx, &rows, pow(10, from), pow(10, -2.6), visit_valley, &v, &p) ==
              KREIN_OK);
        for (int64_t l = 0; l < p.n; l++) CHECK(p.lambda[l] > .99 * pow(10, -2.6));
        CHECK(p.lambda[p.best] < .0032);
    }
    /* Nothing below 10^-1.6: up, even from where there is nothing, and classes must not be what
     * is chosen by there. */
    for (int classes = 0; classes < 2; classes++) {
        valley v = {.at = -2, .none = -1.6};
        krein_targets rows = {2, 1, y, NULL, classes ? class : NULL};
        krein_path p = {0};
        CHECK(krein__path_walk(ctx, &rows, 1e-3, 0, visit_valley, &v, &p) == KREIN_OK);
        CHECK(p.lambda[p.best] >= .0316 && p.lambda[p.best] <= .1 && isfinite(p.loss[p.best]));
    }
    krein_ctx_destroy(ctx);
}

/* A valley whose guesses are told from where they are made. */
typedef struct guessed {
    double last, none;    /* the lambda visited last, log10; no score below */
    double fall, promise; /* what a decade brings, and what is guessed of it */
    double turn;          /* where the loss rises again, log10; 0: nowhere */
    int visits;
} guessed;

static krein_status visit_guessed(void *state, double lambda, double *score) {
    guessed *g = state;
    g->last = log10(lambda);
    g->visits++;
    double at = g->turn < 0 ? fmax(g->last, 2 * g->turn - g->last) : g->last;
    score[0] = g->last < g->none ? NAN : sqrt(1 + g->fall * at);
    return KREIN_OK;
}

static krein_status guess_near(void *state, double lambda, double *score) {
    guessed *g = state;
    double by = log10(lambda) - g->last;
    CHECK(fabs(by) < .51);
    score[0] = sqrt(1 + g->fall * g->last + g->promise * by);
    return KREIN_OK;
}

/* Guesses are about the lambda that was visited last, also where the start has no solution; a walk
 * ends where they promise much and bring little. */
static void guesses_follow(void) {
    static const double y[] = {0};
    krein_ctx *ctx = test_ctx(1);
    krein_targets rows = {1, 1, y, NULL, NULL};
    krein_path p = {0};
    /* 10^-3 and 10^-2.5 have no solution; 10^-2 has the least loss of those that have. */
    guessed up = {.none = -2.1, .fall = .1, .promise = .1};
    CHECK(krein__path_follow(ctx, &rows, 1e-3, 0, visit_guessed, guess_near, &up, &p) == KREIN_OK);
    CHECK(p.n == 3 && p.best == 2 && p.lambda[2] == .01 && isinf(p.loss[1]));
    /* Down by half decades as long as each is a hundredth better. */
    guessed down = {.none = -9, .fall = .1, .promise = .1};
    CHECK(krein__path_follow(ctx, &rows, 1, 1e-2, visit_guessed, guess_near, &down, &p) ==
          KREIN_OK);
    CHECK(p.n == 5 && p.lambda[p.best] == .01);
    guessed flat = {.none = -9, .fall = .01, .promise = .3};
    CHECK(krein__path_follow(ctx, &rows, 1, 1e-6, visit_guessed, guess_near, &flat, &p) ==
          KREIN_OK);
    CHECK(p.n == 3 && flat.visits == 3 && p.best == 1 && p.lambda[1] == .1);
    /* By decades where the loss falls steeply; back to what was guessed where that was too far. */
    guessed steep = {.none = -9, .fall = .2, .promise = .2};
    CHECK(krein__path_follow(ctx, &rows, 1, 1e-2, visit_guessed, guess_near, &steep, &p) ==
          KREIN_OK);
    CHECK(p.n == 3 && p.lambda[1] == .1 && p.lambda[2] == .01 && p.best == 2);
    guessed beyond = {.none = -9, .fall = .2, .promise = .2, .turn = -.5};
    CHECK(krein__path_follow(ctx, &rows, 1, 1e-6, visit_guessed, guess_near, &beyond, &p) ==
          KREIN_OK);
    CHECK(p.n == 3 && p.lambda[1] == .1 && p.lambda[2] == .316 && p.best == 2);
    krein_ctx_destroy(ctx);
}

/* ---- the walk ----------------------------------------------------------- */

static void walk_is_path(void) {
    static const struct {
        int64_t n, k;
        int classes;
        bool weights;
        double s, noise;
    } all[] = {{600, 1, 0, false, .5, .5}, {600, 2, 0, true, 1, .5},   {600, 1, 2, false, .4, .5},
               {601, 3, 3, true, .4, .5},  {300, 3, 0, false, 1, .01}, {1100, 1, 0, true, .5, 1}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        if (all[t].n > 1000 && test_sanitized()) continue;
        problem p =
            make(all[t].n, all[t].k, all[t].classes, all[t].weights, all[t].s, all[t].noise);
        krein_targets rows = targets(&p);
        double *alpha = test_new(p.n * p.k, sizeof *alpha), b[3];
        double *again = test_new(p.n * p.k, sizeof *again), c[3];
        krein_path walk = {0}, same, whole = {0};
        double *K = copy_of(&p);
        CHECK(krein__dual_walk(ctx, K, &rows, p.n / 3, 1, &walk, alpha, b) == KREIN_OK);
        CHECK(walk.n >= 4 && walk.best >= 0 && walk.best < walk.n);
        /* Every lambda visited. */
        same = walk;
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_path(ctx, K, &rows, &same) == KREIN_OK);
        for (int64_t l = 0; l < walk.n; l++) {
            CHECK_REL(walk.loss[l], same.loss[l], 1e-7);
            if (p.class) CHECK_ABS(walk.error[l], same.error[l], 1e-12);
        }
        CHECK(walk.best == same.best);
        /* The lambda of least loss on the whole grid is among them. */
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_path(ctx, K, &rows, &whole) == KREIN_OK);
        int64_t at = krein__path_least(&walk), least = krein__path_least(&whole);
        CHECK(walk.lambda[at] == whole.lambda[least]);
        if (!p.class) CHECK(walk.best == at);
        /* The solution is that of the lambda chosen. */
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_solve(ctx, K, &rows, walk.lambda[walk.best], again, c) == KREIN_OK);
        CHECK(same_bits(p.n * p.k, alpha, again) && same_bits(p.k, b, c));
        free(K);
        free(alpha);
        free(again);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* Targets without noise and a wide kernel: the best lambda is where float64 ends. */
static void smooth_to_rounding(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = make(400, 1, 0, false, 2, 0);
    krein_targets rows = targets(&p);
    double *K = copy_of(&p), *alpha = test_new(p.n, sizeof *alpha), b;
    krein_path walk = {0}, whole = {0};
    CHECK(krein__dual_walk(ctx, K, &rows, 150, 1, &walk, alpha, &b) == KREIN_OK);
    memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
    CHECK(krein__dual_path(ctx, K, &rows, &whole) == KREIN_OK);
    CHECK(walk.loss[walk.best] < 2 * whole.loss[whole.best] + 1e-12);
    free(K);
    free(alpha);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* A kernel so wide that its matrix is 1 up to 1e-9: what is left of it once centred has seven
 * digits, and no lambda is tried below its rounding. */
static void wide_to_rounding(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(80, 1, 2, false, 3e4, 0.1);
    krein_targets rows = {p.n, p.k, p.y, p.weight, p.class};
    krein_path path = {0};
    CHECK(krein__dual_path(ctx, p.K, &rows, &path) == KREIN_OK);
    CHECK(path.n > 4);
    for (int64_t l = 0; l < path.n; l++) CHECK(path.lambda[l] >= 0.99e-15);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void same_bits_on_any_threads(void) {
    problem p = make(test_sanitized() ? 400 : 1100, 2, 0, true, .5, .5);
    krein_targets rows = targets(&p);
    double *alpha[3], b[3][2];
    krein_path path[3];
    for (int t = 0; t < 3; t++) {
        krein_ctx *ctx = test_ctx(t + 1);
        double *K = copy_of(&p);
        memset(&path[t], 0, sizeof path[t]);
        alpha[t] = test_new(p.n * p.k, sizeof **alpha);
        CHECK(krein__dual_walk(ctx, K, &rows, 300, 7, &path[t], alpha[t], b[t]) == KREIN_OK);
        CHECK(path[t].n == path[0].n && path[t].best == path[0].best);
        CHECK(same_bits(path[0].n, path[t].loss, path[0].loss));
        CHECK(same_bits(p.n * p.k, alpha[t], alpha[0]) && same_bits(p.k, b[t], b[0]));
        free(K);
        krein_ctx_destroy(ctx);
    }
    for (int t = 0; t < 3; t++) free(alpha[t]);
    drop(&p);
}

/* Rows without a weight say nothing of lambda, however many there are. */
static void few_weights(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int keep = 1; keep < 300; keep *= 7) {
        problem p = make(300, 1, 0, true, 1, .5);
        krein_targets rows = targets(&p);
        double *K = copy_of(&p), alpha[300], b;
        krein_path walk = {0}, same;
        for (int i = 0; i < 300; i++) p.weight[i] = i >= 300 - keep;
        krein_status st = krein__dual_walk(ctx, K, &rows, 20, 1, &walk, alpha, &b);
        CHECK(keep == 1 || st == KREIN_OK);
        same = walk;
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        if (keep > 1) CHECK(krein__dual_path(ctx, K, &rows, &same) == KREIN_OK);
        for (int64_t l = 0; keep > 1 && l < walk.n; l++)
            CHECK_REL(walk.loss[l], same.loss[l], 1e-7);
        free(K);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(40, 1, 0, true, 1, .5);
    krein_targets rows = targets(&p);
    double alpha[40], b;
    krein_path path = {0};
    for (int64_t e = 0; e < p.n * p.n; e++) p.K[e] = -p.K[e];
    CHECK(krein__dual_walk(ctx, p.K, &rows, 20, 1, &path, alpha, &b) != KREIN_EMEMORY);
    for (int64_t i = 0; i < p.n; i++) p.weight[i] = 0;
    CHECK(krein__dual_walk(ctx, p.K, &rows, 20, 1, &path, alpha, &b) == KREIN_EDATA);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make(30, 2, 0, true, 1, .5);
    krein_targets rows = targets(&p);
    double *K = copy_of(&p), alpha[60], b[2];
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_path path = {0};
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        krein_status st = krein__dual_walk(ctx, K, &rows, 15, 1, &path, alpha, b);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    free(K);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* ---- the pipe ----------------------------------------------------------- */

static krein_data *open_rows(krein_ctx *ctx, int64_t n, float *x, double *y) {
    krein_data_options d;
    krein_data *data = NULL;
    krein_data_options_init(&d);
    d.task = KREIN_TASK_REGRESSION;
    if (krein_data_from_dense(ctx, n, 2, x, 2, y, NULL, &d, &data) != KREIN_OK) exit(1);
    return data;
}

static void fill(int64_t n, float *x, double *y) {
    for (int64_t i = 0; i < n; i++) {
        x[2 * i] = (float)test_random();
        x[2 * i + 1] = (float)test_random();
        y[i] = sin(3 * (double)x[2 * i]) + (double)x[2 * i + 1] + .3 * test_random();
    }
}

/* Above KREIN_EIGEN_MAX rows train walks: the model is the one of the lambda that it reports. */
static void train_walks(void) {
    if (test_sanitized()) SKIP("too slow under a sanitizer");
    enum { n = KREIN_EIGEN_MAX + 50 };
    float *x = test_new(2 * n, sizeof *x);
    double *y = test_new(n, sizeof *y), *score[2];
    krein_train_options o;
    krein_report report = KREIN_SIZED(krein_report), plan = KREIN_SIZED(krein_report);
    double lambda = -1, loo = NAN;
    fill(n, x, y);
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=0.7)";
    o.map = "exact";
    for (int t = 0; t < 2; t++) {
        krein_ctx *ctx = test_ctx(2);
        krein_data *data = open_rows(ctx, n, x, y);
        krein_model *m = NULL;
        o.lambda = lambda;
        CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
        krein_data_close(data);
        data = open_rows(ctx, n, x, y);
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        CHECK(krein_ctx_peak_bytes(ctx) <= plan.bytes_peak);
        score[t] = test_new(n, sizeof **score);
        CHECK(m && krein_predict_dense(ctx, m, n, 2, x, 2, score[t]) == KREIN_OK);
        if (t == 0) lambda = report.lambda, loo = report.loo;
        krein_report_clear(ctx, &plan);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    CHECK(lambda > 0 && fabs(loo - .3 / sqrt(3)) < .02); /* the noise */
    CHECK(same_bits(n, score[0], score[1]));
    free(score[0]);
    free(score[1]);
    free(x);
    free(y);
}

/* The kernel itself is a default only where its matrix fits. */
static void default_fits(void) {
    enum { n = 1500 };
    float *x = test_new(2 * n, sizeof *x);
    double *y = test_new(n, sizeof *y);
    krein_train_options o;
    fill(n, x, y);
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=0.7)";
    for (int small = 0; small < 2; small++) {
        krein_report report = KREIN_SIZED(krein_report), plan = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        krein_ctx *ctx = test_ctx_small(2, (uint64_t)(small ? 40 : 400) << 20);
        krein_data *data = open_rows(ctx, n, x, y);
        CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
        CHECK(plan.fits && (strcmp(plan.map, "exact") == 0) == !small);
        krein_data_close(data);
        data = open_rows(ctx, n, x, y);
        krein_status st = krein_train(ctx, data, &o, &report, &m);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK && strcmp(report.map, plan.map) == 0);
        krein_report_clear(ctx, &plan);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    free(x);
    free(y);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(inverse_diagonal);
    RUN(steps_find_the_valley);
    RUN(guesses_follow);
    RUN(walk_is_path);
    RUN(smooth_to_rounding);
    RUN(wide_to_rounding);
    RUN(same_bits_on_any_threads);
    RUN(few_weights);
    RUN(refusals);
    RUN(every_allocation_fails);
    RUN(train_walks);
    RUN(default_fits);
    return DONE();
}
