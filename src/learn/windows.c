/* windows.c -- which rows are held out, what all rows aim at, and windows read one by one. */
#include "learn/windows.h"

#include "encode/encoding.h"

#include <math.h>
#include <string.h>

enum { FOLDS = 10, LEAST = 40, MOST_HELD = 10000 };

/* Bytes that a window may take. */
static double room(const krein_ctx *ctx) { return (double)ctx->budget / 3; }

/* Rows of a window of n dense rows of d numbers of so many bytes, in whole blocks. */
static int64_t window_rows(const krein_ctx *ctx, int64_t n, int64_t d, double size) {
    int64_t block = krein__block_rows(d);
    double fit = room(ctx) / (size * (double)d);
    if ((double)n <= fit) return n;
    return krein__max(1, (int64_t)(fit / (double)block)) * block;
}

/* Sparse rows are taken for some thousand entries at most until they are counted. */
double krein__windows_bytes(const krein_map *map, int64_t n, int64_t k) {
    double N = (double)n, K = (double)k, d = (double)map->d,
           block = (double)krein__block_rows(map->d);
    double size = map->in_bytes ? 1 : 4, row = map->sparse ? 8 * fmin(d, 1024) + 8 : size * d;
    double rows = fmin(N, (double)window_rows(map->ctx, n, map->d, size));
    double x = map->sparse ? fmin(N * row, fmax(room(map->ctx), block * row)) + 4 * N : rows * row;
    double held = fmin(N / 5 + 1, MOST_HELD);
    return x + held * row + N * (12 * K + 64) + held * (8 * K + 72) + 8 * K + 8192;
}

/* ---- rows in bytes ------------------------------------------------------ */

/* All streams give bytes, so that nothing need be scaled before a batch is made. */
static bool bytes_throughout(const krein_windows *w, bool unlabelled) {
    const krein_job *job = w->job;
    bool all = krein__stream_in_bytes(job->rows);
    for (int64_t i = 0; unlabelled && i < job->unlabelled.streams; i++)
        all = all && krein__stream_in_bytes(job->unlabelled.rows[i]);
    return all;
}

/* Room for n rows. */
static krein_status begin_bytes(const krein_windows *w, int64_t n, krein_matrix *x) {
    krein_ctx *ctx = w->job->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &w->job->model->encoding;
    *x = (krein_matrix){.d = e->d, .centre = e->centre, .factor = e->factor};
    NEW(x->byte, n * x->d);
done:
    return st;
}

/* ---- rows held out ------------------------------------------------------ */

/* The first of ten folds. */
static krein_status choose_held(krein_windows *w, const int32_t *class, const int32_t *group) {
    krein_job *job = w->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int32_t *fold = NULL;
    if (job->n < LEAST) return KREIN_OK;
    NEW(fold, job->n);
    TRY(krein__folds(ctx, job->seed, job->n, FOLDS, group, class, fold));
    for (int64_t i = 0; i < job->n; i++) {
        w->is_held[i] = fold[i] == 0 && (group || w->held < MOST_HELD);
        w->held += w->is_held[i];
    }
done:
    krein__free(ctx, fold);
    return st;
}

/* Rows of the job's stream as bytes. */
static krein_status gather_bytes(krein_windows *w, krein_matrix *x) {
    krein_stream *s = w->job->rows;
    krein_ctx *ctx = w->job->ctx;
    krein_status st = KREIN_OK;
    krein_block b;
    TRY(begin_bytes(w, w->held, x));
    TRY(krein__stream_rewind(s));
    for (x->n = 0; x->n < w->held;) {
        TRY(krein__stream_next(s, &b));
        if (b.x.n == 0) break;
        for (; x->n < w->held && w->held_row[x->n] < b.first + b.x.n; x->n++)
            memcpy(x->byte + x->n * x->d, b.byte + (w->held_row[x->n] - b.first) * x->d,
                   (size_t)x->d);
    }
    if (x->n < w->held) TRY(krein__stream_changed(s));
done:
    if (st != KREIN_OK) krein__matrix_clear(ctx, x);
    return st;
}

