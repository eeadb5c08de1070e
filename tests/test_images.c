/* test_images.c -- rows that are images: files, arrays, scaling by channel, bytes that stay bytes,
 * what is refused. */
#include "images.h"

#include "stream/data.h"

typedef struct opened {
    krein_ctx *ctx;
    krein_data *data;
    krein_encoding e;
    krein_stream *s;
} opened;

static krein_data_options plain(const char *image) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.image = image;
    return o;
}

/* Scans the data, without labels, and opens the stream. */
static krein_status begin(opened *t) {
    krein_status st = krein__data_scan(t->data, KREIN_LABELS_IGNORED, 0, 1, &t->e);
    if (st == KREIN_OK) st = krein__stream_open(t->data, &t->e, KREIN_PART_TRAIN, &t->s);
    return st;
}
static void end(opened *t) {
    krein__stream_close(t->s);
    krein__encoding_clear(t->ctx, &t->e);
    krein_data_close(t->data);
    krein_ctx_destroy(t->ctx);
}

static void open_file(opened *t, const char *path, const krein_data_options *o) {
    *t = (opened){.ctx = test_ctx(2)};
    CHECK_ELSE(krein_data_open(t->ctx, path, o, &t->data) == KREIN_OK, "%s\n",
               krein_message(t->ctx));
    CHECK_ELSE(begin(t) == KREIN_OK, "%s\n", krein_message(t->ctx));
}

static krein_rows_view view_of(const images *m) {
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = m->n;
    v.d = image_size(m);
    v.x = m->x;
    v.type = KREIN_UINT8;
    return v;
}

/* All rows, and that blocks have the bytes where they should. */
static float *all_rows(opened *t, const images *m, bool bytes) {
    int64_t d = image_size(m), at = 0;
    float *x = test_new(m->n * d, sizeof *x);
    krein_block b;
    CHECK(krein__stream_in_bytes(t->s) == bytes);
    CHECK(krein__stream_rewind(t->s) == KREIN_OK);
    while (krein__stream_next(t->s, &b) == KREIN_OK && b.x.n > 0) {
        for (int64_t i = 0; i < b.x.n; i++) krein__row_copy(&b.x, i, x + (at + i) * d);
        CHECK((b.byte != NULL) == bytes);
        if (b.byte) CHECK(memcmp(b.byte, m->x + at * d, (size_t)(b.x.n * d)) == 0);
        at += b.x.n;
    }
    CHECK(at == m->n);
    return x;
}

static bool same(const images *m, const float *a, const float *b) {
    return memcmp(a, b, (size_t)(m->n * image_size(m)) * sizeof *a) == 0;
}

/* Mean and deviation of a channel. */
static void channel(const images *m, int64_t k, double *mean, double *deviation) {
    double sum = 0, square = 0, n = (double)(m->n * m->h * m->w);
    for (int64_t i = k; i < m->n * image_size(m); i += m->c) sum += m->x[i];
    for (int64_t i = k; i < m->n * image_size(m); i += m->c) square += pow(m->x[i] - sum / n, 2);
    *mean = sum / n;
    *deviation = sqrt(square / n);
}

/* ---- the same rows from everywhere -------------------------------------- */

static void scaling(void) {
    images m = stripes(2500, 6, 5, 3, 3, 1);
    krein_data_options o = plain(NULL);
    opened t;
    open_file(&t, write_images("a.npy", &m), &o);
    float *x = all_rows(&t, &m, true);
    CHECK(t.e.image[0] == 6 && t.e.image[1] == 5 && t.e.image[2] == 3);
    for (int64_t k = 0; k < 3; k++) {
        double mean, deviation;
        channel(&m, k, &mean, &deviation);
        for (int64_t i = k; i < m.n * 90; i += 3)
            CHECK_ABS((double)x[i], (m.x[i] - mean) / deviation, 2e-5);
    }
    free(x);
    end(&t);
    o.scale = KREIN_SCALE_MINMAX;
    open_file(&t, test_path("a.npy"), &o);
    x = all_rows(&t, &m, true);
    double low[3] = {256, 256, 256}, high[3] = {0};
    for (int64_t i = 0; i < m.n * 90; i++) {
        low[i % 3] = fmin(low[i % 3], m.x[i]);
        high[i % 3] = fmax(high[i % 3], m.x[i]);
    }
    for (int64_t i = 0; i < m.n * 90; i++)
        CHECK_ABS((double)x[i], (m.x[i] - low[i % 3]) / (high[i % 3] - low[i % 3]), 1e-6);
    free(x);
    end(&t);
    o.scale = KREIN_SCALE_NONE;
    open_file(&t, test_path("a.npy"), &o);
    x = all_rows(&t, &m, true);
    for (int64_t i = 0; i < m.n * 90; i++) CHECK(x[i] == (float)m.x[i]);
    free(x);
    end(&t);
    o.scale = KREIN_SCALE_UNIT; /* not an affine function of the bytes */
    open_file(&t, test_path("a.npy"), &o);
    free(all_rows(&t, &m, false));
    end(&t);
    drop_images(&m);
}

