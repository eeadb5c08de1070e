/* advice.c -- advice from the kernel matrix of a sample
 *
 * One eigendecomposition of K (m x m, 9 m^3 flops on one thread) serves everything: eigenvalues,
 * coefficients of the labels, and leave-one-out of ridge regression on the sample,
 *     e_i = sum_j v_ij (v_j'y) t_j / sum_j v_ij^2 t_j,   t_j = lambda / (s_j + lambda),
 * for centred labels y and a path of lambdas.
 */
#include "num/blas.h"
#include "num/spectrum.h"
#include "select/capacity.h"

#include <math.h>
#include <string.h>

enum { PATH = 49 }; /* lambdas, four a decade */

/* Part of the spectrum that may be negative: what rounding to float32 does to a matrix that
 * someone wrote to a file. */
static const double NEGATIVE_MOST = 1e-3;

void krein__advice_clear(krein_ctx *ctx, krein_advice *a) {
    krein__free(ctx, a->s);
    memset(a, 0, sizeof *a);
}

double krein__advise_bytes(int64_t m, int64_t k) {
    double rows = (double)m;
    return 8 * rows * (2 * rows + 4 * PATH + 3 * (double)k + 32); /* LAPACK's workspace is 2 m^2 */
}

/* ---- spectrum ----------------------------------------------------------- */

static krein_status check_matrix(krein_ctx *ctx, int64_t m, const double *K, double *kappa) {
    double trace = 0, norm = 0;
    for (int64_t i = 0; i < m * m; i++) norm += K[i] * K[i];
    for (int64_t i = 0; i < m; i++) trace += K[i * m + i];
    *kappa = trace / (double)m;
    if (!isfinite(norm))
        return krein__fail(ctx, KREIN_ENUMERIC, "the kernel has values that are not finite");
    if (!(norm > 0))
        return krein__fail(ctx, KREIN_EDATA,
                           "the kernel is zero on the sampled rows: there is nothing to learn "
                           "from it");
    return KREIN_OK;
}

/* w: ascending eigenvalues of K. The noise covers what is negative. */
static krein_status check_positive(krein_ctx *ctx, int64_t m, const double *w, double *noise) {
    double negative = 0, total = 0;
    *noise = krein__spectrum_noise(m, w);
    for (int64_t j = 0; j < m; j++) {
        total += fabs(w[j]);
        if (w[j] < -*noise) negative -= w[j];
    }
    if (negative > NEGATIVE_MOST * total)
        return krein__fail(
            ctx, KREIN_EDATA,
            "the kernel is not positive definite on these rows (%.2g %% of its spectrum is "
            "negative), and the theory is for kernels that are; a repaired "
            "matrix is, for the kernel precomputed",
            100 * negative / total);
    *noise = fmax(*noise, -w[0]);
    return KREIN_OK;
}

/* K becomes its eigenvectors, by rows, those of the largest eigenvalue last. */
static krein_status decompose(krein_ctx *ctx, int64_t m, double *K, krein_advice *out) {
    krein_status st = KREIN_OK;
    double kappa, noise, *w = NULL;
    NEW(w, m);
    NEW(out->s, m);
    TRY(check_matrix(ctx, m, K, &kappa));
    krein__progress(ctx, "eigendecomposition", 0, 0);
    TRY(krein__eigen(ctx, m, K, m, w));
    TRY(check_positive(ctx, m, w, &noise));
    for (int64_t j = 0; j < m; j++) out->s[j] = fmax(0, w[m - 1 - j]) / (double)m;
    TRY(krein__capacity_fit(ctx, m, out->s, noise / (double)m, kappa, &out->capacity));
done:
    krein__free(ctx, w);
    return st;
}

/* ---- labels ------------------------------------------------------------- */

/* False where all outputs are constant. */
static bool centre(int64_t m, int64_t k, double *y) {
    bool varies = false;
    for (int64_t c = 0; c < k; c++) {
        double mean = 0, most = 0;
        for (int64_t i = 0; i < m; i++) mean += y[i * k + c] / (double)m;
        for (int64_t i = 0; i < m; i++) {
            most = fmax(most, fabs(y[i * k + c]));
            y[i * k + c] -= mean;
        }
        for (int64_t i = 0; i < m; i++) varies = varies || fabs(y[i * k + c]) > 1e-12 * most;
    }
    return varies;
}

