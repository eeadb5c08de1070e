/* test_deep.c -- the learner deep: layers in codes against slow code in double, training in float
 * and in a few bits, predictions in whole numbers against the net's, files, memory, refusals. */
#include "train.h"

#include "learn/learn.h"
#include "map/deep.h"
#include "model/model.h"
#include "net/codes.h"
#include "net/fit.h"

static const int BITS[] = {8, 4, 2, 1};

static krein_train_options deep(const char *learner) {
    krein_train_options o = defaults();
    o.learner = learner;
    o.kernel = "gaussian(sigma=2)";
    return o;
}

/* ---- layers ------------------------------------------------------------- */

/* Layers of F[l] frequencies and a head of one score, in so many bits (32: float). */
static void make(krein_ctx *ctx, int64_t in, int layers, const int64_t *F, int bits,
                 krein_net *net) {
    char spec[80];
    krein__net_begin(ctx, in, net);
    for (int l = 0; l <= layers; l++) {
        snprintf(spec, sizeof spec,
                 l < layers ? "spectral(width=%d, spectrum=stationary, sines=yes)"
                            : "affine(width=%d)",
                 l < layers ? (int)(2 * F[l]) : 1);
        CHECK(krein__net_add(net, spec) == KREIN_OK);
        if (bits != 32) CHECK(krein__net_in_codes(net, bits) == KREIN_OK);
    }
    CHECK(krein__net_ready(net) == KREIN_OK);
}

/* Weight from input i to frequency f of layer l. */
static float *weight(krein_net *net, int64_t l, int64_t i, int64_t f) {
    return net->p + net->layer[l].first + krein__panel_index(net->layer[l].in, i, f);
}

/* FORMULAS 14: two layers, unscaled, first all cosines and then all sines; here they are in pairs
 * and divided by the root of their number. */
static void reference_gradients(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    krein_net_work work = {0};
    float x[3];
    make(ctx, 3, 2, (int64_t[]){4, 5}, 32, &net);
    for (int j = 0; j < 3; j++) x[j] = (float)det(0, j, .2);
    for (int i = 0; i < 3; i++)
        for (int f = 0; f < 4; f++) *weight(&net, 0, i, f) = (float)det(i, f, 0);
    for (int i = 0; i < 8; i++)
        for (int f = 0; f < 5; f++)
            *weight(&net, 1, i % 4 * 2 + i / 4, f) = (float)(2 * det(i, f, .4));
    float *w = net.p + net.layer[2].first;
    for (int i = 0; i < 10; i++) w[i % 5 * 2 + i / 5] = (float)(sqrt(5) * det(0, i, .8));
    w[10] = .1f;
    CHECK(krein__net_work_begin(&net, 1, true, &work) == KREIN_OK);
    krein_rows row = krein__rows_dense(1, 3, x, 3);
    krein__net_load(&work, &row, NULL, 1);
    double off = (double)krein__net_forward(&work, 1)[0] - .7, norm[2] = {0, 0};
    CHECK_REL(.5 * off * off, .387027006604, 3e-6);
    float *g = test_new(net.count, sizeof *g);
    work.gradient[2][0] = (float)off;
    for (int64_t l = 2; l >= 0; l--) {
        krein__net_backward(&work, l);
        krein__net_gradient(&work, l, krein__net_store_part, g);
    }
    for (int64_t l = 0; l < 2; l++)
        for (int64_t i = 0; i < net.layer[l].in; i++)
            for (int64_t f = 0; f < 4 + l; f++)
                norm[l] += pow((double)g[weight(&net, l, i, f) - net.p], 2);
    CHECK_REL(sqrt(norm[0]), 1.251954903057, 3e-6);
    CHECK_REL(2 * sqrt(norm[1]), 3.337385689038, 3e-6);
    free(g);
    krein__net_work_end(&work);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
}

/* Rounded in double; *gap: how far from the middle between two codes, in steps, at least. */
static double rounded(int bits, double lo, double hi, double x, double *gap) {
    double top = (double)((1 << bits) - 1), c = (hi - lo) / top, v = (x - lo) / c;
    v = fmax(0, fmin(top, v));
    if (gap) *gap = fmin(*gap, fabs(v - floor(v) - .5));
    return lo + c * rint(v);
}

