/* side.h -- what the programs share that a script of this folder asks line after line. */
#ifndef KREIN_BENCH_SIDE_H
#define KREIN_BENCH_SIDE_H

#include "restart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

static inline void *need(int64_t count, size_t size) {
    void *p = aligned_alloc(64, ((size_t)count * size + 64) / 64 * 64);
    if (!p) fail("no memory");
    return p;
}

/* A file of so many numbers. */
static inline void *contents(const char *path, int64_t count, size_t size) {
    void *p = need(count, size);
    FILE *file = fopen(path, "rb");
    if (!file || fread(p, size, (size_t)count, file) != (size_t)count) fail(path);
    fclose(file);
    return p;
}

static inline double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
