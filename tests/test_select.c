/* test_select.c -- krein_select: the kernel itself and features agree, the same bits whatever way
 * the rows come, the order and the winner, time limits, refusals, failing memory, little memory. */
#include "criteria.h"

#include "kernel/gram_shared.h"
#include "pipe/pipe.h"

typedef struct table {
    int64_t n, d;
    float *x;
    double *y, *weight;
    krein_task task;
} table;

/* Three inputs; classes < 0: numbers. */
static table make_table(int64_t n, int64_t classes) {
    table t = {.n = n, .d = INPUTS, .x = test_dense(n, INPUTS, .4), .y = test_new(n, 8)};
    t.task = classes < 0 ? KREIN_TASK_REGRESSION : KREIN_TASK_CLASSIFICATION;
    for (int64_t i = 0; i < n; i++)
        t.y[i] = classes < 0 ? det(i, 1, .4) + .3 * det(i, 9, 2) : class_of(i, classes);
    return t;
}
static void drop_table(table *t) {
    free(t->x);
    free(t->y);
    free(t->weight);
}

typedef struct call {
    const char *kernels, *map;
    int64_t features, max_exact;
    krein_keep keep;
    double time_limit;
    const char *criteria[12];
} call;

static krein_status run(krein_ctx *on, const table *t, const call *c, krein_select_report *r) {
    krein_data *data = NULL;
    krein_data_options d;
    krein_select_options o;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    d.task = t->task;
    krein_select_options_init(&o);
    o.kernels = c->kernels;
    o.criteria = c->criteria;
    while (o.ncriteria < 12 && c->criteria[o.ncriteria]) o.ncriteria++;
    o.map = c->map;
    o.features = c->features;
    o.time_limit = c->time_limit;
    o.seed = SEED;
    if (c->max_exact) o.max_exact = c->max_exact;
    *r = KREIN_SIZED(krein_select_report);
    on->keep_rows = c->keep;
    krein_status st = krein_data_from_dense(on, t->n, t->d, t->x, t->d, t->y, t->weight, &d, &data);
    if (st == KREIN_OK) st = krein_select(on, data, &o, r);
    krein_data_close(data);
    return st;
}
static krein_select_report ranked(krein_ctx *on, const table *t, const call *c) {
    krein_select_report r = KREIN_SIZED(krein_select_report);
    if (run(on, t, c, &r) != KREIN_OK) {
        printf("%s: %s\n", c->kernels ? c->kernels : "", krein_message(on));
        exit(1);
    }
    return r;
}

/* ---- the kernel itself and features ------------------------------------- */

/* Every score of b is that of a within a relative tolerance. */
static void agree(const krein_select_report *a, const krein_select_report *b, double tolerance) {
    CHECK(a->count == b->count && a->nrankings == b->nrankings);
    for (int64_t c = 0; c < a->nrankings; c++)
        for (int64_t i = 0; i < a->count; i++) {
            double want = a->rankings[c]->scores[i]->score, got = b->rankings[c]->scores[i]->score;
            if (fabs(got - want) <= tolerance * fabs(want)) continue;
            printf("%s, %s: %.9g, want %.9g\n", a->rankings[c]->criterion, a->kernels[i], got,
                   want);
            test_bad++;
        }
}

/* Features that are the kernel: all monomials; Nystrom features from all rows as landmarks. What is
 * left is float32 (see test_views.c), and the eigenvalues of K below 1e-7 of the largest. */
static void features_that_are_the_kernel(void) {
    static const struct {
        const char *map, *kernels;
        int64_t features;
    } cases[] = {{"explicit", "linear; poly(degree=2, c=1)", 0},
                 {"nystrom", "gaussian(sigma=0.5); laplacian(sigma=1)", 120}};
    static const int64_t classes[] = {2, 3, -1};
    for (int m = 0; m < 2; m++)
        for (int t = 0; t < 3; t++) {
            table data = make_table(120, classes[t]);
            call c = {.kernels = cases[m].kernels,
                      .criteria = {"kta", "ckta", "polarization", "er(t=2)", "tail(theta=1)",
                                   "loo(lambda=0.01)", "cv(lambda=0.01)", "gcv(lambda=0.01)",
                                   "evidence(lambda=0.01)", t < 2 ? "sm" : NULL, "fsm"}};
            krein_select_report a = ranked(ctx, &data, &c);
            CHECK(strcmp(a.map, "exact") == 0);
            c.map = cases[m].map;
            c.features = cases[m].features;
            krein_select_report b = ranked(ctx, &data, &c);
            CHECK(strcmp(b.map, c.map) == 0);
            agree(&a, &b, 2e-4);
            krein_select_report_clear(ctx, &a);
            krein_select_report_clear(ctx, &b);
            drop_table(&data);
        }
}

