/* test_dot.c -- explicit, maclaurin, tensorsketch: maps of dot-product kernels. */
#include "mapped.h"

#include "map/tensorsketch.h"

/* ---- rows and maps ------------------------------------------------------ */

typedef struct source {
    krein_data *data;
    krein_encoding e;
    krein_stream *stream;
} source;

static void source_open(krein_ctx *on, int64_t n, int64_t d, const float *x, source *s) {
    krein_data_options o;
    memset(s, 0, sizeof *s);
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(on, n, d, x, d, NULL, NULL, &o, &s->data) == KREIN_OK);
    CHECK(krein__data_scan(s->data, false, 0, 1, &s->e) == KREIN_OK);
    CHECK(krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream) == KREIN_OK);
}
static void source_close(krein_ctx *on, source *s) {
    krein__stream_close(s->stream);
    krein__encoding_clear(on, &s->e);
    krein_data_close(s->data);
}

static krein_status make(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
                         uint64_t seed, int64_t d, krein_stream *rows, krein_map **out) {
    krein_kernel *k = NULL;
    *out = NULL;
    krein_status st = krein__kernel_parse(on, kernel, &k);
    if (st == KREIN_OK) st = krein__map_create(on, spec, k, D, seed, out);
    if (st == KREIN_OK) st = krein__map_fit(*out, d, false, rows, 0);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(on, k);
    return st;
}
static krein_map *need(const char *spec, const char *kernel, int64_t D, uint64_t seed, int64_t d) {
    krein_map *map = NULL;
    if (make(ctx, spec, kernel, D, seed, d, NULL, &map) != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
        exit(1);
    }
    return map;
}
/* n x n kernel values */
static void gram(const char *kernel, const krein_rows *x, double *K) {
    krein_kernel *e = NULL;
    CHECK(krein__kernel_parse(ctx, kernel, &e) == KREIN_OK);
    CHECK(krein__kernel_settle(ctx, e, x->d, NULL) == KREIN_OK);
    CHECK(krein__gram_full(ctx, e, x, x, K) == KREIN_OK);
    krein__kernel_destroy(ctx, e);
}
/* n rows of length `length`, apart from each other by moderate angles. */
static float *sphere(int64_t n, int64_t d, double length) {
    float *x = test_dense(n, d, 0.4);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++) {
            x[i * d + j] += 0.6f * x[j]; /* towards the first */
            sum += (double)x[i * d + j] * (double)x[i * d + j];
        }
        for (int64_t j = 0; j < d; j++) x[i * d + j] *= (float)(length / sqrt(sum));
    }
    return x;
}

/* ---- the transform ------------------------------------------------------ */

/* FORMULAS group 5, REF C_1 and TS. */
static void reference_sketch(void) {
    static const int32_t h[] = {0, 3, 5, 1, 7, 2, 4, 4, 1, 6, 0, 3};
    static const float s[] = {1, -1, 1, 1, -1, 1, -1, 1, 1, -1, 1, 1};
    static const double c1[] = {
        .099833416647, .334988150156, -.993691003633, -.841470984808, 0, .946300087687, 0,
        .529836140908};
    static const double ts[] = {-.158966538347,  .900678046592,  .316999315867, -.517744641379,
                                -1.055118565501, .556988792416,  .961244412375, -1.017009891809,
                                .476258372379,   -.472797412868, .673522805135, -.355935542128,
                                -1.459591879212, 1.128311140642, .539770121269, -.576708445564};
    float *x = test_dense(2, 6, 0);
    krein_rows rows = krein__rows_dense(2, 6, x, 6);
    krein_map *map = need("tensorsketch", "poly(degree=2, c=0)", 8, 1, 6);
    krein_sketch *k = map->state;
    CHECK(k->parts == 1 && k->width == 6 && k->part[0].degree == 2 && k->part[0].length == 8);
    memcpy(k->hash, h, sizeof h);
    memcpy(k->sign, s, sizeof s);
    float *z = features(map, &rows);
    for (int i = 0; i < 16; i++) CHECK_ABS((double)z[i], ts[i], 5e-7);
    free(z);
    k->part[0].degree = 1; /* the first CountSketch alone */
    z = features(map, &rows);
    for (int i = 0; i < 8; i++) CHECK_ABS((double)z[i], c1[i], 2e-7);
    free(z);
    free(x);
    krein__map_destroy(map);
}

