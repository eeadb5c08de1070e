/* test_labelprop.c -- labels carried over a graph against dense solutions; labelprop and selftrain
 * end to end: duplicates, pieces without a label, no unlabelled rows, files of graphs, threads. */
#include "train.h"

#include "learn/points.h"
#include "solve/propagate.h"

static krein_ctx *ctx;

/* ---- against dense solutions -------------------------------------------- */

enum { N = 40, K = 2 };

static void make_graph(krein_graph *g) {
    float *x = test_dense(N, 2, .7);
    krein_rows points = krein__rows_dense(N, 2, x, 2);
    krein_graph_options o = {.k = 4};
    CHECK(krein__graph_make(ctx, NULL, &points, NULL, &o, g) == KREIN_OK);
    CHECK(krein__graph_pieces(ctx, g, NULL) == 1);
    free(x);
}

/* count[i] rows each, of which known[i] count[i] have labels: all rows written out, eliminated. */
static void against_dense(void) {
    krein_graph g = {0};
    double known[N] = {0}, f[N * K], want[N * K], count[N];
    make_graph(&g);
    for (int counts = 0; counts < 2; counts++)
        for (int spreading = 0; spreading < 2; spreading++) {
            krein_propagate_options o = {spreading, .7, 1e-12, 1000};
            krein_propagated r;
            double A[N * N] = {0}, b[N * K] = {0}, degree[N] = {0};
            for (int i = 0; i < N; i++) {
                count[i] = counts ? 1 + i % 3 : 1;
                known[i] = i % 5 == 1 ? (spreading ? 1 / count[i] : 1) : 0;
                for (int c = 0; c < K; c++) f[i * K + c] = known[i] > 0 ? det(i, c, 2) : 0;
            }
            for (int i = 0; i < N; i++)
                for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++)
                    degree[i] += count[g.col[e]] * g.val[e];
            for (int i = 0; i < N; i++) {
                for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++) {
                    int j = g.col[e];
                    double w = count[j] * g.val[e];
                    if (spreading) A[i * N + j] = -o.alpha * w / sqrt(degree[i] * degree[j]);
                    if (!spreading && known[i] == 0) A[i * N + j] = -w / degree[i];
                }
                A[i * N + i] = 1;
                for (int c = 0; c < K; c++)
                    b[i * K + c] =
                        (spreading ? (1 - o.alpha) * known[i] : known[i] > 0) * f[i * K + c];
            }
            test_solve(N, K, A, b);
            memcpy(want, b, sizeof want);
            CHECK(krein__propagate(ctx, &g, counts ? count : NULL, known, K, f, &o, &r) ==
                  KREIN_OK);
            CHECK(r.converged && r.pieces == 1 && r.lost == 0 && r.steps > 1);
            for (int e = 0; e < N * K; e++) CHECK_ABS(f[e], want[e], 1e-9);
        }
    krein__graph_clear(ctx, &g);
}

/* Two pieces, one of them without a label; a node of weight 0. */
static void pieces(void) {
    int64_t ptr[] = {0, 1, 3, 4, 5, 6};
    int32_t col[] = {1, 0, 2, 1, 4, 3};
    double val[] = {1, 1, .5, .5, 1, 1};
    krein_graph g = {.n = 5, .ptr = ptr, .col = col, .val = val};
    double known[] = {1, 0, 1, 0, 0}, f[] = {4, 0, 1, 0, 0}, count[] = {1, 1, 1, 1, 1};
    krein_propagate_options o = {false, .2, 1e-12, 100};
    krein_propagated r;
    CHECK(krein__propagate(ctx, &g, NULL, known, 1, f, &o, &r) == KREIN_OK);
    CHECK(r.pieces == 2 && r.lost == 2);
    CHECK_REL(f[1], 3, 1e-12);
    CHECK(f[0] == 4 && f[2] == 1 && isnan(f[3]) && isnan(f[4]));
    double again[] = {4, 0, 0, 0, 0};
    known[2] = 0;
    count[1] = 0; /* nobody counts it: it is told the mean of its neighbours that have a value */
    val[0] = val[1] = 1;
    CHECK(krein__propagate(ctx, &g, count, known, 1, again, &o, &r) == KREIN_OK);
    CHECK(again[0] == 4 && isfinite(again[1]));
}

