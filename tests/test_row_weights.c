/* test_row_weights.c -- whole-number weights are repeated rows, and a weight of zero is no row: in
 * the statistics of the columns, in what is trained, and in the metrics. */
#include "train.h"

#include "stream/data.h"

enum { N = 240 };

static double weight_of(int64_t i) { return (double)(i * 7 % 4); }

/* y, a weight, a text column, three numbers of which one has missing cells; the rows with weights,
 * or as often as their weights say. */
static const char *write_mixed(const char *name, int64_t from, bool classes, bool repeated) {
    static const char *const word[] = {"red", "green", "blue", "none"};
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,w,c,a,b,v\n");
    for (int64_t i = from; i < from + N; i++) {
        /* The text "none" stands in rows of weight zero only, and their numbers are far off. */
        bool idle = weight_of(i) == 0;
        double a = det(i, 1, 0.2), b = 100 + 3 * det(i, 2, 0.4) + (idle ? 1000 : 0),
               v = det(i, 3, 1);
        double y = a * v + (i % 3 == 1) + 0.3 * det(i, 9, 2);
        char hole[32] = "";
        if (i % 5) snprintf(hole, sizeof hole, "%.6f", v);
        int copies = repeated ? (int)weight_of(i) : 1;
        for (int r = 0; r < copies; r++) {
            if (classes)
                fprintf(f, "%s", y > 0.7 ? "high" : y > 0 ? "mid" : "low");
            else
                fprintf(f, "%.6f", y);
            fprintf(f, ",%g,%s,%.6f,%.6f,%s\n", repeated ? 1 : weight_of(i), word[idle ? 3 : i % 3],
                    a, b, hole);
        }
    }
    fclose(f);
    return path;
}

static krein_data *open_mixed(krein_ctx *ctx, const char *path, krein_scale scale, bool weighted) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.scale = scale;
    o.missing = KREIN_MISSING_MEAN;
    o.unknown_ignore = true;
    if (weighted)
        o.weights = "w";
    else
        o.ignore = "w";
    if (krein_data_open(ctx, path, &o, &data) != KREIN_OK) exit(1);
    return data;
}

typedef struct pair {
    char weighted[256], repeated[256];
} pair;

static pair write_pair(const char *name, int64_t from, bool classes) {
    char file[64];
    pair p;
    snprintf(file, sizeof file, "%s-w.csv", name);
    snprintf(p.weighted, sizeof p.weighted, "%s", write_mixed(file, from, classes, false));
    snprintf(file, sizeof file, "%s-r.csv", name);
    snprintf(p.repeated, sizeof p.repeated, "%s", write_mixed(file, from, classes, true));
    return p;
}

/* ---- statistics --------------------------------------------------------- */

/* shift is the first cell, which a row of weight zero may have: only sums with it are the same. */
static double whole(const krein_encoding *e, int64_t j, const float *part) {
    double shift = 0;
    for (int64_t k = 0; k < e->ninput; k++)
        if (e->input[k].at == j && !e->input[k].text) shift = e->input[k].shift;
    return (double)part[j] + (e->scale == KREIN_SCALE_NONE ? 0 : shift);
}

static void statistics(void) {
    krein_ctx *ctx = test_ctx(1);
    pair p = write_pair("stats", 0, false);
    for (int scale = KREIN_SCALE_STANDARD; scale <= KREIN_SCALE_NONE; scale++) {
        krein_encoding a = {0}, b = {0};
        krein_data *w = open_mixed(ctx, p.weighted, (krein_scale)scale, true);
        krein_data *r = open_mixed(ctx, p.repeated, (krein_scale)scale, false);
        CHECK(krein__data_scan(w, KREIN_LABELS_WANTED, 0, 1, &a) == KREIN_OK);
        CHECK(krein__data_scan(r, KREIN_LABELS_WANTED, 0, 1, &b) == KREIN_OK);
        CHECK(a.d == b.d + 1 && a.ninput == b.ninput); /* "none" */
        CHECK_REL(w->label_mean[0], r->label_mean[0], 1e-12);
        for (int64_t j = 2; j < b.ninput && a.ninput == b.ninput; j++) {
            for (int64_t k = 0; k < (b.input[j].text ? b.input[j].dict.n : 1); k++) {
                int64_t at = b.input[j].at + k, other = a.input[j].at + k;
                if (b.input[j].text)
                    other =
                        a.input[j].at + krein__dict_find(&a.input[j].dict, b.input[j].dict.word[k],
                                                         strlen(b.input[j].dict.word[k]));
                CHECK_REL((double)a.factor[other], (double)b.factor[at], 1e-5);
                CHECK_ABS(whole(&a, other, a.fill), whole(&b, at, b.fill), 1e-4);
                if (scale <= KREIN_SCALE_MINMAX)
                    CHECK_ABS(whole(&a, other, a.centre), whole(&b, at, b.centre), 1e-4);
            }
        }
        CHECK(a.high > b.high || scale == KREIN_SCALE_UNIT); /* idle rows are rows of the kernel */
        krein__encoding_clear(ctx, &a);
        krein__encoding_clear(ctx, &b);
        krein_data_close(w);
        krein_data_close(r);
    }
    krein_ctx_destroy(ctx);
}

