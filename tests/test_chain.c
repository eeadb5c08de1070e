/* test_chain.c -- several files by a pattern: what comes out is what one file with all the rows
 * gives; files that do not go together; marks, memory. */
#include "readers.h"

/* The parts are files PREFIX0, PREFIX1, ...; NULL ends them. */
static void put_parts(const char *prefix, const char *end, const char *const *part, bool zipped) {
    char name[64];
    for (int k = 0; part[k]; k++) {
        bool zip = zipped && k % 2;
        snprintf(name, sizeof name, "%s%d%s%s", prefix, k, end, zip ? ".gz" : "");
        if (zip)
            put_gz(name, part[k], strlen(part[k]), "wb");
        else
            put_text(name, part[k]);
    }
}

static void remove_all(void) {
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(file_name(e->d_name));
    if (d) closedir(d);
}

/* The parts give what `whole` gives, with any buffer, on any threads, in every pass. */
static void same(const char *whole, const char *const *part, how h) {
    put_text("whole", whole);
    char *want = steady("whole", h);
    for (int zipped = 0; zipped < 2; zipped++) {
        put_parts("p", ".txt", part, zipped);
        char *got = steady("p*.txt*", h);
        if (strcmp(want, got) != 0) {
            printf("%.300s\nnot %.300s\n", got, want);
            test_bad++;
        }
        free(got);
        remove_all();
        put_text("whole", whole);
    }
    CHECK(strncmp(want, "ERR", 3) != 0);
    free(want);
    remove_all();
}

static void concatenated(void) {
    how roles = {.roles = "lfffg", .missing_ok = true, .passes = 2, .shift = true, AUTO};
    how frozen = roles;
    frozen.frozen = true;
    const char *const with_names[] = {"y,a,colour,b,g\n1,2.5,red,3,x\n2,4,blue,1,y\n",
                                      "\xef\xbb\xbfy,a,colour,b,g\r\n1,,red,3,z\r\n\r\n",
                                      "y,a,colour,b,g\n2,1e3,green,7,x\n1,0,,3,\"q\n,\"", NULL};
    const char *whole = "y,a,colour,b,g\n1,2.5,red,3,x\n2,4,blue,1,y\n1,,red,3,z\n"
                        "2,1e3,green,7,x\n1,0,,3,\"q\n,\"\n";
    same(whole, with_names, roles);
    same(whole, with_names, frozen);
    const char *const plain_rows[] = {"1;2\n3;4", "5;6\n\n\n", "7;8\n", "9;10\n11;12\n", NULL};
    same("1;2\n3;4\n5;6\n7;8\n9;10\n11;12\n", plain_rows, plain);
    how sparse = {.passes = 2, .label_optional = true, AUTO};
    const char *const lines[] = {"1 1:2 3:4\n# 1 9:9\n2 2:1\n", "# first\n3 7:1\n\n", "1 1:1 5:2",
                                 NULL};
    same("1 1:2 3:4\n2 2:1\n3 7:1\n1 1:1 5:2\n", lines, sparse);
    const char *const words[] = {"1 1:2 3:4\n2 2:1\n", "a 7:1\n", "b 1:1 5:2\n1 1:1\n", NULL};
    same("1 1:2 3:4\n2 2:1\na 7:1\nb 1:1 5:2\n1 1:1\n", words, sparse);
    /* text in a later file only: in all of them */
    const char *const later[] = {"1,2\n3,4\n", "5,6\n7,eight\n", NULL};
    same("1,2\n3,4\n5,6\n7,eight\n", later, plain);
}

static void arrays(void) {
    char bytes[4096], header[128];
    double values[60];
    how h = {.roles = "lfg", .passes = 2, .shift = true, AUTO};
    for (int k = 0; k < 60; k++) values[k] = k % 7 + k / 2.0;
    size_t n = npy(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 3), }", values,
                   sizeof values);
    put("whole.npy", bytes, n);
    char *want = steady("whole.npy", h);
    const int rows[] = {0, 9, 10, 17, 20};
    for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 3), }",
                 rows[k + 1] - rows[k]);
        n = npy(bytes, 1, header, values + 3 * rows[k],
                (size_t)(rows[k + 1] - rows[k]) * 3 * sizeof *values);
        snprintf(name, sizeof name, k == 2 ? "a%d.npy.gz" : "a%d.npy", k);
        if (k == 2)
            put_gz(name, bytes, n, "wb");
        else
            put(name, bytes, n);
    }
    char *got = steady("a?.npy*", h);
    CHECK(strcmp(want, got) == 0 && strncmp(want, "ERR", 3) != 0);
    krein_ctx *ctx = new_ctx();
    krein_reader *r = NULL;
    CHECK(krein__reader_open(ctx, file_name("a?.npy*"), NULL, &r) == KREIN_OK);
    CHECK(r && r->n == 20 && r->ncolumn == 3 && krein__reader_files(r) == 4);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
    free(want);
    free(got);
    remove_all();
}

