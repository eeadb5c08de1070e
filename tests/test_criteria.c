/* test_criteria.c -- the criteria on the kernel matrix: against criteria.h, which has them the
 * obvious way, against reference values, and the identities that the literature claims. */
#include "criteria.h"

#define SIGMA 1.1
static const char *const GAUSSIAN = "gaussian(sigma=1.1)";

/* clang-format off */
static const asked FOR_CLASSES[] = {
    {.spec = "sm(r=1, norm=sum)", .value = sm_value, .number = 1, .balanced = true},
    {.spec = "sm(r=2, norm=sum)", .value = sm_value, .number = 2, .balanced = true},
    {.spec = "sm(norm=sum)", .value = sm_value, .number = 3, .balanced = true},
    {.spec = "sm(r=4, balanced=no, norm=sum)", .value = sm_value, .number = 4},
    {.spec = "sm(r=5, norm=sum)", .value = sm_value, .number = 5, .balanced = true},
    {.spec = "sm(r=1, balanced=no, norm=sum)", .value = sm_value, .number = 1},
    {.spec = "sm(r=2, balanced=no, classes=ideal, norm=sum)", .value = sm_value, .number = 2, .ideal = true},
    {.spec = "sm(r=3, classes=ideal, norm=sum)", .value = sm_value, .number = 3, .balanced = true, .ideal = true},
    {.spec = "sm", .value = sm_value, .number = 3, .balanced = true, .trace = true},
    {.spec = "sm(h=0.03, norm=sum)", .value = sm_value, .number = .03, .balanced = true, .hinge = true},
    {.spec = "sm(h=0.01, balanced=no, norm=sum)", .value = sm_value, .number = .01, .hinge = true},
    {.spec = "sm(h=0.02, classes=ideal, norm=sum)", .value = sm_value, .number = .02, .balanced = true, .ideal = true, .hinge = true},
    {.spec = "sm(h=0, norm=sum)", .value = sm_value, .number = 0, .balanced = true, .hinge = true},
    {.spec = "kta(classes=ideal)", .value = kta_value, .ideal = true},
    {.spec = "ckta(classes=ideal)", .value = ckta_value, .ideal = true},
    {.spec = "polarization(classes=ideal)", .value = polarization_value, .ideal = true},
    {.spec = "fsm", .value = fsm_value}};
/* These for numbers too. */
static const asked FOR_ALL[] = {
    {.spec = "kta", .value = kta_value},
    {.spec = "ckta", .value = ckta_value},
    {.spec = "polarization", .value = polarization_value},
    {.spec = "er(t=3)", .value = er_value, .number = 3},
    {.spec = "er(t=1)", .value = er_value, .number = 1},
    {.spec = "tail(theta=4)", .value = tail_value, .number = 4},
    {.spec = "tail(theta=0)", .value = tail_value}};
/* And these, which weights change in another way than repeated rows do. */
static const asked RIDGE[] = {
    {.spec = "loo(lambda=0.01)", .value = held_out, .number = .01, .intercept = true},
    {.spec = "loo(lambda=0.3, intercept=no)", .value = held_out, .number = .3},
    {.spec = "cv(k=4, lambda=0.01)", .value = held_out, .number = .01, .intercept = true, .folds = 4},
    {.spec = "cv(lambda=0.1, intercept=no)", .value = held_out, .number = .1, .folds = 5},
    {.spec = "gcv(lambda=0.02)", .value = gcv_value, .number = .02},
    {.spec = "evidence(lambda=0.02)", .value = evidence_value, .number = .02},
    {.spec = "evidence(lambda=0.3, scale=one)", .value = evidence_value, .number = .3, .one = true}};
/* clang-format on */

