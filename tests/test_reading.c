/* test_reading.c -- texts that mean numbers: dates, times, truth values, amounts. */
#include "data.h"

#include "file/reading.h"

static krein_reading found(const char *const *cells) {
    krein_reading_search s;
    krein__reading_begin(&s);
    for (; *cells; cells++) krein__reading_look(&s, *cells, strlen(*cells));
    return krein__reading_end(&s);
}
#define FOUND(...) found((const char *const[]){__VA_ARGS__, NULL})
#define CHECK_FOUND(as_, style_, ...)                                                              \
    do {                                                                                           \
        krein_reading r_ = FOUND(__VA_ARGS__);                                                     \
        CHECK(r_.as == (as_) && r_.style == (style_));                                             \
        CHECK(krein__reading_valid((int)r_.as, r_.style));                                         \
    } while (0)

static void forms(void) {
    CHECK_FOUND(KREIN_AS_TRUTH, 0, "true", "FALSE", "True");
    CHECK_FOUND(KREIN_AS_TRUTH, 1, "Yes", "no");
    CHECK_FOUND(KREIN_AS_TRUTH, 2, "T", "f");
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "f", "f");          /* one of them alone is a category */
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "yes", "false");    /* not of one form */
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "yes", "no", "so"); /* nor all of them */
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_YEAR, "2026-11-17", "2026-1-2");
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_YEAR + KREIN_DATE_HOURS, "2026-11-17T10:20:30Z",
                "2026-11-17");
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_DAY, "17.11.2026", "1.2.2026");
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_DAY, "01/02/2026", "17/11/2026");
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_MONTH, "01/02/2026", "11/17/2026");
    CHECK_FOUND(KREIN_AS_DATE, KREIN_DATE_MONTH, "01/02/2026"); /* nothing tells */
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "13/12/2026", "12/13/2026"); /* both ways */
    CHECK_FOUND(KREIN_AS_TIME, 0, "10:20", "1:02:03", "11:30 PM");
    CHECK_FOUND(KREIN_AS_AMOUNT, 0, "1,234", "12", "1,234,567.5");
    CHECK_FOUND(KREIN_AS_AMOUNT, KREIN_AMOUNT_COMMA, "1,5", "12", "1.234,5", "0,125");
    CHECK_FOUND(KREIN_AS_AMOUNT, KREIN_AMOUNT_PERCENT, "5%", "-6.5 %");
    CHECK_FOUND(KREIN_AS_AMOUNT, KREIN_AMOUNT_CURRENCY, "$5", "-$1,200.50");
    CHECK_FOUND(KREIN_AS_AMOUNT, 5 * KREIN_AMOUNT_CURRENCY + KREIN_AMOUNT_COMMA, "5 EUR",
                "3,50 EUR");
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "5%", "5"); /* not throughout */
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "$5", "5 EUR");
    CHECK_FOUND(KREIN_AS_PLAIN, 0, "red", "2026-11-17");
    CHECK(found((const char *const[]){NULL}).as == KREIN_AS_PLAIN);
    CHECK(!krein__reading_valid(5, 0) && !krein__reading_valid(KREIN_AS_DATE, 3) &&
          !krein__reading_valid(KREIN_AS_TRUTH, 4) && !krein__reading_valid(KREIN_AS_TIME, -1));
    CHECK(krein__missing_word("N/A", 3) && krein__missing_word("null", 4) &&
          !krein__missing_word("nan0", 4));
}

static bool read_as(krein_as as, int style, const char *text, double *v) {
    return krein__read_cell((krein_reading){as, style}, text, strlen(text), v);
}

