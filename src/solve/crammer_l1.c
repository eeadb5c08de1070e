/* crammer_l1 -- the multi-class machine of Crammer and Singer with an l1 penalty, on features: a
 * linear program, by a primal-dual interior point method (wright1997)
 *
 *     min over w, b   sum_jm |w_jm| + sum_i C_i max_m (e_im + f_im - f_iy),
 *     f_im = w_m'z_i + b_m,   e_im = 1 - [m = y_i]
 *
 * With w = P - N, P and N >= 0, a number xi_i for the loss of row i, and slacks
 *     s_im = xi_i - e_im - f_im + f_iy >= 0   for all m (m = y: xi_i >= 0)
 * it is linear. Multipliers beta_im >= 0 of the slacks sum to C_i over m; with alpha_im =
 * C_i [m = y_i] - beta_im, as in crammer.c, and G = Z'alpha the dual is
 *
 *     max sum_i alpha_iy,   |G_jm| <= 1 for all j and m,   sum_i alpha_im = 0.
 *
 * Steps of Newton (Mehrotra's: a first one that tells how far complementarity can be pushed, and a
 * second with its second-order terms) for s beta = P (1 - G) = N (1 + G) = mu -> 0. xi, beta and
 * the slacks of G are eliminated, row by row and weight by weight, which leaves (D + 1) k equations
 *
 *     [sum_i z_i z_i' (x) M_i + diag(1 / E)] (dw, db) = rhs,   M_i = diag(t) - tt' / sum t,
 *     t = beta_i / s_i,   E = P / (1 - G) + N / (1 + G)
 *
 * (E infinite for b, of which the first is held at 0). It starts at w = 0 and a beta with |G| <=
 * 1/2. 15 to 80 steps.
 *
 * The objective of w is an upper bound. alpha is made to balance (multiclass_dual.h) and divided by
 * the largest |G| where that is above 1, which makes it feasible: a lower bound. The end is where
 * they are within tol. Then w_jm where both P and N are below their slacks is set to zero.
 *
 * A step takes n (D + 1)^2 k (k + 1) flops, and ((D + 1) k)^3 / 3; 8 ((D + 1) k)^2 bytes. So it is
 * for features that are few: at most 4,096 weights. */
#include "base/spec.h"
#include "num/blas.h"
#include "solve/crammer.h"
#include "solve/multiclass_dual.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { STEPS = 200, WEIGHTS_MAX = 4096 };
static const double NEAR = 0.995;    /* of the way to the boundary */
static const double RIDGE = 1e-15;   /* of the largest diagonal element */
static const double SUPPORT = 1e-4;  /* of C: a row with less has lost nothing */
static const double ROUNDING = 1e-6; /* of sum C, what w = 0 loses: tol refers to no less */

typedef struct solver {
    krein_ctx *ctx;
    krein_features *z;
    const krein_machine_options *o;
    krein_crammer *m;
    int64_t n, k, D, E, side;               /* E = D + 1, the last for b; side = E k */
    int64_t *start;                         /* blocks + 1: where their rows begin in m */
    double *X;                              /* rows of a block x E: features and a one, float64 */
    double *f, *df;                         /* n x k */
    double *s, *beta, *ds, *dbeta, *a, *rc; /* n x k; right sides */
    double *xi, *dxi;                       /* n */
    /* weights, class by class: k x E */
    double *P, *N, *tP, *tN, *G; /* tP = 1 - G, tN = 1 + G in the end; not of b */
    double *dP, *dN, *dtP, *dtN, *dG, *rP, *rN;
    double *b, *db;
    double *H, *rhs, *h; /* side x side; side; E^-1 h */
    double *Y;           /* threads x rows of a block x E */
    double mu, cost;
} solver;

/* ---- passes over the rows ------------------------------------------------ */

static int32_t row_of(const krein_crammer *m, int64_t i) { return m->row ? m->row[i] : (int32_t)i; }

/* X of a block: its rows from i0 on, *rows of them. */
static krein_status gather(solver *v, int64_t block, int64_t *i0, int64_t *rows) {
    const float *z;
    int64_t n, first = block * v->z->rows;
    krein_status st = krein__features_block(v->z, block, &z, &n);
    if (st != KREIN_OK) return st;
    *i0 = v->start[block];
    *rows = v->start[block + 1] - *i0;
#pragma omp parallel for num_threads(v->ctx->threads) schedule(static)
    for (int64_t r = 0; r < *rows; r++) {
        const float *from = z + (row_of(v->m, *i0 + r) - first) * v->D;
        double *to = v->X + r * v->E;
        for (int64_t j = 0; j < v->D; j++) to[j] = (double)from[j];
        to[v->D] = v->o->intercept;
    }
    return krein__poll(v->ctx);
}

