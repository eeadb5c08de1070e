/* test_net_layers.c -- all layers against slow loops in double: outputs, gradients and products of
 * the Hessian with a vector, these two against differences of the slow loss; named networks;
 * formulas and reference values of the tanh network (FORMULAS 15). */
#include "common.h"

#include "nets.h"

#include "net/codes.h"

/* ---- a net, slowly ------------------------------------------------------- */

/* Outputs of all layers for n rows. Where `fixed`, ReLU and maxima take the side that they took
 * when it was not: second differences then do not cross a corner. */
typedef struct slow {
    const krein_net *net;
    int64_t n;
    double *x, *out[KREIN_NET_LAYERS];
    int64_t *side[KREIN_NET_LAYERS];
    bool fixed;
    krein_statistics statistics;
} slow;

static slow slow_begin(const krein_net *net, int64_t n, const float *x) {
    slow s = {.net = net, .n = n};
    s.x = test_new(n * net->in, sizeof *s.x);
    for (int64_t i = 0; i < n * net->in; i++) s.x[i] = (double)x[i];
    for (int64_t l = 0; l < net->layers; l++) {
        s.out[l] = test_new(n * net->layer[l].out, sizeof *s.out[l]);
        s.side[l] = test_new(n * net->layer[l].out, sizeof *s.side[l]);
    }
    return s;
}

static void slow_end(slow *s) {
    for (int64_t l = 0; l < s->net->layers; l++) free(s->out[l]), free(s->side[l]);
    free(s->x);
}

static int64_t pixel(krein_shape s, int64_t i, int64_t y, int64_t x) {
    return ((i * s.h + y) * s.w + x) * s.c;
}

static void slow_conv(const krein_layer *l, const double *p, int64_t n, const double *x,
                      double *out) {
    int64_t size = (int64_t)l->values.number[1], stride = (int64_t)l->values.number[2],
            pad = (int64_t)l->values.number[3], C = l->from.c, O = l->to.c;
    bool intercept = l->values.number[4] > 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t z = 0; z < l->to.w; z++)
                for (int64_t o = 0; o < O; o++) {
                    double sum = intercept ? p[size * size * C * O + o] : 0;
                    for (int64_t d = 0; d < size; d++)
                        for (int64_t e = 0; e < size; e++) {
                            int64_t a = y * stride + d - pad, b = z * stride + e - pad;
                            if (a < 0 || b < 0 || a >= l->from.h || b >= l->from.w) continue;
                            for (int64_t c = 0; c < C; c++)
                                sum += x[pixel(l->from, i, a, b) + c] *
                                       p[((d * size + e) * C + c) * O + o];
                        }
                    out[pixel(l->to, i, y, z) + o] = sum;
                }
}

static void slow_batchnorm(const krein_layer *l, const double *p, int64_t n,
                           krein_statistics statistics, const double *x, double *out) {
    int64_t c = l->from.c, N = n * l->from.h * l->from.w;
    for (int64_t j = 0; j < c; j++) {
        double mean = 0, variance = 0;
        for (int64_t k = 0; k < N; k++) mean += x[k * c + j] / (double)N;
        for (int64_t k = 0; k < N; k++) variance += pow(x[k * c + j] - mean, 2) / (double)N;
        if (statistics == KREIN_STATISTICS_RUNNING) mean = p[2 * c + j], variance = p[3 * c + j];
        for (int64_t k = 0; k < N; k++)
            out[k * c + j] = p[j] * (x[k * c + j] - mean) / sqrt(variance + 1e-5) + p[c + j];
    }
}

static void slow_pool(const krein_layer *l, int64_t n, bool most, bool fixed, int64_t *side,
                      const double *x, double *out) {
    int64_t h = l->from.h / l->to.h, w = l->from.w / l->to.w;
    if (most || !(l->values.number[1] > 0)) h = w = (int64_t)l->values.number[0];
    for (int64_t i = 0; i < n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t z = 0; z < l->to.w; z++)
                for (int64_t c = 0; c < l->to.c; c++) {
                    int64_t to = pixel(l->to, i, y, z) + c, best = -1;
                    double sum = 0;
                    for (int64_t q = 0; q < h * w; q++) {
                        int64_t at = pixel(l->from, i, y * h + q / w, z * w + q % w) + c;
                        sum += x[at];
                        if (best < 0 || x[at] > x[best]) best = at;
                    }
                    if (!fixed) side[to] = best;
                    out[to] = most ? x[side[to]] : sum / (double)(h * w);
                }
}

static void slow_add(const krein_layer *l, krein_shape from, int64_t n, const double *x,
                     const double *z, double *out) {
    int64_t step = from.h / l->to.h, before = (l->to.c - from.c) / 2;
    for (int64_t i = 0; i < n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t q = 0; q < l->to.w; q++)
                for (int64_t c = 0; c < l->to.c; c++) {
                    int64_t at = pixel(l->to, i, y, q) + c, k = c - before;
                    out[at] = x[at];
                    if (k >= 0 && k < from.c) out[at] += z[pixel(from, i, y * step, q * step) + k];
                }
}

