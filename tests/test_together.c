/* test_together.c -- models trained by several processes, over the sockets of wire.h.
 *
 * All ranks have the same model, to the byte. It is the one of a process that reads all of the
 * rows: to rounding of the features where the blocks of rows are the same, else (rows dropped or
 * held out, so that blocks end elsewhere) to what a fixed lambda makes of it. Its predictions come
 * in order on rank 0, and all know its metrics. */
#include "common.h"
#include "wire.h"

#include "readers.h"

#include "ranks.h" /* behind it: its names are for whole files */

#include "dist/dist.h"

enum { BLOCK = 1920 };

/* ---- a training --------------------------------------------------------------------------------
 */

typedef struct task {
    const char *name, *unlabeled; /* files */
    krein_data_options o;
    krein_train_options t;
    krein_keep keep;
    double tolerance; /* of the predictions, in parts of the largest */
} task;

/* 16 features, lambda by leave-one-out, in memory. */
static task task_of(const char *name) {
    task k = {.name = name, .tolerance = 1e-5};
    krein_data_options_init(&k.o);
    krein_train_options_init(&k.t);
    k.t.kernel = "gaussian(sigma=2)";
    k.t.features = 16;
    k.keep = KREIN_KEEP_MEMORY;
    return k;
}

static krein_data *open_data(krein_ctx *c, const char *name, const krein_data_options *o) {
    krein_data *data = NULL;
    char path[1024];
    snprintf(path, sizeof path, "%s", file_name(name));
    return krein_data_open(c, path, o, &data) == KREIN_OK ? data : NULL;
}

static krein_status train(krein_ctx *c, const task *k, krein_report *r, krein_model **out) {
    krein_train_options t = k->t;
    krein_data_options bare;
    krein_data_options_init(&bare);
    bare.label = "none";
    *out = NULL;
    c->keep_rows = k->keep;
    krein_data *data = open_data(c, k->name, &k->o);
    if (data && k->unlabeled) t.unlabeled = open_data(c, k->unlabeled, &bare);
    krein_status st = c->status;
    if (data && (!k->unlabeled || t.unlabeled)) st = krein_train(c, data, &t, r, out);
    krein_data_close(t.unlabeled);
    krein_data_close(data);
    return st;
}

/* ---- predictions -------------------------------------------------------------------------------
 */

typedef struct scores {
    int64_t n, room;
    int wrong;
    double *at;
} scores;

static krein_status keep(void *user, const krein_prediction *p) {
    scores *s = user;
    s->wrong += p->row != s->n / 4; /* in order */
    if (s->n + 4 > s->room) {
        s->room = 2 * s->room + 8192;
        s->at = realloc(s->at, (size_t)s->room * sizeof *s->at);
        if (!s->at) abort();
    }
    for (int64_t c = 0; c < 4; c++)
        s->at[s->n++] = p->scores && c < p->nscores ? p->scores[c] : p->scores ? 0 : NAN;
    return KREIN_OK;
}

static scores predict(krein_ctx *c, const krein_model *m, const task *k, krein_metrics *metrics) {
    scores s = {0};
    krein_data *data = open_data(c, k->name, &k->o);
    CHECK(data && krein_predict(c, m, data, keep, &s) == KREIN_OK);
    CHECK(s.wrong == 0);
    krein_data_close(data);
    data = open_data(c, k->name, &k->o);
    if (metrics) CHECK(data && krein_evaluate(c, m, data, metrics) == KREIN_OK);
    krein_data_close(data);
    return s;
}

static double distance(const scores *a, const scores *b) {
    double apart = 0, largest = 1e-300;
    if (a->n != b->n) return INFINITY;
    for (int64_t i = 0; i < a->n; i++) {
        if (isnan(a->at[i]) && isnan(b->at[i])) continue;
        if (!(isfinite(a->at[i]) && isfinite(b->at[i]))) return INFINITY;
        apart = fmax(apart, fabs(a->at[i] - b->at[i]));
        largest = fmax(largest, fabs(b->at[i]));
    }
    return apart / largest;
}

static bool close_to(double a, double b, double tolerance) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fabs(b);
}

/* ---- the property ------------------------------------------------------------------------------
 */

