/* test_maps.c -- the contract of map.h, for every map of the table.
 *
 * A new map is tested here the day it is listed: each of its yes/no and word options makes a
 * variant, with kernels that it takes. What is refused is in test_maps_edges.c, that the mean is
 * right in test_unbiased.c; what a map promises by itself is in a test of its own. */
#include "maps.h"

#include "map/waves.h"

#include "map/fourier.h"
#include "map/structured.h"

/* Shape, the D that is reported, signs, texts. */
static void shape(void) {
    source s;
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_rows x = krein__rows_dense(50, DIM, points, DIM);
    static const int64_t asked[] = {500, 31, 64, 8};
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        bool takes_d = krein__option_index(&c->cls, "D") >= 0;
        variants v = variants_of(&c->cls);
        int made = 0;
        for (int q = 0; q < v.n; q++) {
            /* those that look at the rows take longer */
            const bool few = c->traits & KREIN_MAP_DATA || test_sanitized();
            int most = few ? q ? 2 : 8 : KERNELS, list[KERNELS];
            int n = some_of(v.spec[q], most, (int)i + q, list);
            for (int e_ = 0; e_ < n; e_++) {
                int k = list[e_];
                int64_t D = asked[(k + q) % 4], promised = 0;
                krein_kernel *e = kernel_on(ctx, kernels[k]);
                krein_map *map = NULL;
                CHECK(krein__map_create(ctx, v.spec[q], e, D, 7, &map) == KREIN_OK);
                krein__kernel_destroy(ctx, e);
                if (!map) continue;
                map->d = DIM;
                promised = c->features(map, FIT);
                krein_status st = krein__map_fit(map, DIM, false, s.stream, FIT);
                CHECK(st == KREIN_OK || declined(ctx, st));
                made += st == KREIN_OK;
                if (st != KREIN_OK) {
                    krein__map_destroy(map);
                    continue;
                }
                if (takes_d) CHECK(promised <= D && promised >= 1);
                /* a map with mix may drop directions, and rows decide what is made of them; else it
                 * makes what it promised */
                bool fixed = !map->mix && !(c->traits & KREIN_MAP_DATA);
                CHECK(fixed ? map->D == promised : map->D <= promised);
                CHECK(map->mix || map->R == map->D);
                CHECK((map->mix != NULL) == ((krein__map_traits(map) & KREIN_MAP_MIX) != 0));
                CHECK(map->D >= 1 && map->R >= 1 && map->scratch >= 0);
                int64_t negative = 0;
                for (int64_t f = 0; map->sign && f < map->D; f++) {
                    CHECK(map->sign[f] == 1 || map->sign[f] == -1);
                    negative += map->sign[f] == -1;
                }
                CHECK(map->negative == negative);
                if (map->mix) CHECK(krein__map_fused(map, 1) >= krein__map_fused(map, 1e-9));
                if (map->mix) CHECK(map->fused_lambda > 0);
                bool minus = strstr(kernels[k], " - ") != NULL;
                /* an indefinite kernel may still be positive on the rows that a map has seen */
                if (krein__kernel_positive(map->kernel))
                    CHECK(!map->sign);
                else if (minus && !(c->traits & KREIN_MAP_DATA))
                    CHECK(map->negative > 0);
                /* every value of every feature is written and finite */
                double *r = need_raw(map, &x);
                int64_t wrong = 0;
                for (int64_t j = 0; j < x.n * map->R; j++) wrong += !isfinite(r[j]);
                CHECK(wrong == 0);
                free(r);
                if (!(c->traits & KREIN_MAP_DUAL)) {
                    float *z = test_new(x.n * map->D, sizeof *z);
                    for (int64_t j = 0; j < x.n * map->D; j++) z[j] = NAN;
                    CHECK(krein__map_apply(map, &x, z) == KREIN_OK);
                    for (int64_t j = 0; j < x.n * map->D; j++) wrong += !isfinite(z[j]);
                    CHECK(wrong == 0);
                    free(z);
                }
                char *text = krein__map_text(map);
                krein_map *again = NULL;
                if (text) again = need(ctx, text, kernels[k], 0, 7, DIM, &s);
                CHECK(again && again->D == map->D && again->R == map->R);
                krein__map_destroy(again);
                krein__free(ctx, text);
                krein__map_destroy(map);
            }
        }
        if (made == 0) printf("%s: no kernel of this test goes with it\n", c->cls.name);
        CHECK(made > 0);
    }
    source_close(&s);
    CHECK(atomic_load(&ctx->held) == 0);
}

