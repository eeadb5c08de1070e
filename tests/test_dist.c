/* test_dist.c -- collectives, failures and the launcher.
 *
 * Alone: one process, then several over the sockets of wire.h. Under mpirun (tests/mpi/run.sh) the
 * same cases over MPI; then rank 0 alone prints the summary. */
#include "common.h"
#include "wire.h"

#include "base/threads.h"
#include "dist/dist.h"

#include <signal.h>

static krein_ctx *ctx; /* of this rank */
static test_memory memory;
static int me, ranks;

/* Threads and memory are left to the library. */
static krein_ctx *plain_ctx(void) {
    krein_ctx *made = test_ctx_with(1, &memory);
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    o.memory = made->memory;
    krein_ctx_destroy(made);
    if (krein_ctx_create(&o, &made) != KREIN_OK) exit(1);
    atomic_store(&memory.live, 0);
    return made;
}

/* ---- the collectives ---------------------------------------------------- */

/* Values that do not add up exactly, so that the order shows. */
enum { PERIOD = 1009 };
static double value(int rank, int64_t i) {
    static double table[WIRE_MOST][PERIOD];
    double *row = table[rank];
    if (row[0] == 0)
        for (int64_t k = 0; k < PERIOD; k++)
            row[k] = det(rank, k, 0.5) * (1 + (double)(k % 7) * 1e5);
    return row[i % PERIOD];
}

static void sums_of(int64_t n) {
    double *x = test_new(n, sizeof *x), *again = test_new(n, sizeof *x);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) x[i] = again[i] = value(me, i);
    CHECK(krein__comm_sum(ctx, n, x) == KREIN_OK);
    CHECK(krein__comm_sum(ctx, n, again) == KREIN_OK);
    for (int64_t i = 0; i < n; i++) {
        double want = value(0, i);
        for (int r = 1; r < ranks; r++) want += value(r, i);
        wrong += x[i] != want;
    }
    CHECK(wrong == 0);
    CHECK(memcmp(x, again, (size_t)n * sizeof *x) == 0);
    free(x);
    free(again);
}

/* Fewer than ranks, a number that is no multiple, whole chunks, and a little more. */
static void sums(void) {
    const int64_t chunk = 1 << 20, big = ranks > 2 ? chunk + 5 : 3 * chunk + 12345;
    const int64_t sizes[] = {0, 1, 2, 3, 5, 12, 1000, 4099, chunk, chunk + 1, big};
    for (int64_t k = 0; k < KREIN__COUNT(sizes); k++) sums_of(sizes[k]);
}

static void folds(void) {
    int64_t x[3] = {me, -me, ((int64_t)1 << 40) + me}, y[3], z[3];
    memcpy(y, x, sizeof x);
    memcpy(z, x, sizeof x);
    const int64_t last = ranks - 1, pairs = ranks * last / 2;
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_SUM, 3, x) == KREIN_OK);
    CHECK(x[0] == pairs && x[1] == -pairs && x[2] == ranks * ((int64_t)1 << 40) + pairs);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MIN, 3, y) == KREIN_OK);
    CHECK(y[0] == 0 && y[1] == -last && y[2] == (int64_t)1 << 40);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 3, z) == KREIN_OK);
    CHECK(z[0] == last && z[1] == 0 && z[2] == ((int64_t)1 << 40) + last);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 0, NULL) == KREIN_OK);
}

/* The largest in each place is another rank's; minus infinity is the least there is. */
static void maxima(void) {
    enum { MOST = 3000 };
    double x[MOST], none = -INFINITY;
    int64_t wrong = 0;
    for (int64_t i = 0; i < MOST; i++) x[i] = i % ranks == me ? 1 + (double)i : -1e300 * (double)me;
    CHECK(krein__comm_most(ctx, MOST, x) == KREIN_OK);
    for (int64_t i = 0; i < MOST; i++) wrong += x[i] != 1 + (double)i;
    CHECK(wrong == 0);
    for (int64_t i = 0; i < 9; i++) x[i] = -value(me, i);
    CHECK(krein__comm_most(ctx, 9, x) == KREIN_OK);
    for (int64_t i = 0; i < 9; i++) {
        double want = -value(0, i);
        for (int r = 1; r < ranks; r++) want = fmax(want, -value(r, i));
        CHECK(x[i] == want);
    }
    CHECK(krein__comm_most(ctx, 1, &none) == KREIN_OK && none == -INFINITY);
    none = me == ranks - 1 ? -1e308 : -INFINITY;
    CHECK(krein__comm_most(ctx, 1, &none) == KREIN_OK && none == -1e308);
    CHECK(krein__comm_most(ctx, 0, NULL) == KREIN_OK);
}

