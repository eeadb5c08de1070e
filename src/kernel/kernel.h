/* kernel.h -- kernel functions and expressions over them.
 *
 * A base kernel is a constant krein_kernel_class at the bottom of its own file, listed in
 * kernels.def. An expression combines base kernels:
 *
 *     expression := term { ("+" | "-") term }
 *     term       := factor { "*" factor }
 *     factor     := number | spec | "(" expression ")" | "-" factor
 *     list       := expression { ";" expression } [ ";" ]     a range in it makes a family
 */
#ifndef KREIN_KERNEL_H
#define KREIN_KERNEL_H

#include "base/rng.h"
#include "base/spec.h"
#include "encode/encoding.h"
#include "file/archive.h"
#include "num/matrix.h"

typedef enum krein_family {
    KREIN_FAMILY_RADIAL = 0,     /* a function of |x - y| */
    KREIN_FAMILY_STATIONARY = 1, /* a function of x - y, not of its length alone */
    KREIN_FAMILY_DOT = 2,        /* a function of <x, y>, |x|, |y| */
    KREIN_FAMILY_ADDITIVE = 3,   /* a sum over the columns of functions of x_j and y_j */
    KREIN_FAMILY_TABLE = 4       /* values that stand in a file */
} krein_family;

typedef enum krein_definite {
    KREIN_DEFINITE_POSITIVE = 0,
    KREIN_DEFINITE_UNIT = 1, /* positive definite on rows of length one */
    KREIN_DEFINITE_NO = 2
} krein_definite;

enum { KREIN_SUMS_MAX = 512 }; /* over the columns of two sparse rows */

/* The option of kernels with a width, which is chosen from the data when not given. */
#define KREIN_OPTION_SIGMA(what)                                                                   \
    { .name = "sigma", .value = NAN, .low = 0, .low_open = true, .high = 1e30, .help = what }

typedef struct krein_kernel krein_kernel;

/* A kernel in C, for programs that are made of a model: `value` is an expression of s, the sum over
 * the columns of `add`, an expression of the two numbers a and b of a column. EXP, SQRT, LOG, POW,
 * TANH, FABS and COS (of turns) are the program's functions, R(v) is a number of its type. */
typedef struct krein_kernel_source {
    char add[200], value[300];
} krein_kernel_source;

/* w_j = krein__rng_NAME(g, row, j) / width, independent. With a shape w is multiplied by sqrt(v),
 * or divided by it, v = krein__rng_gamma(krein__role(g, KREIN_ROLE_SCALE), row, 0, shape) / shape.
 */
typedef struct krein_kernel_law {
    const char *name;
    double width;
    double shape; /* 0: there is no such factor */
    bool divided;
} krein_kernel_law;

/* A kernel is computed from inner products (values32, values64) or row by row (rows32, rows64,
 * and coordinate and finish for sparse rows). p: the values of its options; for rows32, rows64,
 * coordinate, finish and frequency the numbers that `numbers` makes, where there is one. */
