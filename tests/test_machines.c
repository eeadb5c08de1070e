/* test_machines.c -- support vector machines on features: objectives of LIBLINEAR (no intercept)
 * and LIBSVM (free intercept), optimality conditions, gaps that bound, bits, starts, and problems
 * that have little in them. */
#include "liblinear.h"
#include "libsvm.h"

#include "solve/conjugate.h"

static krein_ctx *ctx;

enum { DCD, SSN, BOTH, WAYS };
static const char *const WAY[] = {"dcd", "ssn", "both"};
static const krein_loss LOSSES[] = {KREIN_LOSS_HINGE, KREIN_LOSS_HINGE2, KREIN_LOSS_EPSILON};
static const char *const LOSS[] = {"hinge", "hinge2", "epsilon"};
static const double EPSILON = .15;

/* ---- problems ------------------------------------------------------------- */

typedef struct problem {
    int64_t n, D;
    float *z;
    double *y, *weight; /* weight: NULL, all 1 */
    krein_loss loss;
    bool intercept;
    double C;
} problem;

/* Features whose spectrum falls as that of kernel features does; labels with noise. */
static problem make_problem(int64_t n, int64_t D, krein_loss loss, bool intercept, double C) {
    problem p = {
        n,         D, test_new(n * D, sizeof(float)), test_new(n, sizeof(double)), NULL, loss,
        intercept, C};
    test_random_state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        double f = .4;
        for (int64_t j = 0; j < D; j++) {
            double x = test_random() * pow(1 + (double)j, -.7);
            p.z[i * D + j] = (float)x;
            f += (j % 2 ? -2 : 2) * x;
        }
        f += .7 * test_random();
        p.y[i] = loss == KREIN_LOSS_EPSILON ? (double)(float)f : f > 0 ? 1 : -1;
    }
    return p;
}
static void drop(problem *p) {
    free(p->z);
    free(p->y);
    free(p->weight);
}

/* Features that are kept, or made again for each visit; the state is the problem. */
enum { ROWS = 64 };
static krein_status copy_block(void *state, int64_t block, float *out) {
    const problem *p = state;
    int64_t n = krein__min(ROWS, p->n - block * ROWS);
    memcpy(out, p->z + block * ROWS * p->D, (size_t)(n * p->D) * sizeof *out);
    return KREIN_OK;
}
static krein_features features_of(problem *p, bool kept) {
    return (krein_features){.ctx = ctx,
                            .n = p->n,
                            .D = p->D,
                            .rows = krein__min(ROWS, krein__max(1, p->n)),
                            .blocks = (p->n + ROWS - 1) / ROWS,
                            .kept = kept ? p->z : NULL,
                            .made = kept ? NULL : test_new(ROWS * p->D, sizeof(float)),
                            .at = -1,
                            .make = copy_block,
                            .state = p};
}
static krein_machine machine_of(const problem *p) {
    krein_machine m = {
        .n = p->n, .dual = test_new(p->n, sizeof(krein_dual)), .w = test_new(p->D, sizeof(double))};
    for (int64_t i = 0; i < p->n; i++)
        m.dual[i] =
            (krein_dual){(int32_t)i, (float)p->y[i], p->C * (p->weight ? p->weight[i] : 1), 0};
    return m;
}
static void drop_machine(krein_machine *m) {
    free(m->dual);
    free(m->w);
}

