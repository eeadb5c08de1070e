/* test_budget.c -- what training asks for and is allowed: numbers of features, refusals, plan and
 * budget, cancelling, failing memory. */
#include "train.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---- sizes -------------------------------------------------------------- */

static void numbers_of_features(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = friedman(300, 1, 13);
    static const struct {
        const char *map;
        int64_t features, D;
    } all[] = {{"rff(D=101)", 0, 100},          {"orf(D=33)", 0, 32},
               {"rff(D=33, phase=yes)", 0, 33}, {"rff", 50, 50},
               {"nystrom(D=40)", 0, -40},       {"nystrom(D=40)", 30, -30},
               {"nystrom(D=5000)", 0, -300}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_model *m = NULL;
        krein_report report = KREIN_SIZED(krein_report);
        krein_train_options o = defaults();
        o.kernel = "gaussian(sigma=1.5)";
        o.map = all[k].map;
        o.features = all[k].features;
        log.warnings = 0;
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        if (all[k].D > 0)
            CHECK(report.D == all[k].D);
        else
            CHECK(report.D > 0 && report.D <= -all[k].D);
        CHECK((log.warnings > 0) == (k == 6));
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK_HAS(log.text, "300 rows");
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Refused with this status and these words, before anything is made. */
static void refused(const krein_train_options *o, int64_t n, krein_status want, const char *word,
                    const char *other) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = friedman(n, 1, 14);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_model *m = (krein_model *)ctx;
    krein_report report = KREIN_SIZED(krein_report);
    krein_status st = krein_train(ctx, data, o, &report, &m);
    if (st != want) printf("status %d: %s\n", (int)st, krein_message(ctx));
    CHECK(st == want && !m);
    if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), word);
    if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), other);
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void what_is_refused(void) {
    krein_train_options o = defaults();
    o.map = "exact";
    o.max_exact = 100;
    refused(&o, 200, KREIN_EARG, "`max_exact`", "nystrom");
    o = defaults();
    o.kernel = "gaussian + laplacian + cauchy";
    refused(&o, 50, KREIN_ESPEC, "3 free parameters", "at most two");
    o = defaults();
    o.kernel = "gausian";
    refused(&o, 50, KREIN_ESPEC, "gausian", "gaussian");
    o = defaults();
    o.map = "orf";
    o.kernel = "poly";
    refused(&o, 50, KREIN_ESPEC, "orf", "explicit");
    o = defaults();
    o.map = "rff(D=0)";
    refused(&o, 50, KREIN_ESPEC, "D", "rff");
    o = defaults();
    o.learner = "nosuch";
    refused(&o, 50, KREIN_ESPEC, "nosuch", "krr");
    o = defaults();
    o.select = "nosuch";
    refused(&o, 50, KREIN_ESPEC, "nosuch", "loo");
    o = defaults();
    o.lambda = NAN;
    refused(&o, 50, KREIN_EARG, "`lambda`", "");
    o = defaults();
    o.holdout = 1;
    refused(&o, 50, KREIN_EARG, "`holdout`", "");
    o = defaults();
    o.holdout = -.1;
    refused(&o, 50, KREIN_EARG, "`holdout`", "");
    o = defaults();
    o.map = "exact";
    o.features = 10;
    refused(&o, 50, KREIN_EARG, "`features`", "exact");
    o = defaults();
    o.kernel = "gaussian(sigma=1)";
    o.map = "rff(D=300)";
    o.lambda = 0;
    refused(&o, 50, KREIN_ENUMERIC, "`lambda`", "");
}

/* ---- the budget --------------------------------------------------------- */

