/* wire.h -- a transport over sockets between processes of a fork, for tests without MPI.
 *
 *     wire_fork(4);                  now there are four processes; wire_rank, wire_size
 *     krein__comm_open_with(ctx, &wire, NULL);
 *     ...
 *     wire_join(bad);                ranks above 0 end here; rank 0 gets the sum of their `bad`
 *
 * All pairs of ranks have a socket. Where everybody sends to everybody the pairs come in one order,
 * the lower rank speaking first, so that nobody waits in a circle. */
#ifndef KREIN_TEST_WIRE_H
#define KREIN_TEST_WIRE_H

#include "test.h"

#include "dist/transport.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIRE_MOST = 8 };
static int wire_rank, wire_size = 1, wire_socket[WIRE_MOST];
static pid_t wire_child[WIRE_MOST];

/* A rank that has lost another ends, as the transport promises. */
static void wire_lost(void) {
    printf("rank %d lost a connection\n", wire_rank);
    fflush(stdout);
    _exit(3);
}

static void wire_send(int to, const void *bytes, int n) {
    for (int at = 0; at < n;) {
        const ssize_t k = write(wire_socket[to], (const char *)bytes + at, (size_t)(n - at));
        if (k <= 0) wire_lost();
        at += (int)k;
    }
}

static void wire_receive(int from, void *bytes, int n) {
    for (int at = 0; at < n;) {
        const ssize_t k = read(wire_socket[from], (char *)bytes + at, (size_t)(n - at));
        if (k <= 0) wire_lost();
        at += (int)k;
    }
}

static const char *wire_start(const void *communicator, int *rank, int *size, int *node) {
    (void)communicator;
    *rank = wire_rank;
    *size = wire_size;
    *node = 0;
    return NULL;
}
static void wire_stop(void) {}

static void wire_broadcast(int root, void *bytes, int n) {
    if (wire_rank != root) {
        wire_receive(root, bytes, n);
        return;
    }
    for (int r = 0; r < wire_size; r++)
        if (r != root) wire_send(r, bytes, n);
}

static void wire_fold(krein_fold how, int n, int64_t *x) {
    const size_t bytes = (size_t)n * sizeof *x;
    int64_t *other = malloc(bytes + 1);
    if (!other) wire_lost();
    if (wire_rank > 0) wire_send(0, x, (int)bytes);
    for (int r = 1; wire_rank == 0 && r < wire_size; r++) {
        wire_receive(r, other, (int)bytes);
        for (int i = 0; i < n; i++)
            if (how == KREIN_FOLD_SUM)
                x[i] += other[i];
            else if (how == KREIN_FOLD_MIN ? other[i] < x[i] : other[i] > x[i])
                x[i] = other[i];
    }
    free(other);
    wire_broadcast(0, x, (int)bytes);
}

static void wire_exchange(const void *out, void *in, int n) {
    const char *from = out;
    char *to = in;
    const size_t step = (size_t)n;
    memcpy(to + (size_t)wire_rank * step, from + (size_t)wire_rank * step, step);
    for (int a = 0; a < wire_size; a++)
        for (int b = a + 1; b < wire_size; b++) {
            if (wire_rank == a) wire_send(b, from + (size_t)b * step, n);
            if (wire_rank == b) wire_receive(a, to + (size_t)a * step, n);
            if (wire_rank == b) wire_send(a, from + (size_t)a * step, n);
            if (wire_rank == a) wire_receive(b, to + (size_t)b * step, n);
        }
}

static void wire_gather_uneven(const void *mine, void *all, const int *length, const int *offset) {
    char *to = all;
    if (length[wire_rank] > 0) memcpy(to + offset[wire_rank], mine, (size_t)length[wire_rank]);
    for (int r = 0; r < wire_size; r++) wire_broadcast(r, to + offset[r], length[r]);
}

static void wire_gather(const void *mine, int n, void *all) {
    int length[WIRE_MOST], offset[WIRE_MOST];
    for (int r = 0; r < wire_size; r++) {
        length[r] = n;
        offset[r] = r * n;
    }
    wire_gather_uneven(mine, all, length, offset);
}

static const krein_transport wire = {
    KREIN_TRANSPORT_ABI, "sockets",          wire_start,    wire_stop, wire_fold,   wire_broadcast,
    wire_gather,         wire_gather_uneven, wire_exchange, wire_send, wire_receive};

static void wire_fork(int size) {
    int pair[WIRE_MOST][WIRE_MOST][2]; /* a < b: [0] is a's end */
    wire_size = size;
    wire_rank = 0;
    for (int a = 0; a < size; a++)
        for (int b = a + 1; b < size; b++)
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[a][b]) != 0) exit(1);
    fflush(stdout);
    for (int r = 1; r < size && wire_rank == 0; r++) {
        wire_child[r] = fork();
        if (wire_child[r] < 0) exit(1);
        if (wire_child[r] == 0) wire_rank = r;
    }
    for (int a = 0; a < size; a++)
        for (int b = a + 1; b < size; b++) {
            const int *p = pair[a][b];
            if (wire_rank == a) wire_socket[b] = p[0];
            if (wire_rank == b) wire_socket[a] = p[1];
            if (wire_rank != a) close(p[0]);
            if (wire_rank != b) close(p[1]);
        }
}

static int wire_join(int bad) {
    for (int r = 0; r < wire_size; r++)
        if (r != wire_rank) close(wire_socket[r]);
    if (wire_rank > 0) {
        fflush(stdout);
        _exit(bad > 0);
    }
    for (int r = 1; r < wire_size; r++) {
        int status = 0;
        waitpid(wire_child[r], &status, 0);
        bad += status != 0;
    }
    wire_size = 1;
    return bad;
}

#endif
