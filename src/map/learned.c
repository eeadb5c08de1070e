/* learned -- cosines with two sets of frequencies, to be trained                    (li2020)
 *     z(x) = sqrt(m) (cos(W'x + b) + cos(V'x + b)) / sqrt(2 M),   M = D
 *     sines=yes: sqrt(m) [cos W'x + cos V'x, sin W'x + sin V'x] / sqrt(4 M),   D = 2 M, in pairs
 * with the same phases b in both terms and m = k(0). W and V are independent draws from the
 * spectral measure of the kernel, until a learner trains them, or those of another model (file). A
 * stationary spectrum has V = W: then z'z estimates the kernel, as rff does. With two sets it
 * estimates the non-stationary kernel
 *     (1 / 4) E [cos(w'x - v'y) + cos(v'x - w'y) + cos w'(x - y) + cos v'(x - y)]
 * which is half of the kernel and a part that depends on where x and y are. (With phases that
 * differ in the two terms that part would be lost.)
 * Cost: O(d D) a row, twice that with two sets. */
#include "map/learned.h"

#include "kernel/alike.h"
#include "kernel/spectral_mixture.h"
#include "map/draw.h"
#include "map/fourier.h"
#include "map/tile.h"
#include "map/waves.h"
#include "num/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D_SLOT = 0, SPECTRUM = 1, SINES = 2, FILE_SLOT = 3 };
enum { STATIONARY = 0, NONSTATIONARY = 1 };
enum { CHUNK = 256 };     /* frequencies: a product and its waves stay in the L2 cache */
enum { ROLE_SECOND = 1 }; /* draws of V */

static const char *file(const krein_map *map) { return map->values.text[FILE_SLOT]; }
static bool wants_sines(const krein_map *map) { return map->values.number[SINES] > 0; }
static bool wants_two(const krein_map *map) { return map->values.number[SPECTRUM] > 0; }

const krein_learned *krein__learned(const krein_map *map) { return map->state; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    krein_term *terms = NULL;
    krein_status st = KREIN_OK;
    int64_t n = 0;
    bool good = krein__kernel_all(kernel, krein__has_frequency);
    if (good) {
        NEW(terms, KREIN_TERMS_MAX);
        TRY(krein__kernel_terms(ctx, kernel, terms, &n));
        good = n == 1 && terms[0].coefficient > 0;
    }
    if (!good)
        st = krein__map_refuse(ctx, kernel, "learned",
                               "one stationary kernel with a known spectral measure, or a product "
                               "of such");
done:
    krein__free(ctx, terms);
    return st;
}

/* ---- the state ---------------------------------------------------------- */

static int64_t depth(const krein_map *map, const krein_learned *s) {
    return map->d + !s->sines; /* a row of phases behind the frequencies */
}

static void shape(krein_map *map, const krein_learned *s) {
    map->D = map->R = s->sines ? 2 * s->F : s->F;
    map->scratch = 3 * KREIN_TILE * CHUNK + (map->sparse ? 0 : KREIN_TILE * (map->d + 1));
}

static krein_status io_state(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_learned *s = map->state;
    bool two = s && s->V;
    if (!s) {
        ZNEW(s, 1);
        map->state = s;
    }
    TRY(krein__archive_int(a, "learned.F", &s->F, 1, INT32_MAX / 2));
    TRY(krein__archive_bool(a, "learned.sines", &s->sines));
    TRY(krein__archive_bool(a, "learned.two", &two));
    TRY(krein__archive_double(a, "learned.mass", &s->mass));
    if (!(s->mass > 0)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its frequencies are wrong)");
        goto done;
    }
    TRY(krein__archive_array(a, "learned.W", KREIN_TYPE_F32, &s->W, depth(map, s) * s->F));
    if (two) TRY(krein__archive_array(a, "learned.V", KREIN_TYPE_F32, &s->V, depth(map, s) * s->F));
    if (krein__archive_reading(a) ? krein__spectral_mixture_there(a) : s->mixture != NULL)
        TRY(krein__spectral_mixture_io(ctx, a, map->d, &s->mixture));
done:
    return st;
}

static krein_status io(krein_map *map, krein_archive *a) {
    krein_status st = KREIN_OK;
    int64_t D = map->D;
    TRY(io_state(map, a));
    shape(map, map->state);
    if (map->D != D)
        st =
            krein__fail(map->ctx, KREIN_EMODEL, "the model is damaged (its frequencies are wrong)");
done:
    return st;
}

