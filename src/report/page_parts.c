/* page_parts.c -- the other sections: alternatives, why, what is odd, the kernel, the learning
 * curve, clusters and components. */
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARS = 15, SEARCHED = 64, POINTS = 200, EIGEN = 60, RANGES = 20 };

static const char *error_word(const krein_report_numbers *n) {
    return n->model->encoding.task == KREIN_TASK_REGRESSION   ? "root mean square error"
           : n->model->encoding.task == KREIN_TASK_MULTILABEL ? "share of wrong labels"
                                                              : "share of errors";
}

/* A line with dots over an axis that may be logarithmic: a whole figure. */
typedef struct curve {
    const char *title, *alt, *x, *y;
    int64_t n;
    const double *u, *v;
    bool log_x, log_y, dots;
    double mark; /* a dashed line at this u; NaN: none */
} curve;

static double widened(double value, double by, bool logarithmic, double span) {
    return logarithmic ? value * pow(10, by) : value + span;
}

static krein_chart_range range_of(const char *title, int64_t n, const double *v, double extra,
                                  bool logarithmic) {
    krein_chart_range r = {title, INFINITY, -INFINITY, logarithmic, false};
    for (int64_t i = -1; i < n; i++) {
        const double x = i < 0 ? extra : v[i];
        if (!isfinite(x) || (logarithmic && x <= 0)) continue;
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
    }
    if (!(r.low <= r.high)) r.low = r.high = 1;
    const double span = r.high - r.low, space = span > 0 ? 0.05 * span : 0.1 * fabs(r.high) + 1e-9;
    const double decades = logarithmic ? fmax(0.04 * log10(r.high / r.low), 0.05) : 0;
    r.low = widened(r.low, -decades, logarithmic, -space);
    r.high = widened(r.high, decades, logarithmic, space);
    return r;
}

