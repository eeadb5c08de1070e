/* chart.h -- small figures for a page: an SVG that is as wide as a phone and grows with its
 * column. Colours, fonts and widths of lines come from the page's style sheet, by the classes of
 * svg.h and those below. A mark has a text that is shown when the pointer is on it (<title>).
 *
 *   frame    what the marks are inside of (not seen)
 *   lines    rule (thin, dashed: what to compare with), axis
 *   areas    band mK (a light strip), cell (its opacity says how much), bars mK
 *   texts    unit (titles of axes), name (begins there), inside (centred, in a cell) */
#ifndef KREIN_CHART_H
#define KREIN_CHART_H

#include "draw/svg.h"

enum { KREIN_CHART_WIDTH = 340, KREIN_CHART_HEIGHT = 220, KREIN_CHART_LEFT = 48 };

/* Of an axis: what it is of, and from where to where. */
typedef struct krein_chart_range {
    const char *title;
    double low, high;
    bool logarithmic, whole;
} krein_chart_range;

typedef struct krein_chart {
    krein_buffer *f;
    krein_svg_axis x, y;
    double left, top, right, bottom; /* of the frame */
} krein_chart;

/* alt: what the figure shows, in words. left: room for what stands beside the frame. */
void krein__chart_begin(krein_chart *c, krein_buffer *f, const char *alt, double height,
                        double left);
void krein__chart_end(krein_chart *c);
/* Axes with ticks. An axis without a title has no ticks either. */
void krein__chart_axes(krein_chart *c, const krein_chart_range *x, const krein_chart_range *y);
/* The frame alone, where there are no axes. */
void krein__chart_frame(krein_chart *c);
/* A range with some space at both ends (share of it); ends that are equal are moved apart. */
krein_chart_range krein__chart_range(const char *title, int64_t n, const double *values,
                                     double share);

/* Points that are not finite are left out, and the line is broken there. */
void krein__chart_line(krein_chart *c, int look, int64_t n, const double *x, const double *y);
void krein__chart_band(krein_chart *c, int look, int64_t n, const double *x, const double *low,
                       const double *high);
void krein__chart_rule(krein_chart *c, double x0, double y0, double x1, double y1);
/* Each with a text by a format. r in pixels; the others in numbers of the axes. */
void krein__chart_dot(krein_chart *c, int look, double x, double y, double r, const char *tip, ...)
    __attribute__((format(printf, 6, 7)));
/* A place on a line that is seen under the pointer only: class mark spot. */
void krein__chart_spot(krein_chart *c, int look, double x, double y, const char *tip, ...)
    __attribute__((format(printf, 5, 6)));
void krein__chart_bar(krein_chart *c, int look, double x0, double y0, double x1, double y1,
                      const char *tip, ...) __attribute__((format(printf, 7, 8)));
/* A rectangle whose opacity is `much`, in 0 .. 1. */
void krein__chart_cell(krein_chart *c, double much, double x0, double y0, double x1, double y1,
                       const char *tip, ...) __attribute__((format(printf, 7, 8)));
/* Text at pixels. */
void krein__chart_text(krein_chart *c, double x, double y, const char *class, const char *text);
/* The text cut after so many letters (UTF-8), in buf of at least 4 * letters + 4 bytes. */
const char *krein__chart_short(const char *text, int letters, char *buf);

#endif
