/* test_maps.c -- feature maps: the contract of map.h for every map of the table, then what each
 * map promises by itself.
 *
 * A new map is tested here the day it is listed: each of its yes/no and word options makes a
 * variant, each kernel it accepts is tried. Monte-Carlo results are judged by the standard error
 * of the draws themselves. */
#include "common.h"

#include "map/fourier.h"
#include "map/map.h"
#include "map/structured.h"
#include "num/blas.h"

#include <float.h>

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
    "0.4*laplacian(sigma=3) + 0.6*cauchy(sigma=2)*gaussian(sigma=2.5) - 0.2*gaussian(sigma=4)",
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

static krein_ctx *ctx; /* one thread */

static krein_kernel *kernel_on(krein_ctx *on, const char *text) {
    krein_kernel *k = NULL;
    if (krein__kernel_parse(on, text, &k) != KREIN_OK) {
        printf("%s: %s\n", text, krein_message(on));
        exit(1);
    }
    return k;
}
/* For the rows of these tests: a map may take a kernel on rows of length one only, which fit says
 * with KREIN_EDATA. */
static bool accepts(const krein_map_class *c, const char *text);
static const krein_map_class *class_of(int64_t i) {
    return (const krein_map_class *)krein__maps[i];
}

/* Specs of a map: plain, and one more for each other value of a yes/no or word option. */
typedef struct variants {
    int n;
    char spec[16][80];
} variants;
static variants variants_of(const krein_class *c) {
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
static bool declined(krein_ctx *on, krein_status st) {
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

static void source_close(source *s) {
    krein__stream_close(s->stream);
    if (s->data) krein__encoding_clear(s->on, &s->e);
    krein_data_close(s->data);
    memset(s, 0, sizeof *s);
}
static krein_status source_stream(source *s) {
    krein_status st = krein__data_learn(s->data, true, 0, 1, KREIN_KEEP_AUTO, &s->e);
    if (st == KREIN_OK) st = krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream);
    if (st != KREIN_OK)
        source_close(s);
    else
        s->sparse = s->e.sparse;
    return st;
}
/* Labels of dense rows: 0, 1, 0, 1, ... for maps that look at them. */
static double labels[1000];
static krein_status source_dense(krein_ctx *on, int64_t n, int64_t d, const float *x, source *s) {
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
static krein_status source_libsvm(krein_ctx *on, const char *path, source *s) {
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
static krein_status make(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
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
static krein_map *need(krein_ctx *on, const char *spec, const char *kernel, int64_t D,
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
static krein_status raw(const krein_map *map, const krein_rows *x, double *out) {
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
static double *need_raw(const krein_map *map, const krein_rows *x) {
    double *out = test_new(x->n * map->R, sizeof *out);
    CHECK(raw(map, x, out) == KREIN_OK);
    return out;
}
/* sum_i s_i z_i z_i' over features of rows a and b, from raw features (R x D mix in double). */
static double product(const krein_map *map, const double *a, const double *b) {
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
static bool takes(const char *spec, const char *kernel) {
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
static bool accepts(const krein_map_class *c, const char *text) { return takes(c->cls.name, text); }
static bool takes_sparse(const char *text) {
    krein_kernel *k = kernel_on(ctx, text);
    bool yes = krein__kernel_check_inputs(ctx, k, 0.5, 0.5, true) == KREIN_OK;
    krein__kernel_destroy(ctx, k);
    return yes;
}
static const char *first_accepted(const krein_map_class *c) {
    for (int k = 0; k < KERNELS; k++)
        if (accepts(c, kernels[k])) return kernels[k];
    return NULL;
}

/* ---- the contract ------------------------------------------------------- */

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
        for (int k = 0; k < KERNELS; k++)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], kernels[k])) continue;
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
        for (int k = 0; k < KERNELS; k += 2)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], kernels[k])) continue;
                double *first = NULL;
                float *first_z = NULL;
                krein_rows x = krein__rows_dense(N, DIM, points, DIM);
                for (int run = 0; run < 5; run++) {
                    krein_ctx *on = test_ctx(run < 3 ? run + 1 : 1); /* threads 1 2 3 1 1 */
                    uint64_t seed = run == 4 ? 6 : 5;
                    source s;
                    CHECK(source_dense(on, FIT, DIM, points, &s) == KREIN_OK);
                    krein_map *map = need(on, v.spec[q], kernels[k], 60, seed, DIM, &s);
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
                        first_z = z;
                    } else {
                        bool same = memcmp(first, r, size) == 0;
                        if (run < 4 && !same)
                            printf("%s, %s: %d threads give other bits\n", v.spec[q], kernels[k],
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

/* The offset of krein__map_raw is taken off each feature, in a short last tile too. */
static void offsets(void) {
    source s;
    CHECK(source_dense(ctx, N, DIM, points, &s) == KREIN_OK);
    krein_rows x = krein__rows_dense(N, DIM, points, DIM);
    for (int64_t i = 0; i < krein__map_count; i++) {
        if (class_of(i)->traits & KREIN_MAP_DUAL) continue;
        CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
        const char *kernel = first_accepted(class_of(i));
        if (!kernel) continue;
        krein_map *map = need(ctx, krein__maps[i]->name, kernel, 60, 5, DIM, &s);
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

/* Saves and loads a map; *out is NULL on failure. */
static krein_status through_file(krein_ctx *on, krein_map *map, const char *path, krein_map **out) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL, *b = NULL;
    *out = NULL;
    TRY(krein__archive_create(on, &a));
    TRY(krein__map_io(on, a, map->d, map->sparse, &map));
    TRY(krein__archive_save(a, path));
    TRY(krein__archive_load(on, path, &b));
    TRY(krein__map_io(on, b, map->d, map->sparse, out));
done:
    krein__archive_destroy(a);
    krein__archive_destroy(b);
    return st;
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
            for (int k = 0; k < KERNELS; k++)
                for (int q = 0; q < v.n; q++) {
                    if (!takes(v.spec[q], kernels[k])) continue;
                    if (s.sparse && !takes_sparse(kernels[k])) continue;
                    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
                    krein_map *map = need(ctx, v.spec[q], kernels[k], 60, 1234567890123, DIM, &s);
                    krein_map *loaded = NULL;
                    if (!map) continue;
                    st = through_file(ctx, map, path, &loaded);
                    if (st != KREIN_OK)
                        printf("%s, %s: %s\n", v.spec[q], kernels[k], krein_message(ctx));
                    CHECK(st == KREIN_OK && loaded);
                    if (loaded) {
                        CHECK(loaded->D == map->D && loaded->R == map->R && loaded->d == map->d);
                        CHECK(loaded->sparse == map->sparse && loaded->seed == map->seed);
                        CHECK(loaded->negative == map->negative);
                        double *a = need_raw(map, &x), *b = need_raw(loaded, &x);
                        if (memcmp(a, b, (size_t)(x.n * map->R) * sizeof *a) != 0) {
                            printf("%s, %s: other features after loading\n", v.spec[q], kernels[k]);
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
                 {800, 20, 250}, {200, 300, 150}, {100, 8, 5000}};
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
            int64_t n = sizes[z].n, d = sizes[z].d;
            float *x = test_dense(n, d, 0.1);
            for (int k = 0; k < SOME; k++)
                for (int q = 0; q < v.n; q++) {
                    if (!takes(v.spec[q], some[k])) continue;
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

static void every_allocation_fails(void) {
    enum { ROWS = 30 };
    const char *path = test_path("failing.krein");
    static const char *const some[] = {"gaussian(sigma=1) - gaussian(sigma=3)",
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
        for (int k = 0; k < SOME; k++)
            for (int q = 0; q < v.n; q++) {
                if (!takes(v.spec[q], some[k])) continue;
                test_memory m;
                krein_ctx *on = test_ctx_with(2, &m);
                int64_t runs = 0;
                TEST_EVERY_ALLOCATION(&m, j) {
                    source s;
                    krein_map *map = NULL, *loaded = NULL;
                    double *r = NULL;
                    krein_status st = source_dense(on, ROWS, DIM, points, &s);
                    if (st == KREIN_OK) st = make(on, v.spec[q], some[k], 48, 9, DIM, &s, &map);
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
                CHECK(runs > 10);
                CHECK(atomic_load(&on->held) == 0);
                krein_ctx_destroy(on);
            }
    }
    free(z);
}

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

/* Features of a larger D start with those of a smaller one, up to their common factor; with
 * several terms each term's frequencies do. */
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
                for (int64_t row = 0; row < x.n && n == 1; row++)
                    for (int64_t f = 0; f < da; f++)
                        worst = fmax(worst, fabs(a[row * small->R + f] * sqrt((double)da) -
                                                 b[row * large->R + f] * sqrt((double)db)));
                /* Cauchy frequencies are large: turns in float32 lose what they have left */
                bool heavy = strstr(kernels[k], "laplacian") || strstr(kernels[k], "nu=0.5") ||
                             strstr(kernels[k], "exponential") || strstr(kernels[k], "spline");
                if (!(worst < (heavy ? 2e-2 : 1e-4)))
                    printf("%s, %s: %g\n", v.spec[q], kernels[k], worst);
                CHECK(worst < (heavy ? 2e-2 : 1e-4));
                if (c->tile == krein__fourier_tile) { /* to the bit */
                    const krein_fourier *s = small->state, *l = large->state;
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

/* ---- Fourier maps ------------------------------------------------------- */

/* FORMULAS group 1, REF features: x0, x1 = det(2,3), W = det(4,3,.7), b = (.1, 1.2, 2.3, 3.4). */
static void reference_features(void) {
    static const double cosine[] = {.087991399278, .126126145787, .489968650153, .374887615825};
    static const double sine[] = {.492196620928, -.483830750727, .099653007318, .33084630193};
    static const double phased[] = {.054325795598, .702371934272, -.56676889602, -.393004066992};
    static const double b[] = {.1, 1.2, 2.3, 3.4};
    double w[12];
    float x[6];
    for (int f = 0; f < 4; f++)
        for (int j = 0; j < 3; j++) w[f * 3 + j] = det(f, j, .7);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) x[i * 3 + j] = (float)det(i, j, 0);
    krein_rows rows = krein__rows_dense(2, 3, x, 3);
    krein_kernel *e = kernel_on(ctx, "gaussian(sigma=1)");
    for (int phase = 0; phase < 2; phase++) {
        krein_map *map = NULL;
        CHECK(krein__map_create(ctx, phase ? "rff(phase=yes)" : "rff", e, 8, 1, &map) == KREIN_OK);
        map->d = 3;
        CHECK(krein__fourier_given(map, 4, w, phase ? b : NULL) == KREIN_OK);
        CHECK(map->D == (phase ? 4 : 8) && map->R == map->D);
        double *r = need_raw(map, &rows);
        for (int f = 0; f < 4; f++) {
            if (phase) {
                CHECK_ABS(r[f], phased[f], 4e-7);
            } else { /* the reference lists all cosines first; ours are pairs */
                CHECK_ABS(r[2 * f], cosine[f], 4e-7);
                CHECK_ABS(r[2 * f + 1], sine[f], 4e-7);
            }
        }
        CHECK_ABS(product(map, r, r + map->R), phase ? -.416918989632 : .007716956283, 1e-6);
        free(r);
        krein__map_destroy(map);
    }
    krein__kernel_destroy(ctx, e);
}

/* Many frequencies in one map: each is a draw of cos w'tau, or of 2 cos(w'x+b) cos(w'y+b). */
static void rff_variance(void) {
    int64_t F = test_sanitized() ? 4000 : 40000;
    static const char *const some[] = {"gaussian(sigma=1.3)", "laplacian(sigma=2)",
                                       "matern(nu=1.5, sigma=1.4)", "cauchy(sigma=1.5)"};
    float x[12] = {0};
    for (int j = 0; j < 3; j++) {
        x[j] = (float)det(0, j, 0.5);
        x[3 + j] = (float)det(1, j, 0.5) * 0.7f;
        x[9 + j] = 2 * (x[j] - x[3 + j]); /* 2 tau, against the zero of row 2 */
    }
    krein_rows rows = krein__rows_dense(4, 3, x, 3);
    for (int k = 0; k < 4; k++)
        for (int phase = 0; phase < 2; phase++) {
            double K[16], mean = 0, second = 0, fourth = 0;
            krein_kernel *e = kernel_on(ctx, some[k]);
            CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
            krein__kernel_destroy(ctx, e);
            double value = K[1], twice = K[2 * 4 + 3]; /* k(tau), k(2 tau) */
            krein_map *map = need(ctx, phase ? "rff(phase=yes)" : "rff", some[k], phase ? F : 2 * F,
                                  11, 3, NULL);
            if (!map) return;
            double *r = need_raw(map, &rows), n = (double)F;
            const double *a = r, *b = r + map->R;
            for (int64_t f = 0; f < F; f++) {
                double draw =
                    phase ? a[f] * b[f] : a[2 * f] * b[2 * f] + a[2 * f + 1] * b[2 * f + 1];
                double off = n * draw - value;
                mean += off / n;
                second += off * off / n;
                fourth += off * off * off * off / n;
            }
            double variance = (phase ? 1 + twice / 2 : (1 + twice) / 2) - value * value;
            CHECK_Z(mean, 0, variance, F);
            CHECK_Z(second, variance, fourth - second * second, F);
            free(r);
            krein__map_destroy(map);
        }
}

/* 1F1(a; b; x) by its series; enough for |x| of a few. */
static double hypergeometric(double a, double b, double x) {
    double term = 1, sum = 1;
    for (int k = 0; k < 200; k++) {
        term *= (a + k) / (b + k) * x / (k + 1);
        sum += term;
    }
    return sum;
}
static double orf_ratio(int64_t d, int64_t s, double z) {
    double h = hypergeometric((double)d, (double)d / 2, -z * z / 2), e = exp(-z * z);
    return 1 + (double)(s - 1) * (h - e) / ((1 - e) * (1 - e) / 2);
}

/* FORMULAS group 4: the exact variance of s <= d orthogonal frequencies, relative to rff. */
static void orf_variance(void) {
    CHECK_ABS(orf_ratio(16, 16, .5), .150339668201, 1e-9);
    CHECK_ABS(orf_ratio(16, 16, 1), .157713973025, 1e-9);
    CHECK_ABS(orf_ratio(16, 16, 2), .671174019758, 1e-9);
    CHECK_ABS(orf_ratio(64, 32, 1), .55605220585, 1e-9);
    static const struct {
        int64_t d, s;
        double z;
    } cases[] = {{16, 16, .5}, {16, 16, 1}, {16, 16, 2}, {16, 7, 1}, {6, 6, 1.5}, {32, 16, 1}};
    int64_t R = test_sanitized() ? 300 : 2000;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t d = cases[c].d, s = cases[c].s;
        double z = cases[c].z, sigma = 1.7, value = exp(-z * z / 2);
        float *x = test_new(2 * d, sizeof *x);
        double length = 0;
        for (int64_t j = 0; j < d; j++) length += det(4, j, 0) * det(4, j, 0);
        for (int64_t j = 0; j < d; j++)
            x[j] = (float)(det(4, j, 0) * z * sigma / sqrt(length)); /* |x - 0| = z sigma */
        krein_rows rows = krein__rows_dense(2, d, x, d);
        double mean = 0, second = 0, fourth = 0, n = (double)R;
        for (int64_t seed = 0; seed < R; seed++) {
            krein_map *map =
                need(ctx, "orf", "gaussian(sigma=1.7)", 2 * s, (uint64_t)seed, d, NULL);
            if (!map) return;
            double *r = need_raw(map, &rows);
            double off = product(map, r, r + map->R) - value;
            mean += off / n;
            second += off * off / n;
            fourth += off * off * off * off / n;
            free(r);
            krein__map_destroy(map);
        }
        double rff = (1 - value * value) * (1 - value * value) / 2 / (double)s;
        CHECK_Z(mean, 0, second, R);
        CHECK_Z(second / rff, orf_ratio(d, s, z), (fourth - second * second) / rff / rff, R);
        free(x);
    }
}

/* Blocks of d frequencies are orthogonal, the lengths are the kernel's, directions have no sign. */
static void orf_blocks(void) {
    enum { D9 = 9, F = 2 * D9 + 4 };
    krein_map *map = need(ctx, "orf", "gaussian(sigma=0.7)", 2 * F, 3, D9, NULL);
    if (!map) return;
    const krein_fourier *s = map->state;
    CHECK(s->F == F);
    double worst = 0, across = 0;
    for (int64_t f = 0; f < F; f++)
        for (int64_t g = 0; g < f; g++) {
            double inner = 0, a = 0, b = 0;
            for (int64_t j = 0; j < D9; j++) {
                double u = (double)s->W[j * F + f], v = (double)s->W[j * F + g];
                inner += u * v;
                a += u * u;
                b += v * v;
            }
            double cosine = fabs(inner) / sqrt(a * b);
            if (f / D9 == g / D9)
                worst = fmax(worst, cosine);
            else
                across = fmax(across, cosine);
        }
    CHECK(worst < 8 * FLT_EPSILON);
    CHECK(across > 0.1); /* different blocks are independent */
    krein__map_destroy(map);

    /* |w|^2 sigma^2 is chi-square with d degrees: mean d, variance 2 d. One direction's first
     * coordinate has mean 0, variance 1/d and fourth moment 3/(d (d+2)). */
    int64_t R = test_sanitized() ? 100 : 1000;
    double length = 0, first = 0, square = 0;
    for (int64_t seed = 0; seed < R; seed++) {
        map = need(ctx, "orf", "gaussian(sigma=0.7)", 2 * D9, (uint64_t)seed, D9, NULL);
        if (!map) return;
        s = map->state;
        double a = 0;
        for (int64_t j = 0; j < D9; j++) a += pow(2 * M_PI * (double)s->W[j * s->F], 2);
        double u = 2 * M_PI * (double)s->W[0] / sqrt(a);
        length += a * 0.7 * 0.7 / (double)R;
        first += u / (double)R;
        square += u * u / (double)R;
        krein__map_destroy(map);
    }
    double d = D9;
    CHECK_Z(length, d, 2 * d, R);
    CHECK_Z(first, 0, 1 / d, R);
    CHECK_Z(square, 1 / d, 3 / (d * (d + 2)) - 1 / (d * d), R);
}

/* ---- landmarks ---------------------------------------------------------- */

/* z'Sz = r' K_mm^-1 r for kernels whose K_mm is well conditioned, and exact on the landmarks. */
static void nystrom_values(void) {
    enum { ROWS = 120, M = 25, D2 = 2 };
    float *x = test_new(ROWS * D2, sizeof *x);
    for (int i = 0; i < ROWS; i++) { /* a jittered grid: rows are apart */
        x[2 * i] = (float)(i % 11 * 1.1 - 5.5 + 0.2 * det(i, 0, 0));
        x[2 * i + 1] = (float)(i / 11 * 1.1 - 5.5 + 0.2 * det(i, 1, 0));
    }
    static const char *const some[] = {
        "laplacian(sigma=1)", "gaussian(sigma=0.6)", "matern(nu=0.5, sigma=1)",
        "gaussian(sigma=1) - gaussian(sigma=3)", "0.5*gaussian(sigma=0.5) - laplacian(sigma=3)"};
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    for (int k = 0; k < 5; k++) {
        source s;
        CHECK(source_dense(ctx, ROWS, D2, x, &s) == KREIN_OK);
        krein_map *map = need(ctx, "nystrom", some[k], M, 4, D2, &s);
        if (!map) return;
        CHECK(map->R == M && map->D <= M);
        krein_kernel *e = kernel_on(ctx, some[k]);
        krein_rows marks = krein__map_landmarks(map);
        double kmm[M * M], work[M * M], kxm[ROWS * M], w[M];
        CHECK(marks.n == M && marks.d == D2);
        for (int64_t i = 0; i < M; i++) { /* landmarks are rows of the data, each one once */
            int found = 0;
            for (int j = 0; j < ROWS; j++)
                found += memcmp(marks.x + i * marks.ld, x + j * D2, D2 * sizeof *x) == 0;
            CHECK(found == 1);
        }
        CHECK(krein__gram_full(ctx, e, &marks, &marks, kmm) == KREIN_OK);
        CHECK(krein__gram_full(ctx, e, &rows, &marks, kxm) == KREIN_OK);
        memcpy(work, kmm, sizeof work);
        CHECK(krein__eigen(ctx, M, work, M, w) == KREIN_OK);
        double least = INFINITY, top = 0;
        int64_t negative = 0;
        for (int i = 0; i < M; i++) {
            least = fmin(least, fabs(w[i])), top = fmax(top, fabs(w[i]));
            negative += w[i] < 0;
        }
        CHECK(least > 1e-4 * top); /* of this test: nothing is cut, rounding is harmless */
        CHECK(map->D == M && map->negative == negative);
        if (k >= 3) CHECK(negative > 0 && negative < M);

        /* Raw features are kernel values, but for rounding: of |x|^2 eps in a squared distance,
         * which the roughest kernel turns into its root where the distance is 0. */
        double *r = need_raw(map, &rows), *rm = need_raw(map, &marks);
        double off = 0, exact = 0, noise = 1e-7, weight = 1;
        for (int64_t i = 0; i < ROWS * M; i++) noise = fmax(noise, fabs(r[i] - kxm[i]));
        CHECK(noise < (strstr(some[k], "nu=0.5") ? 1e-2 : 1e-4));
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < M; j++)
                exact = fmax(exact, fabs(product(map, rm + i * M, rm + j * M) - kmm[i * M + j]));
        for (int64_t i = 0; i < ROWS; i += 3) {
            double alpha[M];
            memcpy(work, kmm, sizeof work);
            memcpy(alpha, kxm + i * M, sizeof alpha);
            test_solve(M, 1, work, alpha);
            double absolute = 0;
            for (int64_t l = 0; l < M; l++) absolute += fabs(alpha[l]);
            weight = fmax(weight, absolute);
            for (int64_t j = 0; j < ROWS; j += 7) {
                double want = 0;
                for (int64_t l = 0; l < M; l++) want += alpha[l] * kxm[j * M + l];
                off = fmax(off, fabs(product(map, r + i * M, r + j * M) - want));
            }
        }
        /* r + e for r and K^-1 r = alpha: (r+e)'K^-1(r+e) is off by 2 e'alpha + e'K^-1 e. */
        double allowed = 2 * noise * weight + M * noise * noise / least + 1e-6 * top;
        if (!(off <= allowed && exact <= allowed))
            printf("%s: %g and %g, allowed %g\n", some[k], off, exact, allowed);
        CHECK(off <= allowed);
        CHECK(exact <= allowed);

        /* apply: the same product from the float32 features */
        float *z = test_new(ROWS * map->D, sizeof *z);
        CHECK(krein__map_apply(map, &rows, z) == KREIN_OK);
        off = 0;
        for (int64_t i = 0; i < ROWS; i += 5)
            for (int64_t j = 0; j < ROWS; j += 5) {
                double sum = 0;
                for (int64_t f = 0; f < map->D; f++)
                    sum += (map->sign ? map->sign[f] : 1) * (double)z[i * map->D + f] *
                           (double)z[j * map->D + f];
                off = fmax(off, fabs(sum - product(map, r + i * M, r + j * M)));
            }
        CHECK(off <= allowed);
        free(z);
        free(r);
        free(rm);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
    free(x);
}

/* A kernel matrix of low rank (smooth, or with equal rows): still exact on the landmarks to what
 * is cut, and finite. */
static void nystrom_low_rank(void) {
    enum { ROWS = 60, D2 = 2 };
    float x[ROWS * D2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < D2; j++) x[i * D2 + j] = (float)det(i / 2, j, 0.2); /* twins */
    static const char *const some[] = {"gaussian(sigma=3)", "linear", "poly(degree=2)",
                                       "gaussian(sigma=1) - gaussian(sigma=3)"};
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    for (int k = 0; k < 4; k++) {
        source s;
        double K[ROWS * ROWS], off = 0, top = 0;
        CHECK(source_dense(ctx, ROWS, D2, x, &s) == KREIN_OK);
        krein_map *map = need(ctx, "nystrom", some[k], ROWS, 4, D2, &s);
        if (!map) return;
        krein_kernel *e = kernel_on(ctx, some[k]);
        CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
        CHECK(map->D < ROWS); /* twins: half of the eigenvalues are zero */
        if (k == 1) CHECK(map->D == 2);
        if (k == 2) CHECK(map->D == 6);
        double *r = need_raw(map, &rows);
        for (int i = 0; i < ROWS * ROWS; i++) top = fmax(top, fabs(K[i]));
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < ROWS; j++)
                off =
                    fmax(off, fabs(product(map, r + i * map->R, r + j * map->R) - K[i * ROWS + j]));
        if (!(off <= 1e-4 * top * ROWS)) printf("%s: %g\n", some[k], off);
        CHECK(off <= 1e-4 * top * ROWS);
        free(r);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
}

static void nystrom_clips(void) {
    enum { ROWS = 50 };
    test_log log;
    krein_ctx *on = test_ctx_full(1, NULL, &log);
    source s;
    CHECK(source_dense(on, ROWS, DIM, points, &s) == KREIN_OK);
    memset(&log, 0, sizeof log);
    krein_map *map = need(on, "nystrom", "laplacian(sigma=2)", 500, 1, DIM, &s);
    if (map) {
        CHECK(map->R == ROWS && map->D <= ROWS);
        CHECK(log.warnings == 1);
        CHECK_HAS(log.text, "500");
        CHECK_HAS(log.text, "50 rows");
    }
    krein__map_destroy(map);
    memset(&log, 0, sizeof log);
    CHECK(krein__stream_rewind(s.stream) == KREIN_OK);
    map = need(on, "nystrom", "laplacian(sigma=2)", ROWS, 1, DIM, &s);
    CHECK(map && log.warnings == 0);
    krein__map_destroy(map);
    source_close(&s);
    krein_ctx_destroy(on);
}

/* exact: raw features are the kernel values at all rows, in double, in the order of the rows. */
static void exact_values(void) {
    enum { ROWS = 210 };
    krein_rows rows = krein__rows_dense(ROWS, DIM, points, DIM);
    double *K = test_new(ROWS * ROWS, sizeof *K);
    for (int k = 0; k < KERNELS; k++) {
        source s;
        CHECK(source_dense(ctx, ROWS, DIM, points, &s) == KREIN_OK);
        krein_map *map = need(ctx, "exact", kernels[k], 0, 4, DIM, &s);
        if (!map) return;
        krein_kernel *e = kernel_on(ctx, kernels[k]);
        CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
        CHECK(map->R == ROWS && map->D == ROWS && !map->mix);
        double *r = need_raw(map, &rows);
        CHECK(memcmp(r, K, ROWS * ROWS * sizeof *r) == 0);
        free(r);
        krein__kernel_destroy(ctx, e);
        krein__map_destroy(map);
        source_close(&s);
    }
    free(K);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    points = test_dense(N, DIM, 0.1);
    RUN(shape);
    RUN(bits);
    RUN(offsets);
    RUN(save_and_load);
    RUN(cost_is_a_bound);
    RUN(refusals);
    RUN(bad_options);
    RUN(too_few_features);
    RUN(every_allocation_fails);
    RUN(unbiased);
    RUN(nested);
    RUN(sparse_rows);
    RUN(reference_features);
    RUN(rff_variance);
    RUN(orf_variance);
    RUN(orf_blocks);
    RUN(nystrom_values);
    RUN(nystrom_low_rank);
    RUN(nystrom_clips);
    RUN(exact_values);
    CHECK(atomic_load(&ctx->held) == 0);
    free(points);
    krein_ctx_destroy(ctx);
    return DONE();
}
