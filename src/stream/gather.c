/* gather.c -- some rows of a stream, by their numbers. */
#include "stream/data.h"
#include "dist/dist.h"

#include <string.h>

/* Row i of `from` becomes row `to`, the last one, of x, which has room for so many entries. */
static krein_status append_sparse(krein_ctx *ctx, const krein_rows *from, int64_t i, int64_t to,
                                  int64_t *room, krein_matrix *x) {
    int64_t first = from->ptr[i], count = from->ptr[i + 1] - first, at = x->ptr[to];
    if (at + count > *room || !x->col) {
        *room = krein__max(2 * *room, at + count + 1024);
        int32_t *col = krein__resize(ctx, x->col, *room, sizeof *col);
        if (col) x->col = col;
        float *val = col ? krein__resize(ctx, x->val, *room, sizeof *val) : NULL;
        if (!val) return ctx->status;
        x->val = val;
    }
    memcpy(x->col + at, from->col + first, (size_t)count * sizeof *x->col);
    memcpy(x->val + at, from->val + first, (size_t)count * sizeof *x->val);
    x->ptr[to + 1] = at + count;
    return KREIN_OK;
}

/* The rows that this process reads. */
static krein_status gather_here(krein_stream *s, const int64_t *index, int64_t n, krein_matrix *x,
                                double *label, double *weight, int32_t *group) {
    krein_ctx *ctx = krein__stream_data(s)->ctx;
    const krein_encoding *e = krein__stream_encoding(s);
    krein_status st = KREIN_OK;
    krein_block b;
    int64_t have = 0, d = e->d, k = krein__stream_labels(s), room = 0;
    memset(x, 0, sizeof *x);
    x->d = d;
    if (e->sparse) {
        NEW(x->ptr, n + 1);
        x->ptr[0] = 0;
    } else {
        NEW(x->x, n * d);
    }
    TRY(krein__stream_rewind(s));
    while (have < n) {
        TRY(krein__stream_next(s, &b));
        if (b.x.n == 0) break;
        for (; have < n && index[have] < b.first + b.x.n; have++) {
            int64_t i = index[have] - b.first;
            if (b.x.ptr) {
                TRY(append_sparse(ctx, &b.x, i, have, &room, x));
            } else {
                memcpy(x->x + have * d, b.x.x + i * b.x.ld, (size_t)d * sizeof(float));
            }
            for (int64_t c = 0; label && c < k; c++) label[have * k + c] = b.label[i * k + c];
            if (weight) weight[have] = b.weight ? b.weight[i] : 1;
            if (group) group[have] = b.group ? b.group[i] : (int32_t)have;
        }
    }
    x->n = have;
    x->nnz = x->ptr ? x->ptr[have] : 0;
    if (have < n) st = krein__stream_changed(s);
done:
    if (st != KREIN_OK) krein__matrix_clear(ctx, x);
    return st;
}

static krein_status join_into(krein_ctx *ctx, int64_t n, size_t size, const void *mine, void *all) {
    char *joined = NULL;
    int64_t count;
    krein_status st = krein__comm_join(ctx, mine, n, size, &joined, &count);
    if (st == KREIN_OK) memcpy(all, joined, (size_t)count * size);
    krein__free(ctx, joined);
    return st;
}

static krein_status join_rows(krein_ctx *ctx, const krein_matrix *here, int64_t n,
                              krein_matrix *x) {
    krein_status st = KREIN_OK;
    int64_t *length = NULL, *lengths = NULL, count;
    *x = (krein_matrix){.n = n, .d = here->d};
    if (!here->ptr)
        return krein__comm_join(ctx, here->x, here->n * here->d, sizeof *x->x, &x->x, &count);
    NEW(length, krein__max(1, here->n));
    for (int64_t i = 0; i < here->n; i++) length[i] = here->ptr[i + 1] - here->ptr[i];
    TRY(krein__comm_join(ctx, length, here->n, sizeof *length, &lengths, &count));
    NEW(x->ptr, n + 1);
    x->ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) x->ptr[i + 1] = x->ptr[i] + lengths[i];
    TRY(krein__comm_join(ctx, here->col, here->nnz, sizeof *x->col, &x->col, &x->nnz));
    TRY(krein__comm_join(ctx, here->val, here->nnz, sizeof *x->val, &x->val, &x->nnz));
done:
    krein__free(ctx, length);
    krein__free(ctx, lengths);
    return st;
}

/* Every process takes its own of them out of the stream. */
static krein_status gather_all(krein_stream *s, const int64_t *index, int64_t n, krein_matrix *x,
                               double *label, double *weight, int32_t *group) {
    const krein_data *data = krein__stream_data(s);
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    int64_t k = data->nlabel, low = 0, high, first, end, total;
    krein_matrix here = {0};
    double *own_label = NULL, *own_weight = NULL;
    int32_t *own_group = NULL;
    memset(x, 0, sizeof *x);
    krein__stream_range(s, &first, &end, &total);
    if (n > 0 && index[n - 1] >= total) return krein__stream_changed(s); /* nobody has it */
    while (low < n && index[low] < first) low++;
    for (high = low; high < n && index[high] < end;) high++;
    int64_t m = high - low;
    NEW(own_label, krein__max(1, m * k));
    NEW(own_weight, krein__max(1, m));
    NEW(own_group, krein__max(1, m));
    TRY(gather_here(s, index + low, m, &here, label ? own_label : NULL, own_weight, own_group));
    for (int64_t i = 0; !data->options.group && i < m; i++) own_group[i] = (int32_t)(low + i);
    TRY(join_rows(ctx, &here, n, x));
    if (label) TRY(join_into(ctx, m * k, sizeof *label, own_label, label));
    if (weight) TRY(join_into(ctx, m, sizeof *weight, own_weight, weight));
    if (group) TRY(join_into(ctx, m, sizeof *group, own_group, group));
done:
    krein__matrix_clear(ctx, &here);
    krein__free(ctx, own_label);
    krein__free(ctx, own_weight);
    krein__free(ctx, own_group);
    if (st != KREIN_OK) krein__matrix_clear(ctx, x);
    return st;
}

krein_status krein__stream_gather(krein_stream *s, const int64_t *index, int64_t n, krein_matrix *x,
                                  double *label, double *weight, int32_t *group) {
    return krein__stream_shared(s) ? gather_all(s, index, n, x, label, weight, group)
                                   : gather_here(s, index, n, x, label, weight, group);
}
