/* manifolds.h -- rows on curves, few of them with labels: numbers, or classes that a graph of all
 * rows tells apart. */
#ifndef TESTS_MANIFOLDS_H
#define TESTS_MANIFOLDS_H

#include "train.h"

#include "model/model.h"

/* Numbers on a curve in the plane, or two moons; every `each`-th row has a label. */
static inline rows curve(int64_t n, int64_t k, int64_t each, bool twice) {
    rows r = make_rows(n, 2, k, 11);
    for (int64_t i = 0; i < n; i++) {
        double t = 3 * (double)r.x[2 * i], noise = .1 * ((double)r.x[2 * i + 1] - .5);
        r.x[2 * i] = (float)(cos(2 * t) + noise);
        r.x[2 * i + 1] = (float)(sin(2 * t) * t / 2 + noise);
        for (int64_t c = 0; c < k; c++)
            r.y[i * k + c] = i % each ? NAN : sin(t + (double)c) + .05 * det(i, c, 0) + 3;
    }
    for (int64_t i = 2; twice && i < n; i += 5) /* equal rows, some with labels of their own */
        memcpy(r.x + 2 * i, r.x + 2 * (i - 2), 2 * sizeof *r.x);
    return r;
}

static inline rows moons(int64_t n, int64_t each, int classes) {
    rows r = make_rows(n, 2, 1, 5);
    for (int64_t i = 0; i < n; i++) {
        int c = (int)(i % classes);
        double t = 3.1416 * (double)r.x[2 * i], noise = .16 * ((double)r.x[2 * i + 1] - .5);
        double side = c % 2 ? -1 : 1;
        r.x[2 * i] = (float)(side * cos(t) + (double)(c % 2) + noise + 3 * (double)(c / 2));
        r.x[2 * i + 1] = (float)(side * sin(t) + .3 * (c % 2) + noise);
        r.y[i] = i / classes % each ? NAN : (double)c;
    }
    return r;
}

/* Trains, and predicts the rows themselves to f; *report may be NULL. */
static inline void predict_own(krein_ctx *ctx, const rows *r, const double *weight,
                               krein_train_options o, krein_report *report, double *f) {
    krein_model *m = NULL;
    krein_data *data = as_they_are(ctx, r, weight, KREIN_TASK_REGRESSION);
    krein_status st = krein_train(ctx, data, &o, report, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", o.learner, krein_message(ctx));
    CHECK(m && krein_predict_dense(ctx, m, r->n, r->d, r->x, r->d, f) == KREIN_OK);
    krein_model_destroy(m);
    krein_data_close(data);
}

/* Error on rows whose class is known, by a model that saw few of them. */
static inline double moons_error(krein_ctx *ctx, const char *learner, const char *map, int classes,
                                 int64_t each) {
    enum { N = 400 };
    rows r = moons(N, each, classes);
    krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_model *m = NULL;
    double *f = test_new(N * classes, 8);
    int wrong = 0;
    krein_train_options o = with(learner, "gaussian(sigma=0.15)", map, -1);
    krein_status st = krein_train(ctx, data, &o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", learner, krein_message(ctx));
    int64_t k = m ? m->k : 1;
    CHECK(m && krein_predict_dense(ctx, m, N, 2, r.x, 2, f) == KREIN_OK);
    for (int i = 0; m && i < N; i++) wrong += krein__model_decide(m, f + i * k) != i % classes;
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    free(f);
    return wrong / (double)N;
}

/* It is refused with that in the message. */
static inline void refused(const rows *r, krein_train_options o, krein_status want,
                           const char *part) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    krein_data *data = as_they_are(ctx, r, NULL, KREIN_TASK_REGRESSION);
    CHECK_ELSE(krein_train(ctx, data, &o, NULL, &m) == want, "%s: %s\n", o.learner,
               krein_message(ctx));
    CHECK(!m);
    CHECK_HAS(krein_message(ctx), part);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* Two moons, every allocation failing once: nothing is lost, and the status says why. */
static inline void every_allocation_of(const char *learner, const char *map, double lambda) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = moons(90, 2, 2);
    krein_train_options o = with(learner, "gaussian(sigma=0.4)", map, lambda);
    o.probabilities = true;
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_data_options d;
        krein_model *m = NULL;
        krein_data_options_init(&d);
        d.task = KREIN_TASK_CLASSIFICATION;
        krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
        krein_data_close(data);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

#endif
