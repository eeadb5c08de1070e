/* pool.c -- candidate frequencies, a sample of rows with targets, and their features in pieces.
 *
 * Terms of a kernel expression get candidates in proportion to the size of their mass (largest
 * remainders, at least one), so that all candidates stand for nearly the same part of the kernel.
 *
 * Targets: regression, the targets themselves; two classes, -1 and +1; more classes, one indicator
 * each (up to TARGETS of them; above that TARGETS random signs of the classes, whose squared
 * products have the same expectation). Then each is centred and all are divided by one number.
 */
#include "map/pool.h"
#include "map/draw.h"
#include "map/scores.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { PIECE = 512, TARGETS = 64 };
static const int64_t CELLS = (int64_t)1
                             << 24; /* of a sample, unless that leaves under 1,024 rows */

/* Streams of this file, apart from those of the frequencies (16 term + leaf). */
static krein_rng stream(const krein_map *map, int use) {
    return krein__role((krein_rng){map->seed, KREIN_STREAM_MAP}, 2 * (uint64_t)use);
}

/* ---- frequencies -------------------------------------------------------- */

krein_status krein__pool_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name) {
    return krein__fourier_accepts(ctx, kernel, name, krein__has_frequency,
                                  "stationary kernels with a known spectral measure");
}

krein_status krein__pool_frequencies(const krein_map *map, int64_t *F) {
    *F = map->D / 2;
    if (*F >= 1) return KREIN_OK;
    return krein__fail(map->ctx, KREIN_ESPEC,
                       "%s makes pairs of features, so D = %lld is too few: at least 2",
                       map->cls->cls.name, (long long)map->D);
}

int64_t krein__pool_features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__max(2, map->D / 2 * 2);
}

/* count[t] in proportion to |mass[t]|, at least 1, F in all. */
static void share(int64_t F, int64_t n, const double *mass, int64_t *count) {
    double total = 0, rest[KREIN_TERMS_MAX];
    int64_t given = 0;
    for (int64_t t = 0; t < n; t++) total += fabs(mass[t]);
    for (int64_t t = 0; t < n; t++) {
        double part = total > 0 ? (double)(F - n) * fabs(mass[t]) / total : 0;
        count[t] = 1 + (int64_t)part;
        rest[t] = part - floor(part);
        given += count[t];
    }
    for (; given < F; given++) {
        int64_t best = 0;
        for (int64_t t = 1; t < n; t++)
            if (rest[t] > rest[best]) best = t;
        count[best]++;
        rest[best] -= 1;
    }
}

krein_status krein__pool_draw(krein_map *map, int64_t F, krein_pool *pool) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    double mass[KREIN_TERMS_MAX];
    int64_t n, count[KREIN_TERMS_MAX], d = map->d, first = 0, piece = krein__draw_rows(d);
    *pool = (krein_pool){.map = map};
    NEW(terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    pool->F = krein__max(F, n);
    NEW(pool->w, pool->F * d);
    NEW(pool->c, pool->F);
    for (int64_t t = 0; t < n; t++) TRY(krein__term_mass(map, &terms[t], &mass[t]));
    share(pool->F, n, mass, count);
    for (int64_t t = 0; t < n; first += count[t++]) {
        for (int64_t f = 0; f < count[t]; f += piece)
            TRY(krein__term_draw(map, t, &terms[t], krein__fourier_draw, f,
                                 krein__min(piece, count[t] - f), pool->w + (first + f) * d));
        for (int64_t f = 0; f < count[t]; f++) pool->c[first + f] = mass[t] / (double)count[t];
    }
done:
    krein__free(ctx, terms);
    if (st != KREIN_OK) krein__pool_clear(pool);
    return st;
}

void krein__pool_clear(krein_pool *pool) {
    if (!pool->map) return;
    krein__free(pool->map->ctx, pool->w);
    krein__free(pool->map->ctx, pool->c);
    *pool = (krein_pool){0};
}

krein_status krein__pool_take(krein_map *map, const krein_pool *pool, int64_t m,
                              const int64_t *index, const double *c) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *w = NULL;
    NEW(w, m * map->d);
    for (int64_t i = 0; i < m; i++)
        memcpy(w + i * map->d, pool->w + index[i] * map->d, (size_t)map->d * sizeof *w);
    TRY(krein__fourier_weighted(map, m, w, c));
done:
    krein__free(ctx, w);
    return st;
}

