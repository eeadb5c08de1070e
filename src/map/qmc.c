/* qmc -- quasi-Monte Carlo features
 *     z(x) = [cos(w_f'x), sin(w_f'x)]_f / sqrt(F),   w_f = the spectral law's quantiles at the f-th
 *     point of a low-discrepancy sequence in the unit cube (num/sequence.c)            (yang2014)
 * Kernels with independent coordinates take a coordinate of the point each; mixtures of Gaussians
 * take d of them for the normals and one more for the scale. A product of kernels takes further
 * coordinates. scramble=yes makes every point uniform (Halton: a random shift; Sobol: a random
 * linear scramble and digital shift), so the features are unbiased; without it they are the same
 * for every seed, and biased. At d = 16 and F = 64 Sobol halves the variance of rff at distances up
 * to one bandwidth; Halton does not help there (it does along the axes, and in few columns). Cost:
 * O(d D) a row.
 */
#include "map/fourier.h"

#include "num/quantile.h"
#include "num/sequence.h"

#include <math.h>

enum { D_SLOT = 0, SEQUENCE = 1, SCRAMBLE = 2 };

static bool has_quantiles(const krein_kernel_class *c) { return c->mixture || c->quantile; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__fourier_accepts(ctx, kernel, "qmc", has_quantiles,
                                  "stationary kernels whose spectral law has quantiles");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__fourier_cost(map, false, KREIN_DRAWN_SINGLY, out);
    /* directions and digits of every coordinate of a product */
    out->bytes += (double)(map->d + 1) * KREIN_TERM_LEAVES * 136;
    out->fit_flops += 100 * (double)(map->d + 1) * (double)map->D;
}

static krein_status draw(krein_map *map, const krein_kernel *leaf, krein_rng g, int64_t first,
                         int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    krein_sequence s;
    int64_t d = map->d, factor = (int64_t)(g.stream & 15), at = factor * (d + 1);
    /* The factors of a term share one sequence: its coordinates go on from factor to factor. */
    krein_rng term = {g.seed, g.stream & ~(uint64_t)15};
    krein_status st =
        krein__sequence_begin(ctx, (krein_sequence_kind)map->values.number[SEQUENCE], at + d + 1,
                              map->values.number[SCRAMBLE] != 0, term, &s);
    if (st != KREIN_OK) return st;
    const krein_kernel_class *c = leaf->kernel;
    const double *p = leaf->values.number;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t f = 0; f < n; f++) {
        double scale = c->mixture ? c->mixture(p, krein__sequence_point(&s, first + f, at + d)) : 1;
        for (int64_t j = 0; j < d; j++) {
            double u = krein__sequence_point(&s, first + f, at + j);
            w[f * d + j] += c->mixture ? scale * krein__normal_quantile(u) : c->quantile(p, u);
        }
    }
    krein__sequence_end(ctx, &s);
    return KREIN_OK;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, false, KREIN_DRAWN_SINGLY, draw);
}

static const krein_option options[] = {
    KREIN_OPTION_D,
    {.name = "sequence",
     .type = KREIN_OPTION_WORD,
     .value = 1,
     .words = "halton|sobol",
     .help = "the sequence of points"},
    {.name = "scramble",
     .type = KREIN_OPTION_YESNO,
     .value = 1,
     .help = "points made random; without, features are biased and do not depend on the seed"},
    {0}};

const krein_map_class krein__map_qmc = {
    .cls =
        {"qmc", "quasi-Monte Carlo features", "yang2014", options,
         "Frequencies from the points of a low-discrepancy sequence, for stationary kernels whose "
         "spectral law has quantiles (gaussian, matern, exponential, rq, laplacian, cauchy, "
         "periodic), their sums, differences, products and factors. Sobol for at most 16,383 "
         "columns. Unbiased when scrambled."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_SEEDLESS, /* unbiased only when scrambled */
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .clear = krein__fourier_clear};
