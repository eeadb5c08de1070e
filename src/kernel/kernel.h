/* kernel.h -- kernel functions and expressions over them.
 *
 * A base kernel is a constant krein_kernel_class at the bottom of its own file, listed in
 * kernels.def. An expression combines base kernels:
 *
 *     expression := term { ("+" | "-") term }
 *     term       := factor { "*" factor }
 *     factor     := number | spec | "(" expression ")" | "-" factor
 */
#ifndef KREIN_KERNEL_H
#define KREIN_KERNEL_H

#include "base/rng.h"
#include "base/spec.h"
#include "num/matrix.h"

typedef enum krein_family {
    KREIN_FAMILY_RADIAL = 0,    /* a function of |x - y| */
    KREIN_FAMILY_SEPARABLE = 1, /* stationary: exp(-sum_j h(x_j - y_j)) */
    KREIN_FAMILY_DOT = 2        /* a function of <x, y>, |x|, |y| */
} krein_family;

typedef struct krein_kernel_class {
    krein_class cls;
    krein_family family;
    /* Positive definite with these values; NULL: always. */
    bool (*positive)(const double *p);
    /* RADIAL and DOT: v[i] = <x, y_i> becomes k(x, y_i); xx = |x|^2, yy[i] = |y_i|^2. */
    void (*values32)(const double *p, int64_t n, float *v, float xx, const float *yy);
    void (*values64)(const double *p, int64_t n, double *v, double xx, const double *yy);
    /* SEPARABLE: out[i] = k(x, y_i) from dense rows, and h of one coordinate for sparse ones. */
    void (*rows32)(const double *p, int64_t d, const float *x, int64_t n, const float *y,
                   int64_t ldy, float *out);
    void (*rows64)(const double *p, int64_t d, const double *x, int64_t n, const double *y,
                   int64_t ldy, double *out);
    double (*coordinate)(const double *p, double delta);
    /* Stationary kernels with k(0) = 1: a frequency w in R^d with k(x - y) = E cos w'(x - y),
     * drawn at `row` of the stream; and for radial ones the law of |w| alone. */
    void (*frequency)(const double *p, krein_rng g, uint64_t row, int64_t d, double *w);
    double (*radius)(const double *p, krein_rng g, uint64_t row, int64_t d);
    /* The free scale (an option named sigma) that suits data whose median distance is m in the
     * given metric (1: L1, 2: L2) is spread * m. */
    int metric;
    double spread;
} krein_kernel_class;

extern const krein_class *const krein__kernels[];
extern const int64_t krein__kernel_count;

typedef enum krein_node {
    KREIN_NODE_LEAF = 0,
    KREIN_NODE_SUM = 1,
    KREIN_NODE_PRODUCT = 2,
    KREIN_NODE_SCALE = 3 /* number * left */
} krein_node;

typedef struct krein_kernel {
    krein_node node;
    const krein_kernel_class *kernel; /* LEAF */
    krein_values values;
    double number; /* SCALE */
    struct krein_kernel *left, *right;
} krein_kernel;

krein_status krein__kernel_parse(krein_ctx *ctx, const char *text, krein_kernel **out);
krein_status krein__kernel_copy(krein_ctx *ctx, const krein_kernel *k, krein_kernel **out);
void krein__kernel_destroy(krein_ctx *ctx, krein_kernel *k);
/* The complete expression; parsing it gives the same kernel. Owned by the caller. */
char *krein__kernel_text(krein_ctx *ctx, const krein_kernel *k);
/* Free parameters: numbers without a value. slot and leaf of the i-th; count. */
int64_t krein__kernel_free(krein_kernel *k, int64_t i, krein_kernel **leaf, int64_t *slot);
/* Positive definite by construction (no minus sign, every base kernel is). */
bool krein__kernel_positive(const krein_kernel *k);
/* Every leaf is of the family (or, for stationary, radial or separable). */
bool krein__kernel_all(const krein_kernel *k, bool (*is)(const krein_kernel_class *));
bool krein__is_radial(const krein_kernel_class *c);
bool krein__is_stationary(const krein_kernel_class *c);
bool krein__is_linear(const krein_kernel *k); /* one term: a positive number times linear */

/* The expression as a sum of products: coefficient * leaf[0] * ... * leaf[n-1]. */
enum { KREIN_TERM_LEAVES = 8, KREIN_TERMS_MAX = 64 };
typedef struct krein_term {
    double coefficient;
    int64_t n;
    const krein_kernel *leaf[KREIN_TERM_LEAVES];
} krein_term;
krein_status krein__kernel_terms(krein_ctx *ctx, const krein_kernel *k, krein_term *out,
                                 int64_t *n);

#endif
