/* clustering.c -- clustering, put together: features, kernel matrix or graph; k-means or spectral
 *
 * k-means in the space of the kernel is k-means on features, or on the kernel matrix where the map
 * is exact. The nearest centre is the largest of the scores
 *
 *     <c, z> - |c|^2 / 2,      linear in the features (matrix: in the kernel values),
 *
 * so that the clusters of new rows are predicted by a model like any other; of two clusters, by the
 * difference of the two scores.
 *
 * A row of weight w counts as w equal rows: in centres and inertia, in the similarities of spectral
 * clustering, in the measures, and in what the clusters are numbered by. A row of weight 0 has no
 * part in them and is told its cluster. Neighbours of a graph and samples are rows. */
#include "learn/clustering.h"

#include "learn/examples.h"
#include "num/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__cluster_clear(krein_cluster_job *c) {
    krein__kmeans_clear(c->job.ctx, &c->result);
    krein__free(c->job.ctx, c->row_weight);
}

static bool is_dual(const krein_cluster_job *c) {
    return c->job.model->map && c->job.model->map->cls->traits & KREIN_MAP_DUAL;
}

/* Kernel values of the sampled rows. */
static double measure_rows_bytes(const krein_cluster_job *c, int64_t n, double row) {
    int64_t m = krein__min(n, c->sample), d = c->job.model->encoding.d;
    return 8 * (double)m * ((double)m + 8) + (double)m * row +
           krein__gram_full_bytes(c->kernel, m, krein__min(d, 1024), c->job.ctx->threads);
}

static double graph_bytes(const krein_cluster_job *c, int64_t n, double row) {
    int64_t d = c->job.model->encoding.d;
    int threads = c->job.ctx->threads;
    double graph = 24 * (double)n * (double)c->neighbours;
    double search = krein__graph_bytes(krein__graph_by_distance(c->kernel) ? NULL : c->kernel, n,
                                       krein__min(d, 1024), c->job.model->encoding.sparse,
                                       c->neighbours, threads);
    double spectral = krein__spectral_bytes(n, n, &c->o, threads);
    return (double)n * (row + 12) +
           fmax(search, graph + fmax(spectral, measure_rows_bytes(c, n, row)));
}

static double matrix_bytes(const krein_cluster_job *c, int64_t n, double row) {
    double N = (double)n, weights = c->weights ? 16 * N * (double)c->o.clusters : 0;
    double work = c->spectral ? krein__spectral_bytes(n, n, &c->o, c->job.ctx->threads)
                              : krein__kmeans_matrix_bytes(n, &c->o);
    /* the silhouette comes when the matrix is gone */
    return 4 * N + fmax(8 * N * N + work + weights, weights + measure_rows_bytes(c, n, row));
}

static double features_bytes(const krein_cluster_job *c, int64_t n) {
    const krein_map *map = c->job.model->map;
    int threads = c->job.ctx->threads;
    int64_t D = map->cls->features(map, n), rows = krein__block_rows(map->d);
    double m = (double)krein__min(n, c->sample), d = (double)D;
    double measure = 8 * m * (m + d + 8);
    double work = c->spectral ? 8 * d * d + 12 * (double)rows * d + 4 * 512 * 512.0 * threads +
                                    krein__spectral_bytes(n, D, &c->o, threads)
                              : krein__kmeans_features_bytes(n, D, rows, &c->o, threads);
    return krein__examples_bytes(map, n) + 4 * (double)n + 40 * d * (double)c->o.clusters +
           fmax(work, measure);
}

double krein__cluster_bytes(const krein_cluster_job *c) {
    const krein_map *map = c->job.model->map;
    const krein_encoding *e = &c->job.model->encoding;
    int64_t n = c->job.n;
    /* of sparse rows, some thousand entries each */
    double row = e->sparse ? 8 * fmin((double)e->d, 1024) : 4 * (double)e->d;
    double weights = c->job.data->has_weight ? 24 * (double)n : 0;
    if (c->neighbours > 0) return weights + graph_bytes(c, n, row);
    krein_cost cost = {0};
    map->cls->cost(map, n, &cost);
    return weights + cost.bytes + (is_dual(c) ? matrix_bytes(c, n, row) : features_bytes(c, n));
}

