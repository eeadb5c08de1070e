/* agop.c -- gradients of a kernel predictor at some of its own rows, and their second moments
 *
 * Radial kernels, W_il = phi'(r)/r, of output c at row i:
 *     g_ic = sum_l alpha_lc W_il (u_i - u_l) = (W alpha_c)_i u_i - sum_l W_il alpha_lc u_l
 * which is one matrix product for all outputs. Products over the columns:
 *     g_icj = sum_l alpha_lc K_il P_ijl,    P_ijl = d log k(u_i, u_l) / du_ij
 * where P is made for a row and some columns at a time, in cache.
 *
 * All in float64: a fit that nearly interpolates has large coefficients of both signs, and the
 * gradient is what is left of them. Rows are independent, and sums over them are taken in their
 * order: the same bits for any number of threads.                        (radhakrishnan2024)
 */
#include "select/agop.h"

#include "kernel/gram.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    COLUMNS = 32,   /* of P at a time */
    GRADIENTS = 32, /* megabytes of gradients at a time: of so many outputs as fit */
};

typedef struct work {
    krein_ctx *ctx;
    const krein_kernel *leaf;
    double factor;            /* the number before the base kernel */
    int64_t n, m, d, q, most; /* rows, those of them with gradients; most: outputs at a time */
    const double *alpha;
    double *U;            /* n x d; for products over the columns d x n */
    double *W;            /* m x n: W, or K */
    double *square, *sum; /* radial: |u_i|^2; W alpha, m x q */
    double *B; /* radial: n x most x d, alpha_lc u_l; else threads x (most + COLUMNS) x n */
    double *G; /* m x most x d */
} work;

/* ---- set-up ------------------------------------------------------------- */

static krein_status check(krein_ctx *ctx, const krein_kernel *k, const krein_rows *u, work *w) {
    const krein_option *o;
    w->factor = 1;
    for (; k->node == KREIN_NODE_SCALE; k = k->left) w->factor *= k->number;
    if (k->node != KREIN_NODE_LEAF)
        return krein__fail(ctx, KREIN_ESPEC,
                           "a metric is learned with one base kernel, not with a sum or a product "
                           "of kernels");
    if (!k->kernel->slope && !k->kernel->partial)
        return krein__fail(ctx, KREIN_ESPEC,
                           "a metric cannot be learned with the kernel %s; try exponential, "
                           "laplacian or gaussian",
                           k->kernel->cls.name);
    o = k->kernel->cls.options;
    for (int64_t j = 0; o && o[j].name; j++)
        if (o[j].type == KREIN_OPTION_NUMBER && isnan(k->values.number[j]))
            return krein__fail(ctx, KREIN_ESPEC, "the gradient of %s needs a value of %s",
                               k->kernel->cls.name, o[j].name);
    if (krein__rows_sparse(u))
        return krein__fail(ctx, KREIN_ESPEC, "a metric is learned from dense rows");
    w->leaf = k;
    return KREIN_OK;
}

/* Slopes from inner products. A distance below the rounding of the difference of squares has no
 * direction: it is that of a row to itself, or to a duplicate. */
static void slopes(const work *w) {
    const double equal = 1e-14, *square = w->square;
    int64_t n = w->n;
    krein_compute mode = krein__compute_begin();
#pragma omp parallel num_threads(w->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < w->m; i++) {
            double *row = w->W + i * n;
            for (int64_t l = 0; l < n; l++) {
                double both = square[i] + square[l], r2 = both - 2 * row[l];
                row[l] = r2 > equal * both ? sqrt(r2) : 0;
            }
            w->leaf->kernel->slope(w->leaf->values.number, n, row);
            row[i] = 0;
        }
        krein__worker_end(mode);
    }
    krein__compute_end(mode);
}

static krein_status begin_radial(work *w, const krein_rows *u) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n, d = w->d, q = w->q;
    NEW(w->square, n);
    NEW(w->sum, w->m * q);
    NEW(w->B, n * w->most * d);
    for (int64_t i = 0; i < n; i++) {
        double *row = w->U + i * d;
        krein__row_copy_double(u, i, row);
        w->square[i] = krein__ddot(d, row, row);
    }
    krein__pgemm(ctx, false, true, w->m, n, d, 1, w->U, d, w->U, d, 0, w->W, n);
    slopes(w);
    krein__pgemm(ctx, false, false, w->m, q, n, 1, w->W, n, w->alpha, q, 0, w->sum, q);
