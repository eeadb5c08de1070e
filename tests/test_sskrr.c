/* test_sskrr.c -- rows without labels: reference values, elimination, where the rows come from,
 * bits, refusals, memory. */
#include "divide.h"

/* Trains with the labelled rows of p as data and the others as options.unlabeled, or all in one
 * with NaN for a label. */
static krein_status train(krein_ctx *ctx, const obvious *p, krein_train_options o, bool apart,
                          krein_report *report, krein_model **m) {
    rows with_label = {0, p->r.d, p->r.k, test_new(p->r.n * p->r.d, sizeof(float)),
                       test_new(p->r.n * p->r.k, sizeof(double))},
         without = with_label;
    double *w = test_new(p->r.n, 8), *v = test_new(p->r.n, 8);
    without.x = test_new(p->r.n * p->r.d, sizeof(float));
    without.y = test_new(p->r.n * p->r.k, sizeof(double));
    for (int64_t i = 0; i < p->r.n; i++) {
        bool label = has_label(p, i) || !apart;
        rows *to = label ? &with_label : &without;
        (label ? w : v)[to->n] = weight_of(p, i);
        memcpy(to->x + to->n * p->r.d, p->r.x + i * p->r.d, (size_t)p->r.d * sizeof(float));
        memcpy(to->y + to->n++ * p->r.k, p->r.y + i * p->r.k, (size_t)p->r.k * sizeof(double));
    }
    krein_data *data = as_they_are(ctx, &with_label, p->weight ? w : NULL, KREIN_TASK_REGRESSION),
               *more = NULL;
    krein_data_options none;
    krein_data_options_init(&none);
    none.scale = KREIN_SCALE_NONE;
    if (without.n > 0)
        CHECK(krein_data_from_dense(ctx, without.n, without.d, without.x, without.d, NULL,
                                    p->weight ? v : NULL, &none, &more) == KREIN_OK);
    o.unlabeled = more;
    krein_status st = krein_train(ctx, data, &o, report, m);
    krein_data_close(more);
    krein_data_close(data);
    drop(&with_label);
    drop(&without);
    free(w);
    free(v);
    return st;
}

/* ---- reference values --------------------------------------------------- */

/* Blocks of Z = det(8, 5, 1.1), y = det(8, 1, .4): rows 0-2 labelled and 3 not, 4-6 labelled and 7
 * not; mirror images beside them make an intercept of zero. Inputs are float32. */
