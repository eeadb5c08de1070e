/* test_metric.c -- what an encoding does after scaling: the clip and the factors of a metric, on
 * dense and sparse rows, from memory and from a file, in a saved model and its predictions. */
#include "data.h"

#include "kernel/inputs.h"
#include "model/model.h"

enum { ROWS = 4500 }; /* several blocks */

static const double factors[] = {2, .5, 0, 1.25, 3, 1, .75, 1.5};

/* Numbers with outliers, categories, missing cells. */
static const char *dense_file(void) {
    static char text[ROWS * 60];
    int at = sprintf(text, "y,a,c,b\n");
    static const char *const word[] = {"u", "v", "?", "w"};
    for (int i = 0; i < ROWS; i++) {
        double a = det(i, 0, 0), b = det(i, 1, 0);
        if (i % 50 == 7) a *= 40;
        at += sprintf(text + at, "%.5g,%.6g,%s,", a - b, 3 + a, word[i % 4]);
        at += i % 9 == 4 ? sprintf(text + at, "\n") : sprintf(text + at, "%.6g\n", b);
    }
    return test_write("dense.csv", text);
}

static const char *sparse_file(void) {
    static char text[ROWS * 60];
    int at = 0;
    for (int i = 0; i < ROWS; i++)
        at += sprintf(text + at, "%.5g %d:%.6g %d:%.6g\n", det(i, 0, 0), 1 + i % 3,
                      i % 50 == 7 ? 100 : det(i, 1, 0), 4 + i % 2, det(i, 2, 0));
    return test_write("sparse.libsvm", text);
}

static krein_data_options options(krein_scale scale) {
    krein_data_options o = plain();
    o.scale = scale;
    o.missing = KREIN_MISSING_MEAN;
    return o;
}

static float after(float x, float clip, int64_t j) {
    x = x > clip ? clip : x < -clip ? -clip : x;
    return x * (float)factors[j];
}

static bool same_rows(const taken *got, const taken *plain_rows, float clip) {
    bool same = got->n == plain_rows->n;
    for (int64_t i = 0; same && i < got->n * got->d; i++)
        same = got->x[i] == after(plain_rows->x[i], clip, i % got->d);
    return same;
}

/* Rows with and without, kept in memory or read again; clip: what is cut off in the end. */
static void rows_under(const char *path, krein_scale scale, float clip, float cut) {
    for (int keep = 0; keep < 2; keep++) {
        krein_ctx *ctx = test_ctx(2);
        krein_data_options o = options(scale);
        learned l = learn_file(ctx, path, &o, keep ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, 0, 1);
        taken t = {0};
        CHECK(l.st == KREIN_OK && l.e.d <= KREIN__COUNT(factors) && l.t.n == ROWS);
        l.e.clip = clip;
        CHECK(krein__encoding_set_metric(ctx, &l.e, factors) == KREIN_OK);
        CHECK(take(l.data, &l.e, KREIN_PART_TRAIN, &t) == KREIN_OK);
        CHECK(same_rows(&t, &l.t, cut));
        give_back(&t);
        /* they are replaced, and removed */
        l.e.clip = 0;
        CHECK(krein__encoding_set_metric(ctx, &l.e, factors) == KREIN_OK);
        CHECK(krein__encoding_set_metric(ctx, &l.e, NULL) == KREIN_OK);
        CHECK(take(l.data, &l.e, KREIN_PART_TRAIN, &t) == KREIN_OK);
        CHECK(memcmp(t.x, l.t.x, (size_t)(t.n * t.d) * sizeof *t.x) == 0);
        give_back(&t);
        forget(&l);
        krein_ctx_destroy(ctx);
    }
}

static void dense(void) {
    const char *path = dense_file();
    rows_under(path, KREIN_SCALE_STANDARD, 1.5f, 1.5f);
    rows_under(path, KREIN_SCALE_STANDARD, INFINITY, INFINITY);
    rows_under(path, KREIN_SCALE_NONE, 2, 2);
    rows_under(path, KREIN_SCALE_UNIT, .25f, INFINITY);
}

static void sparse(void) {
    const char *path = sparse_file();
    rows_under(path, KREIN_SCALE_STANDARD, 1.5f, INFINITY);
    rows_under(path, KREIN_SCALE_UNIT, .25f, INFINITY);
}