/* Signed measures of a difference of Gaussians: as near as 4,000 features are (of a norm |mu| = 3,
 * an entry within 3 / sqrt(2000) = 0.07 of K's scale 1, and sums of many entries nearer), and no
 * eigenvalues. */
static void signed_maps(void) {
    static const char *const maps[] = {"gorf", "grff"};
    table data = make_table(150, 2);
    call c = {.kernels = "2*gaussian(sigma=1) - 0.5*gaussian(sigma=3)",
              .criteria = {"sm(r=1)", "kta", "ckta", "polarization"}};
    krein_select_report a = ranked(ctx, &data, &c);
    for (int m = 0; m < 2; m++) {
        c.map = maps[m];
        c.features = 4000;
        krein_select_report b = ranked(ctx, &data, &c);
        agree(&a, &b, .07);
        krein_select_report_clear(ctx, &b);
        call e = {.kernels = c.kernels,
                  .map = maps[m],
                  .features = 100,
                  .criteria = {"er", "tail", "evidence", "kta"}};
        b = ranked(ctx, &data, &e);
        for (int i = 0; i < 3; i++) {
            CHECK(b.rankings[i]->best == -1 && isnan(b.rankings[i]->scores[0]->score));
            CHECK_HAS(b.rankings[i]->scores[0]->refused, "`max_exact`");
        }
        CHECK(b.rankings[3]->best == 0 && !b.rankings[3]->scores[0]->refused); /* beside them */
        krein_select_report_clear(ctx, &b);
    }
    krein_select_report_clear(ctx, &a);
    drop_table(&data);
}

/* ---- the same bits ------------------------------------------------------ */

static void same_bits(const krein_select_report *a, int64_t i, const krein_select_report *b,
                      int64_t j) {
    for (int64_t c = 0; c < a->nrankings; c++) {
        const krein_select_score *x = a->rankings[c]->scores[i], *y = b->rankings[c]->scores[j];
        CHECK(!isnan(x->score));
        CHECK(memcmp(&x->score, &y->score, sizeof x->score) == 0);
        CHECK(memcmp(&x->lambda, &y->lambda, sizeof x->lambda) == 0);
    }
}

/* Three blocks of rows, eleven kernels (more than one pass takes): in memory or streamed, on one
 * thread or two, each kernel by itself. */
static void any_way_the_same(void) {
    static const char *const kernels =
        "gaussian(sigma=0.5..4:5); laplacian(sigma=1..8:4); gaussian(sigma=1)+laplacian(sigma=1); "
        "exponential(sigma=2)";
    static const char *const maps[] = {"rff", "nystrom"};
    table data = make_table(3850, 3);
    krein_ctx *one = test_ctx(1), *little = test_ctx_small(2, 12000000);
    for (int m = 0; m < 2; m++) {
        call c = {.kernels = kernels,
                  .map = maps[m],
                  .features = 32,
                  .keep = KREIN_KEEP_MEMORY,
                  .criteria = {"sm", "kta", "ckta", "fsm", "er(t=3)", "tail", "loo", "cv(k=3)",
                               "gcv", "evidence"}};
        krein_select_report a = ranked(ctx, &data, &c), b;
        CHECK(a.count == 11 && a.scored == 11);
        c.keep = KREIN_KEEP_STREAM;
        b = ranked(ctx, &data, &c);
        for (int64_t i = 0; i < a.count; i++) same_bits(&a, i, &b, i);
        krein_select_report_clear(ctx, &b);
        b = ranked(one, &data, &c);
        for (int64_t i = 0; i < a.count; i++) same_bits(&a, i, &b, i);
        krein_select_report_clear(one, &b);
        b = ranked(little, &data, &c); /* room for few at a time */
        for (int64_t i = 0; i < a.count; i++) same_bits(&a, i, &b, i);
        krein_select_report_clear(little, &b);
        for (int64_t i = 0; i < a.count; i += test_sanitized() ? 10 : 5) {
            c.kernels = a.kernels[i];
            b = ranked(ctx, &data, &c);
            same_bits(&a, i, &b, 0);
            krein_select_report_clear(ctx, &b);
        }
        krein_select_report_clear(ctx, &a);
    }
    krein_ctx_destroy(one);
    krein_ctx_destroy(little);
    drop_table(&data);
}

