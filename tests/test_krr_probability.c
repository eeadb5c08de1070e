/* test_krr_probability.c -- probabilities of krr: the calibration against one on the scores of
 * models trained without each row, or without each fold; the same bytes whatever the threads, the
 * place of the rows and interruptions; memory. */
#include "train.h"

#include "learn/learn.h"
#include "model/probability.h"
#include "solve/ridge.h"

#define indefinite "gaussian(sigma=.5) - 0.4*gaussian(sigma=2)"

/* ---- helpers ------------------------------------------------------------ */

/* Classes 0, 1, ... that overlap. */
static rows noisy(int64_t n, int classes, uint64_t seed) {
    rows r = make_rows(n, 3, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        double a = (double)r.x[i * 3], b = (double)r.x[i * 3 + 1];
        int c = (int)floor(classes * (.5 * a + .5 * b * b + .25 * uniform()) / 1.1);
        r.y[i] = c < classes ? c : classes - 1;
    }
    return r;
}

static double *some_weights(int64_t n) {
    double *w = test_new(n, sizeof *w);
    for (int64_t i = 0; i < n; i++) w[i] = .5 + (double)(i % 4) / 2;
    return w;
}

/* The rows that are not of the part `out`; or all, those of it without a weight, where the map is
 * made from the rows. */
static rows without(const rows *r, const double *weight, const int32_t *part, int32_t out,
                    bool stay, double *kept) {
    rows s = {0, r->d, 1, test_new(r->n * r->d, sizeof(float)), test_new(r->n, sizeof(double))};
    for (int64_t i = 0; i < r->n; i++) {
        if (part[i] == out && !stay) continue;
        memcpy(s.x + s.n * s.d, r->x + i * r->d, (size_t)r->d * sizeof *r->x);
        kept[s.n] = part[i] == out ? 0 : weight ? weight[i] : 1;
        s.y[s.n++] = r->y[i];
    }
    return s;
}

static krein_data *open_plain(krein_ctx *ctx, const rows *r, const double *weight) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = KREIN_TASK_CLASSIFICATION;
    o.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, weight, &o, &data) == KREIN_OK);
    return data;
}

static krein_model *train(krein_ctx *ctx, krein_data *data, const krein_train_options *o,
                          krein_report *report) {
    krein_model *m = NULL;
    if (krein_train(ctx, data, o, report, &m) != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(m != NULL);
    krein_data_close(data);
    return m;
}

static krein_train_options options(const char *learner, const char *kernel, const char *map) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernel = kernel ? kernel : "gaussian(sigma=.7)";
    o.map = map;
    o.probabilities = 1;
    return o;
}

/* ---- models without each row -------------------------------------------- */

/* Calibration on the scores of rows by models trained without their part. loo: the parts are rows,
 * and W lambda stays as it is with them. */
static krein_calibration by_hand(krein_ctx *ctx, const rows *r, const double *weight,
                                 krein_train_options o, int classes, const int32_t *part,
                                 int64_t parts, bool loo, bool stay) {
    int64_t k = classes == 2 ? 1 : classes;
    double *score = test_new(r->n * k, sizeof *score), *kept = test_new(r->n, sizeof *kept),
           total = 0, lambda = o.lambda;
    int32_t *class = test_new(r->n, sizeof *class);
    krein_calibration c = {0};
    for (int64_t i = 0; i < r->n; i++) {
        class[i] = (int32_t)r->y[i];
        total += weight ? weight[i] : 1;
    }
    o.probabilities = 0;
    o.select = NULL;
    for (int32_t p = 0; p < parts; p++) {
        rows s = without(r, weight, part, p, stay, kept);
        double left = 0;
        for (int64_t i = 0; i < s.n; i++) left += kept[i];
        o.lambda = loo ? lambda * total / left : lambda;
        krein_model *m = train(ctx, open_plain(ctx, &s, weight || stay ? kept : NULL), &o, NULL);
        for (int64_t i = 0; m && i < r->n; i++)
            if (part[i] == p)
                CHECK(krein_predict_dense(ctx, m, 1, r->d, r->x + i * r->d, r->d, score + i * k) ==
                      KREIN_OK);
        krein_model_destroy(m);
        drop(&s);
    }
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, classes, r->n, k, score, class, weight, &c) ==
          KREIN_OK);
    free(score);
    free(kept);
    free(class);
    return c;
}

