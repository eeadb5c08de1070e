/* test_survey.c -- rows of a file counted by several processes, over the sockets of wire.h.
 *
 * What is expected is what a reader says that reads from the start: how many rows there are, what
 * they hold from any row on, and the line of an error. Every number of ranks runs in a process of
 * its own, so that threads may be used behind the fork. */
#include "common.h"
#include "wire.h"

#include "readers.h"

#include "ranks.h" /* behind it: its names are for whole files */

#include "share/survey.h"
#include "dist/dist.h"

/* ---- reading from a row on ---------------------------------------------------------------- */

enum { ENOUGH = 1000 };

/* One string per row, or the message. */
typedef struct rows {
    text all;
    int64_t *at, n, room; /* where each row's text begins; at[n]: the end */
    char message[KREIN__MESSAGE];
} rows;

static void rows_clear(rows *t) {
    free(t->all.s);
    free(t->at);
    *t = (rows){0};
}

static void add_row(rows *t, const krein_raw *raw, int64_t i) {
    if (t->n + 2 > t->room) {
        t->room = 2 * t->room + 16;
        t->at = realloc(t->at, (size_t)t->room * sizeof *t->at);
        if (!t->at) abort();
    }
    if (t->n == 0) t->at[0] = 0;
    say_row(&t->all, raw, i);
    t->at[++t->n] = (int64_t)t->all.n;
}

/* At least `most` rows, if there are as many. */
static void read_from(krein_reader *r, const krein_mark *mark, int64_t most, rows *t) {
    krein_raw raw = {0};
    krein_status st = krein__reader_begin(r);
    if (st == KREIN_OK && mark) st = krein__reader_seek(r, mark);
    int64_t row = mark ? mark->row : 0;
    while (st == KREIN_OK && t->n < most && (st = krein__reader_next(r, &raw)) == KREIN_OK &&
           raw.n > 0) {
        CHECK(raw.from.row == row);
        row += raw.n;
        for (int64_t i = 0; i < raw.n; i++) add_row(t, &raw, i);
    }
    if (st != KREIN_OK) snprintf(t->message, sizeof t->message, "%s", krein_message(r->ctx));
    krein__raw_clear(r->ctx, &raw);
}

/* The rows from `row` on are the same, as far as they were read; behind the last of n there is
 * nothing. Batches before an error end where they like. */
static bool same_from(const rows *all, int64_t row, int64_t n, const rows *rest) {
    if (row == n) return rest->n == 0 && !rest->message[0];
    if (strcmp(all->message, rest->message) != 0) return false;
    if (all->message[0]) return true;
    return rest->n > 0 && rest->n <= n - row && (rest->n >= ENOUGH || rest->n == n - row) &&
           all->at[row + rest->n] - all->at[row] == rest->at[rest->n] &&
           memcmp(all->all.s + all->at[row], rest->all.s, rest->all.n) == 0;
}

static krein_reader *open_reader(krein_ctx *c, const char *name, how h) {
    krein_reader *r = NULL;
    CHECK(krein__reader_open(c, file_name(name), &h.options, &r) == KREIN_OK);
    if (!r) {
        printf("%s\n", krein_message(c));
        return NULL;
    }
    r->missing_ok = r->label_optional = true;
    return r;
}

/* ---- the property ------------------------------------------------------------------------- */

static void each_mark(krein_reader *r, krein_survey *s, const rows *all, int64_t step) {
    const int64_t n = krein__survey_rows(s);
    int wrong = 0;
    int64_t sum = 0; /* of all marks, the same on all ranks */
    for (int64_t k = 0; k <= n; k += k < n && k + step > n ? n - k : step) {
        const int64_t row = k / step % 2 ? n - k : k; /* not in order */
        krein_mark mark = {-1, -1, -1, -1};
        rows rest = {0};
        CHECK(krein__survey_mark(s, row, &mark) == KREIN_OK && mark.row == row);
        sum = sum * 31 % 1000003 + mark.byte * 7 + mark.line * 3 + mark.file;
        if (k % ranks != me) continue; /* one rank looks at it */
        read_from(r, &mark, ENOUGH, &rest);
        if (!same_from(all, row, n, &rest) && !wrong++)
            printf("row %lld: byte %lld, line %lld: %.80s %s\n", (long long)row,
                   (long long)mark.byte, (long long)mark.line, rest.all.s ? rest.all.s : "",
                   rest.message);
        rows_clear(&rest);
    }
    CHECK(wrong == 0);
    int64_t seen[] = {sum, -sum};
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MIN, 2, seen) == KREIN_OK && seen[0] == -seen[1]);
}

