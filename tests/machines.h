/* machines.h -- small problems for tests of machines on the kernel matrix: rows of det(), a job and
 * a model around them, kernels written out, and the optimality conditions. */
#ifndef KREIN_TEST_MACHINES_H
#define KREIN_TEST_MACHINES_H

#include "fitted.h"

#include "learn/kernel_machine.h"

enum { D = 3 };
static const double SIGMA = 1.1;
static const char *const GAUSSIAN = "gaussian(sigma=1.1)";

/* ---- a job ---------------------------------------------------------------- */

typedef struct fixture {
    int64_t n;
    float *x;
    double *y;
    source s;
    krein_model model;
    krein_job job;
} fixture;

/* Noisy classes, or a smooth function; the first rows are of classes 0, 1, 2, ... */
static inline double label(int64_t i, int classes) {
    double t = det(i, 0, .4) + .6 * det(i, 1, .4) * det(i, 2, .4) + .35 * det(i, 9, 1.3);
    if (classes == 0) return 3 * t + 7;
    if (i < classes) return (double)i;
    return fmin(classes - 1, fmax(0, floor((t + 1.2) / 2.4 * classes)));
}
static inline void open_fixture(fixture *f, int64_t n, int classes, const char *kernel,
                                krein_head head) {
    *f = (fixture){.n = n, .x = test_dense(n, D, .4), .y = test_new(n, sizeof(double))};
    for (int64_t i = 0; i < n; i++) f->y[i] = label(i, classes);
    source_dense(&f->s, n, D, f->x, f->y,
                 classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION);
    f->model = (krein_model){.ctx = ctx, .encoding = f->s.e, .head = head};
    f->model.map = need("exact", kernel, 1, &f->s);
    f->model.k = krein__head_scores(head, &f->s.e);
    f->model.w = test_new(n * f->model.k, sizeof(double));
    f->model.intercept = test_new(f->model.k, sizeof(double));
}
static inline krein_job *job_of(fixture *f) {
    f->job = (krein_job){.ctx = ctx,
                         .data = f->s.data,
                         .rows = f->s.stream,
                         .n = f->n,
                         .model = &f->model,
                         .lambda = -1,
                         .seed = 5,
                         .loo = NAN};
    return &f->job;
}
static inline void close_fixture(fixture *f) {
    krein__map_destroy(f->model.map);
    free(f->model.w);
    free(f->model.intercept);
    source_close(&f->s);
    free(f->x);
    free(f->y);
}

static inline double *points(int64_t n, double s) {
    double *x = test_new(n * D, sizeof *x);
    for (int64_t i = 0; i < n * D; i++) x[i] = (double)(float)det(i / D, i % D, s);
    return x;
}
static inline double gaussian(const double *x, const double *y, double sigma) {
    double sum = 0;
    for (int j = 0; j < D; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return exp(-sum / (2 * sigma * sigma));
}
static inline double indefinite(const double *x, const double *y) {
    return gaussian(x, y, .7) - .8 * gaussian(x, y, 1.9);
}
static inline double hyperbolic(const double *x, const double *y) {
    double sum = 0;
    for (int j = 0; j < D; j++) sum += x[j] * y[j];
    return tanh(.8 * sum - .4);
}
static inline double plain(const double *x, const double *y) { return gaussian(x, y, SIGMA); }
typedef double kernel_fn(const double *x, const double *y);

/* sum_i w_ic k(x, x_i) + b_c */
static inline double value(const fixture *f, kernel_fn *k, const double *rows, const double *x,
                           int64_t c) {
    double sum = f->model.intercept[c];
    for (int64_t i = 0; i < f->n; i++) sum += f->model.w[i * f->model.k + c] * k(x, rows + i * D);
    return sum;
}

/* Of machine c whose row i has the target y and the cost C_i. */
static inline void check_conditions(const fixture *f, kernel_fn *k, const double *x, int64_t c,
                                    const double *y, const double *C, bool squared, double tol) {
    double sum = 0, scale = 0;
    int64_t support = 0;
    for (int64_t i = 0; i < f->n; i++) {
        double a = f->model.w[i * f->model.k + c] * y[i], slack = squared ? a / (2 * C[i]) : 0;
        double margin = y[i] * value(f, k, x, x + i * D, c) - 1 + slack;
        sum += f->model.w[i * f->model.k + c];
        scale += fabs(a);
        support += a > 0;
        CHECK(a >= 0 && (squared || a <= C[i] * (1 + 1e-12)));
        if (a == 0) CHECK(margin >= -tol);
        bool bound = !squared && a >= C[i] * (1 - 1e-12);
        if (bound) CHECK(margin <= tol);
        if (a > 0 && !bound) CHECK_ABS(margin, 0, tol);
    }
    CHECK(support > 0 && support < f->n);
    CHECK_ABS(sum, 0, 1e-9 * scale);
}

#endif
