/* pca.c -- the public entry point for kernel principal components: data, kernel, map, components,
 * the scores of the rows. */
#include "base/text.h"
#include "file/writer.h"
#include "learn/kpca.h"
#include "pipe/pipe.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_pca_options_init_sized(krein_pca_options *given, size_t size) {
    krein_pca_options own = KREIN_SIZED(krein_pca_options), *o = &own;
    o->components = 2;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

void krein_pca_report_clear(krein_ctx *ctx, krein_pca_report *report) {
    krein_pca_report r = KREIN_SIZED(krein_pca_report);
    if (!report) return;
    krein__report_take(&r, report);
    krein__free(ctx, r.variance);
    krein__free(ctx, r.ratio);
    krein__free(ctx, r.kernel);
    krein__free(ctx, r.map);
}

/* ---- the map ------------------------------------------------------------ */

static int64_t features(const krein_pipe *p) {
    const krein_pca_options *o = p->purpose.user;
    int64_t D = krein__max(KREIN_FEATURES, 4 * o->components);
    return krein__max(2, krein__min(D, p->rows));
}

static void cost(const krein_pipe *p, krein_need *out) {
    const krein_pca_options *o = p->purpose.user;
    const krein_map *map = p->job.model->map;
    krein_cost of_map = {0};
    map->cls->cost(map, p->rows, &of_map);
    double rows = (double)krein__block_rows(map->d), d = (double)map->d;
    out->bytes = of_map.bytes + krein__kpca_bytes(map, p->rows, o->components) +
                 4 * rows * (d + 16) +
                 8 * (double)map->cls->features(map, p->rows) * (double)o->components;
}

static krein_status begin(krein_ctx *ctx, const krein_pca_options *given, krein_pca_options *o,
                          krein_pipe *p) {
    krein_status st = KREIN_OK;
    krein_pca_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_pca_options"));
    TRY(krein__limit_check(ctx, "components", (double)o->components));
    krein_pipe_options asked = {.kernel = o->kernel,
                                .map = o->map,
                                .features = o->features,
                                .seed = o->seed,
                                .max_exact = o->max_exact};
    krein_purpose purpose = {.what = "the decomposition",
                             .blind = "components",
                             .matrix = KREIN_MATRIX_FEW,
                             .user = o,
                             .features = features,
                             .cost = cost};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, p));
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
    krein_predictor predictor = {0};
    krein_block b;
    double *score = NULL;
    char *text = NULL;
    int64_t k = m->k;
    bool npy = ends_with(path, ".npy");
    TRY(krein__stream_open(data, &m->encoding, -1, &rows));
    TRY(krein__predictor_begin(ctx, m, &predictor));
    NEW(score, krein__block_rows(m->encoding.d) * k);
    NEW(text, (k + 1) * CELL);
    TRY(krein__writer_open(ctx, path, &w));
    TRY(npy ? krein__npy_header(w, "<f8", data->nrows, k) : put_header(w, data, k));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        krein__predictor_run(&predictor, &b.x, score);
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
    krein__predictor_end(&predictor);
    krein__free(ctx, score);
    krein__free(ctx, text);
    return st;
}

/* ---- the pipe ----------------------------------------------------------- */

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

static krein_status fit(krein_pipe *p, krein_data *data, const krein_pca_options *o,
                        krein_pca_report *r) {
    krein_status st = KREIN_OK;
    TRY(krein__pipe_meet(p, data, KREIN_LABELS_IGNORED));
    krein__pipe_name_labels(p);
    TRY(krein__pipe_median(p));
    TRY(krein__pipe_map(p, NULL));
    TRY(krein__pipe_fit(p));
    TRY(krein__kpca(&p->job, o->components, &r->negative_mass));
done:
    krein__stream_close(p->job.rows);
    p->job.rows = NULL;
    return st;
}

krein_status krein_pca(krein_ctx *ctx, krein_data *data, const krein_pca_options *options,
                       const char *path, krein_pca_report *report, krein_model **model) {
    krein_status st = KREIN_OK;
    krein_pca_options o;
    krein_pca_report own = KREIN_SIZED(krein_pca_report), *r = &own;
    krein_pipe p = {0};
    double start = krein__clock();
    if (model) *model = NULL;
    TRY(krein__report_check(ctx, report, "krein_pca_report"));
    TRY(begin(ctx, options, &o, &p));
    TRY(fit(&p, data, &o, r));
    if (path) TRY(write_scores(p.job.model, data, path));
    TRY(fill_report(p.job.model, r));
    r->seconds = krein__clock() - start;
    if (model) *model = krein__pipe_take_model(&p);
done:
    krein__pipe_end(&p);
    krein__report_finish(st, report, r);
    krein_pca_report_clear(ctx, r);
    return st;
}
