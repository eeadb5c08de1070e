/* test_data.c -- from files and arrays to encoded blocks: columns and their roles, categories,
 * classes, missing cells, scaling, held-out rows, matching a second file, and what is refused. */
#include "common.h"

#include "data/data.h"
#include "data/writer.h"

/* ---- helpers ------------------------------------------------------------ */

/* Everything a stream gives, gathered. */
typedef struct taken {
    int64_t n, d, k, blocks;
    float *x;
    double *label, *weight;
    int32_t *group;
    bool *dropped;
    char **id;
} taken;

static void give_back(taken *t) {
    for (int64_t i = 0; t->id && i < t->n; i++) free(t->id[i]);
    free(t->x);
    free(t->label);
    free(t->weight);
    free(t->group);
    free(t->dropped);
    free(t->id);
    memset(t, 0, sizeof *t);
}

static krein_status take(krein_data *data, const krein_encoding *e, int part, taken *t) {
    krein_stream *s = NULL;
    krein_block b;
    enum { ROOM = 20000 };
    memset(t, 0, sizeof *t);
    krein_status st = krein__stream_open(data, e, part, &s);
    if (st != KREIN_OK) return st;
    t->d = e->d;
    t->k = data->nlabel;
    t->x = test_new(ROOM * t->d, sizeof *t->x);
    t->label = test_new(ROOM * (t->k + 1), sizeof *t->label);
    t->weight = test_new(ROOM, sizeof *t->weight);
    t->group = test_new(ROOM, sizeof *t->group);
    t->dropped = test_new(ROOM, sizeof *t->dropped);
    t->id = test_new(ROOM, sizeof *t->id);
    int64_t before = 0;
    for (;;) {
        st = krein__stream_next(s, &b);
        if (st != KREIN_OK || b.x.n == 0) break;
        if (t->blocks > 0) CHECK(before == krein__block_rows(t->d)); /* full but the last */
        before = b.x.n;
        t->blocks++;
        CHECK(b.first == t->n);
        CHECK(t->n + b.x.n <= ROOM);
        for (int64_t i = 0; i < b.x.n; i++) {
            krein__row_copy(&b.x, i, t->x + (t->n + i) * t->d);
            for (int64_t c = 0; c < t->k; c++)
                t->label[(t->n + i) * t->k + c] = b.label[i * t->k + c];
            t->weight[t->n + i] = b.weight ? b.weight[i] : 1;
            t->group[t->n + i] = b.group ? b.group[i] : -1;
            t->dropped[t->n + i] = b.dropped && b.dropped[i];
            if (b.id && b.id[i]) t->id[t->n + i] = strdup(b.id[i]);
        }
        t->n += b.x.n;
    }
    krein__stream_close(s);
    return st;
}

static krein_data_options plain(void) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    return o;
}

/* Opens, learns and takes all training rows; o may be NULL (no scaling). */
typedef struct learned {
    krein_ctx *ctx;
    krein_data *data;
    krein_encoding e;
    taken t;
    krein_status st;
} learned;

static learned learn_file(krein_ctx *ctx, const char *path, const krein_data_options *o,
                          krein_keep keep, double holdout, uint64_t seed) {
    learned l = {.ctx = ctx};
    krein_data_options own = plain();
    l.st = krein_data_open(ctx, path, o ? o : &own, &l.data);
    if (l.st == KREIN_OK) l.st = krein__data_learn(l.data, true, holdout, seed, keep, &l.e);
    if (l.st == KREIN_OK) l.st = take(l.data, &l.e, KREIN_PART_TRAIN, &l.t);
    return l;
}
static learned learn_text(krein_ctx *ctx, const char *text, const krein_data_options *o) {
    return learn_file(ctx, test_write("data.csv", text), o, KREIN_KEEP_AUTO, 0, 1);
}
static void forget(learned *l) {
    give_back(&l->t);
    krein__encoding_clear(l->ctx, &l->e);
    krein_data_close(l->data);
    memset(l, 0, sizeof *l);
}

#define CHECK_ROW(t, i, ...)                                                                       \
    do {                                                                                           \
        static const double want_[] = {__VA_ARGS__};                                               \
        CHECK((t).d == (int64_t)(sizeof want_ / sizeof *want_) && (i) < (t).n);                    \
        for (int64_t j_ = 0; (i) < (t).n && j_ < (t).d; j_++)                                      \
            CHECK_ABS((double)(t).x[(i) * (t).d + j_], want_[j_], 1e-6);                           \
    } while (0)

/* The text is refused with the status, and the message holds the parts. */
static void refused(const char *text, const krein_data_options *o, krein_status want,
                    const char *part, const char *other) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    learned l = learn_text(ctx, text, o);
    if (l.st != want) printf("%s -> %d %s\n", text, (int)l.st, krein_message(ctx));
    CHECK(l.st == want);
    if (l.st != KREIN_OK) CHECK_HAS(krein_message(ctx), part);
    if (l.st != KREIN_OK) CHECK_HAS(krein_message(ctx), other);
    forget(&l);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- categories --------------------------------------------------------- */

