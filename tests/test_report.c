/* test_report.c -- the numbers of a report against the obvious way: areas by all pairs, intervals
 * by the known variance of a mean, permutation importance, gradients and partial dependence by
 * predictions of changed rows, the linear baseline by elimination, duplicates and ranges by
 * construction; the page of every task, threads, refusals, failing memory. */
#include "common.h"

#include "report/report.h"

#include "encode/finish.h"

static krein_ctx *ctx;

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

/* The number behind a part of the text; NaN: it is not there. */
static double number_at(const char *text, const char *part) {
    const char *at = strstr(text, part);
    return at ? strtod(at + strlen(part), NULL) : NAN;
}

enum { N = 240, D = 3 };

/* Rows x (n x D) with a class or a number that depends on the first two columns. */
typedef struct set {
    int64_t n, classes;
    float *x;
    double *y;
    int64_t *class;
} set;

static set make_set(int64_t n, int64_t classes, double shift) {
    set s = {n, classes, test_new(n * D, sizeof(float)), test_new(n, sizeof(double)),
             test_new(n, sizeof(int64_t))};
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++)
            s.x[i * D + j] = (float)(3 * det(i + 1, j + 2, shift) + (double)j);
        double a = (double)s.x[i * D], b = (double)s.x[i * D + 1];
        s.y[i] = sin(a) + 0.3 * b + 0.2 * det(i + 3, 7, 2 * shift);
        s.class[i] = (int64_t)fmin((double)classes - 1,
                                   fmax(0, floor(((double)classes / 4) * (s.y[i] + 2))));
    }
    return s;
}

static void free_set(set *s) {
    free(s->x);
    free(s->y);
    free(s->class);
}

static krein_data *open_set(krein_ctx *on, const set *s) {
    krein_rows_view v;
    krein_data *data = NULL;
    static const char *const names[] = {"first", "second", "third"};
    krein_rows_view_init(&v);
    v.n = s->n;
    v.d = D;
    v.x = s->x;
    v.type = KREIN_FLOAT32;
    v.names = names;
    if (s->classes > 0) {
        v.classes = s->class;
        v.class_type = KREIN_INT64;
    } else {
        v.targets = s->y;
    }
    CHECK(krein_data_from_rows(on, &v, NULL, &data) == KREIN_OK);
    return data;
}

static krein_model *train_on(krein_ctx *on, krein_data *data, const char *map, int probabilities) {
    krein_train_options o;
    krein_model *m = NULL;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=1.5)";
    o.map = map;
    o.lambda = 1e-3;
    o.probabilities = probabilities;
    CHECK_ELSE(krein_train(on, data, &o, NULL, &m) == KREIN_OK, "%s\n", krein_message(on));
    return m;
}

/* A model of N rows, and the report of others, as far as its rows. */
typedef struct fixture {
    set train, test;
    krein_data *data, *trained;
    krein_model *model;
    krein_report_numbers numbers;
    krein_reporting r;
} fixture;

static void begin(fixture *f, int64_t classes, int64_t n) {
    *f = (fixture){.train = make_set(N, classes, 0.2), .test = make_set(n, classes, 0.9)};
    f->trained = open_set(ctx, &f->train);
    f->data = open_set(ctx, &f->test);
    f->model = train_on(ctx, f->trained, "exact", classes > 0);
    f->numbers.metrics = KREIN_SIZED(krein_metrics);
    f->numbers.model = f->model;
    f->numbers.labelled = true;
    f->r = (krein_reporting){.ctx = ctx,
                             .model = f->model,
                             .data = f->data,
                             .base = krein__encoding_unfinished(&f->model->encoding),
                             .seed = 3,
                             .rows = 2000,
                             .out = &f->numbers};
    CHECK_ELSE(krein__report_rows(&f->r) == KREIN_OK, "%s\n", krein_message(ctx));
    CHECK(krein__report_inputs(&f->r) == KREIN_OK);
}

static void end(fixture *f) {
    krein__report_rows_clear(&f->r);
    krein__report_clear(ctx, &f->numbers);
    krein_model_destroy(f->model);
    krein_data_close(f->data);
    krein_data_close(f->trained);
    free_set(&f->train);
    free_set(&f->test);
}