/* ---- distinct rows ------------------------------------------------------ */

static bool is_new(const float *row, const float *kept, int64_t have, int64_t d) {
    for (int64_t k = 0; k < have; k++)
        if (memcmp(row, kept + k * d, (size_t)d * sizeof *row) == 0) return false;
    return true;
}

krein_status krein__distinct_rows(krein_ctx *ctx, krein_stream *rows, int64_t most, int64_t *out) {
    krein_status st = KREIN_OK;
    int64_t d = krein__stream_encoding(rows)->d;
    float *kept = NULL;
    krein_block b;
    *out = 0;
    NEW(kept, most * d);
    TRY(krein__stream_rewind(rows));
    while (*out < most) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n && *out < most; i++) {
            if (b.weight && b.weight[i] == 0) continue;
            krein__row_copy(&b.x, i, kept + *out * d);
            *out += is_new(kept + *out * d, kept, *out, d);
        }
    }
done:
    krein__free(ctx, kept);
    return st;
}

/* ---- silhouette --------------------------------------------------------- */

/* The sampled rows, ascending, of those with a weight. */
static krein_status choose(krein_cluster_job *c, int64_t **index, int64_t *m) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t *rows = NULL, from = 0;
    NEW(rows, c->job.n);
    for (int64_t i = 0; i < c->job.n; i++)
        if (!c->row_weight || c->row_weight[i] > 0) rows[from++] = i;
    *m = c->sample = krein__min(from, c->sample);
    NEW(*index, *m);
    krein__rng_choose((krein_rng){c->job.seed, KREIN_STREAM_SAMPLE}, from, *m, *index);
    for (int64_t i = 0; i < *m; i++) (*index)[i] = rows[(*index)[i]];
done:
    krein__free(ctx, rows);
    return st;
}

static krein_status silhouette(krein_cluster_job *c, int64_t m, const int64_t *index,
                               const double *G) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int32_t *cluster = NULL;
    double *weight = NULL;
    NEW(cluster, m);
    if (c->row_weight) NEW(weight, m);
    for (int64_t i = 0; i < m; i++) {
        cluster[i] = c->result.cluster[index[i]];
        if (weight) weight[i] = c->row_weight[index[i]];
    }
    TRY(krein__silhouette(ctx, m, G, c->o.clusters, cluster, weight, NULL, &c->silhouette));
done:
    krein__free(ctx, cluster);
    krein__free(ctx, weight);
    return st;
}

static krein_status measure_rows(krein_cluster_job *c, const krein_rows *x) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    krein_matrix part = {0};
    int64_t *index = NULL, m;
    double *G = NULL;
    TRY(choose(c, &index, &m));
    TRY(krein__matrix_gather(ctx, x, index, m, &part));
    NEW(G, m * m);
    krein_rows rows = krein__matrix_rows(&part);
    TRY(krein__gram_full(ctx, c->kernel, &rows, &rows, G));
    TRY(silhouette(c, m, index, G));
done:
    krein__matrix_clear(ctx, &part);
    krein__free(ctx, index);
    krein__free(ctx, G);
    return st;
}

static krein_status measure_features(krein_cluster_job *c, krein_features *t) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, m;
    double *G = NULL, *wide = NULL;
    TRY(choose(c, &index, &m));
    NEW(wide, m * t->D);
    NEW(G, m * m);
    for (int64_t i = 0; i < m; i++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, index[i] / t->rows, &z, &n));
        z += index[i] % t->rows * t->D;
        for (int64_t j = 0; j < t->D; j++) wide[i * t->D + j] = (double)z[j];
    }
    krein__pgemm(ctx, false, true, m, m, t->D, 1, wide, t->D, wide, t->D, 0, G, m);
    TRY(silhouette(c, m, index, G));
done:
    krein__free(ctx, index);
    krein__free(ctx, wide);
    krein__free(ctx, G);
    return st;
}

/* ---- the model ---------------------------------------------------------- */