enum { IN = 5, FA = 40, FB = 33, ROWS = 50 };
typedef struct slow {
    double a[IN * FA], b[2 * FA * FB], w[2 * FB];    /* weights as they are used */
    double ga[IN * FA], gb[2 * FA * FB], gw[2 * FB]; /* gradients of the sum of the scores */
    double score[ROWS], gap;
} slow;

/* Two layers and a head in codes, and straight-through gradients (FORMULAS 14). */
static void slow_pass(slow *s, int bits, const float *x) {
    double root[] = {sqrt(FA), sqrt(FB)};
    memset(s->ga, 0, sizeof s->ga), memset(s->gb, 0, sizeof s->gb), memset(s->gw, 0, sizeof s->gw);
    s->gap = 1;
    for (int r = 0; r < ROWS; r++) {
        double ta[FA], tb[FB], sa[2 * FA], sb[2 * FB], g[2 * FA] = {0}, in[IN];
        for (int i = 0; i < IN; i++) in[i] = rounded(8, -1, 1, (double)x[r * IN + i], NULL);
        for (int f = 0; f < FA; f++) {
            ta[f] = 0;
            for (int i = 0; i < IN; i++) ta[f] += in[i] * s->a[i * FA + f];
            for (int q = 0; q < 2; q++)
                sa[2 * f + q] =
                    rounded(bits, -1, 1, q ? sin(ta[f]) : cos(ta[f]), &s->gap) / root[0];
        }
        s->score[r] = .1;
        for (int f = 0; f < FB; f++) {
            tb[f] = 0;
            for (int i = 0; i < 2 * FA; i++) tb[f] += sa[i] * s->b[i * FB + f];
            for (int q = 0; q < 2; q++) {
                sb[2 * f + q] =
                    rounded(bits, -1, 1, q ? sin(tb[f]) : cos(tb[f]), &s->gap) / root[1];
                s->score[r] += sb[2 * f + q] * s->w[2 * f + q];
                s->gw[2 * f + q] += sb[2 * f + q];
            }
            double phase = (-s->w[2 * f] * sin(tb[f]) + s->w[2 * f + 1] * cos(tb[f])) / root[1];
            for (int i = 0; i < 2 * FA; i++) {
                s->gb[i * FB + f] += sa[i] * phase;
                g[i] += s->b[i * FB + f] * phase;
            }
        }
        for (int f = 0; f < FA; f++) {
            double phase = (-g[2 * f] * sin(ta[f]) + g[2 * f + 1] * cos(ta[f])) / root[0];
            for (int i = 0; i < IN; i++) s->ga[i * FA + f] += in[i] * phase;
        }
    }
}

/* The range of n weights: a deviations around the mean, but no wider than they are. */
static void range_of(int bits, bool even, int64_t n, const double *w, double *lo, double *hi) {
    double a = bits == 8 ? 3.924 : bits == 4 ? 2.514 : bits == 2 ? 1.494 : .798;
    double mean = 0, square = 0, least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        mean += w[i] / (double)n;
        square += w[i] * w[i] / (double)n;
        least = fmin(least, w[i]);
        most = fmax(most, w[i]);
    }
    double deviation = sqrt(square - mean * mean);
    *lo = fmax(least, mean - a * deviation);
    *hi = fmin(most, mean + a * deviation);
    if (even) *hi = fmin(fmax(-least, most), a * sqrt(square)), *lo = -*hi;
}

/* Rounds n weights, where[i] of the net; the gradients that must be 0 are. */
static void round_slowly(krein_net *net, int64_t l, int bits, int64_t n, float *const *where,
                         double *w) {
    double lo, hi, gap = 1;
    for (int64_t i = 0; i < n; i++) w[i] = (double)*where[i];
    range_of(bits, net->layer[l].even, n, w, &lo, &hi);
    const krein_quant *q = net->layer[l].quant;
    CHECK_ABS(q->scale * q->zero, lo, 1e-5);
    CHECK_ABS(q->scale * (q->zero + (double)((1 << bits) - 1)), hi, 1e-5);
    for (int64_t i = 0; i < n; i++) {
        double v = rounded(bits, lo, hi, w[i], &gap);
        if (gap > 1e-3)
            CHECK_ABS((double)krein__layer_parameters(net, l)[where[i] - net->p], v, 1e-5);
        gap = 1;
        w[i] = (double)krein__layer_parameters(net, l)[where[i] - net->p];
    }
}

