/* manifold -- Laplacian regularised least squares by conjugate gradients (belkin2006)
 *
 *     min over g of  (y - g)'C(y - g) + lambda |g|^2 + mu g'Lg          M = C + mu L
 *
 * The intercept is gone: C = diag(c) - cc' is what is left of the loss at the best one.
 *
 * On features, g = Zw:  (Z'MZ + lambda I) w = Z'Cy, symmetric, by plain conjugate gradients. With
 * kernel values at landmarks Z is R T^-1 (precondition.h): products with R and triangles.
 *
 * On the kernel matrix, g = K alpha:  (lambda I + MK) alpha = Cy, which is not symmetric. It is
 * self-adjoint in u'Kv, and there a preconditioner would have to be too: one of Nystrom
 * approximations is not. With M = FF' (labels and edges are the columns of F) and e with Fe = Cy
 * it is, for alpha = F delta,
 *     (lambda I + F'KF) delta = e
 * symmetric, with the same eigenvalues but for zeros, and with the preconditioner
 *     (lambda I + F'BB'F)^-1 = (I - F'B (lambda I + B'MB)^-1 B'F) / lambda,      K ~ BB'
 * All vectors that occur are c e + F'gamma: they are kept as (gamma, c), n + 1 numbers, and inner
 * products are those of
 *     F v = c Cy + M gamma,   e'v = c y'Cy + (Cy)'gamma
 * so that F is never made. A step is one product with K, two with M and two with B. (The form in
 * u'Kv takes as many steps; the factor that F is does not matter.) Residuals are |r| / sqrt(y'Cy):
 * predictions are off by no more than that share of the labels' deviation, measured by M; on
 * features |r| / (2 sqrt(lambda)) bounds the same.
 *
 * Sums of products with float32 features are in float64, so that both forms and the closed form
 * agree to many digits. Cost: a step 2 n^2 flops on the kernel matrix, 4 n D on features, and 4 |E|
 * for the graph, each for every column. */
#include "solve/manifold.h"

#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { TILE = 64, COLUMNS = 256, ROWS = 4096 };

/* ---- the form ----------------------------------------------------------- */

krein_status krein__manifold_begin(krein_ctx *ctx, bool intercept, int64_t nodes, int64_t rows,
                                   int64_t k, const double *y, const double *weight,
                                   const int32_t *node, krein_manifold *f) {
    krein_status st = KREIN_OK;
    double sum = 0;
    *f = (krein_manifold){.ctx = ctx, .intercept = intercept, .n = nodes, .k = k};
    ZNEW(f->share, nodes);
    ZNEW(f->y, nodes * k);
    NEW(f->Cy, nodes * k);
    ZNEW(f->square, k);
    for (int64_t i = 0; i < rows; i++) {
        double w = weight ? weight[i] : 1;
        f->share[node[i]] += w;
        sum += w;
        for (int64_t j = 0; j < k; j++) f->y[node[i] * k + j] += w * y[i * k + j];
    }
    if (!(sum > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t i = 0; i < nodes; i++) {
        for (int64_t j = 0; f->share[i] > 0 && j < k; j++) f->y[i * k + j] /= f->share[i];
        f->share[i] /= sum;
    }
    krein__manifold_apply(f, f->y, f->Cy);
    for (int64_t i = 0; i < nodes; i++)
        for (int64_t j = 0; j < k; j++) f->square[j] += f->y[i * k + j] * f->Cy[i * k + j];
done:
    return st;
}

void krein__manifold_end(krein_manifold *f) {
    if (!f->ctx) return;
    void *all[] = {f->share, f->y, f->Cy, f->square};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(f->ctx, all[i]);
    memset(f, 0, sizeof *f);
}

void krein__manifold_apply(const krein_manifold *f, const double *v, double *out) {
    int64_t n = f->n, k = f->k;
    double mean[64];
    if (f->laplacian && f->mu > 0) {
        krein__laplacian_apply(f->laplacian, k, v, out);
        for (int64_t e = 0; e < n * k; e++) out[e] *= f->mu;
    } else {
        memset(out, 0, (size_t)(n * k) * sizeof *out);
    }
    for (int64_t from = 0; from < k; from += KREIN__COUNT(mean)) {
        int64_t some = krein__min(KREIN__COUNT(mean), k - from);
        memset(mean, 0, sizeof mean);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; f->intercept && f->share[i] > 0 && j < some; j++)
                mean[j] += f->share[i] * v[i * k + from + j];
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; f->share[i] > 0 && j < some; j++)
                out[i * k + from + j] += f->share[i] * (v[i * k + from + j] - mean[j]);
    }
}

