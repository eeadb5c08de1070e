/* test_model.c -- model files: saved and loaded to the bit; without memory or disk. Damaged and
 * forged ones are in test_damage.c, those of earlier versions in test_frozen.c.
 */
#include "model.h"

/* ---- helpers ------------------------------------------------------------ */

static bool same_file(const char *a, const char *b) {
    test_bytes x = test_slurp(a), y = test_slurp(b);
    bool same = test_same(x, y);
    free(x.at);
    free(y.at);
    return same;
}

/* Scores of every row, and labels. */
typedef struct scores {
    int64_t n, k, label[400];
    double value[400 * 8];
} scores;

static krein_status collect(void *user, const krein_prediction *p) {
    scores *s = user;
    if (s->n >= 400 || p->nscores > 8) return KREIN_EARG;
    CHECK(p->row == s->n);
    s->k = p->nscores;
    s->label[s->n] = p->label;
    for (int64_t c = 0; c < p->nscores; c++)
        s->value[s->n * s->k + c] = p->scores ? p->scores[c] : NAN;
    s->n++;
    return KREIN_OK;
}

static krein_status predict_file(krein_ctx *ctx, const krein_model *m, const char *path,
                                 scores *s) {
    krein_data *data = NULL;
    memset(s, 0, sizeof *s);
    krein_status st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_predict(ctx, m, data, collect, s);
    krein_data_close(data);
    return st;
}

/* ---- there and back ----------------------------------------------------- */

static void there_and_back(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(2, &memory);
    scores *a = test_new(1, sizeof *a), *b = test_new(1, sizeof *b);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t map = 0; map < sizeof maps / sizeof *maps; map++)
            for (int kernel = 0; kernel < 2; kernel++) {
                char rows[256], one[256], two[256];
                krein_model *m = NULL, *again = NULL;
                snprintf(rows, sizeof rows, "%s", make_file(kind, 60));
                snprintf(one, sizeof one, "%s", test_path("one.krein"));
                snprintf(two, sizeof two, "%s", test_path("two.krein"));
                krein_status st = train_file(ctx, rows, kind, kernels[kernel], maps[map], &m);
                if (st != KREIN_OK) printf("%d %s: %s\n", kind, maps[map], krein_message(ctx));
                CHECK(st == KREIN_OK);
                if (st != KREIN_OK) continue;
                CHECK(krein_model_save(ctx, m, one) == KREIN_OK);
                CHECK(krein_model_load(ctx, one, &again) == KREIN_OK);
                if (!again) printf("%d %s: %s\n", kind, maps[map], krein_message(ctx));
                if (!again) {
                    krein_model_destroy(m);
                    continue;
                }
                CHECK(krein_model_save(ctx, again, two) == KREIN_OK);
                CHECK(same_file(one, two));
                CHECK(predict_file(ctx, m, rows, a) == KREIN_OK && a->n == 60);
                CHECK(predict_file(ctx, again, rows, b) == KREIN_OK);
                CHECK(memcmp(a, b, sizeof *a) == 0);
                for (int64_t i = 0; i < a->n * a->k; i++) CHECK(isfinite(a->value[i]));
                krein_model_info x = KREIN_SIZED(krein_model_info),
                                 y = KREIN_SIZED(krein_model_info);
                krein_model_describe(m, &x);
                krein_model_describe(again, &y);
                CHECK(x.task == y.task && x.n == y.n && x.d == y.d && x.D == y.D &&
                      x.inputs == y.inputs && x.outputs == y.outputs && x.classes == y.classes &&
                      x.lambda == y.lambda && x.seed == y.seed && x.negative == y.negative);
                CHECK(strcmp(x.kernel, y.kernel) == 0 && strcmp(x.map, y.map) == 0 &&
                      strcmp(x.learner, y.learner) == 0 && strcmp(x.scale, y.scale) == 0);
                CHECK(x.n == 60 && x.lambda == .01);
                test_bytes file = test_slurp(one);
                CHECK(x.bytes == 0 && y.bytes == file.n); /* it is not changed by saving */
                free(file.at);
                for (int64_t c = 0; c < x.classes; c++)
                    CHECK(strcmp(krein_model_class(m, c), krein_model_class(again, c)) == 0);
                CHECK(krein_model_class(again, x.classes) == NULL && !krein_model_class(again, -1));
                if (kind == SEVERAL) {
                    CHECK(x.classes == 3 && strcmp(krein_model_class(again, 2), "c d") == 0);
                    CHECK(strcmp(krein_model_column(again, 2), "colour") == 0);
                    CHECK(krein_model_column(again, 4) == NULL);
                }
                krein_model_destroy(m);
                krein_model_destroy(again);
            }
    free(a);
    free(b);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* A model takes raw rows: of arrays, of a file with other columns in between. */
