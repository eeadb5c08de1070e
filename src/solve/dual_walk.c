/* dual_walk.c -- leave-one-out on a kernel matrix in float32 at a few lambdas, from a start
 *
 * In the frame of dual.c, with A = PSKSP + c uu' + shift I, shift = W lambda, R = A^-1 - uu' / (c +
 * shift) and a = A^-1 PSy:
 *     y_i - f_{-i}(x_i) = a_i / R_ii / sqrt(w_i)                                     (cawley2006)
 * A is made from K in float64 and rounded once, A = U'U and the diagonal of A^-1 = VV', V = U^-1,
 * are float32: n^3 / 3 + n^3 / 3 flops at twice the speed of float64, on all threads, in half of
 * its memory. A, U and V stand in the place of K above the diagonal, one after the other; what is
 * below stays, and the tiles on the diagonal are kept apart.
 *
 * a is refined, a += (U'U)^-1 (PSy - A a), the residual in float64 from K itself, until it has the
 * digits of TOL (for classes of CLASSES, which is plenty for them): the solution of float64 for the
 * K that is given.
 *
 * What float32 leaves of it. K and the factor are off by E, whose entries are about 2^-24 of the
 * diagonal of SKS: as a random matrix |E| ~ sqrt(n) 2^-24 max w_i K_ii =: e. Refinement gains a
 * factor shift / e a step, and ends with a solution where that is well above one. An error of the
 * diagonal is R_i'E R_i ~ 2^-24 |R_i|^2 <= 2^-24 R_ii / shift relative to the diagonal of SKS,
 * without the sqrt(n). So lambdas with shift >= GUARD e are visited: with n = 4,000 that is 8e-5 of
 * the diagonal, where R_ii has three digits. Smaller ones are left to float64 (*below).
 *
 * What lambdas near one that was solved would give is estimated from its factor (nearby.c), and
 * only the best of them is solved.
 */
#include "solve/dual.h"

#include "num/blas.h"
#include "solve/nearby.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { STRIP = 32, PANEL = 512, APART = PANEL + 8, COPY = 64, REFINEMENTS = 8 };
static const double GUARD = 20, EPSILON = 0x1p-24, TOL = 1e-11, ENOUGH = 1e-7, CLASSES = 1e-5;

typedef struct walk {
    krein_ctx *ctx;
    float *K; /* n x n: below the diagonal K; A, then U, then V */
    const krein_targets *rows;
    krein_frame f;
    double *mean, total;         /* SKSu; u'SKSu */
    float *own, *tiles;          /* n, the diagonal of K; n x KREIN_NEARBY_TILE, its tiles there */
    double *a, *best, *residual; /* n x k: at the last lambda; at the best so far; of the last */
    double *v, *scale;           /* n x k; k */
    float *step, *diagonal32;    /* n x k; n */
    double *diagonal;
    double *score;                  /* n x k: at the best, or NULL */
    double *last;                   /* the scores of the last lambda */
    double *wide;                   /* for each thread STRIP x APART */
    double solved_at;               /* the last lambda; 0: float32 had no solution */
    krein_nearby *near;             /* of that, once it was wanted */
    double *near_a, *near_diagonal; /* n x k; n */
    double guessed;                 /* the least lambda that was guessed at; INFINITY: none */
    const krein_path *p;            /* what was visited */
} walk;

/* The tiles on the diagonal, to or from where they are kept. */
static void copy_tiles(const walk *w, bool back) {
    int64_t n = w->rows->n, T = KREIN_NEARBY_TILE;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / T * T;
        size_t bytes = (size_t)(i - first + 1) * sizeof *w->K;
        float *there = w->K + i * n + first, *here = w->tiles + i * T;
        memcpy(back ? there : here, back ? here : there, bytes);
    }
}

/* to (m x wide, rows of APART) = K of the rows `first` .. and the columns `from` .., by what is
 * below the diagonal. */
static void widen(const walk *w, int64_t first, int64_t m, int64_t from, int64_t wide, double *to) {
    int64_t n = w->rows->n;
    const float *K = w->K;
    if (from + wide <= first) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < wide; j++)
                to[i * APART + j] = (double)K[(first + i) * n + from + j];
    } else if (from >= first + m) {
        for (int64_t j = 0; j < wide; j++)
            for (int64_t i = 0; i < m; i++)
                to[i * APART + j] = (double)K[(from + j) * n + first + i];
    } else {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < wide; j++) {
                int64_t a = krein__max(first + i, from + j), b = krein__min(first + i, from + j);
                to[i * APART + j] = (double)(a == b ? w->own[a] : K[a * n + b]);
            }
    }
}

