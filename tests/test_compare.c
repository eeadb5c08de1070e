/* test_compare.c -- krein_compare on rows in memory: values, threads, memory, failures, bad
 * options. */
#include "common.h"

enum { SETS = 2, D = 3 };

typedef struct source {
    int64_t n[SETS];
    float *x[SETS];
    double *y[SETS];
    bool classes;
    _Atomic int64_t opened;
} source;

static source *make_source(int64_t n, bool classes) {
    source *s = test_new(1, sizeof *s);
    s->classes = classes;
    for (int k = 0; k < SETS; k++) {
        s->n[k] = n + 20 * k;
        s->x[k] = test_dense(s->n[k], D, k);
        s->y[k] = test_new(s->n[k], sizeof *s->y[k]);
        for (int64_t i = 0; i < s->n[k]; i++) {
            const float *x = s->x[k] + i * D;
            s->y[k][i] = sin(2 * (double)x[0]) + (double)(x[1] * x[2]) + 0.1 * det(i, 9, k);
            if (classes) s->y[k][i] = s->y[k][i] > 0;
        }
    }
    return s;
}

static void free_source(source *s) {
    for (int k = 0; k < SETS; k++) {
        free(s->x[k]);
        free(s->y[k]);
    }
    free(s);
}

static krein_status open_set(void *user, krein_ctx *ctx, int64_t i, krein_data **out) {
    source *s = user;
    krein_data_options o;
    krein_data_options_init(&o);
    o.task = s->classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    atomic_fetch_add(&s->opened, 1);
    return krein_data_from_dense(ctx, s->n[i], D, s->x[i], D, s->y[i], NULL, &o, out);
}

static krein_compare_options options(source *s) {
    static const char *const names[] = {"one", "two"};
    krein_compare_options o;
    krein_compare_options_init(&o);
    o.sets = SETS;
    o.names = names;
    o.open = open_set;
    o.user = s;
    o.repeats = 3;
    return o;
}

/* Every value is that of a training with that seed. */
static void as_train(void) {
    source *s = make_source(80, false);
    krein_ctx *ctx = test_ctx(1);
    krein_compare_options o = options(s);
    krein_compare_report r = KREIN_SIZED(krein_compare_report);
    krein_train_options shared;
    krein_train_options_init(&shared);
    shared.lambda = 1e-3;
    shared.seed = 5;
    o.train = &shared;
    o.kernels = "gaussian(sigma=1..2:2); {gaussian(sigma=1); linear}";
    o.learners = "default; mkl";
    o.holdout = 0.25;
    CHECK(krein_compare(ctx, &o, &r) == KREIN_OK);
    CHECK(r.nmethods == 6 && r.nsets == 2 && r.count == 12 && r.measure == KREIN_MEASURE_RMSE);
    CHECK(strcmp(r.methods[1]->name, "default / gaussian(sigma=2)") == 0);
    CHECK(strcmp(r.methods[5]->name, "mkl / {gaussian(sigma=1); linear}") == 0);
    CHECK(!r.methods[0]->learner && strcmp(r.methods[5]->learner, "mkl") == 0);
    for (int64_t i = 0; i < r.count; i++) {
        const krein_compare_result *e = r.results[i];
        if (e->method == 3 || e->method == 4) { /* mkl is for several kernels */
            CHECK(e->failures == 3 && isnan(e->mean) && isnan(e->values[0]));
            CHECK_HAS(e->failed, "mkl takes its kernels");
            continue;
        }
        CHECK_ELSE(!e->failed, "%s: %s\n", r.methods[e->method]->name, e->failed);
        for (int64_t j = 0; j < 3; j++) {
            const bool sum = e->method % 3 == 2;
            krein_train_options t = shared;
            krein_data *data;
            krein_model *model = NULL;
            krein_report report = KREIN_SIZED(krein_report);
            t.seed = 5 + (uint64_t)j;
            t.holdout = 0.25;
            t.learner = e->method < 3 ? NULL : "mkl";
            t.kernel = sum ? NULL : e->method % 3 ? "gaussian(sigma=2)" : "gaussian(sigma=1)";
            t.kernels = sum ? "gaussian(sigma=1); linear" : NULL;
            CHECK(open_set(s, ctx, e->set, &data) == KREIN_OK);
            CHECK(krein_train(ctx, data, &t, &report, &model) == KREIN_OK);
            CHECK(report.test && e->values[j] == report.test->rmse);
            krein_report_clear(ctx, &report);
            krein_model_destroy(model);
            krein_data_close(data);
        }
    }
    CHECK(r.sets[0]->n == 80 && r.sets[0]->test == 20);
    krein_compare_report_clear(ctx, &r);
    krein_ctx_destroy(ctx);
    free_source(s);
}