/* The features r of x give the kernel itself, to rounding: there is nothing random in them. */
static bool is_exact(const krein_map *map, const krein_rows *x, const double *r) {
    enum { FEW = 6 };
    double K[FEW * FEW], off = 0, top = 0;
    krein_rows few = krein__rows_slice(x, 0, FEW);
    CHECK(krein__gram_full(ctx, map->kernel, &few, &few, K) == KREIN_OK);
    for (int i = 0; i < FEW * FEW; i++) {
        off = fmax(off, fabs(product(map, r + i / FEW * map->R, r + i % FEW * map->R) - K[i]));
        top = fmax(top, fabs(K[i]));
    }
    return off <= 1e-6 * top;
}

/* The same bits again, and on any number of threads, and however the rows are cut at tiles;
 * another seed gives other features. */
static void bits(void) {
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        for (int q = 0; q < v.n; q++) {
            int list[4], most = q ? 1 : test_sanitized() ? 2 : 4;
            int n = some_of(v.spec[q], most, (int)i + q, list);
            for (int e = 0; e < n; e++) {
                const char *kernel = kernels[list[e]];
                double *first = NULL;
                float *first_z = NULL;
                int64_t first_R = 0;
                krein_rows x = krein__rows_dense(N, DIM, points, DIM);
                for (int run = 0; run < 5; run++) {
                    krein_ctx *on = test_ctx(run < 3 ? run + 1 : 1); /* threads 1 2 3 1 1 */
                    uint64_t seed = run == 4 ? 6 : 5;
                    source s;
                    CHECK(source_dense(on, FIT, DIM, points, &s) == KREIN_OK);
                    krein_map *map = need(on, v.spec[q], kernel, 60, seed, DIM, &s);
                    if (!map) {
                        source_close(&s);
                        krein_ctx_destroy(on);
                        continue;
                    }
                    int64_t R = map->R, D = map->D;
                    bool dual = c->traits & KREIN_MAP_DUAL;
                    double *r = need_raw(map, &x);
                    float *z = test_new(N * D, sizeof *z);
                    if (!dual) CHECK(krein__map_apply(map, &x, z) == KREIN_OK);
                    size_t size = (size_t)(N * R) * sizeof *r;
                    if (run == 0) {
                        for (int64_t cut = KREIN_TILE; cut < N; cut += KREIN_TILE) {
                            double *parts = test_new(N * R, sizeof *parts);
                            float *zs = test_new(N * D, sizeof *zs);
                            krein_rows a = krein__rows_slice(&x, 0, cut);
                            krein_rows b = krein__rows_slice(&x, cut, N - cut);
                            CHECK(raw(map, &a, parts) == KREIN_OK);
                            CHECK(raw(map, &b, parts + cut * R) == KREIN_OK);
                            CHECK(memcmp(r, parts, size) == 0);
                            if (!dual) {
                                CHECK(krein__map_apply(map, &a, zs) == KREIN_OK);
                                CHECK(krein__map_apply(map, &b, zs + cut * D) == KREIN_OK);
                                CHECK(memcmp(z, zs, (size_t)(N * D) * sizeof *z) == 0);
                            }
                            free(parts);
                            free(zs);
                        }
                        /* A few rows alone are what they are in a full tile. */
                        for (int64_t m = 1; m < KREIN_TILE; m = 3 * m + 1) {
                            krein_rows few = krein__rows_slice(&x, 0, m);
                            double *part = need_raw(map, &few);
                            CHECK(memcmp(r, part, (size_t)(m * R) * sizeof *r) == 0);
                            free(part);
                        }
                        first = r;
                        first_R = R;
                        first_z = z;
                    } else {
                        bool same = R == first_R && memcmp(first, r, size) == 0;
                        if (run < 4 && !same)
                            printf("%s, %s: %d threads give other bits\n", v.spec[q], kernel,
                                   on->threads);
                        if (run < 4) CHECK(same);
                        if (run < 4) CHECK(memcmp(first_z, z, (size_t)(N * D) * sizeof *z) == 0);
                        if (run == 4 && !(c->traits & (KREIN_MAP_DUAL | KREIN_MAP_SEEDLESS)))
                            CHECK(!same || is_exact(map, &x, r));
                        free(r);
                        free(z);
                    }
                    krein__map_destroy(map);
                    source_close(&s);
                    CHECK(atomic_load(&on->held) == 0);
                    krein_ctx_destroy(on);
                }
                free(first);
                free(first_z);
            }
        }
    }
}

