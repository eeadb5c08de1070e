/* scored_rows.h -- rows by which a model is put into a few bits, with its scores. */
#ifndef KREIN_SCORED_ROWS_H
#define KREIN_SCORED_ROWS_H

#include "model/model.h"

/* The calibration rows. */
typedef struct krein_scored_rows {
    int64_t n, d, k; /* rows, encoded columns, scores */
    float *x, *most; /* n x d; d: largest sizes of the columns, beyond which they are cut */
    double *f;       /* n x k: scores of the model, without intercepts */
} krein_scored_rows;

/* data: NULL: there are none. c starts as zeros; clear it also after a failure. */
krein_status krein__scored_rows_make(krein_ctx *ctx, const krein_model *m, krein_data *data,
                                     krein_scored_rows *c);
/* Lowers the largest sizes of columns with values far out, to four times what all but a hundredth
 * of the rows are below; *any: there are such. */
krein_status krein__scored_rows_cut(krein_ctx *ctx, krein_scored_rows *c, bool *any);
void krein__scored_rows_clear(krein_ctx *ctx, krein_scored_rows *c);

#endif