/* ---- the learners ------------------------------------------------------- */

/* Two half moons, and how many rows of each keep their label. */
static rows moons(int64_t n, int64_t labelled) {
    rows r = make_rows(n, 2, 1, 5);
    for (int64_t i = 0; i < n; i++) {
        double t = 3.14159265 * uniform();
        int side = (int)(i % 2);
        r.x[2 * i] = (float)((side ? 1 - cos(t) : cos(t)) + .07 * normal());
        r.x[2 * i + 1] = (float)((side ? .5 - sin(t) : sin(t)) + .07 * normal());
        r.y[i] = i < labelled ? (double)side : (double)NAN;
    }
    return r;
}

static krein_train_options asked(const char *learner, const char *map) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.learner = learner;
    o.kernel = "gaussian(sigma=0.3)";
    o.map = map;
    return o;
}

/* Of the rows of r, whose classes alternate. */
static double error_of(const krein_model *m, const rows *r) {
    double *f = test_new(r->n, sizeof *f), wrong = 0;
    CHECK(krein_predict_dense(ctx, m, r->n, r->d, r->x, r->d, f) == KREIN_OK);
    for (int64_t i = 0; i < r->n; i++) wrong += (f[i] > 0) != (i % 2 == 1);
    free(f);
    return wrong / (double)r->n;
}

/* Few labels and the graph tell the moons apart, and ridge regression on the labels does not. */
static void classes(void) {
    rows r = moons(600, 6), new = moons(300, 0);
    const char *maps[] = {"exact", "nystrom(D=100)", "rff(D=300)"};
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
    rows few = {6, 2, 1, r.x, r.y};
    krein_data *labelled = open_rows(ctx, &few, NULL, KREIN_TASK_CLASSIFICATION);
    krein_ctx *three = test_ctx(3);
    krein_data *again = open_rows(three, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_model *m = NULL, *n = NULL;
    krein_train_options o = asked("krr", "exact");
    CHECK(krein_train(ctx, labelled, &o, NULL, &m) == KREIN_OK);
    double alone = error_of(m, &new);
    krein_model_destroy(m);
    for (int k = 0; k < 6; k++) {
        krein_report report = KREIN_SIZED(krein_report);
        o = asked(k % 2 ? "labelprop(method=spreading, alpha=0.95)" : "labelprop", maps[k / 2]);
        CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
        CHECK(report.n == 6 && report.unlabelled == 594 && isnan(report.loo));
        CHECK_ELSE(error_of(m, &new) < .03 && alone > .1, "%s, %s: %.3f, alone %.3f\n", o.learner,
                   o.map, error_of(m, &new), alone);
        CHECK(krein_train(three, again, &o, NULL, &n) == KREIN_OK);
        test_bytes a = test_model_bytes(ctx, m), b = test_model_bytes(three, n);
        CHECK(test_same(a, b));
        free(a.at);
        free(b.at);
        krein_model_destroy(n);
        krein_model_destroy(m);
        krein_report_clear(ctx, &report);
    }
    krein_data_close(again);
    krein_data_close(labelled);
    krein_data_close(data);
    krein_ctx_destroy(three);
    drop(&r);
    drop(&new);
}

/* Numbers along a line: the harmonic function is linear between two labels. */
static void numbers(void) {
    enum { M = 101 };
    rows r = {M, 1, 1, test_new(M, sizeof(float)), test_new(M, sizeof(double))};
    for (int i = 0; i < M; i++) {
        r.x[i] = (float)(i / 50.0 - 1);
        r.y[i] = i == 0 || i == M - 1 ? 10.0 + i : (double)NAN;
    }
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = asked("labelprop(k=2, edges=binary)", "exact");
    krein_model *m = NULL;
    double f[M];
    o.lambda = 1e-9;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, M, 1, r.x, 1, f) == KREIN_OK);
    /* two neighbours on each side but at the ends, where the second one is on the same side */
    for (int i = 5; i < M - 5; i++) CHECK_ABS(f[i], 10 + i, 1.5);
    krein_model_destroy(m);
    o.learner = "labelprop(method=spreading)";
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_EARG && !m);
    CHECK_HAS(ctx->message, "method=harmonic");
    krein_data_close(data);
    drop(&r);
}