krein_status krein__cluster_classes(krein_ctx *ctx, krein_encoding *e, int64_t m) {
    krein_status st = KREIN_OK;
    char text[32];
    for (int64_t k = 0; e->class_name && k < e->nclass; k++) krein__free(ctx, e->class_name[k]);
    krein__free(ctx, e->class_name);
    krein__free(ctx, e->class_value);
    e->class_name = NULL;
    e->class_value = NULL;
    e->task = KREIN_TASK_CLASSIFICATION;
    e->outputs = 1;
    e->label_text = false;
    e->nclass = m;
    ZNEW(e->class_name, m);
    NEW(e->class_value, m);
    for (int64_t k = 0; k < m; k++) {
        snprintf(text, sizeof text, "%lld", (long long)k + 1);
        DUP(e->class_name[k], text);
        e->class_value[k] = (double)(k + 1);
    }
done:
    return st;
}

static krein_status model_begin(krein_cluster_job *c) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    krein_model *model = c->job.model;
    model->head = KREIN_HEAD_BEST;
    model->k = c->o.clusters == 2 ? 1 : c->o.clusters;
    ZNEW(model->w, model->map->R * model->k);
    ZNEW(model->intercept, model->k);
done:
    return st;
}

/* Weights (R x k) and intercepts from the centres' (R x m, m): the same, but for two clusters. */
static void scores(int64_t R, int64_t m, const double *w, const double *b, double *to_w,
                   double *to_b) {
    if (m != 2) {
        memcpy(to_w, w, (size_t)(R * m) * sizeof *w);
        memcpy(to_b, b, (size_t)m * sizeof *b);
        return;
    }
    for (int64_t j = 0; j < R; j++) to_w[j] = w[2 * j + 1] - w[2 * j];
    to_b[0] = b[1] - b[0];
}

static krein_status model_features(krein_cluster_job *c, const krein_examples *ex) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t D = ex->map->D, m = c->o.clusters;
    double *w = NULL, *b = NULL, *own = NULL;
    NEW(w, D * m);
    ZNEW(b, m);
    NEW(own, (D + 1) * m);
    TRY(model_begin(c));
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < D; j++) {
            double v = c->result.centre[k * D + j];
            w[j * m + k] = v;
            b[k] -= v * v / 2;
        }
    scores(D, m, w, b, own, own + D * m);
    TRY(krein__examples_finish(ex, own, own + D * m, c->job.model));
done:
    krein__free(ctx, w);
    krein__free(ctx, b);
    krein__free(ctx, own);
    return st;
}

static krein_status model_matrix(krein_cluster_job *c, const double *K) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t n = c->job.n, m = c->o.clusters;
    const int32_t *cluster = c->result.cluster;
    double *w = NULL, *b = NULL;
    ZNEW(w, n * m);
    ZNEW(b, m);
    TRY(model_begin(c));
    for (int64_t i = 0; i < n; i++) {
        double weight = krein__kmeans_weight(&c->o, i), mass = c->result.mass[cluster[i]], sum = 0;
        if (weight == 0) continue;
        w[i * m + cluster[i]] = weight / mass;
        for (int64_t j = 0; j < n; j++)
            if (cluster[j] == cluster[i]) sum += krein__kmeans_weight(&c->o, j) * K[i * n + j];
        b[cluster[i]] -= weight * sum / (2 * mass * mass);
    }
    scores(n, m, w, b, c->job.model->w, c->job.model->intercept);
done:
    krein__free(ctx, w);
    krein__free(ctx, b);
    return st;
}

/* ---- the three ways ----------------------------------------------------- */

static krein_status order(krein_cluster_job *c, int64_t D) {
    if (!c->result.settled)
        krein__log(c->job.ctx, KREIN_LOG_WARNING,
                   "k-means: rows still moved after %lld steps; the clusters are those of the last",
                   (long long)c->result.steps);
    return krein__cluster_order(c->job.ctx, c->job.n, D, c->o.clusters, c->row_weight, &c->result);
}

/* Equal rows have equal features, but for the rounding of a mix. */
static double rounding(const krein_examples *ex) {
    double square = 0;
    if (!ex->map->mix) return 0;
    for (int64_t j = 0; ex->offset && j < ex->map->D; j++)
        square += (double)ex->offset[j] * (double)ex->offset[j];
    return 1e-12 * square;
}

