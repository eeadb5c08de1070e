/* pca.c -- the public entry point for kernel principal components: data, kernel, map, components,
 * the scores of the rows. */
#include "base/text.h"
#include "file/writer.h"
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "learn/kpca.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_pca_options_init(krein_pca_options *o) {
    memset(o, 0, sizeof *o);
    o->size = sizeof *o;
    o->components = 2;
    o->seed = 1;
    o->max_exact = 10000;
}

void krein_pca_report_clear(krein_ctx *ctx, krein_pca_report *r) {
    krein__free(ctx, r->variance);
    krein__free(ctx, r->ratio);
    krein__free(ctx, r->kernel);
    krein__free(ctx, r->map);
    memset(r, 0, sizeof *r);
}

static krein_status copy_options(krein_ctx *ctx, const krein_pca_options *given,
                                 krein_pca_options *o) {
    krein_pca_options_init(o);
    if (given) memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->components < 1 || o->components > 100000)
        return krein__fail(ctx, KREIN_EARG, "`components` takes a number from 1 to 100,000");
    if (o->features < 0 || o->features > 10000000)
        return krein__fail(ctx, KREIN_EARG, "`features` takes a number from 1 to 10,000,000");
    if (o->max_exact < 0 || o->max_exact > 32000)
        return krein__fail(ctx, KREIN_EARG, "`max_exact` takes a number from 0 to 32,000");
    return KREIN_OK;
}

/* ---- the map ------------------------------------------------------------ */

/* The kernel matrix is the default up to so many rows, as in train; above, so many features. */
enum { EXACT_ROWS = 7500, FEATURES = 1024 };

static bool is_exact(const krein_map *map) { return map->cls->traits & KREIN_MAP_DUAL; }

/* Before any row is read. */
static krein_status check_map(krein_ctx *ctx, const krein_pca_options *o,
                              const krein_kernel *kernel) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    if (!o->map) return KREIN_OK;
    TRY(krein__map_create(ctx, o->map, kernel, o->features, o->seed, &map));
    TRY(krein__map_check(map, o->features, "components"));
done:
    krein__map_destroy(map);
    return st;
}

static double bytes_needed(const krein_map *map, int64_t n, int64_t components) {
    krein_cost cost = {0};
    map->cls->cost(map, n, &cost);
    double rows = (double)krein__block_rows(map->d), d = (double)map->d;
    return cost.bytes + krein__kpca_bytes(map, n, components) + 4 * rows * (d + 16) +
           8 * (double)map->cls->features(map, n) * (double)components;
}

static krein_status create_map(krein_ctx *ctx, const krein_pca_options *o, const char *spec,
                               const krein_kernel *kernel, const krein_encoding *e, int64_t D,
                               krein_map **out) {
    krein_status st = krein__map_create(ctx, spec, kernel, o->features, o->seed, out);
    if (st != KREIN_OK) return st;
    if ((*out)->D == 0) (*out)->D = D;
    (*out)->d = e->d;
    (*out)->sparse = e->sparse;
    return KREIN_OK;
}

/* Exact on few rows where it fits into memory, features else. */
static krein_status choose_map(krein_ctx *ctx, const krein_pca_options *o,
                               const krein_kernel *kernel, const krein_encoding *e, int64_t n,
                               krein_map **map) {
    krein_status st = KREIN_OK;
    int64_t D = o->features > 0 ? o->features : krein__max(FEATURES, 4 * o->components);
    D = krein__max(2, krein__min(D, n));
    bool few = n <= krein__min(EXACT_ROWS, o->max_exact) && o->features == 0;
    const char *approximate = krein__map_default(kernel, e->d, D);
    const char *spec = o->map ? o->map : few ? "exact" : approximate;
    TRY(create_map(ctx, o, spec, kernel, e, D, map));
    TRY(krein__map_check_rows(*map, n, o->max_exact, approximate));
    if (is_exact(*map) && !o->map &&
        bytes_needed(*map, n, o->components) + (double)atomic_load(&ctx->held) >
            (double)ctx->budget) {
        krein__map_destroy(*map);
        *map = NULL;
        TRY(create_map(ctx, o, approximate, kernel, e, D, map));
    }
    TRY(krein__reserve_check(ctx, bytes_needed(*map, n, o->components), "the decomposition",
                             is_exact(*map) ? "use `map=nystrom`, or raise `max_memory`"
                                            : "use fewer `features`, or raise `max_memory`"));
done:
    return st;
}

