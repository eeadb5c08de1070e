/* circulation.h -- flows between nodes made to balance. */
#ifndef KREIN_CIRCULATION_H
#define KREIN_CIRCULATION_H

#include "base/base.h"

/* flow: k x k, flow[a * k + b] >= 0 goes from a to b; the diagonal is not read. Takes flow away
 * until as much enters every node as leaves it, to rounding. */
krein_status krein__circulation(krein_ctx *ctx, int64_t k, double *flow);

#endif
