/* spectral.c -- spectral clustering (ng2002)
 *
 *     L = D^-1/2 W D^-1/2,   D = diag(W 1)
 *
 * U (n x m): the eigenvectors of the largest eigenvalues of L. Its rows are scaled to length one
 * and clustered by k-means.
 *
 * W is one of three:
 *   features   W = Z Z', never formed. d = Z (Z'1); with rows z_i / sqrt(d_i) in Z~, L = Z~ Z~' has
 *              the eigenvectors U = Z~ V S^-1 of the small matrix Z~'Z~ = V S^2 V'. Three passes
 *              over the table, O(n D^2). The diagonal of W stays (the paper takes it off): it is
 *              one of n terms of a degree. Features that only approximate a positive kernel may
 *              give degrees that are not positive; they are refused.
 *   matrix     W = K with a zero diagonal, as in the paper.
 *   graph      W is sparse.
 *
 * Weights w of the rows: w equal rows have equal entries in the eigenvectors v that matter, and for
 * u_i = sqrt(w_i) v_i
 *
 *     L_ij = sqrt(w_i) W_ij sqrt(w_j) / sqrt(d_i d_j),    d_i = sum_j w_j W_ij;
 *
 * rows of length one are the same of u and of v. A row is similar to its copies: where the diagonal
 * of W is taken off, w_i - 1 of them are left (none where w_i < 1). In a graph, neighbours are
 * rows, and no row is its own. A row of weight 0 has v_i = sum_j w_j W_ij v_j / sqrt(d_i d_j) over
 * the eigenvalue, as the others have.
 *
 * Eigenvectors come from num/lanczos.c, whose start follows from the seed. */
#include "learn/clustering.h"

#include "num/blas.h"
#include "num/lanczos.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-8;
enum { STEPS = 2000, ROWS = 1920 };

double krein__spectral_bytes(int64_t n, int64_t order, const krein_kmeans_options *o, int threads) {
    double m = (double)o->clusters;
    return krein__top_eigen_bytes(order, o->clusters, threads) + (double)n * (20 * m + 24) +
           8 * (double)order * (m + 1) +
           krein__kmeans_features_bytes(n, o->clusters, ROWS, o, threads);
}

static krein_status top(krein_ctx *ctx, int64_t n, const krein_kmeans_options *o,
                        krein_operator apply, void *state, double *value, double *vector) {
    double residual;
    krein_rng g = krein__substream(o->rng.seed, o->rng.stream, KREIN_CLUSTER_EIGEN);
    krein_status st = krein__top_eigen(ctx, n, o->clusters, apply, state, g, TOLERANCE, STEPS,
                                       value, vector, &residual);
    if (st == KREIN_OK && residual > TOLERANCE)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "spectral: eigenvectors are accurate to %.1e only, after %d steps", residual,
                   STEPS);
    if (st == KREIN_OK)
        krein__log(ctx, KREIN_LOG_DEBUG, "spectral: eigenvalues from %.9g to %.9g", value[0],
                   value[o->clusters - 1]);
    return st;
}

/* Rows of length one, as float32. */
static void unit_rows(int64_t n, int64_t m, const double *u, float *out) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < m; j++) sum += u[i * m + j] * u[i * m + j];
        double scale = sum > 0 ? 1 / sqrt(sum) : 0;
        for (int64_t j = 0; j < m; j++) out[i * m + j] = (float)(u[i * m + j] * scale);
    }
}

static krein_status cluster_rows(krein_ctx *ctx, int64_t n, float *rows,
                                 const krein_kmeans_options *o, krein_kmeans *out) {
    krein_features t = {.ctx = ctx,
                        .n = n,
                        .D = o->clusters,
                        .rows = krein__min(ROWS, n),
                        .blocks = (n + ROWS - 1) / ROWS,
                        .kept = rows,
                        .at = -1};
    krein_status st = krein__kmeans_features(&t, o, out);
    krein__free(ctx, out->centre); /* of no use outside */
    out->centre = NULL;
    return st;
}

/* An operator whose rows of weight 0 say how those follow from the others, and whose columns of
 * weight 0 are zero. Without these rows it is symmetric. */
typedef struct weighted {
    krein_operator apply;
    void *state;
    int64_t n;
    const double *weight; /* or NULL */
} weighted;

static krein_status apply_weighted(void *state, int64_t k, const double *x, double *y) {
    const weighted *w = state;
    krein_status st = w->apply(w->state, k, x, y);
    for (int64_t i = 0; w->weight && i < w->n; i++)
        if (w->weight[i] == 0) memset(y + i * k, 0, (size_t)k * sizeof *y);
    return st;
}

