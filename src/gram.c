/* gram.c -- the public entry points for kernel matrices: write kernel values, examine and repair
 * the spectrum of a matrix (num/spectrum.c). */
#include "file/writer.h"
#include "kernel/gram.h"
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "num/blas.h"
#include "num/spectrum.h"

#include <math.h>
#include <string.h>

/* All rows of a stream in memory. */
static krein_status all_rows(krein_ctx *ctx, krein_stream *s, int64_t n, krein_matrix *out) {
    krein_status st = KREIN_OK;
    int64_t *index = NULL;
    NEW(index, n);
    for (int64_t i = 0; i < n; i++) index[i] = i;
    TRY(krein__stream_gather(s, index, n, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    return st;
}

static krein_status check_exact(krein_ctx *ctx, const krein_data *data,
                                const krein_train_options *o) {
    int64_t n = data->count[KREIN_PART_TRAIN];
    if (n <= o->max_exact) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "%s: the kernel matrix of %lld rows is above `max_exact` (%lld); raise it, "
                       "or use fewer rows",
                       data->name, (long long)n, (long long)o->max_exact);
}

krein_status krein_gram(krein_ctx *ctx, krein_data *data, krein_data *data2,
                        const krein_train_options *options, const char *path,
                        krein_transform_report *r) {
    krein_status st = KREIN_OK;
    krein_train_options defaults;
    krein_train_options_init(&defaults);
    const krein_train_options *given = options ? options : &defaults;
    krein_kernel *kernel = NULL;
    krein_stream *rows = NULL, *rows2 = NULL;
    krein_encoding e = {0};
    krein_matrix y = {0};
    krein_writer *w = NULL;
    krein_block b;
    double *K = NULL, start = krein__clock();
    memset(r, 0, sizeof *r);
    TRY(krein__kernel_parse(ctx, given->kernel ? given->kernel : "gaussian", &kernel));
    TRY(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, given->seed, &e));
    TRY(krein__kernel_meet(ctx, kernel, &e));
    int64_t n = data->count[KREIN_PART_TRAIN];
    if (!data2) TRY(check_exact(ctx, data, given));
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    TRY(krein__kernel_meet_rows(ctx, kernel, rows, false));
    TRY(krein__kernel_set_median(ctx, kernel, rows, n, given->seed));
    if (data2) {
        /* DATA2 is read with the columns and the scaling of DATA. */
        krein_block count;
        TRY(krein__data_match(data2, &e, false));
        TRY(krein__stream_open(data2, &e, KREIN_PART_TRAIN, &rows2));
        TRY(krein__kernel_meet_rows(ctx, kernel, rows2, false));
        for (int64_t m = 0;; r->D = m) {
            TRY(krein__stream_next(rows2, &count));
            if (count.x.n == 0) break;
            m += count.x.n;
        }
        if (r->D == 0) {
            st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row", data2->name);
            goto done;
        }
    }
    int64_t columns = data2 ? r->D : n;
    TRY(krein__reserve_check(ctx,
                             8.0 * (double)columns * (double)krein__block_rows(e.d) +
                                 8.0 * (double)columns * (double)e.d,
                             "a block of kernel values", "use fewer rows, or raise `max_memory`"));
    TRY(all_rows(ctx, data2 ? rows2 : rows, columns, &y));
    krein_rows against = krein__matrix_rows(&y);
    NEW(K, krein__block_rows(e.d) * columns);
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__npy_header(w, "<f8", n, columns));
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        TRY(krein__gram_full(ctx, kernel, &b.x, &against, K));
        TRY(krein__writer_put(w, K, (size_t)(b.x.n * columns) * sizeof *K));
        krein__progress(ctx, "kernel values", (double)(b.first + b.x.n), (double)n);
    }
    krein_writer *whole = w;
    w = NULL;
    TRY(krein__writer_commit(whole));
    if (!(r->kernel = krein__kernel_text(ctx, kernel))) {
        st = ctx->status;
        goto done;
    }
    r->n = n;
    r->d = e.d;
    r->D = columns;
    r->seconds = krein__clock() - start;
