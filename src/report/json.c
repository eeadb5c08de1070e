/* json.c -- all numbers of a report as one JSON object. NaN is null. */
#include "report/report.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* A comma, unless something begins here. */
static void separate(krein_buffer *b) {
    char last = b->size > 0 ? b->text[b->size - 1] : '{';
    if (last != '{' && last != '[' && last != ':') krein__buffer_put(b, ",");
}

static void open_at(krein_buffer *b, char bracket) {
    separate(b);
    krein__buffer_put_bytes(b, &bracket, 1);
}

static void close_at(krein_buffer *b, char bracket) { krein__buffer_put_bytes(b, &bracket, 1); }

static void key(krein_buffer *b, const char *name) {
    separate(b);
    krein__buffer_add(b, "\"%s\":", name);
}

static void number(krein_buffer *b, double x) {
    separate(b);
    if (isfinite(x))
        krein__buffer_add(b, "%.10g", x);
    else
        krein__buffer_put(b, "null");
}

static void whole(krein_buffer *b, int64_t n) {
    separate(b);
    krein__buffer_add(b, "%lld", (long long)n);
}

/* Names are the user's bytes: what is not UTF-8 is taken as Latin-1. */
static void text(krein_buffer *b, const char *s) {
    separate(b);
    if (!s) {
        krein__buffer_put(b, "null");
        return;
    }
    krein__buffer_put(b, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        int n = krein__utf8((const char *)p);
        if (n == 0 || *p < ' ')
            krein__buffer_add(b, "\\u%04x", (unsigned)*p);
        else if (*p == '"' || *p == '\\')
            krein__buffer_add(b, "\\%c", *p);
        else
            krein__buffer_put_bytes(b, (const char *)p, (size_t)n);
        p += n > 0 ? n : 1;
    }
    krein__buffer_put(b, "\"");
}

static void key_number(krein_buffer *b, const char *name, double x) {
    key(b, name);
    number(b, x);
}

static void key_whole(krein_buffer *b, const char *name, int64_t n) {
    key(b, name);
    whole(b, n);
}

static void key_text(krein_buffer *b, const char *name, const char *s) {
    key(b, name);
    text(b, s);
}

static void key_numbers(krein_buffer *b, const char *name, int64_t n, const double *x) {
    key(b, name);
    open_at(b, '[');
    for (int64_t i = 0; i < n; i++) number(b, x[i]);
    close_at(b, ']');
}

static void key_counts(krein_buffer *b, const char *name, int64_t n, const int64_t *x) {
    key(b, name);
    open_at(b, '[');
    for (int64_t i = 0; i < n; i++) whole(b, x[i]);
    close_at(b, ']');
}

static void begin(krein_buffer *b, const char *name, char bracket) {
    key(b, name);
    open_at(b, bracket);
}

const char *const krein__metric_names[] = {"none", "diagonal", "full"};

/* ---- the model ---------------------------------------------------------- */

static void put_model(krein_buffer *b, const krein_report_numbers *n) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_model_describe(n->model, &info);
    begin(b, "model", '{');
    key_text(b, "learner", info.learner);
    key_text(b, "kernel", info.kernel);
    key_text(b, "map", info.map);
    key_text(b, "metric", krein__metric_names[info.metric]);
    key_number(b, "lambda", info.lambda);
    key_whole(b, "n", info.n);
    key_whole(b, "inputs", info.inputs);
    key_whole(b, "d", info.d);
    key_whole(b, "D", info.D);
    begin(b, "weights", '[');
    for (int64_t i = 0; i < info.kernels; i++) {
        open_at(b, '{');
        key_text(b, "kernel", info.weights[i].kernel);
        key_number(b, "weight", info.weights[i].weight);
        close_at(b, '}');
    }
    close_at(b, ']');
    close_at(b, '}');
}

/* What was compared before the model was trained. */
static void put_tried(krein_buffer *b, const krein_report_numbers *n) {
    const krein_held_out *path = &n->model->path;
    const krein_tried *c;
    const krein_searched *s;
    begin(b, "candidates", '[');
    for (int64_t i = 0; (c = krein_model_tried(n->model, i)); i++) {
        open_at(b, '{');
        key_text(b, "kernel", c->kernel);
        key_text(b, "map", c->map);
        key_text(b, "learner", c->learner);
        key_text(b, "metric", krein__metric_names[c->metric]);
        key_whole(b, "rows", c->rows);
        key_number(b, "error", c->error);
        close_at(b, '}');
    }
    close_at(b, ']');
    begin(b, "searched", '[');
    for (int64_t i = 0; (s = krein_model_searched(n->model, i)); i++) {
        open_at(b, '{');
        key_text(b, "kernel", s->kernel);
        key_text(b, "parameter", s->parameter);
        key_number(b, "value", s->value);
        key_text(b, "criterion", s->criterion);
        key_number(b, "score", s->score);
        close_at(b, '}');
    }
    close_at(b, ']');
    begin(b, "path", '[');
    for (int64_t i = 0; i < path->n; i++) {
        open_at(b, '{');
        key_number(b, "lambda", path->lambda[i]);
        key_number(b, "error", path->error[i]);
        close_at(b, '}');
    }
    close_at(b, ']');
}

