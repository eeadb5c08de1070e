/* examples.h -- training rows in memory with their labels, and their features, for
 * learners that visit them many times. */
#ifndef KREIN_EXAMPLES_H
#define KREIN_EXAMPLES_H

#include "learn/learn.h"
#include "solve/features.h"

typedef struct krein_examples {
    krein_features features;
    krein_ctx *ctx;
    const krein_map *map;
    int64_t n;
    krein_matrix x;         /* empty where the features are kept */
    double *label;          /* n x (labels of the data) */
    double *weight;         /* n, or NULL: no weights */
    int32_t *class, *group; /* n, or NULL: not classes; no groups */
    float *offset;          /* D: taken off every row's features, or NULL */
    float *raw, *scratch, *mix32;
} krein_examples;

/* n of the training rows, a seeded sample where they are more, in a seeded random order
 * unless the job is ordered. centre:
 * the mean of the features (of the first block) is taken off, for a model with an intercept of its
 * own. */
krein_status krein__examples_open(krein_job *job, int64_t n, bool centre, krein_examples *out);
void krein__examples_close(krein_examples *ex);
/* That order: the i-th example is row order[i] of the n (of the sample, ascending). */
void krein__examples_order(const krein_job *job, int64_t n, int64_t *order);
/* Hands weights of the features (D x k, row-major) and intercepts (k) to the model. */
krein_status krein__examples_finish(const krein_examples *ex, const double *w,
                                    const double *intercept, krein_model *model);
/* Bytes of it all, with the features kept where the budget of the context allows that. */
double krein__examples_bytes(const krein_map *map, int64_t n);
bool krein__examples_kept(const krein_map *map, int64_t n);

#endif
