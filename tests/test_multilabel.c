/* test_multilabel.c -- several labels a row: sets in cells, their encoding, thresholds, metrics,
 * probabilities, and models. */
#include "data.h"

#include "encode/labels.h"
#include "file/sets.h"
#include "model/label_metrics.h"
#include "model/model.h"
#include "model/probability.h"

/* ---- sets --------------------------------------------------------------- */

static void split(const char *text, char between, const char *want) {
    char got[256] = "";
    krein_set_names s = krein__set_names(text, strlen(text), between);
    while (krein__set_next(&s)) {
        strcat(got, "[");
        strncat(got, s.name, s.length);
        strcat(got, "]");
    }
    if (strcmp(got, want) != 0) printf("\"%s\": %s\n", text, got);
    CHECK(strcmp(got, want) == 0);
}

static void names_in_a_cell(void) {
    split("", '|', "");
    split("  ", '|', "");
    split("a", '|', "[a]");
    split("a|b", '|', "[a][b]");
    split(" New York | b ", '|', "[New York][b]");
    split("a||b", '|', "[a][][b]");
    split("a|", '|', "[a][]");
    split("|a", '|', "[][a]");
    split("|", '|', "[][]");
    split("1,5,7", ',', "[1][5][7]");
    split("a  b\tc", ' ', "[a][b][c]");
    split(" a ", ' ', "[a]");
    CHECK(krein__set_valid("a|b", 3, '|') && krein__set_valid("", 0, '|'));
    CHECK(!krein__set_valid("a||b", 4, '|') && !krein__set_valid("a|", 2, '|'));
    CHECK(krein__set_valid("a||b", 4, ','));
}

/* ---- encoding ----------------------------------------------------------- */

static krein_data_options asked(void) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.task = KREIN_TASK_MULTILABEL;
    return o;
}

/* Labels of every row as -1 and +1, one after the other: "+-+ --- ...". */
static void codes(krein_ctx *ctx, learned *l, const char *want) {
    krein_stream *s = NULL;
    krein_block b;
    char got[512] = "";
    double y[64];
    CHECK(krein__stream_open(l->data, &l->e, KREIN_PART_TRAIN, &s) == KREIN_OK);
    while (s && krein__stream_next(s, &b) == KREIN_OK && b.x.n > 0)
        for (int64_t i = 0; i < b.x.n; i++) {
            krein__data_labels(l->data, &l->e, b.label[i], y);
            for (int64_t c = 0; c < l->e.nclass; c++) strcat(got, y[c] > 0 ? "+" : "-");
            strcat(got, " ");
        }
    if (strcmp(got, want) != 0) printf("%s: %s\n", got, krein_message(ctx));
    CHECK(strcmp(got, want) == 0);
    krein__stream_close(s);
}