/* ---- the scores --------------------------------------------------------- */

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) length -= 3;
    return length > tail && memcmp(path + length - tail, end, tail) == 0;
}

static krein_status put_text(krein_writer *w, const char *text) {
    return krein__writer_put(w, text, strlen(text));
}

/* A cell of a CSV, quoted where it needs to be. */
static krein_status put_cell(krein_writer *w, const char *text) {
    krein_status st = KREIN_OK;
    if (!text[strcspn(text, ",\"\r\n")]) return put_text(w, text);
    TRY(put_text(w, "\""));
    for (; *text; text++) {
        if (*text == '"') TRY(put_text(w, "\""));
        TRY(krein__writer_put(w, text, 1));
    }
    TRY(put_text(w, "\""));
done:
    return st;
}

/* The name of the --id column. */
static const char *id_name(const krein_data *data) {
    const krein_reader *r = data->reader;
    for (int64_t j = 0; r && j < r->ncolumn; j++)
        if (r->column[j].role == KREIN_ROLE_ID && r->column[j].name) return r->column[j].name;
    return "id";
}

static krein_status put_header(krein_writer *w, const krein_data *data, int64_t k) {
    krein_status st = KREIN_OK;
    char name[32];
    if (data->options.id) {
        TRY(put_cell(w, id_name(data)));
        TRY(put_text(w, ","));
    }
    for (int64_t c = 0; c < k; c++) {
        snprintf(name, sizeof name, "%spc%lld", c ? "," : "", (long long)c + 1);
        TRY(put_text(w, name));
    }
    TRY(put_text(w, "\n"));
done:
    return st;
}

enum { CELL = 32 };

/* The digits of a float, as predict prints them. */
static char *put_number(char *p, double x) {
    if (fabs(x) <= (double)FLT_MAX) return krein__put_float(p, (float)x);
    return p + snprintf(p, CELL, "%.9g", x);
}

static krein_status put_row(krein_writer *w, const krein_block *b, int64_t i, int64_t k,
                            const double *score, char *text) {
    krein_status st = KREIN_OK;
    char *p = text;
    bool dropped = b->dropped && b->dropped[i];
    if (b->id && !dropped) {
        TRY(put_cell(w, b->id[i] ? b->id[i] : ""));
        *p++ = ',';
    }
    for (int64_t c = 0; !dropped && c < k; c++) {
        if (c) *p++ = ',';
        p = put_number(p, score[i * k + c]);
    }
    *p++ = '\n';
    TRY(krein__writer_put(w, text, (size_t)(p - text)));
done:
    return st;
}

/* Every row of the data through the model, as predict would. */
static krein_status write_scores(const krein_model *m, krein_data *data, const char *path) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    krein_stream *rows = NULL;
    krein_scorer scorer = {0};
    krein_block b;
    double *score = NULL;
    char *text = NULL;
    int64_t k = m->k;
    bool npy = ends_with(path, ".npy");
    TRY(krein__stream_open(data, &m->encoding, -1, &rows));
    TRY(krein__scorer_begin(m, &scorer));
    NEW(score, krein__block_rows(m->encoding.d) * k);
    NEW(text, (k + 1) * CELL);
    TRY(krein__writer_open(ctx, path, &w));
    TRY(npy ? krein__npy_header(w, "<f8", data->nrows, k) : put_header(w, data, k));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        krein__scorer_run(&scorer, &b.x, score);
        for (int64_t i = 0; npy && i < b.x.n * k; i++)
            if (b.dropped && b.dropped[i / k]) score[i] = NAN;
        if (npy) TRY(krein__writer_put(w, score, (size_t)(b.x.n * k) * sizeof *score));
        for (int64_t i = 0; !npy && i < b.x.n; i++) TRY(put_row(w, &b, i, k, score, text));
        krein__progress(ctx, "scores", (double)(b.first + b.x.n), (double)data->nrows);
    }
    krein_writer *whole = w;
    w = NULL;
    st = krein__writer_commit(whole);
