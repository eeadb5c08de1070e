/* read_libsvm.c -- LIBSVM / svmlight text to sparse rows.
 *
 *   line  := [label] { blanks pair } [blanks '#' anything] '\n'
 *   pair  := index ':' number | "qid:" digits            1 <= index <= 2^31 - 1, ascending
 *
 * The label is a number or a word (then a code), or several with commas between them (a code of all
 * of them); where it may be several, none is the empty set. Lines that are blank or only a comment
 * are no rows. A piece writes rows and entries where they would stand if every line were a row and
 * every colon an entry; the gaps that comments, zeros and qid leave are closed afterwards.
 */
#include "file/lines.h"
#include "file/sets.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LOOK = 1000, LOOK_BYTES = 1 << 17 };

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static char *skip(char *p) {
    while (blank(*p)) p++;
    return p;
}
static char *token_end(char *p) {
    while (!blank(*p) && *p != '\n' && *p != '#') p++;
    return p;
}

/* The index before the colon: behind the colon, or NULL when it has not that form. */
static inline char *read_index(char *p, int64_t *index) {
    uint64_t k = 0;
    char *q = (char *)krein__digits(p, &k);
    if (*q != ':' || q == p) return NULL;
    *index = q - p > 18 ? INT64_MAX : (int64_t)k;
    return q + 1;
}

bool krein__libsvm_looks(const char *text, size_t length) {
    const char *p = text, *end = text + length;
    bool pairs = false;
    while (p < end) {
        bool first = true;
        while (p < end && *p != '\n') {
            double v;
            int64_t index;
            if (blank(*p)) {
                p++;
                continue;
            }
            if (*p == '#') {
                p = memchr(p, '\n', (size_t)(end - p));
                if (!p) p = end;
                break;
            }
            char *stop = token_end((char *)p), *value = read_index((char *)p, &index);
            bool pair = value && krein__cell(value, (size_t)(stop - value), &v) != KREIN_CELL_TEXT;
            pairs |= pair;
            if (!pair && !first && strncmp(p, "qid:", 4)) return false;
            first = false;
            p = stop;
        }
        p += p < end;
    }
    return pairs;
}

/* ---- label ----------------------------------------------------------------------- */

/* The label at p, up to q, into *v. */
static bool read_label(krein_reader *r, krein_piece *piece, char *p, char *q, double *v) {
    char cell[48];
    size_t length = (size_t)(q - p);
    krein_cell kind = krein__cell(p, length, v);
    if (kind == KREIN_CELL_NUMBER && !r->column[0].text) return true;
    if (kind == KREIN_CELL_MISSING && !(r->column[0].sets && length == 0)) {
        *v = NAN;
        if (r->label_optional) return true;
        krein__rows_fail(
            piece, KREIN_EDATA, p,
            "the row has no label; give it one, or drop such rows with `missing=drop`");
        return false;
    }
    krein__cell_text(p, length, cell);
    if (memchr(p, ',', length) && !r->column[0].sets) {
        krein__rows_fail(piece, KREIN_EFORMAT, p,
                         "several labels (\"%s\"): rows with several labels need "
                         "`task=multilabel`",
                         cell);
    } else if (r->column[0].sets && !krein__set_valid(p, length, ',')) {
        krein__rows_fail(piece, KREIN_EDATA, p,
                         "an empty name among the labels \"%s\"; write one comma between two",
                         cell);
    } else if (memchr(p, 0, length) || memchr(p, ':', length)) {
        krein__rows_fail(piece, KREIN_EFORMAT, p, "\"%s\" is neither a label nor index:value",
                         cell);
    } else if (r->column[0].text) {
        int64_t code = krein__rows_code(r, piece, 0, 0, p, length);
        *v = (double)code;
        return code != -3;
    } else if (kind == KREIN_CELL_INFINITE) {
        krein__rows_fail(piece, KREIN_EDATA, p, "the label is not finite: \"%s\"", cell);
    } else {
        krein__rows_fail(piece, KREIN_EFORMAT, p,
                         "the label is not a number: \"%s\"; the first 1,000 are", cell);
    }
    return false;
}

