/* test_landmark_ridge.c -- ridge regression on kernel values at landmarks by conjugate gradients
 * (solve/precondition.c, solve/pcg.c, learn/krr_pcg.c), beside solutions in double. */
#include "train.h"

#include "num/blas.h"
#include "pipe/training.h"
#include "solve/pcg.h"

/* ---- triangular systems ------------------------------------------------- */

static void triangles(void) {
    static const int64_t orders[] = {1, 5, 256, 700};
    krein_ctx *ctx = test_ctx(2);
    test_random_state = 88172645463325252u;
    for (size_t q = 0; q < sizeof orders / sizeof *orders; q++)
        for (int64_t m = 1; m <= 9; m += 4) { /* one by one, and a GEMM */
            int64_t n = orders[q], lda = n + 3;
            double *u = test_new(n * lda, sizeof *u), *x = test_new(m * n, sizeof *x);
            double *b = test_new(m * n, sizeof *b);
            float *narrow = test_new(n * lda, sizeof *narrow), *b32 = test_new(m * n, sizeof *b32);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    u[i * lda + j] = j < i    ? NAN
                                     : j == i ? 2 + test_random() / 2
                                              : test_random() / 30;
            for (int64_t i = 0; i < m * n; i++) x[i] = test_random();
            for (int64_t i = 0; i < n * lda; i++) narrow[i] = (float)u[i];
            for (int transposed = 0; transposed < 2; transposed++) {
                memset(b, 0, (size_t)(m * n) * sizeof *b);
                for (int64_t c = 0; c < m; c++)
                    for (int64_t i = 0; i < n; i++)
                        for (int64_t j = i; j < n; j++) {
                            if (transposed)
                                b[c * n + j] += u[i * lda + j] * x[c * n + i];
                            else
                                b[c * n + i] += u[i * lda + j] * x[c * n + j];
                        }
                for (int64_t i = 0; i < m * n; i++) b32[i] = (float)b[i];
                krein__triangle_solve(ctx, transposed, n, u, lda, m, b, n);
                krein__triangle_solve32(ctx, transposed, n, narrow, lda, m, b32, n);
                double worst = 0, worst32 = 0;
                for (int64_t i = 0; i < m * n; i++) {
                    worst = fmax(worst, fabs(b[i] - x[i]));
                    worst32 = fmax(worst32, fabs((double)b32[i] - x[i]));
                }
                CHECK(worst < 1e-12);
                CHECK(worst32 < 1e-4);
            }
            free(narrow);
            free(b32);
            free(u);
            free(x);
            free(b);
        }
    krein_ctx_destroy(ctx);
}

/* ---- a problem in double ------------------------------------------------ */

/* Rows, targets and landmarks (some of the rows), a Gaussian of width sigma. */
typedef struct problem {
    int64_t n, m, k;
    rows r;
    double sigma, *y, *weight; /* n x k; n or NULL */
    double *values, *K;        /* n x m, m x m */
    float *single;             /* n x m */
} problem;

static double gaussian(const problem *p, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t a = 0; a < p->r.d; a++) {
        double t = (double)p->r.x[i * p->r.d + a] - (double)p->r.x[j * p->r.d + a];
        sum += t * t;
    }
    return exp(-sum / (2 * p->sigma * p->sigma));
}

static problem make_problem(int64_t n, int64_t m, int64_t k, double sigma, bool weighted) {
    problem p = {.n = n, .m = m, .k = k, .r = friedman(n, 1, 3), .sigma = sigma};
    p.y = test_new(n * k, sizeof *p.y);
    p.weight = weighted ? test_new(n, sizeof *p.weight) : NULL;
    p.values = test_new(n * m, sizeof *p.values);
    p.single = test_new(n * m, sizeof *p.single);
    p.K = test_new(m * m, sizeof *p.K);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k; c++)
            p.y[i * k + c] = p.r.y[i] * (c ? cos((double)i) : 1) + (double)c;
        if (weighted) p.weight[i] = i % 7 == 0 ? 0 : 1 + (double)(i % 3);
        for (int64_t j = 0; j < m; j++) {
            p.values[i * m + j] = gaussian(&p, i, j * (n / m));
            p.single[i * m + j] = (float)p.values[i * m + j];
        }
    }
    for (int64_t i = 0; i < m; i++)
        memcpy(p.K + i * m, p.values + i * (n / m) * m, (size_t)m * sizeof *p.K);
    return p;
}