static krein_status gather_held(krein_windows *w) {
    krein_ctx *ctx = w->job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = 0;
    if (w->held == 0) return KREIN_OK;
    NEW(w->held_row, w->held);
    for (int64_t i = 0; i < w->job->n; i++)
        if (w->is_held[i]) w->held_row[m++] = i;
    if (w->in_bytes)
        TRY(gather_bytes(w, &w->held_x));
    else
        TRY(krein__stream_gather(w->job->rows, w->held_row, w->held, &w->held_x, NULL, NULL, NULL));
    w->fit.held =
        (krein_window){krein__matrix_rows(&w->held_x), {w->held_y, w->held_class, w->held_weight}};
done:
    return st;
}

double krein__windows_error(const krein_windows *w, const krein_loss_class *loss,
                            const float *scores) {
    double sum = 0, total = 0;
    int64_t k = w->k;
    for (int64_t i = 0; i < w->held; i++) {
        double weight = (double)w->held_weight[i];
        const float *f = scores + i * k, *y = w->held_y + i * k;
        total += weight;
        if (w->class) sum += weight * krein__net_wrong(k, f, y, w->held_class[i]);
        for (int64_t c = 0; !w->class && c < k; c++)
            sum += weight * pow(krein__net_off(loss, f[c], y[c]) * w->unit[c], 2) / (double)k;
    }
    return w->class ? sum / total : sqrt(sum / total);
}

/* ---- what rows aim at --------------------------------------------------- */

/* Root of the mean square of each target: they are centred already. */
static void find_units(krein_windows *w, const double *y, const double *weight) {
    double total = 0;
    for (int64_t i = 0; i < w->job->n; i++) total += weight[i];
    for (int64_t c = 0; c < w->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < w->job->n; i++) sum += weight[i] * pow(y[i * w->k + c], 2);
        w->unit[c] = sum > 0 && total > 0 ? sqrt(sum / total) : 1;
    }
}

/* The aims of one row, among those of the rows that are trained on or held out. */
static void put(const krein_windows *w, bool held, int64_t at, const double *y, int32_t class,
                double weight) {
    float *to = (held ? w->held_y : w->y) + at * w->k;
    for (int64_t c = 0; c < w->k; c++) to[c] = (float)(y[c] / w->unit[c]);
    if (w->class) (held ? w->held_class : w->class)[at] = class;
    (held ? w->held_weight : w->weight)[at] = (float)weight;
}

/* Weights have the mean one over all rows that are trained on. */
static krein_status sort_aims(krein_windows *w, const double *y, const int32_t *class,
                              const double *weight) {
    int64_t n = w->job->n, trained = 0, held = 0;
    double sum = 0, held_sum = 0;
    for (int64_t i = 0; i < n; i++) *(w->is_held[i] ? &held_sum : &sum) += weight[i];
    if (!(sum > 0) || (w->held > 0 && !(held_sum > 0)))
        return krein__fail(w->job->ctx, KREIN_EDATA,
                           "all row weights are 0: there is nothing to fit");
    for (int64_t i = 0; i < n; i++)
        if (w->is_held[i])
            put(w, true, held++, y + i * w->k, class[i], weight[i]);
        else
            put(w, false, trained++, y + i * w->k, class[i], weight[i] * (double)w -> n / sum);
    return KREIN_OK;
}

static krein_status find_aims(krein_windows *w, bool unlabelled) {
    krein_job *job = w->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    bool classes = krein__job_classes(job);
    double *y = NULL, *weight = NULL;
    int32_t *class = NULL, *group = NULL;
    NEW(y, job->n * w->k);
    NEW(weight, job->n);
    NEW(class, job->n);
    if (job->data->options.group) NEW(group, job->n);
    TRY(krein__job_targets(job, y, class, weight, group));
    TRY(choose_held(w, classes ? class : NULL, group));
    w->n = job->n - w->held + (unlabelled ? job->unlabelled.n : 0);
    for (int64_t c = 0; c < w->k; c++) w->unit[c] = 1;
    if (!classes) find_units(w, y, weight);
    ZNEW(w->y, w->n * w->k);
    ZNEW(w->weight, w->n);
    if (classes) ZNEW(w->class, w->n);
    NEW(w->held_y, w->held * w->k);
    NEW(w->held_weight, w->held);
    if (classes) NEW(w->held_class, w->held);
    TRY(sort_aims(w, y, class, weight));
done:
    krein__free(ctx, y);
    krein__free(ctx, weight);
    krein__free(ctx, class);
    krein__free(ctx, group);
    return st;
}

