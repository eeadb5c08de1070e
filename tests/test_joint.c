/* test_joint.c -- one map for many kernels: features against the weighted sum of the kernels, exact
 * and by standard errors; shares of D; specs, nested parts, landmarks, signs; model files; threads;
 * failing allocations; what is refused. */
#include "maps.h"

#include "map/joint.h"

enum { MANY = 8 };

typedef struct list {
    int64_t n;
    krein_kernel *kernel[KREIN_PARTS_MAX];
    double c[KREIN_PARTS_MAX], share[KREIN_PARTS_MAX];
    const char *spec[KREIN_PARTS_MAX];
} list;

/* "k1", "k2", ... up to NULL, with the factors 1, 0.5, 2, 1, ... */
static list *list_of(krein_ctx *on, const char *const *kernel) {
    list *l = test_new(1, sizeof *l);
    for (; kernel[l->n]; l->n++) {
        l->kernel[l->n] = kernel_on(on, kernel[l->n]);
        l->c[l->n] = l->n % 3 == 0 ? 1 : l->n % 3 == 1 ? 0.5 : 2;
        l->share[l->n] = 1;
    }
    return l;
}
static void list_free(krein_ctx *on, list *l) {
    for (int64_t i = 0; i < l->n; i++) krein__kernel_destroy(on, l->kernel[i]);
    free(l);
}
static krein_status create(krein_ctx *on, const list *l, int64_t D, int64_t d, uint64_t seed,
                           krein_map **out) {
    krein_joint j = {l->n, l->kernel, l->c, l->spec, l->share};
    return krein__joint_create(on, &j, D, d, false, seed, out);
}
/* Fitted; NULL is counted. */
static krein_map *joint(krein_ctx *on, const list *l, int64_t D, int64_t d, uint64_t seed,
                        source *s) {
    krein_map *map = NULL;
    krein_status st = create(on, l, D, d, seed, &map);
    if (st == KREIN_OK) st = krein__map_fit(map, d, false, s ? s->stream : NULL, s ? s->n : 0);
    if (st != KREIN_OK) {
        printf("%s\n", krein_message(on));
        test_bad++;
        krein__map_destroy(map);
        map = NULL;
    }
    return map;
}
static const krein_map *part_of(const krein_map *map, int64_t m) {
    return ((const krein_parts *)map->state)->part[m].map;
}

/* sum_m c_m k_m of rows, the obvious way. */
static double *weighted(krein_ctx *on, const list *l, const krein_rows *x) {
    int64_t n = x->n;
    double *K = test_new(n * n, sizeof *K), *one = test_new(n * n, sizeof *one);
    for (int64_t m = 0; m < l->n; m++) {
        krein_kernel *k = NULL;
        CHECK(krein__kernel_copy(on, l->kernel[m], &k) == KREIN_OK);
        CHECK(krein__kernel_settle(on, k, x->d, NULL) == KREIN_OK);
        CHECK(krein__gram_full(on, k, x, x, one) == KREIN_OK);
        for (int64_t i = 0; i < n * n; i++) K[i] += l->c[m] * one[i];
        krein__kernel_destroy(on, k);
    }
    free(one);
    return K;
}
/* sum s z z of the features from .. to - 1. */
static double *gram_of(const krein_map *map, const krein_rows *x, int64_t from, int64_t to) {
    int64_t n = x->n, D = map->D;
    float *z = test_new(n * D, sizeof *z);
    double *K = test_new(n * n, sizeof *K);
    CHECK(krein__map_apply(map, x, z) == KREIN_OK);
    for (int64_t i = 0; i < n * n; i++)
        for (int64_t f = from; f < to; f++)
            K[i] += (map->sign ? map->sign[f] : 1) * (double)z[i / n * D + f] *
                    (double)z[i % n * D + f];
    free(z);
    return K;
}

/* ---- values -------------------------------------------------------------- */

/* Exact maps give the weighted sum itself, the map's own kernel says the same, and kernel m has its
 * own features. */
