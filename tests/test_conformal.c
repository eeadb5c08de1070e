/* test_conformal.c -- split conformal prediction: which rows are kept from the training, that the
 * model knows nothing of them, intervals and sets against their definition, coverage of new rows by
 * many learners and on the average of many trainings, probabilities of learners that have none,
 * files, threads, memory, bad input. */
#include "train.h"

#include "forge.h"

#include "model/posterior.h"
#include "num/order.h"
#include "stream/data.h"

static const double levels[] = {.5, .8, .9, .95};
enum { LEVELS = 4 };

/* ---- helpers ------------------------------------------------------------ */

static krein_train_options sure(const char *learner, const char *kernel, const char *map) {
    krein_train_options o = with(learner, kernel, map, -1);
    o.uncertainty = 1;
    return o;
}

static krein_model *fit(krein_ctx *ctx, krein_data *data, const krein_train_options *o) {
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", o->learner, krein_message(ctx));
    if (!m) exit(1);
    return m;
}

static krein_model *fit_rows(krein_ctx *ctx, const rows *r, krein_task task,
                             const krein_train_options *o) {
    krein_data *data = open_rows(ctx, r, NULL, task);
    krein_model *m = fit(ctx, data, o);
    krein_data_close(data);
    return m;
}

static double *scores(krein_ctx *ctx, const krein_model *m, const rows *r) {
    double *f = test_new(r->n * m->k, 8);
    krein_prediction_arrays to;
    krein_data *data = open_rows(ctx, r, NULL, m->encoding.task);
    krein_prediction_arrays_init(&to);
    to.capacity = r->n;
    to.scores = f;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
    krein_data_close(data);
    return f;
}

static krein_metrics measure(krein_ctx *ctx, const krein_model *m, const rows *r, double level) {
    krein_metrics out = KREIN_SIZED(krein_metrics);
    krein_data *data = open_rows(ctx, r, NULL, m->encoding.task);
    CHECK(krein_evaluate_interval(ctx, m, data, level, &out) == KREIN_OK);
    krein_data_close(data);
    return out;
}

/* Three classes, of which a third of the rows has a wrong one. */
static rows noisy_classes(int64_t n, uint64_t seed) {
    rows r = make_rows(n, 3, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        int c = (int)floor(3 * (double)r.x[i * 3]);
        if (uniform() < 1. / 3) c = (int)floor(3 * uniform());
        r.y[i] = c > 2 ? 2 : c;
    }
    return r;
}

/* Rows i of r for which keep[i] is `which`. */
static rows rows_of(const rows *r, const uint8_t *keep, int which) {
    rows o = {0, r->d, r->k, test_new(r->n * r->d, sizeof(float)), test_new(r->n * r->k, 8)};
    for (int64_t i = 0; i < r->n; i++) {
        if (keep[i] != which) continue;
        memcpy(o.x + o.n * r->d, r->x + i * r->d, (size_t)r->d * sizeof(float));
        memcpy(o.y + o.n++ * r->k, r->y + i * r->k, (size_t)r->k * 8);
    }
    return o;
}

/* ---- which rows --------------------------------------------------------- */