/* A stream that is open gives rows under the metric from then on, gathered ones too. */
static void open_stream(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = options(KREIN_SCALE_STANDARD);
    learned l = learn_file(ctx, dense_file(), &o, KREIN_KEEP_AUTO, 0, 1);
    krein_stream *s = NULL;
    krein_block b;
    krein_matrix m;
    const int64_t index[] = {0, 7, 4000};
    CHECK(l.st == KREIN_OK);
    CHECK(krein__stream_open(l.data, &l.e, KREIN_PART_TRAIN, &s) == KREIN_OK);
    CHECK(krein__stream_next(s, &b) == KREIN_OK);
    CHECK(b.x.x[2] == l.t.x[2]);
    l.e.clip = 1;
    CHECK(krein__encoding_set_metric(ctx, &l.e, factors) == KREIN_OK);
    CHECK(krein__stream_next(s, &b) == KREIN_OK && b.first > 0);
    for (int64_t j = 0; j < l.e.d; j++) CHECK(b.x.x[j] == after(l.t.x[b.first * l.e.d + j], 1, j));
    CHECK(krein__stream_gather(s, index, 3, &m, NULL, NULL, NULL) == KREIN_OK);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < l.e.d; j++)
            CHECK(m.x[i * l.e.d + j] == after(l.t.x[index[i] * l.e.d + j], 1, j));
    krein__matrix_clear(ctx, &m);
    krein__stream_close(s);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- full metric ---------------------------------------------------------- */

static void square_matrix(int64_t d, double *A) {
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) A[i * d + j] = det(i, 2 * j, .6) + (i == j);
}

/* Rows in memory and read again, by any number of threads: the same bits; a product in double. */
static void full(void) {
    const char *path = dense_file();
    taken first = {0};
    double A[KREIN__COUNT(factors) * KREIN__COUNT(factors)];
    for (int run = 0; run < 3; run++) {
        krein_ctx *ctx = test_ctx(run == 2 ? 3 : 1);
        krein_data_options o = options(KREIN_SCALE_STANDARD);
        learned l = learn_file(ctx, path, &o, run ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, 0, 1);
        taken t = {0};
        int64_t d = l.e.d;
        CHECK(l.st == KREIN_OK && d <= KREIN__COUNT(factors));
        square_matrix(d, A);
        l.e.clip = 1.5f;
        CHECK(krein__encoding_set_metric(ctx, &l.e, factors) == KREIN_OK);
        CHECK(krein__encoding_set_matrix(ctx, &l.e, A) == KREIN_OK);
        CHECK(take(l.data, &l.e, KREIN_PART_TRAIN, &t) == KREIN_OK && t.n == ROWS);
        double worst = 0, low, high;
        krein__encoding_bounds(&l.e, &low, &high);
        bool inside = true;
        for (int64_t i = 0; i < t.n; i++)
            for (int64_t k = 0; k < d; k++) {
                double sum = 0, got = (double)t.x[i * d + k];
                for (int64_t j = 0; j < d; j++)
                    sum += A[k * d + j] * (double)after(l.t.x[i * d + j], 1.5f, j);
                worst = fmax(worst, fabs(sum - got));
                inside = inside && low <= got && got <= high;
            }
        CHECK_ABS(worst, 0, 1e-5);
        CHECK(inside);
        if (run == 0)
            first = t;
        else
            CHECK(memcmp(t.x, first.x, (size_t)(t.n * d) * sizeof *t.x) == 0);
        if (run) give_back(&t);
        forget(&l);
        krein_ctx_destroy(ctx);
    }
    give_back(&first);
}

