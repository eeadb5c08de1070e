/* kmeans.h -- k-means with restarts, on a table of features or on a kernel matrix. */
#ifndef KREIN_SOLVE_KMEANS_H
#define KREIN_SOLVE_KMEANS_H

#include "base/rng.h"
#include "solve/features.h"

typedef struct krein_kmeans_options {
    int64_t clusters, restarts, steps; /* steps: of each run, at most */
    krein_rng rng;
    double least;         /* squared distances up to this are those of equal rows */
    const double *weight; /* n, >= 0: a row counts as so many; NULL: all 1 */
} krein_kmeans_options;

typedef struct krein_kmeans {
    int32_t *cluster; /* n */
    int64_t *size;    /* of the clusters: rows, whatever their weights */
    double *mass;     /* of the clusters: sums of weights */
    double *centre;   /* clusters x D; of a kernel matrix NULL */
    double inertia;   /* sum of the squared distances to the centres */
    int64_t steps;    /* of the run that was best */
    bool settled;     /* it ended because nothing moved */
} krein_kmeans;

/* Rows of weight 0 go to the nearest centre and have no part in it. KREIN_EDATA where fewer of the
 * others differ than there are clusters. */
krein_status krein__kmeans_features(krein_features *t, const krein_kmeans_options *o,
                                    krein_kmeans *out);
/* K is n x n, symmetric. */
krein_status krein__kmeans_matrix(krein_ctx *ctx, int64_t n, const double *K,
                                  const krein_kmeans_options *o, krein_kmeans *out);
void krein__kmeans_clear(krein_ctx *ctx, krein_kmeans *r);
/* Bytes that each holds beside its arguments, with the result. */
double krein__kmeans_features_bytes(int64_t n, int64_t D, int64_t rows,
                                    const krein_kmeans_options *o, int threads);
double krein__kmeans_matrix_bytes(int64_t n, const krein_kmeans_options *o);

/* Inside: that refusal. */
krein_status krein__kmeans_too_few(krein_ctx *ctx, int64_t distinct, int64_t m);
static inline double krein__kmeans_weight(const krein_kmeans_options *o, int64_t i) {
    return o->weight ? o->weight[i] : 1;
}
/* The first seed of a run, of n rows. */
int64_t krein__kmeans_first(const krein_kmeans_options *o, int64_t n, int64_t run);
/* The rows of each cluster: r->size from r->cluster. */
void krein__kmeans_count(int64_t n, int64_t m, krein_kmeans *r);
/* Each empty cluster (count 0) takes the row that is farthest from its centre, of those in
 * clusters of more than one. distance: n squared distances, which become 0 for such rows. move is
 * told; returns how many. */
typedef krein_status (*krein_kmeans_move)(void *state, int64_t row, int32_t to);
krein_status krein__kmeans_fill(int64_t n, int64_t m, const int32_t *cluster, int64_t stride,
                                const int64_t *count, double *distance, krein_kmeans_move move,
                                void *state, int64_t *filled);

#endif
