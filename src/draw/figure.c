/* figure.c -- plots beside and below each other with one legend, as SVG: lines or marks, log-log,
 * linear, or linear over a logarithmic axis. One plot alone is larger. */
#include "draw/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 400,
    HEIGHT = 300,
    WIDTH_ALONE = 620,
    HEIGHT_ALONE = 440,
    LEFT = 66,
    TOP = 40,
    GAP = 90,
    BELOW = 56, /* a plot: ticks and the title of its axis */
    ROW = 18,
    LETTER = 8,  /* at most, of 12 pixels */
    MARKED = 64, /* points of a linear plot that have markers */
    DENSE = 150, /* of a plot of marks: above this they are small */
    TOLD = 400   /* points of a plot up to which each has a text */
};

/* Where the plots are. */
typedef struct layout {
    int columns, rows, width, height; /* of plots; of one of them, in pixels */
    int across;                       /* pixels from the left end to the right end of all frames */
} layout;

static bool drawn(const krein_svg_point *p, const krein_svg_axis *x, const krein_svg_axis *y) {
    return isfinite(p->x) && isfinite(p->y) && (x->linear || p->x > 0) && (y->linear || p->y > 0);
}

/* The lower end of an error bar may reach zero or below, which a log krein_svg_axis does not have.
 */
static double bar_low(const krein_svg_point *p) { return fmax(p->y - p->bar, p->y / 10); }

static void widen(krein_svg_axis *a, double value) {
    double l = krein__svg_scaled(a, value);
    a->low = fmin(a->low, l);
    a->high = fmax(a->high, l);
}

static void ranges(const krein_svg_plot *plot, krein_svg_axis *x, krein_svg_axis *y) {
    x->linear = plot->linear;
    y->linear = plot->linear || plot->semilog;
    x->whole = plot->whole;
    y->whole = false;
    x->low = y->low = INFINITY;
    x->high = y->high = -INFINITY;
    const bool from_zero = plot->linear && !plot->loose;
    if (from_zero) widen(y, 0);
    for (int64_t s = 0; s < plot->n; s++)
        for (int64_t i = 0; i < plot->series[s].n; i++) {
            const krein_svg_point *p = &plot->series[s].points[i];
            if (!drawn(p, x, y)) continue;
            widen(x, p->x);
            widen(y, p->y);
            if (p->bar > 0) {
                widen(y, p->y + p->bar);
                widen(y, bar_low(p));
            }
        }
    krein_svg_axis *both[] = {x, y};
    for (int k = 0; k < 2; k++) {
        if (!(both[k]->low <= both[k]->high)) both[k]->low = both[k]->high = 0; /* no point */
        double span = both[k]->high - both[k]->low;
        double least = !both[k]->linear ? 0.06
                       : span > 0       ? 0
                       : plot->semilog  ? fmax(0.1 * fabs(both[k]->high), 1e-9)
                                        : 0.5 + fabs(both[k]->high) / 2;
        double space = fmax(0.05 * span, least);
        if (!from_zero || both[k] == x) both[k]->low -= space;
        both[k]->high += space;
    }
}

/* A point that is not drawn ends the line, and the next begins another. */
static void put_line(krein_buffer *f, const krein_svg_series *s, int look, const krein_svg_axis *x,
                     const krein_svg_axis *y) {
    bool any = false, broken = true;
    for (int64_t i = 0; i < s->n; i++) {
        const krein_svg_point *p = &s->points[i];
        const bool on = drawn(p, x, y);
        if (on && !any)
            krein__buffer_add(f, "<path class=\"line s%d d%d\" d=\"", look % KREIN_SVG_COLOURS,
                              krein__svg_dash(look));
        if (on)
            krein__buffer_add(f, "%c%.1f %.1f", broken ? 'M' : 'L', krein__svg_at(x, p->x),
                              krein__svg_at(y, p->y));
        any = any || on;
        broken = !on;
    }
    if (any) krein__buffer_put(f, "\"/>\n");
}

static void put_marks(krein_buffer *f, const krein_svg_plot *plot, const krein_svg_series *s,
                      int look, const krein_svg_axis *x, const krein_svg_axis *y, int64_t count) {
    const bool small = plot->marks && count > DENSE;
    if (small) krein__buffer_put(f, "<g opacity=\"0.7\">\n");
    for (int64_t i = 0; i < s->n; i++) {
        const krein_svg_point *p = &s->points[i];
        char tip[400] = "";
        if (!drawn(p, x, y)) continue;
        const double here = krein__svg_at(x, p->x);
        if (p->bar > 0)
            krein__buffer_add(
                f, "<path class=\"bar s%d\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
                look % KREIN_SVG_COLOURS, here, krein__svg_at(y, bar_low(p)),
                krein__svg_at(y, p->y + p->bar), here - 3, krein__svg_at(y, bar_low(p)), here - 3,
                krein__svg_at(y, p->y + p->bar));
        if (count <= TOLD) snprintf(tip, sizeof tip, "%.300s: %.4g, %.4g", s->name, p->x, p->y);
        krein__svg_mark(f, look, small, here, krein__svg_at(y, p->y), tip);
    }
    if (small) krein__buffer_put(f, "</g>\n");
}