static void compare(krein_ctx *ctx, const krein_model *m, krein_calibration *c, double tol,
                    const char *what) {
    for (int64_t j = 0; m && j < m->k; j++) {
        double slope = m->calibration.slope[j], shift = m->calibration.shift[j];
        if (fabs(slope - c->slope[j]) > tol * fabs(slope))
            printf("%s: slope %.9g and %.9g\n", what, slope, c->slope[j]);
        CHECK_REL(slope, c->slope[j], tol);
        CHECK_ABS(shift, c->shift[j], tol * (1 + fabs(shift)));
    }
    krein__free(ctx, c->slope);
    krein__free(ctx, c->shift);
}

static const struct {
    const char *learner, *kernel, *map;
    double lambda, tol;
    bool stay; /* the map looks at the rows */
} kinds[] = {{NULL, NULL, "exact", 1e-3, 1e-7, false},
             {NULL, NULL, "rff(D=24)", 1e-3, 1e-4, false},
             {NULL, NULL, "orf(D=100)", 1e-2, 1e-4, false},
             {NULL, NULL, "nystrom(D=12)", 1e-2, 1e-4, true},
             {NULL, NULL, "nystrom(D=12)", 1e-5, 1e-3, true},
             {NULL, indefinite, "exact", 3e-3, 1e-6, false},
             {"krr(norm=krein)", indefinite, "gorf(D=40)", 2e-2, 1e-3, true}};

/* Leave-one-out: as many models as rows. */
static void each_row_left_out(void) {
    krein_ctx *ctx = test_ctx(2);
    int64_t n = test_sanitized() ? 24 : 40;
    int32_t *part = test_new(n, sizeof *part);
    double *some = some_weights(n);
    for (int64_t i = 0; i < n; i++) part[i] = (int32_t)i;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int classes = 2; classes <= 3; classes++)
            for (int weights = 0; weights < 2; weights++) {
                rows r = noisy(n, classes, 5);
                double *weight = weights ? some : NULL;
                krein_train_options o = options(kinds[i].learner, kinds[i].kernel, kinds[i].map);
                o.lambda = kinds[i].lambda;
                krein_model *m = train(ctx, open_plain(ctx, &r, weight), &o, NULL);
                krein_calibration c =
                    by_hand(ctx, &r, weight, o, classes, part, n, true, kinds[i].stay);
                CHECK(m && m->calibration.slope[0] > 0);
                compare(ctx, m, &c, kinds[i].tol, kinds[i].map);
                krein_model_destroy(m);
                drop(&r);
            }
    free(part);
    free(some);
    krein_ctx_destroy(ctx);
}

