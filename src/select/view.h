/* view.h -- a kernel as the criteria see it: moments of its matrix on the rows.
 *
 * V (n x m) is what is known of the rows: for classes v_c - p_c 1, the indicator of each class less
 * its share p_c; for numbers the centred targets; a column of ones behind them. Labels of any
 * coding are linear in it: y = V a, so that y'K^r y = a'P_r a with P_r = V'K^r V (m x m). (Less
 * their means, because a wide kernel is almost 11': the part of labels that sum to zero must not be
 * a difference of large numbers.) Row weights count as repeated rows: K stands for SKS and V for
 * SV, S = diag(sqrt w), from here on.
 *
 * K is the kernel matrix (view_exact.c), or Z diag(s) Z' of a feature map (view_features.c), in
 * which case nothing is as large as n x n.
 */
#ifndef KREIN_VIEW_H
#define KREIN_VIEW_H

#include "kernel/gram.h"
#include "learn/blocks.h"
#include "learn/learn.h"

/* Rows that kernels are scored on, in memory. */
typedef struct krein_probe {
    int64_t n, k;    /* rows, targets (0: no labels) */
    int64_t classes; /* 0: not a classification */
    krein_matrix x;
    double *y, *weight;     /* n x k; NULL: all one */
    int32_t *class, *group; /* NULL: not a classification; no groups */
    uint64_t seed;
} krein_probe;

/* The columns of V. */
typedef struct krein_labels {
    int64_t n, k, classes;
    int64_t heavy;  /* rows whose weight is not zero */
    int64_t m;      /* columns: classes or k, and the ones */
    double weight;  /* sum of the weights */
    double *mean;   /* m - 1: shares of the classes, or means of the targets */
    double *target; /* k: means of the targets as learners have them, with codes for classes */
} krein_labels;

krein_status krein__labels_begin(krein_ctx *ctx, int64_t n, int64_t k, int64_t classes,
                                 krein_labels *out);
void krein__labels_end(krein_ctx *ctx, krein_labels *l);
/* A first pass over all rows finds the means ... */
void krein__labels_count(krein_labels *l, const krein_targets *rows);
krein_status krein__labels_together(krein_labels *l, krein_stream *rows); /* of all processes */
krein_status krein__labels_counted(krein_ctx *ctx, krein_labels *l);
/* All of that for a sample. */
krein_status krein__labels_of(krein_ctx *ctx, const krein_probe *s, krein_labels *out);
/* ... then the rows of V, each times the square root of its weight. */
void krein__labels_rows(const krein_labels *l, const krein_targets *rows, double *V);

/* What a criterion wants to know. Wants of several criteria are joined. */
typedef struct krein_needs {
    int64_t order;       /* powers P_0 .. P_order */
    bool trace;          /* Tr K; known as well where eigenvalues or |K|_F are */
    bool square;         /* |K|_F^2 */
    bool centred_square; /* |HKH|_F^2 */
    bool inside;         /* see krein_view */
    int64_t top;         /* so many of the largest eigenvalues */
    bool spectrum;       /* all eigenvalues, and V in the eigenvectors */
    bool centred;        /* the same of HKH */
} krein_needs;

/* Held-out errors of ridge regression with that kernel. */
typedef struct krein_trial {
    int64_t folds;       /* 0: leave-one-out */
    double lambda;       /* NaN: a path of them, and the best */
    bool intercept;      /* false: none, as in the textbook form of ridge regression */
    krein_path path;     /* out */
    krein_status status; /* out: a refusal, and why */
    char message[256];
    const int32_t *fold; /* on features: the fold of every row */
} krein_trial;

/* Eigenvalues, descending, and the coordinates V'u_j of the rows; those that are not there are 0.
 */
typedef struct krein_spectrum {
    int64_t n;
    double *value; /* n */
    double *part;  /* n x m */
} krein_spectrum;

typedef struct krein_view {
    krein_ctx *ctx;
    const krein_labels *labels;
    const krein_kernel *kernel;
    double trace, square, centred_square;
    double floor; /* the least lambda that rounding leaves a meaning; 0: any */
    bool mixed;   /* features of both signs: there are no eigenvalues */
    int64_t order;
    double *power;  /* order + 1 matrices m x m */
    double *inside; /* of each class c: sum of (KV)_ic^2 over the rows of the class */
    int64_t ntop;
    double *top;
    krein_spectrum spectrum, centred;
} krein_view;

/* Whether a status says that a criterion does not apply to a kernel: the candidate gets the message
 * instead of a score, and the others go on. */
bool krein__is_refusal(krein_status st);
/* Keeps the context's message with the trial; other failures are passed on. */
krein_status krein__trial_refused(const krein_ctx *ctx, krein_status st, krein_trial *t);
void krein__view_clear(krein_view *v);
/* a'P_r b; a and b have m entries. */
double krein__view_power(const krein_view *v, int64_t r, const double *a, const double *b);

/* Eigenpairs of A (n x n, overwritten), descending, and rows q_j'C for C (n x m). */
krein_status krein__view_decompose(krein_ctx *ctx, int64_t n, int64_t m, double *A, const double *C,
                                   krein_spectrum *out);

/* ---- exact -------------------------------------------------------------- */

/* The view of a kernel whose matrix on the sample is K (n x n; SKS afterwards), and the trials. */
krein_status krein__view_exact(krein_ctx *ctx, const krein_kernel *kernel, const krein_probe *s,
                               const krein_labels *labels, const krein_needs *needs,
                               krein_trial *trial, int64_t trials, double *K, krein_view *out);
/* Bytes beside K and the rows. */
double krein__view_exact_bytes(int64_t n, int64_t k, int64_t m, const krein_needs *needs,
                               const krein_trial *trial, int64_t trials);

/* ---- features ----------------------------------------------------------- */

/* Accumulates what is needed over passes of blocks of rows, in the same order every time:
 *     begin;  do { for all blocks: add } while (end_pass says more);  finish */
typedef struct krein_feature_view krein_feature_view;
/* map is fitted, and outlives this. first: some rows, for the mean of the features. */
krein_status krein__feature_view_begin(const krein_map *map, const krein_labels *labels,
                                       const krein_needs *needs, krein_trial *trial, int64_t trials,
                                       const krein_rows *first, krein_feature_view **out);
/* at: number of the first row. */
krein_status krein__feature_view_add(krein_feature_view *f, const krein_rows *x, int64_t at,
                                     const krein_targets *rows);
/* Where processes share the rows: their sums are put together before a pass ends. */
krein_status krein__feature_view_together(krein_feature_view *f, krein_stream *rows);
krein_status krein__feature_view_end_pass(krein_feature_view *f, bool *more);
krein_status krein__feature_view_finish(krein_feature_view *f, krein_view *out);
void krein__feature_view_destroy(krein_feature_view *f);
double krein__feature_view_bytes(const krein_map *map, int64_t n, int64_t k, int64_t m,
                                 const krein_needs *needs, const krein_trial *trial,
                                 int64_t trials);

#endif
