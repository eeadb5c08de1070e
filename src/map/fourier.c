/* fourier.c -- features from frequencies.
 *
 * A kernel expression is a sum of terms c_t prod_l k_l with stationary k_l. Term t gets its share
 * of the frequencies; the frequency of a product is the sum of its factors' frequencies (the
 * spectral measure of a product is a convolution); the sign of c_t is the signature.
 *
 * A tile of rows times a chunk of columns of W is one matrix product that stays in the L2 cache;
 * cos and sin follow while it is there.
 */
#include "map/fourier.h"

#include "base/threads.h"
#include "map/draw.h"
#include "map/tile.h"
#include "num/vec.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { CHUNK = 512 }; /* frequencies: 192 x 512 floats are 384 kB */
enum { SHORT = 60 };  /* at most a third of it: see waves */

krein_status krein__fourier_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                                    bool (*is)(const krein_kernel_class *), const char *what) {
    if (krein__kernel_all(kernel, is)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, name, what);
}

krein_status krein__mixture_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name) {
    return krein__fourier_accepts(ctx, kernel, name, krein__has_mixture,
                                  "radial kernels that are mixtures of Gaussians");
}

krein_status krein__term_mass(const krein_map *map, const krein_term *term, double *mass) {
    static const double MOST = 1e30; /* sums over a block of rows must not overflow */
    *mass = term->coefficient;
    for (int64_t l = 0; l < term->n; l++) {
        const krein_kernel *leaf = term->leaf[l];
        if (leaf->kernel->mass) *mass *= leaf->kernel->mass(leaf->values.number, map->d);
    }
    if (fabs(*mass) <= MOST) return KREIN_OK;
    return krein__fail(map->ctx, KREIN_ESPEC,
                       "%s: on %lld columns the kernel has k(x, x) = %.3g, too large for features "
                       "in single precision; use fewer columns (`ignore`), or `map=exact`",
                       map->cls->cls.name, (long long)map->d, *mass);
}

krein_status krein__fourier_draw(krein_map *map, const krein_kernel *leaf, krein_rng g,
                                 int64_t first, int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d, tables = 0;
    double *one = NULL;
    krein_table *table = NULL;
    TRY(krein__tables_open(ctx, leaf, d, &table, &tables));
    NEW(one, ctx->threads * d);
    const double *p = krein__table_numbers(table, tables, leaf);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t f = 0; f < n; f++) {
        double *mine = one + omp_get_thread_num() * d;
        leaf->kernel->frequency(p, g, (uint64_t)(first + f), d, mine);
        for (int64_t j = 0; j < d; j++) w[f * d + j] += mine[j];
    }
done:
    krein__free(ctx, one);
    krein__tables_close(ctx, table, tables);
    return st;
}

static void shape(krein_map *map, krein_fourier *s, int64_t F, bool phase) {
    s->F = F;
    s->phase = phase;
    map->D = map->R = phase ? F : 2 * F;
    map->scratch = KREIN_TILE * CHUNK + (map->sparse ? 0 : KREIN_TILE * (map->d + phase));
}

/* Everything but W. */
static krein_status state(krein_map *map, int64_t F, bool phase) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_fourier *s = NULL;
    ZNEW(s, 1);
    map->state = s;
    shape(map, s, F, phase);
done:
    return st;
}

static krein_status allocate(krein_map *map, int64_t F, bool phase) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    TRY(state(map, F, phase));
    NEW(((krein_fourier *)map->state)->W, (map->d + phase) * F);
done:
    return st;
}

/* Frequencies drawn at a time. Pieces bound the memory of the doubles; they are a whole number of
 * what must be drawn together, so that orthogonal blocks do not straddle them. */
static int64_t piece_rows(int64_t F, int64_t d, krein_drawn how) {
    int64_t unit = how == KREIN_DRAWN_SINGLY ? 1 : how == KREIN_DRAWN_IN_BLOCKS ? d : F;
    return krein__min(F, krein__max(unit, krein__draw_rows(d) / unit * unit));
}