static void full_refused(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = options(KREIN_SCALE_STANDARD);
    learned l = learn_file(ctx, sparse_file(), &o, KREIN_KEEP_AUTO, 0, 1);
    krein_encoding wide = {.d = KREIN_MATRIX_MAX + 1};
    double A[KREIN__COUNT(factors) * KREIN__COUNT(factors)] = {0};
    CHECK(l.st == KREIN_OK);
    CHECK(krein__encoding_set_matrix(ctx, &l.e, A) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "dense rows");
    CHECK(krein__encoding_set_matrix(ctx, &wide, A) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "at most 2000 columns");
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Kernels that want inputs in a range see the rows as they come out. */
static void bounds(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = options(KREIN_SCALE_MINMAX);
    learned l = learn_text(ctx, "y,a,b\n1,2,10\n2,4,20\n3,3,30\n", &o);
    krein_kernel *k = NULL;
    double low, high;
    CHECK(l.st == KREIN_OK && krein__kernel_parse(ctx, "spline", &k) == KREIN_OK);
    krein__encoding_bounds(&l.e, &low, &high);
    CHECK_ABS(low, 0, 1e-6);
    CHECK_ABS(high, 1, 1e-6);
    CHECK(krein__kernel_meet(ctx, k, &l.e) == KREIN_OK);
    CHECK(krein__encoding_set_metric(ctx, &l.e, (const double[]){1, 1.5}) == KREIN_OK);
    krein__encoding_bounds(&l.e, &low, &high);
    CHECK_ABS(low, 0, 1e-6);
    CHECK_ABS(high, 1.5, 1e-6);
    CHECK(krein__kernel_meet(ctx, k, &l.e) == KREIN_EDATA);
    l.e.clip = .5f;
    krein__encoding_bounds(&l.e, &low, &high);
    CHECK_ABS(low, 0, 1e-6);
    CHECK_ABS(high, .75, 1e-6);
    CHECK(krein__kernel_meet(ctx, k, &l.e) == KREIN_OK);
    CHECK(krein__encoding_set_metric(ctx, &l.e, (const double[]){1, 1e300}) == KREIN_ENUMERIC);
    CHECK(l.e.metric[1] == 1.5f);
    krein__kernel_destroy(ctx, k);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- models --------------------------------------------------------------- */

static const float rows[3][2] = {{1, 5}, {-90, 2}, {.5f, 800}};

/* f = sum_j x_j w_j + b of a linear model, from its arrays. */
static double by_hand(const krein_model *m, const float *raw) {
    krein_array weights, intercept, centre, factor, clip, metric, matrix;
    krein_array shift = {0};
    double row[2];
    CHECK(krein_model_array(m, "weights", &weights) && weights.rows == 2);
    CHECK(krein_model_array(m, "intercepts", &intercept));
    CHECK(krein_model_array(m, "encoding.centre", &centre));
    CHECK(krein_model_array(m, "encoding.factor", &factor));
    CHECK(krein_model_array(m, "encoding.clip", &clip) && clip.columns == 1);
    CHECK(krein_model_array(m, "encoding.metric", &metric) && metric.columns == 2);
    krein_model_array(m, "encoding.shift", &shift);
    double sum = *(const double *)intercept.at, most = (double)*(const float *)clip.at;
    for (int64_t j = 0; j < 2; j++) {
        double x = (double)raw[j] - (shift.at ? ((const double *)shift.at)[j] : 0);
        x = (x - (double)((const float *)centre.at)[j]) * (double)((const float *)factor.at)[j];
        x = fmin(fmax(x, -most), most) * (double)((const float *)metric.at)[j];
        row[j] = x;
    }
    bool product = krein_model_array(m, "encoding.matrix", &matrix);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++) {
            double a = product ? (double)((const float *)matrix.at)[i * 2 + j] : (double)(i == j);
            sum += a * row[j] * ((const double *)weights.at)[i];
        }
    return sum;
}

static krein_model *linear_model(krein_ctx *ctx) {
    char text[2000];
    int at = sprintf(text, "y,a,b\n");
    krein_data *data = NULL;
    krein_train_options t;
    krein_model *m = NULL;
    for (int i = 0; i < 40; i++)
        at += sprintf(text + at, "%.6g,%.6g,%.6g\n", det(i, 0, 0) - 2 * det(i, 1, 0), det(i, 0, 0),
                      5 + det(i, 1, 0));
    krein_train_options_init(&t);
    t.kernel = "linear";
    t.map = "explicit";
    t.lambda = .01;
    CHECK(krein_data_open(ctx, test_write("train.csv", text), NULL, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &t, NULL, &m) == KREIN_OK);
    krein_data_close(data);
    return m;
}

/* In the model, saved, loaded; with a full metric as well. */
static void saved_and_predicted(const double *matrix) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = linear_model(ctx), *loaded = NULL, *again = NULL;
    double before[3], now[3], later[3], from_file[3];
    krein_array none;
    test_bytes as_trained = test_model_bytes(ctx, m);
    CHECK(as_trained.at[8] == 1); /* the format version */
    CHECK(!krein_model_array(m, "encoding.clip", &none));
    CHECK(!krein_model_array(m, "encoding.metric", &none));
    CHECK(krein_predict_dense(ctx, m, 3, 2, rows[0], 2, before) == KREIN_OK);

    m->encoding.clip = 2;
    CHECK(krein__encoding_set_metric(ctx, &m->encoding, (const double[]){.5, 3}) == KREIN_OK);
    CHECK(krein__encoding_set_matrix(ctx, &m->encoding, matrix) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, 3, 2, rows[0], 2, now) == KREIN_OK);
    for (int64_t i = 0; i < 3; i++) {
        CHECK_ABS(now[i], by_hand(m, rows[i]), 1e-5);
        CHECK(fabs(now[i] - before[i]) > .01);
    }
    test_bytes bytes = test_model_bytes(ctx, m);
    CHECK(bytes.at[8] == 2);
    CHECK(krein_model_load_memory(ctx, bytes.at, bytes.n, &loaded) == KREIN_OK);
    CHECK(loaded->encoding.clip == 2 && loaded->encoding.metric[1] == 3);
    CHECK((loaded->encoding.matrix != NULL) == (matrix != NULL));
    CHECK(krein_predict_dense(ctx, loaded, 3, 2, rows[0], 2, later) == KREIN_OK);
    CHECK(memcmp(now, later, sizeof now) == 0);
    test_bytes copy = test_model_bytes(ctx, loaded);
    CHECK(test_same(bytes, copy));

    krein_data *data = NULL;
    krein_prediction_arrays out;
    krein_prediction_arrays_init(&out);
    out.capacity = 3;
    out.scores = from_file;
    CHECK(krein_data_open(ctx, test_write("new.csv", "a,b\n1,5\n-90,2\n.5,800\n"), NULL, &data) ==
          KREIN_OK);
    CHECK(krein_predict_into(ctx, loaded, data, &out) == KREIN_OK);
    CHECK(memcmp(now, from_file, sizeof now) == 0);
    krein_data_close(data);

    /* without them it is the model that it was */
    m->encoding.clip = INFINITY;
    CHECK(krein__encoding_set_metric(ctx, &m->encoding, NULL) == KREIN_OK);
    CHECK(krein__encoding_set_matrix(ctx, &m->encoding, NULL) == KREIN_OK);
    test_bytes end = test_model_bytes(ctx, m);
    CHECK(test_same(as_trained, end));
    CHECK(krein_model_load_memory(ctx, end.at, end.n, &again) == KREIN_OK);
    CHECK(again->encoding.clip == 0 && !again->encoding.metric);

    /* a version that is not known yet */
    bytes.at[8] = 3;
    krein_model *newer = NULL;
    CHECK(krein_model_load_memory(ctx, bytes.at, bytes.n, &newer) == KREIN_EMODEL);
    CHECK_HAS(krein_message(ctx), "version 3");
    free(as_trained.at);
    free(bytes.at);
    free(copy.at);
    free(end.at);
    krein_model_destroy(m);
    krein_model_destroy(loaded);
    krein_model_destroy(again);
    krein_ctx_destroy(ctx);
}

