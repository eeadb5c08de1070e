/* explicit -- all monomials, for kernels that are polynomials in <x, y>: exact
 *     k = sum_n a_n <x, y>^n,   <x, y>^n = sum_{|alpha| = n} n!/alpha! x^alpha y^alpha,
 *     z(x) = [ sqrt(|a_n| n!/alpha!) x^alpha ],   alpha! = alpha_1! ... alpha_d!
 * The sign of a_n is the signature. C(d+n-1, n) features for each degree n with a_n != 0, C(d+p, p)
 * for all up to p. For (x'y + c)^2: c, sqrt(2c) x_i, x_i^2, sqrt(2) x_i x_j. The linear kernel has
 * the d features x itself. On rows of length one epanechnikov(m=1) is a_0 + a_1 <x, y>: d + 1
 * features, sqrt(2)/a [sqrt(a^2/2 - 1), x].
 *
 * Monomials of a degree are ordered by their first variable. Those of degree n that begin with x_i
 * are x_i times those of degree n - 1 that begin with x_i or a later one, which stand together:
 * one multiplication each, in long runs. Cost: O(D) a row.
 */
#include "map/dot_series.h"

#include <math.h>
#include <string.h>

static const double MOST = 1e6; /* features */
enum { DEGREE_MOST = 64 };

typedef struct monomials {
    krein_dot kernel;                 /* first, for dot_series.c */
    int64_t total;                    /* monomials of degree 0 .. p */
    int64_t first[KREIN_DOT_MAX + 1]; /* of degree n */
    int64_t *begin;                   /* (p + 1) x d: those whose first variable is x_i or later */
    float *weight;                    /* total */
} monomials;

/* Monomials of degree n in d variables: C(d+n-1, n). */
static double choose(int64_t d, int64_t n) {
    double c = 1;
    for (int64_t i = 1; i <= n; i++) c *= (double)(d + i - 1) / (double)i;
    return rint(c);
}

static double count_features(const krein_dot *k, int64_t d) {
    double sum = 0;
    for (int64_t n = 0; n <= k->degree; n++)
        if (k->a[n] != 0) sum += choose(d, n);
    return sum;
}

static double count_all(const krein_dot *k, int64_t d) {
    double sum = 0;
    for (int64_t n = 0; n <= k->degree; n++) sum += choose(d, n);
    return sum;
}

/* ---- fit ---------------------------------------------------------------- */

static void places(const krein_map *map, monomials *s) {
    int64_t d = map->d;
    for (int64_t n = 0; n <= s->kernel.degree; n++) {
        int64_t all = (int64_t)choose(d, n);
        s->first[n + 1] = s->first[n] + all;
        for (int64_t i = 0; i < d; i++)
            s->begin[n * d + i] =
                n == 0 ? s->first[0] : s->first[n + 1] - (int64_t)choose(d - i, n);
    }
}

/* n!/alpha! along the same tree. run: how often the first variable occurs; one more x_i makes n/run
 * times the ways. */
static void ways(const krein_map *map, const monomials *s, int64_t *run, double *value) {
    int64_t d = map->d;
    run[0] = 0;
    value[0] = 1;
    for (int64_t n = 1; n <= s->kernel.degree; n++) {
        int64_t at = s->first[n];
        for (int64_t i = 0; i < d; i++) {
            int64_t later = i + 1 < d && n > 1 ? s->begin[(n - 1) * d + i + 1] : s->first[n];
            for (int64_t f = s->begin[(n - 1) * d + i]; f < s->first[n]; f++, at++) {
                run[at] = n > 1 && f < later ? run[f] + 1 : 1;
                value[at] = value[f] * (double)n / (double)run[at];
            }
        }
    }
}

static krein_status weigh(krein_map *map, monomials *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *run = NULL;
    double *value = NULL;
    NEW(run, s->total);
    NEW(value, s->total);
    NEW(s->weight, s->total);
    ways(map, s, run, value);
    for (int64_t n = 0; n <= s->kernel.degree; n++)
        for (int64_t f = s->first[n]; f < s->first[n + 1]; f++)
            s->weight[f] = (float)sqrt(fabs(s->kernel.a[n]) * value[f]);
done:
    krein__free(ctx, run);
    krein__free(ctx, value);
    return st;
}

