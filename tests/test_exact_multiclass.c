/* test_exact_multiclass.c -- svm(multi=crammer) and svm(multi=gmnp) on the kernel matrix: against
 * the ordinary machine of two classes, the solver on a matrix written out, folds, the choice of C,
 * row weights. */
#include "machines.h"

#include "learn/feature_machines.h"
#include "solve/multiclass.h"

enum { CRAMMER = KREIN_MULTI_CRAMMER, GMNP = KREIN_MULTI_GMNP };

static double *matrix_of(int64_t n, const double *x) {
    double *K = test_new(n * n, sizeof *K);
    for (int64_t e = 0; e < n * n; e++) K[e] = plain(x + e / n * D, x + e % n * D);
    return K;
}

/* Scores at new rows of two models are the same; the second's intercepts may have another mean. */
static void same_scores(const fixture *f, const fixture *g, const double *x, double tol) {
    double *new = points(30, 2.2);
    for (int64_t i = 0; i < 30; i++)
        for (int64_t c = 0; c < f->model.k; c++)
            CHECK_ABS(value(f, plain, x, new + i *D, c), value(g, plain, x, new + i *D, c), tol);
    free(new);
}

/* Crammer and Singer's machine of two classes is the ordinary one. */
static void two_classes(void) {
    enum { N = 90 };
    double *x = points(N, .4);
    for (int balanced = 0; balanced < 2; balanced++)
        for (int large = 0; large < 2; large++) {
            fixture f, g;
            krein_exact_svm o = {.C = large ? 9 : .3, .balanced = balanced, .tol = 1e-9};
            open_fixture(&f, N, 2, GAUSSIAN, KREIN_HEAD_BEST);
            open_fixture(&g, N, 2, GAUSSIAN, KREIN_HEAD_BEST);
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            o.multi = CRAMMER;
            CHECK(krein__exact_svm(job_of(&g), &o) == KREIN_OK);
            same_scores(&f, &g, x, 2e-4);
            close_fixture(&f);
            close_fixture(&g);
        }
    free(x);
}

/* A machine of K written out, with these costs. */
static void solve(const fixture *f, const double *K, const double *cost, int multi, bool intercept,
                  double tol, int64_t most, double *w, double *b) {
    int64_t k = f->s.e.nclass;
    int32_t *class = test_new(f->n, sizeof *class);
    double *alpha = test_new(f->n * k, sizeof *alpha);
    for (int64_t i = 0; i < f->n; i++) class[i] = (int32_t)f->y[i];
    memset(b, 0, (size_t)k * sizeof *b);
    krein_multiclass m = {.n = f->n,
                          .classes = k,
                          .K = K,
                          .class = class,
                          .cost = cost,
                          .loss = multi == GMNP ? KREIN_MULTICLASS_PAIRS : KREIN_MULTICLASS_LARGEST,
                          .intercept = !intercept      ? KREIN_INTERCEPT_NONE
                                       : multi == GMNP ? KREIN_INTERCEPT_PENALISED
                                                       : KREIN_INTERCEPT_FREE,
                          .tol = tol,
                          .most = most,
                          .alpha = alpha,
                          .w = w,
                          .b = b};
    CHECK(krein__multiclass(ctx, &m) == KREIN_OK);
    free(class);
    free(alpha);
}

/* The learner's machine is that of the solver, with and without intercepts and weights of classes.
 */
static void as_the_solver(void) {
    enum { N = 80, CLASSES = 4 };
    double *x = points(N, .4), *K = matrix_of(N, x), cost[N], w[N * CLASSES], b[CLASSES];
    for (int multi = CRAMMER; multi <= GMNP; multi++)
        for (int t = 0; t < 4; t++) {
            fixture f;
            double count[CLASSES] = {0};
            krein_exact_svm o = {
                .C = 3, .multi = multi, .no_intercept = t & 1, .balanced = t & 2, .tol = 1e-8};
            open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_BEST);
            for (int64_t i = 0; i < N; i++) count[(int)f.y[i]]++;
            for (int64_t i = 0; i < N; i++)
                cost[i] = 3 * (o.balanced ? N / (CLASSES * count[(int)f.y[i]]) : 1);
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            solve(&f, K, cost, multi, !o.no_intercept, 1e-8, 0, w, b);
            for (int64_t e = 0; e < N * CLASSES; e++) CHECK_ABS(f.model.w[e], w[e], 1e-3);
            for (int64_t c = 0; c < CLASSES; c++) CHECK_ABS(f.model.intercept[c], b[c], 1e-3);
            close_fixture(&f);
        }
    free(x);
    free(K);
}

