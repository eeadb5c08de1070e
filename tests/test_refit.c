/* test_refit.c -- the error of askl after the refit: that of the held-out rows by weights of the
 * other rows, against ridge regression written out. */
#include "train.h"

#include "learn/learn.h"
#include "map/learned.h"

enum { N = 120, D = 9, WIDE = D + 1, MOST = 3 };

/* The features of FORMULAS 10, and a one for the intercept. */
static void slow_features(const krein_model *m, const float *x, double *z) {
    const krein_learned *s = krein__learned(m->map);
    int64_t d = m->map->d;
    for (int64_t f = 0; f < D; f++) {
        double a = (double)s->W[d * D + f], b = (double)s->V[d * D + f];
        for (int64_t j = 0; j < d; j++) {
            a += (double)x[j] * (double)s->W[j * D + f];
            b += (double)x[j] * (double)s->V[j * D + f];
        }
        z[f] = (cos(2 * M_PI * a) + cos(2 * M_PI * b)) / sqrt(2.0 * D);
    }
    z[D] = 1;
}

/* Weights (WIDE x k) of the rows that are not out; penalty: the sum of weights times lambda. */
static void slow_ridge(const double *z, const double *y, int k, const double *weight,
                       const bool *out, double penalty, double *w) {
    double A[WIDE * WIDE] = {0}, b[WIDE * MOST] = {0};
    for (int i = 0; i < N; i++)
        for (int p = 0; !out[i] && p < WIDE; p++) {
            for (int q = 0; q < WIDE; q++)
                A[p * WIDE + q] += weight[i] * z[i * WIDE + p] * z[i * WIDE + q];
            for (int c = 0; c < k; c++)
                b[p * MOST + c] += weight[i] * z[i * WIDE + p] * y[i * k + c];
        }
    for (int p = 0; p < D; p++) A[p * WIDE + p] += penalty;
    for (int p = 0; p < WIDE; p++)
        for (int r = p + 1; r < WIDE; r++) {
            double f = A[r * WIDE + p] / A[p * WIDE + p];
            for (int q = p; q < WIDE; q++) A[r * WIDE + q] -= f * A[p * WIDE + q];
            for (int c = 0; c < k; c++) b[r * MOST + c] -= f * b[p * MOST + c];
        }
    for (int p = WIDE - 1; p >= 0; p--)
        for (int c = 0; c < k; c++) {
            double sum = b[p * MOST + c];
            for (int q = p + 1; q < WIDE; q++) sum -= A[p * WIDE + q] * w[q * k + c];
            w[p * k + c] = sum / A[p * WIDE + p];
        }
}

static bool wrong_class(const double *f, const double *y, int k) {
    int best = 0, right = 0;
    if (k == 1) return f[0] * y[0] <= 0;
    for (int c = 1; c < k; c++) {
        if (f[c] > f[best]) best = c;
        if (y[c] > y[right]) right = c;
    }
    return best != right;
}

typedef struct trial {
    const char *learner;
    int classes; /* 0: numbers */
    int targets;
    bool weighted, grouped;
    double lambda; /* < 0: chosen */
} trial;

/* The error of the held-out rows, written out. */
static double slow_error(krein_ctx *ctx, const trial *t, const krein_model *m, const rows *r,
                         const double *y, const double *weight) {
    int32_t class[N], group[N], fold[N];
    int k = (int)m->k;
    double *z = test_new(N * WIDE, sizeof *z), all = 0, held = 0, sum = 0, w[WIDE * MOST];
    bool out[N] = {false};
    for (int i = 0; i < N; i++) {
        group[i] = i / 3;
        class[i] = (int32_t)(t->classes > 2 ? (r->y[i] == 1   ? 0
                                               : r->y[i] == 3 ? 1
                                                              : 2)
                                            : r->y[i] > 0);
        slow_features(m, r->x + i * r->d, z + i * WIDE);
        all += weight[i];
    }
    CHECK(krein__folds(ctx, 1, N, 10, t->grouped ? group : NULL, t->classes ? class : NULL, fold) ==
          KREIN_OK);
    for (int i = 0; i < N; i++) held += fold[i] == 0 ? weight[i] : 0;
    for (int i = 0; i < N; i++) out[i] = t->grouped && fold[i] == 0;
    for (int i = 0; i < N; i++) {
        double f[MOST] = {0};
        if (fold[i] != 0) continue;
        if (!t->grouped) out[i] = true;
        slow_ridge(z, y, k, weight, out, (t->grouped ? all - held : all) * m->lambda, w);
        if (!t->grouped) out[i] = false;
        for (int c = 0; c < k; c++)
            for (int p = 0; p < WIDE; p++) f[c] += z[i * WIDE + p] * w[p * k + c];
        if (t->classes) sum += weight[i] * wrong_class(f, y + i * k, k);
        for (int c = 0; !t->classes && c < k; c++)
            sum += weight[i] * pow(f[c] - y[i * k + c], 2) / k;
    }
    free(z);
    return t->classes ? sum / held : sqrt(sum / held);
}