static void budget(void) {
    const bool few = test_sanitized(); /* less than a block of rows, half the memory */
    const uint64_t bytes = (uint64_t)(few ? 8 : 16) << 20;
    rows r = friedman(few ? 1400 : 2000, 1, 15);
    const char *const maps[] = {"orf(D=4096)", "exact",
                                few ? "nystrom(D=1300)" : "nystrom(D=1900)"};
    for (int k = 0; k < 3; k++) {
        krein_ctx *ctx = test_ctx_small(2, bytes);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_train_options o = defaults();
        krein_model *m = NULL;
        krein_report report = KREIN_SIZED(krein_report);
        o.kernel = "gaussian(sigma=2)";
        o.map = maps[k];
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_EMEMORY && !m);
        CHECK_HAS(krein_message(ctx), few ? "8.0 MB" : "16.0 MB"); /* the budget */
        CHECK_HAS(krein_message(ctx), "`max_memory`");
        CHECK_HAS(krein_message(ctx), k == 1 ? "`map=" : "`features=");
        CHECK(krein_ctx_peak_bytes(ctx) < bytes / 4); /* refused before the work */
        CHECK(krein_plan(ctx, data, &o, &report) == KREIN_OK);
        CHECK(!report.fits && report.bytes_peak > bytes && report.advice);
        /* What it advises does fit. */
        const char *at = report.advice ? strstr(report.advice, "`features=") : NULL;
        if (at) {
            char spec[60];
            snprintf(spec, sizeof spec, "%.*s(D=%d)", (int)strcspn(maps[k], "("), maps[k],
                     atoi(at + 10));
            o.map = spec;
            krein_report_clear(ctx, &report);
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            if (st != KREIN_OK) printf("%s: %s\n", spec, krein_message(ctx));
            CHECK(st == KREIN_OK);
            CHECK(krein_ctx_peak_bytes(ctx) <= bytes);
            krein_model_destroy(m);
        }
        krein_report_clear(ctx, &report);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    /* A default number of features shrinks to what fits. */
    krein_ctx *ctx = test_ctx_small(1, bytes / 2 * 3);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    o.kernel = "gaussian(sigma=2)";
    o.map = "orf";
    krein_status st = krein_train(ctx, data, &o, &report, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    CHECK(report.D > 0 && report.D < r.n);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* plan says at least what train then holds at its peak. */
static void plan_is_a_bound(void) {
    static const struct {
        const char *kernel, *map;
        int64_t n;
        double lambda, holdout;
        int classes, threads;
    } all[] = {{"gaussian(sigma=2)", "orf(D=512)", 2500, -1, 0, 0, 2},
               {"gaussian(sigma=2)", "orf(D=512)", 2500, .01, 0, 0, 1},
               {"gaussian(sigma=2)", "rff(D=301)", 2500, -1, .2, 3, 2},
               {"gaussian(sigma=2)", "nystrom(D=200)", 2500, -1, 0, 0, 1},
               {"gaussian(sigma=2)", "nystrom(D=400)", 1000, .01, 0, 2, 2},
               {"gaussian(sigma=2) + 0.5*linear*matern(sigma=3)", "auto(D=300)", 2500, -1, 0, 0, 2},
               {"gaussian(sigma=2) - 0.5*linear*tl1", "auto(D=500)", 1000, .01, 0, 3, 1},
               {"gaussian(sigma=2)", "exact", 700, -1, 0, 0, 2},
               {"gaussian(sigma=2)", "exact", 700, .01, 0, 3, 1},
               {"laplacian(sigma=3)", "exact", 500, -1, 0, 3, 2},
               {NULL, NULL, 200, -1, 0, 0, 2},
               {NULL, "orf(D=256)", 220, -1, 0, 0, 1}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int file = 0; file < 3; file++) { /* arrays; a file in memory; a file streamed */
            if (test_sanitized() && file != (int)k % 3) continue;
            rows r =
                all[k].classes ? rings(all[k].n, all[k].classes, 16) : friedman(all[k].n, 1, 17);
            krein_train_options o = defaults();
            krein_report plan = KREIN_SIZED(krein_report), report = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            o.kernel = all[k].kernel;
            o.map = all[k].map;
            o.lambda = all[k].lambda;
            o.holdout = all[k].holdout;
            char path[256];
            snprintf(path, sizeof path, "%s", write_rows("plan.csv", &r));
            krein_ctx *one = test_ctx(all[k].threads), *two = test_ctx(all[k].threads);
            one->keep_rows = two->keep_rows = file == 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
            krein_data *a = file ? from_file(one, path) : from_memory(one, &r);
            krein_data *b = file ? from_file(two, path) : from_memory(two, &r);
            CHECK(krein_plan(one, a, &o, &plan) == KREIN_OK);
            CHECK(krein_train(two, b, &o, &report, &m) == KREIN_OK);
            uint64_t peak = krein_ctx_peak_bytes(two);
            if (peak > plan.bytes_peak)
                printf("plan %d (%s, n %d, file %d): %.3f MB planned, %.3f MB held\n", (int)k,
                       all[k].map ? all[k].map : "default", (int)all[k].n, file,
                       (double)plan.bytes_peak / 1048576, (double)peak / 1048576);
            CHECK(peak <= plan.bytes_peak);
            CHECK(plan.n == report.n && plan.d == report.d && plan.task == report.task);
            if (all[k].map && strstr(all[k].map, "rff")) CHECK(plan.D == report.D);
            CHECK(plan.fits && plan.flops > 0 && plan.passes >= 1);
            krein_report_clear(one, &plan);
            krein_report_clear(two, &report);
            krein_model_destroy(m);
            krein_data_close(a);
            krein_data_close(b);
            krein_ctx_destroy(one);
            krein_ctx_destroy(two);
            drop(&r);
        }
}

/* plan, then train, on one data set: plan must leave no trace. */
static void plan_leaves_no_trace(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(200, 1, 18);
    char path[256];
    snprintf(path, sizeof path, "%s", write_rows("rows.csv", &r));
    krein_train_options o = defaults();
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL, *n = NULL;
    krein_metrics k = KREIN_SIZED(krein_metrics);
    o.kernel = "gaussian(sigma=2)";
    krein_data *a = from_file(ctx, path), *b = from_file(ctx, path);
    CHECK(krein_plan(ctx, a, &o, &report) == KREIN_OK);
    krein_report_clear(ctx, &report);
    CHECK(krein_train(ctx, a, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_train(ctx, b, &o, NULL, &n) == KREIN_OK);
    test_bytes one = test_model_bytes(ctx, m), two = test_model_bytes(ctx, n);
    CHECK(test_same(one, two));
    CHECK(krein_plan(ctx, a, &o, &report) == KREIN_OK);
    krein_report_clear(ctx, &report);
    krein_status st = krein_evaluate(ctx, m, a, &k);
    CHECK(st == KREIN_OK && k.n == 200);
    krein_metrics_clear(ctx, &k);
    free(one.at);
    free(two.at);
    krein_model_destroy(m);
    krein_model_destroy(n);
    krein_data_close(a);
    krein_data_close(b);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- cancelling, memory ------------------------------------------------- */

typedef struct watch {
    int64_t polls, stop_at;
    int64_t calls, wrong, logs;
    char last[100];
} watch;

static int poll_watch(void *user) {
    watch *w = user;
    return w->polls++ == w->stop_at;
}
static void see_progress(void *user, const char *what, double done, double total) {
    watch *w = user;
    w->calls++;
    if (!what || !*what || isnan(done) || done < 0 || (total > 0 && done > total * (1 + 1e-9))) {
        if (w->wrong++ == 0) printf("progress: %s %g of %g\n", what ? what : "(null)", done, total);
    }
    snprintf(w->last, sizeof w->last, "%s", what);
}
static void see_log(void *user, krein_log_level level, const char *text) {
    watch *w = user;
    w->logs++;
    if (!text || !*text || text[strlen(text) - 1] == '\n' || (int)level < 0 || level > 2) {
        if (w->wrong++ == 0) printf("log: %d %s\n", (int)level, text ? text : "(null)");
    }
}

static krein_ctx *watched(watch *w, test_memory *memory) {
    krein_ctx_options c;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&c);
    c.threads = 1;
    c.cancel = poll_watch;
    c.progress = see_progress;
    c.log = see_log;
    c.user = w;
    c.max_memory = (uint64_t)1 << 30;
    atomic_init(&memory->live, 0);
    atomic_init(&memory->calls, 0);
    atomic_init(&memory->fail_at, -1);
    c.memory = (krein_allocator){test_memory_alloc, test_memory_release, memory};
    if (krein_ctx_create(&c, &ctx) != KREIN_OK) exit(1);
    atomic_store(&memory->live, 0);
    return ctx;
}

static krein_status ignore_one(void *user, const krein_prediction *p) {
    (void)user;
    return p->row >= 0 ? KREIN_OK : KREIN_EARG;
}

/* Everything a program would do with a file of rows. */
static krein_status whole_run(krein_ctx *ctx, const char *path, const krein_train_options *o) {
    krein_data *data = NULL, *other = NULL;
    krein_model *m = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_metrics k = KREIN_SIZED(krein_metrics);
    krein_status st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, o, &report, &m);
    if (st == KREIN_OK) krein_report_clear(ctx, &report);
    CHECK((m != NULL) == (st == KREIN_OK));
    if (st == KREIN_OK) st = krein_data_open(ctx, path, NULL, &other);
    if (st == KREIN_OK && (st = krein_evaluate(ctx, m, other, &k)) == KREIN_OK)
        krein_metrics_clear(ctx, &k);
    if (st == KREIN_OK) st = krein_predict(ctx, m, other, ignore_one, NULL);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(other);
    return st;
}

static const struct {
    const char *kernel, *map, *select;
    double lambda, holdout;
    krein_keep keep;
    int classes;
} small[] = {{NULL, NULL, NULL, -1, 0, 0, 0},
             {"gaussian", "orf(D=8)", "cv(k=3)", -1, .2, -1, 3},
             {"gaussian", "nystrom(D=6)", "none", -1, 0, 1, 2},
             {"gaussian(sigma=1) - 0.2*gaussian(sigma=3)", "nystrom(D=6)", NULL, .01, .2, -1, 0},
             {"laplacian(sigma=3)", "rff(D=8)", NULL, -1, 0, -1, 0}};

static krein_train_options small_options(krein_ctx *ctx, size_t k, const char **path) {
    krein_train_options o = defaults();
    rows r = small[k].classes ? rings(20, small[k].classes, 19) : friedman(16, 1, 20);
    *path = write_rows("small.csv", &r);
    drop(&r);
    o.kernel = small[k].kernel;
    o.map = small[k].map;
    o.select = small[k].select;
    o.lambda = small[k].lambda;
    o.holdout = small[k].holdout;
    ctx->keep_rows = small[k].keep;
    return o;
}

static void cancelled_anywhere(void) {
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        watch w = {.stop_at = -1};
        test_memory memory;
        krein_ctx *ctx = watched(&w, &memory);
        const char *path;
        krein_train_options o = small_options(ctx, k, &path);
        CHECK(whole_run(ctx, path, &o) == KREIN_OK);
        CHECK(w.wrong == 0 && w.logs > 0 && w.calls > 0);
        int64_t all = w.polls;
        CHECK(all >= 5);
        const int64_t step = test_sanitized() ? 3 : 1;
        for (int64_t at = (int64_t)k % step; at < all; at += step) {
            w.polls = 0;
            w.stop_at = at;
            CHECK(whole_run(ctx, path, &o) == KREIN_ECANCEL);
            CHECK_HAS(krein_message(ctx), "cancelled");
            CHECK(w.polls == at + 1); /* and is not asked again */
            CHECK(test_live(&memory) == 0);
            atomic_store(&memory.live, 0);
        }
        CHECK(w.wrong == 0);
        krein_ctx_destroy(ctx);
    }
}

static void every_allocation_fails(void) {
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        const int64_t step = test_sanitized() ? 5 : 1; /* settings begin elsewhere */
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        const char *path;
        krein_train_options o = small_options(ctx, k, &path);
        int shown = 0;
        TEST_SOME_ALLOCATIONS(&memory, at, (int64_t)k % step, step) {
            krein_status st = whole_run(ctx, path, &o);
            krein_status want = test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK;
            if (st != want && shown++ < 5)
                printf("setting %d, allocation %lld: status %d %s\n", (int)k, (long long)at,
                       (int)st, krein_message(ctx));
            CHECK(st == want);
        }
        krein_ctx_destroy(ctx);
    }
}