static void one_hot_in_column_order(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx,
                           "colour,size,label,shape,height\n"
                           "red,1,a,round,10\n"
                           "blue,2,b,square,20\n"
                           "red,3,a,square,30\n"
                           "green,4,b,round,40\n",
                           NULL);
    CHECK(l.st == KREIN_OK);
    CHECK(l.e.d == 3 + 1 + 2 + 1 && l.e.header && !l.e.sparse && l.e.ninput == 5);
    CHECK(l.t.n == 4);
    CHECK_ROW(l.t, 0, 1, 0, 0, 1, 1, 0, 10);
    CHECK_ROW(l.t, 1, 0, 1, 0, 2, 0, 1, 20);
    CHECK_ROW(l.t, 2, 1, 0, 0, 3, 0, 1, 30);
    CHECK_ROW(l.t, 3, 0, 0, 1, 4, 1, 0, 40);
    CHECK(l.e.input[0].dict.n == 3 && strcmp(l.e.input[0].dict.word[2], "green") == 0);
    CHECK(l.e.input[0].at == 0 && l.e.input[1].at == 3 && l.e.input[2].at == -1 &&
          l.e.input[3].at == 4 && l.e.input[4].at == 6);
    CHECK(l.e.input[2].role == KREIN_ROLE_LABEL);
    CHECK(l.t.label[0] == 0 && l.t.label[1] == 1 && l.t.label[2] == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void category_scaling(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    learned l = learn_text(ctx, "y,c\n1.5,u\n2.5,v\n3.5,u\n4.5,u\n", &o);
    CHECK(l.st == KREIN_OK);
    double s = sqrt(.75 * .25);
    CHECK_ABS((double)l.t.x[0], .25 / s, 1e-6);
    CHECK_ABS((double)l.t.x[1], -.25 / s, 1e-6);
    CHECK_ABS((double)l.t.x[2], -.75 / s, 1e-6);
    CHECK_ABS((double)l.t.x[3], .75 / s, 1e-6);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void unknown_category(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int ignore = 0; ignore < 2; ignore++) {
        krein_data_options o = plain();
        o.unknown_ignore = ignore;
        learned l = learn_text(ctx, "y,c,x\n1.5,u,1\n2.5,v,2\n3.5,u,3\n", &o);
        CHECK(l.st == KREIN_OK);
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("new.csv", "c,x\nv,1\nw,2\n"), NULL, &other) ==
              KREIN_OK);
        CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
        krein_status st = take(other, &l.e, -1, &t);
        if (ignore) {
            CHECK(st == KREIN_OK && t.n == 2);
            CHECK_ROW(t, 0, 0, 1, 1);
            CHECK_ROW(t, 1, 0, 0, 2);
        } else {
            CHECK(st == KREIN_EDATA);
            CHECK_HAS(krein_message(ctx), "new.csv:3: column 1 (c)");
            CHECK_HAS(krein_message(ctx), "\"w\"");
            CHECK_HAS(krein_message(ctx), "--unknown ignore");
        }
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

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
    CHECK_HAS(log.text, "--task classification");
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
    refused("y,x\nlow,1\nhigh,2\n", &o, KREIN_EDATA, "data.csv", "--label");
    refused("y,x\nsame,1\nsame,2\n", NULL, KREIN_EDATA, "one class only (\"same\")", "--label");
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
    refused("height,x\n1,2\n2,3\n", &o, KREIN_EARG, "--label", "height");
    o.label = "none";
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "data.csv", "label");
    o.label = "x";
    o.weights = "x";
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "data.csv", "--label");
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
        CHECK(krein__data_learn(data, false, 0, 1, KREIN_KEEP_AUTO, &e) == KREIN_OK);
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
    refused("y,x\n1,2\n2,3\n", &o, KREIN_EARG, "--ignore", "nosuch");
    o.ignore = "x";
    o.id = "x";
    refused("y,x,z\n1,2,1\n2,3,1\n", &o, KREIN_EARG, "two roles", "data.csv");
    o = plain();
    o.weights = "2";
    refused("1 1:2 3:4\n-1 2:1\n", &o, KREIN_EARG, "LIBSVM", "--weights");
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
    refused("a,b\n1,2\n3,4\n", &o, KREIN_EARG, "--targets", "columns");
    refused("a,b,c\nu,1,2\nv,3,4\n", &o, KREIN_EARG, "--targets", "numbers");
    refused("a,b,c\n1,u,2\n2,v,4\n", &o, KREIN_EARG, "--targets", "numbers");
    o.task = KREIN_TASK_CLASSIFICATION;
    refused("a,b,c\n1,1,2\n2,3,4\n", &o, KREIN_EARG, "--targets", "regression");
    o = plain();
    o.targets = 65;
    refused("a,b,c\n1,1,2\n2,3,4\n", &o, KREIN_EARG, "--targets", "64");
}

/* ---- missing cells ------------------------------------------------------ */

static const char *holes = "y,x,c\n1.5,1,u\n2.5,,u\n3.5,4,?\n4.5,4,v\n5.5,NaN,u\n";

