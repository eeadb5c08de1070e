/* test_csv.c -- what is made of columns as they come: missing cells. */
#include "data.h"

/* The same file kept in memory and read again for every pass, on one thread and on two: the same
 * encoded rows. */
static void same_rows(const char *path, const krein_data_options *o, double holdout) {
    learned first = {0};
    for (int k = 0; k < 4; k++) {
        krein_ctx *ctx = test_ctx(1 + k % 2);
        learned l =
            learn_file(ctx, path, o, k < 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, holdout, 7);
        CHECK_ELSE(l.st == KREIN_OK, "%s", krein_message(ctx));
        if (k == 0) {
            first = l;
            continue;
        }
        CHECK(l.t.n == first.t.n && l.t.d == first.t.d && l.t.n > 0);
        if (l.t.n == first.t.n && l.t.d == first.t.d)
            CHECK(memcmp(l.t.x, first.t.x, (size_t)(l.t.n * l.t.d) * sizeof *l.t.x) == 0);
        forget(&l);
        krein_ctx_destroy(ctx);
    }
    krein_ctx *ctx = first.ctx;
    forget(&first);
    krein_ctx_destroy(ctx);
}

/* ---- missing cells ------------------------------------------------------ */

static const char holes[] = "y,a,c,b,e\n1.5,1,u,10,\n2.5,,v,20,\n3.5,3,,30,?\n4.25,8,u,40,nan\n";

static void missing_auto(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx, holes, NULL);
    CHECK_ELSE(l.st == KREIN_OK, "%s", krein_message(ctx));
    /* a, a missing, c = u, c = v, c missing, b; e has no value */
    CHECK_ROW(l.t, 0, 1, 0, 1, 0, 0, 10);
    CHECK_ROW(l.t, 1, 4, 1, 0, 1, 0, 20);
    CHECK_ROW(l.t, 2, 3, 0, 0, 0, 1, 30);
    CHECK_ROW(l.t, 3, 8, 0, 1, 0, 0, 40);
    char **note;
    int64_t n;
    CHECK(krein__encoding_notes(ctx, &l.e, &note, &n) == KREIN_OK && n == 3);
    CHECK_HAS(note[0], "missing cells: a: the mean");
    CHECK_HAS(note[1], "missing cells: c: a category");
    CHECK_HAS(note[2], "left out: e");
    krein__notes_free(ctx, note, n);
    /* At prediction: the same, and the mean where training had no missing cell. e need not be
     * there. */
    krein_data *data = NULL;
    taken t = {0};
    CHECK(krein_data_open(ctx, test_write("new.csv", "b,c,a\n,,\n7,v,2\n"), NULL, &data) ==
          KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_OK && t.n == 2);
    CHECK_ROW(t, 0, 4, 1, 0, 0, 1, 25);
    CHECK_ROW(t, 1, 2, 0, 0, 1, 0, 7);
    give_back(&t);
    krein_data_close(data);
    krein_data_options strict = plain();
    strict.missing = KREIN_MISSING_ERROR;
    CHECK(krein_data_open(ctx, test_path("new.csv"), &strict, &data) == KREIN_OK);
    CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
    CHECK(take(data, &l.e, -1, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "missing");
    give_back(&t);
    krein_data_close(data);
    forget(&l);
    krein_ctx_destroy(ctx);
    refused(holes, &strict, KREIN_EDATA, "data.csv:2", "is empty");
}

/* Indicators are scaled like other columns. */
static void missing_scaled(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    learned l = learn_text(ctx, holes, &o);
    CHECK(l.st == KREIN_OK && l.t.d == 6 && l.t.n == 4);
    for (int64_t j = 0; j < l.t.d; j++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < 4; i++) {
            double v = (double)l.t.x[i * 6 + j];
            sum += v;
            square += v * v;
        }
        CHECK_ABS(sum, 0, 1e-5);
        if (j > 0) CHECK_ABS(square, 4, 1e-4); /* a: of the cells that are there */
    }
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Rows of weight zero do not make a column. */
static void missing_weightless(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.weights = "w";
    learned l = learn_text(ctx, "y,w,a\n1.5,1,1\n2.5,0,\n3.5,2,4\n", &o);
    CHECK(l.st == KREIN_OK);
    CHECK_ROW(l.t, 1, 3);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Arrays as the same file. */
static void missing_in_memory(void) {
    krein_ctx *ctx = test_ctx(1);
    double x[] = {1, 10, NAN, 20, 3, 30, 8, 40}, y[] = {1.5, 2.5, 3.5, 4.25};
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = 4;
    v.d = 2;
    v.x = x;
    v.type = KREIN_FLOAT64;
    v.targets = y;
    krein_data_options o = plain();
    krein_data *data = NULL;
    krein_encoding e = {0};
    taken t = {0};
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK && t.n == 4);
    CHECK_ROW(t, 1, 4, 1, 20);
    CHECK_ROW(t, 2, 3, 0, 30);
    give_back(&t);
    krein_data_close(data);
    krein__encoding_clear(ctx, &e);
    /* a column without a value is left out, and may be there or not at prediction */
    for (int64_t i = 0; i < 4; i++) x[2 * i + 1] = NAN;
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK && e.d == 2);
    krein_data_close(data);
    double z[] = {5, 6, 7, 8};
    for (int64_t d = 1; d <= 3; d++) {
        v.x = z;
        v.n = 4 / d;
        v.d = d;
        v.targets = NULL;
        CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
        CHECK(krein__data_match(data, &e, false) == (d < 3 ? KREIN_OK : KREIN_EDATA));
        if (d < 3) {
            CHECK(take(data, &e, -1, &t) == KREIN_OK && t.n == 4 / d);
            CHECK_ABS((double)t.x[t.d], d == 1 ? 6 : 7, 1e-6);
            give_back(&t);
        }
        krein_data_close(data);
    }
    krein__encoding_clear(ctx, &e);
    krein_ctx_destroy(ctx);
}

/* Sparse rows are as they were. */
static void missing_sparse(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_file(ctx, test_write("s.libsvm", "1.5 1:2 2:nan\n2.5 1:3\n3.5 2:1\n"), NULL,
                           KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "missing");
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void missing_same_rows(void) {
    krein_data_options o;
    krein_data_options_init(&o);
    const char *path = test_path("long.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,a,b,c\n");
    for (int64_t i = 0; i < 3000; i++) {
        fprintf(f, "%.5f,", det(i, 0, .3));
        if (i % 11) fprintf(f, "%.5f", det(i, 1, .3));
        fprintf(f, ",%.5f,", det(i, 2, .3));
        fprintf(f, i % 13 ? "w%d\n" : "\n", (int)(i % 7));
    }
    fclose(f);
    same_rows(path, &o, 0);
    same_rows(path, &o, .25);
}

/* Every allocation may fail. */
static void missing_no_memory(void) {
    const char *path = test_write("data.csv", holes);
    for (int64_t k = 0; learn_failing(path, NULL, k) == KREIN_EMEMORY;) k++;
}

int main(void) {
    RUN(missing_auto);
    RUN(missing_scaled);
    RUN(missing_weightless);
    RUN(missing_in_memory);
    RUN(missing_sparse);
    RUN(missing_same_rows);
    RUN(missing_no_memory);
    return DONE();
}