/* Rows of weight 0 of eigenvectors (n x m); room: as many numbers. */
static krein_status extend(const weighted *w, int64_t m, const double *value, double *vector,
                           double *room) {
    krein_status st = w->apply(w->state, m, vector, room);
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t c = 0; c < m && w->weight[i] == 0; c++)
            vector[i * m + c] = value[c] != 0 ? room[i * m + c] / value[c] : 0;
    return st;
}

/* The top eigenvectors of an n x n operator, clustered. */
static krein_status cluster_operator(krein_ctx *ctx, int64_t n, const krein_kmeans_options *o,
                                     krein_operator apply, void *state, krein_kmeans *out) {
    krein_status st = KREIN_OK;
    double *value = NULL, *vector = NULL, *room = NULL;
    float *rows = NULL;
    weighted w = {apply, state, n, o->weight};
    NEW(value, o->clusters);
    NEW(vector, n * o->clusters);
    NEW(rows, n * o->clusters);
    TRY(top(ctx, n, o, apply_weighted, &w, value, vector));
    if (o->weight) {
        NEW(room, n * o->clusters);
        TRY(extend(&w, o->clusters, value, vector, room));
    }
    unit_rows(n, o->clusters, vector, rows);
    TRY(cluster_rows(ctx, n, rows, o, out));
done:
    krein__free(ctx, value);
    krein__free(ctx, vector);
    krein__free(ctx, room);
    krein__free(ctx, rows);
    return st;
}

/* ---- the matrix --------------------------------------------------------- */

/* sqrt(w / degree) in place; 0 for a row of weight 0. A degree that rounding alone may have made is
 * none. */
static krein_status invert_degrees(krein_ctx *ctx, int64_t n, const krein_kmeans_options *o,
                                   double *degree, const char *way_out) {
    double mean = 0;
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        if (krein__kmeans_weight(o, i) > 0) mean += fabs(degree[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double weight = krein__kmeans_weight(o, i);
        if (weight == 0)
            degree[i] = 0;
        else if (degree[i] > 1e-7 * mean)
            degree[i] = sqrt(weight) / sqrt(degree[i]);
        else
            bad++;
    }
    if (bad == 0) return KREIN_OK;
    return krein__fail(ctx, KREIN_ENUMERIC,
                       "spectral: the similarities of %lld of %lld rows do not sum to a positive "
                       "number; %s",
                       (long long)bad, (long long)n, way_out);
}

krein_status krein__spectral_matrix(krein_ctx *ctx, int64_t n, double *K,
                                    const krein_kmeans_options *o, krein_kmeans *out) {
    krein_status st = KREIN_OK;
    double *degree = NULL;
    krein_dense_operator a = {ctx, n, K};
    NEW(degree, n);
    memset(out, 0, sizeof *out);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double weight = krein__kmeans_weight(o, i);
        K[i * n + i] *= weight > 1 ? (weight - 1) / weight : 0;
        degree[i] = 0;
        for (int64_t j = 0; j < n; j++) degree[i] += krein__kmeans_weight(o, j) * K[i * n + j];
    }
    TRY(invert_degrees(ctx, n, o, degree,
                       "use a wider kernel, one whose values are not negative, or `graph=knn`"));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double own = krein__kmeans_weight(o, i) > 0 ? degree[i] : 1;
        for (int64_t j = 0; j < n; j++) K[i * n + j] *= own * degree[j];
    }
    TRY(cluster_operator(ctx, n, o, krein__apply_dense, &a, out));
done:
    krein__free(ctx, degree);
    return st;
}

/* ---- the graph ---------------------------------------------------------- */

typedef struct sparse {
    krein_ctx *ctx;
    const krein_graph *g;
    const krein_kmeans_options *o;
    const double *scale;
} sparse;

static krein_status apply_sparse(void *state, int64_t k, const double *x, double *y) {
    const sparse *s = state;
    const krein_graph *g = s->g;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < g->n; i++) {
        double *to = y + i * k, own = krein__kmeans_weight(s->o, i) > 0 ? s->scale[i] : 1;
        for (int64_t c = 0; c < k; c++) to[c] = 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            const double *from = x + g->col[e] * k;
            double w = g->val[e] * own * s->scale[g->col[e]];
            for (int64_t c = 0; c < k; c++) to[c] += w * from[c];
        }
    }
    return KREIN_OK;
}

krein_status krein__spectral_graph(krein_ctx *ctx, const krein_graph *g,
                                   const krein_kmeans_options *o, krein_kmeans *out) {
    krein_status st = KREIN_OK;
    double *degree = NULL;
    NEW(degree, g->n);
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < g->n; i++) {
        degree[i] = 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++)
            degree[i] += krein__kmeans_weight(o, g->col[e]) * g->val[e];
    }
    TRY(invert_degrees(ctx, g->n, o, degree, "raise `neighbours`"));
    sparse a = {ctx, g, o, degree};
    TRY(cluster_operator(ctx, g->n, o, apply_sparse, &a, out));
