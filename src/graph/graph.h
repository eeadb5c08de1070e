/* graph.h -- graphs of rows: who is near whom, weights of edges, the Laplacian, a file of it.
 *
 * A node is a row. Equal rows are better made one node with a count before (learn/points.h): a
 * hundred copies of a row would have no other neighbours than each other. */
#ifndef KREIN_GRAPH_H
#define KREIN_GRAPH_H

#include "base/spec.h"
#include "kernel/gram.h"

/* A graph with weights, both directions of each edge: row i is entries ptr[i] .. ptr[i+1]-1. */
typedef struct krein_graph {
    int64_t n;
    int64_t *ptr;
    int32_t *col; /* ascending within a row */
    double *val;
    int64_t near;  /* how the neighbours were found: krein_near, never KREIN_NEAR_AUTO */
    double width;  /* of heat weights; else NaN */
    double recall; /* share of the true neighbours that were found, on a sample; exact: 1 */
} krein_graph;

typedef enum krein_near {
    KREIN_NEAR_AUTO = 0,  /* by what it takes: exact unless that is very long */
    KREIN_NEAR_EXACT = 1, /* all pairs of rows */
    KREIN_NEAR_TREE = 2,  /* exact too, by a k-d tree: few columns */
    KREIN_NEAR_DESCENT = 3
} krein_near;

typedef enum krein_edges {
    KREIN_EDGES_HEAT = 0,   /* exp(-|x - y|^2 / (2 width^2)) where either names the other */
    KREIN_EDGES_BINARY = 1, /* 1 there */
    KREIN_EDGES_MEAN = 2    /* (a_ij + a_ji) / 2, a_ij = 1 where i names j */
} krein_edges;

typedef struct krein_graph_options {
    int64_t k; /* neighbours that a row names, below the number of rows with a weight */
    krein_near near;
    krein_edges edges;
    double width; /* heat; 0: the median distance to the k-th neighbour, of rows with a weight */
    bool fewer;   /* k was not asked for: krein__job_graph takes what there is where rows are few */
    uint64_t seed;
} krein_graph_options;

/* Options of learners that use a graph, in this order from number `at` on; LAPLACIAN only with
 * KREIN_OPTION_GRAPH. */
enum {
    KREIN_GRAPH_K,
    KREIN_GRAPH_NEAR,
    KREIN_GRAPH_EDGES,
    KREIN_GRAPH_WIDTH,
    KREIN_GRAPH_LAPLACIAN
};
#define KREIN_OPTION_NEIGHBOURS                                                                    \
    {.name = "k",                                                                                  \
     .type = KREIN_OPTION_INTEGER,                                                                 \
     .value = 10,                                                                                  \
     .low = 1,                                                                                     \
     .high = 1000,                                                                                 \
     .help = "neighbours that a row names in the graph"},                                          \
        {.name = "near",                                                                           \
         .type = KREIN_OPTION_WORD,                                                                \
         .words = "auto|exact|tree|descent",                                                       \
         .help = "how they are found: all pairs, a k-d tree (exact too, for few columns), or "     \
                 "nearest-neighbour descent (approximate); auto: by what it takes"},               \
        {.name = "edges",                                                                          \
         .type = KREIN_OPTION_WORD,                                                                \
         .words = "heat|binary",                                                                   \
         .help = "weights of edges: exp(-|x-y|^2/(2 width^2)), or 1"},                             \
    {                                                                                              \
        .name = "width", .value = NAN, .low = 0, .low_open = true, .high = 1e30, .derived = true,  \
        .help = "of heat weights; the median distance to the k-th neighbour when not given"        \
    }
#define KREIN_OPTION_GRAPH                                                                         \
    KREIN_OPTION_NEIGHBOURS, {                                                                     \
        .name = "laplacian", .type = KREIN_OPTION_WORD, .words = "combinatorial|normalized",       \
        .help = "D - W, or I - D^(-1/2) W D^(-1/2)"                                                \
    }
/* The kernel puts rows into the same order as their distances do: its space need not be asked. */
bool krein__graph_by_distance(const krein_kernel *kernel);
krein_graph_options krein__graph_options(const krein_values *values, int64_t at, uint64_t seed);

