/* test_dckrr.c -- divide and conquer: parts, reference values, the average and its leave-one-out
 * against elimination, bits, refusals, memory, quality. */
#include "divide.h"

#include "learn/divide.h"

/* ---- parts -------------------------------------------------------------- */

static void cuts(void) {
    krein_ctx *ctx = test_ctx(1);
    static const int64_t sizes[][2] = {{1, 1}, {7, 3}, {100, 7}, {100, 100}, {1000, 3}, {4097, 16}};
    for (int k = 0; k < 12; k++) {
        int64_t n = sizes[k / 2][0], parts = sizes[k / 2][1], block = 64, seen = 0;
        krein_cut cut;
        CHECK(krein__cut_begin(ctx, n, parts, block, k % 2, 5, &cut) == KREIN_OK);
        CHECK(cut.bound[0] == 0 && cut.bound[parts] == n && krein__cut_most(&cut) > 0);
        for (int64_t j = 0; j < parts; j++) {
            int64_t size = cut.bound[j + 1] - cut.bound[j], *index = test_new(size, 8);
            bool blocks = n / parts >= 4 * block;
            CHECK(size >= n / parts - (blocks ? block : 0) && size >= 1);
            CHECK(size <= n / parts + (blocks ? 2 * block : 1));
            CHECK(!blocks || cut.bound[j] % block == 0);
            krein__cut_rows(&cut, j, index);
            for (int64_t i = 0; i < size; i++) {
                CHECK(index[i] >= 0 && index[i] < n && (i == 0 || index[i] > index[i - 1]));
                CHECK(!cut.owner || cut.owner[index[i]] == j);
                CHECK(cut.owner || index[i] == cut.bound[j] + i);
            }
            seen += size;
            free(index);
        }
        CHECK(seen == n && (cut.owner != NULL) == (k % 2 && parts > 1));
        krein__cut_end(ctx, &cut);
    }
    krein_ctx_destroy(ctx);
}

/* Shuffled: of the first hundred rows each part of ten has its tenth. */
static void shuffled_parts_are_random(void) {
    krein_ctx *ctx = test_ctx(1);
    double square = 0;
    int64_t count[10] = {0};
    krein_cut cut;
    CHECK(krein__cut_begin(ctx, 10000, 10, 4096, true, 3, &cut) == KREIN_OK);
    for (int64_t i = 0; i < 2000; i++) count[cut.owner[i]]++;
    for (int j = 0; j < 10; j++) square += pow((double)count[j] - 200, 2) / 200;
    CHECK_ABS(square / .8, 9, 5 * sqrt(18)); /* chi square, drawn without replacement */
    krein__cut_end(ctx, &cut);
    krein_ctx_destroy(ctx);
}

/* ---- reference values --------------------------------------------------- */

/* The formulas have no intercept: beside every row stands its mirror image, so that means are zero.
 * Of rows 0 .. 7 of Z = det(8, 5, 1.1), y = det(8, 1, .4). */
static void mirrored(int64_t row, int64_t at, rows *r) {
    for (int sign = 0; sign < 2; sign++)
        for (int64_t j = 0; j < 5; j++) {
            r->x[(at + sign) * 5 + j] = (float)((sign ? -1 : 1) * det(row, j, 1.1));
            r->y[at + sign] = (sign ? -1 : 1) * det(row, 0, .4);
        }
}

