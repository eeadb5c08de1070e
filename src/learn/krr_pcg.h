/* krr_pcg.h -- kernel ridge regression on features by conjugate gradients: what is done by fits to
 * a part of the rows, the choice of lambda and probabilities (krr_pcg_choice.c). */
#ifndef KREIN_KRR_PCG_H
#define KREIN_KRR_PCG_H

#include "learn/krr.h"
#include "solve/pcg.h"

/* The solver, and the rows that it is on: all. */
typedef struct krein_pcg_fits {
    krein_job *job;
    krein_pcg *pcg;
    krein_pcg_rows rows;
    const int32_t *class;
    int64_t lambdas, columns; /* at a time: lambdas; right sides, which are lambdas times outputs */
} krein_pcg_fits;

/* Coordinates of kernel values at landmarks, whose raw features are in blocks. */
krein_status krein__krr_basis(krein_job *job, const krein_blocks *z, krein_basis *out);
/* Sets job->lambda by exact leave-one-out on the kernel matrix of the features. */
krein_status krein__krr_pcg_loo(krein_job *job, krein_features *features,
                                const krein_targets *targets);
/* Sets job->lambda by rows held out, in half of the time that is left. */
krein_status krein__krr_pcg_choose(const krein_pcg_fits *f);
/* Fills the model's calibration by scores of folds, at job->lambda. */
krein_status krein__krr_pcg_calibrate(const krein_pcg_fits *f);
/* Bytes of the latter two; every: every row is held out once. */
double krein__krr_pcg_held_bytes(int64_t n, int64_t D, int64_t k, int64_t columns, bool every);

#endif
