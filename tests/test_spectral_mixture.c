/* test_spectral_mixture.c -- the kernel spectral with numbers of its own: drawn, learned, from a
 * file. Values of drawn ones are in test_kernels.c, their law in test_spectra.c. */
#include "train.h"

#include "kernel/gram.h"
#include "kernel/spectral_mixture.h"
#include "learn/evidence.h"
#include "map/learned.h"
#include "model/model.h"
#include "num/blas.h"

/* ---- slow formulas ------------------------------------------------------ */

/* Means in radians, as the paper has them. */
typedef struct mixture {
    int64_t q, d;
    double w[8], V[32], mu[32];
} mixture;

static double slow(const mixture *m, const double *x, const double *y) {
    double sum = 0;
    for (int64_t c = 0; c < m->q; c++) {
        double e = 0, a = 0;
        for (int64_t j = 0; j < m->d; j++) {
            e += m->V[c * m->d + j] * (x[j] - y[j]) * (x[j] - y[j]);
            a += m->mu[c * m->d + j] * (x[j] - y[j]);
        }
        sum += m->w[c] * exp(-e / 2) * cos(a);
    }
    return sum;
}

static mixture unpack(const double *p) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    mixture m = {.q = s.q, .d = s.d};
    for (int64_t c = 0; c < s.q; c++) m.w[c] = s.w[c];
    for (int64_t i = 0; i < s.q * s.d; i++) {
        m.V[i] = s.V[i];
        m.mu[i] = 2 * M_PI * s.mu[i];
    }
    return m;
}

static krein_kernel *parsed(krein_ctx *ctx, const char *text) {
    krein_kernel *k = NULL;
    if (krein__kernel_parse(ctx, text, &k) != KREIN_OK) {
        printf("%s: %s\n", text, krein_message(ctx));
        exit(1);
    }
    return k;
}

/* ---- drawn -------------------------------------------------------------- */

/* A larger q has the components of a smaller one; sigma is a length; seeds differ. */
static void draws(void) {
    krein_ctx *ctx = test_ctx(1);
    double p[3][100];
    static const char *const text[] = {"spectral(q=2, sigma=1)", "spectral(q=5, sigma=4)",
                                       "spectral(q=2, sigma=1, seed=2)"};
    for (int i = 0; i < 3; i++) {
        krein_kernel *k = parsed(ctx, text[i]);
        CHECK(k->kernel->count(k, 3) <= 100);
        CHECK(k->kernel->numbers(ctx, k, 3, p[i]) == KREIN_OK);
        krein__kernel_destroy(ctx, k);
    }
    mixture a = unpack(p[0]), b = unpack(p[1]), c = unpack(p[2]);
    CHECK(a.q == 2 && b.q == 5 && a.d == 3 && a.w[1] == .5 && b.w[4] == .2);
    for (int i = 0; i < 6; i++) {
        CHECK_REL(b.mu[i], a.mu[i] / 4, 1e-14);
        CHECK_REL(b.V[i], a.V[i] / 16, 1e-14);
        CHECK(a.V[i] == .25 && a.mu[i] != c.mu[i]);
    }
    krein_ctx_destroy(ctx);
}