static krein_status solve(int way, krein_features *z, krein_machine *m, int64_t machines,
                          const krein_machine_options *o, double work) {
    if (way == DCD) return krein__dcd(z, m, machines, work, o);
    if (way == BOTH) return krein__machines_train(z, m, machines, o);
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < machines && st == KREIN_OK; i++) st = krein__ssn(z, &m[i], o);
    return st;
}
static krein_machine_options options_of(const problem *p, double tol) {
    return (krein_machine_options){.loss = p->loss,
                                   .epsilon = p->loss == KREIN_LOSS_EPSILON ? EPSILON : 0,
                                   .intercept = p->intercept,
                                   .tol = tol,
                                   .seed = 3};
}
static krein_machine solved(problem *p, int way, double tol, double work) {
    krein_features z = features_of(p, true);
    krein_machine m = machine_of(p);
    krein_machine_options o = options_of(p, tol);
    krein_status st = solve(way, &z, &m, 1, &o, work);
    if (st != KREIN_OK) printf("%s, %s: %s\n", LOSS[p->loss], WAY[way], krein_message(ctx));
    CHECK(st == KREIN_OK);
    return m;
}

/* ---- values in double ----------------------------------------------------- */

static double score_of(const problem *p, const double *w, double b, int64_t i) {
    for (int64_t j = 0; j < p->D; j++) b += w[j] * (double)p->z[i * p->D + j];
    return b;
}
static double loss_of(const problem *p, double y, double f) {
    if (p->loss == KREIN_LOSS_EPSILON) return fmax(0, fabs(y - f) - EPSILON);
    double miss = fmax(0, 1 - y * f);
    return p->loss == KREIN_LOSS_HINGE ? miss : miss * miss;
}
static double objective(const problem *p, const double *w, double b) {
    double sum = 0;
    for (int64_t j = 0; j < p->D; j++) sum += w[j] * w[j] / 2;
    for (int64_t i = 0; i < p->n; i++)
        sum += p->C * (p->weight ? p->weight[i] : 1) * loss_of(p, p->y[i], score_of(p, w, b, i));
    return sum;
}

/* ---- oracles -------------------------------------------------------------- */

/* LIBSVM on the matrix of inner products; the squared hinge as 1/(2C) on its diagonal. Without an
 * intercept: with the mirror image of every row, which makes it 0, and half the C. */
static bool libsvm_objective(const problem *p, double *value) {
    int64_t n = p->intercept ? p->n : 2 * p->n;
    bool squared = p->loss == KREIN_LOSS_HINGE2;
    double C = p->intercept ? p->C : p->C / 2;
    double *w = test_new(p->D, sizeof *w), *y = test_new(n, sizeof *y);
    double *K = test_new(n * n, sizeof *K), *alpha = test_new(n, sizeof *alpha);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i < p->n ? p->y[i] : -p->y[i - p->n];
        for (int64_t k = 0; k < n; k++) {
            const float *a = p->z + i % p->n * p->D, *b = p->z + k % p->n * p->D;
            double sum = 0;
            for (int64_t j = 0; j < p->D; j++) sum += (double)a[j] * (double)b[j];
            if ((i < p->n) != (k < p->n)) sum = -sum;
            if (squared && i == k) sum += 1 / (2 * C);
            K[i * n + k] = sum;
        }
    }
    test_svm t = {.regression = p->loss == KREIN_LOSS_EPSILON,
                  .n = n,
                  .K = K,
                  .y = y,
                  .C = squared ? 1e9 : C,
                  .epsilon = EPSILON,
                  .tol = 1e-6,
                  .alpha = alpha};
    bool there = test_svm_train(&t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p->D; j++)
            w[j] += (i < p->n ? 1 : -1) * alpha[i] * (double)p->z[i % p->n * p->D + j];
    *value = objective(p, w, p->intercept ? t.b : 0);
    free(w);
    free(y);
    free(K);
    free(alpha);
    return there;
}

static bool liblinear_objective(const problem *p, double *value) {
    static const int solver[] = {L2R_L1LOSS_SVC_DUAL, L2R_L2LOSS_SVC_DUAL, L2R_L1LOSS_SVR_DUAL};
    test_linear t = {.solver = solver[p->loss],
                     .C = p->C,
                     .epsilon = EPSILON,
                     .n = p->n,
                     .D = p->D,
                     .x = p->z,
                     .y = p->y};
    double *w = test_new(p->D, sizeof *w);
    bool there = test_linear_train(&t, 1e-7, w);
    *value = objective(p, w, 0);
    free(w);
    return there;
}

