/* test_parts.c -- maps side by side: the default map of every kind of expression, auto's features
 * against those of its parts, its mean over the seed, how it shares D, parts with landmarks, and
 * ridge regression on them against a slow one. */
#include "maps.h"

#include "map/parts.h"
#include "model/model.h"

static void defaults(void) {
    static const struct {
        const char *kernel;
        int64_t d, D;
        const char *map;
    } all[] = {{"gaussian(sigma=2)", 5, 100, "orf"},
               {"0.5*rq(sigma=1) - gaussian(sigma=2)*matern(sigma=3)", 5, 100, "orf"},
               {"laplacian(sigma=2)", 5, 100, "rff"},
               {"laplacian(sigma=2)*gaussian(sigma=1)", 5, 100, "rff"},
               {"laplacian(sigma=2) + cauchy(sigma=1)", 5, 100, "rff"},
               {"laplacian(sigma=2) + gaussian(sigma=1)", 5, 100, "auto"},
               {"linear", 5, 100, "explicit"},
               {"linear", 0, 0, "explicit"},
               {"3*linear", 100, 100, "explicit"},
               {"linear", 101, 100, "explicit"},
               {"-2*linear", 101, 100, "explicit"},
               {"linear + poly(degree=1)", 101, 100, "auto"},
               {"poly(degree=2)", 5, 21, "explicit"},
               {"poly(degree=2)", 5, 20, "tensorsketch"},
               {"poly(degree=2) - 0.3*linear*linear", 5, 21, "explicit"},
               {"arccos", 5, 100, "arccos"},
               {"ntk", 5, 100, "ntksketch"},
               {"spline", 5, 100, "spline"},
               {"tl1", 5, 100, "nystrom"},
               {"tanh", 5, 100, "nystrom"},
               {"chi2 + intersection", 5, 100, "nystrom"},
               {"epanechnikov", 5, 100, "nystrom"},
               {"gaussian(sigma=2)*linear", 5, 100, "nystrom"},
               {"gaussian(sigma=2) + tl1", 5, 100, "auto"},
               {"gaussian(sigma=2) - 0.3*linear*tl1", 5, 100, "auto"},
               {"tl1 - 0.2*linear*tanh", 5, 100, "nystrom"},
               {"linear*(gaussian(sigma=1) + linear)", 5, 100, "auto"},
               {"linear*(gaussian(sigma=1) + tl1)", 5, 100, "nystrom"},
               {"gaussian(sigma=1)*(matern(sigma=1) + rq(sigma=2))", 5, 100, "orf"},
               {"poly(degree=2) + linear", 60, 100, "auto"},
               {"poly(degree=2) + linear*linear", 60, 100, "tensorsketch"},
               {"2*arccos + arccos(order=0)", 5, 100, "auto"},
               {"gaussian(sigma=2) + 0.5*linear", 5, 100, "auto"},
               {"gaussian(sigma=2) + 0.5*linear", 60, 100, "auto"},
               {"gaussian(sigma=2) + 0.5*poly(degree=3)", 60, 100, "auto"},
               {"gaussian(sigma=2) - arccos + laplacian(sigma=1)", 5, 100, "auto"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_kernel *k = kernel_on(ctx, all[i].kernel);
        const char *got = krein__map_default(k, all[i].d, all[i].D);
        if (strcmp(got, all[i].map) != 0)
            printf("%s: %s, want %s\n", all[i].kernel, got, all[i].map);
        CHECK(strcmp(got, all[i].map) == 0);
        krein__kernel_destroy(ctx, k);
    }
}

/* Each part has its columns, its factor and its sign; linear takes d of its share, not more. */
static void side_by_side(void) {
    enum { ROWS = 250, D5 = 5, D = 101 };
    float *x = test_dense(ROWS, D5, 0.1);
    krein_rows rows = krein__rows_dense(ROWS, D5, x, D5);
    krein_map *map =
        need(ctx, "auto", "2*gaussian(sigma=2) - 0.25*linear + laplacian(sigma=3)", D, 3, D5, NULL);
    if (!map) return;
    const krein_parts *s = map->state;
    CHECK(s->n == 3 && !map->mix && krein__map_traits(map) == 0);
    CHECK(map->R == map->D && map->D <= D && map->D > D - 4);
    float *z = test_new(ROWS * map->D, sizeof *z);
    CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
    int64_t at = 0, wrong = 0, negative = 0;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        bool linear = strcmp(part->cls->cls.name, "explicit") == 0;
        float *own = test_new(ROWS * part->D, sizeof *own);
        float factor = (float)sqrt(fabs(s->part[p].coefficient));
        CHECK(s->part[p].first == at && part->seed != map->seed);
        CHECK(linear ? part->D == D5 : part->D == 48);
        CHECK((s->part[p].coefficient < 0) == linear);
        CHECK(krein__map_apply(part, &rows, own) == KREIN_OK);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < part->D; j++)
                wrong += z[i * map->D + at + j] != factor * own[i * part->D + j];
        for (int64_t j = 0; j < part->D; j++) {
            wrong += map->sign[at + j] != (linear ? -1 : 1);
            negative += linear;
        }
        at += part->D;
        free(own);
    }
    CHECK(wrong == 0 && negative == map->negative && at == map->D);
    for (int64_t p = 1; p < s->n; p++) CHECK(s->part[p].map->seed != s->part[0].map->seed);
    free(z);
    free(x);
    krein__map_destroy(map);
}