static void compare(const problem *p, const asked *a, int64_t count, double tolerance) {
    for (int64_t i = 0; i < count; i++) {
        krein_score got = score_rows(p, GAUSSIAN, a[i].spec, NULL);
        double want = a[i].value(p, &a[i]);
        if (!(fabs(got.value - want) <= tolerance * fabs(want))) {
            printf("%s, %lld classes: %.15g, want %.15g\n", a[i].spec, (long long)p->classes,
                   got.value, want);
            test_bad++;
        }
        /* what is compared: the loss, and the errors of classes first */
        asked square = a[i];
        square.square = true;
        if (a[i].value == held_out)
            CHECK_REL(got.loss, pow(held_out(p, &square), 2), 1e-10);
        else
            CHECK(
                (a[i].value == evidence_value ? got.loss > 0 : fabs(got.loss) == fabs(got.value)) &&
                isnan(got.error));
    }
}

/* Two classes, balanced or not; three; three of four; many; numbers, one target and two. */
static void definitions(void) {
    static const struct {
        int64_t n, classes, empty;
    } cases[] = {{24, 2, -1},  {25, 3, -1},  {26, 4, 1},  {24, 3, 0},
                 {60, 14, -1}, {23, -1, -1}, {21, -2, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem p = make_problem(cases[i].n, cases[i].classes, cases[i].empty, SIGMA);
        for (int64_t c = 0; c < p.classes; c++)
            CHECK(c == cases[i].empty ? rows_of(&p, c) == 0 : rows_of(&p, c) > 2);
        if (p.classes) compare(&p, FOR_CLASSES, KREIN__COUNT(FOR_CLASSES), 1e-10);
        compare(&p, FOR_ALL, KREIN__COUNT(FOR_ALL), 1e-10);
        compare(&p, RIDGE, KREIN__COUNT(RIDGE), 1e-9);
        drop_problem(&p);
    }
}

/* Few rows of one class: the codes differ by a factor of seven. */
static void unbalanced(void) {
    problem p = make_problem(24, 2, -1, SIGMA);
    for (int64_t i = 0; i < p.n; i++) p.class[i] = i % 8 == 3;
    code_classes(&p);
    compare(&p, FOR_CLASSES, KREIN__COUNT(FOR_CLASSES), 1e-10);
    compare(&p, FOR_ALL, KREIN__COUNT(FOR_ALL), 1e-10);
    compare(&p, RIDGE, KREIN__COUNT(RIDGE), 1e-9);
    drop_problem(&p);
}

/* The number of main eigenvalues that is taken when none is given: the root of n. */
static void default_counts(void) {
    static const asked a[] = {{.spec = "er", .value = er_value, .number = 5},
                              {.spec = "tail", .value = tail_value, .number = 5}};
    problem p = make_problem(26, 2, -1, SIGMA);
    compare(&p, a, 2, 1e-10);
    drop_problem(&p);
}

/* More folds than rows: one a row, each with the penalty of the others. */
static void as_many_folds_as_rows(void) {
    asked a = {.spec = "cv(k=1000, lambda=0.05)", .value = held_out, .number = .05};
    problem p = make_problem(22, 3, -1, SIGMA);
    a.folds = p.n;
    a.intercept = true;
    compare(&p, &a, 1, 1e-9);
    drop_problem(&p);
}

/* ---- weights ------------------------------------------------------------ */

static void fill_times(const problem *p, int times[]) {
    for (int64_t i = 0; i < p->n; i++) times[i] = (int)(i * 7 % 4); /* 0 .. 3 */
}

/* Row weights count as repeated rows; of no weight, as no rows. */
static void weights_repeat_rows(void) {
    static const int64_t classes[] = {2, 3, -2};
    for (int i = 0; i < 3; i++) {
        problem p = make_problem(22, classes[i], -1, SIGMA);
        int times[22];
        fill_times(&p, times);
        problem heavy = repeated(&p, times, false), many = repeated(&p, times, true);
        int64_t lists = p.classes ? 2 : 1;
        for (int64_t l = 0; l < lists; l++)
            for (int64_t c = 0; c < (l ? KREIN__COUNT(FOR_CLASSES) : KREIN__COUNT(FOR_ALL)); c++) {
                const asked *a = l ? &FOR_CLASSES[c] : &FOR_ALL[c];
                double got = score_rows(&heavy, GAUSSIAN, a->spec, NULL).value;
                CHECK_REL(got, a->value(&many, a), 1e-9);
                CHECK_REL(got, score_rows(&many, GAUSSIAN, a->spec, NULL).value, 1e-9);
            }
        /* ridge regression: the weights of the squares, held-out rows as they are */
        compare(&heavy, RIDGE, KREIN__COUNT(RIDGE), 1e-9);
        drop_problem(&p);
        drop_problem(&heavy);
        drop_problem(&many);
    }
}

/* Weights that are all the same change no criterion but those that grow with the rows. */
static void equal_weights(void) {
    static const char *const same[] = {
        "sm(balanced=no, norm=sum)", "kta", "ckta", "er(t=3)", "loo", "cv", "gcv"};
    problem p = make_problem(22, 2, -1, SIGMA);
    double alone[7];
    for (int i = 0; i < 7; i++) alone[i] = score_rows(&p, GAUSSIAN, same[i], NULL).value;
    p.weight = test_new(p.n, sizeof *p.weight);
    for (int64_t i = 0; i < p.n; i++) p.weight[i] = 3;
    for (int i = 0; i < 7; i++) {
        double got = score_rows(&p, GAUSSIAN, same[i], NULL).value;
        /* sm: y'K^3 y is of 3^4, (sum K)^3 of 9^3, n of 3: the measure shrinks by 27 */
        CHECK_REL(i == 0 ? got * 27 : got, alone[i], 1e-10);
    }
    drop_problem(&p);
}

/* ---- reference values --------------------------------------------------- */

/* det(12, 3), exp(-d^2 / 2), y = 1 where x0 + 0.4 x1 > 0.5: in double, unlike rows. */
static problem reference_problem(void) {
    problem p = make_problem(12, 2, -1, 1);
    for (int64_t i = 0; i < p.n; i++) {
        p.class[i] = det(i, 0, 0) + .4 * det(i, 1, 0) > .5;
        for (int64_t j = 0; j < p.n; j++) {
            double square = 0;
            for (int64_t c = 0; c < 3; c++) square += pow(det(i, c, 0) - det(j, c, 0), 2);
            p.K[i * p.n + j] = exp(-square / 2);
        }
    }
    code_classes(&p);
    return p;
}

static void reference_values(void) {
    static const struct {
        const char *spec;
        double want;
    } cases[] = {{"kta", .378792906801},
                 {"ckta", .305753234217},
                 {"fsm", .757311172044},
                 {"er(t=3)", 3.394725781462},
                 {"sm(r=1, balanced=no, norm=sum)", .042171967048},
                 {"sm(r=2, balanced=no, norm=sum)", .002898787775},
                 {"sm(r=3, balanced=no, norm=sum)", .000223265975},
                 {"sm(r=2, norm=sum)", .001137298514}};
    problem p = reference_problem();
    CHECK(rows_of(&p, 1) == 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_ABS(score_matrix(&p, cases[i].spec).value, cases[i].want, 1e-11);
    drop_problem(&p);
}

/* Residuals of the first six rows are known: the obvious way has them, and the mean square of all
 * twelve is then its. (test_dual_at.c has the program's own residuals.) */
static void reference_loo(void) {
    static const double want[2][6] = {{-.470329857652, .630407815579, .040656797849, -.156549558576,
                                       .926433718075, -1.304978689245},
                                      {-.438682157255, .861474858498, -.067593599087,
                                       -.111658986564, 1.056810748585, -1.195568703147}};
    problem p = reference_problem();
    for (int intercept = 0; intercept < 2; intercept++) {
        double lam = intercept ? .5 : .3, f[12];
        bool in[12];
        char spec[80];
        asked a = {.number = lam / 12, .intercept = intercept, .square = true};
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 12; j++) in[j] = j != i;
            test_ridge(12, 1, p.K, p.y, p.weight, in, lam, intercept, f);
            CHECK_ABS(p.y[i] - f[i], want[intercept][i], 2e-12);
        }
        snprintf(spec, sizeof spec, "loo(lambda=%.17g, intercept=%s)", lam / 12,
                 intercept ? "yes" : "no");
        CHECK_REL(score_matrix(&p, spec).loss, pow(held_out(&p, &a), 2), 1e-11);
    }
    drop_problem(&p);
}