/* The rows of `name`, with buffers of that many bytes; every step-th of them is looked for. n >= 0:
 * how many there must be; -1: as many as are read without an error. */
static void survey(const char *name, how h, int64_t n, int64_t step) {
    const int before = test_bad;
    rows all = {0}, words = {0};
    krein_reader *first = open_reader(alone, name, h), *r = open_reader(ctx, name, h);
    krein_survey *s = NULL;
    if (first) read_from(first, NULL, INT64_MAX, &all);
    if (r) read_from(r, NULL, INT64_MAX, &words); /* they get the same codes then */
    rows_clear(&words);
    CHECK(n < 0 || all.message[0] || all.n == n);
    if (n < 0) n = all.n;
    CHECK(first && r && krein__reader_begin(r) == KREIN_OK);
    const krein_status st = first && r ? krein__survey_open(r, &s) : KREIN_EIO;
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK && s);
    if (s) {
        CHECK(krein__survey_rows(s) == n);
        if (krein__survey_rows(s) == n) each_mark(r, s, &all, step);
    }
    krein__survey_close(s);
    krein__reader_close(r);
    krein__reader_close(first);
    rows_clear(&all);
    if (test_bad > before)
        printf("in %s, rank %d of %d, buffer %zu\n", name, me, ranks, h.options.buffer);
}

/* The file, and the file with the row `bad` at its end, which is an error when it is read: its line
 * must be right from wherever it is read. */
static void good_and_bad(const char *content, const char *bad, how h, int64_t n) {
    static const size_t buffers[] = {16, 50, 0};
    const char *end = *content && content[strlen(content) - 1] != '\n' ? "\n" : "";
    text t = {0};
    say(&t, "%s", content);
    if (me == 0) put("good", t.s, t.n);
    if (me == 0) put_gz("good.gz", t.s, t.n, "wb");
    if (bad) say(&t, "%s%s\n \n", end, bad);
    if (me == 0 && bad) put("bad", t.s, t.n);
    if (me == 0 && bad) put_gz("bad.gz", t.s, t.n, "wb");
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    for (int k = 0; k < 3; k++) {
        h.options.buffer = buffers[k];
        survey("good", h, n, 1);
        if (k != 1) survey("good.gz", h, n, 1);
        if (bad) survey("bad", h, n + 1, 1);
        if (bad && k == 1) survey("bad.gz", h, n + 1, 1);
    }
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    free(t.s);
}

static const how csv = {.options = {.format = "csv", .delimiter = ',', .header = 0}};
static const how named = {.options = {.format = "csv", .delimiter = ',', .header = 1}};
static const how tabs = {.options = {.format = "csv", .delimiter = '\t', .header = 0}};
static const how libsvm = {.options = {.format = "libsvm", .header = -1}};

static void plain_csv(void) {
    good_and_bad("1,2\n3,4\n5,6\n7,8\n9,10\n", "inf,0", csv, 5);
    good_and_bad("1,2\n3,4\n5,6\n7,8\n9,10", "inf,0", csv, 5);
    good_and_bad("1,2\r\n3,4\r\n5,6\r\n7,8\r\n", "inf,0", csv, 4);
    good_and_bad("1,2\r\n3,4\r\n5,6\r\n7,8\r\n\r\n  \r\n", NULL, csv, 4);
    good_and_bad("1,2\n3,4\n\n\n\t \n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n \n ", NULL,
                 csv, 2);
    good_and_bad("a,b\n1,2\n3,4\n", "inf,0", named, 2);
    good_and_bad("\xef\xbb\xbf"
                 "a,b\n1,2\n3,4\n",
                 "inf,0", named, 2);
    good_and_bad("\xef\xbb\xbf"
                 "1,2\n3,4",
                 "inf,0", csv, 2);
    good_and_bad("1,2", "inf,0", csv, 1);
    good_and_bad("a_name_that_is_longer_than_all_else,and_one_more_for_the_second_column\n1,2\n",
                 "inf,0", named, 1);
}

static void one_column(void) {
    good_and_bad("1\n2\n\n\n3\n\n4\n", "inf", csv, 7); /* a blank line is a missing cell */
    good_and_bad("1\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n2\n\n\n\n\n\n\n\n\n\n\n\n\n",
                 NULL, csv, 25);
    good_and_bad("\n\n\n\n1\n2\n", "inf", csv, 6);
    good_and_bad("1", "inf", csv, 1);
    good_and_bad("\xef\xbb\xbf"
                 "1\n2\n",
                 "inf", csv, 2);
    good_and_bad("1\t\n\t\n\t\n", "1\tinf", tabs, 3); /* lines of missing cells, not blank ones */
}

