/* test_threads.c -- one model, many threads: each with a context of its own, all with the bits of
 * one thread alone. */
#include "train.h"

#include <pthread.h>

enum { THREADS = 4, ROWS = 450, CALLS = 3 };

/* ---- what a thread does ------------------------------------------------- */

typedef struct outcome {
    krein_status st;
    char message[200];
    double *score; /* scores and probabilities of all rows */
    int64_t n;
    double metric[6];
    test_bytes file;
    uint64_t held, peak;
} outcome;

typedef struct worker {
    const krein_model *model;
    const rows *r;
    krein_task task;
    uint64_t budget;
    int threads;
    bool labels; /* there is something to evaluate */
    outcome out;
} worker;

static krein_status keep(void *user, const krein_prediction *p) {
    outcome *o = user;
    for (int64_t j = 0; p->scores && j < p->nscores; j++) o->score[o->n++] = p->scores[j];
    for (int64_t j = 0; p->probabilities && j < p->nclasses; j++)
        o->score[o->n++] = p->probabilities[j];
    return KREIN_OK;
}

static krein_status measure(krein_ctx *ctx, const worker *w, krein_data *data, double *to) {
    krein_metrics m = KREIN_SIZED(krein_metrics);
    krein_status st = krein_evaluate(ctx, w->model, data, &m);
    if (st != KREIN_OK) return st;
    double all[] = {m.rmse, m.mae, m.accuracy, m.macro_f1, m.log_loss, m.auc};
    memcpy(to, all, sizeof all);
    krein_metrics_clear(ctx, &m);
    return st;
}

static krein_status to_memory(krein_ctx *ctx, const krein_model *model, test_bytes *out) {
    krein_status st = krein_model_save_memory(ctx, model, NULL, 0, &out->n);
    if (st != KREIN_OK) return st;
    free(out->at);
    out->at = test_new(out->n, 1);
    return krein_model_save_memory(ctx, model, out->at, out->n, &out->n);
}

static krein_status use(krein_ctx *ctx, worker *w) {
    krein_data *data = open_rows(ctx, w->r, NULL, w->task);
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_fact fact;
    krein_array array;
    krein_status st = KREIN_OK;
    for (int call = 0; call < CALLS && st == KREIN_OK; call++) {
        w->out.n = 0;
        st = krein_predict(ctx, w->model, data, keep, &w->out);
        if (st == KREIN_OK && w->labels) st = measure(ctx, w, data, w->out.metric);
        if (st == KREIN_OK) st = to_memory(ctx, w->model, &w->out.file);
        krein_model_describe(w->model, &info);
        for (int64_t i = 0; krein_model_fact(w->model, i, &fact); i++) continue;
        for (int64_t i = 0; krein_model_array_name(w->model, i); i++) continue;
        krein_model_array(w->model, "weights", &array);
    }
    krein_data_close(data);
    return st;
}

static void *run(void *user) {
    worker *w = user;
    krein_ctx *ctx = test_ctx_small(w->threads, w->budget);
    w->out.score = test_new(ROWS * 40, sizeof *w->out.score);
    w->out.st = use(ctx, w);
    snprintf(w->out.message, sizeof w->out.message, "%.190s", krein_message(ctx));
    w->out.held = atomic_load(&ctx->held);
    w->out.peak = atomic_load(&ctx->peak);
    krein_ctx_destroy(ctx);
    return NULL;
}

static void drop_outcome(outcome *o) {
    free(o->score);
    free(o->file.at);
}

static bool same(const outcome *a, const outcome *b) {
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->score, b->score, (size_t)a->n * sizeof *a->score) == 0) &&
           memcmp(a->metric, b->metric, sizeof a->metric) == 0 && test_same(a->file, b->file);
}

