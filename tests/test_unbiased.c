/* test_unbiased.c -- E sum_i s_i z_i(x) z_i(y) = k(x, y) over the seed, for every map that says so
 * (KREIN_MAP_UNBIASED), on rows of 3, 16 and 100 columns.
 *
 * The mean over the seeds is compared with the standard error of the draws themselves. */
#include "maps.h"

enum { POINTS = 4, PAIRS = POINTS * (POINTS + 1) / 2 };

typedef struct draws {
    int64_t n;
    double sum[PAIRS], squares[PAIRS];
} draws;

static void add(draws *w, const krein_map *map, const krein_rows *x) {
    double *r = need_raw(map, x);
    for (int a = 0, p = 0; a < POINTS; a++)
        for (int b = 0; b <= a; b++, p++) {
            double value = product(map, r + a * map->R, r + b * map->R);
            w->sum[p] += value;
            w->squares[p] += value * value;
        }
    w->n++;
    free(r);
}

static void compare(const draws *w, const double *K, const char *spec, const char *kernel,
                  int64_t d) {
    for (int a = 0, p = 0; a < POINTS; a++)
        for (int b = 0; b <= a; b++, p++) {
            double n = (double)w->n, mean = w->sum[p] / n, want = K[a * POINTS + b];
            double variance = fmax(w->squares[p] - n * mean * mean, 0) / (n - 1);
            /* float32 features, where the map has no variance (x = y) */
            double rounding = 4e-6 * fmax(1, fabs(want)), error = sqrt(variance / n);
            if (fabs(mean - want) <= 5 * error + rounding) continue;
            printf("%s, %s, d=%lld, pair %d %d: mean %.7g, want %.7g, %.1f errors\n", spec, kernel,
                   (long long)d, a, b, mean, want, (mean - want) / error);
            test_bad++;
        }
}

/* At most `most` kernels for a map, a third of that for each variant of it. */
static void unbiased(int64_t d, int64_t D, int64_t seeds, int most) {
    float *x = test_new(POINTS * d, sizeof *x);
    for (int64_t i = 0; i < POINTS; i++)
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = (float)(det(i, j, 0.3) * (1 + 0.4 * (double)i) * sqrt(3 / (double)d));
    krein_rows rows = krein__rows_dense(POINTS, d, x, d);
    source s;
    CHECK(source_dense(ctx, POINTS, d, x, &s) == KREIN_OK);
    if (test_sanitized()) seeds /= 5;
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        if (!(c->traits & KREIN_MAP_UNBIASED)) continue;
        bool random = krein__option_index(&c->cls, "D") >= 0; /* else the features are exact */
        int tried = 0;
        for (int q = 0; q < v.n; q++) {
            int list[KERNELS], n = some_of(v.spec[q], q ? most / 3 : most, (int)i + q, list);
            for (int e = 0; e < n; e++) {
                const char *kernel = kernels[list[e]];
                draws w = {0};
                double K[POINTS * POINTS];
                krein_status st = KREIN_OK;
                for (int64_t seed = 0; seed < (random ? seeds : 2) && st == KREIN_OK; seed++) {
                    krein_map *map = NULL;
                    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
                    st = make(ctx, v.spec[q], kernel, D, (uint64_t)seed, d, &s, &map);
                    if (map && seed == 0)
                        CHECK(krein__gram_full(ctx, map->kernel, &rows, &rows, K) == KREIN_OK);
                    if (map) add(&w, map, &rows);
                    krein__map_destroy(map);
                }
                if (st != KREIN_OK && !declined(ctx, st))
                    printf("%s, %s: %s\n", v.spec[q], kernel, krein_message(ctx));
                CHECK(st == KREIN_OK || declined(ctx, st));
                if (st != KREIN_OK) continue;
                compare(&w, K, v.spec[q], kernel, d);
                tried++;
            }
        }
        CHECK(tried > 0);
    }
    source_close(&s);
    free(x);
}

static void three_columns(void) { unbiased(3, 24, 300, KERNELS); }
static void sixteen_columns(void) { unbiased(16, 60, 200, 6); }
static void hundred_columns(void) { unbiased(100, 120, 50, 3); }

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(three_columns);
    RUN(sixteen_columns);
    RUN(hundred_columns);
    return maps_done();
}
