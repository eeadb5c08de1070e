/* windows.h -- training rows for nets: some are held out, the others come in windows.
 *
 * A window is what is in memory at a time: all rows where they take at most a third of the memory
 * budget (sparse rows always do), else rows that follow each other in the data, read again in every
 * epoch. Rows without labels stand behind those with labels, with weight 0. */
#ifndef KREIN_WINDOWS_H
#define KREIN_WINDOWS_H

#include "learn/learn.h"
#include "net/fit.h"

typedef struct krein_windows {
    krein_job *job;
    int64_t k, n, held; /* outputs; rows that are trained on, with and without labels; held out */
    int64_t rows;       /* of a window, at most */
    krein_fit_rows fit; /* as krein__net_fit takes them */
    double *unit;       /* k: numbers are divided by it, so that they have variance one */
    /* private */
    uint8_t *is_held;    /* of the job's rows */
    float *y, *weight;   /* n x k, n */
    int32_t *class;      /* n, or NULL */
    float *held_y;       /* held x k */
    float *held_weight;  /* held, or NULL */
    int32_t *held_class; /* held, or NULL */
    krein_matrix x, held_x;
    int64_t room;         /* entries of x, where it is sparse */
    int64_t at;           /* the window in memory; -1: none */
    int64_t stream, next; /* where reading is: the stream, and the row of the block */
    krein_block block;
} krein_windows;

/* A tenth of the rows is held out, at most 10,000 (groups whole, classes spread evenly), where
 * there are at least 40. unlabelled: the job's rows without labels come too. */
krein_status krein__windows_open(krein_job *job, bool unlabelled, krein_windows *w);
void krein__windows_close(krein_windows *w);
double krein__windows_bytes(const krein_map *map, int64_t n, int64_t k);

#endif