/* ---- rows ------------------------------------------------------------------------- */

static char *bad_pair(krein_piece *piece, char *p, int64_t index, int64_t last) {
    char cell[48];
    krein__cell_text(p, (size_t)(token_end(p) - p), cell);
    if (index == 0 || *p == '-')
        return krein__rows_fail(piece, KREIN_EFORMAT, p,
                                "\"%s\": the index is below 1; indices count from 1", cell);
    if (index > INT32_MAX)
        return krein__rows_fail(piece, KREIN_EFORMAT, p, "\"%s\": the index is above 2147483647",
                                cell);
    if (index > 0 && index <= last)
        return krein__rows_fail(piece, KREIN_EFORMAT, p,
                                "\"%s\": index %lld does not ascend, it comes after %lld; sort the "
                                "row's entries",
                                cell, (long long)index, (long long)last);
    return krein__rows_fail(piece, KREIN_EFORMAT, p, "\"%s\" is not of the form index:value", cell);
}

/* The value at p, which is no plain number ended by a blank: the end, or NULL. */
static char *other_value(krein_reader *r, krein_piece *piece, char *p, int64_t index, float *f) {
    char cell[48], *q = token_end(p);
    double v = 0;
    krein_cell kind = p == q ? KREIN_CELL_TEXT : krein__cell(p, (size_t)(q - p), &v);
    krein__cell_text(p, (size_t)(q - p), cell);
    if (kind == KREIN_CELL_NUMBER && isinf((float)v))
        return krein__rows_fail(piece, KREIN_EDATA, p,
                                "feature %lld is too large for single precision: \"%s\"; features "
                                "must stay below 3.4e38: change the unit",
                                (long long)index, cell);
    if (kind == KREIN_CELL_NUMBER) {
        *f = (float)v;
        return q;
    }
    if (kind == KREIN_CELL_MISSING) {
        *f = NAN;
        piece->missing = true;
        if (r->missing_ok) return q;
        return krein__rows_fail(piece, KREIN_EDATA, p,
                                "feature %lld is missing (\"%s\"); drop such rows with "
                                "`missing=drop` or fill them with `missing=mean`",
                                (long long)index, cell);
    }
    if (kind == KREIN_CELL_INFINITE)
        return krein__rows_fail(piece, KREIN_EDATA, p,
                                "feature %lld is not finite: \"%s\"; write a finite number or "
                                "leave the entry out",
                                (long long)index, cell);
    return krein__rows_fail(piece, KREIN_EFORMAT, p,
                            "the value of feature %lld is not a number: \"%s\"", (long long)index,
                            cell);
}

typedef struct place { /* where in the batch the next row and entry go */
    krein_reader *r;
    krein_piece *piece;
    krein_raw *raw;
    int64_t i, k;
} place;

/* index:value as nearly all of them are, both short, ended by a space or newline: the end of the
 * value, or NULL when it is something else. */
static inline char *short_pair(char *p, int64_t *index, double *v) {
    uint64_t x = krein__eight(p);
    unsigned n = krein__digit_run(x);
    if (n - 1 > 6 || p[n] != ':') return NULL;
    char *q = (char *)krein__short(p + n + 1, v);
    if (!q || (*q != ' ' && *q != '\n')) return NULL;
    *index = (int64_t)krein__digit_value(x, n);
    return q;
}

/* Any pair, also qid (then *index is 0): the end of the value, or NULL on an error. Not inline: it
 * would take registers from the short way. */
static __attribute__((noinline)) char *long_pair(place *w, char *p, int64_t last, int64_t *index,
                                                 float *f) {
    char *at = p;
    double v;
    *index = -1;
    p = read_index(p, index);
    if (!p || *index <= last || *index > INT32_MAX) {
        if (strncmp(at, "qid:", 4) || last != 0) return bad_pair(w->piece, at, *index, last);
        *index = 0;
        return token_end(at);
    }
    char *q = (char *)krein__number(p, &v);
    if (q && (blank(*q) || *q == '\n') && fabs(v) <= (double)FLT_MAX)
        *f = (float)v;
    else
        q = other_value(w->r, w->piece, p, *index, f);
    return q;
}

