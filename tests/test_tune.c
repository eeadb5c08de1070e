/* test_tune.c -- the default model: one fit against brute force, and what is chosen for planted
 * problems, on any number of threads, in no time, with little data, without memory. */
#include "train.h"

#include "select/tune_fit.h"

static const char KERNELS[] = "exponential; laplacian; gaussian";

/* ---- one fit ------------------------------------------------------------ */

enum { N = 12, Q = 2 };

typedef struct small {
    double K[N * N], y[N * Q], weight[N], unit[Q];
    krein_tune_sample s;
} small;

static void make_small(krein_ctx *ctx, bool weights, small *p) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            double square = 0;
            for (int64_t l = 0; l < 3; l++) square += pow(det(i, l, 0) - det(j, l, 0), 2);
            p->K[i * N + j] = exp(-square / 2);
        }
        p->y[i * Q] = det(i, 5, 0) + det(i, 0, 0);
        p->y[i * Q + 1] = 2 * det(i, 1, 0) - .3;
        p->weight[i] = 1.5 + det(i, 7, 0);
        sum += p->weight[i];
    }
    for (int64_t i = 0; i < N; i++) p->weight[i] *= N / sum;
    p->s = (krein_tune_sample){.ctx = ctx,
                               .n = N,
                               .k = Q,
                               .y = p->y,
                               .unit = p->unit,
                               .weight = weights ? p->weight : NULL};
    p->unit[0] = p->unit[1] = 3;
}

static double weight_of(const small *p, int64_t i) { return p->s.weight ? p->weight[i] : 1; }

/* Weighted mean of the squared errors of N fits, each without one row. */
static double brute_force(const small *p, double lambda) {
    double loss = 0;
    for (int64_t out = 0; out < N; out++) {
        double A[(N - 1) * (N - 1)], b[(N - 1) * Q];
        int64_t row[N - 1], n = 0;
        for (int64_t i = 0; i < N; i++)
            if (i != out) row[n++] = i;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) A[i * n + j] = p->K[row[i] * N + row[j]];
            A[i * n + i] += lambda / weight_of(p, row[i]);
            for (int64_t c = 0; c < Q; c++) b[i * Q + c] = p->y[row[i] * Q + c];
        }
        test_solve(n, Q, A, b);
        for (int64_t c = 0; c < Q; c++) {
            double e = p->y[out * Q + c];
            for (int64_t i = 0; i < n; i++) e -= p->K[out * N + row[i]] * b[i * Q + c];
            loss += weight_of(p, out) * e * e / N;
        }
    }
    return loss;
}

/* |(K + lambda / W) alpha - y|, the largest. */
static double residual(const small *p, double lambda, const double *alpha) {
    double most = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t c = 0; c < Q; c++) {
            double r = lambda / weight_of(p, i) * alpha[i * Q + c] - p->y[i * Q + c];
            for (int64_t j = 0; j < N; j++) r += p->K[i * N + j] * alpha[j * Q + c];
            most = fmax(most, fabs(r));
        }
    return most;
}

