/* krr.h -- the parts of kernel ridge regression: the fit (krr.c) and the choice of lambda
 * (krr_lambda.c), both by conjugate gradients (krr_pcg.c). */
#ifndef KREIN_KRR_H
#define KREIN_KRR_H

#include "learn/blocks.h"
#include "learn/learn.h"

/* Blocks on their way to the solver: features, targets and classes. */
typedef struct krein_krr {
    krein_blocks z;
    const int8_t *sign; /* norm=krein: of the features; else NULL */
    double *y;
    int32_t *class;
} krein_krr;

/* sign: as above. */
krein_status krein__krr_begin(krein_job *job, bool fused, const int8_t *sign, krein_krr *out);
void krein__krr_end(krein_ctx *ctx, krein_krr *b);
/* A fit with blocks of one kind, and the kind that lambda allows: both, where it is chosen. */
typedef krein_status krein_krr_fit(krein_job *job, int64_t pass, bool fused, const void *state);
krein_status krein__krr_fit(krein_job *job, krein_krr_fit *fit, const void *state);

/* The centred system of what was accumulated, as far as fused blocks resolve it at lambda. */
krein_status krein__krr_system(const krein_krr *b, krein_ridge *ridge, double lambda,
                               krein_system *out);

/* Hands weights of the features (width x k, row-major) to the model, whose intercepts are set. */
void krein__krr_weights(krein_job *job, const krein_krr *b, const double *w);

/* The whole fit by conjugate gradients; needs lambda > 0. What it costs; out->folds is read. */
krein_status krein__krr_pcg(krein_job *job);
void krein__krr_pcg_cost(const krein_map *map, int64_t n, int64_t k, bool path, krein_cost *out,
                         int64_t *passes);

/* Set job->lambda, job->loo and job->cv_folds. */
krein_status krein__krr_choose_loo(krein_job *job, krein_krr *b, const krein_system *system);
krein_status krein__krr_choose_folds(krein_job *job, krein_krr *b);
void krein__krr_report(krein_job *job, const krein_path *p);
/* The fold of every row, from one pass over classes and groups. */
krein_status krein__krr_folds(krein_job *job, int32_t *fold);
/* Rows that leave-one-out is averaged over, and those of the walk, which keeps their features. */
int64_t krein__krr_loo_rows(int64_t n, int64_t d);
int64_t krein__krr_walk_rows(int64_t n, int64_t D, bool krein);

extern const krein_learner_class krein__learner_krr;

#endif