/* The kernel is the same whatever the seed of a training, and its free sigma is chosen. */
static void one_kernel_for_all_seeds(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(80, .1, 3);
    krein_train_options o = defaults();
    double *K[2] = {test_new(80 * 80, sizeof(double)), test_new(80 * 80, sizeof(double))};
    o.kernel = "spectral(q=3, sigma=1.5)";
    for (int i = 0; i < 2; i++) {
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        o.seed = 1 + (uint64_t)i;
        CHECK(krein_gram_values(ctx, data, NULL, &o, K[i], 80 * 80, NULL) == KREIN_OK);
        krein_data_close(data);
    }
    CHECK(memcmp(K[0], K[1], 80 * 80 * sizeof(double)) == 0);
    free(K[0]), free(K[1]);
    static const char *const map[] = {"exact",         "nystrom(D=20)",  "rff(D=40)",
                                      "nrff(D=40)",    "leverage(D=40)", "surrogate(D=40)",
                                      "aligned(D=40)", "learned(D=40)",  "auto(D=40)"};
    for (int i = 0; i < (int)(sizeof map / sizeof *map); i++) {
        krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.kernel = "spectral(q=3)";
        o.map = map[i];
        krein_status st = krein_train(ctx, data, &o, &report, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", map[i], krein_message(ctx));
        if (st == KREIN_OK) CHECK_HAS(report.kernel, "sigma=");
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    drop(&r);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- the evidence ------------------------------------------------------- */

/* Minus log likelihood over n k at the best variance, by elimination without pivots. */
static double slow_evidence(const krein_evidence_rows *r, const mixture *m, double noise) {
    int64_t n = r->n, k = r->k, wide = n + k;
    double *a = test_new(n * wide, sizeof *a), determinant = 0, S = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < n; l++) a[i * wide + l] = slow(m, r->x + i * r->d, r->x + l * r->d);
        a[i * wide + i] += noise / (r->w ? r->w[i] : 1);
        for (int64_t c = 0; c < k; c++) a[i * wide + n + c] = r->y[i * k + c];
    }
    for (int64_t p = 0; p < n; p++) {
        determinant += log(a[p * wide + p]);
        /* y'A^-1 y is the sum of squares of the pivots' right sides */
        for (int64_t c = 0; c < k; c++) S += pow(a[p * wide + n + c], 2) / a[p * wide + p];
        for (int64_t i = p + 1; i < n; i++) {
            double f = a[i * wide + p] / a[p * wide + p];
            for (int64_t l = p; l < wide; l++) a[i * wide + l] -= f * a[p * wide + l];
        }
    }
    free(a);
    return .5 * log(S / (double)(n * k)) + determinant / (2 * (double)n);
}

/* The mixture that the numbers of the steps stand for. */
static mixture of_steps(int64_t q, int64_t d, const double *unit, const double *t) {
    mixture m = {.q = q, .d = d};
    double sum = 0;
    for (int64_t c = 0; c < q; c++) sum += exp(t[c]);
    for (int64_t c = 0; c < q; c++) m.w[c] = exp(t[c]) / sum;
    for (int64_t i = 0; i < q * d; i++) {
        m.mu[i] = t[q + i] * unit[i];
        m.V[i] = exp(t[q + q * d + i]);
    }
    return m;
}

/* Value and gradient, with and without weights, one target and two. */
static void evidence(void) {
    enum { N = 25, D = 3, Q = 2, COUNT = Q + 2 * Q * D + 1 };
    krein_ctx *ctx = test_ctx(2);
    double x[N * D], y[N * 2], w[N], unit[Q * D], t[COUNT], g[COUNT], unused[COUNT];
    for (int i = 0; i < N * D; i++) x[i] = 2 * test_random();
    for (int i = 0; i < N * 2; i++) y[i] = test_random();
    for (int i = 0; i < N; i++) w[i] = .5 + (i % 4);
    for (int i = 0; i < Q * D; i++) unit[i] = .3 + .2 * i;
    for (int i = 0; i < COUNT; i++) t[i] = .7 * test_random();
    t[COUNT - 1] = -3;
    CHECK(krein__evidence_count(Q, D) == COUNT);
    for (int i = 0; i < 3; i++) {
        krein_evidence_rows r = {N, D, i == 0 ? 1 : 2, x, y, i == 2 ? w : NULL};
        mixture m = of_steps(Q, D, unit, t);
        double value, up, down, h = 1e-5;
        CHECK(krein__evidence_at(ctx, &r, Q, unit, t, &value, g) == KREIN_OK);
        CHECK_REL(value, slow_evidence(&r, &m, exp(t[COUNT - 1]) + 1e-6), 1e-10);
        for (int j = 0; j < COUNT; j++) {
            double at = t[j];
            t[j] = at + h;
            CHECK(krein__evidence_at(ctx, &r, Q, unit, t, &up, unused) == KREIN_OK);
            t[j] = at - h;
            CHECK(krein__evidence_at(ctx, &r, Q, unit, t, &down, unused) == KREIN_OK);
            t[j] = at;
            CHECK_ABS(g[j], (up - down) / (2 * h), 1e-7);
        }
    }
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- learned ------------------------------------------------------------ */

static const mixture truth = {
    .q = 2, .d = 2, .w = {.6, .4}, .V = {.09, .09, .09, .09}, .mu = {4, 0, 1, 7}};

/* Rows in a square, and draws of a Gaussian process with the true kernel and noise 0.1. */
static rows process(int64_t n, uint64_t seed) {
    rows r = make_rows(n, 2, 1, seed);
    krein_ctx *ctx = test_ctx(1);
    double *K = test_new(n * n, sizeof *K), *e = test_new(n, sizeof *e);
    int64_t pivot;
    for (int64_t i = 0; i < 2 * n; i++) r.x[i] = 4 * r.x[i] - 2;
    for (int64_t i = 0; i < n; i++) {
        e[i] = normal();
        for (int64_t l = 0; l < n; l++) {
            double x[2] = {(double)r.x[2 * i], (double)r.x[2 * i + 1]};
            double y[2] = {(double)r.x[2 * l], (double)r.x[2 * l + 1]};
            K[i * n + l] = slow(&truth, x, y) + (i == l ? 1e-6 : 0);
        }
    }
    if (krein__cholesky(ctx, n, K, n, &pivot) != KREIN_OK) exit(1);
    for (int64_t i = 0; i < n; i++) {
        r.y[i] = .1 * normal();
        for (int64_t l = 0; l <= i; l++) r.y[i] += K[l * n + i] * e[l];
    }
    free(K), free(e);
    krein_ctx_destroy(ctx);
    return r;
}

/* The first n rows, and the others. */
static rows part(const rows *r, int64_t from, int64_t n) {
    rows p = make_rows(n, r->d, 1, 1);
    memcpy(p.x, r->x + from * r->d, (size_t)(n * r->d) * sizeof *p.x);
    memcpy(p.y, r->y + from, (size_t)n * sizeof *p.y);
    return p;
}

static krein_data *unscaled(krein_ctx *ctx, const rows *r) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    o.task = KREIN_TASK_REGRESSION;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, r->y, NULL, &o, &data) != KREIN_OK)
        exit(1);
    return data;
}

