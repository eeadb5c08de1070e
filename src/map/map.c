/* map.c -- the table of maps, and what all of them share: specs, tiles, model files. */
#include "map/parts.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

const krein_class *const krein__maps[] = {
#define MAP(name) &name.cls,
#include "map/maps.def"
#undef MAP
};
const int64_t krein__map_count = KREIN__COUNT(krein__maps);

/* The class and the options of a spec; fresh: not of a model, which is what it is. */
static krein_status parse(krein_ctx *ctx, const char *spec, bool fresh, const krein_map_class **cls,
                          krein_values *values) {
    int64_t which;
    krein_status st =
        krein__parse_spec(ctx, spec, "map", krein__maps, krein__map_count, &which, values);
    if (st != KREIN_OK) return st;
    *cls = (const krein_map_class *)krein__maps[which];
    char *other = fresh && (*cls)->instead ? (*cls)->instead(ctx, values) : NULL;
    if (!other) return KREIN_OK;
    krein__values_clear(ctx, values);
    st = parse(ctx, other, false, cls, values);
    krein__free(ctx, other);
    return st;
}

krein_status krein__map_kernel(krein_ctx *ctx, const char *spec, const char **kernel) {
    const krein_map_class *cls = NULL;
    krein_values values = {0};
    if (!spec || *kernel) return KREIN_OK;
    krein_status st = parse(ctx, spec, true, &cls, &values);
    krein__values_clear(ctx, &values);
    if (st == KREIN_OK) *kernel = cls->kernel;
    return st;
}

static krein_status create(krein_ctx *ctx, const char *spec, bool fresh, const krein_kernel *kernel,
                           int64_t D, uint64_t seed, krein_map **out) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    *out = NULL;
    ZNEW(map, 1);
    map->ctx = ctx;
    map->seed = seed;
    TRY(parse(ctx, spec, fresh, &map->cls, &map->values));
    TRY(krein__kernel_copy(ctx, kernel, &map->kernel));
    krein__map_ask(map, D);
    TRY(map->cls->accepts(ctx, kernel));
    *out = map;
    return KREIN_OK;
done:
    krein__map_destroy(map);
    return st;
}

krein_status krein__map_create(krein_ctx *ctx, const char *spec, const krein_kernel *kernel,
                               int64_t D, uint64_t seed, krein_map **out) {
    return create(ctx, spec, true, kernel, D, seed, out);
}

void krein__map_ask(krein_map *map, int64_t D) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    if (slot >= 0 && D > 0) map->values.number[slot] = (double)D;
    if (slot >= 0 && !isnan(map->values.number[slot])) map->D = (int64_t)map->values.number[slot];
}

/* "name: fact 1, fact 2", for those who ask for details. */
static void tell_facts(const krein_map *map) {
    char text[KREIN__MESSAGE] = "";
    size_t used = 0;
    krein_fact fact;
    for (int64_t i = 0; map->cls->fact(map, i, &fact) && used < sizeof text; i++) {
        const char *comma = i ? ", " : "";
        used += (size_t)(fact.text ? snprintf(text + used, sizeof text - used, "%s%s %s", comma,
                                              fact.name, fact.text)
                                   : snprintf(text + used, sizeof text - used, "%s%s %.4g", comma,
                                              fact.name, fact.value));
    }
    if (used > 0) krein__log(map->ctx, KREIN_LOG_DEBUG, "%s: %s", map->cls->cls.name, text);
}

static krein_status begin_fit(krein_map *map, int64_t d, bool sparse) {
    map->d = d;
    map->sparse = sparse;
    return krein__kernel_settle(map->ctx, map->kernel, d, NULL);
}

static void count_negative(krein_map *map) {
    map->negative = 0;
    for (int64_t i = 0; map->sign && i < map->D; i++) map->negative += map->sign[i] < 0;
}

