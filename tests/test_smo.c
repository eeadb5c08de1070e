/* test_smo.c -- support vector machines on a kernel matrix: against LIBSVM where all rows have one
 * bound, rows that are repeated, optimality conditions with bounds of all sizes, indefinite
 * kernels, little memory, time. */
#include "libsvm.h"

#include "solve/smo.h"

static krein_ctx *ctx;

/* ---- problems ------------------------------------------------------------- */

enum { CLASSES, NUMBERS, KINDS };

/* A gaussian kernel of rows in three columns (less another one: indefinite). Targets with noise. */
typedef struct problem {
    int64_t n;
    double *K, *y, *cost, *add;
    int64_t *row;
    bool regression;
    double epsilon;
} problem;

static double near(int64_t i, int64_t j, double sigma) {
    double sum = 0;
    for (int c = 0; c < 3; c++) sum += pow(det(i, c, .4) - det(j, c, .4), 2);
    return exp(-sum / (2 * sigma * sigma));
}
static problem make_problem(int64_t n, int kind, double C, double minus) {
    problem p = {.n = n,
                 .K = test_new(n * n, 8),
                 .y = test_new(n, 8),
                 .cost = test_new(n, 8),
                 .row = test_new(n, 8),
                 .regression = kind == NUMBERS,
                 .epsilon = kind == NUMBERS ? .2 : 0};
    for (int64_t i = 0; i < n; i++) {
        double f = det(i, 0, .4) + .6 * det(i, 1, .4) * det(i, 2, .4) + .4 * det(i, 9, 1.3);
        p.y[i] = kind == NUMBERS ? 2 * f : f > .1 ? 1 : -1;
        p.cost[i] = C;
        p.row[i] = i;
        for (int64_t j = 0; j < n; j++) {
            p.K[i * n + j] = near(i, j, .6);
            if (minus > 0) p.K[i * n + j] -= minus * near(i, j, 1.7);
        }
    }
    return p;
}
static void drop(problem *p) {
    free(p->K);
    free(p->y);
    free(p->cost);
    free(p->add);
    free(p->row);
}
static krein_smo_machine machine_of(const problem *p, double tol) {
    return (krein_smo_machine){.m = p->n,
                               .row = p->row,
                               .y = p->y,
                               .cost = p->cost,
                               .add = p->add,
                               .regression = p->regression,
                               .epsilon = p->epsilon,
                               .tol = tol,
                               .alpha = test_new(p->n, 8)};
}
/* Trained with room for so many kernel rows; 0: as many as there are. */
static krein_smo_machine solved(const problem *p, double tol, int64_t rows) {
    krein_smo *s = NULL;
    krein_smo_machine m = machine_of(p, tol);
    if (rows > 0)
        CHECK(krein__smo_begin_with(ctx, p->n, rows, &s) == KREIN_OK);
    else
        CHECK(krein__smo_begin(ctx, p->n, &s) == KREIN_OK);
    CHECK(krein__smo(ctx, s, p->n, p->K, &m) == KREIN_OK);
    krein__smo_end(s);
    return m;
}

/* f(x_i) without the intercept, of kernel values as the solver reads them. */
static double value(const problem *p, const double *alpha, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < p->n; j++) {
        double k = p->K[i * p->n + j] + (p->add && i == j ? p->add[i] : 0);
        sum += alpha[j] * (double)(float)k;
    }
    return sum;
}
static double dual(const problem *p, const double *alpha) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += alpha[i] * value(p, alpha, i) / 2 - p->y[i] * alpha[i] + p->epsilon * fabs(alpha[i]);
    return sum;
}

/* ---- LIBSVM ----------------------------------------------------------------- */

static void as_libsvm(void) {
    static const double costs[] = {.05, 2, 200};
    double alpha[150];
    if (!test_svm_there) SKIP("LIBSVM is not there");
    for (int c = 0; c < 6; c++) {
        problem p = make_problem(150, c % 2, costs[c / 2], 0);
        krein_smo_machine m = solved(&p, 1e-8, 0);
        test_svm t = {p.regression, p.n, p.K, p.y, costs[c / 2], p.epsilon, 1e-8, alpha, 0, 0};
        CHECK(test_svm_train(&t) && !m.unfinished);
        CHECK_REL(m.objective, t.objective, 1e-7);
        CHECK_ABS(m.intercept, t.b, 1e-5);
        for (int64_t i = 0; i < p.n; i++)
            CHECK_ABS(value(&p, m.alpha, i), value(&p, alpha, i), 1e-5);
        free(m.alpha);
        drop(&p);
    }
}

/* ---- optimality ------------------------------------------------------------- */

