/* maps.h -- what the tests of feature maps share.
 *
 *   kernels, KERNELS            expressions of every family; a map is tried with those it takes
 *   variants_of(class)          specs of a map: plain, and one for each value of its word options
 *   takes(spec, kernel)         it accepts the kernel, and the rows of these tests
 *   some_of(spec, most, ...)    at most that many of the kernels it takes, from all over the list
 *   source                      rows as a stream: source_dense, source_libsvm, source_close
 *   make, need                  a fitted map; need counts a failure
 *   raw, need_raw, product      raw features in double, and sum_i s_i z_i(x) z_i(y) of two rows
 *   mapped.h                    features in float32, through_file
 *   declined(ctx, status)       the map itself refused a size or the rows
 *   maps_start, maps_done       first and last in main: ctx, points
 */
#ifndef KREIN_TEST_MAPS_H
#define KREIN_TEST_MAPS_H

#include "mapped.h"

/* ---- kernels, variants of maps ------------------------------------------ */

static const char *const kernels[] = {
    "gaussian(sigma=1.3)",
    "matern(nu=0.5, sigma=1.4)",
    "matern(nu=1.5, sigma=1.4)",
    "matern(nu=2.2, sigma=1.4)",
    "laplacian(sigma=2.3)",
    "cauchy(sigma=1.7)",
    "0.7*gaussian(sigma=1.3)",
    "gaussian(sigma=1.3) + 0.5*matern(nu=1.5, sigma=2)",
    "gaussian(sigma=1) - gaussian(sigma=3)",
    "gaussian(sigma=2)*matern(nu=2.5, sigma=3)",
    "0.4*anova(c=2, sigma=1.5) + 0.6*cauchy(sigma=2)*gaussian(sigma=2.5) - 0.2*gaussian(sigma=4)",
    "0.1*(0.3*(0.7*gaussian(sigma=1.3))) + (matern(sigma=2) + 0.7*gaussian(sigma=3))",
    "linear",
    "poly(degree=2, c=0.5)",
    "poly(degree=3, c=0.5, gamma=0.3) - 0.4*linear*linear",
    "gaussian(sigma=1.3)*linear",
    "spline(q=4)",
    "exponential(sigma=2)",
    "rq(alpha=1.5, sigma=1.4)",
    "periodic(p=3, sigma=1.2)",
    "spline(q=2)",
    "0.4*spline(q=0.8, terms=12)",
    "tanh(gamma=0.4, c=0.2)",
    "epanechnikov",
    "tl1(rho=4)",
    "arccos",
    "arccos(order=1) - 0.3*arccos(order=0)*arccos(order=2)",
    "0.7*ntk(depth=2, scale=1.3)",
    "ntk(depth=2, bias=0.2)",
    "chi2 + intersection",
    "rq(sigma=2)*periodic(p=3, sigma=2) - 0.3*exponential(sigma=3)"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static inline krein_kernel *kernel_on(krein_ctx *on, const char *text) {
    krein_kernel *k = NULL;
    if (krein__kernel_parse(on, text, &k) != KREIN_OK) {
        printf("%s: %s\n", text, krein_message(on));
        exit(1);
    }
    return k;
}
static inline const krein_map_class *class_of(int64_t i) {
    return (const krein_map_class *)krein__maps[i];
}

/* Specs of a map: plain, and one more for each other value of a yes/no or word option. */
typedef struct variants {
    int n;
    char spec[16][80];
} variants;
static inline variants variants_of(const krein_class *c) {
    variants v = {0};
    snprintf(v.spec[v.n++], 80, "%s", c->name);
    for (const krein_option *o = c->options; o && o->name; o++) {
        bool yesno = o->type == KREIN_OPTION_YESNO;
        char word[40];
        if (!yesno && o->type != KREIN_OPTION_WORD) continue;
        for (int64_t k = 0; krein__word(yesno ? "no|yes" : o->words, k, word, sizeof word); k++)
            if ((double)k != o->value && v.n < 16)
                snprintf(v.spec[v.n++], 80, "%s(%s=%s)", c->name, o->name, word);
    }
    return v;
}

/* A map may refuse a size that it cannot make, or rows that it is not for; the message names the
 * map, or the part of it. */
static inline bool declined(krein_ctx *on, krein_status st) {
    for (int64_t i = 0; (st == KREIN_ESPEC || st == KREIN_EDATA) && i < krein__map_count; i++)
        if (strstr(krein_message(on), krein__maps[i]->name)) return true;
    return false;
}

/* ---- rows, streams, fitted maps ----------------------------------------- */

typedef struct source {
    krein_ctx *on;
    krein_data *data;
    krein_encoding e;
    krein_stream *stream;
    int64_t n, d;
    bool sparse;
} source;

static inline void source_close(source *s) {
    krein__stream_close(s->stream);
    if (s->data) krein__encoding_clear(s->on, &s->e);
    krein_data_close(s->data);
    memset(s, 0, sizeof *s);
}
static inline krein_status source_stream(source *s) {
    krein_status st = krein__data_scan(s->data, true, 0, 1, &s->e);
    if (st == KREIN_OK) st = krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream);
    if (st != KREIN_OK)
        source_close(s);
    else
        s->sparse = s->e.sparse;
    return st;
}
/* Labels of dense rows: 0, 1, 0, 1, ... for maps that look at them. */
static double labels[1000];
static inline krein_status source_dense(krein_ctx *on, int64_t n, int64_t d, const float *x,
                                        source *s) {
    krein_data_options o;
    CHECK(n <= (int64_t)(sizeof labels / sizeof *labels));
    for (int64_t i = 0; i < n; i++) labels[i] = (double)(i % 2);
    memset(s, 0, sizeof *s);
    s->on = on;
    s->n = n;
    s->d = d;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    krein_status st = krein_data_from_dense(on, n, d, x, d, labels, NULL, &o, &s->data);
    return st == KREIN_OK ? source_stream(s) : st;
}
static inline krein_status source_libsvm(krein_ctx *on, const char *path, source *s) {
    krein_data_options o;
    memset(s, 0, sizeof *s);
    s->on = on;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    o.format = "libsvm";
    krein_status st = krein_data_open(on, path, &o, &s->data);
    if (st == KREIN_OK) st = source_stream(s);
    if (st == KREIN_OK) s->n = s->data->count[KREIN_PART_TRAIN], s->d = s->e.d;
    return st;
}

