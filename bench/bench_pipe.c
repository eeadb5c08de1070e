/* bench_pipe.c -- the whole pipe against what the machine allows, within one run.
 *
 *   bench_pipe [--small] [--threads N] [ridge] [few] [transform] [nystrom] [predict] [read] [solve]
 *
 * All sections when none is named; each runs in a process of its own, so that the first training
 * is the first thing that a process does. --small is for trying it out: its ratios mean nothing.
 *
 * The limits are the BLAS calls alone, on the same blocks and the same number of threads. They are
 * taken from the fastest of three ways: OpenBLAS with its own threads, or one-threaded calls in a
 * loop over tiles, or over blocks. A ratio is a time divided by the time of the limit; 1 cannot be
 * beaten but by noise. Every time is the best of several runs that alternate with those of the
 * limit.
 *
 * As `krein` does, the program starts itself again where OpenBLAS chose old code for this CPU. */
#include "base/base.h"
#include "base/threads.h"
#include "encode/encoding.h"
#include "file/reader.h"
#include "map/map.h"
#include "num/blas.h"
#include "num/vec.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static krein_ctx *ctx;
static bool small;
static int threads;

static void check(krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_pipe: %s\n", krein_message(ctx));
    exit(1);
}

static void *need(int64_t count, size_t size) {
    void *p = krein__alloc(ctx, count, size);
    if (!p) check(ctx->status);
    return p;
}

static float *floats(int64_t n) { /* uniform on (-1/2, 1/2) */
    float *x = need(n, sizeof *x);
    uint64_t s = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        x[i] = (float)(s >> 40) * 0x1p-24f - 0.5f;
    }
    return x;
}

/* Seconds of `code`, kept in `best` when they are fewer. */
#define TIME(best, code)                                                                           \
    do {                                                                                           \
        double t_ = krein__clock();                                                                \
        code;                                                                                      \
        t_ = krein__clock() - t_;                                                                  \
        if (t_ < (best)) (best) = t_;                                                              \
    } while (0)

static const double NEVER = 1e30;

static void row(const char *name, double value, const char *unit) {
    printf("  %-46s %9.3f %s\n", name, value, unit);
    fflush(stdout);
}

/* A time beside its limit. target 0: there is none. */
static void against(const char *name, double seconds, double limit, double target) {
    double ratio = seconds / limit;
    printf("  %-46s %9.3f s        %5.2f x limit", name, seconds, ratio);
    if (target > 0) printf("  (target <= %.2f: %s)", target, ratio <= target ? "met" : "MISSED");
    printf("\n");
    fflush(stdout);
}

/* ---- the limits --------------------------------------------------------- */

typedef enum way { TILES, OWN, BLOCKS, WAYS } way;

static int64_t block_of(int64_t n, int64_t rows, int64_t i) { return krein__min(rows, n - i); }

/* X W for all n rows of x (n x d), block by block into the same out (rows x F for each thread). */
static void sgemm_pass(way how, int64_t n, int64_t d, int64_t F, int64_t rows, const float *x,
                       const float *w, float *out) {
    if (how == BLOCKS) {
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t i = 0; i < n; i += rows)
            krein__sgemm(false, false, block_of(n, rows, i), F, d, 1, x + i * d, d, w, F, 0,
                         out + omp_get_thread_num() * rows * F, F);
        krein__compute_end(c);
        return;
    }
    for (int64_t i = 0; i < n; i += rows) {
        int64_t m = block_of(n, rows, i);
        if (how == OWN) {
            krein__sgemm(false, false, m, F, d, 1, x + i * d, d, w, F, 0, out, F);
            continue;
        }
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t t = 0; t < m; t += KREIN_TILE)
            krein__sgemm(false, false, krein__min(KREIN_TILE, m - t), F, d, 1, x + (i + t) * d, d,
                         w, F, 0, out + t * F, F);
        krein__compute_end(c);
    }
}

/* Upper triangle of Z'Z in float32 for n rows, the same block z (rows x D, for each thread) every
 * time; g is D x D for each thread. */
