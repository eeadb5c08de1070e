/* test_combine_methods.c -- weights of kernels by alignment, centred alignment and accuracy:
 * against the definitions in plain loops, on matrices and on exact features. (lp and conv:
 * test_combine_lp.c.) */
#include "banks.h"

#include "combine/pwmk.h"

static const char *const FOUR[] = {"gaussian(sigma=0.5)", "linear", "poly(degree=2, c=0)",
                                   "laplacian(sigma=0.5)", NULL};

static void same_weights(const char *what, int64_t M, const double *got, const double *want,
                         double tolerance) {
    for (int64_t m = 0; m < M; m++)
        if (!(fabs(got[m] - want[m]) <= tolerance)) {
            printf("%s: weight %d is %.12g, want %.12g\n", what, (int)m, got[m], want[m]);
            test_bad++;
        }
}

/* ---- the definitions ---------------------------------------------------- */

static void plain_alignment(plain *p, int classes, double *mu) {
    for (int64_t q = 0; q < p->k && !classes; q++) centre_vector(p->n, p->y + q * p->n);
    for (int64_t m = 0; m < p->M; m++) {
        mu[m] = 0;
        for (int64_t q = 0; q < p->k; q++) {
            const double *y = p->y + q * p->n;
            mu[m] += form(p->n, p->K[m], y) / dot(p->n, y, y);
        }
        mu[m] = fmax(0, mu[m] / sqrt(dot(p->n * p->n, p->K[m], p->K[m])));
    }
    sum_to_one(p->M, mu);
}

/* min v'Sv - 2v'a by turns over the entries. */
static void plain_centered(plain *p, int classes, double *mu) {
    double S[KERNELS_MAX][KERNELS_MAX], a[KERNELS_MAX] = {0};
    (void)classes;
    centre_all(p);
    for (int64_t m = 0; m < p->M; m++) {
        for (int64_t r = 0; r < p->M; r++) S[m][r] = dot(p->n * p->n, p->K[m], p->K[r]);
        for (int64_t q = 0; q < p->k; q++) {
            const double *y = p->y + q * p->n;
            a[m] += form(p->n, p->K[m], y) / dot(p->n, y, y);
        }
        mu[m] = 0;
    }
    for (int turn = 0; turn < 200000; turn++)
        for (int64_t m = 0; m < p->M; m++) {
            double slope = a[m];
            for (int64_t r = 0; r < p->M; r++) slope -= S[m][r] * mu[r];
            mu[m] = fmax(0, mu[m] + slope / S[m][m]);
        }
    sum_to_one(p->M, mu);
}

typedef void oracle(plain *p, int classes, double *mu);

static void compare(const krein_weighing_class *method, oracle *want_of) {
    for (int c = 0; c < 6; c++) {
        static const int kinds[] = {2, 3, 0};
        double got[KERNELS_MAX], want[KERNELS_MAX], from_features[KERNELS_MAX];
        char what[64];
        bench b;
        open_bench(&b, 41, kinds[c / 2], c % 2, FOUR, NULL);
        from_table(&b);
        plain p = expand(&b);
        want_of(&p, b.classes, want);
        snprintf(what, sizeof what, "%d classes%s", b.classes, c % 2 ? ", weights" : "");
        CHECK(weigh(&b.matrices, method, plain_options(), got) == KREIN_OK);
        CHECK(weigh(&b.features, method, plain_options(), from_features) == KREIN_OK);
        same_weights(what, b.M, got, want, 1e-9);
        same_weights(what, b.M, from_features, want, 1e-6);
        drop_plain(&p);
        close_bench(&b);
    }
}

static void alignment(void) { compare(&krein__weigh_alignment, plain_alignment); }
static void centered(void) { compare(&krein__weigh_centered, plain_centered); }

/* ---- indefinite kernels ------------------------------------------------- */

/* One that points away from the labels, and one with eigenvalues of both signs. */
static void make_indefinite(bench *b) {
    int64_t n = b->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const krein_probe *s = &b->matrices.rows;
            b->matrices.K[0][i * n + j] = (i == j) - .2 * s->y[i] * s->y[j];
            b->matrices.K[1][i * n + j] -= .8 * b->matrices.K[2][i * n + j];
        }
}

static void signs(void) {
    static const krein_weighing_class *const method[] = {&krein__weigh_alignment,
                                                         &krein__weigh_centered};
    static oracle *const want_of[] = {plain_alignment, plain_centered};
    static const char *const kernels[] = {"linear", "gaussian(sigma=0.7)", "gaussian(sigma=1.9)",
                                          "laplacian(sigma=0.5)", NULL};
    for (int i = 0; i < 2; i++) {
        double got[KERNELS_MAX], want[KERNELS_MAX];
        bench b;
        open_bench(&b, 40, 2, true, kernels, make_indefinite);
        from_table(&b);
        plain p = expand(&b);
        want_of[i](&p, 2, want);
        CHECK(b.map.negative > 1 && want[0] == 0);
        CHECK(weigh(&b.matrices, method[i], plain_options(), got) == KREIN_OK);
        same_weights("matrices", b.M, got, want, 1e-9);
        CHECK(weigh(&b.features, method[i], plain_options(), got) == KREIN_OK);
        same_weights("features", b.M, got, want, 1e-6);
        drop_plain(&p);
        close_bench(&b);
    }
}

