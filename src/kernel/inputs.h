/* inputs.h -- a kernel meets its data: what could not be known from its spec alone. */
#ifndef KREIN_KERNEL_INPUTS_H
#define KREIN_KERNEL_INPUTS_H

#include "data/data.h"
#include "kernel/kernel.h"

/* Once the encoding is learned: sets the parameters that follow from the number of columns, and
 * refuses inputs outside the domain of a base kernel. */
krein_status krein__kernel_meet(krein_ctx *ctx, krein_kernel *k, const krein_encoding *e);

#endif
