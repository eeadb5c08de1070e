/* inputs.c -- derived parameters and domains, from the encoding. */
#include "kernel/inputs.h"

krein_status krein__kernel_meet(krein_ctx *ctx, krein_kernel *k, const krein_encoding *e) {
    krein__kernel_settle(k, e->d);
    return krein__kernel_check_inputs(ctx, k, e->low, e->high, e->sparse);
}
