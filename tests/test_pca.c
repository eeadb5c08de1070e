/* test_pca.c -- kernel principal components: against the slow obvious way, on features against the
 * kernel itself, new rows, weights, indefinite kernels, threads, refusals, failing memory. */
#include "common.h"

#include "num/eigen_top.h"

static krein_ctx *ctx;

/* ---- helpers ------------------------------------------------------------ */

enum { N = 60, D = 4 };

static krein_data *rows_on(krein_ctx *on, int64_t n, int64_t d, const float *x, const double *w) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    krein_status st = krein_data_from_dense(on, n, d, x, d, NULL, w, &o, &data);
    CHECK(st == KREIN_OK || on != ctx);
    return data;
}

static krein_pca_options asked(const char *kernel, const char *map, int64_t components) {
    krein_pca_options o;
    krein_pca_options_init(&o);
    o.kernel = kernel;
    o.map = map;
    o.components = components;
    return o;
}

typedef struct result {
    krein_pca_report r;
    krein_model *model;
    double *score; /* n x components, by the model */
} result;

static void clear(result *t) {
    krein_pca_report_clear(ctx, &t->r);
    krein_model_destroy(t->model);
    free(t->score);
}

static result run(int64_t n, int64_t d, const float *x, const double *w, krein_pca_options o) {
    result t = {.r = KREIN_SIZED(krein_pca_report)};
    krein_data *data = rows_on(ctx, n, d, x, w);
    krein_status st = krein_pca(ctx, data, &o, NULL, &t.r, &t.model);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    t.score = test_new(n * o.components, sizeof *t.score);
    if (st == KREIN_OK) CHECK(krein_predict_dense(ctx, t.model, n, d, x, d, t.score) == KREIN_OK);
    krein_data_close(data);
    return t;
}

/* Eigenvalues (descending) and vectors (rows of v) of a symmetric matrix by Jacobi rotations. */
static void jacobi(int64_t n, double *a, double *w, double *v) {
    for (int64_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) < 1e-300) continue;
                double tau = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
                double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y, a[k * n + q] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
                    x = v[p * n + k], y = v[q * n + k];
                    v[p * n + k] = c * x - s * y, v[q * n + k] = s * x + c * y;
                }
            }
    for (int64_t i = 0; i < n; i++) { /* by selection */
        int64_t top = i;
        for (int64_t j = i; j < n; j++)
            if (a[j * n + j] > a[top * n + top]) top = j;
        w[i] = a[top * n + top];
        a[top * n + top] = a[i * n + i];
        test_swap(n, v + i * n, v + top * n);
    }
}

typedef double (*kernel_fn)(const float *x, const float *y);
static double distance2(const float *x, const float *y) {
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += ((double)x[j] - (double)y[j]) * ((double)x[j] - (double)y[j]);
    return sum;
}
static double dot(const float *x, const float *y) {
    double sum = 0;
    for (int j = 0; j < D; j++) sum += (double)x[j] * (double)y[j];
    return sum;
}
static double gaussian(const float *x, const float *y) { return exp(-distance2(x, y) / 4.5); }
static double cubic(const float *x, const float *y) { return pow(dot(x, y) + 1, 3); }
static double mixed(const float *x, const float *y) {
    return gaussian(x, y) - 0.5 * exp(-distance2(x, y) / 0.5);
}

typedef struct oracle {
    double *value, *vector, total, negative; /* eigenvalues of H K H and their vectors */
} oracle;

static oracle obvious(const float *x, kernel_fn k) {
    oracle o = {test_new(N, 8), test_new((int64_t)N * N, 8), 0, 0};
    double *K = test_new((int64_t)N * N, 8), mean[N] = {0}, all = 0, below = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            K[i * N + j] = k(x + i * D, x + j * D);
            mean[i] += K[i * N + j] / N;
            all += K[i * N + j] / N / N;
        }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) K[i * N + j] += all - mean[i] - mean[j];
    jacobi(N, K, o.value, o.vector);
    for (int64_t i = 0; i < N; i++) {
        o.total += fmax(o.value[i], 0);
        below -= fmin(o.value[i], 0);
    }
    o.negative = below / (o.total + below);
    free(K);
    return o;
}
static void oracle_free(oracle *o) {
    free(o->value);
    free(o->vector);
}

