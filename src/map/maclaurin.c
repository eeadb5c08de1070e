/* maclaurin -- random Maclaurin features, for k = sum_n a_n <x, y>^n
 *     z_f(x) = sqrt(m_n / D_n) prod_{l <= n} <w_fl, x>,   n the degree of feature f, w_fl signs
 * E <w, x> <w, y> = <x, y>, so the product of n independent ones has the mean <x, y>^n; D_n
 * features of degree n stand for m_n = |a_n|, and the sign of a_n is the signature. (kar2012)
 *
 * law=geometric is the paper's: every feature draws its degree from P_n in proportion to 2^-(n+1)
 * over the a_n that are not zero, and m_n = |a_n| D_n / (P_n D). The default law=split gives the
 * degrees fixed shares of D (dot_series.c), with the constant and, where it pays, <x, y> exact: the
 * degrees no longer add variance of their own, and large a_n r^n get more features.
 * Variance of one feature of degree n: (|x|^2 |y|^2 + 2 <x, y>^2 - 2 sum x_j^2 y_j^2)^n - <x,
 * y>^2n. Departs from the paper: signed series.
 *
 * Features stand in the order of their degrees, so that layer l of the products is one matrix
 * product with all features of degree l or more. Cost: O(d sum_n n D_n) a row.
 */
#include "map/dot_series.h"

#include "map/tile.h"

#include <math.h>
#include <string.h>

enum { D_SLOT = 0, LAW = 1 };
enum { CHUNK = 512 }; /* features at a time, as in fourier.c */

typedef struct maclaurin {
    krein_dot kernel; /* first, for dot_series.c */
    krein_split split;
    int64_t start[KREIN_DOT_MAX + 1]; /* the first random feature of at least this degree */
    float *W[KREIN_DOT_MAX];          /* layer l: d x (D - start[l]) signs, with scales for l = 1 */
} maclaurin;

/* Degrees drawn independently. */
static void split_geometric(const krein_map *map, const krein_dot *k, int64_t D, krein_split *out) {
    double p[KREIN_DOT_MAX] = {0}, sum = 0;
    krein_rng g = krein__role((krein_rng){map->seed, KREIN_STREAM_MAP}, 4);
    memset(out, 0, sizeof *out);
    for (int64_t n = 0; n <= k->degree; n++) sum += p[n] = k->a[n] != 0 ? exp2((double)-n - 1) : 0;
    for (int64_t f = 0; f < D; f++) {
        double u = krein__rng_uniform(g, (uint64_t)f, 0) * sum;
        int64_t n = 0, last = 0;
        for (; n <= k->degree && u >= 0; n++) {
            if (p[n] > 0) last = n;
            u -= p[n];
        }
        out->count[last]++;
    }
    for (int64_t n = 0; n <= k->degree; n++)
        if (p[n] > 0)
            out->mass[n] = fabs(k->a[n]) * (double)out->count[n] / (p[n] / sum * (double)D);
    out->total = D;
}

static void split(const krein_map *map, const krein_dot *k, int64_t D, krein_split *out) {
    if (map->values.number[LAW] != 0)
        split_geometric(map, k, D, out);
    else
        krein__dot_split(k, map->d, D, krein__dot_uniform(map), out);
}

/* Numbers in the layers. */
static double entries(const krein_map *map, const krein_split *s) {
    double sum = 0;
    for (int64_t n = 1; n < KREIN_DOT_MAX; n++)
        if (!(n == 1 && s->linear)) sum += (double)n * (double)s->count[n];
    return sum * (double)map->d;
}

/* ---- fit ---------------------------------------------------------------- */

static void draw_layer(const krein_map *map, const maclaurin *s, int64_t l) {
    krein_rng g = {map->seed, KREIN_STREAM_MAP};
    int64_t from = s->start[l], m = map->D - from, d = map->d;
    for (int64_t f = from; f < map->D; f++)
        for (int64_t j = 0; j < d; j += 64) {
            uint64_t bits = krein__rng_bits(g, (uint64_t)(f * KREIN_DOT_MAX + l), (uint64_t)j / 64);
            for (int64_t i = j; i < krein__min(d, j + 64); i++, bits >>= 1)
                s->W[l][i * m + f - from] = bits & 1 ? 1.0f : -1.0f;
        }
}

/* The scales of all features, into the first layer. */
static void scale_first(const krein_map *map, maclaurin *s) {
    int64_t m = map->D - s->start[1], f = 0;
    for (int64_t n = 1; n < KREIN_DOT_MAX; n++) {
        if (n == 1 && s->split.linear) continue;
        float scale = (float)sqrt(s->split.mass[n] / (double)krein__max(1, s->split.count[n]));
        for (int64_t i = 0; i < s->split.count[n]; i++, f++)
            for (int64_t j = 0; j < map->d; j++) s->W[1][j * m + f] *= scale;
    }
}

