/* mirror_matrix.c -- mirror descent with kernel matrices: products of the dual weights with all
 * rows. A row that changes them costs 2 n M additions, another one nothing but classes x M reads.
 */
#include "num/blas.h"
#include "solve/mirror_store.h"

/* Additions of a change from which on threads pay. */
enum { PARALLEL = 1 << 15 };

static krein_status open(krein_mirror_store *s) {
    krein_ctx *ctx = s->m->ctx;
    krein_status st = KREIN_OK;
    ZNEW(s->P, s->m->M * s->m->classes * s->m->n);
    ZNEW(s->dual, s->m->n * s->m->classes);
done:
    return st;
}

static void close(krein_mirror_store *s) {
    krein__free(s->m->ctx, s->P);
    krein__free(s->m->ctx, s->dual);
}

static krein_status visit(krein_mirror_store *s, int64_t t) {
    s->row = s->m->order ? s->m->order[t] : t;
    return KREIN_OK;
}

static void products(krein_mirror_store *s, const double *mu, double *P) {
    int64_t C = s->m->classes, n = s->m->n;
    for (int64_t k = 0; k < s->m->M; k++)
        for (int64_t c = 0; mu[k] > 0 && c < C; c++) P[k * C + c] = s->P[(k * C + c) * n + s->row];
}

static void change_one(krein_mirror_store *s, int64_t k, int64_t y, int64_t z, double w,
                       double *square) {
    int64_t C = s->m->classes, n = s->m->n;
    const double *row = s->m->K[k] + s->row * n;
    double *py = s->P + (k * C + y) * n, *pz = s->P + (k * C + z) * n;
    *square += 2 * w * (py[s->row] - pz[s->row]) + 2 * w * w * row[s->row];
    for (int64_t i = 0; i < n; i++) {
        py[i] += w * row[i];
        pz[i] -= w * row[i];
    }
}

static void change(krein_mirror_store *s, const double *mu, const double *P, int64_t y, int64_t z,
                   double w, double *square) {
    const krein_mirror *m = s->m;
    (void)mu;
    (void)P;
    s->dual[s->row * m->classes + y] += w;
    s->dual[s->row * m->classes + z] -= w;
#pragma omp parallel for schedule(static) num_threads(m->ctx->threads) if (m->n * m->M > PARALLEL)
    for (int64_t k = 0; k < m->M; k++) change_one(s, k, y, z, w, &square[k]);
}

static void squares(krein_mirror_store *s, double *square) {
    int64_t C = s->m->classes, n = s->m->n;
    for (int64_t k = 0; k < s->m->M; k++) {
        square[k] = 0;
        for (int64_t c = 0; c < C; c++)
            for (int64_t i = 0; i < n; i++)
                square[k] += s->dual[i * C + c] * s->P[(k * C + c) * n + i];
    }
}

const struct krein_mirror_keep krein__mirror_matrices = {open,     close,  visit,
                                                         products, change, squares};
