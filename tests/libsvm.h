/* libsvm.h -- LIBSVM as an oracle for machines on a kernel matrix.
 *
 *   test_svm t = {.n = n, .K = K, .y = y, .C = 2, .tol = 1e-9, .alpha = alpha};
 *   if (!test_svm_train(&t)) SKIP("LIBSVM is not there");
 *   CHECK_REL(mine, t.objective, 1e-6);
 *
 * Classes are y = -1, +1; LIBSVM rounds K to float32. Without the library (CMake then does not
 * define KREIN_LIBSVM) training says so.
 */
#ifndef KREIN_TEST_LIBSVM_H
#define KREIN_TEST_LIBSVM_H

#include "common.h"

#ifdef KREIN_LIBSVM
#include <libsvm/svm.h>
enum { test_svm_there = 1 };
#else
enum { test_svm_there = 0 };
#endif

typedef struct test_svm {
    bool regression;
    int64_t n;
    const double *K; /* n x n */
    const double *y; /* n */
    double C, epsilon, tol;
    double *alpha;    /* out, n: f(x) = sum alpha k(x, x_i) + b */
    double b;         /* out */
    double objective; /* out: of the dual, as LIBSVM prints it */
} test_svm;

#ifdef KREIN_LIBSVM
static _Thread_local double test_svm_printed; /* the objective */
static inline void test_svm_listen(const char *text) {
    const char *at = strstr(text, "obj = ");
    if (at) test_svm_printed = strtod(at + 6, NULL);
}
#endif

static inline bool test_svm_train(test_svm *t) {
#ifdef KREIN_LIBSVM
    int64_t n = t->n;
    struct svm_node *nodes = test_new(n * (n + 2), sizeof *nodes), **row = test_new(n, 8);
    struct svm_problem problem = {.l = (int)n, .x = row, .y = test_new(n, sizeof(double))};
    struct svm_parameter p = {.svm_type = t->regression ? EPSILON_SVR : C_SVC,
                              .kernel_type = PRECOMPUTED,
                              .cache_size = 50,
                              .C = t->C,
                              .p = t->epsilon,
                              .eps = t->tol,
                              .shrinking = 1};
    for (int64_t i = 0; i < n; i++) {
        row[i] = nodes + i * (n + 2);
        row[i][0].value = (double)(i + 1);
        for (int64_t j = 0; j < n; j++)
            row[i][j + 1] = (struct svm_node){(int)j + 1, t->K[i * n + j]};
        row[i][n + 1].index = -1;
        problem.y[i] = t->y[i];
        t->alpha[i] = 0;
    }
    svm_set_print_string_function(test_svm_listen);
    struct svm_model *m = svm_train(&problem, &p);
    double sign = !t->regression && m->label[0] != 1 ? -1 : 1;
    for (int i = 0; i < m->l; i++) t->alpha[m->sv_indices[i] - 1] = sign * m->sv_coef[0][i];
    t->b = -sign * m->rho[0];
    t->objective = test_svm_printed;
    svm_free_and_destroy_model(&m);
    free(problem.y);
    free(nodes);
    free(row);
    return true;
#else
    (void)t;
    return false;
#endif
}

#endif