typedef struct krein_kernel_class {
    krein_class cls;
    const char *alias; /* the other name by which it is understood; NULL: none */
    krein_family family;
    /* The map that suits it when it must be approximated; NULL: landmarks, which serve all. */
    const char *map;
    /* Definiteness with these values; NULL: always positive definite. */
    krein_definite (*definite)(const double *p);
    /* What is wrong with values each of which is in its range, with the way out; NULL: nothing. */
    const char *(*check)(const double *p);
    /* Sets values that follow from others that were given; what is wrong with them, with the way
     * out, or NULL. NULL: nothing. */
    const char *(*complete)(krein_values *values);
    /* v[i] = <x, y_i> becomes k(x, y_i); xx = |x|^2, yy[i] = |y_i|^2. */
    void (*values32)(const double *p, int64_t n, float *v, float xx, const float *yy);
    void (*values64)(const double *p, int64_t n, double *v, double xx, const double *yy);
    /* out[i] = k(x, y_i) from dense rows; for sparse rows k = finish(s), s[t] = sum_j
     * coordinate(t d + j, x_j, y_j) with coordinate(0, 0) = 0, for as many t as `sums` says (NULL:
     * one; at most KREIN_SUMS_MAX). NULL: the kernel does not take sparse rows. */
    void (*rows32)(const double *p, int64_t d, const float *x, int64_t n, const float *y,
                   int64_t ldy, float *out);
    void (*rows64)(const double *p, int64_t d, const double *x, int64_t n, const double *y,
                   int64_t ldy, double *out);
    /* Operations for a column of a pair of rows; NULL: 4. */
    double (*flops)(const double *p);
    int64_t (*sums)(const double *p);
    double (*coordinate)(const double *p, int64_t at, double x, double y);
    double (*finish)(const double *p, const double *sum);
    /* Kernels on rows that are functions of |x - y|_1: v[i] = |x - y_i|_1 becomes k(x, y_i). NULL:
     * it is none. */
    void (*from_l1)(const double *p, int64_t n, double *v);

    /* The kernel in C; false: not with these values. NULL: there is none. */
    bool (*source)(const double *p, krein_kernel_source *out);

    /* Derivatives, for gradients of predictors; NULL: there is none. Radial kernels k = phi(r):
     * r[i] becomes phi'(r) / r, and 0 where r = 0 makes that infinite. */
    void (*slope)(const double *p, int64_t n, double *r);
    /* Products over the columns: out[i] = d log k(x, y_i) / dx_j in the column j that has the
     * values x and y[i]; 0 at a kink. */
    void (*partial)(const double *p, int64_t n, double x, const double *y, double *out);

    /* The spectral measure, where it is known and a positive one: k(x - y) = mass E cos w'(x - y).
     * mass = k(0); NULL: 1. frequency draws w in R^d at `row` of the stream. */
    double (*mass)(const double *p, int64_t d);
    void (*frequency)(const double *p, krein_rng g, uint64_t row, int64_t d, double *w);
    /* How `frequency` does that, for programs that draw them again. NULL: not in such a way. */
    krein_kernel_law (*law)(const double *p);
    /* Radial kernels: the law of |w| alone, and its density at r. */
    double (*radius)(const double *p, krein_rng g, uint64_t row, int64_t d);
    double (*density)(const double *p, int64_t d, double r);
    /* The same laws as functions of uniform numbers, for structured and quasi-random frequencies:
     * w = mixture(u) N(0, I) for radial kernels, or independent w_j = quantile(u_j). */
    double (*mixture)(const double *p, double u);
    double (*quantile)(const double *p, double u);
    /* Separable kernels whose profile is convex on [0, inf): the pitch of a random grid for one
     * column, density delta k''(delta). */
    double (*pitch)(const double *p, krein_rng g, uint64_t row, uint64_t column);
    /* Radial kernels that are cut off: the distance at which, and the power m with which they go to
     * zero there, like (edge - z)^m (0: a jump). NULL: smooth at all z > 0. */
    double (*edge)(const double *p, double *power);
    /* E w_j^2 is finite with these values (moment matching needs it); NULL: always. */
    bool (*second_moment)(const double *p);

    /* Dot-product kernels: k = sum_n a[n] <x, y>^n, n < count, on rows of length one where `unit`
     * is set, else on all rows with |<x, y>| <= reach. False where there is no such series. */
    bool (*series)(const double *p, bool unit, int64_t count, double *a, double *reach);

    /* Parameters whose default depends on the number of columns (options with `derived`), and those
     * that stand in a file. e: how the columns are encoded; NULL: not known. */
    krein_status (*settle)(krein_ctx *ctx, krein_kernel *leaf, int64_t d, const krein_encoding *e);
    /* Kernels with more numbers than their options: how many on d columns, and they themselves
     * (out has room). NULL: the options are all. */
    int64_t (*count)(const krein_kernel *leaf, int64_t d);
    krein_status (*numbers)(krein_ctx *ctx, const krein_kernel *leaf, int64_t d, double *out);
    /* What a leaf owns, in the model file. NULL: nothing. */
    krein_status (*io)(krein_ctx *ctx, krein_archive *a, krein_kernel *leaf, int64_t d);
    /* Training inputs must lie in [low, high] (low = high: anywhere); `advice` is the way out. */
    double low, high;
    const char *advice;
    /* The free scale (an option named sigma) that suits data whose median distance is m in the
     * given metric (1: L1, 2: L2) is spread * m. */
    int metric;
    double spread;
} krein_kernel_class;

