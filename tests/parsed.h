/* parsed.h -- ctx, the context of a test program, and kernels from their text. */
#ifndef KREIN_TEST_PARSED_H
#define KREIN_TEST_PARSED_H

#include "common.h"

#include "kernel/kernel.h"

static krein_ctx *ctx;

static inline krein_kernel *kernel_of(const char *text) {
    krein_kernel *k = NULL;
    if (krein__kernel_parse(ctx, text, &k) != KREIN_OK) {
        printf("%s: %s\n", text, krein_message(ctx));
        exit(1);
    }
    return k;
}

#endif
