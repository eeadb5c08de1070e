/* ridge.h -- ridge regression on features (primal) and on the kernel matrix (dual). */
#ifndef KREIN_RIDGE_H
#define KREIN_RIDGE_H

#include "base/spec.h"
#include "file/archive.h"
#include "stream/data.h"

#include <math.h>

extern const krein_class *const krein__solvers[];
extern const int64_t krein__solver_count;

/* Leave-one-out over a path of lambdas. loss: weighted mean squared residual (over rows and
 * outputs); error: weighted share of rows put in a wrong class, NaN for regression. */
enum { KREIN_PATH_MAX = 64, KREIN_GUESSES_MAX = 40 };
typedef struct krein_guess {
    double lambda, loss, error;
} krein_guess;
typedef struct krein_path {
    int64_t n, best;
    double lambda[KREIN_PATH_MAX], loss[KREIN_PATH_MAX], error[KREIN_PATH_MAX];
    int64_t guesses; /* of krein__path_follow, for people; some of them were visited then */
    krein_guess guess[KREIN_GUESSES_MAX];
} krein_path;

/* Geometric from low to high, `per_decade` values a decade, rounded to three digits. */
void krein__path_grid(krein_path *p, double low, double high, int per_decade);
/* Index of the smallest error (classification), ties by loss; else the smallest loss. */
void krein__path_choose(krein_path *p);

/* Rows to be scored: targets y (n x k), weights (or NULL), and for classification the class of
 * each row (k = 1 for two classes, targets -1 and +1). */
typedef struct krein_targets {
    int64_t n, k;
    const double *y, *weight;
    const int32_t *class;
} krein_targets;

/* Adds up losses and errors of held-out predictions; score is n x (k * L), lambda-major:
 * score[i * k * L + l * k + c]. */
typedef struct krein_tally {
    double weight, loss[KREIN_PATH_MAX], error[KREIN_PATH_MAX];
} krein_tally;
void krein__tally_add(krein_tally *t, const krein_targets *rows, int64_t L, const double *score);
/* As krein__ridge_together. */
krein_status krein__tally_together(krein_tally *t, krein_stream *rows);
void krein__tally_end(const krein_tally *t, bool classes, krein_path *p);
/* ", error E" for messages; nothing where it is NaN, as that of numbers is. */
const char *krein__error_text(double error, char out[40]);

/* Held-out scores (n x k) of the rows at one lambda; not numbers where it has no solution. */
typedef krein_status krein_visitor(void *state, double lambda, double *score);
/* Scores a few lambdas around the best, found by steps from `start`, none below `least`. Fills p,
 * which has the best of those before whenever the visitor is called. */
krein_status krein__path_walk(krein_ctx *ctx, const krein_targets *rows, double start, double least,
                              krein_visitor *visitor, void *state, krein_path *p);
/* The same in fewer visits, where the start is known to be near. */
krein_status krein__path_climb(krein_ctx *ctx, const krein_targets *rows, double start,
                               double least, krein_visitor *visitor, void *state, krein_path *p);
/* The same in one or two. guess: about the scores at lambdas up to half a decade from the last one
 * visited, at little cost; only what promises to be better is visited, or what lies as far again
 * behind it. */
krein_status krein__path_follow(krein_ctx *ctx, const krein_targets *rows, double start,
                                double least, krein_visitor *visitor, krein_visitor *guess,
                                void *state, krein_path *p);
/* Index of the smallest loss. */
int64_t krein__path_least(const krein_path *p);

/* ---- primal ------------------------------------------------------------- */

/* Accumulated products of raw features r (R of them) and targets y (k):
 * G = sum w r r', B = sum w r [y', 1], plus the sums of y. */
typedef struct krein_ridge {
    krein_ctx *ctx;
    int64_t R, k, n;
    double *G, *B;        /* R x R (upper), R x (k + 1) */
    double weight, *ysum; /* sum of weights; k sums of w y */
    float *tile, *right;  /* scratch */
    int64_t rows_max;
    bool centred; /* G and B are, since the first krein__ridge_system */
} krein_ridge;

krein_status krein__ridge_begin(krein_ctx *ctx, int64_t R, int64_t k, int64_t rows_max,
                                krein_ridge *out);
/* r is n x R float32 (scaled in place when there are weights), n <= rows_max <= 4096. */
void krein__ridge_add(krein_ridge *s, int64_t n, float *r, const double *y, const double *weight);
void krein__ridge_clear(krein_ridge *s);
/* The same in two steps, for threads that work on a block each: its products (which change nothing
 * in s), krein__ridge_room floats; their addition. To the bit what krein__ridge_add does where the
 * blocks are added in the same order. */