/* out (n x k) = Z x, x class by class. */
static krein_status scores(solver *v, const double *x, double *out) {
    krein_status st = KREIN_OK;
    int64_t i0, rows;
    for (int64_t block = 0; block < v->z->blocks; block++) {
        TRY(gather(v, block, &i0, &rows));
        krein__pgemm(v->ctx, false, true, rows, v->k, v->E, 1, v->X, v->E, x, v->E, 0,
                     out + i0 * v->k, v->k);
    }
done:
    return st;
}

/* out (class by class) = Z'a */
static krein_status sums(solver *v, const double *a, double *out) {
    krein_status st = KREIN_OK;
    int64_t i0, rows;
    memset(out, 0, (size_t)v->side * sizeof *out);
    for (int64_t block = 0; block < v->z->blocks; block++) {
        TRY(gather(v, block, &i0, &rows));
        krein__pgemm(v->ctx, true, false, v->k, v->E, rows, 1, a + i0 * v->k, v->k, v->X, v->E, 1,
                     out, v->E);
    }
done:
    return st;
}

/* The block of classes c <= d of H, from the rows in X. */
static void add_block(solver *v, int64_t i0, int64_t rows, int64_t c, int64_t d, double *Y) {
    for (int64_t r = 0; r < rows; r++) {
        const double *s = v->s + (i0 + r) * v->k, *beta = v->beta + (i0 + r) * v->k;
        double total = 0, weight;
        for (int64_t e = 0; e < v->k; e++) total += beta[e] / s[e];
        weight = (c == d ? beta[c] / s[c] : 0) - beta[c] / s[c] * (beta[d] / s[d]) / total;
        for (int64_t j = 0; j < v->E; j++) Y[r * v->E + j] = weight * v->X[r * v->E + j];
    }
    krein__dgemm(true, false, v->E, v->E, rows, 1, v->X, v->E, Y, v->E, 1,
                 v->H + c * v->E * v->side + d * v->E, v->side);
}

/* Intercepts that stay at zero: the first, since only their differences count; without intercepts
 * all. */
static bool held(const solver *v, int64_t e) {
    return e % v->E == v->D && (e / v->E == 0 || !v->o->intercept);
}

static krein_status fill_matrix(solver *v) {
    krein_status st = KREIN_OK;
    int64_t k = v->k, E = v->E, i0, rows;
    memset(v->H, 0, (size_t)(v->side * v->side) * sizeof *v->H);
    for (int64_t block = 0; block < v->z->blocks; block++) {
        TRY(gather(v, block, &i0, &rows));
        krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(v->ctx->threads)
        {
            krein__worker_begin();
            double *Y = v->Y + omp_get_thread_num() * v->z->rows * E;
#pragma omp for schedule(dynamic)
            for (int64_t t = 0; t < k * k; t++)
                if (t / k <= t % k) add_block(v, i0, rows, t / k, t % k, Y);
            krein__worker_end(compute);
        }
        krein__compute_end(compute);
    }
    double most = 0;
    for (int64_t e = 0; e < v->side; e++) most = fmax(most, v->H[e * v->side + e]);
    for (int64_t e = 0; e < v->side; e++) {
        double *diagonal = &v->H[e * v->side + e];
        *diagonal += RIDGE * fmax(most, 1e-300);
        if (e % E < v->D) *diagonal += 1 / (v->P[e] / v->tP[e] + v->N[e] / v->tN[e]);
        if (!held(v, e)) continue;
        for (int64_t d = 0; d < v->side; d++)
            v->H[krein__min(d, e) * v->side + krein__max(d, e)] = 0;
        *diagonal = 1;
    }
done:
    return st;
}

/* ---- a step -------------------------------------------------------------- */

/* What s_ic is less than its formula. */
static double lack_of(const solver *v, int64_t i, int64_t c) {
    const double *f = v->f + i * v->k;
    int64_t y = v->m->class[i];
    return v->xi[i] - (c != y) - f[c] + f[y] - v->s[i * v->k + c];
}

