/* scored_rows.c -- rows by which a model is put into a few bits, and its scores on them
 *
 * A sample of the data, encoded as prediction does it. Without data: random rows, N(0, 1) in each
 * encoded column, and of kernel values the rows that they are taken at among them. */
#include "export/scored_rows.h"

#include "base/rng.h"
#include "export/source.h"
#include "num/order.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2000, FAR = 4 };

static krein_status random_rows(krein_ctx *ctx, const krein_model *m, krein_scored_rows *c) {
    krein_status st = KREIN_OK;
    krein_rng g = {1, KREIN_STREAM_START};
    const krein_encoding *e = &m->encoding;
    double clip = krein__encoding_clips(e) ? (double)e->clip : INFINITY;
    c->n = ROWS;
    NEW(c->x, c->n * c->d);
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->d; j++) {
            double v = krein__rng_normal(g, (uint64_t)i, (uint64_t)j);
            v = fmax(-clip, fmin(clip, v)) * (e->metric ? (double)e->metric[j] : 1);
            c->x[i * c->d + j] = (float)v;
        }
    if (krein__map_traits(m->map) & (KREIN_MAP_DUAL | KREIN_MAP_VALUES)) {
        krein_rows rows = krein__map_landmarks(m->map);
        int64_t some = krein__min(rows.n, ROWS);
        for (int64_t i = 0; i < some; i++)
            krein__row_copy(&rows, i * rows.n / some, c->x + i * c->d);
    }
    for (int64_t i = 0; i < c->n * c->d; i++)
        c->most[i % c->d] = fmaxf(c->most[i % c->d], fabsf(c->x[i]));
done:
    return st;
}

/* Rows of the data, encoded as prediction does it: a sample of all of them, each as likely as any
 * other, and the largest size of each column over all. */
static krein_status data_rows(krein_ctx *ctx, const krein_model *m, krein_data *data,
                              krein_scored_rows *c) {
    krein_status st = KREIN_OK;
    krein_stream *s = NULL;
    krein_block block;
    krein_rng g = {1, KREIN_STREAM_START};
    int64_t seen = 0;
    float *row = NULL;
    NEW(c->x, ROWS * c->d);
    NEW(row, c->d);
    TRY(krein__data_match(data, &m->encoding, false));
    TRY(krein__stream_open(data, &m->encoding, -1, &s));
    for (;;) {
        TRY(krein__stream_next(s, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n; i++) {
            if (block.dropped && block.dropped[i]) continue;
            int64_t to = seen++;
            krein__row_copy(&block.x, i, row);
            for (int64_t j = 0; j < c->d; j++) c->most[j] = fmaxf(c->most[j], fabsf(row[j]));
            if (to >= ROWS) to = (int64_t)(krein__rng_bits(g, (uint64_t)to, 0) % (uint64_t)seen);
            if (to < ROWS) memcpy(c->x + to * c->d, row, (size_t)c->d * sizeof *row);
        }
    }
    c->n = krein__min(seen, ROWS);
    if (c->n == 0) st = krein__fail(ctx, KREIN_EDATA, "the calibration data have no rows");
done:
    krein__free(ctx, row);
    krein__stream_close(s);
    return st;
}

/* Scores of the model on them. */
static krein_status look(krein_ctx *ctx, const krein_model *m, krein_scored_rows *c) {
    krein_status st = KREIN_OK;
    NEW(c->f, c->n * c->k);
    TRY(krein__source_try(ctx, m, c->n, c->x, c->f));
    for (int64_t e = 0; e < c->n * c->k; e++) c->f[e] -= m->intercept[e % c->k];
done:
    return st;
}

krein_status krein__scored_rows_cut(krein_ctx *ctx, krein_scored_rows *c, bool *any) {
    krein_status st = KREIN_OK;
    double *size = NULL;
    *any = false;
    NEW(size, c->n);
    for (int64_t j = 0; j < c->d; j++) {
        for (int64_t i = 0; i < c->n; i++) size[i] = fabs((double)c->x[i * c->d + j]);
        double usual = FAR * krein__order_statistic(c->n, size, 1 + (c->n - 1) * 99 / 100);
        if (!(usual > 0) || usual >= (double)c->most[j]) continue;
        c->most[j] = (float)usual;
        *any = true;
    }
done:
    krein__free(ctx, size);
    return st;
}

krein_status krein__scored_rows_make(krein_ctx *ctx, const krein_model *m, krein_data *data,
                                     krein_scored_rows *c) {
    krein_status st = KREIN_OK;
    c->d = m->encoding.d;
    c->k = m->k;
    ZNEW(c->most, c->d);
    TRY(data ? data_rows(ctx, m, data, c) : random_rows(ctx, m, c));
    TRY(look(ctx, m, c));
done:
    return st;
}

void krein__scored_rows_clear(krein_ctx *ctx, krein_scored_rows *c) {
    krein__free(ctx, c->x);
    krein__free(ctx, c->most);
    krein__free(ctx, c->f);
}
