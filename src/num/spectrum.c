/* spectrum.c -- the repair of a spectrum
 *
 * A symmetric K = V' diag(w) V with negative w is no inner product. Repairs change the eigenvalues:
 *     clip  max(w, 0), the nearest positive matrix;   flip  |w|;   shift  w - min(w, 0).
 */
#include "num/spectrum.h"

#include "num/blas.h"

#include <math.h>

double krein__symmetrise(int64_t n, double *K) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double upper = K[j * n + i], lower = K[i * n + j];
            worst = fmax(worst, fabs(upper - lower));
            K[j * n + i] = K[i * n + j] = 0.5 * (upper + lower);
        }
    return worst;
}

double krein__spectrum_noise(int64_t n, const double *w) {
    return (double)n * 0x1p-52 * fmax(fabs(w[0]), fabs(w[n - 1]));
}

static double repaired(krein_repair repair, double w, double lowest) {
    switch (repair) {
    case KREIN_REPAIR_CLIP:
        return fmax(w, 0);
    case KREIN_REPAIR_FLIP:
        return fabs(w);
    case KREIN_REPAIR_SHIFT:
        return w - fmin(lowest, 0);
    default:
        return w;
    }
}

krein_status krein__spectrum_rebuild(krein_ctx *ctx, krein_repair repair, int64_t n,
                                     const double *V, const double *w, double *K) {
    double *scaled = krein__alloc(ctx, n * n, sizeof *scaled);
    if (!scaled) return ctx->status;
    for (int64_t i = 0; i < n; i++) {
        double value = repaired(repair, w[i], w[0]);
        for (int64_t j = 0; j < n; j++) scaled[i * n + j] = value * V[i * n + j];
    }
    krein__pgemm(ctx, true, false, n, n, n, 1, V, n, scaled, n, 0, K, n);
    krein__symmetrise(n, K); /* the product's rounding */
    krein__free(ctx, scaled);
    return KREIN_OK;
}

krein_status krein__spectrum_project(krein_ctx *ctx, krein_repair repair, int64_t n, int64_t m,
                                     const double *V, const double *w, double *a) {
    if (repair != KREIN_REPAIR_CLIP && repair != KREIN_REPAIR_FLIP) return KREIN_OK;
    double *q = krein__alloc(ctx, n * m, sizeof *q);
    if (!q) return ctx->status;
    krein__pgemm(ctx, false, false, n, m, n, 1, V, n, a, m, 0, q, m);
    double below = repair == KREIN_REPAIR_CLIP ? 0 : -1; /* f(w) / w of a negative w */
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) q[i * m + j] *= w[i] < 0 ? below : 1;
    krein__pgemm(ctx, true, false, n, m, n, 1, V, n, q, m, 0, a, m);
    krein__free(ctx, q);
    return KREIN_OK;
}