/* One thread alone, then several at once; the context that the model was made on is not touched. */
static void share(const char *what, krein_ctx *home, const krein_model *model, const rows *r,
                  krein_task task, bool labels) {
    worker alone = {model, r, task, 0, 1, labels, {0}}, all[THREADS];
    pthread_t thread[THREADS];
    uint64_t held = atomic_load(&home->held), peak = atomic_load(&home->peak);
    char before[sizeof home->message];
    memcpy(before, home->message, sizeof before);
    run(&alone);
    if (alone.out.st != KREIN_OK) printf("%s: %s\n", what, alone.out.message);
    CHECK(alone.out.st == KREIN_OK && alone.out.n > 0 && alone.out.held == 0);
    for (int t = 0; t < THREADS; t++) {
        all[t] = (worker){model, r, task, 0, 1 + t % 2, labels, {0}};
        if (pthread_create(&thread[t], NULL, run, &all[t]) != 0) exit(1);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        bool good = all[t].out.st == KREIN_OK && same(&all[t].out, &alone.out);
        if (!good) printf("%s: thread %d: %s\n", what, t, all[t].out.message);
        CHECK(good);
        CHECK(all[t].out.held == 0 && all[t].out.peak > 0);
        drop_outcome(&all[t].out);
    }
    CHECK(atomic_load(&home->held) == held && atomic_load(&home->peak) == peak);
    CHECK(memcmp(before, home->message, sizeof before) == 0);
    drop_outcome(&alone.out);
}

/* ---- models ------------------------------------------------------------- */

typedef struct recipe {
    const char *learner, *kernel, *kernels, *map;
    int classes; /* 0: numbers */
    bool probabilities;
} recipe;

static void try_recipe(const recipe *a) {
    krein_ctx *ctx = test_ctx(2);
    rows r = a->classes ? rings(ROWS, a->classes, 3) : friedman(ROWS, .1, 3);
    krein_task task = a->classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    krein_data *data = open_rows(ctx, &r, NULL, task);
    krein_train_options o;
    krein_model *model = NULL;
    char what[200];
    krein_train_options_init(&o);
    o.learner = a->learner;
    o.kernel = a->kernel;
    o.kernels = a->kernels;
    o.map = a->map;
    o.probabilities = a->probabilities;
    if (!strchr(a->learner, '=') || strstr(a->learner, "norm")) o.lambda = 1e-3;
    snprintf(what, sizeof what, "%s, %s, %s", a->learner, a->kernel ? a->kernel : a->kernels,
             a->map ? a->map : "(default)");
    krein_status st = krein_train(ctx, data, &o, NULL, &model);
    if (st != KREIN_OK) printf("%s: %s\n", what, krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(data);
    if (model) share(what, ctx, model, &r, task, true);
    krein_model_destroy(model);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

static const char gauss[] = "gaussian(sigma=1.5)",
                  signed_sum[] = "gaussian(sigma=1) - 0.3*gaussian(sigma=4)",
                  unlike[] = "gaussian(sigma=2) + 0.1*poly(degree=2, c=1)";

static void learners(void) {
    const recipe all[] = {
        {"krr", gauss, NULL, "exact", 0, false},
        {"krr", gauss, NULL, "rff(D=64)", 3, false},
        {"krr(norm=krein)", signed_sum, NULL, "nystrom(D=40)", 0, false},
        {"svm(C=1)", gauss, NULL, "exact", 3, true},
        {"svm(C=1)", gauss, NULL, "rff(D=64)", 2, true},
        {"svr(C=1)", gauss, NULL, "nystrom(D=40)", 0, false},
        {"logistic", gauss, NULL, "orf(D=64)", 3, true},
        {"kgd(steps=20)", gauss, NULL, "exact", 0, false},
        {"dckrr(parts=3)", gauss, NULL, NULL, 0, false},
        {"mkl", NULL, "gaussian(sigma=1); laplacian(sigma=2); linear", "auto", 2, false},
    };
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) try_recipe(&all[i]);
}

static void maps(void) {
    const recipe all[] = {
        {"krr", signed_sum, NULL, "rff(D=33, phase=yes)", 0, false},
        {"krr", gauss, NULL, "sorf(D=64)", 0, false},
        {"krr", gauss, NULL, "fastfood(D=64)", 0, false},
        {"krr", gauss, NULL, "scrf(D=64)", 0, false},
        {"krr", gauss, NULL, "leverage(D=32)", 0, false},
        {"krr", signed_sum, NULL, "gorf(D=64)", 0, false},
        {"krr", "tl1(rho=3)", NULL, "nystrom(D=40)", 0, false},
        {"krr", "laplacian(sigma=9)", NULL, "binning(D=2000)", 0, false},
        {"krr", "poly(degree=2, c=1)", NULL, "explicit", 0, false},
        {"krr", "poly(degree=3, c=1)", NULL, "tensorsketch(D=64)", 0, false},
        {"krr", "poly(degree=2, c=1)", NULL, "maclaurin(D=64)", 0, false},
        {"krr", "arccos(order=1)", NULL, "arccos(D=64)", 0, false},
        {"krr", "ntk(depth=2)", NULL, "ntksketch(D=64)", 0, false},
        {"krr", unlike, NULL, "auto(D=64)", 0, false},
    };
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) try_recipe(&all[i]);
}

