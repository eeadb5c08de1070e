/* test_train.c -- the whole pipe on generated rows: quality with the defaults, the same bytes for
 * any threads and any place of the rows, plan, budget, cancelling, failing memory, transform, gram.
 */
#include "common.h"

#include <stdint.h>

/* ---- rows --------------------------------------------------------------- */

typedef struct rows {
    int64_t n, d, k;
    float *x;
    double *y;
} rows;

static void drop(rows *r) {
    free(r->x);
    free(r->y);
}

static double uniform(void) { return (test_random() + 1) / 2; }
static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

static rows make_rows(int64_t n, int64_t d, int64_t k, uint64_t seed) {
    rows r = {n, d, k, test_new(n * d, sizeof(float)), test_new(n * k, sizeof(double))};
    test_random_state = 88172645463325252u ^ (seed * 0x9e3779b97f4a7c15u);
    for (int i = 0; i < 20; i++) test_random_bits();
    for (int64_t i = 0; i < n * d; i++) r.x[i] = (float)uniform();
    return r;
}

/* Friedman's function, variance about 24; the noise has standard deviation s. */
static rows friedman(int64_t n, double s, uint64_t seed) {
    rows r = make_rows(n, 6, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        const float *x = r.x + i * 6;
        r.y[i] = 10 * sin(3.14159265 * (double)x[0] * (double)x[1]) +
                 20 * pow((double)x[2] - .5, 2) + 10 * (double)x[3] + 5 * (double)x[4] +
                 s * normal();
    }
    return r;
}

/* Classes on rings around the middle: not linear. */
static rows rings(int64_t n, int classes, uint64_t seed) {
    rows r = make_rows(n, 3, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        double a = (double)r.x[i * 3] - .5, b = (double)r.x[i * 3 + 1] - .5, d2 = a * a + b * b;
        r.y[i] = classes == 2 ? (d2 < .08 ? 1 : -1) : d2 < .05 ? 3 : d2 < .15 ? 1 : 7;
    }
    return r;
}

static krein_data *open_rows(krein_ctx *ctx, const rows *r, const double *weight, krein_task task) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = task;
    if (r->k > 1) o.targets = r->k;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, weight, &o, &data) != KREIN_OK)
        exit(1);
    return data;
}

/* As a CSV file with a header, y first. */
static const char *write_rows(const char *name, const rows *r) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y");
    for (int64_t j = 0; j < r->d; j++) fprintf(f, ",x%d", (int)j + 1);
    for (int64_t i = 0; i < r->n; i++) {
        fprintf(f, "\n%.9g", r->y[i]);
        for (int64_t j = 0; j < r->d; j++) fprintf(f, ",%.9g", (double)r->x[i * r->d + j]);
    }
    fprintf(f, "\n");
    fclose(f);
    return path;
}

/* ---- models as bytes ---------------------------------------------------- */

static test_bytes model_bytes(krein_ctx *ctx, const krein_model *m) {
    const char *path = test_path("model.krein");
    test_bytes none = {NULL, 0};
    if (!m) return none;
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    return test_slurp(path);
}

static krein_train_options defaults(void) {
    krein_train_options o;
    krein_train_options_init(&o);
    return o;
}

/* Trains and evaluates on other rows. */
static krein_metrics run(krein_ctx *ctx, const rows *train, const rows *test, krein_task task,
                         const krein_train_options *o, krein_report *report) {
    krein_data *a = open_rows(ctx, train, NULL, task), *b = open_rows(ctx, test, NULL, task);
    krein_model *m = NULL;
    krein_metrics metrics;
    memset(&metrics, 0, sizeof metrics);
    krein_status st = krein_train(ctx, a, o, report, &m);
    if (st == KREIN_OK) st = krein_evaluate(ctx, m, b, &metrics);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_model_destroy(m);
    krein_data_close(a);
    krein_data_close(b);
    return metrics;
}

/* ---- quality ------------------------------------------------------------ */

