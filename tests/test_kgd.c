/* test_kgd.c -- gradient descent on dual coefficients: reference values, closed form, convergence
 * to the solution of the linear system, and the learner as a whole. */
#include "common.h"

#include "num/blas.h"
#include "solve/descent.h"

enum { N = 40 };

/* ---- the descent ---------------------------------------------------------- */

typedef struct problem {
    int64_t n, columns;
    double *K, *y, *step, *beta, *fit;
    int64_t *order;
} problem;

static problem make(int64_t n, int64_t columns, double sigma) {
    problem p = {n,
                 columns,
                 test_new(n * n, 8),
                 test_new(n * columns, 8),
                 test_new(n * columns, 8),
                 test_new(n * columns, 8),
                 test_new(n * columns, 8),
                 test_new(n, 8)};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t c = 0; c < 2; c++) sum += pow(det(i, c, 0) - det(j, c, 0), 2);
            p.K[i * n + j] = exp(-sum / (2 * sigma * sigma));
        }
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < n; i++) p.y[c * n + i] = det(c, i, .3);
    return p;
}
static void drop(problem *p) {
    free(p->K);
    free(p->y);
    free(p->step);
    free(p->beta);
    free(p->fit);
    free(p->order);
}
static krein_descent start(krein_ctx *ctx, problem *p, bool sample) {
    memset(p->beta, 0, (size_t)(p->n * p->columns) * 8);
    memset(p->fit, 0, (size_t)(p->n * p->columns) * 8);
    return (krein_descent){.ctx = ctx,
                           .n = p->n,
                           .columns = p->columns,
                           .K = p->K,
                           .y = p->y,
                           .step = p->step,
                           .beta = p->beta,
                           .fit = p->fit,
                           .sample = sample,
                           .seed = 3,
                           .order = p->order};
}
static void set_steps(problem *p, double step) {
    for (int64_t i = 0; i < p->n * p->columns; i++) p->step[i] = step;
}

