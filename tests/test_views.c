/* test_views.c -- criteria from features: a map's features z have a kernel of their own, z's inner
 * product, and the view from features must be the obvious one of that kernel's matrix (criteria.h)
 * to the accuracy of float32; then the map's own error, which is that of its variance.
 *
 * Float32 accuracy: a feature has a relative error of 2^-24, a sum over a block of b rows about
 * sqrt(b) 2^-24 of its largest partial sum, and sums of blocks are in double. With b = 60 that is
 * 5e-7 of |Z| |V|; a chain of r products has r of them, and alignments divide by norms that are up
 * to ten times smaller than |Z| |V| on these labels. Hence TOLERANCE; ridge regression solves with
 * a matrix of that error at lambdas of 1e-2 times the largest eigenvalue, hence the same times 10.
 */
#include "criteria.h"

#define TOLERANCE 2e-5

static const char *const SIGNED = "2*gaussian(sigma=1) - 0.5*gaussian(sigma=3)";

/* clang-format off */
static const asked FOR_CLASSES[] = {
    {.spec = "sm(r=1, norm=sum)", .value = sm_value, .number = 1, .balanced = true},
    {.spec = "sm(r=2, norm=sum)", .value = sm_value, .number = 2, .balanced = true},
    {.spec = "sm(r=3, norm=sum)", .value = sm_value, .number = 3, .balanced = true},
    {.spec = "sm(r=4, balanced=no, norm=sum)", .value = sm_value, .number = 4},
    {.spec = "sm(r=5, classes=ideal, norm=sum)", .value = sm_value, .number = 5, .balanced = true, .ideal = true},
    {.spec = "sm", .value = sm_value, .number = 3, .balanced = true, .trace = true},
    {.spec = "kta(classes=ideal)", .value = kta_value, .ideal = true},
    {.spec = "fsm", .value = fsm_value}};
static const asked FOR_ALL[] = {
    {.spec = "kta", .value = kta_value},
    {.spec = "ckta", .value = ckta_value},
    {.spec = "polarization", .value = polarization_value}};
/* Eigenvalues: of positive kernels. */
static const asked POSITIVE[] = {
    {.spec = "er(t=2)", .value = er_value, .number = 2},
    {.spec = "tail(theta=1)", .value = tail_value, .number = 1}};
static const asked HINGE[] = {
    {.spec = "sm(h=0.03, norm=sum)", .value = sm_value, .number = .03, .balanced = true, .hinge = true}};
static const asked RIDGE[] = {
    {.spec = "loo(lambda=0.01)", .value = held_out, .number = .01, .intercept = true},
    {.spec = "cv(k=4, lambda=0.01)", .value = held_out, .number = .01, .intercept = true, .folds = 4},
    {.spec = "gcv(lambda=0.02)", .value = gcv_value, .number = .02},
    {.spec = "evidence(lambda=0.02)", .value = evidence_value, .number = .02},
    {.spec = "evidence(lambda=0.3, scale=one)", .value = evidence_value, .number = .3, .one = true}};
/* clang-format on */

static krein_map *map_of(const char *spec, const char *kernel) {
    krein_kernel *k = kernel_of(kernel);
    krein_map *map = NULL;
    if (krein__map_create(ctx, spec, k, 0, SEED, &map) != KREIN_OK ||
        krein__map_fit(map, INPUTS, false, NULL, 0) != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
        exit(1);
    }
    krein__kernel_destroy(ctx, k);
    return map;
}

/* K of p becomes that of the features; signs: the map's, or all positive. */
static void use_features(problem *p, const char *spec, const char *kernel, bool signs) {
    krein_map *map = map_of(spec, kernel);
    krein_rows x = krein__rows_dense(p->n, INPUTS, p->x, INPUTS);
    float *z = test_new(p->n * map->D, sizeof *z);
    CHECK(krein__map_apply(map, &x, z) == KREIN_OK);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (int64_t f = 0; f < map->D; f++)
                sum += (signs && map->sign ? map->sign[f] : 1) * (double)z[i * map->D + f] *
                       (double)z[j * map->D + f];
            p->K[i * p->n + j] = sum;
        }
    free(z);
    krein__map_destroy(map);
}