static void regression_by_default(void) {
    krein_ctx *ctx = test_ctx(2);
    rows train = friedman(600, 1, 1), test = friedman(1000, 1, 2);
    krein_train_options o = defaults();
    krein_report r;
    krein_metrics m = run(ctx, &train, &test, KREIN_TASK_AUTO, &o, &r);
    CHECK(m.task == KREIN_TASK_REGRESSION && m.n == 1000);
    CHECK(m.r2 > .9 && m.r2 < .97); /* the noise leaves .96 */
    CHECK(m.rmse > .9 && m.rmse < 1.5 && m.mae < m.rmse);
    CHECK(r.n == 600 && r.d == 6 && r.D == 600 && r.task == KREIN_TASK_REGRESSION);
    CHECK(strcmp(r.map, "exact") == 0 && strcmp(r.learner, "krr") == 0);
    CHECK_HAS(r.kernel, "gaussian(sigma=");
    CHECK(r.lambda > 0 && r.passes >= 1 && r.fits);
    CHECK(r.loo > .9 * m.rmse && r.loo < 1.15 * m.rmse); /* an honest estimate */
    CHECK(r.seconds_total > 0 && r.seconds_select >= 0 && r.seconds_fit > 0);
    krein_report first = r;
    krein_metrics_clear(ctx, &m);
    /* Features instead of the kernel matrix cost little. */
    o.kernel = first.kernel;
    static const char *const maps[] = {"orf(D=512)", "rff(D=512)", "nystrom(D=300)"};
    for (int k = 0; k < 3; k++) {
        o.map = maps[k];
        m = run(ctx, &train, &test, KREIN_TASK_AUTO, &o, &r);
        CHECK(m.r2 > .87);
        CHECK(r.loo > .85 * m.rmse && r.loo < 1.2 * m.rmse);
        krein_report_clear(ctx, &r);
        krein_metrics_clear(ctx, &m);
    }
    krein_report_clear(ctx, &first);
    drop(&train);
    drop(&test);
    krein_ctx_destroy(ctx);
}

static void classes_by_default(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int classes = 2; classes <= 3; classes++) {
        rows train = rings(400, classes, 3), test = rings(800, classes, 4);
        static const char *const maps[] = {NULL, "orf(D=256)", "nystrom(D=150)"};
        char kernel[100];
        for (int k = 0; k < 3; k++) {
            krein_train_options o = defaults();
            krein_report r;
            o.map = maps[k];
            if (k > 0) o.kernel = kernel;
            krein_metrics m = run(ctx, &train, &test, KREIN_TASK_AUTO, &o, &r);
            if (k == 0) snprintf(kernel, sizeof kernel, "%s", r.kernel);
            CHECK(m.task == KREIN_TASK_CLASSIFICATION && m.n == 800 && m.classes == classes);
            if (!(m.accuracy > .85)) printf("%d classes, map %d: %g\n", classes, k, m.accuracy);
            CHECK(m.accuracy > .85);
            CHECK_REL(m.error, 1 - m.accuracy, 1e-12);
            CHECK(r.loo < .15 && isnan(m.rmse));
            int64_t all = 0, right = 0;
            for (int64_t i = 0; m.confusion && i < classes * classes; i++) {
                all += m.confusion[i];
                right += i % (classes + 1) == 0 ? m.confusion[i] : 0;
            }
            CHECK(all == 800);
            CHECK_REL((double)right / 800, m.accuracy, 1e-12);
            CHECK(m.class_names && strcmp(m.class_names[0], classes == 2 ? "-1" : "1") == 0);
            CHECK(m.macro_recall > .85 && m.macro_precision > .85 && m.macro_f1 > .85);
            krein_report_clear(ctx, &r);
            krein_metrics_clear(ctx, &m);
        }
        drop(&train);
        drop(&test);
    }
    krein_ctx_destroy(ctx);
}

static void several_outputs(void) {
    krein_ctx *ctx = test_ctx(2);
    rows a = make_rows(300, 4, 3, 5), b = make_rows(300, 4, 3, 6);
    for (rows *r = &a;; r = &b) {
        for (int64_t i = 0; i < r->n; i++) {
            const float *x = r->x + i * 4;
            r->y[i * 3] = sin(4 * (double)x[0]);
            r->y[i * 3 + 1] = 100 + (double)x[1] * (double)x[2];
            r->y[i * 3 + 2] = (double)(x[3] - x[0]);
        }
        if (r == &b) break;
    }
    static const char *const maps[] = {"exact", "orf(D=200)", "nystrom(D=100)"};
    for (int k = 0; k < 3; k++) {
        krein_train_options o = defaults();
        krein_report r;
        o.map = maps[k];
        krein_metrics m = run(ctx, &a, &b, KREIN_TASK_AUTO, &o, &r);
        CHECK(m.r2 > .99);
        krein_report_clear(ctx, &r);
        krein_metrics_clear(ctx, &m);
    }
    drop(&a);
    drop(&b);
    krein_ctx_destroy(ctx);
}

