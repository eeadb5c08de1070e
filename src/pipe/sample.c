/* sample.c -- rows, kernel matrix and targets of a sample. */
#include "pipe/sample.h"

#include "kernel/gram.h"
#include "num/blas.h"

#include <math.h>

double krein__sample_bytes(const krein_pipe *p, int64_t m, int64_t k) {
    const krein_encoding *e = &p->job.model->encoding;
    double rows = (double)m, wide = e->sparse ? 0 : 4 * rows * (double)e->d;
    return wide + 8 * rows * (rows + (double)k) +
           krein__gram_full_bytes(p->kernel, m, e->d, p->ctx->threads);
}

krein_status krein__sample_check(const krein_pipe *p, int64_t rows) {
    krein_status st = krein__limit_check(p->ctx, "rows", (double)rows);
    if (st != KREIN_OK || rows <= p->o.max_exact) return st;
    return krein__fail(p->ctx, KREIN_EARG,
                       "the kernel matrix of %lld rows is above `max_exact` (%lld)",
                       (long long)rows, (long long)p->o.max_exact);
}

static void same_units(int64_t m, int64_t k, double *y) {
    for (int64_t c = 0; c < k; c++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < m; i++) mean += y[i * k + c] / (double)m;
        for (int64_t i = 0; i < m; i++) square += pow(y[i * k + c] - mean, 2) / (double)m;
        for (int64_t i = 0; square > 0 && i < m; i++) y[i * k + c] /= sqrt(square);
    }
}

krein_status krein__sample_gather(krein_pipe *p, int64_t m, bool labels, krein_sample *s) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_job *job = &p->job;
    int64_t *index = NULL;
    double *label = NULL;
    *s = (krein_sample){.m = m, .k = labels ? job->model->k : 0};
    NEW(index, m);
    if (s->k > 0) {
        NEW(label, m * job->data->nlabel);
        NEW(s->y, m * s->k);
    }
    krein__rng_choose((krein_rng){p->o.seed, KREIN_STREAM_SAMPLE}, job->n, m, index);
    TRY(krein__stream_gather(job->rows, index, m, &s->x, label, NULL, NULL));
    if (label) krein__targets_fill(job->model, job->data, m, label, s->y, NULL);
    if (label && job->model->encoding.task == KREIN_TASK_REGRESSION) same_units(m, s->k, s->y);
    krein_rows rows = krein__matrix_rows(&s->x);
    krein__progress(ctx, "kernel matrix", 0, 0);
    NEW(s->K, m * m);
    TRY(krein__gram_full(ctx, p->kernel, &rows, &rows, s->K));
done:
    krein__free(ctx, index);
    krein__free(ctx, label);
    return st;
}

void krein__sample_end(krein_ctx *ctx, krein_sample *s) {
    krein__matrix_clear(ctx, &s->x);
    krein__free(ctx, s->K);
    krein__free(ctx, s->y);
    *s = (krein_sample){0};
}

krein_status krein__sample_error(krein_ctx *ctx, int64_t n, const double *K, int64_t D,
                                 const int8_t *sign, const float *z, double *error, double *worst) {
    enum { ROWS = 256 };
    krein_status st = KREIN_OK;
    double *wide = NULL, *left = NULL, *k = NULL, sum = 0, norm = 0;
    NEW(wide, n * D);
    NEW(left, ROWS * D);
    NEW(k, ROWS * n);
    *worst = 0;
    for (int64_t i = 0; i < n * n; i++) norm += K[i] * K[i];
    for (int64_t i = 0; i < n * D; i++) wide[i] = (double)z[i];
    for (int64_t i = 0; i < n; i += ROWS) {
        int64_t m = krein__min(ROWS, n - i);
        TRY(krein__poll(ctx));
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < D; j++)
                left[r * D + j] = sign ? sign[j] * wide[(i + r) * D + j] : wide[(i + r) * D + j];
        krein__pgemm(ctx, false, true, m, n, D, 1, left, D, wide, D, 0, k, n);
        for (int64_t e = 0; e < m * n; e++) {
            double delta = k[e] - K[i * n + e];
            sum += delta * delta;
            *worst = fmax(*worst, fabs(delta));
        }
    }
    *error = sqrt(sum) / sqrt(norm);
done:
    krein__free(ctx, wide);
    krein__free(ctx, left);
    krein__free(ctx, k);
    return st;
}
