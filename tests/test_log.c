/* test_log.c -- logarithms of heavy-tailed columns: which are found, the rows of an encoding with
 * them, a saved model and its predictions, and when the default takes them. */
#include "data.h"

#include "base/rng.h"
#include "encode/log.h"
#include "encode/trim.h"
#include "model/model.h"

enum { ROWS = 2500 }; /* several blocks */

static double normal(int64_t i, int64_t j) {
    return krein__rng_normal(krein__substream(7, KREIN_STREAM_SAMPLE, 0), (uint64_t)i, (uint64_t)j);
}

/* Log-normal, counts with zeros, a few outliers, normal, negative ones, missing cells. */
enum { TAIL, COUNT, OUTLIER, NORMAL, NEGATIVE, MISSING, COLUMNS };

static double number(int64_t i, int column) {
    double z = normal(i, column);
    switch (column) {
    case TAIL:
        return exp(2 * z);
    case COUNT:
        return floor(exp(1.5 * z));
    case OUTLIER:
        return 10 + z + (i % 500 == 3 ? 1e4 : 0);
    case NORMAL:
        return 10 + z;
    case NEGATIVE:
        return exp(2 * z) - 1;
    default:
        return exp(1.5 * z);
    }
}

static bool missing(int64_t i, int column) { return column == MISSING && i % 9 == 4; }

static const char *file(void) {
    static char text[ROWS * 120];
    int at = sprintf(text, "y,tail,count,outlier,normal,negative,missing\n");
    for (int64_t i = 0; i < ROWS; i++) {
        at += sprintf(text + at, "%.5g", normal(i, COLUMNS));
        for (int j = 0; j < COLUMNS; j++)
            at +=
                missing(i, j) ? sprintf(text + at, ",") : sprintf(text + at, ",%.9g", number(i, j));
        at += sprintf(text + at, "\n");
    }
    return test_write("tails.csv", text);
}

static krein_data_options standard(void) {
    krein_data_options o = plain();
    o.scale = KREIN_SCALE_STANDARD;
    return o;
}

static krein_matrix rows_of(const taken *t) {
    return (krein_matrix){.n = t->n, .d = t->d, .x = t->x};
}

/* The heavy-tailed ones are found; rows become what the encoding makes of them then, from memory
 * and from a file the same bytes. */
static void found_and_streamed(void) {
    const char *path = file();
    taken first = {0};
    for (int keep = 0; keep < 2; keep++) {
        krein_ctx *ctx = test_ctx(keep + 1);
        krein_data_options o = standard();
        learned l = learn_file(ctx, path, &o, keep ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, 0, 1);
        krein_logs logs;
        taken t;
        char **note;
        int64_t notes;
        CHECK(l.st == KREIN_OK && l.t.n == ROWS && l.e.d == COLUMNS + 1);
        krein_matrix x = rows_of(&l.t);
        CHECK(krein__logs_find(ctx, &l.e, 8, &x, &logs) == KREIN_OK);
        CHECK(logs.n == 3 && logs.column[0] == TAIL && logs.column[1] == COUNT &&
              logs.column[2] == MISSING);
        CHECK_ABS((double)logs.offset[1], 1, 1e-4); /* log(1 + v) */

        CHECK(krein__encoding_trim(ctx, &l.e, 8, NULL, &x) == KREIN_OK);
        CHECK(krein__encoding_set_logs(ctx, &l.e, &logs, NULL) == KREIN_OK);
        CHECK(take(l.data, &l.e, KREIN_PART_TRAIN, &t) == KREIN_OK);
        double worst = 0, by_hand = 0;
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t k = 0; k < logs.n; k++) {
                int64_t j = logs.column[k];
                double got = (double)t.x[i * t.d + j];
                double c = (double)logs.offset[k], v = log(number(i, (int)j) + c);
                double want = (v - (double)logs.centre[k]) * (double)logs.factor[k];
                worst = fmax(worst, fabs((double)logs.x[k * ROWS + i] - got));
                if (!missing(i, (int)j)) by_hand = fmax(by_hand, fabs(want - got));
            }
        CHECK_ABS(worst, 0, 0.02); /* the digits of the least numbers */
        CHECK_ABS(by_hand, 0, 0.02);
        CHECK(krein__encoding_notes(ctx, &l.e, &note, &notes) == KREIN_OK && notes == 2);
        CHECK_HAS(note[1], "logarithms: tail, count, missing");
        krein__notes_free(ctx, note, notes);
        if (keep == 0)
            first = t;
        else
            CHECK(memcmp(t.x, first.x, (size_t)(t.n * t.d) * sizeof *t.x) == 0);
        if (keep) give_back(&t);
        krein__logs_clear(ctx, &logs);
        forget(&l);
        krein_ctx_destroy(ctx);
    }
    give_back(&first);
}

