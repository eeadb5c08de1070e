/* landmarks.c -- r_i(x) = k(x, l_i) for landmarks l_1 .. l_R. */
#include "map/landmarks.h"

#include "map/coded.h"

#include <math.h>
#include <string.h>

static krein_status begin(krein_map *map, bool wide) {
    krein_landmarks *s = map->state;
    krein_status st =
        krein__gram_begin(map->ctx, map->kernel, krein__matrix_rows(&s->rows), wide, &s->gram);
    map->scratch = s->gram.scratch;
    return st;
}

krein_status krein__landmarks_hold(krein_map *map, krein_matrix *rows, bool wide) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_landmarks *s = NULL;
    ZNEW(s, 1);
    map->state = s;
    map->R = rows->n;
    s->rows = *rows;
    *rows = (krein_matrix){0};
    TRY(begin(map, wide));
done:
    return st;
}

krein_status krein__landmarks_fit(krein_map *map, krein_stream *rows, const int64_t *index,
                                  int64_t m, bool wide) {
    krein_matrix x = {0};
    krein_status st = krein__stream_gather(rows, index, m, &x, NULL, NULL, NULL);
    if (st == KREIN_OK) st = krein__landmarks_hold(map, &x, wide);
    krein__matrix_clear(map->ctx, &x);
    return st;
}

void krein__landmarks_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                           float *scratch) {
    krein__gram_tile32(&((const krein_landmarks *)map->state)->gram, x, out, ld, scratch);
}

void krein__map_values(const krein_map *map, const krein_rows *x, const float *offset, float *out,
                       float *scratch) {
    const krein_landmarks *s = map->state;
    krein__gram_less32(&s->gram, x, offset, out, map->R, scratch);
}

void krein__landmarks_tile64(const krein_map *map, const krein_rows *x, double *out, int64_t ld,
                             double *scratch) {
    krein__gram_tile64(&((const krein_landmarks *)map->state)->gram, x, out, ld, scratch);
}

/* Column numbers from outside must lie in the row and ascend. */
static bool valid(const krein_matrix *m) {
    if (m->ptr[0] != 0 || m->ptr[m->n] != m->nnz) return false;
    for (int64_t i = 0; i < m->n; i++) {
        if (m->ptr[i] > m->ptr[i + 1] || m->ptr[i + 1] > m->nnz) return false;
        for (int64_t k = m->ptr[i]; k < m->ptr[i + 1]; k++)
            if (m->col[k] < 0 || m->col[k] >= m->d || (k > m->ptr[i] && m->col[k] <= m->col[k - 1]))
                return false;
    }
    return true;
}

krein_status krein__landmarks_io(krein_map *map, krein_archive *a, bool wide) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    if (reading) {
        krein_landmarks *made = NULL;
        ZNEW(made, 1);
        map->state = made;
        made->rows.n = map->R;
        made->rows.d = map->d;
    }
    krein_matrix *m = &((krein_landmarks *)map->state)->rows;
    if (map->sparse) {
        TRY(krein__archive_int(a, "landmarks.nnz", &m->nnz, 0, INT64_MAX / 16));
        TRY(krein__archive_array(a, "landmarks.ptr", KREIN_TYPE_I64, &m->ptr, m->n + 1));
        TRY(krein__archive_array(a, "landmarks.col", KREIN_TYPE_I32, &m->col, m->nnz));
        TRY(krein__archive_array(a, "landmarks.val", KREIN_TYPE_F32, &m->val, m->nnz));
        if (reading && !valid(m)) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its landmarks are wrong)");
            goto done;
        }
    } else {
        int64_t cells;
        if (__builtin_mul_overflow(m->n, m->d, &cells)) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its landmarks are wrong)");
            goto done;
        }
        TRY(krein__archive_array(a, "landmarks", KREIN_TYPE_F32, &m->x, cells));
    }
    if (reading) TRY(begin(map, wide));
done:
    return st;
}

bool krein__landmarks_array(const krein_map *map, int64_t i, krein_named_array *out) {
    const krein_matrix *m = &((const krein_landmarks *)map->state)->rows;
    if (!m->ptr && i == 0)
        krein__array_set(out, "landmarks", KREIN_TYPE_F32, m->n, m->d, m->x);
    else if (m->ptr && i == 0)
        krein__array_set(out, "landmarks.ptr", KREIN_TYPE_I64, 1, m->n + 1, m->ptr);
    else if (m->ptr && i == 1)
        krein__array_set(out, "landmarks.col", KREIN_TYPE_I32, 1, m->ptr[m->n], m->col);
    else if (m->ptr && i == 2)
        krein__array_set(out, "landmarks.val", KREIN_TYPE_F32, 1, m->ptr[m->n], m->val);
    else
        return false;
    return true;
}

void krein__landmarks_clear(krein_map *map) {
    krein_landmarks *s = map->state;
    krein__matrix_clear(map->ctx, &s->rows);
    krein__gram_end(map->ctx, &s->gram);
    krein__coded_clear(map->ctx, s->coded);
}

void krein__landmarks_cost(const krein_map *map, int64_t m, krein_cost *out) {
    /* Sparse landmarks: their entries are not known yet; some thousand a row. */
    double d = (double)map->d, R = (double)m, row = map->sparse ? 8 * fmin(d, 1024) : 4 * d;
    int64_t width = map->sparse ? krein__min(map->d, 1024) : map->d;
    out->bytes = 2 * R * row + 24 * R + (map->sparse ? 0 : krein__gram_rows_bytes(m, map->d)) +
                 map->ctx->threads * (krein__gram_tile_bytes(map->kernel, m, width, 4) +
                                      4.0 * KREIN_TILE * R + 4 * d) +
                 3 * krein__tables_bytes(map->kernel, map->d) + 32768;
    out->flops = R * krein__gram_flops(map->kernel, map->d);
    out->fit_flops = 0;
}

krein_rows krein__map_landmarks(const krein_map *map) {
    return krein__matrix_rows(&((const krein_landmarks *)map->state)->rows);
}

/* Learners add up products of kernel values in float32; square: the mean of theirs on the
 * landmarks. */
static krein_status check_values(const krein_map *map, double square) {
    static const double MOST = 1e32;
    if (square <= MOST) return KREIN_OK;
    bool product = krein__kernel_all(map->kernel, krein__is_stationary); /* no matter of scale */
    return krein__fail(map->ctx, KREIN_EDATA,
                       "nystrom: kernel values on the landmarks are of the size %.3g, and products "
                       "of them too large for single precision; use %s, or `map=exact`",
                       sqrt(square), product ? "fewer columns (`ignore`)" : "`scale=standard`");
}

krein_status krein__landmarks_values(const krein_map *map, double *k, double *square) {
    krein_status st = KREIN_OK;
    int64_t m = map->R;
    krein_rows rows = krein__map_landmarks(map);
    TRY(krein__gram_full(map->ctx, map->kernel, &rows, &rows, k));
    *square = 0;
    for (int64_t i = 0; i < m * m; i++) *square += k[i] * k[i] / (double)(m * m);
    TRY(check_values(map, *square));
done:
    return st;
}