krein_status krein__pool_resample(krein_map *map, const krein_pool *pool, const double *score,
                                  int64_t m) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *p = NULL, *c = NULL;
    int64_t *index = NULL;
    NEW(p, pool->F);
    NEW(c, m);
    NEW(index, m);
    krein__inclusion(pool->F, score, m, p);
    TRY(krein__draw_fixed(ctx, stream(map, 3), pool->F, p, m, index));
    for (int64_t i = 0; i < m; i++) c[i] = pool->c[index[i]] / p[index[i]];
    TRY(krein__pool_take(map, pool, m, index, c));
done:
    krein__free(ctx, p);
    krein__free(ctx, c);
    krein__free(ctx, index);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* One piece of frequencies as a map of its own. */
static krein_map piece_map(const krein_map *map) {
    return (krein_map){.ctx = map->ctx,
                       .cls = map->cls,
                       .kernel = map->kernel,
                       .d = map->d,
                       .sparse = map->sparse};
}

static void piece_clear(krein_map *piece) {
    if (piece->state) krein__fourier_clear(piece);
    krein__free(piece->ctx, piece->state);
}

static krein_status each_rows(const krein_map *piece, const krein_rows *x, int64_t first,
                              krein_pool_fn fn, void *user) {
    krein_ctx *ctx = piece->ctx;
    krein_status st = KREIN_OK;
    int64_t D = piece->D, most = krein__min(x->n, KREIN_POOL_ROWS);
    float *z = NULL, *scratch = NULL;
    double *wide = NULL, scale = sqrt((double)D / 2); /* given: frequencies have 1/sqrt(F) */
    NEW(z, most * D);
    NEW(wide, most * D);
    NEW(scratch, krein__map_scratch(piece));
    for (int64_t from = 0; from < x->n; from += most) {
        krein_rows rows = krein__rows_slice(x, from, krein__min(most, x->n - from));
        krein__map_raw(piece, &rows, NULL, z, scratch);
        for (int64_t i = 0; i < rows.n * D; i++) wide[i] = scale * (double)z[i];
        TRY(fn(user, first, D / 2, from, rows.n, wide));
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, z);
    krein__free(ctx, wide);
    krein__free(ctx, scratch);
    return st;
}

krein_status krein__pool_each(const krein_pool *pool, const krein_rows *x, krein_pool_fn fn,
                              void *user) {
    krein_status st = KREIN_OK;
    for (int64_t f = 0; f < pool->F && st == KREIN_OK; f += PIECE) {
        krein_map piece = piece_map(pool->map);
        st = krein__fourier_given(&piece, krein__min(PIECE, pool->F - f),
                                  pool->w + f * pool->map->d, NULL);
        if (st == KREIN_OK) st = each_rows(&piece, x, f, fn, user);
        piece_clear(&piece);
    }
    return st;
}

typedef struct products {
    krein_ctx *ctx;
    const krein_sample *sample;
    double *sum; /* k x 2 PIECE */
    double *out;
} products;

static krein_status add_products(void *user, int64_t first, int64_t m, int64_t from, int64_t n,
                                 double *z) {
    const products *p = user;
    int64_t k = p->sample->k;
    krein__pgemm(p->ctx, true, false, k, 2 * m, n, 1, p->sample->y + from * k, k, z, 2 * m,
                 from > 0, p->sum, 2 * m);
    if (from + n < p->sample->x.n) return KREIN_OK;
    for (int64_t f = 0; f < m; f++) {
        double squares = 0;
        for (int64_t c = 0; c < k; c++) {
            const double *pair = p->sum + c * 2 * m + 2 * f;
            squares += pair[0] * pair[0] + pair[1] * pair[1];
        }
        p->out[first + f] = squares;
    }
    return KREIN_OK;
}

krein_status krein__pool_products(const krein_pool *pool, const krein_sample *s, double *out) {
    krein_ctx *ctx = pool->map->ctx;
    krein_rows x = krein__matrix_rows(&s->x);
    products p = {.ctx = ctx, .sample = s, .out = out};
    p.sum = krein__zalloc(ctx, s->k * 2 * PIECE, sizeof *p.sum); /* beta = 0 must not meet NaN */
    if (!p.sum) return ctx->status;
    krein_status st = krein__pool_each(pool, &x, add_products, &p);
    krein__free(ctx, p.sum);
    return st;
}

/* ---- the sample --------------------------------------------------------- */

int64_t krein__sample_rows(const krein_map *map, int64_t n, int64_t most) {
    int64_t width = map->sparse ? krein__min(map->d, 1024) : map->d;
    return krein__min(n, krein__min(most, krein__max(1024, CELLS / width)));
}

