/* anova -- k(x, y) = prod_j (1 + c e_j) / (1 + c),  e_j = exp(-|x_j - y_j| / sigma)
 *   multiplied out, a sum over all sets of columns of exponential kernels on these columns alone,
 *   sets of s columns with the weight c^s                                      (stitson1999)
 *   frequencies  w_j = 0 with probability 1/(1 + c), else standard Cauchy / sigma, independent
 * A factor is computed as 1 + b (e_j - 1), b = c / (1 + c): it is 1 for equal inputs.
 */
#if defined(__GNUC__) && !defined(__clang__)
/* As in num/vec.c: selections become masks, not branches. It changes no result. */
#pragma GCC optimize("no-trapping-math")
#endif
#include "kernel/kernel.h"
#include "num/vec.h"

#include <math.h>
#include <stdio.h>

enum { C = 0, SIGMA = 1, CHUNK = 256 };

static double share(const double *p) { return p[C] / (1 + p[C]); }

/* finite in float: 0 times it stays 0 */
static double rate(const double *p) { return fmax(-1 / p[SIGMA], -1e30); }

#define ROWS(T, name, ABS, vexp)                                                                   \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        T g = (T)rate(p), b = (T)share(p), e[CHUNK];                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T *row = y + i * ldy;                                                            \
            T part[8] = {1, 1, 1, 1, 1, 1, 1, 1}, product = 1;                                     \
            for (int64_t from = 0; from < d; from += CHUNK) {                                      \
                int64_t m = d - from < CHUNK ? d - from : CHUNK, j = 0;                            \
                for (int64_t k = 0; k < m; k++) e[k] = g * ABS(x[from + k] - row[from + k]);       \
                vexp(m, e, e);                                                                     \
                for (; j + 8 <= m; j += 8)                                                         \
                    for (int64_t k = 0; k < 8; k++) part[k] *= 1 + b * (e[j + k] - 1);             \
                for (; j < m; j++) product *= 1 + b * (e[j] - 1);                                  \
            }                                                                                      \
            for (int64_t k = 0; k < 8; k++) product *= part[k];                                    \
            out[i] = product;                                                                      \
        }                                                                                          \
    }
ROWS(float, rows32, fabsf, krein__vexpf)
ROWS(double, rows64, fabs, krein__vexp)

static double flops(const double *p) {
    (void)p;
    return 24; /* an exponential */
}

static double coordinate(const double *p, int64_t at, double x, double y) {
    (void)at;
    return -log1p(share(p) * expm1(rate(p) * fabs(x - y)));
}
static double finish(const double *p, const double *sum) {
    (void)p;
    return exp(-*sum);
}

/* -sign(x - y) b e / (sigma (1 + b (e - 1))) */
static void partial(const double *p, int64_t n, double x, const double *y, double *out) {
    double g = rate(p), b = share(p);
    for (int64_t i = 0; i < n; i++) out[i] = g * fabs(x - y[i]);
    krein__vexp(n, out, out);
    for (int64_t i = 0; i < n; i++) {
        double slope = g * b * out[i] / (1 + b * (out[i] - 1));
        out[i] = (x > y[i] ? slope : 0) - (x < y[i] ? slope : 0);
    }
}

/* Of the law with an atom at 0. */
static double quantile(const double *p, double u) {
    double b = share(p), tail = u < 0.5 ? u / b : (1 - u) / b;
    if (tail >= 0.5) return 0;
    return tan(M_PI * (u < 0.5 ? tail - 0.5 : 0.5 - tail)) / p[SIGMA];
}

static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    for (int64_t j = 0; j < d; j++) w[j] = quantile(p, krein__rng_uniform(g, row, (uint64_t)j));
}

static bool second_moment(const double *p) {
    (void)p;
    return false;
}

static bool source(const double *p, krein_kernel_source *out) {
    char add[160];
    snprintf(add, sizeof add, "LOG(1 + R(%.17g) * (EXP(R(%.17g) * FABS(a - b)) - 1))", share(p),
             rate(p));
    return krein__kernel_source(out, add, "EXP(s)");
}

static const krein_option options[] = {{.name = "c",
                                        .value = 1,
                                        .low = 0,
                                        .low_open = true,
                                        .high = 1e6,
                                        .help = "weight of a column"},
                                       KREIN_OPTION_SIGMA("length"),
                                       {0}};

const krein_kernel_class krein__kernel_anova = {
    .cls = {"anova", "prod_j (1 + c exp(-|x_j-y_j| / sigma)) / (1 + c)", "stitson1999", options,
            "Effects of single columns, of pairs and of larger sets, each with a weight: small c "
            "for few at a time, large c for laplacian."},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "rff",
    .source = source,
    .rows32 = rows32,
    .rows64 = rows64,
    .flops = flops,
    .coordinate = coordinate,
    .finish = finish,
    .partial = partial,
    .quantile = quantile,
    .second_moment = second_moment,
    .frequency = frequency,
    .metric = 1,
    .spread = 0.5}; /* exp(-|x-y|_1 / (2 sigma)) near 0 with c = 1 */