/* Criteria one by one are those asked for together, up to the order of sums. */
static void alone_and_together(void) {
    table data = make_table(300, 2);
    call c = {.kernels = "gaussian(sigma=0.5..4:4)",
              .map = "orf",
              .features = 64,
              .criteria = {"sm(r=2)", "polarization", "fsm", "kta", "cv(lambda=0.01)"}};
    krein_select_report all = ranked(ctx, &data, &c);
    for (int k = 0; k < 5; k++) {
        call one = c;
        memset(one.criteria, 0, sizeof one.criteria);
        one.criteria[0] = c.criteria[k];
        krein_select_report r = ranked(ctx, &data, &one);
        for (int64_t i = 0; i < 4; i++)
            CHECK_REL(r.rankings[0]->scores[i]->score, all.rankings[k]->scores[i]->score, 1e-4);
        krein_select_report_clear(ctx, &r);
    }
    krein_select_report_clear(ctx, &all);
    drop_table(&data);
}

/* ---- order, winner, time ------------------------------------------------ */

static void order_and_winner(void) {
    table data = make_table(60, 2);
    call c = {.kernels = "gaussian(sigma=100); gaussian(sigma=1); linear + 1*gaussian(sigma=2); "
                         "gaussian(sigma=1)",
              .criteria = {"loo", "fsm", "evidence"}};
    for (int features = 0; features < 2; features++) {
        c.map = features ? "nystrom" : NULL;
        c.features = features ? 40 : 0;
        krein_select_report r = ranked(ctx, &data, &c);
        CHECK(r.count == 4 && r.scored == 4 && r.nrankings == 3 && r.n == 60 && r.d == 3);
        CHECK(r.task == KREIN_TASK_CLASSIFICATION && r.seconds >= 0);
        CHECK_HAS(r.kernels[0], "sigma=100");
        CHECK_HAS(r.kernels[2], "linear");
        CHECK(strcmp(r.kernels[1], r.kernels[3]) == 0);
        for (int64_t k = 0; k < 3; k++) {
            const krein_select_ranking *g = r.rankings[k];
            CHECK(g->larger == (k == 2));
            CHECK(g->scores[1]->score == g->scores[3]->score); /* of ties the first */
            CHECK(g->best >= 0 && g->best != 3);
            for (int64_t i = 0; i < 4; i++) {
                double a = g->scores[i]->score, b = g->scores[g->best]->score;
                CHECK(k == 2 ? a <= b : a >= b);
                CHECK(!g->scores[i]->refused && isnan(g->scores[i]->lambda) == (k == 1));
            }
        }
        krein_select_report_clear(ctx, &r);
    }
    drop_table(&data);
}

/* Errors first, and of ties the least loss; where there are no errors the loss alone. */
static void what_is_better(void) {
    static const krein_score few = {.1, .1, 5, NAN}, fewer = {.1, .1, 4, NAN},
                             many = {.2, .2, 1, NAN}, number = {3, NAN, 9, NAN},
                             less = {2, NAN, 4, NAN};
    CHECK(krein__score_better(&fewer, &few) && !krein__score_better(&few, &fewer));
    CHECK(krein__score_better(&few, &many) && !krein__score_better(&many, &few));
    CHECK(krein__score_better(&less, &number) && !krein__score_better(&number, &less));
    CHECK(!krein__score_better(&few, &few) && !krein__score_better(&less, &less));
    static const krein_score none = {.05, .05, NAN, NAN}, neither = {NAN, NAN, NAN, NAN};
    CHECK(krein__score_better(&few, &none) && !krein__score_better(&none, &few));
    CHECK(krein__score_better(&less, &neither) && !krein__score_better(&neither, &less));
    CHECK(!krein__score_better(&none, &neither) && !krein__score_better(&neither, &none));
}

