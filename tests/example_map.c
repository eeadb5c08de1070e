/* signs -- random sign projections, for the linear kernel
 *     z(x) = sqrt(c) R'x / sqrt(D),   R (d x D) with independent entries -1 or +1,   k = c <x, y>
 * E z(x)'z(y) = c <x, E[RR'] y> / D = c <x, y>: unbiased. The variance of a value is
 *     c^2 (|x|^2 |y|^2 + <x, y>^2 - 2 sum_j x_j^2 y_j^2) / D.
 * Cost: O(d D) a row, 4 d D bytes.
 *
 * The worked example of CONTRIBUTING.md: a whole feature map in one file. It would live in
 * src/map/signs.c with the line MAP(krein__map_signs) in src/map/maps.def; here a test includes it.
 */
#include "map/map.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct {
    float *R; /* d x D, row-major, already divided by sqrt(D) */
} signs;

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__is_linear(kernel)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "signs", "the linear kernel");
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return map->D;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    double d = (double)map->d, D = (double)map->D;
    out->bytes = 4 * d * D + map->ctx->threads * 4.0 * KREIN_TILE * d;
    out->flops = 2 * d * D;
    out->fit_flops = d * D;
}

/* Entry (j, f) is a function of (seed, f, j) alone: no thread, block or other feature matters. */
static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    signs *s = NULL;
    NEW(terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    ZNEW(s, 1);
    map->state = s; /* from here on clear and krein__map_destroy release it, also on failure */
    NEW(s->R, map->d * map->D);
    krein_rng g = {map->seed, KREIN_STREAM_MAP};
    float one = (float)sqrt(terms[0].coefficient / (double)map->D);
    for (int64_t j = 0; j < map->d; j++)
        for (int64_t f = 0; f < map->D; f++)
            s->R[j * map->D + f] = krein__rng_bits(g, (uint64_t)f, (uint64_t)j) & 1 ? one : -one;
    map->R = map->D;
    map->scratch = KREIN_TILE * map->d;
done:
    krein__free(ctx, terms);
    return st;
}

/* Dense tiles are padded with zero rows, so that a row's bits do not depend on its neighbours. */
static void tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                 float *scratch) {
    const signs *s = map->state;
    int64_t d = map->d, D = map->D;
    if (!x->ptr) {
        memset(scratch, 0, (size_t)(KREIN_TILE * d) * sizeof *scratch);
        for (int64_t i = 0; i < x->n; i++)
            memcpy(scratch + i * d, x->x + i * x->ld, (size_t)d * sizeof *scratch);
        krein__sgemm(false, false, KREIN_TILE, D, d, 1, scratch, d, s->R, D, 0, out, ld);
        return;
    }
    for (int64_t i = 0; i < x->n; i++) {
        float *z = out + i * ld;
        memset(z, 0, (size_t)D * sizeof *z);
        for (int64_t k = x->ptr[i]; k < x->ptr[i + 1]; k++)
            for (int64_t f = 0; f < D; f++) z[f] += x->val[k] * s->R[x->col[k] * D + f];
    }
}

static void clear(krein_map *map) {
    signs *s = map->state;
    krein__free(map->ctx, s->R);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

/* No io: the state follows from the spec and the seed, so a model file need not hold it. */
const krein_map_class krein__map_signs = {
    .cls = {"signs", "random sign projections", "", options,
            "For the linear kernel, on rows with many columns."},
    .kernels = "linear",
    .time = "n d D",
    .traits = KREIN_MAP_NESTED | KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .clear = clear};