static void dates(void) {
    double v[KREIN_READ_PARTS];
    const struct {
        const char *text;
        double year, month, weekday, days;
    } known[] = {{"1970-01-01", 1970, 1, 3, 0},       {"2026-11-17", 2026, 11, 1, 20774},
                 {"2000-02-29", 2000, 2, 1, 11016},   {"1969-12-31", 1969, 12, 2, -1},
                 {"1600-03-01", 1600, 3, 2, -135080}, {"2100-12-31", 2100, 12, 4, 47846}};
    for (int64_t k = 0; k < KREIN__COUNT(known); k++) {
        CHECK(read_as(KREIN_AS_DATE, KREIN_DATE_YEAR, known[k].text, v));
        CHECK(v[0] == known[k].year && v[1] == known[k].month && v[2] == known[k].weekday);
        CHECK_ABS(v[3], known[k].days, 0);
    }
    CHECK(read_as(KREIN_AS_DATE, KREIN_DATE_DAY + KREIN_DATE_HOURS, "17.11.2026 06:30", v));
    CHECK(v[0] == 2026 && v[1] == 11 && v[3] == 6.5);
    CHECK_ABS(v[4], 20774 + 6.5 / 24, 1e-12);
    CHECK(read_as(KREIN_AS_DATE, KREIN_DATE_MONTH, "11/17/2026 12:00 AM", v) && v[3] == 20774);
    static const char *const wrong[] = {
        "2026-02-29",  "2026-13-01",       "2026-00-01",       "2026-01-32",
        "26-01-01",    "2026-01",          "2026-01-01x",      "2026-01/01",
        "2026-01-01T", "2026-01-01 25:00", "2026-01-01 10",    "",
        "-",           "0000-01-01",       "99999999999-01-01"};
    for (int64_t k = 0; k < KREIN__COUNT(wrong); k++)
        CHECK_ELSE(!read_as(KREIN_AS_DATE, KREIN_DATE_YEAR, wrong[k], v), "%s", wrong[k]);
    static const char *const late[] = {"24:00", "00:00:00.123", "12:00 pm", "10:20:30+02:00",
                                       "10:20Z"};
    static const double hours[] = {24, 0, 12, 10 + 20 / 60. + 30 / 3600., 10 + 20 / 60.};
    for (int64_t k = 0; k < KREIN__COUNT(late); k++) {
        CHECK(read_as(KREIN_AS_TIME, 0, late[k], v));
        CHECK_ABS(v[0], hours[k], 1e-12);
    }
    static const char *const never[] = {"24:01",  "12:60", "1:2", "13:00 PM", "10:20 XM",
                                        "10:20:", ":20",   "10",  "100:20"};
    for (int64_t k = 0; k < KREIN__COUNT(never); k++)
        CHECK_ELSE(!read_as(KREIN_AS_TIME, 0, never[k], v), "%s", never[k]);
}

/* Every day of 800 years follows the one before it. */
static void calendar(void) {
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double v[KREIN_READ_PARTS], before = NAN, weekday = 0;
    bool right = true;
    for (int y = 1600; y < 2400; y++)
        for (int m = 1; m <= 12; m++) {
            bool leap = m == 2 && y % 4 == 0 && (y % 100 || y % 400 == 0);
            for (int d = 1; d <= length[m - 1] + leap; d++) {
                char text[32];
                snprintf(text, sizeof text, "%04d-%02d-%02d", y, m, d);
                right = right && read_as(KREIN_AS_DATE, KREIN_DATE_YEAR, text, v) && v[0] == y &&
                        v[1] == m;
                if (y > 1600 || m > 1 || d > 1)
                    right = right && v[3] == before + 1 && v[2] == fmod(weekday + 1, 7);
                before = v[3];
                weekday = v[2];
            }
        }
    CHECK(right);
}

static void amounts(void) {
    double v[KREIN_READ_PARTS];
    const struct {
        int style;
        const char *text;
        double value;
    } good[] = {{0, "1,234", 1234},
                {0, "-1,234,567.25", -1234567.25},
                {0, "12", 12},
                {0, "1 234.5", 1234.5},
                {0, "1'234", 1234},
                {0, "+.", NAN},
                {0, "1234.5", 1234.5},
                {0, "1,23", NAN},
                {0, "12,34,567", NAN},
                {0, "1234,567", NAN},
                {0, "0,125", NAN},
                {0, "1,2345", NAN},
                {0, "1e5", NAN},
                {0, "", NAN},
                {1, "1.234,5", 1234.5},
                {1, "3,14", 3.14},
                {1, "1.5", NAN},
                {1,
                 "1\xc2\xa0"
                 "234,5",
                 1234.5},
                {2, "5%", .05},
                {2, "12.5 %", .125},
                {2, "5", NAN},
                {2, "5%%", NAN},
                {4, "$5", 5},
                {4, "$ 1,200.50", 1200.5},
                {4, "-$5", -5},
                {4, "$-5", -5},
                {4, "5 $", 5},
                {4, "5", NAN},
                {4, "$", NAN},
                {8,
                 "\xe2\x82\xac"
                 "5",
                 5},
                {9, "5,50 \xe2\x82\xac", 5.5},
                {20, "EUR 7", 7}};
    for (int64_t k = 0; k < KREIN__COUNT(good); k++) {
        bool read = read_as(KREIN_AS_AMOUNT, good[k].style, good[k].text, v);
        CHECK_ELSE(read == !isnan(good[k].value), "%s", good[k].text);
        if (read && !isnan(good[k].value)) CHECK_ABS(v[0], good[k].value, 1e-9);
    }
}

