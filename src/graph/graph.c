/* graph.c -- the graph of nearest neighbours: who is found, the weights of edges, pieces.
 *
 * Every row names its k nearest (near_*.c), and an edge is where either names the other, so that
 * the graph is symmetric. Its weights are
 *     heat      exp(-|x - y|^2 / (2 width^2)), by default with the median distance to the k-th
 *               neighbour as width (belkin2003)
 *     binary    1
 *     mean      1 where both name each other, else 1/2: (A + A') / 2
 * Rows of weight 0 name neighbours and are named by none. */
#include "graph/near.h"

#include "num/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mixtures of Gaussians fall with the distance. */
bool krein__graph_by_distance(const krein_kernel *k) {
    if (k->node == KREIN_NODE_SCALE) return k->number > 0 && krein__graph_by_distance(k->left);
    return k->node == KREIN_NODE_LEAF && krein__is_radial(k->kernel) && k->kernel->mixture;
}

krein_graph_options krein__graph_options(const krein_values *values, int64_t at, uint64_t seed) {
    const double *v = values->number + at;
    return (krein_graph_options){.k = (int64_t)v[KREIN_GRAPH_K],
                                 .near = (krein_near)v[KREIN_GRAPH_NEAR],
                                 .edges = (krein_edges)v[KREIN_GRAPH_EDGES],
                                 .width = v[KREIN_GRAPH_WIDTH] > 0 ? v[KREIN_GRAPH_WIDTH] : 0,
                                 .fewer = !values->given[at + KREIN_GRAPH_K],
                                 .seed = seed};
}

void krein__graph_clear(krein_ctx *ctx, krein_graph *g) {
    krein__free(ctx, g->ptr);
    krein__free(ctx, g->col);
    krein__free(ctx, g->val);
    memset(g, 0, sizeof *g);
}

/* ---- edges -------------------------------------------------------------- */