static void ssyrk_pass(way how, int64_t n, int64_t D, int64_t rows, const float *z, float *g) {
    enum { T = 512 };
    int64_t tiles = (D + T - 1) / T;
    if (how == BLOCKS) {
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t i = 0; i < n; i += rows)
            krein__ssyrk(D, block_of(n, rows, i), 1, z + omp_get_thread_num() * rows * D, D, 1,
                         g + omp_get_thread_num() * D * D, D);
        krein__compute_end(c);
        return;
    }
    for (int64_t i = 0; i < n; i += rows) {
        int64_t m = block_of(n, rows, i);
        if (how == OWN) {
            krein__ssyrk(D, m, 1, z, D, 1, g, D);
            continue;
        }
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t q = 0; q < 2 * tiles * tiles; q++) { /* those on the diagonal come last */
            int64_t a = q / tiles % tiles * T, b = q % tiles * T;
            bool last = q >= tiles * tiles;
            if (a < b && !last)
                krein__sgemm(true, false, krein__min(T, D - a), krein__min(T, D - b), m, 1, z + a,
                             D, z + b, D, 1, g + a * D + b, D);
            else if (a == b && last)
                krein__ssyrk(krein__min(T, D - a), m, 1, z + a, D, 1, g + a * D + a, D);
        }
        krein__compute_end(c);
    }
}

typedef struct limits {
    int64_t n, d, F, D, rows; /* F = 0: no sgemm; D = 0: no ssyrk */
    float *x, *w, *out, *z, *g;
    way how_sgemm, how_ssyrk;
    double sgemm, ssyrk; /* best seconds so far */
} limits;

static way fastest(const double *t) {
    way best = TILES;
    for (int k = 1; k < WAYS; k++)
        if (t[k] < t[best]) best = (way)k;
    return best;
}

/* Finds the fastest way of each on a part of the rows. */
static limits limits_begin(int64_t n, int64_t d, int64_t F, int64_t D, const float *x) {
    limits l = {.n = n, .d = d, .F = F, .D = D, .rows = krein__block_rows(d)};
    int64_t part = krein__min(n, 10 * l.rows);
    l.x = (float *)x;
    l.sgemm = F ? NEVER : 0;
    l.ssyrk = D ? NEVER : 0;
    if (F) {
        double t[WAYS] = {NEVER, NEVER, NEVER};
        l.w = floats(d * F);
        l.out = floats(threads * l.rows * F);
        for (int r = 0; r < 3 * WAYS; r++)
            TIME(t[r % WAYS], sgemm_pass((way)(r % WAYS), part, d, F, l.rows, x, l.w, l.out));
        l.how_sgemm = fastest(t);
    }
    if (D) {
        double t[WAYS] = {NEVER, NEVER, NEVER};
        l.z = floats(threads * l.rows * D);
        l.g = floats(threads * D * D);
        for (int r = 0; r < 3 * WAYS; r++)
            TIME(t[r % WAYS], ssyrk_pass((way)(r % WAYS), part, D, l.rows, l.z, l.g));
        l.how_ssyrk = fastest(t);
    }
    return l;
}

static void limits_run(limits *l) {
    if (l->F)
        TIME(l->sgemm, sgemm_pass(l->how_sgemm, l->n, l->d, l->F, l->rows, l->x, l->w, l->out));
    if (l->D) TIME(l->ssyrk, ssyrk_pass(l->how_ssyrk, l->n, l->D, l->rows, l->z, l->g));
}

static const char *way_name(way how) {
    return how == OWN ? "OpenBLAS's threads" : how == TILES ? "tiles" : "blocks";
}

static void limits_print(const limits *l) {
    char name[96];
    double n = (double)l->n, d = (double)l->d, F = (double)l->F, D = (double)l->D;
    if (l->F) {
        snprintf(name, sizeof name, "limit: sgemm, %s", way_name(l->how_sgemm));
        printf("  %-46s %9.3f s    %7.1f GFLOP/s\n", name, l->sgemm, 2e-9 * n * d * F / l->sgemm);
    }
    if (l->D) {
        snprintf(name, sizeof name, "limit: ssyrk, %s", way_name(l->how_ssyrk));
        printf("  %-46s %9.3f s    %7.1f GFLOP/s\n", name, l->ssyrk, 1e-9 * n * D * D / l->ssyrk);
    }
}

static void limits_end(limits *l) {
    krein__free(ctx, l->w);
    krein__free(ctx, l->out);
    krein__free(ctx, l->z);
    krein__free(ctx, l->g);
}

/* ---- features ----------------------------------------------------------- */

