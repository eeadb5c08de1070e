/* multiclass -- machines of all classes at once on a kernel matrix: that of Crammer and Singer
 * (crammer2001) and that of Franc and Hlavac (franc2002; franc2005, chapter 5: GMNP)
 *
 *     min over f, b   1/2 sum_m |f_m|^2 + sum_i loss_i,   g_im = f_m(x_i) + b_m,
 *     xi_im = max(0, 1 - (g_iy - g_im)) for the classes m other than y, that of row i,
 *
 *     largest   loss_i = C_i max_m xi_im
 *     pairs     loss_i = C_i sum_m xi_im^2
 *
 * With beta_im >= 0 for m != y, alpha_im = -beta_im and alpha_iy = sum_m beta_im = s_i the dual is
 *
 *     max  sum_i s_i - 1/2 sum_m alpha_m'K alpha_m - sum_i D_i/2 sum_m beta_im^2,   s_i <= cap_i
 *     largest   D_i = 0, cap_i = C_i             pairs   D_i = 1 / (2 C_i), no cap
 *
 * and f_m = sum_i alpha_im k(., x_i). Free intercepts want sum_i alpha_im = 0 for every m; with
 * 1/2 |b|^2 in the objective K + 1 takes the place of K, and b_m = sum_i alpha_im.
 *
 * Pairs with a penalised intercept are the single-class problem that Franc and Hlavac turn the
 * machine into, one row for each beta: min 1/2 beta'H beta - 1'beta over beta >= 0. They solve it
 * as a problem of least norm, min 1/2 a'Ha over the simplex (GMNP), whose solution is beta = a /
 * (a'Ha): the same machine. Here it is solved as it stands, by the steps below, which move all beta
 * of a row at once where theirs move two.
 *
 * Rounds of two parts, as in hulls.c:
 *
 *   rows   All beta_i of a row at once, others held. With H = K_ii (+ B^2, see below) and
 *          q_m = 1 - g_iy + g_im + H (beta_im + s_i),
 *              beta_im = max(0, q_m - v) / (H + D_i),
 *          where v = H s_i, or where s_i would be above its cap v such that s_i is the cap:
 *          multiclass_dual.h. A row violates by the difference of the largest slope and the least
 *          of those that could be smaller; rows that violate by more than a part of the largest are
 *          visited, in their order. The values K alpha are kept up to date: 2 n flops for each
 *          class that changes.
 *   face   Conjugate gradients for the beta that are not zero, s_i held where it is at its cap;
 *          what would be negative is set to zero, what would be above its cap is scaled, with a
 *          shorter step where the objective would not grow. The matrix of the face is a float32
 *          copy: only a direction is wanted.
 *
 * Free intercepts are multipliers of S_m = sum_i alpha_im = 0, as in crammer.c: K' + B^2 takes the
 * place of K, base_m is added to g_m, and base_m <- base_m + B^2 S_m at each check. K'_ij = K_ij -
 * r_i - r_j + r is the matrix less its row means: where S = 0 that changes b alone. Without it wide
 * kernels, which are near 1 everywhere, would keep the steps of single rows short. B^2 is first a
 * tenth of the mean K'_ii. With K itself b_m = base_m + (B^2 + r) S_m - sum_i alpha_im r_i.
 *
 * A check makes K alpha anew, the primal value of it, and the dual value, with free intercepts that
 * of a copy that is balanced (krein__multiclass_balance). The difference of the least primal and
 * the largest dual value seen bounds the distance from the optimum. It ends where that is <= tol
 * primal, or where 30 checks have gained nothing.
 *
 * Rounding apart the dual is never above the primal where K is positive semidefinite. Where it is,
 * K is not, and that is an error.
 *
 * Rows are visited by one thread, products have all: the same bits for any number. */
#include "solve/multiclass.h"