static void layers_in_codes(void) {
    for (int b = 0; b < 4; b++) {
        krein_ctx *ctx = test_ctx(2);
        krein_net net;
        krein_net_work work = {0};
        static slow s;
        int bits = BITS[b];
        float x[ROWS * IN], unit[IN], *where[2 * FA * FB];
        make(ctx, IN, 2, (int64_t[]){FA, FB}, bits, &net);
        for (int i = 0; i < IN; i++) unit[i] = 1 / (float)(1 << i);
        for (int i = 0; i < ROWS * IN; i++)
            x[i] = (float)(1.2 * det(i / IN, i % IN, .6)); /* some are cut */
        for (int i = 0; i < IN * FA; i++)
            *weight(&net, 0, i / FA, i % FA) = (float)(.3 + 1.5 * det(i, 7 * i % 31, .1));
        for (int i = 0; i < 2 * FA * FB; i++)
            *weight(&net, 1, i / FB, i % FB) =
                (float)((i % 97 ? 1.7 : 4.5) * det(i, 5 * i % 37, .4));
        float *w = net.p + net.layer[2].first;
        for (int i = 0; i < 2 * FB; i++) w[i] = (float)(.4 + det(0, i, .8));
        w[2 * FB] = .1f;
        CHECK(krein__net_input_codes(&net, 8, unit) == KREIN_OK);
        krein__net_round(&net);
        for (int i = 0; i < IN * FA; i++) where[i] = weight(&net, 0, i / FA, i % FA);
        round_slowly(&net, 0, bits, IN * FA, where, s.a);
        for (int i = 0; i < 2 * FA * FB; i++) where[i] = weight(&net, 1, i / FB, i % FB);
        round_slowly(&net, 1, bits, 2 * FA * FB, where, s.b);
        for (int i = 0; i < 2 * FB; i++) where[i] = w + i;
        round_slowly(&net, 2, bits, 2 * FB, where, s.w);
        float scaled[ROWS * IN];
        for (int i = 0; i < ROWS * IN; i++) scaled[i] = x[i] * (float)(1 << i % IN);
        krein_rows all = krein__rows_dense(ROWS, IN, scaled, IN);
        CHECK(krein__net_work_begin(&net, ROWS, true, &work) == KREIN_OK);
        krein__net_load(&work, &all, NULL, ROWS);
        const float *f = krein__net_forward(&work, ROWS);
        slow_pass(&s, bits, x);
        /* A cosine in the middle between two codes may fall to either side. */
        double most = 0, step = 2 / (double)((1 << bits) - 1);
        for (int i = 0; i < ROWS; i++) most = fmax(most, fabs((double)f[i] - s.score[i]));
        CHECK_ELSE(most < (s.gap > 2e-5 ? 1e-5 : 3 * step), "%d bits: off by %g, gap %g\n", bits,
                   most, s.gap);
        for (int i = 0; i < ROWS; i++) work.gradient[2][i] = 1;
        float *g = test_new(net.count, sizeof *g);
        for (int64_t l = 2; l >= 0; l--) {
            krein__net_backward(&work, l);
            krein__net_gradient(&work, l, krein__net_store_part, g);
        }
        /* Beyond the range nothing leads further out. */
        double top = 0, worst = 0;
        int64_t cut = 0;
        for (int l = 0; l < 2; l++) {
            const krein_quant *q = net.layer[l].quant;
            double lo = q->scale * q->zero, hi = lo + q->scale * (double)((1 << bits) - 1);
            for (int64_t i = 0; i < (l ? 2 * FA : IN); i++)
                for (int64_t j = 0; j < (l ? FB : FA); j++) {
                    double want = l ? s.gb[i * FB + j] : s.ga[i * FA + j];
                    const float *at = weight(&net, l, i, j);
                    bool beyond = ((double)*at > hi && want < 0) || ((double)*at < lo && want > 0);
                    top = fmax(top, fabs(want));
                    cut += beyond;
                    if (beyond) want = 0;
                    worst = fmax(worst, fabs(want - (double)g[at - net.p]));
                }
        }
        for (int i = 0; i < 2 * FB; i++) top = fmax(top, fabs(s.gw[i]));
        CHECK_ELSE(worst < (s.gap > 2e-5 ? 3e-5 : .02) * top, "%d bits: off by %g of %g\n", bits,
                   worst, top);
        CHECK((cut > 0) == (bits < 8)); /* all lie within 3.9 deviations */
        free(g);
        krein__net_work_end(&work);
        krein__net_clear(&net);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
}

/* Cosines with phases, which are not trained, have no codes. */
static void no_codes(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    krein__net_begin(ctx, 3, &net);
    CHECK(krein__net_add(&net, "spectral(width=8)") == KREIN_OK);
    CHECK(krein__net_in_codes(&net, 8) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "spectral cannot be in codes");
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
}

/* ---- training ----------------------------------------------------------- */

/* Two classes by half of 12 columns: few bits need many columns. */
static rows balls(int64_t n) {
    rows r = make_rows(n, 12, 1, 8);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < 6; j++) sum += pow((double)r.x[i * 12 + j] - .2, 2);
        r.y[i] = sum < 6 * .1733 ? -1 : 1;
    }
    return r;
}

