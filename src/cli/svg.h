/* svg.h -- what the figures of the program share: the frame of an SVG, axes, marks, texts.
 *
 * Series differ by colour, dash and marker, so that they can be told apart in grey print and by
 * colour-blind readers. Ink and paper follow the reader's colour scheme; printed or embedded where
 * there is none, a figure is dark on white. Classes of the style:
 *
 *   text     tick (centred), tick side (ends there), title; none: begins there
 *   lines    frame, grid; line sK dK (colour, dash), bar sK (thin), thick (ink)
 *   marks    mark mK */
#ifndef KREIN_CLI_SVG_H
#define KREIN_CLI_SVG_H

#include <stdbool.h>
#include <stdio.h>

enum { SVG_COLOURS = 8 };

typedef struct svg_axis {
    bool linear, whole;  /* else logarithmic; whole: no ticks between whole numbers */
    double low, high;    /* of what svg_scaled gives */
    double from, length; /* pixels; the length is negative where it goes up */
} svg_axis;

double svg_scaled(const svg_axis *a, double value);
double svg_at(const svg_axis *a, double value); /* in pixels */
/* Ticks with their numbers and grid lines; across: the axis is that of x. other: the second axis.
 */
void svg_ticks(FILE *f, const svg_axis *a, const svg_axis *other, bool across);

/* Head, style, paper and the title, which is the text alternative as well; and the end. */
void svg_begin(FILE *f, const char *title, int width, int height);
void svg_end(FILE *f);

void svg_text(FILE *f, const char *text); /* escaped, for names are the user's */
void svg_label(FILE *f, double x, double y, const char *class, const char *text);
/* Of the i-th series: colours come round first, then dash and marker differ. */
int svg_dash(int look);
void svg_marker(FILE *f, int look, double x, double y);

#endif
