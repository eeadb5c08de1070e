/* bench_graph.c -- nearest neighbours: seconds, GFLOP/s beside those of sgemm, recall, memory.
 *
 *   bench_graph [rows [columns [k [exact|tree|descent]]]]      20000 90 10, all three
 *
 * Rows are 2^6 Gaussian clouds, as noisy as they are far apart, so that neighbours are not
 * arbitrary. The product that the speed is compared with is of the size of a tile, 192 x 512. */
#include "base/rng.h"
#include "base/threads.h"
#include "graph/near.h"
#include "num/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(int64_t n, int64_t d, float *x) {
    krein_rng g = {1, KREIN_STREAM_GENERATE};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            uint64_t cloud = (uint64_t)n + (uint64_t)(i % 64);
            x[i * d + j] = (float)(krein__rng_normal(g, (uint64_t)i, (uint64_t)j) +
                                   krein__rng_normal(g, cloud, (uint64_t)j));
        }
}

/* GFLOP/s of one thread. */
static double product_speed(int64_t d, const float *x) {
    static float v[KREIN_TILE * 512];
    double best = 1e30;
    krein_compute c = krein__compute_begin();
    for (int r = 0; r < 200; r++) {
        double start = krein__clock();
        krein__sgemm(false, true, KREIN_TILE, 512, d, -2, x, d, x, d, 0, v, 512);
        double t = krein__clock() - start;
        if (t < best) best = t;
    }
    krein__compute_end(c);
    return 2e-9 * KREIN_TILE * 512 * (double)d / best;
}

int main(int argc, char **argv) {
    int64_t n = argc > 1 ? atoll(argv[1]) : 20000, d = argc > 2 ? atoll(argv[2]) : 90,
            k = argc > 3 ? atoll(argv[3]) : 10;
    static const char *const names[] = {"auto", "exact", "tree", "descent"};
    krein_ctx_options o;
    krein_ctx *ctx;
    krein_ctx_options_init(&o);
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
    float *x = malloc((size_t)(n * d) * sizeof *x);
    if (!x) return 1;
    fill(n, d, x);
    krein_rows rows = krein__rows_dense(n, d, x, d);
    double speed = n >= 512 ? product_speed(d, x) : 0;
    printf("%lld x %lld, k = %lld, %d threads; sgemm of a tile: %.1f GFLOP/s a thread\n",
           (long long)n, (long long)d, (long long)k, ctx->threads, speed);
    for (int near = KREIN_NEAR_EXACT; near <= KREIN_NEAR_DESCENT; near++) {
        krein_graph_options asked = {.k = k, .near = (krein_near)near, .seed = 1};
        krein_graph g;
        if (argc > 4 ? strcmp(argv[4], names[near]) != 0 : near == KREIN_NEAR_TREE && d > 16)
            continue;
        double start = krein__clock();
        if (krein__graph_make(ctx, NULL, &rows, NULL, &asked, &g) != KREIN_OK) {
            fprintf(stderr, "%s\n", ctx->message);
            return 1;
        }
        double t = krein__clock() - start, flops = 1e-9 * (double)n * (double)n * (double)d;
        printf("%-8s %9.2f s  recall %.4f  peak %.0f MB", names[near], t, g.recall,
               1e-6 * (double)atomic_load(&ctx->peak));
        if (near == KREIN_NEAR_EXACT)
            printf("  %.1f GFLOP/s of products (%.0f %% of sgemm on all threads)", flops / t,
                   100 * flops / t / (speed * ctx->threads));
        printf("\n");
        fflush(stdout);
        krein__graph_clear(ctx, &g);
    }
    free(x);
    krein_ctx_destroy(ctx);
    return 0;
}
