/* kernels.c -- the table of base kernels. */
#include "kernel/kernel.h"

#define KERNEL(name) extern const krein_kernel_class name;
#include "kernel/kernels.def"
#undef KERNEL

const krein_class *const krein__kernels[] = {
#define KERNEL(name) &name.cls,
#include "kernel/kernels.def"
#undef KERNEL
};
const int64_t krein__kernel_count = KREIN__COUNT(krein__kernels);
