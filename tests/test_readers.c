/* test_readers.c -- CSV, LIBSVM and NPY, plain and gzipped: what must be read, what must be
 * refused and how, the same on any number of threads and any buffer, any allocation may fail.
 *
 * A file is read into one string, so that results can be compared and looked at:
 *   "1 2.5 c0 L1 w2 g0 iann;" for a row, " D3=red,blue" for a dictionary, or "ERR <message>".
 */
#include "test.h"

#include "data/number.h"
#include "data/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

static char dir[512];

/* ---- memory that counts and fails ----------------------------------------------- */

typedef struct counter {
    _Atomic long live, calls;
    long fail; /* this call fails; 0 never */
} counter;

static void *count_alloc(void *user, size_t bytes) {
    counter *c = user;
    if (++c->calls == c->fail) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p) c->live++;
    return p;
}
static void count_release(void *user, void *p) {
    counter *c = user;
    if (p) c->live--;
    free(p);
}

/* ---- files ------------------------------------------------------------------------ */

static const char *file_name(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}
static void put(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(file_name(name), "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}
static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }
static void put_gz(const char *name, const void *bytes, size_t n, const char *mode) {
    gzFile f = gzopen(file_name(name), mode);
    if (!f || gzwrite(f, bytes, (unsigned)n) != (int)n || gzclose(f)) abort();
}

/* ---- one string per file ------------------------------------------------------------ */

typedef struct text {
    char *s;
    size_t n, room;
} text;
__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...) {
    char part[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(part, sizeof part, format, args);
    va_end(args);
    if (n >= (int)sizeof part) n = sizeof part - 1;
    if (t->n + (size_t)n + 1 > t->room) {
        t->room = 2 * t->room + (size_t)n + 64;
        t->s = realloc(t->s, t->room);
        if (!t->s) abort();
    }
    memcpy(t->s + t->n, part, (size_t)n + 1);
    t->n += (size_t)n;
}

typedef struct how {
    const char *roles; /* a letter per column: f l w g i - ; NULL: as they are */
    krein_reader_options options;
    bool missing_ok, label_optional, shift, frozen;
    int64_t max_index;
    int threads, passes;
    long fail;
} how;

static krein_status read_rows(krein_reader *r, text *t) {
    krein_raw raw = {0};
    krein_status st;
    int64_t row = 0;
    int batches = 0;
    if ((st = krein__reader_begin(r))) return st;
    while (!(st = krein__reader_next(r, &raw)) && raw.n) {
        CHECK(raw.first_row == row);
        row += raw.n;
        for (int64_t i = 0; i < raw.n; i++) {
            for (int64_t j = 0; raw.num && j < raw.nnum; j++)
                say(t, "%.9g ", (double)raw.num[i * raw.nnum + j]);
            for (int64_t j = 0; j < raw.ncat; j++) say(t, "c%d ", (int)raw.cat[i * raw.ncat + j]);
            for (int64_t j = 0; j < raw.nlabel; j++)
                say(t, "L%.17g ", raw.label[i * raw.nlabel + j]);
            if (raw.weight) say(t, "w%g ", raw.weight[i]);
            if (raw.group) say(t, "g%d ", (int)raw.group[i]);
            if (raw.id) say(t, "i%s ", raw.id[i]);
            for (int64_t k = raw.ptr ? raw.ptr[i] : 0; raw.ptr && k < raw.ptr[i + 1]; k++)
                say(t, "%d:%.9g ", (int)raw.col[k], (double)raw.val[k]);
            say(t, ";");
        }
        if (batches++ % 3 == 2) { /* a batch that is kept */
            krein_raw kept = raw;
            raw = (krein_raw){0};
            krein__raw_clear(r->ctx, &kept);
        }
    }
    krein__raw_clear(r->ctx, &raw);
    return st;
}

static char *dump_path(const char *path, how h, long *calls) {
    text t = {0};
    counter memory = {.fail = h.fail};
    krein_ctx_options options;
    krein_ctx *ctx = NULL;
    krein_reader *r = NULL;
    krein_ctx_options_init(&options);
    options.threads = h.threads ? h.threads : 2;
    options.max_memory = (uint64_t)1 << 30;
    options.memory = (krein_allocator){count_alloc, count_release, &memory};
    if (krein_ctx_create(&options, &ctx)) {
        CHECK(h.fail);
        say(&t, "ERR no context");
        return t.s;
    }
    krein_status st = krein__reader_open(ctx, path, &h.options, &r);
    if (!st) {
        r->missing_ok = h.missing_ok;
        r->label_optional = h.label_optional;
        r->max_index = h.max_index;
        for (int64_t j = 0; j < r->ncolumn; j++) {
            static const char letters[] = "flwgi-";
            const char *role = NULL;
            if (h.roles && (int64_t)strlen(h.roles) > j) role = strchr(letters, h.roles[j]);
            if (role) r->column[j].role = (krein_role)(role - letters);
            if (h.shift) r->column[j].shift = r->column[j].first;
        }
        for (int p = 0; p < (h.passes ? h.passes : 1) && !st; p++) {
            t.n = 0;
            say(&t, "%s", "");
            if (p && h.frozen)
                for (int64_t j = 0; j < r->ncolumn; j++) r->column[j].frozen = true;
            st = read_rows(r, &t);
            CHECK(r->seconds >= 0 && r->bytes_done >= 0 &&
                  (st || r->bytes < 0 || r->bytes_done > 0));
        }
        for (int64_t j = 0; j < r->ncolumn && !st; j++) {
            const krein_dict *d = &r->column[j].dict;
            if (!d->n) continue;
            say(&t, " D%lld=", (long long)j);
            for (int64_t k = 0; k < d->n; k++) say(&t, k ? ",%s" : "%s", d->word[k]);
        }
        if (r->sparse && !st) say(&t, " d=%lld", (long long)r->d);
    }
    if (st) {
        const char *m = krein_message(ctx);
        t.n = 0;
        CHECK(*m);
        if (!strncmp(m, dir, strlen(dir)) && m[strlen(dir)] == '/') m += strlen(dir) + 1;
        say(&t, "ERR %d %s", (int)st, m);
    }
    CHECK(st == KREIN_OK || h.fail || st == KREIN_EFORMAT || st == KREIN_EDATA || st == KREIN_EIO ||
          st == KREIN_EARG);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
    CHECK(memory.live == 0);
    if (calls) *calls = memory.calls;
    return t.s;
}
static char *dump(const char *name, how h) {
    char path[1024];
    snprintf(path, sizeof path, "%s", file_name(name));
    return dump_path(path, h, NULL);
}

/* The same for every number of threads and every buffer; the caller frees it. */
static char *steady(const char *name, how h) {
    static const size_t buffers[] = {0, 64, 100, 4096};
    char *first = NULL;
    for (int b = 0; b < 4; b++) {
        for (int threads = 1; threads <= 3; threads++) {
            h.threads = threads;
            h.options.buffer = buffers[b];
            char *s = dump(name, h);
            if (first && strcmp(first, s)) {
                printf("threads %d buffer %zu: %.300s\nnot %.300s\n", threads, buffers[b], s,
                       first);
                test_bad++;
            }
            if (first)
                free(s);
            else
                first = s;
        }
    }
    return first;
}

#define AUTO .options = {.header = -1}

static void is(const char *name, const char *content, how h, const char *want) {
    put_text(name, content);
    char *s = steady(name, h);
    if (strcmp(s, want)) {
        printf("%s \"%s\":\n got %s\nwant %s\n", name, content, s, want);
        test_bad++;
    }
    free(s);
}
static void refused(const char *name, const char *content, how h, const char *part) {
    put_text(name, content);
    char *s = steady(name, h);
    CHECK_HAS(s, "ERR ");
    CHECK_HAS(s, part);
    free(s);
}
static const how plain = {AUTO};

/* ---- CSV -------------------------------------------------------------------------------- */

static void csv_delimiters(void) {
    is("a.csv", "1,2\n3,4\n", plain, "1 2 ;3 4 ;");
    is("a.csv", "1;2\n3;4", plain, "1 2 ;3 4 ;");
    is("a.csv", "1\t2\n3\t4\n", plain, "1 2 ;3 4 ;");
    is("a.csv", "  1   2 \n 3 4\n3  \t 4\n", plain, "1 2 ;3 4 ;3 4 ;");
    is("a.csv", "1, 2, 3\n3, 4 , 5\n", plain, "1 2 3 ;3 4 5 ;");
    is("a.csv", "1\n2\n3\n", plain, "1 ;2 ;3 ;");
    is("a.csv", "a b;1\nc d;2\n", plain, "1 c0 ;2 c1 ; D0=a b,c d");
    is("a.csv", "\"a,b\";1\n\"c\";2\n", plain, "1 c0 ;2 c1 ; D0=a,b,c");
    is("a.csv", "1|2\n3|4\n", (how){.options = {.header = -1, .delimiter = '|'}}, "1 2 ;3 4 ;");
    is("a.csv", "1,\t2,\t3\n4,\t5,\t6\n", plain, "1 2 3 ;4 5 6 ;");
    refused("a.csv", "1,2\n", (how){.options = {.header = -1, .delimiter = '5'}}, "--delimiter");
}

static void csv_header(void) {
    is("a.csv", "x,y\n1,2\n", plain, "1 2 ;");
    is("a.csv", "x,x\n1,2\n", plain, "1 2 ;");
    is("a.csv", ",y\n1,2\n", plain, "1 2 ;");
    is("a.csv", "1,2\n3,4\n", plain, "1 2 ;3 4 ;");
    is("a.csv", "color,size\nred,S\nblue,M\nred,L\n", plain,
       "c0 c0 ;c1 c1 ;c0 c2 ; D0=red,blue D1=S,M,L");
    is("a.csv", "red,S\nblue,M\nred,L\n", plain, "c0 c0 ;c1 c1 ;c0 c2 ; D0=red,blue D1=S,M,L");
    is("a.csv", "name,v\nann,?\nbob,3\n", (how){AUTO, .missing_ok = true},
       "nan c0 ;3 c1 ; D0=ann,bob");
    is("a.csv", "1,2\n3,4\n", (how){.options = {.header = 1}}, "3 4 ;");
    is("a.csv", "a,2\n3,4\n", (how){.options = {.header = 0}}, "2 c0 ;4 c1 ; D0=a,3");
    is("a.csv", "\"x,\"\"1\"\"\",y\n1,2\n", plain, "1 2 ;");
    is("a.csv", "\xef\xbb\xbfx,y\r\n1,2\r\n", plain, "1 2 ;");
    is("a.csv",
       "\xef\xbb\xbf"
       "1,2\r\n3,4",
       plain, "1 2 ;3 4 ;");
    is("a.csv", "a,1,2\n", plain, "1 2 c0 ; D0=a");
    refused("a.csv", "", plain, "a.csv: the file is empty");
    refused("a.csv", "\n\r\n \n", plain, "a.csv: the file is empty");
    refused("a.csv", "\xef\xbb\xbf", plain, "a.csv: the file is empty");
    refused("a.csv", "x,y\n", plain, "a.csv: only a header, no rows");
    refused("a.csv", "x,y\n\n\n", plain, "a.csv: only a header, no rows");
    refused("a.csv", "1,2\n", (how){.options = {.header = 1}}, "only a header");
}

static void csv_cells(void) {
    how h = {AUTO, .missing_ok = true};
    is("a.csv", "+1, -2.5 ,1e3\n.5,5.,\"7\"\n", plain, "1 -2.5 1000 ;0.5 5 7 ;");
    is("a.csv", "1,a\n,?\nnan,NaN\n-NAN,\"\"\n\"?\",b\n", h,
       "1 c0 ;nan c-1 ;nan c-1 ;nan c-1 ;nan c1 ; D1=a,b");
    is("a.csv", "1,NA\n2,x y\n", plain, "1 c0 ;2 c1 ; D1=NA,x y");
    is("a.csv", "1,\"a\"\"b\"\n2,\"c\nd\"\n3,\"e,f\"\n", plain,
       "1 c0 ;2 c1 ;3 c2 ; D1=a\"b,c\nd,e,f");
    is("a.csv", "1,5\" pipe\n2,6\" pipe\n", plain, "1 c0 ;2 c1 ; D1=5\" pipe,6\" pipe");
    is("a.csv", "1,2\r\n3,4\r\n\r\n", plain, "1 2 ;3 4 ;");
    is("a.csv", "1,2\n3,4\n\n\n   \n", plain, "1 2 ;3 4 ;");
    is("a.csv", "1\n\n3\n\n", h, "1 ;nan ;3 ;");
    is("a.csv", "1\t\n\t\n", h, "1 nan ;nan nan ;");
    is("a.csv", "100000.1,1\n100000.2,2\n", (how){AUTO, .shift = true}, "0 0 ;0.100000001 1 ;");
    is("a.csv", "x\n10000000000000000000000000000000000000000\n", (how){AUTO, .roles = "l"},
       "L1e+40 ;");
    refused("a.csv", "1,2\n3,4\n1,2,3\n", plain, "a.csv:3: 3 cells where 2 are expected");
    refused("a.csv", "1,2\n3\n", plain, "a.csv:2: 1 cell where 2 are expected");
    refused("a.csv", "1 2 3\n3 4\n1 2 3\n", (how){.options = {.header = -1, .delimiter = ' '}},
            "a.csv:2: 2 cells where 3 are expected");
    refused("a.csv", "1,2\n\n3,4\n", plain, "a.csv:2: a blank line");
    refused("a.csv", "1,2\n3,\n", plain,
            "a.csv:2: column 2 is empty; drop such rows with --missing drop or fill them with "
            "--missing mean");
    refused("a.csv", "a,age\n1,2\n3,?\n", plain, "a.csv:3: column 2 (age) is \"?\"; drop");
    refused("a.csv", "a,age\n1,2\n3,nan\n", plain, "a.csv:3: column 2 (age) is NaN; drop");
    refused("a.csv", "1,x\n3,\n", plain, "a.csv:2: column 2 is empty; drop");
    refused("a.csv", "a,b\n1,\"q\nr\"\n2,\"s\nt\"\ninf,u\n", plain,
            "a.csv:6: column 1 (a) is not finite: \"inf\"");
    refused("a.csv", "1,2\n3,-Infinity\n", plain, "a.csv:2: column 2 is not finite");
    refused("a.csv", "1,2\n3,1e400\n", plain, "a.csv:2: column 2 is not finite: \"1e400\"");
    refused("a.csv", "1,2\n3,1e39\n", plain, "a.csv:2: column 2 is too large for single");
    refused("a.csv", "1,\"a\n2,b\n3,c\n", plain, "a.csv:1: a quoted field");
    refused("a.csv", "1,a\n2,\"b\"\n3,\"c\n", plain, "a.csv:3: a quoted field");
    refused("a.csv", "1,a\n2,\"b\" x\n3,c\n", plain, "a.csv:2: column 2 goes on behind");
    put("b.csv", "1,a\n2,b\0c\n", 11);
    char *s = steady("b.csv", plain);
    CHECK_HAS(s, "binary data");
    free(s);
    put_text("b.csv", "\xff\xfe"
                      "1,2\n");
    s = steady("b.csv", plain);
    CHECK_HAS(s, "UTF-16");
    free(s);
}

static void csv_roles(void) {
    const char *content = "y,x,w,g,id,z\n"
                          "no,1,2,7,ann,q\nyes,2,0,8,bob,r\nno,3,1.5,7,\"c \"\"d\"\"\",s\n";
    is("r.csv", content, (how){AUTO, .roles = "lfwgi-"},
       "1 L0 w2 g0 iann ;2 L1 w0 g1 ibob ;3 L0 w1.5 g0 ic \"d\" ; D0=no,yes D3=7,8");
    is("r.csv", content, (how){AUTO, .roles = "f-ll--"},
       "c0 L2 L7 ;c1 L0 L8 ;c0 L1.5 L7 ; D0=no,yes");
    is("r.csv", "1,2\n,3\n", (how){AUTO, .roles = "lf", .label_optional = true}, "2 L1 ;3 Lnan ;");
    is("r.csv", "a,2\n?,3\n", (how){.options = {0}, .roles = "lf", .label_optional = true},
       "2 L0 ;3 Lnan ; D0=a");
    is("r.csv", "1,x,\n2,\"\n\",abc\n", (how){AUTO, .roles = "---"}, ";;");
    refused("r.csv", "1,2\n,3\n", (how){AUTO, .roles = "lf"},
            "r.csv:2: column 1 is empty: the row has no label");
    refused("r.csv", "1,2\n3,-1\n", (how){AUTO, .roles = "fw"},
            "r.csv:2: column 2 is -1; row weights");
    refused("r.csv", "1,2\n3,\n", (how){AUTO, .roles = "fw"}, "every row needs a weight");
    refused("r.csv", "1,2\n3,\n", (how){AUTO, .roles = "fg"}, "every row needs a group");
    refused("r.csv", "1,x\n3,y\n", (how){AUTO, .roles = "fw"}, "row weights must be numbers");
    refused("r.csv", "1,2\n3,4\n", (how){AUTO, .roles = "gg"}, "cannot both be the group");
    /* two passes give the same codes; frozen dictionaries do not grow */
    is("r.csv", "1,b\n2,a\n3,b\n", (how){AUTO, .passes = 2}, "1 c0 ;2 c1 ;3 c0 ; D1=b,a");
    is("r.csv", "1,b\n2,a\n3,b\n", (how){AUTO, .passes = 3, .frozen = true},
       "1 c0 ;2 c1 ;3 c0 ; D1=b,a");
}

static krein_ctx *new_ctx(void) {
    krein_ctx_options options;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&options);
    options.threads = 2;
    CHECK(!krein_ctx_create(&options, &ctx));
    return ctx;
}