static void quotes(void) {
    good_and_bad("\"a\nb\",1\n\"c\",2\n\"\n\n\n\",3\nd,4\n", "e,inf", csv, 4);
    good_and_bad("\"the\nfirst\",b\n\"x\",1\ny,2\n\"\nz\",3\n", "e,inf", named, 3);
    good_and_bad("pipe 5\",1\npipe 6\",2\n\"7\"\" pipe\n\",3\n\n\n", NULL, csv, 3);
    good_and_bad("a,1\nb,2\nc,3\nd,4\ne,5\nf,6\ng,7\n\"\nh\n\",8\n", "e,inf", csv, 8);
    good_and_bad("1,a\n2,b\n3,\"c\"", "inf,a", csv, 3);
}

static void sparse(void) {
    good_and_bad("1 1:2 3:4\n2 2:1\n1 1:1\n3 5:5\n", "1 1:inf", libsvm, 4);
    good_and_bad("# nothing\n\n1 1:2 # more\n  \t\n\r\n#\n   # x\n2 1:1\r\n   3 1:1\n# the\n# end",
                 "1 1:inf", libsvm, 3);
    good_and_bad("\xef\xbb\xbf"
                 "# x\n1 1:2",
                 "1 1:inf", libsvm, 1);
    good_and_bad("1 1:2\n                                                     \n"
                 "                                                            2 1:2\n"
                 "                                                            # 2 1:2\n3 1:1\n   ",
                 "1 1:inf", libsvm, 3);
    good_and_bad("# a\n# b\n# c\n# d\n# e\n# f\n1 1:2\n# a\n# b\n# c\n# d\n# e\n# f\n# g\n",
                 "1 1:inf", libsvm, 1);
}

/* Rows of any length from one to some hundred bytes; what the lines hold is drawn. */
static void draw_csv(text *t, bool quoted) {
    static const char *const ends[] = {"\n", "\r\n"};
    const int64_t n = 1 + test_random_below(40);
    for (int64_t i = 0; i < n; i++) {
        say(t, "%lld", (long long)test_random_below(1000000));
        for (int64_t k = test_random_below(8) ? 0 : test_random_below(200); k > 0; k--) say(t, " ");
        say(t, ",");
        const int64_t kind = test_random_below(quoted ? 3 : 2);
        say(t, "%s", kind == 0 ? "word" : kind == 1 ? "" : "\"a, \"\"\nb\n");
        for (int64_t k = test_random_below(4) ? 0 : test_random_below(100); k > 0; k--) say(t, "x");
        if (kind == 2) say(t, "\"");
        if (i < n - 1 || test_random_below(2)) say(t, "%s", ends[test_random_below(2)]);
    }
    for (int64_t k = test_random_below(2) ? 0 : test_random_below(60); k > 0; k--)
        say(t, "%c", " \n\r"[test_random_below(3)]);
}

static void draw_libsvm(text *t) {
    static const char *const idle[] = {"# 1 1:1", "  ", "", "\t#", "\r"};
    for (int64_t n = 1 + test_random_below(40); n > 0; n--) {
        for (int64_t k = test_random_below(6) ? 0 : test_random_below(40); k > 0; k--) say(t, " ");
        if (test_random_below(3) == 0)
            say(t, "%s\n", idle[test_random_below(5)]);
        else
            say(t, "%lld 1:%lld 7:3 # x\n", (long long)n, (long long)test_random_below(1000));
    }
    say(t, "1 1:1");
}

static void drawn(void) {
    const int64_t times = test_sanitized() ? 3 : 6;
    for (int64_t k = 0; k < times; k++)
        for (int kind = 0; kind < 3; kind++) {
            text t = {0};
            test_random_state = 1000003u * (uint64_t)(3 * k + kind + 1); /* the same on all ranks */
            if (kind == 2)
                draw_libsvm(&t);
            else
                draw_csv(&t, kind == 1);
            if (me == 0) put("drawn", t.s, t.n);
            CHECK(krein__comm_barrier(ctx) == KREIN_OK);
            how h = kind == 2 ? libsvm : csv;
            for (int b = 0; b < 3; b++) {
                h.options.buffer = b == 0 ? 16 : b == 1 ? 100 : 0;
                survey("drawn", h, -1, 1);
            }
            CHECK(krein__comm_barrier(ctx) == KREIN_OK);
            free(t.s);
        }
}

/* More blocks than the 4,096 marks that are kept, of each rank up to three, and of more than twice
 * as many; a row longer than any buffer, and than a share. */
