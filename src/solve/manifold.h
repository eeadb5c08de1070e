/* manifold.h -- ridge regression with a graph: the quadratic form of labels and Laplacian on the
 * nodes of a graph, its products with features, and the solutions by conjugate gradients. */
#ifndef KREIN_MANIFOLD_H
#define KREIN_MANIFOLD_H

#include "graph/graph.h"
#include "map/map.h"
#include "solve/cg.h"

/* On n nodes, with functions g less their intercept:
 *     sum over labelled rows of w_i (y_i - g - b)^2 / W, least over b,  +  mu g'Lg
 *         = (y - g)'C(y - g) + mu g'Lg + what does not depend on g,     C = diag(c) - cc'
 * with c_i the share of node i in the weight of the labelled rows and y_i their mean label. */
typedef struct krein_manifold {
    krein_ctx *ctx;
    int64_t n, k;
    bool intercept;                   /* else C = diag(c), and b = 0 */
    double *share;                    /* n: c */
    double *y;                        /* n x k, 0 where there is no label */
    double *Cy, *square;              /* n x k; k: y'Cy */
    const krein_laplacian *laplacian; /* NULL: none */
    double mu;
} krein_manifold;

/* Of labelled rows (y: rows x k, weight or NULL, node of each); the rest is zero. */
krein_status krein__manifold_begin(krein_ctx *ctx, bool intercept, int64_t nodes, int64_t rows,
                                   int64_t k, const double *y, const double *weight,
                                   const int32_t *node, krein_manifold *out);
void krein__manifold_end(krein_manifold *f);
/* out = (C + mu L) v, n x k each. */
void krein__manifold_apply(const krein_manifold *f, const double *v, double *out);
/* b = c'(y - g), one a column. */
void krein__manifold_intercept(const krein_manifold *f, const double *g, double *b);

/* ---- features of nodes -------------------------------------------------- */

/* Products with float32 features (n x D, kept or made again) in float64: out (n x k) = Z v, out (D
 * x k) = Z'v. */
krein_status krein__nodes_times(krein_features *z, int64_t k, const double *v, double *out);
krein_status krein__nodes_transposed(krein_features *z, int64_t k, const double *v, double *out);
/* out (D x D, both triangles): Z'CZ of the labelled nodes; Z'LZ. Z is kept (n x D). */
krein_status krein__manifold_labels_gram(const krein_manifold *f, int64_t D, const float *Z,
                                         double *out);
krein_status krein__manifold_laplacian_gram(krein_ctx *ctx, const krein_laplacian *l, int64_t D,
                                            const float *Z, double *out);
double krein__manifold_gram_bytes(int64_t n, int64_t D, int threads);

/* ---- the kernel matrix -------------------------------------------------- */

/* Products with the kernel matrix of the nodes: kept in float64 or, where they are many, one half
 * of it in float32; made again tile by tile where that does not fit. */
typedef struct krein_kernel_product krein_kernel_product;
krein_status krein__kernel_product_create(krein_ctx *ctx, const krein_kernel *kernel,
                                          const krein_rows *x, int64_t k, double room,
                                          krein_kernel_product **out);
void krein__kernel_product_destroy(krein_kernel_product *p);
krein_status krein__kernel_product(krein_kernel_product *p, const double *v, double *out);
/* Of at most `room` bytes. */
double krein__kernel_product_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                                   int threads, double room);

/* Nystrom approximation of the kernel matrix from m nodes: K ~ BB', B = K_nm T^-1. */
typedef struct krein_nystrom {
    krein_ctx *ctx;
    int64_t n, m;
    float *B;         /* n x m */
    krein_features z; /* B as features */
} krein_nystrom;
/* index: the nodes, any order. */
krein_status krein__nystrom_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                 const int64_t *index, int64_t m, krein_nystrom *out);
void krein__nystrom_clear(krein_nystrom *s);

/* alpha (n x k) of g = K alpha at lambda > 0 and the form's mu. factor (m x m, or NULL: no
 * preconditioner): Cholesky factor of lambda I + B'(C + mu L)B. */
krein_status krein__manifold_kernel_cg(const krein_manifold *f, krein_kernel_product *K,
                                       const krein_nystrom *nystrom, const double *factor,
                                       double lambda, const krein_pcg_limits *limits, double *alpha,
                                       double *intercept, krein_cg_result *out);
/* w (D x k) of g = Z T^-1 w; basis NULL: T = I. factor (D x D, or NULL): of the preconditioner, in
 * the coordinates of w. */
krein_status krein__manifold_features_cg(const krein_manifold *f, krein_features *z,
                                         const krein_basis *basis, const double *factor,
                                         double lambda, const krein_pcg_limits *limits, double *w,
                                         double *intercept, krein_cg_result *out);
/* The factor of a preconditioner: lambda I + GC + mu GL (m x m each; GL NULL: none) in the upper
 * triangle of out; more of lambda where rounding left it indefinite. */
krein_status krein__manifold_factor(krein_ctx *ctx, int64_t m, const double *GC, const double *GL,
                                    double lambda, double mu, double *out);
/* What float32 leaves uncertain of GC + mu GL: more on the diagonal keeps the preconditioner of the
 * kernel matrix positive, which is a difference (manifold.c). */
double krein__manifold_rounding(int64_t m, const double *GC, const double *GL, double mu);

#endif