/* The offset of krein__map_raw is taken off each feature, in a short last tile too. */
static void offsets(void) {
    source s;
    CHECK(source_dense(ctx, N, DIM, points, &s) == KREIN_OK);
    krein_rows x = krein__rows_dense(N, DIM, points, DIM);
    for (int64_t i = 0; i < krein__map_count; i++) {
        if (class_of(i)->traits & KREIN_MAP_DUAL) continue;
        CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
        int k;
        if (some_of(krein__maps[i]->name, 1, 0, &k) == 0) continue;
        krein_map *map = need(ctx, krein__maps[i]->name, kernels[k], 60, 5, DIM, &s);
        if (!map) continue;
        int64_t R = map->R, wrong = 0;
        float *offset = test_new(R, sizeof *offset), *out = test_new(N * R, sizeof *out);
        float *scratch = test_new(krein__map_scratch(map), sizeof *scratch);
        for (int64_t j = 0; j < R; j++) offset[j] = (float)det(j, 1, 0.4);
        krein__map_raw(map, &x, offset, out, scratch);
        double *plain = need_raw(map, &x);
        for (int64_t j = 0; j < N * R; j++) wrong += out[j] != (float)plain[j] - offset[j % R];
        CHECK(wrong == 0);
        free(offset);
        free(out);
        free(scratch);
        free(plain);
        krein__map_destroy(map);
    }
    source_close(&s);
}

/* Raw features of rows x are what the map's waves add up to. Turns are off by 1e-7 of the largest
 * product of an input and a frequency, and there are few turns. */
static void check_waves(const krein_map *map, const krein_rows *x) {
    krein_waves w;
    double *plain = need_raw(map, x), *sum = test_new(map->R, sizeof *sum), most = 0;
    for (int64_t e = 0; e < x->n * map->R; e++) most = fmax(most, fabs(plain[e]));
    CHECK(krein__map_waves(ctx, map, &w) == KREIN_OK);
    for (int64_t r = 0; r < x->n; r++) {
        double square = 0;
        memset(sum, 0, (size_t)map->R * sizeof *sum);
        for (int64_t f = 0; f < w.F; f++) {
            double t = (double)w.phase[f], a = (double)w.factor[f];
            for (int64_t j = 0; j < x->d; j++)
                t += (double)w.turns[f * x->d + j] * (double)x->x[r * x->ld + j];
            if (w.cosine[f] >= 0) sum[w.cosine[f]] += a * cos(2 * M_PI * t);
            if (w.sine[f] >= 0) sum[w.sine[f]] += a * sin(2 * M_PI * t);
        }
        for (int64_t c = 0; c < map->R; c++) square += sum[c] * sum[c];
        double factor = w.unit > 0 ? sqrt(w.unit / square) : 1;
        for (int64_t c = 0; c < map->R; c++)
            CHECK_ABS(plain[r * map->R + c], factor * sum[c], 1e-4 * most);
    }
    krein__waves_clear(ctx, &w);
    free(sum);
    free(plain);
}

