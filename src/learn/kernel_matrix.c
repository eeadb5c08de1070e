/* kernel_matrix.c -- a kernel matrix, its targets, and samples of both. */
#include "learn/kernel_matrix.h"

#include "num/spectrum.h"

#include <math.h>
#include <string.h>

double krein__exact_bytes(int64_t n, int64_t k) {
    double N = (double)n;
    return 8 * N * N + N * (8 * (double)k + 24);
}

void krein__exact_close(krein_exact *r) {
    if (!r->ctx) return;
    krein__free(r->ctx, r->K);
    krein__free(r->ctx, r->y);
    krein__free(r->ctx, r->weight);
    krein__free(r->ctx, r->class);
    krein__free(r->ctx, r->group);
    memset(r, 0, sizeof *r);
}

static krein_status allocate(krein_ctx *ctx, int64_t n, int64_t k, bool class, bool group,
                             krein_exact *r) {
    krein_status st = KREIN_OK;
    *r = (krein_exact){.ctx = ctx, .n = n, .k = k};
    NEW(r->K, n * n);
    NEW(r->y, n * k);
    NEW(r->weight, n);
    if (class) NEW(r->class, n);
    if (group) NEW(r->group, n);
done:
    return st;
}

static krein_status check_finite(krein_ctx *ctx, int64_t n, const double *K) {
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(K[i]))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "the kernel of rows %lld and %lld is not a finite number; scale the "
                               "data (`scale=standard`), or use another kernel",
                               (long long)(i / n + 1), (long long)(i % n + 1));
    return KREIN_OK;
}

krein_status krein__exact_open(krein_job *job, krein_exact *r) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    int64_t n = job->n;
    double sum = 0;
    krein_rows x = krein__map_landmarks(map);
    TRY(allocate(ctx, n, job->model->k, krein__job_classes(job), job->data->options.group != NULL,
                 r));
    TRY(krein__job_targets(job, r->y, r->class, r->weight, r->group));
    for (int64_t i = 0; i < n; i++) sum += r->weight[i];
    if (!(sum > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t i = 0; i < n; i++) r->weight[i] *= (double)n / sum;
    TRY(krein__gram_full(ctx, map->kernel, &x, &x, r->K));
    TRY(check_finite(ctx, n, r->K));
    krein__symmetrise(n, r->K); /* rounding, and matrices from files */
done:
    if (st != KREIN_OK) krein__exact_close(r);
    return st;
}

/* Rows that have a weight: their numbers in index. */
static int64_t weighted_rows(const krein_exact *r, int64_t *index) {
    int64_t m = 0;
    for (int64_t i = 0; i < r->n; i++)
        if (r->weight[i] > 0) index[m++] = i;
    return m;
}

krein_status krein__exact_sample(const krein_exact *all, uint64_t seed, int64_t m, krein_exact *r) {
    krein_ctx *ctx = all->ctx;
    krein_status st = KREIN_OK;
    int64_t *rows = NULL, *index = NULL, k = all->k;
    NEW(rows, all->n);
    int64_t from = weighted_rows(all, rows);
    m = krein__min(m, from);
    TRY(allocate(ctx, m, k, all->class != NULL, all->group != NULL, r));
    NEW(index, m);
    krein__rng_choose(krein__substream(seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LEARN), from, m,
                      index);
    for (int64_t i = 0; i < m; i++) index[i] = rows[index[i]];
    for (int64_t i = 0; i < m; i++) {
        const double *row = all->K + index[i] * all->n;
        for (int64_t j = 0; j < m; j++) r->K[i * m + j] = row[index[j]];
        memcpy(r->y + i * k, all->y + index[i] * k, (size_t)k * sizeof *r->y);
        r->weight[i] = all->weight[index[i]];
        if (r->class) r->class[i] = all->class[index[i]];
        if (r->group) r->group[i] = all->group[index[i]];
    }
done:
    krein__free(ctx, rows);
    krein__free(ctx, index);
    if (st != KREIN_OK) krein__exact_close(r);
    return st;
}