/* out (n x k) = K v, in float64. */
static void multiply(const walk *w, int64_t k, const double *v, double *out) {
    int64_t n = w->rows->n, strips = (n + STRIP - 1) / STRIP;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(w->ctx->threads) schedule(dynamic)
    for (int64_t s = 0; s < strips; s++) {
        krein__worker_begin();
        int64_t first = s * STRIP, m = krein__min(STRIP, n - first);
        double *mine = w->wide + omp_get_thread_num() * STRIP * APART;
        for (int64_t from = 0; from < n; from += PANEL) {
            int64_t wide = krein__min(PANEL, n - from);
            widen(w, first, m, from, wide, mine);
            krein__dgemm(false, false, m, k, wide, 1, mine, APART, v + from * k, k, from > 0,
                         out + first * k, k);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

/* What the frame says of K, and the mean row of K. */
static void look(walk *w, double *mean_row, double *least) {
    krein_frame *f = &w->f;
    int64_t n = w->rows->n;
    double top = 0;
    for (int64_t i = 0; i < n; i++) w->v[i] = f->root[i] * f->root[i] / f->weight;
    multiply(w, 1, w->v, mean_row);
    w->total = 0;
    for (int64_t i = 0; i < n; i++) {
        w->mean[i] = f->intercept ? f->root[i] * mean_row[i] * sqrt(f->weight) : 0;
        w->total += f->u[i] * w->mean[i];
    }
    for (int64_t i = 0; i < n; i++) {
        double own = f->root[i] * f->root[i] * (double)w->own[i];
        top = fmax(top, fabs(own));
        f->diagonal[i] = own - 2 * f->u[i] * w->mean[i] + w->total * f->u[i] * f->u[i];
        f->lift = fmax(f->lift, fabs(f->diagonal[i]));
    }
    *least = GUARD * sqrt((double)n) * EPSILON * top / f->weight;
}

/* Row i of A from column `from` to before `to`, all above the diagonal. */
static void fill_row(const walk *w, int64_t i, int64_t from, int64_t to) {
    const krein_frame *f = &w->f;
    int64_t n = w->rows->n;
    double both = w->total + f->lift, r = f->root[i], u = f->u[i], mean = w->mean[i];
    for (int64_t j = from; j < to; j++)
        w->K[i * n + j] = (float)(r * f->root[j] * (double)w->K[j * n + i] - u * w->mean[j] -
                                  mean * f->u[j] + both * u * f->u[j]);
}

/* The upper triangle of A. */
static void fill(const walk *w, double shift) {
    const krein_frame *f = &w->f;
    int64_t n = w->rows->n, tiles = (n + COPY - 1) / COPY;
    copy_tiles(w, true);
#pragma omp parallel for num_threads(w->ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        int64_t first = t * COPY, end = krein__min(n, first + COPY);
        for (int64_t from = first; from < n; from += COPY)
            for (int64_t i = first; i < end; i++)
                fill_row(w, i, krein__max(from, i + 1), krein__min(n, from + COPY));
        for (int64_t i = first; i < end; i++)
            w->K[i * n + i] = (float)(f->diagonal[i] + f->lift * f->u[i] * f->u[i] + shift);
    }
}

/* residual = PSy - (PSKSP + shift I) a; the largest part of PSy that is left of any output. */
static double leftover(const walk *w, double shift) {
    const krein_frame *f = &w->f;
    int64_t n = w->rows->n, k = w->rows->k;
    double most = 0;
    for (int64_t e = 0; e < n * k; e++) w->v[e] = f->root[e / k] * w->a[e];
    multiply(w, k, w->v, w->residual);
    for (int64_t e = 0; e < n * k; e++)
        w->residual[e] = f->y[e] - f->root[e / k] * w->residual[e] - shift * w->a[e];
    krein__frame_project(n, k, f->u, w->residual);
    for (int64_t c = 0; c < k; c++) {
        double left = 0, whole = 0;
        for (int64_t i = 0; i < n; i++) {
            left += w->residual[i * k + c] * w->residual[i * k + c];
            whole += f->y[i * k + c] * f->y[i * k + c];
        }
        if (whole > 0) most = fmax(most, sqrt(left / whole));
        if (isnan(left)) return NAN;
    }
    return most;
}

/* a += (U'U)^-1 residual, each output scaled to the range of float32. */
static krein_status correct(const walk *w) {
    int64_t n = w->rows->n, k = w->rows->k;
    memset(w->scale, 0, (size_t)k * sizeof *w->scale);
    for (int64_t e = 0; e < n * k; e++)
        w->scale[e % k] = fmax(w->scale[e % k], fabs(w->residual[e]));
    for (int64_t e = 0; e < n * k; e++)
        w->step[e] = w->scale[e % k] > 0 ? (float)(w->residual[e] / w->scale[e % k]) : 0;
    krein_status st = krein__cholesky_solve32(w->ctx, n, w->K, n, k, w->step, k);
    for (int64_t e = 0; e < n * k; e++) w->a[e] += w->scale[e % k] * (double)w->step[e];
    krein__frame_project(n, k, w->f.u, w->a);
    return st;
}

/* KREIN_ENUMERIC where the residual does not fall. */
static krein_status refine(const walk *w, double shift) {
    krein_status st = KREIN_OK;
    int64_t n = w->rows->n, k = w->rows->k;
    double before = 1, now = 1, tol = w->rows->class ? CLASSES : TOL;
    memset(w->a, 0, (size_t)(n * k) * sizeof *w->a);
    memcpy(w->residual, w->f.y, (size_t)(n * k) * sizeof *w->a);
    for (int64_t i = 0; i < REFINEMENTS && now > tol && now <= before; i++) {
        before = now / 2;
        TRY(correct(w));
        now = leftover(w, shift);
    }
    if (!(now <= fmax(tol, ENOUGH))) st = KREIN_ENUMERIC;
done:
    return st;
}

static void keep_best(const walk *w) {
    int64_t n = w->rows->n, k = w->rows->k;
    if (w->p->n == 0 || w->p->best != w->p->n - 1) return;
    memcpy(w->best, w->a, (size_t)(n * k) * sizeof *w->a);
    if (w->score) memcpy(w->score, w->last, (size_t)(n * k) * sizeof *w->score);
}

/* a, and with `scores` the leave-one-out ones. *solved: float32 has a solution. */
static krein_status solve(const walk *w, double lambda, double *scores, bool *solved) {
    krein_status st = KREIN_OK;
    int64_t n = w->rows->n;
    double shift = w->f.weight * lambda;
    *solved = false;
    fill(w, shift);
    st = krein__cholesky32(w->ctx, n, w->K, n, NULL);
    if (st == KREIN_OK) st = refine(w, shift);
    if (st == KREIN_ENUMERIC) return KREIN_OK;
    TRY(st);
    *solved = true;
    if (!scores) goto done;
    TRY(krein__cholesky_inverse_diagonal32(w->ctx, n, w->K, n, w->diagonal32));
    for (int64_t i = 0; i < n; i++) w->diagonal[i] = (double)w->diagonal32[i];
    krein__frame_loo(w->rows, &w->f, shift, w->a, w->diagonal, scores);
done:
    return st;
}

/* Held-out scores at one lambda. */
static krein_status visit(void *state, double lambda, double *out) {
    walk *w = state;
    int64_t size = w->rows->n * w->rows->k;
    bool solved;
    keep_best(w);
    krein__nearby_end(w->near);
    w->near = NULL;
    krein_status st = solve(w, lambda, out, &solved);
    w->solved_at = solved ? lambda : 0;
    for (int64_t e = 0; !solved && e < size; e++) out[e] = NAN;
    memcpy(w->last, out, (size_t)size * sizeof *out);
    return st;
}

/* About the same near the last one visited, whose inverse factor is in K. */
static krein_status guess(void *state, double lambda, double *out) {
    krein_status st = KREIN_OK;
    walk *w = state;
    const krein_frame *f = &w->f;
    if (!w->near)
        TRY(krein__nearby_begin(w->ctx, w->rows->n, w->rows->k, w->K, w->diagonal, f->u, f->lift,
                                f->y, f->weight * w->solved_at, &w->near));
    krein__nearby_at(w->near, f->weight * lambda, w->near_a, w->near_diagonal);
    krein__frame_loo(w->rows, f, f->weight * lambda, w->near_a, w->near_diagonal, out);
    w->guessed = fmin(w->guessed, lambda);
done:
    return st;
}

static krein_status begin(walk *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->rows->n, k = w->rows->k;
    NEW(w->mean, n);
    NEW(w->own, n);
    NEW(w->a, n * k);
    NEW(w->residual, n * k);
    NEW(w->v, n * k);
    NEW(w->scale, k);
    NEW(w->step, n * k);
    NEW(w->diagonal32, n);
    NEW(w->diagonal, n);
    NEW(w->last, n * k);
    NEW(w->near_a, n * k);
    NEW(w->near_diagonal, n);
    w->guessed = INFINITY;
    NEW(w->wide, ctx->threads * STRIP * APART);
    TRY(krein__frame_targets(ctx, w->rows, true, &w->f));
    NEW(w->tiles, n * KREIN_NEARBY_TILE);
    copy_tiles(w, false);
    for (int64_t i = 0; i < n; i++) w->own[i] = w->K[i * n + i];
done:
    return st;
}

static void end(walk *w) {
    if (w->tiles) copy_tiles(w, true);
    void *all[] = {w->tiles,  w->mean,         w->own,        w->a,        w->residual, w->v,
                   w->scale,  w->step,         w->diagonal32, w->diagonal, w->last,     w->wide,
                   w->near_a, w->near_diagonal};
    krein__nearby_end(w->near);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(w->ctx, all[i]);
    krein__frame_clear(w->ctx, &w->f);
}

double krein__dual_walk_bytes(int64_t n, int64_t k, int threads) {
    double N = (double)n, K = (double)k;
    return krein__nearby_bytes(n, k) + 4 * N * KREIN_NEARBY_TILE + N * (64 * K + 76) +
           8.0 * STRIP * APART * threads + 8 * K + 2 * 4 * 256 * (N + 256) + 65536;
}

/* No smaller lambda than that of the least loss was visited or guessed at, nor is there room for
 * one: steps are half decades or more on a grid of quarters. Where the last of them brought little,
 * smaller ones will too. */
static bool at_the_end(const walk *w, double least) {
    static const double FLAT = 0.01;
    const krein_path *p = w->p;
    int64_t at = krein__path_least(p);
    if (w->guessed < p->lambda[at]) return false;
    for (int64_t l = 0; l < p->n; l++) {
        if (p->lambda[l] < p->lambda[at] && isfinite(p->loss[l])) return false;
        if (p->lambda[l] > p->lambda[at] && p->loss[at] > (1 - FLAT) * p->loss[l]) return false;
    }
    return isinf(p->loss[at]) || p->lambda[at] < 5.7 * least;
}

krein_status krein__dual_walk_from(krein_ctx *ctx, float *K, const krein_targets *rows,
                                   double start, krein_path *p, double *alpha, double *intercept,
                                   double *score, bool *below) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .K = K, .rows = rows, .best = alpha, .score = score, .p = p};
    double *mean_row = NULL, least;
    *below = false;
    NEW(mean_row, rows->n);
    TRY(begin(&w));
    look(&w, mean_row, &least);
    TRY(krein__nearby_pays(rows->n, rows->k)
            ? krein__path_follow(ctx, rows, start, least, visit, guess, &w, p)
            : krein__path_climb(ctx, rows, start, least, visit, &w, p));
    keep_best(&w);
    *below = at_the_end(&w, least);
    krein__frame_leave(rows, &w.f, mean_row, alpha, intercept);
done:
    krein__free(ctx, mean_row);
    end(&w);
    return st;
}

krein_status krein__dual_fit32(krein_ctx *ctx, float *K, const krein_targets *rows, double lambda,
                               double *alpha, double *intercept, double *score, bool *solved) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .K = K, .rows = rows};
    double *mean_row = NULL, least;
    *solved = false;
    NEW(mean_row, rows->n);
    TRY(begin(&w));
    look(&w, mean_row, &least);
    if (lambda >= least) TRY(solve(&w, lambda, score, solved));
    if (!*solved) goto done;
    memcpy(alpha, w.a, (size_t)(rows->n * rows->k) * sizeof *alpha);
    krein__frame_leave(rows, &w.f, mean_row, alpha, intercept);
done:
    krein__free(ctx, mean_row);
    end(&w);
    return st;
}
