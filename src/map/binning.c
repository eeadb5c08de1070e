/* binning -- random binning features, for the Laplacian kernel
 *     grid p: pitches delta_j ~ density delta k_j''(delta), shifts u_j ~ U[0, delta_j];
 *     x falls into the bin with the numbers b_j = floor((x_j - u_j) / delta_j);
 *     z(x) = 1/sqrt(P) for the bin of x in each of P grids, one feature for each bin
 * P(same bin) = prod_j E(1 - |x_j - y_j| / delta_j)+ = prod_j k_j(x_j - y_j) for separable kernels
 * whose k_j is convex on [0, inf): unbiased, with the variance k (1 - k) / P. A product of kernels
 * has the numbers of a grid for each.                                        (rahimi2007)
 *
 * The paper hashes a bin to a short code, which makes bins collide. Here the bins of the training
 * rows have a feature each (bins.h). A bin without training rows has none: k(x, y) stays unbiased
 * where x or y is a training row, and a linear model has nothing to say about such a bin anyway.
 *
 * D bounds the features. P is what the bins of PILOT grids, drawn for this alone, suggest, one
 * standard deviation on the safe side: a choice by the grids that are kept would prefer those with
 * few bins. If they do not fit in D all the same, the last ones are left out.
 * Cost: O(d P) a row, P of the D features are not zero; one more pass to fit.
 */
#include "map/bins.h"
#include "map/draw.h"
#include "map/map.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { PILOT = 32, CHUNK = 64 }; /* grids; rows between looks at the number of bins */

typedef struct grids {
    int64_t P, width; /* grids; numbers of a bin: d for each kernel of the product */
    int64_t leaves;
    float *inverse, *shift; /* P x width: 1/delta, u/delta */
    krein_bins *bins;       /* P */
    int64_t *first;         /* P + 1: first feature of each grid */
    float value;
} grids;

/* ---- grids -------------------------------------------------------------- */

static void grids_clear(krein_ctx *ctx, grids *s) {
    for (int64_t p = 0; s->bins && p < s->P; p++) krein__bins_clear(ctx, &s->bins[p]);
    krein__free(ctx, s->bins);
    krein__free(ctx, s->inverse);
    krein__free(ctx, s->shift);
    krein__free(ctx, s->first);
    memset(s, 0, sizeof *s);
}

static void draw_grid(const krein_map *map, const krein_term *term, uint64_t role, int64_t p,
                      grids *s) {
    int64_t d = map->d;
    for (int64_t l = 0; l < term->n; l++) {
        const krein_kernel *leaf = term->leaf[l];
        krein_rng g = krein__role((krein_rng){map->seed, KREIN_STREAM_MAP + (uint64_t)l}, 2 * role);
        krein_rng shifts = krein__role(g, 1);
        for (int64_t j = 0; j < d; j++) {
            uint64_t row = (uint64_t)p, column = (uint64_t)j;
            double delta = leaf->kernel->pitch(leaf->values.number, g, row, column);
            s->inverse[p * s->width + l * d + j] = (float)(1 / fmax(delta, 1e-30));
            s->shift[p * s->width + l * d + j] = (float)krein__rng_uniform(shifts, row, column);
        }
    }
}

static krein_status draw(const krein_map *map, const krein_term *term, uint64_t role, grids *s) {
    krein_status st = KREIN_OK;
    int64_t piece = krein__draw_rows(2 * s->width);
    for (int64_t from = 0; from < s->P && st == KREIN_OK; from += piece) {
        int64_t end = krein__min(s->P, from + piece);
#pragma omp parallel for num_threads(map->ctx->threads) schedule(static)
        for (int64_t p = from; p < end; p++) draw_grid(map, term, role, p, s);
        st = krein__poll(map->ctx);
    }
    return st;
}

/* P grids without bins. role 0: those of the map, 1: the pilot's. */
static krein_status grids_begin(const krein_map *map, int64_t P, uint64_t role, grids *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term terms[1];
    int64_t n;
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    s->P = P;
    s->leaves = terms[0].n;
    s->width = terms[0].n * map->d;
    ZNEW(s->bins, P);
    NEW(s->inverse, P * s->width);
    NEW(s->shift, P * s->width);
    TRY(draw(map, terms, role, s));
done:
    return st;
}