static void csv_frozen(void) {
    krein_ctx *ctx = new_ctx();
    krein_reader *r = NULL;
    krein_raw raw = {0};
    put_text("f.csv", "1,b\n2,a\n3,zz\n");
    CHECK(!krein__reader_open(ctx, file_name("f.csv"), NULL, &r));
    CHECK(krein__dict_add(ctx, &r->column[1].dict, "a", 1) == 0);
    CHECK(krein__dict_add(ctx, &r->column[1].dict, "b", 1) == 1);
    r->column[1].frozen = true;
    CHECK(!krein__reader_begin(r));
    CHECK(!krein__reader_next(r, &raw));
    CHECK(raw.n == 3 && raw.cat[0] == 1 && raw.cat[1] == 0 && raw.cat[2] == -2);
    CHECK(r->column[1].dict.n == 2);
    krein__raw_clear(ctx, &raw);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
}

/* Late in the file: a word in a numeric column, and which error is the first. */
static void csv_late(void) {
    text t = {0};
    for (int i = 1; i <= 3000; i++) say(&t, "%d,%d,w%d\n", i, i % 7, i % 50);
    put("l.csv", t.s, t.n);
    char *s = steady("l.csv", plain);
    CHECK_HAS(s, "3000 4 c49 ; D2=w1,w2");
    free(s);
    say(&t, "1,2,a\n1,oops,b\n1,inf,c\n1,2\n");
    put("l.csv", t.s, t.n);
    s = steady("l.csv", plain);
    CHECK_HAS(s, "l.csv:3002: column 2 is not a number: \"oops\"; the first 1,000");
    free(s);
    t.n = 0;
    for (int i = 1; i <= 1100; i++) say(&t, i == 1000 ? "1,x\n" : "1,2\n");
    put("l.csv", t.s, t.n); /* the 1,000th cell still counts */
    s = steady("l.csv", plain);
    CHECK_HAS(s, "D1=2,x");
    free(s);
    t.n = 0;
    for (int i = 1; i <= 1100; i++) say(&t, i == 1001 ? "1,x\n" : "1,2\n");
    put("l.csv", t.s, t.n);
    s = steady("l.csv", plain);
    CHECK_HAS(s, "l.csv:1001: column 2 is not a number");
    free(s);
    put_text("h.csv", "a,b\n");
    FILE *f = fopen(file_name("h.csv"), "ab");
    t.n = 0;
    for (int i = 1; i <= 1100; i++) say(&t, i == 1000 ? "1,x\n" : "1,2\n");
    fwrite(t.s, 1, t.n, f);
    fclose(f);
    s = steady("h.csv", plain);
    CHECK_HAS(s, "D1=2,x");
    free(s);
    free(t.s);
}