int64_t krein__ridge_room(const krein_ridge *s);
void krein__ridge_products(const krein_ridge *s, int64_t n, float *r, const double *y,
                           const double *weight, float *products);
void krein__ridge_sum(krein_ridge *s, int64_t n, const double *y, const double *weight,
                      const float *products);
/* The sums of all processes, where they share the rows that were added (stream/together.h). */
krein_status krein__ridge_together(krein_ridge *s, krein_stream *rows);
/* The sums, between two blocks: written, or read into one of the same size. */
krein_status krein__ridge_io(krein_archive *a, krein_ridge *s);
double krein__ridge_bytes(int64_t R, int64_t k, int64_t rows_max, int threads);

/* The centred normal equations in feature space: (G + weight lambda I) w = B, z = mix' r. */
typedef struct krein_system {
    int64_t D, R, k;
    double weight;
    double *G;         /* D x D, upper triangle */
    double *B;         /* D x k */
    double *mean;      /* R: weighted mean of r */
    double *ymean;     /* k */
    const double *mix; /* R x D with row stride ldmix, or NULL; borrowed */
    int64_t ldmix;
} krein_system;

/* Ends the accumulation. Without a mix G is taken over from s; with one it may be called again,
 * with other columns of mix. */
krein_status krein__ridge_system(krein_ridge *s, const double *mix, int64_t ldmix, int64_t D,
                                 krein_system *out);
void krein__system_clear(krein_ctx *ctx, krein_system *s);
/* Weights of the raw features (R x k) and intercepts (k) for one lambda. */
krein_status krein__system_solve(krein_ctx *ctx, const krein_system *s, double lambda, double *w,
                                 double *intercept);

/* The score of a row whose leverage is one, which leaves nothing to predict it from: a loss so
 * large, and a class so wrong, that no path chooses this lambda. */
static inline double krein__score_of_nothing(double y) {
    return y - copysign(1e3 * (1 + fabs(y)), y);
}

/* Predictions for every lambda of a path, from one eigendecomposition of the system. */
typedef struct krein_scores krein_scores;
/* The least lambda at which leave-one-out means something: G is a sum of float32 products with a
 * relative error of about 1e-8 an entry, as a matrix 2 sqrt(D) 1e-8 times the mean of G_ii = trace
 * / D; a fifth of lambda's share W lambda may be noise. Below, errors come out too small by chance.
 */
double krein__system_floor(const krein_system *s);
/* loo: the rows to come are among those accumulated, and each is predicted by the model without
 * it, exactly; else they are held out. Fills p's lambdas where p->n is 0. */
krein_status krein__scores_begin(krein_ctx *ctx, const krein_system *s, bool loo, krein_path *p,
                                 krein_scores **out);
/* Leave-one-out at one lambda, from a Cholesky factorisation: D^3 flops on all threads, in the
 * place of 9 D^3. */
krein_status krein__scores_at(krein_ctx *ctx, const krein_system *s, double lambda,
                              krein_scores **out);
/* Bytes of what it makes, for a path of any length, without a mix. */
double krein__scores_bytes(int64_t D, int64_t k, int threads);
/* The same for weights found elsewhere, D x (L k), lambda-major, of a system without a mix; the
 * rows to come are held out. */
krein_status krein__scores_of(krein_ctx *ctx, const krein_system *s, int64_t L, const double *w,
                              krein_scores **out);
/* r: n x R raw features. Adds the rows' losses and errors to t. */
krein_status krein__scores_add(krein_scores *l, const float *r, const krein_targets *rows,
                               krein_tally *t);
/* What the scores are made of: fit (n x (L k), lambda-major) = (z_i - m)'w and lever (n x L) = (z_i
 * - m)'(G + W lambda I)^-1 (z_i - m) of n rows; and w itself, R x (L k). Levers after
 * krein__scores_begin with loo or krein__scores_at, else NULL; w after krein__scores_begin. */
void krein__scores_rows(krein_scores *l, int64_t n, const float *r, float *fit, float *lever);
void krein__scores_weights(const krein_scores *l, float *w);
void krein__scores_end(krein_scores *l); /* NULL is fine */

/* Above so many features (rows, in the dual) lambda is chosen by a walk, below by one
 * eigendecomposition. */
enum { KREIN_EIGEN_MAX = 2048 };
/* Exact leave-one-out of the rows with the centred features z (n x D) at a few lambdas around the
 * best, each with a Cholesky factorisation. near > 0: a lambda near the best. The system must have
 * no mix. Fills p. */
krein_status krein__loo_walk(krein_ctx *ctx, const krein_system *s, const float *z,
                             const krein_targets *rows, double near, krein_path *p);