/* Largest difference of two sets of scores, each column up to its sign, over the largest score. */
static double apart(int64_t n, int64_t k, const double *a, const double *b) {
    double worst = 0;
    for (int64_t c = 0; c < k; c++) {
        double size = 0, plus = 0, minus = 0;
        for (int64_t i = 0; i < n; i++) {
            size = fmax(size, fabs(b[i * k + c]));
            plus = fmax(plus, fabs(a[i * k + c] - b[i * k + c]));
            minus = fmax(minus, fabs(a[i * k + c] + b[i * k + c]));
        }
        worst = fmax(worst, fmin(plus, minus) / size);
    }
    return worst;
}

/* ---- the kernel itself -------------------------------------------------- */

static void against_the_obvious(void) {
    static const struct {
        const char *kernel;
        kernel_fn f;
    } cases[] = {{"gaussian(sigma=1.5)", gaussian},
                 {"poly(degree=3, c=1)", cubic},
                 {"gaussian(sigma=1.5) - 0.5*gaussian(sigma=0.5)", mixed}};
    enum { C = 6 };
    float *x = test_dense(N, D, 0.3);
    for (int t = 0; t < 3; t++) {
        oracle o = obvious(x, cases[t].f);
        result got = run(N, D, x, NULL, asked(cases[t].kernel, "exact", C));
        double want[N * C];
        CHECK(got.r.n == N && got.r.d == D && got.r.D == N && got.r.components == C);
        CHECK_REL(got.r.total, o.total / N, 1e-10);
        CHECK_ABS(got.r.negative_mass, t == 2 ? o.negative : 0, 1e-10);
        for (int c = 0; c < C; c++) {
            CHECK_REL(got.r.variance[c], o.value[c] / N, 1e-9);
            CHECK_REL(got.r.ratio[c], o.value[c] / o.total, 1e-9);
            for (int i = 0; i < N; i++) want[i * C + c] = sqrt(o.value[c]) * o.vector[c * N + i];
        }
        CHECK(apart(N, C, got.score, want) < 1e-8);
        /* The sign: the largest score is positive. */
        for (int c = 0; c < C; c++) {
            double high = 0, low = 0;
            for (int i = 0; i < N; i++) {
                high = fmax(high, got.score[i * C + c]);
                low = fmin(low, got.score[i * C + c]);
            }
            CHECK(high >= -low * (1 - 1e-9));
        }
        clear(&got);
        oracle_free(&o);
    }
    free(x);
}

/* Scores have mean zero, the variances that are reported, and no correlation. */
static void are_components(void) {
    enum { C = 4 };
    static const char *const maps[] = {"exact", "orf(D=64)", "nystrom(D=20)"};
    float *x = test_dense(N, D, 1.1);
    for (int t = 0; t < 3; t++) {
        result got = run(N, D, x, NULL, asked("gaussian(sigma=1.5)", maps[t], C));
        for (int a = 0; a < C; a++)
            for (int b = 0; b <= a; b++) {
                double mean = 0, product = 0;
                for (int i = 0; i < N; i++) {
                    mean += got.score[i * C + a] / N;
                    product += got.score[i * C + a] * got.score[i * C + b] / N;
                }
                CHECK_ABS(mean, 0, 1e-6);
                CHECK_ABS(product, a == b ? got.r.variance[a] : 0, 1e-6);
            }
        clear(&got);
    }
    free(x);
}