done:
    krein__writer_abort(w);
    krein__stream_close(rows);
    krein__stream_close(rows2);
    krein__matrix_clear(ctx, &y);
    krein__free(ctx, K);
    krein__kernel_destroy(ctx, kernel);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein_transform_report_clear(ctx, r);
    return st;
}

static void examine(int64_t n, const double *w, krein_gram_spectrum *s) {
    double total = 0, negative = 0, noise = krein__spectrum_noise(n, w);
    s->low = w[0];
    s->high = w[n - 1];
    s->negative = 0;
    for (int64_t i = 0; i < n; i++) {
        total += fabs(w[i]);
        if (w[i] >= -noise) continue;
        negative -= w[i];
        s->negative++;
    }
    s->negative_mass = total > 0 ? negative / total : 0;
}

static krein_status write_matrix(krein_ctx *ctx, const char *path, int64_t n, const double *K) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__npy_header(w, "<f8", n, n));
    TRY(krein__writer_put(w, K, (size_t)(n * n) * sizeof *K));
    krein_writer *whole = w;
    w = NULL;
    st = krein__writer_commit(whole);
done:
    krein__writer_abort(w);
    return st;
}

krein_status krein_gram_check(krein_ctx *ctx, krein_data *data, const krein_train_options *options,
                              krein_repair repair, const char *path, krein_gram_spectrum *s,
                              krein_transform_report *r) {
    krein_status st = KREIN_OK;
    krein_train_options defaults;
    krein_train_options_init(&defaults);
    const krein_train_options *given = options ? options : &defaults;
    krein_kernel *kernel = NULL;
    krein_stream *rows = NULL;
    krein_encoding e = {0};
    krein_matrix x = {0};
    double *K = NULL, *V = NULL, *w = NULL, start = krein__clock();
    memset(r, 0, sizeof *r);
    memset(s, 0, sizeof *s);
    TRY(krein__kernel_parse(ctx, given->kernel ? given->kernel : "gaussian", &kernel));
    TRY(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, given->seed, &e));
    TRY(krein__kernel_meet(ctx, kernel, &e));
    TRY(check_exact(ctx, data, given));
    int64_t n = r->n = r->D = data->count[KREIN_PART_TRAIN];
    r->d = e.d;
    TRY(krein__reserve_check(ctx, (repair ? 32.0 : 16.0) * (double)n * (double)n,
                             "the kernel matrix and its eigenvectors",
                             "use fewer rows, or raise `max_memory`"));
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    TRY(krein__kernel_meet_rows(ctx, kernel, rows, false));
    TRY(krein__kernel_set_median(ctx, kernel, rows, n, given->seed));
    TRY(all_rows(ctx, rows, n, &x));
    krein_rows view = krein__matrix_rows(&x);
    NEW(K, n * n);
    NEW(V, n * n);
    NEW(w, n);
    TRY(krein__gram_full(ctx, kernel, &view, &view, K));
    s->asymmetry = krein__symmetrise(n, K);
    memcpy(V, K, (size_t)(n * n) * sizeof *K);
    TRY(repair ? krein__eigen(ctx, n, V, n, w) : krein__eigenvalues(ctx, n, V, n, w));
    examine(n, w, s);
    if (repair && s->low < 0) TRY(krein__spectrum_rebuild(ctx, repair, n, V, w, K));
    if (path) TRY(write_matrix(ctx, path, n, K));
    if (!(r->kernel = krein__kernel_text(ctx, kernel))) st = ctx->status;
    r->seconds = krein__clock() - start;
done:
    krein__stream_close(rows);
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, K);
    krein__free(ctx, V);
    krein__free(ctx, w);
    krein__kernel_destroy(ctx, kernel);
    krein__encoding_clear(ctx, &e);
    if (st != KREIN_OK) krein_transform_report_clear(ctx, r);
    return st;
}
