/* test_neural.c -- arc-cosine and tangent kernels: reference values, and the maps arccos, ntkrf and
 * ntksketch: means, variances, rates, widths. */
#include "parsed.h"

#include "map/map.h"

static krein_status try_map(const char *spec, const char *kernel, int64_t D, uint64_t seed,
                            int64_t d, krein_map **out) {
    krein_kernel *k = kernel_of(kernel);
    krein_status st = krein__map_create(ctx, spec, k, D, seed, out);
    if (st == KREIN_OK) st = krein__map_fit(*out, d, false, NULL, 0);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(ctx, k);
    return st;
}

/* Z Z' (n x n) of one draw of the map; the number of features, 0 on failure. */
static int64_t estimate(const char *spec, const char *kernel, int64_t D, uint64_t seed,
                        const krein_rows *x, double *out) {
    krein_map *map = NULL;
    if (try_map(spec, kernel, D, seed, x->d, &map) != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
        test_bad++;
        return 0;
    }
    int64_t m = map->D;
    float *z = test_new(x->n * m, sizeof *z);
    CHECK(krein__map_apply(map, x, z) == KREIN_OK);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->n; j++) {
            double sum = 0;
            for (int64_t f = 0; f < m; f++)
                sum += (map->sign ? map->sign[f] : 1) * (double)z[i * m + f] * (double)z[j * m + f];
            out[i * x->n + j] = sum;
        }
    free(z);
    krein__map_destroy(map);
    return m;
}

static void exact(const char *kernel, const krein_rows *x, double *out) {
    krein_kernel *k = kernel_of(kernel);
    CHECK(krein__gram_full(ctx, k, x, x, out) == KREIN_OK);
    krein__kernel_destroy(ctx, k);
}

/* Means and variances over R draws of the values at ROWS rows. */
enum { ROWS = 3, VALUES = ROWS * ROWS };
typedef struct moments {
    double mean[VALUES], variance[VALUES];
} moments;
static moments moments_of(const char *spec, const char *kernel, int64_t D, int64_t R,
                          const krein_rows *x) {
    moments m = {{0}, {0}};
    double v[VALUES], n = (double)R;
    for (int64_t seed = 0; seed < R; seed++) {
        if (!estimate(spec, kernel, D, (uint64_t)seed, x, v)) break;
        for (int i = 0; i < VALUES; i++) m.mean[i] += v[i] / n, m.variance[i] += v[i] * v[i];
    }
    for (int i = 0; i < VALUES; i++)
        m.variance[i] = (m.variance[i] - n * m.mean[i] * m.mean[i]) / (n - 1);
    return m;
}

/* ROWS x d with lengths near one, none of them one. */
static float *rows_of(int64_t d) {
    float *x = test_new(ROWS * d, sizeof *x);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = (float)((1 + 0.2 * (double)i) * (det(i, j, 0) + 0.4) / sqrt((double)d));
    return x;
}

/* ---- kernels ------------------------------------------------------------ */

/* k(x_i, x_j) for X = det(3, 4), in double. */
static double value(const char *kernel, int i, int j) {
    krein_kernel *k = kernel_of(kernel);
    double xy = 0, xx = 0, yy = 0;
    for (int c = 0; c < 4; c++) {
        xy += det(i, c, 0) * det(j, c, 0);
        xx += det(i, c, 0) * det(i, c, 0);
        yy += det(j, c, 0) * det(j, c, 0);
    }
    k->kernel->values64(k->values.number, 1, &xy, xx, &yy);
    krein__kernel_destroy(ctx, k);
    return xy;
}

