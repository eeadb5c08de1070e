/* svm.h -- rows, options and trained models for tests of the learners svm and svr. */
#ifndef KREIN_TEST_SVM_H
#define KREIN_TEST_SVM_H

#include "common.h"

#include "model/model.h"

typedef struct rows {
    int64_t n, d, k;
    float *x;
    double *y, *weight;
} rows;

static inline void drop(rows *r) {
    free(r->x);
    free(r->y);
    free(r->weight);
}
/* classes = 0: k smooth functions with noise; else classes by their sectors, some wrong. */
static inline rows make_rows(int64_t n, int classes, int64_t k, uint64_t seed) {
    rows r = {n, 3, k, test_new(n * 3, sizeof(float)), test_new(n * k, sizeof(double)), NULL};
    test_random_state = 88172645463325252u ^ seed * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 20; i++) test_random_bits();
    for (int64_t i = 0; i < n; i++) {
        float *x = r.x + i * 3;
        for (int j = 0; j < 3; j++) x[j] = (float)test_random();
        double angle = atan2((double)x[1] + .3 * test_random(), (double)x[0]) / 6.2831853 + .5;
        if (classes) r.y[i] = fmin(classes - 1, floor(angle * classes));
        for (int64_t c = 0; !classes && c < k; c++)
            r.y[i * k + c] = (c ? 40 : 5) * sin(2 * (double)x[c % 3]) + 3 + .4 * test_random();
    }
    return r;
}
static inline krein_data *open_rows(krein_ctx *ctx, const rows *r, krein_task task) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = task;
    o.scale = KREIN_SCALE_NONE;
    if (r->k > 1) o.targets = r->k;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, r->weight, &o, &data) != KREIN_OK)
        exit(1);
    return data;
}
static const char *const LINEAR = "explicit", *const RANDOM = "rff(D=120)";
static inline krein_train_options options_of(const char *learner, const char *map) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.learner = learner;
    o.map = map;
    o.kernel = map == LINEAR ? "linear" : "gaussian(sigma=0.7)";
    return o;
}
static inline krein_task task_of(const char *learner) {
    return learner[2] == 'm' ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
}
static inline krein_model *fitted(krein_ctx *ctx, const rows *r, const krein_train_options *o,
                                  krein_report *report) {
    krein_data *data = open_rows(ctx, r, task_of(o->learner));
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, report, &m);
    if (st != KREIN_OK) printf("%s: %s\n", o->learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(data);
    if (!m) exit(1);
    return m;
}

#endif
