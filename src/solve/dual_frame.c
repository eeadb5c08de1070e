/* dual_frame.c -- the frame of the dual: row weights and the intercept taken out of K and y
 *
 *     K -> P S K S P,  y -> P S y,   S = diag(sqrt w), u = S1/|S1|, P = I - uu'
 * (P = I without an intercept), after which ridge regression is (PSKSP + W lambda I) a = PSy with
 * equal weights and no intercept. Cost: 5 n^2 flops.
 */
#include "solve/dual.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

/* Entries of K are off by 1e-16 of the diagonal or more, K as a matrix by sqrt(n) times that; W
 * lambda = n lambda must be well above it. */
static const double ROUNDING = 1e-15;

void krein__frame_clear(krein_ctx *ctx, krein_frame *f) {
    krein__free(ctx, f->root);
    krein__free(ctx, f->u);
    krein__free(ctx, f->y);
    krein__free(ctx, f->ymean);
    krein__free(ctx, f->diagonal);
    memset(f, 0, sizeof *f);
}

void krein__frame_project(int64_t n, int64_t m, const double *u, double *a) {
    for (int64_t j = 0; j < m; j++) {
        double dot = 0;
        for (int64_t i = 0; i < n; i++) dot += u[i] * a[i * m + j];
        for (int64_t i = 0; i < n; i++) a[i * m + j] -= u[i] * dot;
    }
}

krein_status krein__frame_targets(krein_ctx *ctx, const krein_targets *rows, bool intercept,
                                  krein_frame *f) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k;
    memset(f, 0, sizeof *f);
    f->intercept = intercept;
    NEW(f->root, n);
    NEW(f->u, n);
    NEW(f->y, n * k);
    ZNEW(f->ymean, k);
    NEW(f->diagonal, n);
    for (int64_t i = 0; i < n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        f->root[i] = sqrt(w);
        f->weight += w;
        for (int64_t c = 0; c < k; c++) f->ymean[c] += w * rows->y[i * k + c];
    }
    if (!(f->weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t c = 0; c < k; c++) f->ymean[c] = intercept ? f->ymean[c] / f->weight : 0;
    for (int64_t i = 0; i < n; i++) {
        f->u[i] = intercept ? f->root[i] / sqrt(f->weight) : 0;
        for (int64_t c = 0; c < k; c++)
            f->y[i * k + c] = f->root[i] * (rows->y[i * k + c] - f->ymean[c]);
    }
done:
    if (st != KREIN_OK) krein__frame_clear(ctx, f);
    return st;
}

/* K becomes P S K S P: K_ij r_i r_j, minus the row and column means in the metric of u. */
krein_status krein__frame_begin(krein_ctx *ctx, double *K, const krein_targets *rows,
                                bool intercept, krein_frame *f) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n;
    double *mean = NULL, total = 0;
    TRY(krein__frame_targets(ctx, rows, intercept, f));
    NEW(mean, n);
    for (int64_t i = 0; i < n; i++)
        f->floor = fmax(f->floor, fabs(K[i * n + i]) * f->root[i] * f->root[i]);
    f->floor *= ROUNDING * (double)n / f->weight;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            K[i * n + j] *= f->root[i] * f->root[j];
            sum += K[i * n + j] * f->u[j];
        }
        mean[i] = sum; /* K u */
    }
    for (int64_t i = 0; i < n; i++) total += f->u[i] * mean[i];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] -= f->u[i] * mean[j] + mean[i] * f->u[j] - total * f->u[i] * f->u[j];
    for (int64_t i = 0; i < n; i++) {
        f->diagonal[i] = K[i * n + i];
        f->lift = fmax(f->lift, fabs(f->diagonal[i]));
    }
done:
    krein__free(ctx, mean);
    if (st != KREIN_OK) krein__frame_clear(ctx, f);
    return st;
}

krein_status krein__frame_eigen(krein_ctx *ctx, double *K, int64_t n, const krein_frame *f,
                                double *s) {
    double bound = 0;
    for (int64_t i = 0; f->intercept && i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(K[i * n + j]);
        bound = fmax(bound, sum);
    }
    for (int64_t i = 0; f->intercept && i < n; i++)
        for (int64_t j = 0; j < n; j++) K[i * n + j] += 2 * bound * f->u[i] * f->u[j];
    return krein__eigen(ctx, n, K, n, s);
}