#include "base/spec.h"
#include "num/blas.h"
#include "solve/multiclass_dual.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 1000, IDLE = 30, TILE = 256, OFTEN = 256 };
/* Products for a face: few while it still changes. Shorter steps tried. */
enum { PRODUCTS = 30, PRODUCTS_SAME = 300, SHORTER = 4 };
static const double INNER = 0.5;    /* first inner tolerance; margins are 1 */
static const double FINEST = 1e-12; /* no inner tolerance below */
static const double SHARE = 0.3;    /* of the largest violation: rows below are passed over */
static const double VISITS = 4;     /* steps in a round, for each row */
static const double PENALTY = 0.1, PENALTY_MOST = 1; /* first and last B^2, of the mean K_ii */
static const double RESIDUAL = 0.03;                 /* of a face, where a round leaves it */
static const double ROUNDING = 1e-10; /* of sum C, what f = 0 loses: tol refers to no less */

typedef struct solver {
    krein_ctx *ctx;
    krein_multiclass *m;
    int64_t n, k;
    double *cap;                /* n */
    double *F;                  /* k x n: alpha'K */
    double *row_mean, all_mean; /* n: means of the rows of K over those that take part */
    double *moment;             /* k: sum_i alpha_im row_mean_i */
    double *sum, *base;         /* k: sum_i alpha_im; multipliers */
    double *gap, *q;            /* k, of one row: 1 - g_y + g_m */
    double penalty, mean;       /* B^2; mean K_ii */
    double taken;               /* flow that the last check took away */
    double inner;               /* tolerance of the rows */
    double violation;           /* largest of the last sweep */
    double cost;                /* sum of C */
    double *trial, *Ft;         /* n x k: another alpha; k x n: its F */
    int64_t *row, count;        /* the rows of the face */
    bool same;                  /* as many beta in the face as before */
    int64_t free;               /* beta in the face */
    float *Q, *in, *out;        /* count x count; count x k */
    double *r, *s, *d, *p;      /* n x k: of conjugate gradients */
    int idle;                   /* checks without a gain */
} solver;

/* ---- one row ------------------------------------------------------------ */

/* D of row i. */
static double ridge_of(const krein_multiclass *m, int64_t i) {
    return m->loss == KREIN_MULTICLASS_PAIRS ? 1 / (2 * m->cost[i]) : 0;
}

static double curvature_of(const solver *v, int64_t i) {
    double own = v->m->K[i * v->n + i] - 2 * v->row_mean[i] + v->all_mean;
    return fmax(own, 1e-12 * v->mean) + v->penalty;
}

static double intercept_of(const solver *v, int64_t c) {
    return v->base[c] + (v->penalty + v->all_mean) * v->sum[c] - v->moment[c];
}

/* g_ic, by the centred matrix. */
static double value_of(const solver *v, int64_t i, int64_t c) {
    return v->F[c * v->n + i] - v->row_mean[i] * v->sum[c] + intercept_of(v, c);
}

/* gap_m = 1 - g_iy + g_im, 0 for m = y; what the row violates by. */
static double look(const solver *v, int64_t i) {
    const krein_multiclass *m = v->m;
    const double *alpha = m->alpha + i * v->k;
    int64_t y = m->class[i];
    double own = value_of(v, i, y), D = ridge_of(m, i);
    double high = 0, low = alpha[y] < v->cap[i] ? 0 : INFINITY;
    for (int64_t c = 0; c < v->k; c++) {
        v->gap[c] = c == y ? 0 : 1 - own + value_of(v, i, c);
        if (c == y) continue;
        double slope = v->gap[c] + D * alpha[c];
        high = fmax(high, slope);
        if (alpha[c] < 0) low = fmin(low, slope);
    }
    return fmax(high - low, 0);
}

static void add_column(const solver *v, int64_t i, int64_t c, double change) {
    const double *K = v->m->K + i * v->n;
    double *F = v->F + c * v->n;
    for (int64_t j = 0; j < v->n; j++) F[j] += change * K[j];
    v->sum[c] += change;
    v->moment[c] += change * v->row_mean[i];
}

