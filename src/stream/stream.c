/* stream.c -- encoded compute blocks from raw rows.
 *
 * raw batches (memory or file) -> rows of the wanted part -> encode and scale -> blocks of a fixed
 * number of rows counted from the first one. Where batches end has no influence.
 */
#include "base/threads.h"
#include "stream/data.h"
#include "stream/memory.h"
#include "dist/dist.h"
#include "encode/finish.h"
#include "encode/labels.h"

#include <math.h>
#include <string.h>

/* Where a raw numeric or text cell goes. */
typedef struct slot {
    int64_t at;    /* first encoded column, -1: it is left out */
    int64_t codes; /* encoded columns of a text, 0: a number */
    int64_t flag;  /* encoded column that says whether the cell is missing, -1: none */
    krein_texts texts;
    const krein_target_means *target;
    double shift; /* of a number */
} slot;

struct krein_stream {
    krein_data *data;
    krein_ctx *ctx;
    const krein_encoding *e;
    int part;
    int64_t rows; /* of a block */
    slot *num, *cat;
    int64_t nnum, ncat;
    bool contiguous; /* numeric cell j is encoded column j */
    bool clips;      /* in this block */
    float *blank;    /* d: the scaled row of all-zero indicators */

    krein_raw_pass pass;
    krein_raw *raw;
    int64_t ld, at, file_row, streamed;
    krein_mark from, labels; /* of the last batch */
    int64_t words;           /* text labels of a scanned file: how many there are; else -1 */

    float *x;
    uint8_t *byte; /* of a block, where krein__stream_in_bytes */
    float *tile;   /* threads x KREIN_TILE x d, once a full metric needs it */
    double *label, *weight;
    int32_t *group;
    bool *dropped;
    char **id;
    int64_t *pick; /* rows of the batch that go into the block */
    krein_matrix csr;
    int64_t csr_room;
};

/* ---- set-up ------------------------------------------------------------- */

static krein_status make_slots(krein_stream *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = s->e;
    const krein_reader *r = s->data->reader;
    int64_t columns = r->ncolumn;
    NEW(s->num, columns * KREIN_READ_PARTS);
    NEW(s->cat, columns);
    if (e->ninput == 0) {
        for (int64_t j = 0; j < columns; j++) {
            if (r->column[j].role != KREIN_ROLE_FEATURE) continue;
            s->num[s->nnum] = (slot){.at = s->nnum, .flag = -1};
            s->nnum++;
        }
    } else {
        int64_t k = 0; /* the training column, when matched by position */
        for (int64_t j = 0; j < columns; j++) {
            const krein_column *c = &r->column[j];
            if (c->role != KREIN_ROLE_FEATURE) continue;
            if (s->data->scanned)
                k = j;
            else if (s->data->by_name)
                for (k = 0; strcmp(e->input[k].name, c->name) != 0;) k++;
            else
                while (e->input[k].role != KREIN_ROLE_FEATURE) k++;
            const krein_input *in = &e->input[k];
            int64_t flag = in->indicator ? in->at + krein__input_values(in) : -1;
            slot to = {in->at,      c->text ? krein__input_values(in) : 0,
                       flag,        in->texts,
                       &in->target, in->shift};
            if (c->text) s->cat[s->ncat++] = to;
            for (int64_t p = 0; !c->text && p < krein__reading_parts(c->reading); p++) {
                s->num[s->nnum++] = to;
                if (to.at >= 0) to.at++;
                to.flag = -1; /* once will do */
            }
            k++;
        }
    }
    s->contiguous = s->ncat == 0 && s->nnum == e->d;
    for (int64_t j = 0; j < s->nnum; j++) s->contiguous = s->contiguous && s->num[j].at == j;
done:
    return st;
}

double krein__stream_bytes(const krein_data *data, const krein_encoding *e) {
    double rows = (double)krein__block_rows(e->d), d = e->sparse ? 0 : (double)e->d;
    return rows * ((e->image[0] > 0 ? 5 : 4) * d + 8 * (double)krein__max(1, data->nlabel) + 40) +
           64 * d + 16384;
}

