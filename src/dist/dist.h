/* dist.h -- the same work on several processes.
 *
 * A context that has joined the others (krein__comm_open) is rank r of a number of ranks; any
 * other context is rank 0 of one, and every collective is then a plain return. So code that adds up
 * over rows calls krein__comm_sum behind its loop, and is the same for one process and for many.
 *
 * Collectives are called by all ranks, in the same order, from the thread that entered the library.
 * Sums of doubles are made in the order of the ranks, x_0 + x_1 + ..., whatever the network: the
 * same number of ranks gives the same bits, and all ranks hold the same ones.
 *
 * Failure. Between two collectives a rank may fail for reasons of its own (its part of a file is
 * damaged, its memory is full). Nobody may then wait for it forever, so every collective begins
 * with an agreement: each rank hands in whether it has failed. A rank that has goes, while it
 * unwinds, to
 *     krein__comm_agree(ctx, st)
 * and meets the others there, who are at the beginning of their next collective, whatever that
 * is. All of them then return the status of the lowest rank that failed, with its message. From
 * there on collectives return the same at once, without a message sent, until krein__comm_clear.
 * So agree may be called again on every level of the unwinding. With KREIN_OK it is the meeting
 * point at the end of the work, before rank 0 writes anything. A rank that waits in agree does so
 * until the others come to their next collective: poll and agree now and then in long loops.
 *
 * The agreement also compares what the ranks are about to do, and how much of it. Ranks that are
 * out of step (other options or files on another machine) get KREIN_ENUMERIC instead of a hang.
 *
 * A rank that is killed is the launcher's matter: mpirun ends the others.
 */
#ifndef KREIN_DIST_H
#define KREIN_DIST_H

#include "base/base.h"
#include "dist/transport.h"

typedef struct krein_comm krein_comm;

int krein__comm_rank(const krein_ctx *ctx);
int krein__comm_size(const krein_ctx *ctx);

/* All ranks hand in their status: KREIN_OK for all, or the failure of the lowest rank for all. */
krein_status krein__comm_agree(krein_ctx *ctx, krein_status mine);
/* Forgets an agreed failure: the ranks are in step again. Called by all, before new work. */
void krein__comm_clear(krein_ctx *ctx);

/* x[i] becomes the sum over the ranks. Needs at most 16 MB of memory. */
krein_status krein__comm_sum(krein_ctx *ctx, int64_t n, double *x);
/* Sum, minimum or maximum over the ranks. */
krein_status krein__comm_fold(krein_ctx *ctx, krein_fold how, int64_t n, int64_t *x);
/* x[i] becomes the largest of the ranks. */
krein_status krein__comm_most(krein_ctx *ctx, int64_t n, double *x);
/* What root has there. */
krein_status krein__comm_broadcast(krein_ctx *ctx, int root, void *bytes, int64_t n);
/* The bytes of all ranks behind each other, those of rank r from offset[r] to offset[r + 1]. Both
 * arrays are the caller's to krein__free; NULL on failure. */
krein_status krein__comm_gather(krein_ctx *ctx, const void *mine, int64_t n, char **all,
                                int64_t **offset);
/* n elements of `size` bytes of each rank, likewise behind each other; *count: of all. */
krein_status krein__comm_join(krein_ctx *ctx, const void *mine, int64_t n, size_t size, void *all,
                              int64_t *count);
/* x[i] becomes the sum over the ranks, before[i] the sum over those before this one. */
krein_status krein__comm_before(krein_ctx *ctx, int64_t n, int64_t *x, int64_t *before);
/* Pieces of all ranks go to rank 0, all of rank 0's first, then all of rank 1's, ...; rank 0 holds
 * one at a time. next gives a rank's next piece, n = 0 the end of them; it stays valid until next
 * is called again. take is called on rank 0 alone. Neither may call a collective; when one fails,
 * all ranks return its status. */
typedef krein_status (*krein_next_fn)(void *user, const void **bytes, int64_t *n);
typedef krein_status (*krein_take_fn)(void *user, int rank, const void *bytes, int64_t n);
krein_status krein__comm_collect(krein_ctx *ctx, krein_next_fn next, krein_take_fn take,
                                 void *user);
krein_status krein__comm_barrier(krein_ctx *ctx);

/* ---- joining and leaving ------------------------------------------------ */

/* What the environment says on who started the process. No launcher, or KREIN_MPI=off: rank 0 of
 * one, launcher NULL. */
typedef struct krein_launch {
    const char *launcher; /* "mpirun" or "srun" */
    int rank, size;
    int local_rank; /* among those on this machine; 0 where unknown */
} krein_launch;
krein_launch krein__launch(void);

/* Makes the context one of the processes that the launcher started: loads libkrein_mpi.so. Where
 * threads and memory were not asked for, they become this process's share of the machine. Does
 * nothing without a launcher, or with one process. Once in a process. */
krein_status krein__comm_open(krein_ctx *ctx);
/* The same over a transport, and a communicator of it, that are given. */
krein_status krein__comm_open_with(krein_ctx *ctx, const krein_transport *wire,
                                   const void *communicator);
/* The last agreement; then leaves, with the threads and memory of before. Before the context is
 * destroyed. Returns what was agreed. */
krein_status krein__comm_close(krein_ctx *ctx, krein_status mine);

/* loader.c: libkrein_mpi.so's table, or NULL with the message set. launch: who started more than
 * one process; NULL: the caller of krein_ctx_join has a communicator. */
const krein_transport *krein__transport_load(krein_ctx *ctx, const krein_launch *launch);

#endif
