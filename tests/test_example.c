/* test_example.c -- the worked example of CONTRIBUTING.md does what it says. */
#include "example_map.c"
#include "test.h"

enum { INPUTS = 7, ROWS = 200 };

static krein_ctx *ctx;

/* What krein__map_create does, with a table that holds only the example. */
static krein_map *make(const char *spec, const char *kernel, uint64_t seed) {
    const krein_class *const table[] = {&krein__map_signs.cls};
    int64_t which;
    krein_map *map = krein__zalloc(ctx, 1, sizeof *map);
    if (!map) return NULL;
    map->ctx = ctx;
    map->cls = &krein__map_signs;
    map->seed = seed;
    if (krein__parse_spec(ctx, spec, "map", table, 1, &which, &map->values) == KREIN_OK &&
        krein__kernel_parse(ctx, kernel, &map->kernel) == KREIN_OK &&
        map->cls->accepts(ctx, map->kernel) == KREIN_OK) {
        map->D = (int64_t)map->values.number[0];
        return map;
    }
    krein__map_destroy(map);
    return NULL;
}

static krein_map *fitted(int64_t D, const char *kernel, bool sparse, uint64_t seed) {
    char spec[40];
    snprintf(spec, sizeof spec, "signs(D=%lld)", (long long)D);
    krein_map *map = make(spec, kernel, seed);
    if (map && krein__map_fit(map, INPUTS, sparse, NULL, 0) == KREIN_OK) return map;
    krein__map_destroy(map);
    return NULL;
}

static void fill(float *x, int64_t n) {
    krein_rng g = {7, KREIN_STREAM_GENERATE};
    for (int64_t i = 0; i < n; i++) x[i] = (float)krein__rng_normal(g, (uint64_t)i, 0);
}

static void is_unbiased(void) {
    enum { SEEDS = 2000, D = 16 };
    float x[2 * INPUTS], z[2 * D];
    double exact = 0, sum = 0, square = 0, xx = 0, yy = 0, fourth = 0;
    fill(x, 2 * INPUTS);
    for (int j = 0; j < INPUTS; j++) {
        double a = (double)x[j], b = (double)x[INPUTS + j];
        exact += 0.7 * a * b;
        xx += a * a;
        yy += b * b;
        fourth += a * a * b * b;
    }
    krein_rows rows = krein__rows_dense(2, INPUTS, x, INPUTS);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        krein_map *map = fitted(D, "0.7*linear", false, seed);
        CHECK(map != NULL);
        if (!map) return;
        CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
        double value = 0;
        for (int f = 0; f < D; f++) value += (double)z[f] * (double)z[D + f];
        sum += value;
        square += value * value;
        krein__map_destroy(map);
    }
    double mean = sum / SEEDS, variance = square / SEEDS - mean * mean;
    double theory = (0.49 * (xx * yy - 2 * fourth) + exact * exact) / D;
    CHECK_Z(mean, exact, variance, SEEDS);
    CHECK_REL(variance, theory, 0.2); /* six standard errors of a variance of so many draws */
}

static void rows_do_not_matter_to_each_other(void) {
    enum { D = 40 };
    static float x[ROWS * INPUTS], z[ROWS * D], one[D];
    fill(x, ROWS * INPUTS);
    krein_map *map = fitted(D, "linear", false, 3);
    CHECK(map != NULL);
    if (!map) return;
    krein_rows rows = krein__rows_dense(ROWS, INPUTS, x, INPUTS);
    CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
    for (int64_t i = 0; i < ROWS; i += 13) {
        krein_rows alone = krein__rows_slice(&rows, i, 1);
        CHECK(krein__map_apply(map, &alone, one) == KREIN_OK);
        CHECK(memcmp(one, z + i * D, sizeof one) == 0);
    }
    krein__map_destroy(map);
}

static void sparse_rows_agree(void) {
    enum { D = 24 };
    float dense[INPUTS] = {0, 1.5f, 0, 0, -0.25f, 3, 0}, a[D], b[D];
    const float val[] = {1.5f, -0.25f, 3};
    const int32_t col[] = {1, 4, 5};
    const int64_t ptr[] = {0, 3};
    krein_rows csr = {.n = 1, .d = INPUTS, .ptr = ptr, .col = col, .val = val};
    krein_rows full = krein__rows_dense(1, INPUTS, dense, INPUTS);
    krein_map *p = fitted(D, "linear", false, 5), *q = fitted(D, "linear", true, 5);
    CHECK(p && q);
    if (p && q) {
        CHECK(krein__map_apply(p, &full, a) == KREIN_OK);
        CHECK(krein__map_apply(q, &csr, b) == KREIN_OK);
        for (int f = 0; f < D; f++) CHECK_ABS((double)a[f], (double)b[f], 1e-6);
    }
    krein__map_destroy(p);
    krein__map_destroy(q);
}

static void larger_extends_smaller(void) {
    float x[INPUTS], a[16], b[64];
    fill(x, INPUTS);
    krein_rows row = krein__rows_dense(1, INPUTS, x, INPUTS);
    krein_map *p = fitted(16, "linear", false, 9), *q = fitted(64, "linear", false, 9);
    CHECK(p && q);
    if (p && q) {
        CHECK(krein__map_apply(p, &row, a) == KREIN_OK);
        CHECK(krein__map_apply(q, &row, b) == KREIN_OK);
        for (int f = 0; f < 16; f++) CHECK_ABS((double)a[f], 2 * (double)b[f], 1e-6);
    }
    krein__map_destroy(p);
    krein__map_destroy(q);
}

static void says_why_not(void) {
    CHECK(make("signs(D=8)", "gaussian(sigma=2)", 1) == NULL);
    CHECK(ctx->status == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "signs needs the linear kernel, got gaussian(sigma=2)");
    CHECK(make("signs(D=0)", "linear", 1) == NULL);
    CHECK(ctx->status == KREIN_ESPEC);
    CHECK(make("signs(F=8)", "linear", 1) == NULL);
    CHECK(ctx->status == KREIN_ESPEC);
}

int main(void) {
    if (krein_ctx_create(NULL, &ctx) != KREIN_OK) return 1;
    RUN(is_unbiased);
    RUN(rows_do_not_matter_to_each_other);
    RUN(sparse_rows_agree);
    RUN(larger_extends_smaller);
    RUN(says_why_not);
    krein_ctx_destroy(ctx);
    return DONE();
}
