/* bench_sketch.c -- tensorsketch on rows in memory, for tensorsketch.py.
 *
 *   bench_sketch N D_IN DEGREE D THREADS [MAP]     seconds of the best of several runs
 *
 * Times krein__map_apply: rows n x d of float32 in memory to features n x D in memory. */
#include "map/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krein_ctx *ctx;

static void check(krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_sketch: %s\n", krein_message(ctx));
    exit(1);
}

static float *floats(int64_t n) { /* uniform on (-1/2, 1/2) */
    float *x = krein__alloc(ctx, n, sizeof *x);
    uint64_t s = 88172645463325252u;
    if (!x) check(ctx->status);
    for (int64_t i = 0; i < n; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        x[i] = (float)(s >> 40) * 0x1p-24f - 0.5f;
    }
    return x;
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: bench_sketch N D_IN DEGREE D THREADS [MAP]\n");
        return 2;
    }
    int64_t n = atoll(argv[1]), d = atoll(argv[2]), D = atoll(argv[4]);
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    o.threads = atoi(argv[5]);
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
    char text[64];
    snprintf(text, sizeof text, "poly(degree=%s, c=1)", argv[3]);
    krein_kernel *kernel = NULL;
    krein_map *map = NULL;
    check(krein__kernel_parse(ctx, text, &kernel));
    check(krein__map_create(ctx, argc > 6 ? argv[6] : "tensorsketch", kernel, D, 1, &map));
    check(krein__map_fit(map, d, false, NULL, 0));
    float *x = floats(n * d), *z = krein__alloc(ctx, n * map->D, sizeof *z);
    if (!z) check(ctx->status);
    memset(z, 0, (size_t)(n * map->D) * sizeof *z);
    krein_rows rows = krein__rows_dense(n, d, x, d);
    double start = krein__clock(), best = 1e30;
    for (int r = 0; r < 3 || krein__clock() - start < 1; r++) {
        double t = krein__clock();
        check(krein__map_apply(map, &rows, z));
        t = krein__clock() - t;
        if (t < best) best = t;
    }
    printf("%.6f\n", best);
    krein__free(ctx, x);
    krein__free(ctx, z);
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, kernel);
    krein_ctx_destroy(ctx);
    return 0;
}