/* Creates and fits; s may be NULL for maps that do not look at rows. */
static inline krein_status make(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
                                uint64_t seed, int64_t d, source *s, krein_map **out) {
    krein_kernel *k = NULL;
    *out = NULL;
    krein_status st = krein__kernel_parse(on, kernel, &k);
    if (st == KREIN_OK) st = krein__map_create(on, spec, k, D, seed, out);
    if (st == KREIN_OK)
        st = krein__map_fit(*out, d, s && s->sparse, s ? s->stream : NULL, s ? s->n : 0);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(on, k);
    return st;
}
static inline krein_map *need(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
                              uint64_t seed, int64_t d, source *s) {
    krein_map *map = NULL;
    krein_status st = make(on, spec, kernel, D, seed, d, s, &map);
    if (st != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(on));
        test_bad++;
    }
    return map;
}

/* Raw features, n x R. DUAL maps make doubles, tile by tile; the others floats. */
static inline krein_status raw(const krein_map *map, const krein_rows *x, double *out) {
    krein_ctx *on = map->ctx;
    krein_status st = KREIN_OK;
    int64_t R = map->R;
    float *values = NULL, *scratch = NULL;
    double *tile = NULL, *wide = NULL;
    if (map->cls->traits & KREIN_MAP_DUAL) {
        wide = krein__alloc(on, map->scratch, sizeof *wide);
        tile = krein__alloc(on, KREIN_TILE * R, sizeof *tile);
        if (!wide || !tile) {
            st = on->status;
            goto done;
        }
        for (int64_t i = 0; i < x->n; i += KREIN_TILE) {
            krein_rows rows = krein__rows_slice(x, i, krein__min(KREIN_TILE, x->n - i));
            map->cls->tile64(map, &rows, tile, R, wide);
            memcpy(out + i * R, tile, (size_t)(rows.n * R) * sizeof *out);
        }
    } else {
        values = test_new(x->n * R, sizeof *values);
        if (!(scratch = krein__alloc(on, krein__map_scratch(map), sizeof *scratch))) {
            st = on->status;
            goto done;
        }
        krein__map_raw(map, x, NULL, values, scratch);
        for (int64_t i = 0; i < x->n * R; i++) out[i] = (double)values[i];
    }
done:
    free(values);
    krein__free(on, scratch);
    krein__free(on, tile);
    krein__free(on, wide);
    return st;
}
static inline double *need_raw(const krein_map *map, const krein_rows *x) {
    double *out = test_new(x->n * map->R, sizeof *out);
    CHECK(raw(map, x, out) == KREIN_OK);
    return out;
}
/* sum_i s_i z_i z_i' over features of rows a and b, from raw features (R x D mix in double). */
static inline double product(const krein_map *map, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < map->D; i++) {
        double za = 0, zb = 0;
        if (map->mix)
            for (int64_t r = 0; r < map->R; r++) {
                za += a[r] * map->mix[r * map->D + i];
                zb += b[r] * map->mix[r * map->D + i];
            }
        else
            za = a[i], zb = b[i];
        sum += (map->sign ? map->sign[i] : 1) * za * zb;
    }
    return sum;
}

