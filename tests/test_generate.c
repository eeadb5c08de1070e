/* test_generate.c -- the generators: formulas, formats, determinism, refusals. */
#include "common.h"

#include "generate/generate.h"

#include <zlib.h>

static krein_ctx *ctx;
static const double pi = 3.14159265358979323846;

enum { SPACE = 1 << 23 };
static char text[SPACE], other[SPACE];

static krein_generate_options options(int64_t n, int64_t d, double noise, uint64_t seed) {
    krein_generate_options o;
    krein_generate_options_init(&o);
    o.n = n, o.d = d, o.noise = noise, o.seed = seed;
    return o;
}

/* Generates to `name` and reads the file (gunzipped) back; the length. */
static size_t make(krein_ctx *c, const char *spec, krein_generate_options o, const char *name,
                   char *out) {
    const krein_status st = krein_generate(c, spec, &o, test_path(name));
    if (st != KREIN_OK) printf("%s: %s\n", spec, krein_message(c));
    CHECK(st == KREIN_OK);
    gzFile f = gzopen(test_path(name), "rb");
    if (!f) return 0;
    const int n = gzread(f, out, SPACE - 1);
    gzclose(f);
    CHECK(n > 0 && n < SPACE - 1);
    out[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

static const krein_generator_class *generator(int64_t k) {
    return (const krein_generator_class *)(const void *)krein__generators[k];
}

/* ---- contract: every generator of the table ------------------------------ */

static void contract(void) {
    for (int64_t k = 0; k < krein__generator_count; k++) {
        const krein_generator_class *g = generator(k);
        CHECK(g->cls.name && g->cls.summary && g->cls.cite);
        CHECK(g->d_min >= 1 && g->d_min <= g->d && g->d <= g->d_max && g->noise >= 0);
        const size_t n = make(ctx, g->cls.name, options(500, 0, -1, 7), "a.csv", text);
        CHECK(n == make(ctx, g->cls.name, options(500, 0, -1, 7), "b.csv", other));
        CHECK(memcmp(text, other, n) == 0);
        /* 1000 rows begin with the 500; another seed has another first row. */
        CHECK(make(ctx, g->cls.name, options(1000, 0, -1, 7), "b.csv", other) > n);
        CHECK(memcmp(text, other, n) == 0);
        make(ctx, g->cls.name, options(500, 0, -1, 8), "b.csv", other);
        CHECK(strcmp(text, other) != 0);
        /* The header and the cells: target first, every number finite and as many as named. */
        char *p = strchr(text, '\n');
        CHECK(strncmp(text, "y,x1", 4) == 0);
        int64_t rows = 0;
        for (p++; *p; rows++) {
            for (int64_t j = 0; j <= g->d; j++) {
                char *end;
                const bool set = g->labels && j == 0; /* numbers with | between them, or none */
                const double value = set ? 0 : strtod(p, &end);
                if (set) end = p + strspn(p, "123456|");
                CHECK((end > p || set) && isfinite(value));
                CHECK(j || !g->classification || (value >= 0 && value == floor(value)));
                CHECK(*end == (j < g->d ? ',' : '\n'));
                p = end + 1;
            }
        }
        CHECK(rows == 500);
        test_empty_dir();
    }
}

static void threads_do_not_matter(void) {
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    static const char *const names[] = {"a.csv", "a.npy", "a.libsvm", "a.csv.gz"};
    for (int f = 0; f < 4; f++) {
        size_t n = 0;
        for (int threads = 1; threads <= 7; threads += 3) {
            krein_ctx *c;
            o.threads = threads;
            CHECK(krein_ctx_create(&o, &c) == KREIN_OK);
            const size_t m =
                make(c, "arm", options(60001, 3, -1, 3), names[f], threads == 1 ? text : other);
            CHECK(threads == 1 || (m == n && memcmp(text, other, n) == 0));
            n = m;
            krein_ctx_destroy(c);
        }
    }
    test_empty_dir();
}

/* ---- formulas ------------------------------------------------------------- */

/* Rows of an .npy file: target, then inputs. */
static const float *npy_rows(const char *spec, krein_generate_options o, int64_t d) {
    const size_t n = make(ctx, spec, o, "f.npy", text);
    const size_t start =
        10 + (size_t)(unsigned char)text[8] + 256u * (size_t)(unsigned char)text[9];
    CHECK(start % 64 == 0 && n == start + (size_t)(o.n * (d + 1)) * sizeof(float));
    char want[64];
    snprintf(want, sizeof want, "'shape': (%lld, %lld)", (long long)o.n, (long long)d + 1);
    CHECK_HAS(text + 10, want);
    CHECK_HAS(text + 10, "'descr': '<f4'");
    memcpy(other, text + start, n - start);
    return (const float *)(const void *)other;
}

static void regression_formulas(void) {
    enum { N = 300 };
    const float *r = npy_rows("friedman", options(N, 7, 0, 1), 7);
    for (int i = 0; i < N; i++, r += 8) {
        const double want =
            10 * sin(pi * r[1] * r[2]) + 20 * pow(r[3] - 0.5, 2) + 10.0 * r[4] + 5.0 * r[5];
        CHECK_ABS(r[0], want, 4e-6 * 30);
        for (int j = 1; j < 8; j++) CHECK(r[j] >= 0 && r[j] <= 1);
    }
    r = npy_rows("sine(frequency=2.5)", options(N, 0, 0, 1), 1);
    for (int i = 0; i < N; i++, r += 2) CHECK_ABS(r[0], sin(5 * pi * r[1]), 1e-6);
    /* Two joints by hand: the first turns about z, the second about the new y. */
    r = npy_rows("arm", options(N, 2, 0, 1), 2);
    for (int i = 0; i < N; i++, r += 3) {
        const double c = cos(r[1]), s = sin(r[1]), c2 = cos(r[2]), s2 = sin(r[2]);
        const double x = c + c * c2 - 0.1, y = s + s * c2 - 0.1, z = -s2 - 0.1;
        CHECK_ABS(r[0], sqrt(x * x + y * y + z * z), 1e-6);
        CHECK(fabs(r[1]) <= pi / 2 + 1e-6);
    }
    /* The hand of a stretched arm is two units away; none is farther. */
    r = npy_rows("arm", options(N, 8, 0, 1), 8);
    for (int i = 0; i < N; i++, r += 9) CHECK(r[0] >= 0 && r[0] <= 2 + 0.1 * sqrt(3));
}

static double lambda_series(double q, double u, int terms) {
    double sum = 1;
    for (int k = 1; k <= terms; k++) sum += 2 * cos(2 * pi * k * u) / pow(k, q);
    return sum;
}

/* FORMULAS group 12, and the closed forms against the series. */
static void spline_formula(void) {
    CHECK_ABS(lambda_series(8, .1, 100), 2.6203232067, 1e-9);
    static const char *const specs[] = {"spline(q=2)", "spline(q=4)", "spline",
                                        "spline(q=8)", "spline(q=3)", "spline(q=10)"};
    static const double q[] = {2, 4, 6, 8, 3, 10};
    for (int k = 0; k < 6; k++) {
        const float *r = npy_rows(specs[k], options(40, 0, 0, 5), 1);
        for (int i = 0; i < 40; i++, r += 2)
            CHECK_ABS(r[0], lambda_series(q[k], r[1], q[k] < 3 ? 200000 : 4000),
                      q[k] < 3 ? 2e-5 : 1e-6);
    }
}

static void noise_is_the_residual(void) {
    enum { N = 20000 };
    const float *r = npy_rows("sine", options(N, 0, 0.5, 1), 1);
    double mean = 0, square = 0;
    for (int i = 0; i < N; i++, r += 2) {
        const double e = r[0] - sin(2 * pi * r[1]);
        mean += e / N, square += e * e / N;
    }
    CHECK_Z(mean, 0, 0.25, N);
    CHECK_Z(square, 0.25, 2 * 0.0625, N);
}

static void class_shapes(void) {
    enum { N = 3000 };
    int count = 0;
    const float *r = npy_rows("checkerboard(cells=5)", options(N, 0, 0, 1), 2);
    for (int i = 0; i < N; i++, r += 3) {
        CHECK(r[0] == (float)(((int)floor(5.0 * r[1]) + (int)floor(5.0 * r[2])) % 2));
    }
    r = npy_rows("spiral(turns=3)", options(N, 0, 0, 1), 2);
    for (int i = 0; i < N; i++, r += 3) {
        const double radius = hypot(r[1], r[2]), phi = 6 * pi * radius + pi * r[0];
        CHECK_ABS(r[1], radius * cos(phi), 1e-5);
        CHECK_ABS(r[2], radius * sin(phi), 1e-5);
        count += r[0] == 1;
    }
    CHECK_Z((double)count / N, 0.5, 0.25, N);
    r = npy_rows("moons", options(N, 0, 0, 1), 2);
    for (int i = 0; i < N; i++, r += 3) {
        if (r[0] == 0)
            CHECK(fabs(hypot(r[1], r[2]) - 1) < 1e-6 && r[2] >= -1e-6);
        else
            CHECK(fabs(hypot(r[1] - 1.0, r[2] - 0.5) - 1) < 1e-6 && r[2] <= 0.5 + 1e-6);
    }
    /* Blobs: without noise the centres, the same for every seed, and apart. */
    float centre[3][2] = {{0}};
    for (uint64_t seed = 1; seed < 4; seed++) {
        r = npy_rows("blobs", options(100, 0, 0, seed), 2);
        for (int i = 0; i < 100; i++, r += 3) {
            const int c = (int)r[0];
            CHECK(c >= 0 && c < 3);
            CHECK(centre[c][0] == 0 || (centre[c][0] == r[1] && centre[c][1] == r[2]));
            centre[c][0] = r[1], centre[c][1] = r[2];
        }
    }
    for (int c = 0; c < 3; c++)
        CHECK(hypot(centre[c][0] - centre[(c + 1) % 3][0], centre[c][1] - centre[(c + 1) % 3][1]) >
              3);
}

/* ---- formats --------------------------------------------------------------- */

/* The text reads back as the very float32 of the .npy, and no shorter text does. */
static void shortest_text(void) {
    enum { N = 4000 };
    static float rows[N * 11];
    static const double noises[] = {0, 1, 1e-12, 1e-36, 1e12, 1e30};
    int64_t longer = 0;
    for (int s = 0; s < 6; s++) {
        /* blobs without separation is noise alone: every magnitude is reached */
        const char *spec = s ? "blobs(separation=0)" : "friedman";
        const krein_generate_options o = options(N, 10, noises[s], 2);
        memcpy(rows, npy_rows(spec, o, 10), sizeof rows);
        make(ctx, spec, o, "a.csv", text);
        const char *p = strchr(text, '\n') + 1;
        for (int i = 0; i < N * 11; i++) {
            char *end, shorter[64];
            CHECK(strtof(p, &end) == rows[i] && (float)strtod(p, NULL) == rows[i]);
            int digits = 0; /* significant ones; zeros at the end of a whole number are not */
            for (const char *c = p; c < end && *c != 'e'; c++)
                digits += *c >= '0' && *c <= '9' && (digits || *c != '0');
            const bool point = memchr(p, '.', (size_t)(end - p)) != NULL;
            snprintf(shorter, sizeof shorter, "%.*e", digits > 2 ? digits - 2 : 0, (double)rows[i]);
            /* Exact ties between two float32 are left to the longer text. */
            const double gap = (double)nextafterf(fabsf(rows[i]), INFINITY) - fabs((double)rows[i]);
            const bool inside = fabs(strtod(shorter, NULL) - (double)rows[i]) < 0.4999999 * gap;
            longer += point && digits >= 2 && inside && strtof(shorter, NULL) == rows[i];
            p = end + 1;
        }
        CHECK(*p == 0);
    }
    CHECK(longer == 0);
}

static void libsvm(void) {
    enum { N = 200 };
    static float rows[N * 4];
    memcpy(rows, npy_rows("blobs(classes=4)", options(N, 3, -1, 4), 3), sizeof rows);
    make(ctx, "blobs(classes=4)", options(N, 3, -1, 4), "a.libsvm.gz", text);
    char *p = text;
    for (int i = 0; i < N; i++) {
        CHECK(strtol(p, &p, 10) == (long)rows[4 * i]);
        for (int j = 1; j <= 3; j++) {
            CHECK(strtol(p, &p, 10) == j && *p == ':');
            CHECK(strtof(p + 1, &p) == rows[4 * i + j]);
        }
        CHECK(*p++ == '\n');
    }
    CHECK(*p == 0);
    test_empty_dir();
}

/* ---- refusals ---------------------------------------------------------------- */

static void refused(const char *spec, krein_generate_options o, const char *name, krein_status want,
                    const char *says) {
    const krein_status st = krein_generate(ctx, spec, &o, test_path(name));
    CHECK(st == want);
    CHECK_HAS(krein_message(ctx), says);
    CHECK(test_empty_dir() == 0);
}

static void refusals(void) {
    refused("arm", options(0, 0, -1, 1), "a.csv", KREIN_EARG, "rows must be at least 1, got 0");
    refused("arm", options(-5, 0, -1, 1), "a.csv", KREIN_EARG, "got -5");
    refused("moons", options(9, 3, -1, 1), "a.csv", KREIN_EARG, "inputs is 2, got 3");
    refused("friedman", options(9, 4, -1, 1), "a.csv", KREIN_EARG, "from 5 to 100000, got 4");
    refused("arm", options(9, -1, -1, 1), "a.csv", KREIN_EARG, "got -1");
    refused("arm", options(9, 0, NAN, 1), "a.csv", KREIN_EARG, "noise");
    refused("arm", options(9, 0, INFINITY, 1), "a.csv", KREIN_EARG, "noise");
    refused("arm", options(9, 0, -INFINITY, 1), "a.csv", KREIN_EARG, "noise");
    refused("arm", options(9, 0, 0, 1), "a.xlsx", KREIN_EARG, ".csv, .npy or .libsvm");
    refused("arm", options(9, 0, 0, 1), "a.gz", KREIN_EARG, ".csv, .npy or .libsvm");
    refused("arms", options(9, 0, 0, 1), "a.csv", KREIN_ESPEC, "arm");
    refused("spiral(turns=-1)", options(9, 0, 0, 1), "a.csv", KREIN_ESPEC, "turns");
    refused("spiral(trns=1)", options(9, 0, 0, 1), "a.csv", KREIN_ESPEC, "turns");
    refused("spline(q=1)", options(9, 0, 0, 1), "a.csv", KREIN_ESPEC, "q");
    refused("arm", options(9, 0, 0, 1), "no/such/a.csv", KREIN_EIO, "No such file or directory");
    CHECK(krein_generate(ctx, NULL, NULL, NULL) == KREIN_EARG);
}

static int polls;
static int cancel_later(void *user) {
    (void)user;
    return ++polls > 2;
}

static void cancelled(void) {
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    o.cancel = cancel_later;
    krein_ctx *c;
    CHECK(krein_ctx_create(&o, &c) == KREIN_OK);
    const krein_generate_options g = options(50000000, 0, -1, 1);
    CHECK(krein_generate(c, "arm", &g, test_path("a.npy")) == KREIN_ECANCEL);
    CHECK(polls == 3);
    CHECK(test_empty_dir() == 0);
    krein_ctx_destroy(c);
}

static void allocation_failures(void) {
    test_memory m;
    krein_ctx *poor = test_ctx_with(1, &m);
    const krein_generate_options g = options(100, 0, -1, 1);
    int64_t runs = 0;
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = krein_generate(poor, "spiral(turns=3)", &g, test_path("a.csv.gz"));
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        CHECK(test_empty_dir() == (st == KREIN_OK));
        runs++;
    }
    CHECK(runs > 5);
    krein_ctx_destroy(poor);
}

int main(void) {
    ctx = test_ctx(0);
    RUN(contract);
    RUN(threads_do_not_matter);
    RUN(regression_formulas);
    RUN(spline_formula);
    RUN(noise_is_the_residual);
    RUN(class_shapes);
    RUN(shortest_text);
    RUN(libsvm);
    RUN(refusals);
    RUN(cancelled);
    RUN(allocation_failures);
    krein_ctx_destroy(ctx);
    return DONE();
}