/* The direction for the right sides rc, rP and rN, with what s, G and the sums of alpha lack; H is
 * factored. */
static krein_status direction(solver *v) {
    krein_status st = KREIN_OK;
    int64_t k = v->k, E = v->E;
    for (int64_t i = 0; i < v->n; i++) {
        const double *s = v->s + i * k, *beta = v->beta + i * k, *rc = v->rc + i * k;
        double total = 0, right = 0;
        for (int64_t c = 0; c < k; c++) {
            total += beta[c] / s[c];
            right += (rc[c] - beta[c] * lack_of(v, i, c)) / s[c];
        }
        for (int64_t c = 0; c < k; c++)
            v->a[i * k + c] =
                (rc[c] - beta[c] * lack_of(v, i, c)) / s[c] - beta[c] / s[c] * right / total;
    }
    TRY(sums(v, v->a, v->rhs));
    for (int64_t e = 0; e < v->side; e++) {
        if (e % E == v->D) { /* b: sum alpha = 0; G has the sum in its place */
            v->rhs[e] = held(v, e) ? 0 : v->G[e] - v->rhs[e];
            continue;
        }
        double lackP = 1 - v->G[e] - v->tP[e], lackN = 1 + v->G[e] - v->tN[e];
        double total = v->P[e] / v->tP[e] + v->N[e] / v->tN[e];
        v->h[e] = (v->rP[e] - v->P[e] * lackP) / v->tP[e] - (v->rN[e] - v->N[e] * lackN) / v->tN[e];
        v->rhs[e] = v->h[e] / total - v->rhs[e];
    }
    TRY(krein__cholesky_solve(v->ctx, v->side, v->H, v->side, 1, v->rhs, 1));
    TRY(scores(v, v->rhs, v->df));
    for (int64_t i = 0; i < v->n; i++) {
        const double *s = v->s + i * k, *beta = v->beta + i * k, *df = v->df + i * k;
        double total = 0, right = 0, own = df[v->m->class[i]];
        for (int64_t c = 0; c < k; c++) {
            total += beta[c] / s[c];
            right += (v->rc[i * k + c] + beta[c] * (df[c] - own - lack_of(v, i, c))) / s[c];
        }
        v->dxi[i] = right / total;
        for (int64_t c = 0; c < k; c++) {
            v->ds[i * k + c] = v->dxi[i] - df[c] + own + lack_of(v, i, c);
            v->dbeta[i * k + c] = (v->rc[i * k + c] - beta[c] * v->ds[i * k + c]) / s[c];
        }
    }
    TRY(sums(v, v->dbeta, v->dG));
    for (int64_t e = 0; e < v->side; e++) {
        v->dG[e] = -v->dG[e];
        if (e % E == v->D) {
            v->db[e / E] = v->rhs[e];
            continue;
        }
        /* the one that is larger than its slack by what is known of dw, which rounds less */
        if (v->P[e] / v->tP[e] > v->N[e] / v->tN[e]) {
            v->dtN[e] = 1 + v->G[e] - v->tN[e] + v->dG[e];
            v->dN[e] = (v->rN[e] - v->N[e] * v->dtN[e]) / v->tN[e];
            v->dP[e] = v->rhs[e] + v->dN[e];
            v->dtP[e] = (v->rP[e] - v->tP[e] * v->dP[e]) / v->P[e];
        } else {
            v->dtP[e] = 1 - v->G[e] - v->tP[e] - v->dG[e];
            v->dP[e] = (v->rP[e] - v->P[e] * v->dtP[e]) / v->tP[e];
            v->dN[e] = v->dP[e] - v->rhs[e];
            v->dtN[e] = (v->rN[e] - v->tN[e] * v->dN[e]) / v->N[e];
        }
    }
done:
    return st;
}

static double reach(int64_t n, const double *x, const double *dx, double most) {
    for (int64_t i = 0; i < n; i++)
        if (dx[i] < 0) most = fmin(most, -x[i] / dx[i]);
    return most;
}

