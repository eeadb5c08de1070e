/* dual.h -- what the files of the dual (dual.c, dual_at.c, dual_cv.c, dual_walk.c) share: the frame
 * in which the intercept is gone and every row has weight one, and some of the rows of a problem.
 */
#ifndef KREIN_DUAL_H
#define KREIN_DUAL_H

#include "solve/ridge.h"
#include "solve/smoother.h"

/* ---- the frame (dual_frame.c) ------------------------------------------- */

/* With an intercept u = S1/|S1| and P = I - uu'; without one u = 0, P = I and ymean = 0. */
typedef struct krein_frame {
    bool intercept;
    double weight;        /* W */
    double *root, *u, *y; /* sqrt(w); u; P S y (n x k) */
    double *ymean;
    double *diagonal, lift; /* of PSKSP; the c of dual.c, as large as the diagonal */
    double floor; /* the least lambda that the rounding of K leaves a meaning: PSKSP of a wide
                   * kernel is a small difference of its entries */
} krein_frame;

/* All of it but what is said of K. */
krein_status krein__frame_targets(krein_ctx *ctx, const krein_targets *rows, bool intercept,
                                  krein_frame *f);
/* K becomes P S K S P. */
krein_status krein__frame_begin(krein_ctx *ctx, double *K, const krein_targets *rows,
                                bool intercept, krein_frame *f);
void krein__frame_clear(krein_ctx *ctx, krein_frame *f);
/* The upper triangle and the diagonal of K become those of PSKSP + lift uu' + shift I again, from
 * the lower one. */
void krein__frame_refill(krein_ctx *ctx, int64_t n, const krein_frame *f, double lift, double shift,
                         double *K);
/* The factor of PSKSP + c uu' + shift I in the upper triangle, and a (n x k) = its solution for the
 * right side PSy. KREIN_ENUMERIC where it is not positive definite, or at shift = 0 singular. */
krein_status krein__frame_solve(krein_ctx *ctx, double *K, const krein_targets *rows,
                                const krein_frame *f, double shift, double *a);
/* Eigenpairs of K = PSKSP as krein__eigen leaves them; u, of value 0, is moved to the end where
 * there is an intercept: the first n - intercept are those that count. */
krein_status krein__frame_eigen(krein_ctx *ctx, double *K, int64_t n, const krein_frame *f,
                                double *s);
/* a (n x k) becomes alpha, with the intercepts b; mean_row: the weighted mean of K's rows. */
void krein__frame_leave(const krein_targets *rows, const krein_frame *f, const double *mean_row,
                        double *a, double *b);
/* a becomes P a. */
void krein__frame_project(int64_t n, int64_t m, const double *u, double *a);
/* The refusal of lambda = 0. */
krein_status krein__dual_singular(krein_ctx *ctx);

/* Scores without their own row, from the solution a and the diagonal of the inverse of the matrix
 * that krein__frame_solve factors. */
void krein__frame_loo(const krein_targets *rows, const krein_frame *f, double shift,
                      const double *a, const double *diagonal, double *score);
/* The same over a path (filled where p->n is 0), from the eigenpairs of K = PSKSP, overwritten;
 * score, n x (k L), may be NULL. Fills p's losses. */
krein_status krein__frame_loo_path(krein_ctx *ctx, double *K, const krein_targets *rows,
                                   const krein_frame *f, krein_path *p, double *score);

/* ---- sums over rows ----------------------------------------------------- */

double krein__total_weight(const krein_targets *rows);

/* ---- some of the rows --------------------------------------------------- */

typedef struct krein_subset {
    double *y, *weight;
    int32_t *class;
} krein_subset;
krein_status krein__subset_begin(krein_ctx *ctx, const krein_targets *of, krein_subset *s);
void krein__subset_end(krein_ctx *ctx, krein_subset *s);
/* The m rows as targets of their own, kept in `to`. */
krein_targets krein__subset_pick(const krein_targets *of, const int64_t *rows, int64_t m,
                                 krein_subset *to);
/* K[rows][columns] copied out. */
void krein__part(const double *K, int64_t n, const int64_t *rows, int64_t m, const int64_t *columns,
                 int64_t c, double *out);

#endif