/* ---- identities --------------------------------------------------------- */

/* Normalised cut of any labels +-1: 1 - y'Ky / sum K = 1 - n SM(r=1), balanced or not; it is the
 * weight of the cut edges over the sum, from both sides. */
static void normalised_cut(void) {
    for (int64_t every = 2; every < 6; every++) {
        problem p = make_problem(24, 2, -1, SIGMA);
        double cut = 0, sum = 0;
        for (int64_t i = 0; i < p.n; i++) p.class[i] = i % every == 0;
        code_classes(&p);
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t j = 0; j < p.n; j++) {
                sum += p.K[i * p.n + j];
                if (p.class[i] != p.class[j]) cut += p.K[i * p.n + j];
            }
        double measure = score_rows(&p, GAUSSIAN, "sm(r=1, balanced=no, norm=sum)", NULL).value;
        double form = score_rows(&p, GAUSSIAN, "polarization", NULL).value;
        CHECK_REL(1 - (double)p.n * measure, 2 * cut / sum, 1e-10);
        CHECK_REL(1 - form / sum, 2 * cut / sum, 1e-10);
        drop_problem(&p);
    }
}

/* A + C - 2B = y'Ky / n with y = sqrt(n)/n+ and -sqrt(n)/n-: the codes n/(2 n+-) of sm times
 * 2/sqrt(n), so that it is (4/n) sum K SM(r=1); and 4 y'Ky / n^2 of y = +-1 for classes of one
 * size. */