krein_status krein__map_fit(krein_map *map, int64_t d, bool sparse, krein_stream *rows, int64_t n) {
    krein_status st = begin_fit(map, d, sparse);
    if (st == KREIN_OK) st = map->cls->fit(map, rows, n);
    if (st == KREIN_OK) count_negative(map);
    /* parts have told theirs */
    if (st == KREIN_OK && rows && map->cls->fact && map->cls->fact != krein__parts_fact)
        tell_facts(map);
    return st;
}

krein_status krein__map_fit_silently(krein_map *map, int64_t d, bool sparse, krein_stream *rows,
                                     int64_t n) {
    krein_log_fn log = map->ctx->log;
    map->ctx->log = NULL;
    krein_status st = krein__map_fit(map, d, sparse, rows, n);
    map->ctx->log = log;
    return st;
}

krein_status krein__map_fit_sample(krein_map *map, const krein_rows *rows) {
    if (!map->cls->fit_sample) return krein__map_fit(map, rows->d, rows->ptr != NULL, NULL, 0);
    krein_status st = begin_fit(map, rows->d, rows->ptr != NULL);
    if (st == KREIN_OK) st = map->cls->fit_sample(map, rows);
    if (st == KREIN_OK) count_negative(map);
    return st;
}

void krein__map_destroy(krein_map *map) {
    if (!map) return;
    krein_ctx *ctx = map->ctx;
    if (map->state && map->cls->clear) map->cls->clear(map);
    krein__free(ctx, map->state);
    krein__free(ctx, map->mix);
    krein__free(ctx, map->spectrum);
    krein__free(ctx, map->sign);
    krein__kernel_destroy(ctx, map->kernel);
    krein__values_clear(ctx, &map->values);
    krein__free(ctx, map);
}

bool krein__map_has_codes(const krein_map *map) { return krein__map_traits(map) & KREIN_MAP_CODES; }

krein_map_codes krein__map_codes(const krein_map *map) { return map->cls->codes(map); }

int krein__map_traits(const krein_map *map) {
    return map->cls->traits | (map->cls->own_traits ? map->cls->own_traits(map) : 0);
}

char *krein__map_text(const krein_map *map) {
    krein_values v = map->values;
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    /* What was asked for reproduces the map; what came out of it may be less. */
    if (slot >= 0 && isnan(v.number[slot])) v.number[slot] = (double)map->D;
    return krein__spec_text(map->ctx, &map->cls->cls, &v);
}

krein_status krein__map_io(krein_ctx *ctx, krein_archive *a, int64_t expected_d,
                           bool expected_sparse, krein_map **out) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    krein_map view, *map = *out;
    char *kernel_text = NULL, *spec = NULL;
    krein_kernel *kernel = NULL;
    int64_t d = 0, D = 0, R = 0, seed = 0, negative = 0;
    bool sparse = false;
    if (!reading) {
        view = krein__map_on(ctx, map);
        map = &view;
        if (!(kernel_text = krein__kernel_text(ctx, map->kernel)) ||
            !(spec = krein__map_text(map))) {
            st = ctx->status;
            goto done;
        }
        d = map->d;
        D = map->D;
        R = map->R;
        negative = map->negative;
        seed = (int64_t)map->seed;
        sparse = map->sparse;
    }
    TRY(krein__archive_text(a, "kernel", &kernel_text));
    TRY(krein__archive_text(a, "map", &spec));
    TRY(krein__archive_int(a, "map.d", &d, 1, INT32_MAX));
    TRY(krein__archive_int(a, "map.D", &D, 1, INT32_MAX));
    TRY(krein__archive_int(a, "map.R", &R, 1, INT32_MAX));
    TRY(krein__archive_int(a, "map.negative", &negative, 0, D));
    TRY(krein__archive_int(a, "map.seed", &seed, INT64_MIN, INT64_MAX));
    TRY(krein__archive_bool(a, "map.sparse", &sparse));
    if (!reading) TRY(krein__kernel_io(ctx, a, map->kernel, d));
    if (reading) {
        if (d != expected_d || sparse != expected_sparse) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (map and columns differ)");
            goto done;
        }
        TRY(krein__kernel_parse(ctx, kernel_text, &kernel));
        TRY(krein__kernel_io(ctx, a, kernel, d));
        krein_kernel *leaf;
        int64_t slot;
        if (krein__kernel_free(kernel, 0, &leaf, &slot) > 0) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its kernel is incomplete)");
            goto done;
        }
        TRY(create(ctx, spec, false, kernel, 0, (uint64_t)seed, &map));
        krein__values_old(&map->cls->cls, &map->values);
        map->d = d;
        map->sparse = sparse;
        if (!map->cls->io) {
            TRY(krein__map_fit_silently(map, d, sparse, NULL, 0));
            if (map->D != D || map->R != R) {
                st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its map does not fit)");
                goto done;
            }
        }
        map->D = D;
        map->R = R;
        map->negative = negative;
    }
    if (map->cls->io) TRY(map->cls->io(map, a));
    if (reading) *out = map;
