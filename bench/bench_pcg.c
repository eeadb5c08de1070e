/* bench_pcg.c -- ridge regression by conjugate gradients on features, against what the machine
 * allows.
 *
 *   bench_pcg [--small] [--threads N] [--direct] [--rows N] [--features D]
 *
 * 50,000 rows of 16,384 Fourier features, kept (3.3 GB): the preconditioner, one right side, and 16
 * along a path of lambdas. The limit of one right side is reading the features once a pass; of 16
 * it is sgemm, two of them a pass, on one-threaded tiles. --direct: the normal equations beside it
 * (2.1 GB more). --small is for trying it out. */
#include "base/rng.h"
#include "map/map.h"
#include "num/blas.h"
#include "restart.h"
#include "solve/pcg.h"
#include "solve/ridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krein_ctx *ctx;
static int threads;
enum { BLOCK = 1920, LAMBDAS = 16, INPUTS = 16 };

static void check(krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_pcg: %s\n", krein_message(ctx));
    exit(1);
}

static void *need(int64_t count, size_t size) {
    void *p = krein__zalloc(ctx, count, size);
    if (!p) check(ctx->status);
    return p;
}

/* ---- the limits --------------------------------------------------------- */

/* Bytes a second of reading all features. */
static double reading(int64_t n, int64_t D, const float *z) {
    double best = 1e30, total = 0;
    for (int r = 0; r < 3; r++) {
        double start = krein__clock();
#pragma omp parallel for num_threads(threads) reduction(+ : total)
        for (int64_t i = 0; i < n; i++) {
            float sum[16] = {0};
            for (int64_t j = 0; j + 16 <= D; j += 16)
                for (int64_t a = 0; a < 16; a++) sum[a] += z[i * D + j + a];
            total += (double)sum[0];
        }
        best = fmin(best, krein__clock() - start);
    }
    if (total == 0.123) printf(" ");
    return 4 * (double)n * (double)D / best;
}

/* Flops a second of sgemm on tiles of 512 x 512 x 2048. */
static double multiplying(void) {
    const int64_t T = 512, K = 2048;
    float *a = need(T * K, sizeof *a), *c = need(threads * 8 * T * T, sizeof *c);
    double best = 1e30;
    for (int64_t i = 0; i < T * K; i++) a[i] = (float)(i % 7) - 3;
    krein_compute compute = krein__compute_begin();
    for (int r = 0; r < 5; r++) {
        double start = krein__clock();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int64_t t = 0; t < 8 * threads; t++)
            krein__sgemm(false, true, T, T, K, 1, a, K, a, K, 0, c + t * T * T, T);
        best = fmin(best, krein__clock() - start);
    }
    krein__compute_end(compute);
    krein__free(ctx, a);
    krein__free(ctx, c);
    return 2.0 * 8 * threads * (double)(T * T * K) / best;
}

/* ---- the problem -------------------------------------------------------- */

static float *features(int64_t n, int64_t *D, double *y) {
    krein_kernel *kernel;
    krein_map *map;
    float *x = need(n * INPUTS, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < INPUTS; j++)
            x[i * INPUTS + j] =
                (float)krein__rng_normal((krein_rng){1, 99}, (uint64_t)i, (uint64_t)j);
        const float *v = x + i * INPUTS;
        y[i] = sin((double)(v[0] * v[1])) + .5 * (double)(v[2] * v[3]) +
               .1 * krein__rng_normal((krein_rng){1, 98}, (uint64_t)i, 0);
    }
    check(krein__kernel_parse(ctx, "gaussian(sigma=4)", &kernel));
    check(krein__map_create(ctx, "orf", kernel, *D, 1, &map));
    check(krein__map_fit(map, INPUTS, false, NULL, 0));
    *D = map->D;
    float *z = need(n * *D, sizeof *z);
    krein_rows rows = krein__rows_dense(n, INPUTS, x, INPUTS);
    double start = krein__clock();
    check(krein__map_apply(map, &rows, z));
    printf("  %-40s %8.2f s\n", "features", krein__clock() - start);
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, x);
    return z;
}

