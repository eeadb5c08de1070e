/* test_mkl.c -- several kernels through the whole pipe: weights by matrices and by features, one
 * model of their sum, and everything that may be wrong with the kernels. */
#include "train.h"

static const char KERNELS[] =
    "gaussian(sigma=0.7); gaussian(sigma=2); linear; poly(degree=3, c=0.5); laplacian(sigma=4)";
enum { M = 5 };

static krein_train_options options_of(const char *learner, const char *kernels, const char *map) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernels = kernels;
    o.map = map;
    o.lambda = 1e-3;
    return o;
}

static krein_status fit(krein_ctx *ctx, const rows *r, krein_task task,
                        const krein_train_options *o, krein_report *report, krein_model **out) {
    krein_data *data = open_rows(ctx, r, NULL, task);
    krein_status st = krein_train(ctx, data, o, report, out);
    krein_data_close(data);
    return st;
}

/* Trains on the rows; what must work works. */
static krein_report trained(krein_ctx *ctx, const rows *r, krein_task task,
                            const krein_train_options *o, krein_model **out) {
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    krein_status st = fit(ctx, r, task, o, &report, &m);
    if (st != KREIN_OK) printf("%s: %s\n", o->learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    if (out)
        *out = m;
    else
        krein_model_destroy(m);
    return report;
}

static double sum_of(const krein_report *r) {
    double sum = 0;
    for (int64_t m = 0; m < r->kernels; m++) {
        CHECK(r->weights[m].weight >= 0);
        sum += r->weights[m].weight;
    }
    return sum;
}

/* ---- weights ------------------------------------------------------------ */

static const char *const METHODS[] = {"average", "easymkl", "pwmk", "alignment", "centered",
                                      "lp",      "conv",    "smsd", "ufo"};

static bool for_numbers(const char *method) {
    static const char *const names[] = {"average", "alignment", "centered", "lp", "conv"};
    for (int i = 0; i < 5; i++)
        if (strcmp(method, names[i]) == 0) return true;
    return false;
}

/* Nystrom features with every row as a landmark are the kernel on these rows: the same weights. */
static void routes_agree(void) {
    krein_ctx *ctx = test_ctx(2);
    rows data[] = {rings(90, 2, 1), rings(90, 3, 2), friedman(80, 1, 3)};
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < (int)KREIN__COUNT(METHODS); k++) {
            char learner[64];
            bool conv =
                strcmp(METHODS[k], "conv") == 0; /* float32 leaves few digits of small tails */
            snprintf(learner, sizeof learner, "mkl(method=%s%s)", METHODS[k],
                     conv ? ", theta=3" : "");
            if (d == 2 && !for_numbers(METHODS[k])) continue;
            krein_train_options o = options_of(learner, KERNELS, "exact");
            krein_report exact = trained(ctx, &data[d], KREIN_TASK_AUTO, &o, NULL);
            o.map = "nystrom";
            o.features = M * data[d].n;
            krein_report by_features = trained(ctx, &data[d], KREIN_TASK_AUTO, &o, NULL);
            CHECK(exact.kernels == M && by_features.kernels == M);
            CHECK_REL(sum_of(&exact), 1, 1e-12);
            for (int64_t m = 0; m < by_features.kernels; m++) {
                double a = exact.weights[m].weight, b = by_features.weights[m].weight;
                /* features are float32: 6e-8, times what the weights make of it */
                if (!(fabs(a - b) <= 3e-6)) printf("%s, data %d, kernel %d\n", learner, d, (int)m);
                CHECK_ABS(b, a, 3e-6);
            }
            krein_report_clear(ctx, &exact);
            krein_report_clear(ctx, &by_features);
        }
    for (int d = 0; d < 3; d++) drop(&data[d]);
    krein_ctx_destroy(ctx);
}

