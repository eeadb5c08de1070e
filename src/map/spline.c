/* spline -- random shifts of the half kernel, for the periodic spline kernel
 *     z_f(x) = prod_j L_(q/2)(x_j - w_fj) / sqrt(D),   w ~ U[0, 1]^d,
 *     L_q(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q
 * The integral of L_(q/2)(x - w) L_(q/2)(y - w) over a period is L_q(x - y) (cosines are
 * orthogonal), so it is unbiased. The trait is not claimed: with many columns most of k comes from
 * draws so rare that no number of seeds meets one, and a mean shows nothing.     (rudi2017)
 * Variance of one feature: prod_j int L_(q/2)(x - w)^2 L_(q/2)(y - w)^2 dw - k^2, which grows with
 * d as k(x, x)^2 = (1 + 2 zeta(q))^(2d) does: for few columns. q = 2 has L_1(u) = 1 - 2 log|2 sin
 * pi u|, infinite at 0: distances below 1e-9 count as that (num/cosine_series.h).
 * Sums, differences and factors split D over their terms; a product has shifts for each kernel.
 * A kernel whose sum ends at k = T has the shifts of L_(q/2) with the sum to T.
 * Cost: O(d D) a row, some 15 (even q/2) to 30 (odd) operations each; with T terms some 200
 * to 1500.
 */
#include "map/fourier.h"

#include "map/draw.h"
#include "num/cosine_series.h"

#include <math.h>
#include <string.h>

enum { Q = 0, TERMS = 1 }; /* options of the kernel */

typedef struct shifts {
    int64_t terms, each; /* each: features of a term */
    krein_term *term;
    float scale[KREIN_TERMS_MAX];
    krein_spline *half; /* terms x KREIN_TERM_LEAVES */
    float **w;          /* the same; d x each */
    double **table;     /* the same; of finite sums */
} shifts;

static bool is_spline(const krein_kernel_class *c) { return c == &krein__kernel_spline; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, is_spline)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "spline", "the spline kernel");
}

static int64_t features(const krein_map *map, int64_t n) {
    krein_term terms[KREIN_TERMS_MAX];
    int64_t m;
    (void)n;
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &m) != KREIN_OK) return map->D;
    return m * krein__max(1, map->D / m);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    double D = (double)features(map, n), d = (double)map->d;
    krein_term terms[KREIN_TERMS_MAX];
    int64_t m = 1, leaves = 1;
    double value = 0, tables = 0; /* value: operations of the costliest leaf */
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &m) == KREIN_OK)
        for (int64_t t = 0; t < m; t++) {
            leaves = krein__max(leaves, terms[t].n);
            for (int64_t l = 0; l < terms[t].n; l++) {
                const double *p = terms[t].leaf[l]->values.number;
                value = fmax(value, p[TERMS] > 0 ? krein__spline_finite_flops(p[TERMS]) : 30);
                tables += 8 * p[TERMS];
            }
        }
    double slots = (double)(m * KREIN_TERM_LEAVES) * (double)(sizeof(krein_spline) + 16);
    out->bytes = 4 * d * D * (double)leaves + D + slots + tables +
                 map->ctx->threads * 4 * (d + KREIN_TILE * D) + 32768;
    out->flops = value * d * D * (double)leaves;
    out->fit_flops = 60 * d * D * (double)leaves + 3 * tables;
}

static krein_status draw(const krein_map *map, krein_rng g, int64_t n, float *w) {
    krein_status st = KREIN_OK;
    int64_t d = map->d, piece = krein__draw_rows(d);
    for (int64_t from = 0; from < n && st == KREIN_OK; from += piece) {
        int64_t end = krein__min(n, from + piece);
#pragma omp parallel for num_threads(map->ctx->threads) schedule(static)
        for (int64_t j = 0; j < d; j++)
            for (int64_t f = from; f < end; f++)
                w[j * n + f] = (float)krein__rng_uniform(g, (uint64_t)f, (uint64_t)j);
        st = krein__poll(map->ctx);
    }
    return st;
}