static void many_rows(void) {
    text t = {0};
    const int64_t n = ranks > 3 ? 5000 : 5000 * ranks;
    for (int64_t i = 0; i < n; i++) say(&t, "%lld,%lld\n", (long long)i, (long long)(i * i % 1009));
    if (me == 0) put("many", t.s, t.n);
    if (me == 0) put_gz("many.gz", t.s, t.n, "wb");
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    how h = csv;
    h.options.buffer = 16;
    survey("many", h, n, n / 7);
    survey("many.gz", h, n, n / 3);
    h.options.buffer = 0;
    survey("many", h, n, n / 7);
    free(t.s);
    t = (text){0};
    say(&t, "1,x\n");
    char many[1001];
    memset(many, 'y', 1000);
    many[1000] = 0;
    for (int64_t i = 0; i < 300; i++) say(&t, i == 0 ? "2,%s" : "%s", many);
    say(&t, "\n3,x\n4,x");
    if (me == 0) put("long", t.s, t.n);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    h.options.buffer = 4096;
    survey("long", h, 4, 1);
    free(t.s);
}

/* Several files: short and long ones, with a header each, compressed ones, one with quotes. */
static void several_files(void) {
    static const char *const part[] = {"a,b\n1,2\n3,4\n",
                                       ("\xef\xbb\xbf"
                                        "a,b\n5,6\n"),
                                       "a,b\n7,8\n9,10\n11,12\n13,14\n15,16\n17,18\n19,20\n",
                                       "a,b\n1,2\n\"3\",\"4\"\n5,6\n5,6\n5,6\n5,6\n5,6\n\n",
                                       "a,b\r\n21,22\r\n23,24",
                                       "a,b\n0,inf\n"};
    how h = {.options = {.header = 1, .delimiter = ','}};
    char name[32];
    for (int zip = 0; zip < 7; zip += test_sanitized() ? 3 : 1) {
        for (int k = 0; me == 0 && k < 6; k++) {
            snprintf(name, sizeof name, k < 5 ? "part-%d" : "part-%d-bad", k);
            if (k == zip - 1)
                put_gz(name, part[k], strlen(part[k]), "wb");
            else
                put(name, part[k], strlen(part[k]));
        }
        CHECK(krein__comm_barrier(ctx) == KREIN_OK);
        for (int b = 0; b < 2; b++) {
            h.options.buffer = b == 0 ? 16 : 0;
            survey("part-?", h, 19, 1);
            survey("part-*", h, 20, 1);
        }
        CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    }
    for (int k = 0; me == 0 && k < 3; k++) {
        snprintf(name, sizeof name, "sparse-%d", k);
        put_text(name, k == 0 ? "# x\n1 1:2\n2 1:3\n" : k == 1 ? "\n\n1 3:4 # y\n" : "3 1:1");
    }
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    h = libsvm;
    h.options.buffer = 16;
    survey("sparse-*", h, 4, 1);
}

static void arrays(void) {
    char bytes[4096];
    double values[39];
    for (int k = 0; k < 39; k++) values[k] = k;
    for (int fortran = 0; fortran < 2; fortran++) {
        const size_t n =
            npy(bytes, 1,
                fortran ? "{'descr': '<f8', 'fortran_order': True, 'shape': (13, 3), }"
                        : "{'descr': '<f8', 'fortran_order': False, 'shape': (13, 3), }",
                values, sizeof values);
        if (me == 0) put("a.npy", bytes, n);
        if (me == 0) put_gz("a.npy.gz", bytes, n, "wb");
        CHECK(krein__comm_barrier(ctx) == KREIN_OK);
        how h = plain;
        h.options.buffer = 64;
        survey("a.npy", h, 13, 1);
        survey("a.npy.gz", h, 13, 1);
        survey("a.npy*", h, 26, 1);
        CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    }
}

/* ---- failures ----------------------------------------------------------------------------- */

static void expect(krein_status st, krein_status want, const char *part) {
    CHECK(st == want);
    CHECK_HAS(krein_message(ctx), part);
    krein__comm_clear(ctx);
}

