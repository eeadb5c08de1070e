/* select_chart.c -- scores of kernels as a figure, a plot for each criterion. Kernels that differ
 * in one number are a line over that number, one without a number is a level line; others are
 * points. */
#include "cli/cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 16, KEY = 80 };

/* A kernel's text cut at its numbers. */
typedef struct cut {
    int n;
    double value[NUMBERS];
    size_t from[NUMBERS], to[NUMBERS];
} cut;

static bool begins_number(const char *text, size_t at) {
    const bool digit = isdigit((unsigned char)text[at]) ||
                       (text[at] == '.' && isdigit((unsigned char)text[at + 1]));
    if (!digit) return false;
    return at == 0 || !(isalnum((unsigned char)text[at - 1]) || strchr("_.", text[at - 1]));
}

static cut cut_at_numbers(const char *text) {
    cut c = {0};
    for (size_t at = 0; text[at];) {
        char *end = NULL;
        if (c.n == NUMBERS || !begins_number(text, at)) {
            at++;
            continue;
        }
        c.from[c.n] = at > 0 && text[at - 1] == '-' && at > 1 && text[at - 2] == '=' ? at - 1 : at;
        c.value[c.n] = strtod(text + c.from[c.n], &end);
        at = c.to[c.n++] = (size_t)(end - text);
    }
    return c;
}

/* The same text but for the numbers. */
static bool same_shape(const char *a, const cut *p, const char *b, const cut *q) {
    size_t x = 0, y = 0;
    if (p->n != q->n) return false;
    for (int k = 0; k <= p->n; k++) {
        const size_t m = (k < p->n ? p->from[k] : strlen(a)) - x;
        const size_t n = (k < q->n ? q->from[k] : strlen(b)) - y;
        if (m != n || memcmp(a + x, b + y, m) != 0) return false;
        if (k == p->n) break;
        x = p->to[k];
        y = q->to[k];
    }
    return true;
}

typedef struct chart {
    const krein_select_report *r;
    cut *cut;    /* of each kernel */
    int *moving; /* the number that is its x; -1: none */
    char (*key)[KEY];
    int64_t *line; /* the series of each kernel */
    int64_t lines;
    double low, high; /* of the numbers */
    krein_svg_point *points;
    krein_svg_series *series;
    krein_svg_plot *plots;
} chart;

/* The first number by which a kernel differs from others of its shape. */
static void find_moving(chart *c, int64_t i) {
    c->moving[i] = -1;
    for (int64_t j = 0; j < c->r->count; j++) {
        if (j == i || !same_shape(c->r->kernels[i], &c->cut[i], c->r->kernels[j], &c->cut[j]))
            continue;
        for (int k = 0; k < c->cut[i].n; k++)
            if (c->cut[i].value[k] != c->cut[j].value[k] && (c->moving[i] < 0 || k < c->moving[i]))
                c->moving[i] = k;
    }
}

/* The text with ".." for that number, cut short. */
static void make_key(chart *c, int64_t i) {
    const char *text = c->r->kernels[i];
    const int k = c->moving[i];
    if (k < 0)
        snprintf(c->key[i], KEY, "%s", text);
    else
        snprintf(c->key[i], KEY, "%.*s..%s", (int)c->cut[i].from[k], text, text + c->cut[i].to[k]);
}

static void find_lines(chart *c) {
    for (int64_t i = 0; i < c->r->count; i++) {
        c->cut[i] = cut_at_numbers(c->r->kernels[i]);
        c->line[i] = -1;
    }
    for (int64_t i = 0; i < c->r->count; i++) {
        find_moving(c, i);
        make_key(c, i);
        for (int64_t j = 0; j < i && c->line[i] < 0; j++)
            if (strcmp(c->key[i], c->key[j]) == 0) c->line[i] = c->line[j];
        if (c->line[i] < 0) c->line[i] = c->lines++;
    }
}

/* NaN: it has no number. */
static double x_of(const chart *c, int64_t i) {
    const int k = c->moving[i];
    return k >= 0 ? c->cut[i].value[k] : c->cut[i].n > 0 ? c->cut[i].value[0] : NAN;
}

