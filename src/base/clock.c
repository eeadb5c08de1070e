/* clock.c -- the clock, alone in its file: tests that need a clock of their own link another. */
#include "base/base.h"

#include <time.h>

double krein__clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
