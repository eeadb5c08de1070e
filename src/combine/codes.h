/* codes.h -- the targets that kernels are aligned with: +-1 of each class against the rest (one
 * column for two classes), or numbers. */
#ifndef KREIN_CODES_H
#define KREIN_CODES_H

#include "combine/bank.h"

/* Squared lengths (k) of the targets less their means, from means and sums of squares; 0: a class
 * without rows, which is left out. KREIN_EDATA where all rows are of one class, or numbers are all
 * the same. */
krein_status krein__code_lengths(krein_ctx *ctx, bool classes, int64_t k, double weight,
                                 const double *ymean, const double *ysquare, double *length);
/* s_j of the j-th feature. */
double krein__bank_sign(const krein_bank *bank, int64_t j);

#endif