/* Support vector machines: a row of weight w counts as w rows, in S and in V. */
static void machines_by_weights(void) {
    enum { S = 60, V = 45, CLASSES = 3, PAIRS = 3 };
    krein_ctx *ctx = test_ctx(1);
    double at[(S + V) * 3], weight[S + V], sum = 0, error[2];
    int32_t class[S + V];
    int64_t from[2][3 * (S + V)], count[2] = {0};
    for (int64_t i = 0; i < S + V; i++) {
        for (int64_t l = 0; l < 3; l++) at[i * 3 + l] = det(i, l, .4);
        double f = at[i * 3] + at[i * 3 + 1] * at[i * 3 + 2] + .5 * det(i, 9, 1.3);
        class[i] = f < -.3 ? 0 : f < .3 ? 1 : 2;
        weight[i] = (double)(i * 5 % 4);
        for (int64_t k = 0; k < i * 5 % 4; k++) from[i >= S][count[i >= S]++] = i;
        if (i < S) sum += weight[i];
    }
    for (int repeated = 0; repeated < 2; repeated++) {
        int64_t n = repeated ? count[0] : S, m = repeated ? count[1] : V, *row[2];
        int32_t *of[2];
        krein_tune_sample s = {.ctx = ctx, .n = n, .m = m, .classes = true, .nclass = CLASSES};
        for (int v = 0; v < 2; v++) {
            row[v] = test_new(v ? m : n, sizeof **row);
            of[v] = test_new(v ? m : n, sizeof **of);
            for (int64_t i = 0; i < (v ? m : n); i++) {
                row[v][i] = repeated ? from[v][i] : i + v * S;
                of[v][i] = class[row[v][i]];
            }
        }
        s.fit_class = of[0];
        s.held_class = of[1];
        double mean[S];
        for (int64_t i = 0; i < S; i++) mean[i] = weight[i] * S / sum;
        if (!repeated) s.weight = mean, s.held_weight = weight + S;
        double *K = test_new((n + m) * n, sizeof *K), C = repeated ? 3 : 3 * sum / S;
        for (int64_t i = 0; i < (n + m) * n; i++) {
            const double *a = at + 3 * (i / n < n ? row[0][i / n] : row[1][i / n - n]),
                         *b = at + 3 * row[0][i % n];
            double square = 0;
            for (int64_t l = 0; l < 3; l++) square += pow(a[l] - b[l], 2);
            K[i] = exp(-square);
        }
        double *w = test_new(n * PAIRS, sizeof *w), intercept[PAIRS];
        double *score = test_new(m * PAIRS, sizeof *score);
        CHECK(krein__tune_svm(ctx, &s, n, K, C, w, intercept) == KREIN_OK);
        for (int64_t e = 0; e < m * PAIRS; e++)
            for (int64_t j = 0; j < n; j++)
                score[e] += K[(n + e / PAIRS) * n + j] * w[j * PAIRS + e % PAIRS];
        error[repeated] = krein__tune_svm_error(&s, intercept, score);
        free(K);
        free(w);
        free(score);
        for (int v = 0; v < 2; v++) {
            free(row[v]);
            free(of[v]);
        }
    }
    CHECK(error[0] > .02 && error[0] < .6);
    CHECK_REL(error[0], error[1], 1e-12);
    krein_ctx_destroy(ctx);
}

static void leave_one_out(void) {
    krein_ctx *ctx = test_ctx(1);
    double alpha[N * Q], step = sqrt(10);
    float K[N * N], work[N * N];
    for (int weights = 0; weights < 2; weights++) {
        small p;
        make_small(ctx, weights, &p);
        for (int64_t i = 0; i < N * N; i++) K[i] = (float)p.K[i];
        for (double lambda = 0.01; lambda < 20; lambda *= 7) {
            krein_tune_fit f = {.n = N, .lambda = lambda, .fixed = true, .alpha = alpha};
            CHECK(krein__tune_solve(ctx, &p.s, K, work, &f) == KREIN_OK);
            CHECK(f.lambda == lambda);
            CHECK_REL(f.loo, brute_force(&p, lambda), 1e-4);
            CHECK_REL(f.error, 3 * sqrt(brute_force(&p, lambda) / Q), 1e-4);
            CHECK_ABS(residual(&p, lambda, alpha), 0, 1e-5);
            memset(alpha, 0, sizeof alpha);
            CHECK(krein__tune_at(ctx, &p.s, K, work, lambda, &f) == KREIN_OK);
            CHECK_ABS(residual(&p, lambda, alpha), 0, 1e-5);
        }
        double found[2];
        for (int up = 0; up < 2; up++) { /* from far below and far above to the same place */
            krein_tune_fit f = {.n = N, .lambda = up ? 10 : 0.01, .alpha = alpha};
            CHECK(krein__tune_solve(ctx, &p.s, K, work, &f) == KREIN_OK);
            CHECK_REL(f.loo, brute_force(&p, f.lambda), 1e-4);
            CHECK(f.loo <= brute_force(&p, f.lambda * step) * (1 + 1e-4));
            CHECK(f.loo <= brute_force(&p, f.lambda / step) * (1 + 1e-4));
            CHECK_ABS(residual(&p, f.lambda, alpha), 0, 1e-5);
            found[up] = f.lambda;
        }
        CHECK_REL(found[0], found[1], 1e-9);
    }
    krein_ctx_destroy(ctx);
}