static krein_status train(krein_ctx *ctx, const rows *r, const krein_train_options *o,
                          krein_report *report, krein_model **m) {
    krein_data *data = unscaled(ctx, r);
    krein_status st = krein_train(ctx, data, o, report, m);
    krein_data_close(data);
    return st;
}

/* Held-out error of krr with the kernel on its matrix. */
static double error_of(krein_ctx *ctx, const rows *r, const rows *test, const char *kernel,
                       const char *map) {
    krein_train_options o = defaults();
    krein_model *m = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    o.kernel = kernel;
    o.map = map;
    o.learner = "krr";
    krein_status st = train(ctx, r, &o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", kernel, krein_message(ctx));
    if (!m) return NAN;
    krein_data *data = unscaled(ctx, test);
    CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_OK);
    krein_data_close(data);
    krein_model_destroy(m);
    return metrics.rmse;
}

/* How far the component nearest to a true mean is from it, of either sign. Those that hardly count
 * do not. */
static double nearest(const mixture *m, int64_t c) {
    double best = INFINITY;
    for (int64_t a = 0; a < m->q; a++)
        for (int sign = -1; sign < 2; sign += 2) {
            double x = sign * m->mu[2 * a] - truth.mu[2 * c];
            double y = sign * m->mu[2 * a + 1] - truth.mu[2 * c + 1];
            if (m->w[a] > .05) best = fmin(best, hypot(x, y));
        }
    return best;
}

