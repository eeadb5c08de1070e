/* mirror_store.h -- where mirror descent keeps its dual weights theta_mc = sum_i B_ic phi_m(x_i):
 * by their products with all rows (matrices), or as they are (features). */
#ifndef KREIN_MIRROR_STORE_H
#define KREIN_MIRROR_STORE_H

#include "solve/mirror.h"

typedef struct krein_mirror_store {
    const krein_mirror *m;
    /* matrices */
    double *P;    /* M x classes x n: theta_mc' phi_m(x_i) */
    double *dual; /* n x classes: B */
    /* features */
    int64_t D;
    double *theta;      /* classes x D */
    float *copy;        /* of theta */
    float *dot;         /* classes */
    const float *block; /* the current one, from row `at` on, `rows` of them */
    int64_t at, rows;
    /* both: the row that is visited */
    int64_t row;
    const float *zrow;
    const struct krein_mirror_keep *keep;
} krein_mirror_store;

struct krein_mirror_keep {
    krein_status (*open)(krein_mirror_store *s);
    void (*close)(krein_mirror_store *s);
    /* The t-th row is the one that the others are about. */
    krein_status (*visit)(krein_mirror_store *s, int64_t t);
    /* P (M x classes): its products with the dual weights of the kernels with mu > 0. */
    void (*products)(krein_mirror_store *s, const double *mu, double *P);
    /* Adds it w times to the dual weights of class y, takes it w times off those of class z;
     * square[m]: |theta_m|^2, kept up. mu, P: of the last call of products. */
    void (*change)(krein_mirror_store *s, const double *mu, const double *P, int64_t y, int64_t z,
                   double w, double *square);
    /* |theta_m|^2 anew. */
    void (*squares)(krein_mirror_store *s, double *square);
};

extern const struct krein_mirror_keep krein__mirror_matrices, krein__mirror_features;

#endif
