/* auto -- each term of the kernel by the map that suits it
 *     k = sum_t c_t k_t,   z = (sqrt|c_t| z_t)_t,   z_t by the default map of k_t
 * Every term has an equal share of D. Exact maps (explicit) take what they need of theirs and leave
 * the rest to the others; linear takes more than its share as long as the others keep half of
 * theirs, and is sketched on wider rows. Terms that only landmarks can do (nystrom) have them in
 * common: landmarks of their sum serve each of them with all of their shares. Cost: the sum of the
 * parts'; with landmarks also D^2 a row, for the matrix that makes features of kernel values.
 */
#include "map/parts.h"

/* The terms of a kernel and the maps chosen for them; NULL: it has one already. */
typedef struct terms {
    int64_t n, open; /* all; those that have none yet */
    int64_t left;    /* of D, for these */
    krein_term term[KREIN_PARTS_MAX];
    const krein_map_class *map[KREIN_PARTS_MAX];
} terms;

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    (void)ctx, (void)kernel;
    return KREIN_OK; /* every term has a default */
}

static int own_traits(const krein_map *map) {
    if (map->state) return krein__parts_traits(map->state);
    int64_t n = krein__kernel_term_count(map->kernel);
    int traits = 0;
    for (int64_t t = 0; t < n; t++)
        traits |= krein__map_default_term(map->kernel, t, map->d, map->D)->traits;
    return traits & (KREIN_MAP_DATA | KREIN_MAP_MIX);
}

/* The part of one term, with D features. */
static krein_status add_term(const krein_map *map, terms *s, int64_t t, int64_t D,
                             krein_parts *out) {
    krein_ctx *ctx = map->ctx;
    krein_kernel *kernel = NULL;
    krein_status st = krein__term_kernel(ctx, &s->term[t], &kernel);
    if (st == KREIN_OK)
        st = krein__parts_add(map, s->map[t]->cls.name, kernel, s->term[t].coefficient, D, out);
    krein__kernel_destroy(ctx, kernel);
    s->map[t] = NULL;
    return st;
}

/* Rows wider than the share of a linear term. Other exact features fit into theirs. */
static bool is_wide(const krein_map *map, const terms *s, int64_t t) {
    const krein_term *term = &s->term[t];
    return term->n == 1 && krein__is_linear(term->leaf[0]) && map->d > map->D / s->n;
}

/* Terms with exact features: those that fit into their share, or the wide ones. */
static krein_status add_exact(const krein_map *map, terms *s, bool wide, krein_parts *out) {
    krein_status st = KREIN_OK;
    int64_t share = map->D / s->n;
    for (int64_t t = 0; t < s->n; t++) {
        if (s->map[t] != &krein__map_explicit || is_wide(map, s, t) != wide) continue;
        if (wide && map->d > s->left - (s->open - 1) * (share / 2)) {
            s->map[t] = &krein__map_tensorsketch;
            continue;
        }
        TRY(add_term(map, s, t, share, out));
        const krein_map *part = out->part[out->n - 1].map;
        s->left -= part->cls->features(part, 0);
        s->open--;
    }
done:
    return st;
}

/* Terms for landmarks, as one part with D features for each. */
static krein_status add_landmarks(const krein_map *map, terms *s, int64_t D, krein_parts *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *sum = NULL;
    int64_t n = 0;
    for (int64_t t = 0; t < s->n; t++) {
        if (s->map[t] != &krein__map_nystrom) continue;
        TRY(krein__kernel_add_term(ctx, &s->term[t], &sum));
        n++;
    }
    if (n > 0) TRY(krein__parts_add(map, krein__map_nystrom.cls.name, sum, 1, n * D, out));
done:
    krein__kernel_destroy(ctx, sum);
    return st;
}

static krein_status plan(const krein_map *map, krein_parts *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    terms *s = NULL;
    ZNEW(s, 1);
    TRY(krein__kernel_expand(ctx, map->kernel, KREIN_PARTS_MAX, s->term, &s->n));
    s->open = s->n;
    s->left = map->D;
    for (int64_t t = 0; t < s->n; t++)
        s->map[t] = krein__map_default_term(map->kernel, t, map->d, map->D / s->n);
    TRY(add_exact(map, s, false, out));
    TRY(add_exact(map, s, true, out));
    if (s->open == 0) goto done;
    int64_t each = s->left / s->open;
    for (int64_t t = 0; t < s->n; t++)
        if (s->map[t] && s->map[t] != &krein__map_nystrom) TRY(add_term(map, s, t, each, out));
    TRY(add_landmarks(map, s, each, out));
done:
    krein__free(ctx, s);
    return st;
}

static int64_t features(const krein_map *map, int64_t n) {
    return krein__parts_features(map, n, plan);
}
static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein__parts_cost(map, n, plan, out);
}
static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    return krein__parts_fit(map, rows, n, plan);
}

static const krein_option options[] = {KREIN_OPTION_D_AS("number of features of all terms"), {0}};

const krein_map_class krein__map_auto = {
    .cls = {"auto", "each term by the map that suits it", "shawetaylor2004", options,
            "For sums of kernels of different families: every term is approximated by its own "
            "default map with an equal share of D. The default for such sums."},
    .kernels = "all, for sums",
    .time = "its terms'",
    .own_traits = own_traits,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__parts_tile,
    .array = krein__parts_array,
    .remix = krein__parts_remix,
    .io = krein__parts_io,
    .clear = krein__parts_clear,
    .fact = krein__parts_fact};
