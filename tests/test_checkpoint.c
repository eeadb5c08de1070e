/* test_checkpoint.c -- training that is interrupted and goes on: the same model to the bit, from
 * every format; files of other jobs, damaged files, learners without a state. */
#include "train.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 10000 };

typedef struct stopper {
    int64_t after;     /* polls until it cancels; < 0: never */
    const char *stage; /* they count from the progress that says so; NULL: all */
} stopper;

static int cancel(void *user) {
    stopper *s = user;
    return !s->stage && s->after >= 0 && s->after-- == 0;
}

static void progress(void *user, const char *what, double done, double total) {
    stopper *s = user;
    (void)done, (void)total;
    if (s->stage && strstr(what, s->stage)) s->stage = NULL;
}

static krein_ctx *make_ctx(int threads, uint64_t memory, stopper *s) {
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = threads;
    o.max_memory = memory;
    o.cancel = cancel;
    o.progress = progress;
    o.user = s;
    CHECK(krein_ctx_create(&o, &ctx) == KREIN_OK);
    return ctx;
}

typedef struct job {
    const char *path, *label, *labels, *learner, *map;
    double lambda, holdout;
    const char *select;
    krein_keep keep;
    uint64_t memory;
    const char *kernel; /* NULL: a Gaussian; "": none is given */
    const char *metric; /* or NULL */
    double effort;
    const krein_rows_view *view; /* rows in memory in the place of a file, or NULL */
    const char *unlabeled;       /* a file, or NULL */
    const char *stage;           /* see stopper */
} job;

/* Trains, saves the model, and returns the status; the message goes to text. */
static krein_status run(const job *j, const char *checkpoint, int64_t polls, int threads,
                        const char *model, char *text) {
    stopper s = {polls, j->stage};
    krein_ctx *ctx = make_ctx(threads, j->memory, &s);
    ctx->keep_rows = j->keep;
    krein_data_options d;
    krein_train_options o = defaults();
    krein_data *data = NULL, *more = NULL;
    krein_model *m = NULL;
    krein_data_options_init(&d);
    d.label = j->label;
    d.labels_file = j->labels;
    o.learner = j->learner;
    o.kernel = !j->kernel ? "gaussian(sigma=2)" : j->kernel[0] ? j->kernel : NULL;
    o.map = j->map ? j->map : j->learner ? NULL : "rff(D=24)";
    o.lambda = j->lambda;
    o.holdout = j->holdout;
    o.select = j->select;
    o.metric = j->metric;
    o.effort = j->effort;
    o.checkpoint = checkpoint;
    o.checkpoint_seconds = 1e-9; /* after every block */
    krein_status st = j->view ? krein_data_from_rows(ctx, j->view, &d, &data)
                              : krein_data_open(ctx, j->path, &d, &data);
    if (st == KREIN_OK && j->unlabeled) st = krein_data_open(ctx, j->unlabeled, NULL, &more);
    o.unlabeled = more;
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
    s.after = -1;
    if (st == KREIN_OK) st = krein_model_save(ctx, m, model);
    snprintf(text, 1024, "%s", krein_message(ctx));
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(more);
    krein_ctx_destroy(ctx);
    return st;
}

