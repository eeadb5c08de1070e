/* approx.c -- the public entry point that measures how well feature maps approximate a kernel:
 *
 *     |K - Khat|_F / |K|_F,   Khat = Z diag(s) Z',
 *
 * diagonal included, on a seeded sample of the rows. Each repeat draws the features anew; maps that
 * look at the data are fitted on all of its rows. K and the products are float64, Z is float32 as
 * everywhere.
 */
#include "pipe/sample.h"

#include <math.h>
#include <string.h>

void krein_approx_options_init_sized(krein_approx_options *given, size_t size) {
    krein_approx_options own = KREIN_SIZED(krein_approx_options), *o = &own;
    o->rows = 1000;
    o->repeats = 10;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

void krein_approx_report_clear(krein_ctx *ctx, krein_approx_report *report) {
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    if (!report) return;
    krein__report_take(&r, report);
    for (int64_t i = 0; r.results && i < r.count; i++) {
        krein__free(ctx, r.results[i]->map);
        krein__free(ctx, r.results[i]->refused);
        krein__free(ctx, r.results[i]->facts);
        krein__free(ctx, r.results[i]);
    }
    krein__free(ctx, r.results);
    krein__free(ctx, r.kernel);
}

/* What the measurements share. */
typedef struct measured {
    krein_pipe *p;
    krein_sample s;
} measured;

/* A map that does not go with the kernel, or has no features, is refused before any row is read. */
static krein_status check_maps(const krein_pipe *p, const krein_approx_options *o, bool *labels) {
    krein_ctx *ctx = p->ctx;
    *labels = false;
    for (int64_t i = 0; i < o->nmaps; i++) {
        krein_map *map = NULL;
        krein_status st = krein__map_create(ctx, o->maps[i], p->kernel, 0, o->seed, &map);
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

static krein_status begin(krein_ctx *ctx, const krein_approx_options *given,
                          krein_approx_options *o, krein_pipe *p, bool *labels) {
    krein_status st = KREIN_OK;
    krein_approx_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_approx_options"));
    if (o->nmaps < 1) return krein__fail(ctx, KREIN_EARG, "approx needs a map: `map`");
    TRY(krein__limit_check(ctx, "repeats", (double)o->repeats));
    for (int64_t i = 0; i < o->nfeatures; i++)
        TRY(krein__limit_check(ctx, "features", (double)o->features[i]));
    krein_pipe_options asked = {.kernel = o->kernel, .seed = o->seed, .max_exact = o->max_exact};
    krein_purpose purpose = {.what = "the measurement"};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, p));
    TRY(krein__sample_check(p, o->rows));
    TRY(check_maps(p, o, labels));
done:
    return st;
}

/* The kernel matrix of the sampled rows. */
static krein_status gather(measured *m, krein_data *data, bool labels, int64_t most) {
    krein_status st = KREIN_OK;
    krein_pipe *p = m->p;
    TRY(krein__pipe_meet(p, data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED));
    int64_t n = krein__min(most, p->job.n);
    TRY(krein__reserve_check(p->ctx, 8.0 * (double)n * (double)n, "the kernel matrix",
                             "use fewer `rows`, or raise `max_memory`"));
    TRY(krein__pipe_median(p));
    TRY(krein__sample_gather(p, n, false, &m->s));
    double norm = 0;
    for (int64_t i = 0; i < n * n; i++) norm += m->s.K[i] * m->s.K[i];
    if (!(norm > 0))
        st = krein__fail(p->ctx, KREIN_EDATA, "the kernel is zero on the sampled rows");
done:
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
static krein_status draw(const measured *s, const char *spec, int64_t D, uint64_t seed, int64_t t,
                         krein_approx_result *r, double *error, double *worst) {
    krein_ctx *ctx = s->p->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    float *z = NULL;
    const krein_job *job = &s->p->job;
    const krein_encoding *e = &job->model->encoding;
    krein_rows rows = krein__matrix_rows(&s->s.x);
    TRY(krein__map_create(ctx, spec, s->p->kernel, D, seed + (uint64_t)t, &map));
    TRY(t == 0 ? krein__map_fit(map, e->d, e->sparse, job->rows, job->n)
               : krein__map_fit_silently(map, e->d, e->sparse, job->rows, job->n));
    TRY(krein__reserve_check(ctx, 12.0 * (double)(rows.n * map->D), "features of the sampled rows",
                             "use fewer `rows` or `features`, or raise `max_memory`"));
    ZNEW(z, rows.n * map->D); /* touched before the clock starts */
    double start = krein__clock();
    TRY(krein__map_apply(map, &rows, z));
    r->seconds = fmin(r->seconds, krein__clock() - start);
    TRY(krein__sample_error(ctx, rows.n, s->s.K, map->D, map->sign, z, error, worst));
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

static krein_status repeat(const measured *s, const krein_approx_options *o, const char *spec,
                           int64_t D, krein_approx_result *r) {
    krein_ctx *ctx = s->p->ctx;
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
            r->seconds = r->worst = NAN;
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
static krein_status compare(const measured *s, const krein_approx_options *o,
                            krein_approx_report *r) {
    krein_ctx *ctx = s->p->ctx;
    krein_status st = KREIN_OK;
    int64_t sizes = krein__max(1, o->nfeatures);
    if (!(r->results = krein__zalloc(ctx, o->nmaps * sizes, sizeof *r->results)))
        return ctx->status;
    for (int64_t i = 0; i < o->nmaps; i++) {
        krein_map *map = NULL;
        TRY(krein__map_create(ctx, o->maps[i], s->p->kernel, 0, o->seed, &map));
        int64_t given = map->D;
        bool own = given > 0 || krein__option_index(&map->cls->cls, "D") < 0;
        krein__map_destroy(map);
        for (int64_t k = 0; k < (own ? 1 : sizes); k++) {
            krein__progress(ctx, "measuring", (double)(i * sizes + k), (double)(o->nmaps * sizes));
            krein_approx_result *result;
            ZNEW(result, 1);
            result->size = sizeof *result;
            r->results[r->count++] = result;
            result->series = i;
            TRY(repeat(s, o, o->maps[i], own ? 0 : o->features[k], result));
            if (result->refused && own) result->D = given;
        }
    }
done:
    return st;
}

krein_status krein_approx(krein_ctx *ctx, krein_data *data, const krein_approx_options *options,
                          krein_approx_report *report) {
    krein_status st = KREIN_OK;
    krein_approx_options o;
    krein_approx_report own = KREIN_SIZED(krein_approx_report), *r = &own;
    krein_pipe p = {0};
    measured m = {.p = &p};
    double start = krein__clock();
    bool labels = false;
    TRY(krein__report_check(ctx, report, "krein_approx_report"));
    TRY(begin(ctx, options, &o, &p, &labels));
    TRY(gather(&m, data, labels && krein__data_may_have_labels(data), o.rows));
    TRY(compare(&m, &o, r));
    r->n = p.job.n;
    r->rows = m.s.m;
    r->d = p.job.model->encoding.d;
    r->repeats = o.repeats;
    if (!(r->kernel = krein__kernel_text(ctx, p.kernel))) st = ctx->status;
    r->seconds = krein__clock() - start;
done:
    krein__sample_end(ctx, &m.s);
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_approx_report_clear(ctx, r);
    return st;
}
