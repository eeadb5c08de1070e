/* deep -- layers of random Fourier features, in float or in a few bits
 *
 *     s_0 = x,   s_l = [cos(W_l's_l-1), sin(W_l's_l-1)],   z = sqrt(k(0) / F) s_L,   F frequencies
 * a layer
 *
 * The frequencies of the first layer are draws from the spectral measure of the kernel, those of
 * the others N(0, I) / sqrt(F), since |s|^2 = F. One layer is rff. L layers are features of the
 * kernel k_L, k_l(x, y) = exp(-(1 - k_l-1(x, y))), an iterated Gaussian (luo2022, chapter 3).
 *
 * With bits = 8, 4, 2 or 1 frequencies and features are codes (num/quant.h): the features on [-1,
 * 1], the frequencies on the range that they have, encoded rows in 8 bits on [-reach, reach], four
 * deviations here. Products are those of whole numbers, and a table turns them into the codes of
 * cosines and sines (num/codes.h). The file holds the codes alone.
 *
 * Cost: d F + (L - 1) 2 F^2 products a row. */
#include "map/deep.h"

#include "map/draw.h"
#include "map/fourier.h"
#include "map/tile.h"
#include "num/blas.h"
#include "num/vec.h"

#include <math.h>
#include <string.h>

enum { D_SLOT, LAYERS, BITS };
enum { CHUNK = 256 }; /* frequencies at a time */
static const double REACH = 4;

static int bits_of(const krein_map *map) { return (int)map->values.number[BITS]; }
bool krein__deep_offers(int bits) {
    return bits == KREIN_DEEP_FLOAT || bits == 8 || bits == 4 || bits == 2 || bits == 1;
}
int64_t krein__deep_layers(const krein_map *map) { return (int64_t)map->values.number[LAYERS]; }

bool krein__map_is_deep(const krein_map *map) { return map->cls == &krein__map_deep; }
const krein_deep *krein__deep(const krein_map *map) { return map->state; }

/* A map that was made of another one may have any kernel; drawn frequencies need a measure. */
static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    (void)ctx, (void)kernel;
    return KREIN_OK;
}

static krein_status check_kernel(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_term_count(kernel) == 1 && krein__kernel_all(kernel, krein__has_frequency) &&
        krein__kernel_positive(kernel))
        return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "deep",
                             "one stationary kernel with a known spectral measure, or a product of "
                             "such");
}

static const krein_deep_layer *last(const krein_deep *s) { return &s->layer[s->layers - 1]; }

double krein__deep_factor(const krein_map *map) {
    const krein_deep *s = map->state;
    return sqrt(s->mass / (double)last(s)->F);
}

/* ---- sizes -------------------------------------------------------------- */

static int64_t widest(const krein_deep *s) {
    int64_t most = s->layer[0].in;
    for (int64_t l = 0; l < s->layers; l++) most = krein__max(most, 2 * s->layer[l].F);
    return most;
}

/* Floats of a thread: rows as they come, then two layers of numbers or codes, and turns. */
static int64_t scratch_of(const krein_map *map, const krein_deep *s) {
    int64_t rows = KREIN_TILE * s->layer[0].in, each = KREIN_TILE * widest(s);
    if (s->bits == KREIN_DEEP_FLOAT) return rows + 2 * each + KREIN_TILE * CHUNK;
    int64_t bytes = 0;
    for (int64_t l = 0; l < s->layers; l++)
        bytes = krein__max(bytes, krein__product_scratch(s->layer[l].product));
    (void)map;
    return rows + (2 * each + bytes) / 4 + 64;
}

static void shape(krein_map *map) {
    krein_deep *s = map->state;
    map->D = map->R = 2 * last(s)->F;
    map->scratch = scratch_of(map, s);
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__max(1, map->D / 2) * 2;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    double F = (double)features(map, n) / 2, d = (double)map->d,
           L = (double)krein__deep_layers(map);
    double W = d * F + (L - 1) * 2 * F * F, wide = fmax(d, 2 * F), scratch = 0;
    /* Frequencies in double while they are drawn, in float, as codes laid out for the CPU. */
    if (bits_of(map) != KREIN_DEEP_FLOAT)
        krein__product_bytes(8, (int64_t)wide, (int64_t)F, &scratch);
    out->bytes =
        4 * W + 8 * fmax(d, 2 * F) * F + 4 * W + 1e6 +
        map->ctx->threads * (8 * d + 4.0 * KREIN_TILE * (d + 2 * wide + CHUNK + 2 * F) + scratch);
    out->flops = 2 * W + 20 * L * F;
    out->fit_flops = 100 * W;
}