done:
    if (st != KREIN_OK && reading) {
        if (st == KREIN_ESPEC) st = krein__prefix(ctx, KREIN_EMODEL, "the model is damaged: ");
        krein__map_destroy(map);
        *out = NULL;
    }
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, kernel_text);
    krein__free(ctx, spec);
    return st;
}

krein_map krein__map_on(krein_ctx *ctx, const krein_map *map) {
    krein_map view = *map;
    view.ctx = ctx;
    return view;
}

krein_status krein__map_remix(krein_map *map) {
    if (map->mix || !(krein__map_traits(map) & KREIN_MAP_MIX)) return KREIN_OK;
    return map->cls->remix(map);
}

void krein__array_set(krein_named_array *out, const char *name, krein_type type, int64_t rows,
                      int64_t columns, const void *at) {
    snprintf(out->name, sizeof out->name, "%s", name);
    size_t size = (size_t)(rows * columns) * krein__type_size(type);
    out->array = (krein_array){size, (int)type, rows, columns, at};
}

int64_t krein__map_scratch(const krein_map *map) {
    return map->ctx->threads * (map->scratch + KREIN_TILE * map->R);
}

static void subtract(int64_t n, int64_t R, const float *offset, float *z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < R; j++) z[i * R + j] -= offset[j];
}

/* One where the caller is a thread of several, with scratch for itself alone (learn/group.c): the
 * environment may allow threads inside of threads. */
static int threads_for(const krein_map *map, int64_t tiles) {
    return omp_in_parallel() ? 1 : (int)krein__max(1, krein__min(map->ctx->threads, tiles));
}

