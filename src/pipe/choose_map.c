/* choose_map.c -- the map of a pipe: by default the kernel matrix for few rows, features for many,
 * fewer of them where memory is short; and what does not fit.
 *
 * A default gives way, what was asked for is refused:
 *     matrix   few rows, unless it does not fit or the options rule it out
 *     features of the kernel's own map; landmarks where a linear kernel has too many columns
 *     D        halved until it fits, down to 64 */
#include "pipe/pipe.h"

#include "stream/together.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_FEATURES = 64, LEAST_ADVISED = 16 };

static krein_map **map_of(krein_pipe *p) { return &p->job.model->map; }
static const krein_encoding *encoding(const krein_pipe *p) { return &p->job.model->encoding; }

bool krein__pipe_is_exact(const krein_pipe *p) {
    const krein_map *map = p->job.model->map;
    return map && map->cls->traits & KREIN_MAP_DUAL;
}

bool krein__pipe_asked(const krein_pipe *p, const krein_map *map) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    return p->o.features > 0 || (p->o.map && (slot < 0 || map->values.given[slot]));
}

/* ---- defaults ----------------------------------------------------------- */

int64_t krein__training_features(const krein_pipe *p) {
    int64_t D = KREIN_FEATURES_TRAIN, n = p->rows, d = encoding(p)->d;
    if (krein__is_linear(p->kernel) && d <= D) return d; /* the rows themselves */
    while (D > KREIN_FEATURES && (double)n * (double)D * (double)D > 2e12) D /= 2;
    return krein__min(D, n);
}

static int64_t default_features(const krein_pipe *p) {
    if (p->purpose.features) return p->purpose.features(p);
    return krein__max(2, krein__min(KREIN_FEATURES, p->rows));
}

/* Landmarks where there is no room for all columns of a linear kernel. */
static const char *default_map(const krein_pipe *p, int64_t D) {
    if (p->wide) return "nystrom";
    if (p->purpose.map) return p->purpose.map(p, D);
    return krein__map_default(p->kernel, encoding(p)->d, D);
}

/* Its features are the columns, however many. */
static bool is_linear(const krein_pipe *p) { return p->kernel && krein__is_linear(p->kernel); }

static bool few_rows(const krein_pipe *p) {
    if (p->o.features > 0) return false;
    if (p->purpose.matrix == KREIN_MATRIX_ALWAYS) return p->rows <= p->o.max_exact;
    int64_t few = p->purpose.few ? p->purpose.few(p) : KREIN_EXACT_ROWS;
    if (p->job.uncertainty) few = krein__min(few, KREIN_EXACT_SURE);
    return p->purpose.matrix == KREIN_MATRIX_FEW && p->rows <= krein__min(few, p->o.max_exact);
}

/* ---- making it ---------------------------------------------------------- */

/* D = 0: the map's own, or not known yet. */
static krein_status create(const krein_pipe *p, const char *spec, int64_t D, krein_map **out) {
    krein_status st = p->purpose.create
                          ? p->purpose.create(p, spec, D, out)
                          : krein__map_create(p->ctx, spec, p->kernel, D, p->o.seed, out);
    if (st != KREIN_OK) return st;
    (*out)->d = encoding(p)->d;
    (*out)->sparse = encoding(p)->sparse;
    (*out)->in_bytes =
        p->job.data && p->job.data->reader->in_bytes && krein__encoding_bytes(encoding(p));
    memcpy((*out)->image, encoding(p)->image, sizeof(*out)->image);
    return KREIN_OK;
}

static void set_features(krein_map *map, int64_t D) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    if (slot >= 0) map->values.number[slot] = (double)D;
    map->D = D;
}

static krein_status check_rows(const krein_pipe *p, const krein_map *map) {
    int64_t rows = p->rows;
    krein_status st = KREIN_OK;
    if (!(map->cls->traits & KREIN_MAP_DUAL)) return KREIN_OK;
    if (p->purpose.matrix_rows) TRY(p->purpose.matrix_rows(p, &rows));
    TRY(krein__map_check_rows(map, rows, p->o.max_exact, default_map(p, default_features(p))));
done:
    return st;
}

/* exact: the kernel matrix may be the default. */
static krein_status make(krein_pipe *p, bool exact) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    int64_t D = p->o.features;
    const char *spec = p->o.map               ? p->o.map
                       : exact && few_rows(p) ? "exact"
                                              : default_map(p, D > 0 ? D : default_features(p));
    krein__map_destroy(*map_of(p));
    *map_of(p) = NULL;
    TRY(create(p, spec, D, &map));
    TRY(check_rows(p, map));
    if (map->cls->kernel) /* features of its own */
        set_features(map, map->cls->features(map, p->rows));
    else if (!(map->cls->traits & KREIN_MAP_DUAL) && map->D == 0)
        set_features(map, default_features(p));
    *map_of(p) = map;
    map = NULL;
done:
    krein__map_destroy(map);
    return st;
}

/* ---- what it takes ------------------------------------------------------ */

static krein_need estimate(const krein_pipe *p) {
    krein_need need = {0};
    if (p->purpose.cost) {
        p->purpose.cost(p, &need);
    } else {
        const krein_map *map = p->job.model->map;
        krein_cost cost = {0};
        map->cls->cost(map, p->rows, &cost);
        need.bytes = cost.bytes + 4 * (double)krein__block_rows(map->d) *
                                      ((double)map->d + (double)map->cls->features(map, p->rows));
        need.flops = (double)p->rows * cost.flops + cost.fit_flops;
    }
    need.bytes += p->rows_bytes;
    need.fits = need.bytes <= (double)p->ctx->budget;
    return need;
}

