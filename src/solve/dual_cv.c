/* dual_cv.c -- cross-validation on the kernel matrix
 *
 * Over a path: one eigendecomposition of the other rows' matrix for each fold, 9 m^3 flops each.
 * At one lambda there are two ways, of which the one with fewer flops is taken:
 *
 *   fold by fold  a Cholesky factorisation of the other rows' matrix, m^3 / 3 each;
 *   by blocks     the residuals of the rows F without all of F are S_F^-1 (R_FF)^-1 a_F, R and a as
 *                 in dual_at.c for all rows (the block form of leave-one-out, an2007). With the
 *                 rows in the order of their folds, A = U'U and V = U^-1, R_FF = V_F V_F' - u_F
 *                 u_F' / (c + shift), V_F having zeros before F. 2 n^3 / 3 flops for V, at most 2 n
 *                 |F|^2 a fold.
 *
 * The penalty is W_{-F} lambda, W_{-F} the weight of the other rows, so that V must be computed
 * once for each value of W_{-F}: folds of equal rows have one or two, weights as many as folds.
 * With k equal folds that is (2/3 + 1/k) n^3 against (1 - 1/k)^3 k n^3 / 3: blocks win above five.
 * Where A is not positive definite: fold by fold, with eigendecompositions where need be.
 */
#include "solve/dual.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

/* The rows in the order of their folds. */
typedef struct cuts {
    int64_t folds;
    int64_t *order; /* n; rows without a fold are the last */
    int64_t *first; /* folds + 1: where each fold begins */
    double *others; /* folds: W_{-F} */
} cuts;

static krein_status cuts_begin(krein_ctx *ctx, const krein_targets *rows, const int32_t *fold,
                               int64_t folds, cuts *c) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, at = 0;
    c->folds = folds;
    NEW(c->order, n);
    NEW(c->first, folds + 1);
    ZNEW(c->others, folds);
    memset(c->first, 0, (size_t)(folds + 1) * sizeof *c->first);
    /* A counting sort. */
    for (int64_t i = 0; i < n; i++)
        if (fold[i] >= 0 && fold[i] < folds) c->first[fold[i] + 1]++;
    for (int64_t f = 0; f < folds; f++) c->first[f + 1] += c->first[f];
    at = c->first[folds];
    for (int64_t i = 0; i < n; i++) {
        bool has = fold[i] >= 0 && fold[i] < folds;
        c->order[has ? c->first[fold[i]]++ : at++] = i;
    }
    for (int64_t f = folds; f > 0; f--) c->first[f] = c->first[f - 1];
    c->first[0] = 0;
done:
    return st;
}

static void cuts_end(krein_ctx *ctx, cuts *c) {
    krein__free(ctx, c->order);
    krein__free(ctx, c->first);
    krein__free(ctx, c->others);
}

static int64_t size_of(const cuts *c, int64_t f) { return c->first[f + 1] - c->first[f]; }
/* A fold is left out where it is empty, or leaves no two rows to learn from. */
static bool counts(const cuts *c, int64_t n, int64_t f) {
    return size_of(c, f) > 0 && n - size_of(c, f) >= 2;
}

/* W_{-F}, added up in the order of rows: folds of equal rows come out equal. */
static void weigh(const krein_targets *rows, const int32_t *fold, cuts *c) {
    for (int64_t f = 0; f < c->folds; f++)
        for (int64_t i = 0; i < rows->n; i++)
            if (fold[i] != f) c->others[f] += rows->weight ? rows->weight[i] : 1;
}

/* ---- fold by fold ------------------------------------------------------- */