/* ---- from a model ------------------------------------------------------- */

static krein_status open_file(krein_ctx *ctx, const char *path, krein_archive **a) {
    krein_status st = krein__archive_load(ctx, path, a);
    if (st != KREIN_OK) return krein__prefix(ctx, st, "learned(file): ");
    if (krein__archive_has(*a, "learned.W")) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "learned(file): %.300s has no learned frequencies; give a model that was "
                       "trained with learner=askl or learner=net, or with map=learned",
                       path);
}

/* A network has a map of its own. */
static char *instead(krein_ctx *ctx, const krein_values *values) {
    const char *path = values->text[FILE_SLOT];
    krein_ctx quiet = krein__ctx_share(ctx, 1);
    krein_archive *a = NULL;
    char *spec = NULL;
    if (path && krein__archive_load(&quiet, path, &a) == KREIN_OK &&
        krein__archive_has(a, "network.arch"))
        spec = krein__format(ctx, "network(file=\"%s\")", path);
    krein__archive_destroy(a);
    return spec;
}

/* How many features the model has; 0 where it cannot be read, which the fit will say. */
static int64_t file_features(const krein_map *map) {
    krein_ctx quiet = krein__ctx_share(map->ctx, 1);
    krein_archive *a = NULL;
    int64_t F = 0;
    bool sines = false;
    if (open_file(&quiet, file(map), &a) != KREIN_OK ||
        krein__archive_int(a, "learned.F", &F, 1, INT32_MAX / 2) != KREIN_OK ||
        krein__archive_bool(a, "learned.sines", &sines) != KREIN_OK)
        F = 0;
    krein__archive_destroy(a);
    return sines ? 2 * F : F;
}

static krein_status fit_file(krein_map *map, const krein_stream *rows) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    int64_t d = 0;
    char what[400];
    TRY(open_file(ctx, file(map), &a));
    TRY(krein__archive_int(a, "map.d", &d, 1, INT32_MAX));
    if (d != map->d) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "learned(file): %.300s has frequencies for %lld encoded columns, and the "
                         "data have %lld; take the columns that it was trained on",
                         file(map), (long long)d, (long long)map->d);
        goto done;
    }
    TRY(io_state(map, a));
    snprintf(what, sizeof what, "learned(file): %.300s", file(map));
    if (rows) TRY(krein__encoding_alike(ctx, a, krein__stream_encoding(rows), what));
    const krein_learned *s = map->state;
    map->values.number[SPECTRUM] = s->V ? NONSTATIONARY : STATIONARY;
    map->values.number[SINES] = s->sines;
    shape(map, s);
    map->values.number[D_SLOT] = (double)map->D;
done:
    krein__archive_destroy(a);
    return st;
}

/* ---- drawn -------------------------------------------------------------- */

static krein_status draw_second(krein_map *map, const krein_kernel *leaf, krein_rng g,
                                int64_t first, int64_t n, double *w) {
    return krein__fourier_draw(map, leaf, krein__role(g, ROLE_SECOND), first, n, w);
}

/* One set: F frequencies in turns to the columns of W. */
static krein_status draw_set(krein_map *map, const krein_term *term, krein_draw_fn draw, float *W) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_learned *s = map->state;
    int64_t piece = krein__min(s->F, krein__draw_rows(map->d));
    double *w = NULL;
    NEW(w, piece * map->d);
    for (int64_t f = 0; f < s->F; f += piece) {
        int64_t m = krein__min(piece, s->F - f);
        TRY(krein__term_draw(map, 0, term, draw, f, m, w));
        for (int64_t j = 0; j < map->d; j++)
            for (int64_t i = 0; i < m; i++)
                W[j * s->F + f + i] = (float)(w[i * map->d + j] * (0.5 / M_PI));
    }
    krein_rng g = {map->seed, KREIN_STREAM_PHASE};
    for (int64_t f = 0; !s->sines && f < s->F; f++)
        W[map->d * s->F + f] = (float)krein__rng_uniform(g, (uint64_t)f, 0);
done:
    krein__free(ctx, w);
    return st;
}

