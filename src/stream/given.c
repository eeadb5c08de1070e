/* given.c -- rows that a user names in a file of their own: rows in the columns of the data, or one
 * column of row numbers. */
#include "stream/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t feature_columns(const krein_encoding *e) {
    int64_t n = 0;
    for (int64_t j = 0; j < e->ninput; j++) n += e->input[j].role == KREIN_ROLE_FEATURE;
    return e->ninput ? n : e->d;
}

static krein_status too_many(krein_ctx *ctx, const char *path, int64_t n, int64_t most) {
    return krein__fail(ctx, KREIN_EARG, "%s has %lld rows or more, D = %lld is too few: raise it",
                       path, (long long)n, (long long)most);
}

/* ---- row numbers -------------------------------------------------------- */

/* The streamed row that has this number in the file. */
static krein_status streamed(const krein_data *data, const char *path, double number,
                             const int64_t *rank, int64_t *out) {
    krein_ctx *ctx = data->ctx;
    if (!(number >= 1 && number <= (double)data->nrows) || number != rint(number))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: %.17g is no row of %s; rows are numbered from 1 to %lld", path,
                           number, data->name, (long long)data->nrows);
    int64_t row = (int64_t)number - 1;
    if (data->part && data->part[row] != KREIN_PART_TRAIN)
        return krein__fail(ctx, KREIN_EDATA, "%s: row %lld of %s is %s; name another", path,
                           (long long)row + 1, data->name,
                           data->part[row] == KREIN_PART_HELD ||
                                   data->part[row] == KREIN_PART_CALIBRATE
                               ? "held out"
                               : "left out");
    *out = rank ? rank[row] : row;
    return KREIN_OK;
}

/* How many training rows are before each row; NULL where all are training rows. */
static krein_status make_rank(const krein_data *data, int64_t **out) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    int64_t have = 0;
    *out = NULL;
    if (!data->part) goto done;
    NEW(*out, data->nrows);
    for (int64_t i = 0; i < data->nrows; i++) {
        (*out)[i] = have;
        have += data->part[i] == KREIN_PART_TRAIN;
    }
done:
    return st;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static krein_status read_numbers(krein_reader *r, const krein_data *data, int64_t most,
                                 int64_t *index, int64_t *count) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    krein_raw raw = {0};
    int64_t *rank = NULL, n = 0;
    r->column[0].role = KREIN_ROLE_LABEL; /* labels are read as doubles */
    TRY(make_rank(data, &rank));
    TRY(krein__reader_begin(r));
    for (;;) {
        TRY(krein__reader_next(r, &raw));
        if (raw.n == 0) break;
        if (n + raw.n > most) {
            st = too_many(ctx, r->path, n + raw.n, most);
            goto done;
        }
        for (int64_t i = 0; i < raw.n; i++)
            TRY(streamed(data, r->path, raw.label[i], rank, &index[n++]));
    }
    qsort(index, (size_t)n, sizeof *index, ascending);
    *count = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || index[i] != index[i - 1]) index[(*count)++] = index[i];
done:
    krein__raw_clear(ctx, &raw);
    krein__free(ctx, rank);
    return st;
}

static krein_status by_number(krein_stream *s, krein_reader *r, int64_t most, krein_matrix *out) {
    const krein_data *data = krein__stream_data(s);
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, n = 0;
    if (r->column[0].text)
        return krein__fail(
            ctx, KREIN_EDATA,
            "%s has one column of text; it takes rows with the columns of %s, or one "
            "column of row numbers",
            r->path, data->name);
    if (data->share.on && data->part)
        return krein__fail(
            ctx, KREIN_EARG,
            "%s: row numbers of rows of which some are held out are for one process; "
            "give the rows themselves",
            r->path);
    if (!data->part && data->count[KREIN_PART_DROPPED] + data->count[KREIN_PART_UNLABELLED] > 0)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: row numbers are not clear where incomplete rows of %s are dropped "
                           "or have no label; give the rows themselves",
                           r->path, data->name);
    NEW(index, most);
    TRY(read_numbers(r, data, most, index, &n));
    if (n == 0)
        st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row number", r->path);
    else
        st = krein__stream_gather(s, index, n, out, NULL, NULL, NULL);
done:
    krein__free(ctx, index);
    return st;
}

/* ---- rows --------------------------------------------------------------- */

static krein_status count_rows(krein_stream *s, int64_t *n) {
    krein_status st;
    krein_block b;
    *n = 0;
    while ((st = krein__stream_next(s, &b)) == KREIN_OK && b.x.n > 0) *n += b.x.n;
    return st;
}

static krein_status by_value(krein_data *given, const krein_encoding *e, int64_t most,
                             krein_matrix *out) {
    krein_ctx *ctx = given->ctx;
    krein_status st = KREIN_OK;
    krein_stream *s = NULL;
    int64_t *index = NULL, n;
    TRY(krein__data_match(given, e, false));
    TRY(krein__stream_open(given, e, KREIN_PART_TRAIN, &s));
    TRY(count_rows(s, &n));
    if (n == 0 || n > most) {
        st = n ? too_many(ctx, given->name, n, most)
               : krein__fail(ctx, KREIN_EDATA, "%s: there is no row", given->name);
        goto done;
    }
    NEW(index, n);
    for (int64_t i = 0; i < n; i++) index[i] = i;
    TRY(krein__stream_gather(s, index, n, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    krein__stream_close(s);
    return st;
}

krein_status krein__rows_given(krein_stream *s, const char *path, int64_t most, krein_matrix *out) {
    const krein_encoding *e = krein__stream_encoding(s);
    krein_data *given = NULL;
    *out = (krein_matrix){0};
    krein_status st = krein_data_open(krein__stream_data(s)->ctx, path, NULL, &given);
    if (st != KREIN_OK) return st;
    krein_reader *r = given->reader;
    bool numbers = !r->sparse && r->ncolumn == 1 && (e->sparse || feature_columns(e) > 1);
    st = numbers ? by_number(s, r, most, out) : by_value(given, e, most, out);
    krein_data_close(given);
    return st;
}
