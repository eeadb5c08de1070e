/* scrf -- signed circulant random features
 *     W = C(w) diag(e),   C[i][j] = w[(j - i) mod P], e random signs, in blocks of P = 2^k >= d
 *     frequencies. w has independent entries: N(0, 1), and row f times mixture(u_f), for radial
 *     kernels; the coordinate's own law, quantile(u), for kernels with independent coordinates
 *     (laplacian, cauchy). In a product of both kinds the two parts are added.       (feng2015)
 * Each row has the law of the kernel's frequencies: unbiased. The rows share their entries, so the
 * variance is up to about twice rff's. The signs are those of the COLUMNS: cos is even, and the
 * paper's signs of the rows change nothing (measured variance for a constant x - y, d = 16: 16
 * times rff's, against 1.9).
 * The blocks share the signs: given them, the law of every row is still the kernel's, so the
 * blocks' estimates stay uncorrelated, and the transform of a row is made once for all blocks.
 * Cost: O(D log d) a row (one inverse FFT and one product of spectra a block), O(D log d) to fit.
 */
#include "map/structured.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 1 << 24 }; /* the longest FFT */

void krein__circulant_spectrum(const krein_fft *fft, int64_t P, const float *w, float *spectrum) {
    if (spectrum != w) memcpy(spectrum, w, (size_t)P * sizeof *w);
    for (int64_t i = 1; i < P - i; i++) { /* h[k] = w[-k mod P] */
        float other = spectrum[i];
        spectrum[i] = spectrum[P - i];
        spectrum[P - i] = other;
    }
    krein__fft_forward(fft, spectrum, spectrum);
}

static krein_status begin(krein_map *map, krein_structured *s, const krein_term *terms) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_rng g = {map->seed, KREIN_STREAM_MAP};
    (void)terms;
    NEW(s->shared, s->P);
    krein__signs(krein__role(g, 1), 0, s->P, s->shared);
done:
    return st;
}

/* State: spectrum of the Gaussian part, spectrum of the part with coordinates of their own law. */
static void draw(const krein_map *map, const krein_structured *s, const krein_term *term,
                 krein_rng g, int64_t b, krein_freq_block *block) {
    int64_t P = s->P;
    float *normal = block->state, *other = block->state + P;
    if (s->gaussian[block->term]) {
        for (int64_t j = 0; j < P; j++)
            normal[j] = (float)krein__rng_normal(krein__role(g, 2), (uint64_t)b, (uint64_t)j);
        krein__circulant_spectrum(s->fft, P, normal, normal);
    }
    if (!s->independent[block->term]) return;
    for (int64_t j = 0; j < P; j++) {
        double w = 0;
        for (int64_t l = 0; l < term->n; l++) {
            const krein_kernel *leaf = term->leaf[l];
            krein_rng own = {map->seed, g.stream + (uint64_t)l};
            if (leaf->kernel->mixture) continue;
            double u = krein__rng_uniform(krein__role(own, 3), (uint64_t)b, (uint64_t)j);
            w += leaf->kernel->quantile(leaf->values.number, u);
        }
        other[j] = (float)(w * (0.5 / M_PI));
    }
    krein__circulant_spectrum(s->fft, P, other, other);
}

static void prepare(const krein_structured *s, float *x) {
    krein__scale_turns(s->P, x, s->shared, x);
    krein__fft_forward(s->fft, x, x);
}

static float *multiply(const krein_structured *s, const krein_freq_block *block, const float *x,
                       float *scratch) {
    bool gaussian = s->gaussian[block->term];
    float *t = scratch, *u = gaussian ? scratch + s->P : scratch;
    if (gaussian) {
        krein__fft_multiply(s->fft, x, block->state, t);
        krein__fft_inverse(s->fft, t, t);
        krein__scale_turns(block->m, t, block->scale, t);
    }
    if (s->independent[block->term]) {
        krein__fft_multiply(s->fft, x, block->state + s->P, u);
        krein__fft_inverse(s->fft, u, u);
    }
    for (int64_t i = 0; gaussian && s->independent[block->term] && i < block->m; i++) t[i] += u[i];
    return t;
}

static const krein_structure blocks = {.state = 2,
                                       .scratch = 2,
                                       .width = 1,
                                       .direct = 64,
                                       .fft = true,
                                       .columns = COLUMNS_MAX,
                                       .beyond = "rff",
                                       .begin = begin,
                                       .draw = draw,
                                       .prepare = prepare,
                                       .multiply = multiply};

static const krein_structure *structure(const krein_map *map) {
    (void)map;
    return &blocks;
}

static bool suits(const krein_kernel_class *c) { return c->mixture || c->quantile; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__fourier_accepts(ctx, kernel, "scrf", suits,
                                  "mixtures of Gaussians, or kernels with independent coordinates");
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_scrf = {
    .cls = {"scrf", "signed circulant random features", "feng2015", options,
            "For radial kernels that are mixtures of Gaussians (gaussian, matern), kernels with "
            "independent coordinates (laplacian, cauchy), and their sums, differences, products "
            "and factors. Products by FFT; unbiased, with up to twice the variance of rff."},
    .kernels = "stationary",
    .time = "n D log d",
    .traits = KREIN_MAP_NESTED | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = krein__structured_cost,
    .fit = krein__structured_fit,
    .tile = krein__structured_tile,
    .waves = krein__structured_waves,
    .clear = krein__structured_clear,
    .structure = structure};
