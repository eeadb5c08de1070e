/* bench_calls.c -- predictions for rows in memory, as a C program asks for them
 *
 *   bench_calls MODEL ROWS n d f32|f64 SECONDS
 *
 * ROWS has n x d numbers of the machine's own form, row after row. A call is krein_data_from_rows,
 * krein_predict_into and krein_data_close, and is repeated for so many seconds, at least three
 * times. Prints the microseconds of a call, the mean of the fastest batch of calls, and the last
 * prediction. bench/python_calls.py runs it and compares. */
#include "krein.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static krein_ctx *ctx;

static void check(krein_status status) {
    if (status == KREIN_OK) return;
    fprintf(stderr, "bench_calls: %s\n", krein_message(ctx));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(size_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "bench_calls: no memory\n");
        exit(1);
    }
    return p;
}

static void *rows_of(const char *path, size_t bytes) {
    void *rows = need(bytes);
    FILE *file = fopen(path, "rb");
    if (!file || fread(rows, 1, bytes, file) != bytes) {
        fprintf(stderr, "bench_calls: %s does not have %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
    return rows;
}

static void call(const krein_model *model, const krein_rows_view *view, double *scores) {
    krein_data *data;
    krein_prediction_arrays arrays;
    krein_prediction_arrays_init(&arrays);
    arrays.capacity = view->n;
    arrays.scores = scores;
    check(krein_data_from_rows(ctx, view, NULL, &data));
    check(krein_predict_into(ctx, model, data, &arrays));
    krein_data_close(data);
}

/* Seconds a call of the fastest batch. A batch takes a millisecond or is one call. */
static double fastest(const krein_model *model, const krein_rows_view *view, double *scores,
                      double seconds) {
    double start = now(), best = 1e30;
    int count = 1;
    do {
        double mark = now();
        for (int i = 0; i < count; i++) call(model, view, scores);
        double taken = now() - mark;
        if (taken / count < best) best = taken / count;
        if (taken < 1e-3) count *= 2;
    } while (now() - start < seconds);
    return best;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: bench_calls MODEL ROWS n d f32|f64 SECONDS\n");
        return 2;
    }
    int single = strcmp(argv[5], "f32") == 0;
    krein_rows_view view;
    krein_rows_view_init(&view);
    view.n = atoll(argv[3]);
    view.d = atoll(argv[4]);
    view.type = single ? KREIN_FLOAT32 : KREIN_FLOAT64;
    void *rows = rows_of(argv[2], (size_t)view.n * (size_t)view.d * (single ? 4 : 8));
    view.x = rows;

    krein_model *model;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    check(krein_ctx_create(NULL, &ctx));
    check(krein_model_load(ctx, argv[1], &model));
    krein_model_describe(model, &info);
    size_t count = (size_t)view.n * (size_t)info.outputs;
    double *scores = need(count * sizeof *scores);
    double taken = fastest(model, &view, scores, atof(argv[6]));
    printf("%.3f %.17g\n", 1e6 * taken, scores[count - 1]);
    free(scores);
    free(rows);
    krein_model_destroy(model);
    krein_ctx_destroy(ctx);
    return 0;
}