/* Held-out rows count neither. */
static void statistics_of_the_rest(void) {
    krein_ctx *ctx = test_ctx(1);
    double sum = 0, total = 0;
    krein_encoding e = {0};
    krein_data *data =
        open_mixed(ctx, write_mixed("rest.csv", 0, false, false), KREIN_SCALE_STANDARD, true);
    CHECK(krein__data_scan(data, KREIN_LABELS_WANTED, 0.4, 1, &e) == KREIN_OK);
    for (int64_t i = 0; i < N; i++) {
        if (data->part[i] != KREIN_PART_TRAIN) continue;
        sum += weight_of(i) * data->segment[0].raw.label[i];
        total += weight_of(i);
    }
    CHECK_REL(data->label_mean[0], sum / total, 1e-12);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* ---- models and metrics ------------------------------------------------- */

static krein_model *fit(krein_ctx *ctx, krein_data *data, krein_data *test, const char *map,
                        bool probabilities, krein_report *report) {
    krein_train_options o = defaults();
    krein_model *m = NULL;
    o.kernel = "gaussian(sigma=2)";
    o.learner = probabilities ? "logistic" : "krr";
    o.map = map;
    o.lambda = 1e-2;
    o.test = test;
    o.probabilities = probabilities;
    if (krein_train(ctx, data, &o, report, &m) != KREIN_OK) printf("%s\n", krein_message(ctx));
    return m;
}

static void same_metrics(const krein_metrics *a, const krein_metrics *b, double tolerance) {
    const double x[] = {a->rmse,         a->mae,      a->r2,       a->accuracy, a->macro_precision,
                        a->macro_recall, a->macro_f1, a->log_loss, a->auc},
                 y[] = {b->rmse,         b->mae,      b->r2,       b->accuracy, b->macro_precision,
                        b->macro_recall, b->macro_f1, b->log_loss, b->auc};
    for (int k = 0; k < KREIN__COUNT(x); k++) {
        CHECK(isnan(x[k]) == isnan(y[k]));
        if (!isnan(x[k])) CHECK_REL(x[k], y[k], tolerance);
    }
}

/* n and the confusion matrix are numbers of rows. */
static void counts_rows(const krein_metrics *m, int64_t n) {
    int64_t sum = 0;
    CHECK(m->n == n);
    for (int64_t k = 0; k < m->classes * m->classes; k++) sum += m->confusion[k];
    CHECK(m->classes == 0 || sum == n);
}

/* The encoding, the model and the metrics on other rows, all from weights or from copies. */
static void models(bool classes, const char *map, krein_scale scale) {
    krein_ctx *ctx = test_ctx(2);
    krein_report one = KREIN_SIZED(krein_report), two = KREIN_SIZED(krein_report);
    krein_metrics again = KREIN_SIZED(krein_metrics);
    pair train = write_pair("train", 0, classes), test = write_pair("test", 1000, classes);
    krein_data *a = open_mixed(ctx, train.weighted, scale, true),
               *b = open_mixed(ctx, train.repeated, scale, false),
               *c = open_mixed(ctx, test.weighted, scale, true),
               *d = open_mixed(ctx, test.repeated, scale, false);
    krein_model *m = fit(ctx, a, c, map, false, &one), *n = fit(ctx, b, d, map, false, &two);
    CHECK(m && n);
    same_metrics(one.test, two.test, 1e-3);
    counts_rows(one.test, N);
    CHECK(two.test->n != N);
    CHECK(m && krein_evaluate(ctx, m, c, &again) == KREIN_OK);
    same_metrics(&again, one.test, 0);
    krein_metrics_clear(ctx, &again);
    CHECK(m && krein_evaluate(ctx, m, d, &again) == KREIN_OK); /* the metrics alone */
    same_metrics(&again, one.test, 1e-12);
    krein_metrics_clear(ctx, &again);
    krein_report_clear(ctx, &one);
    krein_report_clear(ctx, &two);
    krein_model_destroy(m);
    krein_model_destroy(n);
    krein_data_close(a);
    krein_data_close(b);
    krein_data_close(c);
    krein_data_close(d);
    krein_ctx_destroy(ctx);
}

static void exact_numbers(void) { models(false, "exact", KREIN_SCALE_STANDARD); }
static void exact_classes(void) { models(true, "exact", KREIN_SCALE_STANDARD); }
static void exact_minmax(void) { models(false, "exact", KREIN_SCALE_MINMAX); }

/* Two classes with probabilities: log loss and area, with equal scores. */
static void probabilities(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(300, 2, 4), many = make_rows(1200, 3, 1, 5);
    double weight[300];
    krein_metrics one = KREIN_SIZED(krein_metrics), two = KREIN_SIZED(krein_metrics);
    krein_data *train = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_model *m = fit(ctx, train, NULL, "rff(D=40)", true, NULL);
    many.n = 0;
    for (int64_t i = 0; i < r.n; i++) {
        weight[i] = weight_of(i);
        if (i % 3 == 0 && i > 0) memcpy(r.x + i * 3, r.x + (i - 1) * 3, 3 * sizeof *r.x);
        for (int k = 0; k < (int)weight[i]; k++, many.n++) {
            memcpy(many.x + many.n * 3, r.x + i * 3, 3 * sizeof *r.x);
            many.y[many.n] = r.y[i];
        }
    }
    krein_data *a = open_rows(ctx, &r, weight, KREIN_TASK_CLASSIFICATION);
    krein_data *b = open_rows(ctx, &many, NULL, KREIN_TASK_CLASSIFICATION);
    CHECK(m && krein_evaluate(ctx, m, a, &one) == KREIN_OK);
    CHECK(m && krein_evaluate(ctx, m, b, &two) == KREIN_OK);
    CHECK(isfinite(one.auc) && isfinite(one.log_loss) && one.auc < 1);
    same_metrics(&one, &two, 1e-12);
    counts_rows(&one, 300);
    krein_metrics_clear(ctx, &one);
    krein_metrics_clear(ctx, &two);
    krein_model_destroy(m);
    krein_data_close(train);
    krein_data_close(a);
    krein_data_close(b);
    drop(&r);
    drop(&many);
    krein_ctx_destroy(ctx);
}

/* The metrics of --holdout are those of the held-out rows by weight. */
static void held_out(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(200, 1, 3);
    double weight[200];
    krein_train_options o = defaults();
    krein_report plain = KREIN_SIZED(krein_report), weighted = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    o.kernel = "gaussian(sigma=2)";
    o.lambda = 1e-3;
    o.holdout = 0.3;
    for (int64_t i = 0; i < r.n; i++) weight[i] = 1;
    krein_data *a = open_rows(ctx, &r, weight, KREIN_TASK_REGRESSION),
               *b = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    CHECK(krein_train(ctx, a, &o, &weighted, &m) == KREIN_OK);
    krein_model_destroy(m);
    CHECK(krein_train(ctx, b, &o, &plain, &m) == KREIN_OK);
    same_metrics(weighted.test, plain.test, 0); /* ones are none, to the last bit */
    krein_report_clear(ctx, &weighted);
    krein_model_destroy(m);
    for (int64_t i = 0; i < r.n; i++) weight[i] = a->part[i] != KREIN_PART_HELD ? 1 : i % 2 ? 3 : 0;
    CHECK(krein_train(ctx, a, &o, &weighted, &m) == KREIN_OK);
    CHECK(weighted.test->n == 60 && weighted.test->rmse != plain.test->rmse);
    krein_model_destroy(m);
    krein_report_clear(ctx, &weighted);
    for (int64_t i = 0; i < r.n; i++)
        if (a->part[i] == KREIN_PART_HELD) weight[i] = 0;
    CHECK(krein_train(ctx, a, &o, &weighted, &m) == KREIN_EDATA && !m);
    CHECK_HAS(krein_message(ctx), "weight of zero");
    krein_report_clear(ctx, &weighted);
    for (int64_t i = 0; i < r.n; i++) weight[i] = 0;
    o.holdout = 0;
    CHECK(krein_train(ctx, a, &o, &weighted, &m) == KREIN_EDATA && !m);
    CHECK_HAS(krein_message(ctx), "all row weights are zero");
    krein_report_clear(ctx, &weighted);
    krein_report_clear(ctx, &plain);
    krein_data_close(a);
    krein_data_close(b);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(statistics);
    RUN(statistics_of_the_rest);
    RUN(exact_numbers);
    RUN(exact_classes);
    RUN(exact_minmax);
    RUN(probabilities);
    RUN(held_out);
    return DONE();
}
