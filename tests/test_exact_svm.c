/* test_exact_svm.c -- support vector machines on the kernel matrix: against LIBSVM with its own
 * kernel, optimality conditions, choice of C. */
#include "libsvm.h"
#include "machines.h"

/* ---- LIBSVM with its own kernel ------------------------------------------- */

#ifdef KREIN_LIBSVM
typedef struct oracle {
    struct svm_problem problem;
    struct svm_node *nodes;
    struct svm_model *model;
} oracle;

static struct svm_node *nodes_of(int64_t n, const double *x) {
    struct svm_node *out = test_new(n * (D + 1), sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < D; j++) out[i * (D + 1) + j] = (struct svm_node){j + 1, x[i * D + j]};
        out[i * (D + 1) + D] = (struct svm_node){-1, 0};
    }
    return out;
}
static oracle train_oracle(int type, int64_t n, const double *x, const double *y, double C,
                           double epsilon, const double *weight) {
    oracle o = {.nodes = nodes_of(n, x)};
    int labels[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    double copy[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (weight) memcpy(copy, weight, sizeof copy);
    struct svm_parameter p = {.svm_type = type, .kernel_type = RBF, .cache_size = 50, .eps = 1e-9};
    p.gamma = 1 / (2 * SIGMA * SIGMA);
    p.C = C;
    p.p = epsilon;
    p.shrinking = 1;
    if (weight) {
        p.nr_weight = 2;
        p.weight_label = labels;
        p.weight = copy;
    }
    o.problem.l = (int)n;
    o.problem.y = test_new(n, sizeof(double));
    o.problem.x = test_new(n, sizeof(struct svm_node *));
    memcpy(o.problem.y, y, (size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) o.problem.x[i] = o.nodes + i * (D + 1);
    CHECK(svm_check_parameter(&o.problem, &p) == NULL);
    svm_set_print_string_function(test_svm_listen);
    o.model = svm_train(&o.problem, &p);
    return o;
}
static void drop(oracle *o) {
    svm_free_and_destroy_model(&o->model);
    free(o->problem.x);
    free(o->problem.y);
    free(o->nodes);
}
/* Decision value, positive for the larger label; the pair-th of the model's. */
static double oracle_value(const oracle *o, const double *x, int pair, double sign) {
    double values[32];
    struct svm_node *at = nodes_of(1, x);
    svm_predict_values(o->model, at, values);
    free(at);
    return sign * values[pair];
}

static double energy(const fixture *f, const double *x, int64_t c) {
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++)
        sum += f->model.w[i * f->model.k + c] *
               (value(f, plain, x, x + i * D, c) - f->model.intercept[c]);
    return sum / 2;
}
static double magnitude(const fixture *f, int64_t c) {
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++) sum += fabs(f->model.w[i * f->model.k + c]);
    return sum;
}

static void two_classes_as_libsvm(void) {
    fixture f;
    open_fixture(&f, 90, 2, GAUSSIAN, KREIN_HEAD_BEST);
    double *x = points(90, .4), *new = points(40, 2.2);
    for (int balanced = 0; balanced < 2; balanced++)
        for (int large = 0; large < 2; large++) {
            double C = large ? 9 : .3;
            double count = 0, weight[8] = {0};
            for (int64_t i = 0; i < 90; i++) count += f.y[i];
            weight[0] = 45 / (90 - count);
            weight[1] = 45 / count;
            krein_exact_svm o = {.C = C, .balanced = balanced, .tol = 1e-9};
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            oracle own = train_oracle(C_SVC, 90, x, f.y, C, 0, balanced ? weight : NULL);
            CHECK_REL(energy(&f, x, 0) - magnitude(&f, 0), test_svm_printed, 1e-6);
            double sign = own.model->label[0] == 1 ? 1 : -1;
            for (int64_t i = 0; i < 40; i++)
                CHECK_ABS(value(&f, plain, x, new + i *D, 0),
                          oracle_value(&own, new + i *D, 0, sign), 2e-6);
            CHECK(isnan(f.job.loo));
            drop(&own);
        }
    free(x);
    free(new);
    close_fixture(&f);
}

static void pairs_as_libsvm(void) {
    enum { N = 120, M = 200, CLASSES = 4 };
    fixture f;
    open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_VOTES);
    double *x = points(N, .4), *new = points(M, 2.2);
    krein_exact_svm o = {.C = 3, .multi = 1, .tol = 1e-9};
    CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
    oracle own = train_oracle(C_SVC, N, x, f.y, 3, 0, NULL);
    for (int c = 0; c < CLASSES; c++) CHECK(own.model->label[c] == c);
    for (int64_t i = 0; i < M; i++) {
        double score[6];
        for (int64_t c = 0; c < 6; c++) score[c] = value(&f, plain, x, new + i *D, c);
        for (int a = 0, pair = 0; a < CLASSES; a++)
            for (int b = a + 1; b < CLASSES; b++, pair++)
                CHECK_ABS(score[krein__pair(CLASSES, a, b)],
                          oracle_value(&own, new + i *D, pair, -1), 5e-6);
        struct svm_node *at = nodes_of(1, new + i *D);
        CHECK((double)krein__decide(KREIN_HEAD_VOTES, CLASSES, score) ==
              svm_predict(own.model, at));
        free(at);
    }
    drop(&own);
    free(x);
    free(new);
    close_fixture(&f);
}