static void broadcasts(void) {
    const int64_t sizes[] = {0, 1, 17, 1 << 20};
    char *bytes = test_new(1 << 20, 1);
    for (int root = 0; root < ranks; root++)
        for (int64_t k = 0; k < KREIN__COUNT(sizes); k++) {
            const int64_t n = sizes[k];
            int64_t wrong = 0;
            for (int64_t i = 0; i < n; i++) bytes[i] = (char)(me == root ? i + root : -1);
            CHECK(krein__comm_broadcast(ctx, root, bytes, n) == KREIN_OK);
            for (int64_t i = 0; i < n; i++) wrong += bytes[i] != (char)(i + root);
            CHECK(wrong == 0);
        }
    free(bytes);
}

/* Rank r has length(r) bytes, all of them r + 1. */
static void gathers_of(const int64_t *length) {
    char *mine = test_new(length[me], 1), *all;
    int64_t *offset, at = 0, wrong = 0;
    memset(mine, me + 1, (size_t)length[me]);
    CHECK(krein__comm_gather(ctx, length[me] ? mine : NULL, length[me], &all, &offset) == KREIN_OK);
    CHECK(all && offset);
    for (int r = 0; all && offset && r < ranks; r++) {
        CHECK(offset[r] == at);
        for (int64_t i = 0; i < length[r]; i++) wrong += all[at + i] != (char)(r + 1);
        at += length[r];
    }
    CHECK(offset && offset[ranks] == at && wrong == 0);
    krein__free(ctx, all);
    krein__free(ctx, offset);
    free(mine);
}

static void gathers(void) {
    const int64_t big = (int64_t)9 << 20; /* several rounds */
    for (int k = 0; k < 5; k++) {
        int64_t length[WIRE_MOST];
        for (int r = 0; r < ranks; r++)
            length[r] = k == 0   ? 0
                        : k == 1 ? 10
                        : k == 2 ? 3 * r
                        : k == 3 ? (r == 0 ? 7 : 0)
                                 : (r == ranks - 1 ? big + 3 : r);
        gathers_of(length);
    }
}

/* Rank r gives `count[r]` pieces of `bytes` bytes; rank 0 looks whether all come in order. */
typedef struct pieces {
    int64_t count[WIRE_MOST], taken[WIRE_MOST], bytes, given;
    int last, wrong;
    int fail_next, fail_take; /* the piece at which it fails; -1: none */
    char *piece;
} pieces;

static char stamp(int rank, int64_t k) { return (char)(rank * 31 + k); }

static krein_status next_piece(void *user, const void **bytes, int64_t *n) {
    pieces *p = user;
    if (p->given == p->fail_next) return krein__fail(ctx, KREIN_EDATA, "piece of rank %d", me);
    *n = 0;
    if (p->given == p->count[me]) return KREIN_OK;
    memset(p->piece, stamp(me, p->given++), (size_t)p->bytes);
    *bytes = p->piece;
    *n = p->bytes;
    return KREIN_OK;
}

static krein_status take_piece(void *user, int rank, const void *bytes, int64_t n) {
    pieces *p = user;
    const char *text = bytes, want = stamp(rank, p->taken[rank]);
    if (p->taken[rank] == p->fail_take)
        return krein__fail(ctx, KREIN_EIO, "disk full at rank %d", rank);
    p->wrong +=
        rank < p->last || n != p->bytes || me != 0 || text[0] != want || text[n - 1] != want;
    p->last = rank;
    p->taken[rank]++;
    return KREIN_OK;
}

