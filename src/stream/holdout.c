/* holdout.c -- rows that are kept out of training: a share of every class, or whole groups; and of
 * the others a fifth for calibration, whatever their classes (an order statistic of what the model
 * says of them covers new rows only if they are drawn like these), or whole groups.
 *
 * Which rows they are follows from the seed, the labels and the groups of all rows, so that it is
 * known only when all have been read; where processes share them, each gets the labels and groups
 * of all (13 bytes a row). */
#include "stream/scan.h"
#include "dist/dist.h"

#include <math.h>
#include <string.h>

/* An array of the rows of this process becomes that of all rows. */
static krein_status join(krein_ctx *ctx, int64_t n, size_t size, void *array) {
    char *mine, *all = NULL;
    int64_t count;
    memcpy(&mine, array, sizeof mine);
    krein_status st = krein__comm_join(ctx, mine, n, size, &all, &count);
    if (st != KREIN_OK) return st;
    krein__free(ctx, mine);
    memcpy(array, &all, sizeof all);
    return KREIN_OK;
}

static krein_status gather_rows(krein_scan *s) {
    krein_ctx *ctx = s->ctx;
    krein_data *data = s->data;
    krein_status st = KREIN_OK;
    if (!data->share.on) return KREIN_OK;
    TRY(join(ctx, s->rows, sizeof *s->label, &s->label));
    if (data->options.group) TRY(join(ctx, s->rows, sizeof *s->group, &s->group));
    TRY(join(ctx, s->rows, sizeof *data->part, &data->part));
    s->rows = data->nrows;
done:
    return st;
}

/* ---- parts -------------------------------------------------------------- */

static krein_rng split_stream(uint64_t seed, int64_t of) {
    return krein__substream(seed, KREIN_STREAM_SPLIT, of + 1);
}

/* The training rows by class or group: those of key k are row[start[k]] .. row[start[k + 1] - 1],
 * ascending. */
typedef struct buckets {
    int64_t keys, *start, *row;
} buckets;

/* key: of every row, in 0 .. keys - 1; < 0: it has none. */
static krein_status sort_rows(const krein_scan *s, const int32_t *key, int64_t keys, buckets *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const uint8_t *part = s->data->part;
    int64_t *next = NULL;
    *out = (buckets){.keys = keys};
    NEW(next, keys);
    ZNEW(out->start, keys + 1);
    for (int64_t i = 0; i < s->rows; i++)
        if (part[i] == KREIN_PART_TRAIN && key[i] >= 0) out->start[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++) out->start[k + 1] += out->start[k];
    NEW(out->row, krein__max(1, out->start[keys]));
    memcpy(next, out->start, (size_t)keys * sizeof *next);
    for (int64_t i = 0; i < s->rows; i++)
        if (part[i] == KREIN_PART_TRAIN && key[i] >= 0) out->row[next[key[i]]++] = i;
done:
    krein__free(ctx, next);
    return st;
}

static void buckets_clear(krein_ctx *ctx, buckets *b) {
    krein__free(ctx, b->start);
    krein__free(ctx, b->row);
}

static krein_status hold_by_class(krein_scan *s, const krein_encoding *e, double fraction,
                                  uint64_t seed) {
    krein_ctx *ctx = s->ctx;
    krein_data *data = s->data;
    krein_status st = KREIN_OK;
    int64_t *chosen = NULL;
    int32_t *class = NULL;
    buckets rows = {0};
    bool many = e->task == KREIN_TASK_CLASSIFICATION;
    NEW(chosen, s->rows);
    ZNEW(class, s->rows);
    for (int64_t i = 0; many && i < s->rows; i++)
        if (data->part[i] == KREIN_PART_TRAIN)
            class[i] = (int32_t)krein__class_of(e, data->label_map, s->label[i]);
    TRY(sort_rows(s, class, many ? e->nclass : 1, &rows));
    for (int64_t c = 0; c < rows.keys; c++) {
        const int64_t *of = rows.row + rows.start[c], n = rows.start[c + 1] - rows.start[c];
        int64_t k = krein__min((int64_t)rint(fraction * (double)n), n - 1);
        if (k < 1) continue;
        if (data->nested)
            krein__rng_permute(split_stream(seed, c), n, chosen); /* the first k of an order */
        else
            krein__rng_choose(split_stream(seed, c), n, k, chosen);
        for (int64_t i = 0; i < k; i++) data->part[of[chosen[i]]] = KREIN_PART_HELD;
    }
done:
    krein__free(ctx, chosen);
    krein__free(ctx, class);
    buckets_clear(ctx, &rows);
    return st;
}