static void mean_discrepancy(void) {
    problem p = make_problem(24, 2, -1, SIGMA);
    for (int64_t i = 0; i < p.n; i++) p.class[i] = i % 2 == 0;
    for (int turn = 0; turn < 2; turn++) {
        double sum = 0, n = (double)p.n;
        code_classes(&p);
        for (int64_t i = 0; i < p.n * p.n; i++) sum += p.K[i];
        double square = mean_between(&p, 1, true, true) + mean_between(&p, 1, false, false) -
                        2 * mean_between(&p, 1, true, false);
        double measure = score_rows(&p, GAUSSIAN, "sm(r=1, norm=sum)", NULL).value;
        double form = score_rows(&p, GAUSSIAN, "polarization", NULL).value;
        CHECK_REL(4 / n * sum * measure, square, 1e-10);
        if (turn == 0)
            CHECK_REL(4 * form / (n * n), square, 1e-10);
        else
            CHECK(fabs(4 * form / (n * n) / square - 1) > .1); /* balance is needed here */
        for (int64_t i = 0; i < p.n; i++) p.class[i] = i % 5 == 0;
    }
    drop_problem(&p);
}

/* Of two classes the ideal kernel is yy'; sm with h = 0 is sm with r = 1; tail and er are of one
 * spectrum. */
static void one_and_the_same(void) {
    static const char *const pairs[][2] = {{"sm(r=2)", "sm(r=2, classes=ideal)"},
                                           {"sm(balanced=no)", "sm(balanced=no, classes=ideal)"},
                                           {"kta", "kta(classes=ideal)"},
                                           {"ckta", "ckta(classes=ideal)"},
                                           {"polarization", "polarization(classes=ideal)"},
                                           {"sm(r=1)", "sm(h=0)"}};
    problem p = make_problem(24, 2, -1, SIGMA);
    for (int i = 0; i < 6; i++)
        CHECK_REL(score_rows(&p, GAUSSIAN, pairs[i][0], NULL).value,
                  score_rows(&p, GAUSSIAN, pairs[i][1], NULL).value, 1e-10);
    double tail = score_rows(&p, GAUSSIAN, "tail(theta=3)", NULL).value;
    CHECK_REL(score_rows(&p, GAUSSIAN, "er(t=3)", NULL).value, (24 - tail) / tail, 1e-10);
    drop_problem(&p);
}

