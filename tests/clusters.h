/* clusters.h -- rows with clusters in them, and what a clustering is asked for. */
#ifndef KREIN_TEST_CLUSTERS_H
#define KREIN_TEST_CLUSTERS_H

#include "common.h"

#include "learn/clustering.h"

static krein_ctx *ctx;

/* Rows around k centres, `width` wide. */
static inline float *blobs(int64_t n, int64_t d, int64_t k, double width) {
    float *x = test_new(n * d, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = (float)(3 * det(i % k, j, 1.3) + width * test_random());
    return x;
}

/* Two rings, one in the other; class[i] says which. */
static inline float *rings(int64_t n, double *class) {
    float *x = test_new(n * 2, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double angle = 6.283185307179586 * (double)i / (double)n * 7, radius = i % 2 ? 3 : 1;
        class[i] = (double)(i % 2);
        x[2 * i] = (float)(radius * cos(angle) + .05 * test_random());
        x[2 * i + 1] = (float)(radius * sin(angle) + .05 * test_random());
    }
    return x;
}

static inline krein_features table(krein_ctx *on, int64_t n, int64_t D, float *x, int64_t rows) {
    return (krein_features){.ctx = on,
                            .n = n,
                            .D = D,
                            .rows = rows,
                            .blocks = (n + rows - 1) / rows,
                            .kept = x,
                            .at = -1};
}

static inline krein_kmeans_options wanted(int64_t clusters, int64_t restarts, int64_t steps) {
    return (krein_kmeans_options){
        .clusters = clusters, .restarts = restarts, .steps = steps, .rng = {5, 6}};
}

/* ---- the whole ---------------------------------------------------------- */

typedef struct got {
    int64_t n, label[2000];
} got;
static inline krein_status keep(void *user, const krein_prediction *p) {
    got *g = user;
    g->label[g->n++] = p->label;
    return KREIN_OK;
}

static inline krein_cluster_options asked(const char *kernel, const char *map, int64_t clusters) {
    krein_cluster_options o;
    krein_cluster_options_init(&o);
    o.kernel = kernel;
    o.map = map;
    o.clusters = clusters;
    return o;
}

/* y, weight: or NULL. */
static inline krein_data *rows_of(krein_ctx *on, int64_t n, int64_t d, const float *x,
                                  const double *y, const double *weight) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    if (krein_data_from_dense(on, n, d, x, d, y, weight, &o, &data) != KREIN_OK) return NULL;
    return data;
}

#endif
