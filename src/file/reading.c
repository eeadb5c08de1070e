/* reading.c -- cells that are texts and mean numbers; the forms are in reading.h. */
#include "file/reading.h"

#include "file/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool same_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

bool krein__missing_word(const char *text, size_t length) {
    static const char *const words[] = {"na",  "n/a", "#n/a", "n.a.", "null", "none",
                                        "nil", "nat", "-",    "--",   "."};
    for (int64_t k = 0; k < KREIN__COUNT(words); k++)
        if (same_word(text, length, words[k])) return true;
    return false;
}

/* ---- truth values ------------------------------------------------------- */

static const char *const truth[KREIN_TRUTH_FORMS][2] = {
    {"false", "true"}, {"no", "yes"}, {"f", "t"}, {"n", "y"}};

static bool read_truth(int style, const char *text, size_t length, double *out) {
    for (int value = 0; value < 2; value++)
        if (same_word(text, length, truth[style][value])) {
            *out = value;
            return true;
        }
    return false;
}

/* ---- amounts ------------------------------------------------------------ */

/* Numbers of currencies, from 1, are part of model files. */
static const char *const currency[KREIN_CURRENCIES] = {
    NULL, "$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "EUR", "USD", "GBP"};

static const char *skip_blanks(const char *p, const char *end) {
    for (;;) {
        if (p < end && *p == ' ')
            p++;
        else if (end - p >= 2 && memcmp(p, "\xc2\xa0", 2) == 0) /* a blank that does not break */
            p += 2;
        else
            return p;
    }
}

static bool take_sign(const char **p, const char *end, const char *sign) {
    size_t n = strlen(sign);
    if ((size_t)(end - *p) < n || memcmp(*p, sign, n) != 0) return false;
    *p = skip_blanks(*p + n, end);
    return true;
}

/* Bytes of a thousands separator at p, 0: there is none. Three digits follow one. */
static int64_t separator(const char *p, const char *end, bool comma) {
    int64_t n = *p == (comma ? '.' : ',') || *p == '\'' || *p == ' ' ? 1 : 0;
    if (end - p >= 2 && memcmp(p, "\xc2\xa0", 2) == 0) n = 2;
    if (n == 0 || end - p < n + 3) return 0;
    for (int64_t k = n; k < n + 3; k++)
        if (!is_digit(p[k])) return 0;
    return end - p > n + 3 && is_digit(p[n + 3]) ? 0 : n;
}

static bool read_amount(int style, const char *text, size_t length, double *out) {
    enum { DIGITS = 40 };
    const char *p = text, *end = text + length, *sign = currency[style / KREIN_AMOUNT_CURRENCY];
    const bool comma = style & KREIN_AMOUNT_COMMA;
    char number[DIGITS + 2 + KREIN__PAD] = "";
    int64_t n = 0, whole = 0;
    bool signed_ = false, grouped = false;
    if (p < end && (*p == '-' || *p == '+')) {
        number[n++] = *p;
        p = skip_blanks(p + 1, end);
    }
    if (sign && take_sign(&p, end, sign)) signed_ = true;
    if (n == 0 && p < end && (*p == '-' || *p == '+')) number[n++] = *p++;
    const char *first = p;
    while (p < end && n < DIGITS) {
        int64_t gap = whole > 0 && whole <= 3 ? separator(p, end, comma) : 0;
        if (gap > 0 && !(whole == 1 && *first == '0')) {
            p += gap;
            grouped = true;
            whole = 0;
        } else if (is_digit(*p)) {
            number[n++] = *p++;
            whole++;
        } else {
            break;
        }
    }
    if (p == first || n >= DIGITS || (grouped && whole != 3)) return false;
    if (p < end && *p == (comma ? ',' : '.')) {
        number[n++] = '.';
        for (p++; p < end && is_digit(*p) && n < DIGITS; p++) number[n++] = *p;
    }
    number[n] = '\n';
    p = skip_blanks(p, end);
    if (style & KREIN_AMOUNT_PERCENT) {
        if (p == end || *p != '%') return false;
        p = skip_blanks(p + 1, end);
    }
    if (sign && !signed_) signed_ = take_sign(&p, end, sign);
    if (p != end || (sign && !signed_)) return false;
    if (krein__number(number, out) != number + n) return false;
    if (style & KREIN_AMOUNT_PERCENT) *out /= 100;
    return isfinite(*out);
}

/* ---- dates and times ---------------------------------------------------- */

/* Between `least` and `most` digits. */
static bool take_digits(const char **p, const char *end, int least, int most, int *out) {
    int n = 0;
    *out = 0;
    while (*p < end && n < most && is_digit(**p)) {
        *out = 10 * *out + (*(*p)++ - '0');
        n++;
    }
    return n >= least;
}

static bool take_char(const char **p, const char *end, char c) {
    if (*p >= end || **p != c) return false;
    ++*p;
    return true;
}

/* Z, +02:00, -0500: how far from UTC. */
static bool skip_offset(const char **p, const char *end) {
    int hours, minutes;
    if (take_char(p, end, 'Z') || *p == end) return true;
    if (**p != '+' && **p != '-') return false;
    ++*p;
    if (!take_digits(p, end, 2, 2, &hours)) return false;
    take_char(p, end, ':');
    return *p == end || take_digits(p, end, 2, 2, &minutes);
}

/* HH:MM[:SS[.fraction]] [AM|PM] [offset], to the end; the hour with its fraction. */
static bool take_time(const char *p, const char *end, double *out) {
    int hour, minute, second = 0;
    if (!take_digits(&p, end, 1, 2, &hour) || !take_char(&p, end, ':') ||
        !take_digits(&p, end, 2, 2, &minute))
        return false;
    if (take_char(&p, end, ':') && !take_digits(&p, end, 2, 2, &second)) return false;
    if (p < end && (*p == '.' || *p == ','))
        for (p++; p < end && is_digit(*p);) p++;
    p = skip_blanks(p, end);
    if (end - p == 2 && (p[1] == 'M' || p[1] == 'm') && hour >= 1 && hour <= 12) {
        if (*p != 'A' && *p != 'a' && *p != 'P' && *p != 'p') return false;
        hour = hour % 12 + (*p == 'P' || *p == 'p' ? 12 : 0);
        p += 2;
    }
    if (!skip_offset(&p, end) || p != end) return false;
    if (hour > 24 || minute > 59 || second > 60 || (hour == 24 && minute + second > 0))
        return false;
    *out = hour + minute / 60.0 + second / 3600.0;
    return true;
}

static bool leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year));
}

