/* matern -- k = 2^(1-nu)/Gamma(nu) u^nu K_nu(u),  u = sqrt(2 nu) r / sigma,  r = |x - y|
 *   nu = 1/2: exp(-q); 3/2: (1 + sqrt3 q) exp(-sqrt3 q); 5/2: (1 + sqrt5 q + 5/3 q^2) exp(-sqrt5
 * q), q = r / sigma; other nu through the Bessel function (slow). frequencies  w = N(0, I) /
 * sqrt(chi2_{2nu} / (2nu)) / sigma: a multivariate t   (rasmussen2006)
 */
#include "kernel/kernel.h"
#include "num/quantile.h"
#include "num/special.h"
#include "num/vec.h"

#include <math.h>

enum { NU = 0, SIGMA = 1 };

/* v = -sqrt(2 nu) q, then exp, then the polynomial in q: out = (1 + a q + b q^2) exp(-c q). */
#define VALUES(T, name, squares, vexp, SQRT)                                                       \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        double nu = p[NU];                                                                         \
        T c = (T)fmin(sqrt(2 * nu) / p[SIGMA], 1e30); /* finite in float: 0 * c stays 0 */         \
        squares(n, v, xx, yy, 1);                                                                  \
        for (int64_t i = 0; i < n; i++) v[i] = c * SQRT(v[i]);                                     \
        if (nu == 0.5 || nu == 1.5 || nu == 2.5) {                                                 \
            T a = nu > 1 ? 1 : 0, b = nu > 2 ? (T)(1.0 / 3) : 0;                                   \
            T u[256], e[256];                                                                      \
            for (int64_t i = 0; i < n; i += 256) {                                                 \
                int64_t m = n - i < 256 ? n - i : 256;                                             \
                for (int64_t k = 0; k < m; k++) u[k] = -v[i + k];                                  \
                vexp(m, u, e);                                                                     \
                for (int64_t k = 0; k < m; k++)                                                    \
                    v[i + k] = (1 + v[i + k] * (a + b * v[i + k])) * e[k];                         \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++) v[i] = (T)krein__matern_function(nu, (double)v[i]);    \
        }                                                                                          \
    }
VALUES(float, values32, krein__vsquares32, krein__vexpf, sqrtf)
VALUES(double, values64, krein__vsquares64, krein__vexp, sqrt)

/* u = sqrt(2 nu) r / sigma becomes -sigma^2 phi'(r) / r = nu / (nu - 1) M_(nu-1)(u) for nu > 1, M
 * the Matern function; else 2 nu 2^(1-nu)/Gamma(nu) u^(nu-1) K_(1-nu)(u), infinite at 0. */
static double slope_at(double nu, double u) {
    int sign;
    if (nu > 1) return nu / (nu - 1) * krein__matern_function(nu - 1, u);
    if (u <= 0) return 0;
    return 2 * nu *
           exp((1 - nu) * log(2.0) - lgamma_r(nu, &sign) + (nu - 1) * log(u) +
               krein__log_bessel_k(1 - nu, u));
}

/* With e = exp(-u): e / u for nu = 1/2, 3 e for 3/2, 5/3 (1 + u) e for 5/2, times -1/sigma^2. */
static void slope(const double *p, int64_t n, double *r) {
    double nu = p[NU], c = sqrt(2 * nu) / p[SIGMA], s = -1 / (p[SIGMA] * p[SIGMA]);
    for (int64_t i = 0; i < n; i++) r[i] *= c;
    if (nu != 0.5 && nu != 1.5 && nu != 2.5) {
        for (int64_t i = 0; i < n; i++) r[i] = s * slope_at(nu, r[i]);
        return;
    }
    double u[256], e[256];
    for (int64_t i = 0; i < n; i += 256) {
        int64_t m = n - i < 256 ? n - i : 256;
        for (int64_t k = 0; k < m; k++) u[k] = -r[i + k];
        krein__vexp(m, u, e);
        if (nu < 1)
            for (int64_t k = 0; k < m; k++) r[i + k] = u[k] < 0 ? -s * e[k] / u[k] : 0;
        else
            for (int64_t k = 0; k < m; k++)
                r[i + k] = s * (nu < 2 ? 3 : 5.0 / 3 * (1 - u[k])) * e[k];
    }
}

