/* propagate.h -- values of some nodes of a graph carried over to the others. */
#ifndef KREIN_PROPAGATE_H
#define KREIN_PROPAGATE_H

#include "graph/graph.h"

typedef struct krein_propagate_options {
    bool spreading; /* label spreading, else the harmonic function */
    double alpha;   /* spreading: the share that comes from the neighbours, in (0, 1) */
    double tol;     /* relative residual */
    int64_t steps;  /* most iterations */
} krein_propagate_options;

typedef struct krein_propagated {
    int64_t steps;   /* of the columns that took most */
    double residual; /* of the worst column */
    bool converged;
    int64_t pieces; /* connected components */
    int64_t lost;   /* nodes in those without a known value */
} krein_propagated;

/* f (n x k): in, values of the nodes with known[i] > 0, the share of the rows of the node that they
 * are known of (harmonic: any share counts as all); out, those of all nodes. Nodes that no known
 * one reaches get NaN. count: rows of each node, or NULL: 1. */
krein_status krein__propagate(krein_ctx *ctx, const krein_graph *g, const double *count,
                              const double *known, int64_t k, double *f,
                              const krein_propagate_options *o, krein_propagated *out);
double krein__propagate_bytes(int64_t n, int64_t k);

#endif
