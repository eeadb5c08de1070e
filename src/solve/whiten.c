/* whiten.c -- B T^-1, T'T = K + jitter I, for features of kernel values in float32
 *
 * The upper triangle of K becomes T; where that fails it is taken from the lower one again, with
 * ten times the jitter. */
#include "solve/whiten.h"

#include "num/blas.h"

#include <math.h>

enum { ROWS = 512 };
static const double JITTER = 1e-5; /* of the diagonal: what float32 leaves of K */

static krein_status factor(krein_ctx *ctx, int64_t m, double *K, double *diagonal) {
    krein_status st = KREIN_ENUMERIC;
    double top = 0;
    for (int64_t i = 0; i < m; i++) top = fmax(top, diagonal[i] = K[i * m + i]);
    for (double jitter = JITTER; st == KREIN_ENUMERIC && jitter < 1; jitter *= 10) {
        for (int64_t i = 0; i < m; i++) {
            K[i * m + i] = diagonal[i] + jitter * top;
            for (int64_t j = i + 1; j < m; j++) K[i * m + j] = K[j * m + i];
        }
        st = krein__cholesky(ctx, m, K, m, NULL);
    }
    return st;
}

krein_status krein__whiten(krein_ctx *ctx, int64_t n, int64_t m, double *K, float *B) {
    krein_status st = KREIN_OK;
    int64_t blocks = (n + ROWS - 1) / ROWS;
    double *diagonal = NULL;
    float *T = NULL;
    NEW(diagonal, m);
    NEW(T, m * m);
    TRY(factor(ctx, m, K, diagonal));
    for (int64_t e = 0; e < m * m; e++) T[e] = (float)K[e];
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) {
        krein__worker_begin();
        krein__strsm(krein__min(ROWS, n - b * ROWS), m, T, m, B + b * ROWS * m, m);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    st = krein__poll(ctx);
done:
    krein__free(ctx, diagonal);
    krein__free(ctx, T);
    return st;
}
