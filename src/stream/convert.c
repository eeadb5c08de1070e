/* convert.c -- a batch of raw rows from the caller's arrays: what parsing is for a file.
 *
 * A number becomes float32(v - shift) in double arithmetic whatever its type was, so that float32,
 * float64 and the same numbers in a file give the same bits. Sparse entries that are 0 are left
 * out, as they are from a file.
 */
#include "stream/memory.h"
#include "file/lines.h"
#include "file/sets.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whole numbers beyond it are not all doubles. */
static const double WHOLE_MAX = 9007199254740992.0;

static krein_row_text row_of(const krein_reader *r, int64_t i) {
    return krein__row_text(r, r->state->row + i);
}

/* ---- numbers ------------------------------------------------------------ */

static krein_status bad_number(krein_reader *r, const krein_memory *s, const krein_raw *raw,
                               int64_t i) {
    int64_t slot = 0;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const krein_column *c = &r->column[j];
        if (c->role != KREIN_ROLE_FEATURE || c->text) continue;
        char column[96], number[40];
        bool read = c->reading.as != KREIN_AS_PLAIN;
        double v = read ? (double)raw->num[i * raw->nnum + slot]
                        : krein__cells_number(&s->cells[j], s->at + i);
        slot += krein__reading_parts(c->reading);
        krein__column_text(r, j, column);
        if (isnan(v) && !r->missing_ok)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s, %s is NaN; drop such rows with `missing=drop` or fill "
                               "them with `missing=mean`",
                               row_of(r, i).text, column);
        if (isinf(v))
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s, %s is infinite; values must be finite, or NaN where "
                               "missing",
                               row_of(r, i).text, column);
        if (fabs(v - c->shift) > (double)FLT_MAX)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s, %s is %s, too large for single precision; features must "
                               "stay below 3.4e38",
                               row_of(r, i).text, column, krein__number_text(v, number));
    }
    return krein__fail(r->ctx, KREIN_EIO, "%s changed while it was read", row_of(r, i).text);
}

