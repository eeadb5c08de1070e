/* krein_mpi.c -- the transport over MPI: a shared library of its own, loaded under a launcher.
 *
 * A program that has started MPI itself keeps it: the messages go over a duplicate of its
 * communicator, or of its world, and stop leaves MPI running. Errors are fatal, as the transport
 * promises: MPI says what happened and ends all processes. */
#include "dist/transport.h"

#include <mpi.h>
#include <stddef.h>

/* Under the address sanitizer: MPI never gives back what it takes when it starts and ends, and its
 * plugins are gone when the leaks are counted, so that no suppression knows them by name. Here
 * nothing but MPI allocates. PMIx has a thread of its own, and is kept for its name. */
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <sanitizer/lsan_interface.h>
#define LEAKS_BEGIN() (dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NODELETE), __lsan_disable())
#define LEAKS_END() __lsan_enable()
#else
#define LEAKS_BEGIN() ((void)0)
#define LEAKS_END() ((void)0)
#endif

#if defined(OMPI_MAJOR_VERSION)
#define NAME "Open MPI"
#elif defined(MPICH_VERSION)
#define NAME "MPICH"
#else
#define NAME "the MPI library"
#endif

enum { TAG = 1 };

static MPI_Comm world = MPI_COMM_NULL;
static int started_here;

static int node_of(int rank) {
    MPI_Comm node;
    int lowest = rank;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return lowest;
}

/* A communicator of the caller's exists where MPI runs: if not, it is of another MPI. */
static const char *check(const MPI_Comm *given, int running) {
    int between = 0;
    if (!running)
        return "a communicator is given, but " NAME " does not run; start it with MPI_Init_thread, "
               "and build the program with the MPI that Krein was built with";
    if (*given == MPI_COMM_NULL) return "the communicator is MPI_COMM_NULL";
    MPI_Comm_test_inter(*given, &between);
    return between ? "the communicator is between two groups; give one of a single group" : NULL;
}

static const char *begin(const MPI_Comm *given) {
    int running = 0, over = 0, level = MPI_THREAD_SINGLE;
    if (world != MPI_COMM_NULL)
        return "another context of this process has joined already; let it leave first";
    MPI_Finalized(&over);
    if (over)
        return "MPI has been started and ended in this process before; it can be started once";
    MPI_Initialized(&running);
    const char *wrong = given ? check(given, running) : NULL;
    if (wrong) return wrong;
    if (!running && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return "MPI does not start";
    started_here = !running;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_FUNNELED)
        return "MPI runs without threads; start it with MPI_Init_thread and MPI_THREAD_FUNNELED";
    return NULL;
}

static const char *start(const void *communicator, int *rank, int *size, int *node) {
    const MPI_Comm *given = communicator;
    LEAKS_BEGIN();
    const char *wrong = begin(given);
    if (!wrong) {
        MPI_Comm_dup(given ? *given : MPI_COMM_WORLD, &world);
        MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_rank(world, rank);
        MPI_Comm_size(world, size);
        *node = node_of(*rank);
    }
    LEAKS_END();
    return wrong;
}

static void stop(void) {
    LEAKS_BEGIN();
    MPI_Comm_free(&world);
    if (started_here) MPI_Finalize();
    LEAKS_END();
}

static void fold(krein_fold how, int n, int64_t *x) {
    const MPI_Op op = how == KREIN_FOLD_SUM ? MPI_SUM : how == KREIN_FOLD_MIN ? MPI_MIN : MPI_MAX;
    MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_INT64_T, op, world);
}

static void broadcast(int root, void *bytes, int n) { MPI_Bcast(bytes, n, MPI_BYTE, root, world); }

static void gather(const void *mine, int n, void *all) {
    MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, world);
}

static void gather_uneven(const void *mine, void *all, const int *length, const int *offset) {
    int rank;
    MPI_Comm_rank(world, &rank);
    MPI_Allgatherv(mine, length[rank], MPI_BYTE, all, length, offset, MPI_BYTE, world);
}

static void exchange(const void *out, void *in, int n) {
    MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, world);
}

static void send(int to, const void *bytes, int n) { MPI_Send(bytes, n, MPI_BYTE, to, TAG, world); }

static void receive(int from, void *bytes, int n) {
    MPI_Recv(bytes, n, MPI_BYTE, from, TAG, world, MPI_STATUS_IGNORE);
}

static const krein_transport transport = {
    KREIN_TRANSPORT_ABI, NAME,     start, stop,   fold, broadcast, gather,
    gather_uneven,       exchange, send,  receive};

__attribute__((visibility("default"))) const krein_transport *krein_mpi_transport(void);
const krein_transport *krein_mpi_transport(void) { return &transport; }
