/* test_labels.c -- classes and numbers, the column that is the label, side columns, several
 * targets, a file of labels, and rows that are held out by them. */
#include "data.h"

/* ---- labels ------------------------------------------------------------- */

static void check_classes(const char *text, bool words, const char *a, const char *b,
                          const char *c) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx, text, NULL);
    CHECK(l.st == KREIN_OK);
    CHECK(l.e.task == KREIN_TASK_CLASSIFICATION && l.e.label_text == words && l.e.outputs == 1);
    CHECK(l.e.nclass == (c ? 3 : 2));
    if (l.e.nclass == (c ? 3 : 2)) {
        CHECK(strcmp(l.e.class_name[0], a) == 0);
        CHECK(strcmp(l.e.class_name[1], b) == 0);
        if (c) CHECK(strcmp(l.e.class_name[2], c) == 0);
    }
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void class_names(void) {
    check_classes("label,x\ndog,1\ncat,2\ndog,3\n", true, "cat", "dog", NULL);
    check_classes("label,x\n+1,1\n-1,2\n+1,3\n", false, "-1", "1", NULL);
    check_classes("label,x\n1.0,1\n1,2\n2,3\n1.00,4\n", false, "1", "2", NULL);
    check_classes("label,x\n10,1\n2,2\n-3,3\n", false, "-3", "2", "10");  /* by number */
    check_classes("label,x\na10,1\na2,2\nB,3\n", true, "B", "a10", "a2"); /* by bytes */
    check_classes("label,x\n0.5,1\n1e3,2\n0.5,3\n", false, "0.5", "1000", NULL);
    check_classes("label,x\n1,1\nyes,2\n1,3\n", true, "1", "yes", NULL); /* one word makes text */
}

/* The task that is guessed for the labels 1 .. n in steps. */
static krein_task guess(int n, double step, test_log *log) {
    krein_ctx *ctx = test_ctx_full(1, NULL, log);
    char text[4096] = "label,x\n";
    for (int i = 0; i < 2 * n; i++) snprintf(text + strlen(text), 40, "%g,%d\n", step * (i % n), i);
    learned l = learn_text(ctx, text, NULL);
    CHECK(l.st == KREIN_OK);
    krein_task task = l.e.task;
    forget(&l);
    krein_ctx_destroy(ctx);
    return task;
}

static void task_rule(void) {
    test_log log;
    CHECK(guess(2, .5, &log) == KREIN_TASK_CLASSIFICATION); /* two values of any kind */
    CHECK_HAS(log.text, "classification");
    CHECK(guess(3, .5, &log) == KREIN_TASK_REGRESSION);
    CHECK_HAS(log.text, "regression");
    CHECK(log.warnings == 0);
    CHECK(guess(20, 1, &log) == KREIN_TASK_CLASSIFICATION);
    CHECK_HAS(log.text, "20 values");
    CHECK(guess(21, 1, &log) == KREIN_TASK_REGRESSION);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "`task=classification`");
}

