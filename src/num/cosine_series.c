/* cosine_series.c -- periodic splines by the expansion of the polylogarithm around its branch point
 *
 * With t = 2 pi |u|, u reduced to [-1/2, 1/2], and the polylogarithm's expansion
 * (DLMF 25.12.12) sum_k cos(k t) / k^q = A t^(q-1) + sum_j zeta(q - 2j) (-1)^j t^(2j) / (2j)!, A =
 * pi / (2 Gamma(q) cos(pi q / 2)). For even q the sum ends at j = q/2: the Bernoulli polynomial of
 * degree q. Otherwise the terms behind q/2 fall by (t / 2 pi)^2 <= 1/4 each; what is left out after
 * 26 of them is below 4^-26. For odd q = 2n + 1 the power and the term j = n are both infinite, and
 * near it nearly so; with e = q - 2n - 1 together
 *   (-1)^n t^(2n)/(2n)! [ zeta(1+e) - 1/e - expm1(e (log t + l(e))) / e ],
 *   e l(e) = log((pi e / 2) / sin(pi e / 2)) - log(Gamma(2n+1+e) / Gamma(2n+1)),
 * which has a limit at e = 0; it is used for |e| < 1/4, with the first terms of the powers of e in
 * both parts where |e| < 1e-4.
 *
 * FLOAT32. t = pi s with s = 2 |u| in [0, 1]: the coefficients c_j pi^(2j) in powers of s^2 fall by
 * 1/4 behind q/2, and 13 of them leave out less than 4^-13. Even orders have t^(q-1), odd ones
 * t^(q-1) (log t + l) with log t = e log 2 + 2 atanh((m - 1)/(m + 1)), t = 2^e m, |m - 1| small.
 *
 * FINITE SUMS, k <= T. What is left out, with N = T + 1, z = e^(it) and forward differences
 * (Euler): sum_(k>=N) z^k / k^q = z^N / (1 - z) sum_j w^j D_j,   w = z / (1 - z) = -1/2 + i
 * cot(t/2) / 2, D_j = Delta^j N^-q = N^-q sum_(i>=j) a_ji (-1)^i (q)_i N^-i,   (e^x - 1)^j = sum_i
 * a_ji x^i. The j-th term is some (q)_j / (N t)^j of the first: 16 of them leave out less than
 * 1e-15 for N t >=
 * 64. Nearer to 0, and where T is small, the sum is taken term by term (num/cosines.h). Where the
 * tail is below 1e-17 in all nothing is taken off.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") /* as in vec.c: selections become masks */
#endif
#include "num/cosine_series.h"

#include "num/cosines.h"
#include "num/special.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { EXTRA = 26, EXTRA_FLOAT = 13, BLOCK = 64, MANY = 512, SHORT = 256, FAR = 64 };
static const float NEAREST = 1e-9f;

/* l(e) above, m = 2n + 1 */
static double shift(double e, double m) {
    if (fabs(e) > 1e-4) {
        int sign;
        double x = M_PI_2 * e;
        return (log(x / sin(x)) - lgamma_r(m + e, &sign) + lgamma_r(m, &sign)) / e;
    }
    /* the polygamma functions at m */
    double psi = -0.57721566490153286, psi1 = M_PI * M_PI / 6, psi2 = -2 * 1.2020569031595942;
    for (int i = 1; i < (int)m; i++) {
        double k = i;
        psi += 1 / k, psi1 -= 1 / (k * k), psi2 += 2 / (k * k * k);
    }
    return M_PI * M_PI / 24 * e - psi - psi1 * e / 2 - psi2 * e * e / 6;
}

/* zeta(1 + e) - 1/e */
static double zeta_rest(double e) {
    if (fabs(e) > 1e-4) return krein__zeta(1 + e) - 1 / e;
    return 0.57721566490153286 + e * (0.0728158454836767 - e * 0.00484518159643616);
}

static krein_spline expand(double q) {
    const double n = rint((q - 1) / 2), e = q - 2 * n - 1;
    double factor = 1;
    krein_spline x = {.e = e, .even = fmod(q, 2) == 0, .joint = fabs(e) < 0.25};
    x.power = x.joint ? 2 * n : q - 1;
    x.n = (int)(q / 2) + 1 + (x.even ? 0 : EXTRA);
    for (int j = 0; j < x.n; j++) {
        bool shared = x.joint && j == (int)n;
        x.c[j] = factor * (shared ? zeta_rest(e) : krein__zeta(q - 2 * j));
        if (shared) x.weight = -factor;
        factor /= -(2.0 * j + 1) * (2.0 * j + 2);
    }
    if (x.joint)
        x.l = shift(e, 2 * n + 1);
    else
        x.weight = M_PI / (2 * tgamma(q) * cos(M_PI_2 * q));
    x.at_zero = q > 1 ? 1 + 2 * krein__zeta(q) : INFINITY;
    x.order = q == rint(q) ? (int)q : 0;
    return x;
}

