/* read_csv.c -- CSV to batches of rows; the grammar is in csv.h, what is guessed in csv_look.c.
 *
 * Features and labels that are plain numbers, ended by the delimiter or newline, take the short
 * way through krein__number; everything else (quotes, words, missing cells, errors) is first cut
 * out as a cell and then taken as the column's role says.
 */
#include "file/csv.h"
#include "file/sets.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum kind {
    NUMBER,
    READING, /* a text that becomes numbers */
    CATEGORY,
    LABEL,
    LABEL_READING,
    LABEL_TEXT,
    WEIGHT,
    GROUP,
    ID,
    SKIP
} kind;

typedef struct op { /* what is done with a column's cells */
    kind kind;
    char stop;    /* what follows a cell: delimiter or newline */
    int32_t slot; /* place in the row of num, cat or label */
    double shift;
    int64_t dict; /* number of the growing dictionary, -1 frozen */
} op;

typedef struct csv {
    op *op;
    bool drop; /* the header is still to come */
} csv;

static void csv_close(krein_reader *r) {
    csv *c = r->state->own;
    if (!c) return;
    krein__free(r->ctx, c->op);
    krein__free(r->ctx, c);
    r->state->own = NULL;
}

static krein_status csv_open(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    csv *c;
    char d = options->delimiter;
    if (d && ((d >= '0' && d <= '9') || (d >= 'a' && d <= 'z') || (d >= 'A' && d <= 'Z') ||
              strchr("+-.\"\r\n?_", d) || (unsigned char)d >= 0x80))
        return krein__fail(
            ctx, KREIN_EARG,
            "`delimiter` '%c' cannot separate cells; use a comma, semicolon, tab, space, | or :",
            d);
    ZNEW(c, 1);
    r->state->own = c;
    TRY(krein__chunk_init(r, true, true));
    TRY(krein__csv_look(r, options));
done:
    return st;
}

static krein_status csv_begin(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    struct krein_reader_state *s = r->state;
    csv *c = s->own;
    krein_status st = KREIN_OK;
    int32_t num = 0, cat = 0, label = 0;
    int64_t dict = 0;
    TRY(krein__rows_roles(r));
    if (!c->op) NEW(c->op, r->ncolumn);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *k = &r->column[j];
        op *o = &c->op[j];
        *o = (op){.kind = SKIP, .shift = k->shift, .dict = -1};
        o->stop = j < r->ncolumn - 1 ? r->delimiter : '\n';
        switch (k->role) {
        case KREIN_ROLE_FEATURE:
            o->kind = k->text ? CATEGORY : k->reading.as ? READING : NUMBER;
            o->slot = k->text ? cat++ : num;
            if (!k->text) num += (int32_t)krein__reading_parts(k->reading);
            break;
        case KREIN_ROLE_LABEL:
            o->kind = k->text ? LABEL_TEXT : k->reading.as ? LABEL_READING : LABEL;
            o->slot = label++;
            break;
        case KREIN_ROLE_WEIGHT:
            o->kind = WEIGHT;
            break;
        case KREIN_ROLE_GROUP:
            o->kind = GROUP;
            break;
        case KREIN_ROLE_ID:
            o->kind = ID;
            break;
        case KREIN_ROLE_IGNORE:
            break;
        }
        if (dict < s->ndict && s->dict_column[dict] == j) o->dict = dict++;
    }
    c->drop = r->header;
    s->block.delimiter = r->delimiter;
    TRY(krein__chunk_rewind(r));
done:
    return st;
}

/* ---- one cell ---------------------------------------------------------------- */

typedef struct place { /* where in file and batch a cell belongs */
    krein_reader *r;
    krein_piece *piece;
    krein_raw *raw;
    int64_t i, j;
    char *id; /* where the next id goes */
} place;