/* ---- state -------------------------------------------------------------- */

static void clear(krein_map *map) {
    krein_deep *s = map->state;
    krein_ctx *ctx = map->ctx;
    if (!s) return;
    for (int64_t l = 0; l < s->layers; l++) {
        krein__free(ctx, s->layer[l].W);
        krein__codes_clear(ctx, &s->layer[l].codes);
        krein__product_destroy(ctx, s->layer[l].product);
    }
    krein__wave_codes_destroy(ctx, s->table);
    krein__free(ctx, s->unit);
}

/* Products and table of the codes that are there. */
static krein_status prepare(krein_map *map) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_deep *s = map->state;
    if (s->bits == KREIN_DEEP_FLOAT) return KREIN_OK;
    TRY(krein__wave_codes_create(ctx, s->bits, &s->table));
    for (int64_t l = 0; l < s->layers; l++) {
        krein_product_plan plan = {.rows = l == 0 ? s->input : krein__wave_codes_quant(s->table),
                                   .turns = 1};
        TRY(krein__product_create(ctx, &s->layer[l].codes, &plan, &s->layer[l].product));
    }
done:
    return st;
}

krein_status krein__deep_give(krein_map *map, const krein_deep_given *given) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_deep *s = NULL;
    int64_t in = map->d;
    clear(map);
    krein__free(ctx, map->state);
    map->state = NULL;
    ZNEW(s, 1);
    map->state = s;
    s->bits = given->bits;
    map->values.number[BITS] = (double)given->bits;
    s->mass = given->mass;
    s->input = krein__quant(KREIN_DEEP_INPUT_BITS, -given->reach, given->reach);
    if (given->unit) {
        NEW(s->unit, map->d);
        memcpy(s->unit, given->unit, (size_t)map->d * sizeof *s->unit);
    }
    for (int64_t l = 0; l < given->layers; l++) {
        krein_deep_layer *to = &s->layer[l];
        int64_t F = given->F[l];
        *to = (krein_deep_layer){.in = in, .F = F};
        s->layers = l + 1;
        if (given->bits == KREIN_DEEP_FLOAT) {
            NEW(to->W, in * F);
            memcpy(to->W, given->W[l], (size_t)(in * F) * sizeof *to->W);
        } else if (given->codes) {
            TRY(krein__codes_pack(ctx, &given->quant[l], in, F, given->codes[l], &to->codes));
        } else {
            TRY(krein__codes_create(ctx, given->bits, in, F, given->W[l], F, &to->codes));
        }
        in = 2 * F;
    }
    TRY(prepare(map));
    shape(map);
done:
    return st;
}

/* ---- drawn -------------------------------------------------------------- */

enum { ROLE_LAYER = 2 };

/* W (in x F) in turns: draws of the kernel, or N(0, I) / sqrt(in / 2). */
static krein_status draw_layer(krein_map *map, const krein_term *term, int64_t l, int64_t in,
                               int64_t F, float *W) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t piece = krein__min(F, krein__draw_rows(in));
    double *w = NULL, scale = l == 0 ? 0.5 / M_PI : 0.5 / M_PI / sqrt((double)in / 2);
    krein_rng g = krein__role((krein_rng){map->seed, KREIN_STREAM_MAP}, (uint64_t)(ROLE_LAYER + l));
    NEW(w, piece * in);
    for (int64_t f = 0; f < F; f += piece) {
        int64_t m = krein__min(piece, F - f);
        TRY(l == 0 ? krein__term_draw(map, 0, term, krein__fourier_draw, f, m, w)
                   : krein__normal_rows(ctx, g, f, m, in, w));
        for (int64_t j = 0; j < in; j++)
            for (int64_t i = 0; i < m; i++) W[j * F + f + i] = (float)(w[i * in + j] * scale);
    }
done:
    krein__free(ctx, w);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    int64_t count, F[KREIN_DEEP_LAYERS], in = map->d, layers = krein__deep_layers(map);
    float *W[KREIN_DEEP_LAYERS] = {NULL};
    krein_deep_given given = {.layers = layers, .F = F, .bits = bits_of(map), .reach = REACH};
    (void)rows, (void)n;
    if (!krein__deep_offers(bits_of(map)))
        return krein__fail(ctx, KREIN_ESPEC, "deep: bits=%d is not offered: 32, 8, 4, 2 or 1",
                           bits_of(map));
    if (map->D < 2)
        return krein__fail(ctx, KREIN_ESPEC,
                           "deep: D = 1 feature is too few for a cosine and a sine; give D=2 or "
                           "more");
    TRY(check_kernel(ctx, map->kernel));
    NEW(terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &count));
    TRY(krein__term_mass(map, &terms[0], &given.mass));
    for (int64_t l = 0; l < layers; l++) {
        F[l] = map->D / 2;
        NEW(W[l], in * F[l]);
        TRY(draw_layer(map, &terms[0], l, in, F[l], W[l]));
        in = 2 * F[l];
    }
    given.W = (const float *const *)W;
    TRY(krein__deep_give(map, &given));
