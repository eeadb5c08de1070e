/* passes.c -- passes over features, there and back
 *
 * Products are float32 within a block of rows and added up in float64, over slices, strips and
 * blocks that depend on the sizes alone: the bits do not depend on threads, nor on whether features
 * are kept.
 *
 * A thread takes some rows, makes their scores, residuals and share of Z'R at once, so that the
 * features are read from memory once a pass and from the core's cache the second time. Few scores
 * are bound by that: there a matrix-vector product for each score is best, a GEMM would spend its
 * time on packing. Milliseconds for 1,920 rows of 2,048 features, out of cache, one thread (Zen 4):
 *
 *   scores                             1      3      5      7     10     26     58
 *   products with vectors, fused     1.3    2.3    3.3    4.3    6.2   15.7   33.8
 *   GEMM, fused (120 rows)           3.3    4.4    4.5    5.5    5.2    8.1   15.5
 *   GEMM, by rows, then by columns   5.3    7.0    7.2    8.1    7.4   11.2   19.7
 *
 * One score reads its features at 12 GB/s on a core on which reading alone reaches 20. Features of
 * 16 bits are multiplied as they are (num/rounded.c), or widened in the core's cache for a GEMM.
 * Rows that are not kept are made where they are needed, if they can be made a few at a time: they
 * do not leave the core's cache (200,000 rows with 8,192 landmarks: 0.6 s a pass on two cores of a
 * Zen 5, of which 0.4 s are inner products; 0.9 s with whole blocks, 0.2 s of what is kept).
 */
#include "solve/passes.h"

#include "num/blas.h"
#include "num/rounded.h"

#include <omp.h>
#include <string.h>

/* Up to so many scores, each by itself; columns that one thread adds up at a time. */
enum { FEW = 7, STRIP = 64 };

/* Rows that stay in a core's cache: their features take half a megabyte. More for a GEMM, which
 * packs the weights anew each time. */
static int64_t cached_rows(int64_t D, int64_t k) {
    int64_t rows = ((int64_t)1 << 17) / krein__max(D, 1) / 8 * 8;
    return k > FEW ? KREIN_SLICE : krein__max(8, krein__min(rows, KREIN_SLICE));
}

/* For a thread and k scores or fewer. */
static int64_t strip_floats(int64_t D, int64_t k, bool slice) {
    return (slice ? KREIN_SLICE : cached_rows(D, k)) * D;
}

static int64_t slices(int64_t rows) { return (rows + KREIN_SLICE - 1) / KREIN_SLICE; }

krein_status krein__passes_begin(krein_features *t, int64_t k, krein_passes *s) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->n = t->n;
    s->D = t->D;
    s->k = s->most = k;
    s->rows = t->rows;
    NEW(s->w32, t->D * k);
    NEW(s->score, t->rows * k);
    NEW(s->wide, t->rows * k);
    NEW(s->part, slices(t->rows) * t->D * k);
    NEW(s->tail, slices(t->rows) * k);
    if (t->strip) NEW(s->strips, strip_floats(t->D, k, t->slices) * ctx->threads);
    if (t->rounded && k > FEW) NEW(s->widened, KREIN_SLICE * t->D * ctx->threads);
done:
    if (st != KREIN_OK) krein__passes_end(s);
    return st;
}

void krein__passes_end(krein_passes *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->w32);
    krein__free(s->ctx, s->score);
    krein__free(s->ctx, s->wide);
    krein__free(s->ctx, s->part);
    krein__free(s->ctx, s->tail);
    krein__free(s->ctx, s->widened);
    krein__free(s->ctx, s->strips);
    memset(s, 0, sizeof *s);
}

double krein__passes_bytes(int64_t D, int64_t k, int64_t rows, int threads) {
    double parts = (double)slices(rows), r = (double)rows, K = (double)k;
    return 4 * (double)D * K * (1 + parts) + 12 * r * K + 8 * parts * K + 1024 +
           (k > FEW ? 4.0 * KREIN_SLICE * (double)D * threads : 0);
}

double krein__passes_strip_bytes(int64_t D, int64_t k, int threads) {
    return 4.0 * (double)strip_floats(D, k, true) * threads + 64;
}

/* Some rows of a block: as they are, in 16 bits, or to be made. */
typedef struct some {
    const float *z;
    const int16_t *code; /* or NULL */
    const float *scale;
    krein_features *make; /* or NULL */
    float *place;         /* where they are kept, or NULL */
} some;

/* m rows of a block, made from row i on: in the thread's strip, or in their place. */
static const float *make_rows(const krein_passes *s, some rows, int64_t i, int64_t m) {
    krein_features *t = rows.make;
    float *to = s->strips + omp_get_thread_num() * strip_floats(s->D, s->most, t->slices);
    if (rows.place) to = rows.place + i * s->D;
    t->strip(t->state, i, m, to);
    return to;
}

/* m rows of a block from row i on, of which a slice from row `from` on is at `made`, or NULL. */
static some rows_from(const krein_passes *s, some rows, int64_t i, int64_t m, int64_t from,
                      const float *made) {
    if (rows.code) return (some){.code = rows.code + i * s->D, .scale = rows.scale + i};
    if (!rows.make) return (some){.z = rows.z + i * s->D};
    return (some){.z = made ? made + (i - from) * s->D : make_rows(s, rows, i, m)};
}

