/* test_transformer.c -- models without a head, models in memory, arrays of models, and checks of
 * specs without data. */
#include "model.h"
#include "train.h"

#include "map/map.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static const char gauss[] = "gaussian(sigma=1.5)",
                  difference[] = "gaussian(sigma=1) - 0.3*gaussian(sigma=4)";

static krein_train_options options(const char *kernel, const char *map) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = kernel;
    o.map = map;
    return o;
}

static test_bytes to_memory(krein_ctx *ctx, const krein_model *m) {
    test_bytes b = {NULL, 0};
    CHECK(krein_model_save_memory(ctx, m, NULL, 0, &b.n) == KREIN_OK);
    b.at = test_new(b.n, 1);
    int64_t n = 0;
    CHECK(krein_model_save_memory(ctx, m, b.at, b.n - 1, &n) == KREIN_EARG && n == b.n);
    CHECK_HAS(krein_message(ctx), "room");
    CHECK(krein_model_save_memory(ctx, m, b.at, b.n, &n) == KREIN_OK && n == b.n);
    return b;
}

static float *features(krein_ctx *ctx, const krein_model *m, const rows *r) {
    krein_data *data = open_rows(ctx, r, NULL, KREIN_TASK_REGRESSION);
    krein_model_info info = KREIN_SIZED(krein_model_info);
    int64_t n = 0;
    krein_model_describe(m, &info);
    float *z = test_new(r->n * info.D, sizeof *z);
    krein_status st = krein_model_features(ctx, m, data, z, r->n, &n);
    if (st != KREIN_OK) printf("%s: %s\n", info.map, krein_message(ctx));
    CHECK(st == KREIN_OK && n == r->n);
    krein_data_close(data);
    return z;
}

/* ---- fit ---------------------------------------------------------------- */