/* How far w, xi and b, and beta and G, can go. */
static void lengths(const solver *v, double *primal, double *dual) {
    int64_t pairs = v->n * v->k;
    *primal = reach(pairs, v->s, v->ds, 1 / NEAR);
    *dual = reach(pairs, v->beta, v->dbeta, 1 / NEAR);
    for (int64_t c = 0; c < v->k; c++) {
        int64_t at = c * v->E;
        *primal = reach(v->D, v->P + at, v->dP + at, *primal);
        *primal = reach(v->D, v->N + at, v->dN + at, *primal);
        *dual = reach(v->D, v->tP + at, v->dtP + at, *dual);
        *dual = reach(v->D, v->tN + at, v->dtN + at, *dual);
    }
}

/* Sum of the products that go to zero, after a step. */
static double products(const solver *v, double p, double d) {
    double sum = 0;
    for (int64_t e = 0; e < v->n * v->k; e++)
        sum += (v->s[e] + p * v->ds[e]) * (v->beta[e] + d * v->dbeta[e]);
    for (int64_t e = 0; e < v->side; e++)
        if (e % v->E < v->D)
            sum += (v->P[e] + p * v->dP[e]) * (v->tP[e] + d * v->dtP[e]) +
                   (v->N[e] + p * v->dN[e]) * (v->tN[e] + d * v->dtN[e]);
    return sum;
}

static double count(const solver *v) { return (double)(v->n * v->k) + 2 * (double)(v->D * v->k); }

/* rc, rP, rN: towards products of mu, less the second-order terms of the direction there is. */
static void right_sides(solver *v, double mu, double second) {
    for (int64_t e = 0; e < v->n * v->k; e++)
        v->rc[e] = mu - v->s[e] * v->beta[e] - second * v->ds[e] * v->dbeta[e];
    for (int64_t e = 0; e < v->side; e++) {
        v->rP[e] = mu - v->P[e] * v->tP[e] - second * v->dP[e] * v->dtP[e];
        v->rN[e] = mu - v->N[e] * v->tN[e] - second * v->dN[e] * v->dtN[e];
    }
}

static void move(solver *v, double p, double d) {
    for (int64_t e = 0; e < v->n * v->k; e++) {
        v->s[e] += p * v->ds[e];
        v->beta[e] += d * v->dbeta[e];
    }
    for (int64_t i = 0; i < v->n; i++) v->xi[i] += p * v->dxi[i];
    for (int64_t e = 0; e < v->side; e++) {
        v->G[e] += d * v->dG[e];
        if (e % v->E == v->D) continue;
        v->P[e] += p * v->dP[e];
        v->N[e] += p * v->dN[e];
        v->tP[e] += d * v->dtP[e];
        v->tN[e] += d * v->dtN[e];
    }
    for (int64_t c = 0; c < v->k; c++) v->b[c] += p * v->db[c];
}

static krein_status step(solver *v) {
    krein_status st = KREIN_OK;
    double p, d;
    int64_t pivot;
    for (int64_t e = 0; e < v->side; e++)
        v->rhs[e] = e % v->E < v->D ? v->P[e] - v->N[e] : v->b[e / v->E];
    TRY(scores(v, v->rhs, v->f));
    TRY(fill_matrix(v));
    TRY(krein__cholesky(v->ctx, v->side, v->H, v->side, &pivot));
    right_sides(v, 0, 0);
    TRY(direction(v));
    lengths(v, &p, &d);
    v->mu = products(v, 0, 0) / count(v);
    double after = products(v, fmin(1, p), fmin(1, d)) / count(v);
    right_sides(v, v->mu * pow(after / v->mu, 3), 1);
    TRY(direction(v));
    lengths(v, &p, &d);
    move(v, fmin(1, NEAR * p), fmin(1, NEAR * d));
    v->m->passes++;
done:
    return st;
}

/* ---- bounds -------------------------------------------------------------- */

/* |w|_1 and the losses, of w and b in x, class by class. */
static krein_status objective(solver *v, const double *x, double *value) {
    krein_status st = KREIN_OK;
    const krein_crammer *m = v->m;
    int64_t k = v->k;
    *value = 0;
    for (int64_t e = 0; e < v->side; e++)
        if (e % v->E < v->D) *value += fabs(x[e]);
    TRY(scores(v, x, v->df));
    for (int64_t i = 0; i < v->n; i++) {
        double own = v->df[i * k + m->class[i]], most = 0;
        for (int64_t c = 0; c < k; c++)
            if (c != m->class[i]) most = fmax(most, 1 + v->df[i * k + c] - own);
        *value += m->cost[i] * most;
    }
done:
    return st;
}