/* The best beta of the row, after look(). */
static void step(solver *v, int64_t i) {
    krein_multiclass *m = v->m;
    double *alpha = m->alpha + i * v->k, H = curvature_of(v, i), D = ridge_of(m, i), total = 0;
    int64_t y = m->class[i], n = 0;
    for (int64_t c = 0; c < v->k; c++)
        if (c != y) v->q[n++] = v->gap[c] + H * (alpha[y] - alpha[c]);
    double level = fmax(0, krein__water_level(n, v->q, 0, (H + D) / H));
    for (int64_t a = 0; a < n; a++) total += fmax(0, v->q[a] - level) / (H + D);
    bool full = total >= v->cap[i];
    if (full) level = krein__water_level(n, v->q, (H + D) * v->cap[i], 0);
    total = 0;
    n = 0;
    for (int64_t c = 0; c < v->k; c++) {
        if (c == y) continue;
        double best = -fmax(0, v->q[n++] - level) / (H + D), change = best - alpha[c];
        total -= best;
        if (change == 0) continue;
        alpha[c] = best;
        add_column(v, i, c, change);
    }
    total = full ? v->cap[i] : total;
    if (total != alpha[y]) add_column(v, i, y, total - alpha[y]);
    alpha[y] = total;
}

/* Visits rows until none violates by more than the inner tolerance, or for so many steps. */
static krein_status visit(solver *v) {
    krein_multiclass *m = v->m;
    int64_t steps = 0, most = (int64_t)(VISITS * (double)v->n) + 1;
    double least = 0; /* the first sweep only looks */
    v->violation = INFINITY;
    krein_compute compute = krein__compute_begin();
    krein_status st = KREIN_OK;
    while (st == KREIN_OK && v->violation > v->inner && steps < most) {
        least = fmax(SHARE * v->violation, v->inner / 2);
        v->violation = 0;
        for (int64_t i = 0; i < v->n && st == KREIN_OK; i++) {
            if (!(v->cap[i] > 0)) continue;
            double violation = look(v, i);
            v->violation = fmax(v->violation, violation);
            if (!(violation > least)) continue;
            step(v, i);
            if (++steps % OFTEN == 0) st = krein__poll(v->ctx);
        }
        if (krein__late(m->deadline)) break;
    }
    krein__compute_end(compute);
    m->steps += steps;
    return st;
}

/* ---- values ------------------------------------------------------------- */

static void add_up(solver *v) {
    for (int64_t c = 0; c < v->k; c++) {
        v->sum[c] = v->moment[c] = 0;
        for (int64_t i = 0; i < v->n; i++) {
            v->sum[c] += v->m->alpha[i * v->k + c];
            v->moment[c] += v->m->alpha[i * v->k + c] * v->row_mean[i];
        }
    }
}

/* F = alpha'K */
static void multiply(const solver *v, const double *alpha, double *F) {
    krein__pgemm(v->ctx, true, false, v->k, v->n, v->n, 1, alpha, v->k, v->m->K, v->n, 0, F, v->n);
    v->m->products++;
}

/* sum_m alpha_m'K alpha_m and the terms of the dual that are of one row. */
static void sums_of(const solver *v, const double *alpha, const double *F, double *norm,
                    double *linear) {
    const krein_multiclass *m = v->m;
    *norm = *linear = 0;
    for (int64_t i = 0; i < v->n; i++) {
        if (!(v->cap[i] > 0)) continue;
        double D = ridge_of(m, i);
        *linear += alpha[i * v->k + m->class[i]];
        for (int64_t c = 0; c < v->k; c++) {
            double a = alpha[i * v->k + c];
            *norm += a * F[c * v->n + i];
            if (c != m->class[i]) *linear -= D / 2 * a * a;
        }
    }
}

