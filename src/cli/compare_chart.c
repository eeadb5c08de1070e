/* compare_chart.c -- what compare found, drawn.
 *
 * A panel for each data set: a line a method, a dot at the mean and a bar over its interval (that
 * of the corrected resampled t test); the best is a diamond. With several sets a critical
 * difference diagram above them (demsar2006): mean ranks on an axis, the best on the left, and a
 * thick bar over methods whose mean ranks do not differ by more than the critical difference. */
#include "draw/svg.h"

#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW = 18,
    LETTER = 7, /* pixels, about */
    PLOT = 300,
    TOP = 44,
    ABOVE = 30, /* the name of a set */
    BELOW = 44, /* ticks and what they are of */
    GAP = 34,
    RANKS = 420, /* length of the axis of ranks */
    NAME_MAX_LETTERS = 48
};

static int names_width(const krein_compare_report *r) {
    size_t longest = 4;
    for (int64_t m = 0; m < r->nmethods; m++) {
        const size_t length = strlen(r->methods[m]->name);
        longest = length > longest ? length : longest;
    }
    return LETTER * (int)(longest < NAME_MAX_LETTERS ? longest : NAME_MAX_LETTERS) + 16;
}

static const char *short_name(const krein_compare_report *r, int64_t m, char *buf) {
    const char *name = r->methods[m]->name;
    if (strlen(name) <= NAME_MAX_LETTERS) return name;
    int length = NAME_MAX_LETTERS - 3;
    while (length > 0 && (name[length] & 0xC0) == 0x80) length--; /* no half of a character */
    snprintf(buf, NAME_MAX_LETTERS + 8, "%.*s...", length, name);
    return buf;
}

/* ---- a data set --------------------------------------------------------- */

static double shown(const krein_compare_report *r, double value) {
    return r->measure == KREIN_MEASURE_ERROR ? 100 * value : value;
}

static void put_interval(krein_buffer *f, const krein_svg_axis *x, double y, int look, double low,
                         double high) {
    krein__buffer_add(f,
                      "<path class=\"bar s%d\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>\n",
                      look % KREIN_SVG_COLOURS, krein__svg_at(x, low), y, krein__svg_at(x, high),
                      krein__svg_at(x, low), y - 3, krein__svg_at(x, high), y - 3);
}

static void put_panel(krein_buffer *f, const krein_compare_report *r, int64_t set, double left,
                      double top, int names) {
    krein_compare_result *const *e = r->results + set * r->nmethods;
    krein_svg_axis x = {
        .linear = true, .low = INFINITY, .high = -INFINITY, .from = left + names, .length = PLOT};
    const double height = (double)r->nmethods * ROW;
    const krein_svg_axis y = {.linear = true, .from = top + ABOVE + height, .length = -height};
    char text[160], name[NAME_MAX_LETTERS + 8];
    for (int64_t m = 0; m < r->nmethods; m++) {
        if (e[m]->failures) continue;
        x.low = fmin(x.low, shown(r, e[m]->mean - e[m]->half));
        x.high = fmax(x.high, shown(r, e[m]->mean + e[m]->half));
    }
    if (!(x.low <= x.high)) x.low = 0, x.high = 1; /* nothing to draw */
    const double space = fmax(0.05 * (x.high - x.low), 1e-6 + 1e-3 * fabs(x.high));
    x.low -= space;
    x.high += space;
    snprintf(text, sizeof text, "%s (%lld rows)", r->sets[set]->name, (long long)r->sets[set]->n);
    krein__svg_label(f, left + names + PLOT / 2.0, top + ABOVE - 8, "title", text);
    krein__svg_ticks(f, &x, &y, true);
    krein__buffer_add(
        f, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n",
        left + names, top + ABOVE, PLOT, height);
    snprintf(text, sizeof text, "%s, %s is better",
             r->measure == KREIN_MEASURE_ERROR ? "error in %" : cli_measure_name(r->measure),
             r->larger ? "larger" : "smaller");
    krein__svg_label(f, left + names + PLOT / 2.0, top + ABOVE + height + 34, "title", text);
    for (int64_t m = 0; m < r->nmethods; m++) {
        const double at = top + ABOVE + ((double)m + 0.5) * ROW;
        krein__svg_label(f, left + names - 8, at + 4, "side", short_name(r, m, name));
        if (e[m]->failures) {
            krein__svg_label(f, left + names + 8, at + 4, "", "failed");
            continue;
        }
        const int look = e[m]->best ? 3 : e[m]->similar ? 0 : 1; /* diamond, circle, square */
        put_interval(f, &x, at, look, shown(r, e[m]->mean - e[m]->half),
                     shown(r, e[m]->mean + e[m]->half));
        krein__svg_marker(f, look, krein__svg_at(&x, shown(r, e[m]->mean)), at);
    }
}

/* ---- mean ranks --------------------------------------------------------- */

/* Methods that failed nowhere, by mean rank. */
static int64_t by_rank(const krein_compare_report *r, int64_t *order) {
    int64_t n = 0;
    for (int64_t m = 0; m < r->nmethods; m++) {
        if (!isfinite(r->methods[m]->rank)) continue;
        int64_t at = n++;
        for (; at > 0 && r->methods[order[at - 1]]->rank > r->methods[m]->rank; at--)
            order[at] = order[at - 1];
        order[at] = m;
    }
    return n;
}

