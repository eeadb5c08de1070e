/* bench_deep.c -- deep models: their speed, and what their layers make of rows
 *
 *   bench_deep speed                     models of six layers of 512 frequencies and 64 inputs in
 *                                        32, 8, 4, 2 and 1 bits: bytes of the file, microseconds of
 *                                        a row in krein_predict_dense, in 3,840 rows and alone; one
 *                                        thread. KREIN_TEST_CODES=avx2 holds codes to AVX2,
 *                                        OPENBLAS_CORETYPE=Haswell float32.
 *   bench_deep features MODEL ROWS OUT   features of layer l of the rows of an .npy file without
 *                                        labels, to OUT.l.f32: float32, row after row
 *
 * bench/deep.py runs both. */
#include "map/deep.h"
#include "model/model.h"
#include "npy.h"
#include "num/blas.h"

#include <time.h>

enum { INPUTS = 64, ROWS = 3840, RUNS = 9 };
static krein_ctx *ctx;

static void check(krein_status status) {
    if (status == KREIN_OK) return;
    fprintf(stderr, "bench_deep: %s\n", krein_message(ctx));
    exit(1);
}

static void *need(int64_t count, size_t size) {
    void *p = krein__zalloc(ctx, count, size);
    if (!p) check(ctx->status);
    return p;
}

/* Seconds of this thread on a core: other programs disturb them less. */
static double cpu_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a call, the median of some runs of at least 20 ms. */
static double seconds_of(const krein_model *m, int64_t n, const float *x, double *out) {
    double run[RUNS];
    for (int r = 0; r < RUNS; r++) {
        int64_t calls = 0;
        double start = cpu_clock();
        for (; calls == 0 || cpu_clock() - start < 0.02; calls++)
            check(krein_predict_dense(ctx, m, n, INPUTS, x, INPUTS, out));
        run[r] = (cpu_clock() - start) / (double)calls;
    }
    qsort(run, RUNS, sizeof *run, ascending);
    return run[RUNS / 2];
}

static void speed(void) {
    static const int bits[] = {32, 8, 4, 2, 1};
    float *x = need(ROWS * INPUTS, sizeof *x);
    double *out = need(ROWS, sizeof *out), *y = need(ROWS, sizeof *y);
    uint32_t state = 12345;
    for (int64_t i = 0; i < ROWS * INPUTS; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) * 0x1p-24f - 0.5f;
    }
    for (int64_t i = 0; i < ROWS; i++) y[i] = (double)(x[i * INPUTS] * x[i * INPUTS + 1]);
    printf("core %s\n", krein__blas_core());
    for (int64_t b = 0; b < KREIN__COUNT(bits); b++) {
        krein_train_options o;
        krein_data_options d;
        krein_data *data;
        krein_model *m;
        int64_t bytes;
        char learner[96];
        snprintf(learner, sizeof learner,
                 "deep(layers=6, width=512, bits=%d, epochs=1, batch=160, refit=no)", bits[b]);
        krein_train_options_init(&o);
        krein_data_options_init(&d);
        o.learner = learner;
        o.kernel = "gaussian(sigma=8)";
        d.task = KREIN_TASK_REGRESSION;
        check(krein_data_from_dense(ctx, 200, INPUTS, x, INPUTS, y, NULL, &d, &data));
        check(krein_train(ctx, data, &o, NULL, &m));
        krein_data_close(data);
        check(krein_model_save_memory(ctx, m, NULL, 0, &bytes));
        const krein_product *p = krein__deep(m->map)->layer[1].product;
        double many = seconds_of(m, ROWS, x, out), one = seconds_of(m, 1, x, out);
        printf("bits %d path %s bytes %lld many %.3f one %.3f\n", bits[b],
               p ? krein__product_path(p) : "float32", (long long)bytes, many / ROWS * 1e6,
               one * 1e6);
        krein_model_destroy(m);
    }
    krein__free(ctx, x), krein__free(ctx, y), krein__free(ctx, out);
}

/* A map that ends at an earlier layer makes its features. */
static void features(const char *model, const char *rows, const char *to) {
    krein_model *m;
    krein_data *data;
    krein_data_options o;
    krein_stream *stream;
    krein_block block;
    krein_data_options_init(&o);
    o.label = "none";
    check(krein_model_load(ctx, model, &m));
    if (!krein__map_is_deep(m->map)) {
        fprintf(stderr, "bench_deep: %s is no deep model\n", model);
        exit(1);
    }
    for (int64_t l = 1; l <= krein__deep(m->map)->layers; l++) {
        krein_deep first = *krein__deep(m->map);
        krein_map map = *m->map;
        char path[4096];
        first.layers = l;
        map.state = &first;
        snprintf(path, sizeof path, "%s.%d.f32", to, (int)l);
        FILE *f = fopen(path, "wb");
        float *scratch = need(krein__map_scratch(&map), sizeof *scratch);
        check(krein_data_open(ctx, rows, &o, &data));
        check(krein__data_match(data, &m->encoding, false));
        check(krein__stream_open(data, &m->encoding, -1, &stream));
        for (;;) {
            check(krein__stream_next(stream, &block));
            if (block.x.n == 0) break;
            float *z = need(block.x.n * map.R, sizeof *z);
            krein__map_raw(&map, &block.x, NULL, z, scratch);
            if (!f || fwrite(z, sizeof *z, (size_t)(block.x.n * map.R), f) !=
                          (size_t)(block.x.n * map.R)) {
                fprintf(stderr, "bench_deep: cannot write %s\n", path);
                exit(1);
            }
            krein__free(ctx, z);
        }
        fclose(f);
        krein__stream_close(stream);
        krein_data_close(data);
        krein__free(ctx, scratch);
    }
    krein_model_destroy(m);
}

int main(int argc, char **argv) {
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    options.threads = 1;
    if (krein_ctx_create(&options, &ctx) != KREIN_OK) return 1;
    if (argc == 2 && strcmp(argv[1], "speed") == 0)
        speed();
    else if (argc == 5 && strcmp(argv[1], "features") == 0)
        features(argv[2], argv[3], argv[4]);
    else
        return fprintf(stderr, "bench_deep speed | bench_deep features MODEL ROWS OUT\n"), 2;
    krein_ctx_destroy(ctx);
    return 0;
}