/* CASE(T): `body` with p, the array as elements of type T. */
#define BY_TYPE(kind, array, body)                                                                 \
    switch (kind) {                                                                                \
    case KREIN_FLOAT32: {                                                                          \
        const float *p = (array);                                                                  \
        body;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case KREIN_FLOAT64: {                                                                          \
        const double *p = (array);                                                                 \
        body;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case KREIN_INT32: {                                                                            \
        const int32_t *p = (array);                                                                \
        body;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case KREIN_INT64: {                                                                            \
        const int64_t *p = (array);                                                                \
        body;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case KREIN_UINT8: {                                                                            \
        const uint8_t *p = (array);                                                                \
        body;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    }

static void dense_row(const krein_memory *s, int64_t i, int64_t n, float *out) {
    const krein_rows_view *v = &s->view;
    int64_t at = i * v->row_stride, step = v->column_stride;
    BY_TYPE(v->type, v->x, {
        for (int64_t k = 0; k < n; k++)
            out[k] = (float)((double)p[at + s->input[k] * step] - s->shift[k]);
    })
}

/* Bytes that stay bytes. */
static void byte_row(const krein_memory *s, int64_t i, int64_t n, uint8_t *out) {
    const krein_rows_view *v = &s->view;
    const uint8_t *p = (const uint8_t *)v->x + i * v->row_stride;
    for (int64_t k = 0; k < n; k++) out[k] = p[s->input[k] * v->column_stride];
}

static void table_column(const krein_cells *c, int64_t from, int64_t m, double shift, float *out,
                         int64_t ld) {
    BY_TYPE(c->type, c->number, {
        for (int64_t i = 0; i < m; i++)
            out[i * ld] = (float)((double)p[(from + i) * c->stride] - shift);
    })
}

/* Texts of column j that are read as numbers. */
static krein_status read_texts(krein_reader *r, const krein_memory *s, int64_t j, int64_t m,
                               float *out, int64_t ld) {
    const krein_column *c = &r->column[j];
    int64_t parts = krein__reading_parts(c->reading);
    for (int64_t i = 0; i < m; i++) {
        const char *text = krein__cells_text(&s->cells[j], s->at + i);
        size_t length = text ? strlen(text) : 0;
        double v[KREIN_READ_PARTS] = {NAN, NAN, NAN, NAN, NAN};
        char column[96], cell[48];
        if (length > 0 && !krein__read_cell(c->reading, text, length, v) &&
            !krein__missing_word(text, length))
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s, %s has not the form of the cells before it: \"%s\"; correct "
                               "it, or take the column for text with `types=plain`",
                               row_of(r, i).text, krein__column_text(r, j, column),
                               krein__cell_text(text, length, cell));
        for (int64_t k = 0; k < parts; k++)
            out[i * ld + k] = (float)(v[k] - (k == parts - 1 ? c->shift : 0));
    }
    return KREIN_OK;
}

static krein_status numbers(krein_reader *r, const krein_memory *s, int64_t m, krein_raw *raw) {
    int64_t n = raw->nnum, bad = INT64_MAX, labels = krein__view_labels(&s->first);
    bool table = s->view.columns != NULL, missing = false, missing_ok = r->missing_ok;
    int threads = m * n > 65536 ? r->ctx->threads : 1;
    if (r->in_bytes) {
        for (int64_t i = 0; i < m; i++) byte_row(s, s->at + i, n, raw->byte + i * n);
        return KREIN_OK;
    }
    for (int64_t k = 0; table && k < n;) {
        int64_t j = labels + s->input[k];
        const krein_column *c = &r->column[j];
        krein_status st = KREIN_OK;
        if (c->reading.as)
            st = read_texts(r, s, j, m, raw->num + k, n);
        else
            table_column(&s->cells[j], s->at, m, s->shift[k], raw->num + k, n);
        if (st != KREIN_OK) return st;
        k += krein__reading_parts(c->reading);
    }
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min                       \
                                                                         : bad)                    \
    reduction(||                                                                                   \
              : missing)
    for (int64_t i = 0; i < m; i++) {
        float *row = raw->num + i * n;
        uint32_t odd = 0;
        if (!table) dense_row(s, s->at + i, n, row);
        for (int64_t k = 0; k < n; k++) {
            uint32_t bits;
            memcpy(&bits, row + k, sizeof bits);
            odd |= (bits & 0x7f800000) == 0x7f800000;
        }
        for (int64_t k = 0; odd && k < n; k++) {
            if (isinf(row[k]) || (isnan(row[k]) && !missing_ok)) bad = krein__min(bad, i);
            missing = missing || isnan(row[k]);
        }
    }
    if (bad < m) return bad_number(r, s, raw, bad);
    raw->any_missing = raw->any_missing || missing;
    return KREIN_OK;
}

/* ---- texts -------------------------------------------------------------- */

static krein_status unknown_word(krein_reader *r, int64_t i, int64_t j, const char *word) {
    char column[96], cell[48];
    return krein__fail(r->ctx, KREIN_EDATA,
                       "%s: %s holds a category never seen in training: \"%s\"; pass "
                       "`unknown_ignore` to take it as none",
                       row_of(r, i).text, krein__column_text(r, j, column),
                       krein__cell_text(word, strlen(word), cell));
}

/* The code of a word in column j; -2: the dictionary is frozen and has it not. */
static krein_status code_of(krein_reader *r, int64_t i, int64_t j, const char *word,
                            int64_t *code) {
    krein_column *c = &r->column[j];
    size_t length = strlen(word);
    bool feature = c->role == KREIN_ROLE_FEATURE;
    char cell[48];
    if (c->sets && !feature && !krein__set_valid(word, length, '|'))
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s has an empty name among its labels: \"%s\"; write one | between two",
                           row_of(r, i).text, krein__cell_text(word, length, cell));
    *code = krein__word_hash(word, length);
    if (feature && c->hashed) return KREIN_OK;
    *code = krein__dict_find(&c->dict, word, length);
    if (*code >= 0) return KREIN_OK;
    if (feature && c->frozen) {
        *code = -2;
        return r->known_only && !c->open ? unknown_word(r, i, j, word) : KREIN_OK;
    }
    *code = krein__dict_word(r->ctx, &c->dict, word, feature);
    return *code == -1 ? r->ctx->status : KREIN_OK;
}

/* Words that come as codes of the caller's own are looked up once in a batch. */
enum { UNSEEN = -9 };

/* Codes of m cells of column j; -1: missing. */
static krein_status codes(krein_reader *r, const krein_memory *s, int64_t j, int64_t m,
                          int64_t *out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_cells *c = &s->cells[j];
    int64_t *seen = NULL;
    char column[96];
    if (c->code) {
        NEW(seen, krein__max(1, c->words));
        for (int64_t k = 0; k < c->words; k++) seen[k] = UNSEEN;
    }
    for (int64_t i = 0; i < m; i++) {
        out[i] = -1;
        if (!c->code) {
            const char *word = c->text[s->at + i];
            if (word) TRY(code_of(r, i, j, word, &out[i]));
            continue;
        }
        int64_t k = c->code[s->at + i];
        if (k == -1) continue;
        if (k < 0 || k >= c->words || !c->word[k]) {
            st = krein__fail(ctx, KREIN_EDATA,
                             "%s, %s: code %lld, but the words are 0 to %lld, and -1 is for "
                             "a missing one",
                             row_of(r, i).text, krein__column_text(r, j, column), (long long)k,
                             (long long)c->words - 1);
            goto done;
        }
        if (seen[k] == UNSEEN) TRY(code_of(r, i, j, c->word[k], &seen[k]));
        out[i] = seen[k];
    }
done:
    krein__free(ctx, seen);
    return st;
}

static krein_status categories(krein_reader *r, int64_t j, int64_t k, int64_t m,
                               const int64_t *code, krein_raw *raw) {
    char column[96];
    for (int64_t i = 0; i < m; i++) {
        if (code[i] == -1 && !r->missing_ok)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s, %s is missing; drop such rows with `missing=drop` or "
                               "fill them with `missing=mean`",
                               row_of(r, i).text, krein__column_text(r, j, column));
        raw->any_missing = raw->any_missing || code[i] == -1;
        raw->cat[i * raw->ncat + k] = (int32_t)code[i];
    }
    return KREIN_OK;
}

/* ---- labels, weights, groups -------------------------------------------- */

static krein_status labels(krein_reader *r, const krein_memory *s, int64_t j, int64_t k, int64_t m,
                           const int64_t *code, krein_raw *raw) {
    for (int64_t i = 0; i < m; i++) {
        const krein_cells *c = &s->cells[j];
        double v = !code ? krein__cells_number(c, s->at + i) : code[i] < 0 ? NAN : (double)code[i];
        if (isnan(v) && !r->label_optional)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s has no label%s; give it one, or drop such rows with "
                               "`missing=drop`",
                               row_of(r, i).text, code ? "" : " (NaN)");
        if (isinf(v))
            return krein__fail(r->ctx, KREIN_EDATA, "%s has a label that is infinite",
                               row_of(r, i).text);
        if (!code && c->type == KREIN_INT64 && fabs(v) > WHOLE_MAX)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s has the class %lld; whole numbers above 2^53 cannot be "
                               "told apart: give them as texts",
                               row_of(r, i).text, (long long)v);
        raw->label[i * raw->nlabel + k] = v;
    }
    return KREIN_OK;
}

