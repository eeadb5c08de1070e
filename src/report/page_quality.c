/* page_quality.c -- how good the model is: measures, and the figures of numbers and classes. */
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUTS = 4, NUMBERED = 12, DRAWN = 60, LISTED = 30, WORST = 15, CELLS = 500 };

/* ---- measures ------------------------------------------------------------ */

static void put_measures(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Measure", "This model", "Constant", "Linear", NULL};
    char a[40], b[40], c[40];
    krein__table_begin(f, "With 95 % intervals by the bootstrap over rows", columns);
    for (int64_t i = 0; i < n->nmeasures; i++) {
        const krein_measured *m = &n->measure[i];
        if (isnan(m->model.value)) continue;
        krein__table_row_begin(f, m->title);
        krein__buffer_add(f, "<td>%s", krein__page_measured(m, m->model.value, a));
        if (isfinite(m->model.low))
            krein__buffer_add(f, "<small>%s to %s</small>",
                              krein__page_measured(m, m->model.low, b),
                              krein__page_measured(m, m->model.high, c));
        krein__buffer_add(f, "</td><td>%s</td>", krein__page_measured(m, m->constant, a));
        krein__buffer_add(f, "<td>%s</td>", krein__page_measured(m, m->linear, a));
        krein__table_row_end(f);
    }
    krein__table_end(f);
    const krein_task task = n->model->encoding.task;
    krein__page_paragraph(f, "note", "Constant: %s of the %s rows. Linear: %s.",
                          task == KREIN_TASK_REGRESSION       ? "the mean"
                          : task == KREIN_TASK_CLASSIFICATION ? "the largest class"
                                                              : "the labels of more than half",
                          n->train ? "training" : "same", n->linear_word ? n->linear_word : "none");
    if (n->kept < n->n)
        krein__page_paragraph(f, "note",
                              "Measures are of all %s rows; intervals and figures are from %s of "
                              "them, drawn at random.",
                              krein__page_count(n->n, a), krein__page_count(n->kept, b));
}

static void put_coverage(const krein_report_numbers *n, krein_buffer *f) {
    const char *columns[] = {"Intervals that should hold", "Rows that are inside", "Mean width",
                             NULL};
    char a[40];
    if (n->model->encoding.nclass > 0) {
        columns[0] = "Sets that should hold the class";
        columns[1] = "Rows where they do";
        columns[2] = "Mean size";
    }
    if (n->ncoverage == 0) return;
    krein__buffer_put(f, "<h3>How sure it is of itself</h3>\n");
    krein__table_begin(f, "Coverage of intervals on the sampled rows", columns);
    for (int64_t i = 0; i < n->ncoverage; i++) {
        krein__table_row_begin(f, krein__page_share(n->coverage_asked[i], a));
        krein__buffer_add(f, "<td>%s</td>", krein__page_share(n->coverage_found[i], a));
        krein__table_number(f, n->coverage_width[i]);
        krein__table_row_end(f);
    }
    krein__table_end(f);
}

/* ---- numbers ------------------------------------------------------------- */

/* The k-th output by name; there is nothing to say where it is the only one. */
static void output_title(const krein_report_numbers *n, int64_t c, const char *what, char *out,
                         size_t size) {
    if (n->noutputs == 1)
        snprintf(out, size, "%s", what);
    else
        snprintf(out, size, "%s, output %lld", what, (long long)c + 1);
}

