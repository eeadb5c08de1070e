/* krr.h -- the parts of kernel ridge regression: the fit on features (krr.c) and on the kernel
 * matrix (krr_kernel.c), the choice of lambda (krr_lambda.c), all by conjugate gradients
 * (krr_pcg.c, krr_pcg_choice.c, krr_kernel_pcg.c), and probabilities (krr_calibrate.c). */
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

/* Weights (width x k) and intercepts at one lambda; sign: as above. */
krein_status krein__krr_solve(krein_ctx *ctx, const krein_system *system, const int8_t *sign,
                              double lambda, double *w, double *intercept);

/* What both fits by conjugate gradients begin with: lambda is not 0; the targets of all rows, owned
 * by the caller. */
krein_status krein__krr_pcg_targets(krein_job *job, krein_targets *out);
void krein__krr_pcg_targets_clear(krein_ctx *ctx, krein_targets *t);
/* The whole fit by conjugate gradients; needs lambda > 0. What it costs; what is `in` in out is
 * read. */
krein_status krein__krr_pcg(krein_job *job);
void krein__krr_pcg_cost(const krein_map *map, int64_t n, int64_t k, bool path, krein_cost *out,
                         int64_t *passes);
/* At a given lambda, on kept features with a Cholesky factor: in two thirds of the time of normal
 * equations, or less. */
bool krein__krr_pcg_faster(const krein_map *map, int64_t n, int64_t k);

/* The fit on the kernel matrix, and what it costs. */
krein_status krein__krr_kernel(krein_job *job);
void krein__krr_kernel_cost(const krein_map *map, int64_t n, int64_t k, bool path, krein_cost *out,
                            int64_t *passes);

/* The same by conjugate gradients, for a positive definite kernel (krr_kernel_pcg.c); whether it is
 * shorter than so many flops of factorisations. */
krein_status krein__krr_kernel_pcg(krein_job *job);
void krein__krr_kernel_pcg_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                                krein_cost *out, int64_t *passes);
bool krein__krr_kernel_pcg_shorter(const krein_map *map, int64_t n, int64_t k, bool path,
                                   double direct);

/* Set job->lambda, job->loo and job->cv_folds. */
krein_status krein__krr_choose_loo(krein_job *job, krein_krr *b, const krein_system *system);
krein_status krein__krr_choose_folds(krein_job *job, krein_krr *b);
void krein__krr_report(krein_job *job, const krein_path *p);
/* The fold of every row, from one pass over classes and groups. */
krein_status krein__krr_folds(krein_job *job, int64_t folds, int32_t *fold);
/* The system of the rows outside fold f, a pass; lambda as in krein__krr_system. */
krein_status krein__krr_fold_system(krein_job *job, krein_krr *b, const int32_t *fold, int64_t f,
                                    double lambda, krein_system *out);
/* Rows that leave-one-out is averaged over, and those of the walk, which keeps their features. */
int64_t krein__krr_loo_rows(int64_t n, int64_t d);
int64_t krein__krr_walk_rows(int64_t n, int64_t D, bool krein);

/* Some of the training rows: a seeded sample, all of them where n is their number, or those of an
 * index. */
typedef struct krein_krr_sample {
    int64_t *index; /* ascending */
    krein_matrix x;
    double *y, *weight; /* weights are ones where there are none */
    int32_t *class;
    krein_targets targets; /* of these arrays */
} krein_krr_sample;
krein_status krein__krr_sample(krein_job *job, int64_t n, const int64_t *index,
                               krein_krr_sample *out);
void krein__krr_sample_clear(krein_ctx *ctx, krein_krr_sample *s);
/* Features of a block of its rows, until the next; *n: how many. */
float *krein__krr_sample_block(const krein_krr_sample *s, krein_krr *b, int64_t from, int64_t *n);
/* Features of all of them less the system's mean (n x D), for a system without a mix. */
krein_status krein__krr_sample_centred(krein_ctx *ctx, const krein_krr_sample *s, krein_krr *b,
                                       const krein_system *system, float **out);

/* Fill the model's calibration, at job->lambda (krr_calibrate.c).
 * On features: from the system that the model was solved from, which is cleared. */
krein_status krein__krr_calibrate_features(krein_job *job, krein_krr *b, krein_system *system);
/* The error of job->apart by the model without its rows, at job->lambda: leave-one-out from
 * the system that the model was solved from; NaN where that is of no use (groups, folds, a lambda
 * that float32 does not resolve). Then by a fit to the other rows, a pass. */
krein_status krein__krr_apart(krein_job *job, krein_krr *b, const krein_system *system);
krein_status krein__krr_apart_fit(krein_job *job, krein_krr *b);
/* On the kernel matrix, which is overwritten. */
krein_status krein__krr_calibrate_kernel(krein_job *job, double *K, const krein_targets *rows);
/* From held-out scores (n x k) and classes, or targets of labels; weight may be NULL, folds 0:
 * leave-one-out. */
krein_status krein__krr_calibrate(krein_job *job, int64_t folds, int64_t n, const double *score,
                                  const int32_t *class, const double *y, const double *weight);
/* Folds whose rows are held out; 0: leave-one-out. */
int64_t krein__krr_calibration_folds(int64_t folds, bool grouped, int64_t n);
bool krein__krr_leaves_one_out(const krein_job *job); /* they are none */
/* Bytes of calibration on n rows, held-out scores included. */
double krein__krr_calibration_bytes(int64_t n, int64_t k);

extern const krein_learner_class krein__learner_krr;

#endif
