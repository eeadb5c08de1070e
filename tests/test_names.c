/* test_names.c -- encoded columns by name, and what a model says of its metric and clip. */
#include "train.h"

#include "encode/encoding.h"
#include "model/model.h"

static krein_model *train_file(krein_ctx *ctx, const char *path, const krein_data_options *o,
                               const krein_train_options *t) {
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_status st = krein_data_open(ctx, path, o, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, t, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", path, krein_message(ctx));
    krein_data_close(data);
    return m;
}

static void check_names(const krein_model *m, int64_t n, const char *const *want) {
    char text[64];
    for (int64_t j = 0; j < n; j++) {
        CHECK(krein_model_encoded_name(m, j, text, sizeof text) == 1);
        CHECK_ELSE(strcmp(text, want[j]) == 0, "column %lld: %s, want %s\n", (long long)j, text,
                   want[j]);
    }
    CHECK(krein_model_encoded_name(m, n, text, sizeof text) == 0);
    CHECK(krein_model_encoded_name(m, -1, text, sizeof text) == 0);
}

/* Every kind of column. */
static const char *mixed_file(bool header) {
    static char text[60 * 200];
    int at = header ? sprintf(text, "y,size,colour,when,at,ok,\n") : 0;
    for (int i = 0; i < 200; i++) {
        static const char *const colour[] = {"red", "green"};
        at += sprintf(text + at, "%.4g,", det(i, 0, 0));
        at += i % 7 == 3 ? sprintf(text + at, ",") : sprintf(text + at, "%.4g,", det(i, 1, 0));
        at += sprintf(text + at, "%s,", i % 11 == 5 ? "" : colour[i % 2]);
        at += sprintf(text + at, "2024-%02d-%02d,2024-01-%02d %02d:30,%s,%d\n", 1 + i % 12,
                      1 + i % 28, 1 + i % 28, i % 24, i % 3 ? "yes" : "no", i % 5);
    }
    return test_write(header ? "named.csv" : "plain.csv", text);
}

/* Inputs by their number, and in the notes. */
static void check_numbers(const krein_model *m) {
    for (int64_t j = 0; j < 6; j++) CHECK(krein_model_column_number(m, j) == j + 2);
    CHECK(krein_model_column_number(m, 6) == 0 && krein_model_column_number(m, -1) == 0);
    CHECK(strcmp(krein_model_note(m, 0),
                 "dates, year first: column 4: year, month, weekday and days") == 0);
}

static void every_kind(void) {
    static const char *const want[] = {
        "size",        "size (missing)", "colour=red",     "colour=green", "colour (missing)",
        "when (year)", "when (month)",   "when (weekday)", "when (days)",  "at (year)",
        "at (month)",  "at (weekday)",   "at (hour)",      "at (days)",    "ok",
        "column 7"};
    static const char *const numbered[] = {
        "column 2",           "column 2 (missing)", "column 3=red",     "column 3=green",
        "column 3 (missing)", "column 4 (year)",    "column 4 (month)", "column 4 (weekday)",
        "column 4 (days)",    "column 5 (year)",    "column 5 (month)", "column 5 (weekday)",
        "column 5 (hour)",    "column 5 (days)",    "column 6",         "column 7"};
    krein_ctx *ctx = test_ctx(1);
    krein_train_options t = defaults();
    t.kernel = "gaussian(sigma=3)";
    t.lambda = .01;
    for (int header = 0; header < 2; header++) {
        krein_model *m = train_file(ctx, mixed_file(header), NULL, &t);
        if (m) check_names(m, KREIN__COUNT(want), header ? want : numbered);
        if (m && !header) check_numbers(m);
        krein_model_info info = KREIN_SIZED(krein_model_info);
        if (m) krein_model_describe(m, &info);
        CHECK(info.metric == KREIN_METRIC_NONE && isinf(info.clip));
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

static void means_hashes_sparse(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_train_options t = defaults();
    krein_data_options o;
    char text[64];
    krein_data_options_init(&o);
    t.kernel = "gaussian(sigma=3)";
    t.lambda = .01;
    o.ignore = "size,when,at,ok,7";
    o.categories = KREIN_CATEGORIES_TARGET;
    krein_model *m = train_file(ctx, mixed_file(true), &o, &t);
    if (m) check_names(m, 1, (const char *const[]){"colour (mean)"});
    krein_model_destroy(m);
    o.categories = KREIN_CATEGORIES_HASH;
    if ((m = train_file(ctx, mixed_file(true), &o, &t))) {
        CHECK(krein_model_encoded_name(m, 16, text, sizeof text) == 1);
        CHECK(strcmp(text, "colour (hash 17)") == 0);
        CHECK(krein_model_encoded_name(m, 16, text, 6) == 1); /* cut short */
        CHECK(strcmp(text, "colou") == 0);
        CHECK(krein_model_encoded_name(m, 16, text, 10) == 1);
        CHECK(strcmp(text, "colour (h") == 0);
    }
    krein_model_destroy(m);
    const char *sparse = test_write("rows.libsvm", "1 1:1 3:2\n2 2:1\n3 1:2 2:2\n4 3:1\n");
    m = train_file(ctx, sparse, NULL, &t);
    if (m) check_names(m, 3, (const char *const[]){"column 1", "column 2", "column 3"});
    CHECK(m && krein_model_column_number(m, 2) == 3 && krein_model_column_number(m, 3) == 0);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* The default's model, also from its file; a caller with an older header. */
static void described(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(700, .1, 3);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_model *m = NULL, *again = NULL;
    CHECK(krein_train(ctx, data, NULL, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    drop(&r);
    const char *path = test_path("m.krein");
    CHECK(m && krein_model_save(ctx, m, path) == KREIN_OK);
    CHECK(krein_model_load(ctx, path, &again) == KREIN_OK);
    for (int turn = 0; turn < 2 && m && again; turn++) {
        krein_model_info info = KREIN_SIZED(krein_model_info), old = info;
        krein_array a;
        krein_model_describe(turn ? again : m, &info);
        CHECK(info.metric == KREIN_METRIC_DIAGONAL && info.clip == 8);
        CHECK(krein_model_array(turn ? again : m, "encoding.metric", &a) && a.columns == info.d);
        old.size = offsetof(krein_model_info, metric);
        old.clip = 77;
        krein_model_describe(turn ? again : m, &old);
        CHECK(old.d == info.d && old.clip == 77);
    }
    krein_model_destroy(again);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(every_kind);
    RUN(means_hashes_sparse);
    RUN(described);
    return DONE();
}