static void drop_problem(problem *p) {
    drop(&p->r);
    free(p->y);
    free(p->weight);
    free(p->values);
    free(p->single);
    free(p->K);
}

/* Predictions (n x k) by normal equations in z = T^-T k; rows with held[i] >= 0 are not fitted. */
static void reference(krein_ctx *ctx, const problem *p, double lambda, const int32_t *held,
                      double *out) {
    int64_t n = p->n, m = p->m, k = p->k;
    double *t = test_new(m * m, sizeof *t), *z = test_new(n * m, sizeof *z), weight = 0;
    double *a = test_new(m * m, sizeof *a), *b = test_new(m * k, sizeof *b);
    double *mean = test_new(m, sizeof *mean), *ymean = test_new(k, sizeof *ymean);
    memcpy(t, p->K, (size_t)(m * m) * sizeof *t);
    memcpy(z, p->values, (size_t)(n * m) * sizeof *z);
    for (int64_t j = 0; j < m; j++) t[j * m + j] += 1e-12;
    CHECK(krein__cholesky(ctx, m, t, m, NULL) == KREIN_OK);
    krein__triangle_solve(ctx, true, m, t, m, n, z, m);
    for (int64_t i = 0; i < n; i++) {
        double w = held && held[i] >= 0 ? 0 : p->weight ? p->weight[i] : 1;
        weight += w;
        for (int64_t j = 0; j < m; j++) mean[j] += w * z[i * m + j];
        for (int64_t c = 0; c < k; c++) ymean[c] += w * p->y[i * k + c];
    }
    for (int64_t j = 0; j < m; j++) mean[j] /= weight;
    for (int64_t c = 0; c < k; c++) ymean[c] /= weight;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) z[i * m + j] -= mean[j];
    for (int64_t i = 0; i < n; i++) {
        double w = held && held[i] >= 0 ? 0 : p->weight ? p->weight[i] : 1;
        for (int64_t j = 0; j < m; j++) {
            double v = w * z[i * m + j] / weight;
            for (int64_t l = j; l < m; l++) a[j * m + l] += v * z[i * m + l];
            for (int64_t c = 0; c < k; c++) b[j * k + c] += v * (p->y[i * k + c] - ymean[c]);
        }
    }
    for (int64_t j = 0; j < m; j++) a[j * m + j] += lambda;
    CHECK(krein__cholesky(ctx, m, a, m, NULL) == KREIN_OK);
    CHECK(krein__cholesky_solve(ctx, m, a, m, k, b, k) == KREIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            out[i * k + c] = ymean[c];
            for (int64_t j = 0; j < m; j++) out[i * k + c] += z[i * m + j] * b[j * k + c];
        }
    void *all[] = {t, z, a, b, mean, ymean};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

typedef struct solution {
    double *w, *b, *score;
    krein_pcg_result result;
} solution;

static krein_status make_block(void *state, int64_t block, float *out) {
    const problem *p = state;
    int64_t from = block * 500, n = krein__min(500, p->n - from);
    memcpy(out, p->single + from * p->m, (size_t)(n * p->m) * sizeof *out);
    return KREIN_OK;
}