/* Days since 1970-01-01 in the Gregorian calendar: years begin in March here, so that the day that
 * comes and goes is their last. */
static int64_t day_number(int year, int month, int day) {
    int64_t y = year - (month <= 2), m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool read_date(int style, const char *text, size_t length, double *out) {
    const char *p = text, *end = text + length;
    int order = style & 3, field[3] = {0};
    char mark = 0;
    double hour = 0;
    for (int k = 0; k < 3; k++) {
        bool year = order == KREIN_DATE_YEAR ? k == 0 : k == 2;
        if (!take_digits(&p, end, year ? 4 : 1, year ? 4 : 2, &field[k])) return false;
        if (k == 2) break;
        if (p == end || (mark && *p != mark)) return false;
        mark = *p++;
    }
    bool known = order == KREIN_DATE_MONTH ? mark == '/' || mark == '-'
                 : order == KREIN_DATE_DAY ? mark == '/' || mark == '-' || mark == '.'
                                           : mark == '/' || mark == '-';
    int year = order == KREIN_DATE_YEAR ? field[0] : field[2];
    int month = order == KREIN_DATE_MONTH ? field[0] : field[1];
    int day = order == KREIN_DATE_YEAR ? field[2] : field[order == KREIN_DATE_DAY ? 0 : 1];
    if (!known || year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    if (p < end) {
        if (*p != 'T' && *p != 't' && *p != ' ') return false;
        if (!take_time(skip_blanks(p + 1, end), end, &hour)) return false;
    }
    int64_t days = day_number(year, month, day);
    *out++ = year;
    *out++ = month;
    *out++ = (double)(((days + 3) % 7 + 7) % 7);
    if (style & KREIN_DATE_HOURS) *out++ = hour;
    *out = (double)days + hour / 24;
    return true;
}

/* ---- readings ----------------------------------------------------------- */

int64_t krein__reading_parts(krein_reading r) {
    return r.as != KREIN_AS_DATE ? 1 : r.style & KREIN_DATE_HOURS ? 5 : 4;
}

bool krein__read_cell(krein_reading r, const char *text, size_t length,
                      double out[KREIN_READ_PARTS]) {
    switch (r.as) {
    case KREIN_AS_TRUTH:
        return read_truth(r.style, text, length, out);
    case KREIN_AS_AMOUNT:
        return read_amount(r.style, text, length, out);
    case KREIN_AS_DATE:
        return read_date(r.style, text, length, out);
    case KREIN_AS_TIME:
        return take_time(text, text + length, out);
    case KREIN_AS_PLAIN:
        break;
    }
    return false;
}

bool krein__reading_valid(int as, int style) {
    static const int styles[] = {1, KREIN_TRUTH_FORMS, KREIN_AMOUNT_CURRENCY * KREIN_CURRENCIES, 8,
                                 1};
    if (as < 0 || as > KREIN_AS_TIME || style < 0 || style >= styles[as]) return false;
    return as != KREIN_AS_DATE || (style & 3) <= KREIN_DATE_MONTH;
}

/* Candidates by their number, what is likelier first; PLAIN behind the last. */
static krein_reading candidate(int k) {
    enum { DATES = KREIN_TRUTH_FORMS, TIMES = DATES + 3, AMOUNTS = TIMES + 1 };
    if (k < DATES) return (krein_reading){KREIN_AS_TRUTH, k};
    if (k < TIMES) { /* 1/2/2026 with nothing to tell: the month first */
        static const int order[] = {KREIN_DATE_YEAR, KREIN_DATE_MONTH, KREIN_DATE_DAY};
        return (krein_reading){KREIN_AS_DATE, order[k - DATES]};
    }
    if (k == TIMES) return (krein_reading){KREIN_AS_TIME, 0};
    if (k < AMOUNTS + KREIN_AMOUNT_CURRENCY * KREIN_CURRENCIES)
        return (krein_reading){KREIN_AS_AMOUNT, k - AMOUNTS};
    return (krein_reading){KREIN_AS_PLAIN, 0};
}

void krein__reading_begin(krein_reading_search *s) {
    *s = (krein_reading_search){0};
    for (int k = 0; candidate(k).as != KREIN_AS_PLAIN; k++) s->possible |= UINT64_C(1) << k;
}

void krein__reading_look(krein_reading_search *s, const char *text, size_t length) {
    double v[KREIN_READ_PARTS];
    if (!s->any) memcpy(s->first, text, length < sizeof s->first ? length : sizeof s->first - 1);
    s->any = true;
    for (uint64_t left = s->possible; left; left &= left - 1) {
        int k = __builtin_ctzll(left);
        krein_reading r = candidate(k);
        bool is = krein__read_cell(r, text, length, v);
        if (!is) s->possible &= ~(UINT64_C(1) << k);
        if (is && r.as == KREIN_AS_TRUTH) *(v[0] > 0 ? &s->yes : &s->no) = true;
    }
    s->hours = s->hours || memchr(text, ':', length);
}

/* A form that is possible for all cells was so at each of them: which of them said yes or no does
 * not depend on their order. */
void krein__reading_add(krein_reading_search *s, const krein_reading_search *behind) {
    if (!s->any) memcpy(s->first, behind->first, sizeof s->first);
    s->possible &= behind->possible;
    s->any = s->any || behind->any;
    s->yes = s->yes || behind->yes;
    s->no = s->no || behind->no;
    s->hours = s->hours || behind->hours;
}

krein_reading krein__reading_end(const krein_reading_search *s) {
    for (int k = 0; s->any && candidate(k).as != KREIN_AS_PLAIN; k++) {
        krein_reading r = candidate(k);
        if (!(s->possible >> k & 1)) continue;
        if (r.as == KREIN_AS_TRUTH && !(s->yes && s->no)) continue; /* a category, perhaps */
        if (r.as == KREIN_AS_DATE && s->hours) r.style |= KREIN_DATE_HOURS;
        return r;
    }
    return (krein_reading){KREIN_AS_PLAIN, 0};
}

double krein__reading_first(const krein_reading_search *s, krein_reading r) {
    double v[KREIN_READ_PARTS] = {0};
    return krein__read_cell(r, s->first, strlen(s->first), v) ? v[krein__reading_parts(r) - 1] : 0;
}
