/* transform.c -- the public entry points that make features: to a file, or into memory by a model
 * without a head. */
#include "base/text.h"
#include "file/writer.h"
#include "pipe/pipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_transform_report_clear(krein_ctx *ctx, krein_transform_report *report) {
    krein_transform_report r = KREIN_SIZED(krein_transform_report);
    if (!report) return;
    krein__report_take(&r, report);
    krein__free(ctx, r.kernel);
    krein__free(ctx, r.map);
}

static krein_status describe(const krein_model *m, krein_transform_report *r) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    r->n = m->n;
    r->d = m->encoding.d;
    r->D = m->map->D;
    r->negative = m->map->negative;
    DUP(r->kernel, m->kernel_text);
    DUP(r->map, m->map_text);
done:
    return st;
}

/* z.npy, z.libsvm -> z.sign.npy */
static krein_status write_signs(krein_ctx *ctx, const krein_map *map, const char *path) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    size_t length = strlen(path);
    static const char *const ends[] = {".gz", ".npy", ".libsvm"};
    for (int64_t i = 0; i < KREIN__COUNT(ends); i++) {
        size_t end = strlen(ends[i]);
        if (length > end && memcmp(path + length - end, ends[i], end) == 0) length -= end;
    }
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

static krein_status write_npy(krein_ctx *ctx, const krein_map *map, krein_stream *rows, int64_t n,
                              int64_t block_rows, krein_writer *w) {
    krein_status st = KREIN_OK;
    krein_block b;
    float *z = NULL;
    NEW(z, block_rows * map->D);
    TRY(krein__npy_header(w, "<f4", n, map->D));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        TRY(krein__map_apply(map, &b.x, z));
        TRY(krein__writer_put(w, z, (size_t)(b.x.n * map->D) * sizeof *z));
        krein__progress(ctx, "transforming", (double)(b.first + b.x.n), (double)n);
    }
done:
    krein__free(ctx, z);
    return st;
}

/* Features of a tile that are not zero: `width` for each row, ascending, col -1 where there is
 * none. scratch: krein__map_scratch of it. */
static krein_status sparse_features(const krein_map *map, const krein_rows *x, int64_t width,
                                    int32_t *col, float *val, float *scratch) {
    if (map->cls->nonzeros) {
        map->cls->tile_sparse(map, x, col, val, scratch);
        return KREIN_OK;
    }
    krein_status st = krein__map_apply(map, x, val);
    for (int64_t i = 0; st == KREIN_OK && i < x->n * width; i++)
        col[i] = val[i] != 0 ? (int32_t)(i % width) : -1;
    return st;
}

/* The label as it stood in the data: a number, or the number of its class. */
static double label_of(const krein_encoding *e, const krein_block *b, int64_t i, int64_t labels) {
    if (!b->label) return 0;
    double label = b->label[i * labels];
    bool numbers = e->task == KREIN_TASK_CLASSIFICATION && e->class_value && !e->label_text;
    return numbers ? e->class_value[(int64_t)label] : label;
}

/* "label col:value ..." without what is zero. text has room for the whole row. */
static krein_status put_sparse(krein_writer *w, double label, int64_t width, const int32_t *col,
                               const float *val, char *text) {
    char *p = krein__put_float(text, (float)label);
    for (int64_t j = 0; j < width; j++) {
        if (col[j] < 0) continue;
        *p++ = ' ';
        p = krein__put_integer(p, col[j] + 1);
        *p++ = ':';
        p = krein__put_float(p, val[j]);
    }
    *p++ = '\n';
    return krein__writer_put(w, text, (size_t)(p - text));
}

static krein_status write_libsvm(krein_ctx *ctx, const krein_map *map, krein_stream *rows,
                                 int64_t n, const krein_encoding *e, int64_t labels,
                                 krein_writer *w) {
    enum { CELL = 32 }; /* " column:value" */
    krein_status st = KREIN_OK;
    int64_t width = map->cls->nonzeros ? map->cls->nonzeros(map) : map->D;
    krein_block b;
    int32_t *col = NULL;
    float *val = NULL, *scratch = NULL;
    char *text = NULL;
    NEW(col, KREIN_TILE * width);
    NEW(val, KREIN_TILE * width);
    NEW(scratch, krein__max(1, map->scratch));
    NEW(text, (width + 1) * CELL);
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n; i += KREIN_TILE) {
            krein_rows part = krein__rows_slice(&b.x, i, krein__min(KREIN_TILE, b.x.n - i));
            TRY(sparse_features(map, &part, width, col, val, scratch));
            for (int64_t r = 0; r < part.n; r++)
                TRY(put_sparse(w, label_of(e, &b, i + r, labels), width, col + r * width,
                               val + r * width, text));
        }
        krein__progress(ctx, "transforming", (double)(b.first + b.x.n), (double)n);
    }