/* Whole-number weights are repeated rows. */
static void weights_are_repeated_rows(void) {
    krein_ctx *ctx = test_ctx(2);
    rows one = friedman(120, 1, 7), many = friedman(400, 1, 8);
    double weight[120];
    many.n = 0;
    for (int64_t i = 0; i < 120; i++) {
        weight[i] = (double)(i % 4);
        for (int r = 0; r < i % 4; r++, many.n++) {
            memcpy(many.x + many.n * 6, one.x + i * 6, 6 * sizeof(float));
            many.y[many.n] = one.y[i];
        }
    }
    static const char *const maps[] = {"exact", "rff(D=40)"};
    for (int k = 0; k < 2; k++) {
        krein_train_options o = defaults();
        krein_data_options plain;
        krein_data *a = NULL, *b = NULL;
        krein_model *m = NULL, *n = NULL;
        double f[120], g[120];
        krein_data_options_init(&plain);
        plain.scale = KREIN_SCALE_NONE; /* statistics of columns know no weights */
        plain.task = KREIN_TASK_REGRESSION;
        o.kernel = "gaussian(sigma=1)";
        o.lambda = 1e-3;
        o.map = maps[k];
        CHECK(krein_data_from_dense(ctx, 120, 6, one.x, 6, one.y, weight, &plain, &a) == KREIN_OK);
        CHECK(krein_data_from_dense(ctx, many.n, 6, many.x, 6, many.y, NULL, &plain, &b) ==
              KREIN_OK);
        CHECK(krein_train(ctx, a, &o, NULL, &m) == KREIN_OK);
        CHECK(krein_train(ctx, b, &o, NULL, &n) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, m, 120, 6, one.x, 6, f) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, n, 120, 6, one.x, 6, g) == KREIN_OK);
        for (int i = 0; i < 120; i++) CHECK_ABS(f[i], g[i], k == 0 ? 1e-6 : 1e-2);
        krein_model_destroy(m);
        krein_model_destroy(n);
        krein_data_close(a);
        krein_data_close(b);
    }
    drop(&one);
    drop(&many);
    krein_ctx_destroy(ctx);
}

static void holdout_and_test(void) {
    krein_ctx *ctx = test_ctx(1);
    rows all = friedman(500, 1, 9), more = friedman(300, 1, 10);
    krein_data *data = open_rows(ctx, &all, NULL, KREIN_TASK_AUTO);
    krein_data *test = open_rows(ctx, &more, NULL, KREIN_TASK_AUTO);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    krein_report r;
    o.kernel = "gaussian(sigma=3)";
    o.holdout = .2;
    CHECK(krein_train(ctx, data, &o, &r, &m) == KREIN_OK);
    CHECK(r.n == 400 && r.test.n == 100 && r.test.r2 > .85);
    krein_report_clear(ctx, &r);
    krein_model_destroy(m);
    o.holdout = 0;
    o.test = test;
    CHECK(krein_train(ctx, data, &o, &r, &m) == KREIN_OK);
    CHECK(r.n == 500 && r.test.n == 300 && r.test.r2 > .87);
    krein_report_clear(ctx, &r);
    /* evaluate says the same again */
    krein_metrics k;
    CHECK(krein_evaluate(ctx, m, test, &k) == KREIN_OK);
    CHECK(k.n == 300);
    krein_metrics_clear(ctx, &k);
    krein_model_destroy(m);
    o.holdout = .2;
    CHECK(krein_train(ctx, data, &o, &r, &m) == KREIN_EARG && !m); /* both */
    krein_data_close(data);
    krein_data_close(test);
    drop(&all);
    drop(&more);
    krein_ctx_destroy(ctx);
}

/* ---- the same bytes ----------------------------------------------------- */