/* The k nearest rows of each, ties to the lower number, made symmetric. kernel: distances in its
 * space, |phi(x) - phi(y)|^2; NULL: those of the rows. Rows of weight 0 (weight: n, or NULL) are
 * not named. KREIN_EARG where there are not k others. */
krein_status krein__graph_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                               const double *weight, const krein_graph_options *o,
                               krein_graph *out);
/* Bytes that it holds at most, with the graph; d: of sparse rows, the entries that they have. */
double krein__graph_bytes(const krein_kernel *kernel, int64_t n, int64_t d, bool sparse, int64_t k,
                          int threads);
/* Operations. */
double krein__graph_flops(int64_t n, int64_t d, const krein_graph_options *o);
void krein__graph_clear(krein_ctx *ctx, krein_graph *g);
/* Connected components: their number, or -1 without memory; piece (n, or NULL): of each node,
 * numbered by their first nodes. */
int64_t krein__graph_pieces(krein_ctx *ctx, const krein_graph *g, int32_t *piece);

/* ---- laplacian.c -------------------------------------------------------- */

/* Of the graph of rows, where node i stands for count_i equal ones, on functions of nodes:
 *     f'L f = 1/2 sum_ij count_i count_j w_ij (f_i - f_j)^2
 * or, normalised, with f_i / sqrt(degree_i), degree_i = sum_j count_j w_ij. */
typedef struct krein_laplacian {
    const krein_graph *g;
    const double *count; /* n, or NULL: ones */
    bool normalized;
    int threads;
    double *degree;   /* n: of a row of the node, sum_j count_j w_ij */
    double *diagonal; /* n: of L */
    double
        *scale; /* n: normalised, count_i / sqrt(degree_i), 0 where there is no edge; else NULL */
} krein_laplacian;
/* The graph and the counts must outlive it. */
krein_status krein__laplacian_begin(krein_ctx *ctx, const krein_graph *g, const double *count,
                                    bool normalized, krein_laplacian *out);
/* y = L x, n x k each; the same bits for any number of threads. */
void krein__laplacian_apply(const krein_laplacian *l, int64_t k, const double *x, double *y);
void krein__laplacian_end(krein_ctx *ctx, krein_laplacian *l);

/* f'L f is the sum over i and the entries e of its row of edge(i, e) (s_i f_i - s_j f_j)^2, j the
 * node that e names: each edge counts once, where j > i. */
double krein__laplacian_edge(const krein_laplacian *l, int64_t i, int64_t e);
double krein__laplacian_factor(const krein_laplacian *l, int64_t i); /* s_i */
/* The same for both entries of an edge. */
double krein__laplacian_weight(const krein_laplacian *l, int64_t i, int64_t e);

/* Edges drawn with probabilities in proportion to these numbers. */
typedef struct krein_edge_draws {
    const krein_laplacian *l;
    double *before; /* n + 1: their sum over the nodes before i; the last: over all */
} krein_edge_draws;
krein_status krein__edge_draws_begin(krein_ctx *ctx, const krein_laplacian *l,
                                     krein_edge_draws *out);
/* The nodes of draw number `draw` of step `step`. There must be an edge. */
void krein__edge_draw(const krein_edge_draws *d, uint64_t seed, int64_t step, int64_t draw,
                      int64_t *i, int64_t *j);
void krein__edge_draws_end(krein_ctx *ctx, krein_edge_draws *d);

/* ---- graph_file.c ------------------------------------------------------- */

/* krein__graph_make, but the graph is read from the file where that exists, else written to it.
 * path NULL: there is none. */
krein_status krein__graph_get(krein_ctx *ctx, const char *path, const krein_kernel *kernel,
                              const krein_rows *x, const double *weight,
                              const krein_graph_options *o, krein_graph *out);
/* What a graph was made of: rows, their weights and kernel (NULL: none). */
uint64_t krein__graph_digest(const krein_rows *x, const double *weight, const char *kernel);
krein_status krein__graph_save(krein_ctx *ctx, const char *path, const krein_graph *g,
                               const krein_graph_options *o, uint64_t digest);
/* KREIN_EDATA where it is the graph of other rows or was made with other options. */
krein_status krein__graph_load(krein_ctx *ctx, const char *path, const krein_graph_options *o,
                               int64_t n, uint64_t digest, krein_graph *out);

#endif
