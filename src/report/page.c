/* page.c -- the page: head, summary, what the model is, and the sections. One HTML file without any
 * request: style and script are inside, and its policy allows no other. */
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_head(krein_buffer *f, const char *title) {
    krein__buffer_put(
        f, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>");
    krein__svg_text(f, title);
    krein__buffer_put(f, "</title>\n<style>\n");
    krein__buffer_put(f, krein__page_style);
    krein__buffer_put(f, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
                         "report</a>\n");
}

/* ---- summary ------------------------------------------------------------- */

static const char *task_word(const krein_report_numbers *n) {
    if (n->model->clusters) return "Clustering";
    if (n->model->variance) return "Principal components";
    switch (n->model->encoding.task) {
    case KREIN_TASK_REGRESSION:
        return "Regression";
    case KREIN_TASK_CLASSIFICATION:
        return "Classification";
    case KREIN_TASK_MULTILABEL:
        return "Several labels a row";
    default:
        return "Model";
    }
}

static void put_lead(krein_buffer *f, const krein_report_numbers *n) {
    const krein_measured *m = &n->measure[0];
    char a[40], b[40], c[40], d[40], e[40];
    if (n->labelled && n->nmeasures > 0) {
        char interval[100] = "", linear[60] = "";
        if (isfinite(m->model.low))
            snprintf(interval, sizeof interval, " (95\xe2\x80\xaf%% interval %s to %s)",
                     krein__page_measured(m, m->model.low, c),
                     krein__page_measured(m, m->model.high, d));
        if (isfinite(m->linear))
            snprintf(linear, sizeof linear, ", a linear model %s",
                     krein__page_measured(m, m->linear, c));
        krein__page_paragraph(
            f, "lead", "On %s rows its %s is %s%s. A constant prediction would have %s%s.",
            krein__page_count(n->n, a),
            n->model->encoding.task == KREIN_TASK_REGRESSION   ? "root mean square error"
            : n->model->encoding.task == KREIN_TASK_MULTILABEL ? "share of wrong labels"
                                                               : "share of errors",
            krein__page_measured(m, m->model.value, b), interval,
            krein__page_measured(m, m->constant, e), linear);
    } else {
        if (n->cluster_size)
            krein__page_paragraph(f, "lead",
                                  "It puts %s rows into %s clusters, with a mean silhouette of %s.",
                                  krein__page_count(n->n, a), krein__page_count(n->nclusters, b),
                                  krein__page_number(n->silhouette_mean, c));
        else
            krein__page_paragraph(f, "lead", "Its first two components have %s of the variance.",
                                  krein__page_share(n->plane_share[0] + n->plane_share[1], a));
    }
}

static void put_key(krein_buffer *f, const char *name, const char *value, const char *more) {
    krein__buffer_put(f, "<div><dt>");
    krein__svg_text(f, name);
    krein__buffer_put(f, "</dt><dd>");
    krein__svg_text(f, value);
    if (more && *more) {
        krein__buffer_put(f, "<small>");
        krein__svg_text(f, more);
        krein__buffer_put(f, "</small>");
    }
    krein__buffer_put(f, "</dd></div>\n");
}

static void put_keys(krein_buffer *f, const krein_report_numbers *n) {
    char a[40], b[40], c[40], more[120];
    krein__buffer_put(f, "<dl class=\"keys\">\n");
    for (int64_t i = 0; i < n->nmeasures && i < 4; i++) {
        const krein_measured *m = &n->measure[i];
        more[0] = 0;
        if (isnan(m->model.value)) continue;
        if (isfinite(m->model.low))
            snprintf(more, sizeof more, "%s to %s", krein__page_measured(m, m->model.low, b),
                     krein__page_measured(m, m->model.high, c));
        put_key(f, m->title, krein__page_measured(m, m->model.value, a), more);
    }
    if (n->model->clusters) {
        put_key(f, "Clusters", krein__page_count(n->nclusters, a), "");
        put_key(f, "Mean silhouette", krein__page_number(n->silhouette_mean, a), "");
    }
    if (n->model->variance)
        put_key(f, "Variance of two components",
                krein__page_share(n->plane_share[0] + n->plane_share[1], a), "");
    snprintf(more, sizeof more, "trained on %s", krein__page_count(n->model->n, b));
    put_key(f, "Rows", krein__page_count(n->n, a), more);
    krein__buffer_put(f, "</dl>\n");
}

static void put_nav(krein_buffer *f, const krein_report_numbers *n, bool alternatives) {
    const struct {
        const char *id, *title;
        bool there;
    } all[] = {{"model", "The model", true},
               {"alternatives", "What else was tried", alternatives},
               {"quality", "How good it is", n->labelled},
               {"learning", "Would more rows help", n->ncurve > 0},
               {"why", "Which inputs matter", n->labelled},
               {"odd", "What is odd", n->labelled},
               {"plane", n->cluster_size ? "The clusters" : "The components", n->nplane > 0},
               {"kernel", "The kernel", true}};
    krein__buffer_put(f, "<nav aria-label=\"Sections\"><ul>\n");
    for (int64_t i = 0; i < KREIN__COUNT(all); i++)
        if (all[i].there)
            krein__buffer_add(f, "<li><a href=\"#%s\">%s</a></li>\n", all[i].id, all[i].title);
    krein__buffer_put(f, "</ul></nav>\n");
}

/* ---- the model ----------------------------------------------------------- */

static void fact(krein_buffer *f, const char *name, const char *text, bool spec) {
    krein__buffer_add(f, "<dt>%s</dt><dd>%s", name, spec ? "<code>" : "");
    krein__svg_text(f, text);
    krein__buffer_put(f, spec ? "</code></dd>\n" : "</dd>\n");
}

static void put_model(krein_buffer *f, const krein_report_numbers *n) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    char text[200], a[40], b[40];
    const char *note;
    krein_model_describe(n->model, &info);
    krein__section_begin(f, "model", "The model");
    krein__buffer_put(f, "<dl class=\"facts\">\n");
    fact(f, "Learner", info.learner, true);
    if (info.kernels > 0) {
        snprintf(text, sizeof text, "a sum of %lld kernels, see their weights below",
                 (long long)info.kernels);
        fact(f, "Kernel", text, false);
    } else {
        fact(f, "Kernel", info.kernel, true);
    }
    fact(f, "Map", info.map, true);
    if (info.metric != KREIN_METRIC_NONE)
        fact(f, "Metric",
             info.metric == KREIN_METRIC_FULL ? "a matrix, learned"
                                              : "a factor for each input, learned",
             false);
    if (isfinite(info.lambda)) fact(f, "Lambda", krein__page_number(info.lambda, a), false);
    snprintf(text, sizeof text, "%s inputs, %s after encoding, scale %s",
             krein__page_count(info.inputs > 0 ? info.inputs : info.d, a),
             krein__page_count(info.d, b), info.scale);
    fact(f, "Columns", text, false);
    snprintf(text, sizeof text, "%s, trained on %s rows", krein__page_count(info.D, a),
             krein__page_count(info.n, b));
    fact(f, "Features", text, false);
    if (info.classes > 0 && !n->model->clusters)
        fact(f, n->model->encoding.task == KREIN_TASK_MULTILABEL ? "Labels" : "Classes",
             krein__page_count(info.classes, a), false);
    if (info.bytes > 0) fact(f, "Size", krein__bytes_text((double)info.bytes, a), false);
    krein__buffer_put(f, "</dl>\n");
    if ((note = krein_model_note(n->model, 0))) {
        krein__buffer_put(f,
                          "<details><summary>What was decided about the columns</summary><ul>\n");
        for (int64_t i = 0; (note = krein_model_note(n->model, i)) && i < 200; i++) {
            krein__buffer_put(f, "<li>");
            krein__svg_text(f, note);
            krein__buffer_put(f, "</li>\n");
        }
        krein__buffer_put(f, "</ul></details>\n");
    }
    krein__section_end(f);
}