/* Files of bytes and of floats, with and without a shape, and arrays: the same bits. */
static void sources(void) {
    images m = stripes(300, 4, 5, 2, 2, 2);
    float *f = as_floats(&m);
    double *wide = test_new(m.n * 40, sizeof *wide);
    uint8_t *labelled = test_new(m.n * 41, 1), *turned = test_new(m.n * 40, 1);
    for (int64_t i = 0; i < m.n * 40; i++) wide[i] = (double)f[i];
    for (int64_t i = 0; i < m.n; i++) {
        labelled[41 * i] = (uint8_t)m.y[i];
        memcpy(labelled + 41 * i + 1, m.x + 40 * i, 40);
        for (int64_t j = 0; j < 40; j++) turned[j * m.n + i] = m.x[i * 40 + j];
    }
    krein_data_options none = plain(NULL), o = plain("4x5x2");
    opened t;
    open_file(&t, write_images("a.npy", &m), &none);
    float *x = all_rows(&t, &m, true), *other;
    CHECK(t.data->in_memory && t.data->segment[0].raw.byte && !t.data->segment[0].raw.num);
    end(&t);
    write_npy("b.npy", "|u1", "(300, 40)", false, m.x, 12000);
    write_npy("c.npy", "<f4", "(300, 40)", false, f, 48000);
    write_npy("d.npy", "<f8", "(300, 4, 5, 2)", false, wide, 96000);
    write_npy("e.npy", "|u1", "(300, 40)", true, turned, 12000);
    write_npy("f.npy", "|u1", "(300, 41)", false, labelled, 12300);
    const struct {
        const char *file;
        bool bytes;
        const krein_data_options *o;
    } all[] = {{"a.npy", true, &o},     {"b.npy", true, &o}, {"c.npy", false, &o},
               {"d.npy", false, &none}, {"e.npy", true, &o}, {"f.npy", true, &o}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_file(&t, test_path(all[i].file), all[i].o);
        other = all_rows(&t, &m, all[i].bytes);
        CHECK_ELSE(same(&m, x, other), "%s\n", all[i].file);
        free(other);
        end(&t);
    }
    krein_rows_view v = view_of(&m);
    for (int k = 0; k < 2; k++) { /* rows, then columns */
        t = (opened){.ctx = test_ctx(2)};
        CHECK(krein_data_from_rows(t.ctx, &v, &o, &t.data) == KREIN_OK);
        CHECK(begin(&t) == KREIN_OK);
        other = all_rows(&t, &m, true);
        CHECK(same(&m, x, other));
        CHECK(!t.data->in_memory); /* the caller has them */
        free(other);
        end(&t);
        v.x = turned;
        v.row_stride = 1;
        v.column_stride = m.n;
    }
    free(x), free(f), free(wide), free(labelled), free(turned);
    drop_images(&m);
}

/* Bytes without a shape are numbers as before, with a shift. */
static void no_images(void) {
    images m = stripes(300, 4, 5, 1, 2, 3);
    float *f = as_floats(&m), *x, *other;
    krein_data_options o = plain(NULL);
    opened t;
    open_file(&t, write_npy("a.npy", "|u1", "(300, 20)", false, m.x, 6000), &o);
    CHECK(t.e.image[0] == 0 && t.e.d == 19); /* the first column is the label */
    end(&t);
    o.label = "none";
    open_file(&t, test_path("a.npy"), &o);
    x = all_rows(&t, &m, false);
    end(&t);
    open_file(&t, write_npy("b.npy", "<f4", "(300, 20)", false, f, 24000), &o);
    other = all_rows(&t, &m, false);
    CHECK(same(&m, x, other));
    end(&t);
    free(x), free(other), free(f);
    /* three dimensions: one channel */
    o.label = NULL;
    open_file(&t, write_npy("c.npy", "|u1", "(300, 4, 5)", false, m.x, 6000), &o);
    CHECK(t.e.image[0] == 4 && t.e.image[1] == 5 && t.e.image[2] == 1);
    free(all_rows(&t, &m, true));
    end(&t);
    drop_images(&m);
}