static krein_status weights(krein_reader *r, const krein_memory *s, int64_t j, int64_t m,
                            krein_raw *raw) {
    for (int64_t i = 0; i < m; i++) {
        raw->weight[i] = krein__cells_number(&s->cells[j], s->at + i);
        if (!(raw->weight[i] >= 0) || isinf(raw->weight[i]))
            return krein__fail(r->ctx, KREIN_EDATA, "%s: a weight is a finite number >= 0",
                               row_of(r, i).text);
    }
    return KREIN_OK;
}

/* Numbers are taken as their text, as in a file. */
static krein_status groups(krein_reader *r, const krein_memory *s, int64_t j, int64_t m,
                           const int64_t *code, krein_raw *raw) {
    const krein_cells *c = &s->cells[j];
    for (int64_t i = 0; i < m; i++) {
        int64_t group = code ? code[i] : -1;
        char text[40];
        if (!code) {
            double v = krein__cells_number(c, s->at + i);
            if (c->type == KREIN_INT64)
                snprintf(text, sizeof text, "%" PRId64,
                         ((const int64_t *)c->number)[(s->at + i) * c->stride]);
            else
                krein__number_text(v, text);
            krein_status st = isfinite(v) ? code_of(r, i, j, text, &group) : KREIN_OK;
            if (st != KREIN_OK) return st;
        }
        if (group < 0)
            return krein__fail(r->ctx, KREIN_EDATA, "%s has no group; every row needs one, or none",
                               row_of(r, i).text);
        raw->group[i] = (int32_t)group;
    }
    return KREIN_OK;
}

/* ---- sparse rows -------------------------------------------------------- */

/* Entries from .. to - 1 in the order of their columns (a few are out of order, as a rule). */
static void sort_entries(krein_raw *raw, int64_t from, int64_t to) {
    int64_t gap = 1;
    while (gap < (to - from) / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t a = from + gap; a < to; a++) {
            int32_t col = raw->col[a];
            float val = raw->val[a];
            int64_t b = a;
            for (; b - gap >= from && raw->col[b - gap] > col; b -= gap) {
                raw->col[b] = raw->col[b - gap];
                raw->val[b] = raw->val[b - gap];
            }
            raw->col[b] = col;
            raw->val[b] = val;
        }
}

