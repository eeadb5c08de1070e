/* stats.h -- column statistics of raw rows, for the scalers. */
#ifndef KREIN_STATS_H
#define KREIN_STATS_H

#include "file/reader.h"

/* Per numeric column: count, mean and sum of squared deviations, merged over fixed blocks of rows
 * by Chan's formula, so the result depends on the rows only; minimum and maximum. Per text column:
 * counts of the codes. A row of weight w counts as w equal rows, and one of weight zero not at all,
 * but for least and most: a kernel must be able to take every row. */
typedef struct krein_stats {
    double weight; /* of all rows; without weights their number */
    int64_t nnum, ncat;
    double *count, *mean, *m2, *low, *high; /* count: weight of the cells that are there */
    double *least, *most;                   /* as low and high, with the rows of weight zero */
    double *absent;                         /* nnum: weight of the cells that are missing */
    double **code_count;                    /* ncat arrays */
    int64_t *codes;                         /* their lengths */
    double *no_code;                        /* ncat: weight of the missing texts */
    int64_t *cells;                         /* ncat: texts that have a code */
    /* rows of the block that is being filled */
    int64_t fill;
    float *pending; /* block x nnum */
    double *pending_weight;
} krein_stats;

krein_status krein__stats_begin(krein_ctx *ctx, krein_stats *s, int64_t nnum, int64_t ncat,
                                bool sparse);
/* Adds row i of a raw batch. num has row stride ld. For sparse rows the columns grow. */
krein_status krein__stats_add(krein_ctx *ctx, krein_stats *s, const krein_raw *raw, int64_t ld,
                              int64_t i);
/* Room for so many columns (sparse), or codes of text column k. */
krein_status krein__stats_widen(krein_ctx *ctx, krein_stats *s, int64_t nnum);
krein_status krein__stats_codes(krein_ctx *ctx, krein_stats *s, int64_t k, int64_t codes);
void krein__stats_end(krein_stats *s); /* merges the last block */
/* No row was added: a value of column j is its minimum and maximum. Zeros of sparse rows are not
 * stored, and count as values. */
void krein__stats_no_range(krein_stats *s, int64_t j);
void krein__stats_clear(krein_ctx *ctx, krein_stats *s);

#endif