static void put_curve(krein_buffer *f, const curve *k) {
    const char *columns[] = {k->x, k->y, NULL};
    const krein_chart_range x = range_of(k->x, k->n, k->u, k->mark, k->log_x);
    const krein_chart_range y = range_of(k->y, k->n, k->v, NAN, k->log_y);
    char a[40], b[40];
    krein_chart c;
    krein__figure_begin(f, k->title);
    krein__chart_begin(&c, f, k->alt, 240, KREIN_CHART_LEFT);
    krein__chart_axes(&c, &x, &y);
    if (isfinite(k->mark)) krein__chart_rule(&c, k->mark, y.low, k->mark, y.high);
    krein__chart_line(&c, 0, k->n, k->u, k->v);
    for (int64_t i = 0; i < k->n; i++) {
        if (!isfinite(k->u[i]) || !isfinite(k->v[i])) continue;
        krein__page_number(k->u[i], a);
        krein__page_number(k->v[i], b);
        if (k->dots)
            krein__chart_dot(&c, 0, k->u[i], k->v[i], 3.2, "%s %s\n%s %s", k->x, a, k->y, b);
        else
            krein__chart_spot(&c, 0, k->u[i], k->v[i], "%s %s\n%s %s", k->x, a, k->y, b);
    }
    krein__chart_end(&c);
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < k->n; i++) {
        krein__table_row_begin(f, krein__page_number(k->u[i], a));
        krein__table_number(f, k->v[i]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}

/* ---- alternatives -------------------------------------------------------- */

static int by_error(const void *a, const void *b) {
    const krein_tried *x = *(const krein_tried *const *)a, *y = *(const krein_tried *const *)b;
    if (x->error != y->error) return x->error < y->error ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* A kernel in few letters: "gaussian 4.307, metric". */
static void short_kernel(const char *kernel, krein_metric_kind metric, char *out, size_t size) {
    const char *sigma = kernel ? strstr(kernel, "(sigma=") : NULL;
    const char *more = metric == KREIN_METRIC_NONE ? "" : ", metric";
    if (sigma)
        snprintf(out, size, "%.*s %.*s%s", (int)(sigma - kernel), kernel,
                 (int)strcspn(sigma + 7, ")"), sigma + 7, more);
    else
        snprintf(out, size, "%.60s%s", kernel ? kernel : "", more);
}

static krein_status sort_tried(const krein_model *m, krein_ctx *ctx, const krein_tried ***out,
                               int64_t *count) {
    krein_status st = KREIN_OK;
    *count = 0;
    while (krein_model_tried(m, *count)) ++*count;
    NEW(*out, krein__max(1, *count));
    for (int64_t i = 0; i < *count; i++) (*out)[i] = krein_model_tried(m, i);
    qsort(*out, (size_t)*count, sizeof(**out), by_error);
done:
    return st;
}

/* ", svm" behind the name of a candidate whose learner is not the model's. */
static void add_learner(const krein_report_numbers *n, const krein_tried *one, char *text,
                        size_t size) {
    const char *own = n->model->learner, *its = one->learner ? one->learner : own;
    const size_t length = strcspn(its, "("), used = strlen(text);
    if (strcspn(own, "(") == length && memcmp(own, its, length) == 0) return;
    snprintf(text + used, size - used, ", %.*s", (int)length, its);
}

static void put_candidates(const krein_report_numbers *n, int64_t count,
                           const krein_tried *const *all, krein_buffer *f) {
    const char *names[BARS];
    double values[BARS];
    char text[BARS][100], alt[300], title[80], a[40];
    const int64_t shown = krein__min(count, BARS);
    if (count == 0) return;
    for (int64_t i = 0; i < shown; i++) {
        short_kernel(all[i]->kernel, all[i]->metric, text[i], sizeof text[i]);
        add_learner(n, all[i], text[i], sizeof text[i]);
        names[i] = text[i];
        values[i] = all[i]->error;
    }
    snprintf(alt, sizeof alt, "Held-out errors of %lld candidates; the smallest is %s, of %.80s.",
             (long long)count, krein__page_number(values[0], a), names[0]);
    snprintf(title, sizeof title, count > BARS ? "The best of %lld candidates" : "Candidates",
             (long long)count);
    krein__figure_bars(f, &(krein_bars){.title = title,
                                        .unit = "held-out error",
                                        .alt = alt,
                                        .n = shown,
                                        .names = names,
                                        .values = values,
                                        .dots = true});
}

static void list_candidates(int64_t count, const krein_tried *const *all, krein_buffer *f) {
    static const char *const columns[] = {"Kernel", " Metric", " Map", " Learner",
                                          "Rows",   "Error",   NULL};
    if (count == 0) return;
    krein__buffer_put(f, "<details><summary>All candidates</summary>");
    krein__table_begin(f, "In the order of their held-out errors", columns);
    for (int64_t i = 0; i < krein__min(count, POINTS); i++) {
        const krein_tried *one = all[i];
        krein__table_row_begin(f, one->kernel ? one->kernel : "");
        krein__table_text(f, krein__metric_names[one->metric]);
        krein__table_text(f, one->map ? one->map : "");
        krein__table_text(f, one->learner ? one->learner : "");
        krein__table_count(f, one->rows);
        krein__table_number(f, one->error);
        krein__table_row_end(f);
    }
    krein__table_end(f);
    krein__buffer_put(f, "</details>\n");
}

static void put_path(const krein_report_numbers *n, krein_buffer *f) {
    const krein_held_out *path = &n->model->path;
    char alt[200], a[40];
    if (path->n < 2) return;
    snprintf(alt, sizeof alt,
             "Held-out error against lambda, %lld values; the model has lambda %s.",
             (long long)path->n, krein__page_number(n->model->lambda, a));
    put_curve(f, &(curve){"Regularisation", alt, "lambda", "held-out error", path->n, path->lambda,
                          path->error, true, false, true, n->model->lambda});
}

/* Values of one free parameter of one kernel, tried one after the other on the same rows. */
typedef struct search {
    const krein_searched *from;
    int64_t first, n; /* their numbers */
} search;

static bool same_family(const krein_searched *a, const krein_searched *b) {
    const size_t name = strcspn(a->kernel, "(");
    return strcmp(a->parameter, b->parameter) == 0 && strcmp(a->criterion, b->criterion) == 0 &&
           a->metric == b->metric && strcspn(b->kernel, "(") == name &&
           strncmp(a->kernel, b->kernel, name) == 0;
}

/* A search goes by factors of a root of two from its first value; another begins elsewhere. */
static bool goes_on(const krein_searched *from, const krein_searched *s) {
    if (!same_family(from, s) || from->rows != s->rows) return false;
    const double steps = 2 * log2(s->value / from->value);
    return fabs(steps - rint(steps)) < 0.02;
}

/* Of each kernel the last search on the most rows; returns how many there are. */
static int64_t find_searches(const krein_model *m, search out[KREIN_REPORT_SHOWN]) {
    const krein_searched *s;
    search now = {0};
    int64_t found = 0;
    for (int64_t i = 0;; i++) {
        s = krein_model_searched(m, i);
        if (s && now.n > 0 && goes_on(now.from, s)) {
            now.n++;
            continue;
        }
        if (now.n > 1) {
            int64_t at = 0;
            while (at < found && !same_family(out[at].from, now.from)) at++;
            if (at < found && now.from->rows >= out[at].from->rows)
                out[at] = now;
            else if (at == found && found < KREIN_REPORT_SHOWN &&
                     (found == 0 || strcmp(out[0].from->parameter, now.from->parameter) == 0))
                out[found++] = now;
        }
        if (!s) return found;
        now = (search){s, i, 1};
    }
}

static int by_number(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Values and scores of a search, by value; returns how many. */
static int64_t search_points(const krein_model *m, const search *s, double *u, double *v) {
    double pairs[2 * SEARCHED];
    const int64_t n = krein__min(s->n, SEARCHED);
    for (int64_t i = 0; i < n; i++) {
        const krein_searched *one = krein_model_searched(m, s->first + i);
        pairs[2 * i] = one->value;
        pairs[2 * i + 1] = one->score;
    }
    qsort(pairs, (size_t)n, 2 * sizeof *pairs, by_number);
    for (int64_t i = 0; i < n; i++) {
        u[i] = pairs[2 * i];
        v[i] = pairs[2 * i + 1];
    }
    return n;
}

static void put_searched(const krein_report_numbers *n, krein_buffer *f) {
    search all[KREIN_REPORT_SHOWN];
    double u[KREIN_REPORT_SHOWN][SEARCHED], v[KREIN_REPORT_SHOWN][SEARCHED];
    double every[2][KREIN_REPORT_SHOWN * SEARCHED] = {{0}};
    int64_t points[KREIN_REPORT_SHOWN], total = 0;
    const char *names[KREIN_REPORT_SHOWN];
    char text[KREIN_REPORT_SHOWN][100], title[80], alt[200], a[40], b[40];
    const int64_t count = find_searches(n->model, all);
    krein_chart c;
    if (count == 0) return;
    for (int64_t k = 0; k < count; k++) {
        const krein_searched *s = all[k].from;
        points[k] = search_points(n->model, &all[k], u[k], v[k]);
        snprintf(text[k], sizeof text[k], "%.*s%s, %s rows", (int)strcspn(s->kernel, "("),
                 s->kernel, s->metric == KREIN_METRIC_NONE ? "" : " with metric",
                 krein__page_count(s->rows, a));
        names[k] = text[k];
        for (int64_t i = 0; i < points[k]; i++, total++) {
            every[0][total] = u[k][i];
            every[1][total] = v[k][i];
        }
    }
    const char *parameter = all[0].from->parameter, *criterion = all[0].from->criterion;
    char score[80];
    snprintf(score, sizeof score, "score by %.60s", criterion);
    const char *columns[] = {"Kernel", parameter, score, NULL};
    const krein_chart_range x = range_of(parameter, total, every[0], NAN, true);
    const krein_chart_range y = range_of(score, total, every[1], NAN, false);
    snprintf(title, sizeof title, "Values of %.40s", parameter);
    snprintf(alt, sizeof alt, "%s against %.40s for %lld kernels, %lld values.", score, parameter,
             (long long)count, (long long)total);
    krein__figure_begin(f, title);
    krein__chart_begin(&c, f, alt, 260, KREIN_CHART_LEFT);
    krein__chart_axes(&c, &x, &y);
    for (int64_t k = 0; k < count; k++) {
        krein__chart_line(&c, (int)k, points[k], u[k], v[k]);
        for (int64_t i = 0; i < points[k]; i++)
            krein__chart_dot(&c, (int)k, u[k][i], v[k][i], 3.2, "%s\n%s %s\n%s %s", names[k],
                             parameter, krein__page_number(u[k][i], a), score,
                             krein__page_number(v[k][i], b));
    }
    krein__chart_end(&c);
    krein__figure_legend(f, count, names);
    krein__figure_data(f, columns);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < points[k]; i++) {
            krein__table_row_begin(f, names[k]);
            krein__table_number(f, u[k][i]);
            krein__table_number(f, v[k][i]);
            krein__table_row_end(f);
        }
    krein__figure_end(f);
}

static krein_status put_weights(const krein_report_numbers *n, krein_buffer *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = n->model;
    const char **names = NULL;
    double *values = NULL;
    if (m->kernels == 0) return st;
    NEW(names, m->kernels);
    NEW(values, m->kernels);
    for (int64_t i = 0; i < m->kernels; i++) {
        names[i] = m->weights[i].kernel;
        values[i] = m->weights[i].weight;
    }
    krein__figure_bars(f, &(krein_bars){.title = "Weights of the kernels",
                                        .unit = "weight",
                                        .n = krein__min(m->kernels, 2 * BARS),
                                        .names = names,
                                        .values = values});
done:
    krein__free(ctx, names);
    krein__free(ctx, values);
    return st;
}

krein_status krein__page_alternatives(const krein_report_numbers *n, krein_buffer *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const krein_tried **all = NULL;
    search found[KREIN_REPORT_SHOWN];
    int64_t count = 0;
    if (!krein_model_tried(n->model, 0) && find_searches(n->model, found) == 0 &&
        n->model->path.n < 2 && n->model->kernels == 0)
        return st;
    TRY(sort_tried(n->model, ctx, &all, &count));
    krein__section_begin(f, "alternatives", "What else was tried");
    krein__page_paragraph(
        f, NULL,
        "Errors on rows that were held out, when the model was trained. Candidates "
        "were fitted to samples of the training rows, so that their errors are "
        "larger than that of the model.");
    krein__buffer_put(f, "<div class=\"figures\">\n");
    TRY(put_weights(n, f));
    put_candidates(n, count, all, f);
    put_searched(n, f);
    put_path(n, f);
    krein__buffer_put(f, "</div>\n");
    list_candidates(count, all, f);
    krein__section_end(f);
done:
    krein__free(ctx, all);
    return st;
}

/* ---- why ----------------------------------------------------------------- */

static void put_importance(const krein_report_numbers *n, krein_buffer *f) {
    const char *names[BARS];
    double value[BARS], low[BARS], high[BARS];
    char unit[80];
    const int64_t shown = krein__min(n->norder, BARS);
    for (int64_t i = 0; i < shown; i++) {
        const krein_input_numbers *in = &n->input[n->order[i]];
        names[i] = in->name;
        value[i] = in->importance;
        low[i] = in->importance - in->spread;
        high[i] = in->importance + in->spread;
    }
    snprintf(unit, sizeof unit, "growth of the %s", error_word(n));
    krein__figure_bars(f,
                       &(krein_bars){.title = "When an input is shuffled, how much worse it gets",
                                     .unit = unit,
                                     .n = shown,
                                     .names = names,
                                     .values = value,
                                     .low = low,
                                     .high = high});
}

typedef struct slope {
    double size;
    int64_t input;
} slope;

static int by_size(const void *a, const void *b) {
    const slope *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->input < y->input ? -1 : 1;
}

static krein_status put_gradients(const krein_report_numbers *n, krein_buffer *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const char *names[BARS];
    double value[BARS];
    slope *all = NULL;
    int64_t count = 0;
    NEW(all, krein__max(1, n->ninputs));
    for (int64_t j = 0; j < n->ninputs; j++)
        if (isfinite(n->input[j].gradient)) all[count++] = (slope){n->input[j].gradient, j};
    if (count == 0) goto done;
    qsort(all, (size_t)count, sizeof *all, by_size);
    const int64_t shown = krein__min(count, BARS);
    for (int64_t i = 0; i < shown; i++) {
        names[i] = n->input[all[i].input].name;
        value[i] = all[i].size;
    }
    krein__figure_bars(f, &(krein_bars){.title = "How steep the model is in each input",
                                        .unit = n->model->encoding.nclass > 0
                                                    ? "mean change of scores for one deviation"
                                                    : "mean change for one standard deviation",
                                        .n = shown,
                                        .names = names,
                                        .values = value});
done:
    krein__free(ctx, all);
    return st;
}

/* The means of the lines for categories: dots over the words. */
static void dependence_words(const krein_report_numbers *n, const krein_dependence *d,
                             const krein_chart_range *range, krein_buffer *f) {
    const char *names[KREIN_REPORT_STEPS];
    double value[KREIN_REPORT_STEPS];
    for (int64_t s = 0; s < d->steps; s++) {
        names[s] = d->label[s];
        value[s] = d->y[s];
    }
    krein__figure_bars(f, &(krein_bars){.title = n->input[d->input].name,
                                        .unit = n->line_title,
                                        .n = d->steps,
                                        .names = names,
                                        .values = value,
                                        .dots = true,
                                        .range = range});
}

static void dependence_table(const krein_report_numbers *n, const krein_dependence *d,
                             const char *const *lines, krein_buffer *f) {
    const char *columns[KREIN_REPORT_SHOWN + 2] = {n->input[d->input].name};
    char a[40];
    for (int64_t l = 0; l < n->lines; l++) columns[l + 1] = lines[l];
    columns[n->lines + 1] = NULL;
    krein__figure_data(f, columns);
    for (int64_t s = 0; s < d->steps; s++) {
        krein__table_row_begin(f, krein__page_number(d->x[s], a));
        for (int64_t l = 0; l < n->lines; l++)
            krein__table_number(f, d->y[l * KREIN_REPORT_STEPS + s]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}

/* The lines over the values, all figures on one scale; below it the density of the data. */
static void put_dependence(const krein_report_numbers *n, const krein_dependence *d,
                           const krein_chart_range *y, const char *const *lines, krein_buffer *f) {
    const krein_input_numbers *in = &n->input[d->input];
    const char *title = in->name;
    char alt[300], a[40], b[40], low[40], high[40];
    krein_chart c, below;
    int64_t most = 1;
    if (in->category) {
        dependence_words(n, d, y, f);
        return;
    }
    const double space = d->high > d->low ? 0 : 0.5;
    const krein_chart_range x = {in->name, d->low - space, d->high + space, false, false};
    for (int i = 0; i < KREIN_REPORT_BINS; i++) most = krein__max(most, d->density[i]);
    snprintf(
        alt, sizeof alt, "Mean %s against %.80s: %s at %s, %s at %s. Below it, where the rows are.",
        n->line_title, in->name, krein__page_number(d->y[0], a), krein__page_number(d->x[0], low),
        krein__page_number(d->y[d->steps - 1], b), krein__page_number(d->x[d->steps - 1], high));
    krein__figure_begin(f, title);
    krein__chart_begin(&c, f, alt, 230, KREIN_CHART_LEFT);
    c.bottom = 158;
    below = c;
    krein__chart_axes(&c, &(krein_chart_range){NULL, x.low, x.high, false, false}, y);
    below.top = 166;
    below.bottom = 192;
    krein__chart_axes(&below, &x, &(krein_chart_range){NULL, 0, (double)most, false, false});
    const double step = (d->high - d->low) / KREIN_REPORT_BINS;
    for (int i = 0; i < KREIN_REPORT_BINS; i++)
        if (d->density[i] > 0)
            krein__chart_bar(
                &below, 7, d->low + i * step, 0, d->low + (i + 0.9) * step, (double)d->density[i],
                "%s to %s\n%lld of the sampled rows", krein__page_number(d->low + i * step, a),
                krein__page_number(d->low + (i + 1) * step, b), (long long)d->density[i]);
    for (int64_t l = 0; l < n->lines; l++) {
        const double *v = d->y + l * KREIN_REPORT_STEPS;
        krein__chart_line(&c, (int)l, d->steps, d->x, v);
        for (int64_t s = 0; s < d->steps; s++)
            krein__chart_spot(&c, (int)l, d->x[s], v[s], "%.60s = %s\n%.60s %s", in->name,
                              krein__page_number(d->x[s], a), lines[l],
                              krein__page_number(v[s], b));
    }
    krein__chart_end(&c);
    dependence_table(n, d, lines, f);
}

static krein_chart_range dependence_range(const krein_report_numbers *n) {
    krein_chart_range y = {n->line_title, INFINITY, -INFINITY, false, false};
    for (int64_t i = 0; i < n->ndependence; i++)
        for (int64_t l = 0; l < n->lines; l++)
            for (int64_t s = 0; s < n->dependence[i].steps; s++) {
                const double v = n->dependence[i].y[l * KREIN_REPORT_STEPS + s];
                y.low = fmin(y.low, v);
                y.high = fmax(y.high, v);
            }
    const double space = y.high > y.low ? 0.05 * (y.high - y.low) : 0.1 * fabs(y.high) + 1e-9;
    y.low -= space;
    y.high += space;
    return y;
}

static void put_dependences(const krein_report_numbers *n, krein_buffer *f) {
    const krein_chart_range y = dependence_range(n);
    const krein_encoding *e = &n->model->encoding;
    const char *lines[KREIN_REPORT_SHOWN];
    char text[KREIN_REPORT_SHOWN][64];
    for (int64_t l = 0; l < n->lines; l++) {
        if (e->nclass == 2 && n->lines == 1)
            snprintf(text[l], sizeof text[l], "%s of %.40s", n->line_title, e->class_name[1]);
        else if (e->nclass > 0)
            snprintf(text[l], sizeof text[l], "%.60s", e->class_name[l]);
        else if (n->lines > 1)
            snprintf(text[l], sizeof text[l], "output %lld", (long long)l + 1);
        else
            snprintf(text[l], sizeof text[l], "%s", n->line_title);
        lines[l] = text[l];
    }
    krein__buffer_put(f, "<h3>What single inputs do</h3>\n");
    krein__page_paragraph(f, NULL,
                          "The mean %s over sampled rows when one input has the same value in all "
                          "of them, and the others stay as they are (partial dependence). The grey "
                          "bars below show where the rows are: where there are few, the line says "
                          "little.",
                          e->nclass == 2 && n->lines == 1 ? lines[0] : n->line_title);
    krein__buffer_put(f, "<div class=\"figures\">\n");
    for (int64_t i = 0; i < n->ndependence; i++) put_dependence(n, &n->dependence[i], &y, lines, f);
    krein__buffer_put(f, "</div>\n");
    if (n->lines > 1) krein__figure_legend(f, n->lines, lines);
}

krein_status krein__page_why(const krein_report_numbers *n, krein_buffer *f) {
    krein_status st = KREIN_OK;
    char a[40], b[40], c[40];
    krein__section_begin(f, "why", "Which inputs matter");
    if (n->why_not) {
        krein__page_paragraph(f, NULL, "Not computed: %s.", n->why_not);
        krein__section_end(f);
        return st;
    }
    if (n->norder < n->ninputs)
        krein__page_paragraph(f, NULL,
                              "Of %s inputs, the %s with the steepest predictions were shuffled, "
                              "on %s sampled rows.",
                              krein__page_count(n->ninputs, a), krein__page_count(n->norder, b),
                              krein__page_count(n->permuted_rows, c));
    else
        krein__page_paragraph(
            f, NULL,
            "Each input was shuffled %d times over %s sampled rows; the thin lines "
            "are one standard deviation of that. Inputs that say the same can "
            "stand in for each other, and then none of them looks important.",
            KREIN_REPORT_REPEATS, krein__page_count(n->permuted_rows, a));
    krein__buffer_put(f, "<div class=\"figures\">\n");
    put_importance(n, f);
    TRY(put_gradients(n, f));
    krein__buffer_put(f, "</div>\n");
    if (n->ndependence > 0) put_dependences(n, f);
    krein__section_end(f);
done:
    return st;
}

/* ---- what is odd --------------------------------------------------------- */

static const char *odd_error(const krein_report_numbers *n) {
    switch (n->model->encoding.task) {
    case KREIN_TASK_REGRESSION:
        return "Error";
    case KREIN_TASK_MULTILABEL:
        return "Wrong labels";
    default:
        return n->calibrated ? "Probability of the other classes" : "Lead of another class";
    }
}

static void put_ranges(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {
        "Input", "Rows outside", "Trained from", "to", "Found from", "to", NULL};
    char a[40], b[40];
    int64_t listed = 0;
    krein__buffer_put(f, "<h3>Outside the range of training</h3>\n");
    if (n->outside_rows == 0) {
        krein__page_paragraph(f, NULL,
                              "None of the %s rows has a number outside of the range that "
                              "the model was trained on.",
                              krein__page_count(n->n, a));
        return;
    }
    krein__page_paragraph(f, NULL,
                          "%s of %s rows have at least one number outside of the range that the "
                          "model was trained on. There it extrapolates.",
                          krein__page_count(n->outside_rows, a), krein__page_count(n->n, b));
    krein__table_begin(f, "Inputs with such numbers", columns);
    for (int64_t j = 0; j < n->ninputs && listed < RANGES; j++) {
        const krein_input_numbers *in = &n->input[j];
        if (in->outside <= 0) continue;
        listed++;
        krein__table_row_begin(f, in->name);
        krein__table_count(f, in->outside);
        krein__table_number(f, in->trained_low);
        krein__table_number(f, in->trained_high);
        krein__table_number(f, in->low);
        krein__table_number(f, in->high);
        krein__table_row_end(f);
    }
    krein__table_end(f);
}

void krein__page_odd(const krein_report_numbers *n, krein_buffer *f) {
    const bool words = n->model->encoding.nclass > 0;
    const char *columns[] = {"Row", words ? " True" : "True", words ? " Predicted" : "Predicted",
                             odd_error(n), NULL};
    char a[40], b[80], c[40];
    krein__section_begin(f, "odd", "What is odd");
    krein__buffer_put(f, "<h3>The largest errors</h3>\n");
    if (n->nodd == 0) krein__page_paragraph(f, NULL, "There are none: all rows are right.");
    if (n->nodd > 0) {
        krein__table_begin(f, "Rows are counted from 1, without the header", columns);
        for (int64_t i = 0; i < n->nodd; i++) {
            const krein_odd_row *o = &n->odd[i];
            if (o->id)
                snprintf(b, sizeof b, "%s (%.40s)", krein__page_count(o->row, a), o->id);
            else
                snprintf(b, sizeof b, "%s", krein__page_count(o->row, a));
            krein__table_row_begin(f, b);
            (words ? krein__table_text : krein__table_plain)(f, o->truth);
            (words ? krein__table_text : krein__table_plain)(f, o->predicted);
            krein__table_number(f, o->error);
            krein__table_row_end(f);
        }
        krein__table_end(f);
    }
    if (n->ranges) put_ranges(n, f);
    krein__buffer_put(f, "<h3>Rows that were trained on</h3>\n");
    if (!n->compared)
        krein__page_paragraph(f, NULL, "Not looked for: the training rows were not given.");
    else if (n->duplicates == 0)
        krein__page_paragraph(f, NULL, "None of the %s rows is among the %s training rows.",
                              krein__page_count(n->n, a), krein__page_count(n->train_rows, c));
    else
        krein__page_paragraph(f, NULL,
                              "%s of %s rows have the same inputs as one of the %s training rows, "
                              "%s of them with the same label. Errors on them are no errors on new "
                              "rows.",
                              krein__page_count(n->duplicates, a), krein__page_count(n->n, b),
                              krein__page_count(n->train_rows, c),
                              krein__page_count(n->same_label, (char[40]){0}));
    krein__section_end(f);
}

/* ---- the kernel ---------------------------------------------------------- */

void krein__page_kernel(const krein_report_numbers *n, krein_buffer *f) {
    double u[EIGEN], v[EIGEN];
    char alt[240], a[40], b[40], c[40];
    int64_t count = 0, last = 0, positive = 0;
    krein__section_begin(f, "kernel", "The kernel on these rows");
    if (n->spectrum_not) {
        krein__page_paragraph(f, NULL, "Not computed: %s.", n->spectrum_not);
        krein__section_end(f);
        return;
    }
    while (positive < n->neigen && n->eigen[positive] > 1e-14 * n->eigen[0]) positive++;
    for (int64_t i = 0; i < EIGEN && positive > 0; i++) { /* even steps of the logarithm */
        const int64_t j = (int64_t)rint(pow((double)positive, (double)i / (EIGEN - 1)));
        if (j == last) continue;
        last = j;
        u[count] = (double)j;
        v[count++] = n->eigen[j - 1];
    }
    krein__buffer_put(f, "<p>");
    if (isfinite(n->dimension))
        krein__buffer_add(f,
                          "At the model's lambda it has about <strong>%s</strong> effective "
                          "dimensions on %s sampled rows. ",
                          krein__page_number(n->dimension, a),
                          krein__page_count(n->spectrum_rows, b));
    if (isfinite(n->approximation))
        krein__buffer_add(f,
                          "Its features approximate the kernel matrix of these rows to "
                          "<strong>%s</strong> (relative error, Frobenius norm).",
                          krein__page_share(n->approximation, c));
    else
        krein__buffer_put(f,
                          n->model->map->cls->traits & KREIN_MAP_DUAL
                              ? "The model works with the kernel itself: nothing is approximated."
                              : "How well its features approximate the kernel was not measured.");
    krein__buffer_put(f, "</p>\n<div class=\"figures\">\n");
    if (count > 1) {
        snprintf(alt, sizeof alt,
                 "Eigenvalues of the kernel matrix of %s rows over their number: the first is %s, "
                 "number %lld is %s.",
                 krein__page_count(n->spectrum_rows, c), krein__page_number(v[0], a),
                 (long long)u[count - 1], krein__page_number(v[count - 1], b));
        put_curve(f, &(curve){"Spectrum", alt, "number", "eigenvalue of K/m", count, u, v, true,
                              true, false, NAN});
    }
    if (n->ndimension > 1) {
        snprintf(alt, sizeof alt, "Effective dimension against lambda%s%s.",
                 isfinite(n->dimension) ? "; at the model's lambda, the dashed line, it is " : "",
                 isfinite(n->dimension) ? krein__page_number(n->dimension, a) : "");
        put_curve(f, &(curve){"Effective dimension", alt, "lambda", "dimension", n->ndimension,
                              n->dimension_lambda, n->dimension_at, true, true, false,
                              n->model->lambda > 0 ? n->model->lambda : NAN});
    }
    krein__buffer_put(f, "</div>\n");
    krein__section_end(f);
}

/* ---- learning curve ------------------------------------------------------ */

void krein__page_learning(const krein_report_numbers *n, krein_buffer *f) {
    double u[KREIN_REPORT_CURVE], v[KREIN_REPORT_CURVE];
    char alt[240], a[40], b[40], c[40], d[40];
    int64_t count = 0;
    if (n->ncurve == 0) return;
    krein__section_begin(f, "learning", "Would more rows help");
    for (int64_t i = 0; i < n->ncurve; i++) {
        if (!isfinite(n->learning[i].error)) continue;
        u[count] = (double)n->learning[i].n;
        v[count++] = n->learning[i].error;
    }
    krein__page_paragraph(
        f, NULL,
        "The same kernel, map and learner, trained on parts of the training rows, "
        "each part inside of the next; lambda is chosen anew.");
    if (count > 1) {
        snprintf(alt, sizeof alt, "Error from %s with %s rows to %s with %s rows.",
                 krein__page_number(v[0], a), krein__page_count((int64_t)u[0], b),
                 krein__page_number(v[count - 1], c), krein__page_count((int64_t)u[count - 1], d));
        krein__buffer_put(f, "<div class=\"figures\">\n");
        put_curve(f, &(curve){"Learning curve", alt, "training rows", error_word(n), count, u, v,
                              true, false, true, NAN});
        krein__buffer_put(f, "</div>\n");
    }
    for (int64_t i = 0; i < n->ncurve; i++)
        if (n->learning[i].failed)
            krein__page_paragraph(f, "note", "With %s rows: %s",
                                  krein__page_count(n->learning[i].n, a), n->learning[i].failed);
    krein__section_end(f);
}

/* ---- clusters and components --------------------------------------------- */

static void put_plane(const krein_report_numbers *n, krein_buffer *f) {
    static const char *const columns[] = {"Group", "First", "Second", NULL};
    krein_ctx *ctx = f->ctx;
    double *v = krein__alloc(ctx, 2 * n->nplane, sizeof *v);
    char alt[240], x_title[80], y_title[80], a[40], b[40];
    const char *names[KREIN_SVG_COLOURS];
    const bool named = n->plane_names != NULL;
    krein_chart c;
    if (!v) {
        f->status = ctx->status;
        return;
    }
    for (int64_t i = 0; i < n->nplane; i++) {
        v[i] = n->plane[i].x;
        v[n->nplane + i] = n->plane[i].y;
    }
    snprintf(x_title, sizeof x_title, "first component, %s",
             krein__page_share(n->plane_share[0], a));
    snprintf(y_title, sizeof y_title, "second component, %s",
             krein__page_share(n->plane_share[1], a));
    const krein_chart_range x = krein__chart_range(x_title, n->nplane, v, 0.04);
    const krein_chart_range y = krein__chart_range(y_title, n->nplane, v + n->nplane, 0.04);
    snprintf(alt, sizeof alt, "%s rows on the plane of the first two principal components%s.",
             krein__page_count(n->nplane, a), named ? ", coloured by group" : "");
    krein__figure_begin(f, "The rows on a plane");
    krein__chart_begin(&c, f, alt, 320, KREIN_CHART_LEFT);
    krein__chart_axes(&c, &x, &y);
    for (int64_t i = 0; i < n->nplane; i++) {
        const krein_plane_point *p = &n->plane[i];
        krein__chart_dot(&c, p->class < 0 ? 0 : p->class, p->x, p->y, 2.6, "%.60s\n%s, %s",
                         named && p->class >= 0 ? n->plane_names[p->class] : "row",
                         krein__page_number(p->x, a), krein__page_number(p->y, b));
    }
    krein__chart_end(&c);
    if (named) {
        const int64_t shown = krein__min(n->nclusters, KREIN_SVG_COLOURS);
        for (int64_t k = 0; k < shown; k++) names[k] = n->plane_names[k];
        krein__buffer_put(f, "<ul class=\"legend\">");
        for (int64_t k = 0; k < shown; k++) {
            krein__buffer_add(f,
                              "<li><svg viewBox=\"0 0 26 9\" aria-hidden=\"true\"><circle "
                              "class=\"m%d\" cx=\"13\" cy=\"4.5\" r=\"4\"/></svg>",
                              (int)k);
            krein__svg_text(f, names[k]);
            krein__buffer_put(f, "</li>");
        }
        if (n->nclusters > shown) krein__buffer_put(f, "<li>colours come again after these</li>");
        krein__buffer_put(f, "</ul>\n");
    }
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < n->nplane; i++) {
        const krein_plane_point *p = &n->plane[i];
        krein__table_row_begin(f, named && p->class >= 0 ? n->plane_names[p->class] : "");
        krein__table_number(f, p->x);
        krein__table_number(f, p->y);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
    krein__free(ctx, v);
}

static krein_status put_sizes(const krein_report_numbers *n, krein_buffer *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const int64_t shown = krein__min(n->nclusters, 2 * BARS);
    double *size = NULL;
    const char **names = NULL;
    NEW(size, n->nclusters);
    NEW(names, n->nclusters);
    for (int64_t k = 0; k < n->nclusters; k++) {
        size[k] = (double)n->cluster_size[k];
        names[k] = n->plane_names[k];
    }
    krein__figure_bars(f, &(krein_bars){.title = "Sizes of the clusters",
                                        .unit = "rows",
                                        .n = shown,
                                        .names = names,
                                        .values = size});
    krein__figure_bars(f, &(krein_bars){.title = "Silhouettes: 1 far apart, 0 between two clusters",
                                        .unit = "mean silhouette",
                                        .n = shown,
                                        .names = names,
                                        .values = n->silhouette});
done:
    krein__free(ctx, size);
    krein__free(ctx, names);
    return st;
}

static void put_variance(const krein_report_numbers *n, krein_buffer *f) {
    const krein_model *m = n->model;
    const int64_t shown = krein__min(m->k, BARS);
    double share[BARS];
    char text[BARS][16];
    const char *names[BARS];
    for (int64_t k = 0; k < shown; k++) {
        share[k] = m->variance_total > 0 ? m->variance[k] / m->variance_total : NAN;
        snprintf(text[k], sizeof text[k], "pc%lld", (long long)k + 1);
        names[k] = text[k];
    }
    krein__figure_bars(f, &(krein_bars){.title = "Variance of the components",
                                        .unit = "part of the variance",
                                        .n = shown,
                                        .names = names,
                                        .values = share,
                                        .share = true});
}

krein_status krein__page_clusters(const krein_report_numbers *n, krein_buffer *f) {
    krein_status st = KREIN_OK;
    char a[40], b[40];
    if (n->nplane == 0) return st;
    krein__section_begin(f, "plane", n->cluster_size ? "The clusters" : "The components");
    if (n->cluster_size && isfinite(n->silhouette_mean))
        krein__page_paragraph(f, NULL, "The mean silhouette of %s sampled rows is %s.",
                              krein__page_count(n->silhouette_rows, a),
                              krein__page_number(n->silhouette_mean, b));
    if (isfinite(n->ari))
        krein__page_paragraph(f, NULL,
                              "Against the classes of the data: adjusted Rand index %s, normalised "
                              "mutual information %s.",
                              krein__page_number(n->ari, a), krein__page_number(n->nmi, b));
    krein__buffer_put(f, "<div class=\"figures\">\n");
    put_plane(n, f);
    if (n->cluster_size)
        TRY(put_sizes(n, f));
    else
        put_variance(n, f);
    krein__buffer_put(f, "</div>\n");
    krein__section_end(f);
done:
    return st;
}
