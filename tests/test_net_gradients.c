/* test_net_gradients.c -- layers against slow formulas in double, their gradients and those of the
 * losses against differences of these. */
#include "common.h"

#include "nets.h"

/* ---- layers, slowly ----------------------------------------------------- */

/* Scores of one row by parameters p. */
static void slow_row(const krein_net *net, const double *p, const double *x, double *out) {
    double at[1200], next[1200];
    memcpy(at, x, (size_t)net->in * sizeof *at);
    for (int64_t i = 0; i < net->layers; i++) {
        const krein_layer *l = &net->layer[i];
        if (l->cls == &krein__layer_affine)
            slow_affine(l, p + l->first, at, next);
        else
            slow_spectral(l, p + l->first, at, next);
        memcpy(at, next, (size_t)l->out * sizeof *at);
    }
    memcpy(out, at, (size_t)krein__net_out(net) * sizeof *out);
}

/* sum_ij c_ij out_ij */
static double slow_sum(const krein_net *net, const double *p, int64_t n, const float *x,
                       const float *c) {
    double sum = 0, row[1200], out[1200];
    int64_t d = net->in, k = krein__net_out(net);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++) row[j] = (double)x[i * d + j];
        slow_row(net, p, row, out);
        for (int64_t j = 0; j < k; j++) sum += (double)c[i * k + j] * out[j];
    }
    return sum;
}

/* ---- gradients ---------------------------------------------------------- */

/* A net of those layers: scores, and the gradient of every trained parameter. */
static void check_net(const char *const *spec, int64_t in, int64_t n) {
    krein_ctx *ctx = test_ctx(2);
    krein_net net;
    krein_net_work work = {0};
    krein__net_begin(ctx, in, &net);
    for (int64_t i = 0; spec[i]; i++) CHECK(krein__net_add(&net, spec[i]) == KREIN_OK);
    CHECK(krein__net_ready(&net) == KREIN_OK);
    CHECK(krein__net_work_begin(&net, n, true, &work) == KREIN_OK);
    int64_t k = krein__net_out(&net), count = net.count;
    float *x = test_dense(n, in, 0.2), *c = test_dense(n, k, 1.3);
    float *g = test_new(count, sizeof *g);
    double *p = test_new(count, sizeof *p);
    for (int64_t i = 0; i < count; i++) net.p[i] = (float)(0.7 * det(i, 3 * i % 17, 0.4));
    for (int64_t i = 0; i < count; i++) p[i] = (double)net.p[i];
    krein_rows rows = krein__rows_dense(n, in, x, in);
    krein__net_load(&work, &rows, NULL, n);
    const float *out = krein__net_forward(&work, n);
    double off = 0, row[1200], want[1200];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < in; j++) row[j] = (double)x[i * in + j];
        slow_row(&net, p, row, want);
        for (int64_t j = 0; j < k; j++) off = fmax(off, fabs(want[j] - (double)out[i * k + j]));
    }
    CHECK(off < 2e-5);
    memcpy(work.gradient[net.layers - 1], c, (size_t)(n * k) * sizeof *c);
    for (int64_t l = net.layers - 1; l >= 0; l--) {
        krein__net_backward(&work, l);
        krein__net_gradient(&work, l, krein__net_store_part, g);
    }
    double top = 0, worst = 0;
    int64_t trained = 0;
    for (int64_t l = 0; l < net.layers; l++) {
        const krein_layer *at = &net.layer[l];
        for (int64_t part = 0; part < at->weights_parts; part++) {
            krein_range range[KREIN_NET_RANGES];
            int64_t ranges = at->cls->ranges(at, part, range);
            for (int64_t q = 0; q < ranges; q++) {
                trained += range[q].rows * range[q].columns;
                /* some of them, at both ends */
                int64_t last = range[q].rows * range[q].columns - 1;
                for (int64_t s = 0; s < 12; s++) {
                    int64_t e = last * s / 11;
                    int64_t i =
                        range[q].first + e / range[q].columns * range[q].ld + e % range[q].columns;
                    double h = 1e-5, was = p[i];
                    p[i] = was + h;
                    double up = slow_sum(&net, p, n, x, c);
                    p[i] = was - h;
                    double down = slow_sum(&net, p, n, x, c);
                    p[i] = was;
                    double slope = (up - down) / (2 * h);
                    top = fmax(top, fabs(slope));
                    worst = fmax(worst, fabs(slope - (double)g[i]));
                }
            }
        }
    }
    CHECK(trained > 0 && top > 0);
    CHECK_ELSE(worst <= 3e-5 * top, "%s: gradient off by %g of %g\n", spec[0], worst, top);
    krein__net_work_end(&work);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    free(x), free(c), free(g), free(p);
}