done:
    krein__free(ctx, terms);
    for (int64_t l = 0; l < layers; l++) krein__free(ctx, W[l]);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* Rows of the tile, dense, zeros behind the last. */
static void take_rows(const krein_map *map, const krein_rows *rows, float *to) {
    int64_t d = map->d;
    for (int64_t i = 0; i < rows->n; i++) krein__row_copy(rows, i, to + i * d);
    memset(to + rows->n * d, 0, (size_t)((KREIN_TILE - rows->n) * d) * sizeof *to);
}

/* s (KREIN_TILE x 2 F) from x (KREIN_TILE x in) by one layer in float. */
static void layer_float(const krein_deep_layer *l, const float *x, float *turns, float scale,
                        float *out, int64_t ld) {
    for (int64_t f = 0; f < l->F; f += CHUNK) {
        int64_t m = krein__min(CHUNK, l->F - f);
        krein__sgemm(false, false, KREIN_TILE, m, l->in, 1, x, l->in, l->W + f, l->F, 0, turns, m);
        for (int64_t i = 0; i < KREIN_TILE; i++)
            krein__vsincos_turns(m, turns + i * m, scale, out + i * ld + 2 * f);
    }
}

static void tile_float(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                       float *scratch) {
    const krein_deep *s = map->state;
    int64_t each = KREIN_TILE * widest(s);
    float *x = scratch, *a = x + KREIN_TILE * map->d, *b = a + each, *turns = b + each;
    take_rows(map, rows, x);
    for (int64_t l = 0; l < s->layers; l++) {
        bool end = l == s->layers - 1;
        float *to = l % 2 ? b : a;
        layer_float(&s->layer[l], x, turns, end ? (float)krein__deep_factor(map) : 1,
                    end ? out : to, end ? ld : 2 * s->layer[l].F);
        x = to;
    }
}

static const uint8_t *code_tile(const krein_map *map, const krein_rows *rows, float *scratch) {
    const krein_deep *s = map->state;
    int64_t each = KREIN_TILE * widest(s), d = map->d;
    float *x = scratch;
    uint8_t *a = (uint8_t *)(x + KREIN_TILE * d), *b = a + each, *from = a, *to = b;
    uint8_t *room = (uint8_t *)(((uintptr_t)(b + each) + 63) / 64 * 64);
    /* Whole numbers are the same for a row alone: the tile need not be full. */
    for (int64_t i = 0; i < rows->n; i++) krein__row_copy(rows, i, x + i * d);
    for (int64_t e = 0; s->unit && e < rows->n * d; e++) x[e] *= s->unit[e % d];
    krein__quant_codes(&s->input, rows->n * d, x, from);
    for (int64_t l = 0; l < s->layers; l++) {
        const krein_deep_layer *at = &s->layer[l];
        krein__product_waves(at->product, s->table, rows->n, from, at->in, room, to);
        uint8_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static krein_map_codes codes(const krein_map *map) {
    const krein_deep *s = map->state;
    return (krein_map_codes){krein__wave_codes_quant(s->table), krein__deep_factor(map)};
}

/* What the codes stand for. */
static void tile_codes(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                       float *scratch) {
    krein_map_codes q = codes(map);
    const uint8_t *from = code_tile(map, rows, scratch);
    int64_t R = map->R;
    float factor = (float)q.factor;
    for (int64_t i = 0; i < rows->n; i++) {
        krein__quant_reals(&q.quant, R, from + i * R, out + i * ld);
        for (int64_t j = 0; j < R; j++) out[i * ld + j] *= factor;
    }
    for (int64_t i = rows->n; i < KREIN_TILE; i++) memset(out + i * ld, 0, (size_t)R * sizeof *out);
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const krein_deep *s = map->state;
    (s->bits == KREIN_DEEP_FLOAT ? tile_float : tile_codes)(map, rows, out, ld, scratch);
}

/* ---- in a file ---------------------------------------------------------- */

static krein_status damaged(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its layers are wrong)");
}

static krein_status io_quant(krein_archive *a, const char *scale, const char *zero, int bits,
                             krein_quant *q) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_double(a, scale, &q->scale));
    TRY(krein__archive_double(a, zero, &q->zero));
    if (krein__archive_reading(a)) q->bits = bits;
