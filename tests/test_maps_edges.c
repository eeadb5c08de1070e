/* test_maps_edges.c -- what every map of the table must refuse, and survive: other kernels, bad
 * options, few features, failing memory, being cancelled. */
#include "maps.h"

#include "map/fourier.h"
#include "map/structured.h"

/* A kernel that a map cannot do is refused with a map that can. */
static void refusals(void) {
    int refused = 0;
    for (int64_t i = 0; i < krein__map_count; i++)
        for (int k = 0; k < KERNELS; k++) {
            krein_kernel *e = kernel_on(ctx, kernels[k]);
            krein_map *map = (krein_map *)&ctx;
            krein_status st = krein__map_create(ctx, krein__maps[i]->name, e, 100, 1, &map);
            CHECK((st == KREIN_OK) == (class_of(i)->accepts(ctx, e) == KREIN_OK));
            if (st != KREIN_OK) {
                bool way_out = false;
                refused++;
                CHECK(st == KREIN_ESPEC && !map);
                CHECK_HAS(krein_message(ctx), krein__maps[i]->name);
                CHECK_HAS(krein_message(ctx), "try ");
                const char *at = strstr(krein_message(ctx), "try ");
                for (int64_t o = 0; o < krein__map_count && at; o++)
                    way_out = way_out || (strstr(at, krein__maps[o]->name) &&
                                          accepts(class_of(o), kernels[k]));
                if (!way_out) printf("%s\n", krein_message(ctx));
                CHECK(way_out);
            } else {
                krein__map_destroy(map);
            }
            /* the default map of a kernel takes it */
            CHECK(krein__map_create(ctx, krein__map_default(e, 0, 0), e, 100, 1, &map) == KREIN_OK);
            krein__map_destroy(map);
            krein__kernel_destroy(ctx, e);
        }
    CHECK(refused > 0);
    CHECK(atomic_load(&ctx->held) == 0);
}

static void bad_options(void) {
    krein_kernel *e = kernel_on(ctx, "gaussian(sigma=1.3)");
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_class *c = krein__maps[i];
        char bad[8][100];
        int n = 0;
        for (const krein_option *o = c->options;; o++) {
            bool number =
                o && o->name && (o->type == KREIN_OPTION_NUMBER || o->type == KREIN_OPTION_INTEGER);
            n = 0;
            if (!o || !o->name) {
                snprintf(bad[n++], 100, "%s(no_such_key=1)", c->name);
                snprintf(bad[n++], 100, "%s(", c->name);
                snprintf(bad[n++], 100, "%s x", c->name);
                snprintf(bad[n++], 100, "%sx", c->name);
            } else if (number) {
                snprintf(bad[n++], 100, "%s(%s=%.17g)", c->name, o->name,
                         o->low - (o->low_open ? 0 : 1));
                snprintf(bad[n++], 100, "%s(%s=%.17g)", c->name, o->name, o->high * 2 + 1);
                snprintf(bad[n++], 100, "%s(%s=x)", c->name, o->name);
                snprintf(bad[n++], 100, "%s(%s=1..2:3)", c->name, o->name);
                if (o->type == KREIN_OPTION_INTEGER)
                    snprintf(bad[n++], 100, "%s(%s=8.5)", c->name, o->name);
            } else if (o->type != KREIN_OPTION_TEXT) {
                snprintf(bad[n++], 100, "%s(%s=no_such_word)", c->name, o->name);
            }
            for (int b = 0; b < n; b++) {
                krein_map *map = (krein_map *)&ctx;
                krein_status st = krein__map_create(ctx, bad[b], e, 0, 1, &map);
                if (st != KREIN_ESPEC) printf("accepted: %s\n", bad[b]);
                CHECK(st == KREIN_ESPEC && !map);
            }
            if (!o || !o->name) break;
        }
    }
    krein__kernel_destroy(ctx, e);
    CHECK(atomic_load(&ctx->held) == 0);
}

/* Fewer features than the kernel has terms: an error, not a crash. */
static void too_few_features(void) {
    source s;
    CHECK(source_dense(ctx, N, DIM, points, &s) == KREIN_OK);
    for (int64_t i = 0; i < krein__map_count; i++) {
        const char *kernel = "gaussian(sigma=1) + gaussian(sigma=2) - gaussian(sigma=3)";
        if (!accepts(class_of(i), kernel)) continue;
        krein_map *map = NULL;
        krein_status st = make(ctx, krein__maps[i]->name, kernel, 1, 1, DIM, &s, &map);
        CHECK(st == KREIN_OK || st == KREIN_ESPEC);
        if (st == KREIN_OK && krein__option_index(krein__maps[i], "D") >= 0) CHECK(map->D == 1);
        krein__map_destroy(map);
    }
    source_close(&s);
    CHECK(atomic_load(&ctx->held) == 0);
}

static bool same_option(const variants *v, int a, int b) {
    size_t n = strcspn(v->spec[a], "=");
    return b < v->n && v->spec[a][n] && strncmp(v->spec[a], v->spec[b], n + 1) == 0;
}

