/* test_tries.c -- what a model keeps of its training: candidates, values of kernel parameters and
 * of lambda with their errors, ranges of the columns; and that forged ones are refused. */
#include "forge.h"
#include "train.h"

#include "model/model.h"

typedef struct trained {
    krein_ctx *ctx;
    krein_report report;
    krein_model *model;
} trained;

static trained train(const rows *r, krein_task task, int threads, const krein_train_options *o) {
    trained t = {.ctx = test_ctx(threads), .report = KREIN_SIZED(krein_report)};
    krein_status st = train_rows(t.ctx, r, task, o, &t.report, &t.model);
    if (st != KREIN_OK) printf("%s\n", krein_message(t.ctx));
    CHECK(st == KREIN_OK);
    if (!t.model) exit(1);
    return t;
}

static void end(trained *t) {
    krein_report_clear(t->ctx, &t->report);
    krein_model_destroy(t->model);
    krein_ctx_destroy(t->ctx);
}

static krein_model *again(krein_ctx *ctx, const krein_model *m) {
    krein_model *out = NULL;
    test_bytes file = test_model_bytes(ctx, m);
    CHECK(krein_model_load_memory(ctx, file.at, file.n, &out) == KREIN_OK);
    free(file.at);
    if (!out) exit(1);
    return out;
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool same_tried(const krein_tried *a, const krein_tried *b) {
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->map, b->map) == 0 &&
           strcmp(a->learner, b->learner) == 0 && a->metric == b->metric && a->rows == b->rows &&
           same_number(a->error, b->error);
}

static bool same_searched(const krein_searched *a, const krein_searched *b) {
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->parameter, b->parameter) == 0 &&
           strcmp(a->criterion, b->criterion) == 0 && a->metric == b->metric &&
           a->rows == b->rows && a->value == b->value && same_number(a->lambda, b->lambda) &&
           a->score == b->score;
}

/* ---- the default training ----------------------------------------------- */

static void default_keeps_all(void) {
    for (int classes = 0; classes < 2; classes++) {
        rows r = classes ? rings(700, 3, 1) : friedman(700, 1, 2);
        const krein_train_options o = defaults();
        trained t = train(&r, classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_AUTO, 2, &o);
        krein_model *m = again(t.ctx, t.model);
        int64_t n = 0, searched = 0;
        for (; krein_model_tried(t.model, n); n++) {
            CHECK(n < t.report.tried_count &&
                  same_tried(krein_model_tried(t.model, n), &t.report.tried[n]));
            CHECK(krein_model_tried(m, n) &&
                  same_tried(krein_model_tried(t.model, n), krein_model_tried(m, n)));
        }
        CHECK(n > 3 && n == t.report.tried_count && !krein_model_tried(m, n));
        CHECK(!krein_model_tried(m, -1) && !krein_model_searched(m, -1));
        bool gaussian = false, chosen = false;
        for (const krein_searched *s; (s = krein_model_searched(t.model, searched)); searched++) {
            CHECK(krein_model_searched(m, searched) &&
                  same_searched(s, krein_model_searched(m, searched)));
            CHECK(strcmp(s->parameter, "sigma") == 0 && strcmp(s->criterion, "loo") == 0);
            CHECK(s->score >= 0 && (!classes || s->score <= 1) && s->rows <= 700);
            CHECK(s->lambda > 0 && s->value > 0);
            gaussian = gaussian || strncmp(s->kernel, "gaussian(", 9) == 0;
            chosen = chosen || strcmp(s->kernel, t.report.kernel) == 0;
        }
        CHECK(searched > n && !krein_model_searched(m, searched) && gaussian && chosen);
        krein_array lambda, error;
        CHECK(krein_model_array(m, "path.lambda", &lambda) &&
              krein_model_array(m, "path.error", &error) && lambda.columns > 1);
        krein_model_destroy(m);
        end(&t);
        drop(&r);
    }
}

/* ---- free parameters and lists ------------------------------------------ */