/* Units of kernels do not matter, unless they are asked to. */
static void normalised(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(120, 2, 4);
    for (int k = 0; k < (int)KREIN__COUNT(METHODS); k++) {
        char learner[64];
        snprintf(learner, sizeof learner, "mkl(method=%s)", METHODS[k]);
        krein_train_options o = options_of(learner, "gaussian(sigma=0.5); linear", NULL);
        krein_report a = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
        o.kernels = "1000*gaussian(sigma=0.5); 0.001*linear";
        krein_report b = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
        CHECK(a.kernels == 2 && b.kernels == 2);
        if (a.kernels == 2 && b.kernels == 2)
            CHECK_ABS(a.weights[0].weight, b.weights[0].weight, 1e-7);
        krein_report_clear(ctx, &a);
        krein_report_clear(ctx, &b);
    }
    krein_train_options o =
        options_of("mkl(method=average, normalize=no)", "1000*gaussian(sigma=0.5); 3*linear", NULL);
    krein_report a = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
    CHECK_HAS(a.kernel, "500*gaussian(sigma=0.5) + 1.5*linear");
    krein_report_clear(ctx, &a);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Rings want the round kernel: methods that look at labels see it. */
static void useful_kernels_weigh_more(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(300, 2, 5);
    static const char *const methods[] = {"easymkl", "pwmk", "alignment", "centered", "lp"};
    for (int k = 0; k < 5; k++) {
        char learner[64];
        snprintf(learner, sizeof learner, "mkl(method=%s)", methods[k]);
        krein_train_options o = options_of(learner, "gaussian(sigma=1); linear", NULL);
        krein_report a = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
        if (a.kernels == 2 && !(a.weights[0].weight > .5))
            printf("%s: %g\n", methods[k], a.weights[0].weight);
        CHECK(a.kernels == 2 && a.weights[0].weight > .5);
        krein_report_clear(ctx, &a);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- one model ---------------------------------------------------------- */

static void same_predictions(krein_ctx *ctx, const rows *r, const krein_model *a,
                             const krein_model *b, double tolerance) {
    enum { MOST = 3 }; /* scores of a row */
    double *p = test_new(MOST * r->n, sizeof *p), *q = test_new(MOST * r->n, sizeof *q);
    CHECK(krein_predict_dense(ctx, a, r->n, r->d, r->x, r->d, p) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, b, r->n, r->d, r->x, r->d, q) == KREIN_OK);
    for (int64_t i = 0; i < MOST * r->n; i++) CHECK_ABS(p[i], q[i], tolerance);
    free(p);
    free(q);
}

/* The model is that of the base learner on the kernel that the report names. */
static void is_the_base_learner(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(150, 1, 6);
    krein_model *a = NULL, *b = NULL;
    krein_train_options o = options_of("mkl(method=lp, p=1.5)", KERNELS, NULL), base = defaults();
    krein_report report = trained(ctx, &r, KREIN_TASK_AUTO, &o, &a), plain;
    base.kernel = report.kernel;
    base.lambda = report.lambda;
    plain = trained(ctx, &r, KREIN_TASK_AUTO, &base, &b);
    CHECK(strcmp(plain.map, "exact") == 0 && plain.kernels == 0 && !plain.weights);
    if (a && b) same_predictions(ctx, &r, a, b, 1e-9);
    krein_report_clear(ctx, &report);
    krein_report_clear(ctx, &plain);
    krein_model_destroy(a);
    krein_model_destroy(b);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* The same bytes for any number of threads and any place of the rows. */
static void same_bytes(void) {
    rows r = rings(200, 3, 7); /* more than a tile of 192 */
    const int ways = test_sanitized() ? 2 : 3;
    char path[512];
    snprintf(path, sizeof path, "%s", write_rows("mkl.csv", &r));
    for (int k = 0; k < (int)KREIN__COUNT(METHODS); k++)
        for (int map = 0; map < 2; map++) {
            char learner[64];
            test_bytes first = {0};
            snprintf(learner, sizeof learner, "mkl(method=%s)", METHODS[k]);
            for (int way = 0; way < ways; way++) {
                krein_ctx *ctx = test_ctx(way == 1 ? 3 : 1);
                krein_train_options o = options_of(learner, KERNELS, map ? "auto" : "exact");
                krein_data *data = from_file(ctx, path);
                krein_model *m = NULL;
                if (map) o.features = 60;
                ctx->keep_rows = way == ways - 1 ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY;
                krein_status st = krein_train(ctx, data, &o, NULL, &m);
                if (st != KREIN_OK) printf("%s: %s\n", learner, krein_message(ctx));
                CHECK(st == KREIN_OK);
                test_bytes now = test_model_bytes(ctx, m);
                if (way == 0)
                    first = now;
                else if (!test_same(first, now))
                    printf("%s, map %d, way %d\n", learner, map, way);
                CHECK(test_same(first, now));
                if (way > 0) free(now.at);
                krein_model_destroy(m);
                krein_data_close(data);
                krein_ctx_destroy(ctx);
            }
            free(first.at);
        }
    drop(&r);
}

static void file_keeps_weights(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(200, 3, 8);
    static const char *const maps[] = {"exact", "orf; orf(D=64); explicit; tensorsketch; binning"};
    for (int k = 0; k < 2; k++) {
        krein_model *m = NULL, *again = NULL;
        krein_train_options o = options_of("mkl(method=alignment, split=weight)", KERNELS, maps[k]);
        krein_model_info info = KREIN_SIZED(krein_model_info);
        if (k == 1) o.features = 400;
        krein_report report = trained(ctx, &r, KREIN_TASK_AUTO, &o, &m);
        const char *path = test_path("weights.krn");
        CHECK(m && krein_model_save(ctx, m, path) == KREIN_OK);
        CHECK(krein_model_load(ctx, path, &again) == KREIN_OK);
        if (again) {
            krein_model_describe(again, &info);
            CHECK(info.kernels == M && report.kernels == M);
            CHECK(strcmp(info.map, report.map) == 0);
            CHECK_HAS(info.map, k ? "; orf(D=64); explicit" : "exact");
            CHECK(info.kernels == M && strcmp(info.weights[2].kernel, "linear") == 0);
            for (int64_t i = 0; i < report.kernels; i++)
                CHECK(info.weights[i].weight == report.weights[i].weight);
            same_predictions(ctx, &r, m, again, 0);
        }
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_model_destroy(again);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Two hundred kernels, on the matrix and on features. */
static void two_hundred(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(150, 2, 9);
    for (int k = 0; k < 2; k++) {
        krein_model *m = NULL, *again = NULL;
        krein_train_options o =
            options_of("mkl(method=alignment)", "gaussian(sigma=0.05..50:200)", k ? "orf" : NULL);
        if (k) o.features = 1600;
        krein_report report = trained(ctx, &r, KREIN_TASK_AUTO, &o, &m);
        CHECK(report.kernels == 200);
        CHECK_REL(sum_of(&report), 1, 1e-12);
        const char *path = test_path("many.krn");
        CHECK(m && krein_model_save(ctx, m, path) == KREIN_OK);
        CHECK(krein_model_load(ctx, path, &again) == KREIN_OK);
        if (again) same_predictions(ctx, &r, m, again, 0);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_model_destroy(again);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Tangent kernels of random depths, one model a seed; the depths differ. */
static void random_tangent_kernels(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(150, 2, 10);
    bool depth[6] = {false};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        krein_train_options o = options_of("mkl(method=nsmkl, base=svm, C=1)", NULL, NULL);
        o.seed = seed;
        o.lambda = -1;
        if (seed % 2) o.map = "ntksketch(D=64)";
        krein_report report = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
        CHECK(report.kernels == 2);
        int drawn[2] = {0, 0};
        for (int64_t m = 0; m < report.kernels; m++) {
            const char *at = strstr(report.weights[m].kernel, "ntk(depth=");
            CHECK(at != NULL);
            drawn[m] = at ? atoi(at + 10) : 0;
            CHECK(drawn[m] >= 1 && drawn[m] <= 5);
            depth[drawn[m]] = true;
        }
        CHECK(drawn[0] != drawn[1]);
        krein_report_clear(ctx, &report);
    }
    for (int k = 1; k <= 5; k++) CHECK(depth[k]);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- what may be wrong -------------------------------------------------- */

typedef struct wrong {
    const char *learner, *kernels, *map, *message;
} wrong;

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(60, 2, 11), numbers = friedman(60, 1, 12);
    double *weight = test_new(60, sizeof *weight);
    for (int i = 0; i < 60; i++) weight[i] = 1 + i % 2;
    static const wrong cases[] = {
        {"mkl", NULL, NULL, "`kernels`"},
        {"mkl(method=easymkl)", "gaussian(sigma=1); tanh(gamma=1, c=-1)", NULL, "carry it"},
        {"mkl(method=lp)", "gaussian(sigma=1) - 0.5*gaussian(sigma=2); linear", NULL, "carry it"},
        {"mkl(method=smsd, beta=1e6)", "gaussian(sigma=0.3); gaussian(sigma=1)", NULL,
         "lower beta"},
        {"mkl(method=ufo, beta=1e6)", "gaussian(sigma=1); linear", NULL, "lower beta"},
        {"mkl", "gaussian(sigma=1); 0*linear", NULL, "leave the kernel out"},
        {"mkl", "gaussian(sigma=1); linear", "rff; rff; rff", "3 maps for 2 kernels"},
        {"mkl", "gaussian(sigma=1); linear", "rff", "linear"},
        {"mkl", "gaussian(sigma=1); linear", "rff; nosuch", "nosuch"},
        {"mkl", "gaussian(sigma=1); linear;; poly", NULL, ";"},
        {"mkl(method=nosuch)", "linear; gaussian", NULL, "unknown weighing"},
        {"mkl(method=average, lambda=0.5)", "linear; gaussian", NULL, "average has no key"},
        {"mkl(method=lp, theta=3)", "linear; gaussian", NULL, "lp has no key"},
        {"mkl(base=krr, C=2)", "linear; gaussian", NULL, "krr has no key"},
        {"mkl(method=lp, method=conv)", "linear; gaussian", NULL, "given twice"},
        {"mkl(p=0.5)", "linear; gaussian", NULL, "p"},
        {"mkl", "gaussian(sigma=0.01..1:600)", NULL, "at most 512"},
        {"mkl(base=krr)", "linear; gaussian(sigma=1)", "exact; rff", "exact"}};
    for (int64_t k = 0; k < KREIN__COUNT(cases); k++) {
        krein_model *m = NULL;
        krein_train_options o = options_of(cases[k].learner, cases[k].kernels, cases[k].map);
        CHECK(fit(ctx, &r, KREIN_TASK_AUTO, &o, NULL, &m) != KREIN_OK && !m);
        CHECK_HAS(krein_message(ctx), cases[k].message);
    }
    krein_train_options o = options_of("mkl", NULL, NULL);
    krein_model *m = NULL;
    o.kernel = "gaussian";
    CHECK(fit(ctx, &r, KREIN_TASK_AUTO, &o, NULL, &m) != KREIN_OK);
    CHECK_HAS(krein_message(ctx), "not from `kernel`");
    for (int k = 0; k < (int)KREIN__COUNT(METHODS); k++) {
        char learner[64];
        snprintf(learner, sizeof learner, "mkl(method=%s)", METHODS[k]);
        o = options_of(learner, "gaussian(sigma=1); linear", NULL);
        krein_status st = fit(ctx, &numbers, KREIN_TASK_REGRESSION, &o, NULL, &m);
        CHECK((st == KREIN_OK) == for_numbers(METHODS[k]));
        if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), "labels are numbers");
        krein_model_destroy(m);
        krein_data *data = open_rows(ctx, &r, weight, KREIN_TASK_AUTO);
        st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == KREIN_OK);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    free(weight);
    drop(&r);
    drop(&numbers);
    krein_ctx_destroy(ctx);
}

/* One kernel, the same twice, a constant one, an indefinite one: said, and still a model. */
static void odd_kernels(void) {
    rows r = rings(120, 2, 13);
    static const struct {
        const char *learner, *kernels, *word;
        double first, second; /* weights; NaN: any */
    } cases[] = {
        {"mkl", "gaussian(sigma=1)", "one kernel", 1, NAN},
        {"mkl", "gaussian(sigma=1); gaussian(sigma=1)", "more than once", .5, .5},
        {"mkl(method=centered)", "gaussian(sigma=1); gaussian(sigma=1)", "more than once", .5, .5},
        {"mkl(method=lp)", "gaussian(sigma=1); gaussian(sigma=1)", "more than once", .5, .5},
        {"mkl(method=easymkl)", "gaussian(sigma=1); gaussian(sigma=1)", "more than once", .5, .5},
        {"mkl(method=smsd)", "gaussian(sigma=1); gaussian(sigma=1)", "more than once", .5, .5},
        {"mkl(method=centered)", "gaussian(sigma=1); poly(degree=1, gamma=1e-30)", "constant", 1,
         0},
        {"mkl(method=average)", "gaussian(sigma=1); tanh(gamma=1, c=1)", "", .5, .5}};
    for (int64_t k = 0; k < KREIN__COUNT(cases); k++) {
        test_log log = {0};
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        krein_train_options o = options_of(cases[k].learner, cases[k].kernels, NULL);
        krein_report report = trained(ctx, &r, KREIN_TASK_AUTO, &o, NULL);
        CHECK_HAS(log.text, cases[k].word);
        if (report.kernels > 0) CHECK_ABS(report.weights[0].weight, cases[k].first, 1e-5);
        if (report.kernels > 1) CHECK_ABS(report.weights[1].weight, cases[k].second, 1e-5);
        krein_report_clear(ctx, &report);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

static void memory_may_fail(void) {
    static const char *const maps[] = {"exact", "rff; explicit"};
    rows r = rings(40, 2, 14);
    for (int k = 0; k < 2; k++) {
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        TEST_EVERY_ALLOCATION(&memory, i) {
            krein_train_options o =
                options_of("mkl(method=centered)", "gaussian(sigma=1); linear", maps[k]);
            krein_report report = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            o.features = k ? 20 : 0;
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_report_clear(ctx, &report);
            krein_model_destroy(m);
        }
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(routes_agree);
    RUN(normalised);
    RUN(useful_kernels_weigh_more);
    RUN(is_the_base_learner);
    RUN(same_bytes);
    RUN(file_keeps_weights);
    RUN(two_hundred);
    RUN(random_tangent_kernels);
    RUN(refusals);
    RUN(odd_kernels);
    RUN(memory_may_fail);
    return DONE();
}
