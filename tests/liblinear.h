/* liblinear.h -- LIBLINEAR as an oracle for linear machines on dense float32 features, without an
 * intercept.
 *
 *   test_linear t = {.solver = MCSVM_CS, .C = 1, .n = n, .D = D, .x = x, .y = y, .classes = 3};
 *   if (!test_linear_train(&t, 1e-6, w)) SKIP("LIBLINEAR is not there");
 *   CHECK_REL(mine, test_linear_objective(&t, w, NULL, NULL), 1e-4);
 *
 * Solvers (names of linear.h): L2R_L1LOSS_SVC_DUAL 3, L2R_L2LOSS_SVC_DUAL 1, L2R_L2LOSS_SVC 2 with
 * y = -1, +1; MCSVM_CS 4 with y = 0 .. classes - 1; L2R_L2LOSS_SVR 11, L2R_L2LOSS_SVR_DUAL 12,
 * L2R_L1LOSS_SVR_DUAL 13. A test that includes this cannot have functions of its own called train
 * or predict. Without the library (CMake then does not define KREIN_LIBLINEAR) training says so,
 * and objectives remain.
 */
#ifndef KREIN_TEST_LIBLINEAR_H
#define KREIN_TEST_LIBLINEAR_H

#include "common.h"

#ifdef KREIN_LIBLINEAR
/* Words too common to give away. */
#define problem liblinear_problem
#define parameter liblinear_parameter
#define model liblinear_model
#include <linear.h>
#undef problem
#undef parameter
#undef model
enum { test_linear_there = 1 };
#else
enum { test_linear_there = 0 };
enum {
    L2R_L2LOSS_SVC_DUAL = 1,
    L2R_L2LOSS_SVC = 2,
    L2R_L1LOSS_SVC_DUAL = 3,
    MCSVM_CS = 4,
    L2R_L2LOSS_SVR = 11,
    L2R_L2LOSS_SVR_DUAL = 12,
    L2R_L1LOSS_SVR_DUAL = 13
};
#endif

typedef struct test_linear {
    int solver;
    double C, epsilon; /* epsilon: of regression */
    int64_t n, D;
    const float *x;  /* n x D */
    const double *y; /* n */
    int64_t classes; /* of MCSVM_CS; else 0 */
} test_linear;

#ifdef KREIN_LIBLINEAR
static inline void test_linear_silent(const char *text) { (void)text; }

/* The weights of LIBLINEAR's model, by class code or for the class +1. */
static inline void test_linear_weights(const test_linear *t, const struct liblinear_model *m,
                                       double *w) {
    int64_t k = t->classes > 0 ? t->classes : 1;
    memset(w, 0, (size_t)(t->D * k) * sizeof *w);
    for (int64_t j = 0; j < t->D; j++) {
        if (t->classes == 0)
            w[j] = t->solver > 10 || m->label[0] == 1 ? m->w[j] : -m->w[j];
        else
            for (int c = 0; c < m->nr_class; c++)
                w[j * k + m->label[c]] = m->w[j * m->nr_class + c];
    }
}
#endif

/* w: D x max(classes, 1), row-major. tol: LIBLINEAR's -e. false: no library. */
static inline bool test_linear_train(const test_linear *t, double tol, double *w) {
#ifdef KREIN_LIBLINEAR
    struct feature_node *node = test_new(t->n * (t->D + 1), sizeof *node);
    struct feature_node **x = test_new(t->n, sizeof *x);
    double *y = test_new(t->n, sizeof *y);
    memcpy(y, t->y, (size_t)t->n * sizeof *y);
    for (int64_t i = 0; i < t->n; i++) {
        x[i] = node + i * (t->D + 1);
        for (int64_t j = 0; j < t->D; j++)
            x[i][j] = (struct feature_node){(int)j + 1, (double)t->x[i * t->D + j]};
        x[i][t->D].index = -1;
    }
    struct liblinear_problem p = {.l = (int)t->n, .n = (int)t->D, .y = y, .x = x, .bias = -1};
    struct liblinear_parameter o = {
        .solver_type = t->solver, .C = t->C, .p = t->epsilon, .eps = tol};
    set_print_string_function(test_linear_silent);
    struct liblinear_model *m = train(&p, &o);
    test_linear_weights(t, m, w);
    free_and_destroy_model(&m);
    free(node);
    free(x);
    free(y);
    return true;
#else
    (void)t, (void)tol, (void)w;
    return false;
#endif
}

/* The loss of one row with the scores f. */
static inline double test_linear_loss(const test_linear *t, double y, const double *f) {
    double most = 0, miss;
    switch (t->solver) {
    case MCSVM_CS:
        for (int64_t c = 0; c < t->classes; c++)
            if (c != (int64_t)y) most = fmax(most, 1 + f[c] - f[(int64_t)y]);
        return most;
    case L2R_L1LOSS_SVC_DUAL:
        return fmax(0, 1 - y * f[0]);
    case L2R_L1LOSS_SVR_DUAL:
        return fmax(0, fabs(y - f[0]) - t->epsilon);
    case L2R_L2LOSS_SVR:
    case L2R_L2LOSS_SVR_DUAL:
        miss = fmax(0, fabs(y - f[0]) - t->epsilon);
        return miss * miss;
    default:
        miss = fmax(0, 1 - y * f[0]);
        return miss * miss;
    }
}

/* 1/2 |w|^2 + sum of C times losses of w'x + b. b: max(classes, 1), NULL: zeros; cost: n, in
 * place of C, or NULL. */
static inline double test_linear_objective(const test_linear *t, const double *w, const double *b,
                                           const double *cost) {
    int64_t k = t->classes > 0 ? t->classes : 1;
    double value = 0, *f = test_new(k, sizeof *f);
    for (int64_t e = 0; e < t->D * k; e++) value += w[e] * w[e] / 2;
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t c = 0; c < k; c++) f[c] = b ? b[c] : 0;
        for (int64_t j = 0; j < t->D; j++)
            for (int64_t c = 0; c < k; c++) f[c] += (double)t->x[i * t->D + j] * w[j * k + c];
        value += (cost ? cost[i] : t->C) * test_linear_loss(t, t->y[i], f);
    }
    free(f);
    return value;
}

#endif