static int64_t frequencies(const krein_map *map, bool phase, int64_t terms) {
    int64_t per_term = map->D / terms;
    return krein__max(1, phase ? per_term : per_term / 2);
}

int64_t krein__fourier_features(const krein_map *map, bool phase) {
    krein_term terms[KREIN_TERMS_MAX];
    int64_t n;
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &n) != KREIN_OK) return map->D;
    return n * frequencies(map, phase, n) * (phase ? 1 : 2);
}

int64_t krein__fourier_pairs(const krein_map *map, int64_t n) {
    (void)n;
    return krein__fourier_features(map, false);
}

void krein__fourier_cost(const krein_map *map, bool phase, krein_drawn how, krein_cost *out) {
    krein__fourier_cost_of(map, krein__fourier_features(map, phase), phase, how, out);
}

void krein__fourier_cost_of(const krein_map *map, int64_t features, bool phase, krein_drawn how,
                            krein_cost *out) {
    double D = (double)features, F = D / (phase ? 1 : 2), d = (double)map->d;
    /* W, signs; the doubles of a piece and of one frequency a thread; scratch and padded tiles */
    out->bytes = 4 * (d + 1) * F + D + 8 * d * (double)piece_rows((int64_t)F, map->d, how) +
                 map->ctx->threads * (8 * d + 4.0 * KREIN_TILE * (CHUNK + d + 1 + D)) +
                 2 * krein__tables_bytes(map->kernel, map->d) + 32768;
    out->flops = F * (2 * d + 20);
    out->fit_flops = 100 * F * d;
}

/* w (n x d, radians) to columns first .. of W, in turns. */
static void store(const krein_map *map, krein_fourier *s, int64_t first, int64_t n,
                  const double *w) {
    for (int64_t j = 0; j < map->d; j++)
        for (int64_t f = 0; f < n; f++)
            s->W[j * s->F + first + f] = (float)(w[f * map->d + j] * (0.5 / M_PI));
}

krein_status krein__term_draw(krein_map *map, int64_t t, const krein_term *term, krein_draw_fn draw,
                              int64_t first, int64_t n, double *w) {
    krein_status st = KREIN_OK;
    memset(w, 0, (size_t)(n * map->d) * sizeof *w);
    for (int64_t l = 0; l < term->n && st == KREIN_OK; l++) {
        krein_rng g = {map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t + l)};
        st = draw(map, term->leaf[l], g, first, n, w);
    }
    return st == KREIN_OK ? krein__poll(map->ctx) : st;
}

static krein_status fit_term(krein_map *map, krein_fourier *s, int64_t t, const krein_term *term,
                             krein_drawn how, krein_draw_fn draw) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *w = NULL;
    int64_t F = s->first[t + 1] - s->first[t], d = map->d, piece = piece_rows(F, d, how);
    NEW(w, piece * d);
    for (int64_t f = 0; f < F; f += piece) {
        int64_t m = krein__min(piece, F - f);
        TRY(krein__term_draw(map, t, term, draw, f, m, w));
        store(map, s, s->first[t] + f, m, w);
    }
done:
    krein__free(ctx, w);
    return st;
}

static krein_status signs(krein_map *map, const krein_fourier *s, const krein_term *terms) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    for (int64_t t = 0; t < s->nterm; t++) mixed = mixed || terms[t].coefficient < 0;
    if (!mixed) return KREIN_OK;
    NEW(map->sign, map->D);
    for (int64_t i = 0; i < map->D; i++)
        map->sign[i] = terms[i / (map->D / s->nterm)].coefficient < 0 ? -1 : 1;
done:
    return st;
}

