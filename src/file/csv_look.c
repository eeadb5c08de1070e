/* csv_look.c -- what kind of CSV is it: delimiter, header, text columns.
 *
 * Delimiter: among tab, semicolon, comma and space the one that gives all rows at the beginning
 * of the file (64 rows, 64 KB) the same number of cells, more than one; if several do, the one
 * that makes the larger share of the cells below the first row numbers, then the first in the
 * order above. If none does, the one (not space) most rows agree on with the first row: the rows
 * that do not are then reported.
 *
 * Header: the first row holds names when
 *   - in some column it has a word where the rows below have numbers (or nothing), or
 *   - all its cells are different words, and there is a number somewhere below, or
 *   - no number is anywhere, all its cells are different words, none of them comes again in
 *     its column, while in some column the second row's word does; or the row is alone.
 *
 * Text: a column is text when one of its first 1,000 cells is a word (see krein__cell), but for
 * words that stand for missing numbers. What texts may mean, a date say, is in reading.h. All of
 * this depends on the file alone, not on the buffer.
 */
#include "file/csv.h"

#include <math.h>
#include <string.h>

enum { SAMPLE_ROWS = 64, SAMPLE_BYTES = 1 << 16, LOOK = 1000 };
static const char candidates[] = "\t;, ";

int64_t krein__csv_count(char *p, char *end, char delimiter) {
    int64_t n = 0;
    for (;;) {
        krein_csv_cell c = krein__csv_cell(p, end, delimiter);
        n += !c.nothing;
        if (c.last) return n;
        p = c.next;
    }
}

char *krein__csv_ragged(krein_reader *r, krein_piece *piece, char *row, int64_t j, char *at) {
    int64_t n = j + krein__csv_count(at, piece->end, r->delimiter);
    if (n <= 1 && at[strspn(at, " \t\r")] == '\n')
        return krein__rows_fail(piece, KREIN_EFORMAT, row,
                                "a blank line where %lld cells are expected; remove it",
                                (long long)r->ncolumn);
    return krein__rows_fail(piece, KREIN_EFORMAT, row,
                            "%lld cell%s where %lld %s expected, as in the first row; if the "
                            "delimiter is not '%s', give it with `delimiter`",
                            (long long)n, n == 1 ? "" : "s", (long long)r->ncolumn,
                            r->ncolumn == 1 ? "is" : "are",
                            r->delimiter == '\t' ? "\\t" : (char[2]){r->delimiter, 0});
}

static krein_status find_delimiter(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    int64_t first[4] = {0}, agree[4] = {0}, numbers[4] = {0}, cells[4] = {0}, rows = 0;
    double best = -1;
    bool empty;
    krein_status st;
    TRY(krein__chunk_next(r, &empty));
    r->delimiter = ',';
    if (empty) goto done;
    char *p = b->buf + b->begin, *end = b->buf + b->end, *limit = b->buf + SAMPLE_BYTES;
    while (p < end && rows < SAMPLE_ROWS) {
        char *next = krein__chunk_row_end(b, p, end, NULL);
        if (!next || (rows > 0 && next > limit)) break;
        for (int k = 0; k < 4; k++) {
            int64_t n = 0;
            krein_csv_cell c = {.next = p};
            while (!c.last) {
                double v;
                c = krein__csv_cell(c.next, next, candidates[k]);
                if (c.nothing) continue;
                n++;
                if (rows == 0) continue;
                cells[k]++;
                numbers[k] += krein__cell(c.text, c.length, &v) != KREIN_CELL_TEXT;
            }
            if (rows == 0) first[k] = n;
            agree[k] += n == first[k];
        }
        rows++;
        p = next;
    }
    for (int k = 0; k < 4; k++) {
        double score = cells[k] ? (double)numbers[k] / (double)cells[k] : 0;
        if (first[k] < 2) continue;
        if (agree[k] == rows)
            score += 2;
        else if (candidates[k] != ' ')
            score = (double)agree[k] / (double)rows;
        else
            continue;
        if (score > best) {
            best = score;
            r->delimiter = candidates[k];
        }
    }
done:
    return st;
}

/* What is known of a column while looking. */
typedef struct sight {
    krein_cell head; /* kind of the first row's cell */
    double head_value;
    bool plain;           /* words are words */
    bool number, word;    /* below the first row */
    bool recurs, repeats; /* the first row's word below it; the second row's below that */
    char *name, *second;  /* their texts */
    bool absent;          /* a word that stands for a missing number */
    krein_reading_search reading;
} sight;

static bool same(const char *word, const krein_csv_cell *c) {
    return word && strlen(word) == c->length && !memcmp(word, c->text, c->length);
}

/* One row; only what it has to say about numbers and words. */
static krein_status look_at(krein_reader *r, sight *s, krein_piece *piece, int64_t row) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    char *p = piece->begin;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_csv_cell c = krein__csv_cell(p, piece->end, r->delimiter);
        double v = 0;
        bool blank = r->ncolumn == 1 && c.nothing; /* an empty line is a missing cell */
        if ((c.nothing && !blank) || c.last != (j == r->ncolumn - 1)) {
            krein__csv_ragged(r, piece, piece->begin, j, p);
            return KREIN_OK;
        }
        krein__csv_undouble(&c);
        krein_cell kind = krein__cell(c.text, c.length, &v);
        if (row == 0) {
            s[j].head = kind;
            s[j].head_value = v;
            if (!(s[j].name = krein__strndup(ctx, c.text, c.length))) return ctx->status;
        } else {
            if (kind == KREIN_CELL_NUMBER && !s[j].number) r->column[j].first = v;
            s[j].number |= kind == KREIN_CELL_NUMBER || kind == KREIN_CELL_INFINITE;
            bool absent =
                kind == KREIN_CELL_TEXT && !s[j].plain && krein__missing_word(c.text, c.length);
            s[j].absent |= absent;
            s[j].word |= kind == KREIN_CELL_TEXT && !absent;
            if (kind != KREIN_CELL_MISSING && !absent)
                krein__reading_look(&s[j].reading, c.text, c.length);
            if (kind == KREIN_CELL_TEXT && s[j].head == KREIN_CELL_TEXT) {
                s[j].recurs |= same(s[j].name, &c);
                s[j].repeats |= row > 1 && same(s[j].second, &c);
                if (row == 1 && !(s[j].second = krein__strndup(ctx, c.text, c.length)))
                    return ctx->status;
            }
        }
        p = c.next;
    }
    return st;
}