static void put_density(const krein_report_numbers *n, int64_t c, krein_buffer *f) {
    static const char *const columns[] = {"True value", "Predicted", "Rows", NULL};
    const krein_output_numbers *o = &n->output[c];
    const krein_chart_range x = {"true value", o->low, o->high, false, false};
    const krein_chart_range y = {"predicted", o->low, o->high, false, false};
    const double step = (o->high - o->low) / KREIN_REPORT_GRID;
    int64_t most = 1;
    char title[80], alt[240], a[40], b[40], d[40];
    krein_chart chart;
    for (int64_t i = 0; i < (int64_t)KREIN_REPORT_GRID * KREIN_REPORT_GRID; i++)
        most = krein__max(most, o->grid[i]);
    output_title(n, c, "Predicted against true values", title, sizeof title);
    snprintf(alt, sizeof alt,
             "%s of %s rows, darker where there are more; on the dashed diagonal both are equal. "
             "R squared is %s.",
             title, krein__page_count(n->kept, a), krein__page_number(o->r2, b));
    krein__figure_begin(f, title);
    krein__chart_begin(&chart, f, alt, 280, KREIN_CHART_LEFT);
    krein__chart_axes(&chart, &x, &y);
    for (int64_t i = 0; i < KREIN_REPORT_GRID; i++)
        for (int64_t j = 0; j < KREIN_REPORT_GRID; j++) {
            const int64_t count = o->grid[i * KREIN_REPORT_GRID + j];
            if (count == 0) continue;
            const double u = o->low + (double)i * step, v = o->low + (double)j * step;
            krein__chart_cell(&chart, 0.18 + 0.82 * sqrt((double)count / (double)most), u, v,
                              u + step, v + step, "true about %s\npredicted about %s\n%s row%s",
                              krein__page_number(u + step / 2, a),
                              krein__page_number(v + step / 2, b), krein__page_count(count, d),
                              count == 1 ? "" : "s");
        }
    krein__chart_rule(&chart, o->low, o->low, o->high, o->high);
    krein__chart_end(&chart);
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < KREIN_REPORT_GRID; i++)
        for (int64_t j = 0; j < KREIN_REPORT_GRID; j++) {
            const int64_t count = o->grid[i * KREIN_REPORT_GRID + j];
            if (count == 0) continue;
            krein__table_row_begin(f, krein__page_number(o->low + ((double)i + 0.5) * step, a));
            krein__table_number(f, o->low + ((double)j + 0.5) * step);
            krein__table_count(f, count);
            krein__table_row_end(f);
        }
    krein__figure_end(f);
}

