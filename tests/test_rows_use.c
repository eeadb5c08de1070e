/* test_rows_use.c -- rows in the caller's memory: larger than the budget, from sources of one pass
 * or that fail, with named columns, in all that takes data, and predictions into arrays. */
#include "rows.h"

/* ---- memory ------------------------------------------------------------- */

/* Rows of three times the budget are neither copied nor refused. */
static void larger_than_the_budget(void) {
    enum { D = 32 };
    int64_t n = 100000;
    double *x = test_new(n * D, sizeof *x), *y = test_new(n, sizeof *y);
    krein_rows_view v;
    krein_ctx_options c;
    krein_train_options o = defaults();
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < D; j++) {
            x[i * D + j] = det(i, j, 0);
            if (j < 3) y[i] += x[i * D + j];
        }
    krein_rows_view_init(&v);
    v.n = n;
    v.d = D;
    v.x = x;
    v.type = KREIN_FLOAT64;
    v.targets = y;
    o.kernel = "gaussian(sigma=4)";
    o.map = "rff(D=32)";
    o.lambda = 1e-3;
    krein_ctx_options_init(&c);
    c.max_memory = 8 << 20; /* the rows have 24 MB */
    for (c.threads = 1; c.threads <= 2; c.threads++) {
        krein_ctx *ctx = NULL;
        krein_data *data = NULL;
        krein_model *m = NULL;
        CHECK(krein_ctx_create(&c, &ctx) == KREIN_OK);
        CHECK(krein_data_from_rows(ctx, &v, NULL, &data) == KREIN_OK);
        krein_status st = krein_train(ctx, data, &o, NULL, &m);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK && krein_ctx_peak_bytes(ctx) <= c.max_memory);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    free(x);
    free(y);
}

/* One pass is enough for predictions, and for rows that fit in memory. */
static void no_rewind(void) {
    table t = make_table(500, false, 16);
    what w = {.labels = NUMBERS};
    krein_ctx *ctx = test_ctx(2);
    krein_train_options o = small_train(true);
    krein_rows_source from;
    krein_data *data = NULL;
    krein_model *m = NULL;
    source s = source_of(&t, DOUBLES, w, 60);
    krein_rows_source_init(&from);
    from.next = next_rows;
    from.user = &s;
    CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    ctx->keep_rows = KREIN_KEEP_STREAM;
    s.at = 0;
    double score[500], want[500];
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    to.capacity = t.n;
    to.scores = score;
    CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_OK);
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK && to.rows == t.n);
    CHECK(krein_predict_dense(ctx, m, t.n, t.d, t.x, t.d, want) == KREIN_OK);
    CHECK(memcmp(score, want, sizeof score) == 0);
    krein_data_close(data);
    krein_model_destroy(m);
    s.at = 0;
    CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "no function rewind");
    krein_data_close(data);
    let_go(&s.h);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

static void failing_source(void) {
    static const krein_status all[] = {KREIN_EIO, KREIN_ECANCEL};
    table t = make_table(300, false, 17);
    krein_ctx *ctx = test_ctx(2);
    krein_train_options o = small_train(false);
    for (int k = 0; k < 2; k++) {
        source s = source_of(&t, FLOATS, (what){0}, 50);
        krein_model *m = NULL;
        s.fails = all[k];
        krein_data *data = pull(ctx, &s, NULL);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == all[k] && !m);
        CHECK_HAS(krein_message(ctx), k ? "cancelled" : "function next");
        krein_data_close(data);
    }
    krein_data *data = NULL;
    krein_rows_source from;
    krein_rows_source_init(&from);
    CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_EARG && !data);
    CHECK_HAS(krein_message(ctx), "needs the function next");
    source empty = source_of(&t, FLOATS, (what){0}, 50);
    empty.at = t.n;
    from.next = next_rows;
    from.user = &empty;
    CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_EDATA && !data);
    CHECK_HAS(krein_message(ctx), "no rows");
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

/* A second block that is not like the first. */
typedef struct turncoat {
    int calls;
    krein_rows_view block[2];
} turncoat;
static krein_status next_other(void *user, krein_rows_view *out) {
    turncoat *s = user;
    if (s->calls < 2) *out = s->block[s->calls++];
    return KREIN_OK;
}

