/* test_network.c -- the learner net and the map network: trained models against slow code in
 * double, files, threads, bytes, features for other learners, memory, refusals. */
#include "images.h"

#include "forge.h"
#include "learn/learn.h"
#include "map/network.h"
#include "model/model.h"

static const char CONV[] = "net(arch=\"convnet(2-5)\", epochs=12, batch=20)";

static krein_train_options net(const char *learner) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.learner = learner;
    return o;
}

static krein_rows_view view_of(const images *m) {
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = m->n;
    v.d = image_size(m);
    v.x = m->x;
    v.type = KREIN_UINT8;
    v.classes = m->y;
    v.class_type = KREIN_INT32;
    return v;
}

static krein_data *open_view(krein_ctx *ctx, const krein_rows_view *v, const char *image) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    o.image = image;
    if (krein_data_from_rows(ctx, v, &o, &data) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    return data;
}

static const char *shape_text(const images *m) {
    static char text[64];
    snprintf(text, sizeof text, "%dx%dx%d", (int)m->h, (int)m->w, (int)m->c);
    return text;
}

static krein_status train_images(krein_ctx *ctx, const images *m, const krein_train_options *o,
                                 krein_report *report, krein_model **out) {
    krein_rows_view v = view_of(m);
    krein_data *data = open_view(ctx, &v, shape_text(m));
    krein_status st = krein_train(ctx, data, o, report, out);
    krein_data_close(data);
    return st;
}

static krein_model *need_model(krein_ctx *ctx, const images *m, const char *learner) {
    krein_train_options o = net(learner);
    krein_model *out = NULL;
    krein_status st = train_images(ctx, m, &o, NULL, &out);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", learner, krein_message(ctx));
    if (!out) exit(1);
    return out;
}

/* Scores of the rows, n x outputs. */
static double *scores_of(krein_ctx *ctx, const krein_model *model, const images *m) {
    krein_rows_view v = view_of(m);
    krein_data *data = open_view(ctx, &v, shape_text(m));
    double *out = test_new(m->n * model->k, sizeof *out);
    krein_prediction_arrays p = KREIN_SIZED(krein_prediction_arrays);
    p.capacity = m->n;
    p.scores = out;
    CHECK_ELSE(krein_predict_into(ctx, model, data, &p) == KREIN_OK, "%s\n", krein_message(ctx));
    krein_data_close(data);
    return out;
}

static double accuracy(const images *m, int64_t k, const double *score) {
    int64_t right = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < k; c++)
            if (score[i * k + c] > score[i * k + best]) best = c;
        right += (k == 1 ? score[i] > 0 : best) == m->y[i];
    }
    return (double)right / (double)m->n;
}

/* ---- against slow code -------------------------------------------------- */

typedef struct picture {
    int64_t h, w, c;
    double *x;
} picture;

static picture blank(int64_t h, int64_t w, int64_t c) {
    return (picture){h, w, c, test_new(h * w * c, sizeof(double))};
}
static double at(const picture *p, int64_t y, int64_t x, int64_t c) {
    return y < 0 || x < 0 || y >= p->h || x >= p->w ? 0 : p->x[(y * p->w + x) * p->c + c];
}

static picture convolve(const picture *in, const float *W, int64_t out, int64_t stride) {
    picture r = blank((in->h + stride - 1) / stride, (in->w + stride - 1) / stride, out);
    for (int64_t y = 0; y < r.h; y++)
        for (int64_t x = 0; x < r.w; x++)
            for (int64_t t = 0; t < 9; t++)
                for (int64_t c = 0; c < in->c; c++)
                    for (int64_t o = 0; o < out; o++)
                        r.x[(y * r.w + x) * out + o] +=
                            at(in, stride * y + t / 3 - 1, stride * x + t % 3 - 1, c) *
                            (double)W[(t * in->c + c) * out + o];
    return r;
}