/* The bytes of the model are the same on all ranks. */
static void same_bytes(const krein_model *m) {
    char name[40], path[1024];
    snprintf(name, sizeof name, "model.%d", me);
    snprintf(path, sizeof path, "%s", file_name(name));
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    test_bytes mine = test_slurp(path);
    uint64_t hash = 1469598103934665603u;
    for (int64_t i = 0; i < mine.n; i++) hash = (hash ^ (uint8_t)mine.at[i]) * 1099511628211u;
    int64_t seen[] = {(int64_t)(hash >> 1), -(int64_t)(hash >> 1)};
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_MIN, 2, seen) == KREIN_OK && seen[0] == -seen[1]);
    free(mine.at);
}

static void same_metrics(const krein_metrics *a, const krein_metrics *b, double tolerance) {
    CHECK(a->task == b->task && a->n == b->n && a->classes == b->classes);
    CHECK(close_to(a->rmse, b->rmse, tolerance) && close_to(a->mae, b->mae, tolerance));
    CHECK(close_to(a->r2, b->r2, tolerance) && close_to(a->accuracy, b->accuracy, tolerance));
    CHECK(close_to(a->macro_f1, b->macro_f1, tolerance));
}

/* What one process finds: rank 0 trains it, the others are told. */
typedef struct alone_report {
    krein_status status;
    int64_t n, d, D, folds;
    double lambda, loo;
    bool tested;
    krein_metrics test;
    char kernel[512], map[512];
} alone_report;

static alone_report train_alone(const task *k, krein_model **out) {
    alone_report a = {0};
    *out = NULL;
    if (me == 0) {
        krein_report r = KREIN_SIZED(krein_report);
        a.status = train(alone, k, &r, out);
        if (a.status == KREIN_OK) {
            a.n = r.n, a.d = r.d, a.D = r.D, a.folds = r.folds, a.lambda = r.lambda, a.loo = r.loo;
            a.tested = r.test != NULL;
            if (r.test) a.test = *r.test; /* its numbers */
            CHECK(snprintf(a.kernel, sizeof a.kernel, "%s", r.kernel) < (int)sizeof a.kernel);
            CHECK(snprintf(a.map, sizeof a.map, "%s", r.map) < (int)sizeof a.map);
        }
        krein_report_clear(alone, &r);
    }
    wire_broadcast(0, &a, (int)sizeof a);
    return a;
}

static void as_one(task k) {
    const int before = test_bad;
    const bool measured = !k.unlabeled && k.o.missing == KREIN_MISSING_AUTO;
    krein_report r = KREIN_SIZED(krein_report);
    krein_metrics metrics = KREIN_SIZED(krein_metrics), other = KREIN_SIZED(krein_metrics);
    krein_model *mine = NULL, *whole = NULL;
    CHECK(krein__comm_barrier(ctx) == KREIN_OK); /* the file is there */
    krein_status st = krein__comm_agree(ctx, train(ctx, &k, &r, &mine));
    const alone_report one = train_alone(&k, &whole);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK && one.status == KREIN_OK);
    if (st == KREIN_OK && one.status == KREIN_OK) {
        CHECK(r.n == one.n && r.d == one.d && r.D == one.D && r.folds == one.folds);
        CHECK(strcmp(r.kernel, one.kernel) == 0 && strcmp(r.map, one.map) == 0);
        CHECK(close_to(r.lambda, one.lambda, 1e-3) && close_to(r.loo, one.loo, 1e-3));
        CHECK((r.test != NULL) == one.tested);
        if (r.test && one.tested) same_metrics(r.test, &one.test, 1e-3);
        same_bytes(mine);
        /* Rank 0 hears of all rows, the others of none; all know the metrics. */
        scores a = predict(ctx, mine, &k, measured ? &metrics : NULL);
        if (me == 0) {
            scores b = predict(alone, mine, &k, measured ? &other : NULL);
            scores c = predict(alone, whole, &k, NULL);
            const double apart = distance(&b, &c);
            CHECK(distance(&a, &b) == 0);
            if (!(apart <= k.tolerance)) printf("%g apart\n", apart);
            CHECK(apart <= k.tolerance);
            free(b.at);
            free(c.at);
        } else {
            CHECK(a.n == 0);
        }
        krein_metrics known = other;
        wire_broadcast(0, &known, (int)sizeof known);
        same_metrics(&metrics, &known, 1e-9);
        free(a.at);
    }
    krein__comm_clear(ctx);
    krein_metrics_clear(ctx, &metrics);
    krein_metrics_clear(alone, &other);
    krein_report_clear(ctx, &r);
    krein_model_destroy(mine);
    krein_model_destroy(whole);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    if (test_bad > before)
        printf("in %s, %s, rank %d of %d\n", k.name, k.t.learner ? k.t.learner : "krr", me, ranks);
}