static void csv_wide(void) {
    enum { D = 100000 };
    text t = {0};
    for (int j = 0; j < D; j++) say(&t, "c%d%s", j, j < D - 1 ? "," : "\n");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < D; j++) say(&t, "%d%s", (i + j) % 1000, j < D - 1 ? "," : "\n");
    put("w.csv", t.s, t.n);
    free(t.s);
    krein_ctx *ctx = new_ctx();
    krein_reader *r = NULL;
    krein_raw raw = {0};
    int64_t n = 0, j;
    CHECK(!krein__reader_open(ctx, file_name("w.csv"),
                              &(krein_reader_options){.header = -1, .buffer = 64}, &r));
    CHECK(r->ncolumn == D && r->header);
    CHECK(!krein__reader_find(r, "c99999", "--label", &j) && j == D - 1);
    CHECK(!krein__reader_begin(r));
    while (!krein__reader_next(r, &raw) && raw.n) {
        for (int64_t k = 0; k < raw.n * D; k++)
            if ((int64_t)raw.num[k] != (n + k / D + k % D) % 1000) test_bad++;
        n += raw.n;
    }
    CHECK(n == 3);
    krein__raw_clear(ctx, &raw);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
}

static void find_column(void) {
    krein_ctx *ctx = new_ctx();
    krein_reader *r = NULL;
    int64_t j;
    put_text("n.csv", "label,age,2,dup,dup\n1,2,3,4,5\n");
    CHECK(!krein__reader_open(ctx, file_name("n.csv"), NULL, &r));
    CHECK(!krein__reader_find(r, "age", "--label", &j) && j == 1);
    CHECK(!krein__reader_find(r, "2", "--label", &j) && j == 2);
    CHECK(!krein__reader_find(r, "4", "--label", &j) && j == 3);
    CHECK(!krein__reader_find(r, "first", "--label", &j) && j == 0);
    CHECK(!krein__reader_find(r, "last", "--label", &j) && j == 4);
    CHECK(krein__reader_find(r, "dup", "--label", &j) == KREIN_EARG && j == -1);
    CHECK_HAS(krein_message(ctx), "columns 4 and 5");
    CHECK_HAS(krein_message(ctx), "use the number");
    CHECK(krein__reader_find(r, "Agee", "--label", &j) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "--label Agee");
    CHECK_HAS(krein_message(ctx), "did you mean \"age\"");
    CHECK(krein__reader_find(r, "6", "--label", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "0", "--label", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "", "--label", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "99999999999999999999999", "--label", &j) == KREIN_EARG);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
}

