/* transport.h -- what moves bytes between processes, as a table of functions.
 *
 * libkrein_mpi.so fills one in from MPI; the tests have one over sockets. It knows nothing of
 * Krein: no context, no memory of its own, and this header stands alone. Everything that has an
 * order (sums of doubles) or a protocol (who failed) is in comm.c, on top of it.
 *
 * Calls come from one thread. Messages between two processes keep their order. Every function
 * but start, send and receive is called by all processes together. None of them can fail:
 * a broken connection ends the process, and then the launcher ends the others.
 */
#ifndef KREIN_TRANSPORT_H
#define KREIN_TRANSPORT_H

#include <stdint.h>

/* Changes whenever the table does. */
enum { KREIN_TRANSPORT_ABI = 2 };

enum { KREIN_TRANSPORT_MOST = 1 << 30 }; /* bytes in one message */

typedef enum krein_fold { KREIN_FOLD_SUM = 0, KREIN_FOLD_MIN = 1, KREIN_FOLD_MAX = 2 } krein_fold;

typedef struct krein_transport {
    int abi;
    const char *name; /* of the MPI that it was built with */
    /* Joins the others of a communicator of the caller's (of MPI a pointer to its MPI_Comm), or
     * with NULL those of the launcher. node: the lowest rank on the same machine. NULL, or a
     * sentence on what is wrong. */
    const char *(*start)(const void *communicator, int *rank, int *size, int *node);
    void (*stop)(void);
    void (*fold)(krein_fold how, int n, int64_t *x); /* in place */
    void (*broadcast)(int root, void *bytes, int n);
    /* n bytes of each rank, in the order of the ranks. */
    void (*gather)(const void *mine, int n, void *all);
    /* The same with length[r] bytes of rank r, at all + offset[r]. */
    void (*gather_uneven)(const void *mine, void *all, const int *length, const int *offset);
    /* The r-th n bytes of out go to rank r; those from rank r become the r-th n bytes of in. */
    void (*exchange)(const void *out, void *in, int n);
    void (*send)(int to, const void *bytes, int n);
    void (*receive)(int from, void *bytes, int n);
} krein_transport;

/* The one name that libkrein_mpi.so exports, as the function below. */
#define KREIN_TRANSPORT_SYMBOL "krein_mpi_transport"
typedef const krein_transport *krein_transport_fn(void);

#endif
