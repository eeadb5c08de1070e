/* memory.h -- readers of the caller's rows: arrays, or blocks of them that a function gives. */
#ifndef KREIN_MEMORY_H
#define KREIN_MEMORY_H

#include "file/reader.h"
#include "stream/view.h"

krein_status krein__memory_open(krein_ctx *ctx, const krein_rows_view *view, krein_reader **out);
/* empty: a source may have no rows. */
krein_status krein__source_open(krein_ctx *ctx, const krein_rows_source *source, bool empty,
                                krein_reader **out);

/* What the first cells of a column are: a number, or texts that may mean something. */
typedef struct krein_look {
    krein_reading_search texts;
    double number; /* the first that is finite */
    bool found;    /* there is one */
} krein_look;

enum { KREIN_LOOK_ROWS = 1000 };
/* At the first `rows` rows of arrays, one for each column; of a source's rows only none, or what
 * was seen when it was opened. */
void krein__memory_look(const krein_reader *r, int64_t rows, krein_look *out);
/* Adds what was seen in the rows behind them. */
void krein__look_add(const krein_reader *r, krein_look *look, const krein_look *behind);
/* What follows for the columns: shifts, and how their texts may be read. NULL: from the rows of
 * this reader. */
void krein__memory_looked(krein_reader *r, const krein_look *look);

/* A number for all that the arrays say: names of columns, cells, labels, weights and groups. Those
 * that a function gives have none: KREIN_EARG. */
krein_status krein__memory_digest(const krein_reader *r, uint64_t *out);

/* Messages name this process where it has rows of its own among several. */
void krein__memory_process(krein_reader *r);
/* "row 3", from a number that counts from 0, or "row 3 of process 1". */
typedef struct krein_row_text {
    char text[64];
} krein_row_text;
krein_row_text krein__row_text(const krein_reader *r, int64_t row);

/* The block of rows at hand, for convert.c. */
typedef struct krein_memory {
    krein_rows_source source; /* next is NULL: there is one block */
    krein_rows_view first;    /* what the first block has; its arrays may be gone */
    krein_rows_view view;
    krein_cells *cells; /* of the columns of the reader */
    krein_look *look;   /* the same, of the first rows of the first block */
    int process;        /* whose rows they are, for messages; -1: nobody asks */
    int64_t at;         /* rows of the block that were given out */
    bool unread;        /* it is the first block, of which nothing was given out */
    bool ended;
    int64_t *input; /* dense: where the numeric features are, in elements; and their shifts */
    double *shift;
} krein_memory;

/* Rows at .. at + m - 1 of the block into a batch that has room for them. */
krein_status krein__convert(krein_reader *r, const krein_memory *s, int64_t m, krein_raw *raw);

#endif