void krein__manifold_intercept(const krein_manifold *f, const double *g, double *b) {
    int64_t k = f->k;
    for (int64_t j = 0; j < k; j++) {
        b[j] = 0;
        for (int64_t i = 0; f->intercept && i < f->n; i++)
            b[j] += f->share[i] * (f->y[i * k + j] - g[i * k + j]);
    }
}

/* ---- products with features --------------------------------------------- */

static void widen(int64_t rows, int64_t wide, const float *from, int64_t ld, double *to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < wide; j++) to[i * wide + j] = (double)from[i * ld + j];
}

/* C (m x c) = op(A) v + beta C */
static void times(bool transposed, int64_t m, int64_t n, int64_t c, const double *a, int64_t ld,
                  const double *v, double beta, double *out) {
    if (c == 1)
        krein__dgemv(transposed, transposed ? n : m, transposed ? m : n, 1, a, ld, v, 1, beta, out);
    else
        krein__dgemm(transposed, false, m, c, n, 1, a, ld, v, c, beta, out, c);
}

krein_status krein__nodes_times(krein_features *z, int64_t k, const double *v, double *out) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    int64_t D = z->D, n;
    double *room = NULL;
    const float *block;
    NEW(room, ctx->threads * TILE * D);
    for (int64_t b = 0; b < z->blocks; b++) {
        TRY(krein__features_block(z, b, &block, &n));
        int64_t tiles = (n + TILE - 1) / TILE;
        double *to = out + b * z->rows * k;
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            krein__worker_begin();
            int64_t rows = krein__min(TILE, n - t * TILE);
            double *mine = room + omp_get_thread_num() * TILE * D;
            widen(rows, D, block + t * TILE * D, D, mine);
            times(false, rows, D, k, mine, D, v, 0, to + t * TILE * k);
            krein__worker_end(c);
        }
        krein__compute_end(c);
    }
done:
    krein__free(ctx, room);
    return st;
}

krein_status krein__nodes_transposed(krein_features *z, int64_t k, const double *v, double *out) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    int64_t D = z->D, n, tiles = (D + COLUMNS - 1) / COLUMNS;
    double *room = NULL;
    const float *block;
    NEW(room, ctx->threads * TILE * COLUMNS);
    memset(out, 0, (size_t)(D * k) * sizeof *out);
    for (int64_t b = 0; b < z->blocks; b++) {
        TRY(krein__features_block(z, b, &block, &n));
        const double *from = v + b * z->rows * k;
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            krein__worker_begin();
            int64_t first = t * COLUMNS, wide = krein__min(COLUMNS, D - first);
            double *mine = room + omp_get_thread_num() * TILE * COLUMNS;
            for (int64_t i = 0; i < n; i += TILE) {
                int64_t rows = krein__min(TILE, n - i);
                widen(rows, wide, block + i * D + first, D, mine);
                times(true, wide, rows, k, mine, wide, from + i * k, 1, out + first * k);
            }
            krein__worker_end(c);
        }
        krein__compute_end(c);
    }
done:
    krein__free(ctx, room);
    return st;
}

/* ---- Z'CZ and Z'LZ ------------------------------------------------------ */

double krein__manifold_gram_bytes(int64_t n, int64_t D, int threads) {
    double N = (double)n, T = (double)krein__syrk_tile(D);
    return N * TILE * 20 + 4.0 * ROWS * (double)D + 4 * threads * (T * T + COLUMNS * TILE) +
           24 * (double)D + 4096;
}

