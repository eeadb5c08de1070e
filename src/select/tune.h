/* tune.h -- the default model: which kernel, its scale, a metric and lambda, found on a sample.
 *
 *     sample      S, rows to fit, and V, other rows to score; both seeded
 *     candidates  a base kernel, factors of the columns (the metric) or none, scale, lambda
 *     score       mean squared error on V of ridge regression on S
 *
 * Scale and lambda of a candidate come from the exact leave-one-out error on S. The metric is
 * learned from the average gradient outer product (agop.h). Few rows first: what is far behind on
 * them is not tried on more. Everything is counted in rows, nothing in seconds, so that the choice
 * is the same on every machine; a deadline cuts it short. */
#ifndef KREIN_TUNE_H
#define KREIN_TUNE_H

#include "select/select.h"

typedef struct krein_tune_options {
    const char *kernels;      /* "k1; k2; ...", each with one free parameter, its scale; gradients
                            are those of the first, or of one of the other distance */
    krein_metric_kind metric; /* the most that may be learned */
    bool asked;               /* the user asked for it: where none can be learned, say why */
    double effort;            /* 1: normal */
    double clip;   /* scaled columns are cut there, those with outliers get another scale (trim.h);
                      INFINITY: nothing is */
    bool machines; /* support vector machines may compete */
    bool logs;     /* of heavy-tailed columns, where they lower the error */
    double deadline; /* krein__clock() at which the best so far is taken; 0: none */
} krein_tune_options;

typedef struct krein_tuned {
    krein_kernel *kernel; /* without a free parameter */
    krein_metric_kind metric;
    double *factor; /* d, diagonal; d x d, full; NULL: none */
    double lambda;  /* of K + lambda I, at the best */
    double C;       /* > 0: support vector machines, a machine a pair of classes, were far better */
    double error;   /* theirs on V */
    double decay; /* the squared error on V falls with the rows like rows^-decay; NaN: not known */
    krein_tries tries;
} krein_tuned;

/* The learner that C stands for, as a spec. */
enum { KREIN_SVM_TEXT = 64 };
void krein__tune_svm_text(double C, char text[KREIN_SVM_TEXT]);
/* Labels are there. Centres, factors, clip and logarithms of the encoding are set, the metric is
 * not. out is zeroed on failure. */
krein_status krein__tune(krein_job *job, const krein_tune_options *o, krein_tuned *out);
void krein__tuned_clear(krein_ctx *ctx, krein_tuned *t);
/* Rows of the sample at most, flops and bytes, for plan and refusal. */
double krein__tune_flops(int64_t n, int64_t d, int64_t k, double effort);
double krein__tune_bytes(int64_t n, int64_t d, int64_t k, double effort, int threads);

#endif
