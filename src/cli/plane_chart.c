/* plane_chart.c -- rows in the plane of the first two principal components, as a figure: a seeded
 * choice of them, marked by class or cluster. */
#include "cli/cli.h"

#include "base/base.h"
#include "base/rng.h"
#include "draw/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 2000, GROUPS = 20, LETTERS = 30, NAME = 4 * LETTERS + 4 };

krein_status cli_plane_take(void *user, const krein_prediction *p) {
    cli_plane *to = user;
    if (p->row >= to->room) {
        const int64_t room = 2 * p->row + 1024;
        double *x = realloc(to->x, (size_t)room * sizeof *x);
        if (x) to->x = x;
        double *y = realloc(to->y, (size_t)room * sizeof *y);
        if (y) to->y = y;
        if (!x || !y) return KREIN_EMEMORY;
        to->room = room;
    }
    for (; to->n <= p->row; to->n++) to->x[to->n] = to->y[to->n] = NAN;
    if (!p->values) return KREIN_OK;
    to->x[p->row] = p->values[0];
    to->y[p->row] = p->values[1];
    return KREIN_OK;
}

void cli_plane_end(cli_plane *plane) {
    free(plane->x);
    free(plane->y);
}

typedef struct chart {
    const cli_plane *plane;
    int64_t shown, series;
    int64_t *index; /* of the rows shown */
    char name[GROUPS + 1][NAME];
    krein_svg_series all[GROUPS + 1];
    krein_svg_point *points;
} chart;

/* The series of a row: its group; those that are too many share one, rows without one the last. */
static int64_t series_of(const chart *c, int64_t row) {
    const cli_plane *p = c->plane;
    if (!p->group || p->groups == 0) return 0;
    const int64_t named = p->groups <= GROUPS ? p->groups : GROUPS - 1;
    if (p->group[row] < 0) return c->series - 1;
    return p->group[row] < named ? p->group[row] : named;
}

static void name_series(chart *c) {
    const cli_plane *p = c->plane;
    const int64_t named = p->groups <= GROUPS ? p->groups : GROUPS - 1;
    bool without = false;
    char shortened[NAME];
    c->series = 1;
    if (!p->group || p->groups == 0) return; /* one series without a name */
    for (int64_t i = 0; i < p->n; i++) without = without || p->group[i] < 0;
    c->series = named;
    for (int64_t k = 0; k < named; k++) {
        if (p->names)
            snprintf(c->name[k], NAME, "%s", krein__chart_short(p->names[k], LETTERS, shortened));
        else
            snprintf(c->name[k], NAME, "%s %lld", p->what, (long long)k + 1);
    }
    if (named < p->groups)
        snprintf(c->name[c->series++], NAME, "%lld others", (long long)(p->groups - named));
    if (without && c->series <= GROUPS) snprintf(c->name[c->series++], NAME, "without a label");
}

static void place(chart *c) {
    const cli_plane *p = c->plane;
    int64_t at = 0;
    for (int64_t s = 0; s < c->series; s++) {
        krein_svg_series *to = &c->all[s];
        *to = (krein_svg_series){.name = c->name[s], .points = c->points + at};
        for (int64_t i = 0; i < c->shown; i++) {
            const int64_t row = c->index[i];
            if (series_of(c, row) != s || !isfinite(p->x[row]) || !isfinite(p->y[row])) continue;
            c->points[at++] = (krein_svg_point){p->x[row], p->y[row], 0};
            to->n++;
        }
    }
}

static int draw(cli_app *app, chart *c, const krein_pca_report *r) {
    char title[200], x_title[80], y_title[80], shown[32], all[32];
    const cli_plane *p = c->plane;
    krein_rng g = {app->args.seed, KREIN_STREAM_SAMPLE};
    krein__rng_choose(g, p->n, c->shown, c->index);
    name_series(c);
    place(c);
    snprintf(x_title, sizeof x_title, "first component (%.3g %% of the variance)",
             100 * r->ratio[0]);
    snprintf(y_title, sizeof y_title, "second component (%.3g %%)", 100 * r->ratio[1]);
    snprintf(title, sizeof title, "%s%s%s rows, %.100s", cli_count_text(c->shown, shown),
             c->shown < p->n ? " of " : "", c->shown < p->n ? cli_count_text(p->n, all) : "",
             r->kernel);
    const krein_svg_plot plot = {.x_title = x_title,
                                 .y_title = y_title,
                                 .n = c->series,
                                 .series = c->all,
                                 .linear = true,
                                 .marks = true,
                                 .loose = true};
    return cli_figure_write(app, title, 1, &plot);
}

int cli_plane_chart(cli_app *app, const krein_pca_report *r, const cli_plane *plane) {
    int status = CLI_FAILED;
    chart *c = calloc(1, sizeof *c);
    if (c) {
        c->plane = plane;
        c->shown = plane->n < SHOWN ? plane->n : SHOWN;
        c->index = calloc((size_t)c->shown + 1, sizeof *c->index);
        c->points = calloc((size_t)c->shown + 1, sizeof *c->points);
    }
    if (c && c->index && c->points)
        status = draw(app, c, r);
    else
        cli_error(0, "there is no memory for the figure");
    if (c) free(c->index);
    if (c) free(c->points);
    free(c);
    return status;
}
