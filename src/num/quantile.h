/* quantile.h -- distribution functions and their inverses. */
#ifndef KREIN_QUANTILE_H
#define KREIN_QUANTILE_H

#include <stdint.h>

/* u in (0, 1); 0 and 1 give the ends of the support. */
double krein__normal_quantile(double u);
/* P(shape, x), the regularised incomplete gamma function, and its inverse; scale 1. */
double krein__gamma_cdf(double shape, double x);
double krein__gamma_quantile(double shape, double u);
/* The length of a standard normal vector with `dof` entries. */
double krein__chi_quantile(double dof, double u);

/* For tests of hypotheses (student.c). P(Z > z) of a standard normal variable. */
double krein__normal_upper(double z);
/* I_x(a, b), the regularised incomplete beta function; a, b > 0, x in [0, 1]. */
double krein__beta_cdf(double a, double b, double x);
/* P(|T| > |t|) of Student's t, and the u-quantile, u in (0, 1). */
double krein__t_outside(double dof, double t);
double krein__t_quantile(double dof, double u);
/* P(X > x) of Fisher's F and of chi squared. */
double krein__f_upper(double dof1, double dof2, double x);
double krein__chi2_upper(double dof, double x);
/* The range of k independent standard normal variables, that is the studentised range with
 * infinitely many degrees of freedom: P(range <= q), and the u-quantile; 2 <= k. */
double krein__range_cdf(int64_t k, double q);
double krein__range_quantile(int64_t k, double u);

#endif