/* A row of weight two is two rows. */
static void weights_are_rows(void) {
    enum { C = 3, M = 40 };
    static const char *const maps[] = {"exact", "rff(D=50)"};
    float *x = test_dense(M, D, 0.7), *twice = test_new(2 * M * D, sizeof *twice);
    double w[M];
    int64_t n = 0;
    for (int i = 0; i < M; i++) {
        w[i] = i % 3; /* none, one, two */
        for (int r = 0; r < i % 3; r++) memcpy(twice + D * n++, x + (int64_t)D * i, D * sizeof *x);
    }
    for (int t = 0; t < 2; t++) {
        krein_pca_options o = asked("gaussian(sigma=1.5)", maps[t], C);
        result a = run(M, D, x, w, o), b = run(n, D, twice, NULL, o);
        double tolerance = t ? 1e-4 : 1e-8, again[M * C];
        for (int c = 0; c < C; c++) CHECK_REL(a.r.variance[c], b.r.variance[c], tolerance);
        CHECK_REL(a.r.total, b.r.total, tolerance);
        CHECK(krein_predict_dense(ctx, b.model, M, D, x, D, again) == KREIN_OK);
        CHECK(apart(M, C, a.score, again) < tolerance);
        clear(&a);
        clear(&b);
    }
    free(x);
    free(twice);
}

/* ---- features ----------------------------------------------------------- */

/* The same components from other sides: coordinates of the linear kernel, monomials of a
 * polynomial, also where eigenvalues are negative, all rows as landmarks. */
static void features_against_exact(void) {
    static const struct {
        const char *kernel, *map;
        double tolerance;
    } cases[] = {{"linear", "explicit", 1e-5},
                 {"poly(degree=2, c=1)", "explicit", 1e-5},
                 {"gaussian(sigma=1.5)", "nystrom(D=60)", 1e-4},
                 {"poly(degree=2, c=1) - 3*linear", "explicit", 1e-4}};
    enum { C = 4 };
    float *x = test_dense(N, D, 0.3);
    for (int64_t t = 0; t < KREIN__COUNT(cases); t++) {
        result a = run(N, D, x, NULL, asked(cases[t].kernel, "exact", C));
        result b = run(N, D, x, NULL, asked(cases[t].kernel, cases[t].map, C));
        double tolerance = cases[t].tolerance;
        for (int c = 0; c < C; c++) CHECK_REL(b.r.variance[c], a.r.variance[c], tolerance);
        CHECK_REL(b.r.total, a.r.total, tolerance);
        CHECK_ABS(b.r.negative_mass, a.r.negative_mass, tolerance);
        if (apart(N, C, b.score, a.score) >= tolerance)
            printf("%s: apart by %g\n", cases[t].map, apart(N, C, b.score, a.score));
        CHECK(apart(N, C, b.score, a.score) < tolerance);
        clear(&a);
        clear(&b);
    }
    free(x);
}

/* Random features with a signature: the eigenvalues of the matrix Z J Z' that transform gives. */
static void signature(void) {
    enum { C = 3, F = 24 };
    const char *kernel = "gaussian(sigma=2) - 0.4*gaussian(sigma=0.7)", *map = "rff(D=24)";
    const char *path = test_path("z.npy"), *signs = test_path("z.sign.npy");
    float *x = test_dense(N, D, 0.3), z[N * F];
    int8_t sign[F];
    krein_transform_report tr = KREIN_SIZED(krein_transform_report);
    krein_train_options to;
    krein_train_options_init(&to);
    to.kernel = kernel;
    to.map = map;
    krein_data *data = rows_on(ctx, N, D, x, NULL);
    CHECK(krein_transform(ctx, data, &to, path, &tr) == KREIN_OK && tr.D == F);
    krein_data_close(data);
    krein_transform_report_clear(ctx, &tr);
    test_bytes a = test_slurp(path), b = test_slurp(signs);
    memcpy(z, a.at + a.n - (int64_t)sizeof z, sizeof z);
    memcpy(sign, b.at + b.n - F, F);
    double mean[F] = {0}, *K = test_new((int64_t)N * N, 8), w[N], *v = test_new((int64_t)N * N, 8);
    for (int i = 0; i < N * F; i++) mean[i % F] += (double)z[i] / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int f = 0; f < F; f++)
                K[i * N + j] +=
                    sign[f] * ((double)z[i * F + f] - mean[f]) * ((double)z[j * F + f] - mean[f]);
    jacobi(N, K, w, v);
    result got = run(N, D, x, NULL, asked(kernel, map, C));
    double want[N * C], total = 0;
    for (int i = 0; i < N; i++) total += fmax(w[i], 0) / N;
    CHECK_REL(got.r.total, total, 1e-5);
    CHECK(got.r.negative_mass > 0.01);
    for (int c = 0; c < C; c++) {
        CHECK_REL(got.r.variance[c], w[c] / N, 1e-5);
        for (int i = 0; i < N; i++) want[i * C + c] = sqrt(w[c]) * v[c * N + i];
    }
    CHECK(apart(N, C, got.score, want) < 1e-4);
    clear(&got);
    free(a.at), free(b.at), free(K), free(v), free(x);
}

