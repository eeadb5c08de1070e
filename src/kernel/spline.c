/* spline -- k(x, y) = prod_j L(x_j - y_j), L(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q, q > 1
 *   The periodic Sobolev kernel of smoothness q/2 on [0, 1]   (wahba1990)
 *   frequencies  w_j = 2 pi K_j with independent integers: P[K = 0] = 1/m, P[K = +-k] = k^-q / m,
 *   m = 1 + 2 zeta(q); mass m^d
 * With terms = T > 0 the sum ends at k = T. That is a kernel for q <= 1 too, where the whole sum is
 * infinite at 0 and grows with T for ever: like log T for q = 1. m = 1 + 2 sum_(k<=T) k^-q.
 *
 * VALUES. num/cosine_series.h. Finite sums cost O(T) a value for T < 256 and for neighbours nearer
 * than 10 / T, elsewhere ten times as much as whole ones.
 */
#include "kernel/kernel.h"
#include "num/special.h"
#include "num/cosine_series.h"

#include <math.h>

enum { Q = 0, TERMS = 1 };

/* out[i] = prod_j L(x_j - y_ij) with a finite sum. */
#define FINITE(T, name)                                                                            \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        enum { MANY = 512 };                                                                       \
        const krein_spline s = krein__spline_finite(p[Q], (int64_t)p[TERMS]);                      \
        double u[MANY], value[MANY];                                                               \
        for (int64_t i = 0; i < n; i++) out[i] = 1;                                                \
        for (int64_t from = 0; from < n; from += MANY) {                                           \
            int64_t m = n - from < MANY ? n - from : MANY;                                         \
            for (int64_t j = 0; j < d; j++) {                                                      \
                const T *column = y + from * ldy + j;                                              \
                for (int64_t i = 0; i < m; i++) u[i] = (double)x[j] - (double)column[i * ldy];     \
                krein__spline_finite_values(&s, m, u, value);                                      \
                for (int64_t i = 0; i < m; i++) out[from + i] *= (T)value[i];                      \
            }                                                                                      \
        }                                                                                          \
    }
FINITE(float, finite32)
FINITE(double, finite64)

/* out[i] = prod_j L(x_j - y_ij); for even q in T, for others in double. */
#define ROWS(T, name, FINITE_ROWS, ABS, RINT)                                                      \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        if (p[TERMS] > 0) {                                                                        \
            FINITE_ROWS(p, d, x, n, y, ldy, out);                                                  \
            return;                                                                                \
        }                                                                                          \
        const krein_spline e = krein__spline_expand(p[Q]);                                         \
        T c[KREIN_SPLINE_TERMS] = {0};                                                             \
        for (int j = 0; j < e.n; j++) c[j] = (T)(2 * e.c[j]);                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *row = y + i * ldy;                                                            \
            T product = 1;                                                                         \
            for (int64_t j = 0; j < d; j++) {                                                      \
                T u = x[j] - row[j], t = (T)(2 * M_PI) * ABS(u - RINT(u)), q = t * t, sum = c[0];  \
                if (!e.even) {                                                                     \
                    product *= (T)krein__spline_value(&e, (double)u);                              \
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
ROWS(float, rows32, finite32, fabsf, rintf)
ROWS(double, rows64, finite64, fabs, rint)

/* L(0) */
static double mass_of_column(const double *p) {
    return 1 + 2 * (p[TERMS] > 0 ? krein__harmonic(p[Q], p[TERMS]) : krein__zeta(p[Q]));
}

static double mass(const double *p, int64_t d) { return pow(mass_of_column(p), (double)d); }

/* Integers with P[k] proportional to k^-q, k > 0, by rejection from the floor of a real number:
 * a proposal from u, and whether v accepts it. The whole sum from floor(U^(-1/(q-1)))
 * (devroye1986). */
static bool propose(double q, double u, double v, double *k) {
    const double b = exp2(q - 1);
    *k = floor(pow(u, -1 / (q - 1)));
    if (!(*k < 0x1p52)) return false; /* q so near 1 that a cosine of it means nothing */
    double t = pow(1 + 1 / *k, q - 1);
    return v * *k * (t - 1) / (b - 1) <= t / b;
}

/* The finite one from the density x^-q on [1, terms + 1], which gives k the probability of
 * int_k^(k+1) x^-q dx: k^-q over that is greatest for k = 1. */
static bool propose_finite(double q, double terms, double u, double v, double *k) {
    double part = u * krein__power_integral(q, 1, terms + 1);
    *k = floor(exp(q == 1 ? part : log1p((1 - q) * part) / (1 - q)));
    *k = fmin(fmax(*k, 1), terms);
    return v * krein__power_integral(q, *k, *k + 1) <= pow(*k, -q) * krein__power_integral(q, 1, 2);
}

/* The first attempt also says whether it is 0. */
static double draw(const double *p, double zero, krein_rng g, uint64_t row, uint64_t column) {
    const double unit = 0x1p-53;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t w[4];
        krein__philox(g.seed, g.stream, row, column, attempt, w);
        if (attempt == 0 && ((double)(w[3] >> 11) + 0.5) * unit < zero) return 0;
        double u = ((double)(w[0] >> 11) + 0.5) * unit, v = ((double)(w[1] >> 11) + 0.5) * unit, k;
        if (p[TERMS] > 0 ? propose_finite(p[Q], p[TERMS], u, v, &k) : propose(p[Q], u, v, &k))
            return w[2] & 1 ? k : -k;
    }
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    double zero = 1 / mass_of_column(p);
    for (int64_t j = 0; j < d; j++) w[j] = 2 * M_PI * draw(p, zero, g, row, (uint64_t)j);
}

static bool second_moment(const double *p) { return p[TERMS] > 0 || p[Q] > 3; }

static double flops(const double *p) {
    return p[TERMS] > 0 ? krein__spline_finite_flops(p[TERMS]) : 4;
}

static const char *check(const double *p) {
    if (p[TERMS] > 0 || p[Q] > 1) return NULL;
    return "the sum of all terms is infinite for q <= 1; cut it, for example with terms=4000, or "
           "take q > 1";
}

static const krein_option options[] = {
    {.name = "q",
     .value = 2,
     .low = 0,
     .low_open = true,
     .high = 64,
     .help = "decay of the coefficients k^-q; above 1, or with terms"},
    {.name = "terms",
     .type = KREIN_OPTION_INTEGER,
     .value = 0,
     .low = 0,
     .high = 1e6,
     .help = "number of terms of the sum, slower; 0: all of it"},
    {0}};

const krein_kernel_class krein__kernel_spline = {
    .cls =
        {"spline", "prod_j (1 + 2 sum_k cos(2 pi k (x_j-y_j)) / k^q)", "wahba1990", options,
         "Periodic splines on [0, 1]: the ends of the range are neighbours, and new values outside "
         "are taken modulo 1. For few columns: k(x, x) = (1 + 2 zeta(q))^d. Even q are fastest. A "
         "sum of `terms` terms is slower, and exists for q <= 1 too."},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "spline",
    .rows32 = rows32,
    .rows64 = rows64,
    .check = check,
    .flops = flops,
    .mass = mass,
    .frequency = frequency,
    .second_moment = second_moment,
    .low = 0,
    .high = 1,
    .advice = "use `scale=minmax`"};