/* One entry: its value, or an error. */
static krein_status entry(krein_reader *r, int64_t i, int64_t col, int64_t d, double v) {
    if (col < 0 || col >= d)
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s: column index %lld of a sparse row; there are %lld columns, "
                           "counted from 0",
                           row_of(r, i).text, (long long)col, (long long)d);
    if (isnan(v) && !r->missing_ok)
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s, column %lld is NaN; drop such rows with `missing=drop` or "
                           "fill them with `missing=mean`",
                           row_of(r, i).text, (long long)col + 1);
    if (fabs(v) > (double)FLT_MAX)
        return krein__fail(r->ctx, KREIN_EDATA, "%s, column %lld is %s", row_of(r, i).text,
                           (long long)col + 1,
                           isinf(v) ? "infinite; values must be finite, or NaN where missing"
                                    : "too large for single precision; features must stay below "
                                      "3.4e38");
    return KREIN_OK;
}

/* All entries of row i, checked; columns beyond max_index, and zeros, are left out at the end. */
static krein_status sparse_row(krein_reader *r, const krein_memory *s, int64_t i, krein_raw *raw) {
    const krein_rows_view *v = &s->view;
    krein_status st = KREIN_OK;
    int64_t from = krein__whole(v->indptr, v->indptr_type, s->at + i),
            to = krein__whole(v->indptr, v->indptr_type, s->at + i + 1);
    int64_t first = raw->ptr[i], at = first, last = -1;
    bool sorted = true;
    for (int64_t k = from; k < to; k++) {
        int64_t col = krein__whole(v->indices, v->index_type, k);
        double x = v->type == KREIN_FLOAT32 ? (double)((const float *)v->values)[k]
                                            : ((const double *)v->values)[k];
        if (col < 0 || col >= v->d || !(fabs(x) <= (double)FLT_MAX)) TRY(entry(r, i, col, v->d, x));
        raw->any_missing = raw->any_missing || isnan(x);
        sorted = sorted && col > last;
        last = col;
        raw->col[at] = (int32_t)col;
        raw->val[at++] = (float)x;
    }
    if (!sorted) sort_entries(raw, first, at);
    for (int64_t k = first + 1; !sorted && k < at; k++)
        if (raw->col[k] == raw->col[k - 1])
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s: column index %lld comes twice; add such entries up",
                               row_of(r, i).text, (long long)raw->col[k]);
    int64_t kept = first, most = r->max_index > 0 ? r->max_index : v->d;
    for (int64_t k = first; k < at; k++) {
        if (raw->val[k] == 0 || raw->col[k] >= most) continue;
        raw->col[kept] = raw->col[k];
        raw->val[kept++] = raw->val[k];
    }
    raw->ptr[i + 1] = kept;
done:
    return st;
}

/* ---- all of it ---------------------------------------------------------- */

/* Everything of column j that is not among the numbers of the rows. */
static krein_status column(krein_reader *r, const krein_memory *s, int64_t j, int64_t k, int64_t m,
                           krein_raw *raw) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    int64_t *code = NULL;
    krein_role role = r->column[j].role;
    bool read = role == KREIN_ROLE_FEATURE && !r->column[j].text; /* is among the numbers */
    if (s->cells[j].is_text && role != KREIN_ROLE_IGNORE && !read) {
        NEW(code, m);
        TRY(codes(r, s, j, m, code));
    }
    if (role == KREIN_ROLE_FEATURE && code) TRY(categories(r, j, k, m, code, raw));
    if (role == KREIN_ROLE_LABEL) TRY(labels(r, s, j, k, m, code, raw));
    if (role == KREIN_ROLE_WEIGHT) TRY(weights(r, s, j, m, raw));
    if (role == KREIN_ROLE_GROUP) TRY(groups(r, s, j, m, code, raw));
done:
    krein__free(ctx, code);
    return st;
}

krein_status krein__convert(krein_reader *r, const krein_memory *s, int64_t m, krein_raw *raw) {
    krein_status st = KREIN_OK;
    int64_t cat = 0, label = 0;
    if (raw->nnum > 0) TRY(numbers(r, s, m, raw));
    if (r->sparse) raw->ptr[0] = 0;
    for (int64_t i = 0; r->sparse && i < m; i++) TRY(sparse_row(r, s, i, raw));
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const krein_column *c = &r->column[j];
        bool is_label = c->role == KREIN_ROLE_LABEL;
        TRY(column(r, s, j, is_label ? label : cat, m, raw));
        label += is_label;
        cat += c->role == KREIN_ROLE_FEATURE && c->text;
    }
done:
    return st;
}