done:
    return st;
}

static krein_status begin_product(work *w, const krein_rows *u) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    NEW(w->B, ctx->threads * (w->most + COLUMNS) * w->n);
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < w->d; j++) w->U[j * w->n + i] = (double)u->x[i * u->ld + j];
    krein_rows some = krein__rows_slice(u, 0, w->m);
    TRY(krein__gram_full(ctx, w->leaf, &some, u, w->W));
done:
    return st;
}

static void end(work *w) {
    double *all[] = {w->U, w->W, w->square, w->sum, w->B, w->G};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(w->ctx, all[k]);
}

static int64_t outputs_at_a_time(int64_t n, int64_t d, int64_t q) {
    return krein__max(1, krein__min(q, ((int64_t)GRADIENTS << 20) / 8 / (n * d)));
}

double krein__agop_bytes(int64_t n, int64_t d, int64_t q, int threads) {
    double rows = (double)n, most = (double)outputs_at_a_time(n, d, q), wide = (double)d;
    double own = threads * (most + COLUMNS) * rows, radial = rows * (most * wide + (double)q + 1);
    double gram = threads * (double)KREIN_TILE * (wide + 2 * rows) + rows * (wide + 1);
    return 8 * (rows * (rows + wide * (1 + most)) + fmax(own + gram, radial)) + 16384;
}

static krein_status begin(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *u,
                          int64_t m, int64_t q, const double *alpha, work *w) {
    krein_status st = KREIN_OK;
    *w = (work){.ctx = ctx, .n = u->n, .m = m, .d = u->d, .q = q, .alpha = alpha};
    TRY(check(ctx, kernel, u, w));
    w->most = outputs_at_a_time(w->n, w->d, q);
    NEW(w->U, w->n * w->d);
    NEW(w->W, m * w->n);
    NEW(w->G, m * w->most * w->d);
    TRY(w->leaf->kernel->slope ? begin_radial(w, u) : begin_product(w, u));
done:
    if (st != KREIN_OK) end(w);
    return st;
}

/* ---- gradients ---------------------------------------------------------- */

/* Of `count` outputs from `first`, by u, into G (m x count x d). */
static void gradients_radial(const work *w, int64_t first, int64_t count) {
    int64_t n = w->n, d = w->d, q = w->q, wide = count * d;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < count; c++) {
            double alpha = w->alpha[i * q + first + c];
            const double *u = w->U + i * d;
            double *b = w->B + i * wide + c * d, *g = w->G + i * wide + c * d;
            for (int64_t j = 0; j < d; j++) b[j] = alpha * u[j];
            for (int64_t j = 0; j < d && i < w->m; j++) g[j] = w->sum[i * q + first + c] * u[j];
        }
    krein__pgemm(w->ctx, false, false, w->m, wide, n, -1, w->W, n, w->B, wide, 1, w->G, wide);
}

/* One row. b: count x n; P: COLUMNS x n. */
static void row_product(const work *w, int64_t i, int64_t first, int64_t count, double *b,
                        double *P) {
    int64_t n = w->n, d = w->d;
    const double *k = w->W + i * n;
    double *g = w->G + i * count * d;
    for (int64_t l = 0; l < n; l++)
        for (int64_t c = 0; c < count; c++) b[c * n + l] = k[l] * w->alpha[l * w->q + first + c];
    int64_t columns = count == 1 ? 1 : COLUMNS; /* one stays in the nearest cache */
    for (int64_t j = 0; j < d; j += columns) {
        int64_t m = krein__min(columns, d - j);
        for (int64_t t = 0; t < m; t++) {
            const double *u = w->U + (j + t) * n;
            w->leaf->kernel->partial(w->leaf->values.number, n, u[i], u, P + t * n);
        }
        if (count == 1)
            g[j] = krein__ddot(n, P, b);
        else
            krein__dgemm(false, true, count, m, n, 1, b, n, P, n, 0, g + j, d);
    }
}