static krein_status score_status(const krein_probe *s, const char *spec, const char *kernel,
                                 const char *criterion, krein_score *out) {
    krein_criterion c = criterion_of(criterion);
    krein_kernel *k = kernel_of(kernel);
    krein_scoring scoring;
    krein_scored v = {0};
    krein__scoring_begin(&c, 1, s->n, &scoring);
    krein_status st = krein__score_sample(ctx, &k, 1, spec, s, &scoring, &v);
    if (st == KREIN_OK && v.refused[0]) st = krein__fail(ctx, KREIN_EDATA, "%s", v.refused[0]);
    *out = v.score[0];
    krein__scored_clear(ctx, &v);
    krein__kernel_destroy(ctx, k);
    krein__criterion_clear(ctx, &c);
    return st;
}
static krein_score score_map(const krein_probe *s, const char *spec, const char *kernel,
                             const char *criterion) {
    krein_score out = {0};
    if (score_status(s, spec, kernel, criterion, &out) != KREIN_OK) {
        printf("%s, %s, %s: %s\n", criterion, spec, kernel, krein_message(ctx));
        test_bad++;
    }
    return out;
}

static void compare(const problem *p, const char *spec, const char *kernel, const asked *a,
                    int64_t count, double tolerance) {
    krein_probe s = probe_of(p);
    for (int64_t i = 0; i < count; i++) {
        asked b = a[i];
        krein_score got = score_map(&s, spec, kernel, b.spec);
        b.square = b.value == held_out;
        double want = b.value(p, &b), value = b.square ? sqrt(got.loss) : got.value;
        if (!(fabs(value - want) <= tolerance * fabs(want))) {
            printf("%s, %s, %s, %lld classes: %.9g, want %.9g\n", b.spec, spec, kernel,
                   (long long)p->classes, value, want);
            test_bad++;
        }
    }
}

/* ---- the features' own kernel ------------------------------------------- */

static const struct {
    const char *map, *kernel;
} MAPS[] = {{"explicit", "linear"},
            {"explicit", "poly(degree=2, c=1)"},
            {"rff(D=64)", "gaussian(sigma=1.1)"},
            {"orf(D=30)", "gaussian(sigma=0.7)"},
            {"rff(D=100)", "laplacian(sigma=2)"},
            {"scrf(D=90)", "laplacian(sigma=3)"},
            {"arccos(D=80)", "arccos"}};

static void own_kernel(void) {
    static const int64_t classes[] = {2, 3, -2};
    for (size_t m = 0; m < sizeof MAPS / sizeof *MAPS; m++)
        for (int c = 0; c < 3; c++) {
            if (test_sanitized() && c != (int)m % 3) continue;
            problem p = make_problem(60, classes[c], -1, 1);
            const char *map = MAPS[m].map, *kernel = MAPS[m].kernel;
            use_features(&p, map, kernel, true);
            if (p.classes) {
                compare(&p, map, kernel, FOR_CLASSES, KREIN__COUNT(FOR_CLASSES), TOLERANCE);
                compare(&p, map, kernel, HINGE, KREIN__COUNT(HINGE), TOLERANCE);
            }
            compare(&p, map, kernel, FOR_ALL, KREIN__COUNT(FOR_ALL), TOLERANCE);
            compare(&p, map, kernel, POSITIVE, KREIN__COUNT(POSITIVE), TOLERANCE);
            compare(&p, map, kernel, RIDGE, KREIN__COUNT(RIDGE), 10 * TOLERANCE);
            drop_problem(&p);
        }
}