/* Gamma, beta, mean, variance. */
static void normalise(picture *p, const float *q) {
    for (int64_t i = 0; i < p->h * p->w * p->c; i++) {
        int64_t c = i % p->c, n = p->c;
        p->x[i] =
            (p->x[i] - (double)q[2 * n + c]) / sqrt((double)q[3 * n + c] + 1e-5) * (double)q[c] +
            (double)q[n + c];
    }
}
static void cut(picture *p) {
    for (int64_t i = 0; i < p->h * p->w * p->c; i++) p->x[i] = fmax(0, p->x[i]);
}
static picture largest(const picture *in) {
    picture r = blank(in->h / 2, in->w / 2, in->c);
    for (int64_t i = 0; i < r.h * r.w * r.c; i++) {
        int64_t c = i % r.c, x = i / r.c % r.w, y = i / r.c / r.w;
        r.x[i] = fmax(fmax(at(in, 2 * y, 2 * x, c), at(in, 2 * y, 2 * x + 1, c)),
                      fmax(at(in, 2 * y + 1, 2 * x, c), at(in, 2 * y + 1, 2 * x + 1, c)));
    }
    return r;
}

/* The parameters of the next layer of that kind. */
static const float *parameters(const krein_model *m, const char *kind, int64_t *layer) {
    char name[64];
    krein_array a;
    for (; *layer < 200; ++*layer) {
        snprintf(name, sizeof name, "%s.%d", kind, (int)*layer + 1);
        if (krein_model_array(m, name, &a)) {
            ++*layer;
            return a.at;
        }
    }
    printf("no %s\n", kind);
    exit(1);
}

static picture conv_block(const krein_model *m, const picture *in, int64_t out, int64_t stride,
                          int64_t *conv, int64_t *norm) {
    picture r = convolve(in, parameters(m, "conv", conv), out, stride);
    normalise(&r, parameters(m, "batchnorm", norm));
    return r;
}

static void finish(const krein_model *m, const picture *z, double *score) {
    krein_array w, b;
    CHECK(krein_model_array(m, "weights", &w) && krein_model_array(m, "intercepts", &b));
    CHECK(w.rows == z->h * z->w * z->c);
    for (int64_t c = 0; c < m->k; c++) {
        score[c] = ((const double *)b.at)[c];
        for (int64_t i = 0; i < w.rows; i++)
            score[c] += z->x[i] * ((const double *)w.at)[i * m->k + c];
    }
}

/* An image as the encoding says. */
static picture encoded(const krein_model *m, const images *all, int64_t i) {
    picture p = blank(all->h, all->w, all->c);
    for (int64_t j = 0; j < image_size(all); j++)
        p.x[j] = ((double)all->x[i * image_size(all) + j] - (double)m->encoding.centre[j]) *
                 (double)m->encoding.factor[j];
    return p;
}

static void slow_convnet(const krein_model *m, const images *all, int64_t i, double *score) {
    picture p = encoded(m, all, i), next;
    int64_t conv = 0, norm = 0;
    for (int l = 0; l < 2; l++) {
        next = conv_block(m, &p, 5, 1, &conv, &norm);
        free(p.x);
        cut(&next);
        p = largest(&next);
        free(next.x);
    }
    finish(m, &p, score);
    free(p.x);
}

/* resnet(8): one block a stage. */
static void slow_resnet(const krein_model *m, const images *all, int64_t i, double *score) {
    picture p = encoded(m, all, i), next, mean;
    int64_t conv = 0, norm = 0;
    next = conv_block(m, &p, 16, 1, &conv, &norm);
    free(p.x);
    cut(&next);
    p = next;
    for (int64_t stage = 0; stage < 3; stage++) {
        int64_t width = 16 << stage, stride = stage > 0 ? 2 : 1, side = (width - p.c) / 2;
        picture a = conv_block(m, &p, width, stride, &conv, &norm);
        cut(&a);
        next = conv_block(m, &a, width, 1, &conv, &norm);
        for (int64_t e = 0; e < next.h * next.w * p.c; e++) {
            int64_t c = e % p.c, x = e / p.c % next.w, y = e / p.c / next.w;
            next.x[(y * next.w + x) * width + side + c] += at(&p, stride * y, stride * x, c);
        }
        cut(&next);
        free(a.x), free(p.x);
        p = next;
    }
    mean = blank(1, 1, p.c);
    for (int64_t e = 0; e < p.h * p.w * p.c; e++) mean.x[e % p.c] += p.x[e] / (double)(p.h * p.w);
    finish(m, &mean, score);
    free(mean.x), free(p.x);
}