static void blocks_that_differ(void) {
    static const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const double y[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t code[3] = {0, 1, 2}, ptr[4] = {0, 0, 0, 0};
    static const char *const word[3] = {"a", "b", "c"};
    static const krein_column_view texts[2] = {{.size = sizeof *texts, .texts = word},
                                               {.size = sizeof *texts, .texts = word}};
    krein_ctx *ctx = test_ctx(1);
    for (int k = 0; k < 6; k++) {
        turncoat s = {0};
        krein_rows_source from;
        krein_data *data = NULL;
        krein_model *m = NULL;
        krein_train_options o = small_train(false);
        krein_rows_view v;
        krein_rows_view_init(&v);
        v.n = 3;
        v.d = 2;
        v.x = x;
        v.type = KREIN_FLOAT32;
        v.targets = y;
        s.block[0] = s.block[1] = v;
        krein_rows_view *b = &s.block[1];
        if (k == 0) b->d = 4;
        if (k == 1) b->targets = NULL;
        if (k == 2) b->targets = NULL, b->classes = code, b->class_type = KREIN_INT32;
        if (k == 3) b->weights = y;
        if (k == 4) b->x = NULL, b->columns = texts;
        if (k == 5) {
            b->x = NULL;
            b->indptr = ptr;
            b->indptr_type = b->index_type = KREIN_INT32;
        }
        krein_rows_source_init(&from);
        from.next = next_other;
        from.user = &s;
        CHECK(krein_data_from_source(ctx, &from, NULL, &data) == KREIN_OK);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EARG && !m);
        CHECK_HAS(krein_message(ctx), "a block of rows has");
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

/* ---- other uses --------------------------------------------------------- */

/* Columns by their names, in another order, and by number. */
static void named_columns(void) {
    table t = make_table(300, false, 18);
    what w = {.labels = NUMBERS, .names = true, .words = true};
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = small_train(false);
    krein_model *m = NULL;
    held h = {0};
    double first[300], second[300];
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    to.capacity = t.n;
    hold(&h, &t, 0, t.n, COLUMNS, w);
    krein_data *data = view_data(ctx, &h, NULL);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    to.scores = first;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK && to.rows == t.n);
    krein_data_close(data);
    CHECK(strcmp(krein_model_column(m, 1), "x1") == 0);
    krein_rows_view v = h.v; /* the columns in another order, and the label as one of them */
    krein_column_view column[MOST_COLUMNS];
    const char *name[MOST_COLUMNS];
    for (int64_t j = 0; j < v.d; j++) {
        column[j] = h.column[v.d - 1 - j];
        name[j] = h.name[v.d - 1 - j];
    }
    column[v.d] = (krein_column_view){.size = sizeof *column, .numbers = t.y};
    column[v.d].type = KREIN_FLOAT64;
    name[v.d] = "price";
    v.d++;
    v.columns = column;
    v.names = name;
    v.targets = NULL;
    krein_data_options by;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    krein_data_options_init(&by);
    by.label = "price";
    CHECK(krein_data_from_rows(ctx, &v, &by, &data) == KREIN_OK);
    to.scores = second;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
    CHECK(memcmp(first, second, sizeof first) == 0);
    krein_status st = krein_evaluate(ctx, m, data, &metrics);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK && metrics.n == t.n && metrics.rmse < 5);
    krein_metrics_clear(ctx, &metrics);
    krein_model_destroy(m);
    m = NULL;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK); /* a table with a label column */
    krein_model_destroy(m);
    m = NULL;
    krein_data_close(data);
    /* text where the model has numbers, and a word that it does not know */
    hold(&h, &t, 0, t.n, COLUMNS, w);
    data = view_data(ctx, &h, NULL);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    h.column[0] = h.column[t.d];
    data = view_data(ctx, &h, NULL);
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "column 1 (x0) holds text, and the model was trained on numbers");
    krein_data_close(data);
    hold(&h, &t, 0, t.n, COLUMNS, w);
    t.words[7] = "pink";
    data = view_data(ctx, &h, NULL);
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "row 8");
    CHECK_HAS(krein_message(ctx), "never seen in training: \"pink\"");
    krein_data_close(data);
    krein_data_options lenient;
    krein_data_options_init(&lenient);
    lenient.unknown_ignore = 1;
    data = view_data(ctx, &h, &lenient);
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
    krein_data_close(data);
    krein_model_destroy(m);
    let_go(&h);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

