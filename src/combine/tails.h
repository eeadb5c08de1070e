/* tails.h -- how slowly the eigenvalues of kernels fall. */
#ifndef KREIN_TAILS_H
#define KREIN_TAILS_H

#include "combine/bank.h"

/* The option theta of the weighings that look at tails. */
#define KREIN_OPTION_THETA                                                                         \
    {                                                                                              \
        .name = "theta", .type = KREIN_OPTION_INTEGER, .value = NAN, .low = 0, .high = 1e9,        \
        .derived = true,                                                                           \
        .help = "eigenvalues before the tail; the root of the rows when not given, on features "   \
                "at most a quarter of a kernel's"                                                  \
    }

/* r[m]: sum of the eigenvalues of c_m K_m after the theta largest (NaN: the root of the rows, on
 * features at most a quarter of a kernel's), over the number of rows; for a kernel of unit mean
 * diagonal that is their share of the trace. Row weights count as repeated rows. 0 where nothing is
 * left but rounding: a kernel of at most theta features. What that means is the caller's: no
 * penalty, or a tail that cannot be divided by. */
krein_status krein__bank_tails(krein_bank *bank, double theta, double *r);

#endif