/* Folds that were asked for, and conjugate gradients, which have no leave-one-out. */
static void each_fold_left_out(void) {
    krein_ctx *ctx = test_ctx(2);
    int64_t n = 120, folds = 4;
    double *some = some_weights(n);
    int32_t *fold = test_new(n, sizeof *fold), *class = test_new(n, sizeof *class);
    for (size_t i = 0; i <= sizeof kinds / sizeof *kinds; i++)
        for (int classes = 2; classes <= 3; classes++) {
            bool pcg = i == sizeof kinds / sizeof *kinds;
            const char *map = pcg ? "rff(D=24)" : kinds[i].map;
            rows r = noisy(n, classes, 6);
            double *weight = classes == 3 ? some : NULL;
            krein_train_options o = options(pcg ? "krr(solver=pcg)" : kinds[i].learner,
                                            pcg ? NULL : kinds[i].kernel, map);
            o.lambda = pcg ? 1e-2 : kinds[i].lambda;
            o.select = pcg ? NULL : "cv(k=4)";
            folds = pcg ? 5 : 4;
            for (int64_t j = 0; j < n; j++) class[j] = (int32_t)r.y[j];
            CHECK(krein__folds(ctx, o.seed, n, folds, NULL, class, fold) == KREIN_OK);
            krein_model *m = train(ctx, open_plain(ctx, &r, weight), &o, NULL);
            krein_calibration c =
                by_hand(ctx, &r, weight, o, classes, fold, folds, false, !pcg && kinds[i].stay);
            compare(ctx, m, &c, pcg ? 1e-2 : kinds[i].tol, map);
            krein_model_destroy(m);
            drop(&r);
        }
    free(some);
    free(fold);
    free(class);
    krein_ctx_destroy(ctx);
}

/* Levers from a Cholesky factorisation are those from eigenvectors, with a mix and without. */
static void factor_and_eigenvectors(void) {
    enum { N = 80, R = 12, D = 9, k = 2 };
    krein_ctx *ctx = test_ctx(2);
    float *r = test_dense(N, R, .2), *copy = test_dense(N, R, .2);
    double *y = test_new(N * k, sizeof *y), *mix = test_new(R * D, sizeof *mix);
    for (int64_t i = 0; i < N * k; i++) y[i] = det(i, 3, .7);
    for (int64_t i = 0; i < R * D; i++) mix[i] = det(i, 2, .4);
    for (int mixed = 0; mixed < 2; mixed++) {
        krein_ridge ridge = {0};
        krein_system s = {0};
        krein_path p = {.n = 1, .lambda = {3e-3}};
        krein_scores *a = NULL, *b = NULL;
        float fit[2][N * k], lever[2][N];
        CHECK(krein__ridge_begin(ctx, R, k, N, &ridge) == KREIN_OK);
        memcpy(copy, r, N * R * sizeof *r);
        krein__ridge_add(&ridge, N, copy, y, NULL);
        CHECK(krein__ridge_system(&ridge, mixed ? mix : NULL, D, mixed ? D : R, &s) == KREIN_OK);
        CHECK(krein__scores_begin(ctx, &s, true, &p, &a) == KREIN_OK);
        CHECK(krein__scores_at(ctx, &s, 3e-3, &b) == KREIN_OK);
        krein__scores_rows(a, N, r, fit[0], lever[0]);
        krein__scores_rows(b, N, r, fit[1], lever[1]);
        for (int64_t i = 0; i < N * k; i++) CHECK_ABS(fit[0][i], fit[1][i], 1e-4);
        for (int64_t i = 0; i < N; i++) CHECK_ABS(lever[0][i], lever[1][i], 1e-5);
        krein__scores_end(a);
        krein__scores_end(b);
        krein__ridge_clear(&ridge);
        krein__system_clear(ctx, &s);
    }
    free(r);
    free(copy);
    free(y);
    free(mix);
    krein_ctx_destroy(ctx);
}

/* ---- the same model ----------------------------------------------------- */

static const struct {
    const char *learner, *kernel, *map, *select;
} ways[] = {{NULL, NULL, "exact", NULL},
            {NULL, NULL, "exact", "cv"},
            {NULL, NULL, "orf(D=48)", NULL},
            {NULL, NULL, "orf(D=48)", "cv"},
            {NULL, NULL, "nystrom(D=20)", NULL},
            {NULL, NULL, "nystrom(D=20)", "cv"},
            {"krr(solver=pcg)", NULL, "rff(D=32)", NULL},
            {"krr(norm=krein)", indefinite, "gorf(D=40)", NULL},
            {"krr(norm=krein)", indefinite, "gorf(D=40)", "cv"}};
enum { WAYS = sizeof ways / sizeof *ways };

