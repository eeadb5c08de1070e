/* vec.h -- vectorised elementary functions on arrays; the best instruction set of
 * the CPU is chosen at run time (vec.c). All in place are allowed (out == x). */
#ifndef KREIN_VEC_H
#define KREIN_VEC_H

#include <stdint.h>

/* out[i] = scale * cos(2 pi t[i]): t counts turns, so the range reduction is exact. */
void krein__vcos_turns(int64_t n, const float *t, float scale, float *out);
/* out[2i] = scale * cos(2 pi t[i]), out[2i+1] = scale * sin(2 pi t[i]); out != t. */
void krein__vsincos_turns(int64_t n, const float *t, float scale, float *out);
/* The same into two arrays, neither of them t: c[i], s[i]. */
void krein__vsincos_apart(int64_t n, const float *t, float scale, float *c, float *s);
/* out[i] = exp(x[i]); x <= 88 expected; below -87 gives 0 (no denormals). */
void krein__vexpf(int64_t n, const float *x, float *out);
void krein__vexp(int64_t n, const double *x, double *out);
/* acos for |x| <= 1 (NaN beyond), and tanh; errors below 4e-7 and 2e-7, relative for tanh. */
void krein__vacosf(int64_t n, const float *x, float *out);
void krein__vtanhf(int64_t n, const float *x, float *out);
/* v[i] = by * |x - y_i|^2 of inner products v[i] = <x, y_i>, xx = |x|^2, yy[i] = |y_i|^2. */
void krein__vsquares32(int64_t n, float *v, float xx, const float *yy, float by);
void krein__vsquares64(int64_t n, double *v, double xx, const double *yy, double by);
/* The same, and exp of it; by < 0. Errors below 2e-7 relative and the rounding of the exponent. */
void krein__vgaussian32(int64_t n, float *v, float xx, const float *yy, double by);
/* out = a - b */
void krein__vless32(int64_t n, const float *a, const float *b, float *out);
/* Name of the code path in use: "avx512", "avx2", "baseline". */
const char *krein__vec_path(void);

#endif
