/* svg.h -- figures as SVG: the frame, axes, marks, texts; plots beside each other (figure.c).
 *
 * Series differ by colour, dash and marker, so that they can be told apart in grey print and by
 * colour-blind readers. Ink and paper follow the reader's colour scheme; printed or embedded where
 * there is none, a figure is dark on white. Classes of the style:
 *
 *   text     tick (centred), tick side (ends there), title; none: begins there
 *   lines    frame, grid; line sK dK (colour, dash), bar sK (thin), thick (ink)
 *   marks    mark mK */
#ifndef KREIN_SVG_H
#define KREIN_SVG_H

#include "base/buffer.h"

enum { KREIN_SVG_COLOURS = 8 };

typedef struct krein_svg_axis {
    bool linear, whole;  /* else logarithmic; whole: no ticks between whole numbers */
    double low, high;    /* of what krein__svg_scaled gives */
    double from, length; /* pixels; the length is negative where it goes up */
    int ticks;           /* about so many, where they are even; 0: 8 */
} krein_svg_axis;

double krein__svg_scaled(const krein_svg_axis *a, double value);
double krein__svg_at(const krein_svg_axis *a, double value); /* in pixels */
/* Ticks with their numbers and grid lines; across: the axis is that of x. other: the second axis.
 */
void krein__svg_ticks(krein_buffer *f, const krein_svg_axis *a, const krein_svg_axis *other,
                      bool across);

/* Head, style, paper and the title, which is the text alternative as well; and the end. */
void krein__svg_begin(krein_buffer *f, const char *title, int width, int height);
void krein__svg_end(krein_buffer *f);

void krein__svg_text(krein_buffer *f, const char *text); /* escaped, for names are the user's */
void krein__svg_label(krein_buffer *f, double x, double y, const char *class, const char *text);
/* Of the i-th series: colours come round first, then dash and marker differ. */
int krein__svg_dash(int look);
void krein__svg_marker(krein_buffer *f, int look, double x, double y);
/* The same, or a smaller one, with a text that is shown under the pointer; "": none. */
void krein__svg_mark(krein_buffer *f, int look, bool small, double x, double y, const char *tip);

/* ---- figure.c: plots beside each other ---------------------------------- */

typedef struct krein_svg_point {
    double x, y, bar; /* bar: half the length of the error bar, 0 or NaN: none */
} krein_svg_point;
typedef struct krein_svg_series {
    const char *name;
    int64_t n;
    const krein_svg_point *points;
} krein_svg_series;
typedef struct krein_svg_plot {
    const char *x_title, *y_title;
    int64_t n;
    const krein_svg_series *series; /* the i-th series of both plots has the same name and look */
    bool linear;                    /* axes are linear, that of y from 0 on; else logarithmic */
    bool whole;                     /* the x of a linear plot are whole numbers */
    bool semilog;                   /* the axis of x is logarithmic, that of y linear */
    bool marks;                     /* no lines */
    bool loose;                     /* the axis of y of a linear plot need not have 0 */
} krein_svg_plot;
/* n plots, two in a row. Points that are not finite, and on log axes not positive, are left out,
 * and lines are broken there. The legend is that of the first plot. */
void krein__svg_figure(krein_buffer *f, const char *title, int n, const krein_svg_plot *plots);

#endif