krein_status krein__stream_open(krein_data *data, const krein_encoding *e, int part,
                                krein_stream **out) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    krein_stream *s = NULL;
    *out = NULL;
    ZNEW(s, 1);
    s->data = data;
    s->ctx = ctx;
    s->e = e;
    s->part = part;
    s->rows = krein__block_rows(e->d);
    if (!e->sparse) {
        TRY(make_slots(s));
        NEW(s->x, s->rows * e->d);
        if (e->image[0] > 0) NEW(s->byte, s->rows * e->d);
        NEW(s->blank, e->d);
        for (int64_t j = 0; j < e->d; j++) s->blank[j] = -e->centre[j] * e->factor[j];
    } else {
        NEW(s->csr.ptr, s->rows + 1);
        s->csr_room = 1024; /* rows without entries have arrays as well */
        NEW(s->csr.col, s->csr_room);
        NEW(s->csr.val, s->csr_room);
    }
    NEW(s->label, s->rows * krein__max(1, data->nlabel));
    NEW(s->weight, s->rows);
    NEW(s->group, s->rows);
    NEW(s->dropped, s->rows);
    NEW(s->pick, s->rows);
    if (data->options.id) ZNEW(s->id, s->rows);
    TRY(krein__stream_rewind(s));
    *out = s;
    return KREIN_OK;
done:
    krein__stream_close(s);
    return st;
}

/* The words of the label, where it is text; NULL: it is not. */
static const krein_dict *label_words(const krein_stream *s) {
    const krein_data *data = s->data;
    const krein_reader *from = data->labels ? data->labels : data->reader;
    if (!data->has_label || !s->e->label_text) return NULL;
    return &from->column[data->labels ? 0 : data->label_column].dict;
}

/* The number of this process's first row among the streamed ones. */
static int64_t first_row(const krein_stream *s) {
    return s->part < 0 ? s->data->share.first : s->data->before[s->part];
}

krein_status krein__stream_rewind(krein_stream *s) {
    krein_status st = krein__raw_begin(&s->pass, s->data);
    const krein_dict *words = label_words(s);
    s->raw = NULL;
    s->at = s->file_row = 0;
    s->streamed = first_row(s);
    s->from = s->labels = (krein_mark){0};
    /* The map from words to classes is made again from batch to batch where a file brings new
     * words: its batches are not read ahead. */
    bool known = s->data->scanned && !s->data->label_open;
    s->words = words && known ? words->n : -1;
    s->pass.alone = words && !known;
    return st;
}

void krein__stream_tell(const krein_stream *s, krein_place *out) {
    *out = (krein_place){s->file_row, s->streamed, s->from, s->labels};
}

krein_status krein__stream_seek(krein_stream *s, const krein_place *to) {
    krein_status st = krein__stream_rewind(s);
    if (st == KREIN_OK) st = krein__raw_seek(&s->pass, to->row, &to->from, &to->labels);
    s->file_row = to->row;
    s->streamed = to->streamed;
    return st;
}

static void free_ids(krein_stream *s) {
    for (int64_t i = 0; s->id && i < s->rows; i++) {
        krein__free(s->ctx, s->id[i]);
        s->id[i] = NULL;
    }
}

void krein__stream_close(krein_stream *s) {
    if (!s) return;
    krein_ctx *ctx = s->ctx;
    krein__raw_end(&s->pass);
    free_ids(s);
    krein__matrix_clear(ctx, &s->csr);
    void *all[] = {s->num,   s->cat,    s->blank, s->x,  s->byte,    s->tile,
                   s->label, s->weight, s->group, s->id, s->dropped, s->pick};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
    krein__free(ctx, s);
}

krein_data *krein__stream_data(const krein_stream *s) { return s->data; }
bool krein__stream_in_bytes(const krein_stream *s) {
    return s->byte && s->data->reader->in_bytes && s->contiguous && krein__encoding_bytes(s->e);
}
bool krein__stream_shared(const krein_stream *s) { return s && s->data->share.on; }
int krein__stream_root(const krein_stream *s) {
    return s->data->share.on && s->part >= 0 ? s->data->root[s->part] : 0;
}
const krein_encoding *krein__stream_encoding(const krein_stream *s) { return s->e; }
int64_t krein__stream_labels(const krein_stream *s) { return s->data->nlabel; }

void krein__stream_range(const krein_stream *s, int64_t *first, int64_t *end, int64_t *total) {
    const krein_data *data = s->data;
    *first = first_row(s);
    *end = *first + (s->part < 0 ? data->share.rows : data->here[s->part]);
    *total = s->part < 0 ? data->share.total : data->count[s->part];
}