static void reference_values(void) {
    static const double want[] = {.47431901619, -.471358409174, -.064836326804, -.008155042585,
                                  -.064961090655};
    krein_ctx *ctx = test_ctx(1);
    rows r = {16, 5, 1, test_new(80, sizeof(float)), test_new(16, sizeof(double))};
    for (int64_t i = 0; i < 16; i++) {
        double sign = i % 2 ? -1 : 1;
        for (int64_t j = 0; j < 5; j++) r.x[i * 5 + j] = (float)(sign * det(i / 2, j, 1.1));
        r.y[i] = i / 2 % 4 == 3 ? NAN : sign * det(i / 2, 0, .4);
    }
    for (int apart = 0; apart < 2; apart++) {
        obvious p = {.r = r};
        krein_model *m = NULL;
        float unit[25] = {0};
        double f[5];
        for (int j = 0; j < 5; j++) unit[6 * j] = 1;
        CHECK(train(ctx, &p, with("sskrr(parts=2)", "linear", "explicit", .1), apart, NULL, &m) ==
              KREIN_OK);
        CHECK(m && krein_predict_dense(ctx, m, 5, 5, unit, 5, f) == KREIN_OK);
        for (int j = 0; m && j < 5; j++) CHECK_ABS(f[j], want[j], 4e-7);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- against elimination ------------------------------------------------ */

enum { N = 60 };

static void the_average(void) {
    for (int k = 0; k < 12; k++) {
        krein_ctx *ctx = test_ctx(1 + k % 2);
        bool weighted = k & 1, chosen = k & 2;
        int parts = 1 + k / 4;
        int64_t outputs = weighted ? 2 : 1, labelled = 0, other = 0, at[2] = {0};
        char spec[40];
        double weight[N], f[2 * N];
        int owner[N];
        rows r = smooth(N, outputs);
        for (int64_t i = 0; i < N; i++) {
            weight[i] = 1 + .6 * det(i, 3, 0);
            for (int64_t c = 0; i % 3 == 1 && c < outputs; c++) r.y[i * outputs + c] = NAN;
            *(isnan(r.y[i * outputs]) ? &other : &labelled) += 1;
        }
        for (int64_t i = 0; i < N; i++) {
            bool none = isnan(r.y[i * outputs]);
            owner[i] = in_order(at[none]++, none ? other : labelled, parts);
        }
        obvious p = {r, weighted ? weight : NULL, owner, parts, linear};
        krein_model *m = NULL;
        krein_report report = KREIN_SIZED(krein_report);
        snprintf(spec, sizeof spec, "sskrr(parts=%d)", parts);
        krein_status st =
            train(ctx, &p, with(spec, "linear", "explicit", chosen ? -1 : .02), k % 3, &report, &m);
        if (st != KREIN_OK) printf("%s: %s\n", spec, krein_message(ctx));
        CHECK(m && krein_predict_dense(ctx, m, N, 3, r.x, 3, f) == KREIN_OK);
        for (int64_t i = 0; m && i < N; i += 7)
            for (int64_t c = 0; c < outputs; c++)
                CHECK_ABS(f[i * outputs + c],
                          average_at(&p, -1, true, report.lambda, c, r.x + i * 3), 2e-5);
        if (chosen && m) {
            double best = held_out(&p, true, report.lambda);
            CHECK_REL(report.loo, best, 1e-4);
            CHECK(held_out(&p, true, report.lambda * 1.7783) >= best * (1 - 1e-4));
            CHECK(held_out(&p, true, report.lambda / 1.7783) >= best * (1 - 1e-4));
        }
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Where every row has a label it is dckrr, with a word. */
static void without_such_rows(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = smooth(80, 1);
    double f[2][80];
    for (int k = 0; k < 2; k++) {
        krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_train_options o =
            with(k ? "sskrr(parts=2)" : "dckrr(parts=2)", "gaussian(sigma=1)", "rff(D=32)", 1e-3);
        krein_model *m = NULL;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        CHECK(m && krein_predict_dense(ctx, m, 80, 3, r.x, 3, f[k]) == KREIN_OK);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK(memcmp(f[0], f[1], sizeof f[0]) == 0);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "`unlabeled`");
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- files -------------------------------------------------------------- */

/* Classes as words, a third without one: "?" or nothing in the data. first: rows with labels (or
 * all), second: those without (no label column). */
static void write_files(int64_t n, char *all, char *some, char *none) {
    snprintf(all, 300, "%s", test_path("all.csv"));
    snprintf(some, 300, "%s", test_path("some.csv"));
    snprintf(none, 300, "%s", test_path("none.csv"));
    FILE *a = fopen(all, "w"), *b = fopen(some, "w"), *c = fopen(none, "w");
    if (!a || !b || !c) exit(1);
    fprintf(a, "y,p,q\n");
    fprintf(b, "y,p,q\n");
    fprintf(c, "p,q\n");
    for (int64_t i = 0; i < n; i++) {
        double p = det(i, 0, .3), q = det(i, 1, .3);
        const char *y = p * q > 0 ? "same" : "other";
        if (i % 3 == 1) fprintf(a, "%s,%.9g,%.9g\n", i % 2 ? "?" : "", p, q);
        if (i % 3 == 1) fprintf(c, "%.9g,%.9g\n", p, q);
        if (i % 3 != 1) fprintf(a, "%s,%.9g,%.9g\n", y, p, q);
        if (i % 3 != 1) fprintf(b, "%s,%.9g,%.9g\n", y, p, q);
    }
    fclose(a);
    fclose(b);
    fclose(c);
}

/* One model for one file and for two, for any number of threads, in memory or not. */
static void same_bits(void) {
    static const char *const specs[] = {"sskrr", "sskrr(parts=3)", "sskrr(parts=3, order=shuffle)"};
    char path[3][300];
    write_files(test_sanitized() ? 600 : 14000, path[0], path[1], path[2]);
    for (int k = 0; k < 3; k++) {
        test_bytes file[4];
        for (int run = 0; run < 4; run++) {
            krein_ctx *ctx = test_ctx(run == 1 ? 2 : 1);
            bool apart = run % 2;
            krein_data *data = from_file(ctx, path[apart]),
                       *more = apart ? from_file(ctx, path[2]) : NULL;
            krein_train_options o =
                with(specs[k], "gaussian(sigma=1)", k == 2 ? "nystrom(D=30)" : "rff(D=40)", -1);
            krein_report report = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            o.unlabeled = more;
            ctx->keep_rows = run >= 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
            krein_status st = krein_train(ctx, data, &o, &report, &m);
            if (st != KREIN_OK) printf("%s, %d: %s\n", specs[k], run, krein_message(ctx));
            CHECK(m && report.loo < .1);
            file[run] = test_model_bytes(ctx, m);
            krein_report_clear(ctx, &report);
            krein_model_destroy(m);
            krein_data_close(more);
            krein_data_close(data);
            krein_ctx_destroy(ctx);
        }
        for (int run = 1; run < 4; run++) CHECK(test_same(file[0], file[run]));
        for (int run = 0; run < 4; run++) free(file[run].at);
    }
}

/* Held-out rows have labels; the data can be used again by a learner that wants all of them. */
static void holdout_and_plan(void) {
    char path[3][300];
    write_files(300, path[0], path[1], path[2]);
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = from_file(ctx, path[0]);
    krein_train_options o = with("sskrr", "gaussian(sigma=1)", "rff(D=40)", -1);
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    o.holdout = .25;
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    CHECK(report.n == 150 && report.test->n == 50 && report.test->accuracy > .8);
    if (m) CHECK(krein_ctx_peak_bytes(ctx) <= report.bytes_peak);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    m = NULL;
    CHECK(krein_plan(ctx, data, &o, &report) == KREIN_OK);
    CHECK(report.fits && report.n == 150);
    krein_report_clear(ctx, &report);
    o.learner = "krr";
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EFORMAT ||
          strstr(krein_message(ctx), "`missing=drop`"));
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* ---- refusals and memory ------------------------------------------------ */

static void bad_input(void) {
    static const struct {
        const char *learner, *map, *what, *way_out;
    } all[] = {{"krr", "rff(D=8)", "`unlabeled`", "sskrr"},
               {"sskrr", "exact", "features", "nystrom"},
               {"sskrr(parts=300)", "rff(D=8)", "300", "fewer parts"}};
    char path[3][300];
    write_files(100, path[0], path[1], path[2]);
    for (int k = 0; k < 3; k++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data *data = from_file(ctx, path[1]), *more = from_file(ctx, path[2]);
        krein_train_options o = with(all[k].learner, "gaussian(sigma=1)", all[k].map, -1);
        krein_model *m = NULL;
        o.unlabeled = more;
        CHECK(krein_train(ctx, data, &o, NULL, &m) != KREIN_OK && !m);
        CHECK_HAS(krein_message(ctx), all[k].what);
        CHECK_HAS(krein_message(ctx), all[k].way_out);
        krein_data_close(more);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

static void failing_memory(void) {
    static test_memory memory;
    char path[3][300];
    write_files(60, path[0], path[1], path[2]);
    for (int k = 0; k < 2; k++) {
        krein_ctx *ctx = test_ctx_with(1 + k, &memory);
        krein_train_options o = with(k ? "sskrr(parts=2, order=shuffle)" : "sskrr(parts=2)",
                                     "gaussian(sigma=1)", "rff(D=8)", -1);
        TEST_EVERY_ALLOCATION(&memory, at) {
            krein_data *data = NULL, *more = NULL;
            krein_model *m = NULL;
            krein_status st = krein_data_open(ctx, path[k], NULL, &data);
            if (st == KREIN_OK && k) st = krein_data_open(ctx, path[2], NULL, &more);
            o.unlabeled = more;
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            CHECK((st == KREIN_OK) == !test_has_failed(&memory));
            krein_model_destroy(m);
            krein_data_close(more);
            krein_data_close(data);
        }
        krein_ctx_destroy(ctx);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(reference_values);
    RUN(the_average);
    RUN(without_such_rows);
    RUN(same_bits);
    RUN(holdout_and_plan);
    RUN(bad_input);
    RUN(failing_memory);
    return DONE();
}