typedef struct setting {
    const char *kernel, *map, *select;
    double lambda, holdout;
    int64_t n;
    int classes;
} setting;
static const setting settings[] = {
    {NULL, NULL, NULL, -1, 0, 150, 0},
    {NULL, NULL, NULL, -1, .2, 200, 3},
    {"gaussian(sigma=2)", "orf(D=96)", NULL, -1, 0, 2500, 0},
    {"gaussian", "rff(D=64)", "cv(k=4)", -1, .1, 200, 2},
    {"gaussian(sigma=1)", "rff(D=64)", "cv(k=4)", -1, .1, 2500, 3},
    {"laplacian(sigma=8)", "nystrom(D=70)", NULL, -1, 0, 2500, 0},
    {"gaussian(sigma=1) - 0.3*gaussian(sigma=5)", "nystrom(D=50)", NULL, .001, 0, 400, 0},
    {"gaussian(sigma=1) + matern(sigma=2)", "exact", "none", -1, 0, 250, 3},
    {"gaussian(sigma=2) - 0.2*linear*tl1", "auto(D=80)", NULL, -1, 0, 2500, 0},
};

static rows rows_of(const setting *s) {
    return s->classes ? rings(s->n, s->classes, 11) : friedman(s->n, 1, 12);
}
static krein_train_options options_of(const setting *s) {
    krein_train_options o = defaults();
    o.kernel = s->kernel;
    o.map = s->map;
    o.select = s->select;
    o.lambda = s->lambda;
    o.holdout = s->holdout;
    return o;
}

static test_bytes train_bytes(int threads, krein_data *(*open)(krein_ctx *, const void *),
                              const void *what, const krein_train_options *o) {
    krein_ctx *ctx = test_ctx(threads);
    krein_data *data = open(ctx, what);
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    test_bytes b = model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    return b;
}
static krein_data *from_memory(krein_ctx *ctx, const void *what) {
    return open_rows(ctx, what, NULL, KREIN_TASK_AUTO);
}
static krein_data *from_file(krein_ctx *ctx, const void *path) {
    krein_data *data = NULL;
    if (krein_data_open(ctx, path, NULL, &data) != KREIN_OK) exit(1);
    return data;
}

static void same_bytes(void) {
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        rows r = rows_of(&settings[s]);
        krein_train_options o = options_of(&settings[s]);
        test_bytes one = train_bytes(1, from_memory, &r, &o);
        for (int threads = test_sanitized() ? 3 : 2; threads <= 3; threads++) {
            test_bytes more = train_bytes(threads, from_memory, &r, &o);
            if (!test_same(one, more)) printf("setting %d, %d threads\n", (int)s, threads);
            CHECK(test_same(one, more));
            free(more.at);
        }
        /* From a file, kept in memory or read again for each pass. */
        char path[256];
        snprintf(path, sizeof path, "%s", write_rows("rows.csv", &r));
        o.memory_rows = 1;
        test_bytes kept = train_bytes(2, from_file, path, &o);
        o.memory_rows = -1;
        test_bytes streamed = train_bytes(3, from_file, path, &o);
        if (!test_same(kept, streamed)) printf("setting %d, streamed\n", (int)s);
        CHECK(test_same(kept, streamed));
        o.memory_rows = 0;
        o.seed = 2;
        if (settings[s].map && settings[s].lambda < 0 && strcmp(settings[s].map, "exact") != 0) {
            test_bytes other = train_bytes(2, from_memory, &r, &o);
            CHECK(!test_same(one, other)); /* another seed, another model */
            free(other.at);
        }
        free(one.at);
        free(kept.at);
        free(streamed.at);
        drop(&r);
    }
}

static void given_back(void) {
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        rows r = rows_of(&settings[s]);
        krein_train_options o = options_of(&settings[s]);
        krein_ctx *ctx = test_ctx(2);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_model *m = NULL, *again = NULL;
        krein_report report;
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        test_bytes one = model_bytes(ctx, m);
        o.kernel = report.kernel;
        o.map = report.map;
        o.learner = report.learner;
        o.lambda = report.lambda;
        krein_data *fresh = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        CHECK(krein_train(ctx, fresh, &o, NULL, &again) == KREIN_OK);
        test_bytes two = model_bytes(ctx, again);
        if (!test_same(one, two))
            printf("setting %d: %s %s %.17g\n", (int)s, report.kernel, report.map, report.lambda);
        CHECK(test_same(one, two));
        krein_model_destroy(again);
        /* The same data set once more. */
        CHECK(krein_train(ctx, data, &o, NULL, &again) == KREIN_OK);
        test_bytes three = model_bytes(ctx, again);
        CHECK(test_same(one, three));
        krein_model_destroy(again);
        free(one.at);
        free(two.at);
        free(three.at);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_data_close(fresh);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

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
        krein_report report;
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
    krein_report report;
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
    refused(&o, 200, KREIN_EARG, "--max-exact", "orf");
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
    refused(&o, 50, KREIN_EARG, "--lambda", "");
    o = defaults();
    o.holdout = 1;
    refused(&o, 50, KREIN_EARG, "--holdout", "");
    o = defaults();
    o.holdout = -.1;
    refused(&o, 50, KREIN_EARG, "--holdout", "");
    o = defaults();
    o.map = "exact";
    o.features = 10;
    refused(&o, 50, KREIN_EARG, "--features", "exact");
    o = defaults();
    o.kernel = "gaussian(sigma=1)";
    o.map = "rff(D=300)";
    o.lambda = 0;
    refused(&o, 50, KREIN_ENUMERIC, "--lambda", "");
}