static void gradients_product(const work *w, int64_t first, int64_t count) {
    krein_compute mode = krein__compute_begin();
#pragma omp parallel num_threads(w->ctx->threads)
    {
        krein__worker_begin();
        double *b = w->B + omp_get_thread_num() * (w->most + COLUMNS) * w->n;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < w->m; i++) row_product(w, i, first, count, b, b + w->most * w->n);
        krein__worker_end(mode);
    }
    krein__compute_end(mode);
}

static krein_status gradients(const work *w, int64_t first, int64_t *count) {
    *count = krein__min(w->most, w->q - first);
    if (w->leaf->kernel->slope)
        gradients_radial(w, first, *count);
    else
        gradients_product(w, first, *count);
    return krein__poll(w->ctx);
}

/* ---- second moments ----------------------------------------------------- */

krein_status krein__agop_diagonal(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *u,
                                  int64_t m, int64_t q, const double *alpha, const double *a,
                                  double *h) {
    krein_status st = KREIN_OK;
    work w;
    int64_t d = u->d, count;
    TRY(begin(ctx, kernel, u, m, q, alpha, &w));
    memset(h, 0, (size_t)d * sizeof *h);
    for (int64_t c = 0; c < q && st == KREIN_OK; c += count) {
        st = gradients(&w, c, &count);
        for (int64_t i = 0; i < m * count; i++)
            for (int64_t j = 0; j < d; j++) h[j] += w.G[i * d + j] * w.G[i * d + j];
    }
    for (int64_t j = 0; j < d; j++) h[j] *= w.factor * w.factor * (a ? a[j] * a[j] : 1) / (double)m;
    end(&w);
done:
    return st;
}

krein_status krein__agop_full(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *u,
                              int64_t m, int64_t q, const double *alpha, const double *A,
                              double *H) {
    krein_status st = KREIN_OK;
    work w;
    double *product = NULL;
    int64_t d = u->d, count;
    TRY(begin(ctx, kernel, u, m, q, alpha, &w));
    double scale = w.factor * w.factor / (double)m;
    memset(H, 0, (size_t)(d * d) * sizeof *H);
    for (int64_t c = 0; c < q && st == KREIN_OK; c += count) {
        st = gradients(&w, c, &count);
        krein__pgemm(ctx, true, false, d, d, m * count, scale, w.G, d, w.G, d, 1, H, d);
    }
    end(&w);
    if (st != KREIN_OK || !A) return st;
    NEW(product, d * d);
    krein__pgemm(ctx, false, false, d, d, d, 1, H, d, A, d, 0, product, d);
    krein__pgemm(ctx, true, false, d, d, d, 1, A, d, product, d, 0, H, d);
done:
    krein__free(ctx, product);
    return st;
}

/* ---- from moments to a metric ------------------------------------------- */

bool krein__metric_factors(int64_t d, const double *h, double power, double *a) {
    double mean = 0, sum = 0;
    for (int64_t j = 0; j < d; j++) mean += fmax(h[j], 0) / (double)d;
    if (!(mean > 0) || !isfinite(mean)) return false;
    for (int64_t j = 0; j < d; j++) {
        a[j] = pow(fmax(h[j], 0) / mean, power);
        sum += a[j];
    }
    for (int64_t j = 0; j < d; j++) a[j] = sqrt(a[j] * (double)d / sum);
    return true;
}

krein_status krein__metric_matrix(krein_ctx *ctx, int64_t d, const double *H, double power,
                                  double *A, bool *found) {
    krein_status st = KREIN_OK;
    double *V = NULL, *w = NULL, *root = NULL;
    NEW(V, d * d);
    NEW(w, d);
    NEW(root, d * d);
    memcpy(V, H, (size_t)(d * d) * sizeof *V);
    TRY(krein__eigen(ctx, d, V, d, w));
    *found = krein__metric_factors(d, w, power, w);
    if (!*found) goto done;
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k < d; k++) root[j * d + k] = w[j] * V[j * d + k];
    krein__pgemm(ctx, true, false, d, d, d, 1, V, d, root, d, 0, A, d);
done:
    krein__free(ctx, V);
    krein__free(ctx, w);
    krein__free(ctx, root);
    return st;
}