static void reference_values(void) {
    krein_ctx *ctx = test_ctx(1);
    static const double want[] = {.8949859,   2.64717878, 1.54876312,
                                  -.21131096, -2.56457,   -1.97773331};
    problem p = make(6, 1, 1);
    set_steps(&p, .3);
    krein_descent d = start(ctx, &p, false);
    for (int t = 0; t < 10; t++) krein__descent_step(&d);
    for (int i = 0; i < 6; i++) CHECK_ABS(p.beta[i], want[i], 6e-9);
    CHECK(d.steps == 10);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* After t steps beta = V' diag((1 - (1 - a s)^t) / s) V y. Few columns and many take different
 * ways. */
static void closed_form(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int64_t columns = 1; columns <= 18; columns += 17) {
        problem p = make(N, columns, .3);
        double *V = test_new(N * N, 8), w[N], top = 0;
        memcpy(V, p.K, N * N * 8);
        CHECK(krein__eigen(ctx, N, V, N, w) == KREIN_OK);
        CHECK(krein__largest_eigenvalue(ctx, N, p.K, NULL, &top) == KREIN_OK);
        CHECK(top <= w[N - 1] * (1 + 1e-12) && top > w[N - 1] * (1 - 1e-6));
        double a = 1.7 / top;
        set_steps(&p, a);
        krein_descent d = start(ctx, &p, false);
        for (int t = 0; t < 25; t++) krein__descent_step(&d);
        for (int64_t c = 0; c < columns; c++)
            for (int64_t i = 0; i < N; i++) {
                double want = 0;
                for (int64_t j = 0; j < N; j++) {
                    double dot = 0;
                    for (int64_t r = 0; r < N; r++) dot += V[j * N + r] * p.y[c * N + r];
                    want += V[j * N + i] * (1 - pow(1 - a * w[j], 25)) / w[j] * dot;
                }
                CHECK_ABS(p.beta[c * N + i], want, 1e-9);
            }
        free(V);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

static void both_modes_converge(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = make(N, 2, .12);
    double *u = test_new(N * N, 8), *x = test_new(N * 2, 8), weight[N], top;
    int64_t pivot;
    for (int64_t i = 0; i < N; i++) weight[i] = 1 + .5 * det(i, 3, 0);
    memcpy(u, p.K, N * N * 8);
    for (int64_t i = 0; i < 2 * N; i++) x[i] = p.y[i % 2 * N + i / 2];
    CHECK(krein__cholesky(ctx, N, u, N, &pivot) == KREIN_OK);
    CHECK(krein__cholesky_solve(ctx, N, u, N, 2, x, 2) == KREIN_OK);
    CHECK(krein__largest_eigenvalue(ctx, N, p.K, weight, &top) == KREIN_OK);
    for (int mode = 0; mode < 4; mode++) {
        bool sample = mode >= 2, weighted = mode % 2;
        for (int64_t i = 0; i < 2 * N; i++)
            p.step[i] = (weighted ? weight[i % N] : 1) / (sample ? 1.6 : top);
        krein_descent d = start(ctx, &p, sample);
        double before = INFINITY;
        while (d.steps < 40000 && krein__descent_residual(&d) > 1e-13) {
            for (int t = 0; t < 50; t++) krein__descent_step(&d);
            CHECK(krein__descent_residual(&d) <= before * (1 + 1e-9) + 1e-13);
            before = krein__descent_residual(&d);
        }
        CHECK(d.steps < 40000);
        for (int64_t i = 0; i < 2 * N; i++) CHECK_ABS(p.beta[i], x[i % N * 2 + i / N], 1e-8);
    }
    free(u);
    free(x);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* Rows with a step of zero have no part in it: the same as a problem without them. */
static void rows_left_out(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make(N, 1, .3), q = make(N, 1, .3);
    int64_t m = 0, row[N];
    set_steps(&p, .05);
    for (int64_t i = 0; i < N; i++) {
        if (i % 5 == 2)
            p.step[i] = 0;
        else
            row[m++] = i;
    }
    q.n = m;
    for (int64_t i = 0; i < m; i++) {
        q.y[i] = p.y[row[i]];
        for (int64_t j = 0; j < m; j++) q.K[i * m + j] = p.K[row[i] * N + row[j]];
    }
    set_steps(&q, .05);
    krein_descent a = start(ctx, &p, false), b = start(ctx, &q, false);
    for (int t = 0; t < 30; t++) krein__descent_step(&a), krein__descent_step(&b);
    for (int64_t i = 0; i < m; i++) CHECK_ABS(p.beta[row[i]], q.beta[i], 1e-12);
    for (int64_t i = 0; i < N; i++) {
        double f = 0;
        for (int64_t j = 0; j < m; j++) f += p.K[i * N + row[j]] * q.beta[j];
        CHECK_ABS(p.fit[i], f, 1e-12);
    }
    drop(&p);
    drop(&q);
    krein_ctx_destroy(ctx);
}

/* ---- the learner ---------------------------------------------------------- */

enum { ROWS = 240, TEST = 300, D = 2 };

static krein_data *rows_of(krein_ctx *ctx, int64_t n, double s, bool classes, bool weighted) {
    static float x[ROWS + TEST][D];
    static double y[ROWS + TEST], weight[ROWS + TEST];
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++) x[i][j] = (float)(2 * det(i, j, s));
        double f = sin(2 * (double)x[i][0]) + (double)x[i][1] + .3 * det(i, 11, s);
        y[i] = classes ? floor(fmin(2, fmax(0, f + 1.5))) : 10 + 5 * f;
        weight[i] = 1 + .5 * det(i, 5, s);
    }
    CHECK(krein_data_from_dense(ctx, n, D, &x[0][0], D, y, weighted ? weight : NULL, &o, &data) ==
          KREIN_OK);
    return data;
}
static krein_train_options options_of(const char *learner) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.learner = learner;
    o.kernel = "gaussian(sigma=0.5)";
    return o;
}
/* Test metrics; model may be NULL. */
static krein_metrics score(krein_ctx *ctx, const char *learner, bool classes, bool weighted,
                           krein_report *r, krein_model **model) {
    krein_data *a = rows_of(ctx, ROWS, .2, classes, weighted);
    krein_train_options o = options_of(learner);
    krein_model *m = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    krein_status st = krein_train(ctx, a, &o, r, &m);
    krein_data_close(a);
    krein_data *b = rows_of(ctx, TEST, 4.4, classes, false);
    if (st == KREIN_OK) st = krein_evaluate(ctx, m, b, &metrics);
    if (st != KREIN_OK) printf("%s: %s\n", learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(b);
    if (model)
        *model = m;
    else
        krein_model_destroy(m);
    return metrics;
}

static void learner_learns(void) {
    krein_ctx *ctx = test_ctx(2);
    static const char *const modes[] = {"kgd", "kgd(mode=sample)"};
    for (int classes = 0; classes < 2; classes++) {
        krein_report r = KREIN_SIZED(krein_report);
        krein_metrics ridge = score(ctx, "krr", classes, false, &r, NULL);
        krein_report_clear(ctx, &r);
        for (int k = 0; k < 4; k++) {
            krein_metrics m = score(ctx, modes[k % 2], classes, k / 2, &r, NULL);
            if (classes) CHECK(m.error < ridge.error + .05 && m.error < .25);
            if (!classes) CHECK(m.rmse < 1.15 * ridge.rmse && m.r2 > .8);
            double held = classes ? m.error : m.rmse;
            CHECK(r.loo > .6 * held && r.loo < 1.6 * held);
            CHECK_HAS(r.learner, "steps=");
            CHECK(isnan(r.lambda) && strcmp(r.map, "exact") == 0);
            krein_report_clear(ctx, &r);
            krein_metrics_clear(ctx, &m);
        }
        krein_metrics_clear(ctx, &ridge);
    }
    krein_ctx_destroy(ctx);
}

/* The spec of the report makes the same model, on any number of threads; files keep it. */
static void same_again(void) {
    static const char *const modes[] = {"kgd", "kgd(mode=sample)"};
    for (int k = 0; k < 2; k++) {
        test_bytes file[3];
        char spec[200];
        snprintf(spec, sizeof spec, "%s", modes[k]);
        for (int run = 0; run < 3; run++) {
            krein_ctx *ctx = test_ctx(run == 1 ? 2 : 1);
            krein_report r = KREIN_SIZED(krein_report);
            krein_model *model = NULL;
            krein_metrics m = score(ctx, spec, false, true, &r, &model);
            CHECK(krein_model_save(ctx, model, test_path("m.krein")) == KREIN_OK);
            if (run > 0) CHECK(strcmp(spec, r.learner) == 0 || run == 1);
            snprintf(spec, sizeof spec, "%s", run == 0 ? modes[k] : r.learner);
            file[run] = test_slurp(test_path("m.krein"));
            krein_metrics_clear(ctx, &m);
            krein_model_destroy(model);
            krein_report_clear(ctx, &r);
            krein_ctx_destroy(ctx);
        }
        CHECK(test_same(file[0], file[1]) && test_same(file[0], file[2]));
        for (int run = 0; run < 3; run++) free(file[run].at);
    }
}

static void refused(krein_train_options o, krein_status status, const char *what,
                    const char *way_out) {
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = rows_of(ctx, ROWS, .2, false, false);
    krein_model *m = NULL;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == status);
    CHECK_HAS(krein_message(ctx), what);
    CHECK_HAS(krein_message(ctx), way_out);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}