/* LIBLINEAR ends after 1,000 passes, short of the optimum where C is large. */
static void reaches_the_oracles(void) {
    static const double costs[] = {1e-3, 1, 100};
    bool any = false;
    for (int c = 0; c < 18; c++) {
        problem p = make_problem(150, c % 2 ? 40 : 10, LOSSES[c / 6], c % 2, costs[c / 2 % 3]);
        double want, other;
        if (!libsvm_objective(&p, &want)) {
            drop(&p);
            SKIP("LIBSVM is not there");
        }
        other = want;
        if (!p.intercept) any |= liblinear_objective(&p, &other);
        for (int way = 0; way < WAYS; way++) {
            krein_machine m = solved(&p, way, 1e-5, 1e5);
            double got = objective(&p, m.w, m.b);
            if (fabs(got / want - 1) > 1e-4)
                printf("%s, %s, b %d, C %g\n", LOSS[p.loss], WAY[way], p.intercept, p.C);
            CHECK(m.converged);
            CHECK_REL(got, want, 1e-4);
            CHECK(got <= other * (1 + 1e-4) && got >= other * (1 - (p.C > 1 ? 1e-2 : 1e-4)));
            if (!p.intercept) CHECK(m.b == 0);
            drop_machine(&m);
        }
        drop(&p);
    }
    if (!any) SKIP("LIBLINEAR is not there");
}

/* Weights 0, 1, 2, 3 are rows that are left out, or there so many times. */
static void weights_are_repeated_rows(void) {
    for (int c = 0; c < 12; c++) {
        problem p = make_problem(120, 12, LOSSES[c / 4], c % 2, c & 2 ? 30 : .05);
        problem q = p;
        q.n = 0;
        q.z = test_new(3 * p.n * p.D, sizeof(float));
        q.y = test_new(3 * p.n, sizeof(double));
        p.weight = test_new(p.n, sizeof(double));
        for (int64_t i = 0; i < p.n; i++) {
            p.weight[i] = (double)(i * 7 % 4);
            for (int r = 0; r < i * 7 % 4; r++, q.n++) {
                memcpy(q.z + q.n * p.D, p.z + i * p.D, (size_t)p.D * sizeof(float));
                q.y[q.n] = p.y[i];
            }
        }
        krein_machine b = solved(&q, BOTH, 1e-5, 0);
        for (int way = 0; way < WAYS; way++) {
            krein_machine a = solved(&p, way, 1e-5, 1e5);
            CHECK(a.converged && b.converged);
            CHECK_REL(objective(&p, a.w, a.b), objective(&q, b.w, b.b), 3e-5);
            CHECK_REL(objective(&q, a.w, a.b), objective(&p, a.w, a.b), 1e-12);
            drop_machine(&a);
        }
        drop_machine(&b);
        drop(&p);
        drop(&q);
    }
}

/* ---- conditions ------------------------------------------------------------ */

