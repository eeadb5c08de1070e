/* measures.c -- the quality of a clustering
 *
 * Silhouette (rousseeuw1987): a_i the mean distance of row i to the other rows of its cluster, b_i
 * the smallest mean distance to the rows of another; the mean of (b_i - a_i) / max(a_i, b_i), 0 for
 * a row that is alone. Distances are sqrt(G_ii + G_jj - 2 G_ij).
 *
 * Agreement with classes, from the table n_cl of rows in cluster c and class l:
 *     adjusted Rand index (hubert1985)     (pairs - e) / ((P + Q) / 2 - e),   e = P Q / all pairs,
 *         pairs, P, Q: pairs of rows in one cluster and class, one cluster, one class
 *     normalised mutual information        I(c; l) / ((H(c) + H(l)) / 2)
 * Both are 1 for equal partitions, and do not change when clusters are renumbered. */
#include "learn/clustering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order -------------------------------------------------------------- */

typedef struct place {
    int64_t size, first, was;
} place;

static int by_size(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

krein_status krein__cluster_order(krein_ctx *ctx, int64_t n, int64_t D, int64_t m,
                                  krein_kmeans *r) {
    krein_status st = KREIN_OK;
    place *p = NULL;
    int32_t *number = NULL;
    double *centre = NULL;
    NEW(p, m);
    NEW(number, m);
    if (r->centre) NEW(centre, m * D);
    for (int64_t c = 0; c < m; c++) p[c] = (place){r->size[c], n + c, c};
    for (int64_t i = n - 1; i >= 0; i--) p[r->cluster[i]].first = i;
    qsort(p, (size_t)m, sizeof *p, by_size);
    for (int64_t c = 0; c < m; c++) {
        number[p[c].was] = (int32_t)c;
        r->size[c] = p[c].size;
        if (centre) memcpy(centre + c * D, r->centre + p[c].was * D, (size_t)D * sizeof *centre);
    }
    for (int64_t i = 0; i < n; i++) r->cluster[i] = number[r->cluster[i]];
    if (centre) {
        double *old = r->centre;
        r->centre = centre;
        centre = old;
    }
done:
    krein__free(ctx, p);
    krein__free(ctx, number);
    krein__free(ctx, centre);
    return st;
}

/* ---- silhouette --------------------------------------------------------- */

/* Of row i; sum: room for m. */
static double silhouette(int64_t n, const double *G, int64_t m, const int32_t *cluster,
                         const int64_t *count, int64_t i, double *sum) {
    int64_t own = cluster[i];
    double near = INFINITY;
    if (count[own] < 2) return 0;
    for (int64_t c = 0; c < m; c++) sum[c] = 0;
    for (int64_t j = 0; j < n; j++)
        if (j != i)
            sum[cluster[j]] += sqrt(fmax(0, G[i * n + i] + G[j * n + j] - 2 * G[i * n + j]));
    for (int64_t c = 0; c < m; c++)
        if (c != own && count[c] > 0) near = fmin(near, sum[c] / (double)count[c]);
    double within = sum[own] / (double)(count[own] - 1), larger = fmax(within, near);
    return larger > 0 ? (near - within) / larger : 0;
}

krein_status krein__silhouette(krein_ctx *ctx, int64_t n, const double *G, int64_t m,
                               const int32_t *cluster, double *out) {
    krein_status st = KREIN_OK;
    int64_t *count = NULL, used = 0;
    double *sum = NULL, *each = NULL, total = 0;
    int threads = ctx->threads;
    *out = NAN;
    ZNEW(count, m);
    NEW(sum, m * threads);
    NEW(each, n);
    for (int64_t i = 0; i < n; i++) used += count[cluster[i]]++ == 0;
    if (used < 2 || used > n - 1) goto done;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t t = 0; t < threads; t++)
        for (int64_t i = t; i < n; i += threads)
            each[i] = silhouette(n, G, m, cluster, count, i, sum + t * m);
    for (int64_t i = 0; i < n; i++) total += each[i];
    *out = total / (double)n;
done:
    krein__free(ctx, count);
    krein__free(ctx, sum);
    krein__free(ctx, each);
    return st;
}

/* ---- agreement ---------------------------------------------------------- */

static double pairs(double n) { return n * (n - 1) / 2; }
static double entropy_part(double n, double of) { return n > 0 ? -n / of * log(n / of) : 0; }

/* Where every pair agrees, the quotient may be 0 / 0. */
static double rand_index(double n, double both, double in_cluster, double in_class) {
    double expected = pairs(n) > 0 ? in_cluster * in_class / pairs(n) : 0;
    if (both == in_cluster && both == in_class) return 1;
    return (both - expected) / ((in_cluster + in_class) / 2 - expected);
}

krein_status krein__agreement(krein_ctx *ctx, int64_t n, int64_t m, const int32_t *cluster,
                              int64_t k, const int32_t *class, double *ari, double *nmi) {
    krein_status st = KREIN_OK;
    double *table = NULL, *row = NULL, *column = NULL, N = (double)n;
    double both = 0, in_cluster = 0, in_class = 0, mutual = 0, h_cluster = 0, h_class = 0;
    ZNEW(table, m * k);
    ZNEW(row, m);
    ZNEW(column, k);
    for (int64_t i = 0; i < n; i++) {
        table[cluster[i] * k + class[i]]++;
        row[cluster[i]]++;
        column[class[i]]++;
    }
    for (int64_t c = 0; c < m; c++) {
        in_cluster += pairs(row[c]);
        h_cluster += entropy_part(row[c], N);
    }
    for (int64_t l = 0; l < k; l++) {
        in_class += pairs(column[l]);
        h_class += entropy_part(column[l], N);
    }
    for (int64_t c = 0; c < m; c++)
        for (int64_t l = 0; l < k; l++) {
            double t = table[c * k + l];
            both += pairs(t);
            if (t > 0) mutual += t / N * (log(t / row[c]) - log(column[l] / N));
        }
    *ari = rand_index(N, both, in_cluster, in_class);
    double mean = (h_cluster + h_class) / 2;
    *nmi = mean > 0 ? fmax(0, mutual) / mean : 1;
done:
    krein__free(ctx, table);
    krein__free(ctx, row);
    krein__free(ctx, column);
    return st;
}