static void waves(void) {
    enum { ROWS = 7, WIDE = 100 }; /* structured maps multiply by fast transforms there */
    krein_rows x = krein__rows_dense(ROWS, DIM, points, DIM);
    krein_waves none;
    int with = 0;
    for (int64_t i = 0; i < krein__map_count; i++) {
        variants v = variants_of(krein__maps[i]);
        for (int n = 0; n < v.n; n++) {
            source s;
            int k;
            CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
            krein_map *map = some_of(v.spec[n], 1, 0, &k)
                                 ? need(ctx, v.spec[n], kernels[k], 60, 5, DIM, &s)
                                 : NULL;
            source_close(&s);
            if (!map) continue;
            if (krein__map_has_waves(map)) {
                check_waves(map, &x);
                with++;
            } else {
                CHECK(krein__map_waves(ctx, map, &none) == KREIN_ESPEC);
            }
            krein__map_destroy(map);
        }
    }
    CHECK(with >= 18);
    float *wide = test_new(2 * WIDE, sizeof *wide);
    for (int64_t e = 0; e < 2 * WIDE; e++) wide[e] = (float)det(e, 3, .2) / 20;
    x = krein__rows_dense(2, WIDE, wide, WIDE);
    for (int64_t i = 0; i < krein__map_count; i++) {
        if (!class_of(i)->structure) continue;
        krein_map *map = need(ctx, krein__maps[i]->name, "gaussian(sigma=1.3)", 400, 5, WIDE, NULL);
        if (map) check_waves(map, &x);
        krein__map_destroy(map);
    }
    free(wide);
}

/* Raw features after loading are the same to the bit; so are the texts. */
static void save_and_load(void) {
    const char *path = test_path("map.krein");
    char *sparse_text = test_new(1 << 20, 1);
    size_t used = 0;
    for (int i = 0; i < 200; i++) {
        used += (size_t)sprintf(sparse_text + used, "%d", i % 2);
        for (int j = 0; j < DIM; j++)
            if ((i * 7 + j * 5) % 3 == 0 || i == 3)
                used += (size_t)sprintf(sparse_text + used, " %d:%.9g", j + 1, det(i, j, 0.2));
        used += (size_t)sprintf(sparse_text + used, "\n");
    }
    const char *file = test_write("rows.libsvm", sparse_text);
    free(sparse_text);
    for (int shape_of = 0; shape_of < 2; shape_of++) {
        source s;
        krein_status st =
            shape_of ? source_libsvm(ctx, file, &s) : source_dense(ctx, FIT, DIM, points, &s);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK && s.d == DIM && s.sparse == (shape_of == 1));
        if (st != KREIN_OK) continue;
        krein_block block;
        CHECK(krein__stream_next(s.stream, &block) == KREIN_OK);
        krein_rows x = krein__rows_dense(N, DIM, points, DIM);
        krein_matrix copy = {0};
        if (shape_of) { /* the block is overwritten when a map reads the stream */
            int64_t all[200];
            for (int64_t j = 0; j < 200; j++) all[j] = j;
            CHECK(krein__matrix_gather(ctx, &block.x, all, 200, &copy) == KREIN_OK);
            x = krein__matrix_rows(&copy);
        }
        CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
        for (int64_t i = 0; i < krein__map_count; i++) {
            const krein_map_class *c = class_of(i);
            variants v = variants_of(&c->cls);
            for (int q = 0; q < v.n; q++) {
                int list[5], most = test_sanitized() ? (q ? 1 : 3) : q ? 2 : 5;
                int n = some_of(v.spec[q], most, (int)i + 2 * q + shape_of, list);
                for (int e = 0; e < n; e++) {
                    const char *kernel = kernels[list[e]];
                    if (s.sparse && !takes_sparse(kernel)) continue;
                    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
                    krein_map *map = need(ctx, v.spec[q], kernel, 60, 1234567890123, DIM, &s);
                    krein_map *loaded = NULL;
                    if (!map) continue;
                    st = through_file(ctx, map, path, &loaded);
                    if (st != KREIN_OK)
                        printf("%s, %s: %s\n", v.spec[q], kernel, krein_message(ctx));
                    CHECK(st == KREIN_OK && loaded);
                    if (loaded) {
                        CHECK(loaded->D == map->D && loaded->R == map->R && loaded->d == map->d);
                        CHECK(loaded->sparse == map->sparse && loaded->seed == map->seed);
                        CHECK(loaded->negative == map->negative);
                        double *a = need_raw(map, &x), *b = need_raw(loaded, &x);
                        if (memcmp(a, b, (size_t)(x.n * map->R) * sizeof *a) != 0) {
                            printf("%s, %s: other features after loading\n", v.spec[q], kernel);
                            test_bad++;
                        }
                        char *one = krein__map_text(map), *two = krein__map_text(loaded);
                        CHECK(one && two && strcmp(one, two) == 0);
                        krein__free(ctx, one);
                        krein__free(ctx, two);
                        one = krein__kernel_text(ctx, map->kernel);
                        two = krein__kernel_text(ctx, loaded->kernel);
                        CHECK(one && two && strcmp(one, two) == 0);
                        krein__free(ctx, one);
                        krein__free(ctx, two);
                        free(a);
                        free(b);
                    }
                    krein__map_destroy(map);
                    krein__map_destroy(loaded);
                }
            }
        }
        krein__matrix_clear(ctx, &copy);
        source_close(&s);
    }
    CHECK(atomic_load(&ctx->held) == 0);
}

