/* median.c -- free scales from the median distance of a sample of rows. */
#include "kernel/median.h"

#include "num/distance.h"
#include "num/order.h"

#include <math.h>
#include <stdlib.h>

/* Of unscaled rows of up to 1e38. Eight times it, the most that is selected, has to be a scale that
 * kernels take (1e30): a model with another could not be read back. */
#define MEDIAN_MAX 5e28

krein_status krein__median_distance(krein_ctx *ctx, const krein_rows *x, int metric, double *out) {
    enum { ROWS_MAX = 512 };
    krein_status st = KREIN_OK;
    int64_t n = krein__min(x->n, ROWS_MAX), d = x->d, count = 0;
    double *rows = NULL, *distance = NULL;
    *out = 1;
    NEW(rows, n * d);
    NEW(distance, n * n / 2 + n);
    for (int64_t i = 0; i < n; i++) krein__row_copy_double(x, i * x->n / n, rows + i * d);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++)
        (metric == 1 ? krein__distances64 : krein__squares64)(d, rows + i * d, i, rows, d,
                                                              distance + i * (i - 1) / 2);
    for (int64_t i = 0; i < n * (n - 1) / 2; i++)
        if (distance[i] > 0) distance[count++] = metric == 1 ? distance[i] : sqrt(distance[i]);
    if (count > 0) *out = fmin(krein__order_statistic(count, distance, count / 2 + 1), MEDIAN_MAX);
done:
    krein__free(ctx, rows);
    krein__free(ctx, distance);
    return st;
}

krein_status krein__kernel_set_median_rows(krein_ctx *ctx, krein_kernel *k, const krein_rows *x,
                                           krein_log_level say) {
    krein_kernel *leaf;
    int64_t slot;
    while (krein__kernel_free(k, 0, &leaf, &slot) > 0) {
        double median;
        char text[40];
        if (leaf->kernel->metric == 0)
            return krein__fail(ctx, KREIN_ESPEC, "%s needs a value for %s", leaf->kernel->cls.name,
                               leaf->kernel->cls.options[slot].name);
        krein_status st = krein__median_distance(ctx, x, leaf->kernel->metric, &median);
        if (st != KREIN_OK) return st;
        leaf->values.number[slot] = krein__round_digits(leaf->kernel->spread * median, 4);
        krein__log(ctx, say, "%s: %s set to %s, the median distance", leaf->kernel->cls.name,
                   leaf->kernel->cls.options[slot].name,
                   krein__number_text(leaf->values.number[slot], text));
    }
    return KREIN_OK;
}

krein_status krein__median_rows(krein_stream *rows, int64_t n, uint64_t seed, krein_matrix *out) {
    enum { SAMPLE = 512 };
    int64_t index[SAMPLE], m = krein__min(n, SAMPLE);
    krein__rng_choose((krein_rng){seed, KREIN_STREAM_SAMPLE}, n, m, index);
    return krein__stream_gather(rows, index, m, out, NULL, NULL, NULL);
}

krein_status krein__kernel_set_median(krein_ctx *ctx, krein_kernel *k, krein_stream *rows,
                                      int64_t n, uint64_t seed) {
    krein_status st = KREIN_OK;
    krein_matrix x = {0};
    if (krein__kernel_free(k, -1, NULL, NULL) == 0) return KREIN_OK;
    TRY(krein__median_rows(rows, n, seed, &x));
    krein_rows view = krein__matrix_rows(&x);
    st = krein__kernel_set_median_rows(ctx, k, &view, KREIN_LOG_INFO);
done:
    krein__matrix_clear(ctx, &x);
    return st;
}