static krein_status fit_drawn(krein_map *map) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_learned *s = NULL;
    krein_term *terms = NULL;
    int64_t n;
    if (wants_sines(map) && map->D < 2)
        return krein__fail(ctx, KREIN_ESPEC,
                           "learned: D = 1 feature is too few for a cosine and a sine; give D=2 or "
                           "more, or sines=no");
    ZNEW(s, 1);
    map->state = s;
    s->sines = wants_sines(map);
    s->F = s->sines ? map->D / 2 : map->D;
    shape(map, s);
    NEW(terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    TRY(krein__term_mass(map, &terms[0], &s->mass));
    NEW(s->W, depth(map, s) * s->F);
    TRY(draw_set(map, &terms[0], krein__fourier_draw, s->W));
    if (wants_two(map)) {
        NEW(s->V, depth(map, s) * s->F);
        TRY(draw_set(map, &terms[0], draw_second, s->V));
    }
done:
    krein__free(ctx, terms);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)n;
    return file(map) ? fit_file(map, rows) : fit_drawn(map);
}

/* ---- trained ------------------------------------------------------------ */

void krein__learned_get(const krein_map *map, float *first, float *second, float *phase) {
    const krein_learned *s = map->state;
    int64_t size = map->d * s->F;
    for (int64_t i = 0; i < size; i++) first[i] = (float)(2 * M_PI * (double)s->W[i]);
    for (int64_t i = 0; second && s->V && i < size; i++)
        second[i] = (float)(2 * M_PI * (double)s->V[i]);
    if (phase && !s->sines) memcpy(phase, s->W + size, (size_t)s->F * sizeof *phase);
}

void krein__learned_set(krein_map *map, const float *first, const float *second) {
    krein_learned *s = map->state;
    int64_t size = map->d * s->F;
    for (int64_t i = 0; i < size; i++) s->W[i] = (float)((double)first[i] * (0.5 / M_PI));
    for (int64_t i = 0; s->V && i < size; i++) s->V[i] = (float)((double)second[i] * (0.5 / M_PI));
    krein__free(map->ctx, s->mixture);
    s->mixture = NULL;
}

krein_status krein__learned_mix(krein_map *map, const double *mixture) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_learned *s = map->state;
    int64_t count = krein__spectral_mixture_count(krein__spectral_mixture(mixture).q, map->d);
    krein_rng g = {map->seed, KREIN_STREAM_MAP};
    double *w = NULL;
    krein__free(ctx, s->mixture);
    s->mixture = NULL;
    NEW(s->mixture, count);
    memcpy(s->mixture, mixture, (size_t)count * sizeof *mixture);
    NEW(w, map->d);
    for (int64_t f = 0; f < s->F; f++) {
        krein__kernel_spectral.frequency(mixture, g, (uint64_t)f, map->d, w);
        for (int64_t j = 0; j < map->d; j++) s->W[j * s->F + f] = (float)(w[j] * (0.5 / M_PI));
    }
done:
    krein__free(ctx, w);
    return st;
}

/* ---- features ----------------------------------------------------------- */

static int64_t features(const krein_map *map, int64_t n) {
    int64_t D = map->D, from = map->state || !file(map) ? 0 : file_features(map);
    (void)n;
    if (map->state || from > 0) return from > 0 ? from : D;
    return wants_sines(map) ? krein__max(1, D / 2) * 2 : D;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    double D = (double)features(map, n), d = (double)map->d, F = wants_sines(map) ? D / 2 : D;
    double sets = wants_two(map) || file(map) ? 2 : 1;
    double piece = fmin(F, (double)krein__draw_rows(map->d));
    out->bytes = 4 * sets * (d + 1) * F + 8 * d * piece +
                 map->ctx->threads * (8 * d + 4.0 * KREIN_TILE * (3 * CHUNK + d + 1 + D)) +
                 sizeof(krein_term) * KREIN_TERMS_MAX +
                 2 * krein__tables_bytes(map->kernel, map->d) + 32768;
    out->flops = sets * F * (2 * d + 20);
    out->fit_flops = 100 * sets * F * d;
}

/* The factor of a cosine. */
static float factor_of(const krein_learned *s) {
    double norm = sqrt(s->mass / ((s->sines ? 4 : 2) * (double)s->F));
    return (float)(s->V ? norm : 2 * norm);
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const krein_learned *s = map->state;
    int64_t in = depth(map, s), waves = s->sines ? 2 : 1;
    float *t = scratch, *u = scratch + KREIN_TILE * CHUNK;
    const float *x = krein__tile_pad(rows, in, u + 2 * KREIN_TILE * CHUNK);
    float scale = factor_of(s);
    for (int64_t f = 0; f < s->F; f += CHUNK) {
        int64_t m = krein__min(CHUNK, s->F - f), width = waves * m;
        for (int set = 0; set < (s->V ? 2 : 1); set++) {
            krein__tile_times(rows, x, in, (set ? s->V : s->W) + f, s->F, m, t, m);
            if (s->sines)
                krein__vsincos_turns(rows->n * m, t, scale, u);
            else
                krein__vcos_turns(rows->n * m, t, scale, u);
            for (int64_t i = 0; i < rows->n; i++) {
                float *to = out + i * ld + waves * f;
                for (int64_t j = 0; set && j < width; j++) to[j] += u[i * width + j];
                if (!set) memcpy(to, u + i * width, (size_t)width * sizeof *to);
            }
        }
    }
}