double krein__total_weight(const krein_targets *rows) {
    double sum = 0;
    for (int64_t i = 0; i < rows->n; i++) sum += rows->weight ? rows->weight[i] : 1;
    return sum;
}

/* In tiles: one side of the copy runs down columns. */
void krein__frame_refill(krein_ctx *ctx, int64_t n, const krein_frame *f, double lift, double shift,
                         double *K) {
    enum { SIDE = 64 };
    int64_t tiles = (n + SIDE - 1) / SIDE;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t c = t * SIDE; c < n; c += SIDE)
            for (int64_t i = t * SIDE; i < krein__min(n, (t + 1) * SIDE); i++)
                for (int64_t j = krein__max(c, i); j < krein__min(n, c + SIDE); j++)
                    K[i * n + j] =
                        (i == j ? f->diagonal[i] + shift : K[j * n + i]) + lift * f->u[i] * f->u[j];
}

krein_status krein__frame_solve(krein_ctx *ctx, double *K, const krein_targets *rows,
                                const krein_frame *f, double shift, double *a) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, k = rows->k, pivot;
    krein__frame_refill(ctx, n, f, f->lift, shift, K);
    TRY(krein__cholesky(ctx, n, K, n, &pivot));
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < n; i++) {
        low = fmin(low, K[i * n + i]);
        high = fmax(high, K[i * n + i]);
    }
    if (shift == 0 && low * low <= (double)n * 1e-15 * high * high) {
        st = KREIN_ENUMERIC;
        goto done;
    }
    memcpy(a, f->y, (size_t)(n * k) * sizeof *a);
    TRY(krein__cholesky_solve(ctx, n, K, n, k, a, k));
done:
    return st;
}

krein_status krein__dual_singular(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_ENUMERIC,
                       "the kernel matrix is singular (equal rows, or a kernel of low rank), so "
                       "lambda = 0 has no unique solution; give a positive `lambda`, or auto");
}

void krein__frame_loo(const krein_targets *rows, const krein_frame *f, double shift,
                      const double *a, const double *diagonal, double *score) {
    int64_t n = rows->n, k = rows->k;
    for (int64_t i = 0; i < n; i++) {
        double rest = diagonal[i];
        if (f->intercept) rest -= f->u[i] * f->u[i] / (f->lift + shift);
        if (rest < 1e-14 * diagonal[i]) rest = 0; /* no other row has a weight */
        for (int64_t c = 0; c < k; c++)
            score[i * k + c] = rest > 0 && f->root[i] > 0
                                   ? rows->y[i * k + c] - a[i * k + c] / rest / f->root[i]
                                   : f->ymean[c];
    }
}

void krein__frame_leave(const krein_targets *rows, const krein_frame *f, const double *mean_row,
                        double *a, double *b) {
    int64_t n = rows->n, k = rows->k;
    krein__frame_project(n, k, f->u, a); /* rounding */
    for (int64_t c = 0; c < k; c++) {
        b[c] = f->ymean[c];
        for (int64_t i = 0; i < n; i++) {
            a[i * k + c] *= f->root[i];
            if (f->intercept) b[c] -= mean_row[i] * a[i * k + c];
        }
    }
}

/* ---- some of the rows --------------------------------------------------- */

void krein__part(const double *K, int64_t n, const int64_t *rows, int64_t m, const int64_t *columns,
                 int64_t c, double *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < c; j++) out[i * c + j] = K[rows[i] * n + columns[j]];
}

krein_status krein__subset_begin(krein_ctx *ctx, const krein_targets *of, krein_subset *s) {
    krein_status st = KREIN_OK;
    NEW(s->y, of->n * of->k);
    NEW(s->weight, of->n);
    NEW(s->class, of->n);
done:
    return st;
}

void krein__subset_end(krein_ctx *ctx, krein_subset *s) {
    krein__free(ctx, s->y);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->class);
}

krein_targets krein__subset_pick(const krein_targets *of, const int64_t *rows, int64_t m,
                                 krein_subset *to) {
    for (int64_t i = 0; i < m; i++) {
        memcpy(to->y + i * of->k, of->y + rows[i] * of->k, (size_t)of->k * sizeof *to->y);
        to->weight[i] = of->weight ? of->weight[rows[i]] : 1;
        to->class[i] = of->class ? of->class[rows[i]] : 0;
    }
    return (krein_targets){m, of->k, to->y, of->weight ? to->weight : NULL,
                           of->class ? to->class : NULL};
}
