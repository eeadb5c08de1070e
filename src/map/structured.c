/* structured.c -- blocks of structured frequencies: fit, features of a tile, cost.
 *
 * A row is padded once; each block multiplies it by fast transforms in the first-level cache and
 * its cos and sin go straight to the output. For few columns a matrix product is faster than
 * many short transforms: then the blocks are multiplied by the unit vectors once, and the map works
 * as rff does with the matrix W that results (the same frequencies). */
#include "map/structured.h"
#include "map/waves.h"

#include "num/hadamard.h"
#include "num/vec.h"

#include <math.h>
#include <string.h>

/* ---- tools of the structures -------------------------------------------- */

void krein__signs(krein_rng g, int64_t row, int64_t n, float *out) {
    for (int64_t j = 0; j < n; j += 64) {
        uint64_t bits = krein__rng_bits(g, (uint64_t)row, (uint64_t)(j / 64));
        for (int64_t k = j; k < krein__min(n, j + 64); k++, bits >>= 1)
            out[k] = bits & 1 ? 1.0f : -1.0f;
    }
}

int64_t krein__structured_swap(krein_rng g, int64_t b, int64_t i) {
    return (int64_t)krein__rng_below(g, (uint64_t)b, (uint64_t)i, (uint64_t)i + 1);
}

void krein__scale_turns(int64_t m, const float *in, const float *scale, float *out) {
    for (int64_t i = 0; i < m; i++) out[i] = in[i] * scale[i];
}

/* The first h rows of H are h-point transforms repeated P/h times: add the parts first. */
void krein__hadamard_head(int64_t P, int64_t m, const float *x, const float *diagonal, float *out) {
    int64_t h = P;
    while (h / 2 >= m && h > 8) h /= 2;
    if (h == P) {
        krein__fwht_scaled(P, x, diagonal, out);
        return;
    }
    for (int64_t j = 0; j < h; j++) out[j] = x[j] * diagonal[j];
    for (int64_t k = h; k < P; k += h)
        for (int64_t j = 0; j < h; j++) out[j] += x[k + j] * diagonal[k + j];
    krein__fwht(h, out);
}

/* ---- fit ---------------------------------------------------------------- */

static int64_t padded(int64_t d) {
    int64_t P = 2;
    while (P < d) P *= 2;
    return P;
}

static krein_freq_block block_at(const krein_structured *s, int64_t t, int64_t b) {
    int64_t first = s->fourier.first[t] + b * s->P;
    return (krein_freq_block){s->state + (t * s->per_term + b) * s->how->state * s->P,
                              s->scale + first, krein__min(s->P, s->fourier.first[t + 1] - first),
                              t};
}

/* 1 / (2 pi) times the scale of each frequency's Gaussian; the streams are those of the kernels. */
static krein_status draw_scales(const krein_map *map, const krein_structured *s,
                                const krein_term *term, int64_t t) {
    krein_status st = KREIN_OK;
    for (int64_t f = s->fourier.first[t]; f < s->fourier.first[t + 1]; f++) {
        double square = 0;
        for (int64_t l = 0; l < term->n; l++) {
            const krein_kernel *leaf = term->leaf[l];
            krein_rng g = {map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t + l)};
            if (!leaf->kernel->mixture) continue;
            double u = krein__rng_uniform(g, (uint64_t)(f - s->fourier.first[t]), 0);
            square += pow(leaf->kernel->mixture(leaf->values.number, u), 2);
        }
        s->scale[f] = (float)(sqrt(square) * (0.5 / M_PI));
        if (f % 65536 == 0) TRY(krein__poll(map->ctx));
    }
done:
    return st;
}

static void permutation(krein_rng g, int64_t b, int64_t n, int32_t *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = krein__structured_swap(g, b, i);
        int32_t other = out[k];
        out[k] = out[i];
        out[i] = other;
    }
}

