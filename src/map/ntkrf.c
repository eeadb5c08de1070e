/* ntkrf -- tangent features with the tensor product itself, for ntk of small depth
 *
 * tangent.c with Phi' = [Psi', A (x) Phi]: m1 + m0 dim Phi features after a layer, so with L layers
 *     D = m1 (1 + m0 + ... + m0^(L-1)) + m0^L d          (m1 + 1, d + 1 with a bias)
 * The product adds no variance of its own, but m0 grows like D^(1/L) only, and with it the error
 * falls like D^(-1/(2L)): the Monte-Carlo rate for one layer, slower for more. ntksketch keeps the
 * rate at any depth. On letter (16 columns), 4 draws, at D = 256, 1024, 4096:
 *     depth 1   ntkrf .27 .14 .064    ntksketch .27 .16 .058
 *     depth 2         .59 .34 .30               .35 .17 .087
 *     depth 3         1.6 .77 .51               .37 .22 .10
 *     depth 4         .94 1.1 .60               .44 .22 .11
 * A fit with an expected error above a half says so (tangent.c).
 *
 * Widths from D: the greatest m0 with m0^L d <= SHARE D (at least 1), then the greatest m1.
 * Half is the least error on the set letter (16 columns, D = 1024): one layer .134, .128, .132 at
 * shares of 3/8, 1/2, 5/8; two layers .422, .400, .389, .437 at m0 = 3, 4, 5, 6 (5 is half).
 *
 * Cost: O(d m0 + d m1 + D) a row in the first layer, O(m1 (m0 + m1) + D) in the others.
 */
#include "map/tangent.h"

#include <math.h>

enum { D_SLOT = 0, M0 = 1, M1 = 2 };
static const double SHARE = 0.5; /* of D, for the product of the last layer */

static double product_part(const krein_tangent_plan *p, int64_t m0) {
    return pow((double)m0, (double)p->depth) * (double)p->in;
}

/* The greatest m0 >= 1 for which that part has at most `most` features. */
static int64_t greatest_m0(const krein_tangent_plan *p, double most) {
    int64_t m0 = (int64_t)pow(fmax(1, most / (double)p->in), 1 / (double)p->depth);
    while (product_part(p, m0 + 1) <= most) m0++;
    while (m0 > 1 && product_part(p, m0) > most) m0--;
    return m0;
}

/* The greatest m1 that D leave room for; <= 0: none. */
static int64_t greatest_m1(const krein_tangent_plan *p, int64_t D) {
    double layers = 0, part = product_part(p, p->m0);
    for (int64_t l = 0; l < p->depth && layers < (double)D; l++)
        layers += pow((double)p->m0, (double)l);
    return part > (double)D ? 0 : (int64_t)(((double)D - part) / layers) - p->constant;
}

static bool plan(const krein_map *map, int64_t D, krein_tangent_plan *p) {
    int64_t m0 = krein__tangent_option(map, M0), m1 = krein__tangent_option(map, M1);
    p->m0 = krein__max(1, m0);
    p->m1 = krein__max(1, m1);
    p->least = krein__tangent_width(p, p->depth);
    if (D < p->least) return false;
    if (m0 == 0) {
        p->m0 = greatest_m0(p, SHARE * (double)D);
        while (m1 > 0 && p->m0 > 1 && krein__tangent_width(p, p->depth) > D) p->m0--;
    }
    if (m1 == 0) p->m1 = greatest_m1(p, D);
    return true;
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__tangent_accepts(ctx, kernel, "ntkrf");
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__tangent_features(map, plan);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    krein__tangent_cost(map, plan, out);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__tangent_fit(map, plan);
}

static const krein_option options[] = {
    KREIN_OPTION_D, KREIN_OPTION_UNITS("m0", "steps"), KREIN_OPTION_UNITS("m1", "ramps"), {0}};

const krein_map_class krein__map_ntkrf = {
    .cls =
        {"ntkrf", "random features of a tangent kernel, tensor products", "zandieh2021", options,
         "For ntk, its sums and factors. m1 + m0 d features for one layer; each further layer "
         "multiplies them by m0, so that it is for small depth and few columns: with four layers "
         "and 4,096 features it is off by more than half of the kernel, where ntksketch has an "
         "error of a tenth. Unbiased for one layer."},
    .kernels = "ntk",
    .time = "n m1 (m0 + m1)",
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__tangent_tile,
    .clear = krein__tangent_clear};