krein_status krein__stream_changed(const krein_stream *s) {
    return krein__fail(s->ctx, KREIN_EIO,
                       "%s changed while it was read: it has other rows than at the first pass",
                       s->data->name);
}

/* ---- rows --------------------------------------------------------------- */

/* Says that a cell is missing. */
static void set_flag(const krein_encoding *e, int64_t at, float *x) {
    if (at >= 0) x[at] = (1 - e->centre[at]) * e->factor[at];
}

/* A category, or the hash of a text: its sign is in the upper half of the codes. */
static void encode_code(const krein_encoding *e, const slot *to, int64_t code, float *x) {
    bool minus = to->texts == KREIN_TEXTS_HASH && code >= to->codes;
    int64_t at = to->at + (minus ? code - to->codes : code);
    x[at] = ((minus ? -1.0f : 1.0f) - e->centre[at]) * e->factor[at];
}

/* Means of the target; rows that were trained on see those of the other folds. */
static void encode_means(const krein_stream *s, const slot *to, int64_t code, int64_t row,
                         float *x) {
    const krein_encoding *e = s->e;
    const krein_target_means *t = to->target;
    const float *mean = t->mean;
    if (s->part == KREIN_PART_TRAIN && s->data->scanned && t->fold)
        mean = t->fold + krein__target_fold(row) * (t->words + 2) * t->columns;
    mean += krein__target_row(t, code) * t->columns;
    for (int64_t k = 0; k < t->columns; k++)
        x[to->at + k] = (mean[k] - e->centre[to->at + k]) * e->factor[to->at + k];
}

/* Numbers whose logarithm is taken. What is below zero, as no number of the training rows was,
 * counts as zero. */
static void encode_logs(const krein_stream *s, const krein_raw *raw, int64_t ld, int64_t i,
                        float *x) {
    const krein_encoding *e = s->e;
    for (int64_t j = 0; j < s->nnum; j++) {
        int64_t at = s->num[j].at;
        if (at < 0 || !(e->log[at] > 0)) continue;
        float num = krein__raw_number(raw, ld, i, j);
        double v = (double)(isnan(num) ? e->fill[at] : num) + s->num[j].shift;
        x[at] = ((float)log(fmax(v, 0) + (double)e->log[at]) - e->centre[at]) * e->factor[at];
    }
}

static void encode_row(const krein_stream *s, const krein_raw *raw, int64_t ld, int64_t i,
                       float *x) {
    const krein_encoding *e = s->e;
    const float *num = raw->num ? raw->num + i * ld : NULL; /* none where all columns are text */
    if (s->contiguous && raw->byte) {
        const uint8_t *byte = raw->byte + i * ld;
        for (int64_t j = 0; j < e->d; j++) x[j] = ((float)byte[j] - e->centre[j]) * e->factor[j];
    } else if (s->contiguous && !raw->any_missing) {
        for (int64_t j = 0; j < e->d; j++) x[j] = (num[j] - e->centre[j]) * e->factor[j];
    } else {
        memcpy(x, s->blank, (size_t)e->d * sizeof *x);
        for (int64_t j = 0; j < s->nnum; j++) {
            int64_t at = s->num[j].at;
            if (at < 0) continue;
            float v = krein__raw_number(raw, ld, i, j);
            x[at] = ((isnan(v) ? e->fill[at] : v) - e->centre[at]) * e->factor[at];
            if (isnan(v)) set_flag(e, s->num[j].flag, x);
        }
        for (int64_t k = 0; k < s->ncat; k++) {
            int64_t at = s->cat[k].at, code = raw->cat[i * s->ncat + k];
            if (at < 0) continue;
            if (s->cat[k].texts == KREIN_TEXTS_TARGET) {
                encode_means(s, &s->cat[k], code, krein__data_row(s->data, raw->from.row + i), x);
                continue;
            }
            if (code >= 0) encode_code(e, &s->cat[k], code, x);
            if (code == -1) set_flag(e, s->cat[k].flag, x);
            for (int64_t c = 0; code == -1 && s->cat[k].flag < 0 && c < s->cat[k].codes; c++)
                x[at + c] = (e->fill[at + c] - e->centre[at + c]) * e->factor[at + c];
        }
    }
    if (e->log) encode_logs(s, raw, ld, i, x);
    krein__finish_row(e, s->clips, x);
}

