/* test_posterior.c -- how sure krr is: variances against the formulas of a Gaussian process written
 * slowly, intervals against refits without each row, coverage on new rows, sets of classes, files,
 * threads, bad input. */
#include "train.h"

#include "forge.h"

#include "model/posterior.h"
#include "num/order.h"

enum { N = 40, D = 2, NEW_ROWS = 7 };

/* ---- helpers ------------------------------------------------------------ */

static const char *const maps[] = {"exact", "orf(D=24)", "nystrom(D=15)", "nystrom(D=90)"};
enum { MAPS = 4 };

/* Numbers with noise that grows with the first input; k targets. */
static rows numbers(int64_t n, int k, uint64_t seed) {
    rows r = make_rows(n, D, k, seed);
    for (int64_t i = 0; i < n; i++) {
        double a = (double)r.x[i * D], b = (double)r.x[i * D + 1];
        for (int c = 0; c < k; c++)
            r.y[i * k + c] = 3 + sin(4 * a + c) + b * b + (.1 + .3 * a) * (uniform() - .5);
    }
    return r;
}

static double *ones(int64_t n) {
    double *w = test_new(n, sizeof *w);
    for (int64_t i = 0; i < n; i++) w[i] = 1;
    return w;
}

static krein_data *opened(krein_ctx *ctx, const rows *r, const double *weight, bool labels) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.task = KREIN_TASK_REGRESSION;
    o.scale = KREIN_SCALE_NONE;
    o.targets = labels ? r->k : 0;
    CHECK(krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, labels ? r->y : NULL, weight, &o,
                                &data) == KREIN_OK);
    return data;
}

static krein_model *fit(krein_ctx *ctx, const rows *r, const double *weight, const char *map,
                        double lambda) {
    krein_train_options o;
    krein_model *m = NULL;
    krein_data *data = opened(ctx, r, weight, true);
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=.7)";
    o.map = map;
    o.lambda = lambda;
    o.uncertainty = 1;
    if (krein_train(ctx, data, &o, NULL, &m) != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(m != NULL);
    krein_data_close(data);
    return m;
}

/* What a model says of rows. */
typedef struct told {
    double *f, *std, *mean, *lower, *upper, *novelty;
} told;

static void told_free(told *t) {
    free(t->f);
    free(t->std);
    free(t->mean);
    free(t->lower);
    free(t->upper);
    free(t->novelty);
}

static told ask(krein_ctx *ctx, const krein_model *m, const rows *r, double level) {
    int64_t n = r->n * m->k;
    told t = {test_new(n, 8), test_new(n, 8), test_new(n, 8),
              test_new(n, 8), test_new(n, 8), test_new(r->n, 8)};
    for (int mean = 0; mean < 2; mean++) {
        krein_prediction_arrays to;
        krein_data *data = opened(ctx, r, NULL, false);
        krein_prediction_arrays_init(&to);
        to.capacity = r->n;
        to.scores = t.f;
        to.std = mean ? t.mean : t.std;
        to.std_of_mean = mean;
        to.lower = t.lower;
        to.upper = t.upper;
        to.novelty = t.novelty;
        to.interval = level;
        CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
        CHECK(to.rows == r->n);
        krein_data_close(data);
    }
    return t;
}

/* q of output 0. */
static double q_of(const krein_model *m, const told *t, int64_t i) {
    double s = t->mean[i * m->k] / m->posterior->noise[0];
    return s * s;
}

/* ---- the variance ------------------------------------------------------- */

