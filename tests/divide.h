/* divide.h -- ridge regression on parts, averaged, the obvious way: elimination, one row at a time
 * left out. */
#ifndef KREIN_TEST_DIVIDE_H
#define KREIN_TEST_DIVIDE_H

#include "train.h"

#include "model/model.h"

typedef double kernel_fn(const float *a, const float *b, int64_t d);

static inline double linear(const float *a, const float *b, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += (double)a[j] * (double)b[j];
    return sum;
}
static inline double gaussian(const float *a, const float *b, int64_t d) { /* sigma = 0.7 */
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += pow((double)a[j] - (double)b[j], 2);
    return exp(-sum / (2 * .7 * .7));
}

/* Rows with targets, of parts given by owner; rows with a NaN as target have no label. */
typedef struct obvious {
    rows r;
    const double *weight; /* or NULL */
    const int *owner;
    int parts;
    kernel_fn *k;
} obvious;

static inline double weight_of(const obvious *p, int64_t i) { return p->weight ? p->weight[i] : 1; }
static inline bool has_label(const obvious *p, int64_t i) { return !isnan(p->r.y[i * p->r.k]); }

/* One part's prediction for x, and its share W. leave: the row that is left out (with its label
 * alone where rows without labels stay), W lambda and W as with it; -1: none. */
static inline double part_at(const obvious *p, int part, int64_t leave, bool semi, double lambda,
                             int64_t c, const float *x, double *share) {
    int64_t n = 0, d = p->r.d, at[512];
    double all = 0, labelled = 0, left = 0, ybar = 0, f;
    for (int64_t i = 0; i < p->r.n; i++) {
        if (p->owner[i] != part) continue;
        double w = weight_of(p, i);
        all += w;
        if (has_label(p, i)) labelled += w;
        if (has_label(p, i) && i != leave) {
            left += w;
            ybar += w * p->r.y[i * p->r.k + c];
        }
        if ((i != leave || semi) && w > 0) at[n++] = i;
    }
    ybar /= left;
    *share = labelled;
    /* (K + W lambda / w) a + b = y, sum a = 0 */
    int64_t m = n + 1;
    double *A = test_new(m * m, 8), *b = test_new(m, 8);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            A[i * m + j] = p->k(p->r.x + at[i] * d, p->r.x + at[j] * d, d);
        A[i * m + i] += all * lambda / weight_of(p, at[i]);
        A[i * m + n] = A[n * m + i] = 1;
        double y = p->r.y[at[i] * p->r.k + c];
        b[i] = !semi ? y : !has_label(p, at[i]) || at[i] == leave ? 0 : (y - ybar) * all / left;
    }
    test_solve(m, 1, A, b);
    f = semi ? b[n] + ybar : b[n];
    for (int64_t i = 0; i < n; i++) f += b[i] * p->k(x, p->r.x + at[i] * d, d);
    free(A);
    free(b);
    return f;
}

/* The average at x, without row `leave`. */
static inline double average_at(const obvious *p, int64_t leave, bool semi, double lambda,
                                int64_t c, const float *x) {
    double sum = 0, total = 0, share;
    for (int j = 0; j < p->parts; j++) {
        double f = part_at(p, j, leave, semi, lambda, c, x, &share);
        if (!(share > 0)) continue;
        sum += share * f;
        total += share;
    }
    return sum / total;
}

/* Mean square of held-out residuals. */
static inline double held_out(const obvious *p, bool semi, double lambda) {
    double sum = 0, total = 0;
    for (int64_t i = 0; i < p->r.n; i++) {
        double w = weight_of(p, i);
        if (!has_label(p, i) || w == 0) continue;
        total += w;
        for (int64_t c = 0; c < p->r.k; c++)
            sum +=
                w / (double)p->r.k *
                pow(p->r.y[i * p->r.k + c] - average_at(p, i, semi, lambda, c, p->r.x + i * p->r.d),
                    2);
    }
    return sqrt(sum / total);
}

/* The part of row i of n, in order. */
static inline int in_order(int64_t i, int64_t n, int parts) {
    for (int j = parts - 1; j > 0; j--)
        if (i >= n / parts * j + n % parts * j / parts) return j;
    return 0;
}

/* n rows of 3 columns with k smooth targets and some noise. */
static inline rows smooth(int64_t n, int64_t k) {
    rows r = {n, 3, k, test_dense(n, 3, .2), test_new(n * k, sizeof(double))};
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            const float *x = r.x + i * 3;
            r.y[i * k + c] =
                4 + sin(2 * (double)x[c % 3]) + (double)x[(c + 1) % 3] + .3 * det(i, 7 + c, 1);
        }
    return r;
}

#endif
