/* mkl.h -- the spelling of a learner on several kernels; see mkl.c. */
#ifndef KREIN_MKL_H
#define KREIN_MKL_H

#include "combine/combine.h"

extern const krein_learner_class krein__learner_mkl;
/* "mkl(method=..., base=..., ...)": given back, it means the same. Owned by the caller. */
char *krein__mkl_text(krein_ctx *ctx, const krein_class *base, const krein_values *values,
                      const krein_weighing *w);

#endif