static void mirror(int64_t D, double *G) {
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < i; j++) G[i * D + j] = G[j * D + i];
}

krein_status krein__manifold_labels_gram(const krein_manifold *f, int64_t D, const float *Z,
                                         double *G) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t count = 0, T = krein__syrk_tile(D);
    float *block = NULL, *tiles = NULL;
    double *mean = NULL;
    NEW(block, ROWS * D);
    NEW(tiles, ctx->threads * T * T);
    ZNEW(mean, D);
    memset(G, 0, (size_t)(D * D) * sizeof *G);
    for (int64_t i = 0; i < f->n; i++) /* first the mean: rows less it keep their digits */
        for (int64_t j = 0; f->intercept && f->share[i] > 0 && j < D; j++)
            mean[j] += f->share[i] * (double)Z[i * D + j];
    for (int64_t i = 0; i < f->n; i++) {
        double root = sqrt(f->share[i]);
        if (root > 0) {
            for (int64_t j = 0; j < D; j++)
                block[count * D + j] = (float)(root * ((double)Z[i * D + j] - mean[j]));
            count++;
        }
        if (count == ROWS || (i == f->n - 1 && count > 0)) {
            krein__syrk_add(ctx, D, count, block, D, G, D, tiles);
            TRY(krein__poll(ctx));
            count = 0;
        }
    }
    mirror(D, G);
done:
    krein__free(ctx, block);
    krein__free(ctx, tiles);
    krein__free(ctx, mean);
    return st;
}

/* Columns first .. first + wide - 1 of Z'LZ, from LZ (n x wide). */
static void add_strip(krein_ctx *ctx, int64_t n, int64_t D, const float *Z, int64_t first,
                      int64_t wide, const float *LZ, float *room, double *G) {
    int64_t tiles = (first + wide + COLUMNS - 1) / COLUMNS; /* up to the diagonal */
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t top = t * COLUMNS, high = krein__min(COLUMNS, first + wide - top);
        float *part = room + omp_get_thread_num() * COLUMNS * TILE;
        for (int64_t i = 0; i < high; i++)
            memset(G + (top + i) * D + first, 0, (size_t)wide * sizeof *G);
        for (int64_t i = 0; i < n; i += ROWS) {
            krein__sgemm(true, false, high, wide, krein__min(ROWS, n - i), 1, Z + i * D + top, D,
                         LZ + i * wide, wide, 0, part, wide);
            for (int64_t a = 0; a < high; a++)
                for (int64_t b = 0; b < wide; b++)
                    G[(top + a) * D + first + b] += (double)part[a * wide + b];
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

krein_status krein__manifold_laplacian_gram(krein_ctx *ctx, const krein_laplacian *l, int64_t D,
                                            const float *Z, double *G) {
    krein_status st = KREIN_OK;
    int64_t n = l->g->n;
    double *strip = NULL, *product = NULL;
    float *narrow = NULL, *room = NULL;
    NEW(strip, n * TILE);
    NEW(product, n * TILE);
    NEW(narrow, n * TILE);
    NEW(room, ctx->threads * COLUMNS * TILE);
    for (int64_t first = 0; first < D; first += TILE) {
        int64_t wide = krein__min(TILE, D - first);
        widen(n, wide, Z + first, D, strip);
        krein__laplacian_apply(l, wide, strip, product);
        for (int64_t e = 0; e < n * wide; e++) narrow[e] = (float)product[e];
        add_strip(ctx, n, D, Z, first, wide, narrow, room, G);
        krein__progress(ctx, "graph and features", (double)(first + wide), (double)D);
        TRY(krein__poll(ctx));
    }
    mirror(D, G);
done:
    krein__free(ctx, strip);
    krein__free(ctx, product);
    krein__free(ctx, narrow);
    krein__free(ctx, room);
    return st;
}

krein_status krein__manifold_factor(krein_ctx *ctx, int64_t m, const double *GC, const double *GL,
                                    double lambda, double mu, double *out) {
    krein_status st;
    double trace = 0;
    for (int64_t i = 0; i < m; i++) trace += GC[i * m + i] + (GL ? mu * GL[i * m + i] : 0);
    for (double more = 0;; more = fmax(10 * more, 1e-9 * trace / (double)m)) {
        for (int64_t e = 0; e < m * m; e++) out[e] = GC[e] + (GL ? mu * GL[e] : 0);
        for (int64_t i = 0; i < m; i++) out[i * m + i] += lambda + more;
        st = krein__cholesky(ctx, m, out, m, NULL);
        if (st != KREIN_ENUMERIC || more > trace) return st;
    }
}

double krein__manifold_rounding(int64_t m, const double *GC, const double *GL, double mu) {
    double sum = 0;
    for (int64_t e = 0; e < m * m; e++) sum += pow(GC[e] + (GL ? mu * GL[e] : 0), 2);
    return 4 * FLT_EPSILON * sqrt(sum);
}

/* ---- on features -------------------------------------------------------- */

typedef struct on_features {
    const krein_manifold *f;
    krein_features *z;
    const krein_basis *basis;
    const double *factor;
    double lambda;
    double *g, *Mg, *turned; /* n x k twice; k x D */
} on_features;

/* v (D x k) in or out of the coordinates of the basis, to `out`. */
static void turn(const on_features *s, bool to_raw, const double *v, double *out) {
    int64_t D = s->z->D, k = s->f->k;
    if (!s->basis) {
        if (out != v) memcpy(out, v, (size_t)(D * k) * sizeof *out);
        return;
    }
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < k; j++) s->turned[j * D + i] = v[i * k + j];
    if (to_raw)
        krein__basis_to_raw(s->basis, k, s->turned);
    else
        krein__basis_from_raw(s->basis, k, s->turned);
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < k; j++) out[i * k + j] = s->turned[j * D + i];
}