/* What a model predicts is what its parameters say. */
static void slow(void) {
    static const struct {
        const char *learner;
        void (*score)(const krein_model *m, const images *all, int64_t i, double *score);
    } all[] = {{"net(arch=\"convnet(2-5)\", epochs=4, batch=20)", slow_convnet},
               {"net(arch=\"resnet(8)\", epochs=2, batch=20)", slow_resnet}};
    krein_ctx *ctx = test_ctx(2);
    images m = stripes(test_sanitized() ? 45 : 90, 8, 8, 2, 3, 1);
    for (int a = 0; a < 2; a++) {
        krein_model *model = need_model(ctx, &m, all[a].learner);
        double *got = scores_of(ctx, model, &m), want[3];
        for (int64_t i = 0; i < m.n; i++) {
            all[a].score(model, &m, i, want);
            for (int c = 0; c < 3; c++)
                CHECK_ABS(got[3 * i + c], want[c], 3e-5 * (1 + fabs(want[c])));
        }
        free(got);
        krein_model_destroy(model);
    }
    drop_images(&m);
    krein_ctx_destroy(ctx);
}

/* ---- it learns ---------------------------------------------------------- */

static void learns(void) {
    static const char *const learner[] = {
        "net(epochs=12, batch=20)", "net(arch=\"convnet(2-6-6)\", epochs=12, batch=20)",
        "net(arch=\"convnet(2-6-6)\", epochs=12, batch=20, optimizer=sgd, rate=0.05, momentum=0.8)",
        "net(arch=\"resnet(8)\", epochs=5, batch=20)",
        "net(arch=\"convnet(2-6-6)\", epochs=12, batch=20, loss=hinge)"};
    krein_ctx *ctx = test_ctx(2);
    images m = stripes(300, 8, 8, 2, 3, 2), other = stripes(200, 8, 8, 2, 3, 3);
    for (size_t i = 0; i < sizeof learner / sizeof *learner; i++) {
        if (test_sanitized() && i == 3) continue; /* the longest; `slow` trains one, too */
        krein_model *model = need_model(ctx, &m, learner[i]);
        double *score = scores_of(ctx, model, &other);
        CHECK_ELSE(accuracy(&other, 3, score) > .9, "%s: accuracy %g\n", learner[i],
                   accuracy(&other, 3, score));
        free(score);
        krein_model_destroy(model);
    }
    drop_images(&m), drop_images(&other);
    krein_ctx_destroy(ctx);
}

/* Numbers: how bright the left half is, by the refit; and a table by a perceptron. */
static void numbers(void) {
    krein_ctx *ctx = test_ctx(2);
    images m = stripes(400, 8, 8, 1, 2, 4);
    krein_rows_view v = view_of(&m);
    double *y = test_new(m.n, sizeof *y), *f = test_new(m.n, sizeof *f), off = 0, spread = 0;
    for (int64_t i = 0; i < m.n; i++)
        for (int64_t e = 0; e < 64; e++) y[i] += e % 8 < 4 ? m.x[64 * i + e] / 32.0 : 0;
    v.classes = NULL;
    v.targets = y;
    v.ntargets = 1;
    for (int table = 0; table < 2; table++) {
        krein_train_options o = net(table ? "net(arch=\"mlp(16)\", epochs=30, batch=20)"
                                          : "net(arch=\"convnet(1-8)\", epochs=30, batch=20)");
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *model = NULL;
        krein_data *data = open_view(ctx, &v, table ? NULL : "8x8");
        CHECK_ELSE(krein_train(ctx, data, &o, &report, &model) == KREIN_OK, "%s\n",
                   krein_message(ctx));
        if (!model) exit(1);
        krein_prediction_arrays p = KREIN_SIZED(krein_prediction_arrays);
        p.capacity = m.n;
        p.scores = f;
        CHECK(krein_predict_into(ctx, model, data, &p) == KREIN_OK);
        off = spread = 0;
        double mean = 0;
        for (int64_t i = 0; i < m.n; i++) mean += y[i] / (double)m.n;
        for (int64_t i = 0; i < m.n; i++) {
            off += pow(f[i] - y[i], 2);
            spread += pow(y[i] - mean, 2);
        }
        CHECK_ELSE(off < .1 * spread, "%s: %g of the variance\n", o.learner, off / spread);
        CHECK(isfinite(report.refit) && model->encoding.image[0] == (table ? 0 : 8));
        krein_report_clear(ctx, &report);
        krein_model_destroy(model);
        krein_data_close(data);
    }
    free(y), free(f);
    drop_images(&m);
    krein_ctx_destroy(ctx);
}

/* ---- the same bytes ----------------------------------------------------- */

