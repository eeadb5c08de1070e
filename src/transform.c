/* transform.c -- the public entry points that write features and kernel values. */
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
    if (!map) return KREIN_OK;
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

/* Where there are none, the map that needs them says so. */
static bool may_have_labels(const krein_data *data) {
    const char *label = data->options.label;
    return data->reader ? !label || strcmp(label, "none") != 0 : data->has_label;
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
    bool labels = (map->cls->traits & KREIN_MAP_LABELS) && may_have_labels(data);
    krein__map_destroy(map);
    map = NULL;
    TRY(krein__data_learn(data, labels, 0, given->seed, (krein_keep)given->memory_rows, &e));
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

/* All rows of a stream in memory. */
static krein_status all_rows(krein_ctx *ctx, krein_stream *s, int64_t n, krein_matrix *out) {
    krein_status st = KREIN_OK;
    int64_t *index = NULL;
    NEW(index, n);
    for (int64_t i = 0; i < n; i++) index[i] = i;
    TRY(krein__stream_gather(s, index, n, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    return st;
}

krein_status krein_gram(krein_ctx *ctx, krein_data *data, krein_data *data2,
                        const krein_train_options *options, const char *path,
                        krein_transform_report *r) {
    krein_status st = KREIN_OK;
    krein_train_options defaults;
    krein_train_options_init(&defaults);
    const krein_train_options *given = options ? options : &defaults;
    krein_kernel *kernel = NULL;
    krein_stream *rows = NULL, *rows2 = NULL;
    krein_encoding e = {0};
    krein_matrix y = {0};
    krein_writer *w = NULL;
    krein_block b;
    double *K = NULL, start = krein__clock();
    memset(r, 0, sizeof *r);
    TRY(krein__kernel_parse(ctx, given->kernel ? given->kernel : "gaussian", &kernel));
    TRY(krein__data_learn(data, false, 0, given->seed, KREIN_KEEP_AUTO, &e));
    int64_t n = data->count[KREIN_PART_TRAIN];
    if (!data2 && n > given->max_exact) {
        st = krein__fail(
            ctx, KREIN_EARG,
            "%s: the kernel matrix of %lld rows is above --max-exact (%lld); raise it, or "
            "use fewer rows",
            data->name, (long long)n, (long long)given->max_exact);
        goto done;
    }
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    TRY(krein__kernel_set_median(ctx, kernel, rows, n, given->seed));
    if (data2) {
        /* DATA2 is read with the columns and the scaling of DATA. */
        krein_block count;
        TRY(krein__data_match(data2, &e, false));
        TRY(krein__stream_open(data2, &e, KREIN_PART_TRAIN, &rows2));
        for (int64_t m = 0;; r->D = m) {
            TRY(krein__stream_next(rows2, &count));
            if (count.x.n == 0) break;
            m += count.x.n;
        }
        if (r->D == 0) {
            st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row", data2->name);
            goto done;
        }
    }
    int64_t columns = data2 ? r->D : n;
    TRY(krein__reserve_check(ctx,
                             8.0 * (double)columns * (double)krein__block_rows(e.d) +
                                 8.0 * (double)columns * (double)e.d,
                             "a block of kernel values", "use fewer rows, or raise --max-memory"));
    TRY(all_rows(ctx, data2 ? rows2 : rows, columns, &y));
    krein_rows against = krein__matrix_rows(&y);
    NEW(K, krein__block_rows(e.d) * columns);
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__npy_header(w, "<f8", n, columns));
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        TRY(krein__gram_full(ctx, kernel, &b.x, &against, K));
        TRY(krein__writer_put(w, K, (size_t)(b.x.n * columns) * sizeof *K));
        krein__progress(ctx, "kernel values", (double)(b.first + b.x.n), (double)n);
    }
    krein_writer *whole = w;
    w = NULL;
    TRY(krein__writer_commit(whole));
    TRY(describe(ctx, kernel, NULL, r));
    r->n = n;
    r->d = e.d;
    r->D = columns;
    r->seconds = krein__clock() - start;
done:
    krein__writer_abort(w);
    krein__stream_close(rows);
    krein__stream_close(rows2);
    krein__matrix_clear(ctx, &y);
    krein__free(ctx, K);
    krein__kernel_destroy(ctx, kernel);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein_transform_report_clear(ctx, r);
    return st;
}