/* ---- explicit ----------------------------------------------------------- */

/* ERRATA 49: (x'y + c)^2 has c, sqrt(2c) x_i, x_i^2, sqrt(2) x_i x_j. */
static void square_features(void) {
    const float x[] = {0.3f, -1.1f, 0.7f};
    const double c = 0.6, a = (double)x[0], b = (double)x[1], e = (double)x[2], r = sqrt(2.0);
    krein_rows rows = krein__rows_dense(1, 3, x, 3);
    krein_map *map = need("explicit", "poly(degree=2, c=0.6)", 0, 1, 3);
    const double want[] = {c,         sqrt(2 * c) * a, sqrt(2 * c) * b, sqrt(2 * c) * e, a * a,
                           r * a * b, r * a * e,       b * b,           r * b * e,       e * e};
    CHECK(map->D == 10);
    float *z = features(map, &rows);
    for (int i = 0; i < 10; i++) CHECK_ABS((double)z[i], want[i], 3e-7);
    free(z);
    krein__map_destroy(map);
}

/* The kernel to rounding, with the number of features that there must be. */
static void explicit_is_exact(void) {
    static const struct {
        const char *kernel;
        int64_t d;
        int64_t D;
    } cases[] = {{"linear", 100, 100},
                 {"2.5*linear", 3, 3},
                 {"-1*linear", 3, 3},
                 {"poly(degree=1, c=2)", 16, 17},
                 {"poly(degree=2, c=0.5)", 100, 5151},
                 {"poly(degree=3, c=1.3, gamma=0.1)", 16, 969},
                 {"poly(degree=3, c=0)", 16, 816},
                 {"poly(degree=5, c=-0.7)", 3, 56},
                 {"poly(degree=4, gamma=-0.5)", 3, 35},
                 {"linear*linear + 0.3*poly(degree=2, c=2)", 16, 153},
                 {"poly(degree=2) - 0.8*poly(degree=2, c=3)", 16, 153},
                 {"poly(degree=12, c=0.1)", 1, 13}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        enum { ROWS = 7 };
        int64_t d = cases[c].d;
        float *x = test_dense(ROWS, d, 0.2);
        for (int64_t j = 0; j < d; j += 2) x[3 * d + j] = 0;
        krein_rows rows = krein__rows_dense(ROWS, d, x, d);
        double K[ROWS * ROWS], top = 0, off = 0;
        gram(cases[c].kernel, &rows, K);
        krein_map *map = need("explicit", cases[c].kernel, 0, 1, d);
        CHECK(map->D == cases[c].D && map->cls->features(map, 1) == map->D);
        float *z = features(map, &rows);
        for (int i = 0; i < ROWS * ROWS; i++) {
            top = fmax(top, fabs(K[i]));
            off = fmax(off, fabs(inner(map, z + i / ROWS * map->D, z + i % ROWS * map->D) - K[i]));
        }
        if (!(off <= 4e-6 * top)) printf("%s: %g of %g\n", cases[c].kernel, off, top);
        CHECK(off <= 4e-6 * top);
        free(z);
        free(x);
        krein__map_destroy(map);
    }
    krein_map *map;
    CHECK(make(ctx, "explicit", "poly(degree=4)", 0, 1, 300, NULL, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "3.48882e+08"); /* C(304, 4) */
    CHECK_HAS(krein_message(ctx), "tensorsketch");
    CHECK(make(ctx, "explicit", "linear - linear", 0, 1, 3, NULL, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "zero");
}

/* ---- rows of length one ------------------------------------------------- */

/* ERRATA 27: d + 1 features for epanechnikov(m=1); others are polynomials, too. */
static void epanechnikov_is_polynomial(void) {
    enum { ROWS = 9, DIM = 6 };
    static const char *const some[] = {"epanechnikov(a=3, m=1)", "epanechnikov(a=2, m=3)",
                                       "epanechnikov(a=2.5, m=2)"};
    static const int64_t made[] = {DIM + 1, 84, 28};
    float *x = sphere(ROWS, DIM, 1);
    krein_rows rows = krein__rows_dense(ROWS, DIM, x, DIM);
    for (int k = 0; k < 3; k++) {
        source s;
        krein_map *map = NULL;
        double K[ROWS * ROWS], off = 0;
        gram(some[k], &rows, K);
        source_open(ctx, ROWS, DIM, x, &s);
        CHECK(make(ctx, "explicit", some[k], 0, 1, DIM, s.stream, &map) == KREIN_OK);
        CHECK(map->D == made[k] && !map->sign);
        float *z = features(map, &rows);
        for (int i = 0; i < ROWS * ROWS; i++)
            off = fmax(off, fabs(inner(map, z + i / ROWS * map->D, z + i % ROWS * map->D) - K[i]));
        CHECK(off <= 1e-6);
        free(z);
        krein__map_destroy(map);
        /* two degrees need no random features in the others either */
        if (k == 0) {
            for (int i = 0; i < 2; i++) {
                CHECK(make(ctx, i ? "maclaurin" : "tensorsketch", some[0], 50, 1, DIM, s.stream,
                           &map) == KREIN_OK);
                CHECK(map->D == DIM + 1);
                krein__map_destroy(map);
            }
        }
        source_close(ctx, &s);
    }
    free(x);
}

static void lengths_are_checked(void) {
    enum { ROWS = 5, DIM = 4 };
    static const char *const names[] = {"maclaurin", "tensorsketch", "explicit"};
    float *one = sphere(ROWS, DIM, 1), *two = sphere(ROWS, DIM, 2);
    source unit, longer;
    krein_map *map = NULL;
    source_open(ctx, ROWS, DIM, one, &unit);
    source_open(ctx, ROWS, DIM, two, &longer);
    for (int i = 0; i < 3; i++) {
        const char *kernel = i < 2 ? "gaussian(sigma=0.8)" : "epanechnikov";
        CHECK(make(ctx, names[i], kernel, 40, 1, DIM, unit.stream, &map) == KREIN_OK);
        krein__map_destroy(map);
        CHECK(make(ctx, names[i], kernel, 40, 1, DIM, longer.stream, &map) == KREIN_EDATA);
        CHECK_HAS(krein_message(ctx), names[i]);
        CHECK_HAS(krein_message(ctx), "`scale=unit`");
        CHECK_HAS(krein_message(ctx), "up to 4");
        /* the stream may be read again */
        krein_block block;
        CHECK(krein__stream_next(unit.stream, &block) == KREIN_OK && block.x.n == ROWS);
    }
    /* tanh(t) has a series up to pi/2, tanh(t/4) up to 2 pi: enough for |x|^2 = 4 */
    CHECK(make(ctx, "maclaurin", "tanh", 40, 1, DIM, unit.stream, &map) == KREIN_OK);
    CHECK(map->negative > 0 && map->negative < 40);
    krein__map_destroy(map);
    CHECK(make(ctx, "maclaurin", "tanh", 40, 1, DIM, longer.stream, &map) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "1.57");
    CHECK(make(ctx, "maclaurin", "tanh(gamma=0.25)", 40, 1, DIM, longer.stream, &map) == KREIN_OK);
    krein__map_destroy(map);
    source_close(ctx, &unit);
    source_close(ctx, &longer);
    free(one);
    free(two);
}

/* Facts, and a warning where a series falls slowly. */
static void cut_series(void) {
    test_log log;
    krein_ctx *on = test_ctx_full(1, NULL, &log);
    krein_map *map = NULL;
    krein_fact f;
    CHECK(make(on, "maclaurin", "gaussian(sigma=1)", 100, 1, 4, NULL, &map) == KREIN_OK);
    CHECK(log.warnings == 0);
    CHECK(map->cls->fact(map, 0, &f) && f.value > 6 && f.value < 16);
    CHECK(map->cls->fact(map, 1, &f) && f.value <= 1e-7);
    CHECK(!map->cls->fact(map, 2, &f));
    krein__map_destroy(map);
    CHECK(make(on, "tensorsketch", "arccos(order=0)", 300, 1, 4, NULL, &map) == KREIN_OK);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "cut at degree 127");
    krein__map_destroy(map);
    krein_ctx_destroy(on);
}

/* ---- unbiased ----------------------------------------------------------- */

/* Mean and variance of the estimates over seeds against the kernel, pairs of ROWS rows. */
enum { ROWS = 4, PAIRS = ROWS * (ROWS + 1) / 2 };
static void estimates(const char *spec, const char *kernel, int64_t D, int64_t d, const float *x,
                      int64_t R, double mean[PAIRS], double variance[PAIRS]) {
    krein_rows rows = krein__rows_dense(ROWS, d, x, d);
    double sum[PAIRS] = {0}, squares[PAIRS] = {0};
    for (int64_t seed = 0; seed < R; seed++) {
        krein_map *map = need(spec, kernel, D, (uint64_t)seed, d);
        float *z = features(map, &rows);
        for (int a = 0, p = 0; a < ROWS; a++)
            for (int b = 0; b <= a; b++, p++) {
                double value = inner(map, z + a * map->D, z + b * map->D);
                sum[p] += value;
                squares[p] += value * value;
            }
        free(z);
        krein__map_destroy(map);
    }
    for (int p = 0; p < PAIRS; p++) {
        double n = (double)R;
        mean[p] = sum[p] / n;
        variance[p] = (squares[p] - n * mean[p] * mean[p]) / (n - 1);
    }
}

static void unbiased(void) {
    static const char *const specs[] = {"tensorsketch", "maclaurin", "maclaurin(law=geometric)"};
    /* the last three on rows of length one, as gaussian is for these maps */
    static const char *const kernels[] = {"poly(degree=2, c=0.5)",
                                          "poly(degree=3, c=1)",
                                          "linear",
                                          "poly(degree=3, c=-0.5) + 0.5*linear",
                                          "linear*linear - 0.4*poly(degree=3)",
                                          "gaussian(sigma=0.9)",
                                          "gaussian(sigma=1) - 0.7*gaussian(sigma=2)",
                                          "tanh(gamma=0.8, c=0.2)",
                                          "0.5*epanechnikov(a=2, m=3)"};
    static const int64_t dims[] = {3, 16, 100, 100, 3}, sizes[] = {24, 150, 45, 5, 5};
    int bad = 0;
    const int cases = test_sanitized() ? 3 : 5;
    for (int k = 0; k < 9; k++)
        for (int q = 0; q < cases; q++) {
            /* few features: long tails, which want more draws before their mean is normal */
            int64_t d = dims[q], D = sizes[q], R = D == 5 ? 1000 : test_sanitized() ? 40 : 250;
            float *x = sphere(ROWS, d, k < 5 ? 1.3 : 1);
            krein_rows rows = krein__rows_dense(ROWS, d, x, d);
            double K[ROWS * ROWS], mean[PAIRS], variance[PAIRS];
            gram(kernels[k], &rows, K);
            for (int m = 0; m < 3; m++) {
                estimates(specs[m], kernels[k], D, d, x, R, mean, variance);
                for (int a = 0, p = 0; a < ROWS; a++)
                    for (int b = 0; b <= a; b++, p++) {
                        double error = sqrt(fmax(variance[p], 0) / (double)R);
                        double want = K[a * ROWS + b];
                        if (fabs(mean[p] - want) <= 5 * error + 4e-6 * fmax(1, fabs(want)))
                            continue;
                        if (bad++ < 10)
                            printf("%s %s D=%lld d=%lld: %g, want %g, %.1f errors\n", specs[m],
                                   kernels[k], (long long)D, (long long)d, mean[p], want,
                                   (mean[p] - want) / error);
                    }
            }
            free(x);
        }
    CHECK(bad == 0);
}

/* Variance of one pair, and its standard error, relative to what is wanted. */
static void variance_of(const char *spec, const char *kernel, int64_t D, int64_t d, const float *x,
                        int64_t R, double want_mean, double *second, double *fourth) {
    krein_rows rows = krein__rows_dense(2, d, x, d);
    *second = *fourth = 0;
    for (int64_t seed = 0; seed < R; seed++) {
        krein_map *map = need(spec, kernel, D, (uint64_t)seed, d);
        float *z = features(map, &rows);
        double off = inner(map, z, z + map->D) - want_mean;
        *second += off * off / (double)R;
        *fourth += off * off * off * off / (double)R;
        free(z);
        krein__map_destroy(map);
    }
}

/* Degree 1 and 2 without a constant: CountSketch and TensorSketch have known variances, and pieces
 * of D = 24 = 16 + 8 have that of one sketch of length 24.
 *   CountSketch of length N: (|x|^2 |y|^2 + <x,y>^2 - 2 sum x_j^2 y_j^2) / N = v / N
 *   degree p: E of the square of the estimate is that of a CountSketch of the tensor power; with
 *   independent h the collisions of two different index tuples have probability 1/N:
 *   p = 2: ((|x|^2 |y|^2)^2 + <x,y>^4 - 2 (sum x_j^2 y_j^2)^2 + cross terms) / N; the test takes
 *   p = 2 by its ratio between lengths only. */
static void pieces_have_the_variance(void) {
    enum { DIM = 40 };
    int64_t R = test_sanitized() ? 400 : 4000;
    float *x = sphere(2, DIM, 1);
    double xx = 0, yy = 0, xy = 0, four = 0, second, fourth, base, base4;
    for (int j = 0; j < DIM; j++) {
        double a = (double)x[j], b = (double)x[DIM + j];
        xx += a * a, yy += b * b, xy += a * b, four += a * a * b * b;
    }
    /* degree 1: D < d, so that it is a sketch */
    variance_of("tensorsketch", "linear", 24, DIM, x, R, xy, &second, &fourth);
    CHECK_Z(second, (xx * yy + xy * xy - 2 * four) / 24, fourth - second * second, R);
    variance_of("tensorsketch", "poly(degree=2, c=0)", 32, DIM, x, R, xy * xy, &base, &base4);
    variance_of("tensorsketch", "poly(degree=2, c=0)", 24, DIM, x, R, xy * xy, &second, &fourth);
    /* 24 / 32, up to terms of order 1/D^2 */
    double ratio = second * 24 / (base * 32);
    double error = sqrt((fourth / second / second - 1 + base4 / base / base - 1) / (double)R);
    CHECK(fabs(ratio - 1) <= 5 * error + 0.06);
    /* maclaurin, degree 2: (|x|^2|y|^2 + 2 <x,y>^2 - 2 sum x_j^2 y_j^2)^2 - <x,y>^4 per feature */
    variance_of("maclaurin", "poly(degree=2, c=0)", 24, DIM, x, R, xy * xy, &second, &fourth);
    double one = xx * yy + 2 * xy * xy - 2 * four;
    CHECK_Z(second, (one * one - xy * xy * xy * xy) / 24, fourth - second * second, R);
    free(x);
}

/* The checks of group 5: (1 + t)^3 and an exponential. Shares of D beat degrees drawn one by one.
 */
static void laws(void) {
    enum { DIM = 8 };
    static const char *const kernels[] = {"poly(degree=3, c=1)", "gaussian(sigma=1)"};
    int64_t R = test_sanitized() ? 100 : 600;
    float *x = sphere(2, DIM, 1);
    krein_rows rows = krein__rows_dense(2, DIM, x, DIM);
    for (int k = 0; k < 2; k++) {
        double K[4], split, geometric, sketch, fourth;
        gram(kernels[k], &rows, K);
        variance_of("maclaurin", kernels[k], 100, DIM, x, R, K[1], &split, &fourth);
        variance_of("maclaurin(law=geometric)", kernels[k], 100, DIM, x, R, K[1], &geometric,
                    &fourth);
        variance_of("tensorsketch", kernels[k], 100, DIM, x, R, K[1], &sketch, &fourth);
        CHECK(split < 0.5 * geometric);
        CHECK(sketch < geometric);
        if (getenv("KREIN_SHOW"))
            printf("%s: split %g, geometric %g, tensorsketch %g\n", kernels[k], split, geometric,
                   sketch);
    }
    free(x);
}

/* All features are given out, each degree on average its share. */
static void splits(void) {
    krein_dot k = {.degree = 5, .a = {1, 2, 0, -0.5, 0.01, 0.3}};
    for (int form = 0; form < 2; form++)
        for (int64_t D = 1; D < 70; D += D < 12 ? 1 : 19) {
            enum { STEPS = 1000 };
            double present[6] = {0};
            k.norm = form;
            for (int i = 0; i < STEPS; i++) {
                krein_split s;
                krein__dot_split(&k, 7, D, (i + 0.5) / STEPS, &s);
                int64_t total = 0;
                for (int n = 0; n <= 5; n++) {
                    CHECK(s.count[n] >= 0 && (s.count[n] == 0 || k.a[n] != 0));
                    total += s.count[n];
                    if (s.count[n] > 0) present[n] += s.mass[n] / STEPS;
                }
                CHECK(total == D && s.total == D);
                if (D >= 40) CHECK(s.constant && s.count[0] == 1);
                CHECK(!s.linear || s.count[1] == 7);
            }
            /* E mass 1[count > 0] = |a|: u takes STEPS values */
            for (int n = 0; n <= 5; n++)
                if (!(D < 10 && n == 4)) CHECK_ABS(present[n], fabs(k.a[n]), 0.02 * fabs(k.a[n]));
        }
    /* powers of d or of the length beyond the range of a double */
    krein_dot large = {.degree = 100, .a = {[1] = 1, [2] = 1, [100] = 1e-3}};
    for (int form = 0; form < 3; form++) {
        krein_split s;
        large.norm = form == 0 ? 0 : form == 1 ? 1e5 : 1e-5;
        krein__dot_split(&large, 100000, 5000, 0.3, &s);
        CHECK(s.total == 5000 && s.count[1] + s.count[2] + s.count[100] == 5000);
        CHECK(isfinite(s.mass[1]) && isfinite(s.mass[2]) && isfinite(s.mass[100]));
    }
}

/* ---- models, memory, sparse rows on kernels for rows of length one ------- */

/* Saved and loaded, with every allocation failing once. */
static void models(void) {
    enum { N = 20, DIM = 5 };
    static const char *const cases[][2] = {{"tensorsketch", "gaussian(sigma=1)"},
                                           {"maclaurin", "tanh + 0.5*gaussian(sigma=2)"},
                                           {"maclaurin(law=geometric)", "gaussian(sigma=1)"},
                                           {"explicit", "epanechnikov(a=2, m=2)"}};
    float *x = sphere(N, DIM, 1);
    krein_rows rows = krein__rows_dense(N, DIM, x, DIM);
    for (int c = 0; c < 4; c++) {
        test_memory m;
        krein_ctx *on = test_ctx_with(1, &m);
        TEST_EVERY_ALLOCATION(&m, j) {
            krein_map *map = NULL, *loaded = NULL;
            float a[N * 50], b[N * 50];
            krein_status st = make(on, cases[c][0], cases[c][1], 50, 3, DIM, NULL, &map);
            if (st == KREIN_OK) st = through_file(on, map, test_path("dot.krein"), &loaded);
            if (st == KREIN_OK) st = krein__map_apply(map, &rows, a);
            if (st == KREIN_OK) st = krein__map_apply(loaded, &rows, b);
            bool failed = test_has_failed(&m);
            if (failed != (st != KREIN_OK) || (failed && st != KREIN_EMEMORY))
                printf("%s, allocation %lld: status %d, %s\n", cases[c][0], (long long)j, (int)st,
                       krein_message(on));
            CHECK(failed ? st == KREIN_EMEMORY : st == KREIN_OK);
            if (st == KREIN_OK) {
                CHECK(map->D == loaded->D && map->D <= 50 && map->negative == loaded->negative);
                CHECK(memcmp(a, b, (size_t)(N * map->D) * sizeof *a) == 0);
            }
            krein__map_destroy(map);
            krein__map_destroy(loaded);
        }
        CHECK(atomic_load(&on->held) == 0);
        krein_ctx_destroy(on);
    }
    free(x);
}

/* Wide rows with few entries: the features of the dense rows. */
static void wide_sparse_rows(void) {
    enum { N = 37, WIDE = 3000, EACH = 9 };
    static const char *const specs[] = {"tensorsketch", "maclaurin"};
    float *x = test_new(N * WIDE, sizeof *x), val[N * EACH];
    int64_t ptr[N + 1] = {0};
    int32_t col[N * EACH];
    for (int i = 0; i < N; i++) {
        ptr[i + 1] = ptr[i] + EACH;
        for (int j = 0; j < EACH; j++) {
            int at = i * EACH + j;
            col[at] = j * 330 + (i * 37) % 330;
            val[at] = x[i * WIDE + col[at]] = (float)det(i, j, 0.1);
        }
    }
    krein_rows dense = krein__rows_dense(N, WIDE, x, WIDE);
    krein_rows sparse = {.n = N, .d = WIDE, .ptr = ptr, .col = col, .val = val};
    for (int i = 0; i < 2; i++) {
        krein_map *map = need(specs[i], "poly(degree=3, c=0.4) - 0.1*linear*linear", 300, 1, WIDE);
        float *a = features(map, &dense), *b = features(map, &sparse);
        double worst = 0, top = 0;
        for (int64_t j = 0; j < N * map->D; j++) {
            worst = fmax(worst, fabs((double)(a[j] - b[j])));
            top = fmax(top, fabs((double)a[j]));
        }
        CHECK(worst <= 2e-6 * top);
        free(a);
        free(b);
        krein__map_destroy(map);
    }
    free(x);
}

/* Numbers of a series that no fit has. */
static void damaged_models(void) {
    static const char *const maps[] = {"maclaurin", "tensorsketch", "explicit"};
    for (int which = 0; which < 9; which++) {
        krein_map *map = need(maps[which / 3], "poly(degree=2)", 40, 1, 5), *loaded = NULL;
        krein_dot *s = map->state; /* the first member of each state */
        if (which % 3 == 0)
            s->norm = -1;
        else
            s->rest = which % 3 == 1 ? -0.1 : 1.1;
        CHECK(through_file(ctx, map, test_path("damaged.krein"), &loaded) == KREIN_EMODEL);
        CHECK(!loaded && strstr(krein_message(ctx), "damaged"));
        krein__map_destroy(map);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(reference_sketch);
    RUN(square_features);
    RUN(explicit_is_exact);
    RUN(epanechnikov_is_polynomial);
    RUN(lengths_are_checked);
    RUN(cut_series);
    RUN(unbiased);
    RUN(pieces_have_the_variance);
    RUN(laws);
    RUN(splits);
    RUN(models);
    RUN(damaged_models);
    RUN(wide_sparse_rows);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