/* ---- files, threads ----------------------------------------------------- */

/* The model, saved and loaded, gives the scores that were written, bit by bit. */
static void files(void) {
    static const char *const maps[] = {"exact", "orf(D=32)", "nystrom(D=16)"};
    enum { C = 3 };
    float *x = test_dense(N, D, 0.4);
    for (int t = 0; t < 3; t++) {
        krein_pca_report r = KREIN_SIZED(krein_pca_report);
        krein_model *model = NULL, *loaded = NULL;
        krein_model_info info = KREIN_SIZED(krein_model_info);
        double score[N * C];
        krein_pca_options o = asked("gaussian", maps[t], C);
        const char *path = test_path("s.npy"), *file = test_path("m.krein");
        krein_data *data = rows_on(ctx, N, D, x, NULL);
        CHECK(krein_pca(ctx, data, &o, path, &r, &model) == KREIN_OK);
        krein_data_close(data);
        CHECK(krein_model_save(ctx, model, file) == KREIN_OK);
        CHECK(krein_model_load(ctx, file, &loaded) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, loaded, N, D, x, D, score) == KREIN_OK);
        test_bytes b = test_slurp(path);
        CHECK(b.n > (int64_t)sizeof score &&
              memcmp(b.at + b.n - (int64_t)sizeof score, score, sizeof score) == 0);
        krein_model_describe(loaded, &info);
        CHECK(info.task == KREIN_TASK_AUTO && info.outputs == C && info.n == N);
        CHECK(strcmp(info.learner, "kpca(components=3)") == 0);
        CHECK(strstr(info.kernel, "sigma=") != NULL && strcmp(info.kernel, r.kernel) == 0);
        CHECK(info.variance && info.variance_total == r.total);
        for (int c = 0; info.variance && c < C; c++) CHECK(info.variance[c] == r.variance[c]);
        double y[N] = {0};
        krein_metrics metrics = KREIN_SIZED(krein_metrics);
        CHECK(krein_data_from_dense(ctx, N, D, x, D, y, NULL, NULL, &data) == KREIN_OK);
        CHECK(krein_evaluate(ctx, loaded, data, &metrics) == KREIN_EARG);
        CHECK_HAS(krein_message(ctx), "use predict");
        krein_data_close(data);
        krein_pca_report_clear(ctx, &r);
        krein_model_destroy(model);
        krein_model_destroy(loaded);
        free(b.at);
    }
    free(x);
}