static const double *slow_forward(slow *s, const double *p) {
    for (int64_t i = 0; i < s->net->layers; i++) {
        const krein_layer *l = &s->net->layer[i];
        const double *x = i > 0 ? s->out[i - 1] : s->x, *own = p + l->first;
        double *out = s->out[i];
        for (int64_t k = 0; k < s->n; k++) {
            if (l->cls == &krein__layer_affine)
                slow_affine(l, own, x + k * l->in, out + k * l->out);
            if (l->cls == &krein__layer_spectral)
                slow_spectral(l, own, x + k * l->in, out + k * l->out);
        }
        if (l->cls == &krein__layer_conv) slow_conv(l, own, s->n, x, out);
        if (l->cls == &krein__layer_batchnorm) slow_batchnorm(l, own, s->n, s->statistics, x, out);
        if (l->cls == &krein__layer_maxpool || l->cls == &krein__layer_avgpool)
            slow_pool(l, s->n, l->cls == &krein__layer_maxpool, s->fixed, s->side[i], x, out);
        if (l->cls == &krein__layer_add) {
            int64_t j = i - 1 - (int64_t)l->values.number[0];
            slow_add(l, j >= 0 ? s->net->layer[j].to : s->net->image, s->n, x,
                     j >= 0 ? s->out[j] : s->x, out);
        }
        for (int64_t k = 0; k < s->n * l->out; k++) {
            if (l->cls == &krein__layer_tanh) out[k] = tanh(x[k]);
            if (l->cls != &krein__layer_relu) continue;
            if (!s->fixed) s->side[i][k] = x[k] > 0;
            out[k] = s->side[i][k] ? x[k] : 0;
        }
    }
    return s->out[s->net->layers - 1];
}

static double slow_mean(slow *s, const double *p, const krein_loss_class *loss,
                        const krein_aims *aims) {
    int64_t k = krein__net_out(s->net);
    const double *f = slow_forward(s, p);
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        sum += (aims->weight ? (double)aims->weight[i] : 1) *
               slow_loss(loss, k, f + i * k, aims->y + i * k, aims->class[i]) / (double)s->n;
    return sum;
}

/* ---- the checks ------------------------------------------------------------ */

/* Trained parameters: their places; the number. */
static int64_t trained(const krein_net *net, int64_t *at) {
    int64_t count = 0;
    krein_range range[KREIN_NET_RANGES];
    for (int64_t l = 0; l < net->layers; l++)
        for (int64_t part = 0; part < net->layer[l].weights_parts; part++)
            for (int64_t q = net->layer[l].cls->ranges(&net->layer[l], part, range) - 1; q >= 0;
                 q--)
                for (int64_t i = 0; i < range[q].rows * range[q].columns; i++)
                    at[count++] =
                        range[q].first + i / range[q].columns * range[q].ld + i % range[q].columns;
    return count;
}

typedef struct setting {
    const krein_loss_class *loss;
    krein_statistics statistics;
    bool weights;
} setting;

/* Scores, gradient and Hessian times vector of a ready net with any parameters; n rows. */
static void check(krein_net *net, int64_t n, setting o, const char *name) {
    krein_net_work work = {0};
    int64_t k = krein__net_out(net), d = net->in, count = net->count;
    float *x = test_dense(n, d, 0.2), *g = test_new(count, sizeof *g),
          *v = test_new(count, sizeof *v);
    float *Hv = test_new(count, sizeof *Hv), *y = test_new(n * k, sizeof *y);
    float *weight = test_new(n, sizeof *weight);
    int32_t *class = test_new(n, sizeof *class);
    int64_t *at = test_new(count, sizeof *at);
    double *p = test_new(count, sizeof *p), *q = test_new(count, sizeof *q);
    for (int64_t i = 0; i < n; i++) {
        class[i] = (int32_t)(i % k);
        weight[i] = (float)(i % 3) / 2;
        for (int64_t c = 0; c < k; c++) y[i * k + c] = c == class[i] ? 1 : -1;
    }
    krein_aims aims = {y, class, o.weights ? weight : NULL};
    for (int64_t i = 0; i < count; i++) p[i] = (double)net->p[i];
    int64_t free_ones = trained(net, at);
    for (int64_t i = 0; i < count; i++) v[i] = 100; /* must not matter where nothing is trained */
    for (int64_t i = 0; i < free_ones; i++) v[at[i]] = (float)(0.5 * det(i, 2 * i % 13, 0.7));
    krein_rows rows = krein__rows_dense(n, d, x, d);
    CHECK(krein__net_work_begin(net, n + 2, true, &work) == KREIN_OK);
    CHECK(krein__net_work_second(&work) == KREIN_OK);
    work.statistics = o.statistics;
    krein__net_load(&work, &rows, NULL, n);
    float *own = test_new(count, sizeof *own); /* not the net's vector: the caller's is used */
    memcpy(own, net->p, (size_t)count * sizeof *own);
    memset(net->p, 0, (size_t)count * sizeof *own);
    double mean = krein__net_loss_gradient(&work, own, o.loss, &aims, n, g);
    krein__net_hessian_vector(&work, o.loss, &aims, v, Hv);
    memcpy(net->p, own, (size_t)count * sizeof *own);

    slow s = slow_begin(net, n, x);
    s.statistics = o.statistics;
    double want = slow_mean(&s, p, o.loss, &aims), off = 0, top = 1;
    for (int64_t i = 0; i < n * k; i++) {
        off =
            fmax(off, fabs(s.out[net->layers - 1][i] - (double)work.pass[net->layers - 1].out[i]));
        top = fmax(top, fabs(s.out[net->layers - 1][i]));
    }
    CHECK_ELSE(off < 1e-5 * top, "%s: scores off by %g of %g\n", name, off, top);
    CHECK_REL(mean, want, 1e-5);
    s.fixed = true;
    double worst = 0, worst2 = 0, top1 = 0, top2 = 0, h = 1e-4;
    double flops = 0;
    for (int64_t l = 0; l < net->layers; l++) flops += net->layer[l].flops;
    int64_t places = (flops > 1e5 ? 8 : 40) / (test_sanitized() ? 3 : 1);
    int64_t step = krein__max(1, free_ones / places);
    for (int64_t i = 0; i < free_ones; i += step) {
        double value[4];
        for (int j = 0; j < 4; j++) { /* +-h e_i, along +-h v */
            memcpy(q, p, (size_t)count * sizeof *q);
            for (int64_t e = 0; e < free_ones; e++) q[at[e]] += (j & 2 ? -h : h) * (double)v[at[e]];
            q[at[i]] += j & 1 ? -h : h;
            value[j] = slow_mean(&s, q, o.loss, &aims);
        }
        memcpy(q, p, (size_t)count * sizeof *q);
        q[at[i]] += h;
        double up = slow_mean(&s, q, o.loss, &aims);
        q[at[i]] -= 2 * h;
        double slope = (up - slow_mean(&s, q, o.loss, &aims)) / (2 * h);
        double second = (value[0] - value[1] - value[2] + value[3]) / (4 * h * h);
        worst = fmax(worst, fabs(slope - (double)g[at[i]]));
        top1 = fmax(top1, fabs(slope));
        worst2 = fmax(worst2, fabs(second - (double)Hv[at[i]]));
        top2 = fmax(top2, fabs(second));
    }
    CHECK(free_ones > 0 && top1 > 0);
    CHECK_ELSE(worst <= 3e-5 * top1, "%s: gradient off by %g of %g\n", name, worst, top1);
    CHECK_ELSE(worst2 <= 1e-4 * top2 + 1e-6, "%s: Hessian times vector off by %g of %g\n", name,
               worst2, top2);
    if (o.loss != &krein__loss_hinge) CHECK(top2 > 0);
    for (int64_t i = 0; i < free_ones; i++) p[at[i]] = NAN;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(p[i])) CHECK(g[i] == 0 && Hv[i] == 0);
    slow_end(&s);
    krein__net_work_end(&work);
    free(x), free(g), free(v), free(Hv), free(y), free(weight), free(class), free(at), free(p);
    free(q), free(own);
}