/* first: the lambda that the factors are made for before; near: they will do. */
static solution solve_by(krein_ctx *ctx, problem *p, const int32_t *held, int64_t held_rows,
                         int64_t L, const double *lambda, double first, bool kept, bool near) {
    int64_t all = L * p->k;
    solution s = {test_new(all * p->m, sizeof(double)),
                  test_new(all, sizeof(double)),
                  test_new(held_rows * all, sizeof(double)),
                  {0}};
    float *made = test_new(500 * p->m, sizeof *made);
    krein_features f = {.ctx = ctx,
                        .n = p->n,
                        .D = p->m,
                        .rows = 500,
                        .blocks = (p->n + 499) / 500,
                        .kept = kept ? p->single : NULL,
                        .made = made,
                        .at = -1,
                        .make = make_block,
                        .state = p};
    krein_pcg_rows given = {&f, p->k, p->y, p->weight, held};
    krein_basis basis = {0};
    krein_pcg_options o = {.columns = all, .seed = 1, .basis = &basis, .lambda = first};
    krein_pcg_limits limits = {3e-5, 500, 0, "test"};
    krein_pcg *pcg = NULL;
    double *K = krein__alloc(ctx, p->m * p->m, sizeof *K);
    if (!K) exit(1);
    memcpy(K, p->K, (size_t)(p->m * p->m) * sizeof *K);
    CHECK(krein__basis_make(ctx, p->m, K, 1e-7, &basis) == KREIN_OK);
    CHECK(krein__pcg_create(&given, &o, &pcg) == KREIN_OK);
    double jitter = basis.jitter;
    krein__pcg_near(pcg, near);
    CHECK(krein__pcg_solve(pcg, L, lambda, &limits, s.w, s.b, held ? s.score : NULL, &s.result) ==
          KREIN_OK);
    if (near) CHECK(basis.jitter == jitter); /* not factored again */
    krein__pcg_destroy(pcg);
    krein__basis_clear(&basis);
    free(made);
    return s;
}

static solution solve(krein_ctx *ctx, problem *p, const int32_t *held, int64_t held_rows, int64_t L,
                      const double *lambda, double first, bool kept) {
    return solve_by(ctx, p, held, held_rows, L, lambda, first, kept, false);
}

static void drop_solution(solution *s) {
    free(s->w);
    free(s->b);
    free(s->score);
}

/* The largest difference of predictions by weights w (k x m), over their deviation. */
static double difference(const problem *p, const double *w, const double *b, const double *f) {
    double worst = 0, sum = 0, square = 0;
    for (int64_t c = 0; c < p->k; c++, sum = square = 0) {
        double error = 0;
        for (int64_t i = 0; i < p->n; i++) {
            double g = b[c], at = f[i * p->k + c];
            for (int64_t j = 0; j < p->m; j++) g += p->values[i * p->m + j] * w[c * p->m + j];
            error += (g - at) * (g - at);
            sum += at;
            square += at * at;
        }
        double n = (double)p->n, variance = square / n - sum * sum / n / n;
        worst = fmax(worst, sqrt(error / n / variance));
    }
    return worst;
}

/* To 1e-4 of the deviation, at lambdas of all sizes, with weights and several outputs. */
static void as_double(void) {
    static const double lambda[] = {1e-1, 1e-3, 1e-5, 1e-7};
    krein_ctx *ctx = test_ctx(2);
    for (int weighted = 0; weighted < 2; weighted++) {
        problem p = make_problem(1500, 150, weighted ? 2 : 1, weighted ? .4 : .8, weighted);
        double *f = test_new(p.n * p.k, sizeof *f);
        for (size_t l = 0; l < sizeof lambda / sizeof *lambda; l++) {
            reference(ctx, &p, lambda[l], NULL, f);
            solution s = solve(ctx, &p, NULL, 0, 1, lambda + l, lambda[l], true);
            double off = difference(&p, s.w, s.b, f);
            if (!(off < 1e-4)) printf("lambda %g: %.2e\n", lambda[l], off);
            CHECK(off < 1e-4);
            CHECK(s.result.iterations < 60);
            drop_solution(&s);
        }
        free(f);
        drop_problem(&p);
    }
    krein_ctx_destroy(ctx);
}

