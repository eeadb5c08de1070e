/* mirrored.h -- weights of kernels by mirror descent (solve/mirror.h) on the rows of a bank. */
#ifndef KREIN_MIRRORED_H
#define KREIN_MIRRORED_H

#include "combine/combine.h"

/* The options of krein__mirrored, in the order in which it takes them. */
#define KREIN_MIRRORED_OPTIONS                                                                     \
    {.name = "alpha",                                                                              \
     .value = NAN,                                                                                 \
     .low = 0,                                                                                     \
     .low_open = true,                                                                             \
     .high = 1e9,                                                                                  \
     .derived = true,                                                                              \
     .help = "weight of the squared norm; 1/2 over the root of the rows when not given"},          \
        {.name = "beta",                                                                           \
         .value = NAN,                                                                             \
         .low = 0,                                                                                 \
         .high = 1e9,                                                                              \
         .derived = true,                                                                          \
         .help = "weight of the penalty that leaves kernels out; 1 over the root of the rows "     \
                 "when not given"},                                                                \
    {                                                                                              \
        .name = "epochs", .type = KREIN_OPTION_INTEGER, .value = 20, .low = 1, .high = 1e6,        \
        .help = "most passes over the rows; fewer where little is left to gain"                    \
    }

/* option: those of KREIN_MIRRORED_OPTIONS, alpha and beta NaN: chosen. r: M, how much the penalty
 * counts for each kernel. */
krein_status krein__mirrored(krein_bank *bank, const double *option, const double *r, double *mu);
void krein__mirrored_cost(const krein_bank_size *size, krein_cost *out);

#endif