/* ---- LIBSVM ------------------------------------------------------------------------------- */

static void libsvm(void) {
    how svm = {.options = {.format = "libsvm"}};
    is("a.svm", "+1 1:0.5 3:-2\n-1 2:1e1\n", plain, "L1 0:0.5 2:-2 ;L-1 1:10 ; d=3");
    is("a.svm", "1 1:1 # a comment 9:9\n# nothing\n\n2\n3 qid:7 4:0 5:2\r\n", plain,
       "L1 0:1 ;L2 ;L3 4:2 ; d=5");
    is("a.svm", "cat 1:1\ndog 2:1\ncat 3:1", plain, "L0 0:1 ;L1 1:1 ;L0 2:1 ; D0=cat,dog d=3");
    is("a.svm", "1:1 2:2\n1:3\n", (how){AUTO, .label_optional = true},
       "Lnan 0:1 1:2 ;Lnan 0:3 ; d=2");
    is("a.svm", "1 1:1 7:2\n2 9:1\n", (how){AUTO, .max_index = 5}, "L1 0:1 ;L2 ; d=5");
    is("a.svm", "1 2147483647:1\n", plain, "L1 2147483646:1 ; d=2147483647");
    is("a.svm", "1 1:1\n2 1:2\n", (how){AUTO, .roles = "-"}, "0:1 ;0:2 ; d=1");
    is("a.svm", "1\n2\n", svm, "L1 ;L2 ; d=0");
    is("a.svm", "1\n2\n", plain, "1 ;2 ;"); /* one column of CSV */
    is("a.svm", "1 1:nan\n2 2:?\n", (how){AUTO, .missing_ok = true}, "L1 0:nan ;L2 1:nan ; d=2");
    refused("a.svm", "1 1:1\n1:2\n", plain, "a.svm:2: the row has no label");
    refused("a.svm", "1 1:1\n? 1:2\n", plain, "a.svm:2: the row has no label");
    refused("a.svm", "1 1:1\n2 0:2\n", plain, "a.svm:2: \"0:2\": the index is below 1");
    refused("a.svm", "1 1:1\n2 -1:2\n", svm, "a.svm:2: \"-1:2\": the index is below 1");
    refused("a.svm", "1 2:1 2:2\n", plain, "a.svm:1: \"2:2\": index 2 does not ascend");
    refused("a.svm", "1 2:1\n\n1 3:1 2:2\n", plain, "a.svm:3: \"2:2\": index 2 does not ascend");
    refused("a.svm", "1 2147483648:1\n", plain, "above 2147483647");
    refused("a.svm", "1 99999999999999999999999:1\n", plain, "above 2147483647");
    refused("a.svm", "1,3 1:1\n", plain, "--multilabel");
    refused("a.svm", "1 1:1\n2 1:abc\n", svm, "a.svm:2: the value of feature 1 is not a number");
    refused("a.svm", "1 1:1\n2 1:\n", svm, "a.svm:2: the value of feature 1 is not a number");
    refused("a.svm", "1 1:1\n2 x\n", svm, "a.svm:2: \"x\" is not of the form index:value");
    refused("a.svm", "1 1:1\n2 1:inf\n", plain, "a.svm:2: feature 1 is not finite");
    refused("a.svm", "1 1:1\n2 1:1e400\n", plain, "a.svm:2: feature 1 is not finite");
    refused("a.svm", "1 1:1\n2 1:1e300\n", plain, "a.svm:2: feature 1 is too large");
    refused("a.svm", "1 1:1\n2 1:nan\n", plain, "a.svm:2: feature 1 is missing");
    refused("a.svm", "inf 1:1\n", plain, "a.svm:1: the label is not finite");
    refused("a.svm", "# only\n\n", svm, "the file is empty");
    refused("a.svm", "", svm, "the file is empty");
    text t = {0};
    for (int i = 1; i <= 1500; i++) {
        say(&t, "%d", i % 3);
        for (int k = 1 + i % 4; k < 40; k += 1 + (i + k) % 5)
            say(&t, " %d:%g", k, (i * k % 101) / 8.0);
        say(&t, i % 100 ? "\n" : " # x\n\n");
    }
    put("big.svm", t.s, t.n);
    char *s = steady("big.svm", plain);
    CHECK_HAS(s, "d=39");
    free(s);
    say(&t, "word 1:1\n");
    put("big.svm", t.s, t.n);
    s = steady("big.svm", plain);
    CHECK_HAS(s, "big.svm:1516: the label is not a number: \"word\"");
    free(s);
    free(t.s);
}