static krein_status collect(pieces *p) {
    p->piece = test_new(p->bytes, 1);
    const krein_status st = krein__comm_collect(ctx, next_piece, take_piece, p);
    free(p->piece);
    return st;
}

static void collects(void) {
    for (int k = 0; k < 4; k++) {
        pieces p = {.bytes = k == 3 ? 3 << 20 : 100, .fail_next = -1, .fail_take = -1};
        for (int r = 0; r < ranks; r++) p.count[r] = k == 0 ? 0 : k == 1 ? 1 : (r + 1) % ranks * 2;
        CHECK(collect(&p) == KREIN_OK);
        CHECK(p.wrong == 0);
        for (int r = 0; r < ranks; r++) CHECK(p.taken[r] == (me == 0 ? p.count[r] : 0));
    }
}

static void barriers(void) {
    for (int k = 0; k < 50; k++) CHECK(krein__comm_barrier(ctx) == KREIN_OK);
}

/* All ranks are on this machine: together they take it once, and agree on the memory. */
static void shares(void) {
    int64_t least = (int64_t)ctx->budget, most = least, threads = ctx->threads;
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MIN, 1, &least) == KREIN_OK);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &most) == KREIN_OK);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &threads) == KREIN_OK);
    CHECK(least == most && least > 0);
    if (ctx->own_threads) return; /* OMP_NUM_THREADS */
    CHECK(ctx->threads >= 1);
    CHECK(threads <= krein__max(ranks, (int64_t)sysconf(_SC_NPROCESSORS_ONLN)));
}

/* ---- failures ----------------------------------------------------------- */

/* One after the other, what a command may do; `fails` at step `point`. */
enum { STEPS = 8 };
static krein_status step(int k) {
    double x[9] = {0};
    int64_t n = 1, *offset;
    char bytes[8] = {0}, *all;
    krein_status st;
    pieces p = {.bytes = 10, .fail_next = -1, .fail_take = -1};
    switch (k) {
    case 0:
        return krein__comm_sum(ctx, 9, x);
    case 1:
        return krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &n);
    case 2:
        return krein__comm_broadcast(ctx, ranks - 1, bytes, 8);
    case 3:
        st = krein__comm_gather(ctx, bytes, me, &all, &offset);
        krein__free(ctx, all);
        krein__free(ctx, offset);
        return st;
    case 4:
        return collect(&p);
    case 5:
        return krein__comm_most(ctx, 9, x);
    case 6:
        return krein__comm_barrier(ctx);
    default:
        return krein__comm_agree(ctx, KREIN_OK);
    }
}

static krein_status work(bool fails, int point) {
    krein_status st = KREIN_OK;
    for (int k = 0; k < STEPS && st == KREIN_OK; k++) {
        if (fails && k == point) st = krein__fail(ctx, KREIN_EDATA, "rank %d, step %d", me, point);
        if (st == KREIN_OK) st = step(k);
    }
    if (fails && point == STEPS) st = krein__fail(ctx, KREIN_EDATA, "rank %d, step %d", me, point);
    return krein__comm_agree(ctx, st); /* the end, or unwinding */
}

static void check_failure(krein_status st, krein_status want, int rank, int point) {
    char text[64];
    snprintf(text, sizeof text, "rank %d, step %d", rank, point);
    CHECK(st == want);
    CHECK(strcmp(krein_message(ctx), text) == 0);
    krein__fail(ctx, KREIN_EIO, "something on the way out");
    CHECK(krein__comm_agree(ctx, KREIN_EIO) == want); /* further out: the same */
    CHECK(krein__comm_barrier(ctx) == want);          /* and collectives: at once */
    CHECK(strcmp(krein_message(ctx), text) == 0);
    krein__comm_clear(ctx);
}

static void each_rank_at_each_step(void) {
    for (int rank = 0; rank < ranks; rank++)
        for (int point = 0; point <= STEPS; point++) {
            const krein_status st = work(me == rank, point);
            if (ctx->comm) check_failure(st, KREIN_EDATA, rank, point);
        }
    CHECK(work(false, 0) == KREIN_OK); /* and all is well again */
}

