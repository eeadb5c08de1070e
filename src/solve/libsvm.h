/* libsvm.h -- support vector machines on a kernel matrix, by LIBSVM. */
#ifndef KREIN_LIBSVM_H
#define KREIN_LIBSVM_H

#include "base/base.h"

/* A kernel matrix as LIBSVM reads it. Any number of machines may train on it at once. */
typedef struct krein_libsvm krein_libsvm;

krein_status krein__libsvm_begin(krein_ctx *ctx, int64_t n, const double *K, krein_libsvm **out);
void krein__libsvm_end(krein_libsvm *t); /* NULL is fine */
/* K_ii from now on; not while a machine trains. */
void krein__libsvm_diagonal(krein_libsvm *t, int64_t i, double value);

/* One machine on m of the rows. */
typedef struct krein_svm_machine {
    int64_t m;
    const int64_t *row;
    double *y;         /* -1 and +1, both there; numbers for regression */
    double C[2];       /* of the rows of -1 and of +1; regression: the second */
    double epsilon;    /* regression */
    double tol;        /* largest violation of the optimality conditions */
    double *alpha;     /* out, m: f(x) = sum alpha k(x, row) + intercept */
    double intercept;  /* out */
    double objective;  /* out: of the dual, to be minimised, as LIBSVM prints it */
    int64_t support;   /* out: alphas that are not zero */
    bool unfinished;   /* out: LIBSVM ran out of iterations before tol */
    const char *error; /* out: what LIBSVM says of the parameters, or NULL */
    void **nodes;      /* scratch, m */
} krein_svm_machine;

/* Both may be called in parallel: they take no memory from a context. LIBSVM takes its own, counted
 * below, and cannot be stopped before its solution. */
void krein__libsvm_classify(const krein_libsvm *t, krein_svm_machine *machine);
void krein__libsvm_regress(const krein_libsvm *t, krein_svm_machine *machine);
/* Of the matrix of n rows, and of so many machines on n of them at once. */
double krein__libsvm_bytes(int64_t n, int machines, bool regression);

#endif
