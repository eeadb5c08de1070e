/* pcg_rows.h -- the rows that pcg.c fits: their weights, and sums of their features. */
#ifndef KREIN_PCG_ROWS_H
#define KREIN_PCG_ROWS_H

#include "solve/pcg.h"

/* 0 of a row that is held out. */
static inline double krein__pcg_weight(const krein_pcg_rows *rows, int64_t i) {
    if (rows->held && rows->held[i] >= 0) return 0;
    return rows->weight ? rows->weight[i] : 1;
}

/* sum (D) = sum_i w_i z_i, and *square = sum_i w_i |z_i|^2. A sample of the rows (ascending
 * `index`) goes to z. */
krein_status krein__pcg_sums(const krein_pcg_rows *rows, double *sum, double *square,
                             int64_t sample, const int64_t *index, float *z);
/* The sample alone, of a table that is not rounded. */
krein_status krein__pcg_gather(const krein_pcg_rows *rows, int64_t sample, const int64_t *index,
                               float *z);
/* The deviation of a rounded table's errors, weighted; after the sums. 0 of other tables. */
double krein__pcg_noise(const krein_pcg_rows *rows);

#endif