static void several_ranks(void) {
    check_failure(work(true, 2), KREIN_EDATA, 0, 2); /* all at once: the lowest */
    /* The last rank at step 1, the first at step 4, which it does not reach. */
    const krein_status st = work(me == 0 || me == ranks - 1, me == 0 ? 4 : 1);
    check_failure(st, KREIN_EDATA, ranks - 1, 1);
}

/* In the callbacks of collect: what rank r gives, what rank 0 does with it. */
static void failing_pieces(void) {
    for (int rank = 0; rank < ranks; rank++)
        for (int at = 0; at < 3; at++) {
            pieces p = {.bytes = 64, .fail_next = me == rank ? at : -1, .fail_take = -1};
            for (int r = 0; r < ranks; r++) p.count[r] = 6;
            CHECK(collect(&p) == KREIN_EDATA);
            char text[64];
            snprintf(text, sizeof text, "piece of rank %d", rank);
            CHECK(strcmp(krein_message(ctx), text) == 0);
            krein__comm_clear(ctx);
        }
    pieces p = {.bytes = 64, .fail_next = -1, .fail_take = 1};
    for (int r = 0; r < ranks; r++) p.count[r] = r == 0 && ranks > 1 ? 1 : 3;
    CHECK(collect(&p) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), ranks > 1 ? "disk full at rank 1" : "disk full at rank 0");
    krein__comm_clear(ctx);
}

/* Other sizes or other calls: a message, no hang. */
static void out_of_step(void) {
    double x[4] = {0};
    int64_t n = 0;
    CHECK(krein__comm_sum(ctx, me == 1 ? 3 : 4, x) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "out of step");
    krein__comm_clear(ctx);
    CHECK((me == 0 ? krein__comm_barrier(ctx) : krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &n)) ==
          KREIN_ENUMERIC);
    krein__comm_clear(ctx);
    CHECK(krein__comm_broadcast(ctx, me == 0 ? 0 : 1, x, 8) == KREIN_ENUMERIC);
    krein__comm_clear(ctx);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
}

/* Every allocation of every collective fails once on every rank. */
static void allocations(void) {
    for (int rank = 0; rank < ranks; rank++)
        for (int k = 0; k < 16; k++) {
            krein_status st = KREIN_OK;
            test_fail_at(&memory, me == rank ? k : -1);
            for (int s = 0; s < STEPS && st == KREIN_OK; s++) st = step(s);
            test_fail_at(&memory, -1);
            CHECK(krein__comm_agree(ctx, st) == st);
            CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
            if (k == 0 && ctx->comm) CHECK(st == KREIN_EMEMORY);
            krein__comm_clear(ctx);
        }
}

/* ---- all of it, on some ranks ------------------------------------------- */

/* A check that fails on one rank is a failure of the test on all. */
#define TOGETHER(function)                                                                         \
    do {                                                                                           \
        test_bad = 0;                                                                              \
        test_checks = 0;                                                                           \
        function();                                                                                \
        int64_t bad_ = test_bad + !test_checks;                                                    \
        krein__comm_clear(ctx);                                                                    \
        if (krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &bad_) != KREIN_OK) bad_ = 1;                 \
        if (bad_ && me == 0) printf("FAILED: %s on %d ranks\n", #function, ranks);                 \
        test_failed += bad_ > 0;                                                                   \
        test_passed += bad_ == 0;                                                                  \
    } while (0)

static void all_collectives(void) {
    me = krein__comm_rank(ctx);
    ranks = krein__comm_size(ctx);
    TOGETHER(shares);
    TOGETHER(sums);
    TOGETHER(folds);
    TOGETHER(maxima);
    TOGETHER(broadcasts);
    TOGETHER(gathers);
    TOGETHER(collects);
    TOGETHER(barriers);
    TOGETHER(each_rank_at_each_step);
    if (ranks > 1) TOGETHER(several_ranks);
    TOGETHER(failing_pieces);
    if (ranks > 1) TOGETHER(out_of_step);
    TOGETHER(allocations);
}