static void reference_values(void) {
    static const struct {
        const char *kernel;
        double v[4]; /* pairs 01, 02, 12, and 00 for ntk */
    } ref[] = {{"arccos(order=0)", {.357399765662, .448048702391, .274049472784, 0}},
               {"arccos(order=1)", {.264590658162, .455772897295, .137749242829, 0}},
               {"arccos(order=2)", {.476277447782, 1.136882800302, .167407032842, 0}},
               {"ntk(depth=1)", {-.045513770206, .318250849547, -.25385843888, 3.45148209211}},
               {"ntk(depth=2)", {.750805509897, 1.030571426058, .636176848166, 5.177223138165}},
               {"ntk(depth=3)", {1.544169216488, 1.753919675572, 1.515888550826, 6.90296418422}},
               {"ntk(depth=5)", {3.07010402951, 3.159905685413, 3.202685865937, 10.35444627633}}};
    for (size_t k = 0; k < sizeof ref / sizeof *ref; k++) {
        CHECK_ABS(value(ref[k].kernel, 0, 1), ref[k].v[0], 2e-12);
        CHECK_ABS(value(ref[k].kernel, 0, 2), ref[k].v[1], 2e-12);
        CHECK_ABS(value(ref[k].kernel, 1, 2), ref[k].v[2], 2e-12);
        /* the angle at x = y is the root of a rounding error */
        if (k >= 3) CHECK_ABS(value(ref[k].kernel, 0, 0), ref[k].v[3], 2e-7);
    }
}

/* ---- arccos ------------------------------------------------------------- */

static void arccos_unbiased(void) {
    enum { D = 64 };
    int64_t R = test_sanitized() ? 20 : 120;
    static const int64_t widths[] = {3, 16, 100};
    static const char *const specs[] = {"arccos", "arccos(orthogonal=yes)"};
    for (int w = 0; w < 3; w++) {
        float *x = rows_of(widths[w]);
        krein_rows rows = krein__rows_dense(ROWS, widths[w], x, widths[w]);
        double K[3][VALUES];
        for (int order = 2; order >= 0; order--) {
            char kernel[40];
            snprintf(kernel, sizeof kernel, "arccos(order=%d)", order);
            exact(kernel, &rows, K[order]);
            for (int q = 0; q < 2; q++) {
                moments m = moments_of(specs[q], kernel, D, R, &rows);
                for (int i = 0; i < VALUES; i++) {
                    CHECK_Z(m.mean[i], K[order][i], m.variance[i], R);
                    if (q > 0 || order == 2) continue;
                    /* (2 A_2n - A_n^2) / D; a variance of R draws, their tails are long */
                    double want = (2 * K[2 * order][i] - K[order][i] * K[order][i]) / D;
                    CHECK_REL(m.variance[i], want, 12 * sqrt(2 / (double)R));
                }
            }
        }
        free(x);
    }
}

static void arccos_products(void) {
    int64_t R = test_sanitized() ? 40 : 300;
    static const char *const kernel = "arccos(order=1)*arccos(order=0) - 0.5*arccos(order=1)";
    float *x = rows_of(5);
    krein_rows rows = krein__rows_dense(ROWS, 5, x, 5);
    double K[VALUES];
    exact(kernel, &rows, K);
    moments m = moments_of("arccos", kernel, 41, R, &rows);
    for (int i = 0; i < VALUES; i++) CHECK_Z(m.mean[i], K[i], m.variance[i], R);
    free(x);
}

static void arccos_orthogonal(void) {
    if (test_sanitized()) SKIP("slow under sanitizers");
    float *x = rows_of(16);
    krein_rows rows = krein__rows_dense(ROWS, 16, x, 16);
    for (int order = 0; order < 2; order++) {
        char kernel[40];
        double plain = 0, blocks = 0;
        snprintf(kernel, sizeof kernel, "arccos(order=%d)", order);
        moments a = moments_of("arccos", kernel, 64, 300, &rows);
        moments b = moments_of("arccos(orthogonal=yes)", kernel, 64, 300, &rows);
        for (int i = 0; i < VALUES; i++) plain += a.variance[i], blocks += b.variance[i];
        if (getenv("KREIN_SHOW")) printf("order %d: variance %.3f\n", order, blocks / plain);
        CHECK(blocks < plain);
    }
    free(x);
}