/* gap = sum of Fenchel-Young terms >= 0, + 1/2 |w - sum beta z|^2, and what sum beta leaves. */
static void check_conditions(const problem *p, const krein_machine *m, int way) {
    double gap = m->primal - m->dual_value, young = 0, total = 0, difference = 0, size = 0;
    double epsilon = p->loss == KREIN_LOSS_EPSILON ? EPSILON : 0;
    double *sum = test_new(p->D, sizeof *sum);
    int64_t support = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const krein_dual *d = &m->dual[i];
        double f = score_of(p, m->w, m->b, i), r = p->y[i] - f, a = d->beta;
        krein_box box = krein__box(p->loss, d);
        CHECK(a >= box.low && a <= box.high);
        double delta = p->loss == KREIN_LOSS_HINGE2 ? 1 / (2 * d->cost) : 0;
        double term =
            d->cost * loss_of(p, p->y[i], f) + epsilon * fabs(a) + delta * a * a / 2 - a * r;
        CHECK(term >= -1e-6 * d->cost);
        young += term;
        total += a;
        size += fabs(a);
        support += a != 0;
        for (int64_t j = 0; j < p->D; j++) sum[j] += a * (double)p->z[i * p->D + j];
    }
    for (int64_t j = 0; j < p->D; j++) difference += pow(m->w[j] - sum[j], 2) / 2;
    CHECK(m->support == support);
    CHECK(gap >= 0 && gap <= 1e-5 * m->primal);
    double rounding = 1e-6 * m->primal;
    CHECK(young <= gap + rounding && difference <= gap + rounding);
    if (p->intercept) CHECK(fabs(total) <= 1e-4 * size);
    if (way == DCD) /* steps in float32 */
        for (int64_t j = 0; j < p->D; j++) CHECK_ABS(m->w[j], sum[j], 1e-4 * size);
    CHECK_REL(m->primal, objective(p, m->w, m->b), 1e-5);
    free(sum);
}
static void optimal(void) {
    static const double costs[] = {.01, 1, 300};
    for (int c = 0; c < 18; c++) {
        problem p = make_problem(150, 30, LOSSES[c / 6], c % 2, costs[c / 2 % 3]);
        p.weight = test_new(p.n, sizeof(double));
        for (int64_t i = 0; i < p.n; i++) p.weight[i] = .5 + (double)(i % 3);
        for (int way = 0; way < WAYS; way++) {
            krein_machine m = solved(&p, way, 1e-5, 1e5);
            CHECK(m.converged);
            check_conditions(&p, &m, way);
            drop_machine(&m);
        }
        drop(&p);
    }
}

/* Wherever it stops, the optimum lies between what it says; the primal is that of its w. */
static void gap_is_honest(void) {
    static const double tol[] = {.5, .1, 1e-2, 1e-3}, work[] = {0, 1, 3, 10};
    for (int c = 0; c < 18; c++) {
        problem p = make_problem(150, 25, LOSSES[c / 6], c % 2, c / 2 % 3 ? c / 2 % 3 * 10 : .1);
        krein_machine best = solved(&p, BOTH, 1e-6, 0);
        double least = objective(&p, best.w, best.b), unsure = best.primal - best.dual_value;
        drop_machine(&best);
        for (int k = 0; k < 16; k++) {
            if (k % 4 != k / 4 && k / 4 != 1) continue;
            krein_machine m = solved(&p, k / 4 == 0 ? SSN : DCD, tol[k % 4], work[k / 4]);
            double here = objective(&p, m.w, m.b), rounding = 1e-5 * here;
            CHECK_ABS(m.primal, here, rounding);
            CHECK(m.primal >= m.dual_value);
            CHECK(here >= least - unsure - rounding);
            CHECK(m.dual_value <= least + rounding);
            if (m.converged) CHECK(m.primal - m.dual_value <= tol[k % 4] * m.primal);
            drop_machine(&m);
        }
        drop(&p);
    }
}

/* Targets of very different sizes in one call: each converges by its own. */
static void machines_are_independent(void) {
    for (int intercept = 0; intercept < 2; intercept++) {
        problem p = make_problem(150, 20, KREIN_LOSS_EPSILON, intercept, 1);
        krein_features z = features_of(&p, true);
        krein_machine m[3];
        krein_machine_options o = options_of(&p, 1e-4);
        o.epsilon = 0;
        static const double size[] = {1e6, 1, 1e-6};
        for (int k = 0; k < 3; k++) {
            m[k] = machine_of(&p);
            for (int64_t i = 0; i < p.n; i++) {
                m[k].dual[i].target = (float)(size[k] * p.y[i]);
                m[k].dual[i].cost = size[k];
            }
        }
        CHECK(krein__dcd(&z, m, 3, 1e4, &o) == KREIN_OK);
        for (int k = 0; k < 3; k++) {
            CHECK(m[k].converged);
            CHECK_REL(m[k].primal / size[k] / size[k], m[1].primal, 3e-4);
            drop_machine(&m[k]);
        }
        drop(&p);
    }
}

