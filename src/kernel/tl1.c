/* tl1 -- k(x, y) = max(rho - |x - y|_1, 0), the truncated L1 distance; indefinite   (huang2018)
 *   rho = 0.7 d by default
 */
#include "kernel/kernel.h"
#include "num/distance.h"

#include <math.h>

static void from_l1(const double *p, int64_t n, double *v) {
    for (int64_t i = 0; i < n; i++) v[i] = v[i] < p[0] ? p[0] - v[i] : 0;
}

#define ROWS(T, name, distances)                                                                   \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        T rho = (T)p[0];                                                                           \
        distances(d, x, n, y, ldy, out);                                                           \
        for (int64_t i = 0; i < n; i++) out[i] = out[i] < rho ? rho - out[i] : 0;                  \
    }
ROWS(float, rows32, krein__distances32)
ROWS(double, rows64, krein__distances64)

static double coordinate(const double *p, int64_t at, double x, double y) {
    (void)p, (void)at;
    return fabs(x - y);
}
static double finish(const double *p, const double *sum) { return fmax(p[0] - *sum, 0); }

static krein_definite definite(const double *p) {
    (void)p;
    return KREIN_DEFINITE_NO;
}

static krein_status settle(krein_ctx *ctx, krein_kernel *leaf, int64_t d, const krein_encoding *e) {
    double *p = leaf->values.number;
    (void)ctx, (void)e;
    if (isnan(p[0])) p[0] = 0.7 * (double)d;
    return KREIN_OK;
}

static bool source(const double *p, krein_kernel_source *out) {
    return krein__kernel_source(out, "FABS(a - b)", "(s < R(%.17g) ? R(%.17g) - s : 0)", p[0],
                                p[0]);
}

static const krein_option options[] = {{.name = "rho",
                                        .value = NAN,
                                        .low = 0,
                                        .low_open = true,
                                        .high = 1e30,
                                        .derived = true,
                                        .help = "distance where it is 0; 0.7 d where not given"},
                                       {0}};

const krein_kernel_class krein__kernel_tl1 = {
    .cls = {"tl1", "max(rho - |x-y|_1, 0)", "huang2018", options,
            "Piecewise linear. The default of rho suits inputs between 0 and 1."},
    .family = KREIN_FAMILY_STATIONARY,
    .definite = definite,
    .source = source,
    .rows32 = rows32,
    .rows64 = rows64,
    .coordinate = coordinate,
    .finish = finish,
    .from_l1 = from_l1,
    .settle = settle};