static void check_sets(const char *text, const char *names, const char *want, bool blanks) {
    krein_ctx *ctx = test_ctx(2);
    krein_data_options o = asked();
    learned l = learn_text(ctx, text, &o);
    char got[256] = "";
    CHECK(l.st == KREIN_OK);
    if (l.st != KREIN_OK) printf("%s\n", krein_message(ctx));
    if (l.st == KREIN_OK) {
        for (int64_t c = 0; c < l.e.nclass; c++) {
            strcat(got, l.e.class_name[c]);
            strcat(got, ";");
        }
        CHECK(strcmp(got, names) == 0);
        CHECK(l.e.task == KREIN_TASK_MULTILABEL && l.e.label_text && l.e.label_blanks == blanks);
        codes(ctx, &l, want);
    }
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void encodes(void) {
    check_sets("label,x\nb|a,1\na,2\n,3\nb,4\n", "a;b;", "++ +- -- -+ ", false);
    check_sets("label,x\na b,1\na,2\n,3\n", "a;b;", "++ +- -- ", true);
    /* where | comes anywhere, blanks are part of names */
    check_sets("label,x\na b|c,1\na,2\n", "a;a b;c;", "-++ +-- ", false);
    check_sets("label,x\na|a|b,1\nb|a,2\n", "a;b;", "++ ++ ", false);        /* twice is once */
    check_sets("label,x\n10|9,1\n2,2\n", "2;9;10;", "-++ +-- ", false);      /* by number */
    check_sets("label,x\n10|x,1\n2,2\n", "10;2;x;", "+-+ -+- ", false);      /* by bytes */
    check_sets("label,x\na,1\na,2\n", "a;", "+ + ", true);                   /* one label will do */
    check_sets("10,9 1:1\n2 1:2\n 1:3\n", "2;9;10;", "-++ +-- --- ", false); /* LIBSVM */
}

static void refuse(const char *text, krein_status st, const char *part, bool drop) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = asked();
    if (drop) o.missing = KREIN_MISSING_DROP;
    learned l = learn_text(ctx, text, &o);
    CHECK(l.st == st);
    if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), part);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void refusals(void) {
    refuse("label,x\na||b,1\na,2\n", KREIN_EDATA, ":2: column 1 (label) has an empty name", false);
    refuse("label,x\na|,1\na,2\n", KREIN_EDATA, "empty name", false);
    refuse("1,,2 1:1\n1 1:2\n", KREIN_EDATA, ":1: an empty name", false);
    refuse("label,x\n,1\n,2\n", KREIN_EDATA, "no row has a label", false);
    refuse("label,x\na,1\n?,2\nb,3\n", KREIN_EDATA, "has no label", false); /* not the empty set */
    refuse("label,x\na,1\n?,2\nb,3\n", KREIN_OK, "", true);
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = asked();
    o.targets = 2;
    learned l = learn_text(ctx, "y,z,x\n1,1,1\n0,1,2\n", &o);
    CHECK(l.st == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "several columns");
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void too_many(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = asked();
    const char *path = test_path("many.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "label,x\n");
    for (int i = 0; i < 10002; i++) fprintf(f, "l%d,%d\n", i, i);
    fclose(f);
    learned l = learn_file(ctx, path, &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "more than 10000 labels");
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* ---- thresholds --------------------------------------------------------- */

static double f1_at(int64_t n, const double *f, const double *y, const double *w, double t) {
    double hit = 0, said = 0, truth = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = w ? w[i] : 1;
        truth += y[i] > 0 ? v : 0;
        said += f[i] > t ? v : 0;
        hit += f[i] > t && y[i] > 0 ? v : 0;
    }
    return said + truth > 0 ? 2 * hit / (said + truth) : 0;
}

static void thresholds(void) {
    enum { N = 300, K = 3 };
    krein_ctx *ctx = test_ctx(1);
    krein_rng g = {5, KREIN_STREAM_START};
    double f[N * K], y[N * K], w[N], t[K], column[N], truth[N];
    for (int64_t i = 0; i < N; i++) {
        w[i] = (double)(i % 4); /* some of weight 0 */
        for (int64_t c = 0; c < K; c++) {
            double z = krein__rng_normal(g, (uint64_t)i, (uint64_t)c);
            y[i * K + c] = z > (c == 2 ? 3 : 1.3) ? 1 : -1; /* the last in few rows */
            /* in steps, so that scores are often equal */
            f[i * K + c] =
                rint(4 * (z / 2 - 2 + krein__rng_normal(g, (uint64_t)i, (uint64_t)(c + K)))) / 4;
        }
    }
    for (int weights = 0; weights < 2; weights++) {
        const double *weight = weights ? w : NULL;
        CHECK(krein__thresholds(ctx, N, K, f, y, weight, t) == KREIN_OK);
        CHECK(t[2] == 0);
        for (int64_t c = 0; c < 2; c++) {
            double most = 0;
            for (int64_t i = 0; i < N; i++) {
                column[i] = f[i * K + c];
                truth[i] = y[i * K + c];
            }
            for (int64_t i = 0; i < N; i++) /* every cut there is */
                most = fmax(most, f1_at(N, column, truth, weight, column[i] - 1e-9));
            CHECK_REL(f1_at(N, column, truth, weight, t[c]), most, 1e-12);
            CHECK(most > f1_at(N, column, truth, weight, 0)); /* 0 is not the best here */
        }
    }
    krein_ctx_destroy(ctx);
}

/* ---- models ------------------------------------------------------------- */

static krein_data *generated(krein_ctx *ctx, const char *name, int64_t n, uint64_t seed) {
    krein_generate_options g;
    krein_data_options o = asked();
    krein_data *data = NULL;
    const char *path = test_path(name);
    krein_generate_options_init(&g);
    g.n = n;
    g.seed = seed;
    CHECK(krein_generate(ctx, "multilabel(labels=3)", &g, path) == KREIN_OK);
    CHECK(krein_data_open(ctx, path, &o, &data) == KREIN_OK);
    return data;
}

static krein_model *fitted(krein_ctx *ctx, krein_data *data, const char *learner, const char *map) {
    krein_train_options o;
    krein_model *m = NULL;
    krein_train_options_init(&o);
    o.learner = learner;
    o.kernel = "gaussian(sigma=1.5)";
    o.map = map;
    o.lambda = strncmp(learner, "kgd", 3) == 0 ? -1 : 1e-3;
    krein_status st = krein_train(ctx, data, &o, NULL, &m);
    if (st != KREIN_OK) printf("%s: %s\n", learner, krein_message(ctx));
    CHECK(st == KREIN_OK);
    return m;
}

/* A label's machine is that of two classes, has it or has it not: each column of the scores is the
 * score of a model for that one label. */
static void against_one_label(const char *learner, const char *map, double tol) {
    enum { N = 80, K = 3 };
    krein_ctx *ctx = test_ctx(2);
    krein_data *data = generated(ctx, "three.csv", N, 1);
    krein_model *m = fitted(ctx, data, learner, map);
    double *score = calloc(N * K, sizeof *score), one[N];
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    to.capacity = N;
    to.scores = score;
    CHECK(m && krein_predict_into(ctx, m, data, &to) == KREIN_OK);
    for (int c = 1; c <= K && m; c++) {
        char line[512], *path = strdup(test_path("one.csv"));
        FILE *from = fopen(test_path("three.csv"), "r"), *f = fopen(path, "w");
        if (!from || !f) exit(1);
        fputs(fgets(line, sizeof line, from) ? line : "", f);
        while (fgets(line, sizeof line, from)) {
            char *comma = strchr(line, ',');
            bool has = memchr(line, '0' + c, (size_t)(comma - line)) != NULL;
            fprintf(f, "%d%s", has, comma);
        }
        fclose(from);
        fclose(f);
        krein_data_options o;
        krein_data *two = NULL;
        krein_data_options_init(&o);
        o.task = KREIN_TASK_CLASSIFICATION;
        CHECK(krein_data_open(ctx, path, &o, &two) == KREIN_OK);
        krein_model *single = fitted(ctx, two, learner, map);
        to.scores = one;
        CHECK(single && krein_predict_into(ctx, single, two, &to) == KREIN_OK);
        double worst = 0;
        for (int64_t i = 0; i < N; i++) worst = fmax(worst, fabs(score[i * K + c - 1] - one[i]));
        if (!(worst < tol)) printf("%s, label %d: off by %g\n", learner, c, worst);
        CHECK(worst < tol);
        krein_model_destroy(single);
        krein_data_close(two);
        free(path);
    }
    free(score);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

static void one_label_each(void) {
    against_one_label("krr", "exact", 1e-8);
    against_one_label("krr", "orf(D=64)", 1e-3);
    against_one_label("svm(tol=1e-5)", "exact", 1e-3);
    against_one_label("svm(tol=1e-4)", "orf(D=64)", 2e-2);
    against_one_label("logistic(tol=1e-6)", "orf(D=64)", 2e-3);
    against_one_label("kgd(steps=20)", "exact", 1e-8);
    against_one_label("dckrr(parts=2)", "orf(D=64)", 1e-3);
}

static void same_bytes_on_threads(void) {
    static const char *const learner[] = {"krr", "svm", "logistic"};
    for (int64_t l = 0; l < KREIN__COUNT(learner); l++) {
        char *file[2] = {NULL};
        int64_t size[2] = {0};
        for (int t = 0; t < 2; t++) {
            krein_ctx *ctx = test_ctx(t + 1);
            krein_data *data = generated(ctx, "threads.csv", 150, 3);
            krein_model *m = fitted(ctx, data, learner[l], "orf(D=32)");
            if (m) CHECK(krein_model_save_memory(ctx, m, NULL, 0, &size[t]) == KREIN_OK);
            file[t] = malloc((size_t)size[t] + 1);
            if (m) CHECK(krein_model_save_memory(ctx, m, file[t], size[t], &size[t]) == KREIN_OK);
            krein_model_destroy(m);
            krein_data_close(data);
            krein_ctx_destroy(ctx);
        }
        CHECK(size[0] > 0 && size[0] == size[1] && memcmp(file[0], file[1], (size_t)size[0]) == 0);
        free(file[0]);
        free(file[1]);
    }
}

/* Thresholds, names and probabilities come back from a file; sets are those of the thresholds. */
static void saved(void) {
    enum { N = 200, K = 3 };
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = generated(ctx, "saved.csv", N, 4);
    krein_model *m = fitted(ctx, data, "krr", "orf(D=64)"), *again = NULL;
    krein_array t;
    const char *path = test_path("saved.krein");
    CHECK(m && krein_model_save(ctx, m, path) == KREIN_OK);
    CHECK(krein_model_load(ctx, path, &again) == KREIN_OK);
    double f[2][N * K], p[2][N * K];
    int8_t set[2][N * K];
    for (int k = 0; k < 2 && again; k++) {
        krein_prediction_arrays to;
        krein_prediction_arrays_init(&to);
        to.capacity = N;
        to.scores = f[k];
        to.probabilities = p[k];
        to.label_sets = set[k];
        CHECK(krein_predict_into(ctx, k ? again : m, data, &to) == KREIN_OK && to.rows == N);
    }
    CHECK(memcmp(f[0], f[1], sizeof f[0]) == 0 && memcmp(p[0], p[1], sizeof p[0]) == 0);
    CHECK(memcmp(set[0], set[1], sizeof set[0]) == 0);
    CHECK(again && krein_model_array(again, "thresholds", &t) && t.columns == K);
    int64_t wrong = 0, outside = 0;
    for (int64_t e = 0; again && e < N * K; e++) {
        wrong += set[1][e] != (f[1][e] > ((const double *)t.at)[e % K]);
        outside += !(p[1][e] > 0 && p[1][e] < 1);
    }
    CHECK(wrong == 0 && outside == 0);
    krein_model_info info = KREIN_SIZED(krein_model_info);
    if (again) krein_model_describe(again, &info);
    CHECK(info.task == KREIN_TASK_MULTILABEL && info.classes == K && info.outputs == K);
    CHECK(info.probabilities && again && strcmp(krein_model_class(again, 2), "3") == 0);
    krein_model_destroy(again);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* ---- metrics ------------------------------------------------------------ */

/* By the formulas, from the predictions, in the order of the file. */
static void metrics(void) {
    enum { N = 150, K = 3 };
    krein_ctx *ctx = test_ctx(2);
    krein_data *data = generated(ctx, "train.csv", N, 5), *test = generated(ctx, "test.csv", N, 6);
    krein_model *m = fitted(ctx, data, "krr", "exact");
    krein_metrics r = KREIN_SIZED(krein_metrics);
    double f[N * K], p[N * K];
    int8_t set[N * K], y[N * K];
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    to.capacity = N;
    to.scores = f;
    to.probabilities = p;
    to.label_sets = set;
    CHECK(m && krein_predict_into(ctx, m, test, &to) == KREIN_OK);
    CHECK(m && krein_evaluate(ctx, m, test, &r) == KREIN_OK);
    FILE *file = fopen(test_path("test.csv"), "r");
    char line[512];
    if (!file || !fgets(line, sizeof line, file)) exit(1);
    for (int i = 0; i < N && fgets(line, sizeof line, file); i++)
        for (int c = 0; c < K; c++)
            y[i * K + c] = memchr(line, '1' + c, strcspn(line, ",")) != NULL;
    fclose(file);
    double wrong = 0, exact = 0, loss = 0, order = 0, area = 0, macro = 0, all_hit = 0,
           all_both = 0;
    for (int i = 0; i < N; i++) {
        int off = 0, in = 0, pairs = 0;
        for (int c = 0; c < K; c++) {
            off += y[i * K + c] != set[i * K + c];
            in += y[i * K + c];
            loss -= log(y[i * K + c] ? p[i * K + c] : 1 - p[i * K + c]) / (N * K);
            for (int o = 0; o < K; o++)
                pairs += y[i * K + c] && !y[i * K + o] && f[i * K + c] <= f[i * K + o];
        }
        wrong += off;
        exact += off == 0;
        if (in > 0 && in < K) order += (double)pairs / (in * (K - in));
    }
    for (int c = 0; c < K; c++) {
        double above = 0, both = 0, hit = 0;
        int with = 0;
        for (int i = 0; i < N; i++) {
            with += y[i * K + c];
            both += y[i * K + c] + set[i * K + c];
            hit += y[i * K + c] && set[i * K + c];
            for (int j = 0; j < N; j++)
                if (y[i * K + c] && !y[j * K + c])
                    above += (f[i * K + c] > f[j * K + c]) + (f[i * K + c] == f[j * K + c]) / 2.0;
        }
        above /= (double)with * (N - with);
        area += above / K;
        macro += 2 * hit / both / K;
        all_hit += hit;
        all_both += both;
        CHECK(r.label_rows && r.label_rows[c] == with);
        if (r.label_auc) CHECK_REL(r.label_auc[c], above, 1e-12);
        if (r.label_f1) CHECK_REL(r.label_f1[c], 2 * hit / both, 1e-12);
    }
    CHECK(r.task == KREIN_TASK_MULTILABEL && r.n == N && !r.confusion && isnan(r.accuracy));
    CHECK_REL(r.hamming_loss, wrong / (N * K), 1e-12);
    CHECK_REL(r.subset_accuracy, exact / N, 1e-12);
    CHECK_REL(r.ranking_loss, order / N, 1e-12);
    CHECK_REL(r.micro_f1, 2 * all_hit / all_both, 1e-12);
    CHECK_REL(r.macro_f1, macro, 1e-12);
    CHECK_REL(r.auc, area, 1e-12);
    CHECK_REL(r.log_loss, loss, 1e-10);
    CHECK(r.micro_f1 > 0.7); /* it has learned something */
    krein_metrics_clear(ctx, &r);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(test);
    krein_ctx_destroy(ctx);
}

/* A name that training did not have, and rows in memory. */
static void other_rows(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *names[] = {"a|b", "a", "", "b", "a", "b|a", "", "a"};
    const char *bad[] = {"a", "a|new", "", "b", "a", "b", "", "a"};
    double x[8] = {2, 1, 0, 3, 1.5, 2.5, 0.5, 1.2};
    krein_rows_view v;
    krein_data_options o = asked();
    krein_data *data = NULL, *other = NULL;
    krein_metrics r = KREIN_SIZED(krein_metrics);
    krein_rows_view_init(&v);
    v.n = 8;
    v.d = 1;
    v.x = x;
    v.type = KREIN_FLOAT64;
    v.class_names = names;
    CHECK(krein_data_from_rows(ctx, &v, &o, &data) == KREIN_OK);
    krein_model *m = fitted(ctx, data, "krr", "exact");
    CHECK(m && krein_evaluate(ctx, m, data, &r) == KREIN_OK);
    krein_metrics_clear(ctx, &r);
    v.class_names = bad;
    CHECK(krein_data_from_rows(ctx, &v, &o, &other) == KREIN_OK);
    CHECK(m && krein_evaluate(ctx, m, other, &r) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "row 2 has the label \"new\", which was never seen in training");
    krein_data_close(other);
    v.class_names = NULL;
    v.targets = x; /* numbers are no sets */
    CHECK(krein_data_from_rows(ctx, &v, &o, &other) == KREIN_OK);
    CHECK(m && krein_evaluate(ctx, m, other, &r) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "takes one column of texts");
    krein_prediction_arrays to;
    int8_t set[16];
    krein_prediction_arrays_init(&to);
    to.capacity = 8;
    to.label_sets = set;
    CHECK(m && krein_predict_into(ctx, m, other, &to) == KREIN_OK); /* labels do not matter there */
    krein_model_destroy(m);
    krein_data_close(data);
    krein_data_close(other);
    krein_ctx_destroy(ctx);
}

static void refused_learners(void) {
    static const char *const learner[] = {"svr", "svm(multi=ovo)", "svm(class_weights=balanced)",
                                          "logistic(class_weights=balanced)", "askl(loss=softmax)"};
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = generated(ctx, "refused.csv", 60, 7);
    for (int64_t l = 0; l < KREIN__COUNT(learner); l++) {
        krein_train_options o;
        krein_model *m = NULL;
        krein_train_options_init(&o);
        o.learner = learner[l];
        o.kernel = "gaussian(sigma=1)";
        if (strncmp(learner[l], "askl", 4) != 0) o.map = "orf(D=16)";
        krein_status st = krein_train(ctx, data, &o, NULL, &m);
        CHECK(st == KREIN_EDATA || st == KREIN_EARG);
        CHECK(strstr(krein_message(ctx), "label") || strstr(krein_message(ctx), "classes"));
        krein_model_destroy(m);
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
}

/* The k-th allocation fails, for every k: out of memory, and nothing is left behind. */
static void every_allocation(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data_options o = asked();
    krein_train_options t;
    char *path = strdup(test_write("small.csv", "label,x\na|b,1\na,2\n,3\nb,2.5\na,1.5\n"));
    krein_train_options_init(&t);
    t.kernel = "gaussian(sigma=1)";
    t.map = "exact";
    t.lambda = 1e-2;
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_metrics r = KREIN_SIZED(krein_metrics);
        krein_model *m = NULL;
        krein_data *data = NULL;
        double f[10];
        krein_prediction_arrays to;
        krein_prediction_arrays_init(&to);
        to.capacity = 5;
        to.scores = f;
        krein_status st = krein_data_open(ctx, path, &o, &data);
        if (st == KREIN_OK) st = krein_train(ctx, data, &t, NULL, &m);
        if (st == KREIN_OK) st = krein_evaluate(ctx, m, data, &r);
        if (st == KREIN_OK) st = krein_predict_into(ctx, m, data, &to);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        krein_metrics_clear(ctx, &r);
        krein_model_destroy(m);
        krein_data_close(data);
    }
    free(path);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(names_in_a_cell);
    RUN(encodes);
    RUN(refusals);
    RUN(too_many);
    RUN(thresholds);
    RUN(one_label_each);
    RUN(same_bytes_on_threads);
    RUN(saved);
    RUN(metrics);
    RUN(other_rows);
    RUN(refused_learners);
    RUN(every_allocation);
    return DONE();
}