/* E sum s z z = k over the seed. */
static void unbiased(void) {
    static const char *const some[] = {"gaussian(sigma=5) + 0.5*linear",
                                       "laplacian(sigma=30) - 0.3*gaussian(sigma=4)",
                                       "cauchy(sigma=20) + 0.1*poly(degree=2) - 0.5*arccos"};
    static const int64_t widths[] = {3, 16, 100};
    enum { FEW = 4 };
    int64_t R = test_sanitized() ? 60 : 300;
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < 3; w++) {
            int64_t d = widths[w];
            float *x = test_dense(FEW, d, 0.3);
            krein_rows rows = krein__rows_dense(FEW, d, x, d);
            double K[FEW * FEW], sum[FEW] = {0}, squares[FEW] = {0}, n = (double)R;
            krein_kernel *e = kernel_on(ctx, some[k]);
            CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
            krein__kernel_destroy(ctx, e);
            for (int64_t seed = 0; seed < R; seed++) {
                krein_map *map = need(ctx, "auto", some[k], 64, (uint64_t)seed, d, NULL);
                if (!map) return;
                float *z = test_new(FEW * map->D, sizeof *z);
                CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
                for (int i = 0; i < FEW; i++) {
                    double v = 0;
                    for (int64_t j = 0; j < map->D; j++)
                        v += (map->sign ? map->sign[j] : 1) * (double)z[j] *
                             (double)z[i * map->D + j];
                    sum[i] += v;
                    squares[i] += v * v;
                }
                free(z);
                krein__map_destroy(map);
            }
            for (int i = 0; i < FEW; i++) {
                double mean = sum[i] / n, variance = fmax(0, squares[i] / n - mean * mean);
                CHECK_Z(mean, K[i], variance + n * 1e-12 * fmax(1, K[i] * K[i]), R);
            }
            free(x);
        }
}

/* ---- parts with landmarks ------------------------------------------------ */

static const char *const mixed[] = {
    "gaussian(sigma=2) + tl1", "2*gaussian(sigma=2) - 0.3*linear*rq(sigma=2)",
    "tanh(gamma=0.2) - 0.5*linear",
    "0.4*laplacian(sigma=3) - 0.2*linear*gaussian(sigma=2) + linear + 0.1*epanechnikov*linear"};
enum { MIXED = sizeof mixed / sizeof *mixed };

/* sum_f s_f z_f(x) z_f(y) of the first `rows` points, from the map's own features. */
static double *gram_of(const krein_map *map, int64_t rows) {
    krein_rows x = krein__rows_dense(rows, DIM, points, DIM);
    float *z = test_new(rows * map->D, sizeof *z);
    double *K = test_new(rows * rows, sizeof *K);
    CHECK(krein__map_apply(map, &x, z) == KREIN_OK);
    for (int64_t i = 0; i < rows * rows; i++)
        for (int64_t f = 0; f < map->D; f++)
            K[i] += (map->sign ? map->sign[f] : 1) * (double)z[i / rows * map->D + f] *
                    (double)z[i % rows * map->D + f];
    free(z);
    return K;
}