/* Two tiles of rows, two parts of columns and of rows of frequencies, long sums in two pieces. */
static void layers(void) {
    check_net((const char *[]){"affine(width=3)", NULL}, 5, 7);
    check_net((const char *[]){"affine(width=140)", NULL}, 4, 3);
    check_net((const char *[]){"affine(width=2, intercept=no)", NULL}, 150, 60);
    check_net((const char *[]){"spectral(width=150)", NULL}, 6, 60);
    check_net((const char *[]){"spectral(width=9, spectrum=stationary)", NULL}, 4, 5);
    check_net((const char *[]){"spectral(width=270, sines=yes)", NULL}, 3, 50);
    check_net((const char *[]){"spectral(width=8, sines=yes, spectrum=stationary)", NULL}, 3, 5);
    check_net((const char *[]){"spectral(width=1)", NULL}, 1, 1);
    check_net((const char *[]){"spectral(width=33)", NULL}, 300, 5);
    check_net((const char *[]){"spectral(width=2, sines=yes)", NULL}, 1100, 2);
}

/* Gradients of inputs are those of the parameters before them. */
static void nets(void) {
    check_net((const char *[]){"spectral(width=140)", "affine(width=3)", NULL}, 6, 60);
    check_net((const char *[]){"affine(width=5)", "spectral(width=130)", "affine(width=2)", NULL},
              4, 50);
    check_net((const char *[]){"affine(width=4)", "spectral(width=140, sines=yes)",
                               "spectral(width=7, spectrum=stationary)", "affine(width=1)", NULL},
              3, 20);
}

static void bad_layers(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_net net;
    krein__net_begin(ctx, 3, &net);
    CHECK(krein__net_add(&net, "afine(width=3)") == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "affine");
    CHECK(krein__net_add(&net, "affine(width=0)") == KREIN_ESPEC);
    for (int i = 0; i < KREIN_NET_LAYERS; i++)
        CHECK(krein__net_add(&net, "affine(width=2)") == KREIN_OK);
    CHECK(krein__net_add(&net, "affine(width=2)") == KREIN_ESPEC);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- losses ------------------------------------------------------------- */

static void losses(void) {
    for (int64_t q = 0; q < krein__loss_count; q++)
        for (int64_t k = 1; k <= 5; k += 2)
            for (int trial = 0; trial < 20; trial++) {
                const krein_loss_class *loss = (const krein_loss_class *)krein__losses[q];
                float f[5], y[5], g[5];
                double wide[5], h = 1e-6;
                int32_t class = (int32_t)(trial % (k == 1 ? 2 : k));
                for (int64_t c = 0; c < k; c++) {
                    f[c] = (float)(2.3 * det(trial, c, 0.7 * (double)q));
                    wide[c] = (double)f[c];
                    y[c] = (k == 1 ? class == 1 : c == class) ? 1 : -1;
                }
                double value = loss->row(k, f, y, class, g);
                CHECK_ABS(value, slow_loss(loss, k, wide, y, class), 1e-12);
                for (int64_t c = 0; c < k; c++) {
                    wide[c] += h;
                    double up = slow_loss(loss, k, wide, y, class);
                    wide[c] -= 2 * h;
                    double down = slow_loss(loss, k, wide, y, class);
                    wide[c] += h;
                    CHECK_ABS((double)g[c], (up - down) / (2 * h), 2e-6);
                }
            }
}

/* Weights, rows without a loss, and scores that are no numbers. */
static void loss_of_rows(void) {
    float f[] = {0.3f, -0.2f, 1.1f}, y[] = {1, -1, 1}, w[] = {2, 0, 0.5f}, g[3], one[3];
    int32_t class[] = {1, 0, 1};
    krein_aims plain = {y, class, NULL}, weighted = {y, class, w};
    for (int64_t q = 0; q < krein__loss_count; q++) {
        const krein_loss_class *loss = (const krein_loss_class *)krein__losses[q];
        double a = krein__loss_rows(loss, 1, 1, f, &plain, 1, one);
        double b =
            krein__loss_rows(loss, 1, 1, f + 2, &(krein_aims){y + 2, class + 2, NULL}, 1, one + 2);
        CHECK_REL(krein__loss_rows(loss, 3, 1, f, &weighted, 0.25, g), 2 * a + 0.5 * b, 1e-12);
        CHECK_ABS((double)g[0], 0.5 * (double)one[0], 1e-7);
        CHECK(g[1] == 0);
        CHECK_ABS((double)g[2], 0.125 * (double)one[2], 1e-7);
        float bad[] = {NAN, 1, 2};
        CHECK(!isfinite(loss->row(1, bad, y, 1, g)));
        CHECK(!isfinite(loss->row(3, bad, y, 1, g)));
        /* far scores do not overflow */
        float far[] = {-700, 800, 900};
        CHECK(isfinite(loss->row(3, far, y, 0, g)) && isfinite(loss->row(1, far, y, 1, g)));
    }
}

/* ---- a step ------------------------------------------------------------- */

typedef struct step_rows {
    krein_window all;
} step_rows;

static krein_status whole(void *user, int64_t which, krein_window *out) {
    (void)which;
    *out = ((step_rows *)user)->all;
    return KREIN_OK;
}

enum { IN = 3, M = 7, N = 11 };
static const double LA = 0.3, LB = 0.2;

/* The objective in double: loss, LA |W|^2 of the last layer without its intercepts, LB mean |z|^2.
 */
static double slow_objective(const krein_net *net, const krein_loss_class *loss, const double *p,
                             const krein_window *rows) {
    int64_t k = krein__net_out(net);
    double sum = 0, x[IN], z[M], f[8];
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < IN; j++) x[j] = (double)rows->x.x[i * IN + j];
        slow_spectral(&net->layer[0], p, x, z);
        slow_affine(&net->layer[1], p + net->layer[1].first, z, f);
        const float *y = rows->aims.y + i * k;
        sum += (double)rows->aims.weight[i] * slow_loss(loss, k, f, y, rows->aims.class[i]) / N;
        for (int64_t j = 0; j < M; j++) sum += LB * z[j] * z[j] / N;
    }
    for (int64_t i = 0; i < M * k; i++) sum += LA * pow(p[net->layer[1].first + i], 2);
    return sum;
}