/* One chi-square per vector; it stands behind the normals of the row. */
static double t_scale(const double *p, krein_rng g, uint64_t row) {
    g = krein__role(g, KREIN_ROLE_SCALE);
    return 1 / sqrt(krein__rng_chi2(g, row, 0, 2 * p[NU]) / (2 * p[NU])) / p[SIGMA];
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    double scale = t_scale(p, g, row);
    for (int64_t j = 0; j < d; j++) w[j] = krein__rng_normal(g, row, (uint64_t)j) * scale;
}

static double radius(const double *p, krein_rng g, uint64_t row, int64_t d) {
    return krein__rng_chi(g, row, 0, (double)d) * t_scale(p, g, row);
}

static double mixture(const double *p, double u) {
    return 1 / sqrt(krein__gamma_quantile(p[NU], u) / p[NU]) / p[SIGMA];
}

/* The law of the length of a multivariate t with 2 nu degrees of freedom, x = sigma r:
 * 2 Gamma(nu + d/2) / (Gamma(nu) Gamma(d/2)) (2 nu)^(-d/2) x^(d-1) (1 + x^2/(2 nu))^-(nu + d/2) */
static double density(const double *p, int64_t d, double r) {
    double x = p[SIGMA] * r, half = 0.5 * (double)d, nu = p[NU];
    int sign;
    if (x < 0 || (x == 0 && d > 1)) return 0;
    return p[SIGMA] *
           exp(log(2.0) + lgamma_r(nu + half, &sign) - lgamma_r(nu, &sign) - lgamma_r(half, &sign) -
               half * log(2 * nu) + (d > 1 ? (2 * half - 1) * log(x) : 0) -
               (nu + half) * log1p(x * x / (2 * nu)));
}

/* 2 nu degrees of freedom have a variance above two. */
static bool second_moment(const double *p) { return p[NU] > 1; }

static krein_kernel_law law(const double *p) {
    return (krein_kernel_law){.name = "normal", .width = p[SIGMA], .shape = p[NU], .divided = true};
}

static bool source(const double *p, krein_kernel_source *out) {
    double nu = p[NU], c = fmin(sqrt(2 * nu) / p[SIGMA], 1e30);
    if (nu == 0.5)
        return krein__kernel_source(out, KREIN_SOURCE_SQUARE, "EXP(R(%.17g) * SQRT(s))", -c);
    if (nu == 1.5)
        return krein__kernel_source(out, KREIN_SOURCE_SQUARE,
                                    "((1 + R(%.17g) * SQRT(s)) * EXP(R(%.17g) * SQRT(s)))", c, -c);
    if (nu == 2.5)
        return krein__kernel_source(
            out, KREIN_SOURCE_SQUARE,
            "((1 + R(%.17g) * SQRT(s) + R(%.17g) * s) * EXP(R(%.17g) * SQRT(s)))", c, c * c / 3,
            -c);
    return false;
}

static const krein_option options[] = {
    {.name = "nu", .value = 1.5, .low = 0.05, .high = 50, .help = "smoothness"},
    KREIN_OPTION_SIGMA("length"),
    {0}};

const krein_kernel_class krein__kernel_matern = {
    .cls = {"matern", "2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu)|x-y|/sigma", "rasmussen2006",
            options, NULL},
    .family = KREIN_FAMILY_RADIAL,
    .map = "orf",
    .source = source,
    .values32 = values32,
    .values64 = values64,
    .slope = slope,
    .frequency = frequency,
    .law = law,
    .radius = radius,
    .density = density,
    .mixture = mixture,
    .second_moment = second_moment,
    .metric = 2,
    .spread = 1};