static bool same_files(const char *a, const char *b) {
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    bool same = f && g;
    for (int c = 0; same && c != EOF;) {
        c = fgetc(f);
        same = c == fgetc(g);
    }
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/* Bytes that training by default takes, by two threads. */
static uint64_t needed(const job *j) {
    stopper s = {-1, NULL};
    krein_ctx *ctx = make_ctx(2, (uint64_t)1 << 30, &s);
    krein_train_options o = defaults();
    krein_data *data = NULL;
    krein_report r = KREIN_SIZED(krein_report);
    o.kernel = "gaussian(sigma=2)";
    o.map = j->map;
    o.lambda = j->lambda;
    CHECK(krein_data_open(ctx, j->path, NULL, &data) == KREIN_OK);
    CHECK(krein_plan(ctx, data, &o, &r) == KREIN_OK);
    uint64_t bytes = r.bytes_peak;
    krein_report_clear(ctx, &r);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    return bytes;
}

/* Cancelled again and again, `step` polls after it began, until it ends. */
static void interrupted(const job *j, int64_t step, int least) {
    const char *ck = test_path("state"), *one = test_path("one"), *two = test_path("two");
    char text[1024];
    int turns = 0;
    krein_status st = run(j, NULL, -1, 2, one, text);
    if (st != KREIN_OK) printf("%s: %s\n", j->path ? j->path : "rows", text);
    CHECK(st == KREIN_OK);
    unlink(ck);
    unlink(two);
    do {
        st = run(j, ck, step * (turns / 3 + 1), 1 + turns % 2, two, text);
        if (st == KREIN_ECANCEL && exists(ck)) CHECK_HAS(text, "go on");
        turns++;
    } while (st == KREIN_ECANCEL && turns < 200);
    if (st != KREIN_OK) printf("%s\n", text);
    CHECK(st == KREIN_OK && turns > least);
    CHECK(exists(ck)); /* the caller removes it */
    CHECK(same_files(one, two));
    unlink(ck);
}

static const char *text_labels(const char *name, const rows *r) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    fprintf(f, "kind,a,colour,b\n");
    for (int64_t i = 0; i < r->n; i++)
        fprintf(f, "%s,%.8g,%s,%.8g\n",
                r->y[i] > 16   ? "high"
                : r->y[i] > 12 ? "middle"
                               : "low",
                (double)r->x[i * r->d], r->x[i * r->d + 1] > 0.5f ? "red" : "blue",
                (double)r->x[i * r->d + 2]);
    fclose(f);
    return path;
}

static const char *libsvm(const char *name, const rows *r) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    for (int64_t i = 0; i < r->n; i++) {
        fprintf(f, "%.8g", r->y[i]);
        for (int64_t k = 0; k < r->d; k++)
            if ((i + k) % 3) fprintf(f, " %d:%.8g", (int)k + 1, (double)r->x[i * r->d + k]);
        fprintf(f, "\n");
    }
    fclose(f);
    return path;
}