static void each_against_the_rest(void) {
    enum { N = 100, CLASSES = 3 };
    fixture f;
    open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_BEST);
    double *x = points(N, .4), *new = points(30, 2.2), y[N];
    krein_exact_svm o = {.C = 2, .tol = 1e-9};
    CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
    for (int64_t c = 0; c < CLASSES; c++) {
        for (int64_t i = 0; i < N; i++) y[i] = f.y[i] == (double)c;
        oracle own = train_oracle(C_SVC, N, x, y, 2, 0, NULL);
        double sign = own.model->label[0] == 1 ? 1 : -1;
        for (int64_t i = 0; i < 30; i++)
            CHECK_ABS(value(&f, plain, x, new + i *D, c), oracle_value(&own, new + i *D, 0, sign),
                      2e-6);
        drop(&own);
    }
    free(x);
    free(new);
    close_fixture(&f);
}

static void numbers_as_libsvm(void) {
    fixture f;
    open_fixture(&f, 80, 0, GAUSSIAN, KREIN_HEAD_VALUES);
    double *x = points(80, .4), *new = points(40, 2.2);
    for (int large = 0; large < 2; large++) {
        double C = large ? 20 : .5;
        krein_exact_svm o = {.C = C, .epsilon = .3, .tol = 1e-9};
        CHECK(krein__exact_svr(job_of(&f), &o) == KREIN_OK);
        oracle own = train_oracle(EPSILON_SVR, 80, x, f.y, C, .3, NULL);
        double objective = energy(&f, x, 0) + .3 * magnitude(&f, 0);
        for (int64_t i = 0; i < 80; i++) objective -= f.y[i] * f.model.w[i];
        CHECK_REL(objective, test_svm_printed, 1e-6);
        for (int64_t i = 0; i < 40; i++)
            CHECK_ABS(value(&f, plain, x, new + i *D, 0), oracle_value(&own, new + i *D, 0, 1),
                      1e-5);
        drop(&own);
    }
    free(x);
    free(new);
    close_fixture(&f);
}

/* Held-out scores are those of machines trained on the other rows alone. */
static void scores_are_held_out(void) {
    enum { N = 60, CLASSES = 3 };
    fixture f;
    open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_BEST);
    double *x = points(N, .4), score[N * CLASSES], xs[N * D], ys[N];
    int32_t fold[N], class[N];
    krein_exact_svm o = {.C = 2, .tol = 1e-9};
    CHECK(krein__exact_svm_held_out(job_of(&f), &o, score) == KREIN_OK);
    for (int64_t i = 0; i < N; i++) class[i] = (int32_t)f.y[i];
    CHECK(krein__folds(ctx, f.job.seed, N, 5, NULL, class, fold) == KREIN_OK);
    for (int32_t q = 0; q < 5; q++)
        for (int64_t c = 0; c < CLASSES; c++) {
            int64_t m = 0;
            for (int64_t i = 0; i < N; i++) {
                if (fold[i] == q) continue;
                memcpy(xs + m * D, x + i * D, D * sizeof *xs);
                ys[m++] = f.y[i] == (double)c;
            }
            oracle own = train_oracle(C_SVC, m, xs, ys, 2, 0, NULL);
            double sign = own.model->label[0] == 1 ? 1 : -1;
            for (int64_t i = 0; i < N; i++)
                if (fold[i] == q)
                    CHECK_ABS(score[i * CLASSES + c], oracle_value(&own, x + i * D, 0, sign), 2e-6);
            drop(&own);
        }
    free(x);
    close_fixture(&f);
}

