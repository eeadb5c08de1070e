/* log.h -- logarithms of heavy-tailed columns. */
#ifndef KREIN_LOG_H
#define KREIN_LOG_H

#include "encode/encoding.h"

/* Columns whose logarithm may be taken, and what a sample's rows become by it. */
typedef struct krein_logs {
    int64_t n;
    int64_t *column; /* encoded columns, ascending */
    float *offset, *centre, *factor, *fill;
    float *x; /* n x rows of the sample */
} krein_logs;

/* Finds the heavy-tailed columns of a dense encoding with scale=standard. x: rows of a sample,
 * encoded without a clip. Their new scale is the one that trim.h gives with this clip (INFINITY:
 * nothing is cut). */
krein_status krein__logs_find(krein_ctx *ctx, const krein_encoding *e, double clip,
                              const krein_matrix *x, krein_logs *out);
/* The encoding takes those of these logarithms (NULL: all) from now on; streams that are open give
 * rows with them from their next block on. */
krein_status krein__encoding_set_logs(krein_ctx *ctx, krein_encoding *e, const krein_logs *logs,
                                      const bool *which);
void krein__logs_clear(krein_ctx *ctx, krein_logs *logs);

#endif