static void encode_dense(krein_stream *s, int64_t to, int64_t m) {
    const krein_raw *raw = s->raw;
    int64_t d = s->e->d, ld = s->ld;
    s->clips = krein__encoding_clips(s->e);
    /* Threads only pay for themselves on larger pieces. */
    int threads = m * d > 65536 ? s->ctx->threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < m; i++) encode_row(s, raw, ld, s->pick[i], s->x + (to + i) * d);
    for (int64_t i = 0; s->byte && raw->byte && i < m; i++)
        memcpy(s->byte + (to + i) * d, raw->byte + s->pick[i] * ld, (size_t)d);
}

static krein_status encode_sparse(krein_stream *s, int64_t to, int64_t m) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_raw *raw = s->raw;
    krein_matrix *csr = &s->csr;
    if (to == 0) csr->ptr[0] = 0;
    for (int64_t i = 0; i < m; i++) {
        int64_t from = raw->ptr[s->pick[i]], until = raw->ptr[s->pick[i] + 1];
        int64_t at = csr->ptr[to + i];
        if (at + until - from > s->csr_room) {
            int64_t room = krein__max(2 * s->csr_room, at + until - from + 1024);
            int32_t *col = krein__resize(ctx, csr->col, room, sizeof *col);
            if (!col) return ctx->status;
            csr->col = col;
            float *val = krein__resize(ctx, csr->val, room, sizeof *val);
            if (!val) return ctx->status;
            csr->val = val;
            s->csr_room = room;
        }
        double square = 0;
        int64_t first = at;
        for (int64_t k = from; k < until; k++) {
            int64_t j = raw->col[k];
            if (j >= s->e->d) continue;
            csr->col[at] = (int32_t)j;
            float v = isnan(raw->val[k]) ? s->e->fill[j] : raw->val[k];
            csr->val[at] = v * s->e->factor[j];
            square += (double)csr->val[at] * (double)csr->val[at];
            at++;
        }
        for (int64_t k = first; s->e->scale == KREIN_SCALE_UNIT && k < at; k++)
            csr->val[k] *= (float)(1 / sqrt(square));
        for (int64_t k = first; s->e->metric && k < at; k++)
            csr->val[k] *= s->e->metric[csr->col[k]];
        csr->ptr[to + i + 1] = at;
    }
    return st;
}

/* The n rows of a block times the matrix of a full metric. */
static krein_status full_metric(krein_stream *s, int64_t n) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    if (!s->tile) NEW(s->tile, ctx->threads * KREIN_TILE * s->e->d);
    krein__finish_matrix(ctx, s->e, n, s->x, s->tile);
done:
    return st;
}

static krein_status never_seen(const krein_stream *s, int64_t row, const char *what,
                               const char *name) {
    const krein_data *data = s->data;
    return krein__fail(s->ctx, KREIN_EDATA,
                       "%s: %s has the %s \"%.60s\", which was never seen in training", data->name,
                       krein__row_text(data->reader, s->raw->from.row + row).text, what, name);
}

/* The class of the label y, or the code of a label set as it is. */
static krein_status find_class(const krein_stream *s, int64_t row, double *y) {
    const krein_data *data = s->data;
    const krein_dict *words = label_words(s);
    const krein_sets *sets = data->sets;
    char text[48];
    if (s->words >= 0 && *y >= (double)s->words) return krein__stream_changed(s);
    if (sets) {
        int64_t set = (int64_t)*y;
        for (int64_t k = sets->start[set]; k < sets->start[set + 1]; k++)
            if (sets->label[k] < 0) {
                krein__sets_unknown(
                    sets, words->word[set],
                    krein__sets_between(s->e, data->reader->format == KREIN_FORMAT_LIBSVM), text);
                return never_seen(s, row, "label", text);
            }
        return KREIN_OK;
    }
    int64_t class = krein__class_of(s->e, data->label_map, *y);
    if (class < 0)
        return never_seen(s, row, "class",
                          data->label_map ? words->word[(int64_t)*y]
                                          : krein__number_text(*y, text));
    *y = (double)class;
    return KREIN_OK;
}

