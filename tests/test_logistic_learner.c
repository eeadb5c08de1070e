/* test_logistic_learner.c -- logistic regression through training: choice of lambda, bits, memory,
 * refusals. */
#include "common.h"

#include "model/model.h"

/* ---- the learner -------------------------------------------------------- */

typedef struct rows {
    int64_t n, d;
    float *x;
    double *y, *weight;
} rows;

/* Rings around the middle. */
static rows rings(int64_t n, int classes) {
    rows r = {n, 3, test_new(3 * n, sizeof(float)), test_new(n, sizeof(double)),
              test_new(n, sizeof(double))};
    test_random_state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < 3; j++) r.x[3 * i + j] = (float)test_random();
        double a = (double)r.x[3 * i], b = (double)r.x[3 * i + 1], s = a * a + b * b;
        s += .05 * test_random();
        r.y[i] = s < .3 ? 1 : s < .8 || classes == 2 ? 2 : 5;
        r.weight[i] = 1 + .5 * test_random();
    }
    return r;
}

static void drop(rows *r) {
    free(r->x);
    free(r->y);
    free(r->weight);
}

static krein_data *open_rows(krein_ctx *ctx, const rows *r, bool weights, krein_task task) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = task;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, weights ? r->weight : NULL, &o,
                              &data) != KREIN_OK)
        exit(1);
    return data;
}

static krein_train_options logistic(const char *learner) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.learner = learner;
    o.kernel = "gaussian(sigma=1)";
    o.map = "orf(D=64)";
    return o;
}

static krein_status train(krein_ctx *ctx, const rows *r, bool weights, const krein_train_options *o,
                          krein_report *report, krein_model **m) {
    krein_data *data = open_rows(ctx, r, weights, KREIN_TASK_CLASSIFICATION);
    krein_status st = krein_train(ctx, data, o, report, m);
    krein_data_close(data);
    return st;
}

/* Threads, and a budget under which features are made again for every pass. */
static void models_have_the_same_bits(void) {
    for (int classes = 2; classes <= 3; classes++) {
        rows r = rings(20000, classes);
        krein_train_options o = logistic("logistic(lambda=1e-5, class_weights=balanced)");
        o.map = "orf(D=128)";
        test_bytes first = {0};
        bool recomputed = false;
        for (int run = 0; run < 4; run++) {
            krein_model *m = NULL;
            krein_ctx *ctx =
                test_ctx_small(1 + run % 2, run < 2 ? (uint64_t)1 << 30 : (uint64_t)12 << 20);
            krein_status st = train(ctx, &r, true, &o, NULL, &m);
            CHECK(st == KREIN_OK);
            if (st == KREIN_OK) {
                test_bytes bytes = test_model_bytes(ctx, m);
                recomputed |= krein_ctx_peak_bytes(ctx) < 4 * 20000 * 128;
                if (run == 0)
                    first = bytes;
                else {
                    CHECK(test_same(first, bytes));
                    free(bytes.at);
                }
            }
            krein_model_destroy(m);
            krein_ctx_destroy(ctx);
        }
        CHECK(recomputed);
        free(first.at);
        drop(&r);
    }
}

