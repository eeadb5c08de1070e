/* tails.h -- how slowly the eigenvalues of kernels fall. */
#ifndef KREIN_TAILS_H
#define KREIN_TAILS_H

#include "combine/bank.h"

/* r[m]: sum of the eigenvalues of c_m K_m after the theta largest (NaN: the root of the rows, on
 * features at most a quarter of a kernel's), over the number of rows; for a kernel of unit mean
 * diagonal that is their share of the trace. Row weights count as repeated rows. 0 where nothing is
 * left but rounding: a kernel of at most theta features. What that means is the caller's: no
 * penalty, or a tail that cannot be divided by. */
krein_status krein__bank_tails(krein_bank *bank, double theta, double *r);

#endif
