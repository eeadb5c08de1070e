/* spline -- k(x, y) = prod_j L(x_j - y_j), L(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q, q > 1
 *   The periodic Sobolev kernel of smoothness q/2 on [0, 1]   (wahba1990)
 *   frequencies  w_j = 2 pi K_j with independent integers: P[K = 0] = 1/m, P[K = +-k] = k^-q / m,
 *   m = 1 + 2 zeta(q); mass m^d
 *
 * VALUES. With t = 2 pi |u|, u reduced to [-1/2, 1/2], and the polylogarithm's expansion
 * (DLMF 25.12.12) sum_k cos(k t) / k^q = A t^(q-1) + sum_j zeta(q - 2j) (-1)^j t^(2j) / (2j)!, A =
 * pi / (2 Gamma(q) cos(pi q / 2)). For even q the sum ends at j = q/2: the Bernoulli polynomial of
 * degree q. Otherwise the terms behind q/2 fall by (t / 2 pi)^2 <= 1/4 each; what is left out after
 * 26 of them is below 4^-26. For odd q = 2n + 1 the power and the term j = n are both infinite, and
 * near it nearly so; with e = q - 2n - 1 together
 *   (-1)^n t^(2n)/(2n)! [ zeta(1+e) - 1/e - expm1(e (log t + l(e))) / e ],
 *   e l(e) = log((pi e / 2) / sin(pi e / 2)) - log(Gamma(2n+1+e) / Gamma(2n+1)),
 * which has a limit at e = 0; it is used for |e| < 1/4, with the first terms of the powers of e in
 * both parts where |e| < 1e-4.
 */
#include "kernel/kernel.h"
#include "num/special.h"

#include <math.h>

enum { TERMS = 64, EXTRA = 26 };

/* sum_k cos(k t) / k^q: a polynomial in t^2 with n coefficients, and a part that is not smooth at
 * 0, weight t^power or, near odd q (joint), weight t^power expm1(e (log t + l)) / e. */
typedef struct expansion {
    int n;
    double c[TERMS], weight, power, e, l, at_zero;
    bool even, joint;
} expansion;

/* l(e) above, m = 2n + 1 */
static double shift(double e, double m) {
    if (fabs(e) > 1e-4) {
        int sign;
        double x = M_PI_2 * e;
        return (log(x / sin(x)) - lgamma_r(m + e, &sign) + lgamma_r(m, &sign)) / e;
    }
    /* the polygamma functions at m */
    double psi = -0.57721566490153286, psi1 = M_PI * M_PI / 6, psi2 = -2 * 1.2020569031595942;
    for (double k = 1; k < m; k++) psi += 1 / k, psi1 -= 1 / (k * k), psi2 += 2 / (k * k * k);
    return M_PI * M_PI / 24 * e - psi - psi1 * e / 2 - psi2 * e * e / 6;
}

/* zeta(1 + e) - 1/e */
static double zeta_rest(double e) {
    if (fabs(e) > 1e-4) return krein__zeta(1 + e) - 1 / e;
    return 0.57721566490153286 + e * (0.0728158454836767 - e * 0.00484518159643616);
}

static expansion expand(double q) {
    const double n = rint((q - 1) / 2), e = q - 2 * n - 1;
    double factor = 1;
    expansion x = {.e = e, .even = fmod(q, 2) == 0, .joint = fabs(e) < 0.25};
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
    x.at_zero = 1 + 2 * krein__zeta(q);
    return x;
}

/* L(u) for q that is not even */
static double any(const expansion *x, double u) {
    double t = 2 * M_PI * fabs(u - rint(u)), q = t * t, sum = 0, log_t;
    if (t == 0) return x->at_zero;
    log_t = log(t);
    for (int j = x->n - 1; j >= 0; j--) sum = sum * q + x->c[j];
    double rough = x->weight * exp(x->power * log_t);
    if (x->joint) rough *= x->e == 0 ? log_t + x->l : expm1(x->e * (log_t + x->l)) / x->e;
    return 1 + 2 * (sum + rough);
}

/* out[i] = prod_j L(x_j - y_ij); for even q in T, for others in double. */
#define ROWS(T, name, ABS, RINT)                                                                   \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        const expansion e = expand(p[0]);                                                          \
        T c[TERMS];                                                                                \
        for (int j = 0; j < e.n; j++) c[j] = (T)(2 * e.c[j]);                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *row = y + i * ldy;                                                            \
            T product = 1;                                                                         \
            for (int64_t j = 0; j < d; j++) {                                                      \
                T u = x[j] - row[j], t = (T)(2 * M_PI) * ABS(u - RINT(u)), q = t * t, sum = c[0];  \
                if (!e.even) {                                                                     \
                    product *= (T)any(&e, (double)u);                                              \
                    continue;                                                                      \
                }                                                                                  \
                T power = 1, rough = (T)(2 * e.weight) * t;                                        \
                for (int k = 1; k < e.n; k++) sum += c[k] * (power *= q);                          \
                for (int k = 2; k < e.n; k++) rough *= q; /* t^(q-1) */                            \
                product *= 1 + sum + rough;                                                        \
            }                                                                                      \
            out[i] = product;                                                                      \
        }                                                                                          \
    }
ROWS(float, rows32, fabsf, rintf)
ROWS(double, rows64, fabs, rint)

static double mass(const double *p, int64_t d) { return pow(1 + 2 * krein__zeta(p[0]), (double)d); }

/* Integers with P[k] proportional to k^-q, k > 0, by rejection from floor(U^(-1/(q-1)))
 * (devroye1986); the first attempt also says whether it is 0. */
static double draw(double q, double zero, krein_rng g, uint64_t row, uint64_t column) {
    const double b = exp2(q - 1), unit = 0x1p-53;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t w[4];
        krein__philox(g.seed, g.stream, row, column, attempt, w);
        if (attempt == 0 && ((double)(w[3] >> 11) + 0.5) * unit < zero) return 0;
        double u = ((double)(w[0] >> 11) + 0.5) * unit, v = ((double)(w[1] >> 11) + 0.5) * unit;
        double k = floor(pow(u, -1 / (q - 1)));
        if (!(k < 0x1p52)) continue; /* q so near 1 that a cosine of it means nothing */
        double t = pow(1 + 1 / k, q - 1);
        if (v * k * (t - 1) / (b - 1) <= t / b) return w[2] & 1 ? k : -k;
    }
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    double zero = 1 / (1 + 2 * krein__zeta(p[0]));
    for (int64_t j = 0; j < d; j++) w[j] = 2 * M_PI * draw(p[0], zero, g, row, (uint64_t)j);
}

static bool second_moment(const double *p) { return p[0] > 3; }

static const krein_option options[] = {{.name = "q",
                                        .value = 2,
                                        .low = 1,
                                        .low_open = true,
                                        .high = 64,
                                        .help = "decay of the coefficients k^-q"},
                                       {0}};

const krein_kernel_class krein__kernel_spline = {
    .cls =
        {"spline", "prod_j (1 + 2 sum_k cos(2 pi k (x_j-y_j)) / k^q)", "wahba1990", options,
         "Periodic splines on [0, 1]: the ends of the range are neighbours, and new values outside "
         "are taken modulo 1. For few columns: k(x, x) = (1 + 2 zeta(q))^d. Even q are fastest."},
    .family = KREIN_FAMILY_STATIONARY,
    .rows32 = rows32,
    .rows64 = rows64,
    .mass = mass,
    .frequency = frequency,
    .second_moment = second_moment,
    .low = 0,
    .high = 1,
    .advice = "use --scale minmax"};
