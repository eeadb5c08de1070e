/* test_export.c -- models as C programs: what is written for every kind of data, options, failing
 * memory and disk. tests/cli/export.sh compiles the programs and compares their predictions. */
#include "model.h"

static char *read_text(const char *path) {
    int64_t n = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = test_new(1 << 22, 1);
    n = (int64_t)fread(text, 1, (1 << 22) - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static void every_kind(void) {
    static const char *const ways[][2] = {{"gaussian(sigma=1)", "rff(D=16)"},
                                          {"laplacian(sigma=2)", "nystrom(D=8)"},
                                          {"exponential(sigma=2)", "exact"},
                                          {"gaussian(sigma=1)", "deep(D=8, bits=8)"},
                                          {"gaussian(sigma=1)", "nystrom(D=8, bits=8)"},
                                          {"linear", "explicit"}};
    krein_ctx *ctx = test_ctx(1);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            krein_model *m = NULL;
            krein_export_report r = KREIN_SIZED(krein_export_report);
            const char *path = make_file(kind, 40);
            CHECK(train_file(ctx, path, kind, ways[w][0], ways[w][1], &m) == KREIN_OK);
            CHECK(krein_model_export(ctx, m, test_path("m.c"), NULL, &r) == KREIN_OK);
            char *text = read_text(test_path("m.c"));
            CHECK(text && strstr(text, "int model_predict(const float *x, float *scores)"));
            CHECK(text && r.file == (int64_t)strlen(text) && r.bytes > 0 && r.flops > 0);
            CHECK(r.stack > 0 && r.stack < 10000);
            if (kind == SEVERAL) CHECK(text && strstr(text, "\"c d\""));
            free(text);
            krein_model_destroy(m);
        }
    krein_ctx_destroy(ctx);
}

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    krein_export_options o;
    krein_export_report never;
    const char *path = make_file(NUMBERS, 40);
    memset(&never, 0, sizeof never);
    CHECK(train_file(ctx, path, NUMBERS, "gaussian(sigma=1)", "binning", &m) != KREIN_OK);
    CHECK(train_file(ctx, path, NUMBERS, "laplacian(sigma=1)", "binning", &m) == KREIN_OK);
    CHECK(krein_model_export(ctx, m, test_path("no.c"), NULL, NULL) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "cannot be written as a C program: map binning");
    krein_model_destroy(m);
    CHECK(train_file(ctx, path, NUMBERS, "matern(nu=2, sigma=1)", "nystrom(D=8)", &m) == KREIN_OK);
    CHECK(krein_model_export(ctx, m, test_path("no.c"), NULL, NULL) == KREIN_EDATA);
    krein_model_destroy(m);
    CHECK(train_file(ctx, path, NUMBERS, "gaussian(sigma=1)", "rff(D=8)", &m) == KREIN_OK);
    krein_export_options_init(&o);
    o.name = "int";
    CHECK(krein_model_export(ctx, m, test_path("no.c"), &o, NULL) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "name");
    o.name = NULL;
    o.size = 0;
    CHECK(krein_model_export(ctx, m, test_path("no.c"), &o, NULL) == KREIN_EARG);
    CHECK(krein_model_export(ctx, m, test_path("no.c"), NULL, &never) == KREIN_EARG);
    CHECK(access(test_path("no.c"), F_OK) != 0);
    CHECK(krein_model_export(ctx, m, test_path("no/folder.c"), NULL, NULL) == KREIN_EIO);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* A weight that only a double holds makes all sums double; one that is not finite is refused. */
static void weights_beyond_float(void) {
    static const char *const ways[][2] = {{"gaussian(sigma=1)", "rff(D=16)"},
                                          {"gaussian(sigma=1)", "nystrom(D=8)"},
                                          {"gaussian(sigma=1)", "deep(D=8)"}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        krein_model *m = NULL;
        krein_export_report r = KREIN_SIZED(krein_export_report);
        CHECK(train_file(ctx, make_file(NUMBERS, 40), NUMBERS, ways[w][0], ways[w][1], &m) ==
              KREIN_OK);
        CHECK(krein_model_export(ctx, m, test_path("m.c"), NULL, &r) == KREIN_OK && !r.wide);
        for (int64_t i = 0; i < m->map->R * m->k; i++) m->w[i] *= 1e60;
        CHECK(krein_model_export(ctx, m, test_path("m.c"), NULL, &r) == KREIN_OK && r.wide);
        char *text = read_text(test_path("m.c"));
        CHECK(text && !strstr(text, "inf") && strstr(text, "typedef double real"));
        free(text);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* Frequencies are drawn again where that takes less room, and where nothing else is asked for. */
static void drawn_or_stored(void) {
    static const struct {
        const char *kernel, *map;
        int drawn;
    } all[] = {{"gaussian(sigma=1)", "rff(D=512)", 1},
               {"gaussian(sigma=1)", "rff(D=8)", 0},
               {"gaussian(sigma=1)", "orf(D=2048)", 1},
               {"gaussian(sigma=1)", "orf(D=64)", 0},
               {"matern(nu=1.5, sigma=1)", "rff(D=512)", 1},
               {"gaussian(sigma=1)", "fastfood(D=512)", 1},
               {"gaussian(sigma=1)", "pmodel(D=1024, matrix=hadamard)", 1},
               {"gaussian(sigma=1)", "pmodel(D=512)", 0},
               {"gaussian(sigma=1)", "sorf(D=4096)", 1},
               {"gaussian(sigma=1)", "sorf(D=512)", 0},
               {"gaussian(sigma=1)", "qmc(D=512)", 0},
               {"epanechnikov(a=9)", "gorf(D=64)", 0}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t w = 0; w < sizeof all / sizeof *all; w++) {
        krein_model *m = NULL;
        krein_export_options o;
        krein_export_report r = KREIN_SIZED(krein_export_report), s = r;
        CHECK(train_file(ctx, make_file(NUMBERS, 40), NUMBERS, all[w].kernel, all[w].map, &m) ==
              KREIN_OK);
        krein_export_options_init(&o);
        CHECK(krein_model_export(ctx, m, test_path("m.c"), &o, &r) == KREIN_OK);
        CHECK_ELSE(r.drawn == all[w].drawn, "%s\n", all[w].map);
        o.stored = 1;
        CHECK(krein_model_export(ctx, m, test_path("m.c"), &o, &s) == KREIN_OK && !s.drawn);
        CHECK(all[w].drawn ? r.bytes < s.bytes && r.flops > s.flops : r.bytes == s.bytes);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* Signs and swaps are constants in few bits: a structured program is small without draws too. Of
 * many columns orf would need much stack, and is stored. */
static void structure_is_small(void) {
    enum { ROWS = 40, D = 512 };
    static const struct {
        const char *map;
        int columns, drawn;
        double each; /* most bytes of a frequency, beside its two weights */
    } all[] = {{"sorf(D=512)", 5, 0, 0.4}, {"fastfood(D=512)", 5, 0, 9.2},
               {"rff(D=512)", 5, 0, 20},   {"sorf(D=512)", 100, 0, 0.4},
               {"orf(D=512)", 29, 1, 0},   {"orf(D=512)", 30, 0, 120}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t w = 0; w < sizeof all / sizeof *all; w++) {
        krein_model *m = NULL;
        krein_export_options o;
        krein_export_report r = KREIN_SIZED(krein_export_report);
        FILE *f = fopen(test_path("wide.csv"), "w");
        for (int i = 0; f && i < ROWS; i++) {
            fprintf(f, "%d", i % 7);
            for (int j = 0; j < all[w].columns; j++) fprintf(f, ",%d", (i * (j + 3) * 7 + j) % 31);
            fprintf(f, "\n");
        }
        if (f) fclose(f);
        CHECK(train_file(ctx, test_path("wide.csv"), NUMBERS, "gaussian(sigma=9)", all[w].map,
                         &m) == KREIN_OK);
        krein_export_options_init(&o);
        o.stored = !all[w].drawn && strncmp(all[w].map, "orf", 3) != 0;
        CHECK(krein_model_export(ctx, m, test_path("m.c"), &o, &r) == KREIN_OK);
        double columns = (40 + 36.0 * all[w].columns) / (D / 2); /* what encodes them */
        double each = ((double)r.bytes - 4.0 * D * (double)m->k) / (D / 2);
        CHECK_ELSE(r.drawn == all[w].drawn && each < all[w].each + columns,
                   "%s on %d columns: %g bytes\n", all[w].map, all[w].columns, each);
        CHECK(r.stack < 10000);
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

/* A file that was there stays where memory ends. */
static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = NULL;
    static const char *const which[] = {
        "sorf(D=8)",   "nystrom(D=4)",     "deep(D=6, bits=2)", "nystrom(D=4, bits=4)",
        "rff(D=2048)", "fastfood(D=2048)", "orf(D=2048)"};
    for (size_t w = 0; w < sizeof which / sizeof *which; w++) {
        const char *path = make_file(SEVERAL, 30);
        CHECK(train_file(ctx, path, SEVERAL, "gaussian(sigma=1)", which[w], &m) == KREIN_OK);
        TEST_EVERY_ALLOCATION(&memory, k) {
            spit(test_path("m.c"), "old", 3);
            krein_status st = krein_model_export(ctx, m, test_path("m.c"), NULL, NULL);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            char *text = read_text(test_path("m.c"));
            CHECK(text && (strcmp(text, "old") == 0) == (st != KREIN_OK));
            free(text);
        }
        krein_model_destroy(m);
    }
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(every_kind);
    RUN(refusals);
    RUN(weights_beyond_float);
    RUN(drawn_or_stored);
    RUN(structure_is_small);
    RUN(every_allocation_fails);
    return DONE();
}
