/* test_pcg_learner.c -- krr(solver=pcg) beside krr(solver=direct): models, choice of lambda,
 * memory. */
#include "train.h"

#include "model/model.h"

typedef struct fit {
    krein_status st;
    krein_report report;
    krein_model *model;
    test_bytes bytes;
} fit;

static fit train(krein_ctx *ctx, krein_data *data, const krein_train_options *o) {
    fit f = {.report = KREIN_SIZED(krein_report)};
    f.st = krein_train(ctx, data, o, &f.report, &f.model);
    if (f.st != KREIN_OK) printf("%s\n", krein_message(ctx));
    f.bytes = test_model_bytes(ctx, f.model);
    krein_data_close(data);
    return f;
}

static void drop_fit(krein_ctx *ctx, fit *f) {
    if (f->st == KREIN_OK) krein_report_clear(ctx, &f->report);
    krein_model_destroy(f->model);
    free(f->bytes.at);
}

/* As with normal equations: numbers and classes, maps with a mix, fewer rows than features; the
 * model again from its learner and lambda. */
static void as_direct(void) {
    static const struct {
        const char *map;
        int classes;
        int64_t n;
    } all[] = {{"orf(D=200)", 0, 600},
               {"rff(D=120)", 3, 500},
               {"nystrom(D=60)", 0, 400},
               {"orf(D=400)", 0, 200},
               {"gorf(D=100)", 2, 300}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        rows r = all[k].classes ? rings(all[k].n, all[k].classes, 3) : friedman(all[k].n, 1, 4);
        krein_train_options o = gaussian_options("krr(solver=direct)", all[k].map);
        fit direct = train(ctx, from_memory(ctx, &r), &o);
        o.learner = "krr(solver=pcg)";
        fit chosen = train(ctx, from_memory(ctx, &r), &o);
        CHECK_HAS(direct.report.learner, "direct");
        CHECK_HAS(chosen.report.learner, "pcg");
        CHECK(chosen.report.folds == 0); /* exact leave-one-out */
        CHECK_ABS(chosen.report.loo, direct.report.loo, .02);
        o.lambda = direct.report.lambda;
        fit same = train(ctx, from_memory(ctx, &r), &o);
        if (all[k].classes)
            CHECK_ABS(same.report.test->error, direct.report.test->error, 1e-9);
        else
            CHECK_REL(same.report.test->rmse, direct.report.test->rmse, 1e-4);
        o.lambda = chosen.report.lambda;
        o.learner = chosen.report.learner;
        fit again = train(ctx, from_memory(ctx, &r), &o);
        free(chosen.bytes.at);
        chosen.bytes = test_model_bytes(ctx, chosen.model);
        CHECK(test_same_model(again.bytes, chosen.bytes));
        drop_fit(ctx, &direct);
        drop_fit(ctx, &chosen);
        drop_fit(ctx, &same);
        drop_fit(ctx, &again);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* Many features, preconditioned by a Cholesky factor: as with normal equations, which stay the
 * default for so few rows. */
static void many_features(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(6000, 1, 12);
    krein_train_options o = gaussian_options("krr(solver=direct)", "orf(D=1024)");
    o.lambda = 1e-5;
    fit direct = train(ctx, from_memory(ctx, &r), &o);
    o.learner = "krr(solver=pcg)";
    fit same = train(ctx, from_memory(ctx, &r), &o);
    CHECK_REL(same.report.test->rmse, direct.report.test->rmse, 1e-5);
    o.learner = "krr";
    fit own = train(ctx, from_memory(ctx, &r), &o);
    CHECK(!strstr(own.report.learner, "pcg"));
    drop_fit(ctx, &direct);
    drop_fit(ctx, &same);
    drop_fit(ctx, &own);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Features of many bytes are kept in 16 bits: less memory than in 32, the model of normal
 * equations, and the same bytes on any number of threads. */
static void large_features(void) {
    enum { ROWS = 8300, FEATURES = 2048 };
    rows r = friedman(ROWS, 1, 13);
    krein_train_options o = gaussian_options("krr(solver=pcg)", "orf(D=2048)");
    o.lambda = 1e-5;
    double whole = 4.0 * ROWS * FEATURES, factor = 24.0 * FEATURES * FEATURES;
    krein_ctx *ctx = test_ctx(2), *one = test_ctx(1), *planned = test_ctx(2);
    krein_data *data = from_memory(planned, &r);
    krein_report plan = KREIN_SIZED(krein_report);
    CHECK(krein_plan(planned, data, &o, &plan) == KREIN_OK && plan.fits);
    fit kept = train(ctx, from_memory(ctx, &r), &o), same = train(one, from_memory(one, &r), &o);
    CHECK((double)krein_ctx_peak_bytes(ctx) < .6 * whole + factor);
    CHECK(krein_ctx_peak_bytes(ctx) <= plan.bytes_peak);
    krein_report_clear(planned, &plan);
    krein_data_close(data);
    krein_ctx_destroy(planned);
    CHECK(test_same_model(kept.bytes, same.bytes));
    o.learner = "krr(solver=direct)";
    fit direct = train(ctx, from_memory(ctx, &r), &o);
    CHECK_REL(kept.report.test->rmse, direct.report.test->rmse, 1e-5);
    drop_fit(ctx, &kept);
    drop_fit(one, &same);
    drop_fit(ctx, &direct);
    drop(&r);
    krein_ctx_destroy(ctx);
    krein_ctx_destroy(one);
}

/* Many rows: lambda by rows held out, or by the folds that were asked for. */
static void lambda_by_held_rows(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(11200, 1, 5);
    krein_train_options o = gaussian_options("krr", "orf(D=40)");
    fit direct = train(ctx, from_memory(ctx, &r), &o);
    o.learner = "krr(solver=pcg)";
    fit held = train(ctx, from_memory(ctx, &r), &o);
    CHECK(held.report.folds == 1 && direct.report.folds == 0);
    CHECK_REL(held.report.loo, direct.report.loo, .1); /* of 840 rows: 2.5 % is their noise */
    CHECK_REL(held.report.test->rmse, direct.report.test->rmse, .02);
    drop_fit(ctx, &direct);
    drop_fit(ctx, &held);
    drop(&r);
    r = rings(600, 3, 6);
    o = gaussian_options("krr(solver=pcg)", "orf(D=50)");
    o.select = "cv(k=3)";
    fit folds = train(ctx, from_memory(ctx, &r), &o);
    CHECK(folds.report.folds == 3 && folds.report.loo < .2);
    CHECK(folds.report.test->accuracy > .8);
    drop_fit(ctx, &folds);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Threads, rows from a file (kept or streamed), and features made again change no byte. */
static void same_model(void) {
    rows r = friedman(2500, 1, 7);
    char path[256];
    snprintf(path, sizeof path, "%s", write_rows("pcg.csv", &r));
    test_bytes first = {0};
    uint64_t peak = 0;
    for (int kind = 0; kind < 5; kind++) {
        krein_ctx *ctx =
            kind == 4 ? test_ctx_small(1, (uint64_t)8 << 20) : test_ctx(kind == 1 ? 3 : 1);
        krein_train_options o = gaussian_options("krr(solver=pcg)", "orf(D=256)");
        o.lambda = 1e-4;
        o.holdout = 0;
        ctx->keep_rows = kind == 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
        fit f = train(ctx, kind < 3 ? from_file(ctx, path) : from_memory(ctx, &r), &o);
        if (kind == 4) CHECK(krein_ctx_peak_bytes(ctx) + 2000000 < peak); /* features did not fit */
        if (kind % 3 == 0) { /* the file has fewer digits than the memory */
            free(first.at);
            first = f.bytes;
            f.bytes.at = NULL;
            peak = krein_ctx_peak_bytes(ctx);
        } else {
            CHECK(test_same(first, f.bytes));
        }
        drop_fit(ctx, &f);
        krein_ctx_destroy(ctx);
    }
    free(first.at);
    drop(&r);
}

/* D x D numbers do not fit: conjugate gradients by themselves, within the budget and the plan. The
 * same where rows are few. */
static void small_budget(void) {
    for (int few = 0; few < 2; few++) {
        uint64_t most = (uint64_t)(few ? 1000 : 70) << 20;
        krein_ctx *ctx = test_ctx_small(1, most);
        rows r = friedman(few ? 100 : 2600, 1, 8);
        krein_train_options o = gaussian_options("krr", few ? "orf(D=2600)" : "orf(D=2400)");
        krein_report plan = KREIN_SIZED(krein_report);
        o.holdout = 0;
        if (!few) o.lambda = 1e-2;
        krein_data *data = from_memory(ctx, &r);
        CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
        krein_data_close(data);
        CHECK(plan.fits && plan.bytes_peak <= most && plan.passes > 2);
        fit f = train(ctx, from_memory(ctx, &r), &o);
        CHECK(f.st == KREIN_OK && f.report.D == (few ? 2600 : 2400));
        if (f.st == KREIN_OK) CHECK_HAS(f.report.learner, "solver=pcg");
        CHECK(krein_ctx_peak_bytes(ctx) <= plan.bytes_peak);
        krein_report_clear(ctx, &plan);
        drop_fit(ctx, &f);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* plan says at least what train then holds at its peak. */
static void plan_is_a_bound(void) {
    static const struct {
        const char *map, *select;
        int64_t n;
        double lambda;
        int classes, threads;
    } all[] = {{"orf(D=300)", NULL, 2100, -1, 0, 2},     {"orf(D=300)", NULL, 2500, .01, 3, 1},
               {"orf(D=600)", "cv(k=3)", 500, -1, 0, 2}, {"nystrom(D=200)", NULL, 700, -1, 3, 1},
               {"rff(D=32)", NULL, 9000, -1, 0, 2},      {"rff(D=32)", NULL, 9000, -1, 2, 1},
               {"nystrom(D=50)", NULL, 9000, .01, 0, 1}, {"orf(D=64)", "cv(k=2)", 2500, -1, 3, 2},
               {"orf(D=1024)", NULL, 9000, -1, 0, 2},    {"orf(D=1024)", NULL, 4500, .01, 3, 1}};
    for (size_t k = test_sanitized(); k < sizeof all / sizeof *all; k++) {
        rows r = all[k].classes ? rings(all[k].n, all[k].classes, 16) : friedman(all[k].n, 1, 17);
        krein_train_options o = gaussian_options("krr(solver=pcg)", all[k].map);
        krein_ctx *one = test_ctx(all[k].threads), *two = test_ctx(all[k].threads);
        krein_data *data = from_memory(one, &r);
        krein_report plan = KREIN_SIZED(krein_report);
        o.lambda = all[k].lambda;
        o.select = all[k].select;
        o.holdout = 0;
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        fit f = train(two, from_memory(two, &r), &o);
        if (krein_ctx_peak_bytes(two) > plan.bytes_peak)
            printf("plan %d: %.3f MB planned, %.3f MB held\n", (int)k,
                   (double)plan.bytes_peak / 1048576, (double)krein_ctx_peak_bytes(two) / 1048576);
        CHECK(krein_ctx_peak_bytes(two) <= plan.bytes_peak && plan.fits);
        krein_report_clear(one, &plan);
        krein_data_close(data);
        drop_fit(two, &f);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
        drop(&r);
    }
}

static void refusals(void) {
    static const struct {
        const char *learner, *map, *word;
        double lambda;
    } all[] = {{"krr(solver=pcg, norm=krein)", "gorf(D=20)", "norm=hilbert", -1},
               {"krr(solver=pcg)", "exact", "lambda > 0", 0},
               {"krr(solver=pcg)", "orf(D=20)", "lambda > 0", 0},
               {"krr(solver=cg)", "orf(D=20)", "pcg", -1}};
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(60, 1, 9);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        krein_train_options o = gaussian_options(all[k].learner, all[k].map);
        krein_model *m = NULL;
        o.lambda = all[k].lambda;
        krein_data *data = from_memory(ctx, &r);
        CHECK(krein_train(ctx, data, &o, NULL, &m) != KREIN_OK && !m);
        CHECK_HAS(krein_message(ctx), all[k].word);
        krein_data_close(data);
    }
    /* The kernel matrix as a default gives way where the kernel is indefinite; asked for, it is
     * refused. */
    krein_train_options o = gaussian_options("krr(solver=pcg)", NULL);
    fit f = train(ctx, from_memory(ctx, &r), &o);
    CHECK(f.st == KREIN_OK && f.report.D > 0 && strstr(f.report.map, "exact"));
    drop_fit(ctx, &f);
    o.kernel = "gaussian(sigma=1)-0.5*gaussian(sigma=3)";
    f = train(ctx, from_memory(ctx, &r), &o);
    CHECK(f.st == KREIN_OK && !strstr(f.report.map, "exact"));
    drop_fit(ctx, &f);
    o.map = "exact";
    f = train(ctx, from_memory(ctx, &r), &o);
    CHECK(f.st == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "solver=direct");
    drop_fit(ctx, &f);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- interruption, memory ----------------------------------------------- */

typedef struct counter {
    int64_t calls, stop;
} counter;
static int count(void *user) {
    counter *c = user;
    return c->calls++ >= c->stop;
}

/* Rows that lambda is chosen on by folds: every part of the fit is there. */
static krein_status train_once(krein_ctx *ctx, const rows *r) {
    krein_train_options o = gaussian_options("krr(solver=pcg)", "rff(D=12)");
    krein_model *m = NULL;
    o.select = "cv(k=2)";
    o.holdout = 0;
    krein_data_options given;
    krein_data *data = NULL;
    krein_data_options_init(&given);
    krein_status st = krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, NULL, &given, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
    CHECK((st == KREIN_OK) == (m != NULL));
    krein_model_destroy(m);
    krein_data_close(data);
    return st;
}

static void stopped_anywhere(void) {
    rows r = friedman(40, 1, 10);
    counter c = {0, INT64_MAX};
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = 1;
    o.cancel = count;
    o.user = &c;
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) exit(1);
    CHECK(train_once(ctx, &r) == KREIN_OK && c.calls > 50);
    for (int64_t all = c.calls, k = 0; k < all; k += all / 20) {
        c = (counter){0, k};
        CHECK(train_once(ctx, &r) == KREIN_ECANCEL);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void failing_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = friedman(40, 1, 11);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_status st = train_once(ctx, &r);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    CHECK(test_live(&memory) == 0);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(as_direct);
    RUN(many_features);
    RUN(large_features);
    RUN(lambda_by_held_rows);
    RUN(same_model);
    RUN(small_budget);
    RUN(plan_is_a_bound);
    RUN(refusals);
    RUN(stopped_anywhere);
    RUN(failing_memory);
    return DONE();
}
