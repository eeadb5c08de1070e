/* bench_ridge.c -- krr on many features, against the products that normal equations cannot do
 * without.
 *
 *   bench_ridge [--rows N] [--inputs D] [--features D] [--map nystrom|orf] [--lambda L] [--sigma S]
 *               [--threads N] [--solver auto|pcg|direct] [--check] [--no-limit]
 *
 * The limit: one sgemm that makes the inner products of all rows with the landmarks or frequencies,
 * and one ssyrk of the features, both on tiles of one thread each, which is faster than OpenBLAS's
 * own threads. It is measured on a part of the rows and scaled up. The time of krr is that of the
 * whole fit: features, solver, intercept. --check: predictions of 2,000 other rows beside those of
 * krr(solver=direct), or for nystrom of a solution in double, in parts of their deviation. */
#include "base/rng.h"
#include "map/map.h"
#include "model/model.h"
#include "num/blas.h"
#include "restart.h"
#include "solve/ridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static krein_ctx *ctx;
static int64_t n = 200000, d = 54, D = 4096;
static const char *map_name = "orf", *solver = "auto";
static double lambda = 1e-5, sigma = 7;
enum { TEST = 2000 };

static void check(krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_ridge: %s\n", krein_message(ctx));
    exit(1);
}

static void *need(int64_t count, size_t size) {
    void *p = krein__zalloc(ctx, count, size);
    if (!p) check(ctx->status);
    return p;
}