/* Thick bars over methods that are not different, the longest such groups; returns how many. */
static int put_groups(krein_buffer *f, const krein_compare_report *r, const krein_svg_axis *x,
                      int64_t n, const int64_t *order, double y) {
    int bars = 0;
    int64_t reached = 0; /* methods before it are in a bar that begins earlier */
    for (int64_t i = 0; i < n; i++) {
        int64_t last = i;
        while (last + 1 < n &&
               r->methods[order[last + 1]]->rank - r->methods[order[i]]->rank <= r->difference)
            last++;
        if (last == i || (i > 0 && last <= reached)) continue;
        if (f)
            krein__buffer_add(f, "<path class=\"thick\" d=\"M%.1f %.1fH%.1f\"/>\n",
                              krein__svg_at(x, r->methods[order[i]]->rank) - 4, y + 7 * bars,
                              krein__svg_at(x, r->methods[order[last]]->rank) + 4);
        reached = last;
        bars++;
    }
    return bars;
}

static int ranks_height(const krein_compare_report *r, int64_t n, const int64_t *order) {
    return 82 + 7 * put_groups(NULL, r, NULL, n, order, 0) + (int)((n + 1) / 2) * ROW + 24;
}

static void put_ranks(krein_buffer *f, const krein_compare_report *r, int64_t n,
                      const int64_t *order, double left, double top, int names) {
    const double axis = top + 60;
    const krein_svg_axis x = {.linear = true,
                              .whole = true,
                              .low = 1,
                              .high = (double)n,
                              .from = left + names + 24,
                              .length = RANKS};
    const krein_svg_axis y = {.linear = true, .from = axis, .length = -6};
    char text[80], name[NAME_MAX_LETTERS + 8];
    snprintf(text, sizeof text, "critical difference %.2f", r->difference);
    const double end = fmin(krein__svg_at(&x, 1 + r->difference), x.from + x.length + names);
    krein__buffer_add(f, "<path class=\"frame\" d=\"M%.1f %.1fv8m0-4H%.1fm0-4v8\"/>\n",
                      krein__svg_at(&x, 1), top + 10, end);
    krein__svg_label(f, (krein__svg_at(&x, 1) + end) / 2, top + 6, "tick", text);
    krein__buffer_add(f, "<path class=\"frame\" d=\"M%.1f %.1fH%.1f\"/>\n", x.from, axis,
                      x.from + x.length);
    for (int64_t k = 1; k <= n; k++) {
        snprintf(text, sizeof text, "%lld", (long long)k);
        krein__buffer_add(f, "<path class=\"frame\" d=\"M%.1f %.1fv-6\"/>\n",
                          krein__svg_at(&x, (double)k), y.from);
        krein__svg_label(f, krein__svg_at(&x, (double)k), axis - 12, "tick", text);
    }
    const int bars = put_groups(f, r, &x, n, order, axis + 10);
    const double first = axis + 10 + 7 * bars + 14;
    for (int64_t i = 0; i < n; i++) {
        const bool right = i >= (n + 1) / 2;
        const int64_t line = right ? n - 1 - i : i;
        const double at = krein__svg_at(&x, r->methods[order[i]]->rank);
        const double level = first + (double)line * ROW;
        const double edge = right ? x.from + x.length + 16 : x.from - 16;
        krein__buffer_add(f, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", at, axis,
                          level, edge);
        snprintf(text, sizeof text, "%.60s", short_name(r, order[i], name));
        krein__svg_label(f, right ? edge + 6 : edge - 6, level + 4, right ? "" : "side", text);
    }
}

void cli_compare_chart(krein_buffer *f, const krein_compare_report *r) {
    const int names = names_width(r), panel = names + PLOT + GAP;
    const int columns = r->nsets > 1 ? 2 : 1;
    const int each = ABOVE + (int)r->nmethods * ROW + BELOW;
    int64_t *order = malloc((size_t)r->nmethods * sizeof *order);
    const int64_t ranked = order && isfinite(r->difference) ? by_rank(r, order) : 0;
    const int ranks = ranked > 1 ? ranks_height(r, ranked, order) : 0;
    int width = 20 + columns * panel;
    if (ranks && width < 2 * names + RANKS + 100) width = 2 * names + RANKS + 100;
    char title[160];
    snprintf(title, sizeof title, "%lld methods, %lld splits with %g %% held out",
             (long long)r->nmethods, (long long)r->repeats, 100 * r->holdout);
    krein__svg_begin(f, title, width,
                     TOP + ranks + (int)((r->nsets + columns - 1) / columns) * each);
    if (ranks)
        put_ranks(f, r, ranked, order, (width - 2 * names - RANKS - 48) / 2.0, TOP - 2, names);
    for (int64_t s = 0; s < r->nsets; s++)
        put_panel(f, r, s, 10.0 + (double)(s % columns) * panel,
                  (double)(TOP + ranks + (int)(s / columns) * each), names);
    krein__svg_end(f);
    free(order);
}
