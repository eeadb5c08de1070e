/* quantile.h -- distribution functions and their inverses. */
#ifndef KREIN_QUANTILE_H
#define KREIN_QUANTILE_H

/* u in (0, 1); 0 and 1 give the ends of the support. */
double krein__normal_quantile(double u);
/* P(shape, x), the regularised incomplete gamma function, and its inverse; scale 1. */
double krein__gamma_cdf(double shape, double x);
double krein__gamma_quantile(double shape, double u);
/* The length of a standard normal vector with `dof` entries. */
double krein__chi_quantile(double dof, double u);

#endif