/* Held-out scores are those of machines that have not seen the row. */
static void scores_are_held_out(void) {
    enum { N = 60, CLASSES = 3 };
    double *x = points(N, .4), *K = matrix_of(N, x), cost[N], w[N * CLASSES], b[CLASSES],
           score[N * CLASSES];
    int32_t fold[N], class[N];
    for (int multi = CRAMMER; multi <= GMNP; multi++) {
        fixture f;
        krein_exact_svm o = {.C = 2, .multi = multi, .tol = 1e-9};
        open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_BEST);
        CHECK(krein__exact_svm_held_out(job_of(&f), &o, score) == KREIN_OK);
        for (int64_t i = 0; i < N; i++) class[i] = (int32_t)f.y[i];
        CHECK(krein__folds(ctx, f.job.seed, N, 5, NULL, class, fold) == KREIN_OK);
        for (int32_t q = 0; q < 5; q++) {
            for (int64_t i = 0; i < N; i++) cost[i] = fold[i] == q ? 0 : 2;
            solve(&f, K, cost, multi, true, 1e-9, 0, w, b);
            for (int64_t i = 0; i < N; i++)
                for (int64_t c = 0; c < CLASSES && fold[i] == q; c++) {
                    double sum = b[c];
                    for (int64_t j = 0; j < N; j++) sum += K[i * N + j] * w[j * CLASSES + c];
                    CHECK_ABS(score[i * CLASSES + c], sum, 1e-4);
                }
        }
        close_fixture(&f);
    }
    free(x);
    free(K);
}

/* The C chosen gives the same model again, on any number of threads, and a fair error. */
static void C_is_chosen(void) {
    enum { N = 150 };
    krein_ctx *two = ctx;
    for (int multi = CRAMMER; multi <= GMNP; multi++) {
        double C[2], loo[2], *w[2];
        for (int run = 0; run < 2; run++) {
            fixture f;
            ctx = run ? two : test_ctx(1);
            open_fixture(&f, N, 3, GAUSSIAN, KREIN_HEAD_BEST);
            krein_exact_svm o = {.C = -1, .multi = multi, .tol = 1e-3, .chosen_C = &C[run]};
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            loo[run] = f.job.loo;
            CHECK(loo[run] > 0 && loo[run] < .4 && f.job.cv_folds == 5);
            w[run] = test_new(N * 3, sizeof(double));
            memcpy(w[run], f.model.w, N * 3 * sizeof(double));
            o.C = C[run];
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            CHECK(!memcmp(w[run], f.model.w, N * 3 * sizeof(double)));
            close_fixture(&f);
            if (!run) krein_ctx_destroy(ctx);
        }
        CHECK(C[0] == C[1] && loo[0] == loo[1] && !memcmp(w[0], w[1], N * 3 * sizeof(double)));
        free(w[0]);
        free(w[1]);
    }
    ctx = two;
}

/* ---- row weights -------------------------------------------------------- */

/* Rows as often as weights say, or with them. Both have the first row of every class first. */
static void weighted_fixture(fixture *f, int64_t n, int classes, const double *weight,
                             bool repeated) {
    krein_data_options o;
    int64_t m = 0;
    *f = (fixture){.x = test_new(3 * n * D, sizeof(float)), .y = test_new(3 * n, sizeof(double))};
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < (repeated ? (int64_t)weight[i] : 1); t++, m++) {
            for (int j = 0; j < D; j++) f->x[m * D + j] = (float)det(i, j, .4);
            f->y[m] = label(i, classes);
        }
    f->n = m;
    krein_data_options_init(&o);
    o.task = KREIN_TASK_CLASSIFICATION;
    o.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(ctx, m, D, f->x, D, f->y, repeated ? NULL : weight, &o,
                                &f->s.data) == KREIN_OK);
    CHECK(source_open(&f->s, true, 0) == KREIN_OK);
    f->model = (krein_model){.ctx = ctx, .encoding = f->s.e, .head = KREIN_HEAD_BEST};
    f->model.map = need("exact", GAUSSIAN, 1, &f->s);
    f->model.k = krein__head_scores(KREIN_HEAD_BEST, &f->s.e);
    f->model.w = test_new(m * f->model.k, sizeof(double));
    f->model.intercept = test_new(f->model.k, sizeof(double));
}

