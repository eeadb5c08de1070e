/* report.c -- the public entry point that reports on a model. */
#include "report/report.h"

#include "base/limits.h"
#include "base/sized.h"
#include "encode/finish.h"

#include <math.h>
#include <string.h>

void krein_page_options_init_sized(krein_page_options *given, size_t size) {
    krein_page_options own = KREIN_SIZED(krein_page_options), *o = &own;
    o->rows = 2000;
    o->seed = 1;
    krein__options_give(given, size, o);
}

void krein_page_clear(krein_ctx *ctx, krein_page *page) {
    krein_page p = KREIN_SIZED(krein_page);
    if (!page) return;
    krein__report_take(&p, page);
    krein__free(ctx, p.html);
    krein__free(ctx, p.json);
}

void krein__report_clear(krein_ctx *ctx, krein_report_numbers *n) {
    for (int64_t j = 0; n->input && j < n->ninputs; j++) krein__free(ctx, n->input[j].name);
    for (int64_t i = 0; i < n->ndependence; i++) {
        krein__free(ctx, n->dependence[i].y);
        for (int64_t s = 0; s < KREIN_REPORT_STEPS; s++)
            krein__free(ctx, n->dependence[i].label[s]);
    }
    for (int64_t i = 0; i < n->nodd; i++) {
        krein__free(ctx, n->odd[i].truth);
        krein__free(ctx, n->odd[i].predicted);
        krein__free(ctx, n->odd[i].id);
    }
    for (int64_t i = 0; i < n->ncurve; i++) krein__free(ctx, n->learning[i].failed);
    for (int64_t c = 0; n->plane_names && c < n->nclusters; c++)
        krein__free(ctx, n->plane_names[c]);
    void *all[] = {n->data,        n->train,        n->output,     n->curve,
                   n->input,       n->order,        n->eigen,      n->plane,
                   n->plane_names, n->cluster_size, n->silhouette, n->spectrum_not};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
    krein_metrics_clear(ctx, &n->metrics);
}

/* ---- the work ----------------------------------------------------------- */

static krein_status check(krein_reporting *r, const krein_page_options *o) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__model_need_head(ctx, r->model, "report on"));
    TRY(krein__limit_check(ctx, "rows", (double)o->rows));
    if (o->curve && !o->train)
        return krein__fail(ctx, KREIN_EARG,
                           "a learning curve needs the training rows: give `train` with `curve`");
    if (!r->out->labelled && (o->train || o->curve))
        return krein__fail(ctx, KREIN_EARG,
                           "a model made by %s predicts no label: `train` and `curve` are for "
                           "models that do",
                           r->model->learner);
    if (o->train && o->train == r->data)
        return krein__fail(ctx, KREIN_EARG,
                           "`train` and the data of the report must be opened each for itself");
done:
    return st;
}

static krein_status run(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    DUP(out->data, r->data->name);
    if (r->train) DUP(out->train, r->train->name);
    if (r->train) TRY(krein__data_match(r->train, &r->model->encoding, true));
    TRY(krein__report_rows(r));
    TRY(krein__report_inputs(r));
    if (out->labelled) {
        TRY(krein__report_quality(r));
        TRY(krein__report_residuals(r));
        TRY(krein__report_curves(r));
        TRY(krein__report_coverage(r));
        TRY(krein__report_importance(r));
        TRY(krein__report_dependence(r));
        TRY(krein__report_odd(r));
    }
    TRY(krein__report_clusters(r));
    TRY(krein__report_spectrum(r));
    TRY(krein__report_learning(r)); /* the last: it matches the data to other models */
done:
    return st;
}

/* Text of a buffer, for the caller. */
static krein_status give(krein_buffer *b, char **text, int64_t *bytes) {
    if (b->status != KREIN_OK) return b->status;
    *text = b->text;
    *bytes = (int64_t)b->size;
    *b = (krein_buffer){0};
    return KREIN_OK;
}

krein_status krein_model_report(krein_ctx *ctx, const krein_model *model, krein_data *data,
                                const krein_page_options *options, krein_page *page) {
    krein_status st = KREIN_OK;
    krein_page own = KREIN_SIZED(krein_page);
    krein_page_options o;
    krein_report_numbers *n = NULL;
    krein_reporting r = {.ctx = ctx, .model = model, .data = data};
    krein_buffer html = {.ctx = ctx}, json = {.ctx = ctx};
    const double start = krein__clock();
    krein_page_options_init(&o);
    TRY(krein__report_check(ctx, page, "krein_page"));
    TRY(krein__options_copy(ctx, options, &o, "krein_page_options"));
    ZNEW(n, 1);
    n->metrics = KREIN_SIZED(krein_metrics);
    n->model = model;
    n->labelled = model->encoding.task != KREIN_TASK_AUTO && !model->clusters;
    n->dimension = n->approximation = n->silhouette_mean = n->ari = n->nmi = NAN;
    r.out = n;
    r.train = o.train;
    r.seed = o.seed;
    r.rows = o.rows;
    r.curve = o.curve != 0;
    r.base = krein__encoding_unfinished(&model->encoding);
    TRY(check(&r, &o));
    TRY(run(&r));
    n->seconds = krein__clock() - start;
    TRY(krein__report_page(n, o.title ? o.title : n->data, &html));
    TRY(krein__report_json(n, &json));
    TRY(give(&html, &own.html, &own.html_bytes));
    TRY(give(&json, &own.json, &own.json_bytes));
    own.seconds = n->seconds;
done:
    krein__buffer_end(&html);
    krein__buffer_end(&json);
    krein__report_rows_clear(&r);
    if (n) krein__report_clear(ctx, n);
    krein__free(ctx, n);
    krein__report_finish(st, page, &own);
    krein_page_clear(ctx, &own);
    return st;
}
