/* scores.c -- ridge leverage, its surrogate, alignment, and draws of a fixed size.
 *
 * Leverage. With the columns in Z (n x s) and G = Z'Z, diag((G + r I)^-1 G) = diag(Z'(ZZ' + r I)^-1
 * Z): the n x n form is used, whose size does not grow with the pool. ZZ' + r I = U'U gives the
 * squared lengths of the columns of U'^-1 Z.
 *
 * Alignment (sinha2016). The maximum of v'q on the simplex inside the ball is q = P(beta v), P the
 * projection on the simplex, with the beta for which the ball's bound is met; the divergence grows
 * with beta, from 0 (beta = 0, q uniform) to n/t - 1 (beta -> inf, q uniform on the t largest v).
 * With v descending and beta >= 1 / (sum_{i<=m} v_i - m v_{m+1}) no more than m are positive.
 *
 * Draws. m of n with inclusion probabilities p_i, sum p_i = m: the intervals of length p_i are laid
 * end to end in random order on a line of length m, and those hit by the points u, u + 1, ..., u +
 * m - 1 are taken, u uniform in (0, 1) (systematic sampling, madow1949). Each p_i is exact, so
 * sum over the drawn of a_i / p_i is an unbiased estimate of sum a_i. Unlike draws with replacement
 * there are never duplicates, and p_i = 1 for all i takes everything.
 */
#include "map/scores.h"

#include "num/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- leverage ----------------------------------------------------------- */

void krein__leverage_add(krein_ctx *ctx, int64_t n, int64_t m, const double *z, double *K) {
    krein__pgemm(ctx, false, true, n, n, m, 1, z, m, z, m, 1, K, n);
}

krein_status krein__leverage_factor(krein_ctx *ctx, int64_t n, double ridge, double *K) {
    int64_t pivot;
    for (int64_t i = 0; i < n; i++) K[i * n + i] += ridge;
    return krein__cholesky(ctx, n, K, n, &pivot);
}

void krein__leverage_score(krein_ctx *ctx, int64_t n, int64_t m, double *z, const double *K,
                           double *out) {
    enum { COLUMNS = 64 }; /* at a time: the split must not depend on the threads */
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t first = 0; first < m; first += COLUMNS) {
        krein__worker_begin();
        int64_t count = krein__min(COLUMNS, m - first);
        krein__dtrsm(true, n, count, K, n, z + first, m);
        for (int64_t j = first; j < first + count; j++) out[j] = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = first; j < first + count; j++) out[j] += z[i * m + j] * z[i * m + j];
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

double krein__surrogate_score(int64_t n, double product2, double square, double lambda) {
    double rows = (double)n;
    return (product2 + rows * square) / (rows * rows * lambda);
}

/* ---- the simplex -------------------------------------------------------- */

typedef struct ranked {
    double v;
    int64_t at;
} ranked;

static int descending(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->v != y->v) return x->v > y->v ? -1 : 1;
    return x->at < y->at ? -1 : 1; /* ties: lowest index first */
}

static ranked *rank(krein_ctx *ctx, int64_t n, const double *v) {
    ranked *r = krein__alloc(ctx, n, sizeof *r);
    for (int64_t i = 0; r && i < n; i++) r[i] = (ranked){v[i], i};
    if (r) qsort(r, (size_t)n, sizeof *r, descending);
    return r;
}

/* q = projection of beta v, from the first `most` of v alone; returns |q|^2. Where theta solves
 * sum_i (beta v_i - theta)_+ = 1 over the first k, and beta v_{k+1} <= theta. */
static double project(const ranked *r, int64_t most, double beta, double *q) {
    double sum = 0, theta = 0, squares = 0;
    for (int64_t k = 0; k < most; k++) {
        /* relative to the largest, so that a large beta costs no digits */
        double below = beta * (r[k].v - r[0].v);
        if (k > 0 && below <= theta) break;
        sum += below;
        theta = (sum - 1) / (double)(k + 1);
    }
    for (int64_t k = 0; k < most; k++) {
        double value = fmax(0, beta * (r[k].v - r[0].v) - theta);
        if (q) q[r[k].at] = value;
        squares += value * value;
    }
    return squares;
}