/* What the rows and the face make large: the dual, with the multipliers of free intercepts. */
static double objective(const solver *v, const double *alpha, const double *F) {
    double norm, linear;
    sums_of(v, alpha, F, &norm, &linear);
    for (int64_t c = 0; c < v->k; c++) {
        double sum = 0, moment = 0;
        for (int64_t i = 0; i < v->n; i++) {
            sum += alpha[i * v->k + c];
            moment += alpha[i * v->k + c] * v->row_mean[i];
        }
        linear -= sum * (v->base[c] + (v->penalty + v->all_mean) / 2 * sum - moment);
    }
    return linear - norm / 2;
}

static double losses(const solver *v, const double *b) {
    const krein_multiclass *m = v->m;
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++) {
        if (!(v->cap[i] > 0)) continue;
        int64_t y = m->class[i];
        double own = v->F[y * v->n + i] + b[y], most = 0, squares = 0;
        for (int64_t c = 0; c < v->k; c++) {
            double xi = c == y ? 0 : fmax(0, 1 - own + v->F[c * v->n + i] + b[c]);
            most = fmax(most, xi);
            squares += xi * xi;
        }
        sum += m->cost[i] * (m->loss == KREIN_MULTICLASS_PAIRS ? squares : most);
    }
    return sum;
}

/* ---- the face ----------------------------------------------------------- */

/* beta_im takes part: it is not zero, or the row has another to exchange with. */
static bool is_free(const solver *v, int64_t i, int64_t c) {
    return c != v->m->class[i] && v->m->alpha[i * v->k + c] < 0;
}

static bool is_full(const solver *v, int64_t i) {
    return v->m->alpha[i * v->k + v->m->class[i]] >= v->cap[i];
}

static void face_begin(solver *v) {
    int64_t before = v->free, n = v->n;
    v->count = v->free = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t free = 0;
        for (int64_t c = 0; c < v->k; c++) free += is_free(v, i, c);
        if (free == 0 || (free == 1 && is_full(v, i))) continue;
        v->row[v->count++] = i;
        v->free += free;
    }
    v->same = v->free == before;
#pragma omp parallel for num_threads(v->ctx->threads) schedule(static)
    for (int64_t a = 0; a < v->count; a++) {
        const double *K = v->m->K + v->row[a] * n;
        for (int64_t e = 0; e < v->count; e++) v->Q[a * v->count + e] = (float)K[v->row[e]];
    }
}

/* x (count x k) without what is not free; a row at its cap keeps its sum. */
static void project(const solver *v, double *x) {
    for (int64_t a = 0; a < v->count; a++) {
        int64_t i = v->row[a], free = 0;
        double mean = 0;
        for (int64_t c = 0; c < v->k; c++) {
            if (!is_free(v, i, c)) x[a * v->k + c] = 0;
            mean += x[a * v->k + c];
            free += is_free(v, i, c);
        }
        for (int64_t c = 0; is_full(v, i) && c < v->k; c++)
            if (is_free(v, i, c)) x[a * v->k + c] -= mean / (double)free;
    }
}

/* p = what the quadratic part makes of the direction s, projected. */
static void face_product(solver *v) {
    const krein_multiclass *m = v->m;
    int64_t k = v->k, count = v->count, tiles = (count + TILE - 1) / TILE;
    for (int64_t c = 0; c < k; c++) v->q[c] = v->gap[c] = 0;
    for (int64_t a = 0; a < count; a++) {
        int64_t y = m->class[v->row[a]];
        double total = 0;
        for (int64_t c = 0; c < k; c++) total += v->s[a * k + c];
        for (int64_t c = 0; c < k; c++) {
            double to = c == y ? total : -v->s[a * k + c];
            v->in[a * k + c] = (float)to;
            v->q[c] += to;
            v->gap[c] += to * v->row_mean[v->row[a]];
        }
    }
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(v->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t t = 0; t < tiles; t++)
            krein__sgemm(false, false, krein__min(TILE, count - t * TILE), k, count, 1,
                         v->Q + t * TILE * count, count, v->in, k, 0, v->out + t * TILE * k, k);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t a = 0; a < count; a++) {
        int64_t i = v->row[a], y = m->class[i];
        double add = v->penalty + v->all_mean - v->row_mean[i], D = ridge_of(m, i);
        double own = (double)v->out[a * k + y] + add * v->q[y] - v->gap[y];
        for (int64_t c = 0; c < k; c++)
            v->p[a * k + c] =
                own - (double)v->out[a * k + c] - add * v->q[c] + v->gap[c] + D * v->s[a * k + c];
    }
    project(v, v->p);
    v->m->products++;
}

