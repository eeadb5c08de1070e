/* memory.h -- readers of the caller's rows: arrays, or blocks of them that a function gives. */
#ifndef KREIN_MEMORY_H
#define KREIN_MEMORY_H

#include "file/reader.h"
#include "stream/view.h"

krein_status krein__memory_open(krein_ctx *ctx, const krein_rows_view *view, krein_reader **out);
krein_status krein__source_open(krein_ctx *ctx, const krein_rows_source *source,
                                krein_reader **out);

/* The block of rows at hand, for convert.c. */
typedef struct krein_memory {
    krein_rows_source source; /* next is NULL: there is one block */
    krein_rows_view first;    /* what the first block has; its arrays may be gone */
    krein_rows_view view;
    krein_cells *cells; /* of the columns of the reader */
    int64_t at;         /* rows of the block that were given out */
    bool unread;        /* it is the first block, of which nothing was given out */
    bool ended;
    int64_t *input; /* dense: where the numeric features are, in elements; and their shifts */
    double *shift;
} krein_memory;

/* Rows at .. at + m - 1 of the block into a batch that has room for them. */
krein_status krein__convert(krein_reader *r, const krein_memory *s, int64_t m, krein_raw *raw);

#endif