done:
    krein__free(ctx, degree);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* Z'w */
static krein_status sum_rows(krein_features *t, const krein_kmeans_options *o, double *sum) {
    krein_status st = KREIN_OK;
    memset(sum, 0, (size_t)t->D * sizeof *sum);
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
        for (int64_t i = 0; i < n; i++) {
            double weight = krein__kmeans_weight(o, b * t->rows + i);
            for (int64_t j = 0; j < t->D; j++) sum[j] += weight * (double)z[i * t->D + j];
        }
    }
done:
    return st;
}

static krein_status degrees(krein_features *t, const double *sum, double *degree) {
    krein_status st = KREIN_OK;
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double s = 0;
#pragma omp simd reduction(+ : s)
            for (int64_t j = 0; j < t->D; j++) s += (double)z[i * t->D + j] * sum[j];
            degree[b * t->rows + i] = s;
        }
    }
done:
    return st;
}

/* Z~'Z~, both triangles. */
static krein_status covariance(krein_features *t, const double *scale, double *M) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->D, T = krein__syrk_tile(D);
    float *block = NULL, *tile = NULL;
    NEW(block, t->rows * D);
    NEW(tile, ctx->threads * T * T);
    memset(M, 0, (size_t)(D * D) * sizeof *M);
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < D; j++)
                block[i * D + j] = (float)((double)z[i * D + j] * scale[b * t->rows + i]);
        krein__syrk_add(ctx, D, n, block, D, M, D, tile);
        krein__progress(ctx, "covariance", (double)(b + 1), (double)t->blocks);
        TRY(krein__poll(ctx));
    }
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < i; j++) M[i * D + j] = M[j * D + i];
done:
    krein__free(ctx, block);
    krein__free(ctx, tile);
    return st;
}

/* Rows of Z V S^-1, of length one (which their degrees do not change). V S^-1 is D x m. */
static krein_status embed(krein_features *t, int64_t m, const double *V, float *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    double *wide = NULL, *u = NULL;
    NEW(wide, t->rows * t->D);
    NEW(u, t->rows * m);
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
        for (int64_t i = 0; i < n * t->D; i++) wide[i] = (double)z[i];
        krein__pgemm(ctx, false, false, n, m, t->D, 1, wide, t->D, V, m, 0, u, m);
        unit_rows(n, m, u, out + b * t->rows * m);
    }
done:
    krein__free(ctx, wide);
    krein__free(ctx, u);
    return st;
}

/* V S^-1 in place, after a look at S: a direction without mass is not one of the kernel. */
static krein_status whiten(krein_ctx *ctx, int64_t D, int64_t m, const double *value, double *V) {
    for (int64_t k = 0; k < m; k++) {
        if (!(value[k] > 1e-6 * value[0]))
            return krein__fail(
                ctx, KREIN_EDATA,
                "spectral: the features have %lld directions that matter, fewer than %lld "
                "clusters; use more `features` or another kernel, or ask for fewer clusters",
                (long long)k, (long long)m);
        for (int64_t j = 0; j < D; j++) V[j * m + k] /= sqrt(value[k]);
    }
    return KREIN_OK;
}

krein_status krein__spectral_features(krein_features *t, const krein_kmeans_options *o,
                                      krein_kmeans *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->D, m = o->clusters;
    double *sum = NULL, *scale = NULL, *M = NULL, *value = NULL, *V = NULL;
    float *rows = NULL;
    memset(out, 0, sizeof *out);
    if (m > D)
        return krein__fail(ctx, KREIN_EARG,
                           "spectral: %lld features cannot tell %lld clusters apart; use more "
                           "`features`, or `map=exact`",
                           (long long)D, (long long)m);
    NEW(sum, D);
    NEW(scale, t->n);
    NEW(M, D * D);
    NEW(value, m);
    NEW(V, D * m);
    NEW(rows, t->n * m);
    TRY(sum_rows(t, o, sum));
    TRY(degrees(t, sum, scale));
    TRY(invert_degrees(
        ctx, t->n, o, scale,
        "use more `features`, `map=nystrom`, `map=exact`, a wider kernel, or `graph=knn`"));
    TRY(covariance(t, scale, M));
    krein_dense_operator a = {ctx, D, M};
    TRY(top(ctx, D, o, krein__apply_dense, &a, value, V));
    TRY(whiten(ctx, D, m, value, V));
    TRY(embed(t, m, V, rows));
    TRY(cluster_rows(ctx, t->n, rows, o, out));
done:
    krein__free(ctx, sum);
    krein__free(ctx, scale);
    krein__free(ctx, M);
    krein__free(ctx, value);
    krein__free(ctx, V);
    krein__free(ctx, rows);
    return st;
}