/* d: from beta towards the best of the face without regard to signs. Steps have the length that the
 * curvature of a row gives them (a preconditioner, the same for all beta of a row). */
static void face_solve(solver *v) {
    const krein_multiclass *m = v->m;
    int64_t k = v->k, size = v->count * k;
    double *r = v->r, *s = v->s, *d = v->d, *p = v->p, now = 0, unit = 0;
    int64_t most = v->same ? PRODUCTS_SAME : PRODUCTS;
    for (int64_t a = 0; a < v->count; a++) {
        int64_t i = v->row[a];
        look(v, i);
        for (int64_t c = 0; c < k; c++)
            r[a * k + c] = v->gap[c] + ridge_of(m, i) * m->alpha[i * k + c];
    }
    project(v, r);
    for (int64_t e = 0; e < size; e++) unit = fmax(unit, fabs(r[e]));
    for (int64_t a = 0; a < v->count; a++) {
        double scale = 1 / (curvature_of(v, v->row[a]) + ridge_of(m, v->row[a]));
        for (int64_t e = a * k; e < (a + 1) * k; e++) {
            r[e] = unit > 0 ? r[e] / unit : 0; /* float32 has no small ones */
            s[e] = scale * r[e];
            d[e] = 0;
            now += r[e] * s[e];
        }
    }
    double first = now;
    for (int64_t t = 0; t < most && now > RESIDUAL * RESIDUAL * first; t++) {
        double curve = 0, next = 0;
        face_product(v);
        for (int64_t e = 0; e < size; e++) curve += s[e] * p[e];
        if (!(curve > 0)) break;
        for (int64_t a = 0; a < v->count; a++) {
            double scale = 1 / (curvature_of(v, v->row[a]) + ridge_of(m, v->row[a]));
            for (int64_t e = a * k; e < (a + 1) * k; e++) {
                d[e] += now / curve * s[e];
                r[e] -= now / curve * p[e];
                p[e] = scale * r[e];
                next += r[e] * p[e];
            }
        }
        for (int64_t e = 0; e < size; e++) s[e] = p[e] + next / now * s[e];
        now = next;
    }
    for (int64_t e = 0; e < size; e++) d[e] *= unit;
}

/* One visit to the face. F is that of alpha, exactly, before and after. */
static krein_status face(solver *v) {
    krein_multiclass *m = v->m;
    krein_status st = KREIN_OK;
    int64_t k = v->k, size = v->n * k;
    double value = objective(v, m->alpha, v->F), t = 1;
    face_begin(v);
    if (v->count == 0) return KREIN_OK;
    face_solve(v);
    for (int tries = 0; tries < SHORTER; tries++, t /= 4) {
        TRY(krein__poll(v->ctx));
        memcpy(v->trial, m->alpha, (size_t)size * sizeof *v->trial);
        for (int64_t a = 0; a < v->count; a++)
            for (int64_t c = 0; c < k; c++) v->trial[v->row[a] * k + c] -= t * v->d[a * k + c];
        krein__multiclass_restore(v->n, k, m->class, v->cap, v->trial);
        multiply(v, v->trial, v->Ft);
        if (!(objective(v, v->trial, v->Ft) > value)) continue;
        memcpy(m->alpha, v->trial, (size_t)size * sizeof *v->trial);
        memcpy(v->F, v->Ft, (size_t)size * sizeof *v->Ft);
        add_up(v);
        break;
    }
done:
    return st;
}

/* ---- a check ------------------------------------------------------------ */

