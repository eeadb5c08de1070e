/* test_askl.c -- learned frequencies through training: tasks, bits, files, memory, refusals. */
#include "train.h"

#include "map/learned.h"
#include "learn/learn.h"
#include "net/fit.h"

static krein_train_options askl(const char *learner) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernel = "gaussian(sigma=1.5)";
    return o;
}

/* ---- tasks -------------------------------------------------------------- */

/* The learner does its task, and a smaller one of the five does it less well. */
static void tasks(void) {
    static const struct {
        int classes;
        const char *learner;
        double most; /* error, or share of the variance that is left */
    } all[] = {{0, "askl(D=64, epochs=40)", .05},
               {0, "askl(D=64, epochs=40, refit=no, norm=frobenius)", .05},
               {0, "askl(D=64, epochs=40, norm=group, lambda_a=1e-4, schedule=step)", .05},
               {0, "askl(D=64, preset=sk)", .1},
               {2, "askl(D=64, epochs=40, rate=0.02, norm=l1, schedule=constant)", .08},
               {2, "askl(D=64, epochs=40, rate=0.02)", .06},
               {2, "askl(D=64, epochs=40, rate=0.02, preset=joint)", .06},
               {2, "askl(D=64, epochs=40, sines=yes, loss=hinge2, optimizer=adadelta)", .1},
               {2, "askl(D=64, epochs=40, loss=logistic, optimizer=sgd, rate=1, clip=1)", .1},
               {3, "askl(D=64, epochs=40, rate=0.02, preset=nskl)", .08},
               {3, "askl(D=64, epochs=40, loss=hinge, rate=0.02, schedule=warmup)", .08},
               {3, "askl(D=64, epochs=40, loss=square, spectrum=stationary)", .1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_ctx *ctx = test_ctx(2);
        int64_t n = test_sanitized() ? 600 : 1500;
        rows r = all[i].classes ? rings(n, all[i].classes, 3) : friedman(n, .1, 3);
        krein_train_options o = askl(all[i].learner);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.holdout = .25;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_AUTO, &o, &report, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", all[i].learner, krein_message(ctx));
        if (!m) continue;
        double off =
            all[i].classes ? 1 - report.test->accuracy : report.test->rmse * report.test->rmse / 24;
        double most = all[i].most * (test_sanitized() ? 2 : 1);
        CHECK_ELSE(off < most, "%s, %d classes: %g\n", all[i].learner, all[i].classes, off);
        CHECK(report.folds == 1 && isfinite(report.loo));
        /* the square loss solves for its weights again; that error is one of new rows too */
        bool refit = !all[i].classes || strstr(all[i].learner, "square");
        if (strstr(all[i].learner, "refit=no")) refit = false;
        CHECK(isfinite(report.refit) == refit);
        if (refit && !all[i].classes)
            CHECK_ELSE(fabs(log(report.refit / report.test->rmse)) < log(1.4),
                       "%s: %g after the refit, %g on new rows\n", all[i].learner, report.refit,
                       report.test->rmse);
        CHECK(report.D == 64);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

static void targets(void) {
    static const char *const learner[] = {"askl(D=64, epochs=40)",
                                          "askl(D=64, epochs=40, refit=no)"};
    for (int i = 0; i < 2; i++) {
        krein_ctx *ctx = test_ctx(1);
        rows r = two_targets(800);
        krein_train_options o = askl(learner[i]);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.holdout = .25;
        CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, &report, &m) == KREIN_OK);
        if (m) CHECK(m->k == 2 && report.test->r2 > .9);
        /* in the units of the data: the second target has a deviation of 290 */
        CHECK(report.loo > 1 && report.loo < 100 && report.folds == 1);
        CHECK(i == 1 ? isnan(report.refit) : report.refit > 1 && report.refit < 100);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Rows 16 times as long with a kernel 16 times as wide are the same problem: features are the same
 * bits at the start, and steps of the frequencies follow their size. What is left is the epsilon
 * of adam, which does not. (With steps of one size the gap is that of two unlike functions.) */
static void long_rows(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(300, .1, 6), wide = friedman(300, .1, 6);
    krein_model *m[2] = {NULL, NULL};
    double f[2][300], gap = 0, size = 0;
    for (int64_t i = 0; i < 300 * r.d; i++) wide.x[i] *= 16;
    for (int i = 0; i < 2; i++) {
        krein_train_options o = askl("askl(D=64, epochs=3, refit=no, rate=0.02)");
        const rows *q = i ? &wide : &r;
        o.kernel = i ? "gaussian(sigma=8)" : "gaussian(sigma=0.5)";
        krein_data *data = open_rows(ctx, q, NULL, KREIN_TASK_REGRESSION);
        data->options.scale = KREIN_SCALE_NONE;
        CHECK(krein_train(ctx, data, &o, NULL, &m[i]) == KREIN_OK);
        krein_data_close(data);
        CHECK(m[i] && krein_predict_dense(ctx, m[i], 300, q->d, q->x, q->d, f[i]) == KREIN_OK);
        krein_model_destroy(m[i]);
    }
    for (int i = 0; i < 300; i++) {
        gap += pow(f[0][i] - f[1][i], 2);
        size += pow(f[0][i] - 14, 2);
    }
    CHECK_ELSE(gap < .01 * size, "%g of %g\n", gap, size);
    drop(&r), drop(&wide);
    krein_ctx_destroy(ctx);
}

/* ---- bits and files ----------------------------------------------------- */

typedef struct made {
    test_bytes bytes;
    uint64_t peak;
} made;

static made bytes_of(int threads, uint64_t budget, krein_keep keep, const char *path,
                     const krein_train_options *o, test_log *log) {
    made out = {0};
    krein_ctx *ctx = test_ctx_full(threads, NULL, log);
    if (budget) ctx->budget = budget;
    krein_model *m = NULL;
    ctx->keep_rows = keep;
    krein_data *data = from_file(ctx, path);
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(ctx));
    krein_data_close(data);
    if (m) out.bytes = test_model_bytes(ctx, m);
    out.peak = krein_ctx_peak_bytes(ctx);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return out;
}

/* test_path has few names at a time. */
static void keep_path(char *to, size_t size, const char *path) { snprintf(to, size, "%s", path); }

/* Threads, and rows in memory or read again. */
static void models_have_the_same_bits(void) {
    static const char *const learner[] = {"askl(D=150, epochs=3)",
                                          "askl(D=150, epochs=3, refit=no, sines=yes)"};
    rows r = friedman(700, .1, 4);
    char path[256];
    keep_path(path, sizeof path, write_rows("rows.csv", &r));
    for (int i = 0; i < 2; i++) {
        krein_train_options o = askl(learner[i]);
        made a = bytes_of(1, 0, KREIN_KEEP_MEMORY, path, &o, NULL);
        made b = bytes_of(2, 0, KREIN_KEEP_MEMORY, path, &o, NULL);
        made c = bytes_of(2, 0, KREIN_KEEP_STREAM, path, &o, NULL);
        CHECK(test_same(a.bytes, b.bytes) && test_same(a.bytes, c.bytes));
        free(a.bytes.at), free(b.bytes.at), free(c.bytes.at);
    }
    drop(&r);
}

/* Where the rows do not fit they come in windows; that is said, and threads still do not matter. */
static void windows(void) {
    int64_t n = 30000;
    rows r = make_rows(n, 40, 1, 9);
    for (int64_t i = 0; i < n; i++) r.y[i] = sin(4 * (double)r.x[i * 40]) + (double)r.x[i * 40 + 1];
    char path[256];
    keep_path(path, sizeof path, write_rows("long.csv", &r));
    krein_train_options o = askl("askl(D=16, epochs=2, batch=256, refit=no)");
    o.kernel = "gaussian(sigma=12)"; /* one with which two epochs are better than the start */
    test_log log;
    made a = bytes_of(1, (uint64_t)11 << 20, KREIN_KEEP_STREAM, path, &o, &log);
    const char *said = strstr(log.text, "shuffled within windows of");
    CHECK(said && !strstr(said + 1, "shuffled within")); /* once */
    made b = bytes_of(2, (uint64_t)11 << 20, KREIN_KEEP_STREAM, path, &o, NULL);
    made whole = bytes_of(1, 0, KREIN_KEEP_STREAM, path, &o, NULL);
    CHECK(test_same(a.bytes, b.bytes) && !test_same(a.bytes, whole.bytes));
    CHECK(a.peak <= (uint64_t)11 << 20);
    free(a.bytes.at), free(b.bytes.at), free(whole.bytes.at);
    drop(&r);
}

/* The same for sparse rows, of very different lengths. */
static void sparse_windows(void) {
    int64_t n = 16000, d = 60;
    char path[256];
    test_log log;
    keep_path(path, sizeof path, test_path("long.svm"));
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(f, "%.6g", sin((double)i) + (i % 2 ? 1 : -1));
        for (int64_t j = i % 2; j < d; j += i < n / 4 ? 1 : 2)
            fprintf(f, " %d:%.4g", (int)j + 1, det(i, j, 0));
        fprintf(f, "\n");
    }
    fclose(f);
    krein_train_options o = askl("askl(D=8, epochs=2, batch=256, refit=no)");
    const uint64_t budget = (uint64_t)11 << 20;
    made a = bytes_of(1, budget, KREIN_KEEP_STREAM, path, &o, &log);
    CHECK_HAS(log.text, "shuffled within windows of");
    made b = bytes_of(2, budget, KREIN_KEEP_STREAM, path, &o, NULL);
    made whole = bytes_of(1, 0, KREIN_KEEP_STREAM, path, &o, &log);
    CHECK(!strstr(log.text, "windows"));
    CHECK(test_same(a.bytes, b.bytes) && !test_same(a.bytes, whole.bytes));
    CHECK(a.peak <= budget && b.peak <= budget);
    free(a.bytes.at), free(b.bytes.at), free(whole.bytes.at);
}

/* What was chosen, given back, is the same model; probabilities; a file predicts the same. */
static void choice(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(400, 3, 2);
    krein_train_options o = askl("askl(epochs=4)");
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL, *again = NULL, *loaded = NULL;
    o.kernel = "gaussian";
    o.probabilities = true;
    CHECK(train_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o, &report, &m) == KREIN_OK);
    if (!m) exit(1);
    CHECK(m->calibration.slope && m->calibration.slope[0] == 1);
    CHECK_HAS(report.learner, "rate=0.00");
    CHECK_HAS(report.map, "learned(D=");
    o.learner = report.learner;
    o.kernel = report.kernel;
    CHECK(train_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o, NULL, &again) == KREIN_OK);
    test_bytes a = test_model_bytes(ctx, m);
    if (again) {
        test_bytes b = test_model_bytes(ctx, again);
        CHECK(test_same_model(a, b));
        free(b.at);
    }
    CHECK(krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
    CHECK(krein_model_load(ctx, test_path("m.krein"), &loaded) == KREIN_OK);
    if (loaded) {
        test_bytes c = test_model_bytes(ctx, loaded);
        CHECK(test_same(a, c));
        free(c.at);
    }
    free(a.at);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_model_destroy(again);
    krein_model_destroy(loaded);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Sparse rows are the same rows. */
static void sparse_rows(void) {
    rows r = make_rows(300, 5, 1, 6);
    char dense[256], sparse[256];
    keep_path(sparse, sizeof sparse, test_path("rows.svm"));
    for (int64_t i = 0; i < 300 * 5; i++)
        if (i % 3 == 0) r.x[i] = 0;
    for (int64_t i = 0; i < 300; i++) r.y[i] = sin(3 * (double)r.x[5 * i]) + (double)r.x[5 * i + 1];
    keep_path(dense, sizeof dense, write_rows("dense.csv", &r));
    FILE *f = fopen(sparse, "w");
    if (!f) exit(1);
    for (int64_t i = 0; i < 300; i++) {
        fprintf(f, "%.9g", r.y[i]);
        for (int j = 0; j < 5; j++)
            if (r.x[5 * i + j] != 0 || i == 0)
                fprintf(f, " %d:%.9g", j + 1, (double)r.x[5 * i + j]);
        fprintf(f, "\n");
    }
    fclose(f);
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = askl("askl(D=20, epochs=3, refit=no)");
    krein_model *m[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        krein_data_options d;
        krein_data *data = NULL;
        krein_data_options_init(&d);
        d.scale = KREIN_SCALE_NONE;
        d.task = KREIN_TASK_REGRESSION;
        CHECK(krein_data_open(ctx, i ? sparse : dense, &d, &data) == KREIN_OK);
        CHECK(krein_train(ctx, data, &o, NULL, &m[i]) == KREIN_OK);
        krein_data_close(data);
    }
    if (m[0] && m[1]) {
        CHECK(m[1]->encoding.sparse && !m[0]->encoding.sparse);
        double off = 0;
        for (int i = 0; i < 20; i++) off = fmax(off, fabs(m[0]->w[i] - m[1]->w[i]));
        CHECK(off < 1e-3); /* dense columns have a shift in the file, in double */
    }
    krein_model_destroy(m[0]);
    krein_model_destroy(m[1]);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- the map ------------------------------------------------------------ */

/* Frequencies of one model serve others: ridge regression on them, and training that goes on. */
static void frequencies_of_a_model(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(600, .1, 8), narrow = make_rows(50, 3, 1, 8);
    krein_train_options o = askl("askl(D=40, epochs=20)");
    krein_model *m = NULL, *other = NULL;
    char spec[300], bad[300];
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &m) == KREIN_OK);
    if (!m) exit(1);
    const char *path = test_path("from.krein");
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    snprintf(spec, sizeof spec, "learned(file=\"%s\")", path);
    o.learner = "krr";
    o.map = spec;
    o.lambda = m->lambda;
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_OK);
    if (other) {
        double off = 0;
        CHECK(other->map->D == 40 && other->k == 1);
        for (int i = 0; i < 40; i++) off = fmax(off, fabs(other->w[i] - m->w[i]));
        CHECK(off < 1e-9); /* the refit is krr */
        const krein_learned *s = krein__learned(other->map), *t = krein__learned(m->map);
        CHECK(memcmp(s->W, t->W, sizeof(float) * 7 * 40) == 0);
        CHECK(memcmp(s->V, t->V, sizeof(float) * 7 * 40) == 0);
    }
    krein_model_destroy(other);
    o.learner = "askl(epochs=2)";
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_OK);
    krein_model_destroy(other);
    o.learner = "krr";
    CHECK(train_rows(ctx, &narrow, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "encoded columns");
    snprintf(bad, sizeof bad, "learned(file=\"%s\")", test_path("none.krein"));
    o.map = bad;
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) != KREIN_OK);
    CHECK_HAS(krein_message(ctx), "none.krein");
    o.map = "rff(D=8)";
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_OK);
    CHECK(krein_model_save(ctx, other, test_path("none.krein")) == KREIN_OK);
    krein_model_destroy(other);
    o.map = bad;
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "no learned frequencies");
    krein_model_destroy(m);
    drop(&r), drop(&narrow);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* A stationary spectrum estimates the kernel; train=no leaves the draws alone. */