/* Weights are repeated rows here as well, and the squares' weights in ridge regression. */
static void weights(void) {
    static const int64_t classes[] = {3, -1};
    for (int c = 0; c < 2; c++) {
        problem p = make_problem(60, classes[c], -1, 1);
        int times[60];
        for (int i = 0; i < 60; i++) times[i] = i * 7 % 4;
        use_features(&p, "rff(D=64)", "gaussian(sigma=1.1)", true);
        problem heavy = repeated(&p, times, false), many = repeated(&p, times, true);
        krein_probe s = probe_of(&heavy);
        for (int l = c; l < 3; l++)
            for (int64_t i = 0; i < (l == 0   ? KREIN__COUNT(FOR_CLASSES)
                                     : l == 1 ? KREIN__COUNT(FOR_ALL)
                                              : KREIN__COUNT(POSITIVE));
                 i++) {
                const asked *a = l == 0 ? &FOR_CLASSES[i] : l == 1 ? &FOR_ALL[i] : &POSITIVE[i];
                CHECK_REL(score_map(&s, "rff(D=64)", "gaussian(sigma=1.1)", a->spec).value,
                          a->value(&many, a), TOLERANCE);
            }
        compare(&heavy, "rff(D=64)", "gaussian(sigma=1.1)", RIDGE, KREIN__COUNT(RIDGE),
                10 * TOLERANCE);
        drop_problem(&p);
        drop_problem(&heavy);
        drop_problem(&many);
    }
}

/* Features of both signs: K = Z S Z'. Ridge regression is the learner's, in the norm of all
 * features as positive; eigenvalues are refused. */
static void both_signs(void) {
    static const char *const maps[] = {"orf(D=60)", "rff(D=100)"};
    for (int m = 0; m < 2; m++) {
        problem p = make_problem(60, 3, -1, 1);
        krein_probe s = probe_of(&p);
        krein_score out;
        use_features(&p, maps[m], SIGNED, true);
        compare(&p, maps[m], SIGNED, FOR_CLASSES, KREIN__COUNT(FOR_CLASSES), TOLERANCE);
        compare(&p, maps[m], SIGNED, FOR_ALL, KREIN__COUNT(FOR_ALL), TOLERANCE);
        use_features(&p, maps[m], SIGNED, false);
        compare(&p, maps[m], SIGNED, RIDGE, 2, 10 * TOLERANCE);
        for (int i = 0; i < 5; i++) {
            static const char *const refused[] = {"er", "tail", "evidence", "gcv", "sm(h=0.1)"};
            CHECK(score_status(&s, maps[m], SIGNED, refused[i], &out) != KREIN_OK);
            CHECK_HAS(krein_message(ctx), "`max_exact`");
        }
        drop_problem(&p);
    }
}

/* A width of 2^10: features are almost constant, and what is left is 2^-10 of them (of the cosines
 * 2^-20, of which the float32 features of this test keep a few bits; the view has them less their
 * mean, with all digits). */
static void wide_kernels(void) {
    static const asked keep[] = {
        {.spec = "ckta", .value = ckta_value},
        {.spec = "sm(r=1, norm=sum)", .value = sm_value, .number = 1, .balanced = true},
        {.spec = "fsm", .value = fsm_value},
        {.spec = "gcv(lambda=1e-8)", .value = gcv_value, .number = 1e-8},
        {.spec = "gcv(lambda=1e-6)", .value = gcv_value, .number = 1e-6},
        {.spec = "loo(lambda=1e-7)", .value = held_out, .number = 1e-7, .intercept = true},
        {.spec = "evidence(lambda=1e-6)", .value = evidence_value, .number = 1e-6}};
    problem p = make_problem(60, 2, -1, 1);
    use_features(&p, "rff(D=64)", "gaussian(sigma=1024)", true);
    compare(&p, "rff(D=64)", "gaussian(sigma=1024)", keep, KREIN__COUNT(keep), 5 * TOLERANCE);
    /* a chain of products looks at the cosines: the reference itself has few digits */
    compare(&p, "rff(D=64)", "gaussian(sigma=1024)", &FOR_CLASSES[2], 1, 1e-2);
    drop_problem(&p);
}

