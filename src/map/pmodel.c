/* pmodel -- the P-model: structured frequencies from a short vector of normal numbers
 *     W[i] = g' P_i, every P_i with orthonormal columns, so that each row is N(0, I).
 *     matrix=toeplitz: W[i][j] = g[i + d - 1 - j], one g of length F + d - 1 for all F frequencies
 *     matrix=hadamard: W = H diag(g) H B / sqrt(P), B random signs, in blocks of P = 2^k >= d
 *     Row f is then multiplied by mixture(u_f) of the kernel.                     (choromanski2016)
 * Unbiased. The rows share their numbers, so the variance exceeds rff's: measured at d = 16, s =
 * 64, |x - y| = sigma about 2.6 times (hadamard) and 2 to 10 times (toeplitz, worst where all x_j -
 * y_j are equal). sorf and fastfood are better at the same cost; pmodel is here for comparison.
 * Toeplitz products by FFTs of length 2P, P frequencies at a time (overlap and save); the
 * transform of a row is made once for all blocks.
 * Cost: O(D log d) a row, O(D log d) to fit.
 */
#include "map/structured.h"

#include "num/hadamard.h"

#include <math.h>

enum { D_SLOT = 0, MATRIX = 1, TOEPLITZ = 0, COLUMNS_MAX = 1 << 23 };

/* ---- Toeplitz ----------------------------------------------------------- */

/* State: the spectrum of g[b P .. b P + 2P - 1]; (g * x)[i + d - 1] is row i. */
static void draw_toeplitz(const krein_map *map, const krein_structured *s, const krein_term *term,
                          krein_rng g, int64_t b, krein_freq_block *block) {
    (void)map, (void)term;
    for (int64_t k = 0; k < 2 * s->P; k++)
        block->state[k] = (float)krein__rng_normal(krein__role(g, 1), (uint64_t)(b * s->P + k), 0);
    krein__fft_forward(s->fft, block->state, block->state);
}

static void prepare_toeplitz(const krein_structured *s, float *x) {
    krein__fft_forward(s->fft, x, x);
}

static float *multiply_toeplitz(const krein_structured *s, const krein_freq_block *block,
                                const float *x, float *scratch) {
    float *t = scratch + s->d - 1;
    krein__fft_multiply(s->fft, x, block->state, scratch);
    krein__fft_inverse(s->fft, scratch, scratch);
    krein__scale_turns(block->m, t, block->scale, t);
    return t;
}

static const krein_structure toeplitz = {.state = 2,
                                         .scratch = 2,
                                         .width = 2,
                                         .direct = 64,
                                         .fft = true,
                                         .columns = COLUMNS_MAX,
                                         .beyond = "matrix=hadamard",
                                         .draw = draw_toeplitz,
                                         .prepare = prepare_toeplitz,
                                         .multiply = multiply_toeplitz};

/* ---- Hadamard ----------------------------------------------------------- */

/* State: B, g. */
static void draw_hadamard(const krein_map *map, const krein_structured *s, const krein_term *term,
                          krein_rng g, int64_t b, krein_freq_block *block) {
    (void)map, (void)term, (void)g, (void)b;
    for (int64_t i = 0; i < block->m; i++) block->scale[i] /= sqrtf((float)s->P);
}

static float *multiply_hadamard(const krein_structured *s, const krein_freq_block *block,
                                const float *x, float *scratch) {
    float *t = scratch + s->P;
    krein__fwht_scaled(s->P, x, block->state, scratch);
    krein__hadamard_head(s->P, block->m, scratch, block->state + s->P, t);
    krein__scale_turns(block->m, t, block->scale, t);
    return t;
}

static const krein_structure hadamard = {
    .factor = {{KREIN_FACTOR_SIGNS, 1}, {KREIN_FACTOR_NORMALS, 2}},
    .state = 2,
    .scratch = 2,
    .width = 1,
    .direct = 32,
    .draw = draw_hadamard,
    .multiply = multiply_hadamard};

/* ---- the map ------------------------------------------------------------ */

static const krein_structure *structure(const krein_map *map) {
    return (int)map->values.number[MATRIX] == TOEPLITZ ? &toeplitz : &hadamard;
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__mixture_accepts(ctx, kernel, "pmodel");
}

static const krein_option options[] = {KREIN_OPTION_D,
                                       {.name = "matrix",
                                        .type = KREIN_OPTION_WORD,
                                        .words = "toeplitz|hadamard",
                                        .value = TOEPLITZ,
                                        .help = "how the frequencies share their random numbers"},
                                       {0}};

const krein_map_class krein__map_pmodel = {
    .cls = {"pmodel", "P-model: Toeplitz or Hadamard frequencies", "choromanski2016", options,
            "For radial kernels that are mixtures of Gaussians (gaussian, matern) and their sums, "
            "differences, products and factors. Frequencies from few random numbers; unbiased, "
            "with more variance than rff and fastfood."},
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