krein_status krein__simplex_project(krein_ctx *ctx, int64_t n, const double *v, double *q) {
    ranked *r = rank(ctx, n, v);
    if (!r) return ctx->status;
    project(r, n, 1, q);
    krein__free(ctx, r);
    return KREIN_OK;
}

/* The beta whose divergence is rho; INFINITY where none is large enough. */
static double solve(const ranked *r, int64_t n, double rho) {
    double rows = (double)n, low = 0, high = 1 / (r[0].v - r[n - 1].v);
    int64_t top = 1;
    while (top < n && r[top].v == r[0].v) top++;
    if (rho <= 0) return 0;
    if (rows / (double)top - 1 <= rho) return INFINITY;
    while (rows * project(r, n, high, NULL) - 1 < rho) {
        low = high;
        high *= 2;
        if (isinf(high)) return high;
    }
    for (int step = 0; step < 100; step++) {
        double middle = 0.5 * (low + high);
        if (rows * project(r, n, middle, NULL) - 1 < rho)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* The least beta that leaves at most m positive. */
static double prune(const ranked *r, int64_t n, int64_t m) {
    double sum = 0;
    if (m >= n) return 0;
    for (int64_t k = 0; k < m; k++) sum += r[k].v - r[m].v;
    return 1 / sum;
}

krein_status krein__aligned_weights(krein_ctx *ctx, int64_t n, const double *v, double rho,
                                    int64_t most, double *q, double *reached) {
    ranked *r = rank(ctx, n, v);
    if (!r) return ctx->status;
    int64_t m = krein__min(most, n), top = 1;
    double squares = 0;
    memset(q, 0, (size_t)n * sizeof *q);
    double beta = r[0].v > r[n - 1].v ? fmax(solve(r, n, rho), prune(r, n, m)) : INFINITY;
    if (isfinite(beta)) {
        squares = project(r, m, beta, q);
    } else {
        while (top < m && r[top].v == r[0].v) top++;
        for (int64_t k = 0; k < top; k++) q[r[k].at] = 1 / (double)top;
        squares = 1 / (double)top;
    }
    if (reached) *reached = (double)n * squares - 1;
    krein__free(ctx, r);
    return KREIN_OK;
}

/* ---- draws -------------------------------------------------------------- */

void krein__inclusion(int64_t n, const double *score, int64_t m, double *p) {
    double mean = 0, left = (double)m, sum = 0;
    for (int64_t i = 0; i < n; i++) mean += score[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        p[i] = mean > 0 ? fmax(score[i], 1e-3 * mean) : 1;
        sum += p[i];
    }
    /* Those above 1 are certain; the others share what is left, which may lift more above 1.
     * Certain ones are kept as -1 meanwhile. */
    for (bool again = true; again;) {
        double scale = left / sum;
        again = false;
        for (int64_t i = 0; i < n; i++) {
            if (p[i] < 0 || p[i] * scale < 1) continue;
            p[i] = -1;
            left -= 1;
            again = true;
        }
        sum = 0;
        for (int64_t i = 0; i < n; i++) sum += fmax(p[i], 0);
        again = again && left > 0 && sum > 0;
    }
    for (int64_t i = 0; i < n; i++) p[i] = p[i] < 0 ? 1 : p[i] * fmax(left, 0) / sum;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

krein_status krein__draw_fixed(krein_ctx *ctx, krein_rng g, int64_t n, const double *p, int64_t m,
                               int64_t *index) {
    int64_t *order = krein__alloc(ctx, n, sizeof *order), have = 0;
    double sum = 0, next = krein__rng_uniform(g, 0, 0);
    if (!order) return ctx->status;
    krein__rng_permute(g, n, order);
    for (int64_t k = 0; k < n && have < m; k++) {
        sum += p[order[k]];
        /* the last ones must be taken where rounding would leave too few */
        if (sum <= next && n - k > m - have) continue;
        index[have++] = order[k];
        next += 1;
    }
    qsort(index, (size_t)have, sizeof *index, ascending);
    krein__free(ctx, order);
    return KREIN_OK;
}