/* What fit holds, and the scratch of raw features, stay below the estimate (and SLACK for headers
 * and small structs). The stream's own buffers exist before. */
static void cost_is_a_bound(void) {
    static const double SLACK = 16384;
    static const struct {
        int64_t n, d, D;
    } sizes[] = {{N, DIM, 40},   {300, DIM, 300}, {400, 3, 2000}, {300, 60, 700},
                 {800, 20, 250}, {200, 300, 150}, {100, 8, 2500}};
    static const char *const some[] = {
        "gaussian(sigma=1.3)",
        "laplacian(sigma=2)",
        "gaussian(sigma=1) - gaussian(sigma=3)",
        "linear*(gaussian(sigma=1) + 0.5*(linear + cauchy(sigma=2)*laplacian(sigma=2)))",
        "poly(degree=2) - 0.3*linear",
        "arccos(order=1)*arccos(order=0) - arccos(order=2)",
        "ntk(depth=3, bias=0.5)"};
    enum { SOME = sizeof some / sizeof *some };
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        int reported = 0;
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            if (test_sanitized() && ((int64_t)z + i) % 2) continue;
            int64_t n = sizes[z].n, d = sizes[z].d;
            float *x = test_dense(n, d, 0.1);
            bool plain = false; /* one kernel in every size, the others in one of so many */
            const int every = test_sanitized() ? 9 : 3;
            for (int k = 0; k < SOME; k++)
                for (int q = 0; q < v.n; q++) {
                    if (((int)z + k + q) % every && (q || plain)) continue;
                    if (!takes(v.spec[q], some[k])) continue;
                    plain = true;
                    int threads = ((int)z + k + q) % 2 ? 3 : 1;
                    krein_ctx *on = test_ctx(threads);
                    source s;
                    krein_block block;
                    krein_map *map = NULL;
                    CHECK(source_dense(on, n, d, x, &s) == KREIN_OK);
                    CHECK(krein__stream_next(s.stream, &block) == KREIN_OK);
                    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
                    krein_kernel *e = kernel_on(on, some[k]);
                    CHECK(krein__map_create(on, v.spec[q], e, sizes[z].D, 3, &map) == KREIN_OK);
                    krein_cost cost = {0};
                    map->d = d;
                    c->cost(map, n, &cost);
                    uint64_t before = atomic_load(&on->held);
                    atomic_store(&on->peak, before);
                    krein_status st = krein__map_fit(map, d, false, s.stream, n);
                    CHECK(st == KREIN_OK || declined(on, st));
                    double fit = (double)(atomic_load(&on->peak) - before);
                    int64_t size = c->traits & KREIN_MAP_DUAL ? 2 * on->threads * map->scratch
                                                              : krein__map_scratch(map);
                    float *scratch = krein__alloc(on, size, sizeof *scratch);
                    CHECK(scratch != NULL);
                    double peak = (double)(atomic_load(&on->peak) - before);
                    if (peak > cost.bytes + SLACK) {
                        if (reported++ < 6)
                            printf("%s n=%lld d=%lld D=%lld threads=%d %s: cost %.0f bytes, "
                                   "fit held %.0f, with scratch %.0f\n",
                                   v.spec[q], (long long)n, (long long)d, (long long)sizes[z].D,
                                   threads, some[k], cost.bytes, fit, peak);
                        test_bad++;
                    }
                    krein__free(on, scratch);
                    krein__kernel_destroy(on, e);
                    krein__map_destroy(map);
                    source_close(&s);
                    CHECK(atomic_load(&on->held) == 0);
                    krein_ctx_destroy(on);
                }
            free(x);
        }
        if (reported > 6) printf("%s: %d estimates in all are too low\n", c->cls.name, reported);
    }
}