/* The last rank has no memory for what joining takes; then all join. */
static void join(void) {
    for (int k = 1; k <= 2; k++) {
        test_fail_at(&memory, wire_rank == wire_size - 1 ? k : -1);
        test_failed += krein__comm_open_with(ctx, &wire, NULL) != KREIN_EMEMORY || ctx->comm;
        test_fail_at(&memory, -1);
    }
    test_failed += krein__comm_open_with(ctx, &wire, NULL) != KREIN_OK;
}

static void on_sockets(int size) {
    wire_fork(size);
    const int before = test_failed;
    ctx = plain_ctx();
    join();
    all_collectives();
    test_failed += krein__comm_close(ctx, KREIN_OK) != KREIN_OK;
    test_failed += test_live(&memory) != 0;
    krein_ctx_destroy(ctx);
    const int bad = wire_join(test_failed - before);
    if (bad && test_failed == before) test_failed++;
}

/* ---- without any other process ------------------------------------------ */

static void alone(void) {
    ctx = plain_ctx();
    CHECK(krein__comm_rank(ctx) == 0 && krein__comm_size(ctx) == 1);
    CHECK(krein__comm_open(ctx) == KREIN_OK); /* no launcher: nothing happens */
    CHECK(ctx->comm == NULL);
    double x = 2;
    CHECK(krein__comm_sum(ctx, 1, &x) == KREIN_OK && x == 2);
    CHECK(krein__comm_agree(ctx, KREIN_EDATA) == KREIN_EDATA);
    CHECK(krein__comm_close(ctx, KREIN_EIO) == KREIN_EIO);
    krein_ctx_destroy(ctx);
}

