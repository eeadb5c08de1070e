/* hybrid -- Fourier features beside binning, for the Laplacian kernel
 *     z = (sqrt(s) z_rff, sqrt(1 - s) z_binning),   each with its share of D
 * z'z = s k_rff + (1 - s) k_binning: unbiased where both are. Binning is exact at distance 0 and
 * has its variance k (1 - k) in the middle; Fourier features vary most far away.    (rahimi2007)
 * Cost: the sum of the parts'.
 */
#include "map/parts.h"

#include <math.h>

enum { SHARE = 1 };

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, krein__has_pitch) && krein__kernel_term_count(kernel) == 1)
        return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "hybrid", "laplacian, with a factor, or a product of it");
}

static krein_status plan(const krein_map *map, krein_parts *out) {
    double share = map->values.number[SHARE];
    int64_t fourier = 2 * (int64_t)rint(share * (double)map->D / 2);
    krein_status st = krein__parts_add(map, "rff", map->kernel, share, fourier, out);
    if (st != KREIN_OK) return st;
    return krein__parts_add(map, "binning", map->kernel, 1 - share, map->D - fourier, out);
}

static int64_t features(const krein_map *map, int64_t n) {
    return krein__parts_features(map, n, plan);
}
static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein__parts_cost(map, n, plan, out);
}
static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    return krein__parts_fit(map, rows, n, plan);
}

static const krein_option options[] = {
    KREIN_OPTION_D_AS("number of features, at most"),
    {.name = "share",
     .value = 0.5,
     .low = 0,
     .low_open = true,
     .high = 1,
     .high_open = true,
     .help = "part of the kernel, and of D, for Fourier features"},
    {0}};

const krein_map_class krein__map_hybrid = {
    .cls = {"hybrid", "Fourier features beside binning", "rahimi2007", options,
            "For the laplacian kernel: rff and binning side by side, each for a share of it."},
    .kernels = "laplacian",
    .time = "n d D",
    .traits = KREIN_MAP_DATA,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__parts_tile,
    .array = krein__parts_array,
    .io = krein__parts_io,
    .clear = krein__parts_clear,
    .fact = krein__parts_fact};
