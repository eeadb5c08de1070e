/* clustering.h -- clustering in the space of a kernel: recipes, spectral clustering, neighbour
 * graphs, measures. k-means itself is in solve/kmeans.h. */
#ifndef KREIN_CLUSTER_H
#define KREIN_CLUSTER_H

#include "graph/graph.h"
#include "learn/learn.h"
#include "solve/kmeans.h"

/* ---- clustering.c ------------------------------------------------------- */

typedef struct krein_cluster_job {
    krein_job job;        /* model: encoding and fitted map; not the map for a graph */
    krein_kernel *kernel; /* without free parameters */
    krein_kmeans_options o;
    double *row_weight;     /* n; NULL: all 1. Those of the data where they have any */
    bool spectral, weights; /* weights: fill the model's */
    int64_t neighbours;     /* > 0: spectral clustering of their graph */
    const char *graph_file; /* of that, or NULL */
    int64_t sample;         /* rows of the silhouette, at most; out: how many it has */
    krein_kmeans result;    /* clusters in order, see krein__cluster_order */
    double silhouette;
} krein_cluster_job;

/* By the map of the model, or by a graph where neighbours are asked for. */
krein_status krein__cluster(krein_cluster_job *c);
void krein__cluster_clear(krein_cluster_job *c);
/* Bytes it takes, with the fitted map's. */
double krein__cluster_bytes(const krein_cluster_job *c);
/* How many of the streamed rows with a weight are different, counted up to `most`. */
krein_status krein__distinct_rows(krein_ctx *ctx, krein_stream *rows, int64_t most, int64_t *out);
/* Makes the encoding of a model one of classes "1" .. "m". */
krein_status krein__cluster_classes(krein_ctx *ctx, krein_encoding *e, int64_t m);

/* ---- spectral.c --------------------------------------------------------- */

/* Spectral clustering of the similarities <z_i, z_j>. KREIN_ENUMERIC where a row's similarities do
 * not sum to a positive number. */
krein_status krein__spectral_features(krein_features *t, const krein_kmeans_options *o,
                                      krein_kmeans *out);
/* Of the similarities K (n x n, overwritten). */
krein_status krein__spectral_matrix(krein_ctx *ctx, int64_t n, double *K,
                                    const krein_kmeans_options *o, krein_kmeans *out);

krein_status krein__spectral_graph(krein_ctx *ctx, const krein_graph *g,
                                   const krein_kmeans_options *o, krein_kmeans *out);
/* Bytes of each beside its arguments; n x n, D x D or the graph are not among them. */
double krein__spectral_bytes(int64_t n, int64_t order, const krein_kmeans_options *o, int threads);

/* ---- measures.c --------------------------------------------------------- */

/* Numbers the clusters by mass, the largest first, equal ones by their first row with a weight
 * (n, or NULL). Centres follow; D columns. */
krein_status krein__cluster_order(krein_ctx *ctx, int64_t n, int64_t D, int64_t m,
                                  const double *weight, krein_kmeans *r);
/* Mean silhouette of rows with the inner products G (n x n) and weights (n, or NULL: 1); NaN unless
 * two clusters occur, and one of them has two rows. rows: that of each row (n), or NULL. */
krein_status krein__silhouette(krein_ctx *ctx, int64_t n, const double *G, int64_t m,
                               const int32_t *cluster, const double *weight, double *rows,
                               double *out);
/* Adjusted Rand index, and mutual information over the mean of the entropies, of clusters below m
 * and classes below k. */
krein_status krein__agreement(krein_ctx *ctx, int64_t n, int64_t m, const int32_t *cluster,
                              int64_t k, const int32_t *class, const double *weight, double *ari,
                              double *nmi);

#endif