static krein_status features_apply(void *state, const double *p, const double *Gp, double *out) {
    on_features *s = state;
    krein_status st = KREIN_OK;
    int64_t size = s->z->D * s->f->k;
    (void)Gp;
    turn(s, true, p, out);
    TRY(krein__nodes_times(s->z, s->f->k, out, s->g));
    krein__manifold_apply(s->f, s->g, s->Mg);
    TRY(krein__nodes_transposed(s->z, s->f->k, s->Mg, out));
    turn(s, false, out, out);
    for (int64_t e = 0; e < size; e++) out[e] += s->lambda * p[e];
done:
    return st;
}

static krein_status features_precondition(void *state, const double *r, const double *Gr,
                                          double *out) {
    on_features *s = state;
    int64_t D = s->z->D, k = s->f->k;
    (void)Gr;
    memcpy(out, r, (size_t)(D * k) * sizeof *out);
    return krein__cholesky_solve(s->f->ctx, D, s->factor, D, k, out, k);
}

krein_status krein__manifold_features_cg(const krein_manifold *f, krein_features *z,
                                         const krein_basis *basis, const double *factor,
                                         double lambda, const krein_pcg_limits *limits, double *w,
                                         double *intercept, krein_cg_result *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    on_features s = {f, z, basis, factor, lambda, NULL, NULL, NULL};
    double *r = NULL, *unit = NULL;
    NEW(s.g, f->n * f->k);
    NEW(s.Mg, f->n * f->k);
    NEW(s.turned, z->D * f->k);
    NEW(r, z->D * f->k);
    NEW(unit, f->k);
    for (int64_t j = 0; j < f->k; j++) unit[j] = 2 * sqrt(lambda * fmax(f->square[j], 0));
    memset(w, 0, (size_t)(z->D * f->k) * sizeof *w);
    TRY(krein__nodes_transposed(z, f->k, f->Cy, r));
    turn(&s, false, r, r);
    krein_cg cg = {.ctx = ctx,
                   .n = z->D,
                   .k = f->k,
                   .state = &s,
                   .apply = features_apply,
                   .precondition = factor ? features_precondition : NULL,
                   .unit = unit};
    TRY(krein__cg(&cg, limits, w, r, out));
    turn(&s, true, w, r);
    TRY(krein__nodes_times(z, f->k, r, s.g));
    krein__manifold_intercept(f, s.g, intercept);
done:
    krein__free(ctx, s.g);
    krein__free(ctx, s.Mg);
    krein__free(ctx, s.turned);
    krein__free(ctx, r);
    krein__free(ctx, unit);
    return st;
}