/* Features of a larger D start with those of a smaller one, up to their common factor; with
 * several terms each term's do, or its frequencies where there are phases. */
static void nested(void) {
    krein_rows x = krein__rows_dense(20, DIM, points, DIM);
    int tried = 0;
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        if (!(c->traits & KREIN_MAP_NESTED)) continue;
        for (int k = 0; k < KERNELS; k++)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], kernels[k])) continue;
                krein_map *small = need(ctx, v.spec[q], kernels[k], 60, 5, DIM, NULL);
                krein_map *large = need(ctx, v.spec[q], kernels[k], 1500, 5, DIM, NULL);
                krein_term terms[KREIN_TERMS_MAX];
                int64_t n = 0;
                if (!small || !large) return;
                CHECK(krein__kernel_terms(ctx, small->kernel, terms, &n) == KREIN_OK);
                double *a = need_raw(small, &x), *b = need_raw(large, &x), worst = 0;
                int64_t da = small->D / n, db = large->D / n; /* features of a term */
                CHECK(da * n == small->D && db * n == large->D && da < db);
                /* phases are numbered through all terms: of several, only the frequencies */
                const krein_fourier *state = small->state;
                const bool phases = c->tile == krein__fourier_tile && state->phase && n > 1;
                for (int64_t row = 0; row < x.n && !phases; row++)
                    for (int64_t f = 0; f < da * n; f++) {
                        const int64_t at = f / da * db + f % da; /* of the same term */
                        worst = fmax(worst, fabs(a[row * small->R + f] * sqrt((double)da) -
                                                 b[row * large->R + at] * sqrt((double)db)));
                    }
                /* Cauchy frequencies are large: turns in float32 lose what they have left */
                bool heavy = strstr(kernels[k], "laplacian") || strstr(kernels[k], "nu=0.5") ||
                             strstr(kernels[k], "exponential") || strstr(kernels[k], "spline");
                if (!(worst < (heavy ? 2e-2 : 1e-4)))
                    printf("%s, %s: %g\n", v.spec[q], kernels[k], worst);
                CHECK(worst < (heavy ? 2e-2 : 1e-4));
                if (c->tile == krein__fourier_tile) { /* to the bit */
                    const krein_fourier *s = state, *l = large->state;
                    bool same = s->nterm == l->nterm;
                    for (int64_t t = 0; t < n && same; t++)
                        for (int64_t f = s->first[t]; f < s->first[t + 1]; f++)
                            for (int64_t j = 0; j < DIM; j++)
                                same = same && s->W[j * s->F + f] ==
                                                   l->W[j * l->F + l->first[t] + f - s->first[t]];
                    CHECK(same);
                }
                free(a);
                free(b);
                krein__map_destroy(small);
                krein__map_destroy(large);
                tried++;
            }
    }
    CHECK(tried > 0);
}