#else
static void libsvm_is_not_there(void) { SKIP("LIBSVM is not there"); }
#endif

/* ---- optimality conditions ------------------------------------------------ */

static void conditions_hold(void) {
    enum { N = 90, CLASSES = 3 };
    for (int squared = 0; squared < 2; squared++)
        for (int balanced = 0; balanced < 2; balanced++) {
            fixture f;
            open_fixture(&f, N, CLASSES, GAUSSIAN, KREIN_HEAD_BEST);
            double *x = points(N, .4), weight[CLASSES] = {0}, y[N], C[N];
            krein_exact_svm o = {.C = 1.5, .squared = squared, .balanced = balanced, .tol = 1e-7};
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            for (int64_t i = 0; i < N; i++) weight[(int)f.y[i]] += 1;
            for (int c = 0; c < CLASSES; c++) weight[c] = balanced ? N / (CLASSES * weight[c]) : 1;
            for (int64_t c = 0; c < CLASSES; c++) {
                for (int64_t i = 0; i < N; i++) {
                    y[i] = f.y[i] == (double)c ? 1 : -1;
                    C[i] = 1.5 * weight[(int)f.y[i]];
                }
                check_conditions(&f, plain, x, c, y, C, squared, 1e-5);
            }
            free(x);
            close_fixture(&f);
        }
}

/* ---- choice, folds ---------------------------------------------------------- */

/* The C chosen gives the same model again, on any number of threads, and a fair error. */
static void C_is_chosen(void) {
    enum { N = 150 };
    krein_ctx *two = ctx;
    double C[4] = {0}, loo[4], *w[4];
    for (int run = 0; run < 4; run++) {
        bool numbers = run >= 2;
        ctx = run % 2 ? two : test_ctx(1);
        fixture f;
        open_fixture(&f, N, numbers ? 0 : 3, GAUSSIAN,
                     numbers ? KREIN_HEAD_VALUES : KREIN_HEAD_VOTES);
        double *x = points(N, .4);
        if (numbers) {
            krein_exact_svm o = {.C = -1, .epsilon = .2, .tol = 1e-3, .chosen_C = &C[run]};
            CHECK(krein__exact_svr(job_of(&f), &o) == KREIN_OK);
            loo[run] = f.job.loo;
            CHECK(loo[run] > .2 && loo[run] < 1.6);
            o.C = C[run];
            w[run] = test_new(N * f.model.k, 8);
            memcpy(w[run], f.model.w, (size_t)(N * f.model.k) * 8);
            CHECK(krein__exact_svr(job_of(&f), &o) == KREIN_OK);
        } else {
            krein_exact_svm o = {.C = -1, .multi = 1, .tol = 1e-3, .chosen_C = &C[run]};
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
            loo[run] = f.job.loo;
            CHECK(loo[run] > 0 && loo[run] < .4);
            o.C = C[run];
            w[run] = test_new(N * f.model.k, 8);
            memcpy(w[run], f.model.w, (size_t)(N * f.model.k) * 8);
            CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
        }
        CHECK(C[run] > 0 && isnan(f.job.loo));
        CHECK(memcmp(w[run], f.model.w, (size_t)(N * f.model.k) * 8) == 0);
        if (run % 2) {
            CHECK(C[run] == C[run - 1] && loo[run] == loo[run - 1]);
            CHECK(memcmp(w[run], w[run - 1], (size_t)(N * f.model.k) * 8) == 0);
        }
        free(x);
        close_fixture(&f);
        if (run % 2 == 0) krein_ctx_destroy(ctx);
    }
    for (int run = 0; run < 4; run++) free(w[run]);
    ctx = two;
}