/* ---- on the kernel matrix ----------------------------------------------- */

typedef struct on_kernel {
    const krein_manifold *f;
    krein_kernel_product *K;
    const krein_nystrom *nystrom;
    const double *factor;
    double lambda;
    double *small; /* m x k */
} on_kernel;

/* Row n is c: see the top. */
static void kernel_weigh(void *state, const double *v, double *out) {
    const krein_manifold *f = ((const on_kernel *)state)->f;
    int64_t n = f->n, k = f->k;
    const double *c = v + n * k;
    double *ev = out + n * k;
    krein__manifold_apply(f, v, out);
    for (int64_t j = 0; j < k; j++) ev[j] = c[j] * f->square[j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; f->share[i] > 0 && j < k; j++) {
            out[i * k + j] += c[j] * f->Cy[i * k + j];
            ev[j] += f->Cy[i * k + j] * v[i * k + j];
        }
}

static krein_status kernel_apply(void *state, const double *p, const double *Gp, double *out) {
    on_kernel *s = state;
    krein_status st = krein__kernel_product(s->K, Gp, out);
    int64_t n = s->f->n, k = s->f->k;
    for (int64_t e = 0; e < n * k; e++) out[e] += s->lambda * p[e];
    for (int64_t e = n * k; e < (n + 1) * k; e++) out[e] = s->lambda * p[e];
    return st;
}

static krein_status kernel_precondition(void *state, const double *r, const double *Gr,
                                        double *out) {
    on_kernel *s = state;
    krein_status st = KREIN_OK;
    krein_features z = s->nystrom->z;
    int64_t n = s->f->n, k = s->f->k, m = s->nystrom->m;
    TRY(krein__nodes_transposed(&z, k, Gr, s->small));
    TRY(krein__cholesky_solve(s->f->ctx, m, s->factor, m, k, s->small, k));
    TRY(krein__nodes_times(&z, k, s->small, out));
    for (int64_t e = 0; e < n * k; e++) out[e] = (r[e] - out[e]) / s->lambda;
    for (int64_t e = n * k; e < (n + 1) * k; e++) out[e] = r[e] / s->lambda;
done:
    return st;
}

krein_status krein__manifold_kernel_cg(const krein_manifold *f, krein_kernel_product *K,
                                       const krein_nystrom *nystrom, const double *factor,
                                       double lambda, const krein_pcg_limits *limits, double *alpha,
                                       double *intercept, krein_cg_result *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n, k = f->k, size = (n + 1) * k;
    on_kernel s = {f, K, nystrom, factor, lambda, NULL};
    double *x = NULL, *r = NULL, *unit = NULL;
    ZNEW(x, size);
    ZNEW(r, size);
    NEW(unit, k);
    if (factor) NEW(s.small, nystrom->m * k);
    for (int64_t j = 0; j < k; j++) {
        unit[j] = sqrt(fmax(f->square[j], 0));
        r[n * k + j] = 1;
    }
    krein_cg cg = {.ctx = ctx,
                   .n = n + 1,
                   .k = k,
                   .state = &s,
                   .apply = kernel_apply,
                   .weigh = kernel_weigh,
                   .precondition = factor ? kernel_precondition : NULL,
                   .unit = unit};
    TRY(krein__cg(&cg, limits, x, r, out));
    kernel_weigh(&s, x, r);
    memcpy(alpha, r, (size_t)(n * k) * sizeof *alpha);
    TRY(krein__kernel_product(K, alpha, r));
    krein__manifold_intercept(f, r, intercept);
done:
    krein__free(ctx, x);
    krein__free(ctx, r);
    krein__free(ctx, unit);
    krein__free(ctx, s.small);
    return st;
}
