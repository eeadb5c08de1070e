/* capacity.h -- what the spectrum of a kernel matrix says about learning with it. */
#ifndef KREIN_CAPACITY_H
#define KREIN_CAPACITY_H

#include "base/base.h"

/* ---- functions of eigenvalues ------------------------------------------- */

/* The spectrum of K/m, K the kernel matrix of m rows. Eigenvalues that are not above the noise
 * count as zero. */
typedef struct krein_capacity {
    int64_t m, rank;  /* rows; eigenvalues above the noise */
    const double *s;  /* the caller's, descending */
    double kappa;     /* mean of k(x, x): the unit in which theory measures lambda */
    double noise;     /* eigenvalues up to this one are zero */
    double low, high; /* lambdas between which the sample resolves N(lambda) */
    double gamma;     /* N(lambda) <= c lambda^-gamma, in (0, 1] */
    double decay;     /* s_j ~ j^-decay; NaN: too few eigenvalues */
    bool fitted;      /* false: too few rows, and gamma is 1, which always holds */
    bool fast;        /* the eigenvalues end in rounding error: gamma may be less, down to 0 */
} krein_capacity;

extern const double krein__gamma_least; /* a smaller gamma is not told from 0 */

/* s: m numbers, descending, s[0] > noise. */
krein_status krein__capacity_fit(krein_ctx *ctx, int64_t m, const double *s, double noise,
                                 double kappa, krein_capacity *out);
/* N(lambda) = sum_j s_j / (s_j + lambda); below `low` continued by lambda^-gamma. */
double krein__effective_dimension(const krein_capacity *c, double lambda);
/* The lambda at which sum_j s_j / (s_j + lambda) = dimension, 0 < dimension < rank. */
double krein__lambda_of_dimension(int64_t rank, const double *s, double dimension);
/* The fixed point r of r = 2 sqrt((1/n) sum_j min(r/4, t_j)), t_j = s_j / kappa: the local
 * Rademacher complexity of the unit ball. */
double krein__local_rademacher(int64_t rank, const double *s, double kappa, double n);

/* ---- and of labels ------------------------------------------------------ */

typedef struct krein_source {
    bool fitted;      /* false: the labels show nothing that the kernel could learn */
    double measured;  /* r as it comes out, in [0, 1.5] */
    double low, high; /* the r that the labels do not contradict (95 %) */
    double r;         /* measured, in [1/2, 1]; 1/2 where nothing was fitted */
} krein_source;

/* square[j] = (u_j'y)^2 / m, y centred, u_j the eigenvector of s_j, for all m of them (mean over
 * outputs); weight[j] = 1 - (u_j'1)^2 / m, the part of u_j that centring left. */
krein_status krein__source_fit(krein_ctx *ctx, const krein_capacity *c, const double *square,
                               const double *weight, krein_source *out);

/* ---- what theory asks for ----------------------------------------------- */

/* Orders of magnitude with every constant 1, for n rows. */
typedef struct krein_theory {
    double lambda; /* kappa n^(-1 / (2r + gamma)) */
    double rate;   /* excess risk n^(-2r / (2r + gamma)) */
    int64_t features, landmarks, parts;
} krein_theory;
void krein__theory(double r, double gamma, double kappa, int64_t n, krein_theory *out);

/* The same with the constants of the sample: lambda is `found` on m rows, moved to n rows as theory
 * says (NaN: theory's own). */
typedef struct krein_practice {
    double lambda, dimension; /* N(lambda) */
    int64_t features, parts;  /* features or landmarks: N log N and more */
} krein_practice;
void krein__practice(const krein_capacity *c, double r, double found, int64_t n,
                     const krein_theory *theory, krein_practice *out);

/* ---- from rows ---------------------------------------------------------- */

/* Everything above. s belongs to it. */
typedef struct krein_advice {
    double *s; /* m eigenvalues of K/m, descending, not negative */
    krein_capacity capacity;
    krein_source source;
    double found; /* lambda by leave-one-out on the sample; NaN without labels */
    krein_theory theory;
    krein_practice practice;
    double rademacher;
} krein_advice;

/* K (m x m, overwritten with its eigenvectors) is the kernel matrix of a sample of n rows; y is m x
 * k (changed: centred), or NULL. KREIN_EDATA where the kernel is zero or not positive definite. */
krein_status krein__advise(krein_ctx *ctx, int64_t m, double *K, int64_t k, double *y, int64_t n,
                           krein_advice *out);
void krein__advice_clear(krein_ctx *ctx, krein_advice *a);
/* Bytes that it holds beside K and y. */
double krein__advise_bytes(int64_t m, int64_t k);

/* Rows that advice is drawn from by default. */
enum { KREIN_ADVISE_ROWS = 2000 };

#endif