/* ---- windows ------------------------------------------------------------ */

static krein_stream *stream_of(const krein_windows *w, int64_t i) {
    if (i == 0) return w->job->rows;
    return i <= w->job->unlabelled.streams ? w->job->unlabelled.rows[i - 1] : NULL;
}

/* One row of the block becomes row i of the window, which has room for it. */
static krein_status append(krein_windows *w, int64_t i) {
    const krein_rows *from = &w->block.x;
    krein_matrix *x = &w->x;
    if (w->in_bytes) {
        memcpy(x->byte + i * x->d, w->block.byte + w->next * x->d, (size_t)x->d);
        return KREIN_OK;
    }
    if (!from->ptr) {
        memcpy(x->x + i * x->d, from->x + w->next * from->ld, (size_t)x->d * sizeof *x->x);
        return KREIN_OK;
    }
    int64_t first = from->ptr[w->next], m = from->ptr[w->next + 1] - first;
    if (x->nnz + m > w->entries) return krein__stream_changed(w->job->rows);
    memcpy(x->col + x->nnz, from->col + first, (size_t)m * sizeof *x->col);
    memcpy(x->val + x->nnz, from->val + first, (size_t)m * sizeof *x->val);
    x->nnz += m;
    x->ptr[i + 1] = x->nnz;
    return KREIN_OK;
}

/* The next row that is trained on; *there: there is one. */
static krein_status next_row(krein_windows *w, bool *there) {
    krein_status st = KREIN_OK;
    krein_stream *s;
    while ((s = stream_of(w, w->stream))) {
        for (; w->next < w->block.x.n; w->next++) {
            *there = w->stream > 0 || !w->is_held[w->block.first + w->next];
            if (*there) return KREIN_OK;
        }
        w->next = 0;
        TRY(krein__stream_next(s, &w->block));
        if (w->block.x.n > 0) continue;
        if ((s = stream_of(w, ++w->stream))) TRY(krein__stream_rewind(s));
    }
    *there = false;
done:
    return st;
}

/* Reading stands before that row of those that are trained on: it goes on there, or begins anew. */
static krein_status go_to(krein_windows *w, int64_t row) {
    krein_status st = KREIN_OK;
    bool there;
    TRY(krein__stream_rewind(w->job->rows));
    w->stream = w->next = 0;
    w->block = (krein_block){0};
    for (int64_t i = 0; i < row; i++, w->next++) {
        TRY(next_row(w, &there));
        if (!there) TRY(krein__stream_changed(w->job->rows));
    }
done:
    return st;
}

/* Windows come in order, as a rule. */
static krein_status load(void *user, int64_t which, krein_window *out) {
    krein_windows *w = user;
    krein_status st = KREIN_OK;
    int64_t first = which * w->rows, m = krein__min(w->rows, w->n - first);
    if (w->at != which) {
        bool follows = w->before == which;
        w->at = w->before = -1;
        if (!follows) TRY(go_to(w, first));
        w->x.nnz = 0;
        w->x.n = m;
        for (int64_t i = 0; i < m; i++, w->next++) {
            bool there = false;
            TRY(next_row(w, &there));
            if (!there) TRY(krein__stream_changed(w->job->rows));
            TRY(append(w, i));
        }
        w->at = which;
        w->before = which + 1;
    }
    *out = (krein_window){
        krein__matrix_rows(&w->x),
        {w->y + first * w->k, w->class ? w->class + first : NULL, w->weight + first}};
done:
    return st;
}