/* ---- bits ------------------------------------------------------------------ */

enum { MACHINES = 7 };
static void train_seven(problem *p, int way, bool kept, krein_machine *m) {
    krein_features z = features_of(p, kept);
    krein_machine_options o = options_of(p, 1e-4);
    for (int k = 0; k < MACHINES; k++) {
        m[k] = machine_of(p);
        for (int64_t i = 0; i < p->n; i++)
            m[k].dual[i].target *= (float)((i * (k + 3)) % 11 ? 1 : -1);
        for (int64_t i = k; i < p->n && k == 3; i++) m[k].dual[i - 1] = m[k].dual[i];
        m[k].n -= k == 3 ? 1 : 0;
    }
    CHECK(solve(way, &z, m, MACHINES, &o, 20) == KREIN_OK);
    free(z.made);
}
static void same_bits(void) {
    for (int c = 0; c < 6; c++) {
        problem p = make_problem(150, 37, LOSSES[c / 2], c % 2, 20);
        for (int way = 0; way < WAYS; way++) {
            krein_machine first[MACHINES], again[MACHINES];
            for (int run = 0; run < 6; run++) {
                if (test_sanitized() && run > 0 && run % 2 == 0) continue;
                krein_ctx *whole = ctx;
                ctx = test_ctx(1 + run % 3);
                train_seven(&p, way, run < 3, run ? again : first);
                krein_ctx_destroy(ctx);
                ctx = whole;
                for (int k = 0; k < MACHINES && run > 0; k++) {
                    const krein_machine *a = &first[k], *b = &again[k];
                    CHECK(memcmp(a->w, b->w, (size_t)p.D * sizeof *a->w) == 0 && a->b == b->b);
                    CHECK(memcmp(a->dual, b->dual, (size_t)a->n * sizeof *a->dual) == 0);
                    CHECK(a->primal == b->primal && a->dual_value == b->dual_value);
                    drop_machine(&again[k]);
                }
            }
            for (int k = 0; k < MACHINES; k++) drop_machine(&first[k]);
        }
        drop(&p);
    }
}

/* ---- starts, limits --------------------------------------------------------- */

static void starts(void) {
    for (int c = 0; c < 18; c++) {
        problem p = make_problem(200, 25, LOSSES[c / 6], c % 2, 2);
        int way = c / 2 % 3;
        krein_machine m = solved(&p, way, 1e-4, 1e5);
        krein_features z = features_of(&p, true);
        krein_machine_options o = options_of(&p, 1e-4);
        double first = objective(&p, m.w, m.b);
        /* from the solution itself */
        m.passes = 0;
        o.tol = 2e-4;
        CHECK(solve(way, &z, &m, 1, &o, 1e5) == KREIN_OK && m.converged);
        CHECK_REL(objective(&p, m.w, m.b), first, 3e-4);
        if (way == DCD) CHECK(m.passes <= 12);
        /* another C: betas outside their box come back into it */
        static const double other[] = {.02, 8};
        for (int k = 0; k < 2; k++) {
            problem q = p;
            q.C = other[k];
            for (int64_t i = 0; i < p.n; i++) m.dual[i].cost = q.C;
            o.tol = 1e-5;
            CHECK(solve(way, &z, &m, 1, &o, 1e5) == KREIN_OK && m.converged);
            krein_machine cold = solved(&q, BOTH, 1e-5, 0);
            CHECK_REL(objective(&q, m.w, m.b), objective(&q, cold.w, cold.b), 3e-5);
            check_conditions(&q, &m, way);
            drop_machine(&cold);
        }
        drop_machine(&m);
        drop(&p);
    }
}

