/* source.c -- base kernels as expressions of C, for programs that are made of a model. */
#include "kernel/kernel.h"

#include <stdarg.h>
#include <stdio.h>

bool krein__kernel_source(krein_kernel_source *out, const char *add, const char *value, ...) {
    va_list args;
    va_start(args, value);
    int used = vsnprintf(out->value, sizeof out->value, value, args);
    va_end(args);
    int also = snprintf(out->add, sizeof out->add, "%s", add);
    return used < (int)sizeof out->value && also < (int)sizeof out->add;
}
