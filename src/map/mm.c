/* mm -- moment matching
 *     z(x) = [cos(w_f'x), sin(w_f'x)]_f / sqrt(F) with frequencies whose mean and covariance are
 *     those of the law exactly: G <- (G - mean) L^-T, L L' = (G - mean)'(G - mean) / F  (shen2017)
 * G are the normals of a mixture of Gaussians, w_f = mixture(u_f) g_f, or the frequencies
 * themselves, divided by their standard deviation, where coordinates are independent. Needs more
 * frequencies than columns. Biased O(1/F) with a small part of the variance of rff at short
 * distances: d = 16, F = 64: bias -.0024, variance ratio .07 at one bandwidth.
 * Cost: O(d D) a row, O(D d^2 + d^3) once. The matched frequencies are stored in the model.
 */
#include "map/fourier.h"

#include "map/draw.h"
#include "num/blas.h"

#include <math.h>

enum { PIECE = 16384 }; /* frequencies between two polls */

static bool has_moments(const krein_kernel_class *c) { return c->mixture || c->quantile; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    const char *what = "stationary kernels whose spectral law has a finite variance";
    krein_term terms[KREIN_TERMS_MAX];
    int64_t n;
    krein_status st = krein__fourier_accepts(ctx, kernel, "mm", has_moments, what);
    if (st == KREIN_OK) st = krein__kernel_terms(ctx, kernel, terms, &n);
    for (int64_t t = 0; st == KREIN_OK && t < n; t++)
        for (int64_t l = 0; l < terms[t].n; l++) {
            const krein_kernel *leaf = terms[t].leaf[l];
            if (leaf->kernel->mixture || !leaf->kernel->second_moment) continue;
            if (!leaf->kernel->second_moment(leaf->values.number))
                return krein__map_refuse(ctx, kernel, "mm", what);
        }
    return st;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    double d = (double)map->d, F = (double)map->D / 2;
    krein__fourier_cost(map, false, KREIN_DRAWN_TOGETHER, out);
    out->bytes += 8 * d * F + 24 * d * d + 8 * d + 65536;
    out->fit_flops += 2 * F * d * d + d * d * d;
}

/* The standard deviation of one coordinate, from its quantiles. */
static double deviation(const krein_kernel *leaf) {
    enum { NODES = 1 << 16 };
    double sum = 0;
    for (int k = 0; k < NODES; k++) {
        double q = leaf->kernel->quantile(leaf->values.number, (k + 0.5) / NODES);
        sum += q * q / NODES;
    }
    return sqrt(sum);
}

/* G (F x d) to mean 0 and covariance I. */
static krein_status match(krein_ctx *ctx, int64_t F, int64_t d, double *G) {
    krein_status st = KREIN_OK;
    double *C = NULL;
    int64_t pivot;
    NEW(C, d * d);
    for (int64_t j = 0; j < d; j++) {
        double mean = 0;
        for (int64_t f = 0; f < F; f++) mean += G[f * d + j] / (double)F;
        for (int64_t f = 0; f < F; f++) G[f * d + j] -= mean;
        TRY(krein__poll(ctx));
    }
    krein__pgemm(ctx, true, false, d, d, F, 1 / (double)F, G, d, G, d, 0, C, d);
    st = krein__cholesky(ctx, d, C, d, &pivot);
    if (st == KREIN_ENUMERIC) /* few draws of a discrete law */
        st = krein__fail(ctx, KREIN_ESPEC,
                         "mm: the %lld frequencies that were drawn do not span the %lld columns; "
                         "raise D, or use rff",
                         (long long)F, (long long)d);
    if (st != KREIN_OK) goto done;
    /* C = U'U: the rows g become g U^-1, one right-hand side U' y = g each. */
    for (int64_t from = 0; from < F; from += PIECE) {
        int64_t end = krein__min(F, from + PIECE);
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t f = from; f < end; f++) {
            krein__worker_begin();
            krein__dtrsm(true, d, 1, C, d, G + f * d, 1);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, C);
    return st;
}

/* Frequencies of variance one, before they are matched. */
static krein_status draw_standard(krein_ctx *ctx, const krein_kernel *leaf, krein_rng g, int64_t n,
                                  int64_t d, double sd, double *G) {
    krein_status st = KREIN_OK;
    if (leaf->kernel->mixture) return krein__normal_rows(ctx, g, 0, n, d, G);
    for (int64_t from = 0; from < n && st == KREIN_OK; from += PIECE) {
        int64_t end = krein__min(n, from + PIECE);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t f = from; f < end; f++)
            for (int64_t j = 0; j < d; j++) {
                double u = krein__rng_uniform(g, (uint64_t)f, (uint64_t)j);
                G[f * d + j] = leaf->kernel->quantile(leaf->values.number, u) / sd;
            }
        st = krein__poll(ctx);
    }
    return st;
}

static krein_status draw(krein_map *map, const krein_kernel *leaf, krein_rng g, int64_t first,
                         int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_kernel_class *c = leaf->kernel;
    const double *p = leaf->values.number;
    int64_t d = map->d;
    double *G = NULL, sd = c->mixture ? 1 : deviation(leaf);
    (void)first; /* all of them */
    if (n <= d) {
        st = krein__fail(
            ctx, KREIN_ESPEC,
            "mm needs more frequencies than the %lld columns, got %lld a term; raise D, "
            "or use orf",
            (long long)d, (long long)n);
        goto done;
    }
    NEW(G, n * d);
    TRY(draw_standard(ctx, leaf, g, n, d, sd, G));
    TRY(match(ctx, n, d, G));
    krein_rng scales = krein__role(g, 1);
    for (int64_t f = 0; f < n; f++) {
        double scale = c->mixture ? c->mixture(p, krein__rng_uniform(scales, (uint64_t)f, 0)) : sd;
        for (int64_t j = 0; j < d; j++) w[f * d + j] += scale * G[f * d + j];
    }
done:
    krein__free(ctx, G);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, false, KREIN_DRAWN_TOGETHER, draw);
}

static const krein_option options[] = {
    KREIN_OPTION_D_AS("number of features, more than twice the columns"), {0}};

const krein_map_class krein__map_mm = {
    .cls = {"mm", "moment matching features", "shen2017", options,
            "Random frequencies transformed so that their mean and covariance are exact. Much less "
            "variance than rff at short distances, a bias of O(1/D). For stationary kernels whose "
            "spectral law has a finite variance (not laplacian), with D above twice the columns."},
    .kernels = "stationary",
    .time = "n d D + D d^2",
    .traits = 0,
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__fourier_io,
    .clear = krein__fourier_clear};