static krein_status set_half(krein_map *map, const double *p, krein_spline *half, double **table) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t terms = (int64_t)p[TERMS];
    *half = terms ? krein__spline_finite(p[Q] / 2, terms) : krein__spline_expand(p[Q] / 2);
    if (!terms) return KREIN_OK;
    NEW(*table, terms);
    for (int64_t k = 0; k < terms; k++) (*table)[k] = pow((double)(k + 1), -p[Q] / 2);
    half->table = *table;
done:
    return st;
}

static krein_status fit_term(krein_map *map, shifts *s, int64_t t) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_term *term = &s->term[t];
    double mass;
    TRY(krein__term_mass(map, term, &mass)); /* small enough, no more is wanted of it */
    s->scale[t] = (float)sqrt(fabs(term->coefficient) / (double)s->each);
    for (int64_t l = 0; l < term->n; l++) {
        int64_t slot = t * KREIN_TERM_LEAVES + l;
        TRY(set_half(map, term->leaf[l]->values.number, &s->half[slot], &s->table[slot]));
        NEW(s->w[slot], map->d * s->each);
        krein_rng g = {map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t + l)};
        TRY(draw(map, g, s->each, s->w[slot]));
    }
done:
    return st;
}

static krein_status signs(krein_map *map, const shifts *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    for (int64_t t = 0; t < s->terms; t++) mixed = mixed || s->term[t].coefficient < 0;
    if (!mixed) return KREIN_OK;
    NEW(map->sign, map->D);
    for (int64_t f = 0; f < map->D; f++)
        map->sign[f] = s->term[f / s->each].coefficient < 0 ? -1 : 1;
done:
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    shifts *s = NULL;
    (void)rows, (void)n;
    ZNEW(s, 1);
    map->state = s;
    NEW(s->term, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, s->term, &s->terms));
    if (map->D < s->terms) {
        st = krein__fail(ctx, KREIN_ESPEC,
                         "spline: D = %lld features are too few for %lld terms of the kernel",
                         (long long)map->D, (long long)s->terms);
        goto done;
    }
    s->each = map->D / s->terms;
    map->D = map->R = s->terms * s->each;
    map->scratch = map->d;
    NEW(s->half, s->terms * KREIN_TERM_LEAVES);
    ZNEW(s->w, s->terms * KREIN_TERM_LEAVES);
    ZNEW(s->table, s->terms * KREIN_TERM_LEAVES);
    for (int64_t t = 0; t < s->terms; t++) TRY(fit_term(map, s, t));
    TRY(signs(map, s));
done:
    return st;
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const shifts *s = map->state;
    for (int64_t i = 0; i < rows->n; i++) {
        krein__row_copy(rows, i, scratch);
        for (int64_t t = 0; t < s->terms; t++) {
            float *z = out + i * ld + t * s->each;
            for (int64_t f = 0; f < s->each; f++) z[f] = s->scale[t];
            for (int64_t l = 0; l < s->term[t].n; l++) {
                int64_t slot = t * KREIN_TERM_LEAVES + l;
                for (int64_t j = 0; j < map->d; j++)
                    krein__spline_multiply(&s->half[slot], s->each, scratch[j],
                                           s->w[slot] + j * s->each, z);
            }
        }
    }
}

static void clear(krein_map *map) {
    shifts *s = map->state;
    for (int64_t i = 0; s->w && i < s->terms * KREIN_TERM_LEAVES; i++)
        krein__free(map->ctx, s->w[i]);
    for (int64_t i = 0; s->table && i < s->terms * KREIN_TERM_LEAVES; i++)
        krein__free(map->ctx, s->table[i]);
    krein__free(map->ctx, s->w);
    krein__free(map->ctx, s->table);
    krein__free(map->ctx, s->half);
    krein__free(map->ctx, s->term);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_spline = {
    .cls = {"spline", "random shifts of periodic splines", "rudi2017", options,
            "For the spline kernel, on few columns between 0 and 1. Even q are fastest."},
    .kernels = "spline",
    .time = "n d D",
    .traits = KREIN_MAP_NESTED, /* UNBIASED is for what can be seen on 100 columns */
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .clear = clear};