static void put_foot(krein_buffer *f, const krein_report_numbers *n) {
    char a[40];
    krein__buffer_put(f, "</main>\n<footer>\n<p>Made by Krein " KREIN_VERSION_STRING " from ");
    krein__svg_text(f, n->data);
    if (n->train) {
        krein__buffer_put(f, " and ");
        krein__svg_text(f, n->train);
    }
    krein__buffer_add(f,
                      ". Inputs and kernel were looked at on %s sampled rows.<span "
                      "class=\"screen\"> Point at a mark for its numbers, or step through the "
                      "marks of a figure with the arrow keys.</span></p>\n</footer>\n<script>\n",
                      krein__page_count(n->sampled, a));
    krein__buffer_put(f, krein__page_script);
    krein__buffer_put(f, "</script>\n</body>\n</html>\n");
}

krein_status krein__report_page(const krein_report_numbers *n, const char *title, krein_buffer *f) {
    krein_status st = KREIN_OK;
    krein_buffer alternatives = {.ctx = f->ctx};
    TRY(krein__page_alternatives(n, &alternatives));
    put_head(f, title);
    krein__buffer_add(f, "<header>\n<p class=\"kicker\">%s report</p>\n<h1>", task_word(n));
    krein__svg_text(f, title);
    krein__buffer_put(f, "</h1>\n");
    put_lead(f, n);
    put_keys(f, n);
    put_nav(f, n, alternatives.size > 0);
    krein__buffer_put(f, "</header>\n<main id=\"main\">\n");
    put_model(f, n);
    if (alternatives.text) krein__buffer_put(f, alternatives.text);
    if (n->labelled) {
        TRY(krein__page_quality(n, f));
        krein__page_learning(n, f);
        TRY(krein__page_why(n, f));
        krein__page_odd(n, f);
    }
    TRY(krein__page_clusters(n, f));
    krein__page_kernel(n, f);
    put_foot(f, n);
    st = alternatives.status != KREIN_OK ? alternatives.status : f->status;
done:
    krein__buffer_end(&alternatives);
    return st;
}
