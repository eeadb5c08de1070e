/* pieces.c -- paragraphs, tables and figures of the page; see page.h. */
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------- */

const char *krein__page_number(double x, char *buf) {
    if (!isfinite(x)) {
        snprintf(buf, 40, isnan(x) ? "\xe2\x80\x93" : x > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e");
    } else if (x != 0 && (fabs(x) < 1e-4 || fabs(x) >= 1e7)) {
        snprintf(buf, 40, "%.3g", x);
    } else if (fabs(x) >= 1000) {
        snprintf(buf, 40, "%.0f", x);
    } else {
        snprintf(buf, 40, "%.4g", x);
    }
    return buf;
}

const char *krein__page_share(double x, char *buf) {
    if (!isfinite(x)) return krein__page_number(x, buf);
    snprintf(buf, 40, "%.*f\xe2\x80\xaf%%", fabs(x) < 0.1 ? 2 : 1, 100 * x);
    return buf;
}

const char *krein__page_count(int64_t n, char *buf) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = 0;
    return buf;
}

const char *krein__page_measured(const krein_measured *m, double x, char *buf) {
    return m->share ? krein__page_share(x, buf) : krein__page_number(x, buf);
}

void krein__page_paragraph(krein_buffer *f, const char *class, const char *format, ...) {
    krein_buffer text = {.ctx = f->ctx};
    va_list list;
    va_start(list, format);
    krein__buffer_add_list(&text, format, list);
    va_end(list);
    if (class)
        krein__buffer_add(f, "<p class=\"%s\">", class);
    else
        krein__buffer_put(f, "<p>");
    if (text.text) krein__svg_text(f, text.text);
    krein__buffer_put(f, "</p>\n");
    if (text.status != KREIN_OK && f->status == KREIN_OK) f->status = text.status;
    krein__buffer_end(&text);
}

void krein__section_begin(krein_buffer *f, const char *id, const char *title) {
    krein__buffer_add(f,
                      "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s"
                      "</h2>\n",
                      id, id, id, title);
}

void krein__section_end(krein_buffer *f) { krein__buffer_put(f, "</section>\n"); }

/* ---- tables -------------------------------------------------------------- */