/* ---- scores that are no numbers ----------------------------------------- */

/* The loss falls towards a sigma of 2, and is no number below a bound and above another. */
static double least_sigma, most_sigma;
static krein_status some_scores(const krein_view *v, const krein_values *values,
                                const krein_trial *trial, krein_score *out) {
    (void)values, (void)trial;
    double sigma = v->kernel->values.number[0];
    bool good = sigma >= least_sigma && sigma <= most_sigma;
    *out = (krein_score){1, NAN, good ? 1 + fabs(log(sigma / 2)) : NAN, NAN};
    return KREIN_OK;
}

/* A search in which a candidate has no loss ends with a message, wherever that candidate stands
 * among the others. */
static void scores_that_are_no_numbers(void) {
    static const krein_criterion_class cls = {.cls = {.name = "some"}, .score = some_scores};
    static const double bounds[][2] = {{0, 100}, {1, 100}, {0, 2.5}, {200, 300}};
    krein_ctx *on = test_ctx(2);
    table t = make_table(150, -1);
    for (int64_t i = 0; i < KREIN__COUNT(bounds); i++) {
        krein_data *data = NULL;
        krein_pipe p = {0};
        krein_pipe_options o = {.seed = SEED, .max_exact = 1000};
        krein_purpose purpose = {.what = "a test"};
        krein_criterion criterion = {.cls = &cls};
        least_sigma = bounds[i][0];
        most_sigma = bounds[i][1];
        CHECK(krein_data_from_dense(on, t.n, t.d, t.x, t.d, NULL, NULL, NULL, &data) == KREIN_OK);
        CHECK(krein__pipe_begin(on, &o, &purpose, &p) == KREIN_OK);
        CHECK(krein__pipe_meet(&p, data, KREIN_LABELS_IGNORED) == KREIN_OK);
        krein_status st = krein__select_kernel(&p.job, &criterion, NULL, 0, NULL, p.kernel);
        double sigma = p.kernel->values.number[0];
        if (i == 0) {
            CHECK(st == KREIN_OK && fabs(log(sigma / 2)) < .4);
        } else {
            CHECK(st == KREIN_ESPEC);
            CHECK_HAS(krein_message(on), "not a finite number");
        }
        krein__pipe_end(&p);
        krein_data_close(data);
    }
    CHECK(atomic_load(&on->held) == 0);
    krein_ctx_destroy(on);
    drop_table(&t);
}

static void time_limit(void) {
    table data = make_table(200, 2);
    call c = {
        .kernels = "gaussian(sigma=0.1..10:40)", .time_limit = 1e-9, .criteria = {"loo", "sm"}};
    for (int features = 0; features < 2; features++) {
        c.map = features ? "rff" : NULL;
        c.features = features ? 32 : 0;
        krein_select_report r = ranked(ctx, &data, &c);
        int64_t scored = 0;
        for (int64_t i = 0; i < r.count; i++) {
            scored += !isnan(r.rankings[0]->scores[i]->score);
            CHECK(!r.rankings[0]->scores[i]->refused); /* there was no time: no reason */
        }
        CHECK(r.count == 40 && r.scored == scored && scored >= 1 && scored <= 8);
        CHECK(r.rankings[0]->best >= 0 && r.rankings[1]->best >= 0);
        krein_select_report_clear(ctx, &r);
    }
    c.time_limit = 1e6;
    krein_select_report r = ranked(ctx, &data, &c);
    CHECK(r.scored == 40);
    krein_select_report_clear(ctx, &r);
    drop_table(&data);
}

/* ---- what does not apply ------------------------------------------------ */

/* A refused kernel is a line of the ranking, with its reason, beside good ones. */
static void refused_beside_good(void) {
    table data = make_table(60, 2);
    call c = {.kernels = "tanh(gamma=1, c=-1); gaussian(sigma=1); linear",
              .criteria = {"er(t=2)", "sm(norm=sum)", "kta"}};
    for (int64_t i = 0; i < data.n; i++) /* columns that sum to zero */
        for (int64_t j = 0; j < INPUTS; j++)
            data.x[i * INPUTS + j] = (float)((i % 2 ? -1 : 1) * (double)(i / 2 + 1 + j * j) / 16);
    krein_select_report r = ranked(ctx, &data, &c);
    CHECK(r.scored == 3);
    CHECK(isnan(r.rankings[0]->scores[0]->score) && !r.rankings[0]->scores[1]->refused);
    CHECK_HAS(r.rankings[0]->scores[0]->refused, "positive definite");
    CHECK(isnan(r.rankings[1]->scores[2]->score) && r.rankings[1]->best != 2);
    CHECK_HAS(r.rankings[1]->scores[2]->refused, "sum of the kernel matrix");
    for (int i = 0; i < 3; i++) CHECK(!isnan(r.rankings[2]->scores[i]->score));
    krein_select_report_clear(ctx, &r);
    drop_table(&data);
}