/* Files that match a pattern, of one type or of two. */
static void several_files(void) {
    images m = stripes(200, 4, 4, 2, 2, 4);
    float *f = as_floats(&m);
    krein_data_options o = plain(NULL);
    opened t;
    open_file(&t, write_images("whole.npy", &m), &o);
    float *x = all_rows(&t, &m, true), *other;
    end(&t);
    write_npy("part1.npy", "|u1", "(80, 4, 4, 2)", false, m.x, 80 * 32);
    for (int k = 0; k < 2; k++) {
        if (k == 0) write_npy("part2.npy", "|u1", "(120, 4, 4, 2)", false, m.x + 80 * 32, 120 * 32);
        if (k == 1)
            write_npy("part2.npy", "<f4", "(120, 4, 4, 2)", false, f + 80 * 32, 4 * 120 * 32);
        open_file(&t, test_path("part*.npy"), &o);
        other = all_rows(&t, &m, false);
        CHECK(same(&m, x, other));
        free(other);
        end(&t);
    }
    write_npy("part2.npy", "|u1", "(60, 4, 8, 2)", false, m.x, 60 * 64);
    t = (opened){.ctx = test_ctx(1)};
    CHECK(krein_data_open(t.ctx, test_path("part*.npy"), &o, &t.data) == KREIN_EFORMAT);
    krein_ctx_destroy(t.ctx);
    free(x), free(f);
    drop_images(&m);
}

/* ---- memory ------------------------------------------------------------- */

static void in_memory(void) {
    enum { N = 4000, D = 16 * 16 * 3 };
    images m = stripes(N, 16, 16, 3, 2, 5);
    krein_data_options o = plain(NULL);
    opened t;
    open_file(&t, write_images("a.npy", &m), &o);
    free(all_rows(&t, &m, true));
    /* Rows, a ninth for other batches, the blocks of the stream, and the buffer for reading. */
    double held = (double)atomic_load(&t.ctx->held), block = 5.0 * D * (double)krein__block_rows(D);
    CHECK_ELSE(held < 1.3 * N * D + block + 4.3e6, "%.0f bytes\n", held);
    end(&t);
    drop_images(&m);
}

static void failing_allocations(void) {
    images m = stripes(60, 4, 4, 1, 2, 6);
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    const char *path = write_images("a.npy", &m);
    TEST_EVERY_ALLOCATION(&memory, k) {
        opened t = {.ctx = ctx};
        krein_block b;
        krein_data_options o = plain(NULL);
        krein_status st = krein_data_open(ctx, path, &o, &t.data);
        if (st == KREIN_OK) st = begin(&t);
        if (st == KREIN_OK) st = krein__stream_next(t.s, &b);
        CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
        krein__stream_close(t.s);
        krein__encoding_clear(ctx, &t.e);
        krein_data_close(t.data);
    }
    krein_ctx_destroy(ctx);
    drop_images(&m);
}

/* ---- what goes wrong ---------------------------------------------------- */

