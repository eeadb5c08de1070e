/* test_time_limit.c -- a training with a time limit ends with a usable model or a refusal.
 *
 * The clock is this file's own: it goes on by `tick` each time it is asked, so that nothing here
 * depends on the machine. A product that measures the speed takes one tick. */
#include "model/model.h"
#include "train.h"

static double now = 1000, tick, slowness = 1e-3;

double krein__clock(void) { return now += tick; }

/* Trains within so many seconds, on a machine of that slowness. */
static krein_status train(krein_ctx *ctx, const rows *r, krein_task task, krein_train_options o,
                          double limit, krein_report *report, krein_model **m) {
    krein_data *data = open_rows(ctx, r, NULL, task);
    o.time_limit = limit;
    tick = limit > 0 ? slowness : 0;
    krein_status st = krein_train(ctx, data, &o, report, m);
    tick = 0;
    CHECK(ctx->deadline == 0 && ctx->finish == 0); /* the context is free again */
    krein_data_close(data);
    return st;
}

static krein_train_options gaussian(const char *learner) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernel = "gaussian(sigma=2)";
    o.holdout = 0.25;
    return o;
}

static void reading(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(400, 1, 1);
    krein_train_options o = gaussian("krr");
    const char *path = write_rows("limit.csv", &r);
    krein_data *data = NULL;
    krein_model *m = NULL;
    CHECK(krein_data_open(ctx, path, NULL, &data) == KREIN_OK);
    o.time_limit = 1;
    tick = 10;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_ETIME && !m);
    tick = 0;
    CHECK_HAS(krein_message(ctx), "`time_limit` passed in the first pass");
    CHECK_HAS(krein_message(ctx), "rows");
    CHECK(ctx->deadline == 0 && ctx->finish == 0);
    o.time_limit = 0;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK && m);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* With time enough nothing changes. */
