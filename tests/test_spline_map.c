/* test_spline_map.c -- periodic splines (num/cosine_series.h) and the map of their shifts. */
#include "common.h"

#include "map/map.h"
#include "num/cosine_series.h"

static krein_ctx *ctx;

static krein_map *need(const char *kernel, int64_t D, uint64_t seed, int64_t d) {
    krein_kernel *k = NULL;
    krein_map *map = NULL;
    if (krein__kernel_parse(ctx, kernel, &k) != KREIN_OK ||
        krein__map_create(ctx, "spline", k, D, seed, &map) != KREIN_OK ||
        krein__map_fit(map, d, false, NULL, 0) != KREIN_OK) {
        printf("%s: %s\n", kernel, krein_message(ctx));
        exit(1);
    }
    krein__kernel_destroy(ctx, k);
    return map;
}

/* FORMULAS group 12, REF Lambda. */
static void reference_values(void) {
    static const double want[][2] = {{2.5133393415, -.3113414381},
                                     {2.6386373758, -.3638751198},
                                     {2.6262879945, -.3693525086},
                                     {2.6203232067, -.3693771312}};
    for (int i = 0; i < 4; i++) {
        krein_spline s = krein__spline_expand(2 * i + 2);
        CHECK_ABS(krein__spline_value(&s, .1), want[i][0], 1e-10);
        CHECK_ABS(krein__spline_value(&s, -.37), want[i][1], 1e-10);
        CHECK_ABS(krein__spline_value(&s, 3.63), want[i][1], 1e-10);
    }
    /* order 1 is a logarithm */
    krein_spline one = krein__spline_expand(1);
    for (double u = 0.01; u < 0.5; u += 0.07)
        CHECK_ABS(krein__spline_value(&one, u), 1 - 2 * log(2 * sin(M_PI * u)), 1e-13);
    /* derivatives lead from one order to another: L_q'' = -4 pi^2 (L_(q-2) - 1) */
    for (double q = 2.6; q < 9; q += 0.3) {
        krein_spline a = krein__spline_expand(q), b = krein__spline_expand(q - 2);
        double h = 1e-3, u = 0.23;
        double second = (krein__spline_value(&a, u + h) - 2 * krein__spline_value(&a, u) +
                         krein__spline_value(&a, u - h)) /
                        (h * h);
        CHECK_ABS(second, -4 * M_PI * M_PI * (krein__spline_value(&b, u) - 1), 0.02);
    }
}

/* Finite sums against the sum itself: few and many terms, near 0, where the tail's expansion
 * begins, and far from it; with and without a table; sizes around the blocks. */
static void finite_sums(void) {
    static const double orders[] = {0.05, 0.5, 0.8, 1, 1.00001, 1.2, 2, 3, 6.5, 9, 40};
    static const int64_t terms[] = {1, 2, 255, 256, 3001};
    enum { N = 1030, TERMS = 3001 };
    static double u[N], out[N], table[TERMS];
    float w[N], product[N];
    for (int i = 0; i < N; i++) {
        u[i] = sin(1.7 * i) * 2;
        w[i] = (float)((i + 0.5) / N);
    }
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
            double q = orders[k], T = (double)terms[t], worst = 0;
            const double places[] = {
                0,      0.5, 0.25, 1e-12, 1 / T, 63.99 / (2 * M_PI * T), 64.01 / (2 * M_PI * T),
                100 / T};
            krein_spline s = krein__spline_finite(q, terms[t]);
            for (int i = 0; i < TERMS; i++) table[i] = pow(i + 1, -q);
            if (k % 2) s.table = table;
            for (int i = 0; i < 8; i++) u[i] = places[i];
            krein__spline_finite_values(&s, N, u, out);
            for (int i = 0; i < N; i += i < 20 || i > 1020 ? 1 : 37) {
                double want = 1;
                for (int64_t j = terms[t]; j > 0; j--) {
                    double turns = (double)j * u[i], rest = fma((double)j, u[i], -turns);
                    want += 2 * cos(2 * M_PI * (turns - rint(turns) + rest)) * pow((double)j, -q);
                }
                worst = fmax(worst, fabs(out[i] - want));
                if (i % 3 == 0) CHECK_ABS(krein__spline_value(&s, u[i]), out[i], 1e-14 * T);
            }
            /* L(0) times some terms eps */
            double allowed = 2e-15 * (20 + sqrt(T)) * out[0];
            if (!(worst <= allowed)) printf("q=%g, %g terms: %g > %g\n", q, T, worst, allowed);
            CHECK(worst <= allowed);
            for (int i = 0; i < N; i++) product[i] = 3;
            krein__spline_multiply(&s, N, 0.125f, w, product);
            for (int i = 0; i < N; i += 11) {
                double want = krein__spline_value(&s, 0.125 - (double)w[i]);
                CHECK_ABS((double)product[i], 3 * want, 1e-6 * (1 + fabs(want)));
            }
        }
}

