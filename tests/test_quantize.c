/* test_quantize.c -- models in a few bits: scores in whole numbers against the same model in
 * doubles, rounding for rows against rounding to the nearest, files, threads, refusals, memory. */
#include "forge.h"
#include "model.h"

#include "map/coded.h"
#include "map/deep.h"

/* 300 rows of three inputs; y a smooth function. */
static krein_data *make_data(krein_ctx *ctx) {
    krein_data_options o;
    krein_data *data = NULL;
    static float x[300 * 3];
    static double y[300];
    for (int64_t i = 0; i < 300; i++) {
        for (int64_t j = 0; j < 3; j++) x[i * 3 + j] = (float)(2 * det(i, j, .3));
        y[i] = sin(2 * (double)x[i * 3]) + (double)x[i * 3 + 1] * (double)x[i * 3 + 2];
    }
    krein_data_options_init(&o);
    o.task = KREIN_TASK_REGRESSION;
    CHECK(krein_data_from_dense(ctx, 300, 3, x, 3, y, NULL, &o, &data) == KREIN_OK);
    return data;
}

static krein_model *train(krein_ctx *ctx, const char *kernel, const char *map) {
    krein_train_options o;
    krein_model *m = NULL;
    krein_data *data = make_data(ctx);
    krein_train_options_init(&o);
    o.kernel = kernel;
    o.map = map;
    o.lambda = 1e-4;
    krein_status st = krein_train(ctx, data, &o, NULL, &m);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_data_close(data);
    return m;
}

static double *scores(krein_ctx *ctx, const krein_model *m) {
    krein_data *data = make_data(ctx);
    krein_prediction_arrays p = KREIN_SIZED(krein_prediction_arrays);
    p.capacity = 300;
    p.scores = test_new(300, sizeof *p.scores);
    CHECK(krein_predict_into(ctx, m, data, &p) == KREIN_OK && p.rows == 300);
    krein_data_close(data);
    return p.scores;
}

/* Root of the mean square of a - b, in deviations of b. */
static double off(const double *a, const double *b) {
    double mean = 0, square = 0, sum = 0;
    for (int i = 0; i < 300; i++) mean += b[i] / 300;
    for (int i = 0; i < 300; i++) square += pow(b[i] - mean, 2);
    for (int i = 0; i < 300; i++) sum += pow(a[i] - b[i], 2);
    return sqrt(sum / square);
}

/* The prediction of a model in codes, from its codes in double: phases, the nearest of the codes of
 * cosine and sine, weights. Whole numbers round a phase to 2^-16 turns: now and then a code is the
 * next one. */
static void slow_scores(const krein_model *m, const float *x, int64_t n, double *out) {
    const krein_deep *s = krein__deep(m->map);
    const krein_deep_layer *l = &s->layer[0];
    int64_t bytes = krein__packed_bytes(s->bits, l->in);
    krein_quant q = krein__quant(s->bits, -1, 1);
    uint8_t code[16];
    for (int64_t i = 0; i < n; i++) {
        out[i] = m->intercept[0];
        for (int64_t f = 0; f < l->F; f++) {
            double t = 0;
            krein__unpack(s->bits, l->in, l->codes.packed + f * bytes, code);
            for (int64_t j = 0; j < l->in; j++) {
                uint8_t in;
                float v = x[i * l->in + j] * (s->unit ? s->unit[j] : 1);
                krein__quant_codes(&s->input, 1, &v, &in);
                t += s->input.scale * ((double)in + s->input.zero) * l->codes.quant.scale *
                     ((double)code[j] + l->codes.quant.zero);
            }
            for (int sine = 0; sine < 2; sine++) {
                float wave = (float)(sine ? sin(2 * M_PI * t) : cos(2 * M_PI * t)), back;
                uint8_t c;
                krein__quant_codes(&q, 1, &wave, &c);
                krein__quant_reals(&q, 1, &c, &back);
                out[i] += krein__deep_factor(m->map) * (double)back * m->w[2 * f + sine];
            }
        }
    }
}

