/* csv.h -- the cells of a CSV row.
 *
 *   row    := cell { delimiter cell } ['\r'] '\n'
 *   cell   := blanks ( '"' { any | '""' } '"' | { any but delimiter and newline } ) blanks
 *   blanks := { ' ' | tab }, a tab only where it is not the delimiter
 *
 * With a space as the delimiter, any run of blanks is one delimiter, and blanks at both ends of
 * a row mean nothing. The grammar agrees with krein__chunk_row_end on where a row ends.
 */
#ifndef KREIN_CSV_H
#define KREIN_CSV_H

#include "file/lines.h"

typedef struct krein_csv_cell {
    char *text; /* without blanks and quotes */
    size_t length;
    char *next;    /* behind the delimiter or newline */
    bool last;     /* a newline follows */
    bool nothing;  /* space as the delimiter: the row ended before a cell began */
    bool doubled;  /* holds doubled quotes */
    bool trailing; /* something stands behind the closing quote */
} krein_csv_cell;

static inline bool krein__csv_blank(char c, char delimiter) {
    return c == ' ' ? delimiter != ' ' : c == '\t' && delimiter != '\t' && delimiter != ' ';
}

/* Reads the cell at p in a piece (or row) that ends, with a newline, at end. */
static inline krein_csv_cell krein__csv_cell(char *p, char *end, char delimiter) {
    krein_csv_cell c = {0};
    bool spaces = delimiter == ' ';
    while (krein__csv_blank(*p, delimiter) || (spaces && (*p == ' ' || *p == '\t'))) p++;
    c.text = p;
    if (*p == '"') {
        c.text = ++p;
        for (;;) {
            p = memchr(p, '"', p < end ? (size_t)(end - p) : 0);
            if (!p) p = end - 1; /* cannot happen in a whole row */
            if (p[1] != '"' || p + 1 >= end) break;
            c.doubled = true;
            p += 2;
        }
        c.length = (size_t)(p++ - c.text);
        while (krein__csv_blank(*p, delimiter)) p++;
        char *rest = p;
        while (p < end && *p != '\n' && *p != delimiter && !(spaces && *p == '\t')) p++;
        c.trailing = p > rest && !(p == rest + 1 && *rest == '\r' && *p == '\n');
    } else {
        while (*p != '\n' && *p != delimiter && !(spaces && *p == '\t')) p++;
        char *stop = p;
        if (*p == '\n' && stop > c.text && stop[-1] == '\r') stop--;
        while (stop > c.text && krein__csv_blank(stop[-1], delimiter)) stop--;
        c.length = (size_t)(stop - c.text);
        c.nothing = spaces && c.length == 0;
    }
    if (spaces) { /* the run of blanks, and whether the row ends behind it */
        while (*p == ' ' || *p == '\t') p++;
        if (*p == '\r' && p[1] == '\n') p++;
    }
    c.last = p >= end || *p == '\n';
    c.next = spaces && !c.last ? p : p + 1;
    return c;
}

/* Makes one quote of two, in place; blanks fill the gap, so that newlines before any place in
 * the piece can still be counted. The row can then not be read a second time. */
static inline void krein__csv_undouble(krein_csv_cell *c) {
    if (!c->doubled) return;
    char *to = c->text, *end = c->text + c->length;
    for (char *p = c->text; p < end; p++) {
        *to++ = *p;
        p += *p == '"';
    }
    c->length = (size_t)(to - c->text);
    memset(to, ' ', (size_t)(end - to));
}

/* How many cells there are from p to the end of its row. */
int64_t krein__csv_count(char *p, char *end, char delimiter);
/* Finds delimiter, header and column types; fills r->column. */
krein_status krein__csv_look(krein_reader *r, const krein_reader_options *options);
/* The error of a row with the wrong number of cells, found at its cell j. */
char *krein__csv_ragged(krein_reader *r, krein_piece *piece, char *row, int64_t j, char *at);

#endif