/* The means of the process are found; its kernel, from the file, is better than a Gaussian. */
static void means_are_found(void) {
    krein_ctx *ctx = test_ctx(2);
    rows all = process(340, 4), r = part(&all, 0, 140), test = part(&all, 140, 200);
    krein_train_options o = defaults();
    krein_report report = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    char spec[300], kernel[320];
    o.learner = "askl(form=mixture, q=2, D=300, epochs=1)";
    o.kernel = "gaussian";
    krein_status st = train(ctx, &r, &o, &report, &m);
    CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(ctx));
    if (!m) exit(1);
    CHECK_HAS(report.learner, "form=mixture, q=2");
    CHECK_HAS(report.learner, "train=no");
    mixture found = unpack(krein__learned(m->map)->mixture);
    for (int64_t c = 0; c < 2; c++) {
        double off = nearest(&found, c);
        CHECK_ELSE(off < .35, "component %d: mean off by %g\n", (int)c, off);
    }
    CHECK(krein_model_save(ctx, m, test_path("mix.krein")) == KREIN_OK);
    snprintf(kernel, sizeof kernel, "spectral(file=\"%s\")", test_path("mix.krein"));
    double gauss = error_of(ctx, &r, &test, "gaussian", "exact");
    double exact = error_of(ctx, &r, &test, kernel, "exact");
    double features = error_of(ctx, &r, &test, kernel, "rff(D=600)");
    snprintf(spec, sizeof spec, "learned(file=\"%s\")", test_path("mix.krein"));
    double same = error_of(ctx, &r, &test, "gaussian(sigma=1)", spec);
    CHECK_ELSE(exact < .8 * gauss && features < .9 * gauss && same < .9 * gauss,
               "rmse: gaussian %g, mixture %g, rff %g, its features %g\n", gauss, exact, features,
               same);
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    drop(&all), drop(&r), drop(&test);
    krein_ctx_destroy(ctx);
}

/* ---- from a file -------------------------------------------------------- */