/* ---- errors ------------------------------------------------------------------------------ */

static void says_of(const char *pattern, how h, const char *words) {
    char *got = steady(pattern, h);
    if (strncmp(got, "ERR", 3) != 0) printf("no error: %.200s\n", got);
    CHECK_HAS(got, words);
    free(got);
}

static void fails(const char *const *part, how h, const char *words) {
    put_parts("p", ".csv", part, false);
    says_of("p*.csv", h, words);
    remove_all();
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The file at fault, and its own lines. */
static void places(void) {
    fails(PARTS("a,b\n1,2\n3,4\n", "a,b\n1,2\n3,inf\n"), plain,
          "p1.csv:3: column 2 (b) is not finite");
    fails(PARTS("1,2\n3,4\n", "1,2\n", "3\n"), plain, "p2.csv has 1 column, but ");
    fails(PARTS("1,2\n3,4\n", "1,2\n3\n"), plain, "p1.csv:2: 1 cell where 2 are expected");
    fails(PARTS("1,2\n3,4\n", "1,2\n", "3,\n"), plain, "p2.csv:1: column 2 is empty");
    fails(PARTS("1 1:1\n", "1 1:1\n2 3:1 2:1\n"), plain, "p1.csv:2: \"2:1\": index 2 does not");
    fails(PARTS("a,1\n", "\"b,1\n"), plain, "p1.csv:1: a quoted field begins in this row");
    put_text("p0.csv", "1,2\n3,4\n");
    put_gz("p1.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n", 21, "wb");
    CHECK(truncate(file_name("p1.csv"), 25) == 0);
    says_of("p*.csv", plain, "p1.csv: the gzip data end too early");
    remove_all();
}

/* What does not go together. */
static void unlike(void) {
    fails(PARTS("a,b\n1,2\n", "1 1:1\n2 2:1\n"), plain, "p1.csv looks like libsvm, but ");
    fails(PARTS("a,b\n1,2\n", "1,2\n3,4\n"), plain, "p1.csv has no header, but ");
    fails(PARTS("1,2\n3,4\n", "a,b\n1,2\n"), plain, "p1.csv has a header, but ");
    fails(PARTS("a,b\n1,2\n", "a,c\n1,2\n"), plain,
          "p1.csv: the header has \"c\" for column 2, that of ");
    fails(PARTS("1,2\n3,4\n", "1,2,3\n"), plain, "p1.csv has 3 columns, but ");
    fails(PARTS("1,2\n3,4\n", "1;2\n3;4\n"), plain, "p1.csv has 1 column, but ");
    fails(PARTS("a,b\n1,2\n", "a,b\n"), plain, "p1.csv: only a header, no rows");
    fails(PARTS("", "", ""), plain, "p2.csv: the file is empty");
    says_of("none-*.csv", plain, "no such file, and none that matches it as a pattern");
    says_of("no[ne.csv", plain, "none that matches");
    put_text("p0.csv", "1,2\n");
    CHECK(mkdir(file_name("p1.csv"), 0700) == 0);
    says_of("p*.csv", plain, "p1.csv, which is no regular file");
    CHECK(rmdir(file_name("p1.csv")) == 0);
    remove_all();
}

/* Names that are no patterns, one match, files without a byte, words that look like a header. */
static void names(void) {
    put_text("odd[1]*.csv", "1,2\n");
    put_text("odd1.csv", "3,4\n");
    char *got = steady("odd[1]*.csv", plain);
    CHECK(strcmp(got, "1 2 ;") == 0);
    free(got);
    remove_all();
    put_text("p7.csv", "1,2\n3,inf\n");
    says_of("p?.csv", plain, "p7.csv:2: column 2 is not finite");
    remove_all();
    put_parts("p", ".csv", PARTS("", "1,2\n", "", "", "3,4\n5,6\n", ""), false);
    got = steady("p*.csv", plain);
    CHECK(strcmp(got, "1 2 ;3 4 ;5 6 ;") == 0);
    free(got);
    remove_all();
    put_parts("p", ".csv", PARTS("k,v\na,x\nb,x\nc,x\n", "k,v\na,y\nb,x\n"), false);
    got = steady("p*.csv", plain);
    CHECK(strcmp(got, "c0 c0 ;c1 c0 ;c2 c0 ;c0 c1 ;c1 c0 ; D0=a,b,c D1=x,y") == 0);
    free(got);
    remove_all();
    for (int k = 0; k < 12; k++) { /* bytes decide: p10 before p2 */
        char name[32], line[32];
        snprintf(name, sizeof name, "p%d.csv", k);
        snprintf(line, sizeof line, "%d,0\n", k);
        put_text(name, line);
    }
    got = dump("p*.csv", plain);
    CHECK(strcmp(got, "0 0 ;1 0 ;10 0 ;11 0 ;2 0 ;3 0 ;4 0 ;5 0 ;6 0 ;7 0 ;8 0 ;9 0 ;") == 0);
    free(got);
    remove_all();
}

/* ---- marks and memory -------------------------------------------------------------------- */

static void read_on(krein_reader *r, text *t, krein_mark *mark, int64_t *marks) {
    krein_raw raw = {0};
    while (krein__reader_next(r, &raw) == KREIN_OK && raw.n) {
        if (mark) mark[(*marks)++] = raw.from;
        for (int64_t i = 0; i < raw.n; i++) {
            if (mark && i == 0) say(t, "|");
            say_row(t, &raw, i);
        }
    }
    krein__raw_clear(r->ctx, &raw);
}

/* From the mark of any batch the rest is the same; rows are numbered through, files by marks. */
static void marks_of(const char *pattern, int64_t rows) {
    krein_ctx *ctx = new_ctx();
    krein_reader *r = NULL;
    krein_reader_options o = {.header = -1, .buffer = 16};
    krein_mark mark[64];
    int64_t n = 0, last = 0;
    text all = {0};
    CHECK(krein__reader_open(ctx, file_name(pattern), &o, &r) == KREIN_OK);
    CHECK(r && krein__reader_begin(r) == KREIN_OK);
    read_on(r, &all, mark, &n);
    CHECK(n >= 3 && mark[n - 1].file == krein__reader_files(r) - 1);
    for (int64_t k = n - 1; k >= 0; k--) {
        text rest = {0}, want = {0};
        const char *p = all.s;
        for (int64_t j = 0; j <= k; j++) p = strchr(p, '|') + 1;
        for (; *p; p++)
            if (*p != '|') say(&want, "%c", *p);
        CHECK(mark[k].row < rows && (k == 0 || mark[k].row > mark[k - 1].row));
        CHECK(krein__reader_begin(r) == KREIN_OK && krein__reader_seek(r, &mark[k]) == KREIN_OK);
        read_on(r, &rest, NULL, &last);
        CHECK(rest.s && strcmp(rest.s, want.s) == 0);
        free(rest.s);
        free(want.s);
    }
    krein_mark no = {1, 1, 1, 99};
    CHECK(krein__reader_begin(r) == KREIN_OK);
    if (r->n < 0) CHECK(krein__reader_seek(r, &no) == KREIN_EIO);
    free(all.s);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
}

static void marks(void) {
    put_parts("p", ".csv", PARTS("a,b\n1,2\n3,4\n5,6\n", "a,b\n7,8\n9,10\n", "a,b\n11,12\n13,14"),
              true);
    marks_of("p*.csv*", 7);
    remove_all();
    put_parts("p", ".txt", PARTS("1 1:2\n\n# x\n2 1:3\n", "# a\n1 1:4\n", "1 2:5\n1 1:6\n"), true);
    marks_of("p*.txt*", 5);
    remove_all();
    char bytes[1024];
    const double v[] = {1, 2, 3, 4, 5, 6};
    size_t n =
        npy(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", v, sizeof v);
    put("p0.npy", bytes, n);
    put("p1.npy", bytes, n);
    put_gz("p2.npy", bytes, n, "wb");
    marks_of("p*.npy", 9);
    remove_all();
}

static void allocations(void) {
    how h = {.roles = "lfg", .missing_ok = true, .threads = 1, AUTO};
    put_parts("p", ".csv",
              PARTS("y,a,g\n1,red,x\n2,blue,y\n", "y,a,g\n1,green,x\n", "y,a,g\n3,red,z\n"), true);
    char path[1024];
    long calls = 0;
    snprintf(path, sizeof path, "%s", file_name("p*.csv*"));
    char *want = dump_path(path, h, &calls);
    CHECK(strncmp(want, "ERR", 3) != 0 && calls > 20);
    for (long k = 1; k <= calls; k++) {
        h.fail = k;
        char *got = dump_path(path, h, NULL);
        CHECK(strncmp(got, "ERR", 3) == 0 || strcmp(got, want) == 0);
        free(got);
    }
    free(want);
    remove_all();
}

int main(void) {
    if (!readers_start()) return 1;
    RUN(concatenated);
    RUN(arrays);
    RUN(places);
    RUN(unlike);
    RUN(names);
    RUN(marks);
    RUN(allocations);
    return readers_done();
}