/* Lists by number in the place of distance. */
static void by_number(int64_t k, int32_t *near, double *square) {
    for (int64_t i = 1; i < k; i++) {
        int32_t who = near[i];
        double far = square[i];
        int64_t j = i;
        for (; j > 0 && near[j - 1] > who; j--) {
            near[j] = near[j - 1];
            square[j] = square[j - 1];
        }
        near[j] = who;
        square[j] = far;
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median distance to the k-th neighbour; that of the positive ones where it is 0. */
static krein_status find_width(krein_ctx *ctx, const krein_nearest *nn, const double *weight,
                               double *width) {
    krein_status st = KREIN_OK;
    double *far = NULL;
    int64_t zeros = 0, n = 0;
    NEW(far, nn->n);
    for (int64_t i = 0; i < nn->n; i++)
        if (!weight || weight[i] > 0) far[n++] = nn->square[i * nn->k + nn->k - 1];
    qsort(far, (size_t)n, sizeof *far, compare);
    while (zeros < n && far[zeros] == 0) zeros++;
    int64_t at = n / 2 >= zeros ? n / 2 : zeros + (n - zeros) / 2;
    *width = at < n ? sqrt(far[at]) : 1;
done:
    krein__free(ctx, far);
    return st;
}

/* A row of A with the squares of the distances, and the same of A'. */
typedef struct list {
    int64_t n;
    const int32_t *who;
    const double *square;
} list;

typedef struct weigh {
    krein_edges edges;
    double factor; /* heat: -1 / (2 width^2) */
} weigh;

/* Row i from the two ascending lists; returns how many entries. col may be NULL. */
static int64_t merge(list a, list b, weigh w, int32_t *col, double *val) {
    int64_t n = 0;
    for (int64_t i = 0, j = 0; i < a.n || j < b.n; n++) {
        bool left = i < a.n && (j == b.n || a.who[i] <= b.who[j]),
             right = j < b.n && (i == a.n || b.who[j] <= a.who[i]);
        if (col) {
            double square = left ? a.square[i] : b.square[j];
            /* both directions get the same number, whichever was rounded how */
            if (left && right) square = fmin(square, b.square[j]);
            col[n] = left ? a.who[i] : b.who[j];
            val[n] = w.edges == KREIN_EDGES_HEAT                       ? exp(w.factor * square)
                     : w.edges == KREIN_EDGES_MEAN && !(left && right) ? .5
                                                                       : 1;
        }
        i += left;
        j += right;
    }
    return n;
}

static krein_status symmetric(krein_ctx *ctx, const krein_nearest *nn, weigh w, krein_graph *g) {
    krein_status st = KREIN_OK;
    int64_t n = nn->n, k = nn->k, *ptr = NULL; /* of A', whose row i lists those that name i */
    int32_t *back = NULL;
    double *square = NULL;
    g->n = n;
    ZNEW(ptr, n + 2);
    NEW(back, n * k);
    NEW(square, n * k);
    NEW(g->ptr, n + 1);
    for (int64_t i = 0; i < n * k; i++) ptr[nn->near[i] + 2]++;
    for (int64_t i = 0; i < n; i++) ptr[i + 2] += ptr[i + 1];
    for (int64_t i = 0; i < n; i++) {
        by_number(k, nn->near + i * k, nn->square + i * k);
        for (int64_t j = 0; j < k; j++) {
            int64_t to = ptr[nn->near[i * k + j] + 1]++;
            back[to] = (int32_t)i;
            square[to] = nn->square[i * k + j];
        }
    }
    g->ptr[0] = 0;
    for (int pass = 0; pass < 2; pass++) { /* how many, then which */
        if (pass == 1) {
            NEW(g->col, g->ptr[n]);
            NEW(g->val, g->ptr[n]);
        }
        for (int64_t i = 0; i < n; i++) {
            list a = {k, nn->near + i * k, nn->square + i * k},
                 b = {ptr[i + 1] - ptr[i], back + ptr[i], square + ptr[i]};
            int64_t to = g->ptr[i];
            int64_t m = merge(a, b, w, pass ? g->col + to : NULL, pass ? g->val + to : NULL);
            g->ptr[i + 1] = to + m;
        }
    }
done:
    krein__free(ctx, ptr);
    krein__free(ctx, back);
    krein__free(ctx, square);
    return st;
}

/* ---- the graph ---------------------------------------------------------- */

static krein_status check_count(krein_ctx *ctx, int64_t n, const double *weight, int64_t k) {
    int64_t rows = 0;
    for (int64_t i = 0; i < n; i++) rows += !weight || weight[i] > 0;
    if (k < rows && n <= INT32_MAX) return KREIN_OK;
    if (n > INT32_MAX)
        return krein__fail(ctx, KREIN_EARG, "a graph has at most %d rows", INT32_MAX);
    return krein__fail(ctx, KREIN_EARG,
                       "graph: %lld different rows do not have %lld neighbours each; use fewer "
                       "neighbours",
                       (long long)rows, (long long)k);
}

/* All pairs are compared where that takes no longer than this, or than the time there is. */
enum { SECONDS = 600 };

static krein_status choose(krein_ctx *ctx, const krein_rows *x, krein_near *near) {
    krein_status st = KREIN_OK;
    const bool sparse = krein__rows_sparse(x);
    double speed, flops = krein__near_exact_flops(x->n, sparse ? krein__min(x->d, 1024) : x->d);
    *near = krein__near_tree_pays(x->n, x->d, sparse) ? KREIN_NEAR_TREE : KREIN_NEAR_EXACT;
    if (*near == KREIN_NEAR_TREE || flops < 1e12) return KREIN_OK;
    TRY(krein__speed(ctx, &speed)); /* of float64; float32 is twice as fast, small tiles half */
    double left = ctx->finish > 0 ? fmax(0, ctx->finish - krein__clock()) / 3 : SECONDS;
    if (flops / speed > fmin(left, SECONDS)) *near = KREIN_NEAR_DESCENT;
done:
    return st;
}

static krein_status find(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                         const double *weight, const krein_graph_options *o, krein_nearest *nn,
                         krein_graph *out) {
    krein_status st = KREIN_OK;
    krein_near near = kernel ? KREIN_NEAR_EXACT : o->near;
    out->recall = 1;
    if (near == KREIN_NEAR_AUTO) TRY(choose(ctx, x, &near));
    out->near = near;
    if (kernel)
        TRY(krein__near_kernel(ctx, kernel, x, weight, nn));
    else if (near == KREIN_NEAR_TREE)
        TRY(krein__near_tree(ctx, x, weight, nn));
    else if (near == KREIN_NEAR_EXACT)
        TRY(krein__near_exact(ctx, x, weight, nn));
    else {
        TRY(krein__near_descent(ctx, x, weight, o->seed, nn));
        TRY(krein__near_recall(ctx, x, weight, o->seed, nn, &out->recall));
    }
done:
    return st;
}

krein_status krein__graph_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                               const double *weight, const krein_graph_options *o,
                               krein_graph *out) {
    krein_status st = KREIN_OK;
    krein_nearest nn = {0};
    weigh w = {.edges = o->edges};
    memset(out, 0, sizeof *out);
    out->width = NAN;
    TRY(check_count(ctx, x->n, weight, o->k));
    TRY(krein__nearest_begin(ctx, x->n, o->k, &nn));
    TRY(find(ctx, kernel, x, weight, o, &nn, out));
    for (int64_t i = 0; i < nn.n * nn.k; i++)
        if (nn.near[i] < 0) {
            st = krein__fail(ctx, KREIN_ENUMERIC, "neighbours: %s are not finite",
                             kernel ? "kernel values" : "distances");
            goto done;
        }
    if (o->edges == KREIN_EDGES_HEAT) {
        out->width = o->width;
        if (!(o->width > 0)) TRY(find_width(ctx, &nn, weight, &out->width));
        w.factor = -1 / (2 * out->width * out->width);
    }
    TRY(symmetric(ctx, &nn, w, out));
done:
    krein__nearest_end(ctx, &nn);
    if (st != KREIN_OK) krein__graph_clear(ctx, out);
    return st;
}

double krein__graph_bytes(const krein_kernel *kernel, int64_t n, int64_t d, bool sparse, int64_t k,
                          int threads) {
    double N = (double)n, K = (double)k;
    /* the lists, those of A', and the graph, of at most twice as many edges */
    double edges = N * (24 * K + 24 * K + 40);
    double search = kernel ? krein__near_kernel_bytes(kernel, n, d, k, threads)
                           : krein__near_exact_bytes(n, d, sparse, threads);
    if (!kernel) search = fmax(search, krein__near_descent_bytes(n, k));
    if (!kernel && !sparse) search = fmax(search, krein__near_tree_bytes(n, krein__min(d, 256)));
    return edges + search;
}

double krein__graph_flops(int64_t n, int64_t d, const krein_graph_options *o) {
    bool tree = o->near == KREIN_NEAR_TREE ||
                (o->near == KREIN_NEAR_AUTO && krein__near_tree_pays(n, d, false));
    double N = (double)n, D = (double)d, K = (double)o->k;
    if (tree || o->near == KREIN_NEAR_DESCENT) return N * D * 200 * (K + 10);
    return krein__near_exact_flops(n, d);
}

/* ---- pieces ------------------------------------------------------------- */

static int32_t root(int32_t *up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

int64_t krein__graph_pieces(krein_ctx *ctx, const krein_graph *g, int32_t *piece) {
    int64_t pieces = 0;
    int32_t *up = krein__alloc(ctx, g->n, sizeof *up);
    if (!up) return -1;
    for (int64_t i = 0; i < g->n; i++) up[i] = (int32_t)i;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            int32_t a = root(up, (int32_t)i), b = root(up, g->col[e]);
            if (a != b && !(g->val && g->val[e] == 0)) up[a > b ? a : b] = a > b ? b : a;
        }
    /* a root is the first node of its piece */
    for (int64_t i = 0; i < g->n; i++) {
        int32_t first = root(up, (int32_t)i);
        if (piece) piece[i] = first == i ? (int32_t)pieces : piece[first];
        pieces += first == i;
    }
    krein__free(ctx, up);
    return pieces;
}