static void threads(void) {
    enum { M = 700, C = 3 };
    static const char *const maps[] = {"exact", "orf(D=600)", "nystrom(D=100)"};
    float *x = test_dense(M, D, 0.9);
    for (int t = 0; t < 3; t++) {
        test_bytes model[2];
        for (int k = 0; k < 2; k++) {
            krein_ctx *on = test_ctx(k ? 3 : 1);
            krein_model *m = NULL;
            krein_pca_options o = asked("gaussian(sigma=1)", maps[t], C);
            krein_data *data = rows_on(on, M, D, x, NULL);
            const char *path = test_path(k ? "b.krein" : "a.krein");
            CHECK(krein_pca(on, data, &o, NULL, NULL, &m) == KREIN_OK);
            CHECK(krein_model_save(on, m, path) == KREIN_OK);
            model[k] = test_slurp(path);
            krein_model_destroy(m);
            krein_data_close(data);
            krein_ctx_destroy(on);
        }
        CHECK(test_same(model[0], model[1]));
        free(model[0].at);
        free(model[1].at);
    }
    free(x);
}

/* Rows held in memory, or read in each pass; more than a block of them. */
static void streamed(void) {
    enum { M = 2500 };
    static const char *const maps[] = {"orf(D=64)", "nystrom(D=30)", "exact"};
    char csv[256];
    krein_generate_options g;
    krein_generate_options_init(&g);
    g.n = M;
    snprintf(csv, sizeof csv, "%s", test_path("f.csv"));
    CHECK(krein_generate(ctx, "friedman", &g, csv) == KREIN_OK);
    for (int t = 0; t < (test_sanitized() ? 2 : 3); t++) {
        test_bytes model[2], score[2];
        for (int k = 0; k < 2; k++) {
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_pca_options o = asked("gaussian(sigma=3)", maps[t], 3);
            const char *file = test_path("m.krein"), *path = test_path("s.csv");
            ctx->keep_rows = k ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM;
            CHECK(krein_data_open(ctx, csv, NULL, &data) == KREIN_OK);
            CHECK(krein_pca(ctx, data, &o, path, NULL, &m) == KREIN_OK);
            CHECK(krein_model_save(ctx, m, file) == KREIN_OK);
            model[k] = test_slurp(file);
            score[k] = test_slurp(path);
            krein_model_destroy(m);
            krein_data_close(data);
        }
        CHECK(test_same(model[0], model[1]) && test_same(score[0], score[1]));
        for (int k = 0; k < 2; k++) free(model[k].at), free(score[k].at);
    }
}

/* ---- bad input ---------------------------------------------------------- */

static void refuses(int64_t n, const float *x, krein_pca_options o, krein_status want,
                    const char *text) {
    krein_pca_report r = KREIN_SIZED(krein_pca_report);
    krein_model *model = NULL;
    krein_data *data = rows_on(ctx, n, D, x, NULL);
    krein_status st = krein_pca(ctx, data, &o, test_path("no.csv"), &r, &model);
    if (st != want) printf("status %d: %s\n", (int)st, krein_message(ctx));
    CHECK(st == want && !model && !r.variance);
    CHECK_HAS(krein_message(ctx), text);
    krein_data_close(data);
}

static void refusals(void) {
    float *x = test_dense(N, D, 0.3), same[10 * D];
    for (int i = 0; i < 10 * D; i++) same[i] = 0.25f * (float)(i % D);
    test_empty_dir();
    refuses(N, x, asked("linear", "exact", 5), KREIN_EDATA, "has rank 4; use `components=4`");
    refuses(N, x, asked("linear", "explicit", 5), KREIN_EDATA, "have rank 4; use `components=4`");
    refuses(N, x, asked("gaussian(sigma=1e-3)", "exact", 60), KREIN_EDATA, "has rank 59");
    refuses(N, x, asked("gaussian(sigma=1)", "orf(D=8)", 9), KREIN_EDATA, "or more features");
    refuses(N, x, asked("-1*gaussian(sigma=1)", "exact", 1), KREIN_EDATA, "do not vary");
    refuses(10, same, asked("gaussian(sigma=1)", "exact", 1), KREIN_EDATA, "do not vary");
    refuses(10, same, asked("gaussian(sigma=1)", "rff(D=16)", 1), KREIN_EDATA, "do not vary");
    refuses(10, same, asked("linear", NULL, 1), KREIN_EDATA, "do not vary");
    refuses(1, x, asked("linear", NULL, 1), KREIN_EDATA, "at least two");
    refuses(N, x, asked("linear", NULL, 0), KREIN_EARG, "`components` takes");
    refuses(N, x, asked("linear", NULL, -3), KREIN_EARG, "`components` takes");
    refuses(N, x, asked("gaussian", "aligned(D=16)", 1), KREIN_EARG, "fitted to labels");
    refuses(N, x, asked("gaus", NULL, 1), KREIN_ESPEC, "gaussian");
    krein_pca_options o = asked("linear", "exact", 1);
    o.max_exact = 30;
    refuses(N, x, o, KREIN_EARG, "above `max_exact` (30)");
    o = asked("linear", "exact", 1);
    o.features = 16;
    refuses(N, x, o, KREIN_EARG, "has no `features`");
    CHECK(test_files() == 0);
    free(x);
}