static void transform(void) {
    const int64_t n = small ? 10000 : 100000, d = 54, D = 2048, rows = krein__block_rows(d);
    static const struct {
        const char *spec;
        int64_t F; /* frequencies for D features, as 1 / so many */
        double target;
    } list[] = {{"rff(phase=yes)", 1, 1.3}, {"rff", 2, 1.6}, {"orf", 2, 1.6}};
    float *x = floats(n * d), *out = need(rows * D, sizeof *out);
    krein_kernel *kernel = NULL;
    check(krein__kernel_parse(ctx, "gaussian(sigma=2)", &kernel));
    printf("transform: n = %lld, d = %lld, D = %lld, blocks of %lld rows\n", (long long)n,
           (long long)d, (long long)D, (long long)rows);
    for (int64_t k = 0; k < KREIN__COUNT(list); k++) {
        krein_map *map = NULL;
        double best = NEVER;
        check(krein__map_create(ctx, list[k].spec, kernel, D, 1, &map));
        check(krein__map_fit(map, d, false, NULL, n));
        float *scratch = need(krein__map_scratch(map), sizeof *scratch);
        krein_rows all = krein__rows_dense(n, d, x, d);
        limits l = limits_begin(n, d, D / list[k].F, 0, x);
        for (int r = 0; r < 7; r++) {
            limits_run(&l);
            TIME(
                best, for (int64_t i = 0; i < n; i += rows) {
                    krein_rows block = krein__rows_slice(&all, i, block_of(n, rows, i));
                    krein__map_raw(map, &block, NULL, out, scratch);
                });
        }
        against(list[k].spec, best, l.sgemm, list[k].target);
        limits_print(&l);
        limits_end(&l);
        krein__free(ctx, scratch);
        krein__map_destroy(map);
    }
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, x);
    krein__free(ctx, out);
}

/* ---- training ----------------------------------------------------------- */

typedef struct problem {
    int64_t n, d;
    float *x;
    double *y;
} problem;

static problem problem_make(int64_t n, int64_t d) {
    problem p = {n, d, floats(n * d), need(n, sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        const float *x = p.x + i * d;
        p.y[i] = sin(3.0 * (double)(x[0] + x[1])) + (double)(x[2] * x[3]) + 0.1 * (double)x[d - 1];
    }
    return p;
}

static void problem_end(problem *p) {
    krein__free(ctx, p->x);
    krein__free(ctx, p->y);
}

static void train(const problem *p, const char *map, double lambda, krein_report *report,
                  krein_model **out) {
    krein_data_options how;
    krein_train_options o;
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_data_options_init(&how);
    how.task = KREIN_TASK_REGRESSION;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=7)";
    o.map = map;
    o.lambda = lambda;
    check(krein_data_from_dense(ctx, p->n, p->d, p->x, p->d, p->y, NULL, &how, &data));
    check(krein_train(ctx, data, &o, report, &model));
    krein_data_close(data);
    if (out)
        *out = model;
    else
        krein_model_destroy(model);
}

static void train_once(const problem *p, const char *map, double lambda) {
    train(p, map, lambda, NULL, NULL);
}

static void ridge(void) {
    problem p = problem_make(small ? 20000 : 200000, 54);
    const int64_t D = 2048;
    double first = NEVER, best = NEVER, chosen = NEVER;
    krein_report r = KREIN_SIZED(krein_report);
    printf("ridge on features: n = %lld, d = %lld, orf(D=%lld)\n", (long long)p.n, (long long)p.d,
           (long long)D);
    TIME(first, train(&p, "orf(D=2048)", 1e-4, &r, NULL));
    limits l = limits_begin(p.n, p.d, D / 2, D, p.x);
    for (int k = 0; k < 3; k++) {
        limits_run(&l);
        TIME(best, train_once(&p, "orf(D=2048)", 1e-4));
    }
    limits_print(&l);
    against("train, lambda given, first run", first, l.sgemm + l.ssyrk, 1.35);
    row("  of it: learning scales (read)", r.seconds_read, "s");
    row("  of it: fit", r.seconds_fit, "s");
    against("train, lambda given, best of 3", best, l.sgemm + l.ssyrk, 1.35);
    krein_report_clear(ctx, &r);
    TIME(chosen, train_once(&p, "orf(D=2048)", -1));
    against("train, lambda by leave-one-out", chosen, l.sgemm + l.ssyrk, 0);
    limits_end(&l);
    problem_end(&p);
}