/* The key of the bin that x is in. tuple: scratch of s->width. */
static krein_key key_of(const grids *s, int64_t d, int64_t p, const float *x, int32_t *tuple) {
    const float *inverse = s->inverse + p * s->width, *shift = s->shift + p * s->width;
    for (int64_t l = 0; l < s->leaves; l++)
        for (int64_t j = 0; j < d; j++) {
            float t = x[j] * inverse[l * d + j] - shift[l * d + j];
            t = t > 1e9F ? 1e9F : t < -1e9F ? -1e9F : t; /* what is so far away is all one */
            int32_t b = (int32_t)t;
            tuple[l * d + j] = b - (t < (float)b); /* floor */
        }
    return krein__bins_key(tuple, s->width);
}

/* ---- fit ---------------------------------------------------------------- */

/* Leaves out the last grids. */
static void cut(krein_ctx *ctx, grids *s, int64_t P) {
    for (; s->P > P; s->P--) krein__bins_clear(ctx, &s->bins[s->P - 1]);
}

/* The number of first grids that have at most D bins together. */
static int64_t fitting(const grids *s, int64_t D) {
    int64_t P = 0;
    for (int64_t sum = 0; P < s->P && (sum += s->bins[P].n) <= D;) P++;
    return P;
}

/* Grids whose bins are at most D, as far as the pilot's can tell. */
static int64_t suggested(const grids *pilot, int64_t D) {
    double Q = (double)pilot->P, mean = 0, square = 0;
    if (pilot->P == 0) return 1; /* one of them has more than D bins: one grid may have fewer */
    for (int64_t p = 0; p < pilot->P; p++) mean += (double)pilot->bins[p].n / Q;
    for (int64_t p = 0; p < pilot->P; p++) square += pow((double)pilot->bins[p].n - mean, 2);
    double variance = square / fmax(1, Q - 1);
    int64_t P = (int64_t)((double)D / mean);
    while (P > 1 && (double)P * mean + sqrt(variance * (double)P * (1 + (double)P / Q)) > (double)D)
        P--;
    return krein__max(1, P);
}

/* Adds the bins of some rows to all grids of both kinds. */
static krein_status add_rows(krein_map *map, grids *s, grids *pilot, const krein_rows *rows,
                             const float *x, int32_t *tuples) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d, all = s->P + pilot->P;
    for (int64_t p = 0; p < s->P; p++) TRY(krein__bins_reserve(ctx, &s->bins[p], rows->n));
    for (int64_t p = 0; p < pilot->P; p++) TRY(krein__bins_reserve(ctx, &pilot->bins[p], rows->n));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t q = 0; q < all; q++) {
        grids *of = q < s->P ? s : pilot;
        int64_t p = q < s->P ? q : q - s->P;
        int32_t *tuple = tuples + omp_get_thread_num() * s->width;
        for (int64_t i = 0; i < rows->n; i++)
            krein__bins_add(&of->bins[p], key_of(of, d, p, x + i * d, tuple));
    }
done:
    return st;
}

/* One pass over the rows. Bins only become more, so a grid that does not fit now never will. */
static krein_status find_bins(krein_map *map, krein_stream *rows, grids *s, grids *pilot) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_block block;
    float *x = NULL;
    int32_t *tuples = NULL;
    if (krein__stream_shared(rows)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "%s finds its bins in one process; run it without a launcher, or use "
                         "another map",
                         map->cls->cls.name);
        goto done;
    }
    NEW(x, CHUNK * map->d);
    NEW(tuples, ctx->threads * s->width);
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n; i += CHUNK) {
            krein_rows part = krein__rows_slice(&block.x, i, krein__min(CHUNK, block.x.n - i));
            for (int64_t r = 0; r < part.n; r++) krein__row_copy(&part, r, x + r * map->d);
            TRY(add_rows(map, s, pilot, &part, x, tuples));
            cut(ctx, pilot, fitting(pilot, map->D));
            cut(ctx, s, krein__min(suggested(pilot, map->D), fitting(s, map->D)));
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, x);
    krein__free(ctx, tuples);
    return st;
}