static krein_train_options way(size_t i) {
    krein_train_options o = options(ways[i].learner, ways[i].kernel, ways[i].map);
    o.select = ways[i].select;
    return o;
}

static test_bytes bytes_of(int threads, krein_keep keep, const char *path,
                           const krein_train_options *o, double *lambda) {
    krein_ctx *ctx = test_ctx(threads);
    ctx->keep_rows = keep;
    krein_data_options d;
    krein_data *data = NULL;
    krein_data_options_init(&d);
    d.task = KREIN_TASK_CLASSIFICATION;
    CHECK(krein_data_open(ctx, path, &d, &data) == KREIN_OK);
    krein_model *m = train(ctx, data, o, NULL);
    test_bytes b = test_model_bytes(ctx, m);
    if (m && lambda) *lambda = m->lambda;
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return b;
}

/* One thread and two; rows in memory and read for every pass; the chosen lambda given back. Weights
 * and intercepts do not depend on whether probabilities are asked for. */
static void same_bytes(void) {
    rows r = noisy(test_sanitized() ? 200 : 450, 3, 7);
    char path[256];
    snprintf(path, sizeof path, "%s", write_rows("same.csv", &r));
    for (size_t i = 0; i < WAYS; i++) {
        krein_train_options o = way(i);
        double lambda = NAN;
        test_bytes one = bytes_of(1, KREIN_KEEP_MEMORY, path, &o, &lambda);
        test_bytes two = bytes_of(2, KREIN_KEEP_MEMORY, path, &o, NULL);
        test_bytes streamed = bytes_of(2, KREIN_KEEP_STREAM, path, &o, NULL);
        o.lambda = lambda;
        test_bytes given = bytes_of(2, KREIN_KEEP_STREAM, path, &o, NULL);
        CHECK(test_same(one, two));
        CHECK(test_same(one, streamed));
        bool same = test_same_model(one, given);
        if (!same) printf("%s, %s: lambda given\n", ways[i].map, ways[i].select);
        CHECK(same);
        free(one.at);
        free(two.at);
        free(streamed.at);
        free(given.at);
    }
    drop(&r);
}