static bool same_values(const krein_compare_report *a, const krein_compare_report *b) {
    bool same = a->count == b->count && a->count > 0;
    for (int64_t i = 0; same && i < a->count; i++)
        for (int64_t j = 0; j < a->results[i]->nvalues; j++)
            same = same && a->results[i]->values[j] == b->results[i]->values[j];
    return same;
}

/* Threads change nothing; nor does a budget that holds one training and not two at once. */
static void threads_and_memory(void) {
    source *s = make_source(test_sanitized() ? 500 : 1600, false);
    krein_compare_options o = options(s);
    krein_train_options shared;
    krein_train_options_init(&shared);
    shared.lambda = 1e-3;
    o.train = &shared;
    o.kernels = "gaussian(sigma=1)";
    o.maps = "exact; rff(D=64)";
    o.repeats = 4;
    krein_compare_report one = KREIN_SIZED(krein_compare_report);
    krein_ctx *ctx = test_ctx(1);
    CHECK(krein_compare(ctx, &o, &one) == KREIN_OK);
    double most = 0;
    for (int64_t i = 0; i < one.count; i++) {
        CHECK(!one.results[i]->failed && one.results[i]->bytes > 0 && one.results[i]->seconds > 0);
        CHECK(one.results[i]->cpu > 0);
        most = fmax(most, one.results[i]->bytes);
    }
    /* more bytes for the kernel matrix than for few features */
    CHECK(one.results[0]->bytes > one.results[1]->bytes);
    for (int k = 0; k < 3; k++) {
        krein_compare_report two = KREIN_SIZED(krein_compare_report);
        krein_ctx *other = test_ctx(3);
        if (k == 2) { /* the least budget in which each training by itself has room */
            double budget = most;
            krein_ctx_destroy(other);
            for (bool room = false; !room;) {
                krein_compare_report_clear(ctx, &one);
                krein_ctx_destroy(ctx);
                budget *= 1.1;
                ctx = test_ctx_small(1, (uint64_t)budget);
                room = krein_compare(ctx, &o, &one) == KREIN_OK;
                for (int64_t i = 0; i < one.count; i++) room = room && !one.results[i]->failed;
            }
            other = test_ctx_small(3, (uint64_t)budget);
        }
        atomic_store(&s->opened, 0);
        o.parallel = k == 1; /* 1: one after the other on three threads */
        CHECK_ELSE(krein_compare(other, &o, &two) == KREIN_OK, "%s\n", krein_message(other));
        CHECK(two.parallel == (k == 1 ? 1 : 3));
        if (getenv("TEST_TIMES"))
            printf("budget %.3g, one takes %.3g; opened %lld times\n", (double)other->budget, most,
                   (long long)atomic_load(&s->opened));
        CHECK_ELSE(same_values(&one, &two), "other values in case %d\n", k);
        krein_compare_report_clear(other, &two);
        krein_ctx_destroy(other);
        o.parallel = 0;
    }
    krein_compare_report_clear(ctx, &one);
    krein_ctx_destroy(ctx);
    free_source(s);
}

/* Where an allocation fails nothing leaks: the comparison fails, or the run that it was in. */
static void allocations(void) {
    test_memory m;
    source *s = make_source(24, false);
    krein_ctx *ctx = test_ctx_with(1, &m);
    krein_compare_options o = options(s);
    krein_train_options shared;
    krein_train_options_init(&shared);
    shared.lambda = 1e-3;
    o.train = &shared;
    o.sets = 1;
    o.repeats = 2;
    o.kernels = "linear; {linear; gaussian(sigma=1)}";
    o.results = test_path("kept.jsonl");
    int64_t failed = 0, whole = 0;
    for (int64_t k = 0;; k += k < 120 ? 1 : 37) {
        krein_compare_report r = KREIN_SIZED(krein_compare_report);
        remove(o.results);
        test_fail_at(&m, k);
        krein_status st = krein_compare(ctx, &o, &r);
        const bool reached = test_has_failed(&m);
        test_fail_at(&m, -1);
        failed += st != KREIN_OK;
        whole += st == KREIN_OK;
        CHECK_ELSE(st == KREIN_OK || st == KREIN_EMEMORY || st == KREIN_EDATA,
                   "status %d where allocation %lld fails: %s\n", (int)st, (long long)k,
                   krein_message(ctx));
        krein_compare_report_clear(ctx, &r);
        CHECK_ELSE(test_live(&m) == 0, "%lld blocks leak where allocation %lld fails\n",
                   (long long)test_live(&m), (long long)k);
        atomic_store(&m.live, 0);
        if (!reached) break;
    }
    CHECK(failed > 10 && whole > 10);
    krein_ctx_destroy(ctx);
    free_source(s);
}