static test_bytes bytes_from(int threads, krein_keep keep, const char *path, const char *labels,
                             const char *image, const char *learner) {
    test_bytes out = {0};
    krein_ctx *ctx = test_ctx(threads);
    krein_model *m = NULL;
    krein_data *data = NULL;
    krein_data_options d;
    krein_train_options o = net(learner);
    ctx->keep_rows = keep;
    krein_data_options_init(&d);
    d.labels_file = labels;
    d.image = image;
    d.task = KREIN_TASK_CLASSIFICATION;
    CHECK(krein_data_open(ctx, path, &d, &data) == KREIN_OK);
    CHECK_ELSE(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK, "%s\n", krein_message(ctx));
    krein_data_close(data);
    if (m) out = test_model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return out;
}

/* Threads, rows that are kept or read again, bytes or floats, a shape in the file or beside it. */
static void same_bytes(void) {
    images m = stripes(150, 8, 8, 2, 3, 5);
    float *f = as_floats(&m);
    char x[320], y[320], flat[320];
    snprintf(x, sizeof x, "%s", write_images("x.npy", &m));
    snprintf(y, sizeof y, "%s", write_classes("y.npy", &m));
    snprintf(flat, sizeof flat, "%s",
             write_npy("f.npy", "<f4", "(150, 128)", false, f, 4 * 150 * 128));
    static const char *const learner[] = {
        CONV, "net(arch=\"resnet(8)\", epochs=2, batch=30, clip=1)",
        "net(arch=\"mlp(12-9)\", epochs=3, optimizer=sgd, rate=0.01)"};
    for (int i = 0; i < 3; i++) {
        test_bytes a = bytes_from(1, KREIN_KEEP_MEMORY, x, y, NULL, learner[i]);
        test_bytes all[] = {bytes_from(2, KREIN_KEEP_MEMORY, x, y, NULL, learner[i]),
                            bytes_from(2, KREIN_KEEP_STREAM, x, y, "8x8x2", learner[i]),
                            bytes_from(1, KREIN_KEEP_MEMORY, flat, y, "8x8x2", learner[i])};
        for (int k = 0; k < 3; k++) {
            CHECK_ELSE(test_same(a, all[k]), "%s, %d\n", learner[i], k);
            free(all[k].at);
        }
        free(a.at);
    }
    free(f);
    drop_images(&m);
}

/* ---- files, features, other learners ------------------------------------ */

static void files(void) {
    krein_ctx *ctx = test_ctx(2);
    images m = stripes(150, 8, 8, 2, 3, 6);
    krein_model *model = need_model(ctx, &m, CONV), *loaded = NULL, *other = NULL;
    krein_rows_view v = view_of(&m);
    double *a = scores_of(ctx, model, &m), *b;
    krein_array w;
    CHECK(krein_model_save(ctx, model, test_path("m.krein")) == KREIN_OK);
    CHECK(krein_model_load(ctx, test_path("m.krein"), &loaded) == KREIN_OK);
    if (!loaded) exit(1);
    b = scores_of(ctx, loaded, &m);
    CHECK(memcmp(a, b, (size_t)(3 * m.n) * sizeof *a) == 0);
    free(b);
    /* scores are features times weights */
    krein_data *data = open_view(ctx, &v, "8x8x2");
    int64_t n, D = loaded->map->D;
    float *z = test_new(m.n * D, sizeof *z), *again = test_new(m.n * D, sizeof *z);
    CHECK(krein_model_features(ctx, loaded, data, z, m.n, &n) == KREIN_OK && n == m.n);
    CHECK(D == 2 * 2 * 5 && krein_model_array(loaded, "weights", &w) && w.rows == D);
    for (int64_t i = 0; i < m.n; i++)
        for (int64_t c = 0; c < 3; c++) {
            double sum = loaded->intercept[c];
            for (int64_t j = 0; j < D; j++)
                sum += (double)z[i * D + j] * ((const double *)w.at)[j * 3 + c];
            CHECK_ABS(a[3 * i + c], sum, 1e-5 * (1 + fabs(sum)));
        }
    /* the same features for another learner, by either name */
    char spec[400];
    for (int k = 0; k < 2; k++) {
        krein_train_options o = net("krr");
        snprintf(spec, sizeof spec, "%s(file=\"%s\")", k ? "learned" : "network",
                 test_path("m.krein"));
        o.map = spec;
        krein_status st = krein_train(ctx, data, &o, NULL, &other);
        CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(ctx));
        if (!other) exit(1);
        CHECK(krein__map_is_network(other->map));
        CHECK(krein_model_features(ctx, other, data, again, m.n, &n) == KREIN_OK);
        CHECK(memcmp(z, again, (size_t)(m.n * D) * sizeof *z) == 0);
        b = scores_of(ctx, other, &m);
        CHECK(accuracy(&m, 3, b) > .9);
        free(b);
        krein_model_destroy(other);
        other = NULL;
    }
    /* and to go on from: after a step of next to no length they are as they were */
    krein_train_options o = net("net(epochs=1, rate=1e-12, decay=0, patience=0)");
    o.map = spec;
    CHECK_ELSE(krein_train(ctx, data, &o, NULL, &other) == KREIN_OK, "%s\n", krein_message(ctx));
    if (!other) exit(1);
    const krein_net *was = krein__network(loaded->map), *is = krein__network(other->map);
    CHECK(was->count == is->count && was->layer[0].parameters == 9 * 2 * 5);
    for (int64_t i = 0; i < was->layer[0].parameters; i++)
        CHECK_ABS((double)is->p[i], (double)was->p[i], 1e-6);
    krein_model_destroy(other);
    free(a), free(z), free(again);
    krein_data_close(data);
    krein_model_destroy(model);
    krein_model_destroy(loaded);
    drop_images(&m);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* What was chosen, given back, is the same model. */