static void set(const char *name, const char *text) {
    if (text)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void launchers(void) {
    krein_launch l = krein__launch();
    CHECK(l.size == 1 && l.rank == 0 && !l.launcher);
    set("OMPI_COMM_WORLD_SIZE", "4");
    set("OMPI_COMM_WORLD_RANK", "3");
    set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    l = krein__launch();
    CHECK(l.size == 4 && l.rank == 3 && l.local_rank == 1);
    CHECK(l.launcher && strcmp(l.launcher, "mpirun") == 0);
    set("KREIN_MPI", "off");
    CHECK(krein__launch().size == 1);
    set("KREIN_MPI", NULL);
    set("OMPI_COMM_WORLD_RANK", "4"); /* not one of four */
    CHECK(krein__launch().size == 1);
    set("OMPI_COMM_WORLD_RANK", "1x");
    CHECK(krein__launch().size == 1);
    set("OMPI_COMM_WORLD_SIZE", NULL);
    set("OMPI_COMM_WORLD_RANK", NULL);
    set("OMPI_COMM_WORLD_LOCAL_RANK", NULL);
    set("SLURM_NTASKS", "8"); /* a batch script is no step */
    set("SLURM_PROCID", "2");
    CHECK(krein__launch().size == 1);
    set("SLURM_STEP_NUM_TASKS", "8");
    l = krein__launch();
    CHECK(l.size == 8 && l.rank == 2 && strcmp(l.launcher, "srun") == 0);
    set("SLURM_NTASKS", NULL);
    set("SLURM_PROCID", NULL);
    set("SLURM_STEP_NUM_TASKS", NULL);
}

static void no_library(void) {
    ctx = plain_ctx();
    set("OMPI_COMM_WORLD_SIZE", "4");
    set("OMPI_COMM_WORLD_RANK", "0");
    set("KREIN_MPI", "/nowhere/libkrein_mpi.so");
    CHECK(krein__comm_open(ctx) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "mpirun started 4 processes, but MPI cannot be loaded");
    CHECK_HAS(krein_message(ctx), "/nowhere/");
    set("KREIN_MPI", "libm.so.6"); /* a library, but not this one */
    CHECK(krein__comm_open(ctx) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "another version of Krein");
    int communicator = 0;
    CHECK(krein_ctx_join(ctx, &communicator) == KREIN_EIO); /* before it is looked at */
    set("KREIN_MPI", "/nowhere/libkrein_mpi.so");
    CHECK(krein_ctx_join(ctx, &communicator) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "a communicator is given, but MPI cannot be loaded");
    CHECK(krein_ctx_join(ctx, NULL) == KREIN_EIO);
    set("KREIN_MPI", "off");
    CHECK(krein_ctx_join(ctx, &communicator) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "KREIN_MPI=off");
    CHECK(krein_ctx_join(ctx, NULL) == KREIN_OK && krein__comm_size(ctx) == 1);
    CHECK(krein_ctx_leave(ctx) == KREIN_OK); /* it has not joined */
    set("OMPI_COMM_WORLD_SIZE", NULL);
    set("OMPI_COMM_WORLD_RANK", NULL);
    set("KREIN_MPI", NULL);
    krein_ctx_destroy(ctx);
}

static krein_cpus cpus(int from, int to) {
    krein_cpus set = {{0}};
    for (int c = from; c < to; c++) set.word[c / 64] |= (uint64_t)1 << (c % 64);
    return set;
}

static void shares_of_a_machine(void) {
    krein_cpus whole[4] = {cpus(0, 2), cpus(0, 2), cpus(0, 2), cpus(0, 2)};
    CHECK(krein__cpus_share(&whole[0], 1, whole) == 2);
    CHECK(krein__cpus_share(&whole[0], 2, whole) == 1);
    CHECK(krein__cpus_share(&whole[0], 4, whole) == 1); /* more ranks than CPUs */
    krein_cpus bound[2] = {cpus(0, 1), cpus(1, 2)};
    CHECK(krein__cpus_share(&bound[1], 2, bound) == 1);
    krein_cpus sockets[4] = {cpus(0, 64), cpus(0, 64), cpus(64, 128), cpus(0, 128)};
    CHECK(krein__cpus_share(&sockets[2], 3, sockets) == 64);
    CHECK(krein__cpus_share(&sockets[0], 3, sockets) == 32);
    CHECK(krein__cpus_share(&sockets[0], 4, sockets) == 21);
    krein_cpus thirds[3] = {cpus(0, 6), cpus(0, 6), cpus(0, 6)};
    CHECK(krein__cpus_share(&thirds[0], 3, thirds) == 2);
    krein_cpus mine;
    krein__cpus_get(&mine);
    CHECK(krein__cpus_share(&mine, 1, &mine) == krein__cpu_count());
}

/* ---- under mpirun ------------------------------------------------------- */

/* tests/mpi/run.sh names what the rank does: "" the cases; "die" rank 1 is killed, "leave" it
 * ends without a word, "late" it fails behind the last collective. */
static int under_mpi(const char *what) {
    ctx = plain_ctx();
    if (krein__comm_open(ctx) != KREIN_OK) {
        printf("%s\n0 passed, 1 failed, 0 skipped\n", krein_message(ctx));
        return 1;
    }
    me = krein__comm_rank(ctx);
    ranks = krein__comm_size(ctx);
    krein_status st = krein__comm_barrier(ctx);
    if (strcmp(what, "die") == 0 && me == 1) raise(SIGKILL);
    if (strcmp(what, "leave") == 0 && me == 1) _exit(7);
    if (strcmp(what, "late") == 0 && me == 1) st = krein__fail(ctx, KREIN_EDATA, "too late");
    if (!*what) all_collectives();
    st = krein__comm_agree(ctx, st);
    if (*what && me == 0) printf("%s: %s\n", krein_status_text(st), krein_message(ctx));
    fflush(stdout); /* mpirun ends all as soon as one has ended badly */
    st = krein__comm_close(ctx, st);
    if (*what) return st != KREIN_OK;
    test_failed += st != KREIN_OK || test_live(&memory) != 0;
    krein_ctx_destroy(ctx);
    return me == 0 ? DONE() : test_failed != 0;
}

int main(int argc, char **argv) {
    if (krein__launch().launcher) return under_mpi(argc > 1 ? argv[1] : "");
    RUN(alone);
    RUN(launchers);
    RUN(no_library);
    RUN(shares_of_a_machine);
    for (int size = 1; size <= 5; size += size < 3 ? 1 : 2) on_sockets(size);
    return DONE();
}
