/* rff -- random Fourier features
 *     z(x) = [cos(w_f'x), sin(w_f'x)]_f / sqrt(F),   F = D/2 frequencies w_f ~ spectral measure
 *     phase=yes: sqrt(2/F) cos(w_f'x + b_f), F = D, b ~ U[0, 2 pi)
 * Unbiased. Variance of a value per frequency: cos/sin (1 + k(2 tau))/2 - k^2; with phases
 * 1 + k(2 tau)/2 - k^2, so pairs are better for the Gaussian kernel at the same D.   (rahimi2007)
 * Cost: O(d D) a row.
 */
#include "map/fourier.h"

#include <math.h>

enum { D_SLOT = 0, PHASE = 1 };

static bool phase(const krein_map *map) { return map->values.number[PHASE] != 0; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__fourier_accepts(ctx, kernel, "rff", krein__has_frequency,
                                  "stationary kernels with a known spectral measure");
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__fourier_features(map, phase(map));
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__fourier_cost(map, phase(map), KREIN_DRAWN_SINGLY, out);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, phase(map), KREIN_DRAWN_SINGLY, krein__fourier_draw);
}

static const krein_option options[] = {
    KREIN_OPTION_D,
    {.name = "phase",
     .type = KREIN_OPTION_YESNO,
     .value = 0,
     .help = "cos with random phases instead of cos and sin pairs"},
    {0}};

const krein_map_class krein__map_rff = {
    .cls = {"rff", "random Fourier features", "rahimi2007", options,
            "For stationary kernels (gaussian, laplacian, cauchy, matern) and their sums, "
            "differences, products and factors."},
    .terms = KREIN_TERMS_MAX,
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_NESTED | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .redrawn = KREIN_REDRAWN_SINGLY,
    .array = krein__fourier_array,
    .clear = krein__fourier_clear};