/* score (n x (k L), or NULL): of the rows in folds that count; the others' stay. */
static krein_status by_fold(krein_ctx *ctx, const double *K, const krein_targets *rows,
                            bool intercept, const cuts *c, const int32_t *fold, krein_path *p,
                            krein_tally *tally, double *score) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, *in = NULL, most = 0, least = n, wide = p->n * rows->k;
    double *A = NULL, *B = NULL, *held = NULL;
    krein_subset train = {0}, test = {0};
    for (int64_t f = 0; f < c->folds; f++) {
        if (!counts(c, n, f)) continue;
        most = krein__max(most, size_of(c, f));
        least = krein__min(least, size_of(c, f));
    }
    NEW(in, n);
    NEW(A, (n - least) * (n - least));
    NEW(B, most * (n - least));
    NEW(held, most * wide);
    TRY(krein__subset_begin(ctx, rows, &train));
    TRY(krein__subset_begin(ctx, rows, &test));
    for (int64_t f = 0; f < c->folds; f++) {
        const int64_t *out = c->order + c->first[f];
        int64_t m = 0, t = size_of(c, f);
        if (!counts(c, n, f)) continue;
        for (int64_t i = 0; i < n; i++)
            if (fold[i] != f) in[m++] = i;
        krein__part(K, n, in, m, in, m, A);
        krein__part(K, n, out, t, in, m, B);
        krein_targets others = krein__subset_pick(rows, in, m, &train),
                      left = krein__subset_pick(rows, out, t, &test);
        TRY(krein__dual_others(ctx, A, &others, intercept, B, t, p, held));
        krein__tally_add(tally, &left, p->n, held);
        for (int64_t i = 0; score && i < t; i++)
            memcpy(score + out[i] * wide, held + i * wide, (size_t)wide * sizeof *score);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, in);
    krein__free(ctx, A);
    krein__free(ctx, B);
    krein__free(ctx, held);
    krein__subset_end(ctx, &train);
    krein__subset_end(ctx, &test);
    return st;
}

/* ---- by blocks ---------------------------------------------------------- */

typedef struct blocks {
    krein_ctx *ctx;
    const cuts *c;
    krein_targets rows; /* all, in the order of folds */
    krein_frame f;
    double *A;            /* n x n: in its upper triangle V */
    double *a;            /* n x k */
    double *part, *R, *e; /* of one fold: V_F; R_FF; residuals, then scores */
} blocks;

/* Held-out scores of one fold, added to the tally. */
static krein_status block(const blocks *b, int64_t fold, double shift, krein_tally *tally) {
    krein_status st = KREIN_OK;
    const krein_frame *f = &b->f;
    int64_t n = b->rows.n, k = b->rows.k, from = b->c->first[fold], t = size_of(b->c, fold);
    int64_t wide = n - from;
    krein_targets left = {t, k, b->rows.y + from * k, b->rows.weight ? b->rows.weight + from : NULL,
                          b->rows.class ? b->rows.class + from : NULL};
    for (int64_t i = 0; i < t; i++) {
        memset(b->part + i * wide, 0, (size_t)i * sizeof *b->part);
        memcpy(b->part + i * wide + i, b->A + (from + i) * n + from + i,
               (size_t)(wide - i) * sizeof *b->part);
    }
    krein__pgemm(b->ctx, false, true, t, t, wide, 1, b->part, wide, b->part, wide, 0, b->R, t);
    for (int64_t i = 0; f->intercept && i < t; i++)
        for (int64_t j = 0; j < t; j++)
            b->R[i * t + j] -= f->u[from + i] * f->u[from + j] / (f->lift + shift);
    memcpy(b->e, b->a + from * k, (size_t)(t * k) * sizeof *b->e);
    TRY(krein__cholesky(b->ctx, t, b->R, t, NULL));
    TRY(krein__cholesky_solve(b->ctx, t, b->R, t, k, b->e, k));
    for (int64_t i = 0; i < t; i++)
        for (int64_t o = 0; o < k; o++) {
            double root = f->root[from + i], *e = b->e + i * k + o;
            *e = root > 0 ? left.y[i * k + o] - *e / root : f->ymean[o];
        }
    krein__tally_add(tally, &left, 1, b->e);
    TRY(krein__poll(b->ctx));
done:
    return st;
}

/* All folds with the W_{-F} of the given one, unless one before it had the same. */
static krein_status alike(const blocks *b, int64_t fold, double lambda, double *diagonal,
                          krein_tally *tally) {
    krein_status st = KREIN_OK;
    const cuts *c = b->c;
    int64_t n = b->rows.n;
    double shift = c->others[fold] * lambda;
    for (int64_t g = 0; g < fold; g++)
        if (counts(c, n, g) && c->others[g] == c->others[fold]) return KREIN_OK;
    TRY(krein__frame_solve(b->ctx, b->A, &b->rows, &b->f, shift, b->a));
    TRY(krein__cholesky_inverse_diagonal(b->ctx, n, b->A, n, diagonal));
    for (int64_t g = fold; g < c->folds; g++)
        if (counts(c, n, g) && c->others[g] == c->others[fold]) TRY(block(b, g, shift, tally));
done:
    return st;
}