/* Leave-one-out with the intercept of K + n lambda I, row by row: the solution without the row. */
static double left_out(const rows *r, double sigma, double lambda) {
    const int64_t n = r->n;
    double sum = 0, *A = test_new((n + 1) * (n + 1), sizeof *A), *b = test_new(n + 1, sizeof *b);
    double *mean = test_new(r->d, sizeof *mean), *sd = test_new(r->d, sizeof *sd);
    for (int64_t j = 0; j < r->d; j++) {
        for (int64_t i = 0; i < n; i++) mean[j] += (double)r->x[i * r->d + j] / (double)n;
        for (int64_t i = 0; i < n; i++)
            sd[j] += pow((double)r->x[i * r->d + j] - mean[j], 2) / (double)n;
        sd[j] = sqrt(sd[j]);
    }
    for (int64_t out = 0; out < n; out++) {
        memset(A, 0, (size_t)((n + 1) * (n + 1)) * sizeof *A);
        memset(b, 0, (size_t)(n + 1) * sizeof *b);
        int64_t m = 0, row[512];
        for (int64_t i = 0; i < n; i++)
            if (i != out) row[m++] = i;
        double at = 0;
        for (int64_t p = 0; p <= m; p++)
            for (int64_t q = 0; q < m; q++) {
                const int64_t i = p < m ? row[p] : out, j = row[q];
                double square = 0;
                for (int64_t c = 0; c < r->d; c++)
                    square += pow((double)(r->x[i * r->d + c] - r->x[j * r->d + c]) / sd[c], 2);
                const double k = exp(-square / (2 * sigma * sigma));
                if (p < m) A[p * (m + 1) + q] = k + (p == q ? (double)n * lambda : 0);
            }
        for (int64_t p = 0; p < m; p++) {
            A[p * (m + 1) + m] = A[m * (m + 1) + p] = 1;
            b[p] = r->y[row[p]];
        }
        test_solve(m + 1, 1, A, b);
        at = b[m];
        for (int64_t q = 0; q < m; q++) {
            double square = 0;
            for (int64_t c = 0; c < r->d; c++)
                square += pow((double)(r->x[out * r->d + c] - r->x[row[q] * r->d + c]) / sd[c], 2);
            at += b[q] * exp(-square / (2 * sigma * sigma));
        }
        sum += pow(r->y[out] - at, 2) / (double)n;
    }
    free(A);
    free(b);
    free(mean);
    free(sd);
    return sqrt(sum);
}

static void free_parameter(void) {
    rows r = friedman(60, .5, 3);
    krein_train_options o = defaults();
    o.kernel = "gaussian";
    trained t = train(&r, KREIN_TASK_REGRESSION, 1, &o);
    int64_t n = 0, checked = 0;
    double least = INFINITY, chosen = INFINITY;
    for (const krein_searched *s; (s = krein_model_searched(t.model, n)); n++) {
        CHECK(s->rows == 60 && s->metric == KREIN_METRIC_NONE);
        CHECK(strncmp(s->criterion, "loo", 3) == 0);
        least = fmin(least, s->score);
        if (strcmp(s->kernel, t.report.kernel) == 0) chosen = s->score;
        if (n % 5 == 0) {
            CHECK_REL(s->score, left_out(&r, s->value, s->lambda), 1e-4);
            checked++;
        }
    }
    CHECK(n >= 8 && checked > 0 && krein_model_tried(t.model, 0) == NULL);
    CHECK(chosen <= 1.02 * least);
    end(&t);
    /* Another criterion says its name, and scores that are no errors. */
    o.select = "kta";
    t = train(&r, KREIN_TASK_REGRESSION, 1, &o);
    CHECK(krein_model_searched(t.model, 0) &&
          strncmp(krein_model_searched(t.model, 0)->criterion, "kta", 3) == 0);
    end(&t);
    /* A complete kernel: nothing was tried. */
    o.kernel = "gaussian(sigma=2)";
    o.select = NULL;
    t = train(&r, KREIN_TASK_REGRESSION, 1, &o);
    CHECK(!krein_model_searched(t.model, 0) && !krein_model_tried(t.model, 0));
    end(&t);
    drop(&r);
}