/* D, R, the features of each grid, their value and sign. */
static krein_status finish(krein_map *map, grids *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term terms[1];
    int64_t n;
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    NEW(s->first, s->P + 1);
    s->first[0] = 0;
    for (int64_t p = 0; p < s->P; p++) s->first[p + 1] = s->first[p] + s->bins[p].n;
    s->value = (float)sqrt(fabs(terms[0].coefficient) / (double)s->P);
    map->D = map->R = s->first[s->P];
    map->scratch = map->d + s->width + 2 * s->P;
    if (terms[0].coefficient >= 0) goto done;
    NEW(map->sign, map->D);
    memset(map->sign, -1, (size_t)map->D);
done:
    return st;
}

/* At most so many grids: with one bin a grid says nothing. */
static int64_t most(const krein_map *map) { return krein__max(1, map->D / 2); }

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    grids *s = NULL, pilot = {0};
    (void)n;
    ZNEW(s, 1);
    map->state = s;
    TRY(grids_begin(map, most(map), 0, s));
    TRY(grids_begin(map, PILOT, 1, &pilot));
    TRY(find_bins(map, rows, s, &pilot));
    if (s->P == 0) {
        st = krein__fail(ctx, KREIN_ESPEC,
                         "binning: D = %lld features are too few for the bins of one grid on these "
                         "rows; raise D or sigma, or try rff",
                         (long long)map->D);
        goto done;
    }
    TRY(finish(map, s));
done:
    grids_clear(ctx, &pilot);
    return st;
}

/* ---- rows --------------------------------------------------------------- */

/* The feature of x in each grid, -1: none. */
static void features_of(const grids *s, int64_t d, const float *x, int32_t *tuple, int32_t *col) {
    for (int64_t p = 0; p < s->P; p++) {
        int64_t code = krein__bins_find(&s->bins[p], key_of(s, d, p, x, tuple));
        col[p] = code < 0 ? -1 : (int32_t)(s->first[p] + code);
    }
}

static int64_t nonzeros(const krein_map *map) { return ((const grids *)map->state)->P; }

static void tile_sparse(const krein_map *map, const krein_rows *rows, int32_t *col, float *val,
                        float *scratch) {
    const grids *s = map->state;
    int32_t *tuple = (int32_t *)(scratch + map->d);
    for (int64_t i = 0; i < rows->n; i++) {
        krein__row_copy(rows, i, scratch);
        features_of(s, map->d, scratch, tuple, col + i * s->P);
        for (int64_t p = 0; p < s->P; p++) val[i * s->P + p] = s->value;
    }
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const grids *s = map->state;
    int32_t *tuple = (int32_t *)(scratch + map->d), *col = tuple + s->width;
    for (int64_t i = 0; i < rows->n; i++) {
        float *z = out + i * ld;
        memset(z, 0, (size_t)map->R * sizeof *z);
        krein__row_copy(rows, i, scratch);
        features_of(s, map->d, scratch, tuple, col);
        for (int64_t p = 0; p < s->P; p++)
            if (col[p] >= 0) z[col[p]] = s->value;
    }
}

/* ---- model files -------------------------------------------------------- */

/* The keys of all grids, one behind the other. */
static krein_status write_keys(krein_archive *a, const krein_map *map, const grids *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_key *key = NULL;
    NEW(key, map->R);
    for (int64_t p = 0; p < s->P; p++)
        memcpy(key + s->first[p], s->bins[p].key, (size_t)s->bins[p].n * sizeof *key);
    st = krein__archive_array(a, "binning.keys", KREIN_TYPE_I64, &key, 2 * map->R);
    if (st == KREIN_OK) return krein__archive_own(a, key);
done:
    krein__free(ctx, key);
    return st;
}

static krein_status damaged(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its bins are wrong)");
}

