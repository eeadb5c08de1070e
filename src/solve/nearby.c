/* nearby.c -- leave-one-out at shifts s near one that was factored, s0
 *
 * C = (M + s0 I)^-1 = V V' is known. With t the eigenvalues of s0 C, all in (0, 1],
 *     (M + s I)^-1 = g(s0 C),     g(t) = t / (s0 (1 + (s / s0 - 1) t)),
 * and g is a short sum of Chebyshev polynomials T_j(2 t - 1): for s within half a decade of s0 its
 * coefficients fall by 3.6 each, and TERMS of them leave 1e-3. The vectors T_j(2 s0 C - I) y are
 * made once, by products with V' and V, and serve every s.
 *
 * The diagonal is needed too. Row i sees the eigenvalues m of M with some weights; were it one
 * eigenvalue m_i alone, the diagonal would be 1 / (s + m_i), and that at s0 says what m_i is. So
 *     C_ii(s) ~ rho / (s + m_i),    rho so that the sum over some rows is right at s,
 * and sums of the diagonal are estimated by z_i (g(s0 C) z)_i with PROBES vectors z of signs
 * (hutchinson1990); the same z at s0 and at s, so that their errors nearly cancel. Rows have the
 * rho of those with a diagonal like theirs, in up to GROUPS groups: of two equal rows half of the
 * weight is at m = 0, and one rho for them and for all others would be wrong for both. How good it
 * is: tests/test_dual_walk.c; what is chosen with it is then solved exactly (path.c).
 *
 * Cost: TERMS products of n^2 2 flops for each of k + PROBES columns, where a factorisation with
 * the diagonal of the inverse has 2/3 n^3. */
#include "solve/nearby.h"

#include "base/rng.h"
#include "num/blas.h"
#include "num/both.h"
#include "num/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TERMS = 8,
    PROBES = 8,
    TILE = KREIN_NEARBY_TILE,
    GROUPS = 16,
    GROUP_ROWS = 128 /* about, at least */
};

struct krein_nearby {
    krein_ctx *ctx;
    int64_t n, k;
    const double *diagonal, *u;
    double lift, shift;
    float *V;
    float *term; /* TERMS x n x k: T_j y */
    int32_t *group;
    double trace[GROUPS][TERMS]; /* sum over the probes z and the rows i of z_i (T_j z)_i */
};

/* Columns of a product: the targets and the probes. */
static int64_t columns(int64_t k) { return k + PROBES; }

double krein__nearby_bytes(int64_t n, int64_t k) {
    return 4 * (double)n * ((double)(TERMS * k) + 5 * (double)columns(k) + 1) +
           64 * (double)columns(k) + 4096;
}

/* Two factorisations of fewer rows take less time (measured with 1 to 26 targets). */
bool krein__nearby_pays(int64_t n, int64_t k) { return n >= 100 * (k + PROBES); }

static int64_t rows(int64_t n, int64_t tile) { return krein__min(TILE, n - tile * TILE); }

/* out = V V'q, both n x m; work: in lanes. Each tile of rows is one product on one thread. */
static void multiply(const krein_nearby *b, int64_t m, const float *q, float *work, float *out) {
    int64_t n = b->n, tiles = (n + TILE - 1) / TILE;
    const krein_lanes none = {0};
    memset(work, 0, (size_t)krein__lanes_size(n, m) * sizeof *work);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    krein_compute c = krein__compute_begin();
#pragma omp parallel num_threads(b->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic)
        for (int64_t i = tiles - 1; i >= 0; i--) /* the longest first */
            krein__both(i * TILE + rows(n, i), rows(n, i), m, b->V + i * TILE, n, none, q, NULL,
                        (krein_lanes){work, n, i * TILE});
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < tiles; i++)
            krein__both(rows(n, i), n - i * TILE, m, b->V + i * TILE * n + i * TILE, n,
                        (krein_lanes){work, n, i * TILE}, NULL, out + i * TILE * m, none);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

/* Zeros below the diagonal, where the tiles of multiply reach. */
static void trim(const krein_nearby *b) {
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = i / TILE * TILE; j < i; j++) b->V[i * b->n + j] = 0;
}

/* C_ii without the part along u. */
static double inside(const krein_nearby *b, int64_t i) {
    double own = b->u ? b->u[i] * b->u[i] : 0;
    return fmax(b->diagonal[i] - own / (b->lift + b->shift), 0);
}

/* Equal parts of the rows in the order of the diagonal. */
static krein_status make_groups(krein_nearby *b) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n, groups = krein__max(1, krein__min(GROUPS, n / GROUP_ROWS));
    double *sorted = NULL;
    NEW(sorted, n);
    for (int64_t i = 0; i < n; i++) sorted[i] = inside(b, i);
    qsort(sorted, (size_t)n, sizeof *sorted, krein__ascending);
    for (int64_t i = 0; i < n; i++) {
        b->group[i] = 0;
        for (int64_t g = 1; g < groups; g++) b->group[i] += inside(b, i) >= sorted[g * n / groups];
    }
done:
    krein__free(ctx, sorted);
    return st;
}

/* Signs without their part along u. */
static void draw(const krein_nearby *b, int64_t m, float *q) {
    int64_t n = b->n, k = b->k;
    krein_rng g = krein__substream(1, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_TRACE);
    for (int64_t p = 0; p < PROBES; p++) {
        double dot = 0;
        for (int64_t i = 0; i < n; i++) {
            double sign = krein__rng_bits(g, (uint64_t)p, (uint64_t)i) & 1 ? 1 : -1;
            q[i * m + k + p] = (float)sign;
            if (b->u) dot += sign * b->u[i];
        }
        for (int64_t i = 0; b->u && i < n; i++) q[i * m + k + p] -= (float)(dot * b->u[i]);
    }
}

