/* images.c -- images of a data set, by class. */
#include "fewshot/images.h"

#include <math.h>
#include <string.h>

static krein_status check(const krein_data *data, const krein_encoding *e) {
    if (e->image[0] == 0)
        return krein__fail(
            data->ctx, KREIN_EDATA,
            "%s: few-shot learning takes images: an .npy of n x h x w x c numbers, or "
            "rows of h w c numbers and their shape in `image`, such as 32x32x3",
            data->name);
    return KREIN_OK;
}

/* Rows of each class, ascending. */
static krein_status sort(krein_images *im, const int32_t *class) {
    krein_ctx *ctx = im->ctx;
    krein_status st = KREIN_OK;
    ZNEW(im->start, im->classes + 1);
    NEW(im->row, im->n);
    for (int64_t i = 0; i < im->n; i++) im->start[class[i] + 1]++;
    for (int64_t c = 0; c < im->classes; c++) im->start[c + 1] += im->start[c];
    for (int64_t i = 0; i < im->n; i++) im->row[im->start[class[i]]++] = i;
    for (int64_t c = im->classes; c > 0; c--) im->start[c] = im->start[c - 1];
    im->start[0] = 0;
done:
    return st;
}

static krein_status fill(krein_images *im, krein_stream *rows, int32_t *class) {
    krein_ctx *ctx = im->ctx;
    krein_status st = KREIN_OK;
    krein_matrix *x = &im->x;
    krein_block b;
    bool bytes = krein__stream_in_bytes(rows);
    size_t d = (size_t)x->d;
    if (bytes)
        NEW(x->byte, im->n * x->d);
    else
        NEW(x->x, im->n * x->d);
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n; i++, x->n++) {
            if (bytes)
                memcpy(x->byte + x->n * x->d, b.byte + i * x->d, d);
            else
                krein__row_copy(&b.x, i, x->x + x->n * x->d);
            class[x->n] = (int32_t)b.label[i];
        }
    }
done:
    return st;
}

krein_status krein__images_read(krein_ctx *ctx, krein_data *data, krein_images *im) {
    krein_status st = KREIN_OK;
    krein_encoding e = {0};
    krein_stream *rows = NULL;
    int32_t *class = NULL;
    *im = (krein_images){.ctx = ctx};
    data->options.scale = KREIN_SCALE_NONE; /* scaling is by the training classes, see below */
    data->options.task = KREIN_TASK_CLASSIFICATION;
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, &e));
    TRY(check(data, &e));
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    im->shape = (krein_shape){e.image[0], e.image[1], e.image[2]};
    im->n = data->count[KREIN_PART_TRAIN];
    im->classes = e.nclass;
    im->x.d = e.d;
    ZNEW(im->name, im->classes);
    for (int64_t c = 0; c < im->classes; c++) DUP(im->name[c], e.class_name[c]);
    NEW(class, im->n);
    TRY(fill(im, rows, class));
    TRY(sort(im, class));
done:
    krein__free(ctx, class);
    krein__stream_close(rows);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein__images_clear(im);
    return st;
}

static double value(const krein_matrix *x, int64_t row, int64_t column) {
    int64_t at = row * x->d + column;
    return x->byte ? (double)x->byte[at] : (double)x->x[at];
}

void krein__images_scaling(const krein_pool *pool, float *centre, float *factor) {
    const krein_images *im = pool->images;
    int64_t d = im->x.d, channels = im->shape.c;
    for (int64_t k = 0; k < channels; k++) {
        double sum = 0, squares = 0, n = 0;
        for (int64_t c = 0; c < pool->n; c++)
            for (int64_t i = im->start[pool->class[c]]; i < im->start[pool->class[c] + 1]; i++)
                for (int64_t j = k; j < d; j += channels) {
                    double v = value(&im->x, im->row[i], j);
                    sum += v;
                    squares += v * v;
                    n++;
                }
        double mean = sum / n, variance = squares / n - mean * mean;
        for (int64_t j = k; j < d; j += channels) {
            centre[j] = (float)mean;
            factor[j] = variance > 0 ? (float)(1 / sqrt(variance)) : 1;
        }
    }
}

void krein__images_scale(krein_images *im, const float *centre, const float *factor) {
    krein_matrix *x = &im->x;
    if (x->byte) {
        x->centre = centre;
        x->factor = factor;
        return;
    }
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->d; j++)
            x->x[i * x->d + j] = (x->x[i * x->d + j] - centre[j]) * factor[j];
}
