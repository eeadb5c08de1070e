/* test_proposals.c -- the sum, the average and the kernels of a weighing as candidates: which they
 * are, their held-out errors, when one of them is said to be better, and that the model stays the
 * same. */
#include "train.h"

#include "select/select.h"

/* Product of two inputs and a wave of the third: a wide family has one good kernel, and a sum of
 * different kernels is better than each. */
static rows waves(int64_t n, uint64_t seed) {
    rows r = make_rows(n, 3, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        float *x = r.x + i * 3;
        for (int j = 0; j < 3; j++) x[j] = 4 * x[j] - 2;
        r.y[i] = 10 * (double)x[0] * (double)x[2] + 3 * sin(4 * (double)x[1]) + .1 * normal();
    }
    return r;
}

static const char FAMILY[] = "gaussian(sigma=0.5..8:5)";
static const char DIFFERENT[] = "poly(degree=2); gaussian(sigma=0.7); anova(sigma=1)";

typedef struct result {
    krein_report report;
    test_log log;
    test_bytes model;
} result;

static void drop_result(krein_ctx *ctx, result *r) {
    krein_report_clear(ctx, &r->report);
    free(r->model.at);
}

/* On so many threads and bytes (0: enough); what must work works. */
static krein_ctx *train_with(const rows *r, const double *weight, const krein_train_options *o,
                             int threads, uint64_t budget, result *out) {
    krein_model *m = NULL;
    *out = (result){.report = KREIN_SIZED(krein_report)};
    krein_ctx *ctx = test_ctx_full(threads, NULL, &out->log);
    if (budget > 0) ctx->budget = budget;
    krein_data *data = open_rows(ctx, r, weight, KREIN_TASK_AUTO);
    krein_status st = krein_train(ctx, data, o, &out->report, &m);
    if (st != KREIN_OK) printf("%s: %s\n", o->learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    out->model = test_model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_data_close(data);
    return ctx;
}

static krein_ctx *train(const rows *r, const krein_train_options *o, result *out) {
    return train_with(r, NULL, o, 2, 0, out);
}

static krein_train_options options_of(const char *learner, const char *kernels) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernels = kernels;
    return o;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- which they are ----------------------------------------------------- */

static void candidates_are_listed(void) {
    rows r = waves(200, 1);
    krein_train_options o = options_of("mkl(method=alignment)", FAMILY);
    result a;
    krein_ctx *ctx = train(&r, &o, &a);
    const krein_tried *c = a.report.tried;
    CHECK(a.report.tried_count == 7);
    if (a.report.tried_count != 7) goto done;
    CHECK_HAS(c[0].learner, "mkl(method=alignment, base=krr");
    CHECK_HAS(c[1].learner, "mkl(method=average, base=krr");
    CHECK(strcmp(c[0].kernel, c[1].kernel) == 0);
    CHECK(begins(c[0].kernel, "gaussian(sigma=0.5); gaussian(sigma=1); gaussian(sigma=2)"));
    double before = 1;
    for (int i = 0; i < 7; i++) {
        CHECK(strcmp(c[i].map, "exact") == 0 && c[i].rows == 200 && c[i].metric == 0);
        CHECK(isfinite(c[i].error) && c[i].error > 0);
        if (i < 2) continue;
        CHECK(strcmp(c[i].learner, "krr") == 0);
        double weight = -1;
        for (int64_t m = 0; m < a.report.kernels; m++)
            if (strcmp(a.report.weights[m].kernel, c[i].kernel) == 0)
                weight = a.report.weights[m].weight;
        CHECK(weight >= 0 && weight <= before); /* the heaviest first */
        before = weight;
    }
done:
    drop_result(ctx, &a);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* The error of a candidate is what training on it reports: the sum's of the same training, a
 * kernel's of ridge regression with it. */
static void errors_are_held_out(void) {
    rows r = waves(200, 2);
    krein_train_options o = options_of("mkl(method=lp)", FAMILY);
    result a, b;
    o.map = "exact";
    krein_ctx *ctx = train(&r, &o, &a), *other;
    CHECK(a.report.tried_count == 7);
    if (a.report.tried_count == 7) {
        CHECK_REL(a.report.tried[0].error, a.report.loo, 1e-3);
        o = options_of("mkl(method=average)", FAMILY);
        o.map = "exact";
        other = train(&r, &o, &b);
        CHECK_REL(a.report.tried[1].error, b.report.loo, 1e-3);
        CHECK(b.report.tried_count == 6); /* the average is the sum */
        drop_result(other, &b);
        krein_ctx_destroy(other);
        o = defaults();
        o.kernel = a.report.tried[2].kernel;
        o.learner = "krr";
        o.map = "exact";
        other = train(&r, &o, &b);
        CHECK_REL(a.report.tried[2].error, b.report.loo, 1e-3);
        CHECK(b.report.tried_count == 0);
        drop_result(other, &b);
        krein_ctx_destroy(other);
    }
    drop_result(ctx, &a);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* Of a long list the sixteen heaviest; of a kernel with all of the weight none of its own; of one
 * kernel nothing. */
static void how_many(void) {
    static const struct {
        const char *learner, *kernels, *select;
        int64_t count;
    } all[] = {{"mkl", "gaussian(sigma=0.2..20:30)", NULL, 18},
               {"mkl(method=average)", "gaussian(sigma=0.2..20:30)", NULL, 17},
               {"mkl(method=centered)", "gaussian(sigma=1); poly(degree=1, gamma=1e-30)", NULL, 3},
               {"mkl", "gaussian(sigma=1)", NULL, 0},
               {"mkl", "gaussian(sigma=1); linear", "none", 0},
               {"mkl", "gaussian(sigma=1); linear", "ckta", 4},
               {"mkl", "gaussian(sigma=1); linear", "cv(k=3)", 4},
               {"mkl", "gaussian(sigma=1); linear", "cv(k=3, intercept=no)", 4}};
    rows r = waves(80, 3);
    for (size_t k = 0; k < KREIN__COUNT(all); k++) {
        krein_train_options o = options_of(all[k].learner, all[k].kernels);
        result a;
        o.select = all[k].select;
        krein_ctx *ctx = train(&r, &o, &a);
        if (a.report.tried_count != all[k].count)
            printf("%s of %s: %d\n", all[k].learner, all[k].kernels, (int)a.report.tried_count);
        CHECK(a.report.tried_count == all[k].count);
        drop_result(ctx, &a);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* ---- what is said ------------------------------------------------------- */

static void says_what_is_better(void) {
    static const struct {
        const char *learner, *kernels, *said, *use;
    } all[] = {{"mkl", FAMILY, "gaussian(sigma=1) alone is better",
                "`kernel` \"gaussian(sigma=1)\" and `learner` \"krr("},
               {"mkl(method=centered)", DIFFERENT, "the average of the kernels is better",
                "`learner` \"mkl(method=average, base=krr"},
               {"mkl(method=lp)", DIFFERENT, NULL, NULL},
               {"mkl", "gaussian(sigma=1); gaussian(sigma=1.1)", NULL, NULL}};
    rows r = waves(400, 4);
    for (size_t k = 0; k < KREIN__COUNT(all); k++) {
        krein_train_options o = options_of(all[k].learner, all[k].kernels);
        result a;
        krein_ctx *ctx = train(&r, &o, &a);
        CHECK((strstr(a.log.text, "is better") != NULL) == (all[k].said != NULL));
        if (all[k].said) CHECK_HAS(a.log.text, all[k].said);
        if (all[k].said) CHECK_HAS(a.log.text, all[k].use);
        drop_result(ctx, &a);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* Of classes the share of errors, and the learner of the training is named. */
static void says_it_of_classes(void) {
    rows r = make_rows(500, 6, 1, 5);
    for (int64_t i = 0; i < r.n * r.d; i++) r.x[i] = 4 * r.x[i] - 2;
    for (int64_t i = 0; i < r.n; i++)
        r.y[i] = 2.5 * (double)r.x[i * 6] + 3.6 * sin(3 * (double)r.x[i * 6 + 1]) > 0;
    krein_train_options o = options_of("mkl(method=average, base=svm, C=2)", DIFFERENT);
    result a;
    o.map = "exact";
    krein_ctx *ctx = train(&r, &o, &a);
    CHECK_HAS(a.log.text, "anova(c=1, sigma=1) alone is better than the weighed sum: share of");
    CHECK_HAS(a.log.text, "`learner` \"svm(C=2");
    for (int64_t i = 0; i < a.report.tried_count; i++)
        CHECK(a.report.tried[i].error >= 0 && a.report.tried[i].error <= 1);
    drop_result(ctx, &a);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* Labels that nothing explains: candidates differ by chance, and nothing is said. */
static void chance_is_not_said(void) {
    int said = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rows r = waves(120, seed);
        for (int64_t i = 0; i < r.n; i++) r.y[i] = normal();
        krein_train_options o = options_of("mkl", "gaussian(sigma=0.5..8:5); linear");
        result a;
        krein_ctx *ctx = train(&r, &o, &a);
        said += strstr(a.log.text, "is better") != NULL;
        drop_result(ctx, &a);
        krein_ctx_destroy(ctx);
        drop(&r);
    }
    CHECK(said <= 1);
}

/* ---- the model ---------------------------------------------------------- */

/* Without candidates (select=none, or too little memory for them) the model is the same to the bit,
 * on matrices and on features; and candidates do not depend on threads. */
static void model_stays(void) {
    static const char *const methods[] = {"alignment", "pwmk", "centered"};
    rows r = waves(300, 6);
    for (int64_t i = 0; i < r.n; i++) r.y[i] = r.y[i] > 0;
    for (int k = 0; k < 6; k++) {
        char learner[64];
        snprintf(learner, sizeof learner, "mkl(method=%s)", methods[k / 2]);
        krein_train_options o = options_of(learner, FAMILY);
        o.features = k % 2 ? 100 : 0;
        result usual, one, none, small;
        krein_ctx *a = train(&r, &o, &usual), *b = train_with(&r, NULL, &o, 1, 0, &one);
        o.select = "none";
        krein_ctx *c = train(&r, &o, &none);
        o.select = NULL;
        CHECK(usual.report.tried_count > 0 && none.report.tried_count == 0);
        CHECK(usual.report.tried_count == one.report.tried_count);
        for (int64_t i = 0; i < usual.report.tried_count && i < one.report.tried_count; i++)
            CHECK(usual.report.tried[i].error == one.report.tried[i].error);
        CHECK(test_same_model(usual.model, none.model));
        CHECK(test_same(usual.model, one.model));
        if (k % 2 && k / 2 != 1) { /* pwmk needs its own sample, the matrix of all rows more */
            krein_ctx *d = train_with(&r, NULL, &o, 1, 8 << 20, &small);
            CHECK(small.report.tried_count == 0);
            CHECK_HAS(small.log.text, "is not compared with its kernels");
            CHECK(test_same_model(usual.model, small.model));
            drop_result(d, &small);
            krein_ctx_destroy(d);
        }
        drop_result(a, &usual);
        drop_result(b, &one);
        drop_result(c, &none);
        krein_ctx_destroy(a);
        krein_ctx_destroy(b);
        krein_ctx_destroy(c);
    }
    drop(&r);
}

/* A limit that has passed leaves no time for candidates, one of an hour does. */
static void time_limit(void) {
    rows r = waves(150, 7);
    krein_train_options o = options_of("mkl", FAMILY);
    o.time_limit = 3600;
    result a;
    krein_ctx *ctx = train(&r, &o, &a);
    CHECK(a.report.tried_count == 7);
    drop_result(ctx, &a);
    krein_ctx_destroy(ctx);
    ctx = test_ctx(1);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    o.time_limit = 1e-9; /* and 0.3 s, in which it is done or not */
    krein_status st = krein_train(ctx, data, &o, &report, &m);
    CHECK(st == KREIN_OK || st == KREIN_ETIME);
    CHECK(report.tried_count == 0);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* A metric that was asked for has candidates too, which come first. */
static void behind_a_metric(void) {
    rows r = waves(700, 8);
    krein_train_options o = options_of("mkl", "gaussian(sigma=1); linear");
    o.metric = "diagonal";
    result a;
    krein_ctx *ctx = train(&r, &o, &a);
    int64_t n = a.report.tried_count;
    CHECK(n > 4);
    if (n > 4) {
        CHECK(strcmp(a.report.tried[0].learner, "krr") == 0);
        CHECK(begins(a.report.tried[n - 4].learner, "mkl(method=alignment"));
        CHECK(a.report.tried[n - 4].metric == a.report.metric);
    }
    drop_result(ctx, &a);
    krein_ctx_destroy(ctx);
    drop(&r);
}

static void memory_may_fail(void) {
    rows r = waves(40, 9);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
    TEST_EVERY_ALLOCATION(&memory, i) {
        krein_train_options o = options_of("mkl(method=centered)", DIFFERENT);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.map = "exact";
        o.lambda = 1e-3;
        o.select = "cv(k=2)";
        krein_status st = krein_train(ctx, data, &o, &report, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* ---- rows of the sample ------------------------------------------------- */

static double square_of(double x) { return x * x; }

/* What the rows add to the error sums up to it: by leave-one-out and by folds, of classes and of
 * numbers, with row weights. */
static void rows_add_up(void) {
    static const char *const criteria[] = {"loo", "cv(k=3)"};
    enum { N = 90 };
    double weight[N], loss[N];
    for (int i = 0; i < N; i++) weight[i] = i % 4;
    for (int run = 0; run < 8; run++) {
        rows r = run & 1 ? rings(N, 3, 10) : waves(N, 10);
        krein_ctx *ctx = test_ctx(1);
        krein_data *data = open_rows(ctx, &r, run & 2 ? weight : NULL,
                                     run & 1 ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_AUTO);
        krein_model model = {.ctx = ctx};
        krein_encoding *e = &model.encoding;
        krein_criterion criterion = {0};
        krein_scorer s = {0};
        krein_candidate c = {0};
        CHECK(krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, e) == KREIN_OK);
        model.head = krein__task_head(e->task);
        model.k = krein__head_scores(model.head, e);
        krein_job job = {.ctx = ctx,
                         .data = data,
                         .n = data->count[KREIN_PART_TRAIN],
                         .model = &model,
                         .lambda = -1,
                         .seed = 5};
        CHECK(krein__stream_open(data, e, KREIN_PART_TRAIN, &job.rows) == KREIN_OK);
        CHECK(krein__criterion_parse(ctx, criteria[run >> 2], &criterion) == KREIN_OK);
        CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1.5)", &c.kernel) == KREIN_OK);
        CHECK(krein__scorer_begin(&job, &criterion, 1, job.n, &s) == KREIN_OK);
        CHECK(krein__scorer_run(&s, &c, 1) == KREIN_OK);
        CHECK(krein__scorer_rows(&s, &c, loss) == KREIN_OK);
        double sum = 0, total = 0;
        for (int64_t i = 0; i < s.sample.n; i++) {
            CHECK(loss[i] >= 0);
            sum += loss[i];
            total += s.sample.weight ? s.sample.weight[i] : 1;
        }
        double value = c.scored.score[0].value;
        CHECK_REL(sum / total, run & 1 ? value : square_of(value), 1e-6);
        krein__candidates_clear(ctx, &c, 1);
        krein__scorer_end(&s);
        krein__kernel_destroy(ctx, c.kernel);
        krein__criterion_clear(ctx, &criterion);
        krein__stream_close(job.rows);
        krein__encoding_clear(ctx, e);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
        drop(&r);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(candidates_are_listed);
    RUN(errors_are_held_out);
    RUN(how_many);
    RUN(says_what_is_better);
    RUN(says_it_of_classes);
    RUN(chance_is_not_said);
    RUN(model_stays);
    RUN(time_limit);
    RUN(behind_a_metric);
    RUN(memory_may_fail);
    RUN(rows_add_up);
    return DONE();
}
