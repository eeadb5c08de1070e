/* precondition.h -- Cholesky factors for conjugate gradients on features: coordinates in which a
 * penalty a'Ka is |w|^2, and a preconditioner from a covariance. */
#ifndef KREIN_PRECONDITION_H
#define KREIN_PRECONDITION_H

#include "base/base.h"

/* Coordinates w = T a with K + jitter I = T'T. */
typedef struct krein_basis {
    krein_ctx *ctx;
    int64_t n;
    double *k;        /* n x n: K below the diagonal, T on it and above */
    double *diagonal; /* n: of K */
    double size;      /* mean of the diagonal */
    double noise;     /* error of the kernel values that a solver has, root mean square */
    double jitter;    /* < 0: there is no factor yet */
} krein_basis;

/* K (n x n) is taken over, also on failure. */
krein_status krein__basis_make(krein_ctx *ctx, int64_t n, double *K, double noise,
                               krein_basis *out);
void krein__basis_clear(krein_basis *b);
/* The factor for lambdas from this one on; *changed: it is another than before. */
krein_status krein__basis_factor(krein_basis *b, double lambda, bool *changed);
/* The variance of each point's kernel values, from those with some other points (n). */
void krein__basis_variance(const krein_basis *b, double *out);
/* a = T^-1 w and z = T^-T r of m vectors (rows, n each), in place. */
void krein__basis_to_raw(const krein_basis *b, int64_t m, double *v);
void krein__basis_from_raw(const krein_basis *b, int64_t m, double *v);
double krein__basis_bytes(int64_t n);

/* P = S + lambda I = U'U, in single precision: errors of a preconditioner are made up for. */
typedef struct krein_factor {
    krein_ctx *ctx;
    int64_t n;
    float *s;         /* n x n: S below the diagonal, U on it and above */
    double *diagonal; /* n: of S */
    double lambda;    /* of U; < 0: there is none yet */
    double trace;     /* of S */
} krein_factor;

/* S of the points that K is of: their covariance in the coordinates of the basis. */
krein_status krein__factor_of_basis(const krein_basis *b, krein_factor *out);
/* S of these points and some other rows, whose raw features r (rows x n, overwritten) are centred
 * and times the roots of weights that sum up to `weight`. */
krein_status krein__factor_add_rows(krein_factor *f, const krein_basis *b, int64_t rows, float *r,
                                    double weight);
/* S = Z'Z / weight of some rows z (rows x n), which are centred and scaled. */
krein_status krein__factor_of_rows(krein_ctx *ctx, int64_t rows, int64_t n, const float *z,
                                   double weight, krein_factor *out);
void krein__factor_clear(krein_factor *f);
krein_status krein__factor_at(krein_factor *f, double lambda);
/* out = P^-1 r of m vectors (rows); scratch: m n. */
void krein__factor_apply(const krein_factor *f, int64_t m, const double *r, double *out,
                         float *scratch);
/* The largest eigenvalue of S, not above it by more than its error. */
krein_status krein__factor_top(const krein_factor *f, double *out);
double krein__factor_bytes(int64_t n, int threads);

#endif
