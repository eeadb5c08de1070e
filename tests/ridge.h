/* ridge.h -- small ridge problems, solved the obvious way. */
#ifndef KREIN_TEST_RIDGE_H
#define KREIN_TEST_RIDGE_H

#include "common.h"

#include "num/blas.h"
#include "solve/ridge.h"

/* ---- the obvious way ---------------------------------------------------- */

/* A data set: z n x D, y n x k, weights or NULL. */
typedef struct problem {
    int64_t n, D, k;
    double *z, *y, *weight;
} problem;

static inline double weight_of(const problem *p, int64_t i) { return p->weight ? p->weight[i] : 1; }
static inline double total(const problem *p) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) sum += weight_of(p, i);
    return sum;
}

/* Normal equations with penalty c on the weights, row `skip` left out (-1: none). The last row
 * and column are the intercept, which is not penalised. x: (D + 1) x k, or D x k without it. */
static void fit_primal(const problem *p, double c, int64_t skip, bool intercept, double *x) {
    int64_t m = p->D + intercept;
    double *a = test_new(m * m, sizeof *a);
    memset(x, 0, (size_t)(m * p->k) * sizeof *x);
    for (int64_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i);
        if (i == skip) continue;
        for (int64_t r = 0; r < m; r++) {
            double zr = r < p->D ? p->z[i * p->D + r] : 1;
            for (int64_t s = 0; s < m; s++)
                a[r * m + s] += w * zr * (s < p->D ? p->z[i * p->D + s] : 1);
            for (int64_t o = 0; o < p->k; o++) x[r * p->k + o] += w * zr * p->y[i * p->k + o];
        }
    }
    for (int64_t r = 0; r < p->D; r++) a[r * m + r] += c;
    test_solve(m, p->k, a, x);
    free(a);
}

static inline double value_primal(const problem *p, const double *x, const double *z, int64_t o) {
    double f = x[p->D * p->k + o];
    for (int64_t j = 0; j < p->D; j++) f += z[j] * x[j * p->k + o];
    return f;
}

/* [K + c diag(1/w), 1; 1', 0] [alpha; b] = [y; 0] without row `skip` and rows of weight 0.
 * x: (n + 1) x k, zeros for rows left out. */
static void fit_dual(int64_t n, const double *K, int64_t k, const double *y, const double *weight,
                     double c, int64_t skip, bool intercept, double *x) {
    int64_t *row = test_new(n, sizeof *row), m = 0;
    for (int64_t i = 0; i < n; i++)
        if (i != skip && !(weight && weight[i] == 0)) row[m++] = i;
    int64_t size = m + intercept;
    double *a = test_new(size * size, sizeof *a), *b = test_new(size * k, sizeof *b);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) a[i * size + j] = K[row[i] * n + row[j]];
        a[i * size + i] += c / (weight ? weight[row[i]] : 1);
        if (intercept) a[i * size + m] = a[m * size + i] = 1;
        for (int64_t o = 0; o < k; o++) b[i * k + o] = y[row[i] * k + o];
    }
    test_solve(size, k, a, b);
    memset(x, 0, (size_t)((n + 1) * k) * sizeof *x);
    for (int64_t i = 0; i < m; i++)
        for (int64_t o = 0; o < k; o++) x[row[i] * k + o] = b[i * k + o];
    for (int64_t o = 0; intercept && o < k; o++) x[n * k + o] = b[m * k + o];
    free(row);
    free(a);
    free(b);
}

static inline double value_dual(int64_t n, const double *Ki, int64_t k, const double *x,
                                int64_t o) {
    double f = x[n * k + o];
    for (int64_t j = 0; j < n; j++) f += Ki[j] * x[j * k + o];
    return f;
}

/* exp(-|x - y|^2 / (2 s^2)) of rows of det(n, d, shift). */
static inline double *gaussian(int64_t n, int64_t d, double shift, double s) {
    double *K = test_new(n * n, sizeof *K);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sd = 0;
            for (int64_t c = 0; c < d; c++) {
                double t = det(i, c, shift) - det(j, c, shift);
                sd += t * t;
            }
            K[i * n + j] = exp(-sd / (2 * s * s));
        }
    return K;
}

/* ---- inputs ------------------------------------------------------------- */

/* Numbers of few bits: the library's float32 products of them are exact. */
static inline double few_bits(double x) { return rint(8 * x) / 8; }