static void list_of_kernels(void) {
    rows r = friedman(80, .5, 4);
    krein_train_options o = defaults();
    o.kernels = "gaussian(sigma=0.5..8:5); linear";
    trained t = train(&r, KREIN_TASK_REGRESSION, 1, &o);
    double least = INFINITY;
    const char *best = "";
    int64_t n = 0;
    for (const krein_tried *c; (c = krein_model_tried(t.model, n)); n++)
        if (c->error < least) {
            least = c->error;
            best = c->kernel;
        }
    CHECK(n == 6 && t.report.tried_count == 6);
    CHECK(strcmp(best, t.report.kernel) == 0);
    CHECK(strcmp(krein_model_tried(t.model, 5)->kernel, "linear") == 0);
    end(&t);
    drop(&r);
}

/* ---- threads, reserve ---------------------------------------------------- */

static void threads(void) {
    rows r = friedman(700, 1, 5);
    const krein_train_options o = defaults();
    trained one = train(&r, KREIN_TASK_AUTO, 1, &o), two = train(&r, KREIN_TASK_AUTO, 2, &o);
    test_bytes a = test_model_bytes(one.ctx, one.model), b = test_model_bytes(two.ctx, two.model);
    CHECK(test_same(a, b));
    free(a.at);
    free(b.at);
    end(&one);
    end(&two);
    drop(&r);
}

/* ---- ranges -------------------------------------------------------------- */

