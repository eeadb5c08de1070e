/* gorf -- generalised orthogonal random features, for indefinite kernels of the distance
 *     k(x, y) ~= sum_i c_i cos w_i'(x - y),   w_i = r_i u_i with u_i in orthonormal blocks of d
 * Measure and signature as in grff. Directions are Haar distributed d x d blocks, and the radii of
 * the law are stratified. Coupling:
 *     nested    one sequence u_0, u_1, ...; an atom with n frequencies takes the first n
 *     full      the same with equally many for each atom
 *     separate  positive and negative frequencies have blocks of their own, each direction once
 * whichever has the least variance on the distances of the data (signed.c).       (luo2022)
 * Departures. The paper's QR in R^2m with d coordinates kept is hardly orthogonal, and it makes
 * positive and negative directions orthogonal to each other, which raises the variance.
 * With full, each direction carries a function g(u'(x - y)) with E g = k: errors of different
 * frequencies cancel, and for k = a - b |x - y|^2 whole blocks have no variance at all.
 * Cost: O(d D) a row; one pass over the rows and O(D d min(d, D)) to fit.
 */
#include "map/signed.h"

#include <math.h>

enum { D_SLOT = 0, ROUTE = 1, COUPLING = 2, TOL = 3 };

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__signed_accepts(ctx, kernel, "gorf");
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    const double *v = map->values.number;
    krein_signed_options o = {.name = "gorf",
                              .independent = false,
                              .route = (int)v[ROUTE],
                              .coupling = (int)v[COUPLING],
                              .tol = v[TOL]};
    return krein__signed_fit(map, rows, n, &o);
}

static const krein_option options[] = {KREIN_OPTION_D,
                                       KREIN_OPTION_ROUTE,
                                       {.name = "coupling",
                                        .type = KREIN_OPTION_WORD,
                                        .value = 0,
                                        .words = "auto|nested|full|separate",
                                        .help = "which frequencies share directions"},
                                       KREIN_OPTION_TOL,
                                       {0}};

const krein_map_class krein__map_gorf = {
    .cls = {"gorf", "generalised orthogonal random features", "luo2022", options,
            "For indefinite kernels: radial ones (differences of Gaussians) on all rows, "
            "dot-product ones (poly, tanh) on rows of length one (`scale=unit`). Features of "
            "positive and negative frequencies have signs +1 and -1. On rows of length one "
            "epanechnikov(a, m=1) is linear: the map explicit has it exactly with d + 1 features."},
    .kernels = "radial, indefinite too; dot-product on unit rows",
    .time = "n d D",
    .traits = KREIN_MAP_DATA,
    .accepts = accepts,
    .features = krein__signed_features,
    .cost = krein__signed_cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .io = krein__signed_io,
    .clear = krein__fourier_clear,
    .fact = krein__signed_fact};