static const setting SOFTMAX = {&krein__loss_softmax, KREIN_STATISTICS_BATCH, false};

/* Parameters of any size; running variances above 0. */
static void fill(krein_net *net) {
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        double size = at->cls == &krein__layer_conv || at->cls == &krein__layer_affine
                          ? 1.5 / sqrt((double)at->parameters / (double)at->to.c)
                          : 0.7;
        for (int64_t i = 0; i < at->parameters; i++)
            net->p[at->first + i] = (float)(size * det(i, 3 * i % 17, 0.4 + 0.1 * (double)l));
        if (at->cls == &krein__layer_batchnorm)
            for (int64_t c = 0; c < at->from.c; c++) {
                net->p[at->first + c] += 1;
                net->p[at->first + 3 * at->from.c + c] = 0.5f + 0.25f * (float)(c % 3);
            }
    }
}

static void check_layers(const char *const *spec, krein_shape image, int64_t n, setting o) {
    krein_ctx *ctx = test_ctx(2);
    krein_net net;
    krein__net_begin_image(ctx, image, &net);
    for (int64_t i = 0; spec[i]; i++)
        CHECK_ELSE(krein__net_add(&net, spec[i]) == KREIN_OK, "%s\n", krein_message(ctx));
    CHECK(krein__net_ready(&net) == KREIN_OK);
    fill(&net);
    check(&net, n, o, spec[0]);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

#define LAYERS(...) ((const char *[]){__VA_ARGS__, NULL})
static const krein_shape FLAT = {1, 1, 5}, SMALL = {5, 4, 3}, EVEN = {8, 6, 2};

static void flat_layers(void) {
    check_layers(LAYERS("affine(width=3)"), FLAT, 7, SOFTMAX);
    check_layers(LAYERS("affine(width=140)", "tanh", "affine(width=3)"), FLAT, 60, SOFTMAX);
    check_layers(LAYERS("affine(width=6, intercept=no)", "relu", "affine(width=3)"), FLAT, 50,
                 SOFTMAX);
    check_layers(LAYERS("affine(width=6)", "batchnorm", "tanh", "affine(width=3)"), FLAT, 50,
                 SOFTMAX);
    check_layers(LAYERS("batchnorm", "affine(width=3)"), FLAT, 20, SOFTMAX);
    check_layers(LAYERS("affine(width=5)", "tanh", "add(back=2)", "affine(width=3)"), FLAT, 20,
                 SOFTMAX);
}

static void spectral_layers(void) {
    check_layers(LAYERS("spectral(width=40)", "affine(width=3)"), FLAT, 60, SOFTMAX);
    check_layers(LAYERS("affine(width=4)", "spectral(width=37)", "affine(width=3)"), FLAT, 50,
                 SOFTMAX);
    check_layers(LAYERS("affine(width=4)", "spectral(width=9, spectrum=stationary)",
                        "spectral(width=8, sines=yes)", "affine(width=3)"),
                 FLAT, 20, SOFTMAX);
    check_layers(LAYERS("spectral(width=70, sines=yes, spectrum=stationary)", "affine(width=3)"),
                 FLAT, 20, SOFTMAX);
}

static void image_layers(void) {
    check_layers(LAYERS("conv(width=4)", "affine(width=3)"), SMALL, 3, SOFTMAX);
    check_layers(LAYERS("conv(width=4, intercept=yes)", "tanh", "conv(width=5)", "affine(width=3)"),
                 SMALL, 5, SOFTMAX);
    check_layers(LAYERS("conv(width=3, stride=2)", "tanh",
                        "conv(width=35, stride=2, intercept=yes)", "tanh", "affine(width=3)"),
                 SMALL, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=3, size=2, pad=0, stride=3)", "tanh",
                        "conv(width=2, size=1, pad=0)", "tanh", "affine(width=3)"),
                 EVEN, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=16, size=5, pad=3)", "tanh", "conv(width=48, size=3, pad=2)",
                        "relu", "conv(width=32)", "avgpool", "affine(width=3)"),
                 SMALL, 3, SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "maxpool", "tanh", "affine(width=3)"), SMALL, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "maxpool(size=3)", "affine(width=3)"), SMALL, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "avgpool(size=2)", "tanh", "affine(width=3)"), SMALL, 4,
                 SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "tanh", "avgpool(whole=yes)", "affine(width=3)"), EVEN, 4,
                 SOFTMAX);
    check_layers(LAYERS("maxpool", "conv(width=3)", "relu", "affine(width=3)"), EVEN, 4, SOFTMAX);
    check_layers(LAYERS("avgpool", "relu", "conv(width=3)", "affine(width=3)"), EVEN, 4, SOFTMAX);
}

