/* kernel_pcg -- ridge regression on a large kernel matrix by conjugate gradients
 *
 *     (PSKSP + W lambda I) a = PSy     in the frame of dual.c, for every output and lambda
 *
 * all of them together: a step is one pass over half of K (kernel_half.c) for all. Rows without a
 * weight are not fitted: their a is zero.
 *
 * The outputs at one lambda, some at a time (tall.c), share their directions (oleary1980), of which
 * there is an orthonormal basis P before each product (ji2017: outputs may depend on each other, as
 * those of classes do):
 *     Q = A P,    a += P (P'Q)^-1 P'R,    R -= Q (P'Q)^-1 P'R
 *     P <- orthonormal columns of Z - P (P'Q)^-1 Q'Z,    Z = M^-1 R
 * Letter's 26 classes take three quarters of the steps that they take one by one.
 *
 * The preconditioner is that of Nystrom with m sampled rows (rudi2017b, there on features):
 *     M = mu I + S B B'S,   B = K_nm T^-1,   T'T = K_mm + jitter I
 *     M^-1 = (I - S B (mu I + G)^-1 B'S) / mu,   G = B'S^2 B
 *     mu = W lambda + the mean diagonal of S(K - BB')S
 * by Cholesky factorisations of order m alone; B is float32, the rest float64. W lambda alone would
 * be right where BB' is all of K. It is often far below what BB' leaves out, whose eigenvalues M
 * would then stretch: letter, 15,000 rows, takes twice the steps with it. On the complement of u
 * its inverse is r -> M^-1 r - M^-1 u (u'M^-1 r) / (u'M^-1 u). The products of rows held out are
 * taken out of the G of all rows.
 *
 * Ends where |r| <= tol |PSy|: the predictions of the training rows are K a = K A^-1 (PSy - r), so
 * that they are off by no more than |r|.
 *
 * Cost: 3 n m^2 flops for B and G; a step 2 n^2 + 4 n m flops for each column and 2 n^2 + 4 n m
 * bytes of memory to read for all of them.
 */
#include "solve/kernel_pcg.h"

#include "base/rng.h"
#include "num/blas.h"
#include "num/both.h"
#include "num/tall.h"
#include "solve/dual.h"
#include "solve/whiten.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS = 512, COLUMNS = 128 };

struct krein_kernel_pcg {
    krein_ctx *ctx;
    const krein_half *K;
    int64_t n, m;
    float *B;        /* n x m */
    double *tail;    /* n: the diagonal of K - B B' */
    double *all, *G; /* m x m, upper: B'S^2 B of all rows, of those fitted */
    float *block;    /* ROWS x m */
    float *tiles;    /* of krein__syrk_add */
    double *factor;  /* for each lambda m x m */
    int64_t factors;
    krein_frame f;
    krein_targets rows;
    double *p, *q, *r, *z;  /* n x columns */
    double *scaled, *small; /* n x columns; m x columns */
    float *v32, *part;      /* n x columns; for each thread COLUMNS of that */
    float *bands;           /* for each band of rows m x columns, in lanes */
    double *lanes64;        /* the same of their sum */
    double *sums;           /* of tall.c */
    double *room;           /* of krein__half_multiply */
    double *Mu;             /* n x lambdas: M^-1 u */
    double mean_tail;       /* of the rows fitted, weighted */
};

static int64_t bands_of(int64_t n) { return (n + KREIN_BAND - 1) / KREIN_BAND; }

static double shift_of(const krein_kernel_pcg *s, double lambda) { return s->f.weight * lambda; }

/* mu */
static double damping_of(const krein_kernel_pcg *s, double lambda) {
    return shift_of(s, lambda) + s->mean_tail;
}

/* ---- the preconditioner ------------------------------------------------- */

static double weight_of(const krein_kernel_pcg *s, int64_t i) {
    return s->rows.weight ? s->rows.weight[i] : 1;
}

