/* test_svm.c -- the learners svm and svr on features, through krein_train: machines trained by
 * hand, weights, the choice of C, probabilities, memory, and what is refused. */
#include "svm.h"

#include "solve/machine.h"

/* ---- by hand ---------------------------------------------------------------- */

typedef struct hand {
    krein_loss loss;
    double C, epsilon;
    bool intercept;
    const double *weight; /* or NULL */
} hand;

static double loss_of(const hand *h, double y, double f) {
    if (h->loss == KREIN_LOSS_EPSILON) return fmax(0, fabs(y - f) - h->epsilon);
    double miss = fmax(0, 1 - y * f);
    return h->loss == KREIN_LOSS_HINGE ? miss : miss * miss;
}

/* Of score c of a model on the linear kernel, whose features are the rows. y: targets, 0 where a
 * row has no part. */
static double objective(const hand *h, const rows *r, const krein_model *m, int64_t c,
                        const double *y) {
    double sum = 0;
    for (int64_t j = 0; j < r->d; j++) sum += pow(m->w[j * m->k + c], 2) / 2;
    for (int64_t i = 0; i < r->n; i++) {
        double f = m->intercept[c];
        for (int64_t j = 0; j < r->d; j++) f += m->w[j * m->k + c] * (double)r->x[i * r->d + j];
        if (y[i] != 0) sum += h->C * (h->weight ? h->weight[i] : 1) * loss_of(h, y[i], f);
    }
    return sum;
}
static double by_hand(krein_ctx *ctx, const hand *h, const rows *r, const double *y) {
    krein_features z = {
        .ctx = ctx, .n = r->n, .D = r->d, .rows = r->n, .blocks = 1, .kept = r->x, .at = -1};
    krein_machine m = {.dual = test_new(r->n, sizeof *m.dual), .w = test_new(r->d, sizeof *m.w)};
    krein_machine_options o = {
        .loss = h->loss, .epsilon = h->epsilon, .intercept = h->intercept, .tol = 1e-6};
    for (int64_t i = 0; i < r->n; i++)
        if (y[i] != 0)
            m.dual[m.n++] =
                (krein_dual){(int32_t)i, (float)y[i], h->C * (h->weight ? h->weight[i] : 1), 0};
    CHECK(krein__machines_train(&z, &m, 1, &o) == KREIN_OK && m.converged);
    free(m.dual);
    free(m.w);
    return m.primal;
}
static void class_targets(const rows *r, bool pairs, int a, int b, double *y) {
    for (int64_t i = 0; i < r->n; i++)
        y[i] = pairs ? (r->y[i] == b) - (r->y[i] == a) : r->y[i] == b ? 1 : -1;
}