/* Labels, weights, groups, ids of the picked rows. */
static krein_status copy_sides(krein_stream *s, int64_t to, int64_t m) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_raw *raw = s->raw;
    const krein_data *data = s->data;
    int64_t k = data->nlabel;
    for (int64_t i = 0; i < m; i++) {
        int64_t row = s->pick[i];
        for (int64_t c = 0; c < k && raw->label; c++) {
            double y = raw->label[row * k + c];
            if (s->e->nclass > 0 && !s->dropped[to + i] && s->part != KREIN_PART_UNLABELLED)
                TRY(find_class(s, row, &y));
            s->label[(to + i) * k + c] = y;
        }
        s->weight[to + i] = raw->weight ? raw->weight[row] : 1;
        s->group[to + i] = raw->group ? raw->group[row] : 0;
        if (s->id && raw->id) DUP(s->id[to + i], raw->id[row]);
    }
done:
    return st;
}

/* Picks up to `room` rows of the part from the current batch. */
static int64_t pick_rows(krein_stream *s, int64_t to, int64_t room) {
    const krein_data *data = s->data;
    bool drop = krein__data_missing(data, s->e) == KREIN_MISSING_DROP;
    int64_t m = 0;
    for (; s->at < s->raw->n && m < room; s->at++, s->file_row++) {
        int part = krein__raw_part(data, s->raw, s->ld, s->at, drop);
        bool incomplete = part == KREIN_PART_DROPPED;
        if (data->part && s->part >= 0) part = data->part[s->file_row];
        if (s->part >= 0 && part != s->part) continue;
        s->dropped[to + m] = incomplete;
        s->pick[m++] = s->at;
    }
    return m;
}

/* A text label's dictionary grows while the file is read; the map to classes must keep up. All
 * words of a scanned file are there. */
static krein_status refresh_label_map(krein_stream *s) {
    const krein_dict *words = label_words(s);
    if (!words || s->words >= 0) return KREIN_OK;
    return krein__data_label_words(s->data, s->e);
}

/* A batch of rows; s->raw is NULL at the end. */
static krein_status next_batch(krein_stream *s) {
    krein_status st = KREIN_OK;
    TRY(krein__raw_next(&s->pass, &s->raw, &s->ld));
    s->at = 0;
    if (!s->raw) goto done;
    s->at = krein__raw_skip(&s->pass, s->raw);
    s->from = s->raw->from;
    s->labels = s->raw->labels;
    if (s->data->scanned && s->file_row + s->raw->n - s->at > krein__data_rows_here(s->data))
        st = krein__stream_changed(s);
    else
        st = refresh_label_map(s);
done:
    return st;
}

krein_status krein__stream_next(krein_stream *s, krein_block *out) {
    krein_status st = KREIN_OK;
    const krein_data *data = s->data;
    int64_t n = 0;
    memset(out, 0, sizeof *out);
    free_ids(s);
    TRY(krein__poll(s->ctx));
    while (n < s->rows) {
        if (!s->raw || s->at == s->raw->n) {
            TRY(next_batch(s));
            if (!s->raw) break;
        }
        int64_t m = pick_rows(s, n, s->rows - n);
        if (s->e->sparse)
            TRY(encode_sparse(s, n, m));
        else
            encode_dense(s, n, m);
        TRY(copy_sides(s, n, m));
        n += m;
    }
    if (s->e->matrix) TRY(full_metric(s, n));
    out->x = s->e->sparse ? (krein_rows){.n = n,
                                         .d = s->e->d,
                                         .ptr = s->csr.ptr,
                                         .col = s->csr.col,
                                         .val = s->csr.val}
                          : krein__rows_dense(n, s->e->d, s->x, s->e->d);
    if (krein__stream_in_bytes(s)) out->byte = s->byte;
    out->label = s->data->nlabel ? s->label : NULL;
    out->weight = s->data->has_weight ? s->weight : NULL;
    out->group = s->data->options.group ? s->group : NULL;
    out->dropped = s->part < 0 ? s->dropped : NULL;
    out->id = s->id;
    out->first = s->streamed;
    s->streamed += n;
    if (data->scanned && s->part >= 0 && n < s->rows &&
        s->streamed != data->before[s->part] + data->here[s->part])
        st = krein__stream_changed(s);
done:
    return st;
}
