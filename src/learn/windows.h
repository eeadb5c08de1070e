/* windows.h -- training rows for nets: some are held out, the others come in windows.
 *
 * A window is what is in memory at a time: all rows where they take at most a third of the memory
 * budget, else rows that follow each other in the data, read again in every epoch. Rows without
 * labels stand behind those with labels, with weight 0. Images that are bytes stay bytes until a
 * batch is made of them.
 *
 * A net that is trained on windows has checkpoints: its state, and the size of the windows, are
 * parts of the job's file (net_state.c). */
#ifndef KREIN_WINDOWS_H
#define KREIN_WINDOWS_H

#include "learn/learn.h"
#include "net/fit.h"

typedef struct krein_windows {
    krein_job *job;
    int64_t k, n, held; /* outputs; rows that are trained on, with and without labels; held out */
    int64_t rows;       /* of a window, at most */
    bool in_bytes;      /* these are bytes */
    int64_t entries;    /* of a window, at most, where rows are sparse */
    krein_fit_rows fit; /* as krein__net_fit takes them */
    double *unit;       /* k: numbers are divided by it, so that they have variance one */
    /* private */
    uint8_t *is_held;    /* of the job's rows */
    float *y, *weight;   /* n x k, n */
    int32_t *class;      /* n, or NULL */
    float *held_y;       /* held x k */
    float *held_weight;  /* held, or NULL */
    int32_t *held_class; /* held, or NULL */
    int64_t *held_row;   /* held: their numbers among the job's rows, ascending */
    krein_matrix x, held_x;
    int64_t at, before;   /* the window in memory; the one that reading stands before; -1: none */
    int64_t stream, next; /* where reading is: the stream, and the row of the block */
    krein_block block;
    krein_fit_snapshot kept; /* the state that the checkpoint has last */
} krein_windows;

/* A tenth of the rows is held out, at most 10,000 (groups whole, classes spread evenly), where
 * there are at least 40. unlabelled: the job's rows without labels come too. */
krein_status krein__windows_open(krein_job *job, bool unlabelled, krein_windows *w);
void krein__windows_close(krein_windows *w);
double krein__windows_bytes(const krein_map *map, int64_t n, int64_t k);
/* krein__net_fit on these rows. Where the job has a checkpoint the state is kept there, and a
 * training that was interrupted goes on; the net must live as long as the windows. */
krein_status krein__windows_fit(krein_windows *w, krein_net *net, const krein_fit_options *o,
                                krein_fit_report *out);
/* The error of the rows held out in the units of the data: the share of wrong classes, or
 * the root of the mean square over rows and outputs (krein__net_off). scores: held x k, of the net.
 */
double krein__windows_error(const krein_windows *w, const krein_loss_class *loss,
                            const float *scores);
/* Inside: the size of the windows is that of the checkpoint, if it has one, and kept there. */
krein_status krein__windows_recall(krein_windows *w);
void krein__windows_forget(krein_windows *w);

#endif