static void draw_factors(const krein_structured *s, krein_rng g, int64_t b, float *state) {
    for (const krein_factor *f = s->how->factor; f->kind; f++, state += s->P) {
        krein_rng own = krein__role(g, f->role);
        if (f->kind == KREIN_FACTOR_SIGNS) krein__signs(own, b, s->P, state);
        if (f->kind == KREIN_FACTOR_PERMUTATION) permutation(own, b, s->P, (int32_t *)state);
        for (int64_t i = 0; f->kind == KREIN_FACTOR_NORMALS && i < s->P; i++)
            state[i] = (float)krein__rng_normal(own, (uint64_t)b, (uint64_t)i);
    }
}

static krein_status draw_blocks(krein_map *map, krein_structured *s, const krein_term *terms) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < s->fourier.nterm; t++) {
        krein_rng g = {map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t)};
        TRY(draw_scales(map, s, &terms[t], t));
        for (int64_t b = 0; b < s->per_term; b++) {
            krein_freq_block block = block_at(s, t, b);
            draw_factors(s, g, b, block.state);
            s->how->draw(map, s, &terms[t], g, b, &block);
            TRY(krein__poll(map->ctx));
        }
    }
done:
    return st;
}

/* The frequencies by unit vectors: W, d x F. */
static krein_status write_out(krein_ctx *ctx, const krein_structured *s, float *W) {
    krein_status st = KREIN_OK;
    float *scratch = NULL;
    int64_t width = s->how->width * s->P, F = s->fourier.F;
    NEW(scratch, width + s->how->scratch * s->P);
    for (int64_t j = 0; j < s->d; j++) {
        memset(scratch, 0, (size_t)width * sizeof *scratch);
        scratch[j] = 1;
        if (s->how->prepare) s->how->prepare(s, scratch);
        for (int64_t t = 0; t < s->fourier.nterm; t++)
            for (int64_t b = 0; b < s->per_term; b++) {
                krein_freq_block block = block_at(s, t, b);
                float *w = s->how->multiply(s, &block, scratch, scratch + width);
                memcpy(W + j * F + s->fourier.first[t] + b * s->P, w, (size_t)block.m * sizeof *w);
            }
    }
done:
    krein__free(ctx, scratch);
    return st;
}

/* W, and no blocks. */
static krein_status make_direct(krein_map *map, krein_structured *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    NEW(s->fourier.W, s->d * s->fourier.F);
    TRY(write_out(ctx, s, s->fourier.W));
    krein__free(ctx, s->state);
    s->state = NULL;
done:
    return st;
}

krein_status krein__structured_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out) {
    krein_status st = KREIN_OK;
    const krein_structured *s = map->state;
    krein_fourier written = s->fourier;
    krein_map other = *map;
    if (s->fourier.W) return krein__fourier_waves(ctx, map, out);
    NEW(written.W, s->d * s->fourier.F);
    TRY(write_out(ctx, s, written.W));
    other.state = &written;
    TRY(krein__fourier_waves(ctx, &other, out));
done:
    krein__free(ctx, written.W);
    return st;
}

krein_status krein__structured_fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_structure *how = map->cls->structure(map);
    krein_term *terms = NULL;
    krein_structured *s = NULL;
    (void)rows, (void)n;
    if (how->columns > 0 && map->d > how->columns)
        return krein__fail(
            ctx, KREIN_EDATA, "%s takes at most %lld columns, there are %lld; try %s",
            map->cls->cls.name, (long long)how->columns, (long long)map->d, how->beyond);
    NEW(terms, KREIN_TERMS_MAX);
    ZNEW(s, 1);
    map->state = s;
    s->how = how;
    s->d = map->d;
    s->P = padded(map->d);
    TRY(krein__fourier_split(map, false, &s->fourier, terms));
    for (int64_t t = 0; t < s->fourier.nterm; t++)
        for (int64_t l = 0; l < terms[t].n; l++) {
            bool gaussian = terms[t].leaf[l]->kernel->mixture != NULL;
            s->gaussian[t] = s->gaussian[t] || gaussian;
            s->independent[t] = s->independent[t] || !gaussian;
        }
    s->per_term = (s->fourier.first[1] + s->P - 1) / s->P;
    NEW(s->scale, s->fourier.F);
    NEW(s->state, s->fourier.nterm * s->per_term * how->state * s->P);
    if (how->fft) TRY(krein__fft_create(ctx, how->width * s->P, &s->fft));
    if (how->begin) TRY(how->begin(map, s, terms));
    TRY(draw_blocks(map, s, terms));
    if (map->d <= how->direct)
        TRY(make_direct(map, s));
    else
        map->scratch = (how->width + how->scratch) * s->P;