/* ---- areas -------------------------------------------------------------- */

static void areas(void) {
    enum { M = 61 };
    double score[M], weight[M];
    int8_t positive[M];
    int32_t order[M];
    for (int weighted = 0; weighted < 2; weighted++) {
        double pairs = 0, good = 0, precision = 0, positives = 0;
        for (int i = 0; i < M; i++) {
            score[i] = floor(7 * det(i, 1, 0)); /* many are equal */
            positive[i] = det(i, 5, 0.3) + 0.1 * score[i] > 0;
            weight[i] = weighted ? 1 + fabs(det(i, 3, 1)) : 1;
        }
        for (int i = 0; i < M; i++) {
            if (!positive[i]) continue;
            double above = 0, right = 0;
            for (int j = 0; j < M; j++) {
                if (score[j] >= score[i]) above += weight[j];
                if (score[j] >= score[i] && positive[j]) right += weight[j];
                if (positive[j]) continue;
                pairs += weight[i] * weight[j];
                good += weight[i] * weight[j] *
                        (score[i] > score[j]    ? 1
                         : score[i] == score[j] ? 0.5
                                                : 0);
            }
            precision += weight[i] * right / above;
            positives += weight[i];
        }
        CHECK(krein__score_order(ctx, M, score, order) == KREIN_OK);
        CHECK_REL(krein__roc_area(M, order, score, positive, weighted ? weight : NULL),
                  good / pairs, 1e-12);
        CHECK_REL(krein__pr_area(M, order, score, positive, weighted ? weight : NULL),
                  precision / positives, 1e-12);
    }
    memset(positive, 1, sizeof positive);
    CHECK(isnan(krein__roc_area(M, order, score, positive, NULL)));
    memset(positive, 0, sizeof positive);
    CHECK(isnan(krein__pr_area(M, order, score, positive, NULL)));
}

/* ---- measures and intervals --------------------------------------------- */

static const krein_measured *measure(const fixture *f, const char *key) {
    for (int64_t i = 0; i < f->numbers.nmeasures; i++)
        if (strcmp(f->numbers.measure[i].key, key) == 0) return &f->numbers.measure[i];
    CHECK_ELSE(false, "no measure %s\n", key);
    return &f->numbers.measure[0];
}

/* The interval of a mean of n numbers with deviation s is +- 1.96 s / sqrt n; a quantile of 500
 * replicates has a standard error of 0.12 s / sqrt n. */
static void check_interval(const krein_span *v, double mean, double sd, double n) {
    double unit = sd / sqrt(n);
    CHECK_REL(v->value, mean, 1e-9);
    CHECK_ABS((v->low - mean) / unit, -1.96, 0.6);
    CHECK_ABS((v->high - mean) / unit, 1.96, 0.6);
}

static void intervals(void) {
    fixture f;
    begin(&f, 0, 700);
    CHECK_ELSE(krein__report_quality(&f.r) == KREIN_OK, "%s\n", krein_message(ctx));
    const krein_kept *k = &f.r.kept;
    double mean = 0, square = 0, linear = 0, constant = 0, average = 0;
    CHECK(k->n == 700);
    for (int64_t i = 0; i < k->n; i++) {
        CHECK(k->row[i] == i && k->y[i] == f.test.y[i]);
        mean += fabs(k->y[i] - k->f[i]) / 700;
        average += k->y[i] / 700;
    }
    for (int64_t i = 0; i < k->n; i++) {
        square += pow(fabs(k->y[i] - k->f[i]) - mean, 2) / 699;
        constant += fabs(k->y[i] - average) / 700;
    }
    check_interval(&measure(&f, "mae")->model, mean, sqrt(square), 700);
    CHECK_REL(measure(&f, "mae")->constant, constant, 1e-9);
    CHECK_ABS(measure(&f, "r2")->constant, 0, 1e-12);
    linear = measure(&f, "rmse")->linear;
    CHECK(linear > measure(&f, "rmse")->model.value && linear < measure(&f, "rmse")->constant);
    end(&f);
}

