/* chart.c -- see chart.h. */
#include "draw/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RIGHT = 22, TOP = 26, BOTTOM = 38, TIP = 400 };

void krein__chart_begin(krein_chart *c, krein_buffer *f, const char *alt, double height,
                        double left) {
    *c = (krein_chart){.f = f,
                       .left = left,
                       .top = TOP,
                       .right = KREIN_CHART_WIDTH - RIGHT,
                       .bottom = height - BOTTOM};
    krein__buffer_add(f,
                      "<svg class=\"chart\" viewBox=\"0 0 %d %.0f\" role=\"img\" tabindex=\"0\" "
                      "aria-label=\"",
                      KREIN_CHART_WIDTH, height);
    krein__svg_text(f, alt);
    krein__buffer_put(f, "\">\n");
}

void krein__chart_end(krein_chart *c) { krein__buffer_put(c->f, "</svg>\n"); }

static krein_svg_axis axis_of(const krein_chart_range *r, double from, double to, int ticks) {
    krein_svg_axis a = {.linear = !r->logarithmic,
                        .whole = r->whole,
                        .from = from,
                        .length = to - from,
                        .ticks = ticks};
    a.low = krein__svg_scaled(&a, r->low);
    a.high = krein__svg_scaled(&a, r->high);
    return a;
}

void krein__chart_frame(krein_chart *c) {
    krein__buffer_add(
        c->f, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
        c->left, c->top, c->right - c->left, c->bottom - c->top);
}

void krein__chart_axes(krein_chart *c, const krein_chart_range *x, const krein_chart_range *y) {
    krein__chart_frame(c);
    c->x = axis_of(x, c->left, c->right, 5);
    c->y = axis_of(y, c->bottom, c->top, 5);
    if (y->title) krein__svg_ticks(c->f, &c->y, &c->x, false);
    if (x->title) krein__svg_ticks(c->f, &c->x, &c->y, true);
    /* Not to be seen: the tests look for marks outside of it. */
    krein__buffer_add(c->f,
                      "<path class=\"frame\" fill=\"none\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fZ\"/>\n",
                      c->left, c->top, c->right, c->bottom, c->left);
    krein__buffer_add(c->f, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", c->left, c->bottom,
                      c->right);
    if (x->title)
        krein__chart_text(c, (c->left + c->right) / 2, c->bottom + 32, "unit mid", x->title);
    if (y->title) krein__chart_text(c, 4, 12, "unit", y->title);
}

krein_chart_range krein__chart_range(const char *title, int64_t n, const double *v, double share) {
    krein_chart_range r = {.title = title, .low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) continue;
        r.low = fmin(r.low, v[i]);
        r.high = fmax(r.high, v[i]);
    }
    if (!(r.low <= r.high)) r.low = 0, r.high = 1;
    double space = share * (r.high - r.low);
    if (!(r.high - r.low > 1e-12 * fabs(r.high))) space = fmax(0.5 * fabs(r.high), 1e-6);
    r.low -= space;
    r.high += space;
    return r;
}

void krein__chart_line(krein_chart *c, int look, int64_t n, const double *x, const double *y) {
    bool inside = false, any = false;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            inside = false;
            continue;
        }
        if (!any)
            krein__buffer_add(c->f, "<path class=\"line s%d d%d\" d=\"", look % KREIN_SVG_COLOURS,
                              krein__svg_dash(look));
        krein__buffer_add(c->f, "%c%.1f %.1f", inside ? 'L' : 'M', krein__svg_at(&c->x, x[i]),
                          krein__svg_at(&c->y, y[i]));
        inside = any = true;
    }
    if (any) krein__buffer_put(c->f, "\"/>\n");
}

void krein__chart_band(krein_chart *c, int look, int64_t n, const double *x, const double *low,
                       const double *high) {
    if (n < 2) return;
    krein__buffer_add(c->f, "<path class=\"band m%d\" d=\"", look % KREIN_SVG_COLOURS);
    for (int64_t i = 0; i < n; i++)
        krein__buffer_add(c->f, "%c%.1f %.1f", i ? 'L' : 'M', krein__svg_at(&c->x, x[i]),
                          krein__svg_at(&c->y, high[i]));
    for (int64_t i = n - 1; i >= 0; i--)
        krein__buffer_add(c->f, "L%.1f %.1f", krein__svg_at(&c->x, x[i]),
                          krein__svg_at(&c->y, low[i]));
    krein__buffer_put(c->f, "Z\"/>\n");
}