/* alpha of beta, feasible; its value. */
static krein_status dual(solver *v, double *value) {
    krein_status st = KREIN_OK;
    krein_crammer *m = v->m;
    double taken, most = 1;
    *value = 0;
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t c = 0; c < v->k; c++)
            m->alpha[i * v->k + c] = (c == m->class[i] ? m->cost[i] : 0) - v->beta[i * v->k + c];
    if (v->o->intercept)
        TRY(krein__multiclass_balance(v->ctx, v->n, v->k, m->class, m->cost, m->alpha, &taken));
    else
        krein__multiclass_restore(v->n, v->k, m->class, m->cost, m->alpha);
    TRY(sums(v, m->alpha, v->rhs));
    for (int64_t e = 0; e < v->side; e++)
        if (e % v->E < v->D) most = fmax(most, fabs(v->rhs[e]));
    for (int64_t e = 0; e < v->n * v->k; e++) m->alpha[e] /= most;
    for (int64_t i = 0; i < v->n; i++) *value += m->alpha[i * v->k + m->class[i]];
done:
    return st;
}

/* w and b, class by class; w that are on their way to zero are zero. */
static void weights_of(const solver *v, double *x) {
    for (int64_t e = 0; e < v->side; e++) {
        bool none = v->P[e] < v->tP[e] && v->N[e] < v->tN[e];
        x[e] = e % v->E == v->D ? v->b[e / v->E] : none ? 0 : v->P[e] - v->N[e];
    }
}

static void keep(const solver *v, const double *x) {
    krein_crammer *m = v->m;
    double mean = 0;
    for (int64_t c = 0; c < v->k; c++) mean += v->b[c] / (double)v->k;
    for (int64_t c = 0; c < v->k; c++) {
        m->b[c] = v->b[c] - mean;
        for (int64_t j = 0; j < v->D; j++) m->w[j * v->k + c] = x[c * v->E + j];
    }
}

static krein_status check(solver *v) {
    krein_status st = KREIN_OK;
    krein_crammer *m = v->m;
    double primal, value;
    weights_of(v, v->h);
    TRY(objective(v, v->h, &primal));
    if (primal < m->primal) {
        m->primal = primal;
        keep(v, v->h);
    }
    TRY(dual(v, &value));
    m->dual_value = fmax(m->dual_value, value);
    m->converged = isfinite(m->primal) &&
                   m->primal - m->dual_value <= v->o->tol * fmax(m->primal, ROUNDING * v->cost);
    krein__log(v->ctx, KREIN_LOG_DEBUG, "crammer_l1, step %lld: primal %.8g, dual %.8g, mu %.3g",
               (long long)m->passes, primal, value, v->mu);
done:
    return st;
}

/* ---- the whole ----------------------------------------------------------- */

/* w = 0; beta near C [m = y]. */
static krein_status begin_values(solver *v) {
    krein_status st = KREIN_OK;
    const krein_crammer *m = v->m;
    int64_t k = v->k;
    for (int64_t i = 0; i < v->n; i++) v->cost += m->cost[i];
    for (int64_t i = 0; i < v->n; i++) {
        double cost = fmax(m->cost[i], 1e-12 * v->cost / (double)v->n);
        v->xi[i] = 2;
        for (int64_t c = 0; c < k; c++) {
            v->f[i * k + c] = 0;
            v->s[i * k + c] = v->xi[i] - (c != m->class[i]);
            v->a[i * k + c] = (c == m->class[i] ? cost : 0) - cost / (double)k;
        }
    }
    TRY(sums(v, v->a, v->G));
    double most = 0;
    for (int64_t e = 0; e < v->side; e++)
        if (e % v->E < v->D) most = fmax(most, fabs(v->G[e]));
    double part = fmin(1, .5 / most), mu = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double cost = fmax(m->cost[i], 1e-12 * v->cost / (double)v->n);
        for (int64_t c = 0; c < k; c++) {
            double *beta = v->beta + i * k + c;
            *beta = (c == m->class[i] ? cost : 0) - part * v->a[i * k + c];
            mu += *beta * v->s[i * k + c] / (double)(v->n * k);
        }
    }
    for (int64_t e = 0; e < v->side; e++) {
        v->G[e] *= part;
        v->tP[e] = 1 - v->G[e];
        v->tN[e] = 1 + v->G[e];
        v->P[e] = v->N[e] = mu;
    }
