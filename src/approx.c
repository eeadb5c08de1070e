/* approx.c -- the public entry point that measures how well feature maps approximate a kernel:
 *
 *     |K - Khat|_F / |K|_F,   Khat = Z diag(s) Z',
 *
 * diagonal included, on a seeded sample of the rows. Each repeat draws the features anew; maps that
 * look at the data are fitted on all of its rows. K and the products are float64, Z is float32 as
 * everywhere.
 */
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "map/map.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

void krein_approx_options_init(krein_approx_options *o) {
    memset(o, 0, sizeof *o);
    o->size = sizeof *o;
    o->rows = 1000;
    o->repeats = 10;
    o->seed = 1;
    o->max_exact = 10000;
}

void krein_approx_report_clear(krein_ctx *ctx, krein_approx_report *r) {
    for (int64_t i = 0; r->results && i < r->count; i++) {
        krein__free(ctx, r->results[i].map);
        krein__free(ctx, r->results[i].refused);
        krein__free(ctx, r->results[i].facts);
    }
    krein__free(ctx, r->results);
    krein__free(ctx, r->kernel);
    memset(r, 0, sizeof *r);
}

/* What the measurements share. */
typedef struct sample {
    krein_ctx *ctx;
    const krein_kernel *kernel;
    krein_stream *stream; /* all rows of the data */
    int64_t n, d;         /* rows of the data, columns */
    bool sparse;
    krein_matrix x; /* the sampled rows */
    double *K, norm;
} sample;

static krein_status copy_options(krein_ctx *ctx, const krein_approx_options *given,
                                 krein_approx_options *o) {
    krein_approx_options_init(o);
    memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->nmaps < 1) return krein__fail(ctx, KREIN_EARG, "approx needs a map: `map`");
    if (o->rows < 2) return krein__fail(ctx, KREIN_EARG, "approx needs `rows` of at least 2");
    if (o->rows > o->max_exact)
        return krein__fail(ctx, KREIN_EARG,
                           "the kernel matrix of %lld rows is above `max_exact` (%lld)",
                           (long long)o->rows, (long long)o->max_exact);
    if (o->repeats < 1) return krein__fail(ctx, KREIN_EARG, "approx needs `repeats` of at least 1");
    return KREIN_OK;
}

/* A map that does not go with the kernel, or has no features, is refused before any row is read. */
static krein_status check_maps(krein_ctx *ctx, const krein_approx_options *o,
                               const krein_kernel *kernel, bool *labels) {
    *labels = false;
    for (int64_t i = 0; i < o->nmaps; i++) {
        krein_map *map = NULL;
        krein_status st = krein__map_create(ctx, o->maps[i], kernel, 0, o->seed, &map);
        if (st != KREIN_OK) return st;
        bool dual = map->cls->traits & KREIN_MAP_DUAL, sized = map->D > 0;
        *labels = *labels || map->cls->traits & KREIN_MAP_LABELS;
        bool fixed = krein__option_index(&map->cls->cls, "D") < 0;
        krein__map_destroy(map);
        if (dual)
            return krein__fail(ctx, KREIN_EARG,
                               "the exact map is the kernel itself: there is "
                               "nothing to measure");
        if (!sized && !fixed && o->nfeatures < 1)
            return krein__fail(ctx, KREIN_EARG,
                               "how many features of %s? Give `features`, or D in the map",
                               o->maps[i]);
    }
    return KREIN_OK;
}