/* ---- how good ----------------------------------------------------------- */

static void put_measures(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "metrics", '{');
    for (int64_t i = 0; i < n->nmeasures; i++) {
        const krein_measured *m = &n->measure[i];
        begin(b, m->key, '{');
        key_number(b, "value", m->model.value);
        key_number(b, "low", m->model.low);
        key_number(b, "high", m->model.high);
        key_number(b, "constant", m->constant);
        key_number(b, "linear", m->linear);
        close_at(b, '}');
    }
    close_at(b, '}');
    key_text(b, "linear", n->linear_word);
    begin(b, "coverage", '[');
    for (int64_t i = 0; i < n->ncoverage; i++) {
        open_at(b, '{');
        key_number(b, "asked", n->coverage_asked[i]);
        key_number(b, "found", n->coverage_found[i]);
        key_number(b, "width", n->coverage_width[i]);
        close_at(b, '}');
    }
    close_at(b, ']');
}

static void put_output(krein_buffer *b, const krein_output_numbers *o) {
    open_at(b, '{');
    key_number(b, "rmse", o->rmse);
    key_number(b, "mae", o->mae);
    key_number(b, "r2", o->r2);
    begin(b, "density", '{');
    key_number(b, "low", o->low);
    key_number(b, "high", o->high);
    key_whole(b, "bins", KREIN_REPORT_GRID);
    key_counts(b, "counts", (int64_t)KREIN_REPORT_GRID * KREIN_REPORT_GRID, o->grid);
    close_at(b, '}');
    begin(b, "residuals", '{');
    key_number(b, "mean", o->residual_mean);
    key_number(b, "sd", o->residual_sd);
    key_number(b, "low", o->residuals.low);
    key_number(b, "high", o->residuals.high);
    key_counts(b, "counts", o->residuals.bins, o->residuals.count);
    key_whole(b, "beyond", o->beyond);
    close_at(b, '}');
    begin(b, "deciles", '[');
    for (int t = 0; t < 10; t++) {
        open_at(b, '{');
        key_number(b, "low", o->decile_low[t]);
        key_number(b, "high", o->decile_high[t]);
        key_whole(b, "n", o->decile_n[t]);
        key_number(b, "rmse", o->decile_rmse[t]);
        key_number(b, "bias", o->decile_bias[t]);
        close_at(b, '}');
    }
    close_at(b, ']');
    close_at(b, '}');
}

static void put_classes(krein_buffer *b, const krein_report_numbers *n) {
    const krein_metrics *m = &n->metrics;
    begin(b, "classes", '[');
    for (int64_t c = 0; c < m->classes; c++) text(b, m->class_names[c]);
    close_at(b, ']');
    if (m->confusion) {
        begin(b, "confusion", '[');
        for (int64_t c = 0; c < m->classes; c++) {
            open_at(b, '[');
            for (int64_t o = 0; o < m->classes; o++) whole(b, m->confusion[c * m->classes + o]);
            close_at(b, ']');
        }
        close_at(b, ']');
    }
    begin(b, "curves", '[');
    for (int64_t i = 0; i < n->ncurves; i++) {
        const krein_class_curve *c = &n->curve[i];
        open_at(b, '{');
        key_text(b, "class", m->class_names[c->class]);
        key_whole(b, "rows", c->positives);
        key_number(b, "roc_area", c->roc_area);
        key_number(b, "average_precision", c->pr_area);
        key_numbers(b, "fpr", c->nroc, c->fpr);
        key_numbers(b, "tpr", c->nroc, c->tpr);
        key_numbers(b, "recall", c->npr, c->recall);
        key_numbers(b, "precision", c->npr, c->precision);
        close_at(b, '}');
    }
    close_at(b, ']');
    if (!n->calibrated) return;
    begin(b, "calibration", '{');
    key_number(b, "error", n->calibration.error);
    key_counts(b, "counts", 10, n->calibration.count);
    key_numbers(b, "predicted", 10, n->calibration.predicted);
    key_numbers(b, "observed", 10, n->calibration.observed);
    close_at(b, '}');
}

/* ---- why, what is odd --------------------------------------------------- */