/* Fills in a source; value by a format. */
bool krein__kernel_source(krein_kernel_source *out, const char *add, const char *value, ...)
    __attribute__((format(printf, 3, 4)));
#define KREIN_SOURCE_SQUARE "(a - b) * (a - b)"

#define KERNEL(name) extern const krein_kernel_class name;
#include "kernel/kernels.def"
#undef KERNEL
extern const krein_class *const krein__kernels[];
extern const int64_t krein__kernel_count;

typedef enum krein_node {
    KREIN_NODE_LEAF = 0,
    KREIN_NODE_SUM = 1,
    KREIN_NODE_PRODUCT = 2,
    KREIN_NODE_SCALE = 3 /* number * left */
} krein_node;

struct krein_kernel {
    krein_node node;
    const krein_kernel_class *kernel; /* LEAF */
    krein_values values;
    double *own; /* LEAF: numbers that were read from a file; NULL: none */
    int64_t owned;
    double number; /* SCALE */
    krein_kernel *left, *right;
};

/* The other name of an entry of krein__kernels, or "". */
const char *krein__kernel_alias(const krein_class *kernel);
krein_status krein__kernel_parse(krein_ctx *ctx, const char *text, krein_kernel **out);
krein_status krein__kernel_copy(krein_ctx *ctx, const krein_kernel *k, krein_kernel **out);
void krein__kernel_destroy(krein_ctx *ctx, krein_kernel *k);
/* The complete expression; parsing it gives the same kernel. Owned by the caller. */
char *krein__kernel_text(krein_ctx *ctx, const krein_kernel *k);
/* Free parameters: numbers without a value. slot and leaf of the i-th; count. */
int64_t krein__kernel_free(krein_kernel *k, int64_t i, krein_kernel **leaf, int64_t *slot);
/* The same for ranges, which only entries of a list have. */
int64_t krein__kernel_range(krein_kernel *k, int64_t i, krein_kernel **leaf, int64_t *slot);
/* KREIN_ESPEC where a base kernel does not take its values together; ranges are left alone. */
krein_status krein__kernel_check(krein_ctx *ctx, const krein_kernel *k);
/* One expression at the cursor, to the end of the text; in a list to a ";", and with ranges. */
krein_status krein__kernel_parse_at(krein_ctx *ctx, krein_cursor *c, bool in_list,
                                    krein_kernel **out);

/* Lists of kernels, "k1; k2; ..."; a range such as gaussian(sigma=0.1..10:20) stands for that many
 * kernels (families.c). On failure the list is empty. */
enum { KREIN_KERNELS_MAX = 10000 };
typedef struct krein_kernel_list {
    int64_t n;
    krein_kernel **kernel;
} krein_kernel_list;
krein_status krein__kernels_parse(krein_ctx *ctx, const char *text, krein_kernel_list *out);
void krein__kernels_clear(krein_ctx *ctx, krein_kernel_list *list);

