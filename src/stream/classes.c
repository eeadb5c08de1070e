/* classes.c -- the classes of the rows of a data set, for those who draw them. */
#include "stream/data.h"

#include "base/sized.h"

void krein_classes_clear(krein_ctx *ctx, krein_classes *classes) {
    krein_classes c = KREIN_SIZED(krein_classes);
    if (!classes) return;
    krein__report_take(&c, classes);
    krein__free(ctx, c.class_of);
    for (int64_t k = 0; c.names && k < c.classes; k++) krein__free(ctx, c.names[k]);
    krein__free(ctx, c.names);
}

/* Learns the classes; *found: there are some. Data without labels are no error here. */
static krein_status scan(krein_ctx *ctx, krein_data *data, krein_encoding *e, bool *found) {
    *found = false;
    if (!krein__data_may_have_labels(data)) return KREIN_OK;
    krein_status st = krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, e);
    if (st == KREIN_EARG && !data->has_label) {
        ctx->status = KREIN_OK;
        ctx->message[0] = 0;
        return KREIN_OK;
    }
    *found = st == KREIN_OK && data->has_label && e->task == KREIN_TASK_CLASSIFICATION;
    return st;
}

static krein_status take(krein_ctx *ctx, krein_data *data, const krein_encoding *e,
                         krein_classes *out) {
    krein_status st = KREIN_OK;
    krein_stream *rows = NULL;
    krein_block b;
    NEW(out->class_of, data->nrows);
    ZNEW(out->names, e->nclass);
    out->classes = e->nclass;
    for (int64_t k = 0; k < e->nclass; k++) DUP(out->names[k], e->class_name[k]);
    for (int64_t i = 0; i < data->nrows; i++) out->class_of[i] = -1;
    TRY(krein__stream_open(data, e, -1, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; b.label && i < b.x.n && b.first + i < data->nrows; i++)
            if (!(b.dropped && b.dropped[i]) && b.label[i] >= 0)
                out->class_of[b.first + i] = (int32_t)b.label[i];
    }
    out->n = data->nrows;
done:
    krein__stream_close(rows);
    return st;
}

krein_status krein_data_classes(krein_ctx *ctx, krein_data *data, krein_classes *out) {
    krein_status st = KREIN_OK;
    krein_classes own = KREIN_SIZED(krein_classes);
    krein_encoding e = {0};
    bool found = false;
    TRY(krein__report_check(ctx, out, "krein_classes"));
    data->one_class = true;
    TRY(scan(ctx, data, &e, &found));
    if (found) TRY(take(ctx, data, &e, &own));
done:
    data->one_class = false;
    krein__encoding_clear(ctx, &e);
    krein__report_finish(st, out, &own);
    krein_classes_clear(ctx, &own);
    return st;
}