/* Pixels between neighbouring series at the same x, where bars would cover each other. */
static double apart(const krein_svg_plot *plot) {
    for (int64_t s = 0; s < plot->n; s++)
        for (int64_t i = 0; i < plot->series[s].n; i++)
            if (plot->series[s].points[i].bar > 0)
                return plot->n > 1 ? fmin(7, 28 / (double)(plot->n - 1)) : 0;
    return 0;
}

static void put_plot(krein_buffer *f, const krein_svg_plot *plot, const layout *l, int number) {
    krein_svg_axis x = {0}, y = {0};
    const int left = LEFT + number % l->columns * (l->width + GAP);
    const int top = TOP + number / l->columns * (l->height + BELOW);
    int64_t count = 0;
    ranges(plot, &x, &y);
    x.from = left;
    x.length = l->width;
    y.from = top + l->height;
    y.length = -l->height;
    krein__svg_ticks(f, &x, &y, true);
    krein__svg_ticks(f, &y, &x, false);
    krein__buffer_add(f, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                      left, top, l->width, l->height);
    for (int64_t s = 0; s < plot->n; s++) count += plot->series[s].n;
    for (int64_t s = 0; s < plot->n; s++) {
        const krein_svg_series *one = &plot->series[s];
        krein_svg_axis aside = x;
        aside.from += apart(plot) * ((double)s - (double)(plot->n - 1) / 2);
        if (!plot->marks) put_line(f, one, (int)s, &aside, &y);
        if (plot->marks || !x.linear || one->n <= MARKED)
            put_marks(f, plot, one, (int)s, &aside, &y, count);
    }
    krein__buffer_add(f, "<text class=\"title\" x=\"%d\" y=\"%d\">", left + l->width / 2,
                      top + l->height + 38);
    krein__svg_text(f, plot->x_title);
    krein__buffer_add(f,
                      "</text>\n<text class=\"title\" transform=\"translate(%d %d) rotate(-90)\">",
                      left - 50, top + l->height / 2);
    krein__svg_text(f, plot->y_title);
    krein__buffer_put(f, "</text>\n");
}

static int per_row(const krein_svg_plot *plot, const layout *l) {
    size_t longest = 0;
    for (int64_t s = 0; s < plot->n; s++) {
        size_t length = strlen(plot->series[s].name);
        longest = length > longest ? length : longest;
    }
    int n = l->across / (int)(LETTER * longest + 50);
    return n < 1 ? 1 : n;
}

static void put_legend(krein_buffer *f, const krein_svg_plot *plot, const layout *l) {
    const int columns = per_row(plot, l), step = l->across / columns;
    krein__buffer_put(f, "<g class=\"legend\">\n");
    for (int64_t s = 0; s < plot->n; s++) {
        const int look = (int)s, x = LEFT + (int)(s % columns) * step;
        const int y = TOP + l->rows * (l->height + BELOW) + (int)(s / columns) * ROW;
        if (!plot->marks)
            krein__buffer_add(f, "<path class=\"line s%d d%d\" d=\"M%d %dh28\"/>\n",
                              look % KREIN_SVG_COLOURS, krein__svg_dash(look), x, y);
        krein__svg_mark(f, look, false, x + 14, y, "");
        krein__buffer_add(f, "<text x=\"%d\" y=\"%d\">", x + 36, y + 4);
        krein__svg_text(f, plot->series[s].name);
        krein__buffer_put(f, "</text>\n");
    }
    krein__buffer_put(f, "</g>\n");
}

void krein__svg_figure(krein_buffer *f, const char *title, int n, const krein_svg_plot *plots) {
    const bool alone = n == 1;
    layout l = {.columns = alone ? 1 : 2,
                .rows = (n + 1) / 2,
                .width = alone ? WIDTH_ALONE : WIDTH,
                .height = alone ? HEIGHT_ALONE : HEIGHT};
    l.across = l.columns * l.width + (l.columns - 1) * GAP;
    const int columns = per_row(&plots[0], &l);
    const int rows = (int)((plots[0].n + columns - 1) / columns);
    const int width = LEFT + l.across + 24,
              height = TOP + l.rows * (l.height + BELOW) + rows * ROW + 6;
    krein__svg_begin(f, title, width, height);
    for (int k = 0; k < n; k++) put_plot(f, &plots[k], &l, k);
    if (plots[0].n > 1 || plots[0].series[0].name[0]) put_legend(f, &plots[0], &l);
    krein__svg_end(f);
}
