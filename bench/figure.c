/* figure.c -- the figure of krein approx --plot (src/draw/figure.c) from numbers on standard input,
 * for the measurements. Lines with tabs between their fields:
 *
 *     title <text>
 *     plot <text below> <text beside> [linear]     twice; axes are logarithmic but for that word
 *     series <name>                       of the plot above; the same names in both
 *     <x> <y> <half a bar>                of the series above; 0: no bar
 */
#include "draw/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 16, POINTS = 256, LINE = 512 };

typedef struct drawing {
    char title[LINE], text[2][2][LINE], name[2][SERIES][LINE];
    krein_svg_point points[2][SERIES][POINTS];
    krein_svg_series series[2][SERIES];
    krein_svg_plot plots[2];
    int count;
} drawing;

/* The next field of the line, "" past the end. */
static char *field(char **line) {
    char *at = *line ? strsep(line, "\t") : NULL;
    return at ? at : "";
}

static bool take_plot(drawing *d, char *line) {
    if (d->count == 2) return false;
    krein_svg_plot *p = &d->plots[d->count];
    for (int side = 0; side < 2; side++)
        snprintf(d->text[d->count][side], LINE, "%s", field(&line));
    *p = (krein_svg_plot){.x_title = d->text[d->count][0],
                          .y_title = d->text[d->count][1],
                          .series = d->series[d->count],
                          .linear = strcmp(field(&line), "linear") == 0};
    d->count++;
    return true;
}

static bool take_series(drawing *d, char *line) {
    int k = d->count - 1;
    if (k < 0 || d->plots[k].n == SERIES) return false;
    int64_t s = d->plots[k].n++;
    snprintf(d->name[k][s], LINE, "%s", field(&line));
    d->series[k][s] = (krein_svg_series){d->name[k][s], 0, d->points[k][s]};
    return true;
}

static bool take_point(drawing *d, char *line) {
    int k = d->count - 1;
    if (k < 0 || d->plots[k].n == 0) return false;
    int64_t s = d->plots[k].n - 1;
    if (d->series[k][s].n == POINTS) return false;
    double x = strtod(field(&line), NULL), y = strtod(field(&line), NULL);
    d->points[k][s][d->series[k][s].n++] = (krein_svg_point){x, y, strtod(field(&line), NULL)};
    return true;
}

static bool take(drawing *d, char *line) {
    char *rest = line, *word = field(&rest);
    if (strcmp(word, "title") == 0) return snprintf(d->title, LINE, "%s", field(&rest)) >= 0;
    if (strcmp(word, "plot") == 0) return take_plot(d, rest);
    if (strcmp(word, "series") == 0) return take_series(d, rest);
    if (rest) rest[-1] = '\t';
    return take_point(d, line);
}

int main(void) {
    static drawing d;
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (take(&d, line)) continue;
        fprintf(stderr, "figure: too much, or out of order: %s\n", line);
        return 1;
    }
    if (d.count != 2 || d.plots[0].n != d.plots[1].n) {
        fprintf(stderr, "figure: two plots with as many series are wanted\n");
        return 1;
    }
    krein_ctx *ctx = NULL;
    if (krein_ctx_create(NULL, &ctx) != KREIN_OK) return 1;
    krein_buffer text = {.ctx = ctx};
    krein__svg_figure(&text, d.title, 2, d.plots);
    const bool written =
        text.status == KREIN_OK && fwrite(text.text, 1, text.size, stdout) == text.size;
    krein__buffer_end(&text);
    krein_ctx_destroy(ctx);
    return written ? 0 : 1;
}