/* ---- special cases ------------------------------------------------------ */

/* Wide kernels are almost constant: what is left of them must keep its digits. */
static void wide(void) {
    static const char *const kernels[] = {"gaussian(sigma=3000)", "gaussian(sigma=0.6)", NULL};
    double got[2], want[2];
    bench b;
    open_bench(&b, 41, 2, true, kernels, NULL);
    plain p = expand(&b);
    /* exp(-d^2 / 2 s^2) = 1 - d^2 / 2 s^2 + ...: the centred kernel is x'y / s^2 */
    for (int64_t i = 0; i < p.n * p.n; i++) p.K[0][i] = expm1(log(p.K[0][i]));
    plain_centered(&p, 2, want);
    CHECK(weigh(&b.matrices, &krein__weigh_centered, plain_options(), got) == KREIN_OK);
    CHECK(got[0] > .9 && got[1] > 0);
    CHECK_REL(got[1] / got[0], want[1] / want[0], 1e-6);
    drop_plain(&p);
    close_bench(&b);
}

static void identical(void) {
    static const char *const kernels[] = {"gaussian(sigma=0.6)", "linear", "gaussian(sigma=0.6)",
                                          NULL};
    static const char *const two[] = {"gaussian(sigma=0.6)", "linear", NULL};
    double alone[3], mu[3];
    bench b;
    open_bench(&b, 41, 3, false, two, NULL);
    CHECK(weigh(&b.matrices, &krein__weigh_centered, plain_options(), alone) == KREIN_OK);
    close_bench(&b);
    open_bench(&b, 41, 3, false, kernels, NULL);
    for (int features = 0; features < 2; features++) {
        krein_bank *bank = features ? &b.features : &b.matrices;
        CHECK(weigh(bank, &krein__weigh_centered, plain_options(), mu) == KREIN_OK);
        CHECK_REL(mu[0], mu[2], 1e-3);
        CHECK_ABS(mu[0] + mu[2], alone[0], 1e-6);
        CHECK(weigh(bank, &krein__weigh_alignment, plain_options(), mu) == KREIN_OK);
        CHECK(features ? fabs(mu[0] - mu[2]) < 1e-6 : mu[0] == mu[2]);
    }
    b.matrices.M = 1;
    CHECK(weigh(&b.matrices, &krein__weigh_centered, plain_options(), mu) == KREIN_OK);
    CHECK(mu[0] == 1);
    b.matrices.M = 3;
    close_bench(&b);
}

static void constant_kernel(void) {
    static const char *const kernels[] = {"gaussian(sigma=0.6)", "gaussian(sigma=1e12)", NULL};
    for (int features = 0; features < 2; features++) {
        double mu[2];
        test_log log;
        krein_ctx *before = ctx;
        bench b;
        ctx = test_ctx_full(2, NULL, &log);
        open_bench(&b, 41, 2, features == 1, kernels, NULL);
        krein_bank *bank = features ? &b.features : &b.matrices;
        CHECK(weigh(bank, &krein__weigh_centered, plain_options(), mu) == KREIN_OK);
        CHECK(mu[0] == 1 && mu[1] == 0 && log.warnings == 1);
        CHECK(strstr(log.text, "gaussian(sigma=1e+12) is constant") ||
              strstr(log.text, "gaussian(sigma=1e12) is constant") ||
              strstr(log.text, "gaussian(sigma=1000000000000) is constant"));
        close_bench(&b);
        krein_ctx_destroy(ctx);
        ctx = before;
    }
}

static void nothing_to_align(void) {
    static const krein_weighing_class *const method[] = {&krein__weigh_alignment,
                                                         &krein__weigh_centered};
    double mu[KERNELS_MAX];
    for (int i = 0; i < 2; i++) {
        bench b;
        open_bench(&b, 30, 3, false, FOUR, NULL);
        for (int64_t r = 0; r < b.n; r++) { /* only the matrices' rows can be changed */
            b.matrices.rows.class[r] = 1;
            for (int64_t q = 0; q < 3; q++) b.matrices.rows.y[r * 3 + q] = q == 1 ? 1 : -1;
        }
        CHECK(weigh(&b.matrices, method[i], plain_options(), mu) == KREIN_EDATA);
        CHECK(strstr(krein_message(ctx), "one class"));
        close_bench(&b);
        open_bench(&b, 30, 0, false, FOUR, NULL);
        for (int64_t r = 0; r < b.n; r++) b.matrices.rows.y[r] = 2;
        CHECK(weigh(&b.matrices, method[i], plain_options(), mu) == KREIN_EDATA);
        CHECK(strstr(krein_message(ctx), "constant"));
        close_bench(&b);
    }
}

