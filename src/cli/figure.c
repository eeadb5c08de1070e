/* figure.c -- two plots beside each other with one legend, as SVG; log-log, or linear.
 *
 * Series differ by colour, dash and marker, so that they can be told apart in grey print and by
 * colour-blind readers. Ink and paper follow the reader's colour scheme; printed or embedded where
 * there is none, the figure is dark on white.
 */
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
    COLOURS = 8,
    ROW = 18,
    MARKED = 64 /* points of a linear plot that have markers */
};

/* Okabe and Ito's palette, black apart (it is the ink), in an order of contrast. */
static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"};
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3"};

/* The i-th series: colours come round first, then dash and marker differ. */
static int dash(int look) { return (look / 2 + look / COLOURS) % 4; }

typedef struct axis {
    bool linear, whole; /* whole: no ticks between whole numbers */
    double low, high;   /* of what scaled gives */
    double from, length;
} axis;

static double scaled(const axis *a, double value) { return a->linear ? value : log10(value); }

static double at(const axis *a, double value) {
    return a->from + a->length * (scaled(a, value) - a->low) / (a->high - a->low);
}

static bool drawn(const cli_point *p, const axis *x) {
    return isfinite(p->x) && isfinite(p->y) && (x->linear || (p->x > 0 && p->y > 0));
}

/* The lower end of an error bar may reach zero or below, which a log axis does not have. */
static double bar_low(const cli_point *p) { return fmax(p->y - p->bar, p->y / 10); }

static void widen(axis *a, double value) {
    double l = scaled(a, value);
    a->low = fmin(a->low, l);
    a->high = fmax(a->high, l);
}

static void ranges(const cli_plot *plot, axis *x, axis *y) {
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
    axis *both[] = {x, y};
    for (int k = 0; k < 2; k++) {
        if (!(both[k]->low <= both[k]->high)) both[k]->low = both[k]->high = 0; /* no point */
        double span = both[k]->high - both[k]->low;
        double least = !plot->linear ? 0.06 : span > 0 ? 0 : 0.5 + fabs(both[k]->high) / 2;
        double space = fmax(0.05 * span, least);
        if (!plot->linear || both[k] == x) both[k]->low -= space;
        both[k]->high += space;
    }
}

/* XML text: names and kernels are the user's. */
static void put_text(FILE *f, const char *text) {
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", f);
        else if (*text == '>')
            fputs("&gt;", f);
        else if (*text == '&')
            fputs("&amp;", f);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, f);
    }
}

static void put_label(FILE *f, double x, double y, const char *class, double value) {
    char text[32];
    if (value == 0 || (fabs(value) > 0.9e-3 && fabs(value) < 1e6))
        snprintf(text, sizeof text, "%g", value);
    else
        snprintf(text, sizeof text, "%.0fe%d", value / pow(10, floor(log10(fabs(value) * 1.01))),
                 (int)floor(log10(fabs(value) * 1.01)));
    fprintf(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, text);
}

static void put_tick(FILE *f, const axis *a, const axis *other, bool across, double value) {
    double here = at(a, value), end = other->from + other->length;
    if (scaled(a, value) < a->low || scaled(a, value) > a->high) return;
    if (across) {
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", here, other->from, end);
        put_label(f, here, fmax(other->from, end) + 16, "tick", value);
    } else {
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", other->from, here, end);
        put_label(f, other->from - 6, here + 4, "tick side", value);
    }
}

/* Linear, or within less than a factor of four: at four to ten multiples of 1, 2 or 5 times a power
 * of ten. */
static void put_even_ticks(FILE *f, const axis *a, const axis *other, bool across) {
    double low = a->linear ? a->low : pow(10, a->low),
           high = a->linear ? a->high : pow(10, a->high);
    double rough = (high - low) / 8;
    double power = pow(10, floor(log10(rough))), ratio = rough / power;
    double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    if (a->whole) step = fmax(step, 1);
    for (double k = ceil(low / step); k * step <= high; k++)
        put_tick(f, a, other, across, k * step + 0.0); /* no -0 */
}

/* Ticks at 1, 2, 5 times the powers of ten, or at powers alone where those are many. */
static void put_ticks(FILE *f, const axis *a, const axis *other, bool across) {
    static const double steps[] = {1, 2, 5};
    double span = a->high - a->low;
    int stride = span > 8 ? 2 : 1, subdivisions = span > 2.2 ? 1 : 3;
    if (a->linear || span < 0.6) {
        put_even_ticks(f, a, other, across);
        return;
    }
    for (int e = (int)floor(a->low); e <= (int)ceil(a->high); e++)
        for (int k = 0; k < subdivisions && (stride == 1 || e % 2 == 0); k++)
            put_tick(f, a, other, across, steps[k] * pow(10, e));
}

static void put_marker(FILE *f, int look, double x, double y) {
    fprintf(f, "<use href=\"#mark%d\" x=\"%.1f\" y=\"%.1f\" class=\"mark m%d\"/>\n",
            (look + look / COLOURS) % 4, x, y, look % COLOURS);
}

