/* tune_fit.h -- the sample that candidates are fitted to and scored on, and one fit. */
#ifndef KREIN_TUNE_FIT_H
#define KREIN_TUNE_FIT_H

#include "encode/log.h"
#include "kernel/gram_shared.h"
#include "select/tune.h"

/* The sample under a metric. */
typedef struct krein_tune_view {
    krein_metric_kind metric;
    double *factor;         /* d or d x d; NULL: none */
    krein_matrix fit, held; /* rows of S and of V */
    double median[3];       /* [1]: L1 distance, [2]: L2 */
} krein_tune_view;

typedef struct krein_tune_sample {
    krein_ctx *ctx;
    int64_t n, m, d, k;  /* rows of S and V, columns, targets */
    bool classes, dense; /* dense: a metric can be learned */
    bool numbers;        /* of a regression: neither classes nor labels */
    krein_matrix fit, held;
    krein_logs logs;    /* of heavy-tailed columns; what is not in fit and held at present */
    int64_t *order;     /* rows of S and V among those of logs */
    double *y, *weight; /* S: n x k, centred, of one unit; mean 1, or NULL */
    double *held_y, *held_weight;    /* V, the same units */
    int32_t *fit_class, *held_class; /* NULL: numbers */
    int64_t nclass;
    double
        *code; /* (classes or labels) x k: what stands for one; NULL: the targets of the learner */
    double *unit; /* k: what targets were divided by */
    double *mean; /* k: what was taken off before */
    double total; /* mean over S of |y|^2: the loss of the mean */
} krein_tune_sample;

/* n rows to fit and m others, cut at clip (INFINITY: not). logs: those of heavy-tailed columns are
 * looked for. */
krein_status krein__tune_sample(krein_job *job, int64_t n, int64_t m, double clip, bool logs,
                                krein_tune_sample *out);
/* A column takes the place of its logarithm in the rows of S and V, or this of it: the k-th of
 * logs. */
void krein__tune_swap_log(krein_tune_sample *s, int64_t k);
void krein__tune_sample_end(krein_tune_sample *s);
/* The rows under factors of the columns (or NULL); takes a copy of them. */
krein_status krein__tune_view(const krein_tune_sample *s, krein_metric_kind metric,
                              const double *factor, krein_tune_view *out);
void krein__tune_view_end(krein_ctx *ctx, krein_tune_view *v);

/* Ridge regression on the first n rows of S. */
typedef struct krein_tune_fit {
    int64_t n;
    double lambda;  /* in: where to start; out: the best by leave-one-out */
    bool fixed;     /* lambda stays where it is */
    double loo;     /* mean over rows of the sum over targets of squared leave-one-out errors */
    double error;   /* the same as the report shows it: root mean square, or share of wrong classes;
                       NaN: there are very many classes */
    double *alpha;  /* n x k, or NULL: not wanted */
    double *square; /* m: squared errors of the rows of V times their weights; NULL: not wanted */
} krein_tune_fit;
/* K is n x n, its upper triangle; room for as much again, `work`. */
krein_status krein__tune_solve(krein_ctx *ctx, const krein_tune_sample *s, const float *K,
                               float *work, krein_tune_fit *f);
/* Coefficients at one lambda; `work` may be K, which is lost then. */
krein_status krein__tune_at(krein_ctx *ctx, const krein_tune_sample *s, const float *K, float *work,
                            double lambda, krein_tune_fit *f);
/* Errors on V of coefficients of n rows: mean squared (of one unit), and what the report shows. */
krein_status krein__tune_score(krein_ctx *ctx, const krein_tune_sample *s, const krein_tune_view *v,
                               const krein_kernel *kernel, const krein_tune_fit *f, double *loss,
                               double *error);
/* Values on V (m x k) of so many sums over the first n rows of S, coefficients n x k. */
krein_status krein__tune_scores(krein_ctx *ctx, const krein_tune_view *v,
                                const krein_kernel *kernel, int64_t n, int64_t k,
                                const double *alpha, double *score);
/* A support vector machine for each pair of classes (krein__pair), C of a row of mean weight; K of
 * the first n rows of S, w n x pairs. And the share of V that is put in a wrong class by their
 * values without the intercepts, which are added to them. */
krein_status krein__tune_svm(krein_ctx *ctx, const krein_tune_sample *s, int64_t n, const double *K,
                             double C, double *w, double *intercept);
double krein__tune_svm_error(const krein_tune_sample *s, const double *intercept, double *score);

#endif