/* A row of zeros has no angle: features and values are 0. */
static void zero_row(void) {
    float x[2 * 3] = {0, 0, 0, 0.3f, -0.2f, 0.5f};
    krein_rows rows = krein__rows_dense(2, 3, x, 3);
    static const char *const some[] = {"arccos(order=0)", "arccos(order=2)", "ntk(depth=2)",
                                       "ntk(depth=2)"};
    static const char *const maps[] = {"arccos", "arccos", "ntkrf", "ntksketch"};
    for (int k = 0; k < 4; k++) {
        double v[4], K[4];
        exact(some[k], &rows, K);
        estimate(maps[k], some[k], 64, 1, &rows, v);
        for (int i = 0; i < 3; i++) CHECK(v[i] == 0 && K[i] == 0);
    }
}

/* ---- ntkrf, ntksketch --------------------------------------------------- */

/* One layer: Psi and Phi are the row itself, and the features are unbiased. */
static void one_layer_unbiased(void) {
    int64_t R = test_sanitized() ? 20 : 100;
    static const int64_t widths[] = {3, 16, 100};
    static const char *const some[] = {"ntk(depth=1)", "0.7*ntk(depth=1, bias=0.6, scale=0.8)",
                                       "ntk(depth=1) - 0.4*ntk(depth=1, bias=0.5)"};
    static const char *const maps[] = {"ntkrf", "ntksketch"};
    for (int w = 0; w < 3; w++) {
        float *x = rows_of(widths[w]);
        krein_rows rows = krein__rows_dense(ROWS, widths[w], x, widths[w]);
        for (int k = 0; k < 3; k++) {
            double K[VALUES];
            exact(some[k], &rows, K);
            for (int q = 0; q < 2; q++) {
                moments m = moments_of(maps[q], some[k], 3 * widths[w] + 40, R, &rows);
                for (int i = 0; i < VALUES; i++) CHECK_Z(m.mean[i], K[i], m.variance[i], R);
            }
        }
        free(x);
    }
}

/* Deeper ones: the mean is off by no more than a bias of 2 depth / m1, in units of the values on
 * the diagonal, and the errors of the draws. */
static void deeper_means(void) {
    int64_t R = test_sanitized() ? 8 : 50;
    static const struct {
        const char *map, *kernel;
        int64_t D, depth, m1;
    } some[] = {
        {"ntksketch(m0=128, m1=256, mcs=256)", "ntk(depth=2)", 512, 2, 256},
        {"ntksketch(m0=64, m1=128, mcs=128)", "ntk(depth=3, bias=0.5, scale=0.8)", 257, 3, 128},
        {"ntkrf(m0=8, m1=128)", "ntk(depth=2)", 128 * 9 + 64 * 4, 2, 128},
        {"ntkrf(m0=6, m1=64)", "ntk(depth=2, bias=0.5, scale=0.8)", 65 * 7 + 36 * 5, 2, 64},
        {"ntkrf(m0=4, m1=64)", "ntk(depth=3)", 64 * 21 + 64 * 4, 3, 64}};
    float x[ROWS * 4];
    for (int i = 0; i < ROWS * 4; i++) x[i] = (float)det(i / 4, i % 4, 0);
    krein_rows rows = krein__rows_dense(ROWS, 4, x, 4);
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        double K[VALUES], v[VALUES];
        exact(some[k].kernel, &rows, K);
        CHECK(estimate(some[k].map, some[k].kernel, some[k].D, 1, &rows, v) == some[k].D);
        moments m = moments_of(some[k].map, some[k].kernel, some[k].D, R, &rows);
        for (int i = 0; i < VALUES; i++) {
            double top = sqrt(K[i / ROWS * (ROWS + 1)] * K[i % ROWS * (ROWS + 1)]);
            double bias = 2 * (double)some[k].depth / (double)some[k].m1 * top;
            double error = sqrt(m.variance[i] / (double)R);
            if (getenv("KREIN_SHOW") && i % ROWS >= i / ROWS)
                printf("%s %d: mean %.4f want %.4f error %.4f bias allowed %.4f\n", some[k].map, i,
                       m.mean[i], K[i], error, bias);
            CHECK_ABS(m.mean[i], K[i], 5 * error + bias);
        }
    }
}

/* Standard deviations at det(3, 4), pair (0, 1), two layers. A standard deviation of R draws has
 * the relative error 1/sqrt(2R), more with long tails. */