static void intervals_of_classes(void) {
    fixture f;
    begin(&f, 2, 600);
    CHECK(krein__report_quality(&f.r) == KREIN_OK);
    double p = 0;
    for (int64_t i = 0; i < 600; i++) p += ((f.r.kept.f[i] > 0) != (f.test.class[i] == 1)) / 600.0;
    CHECK(p > 0.01);
    check_interval(&measure(&f, "error")->model, p, sqrt(p * (1 - p)), 600);
    CHECK_ABS(measure(&f, "auc")->constant, 0.5, 0);
    CHECK(measure(&f, "auc")->model.low < measure(&f, "auc")->model.value);
    end(&f);
}

/* The linear baseline with training rows: elimination of the same equations in the encoded columns
 * (which are those of the kernel), with the penalty in units of each column. */
static void linear_baseline(void) {
    fixture f;
    krein_baseline b = {0};
    enum { P = D + 1 };
    double A[P * P] = {0}, y[P] = {0}, mean[D] = {0}, var[D] = {0};
    begin(&f, 0, 50);
    f.r.train = f.trained;
    CHECK(krein__data_match(f.trained, &f.model->encoding, true) == KREIN_OK);
    CHECK_ELSE(krein__report_baseline(&f.r, &b) == KREIN_OK, "%s\n", krein_message(ctx));
    const krein_encoding *e = &f.model->encoding;
    double row[P], average = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            double v = ((double)f.train.x[i * D + j] - e->input[j].shift - (double)e->centre[j]) *
                       (double)e->factor[j];
            mean[j] += v / N;
            var[j] += v * v / N;
        }
    for (int64_t j = 0; j < D; j++) var[j] -= mean[j] * mean[j];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++)
            row[j] = ((double)f.train.x[i * D + j] - e->input[j].shift - (double)e->centre[j]) *
                     (double)e->factor[j];
        row[D] = 1;
        for (int64_t a = 0; a < P; a++)
            for (int64_t c = 0; c < P; c++) A[a * P + c] += row[a] * row[c];
        for (int64_t a = 0; a < P; a++) y[a] += row[a] * f.train.y[i];
        average += f.train.y[i] / N;
    }
    for (int64_t j = 0; j < D; j++) A[j * P + j] += 1e-3 * N * var[j];
    test_solve(P, 1, A, y);
    CHECK_REL(b.constant[0], average, 1e-12);
    for (int64_t i = 0; i < 50; i++) {
        double sum = y[D];
        for (int64_t j = 0; j < D; j++)
            sum += y[j] * ((double)f.test.x[i * D + j] - e->input[j].shift - (double)e->centre[j]) *
                   (double)e->factor[j];
        CHECK_ABS(b.linear[i], sum, 1e-5);
    }
    krein__baseline_clear(ctx, &b);
    end(&f);
}

/* ---- inputs ------------------------------------------------------------- */

/* Predictions of rows by the public way; NULL classes: numbers. */
static double *predict(const fixture *f, const float *x, int64_t n) {
    double *out = test_new(n, sizeof *out);
    CHECK(krein_predict_dense(ctx, f->model, n, D, x, D, out) == KREIN_OK);
    return out;
}

static double loss(const fixture *f, const float *x) {
    double *p = predict(f, x, f->test.n), sum = 0;
    for (int64_t i = 0; i < f->test.n; i++)
        sum += f->test.classes > 0 ? (p[i] > 0) != (f->test.class[i] == 1)
                                   : pow(p[i] - f->test.y[i], 2);
    free(p);
    return f->test.classes > 0 ? sum / (double)f->test.n : sqrt(sum / (double)f->test.n);
}