krein_status krein__fourier_split(krein_map *map, bool phase, krein_fourier *s, krein_term *terms) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t n;
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &n));
    if (map->D < (phase ? 1 : 2) * n)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%s: D = %lld features are too few for %lld term%s of the kernel: at "
                           "least %lld",
                           map->cls->cls.name, (long long)map->D, (long long)n, n == 1 ? "" : "s",
                           (long long)((phase ? 1 : 2) * n));
    int64_t per_term = frequencies(map, phase, n);
    shape(map, s, n * per_term, phase);
    s->nterm = n;
    for (int64_t t = 0; t < n; t++) {
        s->first[t + 1] = s->first[t] + per_term;
        double mass;
        TRY(krein__term_mass(map, &terms[t], &mass));
        s->scale[t] = (float)sqrt((phase ? 2 : 1) * fabs(mass) / (double)per_term);
    }
    TRY(signs(map, s, terms));
done:
    return st;
}

krein_status krein__fourier_fit(krein_map *map, bool phase, krein_drawn how, krein_draw_fn draw) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    krein_fourier *s = NULL;
    NEW(terms, KREIN_TERMS_MAX);
    ZNEW(s, 1);
    map->state = s;
    TRY(krein__fourier_split(map, phase, s, terms));
    NEW(s->W, (map->d + phase) * s->F);
    for (int64_t t = 0; t < s->nterm; t++) TRY(fit_term(map, s, t, &terms[t], how, draw));
    krein_rng g = {map->seed, KREIN_STREAM_PHASE};
    for (int64_t f = 0; phase && f < s->F; f++)
        s->W[map->d * s->F + f] = (float)krein__rng_uniform(g, (uint64_t)f, 0);
done:
    krein__free(ctx, terms);
    return st;
}

krein_status krein__fourier_given(krein_map *map, int64_t F, const double *w, const double *phase) {
    krein_status st = KREIN_OK;
    int64_t piece = piece_rows(F, map->d, KREIN_DRAWN_SINGLY);
    TRY(allocate(map, F, phase != NULL));
    krein_fourier *s = map->state;
    s->nterm = 1;
    s->first[1] = F;
    s->scale[0] = (float)sqrt((phase ? 2.0 : 1.0) / (double)F);
    for (int64_t f = 0; f < F; f += piece) {
        store(map, s, f, krein__min(piece, F - f), w + f * map->d);
        TRY(krein__poll(map->ctx));
    }
    for (int64_t f = 0; phase && f < F; f++)
        s->W[map->d * F + f] = (float)(phase[f] * (0.5 / M_PI));
done:
    return st;
}

krein_status krein__fourier_weighted(krein_map *map, int64_t F, const double *w, const double *c) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    TRY(krein__fourier_given(map, F, w, NULL));
    krein_fourier *s = map->state;
    s->scale[0] = 1;
    NEW(s->amp, F);
    for (int64_t f = 0; f < F; f++) {
        s->amp[f] = (float)sqrt(fabs(c[f]));
        mixed = mixed || c[f] < 0;
    }
    if (!mixed) goto done;
    NEW(map->sign, map->D);
    for (int64_t i = 0; i < map->D; i++) map->sign[i] = c[i / 2] < 0 ? -1 : 1;
done:
    return st;
}

krein_status krein__fourier_io(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    krein_fourier *s = map->state;
    int64_t F = s ? s->F : 0, nterm = s ? s->nterm : 0, D = map->D;
    bool phase = s && s->phase, amp = s && s->amp;
    TRY(krein__archive_int(a, "fourier.F", &F, 1, INT32_MAX));
    TRY(krein__archive_bool(a, "fourier.phase", &phase));
    TRY(krein__archive_int(a, "fourier.terms", &nterm, 1, KREIN_TERMS_MAX));
    TRY(krein__archive_bool(a, "fourier.weighted", &amp));
    if (reading) {
        if (D != (phase ? F : 2 * F) || map->R != D) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its frequencies are wrong)");
            goto done;
        }
        TRY(state(map, F, phase));
        s = map->state;
        s->nterm = nterm;
    }
    for (int64_t t = 0; t < nterm; t++) {
        double scale = (double)s->scale[t];
        krein__archive_enter(a, t);
        st = krein__archive_int(a, "fourier.end", &s->first[t + 1], s->first[t] + 1, F);
        if (st == KREIN_OK) st = krein__archive_double(a, "fourier.scale", &scale);
        krein__archive_leave(a);
        if (st != KREIN_OK) goto done;
        if (reading) s->scale[t] = (float)scale;
    }
    if (s->first[nterm] != F) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its frequencies are wrong)");
        goto done;
    }
    TRY(krein__archive_double(a, "fourier.unit", &s->unit));
    TRY(krein__archive_array(a, "fourier.W", KREIN_TYPE_F32, &s->W, (map->d + phase) * F));
    if (amp) TRY(krein__archive_array(a, "fourier.factor", KREIN_TYPE_F32, &s->amp, F));
