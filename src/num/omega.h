/* omega.h -- the mean of a plane wave over the sphere, for radial spectral measures. */
#ifndef KREIN_OMEGA_H
#define KREIN_OMEGA_H

#include "base/base.h"

/* Omega_d(t) = E cos(t u_1), u uniform on the unit sphere of R^d; d >= 1. */
double krein__omega(int64_t d, double t);

/* Values on an even grid 0 .. reach, for many of one d: cubic interpolation, off by less than 1e-7;
 * past the grid the function itself. */
typedef struct krein_omega_table {
    int64_t d, n;
    double step;
    double *value; /* n */
} krein_omega_table;

krein_status krein__omega_table(krein_ctx *ctx, int64_t d, double reach, krein_omega_table *out);
double krein__omega_at(const krein_omega_table *table, double t);
void krein__omega_clear(krein_ctx *ctx, krein_omega_table *table);

#endif
