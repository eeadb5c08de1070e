/* test_binning.c -- random binning and hybrid: bins against reference values, mean and variance of
 * kernel values over the seed, the bound on D, sparse features. */
#include "common.h"

#include "map/bins.h"
#include "map/map.h"

static krein_ctx *ctx;

typedef struct source {
    krein_data *data;
    krein_encoding e;
    krein_stream *stream;
} source;

/* The stream points into *s. */
static void open_source(int64_t n, int64_t d, const float *x, source *s) {
    memset(s, 0, sizeof *s);
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(ctx, n, d, x, d, NULL, NULL, &o, &s->data) == KREIN_OK);
    CHECK(krein__data_scan(s->data, false, 0, 1, &s->e) == KREIN_OK);
    CHECK(krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream) == KREIN_OK);
}
static void close_source(source *s) {
    krein__stream_close(s->stream);
    krein__encoding_clear(ctx, &s->e);
    krein_data_close(s->data);
}

static krein_status make(const char *spec, const char *kernel, int64_t D, uint64_t seed, int64_t n,
                         int64_t d, source *s, krein_map **out) {
    krein_kernel *k = NULL;
    *out = NULL;
    krein_status st = krein__kernel_parse(ctx, kernel, &k);
    if (st == KREIN_OK) st = krein__map_create(ctx, spec, k, D, seed, out);
    if (st == KREIN_OK) st = krein__map_fit(*out, d, false, s->stream, n);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(ctx, k);
    return st;
}

/* FORMULAS group 2: X = 2 det(4, 2), delta = (0.7, 1.3), u = (0.2, 0.9). The expression is that of
 * binning.c, in its precision. */
static void reference_bins(void) {
    static const int32_t want[4][2] = {{-1, 0}, {2, -1}, {-2, -3}, {-3, 0}};
    static const double delta[2] = {.7, 1.3}, u[2] = {.2, .9};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            float x = (float)(2 * det(i, j, 0)), inverse = (float)(1 / delta[j]);
            float t = x * inverse - (float)(u[j] / delta[j]);
            CHECK((int32_t)t - (t < (float)(int32_t)t) == want[i][j]);
            CHECK((int32_t)floor((2 * det(i, j, 0) - u[j]) / delta[j]) == want[i][j]);
        }
}

/* Codes in order of first appearance; nothing is lost when the table grows. */
static void dictionary(void) {
    krein_bins b = {0};
    for (int32_t i = 0; i < 3000; i++) {
        int32_t tuple[3] = {i % 1000, 0, i % 1000 / 10};
        CHECK(krein__bins_reserve(ctx, &b, 1) == KREIN_OK);
        krein__bins_add(&b, krein__bins_key(tuple, 3));
    }
    CHECK(b.n == 1000);
    for (int32_t i = 0; i < 1000; i++) {
        int32_t tuple[3] = {i, 0, i / 10}, other[3] = {i, 1, i / 10};
        CHECK(krein__bins_find(&b, krein__bins_key(tuple, 3)) == i);
        CHECK(krein__bins_find(&b, krein__bins_key(other, 3)) == -1);
    }
    krein__bins_clear(ctx, &b);
}