/* ---- NPY ------------------------------------------------------------------------------------ */

static size_t npy(char *out, int version, const char *header, const void *data, size_t bytes) {
    size_t start = version == 1 ? 10 : 12, length = strlen(header) + 1;
    while ((start + length) % 64) length++;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    for (size_t k = 0; k < start - 8; k++) out[8 + k] = (char)(length >> (8 * k) & 255);
    memset(out + start, ' ', length);
    memcpy(out + start, header, strlen(header));
    out[start + length - 1] = '\n';
    memcpy(out + start + length, data, bytes);
    return start + length + bytes;
}
static void put_npy(const char *name, int version, const char *descr, const char *order,
                    const char *shape, const void *data, size_t bytes) {
    char header[256], out[4096];
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
             order, shape);
    put(name, out, npy(out, version, header, data, bytes));
}
static void npy_is(const char *name, how h, const char *want) {
    char *s = steady(name, h);
    if (strcmp(s, want)) {
        printf("%s:\n got %s\nwant %s\n", name, s, want);
        test_bad++;
    }
    free(s);
}
static void npy_refused(const char *name, how h, const char *part) {
    char *s = steady(name, h);
    CHECK_HAS(s, "ERR ");
    CHECK_HAS(s, part);
    free(s);
}

static void swap_bytes(void *p, size_t size, size_t count) {
    unsigned char *b = p;
    for (size_t i = 0; i < count; i++, b += size)
        for (size_t k = 0; 2 * k + 1 < size; k++) {
            unsigned char c = b[k];
            b[k] = b[size - 1 - k];
            b[size - 1 - k] = c;
        }
}
static void type_is(const char *descr, void *v, size_t size, bool swap) {
    if (swap) swap_bytes(v, size, 6);
    for (int version = 1; version <= 3; version++) {
        put_npy("a.npy", version, descr, "False", "(3, 2)", v, 6 * size);
        npy_is("a.npy", plain, "1 2 ;3 4 ;5 100 ;");
        put_npy("a.npy", version, descr, "True", "(3, 2)", v, 6 * size);
        npy_is("a.npy", plain, "1 4 ;2 5 ;3 100 ;");
    }
    put_npy("a.npy", 1, descr, "True", "(6,)", v, 6 * size);
    npy_is("a.npy", plain, "1 ;2 ;3 ;4 ;5 ;100 ;");
}
#define TYPE(type, descr, swap) type_is(descr, (type[6]){1, 2, 3, 4, 5, 100}, sizeof(type), swap)

static void npy_types(void) {
    TYPE(float, "'<f4'", 0);
    TYPE(double, "'<f8'", 0);
    TYPE(int8_t, "'|i1'", 0);
    TYPE(int16_t, "'<i2'", 0);
    TYPE(int32_t, "\"<i4\"", 0);
    TYPE(int64_t, "'<i8'", 0);
    TYPE(uint8_t, "'|u1'", 0);
    TYPE(uint16_t, "'<u2'", 0);
    TYPE(uint32_t, "'<u4'", 0);
    TYPE(uint64_t, "'<u8'", 0);
    TYPE(float, "'>f4'", 1);
    TYPE(double, "'>f8'", 1);
    TYPE(int16_t, "'>i2'", 1);
    TYPE(int32_t, "'>i4'", 1);
    TYPE(int64_t, "'>i8'", 1);
    TYPE(uint16_t, "'>u2'", 1);
    TYPE(uint64_t, "'>u8'", 1);
    int16_t v[2] = {-1, -300};
    put_npy("a.npy", 1, "'<i2'", "False", "(1L, 2)", v, sizeof v);
    npy_is("a.npy", plain, "-1 -300 ;");
    put_npy("a.npy", 1, "'|b1'", "False", "(2, 1)", "\1\0", 2);
    npy_is("a.npy", plain, "1 ;0 ;");
    double w[6] = {1, 7, 2, 2, 8, 0.5};
    put_npy("a.npy", 1, "'<f8'", "False", "(2,3)", w, sizeof w);
    npy_is("a.npy", (how){AUTO, .roles = "lgw"}, "L1 w2 g0 ;L2 w0.5 g1 ; D1=7,8");
    npy_is("a.npy", (how){AUTO, .roles = "fi-"}, "1 i7 ;2 i8 ;");
}

