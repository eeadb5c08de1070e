/* rff -- random Fourier features
 *     z(x) = [cos(w_f'x), sin(w_f'x)]_f / sqrt(F),   F = D/2 frequencies w_f ~ spectral measure
 *     phase=yes: sqrt(2/F) cos(w_f'x + b_f), F = D, b ~ U[0, 2 pi)
 * Unbiased. Variance of a value per frequency: cos/sin (1 + k(2 tau))/2 - k^2; with phases
 * 1 + k(2 tau)/2 - k^2, so pairs are better for the Gaussian kernel at the same D.   (rahimi2007)
 * Cost: O(d D) a row.
 */
#include "map/fourier.h"

#include <math.h>
#include <omp.h>

enum { D_SLOT = 0, PHASE = 1 };

static bool phase(const krein_map *map) { return map->values.number[PHASE] != 0; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, krein__is_stationary)) return KREIN_OK;
    char *text = krein__kernel_text(ctx, kernel);
    if (!text) return ctx->status;
    krein_status st =
        krein__fail(ctx, KREIN_ESPEC, "rff needs a stationary kernel, got %s; try nystrom", text);
    krein__free(ctx, text);
    return st;
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__fourier_features(map, phase(map));
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__fourier_cost(map, phase(map), out);
}

static krein_status draw(krein_map *map, const krein_kernel *leaf, krein_rng g, int64_t first,
                         int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    int64_t d = map->d;
    double *one = krein__alloc(ctx, ctx->threads * d, sizeof *one);
    if (!one) return ctx->status;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t f = 0; f < n; f++) {
        double *mine = one + omp_get_thread_num() * d;
        leaf->kernel->frequency(leaf->values.number, g, (uint64_t)(first + f), d, mine);
        for (int64_t j = 0; j < d; j++) w[f * d + j] += mine[j];
    }
    krein__free(ctx, one);
    return KREIN_OK;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, phase(map), draw);
}

static const krein_option options[] = {
    {.name = "D",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e7,
     .help = "number of features; chosen from the data when not given"},
    {.name = "phase",
     .type = KREIN_OPTION_YESNO,
     .value = 0,
     .help = "cos with random phases instead of cos and sin pairs"},
    {0}};

const krein_map_class krein__map_rff = {
    .cls = {"rff", "random Fourier features", "rahimi2007", options,
            "For stationary kernels (gaussian, laplacian, cauchy, matern) and their sums, "
            "differences, products and factors."},
    .traits = KREIN_MAP_NESTED | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .clear = krein__fourier_clear};