/* The dual value of alpha as it is with free intercepts, balanced: left in `trial`. */
static krein_status balanced_dual(solver *v, double *dual) {
    krein_status st = KREIN_OK;
    krein_multiclass *m = v->m;
    double taken, norm, linear;
    memcpy(v->trial, m->alpha, (size_t)(v->n * v->k) * sizeof *v->trial);
    TRY(krein__multiclass_balance(v->ctx, v->n, v->k, m->class, v->cap, v->trial, &taken));
    multiply(v, v->trial, v->Ft);
    sums_of(v, v->trial, v->Ft, &norm, &linear);
    *dual = linear - norm / 2;
    if (taken > v->taken / 2) v->penalty = fmin(2 * v->penalty, PENALTY_MOST * v->mean);
    v->taken = taken;
done:
    return st;
}

static krein_status check(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    krein_multiclass *m = v->m;
    bool open = m->intercept == KREIN_INTERCEPT_FREE;
    double *b = NULL, norm, linear, mean = 0;
    NEW(b, v->k);
    krein__multiclass_restore(v->n, v->k, m->class, v->cap, m->alpha);
    multiply(v, m->alpha, v->F);
    add_up(v);
    for (int64_t c = 0; c < v->k; c++) {
        b[c] = intercept_of(v, c);
        mean += b[c] / (double)v->k; /* of rounding */
    }
    sums_of(v, m->alpha, v->F, &norm, &linear);
    for (int64_t c = 0; c < v->k; c++) {
        b[c] -= mean;
        if (m->intercept == KREIN_INTERCEPT_PENALISED) norm += b[c] * b[c];
    }
    double primal = norm / 2 + losses(v, b), dual = linear - norm / 2;
    if (open) TRY(balanced_dual(v, &dual));
    v->idle = primal < m->primal || dual > m->dual_value ? 0 : v->idle + 1;
    if (primal < m->primal) {
        m->primal = primal;
        memcpy(m->w, m->alpha, (size_t)(v->n * v->k) * sizeof *m->w);
        memcpy(m->b, b, (size_t)v->k * sizeof *b);
    }
    m->last_dual = dual;
    m->dual_value = fmax(m->dual_value, dual);
    double size = fmax(fabs(m->primal), ROUNDING * v->cost);
    m->converged = m->primal - m->dual_value <= m->tol * size;
    if (!isfinite(primal) || !isfinite(dual) || m->dual_value - m->primal > 1e-6 * size)
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the kernel matrix is not positive semidefinite, which a machine of all "
                         "classes at once needs; repair it with spectrum=clip, or use multi=ovr");
    krein__log(ctx, KREIN_LOG_DEBUG,
               "multiclass, round %lld: primal %.10g, dual %.10g, violation %.3g of %.3g, %lld "
               "steps, %lld products",
               (long long)m->rounds, primal, dual, v->violation, v->inner, (long long)m->steps,
               (long long)m->products);
    for (int64_t c = 0; open && c < v->k; c++) v->base[c] += v->penalty * v->sum[c];
    if (v->violation <= v->inner) v->inner = fmax(v->violation / 2, FINEST);
done:
    krein__free(ctx, b);
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

