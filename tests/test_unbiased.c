/* test_unbiased.c */
#include "maps.h"

/* E sum_i s_i z_i(x) z_i(y) = k(x, y) over the seed, for UNBIASED maps. */
static void unbiased(void) {
    enum { POINTS = 5, D3 = 3, PAIRS = POINTS * (POINTS + 1) / 2 };
    int64_t R = test_sanitized() ? 150 : 800;
    float x[POINTS * D3];
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < D3; j++) x[i * D3 + j] = (float)(det(i, j, 0.3) * (1 + 0.4 * i));
    krein_rows rows = krein__rows_dense(POINTS, D3, x, D3);
    source s;
    CHECK(source_dense(ctx, POINTS, D3, x, &s) == KREIN_OK);
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        if (!(c->traits & KREIN_MAP_UNBIASED)) continue;
        for (int k = 0; k < KERNELS; k++)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], kernels[k])) continue;
                double sum[PAIRS] = {0}, squares[PAIRS] = {0}, K[POINTS * POINTS];
                krein_kernel *e = kernel_on(ctx, kernels[k]);
                CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
                krein__kernel_destroy(ctx, e);
                for (int64_t seed = 0; seed < R; seed++) {
                    krein_map *map = need(ctx, v.spec[q], kernels[k], 24, (uint64_t)seed, D3, &s);
                    if (!map) return;
                    double *r = need_raw(map, &rows);
                    for (int a = 0, p = 0; a < POINTS; a++)
                        for (int b = 0; b <= a; b++, p++) {
                            double value = product(map, r + a * map->R, r + b * map->R);
                            sum[p] += value;
                            squares[p] += value * value;
                        }
                    free(r);
                    krein__map_destroy(map);
                }
                for (int a = 0, p = 0; a < POINTS; a++)
                    for (int b = 0; b <= a; b++, p++) {
                        double n = (double)R, mean = sum[p] / n, want = K[a * POINTS + b];
                        double variance = (squares[p] - n * mean * mean) / (n - 1);
                        double error = sqrt(fmax(variance, 0) / n);
                        /* 4e-6: float32 features, where the map has no variance (x = y) */
                        if (!(fabs(mean - want) <= 5 * error + 4e-6 * fmax(1, fabs(want)))) {
                            printf("%s, %s, pair %d %d: mean %.7g, want %.7g, %.1f errors\n",
                                   v.spec[q], kernels[k], a, b, mean, want, (mean - want) / error);
                            test_bad++;
                        }
                    }
            }
    }
    source_close(&s);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(unbiased);
    return maps_done();
}