/* Each task with each number of bits. What is left of the variance, or of the errors. */
static void tasks(void) {
    static const struct {
        int classes; /* 0: numbers; -2: two targets; 20: two classes of 12 columns */
        const char *learner;
        double most;
    } all[] = {{2, "deep(layers=2, width=32, epochs=40, rate=0.01)", .06},
               {2, "deep(layers=4, width=32, epochs=40, rate=0.01, bits=8, loss=hinge)", .06},
               {2, "deep(layers=3, width=32, epochs=40, rate=0.01, bits=4, loss=hinge2)", .08},
               {2, "deep(layers=2, width=48, epochs=40, rate=0.01, bits=2)", .1},
               {20, "deep(layers=2, width=64, epochs=40, rate=0.01, bits=1)", .2},
               {3, "deep(layers=2, memory=2e4, bits=8, epochs=40, rate=0.01)", .08},
               {3, "deep(layers=1, width=40, bits=4, epochs=100, rate=0.01, loss=logistic)", .1},
               {0, "deep(layers=2, width=32, epochs=40)", .05},
               {0, "deep(layers=2, width=32, epochs=40, refit=no)", .06},
               {0, "deep(layers=2, width=32, epochs=40, bits=8)", .06},
               {0, "deep(layers=2, width=32, epochs=40, bits=4)", .1},
               {-2, "deep(layers=2, width=32, epochs=40, bits=8)", .06},
               {-2, "deep(layers=2, width=32, epochs=40)", .06}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_ctx *ctx = test_ctx(2);
        int64_t n = test_sanitized() ? 600 : 1500;
        int classes = all[i].classes;
        rows r = classes == 20 ? balls(n)
                 : classes > 0 ? rings(n, classes, 3)
                 : classes < 0 ? two_targets(n)
                               : friedman(n, .1, 3);
        krein_train_options o = deep(all[i].learner);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.holdout = .25;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_AUTO, &o, &report, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", all[i].learner, krein_message(ctx));
        if (!m) continue;
        double off = classes > 0 ? 1 - report.test->accuracy : 1 - report.test->r2;
        double most = all[i].most * (test_sanitized() ? 2 : 1);
        CHECK_ELSE(off < most, "%s, %d classes: %g\n", all[i].learner, classes, off);
        CHECK(report.folds == 1 && isfinite(report.loo));
        bool codes = strstr(all[i].learner, "bits") != NULL;
        bool refit = classes <= 0 && !codes && !strstr(all[i].learner, "refit=no");
        CHECK(isfinite(report.refit) == refit);
        CHECK((m->packed.unit != NULL) == codes && krein__map_has_codes(m->map) == codes);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* (3.18): the width of a budget. */
static void widths(void) {
    static const struct {
        const char *learner;
        int64_t D;
    } all[] = {{"deep(layers=7, memory=1.4e6, bits=32)", 120}, /* 2 sqrt(1.4e6 / 384) = 120.8 */
               {"deep(layers=7, memory=1.4e6, bits=8)", 240},
               {"deep(layers=7, memory=1.4e6, bits=4)", 340},
               {"deep(layers=7, memory=1e5, bits=4)", 90},
               {"deep(layers=2, memory=64)", 2},
               {"deep(layers=2, memory=255)", 2},
               {"deep(layers=2, memory=256)", 4},
               {"deep(width=17)", 34},
               {"deep", 256}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_ctx *ctx = test_ctx(1);
        rows r = rings(200, 2, 3);
        krein_train_options o = deep(all[i].learner);
        krein_report plan = KREIN_SIZED(krein_report);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
        CHECK(krein_plan(ctx, data, &o, &plan) == KREIN_OK);
        CHECK_ELSE(plan.D == all[i].D, "%s: %d\n", all[i].learner, (int)plan.D);
        krein_report_clear(ctx, &plan);
        krein_data_close(data);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* ---- whole numbers ------------------------------------------------------ */

/* Scores of encoded rows from the codes of the model, in double. */
static void slow_scores(const krein_model *m, const float *x, int64_t n, double *out) {
    const krein_deep *s = krein__deep(m->map);
    double *in = test_new(4096, sizeof *in), *next = test_new(4096, sizeof *next);
    uint8_t *code = test_new(4096, 1);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m->map->d; j++)
            in[j] = rounded(8, -1, 1, (double)(x[i * m->map->d + j] * s->unit[j]), NULL);
        for (int64_t l = 0; l < s->layers; l++) {
            const krein_deep_layer *at = &s->layer[l];
            const krein_quant *q = &at->codes.quant;
            for (int64_t f = 0; f < at->F; f++) {
                double t = 0;
                krein__unpack(s->bits, at->in,
                              at->codes.packed + f * krein__packed_bytes(s->bits, at->in), code);
                for (int64_t j = 0; j < at->in; j++)
                    t += in[j] * q->scale * ((double)code[j] + q->zero);
                next[2 * f] = rounded(s->bits, -1, 1, cos(2 * M_PI * t), NULL);
                next[2 * f + 1] = rounded(s->bits, -1, 1, sin(2 * M_PI * t), NULL);
            }
            double *swap = in;
            in = next, next = swap;
        }
        out[i] = m->intercept[0];
        for (int64_t f = 0; f < m->map->R; f++)
            out[i] += krein__deep_factor(m->map) * in[f] * m->w[f];
    }
    free(in), free(next), free(code);
}

static double rms(int64_t n, const double *a, const double *b, double centre) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += pow(a[i] - (b ? b[i] : centre), 2) / (double)n;
    return sqrt(sum);
}

/* Predictions are those of the net that was trained: the error that it had on the rows held out is
 * the model's. And they are what the codes say in double, but where a cosine lies between two. */
static void whole_numbers(void) {
    for (int b = 0; b < 4; b++) {
        krein_ctx *ctx = test_ctx(2);
        enum { N = 400 };
        rows r = friedman(N, .1, 6);
        char spec[100];
        snprintf(spec, sizeof spec, "deep(layers=3, width=24, bits=%d, epochs=25, rate=0.01)",
                 BITS[b]);
        krein_train_options o = deep(spec);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL, *loaded = NULL;
        krein_stream *stream = NULL;
        krein_block block;
        double got[N], want[N], again[N], held = 0;
        int32_t fold[N];
        CHECK(train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, &report, &m) == KREIN_OK);
        if (!m) exit(1);
        CHECK(krein_predict_dense(ctx, m, N, r.d, r.x, r.d, got) == KREIN_OK);
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        CHECK(krein__data_match(data, &m->encoding, false) == KREIN_OK);
        CHECK(krein__stream_open(data, &m->encoding, -1, &stream) == KREIN_OK);
        CHECK(krein__stream_next(stream, &block) == KREIN_OK && block.x.n == N);
        slow_scores(m, block.x.x, N, want);
        krein__stream_close(stream);
        krein_data_close(data);
        /* A row with such a cosine has other codes from there on: in few bits it may be far off. */
        double size = rms(N, want, NULL, m->intercept[0]);
        int64_t off = 0;
        for (int i = 0; i < N; i++) off += fabs(got[i] - want[i]) > .02 * size;
        CHECK_ELSE(off < N / 20, "%d bits: %d rows are off\n", BITS[b], (int)off);
        CHECK(krein__folds(ctx, o.seed, N, 10, NULL, NULL, fold) == KREIN_OK);
        int64_t count = 0;
        for (int i = 0; i < N; i++)
            if (fold[i] == 0) held += pow(got[i] - r.y[i], 2), count++;
        held = sqrt(held / (double)count);
        CHECK_ELSE(fabs(held / report.loo - 1) < .03, "%d bits: %g held out, by the net %g\n",
                   BITS[b], held, report.loo);
        /* the file */
        CHECK(krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
        CHECK(krein_model_load(ctx, test_path("m.krein"), &loaded) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, loaded, N, r.d, r.x, r.d, again) == KREIN_OK);
        CHECK(memcmp(got, again, sizeof got) == 0);
        CHECK(loaded && loaded->packed.unit && !krein__deep(loaded->map)->layer[1].W);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_model_destroy(loaded);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* A model of b bits takes b/32 of that in float, and what is the same for all. */
static void sizes(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(100, 2, 3);
    double size[6] = {0};
    static const int bits[] = {32, 8, 4, 2, 1};
    for (int b = 0; b < 5; b++) {
        char spec[80];
        krein_model *m = NULL;
        snprintf(spec, sizeof spec, "deep(layers=3, width=96, bits=%d, epochs=1)", bits[b]);
        krein_train_options o = deep(spec);
        CHECK(train_rows(ctx, &r, KREIN_TASK_AUTO, &o, NULL, &m) == KREIN_OK);
        test_bytes file = test_model_bytes(ctx, m);
        size[b] = (double)file.n;
        /* weights of the last layer are doubles in a model in float */
        double weights = 3 * 96 + 2 * 2.0 * 96 * 96 + 2 * 96 * (b ? 1 : 2);
        CHECK_ELSE(size[b] > weights * bits[b] / 8 && size[b] < weights * bits[b] / 8 + 8000,
                   "%d bits: %.0f bytes for %.0f weights\n", bits[b], size[b], weights);
        free(file.at);
        krein_model_destroy(m);
    }
    for (int b = 1; b < 5; b++) CHECK(size[b] < size[0] * bits[b] / 32 + 8000);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- bits, threads, files ----------------------------------------------- */

static test_bytes bytes_of(int threads, krein_keep keep, const char *path,
                           const krein_train_options *o) {
    test_bytes out = {0};
    krein_ctx *ctx = test_ctx(threads);
    krein_model *m = NULL;
    ctx->keep_rows = keep;
    krein_data *data = from_file(ctx, path);
    krein_status st = krein_train(ctx, data, o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(ctx));
    krein_data_close(data);
    if (m) out = test_model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return out;
}

static void same_bytes(void) {
    static const char *const learner[] = {"deep(layers=3, width=40, epochs=3)",
                                          "deep(layers=3, width=40, bits=8, epochs=3)",
                                          "deep(layers=2, width=70, bits=1, epochs=3, clip=1)"};
    rows r = friedman(700, .1, 4);
    char path[256];
    snprintf(path, sizeof path, "%s", write_rows("rows.csv", &r));
    for (int i = 0; i < 3; i++) {
        krein_train_options o = deep(learner[i]);
        test_bytes a = bytes_of(1, KREIN_KEEP_MEMORY, path, &o);
        test_bytes b = bytes_of(2, KREIN_KEEP_MEMORY, path, &o);
        test_bytes c = bytes_of(2, KREIN_KEEP_STREAM, path, &o);
        CHECK(test_same(a, b) && test_same(a, c));
        free(a.at), free(b.at), free(c.at);
    }
    drop(&r);
}

/* What was chosen, given back, is the same model; the map alone may be given too. */
static void choice(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(400, 3, 2);
    krein_train_options o = deep("deep(layers=2, memory=2000, bits=4, epochs=4)");
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL, *again = NULL;
    o.kernel = "gaussian";
    o.probabilities = true;
    CHECK(train_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o, &report, &m) == KREIN_OK);
    if (!m) exit(1);
    CHECK_HAS(report.learner, "width=15, bits=4, lambda_a");
    CHECK_HAS(report.map, "deep(D=30, layers=2, bits=4)");
    CHECK(m->calibration.slope && m->calibration.slope[0] == 1);
    test_bytes a = test_model_bytes(ctx, m);
    for (int i = 0; i < 2; i++) {
        o.learner = report.learner;
        o.kernel = report.kernel;
        o.map = i ? report.map : NULL;
        CHECK(train_rows(ctx, &r, KREIN_TASK_CLASSIFICATION, &o, NULL, &again) == KREIN_OK);
        if (!again) continue;
        test_bytes b = test_model_bytes(ctx, again);
        CHECK(test_same_model(a, b));
        free(b.at);
        krein_model_destroy(again);
    }
    free(a.at);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    drop(&r);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* One number far out does not take the codes of all others. */
static void far_out(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(1200, 2, 3);
    krein_train_options o = deep("deep(layers=2, width=32, bits=8, epochs=40, rate=0.01)");
    krein_data_options d;
    krein_data *data = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    r.x[7 * 3] = 1e4f;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    d.task = KREIN_TASK_CLASSIFICATION;
    o.kernel = "gaussian(sigma=0.5)";
    o.holdout = .25;
    CHECK(krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    if (m) CHECK_ELSE(report.test->accuracy > .9, "accuracy %g\n", report.test->accuracy);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- what goes wrong ---------------------------------------------------- */

static void refusals(void) {
    static const struct {
        const char *learner, *map, *kernel;
        double lambda;
        int64_t features;
        int classes;
        krein_status status;
        const char *part;
    } all[] = {
        {"deep(bits=3)", NULL, NULL, -1, 0, 2, KREIN_EARG, "bits=3 is not offered: 32, 8, 4, 2"},
        {"deep(bits=0)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "bits"},
        {"deep(layers=0)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "layers"},
        {"deep(layers=13)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "layers"},
        {"deep(width=0)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "width"},
        {"deep(layers=7, bits=8, memory=95)", NULL, NULL, -1, 0, 2, KREIN_EARG,
         "memory=95 bits is too small for 7 layers of width 1 in 8 bits, which take 96"},
        {"deep(width=8, memory=1e5)", NULL, NULL, -1, 0, 2, KREIN_EARG, "one of the two"},
        {"deep(layers=1, memory=1e5)", NULL, NULL, -1, 0, 2, KREIN_EARG, "give `width`"},
        {"deep(width=500000, bits=8)", NULL, NULL, -1, 0, 2, KREIN_EARG, "too large for sums"},
        {"deep(bits=4, refit=yes)", NULL, NULL, -1, 0, 0, KREIN_EARG, "refit=no, or bits=32"},
        {"deep(bits=4)", NULL, NULL, .1, 0, 0, KREIN_EARG, "lambda_a"},
        {"deep", "rff", NULL, -1, 0, 2, KREIN_EARG, "leave `map` out"},
        {"deep", "exact", NULL, -1, 0, 2, KREIN_EARG, "leave `map` out"},
        {"deep(width=8)", "deep(D=32, layers=3)", NULL, -1, 0, 2, KREIN_EARG, "3 layers of 16"},
        {"deep(width=8)", "deep(D=16, layers=2)", NULL, -1, 0, 2, KREIN_EARG, "3 layers of 16"},
        {"deep(width=8)", NULL, NULL, -1, 40, 2, KREIN_EARG, "`features` out"},
        {"deep", NULL, "poly", -1, 0, 2, KREIN_ESPEC, "spectral measure"},
        {"deep(loss=hinge)", NULL, NULL, -1, 0, 0, KREIN_EARG, "for classes"},
        {"deep(rate=0)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "rate"},
        {"deep(loss=absolute)", NULL, NULL, -1, 0, 2, KREIN_ESPEC, "softmax"}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rows r = all[i].classes ? rings(100, 2, 3) : friedman(100, .1, 3);
        krein_train_options o = deep(all[i].learner);
        krein_model *m = NULL;
        o.map = all[i].map;
        o.lambda = all[i].lambda;
        o.features = all[i].features;
        if (all[i].kernel) o.kernel = all[i].kernel;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_AUTO, &o, NULL, &m);
        CHECK_ELSE(st == all[i].status, "%s: %d %s\n", all[i].learner, (int)st, krein_message(ctx));
        CHECK_HAS(krein_message(ctx), all[i].part);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* A rate that diverges, a batch of all rows, width one, few rows, constant inputs: a model comes
 * out, and what is wrong is said. */
static void odd_input(void) {
    static const struct {
        const char *learner, *said;
        int64_t n;
        bool constant;
    } all[] = {{"deep(width=8, rate=1e30, optimizer=sgd)", "rate=1e+30 is too large", 200, false},
               {"deep(width=8, rate=1e30, optimizer=sgd, bits=4)", "weights of 0", 200, false},
               {"deep(width=8, batch=100000, epochs=3, bits=8)", "3 steps", 200, false},
               {"deep(layers=12, width=1, epochs=3, bits=1)", "epochs", 200, false},
               {"deep(width=8, epochs=3, bits=2)", "3 epochs", 12, false},
               {"deep(width=8, epochs=3, bits=8)", "epochs", 100, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        rows r = friedman(all[i].n, .1, 3);
        krein_train_options o = deep(all[i].learner);
        krein_model *m = NULL;
        double f[200], mean = 0;
        for (int64_t j = 0; all[i].constant && j < r.n * r.d; j++) r.x[j] = 1;
        for (int64_t j = 0; j < r.n; j++) mean += r.y[j] / (double)r.n;
        krein_status st = train_rows(ctx, &r, KREIN_TASK_REGRESSION, &o, NULL, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", all[i].learner, krein_message(ctx));
        CHECK_HAS(log.text, all[i].said);
        CHECK(krein_predict_dense(ctx, m, r.n, r.d, r.x, r.d, f) == KREIN_OK);
        for (int64_t j = 0; j < r.n; j++) CHECK(isfinite(f[j]) && fabs(f[j] - mean) < 40);
        if (strstr(all[i].said, "weights of 0")) CHECK_ABS(f[5], mean, 1e-9);
        krein_model_destroy(m);
        CHECK(atomic_load(&ctx->held) == 0);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

static void plan_bounds_the_memory(void) {
    static const char *const learner[] = {"deep(width=64, epochs=1)",
                                          "deep(width=100, epochs=1, bits=8, batch=400, clip=1)",
                                          "deep(layers=6, width=100, epochs=1, bits=1)"};
    for (int i = 0; i < 3; i++) {
        rows r = i == 1 ? rings(2000, 3, 2) : friedman(2000, .1, 2);
        krein_train_options o = deep(learner[i]);
        check_plan(1 + i % 2, &r, i == 1 ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION, &o);
        drop(&r);
    }
}

static void every_allocation(void) {
    rows r = rings(50, 2, 2);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_train_options o = deep("deep(layers=2, width=4, epochs=1, bits=4, loss=hinge)");
    o.probabilities = true;
    o.map = "deep(D=8, layers=2, bits=4)";
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_data_options d;
        krein_model *m = NULL;
        krein_data_options_init(&d);
        d.task = KREIN_TASK_CLASSIFICATION;
        krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(m);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(reference_gradients);
    RUN(layers_in_codes);
    RUN(no_codes);
    RUN(tasks);
    RUN(widths);
    RUN(whole_numbers);
    RUN(sizes);
    RUN(same_bytes);
    RUN(choice);
    RUN(far_out);
    RUN(refusals);
    RUN(odd_input);
    RUN(plan_bounds_the_memory);
    RUN(every_allocation);
    return DONE();
}