static void put_inputs(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "inputs", '[');
    for (int64_t j = 0; j < n->ninputs; j++) {
        const krein_input_numbers *in = &n->input[j];
        open_at(b, '{');
        key_text(b, "name", in->name);
        key_number(b, "importance", in->importance);
        key_number(b, "spread", in->spread);
        key_number(b, "slope", in->slope);
        key_number(b, "gradient", in->gradient);
        if (in->outside >= 0) {
            key_whole(b, "outside", in->outside);
            key_numbers(b, "trained", 2, (double[]){in->trained_low, in->trained_high});
            key_numbers(b, "range", 2, (double[]){in->low, in->high});
        }
        close_at(b, '}');
    }
    close_at(b, ']');
    key_whole(b, "permuted_rows", n->permuted_rows);
    begin(b, "dependence", '[');
    for (int64_t i = 0; i < n->ndependence; i++) {
        const krein_dependence *d = &n->dependence[i];
        open_at(b, '{');
        key_text(b, "input", n->input[d->input].name);
        if (n->input[d->input].category) {
            begin(b, "labels", '[');
            for (int64_t s = 0; s < d->steps; s++) text(b, d->label[s]);
            close_at(b, ']');
            key_counts(b, "counts", d->steps, d->count);
        } else {
            key_numbers(b, "x", d->steps, d->x);
            key_numbers(b, "range", 2, (double[]){d->low, d->high});
            key_counts(b, "counts", KREIN_REPORT_BINS, d->density);
        }
        begin(b, "y", '[');
        for (int64_t l = 0; l < n->lines; l++) {
            open_at(b, '[');
            for (int64_t s = 0; s < d->steps; s++) number(b, d->y[l * KREIN_REPORT_STEPS + s]);
            close_at(b, ']');
        }
        close_at(b, ']');
        close_at(b, '}');
    }
    close_at(b, ']');
}

static void put_odd(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "odd", '{');
    begin(b, "rows", '[');
    for (int64_t i = 0; i < n->nodd; i++) {
        open_at(b, '{');
        key_whole(b, "row", n->odd[i].row);
        if (n->odd[i].id) key_text(b, "id", n->odd[i].id);
        key_text(b, "truth", n->odd[i].truth);
        key_text(b, "predicted", n->odd[i].predicted);
        key_number(b, "error", n->odd[i].error);
        close_at(b, '}');
    }
    close_at(b, ']');
    if (n->ranges) key_whole(b, "outside_rows", n->outside_rows);
    if (n->compared) {
        key_whole(b, "train_rows", n->train_rows);
        key_whole(b, "duplicates", n->duplicates);
        key_whole(b, "same_label", n->same_label);
    }
    close_at(b, '}');
}

/* ---- kernel, curve, clusters -------------------------------------------- */

static void put_spectrum(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "spectrum", '{');
    key_whole(b, "rows", n->spectrum_rows);
    key_numbers(b, "eigenvalues", n->neigen, n->eigen);
    key_number(b, "dimension", n->dimension);
    key_numbers(b, "lambda", n->ndimension, n->dimension_lambda);
    key_numbers(b, "dimensions", n->ndimension, n->dimension_at);
    key_number(b, "approximation", n->approximation);
    if (n->spectrum_not) key_text(b, "refused", n->spectrum_not);
    close_at(b, '}');
}

static void put_curve(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "curve", '[');
    for (int64_t i = 0; i < n->ncurve; i++) {
        open_at(b, '{');
        key_whole(b, "n", n->learning[i].n);
        key_number(b, "error", n->learning[i].error);
        if (n->learning[i].failed) key_text(b, "failed", n->learning[i].failed);
        close_at(b, '}');
    }
    close_at(b, ']');
}

static void put_clusters(krein_buffer *b, const krein_report_numbers *n) {
    begin(b, "plane", '{');
    key_numbers(b, "share", 2, n->plane_share);
    begin(b, "names", '[');
    for (int64_t c = 0; n->plane_names && c < n->nclusters; c++) text(b, n->plane_names[c]);
    close_at(b, ']');
    begin(b, "points", '[');
    for (int64_t i = 0; i < n->nplane; i++) {
        open_at(b, '[');
        number(b, n->plane[i].x);
        number(b, n->plane[i].y);
        whole(b, n->plane[i].class);
        close_at(b, ']');
    }
    close_at(b, ']');
    close_at(b, '}');
    if (!n->cluster_size) return;
    begin(b, "clusters", '{');
    key_counts(b, "sizes", n->nclusters, n->cluster_size);
    key_numbers(b, "silhouettes", n->nclusters, n->silhouette);
    key_number(b, "silhouette", n->silhouette_mean);
    key_whole(b, "silhouette_rows", n->silhouette_rows);
    key_number(b, "ari", n->ari);
    key_number(b, "nmi", n->nmi);
    close_at(b, '}');
}

krein_status krein__report_json(const krein_report_numbers *n, krein_buffer *b) {
    static const char *const tasks[] = {"none", "regression", "classification", "multilabel"};
    open_at(b, '{');
    key_text(b, "task", tasks[n->labelled ? n->model->encoding.task : 0]);
    key_text(b, "data", n->data);
    key_text(b, "train", n->train);
    key_whole(b, "n", n->n);
    key_whole(b, "kept", n->kept);
    key_whole(b, "sampled", n->sampled);
    put_model(b, n);
    put_tried(b, n);
    if (n->labelled) {
        put_measures(b, n);
        begin(b, "outputs", '[');
        for (int64_t c = 0; c < n->noutputs; c++) put_output(b, &n->output[c]);
        close_at(b, ']');
        if (n->metrics.classes > 0) put_classes(b, n);
        put_inputs(b, n);
        put_odd(b, n);
        put_curve(b, n);
    }
    put_spectrum(b, n);
    if (n->nplane > 0) put_clusters(b, n);
    key_number(b, "seconds", n->seconds);
    close_at(b, '}');
    return b->status;
}
