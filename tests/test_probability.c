/* test_probability.c -- probabilities from scores, and what predict and evaluate make of
 * them. Reference values are scikit-learn's. */
#include "common.h"

#include "model/probability.h"

static krein_ctx *ctx;

/* ---- from scores to probabilities ---------------------------------------- */

static int64_t scores_of(krein_head head, int64_t classes) {
    return classes == 2 ? 1 : head == KREIN_HEAD_VOTES ? classes * (classes - 1) / 2 : classes;
}

static void plain(int64_t k, krein_calibration *c) {
    c->slope = test_new(k, sizeof *c->slope);
    c->shift = test_new(k, sizeof *c->shift);
    for (int64_t j = 0; j < k; j++) c->slope[j] = 1;
}
static void plain_free(krein_calibration *c) {
    free(c->slope);
    free(c->shift);
}

static double probabilities(krein_head head, int64_t classes, const krein_calibration *c,
                            const double *score, double *p) {
    double *scratch = test_new(krein__probability_scratch(head, classes), sizeof *scratch), sum = 0;
    krein__probabilities(head, classes, c, score, p, scratch);
    for (int64_t j = 0; j < classes; j++) {
        CHECK(p[j] >= 0 && p[j] <= 1);
        sum += p[j];
    }
    CHECK_ABS(sum, 1, 1e-14);
    free(scratch);
    return sum;
}

static void two_classes(void) {
    double slope = 2, shift = -0.5, p[2];
    krein_calibration c = {.slope = &slope, .shift = &shift};
    static const double f[] = {-800, -40, -1, 0, 0.25, 3, 40, 800};
    for (int i = 0; i < 8; i++)
        for (int head = KREIN_HEAD_BEST; head <= KREIN_HEAD_VOTES; head++) {
            probabilities((krein_head)head, 2, &c, &f[i], p);
            CHECK_REL(p[1], 1 / (1 + exp(-(2 * f[i] - 0.5))), 1e-14);
            CHECK_REL(p[0], 1 / (1 + exp(2 * f[i] - 0.5)), 1e-14);
        }
}

static void softmax_values(void) {
    double slope[] = {1, 2, 1, 0.5}, shift[] = {0, -1, 0.5, 3}, p[4];
    krein_calibration c = {.slope = slope, .shift = shift};
    for (int64_t i = 0; i < 20; i++) {
        double f[4], e[4], sum = 0;
        for (int64_t j = 0; j < 4; j++) {
            f[j] = 5 * det(i, j, 0);
            sum += e[j] = exp(slope[j] * f[j] + shift[j]);
        }
        probabilities(KREIN_HEAD_BEST, 4, &c, f, p);
        for (int64_t j = 0; j < 4; j++) CHECK_REL(p[j], e[j] / sum, 1e-14);
    }
}

/* Scores of any size, alike or not: numbers in [0, 1] that add up to one. */
static void extremes(void) {
    static const double size[] = {0, 1e-320, 1, 30, 700, 1e5, 1e200, 1.7e308};
    static const int64_t counts[] = {2, 3, 7, 40};
    for (int head = KREIN_HEAD_BEST; head <= KREIN_HEAD_VOTES; head++)
        for (int n = 0; n < 4; n++) {
            int64_t classes = counts[n], k = scores_of((krein_head)head, classes);
            double *f = test_new(k, sizeof *f), *p = test_new(classes, sizeof *p);
            krein_calibration c;
            plain(k, &c);
            for (int steep = 0; steep < 2; steep++)
                for (int s = 0; s < 8; s++)
                    for (int way = 0; way < 5; way++) {
                        for (int64_t j = 0; j < k; j++) {
                            c.slope[j] = steep ? 1e10 : 1;
                            f[j] = way == 0   ? size[s]
                                   : way == 1 ? -size[s]
                                   : way == 2 ? (j % 2 ? size[s] : -size[s])
                                   : way == 3 ? size[s] * test_random()
                                              : size[test_random_below(8)] * test_random();
                        }
                        probabilities((krein_head)head, classes, &c, f, p);
                    }
            f[0] = NAN;
            double *scratch = test_new(classes * classes, sizeof *scratch);
            krein__probabilities((krein_head)head, classes, &c, f, p, scratch);
            for (int64_t j = 0; j < classes; j++) CHECK(isnan(p[j]));
            free(scratch);
            plain_free(&c);
            free(f);
            free(p);
        }
}

/* ---- coupling ------------------------------------------------------------ */

/* sum_{a<b} (r_ba p_a - r_ab p_b)^2 */
static double misfit(int64_t classes, const double *score, const double *p) {
    double sum = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            double r = 1 / (1 + exp(-score[krein__pair(classes, a, b)]));
            double e = r * p[a] - (1 - r) * p[b];
            sum += e * e;
        }
    return sum;
}

