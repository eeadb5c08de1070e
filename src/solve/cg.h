/* cg.h -- conjugate gradients for any operator that is self-adjoint in some inner product. */
#ifndef KREIN_CG_H
#define KREIN_CG_H

#include "solve/pcg.h"

/* A x = b, of k columns (n x k, row-major), each with steps of its own. A is self-adjoint and
 * positive in the inner product u'Gv, and so is the inverse of the preconditioner. */
typedef struct krein_cg {
    krein_ctx *ctx;
    int64_t n, k;
    void *state;
    krein_status (*apply)(void *state, const double *p, const double *Gp, double *out); /* A p */
    void (*weigh)(void *state, const double *v, double *out); /* G v; NULL: v'v is the product */
    /* NULL: none. */
    krein_status (*precondition)(void *state, const double *r, const double *Gr, double *out);
    const double *unit; /* k: a column has converged where sqrt(r'Gr) <= tol unit */
} krein_cg;

typedef struct krein_cg_result {
    int64_t iterations;
    double residual;  /* sqrt(r'Gr) / unit of the worst column */
    double condition; /* the ratio of the extreme eigenvalues of the (preconditioned) operator that
                         the steps have seen: it comes near the condition number from below. NaN:
                         fewer than two steps */
    bool converged;
} krein_cg_result;

/* From x as given, where r is the residual b - A x; both are overwritten. */
krein_status krein__cg(const krein_cg *c, const krein_pcg_limits *limits, double *x, double *r,
                       krein_cg_result *out);
/* Bytes that it takes. */
double krein__cg_bytes(int64_t n, int64_t k);

#endif