/* ---- problems ----------------------------------------------------------- */

enum { A = 3, B = 7, COLUMNS = 10 }; /* the columns that matter */

/* classes 0: a number; 1: noise alone. */
enum { NOISE = 1 };
static rows planted(int64_t n, int classes, uint64_t seed) {
    rows r = make_rows(n, COLUMNS, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        float *x = r.x + i * COLUMNS;
        for (int64_t j = 0; j < COLUMNS; j++) x[j] = 4 * x[j] - 2;
        double a = (double)x[A], b = (double)x[B];
        if (classes == NOISE)
            r.y[i] = normal();
        else if (classes == 0)
            r.y[i] = sin(2 * a) * b + b + .05 * normal();
        else if (classes == 2)
            r.y[i] = a * b > 0 ? 1 : 0;
        else
            r.y[i] = floor((atan2(a, b) / 3.14159266 + 1) / 2 * classes);
    }
    return r;
}

typedef struct problem {
    krein_data *data;
    krein_model model;
    krein_job job;
} problem;

static krein_status open_problem(krein_ctx *ctx, krein_data *data, problem *p) {
    krein_status st;
    *p = (problem){.data = data, .model = {.ctx = ctx}};
    krein_encoding *e = &p->model.encoding;
    if ((st = krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, e)) != KREIN_OK) return st;
    p->model.head = krein__task_head(e->task);
    p->model.k = krein__head_scores(p->model.head, e);
    p->job = (krein_job){.ctx = ctx,
                         .data = data,
                         .n = data->count[KREIN_PART_TRAIN],
                         .model = &p->model,
                         .lambda = -1,
                         .seed = 5,
                         .loo = NAN};
    return krein__stream_open(data, e, KREIN_PART_TRAIN, &p->job.rows);
}
static void close_problem(krein_ctx *ctx, problem *p) {
    krein__stream_close(p->job.rows);
    krein__encoding_clear(ctx, &p->model.encoding);
    krein_data_close(p->data);
}

static krein_tune_options usual(void) {
    return (krein_tune_options){
        .kernels = KERNELS, .metric = KREIN_METRIC_DIAGONAL, .effort = 1, .clip = 8};
}

/* Opens, tunes and closes. */
static krein_status tune_data(krein_ctx *ctx, krein_data *data, const krein_tune_options *o,
                              krein_tuned *out) {
    problem p;
    *out = (krein_tuned){0};
    krein_status st = open_problem(ctx, data, &p);
    if (st == KREIN_OK) st = krein__tune(&p.job, o, out);
    close_problem(ctx, &p);
    return st;
}
static krein_status tune_rows(krein_ctx *ctx, const rows *r, bool classes,
                              const krein_tune_options *o, krein_tuned *out) {
    krein_task task = classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    return tune_data(ctx, open_rows(ctx, r, NULL, task), o, out);
}

/* The least error of candidates on the most rows, with a metric or without. */
static double least(const krein_tuned *t, bool metric) {
    double error = INFINITY;
    int64_t most = 0;
    for (int64_t i = 0; i < t->tries.n; i++) most = krein__max(most, t->tries.tried[i].rows);
    for (int64_t i = 0; i < t->tries.n; i++)
        if (t->tries.tried[i].rows == most &&
            (t->tries.tried[i].metric != KREIN_METRIC_NONE) == metric)
            error = fmin(error, t->tries.tried[i].error);
    return error;
}

static void check_usable(const krein_tuned *t, int64_t d) {
    CHECK(t->kernel && krein__kernel_free(t->kernel, -1, NULL, NULL) == 0);
    CHECK(t->lambda > 0 && isfinite(t->lambda));
    CHECK((t->metric == KREIN_METRIC_NONE) == (t->factor == NULL));
    CHECK(t->tries.n > 0);
    int64_t size = t->metric == KREIN_METRIC_FULL ? d * d : d;
    for (int64_t j = 0; t->factor && j < size; j++) CHECK(isfinite(t->factor[j]));
}