/* Scores (m x k) of m rows. */
static void forward(const krein_passes *s, int64_t m, some x, float *score) {
    int64_t D = s->D, k = s->k;
    if (k > FEW) krein__sgemm(false, true, m, k, D, 1, x.z, D, s->w32, D, 0, score, k);
    for (int64_t c = 0; k <= FEW && c < k; c++)
        if (x.code)
            krein__rounded_times(m, D, x.code, x.scale, s->w32 + c * D, score + c, k);
        else
            krein__sgemv(false, m, D, 1, x.z, D, s->w32 + c * D, 1, 0, score + c, k);
}

/* part (k x D) = residuals' Z, added to it when `more`. */
static void backward(const krein_passes *s, int64_t m, some x, const float *residual, bool more,
                     float *part) {
    int64_t D = s->D, k = s->k;
    if (k > FEW) krein__sgemm(true, false, k, D, m, 1, residual, k, x.z, D, more, part, D);
    if (k <= FEW && x.code && !more) memset(part, 0, (size_t)(k * D) * sizeof *part);
    for (int64_t c = 0; k <= FEW && c < k; c++)
        if (x.code)
            krein__rounded_add(m, D, x.code, x.scale, residual + c, k, part + c * D);
        else
            krein__sgemv(true, m, D, 1, x.z, D, residual + c, k, more, part + c * D, 1);
}

/* What is done in one pass. */
typedef struct sweep {
    krein_residuals *residuals;
    const void *state;
    krein_strides strides;
    double *out;
} sweep;

/* A slice of the rows of a block, which begins with row `first`, there and back. */
static void run_slice(krein_passes *s, const sweep *w, int64_t first, int64_t slice, some block,
                      int64_t n) {
    int64_t D = s->D, k = s->k, step = cached_rows(D, k), from = slice * KREIN_SLICE;
    bool whole = block.make && block.make->slices;
    const float *made = whole ? make_rows(s, block, from, n) : NULL;
    for (int64_t i = from; i < from + n; i += step) {
        int64_t m = krein__min(step, from + n - i), at = i * k;
        some x = rows_from(s, block, i, m, from, made);
        if (x.code && k > FEW) { /* GEMM wants floats */
            float *z = s->widened + omp_get_thread_num() * KREIN_SLICE * D;
            krein__rounded_rows(m, D, x.code, x.scale, z);
            x = (some){.z = z};
        }
        forward(s, m, x, s->score + at);
        w->residuals(w->state, first + i, m, s->score + at, s->wide + at, s->tail + slice * k);
        backward(s, m, x, s->score + at, i > from, s->part + slice * D * k);
    }
}

/* Columns j .. j + m - 1 of all shares, in order, to rows of the result. */
static void add_parts(const krein_passes *s, int64_t all, int64_t j, int64_t m, const sweep *w) {
    int64_t k = s->k, row = w->strides.row, column = w->strides.column;
    for (int64_t t = 0; t < all; t++)
        for (int64_t c = 0; c < k; c++) {
            const float *part = s->part + (t * k + c) * s->D + j;
            for (int64_t i = 0; i < m; i++) w->out[(j + i) * row + c * column] += (double)part[i];
        }
}

static void run_block(krein_passes *s, const sweep *w, int64_t first, some block, int64_t n) {
    int64_t D = s->D, all = slices(n);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(s->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < all; t++)
            run_slice(s, w, first, t, block, krein__min(KREIN_SLICE, n - t * KREIN_SLICE));
#pragma omp for schedule(static)
        for (int64_t j = 0; j < D; j += STRIP) add_parts(s, all, j, krein__min(STRIP, D - j), w);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

static krein_status open_block(krein_features *t, int64_t block, some *x, int64_t *n) {
    krein_status st = KREIN_OK;
    if (t->rounded && !t->exact) {
        TRY(krein__features_codes(t, block, &x->code, &x->scale, n));
    } else if (!t->strip || krein__features_there(t, block)) {
        TRY(krein__features_block(t, block, &x->z, n));
    } else {
        TRY(t->open(t->state, block));
        *n = krein__min(t->rows, t->n - block * t->rows);
        x->make = t;
        x->place = krein__features_place(t, block);
    }
done:
    return st;
}

krein_status krein__passes_run(krein_passes *s, krein_features *features,
                               krein_residuals *residuals, const void *state, krein_strides strides,
                               const double *v, double *out, double *sum) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k, n;
    sweep w = {residuals, state, strides, out};
    for (int64_t j = 0; j < D; j++)
        for (int64_t c = 0; c < k; c++) {
            s->w32[c * D + j] = (float)v[j * strides.row + c * strides.column];
            out[j * strides.row + c * strides.column] = 0;
        }
    memset(sum, 0, (size_t)k * sizeof *sum);
    for (int64_t b = 0; b < features->blocks; b++) {
        some x = {0};
        double start = krein__clock();
        TRY(open_block(features, b, &x, &n));
        memset(s->tail, 0, (size_t)(slices(n) * k) * sizeof *s->tail);
        run_block(s, &w, b * s->rows, x, n);
        if (x.place) krein__features_placed(features, krein__clock() - start - features->waited);
        for (int64_t i = 0; i < slices(n) * k; i++) sum[i % k] += s->tail[i];
        TRY(krein__poll(s->ctx));
    }
    s->count++;
done:
    return st;
}