/* The features are those that transform writes; a model that was saved makes the same. */
static void fit_is_transform(void) {
    static const struct {
        const char *kernel, *map;
    } all[] = {{gauss, "rff(D=32)"},
               {gauss, "nystrom(D=20)"},
               {difference, "nystrom(D=30)"},
               {difference, "gorf(D=40)"},
               {"gaussian(sigma=2) + 0.1*poly(degree=2, c=1)", "auto(D=40)"},
               {"gaussian(sigma=2) - 0.1*tl1(rho=4)", "auto(D=40)"},
               {"laplacian(sigma=9)", "binning(D=2000)"},
               {"poly(degree=2, c=1)", "tensorsketch(D=32)"},
               {gauss, "aligned(D=16)"}};
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(300, .1, 5);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) {
        krein_train_options o = options(all[i].kernel, all[i].map);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_transform_report report = KREIN_SIZED(krein_transform_report),
                               written = KREIN_SIZED(krein_transform_report);
        krein_model *m = NULL, *again = NULL;
        krein_model_info info = KREIN_SIZED(krein_model_info), x = KREIN_SIZED(krein_model_info);
        krein_status st = krein_fit(ctx, data, &o, &report, &m);
        if (st != KREIN_OK) printf("%s: %s\n", all[i].map, krein_message(ctx));
        CHECK(st == KREIN_OK);
        if (st != KREIN_OK) {
            krein_data_close(data);
            continue;
        }
        krein_model_describe(m, &info);
        CHECK(info.D == report.D && info.outputs == 0 && strcmp(info.learner, "none") == 0);
        const char *path = test_path("z.npy");
        CHECK(krein_transform(ctx, data, &o, path, &written) == KREIN_OK);
        CHECK(strcmp(written.map, report.map) == 0 && written.D == report.D);
        float *z = features(ctx, m, &r);
        test_bytes file = test_slurp(path);
        int64_t bytes = r.n * info.D * 4;
        CHECK(file.n > bytes && memcmp(file.at + file.n - bytes, z, (size_t)bytes) == 0);

        test_bytes saved = test_model_bytes(ctx, m), memory = to_memory(ctx, m);
        CHECK(test_same(saved, memory));
        CHECK(krein_model_load_memory(ctx, memory.at, memory.n, &again) == KREIN_OK);
        krein_model_describe(again, &x);
        CHECK(x.D == info.D && x.outputs == 0 && x.negative == info.negative &&
              x.bytes == memory.n);
        float *same = features(ctx, again, &r);
        CHECK(memcmp(z, same, (size_t)bytes) == 0);
        krein_array a = {0}, b = {0};
        CHECK(krein_model_array(m, "signs", &a) == (info.negative > 0));
        CHECK(krein_model_array(again, "signs", &b) == (info.negative > 0));
        if (a.at && b.at) CHECK(a.bytes == b.bytes && memcmp(a.at, b.at, a.bytes) == 0);
        krein_model_destroy(again);
        krein_model_destroy(m);
        krein_transform_report_clear(ctx, &report);
        krein_transform_report_clear(ctx, &written);
        free(saved.at);
        free(memory.at);
        free(file.at);
        free(z);
        free(same);
        krein_data_close(data);
    }
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* Columns, text and labels of a file: new rows come with or without them. */
static void columns(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = options(gauss, "rff(D=16)");
    krein_model *m = NULL;
    krein_data *data = NULL;
    float z[60 * 16], w[16];
    int64_t n;
    CHECK(krein_data_open(ctx, make_file(SEVERAL, 60), NULL, &data) == KREIN_OK);
    CHECK(krein_fit(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_model_features(ctx, m, data, z, 60, &n) == KREIN_OK && n == 60);
    CHECK(krein_model_features(ctx, m, data, z, 59, &n) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "59");
    krein_data_close(data);
    char text[300];
    snprintf(text, sizeof text, "a,b,colour,c\n%.6g,%.6g,red,%.6g\n", det(0, 0, 0), det(0, 1, 0),
             det(0, 2, 0));
    CHECK(krein_data_open(ctx, test_write("new.csv", text), NULL, &data) == KREIN_OK);
    CHECK(krein_model_features(ctx, m, data, w, 1, &n) == KREIN_OK && n == 1);
    CHECK(memcmp(w, z, sizeof w) == 0);
    krein_data_close(data);
    krein_model_destroy(m);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

static krein_status ignore(void *user, const krein_prediction *p) {
    (void)user, (void)p;
    return KREIN_OK;
}

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(120, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = options(gauss, "rff(D=16)");
    krein_model *m = NULL, *exact = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    double score[120];
    float z[120 * 120];
    int64_t n;
    CHECK(krein_fit(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_predict(ctx, m, data, ignore, NULL) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "has no head");
    CHECK(krein_predict_dense(ctx, m, r.n, r.d, r.x, r.d, score) == KREIN_EARG);
    CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "has no head");
    o.map = "exact";
    CHECK(krein_fit(ctx, data, &o, NULL, &exact) == KREIN_EARG && !exact);
    o.lambda = .01;
    CHECK(krein_train(ctx, data, &o, NULL, &exact) == KREIN_OK);
    CHECK(krein_model_features(ctx, exact, data, z, r.n, &n) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "exact");
    krein_data_close(data);
    krein_model_destroy(m);
    krein_model_destroy(exact);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* A trained model has features, too, and the same ones when it was saved and loaded. */
static void trained(void) {
    static const struct {
        const char *kernel, *map;
    } all[] = {{gauss, "rff(D=16)"},
               {gauss, "nystrom(D=20)"},
               {difference, "nystrom(D=30)"},
               {"gaussian(sigma=2) + 0.1*poly(degree=2, c=1)", "auto(D=40)"},
               {"gaussian(sigma=2) - 0.1*tl1(rho=4)", "auto(D=40)"}};
    krein_ctx *ctx = test_ctx(2);
    rows r = friedman(120, .1, 5);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) {
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_train_options o = options(all[i].kernel, all[i].map);
        krein_model_info info = KREIN_SIZED(krein_model_info);
        krein_model *m = NULL, *loaded = NULL;
        o.lambda = .01;
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        test_bytes saved = to_memory(ctx, m);
        CHECK(krein_model_load_memory(ctx, saved.at, saved.n, &loaded) == KREIN_OK);
        krein_model_describe(m, &info);
        float *z = features(ctx, m, &r), *same = features(ctx, loaded, &r);
        CHECK(memcmp(z, same, (size_t)(r.n * info.D) * sizeof *z) == 0);
        free(z);
        free(same);
        free(saved.at);
        krein_model_destroy(m);
        krein_model_destroy(loaded);
        krein_data_close(data);
    }
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* A map whose features are not its raw ones can make the matrix between them again. */
static void every_mix(void) {
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = (const krein_map_class *)krein__maps[i];
        CHECK(!(c->traits & KREIN_MAP_MIX) || c->remix);
    }
}

/* Where the features cannot be written there are no signs either. */
static void both_files_or_none(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(100, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = options(difference, "gorf(D=40)");
    struct rlimit old, little;
    char path[300], signs[300];
    snprintf(path, sizeof path, "%s", test_path("both.npy"));
    snprintf(signs, sizeof signs, "%s", test_path("both.sign.npy"));
    if (getrlimit(RLIMIT_FSIZE, &old) != 0) SKIP("no limit of the size of files");
    little = old;
    little.rlim_cur = 1000; /* the signs have less, the features 16,000 bytes */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
    krein_status st = krein_transform(ctx, data, &o, path, NULL);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    signal(SIGXFSZ, handler);
    CHECK(st == KREIN_EIO);
    CHECK(access(path, F_OK) != 0 && access(signs, F_OK) != 0);
    CHECK(krein_transform(ctx, data, &o, path, NULL) == KREIN_OK);
    CHECK(access(path, F_OK) == 0 && access(signs, F_OK) == 0);
    krein_data_close(data);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

static void allocations(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = friedman(40, .1, 5);
    krein_train_options o = options(difference, "nystrom(D=8)");
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_model *m = NULL, *again = NULL;
        static char bytes[100000];
        float z[40 * 8];
        int64_t n;
        krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, NULL, &data);
        if (st == KREIN_OK) st = krein_fit(ctx, data, &o, NULL, &m);
        if (st == KREIN_OK) st = krein_model_features(ctx, m, data, z, r.n, &n);
        if (st == KREIN_OK) st = krein_model_save_memory(ctx, m, bytes, sizeof bytes, &n);
        if (st == KREIN_OK) st = krein_model_load_memory(ctx, bytes, n, &again);
        krein_model_destroy(m);
        krein_model_destroy(again);
        m = again = NULL;
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
        if (st == KREIN_OK) st = krein_model_save_memory(ctx, m, bytes, sizeof bytes, &n);
        if (st == KREIN_OK) st = krein_model_load_memory(ctx, bytes, n, &again);
        if (st == KREIN_OK) st = krein_model_features(ctx, again, data, z, r.n, &n);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
        krein_model_destroy(again);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* ---- memory ------------------------------------------------------------- */

/* From an address that is no multiple of anything; damage and wrong sizes are found. */
static void memory(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL, *again = NULL;
    CHECK(train_file(ctx, make_file(SEVERAL, 60), SEVERAL, gauss, "exact", &m) == KREIN_OK);
    test_bytes file = test_model_bytes(ctx, m), same = to_memory(ctx, m);
    CHECK(test_same(file, same));
    char *odd = test_new(file.n + 1, 1);
    memcpy(odd + 1, file.at, (size_t)file.n);
    CHECK(krein_model_load_memory(ctx, odd + 1, file.n, &again) == KREIN_OK);
    test_bytes back = to_memory(ctx, again);
    CHECK(test_same(file, back));
    krein_model_destroy(again);
    CHECK(krein_model_load_memory(ctx, file.at, file.n - 1, &again) == KREIN_EMODEL && !again);
    CHECK_HAS(krein_message(ctx), "(memory)");
    CHECK(krein_model_load_memory(ctx, file.at, 0, &again) == KREIN_EMODEL);
    CHECK(krein_model_load_memory(ctx, NULL, 0, &again) == KREIN_EMODEL);
    CHECK(krein_model_load_memory(ctx, file.at, 30, &again) == KREIN_EMODEL);
    odd[1 + file.n / 2] ^= 1;
    CHECK(krein_model_load_memory(ctx, odd + 1, file.n, &again) == KREIN_EMODEL);
    CHECK_HAS(krein_message(ctx), "checksum");
    free(odd);
    free(file.at);
    free(same.at);
    free(back.at);
    krein_model_destroy(m);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- arrays ------------------------------------------------------------- */

static krein_array get(const krein_model *m, const char *name, int type, int64_t height,
                       int64_t width) {
    krein_array a;
    bool listed = false, found = krein_model_array(m, name, &a);
    for (int64_t i = 0; krein_model_array_name(m, i); i++)
        listed = listed || strcmp(krein_model_array_name(m, i), name) == 0;
    bool good = found && listed && a.type == type && a.rows == height && a.columns == width &&
                a.bytes == (size_t)(height * width) * krein__type_size((krein_type)type);
    if (!good)
        printf("%s: found %d, listed %d, type %d, %lld x %lld\n", name, found, listed, a.type,
               (long long)a.rows, (long long)a.columns);
    CHECK(good);
    return a;
}

/* f(x) = r(x)'w + b by hand, from the arrays alone. */
static void arrays_predict(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(200, 3, 7);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_train_options o = options("gaussian(sigma=0.7)", "nystrom(D=25)");
    krein_model *m = NULL;
    krein_array a;
    krein_report report = KREIN_SIZED(krein_report);
    double score[3], error = 0;
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    const double *w = get(m, "weights", KREIN_TYPE_F64, 25, 3).at;
    const double *b = get(m, "intercepts", KREIN_TYPE_F64, 1, 3).at;
    const float *marks = get(m, "landmarks", KREIN_TYPE_F32, 25, 3).at;
    const double *classes = get(m, "classes", KREIN_TYPE_F64, 1, 3).at;
    const double *shift = get(m, "encoding.shift", KREIN_TYPE_F64, 1, 3).at;
    const float *centre = get(m, "encoding.centre", KREIN_TYPE_F32, 1, 3).at;
    const float *factor = get(m, "encoding.factor", KREIN_TYPE_F32, 1, 3).at;
    CHECK(classes[0] == 1 && classes[1] == 3 && classes[2] == 7);
    CHECK(!krein_model_array(m, "signs", &a) && !a.at);
    CHECK(!krein_model_array(m, "nothing", &a) && !krein_model_array_name(m, -1));
    CHECK(krein_predict_dense(ctx, m, 1, 3, r.x, 3, score) == KREIN_OK);
    for (int c = 0; c < 3; c++) {
        double f = b[c];
        for (int64_t i = 0; i < 25; i++) {
            double square = 0;
            for (int j = 0; j < 3; j++) {
                double x = ((double)r.x[j] - shift[j] - (double)centre[j]) * (double)factor[j];
                square += pow(x - (double)marks[i * 3 + j], 2);
            }
            f += w[i * 3 + c] * exp(-square / (2 * .7 * .7));
        }
        error = fmax(error, fabs(f - score[c]));
    }
    CHECK(error < 1e-3);
    /* The path has the lambda that was chosen, with the error that was reported. */
    CHECK(krein_model_array(m, "path.lambda", &a) && a.columns > 3);
    const double *lambda = a.at;
    const double *held = get(m, "path.error", KREIN_TYPE_F64, 1, a.columns).at;
    bool met = false;
    for (int64_t l = 0; l < a.columns; l++) {
        if (l > 0) CHECK(lambda[l] > lambda[l - 1]);
        CHECK(held[l] >= report.loo);
        met = met || (lambda[l] == report.lambda && held[l] == report.loo);
    }
    CHECK(met);
    /* A file keeps the path. */
    test_bytes saved = to_memory(ctx, m);
    krein_model *loaded = NULL;
    CHECK(krein_model_load_memory(ctx, saved.at, saved.n, &loaded) == KREIN_OK);
    const double *lambda2 = get(loaded, "path.lambda", KREIN_TYPE_F64, 1, a.columns).at;
    const double *held2 = get(loaded, "path.error", KREIN_TYPE_F64, 1, a.columns).at;
    CHECK(memcmp(lambda, lambda2, a.bytes) == 0 && memcmp(held, held2, a.bytes) == 0);
    test_bytes again = to_memory(ctx, loaded);
    CHECK(test_same(saved, again));
    krein_model_destroy(loaded);
    free(saved.at);
    free(again.at);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* z from frequencies and signs; the rest by their shapes, before and after a file. */
static void arrays_of_maps(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(150, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = options(difference, "rff(D=20)");
    krein_model *m = NULL;
    double error = 0;
    CHECK(krein_fit(ctx, data, &o, NULL, &m) == KREIN_OK);
    const float *W = get(m, "frequencies", KREIN_TYPE_F32, 6, 10).at;
    const int8_t *sign = get(m, "signs", KREIN_TYPE_BYTES, 1, 20).at;
    const double *shift = get(m, "encoding.shift", KREIN_TYPE_F64, 1, 6).at;
    const float *centre = get(m, "encoding.centre", KREIN_TYPE_F32, 1, 6).at;
    const float *factor = get(m, "encoding.factor", KREIN_TYPE_F32, 1, 6).at;
    float *z = features(ctx, m, &r);
    CHECK(sign[0] == 1 && sign[19] == -1);
    for (int64_t f = 0; f < 10; f++) {
        double turns = 0, scale = sqrt((f < 5 ? 1 : .3) / 5), turn = 6.283185307179586;
        for (int j = 0; j < 6; j++)
            turns += (double)W[j * 10 + f] * ((double)r.x[j] - shift[j] - (double)centre[j]) *
                     (double)factor[j];
        error = fmax(error, fabs(scale * cos(turn * turns) - (double)z[2 * f]));
        error = fmax(error, fabs(scale * sin(turn * turns) - (double)z[2 * f + 1]));
    }
    CHECK(error < 1e-4);
    free(z);
    krein_model_destroy(m);
    o = options("gaussian(sigma=2) + 0.1*tl1(rho=4)", "auto(D=40)");
    CHECK(krein_fit(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_array a;
    CHECK(krein_model_array(m, "0.frequencies", &a) && a.rows == 6);
    CHECK(krein_model_array(m, "1.landmarks", &a) && a.columns == 6);
    CHECK(krein_model_array(m, "mix", &a));
    krein_model_destroy(m);
    krein_data_close(data);
    /* sparse landmarks; shifts of a file; probabilities */
    CHECK(train_file(ctx, make_file(SPARSE, 60), SPARSE, gauss, "nystrom(D=12)", &m) == KREIN_OK);
    const int64_t *ptr = get(m, "landmarks.ptr", KREIN_TYPE_I64, 1, 13).at;
    get(m, "landmarks.col", KREIN_TYPE_I32, 1, ptr[12]);
    get(m, "landmarks.val", KREIN_TYPE_F32, 1, ptr[12]);
    krein_model_destroy(m);
    CHECK(train_file(ctx, make_file(NUMBERS, 60), NUMBERS, gauss, "exact", &m) == KREIN_OK);
    shift = get(m, "encoding.shift", KREIN_TYPE_F64, 1, 6).at;
    const float *mean = get(m, "encoding.centre", KREIN_TYPE_F32, 1, 6).at;
    double sum = 0;
    for (int i = 0; i < 60; i++) sum += det(i, 0, 0) / 60;
    CHECK_ABS(shift[0] + (double)mean[0], sum, 1e-5);
    CHECK(shift[2] == 0 && shift[3] == 0 && shift[4] == 0);
    krein_model_destroy(m);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* ---- checks ------------------------------------------------------------- */

static void checks(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = options(NULL, NULL);
    krein_entry e = KREIN_SIZED(krein_entry);
    CHECK(krein_check_spec(ctx, "maps", "orf(D=3)") == KREIN_OK);
    CHECK(krein_check_spec(ctx, "maps", "orf(D=0)") == KREIN_ESPEC);
    CHECK(krein_check_spec(ctx, "maps", "off") == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "orf");
    CHECK(krein_check_spec(ctx, "learners", "mkl(method=easymkl, lambda=0.2)") == KREIN_OK);
    CHECK(krein_check_spec(ctx, "learners", "mkl(method=easymkl, lambada=0.2)") == KREIN_ESPEC);
    CHECK(krein_check_spec(ctx, "learners", "svm(C=-1)") == KREIN_ESPEC);
    CHECK(krein_check_spec(ctx, "criteria", "cv(k=5)") == KREIN_OK);
    CHECK(krein_check_spec(ctx, "tables", "x") == KREIN_EARG);
    for (int64_t i = 0; krein_list(i, &e); i++) {
        krein_option_info none = KREIN_SIZED(krein_option_info);
        bool plain = !krein_list_option(i, 0, &none) || *none.default_value;
        if (plain) CHECK(krein_check_spec(ctx, e.table, e.name) == KREIN_OK);
    }
    CHECK(krein_check_kernel(ctx, difference) == KREIN_OK);
    CHECK(krein_check_kernel(ctx, "gaussian(sigma=1) - ") == KREIN_ESPEC);
    CHECK(krein_train_check(ctx, NULL) == KREIN_OK);
    o.learner = "svm";
    o.map = "rff(D=8)";
    CHECK(krein_train_check(ctx, &o) == KREIN_OK);
    o.kernel = "linear";
    CHECK(krein_train_check(ctx, &o) == KREIN_ESPEC);
    o = options(gauss, NULL);
    o.learner = "kgd";
    o.probabilities = 1; /* from rows that are kept from the training */
    CHECK(krein_train_check(ctx, &o) == KREIN_OK);
    o.probabilities = 0;
    o.checkpoint = "state";
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "checkpoint");
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- components and clusters -------------------------------------------- */

static void without_files(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(200, 2, 7);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_pca_options p;
    krein_cluster_options c;
    krein_cluster_report report = KREIN_SIZED(krein_cluster_report);
    krein_model *m = NULL;
    double score[200 * 2];
    int64_t label[200], sizes[3] = {0};
    krein_pca_options_init(&p);
    p.kernel = gauss;
    CHECK(krein_pca(ctx, data, &p, NULL, NULL, &m) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, r.n, r.d, r.x, r.d, score) == KREIN_OK);
    const double *variance = get(m, "variances", KREIN_TYPE_F64, 1, 2).at;
    for (int j = 0; j < 2; j++) {
        double square = 0;
        for (int i = 0; i < 200; i++) square += score[2 * i + j] * score[2 * i + j] / 200;
        CHECK_REL(square, variance[j], 1e-3);
    }
    krein_model_destroy(m);
    krein_cluster_options_init(&c);
    c.clusters = 3;
    CHECK(krein_cluster_labels(ctx, data, &c, label, 199, NULL, NULL) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "199");
    CHECK(krein_cluster_labels(ctx, data, &c, label, 200, &report, NULL) == KREIN_OK);
    for (int i = 0; i < 200; i++) sizes[label[i]]++;
    for (int k = 0; k < 3; k++) CHECK(sizes[k] == report.sizes[k]);
    krein_cluster_report_clear(ctx, &report);
    krein_data_close(data);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(fit_is_transform);
    RUN(columns);
    RUN(refusals);
    RUN(trained);
    RUN(every_mix);
    RUN(both_files_or_none);
    RUN(allocations);
    RUN(memory);
    RUN(arrays_predict);
    RUN(arrays_of_maps);
    RUN(checks);
    RUN(without_files);
    return DONE();
}