static inline problem make(int64_t n, int64_t D, int64_t k, bool weights) {
    problem p = {n, D, k, test_new(n * D, sizeof(double)), test_new(n * k, sizeof(double)), NULL};
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++) p.z[i * D + j] = few_bits(2 * det(i, j, .3) + 1);
        for (int64_t o = 0; o < k; o++) p.y[i * k + o] = few_bits(3 * det(i, o, 2.2) + (double)o);
    }
    if (!weights) return p;
    p.weight = test_new(n, sizeof(double));
    static const double choice[] = {1, 4, .25, 1, 9, 0}; /* exact square roots */
    for (int64_t i = 0; i < n; i++) p.weight[i] = choice[i % 6];
    return p;
}
static inline void drop(problem *p) {
    free(p->z);
    free(p->y);
    free(p->weight);
}

/* Adds the rows in blocks; mix (R x D) or NULL. */
static inline krein_status make_system(krein_ctx *ctx, const problem *p, const double *mix,
                                       int64_t D, int64_t block, krein_system *out) {
    krein_ridge ridge;
    krein_status st = krein__ridge_begin(ctx, p->D, p->k, block, &ridge);
    memset(out, 0, sizeof *out);
    if (st != KREIN_OK) return st;
    float *r = test_new(block * p->D, sizeof *r);
    for (int64_t i = 0; i < p->n; i += block) {
        int64_t m = krein__min(block, p->n - i);
        for (int64_t e = 0; e < m * p->D; e++) r[e] = (float)p->z[i * p->D + e];
        krein__ridge_add(&ridge, m, r, p->y + i * p->k, p->weight ? p->weight + i : NULL);
    }
    free(r);
    st = krein__ridge_system(&ridge, mix, D, D, out);
    krein__ridge_clear(&ridge);
    return st;
}

/* The path of leave-one-out (or plain) losses of the rows, added in two pieces. */
static inline krein_status score_path(krein_ctx *ctx, const krein_system *s, bool loo,
                                      const problem *p, const int32_t *class, krein_path *path) {
    krein_scores *scores = NULL;
    krein_tally tally = {0};
    bool own = path->n == 0;
    krein_status st = krein__scores_begin(ctx, s, loo, path, &scores);
    if (own && st == KREIN_OK) CHECK(path->lambda[0] >= .99 * krein__system_floor(s));
    float *r = test_new(p->n * p->D, sizeof *r);
    for (int64_t e = 0; e < p->n * p->D; e++) r[e] = (float)p->z[e];
    int64_t half = p->n / 2 + 1;
    for (int64_t from = 0; from < p->n && st == KREIN_OK; from += half) {
        krein_targets rows = {krein__min(half, p->n - from), p->k, p->y + from * p->k,
                              p->weight ? p->weight + from : NULL, class ? class + from : NULL};
        st = krein__scores_add(scores, r + from * p->D, &rows, &tally);
    }
    if (st == KREIN_OK) krein__tally_end(&tally, class != NULL, path);
    krein__scores_end(scores);
    free(r);
    return st;
}

/* ---- leave-one-out on features ------------------------------------------ */

/* Loss and error of refits without each row, the penalty c held fixed. */
static void brute_primal(const problem *p, const int32_t *class, double c, double *loss,
                         double *error) {
    double *x = test_new((p->D + 1) * p->k, sizeof *x), *f = test_new(p->k, sizeof *f);
    *loss = *error = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i);
        if (w == 0) continue;
        fit_primal(p, c, i, true, x);
        int64_t best = 0;
        for (int64_t o = 0; o < p->k; o++) {
            f[o] = value_primal(p, x, p->z + i * p->D, o);
            double e = p->y[i * p->k + o] - f[o];
            *loss += w * e * e / (double)p->k;
            if (f[o] > f[best]) best = o;
        }
        if (class) *error += w * (p->k == 1 ? (f[0] > 0) != (class[i] == 1) : best != class[i]);
    }
    *loss /= total(p);
    *error = class ? *error / total(p) : NAN;
    free(x);
    free(f);
}

/* Targets -1 and +1 that follow the first features, with a few rows against it. */
static inline int32_t *classify(problem *p, int64_t classes) {
    int32_t *class = test_new(p->n, sizeof *class);
    for (int64_t i = 0; i < p->n; i++) {
        double a = p->z[i * p->D] + .7 * det(i, 0, 4);
        class[i] = classes == 2 ? a > 1 : a < .4 ? 0 : a < 1.8 ? 1 : 2;
        for (int64_t o = 0; o < p->k; o++)
            p->y[i * p->k + o] = (p->k == 1 ? class[i] == 1 : class[i] == o) ? 1 : -1;
    }
    return class;
}

#endif
