/* logistic.h -- logistic regression on features, two classes or more. */
#ifndef KREIN_LOGISTIC_H
#define KREIN_LOGISTIC_H

#include "solve/passes.h"

/* sum_i weight_i loss_i + lambda |W|^2. Unknowns are (D + 1) x k, row-major: the weights W of the
 * features, then the intercepts, which are not penalised. */
typedef struct krein_logistic {
    krein_features *features;
    int64_t k; /* scores of a row: 1 (the log odds of the second class), or the classes */
    const int32_t *class; /* n */
    const double *weight; /* n, not negative, sum 1; 0: the row is predicted, not fitted */
    bool intercept;       /* no: they stay as they are given */
    double lambda;
    double tol;      /* ends where the gradient is below tol times `scale` */
    double scale;    /* its length at W = 0; 0: at the start, which is W = 0 */
    double deadline; /* krein__clock() at which it ends with what it has; 0: never */
} krein_logistic;

typedef enum krein_logistic_stop {
    KREIN_STOP_GRADIENT, /* as asked for, or zero but for rounding */
    KREIN_STOP_ROUNDING, /* no step lowers the objective any more */
    KREIN_STOP_TIME,
    KREIN_STOP_STEPS
} krein_logistic_stop;

typedef struct krein_logistic_result {
    double objective, gradient, scale; /* the length of the gradient, and the one it began with */
    int64_t steps, passes, factors;    /* of Newton; over the features; preconditioners made */
    krein_logistic_stop stop;
} krein_logistic_result;

typedef struct krein_newton krein_newton; /* memory and preconditioner, for several problems */

krein_status krein__newton_create(krein_features *features, int64_t k, krein_newton **out);
void krein__newton_destroy(krein_newton *s); /* NULL is fine */
/* W = 0 and the intercepts that are best then: log odds of the classes' weights. */
krein_status krein__logistic_start(krein_ctx *ctx, const krein_logistic *problem, double *w);
/* w: the start in, the solution out. All problems of one solver have its features and k. */
krein_status krein__logistic_solve(krein_newton *s, const krein_logistic *problem, double *w,
                                   krein_logistic_result *out);
/* Mean over (the first) rows of the sum of their squared features: the size of lambda. */
double krein__newton_mean_square(const krein_newton *s);
/* Of every row at the last solution: its loss (n), its probabilities (n x k). */
const double *krein__newton_loss(const krein_newton *s);
const float *krein__newton_probability(const krein_newton *s);
double krein__newton_bytes(int64_t n, int64_t D, int64_t k, int64_t rows, int threads);

/* ---- passes over the features ------------------------------------------- */

/* The objective and its gradient ((D + 1) x k); probability (n x k) and loss (n) of every row. */
krein_status krein__logistic_gradient(krein_passes *s, const krein_logistic *p, const double *w,
                                      float *probability, double *loss, double *objective,
                                      double *gradient);
/* out = H v, with the Hessian where the probabilities were computed. */
krein_status krein__logistic_product(krein_passes *s, const krein_logistic *p,
                                     const float *probability, const double *v, double *out);

/* ---- the preconditioner ------------------------------------------------- */

typedef struct krein_curvature {
    krein_ctx *ctx;
    int64_t D, rows, sample;
    double *u;           /* (D + 1)^2: a Cholesky factor */
    float *block, *tile; /* rows x D of the sample, scratch */
    bool ready;
} krein_curvature;

krein_status krein__curvature_begin(krein_features *features, krein_curvature *out);
void krein__curvature_end(krein_curvature *s);
double krein__curvature_bytes(int64_t D, int64_t rows, int threads);
/* What making it costs, in passes; infinite where it is not worth its memory. */
double krein__curvature_cost(int64_t n, int64_t D, int64_t k);
/* ready is false afterwards where rounding left nothing to factor. */
krein_status krein__curvature_make(krein_curvature *s, const krein_logistic *p,
                                   const float *probability);
/* z = M^-1 r, (D + 1) x k; z = r where it is not ready. */
krein_status krein__curvature_apply(const krein_curvature *s, int64_t k, const double *r,
                                    double *z);

#endif
