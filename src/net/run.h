/* run.h -- a net that is used and not trained: forwards on one thread, in memory of the caller's.
 */
#ifndef KREIN_NET_RUN_H
#define KREIN_NET_RUN_H

#include "net/net.h"

/* Floats that the rows at a time take. Outputs that are read no more make room for others. */
int64_t krein__net_run_floats(const krein_net *net, int64_t rows);
/* The output of exactly so many rows x (rows x in), rows x out, within that memory. Normalising
 * layers use their running statistics. */
const float *krein__net_run(const krein_net *net, int64_t rows, float *x, float *memory);

#endif