static double whole_value(const krein_spline *x, double u) {
    double t = 2 * M_PI * fabs(u - rint(u)), q = t * t, sum = 0, log_t;
    if (t == 0) return x->at_zero;
    log_t = log(t);
    for (int j = x->n - 1; j >= 0; j--) sum = sum * q + x->c[j];
    double rough = x->weight * exp(x->power * log_t);
    if (x->joint) rough *= x->e == 0 ? log_t + x->l : expm1(x->e * (log_t + x->l)) / x->e;
    return 1 + 2 * (sum + rough);
}

/* The D_j above. A power (e^x - 1)^j starts at x^j; LENGTH coefficients from there on. */
static void set_tail(krein_spline *s) {
    enum { LENGTH = 14 };
    const double N = (double)s->terms + 1;
    double a[LENGTH] = {1}, scale = pow(N, -s->q); /* scale: (-1)^j (q)_j N^(-q-j) */
    for (int j = 0; j < KREIN_SPLINE_TAIL; j++) {
        double sum = 0, factor = scale, next[LENGTH] = {0};
        for (int i = 0; i < LENGTH; i++) {
            sum += a[i] * factor;
            factor *= -(s->q + j + i) / N;
        }
        s->tail[j] = sum;
        scale *= -(s->q + j) / N;
        for (int i = 0; i < LENGTH; i++) /* times (e^x - 1) / x */
            for (int k = 0; k <= i; k++) next[i] += a[k] / tgamma(i - k + 2);
        memcpy(a, next, sizeof a);
    }
}

/* sum_(k>T) cos(2 pi k v) / k^q */
static double tail_value(const krein_spline *s, double v) {
    const double N = (double)s->terms + 1, turns = N * v, rest = fma(N, v, -turns);
    const double angle = 2 * M_PI * (turns - rint(turns) + rest);
    const double h = 0.5 * cos(M_PI * v) / sin(M_PI * v);
    double x = s->tail[KREIN_SPLINE_TAIL - 1], y = 0; /* x + iy, Horner in w */
    for (int j = KREIN_SPLINE_TAIL - 2; j >= 0; j--) {
        double last = x;
        x = -0.5 * x - h * y + s->tail[j];
        y = -0.5 * y + h * last;
    }
    return cos(angle) * (0.5 * x - h * y) - sin(angle) * (0.5 * y + h * x);
}

/* From this distance on the tail's expansion holds. */
static double reach(int64_t terms) {
    return terms < SHORT ? INFINITY : FAR / (2 * M_PI * (double)terms);
}

static void finite_block(const krein_spline *s, int n, const double *u, double *out) {
    const double from = reach(s->terms);
    double near[MANY] = {0}, sum[MANY];
    int place[MANY], m = 0;
    for (int i = 0; i < n; i++) {
        double v = fabs(u[i] - rint(u[i]));
        if (v >= from) {
            out[i] = whole_value(s, v) - (s->tail[0] != 0 ? 2 * tail_value(s, v) : 0);
            continue;
        }
        near[m] = v;
        place[m++] = i;
    }
    krein__cosines(s->q, s->terms, s->table, m, near, sum);
    for (int i = 0; i < m; i++) out[place[i]] = 1 + 2 * sum[i];
}

void krein__spline_finite_values(const krein_spline *s, int64_t n, const double *u, double *out) {
    for (int64_t i = 0; i < n; i += MANY)
        finite_block(s, n - i < MANY ? (int)(n - i) : MANY, u + i, out + i);
}

double krein__spline_finite_flops(double terms) {
    double near = fmin(1, 2 * reach((int64_t)terms));
    return near * 6 * terms + (1 - near) * 200;
}

double krein__spline_value(const krein_spline *x, double u) {
    double value;
    if (!x->terms) return whole_value(x, u);
    krein__spline_finite_values(x, 1, &u, &value);
    return value;
}

/* log t, t > 0 normal */
INLINE float log_one(float t) {
    int32_t bits, shift;
    memcpy(&bits, &t, sizeof bits);
    shift = (bits - 0x3f3504f3) >> 23; /* t = 2^shift m, sqrt(1/2) <= m < sqrt(2) */
    bits -= shift * (1 << 23);
    float m;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1) / (m + 1), z = s * s;
    float p = 1 + z * (1.0f / 3 + z * (0.2f + z * (1.0f / 7 + z * (1.0f / 9))));
    return (float)shift * 0.693147181f + 2 * s * p;
}