static bool missing(place *w, const krein_csv_cell *c) {
    char column[96], cell[64];
    if (c->length)
        snprintf(cell, sizeof cell, "%s",
                 *c->text == '?'                           ? "\"?\""
                 : krein__missing_word(c->text, c->length) ? "missing"
                                                           : "NaN");
    else
        snprintf(cell, sizeof cell, "empty");
    krein__column_text(w->r, w->j, column);
    switch (w->r->column[w->j].role) {
    case KREIN_ROLE_LABEL:
        krein__rows_fail(
            w->piece, KREIN_EDATA, c->text,
            "%s is %s: the row has no label; give it one, or drop such rows with `missing=drop`",
            column, cell);
        break;
    case KREIN_ROLE_WEIGHT:
        krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                         "%s is %s; every row needs a weight (0 leaves the row out)", column, cell);
        break;
    case KREIN_ROLE_GROUP:
        krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                         "%s is %s; every row needs a group, or none", column, cell);
        break;
    default:
        krein__rows_fail(
            w->piece, KREIN_EDATA, c->text,
            "%s is %s; drop such rows with `missing=drop` or fill them with `missing=mean`", column,
            cell);
    }
    return false;
}

/* A cell of a numeric column: NaN in *v when missing. */
static bool number(place *w, const krein_csv_cell *c, bool missing_ok, double *v) {
    char column[96], cell[48];
    switch (krein__cell(c->text, c->length, v)) {
    case KREIN_CELL_NUMBER:
        return true;
    case KREIN_CELL_MISSING:
        *v = NAN;
        return missing_ok ? true : missing(w, c);
    case KREIN_CELL_INFINITE:
        krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                         "%s is not finite: \"%s\"; write a finite number, or leave the cell empty "
                         "and see `missing`",
                         krein__column_text(w->r, w->j, column),
                         krein__cell_text(c->text, c->length, cell));
        return false;
    case KREIN_CELL_TEXT:
        if (!krein__missing_word(c->text, c->length)) break;
        *v = NAN;
        return missing_ok ? true : missing(w, c);
    }
    krein__rows_fail(w->piece, KREIN_EFORMAT, c->text,
                     "%s is not a number: \"%s\"; the first 1,000 cells of the column are, which "
                     "makes it numeric: correct the cell, or leave the column out with `ignore`",
                     krein__column_text(w->r, w->j, column),
                     krein__cell_text(c->text, c->length, cell));
    return false;
}

/* A cell that is read as the column's reading says: NaN in v when missing. */
static bool readings(place *w, const krein_csv_cell *c, bool missing_ok, double *v) {
    static const char *const what[] = {"number", "truth value", "number", "date", "time"};
    char column[96], cell[48];
    krein_reading r = w->r->column[w->j].reading;
    if (krein__read_cell(r, c->text, c->length, v)) return true;
    if (krein__cell(c->text, c->length, v) == KREIN_CELL_MISSING ||
        krein__missing_word(c->text, c->length)) {
        for (int k = 0; k < KREIN_READ_PARTS; k++) v[k] = NAN;
        return missing_ok ? true : missing(w, c);
    }
    krein__rows_fail(w->piece, KREIN_EFORMAT, c->text,
                     "%s is not a %s of the form that the first 1,000 cells of the column have: "
                     "\"%s\"; correct the cell, or take the column for text with `types=plain`",
                     krein__column_text(w->r, w->j, column), what[r.as],
                     krein__cell_text(c->text, c->length, cell));
    return false;
}

/* The last number of a cell has the column's shift. */
static bool read_feature(place *w, const krein_csv_cell *c, const op *o) {
    double v[KREIN_READ_PARTS];
    int64_t parts = krein__reading_parts(w->r->column[w->j].reading);
    if (!readings(w, c, w->r->missing_ok, v)) return false;
    w->piece->missing |= isnan(v[0]);
    for (int64_t k = 0; k < parts; k++)
        w->raw->num[w->i * w->raw->nnum + o->slot + k] =
            (float)(v[k] - (k == parts - 1 ? o->shift : 0));
    return true;
}

static bool feature(place *w, const krein_csv_cell *c, const op *o) {
    char column[96], cell[48];
    double v;
    if (!number(w, c, w->r->missing_ok, &v)) return false;
    float f = (float)(v - o->shift);
    if (isinf(f)) {
        krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                         "%s is too large for single precision: \"%s\"; features must stay below "
                         "3.4e38: change the unit",
                         krein__column_text(w->r, w->j, column),
                         krein__cell_text(c->text, c->length, cell));
        return false;
    }
    w->piece->missing |= isnan(v);
    w->raw->num[w->i * w->raw->nnum + o->slot] = f;
    return true;
}