/* KREIN_ENUMERIC where the matrix is not positive definite; the tally is then of no use. */
static krein_status by_blocks(krein_ctx *ctx, const double *K, const krein_targets *rows,
                              bool intercept, const cuts *c, double lambda, krein_tally *tally) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, room = 0, most = 0;
    blocks b = {.ctx = ctx, .c = c};
    krein_subset all = {0};
    double *diagonal = NULL;
    for (int64_t f = 0; f < c->folds; f++) {
        most = krein__max(most, size_of(c, f));
        room = krein__max(room, size_of(c, f) * (n - c->first[f]));
    }
    NEW(b.A, n * n);
    NEW(b.a, n * k);
    NEW(b.part, room);
    NEW(b.R, most * most);
    NEW(b.e, most * k);
    NEW(diagonal, n);
    TRY(krein__subset_begin(ctx, rows, &all));
    b.rows = krein__subset_pick(rows, c->order, n, &all);
    krein__part(K, n, c->order, n, c->order, n, b.A);
    TRY(krein__frame_begin(ctx, b.A, &b.rows, intercept, &b.f));
    for (int64_t f = 0; f < c->folds; f++)
        if (counts(c, n, f)) TRY(alike(&b, f, lambda, diagonal, tally));
done:
    krein__free(ctx, b.A);
    krein__free(ctx, b.a);
    krein__free(ctx, b.part);
    krein__free(ctx, b.R);
    krein__free(ctx, b.e);
    krein__free(ctx, diagonal);
    krein__subset_end(ctx, &all);
    krein__frame_clear(ctx, &b.f);
    return st;
}

/* Whether blocks take fewer flops. Not where a fold has all the weight: refused fold by fold. */
static bool blocks_win(const krein_targets *rows, const cuts *c) {
    double n = (double)rows->n, together = 0, apart = 0;
    for (int64_t f = 0; f < c->folds; f++) {
        bool new = true;
        double t = (double)size_of(c, f), m = n - t;
        if (!counts(c, rows->n, f)) continue;
        if (!(c->others[f] > 0)) return false;
        for (int64_t g = 0; g < f && new; g++)
            new = !(counts(c, rows->n, g) && c->others[g] == c->others[f]);
        if (new) together += 2 * n * n * n / 3;
        together += 2 * t * t * (n - (double)c->first[f]) + t * t * t / 3;
        apart += m * m * m / 3;
    }
    return together < apart;
}

/* ---- both --------------------------------------------------------------- */

krein_status krein__dual_folds(krein_ctx *ctx, const double *K, const krein_targets *rows,
                               bool intercept, const int32_t *fold, int64_t folds, krein_path *p) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n;
    double diagonal = 0;
    cuts c = {0};
    krein_tally tally = {0};
    for (int64_t i = 0; i < n; i++) diagonal += fabs(K[i * n + i]) / (double)n;
    if (p->n == 0) krein__path_grid(p, diagonal * 1e-11, diagonal * 10, 4);
    TRY(cuts_begin(ctx, rows, fold, folds, &c));
    weigh(rows, fold, &c);
    bool one = p->n == 1 && blocks_win(rows, &c);
    if (one) st = by_blocks(ctx, K, rows, intercept, &c, p->lambda[0], &tally);
    if (st == KREIN_ENUMERIC) tally = (krein_tally){0}; /* indefinite: all over again */
    if (!one || st == KREIN_ENUMERIC)
        st = by_fold(ctx, K, rows, intercept, &c, fold, p, &tally, NULL);
    TRY(st);
    if (!(tally.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "cross-validation: every fold is empty; use fewer folds, or more groups");
        goto done;
    }
    krein__tally_end(&tally, rows->class != NULL, p);
done:
    cuts_end(ctx, &c);
    return st;
}

krein_status krein__dual_folds_at(krein_ctx *ctx, const double *K, const krein_targets *rows,
                                  const int32_t *fold, int64_t folds, double lambda,
                                  double *score) {
    krein_status st = KREIN_OK;
    krein_path p = {.n = 1, .lambda = {lambda}};
    krein_tally tally = {0};
    cuts c = {0};
    for (int64_t i = 0; i < rows->n * rows->k; i++) score[i] = NAN;
    TRY(cuts_begin(ctx, rows, fold, folds, &c));
    TRY(by_fold(ctx, K, rows, true, &c, fold, &p, &tally, score));
done:
    cuts_end(ctx, &c);
    return st;
}

krein_status krein__dual_cv(krein_ctx *ctx, const double *K, const krein_targets *rows,
                            const int32_t *fold, int64_t folds, krein_path *p) {
    return krein__dual_folds(ctx, K, rows, true, fold, folds, p);
}
