/* mirrored.h -- weights of kernels by mirror descent (solve/mirror.h) on the rows of a bank. */
#ifndef KREIN_MIRRORED_H
#define KREIN_MIRRORED_H

#include "combine/combine.h"

/* option: alpha, beta (NaN: chosen) and the epochs, in this order. r: M, how much the penalty
 * counts for each kernel. */
krein_status krein__mirrored(krein_bank *bank, const double *option, const double *r, double *mu);
void krein__mirrored_cost(const krein_bank_size *size, krein_cost *out);

#endif