/* A small model with a mixture, at `name`; the mixture. */
static mixture save_mixture(krein_ctx *ctx, const rows *r, const char *name) {
    krein_train_options o = defaults();
    krein_model *m = NULL;
    o.learner = "askl(form=mixture, q=3, D=16, epochs=1)";
    o.kernel = "gaussian(sigma=0.5)";
    if (train(ctx, r, &o, NULL, &m) != KREIN_OK ||
        krein_model_save(ctx, m, test_path(name)) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    mixture found = unpack(krein__learned(m->map)->mixture);
    krein_model_destroy(m);
    return found;
}

/* Values and frequencies of the file's kernel, at twice its lengths, by slow formulas. */
static void values_from_a_file(void) {
    enum { N = 40 };
    krein_ctx *ctx = test_ctx(1);
    rows r = process(60, 5);
    mixture m = save_mixture(ctx, &r, "small.krein");
    char text[300];
    double *K = test_new(N * N, sizeof *K), off = 0, sum = 0;
    snprintf(text, sizeof text, "spectral(sigma=2, file=\"%s\")", test_path("small.krein"));
    krein_kernel *k = parsed(ctx, text);
    krein_rows x = krein__rows_dense(N, 2, r.x, 2);
    CHECK(krein__kernel_free(k, -1, NULL, NULL) == 0);
    CHECK(krein__gram_full(ctx, k, &x, &x, K) == KREIN_EDATA); /* nobody has read the file */
    CHECK(krein__kernel_settle(ctx, k, 2, NULL) == KREIN_OK);
    CHECK(krein__gram_full(ctx, k, &x, &x, K) == KREIN_OK);
    for (int64_t i = 0; i < N; i++)
        for (int64_t l = 0; l < N; l++) {
            double a[2] = {(double)r.x[2 * i] / 2, (double)r.x[2 * i + 1] / 2};
            double b[2] = {(double)r.x[2 * l] / 2, (double)r.x[2 * l + 1] / 2};
            off = fmax(off, fabs(K[i * N + l] - slow(&m, a, b)));
        }
    CHECK(m.q == 3 && off < 1e-13);
    double tau[2] = {.31, -.22}, half[2] = {.155, -.11}, zero[2] = {0, 0};
    double one = slow(&m, half, zero), two = slow(&m, tau, zero), p[100], w[2];
    int64_t R = test_sanitized() ? 2000 : 20000;
    CHECK(k->kernel->numbers(ctx, k, 2, p) == KREIN_OK);
    for (int64_t f = 0; f < R; f++) {
        k->kernel->frequency(p, (krein_rng){3, KREIN_STREAM_MAP}, (uint64_t)f, 2, w);
        sum += cos(w[0] * tau[0] + w[1] * tau[1]);
    }
    CHECK_Z(sum / (double)R, one, (1 + two) / 2 - one * one, R);
    krein__kernel_destroy(ctx, k);
    free(K);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Models that use the file hold what is in it: they need it no more. */
static void models_do_without_the_file(void) {
    static const char *const map[] = {"exact", "nystrom(D=20)", "rff(D=30)", "leverage(D=30)",
                                      "auto(D=30)"};
    krein_ctx *ctx = test_ctx(1);
    rows r = process(60, 5);
    for (int i = 0; i < 5; i++) {
        krein_train_options o = defaults();
        krein_model *m = NULL, *loaded = NULL;
        char kernel[320];
        save_mixture(ctx, &r, "gone.krein");
        snprintf(kernel, sizeof kernel, "0.5*spectral(file=\"%s\") + spectral(q=2, sigma=1)",
                 test_path("gone.krein"));
        o.kernel = kernel;
        o.map = map[i];
        krein_status st = train(ctx, &r, &o, NULL, &m);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", map[i], krein_message(ctx));
        remove(test_path("gone.krein"));
        if (!m) continue;
        test_bytes a = test_model_bytes(ctx, m);
        st = krein_model_load_memory(ctx, a.at, (int64_t)a.n, &loaded);
        CHECK_ELSE(st == KREIN_OK, "%s: %s\n", map[i], krein_message(ctx));
        if (loaded) {
            test_bytes b = test_model_bytes(ctx, loaded);
            CHECK(test_same(a, b));
            free(b.at);
            krein_rows x = krein__rows_dense(60, 2, r.x, 2);
            double *f = test_new(120, sizeof *f);
            for (int q = 0; q < 2; q++) {
                krein_predictor p;
                CHECK(krein__predictor_begin(ctx, q ? loaded : m, &p) == KREIN_OK);
                krein__predictor_run(&p, &x, f + 60 * q);
                krein__predictor_end(&p);
            }
            CHECK(memcmp(f, f + 60, 60 * sizeof *f) == 0);
            free(f);
        }
        free(a.at);
        krein_model_destroy(m);
        krein_model_destroy(loaded);
    }
    drop(&r);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- tasks and bits ----------------------------------------------------- */

/* Classes; the number of threads; what was chosen, given back; a start from the kernel. */
static void same_bits(void) {
    static const struct {
        const char *learner, *kernel;
        int classes;
    } all[] = {{"askl(form=mixture, D=40, epochs=2)", "gaussian(sigma=0.5)", 3},
               {"askl(form=mixture, D=40, epochs=2, sines=yes)", "spectral(q=2, sigma=1)", 0},
               {"askl(form=mixture, q=1, D=40, epochs=2, loss=hinge)", "laplacian(sigma=1)", 2}};
    for (int i = 0; i < 3; i++) {
        rows r = all[i].classes ? rings(90, all[i].classes, 3) : friedman(90, .1, 3);
        krein_train_options o = defaults();
        krein_report report = KREIN_SIZED(krein_report);
        test_bytes made[3];
        o.learner = all[i].learner;
        o.kernel = all[i].kernel;
        for (int q = 0; q < 3; q++) {
            krein_ctx *ctx = test_ctx(1 + q % 2);
            krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_AUTO);
            krein_model *m = NULL;
            if (q == 2) o.learner = report.learner;
            krein_status st = krein_train(ctx, data, &o, q == 1 ? &report : NULL, &m);
            CHECK_ELSE(st == KREIN_OK, "%s: %s\n", o.learner, krein_message(ctx));
            if (!m) exit(1);
            made[q] = test_model_bytes(ctx, m);
            krein_model_destroy(m);
            krein_data_close(data);
            if (q == 1) {
                CHECK_HAS(report.learner, i == 0 ? "q=4" : i == 1 ? "q=2" : "q=1");
                CHECK_HAS(report.learner, "preset=sk");
            }
            if (q == 2) {
                CHECK(test_same(made[0], made[1]) && test_same(made[0], made[2]));
                for (int k = 0; k < 3; k++) free(made[k].at);
                krein_report_clear(ctx, &report);
            }
            krein_ctx_destroy(ctx);
        }
        drop(&r);
    }
}

/* Training the frequencies of such a model one by one leaves no mixture behind. */
static void free_training_drops_the_mixture(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = process(60, 5);
    krein_train_options o = defaults();
    krein_model *m = NULL, *same = NULL;
    char map[300];
    save_mixture(ctx, &r, "one.krein");
    snprintf(map, sizeof map, "learned(file=\"%s\")", test_path("one.krein"));
    o.map = map;
    o.kernel = "gaussian(sigma=1)";
    o.learner = "krr";
    CHECK(train(ctx, &r, &o, NULL, &same) == KREIN_OK);
    o.learner = "askl(epochs=1)";
    CHECK(train(ctx, &r, &o, NULL, &m) == KREIN_OK);
    if (m && same) {
        krein_array a;
        CHECK(krein__learned(same->map)->mixture && !krein__learned(m->map)->mixture);
        CHECK(krein_model_array(same, "mixture.means", &a) && a.rows == 3 && a.columns == 2);
        CHECK(krein_model_array(same, "mixture.weights", &a) && a.columns == 3);
        CHECK(!krein_model_array(m, "mixture.means", &a));
        krein_fact fact;
        CHECK(krein_model_fact(same, 0, &fact) && fact.value == 3 &&
              !krein_model_fact(m, 0, &fact));
    }
    krein_model_destroy(m);
    krein_model_destroy(same);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Numbers that are alike: of one value, weights of zero, few rows, equal rows. */
static void odd_input(void) {
    for (int i = 0; i < 5; i++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        rows r = friedman(i == 0 ? 3 : 60, .1, 3);
        double *weight = test_new(r.n, sizeof *weight);
        krein_train_options o = defaults();
        krein_model *m = NULL;
        for (int64_t j = 0; j < r.n; j++) weight[j] = i == 3 ? (double)(j % 3) : 1;
        for (int64_t j = 0; i == 1 && j < r.n; j++) r.y[j] = 5;
        for (int64_t j = 0; i == 2 && j < r.n * r.d; j++) r.x[j] = 1;
        for (int64_t j = 0; i == 4 && j < r.n * r.d; j++) r.x[j] *= 1e15f;
        krein_data *data = open_rows(ctx, &r, i == 3 ? weight : NULL, KREIN_TASK_REGRESSION);
        o.learner = "askl(form=mixture, D=8, epochs=1)";
        o.kernel = "gaussian(sigma=1)";
        krein_status st = krein_train(ctx, data, &o, NULL, &m);
        CHECK_ELSE(st == KREIN_OK, "case %d: %s\n", i, krein_message(ctx));
        if (m) {
            const double *p = krein__learned(m->map)->mixture;
            bool finite = true;
            for (int64_t j = 0; j < krein__spectral_mixture_count(4, r.d); j++)
                finite = finite && isfinite(p[j]);
            CHECK(finite);
        }
        krein_model_destroy(m);
        krein_data_close(data);
        free(weight);
        drop(&r);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
}

static void refusals(void) {
    static const struct {
        const char *learner, *kernel, *map;
        krein_status status;
        const char *part;
    } all[] = {
        {"askl(q=3)", "gaussian(sigma=1)", NULL, KREIN_EARG, "form=mixture"},
        {"askl(form=mixture, train=yes)", "gaussian(sigma=1)", NULL, KREIN_EARG, "`train`"},
        {"askl(form=mixture, spectrum=nonstationary)", "gaussian", NULL, KREIN_EARG, "`spectrum`"},
        {"askl(form=mixture, preset=nskl)", "gaussian(sigma=1)", NULL, KREIN_EARG, "`preset`"},
        {"askl(form=mixture)", "gaussian(sigma=1)", "learned(D=8)", KREIN_EARG, "stationary"},
        {"askl(form=mixture, q=3)", "spectral(q=2, sigma=1)", NULL, KREIN_EARG, "leave q out"},
        {"askl(form=mixture, q=0)", "gaussian(sigma=1)", NULL, KREIN_ESPEC, "q"},
        {"krr", "spectral(q=257)", "rff", KREIN_ESPEC, "q"},
        {"krr", "spectral(seed=2, file=small.krein)", "rff", KREIN_ESPEC, "seed"},
        {"krr", "spectral(file=none.krein)", "rff", KREIN_EIO, "none.krein"},
        {"krr", "spectral(sigma=1)", "orf", KREIN_ESPEC, "try rff"},
        {"krr", "spectral(sigma=1)", "sorf", KREIN_ESPEC, "try rff"}};
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(50, .1, 3), square = process(60, 5);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_train_options o = defaults();
        krein_model *m = NULL;
        o.learner = all[i].learner;
        o.kernel = all[i].kernel;
        o.map = all[i].map;
        krein_status st = train(ctx, &r, &o, NULL, &m);
        CHECK_ELSE(st == all[i].status, "%s, %s: %d %s\n", all[i].learner, all[i].kernel, (int)st,
                   krein_message(ctx));
        CHECK_HAS(krein_message(ctx), all[i].part);
        krein_model_destroy(m);
    }
    /* files: for other columns, of another q, without a mixture */
    krein_train_options o = defaults();
    krein_model *m = NULL;
    char kernel[320];
    save_mixture(ctx, &square, "two.krein");
    snprintf(kernel, sizeof kernel, "spectral(file=\"%s\")", test_path("two.krein"));
    o.kernel = kernel;
    CHECK(train(ctx, &r, &o, NULL, &m) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "for 2 encoded columns");
    snprintf(kernel, sizeof kernel, "spectral(q=2, file=\"%s\")", test_path("two.krein"));
    CHECK(train(ctx, &square, &o, NULL, &m) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "3 components");
    o.kernel = "gaussian(sigma=1)";
    o.learner = "askl(D=8, epochs=1)";
    CHECK(train(ctx, &r, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_model_save(ctx, m, test_path("free.krein")) == KREIN_OK);
    krein_model_destroy(m);
    snprintf(kernel, sizeof kernel, "spectral(file=\"%s\")", test_path("free.krein"));
    o.kernel = kernel;
    o.learner = "krr";
    CHECK(train(ctx, &r, &o, NULL, &m) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "no spectral mixture");
    CHECK_HAS(krein_message(ctx), "askl(form=mixture)");
    drop(&r), drop(&square);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* A damaged mixture with a right checksum is refused. */
static void damaged_mixtures(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = process(60, 5);
    for (int i = 0; i < 3; i++) {
        krein_model *m = NULL, *loaded = NULL;
        save_mixture(ctx, &r, "bad.krein");
        CHECK(krein_model_load(ctx, test_path("bad.krein"), &m) == KREIN_OK);
        if (!m) exit(1);
        krein_spectral_mixture s = krein__spectral_mixture(krein__learned(m->map)->mixture);
        if (i == 0) s.w[0] += .5;
        if (i == 1) s.V[1] = -1;
        if (i == 2) s.mu[0] = INFINITY;
        test_bytes bytes = test_model_bytes(ctx, m);
        CHECK(krein_model_load_memory(ctx, bytes.at, (int64_t)bytes.n, &loaded) == KREIN_EMODEL);
        free(bytes.at);
        krein_model_destroy(m);
    }
    drop(&r);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- memory and time ---------------------------------------------------- */

static void plan_bounds_the_memory(void) {
    static const char *const learner[] = {"askl(form=mixture, D=16, epochs=1)", "krr", "krr"};
    static const char *const kernel[] = {"gaussian(sigma=1)", "spectral(q=200, sigma=1)",
                                         "spectral(q=200, sigma=1)"};
    static const char *const map[] = {NULL, "rff(D=16)", "nystrom(D=16)"};
    for (int i = 0; i < 3; i++) {
        krein_ctx *one = test_ctx(1 + i % 2), *two = test_ctx(1 + i % 2);
        rows r = make_rows(i ? 40 : 150, i ? 300 : 4, 1, 2);
        for (int64_t j = 0; j < r.n; j++) r.y[j] = sin(5 * (double)r.x[j * r.d]);
        krein_train_options o = defaults();
        krein_report plan = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        o.learner = learner[i];
        o.kernel = kernel[i];
        o.map = map[i];
        krein_data *data = unscaled(one, &r);
        CHECK(krein_plan(one, data, &o, &plan) == KREIN_OK);
        krein_data_close(data);
        CHECK(train(two, &r, &o, NULL, &m) == KREIN_OK);
        CHECK_ELSE(krein_ctx_peak_bytes(two) <= plan.bytes_peak,
                   "%s, %s: %.0f bytes, planned %.0f\n", learner[i], kernel[i],
                   (double)krein_ctx_peak_bytes(two), (double)plan.bytes_peak);
        krein_report_clear(one, &plan);
        krein_model_destroy(m);
        drop(&r);
        krein_ctx_destroy(one);
        krein_ctx_destroy(two);
    }
}

static void every_allocation(void) {
    rows r = process(12, 5);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_train_options o = defaults();
    char kernel[320];
    krein_ctx *plain = test_ctx(1);
    save_mixture(plain, &r, "tiny.krein");
    snprintf(kernel, sizeof kernel, "spectral(file=\"%s\")", test_path("tiny.krein"));
    for (int i = 0; i < 2; i++) {
        o.learner = i ? "krr" : "askl(form=mixture, q=1, D=4, epochs=1)";
        o.kernel = i ? kernel : "spectral(q=1, sigma=1)";
        o.map = i ? "rff(D=4)" : NULL;
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_data *data = NULL;
            krein_data_options d;
            krein_model *m = NULL;
            krein_data_options_init(&d);
            d.task = KREIN_TASK_REGRESSION;
            krein_status st = krein_data_from_dense(ctx, r.n, r.d, r.x, r.d, r.y, NULL, &d, &data);
            if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            krein_data_close(data);
        }
    }
    krein_ctx_destroy(plain);
    krein_ctx_destroy(ctx);
    drop(&r);
}

int main(void) {
    RUN(draws);
    RUN(one_kernel_for_all_seeds);
    RUN(evidence);
    RUN(means_are_found);
    RUN(values_from_a_file);
    RUN(models_do_without_the_file);
    RUN(same_bits);
    RUN(free_training_drops_the_mixture);
    RUN(odd_input);
    RUN(refusals);
    RUN(damaged_mixtures);
    RUN(plan_bounds_the_memory);
    RUN(every_allocation);
    return DONE();
}
