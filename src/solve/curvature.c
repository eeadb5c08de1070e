/* curvature.c -- a preconditioner for Newton's equations of logistic regression
 *
 * The Hessian is [Z 1]' S [Z 1] + 2 lambda I (the intercept's entry of I is 0), with a k x k block
 * S_i = w_i (diag(p_i) - p_i p_i') a row. Features of a kernel have a spectrum that falls fast,
 * down to 2 lambda: plain conjugate gradients take as many steps as there are eigenvalues of
 * different size. The preconditioner is
 *
 *     M = sum over a sample of rows of s_i [z_i; 1][z_i; 1]' + 2 lambda I,
 *     s_i = w_i (1 - |p_i|^2) / (k - 1),   k = 1: w_i p_i (1 - p_i),
 *
 * the same for every score. s_i is the mean eigenvalue of S_i on the vectors that sum to zero; on
 * the others S_i is zero. M is the Hessian itself for two classes when the sample has all rows.
 * (With the constant bounds S_i <= w_i / 4 and w_i / 2 (bohning1992) M would never change, but once
 * most rows are fitted S is far smaller than that, and differs from row to row.)
 *
 * Rows are taken at equal distances: a file may be sorted. Eight times as many as features estimate
 * every eigenvalue within a factor of (1 +- 8^-1/2)^2; on ijcnn1 (1,024 features, lambda 1e-8)
 * twice as many rows took five times the passes. Cost 8 D^3 + D^3 / 3, memory 8 D^2; a solve 2 D^2
 * k.
 */
#include "solve/logistic.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

/* Above, the factor takes more than half a gigabyte and plain steps are faster. */
static const int64_t MOST_FEATURES = 8192;
static const int64_t LEAST_SAMPLE = 2048, PER_FEATURE = 8;

static int64_t sample_rows(int64_t n, int64_t D) {
    return krein__min(n, krein__max(LEAST_SAMPLE, PER_FEATURE * D));
}

double krein__curvature_cost(int64_t n, int64_t D, int64_t k) {
    if (D > MOST_FEATURES) return INFINITY;
    double d = (double)D, m = (double)sample_rows(n, D);
    /* Operations of a product at 150 GFLOP/s, of a factorisation at 50. Those of a pass are 4 n D
     * k, but reading the features takes as long as 24 n D. */
    return (m * d * d + d * d * d) / ((double)n * d * fmax(4 * (double)k, 24));
}

krein_status krein__curvature_begin(krein_features *t, krein_curvature *s) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->D = t->D;
    s->rows = krein__min(t->rows, sample_rows(t->n, t->D));
    s->sample = sample_rows(t->n, t->D);
    int64_t tile = krein__syrk_tile(t->D);
    if (t->D > MOST_FEATURES) return KREIN_OK;
    NEW(s->u, (t->D + 1) * (t->D + 1));
    NEW(s->block, s->rows * (t->D + 1) + t->D);
    NEW(s->tile, ctx->threads * tile * tile);
done:
    if (st != KREIN_OK) krein__curvature_end(s);
    return st;
}

void krein__curvature_end(krein_curvature *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->u);
    krein__free(s->ctx, s->block);
    krein__free(s->ctx, s->tile);
    memset(s, 0, sizeof *s);
}

double krein__curvature_bytes(int64_t D, int64_t rows, int threads) {
    double d = (double)D + 1, tile = (double)krein__syrk_tile(D);
    return D > MOST_FEATURES ? 0
                             : 8 * d * d + 4 * ((double)rows + 1) * d + 4 * threads * tile * tile;
}

/* s_i of a row. */
static double curve(const krein_logistic *p, const float *probability, int64_t row) {
    const float *q = probability + row * p->k;
    double square = 0;
    if (p->k == 1) return p->weight[row] * (double)*q * (1 - (double)*q);
    for (int64_t c = 0; c < p->k; c++) square += (double)q[c] * (double)q[c];
    return p->weight[row] * fmax(1 - square, 0) / (double)(p->k - 1);
}

/* Adds m rows, each times the root of its s_i, which stands behind them. */
static void add(krein_curvature *s, int64_t m) {
    int64_t D = s->D, ld = D + 1;
    float *root = s->block + s->rows * D, *sum = root + s->rows;
    krein_compute compute = krein__compute_begin();
    krein__syrk_add(s->ctx, D, m, s->block, D, s->u, ld, s->tile);
    krein__sgemv(true, m, D, 1, s->block, D, root, 1, 0, sum, 1);
    for (int64_t j = 0; j < D; j++) s->u[j * ld + D] += (double)sum[j];
    for (int64_t i = 0; i < m; i++) s->u[D * ld + D] += (double)root[i] * (double)root[i];
    krein__compute_end(compute);
}

static krein_status accumulate(krein_curvature *s, const krein_logistic *p,
                               const float *probability) {
    krein_status st = KREIN_OK;
    krein_features *t = p->features;
    const float *z;
    int64_t D = s->D, m = 0, next = 0, rows;
    memset(s->u, 0, (size_t)((D + 1) * (D + 1)) * sizeof *s->u);
    for (int64_t b = 0; b < t->blocks; b++) {
        TRY(krein__features_block(t, b, &z, &rows));
        for (int64_t first = b * t->rows; next < s->sample; next++) {
            int64_t row = (int64_t)((double)next * (double)t->n / (double)s->sample);
            if (row >= first + rows) break;
            float root = (float)sqrt(curve(p, probability, row) * (double)t->n / (double)s->sample);
            for (int64_t j = 0; j < D; j++) s->block[m * D + j] = root * z[(row - first) * D + j];
            s->block[s->rows * D + m] = root;
            if (++m < s->rows) continue;
            add(s, m);
            m = 0;
        }
        TRY(krein__poll(s->ctx));
    }
    if (m > 0) add(s, m);
done:
    return st;
}

krein_status krein__curvature_make(krein_curvature *s, const krein_logistic *p,
                                   const float *probability) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, ld = D + 1, pivot;
    double trace = 0;
    s->ready = false;
    TRY(accumulate(s, p, probability));
    for (int64_t j = 0; j < D; j++) trace += s->u[j * ld + j];
    /* Sums of float32 products may be slightly indefinite: they are off by about 2 sqrt(D) 1e-8
     * times the mean of the diagonal. */
    double noise = 4e-8 * trace / sqrt((double)D), lift = fmax(2 * p->lambda, noise);
    for (int64_t j = 0; j < D; j++) s->u[j * ld + j] += lift;
    if (p->intercept)
        s->u[D * ld + D] += 1e-6 * s->u[D * ld + D] + 1e-30;
    else
        for (int64_t j = 0; j <= D; j++) s->u[j * ld + D] = j == D;
    st = krein__cholesky(s->ctx, ld, s->u, ld, &pivot);
    s->ready = st == KREIN_OK;
    if (st == KREIN_ENUMERIC) {
        krein__log(s->ctx, KREIN_LOG_DEBUG, "logistic: no preconditioner, not positive definite");
        st = KREIN_OK;
    }
done:
    return st;
}

krein_status krein__curvature_apply(const krein_curvature *s, int64_t k, const double *r,
                                    double *z) {
    memcpy(z, r, (size_t)((s->D + 1) * k) * sizeof *z);
    return s->ready ? krein__cholesky_solve(s->ctx, s->D + 1, s->u, s->D + 1, k, z, k) : KREIN_OK;
}