static void sketch_deviations(void) {
    static const struct {
        const char *map;
        int64_t D, R;
        double sd;
    } some[] = {{"ntksketch(m0=32, m1=128, mcs=128)", 256, 120, .42},
                {"ntksketch(m0=128, m1=512, mcs=512)", 1024, 30, .21},
                {"ntksketch(m0=512, m1=2048, mcs=2048)", 4096, 4, .13}};
    float x[ROWS * 4];
    for (int i = 0; i < ROWS * 4; i++) x[i] = (float)det(i / 4, i % 4, 0);
    krein_rows rows = krein__rows_dense(ROWS, 4, x, 4);
    for (int k = 0; k < (test_sanitized() ? 1 : 3); k++) {
        moments m = moments_of(some[k].map, "ntk(depth=2)", some[k].D, some[k].R, &rows);
        double sd = sqrt(m.variance[1]);
        if (getenv("KREIN_SHOW")) printf("%s: sd %.3f\n", some[k].map, sd);
        CHECK_REL(sd, some[k].sd, 0.15 + 2.5 / sqrt(2 * (double)some[k].R));
    }
}

/* log of the root mean square over R draws of |K - ZZ'| / |K|. */
static double log_error(const char *kernel, int64_t D, int64_t R, const krein_rows *x,
                        const double *K) {
    double sum = 0, norm = 0, *v = test_new(x->n * x->n, sizeof *v);
    for (int64_t i = 0; i < x->n * x->n; i++) norm += K[i] * K[i];
    for (int64_t seed = 0; seed < R; seed++) {
        estimate("ntksketch", kernel, D, (uint64_t)(seed + 1000), x, v);
        for (int64_t i = 0; i < x->n * x->n; i++) sum += (v[i] - K[i]) * (v[i] - K[i]);
    }
    free(v);
    return 0.5 * log(sum / (double)R / norm);
}

/* Errors fall like D^(-1/2) at any depth. The error of a draw varies by a fifth, so that the slope
 * over 256 .. 4096 has a standard error of about 0.04. */
static void monte_carlo_rate(void) {
    enum { POINTS = 12, WIDTH = 6, SIZES = 5 };
    int sizes = test_sanitized() ? 2 : SIZES;
    float *x = test_dense(POINTS, WIDTH, 0.1);
    krein_rows rows = krein__rows_dense(POINTS, WIDTH, x, WIDTH);
    for (int depth = 1; depth <= 2; depth++) {
        char kernel[40];
        double K[POINTS * POINTS], sx = 0, sy = 0, sxx = 0, sxy = 0;
        snprintf(kernel, sizeof kernel, "ntk(depth=%d)", depth);
        exact(kernel, &rows, K);
        for (int i = 0; i < sizes; i++) {
            int64_t D = (int64_t)256 << i, R = i < 3 ? 30 : depth == 1 ? 20 : i == 3 ? 8 : 3;
            double a = log((double)D), e = log_error(kernel, D, test_sanitized() ? 3 : R, &rows, K);
            if (getenv("KREIN_SHOW"))
                printf("depth %d D %lld: %.4f\n", depth, (long long)D, exp(e));
            sx += a, sy += e, sxx += a * a, sxy += a * e;
        }
        double slope = (sizes * sxy - sx * sy) / (sizes * sxx - sx * sx);
        if (getenv("KREIN_SHOW")) printf("depth %d: slope %.3f\n", depth, slope);
        if (!test_sanitized()) CHECK_ABS(slope, -0.5, 0.1);
    }
    free(x);
}

/* ---- widths ------------------------------------------------------------- */

static int64_t width(const char *spec, const char *kernel, int64_t D, int64_t d) {
    krein_map *map = NULL;
    krein_kernel *k = kernel_of(kernel);
    int64_t m = -1, promised = 0;
    krein_status st = krein__map_create(ctx, spec, k, D, 1, &map);
    if (st == KREIN_OK) {
        map->d = d;
        promised = map->cls->features(map, 0);
        st = krein__map_fit(map, d, false, NULL, 0);
    }
    if (st == KREIN_OK) CHECK((m = map->D) == promised);
    krein__map_destroy(map);
    krein__kernel_destroy(ctx, k);
    return m;
}