/* T_j of the targets is kept, of the probes z_i (T_j z)_i. */
static void keep(krein_nearby *b, int64_t j, int64_t m, const float *first, const float *q) {
    for (int64_t i = 0; i < b->n; i++) {
        double sum = 0;
        memcpy(b->term + (j * b->n + i) * b->k, q + i * m, (size_t)b->k * sizeof *q);
        for (int64_t p = b->k; p < b->k + PROBES; p++)
            sum += (double)first[i * m + p] * (double)q[i * m + p];
        b->trace[b->group[i]][j] += sum;
    }
}

/* T_0, T_1, ... by T_j+1 = 2 (2 s0 C - I) T_j - T_j-1. */
static krein_status make_terms(krein_nearby *b, const double *y) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n, k = b->k, m = columns(k), size = n * m;
    float *first = NULL, *before = NULL, *now = NULL, *work = NULL, *product = NULL;
    float twice = (float)(2 * b->shift);
    NEW(first, size);
    NEW(before, size);
    NEW(now, size);
    NEW(work, krein__lanes_size(n, m));
    NEW(product, size);
    memset(first, 0, (size_t)size * sizeof *first);
    for (int64_t i = 0; i < n * k; i++) first[i / k * m + i % k] = (float)y[i];
    draw(b, m, first);
    memcpy(now, first, (size_t)size * sizeof *now);
    for (int64_t j = 0;; j++) {
        keep(b, j, m, first, now);
        if (j == TERMS - 1) break;
        TRY(krein__poll(ctx));
        multiply(b, m, now, work, product);
        for (int64_t e = 0; e < size; e++) {
            float next = twice * product[e] - now[e];
            before[e] = j == 0 ? next : 2 * next - before[e];
        }
        float *swap = before;
        before = now;
        now = swap;
    }
done:
    krein__free(ctx, first);
    krein__free(ctx, before);
    krein__free(ctx, now);
    krein__free(ctx, work);
    krein__free(ctx, product);
    return st;
}

krein_status krein__nearby_begin(krein_ctx *ctx, int64_t n, int64_t k, float *V,
                                 const double *diagonal, const double *u, double lift,
                                 const double *y, double shift, krein_nearby **out) {
    krein_status st = KREIN_OK;
    krein_nearby *b = NULL;
    *out = NULL;
    ZNEW(b, 1);
    *b = (krein_nearby){.ctx = ctx, .n = n, .k = k, .V = V, .lift = lift, .shift = shift};
    b->diagonal = diagonal;
    b->u = u;
    NEW(b->term, TERMS * n * k);
    NEW(b->group, n);
    TRY(make_groups(b));
    trim(b);
    TRY(make_terms(b, y));
    *out = b;
    b = NULL;
done:
    krein__nearby_end(b);
    return st;
}

void krein__nearby_end(krein_nearby *b) {
    if (!b) return;
    krein__free(b->ctx, b->term);
    krein__free(b->ctx, b->group);
    krein__free(b->ctx, b);
}

/* Coefficients of g at the shift s. */
static void coefficients(const krein_nearby *b, double s, double c[TERMS]) {
    enum { NODES = 64 };
    for (int64_t j = 0; j < TERMS; j++) c[j] = 0;
    for (int64_t i = 0; i < NODES; i++) {
        double angle = M_PI * ((double)i + 0.5) / NODES, t = (1 + cos(angle)) / 2;
        double g = t / (b->shift + (s - b->shift) * t);
        for (int64_t j = 0; j < TERMS; j++)
            c[j] += (j == 0 ? 1 : 2) * g * cos((double)j * angle) / NODES;
    }
}

/* The probes' estimate of the diagonal's sum over a group. */
static double sum_of(const double trace[TERMS], const double c[TERMS]) {
    double sum = 0;
    for (int64_t j = 0; j < TERMS; j++) sum += c[j] * trace[j] / PROBES;
    return sum;
}

void krein__nearby_at(const krein_nearby *b, double s, double *a, double *diagonal) {
    int64_t n = b->n, k = b->k;
    double c[TERMS], c0[TERMS], known[GROUPS] = {0}, model[GROUPS] = {0}, rho[GROUPS];
    coefficients(b, s, c);
    coefficients(b, b->shift, c0);
    memset(a, 0, (size_t)(n * k) * sizeof *a);
    for (int64_t j = 0; j < TERMS; j++)
        for (int64_t e = 0; e < n * k; e++) a[e] += c[j] * (double)b->term[j * n * k + e];
    for (int64_t i = 0; i < n; i++) {
        double at = inside(b, i);
        diagonal[i] = at > 0 ? 1 / (s + fmax(1 / at - b->shift, 0)) : 0;
        known[b->group[i]] += at;
        model[b->group[i]] += diagonal[i];
    }
    for (int64_t g = 0; g < GROUPS; g++) {
        double here = sum_of(b->trace[g], c0), there = sum_of(b->trace[g], c);
        bool sane =
            here > 0 && there > 0 && model[g] > 0; /* signs, and a series, can miss a zero */
        rho[g] = sane ? there / here * known[g] / model[g] : 1;
    }
    for (int64_t i = 0; i < n; i++)
        diagonal[i] =
            rho[b->group[i]] * diagonal[i] + (b->u ? b->u[i] * b->u[i] / (b->lift + s) : 0);
}
