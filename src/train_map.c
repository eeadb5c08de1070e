/* train_map.c -- the map of a training: by default the kernel matrix for few rows, features for
 * many, fewer of them where memory is short. */
#include "train.h"

#include "dist/dist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Features by default: 4,096, fewer where they would cost more than 2e12 flops or are not fewer
 * than the rows; at least 1,024. */
static int64_t default_features(const krein_kernel *kernel, int64_t n, int64_t d) {
    int64_t D = 4096;
    if (krein__is_linear(kernel) && d <= D) return d; /* the rows themselves */
    while (D > 1024 && (double)n * (double)D * (double)D > 2e12) D /= 2;
    return krein__min(D, n);
}

/* The default map; landmarks where there is no room for all columns of a linear kernel. */
static const char *default_map(const krein_setup *s, int64_t d, int64_t D) {
    if (s->several) return KREIN_MAP_JOINT;
    return s->wide ? "nystrom" : krein__map_default(s->kernel, d, D);
}

/* D = 0: not known yet. */
static krein_status create_map(const krein_setup *s, const char *spec, int64_t D, int64_t n,
                               int64_t d, bool sparse, krein_map **out) {
    if (s->several && strcmp(spec, KREIN_MAP_JOINT) == 0)
        return krein__combination_map(&s->combination,
                                      D > 0 ? D : default_features(s->kernel, n, d), d, sparse,
                                      s->o.seed, out);
    krein_status st = krein__map_create(s->ctx, spec, s->kernel, D, s->o.seed, out);
    if (st != KREIN_OK) return st;
    (*out)->d = d;
    (*out)->sparse = sparse;
    return KREIN_OK;
}

static void set_features(krein_map *map, int64_t D) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    if (slot >= 0) map->values.number[slot] = (double)D;
    map->D = D;
}

/* Of the largest kernel matrix. */
static int64_t matrix_rows(const krein_setup *s, int64_t n) {
    if (!s->learner->matrix_rows) return n;
    return s->learner->matrix_rows(s->ctx, &s->learner_values, n, s->o.max_exact);
}

static krein_status too_few_parts(const krein_setup *s, int64_t n) {
    return krein__fail(s->ctx, KREIN_EARG,
                       "%s with map=exact makes kernel matrices of %lld rows, above `max_exact` "
                       "(%lld); raise it, or use %s=%lld or more",
                       s->learner->cls.name, (long long)matrix_rows(s, n),
                       (long long)s->o.max_exact, s->learner->advised,
                       (long long)((n + s->o.max_exact - 1) / krein__max(1, s->o.max_exact)));
}

/* Chooses the map once n is known, and creates it. exact: that may be the default. */
static krein_status make_map(krein_setup *s, int64_t n, int64_t d, bool sparse, bool exact,
                             krein_map **out) {
    const char *spec = s->o.map;
    int64_t D = s->o.features;
    if (!spec)
        spec = exact && n <= krein__min(s->learner->exact_rows, s->o.max_exact) && D == 0
                   ? "exact"
                   : default_map(s, d, D > 0 ? D : default_features(s->kernel, n, d));
    krein_status st = create_map(s, spec, D, n, d, sparse, out);
    if (st != KREIN_OK) return st;
    krein_map *map = *out;
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    D = default_features(s->kernel, n, d);
    if (dual && s->learner->advised && matrix_rows(s, n) > s->o.max_exact)
        st = too_few_parts(s, n);
    else
        st = krein__map_check_rows(map, matrix_rows(s, n), s->o.max_exact, default_map(s, d, D));
    if (st != KREIN_OK) {
        krein__map_destroy(map);
        *out = NULL;
    } else if (!dual && map->D == 0) {
        set_features(map, D);
    }
    return st;
}

int64_t krein__setup_folds(const krein_setup *s) {
    const krein_criterion_class *c = s->criterion.cls;
    return c && c->folds ? c->folds(&s->criterion.values) : 0;
}

bool krein__setup_random(const krein_setup *s, const krein_map *map, int64_t n) {
    const krein_criterion_class *c = s->criterion.cls;
    krein_trial trial = {0};
    if (c && c->trial) c->trial(&s->criterion.values, &trial);
    return !(krein__map_traits(map) & KREIN_MAP_DATA) && trial.intercept && !c->folds &&
           n >= 2 * krein__min(map->D, KREIN_FEATURES_MAX);
}