enum { N = 2 * KREIN_TILE + 41, FIT = 90, DIM = 5 }; /* FIT: rows that maps are fitted to */
static float *points;                                /* N x DIM */

/* The map takes the kernel with these options on these rows: it may refuse in accepts, or when it
 * is fitted (rows that are not of length one). Asked often, so the answers are kept. */
static inline bool takes(const char *spec, const char *kernel) {
    enum { KNOWN = 2048 };
    static char known[KNOWN][160];
    static bool answer[KNOWN];
    static int n;
    char key[160];
    snprintf(key, sizeof key, "%s %s", spec, kernel);
    for (int i = 0; i < n; i++)
        if (strcmp(known[i], key) == 0) return answer[i];
    source s;
    krein_map *map = NULL;
    CHECK(source_dense(ctx, FIT, DIM, points, &s) == KREIN_OK);
    krein_status st = make(ctx, spec, kernel, 500, 1, DIM, &s, &map);
    krein__map_destroy(map);
    source_close(&s);
    bool yes = !declined(ctx, st);
    if (n < KNOWN) {
        memcpy(known[n], key, sizeof key);
        answer[n++] = yes;
    }
    return yes;
}
static inline bool accepts(const krein_map_class *c, const char *text) {
    return takes(c->cls.name, text);
}
static inline bool takes_sparse(const char *text) {
    krein_kernel *k = kernel_on(ctx, text);
    bool yes = krein__kernel_check_inputs(ctx, k, 0.5, 0.5, true) == KREIN_OK;
    krein__kernel_destroy(ctx, k);
    return yes;
}
/* At most `most` of the kernels that a spec takes, as indices, from all over the list; turn begins
 * elsewhere. */
static inline int some_of(const char *spec, int most, int turn, int *out) {
    enum { STEP = 11 };
    _Static_assert(KERNELS % STEP != 0, "each kernel must come once");
    int n = 0;
    for (int k = 0, at = turn * 7 % KERNELS; k < KERNELS && n < most; k++) {
        if (takes(spec, kernels[at])) out[n++] = at;
        at = (at + STEP) % KERNELS;
    }
    return n;
}

/* ---- main --------------------------------------------------------------- */

static inline void maps_start(char **argv) {
    test_start(argv);
    ctx = test_ctx(1);
    points = test_dense(N, DIM, 0.1);
}
static inline int maps_done(void) {
    if (atomic_load(&ctx->held) != 0) printf("not everything was given back\n"), test_failed++;
    free(points);
    krein_ctx_destroy(ctx);
    return DONE();
}

#endif