static void solve(krein_features *f, const double *y, int64_t lambdas) {
    krein_pcg_rows rows = {f, 1, y, NULL, NULL};
    krein_pcg_options o = {.sample = krein__min(2048, f->D / 2), .columns = lambdas, .seed = 1};
    krein_pcg_limits limits = {lambdas > 1 ? 3e-3 : 3e-6, 2000, 0, "pcg"};
    krein_pcg_result r;
    krein_pcg *s;
    double lambda[LAMBDAS], b[LAMBDAS], *w = need(lambdas * f->D, sizeof *w);
    double start = krein__clock();
    check(krein__pcg_create(&rows, &o, &s));
    double made = krein__clock() - start;
    for (int64_t l = 0; l < lambdas; l++) lambda[l] = 1e-6 * pow(10, .25 * (double)l);
    start = krein__clock();
    check(krein__pcg_solve(s, lambdas, lambda, &limits, w, b, NULL, &r));
    double seconds = krein__clock() - start;
    if (lambdas == 1) printf("  %-40s %8.2f s\n", "preconditioner, 2,048 rows", made);
    printf("  lambda 1e-6%-29s %8.2f s  %lld iterations, %lld passes, residual %.1e\n",
           lambdas > 1 ? " to 6e-3, 16 at a time" : "", seconds, (long long)r.iterations,
           (long long)r.passes, r.residual);
    krein__pcg_destroy(s);
    krein__free(ctx, w);
}

/* Passes with columns that are not done after three steps; the best of some. */
static void passes(krein_features *f, const double *y, int64_t columns, double read, double sgemm) {
    krein_pcg_rows rows = {f, 1, y, NULL, NULL};
    krein_pcg_options o = {.sample = 64, .columns = columns, .seed = 1};
    krein_pcg_limits limits = {1e-12, 3, 0, "pcg"};
    krein_pcg_result r;
    krein_pcg *s;
    double lambda[LAMBDAS], b[LAMBDAS], *w = need(columns * f->D, sizeof *w), best = 1e30;
    for (int64_t l = 0; l < columns; l++) lambda[l] = 1e-6;
    check(krein__pcg_create(&rows, &o, &s));
    for (int i = 0; i < 4; i++) {
        double start = krein__clock();
        check(krein__pcg_solve(s, columns, lambda, &limits, w, b, NULL, &r));
        best = fmin(best, (krein__clock() - start) / (double)r.passes);
    }
    double bytes = 4 * (double)f->n * (double)f->D / best, flops = bytes * (double)columns;
    printf("  a pass of %2lld right sides %24.2f s  %.1f GB/s, %.0f %% of reading; %.1f GFLOP/s, "
           "%.0f %% of sgemm\n",
           (long long)columns, best, bytes * 1e-9, 100 * bytes / read, flops * 1e-9,
           100 * flops / sgemm);
    krein__pcg_destroy(s);
    krein__free(ctx, w);
}

static void direct(krein_features *f, const double *y) {
    krein_ridge ridge;
    krein_system system;
    double *w = need(f->D, sizeof *w), b, start = krein__clock();
    check(krein__ridge_begin(ctx, f->D, 1, BLOCK, &ridge));
    for (int64_t i = 0; i < f->n; i += BLOCK)
        krein__ridge_add(&ridge, krein__min(BLOCK, f->n - i), f->kept + i * f->D, y + i, NULL);
    check(krein__ridge_system(&ridge, NULL, 0, f->D, &system));
    check(krein__system_solve(ctx, &system, 1e-6, w, &b));
    printf("  %-40s %8.2f s\n", "normal equations, lambda 1e-6", krein__clock() - start);
    krein__ridge_clear(&ridge);
    krein__system_clear(ctx, &system);
    krein__free(ctx, w);
}

int main(int argc, char **argv) {
    restart(argv);
    krein_ctx_options o;
    int64_t n = 50000, D = 16384;
    bool beside = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    krein_ctx_options_init(&o);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0) n = 5000, D = 1024;
        if (strcmp(argv[i], "--direct") == 0) beside = true;
        if (i + 1 == argc) break;
        if (strcmp(argv[i], "--threads") == 0) o.threads = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--rows") == 0) n = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--features") == 0) D = atoll(argv[i + 1]);
    }
    check(krein_ctx_create(&o, &ctx));
    threads = ctx->threads;
    double *y = need(n, sizeof *y);
    printf("pcg: %lld rows, %lld features, %d threads\n", (long long)n, (long long)D, threads);
    float *z = features(n, &D, y);
    krein_features f = {.ctx = ctx,
                        .n = n,
                        .D = D,
                        .rows = BLOCK,
                        .blocks = (n + BLOCK - 1) / BLOCK,
                        .kept = z,
                        .at = -1};
    double read = reading(n, D, z), sgemm = multiplying();
    printf("  %-40s %8.1f GB/s\n  %-40s %8.1f GFLOP/s\n", "limit: reading", read * 1e-9,
           "limit: sgemm", sgemm * 1e-9);
    passes(&f, y, 1, read, sgemm);
    passes(&f, y, 4, read, sgemm);
    passes(&f, y, LAMBDAS, read, sgemm);
    solve(&f, y, 1);
    solve(&f, y, LAMBDAS);
    if (beside) direct(&f, y);
    krein__free(ctx, y);
    krein__free(ctx, z);
    krein_ctx_destroy(ctx);
    return 0;
}