/* Every row several times: the same model as with weights, and as many nodes as rows. */
static void duplicates(void) {
    rows r = moons(120, 8),
         twice = {360, 2, 1, test_new(720, sizeof(float)), test_new(360, sizeof(double))};
    double weight[120], a[120], b[120];
    for (int i = 0; i < 120; i++) weight[i] = 3;
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 120; i++) {
            memcpy(twice.x + 2 * (t * 120 + i), r.x + 2 * i, 2 * sizeof(float));
            twice.y[t * 120 + i] = r.y[i];
        }
    krein_data *one = open_rows(ctx, &r, weight, KREIN_TASK_CLASSIFICATION),
               *three = open_rows(ctx, &twice, NULL, KREIN_TASK_CLASSIFICATION);
    for (int k = 0; k < 2; k++) {
        krein_train_options o = asked(k ? "labelprop(method=spreading)" : "labelprop", "rff(D=50)");
        krein_model *m = NULL, *n = NULL;
        o.lambda = 1e-3;
        CHECK(krein_train(ctx, one, &o, NULL, &m) == KREIN_OK);
        CHECK(krein_train(ctx, three, &o, NULL, &n) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, m, 120, 2, r.x, 2, a) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, n, 120, 2, r.x, 2, b) == KREIN_OK);
        for (int i = 0; i < 120; i++) CHECK_ABS(a[i], b[i], 1e-5);
        krein_model_destroy(m);
        krein_model_destroy(n);
    }
    krein_data_close(one);
    krein_data_close(three);
    drop(&r);
    drop(&twice);
}

static void said(void) {
    test_log log;
    krein_ctx *own = test_ctx_full(1, NULL, &log);
    rows r = moons(60, 60), far = moons(60, 4);
    krein_model *m = NULL;
    krein_data *data = open_rows(own, &r, NULL, KREIN_TASK_CLASSIFICATION);
    krein_train_options o = asked("labelprop", "exact");
    CHECK(krein_train(own, data, &o, NULL, &m) == KREIN_OK);
    CHECK_HAS(log.text, "every row has a label");
    CHECK_HAS(log.text, "60 rows; 60 have labels");
    krein_model_destroy(m);
    o.learner = "labelprop(k=60)";
    CHECK(krein_train(own, data, &o, NULL, &m) == KREIN_EARG);
    CHECK_HAS(own->message, "60 different rows do not have 60 neighbours each");
    o.learner = "selftrain";
    CHECK(krein_train(own, data, &o, NULL, &m) == KREIN_OK);
    CHECK_HAS(log.text, "so that it is krr");
    krein_model_destroy(m);
    krein_data_close(data);
    for (int i = 40; i < 60; i++) far.x[2 * i] += 100; /* a piece without a label */
    data = open_rows(own, &far, NULL, KREIN_TASK_CLASSIFICATION);
    o.learner = "labelprop(k=3)";
    CHECK(krein_train(own, data, &o, NULL, &m) == KREIN_OK);
    CHECK_HAS(log.text, "pieces without a label");
    krein_model_destroy(m);
    krein_data_close(data);
    for (int i = 0; i < 60; i++) far.y[i] = NAN;
    data = open_rows(own, &far, NULL, KREIN_TASK_CLASSIFICATION);
    CHECK(krein_train(own, data, &o, NULL, &m) == KREIN_EDATA && !m);
    krein_data_close(data);
    const char *wrong[][2] = {{"selftrain(base=kgd)", "no probabilities"},
                              {"selftrain(base=sskrr)", "without labels by itself"},
                              {"selftrain(base=askl)", "without labels by itself"},
                              {"selftrain(base=mkl)", "weighs kernels"},
                              {"selftrain(base=\"svm(D=1)\")", "D"}};
    for (int k = 0; k < 5; k++) {
        o.learner = wrong[k][0];
        CHECK(krein_train_check(own, &o) == KREIN_ESPEC);
        CHECK_HAS(own->message, wrong[k][1]);
    }
    o.learner = "krr";
    o.graph_file = "g";
    CHECK(krein_train_check(own, &o) == KREIN_EARG);
    CHECK_HAS(own->message, "labelprop");
    krein_ctx_destroy(own);
    drop(&r);
    drop(&far);
}