/* ---- sparse rows, blocks ------------------------------------------------ */

static void sparse_rows(void) {
    static const char *const criteria[] = {"sm",
                                           "kta",
                                           "ckta",
                                           "fsm",
                                           "er(t=2)",
                                           "gcv(lambda=0.01)",
                                           "loo(lambda=0.01)",
                                           "cv(lambda=0.01)"};
    problem p = make_problem(60, 3, -1, 1);
    int64_t ptr[61] = {0}, nnz = 0;
    int32_t col[180];
    float val[180];
    for (int64_t i = 0; i < 60; i++) {
        for (int32_t c = 0; c < INPUTS; c++) {
            if ((i + c) % 3 == 0) p.x[i * INPUTS + c] = 0;
            if (p.x[i * INPUTS + c] == 0) continue;
            col[nnz] = c;
            val[nnz++] = p.x[i * INPUTS + c];
        }
        ptr[i + 1] = nnz;
    }
    krein_probe dense = probe_of(&p), sparse = dense;
    sparse.x = (krein_matrix){.n = 60, .d = INPUTS, .nnz = nnz, .ptr = ptr, .col = col, .val = val};
    for (int i = 0; i < 8; i++) {
        krein_score a = score_map(&dense, "rff(D=64)", "gaussian(sigma=1.1)", criteria[i]),
                    b = score_map(&sparse, "rff(D=64)", "gaussian(sigma=1.1)", criteria[i]);
        CHECK_REL(b.loss, a.loss, 10 * TOLERANCE);
    }
    drop_problem(&p);
}

static void drive(const krein_map *map, const problem *p, const krein_labels *labels,
                  const krein_needs *needs, int64_t block, krein_view *out) {
    krein_feature_view *f = NULL;
    krein_rows x = krein__rows_dense(p->n, INPUTS, p->x, INPUTS);
    krein_rows first = krein__rows_slice(&x, 0, 7);
    bool more = true;
    CHECK(krein__feature_view_begin(map, labels, needs, NULL, 0, &first, &f) == KREIN_OK);
    while (more) {
        for (int64_t i = 0; i < p->n; i += block) {
            krein_rows part = krein__rows_slice(&x, i, krein__min(block, p->n - i));
            krein_targets rows = {part.n, p->k, p->y + i * p->k, NULL, p->class + i};
            CHECK(krein__feature_view_add(f, &part, i, &rows) == KREIN_OK);
        }
        CHECK(krein__feature_view_end_pass(f, &more) == KREIN_OK);
    }
    CHECK(krein__feature_view_finish(f, out) == KREIN_OK);
    krein__feature_view_destroy(f);
}

/* |a_i - b_i| <= tolerance * scale */
static void near_each(int64_t n, const double *a, const double *b, double tolerance, double scale) {
    for (int64_t i = 0; i < n; i++) CHECK_ABS(a[i], b[i], tolerance * scale);
}

/* The moments themselves, with the Gram matrix of the features and by passes without it, in blocks
 * of any size, against those of the matrix. P_r is of the scale n |K|^r; each product adds its
 * share of rounding. */
