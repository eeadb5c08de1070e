/* kernels.c -- the table of base kernels. */
#include "kernel/kernel.h"

const krein_class *const krein__kernels[] = {
#define KERNEL(name) &name.cls,
#include "kernel/kernels.def"
#undef KERNEL
};
const int64_t krein__kernel_count = KREIN__COUNT(krein__kernels);
