/* nrff -- normalised random Fourier features
 *     z(x) = sqrt(k(0)) r(x) / |r(x)|,   r(x) = sqrt(2/F) cos(w_f'x + b_f), F = D frequencies
 * The rows have the length that the kernel gives them, as cos and sin pairs always have; with
 * phases this lowers the variance (li2017) at the price of a bias of O(1/F). On the unit sphere
 *     F (V_nrff - V_rff) -> -k(tau)^2 (3 - k(2 tau)) / 4   for k(0) = 1.
 * The normalisation is of the features, not of the data. Cost: O(d D) a row.
 */
#include "map/fourier.h"

#include <math.h>

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    const char *what = "stationary, positive definite kernels with a known spectral measure";
    if (krein__kernel_definite(kernel) == KREIN_DEFINITE_NO)
        return krein__map_refuse(ctx, kernel, "nrff", what);
    return krein__fourier_accepts(ctx, kernel, "nrff", krein__has_frequency, what);
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__fourier_features(map, true);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__fourier_cost(map, true, KREIN_DRAWN_SINGLY, out);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    krein_status st = krein__fourier_fit(map, true, KREIN_DRAWN_SINGLY, krein__fourier_draw);
    if (st != KREIN_OK) return st;
    /* scale^2 = 2 c / F, so this is the sum of the terms' k(0) */
    krein_fourier *s = map->state;
    for (int64_t t = 0; t < s->nterm; t++)
        s->unit +=
            (double)s->scale[t] * (double)s->scale[t] / 2 * (double)(s->first[t + 1] - s->first[t]);
    return KREIN_OK;
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_nrff = {
    .cls = {"nrff", "normalised random Fourier features", "li2017", options,
            "Features with phases, each row brought to the length sqrt(k(0)): less variance than "
            "rff(phase=yes), a bias of O(1/D). For stationary positive definite kernels."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = 0,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .redrawn = KREIN_REDRAWN_SINGLY,
    .array = krein__fourier_array,
    .clear = krein__fourier_clear};
