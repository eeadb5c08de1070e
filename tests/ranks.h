/* ranks.h -- cases that run on several processes, which wire.h connects by sockets. A test includes
 * it behind test.h and wire.h, and has its cases in the function that it hands over. */
#ifndef KREIN_TEST_RANKS_H
#define KREIN_TEST_RANKS_H

#include "wire.h"

#include "dist/dist.h"

static krein_ctx *ctx, *alone; /* of a rank, and of one process by itself */
static test_memory memory;     /* of ctx */
static int me, ranks;

/* Never returns: what failed on any rank is the exit status of the first. */
static void run_ranks(int size, void (*cases)(void)) {
    wire_fork(size);
    ctx = test_ctx_with(size == 1 ? 3 : size == 2 ? 2 : 1, &memory);
    alone = test_ctx(1);
    test_passed = test_failed = test_skipped = 0;
    if (size > 1 && krein__comm_open_with(ctx, &wire, NULL) != KREIN_OK) test_failed++;
    me = krein__comm_rank(ctx);
    ranks = krein__comm_size(ctx);
    cases();
    if (size > 1 && krein__comm_close(ctx, KREIN_OK) != KREIN_OK) test_failed++;
    if (test_live(&memory) != 0) test_failed++;
    krein_ctx_destroy(ctx);
    krein_ctx_destroy(alone);
    int bad = wire_join(test_failed);
    if (bad) printf("%d ranks: %d failed\n", size, bad);
    fflush(stdout);
    _exit(bad > 0);
}

static inline void on_ranks(int size, void (*cases)(void)) {
    int status = 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_ranks(size, cases);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

#endif