done:
    return st;
}

static krein_status io_layer(krein_archive *a, krein_ctx *ctx, int bits, krein_deep_layer *l) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_int(a, "deep.F", &l->F, 1, INT32_MAX / 4));
    if (bits == KREIN_DEEP_FLOAT)
        return krein__archive_array(a, "deep.W", KREIN_TYPE_F32, &l->W, l->in * l->F);
    TRY(io_quant(a, "deep.scale", "deep.zero", bits, &l->codes.quant));
    if (krein__archive_reading(a)) {
        l->codes.inputs = l->in;
        l->codes.outputs = l->F;
    }
    TRY(krein__archive_array(a, "deep.codes", KREIN_TYPE_BYTES, &l->codes.packed,
                             krein__codes_bytes(&l->codes)));
    if (krein__codes_check(ctx, &l->codes) != KREIN_OK) st = damaged(ctx);
done:
    return st;
}

static krein_status io(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_deep *s = map->state;
    bool reading = krein__archive_reading(a);
    int64_t D = map->D, in = map->d, bits = s ? s->bits : 0;
    if (!s) {
        ZNEW(s, 1);
        map->state = s;
    }
    int64_t layers = s->layers;
    TRY(krein__archive_int(a, "deep.layers", &layers, 1, KREIN_DEEP_LAYERS));
    TRY(krein__archive_int(a, "deep.bits", &bits, 1, KREIN_DEEP_FLOAT));
    TRY(krein__archive_double(a, "deep.mass", &s->mass));
    if (reading) s->bits = (int)bits;
    if (!krein__deep_offers(s->bits) || s->bits != bits_of(map) ||
        !(s->mass > 0 && isfinite(s->mass))) {
        st = damaged(ctx);
        goto done;
    }
    if (s->bits != KREIN_DEEP_FLOAT) {
        TRY(io_quant(a, "deep.input.scale", "deep.input.zero", KREIN_DEEP_INPUT_BITS, &s->input));
        if (krein__quant_check(ctx, &s->input) != KREIN_OK) {
            st = damaged(ctx);
            goto done;
        }
    }
    if (reading ? krein__archive_has(a, "deep.unit") : s->unit != NULL)
        TRY(krein__archive_array(a, "deep.unit", KREIN_TYPE_F32, &s->unit, map->d));
    for (int64_t l = 0; l < layers; l++) {
        if (reading) s->layer[l].in = in;
        if (reading) s->layers = l + 1; /* a model that is written may be in use */
        krein__archive_enter(a, l);
        st = io_layer(a, ctx, s->bits, &s->layer[l]);
        krein__archive_leave(a);
        if (st != KREIN_OK) goto done;
        in = 2 * s->layer[l].F;
    }
    if (!reading) goto done;
    if (D != 2 * last(s)->F || map->R != D) {
        st = damaged(ctx);
        goto done;
    }
    TRY(prepare(map));
    shape(map);
done:
    return st;
}

static int own_traits(const krein_map *map) {
    return bits_of(map) == KREIN_DEEP_FLOAT ? 0 : KREIN_MAP_CODES;
}

static const krein_option options[] = {
    [D_SLOT] =
        KREIN_OPTION_D_AS("features of the last layer, a cosine and a sine for each frequency"),
    [LAYERS] = {.name = "layers",
                .type = KREIN_OPTION_INTEGER,
                .value = 2,
                .low = 1,
                .high = KREIN_DEEP_LAYERS,
                .help = "layers of so many features each"},
    [BITS] = {.name = "bits",
              .type = KREIN_OPTION_INTEGER,
              .value = KREIN_DEEP_FLOAT,
              .low = 1,
              .high = KREIN_DEEP_FLOAT,
              .help = "of frequencies and features: 32, or whole numbers of 8, 4, 2 or 1"},
    {0}};

const krein_map_class krein__map_deep = {
    .cls =
        {"deep", "layers of random Fourier features, in float or in a few bits", "luo2022", options,
         "The features of one layer are the inputs of the next. For one stationary kernel, or a "
         "product of such, whose spectral measure the first layer is drawn from. With bits below "
         "32 frequencies and features are whole numbers, and so is the arithmetic."},
    .kernels = "stationary",
    .time = "n d D + n D^2",
    .own_traits = own_traits,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .codes = codes,
    .code_tile = code_tile,
    .io = io,
    .clear = clear};
