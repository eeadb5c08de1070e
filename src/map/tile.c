/* tile.c -- dense tiles by a matrix product, CSR rows entry by entry without making them dense. */
#include "map/tile.h"

#include "num/blas.h"

#include <string.h>

const float *krein__tile_pad(const krein_rows *rows, int64_t in, float *to) {
    int64_t d = rows->d;
    if (rows->ptr) return NULL;
    if (rows->n == KREIN_TILE && rows->ld == in && in == d) return rows->x;
    for (int64_t i = 0; i < KREIN_TILE; i++) {
        if (i < rows->n)
            memcpy(to + i * in, rows->x + i * rows->ld, (size_t)d * sizeof *to);
        else
            memset(to + i * in, 0, (size_t)d * sizeof *to);
        if (in > d) to[i * in + d] = 1;
    }
    return to;
}

static void sparse(const krein_rows *rows, int64_t in, const float *W, int64_t ldw, int64_t m,
                   float *out, int64_t ld) {
    for (int64_t i = 0; i < rows->n; i++) {
        float *t = out + i * ld;
        if (in > rows->d)
            memcpy(t, W + rows->d * ldw, (size_t)m * sizeof *t);
        else
            memset(t, 0, (size_t)m * sizeof *t);
        for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) {
            const float *w = W + (int64_t)rows->col[k] * ldw;
            float v = rows->val[k];
            for (int64_t f = 0; f < m; f++) t[f] += v * w[f];
        }
    }
}

void krein__tile_times(const krein_rows *rows, const float *x, int64_t in, const float *W,
                       int64_t ldw, int64_t m, float *out, int64_t ld) {
    if (rows->ptr)
        sparse(rows, in, W, ldw, m, out, ld);
    else
        krein__sgemm(false, false, KREIN_TILE, m, in, 1, x, in, W, ldw, 0, out, ld);
}