static void labels(void) {
    table none = make_table(40, 2), numbers = make_table(40, -1), same = make_table(40, 2);
    krein_select_report r = KREIN_SIZED(krein_select_report);
    free(none.y);
    none.y = NULL;
    none.task = KREIN_TASK_AUTO;
    call free_of = {.kernels = "gaussian(sigma=1..2:2)", .criteria = {"er", "tail"}};
    for (int features = 0; features < 2; features++) {
        free_of.map = features ? "rff" : NULL;
        r = ranked(ctx, &none, &free_of);
        CHECK(r.task == KREIN_TASK_AUTO && r.rankings[0]->best == 1);
        krein_select_report_clear(ctx, &r);
    }
    call sm = {.kernels = "gaussian(sigma=1)", .criteria = {"er", "sm"}};
    CHECK(run(ctx, &none, &sm, &r) != KREIN_OK && r.count == 0);
    CHECK_HAS(krein_message(ctx), "label");
    static const char *const classes[] = {"sm", "fsm"};
    for (int i = 0; i < 2; i++) {
        sm.criteria[1] = classes[i];
        CHECK(run(ctx, &numbers, &sm, &r) == KREIN_EDATA && r.count == 0);
        CHECK_HAS(krein_message(ctx), classes[i]);
        CHECK_HAS(krein_message(ctx), "`task=classification`");
    }
    for (int64_t i = 0; i < same.n; i++) same.y[i] = 1;
    CHECK(run(ctx, &same, &sm, &r) == KREIN_EDATA && r.count == 0);
    CHECK(krein_message(ctx)[0]);
    drop_table(&none);
    drop_table(&numbers);
    drop_table(&same);
}

/* One row, two rows, rows that are all alike: an answer or a sentence, nothing worse. */
static void few_rows(void) {
    static const char *const criteria[] = {"sm",  "kta", "ckta", "fsm",      "er",          "tail",
                                           "loo", "cv",  "gcv",  "evidence", "polarization"};
    for (int64_t n = 1; n <= 4; n++)
        for (int alike = 0; alike < 2; alike++)
            for (int route = 0; route < 3; route++)
                for (int64_t classes = -1; classes < 3; classes += 3)
                    for (size_t k = 0; k < sizeof criteria / sizeof *criteria; k++) {
                        static const char *const maps[] = {NULL, "rff(D=8)", "nystrom(D=2)"};
                        table t = make_table(n, classes);
                        krein_select_report r = KREIN_SIZED(krein_select_report);
                        call c = {.kernels = "gaussian(sigma=1); linear",
                                  .map = maps[route],
                                  .criteria = {criteria[k]}};
                        if (route == 1) c.kernels = "gaussian(sigma=1); laplacian(sigma=1)";
                        for (int64_t i = 0; i < n && classes > 0; i++) t.y[i] = (double)(i % 2);
                        for (int64_t i = 0; i < n * INPUTS && alike; i++) t.x[i] = .5f;
                        krein_status st = run(ctx, &t, &c, &r);
                        if (st != KREIN_OK) {
                            CHECK((st == KREIN_EDATA || st == KREIN_ESPEC) &&
                                  krein_message(ctx)[0]);
                        } else {
                            for (int64_t i = 0; i < r.count; i++) {
                                const krein_select_score *s = r.rankings[0]->scores[i];
                                CHECK(isnan(s->score) == (s->refused != NULL));
                                CHECK(!s->refused || strlen(s->refused) > 10);
                            }
                        }
                        krein_select_report_clear(ctx, &r);
                        drop_table(&t);
                    }
}