/* Few features, of which a block has few tiles: bench/outofcore.sh takes its limit from here. */
static void few(void) {
    problem p = problem_make(small ? 20000 : 400000, 50);
    const int64_t D = 512;
    double best = NEVER, rows = (double)p.n * 1e-6;
    printf("ridge on few features: n = %lld, d = %lld, orf(D=%lld)\n", (long long)p.n,
           (long long)p.d, (long long)D);
    limits l = limits_begin(p.n, p.d, D / 2, D, p.x);
    for (int k = 0; k < 4; k++) {
        limits_run(&l);
        TIME(best, train_once(&p, "orf(D=512)", 1e-4));
    }
    limits_print(&l);
    row("limit of both", rows / (l.sgemm + l.ssyrk), "million rows/s");
    against("train, lambda given, best of 4", best, l.sgemm + l.ssyrk, 0);
    limits_end(&l);
    problem_end(&p);
}

/* All kernel values k(x_i, landmark_j), block by block into the same out. */
static void kernel_pass(const krein_gram_rows *g, const krein_rows *x, int64_t rows, float *out,
                        float *scratch) {
    int64_t m = g->y.n;
    for (int64_t i = 0; i < x->n; i += rows) {
        int64_t k = block_of(x->n, rows, i);
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t t = 0; t < k; t += KREIN_TILE) {
            krein_rows tile = krein__rows_slice(x, i + t, krein__min(KREIN_TILE, k - t));
            krein__worker_begin();
            krein__gram_tile32(g, &tile, out + t * m, m,
                               scratch + omp_get_thread_num() * g->scratch);
            krein__worker_end(c);
        }
        krein__compute_end(c);
    }
}

static void nystrom(void) {
    problem p = problem_make(small ? 20000 : 200000, 54);
    const int64_t m = 2000, rows = krein__block_rows(p.d);
    double best = NEVER, kernel = NEVER;
    krein_kernel *k = NULL;
    krein_gram_rows g = {0};
    printf("Nystrom ridge: n = %lld, d = %lld, m = %lld\n", (long long)p.n, (long long)p.d,
           (long long)m);
    check(krein__kernel_parse(ctx, "gaussian(sigma=7)", &k));
    check(krein__gram_begin(ctx, k, krein__rows_dense(m, p.d, p.x, p.d), false, &g));
    krein_rows x = krein__rows_dense(p.n, p.d, p.x, p.d);
    float *out = need((rows + KREIN_TILE) * m, sizeof *out);
    float *scratch = need(threads * g.scratch, sizeof *scratch);
    limits l = limits_begin(p.n, p.d, 0, m, p.x);
    for (int r = 0; r < 2; r++) {
        limits_run(&l);
        TIME(kernel, kernel_pass(&g, &x, rows, out, scratch));
        TIME(best, train_once(&p, "nystrom(D=2000)", 1e-4));
    }
    limits_print(&l);
    printf("  %-46s %9.3f s    %7.1f million values/s\n", "limit: kernel blocks (gram_tile32)",
           kernel, 1e-6 * (double)p.n * (double)m / kernel);
    against("train, lambda given, best of 2", best, l.ssyrk + kernel, 1.7);
    limits_end(&l);
    krein__gram_end(ctx, &g);
    krein__kernel_destroy(ctx, k);
    krein__free(ctx, out);
    krein__free(ctx, scratch);
    problem_end(&p);
}

static void predict(void) {
    static const char *const maps[] = {"orf(D=2048)", "nystrom(D=2000)"};
    problem p = problem_make(small ? 20000 : 200000, 54), few = p;
    double *score = need(p.n, sizeof *score);
    few.n = 4000;
    printf("predict: n = %lld rows in memory, d = %lld\n", (long long)p.n, (long long)p.d);
    for (int64_t k = 0; k < KREIN__COUNT(maps); k++) {
        krein_model *model = NULL;
        double best = NEVER;
        train(&few, maps[k], 1e-4, NULL, &model);
        for (int r = 0; r < 4; r++)
            TIME(best, check(krein_predict_dense(ctx, model, p.n, p.d, p.x, p.d, score)));
        row(maps[k], 1e-6 * (double)p.n / best, "million rows/s");
        krein_model_destroy(model);
    }
    krein__free(ctx, score);
    problem_end(&p);
}

/* ---- reading ------------------------------------------------------------ */

static char folder[256], file[320];