/* The float32 form of an expansion of whole order. */
static void prepare(krein_spline *s) {
    double factor = 2;
    s->n32 = s->even ? s->n : s->order / 2 + 1 + EXTRA_FLOAT;
    for (int j = 0; j < s->n32; j++, factor *= M_PI * M_PI) s->c32[j] = (float)(factor * s->c[j]);
    s->c32[0] += 1;
    s->weight32 = (float)(2 * s->weight * pow(M_PI, s->order - 1));
    s->l32 = (float)(s->l + log(M_PI)); /* log t = log s + log pi */
}

/* out[i] *= L(x - w[i]), i < BLOCK; loops over the elements inside, so that they vectorise */
INLINE void multiply(const krein_spline *k, float x, const float *w, float *out) {
    float s[BLOCK], z[BLOCK], sum[BLOCK], rough[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        float u = x - w[i], near = 2 * fabsf(u - __builtin_rintf(u));
        s[i] = near > NEAREST ? near : NEAREST;
        z[i] = s[i] * s[i];
        sum[i] = k->c32[k->n32 - 1];
        rough[i] = k->even ? k->weight32 * s[i] : k->weight32 * (log_one(s[i]) + k->l32);
    }
    for (int j = k->n32 - 2; j >= 0; j--)
        for (int i = 0; i < BLOCK; i++) sum[i] = sum[i] * z[i] + k->c32[j];
    for (int j = (k->order - 1) / 2; j > 0; j--)
        for (int i = 0; i < BLOCK; i++) rough[i] *= z[i];
    for (int i = 0; i < BLOCK; i++) out[i] *= sum[i] + rough[i];
}

/* Whole blocks, then the tail in a padded one. */
INLINE void multiply_all(const krein_spline *k, int64_t n, float x, const float *w, float *out) {
    float pad_w[BLOCK] = {0}, pad_out[BLOCK] = {0};
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) multiply(k, x, w + i, out + i);
    if (i == n) return;
    memcpy(pad_w, w + i, (size_t)(n - i) * sizeof *w);
    memcpy(pad_out, out + i, (size_t)(n - i) * sizeof *out);
    multiply(k, x, pad_w, pad_out);
    memcpy(out + i, pad_out, (size_t)(n - i) * sizeof *out);
}

#define PATH(NAME, TARGET)                                                                         \
    TARGET static void NAME(const krein_spline *k, int64_t n, float x, const float *w,             \
                            float *out) {                                                          \
        multiply_all(k, n, x, w, out);                                                             \
    }
PATH(baseline, )
#if defined(__x86_64__)
PATH(avx2, __attribute__((target("avx2,fma"))))
#endif

static void multiply_double(const krein_spline *k, int64_t n, float x, const float *w, float *out) {
    for (int64_t i = 0; i < n; i++) {
        double u = (double)x - (double)w[i], v = fabs(u - rint(u));
        out[i] *= (float)krein__spline_value(k, fmax(v, (double)NEAREST / 2));
    }
}

static void multiply_finite(const krein_spline *k, int64_t n, float x, const float *w, float *out) {
    double u[MANY], value[MANY];
    for (int64_t from = 0; from < n; from += MANY) {
        int m = n - from < MANY ? (int)(n - from) : MANY;
        for (int i = 0; i < m; i++) u[i] = (double)x - (double)w[from + i];
        krein__spline_finite_values(k, m, u, value);
        for (int i = 0; i < m; i++) out[from + i] *= (float)value[i];
    }
}

void krein__spline_multiply(const krein_spline *k, int64_t n, float x, const float *w, float *out) {
    if (k->terms) {
        multiply_finite(k, n, x, w, out);
        return;
    }
    if (!k->order) {
        multiply_double(k, n, x, w, out);
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        avx2(k, n, x, w, out);
        return;
    }
#endif
    baseline(k, n, x, w, out);
}

krein_spline krein__spline_expand(double q) {
    krein_spline s = expand(q);
    if (s.order) prepare(&s);
    return s;
}

krein_spline krein__spline_finite(double q, int64_t terms) {
    krein_spline s = {0};
    double N = (double)terms + 1;
    if (terms >= SHORT) s = expand(q);
    s.q = q;
    s.terms = terms;
    if (q < 2 || pow(N, 1 - q) > 1e-17) set_tail(&s);
    return s;
}
