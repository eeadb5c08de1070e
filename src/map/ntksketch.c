/* ntksketch -- tangent features with a sketched tensor product, for ntk of any depth
 *
 * tangent.c with Phi' = [Psi', TensorSketch(A, Phi)]: the circular convolution of CountSketches of
 * A and Phi, mcs entries whose inner products have the mean <A, A> <Phi, Phi>. m1 + mcs features
 * (one more with a bias), after each layer; the error falls like D^(-1/2) at any depth.
 *                                                              (zandieh2021, pham2013)
 * Widths from D: mcs is the greatest power of two (the FFT's lengths) that is at most SHARE D, m1
 * the rest, m0 = mcs / STEPS: m0 is not among the features and only costs time. On the set letter
 * with two layers and D = 1024 the error is .175 at (m0, m1, mcs) = (256, 512, 512), .205 at (256,
 * 768, 256); m0 = 128 makes it .181 and m0 = 512 .172, in 15% less and 22% more time.
 *
 * Cost: O(m1 (m0 + m1) + D + mcs log mcs) a row and layer, d instead of the first m1 in the first.
 */
#include "map/tangent.h"

#include <math.h>

enum { D_SLOT = 0, M0 = 1, M1 = 2, MCS = 3 };
enum { SHORTEST = 2, LONGEST = 1 << 24 }; /* FFTs */
static const double SHARE = 0.7;          /* mcs is between half of this and this part of D */
static const int64_t STEPS = 2;

static int64_t power_of_two(double most) {
    int64_t n = SHORTEST;
    while ((double)(2 * n) <= most && n < LONGEST) n *= 2;
    return n;
}

static bool plan(const krein_map *map, int64_t D, krein_tangent_plan *p) {
    int64_t m0 = krein__tangent_option(map, M0), m1 = krein__tangent_option(map, M1);
    int64_t mcs = krein__tangent_option(map, MCS);
    p->mcs = power_of_two((double)krein__max(mcs, SHORTEST));
    p->m1 = krein__max(1, m1);
    p->m0 = krein__max(1, m0);
    p->least = p->m1 + p->constant + p->mcs;
    if (D < p->least) return false;
    if (mcs == 0)
        p->mcs = power_of_two(m1 > 0 ? (double)(D - m1 - p->constant)
                                     : fmin(SHARE * (double)D, (double)(D - 1 - p->constant)));
    if (m1 == 0) p->m1 = D - p->constant - p->mcs;
    if (m0 == 0) p->m0 = krein__max(1, p->mcs / STEPS);
    return true;
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__tangent_accepts(ctx, kernel, "ntksketch");
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
    KREIN_OPTION_D,
    KREIN_OPTION_UNITS("m0", "steps"),
    KREIN_OPTION_UNITS("m1", "ramps"),
    {.name = "mcs",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 2,
     .high = LONGEST,
     .help = "entries of a sketch, rounded down to a power of two; from D when not given"},
    {0}};

const krein_map_class krein__map_ntksketch = {
    .cls = {"ntksketch", "random features of a tangent kernel, sketched products", "zandieh2021",
            options,
            "For ntk, its sums and factors, at any depth. The default for them. Unbiased for one "
            "layer; for more the bias falls faster than the error."},
    .kernels = "ntk",
    .time = "n D^2",
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = krein__tangent_tile,
    .clear = krein__tangent_clear};