/* Without lambda: the best of a path, as the same criterion at that lambda has it, and no worse
 * than its neighbours. */
static void paths(void) {
    static const struct {
        const char *name, *more;
    } cases[] = {{"loo", ""}, {"loo", ", intercept=no"}, {"cv", ", k=4"},
                 {"gcv", ""}, {"evidence", ""},          {"evidence", ", scale=one"}};
    static const int64_t classes[] = {2, 3, -1};
    for (int t = 0; t < 3; t++) {
        problem p = make_problem(24, classes[t], -1, SIGMA);
        for (int i = 0; i < 6; i++) {
            char spec[96];
            snprintf(spec, sizeof spec, cases[i].more[0] ? "%s(%s)" : "%s%s", cases[i].name,
                     cases[i].more[0] ? cases[i].more + 2 : "");
            krein_score best = score_rows(&p, GAUSSIAN, spec, NULL);
            CHECK(best.lambda > 0);
            for (double factor = .1; factor < 11; factor *= 10) {
                if (best.lambda * factor < 1e-10) continue; /* below the path */
                snprintf(spec, sizeof spec, "%s(lambda=%.17g%s)", cases[i].name,
                         best.lambda * factor, cases[i].more);
                krein_score at = score_rows(&p, GAUSSIAN, spec, NULL);
                if (factor == 1)
                    CHECK_REL(at.loss, best.loss, 1e-6);
                else
                    CHECK(!krein__score_better(&at, &best));
            }
        }
        drop_problem(&p);
    }
}

/* ---- refusals ----------------------------------------------------------- */

static void refusals(void) {
    char why[KREIN__MESSAGE];
    problem p = make_problem(20, 2, -1, SIGMA);
    for (int i = 0; i < 3; i++) {
        static const char *const specs[] = {"er", "tail", "evidence"};
        CHECK(isnan(score_rows(&p, "tanh(gamma=1, c=-1)", specs[i], why).value));
        CHECK_HAS(why, "positive definite");
        CHECK_HAS(why, specs[i]);
    }
    /* an indefinite kernel is fine for the others */
    for (int i = 0; i < 4; i++) {
        static const char *const specs[] = {"kta", "ckta", "loo", "polarization"};
        CHECK(isfinite(score_rows(&p, "tanh(gamma=1, c=-1)", specs[i], why).value) && !why[0]);
    }
    /* a linear kernel on centred columns sums to zero */
    for (int64_t c = 0; c < INPUTS; c++)
        for (int64_t i = 0; i < p.n; i++)
            p.x[i * INPUTS + c] = (float)((i % 2 ? -1 : 1) * (double)(i / 2 + 1 + c) / 8);
    CHECK(isnan(score_rows(&p, "linear", "sm(norm=sum)", why).value));
    CHECK_HAS(why, "kta or ckta");
    CHECK(isnan(score_rows(&p, "linear", "sm(h=0.1, norm=sum)", why).value));
    CHECK(score_rows(&p, "linear", "kta", why).value != 0 && !why[0]);
    /* one class, of which all rows are */
    for (int64_t i = 0; i < p.n; i++) p.class[i] = 1;
    code_classes(&p);
    for (int i = 0; i < 6; i++) {
        static const char *const specs[] = {"sm", "kta", "ckta", "polarization", "fsm", "gcv"};
        CHECK(isnan(score_rows(&p, GAUSSIAN, specs[i], why).value));
        CHECK(why[0]);
    }
    /* one row of a class has no spread */
    p.class[0] = 0;
    code_classes(&p);
    CHECK(isnan(score_rows(&p, GAUSSIAN, "fsm", why).value));
    CHECK_HAS(why, "two rows");
    drop_problem(&p);
}

