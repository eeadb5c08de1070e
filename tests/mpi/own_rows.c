/* own_rows.c -- processes that have rows of their own train one model.
 *
 * All processes can make all of the rows. Each trains alone on all of them, then together with the
 * others on its own; what comes out must be the same, for several ways to deal the rows out. Run by
 * own_rows.sh on 1 to 4 processes; prints what went wrong, and its status says whether anything
 * did. */
#include <krein.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2400, D = 3, WORDS = 7 };

static int rank, size, bad;
static int64_t rows = ROWS; /* fewer where much is computed */
static krein_ctx *ctx, *alone;
static const char *at_work = ""; /* the case, for messages */

static void check(int good, const char *what) {
    if (good) return;
    printf("FAILED: %s, rank %d of %d: %s: %s\n", at_work, rank, size, what, krein_message(ctx));
    bad++;
}

/* All processes have the same bytes there. */
static void same(const void *bytes, int n, const char *what) {
    char first[512] = {0};
    memcpy(first, bytes, (size_t)n);
    MPI_Bcast(first, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(memcmp(first, bytes, (size_t)n) == 0, what);
}

/* ---- all of the rows ----------------------------------------------------------------------------
 */

static double x[ROWS][D], y[ROWS][2], weight[ROWS], value[ROWS][D];
static int64_t class[ROWS], group[ROWS], ptr[ROWS + 1];
static int32_t col[ROWS][D], code[ROWS];
static const char *colour[ROWS], *day[ROWS], *truth[ROWS], *name[ROWS];
static char days[ROWS][16];
static const char *const word[WORDS] = {"red", "a, b", "blue", "green", "x", "late", "last"};

/* Between -1 and 1. */
static double draw(int64_t i, int64_t j) {
    uint64_t h = (uint64_t)(i * 64 + j + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return (double)((h ^ h >> 31) >> 11) / 4503599627370496.0 - 1;
}

static void make_rows(void) {
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < D; j++) {
            x[i][j] = 2 * draw(i, j) + 10 * (double)j;
            col[i][j] = (int32_t)(4 * j + i % 4); /* the last column is on some rows alone */
            value[i][j] = draw(i, j + 5);
        }
        y[i][0] = sin(x[i][0]) + 0.3 * (x[i][1] - 10) + 0.2 * draw(i, 11);
        y[i][1] = cos(x[i][2]) + 0.2 * draw(i, 12);
        weight[i] = 0.5 * (double)(i % 4);
        class[i] = i >= ROWS - 60 ? 7 : x[i][0] > 0.4 ? 2 : 1; /* the last process alone has 7 */
        name[i] = i < 50 ? "first" : x[i][0] > 0.4 ? "up" : "down";
        group[i] = i * 31 % 37;
        ptr[i + 1] = ptr[i] + D;
        const int64_t seen = 1 + (WORDS - 1) * i / ROWS; /* words that appear late */
        code[i] = (int32_t)((i * 7 + i / 5) % seen);
        colour[i] = i % 50 == 3 ? NULL : word[code[i]];
        snprintf(days[i], sizeof days[i], "20%02d-0%d-1%d", (int)(i % 30), (int)(1 + i % 9),
                 (int)(i % 8));
        day[i] = days[i];
        truth[i] = i < 1100 || i % 3 ? "yes" : "no"; /* a category: no other word in 1,000 rows */
    }
}

/* ---- views of some of them ----------------------------------------------------------------------
 */

typedef enum form { DENSE, DENSE_CLASSES, SPARSE, TABLE, BLOCKS, FORMS } form;
static const char *const form_name[FORMS] = {"dense", "classes", "sparse", "table", "blocks"};

static krein_column_view table[5];
static const char *const names[5] = {"a", "colour", "day", "code", "truth"};