static krein_status build(krein_map *map, int64_t D) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    maclaurin *s = map->state;
    split(map, &s->kernel, D, &s->split);
    map->D = map->R = s->split.total;
    map->scratch = KREIN_TILE * (CHUNK + (map->sparse ? 0 : map->d));
    s->start[1] = s->split.count[0] + (s->split.linear ? s->split.count[1] : 0);
    for (int64_t n = 1; n < KREIN_DOT_MAX; n++)
        s->start[n + 1] = s->start[n] + (n == 1 && s->split.linear ? 0 : s->split.count[n]);
    for (int64_t l = 1; l < KREIN_DOT_MAX && s->start[l] < map->D; l++) {
        NEW(s->W[l], map->d * (map->D - s->start[l]));
        draw_layer(map, s, l);
        TRY(krein__poll(ctx));
    }
    if (s->W[1]) scale_first(map, s);
    TRY(krein__dot_signs(map, &s->kernel, &s->split));
done:
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)n;
    return krein__dot_fit(map, rows, sizeof(maclaurin), build);
}

static krein_status io(krein_map *map, krein_archive *a) {
    return krein__dot_io(map, a, sizeof(maclaurin), build);
}

/* ---- rows --------------------------------------------------------------- */

/* to = x W_l for m features from f on. */
static void project(const krein_map *map, const maclaurin *s, int64_t l, const krein_rows *rows,
                    const float *x, int64_t f, int64_t m, float *to, int64_t ld) {
    krein__tile_times(rows, x, map->d, s->W[l] + f - s->start[l], map->D - s->start[l], m, to, ld);
}

static void exact_features(const krein_map *map, const maclaurin *s, const krein_rows *rows,
                           float *out, int64_t ld) {
    const krein_split *k = &s->split;
    float constant = (float)sqrt(k->mass[0] / (double)krein__max(1, k->count[0]));
    float linear = (float)sqrt(k->mass[1]);
    for (int64_t i = 0; i < rows->n; i++) {
        float *z = out + i * ld;
        for (int64_t f = 0; f < k->count[0]; f++) z[f] = constant;
        if (!k->linear) continue;
        z += k->count[0];
        krein__row_copy(rows, i, z);
        for (int64_t j = 0; j < map->d; j++) z[j] *= linear;
    }
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const maclaurin *s = map->state;
    float *t = scratch;
    const float *x = krein__tile_pad(rows, map->d, scratch + KREIN_TILE * CHUNK);
    for (int64_t f = s->start[1]; f < map->D; f += CHUNK) {
        int64_t end = krein__min(f + CHUNK, map->D);
        project(map, s, 1, rows, x, f, end - f, out + f, ld);
        for (int64_t l = 2; l < KREIN_DOT_MAX && s->start[l] < end; l++) {
            int64_t from = krein__max(f, s->start[l]), m = end - from;
            project(map, s, l, rows, x, from, m, t, m);
            for (int64_t i = 0; i < rows->n; i++)
                for (int64_t e = 0; e < m; e++) out[i * ld + from + e] *= t[i * m + e];
        }
    }
    exact_features(map, s, rows, out, ld);
}

/* ---- description -------------------------------------------------------- */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__dot_accepts(ctx, kernel, "maclaurin", KREIN_DOT_ANY);
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__dot_features(map, split);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein_dot k;
    krein_split s;
    double d = (double)map->d, D = (double)map->D, count;
    (void)n;
    if (krein__dot_guess(map, &k)) {
        split(map, &k, map->D, &s);
        count = entries(map, &s);
    } else { /* a free parameter */
        count = 8 * d * D;
    }
    out->bytes = 4 * count + D + map->ctx->threads * 4.0 * KREIN_TILE * (CHUNK + d + D) + 65536;
    out->flops = 2 * count + D;
    out->fit_flops = 4 * count;
}

static void clear(krein_map *map) {
    maclaurin *s = map->state;
    for (int64_t l = 0; l < KREIN_DOT_MAX; l++) krein__free(map->ctx, s->W[l]);
}

static const krein_option options[] = {
    KREIN_OPTION_D,
    {.name = "law",
     .type = KREIN_OPTION_WORD,
     .words = "split|geometric",
     .value = 0,
     .help = "degrees by fixed shares of D, or drawn one by one as published"},
    {0}};

const krein_map_class krein__map_maclaurin = {
    .cls = {"maclaurin", "random Maclaurin features", "kar2012", options,
            "For every kernel with a power series in <x, y>, some of them on rows of length one "
            "only (`scale=unit`). tensorsketch is faster for large D."},
    .kernels = "dot-product",
    .time = "n d D p",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .io = io,
    .clear = clear,
    .fact = krein__dot_fact};