/* A x = b by elimination, in place of b. */
static void eliminate(int64_t n, double *a, double *b) {
    for (int64_t i = 0; i < n; i++) {
        int64_t p = i;
        for (int64_t r = i + 1; r < n; r++)
            if (fabs(a[r * n + i]) > fabs(a[p * n + i])) p = r;
        for (int64_t j = 0; j < n; j++) {
            double swap = a[i * n + j];
            a[i * n + j] = a[p * n + j];
            a[p * n + j] = swap;
        }
        double swap = b[i];
        b[i] = b[p];
        b[p] = swap;
        for (int64_t r = i + 1; r < n; r++) {
            double factor = a[r * n + i] / a[i * n + i];
            for (int64_t j = i; j < n; j++) a[r * n + j] -= factor * a[i * n + j];
            b[r] -= factor * b[i];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* Kernel values k (size x size: training rows, then new ones) of a Gaussian process with an
 * intercept of variance `flat`. */
static double process_q(const double *k, int64_t size, int64_t n, const double *w, double ridge,
                        int64_t x, double flat) {
    double *a = test_new(n * n, 8), *b = test_new(n, 8), out = k[x * size + x] + flat;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = k[i * size + j] + flat + (i == j ? ridge / w[i] : 0);
        b[i] = k[x * size + i] + flat;
    }
    eliminate(n, a, b);
    for (int64_t i = 0; i < n; i++) out -= b[i] * (k[x * size + i] + flat);
    free(a);
    free(b);
    return out / ridge;
}

/* A flat one: what is missing falls as 1 / flat. */
static double slow_q(const double *k, int64_t size, int64_t n, const double *w, double ridge,
                     int64_t x) {
    return 2 * process_q(k, size, n, w, ridge, x, 2e4) - process_q(k, size, n, w, ridge, x, 1e4);
}

/* The kernel of the map: the Gaussian, or inner products of its features. */
static double *values(krein_ctx *ctx, const krein_model *m, const rows *a, const rows *b) {
    int64_t size = a->n + b->n, F = m->map->D;
    float *x = test_new(size * D, sizeof *x);
    double *k = test_new(size * size, 8);
    memcpy(x, a->x, (size_t)(a->n * D) * sizeof *x);
    memcpy(x + a->n * D, b->x, (size_t)(b->n * D) * sizeof *x);
    krein_matrix dense = {.n = size, .d = D, .x = x};
    krein_rows all = krein__matrix_rows(&dense);
    if (m->posterior->kernel) {
        CHECK(krein__gram_full(ctx, m->map->kernel, &all, &all, k) == KREIN_OK);
    } else {
        float *z = test_new(size * F, sizeof *z);
        CHECK(krein__map_apply(m->map, &all, z) == KREIN_OK);
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size; j++)
                for (int64_t c = 0; c < F; c++)
                    k[i * size + j] += (double)z[i * F + c] * (double)z[j * F + c];
        free(z);
    }
    free(x);
    return k;
}

static void variance(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = numbers(N, 1, 3), fresh = numbers(NEW_ROWS, 1, 4);
    double *w = ones(N), lambda = 2e-3;
    for (int weighted = 0; weighted < 2; weighted++) {
        double W = 0;
        for (int64_t i = 0; i < N; i++) W += w[i] = weighted ? .5 + (double)(i % 4) / 2 : 1;
        for (int i = 0; i < MAPS; i++) {
            krein_model *m = fit(ctx, &r, weighted ? w : NULL, maps[i], lambda);
            told t = ask(ctx, m, &fresh, .9);
            double *k = values(ctx, m, &r, &fresh), ridge = W * lambda;
            /* float32 features; those of nystrom are products in float32 here */
            double tolerance = i == 0 ? 1e-7 : i == 1 ? 1e-6 : 3e-4;
            for (int64_t j = 0; j < NEW_ROWS; j++) {
                double slow = slow_q(k, N + NEW_ROWS, N, w, ridge, N + j);
                CHECK_REL(q_of(m, &t, j), slow, tolerance);
                CHECK_REL(t.std[j], m->posterior->noise[0] * sqrt(1 + slow), tolerance);
                /* on landmarks: and what these do not see of k(x, x) = 1 */
                double beyond = i < 2 ? 0 : fmax(0, 1 - k[(N + j) * (N + NEW_ROWS + 1)]) / ridge;
                CHECK_ABS(t.novelty[j] * m->posterior->reach, slow + beyond,
                          tolerance * slow + (i < 2 ? 0 : 2e-6 / ridge));
            }
            free(k);
            told_free(&t);
            krein_model_destroy(m);
        }
    }
    free(w);
    drop(&r);
    drop(&fresh);
    krein_ctx_destroy(ctx);
}

/* ---- rows left out ------------------------------------------------------ */

/* Every row left out by a fit in which it has no weight, at the same W lambda. */
typedef struct refits {
    int64_t n, k;
    double *left, *q, *f, *q_new; /* n x k, n; of new rows: n x NEW x k, n x NEW */
} refits;

static refits refit(krein_ctx *ctx, const rows *r, const double *w, const rows *fresh,
                    const char *map, double lambda) {
    int k = (int)r->k;
    refits o = {r->n,
                k,
                test_new(r->n * k, 8),
                test_new(r->n, 8),
                test_new(r->n * fresh->n * k, 8),
                test_new(r->n * fresh->n, 8)};
    double *some = test_new(r->n, 8), W = 0;
    for (int64_t i = 0; i < r->n; i++) W += w[i];
    for (int64_t i = 0; i < r->n; i++) {
        memcpy(some, w, (size_t)r->n * sizeof *w);
        some[i] = 0;
        krein_model *m = fit(ctx, r, some, map, lambda * W / (W - w[i]));
        told own = ask(ctx, m, r, .9), other = ask(ctx, m, fresh, .9);
        o.q[i] = q_of(m, &own, i);
        for (int c = 0; c < k; c++) o.left[i * k + c] = r->y[i * k + c] - own.f[i * k + c];
        for (int64_t j = 0; j < fresh->n; j++) {
            o.q_new[i * fresh->n + j] = q_of(m, &other, j);
            for (int c = 0; c < k; c++) o.f[(i * fresh->n + j) * k + c] = other.f[j * k + c];
        }
        told_free(&own);
        told_free(&other);
        krein_model_destroy(m);
    }
    free(some);
    return o;
}

static void left_out(void) {
    static const double level[] = {.5, .8, .9, .95};
    krein_ctx *ctx = test_ctx(2);
    rows r = numbers(N, 2, 5), fresh = numbers(NEW_ROWS, 2, 6);
    double *w = ones(N), *s = test_new(N, 8), *low = test_new(N, 8), *high = test_new(N, 8);
    double lambda = 1e-3;
    for (int64_t i = 0; i < N; i++) w[i] = .5 + (double)(i % 3) / 2;
    for (int map = 0; map < 3; map++) {
        double tolerance = map == 0 ? 1e-6 : map == 1 ? 2e-4 : 5e-3;
        krein_model *m = fit(ctx, &r, w, maps[map], lambda);
        refits o = refit(ctx, &r, w, &fresh, maps[map], lambda);
        CHECK(m->posterior->rows == N);
        for (int l = 0; l < 4; l++) {
            told t = ask(ctx, m, &fresh, level[l]);
            int64_t rank = (int64_t)ceil(level[l] * (N + 1) - 1e-9);
            for (int c = 0; c < 2; c++) {
                double square = 0, scale;
                for (int64_t i = 0; i < N; i++) {
                    s[i] = fabs(o.left[i * 2 + c]) / sqrt(1 / w[i] + o.q[i]);
                    square += s[i] * s[i] / N;
                }
                scale = sqrt(square);
                CHECK_REL(m->posterior->noise[c], scale, tolerance);
                for (int64_t j = 0; j < NEW_ROWS; j++) {
                    double a, b, f = t.f[j * 2 + c];
                    for (int64_t i = 0; i < N; i++) {
                        double g = o.f[(i * NEW_ROWS + j) * 2 + c];
                        double half = s[i] * sqrt(1 + o.q_new[i * NEW_ROWS + j]);
                        low[i] = map ? s[i] : g - half;
                        high[i] = map ? s[i] : g + half;
                    }
                    qsort(low, N, 8, krein__ascending);
                    qsort(high, N, 8, krein__ascending);
                    double q = q_of(m, &t, j);
                    a = map ? f - high[rank - 1] * sqrt(1 + q) : low[N - rank];
                    b = map ? f + high[rank - 1] * sqrt(1 + q) : high[rank - 1];
                    CHECK_ABS(t.lower[j * 2 + c], a, tolerance * scale * 4);
                    CHECK_ABS(t.upper[j * 2 + c], b, tolerance * scale * 4);
                }
            }
            told_free(&t);
        }
        qsort(o.q, N, 8, krein__ascending);
        if (map < 2) CHECK_REL(m->posterior->reach, o.q[N - 1], tolerance);
        free(o.left);
        free(o.q);
        free(o.f);
        free(o.q_new);
        krein_model_destroy(m);
    }
    free(w);
    free(s);
    free(low);
    free(high);
    drop(&r);
    drop(&fresh);
    krein_ctx_destroy(ctx);
}

/* ---- coverage ----------------------------------------------------------- */

static void coverage(void) {
    static const double level[] = {.5, .8, .9, .95};
    static const char *const of[] = {"exact", "orf(D=64)", "nystrom(D=60)"};
    krein_ctx *ctx = test_ctx(2);
    enum { TRAIN = 300, TEST = 600 };
    for (int set = 0; set < 10; set++) { /* noise that is not, and that is, the same everywhere */
        uint64_t seed = 100 + (uint64_t)set;
        rows r = set % 2 ? friedman(TRAIN, 1, seed) : numbers(TRAIN, 1, seed);
        rows fresh = set % 2 ? friedman(TEST, 1, seed + 50) : numbers(TEST, 1, seed + 50);
        krein_model *m = fit(ctx, &r, NULL, of[set % 3], -1);
        for (int l = 0; l < 4; l++) {
            krein_metrics out = KREIN_SIZED(krein_metrics);
            krein_data *data = opened(ctx, &fresh, NULL, true);
            double p = level[l], bound = 4 * sqrt(p * (1 - p) * (1. / TRAIN + 1. / TEST));
            CHECK(krein_evaluate_interval(ctx, m, data, p, &out) == KREIN_OK);
            CHECK_ABS(out.coverage, p, bound);
            CHECK(out.interval == p && out.width > 0);
            krein_metrics_clear(ctx, &out);
            krein_data_close(data);
        }
        krein_model_destroy(m);
        drop(&r);
        drop(&fresh);
    }
    krein_ctx_destroy(ctx);
}

/* ---- order statistics --------------------------------------------------- */

static void ranks(void) {
    double x[50], y[50];
    CHECK(krein__cover_rank(9, .9) == 9);
    CHECK(krein__cover_rank(9, .91) == 10);
    CHECK(krein__cover_rank(99, .5) == 50);
    CHECK(krein__cover_rank(3, .01) == 1);
    for (int64_t n = 1; n <= 50; n++)
        for (int64_t rank = 1; rank <= n; rank++) {
            for (int64_t i = 0; i < n; i++) x[i] = y[i] = floor(8 * det(i, n, 0));
            qsort(y, (size_t)n, 8, krein__ascending);
            CHECK(krein__order_statistic(n, x, rank) == y[rank - 1]);
        }
}

/* ---- files and threads -------------------------------------------------- */

static void same_bytes(void) {
    rows r = numbers(400, 2, 8);
    for (int i = 0; i < MAPS; i++) {
        test_bytes bytes[2];
        for (int threads = 1; threads <= 2; threads++) {
            krein_ctx *ctx = test_ctx(threads);
            krein_model *m = fit(ctx, &r, NULL, maps[i], 1e-3), *again = NULL;
            bytes[threads - 1] = test_model_bytes(ctx, m);
            CHECK(krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
            CHECK(krein_model_load(ctx, test_path("m.krein"), &again) == KREIN_OK);
            told a = ask(ctx, m, &r, .8), b = ask(ctx, again, &r, .8);
            CHECK(memcmp(a.std, b.std, 400 * 16) == 0);
            CHECK(memcmp(a.lower, b.lower, 400 * 16) == 0);
            CHECK(memcmp(a.upper, b.upper, 400 * 16) == 0);
            CHECK(memcmp(a.novelty, b.novelty, 400 * 8) == 0);
            told_free(&a);
            told_free(&b);
            krein_model_destroy(m);
            krein_model_destroy(again);
            krein_ctx_destroy(ctx);
        }
        CHECK(test_same(bytes[0], bytes[1]));
        free(bytes[0].at);
        free(bytes[1].at);
    }
    drop(&r);
}

/* Every number of the posterior made wrong in a file. */
static void forged(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = numbers(30, 1, 9);
    int changed = 0;
    for (int i = 0; i < 2; i++) {
        krein_model *m = fit(ctx, &r, NULL, maps[i], 1e-3), *again = NULL;
        test_bytes file = test_model_bytes(ctx, m);
        parts p = take_apart(&file);
        for (int j = 0; j < p.n; j++) {
            part *one = &p.all[j];
            if (strncmp(one->name, "posterior.", 10) != 0 || one->type != KREIN_TYPE_F64) continue;
            bool any = strcmp(one->name, "posterior.factor") == 0 ||
                       strcmp(one->name, "posterior.centre") == 0 ||
                       strcmp(one->name, "posterior.inner") == 0 ||
                       strcmp(one->name, "posterior.left") == 0;
            double *at = one->data, was = *at;
            *at = any ? NAN : -1;
            put_together(ctx, &p, -1, test_path("forged.krein"));
            CHECK_ELSE(krein_model_load(ctx, test_path("forged.krein"), &again) == KREIN_EMODEL,
                       "%s was not looked at\n", one->name);
            krein_model_destroy(again);
            *at = was;
            put_together(ctx, &p, j, test_path("forged.krein"));
            CHECK_ELSE(krein_model_load(ctx, test_path("forged.krein"), &again) == KREIN_EMODEL,
                       "%s is not missed\n", one->name);
            krein_model_destroy(again);
            changed++;
        }
        drop_parts(&p);
        free(file.at);
        krein_model_destroy(m);
    }
    CHECK(changed >= 13);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- classes ------------------------------------------------------------ */

static rows classes(int64_t n, int count, uint64_t seed) {
    rows r = make_rows(n, D, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        double v = (double)r.x[i * D] + .4 * (uniform() - .5);
        int c = (int)floor(v * count);
        r.y[i] = c < 0 ? 0 : c >= count ? count - 1 : c;
    }
    return r;
}

/* Sets from the sorted probabilities that the model kept, and their coverage. */
static void sets(void) {
    krein_ctx *ctx = test_ctx(2);
    enum { TRAIN = 300, TEST = 500 };
    static const char *const learner[] = {"krr", "svm(C=4)", "krr", "svm(C=4)"};
    for (int run = 0; run < 8; run++) {
        int count = run % 2 ? 4 : 2;
        rows r = classes(TRAIN, count, 20 + (uint64_t)run), fresh = classes(TEST, count, 40);
        krein_train_options o;
        krein_data_options d;
        krein_data *data = NULL;
        krein_model *m = NULL;
        krein_prediction_arrays to;
        double *p = test_new(TEST * count, 8), covered = 0, level = run < 4 ? .9 : .8;
        int8_t *set = test_new(TEST * count, 1);
        int64_t *label = test_new(TEST, 8);
        krein_train_options_init(&o);
        krein_data_options_init(&d);
        d.task = KREIN_TASK_CLASSIFICATION;
        o.learner = learner[run / 2];
        o.kernel = "gaussian(sigma=.7)";
        o.map = run % 4 < 2 ? "exact" : "orf(D=48)";
        o.uncertainty = 1;
        CHECK(krein_data_from_dense(ctx, TRAIN, D, r.x, D, r.y, NULL, &d, &data) == KREIN_OK);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        krein_data_close(data);
        CHECK(m && m->calibration.held == TRAIN);
        CHECK((m->posterior != NULL) == (o.learner[0] == 'k'));
        krein_prediction_arrays_init(&to);
        to.capacity = TEST;
        to.probabilities = p;
        to.sets = set;
        to.labels = label;
        to.interval = level;
        CHECK(krein_data_from_dense(ctx, TEST, D, fresh.x, D, NULL, NULL, &d, &data) == KREIN_OK);
        CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_OK);
        krein_data_close(data);
        double most = m->calibration.doubt[(int64_t)ceil(level * (TRAIN + 1) - 1e-9) - 1];
        for (int64_t i = 0; i < TEST; i++) {
            for (int c = 0; c < count; c++)
                CHECK(set[i * count + c] == (1 - p[i * count + c] <= most || c == label[i]));
            covered += set[i * count + (int64_t)fresh.y[i]];
        }
        /* at least: with the best class in them, sets may cover more */
        CHECK(covered / TEST > level - 4 * sqrt(level * (1 - level) * (1. / TRAIN + 1. / TEST)));
        free(p);
        free(set);
        free(label);
        krein_model_destroy(m);
        drop(&r);
        drop(&fresh);
    }
    krein_ctx_destroy(ctx);
}

/* ---- what is refused ---------------------------------------------------- */

static void refused(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = numbers(60, 1, 10);
    double std[60];
    krein_prediction_arrays to;
    krein_train_options o;
    krein_model *plain = NULL, *m = fit(ctx, &r, NULL, "exact", 1e-3);
    krein_data *data = opened(ctx, &r, NULL, true);
    krein_metrics out = KREIN_SIZED(krein_metrics);
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=1)";
    CHECK(krein_train(ctx, data, &o, NULL, &plain) == KREIN_OK);
    CHECK(krein_evaluate_interval(ctx, plain, data, .9, &out) == KREIN_EARG);
    CHECK(strstr(krein_message(ctx), "uncertainty"));
    CHECK(krein_evaluate(ctx, plain, data, &out) == KREIN_OK && isnan(out.coverage));
    krein_metrics_clear(ctx, &out);
    krein_data_close(data);
    data = opened(ctx, &r, NULL, false);
    krein_prediction_arrays_init(&to);
    to.capacity = 60;
    to.std = std;
    CHECK(krein_predict_into(ctx, plain, data, &to) == KREIN_EARG);
    CHECK(strstr(krein_message(ctx), "uncertainty"));
    to.lower = std;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK(strstr(krein_message(ctx), "coverage"));
    to.interval = 1;
    CHECK(krein_predict_into(ctx, m, data, &to) == KREIN_EARG);
    CHECK(strstr(krein_message(ctx), "between 0 and 1"));
    krein_data_close(data);
    krein_model_destroy(plain);
    krein_model_destroy(m);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Coverage that so few rows cannot have. */
static void few(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = numbers(8, 1, 11);
    for (int i = 0; i < 2; i++) {
        krein_model *m = fit(ctx, &r, NULL, maps[i], 1e-2);
        told t = ask(ctx, m, &r, .9), u = ask(ctx, m, &r, .8);
        CHECK(t.lower[3] == -INFINITY && t.upper[3] == INFINITY);
        CHECK(isfinite(u.lower[3]) && isfinite(u.upper[3]));
        told_free(&t);
        told_free(&u);
        krein_model_destroy(m);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Memory that ends anywhere. */
static void failing(void) {
    rows r = numbers(50, 1, 12);
    for (int i = 0; i < 3; i += 2) {
        test_memory memory = {0};
        krein_ctx *ctx = test_ctx_with(1, &memory);
        krein_data *data = opened(ctx, &r, NULL, true);
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_train_options o;
            krein_model *m = NULL;
            krein_train_options_init(&o);
            o.kernel = "gaussian(sigma=1)";
            o.map = maps[i];
            o.lambda = 1e-3;
            o.uncertainty = 1;
            krein_status st = krein_train(ctx, data, &o, NULL, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
        }
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(ranks);
    RUN(variance);
    RUN(left_out);
    RUN(coverage);
    RUN(same_bytes);
    RUN(forged);
    RUN(sets);
    RUN(refused);
    RUN(few);
    RUN(failing);
    return DONE();
}
