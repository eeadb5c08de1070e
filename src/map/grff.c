/* grff -- generalised random Fourier features, for indefinite kernels of the distance
 *     k(x, y) ~= sum_i c_i cos w_i'(x - y),   w_i = r_i u_i with independent directions u_i
 * F = D/2 frequencies in all (the paper's s is D/4), radii from a signed radial measure of k:
 * its law where the terms have known densities, else atoms fitted on the distances of the data
 * (measure.c); the signs of c are the signature.                                  (luo2022)
 * Departures. The paper draws from a measure that lacks the surface factor r^(d-1), and gives half
 * of the frequencies to each sign; here their numbers follow the masses. Variance of a value:
 *     sum over the two parts of |p|^2 / n ((1 + k_p(2 z)) / 2 - k_p(z)^2).
 * The law is unbiased; atoms are off by at most the error that `krein info` reports.
 * Cost: O(d D) a row; one pass over the rows and some milliseconds to fit.
 */
#include "map/signed.h"

#include <math.h>

enum { D_SLOT = 0, ROUTE = 1, TOL = 2 };

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__signed_accepts(ctx, kernel, "grff");
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    const double *v = map->values.number;
    krein_signed_options o = {
        .name = "grff", .independent = true, .route = (int)v[ROUTE], .tol = v[TOL]};
    return krein__signed_fit(map, rows, n, &o);
}

static const krein_option options[] = {KREIN_OPTION_D, KREIN_OPTION_ROUTE, KREIN_OPTION_TOL, {0}};

const krein_map_class krein__map_grff = {
    .cls = {"grff", "generalised random Fourier features", "luo2022", options,
            "For indefinite kernels: radial ones (differences of Gaussians) on all rows, "
            "dot-product ones (poly, tanh) on rows of length one (`scale=unit`). Features of "
            "positive and negative frequencies have signs +1 and -1. gorf has less variance."},
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
