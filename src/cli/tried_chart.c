/* tried_chart.c -- what was tried before a training, as a figure: held-out errors of the candidates
 * in their order, scores against values of a kernel parameter, errors against lambda. A kernel with
 * a kind of metric has one look in all of them. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES, VALUES, LAMBDAS, PLOTS, NAME = 64, SERIES_MAX = 30 };

typedef struct item {
    int plot, series, segment; /* a segment is a line of its own */
    double x, y;
} item;

typedef struct chart {
    const krein_model *model;
    char name[SERIES_MAX][NAME];
    int series;
    int64_t n, room;
    item *items;
    krein_svg_point *points;
    krein_svg_series *all; /* PLOTS x series */
} chart;

/* Of a sum there is no short name. */
static void kernel_name(const char *kernel, char *out, size_t size) {
    const size_t length = strcspn(kernel, "(");
    const char *end = kernel[length] ? strchr(kernel + length, ')') : NULL;
    if (length > 0 && !strpbrk(kernel, "+*;") && (!end || end[1] == 0))
        snprintf(out, size, "%.*s", (int)length, kernel);
    else
        snprintf(out, size, "sum of kernels");
}

/* The number of the series of that name; more than there is room for share the last. */
static int series_of(chart *c, const char *kernel, krein_metric_kind metric, const char *learner,
                     const char *map) {
    char kernel_text[NAME], name[3 * NAME];
    kernel_name(kernel, kernel_text, sizeof kernel_text);
    snprintf(name, sizeof name, "%s%s%.*s%s%s%.*s", kernel_text, learner ? ", " : "",
             learner ? (int)strcspn(learner, "(") : 0, learner ? learner : "",
             metric ? ", metric" : "", map ? " on " : "", map ? (int)strcspn(map, "(") : 0,
             map ? map : "");
    name[NAME - 1] = 0;
    for (int s = 0; s < c->series; s++)
        if (strcmp(c->name[s], name) == 0) return s;
    if (c->series == SERIES_MAX) return SERIES_MAX - 1;
    snprintf(c->name[c->series], NAME, "%.*s", NAME - 1,
             c->series == SERIES_MAX - 1 ? "others" : name);
    return c->series++;
}

static bool add(chart *c, item one) {
    if (!isfinite(one.x) || !isfinite(one.y)) return true;
    if (c->n == c->room) {
        const int64_t room = 2 * c->room + 64;
        item *more = realloc(c->items, (size_t)room * sizeof *more);
        if (!more) return false;
        c->items = more;
        c->room = room;
    }
    c->items[c->n++] = one;
    return true;
}

/* The learner of the first candidate, or of the model where there are none, needs no name. */
static bool usual(const chart *c, const char *learner) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    const krein_tried *first = krein_model_tried(c->model, 0);
    krein_model_describe(c->model, &info);
    const char *as = first ? first->learner : info.learner;
    const size_t length = strcspn(as, "(");
    return strcspn(learner, "(") == length && memcmp(learner, as, length) == 0;
}

static bool add_candidates(chart *c) {
    bool good = true;
    const krein_tried *t;
    for (int64_t i = 0; good && (t = krein_model_tried(c->model, i)); i++) {
        const char *learner = usual(c, t->learner) ? NULL : t->learner;
        const char *map = strchr(t->map, '(') ? t->map : NULL;
        const int s = series_of(c, t->kernel, t->metric, learner, map);
        good = add(c, (item){CANDIDATES, s, 0, (double)(i + 1), t->error});
    }
    return good;
}

/* A search goes from its first value by factors of a root of two; another begins elsewhere. */
static bool other_search(const krein_searched *from, const krein_searched *s) {
    if (s->rows != from->rows || s->metric != from->metric) return true;
    const double steps = 2 * log2(s->value / from->value);
    return !(fabs(steps - rint(steps)) < 0.02);
}

static bool add_values(chart *c) {
    bool good = true;
    int segment = 0, before = -1;
    const krein_searched *s, *from = NULL;
    for (int64_t i = 0; good && (s = krein_model_searched(c->model, i)); i++) {
        const int series = series_of(c, s->kernel, s->metric, NULL, NULL);
        if (series != before || other_search(from, s)) {
            segment++;
            from = s;
        }
        before = series;
        good = add(c, (item){VALUES, series, segment, s->value, s->score});
    }
    return good;
}

