/* matrix.c -- views of rows, and owned copies of some of them.
 *
 * A CSR slice keeps the absolute positions in ptr, so slicing is pointer arithmetic on
 * ptr alone and never touches col and val. */
#include "num/matrix.h"

#include <string.h>

krein_rows krein__rows_slice(const krein_rows *r, int64_t first, int64_t n) {
    krein_rows s = *r;
    s.n = n;
    if (krein__rows_sparse(r)) {
        s.ptr = r->ptr + first;
    } else if (r->x) {
        s.x = r->x + first * r->ld;
    } else if (r->byte) {
        s.byte = r->byte + first * r->ld;
    }
    return s;
}

krein_rows krein__rows_dense(int64_t n, int64_t d, const float *x, int64_t ld) {
    return (krein_rows){.n = n, .d = d, .x = x, .ld = ld};
}

krein_rows krein__matrix_rows(const krein_matrix *m) {
    return (krein_rows){.n = m->n,
                        .d = m->d,
                        .x = m->x,
                        .ld = m->d,
                        .ptr = m->ptr,
                        .col = m->col,
                        .val = m->val,
                        .byte = m->byte,
                        .centre = m->centre,
                        .factor = m->factor};
}

void krein__matrix_clear(krein_ctx *ctx, krein_matrix *m) {
    krein__free(ctx, m->x);
    krein__free(ctx, m->ptr);
    krein__free(ctx, m->col);
    krein__free(ctx, m->val);
    krein__free(ctx, m->byte);
    *m = (krein_matrix){0};
}

static krein_status gather_sparse(krein_ctx *ctx, const krein_rows *r, const int64_t *index,
                                  int64_t n, krein_matrix *out) {
    krein_status st = KREIN_OK;
    NEW(out->ptr, n + 1);
    out->ptr[0] = 0;
    for (int64_t i = 0; i < n; i++)
        out->ptr[i + 1] = out->ptr[i] + r->ptr[index[i] + 1] - r->ptr[index[i]];
    out->nnz = out->ptr[n];
    NEW(out->col, out->nnz);
    NEW(out->val, out->nnz);
    for (int64_t i = 0; i < n; i++) {
        int64_t from = r->ptr[index[i]], to = out->ptr[i];
        size_t count = (size_t)(out->ptr[i + 1] - to);
        if (count == 0) continue; /* an empty matrix may have no col and val at all */
        memcpy(out->col + to, r->col + from, count * sizeof *out->col);
        memcpy(out->val + to, r->val + from, count * sizeof *out->val);
    }
done:
    return st;
}

static krein_status gather_dense(krein_ctx *ctx, const krein_rows *r, const int64_t *index,
                                 int64_t n, krein_matrix *out) {
    krein_status st = KREIN_OK;
    int64_t entries;
    if (__builtin_mul_overflow(n, r->d, &entries))
        return krein__fail(ctx, KREIN_EMEMORY, "gather: %lld rows of %lld columns are too many",
                           (long long)n, (long long)r->d);
    NEW(out->x, entries);
    out->nnz = entries;
    for (int64_t i = 0; i < n; i++) krein__row_copy(r, index[i], out->x + i * r->d);
done:
    return st;
}

krein_status krein__matrix_gather(krein_ctx *ctx, const krein_rows *r, const int64_t *index,
                                  int64_t n, krein_matrix *out) {
    *out = (krein_matrix){.n = n, .d = r->d};
    krein_status st = krein__rows_sparse(r) ? gather_sparse(ctx, r, index, n, out)
                                            : gather_dense(ctx, r, index, n, out);
    if (st != KREIN_OK) krein__matrix_clear(ctx, out);
    return st;
}

void krein__row_copy(const krein_rows *r, int64_t i, float *out) {
    if (r->byte) {
        const uint8_t *byte = r->byte + i * r->ld;
        for (int64_t j = 0; j < r->d; j++) out[j] = ((float)byte[j] - r->centre[j]) * r->factor[j];
        return;
    }
    if (!krein__rows_sparse(r)) {
        if (r->d > 0) memcpy(out, r->x + i * r->ld, (size_t)r->d * sizeof *out);
        return;
    }
    for (int64_t j = 0; j < r->d; j++) out[j] = 0;
    for (int64_t k = r->ptr[i]; k < r->ptr[i + 1]; k++) out[r->col[k]] = r->val[k];
}

void krein__row_copy_double(const krein_rows *r, int64_t i, double *out) {
    if (!krein__rows_sparse(r)) {
        for (int64_t j = 0; j < r->d; j++) out[j] = (double)r->x[i * r->ld + j];
        return;
    }
    for (int64_t j = 0; j < r->d; j++) out[j] = 0;
    for (int64_t k = r->ptr[i]; k < r->ptr[i + 1]; k++) out[r->col[k]] = (double)r->val[k];
}