static krein_status waves(krein_ctx *ctx, const krein_map *map, krein_waves *out) {
    krein_status st = KREIN_OK;
    const krein_learned *s = map->state;
    int64_t d = map->d, F = s->F;
    TRY(krein__waves_begin(ctx, d, s->V ? 2 * F : F, out));
    for (int64_t f = 0; f < out->F; f++) {
        const float *W = f < F ? s->W : s->V;
        int64_t at = f % F;
        for (int64_t j = 0; j < d; j++) out->turns[f * d + j] = W[j * F + at];
        if (!s->sines) out->phase[f] = s->W[d * F + at];
        out->factor[f] = factor_of(s);
        out->cosine[f] = s->sines ? 2 * at : at;
        out->sine[f] = s->sines ? 2 * at + 1 : -1;
    }
done:
    return st;
}

static void mixture_array(const krein_map *map, int64_t i, krein_named_array *out) {
    static const char *const names[] = {"mixture.weights", "mixture.variances", "mixture.means"};
    const krein_learned *s = map->state;
    krein_spectral_mixture m = krein__spectral_mixture(s->mixture);
    const double *at[] = {m.w, m.V, m.mu};
    krein__array_set(out, names[i], KREIN_TYPE_F64, i == 0 ? 1 : m.q, i == 0 ? m.q : m.d, at[i]);
}

/* What is not there has no address. */
static bool array(const krein_map *map, int64_t i, krein_named_array *out) {
    const krein_learned *s = map->state;
    if (i == 0)
        krein__array_set(out, "frequencies", KREIN_TYPE_F32, depth(map, s), s->F, s->W);
    else if (i == 1)
        krein__array_set(out, "frequencies.second", KREIN_TYPE_F32, depth(map, s), s->F, s->V);
    else if (i < 5 && s->mixture)
        mixture_array(map, i - 2, out);
    else
        return false;
    return true;
}

static bool fact(const krein_map *map, int64_t i, krein_fact *out) {
    const krein_learned *s = map->state;
    if (i > 0 || !s->mixture) return false;
    *out = (krein_fact){"components", NULL, s->mixture[0]};
    return true;
}

static void clear(krein_map *map) {
    krein_learned *s = map->state;
    krein__free(map->ctx, s->W);
    krein__free(map->ctx, s->V);
    krein__free(map->ctx, s->mixture);
}

static int own_traits(const krein_map *map) { return file(map) ? KREIN_MAP_SEEDLESS : 0; }

static const krein_option options[] = {
    KREIN_OPTION_D,
    {.name = "spectrum",
     .type = KREIN_OPTION_WORD,
     .value = NONSTATIONARY,
     .words = "stationary|nonstationary",
     .help = "one set of frequencies, or one for each of the two terms"},
    {.name = "sines",
     .type = KREIN_OPTION_YESNO,
     .value = 0,
     .help = "cos and sin pairs instead of cosines with phases"},
    {.name = "file",
     .type = KREIN_OPTION_TEXT,
     .help = "the frequencies of this model, with its D, spectrum and form; of a model of the "
             "learner net the map network"},
    {0}};

const krein_map_class krein__map_learned = {
    .cls =
        {"learned", "cosines with learned frequencies", "li2020", options,
         "The features cos(W'x + b) + cos(V'x + b) of the learner askl, which trains the "
         "frequencies W and V. For other learners they are those of a model (file), on columns "
         "that are encoded as there, or draws from the spectral measure of the kernel: one "
         "stationary kernel, or a product of such. With two sets of frequencies the features are "
         "those of a non-stationary kernel."},
    .kernels = "stationary",
    .time = "n d D",
    .traits = KREIN_MAP_TRAINED,
    .own_traits = own_traits,
    .instead = instead,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .waves = waves,
    .array = array,
    .fact = fact,
    .io = io,
    .clear = clear};
