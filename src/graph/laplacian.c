/* laplacian.c -- the Laplacian of a graph as an operator (belkin2003)
 *
 * Node i stands for c_i equal rows. On functions of rows that are equal on equal rows, and with
 * edges between rows of different nodes, the Laplacian of the graph of rows is in terms of nodes
 *
 *     combinatorial   (L f)_i = c_i d_i f_i - sum_j c_i c_j w_ij f_j
 *     normalised      (L f)_i = c_i f_i - sum_j c_i c_j w_ij f_j / sqrt(d_i d_j)
 *
 * with d_i = sum_j c_j w_ij, the degree of one of the rows: f'L f is the sum over the rows. A node
 * without an edge has the row 0. */
#include "graph/graph.h"

#include "base/rng.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

static double count(const krein_laplacian *l, int64_t i) { return l->count ? l->count[i] : 1; }

krein_status krein__laplacian_begin(krein_ctx *ctx, const krein_graph *g, const double *counts,
                                    bool normalized, krein_laplacian *out) {
    krein_status st = KREIN_OK;
    krein_laplacian *l = out;
    *l = (krein_laplacian){.g = g, .count = counts, .normalized = normalized};
    l->threads = ctx->threads;
    NEW(l->degree, g->n);
    NEW(l->diagonal, g->n);
    if (normalized) NEW(l->scale, g->n);
    for (int64_t i = 0; i < g->n; i++) {
        double d = 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) d += count(l, g->col[e]) * g->val[e];
        l->degree[i] = d;
        l->diagonal[i] = count(l, i) * (!normalized ? d : d > 0);
        if (normalized) l->scale[i] = d > 0 ? count(l, i) / sqrt(d) : 0;
    }
done:
    if (st != KREIN_OK) krein__laplacian_end(ctx, l);
    return st;
}

static void apply_row(const krein_laplacian *l, int64_t i, int64_t k, const double *x, double *y) {
    const krein_graph *g = l->g;
    const double own = l->normalized ? l->scale[i] : count(l, i), *mine = x + i * k;
    for (int64_t c = 0; c < k; c++) y[c] = l->diagonal[i] * mine[c];
    for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
        int64_t j = g->col[e];
        const double w = own * g->val[e] * (l->normalized ? l->scale[j] : count(l, j)),
                     *theirs = x + j * k;
        for (int64_t c = 0; c < k; c++) y[c] -= w * theirs[c];
    }
}

void krein__laplacian_apply(const krein_laplacian *l, int64_t k, const double *x, double *y) {
    krein_compute mode = krein__compute_begin();
#pragma omp parallel num_threads(l->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < l->g->n; i++) apply_row(l, i, k, x, y + i * k);
        krein__worker_end(mode);
    }
    krein__compute_end(mode);
}

void krein__laplacian_end(krein_ctx *ctx, krein_laplacian *l) {
    krein__free(ctx, l->degree);
    krein__free(ctx, l->diagonal);
    krein__free(ctx, l->scale);
    memset(l, 0, sizeof *l);
}

/* ---- edges -------------------------------------------------------------- */

double krein__laplacian_weight(const krein_laplacian *l, int64_t i, int64_t e) {
    return l->g->val[e] * count(l, i) * count(l, l->g->col[e]);
}

double krein__laplacian_edge(const krein_laplacian *l, int64_t i, int64_t e) {
    return l->g->col[e] > i ? krein__laplacian_weight(l, i, e) : 0;
}

double krein__laplacian_factor(const krein_laplacian *l, int64_t i) {
    return !l->normalized ? 1 : l->degree[i] > 0 ? 1 / sqrt(l->degree[i]) : 0;
}

krein_status krein__edge_draws_begin(krein_ctx *ctx, const krein_laplacian *l,
                                     krein_edge_draws *out) {
    krein_status st = KREIN_OK;
    const krein_graph *g = l->g;
    *out = (krein_edge_draws){.l = l};
    NEW(out->before, g->n + 1);
    out->before[0] = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double sum = 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) sum += krein__laplacian_edge(l, i, e);
        out->before[i + 1] = out->before[i] + sum;
    }
done:
    return st;
}

void krein__edge_draw(const krein_edge_draws *d, uint64_t seed, int64_t step, int64_t draw,
                      int64_t *i, int64_t *j) {
    const krein_laplacian *l = d->l;
    const krein_graph *g = l->g;
    krein_rng stream = {seed, KREIN_STREAM_EDGES};
    double at = krein__rng_uniform(stream, (uint64_t)step, (uint64_t)draw) * d->before[g->n];
    int64_t low = 0, high = g->n; /* before[low] <= at < before[high] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(d->before[middle] <= at ? &low : &high) = middle;
    }
    *i = low;
    at -= d->before[low];
    for (int64_t e = g->ptr[low]; e < g->ptr[low + 1]; e++) {
        double weight = krein__laplacian_edge(l, low, e);
        if (weight == 0) continue;
        *j = g->col[e]; /* the last, where rounding leaves something */
        if (at < weight) break;
        at -= weight;
    }
}

void krein__edge_draws_end(krein_ctx *ctx, krein_edge_draws *d) {
    krein__free(ctx, d->before);
    memset(d, 0, sizeof *d);
}