static krein_status by_features(krein_cluster_job *c) {
    krein_status st = KREIN_OK;
    krein_examples ex = {0};
    /* Distances do not change when the mean is taken off, and float32 keeps more of them. */
    c->job.ordered = true;
    TRY(krein__examples_open(&c->job, c->job.n, !c->spectral, &ex));
    c->o.least = rounding(&ex);
    if (c->spectral)
        TRY(krein__spectral_features(&ex.features, &c->o, &c->result));
    else
        TRY(krein__kmeans_features(&ex.features, &c->o, &c->result));
    TRY(order(c, ex.map->D));
    TRY(measure_features(c, &ex.features));
    if (c->weights) TRY(model_features(c, &ex));
done:
    krein__examples_close(&ex);
    return st;
}

static krein_status by_matrix(krein_cluster_job *c) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t n = c->job.n;
    double *K = NULL;
    krein_rows x = krein__map_landmarks(c->job.model->map);
    NEW(K, n * n);
    TRY(krein__gram_full(ctx, c->kernel, &x, &x, K));
    if (c->spectral)
        TRY(krein__spectral_matrix(ctx, n, K, &c->o, &c->result));
    else
        TRY(krein__kmeans_matrix(ctx, n, K, &c->o, &c->result));
    TRY(order(c, 0));
    if (c->weights) TRY(model_matrix(c, K));
    krein__free(ctx, K);
    K = NULL;
    TRY(measure_rows(c, &x));
done:
    krein__free(ctx, K);
    return st;
}

static krein_status gather_all(krein_cluster_job *c, krein_matrix *out) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, n = c->job.n;
    NEW(index, n);
    for (int64_t i = 0; i < n; i++) index[i] = i;
    TRY(krein__stream_gather(c->job.rows, index, n, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    return st;
}

static krein_status by_graph(krein_cluster_job *c) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    krein_matrix all = {0};
    krein_graph g = {0};
    int64_t rows = 0;
    for (int64_t i = 0; i < c->job.n; i++) rows += krein__kmeans_weight(&c->o, i) > 0;
    if (c->neighbours >= rows) {
        st = krein__fail(ctx, KREIN_EARG, "%lld rows do not have %lld `neighbours` each",
                         (long long)rows, (long long)c->neighbours);
        goto done;
    }
    TRY(gather_all(c, &all));
    krein_rows x = krein__matrix_rows(&all);
    krein_graph_options o = {.k = c->neighbours, .edges = KREIN_EDGES_MEAN, .seed = c->job.seed};
    const krein_kernel *kernel = krein__graph_by_distance(c->kernel) ? NULL : c->kernel;
    TRY(krein__graph_get(ctx, c->graph_file, kernel, &x, c->row_weight, &o, &g));
    int64_t pieces = krein__graph_pieces(ctx, &g, NULL);
    if (pieces < 0) {
        st = ctx->status;
        goto done;
    }
    if (pieces > c->o.clusters)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "the graph of %lld neighbours falls into %lld pieces, more than %lld clusters: "
                   "which of them go together is chance; raise `neighbours`",
                   (long long)c->neighbours, (long long)pieces, (long long)c->o.clusters);
    TRY(krein__spectral_graph(ctx, &g, &c->o, &c->result));
    TRY(order(c, 0));
    TRY(measure_rows(c, &x));
done:
    krein__graph_clear(ctx, &g);
    krein__matrix_clear(ctx, &all);
    return st;
}

/* Weights that are all 1 are none. */
static krein_status take_weights(krein_cluster_job *c) {
    krein_ctx *ctx = c->job.ctx;
    krein_status st = KREIN_OK;
    bool same = true;
    if (!c->job.data->has_weight) goto done;
    NEW(c->row_weight, c->job.n);
    TRY(krein__job_targets(&c->job, NULL, NULL, c->row_weight, NULL));
    for (int64_t i = 0; i < c->job.n; i++) same &= c->row_weight[i] == 1;
    if (same) {
        krein__free(ctx, c->row_weight);
        c->row_weight = NULL;
    }
    c->o.weight = c->row_weight;
done:
    return st;
}

krein_status krein__cluster(krein_cluster_job *c) {
    krein_status st = KREIN_OK;
    c->silhouette = NAN;
    TRY(take_weights(c));
    if (c->neighbours > 0)
        TRY(by_graph(c));
    else
        TRY(is_dual(c) ? by_matrix(c) : by_features(c));
done:
    return st;
}
