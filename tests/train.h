/* train.h -- generated rows, and models trained on them. */
#ifndef KREIN_TEST_TRAIN_H
#define KREIN_TEST_TRAIN_H

#include "common.h"

#include <stdint.h>

/* ---- rows --------------------------------------------------------------- */

typedef struct rows {
    int64_t n, d, k;
    float *x;
    double *y;
} rows;

static inline void drop(rows *r) {
    free(r->x);
    free(r->y);
}

static inline double uniform(void) { return (test_random() + 1) / 2; }
static inline double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

static inline rows make_rows(int64_t n, int64_t d, int64_t k, uint64_t seed) {
    rows r = {n, d, k, test_new(n * d, sizeof(float)), test_new(n * k, sizeof(double))};
    test_random_state = 88172645463325252u ^ (seed * 0x9e3779b97f4a7c15u);
    for (int i = 0; i < 20; i++) test_random_bits();
    for (int64_t i = 0; i < n * d; i++) r.x[i] = (float)uniform();
    return r;
}

/* Friedman's function, variance about 24; the noise has standard deviation s. */
static inline rows friedman(int64_t n, double s, uint64_t seed) {
    rows r = make_rows(n, 6, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        const float *x = r.x + i * 6;
        r.y[i] = 10 * sin(3.14159265 * (double)x[0] * (double)x[1]) +
                 20 * pow((double)x[2] - .5, 2) + 10 * (double)x[3] + 5 * (double)x[4] +
                 s * normal();
    }
    return r;
}

/* Classes on rings around the middle: not linear. */
static inline rows rings(int64_t n, int classes, uint64_t seed) {
    rows r = make_rows(n, 3, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        double a = (double)r.x[i * 3] - .5, b = (double)r.x[i * 3 + 1] - .5, d2 = a * a + b * b;
        r.y[i] = classes == 2 ? (d2 < .08 ? 1 : -1) : d2 < .05 ? 3 : d2 < .15 ? 1 : 7;
    }
    return r;
}

/* Two targets of unlike size. */
static inline rows two_targets(int64_t n) {
    rows one = friedman(n, .1, 5), r = make_rows(n, 6, 2, 5);
    for (int64_t i = 0; i < n; i++) {
        r.y[2 * i] = one.y[i];
        r.y[2 * i + 1] = 1000 * (double)r.x[i * 6];
    }
    drop(&one);
    return r;
}

static inline krein_data *open_scaled(krein_ctx *ctx, const rows *r, const double *weight,
                                      krein_task task, krein_scale scale) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = task;
    o.scale = scale;
    if (r->k > 1) o.targets = r->k;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, weight, &o, &data) != KREIN_OK)
        exit(1);
    return data;
}

static inline krein_data *open_rows(krein_ctx *ctx, const rows *r, const double *weight,
                                    krein_task task) {
    krein_data_options o;
    krein_data_options_init(&o);
    return open_scaled(ctx, r, weight, task, o.scale);
}

static inline krein_data *as_they_are(krein_ctx *ctx, const rows *r, const double *weight,
                                      krein_task task) {
    return open_scaled(ctx, r, weight, task, KREIN_SCALE_NONE);
}

/* As a CSV file with a header, y first. */
static inline const char *write_rows(const char *name, const rows *r) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y");
    for (int64_t j = 0; j < r->d; j++) fprintf(f, ",x%d", (int)j + 1);
    for (int64_t i = 0; i < r->n; i++) {
        fprintf(f, "\n%.9g", r->y[i]);
        for (int64_t j = 0; j < r->d; j++) fprintf(f, ",%.9g", (double)r->x[i * r->d + j]);
    }
    fprintf(f, "\n");
    fclose(f);
    return path;
}

/* ---- options ------------------------------------------------------------ */

static inline krein_train_options defaults(void) {
    krein_train_options o;
    krein_train_options_init(&o);
    return o;
}

static inline krein_train_options with(const char *learner, const char *kernel, const char *map,
                                       double lambda) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernel = kernel;
    o.map = map;
    o.lambda = lambda;
    return o;
}
/* A kernel, and a quarter of the rows held out. */
static inline krein_train_options gaussian_options(const char *learner, const char *map) {
    krein_train_options o = defaults();
    o.kernel = "gaussian(sigma=1.5)";
    o.learner = learner;
    o.map = map;
    o.holdout = .25;
    return o;
}

/* ---- where the rows are ------------------------------------------------- */

static inline krein_data *from_memory(krein_ctx *ctx, const void *what) {
    return open_rows(ctx, what, NULL, KREIN_TASK_AUTO);
}
static inline krein_data *from_file(krein_ctx *ctx, const void *path) {
    krein_data *data = NULL;
    if (krein_data_open(ctx, path, NULL, &data) != KREIN_OK) exit(1);
    return data;
}

/* ---- training ----------------------------------------------------------- */

static inline krein_status train_rows(krein_ctx *ctx, const rows *r, krein_task task,
                                      const krein_train_options *o, krein_report *report,
                                      krein_model **m) {
    krein_data *data = open_rows(ctx, r, NULL, task);
    krein_status st = krein_train(ctx, data, o, report, m);
    krein_data_close(data);
    return st;
}

/* The plan has as much memory as the training takes, or more. */
static inline void check_plan(int threads, const rows *r, krein_task task,
                              const krein_train_options *o) {
    krein_ctx *one = test_ctx(threads), *two = test_ctx(threads);
    krein_report plan = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    krein_data *data = open_rows(one, r, NULL, task);
    CHECK(krein_plan(one, data, o, &plan) == KREIN_OK);
    krein_data_close(data);
    CHECK(train_rows(two, r, task, o, NULL, &m) == KREIN_OK);
    CHECK_ELSE(krein_ctx_peak_bytes(two) <= plan.bytes_peak, "%s: %.0f bytes, planned %.0f\n",
               o->learner, (double)krein_ctx_peak_bytes(two), (double)plan.bytes_peak);
    krein_report_clear(one, &plan);
    krein_model_destroy(m);
    krein_ctx_destroy(one);
    krein_ctx_destroy(two);
}

#endif