/* What is known without data (no minus sign, every base kernel is): the worst of its parts. */
krein_definite krein__kernel_definite(const krein_kernel *k);
bool krein__kernel_positive(const krein_kernel *k); /* KREIN_DEFINITE_POSITIVE */
/* KREIN_DEFINITE_NO; not a matrix that the user brings, which may be anything. */
bool krein__kernel_indefinite(const krein_kernel *k);
/* Every base kernel has the property. */
bool krein__kernel_all(const krein_kernel *k, bool (*is)(const krein_kernel_class *));
bool krein__is_radial(const krein_kernel_class *c);
bool krein__is_stationary(const krein_kernel_class *c);
bool krein__has_frequency(const krein_kernel_class *c); /* stationary with a known measure */
bool krein__has_radius(const krein_kernel_class *c);    /* and radial */
bool krein__has_mixture(const krein_kernel_class *c);   /* and a mixture of Gaussians */
bool krein__has_pitch(const krein_kernel_class *c);     /* separable and convex */
bool krein__has_rows(const krein_kernel_class *c);      /* computed row by row */
bool krein__from_dots(const krein_kernel_class *c);     /* from <x, y>, |x| and |y| */
bool krein__is_linear(const krein_kernel *k); /* one term: a positive number times linear */
bool krein__is_arccos(const krein_kernel_class *c);
bool krein__is_ntk(const krein_kernel *k); /* a sum of numbers times ntk */
/* Sets the parameters that depend on the number of columns, and reads those that stand in a file. e
 * may be NULL. */
krein_status krein__kernel_settle(krein_ctx *ctx, krein_kernel *k, int64_t d,
                                  const krein_encoding *e);
/* What its leaves own, in the model file; for rows of width d. */
krein_status krein__kernel_io(krein_ctx *ctx, krein_archive *a, krein_kernel *k, int64_t d);
/* KREIN_EDATA with the way out where a base kernel wants inputs in a range and these are not, or
 * does not take sparse rows. low, high: the least and the greatest input. */
krein_status krein__kernel_check_inputs(krein_ctx *ctx, const krein_kernel *k, double low,
                                        double high, bool sparse);
/* Radial and dot-product kernels as a function of the distance z. unit: on rows of length one,
 * <x, y> = 1 - z^2/2; else every base kernel must be radial. */
double krein__kernel_profile(const krein_kernel *k, bool unit, double z);
/* a[n], n < count, with k = sum_n a[n] <x, y>^n for |<x, y>| <= *reach; KREIN_ESPEC without. */
krein_status krein__kernel_series(krein_ctx *ctx, const krein_kernel *k, bool unit, int64_t count,
                                  double *a, double *reach);

/* The expression as a sum of products: coefficient * leaf[0] * ... * leaf[n-1]. */
enum {
    KREIN_TERM_LEAVES = 8,
    KREIN_TERMS_MAX = 64,       /* of a kernel that a map expands */
    KREIN_EXPANSION_MAX = 4096, /* of any kernel */
};
typedef struct krein_term {
    double coefficient;
    int64_t n;
    const krein_kernel *leaf[KREIN_TERM_LEAVES];
} krein_term;
krein_status krein__kernel_terms(krein_ctx *ctx, const krein_kernel *k, krein_term *out,
                                 int64_t *n);
/* The same with room for `most`. */
krein_status krein__kernel_expand(krein_ctx *ctx, const krein_kernel *k, int64_t most,
                                  krein_term *out, int64_t *n);
int64_t krein__kernel_term_count(const krein_kernel *k);
/* The t-th of them alone, into out = {.coefficient = 1}; false: it has too many leaves. */
bool krein__kernel_term(const krein_kernel *k, int64_t t, krein_term *out);
/* The product of a term's base kernels, without the coefficient. */
krein_status krein__term_kernel(krein_ctx *ctx, const krein_term *term, krein_kernel **out);
/* *sum + term, coefficient and all; *sum = NULL is the empty sum, and what it is on failure. */
krein_status krein__kernel_add_term(krein_ctx *ctx, const krein_term *term, krein_kernel **sum);
/* sum_i weight[i] kernel[i], of copies, in the form that its text is parsed to (n > 0). */
krein_status krein__kernel_weighted_sum(krein_ctx *ctx, krein_kernel *const *kernel,
                                        const double *weight, int64_t n, krein_kernel **out);

#endif