static void refusals(void) {
    images m = stripes(12, 4, 4, 2, 2, 7);
    float *f = as_floats(&m);
    f[77] = NAN;
    write_images("a.npy", &m);
    write_npy("flat.npy", "|u1", "(12, 32)", false, m.x, 384);
    write_npy("fortran.npy", "|u1", "(12, 4, 4, 2)", true, m.x, 384);
    write_npy("five.npy", "|u1", "(12, 4, 4, 2, 1)", false, m.x, 384);
    write_npy("short.npy", "|u1", "(13, 4, 4, 2)", false, m.x, 384);
    write_npy("large.npy", "|u1", "(12, 4611686018427387904, 4, 2)", false, m.x, 384);
    write_npy("empty.npy", "|u1", "(12, 0, 4, 2)", false, m.x, 0);
    write_npy("nan.npy", "<f4", "(12, 4, 4, 2)", false, f, 1536);
    test_write("text.csv", "a,b,c,d\nu,1,2,3\nv,3,4,5\n");
    test_write("sparse.svm", "1 1:2 4:3\n0 2:1\n");
    static const struct {
        const char *file, *image;
        krein_status status;
        const char *part;
    } all[] = {{"flat.npy", "4x", KREIN_EARG, "such as 32x32x3"},
               {"flat.npy", "32", KREIN_EARG, "such as 32x32x3"},
               {"flat.npy", "4x4x2x1", KREIN_EARG, "4x4x2x1"},
               {"flat.npy", "0x4x2", KREIN_EARG, "0x4x2"},
               {"flat.npy", "-4x4x2", KREIN_EARG, "-4x4x2"},
               {"flat.npy", "4x4x99999999999999999999", KREIN_EARG, "no more than 65536"},
               {"flat.npy", "4x4x3", KREIN_EDATA, "has 48 numbers, and the rows have 31 inputs"},
               {"flat.npy", "8x8", KREIN_EDATA, "8x8x1 has 64 numbers"},
               {"a.npy", "4x2x4", KREIN_EARG, "has images of 4x4x2, and `image` says 4x2x4"},
               {"fortran.npy", NULL, KREIN_EFORMAT, "ascontiguousarray"},
               {"five.npy", NULL, KREIN_EFORMAT, "5 dimensions"},
               {"short.npy", NULL, KREIN_EFORMAT, "shorter"},
               {"large.npy", NULL, KREIN_EFORMAT, "too large"},
               {"empty.npy", NULL, KREIN_EFORMAT, "no columns"},
               {"nan.npy", NULL, KREIN_EDATA, "`missing=mean`"},
               {"text.csv", "1x2x2", KREIN_EDATA, "images are numbers"},
               {"sparse.svm", "1x2x2", KREIN_EARG, "dense rows"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        opened t = {.ctx = test_ctx(1)};
        krein_data_options o = plain(all[i].image);
        if (strstr(all[i].file, "text")) o.label = "none";
        krein_status st = krein_data_open(t.ctx, test_path(all[i].file), &o, &t.data);
        if (st == KREIN_OK) st = begin(&t);
        CHECK_ELSE(st == all[i].status, "%s %s: %d %s\n", all[i].file,
                   all[i].image ? all[i].image : "", (int)st, krein_message(t.ctx));
        CHECK_HAS(krein_message(t.ctx), all[i].part);
        end(&t);
    }
    /* Missing pixels as the mean of their channel. */
    krein_data_options o = plain(NULL);
    o.missing = KREIN_MISSING_MEAN;
    opened t;
    open_file(&t, test_path("nan.npy"), &o);
    float *x = all_rows(&t, &m, false);
    CHECK_ABS((double)x[77], 0, 1e-6);
    free(x), free(f);
    end(&t);
    drop_images(&m);
}

/* Data for an encoding of other images. */
static void matching(void) {
    images m = stripes(40, 4, 4, 2, 2, 8);
    krein_data_options o = plain(NULL);
    opened t;
    open_file(&t, write_images("a.npy", &m), &o);
    write_npy("flat.npy", "|u1", "(40, 32)", false, m.x, 1280);
    write_npy("other.npy", "|u1", "(40, 2, 4, 4)", false, m.x, 1280);
    write_npy("less.npy", "|u1", "(40, 31)", false, m.x, 1240);
    static const struct {
        const char *file;
        krein_status status;
        const char *part;
    } all[] = {{"a.npy", KREIN_OK, ""},
               {"flat.npy", KREIN_OK, ""},
               {"other.npy", KREIN_EDATA, "2x4x4, and the model was trained on 4x4x2"},
               {"less.npy", KREIN_EDATA, "31 columns"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        krein_data *data = NULL;
        CHECK(krein_data_open(t.ctx, test_path(all[i].file), &o, &data) == KREIN_OK);
        krein_status st = krein__data_match(data, &t.e, false);
        CHECK_ELSE(st == all[i].status, "%s: %s\n", all[i].file, krein_message(t.ctx));
        if (st != KREIN_OK) CHECK_HAS(krein_message(t.ctx), all[i].part);
        krein_data_close(data);
    }
    end(&t);
    drop_images(&m);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(scaling);
    RUN(sources);
    RUN(no_images);
    RUN(several_files);
    RUN(in_memory);
    RUN(failing_allocations);
    RUN(refusals);
    RUN(matching);
    return DONE();
}