static krein_status is_header(krein_reader *r, const sight *s, int64_t rows, bool *out) {
    krein_ctx *ctx = r->ctx;
    krein_dict names = {0};
    bool number = false, recurs = false, repeats = false, words = true;
    *out = false;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (s[j].head == KREIN_CELL_TEXT && s[j].number && !s[j].word) *out = true;
        number |= s[j].number;
        recurs |= s[j].recurs;
        repeats |= s[j].repeats;
        words &= s[j].head == KREIN_CELL_TEXT;
    }
    if (*out || !words) return KREIN_OK;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (krein__dict_add(ctx, &names, s[j].name, strlen(s[j].name)) < 0) {
            krein__dict_clear(ctx, &names);
            return ctx->status;
        }
    }
    bool different = names.n == r->ncolumn;
    krein__dict_clear(ctx, &names);
    *out = rows == 1 || (different && (number || (!recurs && repeats)));
    return KREIN_OK;
}

/* The first `most` rows, one after the other; header is decided before the last of them is read. */
static krein_status look(krein_reader *r, sight **sights, int header, bool plain, int64_t most,
                         int64_t *rows) {
    krein_ctx *ctx = r->ctx;
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool empty = false, found = header == 1;
    *rows = 0;
    while (!empty && *rows < most + found) {
        TRY(krein__chunk_next(r, &empty));
        if (empty) break;
        krein_piece one = {.begin = b->buf + b->begin, .line = b->line};
        for (char *end = b->buf + b->end; one.begin < end && *rows < most + found;) {
            one.end = krein__chunk_row_end(b, one.begin, end, &one.lines);
            if (*rows == 0) {
                int64_t n = krein__max(1, krein__csv_count(one.begin, one.end, r->delimiter));
                ZNEW(r->column, n);
                r->ncolumn = n;
                ZNEW(*sights, n);
                for (int64_t j = 0; j < n; j++) krein__reading_begin(&(*sights)[j].reading);
                for (int64_t j = 0; j < n; j++) (*sights)[j].plain = plain;
            }
            TRY(look_at(r, *sights, &one, (*rows)++));
            if (one.status) {
                st = krein__fail(ctx, one.status, "%s:%lld: %s", r->path, (long long)one.bad_line,
                                 one.text);
                goto done;
            }
            if (*rows == most && header < 0) TRY(is_header(r, *sights, *rows, &found));
            one.line += one.lines;
            one.lines = 0;
            one.begin = one.end;
        }
    }
    if (*rows < most && header < 0 && *rows > 0) TRY(is_header(r, *sights, *rows, &found));
    r->header = found;
done:
    return st;
}

/* The first row is data, and its cell a word. */
static void look_at_head(sight *s, krein_column *c) {
    size_t length = strlen(s->name);
    if (!s->plain && krein__missing_word(s->name, length) && s->number) return;
    c->text = true;
    krein__reading_look(&s->reading, s->name, length);
}

krein_status krein__csv_look(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    sight *s = NULL;
    int64_t rows = 0;
    size_t buffer = r->state->buffer;
    /* the sample must not depend on the buffer */
    if (r->state->buffer < 2 * SAMPLE_BYTES) r->state->buffer = 2 * SAMPLE_BYTES;
    b->delimiter = options->delimiter;
    r->delimiter = options->delimiter;
    if (!options->delimiter) {
        TRY(krein__chunk_rewind(r));
        TRY(find_delimiter(r));
        b->delimiter = r->delimiter;
    }
    TRY(krein__chunk_rewind(r));
    TRY(look(r, &s, options->header, options->plain, options->look ? options->look : LOOK, &rows));
    if (rows == 0) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s: the file is empty", r->path);
        goto done;
    }
    if (rows == 1 && r->header) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s: only a header, no rows", r->path);
        goto done;
    }
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        c->text = s[j].word || (s[j].absent && !s[j].number);
        if (!r->header && s[j].head == KREIN_CELL_TEXT) look_at_head(&s[j], c);
        if (c->text && !options->plain) c->guess = krein__reading_end(&s[j].reading);
        if (c->guess.as) c->first = krein__reading_first(&s[j].reading, c->guess);
        if (!r->header && s[j].head == KREIN_CELL_NUMBER) c->first = s[j].head_value;
        if (r->header && *s[j].name) {
            c->name = s[j].name;
            s[j].name = NULL;
        }
    }
done:
    for (int64_t j = 0; s && j < r->ncolumn; j++) {
        krein__free(ctx, s[j].name);
        krein__free(ctx, s[j].second);
    }
    krein__free(ctx, s);
    /* the buffers of the look are not those of the run */
    krein__free(ctx, b->buf);
    b->buf = NULL;
    b->room = b->length = b->begin = b->end = 0;
    r->state->buffer = buffer;
    return st;
}