static void moments(void) {
    enum { N = 90, ORDER = 5 };
    problem p = make_problem(N, 3, -1, 1);
    krein_map *map = map_of("rff(D=50)", "gaussian(sigma=1.1)");
    krein_probe s = probe_of(&p);
    krein_labels labels;
    krein_view want;
    krein_needs all = {.order = ORDER,
                       .square = true,
                       .centred_square = true,
                       .inside = true,
                       .top = 4,
                       .spectrum = true,
                       .centred = true},
                few = {.order = ORDER, .inside = true};
    use_features(&p, "rff(D=50)", "gaussian(sigma=1.1)", true);
    CHECK(krein__labels_of(ctx, &s, &labels) == KREIN_OK);
    CHECK(krein__view_exact(ctx, map->kernel, &s, &labels, &all, NULL, 0, p.K, &want) == KREIN_OK);
    double top = want.top[0];
    int64_t m = labels.m;
    for (int turn = 0; turn < 6; turn++) {
        krein_view got;
        const krein_needs *needs = turn % 2 ? &all : &few;
        drive(map, &p, &labels, needs, turn < 2 ? N : turn < 4 ? 17 : 1, &got);
        for (int64_t r = 0; r <= ORDER; r++)
            near_each(m * m, got.power + r * m * m, want.power + r * m * m, (double)(r + 1) * 1e-6,
                      N * pow(top, (double)r));
        near_each(m - 1, got.inside, want.inside, 3e-6, N * top * top);
        if (needs == &few) CHECK(got.top == NULL && got.spectrum.n == 0);
        if (needs == &all) {
            CHECK_REL(got.trace, want.trace, 1e-6);
            CHECK_REL(got.square, want.square, 2e-6);
            CHECK_REL(got.centred_square, want.centred_square, 2e-6);
            near_each(4, got.top, want.top, 1e-6, top);
            near_each(4, got.spectrum.value, want.spectrum.value, 1e-6, top);
            near_each(4, got.centred.value, want.centred.value, 1e-6, top);
            for (int64_t j = 0; j < 2; j++) /* up to the sign of the vector */
                for (int64_t c = 0; c < m; c++)
                    CHECK_ABS(fabs(got.spectrum.part[j * m + c]),
                              fabs(want.spectrum.part[j * m + c]), 1e-4);
        }
        krein__view_clear(&got);
    }
    krein__view_clear(&want);
    krein__labels_end(ctx, &labels);
    krein__map_destroy(map);
    drop_problem(&p);
}

/* ---- the map's error ---------------------------------------------------- */

static double kernel_at(const problem *p, int64_t i, int64_t j, int64_t k, int64_t l) {
    double square = 0;
    for (int64_t c = 0; c < INPUTS; c++) {
        double t = (double)p->x[i * INPUTS + c] - (double)p->x[j * INPUTS + c] +
                   (double)p->x[k * INPUTS + c] - (double)p->x[l * INPUTS + c];
        square += t * t;
    }
    return exp(-square / 2);
}

/* y'Khat y of rff is the mean over F = D/2 frequencies of |sum_i y_i e^(i w'x_i)|^2, whose mean is
 * y'Ky and whose second moment is sum_ijkl y_i y_j y_k y_l k(x_i - x_j + x_k - x_l). */
static void variance_of_rff(void) {
    enum { N = 20, SEEDS = 60, FEATURES = 32 };
    problem p = make_problem(N, 2, -1, 1);
    krein_probe s = probe_of(&p);
    double form = 0, second = 0, mean = 0, square = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            form += p.y[i] * p.y[j] * kernel_at(&p, i, j, 0, 0);
            for (int64_t k = 0; k < N; k++)
                for (int64_t l = 0; l < N; l++)
                    second += p.y[i] * p.y[j] * p.y[k] * p.y[l] * kernel_at(&p, i, j, k, l);
        }
    double variance = (second - form * form) / (FEATURES / 2);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        s.seed = seed;
        double got = score_map(&s, "rff(D=32)", "gaussian(sigma=1)", "polarization").value;
        mean += got / SEEDS;
        square += (got - form) * (got - form) / SEEDS;
    }
    CHECK_Z(mean, form, variance, SEEDS);
    /* the mean square has a relative deviation of about sqrt(2 / SEEDS) */
    CHECK(fabs(square / variance - 1) < 5 * sqrt(2.0 / SEEDS));
    drop_problem(&p);
}

/* Root mean square over seeds of the error of every criterion, which are smooth functions of K: a
 * factor of 8 in D is one of 2.8 in the error, and of six seeds at least 1.4 (the ratio of two such
 * means has a relative deviation of a third). */
