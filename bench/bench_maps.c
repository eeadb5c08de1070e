/* bench_maps.c -- time of every feature map beside rff, in the same run.
 *
 *   bench_maps [--small] [--kernel EXPRESSION] [MAP ...]     structured ones by default
 *
 * For each d and D: nanoseconds a feature on one thread (CPU time), best of several runs and the
 * first one, and how many times faster than rff that is (best to best); then on all threads. Rows
 * are dense and normal; the kernel's sigma is sqrt(d). */
#include "base/threads.h"
#include "map/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct timing {
    double best, first;
} timing;

static krein_ctx *contexts[2]; /* one thread, all threads */

static void need(krein_status st, krein_ctx *ctx, const char *what) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "%s: %s\n", what, krein_message(ctx));
    exit(1);
}

static krein_map *fitted(krein_ctx *ctx, const char *spec, const char *kernel, int64_t d,
                         int64_t D) {
    krein_kernel *k = NULL;
    krein_map *map = NULL;
    need(krein__kernel_parse(ctx, kernel, &k), ctx, kernel);
    need(krein__map_create(ctx, spec, k, D, 1, &map), ctx, spec);
    if (map->cls->traits & KREIN_MAP_DATA) {
        fprintf(stderr, "%s looks at the data; not for this program\n", spec);
        exit(1);
    }
    need(krein__map_fit(map, d, false, NULL, 0), ctx, spec);
    krein__kernel_destroy(ctx, k);
    return map;
}

/* Seconds; on one thread of its own time, so that another program on the core counts less. */
static double now(const krein_ctx *ctx) {
    struct timespec t;
    if (ctx->threads > 1) return krein__clock();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for the features of all rows, over at least `least` seconds and three runs. */
static timing run(const krein_map *map, const krein_rows *x, float *out, double least) {
    timing t = {INFINITY, 0};
    float *scratch = krein__alloc(map->ctx, krein__map_scratch(map), sizeof *scratch);
    if (!scratch) exit(1);
    double start = krein__clock();
    for (int r = 0; r < 3 || krein__clock() - start < least; r++) {
        double s = now(map->ctx);
        krein__map_raw(map, x, NULL, out, scratch);
        s = now(map->ctx) - s;
        if (r == 0) t.first = s;
        t.best = fmin(t.best, s);
    }
    krein__free(map->ctx, scratch);
    return t;
}

static void size(int64_t d, int64_t D, int maps, char **map, const char *kernel, double least) {
    /* a tile a thread: short runs, so that some are undisturbed */
    int64_t n = KREIN_TILE * contexts[1]->threads;
    char plain[64];
    snprintf(plain, sizeof plain, "gaussian(sigma=%.6g)", sqrt((double)d));
    float *x = malloc((size_t)(n * d) * sizeof *x), *out = malloc((size_t)(n * D) * sizeof *out);
    if (!x || !out) exit(1);
    krein_rng g = {7, 1};
    for (int64_t i = 0; i < n * d; i++) x[i] = (float)krein__rng_normal(g, (uint64_t)i, 0);
    krein_rows rows = krein__rows_dense(n, d, x, d);
    for (int t = 0; t < 2; t++) {
        timing base = {0};
        for (int k = 0; k < maps; k++) {
            krein_map *m = fitted(contexts[t], map[k], kernel ? kernel : plain, d, D);
            timing s = run(m, &rows, out, least);
            double features = (double)n * (double)m->D;
            if (k == 0) base = s;
            printf("d %5d  D %5d  threads %d  %-26s %8.3f ns a feature (first %8.3f) %6.2f GB/s out"
                   "  %6.2f x %s\n",
                   (int)d, (int)D, contexts[t]->threads, map[k], s.best / features * 1e9,
                   s.first / features * 1e9, 4 * features / s.best * 1e-9, base.best / s.best,
                   map[0]);
            krein__map_destroy(m);
        }
    }
    fflush(stdout);
    free(x);
    free(out);
}

int main(int argc, char **argv) {
    static char *usual[] = {
        "rff", "orf", "sorf", "fastfood", "scrf", "pmodel", "pmodel(matrix=hadamard)"};
    static const int64_t ds[] = {16, 100, 256, 300, 784, 1024, 4096};
    char *named[64] = {"rff"};
    const char *kernel = NULL;
    int maps = 1;
    bool small = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--small") == 0)
            small = true;
        else if (strcmp(argv[i], "--kernel") == 0 && i + 1 < argc)
            kernel = argv[++i];
        else if (maps < 64 && strcmp(argv[i], "rff") != 0)
            named[maps++] = argv[i];
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    for (int t = 0; t < 2; t++) {
        options.threads = t == 0 ? 1 : krein__cpu_count();
        if (krein_ctx_create(&options, &contexts[t]) != KREIN_OK) return 1;
    }
    for (int64_t i = 0; i < KREIN__COUNT(ds); i++)
        for (int64_t D = 2048; D <= 4096; D *= 2) {
            if (small && ds[i] != 256 && ds[i] != 4096) continue;
            size(ds[i], D, maps > 1 ? maps : (int)KREIN__COUNT(usual), maps > 1 ? named : usual,
                 kernel, small ? 0.1 : 0.5);
        }
    for (int t = 0; t < 2; t++) krein_ctx_destroy(contexts[t]);
    return 0;
}