/* Every row is where its margin wants it; the gap to the primal, which is a bound, is small. */
static void check_conditions(const problem *p, const krein_smo_machine *m, double tol) {
    double total = 0, size = 0, primal = 0, costs = 0;
    int64_t support = 0;
    CHECK(!m->unfinished && m->violation <= m->tol);
    for (int64_t i = 0; i < p->n; i++) {
        double a = m->alpha[i], f = value(p, m->alpha, i) + m->intercept, r = p->y[i] - f;
        double least = p->regression || p->y[i] < 0 ? -p->cost[i] : 0;
        double most = p->regression || p->y[i] > 0 ? p->cost[i] : 0;
        CHECK(a >= least && a <= most);
        /* a residual pulls the coefficient up to its bound or down to it */
        if (a < most) CHECK(r <= (a < 0 ? -1 : 1) * p->epsilon + tol);
        if (a > least) CHECK(r >= (a > 0 ? 1 : -1) * p->epsilon - tol);
        total += a;
        size += fabs(a);
        support += a != 0;
        primal += a * value(p, m->alpha, i) / 2;
        double miss = p->regression ? fabs(r) - p->epsilon : p->y[i] * r;
        if (!p->add) primal += p->cost[i] * fmax(0, miss), costs += p->cost[i];
    }
    CHECK(support == m->support);
    CHECK_ABS(total, 0, 1e-10 * size);
    CHECK_ABS(m->objective, dual(p, m->alpha), 1e-9 * (1 + size));
    if (!p->add) CHECK_ABS(primal, -m->objective, tol * costs + 1e-6 * primal);
}
/* Bounds over four orders of magnitude, some rows without any say. */
static void bounds_of_all_sizes(void) {
    static const double tols[] = {1e-3, 1e-6};
    for (int c = 0; c < 12; c++) {
        problem p = make_problem(c / 4 == 2 ? 20 : 230, c % 2, 1, 0);
        for (int64_t i = 0; i < p.n; i++)
            p.cost[i] = i % 7 == 3 ? 0 : pow(10, -2 + 4 * fabs(det(i, 5, 2))) * (c / 4 ? 30 : .1);
        krein_smo_machine m = solved(&p, tols[c / 2 % 2], 0);
        check_conditions(&p, &m, 2 * tols[c / 2 % 2]);
        for (int64_t i = 3; i < p.n; i += 7) CHECK(m.alpha[i] == 0);
        free(m.alpha);
        drop(&p);
    }
}
/* Squared losses: something on the diagonal, and no bounds. */
static void without_bounds(void) {
    problem p = make_problem(200, CLASSES, INFINITY, 0);
    p.add = test_new(p.n, 8);
    for (int64_t i = 0; i < p.n; i++) p.add[i] = .01 + fabs(det(i, 6, 2));
    krein_smo_machine m = solved(&p, 1e-7, 0);
    check_conditions(&p, &m, 2e-6);
    /* a minimum: no pair of coefficients does better */
    double least = dual(&p, m.alpha);
    for (int64_t i = 0; i + 1 < p.n; i++) {
        if (!(m.alpha[i] * p.y[i] > .01 && m.alpha[i + 1] * p.y[i + 1] > .01)) continue;
        for (int k = -1; k <= 1; k += 2) {
            m.alpha[i] += .01 * k;
            m.alpha[i + 1] -= .01 * k;
            CHECK(dual(&p, m.alpha) > least);
            m.alpha[i] -= .01 * k;
            m.alpha[i + 1] += .01 * k;
        }
    }
    free(m.alpha);
    drop(&p);
}

/* A row of bound 3 C is three rows of bound C. */
static void bounds_are_repeated_rows(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        enum { N = 120 };
        problem p = make_problem(N, kind, 1, 0), q = make_problem(3 * N, kind, 1.5, 0);
        int64_t from[3 * N];
        q.n = 0;
        for (int64_t i = 0; i < N; i++) {
            p.cost[i] = 1.5 * (double)(i * 5 % 4);
            for (int64_t k = 0; k < i * 5 % 4; k++) from[q.n++] = i;
        }
        for (int64_t i = 0; i < q.n; i++) {
            q.y[i] = p.y[from[i]];
            for (int64_t j = 0; j < q.n; j++) q.K[i * q.n + j] = p.K[from[i] * N + from[j]];
        }
        krein_smo_machine a = solved(&p, 1e-9, 0), b = solved(&q, 1e-9, 0);
        double sum[N] = {0};
        for (int64_t i = 0; i < q.n; i++) sum[from[i]] += b.alpha[i];
        CHECK_REL(a.objective, b.objective, 1e-8);
        CHECK_ABS(a.intercept, b.intercept, 1e-6);
        for (int64_t i = 0; i < N; i++) CHECK_ABS(value(&p, a.alpha, i), value(&p, sum, i), 1e-6);
        free(a.alpha);
        free(b.alpha);
        drop(&p);
        drop(&q);
    }
}