/* Whole groups, in a seeded order, until there are so many rows. The last group stays. */
static krein_status hold_by_group(krein_scan *s, double wanted, int part, krein_rng stream) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t *order = NULL, groups = 0, left = 0, held = 0;
    buckets rows = {0};
    for (int64_t i = 0; i < s->rows; i++) groups = krein__max(groups, s->group[i] + 1);
    NEW(order, groups);
    krein__rng_permute(stream, groups, order);
    TRY(sort_rows(s, s->group, groups, &rows));
    for (int64_t g = 0; g < groups; g++) left += rows.start[g + 1] > rows.start[g];
    for (int64_t g = 0; g < groups && left > 1 && (double)held < wanted; g++) {
        int64_t from = rows.start[order[g]], to = rows.start[order[g] + 1];
        for (int64_t k = from; k < to; k++, held++) s->data->part[rows.row[k]] = (uint8_t)part;
        left -= to > from;
    }
done:
    krein__free(ctx, order);
    buckets_clear(ctx, &rows);
    return st;
}

/* ---- calibration -------------------------------------------------------- */

int64_t krein__calibration_rows(int64_t n) {
    enum { SHARE = 5, LEAST = 30, MOST = 5000 };
    return n < 2 * LEAST ? 0 : krein__min(MOST, krein__max(LEAST, n / SHARE));
}

bool krein__calibrates(const krein_data *data, const krein_encoding *e) {
    return data->calibrate >> e->task & 1;
}

static krein_status keep_for_calibration(krein_scan *s, uint64_t seed) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    uint8_t *part = s->data->part;
    krein_rng stream = krein__substream(seed, KREIN_STREAM_SPLIT, KREIN_SPLIT_CALIBRATE);
    int64_t *row = NULL, *chosen = NULL, n = 0;
    NEW(row, krein__max(1, s->rows));
    for (int64_t i = 0; i < s->rows; i++)
        if (part[i] == KREIN_PART_TRAIN) row[n++] = i;
    int64_t k = krein__calibration_rows(n);
    if (k == 0) goto done;
    if (s->data->options.group) {
        st = hold_by_group(s, (double)k, KREIN_PART_CALIBRATE, stream);
        goto done;
    }
    NEW(chosen, k);
    krein__rng_choose(stream, n, k, chosen);
    for (int64_t i = 0; i < k; i++) part[row[chosen[i]]] = KREIN_PART_CALIBRATE;
done:
    krein__free(ctx, row);
    krein__free(ctx, chosen);
    return st;
}

krein_status krein__hold_out(krein_scan *s, const krein_encoding *e, double fraction,
                             uint64_t seed) {
    krein_data *data = s->data;
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_raw_pass pass = {0};
    krein_raw *raw;
    int64_t ld, row = 0;
    bool drop = data->options.missing == KREIN_MISSING_DROP;
    ZNEW(data->part, krein__max(1, s->rows));
    TRY(krein__raw_begin(&pass, data));
    for (;;) {
        TRY(krein__raw_next(&pass, &raw, &ld));
        if (!raw) break;
        for (int64_t i = 0; i < raw->n; i++, row++)
            data->part[row] = (uint8_t)krein__raw_part(data, raw, ld, i, drop);
    }
    krein__raw_end(&pass);
    TRY(gather_rows(s));
    if (fraction > 0)
        TRY(data->options.group ? hold_by_group(s, fraction * (double)s->all_kept, KREIN_PART_HELD,
                                                split_stream(seed, 0))
                                : hold_by_class(s, e, fraction, seed));
    if (krein__calibrates(data, e)) TRY(keep_for_calibration(s, seed));
    if (data->share.on)
        memmove(data->part, data->part + data->share.first, (size_t)data->share.rows);
    int64_t nnum, ncat;
    krein__feature_counts(data, &nnum, &ncat);
    TRY(krein__stats_begin(ctx, &s->stats, nnum, ncat, data->reader->sparse));
    memset(s->label_sum, 0, sizeof s->label_sum);
    TRY(krein__raw_begin(&pass, data));
    for (row = 0;;) {
        TRY(krein__raw_next(&pass, &raw, &ld));
        if (!raw) break;
        for (int64_t i = 0; i < raw->n; i++, row++) {
            data->here[data->part[row]]++;
            if (data->part[row] != KREIN_PART_TRAIN) continue;
            TRY(krein__stats_add(ctx, &s->stats, raw, ld, i));
            krein__sum_labels(s, raw, i);
        }
    }
done:
    krein__raw_end(&pass);
    return st;
}
