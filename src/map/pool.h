/* pool.h -- candidate frequencies, scored on a sample of rows before some of them are kept. */
#ifndef KREIN_POOL_H
#define KREIN_POOL_H

#include "map/fourier.h"

/* The option that says how many candidates there are. */
#define KREIN_OPTION_POOL(usual)                                                                   \
    {                                                                                              \
        .name = "pool", .type = KREIN_OPTION_INTEGER, .value = usual, .low = 1, .high = 1000,      \
        .help = "candidates for each frequency that is kept"                                       \
    }

/* Rows of a sample, and targets in the spirit of labels -1 and +1: each of the k columns of y has
 * mean zero, and their squares add up to n. */
typedef struct krein_sample {
    krein_matrix x;
    int64_t k; /* 0: labels were not asked for */
    double *y; /* n x k */
} krein_sample;

/* Independent draws from the spectral measure: k(x, y) ~= sum_f c_f cos w_f'(x - y). */
typedef struct krein_pool {
    krein_map *map; /* of the caller: context, width, seed */
    int64_t F;
    double *w; /* F x d */
    double *c; /* F; negative where the term is */
} krein_pool;

/* Features cos, sin of frequencies first .. first + m - 1, not scaled, of rows from .. from + n - 1
 * of the sample: n x 2m, which may be overwritten. */
typedef krein_status (*krein_pool_fn)(void *user, int64_t first, int64_t m, int64_t from, int64_t n,
                                      double *z);

enum { KREIN_POOL_ROWS = 2048 }; /* given to krein_pool_fn at a time, at most */

/* F candidates over the terms of the kernel, in proportion to their mass. */
krein_status krein__pool_draw(krein_map *map, int64_t F, krein_pool *pool);
void krein__pool_clear(krein_pool *pool);
/* Calls fn piece by piece: for every piece of frequencies, all rows in order. */
krein_status krein__pool_each(const krein_pool *pool, const krein_rows *x, krein_pool_fn fn,
                              void *user);
/* out[f] = sum over targets and over cos and sin of (y'z)^2. */
krein_status krein__pool_products(const krein_pool *pool, const krein_sample *s, double *out);
/* The map becomes frequencies index[0 .. m-1] of the pool with coefficients c. */
krein_status krein__pool_take(krein_map *map, const krein_pool *pool, int64_t m,
                              const int64_t *index, const double *c);
/* The map becomes m of the candidates, drawn in proportion to the scores (scores.h), each with its
 * coefficient over the probability to be drawn: unbiased for the pool. */
krein_status krein__pool_resample(krein_map *map, const krein_pool *pool, const double *score,
                                  int64_t m);

/* At most `most` rows of the stream, fewer where they are wide. labels: KREIN_EARG where there are
 * none, naming the map. */
int64_t krein__sample_rows(const krein_map *map, int64_t n, int64_t most);
krein_status krein__sample_draw(krein_map *map, krein_stream *rows, int64_t n, int64_t most,
                                bool labels, krein_sample *out);
void krein__sample_clear(krein_ctx *ctx, krein_sample *s);

/* What maps with a pool share: pairs, D even, KREIN_ESPEC where D < 2. */
krein_status krein__pool_frequencies(const krein_map *map, int64_t *F);
int64_t krein__pool_features(const krein_map *map, int64_t n);
/* `times` D/2 candidates scored on at most `most` of n rows. */
void krein__pool_cost(const krein_map *map, int64_t n, double times, int64_t most, krein_cost *out);
krein_status krein__pool_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name);

#endif