/* G += sum of w b b' over the rows with fold[i] = f; all rows where fold is NULL. */
static void add_products(krein_kernel_pcg *s, const int32_t *fold, int64_t f, double *G) {
    int64_t n = s->n, m = s->m, count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!fold || fold[i] == f) {
            float root = (float)sqrt(weight_of(s, i));
            for (int64_t j = 0; j < m; j++) s->block[count * m + j] = root * s->B[i * m + j];
            count++;
        }
        if (count == ROWS || (i == n - 1 && count > 0)) {
            krein__syrk_add(s->ctx, m, count, s->block, m, G, m, s->tiles);
            count = 0;
        }
    }
}

static krein_status make_B(krein_kernel_pcg *s, uint64_t seed) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->n, m = s->m, *index = NULL;
    NEW(index, m);
    krein__rng_choose(krein__substream(seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_PRECONDITION), n, m,
                      index);
    TRY(krein__half_columns(s->K, m, index, s->B));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) s->G[i * m + j] = (double)s->B[index[i] * m + j];
    TRY(krein__whiten(ctx, n, m, s->G, s->B));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double norm2 = 0;
        for (int64_t j = 0; j < m; j++) norm2 += (double)s->B[i * m + j] * (double)s->B[i * m + j];
        s->tail[i] = fmax(0, krein__half_at(s->K, i, i) - norm2);
    }
done:
    krein__free(ctx, index);
    return st;
}

/* To n x c in float32. */
static void narrow(const krein_kernel_pcg *s, int64_t n, int64_t c, const double *v) {
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t e = 0; e < n * c; e++) s->v32[e] = (float)v[e];
}

/* small (m x c) = B'v, v n x c: in parallel over bands of rows, in float32, which are then added in
 * their order. */
static void gather(const krein_kernel_pcg *s, int64_t c, const double *v, double *small) {
    int64_t n = s->n, m = s->m, bands = bands_of(n), size = krein__lanes_size(m, c);
    narrow(s, n, c, v);
    memset(s->bands, 0, (size_t)(bands * size) * sizeof *s->bands);
    memset(small, 0, (size_t)(m * c) * sizeof *small);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(s->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < bands; b++) {
            int64_t i = b * KREIN_BAND, rows = krein__min(KREIN_BAND, n - i);
            krein__both(rows, m, c, s->B + i * m, m, (krein_lanes){0}, s->v32 + i * c, NULL,
                        (krein_lanes){s->bands + b * size, m, 0});
        }
#pragma omp for schedule(static)
        for (int64_t e = 0; e < size; e++) {
            double sum = 0;
            for (int64_t b = 0; b < bands; b++) sum += (double)s->bands[b * size + e];
            s->lanes64[e] = sum;
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    krein__lanes_add(m, c, s->lanes64, small);
}

/* out (n x c) = B small: in parallel over rows. */
static void spread(const krein_kernel_pcg *s, int64_t c, const double *small, double *out) {
    int64_t n = s->n, m = s->m, strips = (n + COLUMNS - 1) / COLUMNS;
    krein_lanes lanes = {s->bands, m, 0};
    narrow(s, m, c, small);
    krein__to_lanes(m, c, s->v32, lanes);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < strips; t++) {
        krein__worker_begin();
        int64_t first = t * COLUMNS, rows = krein__min(COLUMNS, n - first);
        float *part = s->part + omp_get_thread_num() * COLUMNS * c;
        memset(part, 0, (size_t)(rows * c) * sizeof *part);
        krein__both(rows, m, c, s->B + first * m, m, lanes, NULL, part, (krein_lanes){0});
        for (int64_t e = 0; e < rows * c; e++) out[first * c + e] = (double)part[e];
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* z = M^-1 r, `each` columns for each lambda. */
static krein_status apply_M(krein_kernel_pcg *s, int64_t lambdas, const double *lambda,
                            int64_t each, const double *r, double *z) {
    krein_status st = KREIN_OK;
    int64_t n = s->n, m = s->m, c = lambdas * each;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) s->scaled[i * c + j] = s->f.root[i] * r[i * c + j];
    gather(s, c, s->scaled, s->small);
    for (int64_t l = 0; l < lambdas; l++)
        TRY(krein__cholesky_solve(s->ctx, m, s->factor + l * m * m, m, each, s->small + l * each,
                                  c));
    spread(s, c, s->small, s->scaled);
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            z[i * c + j] = (r[i * c + j] - s->f.root[i] * s->scaled[i * c + j]) /
                           damping_of(s, lambda[j / each]);
done:
    return st;
}

/* The factors of the lambdas, and M^-1 u. */
static krein_status factor(krein_kernel_pcg *s, int64_t lambdas, const double *lambda) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->n, m = s->m, pivot;
    if (s->factors < lambdas) {
        krein__free(ctx, s->factor);
        s->factor = NULL;
        s->factors = 0;
        NEW(s->factor, lambdas * m * m);
        s->factors = lambdas;
    }
    for (int64_t l = 0; l < lambdas; l++) {
        double *F = s->factor + l * m * m, more = 1;
        do { /* G is off by 1e-8 of itself: a larger lambda where that shows */
            memcpy(F, s->G, (size_t)(m * m) * sizeof *F);
            for (int64_t i = 0; i < m; i++) F[i * m + i] += more * damping_of(s, lambda[l]);
            st = krein__cholesky(ctx, m, F, m, &pivot);
            more *= 10;
        } while (st == KREIN_ENUMERIC && more < 1e12);
        TRY(st);
    }
    for (int64_t e = 0; e < n * lambdas; e++) s->z[e] = s->f.u[e / lambdas];
    TRY(apply_M(s, lambdas, lambda, 1, s->z, s->Mu));
done:
    return st;
}