static void npy_bad(void) {
    static const char *const types[][2] = {
        {"'<U5'", "text ('<U5')"},  {"'|S5'", "text"},      {"'<c16'", "complex"},
        {"'|O'", "Python objects"}, {"'<M8[ns]'", "dates"}, {"[('a', '<f8')]", "records"},
        {"'<f2'", "'<f2'"},         {"'<f16'", "'<f16'"},   {"'<i3'", "'<i3'"},
        {"''", "damaged"},          {"3", "damaged"}};
    static const char *const shapes[][2] = {
        {"(3, 3)", "shorter than its shape (3, 3)"},
        {"(1, 2)", "longer than its shape"},
        {"(-1, 2)", "negative"},
        {"(99999999999999999999, 2)", "too large"},
        {"(4611686018427387904, 4611686018427387904)", "too large"},
        {"(1, 2, 2)", "3 dimensions"},
        {"()", "0 dimensions"},
        {"(0, 2)", "no rows"},
        {"(2, 0)", "no columns"},
        {"(2 2)", "damaged"},
        {"(,)", "damaged"},
        {"(2, 2", "damaged"}};
    double v[4] = {1, 2, 3, 4};
    for (int k = 0; k < (int)(sizeof types / sizeof *types); k++) {
        put_npy("a.npy", 1, types[k][0], "False", "(2, 2)", v, sizeof v);
        npy_refused("a.npy", plain, types[k][1]);
    }
    for (int k = 0; k < (int)(sizeof shapes / sizeof *shapes); k++) {
        put_npy("a.npy", 1, "'<f8'", "False", shapes[k][0], v, sizeof v);
        npy_refused("a.npy", plain, shapes[k][1]);
    }
    put_npy("a.npy", 4, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "version 4.0");
    put_npy("a.npy", 1, "'<f8'", "Maybe", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "damaged");
    put("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{}", 14);
    npy_refused("a.npy", plain, "damaged or longer than 1 MB");
    put("a.npy", "\x93NUMPY\1\0\xff\x00{}", 12);
    npy_refused("a.npy", plain, "ends inside its NPY header");
    put("a.npy", "\x93NUMPY\1", 7);
    npy_refused("a.npy", plain, "cut off");
    v[2] = NAN;
    put_npy("a.npy", 1, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "a.npy:2: column 1 is NaN; drop such rows");
    npy_refused("a.npy", (how){AUTO, .roles = "lf"},
                "a.npy:2: column 1 is NaN: the row has no label");
    npy_is("a.npy", (how){AUTO, .missing_ok = true}, "1 2 ;nan 4 ;");
    npy_is("a.npy", (how){AUTO, .roles = "lf", .label_optional = true}, "2 L1 ;4 Lnan ;");
    v[1] = -INFINITY;
    put_npy("a.npy", 1, "'<f8'", "True", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", (how){AUTO, .missing_ok = true}, "a.npy:2: column 1 is infinite");
    v[1] = 1e300;
    put_npy("a.npy", 1, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", (how){AUTO, .missing_ok = true}, "a.npy:1: column 2 is 1e");
    npy_refused("a.npy", (how){AUTO, .roles = "fw", .missing_ok = false}, "NaN");
}

/* ---- gzip and other sources ------------------------------------------------------------------ */

static void gzip_files(void) {
    char out[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    put_gz("a.gz", "x,y\n1,2\n", 8, "wb");
    put_gz("a.gz", "3,4\n", 4, "ab"); /* a second member */
    npy_is("a.gz", plain, "1 2 ;3 4 ;");
    FILE *f = fopen(file_name("a.gz"), "ab");
    fwrite("\0\0\0", 1, 3, f);
    fclose(f);
    npy_is("a.gz", plain, "1 2 ;3 4 ;");
    f = fopen(file_name("a.gz"), "ab");
    fwrite("garbage", 1, 7, f);
    fclose(f);
    npy_refused("a.gz", plain, "behind the gzip data");
    put_gz("a.gz", "1 1:2\n", 6, "wb");
    npy_is("a.gz", plain, "L1 0:2 ; d=1");
    put_gz("a.gz", "", 0, "wb");
    npy_refused("a.gz", plain, "the file is empty");
    for (int order = 0; order < 2; order++) {
        char header[128];
        for (int d = 2; d <= 4; d++) {
            snprintf(header, sizeof header,
                     "{'descr': '<f8', 'fortran_order': %s, 'shape': (2, %d), }",
                     order ? "True" : "False", d);
            put_gz("a.gz", out, npy(out, 1, header, v, sizeof v), "wb");
            if (d == 2) npy_refused("a.gz", plain, "longer than its shape");
            if (d == 3) npy_is("a.gz", plain, order ? "1 3 5 ;2 4 6 ;" : "1 2 3 ;4 5 6 ;");
            if (d == 4) npy_refused("a.gz", plain, "shorter than its shape");
        }
    }
}

static void gzip_truncated(void) {
    text t = {0};
    char *bytes = malloc(1 << 16);
    for (int i = 0; i < 700; i++) say(&t, "%d,%d,%d\n", i * 7919 % 1009, i * 31 % 17, i * i % 1013);
    put_gz("t.gz", t.s, t.n, "wb6");
    FILE *f = fopen(file_name("t.gz"), "rb");
    size_t n = bytes ? fread(bytes, 1, 1 << 16, f) : 0;
    fclose(f);
    CHECK(n > 100);
    char *all = dump("t.gz", plain);
    CHECK(!strstr(all, "ERR"));
    for (size_t k = 2; k < n; k += k < 40 || k + 12 > n ? 1 : 97) {
        put("u.gz", bytes, k);
        char *s = dump("u.gz", (how){AUTO, .options.buffer = 100 + k % 3000});
        CHECK_HAS(s, "truncated");
        free(s);
    }
    for (size_t k = 12; k < n; k += 131) { /* a flipped bit is found, at the latest by the sum */
        bytes[k] ^= 16;
        put("u.gz", bytes, n);
        char *s = dump("u.gz", plain);
        CHECK_HAS(s, "ERR");
        bytes[k] ^= 16;
        free(s);
    }
    free(all);
    free(bytes);
    free(t.s);
}

static void sources(void) {
    char path[1024];
    char *s = dump("nothing.csv", plain);
    CHECK_HAS(s, "ERR 3 nothing.csv: No such file or directory");
    free(s);
    s = dump_path(dir, plain, NULL);
    CHECK_HAS(s, "Is a directory");
    free(s);
    s = dump("../..", (how){.options = {.format = "tsv"}});
    CHECK_HAS(s, "ERR 3");
    free(s);
    put_text("a.csv", "1,2\n3,4\n");
    s = dump("a.csv", (how){.options = {.format = "tsv"}});
    CHECK_HAS(s, "--format tsv");
    free(s);
    if (geteuid() != 0) {
        chmod(file_name("a.csv"), 0);
        s = dump("a.csv", plain);
        CHECK_HAS(s, "Permission denied");
        free(s);
        chmod(file_name("a.csv"), 0600);
    }
    /* standard input, several passes; a pipe by name */
    int saved = dup(0), fd = open(file_name("a.csv"), O_RDONLY);
    dup2(fd, 0);
    s = dump_path("-", (how){AUTO, .passes = 2}, NULL);
    CHECK(!strcmp(s, "1 2 ;3 4 ;"));
    free(s);
    int ends[2];
    CHECK(!pipe(ends));
    CHECK(write(ends[1], "1,2\n5,x\n", 8) == 8);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    s = dump_path(path, (how){AUTO, .passes = 2}, NULL);
    CHECK(!strcmp(s, "1 c0 ;5 c1 ; D1=2,x"));
    free(s);
    close(ends[0]);
    dup2(saved, 0);
    close(saved);
    close(fd);
    const char *old = getenv("TMPDIR");
    char *copy = old ? strdup(old) : NULL;
    CHECK(!pipe(ends));
    close(ends[1]);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    s = dump_path(path, plain, NULL);
    CHECK_HAS(s, "TMPDIR");
    free(s);
    close(ends[0]);
    if (copy)
        setenv("TMPDIR", copy, 1);
    else
        unsetenv("TMPDIR");
    free(copy);
}

/* ---- every allocation may fail -----------------------------------------------------------------
 */

static void allocations(void) {
    char out[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    put_text("m.csv",
             "y,x,g,i,w\nno,1,a,id1,1\nyes,2,b,id2,1\n\"n\"\"o\",3,a,id3,2\nq,4,c,id4,1\n");
    put_text("m.svm", "cat 1:1 3:2\ndog 2:1\nowl 1:1\n");
    put_text("m2.csv", "a,b\nc,d\nc,e\nf,d\n");
    put("m.npy", out,
        npy(out, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", v, sizeof v));
    put_gz("m.gz", out,
           npy(out, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", v, sizeof v),
           "wb");
    put_gz("n.gz", "1,a\n2,b\n3,c\n", 12, "wb");
    static const struct {
        const char *name, *roles;
    } files[] = {{"m.csv", "lfgiw"}, {"m.csv", "fffff"}, {"m.svm", NULL}, {"m2.csv", NULL},
                 {"m.npy", "fg"},    {"m.gz", "fi"},     {"n.gz", NULL}};
    for (int k = 0; k < (int)(sizeof files / sizeof *files); k++) {
        for (size_t buffer = 0; buffer <= 64; buffer += 32) {
            for (int threads = 1; threads <= 2; threads++) {
                how h = {AUTO, .roles = files[k].roles, .threads = threads, .passes = 2};
                char path[1024];
                long calls = 0;
                h.options.buffer = buffer;
                snprintf(path, sizeof path, "%s", file_name(files[k].name));
                char *whole = dump_path(path, h, &calls);
                CHECK(!strstr(whole, "ERR"));
                CHECK(calls > 5);
                for (h.fail = 1; h.fail <= calls; h.fail++) {
                    char *s = dump_path(path, h, NULL);
                    CHECK_HAS(s, "ERR");
                    free(s);
                }
                free(whole);
            }
        }
    }
}

/* ---- fuzz and numbers
 * ----------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static uint64_t rnd(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 3;
}

static void fuzz(void) {
    static const char *const seeds[] = {
        "a,b,c\n1,2,x\n3,\"4\",\"y\"\"\n\"\n5,?,z\n", "1;2\r\n3;4\r\n", " 1  2\t3\n4 5 6\n",
        "+1 1:0.5 3:-2 # c\n-1 qid:3 2:1e1\n", "cat 1:1\ndog 2:1\n"};
    static const char bits[] = "\"\"\"\n\n\r,,; \t:#?+-.eE0123456789naifxNULL";
    char out[4096], seed[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    int rounds = SLOW ? 3000 : 12000;
    for (int k = 0; k < rounds; k++) {
        size_t n;
        int which = (int)(rnd() % 7);
        if (which < 5) {
            n = strlen(seeds[which]);
            memcpy(seed, seeds[which], n);
        } else {
            n = npy(out, 1 + (int)(rnd() % 3),
                    which == 5 ? "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
                               : "{'descr': '>i4', 'fortran_order': True, 'shape': (4, 3), }",
                    v, sizeof v);
            memcpy(seed, out, n);
        }
        for (uint64_t m = rnd() % 6; m > 0; m--) {
            size_t at = (size_t)(rnd() % n), span = (size_t)(rnd() % 8);
            char c = rnd() % 8 ? bits[rnd() % (sizeof bits - 1)] : (char)rnd();
            switch (rnd() % 4) {
            case 0:
                seed[at] = c;
                break;
            case 1:
                memmove(seed + at + 1, seed + at, n - at);
                seed[at] = c;
                n++;
                break;
            case 2:
                if (at + span < n && n > span + 1) {
                    memmove(seed + at, seed + at + span, n - at - span);
                    n -= span;
                }
                break;
            default:
                if (n + span < 2000 && at + span < n) {
                    memmove(seed + at + span, seed + at, n - at);
                    n += span;
                }
            }
        }
        if (k % 10 == 0)
            put_gz("z", seed, n, "wb1");
        else
            put("z", seed, n);
        how h = {AUTO, .threads = 1, .missing_ok = k & 1, .label_optional = k & 2};
        if (k & 4) h.roles = "lgiwfff";
        if (which < 5 && k % 16 == 3) h.options.format = rnd() % 2 ? "csv" : "libsvm";
        char *a = dump("z", h);
        h.threads = 3;
        h.options.buffer = 16 + rnd() % 64;
        char *b = dump("z", h);
        if (strcmp(a, b)) {
            printf("fuzz %d: %.200s\nnot %.200s\nof %.*s\n", k, b, a, (int)n, seed);
            test_bad++;
        }
        free(a);
        free(b);
    }
}

static void number_is(const char *s, size_t n) {
    char padded[1200] = {0};
    double v = 0, w = strtod(s, NULL);
    memcpy(padded, s, n);
    padded[n] = ",\n\"7"[rnd() % 3];
    /* what follows must not matter */
    for (size_t k = n + 1; k < n + 20; k++) padded[k] = "0123456789.-,e \n"[rnd() % 16];
    const char *end = krein__number(padded, &v);
    if (end != padded + n || memcmp(&v, &w, sizeof v)) {
        printf("%s: %.17g, want %.17g\n", s, v, w);
        test_bad++;
    }
}

static void numbers(void) {
    static const char *const some[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5e1",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "9007199254740993.0000000000000000000000000000000001",
                                       "1e-22",
                                       "123456789012345678e-19",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "9999999999999999999",
                                       "1e308",
                                       "1.8e308",
                                       "1e400",
                                       "1e-400",
                                       "4.9e-324",
                                       "2.4703282292062327e-324",
                                       "2.2250738585072011e-308",
                                       "0e99999999999999999999",
                                       "1e-99999999999999999999",
                                       "0.000000000000000000000000000001",
                                       "100000000000000000000000000000000e-32",
                                       "12345678",
                                       "1234567890123456",
                                       "0.1",
                                       "0.30000000000000004"};
    static const char *const none[] = {"",    "+",   "-",   ".",   "e5",  "1e", "1e+",
                                       "+-1", "abc", "nan", "inf", "--1", " 1"};
    char s[1024];
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) number_is(some[k], strlen(some[k]));
    for (int k = 0; k < (int)(sizeof none / sizeof *none); k++) {
        char padded[128] = {0};
        double v;
        memcpy(padded, none[k], strlen(none[k]));
        CHECK(!krein__number(padded, &v));
    }
    int rounds = SLOW ? 100000 : 1000000;
    for (int k = 0; k < rounds && test_bad < 20; k++) {
        int n = 0;
        uint64_t bits = rnd() << 3 ^ rnd();
        double d;
        memcpy(&d, &bits, sizeof d);
        switch (k % 5) {
        case 4: /* as most cells are: few digits on both sides of the dot */
            if (rnd() % 2) s[n++] = '-';
            for (uint64_t m = rnd() % 9; m > 0; m--) s[n++] = (char)('0' + rnd() % 10);
            if (n < 2 || rnd() % 4) s[n++] = '.';
            for (uint64_t m = 1 + rnd() % 12; m > 0; m--) s[n++] = (char)('0' + rnd() % 10);
            s[n] = 0;
            break;
        case 0: /* any double, some digits */
            if (!isfinite(d)) continue;
            n = snprintf(s, sizeof s, "%.*g", 1 + (int)(rnd() % 20), d);
            break;
        case 1:
            n = snprintf(s, sizeof s, "%.*f", (int)(rnd() % 19), (double)(int64_t)bits * 1e-18);
            break;
        case 2: /* half way between two doubles, and next to it */
            n = snprintf(
                s, sizeof s, "%llu%s",
                (unsigned long long)(((bits >> 11 | UINT64_C(1) << 52) << 1 | 1) << (rnd() % 9)),
                rnd() % 2   ? ""
                : rnd() % 2 ? ".0000001"
                            : "e-7");
            break;
        default:
            if (rnd() % 2) s[n++] = "+-"[rnd() % 2];
            for (uint64_t m = 1 + rnd() % (rnd() % 64 ? 12 : 400); m > 0; m--)
                s[n++] = (char)('0' + rnd() % 10);
            if (rnd() % 2) s[n++] = '.';
            for (uint64_t m = rnd() % 24; s[n - 1] != '+' && m > 0 && memchr(s, '.', (size_t)n);
                 m--)
                s[n++] = (char)('0' + rnd() % 10);
            if (rnd() % 2)
                n += snprintf(s + n, 16, "%c%d", "eE"[rnd() % 2], (int)(rnd() % 80) - 40);
            s[n] = 0;
        }
        number_is(s, (size_t)n);
    }
}

/* A decimal comma in the caller's locale changes nothing. */
static void locales(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *got = NULL;
    for (int k = 0; k < 4 && !got; k++) got = setlocale(LC_ALL, names[k]);
    if (!got) SKIP("no locale with a decimal comma");
    double v;
    char s[128] = "1.2345678901234567890123e-30;";
    CHECK(krein__number(s, &v) && v == 1.2345678901234567890123e-30);
    setlocale(LC_ALL, "C");
}

static void dictionaries(void) {
    krein_ctx *ctx = new_ctx();
    krein_dict d = {0}, e = {0};
    char w[16];
    CHECK(krein__dict_find(&d, "x", 1) == -1);
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(w, sizeof w, "w%d", i);
        CHECK(krein__dict_add(ctx, &d, w, (size_t)n) == i);
        CHECK(krein__dict_add(ctx, &d, w, (size_t)n) == i);
    }
    CHECK(krein__dict_add(ctx, &d, "", 0) == 5000);
    CHECK(krein__dict_find(&d, "w12345", 3) == 12);
    CHECK(krein__dict_find(&d, "w5000", 5) == -1);
    CHECK(!krein__dict_copy(ctx, &d, &e));
    CHECK(e.n == 5001 && krein__dict_find(&e, "w4999", 5) == 4999);
    krein__dict_clear(ctx, &d);
    krein__dict_clear(ctx, &e);
    krein_ctx_destroy(ctx);
}

int main(void) {
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%.400s/readers-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) return 1;
    RUN(csv_delimiters);
    RUN(csv_header);
    RUN(csv_cells);
    RUN(csv_roles);
    RUN(csv_frozen);
    RUN(csv_late);
    RUN(csv_wide);
    RUN(find_column);
    RUN(libsvm);
    RUN(npy_types);
    RUN(npy_bad);
    RUN(gzip_files);
    RUN(gzip_truncated);
    RUN(sources);
    RUN(allocations);
    RUN(fuzz);
    RUN(numbers);
    RUN(locales);
    RUN(dictionaries);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(file_name(e->d_name));
    if (d) closedir(d);
    rmdir(dir);
    return DONE();
}
