/* digmm -- a difference of Gaussian mixtures fitted to the kernel
 *     k(z) ~= sum_i c_i exp(-z^2 / (2 s_i^2)) on [0, R],  c_i of any sign, by least squares,
 * whose measure is a signed sum of chi laws: its positive and negative part are sampled as grff
 * does, features of the negative one have sign -1. Biased by the error of the fit.   (liu2019)
 * Departure: four Gaussians by least squares; the paper's Bayesian mixtures are fitted to samples
 * of the two parts of a measure, which must be known first.
 * Cost: O(d D) a row; one pass over the rows and some 10 ms to fit. A baseline: see gorf.
 */
#include "map/signed.h"

#include <math.h>

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__signed_accepts(ctx, kernel, "digmm");
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_signed_options o = {.name = "digmm", .independent = true, .tol = NAN, .clip = false};
    return krein__signed_mixture(map, rows, n, &o);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_digmm = {
    .cls = {"digmm", "difference of Gaussian mixtures", "liu2019", options,
            "For radial kernels, and dot-product kernels on rows of length one (`scale=unit`). "
            "Fits a signed mixture of Gaussians and draws from its measure: a small bias, and more "
            "mass than gorf needs. A published baseline; gorf is better."},
    .kernels = "radial, indefinite too; dot-product on unit rows",
    .time = "n d D",
    .traits = KREIN_MAP_DATA,
    .accepts = accepts,
    .features = krein__signed_features,
    .cost = krein__signed_cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__signed_io,
    .clear = krein__fourier_clear,
    .fact = krein__signed_fact};