static void exact_features(void) {
    static const char *const text[] = {"linear", "poly(degree=2, c=0.5)",
                                       "linear + poly(degree=3, gamma=0.2)", "0.3*linear", NULL};
    enum { ROWS = 40 };
    krein_rows x = krein__rows_dense(ROWS, DIM, points, DIM);
    list *l = list_of(ctx, text);
    krein_map *map = joint(ctx, l, 400, DIM, 3, NULL);
    if (!map) return;
    int64_t first[MANY];
    double own[ROWS * ROWS], *want = weighted(ctx, l, &x), *got = gram_of(map, &x, 0, map->D);
    krein__joint_first(map, first);
    CHECK(first[0] == 0 && first[1] == 5 && first[2] == 26 && first[3] == 82 && first[4] == 87);
    CHECK(map->D == 87 && map->R == 87 && !map->mix && !map->sign && krein__map_traits(map) == 0);
    CHECK(krein__gram_full(ctx, map->kernel, &x, &x, own) == KREIN_OK);
    for (int i = 0; i < ROWS * ROWS; i++) {
        CHECK_REL(got[i], want[i], 1e-5 * (1 + fabs(want[0] / want[i])));
        CHECK_REL(own[i], want[i], 1e-12 * (1 + fabs(want[0] / want[i])));
    }
    free(got);
    got = gram_of(map, &x, first[3], first[4]);
    CHECK(krein__gram_full(ctx, l->kernel[3], &x, &x, own) == KREIN_OK);
    for (int i = 0; i < ROWS * ROWS; i++) CHECK(fabs(got[i] - own[i]) <= 1e-5 * fabs(want[0]));
    char *kernel = krein__kernel_text(ctx, map->kernel);
    CHECK_HAS(kernel ? kernel : "",
              "linear + 0.5*poly(degree=2, c=0.5, gamma=1) + 2*(linear + poly");
    CHECK_HAS(kernel ? kernel : "", ") + 0.3*linear");
    krein__free(ctx, kernel);
    free(want);
    free(got);
    krein__map_destroy(map);
    list_free(ctx, l);
}

/* E sum s z z over the seed, of all kernels and of each. */
static void unbiased(void) {
    static const char *const text[] = {"gaussian(sigma=3)",
                                       "laplacian(sigma=20)",
                                       "0.2*linear",
                                       "gaussian(sigma=5) - 0.3*cauchy(sigma=9)",
                                       "0.1*arccos + 0.5*gaussian(sigma=4)",
                                       NULL};
    enum { FEW = 4, D5 = 5 };
    int64_t R = test_sanitized() ? 60 : 300, first[MANY];
    krein_rows x = krein__rows_dense(FEW, D5, points, D5);
    list *l = list_of(ctx, text);
    double sum[6][FEW] = {{0}}, square[6][FEW] = {{0}}, n = (double)R, *want = weighted(ctx, l, &x);
    for (int64_t seed = 0; seed < R; seed++) {
        krein_map *map = joint(ctx, l, 80, D5, (uint64_t)seed, NULL);
        if (!map) return;
        krein__joint_first(map, first);
        for (int64_t m = 0; m < 6; m++) { /* 5: all */
            double *K = gram_of(map, &x, m < 5 ? first[m] : 0, m < 5 ? first[m + 1] : map->D);
            for (int i = 0; i < FEW; i++) {
                sum[m][i] += K[i];
                square[m][i] += K[i] * K[i];
            }
            free(K);
        }
        krein__map_destroy(map);
    }
    for (int64_t m = 0; m < 6; m++) {
        double own[FEW * FEW];
        if (m < 5) CHECK(krein__gram_full(ctx, l->kernel[m], &x, &x, own) == KREIN_OK);
        for (int i = 0; i < FEW; i++) {
            double mean = sum[m][i] / n, k = m < 5 ? l->c[m] * own[i] : want[i];
            double variance = fmax(0, square[m][i] / n - mean * mean);
            CHECK_Z(mean, k, variance + n * 1e-12 * fmax(1, k * k), R);
        }
    }
    free(want);
    list_free(ctx, l);
}

