/* spline -- k(x, y) = prod_j L(x_j - y_j), L(u) = 1 + 2 sum_(k>0) cos(2 pi k u) / k^q, q > 1
 *   The periodic Sobolev kernel of smoothness q/2 on [0, 1]   (wahba1990)
 *   frequencies  w_j = 2 pi K_j with independent integers: P[K = 0] = 1/m, P[K = +-k] = k^-q / m,
 *   m = 1 + 2 zeta(q); mass m^d
 *
 * VALUES. num/spline.h.
 */
#include "kernel/kernel.h"
#include "num/special.h"
#include "num/spline.h"

#include <math.h>

/* out[i] = prod_j L(x_j - y_ij); for even q in T, for others in double. */
#define ROWS(T, name, ABS, RINT)                                                                   \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        const krein_spline e = krein__spline_expand(p[0]);                                         \
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
