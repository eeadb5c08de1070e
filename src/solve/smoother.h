/* smoother.h -- generalised cross-validation and evidence of ridge regression from eigenvalues. */
#ifndef KREIN_SMOOTHER_H
#define KREIN_SMOOTHER_H

#include "solve/ridge.h"

/* Targets (n rows, k outputs, centred where there is an intercept) in the eigenvectors of a kernel
 * matrix (of PSKSP, see dual.c, for weights and an intercept), or in those of Z'Z: m <= n
 * eigenvalues are given, the others are zero. Where more zeros are given than there are (rows
 * without a weight, the eigenvector u), the sums take them out again. */
typedef struct krein_smoother {
    int64_t n, k, m;
    int64_t free;    /* directions without a penalty: 1 with an intercept, else 0 */
    double weight;   /* W, the sum of the weights: n without weights */
    const double *s; /* m, ascending or descending */
    const double *q; /* m: sum over outputs of (v_j'y)^2 */
    double square;   /* |y|^2 over rows and outputs */
} krein_smoother;

double krein__gcv(const krein_smoother *a, double lambda);
double krein__evidence(const krein_smoother *a, double lambda, bool profile);
/* Over a path (filled where p->n is 0): loss is the GCV, or minus the logarithm of the evidence;
 * error is NaN; best is the least loss. */
void krein__gcv_path(const krein_smoother *a, krein_path *p);
void krein__evidence_path(const krein_smoother *a, bool profile, krein_path *p);

/* 1 / (s + shift): eigenvalues of an indefinite kernel are kept as they are, away from a pole. */
double krein__pole_inverse(double s, double shift);

#endif