static int countdown;
static int cancel(void *user) {
    (void)user;
    return countdown-- <= 0;
}
static void deadline_and_cancel(void) {
    problem p = make_problem(1000, 50, KREIN_LOSS_HINGE, true, 1e4);
    krein_features z = features_of(&p, true);
    for (int way = 0; way < WAYS; way++) {
        krein_machine m[MACHINES];
        for (int k = 0; k < MACHINES; k++) m[k] = machine_of(&p);
        krein_machine_options o = options_of(&p, 1e-9);
        o.deadline = krein__clock() - 1;
        double start = krein__clock();
        CHECK(solve(way, &z, m, MACHINES, &o, 1e9) == KREIN_OK);
        CHECK(krein__clock() - start < 1);
        CHECK(!m[0].converged && m[0].primal >= m[0].dual_value && isfinite(m[0].primal));
        CHECK_REL(m[0].primal, objective(&p, m[0].w, m[0].b), 1e-5);
        o.deadline = krein__clock() + .05;
        CHECK(solve(way, &z, m, MACHINES, &o, 1e9) == KREIN_OK);
        CHECK(krein__clock() - start < (test_sanitized() ? 30 : 3));
        o.deadline = 0;
        for (int polls = 0; polls < 2000; polls = 3 * polls + 1) {
            for (int threads = 1; threads <= 2; threads++) {
                krein_ctx_options c;
                krein_ctx *whole = ctx;
                krein_ctx_options_init(&c);
                c.threads = threads;
                c.cancel = cancel;
                CHECK(krein_ctx_create(&c, &ctx) == KREIN_OK);
                z.ctx = ctx;
                countdown = polls;
                CHECK(solve(way, &z, m, MACHINES, &o, 1e9) == KREIN_ECANCEL);
                CHECK(atomic_load(&ctx->held) == 0);
                krein_ctx_destroy(ctx);
                z.ctx = ctx = whole;
            }
        }
        for (int k = 0; k < MACHINES; k++) drop_machine(&m[k]);
    }
    drop(&p);
}

/* ---- little in them ---------------------------------------------------------- */

static void check_finite(const problem *p, const krein_machine *m) {
    CHECK(isfinite(m->b) && isfinite(m->primal) && isfinite(m->dual_value));
    for (int64_t j = 0; j < p->D; j++) CHECK(isfinite(m->w[j]));
    for (int64_t i = 0; i < m->n; i++) CHECK(isfinite(m->dual[i].beta));
}

/* least: the known optimum, or NaN. */
static void ends(problem *p, const char *what, double least, bool converges) {
    for (int way = 0; way < WAYS; way++) {
        krein_machine m = solved(p, way, 1e-4, 3000);
        check_finite(p, &m);
        bool good = (m.converged || !converges) && m.primal >= m.dual_value;
        if (!good) printf("%s: %s, %s, b %d\n", what, LOSS[p->loss], WAY[way], p->intercept);
        CHECK(good);
        if (!isnan(least)) CHECK_ABS(objective(p, m.w, m.b), least, 1.01e-4 * least + 1e-12 * p->C);
        drop_machine(&m);
    }
}
static void edges(void) {
    for (int c = 0; c < 6; c++) {
        krein_loss loss = LOSSES[c / 2];
        bool classes = loss != KREIN_LOSS_EPSILON, b = c % 2;
        problem p = make_problem(90, 8, loss, b, 2);
        problem q = p;
        q.n = 0;
        ends(&q, "no rows", 0, true);
        q.n = 1;
        ends(&q, "one row", b ? 0 : (double)NAN, true);
        q.n = 2;
        ends(&q, "two rows", (double)NAN, true);
        for (int64_t i = 0; i < p.n; i++) /* twice */
            memcpy(p.z + i * p.D, p.z + i / 2 * p.D, (size_t)p.D * sizeof *p.z);
        ends(&p, "duplicates", (double)NAN, true);
        p.C = 1e-8;
        ends(&p, "tiny C", (double)NAN, true);
        p.C = 1e8;
        ends(&p, "huge C", (double)NAN, false);
        p.C = 2;
        memset(p.z, 0, (size_t)(p.n * p.D) * sizeof *p.z);
        double least = 0;
        int64_t up = 0;
        for (int64_t i = 0; i < p.n; i++) {
            up += p.y[i] > 0;
            least += p.C * loss_of(&p, p.y[i], 0);
        }
        double few = 2 * p.C * (double)krein__min(up, p.n - up);
        if (b) least = loss == KREIN_LOSS_HINGE ? few : (double)NAN;
        ends(&p, "all features zero", least, true);
        drop(&p);
        p = make_problem(90, 8, loss, b, 2);
        for (int64_t i = 0; i < p.n; i++) p.y[i] = classes ? 1 : .7;
        ends(&p, "one class", b ? 0 : (double)NAN, true);
        drop(&p);
        p = make_problem(90, 8, loss, b, 2);
        memset(p.z + 8, 0, 8 * sizeof *p.z); /* one row of nothing */
        for (int64_t i = 2; i < p.n; i++) p.y[i] = i == 3 ? p.y[i] : p.y[2];
        ends(&p, "an empty row", (double)NAN, true);
        p.weight = test_new(p.n, sizeof(double));
        ends(&p, "no weight", 0, true);
        drop(&p);
    }
}