static int by_x(const void *a, const void *b) {
    const krein_svg_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static void place(chart *c, int64_t criterion) {
    const krein_select_report *r = c->r;
    krein_svg_point *at = c->points + 2 * criterion * r->count;
    for (int64_t s = 0; s < c->lines; s++) {
        krein_svg_series *to = &c->series[criterion * c->lines + s];
        krein_svg_point *first = at;
        for (int64_t i = 0; i < r->count; i++) {
            if (c->line[i] != s) continue;
            to->name = c->key[i];
            const double x = x_of(c, i), score = r->rankings[criterion]->scores[i]->score;
            *at++ = (krein_svg_point){isnan(x) ? c->low : x, score, 0};
            if (isnan(x)) *at++ = (krein_svg_point){c->high, score, 0};
        }
        to->n = at - first;
        to->points = first;
        qsort(first, (size_t)to->n, sizeof *first, by_x);
    }
}

/* "sigma", where all lines are over the same parameter. */
static const char *parameter(const chart *c, char out[KEY]) {
    out[0] = 0;
    for (int64_t i = 0; i < c->r->count; i++) {
        const int k = c->moving[i] >= 0 ? c->moving[i] : 0;
        const char *text = c->r->kernels[i];
        if (c->cut[i].n == 0 || c->cut[i].from[k] == 0 || text[c->cut[i].from[k] - 1] != '=')
            continue;
        size_t end = c->cut[i].from[k] - 1, from = end;
        while (from > 0 && (isalnum((unsigned char)text[from - 1]) || text[from - 1] == '_'))
            from--;
        char name[KEY];
        snprintf(name, sizeof name, "%.*s", (int)(end - from), text + from);
        if (out[0] && strcmp(out, name) != 0) return "parameter of the kernel";
        snprintf(out, KEY, "%s", name);
    }
    return out[0] ? out : "parameter of the kernel";
}

static int draw(cli_app *app, chart *c) {
    const krein_select_report *r = c->r;
    bool positive = true;
    char x_title[KEY], title[160], number[32];
    find_lines(c);
    const char *x = parameter(c, x_title);
    c->low = INFINITY;
    c->high = -INFINITY;
    for (int64_t i = 0; i < r->count; i++) {
        positive = positive && !(x_of(c, i) <= 0);
        c->low = fmin(c->low, x_of(c, i));
        c->high = fmax(c->high, x_of(c, i));
    }
    if (!(c->low <= c->high)) c->low = c->high = 1;
    for (int64_t k = 0; k < r->nrankings; k++) {
        place(c, k);
        c->plots[k] = (krein_svg_plot){.x_title = x,
                                       .y_title = r->rankings[k]->criterion,
                                       .n = c->lines,
                                       .series = c->series + k * c->lines,
                                       .linear = !positive,
                                       .semilog = positive,
                                       .loose = true};
    }
    snprintf(title, sizeof title, "Scores of %lld kernels on %s rows", (long long)r->count,
             cli_count_text(r->n, number));
    return cli_figure_write(app, title, (int)r->nrankings, c->plots);
}

int cli_select_chart(cli_app *app, const krein_select_report *r) {
    const size_t n = (size_t)r->count, k = (size_t)r->nrankings;
    int status = CLI_FAILED;
    chart c = {.r = r,
               .cut = calloc(n, sizeof *c.cut),
               .moving = calloc(n, sizeof *c.moving),
               .key = calloc(n, sizeof *c.key),
               .line = calloc(n, sizeof *c.line),
               .points = calloc(2 * n * k, sizeof *c.points),
               .series = calloc(n * k, sizeof *c.series),
               .plots = calloc(k, sizeof *c.plots)};
    if (c.cut && c.moving && c.key && c.line && c.points && c.series && c.plots)
        status = draw(app, &c);
    else
        cli_error(0, "there is no memory for the figure");
    free(c.cut);
    free(c.moving);
    free(c.key);
    free(c.line);
    free(c.points);
    free(c.series);
    free(c.plots);
    return status;
}