static krein_status sample_begin(sample *s, krein_data *data, const krein_encoding *e,
                                 krein_kernel *kernel, const krein_approx_options *o) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, m = krein__min(o->rows, s->n);
    s->d = e->d;
    s->sparse = e->sparse;
    TRY(krein__reserve_check(ctx, 8.0 * (double)m * (double)m, "the kernel matrix",
                             "use fewer `rows`, or raise `max_memory`"));
    TRY(krein__kernel_meet(ctx, kernel, e));
    TRY(krein__stream_open(data, e, KREIN_PART_TRAIN, &s->stream));
    TRY(krein__kernel_meet_rows(ctx, kernel, s->stream, true));
    TRY(krein__kernel_set_median(ctx, kernel, s->stream, s->n, o->seed));
    s->kernel = kernel;
    NEW(index, m);
    krein__rng_choose((krein_rng){o->seed, KREIN_STREAM_SAMPLE}, s->n, m, index);
    TRY(krein__stream_gather(s->stream, index, m, &s->x, NULL, NULL, NULL));
    krein_rows rows = krein__matrix_rows(&s->x);
    NEW(s->K, m * m);
    TRY(krein__gram_full(ctx, kernel, &rows, &rows, s->K));
    for (int64_t i = 0; i < m * m; i++) s->norm += s->K[i] * s->K[i];
    s->norm = sqrt(s->norm);
    if (!(s->norm > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "the kernel is zero on the sampled rows");
        goto done;
    }
done:
    krein__free(ctx, index);
    return st;
}

static void sample_end(sample *s) {
    krein__stream_close(s->stream);
    krein__matrix_clear(s->ctx, &s->x);
    krein__free(s->ctx, s->K);
}

/* Errors of the features z (n x D). */
static krein_status measure(const sample *s, const krein_map *map, const float *z, double *error,
                            double *worst) {
    enum { ROWS = 256 };
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->x.n, D = map->D;
    double *wide = NULL, *left = NULL, *k = NULL, sum = 0;
    NEW(wide, n * D);
    NEW(left, ROWS * D);
    NEW(k, ROWS * n);
    *worst = 0;
    for (int64_t i = 0; i < n * D; i++) wide[i] = (double)z[i];
    for (int64_t i = 0; i < n; i += ROWS) {
        int64_t m = krein__min(ROWS, n - i);
        TRY(krein__poll(ctx));
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < D; j++)
                left[r * D + j] =
                    map->sign ? map->sign[j] * wide[(i + r) * D + j] : wide[(i + r) * D + j];
        krein__pgemm(ctx, false, true, m, n, D, 1, left, D, wide, D, 0, k, n);
        for (int64_t e = 0; e < m * n; e++) {
            double delta = k[e] - s->K[i * n + e];
            sum += delta * delta;
            *worst = fmax(*worst, fabs(delta));
        }
    }
    *error = sqrt(sum) / s->norm;
done:
    krein__free(ctx, wide);
    krein__free(ctx, left);
    krein__free(ctx, k);
    return st;
}

static krein_status keep_facts(const krein_map *map, krein_approx_result *r) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_fact fact;
    int64_t n = 0;
    if (!map->cls->fact || r->facts) return KREIN_OK;
    while (map->cls->fact(map, n, &fact)) n++;
    NEW(r->facts, n);
    while (r->nfacts < n && map->cls->fact(map, r->nfacts, &r->facts[r->nfacts])) r->nfacts++;
done:
    return st;
}

/* One map of one size, for the t-th time. What it says of one draw it says of all. */
static krein_status draw(const sample *s, const char *spec, int64_t D, uint64_t seed, int64_t t,
                         krein_approx_result *r, double *error, double *worst) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    float *z = NULL;
    krein_rows rows = krein__matrix_rows(&s->x);
    TRY(krein__map_create(ctx, spec, s->kernel, D, seed + (uint64_t)t, &map));
    TRY(t == 0 ? krein__map_fit(map, s->d, s->sparse, s->stream, s->n)
               : krein__map_fit_silently(map, s->d, s->sparse, s->stream, s->n));
    TRY(krein__reserve_check(ctx, 12.0 * (double)(rows.n * map->D), "features of the sampled rows",
                             "use fewer `rows` or `features`, or raise `max_memory`"));
    ZNEW(z, rows.n * map->D); /* touched before the clock starts */
    double start = krein__clock();
    TRY(krein__map_apply(map, &rows, z));
    r->seconds = fmin(r->seconds, krein__clock() - start);
    TRY(measure(s, map, z, error, worst));
    r->D = map->D;
    TRY(keep_facts(map, r));
    if (!r->map && !(r->map = krein__map_text(map))) st = ctx->status;