static void wrong_calls(void) {
    static const struct {
        const char *kernels, *criterion, *map, *says;
    } cases[] = {{"gaussian(sigma=1)", "smm", NULL, "sm"},
                 {"gaussian(sigma=1)", "sm(r=0)", NULL, "r"},
                 {"gaussian(sigma=1)", "sm(r=2.5)", NULL, "r"},
                 {"gaussian(sigma=1)", "cv(k=1)", NULL, "k"},
                 {"gaussian(sigma=1)", "loo(lambda=0)", NULL, "lambda"},
                 {"gaussian(sigma=1)", "er(t=0)", NULL, "t"},
                 {"gaussian(sigma=1)", "sm(h=2)", NULL, "h"},
                 {"gaussian(sigma=2..1:0)", "sm", NULL, ""},
                 {"gausian(sigma=1)", "sm", NULL, "gaussian"},
                 {"gaussian(sigma=1)", "sm", "rfff", "rff"},
                 {"linear", "sm", "orf", "orf"}};
    table data = make_table(40, 2);
    krein_select_report r = KREIN_SIZED(krein_select_report);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call c = {
            .kernels = cases[i].kernels, .map = cases[i].map, .criteria = {cases[i].criterion}};
        CHECK(run(ctx, &data, &c, &r) == KREIN_ESPEC);
        CHECK(r.count == 0 && r.kernels == NULL);
        CHECK_HAS(krein_message(ctx), cases[i].says);
    }
    call above = {
        .kernels = "gaussian(sigma=1)", .map = "exact", .max_exact = 10, .criteria = {"sm"}};
    CHECK(run(ctx, &data, &above, &r) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`max_exact`");
    /* without a map it is features then */
    above.map = NULL;
    r = ranked(ctx, &data, &above);
    CHECK(r.map == NULL && r.maps[0] && r.rankings[0]->best == 0);
    krein_select_report_clear(ctx, &r);
    drop_table(&data);
}

static int stop(void *user) { return ++*(int *)user > 3; }

/* The caller may stop it, by either route, and nothing is left. */
static void cancelled(void) {
    table data = make_table(60, 2);
    for (int features = 0; features < 2; features++) {
        int asked_for = 0;
        krein_select_report r = KREIN_SIZED(krein_select_report);
        krein_ctx_options o;
        krein_ctx *on = NULL;
        call c = {.kernels = "gaussian(sigma=0.1..10:40)",
                  .map = features ? "rff(D=8)" : NULL,
                  .criteria = {"loo"}};
        krein_ctx_options_init(&o);
        o.threads = 1;
        o.cancel = stop;
        o.user = &asked_for;
        CHECK(krein_ctx_create(&o, &on) == KREIN_OK);
        CHECK(run(on, &data, &c, &r) == KREIN_ECANCEL && r.count == 0);
        krein_ctx_destroy(on);
    }
    drop_table(&data);
}

/* ---- memory ------------------------------------------------------------- */

static void every_allocation_fails(void) {
    table data = make_table(30, 3);
    test_memory m;
    krein_ctx *on = test_ctx_with(1, &m);
    for (int route = 0; route < 3; route++) {
        static const char *const maps[] = {NULL, "rff(D=8)", "nystrom(D=6)"};
        call c = {
            .kernels = "gaussian(sigma=1..2:2); tanh(c=-1)",
            .map = maps[route],
            .criteria = {"sm(h=0.1)", "ckta", "fsm", "er", "loo", "cv(k=2)", "gcv", "evidence"}};
        if (route == 1) c.kernels = "gaussian(sigma=1..2:2); laplacian(sigma=1)";
        TEST_EVERY_ALLOCATION(&m, k) {
            krein_select_report r = KREIN_SIZED(krein_select_report);
            krein_status st = run(on, &data, &c, &r);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
            krein_select_report_clear(on, &r);
            if (test_sanitized()) k += 4; /* every fifth */
        }
    }
    krein_ctx_destroy(on);
    drop_table(&data);
}

/* Whatever the budget is: an answer (true), or the sentence that says how to get one before any
 * work is done; never out of memory half-way. */