done:
    return st;
}

/* The factors of frequencies f .. f + m - 1 on one row's features of them. */
static void amplify(const krein_fourier *s, int64_t f, int64_t m, float *z) {
    if (s->phase)
        for (int64_t i = 0; i < m; i++) z[i] *= s->amp[f + i];
    else
        for (int64_t i = 0; i < m; i++) {
            z[2 * i] *= s->amp[f + i];
            z[2 * i + 1] *= s->amp[f + i];
        }
}

static void normalise(int64_t n, int64_t D, double square, float *z, int64_t ld) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < D; j++) sum += (double)z[i * ld + j] * (double)z[i * ld + j];
        float factor = sum > 0 ? (float)sqrt(square / sum) : 0;
        for (int64_t j = 0; j < D; j++) z[i * ld + j] *= factor;
    }
}

/* The waves of n rows with m frequencies each, t (n x m) in turns, to rows of out. Short rows are
 * made at once, behind t, and copied: vector code takes whole blocks. */
static void waves(const krein_fourier *s, int64_t n, int64_t m, float *t, float scale, float *out,
                  int64_t ld) {
    void (*make)(int64_t, const float *, float, float *) =
        s->phase ? krein__vcos_turns : krein__vsincos_turns;
    int64_t width = s->phase ? m : 2 * m;
    float *all = t + KREIN_TILE * m;
    if (m <= SHORT) make(n * m, t, scale, all);
    for (int64_t i = 0; i < n; i++)
        if (m <= SHORT)
            memcpy(out + i * ld, all + i * width, (size_t)width * sizeof *out);
        else
            make(m, t + i * m, scale, out + i * ld);
}

void krein__fourier_tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                         float *scratch) {
    const krein_fourier *s = map->state;
    float *t = scratch;
    int64_t in = map->d + s->phase; /* the phases are weights of a 1 behind each row */
    const float *x = krein__tile_pad(rows, in, scratch + KREIN_TILE * CHUNK);
    for (int64_t term = 0; term < s->nterm; term++)
        for (int64_t f = s->first[term]; f < s->first[term + 1]; f += CHUNK) {
            int64_t m = krein__min(CHUNK, s->first[term + 1] - f);
            krein__tile_times(rows, x, in, s->W + f, s->F, m, t, m);
            waves(s, rows->n, m, t, s->scale[term], out + (s->phase ? f : 2 * f), ld);
            for (int64_t i = 0; s->amp && i < rows->n; i++)
                amplify(s, f, m, out + i * ld + (s->phase ? f : 2 * f));
        }
    if (s->unit > 0) normalise(rows->n, map->D, s->unit, out, ld);
}

bool krein__fourier_array(const krein_map *map, int64_t i, krein_named_array *out) {
    const krein_fourier *s = map->state;
    if (i == 0)
        krein__array_set(out, "frequencies", KREIN_TYPE_F32, map->d + s->phase, s->F, s->W);
    else if (i == 1 && s->amp)
        krein__array_set(out, "frequencies.factor", KREIN_TYPE_F32, 1, s->F, s->amp);
    else
        return false;
    return true;
}

void krein__fourier_clear(krein_map *map) {
    krein_fourier *s = map->state;
    krein__free(map->ctx, s->W);
    krein__free(map->ctx, s->amp);
}
