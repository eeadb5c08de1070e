/* arccos -- random units, for arc-cosine kernels
 *     z(x) = sqrt(2/D) [step(w_f'x) (w_f'x)^n]_f,   w_f ~ N(0, I),  n = 0, 1, 2       (cho2009)
 * E z(x)'z(y) = A_n(x, y) = (|x| |y|)^n J_n(angle) / pi, for rows of any length: unbiased.
 * Variance of a value: (2 A_2n - A_n^2) / D; on rows of length one with x = y that is 1/D, 5/D and
 * 201/D for n = 0, 1, 2. step(0) = 0: a row of zeros has features and kernel values of 0.
 *
 * A product of kernels has products of independent units as features, sqrt(2^leaves / D) each.
 * Terms of a sum have their share of D; the sign of a coefficient is the signature.
 *
 * orthogonal=yes: units in blocks of d with orthogonal weights (units.h), still N(0, I) each. The
 * mean is the same, the variance mostly lower (measured in tests/test_neural.c).
 *
 * Cost: O(d D) a row.
 */
#include "map/units.h"

#include "map/tile.h"

#include <math.h>
#include <string.h>

enum { D_SLOT = 0, ORTHOGONAL = 1 };

typedef struct arccos {
    int64_t terms;
    int64_t first[KREIN_TERMS_MAX + 1]; /* features first[t] .. first[t+1]-1 are of term t */
    int64_t leaves[KREIN_TERMS_MAX];
    int order[KREIN_TERMS_MAX][KREIN_TERM_LEAVES];
    krein_units unit[KREIN_TERMS_MAX][KREIN_TERM_LEAVES];
    float scale[KREIN_TERMS_MAX]; /* of the first leaf's units; 1 for the others */
} arccos;

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, krein__is_arccos)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "arccos", "arc-cosine kernels");
}

static bool orthogonal(const krein_map *map) { return map->values.number[ORTHOGONAL] != 0; }

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return map->D;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein_term terms[KREIN_TERMS_MAX];
    int64_t count;
    double d = (double)map->d, D = (double)map->D, drawing = 0;
    (void)n;
    memset(out, 0, sizeof *out);
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &count) != KREIN_OK) return;
    for (int64_t t = 0; t < count; t++) {
        double leaves = (double)terms[t].n, m = ceil(D / (double)count);
        out->bytes += leaves * krein__units_bytes(d, m, orthogonal(map), &drawing);
        out->flops += leaves * m * (2 * d + 2);
        out->fit_flops += leaves * krein__units_fit_flops(d, m, orthogonal(map));
    }
    out->bytes += drawing + D + (double)sizeof(arccos) + sizeof terms +
                  map->ctx->threads * 4.0 * KREIN_TILE * (KREIN_UNITS_CHUNK + d + D) + 32768;
}

static krein_status fit_term(krein_map *map, arccos *s, int64_t t, const krein_term *term) {
    krein_status st = KREIN_OK;
    int64_t m = s->first[t + 1] - s->first[t];
    s->leaves[t] = term->n;
    s->scale[t] = (float)sqrt(fabs(term->coefficient) * pow(2, (double)term->n) / (double)m);
    for (int64_t l = 0; l < term->n; l++) {
        krein_rng g = {map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t + l)};
        s->order[t][l] = (int)term->leaf[l]->values.number[0];
        TRY(krein__units_create(map->ctx, g, map->d, m, orthogonal(map), &s->unit[t][l]));
    }
done:
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    arccos *s = NULL;
    (void)rows, (void)n;
    NEW(terms, KREIN_TERMS_MAX);
    ZNEW(s, 1);
    map->state = s;
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &s->terms));
    if (map->D < s->terms) {
        st = krein__fail(ctx, KREIN_ESPEC,
                         "D = %lld features are too few for %lld terms of the kernel; raise D",
                         (long long)map->D, (long long)s->terms);
        goto done;
    }
    for (int64_t t = 0; t <= s->terms; t++) s->first[t] = krein__units_first(map->D, t, s->terms);
    for (int64_t t = 0; t < s->terms; t++) TRY(fit_term(map, s, t, &terms[t]));
    TRY(krein__units_signs(map, terms, s->terms, s->first));
    map->R = map->D;
    map->scratch = KREIN_TILE * (KREIN_UNITS_CHUNK + (map->sparse ? 0 : map->d));
done:
    krein__free(ctx, terms);
    return st;
}

static void multiply(int64_t n, int64_t m, const float *by, float *z, int64_t ld) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t f = 0; f < m; f++) z[i * ld + f] *= by[i * m + f];
}

/* Units from .. from + m - 1 of leaf l of term t; x is the padded tile, NULL for CSR rows. */
static void leaf(const arccos *s, int64_t t, int64_t l, const krein_rows *rows, const float *x,
                 int64_t from, int64_t m, float *out, int64_t ld) {
    float scale = l == 0 ? s->scale[t] : 1;
    if (x)
        krein__units_dense(&s->unit[t][l], s->order[t][l], scale, x, rows->d, from, m, out, ld);
    else
        krein__units_sparse(&s->unit[t][l], s->order[t][l], scale, rows, from, m, out, ld);
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const arccos *s = map->state;
    float *other = scratch;
    const float *x = krein__tile_pad(rows, map->d, scratch + KREIN_TILE * KREIN_UNITS_CHUNK);
    for (int64_t t = 0; t < s->terms; t++)
        for (int64_t f = s->first[t]; f < s->first[t + 1]; f += KREIN_UNITS_CHUNK) {
            int64_t m = krein__min(KREIN_UNITS_CHUNK, s->first[t + 1] - f), from = f - s->first[t];
            leaf(s, t, 0, rows, x, from, m, out + f, ld);
            for (int64_t l = 1; l < s->leaves[t]; l++) {
                leaf(s, t, l, rows, x, from, m, other, m);
                multiply(rows->n, m, other, out + f, ld);
            }
        }
}

static void clear(krein_map *map) {
    arccos *s = map->state;
    for (int64_t t = 0; t < s->terms; t++)
        for (int64_t l = 0; l < KREIN_TERM_LEAVES; l++)
            krein__units_clear(map->ctx, &s->unit[t][l]);
}

static const krein_option options[] = {
    KREIN_OPTION_D,
    {.name = "orthogonal",
     .type = KREIN_OPTION_YESNO,
     .value = 0,
     .help = "orthogonal weights in blocks of the number of columns"},
    {0}};

const krein_map_class krein__map_arccos = {
    .cls = {"arccos", "random units of one layer", "cho2009", options,
            "For arc-cosine kernels and their sums, differences, products and factors. The default "
            "for them. orthogonal=yes lowers the error at a higher cost to fit."},
    .kernels = "arc-cosine",
    .time = "n d D",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .clear = clear};