static void widths(void) {
    CHECK(width("ntkrf(m0=3, m1=10)", "ntk(depth=1)", 1000, 7) == 10 + 3 * 7);
    CHECK(width("ntkrf(m0=3, m1=10)", "ntk(depth=1, bias=1)", 1000, 7) == 11 + 3 * 8);
    CHECK(width("ntkrf(m0=2, m1=10)", "ntk(depth=3)", 1000, 7) == 10 * 7 + 8 * 7);
    CHECK(width("ntkrf(m1=10)", "ntk(depth=1)", 60, 7) == 10 + 4 * 7);
    CHECK(width("ntkrf", "ntk(depth=1)", 1000, 7) == 1000);
    CHECK(width("ntksketch(m0=5, m1=10, mcs=35)", "ntk", 1000, 7) == 10 + 32);
    CHECK(width("ntksketch(m1=100)", "ntk(bias=1)", 1000, 7) == 101 + 512);
    for (int64_t D = 4; D < 300; D += 37)
        for (int64_t d = 1; d < 40; d += 13)
            CHECK(width("ntksketch", "ntk(depth=3, bias=0.1)", D, d) == D);
    /* what is refused with a least D is accepted with it, and not with less */
    CHECK(width("ntkrf", "ntk(depth=2, bias=1)", 24, 20) == -1);
    CHECK_HAS(krein_message(ctx), "at least 25 features");
    CHECK_HAS(krein_message(ctx), "ntksketch");
    CHECK(width("ntkrf", "ntk(depth=2, bias=1)", 25, 20) == 25);
    CHECK(width("ntkrf(m0=1000000, m1=1000000)", "ntk(depth=100)", 1000, 20) == -1);
    CHECK(width("ntksketch", "ntk(depth=2, bias=1)", 3, 20) == -1);
    CHECK_HAS(krein_message(ctx), "at least 4 features");
    CHECK(width("ntksketch", "ntk(depth=2, bias=1)", 4, 20) == 4);
    CHECK(width("ntksketch(m1=100, mcs=128)", "ntk", 200, 20) == -1);
    CHECK_HAS(krein_message(ctx), "at least 228 features");
    /* products of tangent kernels have no such features */
    CHECK(width("ntksketch", "ntk*ntk", 200, 20) == -1);
    CHECK_HAS(krein_message(ctx), "try nystrom");
}

/* Many layers leave few steps to each: ntkrf says what error that has, and what to use. */
static void depth_is_told(void) {
    static const struct {
        const char *spec;
        int64_t depth, D;
        int warnings;
    } cases[] = {{"ntkrf", 1, 256, 0},
                 {"ntkrf", 2, 4096, 0},
                 {"ntkrf", 4, 4096, 1},
                 {"ntkrf", 3, 256, 1},
                 {"ntksketch", 4, 4096, 0}};
    krein_ctx *before = ctx;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_log log;
        char kernel[32];
        krein_map *map = NULL;
        ctx = test_ctx_full(1, NULL, &log);
        memset(&log, 0, sizeof log);
        snprintf(kernel, sizeof kernel, "ntk(depth=%d)", (int)cases[i].depth);
        CHECK(try_map(cases[i].spec, kernel, cases[i].D, 1, 16, &map) == KREIN_OK);
        CHECK(log.warnings == cases[i].warnings);
        if (cases[i].warnings) CHECK_HAS(log.text, "map=ntksketch");
        krein__map_destroy(map);
        krein_ctx_destroy(ctx);
    }
    ctx = before;
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(reference_values);
    RUN(arccos_unbiased);
    RUN(arccos_products);
    RUN(arccos_orthogonal);
    RUN(zero_row);
    RUN(one_layer_unbiased);
    RUN(deeper_means);
    RUN(sketch_deviations);
    RUN(monte_carlo_rate);
    RUN(widths);
    RUN(depth_is_told);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