/* The same rows dense and as LIBSVM: the same features, to rounding. */
static void sparse_rows(void) {
    enum { ROWS = 230 };
    char *text = test_new(1 << 20, 1);
    float *x = test_new(ROWS * DIM, sizeof *x);
    size_t used = 0;
    for (int i = 0; i < ROWS; i++) {
        used += (size_t)sprintf(text + used, "%d", i % 2);
        for (int j = 0; j < DIM; j++) {
            if ((i * 7 + j * 5) % 3 && i != 3) continue; /* row 3 is full: all columns exist */
            x[i * DIM + j] = (float)det(i, j, 0.2);
            used += (size_t)sprintf(text + used, " %d:%.9g", j + 1, (double)x[i * DIM + j]);
        }
        used += (size_t)sprintf(text + used, "\n");
    }
    const char *file = test_write("same.libsvm", text);
    free(text);
    /* light-tailed frequencies: the order of a sum must not show */
    static const char *const some[] = {"gaussian(sigma=1.3)",
                                       "matern(nu=2.5, sigma=2)",
                                       "gaussian(sigma=1) - gaussian(sigma=3)",
                                       "laplacian(sigma=2)",
                                       "gaussian(sigma=2)*linear",
                                       "poly(degree=2, c=0.5) - 0.3*linear",
                                       "arccos(order=1) - arccos(order=0)*arccos(order=1)",
                                       "ntk(depth=2, bias=0.5)"};
    enum { SOME = sizeof some / sizeof *some };
    source a, b;
    CHECK(source_dense(ctx, ROWS, DIM, x, &a) == KREIN_OK);
    krein_status st = source_libsvm(ctx, file, &b);
    CHECK(st == KREIN_OK);
    if (st != KREIN_OK) return;
    CHECK(b.n == ROWS && b.d == DIM && b.sparse);
    krein_rows dense_rows = krein__rows_dense(ROWS, DIM, x, DIM);
    int64_t all[ROWS];
    for (int64_t i = 0; i < ROWS; i++) all[i] = i;
    krein_matrix m = {0};
    CHECK(krein__stream_gather(b.stream, all, ROWS, &m, NULL, NULL, NULL) == KREIN_OK);
    krein_rows csr = krein__matrix_rows(&m);
    CHECK(csr.ptr != NULL);
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        bool fourier = c->tile == krein__fourier_tile || c->tile == krein__structured_tile;
        for (int k = 0; k < SOME; k++)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], some[k]) || (k == 3 && fourier)) continue;
                /* the angle between a landmark and itself is the root of a rounding error */
                if (k >= 6 && c->traits & KREIN_MAP_DATA) continue;
                CHECK(krein__stream_rewind(a.stream) == KREIN_OK);
                CHECK(krein__stream_rewind(b.stream) == KREIN_OK);
                krein_map *one = need(ctx, v.spec[q], some[k], 40, 2, DIM, &a);
                krein_map *two = need(ctx, v.spec[q], some[k], 40, 2, DIM, &b);
                if (!one || !two) return;
                CHECK(one->R == two->R);
                double *ra = need_raw(one, &dense_rows), *rb = need_raw(two, &csr), worst = 0;
                for (int64_t j = 0; j < ROWS * one->R; j++)
                    worst = fmax(worst, fabs(ra[j] - rb[j]));
                bool dual = c->traits & KREIN_MAP_DUAL;
                if (!(worst <= (dual ? 1e-13 : 2e-5)))
                    printf("%s, %s: %g\n", v.spec[q], some[k], worst);
                CHECK(worst <= (dual ? 1e-13 : 2e-5));
                free(ra);
                free(rb);
                krein__map_destroy(one);
                krein__map_destroy(two);
            }
    }
    krein__matrix_clear(ctx, &m);
    source_close(&a);
    source_close(&b);
    free(x);
    CHECK(atomic_load(&ctx->held) == 0);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(shape);
    RUN(bits);
    RUN(offsets);
    RUN(waves);
    RUN(save_and_load);
    RUN(cost_is_a_bound);
    RUN(nested);
    RUN(sparse_rows);
    return maps_done();
}