/* ---- shares of D --------------------------------------------------------- */

static void shares(void) {
    static const char *const equal[] = {"gaussian(sigma=1)", "gaussian(sigma=2)",
                                        "laplacian(sigma=2)", "linear", NULL};
    list *l = list_of(ctx, equal);
    krein_map *map = joint(ctx, l, 101, 5, 3, NULL);
    if (!map) return;
    CHECK(part_of(map, 0)->D == 32 && part_of(map, 1)->D == 32 && part_of(map, 2)->D == 32);
    CHECK(part_of(map, 3)->D == 5 && map->D == 101);
    CHECK(part_of(map, 0)->seed != part_of(map, 1)->seed);
    krein__map_destroy(map);
    l->share[0] = 4, l->share[1] = 2, l->share[2] = 2, l->share[3] = 7; /* of which 5 are needed */
    map = joint(ctx, l, 85, 5, 3, NULL);
    if (!map) return;
    CHECK(part_of(map, 0)->D == 40 && part_of(map, 1)->D == 20 && part_of(map, 2)->D == 20);
    krein__map_destroy(map);
    /* specs with a D are outside; those without have a share */
    l->spec[0] = "rff(D=10)", l->spec[1] = "orf", l->spec[2] = "rff";
    l->share[1] = 1, l->share[2] = 3;
    map = joint(ctx, l, 85, 5, 3, NULL);
    if (!map) return;
    CHECK(part_of(map, 0)->D == 10 && part_of(map, 1)->D == 20 && part_of(map, 2)->D == 60);
    CHECK(strcmp(part_of(map, 0)->cls->cls.name, "rff") == 0 && map->D == 95);
    krein__map_destroy(map);
    list_free(ctx, l);
}

/* linear has its columns where the others keep half of their shares, and never nothing is left. */
static void wide_rows(void) {
    static const char *const text[] = {"gaussian(sigma=9)", "linear", "rq(sigma=9)", NULL};
    static const struct {
        int64_t d, D, part[3];
    } all[] = {{30, 90, {30, 30, 30}}, {40, 90, {24, 40, 24}}, {60, 90, {14, 60, 14}},
               {61, 90, {30, 30, 30}}, {5, 6, {2, 2, 2}},      {500, 1, {2, 2, 2}}};
    list *l = list_of(ctx, text);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_map *map = joint(ctx, l, all[i].D, all[i].d, 3, NULL);
        if (!map) continue;
        for (int m = 0; m < 3; m++) {
            if (part_of(map, m)->D != all[i].part[m])
                printf("d=%d, D=%d: %d has %d\n", (int)all[i].d, (int)all[i].D, m,
                       (int)part_of(map, m)->D);
            CHECK(part_of(map, m)->D == all[i].part[m]);
        }
        krein__map_destroy(map);
    }
    list_free(ctx, l);
}

/* ---- every kind of part --------------------------------------------------- */

/* Landmarks (a mix), signs inside a part, a part that is `auto` with parts of its own. */
static const char *const all_kinds[] = {"gaussian(sigma=2)",
                                        "tanh(gamma=0.2)",
                                        "gaussian(sigma=1) - 0.5*gaussian(sigma=3)",
                                        "0.4*laplacian(sigma=3) + linear + tl1",
                                        "linear*rq(sigma=2)",
                                        "arccos - 0.2*spline(q=2)",
                                        "linear",
                                        NULL};

