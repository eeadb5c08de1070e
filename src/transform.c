/* transform.c -- the public entry point that writes features. */
#include "data/writer.h"
#include "kernel/median.h"
#include "map/map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_transform_report_clear(krein_ctx *ctx, krein_transform_report *r) {
    krein__free(ctx, r->kernel);
    krein__free(ctx, r->map);
    memset(r, 0, sizeof *r);
}

static krein_status describe(krein_ctx *ctx, const krein_kernel *kernel, const krein_map *map,
                             krein_transform_report *r) {
    r->kernel = krein__kernel_text(ctx, kernel);
    if (!r->kernel) return ctx->status;
    r->map = krein__map_text(map);
    r->D = map->D;
    r->negative = map->negative;
    return r->map ? KREIN_OK : ctx->status;
}

/* z.npy -> z.sign.npy */
static krein_status write_signs(krein_ctx *ctx, const krein_map *map, const char *path) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) length -= 4;
    char *name = krein__format(ctx, "%.*s.sign.npy", (int)length, path);
    if (!name) return ctx->status;
    TRY(krein__writer_open(ctx, name, &w));
    TRY(krein__npy_header(w, "|i1", map->D, -1));
    TRY(krein__writer_put(w, map->sign, (size_t)map->D));
    krein_writer *whole = w;
    w = NULL;
    st = krein__writer_commit(whole);
done:
    krein__writer_abort(w);
    krein__free(ctx, name);
    return st;
}

static krein_status write_features(krein_ctx *ctx, const krein_map *map, krein_stream *rows,
                                   int64_t n, int64_t block_rows, const char *path) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    krein_block b;
    float *z = NULL;
    NEW(z, block_rows * map->D);
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__npy_header(w, "<f4", n, map->D));
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        TRY(krein__map_apply(map, &b.x, z));
        TRY(krein__writer_put(w, z, (size_t)(b.x.n * map->D) * sizeof *z));
        krein__progress(ctx, "transforming", (double)(b.first + b.x.n), (double)n);
    }
    if (map->sign) TRY(write_signs(ctx, map, path));
    krein_writer *whole = w;
    w = NULL;
    st = krein__writer_commit(whole);
done:
    krein__writer_abort(w);
    krein__free(ctx, z);
    return st;
}

krein_status krein_transform(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                             const char *path, krein_transform_report *r) {
    krein_status st = KREIN_OK;
    krein_train_options defaults;
    krein_train_options_init(&defaults);
    const krein_train_options *given = options ? options : &defaults;
    krein_kernel *kernel = NULL;
    krein_map *map = NULL;
    krein_stream *rows = NULL;
    krein_encoding e = {0};
    double start = krein__clock();
    memset(r, 0, sizeof *r);
    TRY(krein__kernel_parse(ctx, given->kernel ? given->kernel : "gaussian", &kernel));
    TRY(krein__map_create(ctx, given->map ? given->map : krein__map_default(kernel, 0, 0), kernel,
                          given->features, given->seed, &map));
    if (map->cls->traits & KREIN_MAP_DUAL) {
        st = krein__fail(ctx, KREIN_EARG,
                         "the exact map has no features to write; use gram for "
                         "kernel values, or nystrom");
        goto done;
    }
    krein__map_destroy(map);
    map = NULL;
    TRY(krein__data_learn(data, false, 0, given->seed, (krein_keep)given->memory_rows, &e));
    r->n = data->count[KREIN_PART_TRAIN];
    r->d = e.d;
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    TRY(krein__kernel_set_median(ctx, kernel, rows, r->n, given->seed));
    int64_t D = given->features > 0 ? given->features : krein__min(1024, r->n > 2 ? r->n : 2);
    TRY(krein__map_create(ctx, given->map ? given->map : krein__map_default(kernel, e.d, D), kernel,
                          given->features, given->seed, &map));
    if (map->D == 0) map->D = D;
    TRY(krein__map_fit(map, e.d, e.sparse, rows, r->n));
    TRY(write_features(ctx, map, rows, r->n, krein__block_rows(e.d), path));
    TRY(describe(ctx, kernel, map, r));
    r->seconds = krein__clock() - start;
done:
    krein__stream_close(rows);
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, kernel);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein_transform_report_clear(ctx, r);
    return st;
}