/* -1 and +1, one column for two classes. */
static void code(const trial *t, const rows *r, double *y) {
    for (int i = 0; i < N; i++) {
        if (t->classes == 2) y[i] = r->y[i];
        for (int c = 0; t->classes > 2 && c < 3; c++)
            y[3 * i + c] = r->y[i] == (c == 0 ? 1 : c == 1 ? 3 : 7) ? 1 : -1;
        for (int c = 0; t->classes == 0 && c < t->targets; c++)
            y[i * t->targets + c] = r->y[i * t->targets + c];
    }
}

static void try_it(const trial *t) {
    krein_ctx *ctx = test_ctx(1);
    rows r = t->classes ? rings(N, t->classes, 3) : make_rows(N, 4, t->targets, 3);
    krein_train_options o = defaults();
    krein_data_options d;
    krein_report report = KREIN_SIZED(krein_report);
    krein_rows_view v;
    krein_data *data = NULL;
    krein_model *m = NULL;
    double weight[N], y[N * MOST];
    int64_t group[N];
    for (int i = 0; i < N; i++) {
        for (int c = 0; !t->classes && c < t->targets; c++)
            r.y[i * t->targets + c] =
                sin(3 * (double)r.x[4 * i + c]) + (double)r.x[4 * i + 3] * (c + 1) + .2 * normal();
        weight[i] = t->weighted ? 0.5 + (i % 3) : 1;
        group[i] = i / 3;
    }
    code(t, &r, y);
    krein_rows_view_init(&v);
    v.n = N, v.d = r.d, v.x = r.x, v.type = KREIN_FLOAT32;
    v.targets = r.y, v.ntargets = t->classes ? 1 : t->targets;
    v.weights = t->weighted ? weight : NULL;
    v.groups = t->grouped ? group : NULL;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    d.task = t->classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    if (t->targets > 1) d.targets = t->targets;
    o.learner = t->learner;
    o.kernel = "gaussian(sigma=0.7)";
    o.lambda = t->lambda;
    CHECK(krein_data_from_rows(ctx, &v, &d, &data) == KREIN_OK);
    krein_status st = krein_train(ctx, data, &o, &report, &m);
    CHECK_ELSE(st == KREIN_OK, "%s: %s\n", t->learner, krein_message(ctx));
    if (m) {
        double want = slow_error(ctx, t, m, &r, y, weight);
        CHECK_ELSE(fabs(report.refit - want) < 2e-3 * want, "%s: %.8g, want %.8g\n", t->learner,
                   report.refit, want);
        CHECK(isfinite(report.loo) && report.folds == 1 && want > 0);
    }
    krein_report_clear(ctx, &report);
    krein_model_destroy(m);
    krein_data_close(data);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

static void numbers(void) {
    static const char learner[] = "askl(D=9, epochs=5)";
    try_it(&(trial){learner, 0, 1, false, false, -1});
    try_it(&(trial){learner, 0, 1, false, false, 1e-3});
    try_it(&(trial){learner, 0, 2, false, false, -1});
    try_it(&(trial){learner, 0, 1, true, false, 1e-3});
    try_it(&(trial){learner, 0, 1, false, true, 1e-3});
    try_it(&(trial){learner, 0, 1, true, true, -1});
}

static void classes(void) {
    try_it(&(trial){"askl(D=9, epochs=2, loss=square)", 2, 1, false, false, -1});
    try_it(&(trial){"askl(D=9, epochs=2, refit=yes)", 3, 1, false, false, 1e-2});
    try_it(&(trial){"askl(D=9, epochs=2, refit=yes)", 3, 1, true, true, 1e-2});
}

/* Where nothing is solved for again, or no row is held out, there is none. */
static void none(void) {
    static const struct {
        const char *learner;
        int64_t n;
        bool held;
    } all[] = {{"askl(D=9, epochs=2, refit=no)", N, true}, {"askl(D=9, epochs=2)", 30, false}};
    for (int i = 0; i < 2; i++) {
        krein_ctx *ctx = test_ctx(1);
        rows r = friedman(all[i].n, .1, 3);
        krein_train_options o = defaults();
        krein_report report = KREIN_SIZED(krein_report);
        krein_model *m = NULL;
        krein_data *data = from_memory(ctx, &r);
        o.learner = all[i].learner;
        o.kernel = "gaussian(sigma=1)";
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        CHECK(isnan(report.refit) && isfinite(report.loo) == all[i].held);
        krein_report_clear(ctx, &report);
        krein_model_destroy(m);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
        drop(&r);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(numbers);
    RUN(classes);
    RUN(none);
    return DONE();
}
