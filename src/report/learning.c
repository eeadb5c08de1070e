/* learning.c -- the learning curve: the model trained again as it was, on nested parts of the
 * training rows, each evaluated on the rows of the report. Kernel, map, metric and learner stay;
 * lambda is chosen anew. A part that cannot be trained (a map with more landmarks than rows) is
 * told. */
#include "report/report.h"

#include <math.h>
#include <string.h>

enum { LEAST = 16 };

/* The kernels of a combination as a list. */
static krein_status kernel_list(const krein_reporting *r, krein_buffer *b) {
    const krein_model *m = r->model;
    for (int64_t i = 0; i < m->kernels; i++)
        krein__buffer_add(b, "%s%s", i ? "; " : "", m->weights[i].kernel);
    return b->status;
}

static krein_status train(krein_reporting *r, double part, krein_curve_point *to) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = r->model;
    krein_train_options o;
    krein_report report = KREIN_SIZED(krein_report);
    krein_metrics found = KREIN_SIZED(krein_metrics);
    krein_model *model = NULL;
    krein_buffer kernels = {.ctx = ctx};
    krein_train_options_init(&o);
    o.learner = m->learner;
    o.map = m->map_text;
    o.seed = r->seed;
    o.holdout = 1 - part;
    if (m->kernels > 0) {
        TRY(kernel_list(r, &kernels));
        o.kernels = kernels.text;
    } else {
        o.kernel = m->kernel_text;
        o.metric_from = m;
    }
    r->train->nested = true;
    st = krein_train(ctx, r->train, &o, &report, &model);
    r->train->nested = false;
    if (st == KREIN_OK) st = krein_evaluate(ctx, model, r->data, &found);
    if (st == KREIN_ESPEC || st == KREIN_EDATA || st == KREIN_EARG || st == KREIN_ENUMERIC ||
        st == KREIN_EMEMORY) {
        DUP(to->failed, krein_message(ctx));
        st = KREIN_OK;
        goto done;
    }
    if (st != KREIN_OK) goto done;
    to->n = report.n;
    to->error = m->encoding.task == KREIN_TASK_REGRESSION   ? found.rmse
                : m->encoding.task == KREIN_TASK_MULTILABEL ? found.hamming_loss
                                                            : found.error;
done:
    krein__buffer_end(&kernels);
    krein_model_destroy(model);
    krein_metrics_clear(ctx, &found);
    krein_report_clear(ctx, &report);
    return st;
}

krein_status krein__report_learning(krein_reporting *r) {
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    if (!r->curve) return st;
    int64_t n = out->train_rows;
    for (int64_t i = 0; i < KREIN_REPORT_CURVE; i++) {
        double part = ldexp(1, (int)(i + 1 - KREIN_REPORT_CURVE));
        if (part * (double)n < LEAST) continue;
        krein_curve_point *to = &out->learning[out->ncurve++];
        to->n = (int64_t)rint(part * (double)n);
        to->error = NAN;
        TRY(train(r, part, to));
    }
done:
    return st;
}
