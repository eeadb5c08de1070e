/* gram.c -- the public entry points for kernel matrices: write kernel values, examine and repair
 * the spectrum of a matrix (num/spectrum.c). */
#include "file/writer.h"
#include "kernel/gram.h"
#include "kernel/inputs.h"
#include "num/blas.h"
#include "num/spectrum.h"
#include "pipe/pipe.h"

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

static krein_status begin(krein_ctx *ctx, const krein_train_options *given, krein_data *data,
                          krein_pipe *p) {
    krein_status st = KREIN_OK;
    krein_train_options o;
    krein_train_options_init(&o);
    TRY(krein__options_copy(ctx, given, &o, "krein_train_options"));
    krein_pipe_options asked = {.kernel = o.kernel, .seed = o.seed, .max_exact = o.max_exact};
    krein_purpose purpose = {.what = "the kernel matrix"};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, p));
    TRY(krein__pipe_scan(p, data, KREIN_LABELS_IGNORED));
    TRY(krein__pipe_meet_kernel(p, false));
    TRY(krein__pipe_median(p));
done:
    return st;
}

static krein_status check_exact(const krein_pipe *p) {
    if (p->job.n <= p->o.max_exact) return KREIN_OK;
    return krein__fail(p->ctx, KREIN_EARG,
                       "%s: the kernel matrix of %lld rows is above `max_exact` (%lld); raise it, "
                       "or use fewer rows",
                       p->job.data->name, (long long)p->job.n, (long long)p->o.max_exact);
}

/* The other rows, read with the columns and the scaling of the data, and how many they are. */
static krein_status open_other(const krein_pipe *p, krein_data *other, krein_stream **rows,
                               int64_t *n) {
    krein_status st = KREIN_OK;
    const krein_encoding *e = &p->job.model->encoding;
    krein_block b;
    *n = 0;
    TRY(krein__data_match(other, e, false));
    TRY(krein__stream_open(other, e, KREIN_PART_TRAIN, rows));
    TRY(krein__kernel_meet_rows(p->ctx, p->kernel, *rows, false));
    do {
        TRY(krein__stream_next(*rows, &b));
        *n += b.x.n;
    } while (b.x.n > 0);
    if (*n == 0) st = krein__fail(p->ctx, KREIN_EDATA, "%s: there is no row", other->name);
done:
    return st;
}

/* Blocks of kernel values, in the order of the rows. */
typedef krein_status (*krein_values_fn)(void *user, int64_t first, int64_t rows, const double *K);

static krein_status make_values(krein_pipe *p, const krein_rows *against, krein_values_fn fn,
                                void *user) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_block b;
    double *K = NULL;
    NEW(K, krein__block_rows(p->job.model->encoding.d) * against->n);
    TRY(krein__stream_rewind(p->job.rows));
    for (;;) {
        TRY(krein__stream_next(p->job.rows, &b));
        if (b.x.n == 0) break;
        TRY(krein__gram_full(ctx, p->kernel, &b.x, against, K));
        TRY(fn(user, b.first, b.x.n, K));
        krein__progress(ctx, "kernel values", (double)(b.first + b.x.n), (double)p->job.n);
    }
done:
    krein__free(ctx, K);
    return st;
}

/* Where the values go: a file, or the caller's memory. */
typedef struct target {
    krein_writer *w;
    double *out;
    int64_t columns;
} target;

static krein_status put_values(void *user, int64_t first, int64_t rows, const double *K) {
    const target *t = user;
    size_t bytes = (size_t)(rows * t->columns) * sizeof *K;
    if (t->out) memcpy(t->out + first * t->columns, K, bytes);
    return t->w ? krein__writer_put(t->w, K, bytes) : KREIN_OK;
}

static krein_status describe(const krein_pipe *p, int64_t columns, krein_transform_report *r) {
    r->n = p->job.n;
    r->d = p->job.model->encoding.d;
    r->D = columns;
    r->kernel = krein__kernel_text(p->ctx, p->kernel);
    return r->kernel ? KREIN_OK : p->ctx->status;
}

static krein_status too_small(krein_ctx *ctx, int64_t rows, int64_t columns, int64_t room) {
    return krein__fail(ctx, KREIN_EARG,
                       "%lld x %lld kernel values do not fit into an array of %lld",
                       (long long)rows, (long long)columns, (long long)room);
}

