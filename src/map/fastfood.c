/* fastfood -- Fastfood
 *     W = S H G Pi H B / sqrt(P),   H Walsh-Hadamard (entries +-1), B random signs, Pi a random
 *     permutation, G normal, S_f = radius_f / |G|, in blocks of P = 2^k >= d frequencies; radius_f
 *     = chi_P mixture(u_f), the length of a frequency of the kernel in P dimensions.   (le2013)
 * Every row of H G Pi H B is |G| sqrt(P) long and, over G, uniform in direction: each row of W has
 * the law of the kernel's frequencies (N(0, I) / sigma for the Gaussian). Unbiased; the rows of a
 * block are not independent, and the variance is up to about twice rff's. With H of entries +-1 the
 * factor 1 / sqrt(P) is needed, which some texts leave out. For d not a power of two rows
 * are padded with zeros.
 * Cost: O(D log d) a row, O(D) to fit.
 */
#include "map/structured.h"

#include "num/hadamard.h"

#include <math.h>
#include <string.h>

float *krein__fastfood_turns(int64_t P, const float *B, const int32_t *Pi, const float *G,
                             const float *scale, int64_t m, const float *x, float *scratch) {
    float *y = scratch, *z = scratch + P, *t = scratch + 2 * P;
    krein__fwht_scaled(P, x, B, y);
    for (int64_t i = 0; i < P; i++) z[i] = y[Pi[i]];
    krein__hadamard_head(P, m, z, G, t);
    krein__scale_turns(m, t, scale, t);
    return t;
}

/* State: B, Pi (as int32_t), G. */
enum { LENGTHS = 4 };

static void draw(const krein_map *map, const krein_structured *s, const krein_term *term,
                 krein_rng g, int64_t b, krein_freq_block *block) {
    int64_t P = s->P;
    const float *G = block->state + 2 * P;
    double square = 0;
    (void)map, (void)term;
    for (int64_t i = 0; i < P; i++) square += (double)G[i] * (double)G[i];
    for (int64_t i = 0; i < block->m; i++) {
        double chi = krein__rng_chi(krein__role(g, LENGTHS), (uint64_t)(b * P + i), 0, (double)P);
        block->scale[i] *= (float)(chi / sqrt(square * (double)P));
    }
}

static float *multiply(const krein_structured *s, const krein_freq_block *block, const float *x,
                       float *scratch) {
    int64_t P = s->P;
    return krein__fastfood_turns(P, block->state, (const int32_t *)(block->state + P),
                                 block->state + 2 * P, block->scale, block->m, x, scratch);
}

static const krein_structure blocks = {
    .factor = {{KREIN_FACTOR_SIGNS, 1}, {KREIN_FACTOR_PERMUTATION, 2}, {KREIN_FACTOR_NORMALS, 3}},
    .lengths = LENGTHS,
    .state = 3,
    .scratch = 3,
    .width = 1,
    .direct = 32,
    .draw = draw,
    .multiply = multiply};

static const krein_structure *structure(const krein_map *map) {
    (void)map;
    return &blocks;
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__mixture_accepts(ctx, kernel, "fastfood");
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_fastfood = {
    .cls = {"fastfood", "Fastfood", "le2013", options,
            "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their sums, "
            "differences, products and factors. Two Walsh-Hadamard products a block of "
            "frequencies: as fast as sorf and unbiased, but with up to twice the variance of rff."},
    .kernels = "radial",
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