static void put_residuals(const krein_report_numbers *n, int64_t c, krein_buffer *f) {
    static const char *const columns[] = {"From", "To", "Rows", NULL};
    const krein_output_numbers *o = &n->output[c];
    const krein_histogram *h = &o->residuals;
    const double step = (h->high - h->low) / (double)h->bins;
    int64_t most = 1;
    char title[80], alt[240], a[40], b[40], d[40];
    krein_chart chart;
    for (int64_t i = 0; i < h->bins; i++) most = krein__max(most, h->count[i]);
    const krein_chart_range x = {"true less predicted", h->low, h->high, false, false};
    const krein_chart_range y = {"rows", 0, 1.05 * (double)most, false, true};
    output_title(n, c, "Residuals", title, sizeof title);
    snprintf(alt, sizeof alt,
             "%s: histogram of true less predicted values, mean %s, standard deviation %s; %s rows "
             "are beyond the axis.",
             title, krein__page_number(o->residual_mean, a), krein__page_number(o->residual_sd, b),
             krein__page_count(o->beyond, d));
    krein__figure_begin(f, title);
    krein__chart_begin(&chart, f, alt, 280, KREIN_CHART_LEFT);
    krein__chart_axes(&chart, &x, &y);
    for (int64_t i = 0; i < h->bins; i++) {
        const double from = h->low + (double)i * step;
        if (h->count[i] > 0)
            krein__chart_bar(&chart, 0, from + 0.06 * step, 0, from + 0.94 * step,
                             (double)h->count[i], "%s to %s: %s rows", krein__page_number(from, a),
                             krein__page_number(from + step, b), krein__page_count(h->count[i], d));
    }
    if (h->low < 0 && h->high > 0) krein__chart_rule(&chart, 0, 0, 0, y.high);
    krein__chart_end(&chart);
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < h->bins; i++) {
        krein__table_row_begin(f, krein__page_number(h->low + (double)i * step, a));
        krein__table_number(f, h->low + (double)(i + 1) * step);
        krein__table_count(f, h->count[i]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}

static void put_deciles(const krein_report_numbers *n, int64_t c, krein_buffer *f) {
    static const char *const columns[] = {"Tenth", "Predicted from", "to", "Rows",
                                          "Error", "Mean residual",  NULL};
    const krein_output_numbers *o = &n->output[c];
    double most = 0;
    char title[80], alt[240], a[40], b[40], d[40];
    krein_chart chart;
    for (int t = 0; t < 10; t++)
        most = fmax(most, isfinite(o->decile_rmse[t]) ? o->decile_rmse[t] : 0);
    const krein_chart_range x = {"tenth of the rows, by prediction", 0.5, 10.5, false, true};
    const krein_chart_range y = {"root mean square error", 0, most > 0 ? 1.08 * most : 1, false,
                                 false};
    output_title(n, c, "Error from small to large predictions", title, sizeof title);
    snprintf(alt, sizeof alt, "%s: from %s in the first tenth of the rows to %s in the last.",
             title, krein__page_number(o->decile_rmse[0], a),
             krein__page_number(o->decile_rmse[9], b));
    krein__figure_begin(f, title);
    krein__chart_begin(&chart, f, alt, 280, KREIN_CHART_LEFT);
    krein__chart_axes(&chart, &x, &y);
    krein__chart_rule(&chart, 0.5, o->rmse, 10.5, o->rmse);
    for (int t = 0; t < 10; t++)
        if (isfinite(o->decile_rmse[t]))
            krein__chart_bar(
                &chart, 0, t + 0.62, 0, t + 1.38, o->decile_rmse[t], "predicted %s to %s\nerror %s",
                krein__page_number(o->decile_low[t], a), krein__page_number(o->decile_high[t], b),
                krein__page_number(o->decile_rmse[t], d));
    krein__chart_end(&chart);
    krein__figure_data(f, columns);
    for (int t = 0; t < 10; t++) {
        snprintf(a, sizeof a, "%d", t + 1);
        krein__table_row_begin(f, a);
        krein__table_number(f, o->decile_low[t]);
        krein__table_number(f, o->decile_high[t]);
        krein__table_count(f, o->decile_n[t]);
        krein__table_number(f, o->decile_rmse[t]);
        krein__table_number(f, o->decile_bias[t]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}

static void put_outputs(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Output", "Root mean square error", "Mean absolute error",
                                          "R\xc2\xb2", NULL};
    char a[40];
    if (n->noutputs > 1) {
        krein__table_begin(f, "Outputs by themselves", columns);
        for (int64_t c = 0; c < n->noutputs; c++) {
            snprintf(a, sizeof a, "%lld", (long long)c + 1);
            krein__table_row_begin(f, a);
            krein__table_number(f, n->output[c].rmse);
            krein__table_number(f, n->output[c].mae);
            krein__table_number(f, n->output[c].r2);
            krein__table_row_end(f);
        }
        krein__table_end(f);
    }
    krein__buffer_put(f, "<div class=\"figures\">\n");
    for (int64_t c = 0; c < krein__min(OUTPUTS, n->noutputs); c++) {
        put_density(n, c, f);
        put_residuals(n, c, f);
        put_deciles(n, c, f);
    }
    krein__buffer_put(f, "</div>\n");
}

/* ---- classes ------------------------------------------------------------- */

/* Cells of the confusion matrix that are wrong, the most rows first. */
typedef struct mistake {
    int64_t truth, guess, rows;
} mistake;

static int by_rows(const void *a, const void *b) {
    const mistake *x = a, *y = b;
    if (x->rows != y->rows) return x->rows > y->rows ? -1 : 1;
    if (x->truth != y->truth) return x->truth < y->truth ? -1 : 1;
    return x->guess < y->guess ? -1 : 1;
}

/* Rows of a table: cells of the matrix that have rows, with the diagonal or without. */
static krein_status put_cells(const krein_metrics *m, bool diagonal, int64_t most,
                              krein_buffer *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t found = 0;
    mistake *all = NULL;
    NEW(all, m->classes * m->classes);
    for (int64_t i = 0; i < m->classes * m->classes; i++)
        if (m->confusion[i] > 0 && (diagonal || i / m->classes != i % m->classes))
            all[found++] = (mistake){i / m->classes, i % m->classes, m->confusion[i]};
    qsort(all, (size_t)found, sizeof *all, by_rows);
    for (int64_t i = 0; i < krein__min(found, most); i++) {
        krein__table_row_begin(f, m->class_names[all[i].truth]);
        krein__table_text(f, m->class_names[all[i].guess]);
        krein__table_count(f, all[i].rows);
        krein__table_row_end(f);
    }
done:
    krein__free(ctx, all);
    return st;
}

static krein_status put_mistakes(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Class", " Taken for", "Rows", NULL};
    if (n->metrics.accuracy == 1) return KREIN_OK;
    krein__table_begin(f, "The most frequent mistakes", columns);
    krein_status st = put_cells(&n->metrics, false, WORST, f);
    krein__table_end(f);
    return st;
}

static void confusion_table(const krein_metrics *m, krein_buffer *f) {
    static const char *const first[] = {"True class", NULL};
    krein__buffer_put(f, "<details><summary>Numbers</summary>");
    krein__table_begin(f, "True classes in rows, predicted ones in columns", first);
    for (int64_t c = 0; c <= m->classes; c++) { /* a row of names, then the counts */
        krein__table_row_begin(f, c == 0 ? "" : m->class_names[c - 1]);
        for (int64_t o = 0; o < m->classes; o++) {
            if (c == 0)
                krein__table_text(f, m->class_names[o]);
            else
                krein__table_count(f, m->confusion[(c - 1) * m->classes + o]);
        }
        krein__table_row_end(f);
    }
    krein__table_end(f);
    krein__buffer_put(f, "</details></figure>\n");
}

/* Rows of the matrix are shares of the true class. */
static krein_status put_confusion(const krein_report_numbers *n, krein_buffer *f) {
    const krein_metrics *m = &n->metrics;
    const int64_t k = m->classes;
    char alt[200], a[40], b[40], cut[64];
    krein_chart c;
    bool named = k <= NUMBERED;
    snprintf(
        alt, sizeof alt,
        "Confusion matrix of %lld classes: %s of the rows are on the diagonal, predicted right.",
        (long long)k, krein__page_share(m->accuracy, a));
    krein__figure_begin(f, "True classes against predicted ones");
    krein__chart_begin(&c, f, alt, named ? 296 : 352, named ? 84 : 20);
    c.top = 34;
    c.bottom = c.top + (c.right - c.left);
    c.x = (krein_svg_axis){
        .linear = true, .low = 0, .high = (double)k, .from = c.left, .length = c.right - c.left};
    c.y = (krein_svg_axis){
        .linear = true, .low = 0, .high = (double)k, .from = c.top, .length = c.bottom - c.top};
    krein__chart_frame(&c);
    krein__chart_text(&c, (c.left + c.right) / 2, 12, "unit mid", "predicted");
    krein__chart_text(&c, 4, 12, "unit", named ? "true" : "true, downwards");
    for (int64_t t = 0; t < k; t++) {
        int64_t all = 0;
        for (int64_t o = 0; o < k; o++) all += m->confusion[t * k + o];
        if (named) {
            krein__chart_text(&c, c.left - 6, krein__svg_at(&c.y, (double)t + 0.5) + 4, "side name",
                              krein__chart_short(m->class_names[t], 9, cut));
            krein__chart_text(
                &c, krein__svg_at(&c.x, (double)t + 0.5), c.top - 6, "tick name",
                krein__chart_short(m->class_names[t], (int)krein__max(2, 28 / k), cut));
        }
        for (int64_t o = 0; o < k; o++) {
            const int64_t rows = m->confusion[t * k + o];
            const double share = all > 0 ? (double)rows / (double)all : 0;
            if (!named && rows == 0) continue;
            krein__chart_cell(&c, rows == 0 ? 0.03 : 0.12 + 0.88 * pow(share, 0.8),
                              (double)o + 0.02, (double)t + 0.02, (double)o + 0.98,
                              (double)t + 0.98, "%.60s taken for %.60s\n%s rows, %s of the class",
                              m->class_names[t], m->class_names[o], krein__page_count(rows, a),
                              krein__page_share(share, b));
        }
        for (int64_t o = 0; named && o < k; o++) {
            const int64_t rows = m->confusion[t * k + o];
            const double share = all > 0 ? (double)rows / (double)all : 0;
            if (k <= 8 || rows < 10000)
                krein__chart_text(&c, krein__svg_at(&c.x, (double)o + 0.5),
                                  krein__svg_at(&c.y, (double)t + 0.5) + 4,
                                  share > 0.5 ? "inside over" : "inside",
                                  k <= 6 ? krein__page_count(rows, a)
                                         : (snprintf(a, sizeof a, "%lld", (long long)rows), a));
        }
    }
    if (!named)
        krein__buffer_add(f,
                          "<rect class=\"edge\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\"/>\n",
                          c.left, c.top, c.right - c.left, c.bottom - c.top);
    krein__chart_end(&c);
    if (k <= LISTED) {
        confusion_table(m, f);
        return KREIN_OK;
    }
    static const char *const columns[] = {"True class", " Predicted", "Rows", NULL};
    krein__figure_data(f, columns);
    krein_status st = put_cells(m, true, CELLS, f);
    krein__figure_end(f);
    return st;
}

/* Curves of the most frequent classes. */
static void put_curve(const krein_report_numbers *n, bool roc, krein_buffer *f) {
    const char *columns[] = {"Class", roc ? "False positives" : "Recall",
                             roc ? "True positives" : "Precision", NULL};
    const int64_t shown = krein__min(n->ncurves, KREIN_REPORT_SHOWN);
    const krein_chart_range x = {roc ? "share of other rows that are taken for it"
                                     : "recall: share of its rows that are found",
                                 0, 1, false, false};
    const krein_chart_range y = {roc ? "share of its rows found" : "precision", 0, 1.02, false,
                                 false};
    const char *title = roc ? "ROC curve" : "Precision and recall",
               *names[KREIN_REPORT_SHOWN] = {""};
    char text[KREIN_REPORT_SHOWN][120], alt[300], a[40], b[40];
    krein_chart c;
    for (int64_t i = 0; i < shown; i++) {
        const krein_class_curve *k = &n->curve[i];
        snprintf(text[i], sizeof text[i], "%.60s, %s %s", n->metrics.class_names[k->class],
                 roc ? "area" : "average precision",
                 krein__page_number(roc ? k->roc_area : k->pr_area, a));
        names[i] = text[i];
    }
    snprintf(alt, sizeof alt, "%s of %s against the rest.", title, names[0]);
    krein__figure_begin(f, title);
    krein__chart_begin(&c, f, alt, 290, KREIN_CHART_LEFT);
    krein__chart_axes(&c, &x, &y);
    if (roc) krein__chart_rule(&c, 0, 0, 1, 1);
    for (int64_t i = shown - 1; i >= 0; i--) {
        const krein_class_curve *k = &n->curve[i];
        const int64_t points = roc ? k->nroc : k->npr;
        const double *u = roc ? k->fpr : k->recall, *v = roc ? k->tpr : k->precision;
        krein__chart_line(&c, (int)i, points, u, v);
        for (int64_t p = 0; p<points; p += shown> 1 ? 4 : 2)
            krein__chart_spot(&c, (int)i, u[p], v[p], "%.60s\n%s %s\n%s %s",
                              n->metrics.class_names[k->class],
                              roc ? "others taken for it" : "recall", krein__page_share(u[p], a),
                              roc ? "found" : "precision", krein__page_share(v[p], b));
    }
    krein__chart_end(&c);
    krein__figure_legend(f, shown, names);
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < shown; i++) {
        const krein_class_curve *k = &n->curve[i];
        for (int64_t p = 0; p < (roc ? k->nroc : k->npr); p++) {
            krein__table_row_begin(f, n->metrics.class_names[k->class]);
            krein__table_number(f, roc ? k->fpr[p] : k->recall[p]);
            krein__table_number(f, roc ? k->tpr[p] : k->precision[p]);
            krein__table_row_end(f);
        }
    }
    krein__figure_end(f);
}

static void put_calibration(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Probability", "Rows", "Mean predicted", "Observed",
                                          NULL};
    const krein_calibration_curve *k = &n->calibration;
    const bool two = n->metrics.classes == 2;
    const krein_chart_range x = {"predicted probability", 0, 1, false, false};
    const krein_chart_range y = {"share of rows that have the class", 0, 1.02, false, false};
    char alt[240], a[40], b[40], d[40];
    double u[10], v[10];
    int64_t points = 0, most = 1;
    krein_chart c, below;
    for (int i = 0; i < 10; i++) most = krein__max(most, k->count[i]);
    snprintf(
        alt, sizeof alt,
        "Calibration of the probability of %.80s: they are off by %s on average; below it, how "
        "many rows have which probability.",
        two ? n->metrics.class_names[1] : "the predicted class", krein__page_share(k->error, a));
    krein__figure_begin(f, "Do the probabilities hold?");
    krein__chart_begin(&c, f, alt, 290, KREIN_CHART_LEFT);
    c.bottom = 196;
    below = c;
    krein__chart_axes(&c, &(krein_chart_range){NULL, 0, 1, false, false}, &y);
    krein__chart_rule(&c, 0, 0, 1, 1);
    below.top = 206;
    below.bottom = 252;
    krein__chart_axes(&below, &x, &(krein_chart_range){NULL, 0, (double)most, false, false});
    for (int i = 0; i < 10; i++) {
        if (k->count[i] == 0) continue;
        u[points] = k->predicted[i];
        v[points++] = k->observed[i];
        krein__chart_bar(&below, 7, 0.1 * i + 0.006, 0, 0.1 * (i + 1) - 0.006, (double)k->count[i],
                         "%s rows with %d to %d %%", krein__page_count(k->count[i], a), 10 * i,
                         10 * (i + 1));
    }
    krein__chart_line(&c, 0, points, u, v);
    for (int i = 0; i < 10; i++)
        if (k->count[i] > 0)
            krein__chart_dot(
                &c, 0, k->predicted[i], k->observed[i], 3.6, "predicted %s\nobserved %s\n%s rows",
                krein__page_share(k->predicted[i], a), krein__page_share(k->observed[i], b),
                krein__page_count(k->count[i], d));
    krein__chart_end(&c);
    krein__figure_data(f, columns);
    for (int i = 0; i < 10; i++) {
        snprintf(a, sizeof a, "%d to %d %%", 10 * i, 10 * (i + 1));
        krein__table_row_begin(f, a);
        krein__table_count(f, k->count[i]);
        krein__table_number(f, k->predicted[i]);
        krein__table_number(f, k->observed[i]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}

static void put_areas(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Class", "Rows", "Area under ROC", "Average precision",
                                          NULL};
    if (n->ncurves < 2) return;
    krein__buffer_put(f, "<details><summary>Areas of all classes</summary>");
    krein__table_begin(f, "Each class against the rest", columns);
    for (int64_t i = 0; i < n->ncurves; i++) {
        krein__table_row_begin(f, n->metrics.class_names[n->curve[i].class]);
        krein__table_count(f, n->curve[i].positives);
        krein__table_number(f, n->curve[i].roc_area);
        krein__table_number(f, n->curve[i].pr_area);
        krein__table_row_end(f);
    }
    krein__table_end(f);
    krein__buffer_put(f, "</details>\n");
}

krein_status krein__page_quality(const krein_report_numbers *n, krein_buffer *f) {
    krein_status st = KREIN_OK;
    krein__section_begin(f, "quality", "How good it is");
    put_measures(n, f);
    if (n->noutputs > 0) put_outputs(n, f);
    if (n->metrics.classes > 0) {
        krein__buffer_put(f, "<div class=\"figures\">\n");
        if (n->metrics.confusion && n->metrics.classes <= DRAWN) TRY(put_confusion(n, f));
        if (n->ncurves > 0 && n->curve[0].nroc > 0) {
            put_curve(n, true, f);
            put_curve(n, false, f);
        }
        if (n->calibrated) put_calibration(n, f);
        krein__buffer_put(f, "</div>\n");
        put_areas(n, f);
        if (n->metrics.confusion && n->metrics.classes > 2) TRY(put_mistakes(n, f));
    }
    put_coverage(n, f);
    krein__section_end(f);
done:
    return st;
}
