/* special.h -- special functions the C library does not have. */
#ifndef KREIN_SPECIAL_H
#define KREIN_SPECIAL_H

/* Modified Bessel function of the second kind K_nu(x), x > 0, nu >= 0. */
double krein__bessel_k(double nu, double x);
double krein__log_bessel_k(double nu, double x); /* where K itself would overflow */
/* Riemann's zeta(s), s real; infinite at s = 1. */
double krein__zeta(double s);
/* int_a^b x^-s dx, 0 < a <= b; also where s is near 1. */
double krein__power_integral(double s, double a, double b);
/* sum_(k=1)^n k^-s, s > 0, in constant time. */
double krein__harmonic(double s, double n);
/* 2^(1-nu)/Gamma(nu) u^nu K_nu(u), the Matern function: 1 at u = 0, 0 far out, stable. */
double krein__matern_function(double nu, double u);

#endif