static void error_falls(void) {
    static const char *const criteria[] = {"sm(r=1)",
                                           "sm",
                                           "kta",
                                           "ckta",
                                           "fsm",
                                           "polarization",
                                           "er(t=3)",
                                           "tail(theta=3)",
                                           "loo(lambda=0.01)",
                                           "gcv(lambda=0.01)",
                                           "evidence(lambda=0.05)"};
    static const struct {
        const char *name, *kernel;
    } maps[] = {{"rff", "gaussian(sigma=1.1)"}, {"orf", "gaussian(sigma=1.1)"}};
    enum { SEEDS = 6 };
    problem p = make_problem(60, 2, -1, 1.1);
    krein_probe s = probe_of(&p);
    for (int m = 0; m < 2; m++)
        for (size_t c = 0; c < sizeof criteria / sizeof *criteria; c++) {
            double want = score_rows(&p, maps[m].kernel, criteria[c], NULL).loss, error[2] = {0};
            for (int size = 0; size < 2; size++)
                for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                    char spec[32];
                    s.seed = seed;
                    snprintf(spec, sizeof spec, "%s(D=%d)", maps[m].name, size ? 256 : 32);
                    double got = score_map(&s, spec, maps[m].kernel, criteria[c]).loss;
                    error[size] += pow(got / want - 1, 2) / SEEDS;
                }
            if (!(sqrt(error[1]) < .7 * sqrt(error[0]) && error[1] < .6 * .6)) {
                printf("%s, %s, %s: relative error %g with 32 features, %g with 256\n", criteria[c],
                       maps[m].name, maps[m].kernel, sqrt(error[0]), sqrt(error[1]));
                test_bad++;
            }
        }
    drop_problem(&p);
}

/* Above 16,384 rows every second one is left out (each exactly), and blocks are many: against the
 * leverages of ridge regression on the features, (y - f) / (1 - 1/n - z'(G + n lambda)^-1 z). */
static void many_rows(void) {
    enum { N = 17001, F = 12 };
    const double lambda = 1e-3;
    problem p = {.n = N, .k = 1, .x = test_dense(N, INPUTS, .4), .y = test_new(N, sizeof(double))};
    krein_map *map = map_of("rff(D=12)", "gaussian(sigma=1.1)");
    krein_rows x = krein__rows_dense(N, INPUTS, p.x, INPUTS);
    float *z = test_new(N * F, sizeof *z);
    double G[F * F] = {0}, B[F * (F + 1)] = {0}, mean[F] = {0}, ymean = 0, square = 0;
    int64_t count = 0;
    CHECK(map->D == F && krein__map_apply(map, &x, z) == KREIN_OK);
    for (int64_t i = 0; i < N; i++) {
        p.y[i] = det(i, 1, .4) + .3 * det(i, 9, 2);
        ymean += p.y[i] / N;
        for (int64_t f = 0; f < F; f++) mean[f] += (double)z[i * F + f] / N;
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t f = 0; f < F; f++) {
            double own = (double)z[i * F + f] - mean[f];
            for (int64_t g = 0; g < F; g++) G[f * F + g] += own * ((double)z[i * F + g] - mean[g]);
            B[f * (F + 1)] += own * (p.y[i] - ymean);
        }
    for (int64_t f = 0; f < F; f++) {
        G[f * F + f] += N * lambda;
        B[f * (F + 1) + 1 + f] = 1;
    }
    test_solve(F, F + 1, G, B); /* the weights, then the inverse */
    for (int64_t i = 0; i < N; i += 2, count++) {
        double fit = ymean, lever = 1.0 / N;
        for (int64_t f = 0; f < F; f++) {
            double own = (double)z[i * F + f] - mean[f];
            fit += own * B[f * (F + 1)];
            for (int64_t g = 0; g < F; g++)
                lever += own * B[f * (F + 1) + 1 + g] * ((double)z[i * F + g] - mean[g]);
        }
        square += pow((p.y[i] - fit) / (1 - lever), 2);
    }
    krein_probe s = probe_of(&p);
    CHECK_REL(score_map(&s, "rff(D=12)", "gaussian(sigma=1.1)", "loo(lambda=0.001)").loss,
              square / (double)count, 1e-5);
    krein__map_destroy(map);
    free(z);
    drop_problem(&p);
}

