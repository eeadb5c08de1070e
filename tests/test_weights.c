/* test_weights.c -- the kernels of a combination in model files and reports: there and back, older
 * files, damaged ones, without memory. */
#include "model.h"

enum { THREE = 3 };
static const char *const texts[THREE] = {"gaussian(sigma=0.5)", "linear", "ntk(depth=3)"};
static const double values[THREE] = {0.25, 0, 0.75};

static void give_weights(krein_ctx *ctx, krein_model *m, int64_t n) {
    krein_kernel_weight *w = test_new(n, sizeof *w);
    for (int64_t i = 0; i < n; i++) {
        w[i].kernel = (char *)(uintptr_t)texts[i % THREE];
        w[i].weight = i < THREE ? values[i] : 0;
    }
    krein__weights_free(ctx, m->kernels, m->weights);
    m->kernels = n;
    CHECK(krein__weights_copy(ctx, n, w, &m->weights) == KREIN_OK);
    free(w);
}

static krein_model *trained(krein_ctx *ctx) {
    char rows[256];
    krein_model *m = NULL;
    snprintf(rows, sizeof rows, "%s", make_file(TWO, 20));
    if (train_file(ctx, rows, TWO, kernels[0], "rff(D=8)", &m) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    return m;
}

static bool same_weights(int64_t n, const krein_kernel_weight *w) {
    bool same = n == THREE;
    for (int i = 0; i < THREE && same; i++)
        same = w[i].weight == values[i] && strcmp(w[i].kernel, texts[i]) == 0;
    return same;
}

static void there_and_back(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = trained(ctx), *again = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    char one[256], two[256];
    snprintf(one, sizeof one, "%s", test_path("one.krein"));
    snprintf(two, sizeof two, "%s", test_path("two.krein"));
    give_weights(ctx, m, THREE);
    CHECK(krein_model_save(ctx, m, one) == KREIN_OK);
    CHECK(krein_model_load(ctx, one, &again) == KREIN_OK);
    krein_model_describe(again, &info);
    CHECK(same_weights(info.kernels, info.weights));
    CHECK(krein_model_save(ctx, again, two) == KREIN_OK);
    test_bytes a = test_slurp(one), b = test_slurp(two);
    CHECK(test_same(a, b));
    free(a.at);
    free(b.at);
    krein_model_destroy(again);
    krein_model_destroy(m);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* A model of one kernel has no entry of them, as files had before there were combinations. */
static void one_kernel(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = trained(ctx), *again = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_archive *a = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s", test_path("plain.krein"));
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    CHECK(krein__archive_load(ctx, path, &a) == KREIN_OK);
    CHECK(!krein__archive_has(a, "combination"));
    CHECK(krein_model_load(ctx, path, &again) == KREIN_OK);
    krein_model_describe(again, &info);
    CHECK(info.kernels == 0 && info.weights == NULL);
    krein__archive_destroy(a);
    krein_model_destroy(again);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* ---- damage ------------------------------------------------------------- */

static void refused(krein_ctx *ctx, const krein_model *m, const char *why) {
    krein_model *again = NULL;
    const char *path = test_path("damaged.krein");
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    CHECK(krein_model_load(ctx, path, &again) == KREIN_EMODEL && !again);
    CHECK_HAS(krein_message(ctx), why);
    CHECK_HAS(krein_message(ctx), path);
    krein_model_destroy(again);
}

static void damaged(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = trained(ctx);
    static const double wrong[] = {-0.25, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        give_weights(ctx, m, THREE);
        m->weights[1].weight = wrong[i];
        refused(ctx, m, i == 0 ? "its kernels' weights" : "is not finite");
    }
    give_weights(ctx, m, THREE);
    *m->weights[2].kernel = 0;
    refused(ctx, m, "its kernels' weights");
    give_weights(ctx, m, KREIN_WEIGHTS_MAX + 1);
    refused(ctx, m, "out of range");
    krein_model_destroy(m);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* An archive that says `n` kernels and has `named` texts and `weighed` weights (< 0: no entry). */
static krein_status forged(krein_ctx *ctx, int64_t n, int64_t named, int64_t weighed,
                           int64_t *count) {
    krein_archive *a = NULL;
    krein_kernel_weight *w = NULL;
    double weight[THREE];
    const double *pointer = weight;
    char *text[THREE], **list = text;
    const char *path = test_path("forged.krein");
    for (int i = 0; i < THREE; i++) {
        weight[i] = values[i];
        text[i] = (char *)(uintptr_t)texts[i];
    }
    CHECK(krein__archive_create(ctx, &a) == KREIN_OK);
    CHECK(krein__archive_int(a, "combination", &n, 0, 1) == KREIN_OK);
    if (named >= 0) CHECK(krein__archive_texts(a, "combination.kernels", &list, named) == KREIN_OK);
    if (weighed >= 0)
        CHECK(krein__archive_array(a, "combination.weights", KREIN_TYPE_F64, &pointer, weighed) ==
              KREIN_OK);
    CHECK(krein__archive_save(a, path) == KREIN_OK);
    krein__archive_destroy(a);
    a = NULL;
    *count = 0;
    CHECK(krein__archive_load(ctx, path, &a) == KREIN_OK);
    krein_status st = krein__weights_io(a, ctx, count, &w);
    krein__weights_free(ctx, *count, w);
    krein__archive_destroy(a);
    return st;
}

static void counts(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    static const int64_t bad[][3] = {{3, 2, 3},  {3, 3, 2},  {2, 3, 2},  {2, 2, 3},
                                     {3, -1, 3}, {3, 3, -1}, {-1, 3, 3}, {INT64_MAX, 3, 3}};
    int64_t n;
    CHECK(forged(ctx, 3, 3, 3, &n) == KREIN_OK && n == 3);
    CHECK(forged(ctx, 1, 1, 1, &n) == KREIN_OK && n == 1);
    CHECK(forged(ctx, 0, -1, -1, &n) == KREIN_OK && n == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(forged(ctx, bad[i][0], bad[i][1], bad[i][2], &n) == KREIN_EMODEL);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = trained(ctx);
    char path[256], other[256];
    snprintf(path, sizeof path, "%s", test_path("memory.krein"));
    snprintf(other, sizeof other, "%s", test_path("other.krein"));
    give_weights(ctx, m, THREE);
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_status st = krein_model_save(ctx, m, other);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_model *again = NULL;
        krein_status st = krein_model_load(ctx, path, &again);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_model_destroy(again);
    }
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_report r = {.size = sizeof r, .kernels = THREE};
        krein_status st = krein__weights_copy(ctx, THREE, m->weights, &r.weights);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        CHECK(st == KREIN_OK ? same_weights(r.kernels, r.weights) : r.weights == NULL);
        krein_report_clear(ctx, &r);
        CHECK(r.kernels == 0 && r.weights == NULL);
    }
    krein_model_destroy(m);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(there_and_back);
    RUN(one_kernel);
    RUN(damaged);
    RUN(counts);
    RUN(every_allocation_fails);
    return DONE();
}
