/* kernel_multiclass.h -- one machine for all classes on the kernel matrix (multi=crammer, gmnp). */
#ifndef KREIN_KERNEL_MULTICLASS_H
#define KREIN_KERNEL_MULTICLASS_H

#include "learn/kernel_problem.h"
#include "solve/multiclass.h"

/* What krein__kernel_train does where p->multi is one of them. */
krein_status krein__kernel_multiclass(const krein_kernel_problem *p, const krein_exact *r, double C,
                                      const int32_t *fold, int64_t folds, double *w, double *b);
/* Bytes beside the matrix, w and b, for k scores. */
double krein__kernel_multiclass_bytes(const krein_ctx *ctx, int64_t n, int64_t k);

#endif
