/* features.h -- a table of float32 features for solvers that visit rows many times. It comes in
 * blocks of rows, which are kept in memory or made again for every visit: the same bits either way.
 * A rounded table has its numbers to 16 bits (num/rounded.c), which takes half of the memory, and
 * the exact ones where the solver asks for these: then they are made again. */
#ifndef KREIN_FEATURES_H
#define KREIN_FEATURES_H

#include "base/base.h"

typedef struct krein_features {
    krein_ctx *ctx;
    int64_t n, D;
    int64_t rows, blocks; /* rows of a block (the last may have fewer) */
    float *kept;          /* n x D, or NULL; not of a rounded table */
    int64_t missing;      /* blocks at its end that are not there yet, or will not be */
    bool full;            /* they will not be: memory comes more slowly than they are made again */
    int slow;             /* blocks in a row whose memory came slowly */
    double waited, took;  /* seconds for that of the last one; for making one, at least */
    float *made;          /* rows x D, where these are not kept */
    int64_t at;           /* the block in `made`, -1: none */
    bool rounded, exact;  /* exact: visits are to the exact numbers of a rounded table */
    bool codes;           /* all codes of a rounded table are kept, else those of a block */
    int16_t *code;        /* n x D of a rounded table, or rows x D */
    float *scale;         /* n of it; errors are within half of them */
    int64_t code_at;      /* the block in `code`, -1: none */
    krein_status (*make)(void *state, int64_t block, float *out);
    /* Where rows can be made a few at a time, by any thread, else NULL: opens a block; makes n of
     * its rows. slices: many at a time, since what they are made from is larger than the caches. */
    krein_status (*open)(void *state, int64_t block);
    void (*strip)(void *state, int64_t first, int64_t n, float *out);
    bool slices;
    void *state;
} krein_features;

/* Rows block * rows to block * rows + *n - 1, *n x D, until the next call. Not for parallel
 * regions: making a block uses all threads. */
krein_status krein__features_block(krein_features *t, int64_t block, const float **z, int64_t *n);
/* The same in 16 bits, of a rounded table: of row i, scale[i] * code[i * D + j]. */
krein_status krein__features_codes(krein_features *t, int64_t block, const int16_t **code,
                                   const float **scale, int64_t *n);
/* Whether a block is in `kept`. */
bool krein__features_there(const krein_features *t, int64_t block);
/* Where the block is to be made so that it is kept, or NULL: it will not be. After it was made, in
 * so many seconds: placed. */
float *krein__features_place(krein_features *t, int64_t block);
void krein__features_placed(krein_features *t, double seconds);
/* Fills what is kept, `kept` or all of `code`. */
krein_status krein__features_keep(krein_features *t);
/* From now on visits are to exact numbers, or no longer. */
void krein__features_exact(krein_features *t, bool exact);

#endif