static bool add_lambdas(chart *c) {
    krein_array lambda, error;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    bool good = true;
    krein_model_describe(c->model, &info);
    if (!krein_model_array(c->model, "path.lambda", &lambda) ||
        !krein_model_array(c->model, "path.error", &error) || lambda.columns < 2)
        return true;
    const int s =
        series_of(c, info.kernel, info.metric, usual(c, info.learner) ? NULL : info.learner, NULL);
    for (int64_t i = 0; good && i < lambda.columns; i++)
        good = add(c, (item){LAMBDAS, s, 0, ((const double *)lambda.at)[i],
                             ((const double *)error.at)[i]});
    return good;
}

static int in_order(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->plot != y->plot) return x->plot - y->plot;
    if (x->series != y->series) return x->series - y->series;
    if (x->segment != y->segment) return x->segment - y->segment;
    return (x->x > y->x) - (x->x < y->x);
}

/* Points of the series, those of a segment behind each other, a break between segments. */
static void place(chart *c) {
    int64_t at = 0;
    qsort(c->items, (size_t)c->n, sizeof *c->items, in_order);
    for (int p = 0; p < PLOTS; p++)
        for (int s = 0; s < c->series; s++) c->all[p * c->series + s].name = c->name[s];
    for (int64_t i = 0; i < c->n; i++) {
        const item *one = &c->items[i];
        krein_svg_series *to = &c->all[one->plot * c->series + one->series];
        if (!to->points) to->points = c->points + at;
        if (to->n > 0 && one->segment != one[-1].segment) {
            c->points[at++] = (krein_svg_point){NAN, NAN, 0};
            to->n++;
        }
        c->points[at++] = (krein_svg_point){one->x, one->y, 0};
        to->n++;
    }
}

static int draw(cli_app *app, chart *c) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_svg_plot plots[PLOTS];
    int n = 0;
    bool there[PLOTS] = {false};
    char score[96] = "", held[64], title[200], number[32];
    krein_model_describe(c->model, &info);
    const char *error = info.task == KREIN_TASK_CLASSIFICATION ? "share of wrong classes" : "rmse";
    const krein_searched *first = krein_model_searched(c->model, 0);
    snprintf(held, sizeof held, "held-out %s", error);
    if (first)
        snprintf(score, sizeof score, "score by %.*s", (int)strcspn(first->criterion, "("),
                 first->criterion);
    for (int64_t i = 0; i < c->n; i++) there[c->items[i].plot] = true;
    for (int p = 0; p < PLOTS; p++) {
        if (!there[p]) continue;
        plots[n++] = (krein_svg_plot){.x_title = p == CANDIDATES ? "candidates, in the order tried"
                                                 : p == LAMBDAS  ? "lambda, on all rows"
                                                 : first         ? first->parameter
                                                                 : "value",
                                      .y_title = p == VALUES ? score : held,
                                      .n = c->series,
                                      .series = c->all + p * c->series,
                                      .linear = p == CANDIDATES,
                                      .whole = p == CANDIDATES,
                                      .semilog = p != CANDIDATES,
                                      .marks = p == CANDIDATES,
                                      .loose = true};
    }
    snprintf(title, sizeof title, "What was tried on %s rows; chosen: %.80s%s%s",
             cli_count_text(info.n, number), info.kernels > 0 ? "a sum" : info.kernel,
             info.kernels == 0 && strlen(info.kernel) > 80 ? "..." : "",
             info.metric ? " with a metric" : "");
    return cli_figure_write(app, title, n, plots);
}

int cli_tried_chart(cli_app *app, const krein_model *model) {
    int status = CLI_FAILED;
    chart c = {.model = model};
    bool good = add_candidates(&c) && add_values(&c) && add_lambdas(&c);
    if (good && c.n == 0) {
        cli_error(0,
                  "%s: nothing was tried, there is no figure: kernel and lambda were given; the "
                  "model is written",
                  app->command->name);
        goto done;
    }
    c.points = good ? calloc((size_t)(2 * c.n), sizeof *c.points) : NULL;
    c.all = good ? calloc((size_t)(PLOTS * c.series), sizeof *c.all) : NULL;
    if (!c.points || !c.all) {
        cli_error(0, "there is no memory for the figure");
        goto done;
    }
    place(&c);
    status = draw(app, &c);
done:
    free(c.items);
    free(c.points);
    free(c.all);
    return status;
}