static void weights_stay(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = noisy(300, 3, 8);
    for (size_t i = 0; i < WAYS; i++) {
        krein_train_options o = way(i);
        krein_model *with = train(ctx, open_plain(ctx, &r, NULL), &o, NULL);
        o.probabilities = 0;
        krein_model *plain = train(ctx, open_plain(ctx, &r, NULL), &o, NULL);
        CHECK(with->calibration.slope && !plain->calibration.slope);
        CHECK(with->lambda == plain->lambda && with->map->R == plain->map->R);
        CHECK(memcmp(with->w, plain->w, (size_t)(plain->map->R * plain->k) * sizeof *with->w) == 0);
        CHECK(memcmp(with->intercept, plain->intercept, (size_t)plain->k * sizeof(double)) == 0);
        krein_model_destroy(with);
        krein_model_destroy(plain);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

typedef struct stopper {
    int64_t after;
} stopper;

static int cancel(void *user) {
    stopper *s = user;
    return s->after >= 0 && s->after-- == 0;
}

/* Stopped at one poll after the other, the calibration's among them, and continued. */
static void interrupted(void) {
    rows r = noisy(6000, 3, 9);
    char path[256], ck[256];
    snprintf(path, sizeof path, "%s", write_rows("long.csv", &r));
    snprintf(ck, sizeof ck, "%s", test_path("state"));
    for (int folds = 0; folds < 2; folds++) {
        krein_train_options o = options(NULL, NULL, "rff(D=24)");
        o.select = folds ? "cv(k=3)" : NULL;
        test_bytes whole = bytes_of(2, KREIN_KEEP_STREAM, path, &o, NULL), parts = {0};
        o.checkpoint = ck;
        o.checkpoint_seconds = 1e-9;
        krein_status st = KREIN_ECANCEL;
        for (int64_t after = 2; st == KREIN_ECANCEL && after < 400; after += 3) {
            stopper s = {after};
            krein_ctx_options c;
            krein_ctx *ctx = NULL;
            krein_data_options d;
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_ctx_options_init(&c);
            c.threads = 1 + (int)(after % 2);
            c.cancel = cancel;
            c.user = &s;
            krein_data_options_init(&d);
            d.task = KREIN_TASK_CLASSIFICATION;
            CHECK(krein_ctx_create(&c, &ctx) == KREIN_OK);
            ctx->keep_rows = KREIN_KEEP_STREAM;
            st = krein_data_open(ctx, path, &d, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            s.after = -1;
            if (st == KREIN_OK) parts = test_model_bytes(ctx, m);
            krein_model_destroy(m);
            krein_data_close(data);
            krein_ctx_destroy(ctx);
        }
        CHECK(st == KREIN_OK && test_same(whole, parts));
        free(whole.at);
        free(parts.at);
        unlink(ck);
    }
    drop(&r);
}

/* ---- what they are ------------------------------------------------------ */

typedef struct seen {
    int64_t n, bad;
    double score[400], p[400];
} seen;

static krein_status see(void *user, const krein_prediction *p) {
    seen *s = user;
    double sum = 0;
    for (int64_t c = 0; c < p->nclasses; c++) {
        sum += p->probabilities[c];
        s->bad += !(p->probabilities[c] >= 0 && p->probabilities[c] <= 1);
    }
    s->bad += fabs(sum - 1) > 1e-12;
    s->score[s->n] = p->scores[0];
    s->p[s->n++] = p->probabilities[p->nclasses - 1];
    return KREIN_OK;
}

/* They add up to one; of two classes the second's rises with the score; the default learner and map
 * have them, and evaluate measures them. */
static void sums_and_order(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int classes = 2; classes <= 4; classes++) {
        rows r = noisy(400, classes, 10);
        krein_train_options o = defaults();
        o.probabilities = 1;
        krein_model *m = train(ctx, open_plain(ctx, &r, NULL), &o, NULL);
        krein_model_info info = KREIN_SIZED(krein_model_info);
        krein_metrics metrics = KREIN_SIZED(krein_metrics);
        seen *s = test_new(1, sizeof *s);
        krein_data *data = open_plain(ctx, &r, NULL);
        CHECK(krein_predict(ctx, m, data, see, s) == KREIN_OK);
        krein_data_close(data);
        data = open_plain(ctx, &r, NULL);
        CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
        krein_data_close(data);
        krein_model_describe(m, &info);
        CHECK(info.probabilities && s->n == r.n && s->bad == 0);
        CHECK(metrics.log_loss > 0 && metrics.log_loss < .9 * log(classes));
        for (int64_t i = 0; classes == 2 && i < s->n; i++)
            for (int64_t j = 0; j < i; j++)
                CHECK(s->score[i] == s->score[j] ||
                      (s->score[i] > s->score[j]) == (s->p[i] > s->p[j]));
        krein_metrics_clear(ctx, &metrics);
        krein_model_destroy(m);
        free(s);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* Many rows: a sample, which the log says. Groups: folds, whatever lambda was chosen by. */
static void which_rows(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(2, NULL, &log);
    rows r = noisy(17000, 2, 11);
    krein_train_options o = options(NULL, NULL, "rff(D=8)");
    o.lambda = 1e-3;
    krein_model_destroy(train(ctx, open_plain(ctx, &r, NULL), &o, NULL));
    CHECK_HAS(log.text, "leave-one-out scores of 16384 rows, a sample");
    drop(&r);
    r = noisy(200, 2, 12);
    char path[256];
    snprintf(path, sizeof path, "%s", test_path("groups.csv"));
    FILE *f = fopen(path, "w");
    fprintf(f, "y,g,a,b,c\n");
    for (int64_t i = 0; i < r.n; i++)
        fprintf(f, "%g,g%d,%.9g,%.9g,%.9g\n", r.y[i], (int)(i % 40), (double)r.x[i * 3],
                (double)r.x[i * 3 + 1], (double)r.x[i * 3 + 2]);
    fclose(f);
    static const char *const select[] = {NULL, "loo", "none"}, *const map[] = {"exact", "rff(D=8)"};
    for (int i = 0; i < 6; i++) {
        krein_data_options d;
        krein_data *data = NULL;
        krein_data_options_init(&d);
        d.task = KREIN_TASK_CLASSIFICATION;
        d.group = "g";
        o.map = map[i % 2];
        o.select = select[i / 2];
        log.text[0] = 0;
        CHECK(krein_data_open(ctx, path, &d, &data) == KREIN_OK);
        krein_model_destroy(train(ctx, data, &o, NULL));
        CHECK_HAS(log.text, "scores of 5 folds of 200 rows");
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* More features than rows and hardly a lambda: float32 has no leave-one-out, folds have. */
static void no_leave_one_out(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(2, NULL, &log);
    rows r = noisy(40, 2, 13);
    krein_train_options o = options("krr(solver=direct)", "gaussian(sigma=.05)", "rff(D=400)");
    for (o.lambda = 1e-12; o.lambda < 1e-6; o.lambda *= 30) {
        log.text[0] = 0;
        krein_model_destroy(train(ctx, open_plain(ctx, &r, NULL), &o, NULL));
        CHECK_HAS(log.text, "scores of 5 folds of 40 rows");
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void plan_is_a_bound(void) {
    for (size_t i = 0; i < WAYS; i++) {
        const bool exact = strcmp(ways[i].map, "exact") == 0; /* cubic in the rows */
        rows r = noisy(test_sanitized() ? 300 : exact ? 700 : 1500, 3, 14);
        for (int given = 0; given < 2; given++) {
            krein_ctx *ctx = test_ctx(2);
            krein_train_options o = way(i);
            krein_report plan = KREIN_SIZED(krein_report), report = KREIN_SIZED(krein_report);
            if (given) o.lambda = .05;
            krein_data *data = open_plain(ctx, &r, NULL);
            CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
            krein_data_close(data);
            krein_model *m = train(ctx, open_plain(ctx, &r, NULL), &o, &report);
            if (krein_ctx_peak_bytes(ctx) > plan.bytes_peak)
                printf("%s, %s: plan %.2f MB, peak %.2f MB\n", ways[i].map,
                       ways[i].select ? ways[i].select : "loo", (double)plan.bytes_peak / 1e6,
                       (double)krein_ctx_peak_bytes(ctx) / 1e6);
            CHECK(krein_ctx_peak_bytes(ctx) <= plan.bytes_peak);
            krein_report_clear(ctx, &plan);
            krein_report_clear(ctx, &report);
            krein_model_destroy(m);
            krein_ctx_destroy(ctx);
        }
        drop(&r);
    }
}

static void failing_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = noisy(24, 3, 15);
    for (size_t i = 0; i < WAYS; i++) {
        krein_train_options o = way(i);
        o.lambda = .05;
        /* the ways share most of their allocations: one fails here, the next there */
        const int64_t step = test_sanitized() ? 5 : 1;
        TEST_SOME_ALLOCATIONS(&memory, k, (int64_t)i % step, step) {
            krein_data_options d;
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_data_options_init(&d);
            d.task = KREIN_TASK_CLASSIFICATION;
            krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            krein_model_destroy(m);
            krein_data_close(data);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    }
    CHECK(test_live(&memory) == 0);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(each_row_left_out);
    RUN(each_fold_left_out);
    RUN(factor_and_eigenvectors);
    RUN(same_bytes);
    RUN(weights_stay);
    RUN(interrupted);
    RUN(sums_and_order);
    RUN(which_rows);
    RUN(no_leave_one_out);
    RUN(plan_is_a_bound);
    RUN(failing_memory);
    return DONE();
}
