/* threads.h -- which CPUs there are, and what every computing thread sets up: inside a parallel
 * region each worker calls krein__flush_denormals_on first, and restores the mode at its end. */
#ifndef KREIN_THREADS_H
#define KREIN_THREADS_H

#include "base/base.h"

#include <pthread.h>

/* A set of CPUs: bit c % 64 of word c / 64. */
typedef struct krein_cpus {
    uint64_t word[128];
} krein_cpus;

int krein__cpu_count(void);            /* the CPUs this process may use */
void krein__cpus_get(krein_cpus *out); /* which ones; the first so many where unknown */
/* How many of its CPUs a process has where n processes (it is one of them) may use the sets
 * `all` of the same machine: a CPU counts 1/k where k may use it. At least 1. */
int krein__cpus_share(const krein_cpus *mine, int64_t n, const krein_cpus *all);
unsigned krein__flush_denormals_on(void); /* returns the mode to restore */
void krein__flush_denormals_restore(unsigned mode);

/* Workers of a parallel region that may fail or be cancelled. Each works with a copy of `own`, a
 * context without log and progress. The first failure is kept, and tells the others to stop: their
 * krein__poll fails. Callbacks belong to the calling thread, so that it alone asks the caller
 * whether to cancel; the others look at `stop`. */
typedef struct krein_workers {
    krein_ctx own;
    atomic_bool stop;
    /* private */
    krein_ctx *ctx; /* of the caller */
    pthread_t caller;
    atomic_bool failed;
    krein_status status;
    char message[KREIN__MESSAGE];
} krein_workers;

/* Before the region, by its calling thread. *w must stay where it is. */
void krein__workers_begin(krein_workers *w, krein_ctx *ctx, int workers);
/* What a worker came to; `own` has the message of a failure. */
void krein__workers_note(krein_workers *w, krein_status st, const krein_ctx *own);
/* Whether to stop, on the calling thread after asking the caller. */
bool krein__workers_stopped(krein_workers *w);
/* After the region: asks the caller once more. The first failure, with its message in the context
 * of the caller. */
krein_status krein__workers_end(krein_workers *w);

#endif