/* All rows alike: the kernel is constant. */
static void constant_kernel(void) {
    static const struct {
        const char *spec, *says;
    } cases[] = {{"ckta", "constant"}, {"fsm", "coincide"}};
    char why[KREIN__MESSAGE];
    problem p = make_problem(20, 2, -1, SIGMA);
    for (int64_t i = 0; i < p.n * INPUTS; i++) p.x[i] = .5f;
    for (int i = 0; i < 2; i++) {
        CHECK(isnan(score_rows(&p, GAUSSIAN, cases[i].spec, why).value));
        CHECK_HAS(why, cases[i].says);
    }
    /* 11': y'11'y / (n |11'|) = (sum y)^2 / n^2, and sm's codes sum to zero */
    double sum = 0, n = (double)p.n;
    for (int64_t i = 0; i < p.n; i++) sum += p.y[i];
    CHECK_ABS(score_rows(&p, GAUSSIAN, "kta", NULL).value, sum * sum / (n * n), 1e-12);
    CHECK_ABS(score_rows(&p, GAUSSIAN, "sm", NULL).value, 0, 1e-15);
    CHECK(score_rows(&p, GAUSSIAN, "er(t=1)", NULL).value > 1e10);
    CHECK_ABS(score_rows(&p, GAUSSIAN, "tail(theta=1)", NULL).value, 0, 1e-10);
    /* leave-one-out is then that of the mean of the others */
    double mean = 0;
    for (int64_t i = 0; i < p.n; i++) mean += pow(p.y[i] - (sum - p.y[i]) / (n - 1), 2) / n;
    CHECK_REL(score_rows(&p, GAUSSIAN, "loo(lambda=0.1)", NULL).loss, mean, 1e-10);
    drop_problem(&p);
}

/* Targets that are all the same: nothing to align with, and no scale. */
static void constant_targets(void) {
    static const char *const specs[] = {"kta", "ckta", "evidence"};
    char why[KREIN__MESSAGE];
    problem p = make_problem(20, -2, -1, SIGMA);
    for (int64_t i = 0; i < p.n * p.k; i++) p.y[i] = 3;
    for (int i = 0; i < 3; i++) {
        CHECK(isnan(score_rows(&p, GAUSSIAN, specs[i], why).value));
        CHECK_HAS(why, "targets are constant");
    }
    CHECK_ABS(score_rows(&p, GAUSSIAN, "loo(lambda=0.1)", NULL).value, 0, 1e-12);
    CHECK_ABS(score_rows(&p, GAUSSIAN, "gcv(lambda=0.1)", NULL).value, 0, 1e-12);
    CHECK(isfinite(score_rows(&p, GAUSSIAN, "evidence(scale=one)", NULL).value));
    drop_problem(&p);
}

/* A Gaussian of width sigma, less its mean, tends to the linear kernel over sigma^2, with terms of
 * |x|^2 / sigma^2 (at most 12 here) in between, and rounding of 2^-53 sigma^2 / |x|^2. What is left
 * of the uncentred matrix is 11'. */
static void wide_kernels(void) {
    for (int bits = 10; bits <= 18; bits += 4) {
        problem p = make_problem(60, 2, -1, SIGMA);
        double square = pow(4, bits), tolerance = 12 / square + 1e-15 * square;
        char wide[64], spec[64];
        snprintf(wide, sizeof wide, "gaussian(sigma=2^%d)", bits);
        CHECK_REL(score_rows(&p, wide, "ckta", NULL).value,
                  score_rows(&p, "linear", "ckta", NULL).value, tolerance);
        CHECK_REL(score_rows(&p, wide, "fsm", NULL).value,
                  score_rows(&p, "linear", "fsm", NULL).value, tolerance);
        for (int i = 0; i < 2; i++) {
            static const char *const names[] = {"gcv", "loo"};
            snprintf(spec, sizeof spec, "%s(lambda=%.17g)", names[i], .05 / square);
            double got = score_rows(&p, wide, spec, NULL).loss;
            snprintf(spec, sizeof spec, "%s(lambda=0.05)", names[i]);
            CHECK_REL(got, score_rows(&p, "linear", spec, NULL).loss, 20 * tolerance);
        }
        drop_problem(&p);
    }
}