static double cpu(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* Seconds, and those of all threads. */
typedef struct span {
    double wall, cpu;
} span;
static span now(void) { return (span){krein__clock(), cpu()}; }
static span since(span s) { return (span){krein__clock() - s.wall, cpu() - s.cpu}; }

/* Rows of forty clusters, each with an own smooth function of some directions. */
static void make_rows(int64_t first, int64_t rows, float *x, double *y) {
    enum { CLUSTERS = 40 };
#pragma omp parallel for
    for (int64_t i = 0; i < rows; i++) {
        uint64_t row = (uint64_t)(first + i);
        int64_t c = (int64_t)(krein__rng_bits((krein_rng){1, 97}, row, 0) % CLUSTERS);
        double f = 0;
        for (int64_t j = 0; j < d; j++) {
            double centre = krein__rng_normal((krein_rng){1, 96}, (uint64_t)c, (uint64_t)j);
            double v = centre + .7 * krein__rng_normal((krein_rng){1, 99}, row, (uint64_t)j) *
                                    pow(.93, (double)j);
            x[i * d + j] = (float)v;
            f += v * sin((double)(j * (c + 1))) * pow(.8, (double)j);
        }
        y[i] = sin(2 * f) + .3 * krein__rng_normal((krein_rng){1, 98}, row, 0);
    }
}

/* sgemm and ssyrk of the problem, from `rows` of its rows. */
static span limit(const float *x) {
    enum { BLOCK = 2048 };
    int64_t rows = krein__min(n, 4 * BLOCK), T = krein__syrk_tile(D);
    float *z = need(BLOCK * D, sizeof *z), *w = need(d * D, sizeof *w);
    float *scratch = need(ctx->threads * T * T, sizeof *scratch);
    double *G = need(D * D, sizeof *G);
    for (int64_t i = 0; i < d * D; i++) w[i] = (float)(i % 7) - 3;
    span best = {1e30, 1e30};
    for (int r = 0; r < 2; r++) {
        span start = now();
        for (int64_t i = 0; i < rows; i += BLOCK) {
            krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
            for (int64_t a = 0; a < BLOCK; a += 128)
                krein__sgemm(false, false, 128, D, d, 1, x + (i + a) * d, d, w, D, 0, z + a * D, D);
            krein__compute_end(compute);
            krein__syrk_add(ctx, D, BLOCK, z, D, G, D, scratch);
        }
        span s = since(start);
        best.wall = fmin(best.wall, s.wall);
        best.cpu = fmin(best.cpu, s.cpu);
    }
    krein__free(ctx, z);
    krein__free(ctx, w);
    krein__free(ctx, scratch);
    krein__free(ctx, G);
    double scale = (double)n / (double)rows;
    return (span){best.wall * scale, best.cpu * scale};
}

static span train(const float *x, const double *y, const char *learner, krein_model **m) {
    krein_train_options o;
    krein_data_options how;
    krein_data *data;
    krein_report r = KREIN_SIZED(krein_report);
    char kernel[64], map[64];
    krein_train_options_init(&o);
    krein_data_options_init(&how);
    snprintf(kernel, sizeof kernel, "gaussian(sigma=%g)", sigma);
    snprintf(map, sizeof map, "%s(D=%lld)", map_name, (long long)D);
    o.kernel = kernel;
    o.map = map;
    o.learner = learner;
    o.lambda = lambda;
    how.task = KREIN_TASK_REGRESSION;
    check(krein_data_from_dense(ctx, n, d, x, d, y, NULL, &how, &data));
    span start = now();
    check(krein_train(ctx, data, &o, &r, m));
    span s = since(start);
    printf("  %-40s %8.2f s, %8.2f s of threads; lambda %g, %s\n", learner, s.wall, s.cpu, r.lambda,
           r.learner);
    krein_report_clear(ctx, &r);
    krein_data_close(data);
    return s;
}

static void predict(const krein_model *m, const float *x, double *out) {
    check(krein_predict_dense(ctx, m, TEST, d, x, d, out));
}

static void compare(const double *a, const double *b) {
    double sum = 0, square = 0, error = 0;
    for (int64_t i = 0; i < TEST; i++) {
        sum += b[i];
        square += b[i] * b[i];
        error += (a[i] - b[i]) * (a[i] - b[i]);
    }
    printf("  %-40s %8.1e of their deviation\n", "predictions differ by",
           sqrt(error / (square - sum * sum / TEST)));
}

/* Predictions in double from the landmarks of a model. */
static void in_double(const krein_model *m, const float *x, const double *y, const float *other,
                      double *out) {
    enum { BLOCK = 1024 };
    const krein_map *map = m->map;
    krein_rows at = krein__map_landmarks(map);
    int64_t M = map->R;
    double *T = need(M * M, sizeof *T), *z = need(BLOCK * M, sizeof *z), *w = need(M, sizeof *w);
    double *G = need(M * M, sizeof *G), *mean = need(M, sizeof *mean), ymean = 0;
    float *e = need(BLOCK * d, sizeof *e);
    double *shift = need(d, sizeof *shift);
    for (int64_t i = 0; i < m->encoding.ninput; i++)
        if (m->encoding.input[i].at >= 0)
            shift[m->encoding.input[i].at] = m->encoding.input[i].shift;
    check(krein__gram_full(ctx, map->kernel, &at, &at, T));
    for (int64_t j = 0; j < M; j++) T[j * M + j] += 1e-11;
    check(krein__cholesky(ctx, M, T, M, NULL));
    for (int pass = 0; pass < 3; pass++) {
        int64_t rows = pass < 2 ? n : TEST;
        for (int64_t i = 0; i < rows; i += BLOCK) {
            int64_t b = krein__min(BLOCK, rows - i);
            for (int64_t a = 0; a < b; a++)
                for (int64_t j = 0; j < d; j++) {
                    float v = (pass < 2 ? x : other)[(i + a) * d + j];
                    e[a * d + j] = ((float)((double)v - shift[j]) - m->encoding.centre[j]) *
                                   m->encoding.factor[j];
                }
            krein_rows these = krein__rows_dense(b, d, e, d);
            check(krein__gram_full(ctx, map->kernel, &these, &at, z));
            krein__triangle_solve(ctx, true, M, T, M, b, z, M);
            for (int64_t a = 0; a < b; a++) {
                for (int64_t j = 0; pass == 0 && j < M; j++) mean[j] += z[a * M + j] / (double)n;
                for (int64_t j = 0; pass > 0 && j < M; j++) z[a * M + j] -= mean[j];
                if (pass == 0) ymean += y[i + a] / (double)n;
                if (pass == 1)
                    for (int64_t j = 0; j < M; j++)
                        w[j] += z[a * M + j] * (y[i + a] - ymean) / (double)n;
                if (pass == 2) out[i + a] = ymean + krein__ddot(M, w, z + a * M);
            }
            if (pass == 1)
                krein__pgemm(ctx, true, false, M, M, b, 1 / (double)n, z, M, z, M, 1, G, M);
        }
        if (pass != 1) continue;
        for (int64_t j = 0; j < M; j++) G[j * M + j] += lambda;
        check(krein__cholesky(ctx, M, G, M, NULL));
        check(krein__cholesky_solve(ctx, M, G, M, 1, w, 1));
    }
    void *all[] = {T, z, w, G, mean, e, shift};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static void say(void *user, krein_log_level level, const char *text) {
    (void)user;
    if (level <= KREIN_LOG_INFO) printf("    %s\n", text);
}

int main(int argc, char **argv) {
    restart(argv);
    krein_ctx_options o;
    bool beside = false, limited = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    krein_ctx_options_init(&o);
    o.log = say;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) beside = true;
        if (strcmp(argv[i], "--no-limit") == 0) limited = false;
        if (i + 1 == argc) break;
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0) o.threads = atoi(value);
        if (strcmp(argv[i], "--rows") == 0) n = atoll(value);
        if (strcmp(argv[i], "--inputs") == 0) d = atoll(value);
        if (strcmp(argv[i], "--features") == 0) D = atoll(value);
        if (strcmp(argv[i], "--map") == 0) map_name = value;
        if (strcmp(argv[i], "--solver") == 0) solver = value;
        if (strcmp(argv[i], "--lambda") == 0) lambda = atof(value);
        if (strcmp(argv[i], "--sigma") == 0) sigma = atof(value);
    }
    check(krein_ctx_create(&o, &ctx));
    float *x = need((n + TEST) * d, sizeof *x);
    double *y = need(n + TEST, sizeof *y), a[TEST], b[TEST];
    make_rows(0, n + TEST, x, y);
    printf("ridge: %lld rows, %lld inputs, %s(D=%lld), lambda %g, %d threads, %s\n", (long long)n,
           (long long)d, map_name, (long long)D, lambda, ctx->threads, krein__blas_core());
    span best = {0};
    if (limited) {
        best = limit(x);
        printf("  %-40s %8.2f s, %8.2f s of threads\n", "sgemm and ssyrk", best.wall, best.cpu);
    }
    krein_model *m, *direct;
    char learner[64];
    snprintf(learner, sizeof learner, "krr(solver=%s)", solver);
    span s = train(x, y, learner, &m);
    if (limited)
        printf("  %-40s %8.2f, %8.2f of threads' time\n", "faster than these by",
               best.wall / s.wall, best.cpu / s.cpu);
    if (beside) {
        predict(m, x + n * d, a);
        if (krein__map_traits(m->map) & KREIN_MAP_VALUES && !m->map->mix) {
            in_double(m, x, y, x + n * d, b);
        } else {
            train(x, y, "krr(solver=direct)", &direct);
            predict(direct, x + n * d, b);
            krein_model_destroy(direct);
        }
        compare(a, b);
    }
    krein_model_destroy(m);
    krein__free(ctx, x);
    krein__free(ctx, y);
    krein_ctx_destroy(ctx);
    return 0;
}
