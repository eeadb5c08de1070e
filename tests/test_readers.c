/* test_readers.c -- CSV and LIBSVM: what must be read, what must be refused and how. */
#include "readers.h"

/* ---- one string per file ------------------------------------------------------------ */

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
    refused("a.csv", "1,2\n", (how){.options = {.header = -1, .delimiter = '5'}}, "`delimiter`");
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
            "a.csv:2: column 2 is empty; drop such rows with `missing=drop` or fill them with "
            "`missing=mean`");
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
    CHECK(!krein__reader_find(r, "c99999", "`label`", &j) && j == D - 1);
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
    CHECK(!krein__reader_find(r, "age", "`label`", &j) && j == 1);
    CHECK(!krein__reader_find(r, "2", "`label`", &j) && j == 2);
    CHECK(!krein__reader_find(r, "4", "`label`", &j) && j == 3);
    CHECK(!krein__reader_find(r, "first", "`label`", &j) && j == 0);
    CHECK(!krein__reader_find(r, "last", "`label`", &j) && j == 4);
    CHECK(krein__reader_find(r, "dup", "`label`", &j) == KREIN_EARG && j == -1);
    CHECK_HAS(krein_message(ctx), "columns 4 and 5");
    CHECK_HAS(krein_message(ctx), "use the number");
    CHECK(krein__reader_find(r, "Agee", "`label`", &j) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`label` Agee");
    CHECK_HAS(krein_message(ctx), "did you mean \"age\"");
    CHECK(krein__reader_find(r, "6", "`label`", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "0", "`label`", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "", "`label`", &j) == KREIN_EARG);
    CHECK(krein__reader_find(r, "99999999999999999999999", "`label`", &j) == KREIN_EARG);
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
    refused("a.svm", "1,3 1:1\n", plain, "`task=multilabel`");
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

int main(void) {
    if (!readers_start()) return 1;
    RUN(csv_delimiters);
    RUN(csv_header);
    RUN(csv_cells);
    RUN(csv_roles);
    RUN(csv_frozen);
    RUN(csv_late);
    RUN(csv_wide);
    RUN(find_column);
    RUN(libsvm);
    return readers_done();
}
