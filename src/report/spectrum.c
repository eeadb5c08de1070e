/* spectrum.c -- the kernel on sampled rows: eigenvalues s_j of K / m, the effective dimension
 * N(lambda) = sum_j s_j / (s_j + lambda) (select/capacity.c), and |K - Khat|_F / |K|_F of the
 * model's features, diagonal included. Features of landmarks are made by a Cholesky factor of their
 * kernel matrix (solve/whiten.c), which prediction does without. */
#include "report/report.h"

#include "kernel/gram.h"
#include "num/blas.h"
#include "pipe/sample.h"
#include "solve/whiten.h"

#include <math.h>
#include <string.h>

enum { LANDMARKS = 4096, MIXED = 1500 };

static double dimension(int64_t n, const double *s, double lambda) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (s[j] > 0) sum += s[j] / (s[j] + lambda);
    return sum;
}

static krein_status eigenvalues(krein_reporting *r, int64_t m, const double *K) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    double *A = NULL, *w = NULL;
    NEW(A, m * m);
    NEW(w, m);
    NEW(out->eigen, m);
    memcpy(A, K, (size_t)(m * m) * sizeof *A);
    TRY(krein__eigenvalues(ctx, m, A, m, w));
    for (int64_t j = 0; j < m; j++) out->eigen[j] = w[m - 1 - j] / (double)m;
    out->neigen = m;
    const double top = out->eigen[0], lambda = r->model->lambda;
    out->dimension = lambda > 0 ? dimension(m, out->eigen, lambda) : NAN;
    const double low = log10(lambda > 0 ? fmin(1e-8 * top, lambda / 10) : 1e-8 * top);
    out->ndimension = top > 0 ? KREIN__COUNT(out->dimension_at) : 0;
    for (int64_t i = 0; i < out->ndimension; i++) {
        double at = low + (log10(top) + 1 - low) * (double)i / (double)(out->ndimension - 1);
        out->dimension_lambda[i] = pow(10, at);
        out->dimension_at[i] = dimension(m, out->eigen, pow(10, at));
    }
done:
    krein__free(ctx, A);
    krein__free(ctx, w);
    return st;
}

/* Features of the rows whose inner products stand for the kernel; *z NULL: none. */
static krein_status features(krein_reporting *r, const krein_rows *x, float **z, int64_t *D) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_map map = krein__map_on(ctx, r->model->map);
    unsigned traits = (unsigned)map.cls->traits;
    bool values = traits & KREIN_MAP_VALUES, stored = map.mix != NULL;
    float *scratch = NULL;
    double *K = NULL;
    *z = NULL;
    if (traits & KREIN_MAP_DUAL || traits & KREIN_MAP_CODES || r->model->packed.unit) return st;
    if (values && map.R <= LANDMARKS) {
        krein_rows at = krein__map_landmarks(&map);
        *D = map.R;
        NEW(*z, x->n * map.R);
        NEW(scratch, krein__map_scratch(&map));
        NEW(K, map.R * map.R);
        krein__map_raw(&map, x, NULL, *z, scratch);
        TRY(krein__gram_full(ctx, map.kernel, &at, &at, K));
        TRY(krein__whiten(ctx, x->n, map.R, K, *z));
    } else if (!values && (!(traits & KREIN_MAP_MIX) || map.R <= MIXED)) {
        TRY(krein__map_remix(&map));
        *D = map.D;
        NEW(*z, x->n * map.D);
        TRY(krein__map_apply(&map, x, *z));
    }
done:
    if (!stored) krein__free(ctx, map.mix);
    krein__free(ctx, scratch);
    krein__free(ctx, K);
    return st;
}

static krein_status look(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    krein_matrix few = {0};
    int64_t *index = NULL, m, D = 0;
    double *K = NULL, worst;
    float *z = NULL;
    krein__progress(ctx, "kernel matrix", 0, 0);
    TRY(krein__report_few(r, KREIN_REPORT_SPECTRUM, &few, &index));
    const krein_rows x = krein__matrix_rows(&few);
    m = x.n;
    NEW(K, m * m);
    TRY(krein__gram_full(ctx, r->model->map->kernel, &x, &x, K));
    TRY(eigenvalues(r, m, K));
    out->spectrum_rows = m;
    if (!(out->eigen[0] > 0)) goto done;
    TRY(features(r, &x, &z, &D));
    if (z)
        TRY(krein__sample_error(ctx, m, K, D, r->model->map->sign, z, &out->approximation, &worst));
done:
    krein__matrix_clear(ctx, &few);
    krein__free(ctx, index);
    krein__free(ctx, K);
    krein__free(ctx, z);
    return st;
}

krein_status krein__report_spectrum(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    r->out->dimension = r->out->approximation = NAN;
    if (r->model->map->cls->traits & KREIN_MAP_TRAINED) {
        DUP(r->out->spectrum_not, "the features were trained: there is no kernel that they stand "
                                  "for");
        return st;
    }
    st = look(r);
    if (st == KREIN_ESPEC || st == KREIN_EDATA || st == KREIN_EARG || st == KREIN_ENUMERIC) {
        DUP(r->out->spectrum_not, krein_message(ctx));
        r->out->neigen = 0;
        st = KREIN_OK;
    }
done:
    return st;
}