/* Inputs are float32: six digits and a bit. */
static void reference_values(void) {
    static const double one[] = {.48717033724, -.445361446236, -.088528293098, -.119802609102,
                                 -.026190000056},
                        two[] = {.424380366943, -.460300649822, -.032302341404, .095603044904,
                                 -.125642942237};
    krein_ctx *ctx = test_ctx(2);
    rows r = {16, 5, 1, test_new(80, sizeof(float)), test_new(16, sizeof(double))};
    for (int64_t i = 0; i < 8; i++) mirrored(i, 2 * i, &r);
    for (int k = 0; k < 4; k++) {
        krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_train_options o = with(k % 2 ? "dckrr(parts=2)" : "dckrr(parts=1)", "linear",
                                     k / 2 ? "exact" : "explicit", .1);
        krein_model *m = NULL;
        float unit[25] = {0};
        double f[5];
        for (int j = 0; j < 5; j++) unit[6 * j] = 1;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        if (m) CHECK(krein_predict_dense(ctx, m, 5, 5, unit, 5, f) == KREIN_OK);
        for (int j = 0; m && j < 5; j++) CHECK_ABS(f[j], (k % 2 ? two : one)[j], 3e-7);
        if (m) CHECK_ABS(m->intercept[0], 0, 1e-7);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- against elimination ------------------------------------------------ */

enum { N = 46 };

static double weight[N];
static int owner[N];
static void fill(int64_t n, int parts, bool weighted) {
    for (int64_t i = 0; i < n; i++) {
        owner[i] = in_order(i, n, parts);
        weight[i] = weighted ? 1 + .6 * det(i, 3, 0) : 1;
        if (weighted && i % 11 == 5) weight[i] = 0;
    }
}
static void fill_shuffled(krein_ctx *ctx, int parts) {
    krein_cut cut;
    CHECK(krein__cut_begin(ctx, N, parts, 1, true, 1, &cut) == KREIN_OK);
    for (int64_t i = 0; i < N; i++) owner[i] = cut.owner[i];
    krein__cut_end(ctx, &cut);
}

/* Predictions and leave-one-out at the lambda that was chosen; others are not better. */
static void the_average(void) {
    static const char *const specs[] = {"dckrr(parts=3)", "dckrr(parts=3, order=shuffle)"};
    for (int k = 0; k < 16; k++) {
        krein_ctx *ctx = test_ctx(1 + k % 2);
        bool shuffle = k & 1, weighted = k & 2, features = k & 4, chosen = k & 8;
        int64_t outputs = weighted ? 2 : 1;
        rows r = smooth(N, outputs);
        fill(N, 3, weighted);
        if (shuffle) fill_shuffled(ctx, 3);
        obvious p = {r, weighted ? weight : NULL, owner, 3, features ? linear : gaussian};
        krein_data *data = as_they_are(ctx, &r, p.weight, KREIN_TASK_REGRESSION);
        krein_train_options o = with(specs[shuffle], features ? "linear" : "gaussian(sigma=0.7)",
                                     features ? "explicit" : "exact", chosen ? -1 : .01);
        krein_model *m = NULL;
        krein_report report = KREIN_SIZED(krein_report);
        double f[N * 2];
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        if (!m) printf("%s\n", krein_message(ctx));
        CHECK(m && krein_predict_dense(ctx, m, N, 3, r.x, 3, f) == KREIN_OK);
        for (int64_t i = 0; i < N; i += 5)
            for (int64_t c = 0; c < outputs; c++)
                CHECK_ABS(f[i * outputs + c],
                          average_at(&p, -1, false, report.lambda, c, r.x + i * 3),
                          features ? 2e-5 : 1e-9);
        if (chosen) {
            double best = held_out(&p, false, report.lambda);
            CHECK_REL(report.loo, best, features ? 1e-4 : 1e-7);
            CHECK(held_out(&p, false, report.lambda * 1.7783) >= best * (1 - 1e-4));
            CHECK(held_out(&p, false, report.lambda / 1.7783) >= best * (1 - 1e-4));
        }
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Parts of more rows than one eigendecomposition is made of: lambda by steps. */
static void large_parts(void) {
    if (test_sanitized()) SKIP("takes long");
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(4110, 1, 7);
    krein_metrics metric = KREIN_SIZED(krein_metrics);
    krein_report report = KREIN_SIZED(krein_report);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_train_options o = with("dckrr(parts=2)", "gaussian(sigma=3)", "exact", -1);
    krein_model *m = NULL;
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    krein_data_close(data);
    rows other = friedman(1000, 1, 8);
    data = open_rows(ctx, &other, NULL, KREIN_TASK_AUTO);
    CHECK(m && krein_evaluate(ctx, m, data, &metric) == KREIN_OK);
    CHECK(metric.rmse < 1.3 && fabs(report.loo / metric.rmse - 1) < .1);
    krein_report_clear(ctx, &report);
    krein_metrics_clear(ctx, &metric);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    drop(&other);
    krein_ctx_destroy(ctx);
}

/* ---- and against krr ---------------------------------------------------- */

/* Scores of a trained model on its first rows, and what was reported. */
static void train_first(krein_ctx *ctx, const rows *r, const krein_train_options *o, int64_t n,
                        double *f, krein_report *report) {
    krein_data *data = open_rows(ctx, r, NULL, KREIN_TASK_AUTO);
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, report, &m);
    if (st != KREIN_OK) printf("%s: %s\n", o->learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    if (m) CHECK(krein_predict_dense(ctx, m, n, r->d, r->x, r->d, f) == KREIN_OK);
    krein_model_destroy(m);
    krein_data_close(data);
}

static void one_part_is_krr(void) {
    krein_ctx *ctx = test_ctx(2);
    rows all[] = {friedman(300, 1, 2), rings(300, 3, 3)};
    static const char *const maps[] = {"exact", "rff(D=64)", "nystrom(D=50)"};
    for (int k = 0; k < 12; k++) {
        double f[2][300 * 3];
        krein_report report[2] = {{.size = sizeof(krein_report)}, {.size = sizeof(krein_report)}};
        for (int i = 0; i < 2; i++) {
            krein_train_options o = with(i ? "dckrr(parts=1)" : "krr", "gaussian(sigma=2)",
                                         maps[k % 3], k < 6 ? -1 : 1e-3);
            train_first(ctx, &all[k / 3 % 2], &o, 100, f[i], &report[i]);
        }
        CHECK(memcmp(f[0], f[1], sizeof(double) * 100 * (k / 3 % 2 ? 3 : 1)) == 0);
        CHECK(report[0].lambda == report[1].lambda);
        CHECK(isnan(report[0].loo) ? isnan(report[1].loo) : report[0].loo == report[1].loo);
        for (int i = 0; i < 2; i++) krein_report_clear(ctx, &report[i]);
    }
    drop(&all[0]);
    drop(&all[1]);
    krein_ctx_destroy(ctx);
}

/* With every row as a landmark the features hold the kernel; few rows, so that float32 does. */
static void landmarks_are_the_kernel(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(120, 1, 4);
    for (int choose = 0; choose < 2; choose++) {
        double f[2][120];
        krein_report report[2] = {{.size = sizeof(krein_report)}, {.size = sizeof(krein_report)}};
        for (int i = 0; i < 2; i++) {
            krein_train_options o = with("dckrr(parts=4)", "gaussian(sigma=2)",
                                         i ? "nystrom(D=120)" : "exact", choose ? -1 : 1e-3);
            train_first(ctx, &r, &o, 120, f[i], &report[i]);
        }
        for (int64_t i = 0; i < 120; i++) CHECK_ABS(f[0][i], f[1][i], 2e-2);
        if (choose) CHECK_REL(report[1].loo, report[0].loo, 1e-2);
        for (int i = 0; i < 2; i++) krein_report_clear(ctx, &report[i]);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- bits --------------------------------------------------------------- */

/* The same file for any number of threads, with the rows in memory or not, within less memory; the
 * same model from the spec that was reported. */
static void same_bits(void) {
    static const char *const maps[] = {"orf(D=96)", "nystrom(D=60)", "exact"};
    rows r = friedman(test_sanitized() ? 700 : 9000, 1, 9), few = friedman(700, 1, 9);
    for (int k = 0; k < 6; k++) {
        test_bytes file[5];
        char spec[100], name[20], path[300];
        double lambda = -1;
        snprintf(name, sizeof name, "%d.csv", k);
        snprintf(path, sizeof path, "%s", write_rows(name, k % 3 == 2 ? &few : &r));
        snprintf(spec, sizeof spec, "dckrr(parts=5%s)", k / 3 ? ", order=shuffle" : "");
        for (int run = 0; run < 5; run++) {
            krein_ctx *ctx = test_ctx_small(run == 0 || run == 4 ? 1
                                            : run == 3           ? 3
                                                                 : 2,
                                            run == 3 ? (uint64_t)48 << 20 : (uint64_t)1 << 30);
            krein_data *data = from_file(ctx, path);
            krein_train_options o = with(spec, "gaussian(sigma=2)", maps[k % 3], lambda);
            krein_report report = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            ctx->keep_rows = run == 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            if (st != KREIN_OK) printf("%s %s: %s\n", spec, maps[k % 3], krein_message(ctx));
            file[run] = test_model_bytes(ctx, m);
            if (run == 3) { /* the next one gives what was chosen */
                lambda = report.lambda;
                snprintf(spec, sizeof spec, "%s", report.learner);
            }
            krein_report_clear(ctx, &report);
            krein_model_destroy(m);
            krein_data_close(data);
            krein_ctx_destroy(ctx);
        }
        for (int run = 1; run < 4; run++) CHECK(test_same(file[0], file[run]));
        CHECK(test_same_model(file[0], file[4]));
        for (int run = 0; run < 5; run++) free(file[run].at);
    }
    drop(&r);
    drop(&few);
}

/* ---- the number of parts ------------------------------------------------ */

static void advised_parts(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(600, 1, 1, 3);
    for (int64_t i = 0; i < r.n; i++) r.y[i] = sin(6 * (double)r.x[i]) + .2 * normal();
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_advise_options a;
    krein_advise_report advice = KREIN_SIZED(krein_advise_report);
    krein_advise_options_init(&a);
    a.kernel = "gaussian(sigma=1)";
    CHECK(krein_advise(ctx, data, &a, &advice) == KREIN_OK);
    krein_data_close(data);
    for (int k = 0; k < 3; k++) {
        krein_train_options o =
            with("dckrr", k == 2 ? "tl1(rho=0.7)" : "gaussian(sigma=1)", "exact", -1);
        krein_report report = KREIN_SIZED(krein_report);
        char want[60];
        double f[600];
        if (k == 1) o.max_exact = 40; /* that decides then */
        train_first(ctx, &r, &o, 600, f, &report);
        snprintf(want, sizeof want, "parts=%d,",
                 k == 0   ? (int)advice.practical_parts
                 : k == 1 ? 15
                          : 1);
        if (k < 2) CHECK_HAS(report.learner, want);
        CHECK(report.loo < .25);
        krein_report_clear(ctx, &report);
    }
    krein_advise_report_clear(ctx, &advice);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void refused(const char *learner, const char *map, int64_t max_exact, const char *select,
                    const char *what, const char *way_out) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(50, 1, 3);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_train_options o = with(learner, "gaussian(sigma=1)", map, -1);
    krein_model *m = NULL;
    o.max_exact = max_exact;
    o.select = select;
    CHECK(krein_train(ctx, data, &o, NULL, &m) != KREIN_OK && !m);
    CHECK_HAS(krein_message(ctx), what);
    CHECK_HAS(krein_message(ctx), way_out);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}
static void bad_input(void) {
    refused("dckrr(parts=51)", "exact", 100, NULL, "51", "fewer parts");
    refused("dckrr(parts=51)", "rff(D=8)", 100, NULL, "of 50 rows", "fewer parts");
    refused("dckrr(parts=0)", "exact", 100, NULL, "parts", "1");
    refused("dckrr(parts=2)", "exact", 24, NULL, "25 rows", "parts=3");
    refused("dckrr(parts=2)", "exact", 100, "cv", "leave-one-out", "`select=loo`");
}

/* As many parts as rows, parts without a weight, one class in a part. */
static void odd_parts(void) {
    krein_ctx *ctx = test_ctx(2);
    rows all[] = {friedman(40, 1, 2), rings(40, 3, 3)};
    double w[40], none[40] = {0};
    for (int i = 0; i < 40; i++) w[i] = i < 25 ? 1 : 0;
    for (int i = 0; i < 40; i++) all[1].y[i] = i < 14 ? 3 : i < 28 ? 1 : 7; /* sorted */
    for (int k = 0; k < 16; k++) {
        const rows *r = &all[k & 1];
        bool weighted = k & 2;
        krein_data *data =
            open_rows(ctx, r, weighted ? w : NULL, k & 1 ? KREIN_TASK_CLASSIFICATION : 0);
        krein_train_options o =
            with(weighted ? "dckrr(parts=4)" : "dckrr(parts=40)", "gaussian(sigma=1)",
                 k & 4 ? "exact" : "rff(D=16)", k & 8 ? -1 : .01);
        krein_model *m = NULL;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        if (!m) printf("%s\n", krein_message(ctx));
        krein_model_destroy(m);
        krein_data_close(data);
    }
    for (int k = 0; k < 4; k++) {
        krein_data *data = open_rows(ctx, &all[0], none, 0);
        krein_train_options o = with("dckrr(parts=4)", "gaussian(sigma=1)",
                                     k & 1 ? "exact" : "rff(D=16)", k & 2 ? -1 : .01);
        krein_model *m = NULL;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EDATA);
        CHECK_HAS(krein_message(ctx), "weights are zero");
        krein_data_close(data);
    }
    drop(&all[0]);
    drop(&all[1]);
    krein_ctx_destroy(ctx);
}

/* The scale of the lambdas is not that of a part without a weight. */
static void weightless_first_part(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(40, 1, 2);
    double w[40];
    for (int i = 0; i < 40; i++) w[i] = i < 20 ? 0 : 1;
    krein_data *data = open_rows(ctx, &r, w, 0);
    krein_train_options o = with("dckrr(parts=2)", "gaussian(sigma=1)", "exact", -1);
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    CHECK(report.lambda < 10);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void failing_memory(void) {
    static test_memory m;
    rows r = friedman(60, 1, 5);
    static const char *const maps[] = {"exact", "rff(D=8)", "nystrom(D=8)"};
    for (int k = 0; k < 6; k++) {
        krein_ctx *ctx = test_ctx_with(k % 2 + 1, &m);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        krein_train_options o = with(k < 3 ? "dckrr(parts=3)" : "dckrr(parts=3, order=shuffle)",
                                     "gaussian(sigma=2)", maps[k % 3], -1);
        const int64_t step = test_sanitized() ? 3 : 1; /* the settings begin elsewhere */
        TEST_SOME_ALLOCATIONS(&m, at, k % step, step) {
            krein_model *model = NULL;
            krein_status st = krein_train(ctx, data, &o, NULL, &model);
            CHECK((st == KREIN_OK) == !test_has_failed(&m));
            krein_model_destroy(model);
        }
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* The plan is a bound, for any number of threads, and the kernel matrix of all rows would not fit.
 */
static void budget(void) {
    rows r = friedman(test_sanitized() ? 2400 : 4000, 1, 6),
         c = rings(test_sanitized() ? 900 : 1500, 3, 6);
    static const char *const maps[] = {"orf(D=128)", "nystrom(D=100)", "exact"};
    for (int k = 0; k < 12; k++) {
        krein_ctx *ctx = test_ctx_small(1 + k % 2, (uint64_t)100 << 20);
        krein_data *data = open_rows(ctx, k / 6 ? &c : &r, NULL, KREIN_TASK_AUTO);
        krein_train_options o =
            with(k % 4 < 2 ? "dckrr(parts=12)" : "dckrr(parts=12, order=shuffle)",
                 "gaussian(sigma=2)", maps[k % 3], -1);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        if (!m) printf("%s: %s\n", maps[k % 3], krein_message(ctx));
        if (m) CHECK(krein_ctx_peak_bytes(ctx) <= report.bytes_peak);
        if (m && krein_ctx_peak_bytes(ctx) > report.bytes_peak)
            printf("%s, %s: %.2f MB, plan %.2f MB\n", o.learner, o.map,
                   (double)krein_ctx_peak_bytes(ctx) / 1e6, (double)report.bytes_peak / 1e6);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
    drop(&c);
}

/* ---- quality ------------------------------------------------------------ */

/* A few parts cost next to nothing, many do; leave-one-out of the average sees it. */
static void error_against_parts(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(2000, 2, 11), other = friedman(2000, 0, 12);
    static const char *const specs[] = {"krr", "dckrr(parts=2)", "dckrr(parts=5)",
                                        "dckrr(parts=100)"};
    double error[4];
    for (int k = 0; k < 4; k++) {
        krein_train_options o = with(specs[k], "gaussian(sigma=3)", "rff(D=200)", -1);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        krein_metrics metric = KREIN_SIZED(krein_metrics);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        krein_data_close(data);
        data = open_rows(ctx, &other, NULL, KREIN_TASK_AUTO);
        CHECK(m && krein_evaluate(ctx, m, data, &metric) == KREIN_OK);
        error[k] = metric.rmse; /* of the function itself: the noise is 2 */
        CHECK_REL(report.loo, sqrt(4 + pow(error[k], 2)), .06);
        krein_report_clear(ctx, &report);
        krein_metrics_clear(ctx, &metric);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK(error[1] < 1.1 * error[0] && error[2] < 1.25 * error[0] && error[3] > 1.5 * error[0]);
    drop(&r);
    drop(&other);
    krein_ctx_destroy(ctx);
}

/* ---- the order of the rows ---------------------------------------------- */

static const rows *sorted_rows;
static int by_label(const void *a, const void *b) {
    double x = sorted_rows->y[*(const int64_t *)a], y = sorted_rows->y[*(const int64_t *)b];
    return (x > y) - (x < y);
}

static rows sorted(const rows *r) {
    rows out = make_rows(r->n, r->d, r->k, 1);
    int64_t *order = test_new(r->n, sizeof *order);
    for (int64_t i = 0; i < r->n; i++) order[i] = i;
    sorted_rows = r;
    qsort(order, (size_t)r->n, sizeof *order, by_label);
    for (int64_t i = 0; i < r->n; i++) {
        memcpy(out.x + i * r->d, r->x + order[i] * r->d, (size_t)r->d * sizeof(float));
        out.y[i] = r->y[order[i]];
    }
    free(order);
    return out;
}

/* Stretches of sorted rows are not taken unless they are asked for, and then it is said. */
static void sorted_by_label(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(2, NULL, &log);
    rows numbers = friedman(1000, 1, 21), classes = rings(1000, 3, 22);
    static const char *const specs[] = {"dckrr(parts=8)", "dckrr(parts=8, order=blocks)",
                                        "dckrr(parts=8, order=shuffle)"};
    for (int k = 0; k < 24; k++) {
        int spec = k % 3;
        bool order = k / 3 % 2, exact = k / 6 % 2, class = k / 12;
        rows own = sorted(class ? &classes : &numbers);
        krein_train_options o =
            with(specs[spec], "gaussian(sigma=2)", exact ? "exact" : "rff(D=50)", 1e-4);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        krein_data *data =
            open_rows(ctx,
                      order   ? &own
                      : class ? &classes
                              : &numbers,
                      NULL, class ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION);
        log.warnings = 0;
        log.text[0] = 0;
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        bool shuffled = spec == 2 || (spec == 0 && order);
        CHECK_HAS(report.learner, shuffled ? "order=shuffle" : "order=blocks");
        CHECK((log.warnings > 0) == (spec == 1 && order));
        if (spec == 1 && order) CHECK_HAS(log.text, "use order=shuffle");
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        drop(&own);
    }
    drop(&numbers);
    drop(&classes);
    krein_ctx_destroy(ctx);
}

/* Half a thousand random orders of few and of many parts: none of them looks sorted. */
static void random_orders(void) {
    krein_ctx *ctx = test_ctx(1);
    static const int64_t many[] = {2, 3, 10, 40, 200};
    for (int k = 0; k < 500; k++) {
        rows r = make_rows(400, 1, 1, (uint64_t)k);
        double own[400];
        for (int64_t i = 0; i < r.n; i++) {
            own[i] = k % 2 ? pow(uniform(), 3) : 1;
            r.y[i] = k % 4 < 2 ? normal() : uniform() < 0.05;
        }
        krein_encoding e = {0};
        krein_cut cut;
        bool differ = true;
        double between;
        krein_model m = {0};
        krein_data *data =
            open_rows(ctx, &r, own, k % 4 < 2 ? KREIN_TASK_REGRESSION : KREIN_TASK_CLASSIFICATION);
        krein_job job = {.ctx = ctx, .data = data, .n = r.n, .model = &m};
        CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK);
        m.encoding = e;
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &job.rows) == KREIN_OK);
        CHECK(krein__cut_begin(ctx, r.n, many[k % 5], 1, false, 1, &cut) == KREIN_OK);
        CHECK(krein__parts_differ(&job, &cut, &differ, &between) == KREIN_OK);
        CHECK(!differ && between > -1e-12 && between < 1);
        krein__cut_end(ctx, &cut);
        krein__stream_close(job.rows);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(cuts);
    RUN(shuffled_parts_are_random);
    RUN(reference_values);
    RUN(the_average);
    RUN(large_parts);
    RUN(one_part_is_krr);
    RUN(landmarks_are_the_kernel);
    RUN(same_bits);
    RUN(advised_parts);
    RUN(bad_input);
    RUN(odd_parts);
    RUN(weightless_first_part);
    RUN(failing_memory);
    RUN(budget);
    RUN(error_against_parts);
    RUN(sorted_by_label);
    RUN(random_orders);
    return DONE();
}