static krein_rows_view view_of(form f, int64_t from, int64_t n) {
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = n;
    v.d = D;
    if (f == SPARSE) {
        v.d = 4 * D;
        v.indptr = ptr + from;
        v.indptr_type = KREIN_INT64;
        v.indices = col;
        v.index_type = KREIN_INT32;
        v.values = value;
        v.type = KREIN_FLOAT64;
        v.classes = class + from;
        v.class_type = KREIN_INT64;
        return v;
    }
    if (f == TABLE) {
        for (int j = 0; j < 5; j++) table[j] = KREIN_SIZED(krein_column_view);
        table[0].numbers = x[from];
        table[0].type = KREIN_FLOAT64;
        table[0].stride = D;
        table[1].texts = colour + from;
        table[2].texts = day + from;
        table[3].codes = code + from;
        table[3].words = word;
        table[3].nwords = WORDS;
        table[4].texts = truth + from;
        v.d = 5;
        v.columns = table;
        v.names = names;
        v.class_names = name + from;
        v.groups = group + from;
        return v;
    }
    v.x = x[from];
    v.type = KREIN_FLOAT64;
    if (f == DENSE_CLASSES) {
        v.classes = class + from;
        v.class_type = KREIN_INT64;
        return v;
    }
    v.targets = y[from];
    v.ntargets = 2;
    v.weights = weight + from;
    return v;
}

/* Blocks of 170 rows. */
typedef struct blocks {
    int64_t from, n, at;
} blocks;

static krein_status next_block(void *user, krein_rows_view *out) {
    blocks *b = user;
    const int64_t n = b->n - b->at < 170 ? b->n - b->at : 170;
    *out = view_of(BLOCKS, b->from + b->at, n);
    b->at += n;
    return KREIN_OK;
}

static krein_status rewind_blocks(void *user) {
    ((blocks *)user)->at = 0;
    return KREIN_OK;
}

static krein_data *open_rows(krein_ctx *c, form f, blocks *b, const krein_data_options *o) {
    krein_data *data = NULL;
    const krein_rows_view v = view_of(f, b->from, b->n);
    krein_rows_source source;
    krein_rows_source_init(&source);
    source.next = next_block;
    source.rewind = rewind_blocks;
    source.user = b;
    b->at = 0;
    const krein_status st = f == BLOCKS ? krein_data_from_source(c, &source, o, &data)
                                        : krein_data_from_rows(c, &v, o, &data);
    check(st == KREIN_OK, "open");
    return data;
}

/* Rows of this process: even, more to the later ones, none on the first, none on the last, all on
 * one. */
enum { EVEN, UPHILL, NOT_FIRST, NOT_LAST, ONE, DEALS };
static const char *const deal_name[DEALS] = {"even", "uphill", "not first", "not last", "one"};

static int64_t cut(int deal, int r) {
    const int first = deal == NOT_FIRST && size > 1,
              ranks = size - first - (deal == NOT_LAST && size > 1);
    const int64_t k = r - first < 0 ? 0 : r - first > ranks ? ranks : r - first;
    if (deal == ONE) return r > size / 2 ? rows : 0;
    if (deal == UPHILL) return rows * k * (k + 1) / ((int64_t)ranks * (ranks + 1));
    return rows * k / ranks;
}

static blocks own_rows(int deal) {
    const int64_t from = cut(deal, rank);
    return (blocks){from < rows ? from : 0, cut(deal, rank + 1) - from, 0};
}

/* ---- models -------------------------------------------------------------------------------------
 */

static krein_train_options options_of(form f) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=2)";
    o.features = 40;
    o.lambda = 1e-2;
    if (f == TABLE) o.holdout = 0.2;
    return o;
}

static krein_data_options data_options(form f, int own) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.own_rows = own;
    if (f == TABLE) o.categories = KREIN_CATEGORIES_TARGET;
    return o;
}

