/* leverage -- frequencies drawn by their ridge leverage scores
 * A pool of s candidates w_i ~ spectral measure, k ~= sum_i c_i cos w_i'(x - y). With Z_i the n x 2
 * matrix of cos and sin of w_i at n sampled rows, and K = sum_i |c_i| Z_i Z_i',
 *     l_i = |c_i| Tr Z_i'(K + n lambda I)^-1 Z_i,   sum_i l_i = Tr K(K + n lambda I)^-1,
 * the effective dimension. (The trace over both columns: with one cos(w'x + b) it is the leverage
 * on average over b only.) m = D/2 of the candidates are drawn, i with probability p_i = min(1, t
 * l_i), and get the coefficient c_i / p_i: unbiased given the pool, so unbiased.
 *                                                          (bach2017, avron2017; li2019 the pool)
 * Departs from the papers: they draw with replacement, weight 1/sqrt(m s q_i); here each candidate
 * is taken at most once (scores.c), with p_i = m q_i while that is below one, so the weights are
 * the same and no feature is spent on a duplicate. pool=1 is rff.
 * What it buys: the error in the norm that a ridge regression with this lambda sees, |H(K~ - K)H|
 * with H = (K + n lambda I)^(-1/2), is below rff's where lambda is small (0.01 and less); the price
 * is that single values and |K~ - K|_F are not closer. High frequencies are drawn more often, so a
 * target that is made of low ones gains nothing.
 * Cost: O(n d D pool + n^2 D pool) with n <= ROWS rows to fit; O(d D) a row.
 */
#include "map/pool.h"
#include "map/scores.h"

#include <math.h>

enum { D_SLOT = 0, POOL = 1, LAMBDA = 2 };
enum { ROWS = KREIN_POOL_ROWS }; /* a piece has all of them */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__pool_accepts(ctx, kernel, "leverage");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    double times = map->values.number[POOL], rows = (double)krein__sample_rows(map, n, ROWS);
    krein__pool_cost(map, n, times, ROWS, out);
    out->bytes += 8 * rows * rows + 65536;
    out->fit_flops += 3 * rows * rows * (double)map->D * times + rows * rows * rows / 3;
}

typedef struct job {
    krein_ctx *ctx;
    const krein_pool *pool;
    double *K;     /* n x n, then its factor */
    double *score; /* of columns; those of a pair are added up afterwards */
} job;

static void weigh(const krein_pool *pool, int64_t first, int64_t m, int64_t n, double *z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t f = 0; f < m; f++) {
            double a = sqrt(fabs(pool->c[first + f]));
            z[i * 2 * m + 2 * f] *= a;
            z[i * 2 * m + 2 * f + 1] *= a;
        }
}

static krein_status add(void *user, int64_t first, int64_t m, int64_t from, int64_t n, double *z) {
    const job *j = user;
    (void)from;
    weigh(j->pool, first, m, n, z);
    krein__leverage_add(j->ctx, n, 2 * m, z, j->K);
    return KREIN_OK;
}

static krein_status score(void *user, int64_t first, int64_t m, int64_t from, int64_t n,
                          double *z) {
    const job *j = user;
    (void)from;
    weigh(j->pool, first, m, n, z);
    krein__leverage_score(j->ctx, n, 2 * m, z, j->K, j->score + 2 * first);
    return KREIN_OK;
}

static krein_status score_pool(const krein_pool *pool, const krein_rows *x, double lambda,
                               double *l) {
    krein_ctx *ctx = pool->map->ctx;
    krein_status st = KREIN_OK;
    job j = {.ctx = ctx, .pool = pool};
    double total = 0;
    ZNEW(j.K, x->n * x->n);
    NEW(j.score, 2 * pool->F);
    TRY(krein__pool_each(pool, x, add, &j));
    TRY(krein__leverage_factor(ctx, x->n, (double)x->n * lambda, j.K));
    TRY(krein__pool_each(pool, x, score, &j));
    for (int64_t f = 0; f < pool->F; f++) {
        l[f] = j.score[2 * f] + j.score[2 * f + 1];
        total += l[f];
    }
    krein__log(ctx, KREIN_LOG_DEBUG, "leverage: effective dimension %.4g on %lld rows", total,
               (long long)x->n);
done:
    krein__free(ctx, j.K);
    krein__free(ctx, j.score);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_pool pool = {0};
    krein_sample sample = {0};
    double *l = NULL;
    int64_t F;
    TRY(krein__pool_frequencies(map, &F));
    TRY(krein__pool_draw(map, F * (int64_t)map->values.number[POOL], &pool));
    TRY(krein__sample_draw(map, rows, n, ROWS, false, &sample));
    NEW(l, pool.F);
    krein_rows x = krein__matrix_rows(&sample.x);
    TRY(score_pool(&pool, &x, map->values.number[LAMBDA], l));
    TRY(krein__pool_resample(map, &pool, l, F));
done:
    krein__free(ctx, l);
    krein__sample_clear(ctx, &sample);
    krein__pool_clear(&pool);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_D,
                                       KREIN_OPTION_POOL(4),
                                       {.name = "lambda",
                                        .type = KREIN_OPTION_NUMBER,
                                        .value = 1e-3,
                                        .low = 0,
                                        .low_open = true,
                                        .high = 1e3,
                                        .help = "ridge of the scores, per row"},
                                       {0}};

const krein_map_class krein__map_leverage = {
    .cls =
        {"leverage", "frequencies by ridge leverage scores", "bach2017", options,
         "For stationary kernels with a known spectral measure and their sums, differences, "
         "products and factors. Candidates are scored on at most 2,048 training rows; those that "
         "a ridge regression needs most are kept more often, with weights that leave the kernel "
         "unbiased."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_DATA | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = krein__pool_features,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__fourier_io,
    .clear = krein__fourier_clear};