/* The labels low .. low + n - 1, each in `rows` rows but the last, which is in `last`. */
static krein_task guess_run(int n, int rows, int last, int gap, test_log *log) {
    krein_ctx *ctx = test_ctx_full(1, NULL, log);
    const char *path = test_path("run.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "label,x\n");
    for (int k = 0; k < n; k++)
        for (int i = 0; i < (k < n - 1 ? rows : last); i++)
            fprintf(f, "%d,%d\n", 5 + k + (k == n - 1 ? gap : 0), i);
    fclose(f);
    learned l = learn_file(ctx, path, NULL, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_OK);
    krein_task task = l.e.task;
    forget(&l);
    krein_ctx_destroy(ctx);
    return task;
}

static void task_runs(void) {
    test_log log;
    CHECK(guess_run(26, 100, 100, 0, &log) == KREIN_TASK_CLASSIFICATION);
    CHECK_HAS(log.text, "whole numbers 5 to 30");
    CHECK_HAS(log.text, "`task=regression`");
    CHECK(guess_run(26, 104, 10, 0, &log) == KREIN_TASK_CLASSIFICATION);
    CHECK(guess_run(26, 150, 9, 0, &log) == KREIN_TASK_REGRESSION);   /* one of them is rare */
    CHECK(guess_run(26, 100, 99, 0, &log) == KREIN_TASK_REGRESSION);  /* not 100 rows a class */
    CHECK(guess_run(26, 100, 100, 1, &log) == KREIN_TASK_REGRESSION); /* a gap */
    CHECK(guess_run(100, 100, 100, 0, &log) == KREIN_TASK_CLASSIFICATION);
    CHECK(guess_run(101, 100, 100, 0, &log) == KREIN_TASK_REGRESSION);
}

/* Labels that nobody can mean. */
static void label_refused(void) {
    char text[4096] = "name,x\n", numbered[4096] = "ID,x,z\n", unnamed[4096] = ",x,z\n";
    for (int i = 0; i < 40; i++) {
        snprintf(text + strlen(text), 40, "n%d,%d\n", i == 7 ? 6 : i, i % 3);
        snprintf(numbered + strlen(numbered), 40, "%d,%d,%d\n", i + 1, i % 3, i % 5);
        snprintf(unnamed + strlen(unnamed), 40, "%d,%d,%d\n", i, i % 3, i % 5);
    }
    refused(text, NULL, KREIN_EDATA, "39 distinct texts in 40 rows", "`label=NAME`");
    refused(numbered, NULL, KREIN_EDATA, "(ID) numbers the rows", "`label=NAME`");
    refused(unnamed, NULL, KREIN_EDATA, "numbers the rows", "`label=first`");
    krein_data_options o = plain();
    krein_ctx *ctx = test_ctx(1);
    o.label = "first";
    learned l = learn_text(ctx, numbered, &o);
    CHECK(l.st == KREIN_OK && l.e.task == KREIN_TASK_REGRESSION);
    forget(&l);
    o.task = KREIN_TASK_CLASSIFICATION;
    l = learn_text(ctx, text, &o);
    CHECK(l.st == KREIN_OK && l.e.nclass == 39);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void task_asked(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    krein_data_options o = plain();
    o.task = KREIN_TASK_REGRESSION;
    learned l = learn_text(ctx, "y,x\n1,1\n2,2\n1,3\n", &o);
    CHECK(l.st == KREIN_OK && l.e.task == KREIN_TASK_REGRESSION && l.e.nclass == 0);
    CHECK(log.warnings == 0);
    CHECK(l.t.label[0] == 1 && l.t.label[1] == 2);
    CHECK_REL(l.data->label_mean[0], 4 / 3., 1e-15);
    forget(&l);
    o.task = KREIN_TASK_CLASSIFICATION;
    l = learn_text(ctx, "y,x\n1.25,1\n2,2\n1,3\n", &o);
    CHECK(l.st == KREIN_OK && l.e.task == KREIN_TASK_CLASSIFICATION && l.e.nclass == 3);
    CHECK(l.t.label[0] == 1 && l.t.label[1] == 2 && l.t.label[2] == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
    o.task = KREIN_TASK_REGRESSION;
    refused("y,x\nlow,1\nhigh,2\n", &o, KREIN_EDATA, "data.csv", "`label`");
    refused("y,x\nsame,1\nsame,2\n", NULL, KREIN_EDATA, "one class only (\"same\")", "`label`");
    o.task = KREIN_TASK_CLASSIFICATION;
    refused("y,x\n7,1\n7,2\n", &o, KREIN_EDATA, "data.csv", "one class");
}

/* The label of the second row under a rule, NaN when it is refused. */
static double label_by(const char *text, const char *rule, int header) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.label = rule;
    o.header = header;
    o.task = KREIN_TASK_REGRESSION;
    learned l = learn_text(ctx, text, &o);
    double label = l.st == KREIN_OK ? l.t.label[1] : NAN;
    forget(&l);
    krein_ctx_destroy(ctx);
    return label;
}

static void label_rules(void) {
    const char *text = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n";
    CHECK(label_by(text, NULL, -1) == 4);
    CHECK(label_by(text, "b", -1) == 5);
    CHECK(label_by(text, "3", -1) == 6);
    CHECK(label_by(text, "first", -1) == 4);
    CHECK(label_by(text, "last", -1) == 6);
    CHECK(isnan(label_by(text, "none", -1)));
    CHECK(isnan(label_by(text, "d", -1)));
    CHECK(isnan(label_by(text, "4", -1)));
    CHECK(isnan(label_by(text, "0", -1)));
    CHECK(label_by("1,2,3\n4,5,6\n7,8,9\n", NULL, 0) == 4);
    /* By name, whatever the case, in the order label, target, class, y. */
    CHECK(label_by("a,Label,c\n1,2,3\n4,5,6\n", NULL, 1) == 5);
    CHECK(label_by("a,b,TARGET\n1,2,3\n4,5,6\n", NULL, 1) == 6);
    CHECK(label_by("a,class,c\n1,2,3\n4,5,6\n", NULL, 1) == 5);
    CHECK(label_by("a,b,y\n1,2,3\n4,5,6\n", NULL, 1) == 6);
    CHECK(label_by("y,class,target,label\n1,2,3,9\n4,5,6,8\n", NULL, 1) == 8);
    CHECK(label_by("y,class,target\n1,2,3\n4,5,6\n", NULL, 1) == 6);
    CHECK(label_by("y,class\n1,2\n4,5\n", NULL, 1) == 5);
    krein_data_options o = plain();
    o.label = "hight";
    refused("height,x\n1,2\n2,3\n", &o, KREIN_EARG, "`label`", "height");
    o.label = "none";
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "data.csv", "label");
    o.label = "x";
    o.weights = "x";
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "data.csv", "`label`");
}

