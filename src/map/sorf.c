/* sorf -- structured orthogonal random features
 *     W = scale sqrt(P) Hn D1 Hn D2 Hn D3,   Hn = H / sqrt(P) Walsh-Hadamard, D_i random signs,
 *     in blocks of P = 2^k >= d frequencies; scale_f = mixture(u_f) of the kernel (1/sigma for the
 *     Gaussian), row f times scale_f.                                              (yu2016)
 * The rows of a block are orthogonal, of length sqrt(P) where orf has chi_d: the variance is as
 * small as orf's and smaller near 0, but there is a bias of order 1/d (Gaussian, d = 16: -0.001,
 * -0.009, -0.04 at |x - y| = 0.5, 1, 2 sigma). For d not a power of two rows are padded with zeros.
 * Cost: O(D log d) a row, O(D) to fit.
 */
#include "map/structured.h"

#include "num/hadamard.h"

#include <math.h>

float *krein__sorf_turns(int64_t P, const float *signs, const float *scale, int64_t m,
                         const float *x, float *scratch) {
    krein__fwht_scaled(P, x, signs, scratch);
    krein__fwht_scaled(P, scratch, signs + P, scratch);
    float *t = scratch + P;
    krein__hadamard_head(P, m, scratch, signs + 2 * P, t);
    krein__scale_turns(m, t, scale, t);
    return t;
}

/* H H H / P = sqrt(P) Hn Hn Hn */
static void draw(const krein_map *map, const krein_structured *s, const krein_term *term,
                 krein_rng g, int64_t b, krein_freq_block *block) {
    (void)map, (void)term, (void)g, (void)b;
    for (int64_t i = 0; i < block->m; i++) block->scale[i] /= (float)s->P;
}

static float *multiply(const krein_structured *s, const krein_freq_block *block, const float *x,
                       float *scratch) {
    return krein__sorf_turns(s->P, block->state, block->scale, block->m, x, scratch);
}

static const krein_structure blocks = {
    .factor = {{KREIN_FACTOR_SIGNS, 1}, {KREIN_FACTOR_SIGNS, 2}, {KREIN_FACTOR_SIGNS, 3}},
    .state = 3,
    .scratch = 2,
    .width = 1,
    .direct = 32,
    .draw = draw,
    .multiply = multiply};

static const krein_structure *structure(const krein_map *map) {
    (void)map;
    return &blocks;
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__mixture_accepts(ctx, kernel, "sorf");
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_sorf = {
    .cls = {"sorf", "structured orthogonal random features", "yu2016", options,
            "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their sums, "
            "differences, products and factors. Products with sign and Walsh-Hadamard matrices: "
            "much faster than orf for many columns, at about its error, with a small bias."},
    .kernels = "radial",
    .time = "n D log d",
    .traits = KREIN_MAP_NESTED,
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = krein__structured_cost,
    .fit = krein__structured_fit,
    .tile = krein__structured_tile,
    .waves = krein__structured_waves,
    .clear = krein__structured_clear,
    .structure = structure};