static void choice(void) {
    krein_ctx *ctx = test_ctx(1);
    images m = stripes(120, 8, 8, 2, 3, 7);
    krein_train_options o = net("net(epochs=2)");
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *model = NULL, *again = NULL;
    CHECK(train_images(ctx, &m, &o, &report, &model) == KREIN_OK);
    if (!model) exit(1);
    CHECK_HAS(report.learner, "arch=\"convnet(2-32-32)\"");
    CHECK_HAS(report.map, "network(arch=\"convnet(2-32-32)\")");
    CHECK_HAS(report.kernel, "linear");
    o.learner = report.learner;
    o.kernel = report.kernel;
    o.map = report.map;
    CHECK(train_images(ctx, &m, &o, NULL, &again) == KREIN_OK);
    test_bytes a = test_model_bytes(ctx, model), b = test_model_bytes(ctx, again);
    CHECK(test_same(a, b));
    free(a.at), free(b.at);
    krein_report_clear(ctx, &report);
    krein_model_destroy(model);
    krein_model_destroy(again);
    drop_images(&m);
    krein_ctx_destroy(ctx);
}

/* Files with a right checksum and wrong numbers. */
static void forged(void) {
    krein_ctx *ctx = test_ctx(1);
    images m = stripes(60, 8, 8, 2, 3, 8);
    krein_model *model = need_model(ctx, &m, "net(arch=\"convnet(2-5)\", epochs=1)"), *loaded;
    test_bytes file = test_model_bytes(ctx, model);
    static const struct {
        const char *name, *text;
        int64_t value;
    } all[] = {{"network.arch", "convnet(3-5)", 0},
               {"network.arch", "convnet(2-5-5-5-5-5-5)", 0},
               {"network.arch", "convnet(2-9999999)", 0},
               {"network.arch", "convnet", 0},
               {"network.arch", "resnet(9)", 0},
               {"network.arch", "mlp(9999999-9999999)", 0},
               {"network.arch", "", 0},
               {"network.height", NULL, 4},
               {"network.height", NULL, 1LL << 40},
               {"network.width", NULL, 0},
               {"network.channels", NULL, 1},
               {"encoding.height", NULL, 4},
               {"encoding.channels", NULL, 1 << 20},
               {"map.R", NULL, 19},
               {"map.D", NULL, 80}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        parts p = take_apart(&file);
        part *one = find(&p, all[i].name);
        loaded = NULL;
        if (all[i].text)
            set_text(one, all[i].text, (int64_t)strlen(all[i].text) + 1);
        else
            set_int(one, all[i].value);
        put_together(ctx, &p, -1, test_path("forged.krein"));
        krein_status st = krein_model_load(ctx, test_path("forged.krein"), &loaded);
        CHECK_ELSE(st == KREIN_EMODEL || st == KREIN_EMEMORY, "%s: %d %s\n", all[i].name, (int)st,
                   krein_message(ctx));
        CHECK(!loaded);
        drop_parts(&p);
    }
    /* without one of them */
    parts p = take_apart(&file);
    for (int k = 0; k < p.n; k++) {
        if (strncmp(p.all[k].name, "network.", 8) != 0) continue;
        put_together(ctx, &p, k, test_path("forged.krein"));
        CHECK(krein_model_load(ctx, test_path("forged.krein"), &loaded) == KREIN_EMODEL);
    }
    drop_parts(&p);
    free(file.at);
    krein_model_destroy(model);
    drop_images(&m);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- what goes wrong ---------------------------------------------------- */

static void refusals(void) {
    static const struct {
        const char *learner, *map, *kernel, *image;
        double lambda;
        krein_status status;
        const char *part;
    } all[] = {
        {"net(arch=\"convnet(3-4)\")", NULL, NULL, "8x8x2", -1, KREIN_ESPEC,
         "the images have 2 channels"},
        {"net(arch=\"convnet(2-4)\")", NULL, NULL, NULL, -1, KREIN_EDATA, "`image=32x32x3`"},
        {"net(arch=\"resnet(20)\")", NULL, NULL, NULL, -1, KREIN_EDATA, "`image=32x32x3`"},
        {"net(arch=\"convnet(2-4-4-4)\")", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "maxpool"},
        {"net(arch=\"resnet(10)\")", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "6 m + 2"},
        {"net(arch=\"vgg(16)\")", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "convnet, resnet and mlp"},
        {"net(arch=\"mlp(4-\")", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "number"},
        {"net(arch=3)", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "name"},
        {"net(arch=\"mlp(4)\")", "rff", NULL, "8x8x2", -1, KREIN_EARG, "leave `map` out"},
        {"net(arch=\"mlp(4)\")", "exact", NULL, "8x8x2", -1, KREIN_EARG, "leave `map` out"},
        {"net(arch=\"mlp(4)\")", "network(arch=\"mlp(5)\")", NULL, "8x8x2", -1, KREIN_EARG,
         "leave `map` out"},
        {"net(arch=\"mlp(4)\")", NULL, "gaussian", "8x8x2", -1, KREIN_ESPEC, "linear kernel"},
        {"net(arch=\"mlp(4)\", momentum=0.5)", NULL, NULL, "8x8x2", -1, KREIN_EARG,
         "optimizer=sgd"},
        {"net(arch=\"mlp(4)\", decay=-1)", NULL, NULL, "8x8x2", -1, KREIN_ESPEC, "decay"},
        {"net(arch=\"mlp(4)\")", NULL, NULL, "8x8x2", .1, KREIN_EARG, "lambda"},
        {"net(arch=\"mlp(4)\")", NULL, NULL, "8x8x3", -1, KREIN_EDATA, "192 numbers"},
        {"krr", "network(file=\"nowhere.krein\")", NULL, "8x8x2", -1, KREIN_EIO, "nowhere"},
        {"krr", "network(arch=\"convnet(1)\")", NULL, "8x8x2", -1, KREIN_ESPEC, "channels"}};
    krein_ctx *ctx = test_ctx(1);
    images m = stripes(60, 8, 8, 2, 2, 9);
    krein_rows_view v = view_of(&m);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_train_options o = net(all[i].learner);
        krein_model *model = NULL;
        o.map = all[i].map;
        o.kernel = all[i].kernel;
        o.lambda = all[i].lambda;
        krein_data *data = open_view(ctx, &v, all[i].image);
        krein_status st = krein_train(ctx, data, &o, NULL, &model);
        CHECK_ELSE(st == all[i].status, "%s: %d %s\n", all[i].learner, (int)st, krein_message(ctx));
        CHECK_HAS(krein_message(ctx), all[i].part);
        krein_model_destroy(model);
        krein_data_close(data);
        CHECK(atomic_load(&ctx->held) == 0);
    }
    /* a model of other images, and one without a network */
    krein_model *model = need_model(ctx, &m, "net(arch=\"mlp(4)\", epochs=1)");
    CHECK(krein_model_save(ctx, model, test_path("m.krein")) == KREIN_OK);
    krein_model_destroy(model);
    model = need_model(ctx, &m, "krr");
    CHECK(krein_model_save(ctx, model, test_path("krr.krein")) == KREIN_OK);
    krein_model_destroy(model);
    static const struct {
        const char *file, *image;
        krein_status status;
        const char *part;
    } files[] = {{"m.krein", "4x16x2", KREIN_EDATA, "rows of 8x8x2, and the data have 4x16x2"},
                 {"krr.krein", "8x8x2", KREIN_EARG, "has no network"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        krein_train_options o = net("krr");
        char spec[400];
        model = NULL;
        snprintf(spec, sizeof spec, "network(file=\"%s\")", test_path(files[i].file));
        o.map = spec;
        krein_data *data = open_view(ctx, &v, files[i].image);
        CHECK(krein_train(ctx, data, &o, NULL, &model) == files[i].status && !model);
        CHECK_HAS(krein_message(ctx), files[i].part);
        krein_data_close(data);
    }
    drop_images(&m);
    krein_ctx_destroy(ctx);
}

/* A rate that diverges, batches of all rows and of few, few rows, constant images: a model comes
 * out, and what is wrong is said. */
static void odd_input(void) {
    static const struct {
        const char *learner, *said;
        int64_t n;
        bool constant;
    } all[] = {{"net(rate=1e30, optimizer=sgd, epochs=2)", "rate=1e+30 is too large", 100, false},
               {"net(batch=100000, epochs=3)", "3 steps", 100, false},
               {"net(batch=1, epochs=2, arch=\"convnet(2)\")", "steps", 50, false},
               {"net(epochs=3)", "3 epochs", 12, false},
               {"net(epochs=3)", "epochs", 60, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        images m = stripes(all[i].n, 4, 4, 2, 2, 10);
        if (all[i].constant) memset(m.x, 7, (size_t)(m.n * image_size(&m)));
        krein_model *model = need_model(ctx, &m, all[i].learner);
        CHECK_HAS(log.text, all[i].said);
        double *score = scores_of(ctx, model, &m);
        for (int64_t j = 0; j < m.n; j++) CHECK(isfinite(score[j]));
        free(score);
        krein_model_destroy(model);
        drop_images(&m);
        krein_ctx_destroy(ctx);
    }
}

static void plan_bounds_the_memory(void) {
    static const char *const learner[] = {"net(arch=\"convnet(3-16-16)\", epochs=1)",
                                          "net(arch=\"resnet(8)\", epochs=1, batch=16)",
                                          "net(arch=\"mlp(20-10)\", epochs=1, clip=1)"};
    images m = stripes(test_sanitized() ? 300 : 1500, 12, 12, 3, 3, 11);
    for (int i = 0; i < 3; i++) {
        krein_ctx *one = test_ctx(1 + i % 2), *two = test_ctx(1 + i % 2);
        krein_report plan = KREIN_SIZED(krein_report);
        krein_train_options o = net(learner[i]);
        krein_rows_view v = view_of(&m);
        krein_model *model = NULL;
        krein_data *data = open_view(one, &v, "12x12x3");
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        krein_data_close(data);
        CHECK(train_images(two, &m, &o, NULL, &model) == KREIN_OK);
        CHECK_ELSE(krein_ctx_peak_bytes(two) <= plan.bytes_peak, "%s: %.0f bytes, planned %.0f\n",
                   learner[i], (double)krein_ctx_peak_bytes(two), (double)plan.bytes_peak);
        krein_report_clear(one, &plan);
        krein_model_destroy(model);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
    }
    drop_images(&m);
}

static void every_allocation(void) {
    images m = stripes(48, 4, 4, 1, 2, 12);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_train_options o = net("net(arch=\"convnet(1-2)\", epochs=1, loss=hinge)");
    krein_rows_view v = view_of(&m);
    krein_data_options d;
    o.probabilities = true;
    krein_data_options_init(&d);
    d.image = "4x4x1";
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_model *model = NULL;
        krein_status st = krein_data_from_rows(ctx, &v, &d, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &model);
        /* what it takes is then not known, and it goes on */
        CHECK(st == KREIN_OK || (st == KREIN_EMEMORY && test_has_failed(&memory)));
        krein_model_destroy(model);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
    drop_images(&m);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(slow);
    RUN(learns);
    RUN(numbers);
    RUN(same_bytes);
    RUN(files);
    RUN(choice);
    RUN(forged);
    RUN(refusals);
    RUN(odd_input);
    RUN(plan_bounds_the_memory);
    RUN(every_allocation);
    return DONE();
}