/* Statistics of the batch and running ones; channels that fill lanes, and not. */
static void normalising(void) {
    for (int running = 0; running < 2; running++) {
        setting o = {&krein__loss_softmax,
                     running ? KREIN_STATISTICS_RUNNING : KREIN_STATISTICS_BATCH, false};
        check_layers(LAYERS("batchnorm", "conv(width=4)", "tanh", "affine(width=3)"), SMALL, 6, o);
        check_layers(LAYERS("conv(width=19)", "batchnorm", "relu", "conv(width=32)", "batchnorm",
                            "tanh", "affine(width=3)"),
                     SMALL, 20, o);
        check_layers(LAYERS("conv(width=4)", "batchnorm", "relu", "maxpool", "conv(width=4)",
                            "batchnorm", "relu", "maxpool", "affine(width=3)"),
                     EVEN, 6, o);
    }
}

/* Shortcuts: the same shape, fewer pixels and more channels, two from one place, from the input. */
static void shortcuts(void) {
    check_layers(
        LAYERS("conv(width=4)", "tanh", "conv(width=4)", "add(back=1)", "tanh", "affine(width=3)"),
        SMALL, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=4)", "tanh", "conv(width=8, stride=2)", "tanh", "conv(width=8)",
                        "add(back=3)", "relu", "affine(width=3)"),
                 EVEN, 4, SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "tanh", "conv(width=3)", "add(back=1)", "batchnorm",
                        "conv(width=3)", "add(back=4)", "tanh", "affine(width=3)"),
                 EVEN, 5, SOFTMAX);
    check_layers(LAYERS("conv(width=3)", "add(back=1)", "tanh", "affine(width=3)"), SMALL, 4,
                 SOFTMAX);
}

static void losses(void) {
    for (int64_t q = 0; q < krein__loss_count; q++)
        for (int weights = 0; weights < 2; weights++) {
            setting o = {(const krein_loss_class *)krein__losses[q], KREIN_STATISTICS_BATCH,
                         weights};
            check_layers(LAYERS("affine(width=6)", "tanh", "affine(width=3)"), FLAT, 11, o);
        }
}

/* The second derivative of a row's loss against differences of its gradient; one score too. */
static void loss_rows(void) {
    for (int64_t q = 0; q < krein__loss_count; q++)
        for (int64_t k = 1; k <= 4; k += 3)
            for (int64_t trial = 0; trial < 8; trial++) {
                const krein_loss_class *loss = (const krein_loss_class *)krein__losses[q];
                float f[4], y[4], r[4], h[4], up[4], down[4], e = 1e-2f, at[4];
                int32_t class = (int32_t)(trial % (k == 1 ? 2 : k));
                for (int64_t c = 0; c < k; c++) {
                    f[c] = (float)(1.7 * det(trial, c, 0.7));
                    r[c] = (float)det(trial, c, 1.9);
                    y[c] = (k == 1 ? class == 1 : c == class) ? 1 : -1;
                }
                loss->r_row(k, f, y, class, r, h);
                for (int64_t c = 0; c < k; c++) at[c] = f[c] + e * r[c];
                loss->row(k, at, y, class, up);
                for (int64_t c = 0; c < k; c++) at[c] = f[c] - e * r[c];
                loss->row(k, at, y, class, down);
                for (int64_t c = 0; c < k; c++)
                    CHECK_ABS((double)h[c], (double)(up[c] - down[c]) / (2 * (double)e), 1e-4);
            }
}

/* ---- named networks --------------------------------------------------------- */

