/* test_frozen.c -- models of released versions are read and predict what they did.
 *
 * tests/models/VERSION has models that the program of that version wrote, and its predictions;
 * tests/models/make.sh writes such a folder and says what is in it. Every file there is tried.
 * COVERS lists the learners, maps and kernels of the version: one without a model is an error.
 */
#include "common.h"

/* Labels are compared exactly; numbers by |got - want| <= TOLERANCE max(1, |want|). Features and
 * kernel values are float32, and their sums are in another order on another CPU: 8e-7 at most over
 * the kernels that OpenBLAS has for x86. TEST_TIMES=1 shows the largest error of each model. */
#define TOLERANCE 5e-6

/* Specs of the models of a folder, one a line. */
typedef struct specs {
    char learner[1 << 15], map[1 << 15], kernel[1 << 15];
} specs;

/* What is left of the expected lines while the rows go by. */
typedef struct expected {
    const krein_model *model;
    const char *name;
    char *line;
    int64_t rows;
    double worst;
    bool wrong;
} expected;

static void complain(expected *e, const char *what) {
    printf("%s, row %lld: %s\n", e->name, (long long)e->rows, what);
    e->wrong = true;
}

static void number_is(expected *e, double got, char **cell) {
    double want = *cell ? strtod(*cell, NULL) : NAN;
    double error = fabs(got - want) / fmax(1, fabs(want));
    if (!(error <= TOLERANCE)) {
        printf("%s, row %lld: %.9g, want %.9g\n", e->name, (long long)e->rows, got, want);
        e->wrong = true;
    } else if (error > e->worst) {
        e->worst = error;
    }
    *cell = *cell ? strchr(*cell, ',') : NULL;
    if (*cell) ++*cell;
}

/* The names of a set of labels, | between them. */
static const char *set_of(const expected *e, const krein_prediction *p) {
    static char text[256];
    *text = 0;
    for (int64_t c = 0; c < p->nclasses; c++)
        if (p->labels[c])
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "|" : "",
                     krein_model_class(e->model, c));
    return text;
}

/* class,score,...,probability,...: models of 0.1 that are older than make.sh have the class alone.
 */
static char *class_is(expected *e, const krein_prediction *p, char *cell) {
    const char *class = p->labels ? set_of(e, p) : krein_model_class(e->model, p->label);
    char *rest = strchr(cell, ',');
    if (rest) *rest++ = 0;
    if (!class || strcmp(class, cell) != 0) {
        printf("%s, row %lld: %s, want %s\n", e->name, (long long)e->rows, class ? class : "none",
               cell);
        e->wrong = true;
    }
    if (!rest) return NULL;
    for (int64_t k = 0; k < p->nscores; k++) number_is(e, p->scores[k], &rest);
    for (int64_t k = 0; p->probabilities && k < p->nclasses; k++)
        number_is(e, p->probabilities[k], &rest);
    return rest;
}

static krein_status compare(void *user, const krein_prediction *p) {
    expected *e = user;
    char *cell = e->line, *end = strchr(e->line, '\n');
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_model_describe(e->model, &info);
    e->rows++;
    if (!end) { /* more rows than lines */
        complain(e, "a row without a line");
        return KREIN_OK;
    }
    *end = 0;
    e->line = end + 1;
    if (!p->values && !p->labels && p->label < 0) { /* a dropped row */
        if (*cell) complain(e, "the row was dropped");
        cell = NULL;
    } else if (info.classes > 0) {
        cell = class_is(e, p, cell);
    } else {
        for (int64_t k = 0; k < info.outputs; k++) number_is(e, p->values[k], &cell);
    }
    if (cell) complain(e, "more cells than numbers");
    return KREIN_OK;
}

static void append(char *list, size_t size, const char *spec) {
    size_t at = strlen(list);
    CHECK(at + strlen(spec) + 2 < size);
    snprintf(list + at, size - at, "%s\n", spec);
}

/* The model NAME.krein against the rows and lines of NAME.txt. */
static void check_model(krein_ctx *ctx, const char *name, char *text, specs *found) {
    char path[600];
    krein_model *m = NULL;
    krein_data *data = NULL;
    char *lines = text ? strstr(text, "---\n") : NULL;
    snprintf(path, sizeof path, "%s.krein", name);
    expected e = {.name = name};
    if (!lines) {
        printf("%s.txt has no line ---\n", name);
        CHECK(lines);
        return;
    }
    *lines = 0;
    e.line = lines + 4;
    krein_status st = krein_model_load(ctx, path, &m);
    if (st == KREIN_OK) st = krein_data_open(ctx, test_write("rows", text), NULL, &data);
    e.model = m;
    if (st == KREIN_OK) st = krein_predict(ctx, m, data, compare, &e);
    if (st != KREIN_OK) printf("%s: %s\n", name, krein_message(ctx));
    CHECK(st == KREIN_OK && !e.wrong && e.rows > 0);
    CHECK(!*e.line); /* no line without a row */
    if (getenv("TEST_TIMES")) printf("%8.1e  %s\n", e.worst, name);
    if (m) {
        krein_model_info info = KREIN_SIZED(krein_model_info);
        krein_model_describe(m, &info);
        append(found->learner, sizeof found->learner, info.learner);
        append(found->map, sizeof found->map, info.map);
        append(found->kernel, sizeof found->kernel, info.kernel);
    }
    krein_data_close(data);
    krein_model_destroy(m);
}