static krein_model *train_text(krein_ctx *ctx, const char *text, const char *name) {
    krein_data_options d;
    krein_train_options o = defaults();
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_data_options_init(&d);
    d.task = KREIN_TASK_REGRESSION;
    o.kernel = "gaussian(sigma=1)";
    o.map = "nystrom(D=3)";
    o.lambda = .1;
    krein_status st = krein_data_open(ctx, test_write(name, text), &d, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(data);
    if (!m) exit(1);
    return m;
}

static void ranges(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = train_text(ctx,
                                "y,small,large,colour,when,same\n"
                                "1,0.1,1000000.25,red,2026-11-17,7\n"
                                "2,-5.1,1000000.75,blue,2025-01-01,7\n"
                                "3,3.7,999999.5,red,2026-12-31,7\n"
                                "4,,1000002,green,2026-03-01,7\n",
                                "ranges.csv");
    krein_model *loaded = again(ctx, m);
    double low = 0, high = 0;
    const double day = 20089; /* 2025-01-01 */
    CHECK(krein_model_range(loaded, 0, &low, &high) && low == -5.1 && high == 3.7);
    CHECK(krein_model_range(loaded, 1, &low, &high) && low == 999999.5 && high == 1000002);
    CHECK(!krein_model_range(loaded, 2, &low, &high));
    CHECK(krein_model_range(loaded, 3, &low, &high) && low == day && high == day + 729);
    CHECK(krein_model_range(loaded, 4, &low, &high) && low == 7 && high == 7);
    CHECK(!krein_model_range(loaded, 5, &low, &high) &&
          !krein_model_range(loaded, -1, &low, &high));
    const krein_encoding *e = &loaded->encoding;
    CHECK(!krein__encoding_outside(e, 1, -5.1) && !krein__encoding_outside(e, 1, (double)3.7f));
    CHECK(krein__encoding_outside(e, 1, 3.71) && krein__encoding_outside(e, 1, -5.2));
    CHECK(!krein__encoding_outside(e, 1, NAN) && !krein__encoding_outside(e, 3, 5));
    CHECK(krein__encoding_outside(e, 5, 7.01) && !krein__encoding_outside(e, 5, 7));
    krein_model_destroy(m);
    krein_model_destroy(loaded);
    /* Sparse rows: what is not there is zero. */
    m = train_text(ctx, "1 1:2 3:-4\n2 1:3 3:5\n3 2:1.5\n", "ranges.libsvm");
    CHECK(krein_model_range(m, 0, &low, &high) && low == 0 && high == 3);
    CHECK(krein_model_range(m, 1, &low, &high) && low == 0 && high == 1.5);
    CHECK(krein_model_range(m, 2, &low, &high) && low == -4 && high == 5);
    CHECK(!krein_model_range(m, 3, &low, &high));
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* ---- files --------------------------------------------------------------- */

static void older_file(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    double low, high;
    if (krein_model_load(ctx, "tests/models/v0.1/ssf.krein", &m) != KREIN_OK) {
        SKIP("tests/models/v0.1 is not there");
        krein_ctx_destroy(ctx);
        return;
    }
    CHECK(!krein_model_tried(m, 0) && !krein_model_searched(m, 0));
    CHECK(!krein_model_range(m, 0, &low, &high));
    CHECK(!krein__encoding_outside(&m->encoding, 0, 1e9));
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

static bool refused(krein_ctx *ctx, test_memory *memory, const char *path, const char *what) {
    krein_model *m = NULL;
    const int64_t before = test_live(memory);
    const krein_status st = krein_model_load(ctx, path, &m);
    const bool good = st == KREIN_EMODEL && !m && strstr(krein_message(ctx), path);
    if (!good) printf("%s: %d %s\n", what, (int)st, st ? krein_message(ctx) : "");
    krein_model_destroy(m);
    CHECK(test_live(memory) == before);
    return good;
}

static void forged(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = rings(600, 3, 1);
    const krein_train_options o = defaults();
    trained t = train(&r, KREIN_TASK_CLASSIFICATION, 2, &o);
    const char *path = test_path("forged.krein");
    test_bytes file = test_model_bytes(t.ctx, t.model);
    static const char *const names[] = {
        "tried",     "tried.texts",    "tried.numbers",    "tried.errors",
        "searched",  "searched.texts", "searched.numbers", "searched.scores",
        "input.low", "input.high",     "path.lambda",      "path.error"};
    for (int which = 0; which < 26; which++) {
        parts p = take_apart(&file);
        int without = -1;
        char what[64];
        if (which < 12) {
            without = (int)(find(&p, names[which]) - p.all);
            snprintf(what, sizeof what, "without %s", names[which]);
        } else {
            snprintf(what, sizeof what, "forgery %d", which);
        }
        int64_t *tried = find(&p, "tried.numbers")->data;
        int64_t *searched = find(&p, "searched.numbers")->data;
        double *error = find(&p, "tried.errors")->data, *score = find(&p, "searched.scores")->data;
        double *low = find(&p, "input.low")->data, *lambda = find(&p, "path.lambda")->data;
        part *texts = find(&p, "tried.texts"), *more = find(&p, "searched.texts");
        switch (which) {
        case 12:
            set_int(find(&p, "tried"), 0);
            break;
        case 13:
            set_int(find(&p, "tried"), 100001);
            break;
        case 14:
            set_int(find(&p, "searched"), INT64_MAX);
            break;
        case 15:
            tried[0] = 3;
            break;
        case 16:
            tried[1] = -1;
            break;
        case 17:
            error[0] = -.5;
            break;
        case 18:
            searched[2] = -1;
            break;
        case 19:
            score[1] = -2;
            break;
        case 20:
            score[2] = INFINITY;
            break;
        case 21:
            low[1] = 1e30;
            break;
        case 22:
            lambda[0] = lambda[1] + 1;
            break;
        case 23:
            ((double *)find(&p, "path.error")->data)[0] = -1;
            break;
        case 24: /* an empty kernel in front, and the last text gone */
            memset(texts->data, 0, 1);
            break;
        case 25:
            memset(more->data, 0, 1);
            break;
        }
        put_together(ctx, &p, without, path);
        CHECK(refused(ctx, &memory, path, what));
        drop_parts(&p);
    }
    free(file.at);
    end(&t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void no_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = friedman(60, 1, 6);
    krein_train_options o = defaults();
    o.kernel = "gaussian";
    trained t = train(&r, KREIN_TASK_REGRESSION, 1, &o);
    test_bytes file = test_model_bytes(t.ctx, t.model);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_model *m = NULL;
        const krein_status st = krein_model_load_memory(ctx, file.at, file.n, &m);
        CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
        CHECK((st == KREIN_OK) == (m != NULL));
        krein_model_destroy(m);
    }
    free(file.at);
    end(&t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(default_keeps_all);
    RUN(free_parameter);
    RUN(list_of_kernels);
    RUN(threads);
    RUN(ranges);
    RUN(older_file);
    RUN(forged);
    RUN(no_memory);
    return DONE();
}
