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