static double own_value(const fixture *f, const double *x, int64_t c) {
    double sum = f->model.intercept[c];
    for (int64_t i = 0; i < f->n; i++) {
        double row[D];
        for (int j = 0; j < D; j++) row[j] = (double)f->x[i * D + j];
        sum += f->model.w[i * f->model.k + c] * plain(x, row);
    }
    return sum;
}

static void weights_are_copies(void) {
    enum { N = 60 };
    double weight[N], *new = points(20, 2.2);
    for (int64_t i = 0; i < N; i++) weight[i] = (double)(i % 3);
    for (int t = 0; t < 8; t++) {
        fixture f, g;
        krein_exact_svm o = {
            .C = 2, .multi = t & 1 ? GMNP : CRAMMER, .balanced = t & 2, .tol = 1e-9};
        int classes = t & 4 ? 2 : 3;
        weighted_fixture(&f, N, classes, weight, false);
        weighted_fixture(&g, N, classes, weight, true);
        CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
        CHECK(krein__exact_svm(job_of(&g), &o) == KREIN_OK);
        for (int64_t i = 0; i < 20; i++)
            for (int64_t c = 0; c < f.model.k; c++)
                CHECK_ABS(own_value(&f, new + i *D, c), own_value(&g, new + i *D, c), 2e-4);
        close_fixture(&f);
        close_fixture(&g);
    }
    free(new);
}

/* ---- bad input, memory -------------------------------------------------- */

static void refused(fixture *f, const krein_exact_svm *o, krein_status status, const char *text) {
    CHECK(krein__exact_svm(job_of(f), o) == status);
    CHECK_HAS(krein_message(ctx), text);
}

static void bad_input(void) {
    for (int multi = CRAMMER; multi <= GMNP; multi++) {
        fixture f;
        open_fixture(&f, 40, 3, GAUSSIAN, KREIN_HEAD_BEST);
        refused(&f, &(krein_exact_svm){.C = 0, .multi = multi, .tol = 1e-3}, KREIN_EARG,
                "positive");
        refused(&f, &(krein_exact_svm){.C = 1, .multi = multi, .tol = 0}, KREIN_EARG, "tol");
        close_fixture(&f);
        /* Repaired, an indefinite kernel is as good as any. */
        open_fixture(&f, 60, 3, "gaussian(sigma=0.7) - 0.8*gaussian(sigma=1.9)", KREIN_HEAD_BEST);
        krein_exact_svm o = {.C = 10, .multi = multi, .spectrum = KREIN_REPAIR_CLIP, .tol = 1e-6};
        CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
        double *x = points(60, .4);
        int64_t right = 0;
        for (int64_t i = 0; i < 60; i++) {
            double score[3];
            for (int64_t c = 0; c < 3; c++) score[c] = value(&f, indefinite, x, x + i * D, c);
            right += krein__decide(KREIN_HEAD_BEST, 3, score) == (int64_t)f.y[i];
        }
        CHECK(right > 45);
        free(x);
        close_fixture(&f);
    }
}

static void memory(void) {
    krein_ctx *before = ctx;
    test_memory m;
    ctx = test_ctx_with(1, &m);
    ctx->keep_rows = KREIN_KEEP_MEMORY;
    fixture f;
    open_fixture(&f, 30, 3, GAUSSIAN, KREIN_HEAD_BEST);
    krein_exact_svm o = {.C = 1, .multi = CRAMMER, .tol = 1e-2};
    double score[90];
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = krein__exact_svm(job_of(&f), &o);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
    }
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = krein__exact_svm_held_out(job_of(&f), &o, score);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
    }
    close_fixture(&f);
    krein_ctx_destroy(ctx);
    ctx = before;
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(two_classes);
    RUN(as_the_solver);
    RUN(scores_are_held_out);
    RUN(C_is_chosen);
    RUN(weights_are_copies);
    RUN(bad_input);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