/* The stationary point by elimination: Qp + b e = 0, e'p = 1. */
static void by_elimination(int64_t classes, const double *score, double *x) {
    int64_t n = classes + 1;
    double *a = test_new(n * n, sizeof *a);
    for (int64_t i = 0; i < classes; i++) {
        a[i * n + classes] = a[classes * n + i] = 1;
        x[i] = 0;
        for (int64_t j = 0; j < classes; j++) {
            if (i == j) continue;
            double f =
                i < j ? score[krein__pair(classes, i, j)] : -score[krein__pair(classes, j, i)];
            double rj = 1 / (1 + exp(-f)); /* of j against i */
            a[i * n + i] += rj * rj;
            a[i * n + j] = -rj * (1 - rj);
        }
    }
    x[classes] = 1;
    test_solve(n, 1, a, x);
    free(a);
}

static void coupled(void) {
    static const int64_t counts[] = {3, 4, 10, 26};
    for (int n = 0; n < 4; n++)
        for (int turn = 0; turn < 20; turn++) {
            int64_t classes = counts[n], k = scores_of(KREIN_HEAD_VOTES, classes);
            double *f = test_new(k, sizeof *f), *p = test_new(classes, sizeof *p);
            double *x = test_new(classes + 1, sizeof *x);
            krein_calibration c;
            plain(k, &c);
            for (int64_t j = 0; j < k; j++) f[j] = (1 + turn) * test_random();
            probabilities(KREIN_HEAD_VOTES, classes, &c, f, p);
            by_elimination(classes, f, x);
            double best = misfit(classes, f, p);
            for (int64_t j = 0; j < classes; j++) CHECK_ABS(p[j], x[j], 1e-11);
            /* no other point of the simplex is better */
            for (int other = 0; other < 200; other++) {
                double sum = 0;
                for (int64_t j = 0; j < classes; j++)
                    sum += x[j] =
                        other % 2 ? fabs(test_random()) : fmax(0, p[j] + 0.01 * test_random());
                for (int64_t j = 0; j < classes; j++) x[j] /= sum;
                CHECK(misfit(classes, f, x) >= best - 1e-15);
            }
            plain_free(&c);
            free(f);
            free(p);
            free(x);
        }
}

/* Pairs that agree with each other give what they came from. */
static void coupled_consistent(void) {
    double want[6], f[15], p[6], sum = 0;
    krein_calibration c;
    plain(15, &c);
    for (int64_t j = 0; j < 6; j++) sum += want[j] = exp(3 * det(j, 1, 0));
    for (int64_t a = 0; a < 6; a++)
        for (int64_t b = a + 1; b < 6; b++) f[krein__pair(6, a, b)] = log(want[b] / want[a]);
    probabilities(KREIN_HEAD_VOTES, 6, &c, f, p);
    for (int64_t j = 0; j < 6; j++) CHECK_REL(p[j], want[j] / sum, 1e-11);
    /* a class that loses every pair has next to none; a ring of three has a third each */
    double ring[3] = {1e9, -1e9, 1e9};
    probabilities(KREIN_HEAD_VOTES, 3, &c, ring, p);
    for (int64_t j = 0; j < 3; j++) CHECK_ABS(p[j], 1.0 / 3, 1e-14);
    plain_free(&c);
}

/* ---- models ---------------------------------------------------------------- */

/* A model whose k scores are its k inputs: rows 0 .. k-1 of the data it was trained on are the unit
 * vectors, and their linear kernel values are given the weights. */