static krein_status signs(krein_map *map, const monomials *s) {
    krein_split split = {.total = map->D};
    for (int64_t n = 0; n <= s->kernel.degree; n++)
        if (s->kernel.a[n] != 0) split.count[n] = s->first[n + 1] - s->first[n];
    return krein__dot_signs(map, &s->kernel, &split);
}

static krein_status build(krein_map *map, int64_t D) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    monomials *s = map->state;
    (void)D; /* there are as many as there are */
    double made = count_features(&s->kernel, map->d), all = count_all(&s->kernel, map->d);
    if (!(all <= MOST)) {
        st = krein__fail(ctx, KREIN_ESPEC,
                         "explicit: %lld columns have %.6g monomials of degree up to %lld, more "
                         "than %.0f; try tensorsketch",
                         (long long)map->d, all, (long long)s->kernel.degree, MOST);
        goto done;
    }
    s->total = (int64_t)all;
    map->D = map->R = (int64_t)made;
    map->scratch = s->total + map->d;
    NEW(s->begin, (s->kernel.degree + 1) * map->d);
    places(map, s);
    TRY(weigh(map, s));
    TRY(signs(map, s));
done:
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)n;
    return krein__dot_fit(map, rows, sizeof(monomials), build);
}

static krein_status io(krein_map *map, krein_archive *a) {
    return krein__dot_io(map, a, sizeof(monomials), build);
}

/* ---- rows --------------------------------------------------------------- */

static void times(int64_t n, float x, const float *restrict from, float *restrict to) {
    for (int64_t f = 0; f < n; f++) to[f] = x * from[f];
}

/* Degree n from degree n - 1, in one row of monomials. */
static void next_degree(const monomials *s, int64_t d, int64_t n, const float *x, float *m) {
    int64_t at = s->first[n];
    for (int64_t i = 0; i < d; i++) {
        int64_t from = s->begin[(n - 1) * d + i], run = s->first[n] - from;
        if (x[i] == 0)
            memset(m + at, 0, (size_t)run * sizeof *m);
        else
            times(run, x[i], m + from, m + at);
        at += run;
    }
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const monomials *s = map->state;
    float *x = scratch, *m = scratch + map->d;
    m[0] = 1;
    for (int64_t i = 0; i < rows->n; i++) {
        float *z = out + i * ld;
        krein__row_copy(rows, i, x);
        for (int64_t n = 0; n <= s->kernel.degree; n++) {
            if (n > 0) next_degree(s, map->d, n, x, m);
            if (s->kernel.a[n] == 0) continue;
            for (int64_t f = s->first[n]; f < s->first[n + 1]; f++) *z++ = s->weight[f] * m[f];
        }
    }
}

/* ---- description -------------------------------------------------------- */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__dot_accepts(ctx, kernel, "explicit", DEGREE_MOST);
}

static int64_t features(const krein_map *map, int64_t n) {
    krein_dot k;
    (void)n;
    if (!krein__dot_guess(map, &k)) return krein__max(1, map->D);
    return (int64_t)fmin(INT32_MAX, count_features(&k, map->d));
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein_dot k;
    double d = (double)map->d, made = (double)features(map, n), all = made;
    int64_t p = 1;
    if (krein__dot_guess(map, &k)) {
        p = k.degree;
        all = count_all(&k, map->d);
    }
    /* fit holds ways, runs and weights; after that weights and a row of monomials a thread */
    out->bytes = 20 * all + 8 * d * (double)(p + 1) + made +
                 map->ctx->threads * 4 * (all + d + KREIN_TILE * made) + 32768;
    out->flops = 2 * all;
    out->fit_flops = 10 * all;
}

static void clear(krein_map *map) {
    monomials *s = map->state;
    krein__free(map->ctx, s->begin);
    krein__free(map->ctx, s->weight);
}

const krein_map_class krein__map_explicit = {
    .cls =
        {"explicit", "all monomials, exact", "shawetaylor2004", NULL,
         "For linear and polynomial kernels of low degree, their sums, differences and products; "
         "on rows of length one (`scale=unit`) also for epanechnikov, which for m = 1 has the d + "
         "1 features of a linear kernel. C(d+p, p) features for degree p: D is not chosen."},
    .terms = KREIN_EXPANSION_MAX,
    .kernels = "polynomial",
    .time = "n D",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .io = io,
    .clear = clear};