/* z = the inverse of M on the complement of u, times r; up: room for two numbers a column. */
static krein_status precondition(krein_kernel_pcg *s, const krein_tall *t, int64_t lambdas,
                                 const double *lambda, double *up) {
    krein_status st = KREIN_OK;
    int64_t n = s->n, c = t->c, k = t->k;
    double *uMu = up + c;
    krein_tall each = *t;
    each.c = lambdas;
    TRY(apply_M(s, lambdas, lambda, k, s->r, s->z));
    krein__tall_dots(&each, true, s->f.u, s->Mu, uMu);
    krein__tall_dots(t, true, s->f.u, s->z, up);
    for (int64_t j = 0; j < c; j++) up[j] /= uMu[j / k];
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) s->z[i * c + j] -= s->Mu[i * lambdas + j / k] * up[j];
done:
    return st;
}

/* ---- the solver --------------------------------------------------------- */

krein_status krein__kernel_pcg_create(const krein_half *K, const krein_targets *rows, int64_t m,
                                      int64_t columns, uint64_t seed, krein_kernel_pcg **out) {
    krein_ctx *ctx = K->ctx;
    krein_status st = KREIN_OK;
    krein_kernel_pcg *s = NULL;
    int64_t n = K->n, T = krein__syrk_tile(m);
    *out = NULL;
    ZNEW(s, 1);
    *s = (krein_kernel_pcg){.ctx = ctx, .K = K, .n = n, .m = m, .rows = *rows};
    NEW(s->B, n * m);
    NEW(s->tail, n);
    ZNEW(s->all, m * m);
    NEW(s->G, m * m);
    NEW(s->block, ROWS * m);
    NEW(s->tiles, ctx->threads * T * T);
    NEW(s->p, n * columns);
    NEW(s->q, n * columns);
    NEW(s->r, n * columns);
    NEW(s->z, n * columns);
    NEW(s->scaled, n * columns);
    NEW(s->Mu, n * columns);
    NEW(s->small, m * columns);
    NEW(s->v32, n * columns);
    NEW(s->part, ctx->threads * COLUMNS * columns);
    NEW(s->bands, bands_of(n) * krein__lanes_size(m, columns));
    NEW(s->lanes64, krein__lanes_size(m, columns));
    NEW(s->sums, krein__tall_room(n, columns, krein__min(columns, KREIN_TALL_WIDE)));
    NEW(s->room, krein__half_room(n, columns, ctx->threads));
    TRY(make_B(s, seed));
    add_products(s, NULL, 0, s->all);
    TRY(krein__poll(ctx));
    TRY(krein__kernel_pcg_hold(s, NULL, -1));
    *out = s;
    s = NULL;
done:
    krein__kernel_pcg_destroy(s);
    return st;
}