static void arrays_and_files_agree(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[9000] = "y,a,b\n", moved[9000] = "b,a\n";
    static float x[80 * 2];
    for (int i = 0; i < 80; i++) {
        double a = 1000 + det(i, 0, 0), b = det(i, 1, 0);
        a = (double)(x[2 * i] = (float)a);
        b = (double)(x[2 * i + 1] = (float)b);
        snprintf(text + strlen(text), 80, "%.9g,%.9g,%.9g\n", det(i, 0, 0) * b, a, b);
        snprintf(moved + strlen(moved), 80, "%.9g,%.9g\n", b, a);
    }
    for (size_t map = 0; map < 4; map++) {
        krein_model *m = NULL;
        scores *s = test_new(1, sizeof *s), *t = test_new(1, sizeof *t);
        double value[80];
        char one[256], two[256];
        snprintf(one, sizeof one, "%s", test_write("one.csv", text));
        snprintf(two, sizeof two, "%s", test_write("two.csv", moved));
        CHECK(train_file(ctx, one, NUMBERS, kernels[0], maps[map], &m) == KREIN_OK);
        CHECK(predict_file(ctx, m, one, s) == KREIN_OK && s->n == 80);
        CHECK(predict_file(ctx, m, two, t) == KREIN_OK && t->n == 80);
        CHECK(memcmp(s->value, t->value, 80 * sizeof(double)) == 0);
        CHECK(krein_predict_dense(ctx, m, 80, 2, x, 2, value) == KREIN_OK);
        for (int i = 0; i < 80; i++) CHECK_ABS(value[i], s->value[i], 1e-3);
        CHECK(krein_predict_dense(ctx, m, 80, 1, x, 2, value) == KREIN_EDATA);
        krein_model_destroy(m);
        free(s);
        free(t);
    }
    krein_ctx_destroy(ctx);
}

/* Text in columns that are no inputs (classes, ids, groups) is no reason to refuse arrays. */
static void arrays_for_text_classes(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[9000] = "y,a,b\n", path[256];
    static float x[60 * 2];
    for (int i = 0; i < 60; i++) {
        x[2 * i] = (float)det(i, 0, 0);
        x[2 * i + 1] = (float)det(i, 1, 0);
        snprintf(text + strlen(text), 80, "%s,%.9g,%.9g\n", x[2 * i] > 0 ? "yes" : "no",
                 (double)x[2 * i], (double)x[2 * i + 1]);
    }
    krein_model *m = NULL;
    scores *s = test_new(1, sizeof *s);
    double value[60];
    snprintf(path, sizeof path, "%s", test_write("text.csv", text));
    CHECK(train_file(ctx, path, TWO, kernels[0], "exact", &m) == KREIN_OK);
    CHECK(predict_file(ctx, m, path, s) == KREIN_OK && s->n == 60);
    krein_status st = krein_predict_dense(ctx, m, 60, 2, x, 2, value);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    for (int i = 0; i < 60 && st == KREIN_OK; i++) CHECK_ABS(value[i], s->value[i], 1e-5);
    krein_model_destroy(m);
    free(s);
    krein_ctx_destroy(ctx);
}

/* A row's prediction does not depend on the rows around it. */
static void rows_stand_alone(void) {
    krein_ctx *ctx = test_ctx(2);
    for (size_t map = 0; map < sizeof maps / sizeof *maps; map++)
        for (int kind = NUMBERS; kind <= OUTPUTS; kind++) {
            krein_model *m = NULL;
            scores *s = test_new(1, sizeof *s), *one = test_new(1, sizeof *one);
            char rows[256];
            snprintf(rows, sizeof rows, "%s", make_file(kind, 300));
            CHECK(train_file(ctx, rows, kind, kernels[0], maps[map], &m) == KREIN_OK);
            CHECK(predict_file(ctx, m, rows, s) == KREIN_OK && s->n == 300);
            test_bytes file = test_slurp(rows);
            char *head_end = strchr(file.at, '\n') + 1, *line = head_end, name[32];
            for (int i = 0; i < 300; i++) {
                char *end = strchr(line, '\n') + 1;
                if (i % 50 == 7) {
                    snprintf(name, sizeof name, "row.csv");
                    char *text = test_new(file.n, 1);
                    memcpy(text, file.at, (size_t)(head_end - file.at));
                    memcpy(text + (head_end - file.at), line, (size_t)(end - line));
                    CHECK(predict_file(ctx, m, test_write(name, text), one) == KREIN_OK);
                    CHECK(one->n == 1 && memcmp(one->value, s->value + i * s->k,
                                                (size_t)s->k * sizeof(double)) == 0);
                    free(text);
                }
                line = end;
            }
            free(file.at);
            free(s);
            free(one);
            krein_model_destroy(m);
        }
    krein_ctx_destroy(ctx);
}