/* The entries from p to the end of the line: its newline, or NULL on an error. */
static char *parse_entries(place *w, char *p) {
    int64_t last = 0, k = w->k, most = w->r->max_index;
    int32_t *col = w->raw->col;
    float *val = w->raw->val;
    if (most <= 0) most = INT64_MAX;
    for (;;) {
        int64_t index, any;
        double v;
        float f, g;
        char *q = short_pair(p + (*p == ' '), &index, &v);
        if (q && index > last) {
            f = (float)v;
        } else {
            p = skip(p);
            if (*p == '#') p = memchr(p, '\n', (size_t)(w->piece->end - p));
            if (*p == '\n') break;
            q = long_pair(w, p, last, &any, &g);
            if (!q) return NULL;
            p = q;
            if (any == 0) continue;
            /* copies: only what stays in a register is fast */
            index = any;
            f = g;
        }
        p = q;
        last = index;
        if (f == 0 || index > most) continue;
        col[k] = (int32_t)(index - 1);
        val[k++] = f;
    }
    if (last > w->piece->top) w->piece->top = last;
    w->k = k;
    return p;
}

/* The label at p, which may be left out, into the batch: behind it, or NULL on an error. */
static char *parse_label(place *w, char *p) {
    krein_reader *r = w->r;
    double *label = w->raw->label ? &w->raw->label[w->i] : NULL, v = NAN;
    int64_t index;
    char *q = (char *)krein__short(p, &v);
    if (!q || *q != ' ' || r->column[0].text) {
        v = NAN;
        q = token_end(p);
        if (!memchr(p, ':', (size_t)(q - p)) || !read_index(p, &index)) {
            if (label && !read_label(r, w->piece, p, q, &v)) return NULL;
        } else if (label && r->column[0].sets) {
            q = p;
            if (!read_label(r, w->piece, p, q, &v)) return NULL;
        } else if (label && !r->label_optional) {
            return krein__rows_fail(
                w->piece, KREIN_EDATA, p,
                "the row has no label; give it one, or drop such rows with `missing=drop`");
        } else {
            q = p;
        }
    }
    if (label) *label = v;
    return q;
}

static void parse_piece(krein_reader *r, krein_raw *raw, krein_piece *piece) {
    place w = {r, piece, raw, piece->first_row, piece->first_pair};
    for (char *p = piece->begin, *end = piece->end; p < end; p++) {
        char *row = krein__libsvm_row(p);
        if (!row) {
            p = memchr(p, '\n', (size_t)(end - p));
            continue;
        }
        p = parse_label(&w, row);
        if (p) p = parse_entries(&w, p);
        if (!p) return;
        raw->ptr[++w.i] = w.k;
    }
    piece->got_rows = w.i - piece->first_row;
    piece->got_pairs = w.k - piece->first_pair;
}

/* Closes the gaps between the pieces. */
static void close_gaps(krein_reader *r, krein_raw *raw) {
    const krein_chunk *b = &r->state->block;
    int64_t n = 0, nnz = 0;
    for (int64_t i = 0; i < b->npiece; i++) {
        const krein_piece *p = &b->piece[i];
        int64_t by = nnz - p->first_pair;
        if (n != p->first_row && raw->label)
            memmove(raw->label + n, raw->label + p->first_row,
                    (size_t)p->got_rows * sizeof *raw->label);
        if (n != p->first_row || by)
            for (int64_t k = 1; k <= p->got_rows; k++)
                raw->ptr[n + k] = raw->ptr[p->first_row + k] + by;
        if (by) {
            memmove(raw->col + nnz, raw->col + p->first_pair,
                    (size_t)p->got_pairs * sizeof *raw->col);
            memmove(raw->val + nnz, raw->val + p->first_pair,
                    (size_t)p->got_pairs * sizeof *raw->val);
        }
        n += p->got_rows;
        nnz += p->got_pairs;
        raw->any_missing |= p->missing;
        if (p->top > r->d) r->d = p->top;
    }
    if (r->max_index > 0) r->d = r->max_index;
    raw->n = n;
    r->state->row += n;
}