/* ---- the budget --------------------------------------------------------- */

static krein_ctx *small_ctx(uint64_t most, int threads) {
    krein_ctx_options c;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&c);
    c.threads = threads;
    c.max_memory = most;
    if (krein_ctx_create(&c, &ctx) != KREIN_OK) exit(1);
    return ctx;
}

static void budget(void) {
    rows r = friedman(3000, 1, 15);
    static const char *const maps[] = {"orf(D=4096)", "exact", "nystrom(D=2500)"};
    for (int k = 0; k < 3; k++) {
        krein_ctx *ctx = small_ctx((uint64_t)40 << 20, 2);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_train_options o = defaults();
        krein_model *m = NULL;
        krein_report report;
        o.kernel = "gaussian(sigma=2)";
        o.map = maps[k];
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_EMEMORY && !m);
        CHECK_HAS(krein_message(ctx), "40.0 MB"); /* the budget */
        CHECK_HAS(krein_message(ctx), "--max-memory");
        CHECK_HAS(krein_message(ctx), k == 1 ? "--map" : "--features");
        CHECK(krein_ctx_peak_bytes(ctx) < (uint64_t)4 << 20); /* refused before the work */
        CHECK(krein_plan(ctx, data, &o, &report) == KREIN_OK);
        CHECK(!report.fits && report.bytes_peak > (uint64_t)40 << 20 && report.advice);
        /* What it advises does fit. */
        const char *at = report.advice ? strstr(report.advice, "--features ") : NULL;
        if (at) {
            char spec[60];
            snprintf(spec, sizeof spec, "%.*s(D=%d)", (int)strcspn(maps[k], "("), maps[k],
                     atoi(at + 11));
            o.map = spec;
            krein_report_clear(ctx, &report);
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            if (st != KREIN_OK) printf("%s: %s\n", spec, krein_message(ctx));
            CHECK(st == KREIN_OK);
            CHECK(krein_ctx_peak_bytes(ctx) <= (uint64_t)40 << 20);
            krein_model_destroy(m);
        }
        krein_report_clear(ctx, &report);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    /* A default number of features shrinks to what fits. */
    krein_ctx *ctx = small_ctx((uint64_t)60 << 20, 1);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    krein_report report;
    o.kernel = "gaussian(sigma=2)";
    o.map = "orf";
    krein_status st = krein_train(ctx, data, &o, &report, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    CHECK(report.D > 0 && report.D < 2000);
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
            rows r =
                all[k].classes ? rings(all[k].n, all[k].classes, 16) : friedman(all[k].n, 1, 17);
            krein_train_options o = defaults();
            krein_report plan, report;
            krein_model *m = NULL;
            o.kernel = all[k].kernel;
            o.map = all[k].map;
            o.lambda = all[k].lambda;
            o.holdout = all[k].holdout;
            o.memory_rows = file == 2 ? -1 : 0;
            char path[256];
            snprintf(path, sizeof path, "%s", write_rows("plan.csv", &r));
            krein_ctx *one = test_ctx(all[k].threads), *two = test_ctx(all[k].threads);
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
    krein_report report;
    krein_model *m = NULL, *n = NULL;
    krein_metrics k;
    o.kernel = "gaussian(sigma=2)";
    krein_data *a = from_file(ctx, path), *b = from_file(ctx, path);
    CHECK(krein_plan(ctx, a, &o, &report) == KREIN_OK);
    krein_report_clear(ctx, &report);
    CHECK(krein_train(ctx, a, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_train(ctx, b, &o, NULL, &n) == KREIN_OK);
    test_bytes one = model_bytes(ctx, m), two = model_bytes(ctx, n);
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
    krein_report report;
    krein_metrics k;
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
    int64_t memory_rows;
    int classes;
} small[] = {{NULL, NULL, NULL, -1, 0, 0, 0},
             {"gaussian", "orf(D=8)", "cv(k=3)", -1, .2, -1, 3},
             {"gaussian", "nystrom(D=6)", "none", -1, 0, 1, 2},
             {"gaussian(sigma=1) - 0.2*gaussian(sigma=3)", "nystrom(D=6)", NULL, .01, .2, -1, 0},
             {"laplacian(sigma=3)", "rff(D=8)", NULL, -1, 0, -1, 0}};

static krein_train_options small_options(size_t k, const char **path) {
    krein_train_options o = defaults();
    rows r = small[k].classes ? rings(20, small[k].classes, 19) : friedman(16, 1, 20);
    *path = write_rows("small.csv", &r);
    drop(&r);
    o.kernel = small[k].kernel;
    o.map = small[k].map;
    o.select = small[k].select;
    o.lambda = small[k].lambda;
    o.holdout = small[k].holdout;
    o.memory_rows = small[k].memory_rows;
    return o;
}

static void cancelled_anywhere(void) {
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        watch w = {.stop_at = -1};
        test_memory memory;
        krein_ctx *ctx = watched(&w, &memory);
        const char *path;
        krein_train_options o = small_options(k, &path);
        CHECK(whole_run(ctx, path, &o) == KREIN_OK);
        CHECK(w.wrong == 0 && w.logs > 0 && w.calls > 0);
        int64_t all = w.polls;
        CHECK(all >= 5);
        for (int64_t at = 0; at < all; at++) {
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
        if (test_sanitized() && k == 1) continue; /* the longest */
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        const char *path;
        krein_train_options o = small_options(k, &path);
        int shown = 0;
        TEST_EVERY_ALLOCATION(&memory, at) {
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

/* ---- selection ---------------------------------------------------------- */

static void selection(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(250, 1, 22), test = friedman(500, 1, 23);
    const char *path = test_path("groups.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,a,b,c,d,e,f,g\n");
    for (int64_t i = 0; i < r.n; i++) {
        fprintf(f, "%.9g", r.y[i]);
        for (int j = 0; j < 6; j++) fprintf(f, ",%.9g", (double)r.x[i * 6 + j]);
        fprintf(f, ",%d\n", (int)(i % 11));
    }
    fclose(f);
    static const char *const select[] = {"loo", "cv(k=5)", "cv(k=5)", "none"};
    static const char *const kernel[] = {"gaussian", "gaussian", "gaussian + laplacian",
                                         "gaussian"};
    for (int k = 0; k < 4; k++)
        for (int groups = 0; groups < 2; groups++) {
            krein_data_options d;
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_report report;
            krein_train_options o = defaults();
            double *value = test_new(500, sizeof *value), square = 0;
            krein_data_options_init(&d);
            if (groups)
                d.group = "g";
            else
                d.ignore = "g";
            o.select = select[k];
            o.kernel = kernel[k];
            if (test_sanitized() && k == 2) o.kernel = "gaussian(sigma=2)";
            CHECK(krein_data_open(ctx, path, &d, &data) == KREIN_OK);
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            if (st != KREIN_OK) printf("%s %s: %s\n", select[k], kernel[k], krein_message(ctx));
            CHECK(st == KREIN_OK);
            if (st == KREIN_OK) {
                CHECK_HAS(report.kernel, "sigma=");
                CHECK(krein_predict_dense(ctx, m, 500, 6, test.x, 6, value) == KREIN_OK);
                for (int i = 0; i < 500; i++) square += pow(value[i] - test.y[i], 2) / 500;
                CHECK(1 - square / 24 > .8);
                krein_report_clear(ctx, &report);
            }
            free(value);
            krein_model_destroy(m);
            krein_data_close(data);
        }
    drop(&r);
    drop(&test);
    krein_ctx_destroy(ctx);
}

/* What the candidates of a search hold, each in a context of its own, is in the peak too. */
static void selection_is_counted(void) {
    rows r = friedman(600, 1, 24);
    const uint64_t matrix = 8 * 600 * 600; /* the least that judges one kernel */
    for (int searched = 0; searched < 2; searched++) {
        krein_ctx *ctx = test_ctx(2);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_model *m = NULL;
        krein_train_options o = defaults();
        o.kernel = searched ? "gaussian" : "gaussian(sigma=2)";
        o.map = "rff(D=16)";
        o.lambda = .01;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        CHECK((krein_ctx_peak_bytes(ctx) > matrix) == searched);
        krein_model_destroy(m);
        krein_data_close(data);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* ---- transform and gram ------------------------------------------------- */

/* The data of a little-endian NPY file of version 1, of the type and shape that is said. */
static void *read_npy(const char *path, const char *type, int64_t n, int64_t d, size_t size) {
    test_bytes b = test_slurp(path);
    char shape[60];
    void *out = NULL;
    if (!b.at || b.n < 10 || memcmp(b.at, "\x93NUMPY\x01", 7) != 0) {
        printf("%s is not an NPY file\n", path);
        test_bad++;
        free(b.at);
        return test_new(n * (d < 0 ? 1 : d), size);
    }
    int64_t head = 10 + (unsigned char)b.at[8] + 256 * (unsigned char)b.at[9];
    char *text = test_new(head, 1);
    memcpy(text, b.at + 10, (size_t)head - 10);
    if (d < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n, (long long)d);
    CHECK_HAS(text, type);
    CHECK_HAS(text, shape);
    int64_t want = n * (d < 0 ? 1 : d) * (int64_t)size;
    CHECK(b.n - head == want);
    out = test_new(want, 1);
    if (b.n - head == want) memcpy(out, b.at + head, (size_t)want);
    free(text);
    free(b.at);
    return out;
}

static double distance2(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += pow((double)x[j] - (double)y[j], 2);
    return sum;
}

static krein_data *unscaled(krein_ctx *ctx, const rows *r) {
    krein_data_options d;
    krein_data *data = NULL;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, NULL, NULL, &d, &data) != KREIN_OK)
        exit(1);
    return data;
}

static void gram_values(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(230, 3, 1, 24), q = make_rows(50, 3, 1, 25);
    krein_train_options o = defaults();
    krein_transform_report report;
    const char *path = test_path("K.npy");
    o.kernel = "2*gaussian(sigma=0.7) - linear";
    for (int two = 0; two < 2; two++) {
        krein_data *a = unscaled(ctx, &r), *b = two ? unscaled(ctx, &q) : NULL;
        const rows *s = two ? &q : &r;
        krein_status st = krein_gram(ctx, a, b, &o, path, &report);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        CHECK(report.n == 230 && report.d == 3 && report.D == s->n);
        double *K = read_npy(path, "<f8", 230, s->n, 8), worst = 0;
        for (int64_t i = 0; i < 230; i++)
            for (int64_t j = 0; j < s->n; j++) {
                const float *x = r.x + i * 3, *y = s->x + j * 3;
                double want = 2 * exp(-distance2(x, y, 3) / (2 * .49));
                for (int c = 0; c < 3; c++) want -= (double)x[c] * (double)y[c];
                worst = fmax(worst, fabs(K[i * s->n + j] - want));
            }
        CHECK_ABS(worst, 0, 1e-12);
        free(K);
        krein_transform_report_clear(ctx, &report);
        krein_data_close(a);
        krein_data_close(b);
    }
    /* Scaled rows: DATA2 with the columns' statistics of DATA. */
    krein_data *a = NULL, *b = NULL;
    double mean[3] = {0}, sd[3] = {0};
    CHECK(krein_data_from_dense(ctx, 230, 3, r.x, 3, NULL, NULL, NULL, &a) == KREIN_OK);
    CHECK(krein_data_from_dense(ctx, 50, 3, q.x, 3, NULL, NULL, NULL, &b) == KREIN_OK);
    o.kernel = "gaussian(sigma=1.5)";
    CHECK(krein_gram(ctx, a, b, &o, path, &report) == KREIN_OK);
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 230; i++) mean[j] += (double)r.x[i * 3 + j] / 230;
        for (int i = 0; i < 230; i++) sd[j] += pow((double)r.x[i * 3 + j] - mean[j], 2) / 230;
    }
    double *K = read_npy(path, "<f8", 230, 50, 8), worst = 0;
    for (int64_t i = 0; i < 230; i++)
        for (int64_t j = 0; j < 50; j++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += pow((double)r.x[i * 3 + c] - (double)q.x[j * 3 + c], 2) / sd[c];
            worst = fmax(worst, fabs(K[i * 50 + j] - exp(-sum / (2 * 2.25))));
        }
    CHECK_ABS(worst, 0, 1e-5);
    free(K);
    krein_transform_report_clear(ctx, &report);
    krein_data_close(a);
    krein_data_close(b);
    drop(&r);
    drop(&q);
    krein_ctx_destroy(ctx);
}

static void transform_values(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(120, 3, 1, 26);
    static const struct {
        const char *kernel, *map;
        double tolerance;
    } all[] = {
        {"gaussian(sigma=0.4)", "nystrom(D=120)", 2e-3}, /* all rows are landmarks: exact */
        {"gaussian(sigma=0.3) - 0.4*gaussian(sigma=0.9)", "nystrom(D=120)", 2e-2}, /* one half */
        {"gaussian(sigma=0.4)", "rff(D=8192)", .09}, /* about 6 / sqrt(4096) */
        {"gaussian(sigma=0.4)", "orf(D=8192)", .09},
        {"gaussian(sigma=0.4) - 0.5*gaussian(sigma=1)", "rff(D=8192)", .2}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        krein_data *data = unscaled(ctx, &r);
        krein_train_options o = defaults();
        krein_transform_report report;
        const char *path = test_path("z.npy"), *beside = test_path("z.sign.npy");
        bool minus = strchr(all[k].kernel, '-') != NULL;
        unlink(beside);
        o.kernel = all[k].kernel;
        o.map = all[k].map;
        krein_status st = krein_transform(ctx, data, &o, path, &report);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        if (st != KREIN_OK) {
            krein_data_close(data);
            continue;
        }
        int64_t D = report.D, negative = 0;
        CHECK(report.n == 120 && report.d == 3 && D > 0);
        CHECK((report.negative > 0) == minus);
        CHECK((access(beside, F_OK) == 0) == minus);
        float *z = read_npy(path, "<f4", 120, D, 4);
        signed char *sign = minus ? read_npy(beside, "|i1", D, -1, 1) : NULL;
        for (int64_t f = 0; sign && f < D; f++) {
            CHECK(sign[f] == 1 || sign[f] == -1);
            negative += sign[f] == -1;
        }
        CHECK(negative == report.negative);
        double worst = 0;
        for (int64_t i = 0; i < 120; i++)
            for (int64_t j = 0; j < 120; j++) {
                double d2 = distance2(r.x + i * 3, r.x + j * 3, 3), sum = 0, want;
                for (int64_t f = 0; f < D; f++)
                    sum += (sign ? sign[f] : 1) * (double)z[i * D + f] * (double)z[j * D + f];
                want = k == 1 ? exp(-d2 / (2 * .09)) - .4 * exp(-d2 / (2 * .81))
                              : exp(-d2 / (2 * .16));
                if (k == 4) want -= .5 * exp(-d2 / 2);
                worst = fmax(worst, fabs(sum - want));
            }
        CHECK_ABS(worst, 0, all[k].tolerance);
        free(z);
        free(sign);
        krein_transform_report_clear(ctx, &report);
        krein_data_close(data);
    }
    krein_data *data = unscaled(ctx, &r);
    krein_train_options o = defaults();
    krein_transform_report report;
    o.map = "exact";
    CHECK(krein_transform(ctx, data, &o, test_path("no.npy"), &report) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "gram");
    CHECK(access(test_path("no.npy"), F_OK) != 0);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(regression_by_default);
    RUN(classes_by_default);
    RUN(several_outputs);
    RUN(weights_are_repeated_rows);
    RUN(holdout_and_test);
    RUN(same_bytes);
    RUN(given_back);
    RUN(numbers_of_features);
    RUN(what_is_refused);
    RUN(budget);
    RUN(plan_is_a_bound);
    RUN(plan_leaves_no_trace);
    RUN(cancelled_anywhere);
    RUN(every_allocation_fails);
    RUN(predict_is_stopped);
    RUN(selection);
    RUN(selection_is_counted);
    RUN(gram_values);
    RUN(transform_values);
    return DONE();
}