/* Too little memory for the kernel matrix: features where the map was not asked for. */
static void memory_budget(void) {
    enum { M = 1000 };
    krein_pca_report r = KREIN_SIZED(krein_pca_report);
    float *x = test_dense(M, D, 0.3);
    krein_ctx *small = test_ctx_small(1, 7 << 20);
    krein_data *data = rows_on(small, M, D, x, NULL);
    krein_pca_options o = asked("gaussian(sigma=1)", "exact", 2);
    CHECK(krein_pca(small, data, &o, NULL, &r, NULL) == KREIN_EMEMORY);
    CHECK_HAS(krein_message(small), "`map=orf`");
    o.map = "orf(D=1000)";
    CHECK(krein_pca(small, data, &o, NULL, &r, NULL) == KREIN_EMEMORY);
    CHECK_HAS(krein_message(small), "`features=");
    o.map = NULL; /* fewer features than the default */
    CHECK(krein_pca(small, data, &o, NULL, &r, NULL) == KREIN_OK);
    CHECK(r.D >= 64 && r.D < 1000);
    krein_pca_report_clear(small, &r);
    o.map = "orf(D=128)";
    CHECK(krein_pca(small, data, &o, NULL, &r, NULL) == KREIN_OK);
    krein_pca_report_clear(small, &r);
    krein_data_close(data);
    krein_ctx_destroy(small);
    free(x);
}

static void every_allocation(void) {
    static const char *const maps[] = {"exact", "rff(D=8)", "nystrom(D=6)"};
    test_memory memory;
    krein_ctx *on = test_ctx_with(1, &memory);
    float *x = test_dense(12, D, 0.3);
    for (int t = 0; t < 3; t++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_pca_report r = KREIN_SIZED(krein_pca_report);
            krein_model *model = NULL;
            krein_pca_options o = asked("gaussian(sigma=1) - 0.3*gaussian(sigma=3)", maps[t], 2);
            krein_data *data = rows_on(on, 12, D, x, NULL);
            krein_status st =
                data ? krein_pca(on, data, &o, test_path("s.csv"), &r, &model) : KREIN_EMEMORY;
            /* An estimate of the memory needed may do without. */
            CHECK(st == KREIN_OK || (st == KREIN_EMEMORY && test_has_failed(&memory)));
            if (st == KREIN_OK) krein_pca_report_clear(on, &r);
            krein_model_destroy(model);
            krein_data_close(data);
        }
    double a[100], w[2], v[20];
    bool found;
    for (int i = 0; i < 100; i++) a[i] = det(i / 10, i % 10, 0.1) + det(i % 10, i / 10, 0.1);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_status st = krein__eigen_top_iterate(on, 10, a, 2, w, v, &found);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    krein_ctx_destroy(on);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(against_the_obvious);
    RUN(are_components);
    RUN(weights_are_rows);
    RUN(features_against_exact);
    RUN(signature);
    RUN(files);
    RUN(threads);
    RUN(streamed);
    RUN(refusals);
    RUN(memory_budget);
    RUN(every_allocation);
    krein_ctx_destroy(ctx);
    return DONE();
}