done:
    krein__free(ctx, col);
    krein__free(ctx, val);
    krein__free(ctx, scratch);
    krein__free(ctx, text);
    return st;
}

static bool is_libsvm(const char *path) {
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) length -= 3;
    return length > 7 && memcmp(path + length - 7, ".libsvm", 7) == 0;
}

static krein_status write_features(krein_ctx *ctx, const krein_map *map, krein_data *data,
                                   krein_stream *rows, int64_t n, const krein_encoding *e,
                                   const char *path) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__stream_rewind(rows));
    if (is_libsvm(path))
        TRY(write_libsvm(ctx, map, rows, n, e, data->nlabel, w));
    else
        TRY(write_npy(ctx, map, rows, n, krein__block_rows(e->d), w));
    if (map->sign) TRY(write_signs(ctx, map, path));
    krein_writer *whole = w;
    w = NULL;
    st = krein__writer_commit(whole);
done:
    krein__writer_abort(w);
    return st;
}

krein_status krein_transform(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                             const char *path, krein_transform_report *report) {
    krein_status st = KREIN_OK;
    krein_transform_report own = KREIN_SIZED(krein_transform_report), *r = &own;
    krein_pipe p = {0};
    double start = krein__clock();
    TRY(krein__report_check(ctx, report, "krein_transform_report"));
    /* LIBSVM files have a label before the features: that of the data, unless there is none. */
    TRY(krein__pipe_transformer(ctx, options, data, is_libsvm(path), &p));
    TRY(write_features(ctx, p.job.model->map, data, p.job.rows, p.job.n, &p.job.model->encoding,
                       path));
    TRY(describe(p.job.model, r));
    r->seconds = krein__clock() - start;
done:
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_transform_report_clear(ctx, r);
    return st;
}

/* ---- into memory -------------------------------------------------------- */

krein_status krein_fit(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                       krein_transform_report *report, krein_model **out) {
    krein_status st = KREIN_OK;
    krein_transform_report own = KREIN_SIZED(krein_transform_report), *r = &own;
    krein_pipe p = {0};
    double start = krein__clock();
    *out = NULL;
    TRY(krein__report_check(ctx, report, "krein_transform_report"));
    TRY(krein__pipe_transformer(ctx, options, data, false, &p));
    TRY(describe(p.job.model, r));
    r->seconds = krein__clock() - start;
    *out = krein__pipe_take_model(&p);
done:
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_transform_report_clear(ctx, r);
    return st;
}

static krein_status check_features(krein_ctx *ctx, const krein_map *map) {
    int traits = krein__map_traits(map);
    if (traits & KREIN_MAP_DUAL)
        return krein__fail(ctx, KREIN_EARG,
                           "the model is on the kernel matrix (map=exact) and has no features; "
                           "use another map");
    if (traits & KREIN_MAP_MIX && !map->mix)
        return krein__fail(ctx, KREIN_EARG,
                           "the model keeps what prediction needs of %s, and not the matrix that "
                           "makes its features (a trained model's file never has it); use a model "
                           "of krein_fit for them",
                           map->cls->cls.name);
    return KREIN_OK;
}

krein_status krein_model_features(krein_ctx *ctx, const krein_model *m, krein_data *data,
                                  float *out, int64_t room, int64_t *n) {
    krein_status st = KREIN_OK;
    krein_stream *rows = NULL;
    krein_block b;
    krein_map map = krein__map_on(ctx, m->map);
    *n = 0;
    TRY(check_features(ctx, &map));
    TRY(krein__data_match(data, &m->encoding, false));
    TRY(krein__stream_open(data, &m->encoding, -1, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        if (b.first + b.x.n > room) {
            st = krein__fail(ctx, KREIN_EARG,
                             "%s has more than the %lld rows that there is room for", data->name,
                             (long long)room);
            goto done;
        }
        float *to = out + b.first * map.D;
        TRY(krein__map_apply(&map, &b.x, to));
        for (int64_t i = 0; b.dropped && i < b.x.n * map.D; i++)
            if (b.dropped[i / map.D]) to[i] = NAN;
        *n = b.first + b.x.n;
        krein__progress(ctx, "transforming", (double)*n, (double)data->nrows);
    }
done:
    krein__stream_close(rows);
    return st;
}
