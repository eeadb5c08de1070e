/* test_mkl_budget.c -- what weighing kernels takes: plan is an upper bound of what train then
 * holds, for every method on matrices and on features; memory that runs out; stopping. */
#include "train.h"

static const char FEW[] = "gaussian(sigma=0.7); linear; poly(degree=2, c=0.5); laplacian(sigma=2)";
static const char MANY[] = "gaussian(sigma=0.1..10:60)";

static const char *const METHODS[] = {"average", "easymkl", "pwmk", "alignment", "centered",
                                      "lp",      "conv",    "smsd", "ufo"};

/* plan says at least what train then holds at its peak. */
static void plan_is_a_bound(void) {
    static const struct {
        const char *kernels, *map;
        int64_t n, features;
        int classes, threads;
    } all[] = {{FEW, "exact", 300, 0, 2, 2},
               {FEW, "exact", 120, 0, 40, 1},
               {FEW, "rff; explicit; explicit; rff", 300, 60, 2, 2},
               {FEW, NULL, 300, 160, 3, 1},
               {FEW, NULL, 120, 100, 40, 2},
               {MANY, "exact", 40, 0, 2, 2},
               {MANY, "rff", 140, 120, 3, 1}};
    for (size_t a = 0; a < KREIN__COUNT(all); a++)
        for (size_t k = 0; k < KREIN__COUNT(METHODS); k++) {
            const int64_t n = test_sanitized() && all[a].n > 100 ? all[a].n / 2 : all[a].n;
            rows r = rings(n, all[a].classes, 16);
            for (int64_t i = 0; all[a].classes > 3 && i < r.n; i++) r.y[i] = (double)(i % 40);
            krein_train_options o = defaults();
            krein_report plan = KREIN_SIZED(krein_report), report = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            char learner[64];
            snprintf(learner, sizeof learner, "mkl(method=%s)", METHODS[k]);
            o.learner = learner;
            o.kernels = all[a].kernels;
            o.map = all[a].map;
            o.features = all[a].features;
            krein_ctx *one = test_ctx(all[a].threads), *two = test_ctx(all[a].threads);
            krein_data *x = open_rows(one, &r, NULL, KREIN_TASK_CLASSIFICATION);
            krein_data *y = open_rows(two, &r, NULL, KREIN_TASK_CLASSIFICATION);
            CHECK(krein_plan(one, x, &o, &plan) == KREIN_OK);
            krein_status st = krein_train(two, y, &o, &report, &m);
            if (st != KREIN_OK) printf("%s: %s\n", learner, krein_message(two));
            CHECK(st == KREIN_OK);
            uint64_t peak = krein_ctx_peak_bytes(two);
            if (peak > plan.bytes_peak)
                printf("%s, case %d: %.3f MB planned, %.3f MB held\n", learner, (int)a,
                       (double)plan.bytes_peak / 1048576, (double)peak / 1048576);
            CHECK(peak <= plan.bytes_peak);
            krein_report_clear(one, &plan);
            krein_report_clear(two, &report);
            krein_model_destroy(m);
            krein_data_close(x);
            krein_data_close(y);
            krein_ctx_destroy(one);
            krein_ctx_destroy(two);
            drop(&r);
        }
}

/* ---- memory that runs out, stopping ------------------------------------- */

static krein_status small_run(krein_ctx *ctx, krein_data *data, const char *method, bool features) {
    krein_train_options o = defaults();
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    char learner[64];
    bool penalty = strcmp(method, "smsd") == 0 || strcmp(method, "ufo") == 0;
    snprintf(learner, sizeof learner, "mkl(method=%s%s)", method, penalty ? ", beta=0.01" : "");
    o.learner = learner;
    o.kernels = "gaussian(sigma=0.5); linear";
    o.map = features ? "orf; explicit" : "exact";
    o.features = features ? 8 : 0;
    o.lambda = 0.01;
    krein_status st = krein_train(ctx, data, &o, &report, &m);
    CHECK((st == KREIN_OK) == (m != NULL));
    if (st != KREIN_OK && st != KREIN_EMEMORY && st != KREIN_ECANCEL)
        printf("%s: %s\n", learner, krein_message(ctx));
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    return st;
}

/* The other methods' allocations fail in the tests of their own files. */
static void memory_may_fail(void) {
    rows r = rings(14, 3, 3);
    for (int features = 0; features < 2; features++) {
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_status st = small_run(ctx, data, "easymkl", features);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            if (test_sanitized()) k += 4; /* every fifth */
        }
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

typedef struct watch {
    int64_t polls, stop_at;
} watch;

static int poll_watch(void *user) {
    watch *w = user;
    return w->polls++ == w->stop_at;
}

static void cancelled_anywhere(void) {
    rows r = rings(20, 3, 4);
    for (size_t k = 0; k < 2 * KREIN__COUNT(METHODS); k++) {
        watch w = {.stop_at = -1};
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
        ctx->cancel = poll_watch;
        ctx->user = &w;
        CHECK(small_run(ctx, data, METHODS[k / 2], k % 2) == KREIN_OK);
        int64_t all = w.polls, live = test_live(&memory);
        CHECK(all >= 2);
        for (int64_t at = 0; at < all; at += test_sanitized() ? 11 : at < 40 ? 1 : 3) {
            w = (watch){.stop_at = at};
            CHECK(small_run(ctx, data, METHODS[k / 2], k % 2) == KREIN_ECANCEL);
            CHECK(w.polls == at + 1); /* and is not asked again */
            CHECK(test_live(&memory) == live);
        }
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(plan_is_a_bound);
    RUN(memory_may_fail);
    RUN(cancelled_anywhere);
    return DONE();
}