/* ---- accuracies --------------------------------------------------------- */

static void pwmk_reference(void) {
    static const double accuracy[] = {.8, .7, .9}, want[] = {.3333333333, .2592592593, .4074074074};
    double mu[3];
    krein__pwmk_weights(3, accuracy, .5, mu);
    same_weights("reference", 3, mu, want, 1e-10);
    krein__pwmk_weights(3, accuracy, 1, mu);
    same_weights("delta = 1", 3, mu, (double[]){1. / 3, 0, 2. / 3}, 1e-15);
    krein__pwmk_weights(2, (double[]){.7, .7}, 1, mu);
    CHECK(mu[0] == 0 && mu[1] == 0);
}

/* The class of row i by ridge regression on the others (weights w), with an intercept. */
static int left_out(const krein_probe *s, const double *K, double lambda, int64_t i) {
    int64_t n = s->n, m = n + 1;
    double *A = test_new(m * m, sizeof *A), *r = test_new(m * s->k, sizeof *r), W = 0;
    for (int64_t a = 0; a < n; a++) W += s->weight ? s->weight[a] : 1;
    for (int64_t a = 0; a < n; a++) {
        double w = a == i ? 0 : s->weight ? s->weight[a] : 1;
        for (int64_t c = 0; c < n; c++) A[a * m + c] = w * K[a * n + c];
        A[a * m + a] += W * lambda;
        A[a * m + n] = w;
        A[n * m + a] = 1;
        for (int64_t q = 0; q < s->k; q++) r[a * s->k + q] = w * s->y[a * s->k + q];
    }
    test_solve(m, s->k, A, r);
    int best = 0;
    double score[KERNELS_MAX];
    for (int64_t q = 0; q < s->k; q++) {
        score[q] = r[n * s->k + q];
        for (int64_t c = 0; c < n; c++) score[q] += K[i * n + c] * r[c * s->k + q];
        if (score[q] > score[best]) best = (int)q;
    }
    if (s->k == 1) best = score[0] > 0;
    free(A);
    free(r);
    return best;
}

static double plain_accuracy(const bench *b, int64_t m) {
    const krein_probe *s = &b->matrices.rows;
    krein_targets rows = {s->n, s->k, s->y, s->weight, s->class};
    krein_path path = {0};
    double *K = test_new(b->n * b->n, sizeof *K), right = 0, all = 0;
    /* the grid of lambdas is that of the kernel as it is */
    for (int64_t e = 0; e < b->n * b->n; e++) K[e] = b->matrices.K[m][e] / b->scale[m];
    double scale = b->scale[m];
    CHECK(krein__dual_loo_path(ctx, K, &rows, true, &path) == KREIN_OK);
    for (int64_t i = 0; i < b->n; i++) {
        double w = s->weight ? s->weight[i] : 1;
        all += w;
        if (w > 0)
            right += w * (left_out(s, b->matrices.K[m], path.lambda[path.best] * scale, i) ==
                          s->class[i]);
    }
    free(K);
    return right / all;
}

static void pwmk(void) {
    for (int c = 0; c < 4; c++) {
        double accuracy[KERNELS_MAX], got[KERNELS_MAX], want[KERNELS_MAX];
        bench b;
        open_bench(&b, 40, 2 + c / 2, c % 2, FOUR, NULL);
        for (int64_t m = 0; m < b.M; m++) accuracy[m] = plain_accuracy(&b, m);
        weighing_options o = plain_options();
        o.delta = .9;
        krein__pwmk_weights(b.M, accuracy, .9, want);
        CHECK(weigh(&b.matrices, &krein__weigh_pwmk, o, got) == KREIN_OK);
        same_weights("matrices", b.M, got, want, 1e-10);
        CHECK(weigh(&b.features, &krein__weigh_pwmk, o, got) == KREIN_OK);
        same_weights("rows of the job", b.M, got, want, 1e-10);
        close_bench(&b);
    }
}

/* ---- threads and memory ------------------------------------------------- */

static const krein_weighing_class *const ALL[] = {&krein__weigh_alignment, &krein__weigh_centered,
                                                  &krein__weigh_pwmk};

static void threads(void) { same_for_threads(ALL, KREIN__COUNT(ALL), FOUR, 150, 1e-3); }
static void memory(void) { memory_may_fail(ALL, KREIN__COUNT(ALL), FOUR); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(alignment);
    RUN(centered);
    RUN(signs);
    RUN(wide);
    RUN(identical);
    RUN(constant_kernel);
    RUN(nothing_to_align);
    RUN(pwmk_reference);
    RUN(pwmk);
    RUN(threads);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