static void memory_may_fail(void) {
    test_memory memory;
    krein_ctx *whole = ctx;
    for (int c = 0; c < 4; c++) {
        problem p = make_problem(70, 12, LOSSES[c % 3], true, 1e3);
        ctx = test_ctx_with(1 + c % 2, &memory);
        krein_features z = features_of(&p, c < 2);
        krein_machine m[4];
        krein_machine_options o = options_of(&p, 1e-6);
        for (int k = 0; k < 4; k++) m[k] = machine_of(&p);
        TEST_EVERY_ALLOCATION(&memory, k) {
            for (int i = 0; i < 4; i++)
                for (int64_t r = 0; r < p.n; r++) m[i].dual[r].beta = 0;
            krein_status st = krein__machines_train(&z, m, 4, &o);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            if (test_sanitized()) k += 4; /* every fifth */
        }
        for (int k = 0; k < 4; k++) drop_machine(&m[k]);
        krein_ctx_destroy(ctx);
        free(z.made);
        drop(&p);
    }
    ctx = whole;
}

/* What is planned for is not exceeded, with few machines and with many. */
static void bytes_are_enough(void) {
    krein_ctx *whole = ctx;
    for (int c = 0; c < 12; c++) {
        int64_t n = c % 2 ? 30 : 700, D = c % 3 == 0 ? 3 : c % 3 == 1 ? 90 : 300;
        problem p = make_problem(n, D, KREIN_LOSS_HINGE, true, 100);
        ctx = test_ctx(1 + c % 3);
        krein_features z = features_of(&p, true);
        int machines = c < 6 ? 1 : MACHINES;
        krein_machine m[MACHINES];
        krein_machine_options o = options_of(&p, 1e-6);
        for (int k = 0; k < machines; k++) m[k] = machine_of(&p);
        CHECK(krein__machines_train(&z, m, machines, &o) == KREIN_OK);
        double own = (double)machines * (24 * (double)n + 8 * (double)D);
        double planned = krein__machines_bytes(ctx, n, D, machines) - own;
        CHECK((double)krein_ctx_peak_bytes(ctx) <= planned);
        for (int k = 0; k < machines; k++) drop_machine(&m[k]);
        krein_ctx_destroy(ctx);
        drop(&p);
    }
    ctx = whole;
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(reaches_the_oracles);
    RUN(weights_are_repeated_rows);
    RUN(optimal);
    RUN(gap_is_honest);
    RUN(machines_are_independent);
    RUN(same_bits);
    RUN(starts);
    RUN(deadline_and_cancel);
    RUN(edges);
    RUN(memory_may_fail);
    RUN(bytes_are_enough);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
