/* laprls.h -- the parts of Laplacian regularised least squares: the learner (laprls.c), its fits on
 * the kernel matrix (laprls_kernel.c) and on features (laprls_features.c), and the choice of both
 * lambdas (laprls_choice.c). */
#ifndef KREIN_LAPRLS_H
#define KREIN_LAPRLS_H

#include "learn/krr_pcg.h"
#include "learn/points.h"
#include "solve/manifold.h"

typedef enum krein_laprls_solver {
    KREIN_LAPRLS_AUTO = 0,
    KREIN_LAPRLS_DIRECT = 1,
    KREIN_LAPRLS_CG = 2,
    KREIN_LAPRLS_PCG = 3
} krein_laprls_solver;

typedef struct krein_laprls {
    const char *name; /* of the learner, for messages */
    krein_job *job;
    krein_laprls_solver solver; /* never AUTO */
    krein_points points;
    krein_graph graph;
    krein_laplacian laplacian; /* g NULL: there is no graph, and lambda_i is 0 */
    double lambda_i;           /* NaN: to be chosen */
    double square;             /* the number of rows, squared: mu = lambda_i / square */
    double *y, *weight;        /* of the labelled rows */
    int32_t *class;
    krein_targets rows; /* of these arrays */
    krein_manifold form;
    int64_t *some; /* labelled rows that the lambdas are chosen on, ascending */
    int64_t nsome;
    krein_pcg_limits limits;
    krein_cg_result result; /* of conjugate gradients */
} krein_laprls;

/* Points, the fitted map, targets and the graph (none where lambda_i is 0); name, job and lambda_i
 * are set. graph: the first of its options. */
krein_status krein__laprls_begin(krein_laprls *s, const krein_values *values, int64_t graph);
void krein__laprls_end(krein_laprls *s);

/* Features of the nodes. */
typedef struct krein_laprls_nodes {
    krein_laprls *s;
    krein_ctx *ctx;
    krein_blocks z;
    krein_features features; /* kept, or made again */
    krein_basis basis;       /* of landmarks whose values are the features; ctx NULL: none */
    int64_t labels, edges;
    float *sample;       /* (labels + edges) x D: scaled rows of the preconditioner, raw */
    int64_t width;       /* of the two below */
    double *GC, *GL, *F; /* F: D x D */
} krein_laprls_nodes;
/* Makes them, and chooses the lambdas that are not given. */
krein_status krein__laprls_nodes_begin(krein_laprls *s, krein_laprls_nodes *out);
/* Those of some nodes (m x D). */
krein_status krein__laprls_nodes_features(krein_laprls_nodes *t, int64_t m, const int64_t *index,
                                          float *out);
void krein__laprls_nodes_end(krein_laprls_nodes *t);

/* Weights and intercepts of the model, whose map is fitted to the nodes. */
krein_status krein__laprls_kernel(krein_laprls *s);
krein_status krein__laprls_features(krein_laprls *s);
/* Bytes of either beside rows and graph, n nodes. */
double krein__laprls_kernel_bytes(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                  int64_t k);
double krein__laprls_features_bytes(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                    int64_t k);
double krein__laprls_features_flops(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                    int64_t k);

/* Anything is left to choose; or the view that it is chosen on is wanted, for that or for folds. */
bool krein__laprls_open(const krein_laprls *s);
bool krein__laprls_looks(const krein_laprls *s);
/* Features that both lambdas are chosen on: K = ZZ' about, |g|^2 = |w|^2. */
typedef struct krein_laprls_view {
    int64_t D;
    double *GL;       /* D x D: Z'LZ of all nodes */
    double *Z;        /* nsome x D: of the rows `some` */
    const double *K0; /* nsome x nsome: their kernel matrix, or NULL: ZZ' */
    double least;     /* the smallest lambda that the features' digits leave a meaning */
} krein_laprls_view;
/* That of float32 features with the sum of squares `square` a row (ridge.h). */
double krein__laprls_least(int64_t D, double square);
/* Sets job->lambda and lambda_i where they are open; probabilities by folds. */
krein_status krein__laprls_choose(krein_laprls *s, const krein_laprls_view *view);
double krein__laprls_choose_bytes(int64_t rows, int64_t D);
/* The kernel matrix of m rows z (m x D) under the penalty |w|^2 + rho w'GL w, to K; U (D x D) gets
 * the factor of I + rho GL, V (m x D) z U^-1. */
krein_status krein__laprls_deform(krein_ctx *ctx, int64_t D, const double *GL, double rho,
                                  int64_t m, const double *Z, double *U, double *V, double *K);

enum { KREIN_LAPRLS_CHOICE_ROWS = 1024 };

/* Probabilities, and thresholds of labels, at both lambdas (laprls_calibrate.c): from leave-one-out
 * scores, or where rows have groups, or folds were asked for, from folds by krein__laprls_choose.
 */
bool krein__laprls_by_folds(const krein_laprls *s);
/* Coordinates of m nodes, in which `factor` is that of the system (m x D), and f less its intercept
 * there (m x k). */
typedef krein_status krein_laprls_at(void *user, int64_t m, const int64_t *node, double *z,
                                     double *g);
krein_status krein__laprls_calibrate(krein_laprls *s, int64_t D, krein_laprls_at *at, void *user,
                                     const double *factor, const double *intercept);
/* With the deformed kernel matrix of the labelled rows. */
krein_status krein__laprls_calibrate_kernel(krein_laprls *s, const double *K);
double krein__laprls_calibrate_bytes(int64_t rows, int64_t D, int64_t k);

#endif