/* The word is in one of the specs, and not among their options. */
static bool has_name(const char *list, const char *name) {
    size_t n = strlen(name);
    int depth = 0;
    for (const char *p = list; *p;) {
        size_t word = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (depth == 0 && word == n && memcmp(p, name, n) == 0) return true;
        if (word == 0) depth += (*p == '(') - (*p == ')');
        p += word ? word : 1;
    }
    return false;
}

static void check_covers(const char *folder, const specs *found) {
    char path[600], table[16], name[64];
    int lines = 0;
    snprintf(path, sizeof path, "%s/COVERS", folder);
    FILE *f = fopen(path, "r");
    if (!f) printf("%s is not there\n", path);
    CHECK(f);
    while (f && fscanf(f, "%15s %63s", table, name) == 2) {
        const char *list = strcmp(table, "learner") == 0  ? found->learner
                           : strcmp(table, "map") == 0    ? found->map
                           : strcmp(table, "kernel") == 0 ? found->kernel
                                                          : "";
        bool covered = has_name(list, name);
        if (!covered) printf("%s: no model has the %s %s\n", folder, table, name);
        CHECK(covered);
        lines++;
    }
    CHECK(lines > 0);
    if (f) fclose(f);
}

/* Whether the name ends so; the length without the end. */
static bool ends(const char *name, const char *end, size_t *length) {
    size_t n = strlen(name), k = strlen(end);
    *length = n > k ? n - k : 0;
    return n > k && strcmp(name + n - k, end) == 0;
}

static void check_folder(krein_ctx *ctx, const char *folder) {
    DIR *d = opendir(folder);
    specs *found = test_new(1, sizeof *found);
    int models = 0, texts = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[500], path[600];
        size_t length;
        models += ends(e->d_name, ".krein", &length);
        if (!ends(e->d_name, ".txt", &length)) continue;
        snprintf(name, sizeof name, "%s/%.*s", folder, (int)length, e->d_name);
        snprintf(path, sizeof path, "%s.txt", name);
        test_bytes text = test_slurp(path);
        check_model(ctx, name, text.at, found);
        free(text.at);
        texts++;
    }
    if (d) closedir(d);
    CHECK(models > 0 && models == texts);
    check_covers(folder, found);
    free(found);
}

static void frozen_models(void) {
    DIR *d = opendir("tests/models");
    int folders = 0;
    if (!d) SKIP("there is no folder tests/models");
    krein_ctx *ctx = test_ctx(1);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        if (e->d_name[0] != 'v') continue;
        snprintf(path, sizeof path, "tests/models/%.200s", e->d_name);
        check_folder(ctx, path);
        folders++;
    }
    closedir(d);
    CHECK(folders > 0);
    krein_ctx_destroy(ctx);
}

/* Options that are younger than a file have the values it was written with, and keep them. */
static void old_options(void) {
    const char *path = "tests/models/v0.1/ssf.krein";
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL, *again = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    if (krein_model_load(ctx, path, &m) != KREIN_OK) {
        krein_ctx_destroy(ctx);
        SKIP("there is no model of 0.1");
    }
    krein_model_describe(m, &info);
    CHECK_HAS(info.map, "ssf(D=32, sets=one)");
    CHECK(krein_model_save(ctx, m, test_path("again.krein")) == KREIN_OK);
    CHECK(krein_model_load(ctx, test_path("again.krein"), &again) == KREIN_OK);
    if (again) krein_model_describe(again, &info);
    CHECK_HAS(info.map, "ssf(D=32, sets=one)");
    krein_model_destroy(again);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
}

/* Clusters were known by the learner alone, and are in the file of today: their classes are
 * nobody's labels. */
static void old_clusters(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    krein_data *data = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    if (krein_model_load(ctx, "tests/models/v0.1/kmeans.krein", &m) != KREIN_OK) {
        krein_ctx_destroy(ctx);
        SKIP("there is no model of 0.1");
    }
    const char *path = test_write("blobs.csv", "y,a,b,c\n1,7.5,-6.8,0.5\n2,-0.9,-0.4,0.7\n");
    CHECK(krein_data_open(ctx, path, NULL, &data) == KREIN_OK);
    for (int turn = 0; m && turn < 2; turn++) {
        CHECK(krein_evaluate(ctx, m, data, &metrics) == KREIN_EARG);
        CHECK_HAS(krein_message(ctx), "predicts no label");
        CHECK(krein_model_save(ctx, m, test_path("again.krein")) == KREIN_OK);
        krein_model_destroy(m);
        CHECK(krein_model_load(ctx, test_path("again.krein"), &m) == KREIN_OK);
    }
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

static void names_of_specs(void) {
    const char *list =
        "0.5*gaussian(sigma=1)*linear + nystrom(landmarks=leverage)\nmkl(base=svm)\n";
    CHECK(has_name(list, "gaussian") && has_name(list, "linear") && has_name(list, "mkl"));
    CHECK(!has_name(list, "leverage") && !has_name(list, "svm") && !has_name(list, "gauss"));
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(names_of_specs);
    RUN(frozen_models);
    RUN(old_options);
    RUN(old_clusters);
    return DONE();
}