static krein_model *made(krein_ctx *on, krein_head head, int64_t classes, int64_t k) {
    int64_t n = k + 2 * classes;
    float *x = test_new(n * k, sizeof *x);
    double *y = test_new(n, sizeof *y);
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_data_options d;
    krein_train_options o;
    krein_data_options_init(&d);
    krein_train_options_init(&o);
    d.task = KREIN_TASK_CLASSIFICATION;
    d.scale = KREIN_SCALE_NONE;
    o.kernel = "linear";
    o.map = "exact";
    o.lambda = 1;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (double)(i % classes);
        for (int64_t j = 0; j < k; j++) x[i * k + j] = i < k ? i == j : (float)det(i, j, 0);
    }
    CHECK(krein_data_from_dense(on, n, k, x, k, y, NULL, &d, &data) == KREIN_OK);
    CHECK(krein_train(on, data, &o, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    free(x);
    free(y);
    if (!m || m->map->R != n) {
        printf("%s\n", krein_message(on));
        exit(1);
    }
    m->head = head;
    m->k = k;
    krein__free(on, m->w);
    krein__free(on, m->intercept);
    m->w = krein__zalloc(on, n * k, sizeof *m->w);
    m->intercept = krein__zalloc(on, k, sizeof *m->intercept);
    m->calibration.slope = krein__zalloc(on, k, sizeof *m->calibration.slope);
    m->calibration.shift = krein__zalloc(on, k, sizeof *m->calibration.shift);
    for (int64_t j = 0; j < k; j++) {
        m->w[j * k + j] = 1;
        m->calibration.slope[j] = 1;
    }
    return m;
}

static void forget(krein_model *m) {
    krein__free(m->ctx, m->calibration.slope);
    krein__free(m->ctx, m->calibration.shift);
    m->calibration = (krein_calibration){0};
}

/* What predict said of all rows. */
typedef struct heard {
    int64_t n, nclasses;
    double p[4000];
    bool none;
} heard;

static krein_status listen(void *user, const krein_prediction *p) {
    heard *h = user;
    h->nclasses = p->nclasses;
    h->none = h->none || !p->probabilities;
    for (int64_t c = 0; p->probabilities && c < p->nclasses; c++)
        h->p[h->n * p->nclasses + c] = p->probabilities[c];
    h->n++;
    return KREIN_OK;
}

static bool alike(const heard *a, const heard *b) {
    bool same = a->n == b->n && a->nclasses == b->nclasses;
    for (int64_t i = 0; i < a->n * a->nclasses; i++) same = same && a->p[i] == b->p[i];
    return same;
}

static krein_data *rows_of(krein_ctx *on, int64_t n, int64_t d, const float *x, const double *y) {
    krein_data *data = NULL;
    CHECK(krein_data_from_dense(on, n, d, x, d, y, NULL, NULL, &data) == KREIN_OK);
    return data;
}

static krein_status hear(krein_ctx *on, const krein_model *m, int64_t n, const float *x, heard *h) {
    memset(h, 0, sizeof *h);
    krein_data *data = rows_of(on, n, m->k, x, NULL);
    krein_status st = krein_predict(on, m, data, listen, h);
    krein_data_close(data);
    return st;
}

/* Trained, saved, loaded: the same probabilities to the bit, on any number of threads; a model
 * without them says so. */
static void predicted(void) {
    static const struct {
        krein_head head;
        int64_t classes;
    } kinds[] = {
        {KREIN_HEAD_BEST, 2}, {KREIN_HEAD_BEST, 5}, {KREIN_HEAD_VOTES, 2}, {KREIN_HEAD_VOTES, 6}};
    static heard h, again;
    for (int kind = 0; kind < 4; kind++) {
        krein_head head = kinds[kind].head;
        int64_t classes = kinds[kind].classes, k = scores_of(head, classes), n = 500;
        krein_model *m = made(ctx, head, classes, k), *loaded = NULL;
        krein_model_info info = KREIN_SIZED(krein_model_info);
        float *x = test_dense(n, k, 0.3);
        double f[15], p[6];
        for (int64_t j = 0; j < k; j++) {
            m->calibration.slope[j] = 1.5 + (double)j;
            m->calibration.shift[j] = det(j, 0, 0);
        }
        CHECK(hear(ctx, m, n, x, &h) == KREIN_OK && h.n == n && !h.none && h.nclasses == classes);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < k; j++) f[j] = (double)x[i * k + j];
            probabilities(head, classes, &m->calibration, f, p);
            for (int64_t c = 0; c < classes; c++) CHECK_ABS(h.p[i * classes + c], p[c], 1e-13);
        }
        ctx->threads = 3;
        CHECK(hear(ctx, m, n, x, &again) == KREIN_OK);
        CHECK(alike(&h, &again));
        ctx->threads = 1;
        CHECK(krein_model_save(ctx, m, test_path("m")) == KREIN_OK);
        CHECK(krein_model_load(ctx, test_path("m"), &loaded) == KREIN_OK);
        krein_model_describe(loaded, &info);
        CHECK(info.probabilities);
        CHECK(hear(ctx, loaded, n, x, &again) == KREIN_OK);
        CHECK(alike(&h, &again));
        forget(loaded);
        CHECK(hear(ctx, loaded, n, x, &again) == KREIN_OK && again.none);
        krein_model_destroy(m);
        krein_model_destroy(loaded);
        free(x);
    }
}