/* The same map for another D, or the one that is the default then. */
static krein_status resize(krein_pipe *p, int64_t D) {
    krein_map *new = NULL;
    krein_status st = create(p, p->o.map ? p->o.map : default_map(p, D), D, &new);
    if (st != KREIN_OK) return st;
    if (new->D == 0) set_features(new, D);
    krein__map_destroy(*map_of(p));
    *map_of(p) = new;
    return KREIN_OK;
}

/* Fewer features, where their number was ours. */
static krein_status shrink(krein_pipe *p, krein_need *need) {
    krein_status st = KREIN_OK;
    const krein_map *map = *map_of(p);
    int64_t slot = krein__option_index(&map->cls->cls, "D"), first = map->D, D = first;
    bool ours = p->o.map ? slot >= 0 && !map->values.given[slot] : !krein__pipe_is_exact(p);
    if (need->fits || p->o.features > 0 || !ours) return KREIN_OK;
    while (!need->fits && D > LEAST_FEATURES) {
        D /= 2;
        TRY(resize(p, D));
        *need = estimate(p);
    }
    if (need->fits) return KREIN_OK;
    TRY(resize(p, first));
    *need = estimate(p);
done:
    return st;
}

static krein_status replace(krein_pipe *p, krein_need *need) {
    krein_status st = make(p, false);
    if (st == KREIN_OK) *need = estimate(p);
    return st;
}

krein_status krein__pipe_smaller(krein_pipe *p, krein_need *need, bool *smaller) {
    krein_status st = KREIN_OK;
    const krein_map *map = *map_of(p);
    bool exact = krein__pipe_is_exact(p), sized = krein__option_index(&map->cls->cls, "D") >= 0;
    *smaller = !krein__pipe_asked(p, map) && (exact || (sized && map->D / 2 >= LEAST_FEATURES));
    if (!*smaller) return KREIN_OK;
    TRY(exact ? make(p, false) : resize(p, map->D / 2));
    *need = estimate(p);
done:
    return st;
}

enum { TRIED_BYTES = 1 << 16 }; /* candidates of the default model, for the report */

/* What the rows take, on the process where it is most. */
static krein_status count_rows(krein_pipe *p) {
    const krein_data *data = p->job.data;
    int64_t here = data->share.on ? data->here[KREIN_PART_TRAIN] : p->rows;
    double size = data->reader->in_bytes ? 1 : 4;
    p->rows_bytes =
        data->in_memory ? size * (double)here * (double)encoding(p)->d : data->batch_bytes;
    p->rows_bytes += (double)atomic_load(&p->ctx->held);
    if (!p->job.rows) /* a plan: what train holds by then */
        p->rows_bytes += krein__stream_bytes(data, encoding(p)) + TRIED_BYTES;
    return krein__stream_most(p->job.rows, 1, &p->rows_bytes);
}

krein_status krein__pipe_map(krein_pipe *p, krein_need *out) {
    krein_status st = KREIN_OK;
    krein_need need;
    TRY(count_rows(p));
    TRY(make(p, true));
    need = estimate(p);
    bool given = p->o.map != NULL, suits = !p->purpose.suits || p->purpose.suits(p, *map_of(p));
    if (!given && krein__pipe_is_exact(p) && (!need.fits || !suits)) TRY(replace(p, &need));
    if (!given && !need.fits && is_linear(p) && !p->purpose.create) {
        p->wide = true;
        TRY(replace(p, &need));
    }
    TRY(shrink(p, &need));
    if (!given) krein__map_say_more(*map_of(p), p->rows, p->o.features);
    if (!out && !need.fits) TRY(krein__pipe_refuse(p, &need));
    if (out) *out = need;
done:
    return st;
}

/* ---- what does not fit -------------------------------------------------- */

/* So many features would fit; 0: none. */
static int64_t fitting(krein_pipe *p) {
    krein_map *map = *map_of(p);
    int64_t D = map->D, asked = map->D;
    bool fits = false;
    while (D > LEAST_ADVISED && !fits) {
        map->D = D /= 2;
        fits = estimate(p).fits;
    }
    map->D = asked;
    return fits ? D : 0;
}

void krein__pipe_advice(krein_pipe *p, char *text, size_t size) {
    if (krein__pipe_is_exact(p)) {
        snprintf(text, size, "raise `max_memory`, or use `map=%s`",
                 default_map(p, default_features(p)));
        return;
    }
    if (p->purpose.advice && p->purpose.advice(p, text, size)) return;
    if (krein__option_index(&(*map_of(p))->cls->cls, "D") < 0) {
        snprintf(text, size, "raise `max_memory`, or use `map=nystrom`");
        return;
    }
    int64_t D = fitting(p);
    if (D > 0)
        snprintf(text, size, "raise `max_memory`, or use `features=%lld`", (long long)D);
    else
        snprintf(text, size, "raise `max_memory`");
}

krein_status krein__pipe_refuse(krein_pipe *p, const krein_need *need) {
    char want[32], have[32], advice[200];
    krein__pipe_advice(p, advice, sizeof advice);
    return krein__fail(p->ctx, KREIN_EMEMORY, "%s needs %s, the memory budget is %s; %s",
                       p->purpose.what, krein__bytes_text(need->bytes, want),
                       krein__bytes_text((double)p->ctx->budget, have), advice);
}
