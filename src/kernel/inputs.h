/* inputs.h -- parameters and limits of a kernel that follow from the data. */
#ifndef KREIN_KERNEL_INPUTS_H
#define KREIN_KERNEL_INPUTS_H

#include "stream/data.h"
#include "kernel/kernel.h"

/* Once the encoding is learned: sets the parameters that follow from the number of columns, and
 * refuses inputs outside the domain of a base kernel. */
krein_status krein__kernel_meet(krein_ctx *ctx, krein_kernel *k, const krein_encoding *e);
/* For kernels with a matrix in a file, one pass: every row is a row number of it. An asymmetric
 * matrix is refused, or only worth a warning. Nothing to do for other kernels. */
krein_status krein__kernel_meet_rows(krein_ctx *ctx, const krein_kernel *k, krein_stream *rows,
                                     bool symmetric);

#endif