/* scikit-learn's log_loss and roc_auc_score on the same numbers, which have ties. */
static void metrics(void) {
    enum { N = 120 };
    float x[N * 3];
    double y[N];
    krein_metrics got = KREIN_SIZED(krein_metrics);
    krein_model *m = made(ctx, KREIN_HEAD_BEST, 2, 1);
    m->calibration.slope[0] = 1.5;
    m->calibration.shift[0] = -0.25;
    for (int64_t i = 0; i < N; i++) {
        x[i] = (float)(round(8 * det(i, 0, 0.2)) / 4);
        y[i] = det(i, 0, 0.2) + det(i, 5, 0.7) > 0;
    }
    krein_data *data = rows_of(ctx, N, 1, x, y);
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK_REL(got.log_loss, .5146226377272524, 1e-12);
    CHECK_REL(got.auc, .8427340928035566, 1e-12);
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    /* every score wrong beyond measure: the loss of the smallest probability */
    for (int64_t i = 0; i < N; i++) x[i] = y[i] > 0 ? -1e6f : 1e6f;
    data = rows_of(ctx, N, 1, x, y);
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK_REL(got.log_loss, -log(1e-15), 1e-12);
    CHECK(got.auc == 0 && got.accuracy == 0);
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    /* one class alone has no area */
    data = rows_of(ctx, 5, 1, x, (double[]){1, 1, 1, 1, 1});
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK(isnan(got.auc) && isfinite(got.log_loss));
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    /* without probabilities neither */
    forget(m);
    data = rows_of(ctx, N, 1, x, y);
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK(isnan(got.auc) && isnan(got.log_loss) && got.n == N);
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    krein_model_destroy(m);

    static const double shift[] = {0, 0.5, -0.75};
    m = made(ctx, KREIN_HEAD_BEST, 3, 3);
    for (int64_t i = 0; i < N; i++) {
        double best = -10;
        for (int64_t j = 0; j < 3; j++) {
            double f = round(8 * det(i, j, 0.2)) / 4, noisy = f + 2 * det(i, j + 7, 0.7);
            x[i * 3 + j] = (float)f;
            if (noisy > best) {
                best = noisy;
                y[i] = (double)j;
            }
        }
    }
    for (int64_t j = 0; j < 3; j++) {
        m->calibration.slope[j] = 1.25;
        m->calibration.shift[j] = shift[j];
    }
    data = rows_of(ctx, N, 3, x, y);
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK_REL(got.log_loss, 1.0258140668638545, 1e-12);
    CHECK(isnan(got.auc));
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    krein_model_destroy(m);
}

/* Many rows, so that the scores outgrow their first room and blocks: against all pairs. */
static void large_area(void) {
    int64_t n = test_sanitized() ? 2500 : 6000;
    float *x = test_new(n, sizeof *x);
    double *y = test_new(n, sizeof *y), twice = 0, of[2] = {0};
    krein_model *m = made(ctx, KREIN_HEAD_VOTES, 2, 1);
    krein_metrics got = KREIN_SIZED(krein_metrics);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)test_random_below(500) / 8;
        y[i] = (double)test_random_below(600) > 8 * (double)x[i];
        of[y[i] > 0]++;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (y[i] > y[j]) twice += x[i] > x[j] ? 2 : x[i] == x[j];
    krein_data *data = rows_of(ctx, n, 1, x, y);
    CHECK(krein_evaluate(ctx, m, data, &got) == KREIN_OK);
    CHECK_REL(got.auc, twice / 2 / (of[0] * of[1]), 1e-14);
    krein_metrics_clear(ctx, &got);
    krein_data_close(data);
    krein_model_destroy(m);
    free(x);
    free(y);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *own = test_ctx_with(1, &memory);
    krein_model *m = made(own, KREIN_HEAD_VOTES, 3, 3);
    float *x = test_dense(50, 3, 0);
    double *y = test_new(50, sizeof *y);
    static heard h;
    for (int64_t i = 0; i < 50; i++) y[i] = (double)(i % 3);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_metrics got = KREIN_SIZED(krein_metrics);
        krein_status st = krein_data_from_dense(own, 50, 3, x, 3, y, NULL, NULL, &data);
        memset(&h, 0, sizeof h);
        if (st == KREIN_OK) st = krein_predict(own, m, data, listen, &h);
        if (st == KREIN_OK) st = krein_evaluate(own, m, data, &got);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        if (st == KREIN_OK) krein_metrics_clear(own, &got);
        krein_data_close(data);
    }
    krein_model_destroy(m);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(own);
    free(x);
    free(y);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(two_classes);
    RUN(softmax_values);
    RUN(extremes);
    RUN(coupled);
    RUN(coupled_consistent);
    RUN(predicted);
    RUN(metrics);
    RUN(large_area);
    RUN(every_allocation_fails);
    krein_ctx_destroy(ctx);
    return DONE();
}