static void fails(task k, krein_status want, const char *part) {
    krein_report r = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    const int64_t live = test_live(&memory);
    const krein_status st = krein__comm_agree(ctx, train(ctx, &k, &r, &m));
    CHECK(st == want && !m);
    CHECK_HAS(krein_message(ctx), part);
    krein_model_destroy(m);
    krein_report_clear(ctx, &r);
    CHECK(test_live(&memory) == live);
    krein__comm_clear(ctx);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
}

/* ---- files -------------------------------------------------------------------------------------
 */

/* What is drawn of a row: y, two inputs, a weight; -1 for a cell that is missing. */
typedef struct cells {
    bool label, first;
    double weight;
    const char *class; /* or NULL: a number */
} cells;
typedef cells cells_of(int64_t i, int64_t n);

static void write_rows(const char *name, int64_t n, cells_of *of) {
    text t = {0};
    say(&t, "y,a,b,w\n");
    for (int64_t i = 0; i < n; i++) {
        const cells c = of(i, n);
        const double a = 2 * det(i, 1, 0.3), b = 2 * det(3 * i, 2, 0.8);
        if (c.label && c.class) say(&t, "%s", c.class);
        if (c.label && !c.class) say(&t, "%.5f", sin(a) + 0.5 * b + 0.05 * det(i, 7, 0.1));
        say(&t, ",");
        if (c.first) say(&t, "%.5f", a);
        say(&t, ",%.5f,%g\n", b, c.weight);
    }
    if (me == 0) put(name, t.s, t.n);
    free(t.s);
}

static cells plain_cells(int64_t i, int64_t n) {
    (void)i, (void)n;
    return (cells){true, true, 1, NULL};
}
static cells weighted(int64_t i, int64_t n) {
    (void)n;
    return (cells){true, true, (double)(i % 3), NULL};
}
static cells idle_first(int64_t i, int64_t n) {
    (void)n;
    return (cells){true, true, i < BLOCK ? 0 : 1, NULL};
}
static cells idle_last(int64_t i, int64_t n) {
    return (cells){true, true, i >= n - BLOCK ? 0 : 1, NULL};
}
static cells dropped_first(int64_t i, int64_t n) {
    (void)n;
    return (cells){true, i >= BLOCK + 5, 1, NULL};
}
static cells third_labelled(int64_t i, int64_t n) {
    (void)n;
    return (cells){i % 3 == 0, true, 1, NULL};
}
static cells labels_first(int64_t i, int64_t n) {
    (void)n;
    return (cells){i < BLOCK, true, 1, NULL};
}
static cells classes(int64_t i, int64_t n) {
    const double a = 2 * det(i, 1, 0.3);
    return (cells){true, true, 1, i > n - 30 && i % 2 ? "last" : a > 0.5 ? "up" : "down"};
}

static cells weighted_classes(int64_t i, int64_t n) {
    cells c = classes(i, n);
    c.weight = (double)(i % 3);
    return c;
}

static task inputs_of(const char *name) {
    task k = task_of(name);
    k.o.ignore = "w";
    return k;
}

/* ---- cases -------------------------------------------------------------------------------------
 */

static void sizes(void) {
    static const int64_t size[] = {2, 3, 5, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 77};
    for (int s = 0; s < KREIN__COUNT(size); s++) {
        if (test_sanitized() && s % 3 != 2) continue;
        write_rows("rows.csv", size[s], plain_cells);
        task k = inputs_of("rows.csv");
        k.keep = s % 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM;
        if (size[s] < 16) {
            k.t.features = 0;
            k.t.map = "rff(D=4)";
            k.t.lambda = 0.01;
            k.o.task = KREIN_TASK_REGRESSION;
        }
        as_one(k);
    }
}

