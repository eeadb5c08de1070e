/* periodic -- k(x, y) = exp(-2 sum_j sin^2(pi (x_j - y_j) / p) / sigma^2)      (rasmussen2006)
 *   frequencies  w_j = 2 pi K_j / p with independent integers K_j:
 *   P[K = k] = exp(-z) I_|k|(z), z = 1/sigma^2, the Fourier series of exp(z (cos t - 1))
 *
 * This is the law of the difference of two Poisson variables of mean z/2. Its quantile comes from
 * the probabilities, which come from the ratios I_k/I_(k-1) = 1/(2k/z + I_(k+1)/I_k), stable
 * downwards. Above z = 1e4 the expansion of Cornish and Fisher is closer than 1e-8: variance z -
 * 1/12 (a sum over integers instead of an integral), fourth cumulant z.
 */
#include "kernel/kernel.h"
#include "kernel/row_sum.h"
#include "num/quantile.h"
#include "num/vec.h"

#include <math.h>
#include <stdio.h>

enum { PERIOD = 0, SIGMA = 1, TERMS = 1024 };

/* 1 - cos of the angle, as 2 sin^2; the angle is reduced first: p is 1/period. */
static float sine32(float t) {
    float s = sinf((float)M_PI * (t - rintf(t)));
    return s * s;
}
static double sine64(double t) {
    double s = sin(M_PI * (t - rint(t)));
    return s * s;
}
#define TERM32(T, x, y) sine32(((x) - (y)) * p)
#define TERM64(T, x, y) sine64(((x) - (y)) * p)
KREIN_ROW_SUM(float, sum32, TERM32)
KREIN_ROW_SUM(double, sum64, TERM64)

#define ROWS(T, name, sum, vexp)                                                                   \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        T g = (T)fmax(-2 / (p[SIGMA] * p[SIGMA]), -1e30); /* finite in float: 0 * g stays 0 */     \
        T turns = (T)(1 / p[PERIOD]);                                                              \
        for (int64_t i = 0; i < n; i++) out[i] = g * sum(turns, d, x, y + i * ldy);                \
        vexp(n, out, out);                                                                         \
    }
ROWS(float, rows32, sum32, krein__vexpf)
ROWS(double, rows64, sum64, krein__vexp)

static double coordinate(const double *p, int64_t at, double x, double y) {
    (void)at;
    return 2 * sine64((x - y) / p[PERIOD]) / (p[SIGMA] * p[SIGMA]);
}
static double finish(const double *p, const double *sum) {
    (void)p;
    return exp(-*sum);
}

/* The k >= 0 that the distance of u from 1/2 belongs to. */
static double by_sums(double z, double off) {
    double ratio[TERMS + 1], sum = 1, term = 1;
    int n = (int)(9 * sqrt(z)) + 24; /* beyond it 1e-17 of the law */
    ratio[n] = z / (2.0 * n);
    for (int k = n - 1; k > 0; k--) ratio[k] = 1 / (2 * k / z + ratio[k + 1]);
    for (int k = 1; k <= n; k++) sum += 2 * (term *= ratio[k]);
    double p = 1 / sum;
    off -= p / 2;
    int k = 0;
    while (off > 0 && k < n) off -= (p *= ratio[++k]);
    return k;
}

static double by_expansion(double z, double off) {
    double x = krein__normal_quantile(0.5 + off), s = sqrt(z - 1.0 / 12);
    return fmax(0, rint(s * (x + x * (x * x - 3) / (24 * z))));
}

static double quantile(const double *p, double u) {
    double z = 1 / (p[SIGMA] * p[SIGMA]), off = fabs(u - 0.5);
    double k = z < 1e4 ? by_sums(z, off) : by_expansion(z, off);
    return copysign(2 * M_PI * k / p[PERIOD], u - 0.5);
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = quantile(p, krein__rng_uniform(g, row, (uint64_t)j));
}

static bool source(const double *p, krein_kernel_source *out) {
    char add[80];
    snprintf(add, sizeof add, "(1 - COS((a - b) * R(%.17g)))", 1 / p[PERIOD]);
    return krein__kernel_source(out, add, "EXP(R(%.17g) * s)", -1 / (p[SIGMA] * p[SIGMA]));
}

static const krein_option options[] = {
    {.name = "p", .value = 1, .low = 0, .low_open = true, .high = 1e30, .help = "period"},
    KREIN_OPTION_SIGMA("bandwidth"),
    {0}};

const krein_kernel_class krein__kernel_periodic = {
    .cls = {"periodic", "exp(-2 sum_j sin^2(pi (x_j-y_j)/p) / sigma^2)", "rasmussen2006", options,
            "The period is that of the inputs after `scale`; with `scale=none` it is their own. "
            "sigma has no unit."},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "rff",
    .source = source,
    .rows32 = rows32,
    .rows64 = rows64,
    .coordinate = coordinate,
    .finish = finish,
    .quantile = quantile,
    .frequency = frequency,
    .metric = 2,
    .spread = 1};