/* The same without the rows that differ most: one code of 1 bit is much. A code of 1 or 2 bits is
 * another for one or two of all rows and features. */
static double off_mostly(const double *a, const double *b) {
    double kept[300];
    memcpy(kept, a, sizeof kept);
    for (int k = 0; k < 6; k++) {
        int most = 0;
        for (int i = 1; i < 300; i++)
            if (fabs(kept[i] - b[i]) > fabs(kept[most] - b[most])) most = i;
        kept[most] = b[most];
    }
    return off(kept, b);
}

static void whole_numbers(void) {
    static const int bits[] = {8, 4, 2, 1};
    krein_ctx *ctx = test_ctx(2);
    krein_model *m = train(ctx, "gaussian(sigma=1)", "orf(D=96)"), *small = NULL;
    for (int b = 0; b < 4; b++) {
        krein_data *data = make_data(ctx);
        krein_stream *s = NULL;
        krein_block block;
        CHECK(krein_model_quantize(ctx, m, bits[b], data, &small) == KREIN_OK);
        krein_data_close(data);
        double *got = scores(ctx, small), want[300];
        data = make_data(ctx);
        CHECK(krein__data_match(data, &small->encoding, false) == KREIN_OK);
        CHECK(krein__stream_open(data, &small->encoding, -1, &s) == KREIN_OK);
        CHECK(krein__stream_next(s, &block) == KREIN_OK && block.x.n == 300);
        slow_scores(small, block.x.x, 300, want);
        CHECK_ELSE(off_mostly(got, want) < 3e-3, "%d bits: off by %g\n", bits[b],
                   off_mostly(got, want));
        krein__stream_close(s);
        krein_data_close(data);
        free(got);
        krein_model_destroy(small);
    }
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* The prediction of a model on kernel values in codes: exp(-|x - l|^2 / 2) of the points that the
 * codes stand for, the nearest code of that, weights. */
static void slow_values(const krein_model *m, const float *x, int64_t n, double *out) {
    const krein_coded *c = krein__coded(m->map);
    krein_rows marks = krein__map_landmarks(m->map);
    int64_t d = m->map->d;
    for (int64_t i = 0; i < n; i++) {
        out[i] = m->intercept[0];
        for (int64_t l = 0; l < marks.n; l++) {
            double square = 0;
            for (int64_t j = 0; j < d; j++) {
                uint8_t in;
                float v = x[i * d + j] * c->unit[j];
                krein__quant_codes(&c->input, 1, &v, &in);
                square += pow(c->input.scale * ((double)in + c->input.zero) / (double)c->unit[j] -
                                  (double)marks.x[l * d + j],
                              2);
            }
            double code = rint(exp(-square / 2) / c->value.scale - c->value.zero);
            code = fmax(0, fmin(255, code));
            out[i] += c->value.scale * (code + c->value.zero) * m->w[l];
        }
    }
}

/* Landmarks and training rows: whole numbers against doubles, and what is lost. */
static void kernel_values(void) {
    static const char *const which[] = {"nystrom(D=40)", "exact",
                                        "nystrom(D=40, landmarks=kmeans)"};
    static const int bits[] = {8, 4, 2, 1};
    static const double most[] = {.1, .3, .5, 1};
    krein_ctx *ctx = test_ctx(2);
    for (int w = 0; w < 3; w++) {
        krein_model *m = train(ctx, "gaussian(sigma=1)", which[w]), *small = NULL;
        double *before = scores(ctx, m);
        for (int b = 0; b < (w == 0 ? 4 : 2); b++) {
            krein_data *data = make_data(ctx);
            krein_stream *s = NULL;
            krein_block block;
            double want[300];
            CHECK(krein_model_quantize(ctx, m, bits[b], data, &small) == KREIN_OK);
            CHECK(krein__map_has_codes(small->map));
            krein_data_close(data);
            double *got = scores(ctx, small);
            data = make_data(ctx);
            CHECK(krein__data_match(data, &small->encoding, false) == KREIN_OK);
            CHECK(krein__stream_open(data, &small->encoding, -1, &s) == KREIN_OK);
            CHECK(krein__stream_next(s, &block) == KREIN_OK && block.x.n == 300);
            slow_values(small, block.x.x, 300, want);
            CHECK_ELSE(off(got, want) < 3e-3, "%s, %d bits: off by %g\n", which[w], bits[b],
                       off(got, want));
            CHECK_ELSE(off(got, before) < most[b], "%s, %d bits: %g from the model\n", which[w],
                       bits[b], off(got, before));
            krein__stream_close(s);
            krein_data_close(data);
            free(got);
            krein_model_destroy(small);
        }
        free(before);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* Landmarks in codes from the start. */
static void trained_in_codes(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *in_float = train(ctx, "gaussian(sigma=1)", "nystrom(D=40)"),
                *m = train(ctx, "gaussian(sigma=1)", "nystrom(D=40, bits=8)");
    double *want = scores(ctx, in_float), *got = scores(ctx, m);
    CHECK_ELSE(off(got, want) < .1, "%g\n", off(got, want));
    free(want), free(got);
    krein_model_destroy(in_float);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* Every map of waves; 8 bits are as good as float, and fewer lose more. */
static void maps_of_waves(void) {
    static const char *const some[] = {"rff(D=128)",    "rff(D=128, phase=yes)", "orf(D=128)",
                                       "sorf(D=128)",   "fastfood(D=128)",       "qmc(D=128)",
                                       "learned(D=128)"};
    krein_ctx *ctx = test_ctx(1);
    for (size_t w = 0; w < sizeof some / sizeof *some; w++) {
        krein_model *m = train(ctx, "gaussian(sigma=1.2)", some[w]);
        double *want = scores(ctx, m), before = 0;
        for (int bits = 8; bits >= 4; bits -= 4) {
            krein_model *small = NULL;
            krein_data *data = make_data(ctx);
            CHECK(krein_model_quantize(ctx, m, bits, data, &small) == KREIN_OK);
            double *got = scores(ctx, small), now = off(got, want);
            CHECK_ELSE(now > before && now < (bits == 8 ? 0.02 : 0.3), "%s in %d bits: %g\n",
                       some[w], bits, now);
            before = now;
            krein_data_close(data);
            free(got);
            krein_model_destroy(small);
        }
        free(want);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* Rounding for the rows beats rounding to the nearest: the same model without calibration rows, and
 * the plain codes of map=deep. */
static void rounding_pays(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = train(ctx, "gaussian(sigma=1)", "rff(D=200)"), *fitted = NULL, *blind = NULL;
    krein_data *data = make_data(ctx);
    double *want = scores(ctx, m);
    CHECK(krein_model_quantize(ctx, m, 4, data, &fitted) == KREIN_OK);
    CHECK(krein_model_quantize(ctx, m, 4, NULL, &blind) == KREIN_OK);
    double *a = scores(ctx, fitted), *b = scores(ctx, blind);
    CHECK_ELSE(off(a, want) < off(b, want), "%g and %g\n", off(a, want), off(b, want));
    free(a), free(b), free(want);
    krein_data_close(data);
    krein_model_destroy(m);
    krein_model_destroy(fitted);
    krein_model_destroy(blind);
    krein_ctx_destroy(ctx);
}

/* One value far out does not leave a few codes to all others: scores of the other rows stay. */
static void values_far_out(void) {
    enum { N = 400, D = 3 };
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o;
    krein_data_options of;
    krein_data *data = NULL;
    krein_model *m = NULL, *small = NULL;
    static float x[N * D];
    static double y[N], want[N], got[N];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < D; j++) x[i * D + j] = (float)(2 * det(i, j, .3));
        y[i] = sin(2 * (double)x[i * D]) + (double)x[i * D + 1] * (double)x[i * D + 2];
    }
    x[7 * D] = 4000;
    krein_data_options_init(&of);
    of.task = KREIN_TASK_REGRESSION;
    of.scale = KREIN_SCALE_NONE;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=1)";
    o.map = "rff(D=200)";
    o.lambda = 1e-4;
    CHECK(krein_data_from_dense(ctx, N, D, x, D, y, NULL, &of, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_model_quantize(ctx, m, 8, data, &small) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, N, D, x, D, want) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, small, N, D, x, D, got) == KREIN_OK);
    CHECK_ELSE(off(got + 8, want + 8) < .1, "off by %g\n", off(got + 8, want + 8));
    krein_data_close(data);
    krein_model_destroy(m);
    krein_model_destroy(small);
    krein_ctx_destroy(ctx);
}

/* The same scores after a file, on any number of threads; the file has b/32 of the numbers. */
static void files_and_threads(void) {
    krein_ctx *ctx = test_ctx(1), *two = test_ctx(2);
    krein_model *m = train(ctx, "gaussian(sigma=1)", "learned(D=120)"), *small, *loaded, *other;
    int64_t float_bytes = 0, bytes = 0;
    CHECK(krein_model_save_memory(ctx, m, NULL, 0, &float_bytes) == KREIN_OK);
    for (int bits = 1; bits <= 8; bits *= 2) {
        CHECK(krein_model_quantize(ctx, m, bits, NULL, &small) == KREIN_OK);
        CHECK(krein_model_quantize(two, m, bits, NULL, &other) == KREIN_OK);
        CHECK(krein_model_save(ctx, small, test_path("small.krein")) == KREIN_OK);
        CHECK(krein_model_load(ctx, test_path("small.krein"), &loaded) == KREIN_OK);
        CHECK(krein_model_save_memory(ctx, small, NULL, 0, &bytes) == KREIN_OK);
        double *a = scores(ctx, small), *b = scores(two, loaded), *c = scores(ctx, other);
        CHECK(memcmp(a, b, 300 * sizeof *a) == 0 && memcmp(a, c, 300 * sizeof *a) == 0);
        free(a), free(b), free(c);
        krein_model_destroy(small);
        krein_model_destroy(other);
        krein_model_destroy(loaded);
    }
    CHECK(bytes < float_bytes);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    krein_ctx_destroy(two);
}

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = train(ctx, "laplacian(sigma=1)", "nystrom(D=10)"), *small = NULL;
    CHECK(krein_model_quantize(ctx, m, 8, NULL, &small) == KREIN_EDATA && !small);
    CHECK_HAS(krein_message(ctx), "inner products");
    krein_model_destroy(m);
    m = train(ctx, "laplacian(sigma=1)", "binning");
    CHECK(krein_model_quantize(ctx, m, 8, NULL, &small) == KREIN_EDATA && !small);
    CHECK_HAS(krein_message(ctx), "or with nystrom");
    krein_model_destroy(m);
    m = train(ctx, "gaussian(sigma=1)", "rff(D=10)");
    CHECK(krein_model_quantize(ctx, m, 3, NULL, &small) == KREIN_EARG && !small);
    CHECK_HAS(krein_message(ctx), "8, 4, 2 or 1");
    krein_model_destroy(m);
    m = train(ctx, "gaussian(sigma=1)", "nrff(D=10)");
    CHECK(krein_model_quantize(ctx, m, 8, NULL, &small) == KREIN_EDATA && !small);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    for (int values = 0; values < 2; values++) {
        krein_model *m = train(ctx, "gaussian(sigma=1)", values ? "nystrom(D=5)" : "rff(D=12)");
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_model *small = NULL;
            krein_status st = krein_model_quantize(ctx, m, 4, NULL, &small);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            CHECK((small != NULL) == (st == KREIN_OK));
            krein_model_destroy(small);
        }
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* Loads what was forged; a model that loads must predict. */
static krein_status load_forged(krein_ctx *ctx, const parts *p, int without) {
    krein_model *m = NULL;
    put_together(ctx, p, without, test_path("forged.krein"));
    krein_status st = krein_model_load(ctx, test_path("forged.krein"), &m);
    CHECK(st == KREIN_OK || st == KREIN_EMODEL);
    if (m) free(scores(ctx, m));
    krein_model_destroy(m);
    return st;
}

static void add_part(parts *p, const char *name, krein_type type, int64_t n, const void *data) {
    part *to = &p->all[p->n++];
    *to = (part){.type = type, .n = n, .data = test_new(n * (int64_t)width(type) + 8, 1)};
    snprintf(to->name, sizeof to->name, "%s", name);
    memcpy(to->data, data, (size_t)n * width(type));
}

/* Entries of layers or landmarks and of weights: missing, of another size, out of range, not
 * finite. */
static void forge_all(krein_ctx *ctx, const char *map, int count) {
    krein_model *m = train(ctx, "gaussian(sigma=1)", map), *small = NULL;
    CHECK(krein_model_quantize(ctx, m, 4, NULL, &small) == KREIN_OK);
    test_bytes file = test_model_bytes(ctx, small);
    parts p = take_apart(&file);
    int seen = 0;
    CHECK(load_forged(ctx, &p, -1) == KREIN_OK);
    for (int i = 0; i < p.n; i++) {
        part *e = &p.all[i], old = *e;
        char keep[8];
        if (!strstr(e->name, "deep.") && !strstr(e->name, "landmarks.") &&
            strncmp(e->name, "weights.", 8) != 0)
            continue;
        seen++;
        /* without units a column is multiplied by 1 */
        CHECK(load_forged(ctx, &p, i) ==
              (strcmp(e->name, "deep.unit") == 0 ? KREIN_OK : KREIN_EMODEL));
        e->n = old.n + 1;
        CHECK(load_forged(ctx, &p, -1) == KREIN_EMODEL);
        *e = old;
        memcpy(keep, e->data, 8);
        for (int k = 0; k < 6; k++) {
            static const double reals[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300};
            static const int64_t ints[] = {-1, 0, 3, 8, 32, INT64_MAX};
            float f = (float)reals[k];
            if (e->type == KREIN_TYPE_F64) memcpy(e->data, &reals[k], 8);
            if (e->type == KREIN_TYPE_F32) memcpy(e->data, &f, 4);
            if (e->type == KREIN_TYPE_I64) memcpy(e->data, &ints[k], 8);
            bool real = e->type == KREIN_TYPE_F64 || e->type == KREIN_TYPE_F32;
            krein_status st = load_forged(ctx, &p, -1);
            CHECK_ELSE(!(real && k < 3) || st == KREIN_EMODEL, "%s %g\n", e->name, reals[k]);
            CHECK(e->type != KREIN_TYPE_I64 || k == 3 || st == KREIN_EMODEL);
        }
        memcpy(e->data, keep, 8);
    }
    CHECK_ELSE(seen == count, "%s: %d\n", map, seen);
    drop_parts(&p);
    free(file.at);
    krein_model_destroy(small);
    krein_model_destroy(m);
}

/* And a map of floats that says it has codes, with weights in codes. */
static void forged_files(void) {
    krein_ctx *ctx = test_ctx(1);
    forge_all(ctx, "rff(D=12)", 13);
    forge_all(ctx, "nystrom(D=6)", 9);
    krein_model *m = train(ctx, "gaussian(sigma=1)", "deep(D=8, layers=1)");
    test_bytes file = test_model_bytes(ctx, m);
    parts p = take_apart(&file);
    set_text(find(&p, "map"), "deep(D=8, layers=1, bits=8)", 28);
    add_part(&p, "weights.bits", KREIN_TYPE_I64, 1, &(int64_t){8});
    add_part(&p, "weights.unit", KREIN_TYPE_F64, 1, &(double){1});
    add_part(&p, "weights.codes", KREIN_TYPE_BYTES, 8, "abcdefgh");
    CHECK(load_forged(ctx, &p, -1) == KREIN_EMODEL);
    drop_parts(&p);
    free(file.at);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(whole_numbers);
    RUN(kernel_values);
    RUN(trained_in_codes);
    RUN(maps_of_waves);
    RUN(rounding_pays);
    RUN(values_far_out);
    RUN(files_and_threads);
    RUN(refusals);
    RUN(every_allocation_fails);
    RUN(forged_files);
    return DONE();
}