/* The most entries of a window of so many rows; entries: of each row. */
static int64_t most_entries(int64_t n, const int32_t *entries, int64_t rows) {
    int64_t most = 0;
    for (int64_t first = 0; first < n; first += rows) {
        int64_t sum = 0, end = krein__min(n, first + rows);
        for (int64_t i = first; i < end; i++) sum += entries[i];
        most = krein__max(most, sum);
    }
    return most;
}

/* Sparse rows are counted, in a pass of their own; windows are halved until they fit. */
static krein_status size_sparse(krein_windows *w) {
    krein_ctx *ctx = w->job->ctx;
    krein_status st = KREIN_OK;
    int64_t block = krein__block_rows(w->x.d);
    int32_t *entries = NULL;
    bool there;
    NEW(entries, w->n);
    TRY(go_to(w, 0));
    for (int64_t i = 0; i < w->n; i++, w->next++) {
        TRY(next_row(w, &there));
        if (!there) TRY(krein__stream_changed(w->job->rows));
        entries[i] = (int32_t)(w->block.x.ptr[w->next + 1] - w->block.x.ptr[w->next]);
    }
    w->rows = w->n;
    while (w->rows > block &&
           8 * (double)(most_entries(w->n, entries, w->rows) + w->rows) > room(ctx))
        w->rows = (w->rows / 2 + block - 1) / block * block;
    TRY(krein__windows_recall(w));
    w->entries = most_entries(w->n, entries, w->rows);
    ZNEW(w->x.ptr, w->rows + 1);
    NEW(w->x.col, krein__max(1, w->entries));
    NEW(w->x.val, krein__max(1, w->entries));
done:
    krein__free(ctx, entries);
    return st;
}

static krein_status size_dense(krein_windows *w) {
    krein_ctx *ctx = w->job->ctx;
    krein_status st = KREIN_OK;
    w->rows = window_rows(ctx, w->n, w->x.d, w->in_bytes ? 1 : 4);
    TRY(krein__windows_recall(w));
    if (w->in_bytes)
        TRY(begin_bytes(w, w->rows, &w->x));
    else
        NEW(w->x.x, w->rows * w->x.d);
done:
    return st;
}

krein_status krein__windows_open(krein_job *job, bool unlabelled, krein_windows *w) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &job->model->encoding;
    *w = (krein_windows){.job = job, .k = job->model->k, .at = -1, .before = -1};
    w->in_bytes = bytes_throughout(w, unlabelled);
    NEW(w->unit, w->k);
    ZNEW(w->is_held, job->n);
    TRY(find_aims(w, unlabelled));
    TRY(gather_held(w));
    w->x.d = e->d;
    TRY(e->sparse ? size_sparse(w) : size_dense(w));
    w->fit.n = w->n;
    w->fit.windows = (w->n + w->rows - 1) / w->rows;
    w->fit.window = load;
    w->fit.user = w;
    if (w->fit.windows > 1)
        krein__log(
            ctx, KREIN_LOG_WARNING,
            "the rows do not fit into a third of the memory budget: they are shuffled within "
            "windows of %lld rows, which other budgets cut elsewhere",
            (long long)w->rows);
done:
    if (st != KREIN_OK) krein__windows_close(w);
    return st;
}

void krein__windows_close(krein_windows *w) {
    if (!w->job) return;
    krein_ctx *ctx = w->job->ctx;
    krein__windows_forget(w);
    krein__free(ctx, w->unit);
    krein__free(ctx, w->is_held);
    krein__free(ctx, w->held_row);
    krein__free(ctx, w->y);
    krein__free(ctx, w->weight);
    krein__free(ctx, w->class);
    krein__free(ctx, w->held_y);
    krein__free(ctx, w->held_weight);
    krein__free(ctx, w->held_class);
    krein__matrix_clear(ctx, &w->x);
    krein__matrix_clear(ctx, &w->held_x);
    *w = (krein_windows){0};
}