void krein__map_raw(const krein_map *map, const krein_rows *x, const float *offset, float *out,
                    float *scratch) {
    int64_t R = map->R, tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE;
    int64_t each = map->scratch + KREIN_TILE * R;
    int threads = threads_for(map, tiles);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        float *mine = scratch + omp_get_thread_num() * each;
        krein_rows rows =
            krein__rows_slice(x, t * KREIN_TILE, krein__min(KREIN_TILE, x->n - t * KREIN_TILE));
        float *to = out + t * KREIN_TILE * R;
        if (rows.n == KREIN_TILE) {
            map->cls->tile(map, &rows, to, R, mine);
        } else { /* the padded tile goes to scratch first */
            float *spare = mine + map->scratch;
            map->cls->tile(map, &rows, spare, R, mine);
            memcpy(to, spare, (size_t)(rows.n * R) * sizeof *to);
        }
        if (offset) subtract(rows.n, R, offset, to);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

int64_t krein__map_fused(const krein_map *map, double lambda) {
    int64_t n = 0;
    if (!map->spectrum) return map->D;
    while (n < map->D && map->spectrum[n] * lambda >= map->fused_unit) n++;
    return krein__max(n, 1);
}

float *krein__map_mix32(const krein_map *map) {
    int64_t n = map->R * map->D;
    float *mix = krein__alloc(map->ctx, n, sizeof *mix);
    for (int64_t i = 0; mix && i < n; i++) mix[i] = (float)map->mix[i];
    return mix;
}

/* Rows of mix after which the columns first .. first + wide - 1 are zero: mix is often triangular.
 */
static int64_t reach_of(const krein_map *map, const float *mix32, int64_t first, int64_t wide) {
    for (int64_t i = map->R; i > 0; i--) {
        const float *row = mix32 + (i - 1) * map->D + first;
        for (int64_t j = 0; j < wide; j++)
            if (row[j] != 0) return i;
    }
    return 0;
}

void krein__map_mix(const krein_map *map, int64_t n, const float *raw, const float *mix32,
                    float *out) {
    enum { ROWS = 4 * KREIN_TILE, COLUMNS = 512 }; /* a copy of mix for each ROWS */
    int64_t R = map->R, D = map->D, tiles = (n + ROWS - 1) / ROWS;
    int64_t panels = (D + COLUMNS - 1) / COLUMNS;
    int threads = threads_for(map, tiles * panels);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles * panels; t++) {
        int64_t first = (panels - 1 - t / tiles) * COLUMNS; /* the longest first */
        int64_t from = t % tiles * ROWS, m = krein__min(ROWS, n - from);
        int64_t wide = krein__min(COLUMNS, D - first), reach = reach_of(map, mix32, first, wide);
        krein__worker_begin();
        krein__sgemm(false, false, m, wide, reach, 1, raw + from * R, R, mix32 + first, D, 0,
                     out + from * D + first, D);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

krein_status krein__map_apply(const krein_map *map, const krein_rows *x, float *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    float *scratch = NULL, *raw = NULL, *mix = NULL;
    NEW(scratch, krein__map_scratch(map));
    if (!map->mix) {
        krein__map_raw(map, x, NULL, out, scratch);
        goto done;
    }
    NEW(raw, x->n * map->R);
    if (!(mix = krein__map_mix32(map))) {
        st = ctx->status;
        goto done;
    }
    krein__map_raw(map, x, NULL, raw, scratch);
    krein__map_mix(map, x->n, raw, mix, out);
done:
    krein__free(ctx, scratch);
    krein__free(ctx, raw);
    krein__free(ctx, mix);
    return st;
}

/* ---- what users are told -------------------------------------------------- */

void krein__map_say_more(const krein_map *map, int64_t n, int64_t asked) {
    int64_t made = map->cls->features(map, n);
    if (asked > 0 && made > asked)
        krein__log(
            map->ctx, KREIN_LOG_WARNING,
            "%s makes %lld features, one for each column, not %lld; for fewer use `map=nystrom`",
            map->cls->cls.name, (long long)made, (long long)asked);
}

krein_status krein__map_check(const krein_map *map, int64_t features, const char *who) {
    const krein_class *cls = &map->cls->cls;
    if (who && krein__map_traits(map) & KREIN_MAP_LABELS)
        return krein__fail(map->ctx, KREIN_EARG,
                           "the %s map is fitted to labels, which %s do not know; use `map=%s`",
                           cls->name, who, krein__map_default(map->kernel, 0, 0));
    if (features > 0 && krein__option_index(cls, "D") < 0)
        return krein__fail(map->ctx, KREIN_EARG,
                           "the %s map has no `features`: their number follows from the data; "
                           "leave it out, or use another map",
                           cls->name);
    return KREIN_OK;
}

krein_status krein__map_check_rows(const krein_map *map, int64_t n, int64_t most,
                                   const char *other) {
    if (!(map->cls->traits & KREIN_MAP_DUAL) || n <= most) return KREIN_OK;
    return krein__fail(
        map->ctx, KREIN_EARG,
        "map=exact on %lld rows is above `max_exact` (%lld); raise it, or use `map=%s`",
        (long long)n, (long long)most, other);
}

krein_status krein__map_refuse(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                               const char *what) {
    char *text = krein__kernel_text(ctx, kernel);
    if (!text) return ctx->status;
    krein_status st =
        krein__fail(ctx, KREIN_ESPEC, "%s needs %s, got %.300s%s; try %s", name, what, text,
                    strlen(text) > 300 ? "..." : "", krein__map_default(kernel, 0, 0));
    krein__free(ctx, text);
    return st;
}