/* A plain step goes against the gradient of the whole objective, with every loss. Phases stay. */
static void steps(void) {
    for (int64_t q = 0; q < krein__loss_count; q++)
        for (int64_t k = 1; k <= 3; k += 2) {
            krein_ctx *ctx = test_ctx(2);
            const krein_loss_class *loss = (const krein_loss_class *)krein__losses[q];
            krein_net net;
            char head[32];
            float *x = test_dense(N, IN, 0.2), y[N * 3], weight[N];
            int32_t class[N];
            snprintf(head, sizeof head, "affine(width=%d)", (int)k);
            krein__net_begin(ctx, IN, &net);
            CHECK(krein__net_add(&net, "spectral(width=7)") == KREIN_OK);
            CHECK(krein__net_add(&net, head) == KREIN_OK && krein__net_ready(&net) == KREIN_OK);
            int64_t last = net.layer[1].first + net.layer[1].parameters;
            int64_t phases = krein__spectral_at(&net.layer[0], net.p).phase - net.p;
            double *p = test_new(net.count, sizeof *p), worst = 0, top = 0;
            for (int64_t i = 0; i < last; i++) p[i] = (double)(float)(0.8 * det(i, i % 5, 0.9));
            for (int64_t i = 0; i < last; i++) net.p[i] = (float)p[i];
            for (int64_t i = 0; i < N; i++) {
                class[i] = (int32_t)(i % (k == 1 ? 2 : k));
                weight[i] = (float)(i % 3) / 2;
                for (int64_t c = 0; c < k; c++)
                    y[i * k + c] = (k == 1 ? class[i] == 1 : c == class[i]) ? 1 : -1;
            }
            step_rows rows = {{krein__rows_dense(N, IN, x, IN), {y, class, weight}}};
            krein_fit_rows all = {N, 1, whole, &rows, {{0}, {0}}};
            krein_fit_options o = {.loss = loss,
                                   .optimizer = {.cls = &krein__optimizer_sgd},
                                   .rate = 0.5,
                                   .epochs = 1,
                                   .batch = N,
                                   .penalty = KREIN_PENALTY_FROBENIUS,
                                   .lambda_a = LA,
                                   .lambda_b = LB};
            krein_fit_report r;
            CHECK(krein__net_fit(&net, &all, &o, &r) == KREIN_OK && r.best.epoch == 1);
            for (int64_t i = 0; i < last; i++) {
                bool phase = i >= phases && i < net.layer[1].first;
                double h = 1e-5, was = p[i], moved = (was - (double)net.p[i]) / o.rate;
                p[i] = was + h;
                double up = slow_objective(&net, loss, p, &rows.all);
                p[i] = was - h;
                double slope =
                    phase ? 0 : (up - slow_objective(&net, loss, p, &rows.all)) / (2 * h);
                p[i] = was;
                top = fmax(top, fabs(slope));
                worst = fmax(worst, fabs(slope - moved));
            }
            CHECK_ELSE(top > 0 && worst < 2e-5 * fmax(1, top), "%s, %d scores: off by %g of %g\n",
                       loss->cls.name, (int)k, worst, top);
            krein__net_clear(&net);
            CHECK(atomic_load(&ctx->held) == 0);
            krein_ctx_destroy(ctx);
            free(x), free(p);
        }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(layers);
    RUN(nets);
    RUN(bad_layers);
    RUN(losses);
    RUN(loss_of_rows);
    RUN(steps);
    return DONE();
}
