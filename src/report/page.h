/* page.h -- pieces of the page: sections, tables, figures. */
#ifndef KREIN_PAGE_H
#define KREIN_PAGE_H

#include "draw/chart.h"
#include "report/report.h"

/* ---- text ---------------------------------------------------------------- */

/* Numbers for people, in buf of at least 40 bytes. */
const char *krein__page_number(double x, char *buf); /* four digits; NaN: a dash */
const char *krein__page_share(double x, char *buf);  /* in percent */
const char *krein__page_count(int64_t n, char *buf); /* 20,000 */
/* A measure as it is shown. */
const char *krein__page_measured(const krein_measured *m, double x, char *buf);

/* A paragraph of a class (NULL: none) by a format; what it is given is escaped. */
void krein__page_paragraph(krein_buffer *f, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void krein__section_begin(krein_buffer *f, const char *id, const char *title);
void krein__section_end(krein_buffer *f);

/* ---- tables -------------------------------------------------------------- */

/* Titles of the columns, the last NULL; the first column is text, the others numbers, but for those
 * whose title begins with a blank. */
void krein__table_begin(krein_buffer *f, const char *caption, const char *const *columns);
void krein__table_end(krein_buffer *f);
void krein__table_row_begin(krein_buffer *f, const char *head); /* the cell of the first column */
void krein__table_row_end(krein_buffer *f);
void krein__table_text(krein_buffer *f, const char *text);
void krein__table_plain(krein_buffer *f, const char *text); /* a number that is a text already */
void krein__table_number(krein_buffer *f, double x);
void krein__table_count(krein_buffer *f, int64_t n);

/* ---- figures ------------------------------------------------------------- */

/* <figure> with its title; the chart; then a fold with the data as a table, and the end. */
void krein__figure_begin(krein_buffer *f, const char *title);
void krein__figure_data(krein_buffer *f, const char *const *columns);
void krein__figure_end(krein_buffer *f);
/* Lines and their names, below a chart. */
void krein__figure_legend(krein_buffer *f, int64_t n, const char *const *names);
/* Horizontal bars with names, the first on top; low and high (NULL: none) are whiskers. A whole
 * figure with its table. */
typedef struct krein_bars {
    const char *title, *unit, *alt; /* alt NULL: made of title and the first bar */
    int64_t n;
    const char *const *names;
    const double *values, *low, *high;
    bool dots;                      /* dots in place of bars: the axis need not begin at 0 */
    bool share;                     /* in percent */
    const krein_chart_range *range; /* of the axis; NULL: from the values */
} krein_bars;
void krein__figure_bars(krein_buffer *f, const krein_bars *b);

/* ---- parts of the page --------------------------------------------------- */

extern const char krein__page_style[], krein__page_script[];

krein_status krein__page_alternatives(const krein_report_numbers *n, krein_buffer *f);
krein_status krein__page_quality(const krein_report_numbers *n, krein_buffer *f);
krein_status krein__page_why(const krein_report_numbers *n, krein_buffer *f);
void krein__page_odd(const krein_report_numbers *n, krein_buffer *f);
void krein__page_kernel(const krein_report_numbers *n, krein_buffer *f);
void krein__page_learning(const krein_report_numbers *n, krein_buffer *f);
krein_status krein__page_clusters(const krein_report_numbers *n, krein_buffer *f);

#endif
