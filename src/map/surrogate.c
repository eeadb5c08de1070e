/* surrogate -- frequencies drawn by surrogate leverage scores, which use the labels
 * As leverage, with scores that need no matrix: for candidate i with columns z (cos and sin) at n
 * sampled rows and labels y,
 *     l_i = |c_i| sum over both columns of ((y'z)^2 + n |z|^2) / (n^2 lambda),
 * so lambda cancels. m = D/2 candidates are drawn in proportion, with the coefficient c_i / p_i
 * (see leverage.c): unbiased given the pool.                                          (liu2020)
 * The formula is UNCONFIRMED: it is recalled from the paper, whose text was not at hand. One public
 * program has (y'z)^2 alone and no weights, which is biased; the second term and the weights are
 * kept here. Labels are scaled to |y|^2 = n; over a pair |z|^2 is n, and (y'z)^2 is between 0 and n
 * |z|^2: scores of one term differ by a factor of two at most, and so do the weights.
 * Several targets or classes: the sum of (y'z)^2 over them (pool.c).
 * Cost: O(n d D pool) with n <= ROWS rows to fit; O(d D) a row.
 */
#include "map/pool.h"
#include "map/scores.h"

#include <math.h>

enum { D_SLOT = 0, POOL = 1 };
enum { ROWS = 10000 };

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__pool_accepts(ctx, kernel, "surrogate");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein__pool_cost(map, n, map->values.number[POOL], ROWS, out);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_pool pool = {0};
    krein_sample sample = {0};
    double *l = NULL;
    int64_t F;
    TRY(krein__pool_frequencies(map, &F));
    TRY(krein__sample_draw(map, rows, n, ROWS, true, &sample));
    TRY(krein__pool_draw(map, F * (int64_t)map->values.number[POOL], &pool));
    NEW(l, pool.F);
    TRY(krein__pool_products(&pool, &sample, l));
    int64_t m = sample.x.n;
    for (int64_t f = 0; f < pool.F; f++) /* cos^2 + sin^2 = 1 in every row */
        l[f] = fabs(pool.c[f]) * krein__surrogate_score(m, l[f], (double)m, 1);
    TRY(krein__pool_resample(map, &pool, l, F));
done:
    krein__free(ctx, l);
    krein__sample_clear(ctx, &sample);
    krein__pool_clear(&pool);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_D, KREIN_OPTION_POOL(4), {0}};

const krein_map_class krein__map_surrogate = {
    .cls = {"surrogate", "frequencies by surrogate leverage scores", "liu2020", options,
            "For stationary kernels with a known spectral measure and their sums, differences, "
            "products and factors, on data with labels. As leverage, with scores from the products "
            "of candidates and labels on at most 10,000 training rows."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_DATA | KREIN_MAP_LABELS | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = krein__pool_features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__fourier_io,
    .clear = krein__fourier_clear};