void krein__table_begin(krein_buffer *f, const char *caption, const char *const *columns) {
    krein__buffer_add(f, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
    krein__svg_text(f, caption ? caption : "Table");
    krein__buffer_put(f, "\"><table>");
    if (caption) {
        krein__buffer_put(f, "<caption>");
        krein__svg_text(f, caption);
        krein__buffer_put(f, "</caption>");
    }
    krein__buffer_put(f, "<thead><tr>");
    for (int64_t i = 0; columns[i]; i++) {
        const bool words = columns[i][0] == ' ';
        krein__buffer_add(f, "<th scope=\"col\"%s>", words ? " class=\"words\"" : "");
        krein__svg_text(f, columns[i] + words);
        krein__buffer_put(f, "</th>");
    }
    krein__buffer_put(f, "</tr></thead>\n<tbody>\n");
}

void krein__table_end(krein_buffer *f) { krein__buffer_put(f, "</tbody></table></div>\n"); }

void krein__table_row_begin(krein_buffer *f, const char *head) {
    krein__buffer_put(f, "<tr><th scope=\"row\">");
    krein__svg_text(f, head);
    krein__buffer_put(f, "</th>");
}

void krein__table_row_end(krein_buffer *f) { krein__buffer_put(f, "</tr>\n"); }

void krein__table_text(krein_buffer *f, const char *text) {
    krein__buffer_put(f, "<td class=\"words\">");
    krein__svg_text(f, text);
    krein__buffer_put(f, "</td>");
}

void krein__table_plain(krein_buffer *f, const char *text) {
    krein__buffer_put(f, "<td>");
    krein__svg_text(f, text);
    krein__buffer_put(f, "</td>");
}

void krein__table_number(krein_buffer *f, double x) {
    char buf[40];
    krein__buffer_add(f, "<td>%s</td>", krein__page_number(x, buf));
}

void krein__table_count(krein_buffer *f, int64_t n) {
    char buf[40];
    krein__buffer_add(f, "<td>%s</td>", krein__page_count(n, buf));
}

/* ---- figures ------------------------------------------------------------- */

void krein__figure_begin(krein_buffer *f, const char *title) {
    krein__buffer_put(f, "<figure><figcaption>");
    krein__svg_text(f, title);
    krein__buffer_put(f, "</figcaption>\n");
}

void krein__figure_data(krein_buffer *f, const char *const *columns) {
    krein__buffer_put(f, "<details><summary>Numbers</summary>");
    krein__table_begin(f, NULL, columns);
}

void krein__figure_end(krein_buffer *f) {
    krein__table_end(f);
    krein__buffer_put(f, "</details></figure>\n");
}

void krein__figure_legend(krein_buffer *f, int64_t n, const char *const *names) {
    krein__buffer_put(f, "<ul class=\"legend\">");
    for (int64_t i = 0; i < n; i++) {
        krein__buffer_add(f,
                          "<li><svg viewBox=\"0 0 26 9\" aria-hidden=\"true\"><path class=\"line "
                          "s%d d%d\" d=\"M1 4.5h24\"/></svg>",
                          (int)i % KREIN_SVG_COLOURS, krein__svg_dash((int)i));
        krein__svg_text(f, names[i]);
        krein__buffer_put(f, "</li>");
    }
    krein__buffer_put(f, "</ul>\n");
}

enum { LETTERS = 25, LETTER = 6, LINE = 20 };

static double names_width(const krein_bars *b) {
    size_t longest = 3;
    for (int64_t i = 0; i < b->n; i++) {
        size_t letters = 0;
        for (const char *p = b->names[i]; *p; p++) letters += ((unsigned char)*p & 0xC0) != 0x80;
        longest = letters > longest ? letters : longest;
    }
    return (double)LETTER * (double)(longest < LETTERS ? longest : LETTERS) + 14;
}

static krein_chart_range bars_range(const krein_bars *b) {
    krein_chart_range x = {b->unit, b->dots ? INFINITY : 0, b->dots ? -INFINITY : 0, false, false};
    for (int64_t i = 0; i < b->n; i++) {
        const double ends[] = {b->values[i], b->low ? b->low[i] : NAN, b->high ? b->high[i] : NAN};
        for (int k = 0; k < 3; k++) {
            if (!isfinite(ends[k])) continue;
            x.low = fmin(x.low, ends[k]);
            x.high = fmax(x.high, ends[k]);
        }
    }
    if (!(x.low <= x.high)) x.low = 0, x.high = 1;
    double space = 0.04 * (x.high - x.low);
    if (!(space > 0)) space = fmax(0.1 * fabs(x.high), 1e-9);
    if (b->dots || x.low < 0) x.low -= space;
    x.high += space;
    return x;
}

void krein__figure_bars(krein_buffer *f, const krein_bars *b) {
    const char *columns[] = {"Name", b->unit, b->low ? "From" : NULL, "To", NULL};
    char alt[300], number[40], cut[4 * LETTERS + 4];
    krein_chart c;
    snprintf(alt, sizeof alt, "%s. %.60s: %s", b->title, b->n > 0 ? b->names[0] : "none",
             krein__page_number(b->n > 0 ? b->values[0] : NAN, number));
    krein__figure_begin(f, b->title);
    krein__chart_begin(&c, f, b->alt ? b->alt : alt, (double)(LINE * b->n) + 50, names_width(b));
    c.top = 10;
    const krein_chart_range x = b->range ? *b->range : bars_range(b),
                            y = {NULL, (double)b->n, 0, false, false};
    krein__chart_axes(&c, &x, &y);
    for (int64_t i = 0; i < b->n; i++) {
        const double at = (double)i + 0.5, v = b->values[i];
        char tip[160];
        krein__chart_text(&c, c.left - 7, krein__svg_at(&c.y, at) + 4, "side name",
                          krein__chart_short(b->names[i], LETTERS, cut));
        snprintf(tip, sizeof tip, "%.100s: %s", b->names[i],
                 b->share ? krein__page_share(v, number) : krein__page_number(v, number));
        if (!isfinite(v)) continue;
        if (b->dots)
            krein__chart_dot(&c, 0, v, at, 4.2, "%s", tip);
        else
            krein__chart_bar(&c, 0, 0, at - 0.34, v, at + 0.34, "%s", tip);
        if (b->low && isfinite(b->low[i]) && isfinite(b->high[i]) && b->high[i] > b->low[i])
            krein__buffer_add(f, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1f\"/>\n",
                              krein__svg_at(&c.x, b->low[i]), krein__svg_at(&c.y, at),
                              krein__svg_at(&c.x, b->high[i]));
    }
    krein__chart_end(&c);
    krein__figure_data(f, columns);
    for (int64_t i = 0; i < b->n; i++) {
        krein__table_row_begin(f, b->names[i]);
        krein__table_number(f, b->values[i]);
        if (b->low) krein__table_number(f, b->low[i]);
        if (b->low) krein__table_number(f, b->high[i]);
        krein__table_row_end(f);
    }
    krein__figure_end(f);
}