static void graph_file(void) {
    rows r = moons(100, 6), other = moons(100, 6);
    other.x[7] += 1;
    char path[256];
    snprintf(path, sizeof path, "%s", test_path("moons.graph"));
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION),
               *wrong = open_rows(ctx, &other, NULL, KREIN_TASK_CLASSIFICATION);
    krein_model *m = NULL, *n = NULL;
    krein_train_options o = asked("labelprop", "exact");
    o.graph_file = path;
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    CHECK(krein_train(ctx, data, &o, NULL, &n) == KREIN_OK);
    test_bytes a = test_model_bytes(ctx, m), b = test_model_bytes(ctx, n);
    CHECK(test_same(a, b));
    free(a.at);
    free(b.at);
    krein_model_destroy(m);
    krein_model_destroy(n);
    CHECK(krein_train(ctx, wrong, &o, NULL, &m) == KREIN_EDATA && !m);
    CHECK_HAS(ctx->message, "graph of other rows");
    krein_data_close(data);
    krein_data_close(wrong);
    drop(&r);
    drop(&other);
}

/* Round by round with the library as a user would: probabilities, sure rows, again. */
static void by_hand(void) {
    enum { ALL = 200, FEW = 20 };
    rows r = moons(ALL, FEW),
         some = {0, 2, 1, test_new(2 * ALL, sizeof(float)), test_new(ALL, sizeof(double))};
    const char *maps[] = {"rff(D=64)", "exact"}, *bases[] = {"logistic(tol=1e-6)", "krr"};
    krein_data_options plain;
    krein_data_options_init(&plain);
    plain.task = KREIN_TASK_CLASSIFICATION;
    plain.scale = KREIN_SCALE_NONE; /* as it would be of the rows with labels at first */
    for (int k = 0; k < 2; k++) {
        double y[ALL], p[2 * ALL], f[ALL], g[ALL];
        krein_model *m = NULL, *want = NULL;
        krein_data *data = NULL;
        memcpy(y, r.y, sizeof y);
        krein_train_options o = asked(bases[k], maps[k]);
        o.lambda = .01;
        o.probabilities = 1;
        int rounds = 0, given = 1;
        for (;; rounds++) {
            some.n = 0;
            for (int i = 0; i < ALL; i++) {
                if (isnan(y[i])) continue;
                memcpy(some.x + 2 * some.n, r.x + 2 * i, 2 * sizeof(float));
                some.y[some.n++] = y[i];
            }
            CHECK(krein_data_from_dense(ctx, some.n, 2, some.x, 2, some.y, NULL, &plain, &data) ==
                  KREIN_OK);
            CHECK(krein_train(ctx, data, &o, NULL, &want) == KREIN_OK);
            krein_data_close(data);
            if (rounds == 3 || given == 0) break;
            krein_prediction_arrays out;
            krein_prediction_arrays_init(&out);
            out.capacity = ALL;
            out.probabilities = p;
            CHECK(krein_data_from_dense(ctx, ALL, 2, r.x, 2, NULL, NULL, NULL, &data) == KREIN_OK);
            CHECK(krein_predict_into(ctx, want, data, &out) == KREIN_OK);
            krein_data_close(data);
            given = 0;
            for (int i = 0; i < ALL; i++)
                if (isnan(y[i]) && fmax(p[2 * i], p[2 * i + 1]) > .9)
                    y[i] = p[2 * i + 1] > p[2 * i], given++;
            krein_model_destroy(want);
        }
        CHECK(rounds >= 1);
        krein_data *both = NULL;
        CHECK(krein_data_from_dense(ctx, ALL, 2, r.x, 2, r.y, NULL, &plain, &both) == KREIN_OK);
        char learner[128];
        snprintf(learner, sizeof learner, "selftrain(base=\"%s\", threshold=0.9, rounds=3)",
                 bases[k]);
        o.learner = learner;
        CHECK(krein_train(ctx, both, &o, NULL, &m) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, m, ALL, 2, r.x, 2, f) == KREIN_OK);
        CHECK(krein_predict_dense(ctx, want, ALL, 2, r.x, 2, g) == KREIN_OK);
        for (int i = 0; i < ALL; i++) CHECK_ABS(f[i], g[i], 1e-4 * (1 + fabs(g[i])));
        krein_model_destroy(m);
        krein_model_destroy(want);
        krein_data_close(both);
    }
    drop(&r);
    drop(&some);
}