static krein_status read_keys(krein_archive *a, krein_map *map, grids *s, const int64_t *count) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_key *key = NULL;
    int64_t at = 0;
    TRY(krein__archive_array(a, "binning.keys", KREIN_TYPE_I64, &key, 2 * map->R));
    for (int64_t p = 0; p < s->P; p++) {
        int64_t n = count[p];
        if (n < 1 || n > map->R - at) {
            st = damaged(ctx);
            goto done;
        }
        TRY(krein__bins_reserve(ctx, &s->bins[p], n));
        for (int64_t i = 0; i < n; i++) krein__bins_add(&s->bins[p], key[at + i]);
        if (s->bins[p].n != n) { /* a key twice */
            st = damaged(ctx);
            goto done;
        }
        at += n;
    }
    if (at != map->R) st = damaged(ctx);
done:
    krein__free(ctx, key);
    return st;
}

static krein_status write_state(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    grids *s = map->state;
    int64_t *count = NULL;
    NEW(count, s->P);
    for (int64_t p = 0; p < s->P; p++) count[p] = s->bins[p].n;
    st = krein__archive_array(a, "binning.bins", KREIN_TYPE_I64, &count, s->P);
    if (st == KREIN_OK) {
        TRY(krein__archive_own(a, count));
        return write_keys(a, map, s);
    }
    krein__free(ctx, count);
done:
    return st;
}

static krein_status read_state(krein_map *map, krein_archive *a, int64_t P) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    grids *s = NULL;
    int64_t *count = NULL;
    ZNEW(s, 1);
    map->state = s;
    TRY(krein__archive_array(a, "binning.bins", KREIN_TYPE_I64, &count, P));
    TRY(grids_begin(map, P, 0, s));
    TRY(read_keys(a, map, s, count));
    TRY(finish(map, s));
done:
    krein__free(ctx, count);
    return st;
}

static krein_status io(krein_map *map, krein_archive *a) {
    bool reading = krein__archive_reading(a);
    int64_t P = reading ? 0 : nonzeros(map);
    krein_status st = krein__archive_int(a, "binning.grids", &P, 1, map->R);
    if (st != KREIN_OK) return st;
    return reading ? read_state(map, a, P) : write_state(map, a);
}

/* ---- description -------------------------------------------------------- */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, krein__has_pitch) && krein__kernel_term_count(kernel) == 1)
        return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "binning",
                             "laplacian, with a factor, or a product of it");
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return map->D;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    double D = (double)map->D, P = (double)most(map), d = (double)map->d,
           threads = map->ctx->threads;
    krein_term term;
    int64_t terms;
    bool known = krein__kernel_terms(map->ctx, map->kernel, &term, &terms) == KREIN_OK;
    double leaves = known ? (double)term.n : KREIN_TERM_LEAVES;
    /* grids; bins of both kinds and one array twice while it grows; chunks, scratch, tiles */
    double bins = fmin(D, P * (double)n);
    out->bytes = 8 * (P + PILOT) * d * leaves + krein__bins_bytes(P, bins, CHUNK) +
                 krein__bins_bytes(PILOT, bins, CHUNK) + krein__bins_bytes(1, bins, CHUNK) + D +
                 4 * CHUNK * d + threads * 4 * (d * (1 + 2 * leaves) + 2 * P + KREIN_TILE * D) +
                 16 * P + 32768;
    out->flops = P * (4 * d * leaves + 50) + D;
    out->fit_flops = (double)n * out->flops + 400 * P * d * leaves;
}

static void clear(krein_map *map) { grids_clear(map->ctx, map->state); }

static bool fact(const krein_map *map, int64_t i, krein_fact *out) {
    *out = (krein_fact){.name = "grids", .value = (double)nonzeros(map)};
    return i == 0;
}

static const krein_option options[] = {KREIN_OPTION_D_AS("number of features, at most"), {0}};

const krein_map_class krein__map_binning = {
    .cls = {"binning", "random binning: the cells of random grids", "rahimi2007", options,
            "For the laplacian kernel. A feature for each cell of a grid that has training rows in "
            "it; of a row's features one a grid is not zero (transform to a .libsvm file keeps "
            "those only). Suits few columns or a wide kernel: else every row has a cell to "
            "itself."},
    .kernels = "laplacian",
    .time = "n d D",
    .traits = KREIN_MAP_DATA,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .nonzeros = nonzeros,
    .tile_sparse = tile_sparse,
    .io = io,
    .clear = clear,
    .fact = fact};