/* path or out (room values) may be NULL. */
static krein_status gram(krein_ctx *ctx, krein_data *data, krein_data *data2,
                         const krein_train_options *options, const char *path, double *out,
                         int64_t room, krein_transform_report *report) {
    krein_status st = KREIN_OK;
    krein_transform_report own = KREIN_SIZED(krein_transform_report), *r = &own;
    krein_pipe p = {0};
    krein_stream *other = NULL;
    krein_matrix y = {0};
    target to = {.out = out};
    int64_t columns;
    double start = krein__clock();
    TRY(krein__report_check(ctx, report, "krein_transform_report"));
    TRY(begin(ctx, options, data, &p));
    if (data2)
        TRY(open_other(&p, data2, &other, &columns));
    else
        TRY(check_exact(&p));
    if (!data2) columns = p.job.n;
    if (out && columns > room / p.job.n) TRY(too_small(ctx, p.job.n, columns, room));
    int64_t d = p.job.model->encoding.d;
    TRY(krein__reserve_check(ctx,
                             8.0 * (double)columns * (double)krein__block_rows(d) +
                                 8.0 * (double)columns * (double)d,
                             "a block of kernel values", "use fewer rows, or raise `max_memory`"));
    TRY(all_rows(ctx, data2 ? other : p.job.rows, columns, &y));
    krein_rows against = krein__matrix_rows(&y);
    to.columns = columns;
    if (path) {
        TRY(krein__writer_open(ctx, path, &to.w));
        TRY(krein__npy_header(to.w, "<f8", p.job.n, columns));
    }
    TRY(make_values(&p, &against, put_values, &to));
    krein_writer *whole = to.w;
    to.w = NULL;
    if (whole) TRY(krein__writer_commit(whole));
    TRY(describe(&p, columns, r));
    r->seconds = krein__clock() - start;
done:
    krein__writer_abort(to.w);
    krein__stream_close(other);
    krein__matrix_clear(ctx, &y);
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_transform_report_clear(ctx, r);
    return st;
}

krein_status krein_gram(krein_ctx *ctx, krein_data *data, krein_data *data2,
                        const krein_train_options *options, const char *path,
                        krein_transform_report *report) {
    return gram(ctx, data, data2, options, path, NULL, 0, report);
}

krein_status krein_gram_values(krein_ctx *ctx, krein_data *data, krein_data *data2,
                               const krein_train_options *options, double *out, int64_t room,
                               krein_transform_report *report) {
    return gram(ctx, data, data2, options, NULL, out, room, report);
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
                              krein_repair repair, const char *path, krein_gram_spectrum *spectrum,
                              krein_transform_report *report) {
    krein_status st = KREIN_OK;
    krein_transform_report own = KREIN_SIZED(krein_transform_report), *r = &own;
    krein_gram_spectrum found = KREIN_SIZED(krein_gram_spectrum), *s = &found;
    krein_pipe p = {0};
    krein_matrix x = {0};
    double *K = NULL, *V = NULL, *w = NULL, start = krein__clock();
    TRY(krein__report_check(ctx, report, "krein_transform_report"));
    TRY(krein__report_check(ctx, spectrum, "krein_gram_spectrum"));
    if ((int)repair < KREIN_REPAIR_NONE || (int)repair > KREIN_REPAIR_SHIFT) {
        st = krein__fail(ctx, KREIN_EARG, "`repair` is clip, flip or shift");
        goto done;
    }
    TRY(begin(ctx, options, data, &p));
    TRY(check_exact(&p));
    int64_t n = p.job.n;
    TRY(krein__reserve_check(ctx, (repair ? 32.0 : 16.0) * (double)n * (double)n,
                             "the kernel matrix and its eigenvectors",
                             "use fewer rows, or raise `max_memory`"));
    TRY(all_rows(ctx, p.job.rows, n, &x));
    krein_rows view = krein__matrix_rows(&x);
    NEW(K, n * n);
    NEW(V, n * n);
    NEW(w, n);
    TRY(krein__gram_full(ctx, p.kernel, &view, &view, K));
    s->asymmetry = krein__symmetrise(n, K);
    memcpy(V, K, (size_t)(n * n) * sizeof *K);
    TRY(repair ? krein__eigen(ctx, n, V, n, w) : krein__eigenvalues(ctx, n, V, n, w));
    examine(n, w, s);
    if (repair && s->low < 0) TRY(krein__spectrum_rebuild(ctx, repair, n, V, w, K));
    if (path) TRY(write_matrix(ctx, path, n, K));
    TRY(describe(&p, n, r));
    r->seconds = krein__clock() - start;
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, K);
    krein__free(ctx, V);
    krein__free(ctx, w);
    krein__pipe_end(&p);
    krein__report_finish(st, spectrum, s);
    krein__report_finish(st, report, r);
    krein_transform_report_clear(ctx, r);
    return st;
}