/* ---- refusals ----------------------------------------------------------- */

static void refusals(void) {
    problem p = make_problem(30, 2, -1, 1);
    krein_probe s = probe_of(&p);
    krein_score out;
    CHECK(score_status(&s, "rff(D=32)", "gaussian(sigma=1)", "loo(intercept=no)", &out) !=
          KREIN_OK);
    CHECK_HAS(krein_message(ctx), "intercept=no");
    CHECK(score_status(&s, "orf(D=32)", "linear", "sm", &out) == KREIN_ESPEC);
    for (int64_t i = 0; i < p.n; i++) p.class[i] = 0;
    code_classes(&p);
    CHECK(score_status(&s, "rff(D=32)", "gaussian(sigma=1)", "sm", &out) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "one class");
    drop_problem(&p);
}

/* Few rows, equal rows, weights that are zero, any kernel: a finite score, or a reason why there is
 * none, from the matrix and from features. */
static void anything(void) {
    static const char *const specs[] = {"sm",
                                        "sm(h=0.1)",
                                        "kta(classes=ideal)",
                                        "ckta",
                                        "polarization",
                                        "fsm",
                                        "er",
                                        "tail",
                                        "loo",
                                        "loo(intercept=no)",
                                        "loo(lambda=0.1)",
                                        "cv",
                                        "cv(k=1000, lambda=0.1)",
                                        "gcv",
                                        "evidence"};
    static const char *const kernels[] = {"gaussian(sigma=1)",
                                          "gaussian(sigma=1e-3)",
                                          "gaussian(sigma=1e6)",
                                          "linear",
                                          "tanh(c=-1)",
                                          "0*gaussian(sigma=1)",
                                          "gaussian(sigma=1) - gaussian(sigma=2)"};
    static const int64_t classes[] = {2, 3, 4, -1, -2};
    test_random_state = 88172645463325252u;
    for (int round = 0; round < (test_sanitized() ? 10 : 25); round++) {
        problem p = make_problem(1 + test_random_below(7), classes[round % 5], -1, 1);
        for (int64_t i = 0; i < p.n && p.class; i++)
            p.class[i] = (int32_t)test_random_below(p.classes);
        if (p.class) code_classes(&p);
        if (round % 3 == 0)
            for (int64_t i = 0; i < p.n * INPUTS; i++) p.x[i] = p.x[i % INPUTS];
        if (round % 2) p.weight = test_new(p.n, sizeof *p.weight);
        for (int64_t i = 0; i < p.n && p.weight; i++) p.weight[i] = (double)test_random_below(3);
        if (p.weight) p.weight[0] = 1;
        krein_probe s = probe_of(&p);
        for (int64_t c = 0; c < KREIN__COUNT(specs); c++)
            for (int64_t k = 0; k < KREIN__COUNT(kernels); k++) {
                char why[KREIN__MESSAGE];
                krein_score score;
                if (!p.class && (c < 2 || c == 5)) continue; /* sm and fsm are for classes */
                score = score_rows(&p, kernels[k], specs[c], why);
                CHECK(why[0] ? isnan(score.value) : isfinite(score.value) && isfinite(score.loss));
                if (k > 2) continue;
                krein_status st = score_status(&s, "rff(D=6)", kernels[k], specs[c], &score);
                CHECK(st == KREIN_OK ? isfinite(score.value) && isfinite(score.loss)
                                     : st == KREIN_EDATA || st == KREIN_ESPEC);
            }
        drop_problem(&p);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(own_kernel);
    RUN(weights);
    RUN(both_signs);
    RUN(wide_kernels);
    RUN(sparse_rows);
    RUN(moments);
    RUN(variance_of_rff);
    RUN(error_falls);
    RUN(many_rows);
    RUN(refusals);
    RUN(anything);
    krein_ctx_destroy(ctx);
    return DONE();
}