/* What was chosen, given back, is the same model; it is good, and has probabilities. */
static void choice(void) {
    for (int classes = 2; classes <= 3; classes++) {
        krein_ctx *ctx = test_ctx(2);
        int64_t n = test_sanitized() ? 500 : 2000;
        rows r = rings(n, classes);
        double bound = classes == 2 ? .04 : .08; /* and three standard errors */
        bound += 3 * sqrt(bound * (1 - bound) / (double)n);
        krein_train_options o = logistic("logistic");
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL, *again = NULL;
        krein_model_info info = KREIN_SIZED(krein_model_info);
        o.probabilities = true;
        CHECK(train(ctx, &r, false, &o, &report, &m) == KREIN_OK);
        if (!m) exit(1);
        CHECK(report.lambda > 0 && report.loo < bound);
        CHECK_HAS(report.learner, "logistic(lambda=");
        krein_model_describe(m, &info);
        CHECK(info.probabilities && m->k == (classes == 2 ? 1 : 3));
        for (int64_t c = 0; c < m->k; c++)
            CHECK(m->calibration.slope[c] == 1 && m->calibration.shift[c] == 0);
        o.learner = report.learner;
        o.lambda = report.lambda;
        CHECK(train(ctx, &r, false, &o, NULL, &again) == KREIN_OK);
        CHECK(m->path.n > 0 && again->path.n == 0);
        test_bytes a = test_model_bytes(ctx, m), b = test_model_bytes(ctx, again);
        CHECK(test_same_model(a, b));
        free(a.at), free(b.at);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_model_destroy(again);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

static void plan_bounds_the_memory(void) {
    static const struct {
        const char *learner, *map;
        int classes, threads;
    } all[] = {{"logistic", "orf(D=64)", 2, 1},
               {"logistic", "nystrom(D=80)", 3, 2},
               {"logistic(lambda=1e-4)", "orf(D=300)", 3, 2},
               {"logistic(lambda=1e-4)", "nystrom(D=200)", 2, 1},
               {"logistic", "rff(D=100)", 3, 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_ctx *one = test_ctx(all[i].threads), *two = test_ctx(all[i].threads);
        rows r = rings(i < 2 ? 2500 : 900, all[i].classes);
        krein_train_options o = logistic(all[i].learner);
        krein_report plan = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.map = all[i].map;
        krein_data *data = open_rows(one, &r, false, KREIN_TASK_CLASSIFICATION);
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        CHECK(train(two, &r, false, &o, NULL, &m) == KREIN_OK);
        CHECK(krein_ctx_peak_bytes(two) <= plan.bytes_peak);
        CHECK(plan.bytes_peak < 4 * krein_ctx_peak_bytes(two));
        krein_report_clear(one, &plan);
        krein_model_destroy(m);
        krein_data_close(data);
        drop(&r);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
    }
}

static void refuse(const rows *r, krein_train_options o, krein_task task, krein_status want,
                   const char *part) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    krein_data *data = open_rows(ctx, r, true, task);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == want);
    CHECK_HAS(krein_message(ctx), part);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

static void refusals(void) {
    rows r = rings(60, 2);
    krein_train_options o = logistic("logistic");
    const krein_task classes = KREIN_TASK_CLASSIFICATION;
    o.map = "exact";
    refuse(&r, o, classes, KREIN_EARG, "`map=nystrom`");
    o = logistic("logistic");
    refuse(&r, o, KREIN_TASK_REGRESSION, KREIN_EDATA, "is for classification");
    o.lambda = 0;
    refuse(&r, o, classes, KREIN_EARG, "lambda > 0");
    o = logistic("logistic(lambda=0)");
    refuse(&r, o, classes, KREIN_ESPEC, "lambda");
    o = logistic("logistic(lambda=-1)");
    refuse(&r, o, classes, KREIN_ESPEC, "lambda");
    o = logistic("logistic(lambda=0.1)");
    o.lambda = .2;
    refuse(&r, o, classes, KREIN_EARG, "differ");
    o = logistic("logistic(tol=0)");
    refuse(&r, o, classes, KREIN_ESPEC, "tol");
    for (int64_t i = 0; i < r.n; i++) r.weight[i] = 0;
    refuse(&r, logistic("logistic(lambda=0.1)"), classes, KREIN_EDATA, "weights are zero");
    refuse(&r, logistic("logistic"), classes, KREIN_EDATA, "weights are zero");
    for (int64_t i = 0; i < r.n; i++) r.y[i] = 1;
    refuse(&r, logistic("logistic"), classes, KREIN_EDATA, "one class only");
    drop(&r);
}

/* A class with one row trains, with lambda given and chosen. */
static void thin_classes(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = rings(300, 3);
    r.y[17] = 9;
    for (int run = 0; run < 2; run++) {
        krein_train_options o = logistic(run ? "logistic" : "logistic(lambda=1e-4)");
        krein_model *m = NULL;
        memset(&log, 0, sizeof log);
        CHECK(train(ctx, &r, false, &o, NULL, &m) == KREIN_OK);
        CHECK(m && m->k == 4 && log.warnings == 0);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void memory_fails_anywhere(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = rings(60, 3);
    krein_train_options o = logistic("logistic");
    krein_data_options d;
    o.map = "orf(D=8)";
    krein_data_options_init(&d);
    d.task = KREIN_TASK_CLASSIFICATION;
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_model *m = NULL;
        krein_status st = krein_data_from_dense(ctx, r.n, 3, r.x, 3, r.y, r.weight, &d, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
        krein_data_close(data);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Separable, nearly without regularisation: large weights, all right, no complaint. */
static void separable(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(100, 2);
    krein_train_options o = logistic("logistic(lambda=1e-9)");
    krein_model *m = NULL;
    double score[100];
    for (int64_t i = 0; i < 100; i++) {
        r.y[i] = (double)(i % 2);
        r.x[3 * i] = (float)((double)(i % 2) * 3);
    }
    CHECK(train(ctx, &r, false, &o, NULL, &m) == KREIN_OK);
    CHECK(m && krein_predict_dense(ctx, m, 100, 3, r.x, 3, score) == KREIN_OK);
    for (int64_t i = 0; i < 100; i++) CHECK(isfinite(score[i]) && (score[i] > 0) == i % 2);
    krein_model_destroy(m);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(models_have_the_same_bits);
    RUN(choice);
    RUN(plan_bounds_the_memory);
    RUN(refusals);
    RUN(thin_classes);
    RUN(memory_fails_anywhere);
    RUN(separable);
    return DONE();
}