/* u = factor of G + weight lambda I (upper), lifted where rounding left G indefinite. */
krein_status krein__system_factor(krein_ctx *ctx, const krein_system *s, double lambda, double *u);

/* ---- dual --------------------------------------------------------------- */

/* All on the full symmetric n x n kernel matrix K, which is overwritten. Without an intercept f is
 * sum alpha_i k(., x_i) alone, and targets are not centred. */

/* Leave-one-out over the path, by one eigendecomposition: 9 n^3 flops. krein__dual_path has an
 * intercept. */
krein_status krein__dual_loo_path(krein_ctx *ctx, double *K, const krein_targets *rows,
                                  bool intercept, krein_path *p);
krein_status krein__dual_path(krein_ctx *ctx, double *K, const krein_targets *rows, krein_path *p);
/* The same at one lambda by a Cholesky factorisation, 2 n^3 / 3 flops (an eigendecomposition where
 * K is too indefinite). score (n x k, or NULL): the predictions without their own row, the mean of
 * the targets for rows without a weight. p becomes a path of this lambda. */
krein_status krein__dual_loo_at(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                                bool intercept, krein_path *p, double *score);
/* The same at a few lambdas around the best, each with a Cholesky factorisation, for a positive
 * definite kernel and many rows. The start comes from the path of `sample` rows. alpha and
 * intercept are those of krein__dual_solve at the best. */
krein_status krein__dual_walk(krein_ctx *ctx, double *K, const krein_targets *rows, int64_t sample,
                              uint64_t seed, krein_path *p, double *alpha, double *intercept);
/* The same from a given start, in three or four steps. */
krein_status krein__dual_walk_from64(krein_ctx *ctx, double *K, const krein_targets *rows,
                                     double start, krein_path *p, double *alpha, double *intercept);
/* The same in float32 (dual_walk.c). Of K what is above the diagonal is lost, and not read. score (n x k, or NULL): the leave-one-out
 * scores at the best. *below: the best is the least lambda that float32 resolves, or it resolves
 * none; a smaller one may be better, and takes the kernel in float64. */
krein_status krein__dual_walk_from(krein_ctx *ctx, float *K, const krein_targets *rows,
                                   double start, krein_path *p, double *alpha, double *intercept,
                                   double *score, bool *below);
/* The same at one lambda, to the bit. *solved: float32 resolves it; else the rest is not set. */
krein_status krein__dual_fit32(krein_ctx *ctx, float *K, const krein_targets *rows,
                               double lambda, double *alpha, double *intercept, double *score,
                               bool *solved);
/* A start for all rows: the best lambda of a sample of them, by its path. The kernel matrix is K or
 * K32, not changed; the other is NULL. */
krein_status krein__dual_start(krein_ctx *ctx, const double *K, const float *K32,
                               const krein_targets *rows, int64_t sample, uint64_t seed,
                               double *lambda);
/* Bytes of the two in float32 beside K. */
double krein__dual_walk_bytes(int64_t n, int64_t k, int threads);
/* Coefficients alpha (n x k) and intercepts b (k; zeros without one); krein__dual_solve has one. */
krein_status krein__dual_fit(krein_ctx *ctx, double *K, const krein_targets *rows, bool intercept,
                             double lambda, double *alpha, double *b);
krein_status krein__dual_solve(krein_ctx *ctx, double *K, const krein_targets *rows, double lambda,
                               double *alpha, double *intercept);
/* Cross-validation over the path with fold[i] of each row in 0 .. folds-1 (others are always
 * trained on); K is not changed. Where p has one lambda, by Cholesky factorisations (dual_cv.c).
 * krein__dual_cv has an intercept. */
krein_status krein__dual_folds(krein_ctx *ctx, const double *K, const krein_targets *rows,
                               bool intercept, const int32_t *fold, int64_t folds, krein_path *p);
krein_status krein__dual_cv(krein_ctx *ctx, const double *K, const krein_targets *rows,
                            const int32_t *fold, int64_t folds, krein_path *p);
/* Held-out scores (n x k) of the folds at one lambda, with an intercept; not numbers where a fold
 * leaves no two rows to learn from. K is not changed. */
krein_status krein__dual_folds_at(krein_ctx *ctx, const double *K, const krein_targets *rows,
                                  const int32_t *fold, int64_t folds, double lambda, double *score);
/* Held-out scores for a whole path: the model on K (n x n, overwritten) applied to m other rows
 * with kernel values Kt (m x n); score is m x (k L), lambda-major. p's lambdas are given. */
krein_status krein__dual_others(krein_ctx *ctx, double *K, const krein_targets *rows,
                                bool intercept, const double *Kt, int64_t m, const krein_path *p,
                                double *score);

#endif
