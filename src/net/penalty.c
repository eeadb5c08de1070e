/* penalty.c -- values and proximal steps
 *     l1      V_ij = sign(W_ij) max(0, |W_ij| - tau)
 *     group   row i times max(0, 1 - tau / |row i|)
 *     trace   U diag(max(0, s - tau)) X' for W = U diag(s) X'                       (cai2010)
 *     tail    the same for all but the theta largest s, which stay                  (oh2016)
 * theta = 0 is the trace norm. With theta > 0 the penalty is not convex; this is a global minimum
 * of the proximal problem still: for fixed singular values V has the singular vectors of W and the
 * same order of values (von Neumann), so that the problem falls apart into one for each value.
 *
 * The singular values come from the Gram matrix of the shorter side, in float64: with W'W = X
 * diag(s^2) X',  V = W X diag(max(0, 1 - tau / s)) X'. Squares lose the digits of singular values
 * below 1e-8 of the largest, which tau sets to zero anyway, or, where tau is still smaller, hardly
 * changes. Cost: rows columns min(rows, columns) flops a few times. */
#include "net/penalty.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

double krein__penalty_decay(krein_penalty kind, double lambda) {
    return kind == KREIN_PENALTY_FROBENIUS ? 2 * lambda : 0;
}

/* G = W'W, or WW' where W has fewer rows: m x m. */
static krein_status gram(krein_ctx *ctx, int64_t rows, int64_t columns, const float *W,
                         double *wide, double *G) {
    bool tall = columns <= rows;
    int64_t m = tall ? columns : rows;
    for (int64_t i = 0; i < rows * columns; i++) {
        wide[i] = (double)W[i];
        if (!isfinite(wide[i])) /* LAPACK may not end on such */
            return krein__fail(ctx, KREIN_ENUMERIC, "the weights are not finite");
    }
    krein__pgemm(ctx, tall, !tall, m, m, tall ? rows : columns, 1, wide, columns, wide, columns, 0,
                 G, m);
    return KREIN_OK;
}

/* Of all but the theta largest. */
static krein_status sum_of_singular(krein_ctx *ctx, int64_t theta, int64_t rows, int64_t columns,
                                    const float *W, double *out) {
    krein_status st = KREIN_OK;
    int64_t m = krein__min(rows, columns);
    double *wide = NULL, *G = NULL, *s = NULL;
    NEW(wide, rows * columns);
    NEW(G, m * m);
    NEW(s, m);
    *out = 0;
    TRY(gram(ctx, rows, columns, W, wide, G));
    TRY(krein__eigenvalues(ctx, m, G, m, s));
    for (int64_t i = 0; i < m - theta; i++) *out += sqrt(fmax(0, s[i])); /* ascending */
done:
    krein__free(ctx, wide);
    krein__free(ctx, G);
    krein__free(ctx, s);
    return st;
}

static double row_length(int64_t columns, const float *row) {
    double sum = 0;
    for (int64_t j = 0; j < columns; j++) sum += (double)row[j] * (double)row[j];
    return sqrt(sum);
}

krein_status krein__penalty_value(krein_ctx *ctx, krein_penalty kind, int64_t theta, double lambda,
                                  int64_t rows, int64_t columns, const float *W, double *out) {
    krein_status st = KREIN_OK;
    double sum = 0;
    if (kind == KREIN_PENALTY_TRACE && lambda > 0)
        st = sum_of_singular(ctx, theta, rows, columns, W, &sum);
    for (int64_t i = 0; i < rows; i++) {
        const float *row = W + i * columns;
        if (kind == KREIN_PENALTY_GROUP) sum += row_length(columns, row);
        if (kind == KREIN_PENALTY_FROBENIUS) sum += pow(row_length(columns, row), 2);
        for (int64_t j = 0; kind == KREIN_PENALTY_L1 && j < columns; j++)
            sum += fabs((double)row[j]);
    }
    *out = lambda * sum;
    return st;
}

static krein_status threshold_singular(krein_ctx *ctx, int64_t theta, double tau, int64_t rows,
                                       int64_t columns, float *W) {
    krein_status st = KREIN_OK;
    bool tall = columns <= rows;
    int64_t m = krein__min(rows, columns);
    double *wide = NULL, *G = NULL, *s = NULL, *P = NULL, *X = NULL, *V = NULL;
    NEW(wide, rows * columns);
    NEW(G, m * m);
    NEW(P, m * m);
    NEW(X, m * m);
    NEW(s, m);
    NEW(V, rows * columns);
    TRY(gram(ctx, rows, columns, W, wide, G));
    TRY(krein__eigen(ctx, m, G, m, s)); /* row j of G: the j-th vector */
    for (int64_t j = 0; j < m; j++) {
        double size = sqrt(fmax(0, s[j])), keep = size > tau ? 1 - tau / size : 0;
        if (j >= m - theta) keep = 1;
        for (int64_t i = 0; i < m; i++) X[j * m + i] = keep * G[j * m + i];
    }
    krein__pgemm(ctx, true, false, m, m, m, 1, G, m, X, m, 0, P, m);
    if (tall)
        krein__pgemm(ctx, false, false, rows, columns, m, 1, wide, columns, P, m, 0, V, columns);
    else
        krein__pgemm(ctx, false, false, rows, columns, m, 1, P, m, wide, columns, 0, V, columns);
    for (int64_t i = 0; i < rows * columns; i++) W[i] = (float)V[i];
done:
    krein__free(ctx, V);
    krein__free(ctx, wide);
    krein__free(ctx, G);
    krein__free(ctx, P);
    krein__free(ctx, X);
    krein__free(ctx, s);
    return st;
}

krein_status krein__penalty_prox(krein_ctx *ctx, krein_penalty kind, int64_t theta, double tau,
                                 int64_t rows, int64_t columns, float *W) {
    if (!(tau > 0)) return KREIN_OK;
    if (kind == KREIN_PENALTY_TRACE) return threshold_singular(ctx, theta, tau, rows, columns, W);
    float t = (float)tau;
    for (int64_t i = 0; kind == KREIN_PENALTY_L1 && i < rows * columns; i++)
        W[i] = W[i] > t ? W[i] - t : W[i] < -t ? W[i] + t : 0;
    for (int64_t i = 0; kind == KREIN_PENALTY_GROUP && i < rows; i++) {
        double length = row_length(columns, W + i * columns);
        float keep = length > tau ? (float)(1 - tau / length) : 0;
        for (int64_t j = 0; j < columns; j++) W[i * columns + j] *= keep;
    }
    return KREIN_OK;
}
