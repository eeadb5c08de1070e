/* median.h -- the median distance, a first guess at every kernel's scale. */
#ifndef KREIN_MEDIAN_H
#define KREIN_MEDIAN_H

#include "stream/data.h"
#include "kernel/kernel.h"

/* Median distance (metric 1: L1, 2: L2) over all pairs of at most 512 rows of x. */
krein_status krein__median_distance(krein_ctx *ctx, const krein_rows *x, int metric, double *out);
/* Gives every free parameter the median distance of x times its spread, and says so in the log. */
krein_status krein__kernel_set_median_rows(krein_ctx *ctx, krein_kernel *k, const krein_rows *x,
                                           krein_log_level say);
/* The same from a seeded sample of the n rows of a stream. */
krein_status krein__kernel_set_median(krein_ctx *ctx, krein_kernel *k, krein_stream *rows,
                                      int64_t n, uint64_t seed);

/* The rows that the one above looks at, for several kernels. */
krein_status krein__median_rows(krein_stream *rows, int64_t n, uint64_t seed, krein_matrix *out);

#endif