bool krein__setup_asked(const krein_setup *s, const krein_map *map) {
    if (s->recalled) return s->asked;
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    return s->o.features > 0 || (s->o.map && (slot < 0 || map->values.given[slot]));
}

krein_status krein__setup_rows(krein_setup *s, const krein_data *data, const krein_encoding *e,
                               int64_t n) {
    krein_ctx *ctx = s->ctx;
    int64_t here = data->share.on ? data->here[KREIN_PART_TRAIN] : n;
    s->rows_bytes = data->in_memory ? 4 * (double)here * (double)e->d : data->batch_bytes;
    s->rows_bytes += (double)atomic_load(&ctx->held);
    return krein__comm_most(ctx, 1, &s->rows_bytes);
}

/* Bytes, flops and passes of the whole training. */
static void estimate(const krein_setup *s, const krein_map *map, int64_t n, int64_t k,
                     krein_report *r) {
    krein_ctx *ctx = s->ctx;
    krein_cost total = {0}, fit = {0};
    int64_t passes = 0;
    bool path = s->o.lambda < 0;
    double d = (double)map->d, rows = (double)krein__block_rows(map->d);
    fit.folds = krein__setup_folds(s);
    fit.asked = krein__setup_asked(s, map);
    fit.max_exact = s->o.max_exact;
    map->cls->cost(map, n, &total);
    s->learner->cost(map, &s->learner_values, n, k, path, &fit, &passes);
    double stream = 4 * rows * d + rows * 64 + s->rows_bytes;
    bool features = krein__setup_random(s, map, n);
    bool search = s->criterion.cls && (s->free > 0 || s->list.n > 0);
    double select = search ? krein__select_bytes(ctx, n, map->d, k, features) : 0;
    krein_cost combine = {0};
    if (s->several) {
        const krein_combination *c = &s->combination;
        combine = krein__combine_cost(&c->o, map, n, c->list.n, k);
        select = fmax(select, combine.bytes);
    }
    r->bytes_peak = (uint64_t)(stream + fmax(total.bytes + fit.bytes, select));
    r->flops = (double)n * total.flops * (path ? 2 : 1) + total.fit_flops + fit.flops +
               combine.flops + (search ? krein__select_flops(n, s->free, s->list.n, features) : 0);
    r->passes = 1 + passes + (s->free > 0) + 2 * (combine.flops > 0) +
                ((krein__map_traits(map) & KREIN_MAP_DATA) != 0);
    r->fits = r->bytes_peak <= ctx->budget;
}

static bool fits_without_search(const krein_setup *s, const krein_map *map, int64_t n, int64_t k,
                                const krein_report *r) {
    krein_setup given = *s;
    krein_report without = *r;
    if (!s->criterion.cls || s->free == 0) return false;
    given.criterion.cls = NULL;
    estimate(&given, map, n, k, &without);
    return without.fits;
}

krein_status krein__setup_refuse(const krein_setup *s, krein_map *map, int64_t n, int64_t k,
                                 krein_report *r, bool fail) {
    krein_ctx *ctx = s->ctx;
    char need[32], have[32], advice[200] = "raise `max_memory`";
    krein__bytes_text((double)r->bytes_peak, need);
    krein__bytes_text((double)ctx->budget, have);
    if (map->cls->traits & KREIN_MAP_DUAL) {
        snprintf(advice, sizeof advice, "raise `max_memory`, or use `map=%s`",
                 default_map(s, map->d, default_features(s->kernel, n, map->d)));
    } else if (s->several) {
        snprintf(advice, sizeof advice, "raise `max_memory`, or use fewer `features`");
    } else if (fits_without_search(s, map, n, k, r)) {
        snprintf(advice, sizeof advice,
                 "choosing the kernel's parameters takes most of it: give them, as in `kernel` "
                 "\"gaussian(sigma=...)\", or raise `max_memory`");
    } else {
        int64_t D = map->D, asked = map->D;
        krein_report smaller = *r;
        while (D > 16 && !smaller.fits) {
            D /= 2;
            map->D = D;
            estimate(s, map, n, k, &smaller);
        }
        map->D = asked;
        if (krein__option_index(&map->cls->cls, "D") < 0)
            snprintf(advice, sizeof advice, "raise `max_memory`, or use `map=nystrom`");
        else if (smaller.fits)
            snprintf(advice, sizeof advice, "raise `max_memory`, or use `features=%lld`",
                     (long long)D);
    }
    r->advice = krein__strdup(ctx, advice);
    if (!r->advice) return ctx->status;
    if (!fail) return KREIN_OK;
    return krein__fail(ctx, KREIN_EMEMORY, "training needs %s, the memory budget is %s; %s", need,
                       have, advice);
}