static void sizes(void) {
    static const int64_t want[][2] = {{0, 0},        {59, 0},       {60, 30},
                                      {149, 30},     {155, 31},     {1000, 200},
                                      {24999, 4999}, {25000, 5000}, {1 << 20, 5000}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK(krein__calibration_rows(want[i][0]) == want[i][1]);
}

/* The model is that of the other rows alone, scaling included; the residuals are of those kept. */
static void unseen_rows(void) {
    krein_ctx *ctx = test_ctx(2);
    rows all[] = {friedman(203, 1, 7), two_targets(203)};
    for (int run = 0; run < 4; run++) {
        const rows *r = &all[run % 2];
        krein_train_options o =
            sure(run < 2 ? "kgd(steps=40)" : "dckrr(parts=1)", "gaussian(sigma=2)", "exact");
        krein_data *data = open_rows(ctx, r, NULL, KREIN_TASK_REGRESSION);
        if (run >= 2) o.lambda = 1e-3;
        o.holdout = run >= 2 ? .25 : 0;
        krein_model *m = fit(ctx, data, &o);
        int64_t n = run >= 2 ? 203 - 51 : 203;
        CHECK(data->count[KREIN_PART_CALIBRATE] == krein__calibration_rows(n));
        CHECK(data->count[KREIN_PART_HELD] == 203 - n);
        CHECK(m->n == n - krein__calibration_rows(n) && m->n == data->count[KREIN_PART_TRAIN]);
        CHECK(!m->posterior && m->conformal.rows == krein__calibration_rows(n));
        rows train = rows_of(r, data->part, KREIN_PART_TRAIN);
        rows kept = rows_of(r, data->part, KREIN_PART_CALIBRATE);
        krein_data_close(data);
        o.uncertainty = 0;
        o.holdout = 0;
        krein_model *plain = fit_rows(ctx, &train, KREIN_TASK_REGRESSION, &o);
        CHECK(plain->map->R == m->map->R && plain->k == m->k && !plain->conformal.residual);
        double *f = scores(ctx, m, &kept), *g = scores(ctx, plain, &kept);
        double *size = test_new(kept.n, 8);
        /* columns less the first row's number are rounded to float32 */
        for (int64_t e = 0; e < kept.n * m->k; e++)
            CHECK_ABS(f[e], g[e], 1e-5 * (e % m->k ? 1000 : 10));
        free(g);
        for (int64_t c = 0; c < m->k; c++) {
            for (int64_t i = 0; i < kept.n; i++)
                size[i] = fabs(kept.y[i * m->k + c] - f[i * m->k + c]);
            qsort(size, (size_t)kept.n, 8, krein__ascending);
            for (int64_t i = 0; i < kept.n; i++)
                CHECK_ABS(m->conformal.residual[c * kept.n + i], size[i], 1e-10);
        }
        free(f);
        free(size);
        drop(&train);
        drop(&kept);
        krein_model_destroy(plain);
        krein_model_destroy(m);
    }
    drop(&all[0]);
    drop(&all[1]);
    krein_ctx_destroy(ctx);
}

/* Rows that are sorted, and rows of groups. */
static void drawn(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(600, 1, 8);
    krein_train_options o = sure("svr(C=1)", "gaussian(sigma=2)", "exact");
    krein_data_options d;
    krein_data *data = NULL;
    for (int64_t i = 0; i < r.n; i++) r.x[i * 6 + 5] = (float)(i / 50);
    for (int grouped = 0; grouped < 2; grouped++) {
        krein_data_options_init(&d);
        d.task = KREIN_TASK_REGRESSION;
        if (grouped) d.group = "x6";
        CHECK(krein_data_open(ctx, write_rows("drawn.csv", &r), &d, &data) == KREIN_OK);
        krein_model *m = fit(ctx, data, &o);
        double place = 0;
        int64_t each[12] = {0}, whole = 0;
        for (int64_t i = 0; i < r.n; i++) {
            if (data->part[i] != KREIN_PART_CALIBRATE) continue;
            place += (double)i / 120;
            each[i / 50]++;
        }
        for (int g = 0; g < 12; g++) whole += each[g] == 50;
        CHECK(m->conformal.rows == (grouped ? 150 : 120));
        CHECK(whole == (grouped ? 3 : 0));
        /* 120 of 0 .. 599, without replacement */
        if (!grouped) CHECK_Z(place, 299.5, 600. * 601 / 12 * 480 / 600, 120);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- numbers ------------------------------------------------------------ */

static void intervals(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = two_targets(300), fresh = two_targets(310);
    krein_train_options o = sure("kgd(steps=40)", "gaussian(sigma=2)", "exact");
    krein_model *m = fit_rows(ctx, &r, KREIN_TASK_REGRESSION, &o);
    double *f = scores(ctx, m, &fresh), *low = test_new(620, 8), *high = test_new(620, 8);
    CHECK(krein__model_says(m) == KREIN_SAYS_INTERVAL && m->conformal.rows == 60);
    for (int l = 0; l < LEVELS + 1; l++) { /* 60 rows have no interval of .99 */
        double level = l < LEVELS ? levels[l] : .99;
        int64_t rank = (int64_t)ceil(level * 61 - 1e-9);
        krein_prediction_arrays to;
        krein_data *data = open_rows(ctx, &fresh, NULL, KREIN_TASK_REGRESSION);
        krein_prediction_arrays_init(&to);
        to.capacity = 310;
        to.lower = low;
        to.upper = high;
        to.interval = level;
        CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
        krein_data_close(data);
        for (int64_t e = 0; e < 620; e++) {
            double half = rank > 60 ? INFINITY : m->conformal.residual[e % 2 * 60 + rank - 1];
            CHECK(low[e] == f[e] - half && high[e] == f[e] + half);
        }
    }
    free(f);
    free(low);
    free(high);
    drop(&r);
    drop(&fresh);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

static double bound(double p, int64_t kept, int64_t fresh) {
    return 4 * sqrt(p * (1 - p) * (1. / (double)kept + 1. / (double)fresh));
}

static void coverage(void) {
    static const struct {
        const char *learner, *kernel, *map;
    } of[] = {{"svr", "gaussian(sigma=2)", NULL},
              {"svr(C=4)", "gaussian(sigma=2)", "orf(D=96)"},
              {"kgd", "gaussian(sigma=2)", NULL},
              {"askl(D=64, epochs=20)", NULL, NULL},
              {"deep(layers=2, width=32, epochs=10)", NULL, NULL},
              {"net(arch=\"mlp(16)\", epochs=10)", NULL, NULL},
              {"dckrr(parts=2)", "gaussian(sigma=2)", NULL},
              {"sskrr", "gaussian(sigma=2)", NULL},
              {"laprls(k=6)", "gaussian(sigma=2)", NULL},
              {"labelprop", "gaussian(sigma=2)", NULL},
              {"vvr(epochs=10)", "gaussian(sigma=2)", "orf(D=64)"},
              {"krr", "gaussian(sigma=2) - 0.1*gaussian(sigma=9)", "exact"},
              {"mkl", "gaussian(sigma=2); gaussian(sigma=4)", NULL}};
    enum { FRESH = 600 };
    krein_ctx *ctx = test_ctx(2);
    rows fresh = friedman(FRESH, 1, 60);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        rows r = friedman(500, 1, 30 + i);
        krein_train_options o = sure(of[i].learner, of[i].kernel, of[i].map);
        bool several = strcmp(o.learner, "mkl") == 0; /* of krr: rows are left out one by one */
        if (several) o.kernels = o.kernel, o.kernel = NULL;
        krein_model *m = fit_rows(ctx, &r, KREIN_TASK_REGRESSION, &o);
        CHECK_ELSE((m->posterior != NULL) == several && m->n == (several ? 500 : 400), "%s\n",
                   o.learner);
        for (int l = 0; l < LEVELS; l++) {
            double p = levels[l];
            krein_metrics out = measure(ctx, m, &fresh, p);
            CHECK_ELSE(fabs(out.coverage - p) < bound(p, several ? 500 : 100, FRESH),
                       "%s: %g for %g\n", o.learner, out.coverage, p);
            CHECK(out.interval == p && out.width > 0 && isfinite(out.width));
            krein_metrics_clear(ctx, &out);
        }
        krein_model_destroy(m);
        drop(&r);
    }
    drop(&fresh);
    krein_ctx_destroy(ctx);
}

/* The guarantee itself: on the average of trainings 28 / 31, for the 28th of 30 residuals. */
static void on_average(void) {
    enum { RUNS = 120, FRESH = 40 };
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = sure("svr(C=4, epsilon=0.1)", "gaussian(sigma=2)", "exact");
    double sum = 0, square = 0;
    for (int i = 0; i < RUNS; i++) {
        rows r = friedman(60, 1, 1000 + (uint64_t)i),
             fresh = friedman(FRESH, 1, 5000 + (uint64_t)i);
        krein_model *m = fit_rows(ctx, &r, KREIN_TASK_REGRESSION, &o);
        krein_metrics out = measure(ctx, m, &fresh, .9);
        sum += out.coverage / RUNS;
        square += out.coverage * out.coverage / RUNS;
        krein_metrics_clear(ctx, &out);
        krein_model_destroy(m);
        drop(&r);
        drop(&fresh);
    }
    CHECK_Z(sum, 28. / 31, square - sum * sum, RUNS);
    CHECK(square - sum * sum < .01); /* so that this says something: 5 standard errors are .04 */
    krein_ctx_destroy(ctx);
}

/* Rows without a weight do not count. */
static void weights(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(300, 1, 9);
    double w[300];
    krein_model *m = NULL;
    krein_train_options o = sure("kgd(steps=30)", "gaussian(sigma=2)", "exact");
    for (int64_t i = 0; i < 300; i++) w[i] = (double)(i % 3);
    krein_data *data = open_rows(ctx, &r, w, KREIN_TASK_REGRESSION);
    m = fit(ctx, data, &o);
    int64_t count = 0;
    for (int64_t i = 0; i < 300; i++) count += data->part[i] == KREIN_PART_CALIBRATE && w[i] > 0;
    CHECK(count < 60 && m->conformal.rows == count);
    krein_model_destroy(m);
    for (int64_t i = 0; i < 300; i++) w[i] = data->part[i] == KREIN_PART_TRAIN;
    krein_data_close(data);
    data = open_rows(ctx, &r, w, KREIN_TASK_REGRESSION);
    m = NULL;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EDATA && !m);
    CHECK_HAS(krein_message(ctx), "the 60 rows that were kept from the training have no weight");
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- classes ------------------------------------------------------------ */

static const struct {
    const char *learner, *kernel, *map;
    bool own; /* probabilities */
} classifiers[] = {{"logistic", "gaussian(sigma=1)", "orf(D=48)", true},
                   {"kgd", "gaussian(sigma=1)", NULL, false},
                   {"dckrr(parts=2)", "gaussian(sigma=1)", NULL, false},
                   {"sskrr", "gaussian(sigma=1)", NULL, false},
                   {"labelprop", "gaussian(sigma=1)", NULL, false},
                   {"selftrain(base=krr)", "gaussian(sigma=1)", NULL, true},
                   {"vvr(epochs=10)", "gaussian(sigma=1)", "orf(D=48)", true},
                   {"askl(D=32, epochs=20)", NULL, NULL, true},
                   {"deep(layers=2, width=16, epochs=10)", NULL, NULL, true},
                   {"net(arch=\"mlp(16)\", epochs=10)", NULL, NULL, true},
                   {"mkl", "gaussian(sigma=1); linear", NULL, true},
                   {"mkl(base=svm)", "gaussian(sigma=1); linear", NULL, true}};
enum { CLASSIFIERS = 12 };

static void sets(void) {
    enum { TRAIN = 600, TEST = 600 };
    krein_ctx *ctx = test_ctx(2);
    rows fresh = noisy_classes(TEST, 90);
    double *p = test_new(TEST * 3, 8);
    int8_t *set = test_new(TEST * 3, 1);
    int64_t *label = test_new(TEST, 8);
    for (int c = 0; c < CLASSIFIERS; c++) {
        rows r = noisy_classes(TRAIN, 70 + (uint64_t)c);
        krein_train_options o =
            sure(classifiers[c].learner, classifiers[c].kernel, classifiers[c].map);
        bool several = strncmp(o.learner, "mkl", 3) == 0; /* has rows held out of its own */
        if (several) o.kernels = o.kernel, o.kernel = NULL;
        krein_model *m = fit_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o);
        int64_t held = m->calibration.held;
        CHECK_ELSE(held == (several              ? TRAIN
                            : classifiers[c].own ? 120
                                                 : 60),
                   "%s: %lld\n", o.learner, (long long)held);
        for (int l = 0; l < LEVELS; l++) {
            krein_prediction_arrays to;
            krein_data *data = open_rows(ctx, &fresh, NULL, KREIN_TASK_CLASSIFICATION);
            double covered = 0, level = levels[l], right = 0;
            int64_t rank = (int64_t)ceil(level * (double)(held + 1) - 1e-9);
            krein_prediction_arrays_init(&to);
            to.capacity = TEST;
            to.probabilities = p;
            to.sets = set;
            to.labels = label;
            to.interval = level;
            CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
            krein_data_close(data);
            for (int64_t i = 0; i < TEST; i++) {
                CHECK_ABS(p[i * 3] + p[i * 3 + 1] + p[i * 3 + 2], 1, 1e-12);
                for (int j = 0; j < 3; j++)
                    CHECK(set[i * 3 + j] ==
                          (1 - p[i * 3 + j] <= m->calibration.doubt[rank - 1] || j == label[i]));
                covered += (double)set[i * 3 + (int64_t)fresh.y[i]] / TEST;
                right += (double)(label[i] == (int64_t)fresh.y[i]) / TEST;
            }
            /* the best class is always in: at least what is right is covered */
            double low = level - bound(level, held, TEST);
            double high = fmax(right, level) + bound(level, held, TEST);
            CHECK_ELSE(covered > low && covered < high, "%s: %g for %g, right %g\n", o.learner,
                       covered, level, right);
        }
        krein_model_destroy(m);
        drop(&r);
    }
    free(p);
    free(set);
    free(label);
    drop(&fresh);
    krein_ctx_destroy(ctx);
}

/* Of learners that have none of their own. Of a row's class 7 / 9 are known, of the others 1 / 9
 * each: the best log loss is .684, and that of the classes' shares log 3. */
static void probabilities(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = noisy_classes(800, 11), fresh = noisy_classes(2000, 12);
    for (int c = 0; c < CLASSIFIERS; c++) {
        if (classifiers[c].own) continue;
        krein_train_options o =
            with(classifiers[c].learner, classifiers[c].kernel, classifiers[c].map, -1);
        o.probabilities = 1;
        krein_model *m = fit_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o);
        krein_metrics out = KREIN_SIZED(krein_metrics);
        krein_data *data = open_rows(ctx, &fresh, NULL, KREIN_TASK_CLASSIFICATION);
        CHECK(krein_evaluate(ctx, m, data, &out) == KREIN_OK);
        CHECK(m->n == 640 && !m->calibration.doubt && isnan(out.coverage));
        CHECK_ELSE(out.log_loss > .6 && out.log_loss < .85, "%s: %g\n", o.learner, out.log_loss);
        krein_metrics_clear(ctx, &out);
        krein_data_close(data);
        krein_model_destroy(m);
    }
    drop(&r);
    drop(&fresh);
    krein_ctx_destroy(ctx);
}

/* ---- files, threads, memory --------------------------------------------- */

static void same_bytes(void) {
    rows numbers = two_targets(400), classes = noisy_classes(400, 21);
    for (int i = 0; i < 4; i++) {
        const rows *r = i % 2 ? &classes : &numbers;
        krein_task task = i % 2 ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
        krein_train_options o = sure(i < 2 ? "kgd(steps=40)" : "askl(D=32, epochs=5)",
                                     i < 2 ? "gaussian(sigma=2)" : NULL, NULL);
        test_bytes bytes[3];
        for (int run = 0; run < 3; run++) { /* 1 thread, 2 threads, a checkpoint */
            krein_ctx *ctx = test_ctx(1 + run % 2);
            remove(test_path("state"));
            if (run == 2 && i >= 2) o.checkpoint = test_path("state");
            krein_model *m = fit_rows(ctx, r, task, &o), *again = NULL;
            bytes[run] = test_model_bytes(ctx, m);
            CHECK(krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
            CHECK(krein_model_load(ctx, test_path("m.krein"), &again) == KREIN_OK);
            krein_metrics a = measure(ctx, m, r, .8), b = measure(ctx, again, r, .8);
            CHECK(a.coverage == b.coverage && a.width == b.width);
            krein_metrics_clear(ctx, &a);
            krein_metrics_clear(ctx, &b);
            krein_model_destroy(m);
            krein_model_destroy(again);
            krein_ctx_destroy(ctx);
        }
        CHECK(test_same(bytes[0], bytes[1]));
        CHECK(test_same(bytes[0], bytes[2]));
        for (int run = 0; run < 3; run++) free(bytes[run].at);
    }
    drop(&numbers);
    drop(&classes);
}

static void forged(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(100, 1, 22);
    krein_train_options o = sure("kgd(steps=10)", "gaussian(sigma=2)", "exact");
    krein_model *m = fit_rows(ctx, &r, KREIN_TASK_REGRESSION, &o), *again = NULL;
    test_bytes file = test_model_bytes(ctx, m);
    parts p = take_apart(&file);
    const char *path = test_path("forged.krein");
    int changed = 0;
    for (int j = 0; j < p.n; j++) {
        part *one = &p.all[j];
        if (strncmp(one->name, "conformal.", 10) != 0) continue;
        bool rows_of_it = one->type == KREIN_TYPE_I64;
        int64_t *number = one->data, was = *number;
        double *first = one->data;
        for (int way = 0; way < 2; way++) {
            if (rows_of_it)
                *number = way ? 0 : was + 1;
            else
                *first = way ? NAN : -1;
            put_together(ctx, &p, -1, path);
            CHECK_ELSE(krein_model_load(ctx, path, &again) == KREIN_EMODEL, "%s\n", one->name);
            *number = was;
        }
        if (!rows_of_it) { /* not ascending */
            *first = first[one->n - 1] + 1;
            put_together(ctx, &p, -1, path);
            CHECK(krein_model_load(ctx, path, &again) == KREIN_EMODEL);
            *number = was;
        }
        put_together(ctx, &p, j, path);
        /* without the count there are none; without the residuals it is damaged */
        krein_status st = krein_model_load(ctx, path, &again);
        CHECK(st == (rows_of_it ? KREIN_OK : KREIN_EMODEL));
        if (st == KREIN_OK) CHECK(krein__model_says(again) == 0);
        krein_model_destroy(again);
        again = NULL;
        changed++;
    }
    CHECK(changed == 2);
    drop_parts(&p);
    free(file.at);
    krein_model_destroy(m);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void planned(void) {
    rows numbers = friedman(1000, 1, 23), classes = noisy_classes(1000, 24);
    krein_train_options o = sure("kgd(steps=20)", "gaussian(sigma=2)", "exact");
    check_plan(2, &numbers, KREIN_TASK_REGRESSION, &o);
    check_plan(2, &classes, KREIN_TASK_CLASSIFICATION, &o);
    o = sure("logistic(lambda=0.001)", "gaussian(sigma=2)", "orf(D=64)");
    check_plan(2, &classes, KREIN_TASK_CLASSIFICATION, &o);
    krein_ctx *ctx = test_ctx(1);
    krein_report plan = KREIN_SIZED(krein_report);
    krein_data *data = open_rows(ctx, &classes, NULL, KREIN_TASK_CLASSIFICATION);
    CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK && plan.n == 800);
    krein_report_clear(ctx, &plan);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&numbers);
    drop(&classes);
}

/* The data set is opened each time: it keeps which rows are of which part. */
static void failing(void) {
    rows numbers = friedman(60, 1, 25), classes = noisy_classes(60, 26);
    for (int i = 0; i < 2; i++) {
        const rows *r = i ? &classes : &numbers;
        test_memory memory = {0};
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_data_options d;
        krein_data_options_init(&d);
        d.task = i ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
        krein_train_options o =
            sure(i ? "kgd(steps=5)" : "svr(C=1, epsilon=0.5)", "gaussian(sigma=1)", "exact");
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_status st =
                krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, NULL, &d, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            krein_data_close(data);
        }
        krein_ctx_destroy(ctx);
    }
    drop(&numbers);
    drop(&classes);
}