/* ---- columns ------------------------------------------------------------ */

static const char table[] = "y,when,ok,price,n\n"
                            "1.5,17.11.2026 06:00,yes,\"$1,200\",3\n"
                            "2.5,18.11.2026,no,$3.00,NA\n"
                            "3.5,,No,$12,5\n"
                            "4.25,1.12.2026 12:00,YES,,6\n";

static void columns(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx, table, NULL);
    CHECK_ELSE(l.st == KREIN_OK, "%s", krein_message(ctx));
    CHECK(l.e.d == 5 + 1 + 1 + 2 + 2);
    /* year, month, weekday, hour, days since the first one, missing; ok; price, missing; n, missing
     */
    CHECK_ROW(l.t, 0, 2026, 11, 1, 6, 0, 0, 1, 1200, 0, 3, 0);
    CHECK_ROW(l.t, 1, 2026, 11, 2, 0, .75, 0, 0, 3, 0, 14 / 3., 1);
    CHECK_ROW(l.t, 2, 2026, 34 / 3., 4 / 3., 6, 5, 1, 0, 12, 0, 5, 0);
    CHECK_ROW(l.t, 3, 2026, 12, 1, 12, 14.25, 0, 1, 405, 1, 6, 0);
    char **note;
    int64_t n;
    CHECK(krein__encoding_notes(ctx, &l.e, &note, &n) == KREIN_OK && n == 4);
    if (n == 4) {
        CHECK_HAS(note[0], "dates, day first: when: year, month, weekday, hour and days");
        CHECK_HAS(note[1], "truth values: ok");
        CHECK_HAS(note[2], "amounts: price");
        CHECK_HAS(note[3], "missing cells: when, price, n");
    }
    krein__notes_free(ctx, note, n);
    /* a file to predict is read in the same way, whatever it looks like */
    krein_data *data = NULL;
    taken t = {0};
    CHECK(krein_data_open(ctx, test_write("new.csv", "n,price,ok,when\n1,$7,no,02.12.2026\n"), NULL,
                          &data) == KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_OK);
    CHECK_ROW(t, 0, 2026, 12, 2, 0, 14.75, 0, 0, 7, 0, 1, 0);
    give_back(&t);
    krein_data_close(data);
    CHECK(krein_data_open(
              ctx,
              test_write("bad.csv", "n,price,ok,when\n1,$7,no,2.12.2026\n1,$7,maybe,2.12.2026\n"),
              NULL, &data) == KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_EFORMAT);
    CHECK_HAS(krein_message(ctx), "bad.csv:3: column 3 (ok) is not a truth value");
    CHECK_HAS(krein_message(ctx), "`types=plain`");
    give_back(&t);
    krein_data_close(data);
    forget(&l);
    krein_data_options o = plain();
    o.types = KREIN_TYPES_PLAIN;
    l = learn_text(ctx, table, &o);
    CHECK(l.st == KREIN_OK && l.e.input[1].text && l.e.input[2].text && l.e.input[4].text);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* An amount may be the label; yes and no are classes there. */