static void factors_in_a_model(void) { saved_and_predicted(NULL); }
static void matrix_in_a_model(void) { saved_and_predicted((const double[]){1, -.5, .25, 2}); }

static void failing_allocations(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(2, &memory);
    const char *path = test_write("few.csv", "y,a,b\n1,2,10\n2,4,20\n3,3,30\n");
    const double A[4] = {1, 2, 3, 4};
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_encoding e = {0};
        krein_data *data = NULL;
        krein_stream *s = NULL;
        krein_block b;
        krein_status st = krein_data_open(ctx, path, NULL, &data);
        if (st == KREIN_OK) st = krein__data_scan(data, true, 0, 1, &e);
        if (st == KREIN_OK) st = krein__encoding_set_metric(ctx, &e, factors);
        if (st == KREIN_OK) st = krein__encoding_set_matrix(ctx, &e, A);
        if (st == KREIN_OK) st = krein__stream_open(data, &e, KREIN_PART_TRAIN, &s);
        if (st == KREIN_OK) st = krein__stream_next(s, &b);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(dense);
    RUN(sparse);
    RUN(open_stream);
    RUN(bounds);
    RUN(full);
    RUN(full_refused);
    RUN(factors_in_a_model);
    RUN(matrix_in_a_model);
    RUN(failing_allocations);
    return DONE();
}