done:
    krein__free(ctx, terms);
    return st;
}

/* ---- features ----------------------------------------------------------- */

static void row_features(const krein_structured *s, const float *x, float *out, float *scratch) {
    for (int64_t t = 0; t < s->fourier.nterm; t++)
        for (int64_t b = 0; b < s->per_term; b++) {
            krein_freq_block block = block_at(s, t, b);
            float *turns = s->how->multiply(s, &block, x, scratch);
            krein__vsincos_turns(block.m, turns, s->fourier.scale[t],
                                 out + 2 * (s->fourier.first[t] + b * s->P));
        }
}

void krein__structured_tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                            float *scratch) {
    const krein_structured *s = map->state;
    if (s->fourier.W) {
        krein__fourier_tile(map, rows, out, ld, scratch);
        return;
    }
    int64_t width = s->how->width * s->P, d = s->d;
    bool ready = !rows->ptr && d == width && !s->how->prepare;
    for (int64_t i = 0; i < rows->n; i++) {
        const float *x = scratch;
        if (ready) {
            x = rows->x + i * rows->ld;
        } else if (rows->ptr) {
            memset(scratch, 0, (size_t)width * sizeof *scratch);
            for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++)
                scratch[rows->col[k]] = rows->val[k];
        } else {
            memcpy(scratch, rows->x + i * rows->ld, (size_t)d * sizeof *scratch);
            memset(scratch + d, 0, (size_t)(width - d) * sizeof *scratch);
        }
        if (s->how->prepare) s->how->prepare(s, scratch);
        row_features(s, x, out + i * ld, scratch + width);
    }
}

void krein__structured_clear(krein_map *map) {
    krein_structured *s = map->state;
    krein__free(map->ctx, s->fourier.W);
    krein__free(map->ctx, s->state);
    krein__free(map->ctx, s->scale);
    krein__free(map->ctx, s->shared);
    krein__fft_destroy(map->ctx, s->fft);
}

void krein__structured_cost(const krein_map *map, int64_t n, krein_cost *out) {
    const krein_structure *how = map->cls->structure(map);
    int64_t P = padded(map->d), D = krein__fourier_features(map, false), terms = 1;
    krein_term list[KREIN_TERMS_MAX];
    (void)n;
    if (krein__kernel_terms(map->ctx, map->kernel, list, &terms) != KREIN_OK) terms = 1;
    int64_t per_term = (D / 2 / terms + P - 1) / P;
    double blocks = (double)(terms * per_term), p = (double)P;
    double width = (double)(how->width * P), scratch = width + (double)how->scratch * p;
    double F = (double)D / 2, steps = log2(width) * (double)(how->state + how->width);
    krein_cost direct = {0};
    if (map->d <= how->direct) krein__fourier_cost(map, false, KREIN_DRAWN_SINGLY, &direct);
    /* blocks, scales, what they share, signs; scratch and padded tiles; W and its scratch */
    out->bytes = 4 * (blocks * (double)how->state * p + F + 2 * width) + (double)D +
                 (how->fft ? krein__fft_bytes((int64_t)width) : 0) +
                 4.0 * map->ctx->threads * (scratch + KREIN_TILE * (double)D) + direct.bytes +
                 32768;
    out->flops = map->d <= how->direct ? direct.flops : blocks * p * steps + 20 * F;
    out->fit_flops = 100 * blocks * p * (double)how->state + direct.fit_flops;
}