static void check_importance(int64_t classes) {
    fixture f;
    begin(&f, classes, 150);
    CHECK_ELSE(krein__report_importance(&f.r) == KREIN_OK, "%s\n", krein_message(ctx));
    CHECK(f.numbers.norder == D && f.numbers.permuted_rows == 150);
    double before = loss(&f, f.test.x);
    float *x = test_new(150 * D, sizeof *x);
    int64_t order[150];
    for (int64_t j = 0; j < D; j++) {
        double mean = 0, square = 0, growth[KREIN_REPORT_REPEATS];
        for (int64_t t = 0; t < KREIN_REPORT_REPEATS; t++) {
            memcpy(x, f.test.x, 150 * D * sizeof *x);
            krein__rng_permute(
                krein__substream(3, KREIN_STREAM_REPORT,
                                 KREIN_REPORT_PERMUTE + j * KREIN_REPORT_REPEATS + t),
                150, order);
            for (int64_t i = 0; i < 150; i++) x[i * D + j] = f.test.x[order[i] * D + j];
            growth[t] = loss(&f, x) - before;
            mean += growth[t] / KREIN_REPORT_REPEATS;
        }
        for (int64_t t = 0; t < KREIN_REPORT_REPEATS; t++) square += pow(growth[t] - mean, 2);
        CHECK_ABS(f.numbers.input[j].importance, mean, 1e-4);
        CHECK_ABS(f.numbers.input[j].spread, sqrt(square / (KREIN_REPORT_REPEATS - 1)), 1e-4);
    }
    for (int64_t i = 1; i < D; i++)
        CHECK(f.numbers.input[f.numbers.order[i - 1]].importance >=
              f.numbers.input[f.numbers.order[i]].importance);
    CHECK(f.numbers.order[2] == 2); /* the third input says nothing */
    free(x);
    end(&f);
}

static void importance(void) {
    check_importance(0);
    check_importance(2);
}

/* The gradient is that of sin(a) + 0.3 b, where there are rows. */
static void gradients(void) {
    fixture f;
    begin(&f, 0, 150);
    CHECK(krein__report_importance(&f.r) == KREIN_OK);
    for (int64_t j = 0; j < D; j++) {
        double mean = 0, sd = 0, sum = 0, size = 0;
        float *up = test_new(150 * D, sizeof *up), *down = test_new(150 * D, sizeof *down);
        for (int64_t i = 0; i < 150; i++) mean += (double)f.test.x[i * D + j] / 150;
        for (int64_t i = 0; i < 150; i++) sd += pow((double)f.test.x[i * D + j] - mean, 2) / 150;
        sd = sqrt(sd);
        memcpy(up, f.test.x, 150 * D * sizeof *up);
        memcpy(down, f.test.x, 150 * D * sizeof *down);
        for (int64_t i = 0; i < 150; i++) {
            up[i * D + j] += (float)(0.05 * sd);
            down[i * D + j] -= (float)(0.05 * sd);
        }
        double *a = predict(&f, up, 150), *b = predict(&f, down, 150);
        for (int64_t i = 0; i < 150; i++) {
            sum += (a[i] - b[i]) / 0.1 / 150;
            size += fabs(a[i] - b[i]) / 0.1 / 150;
        }
        CHECK_ABS(f.numbers.input[j].slope, sum, 1e-3);
        CHECK_ABS(f.numbers.input[j].gradient, size, 1e-3);
        free(up);
        free(down);
        free(a);
        free(b);
    }
    end(&f);
}

static void dependence(void) {
    fixture f;
    begin(&f, 0, 150);
    CHECK(krein__report_importance(&f.r) == KREIN_OK);
    CHECK_ELSE(krein__report_dependence(&f.r) == KREIN_OK, "%s\n", krein_message(ctx));
    CHECK(f.numbers.ndependence == D && f.numbers.lines == 1);
    float *x = test_new(150 * D, sizeof *x);
    for (int64_t k = 0; k < D; k++) {
        const krein_dependence *d = &f.numbers.dependence[k];
        int64_t j = d->input, count = 0;
        CHECK(d->steps == KREIN_REPORT_STEPS);
        for (int64_t s = 0; s < d->steps; s += 7) {
            memcpy(x, f.test.x, 150 * D * sizeof *x);
            for (int64_t i = 0; i < 150; i++) x[i * D + j] = (float)d->x[s];
            double *p = predict(&f, x, 150), mean = 0;
            for (int64_t i = 0; i < 150; i++) mean += p[i] / 150;
            CHECK_ABS(d->y[s], mean, 1e-5);
            free(p);
        }
        for (int b = 0; b < KREIN_REPORT_BINS; b++) count += d->density[b];
        CHECK(count >= 146 && count <= 150); /* 98 % of the rows, and those at the ends */
    }
    free(x);
    end(&f);
}