static bool word(place *w, const krein_csv_cell *c, const op *o, int64_t *code) {
    char column[96], cell[48];
    if (memchr(c->text, 0, c->length)) {
        krein__rows_fail(w->piece, KREIN_EFORMAT, c->text,
                         "%s holds a NUL character; is this a text file?",
                         krein__column_text(w->r, w->j, column));
        return false;
    }
    *code = krein__rows_code(w->r, w->piece, w->j, o->dict, c->text, c->length);
    if (*code != -2 || !w->r->known_only || w->r->column[w->j].open) return *code != -3;
    krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                     "%s holds a category never seen in training: \"%s\"; pass `unknown_ignore` to "
                     "take it as none",
                     krein__column_text(w->r, w->j, column),
                     krein__cell_text(c->text, c->length, cell));
    return false;
}

/* A label that is text; NaN in *v when missing. */
static bool label_text(place *w, const krein_csv_cell *c, const op *o, double *v) {
    char column[96], cell[48];
    int64_t code;
    bool sets = w->r->column[w->j].sets;
    krein_csv_cell nothing = {.text = (char[]){0}};
    if (krein__cell(c->text, c->length, v) == KREIN_CELL_MISSING && !(sets && c->length == 0)) {
        *v = NAN;
        return w->r->label_optional ? true : missing(w, c);
    }
    if (sets && !krein__set_valid(c->text, c->length, '|')) {
        krein__rows_fail(w->piece, KREIN_EDATA, c->text,
                         "%s has an empty name among its labels: \"%s\"; write one | between two",
                         krein__column_text(w->r, w->j, column),
                         krein__cell_text(c->text, c->length, cell));
        return false;
    }
    if (!word(w, c->length > 0 ? c : &nothing, o, &code)) return false;
    *v = (double)code;
    return true;
}

static bool take(place *w, krein_csv_cell *c, const op *o) {
    krein_raw *raw = w->raw;
    char column[96], cell[48];
    int64_t code = -1;
    double v;
    if (c->trailing) {
        krein__rows_fail(w->piece, KREIN_EFORMAT, c->text,
                         "%s goes on behind its closing quote; double the quotes inside a quoted "
                         "field",
                         krein__column_text(w->r, w->j, column));
        return false;
    }
    krein__csv_undouble(c);
    switch (o->kind) {
    case NUMBER:
        return feature(w, c, o);
    case READING:
        return read_feature(w, c, o);
    case CATEGORY:
        if (krein__cell(c->text, c->length, &v) == KREIN_CELL_MISSING) {
            if (!w->r->missing_ok) return missing(w, c);
            w->piece->missing = true;
        } else if (!word(w, c, o, &code)) {
            return false;
        }
        raw->cat[w->i * raw->ncat + o->slot] = (int32_t)code;
        return true;
    case LABEL:
        return number(w, c, w->r->label_optional, &raw->label[w->i * raw->nlabel + o->slot]);
    case LABEL_READING: {
        double all[KREIN_READ_PARTS];
        if (!readings(w, c, w->r->label_optional, all)) return false;
        raw->label[w->i * raw->nlabel + o->slot] = all[0];
        return true;
    }
    case LABEL_TEXT:
        return label_text(w, c, o, &raw->label[w->i * raw->nlabel + o->slot]);
    case WEIGHT:
        if (!number(w, c, false, &v)) return false;
        if (v < 0) {
            krein__rows_fail(w->piece, KREIN_EDATA, c->text, "%s is %s; row weights must be >= 0",
                             krein__column_text(w->r, w->j, column),
                             krein__cell_text(c->text, c->length, cell));
            return false;
        }
        raw->weight[w->i] = v;
        return true;
    case GROUP:
        if (c->length == 0) return missing(w, c);
        if (!word(w, c, o, &code)) return false;
        raw->group[w->i] = (int32_t)code;
        return true;
    case ID:
        raw->id[w->i] = w->id;
        if (c->length > 0) memcpy(w->id, c->text, c->length); /* no text in an empty cell */
        w->id[c->length] = 0;
        w->id += c->length + 1;
        return true;
    case SKIP:
        break;
    }
    return true;
}

/* ---- rows ---------------------------------------------------------------------- */

/* Whether the number that ends at q fills its cell. */
static inline bool fills(const char *q, const op *o) {
    return *q == o->stop && (o->stop != ' ' || q[1] > ' ');
}

