/* points.h -- labelled and unlabelled rows as nodes of a graph: all rows in memory, equal ones
 * once.
 */
#ifndef KREIN_POINTS_H
#define KREIN_POINTS_H

#include "graph/graph.h"
#include "learn/learn.h"

typedef struct krein_points {
    int64_t n, labelled; /* all rows; the first `labelled` of them have labels */
    int64_t nodes;       /* distinct rows, in the order in which they come first */
    krein_rows x;        /* nodes x d, dense or CSR */
    int32_t *node;       /* n: which node a row is */
    double *weight;      /* n: of the rows */
    double *count;       /* nodes: the sum of the weights of the rows that it stands for */
    krein_matrix own;
} krein_points;

/* The labelled rows, then those of job->unlabelled; says how many are distinct. */
krein_status krein__job_points(krein_job *job, krein_points *out);
void krein__points_clear(krein_ctx *ctx, krein_points *p);
/* Bytes of n rows. */
double krein__points_bytes(int64_t n, int64_t d, bool sparse);
/* The graph of the nodes by their distances; it is taken from job->graph_file, or written there,
 * where that is set. Says what was made. */
krein_status krein__job_graph(krein_job *job, const krein_points *p, const krein_graph_options *o,
                              krein_graph *out);

#endif
