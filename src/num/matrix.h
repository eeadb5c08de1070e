/* matrix.h -- views of rows: dense row-major float32, or CSR. A view owns nothing. */
#ifndef KREIN_MATRIX_H
#define KREIN_MATRIX_H

#include "base/base.h"

/* Rows of a tile. Dense tiles are padded to it, so that a value does not depend on how many rows
 * came with it (a one-row product must not take another code path). A multiple of the 12 rows that
 * OpenBLAS's kernels take at a time: left-over rows are summed in another order. */
enum { KREIN_TILE = 192 };

typedef struct krein_rows {
    int64_t n, d;
    const float *x; /* dense when ptr is NULL: row i at x + i * ld */
    int64_t ld;
    const int64_t *ptr; /* CSR: row i is entries ptr[i] .. ptr[i+1]-1 */
    const int32_t *col; /* ascending within a row */
    const float *val;
    /* Dense rows that are bytes (x is NULL): (byte - centre) factor, column by column. For those
     * who take rows by krein__row_copy alone. */
    const uint8_t *byte;
    const float *centre, *factor;
} krein_rows;

static inline bool krein__rows_sparse(const krein_rows *r) { return r->ptr != NULL; }
/* Rows first .. first + n - 1 of r. */
krein_rows krein__rows_slice(const krein_rows *r, int64_t first, int64_t n);
krein_rows krein__rows_dense(int64_t n, int64_t d, const float *x, int64_t ld);

/* An owned matrix with the same two shapes. */
typedef struct krein_matrix {
    int64_t n, d, nnz;
    float *x;
    int64_t *ptr;
    int32_t *col;
    float *val;
    uint8_t *byte; /* in place of x; centre and factor are somebody else's */
    const float *centre, *factor;
} krein_matrix;

krein_rows krein__matrix_rows(const krein_matrix *m);
void krein__matrix_clear(krein_ctx *ctx, krein_matrix *m);
/* Copies the listed rows of r, dense or CSR as r is. */
krein_status krein__matrix_gather(krein_ctx *ctx, const krein_rows *r, const int64_t *index,
                                  int64_t n, krein_matrix *out);
/* Row i written out densely to out[0..d-1]. */
void krein__row_copy(const krein_rows *r, int64_t i, float *out);
void krein__row_copy_double(const krein_rows *r, int64_t i, double *out);

#endif
