/* figure.c -- two plots beside each other with one legend, as SVG; log-log, or linear. */
#include "cli/svg.h"

#include "cli/cli.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 400,
    HEIGHT = 300,
    LEFT = 66,
    TOP = 40,
    GAP = 90,
    BELOW = 56,
    ROW = 18,
    MARKED = 64 /* points of a linear plot that have markers */
};

static bool drawn(const cli_point *p, const svg_axis *x) {
    return isfinite(p->x) && isfinite(p->y) && (x->linear || (p->x > 0 && p->y > 0));
}

/* The lower end of an error bar may reach zero or below, which a log svg_axis does not have. */
static double bar_low(const cli_point *p) { return fmax(p->y - p->bar, p->y / 10); }

static void widen(svg_axis *a, double value) {
    double l = svg_scaled(a, value);
    a->low = fmin(a->low, l);
    a->high = fmax(a->high, l);
}

static void ranges(const cli_plot *plot, svg_axis *x, svg_axis *y) {
    x->linear = y->linear = plot->linear;
    x->whole = plot->whole;
    y->whole = false;
    x->low = y->low = INFINITY;
    x->high = y->high = -INFINITY;
    if (plot->linear) widen(y, 0);
    for (int64_t s = 0; s < plot->n; s++)
        for (int64_t i = 0; i < plot->series[s].n; i++) {
            const cli_point *p = &plot->series[s].points[i];
            if (!drawn(p, x)) continue;
            widen(x, p->x);
            widen(y, p->y);
            if (p->bar > 0) {
                widen(y, p->y + p->bar);
                widen(y, bar_low(p));
            }
        }
    svg_axis *both[] = {x, y};
    for (int k = 0; k < 2; k++) {
        if (!(both[k]->low <= both[k]->high)) both[k]->low = both[k]->high = 0; /* no point */
        double span = both[k]->high - both[k]->low;
        double least = !plot->linear ? 0.06 : span > 0 ? 0 : 0.5 + fabs(both[k]->high) / 2;
        double space = fmax(0.05 * span, least);
        if (!plot->linear || both[k] == x) both[k]->low -= space;
        both[k]->high += space;
    }
}

/* Pixels between neighbouring series at the same x, where bars would cover each other. */
static double apart(const cli_plot *plot) {
    for (int64_t s = 0; s < plot->n; s++)
        for (int64_t i = 0; i < plot->series[s].n; i++)
            if (plot->series[s].points[i].bar > 0)
                return plot->n > 1 ? fmin(7, 28 / (double)(plot->n - 1)) : 0;
    return 0;
}

static void put_series(FILE *f, const cli_series *s, int look, const svg_axis *x, const svg_axis *y,
                       double aside) {
    bool first = true;
    for (int64_t i = 0; i < s->n; i++) {
        const cli_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        fprintf(f, first ? "<path class=\"line s%d d%d\" d=\"M" : "L", look % SVG_COLOURS,
                svg_dash(look));
        fprintf(f, "%.1f %.1f", svg_at(x, p->x) + aside, svg_at(y, p->y));
        first = false;
    }
    if (first) return;
    fputs("\"/>\n", f);
    if (x->linear && s->n > MARKED) return;
    for (int64_t i = 0; i < s->n; i++) {
        const cli_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        double here = svg_at(x, p->x) + aside;
        if (p->bar > 0)
            fprintf(f, "<path class=\"bar s%d\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
                    look % SVG_COLOURS, here, svg_at(y, bar_low(p)), svg_at(y, p->y + p->bar),
                    here - 3, svg_at(y, bar_low(p)), here - 3, svg_at(y, p->y + p->bar));
        svg_marker(f, look, here, svg_at(y, p->y));
    }
}

static void put_plot(FILE *f, const cli_plot *plot, double left) {
    svg_axis x, y;
    ranges(plot, &x, &y);
    x.from = left;
    x.length = WIDTH;
    y.from = TOP + HEIGHT;
    y.length = -HEIGHT;
    svg_ticks(f, &x, &y, true);
    svg_ticks(f, &y, &x, false);
    fprintf(f, "<rect class=\"frame\" x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", left,
            TOP, WIDTH, HEIGHT);
    for (int64_t s = 0; s < plot->n; s++)
        put_series(f, &plot->series[s], (int)s, &x, &y,
                   apart(plot) * ((double)s - (double)(plot->n - 1) / 2));
    fprintf(f, "<text class=\"title\" x=\"%.0f\" y=\"%d\">", left + WIDTH / 2.0, TOP + HEIGHT + 38);
    svg_text(f, plot->x_title);
    fprintf(f, "</text>\n<text class=\"title\" transform=\"translate(%.0f %d) rotate(-90)\">",
            left - 50, TOP + HEIGHT / 2);
    svg_text(f, plot->y_title);
    fputs("</text>\n", f);
}

static int per_row(const cli_plot *plot) {
    size_t longest = 0;
    for (int64_t s = 0; s < plot->n; s++) {
        size_t length = strlen(plot->series[s].name);
        longest = length > longest ? length : longest;
    }
    int n = (2 * WIDTH + GAP) / (int)(8 * longest + 50);
    return n < 1 ? 1 : n;
}

static void put_legend(FILE *f, const cli_plot *plot) {
    int columns = per_row(plot), step = (2 * WIDTH + GAP) / columns;
    for (int64_t s = 0; s < plot->n; s++) {
        int look = (int)s;
        int x = LEFT + (int)(s % columns) * step;
        int y = TOP + HEIGHT + BELOW + (int)(s / columns) * ROW;
        fprintf(f, "<path class=\"line s%d d%d\" d=\"M%d %dh28\"/>\n", look % SVG_COLOURS,
                svg_dash(look), x, y);
        svg_marker(f, look, x + 14, y);
        fprintf(f, "<text x=\"%d\" y=\"%d\">", x + 36, y + 4);
        svg_text(f, plot->series[s].name);
        fputs("</text>\n", f);
    }
}

void cli_figure(FILE *f, const char *title, const cli_plot plots[2]) {
    int columns = per_row(&plots[0]);
    int rows = (int)((plots[0].n + columns - 1) / columns);
    int width = LEFT + 2 * WIDTH + GAP + 24, height = TOP + HEIGHT + BELOW + rows * ROW + 6;
    svg_begin(f, title, width, height);
    put_plot(f, &plots[0], LEFT);
    put_plot(f, &plots[1], LEFT + WIDTH + GAP);
    put_legend(f, &plots[0]);
    svg_end(f);
}
