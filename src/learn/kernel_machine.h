/* kernel_machine.h -- support vector machines on the kernel matrix itself, for svm and svr with
 * map=exact. */
#ifndef KREIN_KERNEL_MACHINE_H
#define KREIN_KERNEL_MACHINE_H

#include "learn/learn.h"

typedef struct krein_exact_svm {
    double C;              /* < 0 or NaN: chosen by cross-validation; per unit of the targets */
    double epsilon;        /* of regression: errors up to it cost nothing */
    bool squared;          /* the squared hinge loss */
    int multi;             /* krein_multi: one machine a class against the rest, one for each pair,
                            * or one for all */
    bool no_intercept;     /* one for all: without intercepts */
    bool balanced;         /* C times n / (classes * rows of the class) */
    krein_repair spectrum; /* of an indefinite kernel; NONE: as it is */
    double tol;            /* largest violation of the optimality conditions, in units of the
                            * targets' spread (its power of two) */
    double *chosen_C;      /* out, may be NULL */
} krein_exact_svm;

/* Fill the model's weights and intercepts, and job->loo where C was chosen; the classes' heads must
 * be those of `multi`. krein__exact_svm calibrates where the job asks for probabilities. */
krein_status krein__exact_svm(krein_job *job, const krein_exact_svm *options);
krein_status krein__exact_svr(krein_job *job, const krein_exact_svm *options);
/* Decision values (n x k) of the training rows at the C given, each by machines trained without the
 * row's fold, of five. */
krein_status krein__exact_svm_held_out(krein_job *job, const krein_exact_svm *options,
                                       double *score);
/* Bytes and a guess of the operations, added to out. */
void krein__exact_machine_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                               krein_repair spectrum, krein_cost *out);

#endif