/* Row i of y from its label. */
static void target(const krein_map *map, krein_stream *rows, const double *label, int64_t k,
                   double *y) {
    const krein_encoding *e = krein__stream_encoding(rows);
    for (int64_t c = 0; e->task == KREIN_TASK_MULTILABEL && c < k; c++)
        y[c] = krein__set_has(krein__stream_data(rows)->sets, (int64_t)label[0], c);
    if (e->task == KREIN_TASK_MULTILABEL) return;
    if (e->task == KREIN_TASK_REGRESSION) {
        memcpy(y, label, (size_t)k * sizeof *y);
        return;
    }
    uint64_t class = (uint64_t)label[0];
    if (e->nclass == 2)
        y[0] = class == 1 ? 1 : -1;
    else
        for (int64_t c = 0; c < k; c++)
            y[c] = e->nclass <= TARGETS                                      ? class == (uint64_t)c
                   : krein__rng_bits(stream(map, 2), class, (uint64_t)c) & 1 ? 1
                                                                             : -1;
}

static void standardise(int64_t n, int64_t k, double *y) {
    double squares = 0;
    for (int64_t c = 0; c < k; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += y[i * k + c] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            y[i * k + c] -= mean;
            squares += y[i * k + c] * y[i * k + c];
        }
    }
    double scale = squares > 0 ? sqrt((double)n / squares) : 0;
    for (int64_t i = 0; i < n * k; i++) y[i] *= scale;
}

static krein_status make_targets(const krein_map *map, krein_stream *rows, int64_t n,
                                 int64_t nlabel, const double *label, krein_sample *s) {
    const krein_encoding *e = krein__stream_encoding(rows);
    bool two = e->task == KREIN_TASK_CLASSIFICATION && e->nclass == 2;
    s->k = e->task == KREIN_TASK_REGRESSION ? nlabel : two ? 1 : krein__min(e->nclass, TARGETS);
    s->y = krein__alloc(map->ctx, n * s->k, sizeof *s->y);
    if (!s->y) return map->ctx->status;
    for (int64_t i = 0; i < n; i++) target(map, rows, label + i * nlabel, s->k, s->y + i * s->k);
    standardise(n, s->k, s->y);
    return KREIN_OK;
}

krein_status krein__sample_draw(krein_map *map, krein_stream *rows, int64_t n, int64_t most,
                                bool labels, krein_sample *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, m = krein__sample_rows(map, n, most);
    int64_t nlabel = krein__stream_labels(rows);
    double *label = NULL;
    memset(s, 0, sizeof *s);
    if (labels && nlabel == 0) {
        st = krein__fail(ctx, KREIN_EARG,
                         "%s needs labels, and the data has none; use %s, which does not",
                         map->cls->cls.name, krein__map_default(map->kernel, map->d, map->D));
        goto done;
    }
    NEW(index, m);
    if (labels) NEW(label, m * nlabel);
    krein__rng_choose(stream(map, 1), n, m, index);
    TRY(krein__stream_gather(rows, index, m, &s->x, label, NULL, NULL));
    if (labels) TRY(make_targets(map, rows, m, nlabel, label, s));
done:
    krein__free(ctx, index);
    krein__free(ctx, label);
    if (st != KREIN_OK) krein__sample_clear(ctx, s);
    return st;
}

void krein__sample_clear(krein_ctx *ctx, krein_sample *s) {
    krein__matrix_clear(ctx, &s->x);
    krein__free(ctx, s->y);
    memset(s, 0, sizeof *s);
}

/* ---- cost --------------------------------------------------------------- */

void krein__pool_cost(const krein_map *map, int64_t n, double times, int64_t most,
                      krein_cost *out) {
    double d = (double)map->d, D = (double)krein__pool_features(map, n);
    double F = fmax(times * D / 2, KREIN_TERMS_MAX), piece = fmin(F, PIECE);
    double rows = (double)krein__sample_rows(map, n, most), at_once = fmin(rows, KREIN_POOL_ROWS);
    /* sparse rows: their entries are not known yet; some thousand each, in a growing array */
    double row = map->sparse ? 32 * fmin(d, 1024) : 4 * d;
    krein__fourier_cost(map, false, KREIN_DRAWN_SINGLY, out);
    out->bytes += 4 * D;                      /* factors, and what D / 2 leaves to the terms */
    out->bytes += 8 * F * (d + 1) + 8 * D * d /* the pool, what is taken of it */
                  + 4 * F * 8                 /* scores, probabilities, indices */
                  + rows * (row + 24 + 2 * 8 * TARGETS)            /* the sample and its targets */
                  + 4 * (d + 4) * piece + at_once * 2 * piece * 12 /* one piece, float and double */
                  + 8 * TARGETS * 2 * PIECE +
                  map->ctx->threads * 4.0 * KREIN_TILE * (2 * piece + PIECE + d + 1);
    out->fit_flops += 100 * F * d + rows * F * (2 * d + 20);
}
