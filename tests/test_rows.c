/* test_rows.c -- rows in the caller's memory and rows that a function gives: the same models, to
 * the bit, as from files of the same numbers. */
#include "rows.h"

enum { N = 2300 };

/* Trains and closes the data: the file of the model. */
static test_bytes model_of(krein_ctx *ctx, krein_data *data, const krein_train_options *o) {
    krein_model *m = NULL;
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    test_bytes b = test_model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_data_close(data);
    return b;
}

static void same_and_free(test_bytes want, test_bytes got, const char *name, int k) {
    if (!test_same(want, got)) printf("%s %d: another model\n", name, k);
    CHECK(test_same(want, got));
    free(got.at);
}

static krein_data_options file_options(what w) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.header = w.names;
    if (w.weights) o.weights = "w";
    if (w.groups) o.group = "g";
    return o;
}

/* CSV, NPY, arrays of all kinds, a function that gives odd blocks; kept or read again. */
static void dense_forms(void) {
    for (int k = 0; k < 3; k++) {
        table t = make_table(test_sanitized() ? 300 : N, k == 1, 11);
        what w = {.labels = NUMBERS};
        krein_train_options o = small_train(k == 2);
        krein_data_options plain = file_options(w), none;
        krein_data_options_init(&none);
        krein_ctx *ctx = test_ctx(2);
        if (k == 0) plain.scale = none.scale = KREIN_SCALE_MINMAX;
        test_bytes csv = model_of(ctx, open_path(ctx, write_csv(&t, w), &plain), &o);
        same_and_free(csv, model_of(ctx, open_path(ctx, write_npy(ctx, &t), &none), &o), "npy", k);
        for (form f = FLOATS; f <= CODES; f++)
            for (int keep = -1; keep <= 1; keep++) {
                static const int64_t blocks[] = {7, 333, 100000};
                held h = {0};
                source s = source_of(&t, f, w, blocks[keep + 1]);
                if (s.block == 7 && !test_sanitized()) s.block = 97;
                ctx->keep_rows = (krein_keep)keep;
                hold(&h, &t, 0, t.n, f, w);
                same_and_free(csv, model_of(ctx, view_data(ctx, &h, &none), &o), "view", (int)f);
                same_and_free(csv, model_of(ctx, pull(ctx, &s, &none), &o), "source", (int)f);
                CHECK(s.wrong == 0 && (s.rewinds > 0) == (keep < 0));
                let_go(&h);
                let_go(&s.h);
            }
        free(csv.at);
        krein_ctx_destroy(ctx);
        drop_table(&t);
    }
}

static void sparse_forms(void) {
    for (int k = 0; k < 2; k++) {
        table t = make_table(test_sanitized() ? 300 : N, k == 1, 12);
        krein_train_options o = small_train(k == 1);
        krein_ctx *ctx = test_ctx(2);
        test_bytes file = model_of(ctx, open_path(ctx, write_libsvm(&t), NULL), &o);
        for (form f = CSR_32; f <= CSR_64; f++)
            for (int how = 0; how < 4; how++) {
                what w = {.labels = NUMBERS, .shuffled = how % 2};
                held h = {0};
                source s = source_of(&t, f, w, 333);
                ctx->keep_rows = how < 2 ? KREIN_KEEP_AUTO : KREIN_KEEP_STREAM;
                hold(&h, &t, 0, t.n, f, w);
                same_and_free(file, model_of(ctx, view_data(ctx, &h, NULL), &o), "csr", how);
                same_and_free(file, model_of(ctx, pull(ctx, &s, NULL), &o), "csr source", how);
                let_go(&h);
                let_go(&s.h);
            }
        free(file.at);
        krein_ctx_destroy(ctx);
        drop_table(&t);
    }
}

/* Classes as whole numbers and as texts; names of columns; a text column. */
static void labels_and_words(void) {
    static const what all[] = {{.labels = INT32},
                               {.labels = INT64, .names = true},
                               {.labels = TEXTS, .names = true},
                               {.labels = TEXTS, .words = true},
                               {.labels = NUMBERS, .words = true, .names = true}};
    table t = make_table(test_sanitized() ? 300 : 900, true, 13);
    for (int k = 0; k < KREIN__COUNT(all); k++) {
        what w = all[k];
        krein_train_options o = small_train(k % 2);
        krein_data_options file = file_options(w), none;
        krein_ctx *ctx = test_ctx(2);
        krein_data_options_init(&none);
        test_bytes csv = model_of(ctx, open_path(ctx, write_csv(&t, w), &file), &o);
        for (form f = w.words ? COLUMNS : FLOATS; f <= CODES; f++) {
            held h = {0};
            source s = source_of(&t, f, w, 101);
            hold(&h, &t, 0, t.n, f, w);
            same_and_free(csv, model_of(ctx, view_data(ctx, &h, &none), &o), "view", k);
            ctx->keep_rows = KREIN_KEEP_STREAM;
            same_and_free(csv, model_of(ctx, pull(ctx, &s, &none), &o), "source", k);
            ctx->keep_rows = KREIN_KEEP_AUTO;
            let_go(&h);
            let_go(&s.h);
        }
        free(csv.at);
        krein_ctx_destroy(ctx);
    }
    drop_table(&t);
}

