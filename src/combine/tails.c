/* tails -- sums of tail eigenvalues, the part of the local Rademacher complexity of a class of
 * functions that depends on its kernel (li2020, (3.27) and (4.3))
 *
 *     r_m = (1/n) sum_{j > theta} lambda_j(K_m) = (Tr K_m - sum of the theta largest) / n
 *
 * On features K_m = Z_m Z_m', whose eigenvalues are those of Z_m'Z_m, a diagonal block of the
 * second moments. Cost: the largest eigenvalues of n x n matrices, or of D_m x D_m ones after one
 * pass over the rows. */
#include "combine/tails.h"

#include "num/blas.h"
#include "num/eigen_top.h"
#include "num/lanczos.h"

#include <math.h>

/* Residuals of the eigenvectors, as a part of |A|: eigenvalues are off by about their squares. */
static const double ENOUGH = 1e-6;
/* A smaller part of the trace is rounding. */
static const double NOTHING = 1e-9;

static krein_status sum_of_all(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *sum) {
    krein_status st = KREIN_OK;
    double *w = NULL;
    NEW(w, n);
    TRY(krein__eigenvalues(ctx, n, a, n, w));
    *sum = 0;
    for (int64_t j = n - m; j < n; j++) *sum += w[j];
done:
    krein__free(ctx, w);
    return st;
}

/* By iteration; *found is false where it takes as long as all of them. */
static krein_status sum_of_few(krein_ctx *ctx, int64_t n, const double *a, int64_t m, double *sum,
                               bool *found) {
    krein_status st = KREIN_OK;
    const krein_rng g = {1, KREIN_STREAM_START};
    krein_dense_operator matrix = {ctx, n, a};
    double *w = NULL, *v = NULL, residual;
    NEW(w, m);
    NEW(v, m * n);
    TRY(krein__top_eigen(ctx, n, m, krein__apply_dense, &matrix, g, ENOUGH, n / m, w, v,
                         &residual));
    *found = residual <= ENOUGH;
    *sum = 0;
    for (int64_t j = 0; j < m; j++) *sum += w[j];
done:
    krein__free(ctx, w);
    krein__free(ctx, v);
    return st;
}

/* The sum of the eigenvalues of a (n x n, overwritten) after the m largest. */
static krein_status tail_of(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *tail) {
    krein_status st = KREIN_OK;
    double trace = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) trace += a[i * n + i];
    *tail = 0;
    if (m >= n) return KREIN_OK;
    bool found = m == 0;
    if (!found && krein__eigen_top_pays(n, m)) st = sum_of_few(ctx, n, a, m, &sum, &found);
    if (!found && st == KREIN_OK) st = sum_of_all(ctx, n, a, m, &sum);
    if (trace - sum > NOTHING * trace) *tail = trace - sum;
    return st;
}

static krein_status by_matrices(krein_bank *bank, int64_t m, double *r) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    int64_t n = bank->rows.n;
    const double *w = bank->rows.weight;
    double *a = NULL, total = w ? 0 : (double)n;
    for (int64_t i = 0; w && i < n; i++) total += w[i];
    NEW(a, n * n);
    for (int64_t k = 0; k < bank->M; k++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                a[i * n + j] = bank->K[k][i * n + j] * (w ? sqrt(w[i] * w[j]) : 1);
        TRY(tail_of(ctx, n, a, m, &r[k]));
        r[k] /= total;
        krein__progress(ctx, "tails of kernels", (double)(k + 1), (double)bank->M);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, a);
    return st;
}

static krein_status by_features(krein_bank *bank, int64_t m, double *r) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    krein_moments all = {0};
    double *a = NULL;
    int64_t most = 0;
    TRY(krein__moments_of(bank, false, &all));
    for (int64_t k = 0; k < bank->M; k++)
        most = krein__max(most, bank->first[k + 1] - bank->first[k]);
    NEW(a, most * most);
    for (int64_t k = 0; k < bank->M; k++) {
        int64_t at = bank->first[k], D = bank->first[k + 1] - at;
        for (int64_t i = 0; i < D; i++)
            for (int64_t j = 0; j < D; j++) a[i * D + j] = all.G[(at + i) * all.D + at + j];
        TRY(tail_of(ctx, D, a, m, &r[k]));
        r[k] /= all.weight;
        krein__progress(ctx, "tails of kernels", (double)(k + 1), (double)bank->M);
        TRY(krein__poll(ctx));
    }
done:
    krein__moments_clear(ctx, &all);
    krein__free(ctx, a);
    return st;
}

/* The root of the rows may be more than the features of a kernel, which then would have no tail
 * whatever it is: at most a quarter of what the kernels have on average. */
static int64_t before_tail(const krein_bank *bank, double theta) {
    int64_t n = bank->K ? bank->rows.n : bank->job->n, count = krein__main_count(theta, n);
    if (bank->K || !isnan(theta)) return count;
    return krein__max(1, krein__min(count, bank->first[bank->M] / (4 * bank->M)));
}

krein_status krein__bank_tails(krein_bank *bank, double theta, double *r) {
    int64_t m = before_tail(bank, theta);
    return bank->K ? by_matrices(bank, m, r) : by_features(bank, m, r);
}