static void npy(const char *path, const float *x, int64_t n, int64_t d) {
    FILE *f = fopen(path, "wb");
    char head[128];
    memset(head, ' ', sizeof head);
    int used =
        snprintf(head + 10, sizeof head - 10,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", (int)n, (int)d);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    head[10 + used] = ' ';
    head[127] = '\n';
    fwrite(head, 1, sizeof head, f);
    fwrite(x, sizeof *x, (size_t)(n * d), f);
    fclose(f);
}

static void every_format(void) {
    rows r = friedman(ROWS, 1, 5);
    char csv[256], words[256], sparse[256], x[256], y[256], zip[300], command[600];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    snprintf(words, sizeof words, "%s", text_labels("b.csv", &r));
    snprintf(sparse, sizeof sparse, "%s", libsvm("c.txt", &r));
    snprintf(x, sizeof x, "%s", test_path("x.npy"));
    snprintf(y, sizeof y, "%s", test_path("y.npy"));
    snprintf(zip, sizeof zip, "%s.gz", csv);
    npy(x, r.x, r.n, r.d);
    float *label = test_new(r.n, sizeof *label);
    for (int64_t i = 0; i < r.n; i++) label[i] = (float)r.y[i];
    npy(y, label, r.n, 1);
    free(label);
    job j = {.path = csv, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM};
    interrupted(&j, 8, 1);
    j.path = words;
    interrupted(&j, 8, 1);
    j.path = sparse;
    interrupted(&j, 8, 1);
    j = (job){.path = x, .labels = y, .lambda = -1, .keep = KREIN_KEEP_STREAM};
    interrupted(&j, 8, 1);
    snprintf(command, sizeof command, "gzip -kf %s", csv);
    if (system(command) == 0) {
        j = (job){.path = zip, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM};
        interrupted(&j, 8, 1);
    }
    j = (job){.path = csv, .lambda = 1e-4, .keep = KREIN_KEEP_MEMORY}; /* kept in memory */
    interrupted(&j, 8, 1);
    drop(&r);
}

static void refused(const job *j, const char *ck, krein_status want, const char *words) {
    char text[1024];
    krein_status st = run(j, ck, -1, 1, test_path("two"), text);
    if (st != want) printf("status %d: %s\n", (int)st, text);
    CHECK(st == want);
    CHECK_HAS(text, words);
}

/* The lines of a CSV file with a header, over files p0.csv, p1.csv, ...; returns their pattern. */
static const char *split(const char *path, int64_t lines) {
    FILE *f = fopen(path, "r"), *g = NULL;
    char header[256] = "", line[256], name[32];
    CHECK(f && fgets(header, sizeof header, f));
    for (int64_t n = 0; f && fgets(line, sizeof line, f); n++) {
        if (n % lines == 0) {
            if (g) fclose(g);
            snprintf(name, sizeof name, "p%d.csv", (int)(n / lines));
            g = fopen(test_path(name), "w");
            fputs(header, g);
        }
        fputs(line, g);
    }
    if (f) fclose(f);
    if (g) fclose(g);
    return test_path("p?.csv");
}

/* Several files: goes on in the middle of one of them; a changed file is another job. */
static void parts(void) {
    rows r = friedman(ROWS, 1, 5);
    char words[256], pattern[256], whole[256], ck[256], text[1024];
    snprintf(words, sizeof words, "%s", text_labels("b.csv", &r));
    snprintf(pattern, sizeof pattern, "%s", split(words, ROWS / 3));
    snprintf(whole, sizeof whole, "%s", test_path("whole"));
    snprintf(ck, sizeof ck, "%s", test_path("ck"));
    job j = {.path = words, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM};
    CHECK(run(&j, NULL, -1, 2, whole, text) == KREIN_OK);
    j.path = pattern;
    interrupted(&j, 8, 1);
    CHECK(same_files(whole, test_path("one")));
    krein_status st = KREIN_ECANCEL; /* polls depend on how long a batch is waited for */
    for (int64_t k = 12; k < 100 && !exists(ck); k += 4) st = run(&j, ck, k, 1, whole, text);
    CHECK(st == KREIN_ECANCEL && exists(ck));
    FILE *f = fopen(test_path("p2.csv"), "a");
    fprintf(f, "low,1,red,1\n");
    fclose(f);
    refused(&j, ck, KREIN_EARG, "data was");
    refused(&j, ck, KREIN_EARG, "4 files");
    unlink(ck);
    test_empty_dir();
    drop(&r);
}

/* Selection, leave-one-out, folds, held-out rows, landmarks (several passes). */
static void every_way(void) {
    rows r = friedman(ROWS / 2, 1, 6);
    char csv[256];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    job all[] = {{.path = csv, .lambda = -1, .keep = KREIN_KEEP_STREAM},
                 {.path = csv, .lambda = -1, .select = "cv(k=3)", .keep = KREIN_KEEP_STREAM},
                 {.path = csv, .lambda = 1e-3, .holdout = 0.2, .keep = KREIN_KEEP_STREAM},
                 {.path = csv, .lambda = -1, .map = "nystrom(D=20)", .keep = KREIN_KEEP_STREAM}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) interrupted(&all[k], 22, 1);
    drop(&r);
}

/* A number of features that nobody asked for does not become one that was: conjugate gradients
 * are for those alone, where sums take most of the memory. */
static void tight(void) {
    rows r = friedman(1000, 1, 6);
    job j = {.path = write_rows("tight.csv", &r),
             .map = "rff",
             .lambda = 1e-3,
             .keep = KREIN_KEEP_STREAM};
    j.memory = needed(&j) / 10 * 11;
    interrupted(&j, 6, 1);
    drop(&r);
}

static void other_jobs(void) {
    rows r = friedman(ROWS / 2, 1, 7);
    char csv[256], ck[256], text[1024], model[256];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    snprintf(ck, sizeof ck, "%s", test_path("state"));
    snprintf(model, sizeof model, "%s", test_path("one"));
    job j = {.path = csv, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM}, other = j;
    unlink(ck);
    CHECK(run(&j, ck, -1, 1, model, text) == KREIN_OK && exists(ck));
    other.lambda = 1e-3;
    refused(&other, ck, KREIN_EARG, "lambda was 0.0001, and is 0.001 now");
    other = j;
    other.map = "rff(D=26)";
    refused(&other, ck, KREIN_EARG, "map was rff(D=24)");
    other = j;
    other.label = "x1";
    refused(&other, ck, KREIN_EARG, "label was (default), and is x1 now");
    refused(&j, model, KREIN_EARG, "this is a model");
    other = j;
    other.learner = "svr";
    refused(&other, ck, KREIN_EARG, "svr keeps no state");
    refused(&other, ck, KREIN_EARG, "krr, askl");
    refused(&j, "/dev/null", KREIN_EARG, "not a file of its own");
    refused(&j, test_path("no/such/place"), KREIN_EIO, "create the directory");
    /* the data change */
    FILE *f = fopen(csv, "a");
    fprintf(f, "1,0,0,0,0,0,0\n");
    fclose(f);
    refused(&j, ck, KREIN_EARG, "data was");
    /* it was never overwritten: the first job goes on, if its data were as before */
    struct stat s;
    CHECK(stat(ck, &s) == 0 && s.st_size > 0);
    unlink(ck);
    drop(&r);
}

/* What is chosen where no kernel is given changes the scaling of the rows, too: metric and clip. */
static void chosen_metric(void) {
    rows r = friedman(600, 1, 6);
    char csv[256];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    const krein_keep keep[] = {KREIN_KEEP_MEMORY, KREIN_KEEP_STREAM};
    for (int k = 0; k < 2; k++) {
        job j = {.path = csv, .lambda = -1, .keep = keep[k], .kernel = ""};
        j.effort = 0.01;
        j.stage = "fitting";
        if (k == 1) { /* a kernel, and a metric for it */
            j.kernel = NULL;
            j.metric = "diagonal";
        }
        interrupted(&j, 1, 1);
    }
    drop(&r);
}

/* Rows of the caller: known by their cells. */
static void arrays(void) {
    rows r = friedman(ROWS / 2, 1, 6);
    krein_rows_view v;
    char ck[256], text[1024];
    snprintf(ck, sizeof ck, "%s", test_path("state"));
    krein_rows_view_init(&v);
    v.n = r.n, v.d = r.d, v.x = r.x, v.type = KREIN_FLOAT32, v.targets = r.y;
    job j = {.lambda = 1e-4, .view = &v}, other = j;
    interrupted(&j, 8, 1);
    krein_status st = KREIN_OK;
    for (int64_t k = 4; k < 100 && !exists(ck); k += 2)
        st = run(&j, ck, k, 1, test_path("one"), text);
    CHECK(st == KREIN_ECANCEL && exists(ck));
    other.lambda = 1e-3;
    refused(&other, ck, KREIN_EARG, "lambda was 0.0001, and is 0.001 now");
    r.x[r.n * r.d / 2] += 0.001f;
    refused(&j, ck, KREIN_EARG, "data was 5000 rows in memory");
    r.x[r.n * r.d / 2] -= 0.001f;
    unlink(ck);
    /* sparse ones */
    int64_t *ptr = test_new(r.n + 1, sizeof *ptr);
    int32_t *col = test_new(r.n * 2, sizeof *col);
    for (int64_t i = 0; i <= r.n; i++) ptr[i] = 2 * i;
    for (int64_t i = 0; i < 2 * r.n; i++) col[i] = (int32_t)(i % 2 ? 3 + i % 3 : i % 3);
    v.x = NULL;
    v.indptr = ptr, v.indptr_type = KREIN_INT64, v.indices = col, v.index_type = KREIN_INT32;
    v.values = r.x;
    interrupted(&j, 8, 1);
    for (int64_t k = 4; k < 100 && !exists(ck); k += 2)
        st = run(&j, ck, k, 1, test_path("one"), text);
    CHECK(st == KREIN_ECANCEL && exists(ck));
    col[7]++;
    refused(&j, ck, KREIN_EARG, "data was");
    unlink(ck);
    free(ptr), free(col);
    drop(&r);
}

/* The paths that a test names stay, whatever test_path says next. */
typedef struct name {
    char at[256];
} name;
static name named(const char *path) {
    name n;
    snprintf(n.at, sizeof n.at, "%s", path);
    return n;
}

/* Nets: parameters, optimiser, best epoch and place; then the sums of the last layer. */
static void nets(void) {
    rows r = friedman(400, 1, 6), c = rings(400, 3, 6), more = friedman(200, 1, 7);
    name numbers = named(write_rows("n.csv", &r)), classes = named(write_rows("c.csv", &c));
    name sparse = named(libsvm("s.txt", &r)), extra = named(write_rows("u.csv", &more));
    const krein_keep stream = KREIN_KEEP_STREAM;
    job all[] = {{.path = numbers.at, .lambda = -1, .learner = "askl(D=12, epochs=3, batch=20)"},
                 {.path = classes.at, .lambda = -1, .learner = "askl(D=12, epochs=3, norm=group)"},
                 {.path = numbers.at,
                  .lambda = 1e-3,
                  .keep = stream,
                  .learner = "askl(D=12, epochs=3, optimizer=sgd, rate=0.01, clip=1, sines=yes)"},
                 {.path = sparse.at,
                  .lambda = -1,
                  .keep = stream,
                  .learner = "askl(D=12, epochs=3, optimizer=adadelta, refit=no)"},
                 {.path = numbers.at,
                  .lambda = -1,
                  .holdout = 0.2,
                  .unlabeled = extra.at,
                  .learner = "askl(D=12, epochs=3, lambda_b=0.1)"},
                 {.path = classes.at,
                  .lambda = -1,
                  .learner = "askl(D=12, epochs=2)",
                  .kernel = "gaussian"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) interrupted(&all[k], 12, 2);
    /* A job is also its rows without labels. */
    name ck = named(test_path("state"));
    char text[1024];
    krein_status st = KREIN_OK;
    for (int64_t k = 12; k < 200 && !exists(ck.at); k += 4)
        st = run(&all[4], ck.at, k, 1, test_path("one"), text);
    CHECK(st == KREIN_ECANCEL && exists(ck.at));
    all[4].unlabeled = NULL;
    refused(&all[4], ck.at, KREIN_EARG, "unlabeled was");
    unlink(ck.at);
    drop(&r), drop(&c), drop(&more);
}

/* Rows that come in windows: cut off in the middle of one; more memory does not change them. */
static void windows(void) {
    int64_t n = 30000, d = 40;
    rows r = make_rows(n, d, 1, 9);
    for (int64_t i = 0; i < n; i++) r.y[i] = sin(4 * (double)r.x[i * d]) + (double)r.x[i * d + 1];
    name x = named(test_path("x.npy")), y = named(test_path("y.npy")),
         ck = named(test_path("state"));
    name whole = named(test_path("whole")), again = named(test_path("again"));
    float *label = test_new(n, sizeof *label);
    for (int64_t i = 0; i < n; i++) label[i] = (float)r.y[i];
    npy(x.at, r.x, n, d);
    npy(y.at, label, n, 1);
    free(label);
    char text[1024];
    job j = {.path = x.at,
             .labels = y.at,
             .lambda = -1,
             .keep = KREIN_KEEP_STREAM,
             .learner = "askl(D=8, epochs=2, batch=256, refit=no)",
             .memory = (uint64_t)12 << 20};
    CHECK(run(&j, NULL, -1, 1, whole.at, text) == KREIN_OK);
    krein_status st = KREIN_ECANCEL;
    for (int turn = 0; st == KREIN_ECANCEL && turn < 60; turn++) {
        /* The first turns may end before there are windows. */
        j.memory = (uint64_t)(12 + (turn < 6 ? 0 : turn % 3)) << 20;
        st = run(&j, ck.at, 60 + 40 * turn, 1 + turn % 2, again.at, text);
    }
    if (st != KREIN_OK) printf("%s\n", text);
    CHECK(st == KREIN_OK && same_files(whole.at, again.at));
    unlink(ck.at);
    drop(&r);
}

static krein_status no_rows(void *user, krein_rows_view *out) {
    const krein_rows_view *v = user;
    *out = *v;
    return KREIN_OK;
}

/* Rows that a function gives might be others the next time. */
static void blocks(void) {
    rows r = friedman(50, 1, 6);
    krein_rows_view v;
    krein_rows_source s;
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = defaults();
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_rows_view_init(&v);
    v.n = r.n, v.d = r.d, v.x = r.x, v.type = KREIN_FLOAT32, v.targets = r.y;
    krein_rows_source_init(&s);
    s.next = no_rows;
    s.user = &v;
    CHECK(krein_data_from_source(ctx, &s, NULL, &data) == KREIN_OK);
    o.checkpoint = test_path("state");
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EARG && !m);
    CHECK_HAS(krein_message(ctx), "give arrays, or a file");
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* Cut off anywhere, or with a changed byte: refused with a way out, never a wrong model. */
static void damaged(void) {
    rows r = friedman(3000, 1, 8);
    char csv[256], ck[256], text[1024], bad[256];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    snprintf(ck, sizeof ck, "%s", test_path("state"));
    snprintf(bad, sizeof bad, "%s", test_path("bad"));
    job j = {.path = csv, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM};
    unlink(ck);
    CHECK(run(&j, ck, -1, 1, test_path("one"), text) == KREIN_OK);
    FILE *f = fopen(ck, "rb");
    char *bytes = test_new(1 << 20, 1);
    size_t n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (size_t k = 1; k < 40; k++) {
        size_t cut = k < 20 ? n * k / 20 : n, at = n * (k - 20) / 20;
        if (k >= 20) bytes[at] = (char)(bytes[at] ^ 16);
        f = fopen(bad, "wb");
        fwrite(bytes, 1, cut, f);
        fclose(f);
        if (k >= 20) bytes[at] = (char)(bytes[at] ^ 16);
        refused(&j, bad, KREIN_EARG, "remove the file to train from the start");
    }
    f = fopen(bad, "wb"); /* an empty one holds nothing that could be lost */
    fclose(f);
    CHECK(run(&j, bad, -1, 1, test_path("two"), text) == KREIN_OK);
    CHECK(same_files(test_path("one"), test_path("two")));
    /* and it is no model */
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    CHECK(krein_model_load(ctx, ck, &m) == KREIN_EMODEL && !m);
    CHECK_HAS(krein_message(ctx), "checkpoint");
    krein_ctx_destroy(ctx);
    free(bytes);
    drop(&r);
}

static void failing_memory(void) {
    rows r = friedman(2500, 1, 9);
    char csv[256], ck[256], text[1024];
    snprintf(csv, sizeof csv, "%s", write_rows("a.csv", &r));
    snprintf(ck, sizeof ck, "%s", test_path("state"));
    job j = {.path = csv, .lambda = 1e-4, .keep = KREIN_KEEP_STREAM};
    unlink(ck);
    CHECK(run(&j, ck, 5, 1, test_path("one"), text) == KREIN_ECANCEL && exists(ck));
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    ctx->keep_rows = KREIN_KEEP_STREAM;
    int good = 0;
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_data *data = NULL;
        krein_model *m = NULL;
        krein_train_options o = defaults();
        o.kernel = "gaussian(sigma=2)";
        o.map = "rff(D=24)";
        o.lambda = 1e-4;
        o.checkpoint = ck;
        krein_status st = krein_data_open(ctx, csv, NULL, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == KREIN_EMEMORY || st == KREIN_OK);
        good += st == KREIN_OK;
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK(good >= 1);
    krein_ctx_destroy(ctx);
    drop(&r);
}

int main(void) {
    RUN(every_format);
    RUN(parts);
    RUN(every_way);
    RUN(tight);
    RUN(other_jobs);
    RUN(chosen_metric);
    RUN(arrays);
    RUN(blocks);
    RUN(nets);
    RUN(windows);
    RUN(damaged);
    RUN(failing_memory);
    return DONE();
}
