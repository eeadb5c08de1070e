/* pcg_rows.c -- sums over the rows of pcg.c, block by block: one pass over the features. */
#include "solve/pcg_rows.h"

#include "num/rounded.h"
#include "solve/passes.h"

#include <math.h>
#include <string.h>

/* Sums of w z and w z^2 of a block. */
static void add_block(const krein_pcg_rows *rows, int64_t first, int64_t n, const float *z,
                      double *sum, double *square) {
    enum { STRIP = 256 };
    int64_t D = rows->features->D;
#pragma omp parallel for num_threads(rows->features->ctx->threads) schedule(static)
    for (int64_t j = 0; j < D; j += STRIP)
        for (int64_t i = 0; i < n; i++) {
            double w = krein__pcg_weight(rows, first + i);
            for (int64_t a = j; a < krein__min(j + STRIP, D); a++) {
                double v = (double)z[i * D + a];
                sum[a] += w * v;
                square[a] += w * v * v;
            }
        }
}

/* Codes of a block, and room for what add_codes makes of them. */
typedef struct codes {
    const int16_t *code;
    const float *scale;
    float *part;    /* D of each slice */
    float *weight;  /* of each row */
    double *square; /* of each row */
} codes;

/* Of a block of a rounded table; the squares of all features together. */
static void add_codes(const krein_pcg_rows *rows, int64_t first, int64_t n, const codes *c,
                      double *sum, double *square) {
    int64_t D = rows->features->D, slices = (n + KREIN_SLICE - 1) / KREIN_SLICE;
    int threads = rows->features->ctx->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t t = 0; t < slices; t++) {
        int64_t i = t * KREIN_SLICE, m = krein__min(KREIN_SLICE, n - i);
        const int16_t *code = c->code + i * D;
        for (int64_t r = i; r < i + m; r++)
            c->weight[r] = (float)krein__pcg_weight(rows, first + r);
        memset(c->part + t * D, 0, (size_t)D * sizeof *c->part);
        krein__rounded_add(m, D, code, c->scale + i, c->weight + i, 1, c->part + t * D);
        krein__rounded_squares(m, D, code, c->scale + i, c->square + i);
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < D; j++)
        for (int64_t t = 0; t < slices; t++) sum[j] += (double)c->part[t * D + j];
    for (int64_t i = 0; i < n; i++) *square += krein__pcg_weight(rows, first + i) * c->square[i];
}

/* Those of a sample (ascending `index`) that are in a block, to z: from floats, or NULL and codes.
 * *at: the first of them, moved to the first of the next block. */
static void take_rows(const krein_features *t, int64_t block, const float *from, const codes *c,
                      int64_t sample, const int64_t *index, int64_t *at, float *z) {
    int64_t D = t->D, first = block * t->rows, begin = *at, end = begin;
    while (end < sample && index[end] < first + t->rows) end++;
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t r = begin; r < end; r++) {
        int64_t i = index[r] - first;
        if (from)
            memcpy(z + r * D, from + i * D, (size_t)D * sizeof *z);
        else
            krein__rounded_rows(1, D, c->code + i * D, c->scale + i, z + r * D);
    }
    *at = end;
}

krein_status krein__pcg_gather(const krein_pcg_rows *rows, int64_t sample, const int64_t *index,
                               float *z) {
    krein_features *t = rows->features;
    krein_status st = KREIN_OK;
    const float *block = NULL;
    for (int64_t at = 0, n; at < sample;) {
        int64_t b = index[at] / t->rows;
        TRY(krein__features_block(t, b, &block, &n));
        take_rows(t, b, block, NULL, sample, index, &at, z);
        TRY(krein__poll(t->ctx));
    }
done:
    return st;
}

krein_status krein__pcg_sums(const krein_pcg_rows *rows, double *sum, double *square,
                             int64_t sample, const int64_t *index, float *z) {
    krein_features *t = rows->features;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    bool rounded = t->rounded && !t->exact;
    int64_t D = t->D, at = 0, n;
    const float *block = NULL;
    codes c = {0};
    double *each = NULL; /* D: squares of one feature */
    memset(sum, 0, (size_t)D * sizeof *sum);
    *square = 0;
    ZNEW(each, D);
    if (rounded) {
        NEW(c.part, (t->rows + KREIN_SLICE - 1) / KREIN_SLICE * D);
        NEW(c.weight, t->rows);
        NEW(c.square, t->rows);
    }
    for (int64_t b = 0; b < t->blocks; b++) {
        int64_t first = b * t->rows;
        if (rounded) {
            TRY(krein__features_codes(t, b, &c.code, &c.scale, &n));
            add_codes(rows, first, n, &c, sum, square);
        } else {
            TRY(krein__features_block(t, b, &block, &n));
            add_block(rows, first, n, block, sum, each);
        }
        take_rows(t, b, rounded ? NULL : block, &c, sample, index, &at, z);
        TRY(krein__poll(ctx));
    }
    for (int64_t j = 0; j < D; j++) *square += each[j];
done:
    krein__free(ctx, each);
    krein__free(ctx, c.part);
    krein__free(ctx, c.weight);
    krein__free(ctx, c.square);
    return st;
}

double krein__pcg_noise(const krein_pcg_rows *rows) {
    const krein_features *t = rows->features;
    double sum = 0, all = 0;
    for (int64_t i = 0; t->rounded && i < t->n; i++) {
        double w = krein__pcg_weight(rows, i), scale = (double)t->scale[i];
        sum += w * scale * scale / 12; /* the variance of what rounding takes off */
        all += w;
    }
    return all > 0 ? sqrt(sum / all) : 0;
}