static void weights(void) {
    static const struct {
        cells_of *of;
        int64_t n;
    } file[] = {{weighted, 2 * BLOCK + 30}, {idle_first, 2 * BLOCK}, {idle_last, 3 * BLOCK + 1}};
    for (int f = 0; f < 3; f++) {
        write_rows("weights.csv", file[f].n, file[f].of);
        task k = task_of("weights.csv");
        k.o.weights = "w";
        as_one(k);
        k.t.select = "cv(k=3)";
        as_one(k);
        k.t.select = NULL;
        k.t.lambda = 1e-3;
        k.t.map = "nystrom";
        as_one(k);
    }
    write_rows("weights.csv", 2 * BLOCK + 30, weighted_classes);
    task k = task_of("weights.csv");
    k.o.weights = "w";
    as_one(k);
}

static void classes_late(void) {
    write_rows("classes.csv", 3 * BLOCK + 5, classes);
    task k = inputs_of("classes.csv");
    as_one(k);
    k.t.select = "cv(k=3)";
    as_one(k);
    k.t.select = NULL;
    k.t.lambda = 1e-2;
    k.t.holdout = 0.2;
    k.tolerance = 1e-3;
    as_one(k);
}

static void dropped(void) {
    write_rows("dropped.csv", 3 * BLOCK, dropped_first);
    task k = inputs_of("dropped.csv");
    k.o.missing = KREIN_MISSING_DROP;
    k.t.lambda = 1e-2;
    k.tolerance = 1e-3;
    as_one(k);
    k.t.map = "nystrom";
    as_one(k);
    k.t.map = NULL;
    k.keep = KREIN_KEEP_STREAM;
    k.t.holdout = 0.1;
    as_one(k);
}

static void maps(void) {
    static const char *const map[] = {"explicit", "nystrom", "leverage", "aligned"};
    write_rows("maps.csv", 2 * BLOCK + 11, plain_cells);
    for (int m = 0; m < 4; m++) {
        task k = inputs_of("maps.csv");
        k.t.map = map[m];
        k.tolerance = 1e-4;
        if (m == 0) k.t.kernel = "linear", k.t.features = 0;
        if (m == 1) k.t.lambda = 1e-3;
        as_one(k);
    }
    write_rows("exact.csv", 300, plain_cells);
    task k = inputs_of("exact.csv");
    k.t.features = 0;
    as_one(k);
    k.t.learner = "dckrr(parts=3)";
    k.t.map = "exact";
    as_one(k);
    k.t.learner = NULL;
    k.t.kernel = NULL;
    k.t.kernels = "gaussian(sigma=1..3:3); laplacian(sigma=2)";
    as_one(k);
}

/* The same parts where they end with the blocks of a rank; else one part each at least. */
static void parts(void) {
    task k = inputs_of("parts.csv");
    write_rows("parts.csv", 4 * BLOCK, plain_cells);
    k.t.learner = "dckrr(parts=4)";
    if (ranks != 3 && ranks != 5) as_one(k);
    k.t.lambda = 1e-3;
    if (ranks != 3 && ranks != 5) as_one(k);
    k.tolerance = 0.1; /* other parts */
    k.t.learner = "dckrr(parts=7)";
    as_one(k);
    k.o.ignore = NULL;
    k.o.weights = "w";
    write_rows("parts.csv", 3 * BLOCK, idle_first);
    as_one(k);
    write_rows("parts.csv", 3 * BLOCK, idle_last);
    as_one(k);
    k.o.weights = NULL;
    k.o.ignore = "w";
    k.t.lambda = -1;
    k.tolerance = 1e-5;
    k.t.learner = "dckrr"; /* as many as are advised: one rank has all of the rows */
    write_rows("parts.csv", 500, plain_cells);
    as_one(k);
    write_rows("parts.csv", 3 * BLOCK, plain_cells);
    k.t.learner = "dckrr(parts=1)";
    as_one(k);
    if (ranks > 2) return;
    k.t.learner = "dckrr(parts=4, order=shuffle)";
    fails(k, KREIN_EARG, "order=shuffle");
}

