/* auto -- each term of the kernel by the map that suits it
 *     k = sum_t c_t k_t,   z = (sqrt|c_t| z_t)_t,   z_t by the default map of k_t
 * Every term has an equal share of D. Exact maps (explicit) take what they need of theirs and leave
 * the rest to the others. A term that only landmarks can do (nystrom) is refused: landmarks of the
 * whole kernel do all terms at once, with fewer features. Cost: the sum of the parts'.
 */
#include "map/parts.h"

#include <math.h>
#include <string.h>

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (strcmp(krein__map_default(kernel, 0, 0), "nystrom") != 0) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "auto", "terms that have random or exact features");
}

static bool exact(const char *spec) { return strcmp(spec, "explicit") == 0; }

/* The default map of a term. Rows wider than its share (for which the default is landmarks) are
 * sketched. */
static const char *map_of(const krein_map *map, const krein_kernel *term, int64_t share) {
    const char *spec = krein__map_default(term, map->d, share);
    return strcmp(spec, "nystrom") == 0 ? "tensorsketch" : spec;
}

/* The parts with exact features, or the others, with D features each; *used: of the exact ones. */
static krein_status add_kind(const krein_map *map, bool kind, krein_kernel **kernel,
                             const krein_term *term, int64_t n, int64_t D, krein_parts *out,
                             int64_t *used) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < n; t++) {
        const char *spec = map_of(map, kernel[t], map->D / n);
        if (exact(spec) != kind) continue;
        TRY(krein__parts_add(map, spec, kernel[t], term[t].coefficient, D, out));
        const krein_map *part = out->part[out->n - 1].map;
        if (kind) *used += part->cls->features(part, 0);
    }
done:
    return st;
}

static krein_status plan(const krein_map *map, krein_parts *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *term = NULL;
    krein_kernel *kernel[KREIN_TERMS_MAX] = {0};
    int64_t n = 0, used = 0;
    NEW(term, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, map->kernel, term, &n));
    for (int64_t t = 0; t < n; t++) TRY(krein__term_kernel(ctx, &term[t], &kernel[t]));
    TRY(add_kind(map, true, kernel, term, n, map->D / n, out, &used));
    int64_t others = n - out->n;
    if (others > 0)
        TRY(add_kind(map, false, kernel, term, n, (map->D - used) / others, out, &used));
done:
    for (int64_t t = 0; t < n; t++) krein__kernel_destroy(ctx, kernel[t]);
    krein__free(ctx, term);
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
    .cls = {"auto", "each term by the map that suits it", "", options,
            "For sums of kernels of different families: every term is approximated by its own "
            "default map with an equal share of D. The default for such sums."},
    .kernels = "sums",
    .time = "its terms'",
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__parts_tile,
    .io = krein__parts_io,
    .clear = krein__parts_clear,
    .fact = krein__parts_fact};