/* A comparison that is cancelled goes on from its file. */
static int cancel_after(void *user) { return atomic_fetch_sub((_Atomic int64_t *)user, 1) <= 0; }

static void cancelled(void) {
    source *s = make_source(60, true);
    krein_compare_options o = options(s);
    krein_compare_report r = KREIN_SIZED(krein_compare_report),
                         all = KREIN_SIZED(krein_compare_report);
    krein_ctx_options c;
    krein_ctx *ctx;
    _Atomic int64_t left = 0;
    o.learners = "krr; svm";
    o.kernels = "gaussian(sigma=1)";
    krein_ctx_options_init(&c);
    c.threads = 1; /* so that it is asked as often each time */
    c.cancel = cancel_after;
    c.user = &left;
    CHECK(krein_ctx_create(&c, &ctx) == KREIN_OK);
    atomic_store(&left, INT64_MAX);
    CHECK(krein_compare(ctx, &o, &all) == KREIN_OK);
    const int64_t asked = INT64_MAX - atomic_load(&left);
    o.results = test_path("cancelled.jsonl");
    remove(o.results);
    atomic_store(&left, asked / 2);
    CHECK(krein_compare(ctx, &o, &r) == KREIN_ECANCEL);
    atomic_store(&left, INT64_MAX);
    CHECK(krein_compare(ctx, &o, &r) == KREIN_OK);
    CHECK(r.reused < 12 && r.measure == KREIN_MEASURE_ERROR && same_values(&r, &all));
    krein_compare_report_clear(ctx, &r);
    /* all from the file, and in the same words */
    atomic_store(&s->opened, 0);
    CHECK(krein_compare(ctx, &o, &r) == KREIN_OK);
    CHECK(r.reused == 12 && same_values(&r, &all) && atomic_load(&s->opened) == SETS);
    krein_compare_report_clear(ctx, &r);
    krein_compare_report_clear(ctx, &all);
    krein_ctx_destroy(ctx);
    free_source(s);
}

static void refused(krein_ctx *ctx, const krein_compare_options *o, krein_status want,
                    const char *text) {
    krein_compare_report r = KREIN_SIZED(krein_compare_report);
    CHECK(krein_compare(ctx, o, &r) == want);
    CHECK_HAS(krein_message(ctx), text);
    CHECK(!r.results && r.count == 0);
}

static void bad_options(void) {
    source *s = make_source(40, false);
    krein_ctx *ctx = test_ctx(1);
    const krein_compare_options good = options(s);
    krein_compare_options o = good;
    krein_train_options t;
    krein_train_options_init(&t);
    o.open = NULL;
    refused(ctx, &o, KREIN_EARG, "data set");
    o = good, o.repeats = 1;
    refused(ctx, &o, KREIN_EARG, "one split");
    o = good, o.holdout = 0;
    refused(ctx, &o, KREIN_EARG, "`holdout` is 0");
    o = good, o.level = 1;
    refused(ctx, &o, KREIN_EARG, "`level`");
    o = good, o.measure = KREIN_MEASURE_AUC;
    refused(ctx, &o, KREIN_EARG, "numbers; take rmse");
    o = good, o.measure = (krein_measure)9;
    refused(ctx, &o, KREIN_EARG, "no measure");
    o = good, o.parallel = -1;
    refused(ctx, &o, KREIN_EARG, "`parallel`");
    o = good, o.learners = "krr; nothing";
    refused(ctx, &o, KREIN_ESPEC, "nothing");
    o = good, o.maps = "orf", o.kernels = "poly(degree=2)";
    refused(ctx, &o, KREIN_EARG, "orf");
    o = good, t.kernel = "linear", o.train = &t;
    refused(ctx, &o, KREIN_EARG, "`kernels`");
    o = good, o.size = 0;
    refused(ctx, &o, KREIN_EARG, "krein_compare_options_init");
    o = good, o.holdout = 0.999;
    refused(ctx, &o, KREIN_EDATA, "too few rows for `holdout");
    o = good, o.results = "/nowhere/at/all";
    refused(ctx, &o, KREIN_EIO, "/nowhere/at/all");
    krein_ctx_destroy(ctx);
    free_source(s);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(as_train);
    RUN(threads_and_memory);
    RUN(allocations);
    RUN(cancelled);
    RUN(bad_options);
    return DONE();
}