static void labels(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx, "price,x\n$1,1\n$2.50,2\n$3,3\n", NULL);
    CHECK(l.st == KREIN_OK && l.e.task == KREIN_TASK_REGRESSION && l.t.label[1] == 2.5);
    krein_data *data = NULL;
    taken t = {0};
    CHECK(krein_data_open(ctx, test_write("new.csv", "x,price\n1,\"$1,000\"\n"), NULL, &data) ==
          KREIN_OK);
    CHECK(krein__data_match(data, &l.e, true) == KREIN_OK);
    CHECK(take(data, &l.e, KREIN_PART_TRAIN, &t) == KREIN_OK && t.n == 1 && t.label[0] == 1000);
    give_back(&t);
    krein_data_close(data);
    forget(&l);
    l = learn_text(ctx, "y,x\nyes,1\nno,2\nyes,3\n", NULL);
    CHECK(l.st == KREIN_OK && l.e.task == KREIN_TASK_CLASSIFICATION &&
          strcmp(l.e.class_name[1], "yes") == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* A table in memory is read as the file. */
static void memory(void) {
    krein_ctx *ctx = test_ctx(1);
    static const char *const when[] = {"17.11.2026 06:00", "18.11.2026", NULL, "1.12.2026 12:00"},
                             *const ok[] = {"no", "yes"},
                             *const price[] = {"$1,200", "$3.00", "$12", "NA"};
    static const int32_t is_ok[] = {1, 0, 0, 1};
    static const double n[] = {3, NAN, 5, 6}, y[] = {1.5, 2.5, 3.5, 4.25};
    krein_column_view c[] = {{.size = sizeof *c, .texts = when},
                             {.size = sizeof *c, .codes = is_ok, .words = ok, .nwords = 2},
                             {.size = sizeof *c, .texts = price},
                             {.size = sizeof *c, .numbers = n, .type = KREIN_FLOAT64}};
    static const char *const names[] = {"when", "ok", "price", "n"};
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = 4;
    v.d = 4;
    v.columns = c;
    v.names = names;
    v.targets = y;
    krein_data_options o = plain();
    krein_data *data = NULL;
    krein_encoding e = {0};
    taken t = {0};
    learned l = learn_text(ctx, table, NULL);
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    krein_status st = krein__data_scan(data, true, 0, 1, &e);
    CHECK_ELSE(st == KREIN_OK, "%s", krein_message(ctx));
    CHECK(take(data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK && t.n == 4 && t.d == l.t.d);
    if (t.n == 4 && t.d == l.t.d) CHECK(memcmp(t.x, l.t.x, (size_t)(4 * t.d) * sizeof *t.x) == 0);
    give_back(&t);
    krein_data_close(data);
    krein__encoding_clear(ctx, &e);
    /* categories that are said to be some */
    c[1].category = 1;
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK);
    CHECK(e.ninput == 5 && e.input[2].text && e.input[2].dict.n == 2 && !e.input[1].text);
    krein_data_close(data);
    krein__encoding_clear(ctx, &e);
    /* with the encoding of the file; truth values may come as numbers, dates may not */
    c[1] = (krein_column_view){.size = sizeof *c, .numbers = is_ok, .type = KREIN_INT32};
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_OK && t.n == 4);
    if (t.n == 4) CHECK(memcmp(t.x, l.t.x, (size_t)(4 * t.d) * sizeof *t.x) == 0);
    give_back(&t);
    krein_data_close(data);
    c[0] = c[3];
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "dates");
    give_back(&t);
    krein_data_close(data);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Kept or read again, one thread or two: the same rows. */
static void same_rows(void) {
    const char *path = test_path("long.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,when,ok,price\n");
    for (int i = 0; i < 5000; i++) {
        fprintf(f, "%.5f,", det(i, 0, .3));
        if (i % 29)
            fprintf(f, "20%02d-%02d-%02dT%02d:%02d", i % 40, 1 + i % 12, 1 + i % 28, i % 24,
                    i % 60);
        fprintf(f, ",%s,\"%d,%03d\"\n", i % 3 ? "true" : "false", i % 90 + 1, i % 1000);
    }
    fclose(f);
    krein_data_options o;
    krein_data_options_init(&o);
    learned first = {0};
    for (int k = 0; k < 4; k++) {
        krein_ctx *ctx = test_ctx(1 + k % 2);
        learned l = learn_file(ctx, path, &o, k < 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, 0, 7);
        CHECK_ELSE(l.st == KREIN_OK, "%s", krein_message(ctx));
        CHECK(l.t.n == 5000 && l.t.d == 8);
        if (k == 0) {
            first = l;
            continue;
        }
        if (l.t.d == 8) CHECK(memcmp(l.t.x, first.t.x, 5000 * 8 * sizeof *l.t.x) == 0);
        forget(&l);
        krein_ctx_destroy(ctx);
    }
    krein_ctx *ctx = first.ctx;
    forget(&first);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(forms);
    RUN(dates);
    RUN(calendar);
    RUN(amounts);
    RUN(columns);
    RUN(labels);
    RUN(memory);
    RUN(same_rows);
    return DONE();
}