static void every_kind(void) {
    enum { ROWS = 60 };
    krein_rows x = krein__rows_dense(ROWS, DIM, points, DIM);
    list *l = list_of(ctx, all_kinds);
    source s;
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_map *before = NULL, *map = joint(ctx, l, 210, DIM, 3, &s);
    CHECK(create(ctx, l, 210, DIM, 3, &before) == KREIN_OK);
    if (!map || !before) return;
    CHECK(krein__map_traits(before) == (KREIN_MAP_DATA | KREIN_MAP_MIX));
    CHECK(krein__map_traits(map) == (KREIN_MAP_DATA | KREIN_MAP_MIX) && map->mix);
    krein_cost cost;
    before->cls->cost(before, FIT, &cost);
    CHECK(cost.bytes > 0 && cost.flops > 0);
    CHECK(before->cls->features(before, FIT) >= map->D && map->D > 150 && map->D <= 210);
    CHECK(strcmp(part_of(map, 1)->cls->cls.name, "nystrom") == 0 && part_of(map, 1)->negative > 0);
    CHECK(strcmp(part_of(map, 3)->cls->cls.name, "auto") == 0 && part_of(map, 3)->mix);
    int64_t first[MANY], negative = 0;
    krein__joint_first(map, first);
    for (int64_t m = 0; m < l->n; m++) {
        negative += part_of(map, m)->negative;
        double *whole = gram_of(map, &x, first[m], first[m + 1]), off = 0, top = 0;
        double *own = gram_of(part_of(map, m), &x, 0, part_of(map, m)->D);
        CHECK(first[m + 1] - first[m] == part_of(map, m)->D);
        for (int i = 0; i < ROWS * ROWS; i++) {
            off = fmax(off, fabs(whole[i] - l->c[m] * own[i]));
            top = fmax(top, fabs(l->c[m] * own[i]));
        }
        CHECK(off <= 1e-5 * top);
        free(whole);
        free(own);
    }
    CHECK(negative == map->negative && negative > 0);
    krein_fact fact;
    for (int64_t i = 0; map->cls->fact(map, i, &fact); i++) CHECK(fact.name != NULL);
    krein__map_destroy(before);
    krein__map_destroy(map);
    source_close(&s);
    list_free(ctx, l);
}

/* ---- files, threads, memory ----------------------------------------------- */

