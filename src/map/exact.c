/* exact -- the kernel itself: r(x) = (k(x, x_1), ..., k(x, x_n)) at all n training rows
 * Learners solve the dual problem on the n x n kernel matrix. For at most --max-exact rows: n^2
 * doubles and O(n^3) to solve (krr by conjugate gradients: 2 n^2 bytes, O(n^2) a step), O(n d) a
 * prediction.
 */
#include "map/landmarks.h"

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    (void)ctx, (void)kernel;
    return KREIN_OK;
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)map;
    return n;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein__landmarks_cost(map, n, out);
    out->bytes +=
        krein__gram_full_bytes(map->kernel, n, map->sparse ? 1024 : map->d, map->ctx->threads) +
        map->ctx->threads * krein__gram_tile_bytes(map->kernel, n, map->d, 8);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *all = NULL;
    NEW(all, n);
    for (int64_t i = 0; i < n; i++) all[i] = i;
    TRY(krein__landmarks_fit(map, rows, all, n, true));
    map->D = n;
done:
    krein__free(ctx, all);
    return st;
}

static krein_status io(krein_map *map, krein_archive *a) {
    return krein__landmarks_io(map, a, true);
}

const krein_map_class krein__map_exact = {
    .cls = {"exact", "the kernel itself, on few rows", "scholkopf2002", NULL,
            "The default up to 7,500 rows, up to 40,000 where krr chooses the kernel; at most "
            "`max_exact`."},
    .kernels = "all",
    .time = "n^2 d + n^3",
    .traits = KREIN_MAP_DATA | KREIN_MAP_DUAL,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile64 = krein__landmarks_tile64,
    .array = krein__landmarks_array,
    .io = io,
    .clear = krein__landmarks_clear};