/* Scores of all rows by a model, made by this process alone. */
static double *scores_of(const krein_model *m, form f, int64_t *n) {
    const krein_data_options o = data_options(f, 0);
    krein_prediction_arrays out;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    blocks all = {0, rows, 0};
    krein_prediction_arrays_init(&out);
    krein_model_describe(m, &info);
    *n = rows * info.outputs;
    out.capacity = rows;
    out.scores = calloc((size_t)*n, sizeof *out.scores);
    krein_data *data = open_rows(alone, f, &all, &o);
    check(krein_predict_into(alone, m, data, &out) == KREIN_OK, "predict alone");
    krein_data_close(data);
    return out.scores;
}

static double apart(const krein_model *a, const krein_model *b, form f) {
    int64_t n, m;
    double *p = scores_of(a, f, &n), *q = scores_of(b, f, &m), most = 0, largest = 0;
    for (int64_t i = 0; i < n && n == m; i++) {
        most = fmax(most, fabs(p[i] - q[i]));
        largest = fmax(largest, fabs(q[i]));
    }
    free(p);
    free(q);
    return n == m && largest > 0 ? most / largest : INFINITY;
}

/* The bytes of the model are the same on all processes. */
static void same_model(const krein_model *m) {
    int64_t n = 0;
    check(krein_model_save_memory(alone, m, NULL, 0, &n) == KREIN_OK, "size of the model");
    unsigned char *bytes = malloc((size_t)n + 1);
    uint64_t hash = 1469598103934665603u;
    check(krein_model_save_memory(alone, m, bytes, n, &n) == KREIN_OK, "bytes of the model");
    for (int64_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    same(&hash, sizeof hash, "the same model on all");
    free(bytes);
}

/* Each process gets the predictions of its own rows; all get the metrics of all. */
static void use(const krein_model *m, form f, int deal) {
    const krein_data_options o = data_options(f, 1), plain = data_options(f, 0);
    krein_prediction_arrays out;
    krein_metrics together = KREIN_SIZED(krein_metrics), one = KREIN_SIZED(krein_metrics);
    blocks mine = own_rows(deal), all = {0, rows, 0};
    int64_t n;
    double *want = scores_of(m, f, &n), *got = calloc((size_t)n, sizeof *got);
    krein_prediction_arrays_init(&out);
    out.capacity = rows;
    out.scores = got;
    krein_data *data = open_rows(ctx, f, &mine, &o);
    check(krein_predict_into(ctx, m, data, &out) == KREIN_OK && out.rows == mine.n, "predict");
    check(memcmp(got, want + n / rows * mine.from, (size_t)(n / rows * mine.n) * sizeof *got) == 0,
          "predictions of its own rows");
    krein_data_close(data);
    data = open_rows(ctx, f, &mine, &o);
    check(krein_evaluate(ctx, m, data, &together) == KREIN_OK, "evaluate");
    krein_data_close(data);
    data = open_rows(alone, f, &all, &plain);
    check(krein_evaluate(alone, m, data, &one) == KREIN_OK, "evaluate alone");
    krein_data_close(data);
    check(together.n == rows && one.n == rows, "all rows are evaluated");
    const double a = one.task == KREIN_TASK_REGRESSION ? together.rmse : together.accuracy,
                 b = one.task == KREIN_TASK_REGRESSION ? one.rmse : one.accuracy;
    check(fabs(a - b) <= 1e-9 * b, "metrics of all rows");
    same(&a, sizeof a, "the same metrics");
    krein_metrics_clear(ctx, &together);
    krein_metrics_clear(alone, &one);
    free(want);
    free(got);
}

/* What one process gets from all rows. */
typedef struct solo {
    krein_report report;
    krein_model *model;
} solo;

static solo by_one(form f, const krein_train_options *o) {
    const krein_data_options plain = data_options(f, 0);
    solo s = {.report = KREIN_SIZED(krein_report)};
    blocks all = {0, rows, 0};
    at_work = form_name[f];
    krein_data *of_all = open_rows(alone, f, &all, &plain);
    check(krein_train(alone, of_all, o, &s.report, &s.model) == KREIN_OK, krein_message(alone));
    krein_data_close(of_all);
    return s;
}

static void forget(solo *s) {
    krein_report_clear(alone, &s->report);
    krein_model_destroy(s->model);
}

/* That is what several get from their own. */
static void compare(const solo *s, form f, int deal, const krein_train_options *o,
                    double tolerance) {
    const krein_data_options own = data_options(f, 1);
    krein_report r = KREIN_SIZED(krein_report);
    const krein_report one = s->report;
    krein_model *model = NULL, *whole = s->model;
    blocks mine = own_rows(deal);
    char text[120];
    snprintf(text, sizeof text, "%s, %s, %s", form_name[f], deal_name[deal],
             o->learner ? o->learner : "krr");
    at_work = text;
    krein_data *data = open_rows(ctx, f, &mine, &own);
    check(krein_train(ctx, data, o, &r, &model) == KREIN_OK, "train");
    if (model && whole) {
        const double far = apart(model, whole, f);
        if (!(far <= tolerance)) printf("%s: %g apart\n", at_work, far);
        check(far <= tolerance, "the model of one process");
        check(r.n == one.n && r.d == one.d && r.D == one.D, "sizes");
        check(strcmp(r.kernel, one.kernel) == 0 && strcmp(r.map, one.map) == 0, "kernel and map");
        check(!r.test == !one.test && (!r.test || r.test->n == one.test->n), "held-out rows");
        same_model(model);
        use(model, f, deal);
    }
    krein_report_clear(ctx, &r);
    krein_model_destroy(model);
    krein_data_close(data);
}

static void as_one(form f, int deal, const krein_train_options *o, double tolerance) {
    solo s = by_one(f, o);
    compare(&s, f, deal, o, tolerance);
    forget(&s);
}

static void models(void) {
    for (int f = 0; f < FORMS; f++) {
        const krein_train_options o = options_of(f);
        solo s = by_one(f, &o);
        for (int deal = 0; deal < DEALS; deal++) compare(&s, f, deal, &o, 2e-5);
        forget(&s);
    }
    krein_train_options o = options_of(DENSE);
    o.map = "nystrom(D=40)";
    o.features = 0;
    as_one(DENSE, UPHILL, &o, 1e-3);
    rows = 400;
    krein_train_options_init(&o); /* kernel, metric, map and lambda are chosen */
    o.effort = 0.1;
    o.max_exact = 100;
    o.features = 64;
    as_one(DENSE, NOT_FIRST, &o, 1e-3);
    o.learner = "krr";
    as_one(DENSE_CLASSES, UPHILL, &o, 1e-3);
    o = options_of(DENSE);
    o.learner = "dckrr(parts=1)";
    as_one(DENSE, EVEN, &o, 2e-5);
    o.learner = "dckrr(parts=6)"; /* of other rows */
    as_one(DENSE, UPHILL, &o, 0.1);
    o.features = 0;
    o.map = "exact";
    o.learner = NULL;
    o.lambda = -1;
    as_one(SPARSE, UPHILL, &o, 2e-5);
    rows = ROWS;
}

/* ---- other calls --------------------------------------------------------------------------------
 */

static void select_kernel(void) {
    const krein_data_options own = data_options(DENSE, 1), plain = data_options(DENSE, 0);
    krein_select_report r = KREIN_SIZED(krein_select_report),
                        one = KREIN_SIZED(krein_select_report);
    krein_select_options o;
    blocks mine = own_rows(UPHILL), all = {0, rows, 0};
    at_work = "select";
    krein_select_options_init(&o);
    o.kernels = "gaussian(sigma=0.5); gaussian(sigma=2); laplacian(sigma=2)";
    o.features = 40;
    o.max_exact = 500;
    krein_data *data = open_rows(ctx, DENSE, &mine, &own);
    krein_data *of_all = open_rows(alone, DENSE, &all, &plain);
    check(krein_select(alone, of_all, &o, &one) == KREIN_OK, krein_message(alone));
    check(krein_select(ctx, data, &o, &r) == KREIN_OK, "select");
    for (int64_t k = 0; k < 3 && r.nrankings == 1 && one.nrankings == 1; k++) {
        const double a = r.rankings[0]->scores[k]->score, b = one.rankings[0]->scores[k]->score;
        check(fabs(a - b) <= 1e-3 * fabs(b), "scores");
    }
    check(r.nrankings == 1 && one.nrankings == 1 && r.n == rows, "rows");
    krein_select_report_clear(ctx, &r);
    krein_select_report_clear(alone, &one);
    krein_data_close(data);
    krein_data_close(of_all);
}

/* Rows without labels of each process's own. */
static void unlabelled(void) {
    krein_data_options own = data_options(DENSE, 1);
    krein_train_options o = options_of(DENSE);
    krein_model *model = NULL, *whole = NULL;
    krein_rows_view v;
    blocks mine = own_rows(EVEN), all = {0, rows, 0};
    at_work = "rows without labels";
    o.learner = "sskrr";
    for (int k = 0; k < 2; k++) { /* alone, and together */
        krein_ctx *c = k ? ctx : alone;
        const blocks *b = k ? &mine : &all;
        own.own_rows = k;
        v = view_of(DENSE, b->from, b->n);
        v.weights = NULL;
        krein_data *data = NULL, *more = NULL;
        check(krein_data_from_rows(c, &v, &own, &data) == KREIN_OK, "rows");
        v.targets = NULL;
        v.ntargets = 0;
        check(krein_data_from_rows(c, &v, &own, &more) == KREIN_OK, "rows without labels");
        o.unlabeled = more;
        check(krein_train(c, data, &o, NULL, k ? &model : &whole) == KREIN_OK, "train");
        krein_data_close(more);
        own.own_rows = !k; /* and the others */
        check(krein_data_from_rows(c, &v, &own, &more) == KREIN_OK, "other rows");
        o.unlabeled = more;
        if (k) {
            krein_model *none = NULL;
            const krein_status st = krein_train(c, data, &o, NULL, &none);
            check(size > 1 ? st == KREIN_EARG : st == KREIN_OK, "of one kind");
            check(size == 1 || strstr(krein_message(c), "own_rows"), "of one kind: message");
            krein_model_destroy(none);
        }
        krein_data_close(more);
        krein_data_close(data);
    }
    if (model && whole) check(apart(model, whole, DENSE) <= 1e-3, "the model of one process");
    krein_model_destroy(model);
    krein_model_destroy(whole);
}

/* ---- what is refused ----------------------------------------------------------------------------
 */

/* All get the same status and message, and nobody waits. */
static void fails(const krein_rows_view *v, krein_status want, const char *part,
                  const char *learner) {
    const krein_data_options own = data_options(DENSE, 1);
    krein_train_options o = options_of(DENSE);
    krein_model *model = NULL;
    krein_data *data = NULL;
    char message[200] = {0};
    o.learner = learner;
    check(krein_data_from_rows(ctx, v, &own, &data) == KREIN_OK, "open");
    const krein_status st = krein_train(ctx, data, &o, NULL, &model);
    check(st == want, part);
    snprintf(message, sizeof message, "%s", krein_message(ctx));
    check(strstr(message, part) != NULL, part);
    same(message, sizeof message, "the same message");
    krein_model_destroy(model);
    krein_data_close(data);
}

static void refusals(void) {
    const int last = rank == size - 1;
    blocks mine = own_rows(EVEN);
    krein_rows_view v = view_of(DENSE, mine.from, mine.n), of = v;
    at_work = "refusals";
    char process[40];
    snprintf(process, sizeof process, "of process %d", size - 1);
    if (size > 1) {
        v.d = last ? 2 : D;
        v.row_stride = D;
        v.column_stride = 1;
        fails(&v, KREIN_EDATA, "have 2 columns", NULL);
        fails(&v, KREIN_EDATA, process, NULL);
        v = of;
        if (last) v.ntargets = 1;
        fails(&v, KREIN_EDATA, "2 targets", NULL);
        v = of;
        if (last) v.weights = NULL;
        fails(&v, KREIN_EDATA, "have weights", NULL);
        v = of;
        if (last) v.targets = NULL, v.ntargets = 0;
        fails(&v, KREIN_EDATA, "no labels", NULL);
        v = of;
        if (last) v = view_of(SPARSE, mine.from, mine.n);
        fails(&v, KREIN_EDATA, "sparse", NULL);
        static const char *const here[D] = {"a", "b", "c"}, *const there[D] = {"a", "b", "d"};
        v = of;
        v.names = last ? there : here;
        fails(&v, KREIN_EDATA, "named \"d\"", NULL);
        v.names = last ? NULL : here;
        fails(&v, KREIN_EDATA, "without", NULL);
        v = view_of(TABLE, mine.from, mine.n);
        if (last) table[1] = table[0];
        fails(&v, KREIN_EDATA, "texts in column 2 (colour)", NULL);
        v = of;
        fails(&v, KREIN_EARG, "trains in one process", "svr");
        v = of;
        v.n = 0;
        fails(&v, KREIN_EDATA, "0 usable rows", NULL);
    }
    /* A cell of one process: the message has its row and its process. */
    v = of;
    if (last) x[mine.from + 4][1] = INFINITY;
    fails(&v, KREIN_EDATA, size > 1 ? process : "row 5, column 2", NULL);
    check(strstr(krein_message(ctx), "row 5") != NULL, "the row of its own");
    make_rows();
    krein_data_options own = data_options(DENSE, 1);
    krein_data *data = NULL;
    check(krein_data_open(ctx, "rows.csv", &own, &data) == KREIN_EARG && !data, "a file");
    check(strstr(krein_message(ctx), "own_rows") != NULL, "a file: message");
}

/* By itself again, a process trains on its own rows. */
static void left(void) {
    const krein_data_options own = data_options(DENSE, 1), plain = data_options(DENSE, 0);
    const krein_train_options o = options_of(DENSE);
    krein_model *a = NULL, *b = NULL;
    blocks mine = own_rows(EVEN);
    at_work = "left";
    krein_data *data = open_rows(ctx, DENSE, &mine, &own),
               *of = open_rows(alone, DENSE, &mine, &plain);
    check(krein_train(ctx, data, &o, NULL, &a) == KREIN_OK, "train together");
    krein_model_destroy(a);
    a = NULL;
    check(krein_ctx_leave(ctx) == KREIN_OK, "leave");
    check(krein_train(ctx, data, &o, NULL, &a) == KREIN_OK, "train on its own");
    check(krein_train(alone, of, &o, NULL, &b) == KREIN_OK, "train alone");
    if (a && b) check(apart(a, b, DENSE) == 0, "the same bits");
    krein_model_destroy(a);
    krein_model_destroy(b);
    krein_data_close(data);
    krein_data_close(of);
}

int main(int argc, char **argv) {
    int level, all = 0;
    MPI_Comm world = MPI_COMM_WORLD;
    krein_ctx_options o;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    krein_ctx_options_init(&o);
    o.threads = 1;
    o.max_memory = (uint64_t)1 << 30;
    if (krein_ctx_create(&o, &ctx) != KREIN_OK || krein_ctx_create(&o, &alone) != KREIN_OK)
        MPI_Abort(world, 2);
    make_rows();
    check(krein_ctx_join(ctx, &world) == KREIN_OK, "join");
    models();
    select_kernel();
    unlabelled();
    refusals();
    left();
    krein_ctx_destroy(ctx);
    krein_ctx_destroy(alone);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, world);
    MPI_Finalize();
    if (rank == 0 && all == 0) printf("all good on %d\n", size);
    return all > 0;
}