/* ---- odd rows ----------------------------------------------------------- */

static void odd_rows(void) {
    fixture f = {.train = make_set(N, 0, 0.2), .test = make_set(100, 0, 0.9)};
    for (int64_t i = 0; i < 12; i++) { /* twelve duplicates, of which seven have the label too */
        memcpy(f.test.x + i * D, f.train.x + (3 * i + 1) * D, D * sizeof(float));
        f.test.y[i] = i < 7 ? f.train.y[3 * i + 1] : 99;
    }
    for (int64_t i = 20; i < 25; i++) f.test.x[i * D + 2] = 1000 + (float)i;
    f.test.y[50] = -77;
    f.trained = open_set(ctx, &f.train);
    f.data = open_set(ctx, &f.test);
    f.model = train_on(ctx, f.trained, "exact", 0);
    krein_page_options o;
    krein_page page = KREIN_SIZED(krein_page);
    krein_page_options_init(&o);
    o.train = f.trained;
    CHECK_ELSE(krein_model_report(ctx, f.model, f.data, &o, &page) == KREIN_OK, "%s\n",
               krein_message(ctx));
    CHECK(has(page.json, "\"train_rows\":240,\"duplicates\":12,\"same_label\":7"));
    char text[80];
    int64_t outside = 0, worst = 0;
    double *p = test_new(100, sizeof *p);
    CHECK(krein_predict_dense(ctx, f.model, 100, D, f.test.x, D, p) == KREIN_OK);
    for (int64_t i = 0; i < 100; i++) {
        bool any = false;
        for (int64_t j = 0; j < D; j++) {
            float low = f.train.x[j], high = low;
            for (int64_t k = 0; k < N; k++) {
                low = fminf(low, f.train.x[k * D + j]);
                high = fmaxf(high, f.train.x[k * D + j]);
            }
            any |= f.test.x[i * D + j] < low || f.test.x[i * D + j] > high;
        }
        outside += any;
        if (fabs(p[i] - f.test.y[i]) > fabs(p[worst] - f.test.y[worst])) worst = i;
    }
    CHECK(outside >= 5);
    snprintf(text, sizeof text, "\"outside_rows\":%lld,", (long long)outside);
    CHECK(has(page.json, text));
    snprintf(text, sizeof text, "\"odd\":{\"rows\":[{\"row\":%lld,\"truth\":\"99\"",
             (long long)worst + 1);
    CHECK(has(page.json, text));
    free(p);
    CHECK(has(page.html, "12 of 100 rows have the same inputs as one of the 240 training rows"));
    krein_page_clear(ctx, &page);
    krein_model_destroy(f.model);
    krein_data_close(f.data);
    krein_data_close(f.trained);
    free_set(&f.train);
    free_set(&f.test);
}

/* ---- pages -------------------------------------------------------------- */

/* Figures with as many charts, titles and folds; nothing that would be fetched. */
static int64_t count(const char *text, const char *part) {
    int64_t n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part)) n++;
    return n;
}

static void check_page(const krein_page *p) {
    CHECK(p->html_bytes == (int64_t)strlen(p->html) && p->html_bytes < 1000000);
    CHECK(p->json_bytes == (int64_t)strlen(p->json));
    CHECK(count(p->html, "<figure>") == count(p->html, "</figure>"));
    CHECK(count(p->html, "<svg class=\"chart\"") == count(p->html, "<figure>"));
    CHECK(count(p->html, "<details>") == count(p->html, "</details>"));
    CHECK(count(p->html, "<table>") == count(p->html, "</table>"));
    CHECK(count(p->html, "aria-label=\"\"") == 0);
    CHECK(!has(p->html, "http:") && !has(p->html, "https:") && !has(p->html, "src="));
    CHECK(!has(p->html, "nan") && !has(p->html, "inf,") && !has(p->json, "nan"));
    CHECK(!has(p->json, "inf"));
}

