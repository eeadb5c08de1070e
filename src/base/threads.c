/* threads.c -- what a thread sets up before it computes, and how workers end.
 *
 * Denormals: a product of small kernel values soon underflows, and arithmetic on denormal
 * numbers costs a hundred cycles a piece on most CPUs, so every computing thread flushes
 * them: results (FTZ) and operands (DAZ) below the normal range are zero. The mode is a
 * register of the thread, not of the process, hence the calls at the top of each parallel
 * region; it is restored because the thread belongs to the caller.
 *
 * CPUs: the affinity mask, not the number in the machine: under taskset, a container's
 * cpuset or a batch system the two differ, and more threads than CPUs are slower than one. */
#include "base/threads.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__SSE__)
#include <xmmintrin.h>
enum { FLUSH = 0x8000 | 0x0040 }; /* MXCSR: FTZ | DAZ */
static unsigned mode_get(void) { return _mm_getcsr(); }
static void mode_set(unsigned mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
enum { FLUSH = 1 << 24 }; /* FPCR.FZ: results and operands */
static unsigned mode_get(void) {
    uint64_t r;
    __asm__ volatile("mrs %0, fpcr" : "=r"(r));
    return (unsigned)r;
}
static void mode_set(unsigned mode) {
    uint64_t r = mode;
    __asm__ volatile("msr fpcr, %0" : : "r"(r));
}
#else
enum { FLUSH = 0 };
static unsigned mode_get(void) { return 0; }
static void mode_set(unsigned mode) { (void)mode; }
#endif

unsigned krein__flush_denormals_on(void) {
    unsigned mode = mode_get();
    mode_set(mode | (unsigned)FLUSH);
    return mode;
}

/* Only the flush bits go back: exception flags raised meanwhile stay raised. */
void krein__flush_denormals_restore(unsigned mode) {
    mode_set((mode_get() & ~(unsigned)FLUSH) | (mode & (unsigned)FLUSH));
}

enum { CPUS = 8192 }; /* the kernel refuses a mask smaller than its own */

static bool has(const krein_cpus *set, int cpu) { return set->word[cpu / 64] >> (cpu % 64) & 1; }

static void add(krein_cpus *set, int cpu) { set->word[cpu / 64] |= (uint64_t)1 << (cpu % 64); }

static int count(const krein_cpus *set) {
    int n = 0;
    for (int cpu = 0; cpu < CPUS; cpu++) n += has(set, cpu);
    return n;
}

void krein__cpus_get(krein_cpus *out) {
    memset(out, 0, sizeof *out);
#if defined(__linux__)
    cpu_set_t set[CPUS / CPU_SETSIZE];
    memset(set, 0, sizeof set);
    if (sched_getaffinity(0, sizeof set, set) == 0)
        for (int cpu = 0; cpu < CPUS; cpu++)
            if (CPU_ISSET_S((size_t)cpu, sizeof set, set)) add(out, cpu);
    if (count(out) > 0) return;
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < (online > 0 ? online : 1) && cpu < CPUS; cpu++) add(out, cpu);
}

int krein__cpu_count(void) {
    krein_cpus set;
    krein__cpus_get(&set);
    return count(&set);
}

int krein__cpus_share(const krein_cpus *mine, int64_t n, const krein_cpus *all) {
    double share = 0;
    for (int cpu = 0; cpu < CPUS; cpu++) {
        int64_t users = 0;
        if (!has(mine, cpu)) continue;
        for (int64_t k = 0; k < n; k++) users += has(all + k, cpu);
        share += 1 / (double)krein__max(users, 1);
    }
    /* Thirds add up to a little less than one. */
    return (int)krein__max(1, (int64_t)(share + 1e-6));
}

/* ---- workers ------------------------------------------------------------ */

static int worker_cancel(void *user) { return krein__workers_stopped(user); }

void krein__workers_begin(krein_workers *w, krein_ctx *ctx, int workers) {
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    w->caller = pthread_self();
    w->own = krein__ctx_share(ctx, workers);
    w->own.cancel = worker_cancel;
    w->own.user = w;
}

/* The failure is written before the others are told to stop, so that their ends come second. */
void krein__workers_note(krein_workers *w, krein_status st, const krein_ctx *own) {
    if (st == KREIN_OK || atomic_exchange(&w->failed, true)) return;
    w->status = st;
    memcpy(w->message, own->message, sizeof w->message);
    atomic_store(&w->stop, true);
}

bool krein__workers_stopped(krein_workers *w) {
    if (!atomic_load(&w->stop) && pthread_equal(pthread_self(), w->caller))
        krein__workers_note(w, krein__poll(w->ctx), w->ctx);
    return atomic_load(&w->stop);
}

krein_status krein__workers_end(krein_workers *w) {
    if (!krein__workers_stopped(w)) return KREIN_OK;
    return krein__fail(w->ctx, w->status, "%s", w->message);
}