static void bad_input(void) {
    krein_train_options o = options_of("kgd");
    refused(options_of("kgd(rate=0.5)"), KREIN_EARG, "must be below", "left out");
    refused(options_of("kgd(rate=2, mode=sample)"), KREIN_EARG, "must be below 2", "left out");
    refused(options_of("kgd(steps=0)"), KREIN_ESPEC, "steps", "1");
    o.map = "orf";
    refused(o, KREIN_ESPEC, "orf", "`map=exact`");
    o = options_of("kgd");
    o.kernel = "gaussian(sigma=0.5) - gaussian(sigma=1)";
    refused(o, KREIN_ESPEC, "negative eigenvalues", "`learner=krr`");
    o = options_of("kgd");
    o.lambda = .1;
    refused(o, KREIN_EARG, "`lambda`", "steps=N");
    o = options_of("kgd");
    o.max_exact = 100;
    refused(o, KREIN_ESPEC, "too large", "`max_exact`");
}

static void memory(void) {
    static test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    krein_train_options o = options_of("kgd");
    krein_data *data = rows_of(ctx, 60, .2, true, false);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_model *model = NULL;
        krein_status st = krein_train(ctx, data, &o, NULL, &model);
        CHECK((st == KREIN_OK) == !test_has_failed(&m));
        krein_model_destroy(model);
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    /* The plan is a bound. */
    for (int indefinite = 0; indefinite < 2; indefinite++) {
        ctx = test_ctx(2);
        data = rows_of(ctx, ROWS, .2, true, false);
        krein_report r = KREIN_SIZED(krein_report);
        krein_model *model = NULL;
        if (indefinite) o.kernel = "2*gaussian(sigma=0.5) - gaussian(sigma=0.5)";
        krein_status st = krein_train(ctx, data, &o, &r, &model);
        CHECK(st == KREIN_OK || indefinite);
        if (st == KREIN_OK) CHECK(atomic_load(&ctx->peak) <= r.bytes_peak);
        krein_report_clear(ctx, &r);
        krein_model_destroy(model);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(reference_values);
    RUN(closed_form);
    RUN(both_modes_converge);
    RUN(rows_left_out);
    RUN(learner_learns);
    RUN(same_again);
    RUN(bad_input);
    RUN(memory);
    return DONE();
}