/* A context that is short of memory fails by itself. */
static void budgets(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(ROWS, .1, 3);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o;
    krein_model *model = NULL;
    worker w[THREADS];
    pthread_t thread[THREADS];
    krein_train_options_init(&o);
    o.kernel = gauss;
    o.map = "rff(D=256)";
    o.lambda = 1e-3;
    CHECK(krein_train(ctx, data, &o, NULL, &model) == KREIN_OK);
    krein_data_close(data);
    for (int t = 0; t < THREADS; t++) {
        uint64_t budget = t % 2 ? 100000 : 0;
        w[t] = (worker){model, &r, KREIN_TASK_REGRESSION, budget, 1, true, {0}};
        if (pthread_create(&thread[t], NULL, run, &w[t]) != 0) exit(1);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        CHECK(w[t].out.st == (t % 2 ? KREIN_EMEMORY : KREIN_OK));
        CHECK(w[t].out.held == 0);
        if (t % 2) CHECK_HAS(w[t].out.message, "out of memory");
        if (t == 2) CHECK(same(&w[0].out, &w[2].out));
    }
    CHECK(!*krein_message(ctx));
    for (int t = 0; t < THREADS; t++) drop_outcome(&w[t].out);
    krein_model_destroy(model);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* ---- transformers ------------------------------------------------------- */

typedef struct maker {
    const krein_model *model;
    const rows *r;
    float *z;
    krein_status st;
    uint64_t held;
} maker;

static void *make(void *user) {
    maker *w = user;
    krein_ctx *ctx = test_ctx(2);
    krein_data *data = open_rows(ctx, w->r, NULL, KREIN_TASK_REGRESSION);
    krein_model_info info = KREIN_SIZED(krein_model_info);
    int64_t n;
    krein_model_describe(w->model, &info);
    w->z = test_new(ROWS * info.D, sizeof *w->z);
    w->st = krein_model_features(ctx, w->model, data, w->z, ROWS, &n);
    krein_data_close(data);
    w->held = atomic_load(&ctx->held);
    krein_ctx_destroy(ctx);
    return NULL;
}

static void transformers(void) {
    static const char *const maps[] = {"nystrom(D=40)", "orf(D=64)", "auto(D=64)"};
    rows r = friedman(ROWS, .1, 3);
    for (int64_t i = 0; i < KREIN__COUNT(maps); i++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_train_options o;
        krein_model *model = NULL;
        krein_model_info info = KREIN_SIZED(krein_model_info);
        maker w[THREADS];
        pthread_t thread[THREADS];
        krein_train_options_init(&o);
        o.kernel = i == 2 ? unlike : signed_sum;
        o.map = maps[i];
        CHECK(krein_fit(ctx, data, &o, NULL, &model) == KREIN_OK);
        krein_model_describe(model, &info);
        for (int t = 0; t < THREADS; t++) {
            w[t] = (maker){.model = model, .r = &r};
            if (pthread_create(&thread[t], NULL, make, &w[t]) != 0) exit(1);
        }
        for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
        for (int t = 0; t < THREADS; t++) {
            CHECK(w[t].st == KREIN_OK && w[t].held == 0);
            CHECK(memcmp(w[t].z, w[0].z, (size_t)(ROWS * info.D) * sizeof(float)) == 0);
        }
        for (int t = 0; t < THREADS; t++) free(w[t].z);
        krein_data_close(data);
        krein_model_destroy(model);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(learners);
    RUN(maps);
    RUN(budgets);
    RUN(transformers);
    return DONE();
}