/* The float32 forms against double; out is multiplied; tails; far and equal places. */
static void multiply(void) {
    static const double order[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 0.75, 1.5, 2.5, 2.9};
    enum { N = 203 };
    float w[N], out[N];
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        krein_spline s = krein__spline_expand(order[k]);
        for (int64_t n = 1; n <= N; n += 101) {
            float x = (float)(0.37 + (double)n);
            double worst = 0;
            for (int i = 0; i < N; i++) w[i] = (float)(i + 0.5) / N, out[i] = 2;
            krein__spline_multiply(&s, n, x, w, out);
            for (int64_t i = 0; i < n; i++) {
                double u = s.order ? (double)(x - w[i]) : (double)x - (double)w[i];
                double want = krein__spline_value(&s, u);
                worst = fmax(worst, fabs((double)out[i] / 2 - want) / fmax(1, fabs(want)));
            }
            if (!(worst <= 4e-6)) printf("order %g: %g\n", order[k], worst);
            CHECK(worst <= 4e-6);
            for (int64_t i = n; i < N; i++) CHECK(out[i] == 2);
        }
        out[0] = 1;
        krein__spline_multiply(&s, 1, w[0], w, out); /* infinite up to order 1 */
        CHECK(isfinite(out[0]));
        if (order[k] >= 1.5)
            CHECK_REL((double)out[0], s.at_zero, order[k] > 2 ? 1e-5 : 2e-4);
        else
            CHECK(out[0] > 30);
    }
}

static krein_spline spline_of(double q, int64_t terms) {
    return terms ? krein__spline_finite(q, terms) : krein__spline_expand(q);
}

/* One map of many features: each is a draw. The variance by a sum over a period. */
static void unbiased(void) {
    static const char *const kernels[] = {
        "spline(q=4)", "spline(q=8)",   "spline(q=12)",          "spline(q=6)",
        "spline(q=5)", "spline(q=3.2)", "spline(q=1, terms=20)", "spline(q=1.6, terms=300)"};
    static const double orders[] = {4, 8, 12, 6, 5, 3.2, 1, 1.6};
    static const int64_t terms[] = {0, 0, 0, 0, 0, 0, 20, 300};
    int64_t D = test_sanitized() ? 4000 : 100000;
    for (int k = 0; k < 8; k++)
        for (int64_t d = 1; d <= (terms[k] ? 1 : 3); d++) {
            float x[6] = {0.21f, 0.83f, 0.4f, 0.35f, 0.7f, 0.52f};
            krein_rows rows = krein__rows_dense(2, d, x, d);
            krein_spline whole = spline_of(orders[k], terms[k]);
            krein_spline half = spline_of(orders[k] / 2, terms[k]);
            double want = 1, second = 1;
            for (int64_t j = 0; j < d; j++) {
                enum { STEPS = 20000 };
                double a = (double)x[j], b = (double)x[d + j], sum = 0;
                want *= krein__spline_value(&whole, a - b);
                for (int i = 0; i < STEPS; i++) {
                    double w = (i + 0.5) / STEPS;
                    double v =
                        krein__spline_value(&half, a - w) * krein__spline_value(&half, b - w);
                    sum += v * v / STEPS;
                }
                second *= sum;
            }
            krein_map *map = need(kernels[k], D, 5, d);
            float *z = test_new(2 * D, sizeof *z);
            CHECK(map->D == D && krein__map_apply(map, &rows, z) == KREIN_OK);
            double mean = 0, square = 0, fourth = 0, n = (double)D;
            for (int64_t f = 0; f < D; f++) {
                double draw = n * (double)z[f] * (double)z[D + f], off = draw - want;
                mean += draw / n;
                square += off * off / n;
                fourth += off * off * off * off / n;
            }
            CHECK_Z(mean, want, second - want * want, D);
            if (d == 1) CHECK_Z(square, second - want * want, fourth - square * square, D);
            free(z);
            krein__map_destroy(map);
        }
}

/* Factors, differences, products, and the logarithm of q = 2. */
static void expressions(void) {
    static const char *const kernels[] = {"0.3*spline(q=6)", "spline(q=4) - 0.5*spline(q=8)",
                                          "spline(q=6)*spline(q=8)", "spline(q=2)"};
    enum { D = 40 };
    int64_t R = test_sanitized() ? 100 : 1500;
    for (int k = 0; k < 4; k++) {
        float x[2] = {0.21f, 0.35f};
        krein_rows rows = krein__rows_dense(2, 1, x, 1);
        krein_kernel *e = NULL;
        double K[4], sum = 0, squares = 0, n = (double)R;
        CHECK(krein__kernel_parse(ctx, kernels[k], &e) == KREIN_OK);
        CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
        krein__kernel_destroy(ctx, e);
        for (int64_t seed = 0; seed < R; seed++) {
            float z[2 * D];
            krein_map *map = need(kernels[k], D, (uint64_t)seed, 1);
            CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
            double value = 0;
            for (int f = 0; f < D; f++)
                value += (map->sign ? map->sign[f] : 1) * (double)z[f] * (double)z[D + f];
            CHECK(map->negative == (k == 1 ? D / 2 : 0));
            sum += value / n;
            squares += value * value / n;
            krein__map_destroy(map);
        }
        CHECK_Z(sum, K[1], squares - sum * sum, R);
    }
    krein_kernel *e = NULL;
    krein_map *map = NULL;
    CHECK(krein__kernel_parse(ctx, "spline(q=4) + gaussian(sigma=1)", &e) == KREIN_OK);
    CHECK(krein__map_create(ctx, "spline", e, D, 1, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "spline needs the spline kernel");
    krein__kernel_destroy(ctx, e);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(reference_values);
    RUN(finite_sums);
    RUN(multiply);
    RUN(unbiased);
    RUN(expressions);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
