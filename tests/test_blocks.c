/* test_blocks.c -- matching a second file, the same blocks wherever the rows are, files that
 * change, failing memory, and what is refused. */
#include "data.h"

/* ---- matching ----------------------------------------------------------- */

/* Reads text with the encoding of the training text; status and rows. */
static krein_status match(krein_ctx *ctx, const krein_encoding *e, const char *text,
                          bool need_label, taken *t) {
    krein_data *data = NULL;
    memset(t, 0, sizeof *t);
    krein_status st = krein_data_open(ctx, test_write("new.csv", text), NULL, &data);
    if (st == KREIN_OK) st = krein__data_match(data, e, need_label);
    if (st == KREIN_OK) st = take(data, e, need_label ? KREIN_PART_TRAIN : -1, t);
    krein_data_close(data);
    return st;
}

static void match_by_name(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    krein_data_options o;
    krein_data_options_init(&o);
    o.ignore = "junk";
    learned l = learn_text(ctx, "y,a,c,junk,b\nno,1,u,5,10\nyes,2,v,5,20\nno,3,u,6,30\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 4);
    taken t;
    CHECK(match(ctx, &l.e, "b,c,a,y\n10,u,1,no\n20,v,2,yes\n30,u,3,no\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    CHECK(memcmp(t.label, l.t.label, 3 * sizeof *t.label) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a\n10,u,1\n20,v,2\n30,u,3\n", false, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    /* a column that was not there at training: ignored, and said */
    CHECK(match(ctx, &l.e, "b,c,new,a\n10,u,7,1\n20,v,7,2\n30,u,7,3\n", false, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "\"new\"");
    give_back(&t);
    /* predict does not look at the label, right or wrong */
    CHECK(match(ctx, &l.e, "b,y,c,a\n10,maybe,u,1\n", false, &t) == KREIN_OK && t.n == 1);
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,a,y\n10,1,no\n20,2,yes\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "new.csv");
    CHECK_HAS(krein_message(ctx), "\"c\"");
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a\n10,u,1\n20,v,2\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "label");
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a,y\n10,u,1,no\n20,v,2,maybe\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "new.csv");
    CHECK_HAS(krein_message(ctx), "row 2");
    CHECK_HAS(krein_message(ctx), "\"maybe\"");
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Many columns in another order; a name that comes twice means the first. */
static void match_many_names(void) {
    enum { WIDE = 2000 };
    krein_ctx *ctx = test_ctx(1);
    char *text = test_new(WIDE * 40 + 200, 1), *at = text;
    taken t;
    at += sprintf(at, "y");
    for (int j = 0; j < WIDE; j++) at += sprintf(at, ",x%d", j);
    for (int i = 0; i < 2; i++) {
        at += sprintf(at, "\n%d.5", i);
        for (int j = 0; j < WIDE; j++) at += sprintf(at, ",%d", i * j % 97);
    }
    sprintf(at, "\n");
    learned l = learn_text(ctx, text, NULL);
    CHECK(l.st == KREIN_OK && l.e.d == WIDE);
    at = text;
    for (int j = WIDE - 1; j >= 0; j--) at += sprintf(at, "x%d,", j);
    at += sprintf(at, "x7");
    for (int i = 0; i < 2; i++) {
        for (int j = WIDE - 1; j >= 0; j--)
            at += sprintf(at, "%s%d", j == WIDE - 1 ? "\n" : ",", i * j % 97);
        at += sprintf(at, ",777");
    }
    sprintf(at, "\n");
    CHECK(match(ctx, &l.e, text, false, &t) == KREIN_OK);
    CHECK(t.n == 2 && memcmp(t.x, l.t.x, 2 * WIDE * sizeof *t.x) == 0);
    give_back(&t);
    forget(&l);
    free(text);
    krein_ctx_destroy(ctx);
}

static void match_by_width(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    o.header = 0;
    o.label = "2";
    learned l = learn_text(ctx, "1,7,u,10\n2,8,v,20\n3,7,u,30\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 4 && !l.e.header);
    taken t;
    CHECK(match(ctx, &l.e, "1,7,u,10\n2,8,v,20\n3,7,u,30\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0 && t.label[1] == 1);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,9,u,10\n2,9,v,20\n3,9,u,30\n", false, &t) == KREIN_OK); /* ignored */
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,u,10\n2,v,20\n3,u,30\n", false, &t) == KREIN_OK); /* not there */
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,u,10\n2,v,20\n3,u,30\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "label");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,7,u,10,1\n2,8,v,20,1\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "5 columns");
    CHECK_HAS(krein_message(ctx), "new.csv");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,7\n2,8\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "2 columns");
    CHECK_HAS(krein_message(ctx), "4 as in the training data or 3 without the label");
    CHECK(!strstr(krein_message(ctx), "alone"));
    give_back(&t);
    CHECK(match(ctx, &l.e, "1 1:3\n2 2:4\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "sparse");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,9,u,10\n2,9,v,20\n", true, &t) == KREIN_EDATA); /* class 9 */
    CHECK_HAS(krein_message(ctx), "\"9\"");
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Columns that are no inputs need not be there; a label that was not read is one of them. */
static void match_inputs_alone(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    krein_data *data = NULL;
    krein_encoding e = {0};
    taken t;
    o.header = 0;
    o.label = "2";
    o.ignore = "3";
    CHECK(krein_data_open(ctx, test_write("data.csv", "1,7,5,u\n2,8,5,v\n3,7,5,u\n"), &o, &data) ==
          KREIN_OK);
    CHECK(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, 1, &e) == KREIN_OK);
    CHECK(match(ctx, &e, "2,v\n3,u\n", false, &t) == KREIN_OK);
    CHECK_ROW(t, 0, 2, 0, 1);
    CHECK_ROW(t, 1, 3, 1, 0);
    give_back(&t);
    CHECK(match(ctx, &e, "2,8,5,v\n", false, &t) == KREIN_OK);
    CHECK_ROW(t, 0, 2, 0, 1);
    give_back(&t);
    CHECK(match(ctx, &e, "2,8,v\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "3 columns; expected are 4 as in the training data or 2 with the "
                                  "inputs alone");
    CHECK(!strstr(krein_message(ctx), "label"));
    give_back(&t);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* A column without a name in the header is a column all the same. */
static void nameless_column(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.header = 1;
    taken t;
    /* in the second file only */
    learned l = learn_text(ctx, "a,y\n1,3.5\n2,1.5\n3,2.25\n", &o);
    CHECK(match(ctx, &l.e, "a,,y\n1,u,3.5\n2,v,1.5\n", true, &t) == KREIN_OK && t.n == 2);
    give_back(&t);
    forget(&l);
    l = learn_text(ctx, ",a,y\n1,2,3.5\n2,4,1.5\n3,9,2.25\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 2);
    CHECK(match(ctx, &l.e, ",a,y\n1,2,3.5\n2,4,1.5\n3,9,2.25\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 6 * sizeof *t.x) == 0);
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- blocks ------------------------------------------------------------- */

static const char *long_file(int64_t n) {
    const char *path = test_path("long.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,a,b,c\n");
    for (int64_t i = 0; i < n; i++)
        fprintf(f, "%.5g,%.5g,%s,%.5g\n", det(i, 0, 0), det(i, 1, 0) * 100,
                i % 7 == 1 ? "p"
                : i % 3    ? "q"
                           : "r",
                det(i, 2, 0));
    fclose(f);
    return path;
}

static void same_blocks_everywhere(void) {
    int64_t n = 5000;
    const char *path = long_file(n);
    for (int part = 0; part < 2; part++) {
        learned l[4];
        krein_ctx *ctx[4];
        krein_data_options o;
        krein_data_options_init(&o);
        for (int k = 0; k < 4; k++) {
            ctx[k] = test_ctx(k % 2 ? 3 : 1);
            l[k] = learn_file(ctx[k], path, &o, k < 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM,
                              part ? .2 : 0, 3);
            CHECK(l[k].st == KREIN_OK && l[k].t.n == (part ? 4000 : n));
            CHECK(l[k].t.blocks == 3);
            CHECK(l[k].data->in_memory == (k < 2));
            CHECK(memcmp(l[k].e.centre, l[0].e.centre, 5 * sizeof(float)) == 0);
            CHECK(memcmp(l[k].e.factor, l[0].e.factor, 5 * sizeof(float)) == 0);
            CHECK(memcmp(l[k].t.x, l[0].t.x, (size_t)(l[0].t.n * 5) * sizeof(float)) == 0);
            CHECK(memcmp(l[k].t.label, l[0].t.label, (size_t)l[0].t.n * sizeof(double)) == 0);
            CHECK(l[k].data->label_mean[0] == l[0].data->label_mean[0]);
        }
        for (int k = 0; k < 4; k++) {
            forget(&l[k]);
            krein_ctx_destroy(ctx[k]);
        }
    }
    CHECK(krein__block_rows(10) == krein__block_rows(4096));
    CHECK(krein__block_rows(100000) < krein__block_rows(10) && krein__block_rows(100000) > 0);
}

static void gather_rows(void) {
    for (int sparse = 0; sparse < 2; sparse++)
        for (int stream = 0; stream < 2; stream++) {
            krein_ctx *ctx = test_ctx(2);
            const char *path = long_file(4100);
            if (sparse) {
                path = test_path("long.libsvm");
                FILE *f = fopen(path, "w");
                if (!f) exit(1);
                for (int i = 0; i < 4100; i++)
                    fprintf(f, "%.5g %d:%.4g %d:1\n", det(i, 0, 0), 1 + i % 5, det(i, 1, 0),
                            6 + i % 4);
                fclose(f);
            }
            krein_data_options o;
            krein_data_options_init(&o);
            learned l =
                learn_file(ctx, path, &o, stream ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY, 0, 1);
            CHECK(l.st == KREIN_OK);
            krein_stream *s = NULL;
            krein_matrix x = {0};
            static const int64_t index[] = {0, 1, 77, 1919, 1920, 3000, 3840, 4099};
            double label[8], weight[8];
            CHECK(krein__stream_open(l.data, &l.e, KREIN_PART_TRAIN, &s) == KREIN_OK);
            for (int turn = 0; turn < 2; turn++) { /* rewinds by itself */
                CHECK(krein__stream_gather(s, index, 8, &x, label, weight, NULL) == KREIN_OK);
                krein_rows rows = krein__matrix_rows(&x);
                float row[16];
                CHECK(rows.n == 8 && rows.d == l.e.d);
                for (int i = 0; i < 8; i++) {
                    krein__row_copy(&rows, i, row);
                    CHECK(memcmp(row, l.t.x + index[i] * l.e.d, (size_t)l.e.d * sizeof *row) == 0);
                    CHECK(label[i] == l.t.label[index[i]] && weight[i] == 1);
                }
                krein__matrix_clear(ctx, &x);
            }
            static const int64_t beyond[] = {4098, 4100};
            CHECK(krein__stream_gather(s, beyond, 2, &x, NULL, NULL, NULL) == KREIN_EIO);
            krein__stream_close(s);
            forget(&l);
            krein_ctx_destroy(ctx);
        }
}

/* ---- what cannot work --------------------------------------------------- */

static void clear_errors(void) {
    refused("y,x\n1,2\n", NULL, KREIN_EDATA, "data.csv", "at least two");
    refused("y\n1\n2\n3\n", NULL, KREIN_EDATA, "data.csv", "`label`");
    refused("1 \n2 \n", NULL, KREIN_EDATA, "data.csv", "");
    char *text = test_new(40000, 1);
    int at = sprintf(text, "y,name\n");
    for (int i = 0; i < 1100; i++) at += sprintf(text + at, "%d,person %d\n", i % 2, i);
    refused(text, NULL, KREIN_EDATA, "no column is left", "`categories=onehot`");
    krein_data_options o = plain();
    o.categories = KREIN_CATEGORIES_ONEHOT;
    refused(text, &o, KREIN_EDATA, "1000", "`ignore=2`");
    free(text);
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = (krein_data *)ctx;
    CHECK(krein_data_open(ctx, test_path("nosuch.csv"), NULL, &data) == KREIN_EIO && !data);
    CHECK_HAS(krein_message(ctx), "nosuch.csv");
    krein_ctx_destroy(ctx);
}

/* Rows that come or go between two passes. */
static void file_changes(void) {
    for (int which = 0; which < 3; which++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data_options o = plain();
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        const char *path = long_file(3000);
        CHECK(krein_data_open(ctx, path, &o, &data) == KREIN_OK);
        ctx->keep_rows = KREIN_KEEP_STREAM;
        CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK);
        if (which == 0) { /* longer */
            FILE *f = fopen(path, "a");
            if (!f) exit(1);
            for (int i = 0; i < 500; i++) fprintf(f, "1,2,q,3\n");
            fclose(f);
        } else if (which == 1) { /* shorter */
            long_file(2000);
        } else { /* a category that was not there, in place of another */
            FILE *f = fopen(path, "r+");
            if (!f) exit(1);
            fputs("y,a,b,c\n0.1,2.3,new,1\n", f);
            fclose(f);
        }
        krein_status st = take(data, &e, KREIN_PART_TRAIN, &t);
        if (st == KREIN_OK)
            printf("a change (%d) of the file goes unnoticed: %d rows, 3000 learned\n", which,
                   (int)t.n);
        CHECK(st != KREIN_OK);
        if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), "long.csv");
        give_back(&t);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

/* One data set may be learned and matched again and again. */
static void used_again(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o;
    krein_data_options_init(&o);
    learned first = learn_file(ctx, long_file(2500), &o, KREIN_KEEP_MEMORY, .2, 1);
    CHECK(first.st == KREIN_OK);
    /* again, nothing held out */
    krein_encoding e = {0};
    taken t = {0};
    CHECK(krein__data_scan(first.data, true, 0, 1, &e) == KREIN_OK);
    CHECK(first.data->count[KREIN_PART_TRAIN] == 2500);
    CHECK(take(first.data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK);
    CHECK(t.n == 2500);
    give_back(&t);
    /* read with the encoding of another file: other first values, other categories */
    learned other = learn_text(ctx, "y,a,b,c\n3,50,r,1\n1,60,q,2\n2.5,90,p,7\n", &o);
    learned fresh = {.ctx = ctx};
    taken want = {0};
    CHECK(other.st == KREIN_OK);
    CHECK(krein_data_open(ctx, test_path("long.csv"), &o, &fresh.data) == KREIN_OK);
    CHECK(krein__data_match(fresh.data, &other.e, false) == KREIN_OK);
    CHECK(take(fresh.data, &other.e, -1, &want) == KREIN_OK && want.n == 2500);
    CHECK(krein__data_match(first.data, &other.e, false) == KREIN_OK);
    CHECK(take(first.data, &other.e, -1, &t) == KREIN_OK);
    CHECK(t.n == 2500);
    CHECK(t.n == 2500 && memcmp(t.x, want.x, 2500 * 5 * sizeof *t.x) == 0);
    give_back(&t);
    give_back(&want);
    krein__encoding_clear(ctx, &e);
    forget(&fresh);
    forget(&other);
    forget(&first);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o;
    krein_data_options_init(&o);
    o.weights = "w";
    o.id = "name";
    o.missing = KREIN_MISSING_DROP;
    const char *csv = test_write("all.csv", "y,w,a,b,name\nu,1,1,p,n1\nv,2,2,q,n2\nu,1,,p,n3\n"
                                            "v,1,3,p,n4\nu,1,5,q,n5\nv,2,6,p,n6\nu,1,7,r,n7\n");
    const char *svm =
        test_write("all.libsvm", "1 1:2 3:4\n-1 2:1\n1 1:4 3:-2\n-1 3:6 4:3\n1 4:3\n");
    char x[256], y[256];
    snprintf(x, sizeof x, "%s", npy(ctx, "x.npy", 30, 2, 0));
    snprintf(y, sizeof y, "%s", npy(ctx, "y.npy", 30, -1, 0));
    krein_data_options bare, beside;
    krein_data_options_init(&bare);
    krein_data_options_init(&beside);
    beside.labels_file = y;
    for (int which = 0; which < 6; which++) {
        const char *path = which < 3 ? csv : which < 5 ? svm : x;
        const krein_data_options *with = which < 3 ? &o : which < 5 ? &bare : &beside;
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_data *data = NULL, *other = NULL;
            krein_encoding e = {0};
            krein_stream *s = NULL;
            krein_matrix m = {0};
            krein_block b;
            static const int64_t index[] = {0, 2};
            ctx->keep_rows = which % 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY;
            krein_status st = krein_data_open(ctx, path, with, &data);
            if (st == KREIN_OK) st = krein__data_scan(data, true, which % 3 == 1 ? .3 : 0, 1, &e);
            if (st == KREIN_OK) st = krein__stream_open(data, &e, KREIN_PART_TRAIN, &s);
            if (st == KREIN_OK) st = krein__stream_next(s, &b);
            if (st == KREIN_OK) st = krein__stream_gather(s, index, 2, &m, NULL, NULL, NULL);
            krein__matrix_clear(ctx, &m);
            krein__stream_close(s);
            s = NULL;
            if (st == KREIN_OK) st = krein_data_open(ctx, path, with, &other);
            if (st == KREIN_OK) st = krein__data_match(other, &e, true);
            if (st == KREIN_OK) st = krein__stream_open(other, &e, -1, &s);
            if (st == KREIN_OK) st = krein__stream_next(s, &b);
            krein__stream_close(s);
            krein_data_close(other);
            krein_data_close(data);
            krein__encoding_clear(ctx, &e);
            if (st != (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK))
                printf("data %d, allocation %lld: %s\n", which, (long long)k, krein_message(ctx));
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    }
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(match_by_name);
    RUN(match_many_names);
    RUN(match_by_width);
    RUN(match_inputs_alone);
    RUN(same_blocks_everywhere);
    RUN(gather_rows);
    RUN(clear_errors);
    RUN(file_changes);
    RUN(used_again);
    RUN(every_allocation_fails);
    RUN(nameless_column);
    return DONE();
}