static void plenty(void) {
    static const char *const learner[] = {"krr", "svr", "kgd", "askl(D=16, epochs=3)"};
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(200, 1, 2);
    for (int k = 0; k < 4; k++) {
        krein_train_options o = gaussian(learner[k]);
        krein_model *one = NULL, *two = NULL;
        o.kernel = "gaussian";
        CHECK(train(ctx, &r, KREIN_TASK_AUTO, o, 0, NULL, &one) == KREIN_OK);
        CHECK(train(ctx, &r, KREIN_TASK_AUTO, o, 1e6, NULL, &two) == KREIN_OK);
        CHECK(one && two && one->map->R == two->map->R);
        for (int64_t i = 0; one && two && i < one->map->R; i++) CHECK(one->w[i] == two->w[i]);
        krein_model_destroy(one);
        krein_model_destroy(two);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* The kernel matrix gives way to features, fewer on a slower machine. */
static void fewer_features(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = friedman(4000, 1, 3);
    int64_t before = INT64_MAX;
    for (int k = 0; k < 2; k++) {
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        memset(&log, 0, sizeof log);
        slowness = k ? 4e-3 : 1e-3;
        krein_status st = train(ctx, &r, KREIN_TASK_AUTO, gaussian("krr"), 0.4, &report, &m);
        slowness = 1e-3;
        CHECK_ELSE(st == KREIN_OK, "%s", krein_message(ctx));
        CHECK_HAS(log.text, "instead of exact");
        CHECK(report.D >= 64 && report.D < before);
        CHECK(report.test && report.test->r2 > 0.8);
        before = report.D;
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* A net ends in the middle of its epochs, with its rate down; the weights are solved for where that
 * can be done, else they are those of the net. */
static void nets(void) {
    static const struct {
        const char *learner;
        double limit;
        bool refit;
    } all[] = {{"askl(D=64, epochs=1000000, rate=0.02)", 3, true},
               {"askl(D=64, epochs=1000000, rate=0.02, refit=no)", 3, false}};
    rows r = friedman(800, .1, 3);
    for (int k = 0; k < 2; k++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        double before = now;
        krein_status st = train(ctx, &r, KREIN_TASK_REGRESSION, gaussian(all[k].learner),
                                all[k].limit, &report, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", all[k].learner, krein_message(ctx));
        CHECK_HAS(log.text, "askl: time limit: best of");
        CHECK(now - before < 1.2 * all[k].limit + 1);
        CHECK(isfinite(report.refit) == all[k].refit);
        if (report.test)
            CHECK_ELSE(report.test->r2 > 0.9, "%s: r2 %g\n", all[k].learner, report.test->r2);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* Learners that are not done leave ridge regression on few features. */
static void reserve(void) {
    static const char *const learner[] = {"svm", "svm(multi=crammer)", "svm(multi=ovo)", "logistic",
                                          "dckrr"};
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = rings(1200, 3, 4);
    for (int k = 0; k < 5; k++) {
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        memset(&log, 0, sizeof log);
        krein_status st =
            train(ctx, &r, KREIN_TASK_CLASSIFICATION, gaussian(learner[k]), 0.05, &report, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s", learner[k], krein_message(ctx));
        CHECK_HAS(log.text, "time limit: ");
        CHECK(report.test && report.test->error < 0.2); /* most rows are of one class: 0.5 */
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* What was asked for stays, and is refused where there is no time for it. */
static void asked(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(1200, 2, 5);
    static const struct {
        const char *learner, *map;
        double limit;
    } all[] = {{"krr", "rff(D=2000, phase=no)", 0.001},
               {"krr", "nystrom(D=900, landmarks=uniform, bits=32)", 0.001},
               {"svm(tol=1e-9)", "rff(D=200, phase=no)", 0.02},
               {"svm(tol=1e-9, multi=crammer)", "orf(D=64)", 0.2},
               {"krr", "exact", 0.05},
               {"logistic", "orf(D=64)", 0.01}};
    for (int k = 0; k < 6; k++) {
        krein_train_options o = gaussian(all[k].learner);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.map = all[k].map;
        krein_status st = train(ctx, &r, KREIN_TASK_CLASSIFICATION, o, all[k].limit, &report, &m);
        CHECK(st == KREIN_OK || st == KREIN_ETIME);
        CHECK((st == KREIN_OK) == (m != NULL));
        if (k == 0) CHECK(st == KREIN_ETIME);
        if (st == KREIN_ETIME) CHECK_HAS(krein_message(ctx), "`time_limit`");
        if (st == KREIN_ETIME) CHECK_HAS(krein_message(ctx), "leave out `map`");
        if (st == KREIN_OK) CHECK_HAS(report.map, all[k].map);
        if (st == KREIN_OK) CHECK(!strncmp(report.learner, all[k].learner, 3));
        if (st == KREIN_OK) CHECK(report.test->error < 0.2);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* A search without time leaves the median distance; so does the default model. */
static void no_choice(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = friedman(600, 1, 6);
    for (int k = 0; k < 2; k++) {
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        krein_train_options o = gaussian("krr");
        o.kernel = k ? NULL : "gaussian";
        memset(&log, 0, sizeof log);
        krein_status st = train(ctx, &r, KREIN_TASK_AUTO, o, 1e-4, &report, &m);
        CHECK_ELSE(st == KREIN_OK || st == KREIN_ETIME, "%s", krein_message(ctx));
        if (st == KREIN_OK) CHECK(report.test && report.test->r2 > 0.5);
        if (st == KREIN_ETIME) CHECK_HAS(krein_message(ctx), "`time_limit`");
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* More rows than there is time for, even with few features. */
static void too_many_rows(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(3000, 1, 7);
    krein_train_options o = gaussian("krr");
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_model *m = NULL;
    o.time_limit = 0.1;
    tick = 0.05; /* slow enough that a product takes half of the limit */
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_ETIME && !m);
    tick = 0;
    CHECK_HAS(krein_message(ctx), "`time_limit`");
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void memory_may_fail(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = rings(60, 3, 8);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_train_options o = gaussian("svm");
    o.holdout = 0;
    o.time_limit = 1e-4;
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_model *m = NULL;
        tick = 1e-4;
        krein_status st = krein_train(ctx, data, &o, NULL, &m);
        tick = 0;
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
    }
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(reading);
    RUN(plenty);
    RUN(fewer_features);
    RUN(reserve);
    RUN(nets);
    RUN(asked);
    RUN(no_choice);
    RUN(too_many_rows);
    RUN(memory_may_fail);
    return DONE();
}