static void report_on(krein_ctx *on, const krein_model *m, krein_data *data,
                      const krein_page_options *o, krein_page *page) {
    *page = KREIN_SIZED(krein_page);
    CHECK_ELSE(krein_model_report(on, m, data, o, page) == KREIN_OK, "%s\n", krein_message(on));
    if (page->html) check_page(page);
}

static void pages(void) {
    static const int64_t classes[] = {0, 2, 5, 40};
    for (int k = 0; k < 4; k++)
        for (int map = 0; map < 2; map++) {
            set s = make_set(N, classes[k], 0.4), t = make_set(200, classes[k], 0.4);
            krein_data *train = open_set(ctx, &s), *data = open_set(ctx, &t);
            krein_model *m =
                train_on(ctx, train, map ? "orf(D=64)" : "exact", map && classes[k] > 0);
            krein_page page;
            report_on(ctx, m, data, NULL, &page);
            CHECK(has(page.json, "\"approximation\":null") == (map == 0));
            CHECK(has(page.html, "Do the probabilities hold?") == (map && classes[k] > 0));
            CHECK(has(page.html, "True classes against") == (classes[k] > 0));
            CHECK(has(page.html, "&#10;")); /* texts of marks have lines */
            krein_page_clear(ctx, &page);
            krein_model_destroy(m);
            krein_data_close(data);
            krein_data_close(train);
            free_set(&s);
            free_set(&t);
        }
}

static void clusters_and_components(void) {
    set s = make_set(N, 2, 0.4);
    krein_data *data = open_set(ctx, &s);
    krein_cluster_options o;
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    krein_model *m = NULL;
    krein_page page;
    char text[80];
    krein_cluster_options_init(&o);
    o.clusters = 3;
    CHECK(krein_cluster(ctx, data, &o, NULL, NULL, &r, &m) == KREIN_OK);
    report_on(ctx, m, data, NULL, &page);
    snprintf(text, sizeof text, "\"sizes\":[%lld,%lld,%lld]", (long long)r.sizes[0],
             (long long)r.sizes[1], (long long)r.sizes[2]);
    CHECK(has(page.json, text));
    CHECK_REL(number_at(page.json, "\"silhouette\":"), r.silhouette, 1e-8);
    CHECK_REL(number_at(page.json, "\"ari\":"), r.ari, 1e-8);
    krein_cluster_report_clear(ctx, &r);
    krein_page_clear(ctx, &page);
    krein_model_destroy(m);
    CHECK(krein_pca(ctx, data, NULL, NULL, NULL, &m) == KREIN_OK);
    report_on(ctx, m, data, NULL, &page);
    CHECK(has(page.html, "The components"));
    krein_page_clear(ctx, &page);
    krein_model_destroy(m);
    krein_data_close(data);
    free_set(&s);
}

/* The same bytes by one and by two threads. */
static void threads(void) {
    krein_page one[2];
    for (int k = 0; k < 2; k++) {
        krein_ctx *on = test_ctx(k + 1);
        set s = make_set(N, 3, 0.4), t = make_set(200, 3, 0.4);
        krein_data *train = open_set(on, &s), *data = open_set(on, &t);
        krein_model *m = train_on(on, train, "orf(D=64)", 1);
        krein_page page;
        report_on(on, m, data, NULL, &page);
        one[k] = page;
        one[k].html = strdup(page.html);
        one[k].json = strdup(page.json);
        *strstr(one[k].json, "\"seconds\"") = 0;
        krein_page_clear(on, &page);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_data_close(train);
        free_set(&s);
        free_set(&t);
        krein_ctx_destroy(on);
    }
    CHECK(strcmp(one[0].html, one[1].html) == 0);
    CHECK(strcmp(one[0].json, one[1].json) == 0);
    for (int k = 0; k < 2; k++) {
        free(one[k].html);
        free(one[k].json);
    }
}

