/* descent -- kernel regression by gradient descent on the dual coefficients
 *
 *     batch    beta <- beta + a (y - K beta), all entries at once
 *     sample   beta_i <- beta_i + a_i (y_i - (K beta)_i), one row after the other
 *
 * f = sum_i beta_i k(., x_i): with w = sum beta_i phi(x_i) the batch step is gradient descent on
 * 1/2 sum (y_i - w'phi(x_i))^2. From 0, t steps leave the part (1 - a s)^t of y along an
 * eigenvector of K with eigenvalue s: what is small in K is learned late, and stopping early
 * regularises, about as ridge regression with n lambda = 1 / (a t).
 *
 * Batch converges for 0 < a < 2 / (largest eigenvalue of K): the notes have neither the loop nor
 * this bound, and one pass leaves most of the residual. With weights, a_i = a w_i, that of W^(1/2)
 * K W^(1/2). The sample step is the relaxed Gauss-Seidel method, which lowers 1/2 beta'K beta -
 * y'beta for any order of the rows while 0 < a_i K_ii < 2 (Ostrowski and Reich): a_i = 1 / K_ii
 * solves for beta_i. Each pass draws an order.
 *
 * 2 n^2 flops a step and column.
 */
#include "solve/descent.h"

#include "base/rng.h"
#include "base/spec.h"
#include "num/blas.h"

#include <math.h>

/* Few columns: the matrix is read once, a row for all of them. Many: a product. */
void krein__descent_fit(krein_descent *d) {
    int64_t n = d->n;
    if (d->columns >= 16) {
        krein__pgemm(d->ctx, false, true, d->columns, n, n, 1, d->beta, n, d->K, n, 0, d->fit, n);
        return;
    }
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(d->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < d->columns; c++)
                d->fit[c * n + i] = krein__ddot(n, d->K + i * n, d->beta + c * n);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* One pass over the rows for a column. */
static void sweep(const krein_descent *d, int64_t column) {
    int64_t n = d->n;
    const double *y = d->y + column * n, *step = d->step + column * n;
    double *beta = d->beta + column * n, *fit = d->fit + column * n;
    for (int64_t t = 0; t < n; t++) {
        int64_t i = d->order[t];
        double change = step[i] * (y[i] - fit[i]);
        const double *row = d->K + i * n;
        if (change == 0) continue;
        beta[i] += change;
        for (int64_t j = 0; j < n; j++) fit[j] += change * row[j];
    }
}

void krein__descent_step(krein_descent *d) {
    krein_ctx *ctx = d->ctx;
    d->steps++;
    if (!d->sample) {
        for (int64_t i = 0; i < d->n * d->columns; i++)
            d->beta[i] += d->step[i] * (d->y[i] - d->fit[i]);
        krein__descent_fit(d);
        return;
    }
    krein_rng g = krein__substream(d->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_SWEEP + d->steps);
    krein__rng_permute(g, d->n, d->order);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads) if (d->columns > 1)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t c = 0; c < d->columns; c++) sweep(d, c);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

double krein__descent_residual(const krein_descent *d) {
    double left = 0, all = 0;
    for (int64_t i = 0; i < d->n * d->columns; i++) {
        if (d->step[i] == 0) continue;
        left += (d->y[i] - d->fit[i]) * (d->y[i] - d->fit[i]);
        all += d->y[i] * d->y[i];
    }
    return all > 0 ? sqrt(left / all) : 0;
}

krein_status krein__largest_eigenvalue(krein_ctx *ctx, int64_t n, const double *K,
                                       const double *weight, double *out) {
    enum { MOST = 300 };
    krein_status st = KREIN_OK;
    double *v = NULL, *scaled = NULL, *product = NULL, value = 0;
    NEW(v, n);
    NEW(scaled, n);
    NEW(product, n);
    krein_descent d = {.ctx = ctx, .n = n, .columns = 1, .K = K, .beta = scaled, .fit = product};
    /* No eigenvector is likely to be orthogonal to this one. */
    for (int64_t i = 0; i < n; i++)
        v[i] = .5 + krein__rng_uniform((krein_rng){1, KREIN_STREAM_START}, 0, (uint64_t)i);
    for (int t = 0; t < MOST; t++) {
        double norm = 0, dot = 0, before = value;
        for (int64_t i = 0; i < n; i++) norm += v[i] * v[i];
        norm = sqrt(norm);
        if (!(norm > 0)) break;
        for (int64_t i = 0; i < n; i++) {
            v[i] /= norm;
            scaled[i] = v[i] * (weight ? sqrt(weight[i]) : 1);
        }
        krein__descent_fit(&d);
        for (int64_t i = 0; i < n; i++) {
            product[i] *= weight ? sqrt(weight[i]) : 1;
            dot += v[i] * product[i];
            v[i] = product[i];
        }
        value = dot;
        TRY(krein__poll(ctx));
        if (t > 4 && fabs(value - before) <= 1e-8 * fabs(value)) break;
    }
    *out = value;
done:
    krein__free(ctx, v);
    krein__free(ctx, scaled);
    krein__free(ctx, product);
    return st;
}

const krein_class krein__solver_descent = {
    .name = "descent",
    .summary = "gradient descent on dual coefficients",
    .cite = "yao2007",
    .details = "All coefficients at once, or row by row (Gauss-Seidel). Used by kgd."};
