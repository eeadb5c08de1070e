/* speed.h -- how fast the machine is now, for work that has a time limit. */
#ifndef KREIN_SPEED_H
#define KREIN_SPEED_H

#include "base/base.h"

/* Flops a second of a float64 product on all threads of the context; takes some milliseconds. */
krein_status krein__speed(krein_ctx *ctx, double *speed);
/* Rows of the largest matrix whose eigendecomposition takes no longer than so many flops of a
 * product, 64 at least. */
int64_t krein__eigen_rows(double flops);

#endif