/* Parts of the training rows, each inside of the next: all of them gives the model's own error. */
static void learning_curve(void) {
    set s = make_set(N, 0, 0.4), t = make_set(200, 0, 0.8);
    krein_data *train = open_set(ctx, &s), *data = open_set(ctx, &t), *again = open_set(ctx, &s);
    krein_train_options to;
    krein_model *m = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    krein_page_options o;
    krein_page page;
    krein_train_options_init(&to);
    to.seed = 5;
    CHECK(krein_train(ctx, train, &to, NULL, &m) == KREIN_OK); /* with a metric */
    krein_page_options_init(&o);
    o.train = again;
    o.curve = 1;
    o.seed = 5;
    report_on(ctx, m, data, &o, &page);
    CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
    CHECK(has(page.json, "\"curve\":[{\"n\":30,"));
    CHECK_REL(number_at(page.json, "{\"n\":240,\"error\":"), metrics.rmse, 0.02);
    CHECK_REL(number_at(page.json, "\"rmse\":{\"value\":"), metrics.rmse, 1e-8);
    CHECK(has(page.html, "Would more rows help"));
    krein_metrics_clear(ctx, &metrics);
    krein_page_clear(ctx, &page);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(train);
    krein_data_close(again);
    free_set(&s);
    free_set(&t);
}

/* ---- what is refused ---------------------------------------------------- */

static void refused(void) {
    set s = make_set(N, 0, 0.4);
    krein_data *data = open_set(ctx, &s);
    krein_model *m = train_on(ctx, data, "exact", 0), *other = NULL;
    krein_page_options o;
    krein_page page = KREIN_SIZED(krein_page);
    krein_page_options_init(&o);
    o.curve = 1;
    CHECK(krein_model_report(ctx, m, data, &o, &page) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "needs the training rows");
    CHECK(page.html == NULL && page.json == NULL);
    krein_page_options_init(&o);
    o.train = data;
    CHECK(krein_model_report(ctx, m, data, &o, &page) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "opened each for itself");
    krein_page_options_init(&o);
    o.rows = 1;
    CHECK(krein_model_report(ctx, m, data, &o, &page) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "rows");
    o = (krein_page_options){0};
    CHECK(krein_model_report(ctx, m, data, &o, &page) == KREIN_EARG);
    CHECK(krein_fit(ctx, data, NULL, NULL, &other) == KREIN_OK);
    CHECK(krein_model_report(ctx, other, data, NULL, &page) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "no head");
    krein_model_destroy(other);
    krein_model_destroy(m);
    krein_data_close(data);
    free_set(&s);
}

static void memory(void) {
    test_memory mem;
    krein_ctx *on = test_ctx_with(1, &mem);
    set s = make_set(60, 3, 0.4), t = make_set(40, 3, 0.4);
    krein_data *train = open_set(on, &s), *data = open_set(on, &t);
    krein_model *m = train_on(on, train, "orf(D=16)", 1);
    krein_page page;
    int64_t bad = 0, step = test_sanitized() ? 7 : 3;
    for (int64_t k = 0;; k += step) { /* every third */
        int64_t before = test_live(&mem);
        page = KREIN_SIZED(krein_page);
        test_fail_at(&mem, k);
        krein_status st = krein_model_report(on, m, data, NULL, &page);
        bool reached = test_has_failed(&mem);
        test_fail_at(&mem, -1);
        bad += reached ? st != KREIN_EMEMORY || page.html : st != KREIN_OK;
        krein_page_clear(on, &page);
        krein__data_forget(data);
        if (reached && test_live(&mem) > before) bad++;
        if (!reached) break;
    }
    CHECK_ELSE(bad == 0, "%lld\n", (long long)bad);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(train);
    CHECK(test_live(&mem) == 0);
    krein_ctx_destroy(on);
    free_set(&s);
    free_set(&t);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(areas);
    RUN(intervals);
    RUN(intervals_of_classes);
    RUN(linear_baseline);
    RUN(importance);
    RUN(gradients);
    RUN(dependence);
    RUN(odd_rows);
    RUN(pages);
    RUN(clusters_and_components);
    RUN(threads);
    RUN(learning_curve);
    RUN(refused);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
