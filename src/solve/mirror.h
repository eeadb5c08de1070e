/* mirror.h -- several kernels and a machine of many classes learned at once, row by row. */
#ifndef KREIN_MIRROR_H
#define KREIN_MIRROR_H

#include "solve/features.h"

/* min over W_m (classes weights for each kernel m) of
 *     mean_i w_i max_{c != y_i} |1 - f_{y_i}(x_i) + f_c(x_i)|_+
 *         + alpha/2 (sum_m |W_m|^p)^(2/p) + beta sum_m r_m |W_m|,     f_c = sum_m <W_mc, phi_m>,
 * w_i of mean one, q = max(2, 2 ln M), 1/p + 1/q = 1. At any time W_m = mu_m sum_i B_ic phi_m(x_i).
 */
typedef struct krein_mirror {
    krein_ctx *ctx;
    int64_t n, M, classes;
    /* The kernels, by matrices ... */
    double *const *K;     /* M of n x n, symmetric; NULL: by features */
    const int64_t *order; /* n: in which the rows are visited; NULL: as they stand */
    /* ... or by features, visited as they stand. */
    krein_features *z;
    const int64_t *first; /* M + 1: kernel m has the columns first[m] .. first[m+1]-1 */

    const int32_t *class; /* n: y */
    const double *weight; /* n, of any mean; NULL: all one */
    const double *r;      /* M */
    double alpha, beta;
    int64_t epochs;  /* most passes over the rows */
    double tol;      /* stop after an epoch where loss + regulariser <= (1 + tol) bound; 0: never */
    double deadline; /* krein__clock(), 0: none */
    const char *what; /* for the progress bar, or NULL */

    double *mu;        /* M, out */
    double *norm;      /* M, out: |W_m|; or NULL */
    double *B;         /* n x classes, out; or NULL */
    double *objective; /* epochs, out: after each of them, NaN where time was over; or NULL: one
                          more pass over the rows an epoch */
    int64_t visits;    /* out */
    double loss;       /* out: mean over the last epoch, of each row when it was visited */
    double regulariser;
    double bound; /* out: after whole epochs no weights have an objective below it */
} krein_mirror;

krein_status krein__mirror(krein_mirror *m);
/* Bytes beside what the struct points to. */
double krein__mirror_bytes(int64_t n, int64_t M, int64_t classes, int64_t D, bool matrices);

double krein__mirror_q(int64_t M);
/* The minimum over c >= 0 of (t beta r - a)'c + t alpha/2 |c|_p^2, and mu_m = c_m / a_m. a: norms
 * of the dual weights after t rows. */
void krein__mirror_weights(int64_t M, const double *a, const double *r, double alpha, double beta,
                           double q, double t, double *c, double *mu);

#endif