/* The two columns have the largest factors. */
static void check_found(const krein_tuned *t) {
    CHECK(t->metric == KREIN_METRIC_DIAGONAL && t->factor);
    for (int64_t j = 0; t->factor && j < COLUMNS; j++)
        if (j != A && j != B) CHECK(t->factor[j] < fmin(t->factor[A], t->factor[B]) / 2);
    CHECK(least(t, true) < 0.7 * least(t, false));
}

static void finds_columns(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    for (int classes = 0; classes <= 5; classes++) {
        if (classes != 0 && classes != 2 && classes != 5) continue;
        rows r = planted(test_sanitized() ? 750 : 1000, classes, 3);
        krein_tuned t;
        CHECK(tune_rows(ctx, &r, classes > 0, &o, &t) == KREIN_OK);
        check_usable(&t, COLUMNS);
        check_found(&t);
        for (int64_t i = 0; classes && i < t.tries.n; i++)
            CHECK(t.tries.tried[i].error >= 0 && t.tries.tried[i].error <= 1);
        krein__tuned_clear(ctx, &t);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* Two columns among 60 that tell something together alone: no kernel sees them without a metric,
 * and the gradients of such a fit do not show them. */
static void finds_pair(void) {
    enum { D = 60 };
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    rows r = make_rows(900, D, 1, 8);
    krein_tuned t;
    for (int64_t i = 0; i < r.n; i++) r.y[i] = (r.x[i * D + A] - .5f) * (r.x[i * D + B] - .5f) > 0;
    CHECK(tune_rows(ctx, &r, true, &o, &t) == KREIN_OK);
    check_usable(&t, D);
    CHECK(t.metric == KREIN_METRIC_DIAGONAL && t.factor);
    for (int64_t j = 0; t.factor && j < D; j++)
        if (j != A && j != B) CHECK(t.factor[j] < fmin(t.factor[A], t.factor[B]) / 4);
    CHECK(least(&t, false) > 0.4 && least(&t, true) < 0.15);
    krein__tuned_clear(ctx, &t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Of 25 columns two tell nearly all, and alone enough that the path of metrics starts from them;
 * the plain kernel sees something too, and its own path is followed as well: it begins with a fit
 * to all rows without a metric, far worse than the winner. */
static void both_starts(void) {
    enum { D = 25, ROWS = 1200, FIT = ROWS - ROWS / 3 };
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    rows r = make_rows(ROWS, D, 1, 5);
    krein_tuned t;
    int plain = 0, learned = 0;
    for (int64_t i = 0; i < r.n; i++)
        r.y[i] = sin(6 * (double)r.x[i * D + A]) + 4 * pow((double)r.x[i * D + B] - .5, 2);
    CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
    check_usable(&t, D);
    CHECK(t.metric == KREIN_METRIC_DIAGONAL);
    for (int64_t i = 0; i < t.tries.n; i++) {
        const krein_tried *at = &t.tries.tried[i];
        if (at->rows != FIT) continue;
        plain += at->metric == KREIN_METRIC_NONE;
        learned += at->metric == KREIN_METRIC_DIAGONAL;
    }
    CHECK(plain == 1 && learned >= 3);
    CHECK(least(&t, true) < least(&t, false) / 1.5);
    krein__tuned_clear(ctx, &t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* More classes than have a target of their own: the same columns are found, with errors better than
 * of a guess among neighbours. */
static void many_classes(void) {
    enum { CLASSES = 132 }; /* more than 128 */
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    /* a third is held out; 1,000 rows are a second look, and all of them come after it */
    rows r = planted(1520, CLASSES, 3);
    krein_tuned t;
    CHECK(tune_rows(ctx, &r, true, &o, &t) == KREIN_OK);
    check_usable(&t, COLUMNS);
    CHECK(t.metric == KREIN_METRIC_DIAGONAL && t.factor);
    for (int64_t j = 0; t.factor && j < COLUMNS; j++)
        if (j != A && j != B) CHECK(t.factor[j] < fmin(t.factor[A], t.factor[B]) / 2);
    CHECK(least(&t, true) < 0.9 && least(&t, false) > least(&t, true));
    krein__tuned_clear(ctx, &t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Held-out errors say that nothing helps. */
static void no_signal(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    for (uint64_t seed = 1; seed <= (test_sanitized() ? 1 : 3); seed++) {
        rows r = planted(600, NOISE, seed);
        krein_tuned t;
        CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
        check_usable(&t, COLUMNS);
        CHECK(t.metric == KREIN_METRIC_NONE);
        CHECK(t.lambda > 0.1); /* near the mean */
        krein__tuned_clear(ctx, &t);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* A smooth function of two columns and a rough one of another: with more effort sums of kernels
 * compete, and one of them wins. */
static void mixtures(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = planted(1200, 0, 11);
    for (int64_t i = 0; i < r.n; i++) {
        float *x = r.x + i * COLUMNS;
        for (int64_t j = 1; j < COLUMNS; j++)
            if (j != A && j != B) x[j] = 0;
        r.y[i] = 2 * sin((double)(x[A] * x[B])) + floor(3 * (double)x[0]) / 2 + .02 * normal();
    }
    for (int more = 0; more < 2; more++) {
        krein_tuned t;
        krein_tune_options o = usual();
        o.effort = more ? 2 : 1;
        o.metric = KREIN_METRIC_NONE;

        CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
        check_usable(&t, COLUMNS);
        double single = INFINITY, sum = INFINITY;
        for (int64_t i = 0; i < t.tries.n; i++) {
            double *to = strchr(t.tries.tried[i].kernel, '+') ? &sum : &single;
            *to = fmin(*to, t.tries.tried[i].error);
        }
        char *text = krein__kernel_text(ctx, t.kernel);
        CHECK(isfinite(sum) == (more == 1));
        CHECK((strchr(text, '+') != NULL) == (more == 1));
        if (more) CHECK(sum < single);
        krein__free(ctx, text);
        krein__tuned_clear(ctx, &t);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* What is not to be learned is not. */
static void asked(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = planted(600, 0, 3);
    krein_tuned t;
    for (int turn = 0; turn < 3; turn++) {
        krein_tune_options o = usual();
        if (turn == 0) o.metric = KREIN_METRIC_NONE;
        if (turn == 1) o.effort = 0.25;
        if (turn == 2) o.metric = KREIN_METRIC_FULL;
        CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
        check_usable(&t, COLUMNS);
        bool full = false;
        for (int64_t i = 0; i < t.tries.n; i++)
            full = full || t.tries.tried[i].metric == KREIN_METRIC_FULL;
        CHECK(full == (turn == 2));
        CHECK((t.metric != KREIN_METRIC_NONE) == (turn == 2));
        krein__tuned_clear(ctx, &t);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void several_targets_and_weights(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    rows one = planted(600, 0, 4), r = {one.n, one.d, 2, one.x, test_new(2 * one.n, sizeof *r.y)};
    double *weight = test_new(one.n, sizeof *weight);
    krein_tuned t;
    for (int64_t i = 0; i < one.n; i++) {
        r.y[2 * i] = 1000 * one.y[i];
        r.y[2 * i + 1] = cos(2 * (double)one.x[i * COLUMNS + B]);
        weight[i] = (double)(i % 3);
    }
    CHECK(tune_data(ctx, open_rows(ctx, &r, weight, KREIN_TASK_REGRESSION), &o, &t) == KREIN_OK);
    check_usable(&t, COLUMNS);
    CHECK(t.metric == KREIN_METRIC_DIAGONAL);
    for (int64_t j = 0; t.factor && j < COLUMNS; j++)
        CHECK(t.factor[j] <= fmax(t.factor[A], t.factor[B]));
    krein__tuned_clear(ctx, &t);
    free(weight);
    free(r.y);
    drop(&one);
    krein_ctx_destroy(ctx);
}

/* ---- the same on any number of threads ---------------------------------- */

static void threads(void) {
    for (int classes = 0; classes <= 5; classes += 5) {
        rows r = planted(600, classes, 6);
        krein_tuned t[2];
        krein_ctx *ctx[2];
        krein_tune_options o = usual();
        for (int i = 0; i < 2; i++) {
            ctx[i] = test_ctx(i + 1);
            CHECK(tune_rows(ctx[i], &r, classes > 0, &o, &t[i]) == KREIN_OK);
        }
        char *a = krein__kernel_text(ctx[0], t[0].kernel),
             *b = krein__kernel_text(ctx[1], t[1].kernel);
        CHECK(a && b && strcmp(a, b) == 0);
        CHECK(t[0].lambda == t[1].lambda && t[0].metric == t[1].metric &&
              t[0].tries.n == t[1].tries.n);
        CHECK(t[0].factor && t[1].factor &&
              memcmp(t[0].factor, t[1].factor, COLUMNS * sizeof *t[0].factor) == 0);
        for (int64_t i = 0; i < t[0].tries.n && i < t[1].tries.n; i++) {
            const krein_tried *p = &t[0].tries.tried[i], *q = &t[1].tries.tried[i];
            CHECK(strcmp(p->kernel, q->kernel) == 0 && p->error == q->error && p->rows == q->rows);
        }
        krein__free(ctx[0], a);
        krein__free(ctx[1], b);
        for (int i = 0; i < 2; i++) {
            krein__tuned_clear(ctx[i], &t[i]);
            krein_ctx_destroy(ctx[i]);
        }
        drop(&r);
    }
}

/* A file's rows, in memory or read again: the same model. */
static void streamed(void) {
    rows r = planted(520, 0, 6);
    const char *path = write_rows("rows.csv", &r);
    test_bytes bytes[2];
    for (int i = 0; i < 2; i++) {
        krein_ctx *ctx = test_ctx(2);
        krein_model *m = NULL;
        ctx->keep_rows = i ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM;
        krein_data *data = from_file(ctx, path);
        CHECK(krein_train(ctx, data, NULL, NULL, &m) == KREIN_OK);
        bytes[i] = test_model_bytes(ctx, m);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    CHECK(test_same(bytes[0], bytes[1]));
    free(bytes[0].at);
    free(bytes[1].at);
    drop(&r);
}

/* ---- edges -------------------------------------------------------------- */

static void sparse_rows(void) {
    enum { ROWS = 520 };
    static char text[ROWS * 80];
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    krein_data_options options;
    krein_data *data = NULL;
    krein_tuned t;
    int at = 0;
    rows r = planted(ROWS, 0, 8);
    for (int64_t i = 0; i < ROWS; i++) {
        const float *x = r.x + i * COLUMNS;
        at += sprintf(text + at, "%.5g 1:%.5g 2:%.5g %d:1\n", sin(2 * (double)x[A]) * (double)x[B],
                      (double)x[A], (double)x[B], 3 + (int)(i % 9));
    }
    drop(&r);
    krein_data_options_init(&options);
    options.task = KREIN_TASK_REGRESSION;
    CHECK(krein_data_open(ctx, test_write("rows.libsvm", text), &options, &data) == KREIN_OK);
    CHECK(tune_data(ctx, data, &o, &t) == KREIN_OK);
    check_usable(&t, 11);
    CHECK(t.metric == KREIN_METRIC_DIAGONAL && t.factor);
    for (int64_t j = 2; t.factor && j < 11; j++)
        CHECK(t.factor[j] < fmin(t.factor[0], t.factor[1]));
    krein__tuned_clear(ctx, &t);
    krein_ctx_destroy(ctx);
}

static void no_time(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    rows r = planted(1500, 0, 3);
    krein_tuned t;
    o.deadline = krein__clock() - 1;
    CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
    check_usable(&t, COLUMNS);
    CHECK(t.metric == KREIN_METRIC_NONE && t.tries.n <= 3);
    krein__tuned_clear(ctx, &t);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void few_rows(void) {
    static const int64_t n[] = {2, 3, 5, 30};
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    for (int64_t i = 0; i < KREIN__COUNT(n); i++) {
        rows r = planted(n[i], 0, 9);
        krein_tuned t;
        krein_status st = tune_rows(ctx, &r, false, &o, &t);
        CHECK_ELSE(st == KREIN_OK, "%lld rows: %s\n", (long long)n[i], krein_message(ctx));
        check_usable(&t, COLUMNS);
        krein__tuned_clear(ctx, &t);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* Neither constant targets, nor constant columns, nor constant rows. */
static void constants(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_tune_options o = usual();
    for (int turn = 0; turn < 3; turn++) {
        rows r = planted(510, 0, 10);
        krein_tuned t;
        for (int64_t i = 0; i < r.n; i++) {
            if (turn == 0) r.y[i] = 3;
            for (int64_t j = 0; j < COLUMNS; j++)
                if (turn == 2 || (turn == 1 && j > A && j != B)) r.x[i * COLUMNS + j] = 7;
        }
        CHECK(tune_rows(ctx, &r, false, &o, &t) == KREIN_OK);
        check_usable(&t, COLUMNS);
        if (turn != 1) CHECK(t.metric == KREIN_METRIC_NONE);
        krein__tuned_clear(ctx, &t);
        krein_model *m = NULL; /* and a whole training */
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_status st = krein_train(ctx, data, NULL, NULL, &m);
        CHECK_ELSE(st == KREIN_OK, "turn %d: %s\n", turn, krein_message(ctx));
        krein_model_destroy(m);
        krein_data_close(data);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void within_bytes(void) {
    for (int threads_ = 1; threads_ <= 2; threads_++) {
        krein_ctx *ctx = test_ctx(threads_);
        krein_tune_options o = usual();
        rows r = planted(threads_ == 1 || test_sanitized() ? 950 : 1500, 5, 3);
        krein_tuned t;
        uint64_t before = krein_ctx_peak_bytes(ctx);
        CHECK(tune_rows(ctx, &r, true, &o, &t) == KREIN_OK);
        double most = (double)(krein_ctx_peak_bytes(ctx) - before),
               rows_bytes = 3.0 * (double)(r.n * r.d) * sizeof(float) + 1e6;
        CHECK(most <= krein__tune_bytes(r.n, r.d, 5, 1, threads_) + rows_bytes);
        krein__tuned_clear(ctx, &t);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Every allocation of a choice on few rows; every so many-th of one with a metric, and of one with
 * two heavy-tailed columns, a logarithm in the target. */
static void without_memory(void) {
    enum { FEW, METRIC, TAILS, KINDS };
    test_memory memory;
    for (int kind = 0; kind < KINDS; kind++) {
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_tune_options o = usual();
        rows r = planted(kind == METRIC ? 500 : kind == TAILS ? 200 : 24, 0, 3);
        o.logs = kind == TAILS;
        for (int64_t i = 0; kind == TAILS && i < r.n; i++) {
            float *x = r.x + i * COLUMNS;
            r.y[i] = (double)x[A] + pow((double)x[B], 4);
            x[A] = expf(2 * x[A]);
            x[B] = x[B] * x[B] * x[B] * x[B];
        }
        int64_t often = kind == METRIC ? 53 : 23, k = 0;
        int64_t stride = kind == FEW ? 1 : test_sanitized() ? 9 * often : often;
        for (bool more = true; more; k += stride) {
            krein_tuned t;
            test_fail_at(&memory, -1);
            problem p;
            CHECK(open_problem(ctx, open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION), &p) ==
                  KREIN_OK);
            test_fail_at(&memory, k);
            krein_status st = krein__tune(&p.job, &o, &t);
            more = test_has_failed(&memory);
            CHECK(st == (more ? KREIN_EMEMORY : KREIN_OK));
            if (st != KREIN_OK) CHECK(!t.kernel && !t.factor && !t.tries.tried && t.tries.n == 0);
            krein__tuned_clear(ctx, &t);
            test_fail_at(&memory, -1);
            close_problem(ctx, &p);
            CHECK_ELSE(test_live(&memory) == 0, "%lld blocks leak at %lld\n",
                       (long long)test_live(&memory), (long long)k);
            atomic_store(&memory.live, 0);
        }
        CHECK(k > 100);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(leave_one_out);
    RUN(machines_by_weights);
    RUN(finds_columns);
    RUN(finds_pair);
    RUN(both_starts);
    RUN(many_classes);
    RUN(no_signal);
    RUN(mixtures);
    RUN(asked);
    RUN(several_targets_and_weights);
    RUN(threads);
    RUN(streamed);
    RUN(sparse_rows);
    RUN(no_time);
    RUN(few_rows);
    RUN(constants);
    RUN(within_bytes);
    RUN(without_memory);
    return DONE();
}