/* A rank of one row has one part of hundreds, not two. */
static void small_parts(void) {
    write_rows("small.csv", BLOCK + 1, plain_cells);
    task k = inputs_of("small.csv");
    k.t.lambda = 0.1;
    k.t.features = 8;
    k.t.learner = "dckrr(parts=1000)";
    k.tolerance = 0.2;
    as_one(k);
    k.t.learner = "dckrr(parts=1921)"; /* a row each */
    k.tolerance = 1e-5;
    as_one(k);
    k.t.lambda = -1;
    k.t.learner = "dckrr(parts=1500)";
    krein_report r = KREIN_SIZED(krein_report);
    krein_model *m = NULL;
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    CHECK(krein__comm_agree(ctx, train(ctx, &k, &r, &m)) == KREIN_OK);
    CHECK(m && isfinite(r.loo));
    if (m) same_bytes(m);
    krein_model_destroy(m);
    krein_report_clear(ctx, &r);
    krein__comm_clear(ctx);
}

static void half_labelled(void) {
    task k = inputs_of("half.csv");
    write_rows("half.csv", 4 * BLOCK + 6, third_labelled);
    write_rows("bare.csv", 2 * BLOCK, plain_cells);
    k.t.learner = "sskrr";
    k.o.missing = KREIN_MISSING_MEAN; /* no metrics of rows without labels */
    k.tolerance = 1e-3;
    k.t.lambda = 1e-2;
    as_one(k);
    k.keep = KREIN_KEEP_STREAM;
    k.t.lambda = -1;
    as_one(k);
    k.t.learner = "sskrr(parts=6)";
    k.t.lambda = 1e-2;
    k.tolerance = 0.1;
    as_one(k);
    write_rows("half.csv", 3 * BLOCK, labels_first);
    k.t.learner = "sskrr";
    k.tolerance = 1e-3;
    as_one(k);
    k.t.learner = "sskrr(parts=6)";
    if (ranks == 3) fails(k, KREIN_EDATA, "has rows without labels and none with one");
}

/* ---- failures ----------------------------------------------------------------------------------
 */

/* Every so manyth allocation fails on every rank: all say so, and nothing is lost. */
static void allocations_of(task k, int64_t step) {
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    for (int rank = 0; rank < ranks; rank++)
        for (int64_t at = rank, more = 1; more; at += step) {
            const int64_t live = test_live(&memory);
            krein_report r = KREIN_SIZED(krein_report);
            krein_model *m = NULL;
            test_fail_at(&memory, me == rank ? at : -1);
            krein_status st = krein__comm_agree(ctx, train(ctx, &k, &r, &m));
            more = test_has_failed(&memory);
            test_fail_at(&memory, -1);
            krein__comm_clear(ctx);
            CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &more) == KREIN_OK);
            if (st != (more ? KREIN_EMEMORY : KREIN_OK))
                printf("allocation %lld of rank %d: %s\n", (long long)at, rank, krein_message(ctx));
            CHECK(st == (more ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            krein_report_clear(ctx, &r);
            CHECK(test_live(&memory) == live);
        }
}

static void allocations(void) {
    const int64_t step = test_sanitized() ? 37 : 11;
    write_rows("few.csv", BLOCK + 40, weighted);
    task k = task_of("few.csv");
    k.o.weights = "w";
    k.t.features = 4;
    allocations_of(k, step);
    k.t.learner = "dckrr(parts=4)";
    allocations_of(k, step);
    k.t.learner = NULL;
    k.t.map = "nystrom";
    k.t.select = "cv(k=2)";
    allocations_of(k, step);
}

/* ---- all of it, on some ranks -------------------------------------------------------------------
 */

static void all_cases(void) {
    RUN(sizes);
    RUN(classes_late);
    RUN(dropped);
    RUN(parts);
    RUN(half_labelled);
    RUN(small_parts);
    if (ranks == 3) RUN(allocations);
    if (!test_sanitized() && ranks % 2 == 0) RUN(weights);
    if (!test_sanitized() && ranks % 2 == 0) RUN(maps);
}

static void two_ranks(void) { on_ranks(2, all_cases); }
static void three_ranks(void) { on_ranks(3, all_cases); }
static void four_ranks(void) { on_ranks(4, all_cases); }
static void five_ranks(void) { on_ranks(5, all_cases); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    if (!readers_start()) return 1;
    RUN(two_ranks);
    RUN(three_ranks);
    if (!test_sanitized()) RUN(four_ranks);
    if (!test_sanitized()) RUN(five_ranks);
    return readers_done();
}
