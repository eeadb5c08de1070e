/* view.h -- the caller's arrays: whether they make sense, and their columns. */
#ifndef KREIN_VIEW_H
#define KREIN_VIEW_H

#include "base/base.h"

/* One column: numbers, or texts, or codes of words. */
typedef struct krein_cells {
    const void *number;
    krein_element type;
    int64_t stride;
    const char *const *text;
    const int32_t *code;
    const char *const *word;
    int64_t words;
    bool is_text, category;
} krein_cells;

/* A copy of what the caller gave, with its defaults filled in; KREIN_EARG where it makes no sense.
 * first: the number of its first row, for messages. */
krein_status krein__view_take(krein_ctx *ctx, const krein_rows_view *given, int64_t first,
                              krein_rows_view *out);
/* A later block has what the first one had. */
krein_status krein__view_same(krein_ctx *ctx, const krein_rows_view *first,
                              const krein_rows_view *v);

/* Columns in the order of a file: the labels, the inputs (none of sparse rows), weight, group. */
int64_t krein__view_labels(const krein_rows_view *v);
int64_t krein__view_inputs(const krein_rows_view *v);
krein_cells krein__view_label(const krein_rows_view *v, int64_t k);
krein_cells krein__view_input(const krein_rows_view *v, int64_t j);
krein_cells krein__view_group(const krein_rows_view *v);

/* Cell i of a column of texts, NULL where it is missing or its code is none. */
const char *krein__cells_text(const krein_cells *c, int64_t i);
/* Cell i of a column of numbers. */
double krein__cells_number(const krein_cells *c, int64_t i);
/* Element i of an array of 32- or 64-bit whole numbers. */
static inline int64_t krein__whole(const void *array, krein_element type, int64_t i) {
    return type == KREIN_INT32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

#endif