/* Numbers in other units: the same machine. */
static void units_do_not_matter(void) {
    enum { N = 70 };
    double C[2], *w[2];
    for (int run = 0; run < 2; run++) {
        fixture f;
        open_fixture(&f, N, 0, GAUSSIAN, KREIN_HEAD_VALUES);
        double unit = run ? 0x1p20 : 1;
        source_close(&f.s);
        for (int64_t i = 0; i < N; i++) f.y[i] *= unit;
        source_dense(&f.s, N, D, f.x, f.y, KREIN_TASK_REGRESSION);
        krein_exact_svm o = {.C = -1, .epsilon = .2 * unit, .tol = 1e-3, .chosen_C = C + run};
        f.model.encoding = f.s.e;
        CHECK(krein__exact_svr(job_of(&f), &o) == KREIN_OK);
        w[run] = test_new(N, 8);
        memcpy(w[run], f.model.w, N * 8);
        close_fixture(&f);
    }
    CHECK(C[1] == C[0] * 0x1p20);
    for (int64_t i = 0; i < N; i++) CHECK_ABS(w[1][i] * 0x1p-20, w[0][i], 1e-9);
    free(w[0]);
    free(w[1]);
}

/* ---- bad input, memory ------------------------------------------------------ */

static void refused(fixture *f, const krein_exact_svm *o, krein_status status, const char *text) {
    CHECK(krein__exact_svm(job_of(f), o) == status);
    CHECK_HAS(krein_message(ctx), text);
}
static void bad_input(void) {
    fixture f;
    open_fixture(&f, 40, 2, GAUSSIAN, KREIN_HEAD_BEST);
    refused(&f, &(krein_exact_svm){.C = 0, .tol = 1e-3}, KREIN_EARG, "positive");
    refused(&f, &(krein_exact_svm){.C = INFINITY, .tol = 1e-3}, KREIN_EARG, "positive");
    refused(&f, &(krein_exact_svm){.C = 1, .tol = 0}, KREIN_EARG, "tol");
    close_fixture(&f);

    /* One class does not come as far as a machine. */
    enum { N = 30 };
    source one = {0};
    float *x = test_dense(N, D, .4);
    double y[N] = {0};
    krein_data_options options;
    krein_data_options_init(&options);
    options.task = KREIN_TASK_CLASSIFICATION;
    CHECK(krein_data_from_dense(ctx, N, D, x, D, y, NULL, &options, &one.data) == KREIN_OK);
    CHECK(source_open(&one, true, 0) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "one class only");
    source_close(&one);
    free(x);
}

/* A class of one row: folds without it, and pairs with nothing on one side. */
static void class_of_one_row(void) {
    enum { N = 50 };
    for (int multi = 0; multi < 2; multi++) {
        krein_head head = multi ? KREIN_HEAD_VOTES : KREIN_HEAD_BEST;
        fixture f;
        open_fixture(&f, N, 2, GAUSSIAN, head);
        double *x = points(N, .4), C;
        krein__map_destroy(f.model.map);
        source_close(&f.s);
        f.y[11] = 2;
        source_dense(&f.s, N, D, f.x, f.y, KREIN_TASK_CLASSIFICATION);
        free(f.model.w);
        free(f.model.intercept);
        f.model = (krein_model){.ctx = ctx, .encoding = f.s.e, .head = head, .k = 3};
        f.model.map = need("exact", GAUSSIAN, 1, &f.s);
        f.model.w = test_new(N * 3, 8);
        f.model.intercept = test_new(3, 8);
        krein_exact_svm o = {
            .C = -1, .multi = multi, .balanced = true, .tol = 1e-3, .chosen_C = &C};
        CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
        CHECK(f.job.loo >= 1. / N && f.job.loo < .6);
        o.C = 1000;
        CHECK(krein__exact_svm(job_of(&f), &o) == KREIN_OK);
        double score[3];
        for (int64_t c = 0; c < 3; c++) score[c] = value(&f, plain, x, x + 11 * D, c);
        CHECK(krein__decide(head, 3, score) == 2);
        free(x);
        close_fixture(&f);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
#ifdef KREIN_LIBSVM
    RUN(two_classes_as_libsvm);
    RUN(pairs_as_libsvm);
    RUN(each_against_the_rest);
    RUN(numbers_as_libsvm);
    RUN(scores_are_held_out);
#else
    RUN(libsvm_is_not_there);
#endif
    RUN(conditions_hold);
    RUN(C_is_chosen);
    RUN(units_do_not_matter);
    RUN(bad_input);
    RUN(class_of_one_row);
    krein_ctx_destroy(ctx);
    return DONE();
}