/* Scores of the rows of the table, as float32 rows. */
static double *scores_of(krein_ctx *ctx, krein_data *data, const krein_train_options *o,
                         const table *t, int64_t *k) {
    krein_model *m = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    if (!m) exit(1);
    krein_model_describe(m, &info);
    *k = info.outputs;
    double *s = test_new(t->n * info.outputs, sizeof *s);
    CHECK(krein_predict_dense(ctx, m, t->n, t->d, t->x, t->d, s) == KREIN_OK);
    krein_model_destroy(m);
    krein_data_close(data);
    return s;
}

/* Weights and groups are no inputs of the model: compared are its predictions. */
static void weights_and_groups(void) {
    for (int k = 0; k < 4; k++) {
        table t = make_table(test_sanitized() ? 300 : 900, k % 2, 14);
        what w = {.labels = NUMBERS, .weights = k<3, .groups = k> 0, .names = true};
        krein_train_options o = small_train(k > 1);
        krein_data_options file = file_options(w);
        krein_ctx *ctx = test_ctx(2);
        int64_t m, same;
        if (k == 1) o.select = "cv(k=3)"; /* folds of whole groups */
        double *csv = scores_of(ctx, open_path(ctx, write_csv(&t, w), &file), &o, &t, &m);
        for (form f = FLOATS; f <= CODES; f++) {
            held h = {0};
            source s = source_of(&t, f, w, 64);
            hold(&h, &t, 0, t.n, f, w);
            double *view = scores_of(ctx, view_data(ctx, &h, NULL), &o, &t, &same);
            CHECK(same == m && memcmp(csv, view, (size_t)(t.n * m) * sizeof *csv) == 0);
            free(view);
            view = scores_of(ctx, pull(ctx, &s, NULL), &o, &t, &same);
            CHECK(same == m && memcmp(csv, view, (size_t)(t.n * m) * sizeof *csv) == 0);
            free(view);
            let_go(&h);
            let_go(&s.h);
        }
        { /* sparse rows have them too */
            held h = {0};
            krein_data *data;
            krein_report r = KREIN_SIZED(krein_report);
            krein_model *model = NULL;
            hold(&h, &t, 0, t.n, CSR_32, w);
            data = view_data(ctx, &h, NULL);
            CHECK(krein_train(ctx, data, &o, &r, &model) == KREIN_OK);
            CHECK(r.n > 0 && r.d == t.d);
            krein_report_clear(ctx, &r);
            krein_model_destroy(model);
            krein_data_close(data);
            let_go(&h);
        }
        free(csv);
        krein_ctx_destroy(ctx);
        drop_table(&t);
    }
}

/* Cells and labels that are missing, as in a file. */
static void missing_cells(void) {
    for (int k = 0; k < 3; k++) {
        table t = make_table(400, k == 1, 15);
        what w = {.labels = k == 1 ? TEXTS : NUMBERS, .words = true, .names = true};
        krein_train_options o = small_train(false);
        krein_ctx *ctx = test_ctx(1);
        for (int64_t i = 3; i < t.n; i += 10) {
            t.x[i * t.d + i % t.d] = NAN;
            if (i % 3) t.words[i] = NULL;
            if (k > 0 && i % 4) t.y[i] = NAN;
            if (k > 0 && i % 4) t.classes[i] = NULL;
        }
        if (k == 2) o.learner = "sskrr";
        krein_data_options file = file_options(w), none;
        krein_data_options_init(&none);
        file.missing = none.missing = k == 1 ? KREIN_MISSING_DROP : KREIN_MISSING_MEAN;
        test_bytes csv = model_of(ctx, open_path(ctx, write_csv(&t, w), &file), &o);
        for (form f = COLUMNS; f <= CODES; f++) {
            held h = {0};
            hold(&h, &t, 0, t.n, f, w);
            same_and_free(csv, model_of(ctx, view_data(ctx, &h, &none), &o), "view", k);
            let_go(&h);
        }
        free(csv.at);
        krein_ctx_destroy(ctx);
        drop_table(&t);
    }
}

static void failing_memory(void) {
    table t = make_table(40, true, 21);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    what w = {.labels = TEXTS, .weights = true, .groups = true, .names = true, .words = true};
    krein_train_options o = defaults();
    o.kernel = "gaussian(sigma=2)";
    o.map = "rff(D=6)";
    o.lambda = 1e-2;
    int good = 0;
    for (int f = COLUMNS; f <= CSR_64; f++) TEST_EVERY_ALLOCATION(&memory, k) {
            source s = source_of(&t, (form)f, w, 15);
            krein_rows_source from;
            krein_data *data = NULL;
            krein_model *m = NULL;
            held h = {0};
            krein_rows_source_init(&from);
            from.next = next_rows;
            from.rewind = rewind_rows;
            from.user = &s;
            ctx->keep_rows = f % 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO;
            hold(&h, &t, 0, t.n, (form)f, w);
            krein_status st = f % 3 ? krein_data_from_rows(ctx, &h.v, NULL, &data)
                                    : krein_data_from_source(ctx, &from, NULL, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            CHECK(st == KREIN_EMEMORY || st == KREIN_OK);
            good += st == KREIN_OK;
            krein_model_destroy(m);
            krein_data_close(data);
            let_go(&h);
            let_go(&s.h);
        }
    CHECK(good >= 4);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(dense_forms);
    RUN(sparse_forms);
    RUN(labels_and_words);
    RUN(weights_and_groups);
    RUN(missing_cells);
    RUN(failing_memory);
    return DONE();
}
