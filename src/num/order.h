/* order.h -- order statistics. */
#ifndef KREIN_ORDER_H
#define KREIN_ORDER_H

#include <stdint.h>

/* The rank-th smallest (from 1) of n numbers, which are rearranged. */
double krein__order_statistic(int64_t n, double *x, int64_t rank);
/* Of doubles, for qsort. */
int krein__ascending(const void *a, const void *b);

#endif