static krein_status libsvm_next(krein_reader *r, krein_raw *raw) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool empty = false;
    int threads = r->ctx->threads;
    raw->n = 0;
    while (raw->n == 0) {
        int64_t n = 0, nnz = 0;
        TRY(krein__chunk_next(r, &empty));
        for (int64_t i = 0; i < b->npiece; i++) {
            b->piece[i].first_pair = nnz;
            nnz += b->piece[i].pairs;
            n += b->piece[i].rows;
        }
        TRY(krein__rows_room(r, raw, n, nnz, 0));
        raw->ptr[0] = 0;
        if (empty) break;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (b->npiece > 1)
        for (int64_t i = 0; i < b->npiece; i++) parse_piece(r, raw, &b->piece[i]);
        TRY(krein__rows_status(r));
        TRY(krein__rows_merge(r, raw));
        close_gaps(r, raw);
    }
done:
    if (st) raw->n = 0;
    return st;
}

/* ---- open and begin ------------------------------------------------------------------ */

/* Whether one of the first `most` labels is a word. */
static krein_status look(krein_reader *r, int64_t most) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    int64_t rows = 0;
    bool empty = false, number = false;
    TRY(krein__chunk_rewind(r));
    while (rows < most) {
        TRY(krein__chunk_next(r, &empty));
        if (empty) break;
        for (char *p = b->buf + b->begin, *end = b->buf + b->end; p < end && rows < most;) {
            int64_t index;
            double v;
            char *row = krein__libsvm_row(p);
            if (row) {
                char *q = token_end(row);
                krein_cell kind = krein__cell(row, (size_t)(q - row), &v);
                rows++;
                if (kind == KREIN_CELL_TEXT && !read_index(row, &index) &&
                    !memchr(row, ',', (size_t)(q - row)) && !memchr(row, ':', (size_t)(q - row)))
                    r->column[0].text = true;
                if (kind == KREIN_CELL_NUMBER && !number) {
                    number = true;
                    r->column[0].first = v;
                }
            }
            p = (char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        }
    }
    if (rows == 0)
        st = krein__fail(r->ctx, KREIN_EFORMAT, "%s: the file is empty: no rows", r->path);
done:
    return st;
}

static krein_status libsvm_open(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    r->sparse = true;
    ZNEW(r->column, 1);
    r->ncolumn = 1;
    r->column[0].role = KREIN_ROLE_LABEL;
    TRY(krein__chunk_init(r, false, false));
    r->state->block.mark = ':';       /* at least as many as entries */
    size_t buffer = r->state->buffer; /* a look is short */
    if (buffer > LOOK_BYTES) r->state->buffer = LOOK_BYTES;
    st = look(r, options->look ? options->look : LOOK);
    r->state->buffer = buffer;
done:
    return st;
}

static krein_status libsvm_begin(krein_reader *r) {
    krein_status st = KREIN_OK;
    if (r->column[0].role != KREIN_ROLE_LABEL && r->column[0].role != KREIN_ROLE_IGNORE)
        return krein__fail(r->ctx, KREIN_EARG,
                           "%s: the leading field of LIBSVM data is the label or nothing; weights, "
                           "groups and ids need CSV",
                           r->path);
    TRY(krein__rows_roles(r));
    TRY(krein__chunk_rewind(r));
    if (r->max_index > 0) r->d = r->max_index;
done:
    return st;
}

static void libsvm_close(krein_reader *r) { (void)r; }

const krein_reader_class krein__read_libsvm = {.name = "libsvm",
                                               .open = libsvm_open,
                                               .begin = libsvm_begin,
                                               .next = libsvm_next,
                                               .seek = krein__chunk_seek,
                                               .close = libsvm_close};