/* Votes of pairs, and a threshold that nothing is above: the base on the labelled rows. */
static void base_alone(void) {
    rows r = rings(150, 3, 4);
    for (int i = 60; i < 150; i++) r.y[i] = NAN;
    rows few = {60, 3, 1, r.x, r.y};
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION),
               *labelled = open_rows(ctx, &few, NULL, KREIN_TASK_CLASSIFICATION);
    krein_model *m = NULL, *n = NULL;
    double f[450], g[450];
    krein_train_options o = asked("svm(C=2, multi=ovo)", "rff(D=40)");
    CHECK(krein_train(ctx, labelled, &o, NULL, &m) == KREIN_OK);
    o.learner = "selftrain(base=\"svm(C=2, multi=ovo)\", threshold=0.9999999, rounds=2)";
    CHECK(krein_train(ctx, data, &o, NULL, &n) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, m, 150, 3, r.x, 3, f) == KREIN_OK);
    CHECK(krein_predict_dense(ctx, n, 150, 3, r.x, 3, g) == KREIN_OK);
    for (int i = 0; i < 450; i++) CHECK_ABS(f[i], g[i], 1e-6);
    krein_model_destroy(m);
    krein_model_destroy(n);
    krein_data_close(data);
    krein_data_close(labelled);
    drop(&r);
}

static void failing(void) {
    test_memory memory;
    krein_ctx *own = test_ctx_with(1, &memory);
    rows r = moons(40, 6);
    const char *learners[] = {"labelprop(k=3)",
                              "selftrain(base=\"logistic(lambda=0.1)\", rounds=1)"};
    for (int k = 0; k < 2; k++) TEST_EVERY_ALLOCATION(&memory, at) {
            krein_data *data = NULL;
            krein_model *m = NULL;
            krein_data_options plain;
            krein_data_options_init(&plain);
            plain.task = KREIN_TASK_CLASSIFICATION;
            krein_train_options o = asked(learners[k], k ? "rff(D=4)" : "exact");
            o.lambda = k ? -1 : 1e-2;
            krein_status st = krein_data_from_dense(own, 40, 2, r.x, 2, r.y, NULL, &plain, &data);
            if (st == KREIN_OK) st = krein_train(own, data, &o, NULL, &m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            krein_data_close(data);
        }
    krein_ctx_destroy(own);
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(against_dense);
    RUN(pieces);
    RUN(classes);
    RUN(numbers);
    RUN(duplicates);
    RUN(said);
    RUN(graph_file);
    RUN(by_hand);
    RUN(base_alone);
    RUN(failing);
    krein_ctx_destroy(ctx);
    return DONE();
}
