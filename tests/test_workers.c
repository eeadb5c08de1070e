/* test_workers.c -- workers of a parallel region: the first failure is kept, the others stop, and
 * only the calling thread asks the caller. */
#include "common.h"

#include "base/threads.h"

#include <omp.h>

enum { WORKERS = 4, ITEMS = 64 };

typedef struct caller {
    pthread_t thread;
    int asked, foreign, cancel_at; /* cancel_at 0: never */
} caller;

static int on_cancel(void *user) {
    caller *c = user;
    c->asked++;
    c->foreign += !pthread_equal(pthread_self(), c->thread);
    return c->cancel_at > 0 && c->asked >= c->cancel_at;
}

static krein_ctx *ctx_of(caller *c) {
    krein_ctx *ctx = test_ctx(WORKERS);
    *c = (caller){.thread = pthread_self()};
    ctx->cancel = on_cancel;
    ctx->user = c;
    return ctx;
}

static void all_well(void) {
    caller c;
    krein_ctx *ctx = ctx_of(&c);
    krein_workers w;
    atomic_int done = 0;
    krein__workers_begin(&w, ctx, WORKERS);
#pragma omp parallel for num_threads(WORKERS) schedule(dynamic)
    for (int i = 0; i < ITEMS; i++) {
        krein_ctx own = w.own;
        krein__workers_note(&w, krein__poll(&own), &own);
        done++;
    }
    CHECK(krein__workers_end(&w) == KREIN_OK);
    CHECK(done == ITEMS && c.asked > 0 && c.foreign == 0);
    krein_ctx_destroy(ctx);
}

/* One worker fails. The others poll until they are told, so that they end only if they are. */
static void failure(void) {
    for (int guilty = 0; guilty < WORKERS; guilty++) {
        caller c;
        krein_ctx *ctx = ctx_of(&c);
        krein_workers w;
        atomic_int cancelled = 0;
        int team = 0;
        krein__workers_begin(&w, ctx, WORKERS);
#pragma omp parallel num_threads(WORKERS)
        {
            krein_ctx own = w.own;
            krein_status st = KREIN_OK;
            if (omp_get_thread_num() == 0) team = omp_get_num_threads();
            if (omp_get_thread_num() == guilty % omp_get_num_threads())
                st = krein__fail(&own, KREIN_EDATA, "item %d is empty", guilty);
            else
                while (st == KREIN_OK) st = krein__poll(&own);
            cancelled += st == KREIN_ECANCEL;
            krein__workers_note(&w, st, &own);
        }
        CHECK(krein__workers_end(&w) == KREIN_EDATA && cancelled == team - 1 && c.foreign == 0);
        CHECK(strncmp(krein_message(ctx), "item ", 5) == 0);
        krein_ctx_destroy(ctx);
    }
}

/* The caller cancels: it is not asked again, and everybody ends. */
static void cancel(void) {
    caller c;
    krein_ctx *ctx = ctx_of(&c);
    krein_workers w;
    c.cancel_at = 3;
    krein__workers_begin(&w, ctx, WORKERS);
#pragma omp parallel num_threads(WORKERS)
    {
        krein_ctx own = w.own;
        krein_status st = KREIN_OK;
        while (st == KREIN_OK) st = krein__poll(&own);
        krein__workers_note(&w, st, &own);
    }
    CHECK(krein__workers_end(&w) == KREIN_ECANCEL && c.asked == 3 && c.foreign == 0);
    CHECK(strstr(krein_message(ctx), "cancelled"));
    krein_ctx_destroy(ctx);
}

/* A region inside a worker has a thread number 0 of its own, which is not the calling thread. */
static void nested(void) {
    caller c;
    krein_ctx *ctx = ctx_of(&c);
    krein_workers w;
    krein__workers_begin(&w, ctx, WORKERS);
#pragma omp parallel num_threads(WORKERS)
    {
        krein_ctx own = w.own;
#pragma omp parallel num_threads(1)
        krein__workers_note(&w, krein__poll(&own), &own);
    }
    CHECK(krein__workers_end(&w) == KREIN_OK && c.foreign == 0 && c.asked == 2);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(all_well);
    RUN(failure);
    RUN(cancel);
    RUN(nested);
    return DONE();
}