/* With the factors of a lambda a decade away: what a choice needs. */
static void by_factors_nearby(void) {
    static const double lambda[] = {1e-4, 1e-6};
    krein_ctx *ctx = test_ctx(2);
    problem p = make_problem(1500, 150, 1, .8, false);
    double *f = test_new(p.n * p.k, sizeof *f);
    for (size_t l = 0; l < sizeof lambda / sizeof *lambda; l++) {
        reference(ctx, &p, lambda[l], NULL, f);
        solution s = solve_by(ctx, &p, NULL, 0, 1, lambda + l, lambda[l] / 10, true, true);
        CHECK(difference(&p, s.w, s.b, f) < 3e-3);
        CHECK(s.result.iterations < 100);
        drop_solution(&s);
    }
    free(f);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* Several lambdas at once, and scores of rows that are held out. */
static void several_lambdas(void) {
    static const double lambda[] = {1e-3, 3e-4, 1e-4};
    krein_ctx *ctx = test_ctx(2);
    problem p = make_problem(1200, 100, 1, .6, false);
    int32_t *held = test_new(p.n, sizeof *held), out = 0;
    double *f = test_new(p.n, sizeof *f);
    for (int64_t i = 0; i < p.n; i++) held[i] = i % 10 == 3 ? out++ : -1;
    solution s = solve(ctx, &p, held, out, 3, lambda, 3e-4, true);
    for (int64_t l = 0; l < 3; l++) {
        reference(ctx, &p, lambda[l], held, f);
        CHECK(difference(&p, s.w + l * p.m, s.b + l, f) < 1e-4);
        double worst = 0;
        for (int64_t i = 0; i < p.n; i++)
            if (held[i] >= 0) worst = fmax(worst, fabs(s.score[held[i] * 3 + l] - f[i]));
        CHECK(worst < 1e-2); /* of a deviation of five */
    }
    drop_solution(&s);
    free(held);
    free(f);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* The bits do not depend on threads, on blocks that are made again, nor on factors made before. */
static void same_bits(void) {
    problem p = make_problem(1100, 90, 1, .5, false);
    double lambda = 1e-6;
    solution first = {0};
    for (int kind = 0; kind < 4; kind++) {
        krein_ctx *ctx = test_ctx(kind == 1 ? 3 : 1);
        solution s = solve(ctx, &p, NULL, 0, 1, &lambda, kind == 3 ? 1e-2 : lambda, kind != 2);
        if (kind == 0)
            first = s;
        else
            CHECK(memcmp(first.w, s.w, (size_t)p.m * sizeof *s.w) == 0 && first.b[0] == s.b[0]);
        if (kind > 0) drop_solution(&s);
        krein_ctx_destroy(ctx);
    }
    drop_solution(&first);
    drop_problem(&p);
}

/* Landmarks that are the same row: the factor needs a jitter, the solution is the one without. */
static void equal_landmarks(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make_problem(800, 80, 1, .5, false);
    double lambda = 1e-4, *f = test_new(p.n, sizeof *f);
    for (int64_t j = 1; j < 80; j += 2) {
        for (int64_t i = 0; i < p.n; i++) {
            p.values[i * 80 + j] = p.values[i * 80 + j - 1];
            p.single[i * 80 + j] = p.single[i * 80 + j - 1];
        }
        for (int64_t i = 0; i < 80; i++) p.K[i * 80 + j] = p.K[i * 80 + j - 1];
        memcpy(p.K + j * 80, p.K + (j - 1) * 80, 80 * sizeof *p.K);
    }
    reference(ctx, &p, lambda, NULL, f);
    solution s = solve(ctx, &p, NULL, 0, 1, &lambda, lambda, true);
    double off = difference(&p, s.w, s.b, f);
    CHECK(off < 3e-4);
    drop_solution(&s);
    free(f);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* A matrix that no jitter makes positive is refused. */
static void not_positive(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_basis b = {0};
    bool changed;
    double *K = krein__zalloc(ctx, 4, sizeof *K);
    K[0] = K[3] = 1;
    K[1] = K[2] = 3;
    CHECK(krein__basis_make(ctx, 2, K, 1e-7, &b) == KREIN_OK);
    CHECK(krein__basis_factor(&b, 1e-6, &changed) == KREIN_ENUMERIC);
    krein__basis_clear(&b);
    krein_ctx_destroy(ctx);
}

/* Every allocation may fail, and nothing is left. The lambda is so small that rows are taken beside
 * the landmarks. */
static void failing_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make_problem(200, 20, 1, .6, false);
    double lambda = 1e-7, w[20], b[1];
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_features f = {.ctx = ctx, .n = 200, .D = 20, .rows = 100, .blocks = 2, .at = -1};
        krein_pcg_rows given = {&f, 1, p.y, NULL, NULL};
        krein_basis basis = {0};
        krein_pcg_options o = {.columns = 1, .seed = 1, .basis = &basis, .lambda = 1e-2};
        krein_pcg_limits limits = {3e-5, 500, 0, "test"};
        krein_pcg_result result;
        krein_pcg *pcg = NULL;
        f.kept = p.single;
        double *K = krein__alloc(ctx, 400, sizeof *K);
        krein_status st = K ? KREIN_OK : ctx->status;
        if (K) memcpy(K, p.K, 400 * sizeof *K);
        if (K) st = krein__basis_make(ctx, 20, K, 1e-7, &basis);
        if (st == KREIN_OK) st = krein__pcg_create(&given, &o, &pcg);
        if (st == KREIN_OK) st = krein__pcg_solve(pcg, 1, &lambda, &limits, w, b, NULL, &result);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein__pcg_destroy(pcg);
        krein__basis_clear(&basis);
    }
    CHECK(test_live(&memory) == 0);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* ---- the learner -------------------------------------------------------- */

/* All rows are landmarks: kernel ridge regression itself, which map=exact solves in double. */
static void as_exact(void) {
    for (int classes = 0; classes < 2; classes++) {
        krein_ctx *ctx = test_ctx(2);
        rows r = classes ? rings(1400, 3, 4) : friedman(1400, 1, 4); /* 1,024 landmarks and more */
        for (double lambda = test_sanitized() ? 1e-4 : 1e-2; lambda > 1e-6; lambda *= .01) {
            krein_report report[2] = {KREIN_SIZED(krein_report), KREIN_SIZED(krein_report)};
            for (int k = 0; k < 2; k++) {
                krein_model *m = NULL;
                krein_data *data = from_memory(ctx, &r);
                krein_train_options o = gaussian_options("krr", k ? "nystrom(D=1400)" : "exact");
                o.lambda = lambda;
                CHECK(krein_train(ctx, data, &o, report + k, &m) == KREIN_OK);
                krein_model_destroy(m);
                krein_data_close(data);
            }
            CHECK_HAS(report[1].learner, "pcg");
            CHECK(report[1].D == 1050);
            if (classes)
                CHECK_ABS(report[1].test->error, report[0].test->error, .003);
            else
                CHECK_REL(report[1].test->rmse, report[0].test->rmse, 1e-4);
            for (int k = 0; k < 2; k++) krein_report_clear(ctx, report + k);
        }
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* A training whose lambda starts where the caller says; the lambda that comes out. */
static double lambda_from(krein_ctx *ctx, const rows *r, double start) {
    krein_train_options o = gaussian_options("krr(solver=pcg)", "nystrom(D=1024)");
    krein_training t = {0};
    krein_need need;
    double lambda = NAN;
    o.holdout = 0;
    krein_data *data = from_memory(ctx, r);
    krein_status st = krein__training_begin(ctx, &o, false, &t);
    if (st == KREIN_OK) st = krein__training_scan(&t, data, NULL, false);
    if (st == KREIN_OK) st = krein__training_meet(&t);
    if (st == KREIN_OK) st = krein__training_map(&t, &need);
    if (st == KREIN_OK) st = krein__training_choose(&t);
    krein_job *job = &t.pipe.job;
    krein_model *m = job->model;
    if (st == KREIN_OK) {
        krein__pipe_settle(&t.pipe);
        m->map->unmixed = krein__training_raw(&t, m->map);
        CHECK(m->map->unmixed);
        job->lambda_start = start;
        st = krein__pipe_fit(&t.pipe);
    }
    if (st == KREIN_OK) {
        m->w = krein__zalloc(ctx, m->map->R * m->k, sizeof *m->w);
        m->intercept = krein__zalloc(ctx, m->k, sizeof *m->intercept);
        st = t.learner->fit(job, &t.values);
        lambda = job->lambda;
        CHECK(job->cv_folds == 1 && job->loo > .5 && job->loo < 2);
    }
    CHECK(st == KREIN_OK);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    krein__training_end(&t);
    krein_data_close(data);
    return lambda;
}

/* From a start that is near, far above or far below: about the lambda of the whole path. */
static void lambda_starts(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(2200, 1, 5); /* more than the 2,048 of a preconditioner */
    double best = lambda_from(ctx, &r, 0);
    static const double factor[] = {.5, 200, .004};
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
        double found = lambda_from(ctx, &r, best * factor[i]);
        if (!(found > best / 10 && found < best * 10)) printf("%g, not %g\n", found, best);
        CHECK(found > best / 10 && found < best * 10);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* plan says at least what train then holds at its peak; the model is the same again from what was
 * chosen, on any number of threads, and from rows that are streamed. small: of lambda. */
static void again(bool small) {
    rows r = friedman(8300, 1, 6); /* more than 8,192: lambda by rows held out */
    test_bytes first = {0};
    double lambda = -1;
    for (int64_t i = 0; small && i < r.n; i++) r.y[i] = sin(r.x[i * r.d]); /* nothing to smooth */
    for (int kind = 0; kind < 3; kind++) {
        krein_ctx *one = test_ctx(2), *two = test_ctx(kind == 1 ? 1 : 2);
        krein_train_options o = gaussian_options("krr", "nystrom(D=1024)");
        krein_report plan = KREIN_SIZED(krein_report), report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.holdout = 0;
        o.lambda = lambda;
        krein_data *data = from_memory(one, &r);
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        krein_data_close(data);
        two->keep_rows = kind == 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
        data = from_memory(two, &r);
        CHECK(krein_train(two, data, &o, &report, &m) == KREIN_OK);
        if (krein_ctx_peak_bytes(two) > plan.bytes_peak && kind != 1)
            printf("%.3f MB planned, %.3f MB held\n", (double)plan.bytes_peak / 1048576,
                   (double)krein_ctx_peak_bytes(two) / 1048576);
        CHECK(kind == 1 || krein_ctx_peak_bytes(two) <= plan.bytes_peak);
        lambda = report.lambda;
        CHECK(!small || lambda < 1e-5); /* the preconditioner has rows beside the landmarks */
        test_bytes bytes = test_model_bytes(two, m);
        if (kind == 0)
            first = bytes;
        else
            CHECK(test_same_model(first, bytes));
        if (kind > 0) free(bytes.at);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_report_clear(one, &plan);
        krein_report_clear(two, &report);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
    }
    free(first.at);
    drop(&r);
}
static void plan_and_again(void) {
    again(false);
    again(true);
}

/* Indefinite kernels, few landmarks and lambda = 0 keep the mix. */
static void others_keep_the_mix(void) {
    static const struct {
        const char *kernel, *map;
        double lambda;
    } all[] = {{"gaussian(sigma=1) - 0.5*gaussian(sigma=3)", "nystrom(D=1024)", 1e-3},
               {"gaussian(sigma=1)", "nystrom(D=200)", 1e-3}};
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(1100, 1, 7);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        krein_train_options o = gaussian_options("krr", all[k].map);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.kernel = all[k].kernel;
        o.lambda = all[k].lambda;
        krein_data *data = from_memory(ctx, &r);
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        CHECK(m && m->map->mix && !strstr(report.learner, "pcg"));
        krein_model_destroy(m);
        krein_data_close(data);
        krein_report_clear(ctx, &report);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(triangles);
    RUN(as_double);
    RUN(by_factors_nearby);
    RUN(several_lambdas);
    RUN(same_bits);
    RUN(equal_landmarks);
    RUN(not_positive);
    RUN(failing_memory);
    RUN(as_exact);
    RUN(lambda_starts);
    RUN(plan_and_again);
    RUN(others_keep_the_mix);
    return DONE();
}
