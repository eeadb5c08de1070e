/* figure.c -- two plots beside each other with one legend, as SVG; log-log, or linear. */
#include "draw/svg.h"

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

static bool drawn(const krein_svg_point *p, const krein_svg_axis *x) {
    return isfinite(p->x) && isfinite(p->y) && (x->linear || (p->x > 0 && p->y > 0));
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
    x->linear = y->linear = plot->linear;
    x->whole = plot->whole;
    y->whole = false;
    x->low = y->low = INFINITY;
    x->high = y->high = -INFINITY;
    if (plot->linear) widen(y, 0);
    for (int64_t s = 0; s < plot->n; s++)
        for (int64_t i = 0; i < plot->series[s].n; i++) {
            const krein_svg_point *p = &plot->series[s].points[i];
            if (!drawn(p, x)) continue;
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
        double least = !plot->linear ? 0.06 : span > 0 ? 0 : 0.5 + fabs(both[k]->high) / 2;
        double space = fmax(0.05 * span, least);
        if (!plot->linear || both[k] == x) both[k]->low -= space;
        both[k]->high += space;
    }
}

static void put_series(krein_buffer *f, const krein_svg_series *s, int look,
                       const krein_svg_axis *x, const krein_svg_axis *y) {
    bool first = true;
    for (int64_t i = 0; i < s->n; i++) {
        const krein_svg_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        krein__buffer_add(f, first ? "<path class=\"line s%d d%d\" d=\"M" : "L",
                          look % KREIN_SVG_COLOURS, krein__svg_dash(look));
        krein__buffer_add(f, "%.1f %.1f", krein__svg_at(x, p->x), krein__svg_at(y, p->y));
        first = false;
    }
    if (first) return;
    krein__buffer_put(f, "\"/>\n");
    if (x->linear && s->n > MARKED) return;
    for (int64_t i = 0; i < s->n; i++) {
        const krein_svg_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        double here = krein__svg_at(x, p->x);
        if (p->bar > 0)
            krein__buffer_add(
                f, "<path class=\"bar s%d\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
                look % KREIN_SVG_COLOURS, here, krein__svg_at(y, bar_low(p)),
                krein__svg_at(y, p->y + p->bar), here - 3, krein__svg_at(y, bar_low(p)), here - 3,
                krein__svg_at(y, p->y + p->bar));
        krein__svg_marker(f, look, here, krein__svg_at(y, p->y));
    }
}

static void put_plot(krein_buffer *f, const krein_svg_plot *plot, double left) {
    krein_svg_axis x, y;
    ranges(plot, &x, &y);
    x.from = left;
    x.length = WIDTH;
    y.from = TOP + HEIGHT;
    y.length = -HEIGHT;
    krein__svg_ticks(f, &x, &y, true);
    krein__svg_ticks(f, &y, &x, false);
    krein__buffer_add(f, "<rect class=\"frame\" x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                      left, TOP, WIDTH, HEIGHT);
    for (int64_t s = 0; s < plot->n; s++) put_series(f, &plot->series[s], (int)s, &x, &y);
    krein__buffer_add(f, "<text class=\"title\" x=\"%.0f\" y=\"%d\">", left + WIDTH / 2.0,
                      TOP + HEIGHT + 38);
    krein__svg_text(f, plot->x_title);
    krein__buffer_add(
        f, "</text>\n<text class=\"title\" transform=\"translate(%.0f %d) rotate(-90)\">",
        left - 50, TOP + HEIGHT / 2);
    krein__svg_text(f, plot->y_title);
    krein__buffer_put(f, "</text>\n");
}

static int per_row(const krein_svg_plot *plot) {
    size_t longest = 0;
    for (int64_t s = 0; s < plot->n; s++) {
        size_t length = strlen(plot->series[s].name);
        longest = length > longest ? length : longest;
    }
    int n = (2 * WIDTH + GAP) / (int)(8 * longest + 50);
    return n < 1 ? 1 : n;
}

static void put_legend(krein_buffer *f, const krein_svg_plot *plot) {
    int columns = per_row(plot), step = (2 * WIDTH + GAP) / columns;
    for (int64_t s = 0; s < plot->n; s++) {
        int look = (int)s;
        int x = LEFT + (int)(s % columns) * step;
        int y = TOP + HEIGHT + BELOW + (int)(s / columns) * ROW;
        krein__buffer_add(f, "<path class=\"line s%d d%d\" d=\"M%d %dh28\"/>\n",
                          look % KREIN_SVG_COLOURS, krein__svg_dash(look), x, y);
        krein__svg_marker(f, look, x + 14, y);
        krein__buffer_add(f, "<text x=\"%d\" y=\"%d\">", x + 36, y + 4);
        krein__svg_text(f, plot->series[s].name);
        krein__buffer_put(f, "</text>\n");
    }
}

void krein__svg_figure(krein_buffer *f, const char *title, const krein_svg_plot plots[2]) {
    int columns = per_row(&plots[0]);
    int rows = (int)((plots[0].n + columns - 1) / columns);
    int width = LEFT + 2 * WIDTH + GAP + 24, height = TOP + HEIGHT + BELOW + rows * ROW + 6;
    krein__svg_begin(f, title, width, height);
    put_plot(f, &plots[0], LEFT);
    put_plot(f, &plots[1], LEFT + WIDTH + GAP);
    put_legend(f, &plots[0]);
    krein__svg_end(f);
}