/* Without need of labels (transform, gram) the label column is left out all the same. */
static void label_not_needed(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    for (int none = 0; none < 2; none++) {
        krein_data *data = NULL;
        krein_encoding e;
        taken t = {0};
        o.label = none ? "none" : NULL;
        CHECK(krein_data_open(ctx, test_write("u.csv", "y,x\n1,2\n2,3\n"), &o, &data) == KREIN_OK);
        CHECK(krein__data_scan(data, false, 0, 1, &e) == KREIN_OK);
        CHECK(take(data, &e, 0, &t) == KREIN_OK);
        CHECK(t.k == 0);
        if (none)
            CHECK_ROW(t, 1, 2, 3);
        else
            CHECK_ROW(t, 1, 3);
        give_back(&t);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

/* ---- side columns ------------------------------------------------------- */

static void side_columns(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.weights = "w";
    o.group = "g";
    o.id = "name";
    o.ignore = "skip,6";
    learned l = learn_text(ctx,
                           "y,w,x,g,name,also,skip\n"
                           "1.5,2,10,p,ann,7,t\n"
                           "2.5,0,20,q,bob,7,u\n"
                           "3.5,0.5,30,p,cy,7,v\n",
                           &o);
    CHECK(l.st == KREIN_OK);
    CHECK(l.e.d == 1);
    CHECK_ROW(l.t, 2, 30);
    CHECK(l.t.weight[0] == 2 && l.t.weight[1] == 0 && l.t.weight[2] == .5);
    CHECK(l.t.group[0] == l.t.group[2] && l.t.group[0] != l.t.group[1]);
    CHECK(strcmp(l.t.id[0], "ann") == 0 && strcmp(l.t.id[2], "cy") == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
    refused("y,w,x,g,name,also,skip\n1,-1,1,p,a,7,t\n2,1,2,p,a,7,t\n", &o, KREIN_EDATA,
            "data.csv:2", "w");
    o = plain();
    o.ignore = "x,nosuch";
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "`ignore`", "nosuch");
    o.ignore = "x";
    o.id = "x";
    refused("y,x,z\n1,2,1\n2,3,1\n", &o, KREIN_EARG, "two roles", "data.csv");
    o = plain();
    o.weights = "2";
    refused("1 1:2 3:4\n-1 2:1\n", &o, KREIN_EARG, "LIBSVM", "`weights`");
}

static void several_targets(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.targets = 2;
    learned l = learn_text(ctx, "a,b,c,d\n1,2,3,4\n5,6,7,8\n1,2,0,0\n", &o);
    CHECK(l.st == KREIN_OK);
    CHECK(l.e.task == KREIN_TASK_REGRESSION && l.e.outputs == 2 && l.t.k == 2 && l.e.d == 2);
    CHECK_ROW(l.t, 1, 7, 8);
    CHECK(l.t.label[2] == 5 && l.t.label[3] == 6);
    CHECK_REL(l.data->label_mean[1], 10 / 3., 1e-15);
    forget(&l);
    krein_ctx_destroy(ctx);
    refused("a,b\n1,2\n3,4\n", &o, KREIN_EARG, "`targets=2`", "columns");
    refused("a,b,c\nu,1,2\nv,3,4\n", &o, KREIN_EARG, "`targets`", "numbers");
    refused("a,b,c\n1,u,2\n2,v,4\n", &o, KREIN_EARG, "`targets`", "numbers");
    o.task = KREIN_TASK_CLASSIFICATION;
    refused("a,b,c\n1,1,2\n2,3,4\n", &o, KREIN_EARG, "`targets`", "regression");
    o = plain();
    o.targets = 65;
    refused("a,b,c\n1,1,2\n2,3,4\n", &o, KREIN_EARG, "`targets`", "64");
}

/* ---- held-out rows ------------------------------------------------------ */

static const char *classes_file(int n) {
    static char text[40000];
    int at = sprintf(text, "y,x,g,z\n");
    for (int i = 0; i < n; i++)
        at += sprintf(text + at, "%s,%.6g,g%d,%d\n",
                      i % 10 < 6   ? "a"
                      : i % 10 < 9 ? "b"
                                   : "c",
                      det(i, 0, 0) + (i % 7 == 0 ? 50 : 0), i % 13, i);
    return test_write("classes.csv", text);
}

static void holdout_by_class(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *path = classes_file(300);
    krein_data_options o;
    krein_data_options_init(&o);
    uint8_t first[300];
    for (int turn = 0; turn < 4; turn++) { /* a seed, again, again by streaming, another seed */
        o.ignore = "g";
        learned l = learn_file(ctx, path, &o, turn == 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_AUTO, .25,
                               turn == 3 ? 2 : 1);
        taken held = {0};
        CHECK(l.st == KREIN_OK);
        CHECK(take(l.data, &l.e, KREIN_PART_HELD, &held) == KREIN_OK);
        int64_t of[3] = {0};
        for (int64_t i = 0; i < held.n; i++) of[(int)held.label[i]]++;
        CHECK(of[0] == 45 && of[1] == 22 && of[2] == 8); /* rint of a quarter of 180, 90, 30 */
        CHECK(l.t.n + held.n == 300);
        CHECK(l.data->count[KREIN_PART_HELD] == held.n && l.data->count[KREIN_PART_TRAIN] == l.t.n);
        /* Scaling knows the training rows only: their means are 0 and deviations 1. */
        for (int j = 0; j < 2; j++) {
            double mean = 0, square = 0;
            for (int64_t i = 0; i < l.t.n; i++) {
                mean += (double)l.t.x[i * 2 + j] / (double)l.t.n;
                square += pow((double)l.t.x[i * 2 + j], 2) / (double)l.t.n;
            }
            CHECK_ABS(mean, 0, 1e-5);
            CHECK_ABS(square, 1, 1e-5);
        }
        if (turn == 0)
            memcpy(first, l.data->part, 300);
        else
            CHECK((memcmp(first, l.data->part, 300) == 0) == (turn != 3));
        give_back(&held);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

static void holdout_by_group(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.group = "g";
    learned l = learn_file(ctx, classes_file(260), &o, KREIN_KEEP_AUTO, .3, 5);
    CHECK(l.st == KREIN_OK);
    int64_t held[13] = {0}, all = 0, whole = 0;
    for (int i = 0; i < 260 && l.st == KREIN_OK; i++)
        held[i % 13] += l.data->part[i] == KREIN_PART_HELD;
    for (int g = 0; g < 13; g++) {
        CHECK(held[g] == 0 || held[g] == 20); /* together */
        all += held[g];
        whole += held[g] > 0;
    }
    CHECK(whole == 4); /* the first that reaches .3 * 260 = 78 */
    CHECK(all == 80);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Rows of which every other one is of key i * 7919 % keys, as classes or as groups. */
static const char *keys_file(int n, int keys, const char *head) {
    const char *path = test_path("keys.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "%s\n", head);
    for (int i = 0; i < n; i++)
        fprintf(f, "k%d,%d.5,%d\n", (int)((int64_t)(i / 2) * 7919 % keys), i, i % 5);
    fclose(f);
    return path;
}

/* Many groups: work in proportion to the rows, and whole groups in the order of the seed. */
static void holdout_by_many_groups(void) {
    enum { ROWS = 120000, GROUPS = 60000 };
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    krein_data *data = NULL;
    krein_encoding e = {0};
    int64_t *order = test_new(GROUPS, sizeof *order), held = 0, wrong = 0;
    uint8_t *want = test_new(GROUPS, 1);
    o.group = "g";
    o.label = "y";
    CHECK(krein_data_open(ctx, keys_file(ROWS, GROUPS, "g,y,x"), &o, &data) == KREIN_OK);
    CHECK(krein__data_scan(data, true, .3, 5, &e) == KREIN_OK);
    krein__rng_permute((krein_rng){5, KREIN_STREAM_SPLIT | (uint64_t)1 << 32}, GROUPS, order);
    for (int64_t g = 0; (double)held < .3 * ROWS; g++, held += 2) want[order[g]] = 1;
    for (int64_t i = 0; i < ROWS && data->part; i++) /* codes are by first appearance */
        wrong += (data->part[i] == KREIN_PART_HELD) != want[i / 2 % GROUPS];
    CHECK(data->part && wrong == 0 && data->count[KREIN_PART_HELD] == held);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    free(order);
    free(want);
    krein_ctx_destroy(ctx);
}

static void holdout_by_many_classes(void) {
    enum { ROWS = 40000, CLASSES = 4000, EACH = ROWS / CLASSES };
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    krein_data *data = NULL;
    krein_encoding e = {0};
    int64_t chosen[EACH], wrong = 0, *seen = test_new(CLASSES, sizeof *seen);
    o.label = "c";
    CHECK(krein_data_open(ctx, keys_file(ROWS, CLASSES, "c,x,z"), &o, &data) == KREIN_OK);
    CHECK(krein__data_scan(data, true, .3, 5, &e) == KREIN_OK);
    for (int64_t i = 0; i < ROWS && data->part; i++) {
        char name[32];
        int64_t c = 0, high = e.nclass;
        snprintf(name, sizeof name, "k%d", (int)(i / 2 * 7919 % CLASSES));
        while (high - c > 1) { /* ascending by bytes */
            int64_t middle = (c + high) / 2;
            if (strcmp(e.class_name[middle], name) <= 0)
                c = middle;
            else
                high = middle;
        }
        krein__rng_choose((krein_rng){5, KREIN_STREAM_SPLIT | (uint64_t)(c + 1) << 32}, EACH, 3,
                          chosen);
        int64_t at = seen[c]++;
        bool want = at == chosen[0] || at == chosen[1] || at == chosen[2];
        wrong += (data->part[i] == KREIN_PART_HELD) != want;
    }
    CHECK(data->part && wrong == 0 && data->count[KREIN_PART_HELD] == 3 * CLASSES);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    free(seen);
    krein_ctx_destroy(ctx);
}

static void holdout_of_numbers(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    learned l = learn_file(ctx, scale_file(), &o, KREIN_KEEP_AUTO, .1, 5);
    CHECK(l.st == KREIN_OK && l.t.n == SN - 70);
    double mean = 0;
    for (int64_t i = 0; i < l.t.n; i++) mean += l.t.label[i] / (double)l.t.n;
    CHECK_ABS(l.data->label_mean[0], mean, 1e-12);
    forget(&l);
    l = learn_file(ctx, test_write("two.csv", "y,x\n1.5,1\n2.5,2\n"), &o, KREIN_KEEP_AUTO, .5, 5);
    CHECK(l.st == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "`holdout=0.5`");
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- NPY with labels beside it ------------------------------------------ */

static void labels_file(void) {
    krein_ctx *ctx = test_ctx(1);
    char x[256], y[256];
    snprintf(x, sizeof x, "%s", npy(ctx, "x.npy", 3000, 4, 0));
    snprintf(y, sizeof y, "%s", npy(ctx, "y.npy", 3000, -1, 0));
    krein_data_options o = plain();
    o.labels_file = y;
    for (int stream = 0; stream < 2; stream++) {
        learned l = learn_file(ctx, x, &o, stream ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY, 0, 1);
        CHECK(l.st == KREIN_OK && l.t.n == 3000 && l.e.d == 4 && l.e.nclass == 3);
        bool same = true;
        for (int64_t i = 0; i < l.t.n; i++) {
            same = same && l.t.label[i] == (double)(i % 3);
            for (int64_t j = 0; j < 4; j++) same = same && l.t.x[i * 4 + j] == (float)det(i, j, 0);
        }
        CHECK(same);
        forget(&l);
    }
    for (int more = 0; more < 2; more++) {
        snprintf(y, sizeof y, "%s", npy(ctx, "z.npy", more ? 3001 : 2999, -1, 0));
        learned l = learn_file(ctx, x, &o, KREIN_KEEP_AUTO, 0, 1);
        CHECK(l.st == KREIN_EFORMAT);
        if (l.st != KREIN_OK) CHECK_HAS(krein_message(ctx), "z.npy");
        forget(&l);
    }
    snprintf(y, sizeof y, "%s", npy(ctx, "z.npy", 3000, 2, 0));
    learned l = learn_file(ctx, x, &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_EFORMAT);
    CHECK_HAS(krein_message(ctx), "one column");
    forget(&l);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(class_names);
    RUN(task_rule);
    RUN(task_runs);
    RUN(label_refused);
    RUN(task_asked);
    RUN(label_rules);
    RUN(label_not_needed);
    RUN(side_columns);
    RUN(several_targets);
    RUN(holdout_by_class);
    RUN(holdout_by_group);
    RUN(holdout_by_many_groups);
    RUN(holdout_by_many_classes);
    RUN(holdout_of_numbers);
    RUN(labels_file);
    return DONE();
}
