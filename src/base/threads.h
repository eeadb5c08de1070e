/* threads.h -- which CPUs there are, and what every computing thread sets up: inside a parallel
 * region each worker calls krein__flush_denormals_on first, and restores the mode at its end. */
#ifndef KREIN_THREADS_H
#define KREIN_THREADS_H

#include "base/base.h"

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

#endif