static bool fits(const table *t, const call *c, double bytes, int threads) {
    krein_ctx *on = test_ctx_small(threads, (uint64_t)bytes);
    krein_select_report r = KREIN_SIZED(krein_select_report);
    krein_status st = run(on, t, c, &r);
    const char *says = krein_message(on);
    if (st != KREIN_OK && (st != KREIN_EMEMORY || !strstr(says, "scoring a kernel") ||
                           !strstr(says, "`max_memory`"))) {
        printf("%s, %s, %.4g bytes: %s\n", c->criteria[0], c->map ? c->map : "exact", bytes, says);
        test_bad++;
    }
    CHECK((double)krein_ctx_peak_bytes(on) <= bytes);
    krein_select_report_clear(on, &r);
    krein_ctx_destroy(on);
    return st == KREIN_OK;
}

/* Down to the least budget that is enough, within a hundredth. */
static void budgets(void) {
    static const call cases[] = {{.criteria = {"sm", "ckta"}},
                                 {.criteria = {"loo", "er", "evidence"}},
                                 {.criteria = {"er", "tail"}},
                                 {.criteria = {"loo(lambda=0.1)", "fsm"}},
                                 {.criteria = {"cv(lambda=0.1)"}},
                                 {.criteria = {"cv", "gcv"}},
                                 {.map = "rff(D=150)", .criteria = {"sm", "fsm"}},
                                 {.map = "rff(D=150)", .criteria = {"loo", "evidence", "gcv"}},
                                 {.map = "orf(D=200)", .criteria = {"cv(k=4)", "kta"}},
                                 {.map = "nystrom(D=100)", .criteria = {"ckta", "er", "loo"}}};
    table data = make_table(200, 3); /* more than a tile of 192 */
    for (int64_t i = 0; i < KREIN__COUNT(cases); i++)
        for (int threads = 1; threads <= 2; threads++) {
            if (test_sanitized() && i % 2 == threads % 2) continue;
            call c = cases[i];
            double low = 5e5, high = 1e8;
            c.kernels = "gaussian(sigma=0.5..2:3)";
            CHECK(!fits(&data, &c, low, threads));
            CHECK(fits(&data, &c, high, threads));
            while (high > 1.03 * low) {
                double middle = sqrt(low * high);
                *(fits(&data, &c, middle, threads) ? &high : &low) = middle;
            }
        }
    drop_table(&data);
}

/* What is promised is enough for one candidate, and not far from what it takes. */
static void promises(void) {
    static const char *const criteria[] = {"sm", "ckta", "fsm",     "er", "loo", "loo(lambda=0.1)",
                                           "cv", "gcv",  "evidence"};
    problem p = make_problem(500, 3, -1, 1);
    krein_probe s = probe_of(&p);
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++) {
        krein_criterion c = criterion_of(criteria[i]);
        krein_scoring scoring;
        krein_kernel *k = NULL;
        krein_scored v = {0};
        CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1)", &k) == KREIN_OK);
        krein__scoring_begin(&c, 1, p.n, &scoring);
        double bytes = krein__score_exact_bytes(k, p.n, INPUTS, p.k, p.classes + 1, &scoring),
               shared = krein__gram_share_bytes(&k, 1, p.n, INPUTS, false, 1);
        krein_ctx *on = test_ctx(1);
        double before = (double)krein_ctx_peak_bytes(on);
        CHECK(krein__score_exact(on, &k, 1, &s, &scoring, 0, NULL, &v) == KREIN_OK);
        double took = (double)krein_ctx_peak_bytes(on) - before;
        if (!(took <= bytes + shared && bytes < 4 * took)) {
            printf("%s: took %.3g, promised %.3g and %.3g\n", criteria[i], took, bytes, shared);
            test_bad++;
        }
        krein__scored_clear(on, &v);
        krein_ctx_destroy(on);
        krein__kernel_destroy(ctx, k);
        krein__criterion_clear(ctx, &c);
    }
    drop_problem(&p);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(features_that_are_the_kernel);
    RUN(signed_maps);
    RUN(any_way_the_same);
    RUN(alone_and_together);
    RUN(order_and_winner);
    RUN(what_is_better);
    RUN(scores_that_are_no_numbers);
    RUN(time_limit);
    RUN(refused_beside_good);
    RUN(labels);
    RUN(few_rows);
    RUN(wrong_calls);
    RUN(cancelled);
    RUN(every_allocation_fails);
    RUN(budgets);
    RUN(promises);
    krein_ctx_destroy(ctx);
    return DONE();
}