/* The part as a map of its own, made from nothing but its specs and its seed. */
static krein_map *alone(const krein_map *part, source *s) {
    char *text = krein__map_text(part), *kernel = krein__kernel_text(ctx, part->kernel);
    CHECK(text && kernel && krein__stream_rewind(s->stream) == KREIN_OK);
    krein_map *map = need(ctx, text, kernel, 0, part->seed, DIM, s);
    krein__free(ctx, text);
    krein__free(ctx, kernel);
    return map;
}

/* The Gram matrix of the whole is the sum of those of its parts, with their signs. */
static void gram_is_the_sum(void) {
    enum { ROWS = 60, D = 64 };
    for (int k = 0; k < MIXED; k++) {
        source s;
        CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
        krein_map *map = need(ctx, "auto", mixed[k], D, 3, DIM, &s);
        if (!map) return;
        const krein_parts *all = map->state;
        double *K = gram_of(map, ROWS), *sum = test_new(ROWS * ROWS, sizeof *sum), top = 0, off = 0;
        int64_t R = 0, features = 0, negative = 0;
        CHECK(map->mix && isinf(map->fused_lambda) && krein__map_fused(map, 1e-9) == map->D);
        CHECK(krein__map_traits(map) == (KREIN_MAP_DATA | KREIN_MAP_MIX));
        for (int64_t p = 0; p < all->n; p++) {
            krein_map *own = alone(all->part[p].map, &s);
            if (!own) return;
            double *part = gram_of(own, ROWS), c = all->part[p].coefficient;
            for (int i = 0; i < ROWS * ROWS; i++) {
                sum[i] += c * part[i];
                top = fmax(top, fabs(c * part[i]));
            }
            R += own->R;
            features += own->D;
            negative += c < 0 ? own->D - own->negative : own->negative;
            free(part);
            krein__map_destroy(own);
        }
        for (int i = 0; i < ROWS * ROWS; i++) off = fmax(off, fabs(K[i] - sum[i]));
        if (!(off <= 1e-5 * top)) printf("%s: %g of %g\n", mixed[k], off, top);
        CHECK(off <= 1e-5 * top);
        CHECK(map->R == R && map->D == features && map->negative == negative && features <= D);
        free(K);
        free(sum);
        krein__map_destroy(map);
        source_close(&s);
    }
}

/* Terms for landmarks have them in common, with as many features as they would have alone; a minus
 * before them gives negative features. */
static void shared_landmarks(void) {
    source s;
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_map *map = need(ctx, "auto", mixed[3], 85, 3, DIM, &s);
    if (!map) return;
    const krein_parts *all = map->state;
    const krein_map *last = all->part[all->n - 1].map;
    char *kernel = krein__kernel_text(ctx, last->kernel);
    CHECK(all->n == 3 && strcmp(last->cls->cls.name, "nystrom") == 0);
    /* 5 for linear, a third of what is left for laplacian */
    CHECK(all->part[0].map->D == 5 && all->part[1].map->D == 26 && last->R == 52);
    CHECK(kernel && strcmp(kernel, "-0.2*linear*gaussian(sigma=2) + "
                                   "0.1*epanechnikov(a=3, m=1)*linear") == 0);
    krein__free(ctx, kernel);
    krein__map_destroy(map);
    /* every direction of a positive kernel becomes negative */
    map = need(ctx, "auto", "gaussian(sigma=2) - 0.1*linear*gaussian(sigma=2)", 60, 3, DIM, &s);
    if (!map) return;
    CHECK(map->negative > 20 && map->sign[0] == 1 && map->sign[map->D - 1] == -1);
    CHECK(map->negative == ((const krein_parts *)map->state)->part[1].map->D);
    krein__map_destroy(map);
    source_close(&s);
}