static void every_allocation_fails(void) {
    enum { ROWS = 30 };
    const char *path = test_path("failing.krein");
    static const char *const some[] = {"gaussian(sigma=3) - gaussian(sigma=9)",
                                       "0.5*laplacian(sigma=2)*gaussian(sigma=2)",
                                       "poly(degree=2, c=0.5) - 0.3*linear",
                                       "gaussian(sigma=1) - 0.3*linear",
                                       "laplacian(sigma=6)",
                                       "arccos(order=1)*arccos(order=0) - 0.2*arccos(order=1)",
                                       "ntk(depth=2) - 0.4*ntk(depth=1)"};
    enum { SOME = sizeof some / sizeof *some };
    krein_rows x = krein__rows_dense(ROWS, DIM, points, DIM);
    float *z = test_new(ROWS * 64, sizeof *z);
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        int tried[16] = {0};
        for (int k = 0; k < SOME; k++)
            for (int q = 0; q < v.n; q++) {
                const char *kernel = some[(k + q) % SOME]; /* two for the plain map, else one */
                if (same_option(&v, q, q + 1)) continue;   /* the last value of each option */
                if (tried[q] > (q == 0) || !takes(v.spec[q], kernel)) continue;
                tried[q]++;
                test_memory m;
                krein_ctx *on = test_ctx_with(2, &m);
                int64_t runs = 0;
                /* most allocations are those of all maps: one fails here, the next there */
                const int64_t step = test_sanitized() ? 4 : 1;
                TEST_SOME_ALLOCATIONS(&m, j, (i + k + q) % step, step) {
                    source s;
                    krein_map *map = NULL, *loaded = NULL;
                    double *r = NULL;
                    krein_status st = source_dense(on, ROWS, DIM, points, &s);
                    if (st == KREIN_OK) st = make(on, v.spec[q], kernel, 48, 9, DIM, &s, &map);
                    if (st == KREIN_OK) {
                        r = test_new(ROWS * map->R, sizeof *r);
                        st = raw(map, &x, r);
                    }
                    if (st == KREIN_OK && !(c->traits & KREIN_MAP_DUAL))
                        st = krein__map_apply(map, &x, z);
                    if (st == KREIN_OK) st = through_file(on, map, path, &loaded);
                    CHECK((loaded != NULL) == (st == KREIN_OK));
                    bool failed = test_has_failed(&m);
                    if (failed != (st != KREIN_OK) || (failed && st != KREIN_EMEMORY)) {
                        printf("%s, allocation %lld: status %d, %s\n", v.spec[q], (long long)j,
                               (int)st, krein_message(on));
                        test_bad++;
                    }
                    free(r);
                    krein__map_destroy(map);
                    krein__map_destroy(loaded);
                    if (s.data) source_close(&s);
                    runs++;
                }
                CHECK(step * runs > 10);
                CHECK(atomic_load(&on->held) == 0);
                krein_ctx_destroy(on);
            }
    }
    free(z);
}

static int stop_later(void *user) { return (*(int64_t *)user)-- <= 0; }

/* A fit asks whether to go on, stops where the answer is no, and leaves nothing behind. */
static void cancelled(void) {
    enum { ROWS = 40 };
    krein_ctx *on = test_ctx(2);
    for (int64_t i = 0; i < krein__map_count; i++) {
        const krein_map_class *c = class_of(i);
        variants v = variants_of(&c->cls);
        int asked = 0;
        for (int q = 0; q < v.n; q++) {
            int k;
            if (some_of(v.spec[q], 1, (int)i + q, &k) == 0) continue;
            krein_status st = KREIN_ECANCEL;
            for (int64_t polls = 0; st != KREIN_OK && polls < 1000; polls = 2 * polls + 1) {
                source s;
                krein_map *map = NULL;
                int64_t left = polls;
                CHECK(source_dense(on, ROWS, DIM, points, &s) == KREIN_OK);
                on->cancel = stop_later;
                on->user = &left;
                st = make(on, v.spec[q], kernels[k], 64, 3, DIM, &s, &map);
                on->cancel = NULL;
                asked += left < polls;
                CHECK(st == KREIN_OK || st == KREIN_ECANCEL);
                CHECK(st == KREIN_OK || left < 0);
                krein__map_destroy(map);
                source_close(&s);
                CHECK(atomic_load(&on->held) == 0);
            }
        }
        if (krein__option_index(&c->cls, "D") < 0 || asked)
            continue; /* what is quick need not ask */
        printf("%s cannot be cancelled\n", c->cls.name);
        test_bad++;
    }
    krein_ctx_destroy(on);
}

/* The map that a kernel names exists, takes it, and is the default for it. */
static void kernels_name_maps(void) {
    for (int64_t i = 0; i < krein__kernel_count; i++) {
        const krein_kernel_class *c = (const krein_kernel_class *)krein__kernels[i];
        krein_kernel k = {.node = KREIN_NODE_LEAF, .kernel = c};
        for (int64_t j = 0; c->cls.options && c->cls.options[j].name; j++)
            k.values.number[j] = c->cls.options[j].value;
        const krein_map_class *map = krein__map_default_class(&k, 4, 0);
        if (c->map)
            CHECK(krein__class_named(c->map, krein__maps, krein__map_count) == &map->cls);
        else
            CHECK(map == &krein__map_nystrom);
        CHECK(map->accepts(ctx, &k) == KREIN_OK);
        CHECK(strcmp(krein__map_default(&k, 4, 0), map->cls.name) == 0);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(refusals);
    RUN(bad_options);
    RUN(too_few_features);
    RUN(every_allocation_fails);
    RUN(cancelled);
    RUN(kernels_name_maps);
    return maps_done();
}
