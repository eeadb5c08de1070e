/* measures.c -- the quality of a clustering
 *
 * Silhouette (rousseeuw1987): a_i the mean distance of row i to the other rows of its cluster, b_i
 * the smallest mean distance to the rows of another; the mean of (b_i - a_i) / max(a_i, b_i), 0 for
 * a row that is alone. Distances are sqrt(G_ii + G_jj - 2 G_ij). A row of weight w counts as w
 * rows: its own cluster has w - 1 others at distance 0 beside those of other rows; none where w
 * < 1.
 *
 * Agreement with classes, from the table n_cl of rows in cluster c and class l:
 *     adjusted Rand index (hubert1985)     (pairs - e) / ((P + Q) / 2 - e),   e = P Q / all pairs,
 *         pairs, P, Q: pairs of rows in one cluster and class, one cluster, one class
 *     normalised mutual information        I(c; l) / ((H(c) + H(l)) / 2)
 * Of weighted rows n_cl is a sum of weights, and their pairs are (n_cl^2 - sum w min(1, w)) / 2: a
 * row is in no pair with itself, but with its copies.
 * Both are 1 for equal partitions, and do not change when clusters are renumbered. */
#include "learn/clustering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double weight_of(const double *weight, int64_t i) { return weight ? weight[i] : 1; }

/* ---- order -------------------------------------------------------------- */

typedef struct place {
    double mass;
    int64_t size, first, was;
} place;

static int by_size(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->mass != y->mass) return x->mass > y->mass ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

krein_status krein__cluster_order(krein_ctx *ctx, int64_t n, int64_t D, int64_t m,
                                  const double *weight, krein_kmeans *r) {
    krein_status st = KREIN_OK;
    place *p = NULL;
    int32_t *number = NULL;
    double *centre = NULL;
    NEW(p, m);
    NEW(number, m);
    if (r->centre) NEW(centre, m * D);
    for (int64_t c = 0; c < m; c++) p[c] = (place){r->mass[c], r->size[c], n + c, c};
    for (int64_t i = n - 1; i >= 0; i--)
        if (weight_of(weight, i) > 0) p[r->cluster[i]].first = i;
    qsort(p, (size_t)m, sizeof *p, by_size);
    for (int64_t c = 0; c < m; c++) {
        number[p[c].was] = (int32_t)c;
        r->size[c] = p[c].size;
        r->mass[c] = p[c].mass;
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

/* Of row i; mass: of the clusters; sum: room for m. */
static double silhouette(int64_t n, const double *G, int64_t m, const int32_t *cluster,
                         const double *weight, const double *mass, int64_t i, double *sum) {
    int64_t own = cluster[i];
    double near = INFINITY, others = mass[own] - fmin(1, weight_of(weight, i));
    if (!(others > 0)) return 0;
    for (int64_t c = 0; c < m; c++) sum[c] = 0;
    for (int64_t j = 0; j < n; j++)
        if (j != i)
            sum[cluster[j]] += weight_of(weight, j) *
                               sqrt(fmax(0, G[i * n + i] + G[j * n + j] - 2 * G[i * n + j]));
    for (int64_t c = 0; c < m; c++)
        if (c != own && mass[c] > 0) near = fmin(near, sum[c] / mass[c]);
    double within = sum[own] / others, larger = fmax(within, near);
    return larger > 0 ? (near - within) / larger : 0;
}

/* Two clusters at least, and a row that is not alone in its own. */
static bool has_silhouette(int64_t n, int64_t m, const int32_t *cluster, const double *weight,
                           const double *mass) {
    int64_t used = 0;
    bool company = false;
    for (int64_t c = 0; c < m; c++) used += mass[c] > 0;
    for (int64_t i = 0; i < n; i++) company |= mass[cluster[i]] > fmin(1, weight_of(weight, i));
    return used >= 2 && company;
}

krein_status krein__silhouette(krein_ctx *ctx, int64_t n, const double *G, int64_t m,
                               const int32_t *cluster, const double *weight, double *rows,
                               double *out) {
    krein_status st = KREIN_OK;
    double *mass = NULL, *sum = NULL, *own = NULL, *each = rows, total = 0, all = 0;
    int threads = ctx->threads;
    *out = NAN;
    ZNEW(mass, m);
    NEW(sum, m * threads);
    if (!each) {
        NEW(own, n);
        each = own;
    }
    for (int64_t i = 0; i < n; i++) each[i] = NAN;
    for (int64_t i = 0; i < n; i++) mass[cluster[i]] += weight_of(weight, i);
    if (!has_silhouette(n, m, cluster, weight, mass)) goto done;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t t = 0; t < threads; t++)
        for (int64_t i = t; i < n; i += threads)
            each[i] = silhouette(n, G, m, cluster, weight, mass, i, sum + t * m);
    for (int64_t i = 0; i < n; i++) {
        total += weight_of(weight, i) * each[i];
        all += weight_of(weight, i);
    }
    *out = total / all;
done:
    krein__free(ctx, mass);
    krein__free(ctx, sum);
    krein__free(ctx, own);
    return st;
}

/* ---- agreement ---------------------------------------------------------- */

/* Of rows: the sum of their weights, and what a row has with itself. */
typedef struct part {
    double n, self;
} part;

static void part_add(part *p, double weight) {
    p->n += weight;
    p->self += weight * fmin(1, weight);
}

static double pairs(part p) { return (p.n * p.n - p.self) / 2; }
static double entropy_part(double n, double of) { return n > 0 ? -n / of * log(n / of) : 0; }

/* Where every pair agrees, the quotient may be 0 / 0. */
static double rand_index(double all, double both, double in_cluster, double in_class) {
    double expected = all > 0 ? in_cluster * in_class / all : 0;
    if (both == in_cluster && both == in_class) return 1;
    return (both - expected) / ((in_cluster + in_class) / 2 - expected);
}

krein_status krein__agreement(krein_ctx *ctx, int64_t n, int64_t m, const int32_t *cluster,
                              int64_t k, const int32_t *class, const double *weight, double *ari,
                              double *nmi) {
    krein_status st = KREIN_OK;
    part *table = NULL, *row = NULL, *column = NULL, all = {0, 0};
    double both = 0, in_cluster = 0, in_class = 0, mutual = 0, h_cluster = 0, h_class = 0;
    ZNEW(table, m * k);
    ZNEW(row, m);
    ZNEW(column, k);
    for (int64_t i = 0; i < n; i++) {
        double w = weight_of(weight, i);
        part_add(&table[cluster[i] * k + class[i]], w);
        part_add(&row[cluster[i]], w);
        part_add(&column[class[i]], w);
        part_add(&all, w);
    }
    for (int64_t c = 0; c < m; c++) {
        in_cluster += pairs(row[c]);
        h_cluster += entropy_part(row[c].n, all.n);
    }
    for (int64_t l = 0; l < k; l++) {
        in_class += pairs(column[l]);
        h_class += entropy_part(column[l].n, all.n);
    }
    for (int64_t c = 0; c < m; c++)
        for (int64_t l = 0; l < k; l++) {
            double t = table[c * k + l].n;
            both += pairs(table[c * k + l]);
            if (t > 0) mutual += t / all.n * (log(t / row[c].n) - log(column[l].n / all.n));
        }
    *ari = rand_index(pairs(all), both, in_cluster, in_class);
    double mean = (h_cluster + h_class) / 2;
    *nmi = mean > 0 ? fmax(0, mutual) / mean : 1;
done:
    krein__free(ctx, table);
    krein__free(ctx, row);
    krein__free(ctx, column);
    return st;
}