static krein_status solver_begin(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    krein_multiclass *m = v->m;
    int64_t n = v->n, k = v->k;
    double mean = 0, rows = 0;
    NEW(v->cap, n);
    NEW(v->F, k * n);
    ZNEW(v->row_mean, n);
    ZNEW(v->moment, k);
    ZNEW(v->sum, k);
    ZNEW(v->base, k);
    NEW(v->gap, k);
    NEW(v->q, k);
    NEW(v->trial, n * k);
    NEW(v->Ft, n * k);
    NEW(v->row, n);
    NEW(v->Q, n * n);
    NEW(v->in, n * k);
    NEW(v->out, n * k);
    NEW(v->r, n * k);
    NEW(v->s, n * k);
    NEW(v->d, n * k);
    NEW(v->p, n * k);
    for (int64_t i = 0; i < n; i++) {
        bool pairs = m->loss == KREIN_MULTICLASS_PAIRS;
        v->cap[i] = m->cost[i] > 0 && pairs ? INFINITY : m->cost[i];
        v->cost += m->cost[i];
        if (!(m->cost[i] > 0)) continue;
        mean += m->K[i * n + i];
        rows++;
    }
    if (m->intercept == KREIN_INTERCEPT_FREE) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++)
                if (m->cost[j] > 0) v->row_mean[i] += m->K[i * n + j] / rows;
            if (m->cost[i] > 0) v->all_mean += v->row_mean[i] / rows;
        }
        mean = fmax(mean - rows * v->all_mean, 1e-12 * mean);
    }
    v->mean = mean > 0 ? mean / rows : 1;
    v->inner = INNER;
    v->taken = INFINITY;
    v->penalty = m->intercept == KREIN_INTERCEPT_FREE        ? PENALTY * v->mean
                 : m->intercept == KREIN_INTERCEPT_PENALISED ? 1
                                                             : 0;
    krein__multiclass_restore(n, k, m->class, v->cap, m->alpha);
    add_up(v);
    for (int64_t c = 0; m->intercept == KREIN_INTERCEPT_FREE && c < k; c++)
        v->base[c] = m->b[c] + v->moment[c] - v->all_mean * v->sum[c];
    TRY(check(v)); /* of where it starts */
done:
    return st;
}

static void solver_end(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein__free(ctx, v->cap);
    krein__free(ctx, v->F);
    krein__free(ctx, v->row_mean);
    krein__free(ctx, v->moment);
    krein__free(ctx, v->sum);
    krein__free(ctx, v->base);
    krein__free(ctx, v->gap);
    krein__free(ctx, v->q);
    krein__free(ctx, v->trial);
    krein__free(ctx, v->Ft);
    krein__free(ctx, v->row);
    krein__free(ctx, v->Q);
    krein__free(ctx, v->in);
    krein__free(ctx, v->out);
    krein__free(ctx, v->r);
    krein__free(ctx, v->s);
    krein__free(ctx, v->d);
    krein__free(ctx, v->p);
}

krein_status krein__multiclass(krein_ctx *ctx, krein_multiclass *m) {
    krein_status st = KREIN_OK;
    solver v = {.ctx = ctx, .m = m, .n = m->n, .k = m->classes};
    m->rounds = m->steps = m->products = m->support = 0;
    m->converged = false;
    m->primal = INFINITY;
    m->dual_value = -INFINITY;
    int64_t most = m->most > 0 ? m->most : ROUNDS;
    TRY(solver_begin(&v));
    while (!m->converged && m->rounds < most && v.idle < IDLE) {
        if (m->rounds++ > 0) TRY(face(&v));
        TRY(visit(&v));
        TRY(check(&v));
        if (m->what) krein__progress(ctx, m->what, (double)m->rounds, ROUNDS);
        if (krein__late(m->deadline)) break;
    }
    if (m->intercept == KREIN_INTERCEPT_FREE)
        memcpy(m->alpha, v.trial, (size_t)(m->n * m->classes) * sizeof *m->alpha);
    for (int64_t i = 0; i < m->n; i++) m->support += m->alpha[i * m->classes + m->class[i]] != 0;
done:
    solver_end(&v);
    return st;
}

double krein__multiclass_bytes(int64_t n, int64_t classes) {
    double N = (double)n, k = (double)classes;
    return 4 * N * N + N * (64 * k + 24) + 16 * k * k + 80 * k + 4096;
}

const krein_class krein__solver_multiclass = {
    "multiclass",
    "machines of all classes at once on the kernel matrix, by rows and conjugate "
    "gradients",
    "crammer2001", NULL,
    "The hinge loss of Crammer and Singer, or squared losses of all pairs (GMNP); ends at a "
    "duality "
    "gap. Learners: svm(multi=crammer) and svm(multi=gmnp) with map=exact, mkl(method=mcmkl)."};