/* A number with blanks before it, many digits, an exponent or CRLF behind it: the end of its cell,
 * or NULL when it is something else. Not inline: it would take registers from the short way. */
static __attribute__((noinline)) char *long_number(char *p, const op *o, double *v) {
    while (*p == ' ') p++;
    char *q = (char *)krein__number(p, v);
    if (q && o->stop == '\n' && *q == '\r') q++;
    return q && fills(q, o) ? q : NULL;
}

/* The row at p; behind it, or NULL on an error. */
static char *parse_row(place *w, char *p, const op *ops) {
    krein_reader *r = w->r;
    char *row = p, *end = w->piece->end;
    int64_t n = r->ncolumn;
    krein_raw *raw = w->raw; /* without such a column there is no array */
    float *num = raw->num ? raw->num + w->i * raw->nnum : NULL;
    double *label = raw->label ? raw->label + w->i * raw->nlabel : NULL;
    for (int64_t j = 0; j < n; j++) {
        const op *o = &ops[j];
        if (o->kind == NUMBER || o->kind == LABEL) {
            double v, other = 0; /* two: only what stays in a register is fast */
            char *q = (char *)krein__short(p, &v);
            if (!q || !fills(q, o)) {
                q = long_number(p, o, &other);
                v = other;
            }
            float f = q ? (float)(v - o->shift) : 0;
            if (q && o->kind == NUMBER && fabsf(f) <= FLT_MAX) {
                num[o->slot] = f;
                p = q + 1;
                continue;
            }
            if (q && o->kind == LABEL && isfinite(v)) {
                label[o->slot] = v;
                p = q + 1;
                continue;
            }
        }
        krein_csv_cell c = krein__csv_cell(p, end, r->delimiter);
        w->j = j;
        /* in a single column an empty line is a missing cell */
        if (c.last != (j == n - 1) || (c.nothing && n > 1))
            return krein__csv_ragged(r, w->piece, row, j, p);
        if (!take(w, &c, o)) return NULL;
        p = c.next;
    }
    return p;
}

static void parse_piece(krein_reader *r, krein_raw *raw, krein_piece *piece) {
    const csv *c = r->state->own;
    const krein_chunk *b = &r->state->block;
    place w = {.r = r, .piece = piece, .raw = raw, .i = piece->first_row};
    /* an id and its NUL take no more room than its row and one byte */
    if (raw->id_text) w.id = raw->id_text + (piece->begin - b->buf) + piece->first_row;
    char *p = piece->begin;
    while (p && p < piece->end) {
        p = parse_row(&w, p, c->op);
        w.i++;
    }
    piece->got_rows = piece->rows;
}

static krein_status csv_next(krein_reader *r, krein_raw *raw) {
    struct krein_reader_state *s = r->state;
    krein_chunk *b = &s->block;
    csv *c = s->own;
    krein_status st = KREIN_OK;
    bool empty = false;
    int64_t n = 0;
    int threads = r->ctx->threads;
    raw->n = 0;
    while (n == 0 && !empty) {
        TRY(krein__chunk_next(r, &empty));
        if (c->drop && !empty) {
            krein__chunk_drop_row(r);
            c->drop = false;
        }
        for (int64_t i = 0; i < b->npiece; i++) n += b->piece[i].rows;
    }
    TRY(krein__rows_room(r, raw, n, 0, (int64_t)b->end + n));
    if (empty) goto done;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (b->npiece > 1)
    for (int64_t i = 0; i < b->npiece; i++) parse_piece(r, raw, &b->piece[i]);
    TRY(krein__rows_status(r));
    TRY(krein__rows_merge(r, raw));
    for (int64_t i = 0; i < b->npiece; i++) raw->any_missing |= b->piece[i].missing;
    raw->n = n;
    s->row += n;
done:
    return st;
}

static krein_status csv_seek(krein_reader *r, const krein_mark *to) {
    csv *c = r->state->own;
    c->drop = false;
    return krein__chunk_seek(r, to);
}

const krein_reader_class krein__read_csv = {.name = "csv",
                                            .open = csv_open,
                                            .begin = csv_begin,
                                            .next = csv_next,
                                            .seek = csv_seek,
                                            .close = csv_close};
