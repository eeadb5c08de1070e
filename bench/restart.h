/* restart.h -- a benchmark on the OpenBLAS code that the CPU has the instructions for, as the
 * program itself (src/num/cpu.c). */
#ifndef KREIN_BENCH_RESTART_H
#define KREIN_BENCH_RESTART_H

#include "num/blas.h"

#include <stdlib.h>
#include <unistd.h>

/* OpenBLAS reads its environment when it is loaded: set it and start again, once. */
static inline void restart(char **argv) {
    const char *better = krein__blas_better_core();
    if (!better || getenv("OPENBLAS_CORETYPE")) return;
    setenv("OPENBLAS_CORETYPE", better, 1);
    execv("/proc/self/exe", argv);
}

#endif
