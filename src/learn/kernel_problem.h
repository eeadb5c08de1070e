/* kernel_problem.h -- the machines of one training on a kernel matrix: what kernel_machine.c (the
 * fit) and kernel_choice.c (the choice of C) share. */
#ifndef KREIN_KERNEL_PROBLEM_H
#define KREIN_KERNEL_PROBLEM_H

#include "learn/kernel_matrix.h"
#include "solve/smo.h"

typedef struct krein_kernel_problem {
    krein_ctx *ctx;
    krein_job *job;
    int64_t k, classes; /* machines; classes 0: regression */
    int multi;          /* krein_multi */
    bool labels;        /* several a row: a machine for each, by the targets */
    bool pairs, squared, intercept;
    double epsilon, tol;
    double *class_weight; /* classes, or NULL: all 1 */
    double unit;          /* weight of a row: unit times that of krein_exact */
    double scale;         /* targets are numbers / scale */
    double deadline;      /* krein__clock() at which machines end with what they have; 0: never */
    krein_exact all;
    krein_repair repair; /* NONE: nothing to repair */
    double *V, *w;       /* eigenpairs of K where it was clipped or flipped */
} krein_kernel_problem;

/* Rows that C is chosen on, at most; values of C tried, at most; rows that are scored at once. */
enum { KREIN_KERNEL_SAMPLE = 2000, KREIN_KERNEL_GRID = 9, KREIN_KERNEL_STRIP = 256 };

/* The weight of row i in training: its own times that of its class. */
double krein__kernel_weight(const krein_kernel_problem *p, const krein_exact *r, int64_t i);
/* All machines, for each fold without its rows (fold NULL: one set, of all rows): w is folds x n x
 * k, b folds x k. */
krein_status krein__kernel_train(const krein_kernel_problem *p, const krein_exact *r, double C,
                                 const int32_t *fold, int64_t folds, double *w, double *b);
/* score (n x k) of every row by the machines that have not seen its fold. */
krein_status krein__kernel_held_out(const krein_kernel_problem *p, const krein_exact *r, double C,
                                    const int32_t *fold, int64_t folds, double *score);
/* The C of cross-validation; sets loo and cv_folds of the job. */
krein_status krein__kernel_choose_C(krein_kernel_problem *p, double *C);

#endif