done:
    krein__writer_abort(w);
    krein__stream_close(rows);
    krein__scorer_end(&scorer);
    krein__free(ctx, score);
    krein__free(ctx, text);
    return st;
}

/* ---- the pipe ----------------------------------------------------------- */

/* The columns that were left out as labels stay so in the model: other data may come without. */
static void name_labels(const krein_data *data, krein_encoding *e) {
    int64_t first = data->label_column, count = krein__max(1, data->options.targets);
    for (int64_t j = first; first >= 0 && j < first + count && j < e->ninput; j++)
        if (e->input[j].role == KREIN_ROLE_IGNORE) e->input[j].role = KREIN_ROLE_LABEL;
    e->outputs = 1; /* a model file wants to know; nothing comes of it */
}

static krein_status fill_report(const krein_model *m, krein_pca_report *r) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    r->n = m->n;
    r->d = m->encoding.d;
    r->D = m->map->D;
    r->components = m->k;
    r->total = m->variance_total;
    NEW(r->variance, m->k);
    NEW(r->ratio, m->k);
    for (int64_t c = 0; c < m->k; c++) {
        r->variance[c] = m->variance[c];
        r->ratio[c] = m->variance[c] / m->variance_total;
    }
    DUP(r->kernel, m->kernel_text);
    DUP(r->map, m->map_text);
done:
    return st;
}

static krein_status fit(krein_job *job, const krein_pca_options *o, krein_kernel *kernel,
                        krein_pca_report *r) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    krein_encoding *e = &m->encoding;
    TRY(krein__data_scan(job->data, KREIN_LABELS_IGNORED, 0, o->seed, e));
    name_labels(job->data, e);
    TRY(krein__kernel_meet(ctx, kernel, e));
    m->n = job->n = job->data->count[KREIN_PART_TRAIN];
    TRY(krein__stream_open(job->data, e, KREIN_PART_TRAIN, &job->rows));
    TRY(krein__kernel_meet_rows(ctx, kernel, job->rows, true));
    TRY(krein__kernel_set_median(ctx, kernel, job->rows, job->n, o->seed));
    TRY(choose_map(ctx, o, kernel, e, job->n, &m->map));
    TRY(krein__map_fit(m->map, e->d, e->sparse, job->rows, job->n));
    TRY(krein__kpca(job, o->components, &r->negative_mass));
    if (!(m->kernel_text = krein__kernel_text(ctx, kernel)) ||
        !(m->map_text = krein__map_text(m->map)))
        st = ctx->status;
done:
    krein__stream_close(job->rows);
    job->rows = NULL;
    return st;
}

krein_status krein_pca(krein_ctx *ctx, krein_data *data, const krein_pca_options *options,
                       const char *path, krein_pca_report *report, krein_model **model) {
    krein_status st = KREIN_OK;
    krein_pca_options o;
    krein_pca_report own = {0}, *r = report ? report : &own;
    krein_kernel *kernel = NULL;
    krein_model *m = NULL;
    double start = krein__clock();
    memset(r, 0, sizeof *r);
    if (model) *model = NULL;
    TRY(copy_options(ctx, options, &o));
    TRY(krein__kernel_parse(ctx, o.kernel ? o.kernel : "gaussian", &kernel));
    TRY(check_map(ctx, &o, kernel));
    ZNEW(m, 1);
    m->ctx = ctx;
    m->lambda = NAN;
    krein_job job = {.ctx = ctx, .data = data, .model = m, .seed = o.seed, .loo = NAN};
    TRY(fit(&job, &o, kernel, r));
    if (path) TRY(write_scores(m, data, path));
    TRY(fill_report(m, r));
    r->seconds = krein__clock() - start;
    if (model) {
        *model = m;
        m = NULL;
    }
done:
    krein_model_destroy(m);
    krein__kernel_destroy(ctx, kernel);
    if (st != KREIN_OK || !report) krein_pca_report_clear(ctx, r);
    return st;
}
