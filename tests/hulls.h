/* hulls.h -- the problem of nearest points of two softened hulls, and a slow way to solve it. */
#ifndef KREIN_TEST_HULLS_H
#define KREIN_TEST_HULLS_H

#include "common.h"

/* min (1 - lambda) g'YKYg + lambda g'g over g >= 0, sums of each class 1. */
typedef struct problem {
    int64_t n;
    double *K, *y, *g;
} problem;

static inline problem problem_of(int64_t n) {
    return (problem){n, test_new(n * n, sizeof(double)), test_new(n, sizeof(double)),
                     test_new(n, sizeof(double))};
}

static inline void problem_end(problem *p) {
    free(p->K);
    free(p->y);
    free(p->g);
}

/* G = Qg, and g'Qg. */
static inline double value_at(const problem *p, double lambda, const double *g, double *G) {
    double value = 0;
    for (int64_t i = 0; i < p->n; i++) {
        G[i] = lambda * g[i];
        for (int64_t j = 0; j < p->n; j++)
            G[i] += (1 - lambda) * p->y[i] * p->K[i * p->n + j] * p->y[j] * g[j];
        value += g[i] * G[i];
    }
    return value;
}

/* The nearest point to x of those with x >= 0 and sum one over the rows of one sign: bisection for
 * what is taken off. */
static inline void onto_simplex(const problem *p, double sign, double *x) {
    double low = -1e9, high = 1e9;
    for (int k = 0; k < 200; k++) {
        double middle = (low + high) / 2, sum = 0;
        for (int64_t i = 0; i < p->n; i++)
            if (p->y[i] == sign) sum += fmax(0, x[i] - middle);
        *(sum > 1 ? &low : &high) = middle;
    }
    for (int64_t i = 0; i < p->n; i++)
        if (p->y[i] == sign) x[i] = fmax(0, x[i] - high);
}

/* Projected gradient descent with momentum that starts again where the value rises. */
static inline double by_projection(const problem *p, double lambda, int64_t steps, double *g) {
    int64_t n = p->n;
    double *G = test_new(n, sizeof *G), *old = test_new(n, sizeof *old),
           *at = test_new(n, sizeof *at);
    double largest = 0, before = INFINITY, t = 1;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, (1 - lambda) * p->K[i * n + i]);
    double rate = 1 / (largest * (double)n + lambda);
    for (int64_t i = 0; i < n; i++) g[i] = 0;
    onto_simplex(p, 1, g);
    onto_simplex(p, -1, g);
    memcpy(at, g, (size_t)n * sizeof *g);
    for (int64_t s = 0; s < steps; s++) {
        double value = value_at(p, lambda, at, G), next = (1 + sqrt(1 + 4 * t * t)) / 2;
        bool rises = value > before;
        before = value;
        memcpy(old, g, (size_t)n * sizeof *g);
        for (int64_t i = 0; i < n; i++) g[i] = at[i] - rate * G[i];
        onto_simplex(p, 1, g);
        onto_simplex(p, -1, g);
        for (int64_t i = 0; i < n; i++)
            at[i] = g[i] + (rises ? 0 : (t - 1) / next) * (g[i] - old[i]);
        t = rises ? 1 : next;
    }
    double value = value_at(p, lambda, g, G);
    free(G);
    free(old);
    free(at);
    return value;
}

#endif
