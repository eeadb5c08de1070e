/* srf -- spherical random features: a positive radial measure fitted to the kernel
 *     k(z) ~= int f(r) Omega_d(r z) dr on [0, R],  f(r) = max(0, sum_i c_i s_i chi_d(s_i r))
 * c of any sign, c and s by least squares; frequencies w = r u with r ~ f / mass, u uniform.
 * All features are positive, so an indefinite kernel is met with a bias: at best .014 for
 * epanechnikov(a=3, m=1) and .023 for epanechnikov(a=2, m=3) in 16 dimensions, on rows of length
 * one. `krein info` says how much it is. The Delta-Gaussian gaussian(sigma=1) - gaussian(sigma=10)
 * is refused: it is 0 at 0 and negative elsewhere, and no positive measure comes nearer to it in
 * least squares than none at all (docs/results/indefinite.md).                 (pennington2015)
 * Departure: three Gaussians and own least squares instead of the paper's ten and its schedule.
 * Cost: O(d D) a row; one pass over the rows and some 10 ms to fit. A baseline: see gorf.
 */
#include "map/signed.h"

#include <math.h>

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__signed_accepts(ctx, kernel, "srf");
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_signed_options o = {.name = "srf", .independent = true, .tol = NAN, .clip = true};
    return krein__signed_mixture(map, rows, n, &o);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_srf = {
    .cls = {"srf", "spherical random features", "pennington2015", options,
            "For radial kernels, and dot-product kernels on rows of length one (`scale=unit`). "
            "Fits a positive measure, which an indefinite kernel does not have: biased. A "
            "published baseline; gorf is better."},
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
