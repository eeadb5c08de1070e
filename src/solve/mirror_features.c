/* mirror_features.c -- mirror descent on features: the dual weights themselves.
 *
 * They are kept in float64, since sums over many rows cancel, with a float32 copy for the products.
 * A row costs classes x D multiplications, of the kernels with a weight alone; one that changes the
 * dual weights 5 D more. */
#include "num/blas.h"
#include "solve/mirror_store.h"

static krein_status open(krein_mirror_store *s) {
    krein_ctx *ctx = s->m->ctx;
    krein_status st = KREIN_OK;
    s->D = s->m->z->D;
    ZNEW(s->theta, s->m->classes * s->D);
    ZNEW(s->copy, s->m->classes * s->D);
    NEW(s->dot, s->m->classes);
done:
    return st;
}

static void close(krein_mirror_store *s) {
    krein__free(s->m->ctx, s->theta);
    krein__free(s->m->ctx, s->copy);
    krein__free(s->m->ctx, s->dot);
}

static krein_status visit(krein_mirror_store *s, int64_t t) {
    if (t < s->at || t >= s->at + s->rows) {
        int64_t block = t / s->m->z->rows;
        krein_status st = krein__features_block(s->m->z, block, &s->block, &s->rows);
        if (st != KREIN_OK) return st;
        s->at = block * s->m->z->rows;
    }
    s->row = t;
    s->zrow = s->block + (t - s->at) * s->D;
    return KREIN_OK;
}

static void products(krein_mirror_store *s, const double *mu, double *P) {
    int64_t C = s->m->classes;
    for (int64_t k = 0; k < s->m->M; k++) {
        int64_t at = s->m->first[k], D = s->m->first[k + 1] - at;
        if (!(mu[k] > 0)) continue;
        krein__sdot_rows(C, D, s->copy + at, s->D, s->zrow + at, s->dot);
        for (int64_t c = 0; c < C; c++) P[k * C + c] = (double)s->dot[c];
    }
}

/* theta_my'z - theta_mz'z of a kernel without a weight. */
static double difference(const krein_mirror_store *s, int64_t at, int64_t D, int64_t y, int64_t z) {
    const float *x = s->zrow + at;
    float py, pz;
    krein__sdot_rows(1, D, s->copy + y * s->D + at, s->D, x, &py);
    krein__sdot_rows(1, D, s->copy + z * s->D + at, s->D, x, &pz);
    return (double)py - (double)pz;
}

static void add(const krein_mirror_store *s, int64_t class, double w) {
    const float *x = s->zrow;
    double *theta = s->theta + class * s->D;
    float *copy = s->copy + class * s->D;
    for (int64_t j = 0; j < s->D; j++) {
        theta[j] += w * (double)x[j];
        copy[j] = (float)theta[j];
    }
}

static void change(krein_mirror_store *s, const double *mu, const double *P, int64_t y, int64_t z,
                   double w, double *square) {
    int64_t C = s->m->classes;
    const float *x = s->zrow;
    for (int64_t k = 0; k < s->m->M; k++) {
        int64_t at = s->m->first[k], D = s->m->first[k + 1] - at;
        float own;
        krein__sdot_rows(1, D, x + at, D, x + at, &own);
        double both = mu[k] > 0 ? P[k * C + y] - P[k * C + z] : difference(s, at, D, y, z);
        square[k] += 2 * w * both + 2 * w * w * (double)own;
    }
    add(s, y, w);
    add(s, z, -w);
}

static void squares(krein_mirror_store *s, double *square) {
    for (int64_t k = 0; k < s->m->M; k++) {
        square[k] = 0;
        for (int64_t c = 0; c < s->m->classes; c++)
            for (int64_t j = s->m->first[k]; j < s->m->first[k + 1]; j++)
                square[k] += s->theta[c * s->D + j] * s->theta[c * s->D + j];
    }
}

const struct krein_mirror_keep krein__mirror_features = {open,     close,  visit,
                                                         products, change, squares};