/* Other scales, and few rows, have none. */
static void not_looked_for(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    learned l = learn_file(ctx, file(), &o, KREIN_KEEP_AUTO, 0, 1);
    krein_matrix x = rows_of(&l.t);
    krein_logs logs;
    CHECK(l.st == KREIN_OK);
    CHECK(krein__logs_find(ctx, &l.e, 8, &x, &logs) == KREIN_OK && logs.n == 0);
    l.e.scale = KREIN_SCALE_STANDARD;
    x.n = 50;
    CHECK(krein__logs_find(ctx, &l.e, 8, &x, &logs) == KREIN_OK && logs.n == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- models --------------------------------------------------------------- */

/* More than a block of 1,920 rows; a search on two thirds that is more than a second look on
 * 1,000. */
enum { PLANTED = 1950, SOME = 1520, FEW = 600 };

/* y = log x + noise. */
static krein_data *planted(krein_ctx *ctx, const krein_data_options *o, int64_t n) {
    static char text[PLANTED * 60];
    int at = sprintf(text, "y,x,z\n");
    krein_data *data = NULL;
    for (int64_t i = 0; i < n; i++) {
        double z = normal(i, 0);
        at += sprintf(text + at, "%.6g,%.9g,%.5g\n", 2 * z + .1 * normal(i, 1), exp(2 * z),
                      normal(i, 2));
    }
    CHECK(krein_data_open(ctx, test_write("planted.csv", text), o, &data) == KREIN_OK);
    return data;
}

static krein_model *train(krein_ctx *ctx, int64_t n, const krein_data_options *d,
                          const char *kernel, const char *map, const char *metric) {
    krein_data *data = planted(ctx, d, n);
    krein_train_options t;
    krein_model *m = NULL;
    krein_train_options_init(&t);
    t.kernel = kernel;
    t.map = map;
    t.metric = metric;
    t.effort = .3;
    if (kernel) t.lambda = .01;
    CHECK(krein_train(ctx, data, &t, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    return m;
}

static void chosen(void) {
    test_bytes first = {0};
    for (int keep = 0; keep < 2; keep++) {
        krein_ctx *ctx = test_ctx(1 + keep);
        ctx->keep_rows = keep ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM;
        krein_model *m = train(ctx, PLANTED, NULL, NULL, NULL, NULL);
        CHECK(m->encoding.log && m->encoding.log[0] > 0 && m->encoding.log[1] == 0);
        CHECK_HAS(krein_model_note(m, 0), "logarithms: x");
        test_bytes bytes = test_model_bytes(ctx, m);
        if (keep == 0)
            first = bytes;
        else {
            CHECK(test_same(first, bytes));
            free(bytes.at);
        }
        krein_model_destroy(m);
        krein_ctx_destroy(ctx);
    }
    free(first.at);
}

/* y = log x + u: u is heavy-tailed too, and stays as it is. */
static void chosen_by_column(void) {
    static char text[SOME * 80];
    int at = sprintf(text, "y,x,u,z\n");
    for (int64_t i = 0; i < (test_sanitized() ? FEW : SOME); i++) {
        double z = normal(i, 0), u = (pow(normal(i, 3), 2) + pow(normal(i, 4), 2)) / 2;
        at += sprintf(text + at, "%.6g,%.9g,%.9g,%.5g\n", 2 * z + 2 * u + .1 * normal(i, 1),
                      exp(2 * z), u, normal(i, 2));
    }
    const char *path = test_write("columns.csv", text);
    for (int threads = 1; threads < 3; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        krein_data *data = NULL;
        krein_train_options t;
        krein_model *m = NULL;
        krein_train_options_init(&t);
        t.effort = .3;
        CHECK(krein_data_open(ctx, path, NULL, &data) == KREIN_OK);
        CHECK(krein_train(ctx, data, &t, NULL, &m) == KREIN_OK);
        const float *log = m ? m->encoding.log : NULL;
        CHECK(log && log[0] > 0 && log[1] == 0 && log[2] == 0);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

/* Where the rows are those of taken_from_a_model, which has logarithms. */
static void not_chosen(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    o.types = KREIN_TYPES_PLAIN;
    krein_model *as_it_is = train(ctx, FEW, &o, NULL, NULL, NULL);
    krein_model *given = train(ctx, FEW, NULL, "gaussian(sigma=1)", "rff", NULL);
    krein_model *metric = train(ctx, FEW, NULL, "gaussian(sigma=1)", "rff", "diagonal");
    CHECK(!as_it_is->encoding.log && !given->encoding.log && !metric->encoding.log);
    krein_model_destroy(as_it_is);
    krein_model_destroy(given);
    krein_model_destroy(metric);
    krein_ctx_destroy(ctx);
}

/* f = sum_j x_j w_j + b of a linear model, from its arrays. */
static double by_hand(const krein_model *m, const float *raw) {
    krein_array weights, intercept, log_offset, centre, factor, shift = {0};
    CHECK(krein_model_array(m, "weights", &weights) && weights.rows == 2);
    CHECK(krein_model_array(m, "intercepts", &intercept));
    CHECK(krein_model_array(m, "encoding.log", &log_offset) && log_offset.columns == 2);
    CHECK(krein_model_array(m, "encoding.centre", &centre));
    CHECK(krein_model_array(m, "encoding.factor", &factor));
    CHECK(krein_model_array(m, "encoding.shift", &shift));
    double sum = *(const double *)intercept.at;
    for (int64_t j = 0; j < 2; j++) {
        double c = (double)((const float *)log_offset.at)[j];
        double x = c > 0 ? log(fmax((double)raw[j], 0) + c)
                         : (double)raw[j] - ((const double *)shift.at)[j];
        x = (x - (double)((const float *)centre.at)[j]) * (double)((const float *)factor.at)[j];
        sum += x * ((const double *)weights.at)[j];
    }
    return sum;
}

static void saved_and_predicted(void) {
    static const float rows[4][2] = {{1, 5}, {-90, 2}, {0, 1}, {8000, -3}};
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = train(ctx, FEW, NULL, "linear", "explicit", NULL), *loaded = NULL;
    double now[4], later[4], from_file[4];
    krein_array none;
    CHECK(!krein_model_array(m, "encoding.log", &none));
    krein_logs logs = {.n = 1,
                       .column = (int64_t[]){0},
                       .offset = (float[]){.25f},
                       .centre = (float[]){.5f},
                       .factor = (float[]){2},
                       .fill = m->encoding.fill};
    CHECK(krein__encoding_set_logs(ctx, &m->encoding, &logs, NULL) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, 4, 2, rows[0], 2, now) == KREIN_OK);
    for (int64_t i = 0; i < 4; i++) CHECK_ABS(now[i], by_hand(m, rows[i]), 1e-4);

    test_bytes bytes = test_model_bytes(ctx, m);
    CHECK(bytes.at[8] == 2); /* the format version */
    CHECK(krein_model_load_memory(ctx, bytes.at, bytes.n, &loaded) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, loaded, 4, 2, rows[0], 2, later) == KREIN_OK);
    CHECK(memcmp(now, later, sizeof now) == 0);

    krein_data *data = NULL;
    krein_prediction_arrays out;
    krein_prediction_arrays_init(&out);
    out.capacity = 4;
    out.scores = from_file;
    CHECK(krein_data_open(ctx, test_write("new.csv", "z,x\n5,1\n2,-90\n1,0\n-3,8000\n"), NULL,
                          &data) == KREIN_OK);
    CHECK(krein_predict_into(ctx, loaded, data, &out) == KREIN_OK);
    CHECK(memcmp(now, from_file, sizeof now) == 0);
    krein_data_close(data);

    /* an offset that cannot be */
    m->encoding.log[1] = -1;
    CHECK(krein_model_save(ctx, m, test_write("bad.krein", "")) == KREIN_EMODEL);
    CHECK_HAS(krein_message(ctx), "logarithms");
    free(bytes.at);
    krein_model_destroy(m);
    krein_model_destroy(loaded);
    krein_ctx_destroy(ctx);
}

/* metric=file takes the logarithms of the other model too. */
static void taken_from_a_model(void) {
    krein_ctx *ctx = test_ctx(1);
    char path[300], metric[320];
    krein_model *m = train(ctx, FEW, NULL, NULL, NULL, NULL);
    snprintf(path, sizeof path, "%s", test_write("from.krein", ""));
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    snprintf(metric, sizeof metric, "file=%s", path);
    krein_model *other = train(ctx, FEW, NULL, "gaussian(sigma=1)", "rff", metric);
    CHECK(other->encoding.log && other->encoding.log[0] == m->encoding.log[0]);
    CHECK(other->encoding.log && other->encoding.centre[0] == m->encoding.centre[0]);
    krein_model_destroy(m);
    krein_model_destroy(other);
    krein_ctx_destroy(ctx);
}

static void failing_allocations(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o = standard();
    learned l = learn_file(ctx, file(), &o, KREIN_KEEP_AUTO, 0, 1);
    krein_matrix x = rows_of(&l.t);
    x.n = 200;
    CHECK(l.st == KREIN_OK);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_logs logs = {0};
        krein_status st = krein__logs_find(ctx, &l.e, 8, &x, &logs);
        if (st == KREIN_OK) st = krein__encoding_set_logs(ctx, &l.e, &logs, NULL);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein__logs_clear(ctx, &logs);
        krein__free(ctx, l.e.log);
        l.e.log = NULL;
    }
    forget(&l);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(found_and_streamed);
    RUN(not_looked_for);
    RUN(saved_and_predicted);
    RUN(chosen);
    RUN(chosen_by_column);
    RUN(not_chosen);
    RUN(taken_from_a_model);
    RUN(failing_allocations);
    return DONE();
}
