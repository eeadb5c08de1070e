/* dual.h -- problems of ridge regression on a kernel matrix. */
#ifndef KREIN_TEST_DUAL_H
#define KREIN_TEST_DUAL_H

#include "common.h"

#include "num/blas.h"
#include "solve/ridge.h"

typedef struct problem {
    int64_t n, k;
    double *K, *y, *weight;
    int32_t *class;
    float *narrow; /* K in float32, where a test has made it */
} problem;

/* Noisy targets of rows in the plane, with the Gaussian kernel of width s. */
static inline problem make(int64_t n, int64_t k, int classes, bool weights, double s,
                           double noise) {
    problem p = {.n = n, .k = k};
    double *x = test_new(2 * n, sizeof *x);
    test_random_state = 88172645463325252u;
    p.K = test_new(n * n, sizeof *p.K);
    p.y = test_new(n * k, sizeof *p.y);
    if (classes) p.class = test_new(n, sizeof *p.class);
    if (weights) p.weight = test_new(n, sizeof *p.weight);
    for (int64_t i = 0; i < 2 * n; i++) x[i] = 2 * test_random();
    for (int64_t i = 0; i < n; i++) {
        double a = x[2 * i], b = x[2 * i + 1];
        for (int64_t c = 0; c < k; c++)
            p.y[i * k + c] =
                sin((2 + (double)c) * a) + cos(b * (double)c + a) + noise * test_random();
        if (classes) {
            p.class[i] = (int32_t)(fabs(a + sin(3 * b) + noise * test_random() + 9)) % classes;
            for (int64_t c = 0; c < k; c++)
                p.y[i * k + c] = p.class[i] == (k == 1 ? 1 : (int32_t)c) ? 1 : -1;
        }
        if (weights) p.weight[i] = (double)(i % 5) / 2; /* zero as well */
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double a = x[2 * i] - x[2 * j], b = x[2 * i + 1] - x[2 * j + 1];
            p.K[i * n + j] = exp(-(a * a + b * b) / (2 * s * s));
        }
    free(x);
    return p;
}

static inline void drop(problem *p) {
    free(p->K);
    free(p->y);
    free(p->weight);
    free(p->class);
    free(p->narrow);
}

static inline krein_targets targets(const problem *p) {
    return (krein_targets){p->n, p->k, p->y, p->weight, p->class};
}

static inline double *copy_of(const problem *p) {
    double *K = test_new(p->n * p->n, sizeof *K);
    memcpy(K, p->K, (size_t)(p->n * p->n) * sizeof *K);
    return K;
}

static inline bool same_bits(int64_t n, const double *a, const double *b) {
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

#endif