void krein__chart_rule(krein_chart *c, double x0, double y0, double x1, double y1) {
    krein__buffer_add(c->f, "<path class=\"rule\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                      krein__svg_at(&c->x, x0), krein__svg_at(&c->y, y0), krein__svg_at(&c->x, x1),
                      krein__svg_at(&c->y, y1));
}

/* The text of a mark, and its end. */
static void put_tip(krein_buffer *f, const char *end, const char *format, va_list list) {
    char text[TIP];
    char *rest = text, *line;
    vsnprintf(text, sizeof text, format, list);
    krein__buffer_put(f, "<title>");
    while ((line = strsep(&rest, "\n"))) {
        krein__svg_text(f, line);
        if (rest) krein__buffer_put(f, "&#10;");
    }
    krein__buffer_add(f, "</title></%s>\n", end);
}

void krein__chart_spot(krein_chart *c, int look, double x, double y, const char *tip, ...) {
    va_list list;
    va_start(list, tip);
    krein__buffer_add(c->f, "<circle class=\"mark spot m%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\">",
                      look % KREIN_SVG_COLOURS, krein__svg_at(&c->x, x), krein__svg_at(&c->y, y));
    put_tip(c->f, "circle", tip, list);
    va_end(list);
}

void krein__chart_dot(krein_chart *c, int look, double x, double y, double r, const char *tip,
                      ...) {
    va_list list;
    va_start(list, tip);
    krein__buffer_add(c->f, "<circle class=\"mark m%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">",
                      look % KREIN_SVG_COLOURS, krein__svg_at(&c->x, x), krein__svg_at(&c->y, y),
                      r);
    put_tip(c->f, "circle", tip, list);
    va_end(list);
}

static void put_rectangle(krein_chart *c, const char *class, double x0, double y0, double x1,
                          double y1) {
    const double a = krein__svg_at(&c->x, x0), b = krein__svg_at(&c->x, x1);
    const double t = krein__svg_at(&c->y, y0), u = krein__svg_at(&c->y, y1);
    krein__buffer_add(
        c->f, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", class,
        fmin(a, b), fmin(t, u), fmax(fabs(b - a), 0.1), fmax(fabs(u - t), 0.1));
}

void krein__chart_bar(krein_chart *c, int look, double x0, double y0, double x1, double y1,
                      const char *tip, ...) {
    va_list list;
    char class[24];
    va_start(list, tip);
    snprintf(class, sizeof class, "bars m%d", look % KREIN_SVG_COLOURS);
    put_rectangle(c, class, x0, y0, x1, y1);
    krein__buffer_put(c->f, ">");
    put_tip(c->f, "rect", tip, list);
    va_end(list);
}

void krein__chart_cell(krein_chart *c, double much, double x0, double y0, double x1, double y1,
                       const char *tip, ...) {
    va_list list;
    va_start(list, tip);
    put_rectangle(c, "cell", x0, y0, x1, y1);
    krein__buffer_add(c->f, " fill-opacity=\"%.2f\">", fmin(1, fmax(0, much)));
    put_tip(c->f, "rect", tip, list);
    va_end(list);
}

void krein__chart_text(krein_chart *c, double x, double y, const char *class, const char *text) {
    krein__svg_label(c->f, x, y, class, text);
}

const char *krein__chart_short(const char *text, int letters, char *buf) {
    int count = 0;
    size_t at = 0, cut = 0;
    for (; text[at]; at++) {
        if (((unsigned char)text[at] & 0xC0) == 0x80) continue; /* inside a letter */
        if (count == letters - 1) cut = at;
        if (++count > letters) break;
    }
    if (count <= letters) return text;
    memcpy(buf, text, cut);
    memcpy(buf + cut, "\xe2\x80\xa6", 4); /* an ellipsis, and the end */
    return buf;
}