/* A callback of predict may stop it. */
static krein_status stop_at_ten(void *user, const krein_prediction *p) {
    ++*(int *)user;
    return p->row == 10 ? KREIN_ECANCEL : KREIN_OK;
}
static void predict_is_stopped(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(60, 1, 21);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    int calls = 0;
    o.kernel = "gaussian(sigma=2)";
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_predict(ctx, m, data, stop_at_ten, &calls) == KREIN_ECANCEL);
    CHECK(calls == 11);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Many small pieces, names of columns, take no more than was counted. */
static void small_pieces(void) {
#ifdef __GLIBC__
    enum { PIECES = 20000 };
    if (test_sanitized()) SKIP("another malloc");
    krein_ctx *ctx = test_ctx(1);
    char **name = test_new(PIECES, sizeof *name);
    const struct mallinfo2 before = mallinfo2();
    for (int64_t k = 0; k < PIECES; k++) {
        char text[64] = {0};
        memset(text, 'x', (size_t)(k % 40)); /* of every length */
        name[k] = krein__strdup(ctx, text);
        CHECK(name[k] && (uintptr_t)name[k] % 64 == 0);
    }
    const struct mallinfo2 after = mallinfo2();
    const double took = (double)(after.uordblks - before.uordblks), counted = (double)ctx->held;
    CHECK(counted > 0 && took <= 1.01 * counted && counted <= 1.1 * took);
    for (int64_t k = 0; k < PIECES; k++) krein__free(ctx, name[k]);
    CHECK(ctx->held == 0);
    free(name);
    krein_ctx_destroy(ctx);
#else
    SKIP("not glibc");
#endif
}

int main(void) {
    RUN(small_pieces);
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(numbers_of_features);
    RUN(what_is_refused);
    RUN(budget);
    RUN(plan_is_a_bound);
    RUN(plan_leaves_no_trace);
    RUN(cancelled_anywhere);
    RUN(every_allocation_fails);
    RUN(predict_is_stopped);
    return DONE();
}