static void one_against_rest_and_pairs(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 16; c++) {
        bool pairs = c & 1, squared = c & 2, intercept = c & 4;
        int classes = c & 8 ? 4 : 2;
        rows r = make_rows(260, classes, 1, 3);
        char learner[120];
        snprintf(learner, sizeof learner, "svm(C=3, loss=%s, multi=%s, intercept=%s, tol=1e-6)",
                 squared ? "hinge2" : "hinge", pairs ? "ovo" : "ovr", intercept ? "yes" : "no");
        krein_train_options o = options_of(learner, LINEAR);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = fitted(ctx, &r, &o, &report);
        hand h = {squared ? KREIN_LOSS_HINGE2 : KREIN_LOSS_HINGE, 3, 0, intercept, NULL};
        CHECK(m->k == (classes == 2 ? 1 : pairs ? 6 : 4));
        CHECK(isnan(report.loo) && report.folds == 0);
        CHECK_REL(m->lambda, 1 / (2 * 260 * 3.0), 1e-12);
        double *y = test_new(r.n, sizeof *y), *f = test_new(r.n * m->k, sizeof *f);
        int a = 0, b = pairs && classes > 2 ? 1 : 0;
        for (int64_t k = 0; k < m->k; k++) {
            class_targets(&r, pairs && classes > 2, a, classes == 2 ? 1 : b, y);
            CHECK_REL(objective(&h, &r, m, k, y), by_hand(ctx, &h, &r, y), 5e-6);
            if (!intercept) CHECK(m->intercept[k] == 0);
            if (++b >= classes && pairs) b = ++a + 1;
        }
        /* what the scores stand for */
        int64_t wrong = 0;
        CHECK(krein_predict_dense(ctx, m, r.n, 3, r.x, 3, f) == KREIN_OK);
        for (int64_t i = 0; i < r.n; i++) {
            double vote[4] = {0}, *s = f + i * m->k;
            for (int64_t k = 0, p = 0; m->k == 6 && k < 4; k++)
                for (int64_t l = k + 1; l < 4; l++, p++) vote[s[p] > 0 ? l : k]++;
            const double *best = m->k == 6 ? vote : s;
            int64_t top = m->k == 1 ? s[0] > 0 : 0;
            for (int64_t k = 1; m->k > 1 && k < 4; k++) top = best[k] > best[top] ? k : top;
            wrong += top != (int64_t)r.y[i];
        }
        krein_data *data = open_rows(ctx, &r, KREIN_TASK_CLASSIFICATION);
        krein_metrics metrics = KREIN_SIZED(krein_metrics);
        CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
        CHECK_ABS(metrics.error, (double)wrong / (double)r.n, 1e-12);
        krein_metrics_clear(ctx, &metrics);
        krein_data_close(data);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        free(y);
        free(f);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

static void regression_by_hand(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 4; c++) {
        rows r = make_rows(200, 0, c & 1 ? 3 : 1, 5);
        bool intercept = c & 2;
        char learner[80];
        snprintf(learner, sizeof learner, "svr(C=2, epsilon=.5, intercept=%s, tol=1e-6)",
                 intercept ? "yes" : "no");
        krein_train_options o = options_of(learner, LINEAR);
        krein_model *m = fitted(ctx, &r, &o, NULL);
        hand h = {KREIN_LOSS_EPSILON, 2, .5, intercept, NULL};
        double *y = test_new(r.n, sizeof *y);
        for (int64_t k = 0; k < r.k; k++) {
            for (int64_t i = 0; i < r.n; i++) y[i] = r.y[i * r.k + k];
            CHECK_REL(objective(&h, &r, m, k, y), by_hand(ctx, &h, &r, y), 5e-6);
            if (!intercept) CHECK(m->intercept[k] == 0);
        }
        krein_model_destroy(m);
        free(y);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* An epsilon that is not given: a tenth of the deviation, three digits. */
static void epsilon_by_default(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = make_rows(150, 0, 1, 6);
    double mean = 0, square = 0;
    for (int64_t i = 0; i < r.n; i++) mean += r.y[i] / 150;
    for (int64_t i = 0; i < r.n; i++) square += pow(r.y[i] - mean, 2) / 150;
    krein_train_options o = options_of("svr(C=1)", LINEAR);
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = fitted(ctx, &r, &o, &report);
    char want[60];
    snprintf(want, sizeof want, "svr(C=1, epsilon=%.3g", sqrt(square) / 10);
    CHECK_HAS(report.learner, want);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Targets in other units: the same machine, C and epsilon included. */
static void units_do_not_matter(void) {
    static const double unit[] = {1, 1e-25, 1e-14, 1e-5, 1e9, 1e25};
    krein_ctx *ctx = test_ctx(2);
    double first = 0;
    for (int c = 0; c < 6; c++) {
        rows r = make_rows(200, 0, 1, 12);
        krein_train_options o = options_of("svr", "rff(D=60)");
        krein_report report = KREIN_SIZED(krein_report);
        for (int64_t i = 0; i < r.n; i++) r.y[i] *= unit[c];
        krein_model_destroy(fitted(ctx, &r, &o, &report));
        if (c == 0) first = report.loo;
        CHECK(first < 1);
        CHECK_REL(report.loo / unit[c], first, .05); /* the next C at most */
        krein_report_clear(ctx, &report);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* ---- weights ------------------------------------------------------------------ */

static void balanced_classes(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int classes = 2; classes <= 3; classes++) {
        rows r = make_rows(240, classes, 1, 7);
        double count[3] = {0}, *y = test_new(r.n, sizeof *y), *weight = test_new(r.n, sizeof *y);
        for (int64_t i = 0; i < r.n; i++) {
            if (i % 3 && r.y[i] == 0) r.y[i] = 1; /* not balanced by themselves */
            count[(int)r.y[i]]++;
        }
        for (int64_t i = 0; i < r.n; i++) weight[i] = (double)r.n / (classes * count[(int)r.y[i]]);
        krein_train_options o = options_of("svm(C=2, class_weights=balanced, tol=1e-6)", LINEAR);
        krein_model *m = fitted(ctx, &r, &o, NULL);
        hand h = {KREIN_LOSS_HINGE, 2, 0, true, weight};
        for (int64_t k = 0; k < m->k; k++) {
            class_targets(&r, false, 0, m->k == 1 ? 1 : (int)k, y);
            CHECK_REL(objective(&h, &r, m, k, y), by_hand(ctx, &h, &r, y), 5e-6);
        }
        krein_model_destroy(m);
        free(y);
        free(weight);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* Row i so many times as its weight says. */
static rows repeated(const rows *r) {
    rows out = {0,
                r->d,
                r->k,
                test_new(4 * r->n * r->d, sizeof(float)),
                test_new(4 * r->n * r->k, sizeof(double)),
                NULL};
    for (int64_t i = 0; i < r->n; i++)
        for (int t = 0; t < r->weight[i]; t++, out.n++) {
            memcpy(out.x + out.n * r->d, r->x + i * r->d, (size_t)r->d * sizeof(float));
            memcpy(out.y + out.n * r->k, r->y + i * r->k, (size_t)r->k * sizeof(double));
        }
    return out;
}
static void weights_are_repeated_rows(void) {
    static const char *const learners[] = {"svm(tol=1e-6)", "svm(loss=hinge2, tol=1e-6)",
                                           "svr(epsilon=.3, tol=1e-6)", "svr(tol=1e-6)"};
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 4; c++) {
        rows r = make_rows(150, c < 2 ? 2 : 0, 1, 8);
        r.weight = test_new(r.n, sizeof *r.weight);
        for (int64_t i = 0; i < r.n; i++) r.weight[i] = (double)(i * 5 % 4);
        rows s = repeated(&r);
        krein_train_options o = options_of(learners[c], LINEAR);
        o.lambda = 2e-3; /* of mean losses: C follows from the sum of weights */
        krein_report a = KREIN_SIZED(krein_report), b = KREIN_SIZED(krein_report);
        krein_model *one = fitted(ctx, &r, &o, &a), *two = fitted(ctx, &s, &o, &b);
        if (c < 3) CHECK(strcmp(a.learner, b.learner) == 0);
        CHECK(a.lambda == 2e-3 || fabs(a.lambda / 2e-3 - 1) < 1e-12);
        double scale = c < 2 ? 1 : 10;
        for (int64_t j = 0; j < 3; j++) CHECK_ABS(one->w[j], two->w[j], (c < 3 ? .01 : .1) * scale);
        CHECK_ABS(one->intercept[0], two->intercept[0], (c < 3 ? .01 : .1) * scale);
        krein_report_clear(ctx, &a);
        krein_report_clear(ctx, &b);
        krein_model_destroy(one);
        krein_model_destroy(two);
        drop(&r);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

/* sum_i w_ic k(x, x_i) + b_c of a model on a kernel matrix. */
static double score(const krein_model *m, const rows *r, const float *x, int64_t c) {
    double sum = m->intercept[c];
    for (int64_t i = 0; i < r->n; i++) {
        double square = 0;
        for (int64_t j = 0; j < r->d; j++) square += pow((double)(x[j] - r->x[i * r->d + j]), 2);
        sum += m->w[i * m->k + c] * exp(-square / (2 * .7 * .7));
    }
    return sum;
}
static void weights_on_the_kernel_matrix(void) {
    static const struct {
        const char *learner;
        int classes;
    } cases[] = {{"svm(tol=1e-9)", 2},
                 {"svm(multi=ovo, tol=1e-9)", 3},
                 {"svm(loss=hinge2, tol=1e-9)", 3},
                 {"svm(class_weights=balanced, tol=1e-9)", 3},
                 {"svr(epsilon=.3, tol=1e-9)", 0},
                 {"svr(tol=1e-9)", 0}};
    krein_ctx *ctx = test_ctx(2);
    rows new = make_rows(40, 0, 1, 31);
    for (int c = 0; c < KREIN__COUNT(cases); c++) {
        rows r = make_rows(150, cases[c].classes, 1, 8);
        r.weight = test_new(r.n, sizeof *r.weight);
        for (int64_t i = 0; i < r.n; i++) r.weight[i] = (double)(i * 5 % 4);
        rows s = repeated(&r);
        krein_train_options o = options_of(cases[c].learner, "exact");
        o.kernel = "gaussian(sigma=0.7)";
        o.lambda = 2e-3;
        krein_model *one = fitted(ctx, &r, &o, NULL), *two = fitted(ctx, &s, &o, NULL);
        CHECK(one->k == two->k);
        for (int64_t i = 0; i < r.n; i++)
            for (int64_t k = 0; k < one->k && r.weight[i] == 0; k++)
                CHECK(one->w[i * one->k + k] == 0);
        for (int64_t i = 0; i < new.n; i++)
            for (int64_t k = 0; k < one->k; k++)
                CHECK_ABS(score(one, &r, new.x + i *r.d, k), score(two, &s, new.x + i *r.d, k),
                          cases[c].classes ? 1e-5 : 1e-4);
        krein_model_destroy(one);
        krein_model_destroy(two);
        drop(&r);
        drop(&s);
    }
    drop(&new);
    krein_ctx_destroy(ctx);
}
/* Weights of one are none, to the last bit, also where C is chosen; other weights choose with the
 * rows that they name: of rows with false labels, which weigh nothing, nothing is seen. */
static void choice_by_weights(void) {
    static const char *const learners[] = {"svm", "svm(multi=ovo)", "svr"};
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 3; c++) {
        rows r = make_rows(200, c == 2 ? 0 : 3, 1, 12), s = make_rows(200, c == 2 ? 0 : 3, 1, 12);
        krein_train_options o = options_of(learners[c], "exact");
        krein_report a = KREIN_SIZED(krein_report), b = KREIN_SIZED(krein_report);
        o.kernel = "gaussian(sigma=0.7)";
        o.probabilities = c < 2;
        s.weight = test_new(s.n, sizeof *s.weight);
        for (int64_t i = 0; i < s.n; i++) s.weight[i] = 1;
        krein_model *one = fitted(ctx, &r, &o, &a), *two = fitted(ctx, &s, &o, &b);
        CHECK(strcmp(a.learner, b.learner) == 0 && a.loo == b.loo);
        CHECK(memcmp(one->w, two->w, (size_t)(r.n * one->k) * sizeof *one->w) == 0);
        krein_model_destroy(two);
        krein_report_clear(ctx, &b);
        for (int64_t i = 0; i < s.n; i += 3) {
            s.weight[i] = 0;
            s.y[i] = c == 2 ? 1000 : (double)(((int)s.y[i] + 1) % 3);
        }
        two = fitted(ctx, &s, &o, &b);
        CHECK(b.loo < (c == 2 ? 2 * a.loo : a.loo + .1));
        for (int64_t i = 0; i < s.n * one->k; i++)
            if (i / one->k % 3 == 0) CHECK(two->w[i] == 0);
        krein_model_destroy(one);
        krein_model_destroy(two);
        krein_report_clear(ctx, &a);
        krein_report_clear(ctx, &b);
        drop(&r);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

/* ---- the choice of C -------------------------------------------------------------- */

/* Labels that nothing tells, one in ten of them the second: the error that counts classes alike is
 * a half, at any C; without weights of classes that of the rare class is all there is. */
static void choice_counts_classes_alike(void) {
    static const char *const maps[] = {"rff(D=120)", "nystrom(D=200)", "exact"};
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(400, 2, 1, 11);
    for (int64_t i = 0; i < r.n; i++) r.y[i] = i % 10 == 0;
    for (int c = 0; c < 6; c++) {
        krein_train_options o =
            options_of(c < 3 ? "svm(class_weights=balanced)" : "svm", maps[c % 3]);
        krein_report report = KREIN_SIZED(krein_report);
        o.kernel = "gaussian(sigma=0.4)";
        krein_model_destroy(fitted(ctx, &r, &o, &report));
        /* the mean of two error rates, of 40 and of 360 rows */
        if (c < 3) CHECK_Z(report.loo, .5, (.25 / 40 + .25 / 360) / 4, 1);
        if (c >= 3) CHECK_ABS(report.loo, .1, .01);
        krein_report_clear(ctx, &report);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Chosen twice, on other threads: the same bytes; and so from the specs that are reported. */
static void chosen_and_reproduced(void) {
    static const struct {
        const char *learner, *map;
        int classes, k, probabilities;
    } all[] = {{"svm", "rff(D=60)", 2, 1, 0},
               {"svm(multi=ovo, class_weights=balanced)", "nystrom(D=40)", 3, 1, 1},
               {"svm(loss=hinge2)", "orf(D=64)", 4, 1, 1},
               {"svm(intercept=no)", "rff(D=60)", 3, 1, 0},
               {"svm(multi=crammer)", "rff(D=16)", 3, 1, 1},
               {"svm(multi=crammer, penalty=l1)", "rff(D=16)", 3, 1, 1},
               {"svm(multi=crammer, penalty=l1)", "rff(D=16)", 2, 1, 0},
               {"svr", "rff(D=60)", 0, 1, 0},
               {"svr", "nystrom(D=40)", 0, 3, 0},
               {"svm", "exact", 3, 1, 1},
               {"svm(multi=crammer)", "exact", 3, 1, 1},
               {"svm(multi=gmnp)", "exact", 2, 1, 1},
               {"svr", "exact", 0, 1, 0}};
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        const bool exact = strcmp(all[c].map, "exact") == 0; /* more than a tile */
        rows r = make_rows(test_sanitized() && !exact ? 120 : 220, all[c].classes, all[c].k, 9);
        krein_train_options o = options_of(all[c].learner, all[c].map);
        o.probabilities = all[c].probabilities;
        krein_ctx *one = test_ctx(1), *two = test_ctx(3);
        krein_report first = KREIN_SIZED(krein_report), again = KREIN_SIZED(krein_report);
        krein_model *a = fitted(one, &r, &o, &first), *b = fitted(two, &r, &o, NULL);
        CHECK(first.folds == 5 && first.loo > 0 && isfinite(first.loo));
        CHECK_HAS(first.learner, "C=");
        o.learner = first.learner;
        o.kernel = first.kernel;
        o.map = first.map;
        krein_model *given = fitted(two, &r, &o, &again);
        test_bytes x = test_model_bytes(one, a), y = test_model_bytes(two, b),
                   z = test_model_bytes(two, given);
        CHECK(test_same(x, y));
        if (!test_same(x, z)) printf("%s, %s: not the same again\n", first.learner, first.map);
        CHECK(test_same(x, z));
        CHECK(strcmp(first.learner, again.learner) == 0 && isnan(again.loo) && again.folds == 0);
        free(x.at), free(y.at), free(z.at);
        krein_report_clear(one, &first);
        krein_report_clear(two, &again);
        krein_model_destroy(a);
        krein_model_destroy(b);
        krein_model_destroy(given);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
        drop(&r);
    }
}

static void lambda_is_C(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(256, 3, 1, 10);
    krein_train_options o = options_of("svm(C=4)", RANDOM);
    krein_model *a = fitted(ctx, &r, &o, NULL);
    o.learner = "svm";
    o.lambda = 1.0 / 2048; /* 1 / (2 256 4) */
    krein_model *b = fitted(ctx, &r, &o, NULL);
    test_bytes x = test_model_bytes(ctx, a), y = test_model_bytes(ctx, b);
    CHECK(test_same(x, y));
    free(x.at), free(y.at);
    krein_model_destroy(a);
    krein_model_destroy(b);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Five copies of each row, labels by chance: apart, they give each other away. */
static void groups_stay_together(void) {
    krein_ctx *ctx = test_ctx(2);
    const char *path = test_path("groups.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,x1,x2,g\n");
    for (int i = 0; i < 60; i++) {
        double x = test_random(), y = test_random();
        int c = (int)test_random_below(2);
        for (int t = 0; t < 5; t++) fprintf(f, "%s,%.6f,%.6f,g%d\n", c ? "no" : "yes", x, y, i);
    }
    fclose(f);
    double error[2];
    for (int grouped = 0; grouped < 2; grouped++) {
        krein_data_options d;
        krein_data *data = NULL;
        krein_data_options_init(&d);
        d.group = grouped ? "g" : NULL;
        d.ignore = grouped ? NULL : "g";
        CHECK(krein_data_open(ctx, path, &d, &data) == KREIN_OK);
        krein_train_options o = options_of("svm", "rff(D=200)");
        o.kernel = "gaussian(sigma=0.05)";
        krein_model *m = NULL;
        krein_report report = KREIN_SIZED(krein_report);
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        error[grouped] = report.loo;
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK(error[0] < .1 && error[1] > .3);
    krein_ctx_destroy(ctx);
}

static krein_status sum_up(void *user, const krein_prediction *p) {
    double sum = 0, *worst = user;
    for (int64_t c = 0; p->probabilities && c < p->nclasses; c++) {
        CHECK(p->probabilities[c] >= 0);
        sum += p->probabilities[c];
    }
    *worst = fmax(*worst, fabs(sum - 1));
    return KREIN_OK;
}
static void probabilities(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 4; c++) {
        rows r = make_rows(300, c & 1 ? 3 : 2, 1, 12);
        krein_train_options o = options_of(c & 2 ? "svm(C=1, multi=ovo)" : "svm(C=1)", RANDOM);
        o.probabilities = 1;
        krein_model *m = fitted(ctx, &r, &o, NULL);
        krein_data *data = open_rows(ctx, &r, KREIN_TASK_CLASSIFICATION);
        double worst = 0;
        krein_metrics metrics = KREIN_SIZED(krein_metrics);
        CHECK(m->calibration.slope != NULL);
        CHECK(krein_predict(ctx, m, data, sum_up, &worst) == KREIN_OK);
        CHECK(worst < 1e-9);
        CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
        CHECK(metrics.log_loss < .7 * log(c & 1 ? 3 : 2)); /* better than knowing nothing */
        krein_metrics_clear(ctx, &metrics);
        krein_data_close(data);
        krein_model_destroy(m);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* ---- memory, time -------------------------------------------------------------------- */

/* Features that are made again for every visit: the same bytes, in less memory. */
static void memory_is_bounded(void) {
    rows r = make_rows(20000, 2, 1, 13);
    krein_train_options o = options_of("svm(C=0.5, tol=0.05)", "rff(D=256)");
    const uint64_t features = 4u * 256u * (uint64_t)r.n, most = features + features / 4 + 5000000;
    krein_ctx *large = test_ctx(2),
              *small = test_ctx_small(2, most < features / 2 * 3 ? most : features);
    krein_model *a = fitted(large, &r, &o, NULL), *b = fitted(small, &r, &o, NULL);
    test_bytes x = test_model_bytes(large, a), y = test_model_bytes(small, b);
    CHECK(test_same(x, y));
    CHECK(krein_ctx_peak_bytes(large) > features && krein_ctx_peak_bytes(small) < features);
    free(x.at), free(y.at);
    krein_model_destroy(a);
    krein_model_destroy(b);
    krein_ctx_destroy(large);
    krein_ctx_destroy(small);
    drop(&r);
}

static void plan_is_enough(void) {
    static const struct {
        const char *learner, *map, *select;
        int64_t n;
        int classes, k, probabilities, threads;
    } all[] = {{"svm", "rff(D=50)", NULL, 300, 2, 1, 0, 1},
               {"svm(C=1)", "rff(D=50)", NULL, 300, 2, 1, 1, 2},
               {"svm(C=1)", "rff(D=200)", NULL, 3000, 4, 1, 0, 3},
               {"svm(multi=ovo)", "nystrom(D=60)", NULL, 500, 5, 1, 1, 2},
               {"svm(C=100, loss=hinge2)", "nystrom(D=200)", NULL, 500, 3, 1, 0, 3},
               {"svm", "rff(D=40)", "cv(k=20)", 300, 3, 1, 1, 2},
               {"svm(multi=crammer)", "rff(D=20)", NULL, 200, 4, 1, 1, 2},
               {"svm(multi=crammer, C=5)", "nystrom(D=90)", NULL, 300, 6, 1, 0, 3},
               {"svm(multi=crammer, penalty=l1)", "rff(D=50)", NULL, 300, 4, 1, 0, 3},
               {"svr", "rff(D=64)", NULL, 400, 0, 1, 0, 2},
               {"svr(C=10)", "orf(D=300)", NULL, 200, 0, 9, 0, 3},
               {"svr", "nystrom(D=50)", "cv(k=11)", 300, 0, 4, 0, 1},
               {"svm", "exact", "cv(k=20)", 200, 3, 1, 1, 2},
               {"svm(multi=crammer)", "exact", "cv(k=20)", 120, 6, 1, 1, 3},
               {"svm(multi=gmnp, C=1)", "exact", NULL, 300, 2, 1, 0, 1},
               {"svr", "exact", NULL, 200, 0, 2, 0, 2}};
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        rows r = make_rows(all[c].n / (test_sanitized() ? 2 : 1), all[c].classes, all[c].k, 14);
        krein_train_options o = options_of(all[c].learner, all[c].map);
        o.probabilities = all[c].probabilities;
        o.select = all[c].select;
        krein_ctx *one = test_ctx(all[c].threads), *two = test_ctx(all[c].threads);
        krein_data *data = open_rows(one, &r, task_of(o.learner));
        krein_report plan = KREIN_SIZED(krein_report);
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        krein_model *m = fitted(two, &r, &o, NULL);
        uint64_t peak = krein_ctx_peak_bytes(two);
        if (peak > plan.bytes_peak)
            printf("%s, %s: %.3f MB planned, %.3f MB held\n", all[c].learner, all[c].map,
                   (double)plan.bytes_peak / 1048576, (double)peak / 1048576);
        CHECK(peak <= plan.bytes_peak);
        krein_report_clear(one, &plan);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
        drop(&r);
    }
}

static void memory_may_fail(void) {
    test_memory memory;
    rows r = make_rows(40, 3, 1, 16);
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data *data = open_rows(ctx, &r, KREIN_TASK_CLASSIFICATION);
    krein_train_options o = options_of("svm(tol=0.1)", "rff(D=4)");
    o.probabilities = 1;
    o.select = "cv(k=2)";
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_model *m = NULL;
        krein_status st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* ---- little in them, and wrong ---------------------------------------------------------- */

/* A class of one row is missing from one fold's training; three rows are fewer than folds. */
static void small_classes(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int c = 0; c < 4; c++) {
        rows r = make_rows(c & 2 ? 3 : 60, 2, 1, 17);
        for (int64_t i = 0; i < r.n; i++) r.y[i] = i == 0 ? 2 : (double)(i % 2);
        krein_train_options o = options_of(c & 1 ? "svm(multi=ovo)" : "svm", "rff(D=20)");
        o.probabilities = 1;
        krein_model *m = fitted(ctx, &r, &o, NULL);
        for (int64_t i = 0; i < m->map->R * m->k; i++) CHECK(isfinite(m->w[i]));
        krein_model_destroy(m);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

static void refused(const rows *r, const krein_train_options *o, krein_task task, krein_status want,
                    const char *word) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data *data = open_rows(ctx, r, task);
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    if (st != want) printf("%s: status %d: %s\n", o->learner, (int)st, krein_message(ctx));
    CHECK(st == want && !m);
    if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), word);
    krein_model_destroy(m);
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}
static void what_is_refused(void) {
    rows classes = make_rows(50, 2, 1, 18), numbers = make_rows(50, 0, 1, 18);
    static const char *const bad[] = {"svm(C=0)",       "svm(C=-1)",      "svm(C=nan)",
                                      "svm(C=inf)",     "svm(tol=0)",     "svm(loss=l3)",
                                      "svm(multi=all)", "svm(cost=1)",    "svr(epsilon=-1)",
                                      "svr(C=0)",       "svr(loss=hinge)"};
    krein_train_options o;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o = options_of(bad[i], RANDOM);
        refused(&classes, &o, task_of(bad[i]), KREIN_ESPEC, bad[i][2] == 'm' ? "svm" : "svr");
    }
    o = options_of("svm", RANDOM);
    refused(&numbers, &o, KREIN_TASK_REGRESSION, KREIN_EDATA, "`task=classification`");
    o = options_of("svr", RANDOM);
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EDATA, "`task=regression`");
    o = options_of("svr", RANDOM);
    o.probabilities = 1;
    refused(&numbers, &o, KREIN_TASK_REGRESSION, KREIN_EARG, "are for classes");
    o = options_of("svm(spectrum=clip)", RANDOM);
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_ESPEC, "map=exact");
    o = options_of("svm(intercept=no)", "exact");
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_ESPEC, "nystrom");
    o = options_of("svm", RANDOM);
    o.lambda = 0;
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EARG, "`lambda=0`");
    o = options_of("svm(C=1)", RANDOM);
    o.lambda = .5;
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EARG, "one of the two");
    classes.weight = test_new(classes.n, sizeof *classes.weight);
    o = options_of("svm", RANDOM);
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EDATA, "all row weights are zero");
    for (int64_t i = 0; i < classes.n; i++) classes.weight[i] = classes.y[i] > 0;
    o = options_of("svm", "exact");
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EDATA, "with a weight are of one class");
    memset(classes.y, 0, (size_t)classes.n * sizeof *classes.y);
    o = options_of("svm", RANDOM);
    refused(&classes, &o, KREIN_TASK_CLASSIFICATION, KREIN_EDATA, "class");
    drop(&classes);
    drop(&numbers);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(one_against_rest_and_pairs);
    RUN(regression_by_hand);
    RUN(epsilon_by_default);
    RUN(units_do_not_matter);
    RUN(balanced_classes);
    RUN(weights_are_repeated_rows);
    RUN(weights_on_the_kernel_matrix);
    RUN(choice_by_weights);
    RUN(choice_counts_classes_alike);
    RUN(chosen_and_reproduced);
    RUN(lambda_is_C);
    RUN(groups_stay_together);
    RUN(probabilities);
    RUN(memory_is_bounded);
    RUN(plan_is_enough);
    RUN(memory_may_fail);
    RUN(small_classes);
    RUN(what_is_refused);
    return DONE();
}