static void frequencies_start_as_drawn(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(200, .1, 8);
    krein_train_options o = askl("askl(D=30, epochs=2, preset=nsk)"), p = askl("krr");
    krein_model *m = NULL, *other = NULL;
    p.map = "learned(D=30)";
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &m) == KREIN_OK);
    CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &p, NULL, &other) == KREIN_OK);
    if (m && other) {
        const krein_learned *s = krein__learned(m->map), *t = krein__learned(other->map);
        double off = 0;
        for (int i = 0; i < 7 * 30; i++) off = fmax(off, fabs((double)(s->V[i] - t->V[i])));
        CHECK(off < 1e-7 && memcmp(s->W, s->V, sizeof(float) * 6 * 30) != 0);
        CHECK(memcmp(s->W + 180, s->V + 180, sizeof(float) * 30) == 0); /* the same phases */
    }
    krein_model_destroy(m);
    krein_model_destroy(other);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* y = cos w1'x + cos w2'x: features that are not needed go, and those that stay have the two
 * frequencies. */
static void known_spectrum(void) {
    static const double truth[2][2] = {{2, -1}, {-0.5, 2.5}};
    krein_ctx *ctx = test_ctx(1);
    int64_t n = test_sanitized() ? 1000 : 2000;
    rows r = make_rows(n, 2, 1, 7);
    for (int64_t i = 0; i < n; i++) {
        r.y[i] = 0;
        for (int64_t j = 0; j < 2; j++) r.x[2 * i + j] = 4 * r.x[2 * i + j] - 2;
        for (int q = 0; q < 2; q++)
            r.y[i] += cos(truth[q][0] * (double)r.x[2 * i] + truth[q][1] * (double)r.x[2 * i + 1]);
    }
    krein_train_options o = askl("askl(D=24, epochs=80, rate=0.02, norm=group, lambda_a=0.01, "
                                 "spectrum=stationary, refit=no, lambda_b=0)");
    krein_data_options d;
    krein_data *data = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    d.task = KREIN_TASK_REGRESSION;
    o.kernel = "gaussian(sigma=0.5)";
    CHECK(krein_data_from_dense(ctx, n, 2, r.x, 2, r.y, NULL, &d, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    if (!m) exit(1);
    const krein_learned *s = krein__learned(m->map);
    double near[2] = {0, 0}, all = 0;
    for (int64_t f = 0; f < 24; f++) {
        double a = 2 * M_PI * (double)s->W[f], b = 2 * M_PI * (double)s->W[24 + f];
        double energy = m->w[f] * m->w[f];
        all += energy;
        for (int q = 0; q < 2; q++) {
            double plus = hypot(a - truth[q][0], b - truth[q][1]);
            double minus = hypot(a + truth[q][0], b + truth[q][1]);
            near[q] += fmin(plus, minus) < 0.2 ? energy : 0;
        }
    }
    CHECK_ELSE(report.loo < 0.1, "rmse %g\n", report.loo);
    CHECK_ELSE(near[0] > 0.2 * all && near[1] > 0.2 * all && near[0] + near[1] > 0.9 * all,
               "energy on the true frequencies: %g and %g of %g\n", near[0], near[1], all);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* krein_model_frequencies: as the map has them, and as a map that nobody trained draws them. */
static void frequencies_at_the_start(void) {
    static const struct {
        const char *learner, *map;
        bool trained;
    } all[] = {{"askl(D=12, epochs=20, rate=0.02)", NULL, true},
               {"askl(D=12, epochs=20, rate=0.02, preset=skl, sines=yes)", NULL, true},
               {"askl(D=12, epochs=2, preset=sk)", NULL, false},
               {"askl(D=12, epochs=1, form=mixture, q=1)", NULL, true},
               {"krr", "learned(D=12)", false},
               {"krr", "rff(D=12)", false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_ctx *ctx = test_ctx(1);
        rows r = friedman(120, .1, 8);
        krein_train_options o = askl(all[i].learner);
        krein_frequencies f = KREIN_SIZED(krein_frequencies), none = {0};
        krein_model *m = NULL, *other = NULL;
        krein_array a;
        o.map = all[i].map;
        CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &m) == KREIN_OK);
        if (!m) exit(1);
        char *map = krein__map_text(m->map);
        o.learner = "krr";
        o.map = map;
        CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &other) == KREIN_OK);
        CHECK(krein_model_frequencies(ctx, m, &none) == KREIN_EARG); /* no size */
        CHECK(krein_model_frequencies(ctx, m, NULL) == KREIN_OK);
        CHECK(krein_model_frequencies(ctx, m, &f) == KREIN_OK);
        CHECK_ELSE(f.d == 6 && f.w && (f.start != NULL) == all[i].trained, "%s, %s\n",
                   all[i].learner, all[i].map ? all[i].map : "-");
        for (int q = 0; q < (f.start ? 2 : 1); q++) {
            double off = 0;
            CHECK(krein_model_array(q ? other : m, "frequencies", &a) && a.columns <= f.n);
            const float *turns = a.at, *w = q ? f.start : f.w;
            for (int64_t j = 0; j < 6; j++)
                for (int64_t k = 0; k < a.columns; k++)
                    off = fmax(off, fabs((double)w[k * 6 + j] -
                                         2 * M_PI * (double)turns[j * a.columns + k]));
            CHECK(off < 1e-5);
        }
        krein_frequencies_clear(ctx, &f);
        krein_frequencies_clear(ctx, NULL);
        krein__free(ctx, map);
        krein_model_destroy(m);
        krein_model_destroy(other);
        drop(&r);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
}

/* Words of the options stand for entries of the tables, by their numbers. */
static void words(void) {
    static const struct {
        const char *option;
        const krein_class *const *table;
        const int64_t *count;
    } all[] = {{"loss", krein__losses, &krein__loss_count},
               {"optimizer", krein__optimizers, &krein__optimizer_count}};
    const krein_class *c = krein__class_named("askl", krein__learners, krein__learner_count);
    for (int i = 0; i < 2; i++) {
        int64_t slot = krein__option_index(c, all[i].option), k = 0;
        char word[40];
        for (; krein__word(c->options[slot].words, k, word, sizeof word); k++)
            CHECK(k < *all[i].count && strcmp(word, all[i].table[k]->name) == 0);
        CHECK(k == *all[i].count);
    }
}

/* ---- what goes wrong ---------------------------------------------------- */

static void refusals(void) {
    static const struct {
        const char *learner, *map, *kernel;
        double lambda;
        int classes;
        krein_status status;
        const char *part;
    } all[] = {{"askl", "rff", NULL, -1, 2, KREIN_EARG, "map=learned"},
               {"askl", "exact", NULL, -1, 2, KREIN_EARG, "map=learned"},
               {"askl", NULL, "poly", -1, 2, KREIN_ESPEC, "spectral measure"},
               {"askl", NULL, "gaussian(sigma=1) + laplacian(sigma=1)", -1, 2, KREIN_ESPEC, "one"},
               {"askl(loss=hinge)", NULL, NULL, -1, 0, KREIN_EARG, "for classes"},
               {"askl(refit=no)", NULL, NULL, .1, 0, KREIN_EARG, "lambda_a"},
               {"askl(D=1, sines=yes)", NULL, NULL, -1, 0, KREIN_ESPEC, "D=2"},
               {"askl(spectrum=stationary)", "learned(D=8)", NULL, -1, 2, KREIN_EARG, "different"},
               {"askl(rate=0)", NULL, NULL, -1, 2, KREIN_ESPEC, "rate"},
               {"askl(epochs=0)", NULL, NULL, -1, 2, KREIN_ESPEC, "it takes a value in [1, "},
               {"askl(D=0)", NULL, NULL, -1, 2, KREIN_ESPEC, "it takes a value in [1, "},
               {"askl(norm=l2)", NULL, NULL, -1, 2, KREIN_ESPEC, "frobenius"},
               {"askl(preset=best)", NULL, NULL, -1, 2, KREIN_ESPEC, "preset"}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rows r = all[i].classes ? rings(100, 2, 3) : friedman(100, .1, 3);
        krein_train_options o = askl(all[i].learner);
        krein_model *m = NULL;
        o.map = all[i].map;
        o.lambda = all[i].lambda;
        if (all[i].kernel) o.kernel = all[i].kernel;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_AUTO, &o, NULL, &m);
        CHECK_ELSE(st == all[i].status, "%s: %d %s\n", all[i].learner, (int)st, krein_message(ctx));
        CHECK_HAS(krein_message(ctx), all[i].part);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* A rate that diverges, a batch of all rows, one feature, few rows, constant inputs, weights of
 * zero: a model comes out, and what is wrong is said. */
static void odd_input(void) {
    static const struct {
        const char *learner, *said;
        int64_t n;
        bool constant;
    } all[] = {{"askl(D=16, rate=1e30, optimizer=sgd)", "rate=1e+30 is too large", 200, false},
               {"askl(D=16, rate=1e30, optimizer=sgd, refit=no)", "weights of 0", 200, false},
               {"askl(D=16, batch=100000, epochs=3)", "3 steps", 200, false},
               {"askl(D=1, epochs=3)", "epochs", 200, false},
               {"askl(D=8, epochs=3)", "3 epochs", 12, false},
               {"askl(D=8, epochs=3)", "epochs", 100, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        rows r = friedman(all[i].n, .1, 3);
        krein_train_options o = askl(all[i].learner);
        krein_model *m = NULL;
        for (int64_t j = 0; all[i].constant && j < r.n * r.d; j++) r.x[j] = 1;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", all[i].learner, krein_message(ctx));
        CHECK_HAS(log.text, all[i].said);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Rows without labels have a part in the penalty of the features, and in nothing else. */
static void unlabelled_rows(void) {
    static const char *const learner[] = {"askl(D=16, epochs=3, refit=no, lambda_b=1)",
                                          "askl(D=16, epochs=3, refit=no, lambda_b=0)"};
    rows r = friedman(200, .1, 3), more = friedman(300, .1, 4);
    for (int q = 0; q < 2; q++) {
        krein_ctx *ctx = test_ctx(1);
        krein_model *m[2] = {NULL, NULL};
        for (int i = 0; i < 2; i++) {
            krein_train_options o = askl(learner[q]);
            krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
            krein_data *extra = open_rows(ctx, &more, NULL, KREIN_TASK_REGRESSION);
            if (i) o.unlabeled = extra;
            CHECK(krein_train(ctx, data, &o, NULL, &m[i]) == KREIN_OK);
            krein_data_close(data);
            krein_data_close(extra);
        }
        if (m[0] && m[1]) CHECK((memcmp(m[0]->w, m[1]->w, 16 * sizeof(double)) == 0) == (q == 1));
        krein_model_destroy(m[0]);
        krein_model_destroy(m[1]);
        krein_ctx_destroy(ctx);
    }
    drop(&r), drop(&more);
}

static void plan_bounds_the_memory(void) {
    static const char *const learner[] = {"askl(D=64, epochs=1)",
                                          "askl(D=300, epochs=1, refit=no, batch=400, clip=1)",
                                          "askl(D=100, epochs=1, sines=yes, optimizer=sgd)"};
    for (int i = 0; i < 3; i++) {
        rows r = i == 1 ? rings(2000, 3, 2) : friedman(3000, .1, 2);
        krein_train_options o = askl(learner[i]);
        check_plan(1 + i % 2, &r, i == 1 ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION, &o);
        drop(&r);
    }
}

static void every_allocation(void) {
    static const char *const learner[] = {"askl(D=4, epochs=1, loss=hinge)",
                                          "askl(D=4, epochs=1, loss=square)"};
    rows r = rings(50, 2, 2);
    for (int i = 0; i < 2; i++) {
        test_memory memory;
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_train_options o = askl(learner[i]);
        o.probabilities = true;
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_data *data = NULL;
            krein_data_options d;
            krein_model *m = NULL;
            krein_data_options_init(&d);
            d.task = KREIN_TASK_CLASSIFICATION;
            krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            krein_data_close(data);
        }
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(tasks);
    RUN(targets);
    RUN(long_rows);
    RUN(models_have_the_same_bits);
    RUN(windows);
    RUN(sparse_windows);
    RUN(choice);
    RUN(sparse_rows);
    RUN(frequencies_of_a_model);
    RUN(frequencies_start_as_drawn);
    RUN(known_spectrum);
    RUN(frequencies_at_the_start);
    RUN(words);
    RUN(refusals);
    RUN(odd_input);
    RUN(unlabelled_rows);
    RUN(plan_bounds_the_memory);
    RUN(every_allocation);
    return DONE();
}