done:
    return st;
}

static krein_status solver_begin(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    int64_t pairs = v->n * v->k, at = 0;
    double **of_pairs[] = {&v->f, &v->df, &v->s, &v->beta, &v->ds, &v->dbeta, &v->a, &v->rc};
    double **of_weights[] = {&v->P,   &v->N,   &v->tP, &v->tN, &v->G,  &v->dP,  &v->dN,
                             &v->dtP, &v->dtN, &v->dG, &v->rP, &v->rN, &v->rhs, &v->h};
    /* zeros: the first right sides have 0 times the directions */
    for (int64_t i = 0; i < KREIN__COUNT(of_pairs); i++) ZNEW(*of_pairs[i], pairs);
    for (int64_t i = 0; i < KREIN__COUNT(of_weights); i++) ZNEW(*of_weights[i], v->side);
    NEW(v->xi, v->n);
    NEW(v->dxi, v->n);
    ZNEW(v->b, v->k);
    ZNEW(v->db, v->k);
    NEW(v->H, v->side * v->side);
    NEW(v->X, v->z->rows * v->E);
    NEW(v->Y, ctx->threads * v->z->rows * v->E);
    NEW(v->start, v->z->blocks + 1);
    for (int64_t block = 0; block <= v->z->blocks; block++) {
        while (at < v->n && row_of(v->m, at) < block * v->z->rows) at++;
        v->start[block] = block == v->z->blocks ? v->n : at;
    }
    TRY(begin_values(v));
done:
    return st;
}

static void solver_end(solver *v) {
    void *all[] = {v->f,   v->df, v->s,  v->beta, v->ds, v->dbeta, v->a,   v->rc, v->P,  v->N,
                   v->tP,  v->tN, v->G,  v->dP,   v->dN, v->dtP,   v->dtN, v->dG, v->rP, v->rN,
                   v->rhs, v->h,  v->xi, v->dxi,  v->b,  v->db,    v->H,   v->X,  v->Y,  v->start};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(v->ctx, all[i]);
}

krein_status krein__crammer_l1(krein_features *z, krein_crammer *m,
                               const krein_machine_options *o) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    solver v = {.ctx = ctx, .z = z, .o = o, .m = m, .n = m->n, .k = m->classes, .D = z->D};
    v.E = v.D + 1;
    v.side = v.E * v.k;
    if (v.side > WEIGHTS_MAX)
        return krein__fail(ctx, KREIN_ESPEC,
                           "penalty=l1 takes at most %d weights, and %lld features of %lld classes "
                           "have more; use fewer features, or penalty=l2",
                           WEIGHTS_MAX, (long long)v.D, (long long)v.k);
    m->passes = m->support = 0;
    m->converged = false;
    m->primal = INFINITY;
    m->dual_value = -INFINITY;
    TRY(solver_begin(&v));
    for (bool last = false; !m->converged && !last;) {
        st = step(&v);
        last = m->passes >= STEPS || krein__late(o->deadline) || st == KREIN_ENUMERIC;
        if (st == KREIN_ENUMERIC) st = KREIN_OK; /* no factor: as near as rounding allows */
        TRY(st);
        TRY(check(&v));
        if (o->what) krein__progress(ctx, o->what, (double)m->passes, STEPS);
    }
    for (int64_t i = 0; i < m->n; i++)
        m->support += m->alpha[i * v.k + m->class[i]] > SUPPORT * m->cost[i];
done:
    solver_end(&v);
    return st;
}

double krein__crammer_l1_bytes(const krein_ctx *ctx, int64_t rows, int64_t block, int64_t D,
                               int64_t classes) {
    double n = (double)rows, k = (double)classes, E = (double)D + 1, side = E * k;
    return 8 * side * (side + 14) + 64 * n * k + 16 * n + 16 * k +
           8 * (double)(block * (ctx->threads + 1)) * E + 16 * k * k + 4096;
}

const krein_class krein__solver_crammer_l1 = {
    .name = "crammer_l1",
    .summary = "interior points for the machine of Crammer and Singer with an l1 penalty",
    .cite = "wright1997",
    .details = "On few features, exactly: a linear program. Stops by the duality gap. Learner: "
               "svm(multi=crammer, penalty=l1)."};
