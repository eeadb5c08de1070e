/* aligned -- frequencies weighted and pruned by kernel alignment with the labels
 * A pool of s candidates w_i ~ spectral measure; with z_i the cos and sin of w_i at n sampled rows
 * and labels y,
 *     v_i = sum over both columns of (y'z_i)^2,
 *     q   = argmax v'q,  q in the simplex,  s |q|^2 - 1 <= rho  (a chi-square ball around 1/s)
 * and k is replaced by  k(0) sum_i q_i cos w_i'(x - y).                       (sinha2016; scores.c)
 * Not unbiased for k, by design: it is a better kernel for these labels. Frequencies with q_i = 0
 * are left out. Where rho leaves more than D/2, it is raised as far as D/2 take: rho = 0, the
 * default, means the ball that keeps D/2; a larger one keeps fewer. (The paper draws D from q.)
 * The labels of the sample choose the kernel, so leave-one-out errors of a learner on top are too
 * low where rows are few and candidates many; held-out rows are not in the sample.
 * Several targets or classes: the sum of (y'z)^2 over them (pool.c).
 * Cost: O(n d D pool) with n <= ROWS rows to fit; O(d D) a row.
 */
#include "map/pool.h"
#include "map/scores.h"

#include <math.h>

enum { D_SLOT = 0, POOL = 1, RHO = 2 };
enum { ROWS = 10000 };

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (!krein__kernel_positive(kernel))
        return krein__map_refuse(ctx, kernel, "aligned", "positive definite stationary kernels");
    return krein__pool_accepts(ctx, kernel, "aligned");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein__pool_cost(map, n, map->values.number[POOL], ROWS, out);
}

/* The candidates with q > 0, in order. */
static krein_status keep(krein_map *map, const krein_pool *pool, const double *q) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, m = 0;
    double *c = NULL, mass = 0;
    NEW(index, pool->F);
    NEW(c, pool->F);
    for (int64_t f = 0; f < pool->F; f++) mass += pool->c[f];
    for (int64_t f = 0; f < pool->F; f++) {
        if (!(q[f] > 0)) continue;
        index[m] = f;
        c[m++] = mass * q[f];
    }
    TRY(krein__pool_take(map, pool, m, index, c));
done:
    krein__free(ctx, index);
    krein__free(ctx, c);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_pool pool = {0};
    krein_sample sample = {0};
    double *v = NULL, *q = NULL, rho;
    int64_t F;
    TRY(krein__pool_frequencies(map, &F));
    TRY(krein__sample_draw(map, rows, n, ROWS, true, &sample));
    TRY(krein__pool_draw(map, F * (int64_t)map->values.number[POOL], &pool));
    NEW(v, pool.F);
    NEW(q, pool.F);
    TRY(krein__pool_products(&pool, &sample, v));
    TRY(krein__aligned_weights(ctx, pool.F, v, map->values.number[RHO], F, q, &rho));
    TRY(keep(map, &pool, q));
    krein__log(ctx, KREIN_LOG_DEBUG, "aligned: %lld of %lld frequencies, rho = %.4g",
               (long long)map->D / 2, (long long)pool.F, rho);
done:
    krein__free(ctx, v);
    krein__free(ctx, q);
    krein__sample_clear(ctx, &sample);
    krein__pool_clear(&pool);
    return st;
}

static const krein_option options[] = {
    KREIN_OPTION_D,
    KREIN_OPTION_POOL(10),
    {.name = "rho",
     .type = KREIN_OPTION_NUMBER,
     .value = 0,
     .low = 0,
     .high = 1e9,
     .help = "size of the chi-square ball, at least what D asks for; larger keeps fewer features"},
    {0}};

const krein_map_class krein__map_aligned = {
    .cls =
        {"aligned", "frequencies weighted by alignment with the labels", "sinha2016", options,
         "For positive definite stationary kernels with a known spectral measure and their sums, "
         "products and factors, on data with labels. Of the candidates, those that go best with "
         "the labels of at most 10,000 training rows are kept, with weights. The features are "
         "not unbiased for the kernel: they are of a kernel fitted to the labels."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_DATA | KREIN_MAP_LABELS,
    .accepts = accepts,
    .features = krein__pool_features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__fourier_io,
    .clear = krein__fourier_clear};
