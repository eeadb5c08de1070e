/* spread.c -- the distances of the rows: all a map on [0, R] needs to know of the data.
 *
 * R = 2 max |x - c| bounds every distance, whatever c is (the mean of the first block), and costs
 * one pass. Quantiles come from the pairs of a sample. */
#include "map/signed.h"
#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 100 };

typedef struct walk {
    int64_t d, chosen, next, kept; /* rows of the sample: wanted, the next of them, copied */
    int64_t *index;
    double *centre, *row, *sample; /* d, d, SAMPLE x d */
    double reach;                  /* max |x - c|^2 */
    bool unit;                     /* all rows, or all but some of zeros, have length one */
    bool zero;                     /* there are rows of zeros */
} walk;

static void centre_of(walk *w, const krein_rows *x) {
    memset(w->centre, 0, (size_t)w->d * sizeof *w->centre);
    for (int64_t i = 0; i < x->n; i++) {
        krein__row_copy_double(x, i, w->row);
        for (int64_t j = 0; j < w->d; j++) w->centre[j] += w->row[j] / (double)x->n;
    }
}

static void visit(walk *w, const krein_rows *x, int64_t i, int64_t number) {
    double square = 0, off = 0;
    krein__row_copy_double(x, i, w->row);
    for (int64_t j = 0; j < w->d; j++) {
        double v = w->row[j], e = v - w->centre[j];
        square += v * v;
        off += e * e;
    }
    w->zero = w->zero || square == 0;
    w->unit = w->unit && (square == 0 || fabs(square - 1) < 2e-4);
    w->reach = fmax(w->reach, off);
    while (w->next < w->chosen && w->index[w->next] < number) w->next++;
    if (w->next < w->chosen && w->index[w->next] == number)
        memcpy(w->sample + w->kept++ * w->d, w->row, (size_t)w->d * sizeof *w->row);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void quantiles(const walk *w, double *distance, krein_spread *out) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < w->kept; i++)
        for (int64_t j = 0; j < i; j++) {
            double sum = 0;
            for (int64_t l = 0; l < w->d; l++) {
                double e = w->sample[i * w->d + l] - w->sample[j * w->d + l];
                sum += e * e;
            }
            distance[pairs++] = sqrt(sum);
        }
    qsort(distance, (size_t)pairs, sizeof *distance, ascending);
    for (int64_t q = 0; q < KREIN_DISTANCES; q++)
        out->z[q] = pairs ? distance[(2 * q + 1) * pairs / (2 * KREIN_DISTANCES)] : 0;
}

static bool no_dot(const krein_kernel_class *c) { return c->family != KREIN_FAMILY_DOT; }

static krein_status needs_unit(krein_map *map, const walk *w) {
    krein_ctx *ctx = map->ctx;
    char *text = krein__kernel_text(ctx, map->kernel);
    if (!text) return ctx->status;
    krein_status st =
        w->unit ? krein__fail(ctx, KREIN_EDATA,
                              "%s: %s depends on more than the distance, but for rows of length "
                              "one, and some rows are all zeros; leave those out, or use nystrom",
                              map->cls->cls.name, text)
                : krein__fail(ctx, KREIN_EDATA,
                              "%s: %s depends on more than the distance, and the rows are not of "
                              "length one, where it would not; pass `scale=unit`",
                              map->cls->cls.name, text);
    krein__free(ctx, text);
    return st;
}

/* Of the first rows of all. */
static krein_status first_centre(walk *w, krein_stream *rows) {
    krein_status st = KREIN_OK;
    krein_block block;
    TRY(krein__stream_rewind(rows));
    TRY(krein__stream_next(rows, &block));
    centre_of(w, &block.x);
    TRY(krein__stream_from_root(rows, w->centre, w->d * (int64_t)sizeof *w->centre));
done:
    return st;
}

/* The processes' rows of the sample behind each other, and what holds for all rows. */
static krein_status put_together(krein_stream *rows, walk *w) {
    krein_status st = KREIN_OK;
    double *all = NULL;
    bool flags[2] = {!w->unit, w->zero};
    size_t row = (size_t)w->d * sizeof *w->sample;
    TRY(krein__stream_join(rows, w->sample, w->kept, row, &all, &w->kept));
    memcpy(w->sample, all, (size_t)w->kept * row);
    TRY(krein__stream_any(rows, 2, flags));
    w->unit = !flags[0];
    w->zero = flags[1];
    TRY(krein__stream_most(rows, 1, &w->reach));
done:
    krein__free(krein__stream_data(rows)->ctx, all);
    return st;
}

krein_status krein__spread(krein_map *map, krein_stream *rows, int64_t n, krein_spread *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_block block;
    double *distance = NULL;
    walk w = {.d = map->d, .unit = true, .chosen = krein__min(n, SAMPLE)};
    NEW(w.index, SAMPLE);
    NEW(w.centre, w.d);
    NEW(w.row, w.d);
    NEW(w.sample, SAMPLE * w.d);
    NEW(distance, SAMPLE * (SAMPLE - 1) / 2);
    krein__rng_choose((krein_rng){map->seed, KREIN_STREAM_SAMPLE}, n, w.chosen, w.index);
    TRY(first_centre(&w, rows));
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n; i++) visit(&w, &block.x, i, block.first + i);
        TRY(krein__poll(ctx));
    }
    if (krein__stream_shared(rows)) TRY(put_together(rows, &w));
    quantiles(&w, distance, out);
    out->unit = w.unit && !w.zero;
    out->R = 2 * sqrt(w.reach);
    if (out->unit) out->R = fmin(out->R, 2);
    if (!(out->R > 1e-6)) out->R = 1; /* all rows are one */
    if (!out->unit && !krein__kernel_all(map->kernel, no_dot)) st = needs_unit(map, &w);
done:
    krein__free(ctx, w.index);
    krein__free(ctx, w.centre);
    krein__free(ctx, w.row);
    krein__free(ctx, w.sample);
    krein__free(ctx, distance);
    return st;
}
