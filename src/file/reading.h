/* reading.h -- cells that are texts and mean numbers: truth values, amounts, dates and times.
 *
 *   truth values  true/false, yes/no, t/f, y/n, in any case: 1 or 0
 *   amounts       1,234.5  1.234,5  1 234,5  $5  5 EUR  12%: with thousands separators or a decimal
 *                 comma, a currency sign or a percent sign (a hundredth)
 *   dates         2026-11-17, 2026/11/17, 17.11.2026, 17/11/2026, 11/17/2026, with or without a
 *                 time behind a T or a blank: year, month, weekday (0 is Monday), the hour where
 * the column has times, and the days since 1970-01-01 times         10:20, 10:20:30, 10:20 PM: the
 * hour with its fraction
 *
 * A column is read so where all of the cells that are looked at have one form. Seconds may have a
 * fraction. An offset from UTC may follow a time and is not looked at. */
#ifndef KREIN_READING_H
#define KREIN_READING_H

#include "base/base.h"

typedef enum krein_as {
    KREIN_AS_PLAIN = 0, /* a number or a text as it is */
    KREIN_AS_TRUTH = 1,
    KREIN_AS_AMOUNT = 2,
    KREIN_AS_DATE = 3,
    KREIN_AS_TIME = 4
} krein_as;

enum {
    KREIN_TRUTH_FORMS = 4,  /* style of truth values: which words */
    KREIN_AMOUNT_COMMA = 1, /* styles of amounts: the comma is the decimal point */
    KREIN_AMOUNT_PERCENT = 2,
    KREIN_AMOUNT_CURRENCY = 4, /* times the number of the currency, from 1 */
    KREIN_CURRENCIES = 8,
    KREIN_DATE_YEAR = 0, /* styles of dates: what comes first */
    KREIN_DATE_DAY = 1,
    KREIN_DATE_MONTH = 2,
    KREIN_DATE_HOURS = 4, /* the column has times */
    KREIN_READ_PARTS = 5  /* numbers of a cell, at most */
};

typedef struct krein_reading {
    krein_as as;
    int style;
} krein_reading;

/* Numbers that a cell becomes. */
int64_t krein__reading_parts(krein_reading r);
/* False: the cell is none of that kind. */
bool krein__read_cell(krein_reading r, const char *text, size_t length,
                      double out[KREIN_READ_PARTS]);
/* Words that stand for a missing number: NA, N/A, null, none, -, ... */
bool krein__missing_word(const char *text, size_t length);
/* Whether a reading can have been written by this library. */
bool krein__reading_valid(int as, int style);

/* Finds the reading of a column from its cells, those that are not missing. */
typedef struct krein_reading_search {
    uint64_t possible; /* of the candidates, by their number */
    bool any, yes, no, hours;
    char first[48]; /* the first cell, cut short */
} krein_reading_search;
void krein__reading_begin(krein_reading_search *s);
void krein__reading_look(krein_reading_search *s, const char *text, size_t length);
/* As if the cells of `behind` came behind those of s. */
void krein__reading_add(krein_reading_search *s, const krein_reading_search *behind);
krein_reading krein__reading_end(const krein_reading_search *s);
/* The last number of the first cell, a good shift; 0 where there is none. */
double krein__reading_first(const krein_reading_search *s, krein_reading r);

#endif
