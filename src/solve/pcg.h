/* pcg.h -- ridge regression on features without D x D numbers: preconditioned conjugate gradients.
 */
#ifndef KREIN_PCG_H
#define KREIN_PCG_H

#include "solve/features.h"
#include "solve/precondition.h"

typedef struct krein_pcg_rows {
    krein_features *features;
    int64_t k;
    const double *y;      /* n x k */
    const double *weight; /* n, or NULL: ones */
    const int32_t *held;  /* n, or NULL; not negative: the row is not fitted, but scored, as number
                             held[i] of those */
} krein_pcg_rows;

typedef struct krein_pcg_options {
    int64_t sample;  /* rows that the preconditioner is made from; 0: none */
    int64_t columns; /* most right sides at once: lambdas times k */
    uint64_t seed;
    bool cholesky;      /* precondition by a Cholesky factor of the sample's covariance */
    krein_basis *basis; /* not NULL: of raw features, kernel values at its points, that lambda a'Ka
                           is the penalty of. It is factored as the lambdas need, and its points are
                           the sample. Weights that come out are of raw features. */
    double lambda;      /* with a basis: of its first factor */
} krein_pcg_options;

typedef struct krein_pcg krein_pcg;

/* The preconditioner, of all rows (a pass). */
krein_status krein__pcg_create(const krein_pcg_rows *rows, const krein_pcg_options *options,
                               krein_pcg **out);
void krein__pcg_destroy(krein_pcg *s); /* NULL is fine */
/* Rows to be fitted; a pass for their mean. The same features as before. */
krein_status krein__pcg_set_rows(krein_pcg *s, const krein_pcg_rows *rows);
/* From now on (or no longer) the factors of a basis for lambdas near those to be solved will do:
 * for a choice. */
void krein__pcg_near(krein_pcg *s, bool near);
/* The mean over the rows of |z - m|^2, with a basis over its points: what lambda is measured in. */
double krein__pcg_mean_square(const krein_pcg *s);
/* The largest eigenvalue of Gc / W, about. */
krein_status krein__pcg_top(const krein_pcg *s, double *out);

typedef struct krein_pcg_limits {
    double tol;         /* ends where |b - A w| <= tol |b|, in the norm of P^-1 */
    int64_t iterations; /* or after so many */
    double deadline;    /* or at this krein__clock(); 0: never */
    const char *what;   /* for the progress bar */
} krein_pcg_limits;

typedef struct krein_pcg_result {
    int64_t iterations, passes; /* of the column that took most; passes over the features */
    double residual;            /* |b - A w| / |b| of the worst column */
    bool converged;
} krein_pcg_result;

/* For every lambda > 0 and output: w ((lambdas k) x D, lambda-major) and intercepts; score (NULL,
 * or held rows x (lambdas k)): the predictions of the rows not fitted. */
krein_status krein__pcg_solve(krein_pcg *s, int64_t lambdas, const double *lambda,
                              const krein_pcg_limits *limits, double *w, double *intercept,
                              double *score, krein_pcg_result *out);
/* basis: there will be one, which is not counted. rounded: the features are a rounded table. */
double krein__pcg_bytes(int64_t n, int64_t D, int64_t k, int64_t rows, int threads, bool basis,
                        bool rounded, const krein_pcg_options *options);

#endif