static krein_status fit_source(krein_ctx *ctx, int64_t m, const double *V, int64_t k,
                               const double *beta, krein_advice *out) {
    krein_status st = KREIN_OK;
    double *square = NULL, *weight = NULL;
    ZNEW(square, m);
    NEW(weight, m);
    for (int64_t j = 0; j < m; j++) { /* the j-th largest */
        const double *v = V + (m - 1 - j) * m, *b = beta + (m - 1 - j) * k;
        double sum = 0;
        for (int64_t i = 0; i < m; i++) sum += v[i];
        weight[j] = fmax(0, 1 - sum * sum / (double)m);
        for (int64_t c = 0; c < k; c++) square[j] += b[c] * b[c] / (double)(m * k);
    }
    krein__progress(ctx, "source condition", 0, 0);
    TRY(krein__source_fit(ctx, &out->capacity, square, weight, &out->source));
done:
    krein__free(ctx, square);
    krein__free(ctx, weight);
    return st;
}

/* top[i, l] = square of the i-th residual at the l-th lambda, over outputs. */
static krein_status residuals(krein_ctx *ctx, int64_t m, const double *V, int64_t k,
                              const double *beta, const double *t, double *top) {
    krein_status st = KREIN_OK;
    double *part = NULL, *fit = NULL;
    NEW(part, m * k);
    NEW(fit, m * k);
    for (int64_t l = 0; l < PATH; l++) {
        for (int64_t j = 0; j < m * k; j++) part[j] = beta[j] * t[j / k * PATH + l];
        krein__pgemm(ctx, true, false, m, k, m, 1, V, m, part, k, 0, fit, k);
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++) sum += fit[i * k + c] * fit[i * k + c];
            top[i * PATH + l] = sum;
        }
        krein__progress(ctx, "leave-one-out", (double)l, PATH);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, part);
    krein__free(ctx, fit);
    return st;
}

static double path_lambda(const krein_advice *a, int64_t l) {
    return krein__round_digits(a->s[0] * pow(10, 1 - 0.25 * (double)l), 3);
}

/* V is squared. */
static krein_status leave_one_out(krein_ctx *ctx, int64_t m, double *V, int64_t k,
                                  const double *beta, krein_advice *out) {
    krein_status st = KREIN_OK;
    const double *s = out->s;
    double *t = NULL, *top = NULL, *rest = NULL, best = INFINITY;
    NEW(t, m * PATH);
    NEW(top, m * PATH);
    NEW(rest, m * PATH);
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < PATH; l++) {
            double lambda = path_lambda(out, l);
            t[j * PATH + l] = lambda / (s[m - 1 - j] + lambda);
        }
    TRY(residuals(ctx, m, V, k, beta, t, top));
    for (int64_t i = 0; i < m * m; i++) V[i] *= V[i];
    krein__pgemm(ctx, true, false, m, PATH, m, 1, V, m, t, PATH, 0, rest, PATH);
    for (int64_t l = 0; l < PATH; l++) {
        double loss = 0;
        for (int64_t i = 0; i < m; i++)
            loss += top[i * PATH + l] / (rest[i * PATH + l] * rest[i * PATH + l]);
        if (loss >= best) continue;
        best = loss;
        out->found = path_lambda(out, l);
    }
done:
    krein__free(ctx, t);
    krein__free(ctx, top);
    krein__free(ctx, rest);
    return st;
}

static krein_status use_labels(krein_ctx *ctx, int64_t m, double *V, int64_t k, double *y,
                               krein_advice *out) {
    krein_status st = KREIN_OK;
    double *beta = NULL;
    if (!y || k < 1 || !centre(m, k, y)) return KREIN_OK;
    NEW(beta, m * k);
    krein__pgemm(ctx, false, false, m, k, m, 1, V, m, y, k, 0, beta, k);
    TRY(fit_source(ctx, m, V, k, beta, out));
    if (out->source.fitted) TRY(leave_one_out(ctx, m, V, k, beta, out));
done:
    krein__free(ctx, beta);
    return st;
}

krein_status krein__advise(krein_ctx *ctx, int64_t m, double *K, int64_t k, double *y, int64_t n,
                           krein_advice *out) {
    krein_status st = KREIN_OK;
    memset(out, 0, sizeof *out);
    out->found = NAN;
    out->source = (krein_source){.measured = NAN, .low = NAN, .high = NAN, .r = 0.5};
    TRY(decompose(ctx, m, K, out));
    if (m >= n) out->capacity.low = out->capacity.noise; /* all rows: nothing is extrapolated */
    TRY(use_labels(ctx, m, K, k, y, out));
    const krein_capacity *c = &out->capacity;
    krein__theory(out->source.r, c->gamma, c->kappa, n, &out->theory);
    krein__practice(c, out->source.r, out->found, n, &out->theory, &out->practice);
    out->rademacher = krein__local_rademacher(c->rank, c->s, c->kappa, (double)n);
done:
    if (st != KREIN_OK) krein__advice_clear(ctx, out);
    return st;
}