static void clean(void) { /* async-signal-safe */
    if (file[0]) unlink(file);
    if (folder[0]) rmdir(folder);
}

static void stop(int sig) {
    clean();
    _exit(128 + sig);
}

/* Seconds of one pass; *rows counts. */
static double read_pass(krein_ctx *on, int64_t *rows) {
    krein_reader_options o = {.header = -1};
    krein_reader *r = NULL;
    krein_raw raw = {0};
    double start = krein__clock();
    check(krein__reader_open(on, file, &o, &r));
    r->column[0].role = KREIN_ROLE_LABEL;
    check(krein__reader_begin(r));
    *rows = 0;
    for (;;) {
        check(krein__reader_next(r, &raw));
        if (raw.n == 0) break;
        *rows += raw.n;
    }
    krein__raw_clear(on, &raw);
    krein__reader_close(r);
    return krein__clock() - start;
}

static void reading(void) {
    static const struct {
        const char *suffix;
        int64_t n;
    } list[] = {{"csv", 2000000}, {"libsvm", 1000000}, {"npy", 2000000}};
    const char *tmp = getenv("TMPDIR");
    krein_generate_options g;
    krein_generate_options_init(&g);
    g.d = 9;
    snprintf(folder, sizeof folder, "%s/krein_bench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        fprintf(stderr, "bench_pipe: %s: %s\n", folder, strerror(errno));
        exit(1);
    }
    atexit(clean);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    printf("read: 10 columns, from the page cache\n");
    for (int64_t k = 0; k < KREIN__COUNT(list); k++) {
        struct stat info;
        int64_t rows = 0;
        g.n = small ? list[k].n / 20 : list[k].n;
        snprintf(file, sizeof file, "%s/data.%s", folder, list[k].suffix);
        double start = krein__clock();
        check(krein_generate(ctx, "friedman", &g, file));
        start = krein__clock() - start;
        if (stat(file, &info) != 0) exit(1);
        double mb = 1e-6 * (double)info.st_size;
        printf("  %s: %lld rows, %.1f MB (written by generate at %.0f MB/s)\n", list[k].suffix,
               (long long)g.n, mb, mb / start);
        for (int t = 1; t <= threads; t *= 2) {
            krein_ctx_options o;
            krein_ctx *on = NULL;
            double best = NEVER;
            krein_ctx_options_init(&o);
            o.threads = t;
            if (krein_ctx_create(&o, &on) != KREIN_OK) exit(1);
            for (int r = 0; r < 4; r++) best = fmin(best, read_pass(on, &rows));
            if (rows != g.n) fprintf(stderr, "bench_pipe: %lld rows read\n", (long long)rows);
            double rate = mb / best / t;
            printf("    %d thread%s %29s %11.0f MB/s     %7.0f MB/s a core", t, t > 1 ? "s" : " ",
                   "", mb / best, rate);
            if (k == 0) printf("  (target >= 400: %s)", rate >= 400 ? "met" : "MISSED");
            printf("\n");
            krein_ctx_destroy(on);
        }
        unlink(file);
        file[0] = 0;
    }
}

/* ---- factorisations ----------------------------------------------------- */

static void solve(void) {
    printf("factorisations, float64\n");
    for (int64_t n = small ? 512 : 2048; n <= (small ? 1024 : 4096); n *= 2) {
        double *a = need(n * n, sizeof *a), *b = need(n * n, sizeof *b), *w = need(n, sizeof *w);
        double gemm = NEVER, chol = NEVER, eigen = NEVER, N = (double)n;
        float *f = floats(n * n);
        char name[64];
        for (int64_t i = 0; i < n * n; i++) a[i] = (double)f[i];
        krein__free(ctx, f);
        for (int r = 0; r < 3; r++)
            TIME(gemm, krein__pgemm(ctx, false, true, n, n, n, 1, a, n, a, n, 0, b, n));
        for (int64_t i = 0; i < n; i++) b[i * n + i] += 1;
        for (int r = 0; r < 3; r++) {
            memcpy(a, b, (size_t)(n * n) * sizeof *a);
            TIME(chol, check(krein__cholesky(ctx, n, a, n, NULL)));
        }
        memcpy(a, b, (size_t)(n * n) * sizeof *a);
        TIME(eigen, check(krein__eigen(ctx, n, a, n, w)));
        snprintf(name, sizeof name, "product (pgemm), order %lld", (long long)n);
        printf("  %-46s %9.3f s    %7.1f GFLOP/s\n", name, gemm, 2e-9 * N * N * N / gemm);
        snprintf(name, sizeof name, "Cholesky, order %lld", (long long)n);
        printf("  %-46s %9.3f s    %7.1f GFLOP/s (n^3/3)\n", name, chol, N * N * N / 3e9 / chol);
        snprintf(name, sizeof name, "eigendecomposition, order %lld, one run", (long long)n);
        printf("  %-46s %9.3f s    %7.1f GFLOP/s (counted as 9 n^3)\n", name, eigen,
               9e-9 * N * N * N / eigen);
        fflush(stdout);
        krein__free(ctx, a);
        krein__free(ctx, b);
        krein__free(ctx, w);
    }
}