/* Some of the rows of a matrix, in any order: those of a matrix of their own. */
static void rows_of_a_matrix(void) {
    enum { N = 150, M = 60 };
    problem all = make_problem(N, CLASSES, 2, 0), own = make_problem(M, CLASSES, 2, 0);
    double y[M];
    for (int64_t i = 0; i < M; i++) {
        all.row[i] = (i * 37 + 11) % N;
        own.y[i] = y[i] = all.y[all.row[i]];
        for (int64_t j = 0; j < M; j++)
            own.K[i * M + j] = all.K[(i * 37 + 11) % N * N + (j * 37 + 11) % N];
    }
    krein_smo_machine a = machine_of(&all, 1e-4), b = solved(&own, 1e-4, 0);
    krein_smo *s = NULL;
    a.m = M;
    a.y = y;
    CHECK(krein__smo_begin(ctx, N, &s) == KREIN_OK);
    CHECK(krein__smo(ctx, s, N, all.K, &a) == KREIN_OK);
    CHECK(memcmp(a.alpha, b.alpha, M * sizeof *a.alpha) == 0 && a.intercept == b.intercept);
    krein__smo_end(s);
    free(a.alpha);
    free(b.alpha);
    drop(&all);
    drop(&own);
}

/* As it is: a stationary point, at bounds where the curvature is negative; the same as LIBSVM's
 * conditions ask for. */
static void indefinite(void) {
    for (int c = 0; c < 4; c++) {
        problem p = make_problem(120, c % 2, c / 2 ? .5 : 5, .8);
        krein_smo_machine m = solved(&p, 1e-6, 0);
        check_conditions(&p, &m, 1e-5);
        CHECK(m.objective < 0);
        free(m.alpha);
        drop(&p);
    }
}

/* ---- shrinking, kernel rows --------------------------------------------------- */

/* Many rows that end at a bound and leave, and come back: the conditions hold for all of them; and
 * with room for two kernel rows every bit is the same. */
static void little_room(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        problem p = make_problem(1300, kind, kind == CLASSES ? 60 : 20, 0);
        krein_smo_machine a = solved(&p, 1e-4, 0);
        CHECK(a.iterations > 2000);
        check_conditions(&p, &a, 2e-4);
        static const int64_t rows[] = {2, 3, 40};
        for (int k = 0; k < 3; k++) {
            krein_smo_machine b = solved(&p, 1e-4, rows[k]);
            CHECK(memcmp(a.alpha, b.alpha, (size_t)p.n * sizeof *a.alpha) == 0);
            CHECK(a.intercept == b.intercept && a.iterations == b.iterations);
            free(b.alpha);
        }
        free(a.alpha);
        drop(&p);
    }
}

/* Kernel values beyond float32: another unit of the coefficients, and of the bounds. */
static void any_unit(void) {
    static const int power[] = {-400, 400};
    for (int kind = 0; kind < KINDS; kind++) {
        problem p = make_problem(60, kind, 1, 0);
        krein_smo_machine a = solved(&p, 1e-5, 0);
        for (int k = 0; k < 2; k++) {
            problem q = make_problem(60, kind, ldexp(1, -power[k]), 0);
            for (int64_t i = 0; i < p.n * p.n; i++) q.K[i] = ldexp(p.K[i], power[k]);
            krein_smo_machine b = solved(&q, 1e-5, 0);
            for (int64_t i = 0; i < p.n; i++) CHECK(ldexp(b.alpha[i], power[k]) == a.alpha[i]);
            CHECK(b.intercept == a.intercept && b.iterations == a.iterations);
            free(b.alpha);
            drop(&q);
        }
        CHECK(a.support > 10);
        free(a.alpha);
        drop(&p);
    }
}
/* Squared distances with a minus sign: nothing on the diagonal to take a unit from, and decreases
 * of the objective below what float32 knows. */
static void tiny_steps(void) {
    problem p = make_problem(40, CLASSES, 3e-35, 0);
    for (int64_t i = 0; i < p.n * p.n; i++) p.K[i] = 1e35 * log(p.K[i]);
    krein_smo_machine m = solved(&p, 1e-7, 0);
    CHECK(!m.unfinished && m.support > 5 && m.violation <= 1e-7 && m.iterations > 20);
    free(m.alpha);
    drop(&p);
}

/* ---- little in them ------------------------------------------------------------ */