/* ---- memory and disk ---------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    char rows[256], path[256], old[256];
    snprintf(path, sizeof path, "%s", test_path("memory.krein"));
    snprintf(old, sizeof old, "%s", test_path("old.krein"));
    for (int kind = 0; kind < KINDS; kind++) {
        krein_model *m = NULL;
        snprintf(rows, sizeof rows, "%s", make_file(kind, 15));
        CHECK(train_file(ctx, rows, kind, kernels[1], kind % 2 ? "rff(D=8)" : "nystrom(D=6)", &m) ==
              KREIN_OK);
        CHECK(krein_model_save(ctx, m, old) == KREIN_OK);
        TEST_EVERY_ALLOCATION(&memory, k) {
            spit(path, "old", 3);
            krein_status st = krein_model_save(ctx, m, path);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            test_bytes now = test_slurp(path);
            if (st != KREIN_OK) CHECK(now.n == 3 && memcmp(now.at, "old", 3) == 0);
            free(now.at);
        }
        CHECK(same_file(path, old));
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_model *again = NULL;
            krein_status st = krein_model_load(ctx, old, &again);
            if (test_has_failed(&memory) && st != KREIN_EMEMORY)
                printf("kind %d, allocation %lld: status %d %s\n", kind, (long long)k, (int)st,
                       krein_message(ctx));
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            CHECK((again != NULL) == (st == KREIN_OK));
            krein_model_destroy(again);
        }
        krein_model_destroy(m);
    }
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

static int files_in(const char *dir) {
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    if (d) closedir(d);
    return n;
}

static void nowhere_to_write(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    char rows[256], folder[256], path[300];
    snprintf(rows, sizeof rows, "%s", make_file(NUMBERS, 20));
    CHECK(train_file(ctx, rows, NUMBERS, kernels[0], "exact", &m) == KREIN_OK);
    snprintf(folder, sizeof folder, "%s", test_path("none"));
    snprintf(path, sizeof path, "%s/m.krein", folder);
    CHECK(krein_model_save(ctx, m, path) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), path);
    /* The name is a folder. */
    CHECK(mkdir(folder, 0755) == 0);
    int before = files_in(test_dir());
    CHECK(krein_model_save(ctx, m, folder) == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), folder);
    CHECK(files_in(test_dir()) == before); /* nothing is left lying around */
    /* A folder that may not be written to keeps what it has. */
    spit(path, "old", 3);
    CHECK(chmod(folder, 0555) == 0);
    if (geteuid() != 0) {
        CHECK(krein_model_save(ctx, m, path) == KREIN_EIO);
        test_bytes now = test_slurp(path);
        CHECK(now.n == 3 && memcmp(now.at, "old", 3) == 0);
        free(now.at);
    }
    chmod(folder, 0755);
    unlink(path);
    rmdir(folder);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* Threads share a model while one of them saves it. This number cannot be stored to. */
static void saving_stores_nothing(void) {
    static const int64_t fixed = 3;
    krein_ctx *ctx = test_ctx(1);
    krein_archive *a = NULL;
    CHECK(krein__archive_create(ctx, &a) == KREIN_OK);
    CHECK(krein__archive_int(a, "fixed", (int64_t *)(uintptr_t)&fixed, 0, 9) == KREIN_OK);
    krein__archive_destroy(a);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(there_and_back);
    RUN(arrays_and_files_agree);
    RUN(arrays_for_text_classes);
    RUN(rows_stand_alone);
    RUN(every_allocation_fails);
    RUN(nowhere_to_write);
    RUN(saving_stores_nothing);
    return DONE();
}
