/* test_parts.c -- maps side by side: the default map of every kind of expression, auto's features
 * against those of its parts, its mean over the seed, how it shares D. */
#include "common.h"

#include "map/parts.h"

static krein_ctx *ctx;

static krein_kernel *parse(const char *text) {
    krein_kernel *k = NULL;
    if (krein__kernel_parse(ctx, text, &k) != KREIN_OK) {
        printf("%s: %s\n", text, krein_message(ctx));
        exit(1);
    }
    return k;
}

static krein_map *make(const char *spec, const char *kernel, int64_t D, uint64_t seed, int64_t d) {
    krein_kernel *k = parse(kernel);
    krein_map *map = NULL;
    krein_status st = krein__map_create(ctx, spec, k, D, seed, &map);
    if (st == KREIN_OK) st = krein__map_fit(map, d, false, NULL, 0);
    krein__kernel_destroy(ctx, k);
    if (st == KREIN_OK) return map;
    printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
    test_bad++;
    krein__map_destroy(map);
    return NULL;
}

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
               {"linear", 101, 100, "nystrom"},
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
               {"gaussian(sigma=2) + tl1", 5, 100, "nystrom"},
               {"gaussian(sigma=2) + 0.5*linear", 5, 100, "auto"},
               {"gaussian(sigma=2) + 0.5*linear", 60, 100, "nystrom"},
               {"gaussian(sigma=2) + 0.5*poly(degree=3)", 60, 100, "auto"},
               {"gaussian(sigma=2) - arccos + laplacian(sigma=1)", 5, 100, "auto"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_kernel *k = parse(all[i].kernel);
        const char *got = krein__map_default(k, all[i].d, all[i].D);
        if (strcmp(got, all[i].map) != 0)
            printf("%s: %s, want %s\n", all[i].kernel, got, all[i].map);
        CHECK(strcmp(got, all[i].map) == 0);
        krein__kernel_destroy(ctx, k);
    }
}

/* Each part has its columns, its factor and its sign; linear takes d of its share, not more. */
static void side_by_side(void) {
    enum { N = 250, D5 = 5, D = 101 };
    float *x = test_dense(N, D5, 0.1);
    krein_rows rows = krein__rows_dense(N, D5, x, D5);
    krein_map *map =
        make("auto", "2*gaussian(sigma=2) - 0.25*linear + laplacian(sigma=3)", D, 3, D5);
    if (!map) return;
    const krein_parts *s = map->state;
    CHECK(s->n == 3 && map->R == map->D && map->D <= D && map->D > D - 4);
    float *z = test_new(N * map->D, sizeof *z);
    CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
    int64_t at = 0, wrong = 0, negative = 0;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        bool linear = strcmp(part->cls->cls.name, "explicit") == 0;
        float *own = test_new(N * part->D, sizeof *own);
        float factor = (float)sqrt(fabs(s->part[p].coefficient));
        CHECK(s->part[p].first == at && part->seed != map->seed);
        CHECK(linear ? part->D == D5 : part->D == 48);
        CHECK((s->part[p].coefficient < 0) == linear);
        CHECK(krein__map_apply(part, &rows, own) == KREIN_OK);
        for (int64_t i = 0; i < N; i++)
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
    enum { N = 4 };
    int64_t R = test_sanitized() ? 60 : 300;
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < 3; w++) {
            int64_t d = widths[w];
            float *x = test_dense(N, d, 0.3);
            krein_rows rows = krein__rows_dense(N, d, x, d);
            double K[N * N], sum[N] = {0}, squares[N] = {0}, n = (double)R;
            krein_kernel *e = parse(some[k]);
            CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
            krein__kernel_destroy(ctx, e);
            for (int64_t seed = 0; seed < R; seed++) {
                krein_map *map = make("auto", some[k], 64, (uint64_t)seed, d);
                if (!map) return;
                float *z = test_new(N * map->D, sizeof *z);
                CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
                for (int i = 0; i < N; i++) {
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
            for (int i = 0; i < N; i++) {
                double mean = sum[i] / n, variance = fmax(0, squares[i] / n - mean * mean);
                CHECK_Z(mean, K[i], variance + n * 1e-12 * fmax(1, K[i] * K[i]), R);
            }
            free(x);
        }
}

/* Too few features for the terms; a kernel for landmarks. */
static void refused(void) {
    krein_kernel *k = parse("gaussian(sigma=1) + laplacian(sigma=1) + 2*cauchy(sigma=1)");
    krein_map *map = NULL;
    CHECK(krein__map_create(ctx, "auto", k, 2, 1, &map) == KREIN_OK);
    CHECK(krein__map_fit(map, 3, false, NULL, 0) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "too few");
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, k);
    k = parse("gaussian(sigma=1) + tl1");
    CHECK(krein__map_create(ctx, "auto", k, 20, 1, &map) == KREIN_ESPEC && !map);
    CHECK_HAS(krein_message(ctx), "try nystrom");
    krein__kernel_destroy(ctx, k);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(defaults);
    RUN(side_by_side);
    RUN(unbiased);
    RUN(refused);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