static void missing_error(void) {
    refused(holes, NULL, KREIN_EDATA, "data.csv:3", "--missing");
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_MEAN;
    refused("y,x\n1,1\n,2\n3,3\n", &o, KREIN_EDATA, "data.csv:3", "y"); /* no label */
    refused("y,x,z\n1,,1\n2,,2\n3,,3\n", &o, KREIN_EDATA, "column 2", "--ignore 2");
}

static void missing_mean(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_MEAN;
    learned l = learn_text(ctx, holes, &o);
    CHECK(l.st == KREIN_OK && l.t.n == 5);
    CHECK_ROW(l.t, 0, 1, 1, 0);
    CHECK_ROW(l.t, 1, 3, 1, 0);     /* (1 + 4 + 4) / 3 */
    CHECK_ROW(l.t, 2, 4, .75, .25); /* three u, one v among the cells that are there */
    CHECK_ROW(l.t, 4, 3, 1, 0);
    forget(&l);
    /* A missing cell is the centre after scaling. */
    o.scale = KREIN_SCALE_STANDARD;
    l = learn_text(ctx, "y,x\n1.5,1e9\n2.5,\n3.5,1000000004\n4.5,1000000004\n", &o);
    CHECK(l.st == KREIN_OK);
    CHECK_ROW(l.t, 1, 0);
    CHECK_ABS((double)l.t.x[0], -sqrt(2), 1e-6);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void missing_drop(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_DROP;
    learned l = learn_text(ctx, holes, &o);
    CHECK(l.st == KREIN_OK);
    CHECK(l.t.n == 2 && l.data->count[KREIN_PART_TRAIN] == 2 &&
          l.data->count[KREIN_PART_DROPPED] == 3);
    CHECK_ROW(l.t, 0, 1, 1, 0);
    CHECK_ROW(l.t, 1, 4, 0, 1);
    CHECK(l.t.label[1] == (l.e.task == KREIN_TASK_CLASSIFICATION ? 1 : 4.5));
    /* Prediction keeps the rows and says which are dropped. */
    krein_data *other = NULL;
    taken t = {0};
    CHECK(krein_data_open(ctx, test_write("new.csv", "x,c\n1,u\n?,u\n2,v\n3,\n"), NULL, &other) ==
          KREIN_OK);
    CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
    CHECK(take(other, &l.e, -1, &t) == KREIN_OK);
    CHECK(t.n == 4 && !t.dropped[0] && t.dropped[1] && !t.dropped[2] && t.dropped[3]);
    CHECK_ROW(t, 2, 2, 0, 1);
    give_back(&t);
    krein_data_close(other);
    forget(&l);
    /* A missing label drops the row in training and evaluation. */
    l = learn_text(ctx, "y,x\n1.5,1\n,2\n3.25,3\n4.5,4\n", &o);
    CHECK(l.st == KREIN_OK && l.t.n == 3 && l.t.label[1] == 3.25);
    forget(&l);
    krein_ctx_destroy(ctx);
    refused("y,x\n1,\n2,1\n3,\n", &o, KREIN_EDATA, "data.csv", "1 usable row");
}

/* Arrays follow the same rules as files. */
static void missing_in_arrays(void) {
    krein_ctx *ctx = test_ctx(1);
    float x[] = {1, 2, 3, NAN, 5, 6, 7, 8};
    double y[] = {1.5, 2.5, 3.5, 4.25};
    krein_data_options o = plain();
    for (int missing = 0; missing < 3; missing++) {
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        o.missing = (krein_missing)missing;
        krein_status st = krein_data_from_dense(ctx, 4, 2, x, 2, y, NULL, &o, &data);
        if (st == KREIN_OK) st = krein__data_learn(data, true, 0, 1, KREIN_KEEP_AUTO, &e);
        if (st == KREIN_OK) st = take(data, &e, 0, &t);
        if (missing == KREIN_MISSING_ERROR) {
            CHECK(st == KREIN_EDATA);
        } else {
            CHECK(st == KREIN_OK && t.n == (missing == KREIN_MISSING_DROP ? 3 : 4));
            if (missing == KREIN_MISSING_MEAN)
                CHECK_ROW(t, 1, 3, 16 / 3.);
            else
                CHECK_ROW(t, 1, 5, 6);
        }
        give_back(&t);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

/* Numbers that no file could bring in must not come in through arrays. */
static void bad_arrays(void) {
    krein_ctx *ctx = test_ctx(1);
    float x[] = {1, 2, 3, 4}, far[] = {1, INFINITY, 3, 4};
    double y[] = {1.5, 2.5, 3.5, 4.25}, bad_y[] = {1, NAN, 2, 3}, bad_w[] = {1, -1, 1, 1},
           nan_w[] = {1, NAN, 1, 1};
    struct {
        const float *x;
        const double *y, *w;
    } all[] = {{far, y, NULL}, {x, bad_y, NULL}, {x, y, bad_w}, {x, y, nan_w}, {x, NULL, NULL}};
    for (int k = 0; k < 5; k++) {
        krein_data *data = NULL;
        krein_encoding e = {0};
        krein_data_options o = plain();
        krein_status st =
            krein_data_from_dense(ctx, 4, 1, all[k].x, 1, all[k].y, all[k].w, &o, &data);
        if (st == KREIN_OK) st = krein__data_learn(data, true, 0, 1, KREIN_KEEP_AUTO, &e);
        if (st == KREIN_OK) printf("bad array %d is taken\n", k);
        CHECK(st != KREIN_OK);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_data *data = (krein_data *)x;
    CHECK(krein_data_from_dense(ctx, 4, 3, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    CHECK(krein_data_from_dense(ctx, 4, 0, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    CHECK(krein_data_from_dense(ctx, -1, 1, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    krein_ctx_destroy(ctx);
}

/* ---- scaling ------------------------------------------------------------ */

enum { SN = 700, SD = 4 };
static double cell(int64_t i, int64_t j) {
    if (j == 2) return 5; /* constant */
    return j == 1 ? 1000 * det(i, j, .5) + 1e4 : det(i, j, 0) * (double)(j + 1);
}

/* d1,..,d4 with the label in front. */
static const char *scale_file(void) {
    static char text[SN * 100];
    int at = sprintf(text, "y,d1,d2,d3,d4\n");
    for (int64_t i = 0; i < SN; i++) {
        at += sprintf(text + at, "%.9g", det(i, 9, 0));
        for (int64_t j = 0; j < SD; j++) at += sprintf(text + at, ",%.9g", cell(i, j));
        at += sprintf(text + at, "\n");
    }
    return test_write("scale.csv", text);
}

static void scalers(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *path = scale_file();
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, path, &o, KREIN_KEEP_AUTO, 0, 1);
        CHECK(l.st == KREIN_OK && l.t.n == SN);
        double mean[SD] = {0}, sd[SD] = {0}, low[SD], high[SD];
        for (int j = 0; j < SD; j++) {
            low[j] = INFINITY;
            high[j] = -INFINITY;
            for (int i = 0; i < SN; i++) {
                mean[j] += cell(i, j) / SN;
                low[j] = fmin(low[j], cell(i, j));
                high[j] = fmax(high[j], cell(i, j));
            }
            for (int i = 0; i < SN; i++) sd[j] += pow(cell(i, j) - mean[j], 2) / SN;
            sd[j] = sqrt(sd[j]); /* of the population */
        }
        double worst = 0;
        for (int64_t i = 0; i < SN; i++) {
            double length = 0;
            for (int j = 0; j < SD; j++) length += cell(i, j) * cell(i, j);
            for (int64_t j = 0; j < SD; j++) {
                double v = cell(i, j), want = v;
                if (scale == KREIN_SCALE_STANDARD) want = j == 2 ? 0 : (v - mean[j]) / sd[j];
                if (scale == KREIN_SCALE_MINMAX)
                    want = j == 2 ? 0 : (v - low[j]) / (high[j] - low[j]);
                if (scale == KREIN_SCALE_UNIT) want = v / sqrt(length);
                worst = fmax(worst, fabs((double)l.t.x[i * SD + j] - want) / (1 + fabs(want)));
            }
        }
        CHECK_ABS(worst, 0, 1e-5);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

/* The same rows from arrays give the same blocks. */
static void arrays_scale_as_files(void) {
    krein_ctx *ctx = test_ctx(1);
    static float x[SN * SD];
    static double y[SN];
    for (int64_t i = 0; i < SN; i++) {
        y[i] = det(i, 9, 0);
        for (int64_t j = 0; j < SD; j++) x[i * SD + j] = (float)cell(i, j);
    }
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, scale_file(), &o, KREIN_KEEP_AUTO, 0, 1);
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        CHECK(krein_data_from_dense(ctx, SN, SD, x, SD, y, NULL, &o, &data) == KREIN_OK);
        CHECK(krein__data_learn(data, true, 0, 1, KREIN_KEEP_AUTO, &e) == KREIN_OK);
        CHECK(take(data, &e, 0, &t) == KREIN_OK);
        CHECK(t.n == SN && t.d == SD);
        double worst = 0;
        for (int64_t k = 0; k < SN * SD; k++)
            worst = fmax(worst, fabs((double)t.x[k] - (double)l.t.x[k]));
        CHECK_ABS(worst, 0, scale == KREIN_SCALE_NONE ? 1e-2 : 1e-4);
        give_back(&t);
        krein_data_close(data);
        krein__encoding_clear(ctx, &e);
        /* Arrays read with the encoding that was learned from the file (predict_dense). */
        CHECK(krein_data_from_dense(ctx, SN, SD, x, SD, NULL, NULL, NULL, &data) == KREIN_OK);
        CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
        CHECK(take(data, &l.e, -1, &t) == KREIN_OK);
        CHECK(t.n == SN);
        worst = 0;
        for (int64_t k = 0; k < SN * SD && t.n == SN; k++)
            worst = fmax(worst, fabs((double)t.x[k] - (double)l.t.x[k]));
        CHECK_ABS(worst, 0, scale == KREIN_SCALE_NONE ? 1e-2 : 1e-4);
        give_back(&t);
        krein_data_close(data);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

/* Seconds since 1970: differences of a second must survive. */
static void large_offset(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[8000] = "y,t\n";
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), 60, "%g,%.3f\n", det(i, 0, 0), 1.6e9 + i * .25);
    for (int scale = 0; scale < 2; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_text(ctx, text, &o);
        CHECK(l.st == KREIN_OK);
        double sd = .25 * sqrt((100. * 100 - 1) / 12);
        for (int i = 0; i < 100 && l.t.n == 100; i++)
            CHECK_ABS((double)l.t.x[i], scale ? i / 99. : .25 * (i - 49.5) / sd, 1e-5);
        /* and in another file */
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("new.csv", "t\n1600000012.5\n1600000000\n"), NULL,
                              &other) == KREIN_OK);
        CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
        CHECK(take(other, &l.e, -1, &t) == KREIN_OK && t.n == 2);
        CHECK(t.n == 2 && t.x[0] == l.t.x[50] && t.x[1] == l.t.x[0]);
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

static void sparse_scaling(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *text = "1 1:2 3:4\n-1 2:1\n1 1:4 3:-2\n-1 3:6 4:3\n1 4:3\n";
    static const double raw[5][4] = {
        {2, 0, 4, 0}, {0, 1, 0, 0}, {4, 0, -2, 0}, {0, 0, 6, 3}, {0, 0, 0, 3}};
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, test_write("s.libsvm", text), &o, KREIN_KEEP_AUTO, 0, 1);
        CHECK(l.st == KREIN_OK && l.e.sparse && l.e.d == 4 && l.t.n == 5);
        for (int i = 0; i < 5 && l.t.n == 5; i++) {
            double length = 0;
            for (int j = 0; j < 4; j++) length += raw[i][j] * raw[i][j];
            for (int j = 0; j < 4; j++) {
                double mean = 0, square = 0, most = 0;
                for (int r = 0; r < 5; r++) {
                    mean += raw[r][j] / 5;
                    square += raw[r][j] * raw[r][j] / 5;
                    most = fmax(most, fabs(raw[r][j]));
                }
                double want = raw[i][j];
                if (scale == KREIN_SCALE_STANDARD) want /= sqrt(square - mean * mean);
                if (scale == KREIN_SCALE_MINMAX) want /= most;
                if (scale == KREIN_SCALE_UNIT) want /= sqrt(length);
                CHECK_ABS((double)l.t.x[i * 4 + j], want, 1e-6);
            }
        }
        /* Columns beyond those of training are dropped, and fewer are fine. */
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("t.libsvm", "1 1:2 9:5\n1 2:1\n"), NULL, &other) ==
              KREIN_OK);
        CHECK(krein__data_match(other, &l.e, true) == KREIN_OK);
        CHECK(take(other, &l.e, 0, &t) == KREIN_OK && t.n == 2 && t.d == 4);
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
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
    CHECK_HAS(krein_message(ctx), "--holdout");
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- matching ----------------------------------------------------------- */

/* Reads text with the encoding of the training text; status and rows. */
static krein_status match(krein_ctx *ctx, const krein_encoding *e, const char *text,
                          bool need_label, taken *t) {
    krein_data *data = NULL;
    memset(t, 0, sizeof *t);
    krein_status st = krein_data_open(ctx, test_write("new.csv", text), NULL, &data);
    if (st == KREIN_OK) st = krein__data_match(data, e, need_label);
    if (st == KREIN_OK) st = take(data, e, need_label ? KREIN_PART_TRAIN : -1, t);
    krein_data_close(data);
    return st;
}

static void match_by_name(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    krein_data_options o;
    krein_data_options_init(&o);
    o.ignore = "junk";
    learned l = learn_text(ctx, "y,a,c,junk,b\nno,1,u,5,10\nyes,2,v,5,20\nno,3,u,6,30\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 4);
    taken t;
    CHECK(match(ctx, &l.e, "b,c,a,y\n10,u,1,no\n20,v,2,yes\n30,u,3,no\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    CHECK(memcmp(t.label, l.t.label, 3 * sizeof *t.label) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a\n10,u,1\n20,v,2\n30,u,3\n", false, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    /* a column that was not there at training: ignored, and said */
    CHECK(match(ctx, &l.e, "b,c,new,a\n10,u,7,1\n20,v,7,2\n30,u,7,3\n", false, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "\"new\"");
    give_back(&t);
    /* predict does not look at the label, right or wrong */
    CHECK(match(ctx, &l.e, "b,y,c,a\n10,maybe,u,1\n", false, &t) == KREIN_OK && t.n == 1);
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,a,y\n10,1,no\n20,2,yes\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "new.csv");
    CHECK_HAS(krein_message(ctx), "\"c\"");
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a\n10,u,1\n20,v,2\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "label");
    give_back(&t);
    CHECK(match(ctx, &l.e, "b,c,a,y\n10,u,1,no\n20,v,2,maybe\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "new.csv");
    CHECK_HAS(krein_message(ctx), "row 2");
    CHECK_HAS(krein_message(ctx), "\"maybe\"");
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void match_by_width(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    o.header = 0;
    o.label = "2";
    learned l = learn_text(ctx, "1,7,u,10\n2,8,v,20\n3,7,u,30\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 4 && !l.e.header);
    taken t;
    CHECK(match(ctx, &l.e, "1,7,u,10\n2,8,v,20\n3,7,u,30\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0 && t.label[1] == 1);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,9,u,10\n2,9,v,20\n3,9,u,30\n", false, &t) == KREIN_OK); /* ignored */
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,u,10\n2,v,20\n3,u,30\n", false, &t) == KREIN_OK); /* not there */
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 12 * sizeof *t.x) == 0);
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,u,10\n2,v,20\n3,u,30\n", true, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "label");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,7,u,10,1\n2,8,v,20,1\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "5 columns");
    CHECK_HAS(krein_message(ctx), "new.csv");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,7\n2,8\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "2 columns");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1 1:3\n2 2:4\n", false, &t) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "sparse");
    give_back(&t);
    CHECK(match(ctx, &l.e, "1,9,u,10\n2,9,v,20\n", true, &t) == KREIN_EDATA); /* class 9 */
    CHECK_HAS(krein_message(ctx), "\"9\"");
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* A column without a name in the header is a column all the same. */
static void nameless_column(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.header = 1;
    taken t;
    /* in the second file only */
    learned l = learn_text(ctx, "a,y\n1,3.5\n2,1.5\n3,2.25\n", &o);
    CHECK(match(ctx, &l.e, "a,,y\n1,u,3.5\n2,v,1.5\n", true, &t) == KREIN_OK && t.n == 2);
    give_back(&t);
    forget(&l);
    l = learn_text(ctx, ",a,y\n1,2,3.5\n2,4,1.5\n3,9,2.25\n", &o);
    CHECK(l.st == KREIN_OK && l.e.d == 2);
    CHECK(match(ctx, &l.e, ",a,y\n1,2,3.5\n2,4,1.5\n3,9,2.25\n", true, &t) == KREIN_OK);
    CHECK(t.n == 3 && memcmp(t.x, l.t.x, 6 * sizeof *t.x) == 0);
    give_back(&t);
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- blocks ------------------------------------------------------------- */

static const char *long_file(int64_t n) {
    const char *path = test_path("long.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,a,b,c\n");
    for (int64_t i = 0; i < n; i++)
        fprintf(f, "%.5g,%.5g,%s,%.5g\n", det(i, 0, 0), det(i, 1, 0) * 100,
                i % 7 == 1 ? "p"
                : i % 3    ? "q"
                           : "r",
                det(i, 2, 0));
    fclose(f);
    return path;
}

static void same_blocks_everywhere(void) {
    int64_t n = 5000;
    const char *path = long_file(n);
    for (int part = 0; part < 2; part++) {
        learned l[4];
        krein_ctx *ctx[4];
        krein_data_options o;
        krein_data_options_init(&o);
        for (int k = 0; k < 4; k++) {
            ctx[k] = test_ctx(k % 2 ? 3 : 1);
            l[k] = learn_file(ctx[k], path, &o, k < 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM,
                              part ? .2 : 0, 3);
            CHECK(l[k].st == KREIN_OK && l[k].t.n == (part ? 4000 : n));
            CHECK(l[k].t.blocks == 3);
            CHECK(l[k].data->in_memory == (k < 2));
            CHECK(memcmp(l[k].e.centre, l[0].e.centre, 5 * sizeof(float)) == 0);
            CHECK(memcmp(l[k].e.factor, l[0].e.factor, 5 * sizeof(float)) == 0);
            CHECK(memcmp(l[k].t.x, l[0].t.x, (size_t)(l[0].t.n * 5) * sizeof(float)) == 0);
            CHECK(memcmp(l[k].t.label, l[0].t.label, (size_t)l[0].t.n * sizeof(double)) == 0);
            CHECK(l[k].data->label_mean[0] == l[0].data->label_mean[0]);
        }
        for (int k = 0; k < 4; k++) {
            forget(&l[k]);
            krein_ctx_destroy(ctx[k]);
        }
    }
    CHECK(krein__block_rows(10) == krein__block_rows(4096));
    CHECK(krein__block_rows(100000) < krein__block_rows(10) && krein__block_rows(100000) > 0);
}

static void gather_rows(void) {
    for (int sparse = 0; sparse < 2; sparse++)
        for (int stream = 0; stream < 2; stream++) {
            krein_ctx *ctx = test_ctx(2);
            const char *path = long_file(4100);
            if (sparse) {
                path = test_path("long.libsvm");
                FILE *f = fopen(path, "w");
                if (!f) exit(1);
                for (int i = 0; i < 4100; i++)
                    fprintf(f, "%.5g %d:%.4g %d:1\n", det(i, 0, 0), 1 + i % 5, det(i, 1, 0),
                            6 + i % 4);
                fclose(f);
            }
            krein_data_options o;
            krein_data_options_init(&o);
            learned l =
                learn_file(ctx, path, &o, stream ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY, 0, 1);
            CHECK(l.st == KREIN_OK);
            krein_stream *s = NULL;
            krein_matrix x = {0};
            static const int64_t index[] = {0, 1, 77, 1919, 1920, 3000, 3840, 4099};
            double label[8], weight[8];
            CHECK(krein__stream_open(l.data, &l.e, KREIN_PART_TRAIN, &s) == KREIN_OK);
            for (int turn = 0; turn < 2; turn++) { /* rewinds by itself */
                CHECK(krein__stream_gather(s, index, 8, &x, label, weight, NULL) == KREIN_OK);
                krein_rows rows = krein__matrix_rows(&x);
                float row[16];
                CHECK(rows.n == 8 && rows.d == l.e.d);
                for (int i = 0; i < 8; i++) {
                    krein__row_copy(&rows, i, row);
                    CHECK(memcmp(row, l.t.x + index[i] * l.e.d, (size_t)l.e.d * sizeof *row) == 0);
                    CHECK(label[i] == l.t.label[index[i]] && weight[i] == 1);
                }
                krein__matrix_clear(ctx, &x);
            }
            static const int64_t beyond[] = {4098, 4100};
            CHECK(krein__stream_gather(s, beyond, 2, &x, NULL, NULL, NULL) == KREIN_EIO);
            krein__stream_close(s);
            forget(&l);
            krein_ctx_destroy(ctx);
        }
}

/* ---- NPY with labels beside it ------------------------------------------ */

static const char *npy(krein_ctx *ctx, const char *name, int64_t n, int64_t d, double shift) {
    const char *path = test_path(name);
    krein_writer *w = NULL;
    CHECK(krein__writer_open(ctx, path, &w) == KREIN_OK);
    CHECK(krein__npy_header(w, "<f8", n, d) == KREIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (d < 0 ? 1 : d); j++) {
            double v = d < 0 ? (double)(i % 3) : det(i, j, shift);
            CHECK(krein__writer_put(w, &v, sizeof v) == KREIN_OK);
        }
    CHECK(krein__writer_commit(w) == KREIN_OK);
    return path;
}

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

/* ---- what cannot work --------------------------------------------------- */

static void clear_errors(void) {
    refused("y,x\n1,2\n", NULL, KREIN_EDATA, "data.csv", "at least two");
    refused("y\n1\n2\n3\n", NULL, KREIN_EDATA, "data.csv", "--label");
    refused("1 \n2 \n", NULL, KREIN_EDATA, "data.csv", "");
    char *text = test_new(40000, 1);
    int at = sprintf(text, "y,name\n");
    for (int i = 0; i < 1100; i++) at += sprintf(text + at, "%d,person %d\n", i % 2, i);
    refused(text, NULL, KREIN_EDATA, "1000", "--ignore 2");
    free(text);
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = (krein_data *)ctx;
    CHECK(krein_data_open(ctx, test_path("nosuch.csv"), NULL, &data) == KREIN_EIO && !data);
    CHECK_HAS(krein_message(ctx), "nosuch.csv");
    krein_ctx_destroy(ctx);
}

/* Rows that come or go between two passes. */
static void file_changes(void) {
    for (int which = 0; which < 3; which++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data_options o = plain();
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        const char *path = long_file(3000);
        CHECK(krein_data_open(ctx, path, &o, &data) == KREIN_OK);
        CHECK(krein__data_learn(data, true, 0, 1, KREIN_KEEP_STREAM, &e) == KREIN_OK);
        if (which == 0) { /* longer */
            FILE *f = fopen(path, "a");
            if (!f) exit(1);
            for (int i = 0; i < 500; i++) fprintf(f, "1,2,q,3\n");
            fclose(f);
        } else if (which == 1) { /* shorter */
            long_file(2000);
        } else { /* a category that was not there, in place of another */
            FILE *f = fopen(path, "r+");
            if (!f) exit(1);
            fputs("y,a,b,c\n0.1,2.3,new,1\n", f);
            fclose(f);
        }
        krein_status st = take(data, &e, KREIN_PART_TRAIN, &t);
        if (st == KREIN_OK)
            printf("a change (%d) of the file goes unnoticed: %d rows, 3000 learned\n", which,
                   (int)t.n);
        CHECK(st != KREIN_OK);
        if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), "long.csv");
        give_back(&t);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

/* One data set may be learned and matched again and again. */
static void used_again(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o;
    krein_data_options_init(&o);
    learned first = learn_file(ctx, long_file(2500), &o, KREIN_KEEP_MEMORY, .2, 1);
    CHECK(first.st == KREIN_OK);
    /* again, nothing held out */
    krein_encoding e = {0};
    taken t = {0};
    CHECK(krein__data_learn(first.data, true, 0, 1, KREIN_KEEP_MEMORY, &e) == KREIN_OK);
    CHECK(first.data->count[KREIN_PART_TRAIN] == 2500);
    CHECK(take(first.data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK);
    CHECK(t.n == 2500);
    give_back(&t);
    /* read with the encoding of another file: other first values, other categories */
    learned other = learn_text(ctx, "y,a,b,c\n3,50,r,1\n1,60,q,2\n2.5,90,p,7\n", &o);
    learned fresh = {.ctx = ctx};
    taken want = {0};
    CHECK(other.st == KREIN_OK);
    CHECK(krein_data_open(ctx, test_path("long.csv"), &o, &fresh.data) == KREIN_OK);
    CHECK(krein__data_match(fresh.data, &other.e, false) == KREIN_OK);
    CHECK(take(fresh.data, &other.e, -1, &want) == KREIN_OK && want.n == 2500);
    CHECK(krein__data_match(first.data, &other.e, false) == KREIN_OK);
    CHECK(take(first.data, &other.e, -1, &t) == KREIN_OK);
    CHECK(t.n == 2500);
    CHECK(t.n == 2500 && memcmp(t.x, want.x, 2500 * 5 * sizeof *t.x) == 0);
    give_back(&t);
    give_back(&want);
    krein__encoding_clear(ctx, &e);
    forget(&fresh);
    forget(&other);
    forget(&first);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------- */

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o;
    krein_data_options_init(&o);
    o.weights = "w";
    o.id = "name";
    o.missing = KREIN_MISSING_DROP;
    const char *csv = test_write("all.csv", "y,w,a,b,name\nu,1,1,p,n1\nv,2,2,q,n2\nu,1,,p,n3\n"
                                            "v,1,3,p,n4\nu,1,5,q,n5\nv,2,6,p,n6\nu,1,7,r,n7\n");
    const char *svm =
        test_write("all.libsvm", "1 1:2 3:4\n-1 2:1\n1 1:4 3:-2\n-1 3:6 4:3\n1 4:3\n");
    char x[256], y[256];
    snprintf(x, sizeof x, "%s", npy(ctx, "x.npy", 30, 2, 0));
    snprintf(y, sizeof y, "%s", npy(ctx, "y.npy", 30, -1, 0));
    krein_data_options bare, beside;
    krein_data_options_init(&bare);
    krein_data_options_init(&beside);
    beside.labels_file = y;
    for (int which = 0; which < 6; which++) {
        const char *path = which < 3 ? csv : which < 5 ? svm : x;
        const krein_data_options *with = which < 3 ? &o : which < 5 ? &bare : &beside;
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_data *data = NULL, *other = NULL;
            krein_encoding e = {0};
            krein_stream *s = NULL;
            krein_matrix m = {0};
            krein_block b;
            static const int64_t index[] = {0, 2};
            krein_status st = krein_data_open(ctx, path, with, &data);
            if (st == KREIN_OK)
                st = krein__data_learn(data, true, which % 3 == 1 ? .3 : 0, 1,
                                       which % 2 ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY, &e);
            if (st == KREIN_OK) st = krein__stream_open(data, &e, KREIN_PART_TRAIN, &s);
            if (st == KREIN_OK) st = krein__stream_next(s, &b);
            if (st == KREIN_OK) st = krein__stream_gather(s, index, 2, &m, NULL, NULL, NULL);
            krein__matrix_clear(ctx, &m);
            krein__stream_close(s);
            s = NULL;
            if (st == KREIN_OK) st = krein_data_open(ctx, path, with, &other);
            if (st == KREIN_OK) st = krein__data_match(other, &e, true);
            if (st == KREIN_OK) st = krein__stream_open(other, &e, -1, &s);
            if (st == KREIN_OK) st = krein__stream_next(s, &b);
            krein__stream_close(s);
            krein_data_close(other);
            krein_data_close(data);
            krein__encoding_clear(ctx, &e);
            if (st != (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK))
                printf("data %d, allocation %lld: %s\n", which, (long long)k, krein_message(ctx));
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    }
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(one_hot_in_column_order);
    RUN(category_scaling);
    RUN(unknown_category);
    RUN(class_names);
    RUN(task_rule);
    RUN(task_asked);
    RUN(label_rules);
    RUN(label_not_needed);
    RUN(side_columns);
    RUN(several_targets);
    RUN(missing_error);
    RUN(missing_mean);
    RUN(missing_drop);
    RUN(missing_in_arrays);
    RUN(bad_arrays);
    RUN(scalers);
    RUN(arrays_scale_as_files);
    RUN(large_offset);
    RUN(sparse_scaling);
    RUN(holdout_by_class);
    RUN(holdout_by_group);
    RUN(holdout_of_numbers);
    RUN(match_by_name);
    RUN(match_by_width);
    RUN(same_blocks_everywhere);
    RUN(gather_rows);
    RUN(labels_file);
    RUN(clear_errors);
    RUN(file_changes);
    RUN(used_again);
    RUN(every_allocation_fails);
    RUN(nameless_column);
    return DONE();
}