done:
    krein__free(ctx, z);
    krein__map_destroy(map);
    return st;
}

/* Refusals of one map or size are a result, not the end: a comparison goes on without it. */
static bool refusal(krein_status st) { return st == KREIN_ESPEC || st == KREIN_EDATA; }

static krein_status repeat(const sample *s, const krein_approx_options *o, const char *spec,
                           int64_t D, krein_approx_result *r) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double sum = 0, square = 0, first = 0;
    r->error_mean = r->error_sd = r->worst = NAN;
    r->seconds = INFINITY;
    for (int64_t t = 0; t < o->repeats; t++) {
        double error = 0, worst = 0;
        st = draw(s, spec, D, o->seed, t, r, &error, &worst);
        if (refusal(st)) {
            DUP(r->refused, krein_message(ctx));
            if (!r->map) DUP(r->map, spec);
            r->D = D;
            r->seconds = NAN;
            return KREIN_OK;
        }
        if (st != KREIN_OK) return st;
        if (t == 0) first = error;
        sum += error;
        square += (error - first) * (error - first);
        r->worst = t == 0 ? worst : fmax(r->worst, worst);
        TRY(krein__poll(ctx));
    }
    double n = (double)o->repeats, shift = sum / n - first;
    r->error_mean = sum / n;
    r->error_sd = o->repeats > 1 ? sqrt(fmax(0, square - n * shift * shift) / (n - 1)) : NAN;
done:
    return st;
}

/* Every map at every size; a map that brings its own D, or has none, only once. */
static krein_status compare(const sample *s, const krein_approx_options *o,
                            krein_approx_report *r) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t sizes = krein__max(1, o->nfeatures);
    ZNEW(r->results, o->nmaps * sizes);
    for (int64_t i = 0; i < o->nmaps; i++) {
        krein_map *map = NULL;
        TRY(krein__map_create(ctx, o->maps[i], s->kernel, 0, o->seed, &map));
        int64_t given = map->D;
        bool own = given > 0 || krein__option_index(&map->cls->cls, "D") < 0;
        krein__map_destroy(map);
        for (int64_t k = 0; k < (own ? 1 : sizes); k++) {
            krein__progress(ctx, "measuring", (double)(i * sizes + k), (double)(o->nmaps * sizes));
            krein_approx_result *result = &r->results[r->count++];
            result->series = i;
            TRY(repeat(s, o, o->maps[i], own ? 0 : o->features[k], result));
            if (result->refused && own) result->D = given;
        }
    }
done:
    return st;
}

krein_status krein_approx(krein_ctx *ctx, krein_data *data, const krein_approx_options *options,
                          krein_approx_report *r) {
    krein_status st = KREIN_OK;
    krein_approx_options o;
    krein_kernel *kernel = NULL;
    krein_encoding e = {0};
    sample s = {.ctx = ctx};
    double start = krein__clock();
    bool labels;
    memset(r, 0, sizeof *r);
    TRY(copy_options(ctx, options, &o));
    TRY(krein__kernel_parse(ctx, o.kernel ? o.kernel : "gaussian", &kernel));
    TRY(check_maps(ctx, &o, kernel, &labels));
    labels = labels && krein__data_may_have_labels(data);
    TRY(krein__data_scan(data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED, 0, o.seed,
                         KREIN_KEEP_AUTO, &e));
    s.n = data->count[KREIN_PART_TRAIN];
    TRY(sample_begin(&s, data, &e, kernel, &o));
    TRY(compare(&s, &o, r));
    r->n = s.n;
    r->rows = s.x.n;
    r->d = e.d;
    r->repeats = o.repeats;
    if (!(r->kernel = krein__kernel_text(ctx, kernel))) st = ctx->status;
    r->seconds = krein__clock() - start;
done:
    sample_end(&s);
    krein__kernel_destroy(ctx, kernel);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein_approx_report_clear(ctx, r);
    return st;
}