static void put_series(FILE *f, const cli_series *s, int look, const axis *x, const axis *y) {
    bool first = true;
    for (int64_t i = 0; i < s->n; i++) {
        const cli_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        fprintf(f, first ? "<path class=\"line s%d d%d\" d=\"M" : "L", look % COLOURS, dash(look));
        fprintf(f, "%.1f %.1f", at(x, p->x), at(y, p->y));
        first = false;
    }
    if (first) return;
    fputs("\"/>\n", f);
    if (x->linear && s->n > MARKED) return;
    for (int64_t i = 0; i < s->n; i++) {
        const cli_point *p = &s->points[i];
        if (!drawn(p, x)) continue;
        double here = at(x, p->x);
        if (p->bar > 0)
            fprintf(f, "<path class=\"bar s%d\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>\n",
                    look % COLOURS, here, at(y, bar_low(p)), at(y, p->y + p->bar), here - 3,
                    at(y, bar_low(p)), here - 3, at(y, p->y + p->bar));
        put_marker(f, look, here, at(y, p->y));
    }
}

static void put_plot(FILE *f, const cli_plot *plot, double left) {
    axis x, y;
    ranges(plot, &x, &y);
    x.from = left;
    x.length = WIDTH;
    y.from = TOP + HEIGHT;
    y.length = -HEIGHT;
    put_ticks(f, &x, &y, true);
    put_ticks(f, &y, &x, false);
    fprintf(f, "<rect class=\"frame\" x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", left,
            TOP, WIDTH, HEIGHT);
    for (int64_t s = 0; s < plot->n; s++) put_series(f, &plot->series[s], (int)s, &x, &y);
    fprintf(f, "<text class=\"title\" x=\"%.0f\" y=\"%d\">", left + WIDTH / 2.0, TOP + HEIGHT + 38);
    put_text(f, plot->x_title);
    fprintf(f, "</text>\n<text class=\"title\" transform=\"translate(%.0f %d) rotate(-90)\">",
            left - 50, TOP + HEIGHT / 2);
    put_text(f, plot->y_title);
    fputs("</text>\n", f);
}

static void put_style(FILE *f) {
    /* Plain colours first: not every program that shows SVG knows media queries or variables. */
    fputs("<style>\n"
          "text{font:12px sans-serif;fill:#1a1a1a}\n"
          ".title{font-size:13px;text-anchor:middle}\n"
          ".tick{text-anchor:middle}\n"
          ".side{text-anchor:end}\n"
          ".paper{fill:#ffffff}\n"
          ".frame{fill:none;stroke:#1a1a1a}\n"
          ".grid{fill:none;stroke:#dddddd;stroke-width:0.7}\n"
          ".line{fill:none;stroke-width:1.8}\n"
          ".bar{fill:none;stroke-width:1}\n"
          ".mark{stroke:none}\n"
          "@media screen and (prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#14171a}"
          ".frame{stroke:#e8e8e8}.grid{stroke:#3a3a3a}}\n",
          f);
    for (int k = 0; k < COLOURS; k++)
        fprintf(f, ".s%d{stroke:%s}.m%d{fill:%s}\n", k, colours[k], k, colours[k]);
    for (int k = 0; k < 4; k++) fprintf(f, ".d%d{stroke-dasharray:%s}\n", k, dashes[k]);
    fputs("</style>\n<defs>\n"
          "<circle id=\"mark0\" r=\"3.6\"/>\n"
          "<rect id=\"mark1\" x=\"-3.3\" y=\"-3.3\" width=\"6.6\" height=\"6.6\"/>\n"
          "<path id=\"mark2\" d=\"M0-4.4L4.2 3.2H-4.2Z\"/>\n"
          "<path id=\"mark3\" d=\"M0-4.8L4.8 0L0 4.8L-4.8 0Z\"/>\n"
          "</defs>\n",
          f);
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
        fprintf(f, "<path class=\"line s%d d%d\" d=\"M%d %dh28\"/>\n", look % COLOURS, dash(look),
                x, y);
        put_marker(f, look, x + 14, y);
        fprintf(f, "<text x=\"%d\" y=\"%d\">", x + 36, y + 4);
        put_text(f, plot->series[s].name);
        fputs("</text>\n", f);
    }
}

void cli_figure(FILE *f, const char *title, const cli_plot plots[2]) {
    int columns = per_row(&plots[0]);
    int rows = (int)((plots[0].n + columns - 1) / columns);
    int width = LEFT + 2 * WIDTH + GAP + 24, height = TOP + HEIGHT + BELOW + rows * ROW + 6;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
            width, height, width, height);
    put_text(f, title);
    fputs("</title>\n", f);
    put_style(f);
    fprintf(f, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height);
    fprintf(f, "<text class=\"title\" x=\"%d\" y=\"24\">", width / 2);
    put_text(f, title);
    fputs("</text>\n", f);
    put_plot(f, &plots[0], LEFT);
    put_plot(f, &plots[1], LEFT + WIDTH + GAP);
    put_legend(f, &plots[0]);
    fputs("</svg>\n", f);
}
