/* orf -- orthogonal random features, for radial kernels
 *     w_f = radius_f u_f: blocks of d directions u_f that are orthonormal (Haar: the Q of a
 *     Gaussian matrix with R's diagonal made positive), lengths independent from the kernel's
 *     radial law (chi_d / sigma for the Gaussian).                                  (yu2016)
 * Unbiased; the variance is below rff's: for s <= d frequencies the ratio is about
 *     1 - (s-1) e^{-z^2} z^4 / (d (1 - e^{-z^2})^2),  z = |x-y|/sigma.
 * The paper's S has chi entries (not chi-square), and s-1 stands where it prints d-1.
 * Cost: O(d D) a row; O(D d min(d, D)) to fit.
 */
#include "map/fourier.h"

#include "map/draw.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__fourier_accepts(ctx, kernel, "orf", krein__has_radius,
                                  "radial kernels with a known spectral measure");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__fourier_cost(map, false, KREIN_DRAWN_IN_BLOCKS, out);
    double d = (double)map->d, F = (double)map->D / 2, block = fmin(d, F);
    out->bytes += 8 * block * d;
    out->fit_flops += 4 * F * d * block;
}

/* Pieces start at multiples of d (see fourier.c), so block b is rows b d .. b d + d - 1 of the
 * whole sequence. */
static krein_status draw(krein_map *map, const krein_kernel *leaf, krein_rng g, int64_t first,
                         int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d;
    double *q = NULL;
    krein_rng directions = krein__role(g, KREIN_ROLE_DIRECTIONS);
    NEW(q, krein__min(d, n) * d);
    for (int64_t f = 0; f < n; f += d) {
        int64_t m = krein__min(d, n - f);
        TRY(krein__normal_rows(ctx, directions, first + f, m, d, q));
        TRY(krein__haar_rows(ctx, m, d, q));
        for (int64_t i = 0; i < m; i++) {
            double r = leaf->kernel->radius(leaf->values.number, g, (uint64_t)(first + f + i), d);
            for (int64_t j = 0; j < d; j++) w[(f + i) * d + j] += r * q[i * d + j];
        }
    }
done:
    krein__free(ctx, q);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, false, KREIN_DRAWN_IN_BLOCKS, draw);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_orf = {
    .cls = {"orf", "orthogonal random features", "yu2016", options,
            "For radial kernels (gaussian, matern) and their sums, differences, products and "
            "factors. The default for them."},
    .terms = KREIN_TERMS_MAX,
    .kernels = "radial",
    .time = "n d D",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .redrawn = KREIN_REDRAWN_ORTHOGONAL,
    .array = krein__fourier_array,
    .clear = krein__fourier_clear};
