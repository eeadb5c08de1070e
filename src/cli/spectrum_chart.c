/* spectrum_chart.c -- the frequencies of a model as a figure: their mean size for each encoded
 * input, and a histogram of their lengths; where they were trained, also those at the start. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 40, SETS = 2 };
static const double SHOWN = 0.99; /* of the frequencies: some laws have very long ones */

typedef struct chart {
    int64_t d, n, sets;
    const float *w[SETS];
    double *length[SETS];            /* n, ascending */
    krein_svg_point *by_input[SETS]; /* d */
    krein_svg_point by_length[SETS][BINS];
    krein_svg_series series[2 * SETS]; /* of both plots */
} chart;

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean |w_j|, and the lengths. */
static void measure(chart *c, int64_t s) {
    for (int64_t j = 0; j < c->d; j++) c->by_input[s][j] = (krein_svg_point){(double)(j + 1), 0, 0};
    for (int64_t f = 0; f < c->n; f++) {
        double square = 0;
        for (int64_t j = 0; j < c->d; j++) {
            const double w = (double)c->w[s][f * c->d + j];
            c->by_input[s][j].y += fabs(w) / (double)c->n;
            square += w * w;
        }
        c->length[s][f] = sqrt(square);
    }
    qsort(c->length[s], (size_t)c->n, sizeof(double), ascending);
}

/* Shares of all frequencies in equal bins up to `end`; the points are in their middles. */
static void count(chart *c, int64_t s, double end) {
    for (int k = 0; k < BINS; k++)
        c->by_length[s][k] = (krein_svg_point){end * (k + 0.5) / BINS, 0, 0};
    for (int64_t f = 0; f < c->n; f++) {
        const int k = (int)fmin(c->length[s][f] / end * BINS, BINS);
        if (k < BINS) c->by_length[s][k].y += 1 / (double)c->n;
    }
}

static bool allocate(chart *c) {
    bool there = true;
    for (int64_t s = 0; s < c->sets; s++) {
        c->length[s] = calloc((size_t)c->n, sizeof(double));
        c->by_input[s] = calloc((size_t)c->d, sizeof(krein_svg_point));
        there = there && c->length[s] && c->by_input[s];
    }
    return there;
}

static int draw(cli_app *app, chart *c, const char *map) {
    static const char *const names[SETS] = {"trained", "at the start"};
    char title[512];
    double end = 0;
    for (int64_t s = 0; s < c->sets; s++) {
        measure(c, s);
        end = fmax(end, c->length[s][(int64_t)(SHOWN * (double)(c->n - 1))]);
    }
    for (int64_t s = 0; s < c->sets; s++) {
        const char *name = c->sets > 1 ? names[s] : "frequencies";
        count(c, s, end > 0 ? end * 1.0001 : 1);
        c->series[s] = (krein_svg_series){name, c->d, c->by_input[s]};
        c->series[SETS + s] = (krein_svg_series){name, BINS, c->by_length[s]};
    }
    snprintf(title, sizeof title, "%" PRId64 " frequencies of %.400s", c->n, map);
    const krein_svg_plot plots[2] = {{.x_title = "encoded input",
                                      .y_title = "mean |w_j|",
                                      .n = c->sets,
                                      .series = c->series,
                                      .linear = true,
                                      .whole = true},
                                     {.x_title = "length |w|",
                                      .y_title = "share of the frequencies",
                                      .n = c->sets,
                                      .series = c->series + SETS,
                                      .linear = true}};
    return cli_figure_write(app, title, 2, plots);
}

int cli_spectrum_chart(cli_app *app, const krein_model *model) {
    krein_frequencies r = KREIN_SIZED(krein_frequencies);
    krein_model_info info = KREIN_SIZED(krein_model_info);
    const krein_status st = krein_model_frequencies(app->ctx, model, &r);
    if (st != KREIN_OK) return cli_failure(app, st);
    chart c = {.d = r.d, .n = r.n, .sets = r.start ? 2 : 1, .w = {r.w, r.start}};
    krein_model_describe(model, &info);
    const int status = allocate(&c) ? draw(app, &c, info.map)
                                    : cli_error(CLI_FAILED, "there is no memory for the figure");
    for (int s = 0; s < SETS; s++) {
        free(c.length[s]);
        free(c.by_input[s]);
    }
    krein_frequencies_clear(app->ctx, &r);
    return status;
}