/* ---- main --------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} sections[] = {{"ridge", ridge},     {"few", few},         {"transform", transform},
                {"nystrom", nystrom}, {"predict", predict}, {"read", reading},
                {"solve", solve}};

static void machine(void) {
    char line[256], cpu[200] = "unknown CPU", load[64] = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(cpu, sizeof cpu, "%.190s", strchr(line, ':') + 2);
            cpu[strcspn(cpu, "\n")] = 0;
            break;
        }
    if (f) fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(line, sizeof line, f)) snprintf(load, sizeof load, "%.4s", line);
    if (f) fclose(f);
    printf("%s, %d CPUs, %d threads, OpenBLAS core %s, vector code %s, load before %s\n", cpu,
           krein__cpu_count(), threads, krein__blas_core(), krein__vec_path(), load);
    const char *wait = getenv("OMP_WAIT_POLICY");
    printf("OMP_WAIT_POLICY %s\n", wait && *wait ? wait : "not set");
    if (atof(load) > 0.3) printf("other programs seem to be running: expect disturbed times\n");
    if (small) printf("small sizes: for trying out, the ratios mean nothing\n");
    fflush(stdout);
}

/* OpenBLAS reads its environment when it is loaded: set it and start again, once. */
static void restart(char **argv) {
    char text[16];
    const char *better = krein__blas_better_core();
    if (getenv("KREIN_BENCH_STARTED")) return;
    snprintf(text, sizeof text, "%d", threads);
    if (better && !getenv("OPENBLAS_CORETYPE")) setenv("OPENBLAS_CORETYPE", better, 1);
    setenv("OPENBLAS_NUM_THREADS", text, 1);
    setenv("KREIN_BENCH_STARTED", "1", 1);
    execv("/proc/self/exe", argv);
}

static int child(const char *section) {
    char count[16];
    char *argv[6] = {"bench_pipe", "--threads", count, (char *)section, small ? "--small" : NULL,
                     NULL};
    int status = 0;
    snprintf(count, sizeof count, "%d", threads);
    setenv("KREIN_BENCH_CHILD", "1", 1);
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return 1;
    return status != 0;
}

int main(int argc, char **argv) {
    bool named[KREIN__COUNT(sections)] = {false}, any = false, bad = false;
    krein_ctx_options o;
    threads = krein__cpu_count();
    for (int i = 1; i < argc; i++) {
        bool known = true;
        if (strcmp(argv[i], "--small") == 0)
            small = true;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else
            known = false;
        for (int64_t k = 0; !known && k < KREIN__COUNT(sections); k++)
            if (strcmp(argv[i], sections[k].name) == 0) any = known = named[k] = true;
        bad = bad || !known;
    }
    if (bad || threads < 1) {
        fprintf(stderr, "usage: bench_pipe [--small] [--threads N]");
        for (int64_t k = 0; k < KREIN__COUNT(sections); k++)
            fprintf(stderr, " [%s]", sections[k].name);
        fprintf(stderr, "\n");
        return 2;
    }
    restart(argv);
    if (getenv("KREIN_BENCH_CHILD")) {
        krein_ctx_options_init(&o);
        o.threads = threads;
        if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
        for (int64_t k = 0; k < KREIN__COUNT(sections); k++)
            if (named[k]) sections[k].run();
        krein_ctx_destroy(ctx);
        return 0;
    }
    machine();
    int failed = 0;
    for (int64_t k = 0; k < KREIN__COUNT(sections); k++)
        if (named[k] || !any) failed |= child(sections[k].name);
    return failed;
}