static bool same_bytes(const char *a, const char *b) {
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    bool same = f && g;
    for (int c = 0; same && c != EOF;) same = (c = fgetc(f)) == fgetc(g);
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

static void model_file(void) {
    char path[2][600];
    snprintf(path[0], sizeof path[0], "%s", test_path("joint.krein"));
    snprintf(path[1], sizeof path[1], "%s", test_path("joint2.krein"));
    krein_rows x = krein__rows_dense(N, DIM, points, DIM);
    list *l = list_of(ctx, all_kinds);
    source s;
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_map *map = joint(ctx, l, 210, DIM, 3, &s), *loaded = NULL, *again = NULL;
    if (!map) return;
    CHECK(through_file(ctx, map, path[0], &loaded) == KREIN_OK);
    if (!loaded) return;
    double *a = need_raw(map, &x), *b = need_raw(loaded, &x);
    CHECK(loaded->R == map->R && loaded->D == map->D && loaded->negative == map->negative);
    CHECK(memcmp(a, b, (size_t)(N * map->R) * sizeof *a) == 0);
    int64_t first[MANY], second[MANY];
    krein__joint_first(map, first);
    krein__joint_first(loaded, second);
    CHECK(memcmp(first, second, (size_t)(l->n + 1) * sizeof *first) == 0);
    CHECK(through_file(ctx, loaded, path[1], &again) == KREIN_OK);
    CHECK(same_bytes(path[0], path[1]));
    char *one = krein__kernel_text(ctx, map->kernel),
         *two = krein__kernel_text(ctx, loaded->kernel);
    CHECK(one && two && strcmp(one, two) == 0);
    krein__free(ctx, one);
    krein__free(ctx, two);
    free(a);
    free(b);
    krein__map_destroy(again);
    krein__map_destroy(loaded);
    krein__map_destroy(map);
    source_close(&s);
    list_free(ctx, l);
}

static void threads(void) {
    krein_rows x = krein__rows_dense(N, DIM, points, DIM);
    double *want = NULL;
    for (int t = 1; t <= 3; t++) {
        krein_ctx *on = test_ctx(t);
        source s;
        list *l = list_of(on, all_kinds);
        CHECK(source_dense(on, FIT, DIM, points, &s) == KREIN_OK);
        krein_map *map = joint(on, l, 210, DIM, 3, &s);
        if (!map) return;
        double *got = need_raw(map, &x);
        if (want) CHECK(memcmp(want, got, (size_t)(N * map->R) * sizeof *got) == 0);
        free(want);
        want = got;
        krein__map_destroy(map);
        source_close(&s);
        list_free(on, l);
        krein_ctx_destroy(on);
    }
    free(want);
}

/* Held by a fit and by making features, not more than cost says. */
static void cost_is_a_bound(void) {
    static const struct {
        int64_t D;
        int threads;
    } sizes[] = {{60, 1}, {210, 3}, {2000, 1}, {2000, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        krein_ctx *on = test_ctx(sizes[i].threads);
        krein_rows x = krein__rows_dense(FIT, DIM, points, DIM);
        source s;
        krein_map *map = NULL;
        krein_block block;
        krein_cost cost = {0};
        list *l = list_of(on, all_kinds);
        CHECK(source_dense(on, FIT, DIM, points, &s) == KREIN_OK);
        CHECK(krein__stream_next(s.stream, &block) == KREIN_OK);
        CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
        CHECK(create(on, l, sizes[i].D, DIM, 3, &map) == KREIN_OK);
        map->cls->cost(map, FIT, &cost);
        uint64_t before = atomic_load(&on->held);
        atomic_store(&on->peak, before);
        CHECK(krein__map_fit(map, DIM, false, s.stream, FIT) == KREIN_OK);
        double *z = need_raw(map, &x), peak = (double)(atomic_load(&on->peak) - before);
        if (peak > cost.bytes) printf("D=%d: %g, %g\n", (int)sizes[i].D, peak, cost.bytes);
        CHECK(peak <= cost.bytes);
        free(z);
        krein__map_destroy(map);
        source_close(&s);
        list_free(on, l);
        krein_ctx_destroy(on);
    }
}

static void every_allocation(void) {
    static const char *const text[] = {"gaussian(sigma=2)", "linear + tl1",
                                       "linear + poly(degree=2)", NULL};
    test_memory memory;
    krein_ctx *on = test_ctx_with(1, &memory);
    const char *path = test_path("joint-fails.krein");
    on->keep_rows = KREIN_KEEP_MEMORY; /* a stream then holds nothing between passes */
    source s;
    list *l = list_of(on, text);
    CHECK(source_dense(on, FIT, DIM, points, &s) == KREIN_OK);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_map *map = NULL, *loaded = NULL;
        krein_status st = create(on, l, 40, DIM, 3, &map);
        CHECK(test_has_failed(&memory) ? st == KREIN_EMEMORY : st == KREIN_OK);
        bool planned = st == KREIN_OK && map->cls->features(map, FIT) > 0;
        bool unsaid = st == KREIN_OK && test_has_failed(&memory); /* features says nothing of it */
        if (planned) st = krein__map_fit(map, DIM, false, s.stream, FIT);
        if (st == KREIN_OK) st = through_file(on, map, path, &loaded);
        CHECK(test_has_failed(&memory) && !unsaid ? st == KREIN_EMEMORY : st == KREIN_OK);
        krein__map_destroy(map);
        krein__map_destroy(loaded);
    }
    source_close(&s);
    list_free(on, l);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(on);
}

/* Refused with the reason, and which kernel it is; nothing is made. */
static void refused(void) {
    static const char *const text[] = {"gaussian(sigma=2)", "linear*tl1", "linear", NULL};
    list *l = list_of(ctx, text);
    krein_map *map = NULL;
    CHECK(create(ctx, l, 0, DIM, 3, &map) == KREIN_EARG && !map);
    l->spec[1] = "rff";
    CHECK(create(ctx, l, 100, DIM, 3, &map) == KREIN_ESPEC && !map);
    CHECK_HAS(krein_message(ctx), "kernel 2 of 3, linear*tl1: rff needs");
    CHECK_HAS(krein_message(ctx), "try nystrom");
    l->spec[1] = "rfff";
    CHECK(create(ctx, l, 100, DIM, 3, &map) == KREIN_ESPEC && !map);
    CHECK_HAS(krein_message(ctx), "did you mean \"rff\"");
    l->spec[1] = "exact";
    CHECK(create(ctx, l, 100, DIM, 3, &map) == KREIN_ESPEC && !map);
    CHECK_HAS(krein_message(ctx), "kernel 2 of 3");
    l->spec[1] = NULL;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        l->c[2] = bad[i];
        CHECK(create(ctx, l, 100, DIM, 3, &map) == KREIN_EARG && !map);
        CHECK_HAS(krein_message(ctx), "kernel 3 of 3");
        l->c[2] = 1;
        l->share[2] = bad[i];
        CHECK(create(ctx, l, 100, DIM, 3, &map) == KREIN_EARG && !map);
        CHECK_HAS(krein_message(ctx), "share");
        l->share[2] = 1;
    }
    krein_joint none = {0, l->kernel, l->c, NULL, NULL},
                many = {KREIN_PARTS_MAX + 1, l->kernel, l->c, NULL, NULL};
    CHECK(krein__joint_create(ctx, &none, 10, 5, false, 1, &map) == KREIN_EARG && !map);
    CHECK(krein__joint_create(ctx, &many, 10, 5, false, 1, &map) == KREIN_EARG && !map);
    CHECK_HAS(krein_message(ctx), "1 to 512");
    list_free(ctx, l);
}