/* What else takes data. */
static void other_work(void) {
    table t = make_table(300, true, 19);
    what w = {.labels = TEXTS};
    krein_ctx *ctx = test_ctx(1);
    held h = {0};
    krein_data *data;
    krein_model *m = NULL;
    for (form f = DOUBLES; f <= CSR_64; f += CSR_64 - DOUBLES) {
        hold(&h, &t, 0, t.n, f, w);
        data = view_data(ctx, &h, NULL);
        krein_select_options so;
        krein_select_report sr = KREIN_SIZED(krein_select_report);
        krein_select_options_init(&so);
        so.kernels = "gaussian(sigma=1..4:3)";
        CHECK(krein_select(ctx, data, &so, &sr) == KREIN_OK && sr.scored == 3);
        krein_select_report_clear(ctx, &sr);
        krein_train_options to = defaults();
        to.map = "rff(D=8)";
        to.kernel = "gaussian(sigma=1)";
        krein_transform_report tr = KREIN_SIZED(krein_transform_report);
        CHECK(krein_transform(ctx, data, &to, test_path("z.npy"), &tr) == KREIN_OK && tr.n == t.n);
        krein_transform_report_clear(ctx, &tr);
        CHECK(krein_gram(ctx, data, NULL, &to, test_path("k.npy"), &tr) == KREIN_OK && tr.D == t.n);
        krein_transform_report_clear(ctx, &tr);
        krein_pca_options po;
        krein_pca_options_init(&po);
        po.kernel = "gaussian(sigma=1)";
        krein_status st = krein_pca(ctx, data, &po, test_path("p.csv"), NULL, &m);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        krein_model_destroy(m);
        m = NULL;
        krein_data_close(data);
    }
    let_go(&h);
    /* a table of weights */
    w.weights = true;
    hold(&h, &t, 0, t.n, FLOATS, w);
    data = view_data(ctx, &h, NULL);
    krein_train_options o = small_train(false);
    o.checkpoint = test_path("state");
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK); /* known by their bytes */
    krein_model_destroy(m);
    m = NULL;
    unlink(o.checkpoint);
    krein_data_close(data);
    let_go(&h);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

static void into_arrays(void) {
    table t = make_table(200, true, 20);
    krein_ctx *ctx = test_ctx(2);
    held h = {0};
    krein_model *m = NULL;
    krein_train_options o = small_train(false);
    krein_data_options lenient;
    krein_data_options_init(&lenient);
    hold(&h, &t, 0, t.n, FLOATS, (what){.labels = TEXTS});
    krein_data *data = view_data(ctx, &h, NULL);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    int64_t label[200];
    double p[600];
    to.capacity = t.n;
    to.probabilities = p;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "no probabilities");
    krein_model_destroy(m);
    m = NULL;
    o.probabilities = 1;
    o.learner = "logistic";
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    t.x[5] = NAN;
    lenient.missing = KREIN_MISSING_DROP;
    data = view_data(ctx, &h, &lenient);
    double score[600];
    to.labels = label;
    to.scores = score;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK && to.rows == t.n);
    CHECK(label[1] == -1 && isnan(score[3]) && isnan(p[5]));
    int right = 0;
    for (int64_t i = 0; i < t.n; i++) {
        if (label[i] < 0) continue;
        CHECK_ABS(p[3 * i] + p[3 * i + 1] + p[3 * i + 2], 1, 1e-9);
        right += strcmp(krein_model_class(m, label[i]), t.classes[i]) == 0;
    }
    CHECK(right > 120);
    to.scores = NULL;
    to.probabilities = NULL;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
    to.capacity = 199;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG && to.rows == 199);
    CHECK_HAS(krein_message(ctx), "more rows than the 199");
    to.size = 0;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "krein_prediction_arrays_init");
    krein_data_close(data);
    krein_model_destroy(m);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(larger_than_the_budget);
    RUN(no_rewind);
    RUN(failing_source);
    RUN(blocks_that_differ);
    RUN(named_columns);
    RUN(other_work);
    RUN(into_arrays);
    return DONE();
}