/* ---- what is refused ---------------------------------------------------- */

static void refused(void) {
    krein_ctx *ctx = test_ctx(1);
    rows few = friedman(59, 1, 27), r = friedman(100, 1, 28);
    krein_train_options o = sure("svr", "gaussian(sigma=2)", "exact");
    krein_model *m = NULL;
    double std[100];
    CHECK(train_rows(ctx, &few, KREIN_TASK_REGRESSION, &o, NULL, &m) == KREIN_EDATA && !m);
    CHECK_HAS(krein_message(ctx), "59 rows are too few");
    CHECK_HAS(krein_message(ctx), "at least 60");
    m = fit_rows(ctx, &r, KREIN_TASK_REGRESSION, &o);
    krein_prediction_arrays to;
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_prediction_arrays_init(&to);
    to.capacity = 100;
    to.std = std;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`std` is known to models of krr");
    to.std = NULL;
    to.novelty = std;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`novelty` is known to models of krr");
    krein_data_close(data);
    krein_model_destroy(m);
    drop(&few);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(sizes);
    RUN(unseen_rows);
    RUN(drawn);
    RUN(intervals);
    RUN(coverage);
    RUN(on_average);
    RUN(weights);
    RUN(sets);
    RUN(probabilities);
    RUN(same_bytes);
    RUN(forged);
    RUN(planned);
    RUN(failing);
    RUN(refused);
    return DONE();
}