/* Labels are asked for where a part looks at them. */
static void labels_of_a_part(void) {
    static const char *const text[] = {"gaussian(sigma=2)", "linear", NULL};
    list *l = list_of(ctx, text);
    source s;
    l->spec[0] = "aligned";
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_map *map = joint(ctx, l, 40, DIM, 3, &s);
    CHECK(map && krein__map_traits(map) == (KREIN_MAP_DATA | KREIN_MAP_LABELS));
    CHECK(map && krein__map_check(map, 0, "nobody") == KREIN_EARG);
    krein__map_destroy(map);
    source_close(&s);
    list_free(ctx, l);
}

/* As many as there may be; the file is read in reasonable time. */
static void very_many(void) {
    krein_rows x = krein__rows_dense(20, DIM, points, DIM);
    list *l = test_new(1, sizeof *l);
    for (; l->n < KREIN_PARTS_MAX; l->n++) {
        char text[80];
        snprintf(text, sizeof text,
                 l->n % 4 == 3 ? "0.5*linear" : "gaussian(sigma=%.15g) + 0.5*rq(sigma=2)",
                 1 + (double)l->n / 7);
        l->kernel[l->n] = kernel_on(ctx, text);
        l->c[l->n] = 1 / (1 + (double)l->n);
        l->share[l->n] = 1;
    }
    krein_map *map = joint(ctx, l, 8 * KREIN_PARTS_MAX, DIM, 3, NULL), *loaded = NULL;
    if (!map) return;
    CHECK(map->D <= 8 * KREIN_PARTS_MAX && map->D > 7 * KREIN_PARTS_MAX);
    CHECK(through_file(ctx, map, test_path("many.krein"), &loaded) == KREIN_OK);
    if (!loaded) return;
    double *a = need_raw(map, &x), *b = need_raw(loaded, &x);
    CHECK(loaded->R == map->R && memcmp(a, b, (size_t)(20 * map->R) * sizeof *a) == 0);
    free(a);
    free(b);
    krein__map_destroy(loaded);
    krein__map_destroy(map);
    list_free(ctx, l);
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(exact_features);
    RUN(unbiased);
    RUN(shares);
    RUN(wide_rows);
    RUN(every_kind);
    RUN(model_file);
    RUN(threads);
    RUN(cost_is_a_bound);
    RUN(every_allocation);
    RUN(refused);
    RUN(labels_of_a_part);
    RUN(very_many);
    return maps_done();
}