static void named(void) {
    static const struct {
        const char *arch;
        krein_shape image;
        int64_t layers, parameters; /* that are trained */
        krein_shape end;            /* before the last layer */
    } known[] = {
        /* 9 (3 32 + 3 32 32), 4 64 of gamma and beta, 129 10 */
        {"convnet(3-32-32-32)", {32, 32, 3}, 17, 28512 + 256 + 1290, {2, 2, 32}},
        {"convnet(1-32-32-32)", {28, 28, 1}, 17, 27936 + 256 + 330, {1, 1, 32}},
        {"convnet(3-4-4)", {32, 32, 3}, 13, 9 * (12 + 16 + 16) + 24 + 650, {4, 4, 4}},
        {"resnet(20)", {32, 32, 3}, 68, 269722, {1, 1, 64}},
        {"mlp(64-32)", {1, 1, 10}, 5, 11 * 64 + 65 * 32 + 330, {1, 1, 32}},
    };
    for (size_t i = 0; i < KREIN__COUNT(known); i++) {
        krein_ctx *ctx = test_ctx(2);
        krein_net net, bare;
        CHECK_ELSE(krein__net_arch(ctx, known[i].arch, known[i].image, 10, &net) == KREIN_OK,
                   "%s\n", krein_message(ctx));
        int64_t *at = test_new(net.count, sizeof *at);
        CHECK(net.layers == known[i].layers);
        CHECK_ELSE(trained(&net, at) == known[i].parameters, "%s: %lld\n", known[i].arch,
                   (long long)trained(&net, at));
        krein_shape end = net.layer[net.layers - 1].from;
        CHECK(end.h == known[i].end.h && end.w == known[i].end.w && end.c == known[i].end.c);
        CHECK(krein__net_arch(ctx, known[i].arch, known[i].image, 0, &bare) == KREIN_OK);
        CHECK(bare.layers == net.layers - 1 && krein__net_out(&bare) == krein__shape_size(end));
        krein__net_clear(&bare);
        krein__net_clear(&net);
        free(at);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
}

static void check_arch(const char *arch, krein_shape image, int64_t n) {
    krein_ctx *ctx = test_ctx(2);
    krein_net net;
    CHECK(krein__net_arch(ctx, arch, image, 3, &net) == KREIN_OK);
    krein__net_start(&net, 5);
    check(&net, n, SOFTMAX, arch);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

static void whole_networks(void) {
    check_arch("convnet(3-4-4)", (krein_shape){9, 8, 3}, 4);
    check_arch("resnet(8)", (krein_shape){8, 8, 1}, 3);
    check_arch("mlp(7-5)", (krein_shape){1, 1, 4}, 9);
}

/* Weights have variance 2 / rows, and depend on the seed alone. */
static void starts(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_net net, again;
    CHECK(krein__net_arch(ctx, "convnet(3-32-32)", (krein_shape){8, 8, 3}, 5, &net) == KREIN_OK);
    CHECK(krein__net_arch(ctx, "convnet(3-32-32)", (krein_shape){8, 8, 3}, 7, &again) == KREIN_OK);
    krein__net_start(&net, 1);
    krein__net_start(&again, 1);
    const krein_layer *conv = &net.layer[4], *norm = &net.layer[5];
    CHECK(conv->cls == &krein__layer_conv && norm->cls == &krein__layer_batchnorm);
    CHECK(memcmp(net.p, again.p, (size_t)norm->first * sizeof *net.p) == 0);
    double sum = 0;
    int64_t m = conv->parameters;
    for (int64_t i = 0; i < m; i++) sum += pow((double)net.p[conv->first + i], 2) / (double)m;
    /* mean of squares of normal numbers: variance 2 s^4 / m */
    CHECK_Z(sum * 288 / 2, 1, 2.0 * (double)m / (double)m, m);
    for (int64_t c = 0; c < 32; c++) {
        const float *p = net.p + norm->first + c;
        CHECK(p[0] == 1 && p[32] == 0 && p[64] == 0 && p[96] == 1);
    }
    krein__net_start(&again, 2);
    CHECK(memcmp(net.p, again.p, 100 * sizeof *net.p) != 0);
    krein__net_clear(&net);
    krein__net_clear(&again);
    krein_ctx_destroy(ctx);
}

static void bad_networks(void) {
    static const struct {
        const char *arch, *says;
    } bad[] = {{"vgg(16)", "convnet, resnet and mlp"},
               {"convnet", "expected ("},
               {"convnet(3-32", "expected - or )"},
               {"convnet(3--2)", "expected a number"},
               {"convnet(3-0)", "expected a number"},
               {"convnet(3-4)x", "nothing may follow"},
               {"convnet(1-4)", "convnet(3-...)"},
               {"resnet(19)", "resnet(8)"},
               {"resnet(20-3)", "resnet(8)"},
               {"resnet(2)", "resnet(8)"},
               {"", "name is missing"},
               {"convnet(3-4-4-4-4)", "larger images"},
               {"resnet(9998)", "m from 1 to"}};
    static const struct {
        const char *layer, *says;
    } layers[] = {{"conv", "width is missing"},
                  {"conv(width=2, pad=3)", "below size"},
                  {"conv(width=2, size=7)", "do not fit"},
                  {"maxpool(size=6)", "do not fit"},
                  {"add", "back is missing"},
                  {"add(back=4)", "no 5 layers"},
                  {"add(back=2)", "cannot be added"}};
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    for (size_t i = 0; i < KREIN__COUNT(bad); i++) {
        CHECK(krein__net_arch(ctx, bad[i].arch, (krein_shape){8, 8, 3}, 2, &net) == KREIN_ESPEC);
        CHECK_HAS(krein_message(ctx), bad[i].says);
    }
    krein__net_begin_image(ctx, (krein_shape){4, 4, 3}, &net);
    CHECK(krein__net_add(&net, "relu") == KREIN_OK);
    CHECK(krein__net_add(&net, "conv(width=2)") == KREIN_OK);
    for (size_t i = 0; i < KREIN__COUNT(layers); i++) {
        CHECK(krein__net_add(&net, layers[i].layer) == KREIN_ESPEC);
        CHECK_HAS(krein_message(ctx), layers[i].says);
        CHECK(net.layers == 2);
    }
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- bits, threads, memory ---------------------------------------------------- */

enum { ROWS = 21 };

/* Loss, gradient and Hessian times vector of a net from its start. */
static double both(const krein_net *net, krein_net_work *w, const float *p, float *g, float *Hv) {
    float *x = test_dense(ROWS, net->in, 0.2), *y = test_new(ROWS * 3, sizeof *y);
    float *v = test_dense(1, net->count, 1.1);
    int32_t class[ROWS];
    for (int32_t i = 0; i < ROWS; i++) class[i] = i % 3;
    krein_rows rows = krein__rows_dense(ROWS, net->in, x, net->in);
    krein_aims aims = {y, class, NULL};
    krein__net_load(w, &rows, NULL, ROWS);
    double loss = krein__net_loss_gradient(w, p, &krein__loss_softmax, &aims, ROWS, g);
    krein__net_hessian_vector(w, &krein__loss_softmax, &aims, v, Hv);
    free(x), free(y), free(v);
    return loss;
}

/* The same on one thread, on three, and on several works of one net at the same time. */
static void same_bits(void) {
    static const char *const archs[] = {"convnet(3-16-19)", "resnet(8)", "mlp(40-30)"};
    for (size_t a = 0; a < KREIN__COUNT(archs); a++) {
        enum { TASKS = 4 };
        float *g[TASKS + 2], *Hv[TASKS + 2];
        double loss[TASKS + 2];
        for (int t = 0; t < 2; t++) {
            krein_ctx *ctx = test_ctx(t == 0 ? 1 : 3);
            krein_net net;
            krein_net_work w[TASKS + 1];
            size_t bytes;
            CHECK(krein__net_arch(ctx, archs[a], (krein_shape){8, 8, 3}, 3, &net) == KREIN_OK);
            krein__net_start(&net, 2);
            bytes = (size_t)net.count * sizeof *net.p;
            for (int i = 0; i <= (t == 0 ? 0 : TASKS); i++) {
                CHECK(krein__net_work_begin(&net, ROWS, true, &w[i]) == KREIN_OK);
                CHECK(krein__net_work_second(&w[i]) == KREIN_OK);
                g[t + i] = test_new(net.count, sizeof *net.p);
                Hv[t + i] = test_new(net.count, sizeof *net.p);
            }
            loss[t] = both(&net, &w[0], net.p, g[t], Hv[t]);
            if (t == 1) {
#pragma omp parallel for num_threads(3)
                for (int i = 1; i <= TASKS; i++)
                    loss[1 + i] = both(&net, &w[i], net.p, g[1 + i], Hv[1 + i]);
                for (int i = 1; i < TASKS + 2; i++)
                    CHECK(loss[i] == loss[0] && memcmp(g[i], g[0], bytes) == 0 &&
                          memcmp(Hv[i], Hv[0], bytes) == 0);
            }
            for (int i = 0; i <= (t == 0 ? 0 : TASKS); i++) krein__net_work_end(&w[i]);
            krein__net_clear(&net);
            krein_ctx_destroy(ctx);
        }
        for (int i = 0; i < TASKS + 2; i++) free(g[i]), free(Hv[i]);
    }
}

/* A net is made and used with the k-th allocation failing, k = 0, 1, ... */
static void every_allocation(void) {
    test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_net net;
        krein_net_work w = {0};
        krein_status st = krein__net_arch(ctx, "convnet(3-4)", (krein_shape){4, 4, 3}, 3, &net);
        if (st == KREIN_OK) st = krein__net_work_begin(&net, ROWS, true, &w);
        if (st == KREIN_OK) st = krein__net_work_second(&w);
        if (st == KREIN_OK) {
            float *g = test_new(net.count, sizeof *g), *Hv = test_new(net.count, sizeof *Hv);
            krein__net_start(&net, 1);
            CHECK(both(&net, &w, net.p, g, Hv) > 0);
            free(g), free(Hv);
        } else {
            CHECK(st == KREIN_EMEMORY);
        }
        krein__net_work_end(&w);
        krein__net_clear(&net);
    }
    krein_ctx_destroy(ctx);
}

static void no_second_derivatives_of_codes(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    krein_net_work w;
    krein__net_begin(ctx, 3, &net);
    CHECK(krein__net_add(&net, "affine(width=2)") == KREIN_OK);
    CHECK(krein__net_in_codes(&net, 4) == KREIN_OK && krein__net_ready(&net) == KREIN_OK);
    CHECK(krein__net_work_begin(&net, 5, true, &w) == KREIN_OK);
    CHECK(krein__net_work_second(&w) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "second derivatives");
    krein__net_work_end(&w);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- a training --------------------------------------------------------------- */

enum { SIDE = 8, IMAGES = 120 };

/* Stripes across or along, at any place, with noise. */
static void stripes(int64_t n, int64_t from, float *x, float *y, int32_t *class) {
    for (int64_t i = 0; i < n; i++) {
        class[i] = (int32_t)((i + from) % 2);
        y[2 * i] = class[i] ? -1 : 1, y[2 * i + 1] = -y[2 * i];
        for (int64_t k = 0; k < SIDE * SIDE; k++) {
            int64_t at = class[i] ? k / SIDE : k % SIDE;
            x[i * SIDE * SIDE + k] =
                (float)(((at + (i + from) / 2) % 4 < 2) + 0.5 * det(i + from, k, 0.3));
        }
    }
}

static krein_status all_rows(void *user, int64_t which, krein_window *out) {
    (void)which;
    *out = *(krein_window *)user;
    return KREIN_OK;
}

/* Rows held out are measured with the running statistics, which the parameters of the best epoch
 * have; the same bits on one thread and on three. */
static void trains(void) {
    float *x = test_new(2 * IMAGES * SIDE * SIDE, sizeof *x), y[4 * IMAGES], *p[2];
    int32_t class[2 * IMAGES];
    size_t bytes = 0;
    stripes(2 * IMAGES, 0, x, y, class);
    for (int t = 0; t < 2; t++) {
        krein_ctx *ctx = test_ctx(t == 0 ? 1 : 3);
        krein_net net;
        krein_net_work w;
        krein_window rows = {krein__rows_dense(IMAGES, SIDE * SIDE, x, SIDE * SIDE),
                             {y, class, NULL}};
        krein_window held = {
            krein__rows_dense(IMAGES, SIDE * SIDE, x + IMAGES * SIDE * SIDE, SIDE * SIDE),
            {y + 2 * IMAGES, class + IMAGES, NULL}};
        krein_fit_rows all = {IMAGES, 1, all_rows, &rows, held};
        krein_fit_options o = {.loss = &krein__loss_softmax,
                               .optimizer = {.cls = &krein__optimizer_sgd},
                               .rate = 0.1,
                               .epochs = 8,
                               .batch = 17,
                               .seed = 3};
        krein_fit_report r;
        double mean, error;
        CHECK(krein__net_arch(ctx, "convnet(1-4-4)", (krein_shape){SIDE, SIDE, 1}, 2, &net) ==
              KREIN_OK);
        krein__net_start(&net, 4);
        CHECK(krein__net_fit(&net, &all, &o, &r) == KREIN_OK);
        CHECK_ELSE(r.best.error <= 0.02, "error %g\n", r.best.error);
        CHECK(krein__net_work_begin(&net, 50, true, &w) == KREIN_OK);
        CHECK(krein__net_measure(&w, &held, o.loss, &mean, &error, NULL) == KREIN_OK);
        CHECK(error == r.best.error && fabs(mean - r.best.held) < 1e-6);
        CHECK(w.statistics == KREIN_STATISTICS_BATCH);
        const krein_layer *norm = &net.layer[1];
        CHECK(norm->cls == &krein__layer_batchnorm && net.p[norm->first + 2 * 4] != 0 &&
              net.p[norm->first + 3 * 4] != 1);
        bytes = (size_t)net.count * sizeof *net.p;
        p[t] = test_new(net.count, sizeof *net.p);
        memcpy(p[t], net.p, bytes);
        krein__net_work_end(&w);
        krein__net_clear(&net);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
    CHECK(memcmp(p[0], p[1], bytes) == 0);
    free(x), free(p[0]), free(p[1]);
}

/* ---- the tanh network of FORMULAS 15 ------------------------------------------ */

enum { D = 3, H = 4, K = 3, SIZE = D * H + H + H * K + K, S = 5 };

/* Order of the formulas to that of the net, whose layers begin on cache lines. */
static int64_t place(const krein_net *net, int64_t i) {
    return i < D * H + H ? i : net->layer[2].first + i - (D * H + H);
}

/* Hessian times vector by the closed formula. */
static void slow_tanh(const double *th, const double *v, int64_t n, const float *x, double *Hv) {
    const double *b1 = th + D * H, *W2 = b1 + H, *b2 = W2 + H * K, *c1 = v + D * H, *V2 = c1 + H,
                 *c2 = V2 + H * K;
    memset(Hv, 0, SIZE * sizeof *Hv);
    for (int64_t i = 0; i < n; i++) {
        double h[H], rh[H], z[K], rz[K], p[K], e[K], re[K], sum = 0, mean = 0;
        for (int j = 0; j < H; j++) {
            double a = b1[j], ra = c1[j];
            for (int d = 0; d < D; d++) {
                a += (double)x[i * D + d] * th[d * H + j];
                ra += (double)x[i * D + d] * v[d * H + j];
            }
            h[j] = tanh(a), rh[j] = (1 - h[j] * h[j]) * ra;
        }
        for (int c = 0; c < K; c++) {
            z[c] = b2[c], rz[c] = c2[c];
            for (int j = 0; j < H; j++) {
                z[c] += h[j] * W2[j * K + c];
                rz[c] += rh[j] * W2[j * K + c] + h[j] * V2[j * K + c];
            }
            sum += exp(z[c]);
        }
        for (int c = 0; c < K; c++) mean += exp(z[c]) / sum * rz[c];
        for (int c = 0; c < K; c++) {
            p[c] = exp(z[c]) / sum;
            e[c] = (p[c] - (c == i % K)) / (double)n;
            re[c] = p[c] * (rz[c] - mean) / (double)n;
        }
        for (int j = 0; j < H; j++) {
            double back = 0, ra = 0, slope = 1 - h[j] * h[j];
            for (int c = 0; c < K; c++) {
                back += e[c] * W2[j * K + c];
                ra += (re[c] * W2[j * K + c] + e[c] * V2[j * K + c]) * slope;
                Hv[D * H + H + j * K + c] += rh[j] * e[c] + h[j] * re[c];
            }
            ra -= 2 * back * h[j] * rh[j];
            for (int d = 0; d < D; d++) Hv[d * H + j] += (double)x[i * D + d] * ra;
            Hv[D * H + j] += ra;
        }
        for (int c = 0; c < K; c++) Hv[D * H + H + H * K + c] += re[c];
    }
}

/* Orthonormal columns of det(31, 5, .4). */
static void columns_of_p(double P[S][SIZE]) {
    for (int s = 0; s < S; s++) {
        for (int i = 0; i < SIZE; i++) P[s][i] = det(i, s, 0.4);
        for (int twice = 0; twice < 2; twice++)
            for (int t = 0; t < s; t++) {
                double dot = 0;
                for (int i = 0; i < SIZE; i++) dot += P[t][i] * P[s][i];
                for (int i = 0; i < SIZE; i++) P[s][i] -= dot * P[t][i];
            }
        double norm = 0;
        for (int i = 0; i < SIZE; i++) norm += P[s][i] * P[s][i];
        for (int i = 0; i < SIZE; i++) P[s][i] /= sqrt(norm);
    }
}

/* The closed formula, and the meta loss and the norm of its gradient by P after T inner steps. */
static void tanh_reference(void) {
    static const double loss[] = {1.046077127701, 1.056378795841, 1.071178617131};
    static const double norm[] = {.120030950634, .347713887713, .565233107308};
    enum { N = 6, Q = 5 };
    static double P[S][SIZE];
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    krein_net_work w;
    float *x = test_dense(N, D, 0), *query = test_dense(Q, D, 0.9), y[N * K] = {0};
    int32_t class[N], next[Q];
    for (int32_t i = 0; i < N; i++) class[i] = i % 3;
    for (int32_t i = 0; i < Q; i++) next[i] = (i + 1) % 3;
    krein_aims aims = {y, class, NULL}, after = {y, next, NULL};
    krein_rows rows = krein__rows_dense(N, D, x, D), rest = krein__rows_dense(Q, D, query, D);
    columns_of_p(P);
    CHECK(krein__net_arch(ctx, "mlp(4)", (krein_shape){1, 1, D}, K, &net) == KREIN_OK);
    CHECK(krein__net_work_begin(&net, N, true, &w) == KREIN_OK);
    CHECK(krein__net_work_second(&w) == KREIN_OK);
    int64_t count = net.count;
    float *p = test_new(6 * count, sizeof *p), *g = test_new(6 * count, sizeof *g);
    float *v = test_new(count, sizeof *v), *Hv = test_new(count, sizeof *Hv);
    double th[SIZE], wide[SIZE], want[SIZE];
    for (int i = 0; i < SIZE; i++) th[i] = 0.5 * det(0, i, 0.2);
    for (int i = 0; i < SIZE; i++) p[place(&net, i)] = (float)th[i];
    for (int i = 0; i < SIZE; i++) wide[i] = det(1, i, 0.5), v[place(&net, i)] = (float)wide[i];
    krein__net_load(&w, &rows, NULL, N);
    krein__net_loss_gradient(&w, p, &krein__loss_softmax, &aims, N, g);
    krein__net_hessian_vector(&w, &krein__loss_softmax, &aims, v, Hv);
    slow_tanh(th, wide, N, x, want);
    for (int i = 0; i < SIZE; i++) CHECK_ABS((double)Hv[place(&net, i)], want[i], 1e-6);
    for (int T = 1; T <= 5; T += 2) {
        double lambda[SIZE], dP[S][SIZE] = {{0}}, square = 0;
        for (int t = 0; t < T; t++) {
            krein__net_load(&w, &rows, NULL, N);
            krein__net_loss_gradient(&w, p + t * count, &krein__loss_softmax, &aims, N,
                                     g + t * count);
            memcpy(p + (t + 1) * count, p + t * count, (size_t)count * sizeof *p);
            for (int s = 0; s < S; s++) {
                double dot = 0;
                for (int i = 0; i < SIZE; i++)
                    dot += P[s][i] * (double)g[t * count + place(&net, i)];
                for (int i = 0; i < SIZE; i++)
                    p[(t + 1) * count + place(&net, i)] -= (float)(0.7 * dot * P[s][i]);
            }
        }
        krein__net_load(&w, &rest, NULL, Q);
        CHECK_ABS(krein__net_loss_gradient(&w, p + T * count, &krein__loss_softmax, &after, Q, v),
                  loss[T / 2], 2e-6);
        for (int i = 0; i < SIZE; i++) lambda[i] = (double)v[place(&net, i)];
        krein__net_load(&w, &rows, NULL, N);
        for (int t = T - 1; t >= 0; t--) {
            double u[SIZE] = {0};
            krein__net_loss_gradient(&w, p + t * count, &krein__loss_softmax, &aims, N,
                                     g + t * count);
            for (int s = 0; s < S; s++) {
                double a = 0, b = 0; /* P'lambda, P'g */
                for (int i = 0; i < SIZE; i++) {
                    a += P[s][i] * lambda[i];
                    b += P[s][i] * (double)g[t * count + place(&net, i)];
                }
                for (int i = 0; i < SIZE; i++) {
                    dP[s][i] -= 0.7 * (lambda[i] * b + (double)g[t * count + place(&net, i)] * a);
                    u[i] += a * P[s][i];
                }
            }
            for (int i = 0; i < SIZE; i++) v[place(&net, i)] = (float)u[i];
            krein__net_hessian_vector(&w, &krein__loss_softmax, &aims, v, Hv);
            for (int i = 0; i < SIZE; i++) lambda[i] -= 0.7 * (double)Hv[place(&net, i)];
        }
        for (int s = 0; s < S; s++)
            for (int i = 0; i < SIZE; i++) square += dP[s][i] * dP[s][i];
        CHECK_ABS(sqrt(square), norm[T / 2], 2e-6);
    }
    krein__net_work_end(&w);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
    free(x), free(query), free(p), free(g), free(v), free(Hv);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(flat_layers);
    RUN(spectral_layers);
    RUN(image_layers);
    RUN(normalising);
    RUN(shortcuts);
    RUN(losses);
    RUN(loss_rows);
    RUN(named);
    RUN(whole_networks);
    RUN(starts);
    RUN(bad_networks);
    RUN(same_bits);
    RUN(every_allocation);
    RUN(no_second_derivatives_of_codes);
    RUN(trains);
    RUN(tanh_reference);
    return DONE();
}