/* The same map for another D, or the one that is the default then. */
static krein_status resize_map(const krein_setup *s, int64_t D, krein_map **map) {
    krein_map *old = *map, *new = NULL;
    const char *spec = s->o.map ? s->o.map : default_map(s, old->d, D);
    krein_status st = create_map(s, spec, D, 0, old->d, old->sparse, &new);
    if (st != KREIN_OK) return st;
    if (!s->several) set_features(new, D);
    krein__map_destroy(old);
    *map = new;
    return KREIN_OK;
}

/* A smaller default number of features where the asked-for one was ours and does not fit. */
static krein_status shrink_default(krein_setup *s, krein_map **map, int64_t n, int64_t k,
                                   krein_report *r) {
    krein_status st = KREIN_OK;
    int64_t slot = krein__option_index(&(*map)->cls->cls, "D"), first = (*map)->D, D = first;
    bool ours = s->o.map ? slot >= 0 && !(*map)->values.given[slot]
                         : !((*map)->cls->traits & KREIN_MAP_DUAL);
    if (r->fits || s->o.features > 0 || !ours) return KREIN_OK;
    while (!r->fits && D > 64) {
        D /= 2;
        TRY(resize_map(s, D, map));
        estimate(s, *map, n, k, r);
    }
    if (r->fits) return KREIN_OK;
    TRY(resize_map(s, first, map));
    estimate(s, *map, n, k, r);
done:
    return st;
}

/* Features instead of what was the default and does not fit. */
static krein_status replace_map(krein_setup *s, int64_t n, int64_t k, krein_report *r,
                                krein_map **map) {
    krein_map *old = *map;
    krein_status st = make_map(s, n, old->d, old->sparse, false, map);
    krein__map_destroy(old);
    if (st == KREIN_OK) estimate(s, *map, n, k, r);
    return st;
}

/* Its features are the columns, however many. */
static bool is_linear(const krein_kernel *kernel, int64_t d) {
    return strcmp(krein__map_default(kernel, d, 1), "explicit") == 0;
}

/* Row weights or the learner's options rule out the kernel matrix: a default that gives way. */
static bool refused(const krein_setup *s, const krein_data *data, const krein_map *map) {
    if (data->has_weight && !s->learner->exact_weights) return true;
    if (!s->learner->check || s->learner->check(s->ctx, &s->learner_values, map) == KREIN_OK)
        return false;
    s->ctx->status = KREIN_OK;
    s->ctx->message[0] = 0;
    return true;
}

krein_status krein__setup_map(krein_setup *s, const krein_data *data, const krein_encoding *e,
                              int64_t n, int64_t k, krein_report *r, krein_map **map) {
    krein_status st = make_map(s, n, e->d, e->sparse, true, map);
    if (st != KREIN_OK) return st;
    estimate(s, *map, n, k, r);
    if (!s->o.map && (*map)->cls->traits & KREIN_MAP_DUAL && (!r->fits || refused(s, data, *map)))
        st = replace_map(s, n, k, r, map);
    if (st == KREIN_OK && !r->fits && !s->o.map && !s->several && is_linear(s->kernel, e->d)) {
        s->wide = true;
        st = replace_map(s, n, k, r, map);
    }
    if (st == KREIN_OK) st = shrink_default(s, map, n, k, r);
    if (st == KREIN_OK && !s->o.map && s->learner->check)
        st = s->learner->check(s->ctx, &s->learner_values, *map);
    if (st == KREIN_OK && !s->o.map) krein__map_say_more(*map, n, s->o.features);
    return st;
}