/* Several criteria, several kernels, one or two threads: the same bits as one by one. */
static void together(void) {
    static const char *const specs[] = {"sm",  "sm(h=0.01)", "kta",           "ckta",
                                        "fsm", "er",         "tail(theta=2)", "loo",
                                        "cv",  "gcv",        "evidence",      "polarization"};
    static const char *const kernels[] = {"gaussian(sigma=0.3)", "laplacian(sigma=2)", "linear",
                                          "gaussian(sigma=30)", "poly(degree=2)"};
    enum { S = 12, K = 5 };
    problem p = make_problem(40, 3, -1, SIGMA);
    krein_probe s = probe_of(&p);
    krein_criterion c[S];
    krein_kernel *k[K];
    krein_scoring all;
    krein_scored v[2][K];
    memset(v, 0, sizeof v);
    for (int i = 0; i < S; i++) c[i] = criterion_of(specs[i]);
    for (int i = 0; i < K; i++) CHECK(krein__kernel_parse(ctx, kernels[i], &k[i]) == KREIN_OK);
    krein__scoring_begin(c, S, p.n, &all);
    for (int t = 0; t < 2; t++) {
        krein_ctx *on = test_ctx(t + 1);
        CHECK(krein__score_exact(on, k, K, &s, &all, 0, NULL, v[t]) == KREIN_OK);
        krein_ctx_destroy(on);
    }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < S; j++) {
            const krein_score *a = &v[0][i].score[j], *b = &v[1][i].score[j];
            krein_scoring one;
            krein_scored alone = {0};
            CHECK(v[0][i].scored && !v[0][i].refused[j] == !v[1][i].refused[j]);
            CHECK(memcmp(a, b, sizeof *a) == 0 || v[0][i].refused[j]);
            krein__scoring_begin(&c[j], 1, p.n, &one);
            CHECK(krein__score_exact(ctx, &k[i], 1, &s, &one, 0, NULL, &alone) == KREIN_OK);
            /* er: a rest of trace / score, which has the rounding of the trace */
            double near = 1e-11 + 1e-14 * fabs(a->loss);
            if (!alone.refused[0]) CHECK_REL(alone.score[0].loss, a->loss, near);
            CHECK(!alone.refused[0] == !v[0][i].refused[j]);
            krein__scored_clear(ctx, &alone);
        }
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < K; i++) krein__scored_clear(ctx, &v[t][i]);
    for (int i = 0; i < S; i++) krein__criterion_clear(ctx, &c[i]);
    for (int i = 0; i < K; i++) krein__kernel_destroy(ctx, k[i]);
    drop_problem(&p);
}

/* Candidates are visited from far apart to near, each once. */
static void order_of_visits(void) {
    int64_t order[40];
    for (int64_t n = 1; n <= 40; n++) {
        bool seen[40] = {false};
        krein__far_to_near(n, order);
        for (int64_t i = 0; i < n; i++) {
            CHECK(order[i] >= 0 && order[i] < n && !seen[order[i]]);
            seen[order[i]] = true;
        }
    }
    CHECK(order[0] == 32 && order[1] == 16 && order[2] == 8);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(definitions);
    RUN(unbalanced);
    RUN(default_counts);
    RUN(as_many_folds_as_rows);
    RUN(weights_repeat_rows);
    RUN(equal_weights);
    RUN(reference_values);
    RUN(reference_loo);
    RUN(normalised_cut);
    RUN(mean_discrepancy);
    RUN(one_and_the_same);
    RUN(paths);
    RUN(refusals);
    RUN(constant_kernel);
    RUN(constant_targets);
    RUN(wide_kernels);
    RUN(together);
    RUN(order_of_visits);
    krein_ctx_destroy(ctx);
    return DONE();
}