/* Linear takes more than its share where the others keep half of theirs; else it is sketched. */
static void wide_rows(void) {
    static const struct {
        const char *kernel;
        int64_t d, D, part[3]; /* features of the parts */
        const char *linear;
    } all[] = {{"gaussian(sigma=5) + 0.5*linear", 40, 100, {40, 60}, "explicit"},
               {"gaussian(sigma=5) + 0.5*linear", 60, 100, {60, 40}, "explicit"},
               {"gaussian(sigma=5) + 0.5*linear", 75, 100, {75, 24}, "explicit"},
               {"gaussian(sigma=5) + 0.5*linear", 76, 100, {50, 50}, "tensorsketch"},
               {"linear - 0.3*linear + cauchy(sigma=9)", 50, 120, {50, 50, 20}, "explicit"},
               {"linear - 0.3*linear + cauchy(sigma=9)", 60, 120, {60, 30, 30}, "explicit"},
               {"linear + poly(degree=2)", 101, 202, {101, 101}, "explicit"},
               {"linear", 100, 100, {100}, "explicit"},
               {"linear", 101, 100, {100}, "tensorsketch"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_map *map = need(ctx, "auto", all[i].kernel, all[i].D, 3, all[i].d, NULL);
        if (!map) continue;
        const krein_parts *s = map->state;
        bool found = false;
        for (int64_t p = 0; p < s->n; p++) {
            const char *name = s->part[p].map->cls->cls.name;
            bool right = false;
            for (int q = 0; q < 3; q++) right = right || all[i].part[q] == s->part[p].map->D;
            if (!right)
                printf("%s, d=%d: %s has %d\n", all[i].kernel, (int)all[i].d, name,
                       (int)s->part[p].map->D);
            CHECK(right);
            found = found || strcmp(name, all[i].linear) == 0;
        }
        CHECK(found && map->D <= all[i].D);
        krein__map_destroy(map);
    }
}

/* ---- learning ----------------------------------------------------------- */

/* Ridge regression with an intercept on features z (n x D), the obvious way. */
static void ridge(int64_t n, int64_t D, const float *z, const double *y, double lambda, double *w,
                  double *intercept) {
    double *mean = test_new(D, sizeof *mean), *A = test_new(D * D, sizeof *A), middle = 0;
    for (int64_t i = 0; i < n; i++) middle += y[i] / (double)n;
    for (int64_t i = 0; i < n * D; i++) mean[i % D] += (double)z[i] / (double)n;
    for (int64_t j = 0; j < D; j++) {
        w[j] = 0;
        for (int64_t i = 0; i < n; i++) w[j] += ((double)z[i * D + j] - mean[j]) * (y[i] - middle);
        for (int64_t l = 0; l < D; l++)
            for (int64_t i = 0; i < n; i++)
                A[j * D + l] += ((double)z[i * D + j] - mean[j]) * ((double)z[i * D + l] - mean[l]);
        A[j * D + j] += (double)n * lambda;
    }
    test_solve(D, 1, A, w);
    *intercept = middle;
    for (int64_t j = 0; j < D; j++) *intercept -= w[j] * mean[j];
    free(mean);
    free(A);
}

/* A model trained with such a map predicts what ridge regression on its features does, with lambda
 * given or chosen, and the same after loading. */
static void learns(void) {
    const char *path = test_path("parts.krein");
    krein_rows rows = krein__rows_dense(N, DIM, points, DIM);
    double y[N], got[N], again[N];
    for (int i = 0; i < N; i++) y[i] = 3 + sin(2 * (double)points[i * DIM]) + det(i, 3, 0.7) / 5;
    for (int k = 0; k < MIXED; k++)
        for (int chosen = 0; chosen < 3; chosen++) {
            krein_data_options o;
            krein_train_options t;
            krein_report r = KREIN_SIZED(krein_report);
            krein_data *data = NULL;
            krein_model *m = NULL, *loaded = NULL;
            krein_data_options_init(&o);
            krein_train_options_init(&t);
            o.scale = KREIN_SCALE_NONE;
            t.kernel = mixed[k];
            t.features = 48;
            t.lambda = chosen ? -1 : 1e-3;
            t.select = chosen == 2 ? "cv(k=3)" : NULL;
            CHECK(krein_data_from_dense(ctx, N, DIM, points, DIM, y, NULL, &o, &data) == KREIN_OK);
            krein_status st = krein_train(ctx, data, &t, &r, &m);
            if (st != KREIN_OK) printf("%s: %s\n", mixed[k], krein_message(ctx));
            CHECK(st == KREIN_OK);
            if (st != KREIN_OK) return;
            CHECK_HAS(r.map, "auto(D=48)");
            CHECK(r.D == m->map->D && m->map->mix);
            int64_t D = m->map->D;
            float *z = test_new(N * D, sizeof *z);
            double *w = test_new(D, sizeof *w), intercept, off = 0;
            CHECK(krein__map_apply(m->map, &rows, z) == KREIN_OK);
            ridge(N, D, z, y, m->lambda, w, &intercept);
            CHECK(krein_predict_dense(ctx, m, N, DIM, points, DIM, got) == KREIN_OK);
            for (int i = 0; i < N; i++) {
                double want = intercept;
                for (int64_t f = 0; f < D; f++) want += w[f] * (double)z[i * D + f];
                off = fmax(off, fabs(got[i] - want));
            }
            /* Sums of float32 features have errors of some part of 6e-8, which part depends on
             * the order in which OpenBLAS adds on this CPU; lambda divides them. */
            double most = 1e-5 + 1e-8 / m->lambda;
            if (!(off < most)) printf("%s, lambda %g: off by %g\n", mixed[k], m->lambda, off);
            CHECK(off < most);
            CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
            CHECK(krein_model_load(ctx, path, &loaded) == KREIN_OK);
            CHECK(loaded && krein_predict_dense(ctx, loaded, N, DIM, points, DIM, again) == 0);
            CHECK(memcmp(got, again, sizeof got) == 0);
            free(z);
            free(w);
            krein_model_destroy(loaded);
            krein_model_destroy(m);
            krein_report_clear(ctx, &r);
            krein_data_close(data);
        }
}

/* All columns of a linear kernel, and what is said where fewer were asked for; landmarks where they
 * do not fit into memory. */
static void linear_is_explicit(void) {
    enum { ROWS = 300, WIDE = 700 };
    float *x = test_dense(ROWS, WIDE, 0.1);
    double y[ROWS];
    for (int i = 0; i < ROWS; i++) y[i] = (double)x[i * WIDE + 3];
    for (int run = 0; run < 3; run++) {
        test_log log = {0};
        krein_ctx *on = test_ctx_full(1, NULL, &log);
        krein_data_options o;
        krein_train_options t;
        krein_report r = KREIN_SIZED(krein_report);
        krein_data *data = NULL;
        krein_data_options_init(&o);
        krein_train_options_init(&t);
        t.kernel = "2*linear";
        t.features = run == 0 ? 800 : 100;
        t.lambda = 0.1;
        if (run == 2) on->budget = 20 << 20;
        CHECK(krein_data_from_dense(on, ROWS, WIDE, x, WIDE, y, NULL, &o, &data) == KREIN_OK);
        krein_status st = krein_plan(on, data, &t, &r);
        if (st != KREIN_OK) printf("%s\n", krein_message(on));
        CHECK(st == KREIN_OK && r.fits);
        if (st == KREIN_OK) {
            CHECK_HAS(r.map, run == 2 ? "nystrom(D=100" : "explicit");
            CHECK(r.D == (run == 2 ? 100 : WIDE) && log.warnings == (run == 1));
        }
        krein_report_clear(on, &r);
        krein_data_close(data);
        krein_ctx_destroy(on);
    }
    free(x);
}

/* Too few features for the terms. */
static void refused(void) {
    krein_kernel *k = kernel_on(ctx, "gaussian(sigma=1) + laplacian(sigma=1) + 2*cauchy(sigma=1)");
    krein_map *map = NULL;
    CHECK(krein__map_create(ctx, "auto", k, 2, 1, &map) == KREIN_OK);
    CHECK(krein__map_fit(map, 3, false, NULL, 0) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "too few");
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, k);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(defaults);
    RUN(side_by_side);
    RUN(unbiased);
    RUN(gram_is_the_sum);
    RUN(shared_landmarks);
    RUN(wide_rows);
    RUN(learns);
    RUN(linear_is_explicit);
    RUN(refused);
    return maps_done();
}