void krein__kernel_pcg_destroy(krein_kernel_pcg *s) {
    if (!s) return;
    void *all[] = {s->B,   s->tail, s->G,    s->all,  s->block, s->tiles,  s->factor,
                   s->p,   s->q,    s->r,    s->z,    s->Mu,    s->small,  s->scaled,
                   s->v32, s->part, s->room, s->sums, s->bands, s->lanes64};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(s->ctx, all[i]);
    krein__frame_clear(s->ctx, &s->f);
    krein__free(s->ctx, s);
}

void krein__kernel_pcg_targets(krein_kernel_pcg *s, const krein_targets *rows) { s->rows = *rows; }

krein_status krein__kernel_pcg_hold(krein_kernel_pcg *s, const int32_t *fold, int64_t f) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->m;
    krein_targets rows = s->rows;
    double *weight = NULL;
    krein__frame_clear(ctx, &s->f);
    NEW(weight, s->n);
    for (int64_t i = 0; i < s->n; i++) weight[i] = f >= 0 && fold[i] == f ? 0 : weight_of(s, i);
    rows.weight = weight;
    TRY(krein__frame_targets(ctx, &rows, true, &s->f));
    double fitted = 0, tail = 0;
    for (int64_t i = 0; i < s->n; i++) {
        fitted += weight[i] > 0;
        tail += weight[i] * s->tail[i];
    }
    s->mean_tail = fitted > 0 ? tail / fitted : 0;
    /* krein__syrk_add only adds: -G = -all + held. */
    for (int64_t e = 0; e < m * m; e++) s->G[e] = f >= 0 ? -s->all[e] : s->all[e];
    if (f >= 0) {
        add_products(s, fold, f, s->G);
        for (int64_t e = 0; e < m * m; e++) s->G[e] = -s->G[e];
    }
    TRY(krein__poll(ctx));
done:
    krein__free(ctx, weight);
    return st;
}

/* q = (PSKSP + shift I) p */
static void multiply(krein_kernel_pcg *s, const double *lambda, int64_t c) {
    int64_t n = s->n, k = s->rows.k;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) s->scaled[i * c + j] = s->f.root[i] * s->p[i * c + j];
    krein__half_multiply(s->K, c, s->scaled, s->q, s->room);
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) s->q[i * c + j] *= s->f.root[i];
    krein__frame_project(n, c, s->f.u, s->q);
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            s->q[i * c + j] += shift_of(s, lambda[j / k]) * s->p[i * c + j];
}

/* |r| / |PSy| of the worst column; whole (k): |PSy|^2. left: room for a number a column. */
static double worst(const krein_kernel_pcg *s, const krein_tall *t, const double *whole,
                    double *left) {
    double most = 0;
    krein__tall_dots(t, false, s->r, s->r, left);
    for (int64_t j = 0; j < t->c; j++) {
        if (isnan(left[j])) return INFINITY;
        if (whole[j % t->k] > 0) most = fmax(most, sqrt(left[j] / whole[j % t->k]));
    }
    return most;
}

/* The small matrices of a step, for each block of columns: P'Q, P'R or Q'Z, what solves them. */
typedef struct step {
    double *PQ, *right, *coef, *room, *column;
} step;

static krein_status step_begin(krein_ctx *ctx, const krein_tall *t, step *o) {
    krein_status st = KREIN_OK;
    int64_t size = t->c * t->wide;
    NEW(o->PQ, 5 * size + 3 * t->c);
    o->right = o->PQ + size;
    o->coef = o->right + size;
    o->room = o->coef + size; /* two */
    o->column = o->room + 2 * size;
done:
    return st;
}