/* The file loses its second half after it was opened: ranks that look there fail, all end. */
static void torn(void) {
    krein_survey *s = NULL;
    text t = {0};
    for (int i = 0; i < 1000; i++) say(&t, "%d,%d\n", i, i);
    if (me == 0) put("torn", t.s, t.n);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    krein_reader *r = open_reader(ctx, "torn", csv);
    CHECK(r && krein__reader_begin(r) == KREIN_OK);
    CHECK(krein__survey_open(r, &s) == KREIN_OK);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    if (me == 0) CHECK(truncate(file_name("torn"), (off_t)t.n / 2) == 0);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    krein_mark mark;
    expect(krein__survey_mark(s, 998, &mark), KREIN_EIO, "changed while it was read");
    CHECK(krein__survey_mark(s, 1, &mark) == KREIN_OK && mark.byte == 4 && mark.line == 2);
    krein__survey_close(s);
    if (ranks > 2) expect(krein__survey_open(r, &s), KREIN_EIO, "torn");
    krein__reader_close(r);
    free(t.s);
}

static void broken_gzip(void) {
    krein_survey *s = NULL;
    text t = {0};
    for (int i = 0; i < 20000; i++) say(&t, "%d,%d\n", i, i * i % 1013);
    if (me == 0) put_gz("broken.gz", t.s, t.n, "wb");
    if (me == 0) CHECK(truncate(file_name("broken.gz"), 20000) == 0);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    krein_reader *r = open_reader(ctx, "broken.gz", csv);
    CHECK(r && krein__reader_begin(r) == KREIN_OK);
    expect(krein__survey_open(r, &s), KREIN_EIO, "truncated");
    CHECK(s == NULL);
    krein__reader_close(r);
    free(t.s);
}

/* A quote that is never closed is an error of the rank that counts. */
static void open_quote(void) {
    krein_survey *s = NULL;
    text t = {0};
    for (int i = 0; i < 3000; i++) say(&t, "word%d,%d\n", i, i);
    say(&t, "\"x,1\n");
    if (me == 0) put("open", t.s, t.n);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    how h = csv;
    h.options.buffer = 1000;
    krein_reader *r = open_reader(ctx, "open", h);
    CHECK(r && krein__reader_begin(r) == KREIN_OK);
    expect(krein__survey_open(r, &s), KREIN_EFORMAT, "open:3001: a quoted field begins");
    krein__reader_close(r);
    free(t.s);
}

static void other_files(void) {
    krein_survey *s = NULL;
    if (me == 0) put_text("one", "1,2\n3,4\n");
    if (me == 0) put_text("two", "1,2\n3,4\n5,6\n");
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    krein_reader *r = open_reader(ctx, me == 1 ? "two" : "one", csv);
    CHECK(r && krein__reader_begin(r) == KREIN_OK);
    expect(krein__survey_open(r, &s), KREIN_EIO, "different files (8 to 12 bytes");
    krein__reader_close(r);
}

static void allocations(void) {
    if (me == 0) put_text("few", "1,2\n3,4\n5,6\n7,8\n9,10\n");
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    krein_reader *r = open_reader(ctx, "few", csv);
    for (int rank = 0; rank < ranks; rank++)
        for (int k = 0; k < 12; k++) {
            krein_survey *s = NULL;
            krein_mark mark = {0};
            CHECK(krein__reader_begin(r) == KREIN_OK);
            krein__reader_buffer(r, 64);
            const int64_t live = test_live(&memory);
            test_fail_at(&memory, me == rank ? k : -1);
            krein_status st = krein__survey_open(r, &s);
            if (st == KREIN_OK) st = krein__survey_mark(s, 4, &mark);
            test_fail_at(&memory, -1);
            CHECK(krein__comm_agree(ctx, st) == st);
            CHECK(st == KREIN_EMEMORY || (st == KREIN_OK && mark.byte == 16 && k > 0));
            krein__survey_close(s);
            krein__comm_clear(ctx);
            krein__reader_buffer(r, 64); /* gives its buffer back */
            CHECK(test_live(&memory) == live);
        }
    krein__reader_close(r);
}

/* ---- all of it, on some ranks ------------------------------------------------------------- */

static void all_cases(void) {
    RUN(plain_csv);
    RUN(one_column);
    RUN(quotes);
    RUN(sparse);
    RUN(drawn);
    RUN(many_rows);
    RUN(several_files);
    RUN(arrays);
    RUN(torn);
    RUN(broken_gzip);
    RUN(open_quote);
    if (ranks > 1) RUN(other_files);
    RUN(allocations);
}

static void one_rank(void) { on_ranks(1, all_cases); }
static void two_ranks(void) { on_ranks(2, all_cases); }
static void three_ranks(void) { on_ranks(3, all_cases); }
static void five_ranks(void) { on_ranks(5, all_cases); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    if (!readers_start()) return 1;
    RUN(one_rank);
    if (!test_sanitized()) RUN(two_ranks);
    RUN(three_ranks);
    if (!test_sanitized()) RUN(five_ranks);
    return readers_done();
}