/* Mean k and variance k (1 - k) / P over the seed, for rows that were trained on. */
static void mean_and_variance(void) {
    static const struct {
        int64_t d;
        const char *kernel, *map;
    } all[] = {{3, "laplacian(sigma=1.7)", "binning"},
               {16, "0.7*laplacian(sigma=9)", "binning"},
               {100, "laplacian(sigma=60)", "binning"},
               {3, "laplacian(sigma=4)*laplacian(sigma=5)", "binning"},
               {3, "-0.5*laplacian(sigma=1.7)", "binning"},
               {3, "laplacian(sigma=1.7)", "hybrid"},
               {16, "laplacian(sigma=9)", "hybrid(share=0.3)"},
               {100, "0.8*laplacian(sigma=60)", "hybrid"}};
    enum { N = 6 };
    int64_t R = test_sanitized() ? 100 : 400;
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        int64_t d = all[c].d;
        float *x = test_dense(N, d, 0.2);
        source s;
        open_source(N, d, x, &s);
        krein_rows rows = krein__rows_dense(N, d, x, d);
        krein_kernel *k = NULL;
        double K[N * N], mean[N] = {0}, second[N] = {0}, share = 0;
        CHECK(krein__kernel_parse(ctx, all[c].kernel, &k) == KREIN_OK);
        CHECK(krein__gram_full(ctx, k, &rows, &rows, K) == KREIN_OK);
        krein__kernel_destroy(ctx, k);
        bool plain = strcmp(all[c].map, "binning") == 0;
        for (int64_t seed = 0; seed < R; seed++) {
            krein_map *map = NULL;
            CHECK(make(all[c].map, all[c].kernel, 200, (uint64_t)seed, N, d, &s, &map) == KREIN_OK);
            if (!map) {
                printf("%s: %s\n", all[c].kernel, krein_message(ctx));
                break;
            }
            float *z = test_new(N * map->D, sizeof *z);
            CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
            double P = plain ? (double)map->cls->nonzeros(map) : 1;
            share += 1 / P / (double)R;
            for (int i = 0; i < N; i++) {
                double v = 0;
                for (int64_t j = 0; j < map->D; j++)
                    v += (map->sign ? map->sign[j] : 1) * (double)z[j] * (double)z[i * map->D + j];
                mean[i] += v / (double)R;
                second[i] += (v - K[i]) * (v - K[i]) / (double)R;
            }
            free(z);
            krein__map_destroy(map);
        }
        for (int i = 0; i < N; i++) {
            CHECK_Z(mean[i], K[i], second[i] + (i == 0 ? (double)R * 1e-12 : 0), R); /* float32 */
            double top = fabs(K[0]), variance = fabs(K[i]) * (top - fabs(K[i])) * share;
            /* relative error of a variance from R draws: sqrt(2 / R) and what kurtosis adds */
            if (plain && i > 0) CHECK_REL(second[i], variance, 8 / sqrt((double)R));
        }
        close_source(&s);
        free(x);
    }
}

/* D is a bound and is used; one grid that does not fit is refused with the way out. */
static void bound(void) {
    enum { N = 500 };
    float *x = test_dense(N, 4, 0.4);
    source s;
    open_source(N, 4, x, &s);
    static const int64_t asked[] = {150, 400, 1000, 5000};
    for (int i = 0; i < 4; i++) {
        krein_map *map = NULL;
        CHECK(make("binning", "laplacian(sigma=3)", asked[i], 5, N, 4, &s, &map) == KREIN_OK);
        if (!map) continue;
        CHECK(map->D <= asked[i] && map->R == map->D);
        if (asked[i] > 900 && !((double)map->D > .6 * (double)asked[i]))
            printf("%lld of %lld\n", (long long)map->D, (long long)asked[i]);
        if (asked[i] > 900) CHECK((double)map->D > .6 * (double)asked[i]);
        krein__map_destroy(map);
    }
    krein_map *map = NULL;
    CHECK(make("binning", "laplacian(sigma=0.01)", 100, 5, N, 4, &s, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "raise D or sigma");
    close_source(&s);
    free(x);
}

/* Sparse features are the dense ones; a row far from all others has none. */
static void sparse_features(void) {
    enum { N = 300, D3 = 3 };
    float *x = test_dense(N, D3, 0.4), far[D3] = {1e6F, -1e6F, 3e38F};
    source s;
    open_source(N, D3, x, &s);
    krein_map *map = NULL;
    CHECK(make("binning", "laplacian(sigma=3)", 900, 5, N, D3, &s, &map) == KREIN_OK);
    if (!map) return;
    int64_t P = map->cls->nonzeros(map), wrong = 0;
    float *z = test_new(N * map->D, sizeof *z), *scratch = test_new(map->scratch, sizeof *scratch);
    int32_t *col = test_new(KREIN_TILE * P, sizeof *col);
    float *val = test_new(KREIN_TILE * P, sizeof *val);
    krein_rows rows = krein__rows_dense(N, D3, x, D3), tile = krein__rows_slice(&rows, 0, 100);
    CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
    map->cls->tile_sparse(map, &tile, col, val, scratch);
    for (int64_t i = 0; i < 100; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < map->D; j++) count += z[i * map->D + j] != 0;
        wrong += count != P;
        for (int64_t p = 0; p < P; p++) {
            wrong += p > 0 && col[i * P + p] <= col[i * P + p - 1];
            wrong += z[i * map->D + col[i * P + p]] != val[i * P + p];
        }
    }
    CHECK(wrong == 0);
    krein_rows away = krein__rows_dense(1, D3, far, D3);
    CHECK(krein__map_apply(map, &away, z) == KREIN_OK);
    for (int64_t j = 0; j < map->D; j++) wrong += z[j] != 0;
    CHECK(wrong == 0);
    free(z);
    free(scratch);
    free(col);
    free(val);
    krein__map_destroy(map);
    close_source(&s);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(reference_bins);
    RUN(dictionary);
    RUN(mean_and_variance);
    RUN(bound);
    RUN(sparse_features);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