/* Steps from a = 0. */
static krein_status iterate(krein_kernel_pcg *s, const krein_tall *t, int64_t lambdas,
                            const double *lambda, const krein_pcg_limits *o, double *a,
                            krein_pcg_result *out) {
    krein_status st = KREIN_OK;
    int64_t n = t->n, k = t->k, c = t->c;
    step m = {0};
    TRY(step_begin(s->ctx, t, &m));
    krein_tall outputs = *t;
    outputs.c = k;
    double *whole = m.column + 2 * c;
    krein__tall_dots(&outputs, false, s->f.y, s->f.y, whole);
    memset(a, 0, (size_t)(n * c) * sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) s->r[i * c + j] = s->f.y[i * k + j % k];
    TRY(precondition(s, t, lambdas, lambda, m.column));
    TRY(krein__tall_orthonormal(t, s->z, m.room, s->p));
    out->residual = worst(s, t, whole, m.column);
    while (out->residual > o->tol && out->iterations < o->iterations && !krein__late(o->deadline)) {
        multiply(s, lambda, c);
        krein__tall_cross(t, s->p, s->q, m.PQ);
        krein__tall_cross(t, s->p, s->r, m.right);
        TRY(krein__tall_solve(t, m.PQ, m.right, m.room, m.coef));
        krein__tall_combine(t, 1, s->p, m.coef, 1, a);
        krein__tall_combine(t, -1, s->q, m.coef, 1, s->r);
        TRY(precondition(s, t, lambdas, lambda, m.column));
        krein__tall_cross(t, s->q, s->z, m.right);
        TRY(krein__tall_solve(t, m.PQ, m.right, m.room, m.coef));
        krein__tall_combine(t, -1, s->p, m.coef, 1, s->z);
        TRY(krein__tall_orthonormal(t, s->z, m.room, s->p));
        out->iterations++;
        out->residual = worst(s, t, whole, m.column);
        krein__progress(s->ctx, o->what, (double)out->iterations, 0);
        TRY(krein__poll(s->ctx));
    }
    out->converged = out->residual <= o->tol;
done:
    krein__free(s->ctx, m.PQ);
    return st;
}

krein_status krein__kernel_pcg_solve(krein_kernel_pcg *s, int64_t lambdas, const double *lambda,
                                     const krein_pcg_limits *limits, double *alpha,
                                     double *intercept, double *fit, krein_pcg_result *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->n, k = s->rows.k, c = lambdas * k;
    krein_tall t = {ctx, n, c, k, krein__tall_wide(k), s->sums};
    *out = (krein_pcg_result){0};
    TRY(factor(s, lambdas, lambda));
    TRY(iterate(s, &t, lambdas, lambda, limits, alpha, out));
    krein__frame_project(n, c, s->f.u, alpha); /* rounding */
    for (int64_t e = 0; e < n * c; e++) alpha[e] *= s->f.root[e / c];
    krein__half_multiply(s->K, c, alpha, s->q, s->room);
    out->passes = out->iterations + 1;
    for (int64_t j = 0; j < c; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += s->f.root[i] * s->f.root[i] * s->q[i * c + j];
        intercept[j] = s->f.ymean[j % k] - sum / s->f.weight;
    }
    for (int64_t e = 0; fit && e < n * c; e++) fit[e] = s->q[e] + intercept[e % c];
done:
    return st;
}

double krein__kernel_pcg_bytes(int64_t n, int64_t m, int64_t lambdas, int64_t columns,
                               int threads) {
    double N = (double)n, M = (double)m, C = (double)columns, T = (double)krein__syrk_tile(m);
    double room = (double)krein__half_room(n, columns, threads);
    double lanes = (double)krein__lanes_size(m, columns), bands = (double)bands_of(n);
    double sums = (double)krein__tall_room(n, columns, krein__min(columns, KREIN_TALL_WIDE));
    return 4 * N * M + 8 * M * M * (2.5 + (double)lambdas) + 4 * ROWS * M + 4 * threads * T * T +
           8 * C * (7 * N + M + 5 * KREIN_TALL_WIDE + 3) + 8 * sums +
           4 * C * (N + threads * COLUMNS) + lanes * (4 * bands + 8) + 8 * room + 8 * N * (C + 9) +
           65536;
}

const krein_class krein__solver_kernel_pcg = {
    .name = "kernel_pcg",
    .summary = "ridge regression on a large kernel matrix by preconditioned conjugate gradients",
    .cite = "rudi2017b",
    .details = "Half of the kernel matrix in float32, above 32,000 rows in 16 bits, sums in "
               "float64; preconditioned by the Nystrom approximation of 1,000 to 1,500 rows "
               "through Cholesky factorisations. "
               "Used by krr with map=exact for many rows, or with solver=pcg."};
