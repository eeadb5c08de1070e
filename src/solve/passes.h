/* passes.h -- passes over features, there and back: out = Z'R, where R are residuals that the
 * caller makes of the scores Z v. */
#ifndef KREIN_PASSES_H
#define KREIN_PASSES_H

#include "solve/features.h"

enum { KREIN_SLICE = 128 }; /* rows of a block that one thread takes at a time */

typedef struct krein_passes {
    krein_ctx *ctx;
    int64_t n, D, k, rows, count; /* rows of a block; passes so far */
    int64_t most;                 /* of k */
    float *w32;                   /* k x D */
    float *score;                 /* rows x k: scores, then residuals */
    double *wide;                 /* rows x k */
    float *part;                  /* slices x k x D: shares of the result */
    double *tail;                 /* slices x k: sums of residuals */
    float *widened;               /* of a rounded table and many scores: a slice for each thread */
    float *strips;                /* of rows that are made again: some for each thread */
} krein_passes;

/* The scores (n x k) of rows first .. first + n - 1 become residuals, whose sums are added to
 * `tail` (k). wide: n x k of scratch. Called in parallel, for different rows. */
typedef void krein_residuals(const void *state, int64_t first, int64_t n, float *score,
                             double *wide, double *tail);
/* Element (j, c) of a D x k matrix is at j * row + c * column. */
typedef struct krein_strides {
    int64_t row, column;
} krein_strides;

/* k: scores of a row. It may be made smaller between passes. */
krein_status krein__passes_begin(krein_features *features, int64_t k, krein_passes *out);
void krein__passes_end(krein_passes *s);
/* threads: 0 where the features are not of a rounded table. */
double krein__passes_bytes(int64_t D, int64_t k, int64_t rows, int threads);
/* And for rows that are made a few at a time. */
double krein__passes_strip_bytes(int64_t D, int64_t k, int threads);
/* out (D x k) = Z'R, and sum (k) of the residuals. */
krein_status krein__passes_run(krein_passes *s, krein_features *features,
                               krein_residuals *residuals, const void *state, krein_strides strides,
                               const double *v, double *out, double *sum);

#endif