static void edges(void) {
    problem p = make_problem(2, CLASSES, 3, 0);
    p.y[0] = 1, p.y[1] = -1;
    krein_smo_machine m = solved(&p, 1e-9, 0);
    double step = fmin(3, 2 / (2 - 2 * p.K[1]));
    CHECK_REL(m.alpha[0], step, 1e-6);
    CHECK(m.alpha[1] == -m.alpha[0]);
    CHECK_ABS(m.intercept, 0, 1e-6);
    free(m.alpha);
    p.y[1] = 1; /* nothing to tell apart */
    m = solved(&p, 1e-9, 0);
    CHECK(m.alpha[0] == 0 && m.alpha[1] == 0 && m.intercept == 1 && m.objective == 0);
    free(m.alpha);
    p.regression = true;
    p.epsilon = .5;
    p.y[0] = 3, p.y[1] = 3.5; /* within the tube */
    m = solved(&p, 1e-9, 0);
    CHECK(m.support == 0 && m.intercept > 3 - 1e-9 && m.intercept < 3.5 + 1e-9);
    free(m.alpha);
    p.n = 1;
    m = solved(&p, 1e-9, 0);
    CHECK(m.support == 0);
    CHECK_ABS(m.intercept, 3, 1e-12);
    free(m.alpha);
    p.n = 0;
    m = solved(&p, 1e-9, 0);
    CHECK(m.support == 0 && m.intercept == 0 && !m.unfinished);
    free(m.alpha);
    p.n = 2;
    drop(&p);

    /* equal rows with other labels: no curvature, all at their bounds */
    p = make_problem(40, CLASSES, 2, 0);
    for (int64_t i = 0; i < p.n * p.n; i++) p.K[i] = 1;
    for (int64_t i = 0; i < p.n; i++) p.y[i] = i % 2 ? 1 : -1;
    m = solved(&p, 1e-9, 0);
    CHECK(!m.unfinished);
    CHECK_REL(m.objective, -80, 1e-12);
    free(m.alpha);
    drop(&p);
}

/* ---- time, memory ---------------------------------------------------------------- */

static int countdown;
static int cancel(void *user) {
    (void)user;
    return countdown-- <= 0;
}
static void deadline_and_cancel(void) {
    problem p = make_problem(1200, NUMBERS, 1e6, 0);
    krein_smo_machine m = machine_of(&p, 1e-9);
    krein_ctx *whole = ctx;
    krein_ctx_options o;
    krein_smo *s = NULL;
    p.epsilon = m.epsilon = 0;
    m.deadline = krein__clock() - 1;
    CHECK(krein__smo_begin(ctx, p.n, &s) == KREIN_OK);
    CHECK(krein__smo(ctx, s, p.n, p.K, &m) == KREIN_OK);
    CHECK(m.unfinished && m.violation > m.tol && m.objective < 0 && m.iterations < 100000);
    CHECK_REL(m.objective, dual(&p, m.alpha), 1e-6); /* what it has is as it says */
    m.deadline = 0;
    krein_ctx_options_init(&o);
    o.threads = 1;
    o.cancel = cancel;
    CHECK(krein_ctx_create(&o, &ctx) == KREIN_OK);
    for (countdown = 0; countdown < 3; countdown++) {
        int polls = countdown;
        CHECK(krein__smo(ctx, s, p.n, p.K, &m) == KREIN_ECANCEL);
        CHECK(countdown == -1);
        countdown = polls;
    }
    krein_ctx_destroy(ctx);
    ctx = whole;
    krein__smo_end(s);
    free(m.alpha);
    drop(&p);
}

static void memory_may_fail(void) {
    test_memory memory;
    krein_ctx *whole = ctx;
    ctx = test_ctx_with(1, &memory);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_smo *s = NULL;
        krein_status st = krein__smo_begin(ctx, 50, &s);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        CHECK((s != NULL) == (st == KREIN_OK));
        CHECK((double)atomic_load(&ctx->held) <= krein__smo_bytes(50));
        krein__smo_end(s);
        CHECK(atomic_load(&ctx->held) == 0);
    }
    krein_ctx_destroy(ctx);
    ctx = whole;
    for (int64_t n = 1; n < 4000; n = 3 * n + 1) {
        krein_smo *s = NULL;
        CHECK(krein__smo_begin(ctx, n, &s) == KREIN_OK);
        CHECK((double)atomic_load(&ctx->held) <= krein__smo_bytes(n));
        krein__smo_end(s);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(as_libsvm);
    RUN(bounds_of_all_sizes);
    RUN(without_bounds);
    RUN(bounds_are_repeated_rows);
    RUN(rows_of_a_matrix);
    RUN(indefinite);
    RUN(little_room);
    RUN(any_unit);
    RUN(tiny_steps);
    RUN(edges);
    RUN(deadline_and_cancel);
    RUN(memory_may_fail);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
