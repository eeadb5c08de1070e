/* cosines.h -- finite series of cosines. */
#ifndef KREIN_COSINES_H
#define KREIN_COSINES_H

#include <stdint.h>

/* out[i] = sum_(k=1)^terms cos(2 pi k u[i]) / k^q; 6 terms operations each. table: k^-q for k = 1,
 * 2, ..., or NULL: they are computed, once for every 512 values. */
void krein__cosines(double q, int64_t terms, const double *table, int64_t n, const double *u,
                    double *out);

#endif
